"""OpenMAS-GCom: organizations before any run, and runs in them, by hand and by count."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from graphstore.errors import InputError
from graphstore.store import open_store
from ingest.reader import ReadContext, Rejection
from ingest.readers.openmas_gcom import OPENMAS_GCOM
from ingest.redact import Redact
from tests.ingest.memory_file import MemoryFile
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
    tokens,
)

EXAMPLE = (FORMATS / "openmas-gcom" / "runs.jsonl").read_bytes()
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "openmas-gcom-format.md").read_text(
    encoding="utf-8"
)
DOCUMENTED = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def links(graph):
    names = {unit.id: unit.name for unit in graph.organization.units}
    return [(names[x.source], names[x.target], x.kinds) for x in graph.organization.links]


def steps(*trace, **more):
    return json.dumps({"openmas_gcom": 1, "id": "r", "trace": trace, **more}).encode()


def test_an_organization_by_hand():
    graph = read_all(OPENMAS_GCOM, EXAMPLE)[0]
    assert (graph.kind, graph.nodes, graph.agents) == ("decomposition", (), ())
    assert [(unit.name, unit.role) for unit in graph.organization.units] == [
        ("planner", "planner"),
        ("gardener", "unknown"),
        ("scale", "tool"),
    ]
    assert graph.organization.units[0].attributes == {
        "role": "planner",
        "input_schema": "question",
    }
    assert links(graph) == [
        ("planner", "gardener", ()),
        ("gardener", "planner", ()),
        ("gardener", "scale", ("weighs",)),
    ]
    assert graph.organization.state == {"notes": {"readable": ["planner", "gardener"]}}
    assert graph.organization.policy["termination"] == "the planner is content"


def test_a_run_by_hand(tmp_path):
    graph = read_all(OPENMAS_GCOM, EXAMPLE)[1]
    assert (graph.kind, graph.name, graph.method.name) == ("run", "run 1", "garden team")
    assert agents(graph) == ["planner", "gardener", "scale"]
    assert [agent.kind for agent in graph.agents] == ["agent", "agent", "tool"]
    assert [agent.unit for agent in graph.agents] == [
        unit.id for unit in graph.organization.units
    ]
    assert [(node.kind, speaker(graph, node)) for node in graph.nodes] == [
        ("agent_message", "planner"),
        ("agent_message", "gardener"),
        ("tool_call", "scale"),
        ("agent_message", "gardener"),
        ("decision", "planner"),
    ]
    assert edges(graph) == [
        (0, 1, "explicit"),
        (0, 3, "explicit"),
        (1, 2, "explicit"),
        (2, 3, "explicit"),
        (3, 4, "explicit"),
    ]
    assert [receivers(graph, node) for node in graph.nodes] == [
        ["gardener"],
        ["scale"],
        ["gardener"],
        ["planner"],
        [],
    ]
    assert tokens(graph) == (90, 15)
    assert [resource.name for resource in graph.resources] == ["notes"]
    assert [[a.mode for a in node.accesses] for node in graph.nodes] == [
        [],
        [],
        ["write"],
        ["read"],
        [],
    ]
    assert graph.nodes[1].attributes["latency"] == 0.5
    assert graph.nodes[2].status == "ok"
    outcome = graph.outcome
    assert (outcome.success, outcome.score, outcome.answer) == (True, 1.0, "12 kg")
    assert (outcome.expected, outcome.termination) == ("12 kg", "the planner is content")
    assert (outcome.tokens_in, outcome.tokens_out, outcome.calls) == (90, 15, 3)
    assert (outcome.retries, outcome.latency) == (1, 3.25)
    (proposal,) = graph.proposals
    assert (proposal.unit, proposal.phase, proposal.value) == ("12", "answer", "12 kg")
    assert (proposal.valid, proposal.score, proposal.agent) == (True, 1.0, None)
    assert (graph.task.name, graph.task.dataset) == ("12", "harvest")
    assert graph.task.description == "How heavy are the apples?"
    assert graph.attributes["intervention"]["changed_nodes"] == ["taster"]
    assert graph.attributes["organization"]["organization_hash"] == "77aa"
    assert graph.attributes["backend"] == {"random_seed": 5}
    assert graph.source.warnings == ("messages that no earlier step sent stay attributes",)
    with open_store(str(tmp_path / "a.db")) as store:
        store.write([graph])
        assert list(store.graphs()) == [graph]


def test_a_flat_record_and_steps_without_message_ids():
    graph = read_all(OPENMAS_GCOM, EXAMPLE)[2]
    assert [(unit.name, unit.role) for unit in graph.organization.units] == [
        ("planner", "planner"),
        ("gardener", "specialist"),
    ]
    assert graph.organization.policy == {"pi": "fixed"}
    assert links(graph) == [("planner", "gardener", ())]
    assert contents(graph) == ["Which colour?", "Green.", "Or yellow."]
    assert edges(graph) == [(0, 1, "delivered"), (1, 2, "continued")]
    assert [node.status for node in graph.nodes] == [None] * 3
    assert graph.nodes[2].attributes["status"] == "retried"
    outcome = graph.outcome
    assert (outcome.success, outcome.score, outcome.answer) == (None, 0.0, None)
    assert (outcome.tokens_in, outcome.tokens_out) == (None, None)
    assert graph.attributes["cost"]["token_usage"] == 55
    assert (graph.proposals[0].valid, graph.proposals[0].value) == (False, None)


def test_an_edge_to_nobody_rejects_the_record():
    assert read_all(OPENMAS_GCOM, EXAMPLE, "runs.jsonl")[3] == Rejection(
        "runs.jsonl", "broken", "E[0]: no unit is called 'b'"
    )


def test_a_plain_count_finds_every_step_message_and_token():
    records = [json.loads(line) for line in EXAMPLE.splitlines()]
    for graph, record in list(zip(read_all(OPENMAS_GCOM, EXAMPLE), records, strict=True))[:3]:
        trace = record.get("trace", [])
        outputs = [
            step[2] if isinstance(step, list) else step.get("output", step.get("action"))
            for step in trace
        ]
        assert contents(graph) == outputs
        whole = [step for step in trace if isinstance(step, dict)]
        assert tokens(graph) == (
            sum(step.get("tokens_in", 0) for step in whole),
            sum(step.get("tokens_out", 0) for step in whole),
        )
        sent = {message for step in whole for message in step.get("outgoing", ())}
        named = [m for step in whole for m in step.get("incoming", ()) if m in sent]
        assert sum(edge.basis == "explicit" for edge in graph.edges) == len(named)


def test_the_documented_examples_are_read():
    organization, run = (read_one(OPENMAS_GCOM, text.encode()) for text in DOCUMENTED)
    assert (len(organization.organization.units), len(links(organization))) == (3, 3)
    assert (len(run.agents), len(run.nodes), edges(run)) == (
        2,
        3,
        [(0, 1, "explicit"), (1, 2, "explicit")],
    )
    assert run.outcome.success is True


def test_an_empty_incoming_says_that_nothing_was_consumed():
    graph = read_one(
        OPENMAS_GCOM,
        steps(
            {"unit": "a", "to": ["b"], "output": "x"},
            {"unit": "b", "incoming": [], "output": "y"},
            {"unit": "b", "output": "z"},
        ),
    )
    assert edges(graph) == [(1, 2, "continued")]


def test_a_message_cannot_come_from_a_later_step():
    graph = read_one(
        OPENMAS_GCOM,
        steps(
            {"unit": "a", "incoming": ["m"], "output": "x"},
            {"unit": "b", "outgoing": ["m"], "output": "y"},
        ),
    )
    assert edges(graph) == []
    assert graph.nodes[0].attributes["incoming"] == ["m"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (steps({"output": "x"}), "trace[0]: the step names no unit"),
        (steps(3), "trace[0]: the step is no object"),
        (steps({"unit": "b"}, V=["a"], E=[]), "trace[0]: no unit is called 'b'"),
        (steps({"unit": "a", "to": ["c"]}, V=["a"]), "trace[0].to: no unit is called 'c'"),
        (b'{"openmas_gcom": 1, "trace": 4}', "trace is no list"),
        (b'{"openmas_gcom": 1, "V": ["a", "a"], "E": []}', "V[1]: the unit 'a' stands twice"),
        (b'{"openmas_gcom": 1, "V": [3.5]}', "V[0]: the unit has no name"),
        (b'{"openmas_gcom": 1, "V": "a"}', "V is no list"),
        (b'{"openmas_gcom": 1, "V": ["a"], "E": ["a"]}', "E[0]: the edge names no two units"),
        (b'{"openmas_gcom": 1}', "neither an organization nor a run"),
        (b"[4]", "the record is no object"),
    ],
)
def test_malformed_records_are_rejected(content, reason):
    (result,) = read_all(OPENMAS_GCOM, content)
    assert isinstance(result, Rejection)
    assert reason in result.reason


def test_an_id_stands_once_in_a_file():
    line = steps({"unit": "a"})
    assert read_all(OPENMAS_GCOM, line + b"\n" + line)[1].reason == (
        "the id 'r' stands twice in the file"
    )


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"3", b"[" * 9999])
def test_broken_files_are_refused(content):
    with pytest.raises(InputError):
        read_all(OPENMAS_GCOM, content)


def test_names_of_units_are_redacted_too():
    line = steps(V=["ann@example.org"], E=[["ann@example.org"] * 2], name="of bo@example.org")
    context = ReadContext(policy=Redact())
    (graph,) = OPENMAS_GCOM.read(MemoryFile(line), context)
    assert b"@example.org" not in msgspec.json.encode(graph.organization)
    assert len(links(graph)) == 1


def test_every_cut_gives_graphs_or_reasons():
    for cut in list(cuts(EXAMPLE))[1:]:
        whole = cut.count(b"\n")
        try:
            assert len(read_all(OPENMAS_GCOM, cut)) in (whole, whole + 1)
        except InputError:
            assert whole == 0


def test_damaged_files_are_survived():
    assert assert_survives(OPENMAS_GCOM, EXAMPLE, 300) > 300


def test_sniffing_goes_by_content():
    assert claimed_by(EXAMPLE) == claimed_by(EXAMPLE[:200]) == ["openmas-gcom"]
    bare = b'{"V": ["a"], "E": [], "S": {}, "pi": {}}'
    assert claimed_by(bare) == claimed_by(b"[" + bare + b"]") == ["openmas-gcom"]
    for other in (
        b"",
        b"{",
        b"\xff",
        b'{"V": 1, "E": 2}',
        b'{"x": {"V": [], "E": [], "S": 1}}',
    ):
        assert not OPENMAS_GCOM.sniff(other)
