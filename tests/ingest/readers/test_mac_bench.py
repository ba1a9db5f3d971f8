"""MAC-Bench's form: the tree, the relations of its leaves, and the checks of section F.1."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from graphstore.errors import InputError
from graphstore.store import open_store
from ingest.reader import Rejection
from ingest.readers.mac_bench import MAC_BENCH
from ingest.readers.mac_bench_records import json_schema
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import FORMATS, claimed_by, edges, read_all, read_one

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = (FORMATS / "mac-bench" / "library.jsonl").read_bytes()
PAGE = (ROOT / "docs" / "mac-bench-format.md").read_text(encoding="utf-8")
(DOCUMENTED,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def record(*subtasks, **more):
    base = {"mac_bench": 1, "id": "r", "task": {"objective": "o"}, "subtasks": subtasks}
    return json.dumps({**base, **more}).encode()


def leaf(id, **more):
    return {"id": id, "objective": f"do {id}", **more}


def ids(graph):
    return [node.attributes["id"] for node in graph.nodes]


def couplings(graph):
    place = {node.id: node.attributes["id"] for node in graph.nodes}
    name = {resource.id: resource.name for resource in graph.resources}
    return [
        (place[one.source], place[one.target], [name[shared] for shared in one.resources])
        for one in graph.couplings
    ]


def test_the_example_by_hand(tmp_path):
    graph, bad = read_all(MAC_BENCH, EXAMPLE, "library.jsonl")
    assert ids(graph) == ["pack", "sort", "carry", "lift", "drive", "shelve"]
    assert [node.kind for node in graph.nodes] == [
        "group",
        "subtask",
        "group",
        "subtask",
        "subtask",
        "subtask",
    ]
    place = {node.id: node.attributes["id"] for node in graph.nodes}
    assert [place.get(node.parent) for node in graph.nodes] == [
        None,
        "pack",
        "pack",
        "carry",
        "carry",
        None,
    ]
    assert edges(graph) == [(1, 3, "explicit"), (1, 5, "explicit"), (4, 5, "explicit")]
    assert couplings(graph) == [("lift", "drive", ["van timetable"])]
    assert [(r.name, r.type) for r in graph.resources] == [
        ("van timetable", "calendar"),
        ("hall", "room"),
    ]
    drive, shelve = graph.nodes[4], graph.nodes[5]
    assert [(a.resource.rpartition("/")[2], a.mode) for a in drive.accesses] == [
        ("0", "read"),
        ("0", "write"),
        ("1", "write"),
    ]
    assert [(a.name, a.type) for a in shelve.inputs] == [("boxes.csv", "csv")]
    assert [(a.name, a.type) for a in shelve.outputs] == [("shelf plan", None)]
    assert shelve.attributes == {"id": "shelve", "hours": 6}
    assert graph.nodes[0].attributes["category"] == "foundation"
    assert graph.attributes["inputs"] == ["books.csv"]
    assert graph.attributes["dependencies"][2] == {
        "source": "drive",
        "target": "shelve",
        "resource": "hall",
    }
    assert graph.attributes["couplings"][0]["evidence"] == "Loading shifts the departures."
    assert (graph.task.name, graph.task.category) == ("library-1", "moving")
    assert bad == Rejection(
        "library.jsonl",
        "line 2",
        "dependencies[0].artifact: 'names' is no input of 'paint'",
    )
    with open_store(str(tmp_path / "a.db")) as store:
        store.write([graph])
        assert list(store.graphs()) == [graph]


def test_a_plain_count_finds_the_same_tree_and_relations():
    graph = read_all(MAC_BENCH, EXAMPLE)[0]
    raw = json.loads(EXAMPLE.splitlines()[0])
    assert len(graph.nodes) == json.dumps(raw["subtasks"]).count('"objective"')
    assert len(graph.edges) == len(raw["dependencies"])
    assert len(graph.couplings) == len(raw["couplings"])
    assert len(graph.resources) == len(raw["resources"])
    assert sum(len(node.accesses) for node in graph.nodes) == json.dumps(raw).count('"mode"')


def test_the_documented_example_is_read():
    graph = read_one(MAC_BENCH, DOCUMENTED.encode())
    assert [node.kind for node in graph.nodes].count("group") == 2
    assert [node.kind for node in graph.nodes].count("subtask") == 4
    assert len(graph.edges) == 3
    assert couplings(graph) == [("place", "book", ["fair calendar"])]


def test_the_shipped_schema_is_the_one_of_the_structs_and_fits_the_examples():
    path = ROOT / "ingest" / "mac-bench-record.schema.json"
    shipped = json.loads(path.read_text(encoding="utf-8"))
    assert shipped == json_schema()
    jsonschema.Draft202012Validator.check_schema(shipped)
    validator = jsonschema.Draft202012Validator(shipped)
    validator.validate(json.loads(DOCUMENTED))
    for line in EXAMPLE.splitlines():
        validator.validate(json.loads(line))
    assert not validator.is_valid(json.loads(record(leaf("a", goal="x"))))
    assert not validator.is_valid({"mac_bench": 1})


def test_the_documented_messages_are_the_real_ones():
    good = json.loads(DOCUMENTED)
    good["subtasks"][0]["subtasks"][0]["outputs"] = []
    (one,) = read_all(MAC_BENCH, json.dumps(good).encode())
    good = json.loads(DOCUMENTED)
    good["couplings"][0] = {"between": ["leaflet", "place"], "resources": ["map"]}
    (other,) = read_all(MAC_BENCH, json.dumps(good).encode())
    assert PAGE.endswith(f"```text\n{one.reason}\n{other.reason}\n```\n")


A, B = leaf("a", outputs=["x"]), leaf("b", inputs=["x"])
WRITE = [{"resource": "r", "mode": "write"}]
READ = [{"resource": "r", "mode": "read"}]
SHARED = [{"id": "r"}]


def depends(source, target, **more):
    return [{"source": source, "target": target, **more}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (record(A, leaf("a")), "subtasks[1].id: 'a' stands twice"),
        (record(A, resources=SHARED * 2), "resources[1].id: 'r' stands twice"),
        (
            record(A, resources=[{"id": "r"}, {"id": "s", "name": "r"}]),
            "resources[1]: 'r' of one type stands twice",
        ),
        (
            record(leaf("g", subtasks=[leaf("a", accesses=READ)])),
            "subtasks[0].subtasks[0].accesses[0].resource: no resource is called 'r'",
        ),
        (record(A, B, dependencies=depends("a", "c")), "target: no subtask is called 'c'"),
        (
            record(leaf("g", subtasks=[A]), B, dependencies=depends("g", "b")),
            "dependencies[0].source: 'g' is a group, and relations join leaves",
        ),
        (
            record(A, B, dependencies=depends("b", "a", artifact="x")),
            "dependencies[0].artifact: 'x' is no output of 'b'",
        ),
        (
            record(
                leaf("a", outputs=[{"name": "x", "type": "csv"}]),
                leaf("b", inputs=[{"name": "x", "type": "pdf"}]),
                dependencies=depends("a", "b", artifact="x"),
            ),
            "dependencies[0].artifact: 'x' is made as csv and needed as pdf",
        ),
        (
            record(
                leaf("a", accesses=READ),
                leaf("b", accesses=READ),
                resources=SHARED,
                dependencies=depends("a", "b", resource="r"),
            ),
            "dependencies[0].resource: 'a' does not write 'r'",
        ),
        (
            record(
                leaf("a", accesses=WRITE),
                B,
                resources=SHARED,
                dependencies=depends("a", "b", resource="r"),
            ),
            "dependencies[0].resource: 'b' does not access 'r'",
        ),
        (
            record(A, B, dependencies=depends("a", "b") + depends("b", "a")),
            "the dependencies form a cycle through do a, do b",
        ),
        (
            record(
                leaf("a", accesses=WRITE),
                leaf("b", accesses=READ),
                resources=SHARED,
                couplings=[{"between": ["a", "b"], "resources": ["r"]}],
            ),
            "couplings[0].resources: 'b' does not write 'r'",
        ),
        (
            record(
                leaf("a", accesses=WRITE),
                resources=SHARED,
                couplings=[{"between": ["a", "a"], "resources": ["r"]}],
            ),
            "couplings[0].between: 'a' is coupled with itself",
        ),
        (
            record(leaf("a", inpts=["x"])),
            "unknown field 'inpts' at subtasks[0]: did you mean 'inputs'?",
        ),
        (record(), "subtasks: expected `array` of length >= 1".replace("`", "'")),
        (
            record(leaf("a", accesses=[{"resource": "r", "mode": "append"}])),
            "subtasks[0].accesses[0].mode: invalid value 'append': use one of ",
        ),
    ],
)
def test_what_fails_a_check_is_rejected_with_its_path(content, reason):
    (result,) = read_all(MAC_BENCH, content)
    assert isinstance(result, Rejection)
    assert reason in result.reason


def test_an_id_stands_once_in_a_file():
    one, other = read_all(MAC_BENCH, record(A) + b"\n" + record(B))
    assert not isinstance(one, Rejection)
    assert other.reason == "the id 'r' stands twice in the file (first in line 1)"


def test_a_deep_tree_is_read_or_refused():
    deep = leaf("0")
    for level in range(1, 150):
        deep = leaf(str(level), subtasks=[deep])
    assert len(read_one(MAC_BENCH, record(deep)).nodes) == 150
    text = b'{"mac_bench": 1, "id": "r", "task": {"objective": "o"}, "subtasks": ['
    inner = b'{"id": "a", "objective": "b", "subtasks": ['
    endless = text + inner * 9_000 + b"]}" * 9_000 + b"]}"
    with pytest.raises(InputError, match="nested too deeply"):
        read_all(MAC_BENCH, endless)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"3", b"[" * 9999])
def test_broken_files_are_refused(content):
    with pytest.raises(InputError):
        read_all(MAC_BENCH, content)


def test_every_cut_gives_a_graph_or_a_reason():
    reasons = []
    for cut in cuts(EXAMPLE):
        try:
            reasons += [
                one.reason for one in read_all(MAC_BENCH, cut) if hasattr(one, "reason")
            ]
        except InputError as error:
            reasons.append(error.reason)
    assert len(reasons) > 50
    assert all(reasons)


def test_damaged_files_are_survived():
    assert assert_survives(MAC_BENCH, EXAMPLE, 300) > 30


def test_sniffing_goes_by_content():
    assert claimed_by(EXAMPLE) == claimed_by(EXAMPLE[:300]) == ["mac-bench"]
    assert claimed_by(DOCUMENTED.encode()) == ["mac-bench"]
    for other in (b"", b"{", b"\xff", b'{"text": "\\"mac_bench\\": 1"}'):
        assert not MAC_BENCH.sniff(other)
