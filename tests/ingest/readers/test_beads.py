"""Beads: which links are edges, which are containment, and which stay attributes."""

import json
from collections import Counter

import pytest

from graphstore.errors import InputError
from ingest.reader import Rejection
from ingest.readers.beads import BEADS, EDGES
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import FORMATS, claimed_by, read_all, read_one

EXAMPLE = (FORMATS / "beads" / "issues.jsonl").read_bytes()


def issue(id, *links, **more):
    dependencies = [{"issue_id": id, "depends_on_id": to, "type": kind} for to, kind in links]
    record = {"id": id, "title": f"t {id}", "issue_type": "task", "dependencies": dependencies}
    return json.dumps({**record, **more}).encode()


def pairs(graph):
    ids = {node.id: node.attributes["id"] for node in graph.nodes}
    return [(ids[edge.source], ids[edge.target], edge.basis) for edge in graph.edges]


def parents(graph):
    ids = {node.id: node.attributes["id"] for node in graph.nodes}
    return {ids[node.id]: ids[node.parent] for node in graph.nodes if node.parent}


def test_the_example_by_hand():
    graph = read_one(BEADS, EXAMPLE)
    ids = [node.attributes["id"] for node in graph.nodes]
    assert ids == ["gd-1", "gd-1.1", "gd-1.2", "gd-7", "gd-4"]
    assert [node.kind for node in graph.nodes] == ["group", *["subtask"] * 4]
    assert pairs(graph) == [("gd-1.1", "gd-1.2", "explicit")]
    assert parents(graph) == {"gd-1.1": "gd-1", "gd-1.2": "gd-1"}
    dig, stone, deleted = graph.nodes[1], graph.nodes[3], graph.nodes[4]
    assert (dig.name, dig.content) == ("Dig the beds", "Dig the beds")
    assert dig.ended_at == 1_772_449_200_000_000_000
    assert (dig.started_at, dig.status) == (None, None)
    assert dig.attributes["labels"] == ["spade"]
    assert stone.attributes["links"] == [
        {"type": "discovered-from", "id": "gd-1.1"},
        {"type": "blocks", "id": "ya-3"},
    ]
    assert deleted.attributes["status"] == "tombstone"
    assert deleted.attributes["links"] == [{"type": "supersedes", "id": "gd-1.1"}]
    assert (graph.task.name, graph.task.dataset) == ("gd", "Beads")
    assert graph.source.warnings == ("1 links name issues that are not in the file",)


def test_a_plain_count_finds_every_issue_and_every_link_once():
    graph = read_one(BEADS, EXAMPLE)
    records = [json.loads(line) for line in EXAMPLE.splitlines()]
    assert sorted(node.attributes["id"] for node in graph.nodes) == sorted(
        record["id"] for record in records
    )
    counted = Counter(
        link["type"] for record in records for link in record.get("dependencies", ())
    )
    kept = Counter(
        link["type"] for node in graph.nodes for link in node.attributes.get("links", ())
    )
    kept["parent-child"] += len(parents(graph))
    kept["blocks"] += len(graph.edges)
    assert kept == counted


@pytest.mark.parametrize("kind", sorted(EDGES))
def test_links_that_decide_what_may_begin_are_edges(kind):
    content = b"\n".join([issue("a-1", ("a-2", kind), ("a-2", kind)), issue("a-2")])
    assert pairs(read_one(BEADS, content)) == [("a-2", "a-1", "explicit")]


def test_a_list_of_issues_reads_the_same():
    listed = json.dumps([json.loads(line) for line in EXAMPLE.splitlines()], indent=2).encode()
    assert pairs(read_one(BEADS, listed)) == pairs(read_one(BEADS, EXAMPLE))


def test_a_second_parent_stays_an_attribute():
    content = b"\n".join(
        [issue("a"), issue("b"), issue("c", ("a", "parent-child"), ("b", "parent-child"))]
    )
    graph = read_one(BEADS, content)
    assert parents(graph) == {"c": "a"}
    assert graph.nodes[2].attributes["links"] == [{"type": "parent-child", "id": "b"}]
    assert graph.source.warnings == ("an issue has two parents: the first contains it",)


def test_lines_that_are_no_issue_are_rejected_and_the_others_read():
    lines = [issue("a"), b'{"id": 3}', b'{"id": "b"', issue("a"), issue("c", ("", "blocks"))]
    *rejections, graph = read_all(BEADS, b"\n".join(lines), "issues.jsonl")
    assert rejections == [
        Rejection("issues.jsonl", "line 2", "the record is no issue: it has no id"),
        Rejection("issues.jsonl", "line 3", "the JSON breaks off at line 3, column 11"),
        Rejection("issues.jsonl", "line 4", "the id a stands twice"),
        Rejection("issues.jsonl", "line 5", "a dependency of c names no issue and type"),
    ]
    assert [node.name for node in graph.nodes] == ["t a"]
    assert graph.source.warnings == ("lines that are no issue were left out",)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([issue("a", ("b", "blocks")), issue("b", ("a", "blocks"))], "form a cycle"),
        ([issue("a", ("a", "blocks"))], "form a cycle"),
        ([issue("a", ("b", "parent-child")), issue("b", ("a", "parent-child"))], "itself"),
    ],
)
def test_cycles_reject_the_file(lines, reason):
    (result,) = read_all(BEADS, b"\n".join(lines))
    assert isinstance(result, Rejection)
    assert result.record is None
    assert reason in result.reason


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"id": 1}', b"[" * 9999])
def test_a_file_without_an_issue_is_refused(content):
    with pytest.raises(InputError):
        read_all(BEADS, content)


def test_every_cut_keeps_whole_lines():
    for cut in list(cuts(EXAMPLE))[12:]:
        graphs = [one for one in read_all(BEADS, cut) if not isinstance(one, Rejection)]
        assert len(graphs) == 1
        assert len(graphs[0].nodes) >= cut.count(b"\n")


def test_damaged_files_are_survived():
    assert assert_survives(BEADS, EXAMPLE, 300) > 150


def test_sniffing_goes_by_content():
    assert claimed_by(EXAMPLE) == claimed_by(EXAMPLE[:180]) == ["beads"]
    for other in (b"", b"{", b"\xff", b'{"id": "a", "title": "b"}', b'[{"title": "x"}]'):
        assert not BEADS.sniff(other)
