import json
import random
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.crewai_events import CREWAI_EVENTS
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "crewai-events" / "harbour.jsonl"
).read_bytes()


def events():
    return [json.loads(line) for line in EXAMPLE.splitlines()]


def written(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def results(content):
    return list(CREWAI_EVENTS.read(MemoryFile(content), ReadContext()))


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


def test_a_crew_whose_writer_asks_the_reader():
    graph = read(EXAMPLE)
    assert spoken(graph) == [
        ("user", "agent_message", "When is high tide?", ["Tide Reader"]),
        ("Tide Reader", "decision", "Thought: look", []),
        ("Tide Reader", "tool_call", "high at 6", []),
        ("Tide Reader", "decision", "Thought: I now know the final answer", []),
        ("Tide Reader", "agent_message", "High tide is at 6.", ["Writer"]),
        ("user", "agent_message", "Write when to sail.", ["Writer"]),
        ("Writer", "decision", "Thought: ask", []),
        ("Writer", "decision", "Is it 6?", ["Tide Reader"]),
        ("Tide Reader", "decision", "Thought: done", []),
        ("Tide Reader", "agent_message", "Yes, 6.", ["Writer"]),
        ("Writer", "decision", "Thought: ok", []),
        ("Writer", "agent_message", "Sail at 5.", ["user"]),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (0, 5, "continued"),
        (1, 2, "continued"),
        (2, 3, "continued"),
        (3, 4, "continued"),
        (4, 6, "explicit"),
        (5, 6, "delivered"),
        (6, 7, "continued"),
        (7, 8, "explicit"),
        (8, 9, "continued"),
        (9, 10, "explicit"),
        (10, 11, "continued"),
    ]
    assert (graph.outcome.answer, graph.outcome.termination) == ("Sail at 5.", "completed")
    assert graph.method.name == "harbour"
    assert graph.task.description == "When is high tide?\nWrite when to sail."


def test_zero_tokens_are_unknown():
    graph = read(EXAMPLE)
    assert all(node.tokens_in is None for node in graph.nodes)
    assert "total_tokens" not in graph.attributes


def test_the_order_of_the_lines_is_not_the_order_of_the_events():
    values = events()
    random.Random(5).shuffle(values)
    assert spoken(read(written(values))) == spoken(read(EXAMPLE))


def test_no_message_is_lost_or_doubled():
    said = Counter()
    for event in events():
        answer = event.get("formatted_answer") or {}
        said.update(text for key in ("thought", "output") if (text := answer.get(key)))
        if event["type"] == "agent_execution_started":
            said[event["task"]["description"]] += 1
        if event["type"] == "tool_usage_finished" and event["tool_name"] == "tide_table":
            said[event["output"]] += 1
    assert Counter(content for _, _, content, _ in spoken(read(EXAMPLE))) == said


def reported(values):
    """The events of a model that reports its calls, beside the agents' logs."""
    found = []
    for event in values:
        answer = event.get("formatted_answer")
        if answer is not None:
            call = {
                "type": "llm_call_completed",
                "timestamp": event["timestamp"],
                "event_id": f"llm-{event['event_id']}",
                "parent_event_id": event["parent_event_id"],
                "emission_sequence": event["emission_sequence"],
                "model": "scripted",
                "response": answer["text"].split("\nObservation")[0],
                "usage": {"prompt_tokens": 20, "completion_tokens": 4},
            }
            if "tool" in answer:
                # The model answers before its tool is used.
                use = max(n for n, e in enumerate(found) if e["type"] == "tool_usage_started")
                while found[use].get("agent_role") != event["agent_role"]:
                    use -= 1
                call["emission_sequence"] = found[use]["emission_sequence"]
                call["timestamp"] = "2026-01-01T00:00:00Z"
                found.insert(use, call)
            else:
                call["timestamp"] = "2026-01-01T00:00:00Z"
                found.append(call)
        found.append(event)
    return found


def test_models_that_report_their_calls_are_not_heard_twice():
    graph = read(written(reported(events())))
    assert [(who, content) for who, _, content, _ in spoken(graph)] == [
        ("user", "When is high tide?"),
        (
            "Tide Reader",
            'Thought: look\nAction: tide table\nAction Input: {"harbour": "north"}',
        ),
        ("Tide Reader", "high at 6"),
        (
            "Tide Reader",
            "Thought: I now know the final answer\nFinal Answer: High tide is at 6.",
        ),
        ("user", "Write when to sail."),
        (
            "Writer",
            "Thought: ask\nAction: Delegate work to coworker\nAction Input: "
            '{"task": "Is it 6?", "context": "for the note", "coworker": "Tide Reader"}',
        ),
        ("Writer", "Is it 6?"),
        ("Tide Reader", "Thought: done\nFinal Answer: Yes, 6."),
        ("Writer", "Thought: ok\nFinal Answer: Sail at 5."),
    ]
    assert sum(node.tokens_in or 0 for node in graph.nodes) == 5 * 20
    assert sum(node.tokens_out or 0 for node in graph.nodes) == 5 * 4


def test_a_coworker_without_events_has_the_result():
    values = [e for e in events() if not 18 <= e["emission_sequence"] <= 23]
    graph = read(written(values))
    assert ("Tide Reader", "agent_message", "Yes, 6.", ["Writer"]) in spoken(graph)


def test_errors_are_said_and_marked():
    values = events()
    for event in values:
        if event["type"] == "tool_usage_finished" and event["tool_name"] == "tide_table":
            event.update(type="tool_usage_error", error="no such harbour")
        if event["type"] == "crew_kickoff_completed":
            event.update(type="crew_kickoff_failed", error="the writer is ill")
        if event["type"] == "agent_execution_completed" and event["output"] == "Sail at 5.":
            event.update(type="agent_execution_error", error="no ink")
    graph = read(written(values))
    assert (graph.nodes[2].status, graph.nodes[2].content) == ("error", "no such harbour")
    assert (graph.nodes[-1].status, graph.nodes[-1].content) == ("error", "no ink")
    assert graph.outcome.termination == "failed: the writer is ill"


def test_two_kickoffs_are_two_runs():
    again = json.loads(
        json.dumps(events())
        .replace('_event_id": "', '_event_id": "x')
        .replace('"event_id": "', '"event_id": "x')
    )
    first, second = results(written([*events(), *again]))
    assert spoken(first) == spoken(second)
    assert first.id != second.id


def test_a_list_and_an_envelope_say_the_same():
    listed = json.dumps(events()).encode()
    assert spoken(read(listed)) == spoken(read(EXAMPLE))
    wrapped = [
        {"event_id": e["event_id"], "type": e["type"], "timestamp": 1, "event_data": e}
        for e in events()
    ]
    content = written(wrapped)
    assert CREWAI_EVENTS.sniff(content)
    assert spoken(read(content)) == spoken(read(EXAMPLE))


def test_old_events_name_neither_each_other_nor_an_order():
    values = events()
    for event in values:
        for key in ("event_id", "parent_event_id", "previous_event_id", "started_event_id"):
            event.pop(key, None)
        del event["emission_sequence"]
        event.setdefault("source_fingerprint", None)
    graph = read(written(values))
    assert [content for who, _, content, _ in spoken(graph) if who == "Tide Reader"][:4] == [
        "Thought: look",
        "high at 6",
        "Thought: I now know the final answer",
        "High tide is at 6.",
    ]


def test_what_holds_no_message():
    with pytest.raises(InputError, match="its events hold no message"):
        results(written(events()[:1]))


def test_a_value_that_is_no_event_is_named():
    graph, bad = results(EXAMPLE + b'{"hello": 1}\n')
    assert isinstance(graph, CollaborationGraph)
    assert isinstance(bad, Rejection)
    assert (bad.record, bad.reason) == ("value 30", "it is no event")


def test_cuts_lose_only_what_was_cut():
    for cut in cuts(EXAMPLE, 30):
        try:
            found = [r for r in results(cut) if isinstance(r, CollaborationGraph)]
        except InputError:
            continue
        assert sum(len(graph.nodes) for graph in found) <= 12


def test_damaged_files_are_survived():
    assert assert_survives(CREWAI_EVENTS, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    for content in (EXAMPLE, EXAMPLE[:200], json.dumps(events()).encode()[:300]):
        assert CREWAI_EVENTS.sniff(content)
    for other in (b"", b"{}", b'{"type": "a", "timestamp": 1}', b'[{"type": "user"}]'):
        assert not CREWAI_EVENTS.sniff(other)
