"""AG2, both generations: a channel's log and a chat's history."""

import json

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import Rejection
from ingest.readers.ag2_channel import AG2_CHANNEL
from ingest.readers.ag2_chat import AG2_CHAT
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import (
    FORMATS,
    agents,
    claimed_by,
    contents,
    edges,
    read_all,
    read_one,
    receivers,
    speaker,
)

LOG = (FORMATS / "ag2-channel" / "tea.wal.jsonl").read_bytes()
TRAIL = (FORMATS / "ag2-chat" / "trail.json").read_bytes()
BOAT = (FORMATS / "ag2-chat" / "boat.json").read_bytes()


def envelope(sender, type_="ag2.msg.text", audience=None, **fields):
    data = fields.pop("data", {"text": f"{sender} speaks"})
    return {
        "channel_id": "c",
        "sender_id": sender,
        "audience": audience,
        "event_type": type_,
        "event_data": data,
        **fields,
    }


def log(*envelopes):
    return "\n".join(json.dumps(item) for item in envelopes).encode()


def test_a_workflow_by_hand():
    graph = read_one(AG2_CHANNEL, LOG)
    host, writer, critic = agents(graph)
    assert contents(graph) == ["Write a line about tea.", "The kettle hums.", "One more image."]
    assert edges(graph) == [(0, 1, "explicit"), (0, 2, "explicit"), (1, 2, "delivered")]
    assert [speaker(graph, node) for node in graph.nodes] == [host, writer, critic]
    assert receivers(graph, graph.nodes[1]) == [host, critic]
    assert graph.outcome.termination == "read aloud"
    assert graph.method.name == "workflow"
    assert graph.attributes["workflow"]["initial_speaker"] == host
    assert graph.attributes["protocol_envelopes"] == {
        "ag2.channel.closed": 1,
        "ag2.channel.invite": 2,
        "ag2.channel.invite.ack": 2,
        "ag2.channel.opened": 1,
    }
    assert all(node.started_at is not None for node in graph.nodes)


def test_no_envelope_is_lost():
    raw = [json.loads(line) for line in LOG.splitlines()]
    graph = read_one(AG2_CHANNEL, LOG)
    protocol = sum(graph.attributes["protocol_envelopes"].values())
    assert len(graph.nodes) + protocol == len(raw)
    listed = read_one(AG2_CHANNEL, json.dumps(raw).encode())
    assert contents(listed) == contents(graph)
    assert edges(listed) == edges(graph)


def test_handoffs_context_tasks_and_new_types():
    routing = {"kind": "handoff", "target": "b"}
    updates = {"set": {"mood": "calm"}, "delete": ["old"]}
    graph = read_one(
        AG2_CHANNEL,
        log(
            envelope("a", audience=["b", "a"], envelope_id="1"),
            envelope("b", "ag2.packet", data={"body": "ok", "routing": routing}),
            envelope("b", "ag2.context.set", data=updates),
            envelope("a", "ag2.task.cancelled", data={"reason": "late"}),
            envelope("c", "shop.order", data={"item": 3}),
            envelope("a", audience=["b"], envelope_id="1"),
        ),
    )
    assert [node.kind for node in graph.nodes] == [
        "agent_message", "decision", "decision", "decision", "agent_message",
    ]  # fmt: skip
    assert receivers(graph, graph.nodes[0]) == ["b"]
    assert graph.nodes[0].delivery == "explicit"
    assert graph.nodes[1].attributes["routing"] == routing
    assert [resource.name for resource in graph.resources] == ["mood", "old"]
    assert graph.nodes[4].content == '{"item":3}'
    assert len(graph.source.warnings) == 2


def test_channels_are_runs_and_bad_lines_are_named():
    other = {**envelope("x"), "channel_id": "d"}
    content = log(envelope("a"), other) + b"\n{oops\n" + log({"a": 1}, envelope("b"))
    results = read_all(AG2_CHANNEL, content)
    rejected = [result for result in results if isinstance(result, Rejection)]
    graphs = [result for result in results if isinstance(result, CollaborationGraph)]
    assert [rejection.record for rejection in rejected] == ["line 3", "line 4"]
    assert [graph.source.record for graph in graphs] == ["c", "d"]
    assert contents(graphs[0]) == ["a speaks", "b speaks"]


