import json
from pathlib import Path

import msgspec
import pytest

from graphstore.errors import InputError
from graphstore.store import open_store
from ingest.reader import ReadContext, Rejection
from ingest.readers.marble import MARBLE
from ingest.redact import Drop, Redact
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "marble" / "market.jsonl"
).read_bytes()


def read(content):
    context = ReadContext(role_of=RoleTable.default().role_of)
    return list(MARBLE.read(MemoryFile(content, "a"), context))


def links(graph):
    place = {unit.id: unit.name for unit in graph.organization.units}
    return [(place[x.source], place[x.target], x.kinds) for x in graph.organization.links]


def test_agents_and_relationships_are_an_organization_without_actions():
    first, second = read(EXAMPLE)
    assert (first.kind, first.nodes, first.agents) == ("decomposition", (), ())
    assert [(unit.name, unit.role) for unit in first.organization.units] == [
        ("anna", "proposer"),
        ("bo", "proposer"),
        ("cem", "unknown"),
    ]
    assert links(first) == [
        ("anna", "bo", ("bargains with", "knows")),
        ("bo", "anna", ("bargains with",)),
        ("cem", "anna", ("advises",)),
    ]
    assert first.organization.units[1].attributes["profile"] == "I have 80 euros."
    assert first.organization.policy["coordinate_mode"] == "graph"
    assert (first.task.name, first.task.dataset) == ("market 1", "MultiAgentBench")
    assert first.task.description == "Agree on a price for a used bicycle."
    assert links(second) == [("anna", "dora", ("bargains with",))]
    assert any("names dora" in warning for warning in second.source.warnings)


def test_profiles_and_rules_are_redacted_or_dropped():
    task = json.loads(EXAMPLE.splitlines()[0])
    task["agents"][0]["profile"] = "Write to ann@example.org."
    task["environment"]["password"] = "correct horse"
    content = json.dumps(task).encode()
    (redacted,) = MARBLE.read(MemoryFile(content), ReadContext(policy=Redact()))
    stored = msgspec.json.encode(redacted.organization)
    assert b"ann@example.org" not in stored
    assert b"correct horse" not in stored
    assert redacted.organization.units[1].attributes["profile"] == "I have 80 euros."
    (dropped,) = MARBLE.read(MemoryFile(content), ReadContext(policy=Drop()))
    assert [unit.attributes for unit in dropped.organization.units] == [{}, {}, {}]
    assert dropped.organization.policy == {}


def test_every_relationship_is_kept():
    for graph, line in zip(read(EXAMPLE), EXAMPLE.splitlines(), strict=True):
        triples = {tuple(triple) for triple in json.loads(line)["relationships"]}
        assert {(a, b, kind) for a, b, kinds in links(graph) for kind in kinds} == triples


def test_an_organization_alone_can_be_stored(tmp_path):
    graphs = read(EXAMPLE)
    with open_store(str(tmp_path / "a.db")) as store:
        store.write(graphs)
        assert {graph.id: graph for graph in store.graphs()} == {g.id: g for g in graphs}


def test_records_that_are_none_are_rejected_one_by_one():
    results = read(b'{"agents": []}\n3\n{"agents": 3}\n' + EXAMPLE)
    assert [isinstance(result, Rejection) for result in results] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_what_is_no_json_is_refused(content):
    with pytest.raises(InputError):
        read(content)


def test_every_cut_gives_a_task_or_a_reason():
    reasons = []
    for cut in cuts(EXAMPLE):
        try:
            assert len(read(cut)) <= 2
        except InputError as error:
            reasons.append(error.reason)
    assert reasons
    assert all(reasons)


def test_damaged_files_are_survived():
    assert assert_survives(MARBLE, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    assert MARBLE.sniff(EXAMPLE)
    assert not MARBLE.sniff(b"")
    assert not MARBLE.sniff(b'{"scenario": "x", "agents": []}')
