import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.codex import CODEX
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

FOLDER = Path(__file__).parents[3] / "examples" / "formats" / "codex"
MAIN = (FOLDER / "birds.jsonl").read_bytes()
WREN = (FOLDER / "birds-wren.jsonl").read_bytes()
READER = (FOLDER / "birds-reader.jsonl").read_bytes()


def results(*contents):
    files = [MemoryFile(content, f"{n}.jsonl") for n, content in enumerate(contents)]
    return list(CODEX.read_joined(files, ReadContext()))


def read(*contents):
    (graph,) = results(*contents)
    return graph


def records(content):
    return [json.loads(line) for line in content.splitlines()]


def written(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [
        (node.name, by_id[node.agent], [by_id[r] for r in node.recipients])
        for node in graph.nodes
    ]


def test_threads_that_started_each_other_are_one_run():
    graph = read(MAIN, WREN, READER)
    assert spoken(graph) == [
        ("system", "system", ["Codex"]),
        ("user", "user", ["Codex"]),
        ("Codex", "Codex", []),
        ("spawn_agent", "Codex", ["Wren"]),
        ("spawn_agent", "Codex", ["reader"]),
        ("wait", "Codex", []),
        ("shell", "Wren", []),
        ("local_shell", "reader", []),
        ("Wren", "Wren", ["Codex"]),
        ("reader", "reader", ["Codex"]),
        ("apply_patch", "Codex", []),
        ("Codex", "Codex", ["user"]),
    ]
    assert links(graph) == [
        (0, 2, "delivered"),
        (1, 2, "delivered"),
        (2, 3, "continued"),
        (2, 4, "continued"),
        (3, 5, "continued"),
        (3, 6, "explicit"),
        (4, 5, "continued"),
        (4, 7, "explicit"),
        (5, 10, "continued"),
        (6, 8, "continued"),
        (7, 9, "continued"),
        (8, 10, "explicit"),
        (9, 10, "explicit"),
        (10, 11, "continued"),
    ]
    assert graph.agents[3].role_name == "test runner"


def test_tokens_count_once_for_each_new_total():
    graph = read(MAIN, WREN, READER)
    # Codex: 200 + 260 + 300 + 320 read; Wren: 90 + 110; repeated counts count once.
    assert sum(node.tokens_in or 0 for node in graph.nodes) == 1080 + 200
    assert sum(node.tokens_out or 0 for node in graph.nodes) == 90 + 23
    assert graph.source.warnings == (
        "what a thread repeats of the one that started it was counted once",
    )


def test_results_and_times():
    graph = read(MAIN, WREN, READER)
    shell, patch = graph.nodes[6], graph.nodes[10]
    assert (shell.status, patch.status, graph.nodes[7].status) == ("error", "ok", None)
    assert shell.content.endswith("got 2")
    assert patch.content == "Done"
    assert shell.ended_at - shell.started_at == 2_000_000_000
    assert graph.nodes[3].attributes["result"].startswith('{"agent_id"')


def test_no_message_is_lost_or_doubled():
    texts = {
        part["text"]
        for content in (MAIN, WREN, READER)
        for record in records(content)
        for part in record["payload"].get("content") or record["payload"].get("summary") or ()
    }
    graph = read(MAIN, WREN, READER)
    kept = Counter(node.content for node in graph.nodes if node.kind != "tool_call")
    assert kept == dict.fromkeys(texts, 1)


def test_the_order_of_the_files_changes_nothing():
    one, other = read(MAIN, WREN, READER), read(READER, WREN, MAIN)
    assert (one.id, one.nodes, one.edges) == (other.id, other.nodes, other.edges)


def test_a_thread_alone_tells_of_the_one_that_started_it():
    graph = read(WREN)
    assert [agent.name for agent in graph.agents] == ["user", "Codex", "Wren", "reader"]
    assert spoken(graph)[2:4] == [
        ("spawn_agent", "Codex", ["Wren"]),
        ("spawn_agent", "Codex", ["reader"]),
    ]
    assert "the thread that started this one is not in the trace" in graph.source.warnings


def test_events_without_a_response_item_are_messages():
    values = [v for v in records(MAIN) if v["payload"].get("type") != "message"]
    graph = read(written(values))
    assert [n.content for n in graph.nodes if n.kind == "agent_message"] == [
        "Does the bird counter still work, and who looks after it?",
        "Ines keeps it. Owls counted twice; I mended that.",
    ]


def test_a_thread_hears_what_it_is_sent_later():
    values = records(MAIN)
    sent = {
        "type": "function_call",
        "name": "send_input",
        "arguments": json.dumps({"id": records(WREN)[0]["payload"]["id"], "message": "Again."}),
        "call_id": "call_9",
    }
    stamp = "2026-03-04T09:00:12.000Z"
    values.append({"timestamp": stamp, "type": "response_item", "payload": sent})
    heard = {"type": "user_message", "message": "Again."}
    stamp = "2026-03-04T09:00:30.000Z"
    more = WREN + written([{"timestamp": stamp, "type": "event_msg", "payload": heard}])
    graph = read(written(values), more, READER)
    assert spoken(graph)[-1] == ("send_input", "Codex", ["Wren"])
    assert [n.content for n in graph.nodes].count("Again.") == 1


def test_tokens_come_from_totals_where_no_last_count_stands():
    values = records(MAIN)
    for value in values:
        info = value["payload"].get("info")
        if info:
            del info["last_token_usage"]
    one, other = read(written(values)), read(MAIN)
    assert [n.tokens_in for n in one.nodes] == [n.tokens_in for n in other.nodes]
    assert [n.tokens_out for n in one.nodes] == [n.tokens_out for n in other.nodes]


def test_items_that_repeat_messages_are_not_heard_twice():
    values = records(MAIN)
    text = "Ines keeps it. Owls counted twice; I mended that."
    for value in values:
        if value["payload"].get("type") == "agent_message":
            item = {
                "type": "AgentMessage",
                "id": "i",
                "content": [{"type": "Text", "text": text}],
            }
            value["payload"] = {"type": "item_completed", "item": item}
    assert len(read(written(values), WREN, READER).nodes) == 12
    alone = [v for v in values if v["payload"].get("role") != "assistant"]
    assert read(written(alone)).nodes[-1].content == text


def test_an_item_can_tell_which_thread_a_call_started():
    values = records(MAIN)
    for value in values:
        payload = value["payload"]
        if payload.get("type") == "collab_agent_spawn_end":
            value["payload"] = {
                "type": "item_completed",
                "item": {
                    "type": "CollabAgentToolCall",
                    "tool": "spawn_agent",
                    "id": payload["call_id"],
                    "receiver_thread_ids": [payload["new_thread_id"]],
                },
            }
    assert spoken(read(written(values), WREN, READER)) == spoken(read(MAIN, WREN, READER))


def test_an_old_file_has_no_payloads():
    lines = [
        {"id": "old-1", "timestamp": "2025-05-07T17:24:21.123Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Ho"}],
        },
    ]
    content = written(lines)
    assert CODEX.sniff(content)
    graph = read(content)
    assert [node.content for node in graph.nodes] == ["Hi", "Ho"]
    assert graph.attributes["threads"] == ["old-1"]