def test_a_chat_of_two_with_tools_by_hand():
    graph = read_one(AG2_CHAT, TRAIL)
    assert agents(graph) == ["hiker", "ranger"]
    assert [(node.kind, speaker(graph, node)) for node in graph.nodes] == [
        ("agent_message", "hiker"),
        ("agent_message", "ranger"),
        ("tool_call", "hiker"),
        ("tool_call", "hiker"),
        ("agent_message", "ranger"),
    ]
    assert edges(graph) == [
        (0, 1, "delivered"),
        (1, 2, "inferred"),
        (1, 3, "inferred"),
        (2, 4, "delivered"),
        (3, 4, "delivered"),
    ]
    assert graph.nodes[1].attributes["calls"] == ["trail", "trail"]
    assert graph.nodes[1].attributes["speaker_is_inferred"] is True
    assert (graph.nodes[2].content, graph.nodes[2].status) == ("open", None)
    assert graph.nodes[3].status == "error"
    assert json.loads(graph.nodes[3].attributes["arguments"]) == {"name": "lake"}
    assert graph.outcome.cost == 0.004
    assert graph.attributes["summary"] == "The ridge is open."


def test_a_group_chat_by_hand():
    graph = read_one(AG2_CHAT, BOAT)
    assert agents(graph) == ["owner", "painter", "critic"]
    assert edges(graph) == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (1, 2, "delivered"),
        (2, 3, "delivered"),
    ]
    assert [node.delivery for node in graph.nodes] == ["broadcast"] * 4
    assert len(graph.nodes) == len(json.loads(BOAT))


def test_results_of_several_chats_are_runs():
    trail = json.loads(TRAIL)
    content = json.dumps([trail, {"chat_history": []}, 3, trail]).encode()
    first, empty, odd, last = read_all(AG2_CHAT, content)
    assert [first.source.record, last.source.record] == ["chat 0", "chat 3"]
    assert first.id != last.id
    assert empty == Rejection("memory.json", "chat 1", "it holds no messages")
    assert odd == Rejection("memory.json", "chat 2", "it is no result of a chat")
    assert claimed_by(content) == ["ag2-chat"]


def test_a_function_message_names_its_function():
    call = {"name": "dig", "arguments": "{}"}
    messages = [
        {"role": "assistant", "name": "a", "content": "Go"},
        {"role": "user", "name": "b", "content": None, "function_call": call},
        {"role": "function", "name": "dig", "content": "dug"},
    ]
    graph = read_one(AG2_CHAT, json.dumps(messages).encode())
    assert agents(graph) == ["a", "b"]
    assert [node.name for node in graph.nodes] == ["a", "b", "dig"]
    assert speaker(graph, graph.nodes[2]) == "a"
    assert edges(graph) == [(0, 1, "delivered"), (1, 2, "delivered")]


def test_in_a_group_a_caller_without_a_name_stays_unknown():
    messages = json.loads(BOAT)[:3]
    call = {"function": {"name": "paint", "arguments": "{}"}}
    messages += [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "owner", "content": "painted"},
        {"role": "tool", "name": "owner", "content": "again"},
    ]
    graph = read_one(AG2_CHAT, json.dumps(messages).encode())
    assert speaker(graph, graph.nodes[3]) is None
    assert [node.name for node in graph.nodes[3:]] == [
        "unknown speaker", "paint", "unknown tool",
    ]  # fmt: skip
    assert len(graph.source.warnings) == 2


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"chat_history": []}', b"7"])
def test_what_is_no_chat_is_an_error(content):
    for reader in (AG2_CHANNEL, AG2_CHAT):
        with pytest.raises(InputError):
            read_all(reader, content)


@pytest.mark.parametrize(
    ("reader", "content"), [(AG2_CHANNEL, LOG), (AG2_CHAT, TRAIL), (AG2_CHAT, BOAT)]
)
def test_sniffing_and_damage(reader, content):
    assert claimed_by(content) == [reader.format]
    for cut in cuts(content):
        reader.sniff(cut)
    assert assert_survives(reader, content) > 0
