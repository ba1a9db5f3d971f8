"""TaskBench: links by name put onto subtasks, and graphs of tools as organizations."""

import json

import pytest

from graphstore.errors import InputError
from graphstore.store import open_store
from ingest.reader import Rejection
from ingest.readers.taskbench import TASKBENCH
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import FORMATS, claimed_by, edges, read_all, read_one

REQUESTS = (FORMATS / "taskbench" / "requests.jsonl").read_bytes()
TOOLS = (FORMATS / "taskbench" / "tools.json").read_bytes()


def request(names, links, **more):
    nodes = [{"task": name} for name in names]
    record = {
        "task_nodes": nodes,
        "task_links": [{"source": a, "target": b} for a, b in links],
        "task_steps": [],
    }
    return json.dumps({**record, **more}).encode()


def test_the_requests_by_hand():
    chain, twice, mixed, broken = read_all(TASKBENCH, REQUESTS, "requests.jsonl")
    assert [node.name for node in chain.nodes] == ["Note Reader", "Garden Painter", "Printer"]
    assert [node.kind for node in chain.nodes] == ["subtask"] * 3
    assert chain.nodes[1].content == "Step 2: Draw the garden"
    assert chain.nodes[0].attributes == {"arguments": ["plan.txt"]}
    assert edges(chain) == [(0, 1, "explicit"), (1, 2, "explicit")]
    assert [a.name for a in chain.nodes[1].inputs] == ["<node-0>"]
    assert [a.name for a in chain.nodes[1].outputs] == ["<node-1>"]
    assert chain.nodes[2].outputs == ()
    assert chain.task.description == (
        "Draw the garden from my note plan.txt and print the picture"
    )
    assert (chain.task.dataset, chain.task.category) == ("TaskBench", "chain")
    assert (chain.source.record, chain.attributes) == ("g1", {"n_tools": 3})
    assert chain.source.warnings == ()

    assert edges(twice) == [(0, 2, "inferred"), (1, 2, "inferred")]
    assert "names a tool that stands twice" in twice.source.warnings[0]

    assert [node.name for node in mixed.nodes] == [
        "Plant Search",
        "Neighbour",
        "Plant Search",
        "Reader",
    ]
    assert edges(mixed) == [
        (0, 1, "inferred"),
        (0, 3, "explicit"),
        (1, 2, "explicit"),
        (2, 3, "explicit"),
    ]
    assert [node.content for node in mixed.nodes] == [None] * 4
    assert mixed.attributes["steps"] == ["Find the plans"]

    assert broken == Rejection(
        "requests.jsonl",
        "g4",
        "the link Scale -> Calendar names the unknown subtask Calendar",
    )


def test_a_plain_count_finds_the_same_subtasks_and_links():
    records = [json.loads(line) for line in REQUESTS.splitlines()][:3]
    graphs = read_all(TASKBENCH, REQUESTS)[:3]
    assert [len(g.nodes) for g in graphs] == [len(r["task_nodes"]) for r in records]
    for graph, record in zip(graphs, records, strict=True):
        names = {node.id: node.name for node in graph.nodes}
        by_name = {(names[edge.source], names[edge.target]) for edge in graph.edges}
        assert by_name == {(link["source"], link["target"]) for link in record["task_links"]}


def test_a_tool_that_repeats_in_a_chain_is_taken_step_by_step():
    links = [("A", "B"), ("B", "A"), ("A", "B"), ("B", "A")]
    graph = read_one(TASKBENCH, request("ABABA", links))
    assert edges(graph) == [(place, place + 1, "inferred") for place in range(4)]
    assert edges(read_one(TASKBENCH, request("AA", [("A", "A")]))) == [(0, 1, "inferred")]


def test_an_argument_without_a_link_is_an_edge_by_delivery():
    nodes = [{"task": "A"}, {"task": "B", "arguments": ["<node-0>"]}]
    graph = read_one(TASKBENCH, request("", [], task_nodes=nodes))
    assert edges(graph) == [(0, 1, "delivered")]


