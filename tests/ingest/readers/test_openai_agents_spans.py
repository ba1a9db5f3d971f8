import json
import random
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext, Rejection
from ingest.readers.openai_agents_spans import OPENAI_AGENTS_SPANS
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
GARDEN = (EXAMPLES / "openai-agents-spans" / "garden.jsonl").read_bytes()
RECORDS = [json.loads(line) for line in GARDEN.splitlines()]


def read_all(content):
    if isinstance(content, list):
        content = b"\n".join(json.dumps(record).encode() for record in content)
    return list(OPENAI_AGENTS_SPANS.read(MemoryFile(content, "a.jsonl"), ReadContext()))


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def test_agents_actions_and_edges():
    garden, purchase = read_all(GARDEN)
    assert [(node.name, node.kind, node.tokens_in) for node in garden.nodes] == [
        ("on_topic", "decision", None),
        ("front desk", "agent_message", 30),
        ("measure", "tool_call", None),
        ("measurer", "agent_message", 15),
        ("front desk", "agent_message", 40),
        ("front desk", "decision", None),
        ("botanist", "agent_message", 60),
        ("soil_test", "tool_call", None),
        ("botanist", "agent_message", 90),
    ]
    assert links(garden) == [
        (0, 1, "delivered"),
        (1, 2, "explicit"),
        (2, 3, "explicit"),
        (2, 4, "explicit"),
        (2, 6, "explicit"),
        (3, 4, "delivered"),
        (4, 5, "explicit"),
        (5, 6, "explicit"),
        (6, 7, "explicit"),
        (7, 8, "explicit"),
    ]
    assert garden.nodes[1].content == "I ask the measurer first."
    assert garden.task.description == "Where should the blueberries go?"
    assert (garden.method.name, garden.method.framework) == ("Garden advice", "openai-agents")
    assert garden.attributes["group"] == "g1"
    assert [node.name for node in purchase.nodes] == ["buyer", "order"]


def test_tokens_are_those_of_the_models_calls():
    for graph in read_all(GARDEN):
        trace = graph.attributes["trace_ids"][0]
        (whole,) = [
            record["span_data"]["data"]["usage"]
            for record in RECORDS
            if record.get("trace_id") == trace and record["parent_id"] is None
        ]
        assert sum(node.tokens_in or 0 for node in graph.nodes) == whole["input_tokens"]
        assert sum(node.tokens_out or 0 for node in graph.nodes) == whole["output_tokens"]


def test_turns_stand_for_model_calls_without_spans():
    records = [
        record for record in RECORDS if record.get("span_data", {}).get("type") != "generation"
    ]
    silent = read_all(records)[0]
    spoken = read_all(GARDEN)[0]
    assert "the model's spans hold no words: messages have no content" in silent.source.warnings
    assert sorted((node.name, node.tokens_in or 0) for node in silent.nodes) == sorted(
        (node.name, node.tokens_in or 0) for node in spoken.nodes
    )
    assert {node.content for node in silent.nodes if node.kind == "agent_message"} == {None}
    guardrail = next(node for node in silent.nodes if node.name == "on_topic")
    assert guardrail.id not in {edge.target for edge in silent.edges}


def test_no_span_is_lost_or_doubled():
    spans = [record for record in RECORDS if record["object"] == "trace.span"]
    kept = [
        one
        for graph in read_all(GARDEN)
        for one in [
            *(node.attributes["span_id"] for node in graph.nodes),
            *(container["span_id"] for container in graph.attributes["containers"]),
        ]
    ]
    assert sorted(kept) == sorted(record["id"] for record in spans)


def test_order_repetition_and_wrapping_change_nothing():
    expected = [graph.nodes for graph in read_all(GARDEN)]
    shuffled = random.Random(3).sample(RECORDS, len(RECORDS))
    found = {graph.nodes[-1].name: graph for graph in read_all(shuffled + shuffled[:4])}
    assert [found["botanist"].nodes, found["order"].nodes] == expected
    assert any("stood twice" in w for g in found.values() for w in g.source.warnings)
    posted = json.dumps({"data": RECORDS}).encode()
    assert [graph.nodes for graph in read_all(posted)] == expected
    assert [
        graph.nodes for graph in read_all(json.dumps(RECORDS, indent=1).encode())
    ] == expected


def test_errors_are_said():
    records = json.loads(json.dumps(RECORDS))
    span = next(r for r in records if r.get("span_data", {}).get("name") == "soil_test")
    span["error"] = {"message": "Error running tool", "data": {"tool_name": "soil_test"}}
    span["span_data"]["output"] = None
    node = read_all(records)[0].nodes[7]
    assert (node.status, node.content) == ("error", None)
    assert node.attributes["status_message"] == "Error running tool"


def test_a_trace_without_spans_is_rejected_by_its_id():
    (rejection,) = read_all(RECORDS[:1])
    assert isinstance(rejection, Rejection)
    assert rejection.record == RECORDS[0]["id"]


@pytest.mark.parametrize("content", [b"", b" ", b"[]", b"{}", b"7", b'{"data": 1}', b"{"])
def test_files_that_hold_no_trace(content):
    with pytest.raises(InputError):
        read_all(content)


def test_damaged_files_give_errors_only():
    assert assert_survives(OPENAI_AGENTS_SPANS, GARDEN, count=150) > 20
    for cut in cuts(GARDEN, 40):
        OPENAI_AGENTS_SPANS.sniff(cut)


def test_sniffs_its_own_files_only():
    assert OPENAI_AGENTS_SPANS.sniff(GARDEN)
    assert OPENAI_AGENTS_SPANS.sniff(b"\n".join(GARDEN.splitlines()[1:]))
    assert OPENAI_AGENTS_SPANS.sniff(json.dumps({"data": RECORDS}).encode()[:2_000])
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if "openai-agents-spans" not in path.parts:
            assert not OPENAI_AGENTS_SPANS.sniff(path.read_bytes()[:65_536]), path