def test_a_stream_of_events():
    command = {"command": "ls", "aggregated_output": "a", "exit_code": 1, "status": "failed"}
    lines = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "0", "type": "reasoning", "text": "Look."}},
        {"type": "item.started", "item": {"id": "1", "type": "command_execution"}},
        {"type": "item.completed", "item": {"id": "1", "type": "command_execution", **command}},
        {
            "type": "item.completed",
            "item": {"id": "2", "type": "agent_message", "text": "One."},
        },
        {"type": "turn.completed", "usage": {"input_tokens": 70, "output_tokens": 9}},
    ]
    content = written(lines)
    assert CODEX.sniff(content)
    graph = read(content)
    assert [(n.kind, n.content, n.status) for n in graph.nodes] == [
        ("decision", "Look.", None),
        ("tool_call", "a", "error"),
        ("agent_message", "One.", None),
    ]
    assert (graph.outcome.tokens_in, graph.outcome.tokens_out) == (70, 9)


def test_join_keys_tie_threads_together():
    keys = [CODEX.join_keys(MemoryFile(content)) for content in (MAIN, WREN, READER)]
    assert keys[0] & keys[1]
    assert keys[0] & keys[2]


def test_damaged_lines_are_named_and_the_rest_is_read():
    values = results(MAIN + b'{"timestamp": "2026\n[1]\n')
    assert isinstance(values[0], CollaborationGraph)
    assert [v.record for v in values[1:] if isinstance(v, Rejection)] == ["line 23", "line 24"]


def test_a_file_without_messages_is_refused():
    with pytest.raises(InputError, match="it holds no message"):
        results(MAIN.splitlines()[0])


def test_cuts_lose_only_what_was_cut():
    whole = len(read(MAIN).nodes)
    for cut in cuts(MAIN, 30):
        try:
            found = [r for r in results(cut) if isinstance(r, CollaborationGraph)]
        except InputError:
            found = []
        assert sum(len(graph.nodes) for graph in found) <= whole


def test_damaged_files_are_survived():
    assert assert_survives(CODEX, MAIN, 250) > 100
    assert assert_survives(CODEX, WREN, 150) > 50


def test_sniffing_goes_by_content():
    for content in (MAIN, WREN, READER, MAIN[:250]):
        assert CODEX.sniff(content)
    for other in (b"", b"{}", b'{"id": 1, "timestamp": 2}', b'{"type": "message"}'):
        assert not CODEX.sniff(other)