def test_older_names_text_instead_of_lists_and_predictions():
    old = {
        "id": 7,
        "instruction": "x",
        "tool_nodes": json.dumps([{"task": "A"}, {"task": "B"}]),
        "tool_links": json.dumps([{"source": "A", "target": "B"}]),
        "tool_steps": json.dumps(["a", "b"]),
    }
    new = {
        "id": "8",
        "user_request": "x",
        "result": json.loads(request("AB", [("A", "B")])),
    }
    one, other = read_all(TASKBENCH, json.dumps([old, new], indent=1).encode())
    assert edges(one) == edges(other) == [(0, 1, "explicit")]
    assert [node.content for node in one.nodes] == ["a", "b"]
    assert (one.source.record, other.source.record) == ("7", "8")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (request("AB", [("A", "B"), ("B", "A")]), "form a cycle"),
        (request("A", [("A", "A")]), "form a cycle"),
        (request("", []), "it holds no subtasks"),
        (b'{"task_nodes": {}, "task_links": []}', "task_nodes is no list"),
        (b'{"task_nodes": [{"task": 3}], "task_links": []}', "position 0 names no tool"),
        (b'{"task_nodes": ["A"], "task_links": [{"source": "A"}]}', "no source and target"),
        (
            b'{"task_nodes": [{"task": "A", "arguments": ["<node-4>"]}], "task_links": []}',
            "an argument names <node-4>, which does not exist",
        ),
        (b'{"id": 4}', "the record has no task_nodes"),
    ],
)
def test_malformed_records_are_rejected(content, reason):
    (result,) = read_all(TASKBENCH, content)
    assert isinstance(result, Rejection)
    assert reason in result.reason


def test_one_bad_line_costs_one_record():
    lines = REQUESTS.splitlines()
    results = read_all(TASKBENCH, b"\n".join([lines[0], b'{"task_nodes": [', lines[1]]))
    assert [isinstance(result, Rejection) for result in results] == [False, True, False]
    assert results[1].record == "line 2"
    assert "breaks off at line 2" in results[1].reason


def test_a_graph_of_tools_is_an_organization(tmp_path):
    graph = read_one(TASKBENCH, TOOLS)
    assert (graph.nodes, graph.agents, graph.edges) == ((), (), ())
    units = {unit.id: unit for unit in graph.organization.units}
    assert [(unit.name, unit.role) for unit in units.values()] == [
        ("Note Reader", "tool"),
        ("Garden Painter", "tool"),
        ("Printer", "tool"),
    ]
    assert [
        (units[link.source].name, units[link.target].name, link.kinds)
        for link in graph.organization.links
    ] == [("Garden Painter", "Printer", ("image",)), ("Printer", "Printer", ("image",))]
    assert graph.organization.units[2].attributes["desc"] == "Prints a picture."
    with open_store(str(tmp_path / "a.db")) as store:
        store.write([graph])
        assert list(store.graphs()) == [graph]


def test_links_that_name_no_tool_are_left_out_and_the_others_kept():
    tools = json.loads(TOOLS)
    tools["links"].insert(0, {"source": "Printer", "target": "Shredder", "type": "paper"})
    graph = read_one(TASKBENCH, json.dumps(tools).encode())
    assert graph.organization == read_one(TASKBENCH, TOOLS).organization
    assert "links that name no tool were left out, such as 'Shredder'" in graph.source.warnings


@pytest.mark.parametrize("content", [b"", b"[", b"\xff", b'{"nodes": ', b"null", b"[" * 9999])
def test_broken_files_are_refused(content):
    with pytest.raises(InputError):
        read_all(TASKBENCH, content)


def test_every_cut_gives_graphs_or_reasons():
    reasons = []
    for content in (REQUESTS, TOOLS):
        for cut in cuts(content):
            try:
                assert len(read_all(TASKBENCH, cut)) <= 4
            except InputError as error:
                reasons.append(error.reason)
    assert len(reasons) > 50
    assert all(reasons)


def test_damaged_files_are_survived():
    assert assert_survives(TASKBENCH, REQUESTS, 300) > 300
    assert assert_survives(TASKBENCH, TOOLS, 200) > 40


def test_sniffing_goes_by_content():
    assert claimed_by(REQUESTS) == claimed_by(REQUESTS[:600]) == ["taskbench"]
    assert claimed_by(TOOLS) == claimed_by(TOOLS[:200]) == ["taskbench"]
    links = json.dumps({"links": [{"source": "A", "target": "B"}] * 3, "nodes": []}).encode()
    assert TASKBENCH.sniff(links[:60])
    network = b'{"directed": true, "graph": {}, "nodes": [{"id": 1}], "links": []}'
    for other in (b"", b"[", b"\xff", network, b'{"nodes": [{"id": "a"}], "links": []}'):
        assert not TASKBENCH.sniff(other)
