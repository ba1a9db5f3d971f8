import json
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.agentverse import AGENTVERSE
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "agentverse" / "results.jsonl"
).read_bytes()
RECORDS = [json.loads(line) for line in EXAMPLE.splitlines()]


def read(content):
    context = ReadContext(role_of=RoleTable.default().role_of)
    return list(AGENTVERSE.read(MemoryFile(content, "a"), context))


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target]) for edge in graph.edges]


def names(graph, node):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [by_id[recipient] for recipient in node.recipients]


def test_the_loop_of_the_framework_makes_the_edges_and_they_are_guesses():
    first, second = read(EXAMPLE)
    assert links(first) == [
        (0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (3, 6),
        (5, 6), (6, 7), (6, 8), (7, 8), (8, 9),
    ]  # fmt: skip
    assert links(second) == [(0, 1), (1, 2), (1, 3), (2, 3), (3, 4)]
    assert {edge.basis for graph in (first, second) for edge in graph.edges} == {"inferred"}
    assert names(first, first.nodes[3]) == ["Role Assigner", "Decision Maker", "system"]
    assert names(first, first.nodes[8]) == ["system"]
    assert [node.round for node in first.nodes] == [0] * 5 + [1] * 5
    assert [(agent.role, agent.kind) for agent in first.agents] == [
        ("orchestrator", "agent"),
        ("aggregator", "agent"),
        ("executor", "agent"),
        ("critic", "agent"),
        ("environment", "environment"),
    ]
    assert [node.kind for node in first.nodes][4] == "decision"


def test_no_message_is_lost_or_doubled():
    for graph, record in zip(read(EXAMPLE), RECORDS, strict=True):
        assert [node.content for node in graph.nodes] == [
            entry["content"] for entry in record["logs"]
        ]


def test_what_the_record_says_of_the_whole():
    first, second = read(EXAMPLE)
    assert first.task.description == RECORDS[0]["input"]
    assert first.outcome.expected is None
    assert (second.outcome.answer, second.outcome.expected) == ("144", "144")
    assert second.outcome.termination == "Good score! Accept!"
    assert second.outcome.success is None
    assert [node.attributes.get("score") for node in first.nodes] == [
        None, None, None, "False", None, None, None, None, "True", None,
    ]  # fmt: skip


def test_a_name_outside_the_loop_speaks_to_the_next():
    record = {
        "logs": [
            {"agent": "guide", "content": "Go."},
            {"module": "Executor", "content": "Gone."},
        ]
    }
    (graph,) = read(json.dumps(record).encode())
    assert names(graph, graph.nodes[0]) == ["Executor"]
    assert links(graph) == [(0, 1)]


def test_arrays_and_single_records():
    for content in (json.dumps(RECORDS), json.dumps(RECORDS, indent=1)):
        assert [len(graph.nodes) for graph in read(content.encode())] == [10, 6]
    (alone,) = read(json.dumps(RECORDS[1], indent=1).encode())
    assert len(alone.nodes) == 6


def test_records_that_are_no_runs_are_rejected_one_by_one():
    lines = b'{"logs": []}\n{"input": "x"}\n3\n' + EXAMPLE
    results = read(lines)
    assert [result.record for result in results[:3]] == ["line 1", "line 2", "line 3"]
    assert all(isinstance(result, Rejection) for result in results[:3])
    assert all(isinstance(result, CollaborationGraph) for result in results[3:])


def test_entries_without_a_speaker_are_kept():
    (graph,) = read(json.dumps({"logs": ["text", {"module": "Executor"}]}).encode())
    assert graph.nodes[0].content == "text"
    assert graph.nodes[0].agent is None
    assert graph.nodes[1].content is None


@pytest.mark.parametrize("content", [b"", b"{", b'{"logs": [', b"\xff"])
def test_what_is_no_json_is_refused(content):
    with pytest.raises(InputError):
        read(content)


def test_every_cut_gives_runs_or_a_reason():
    reasons = []
    for cut in cuts(EXAMPLE):
        try:
            assert len(read(cut)) <= 2
        except InputError as error:
            reasons.append(error.reason)
    assert reasons
    assert all(reasons)


def test_damaged_files_are_survived():
    assert assert_survives(AGENTVERSE, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    assert AGENTVERSE.sniff(EXAMPLE)
    assert AGENTVERSE.sniff(EXAMPLE[:300])
    assert not AGENTVERSE.sniff(b"")
    assert not AGENTVERSE.sniff(b'{"logs": [{"module": "Other", "content": "x"}]}')
    assert not AGENTVERSE.sniff(b'{"logs": "\\"module\\": \\"Executor\\""}')
