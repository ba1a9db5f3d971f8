import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext
from ingest.readers.llamaindex_events import LLAMAINDEX_EVENTS
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "llamaindex-events" / "harbour.jsonl"
).read_bytes()


def events():
    return [json.loads(line) for line in EXAMPLE.splitlines()]


def kind(event):
    return event["qualified_name"].rpartition(".")[2]


def written(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def results(content):
    return list(LLAMAINDEX_EVENTS.read(MemoryFile(content), ReadContext()))


def read(content):
    (graph,) = results(content)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [
        (by_id[node.agent], node.kind, node.content, [by_id[r] for r in node.recipients])
        for node in graph.nodes
    ]


WHOLE = [
    ("user", "agent_message", "When should we sail?", ["Reader"]),
    ("Reader", "agent_message", "Let me look.", []),
    ("Reader", "tool_call", "high at 6", []),
    ("Reader", "agent_message", "And there.", []),
    ("Reader", "tool_call", "no such harbour", []),
    ("Reader", "agent_message", "Over to you.", []),
    ("Reader", "decision", "It is at 6.", ["Writer"]),
    ("Writer", "agent_message", "Sail at 5.", ["user"]),
]


def test_a_workflow_that_hands_over():
    graph = read(EXAMPLE)
    assert spoken(graph) == WHOLE
    assert links(graph) == [
        (0, 1, "delivered"),
        *[(n, n + 1, "continued") for n in range(1, 6)],
        (6, 7, "explicit"),
    ]
    assert [node.status for node in graph.nodes if node.kind != "agent_message"] == [
        "ok",
        "error",
        "ok",
    ]
    assert graph.nodes[6].attributes["result"] == "Writer goes on."
    assert [a.attributes.get("system_prompt") for a in graph.agents] == [
        None,
        "You read.",
        "You write.",
    ]
    assert (graph.outcome.answer, graph.outcome.termination) == ("Sail at 5.", "stopped")
    assert graph.method.name == "Reader"
    assert all(node.started_at is node.tokens_in is None for node in graph.nodes)


def test_no_message_is_lost_or_doubled():
    said = Counter(["When should we sail?"])
    for event in events():
        value = event["value"]
        if kind(event) == "AgentOutput":
            said.update(block["text"] for block in value["response"]["blocks"])
        if kind(event) == "ToolCallResult" and value["tool_name"] != "handoff":
            said.update(block["text"] for block in value["tool_output"]["blocks"])
        if kind(event) == "ToolCall" and value["tool_name"] == "handoff":
            said[value["tool_kwargs"]["reason"]] += 1
    assert Counter(content for _, _, content, _ in spoken(read(EXAMPLE))) == said


@pytest.mark.parametrize(
    "wrap",
    [
        lambda e: {"type": kind(e), **e["value"]},
        lambda e: {"event": kind(e), "data": e["value"]},
        lambda e: e["value"],
    ],
)
def test_other_ways_to_save_events(wrap):
    values = [wrap(event) for event in events()]
    for content in (written(values), json.dumps(values).encode()):
        assert LLAMAINDEX_EVENTS.sniff(content)
        assert spoken(read(content)) == WHOLE


def test_times_that_stand_beside_are_kept():
    values = [
        {"timestamp": f"2026-05-01T10:00:{n:02d}Z", **event} for n, event in enumerate(events())
    ]
    graph = read(written(values))
    assert graph.nodes[2].ended_at - graph.nodes[2].started_at == 2 * 10**9


def test_without_a_whole_the_chunks_are_the_message():
    values = [e for e in events() if kind(e) not in ("AgentOutput", "StopEvent")]
    graph = read(written(values))
    assert spoken(graph) == WHOLE
    assert graph.nodes[1].attributes["streamed"] is True


def test_a_user_who_speaks_again_is_heard_once():
    values = events()
    again = {"role": "user", "blocks": [{"block_type": "text", "text": "And back?"}]}
    for event in values:
        inputs = event["value"].get("input")
        if inputs and len(inputs) > 2:
            inputs.insert(2, again)
            inputs.append({"role": "user", "content": "Observation: it is at 6"})
    graph = read(written(values))
    assert [content for who, _, content, _ in spoken(graph) if who == "user"] == [
        "When should we sail?",
        "And back?",
    ]


def test_results_without_calls_and_calls_without_results():
    values = [e for e in events() if kind(e) != "ToolCall"]
    assert spoken(read(written(values))) == WHOLE
    values = [e for e in events() if kind(e) != "ToolCallResult"]
    graph = read(written(values))
    assert [node.content for node in graph.nodes if node.kind == "tool_call"] == [None, None]
    assert len(graph.nodes) == 8


def test_tokens_and_thoughts():
    values = events()
    output = next(e["value"] for e in values if kind(e) == "AgentOutput")
    output["raw"] = {"usage": {"prompt_tokens": 9, "completion_tokens": 3}}
    output["response"]["blocks"].insert(0, {"block_type": "thinking", "content": "Hm."})
    graph = read(written(values))
    assert [(n.kind, n.content) for n in graph.nodes[1:3]] == [
        ("decision", "Hm."),
        ("agent_message", "Let me look."),
    ]
    assert (graph.nodes[1].tokens_in, graph.nodes[1].tokens_out) == (9, 3)
    assert graph.nodes[2].tokens_in is None


def test_a_human_is_asked():
    asked = {"type": "InputRequiredEvent", "prefix": "Shall we?"}
    said = {"type": "HumanResponseEvent", "response": "Yes."}
    first = {"type": "AgentWorkflowStartEvent", "user_msg": "Plan it."}
    named = {"type": "AgentOutput", "current_agent_name": "Host", "response": {"content": "Hm"}}
    graph = read(written([first, named, asked, said]))
    assert spoken(graph) == [
        ("Host", "agent_message", "Hm", ["user"]),
        ("Host", "agent_message", "Shall we?", ["user"]),
        ("user", "agent_message", "Yes.", ["Host"]),
    ]
    assert graph.task.description == "Plan it."


def test_events_of_other_kinds_are_counted():
    graph = read(EXAMPLE + b'{"qualified_name": "my.flow.Tick", "value": {}}\n')
    assert graph.attributes["other_events"] == {"Tick": 1}
    assert spoken(graph) == WHOLE


def test_what_holds_no_message():
    with pytest.raises(InputError, match="its events hold no message"):
        results(b'{"qualified_name": "llama_index.core.agent.X", "value": {}}')
    graph, bad = results(EXAMPLE + b"3\n")
    assert spoken(graph) == WHOLE
    assert (bad.record, bad.reason) == (f"value {len(events())}", "it is no event")


def test_cuts_lose_only_what_was_cut():
    for cut in cuts(EXAMPLE, 30):
        try:
            found = [r for r in results(cut) if isinstance(r, CollaborationGraph)]
        except InputError:
            continue
        assert sum(len(graph.nodes) for graph in found) <= 8


def test_damaged_files_are_survived():
    assert assert_survives(LLAMAINDEX_EVENTS, EXAMPLE, 250) > 100


def test_sniffing_goes_by_content():
    for content in (EXAMPLE, EXAMPLE[:350], EXAMPLE[:200]):
        assert LLAMAINDEX_EVENTS.sniff(content)
    for other in (b"", b"{}", b'{"type": "ToolCall"}', b'{"result": 1}', b'[{"name": "x"}]'):
        assert not LLAMAINDEX_EVENTS.sniff(other)
