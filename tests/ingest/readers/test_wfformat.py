"""WfFormat: edges by name and by file, groups out of names, and the older shapes."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import InputError
from ingest.reader import Rejection
from ingest.readers.wfformat import WFFORMAT, extension
from ingest.readers.wfformat_records import parse
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import FORMATS, claimed_by, edges, read_all, read_one

EXAMPLE = (FORMATS / "wfformat" / "honey.json").read_bytes()


def workflow(*tasks, **more):
    body = {"specification": {"tasks": tasks, "files": []}, "execution": {"tasks": []}}
    return json.dumps(
        {"name": "w", "schemaVersion": "1.5", "workflow": {**body, **more}}
    ).encode()


def task(id, parents=(), children=(), reads=(), writes=(), **more):
    return {
        "name": f"n {id}",
        "id": id,
        "parents": list(parents),
        "children": list(children),
        "inputFiles": list(reads),
        "outputFiles": list(writes),
        **more,
    }


def pairs(graph):
    ids = {node.id: node.attributes.get("id") for node in graph.nodes}
    return [(ids[edge.source], ids[edge.target], edge.basis) for edge in graph.edges]


def test_the_example_by_hand():
    graph = read_one(WFFORMAT, EXAMPLE)
    assert [(node.kind, node.name) for node in graph.nodes] == [
        ("group", "HONEY"),
        ("group", "HARVEST"),
        ("subtask", "SPIN"),
        ("subtask", "SPIN"),
        ("group", "JARS"),
        ("subtask", "FILL"),
        ("subtask", "LABEL"),
    ]
    names = {node.id: node.name for node in graph.nodes}
    assert [names.get(node.parent) for node in graph.nodes] == [
        None,
        "HONEY",
        "HARVEST",
        "HARVEST",
        "HONEY",
        "JARS",
        "JARS",
    ]
    spin1, spin2, fill, label = (
        "HONEY.HARVEST.SPIN_1",
        "HONEY.HARVEST.SPIN_2",
        "HONEY.JARS.FILL_3",
        "HONEY.JARS.LABEL_4",
    )
    assert pairs(graph) == [
        (spin1, fill, "explicit"),
        (spin1, label, "delivered"),
        (spin2, fill, "explicit"),
        (fill, label, "explicit"),
    ]
    assert graph.source.warnings == (
        "1 of 3 named links have no file behind them",
        "1 of 3 links by file have no name beside them",
    )
    first = graph.nodes[2]
    assert [(a.name, a.type) for a in first.inputs] == [("/combs/north.tar.gz", "tar.gz")]
    assert [(a.name, a.type) for a in first.outputs] == [
        ("/w1/north.raw", "raw"),
        ("/w1/log.0.txt", "txt"),
    ]
    assert first.content == "spin north.tar.gz --speed 3"
    assert (first.started_at, first.ended_at) == (
        1_777_705_200_000_000_000,
        1_777_705_230_500_000_000,
    )
    assert first.attributes == {
        "id": spin1,
        "name": "HONEY.HARVEST.SPIN",
        "executedAt": "2026-05-02T07:00:00+00:00",
        "runtimeInSeconds": 30.5,
        "avgCPU": 55.0,
        "machines": ["shed"],
        "outputSizes": {"/w1/north.raw": 900, "/w1/log.0.txt": 12},
    }
    assert (graph.nodes[3].started_at, graph.nodes[3].ended_at) == (None, None)
    assert graph.nodes[5].outputs[0].type is None
    assert graph.nodes[6].content is None
    assert (graph.task.name, graph.task.dataset) == ("honey", "WfCommons")
    assert graph.task.description == "From combs to labelled jars"
    assert graph.task.source_group == "https://example.org/honey"
    assert graph.attributes["makespanInSeconds"] == 75.5
    assert graph.attributes["inputSizes"] == {
        "/combs/north.tar.gz": 4000,
        "/combs/south.tar.gz": 3000,
    }


def test_a_plain_count_finds_the_same_tasks_files_and_links():
    graph = read_one(WFFORMAT, EXAMPLE)
    tasks = json.loads(EXAMPLE)["workflow"]["specification"]["tasks"]
    subtasks = [node for node in graph.nodes if node.kind == "subtask"]
    assert sorted(node.attributes["id"] for node in subtasks) == sorted(t["id"] for t in tasks)
    for field, kept in (("inputFiles", "inputs"), ("outputFiles", "outputs")):
        counted = Counter(name for one in tasks for name in one[field])
        assert counted == Counter(a.name for node in subtasks for a in getattr(node, kept))
    named = {(parent, one["id"]) for one in tasks for parent in one["parents"]}
    assert {pair[:2] for pair in pairs(graph) if pair[2] == "explicit"} == named


def test_children_alone_name_a_link_too():
    content = workflow(task("a", children=["b"]), task("b"))
    assert pairs(read_one(WFFORMAT, content)) == [("a", "b", "explicit")]


def test_a_link_by_file_that_would_make_a_cycle_is_left_out():
    graph = read_one(
        WFFORMAT,
        workflow(
            task("b", ["a"], reads=["x", "y"], writes=["z"]),
            task("a", reads=["z"], writes=["x"]),
            task("c", writes=["y"]),
        ),
    )
    assert pairs(graph) == [("a", "b", "explicit"), ("c", "b", "delivered")]
    assert "1 links by file would form a cycle: left out" in graph.source.warnings


def test_a_file_that_a_task_reads_and_writes_is_no_link():
    content = workflow(task("a", reads=["x"], writes=["x"]), task("b", reads=["x"]))
    assert pairs(read_one(WFFORMAT, content)) == [("a", "b", "delivered")]


@pytest.mark.parametrize("tasks", ["tasks", "jobs"])
def test_older_files_read_the_same(tasks):
    older = {
        "name": "w",
        "schemaVersion": "1.3",
        "wms": {"name": "Pegasus"},
        "workflow": {
            "makespan": 9,
            tasks: [
                {
                    "name": "mix_ID0001",
                    "id": "ID0001",
                    "type": "compute",
                    "runtime": 3.5,
                    "command": {"program": "mix", "arguments": ["x.fq"]},
                    "parents": [],
                    "children": ["bake_ID0002"],
                    "files": [
                        {"link": "input", "name": "x.fq", "size": 8},
                        {"link": "output", "name": "y.bam", "size": 9},
                    ],
                },
                {
                    "name": "bake_ID0002",
                    "id": "ID0002",
                    "category": "oven",
                    "parents": ["mix_ID0001"],
                    "files": [{"link": "input", "name": "y.bam", "size": 9}],
                },
            ],
        },
    }
    graph = read_one(WFFORMAT, json.dumps(older).encode())
    assert pairs(graph) == [("ID0001", "ID0002", "explicit")]
    assert [node.name for node in graph.nodes] == ["mix", "oven"]
    assert [a.name for a in graph.nodes[1].inputs] == ["y.bam"]
    assert graph.nodes[0].attributes == {
        "id": "ID0001",
        "name": "mix_ID0001",
        "type": "compute",
        "runtimeInSeconds": 3.5,
        "outputSizes": {"y.bam": 9},
    }
    assert graph.task.category == "Pegasus"
    assert graph.attributes["inputSizes"] == {"x.fq": 8}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/a.b/c.vcf", "vcf"),
        ("reads.R1.fastq.gz", "fastq.gz"),
        ("x.merged_fastqc.zip", "zip"),
        ("small.fasta.0", "fasta"),
        ("small.fasta.0.out", "out"),
        ("reference.rev.1.bt2", "bt2"),
        ("a.H5AD", "h5ad"),
        ("/x/BismarkIndex", None),
        ("a.1.2", None),
        ("a.", None),
        ("", None),
        ("archive.gz", "gz"),
    ],
)
def test_an_artifact_is_typed_by_its_extension(name, expected):
    assert extension(name) == expected


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (workflow(task("a"), task("a")), "the id a stands twice"),
        (workflow(), "the workflow has no tasks"),
        (workflow({"parents": []}), "a task has no id"),
        (workflow(3), "a task is no object"),
        (workflow(task("a", ["a"], inputFiles=3)), "the inputFiles of a are no list of names"),
        (b'{"workflow": 3}', "it holds no workflow"),
        (b"[]", "it holds no workflow"),
        (b"", "it is empty"),
        (b"\xff", "not UTF-8"),
        (b"[" * 9999, "nested too deeply"),
    ],
)
def test_what_is_no_workflow_is_refused(content, reason):
    with pytest.raises(InputError, match=reason):
        read_all(WFFORMAT, content)


def test_a_cycle_among_the_named_links_is_rejected():
    content = workflow(task("a", ["b"]), task("b", ["a"], reads=["x"]), task("c", writes=["x"]))
    (result,) = read_all(WFFORMAT, content)
    assert isinstance(result, Rejection)
    assert "form a cycle" in result.reason


def test_every_cut_is_refused():
    for cut in cuts(EXAMPLE.rstrip()):
        with pytest.raises(InputError):
            read_all(WFFORMAT, cut)


def test_damaged_files_are_survived():
    assert assert_survives(WFFORMAT, EXAMPLE, 300) > 60


def test_sniffing_goes_by_content():
    assert claimed_by(EXAMPLE) == claimed_by(EXAMPLE[:600]) == ["wfformat"]
    for other in (b"", b"{", b"\xff", b'{"workflow": {"tasks": []}}', b'{"schemaVersion": 1}'):
        assert not WFFORMAT.sniff(other)


def test_a_link_to_a_task_that_is_elsewhere_is_left_out_with_a_warning():
    content = workflow(
        task("a", ["x"], writes=["f.txt"]),
        task("b", ["a", "y"], ["z"], reads=["f.txt"]),
    )
    graph = read_one(WFFORMAT, content)
    assert edges(graph) == [(0, 1, "explicit")]
    assert [node.attributes.get("unknownParents") for node in graph.nodes] == [["x"], ["y"]]
    assert graph.nodes[1].attributes["unknownChildren"] == ["z"]
    assert graph.source.warnings == (
        "3 links to tasks that the file does not hold were left out: a names x, b names y, "
        "b names z",
    )


names = st.sampled_from(["a.txt", "b", "", 7, None, ["a"]])
sizes = st.sampled_from([0, 12, True, 1.5, "12", None])
listed_files = st.one_of(
    st.fixed_dictionaries({"id": names, "sizeInBytes": sizes}),
    st.fixed_dictionaries(
        {"id": st.sampled_from(["a", "b", ""]), "sizeInBytes": st.integers()}
    ),
    st.dictionaries(st.sampled_from(["id", "name", "size", "sizeInBytes"]), sizes | names),
    st.sampled_from([None, "id", []]),
)


@given(st.lists(listed_files))
def test_sizes_are_those_of_the_files_with_a_name_and_a_size(listed):
    expected = {}
    for file in listed:
        if isinstance(file, dict):
            name = file["id"] if "id" in file else file.get("name")
            size = file["sizeInBytes"] if "sizeInBytes" in file else file.get("size")
            if isinstance(name, str) and name and type(size) is int:
                expected[name] = size
    specification = {"tasks": [{"id": "one"}], "files": listed}
    found = parse({"workflow": {"specification": specification}}, "x")
    assert found.sizes == expected
