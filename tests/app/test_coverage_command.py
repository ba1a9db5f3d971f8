import json
import xml.etree.ElementTree

import pytest

from app.stored_reports import read_report, report_heads
from graphstore.store import open_store

SVG = "{http://www.w3.org/2000/svg}"


def record(name, dataset, labels, edges, group=None):
    return {
        "masgraph": 1,
        "kind": "decomposition",
        "id": name,
        "task": {
            "name": name,
            "dataset": dataset,
            "description": f"the work {name}",
            **({"source_group": group} if group else {}),
        },
        "subtasks": [
            {
                "id": str(place),
                "name": label,
                "content": f"{label} it",
                "consumes": [str(one) for one, other in edges if other == place],
            }
            for place, label in enumerate(labels)
        ],
    }


CHAIN = [(0, 1), (1, 2)]
RECORDS = [
    record("m1", "mined", ["fetch", "parse", "report"], CHAIN),
    record("m2", "mined", ["fetch", "parse", "report"], CHAIN),
    record("m3", "mined", ["draft", "print"], [(0, 1)]),
    # fetch-parse, parse-report and the chain of the three are known; what leads to file is not.
    record("h1", "held", ["fetch", "parse", "report", "file"], [*CHAIN, (2, 3)], "one"),
    record("h2", "held", ["fetch", "parse"], [(0, 1)], "two"),
    record("tiny", "held", ["fetch"], [], "two"),
]
OPTIONS = ("--labels", "name", "--hold-out", "held", "--jobs", "1", "--size", "3")


@pytest.fixture
def store(masgraph, tmp_path):
    path = tmp_path / "in" / "tasks.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    assert masgraph("ingest", path).code == 0
    return tmp_path / "masgraph.db"


def test_coverage_as_json(masgraph, store):
    done = masgraph("coverage", *OPTIONS, "--json")
    assert done.code == 0, done.err
    document = done.json()
    patterns, rules = document["curve"]
    assert patterns["mean"] == pytest.approx((3 / 5 + 1) / 2)
    assert patterns["interval"] == pytest.approx([0.6, 1.0])
    assert (rules["mean"], rules["tasks"], rules["interval"]) == (pytest.approx(3 / 9), 1, None)
    assert document["held_out"] == {
        "tasks": 2,
        "source_groups": 2,
        "collections": {"held": 2},
    }
    assert [one["name"] for one in document["left_out"]] == ["tiny"]
    assert {one["name"]: one["rules"] for one in document["tasks"]} == {
        "h1": pytest.approx(3 / 9),
        "h2": None,
    }
    assert document["configuration"]["labels"] == "name"
    assert done.err == ""


def test_coverage_for_people(masgraph, store):
    done = masgraph("coverage", *OPTIONS)
    assert done.code == 0
    assert "Coverage of 2 held-out tasks (2 sources) by up to 3 others (1 source)" in done.out
    (row,) = [line for line in done.out.splitlines() if line.startswith("│ patterns")]
    cells = [cell.strip() for cell in row.split("│")[1:-1]]
    assert cells == [
        "patterns", "3", "80.0%", "80.0%", "80.0%", "60.0% to 100.0%", "1", "3", "-",
    ]  # fmt: skip
    (row,) = [line for line in done.out.splitlines() if "known structure, other" in line]
    assert row.split("│")[2].strip() == "20.0%"
    assert "1 task has fewer than 2 nodes and takes no part." in done.err
    assert "Configuration " in done.err
    assert masgraph("coverage", *OPTIONS, "--quiet").err == ""


def test_learned_types_and_processes_give_what_one_process_gives(masgraph, store):
    options = ("--hold-out", "held", "--types", "2", "--types", "3", "--json")
    one = masgraph("coverage", *options, "--jobs", "1")
    two = masgraph("coverage", *options, "--jobs", "2")
    assert one.code == two.code == 0
    assert one.out == two.out
    assert {library["types"] for library in one.json()["libraries"]} <= {2, 3}


def test_the_plot_is_a_picture_of_the_numbers(masgraph, store, tmp_path):
    sizes = ("--size", "1", "--size", "2")
    done = masgraph("coverage", *OPTIONS, *sizes, "--plot", "curve.svg")
    assert done.code == 0
    assert "Plot: curve.svg" in done.err
    text = (tmp_path / "curve.svg").read_text()
    root = xml.etree.ElementTree.fromstring(text)
    assert root.attrib["aria-label"] == (
        "Held-out coverage with 3 mined tasks: local patterns 80% and connecting rules 33%"
    )
    lines = root.findall(f"{SVG}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3]
    # 0% stands at 320, 100% at 48: the last point of the patterns is at 80%.
    x, y = map(float, lines[0].attrib["points"].split()[-1].split(","))
    assert (x, y) == (440, pytest.approx(320 - 0.8 * 272, abs=0.06))
    words = [one.text for one in root.iter(f"{SVG}text")]
    assert {"local patterns", "connecting rules", "tasks mined", "100%"} <= set(words)
    masgraph("coverage", *OPTIONS, *sizes, "--plot", "again.svg")
    assert (tmp_path / "again.svg").read_text() == text


def test_a_plot_of_nothing_says_so(masgraph, store, tmp_path):
    lone = [record("e1", "bare", ["fetch", "parse"], [])]
    (tmp_path / "more.json").write_text(json.dumps(lone[0]))
    masgraph("ingest", "more.json")
    options = ("--labels", "name", "--jobs", "1", "--hold-out", "bare", "--size", "3")
    done = masgraph("coverage", *options, "--plot", "none.svg")
    assert done.code == 0
    root = xml.etree.ElementTree.parse(tmp_path / "none.svg").getroot()
    assert "nothing that can be covered" in root.attrib["aria-label"]
    assert not root.findall(f"{SVG}polyline")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "curve.png"), "plots are drawn as SVG: curve.png should end in .svg"),
        (("--hold-out", "nowhere"), "no task has the source 'nowhere'"),
        (("--dataset", "nowhere"), "no decomposition matches"),
        (("--kind", "run"), "no run matches"),
        (("--held-out", "1.5"), "held_out must lie between 0 and 1"),
        (("--labels", "colour"), "the labels 'colour' are not one of"),
        (("--hold-out", "held", "--size", "9"), "a mining subset of 9 tasks was asked for"),
        (
            ("--labels", "name", "--hold-out", "held", "--jobs", "1", "--plot", "no/where.svg"),
            "no/where.svg: cannot be written",
        ),
    ],
)
def test_bad_usage_is_one_sentence(masgraph, store, options, message):
    done = masgraph("coverage", *options)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""


def test_a_store_is_needed(masgraph):
    assert masgraph("coverage").code == 3


def test_coverage_is_kept_as_a_report(masgraph, store):
    assert masgraph("coverage", *OPTIONS, "--dry-run").code == 0
    with open_store(str(store), read_only=True) as opened:
        assert report_heads(opened) == []
    assert masgraph("coverage", *OPTIONS).code == 0
    shown = masgraph("coverage", *OPTIONS, "--json").json()
    with open_store(str(store), read_only=True) as opened:
        (head,) = report_heads(opened, "coverage")
        assert (head.runs, head.name) == (5, "Coverage of 2 held-out tasks (decompositions)")
        assert read_report(opened, head.report).document["curve"] == shown["curve"]
