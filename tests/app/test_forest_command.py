"""``masgraph forest`` and ``masgraph evaluate`` beside forests."""

import json

import pytest

from tests.app.conftest import RUN


def run(name, contents, *, task="t1", method="pair", success=True, **outcome):
    """The run of the other tests, with other texts: Ann, Bob, Ann, Bob, ..."""
    actions = [
        {"id": str(place), "agent": "ab"[place % 2], "to": ["ba"[place % 2]], "content": text}
        for place, text in enumerate(contents)
    ]
    return {
        **RUN,
        "id": name,
        "task": {"name": task, "dataset": "d"},
        "method": {"name": method},
        "actions": actions,
        "outcome": {"success": success, **outcome},
    }


RUNS = [
    run("one", ["Add 2 and 2.", "It is 4."]),
    run("two", ["Add 2 and 2.", "It is 4."]),
    run("three", ["Add them.", "4", "Sure?"]),
    run("four", ["Add.", "4", "Sure?", "Yes."]),
    run("five", ["Add.", "5"], success=False),
    run("six", ["Add.", "5"], task="t2", success=False),
]


@pytest.fixture
def filled(masgraph, tmp_path):
    """The command, with a store of six runs."""
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in RUNS))
    assert masgraph("ingest", path).code == 0
    return masgraph


def test_build_list_and_show(filled):
    done = filled("forest", "build")
    assert done.code == 0
    assert "No forest for the task t2: no successes among 1 seen, 2 needed." in done.err
    assert "Reference forests" in done.out
    document = filled("forest", "build", "--json").json()
    assert list(document) == [
        "set",
        "configuration",
        "configuration_hash",
        "forests",
        "short",
    ]
    assert [one["key"]["level"] for one in document["forests"]] == [
        "task",
        "dataset",
        "method",
    ]
    first = document["forests"][0]
    assert (first["successes"], first["distinct"], len(first["references"])) == (4, 3, 3)
    listed = filled("forest", "list", "--json").json()["forests"]
    assert {row["forest"] for row in listed} == {one["id"] for one in document["forests"]}
    assert "near copies" in filled("forest", "list").out
    shown = filled("forest", "show", "t1", "--json").json()
    assert shown == first
    text = filled("forest", "show", first["id"]).out
    assert "stands for" in text
    assert "0.5" in text
    assert filled("query", "forests", "--json").json()["rows"][0]["forest_set"]


def test_options_reach_the_configuration(filled):
    document = filled(
        *("forest", "build", "--json", "--dry-run", "--level", "all", "--references", 2),
        *("--measure", "wl", "--option", "labels=role", "--weights", "equal", "--fewest", 3),
        *("--quantile", 0.25, "--seed", 4),
    ).json()
    options = document["configuration"]
    assert options["measure"]["measure"] == "wl"
    assert options["measure"]["labels"] == "role"
    assert (options["references"], options["weights"], options["seed"]) == (2, "equal", 4)
    (forest,) = document["forests"]
    assert [one["weight"] for one in forest["references"]] == [0.5, 0.5]
    assert filled("forest", "list").code == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("build", "--measure", "x"), "there is no measure 'x'"),
        (("build", "--option", "labels"), "--option takes NAME=VALUE"),
        (("build", "--option", "labels=x"), "there are no labels 'x'"),
        (("build", "--level", "x"), "there is no level 'x'"),
        (("build", "--weights", "x"), "there are no weights 'x'"),
        (("build", "--dataset", "x"), "no graph matches"),
        (("build", "--method", "nope"), "no graph matches"),
        (("build", "--option", "alpha=x"), "alpha must be a finite number, not 'x'"),
        (("build", "--option", "alpha=1e400"), "alpha must be a finite number"),
        (("build", "--option", "gamma=true"), "gamma must be a finite number, not True"),
        (("build", "--option", "definitions=9"), "has the definitions '2' here, not 9"),
        (
            ("build", "--measure", "alignment", "--option", "dense_limit=x"),
            "dense_limit must be a whole number, not 'x'",
        ),
        (
            ("build", "--measure", "edit", "--option", "max_steps=x"),
            "max_steps must be a whole number",
        ),
        (("list",), "the store has no forests: make them with"),
        (("show", "t1"), "the store has no forests"),
        (("export", "f.json"), "the store has no forests"),
        (("diagnose",), "the store has no forests"),
        (("import", "none.json"), "none.json: it cannot be read"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(filled, arguments, says):
    done = filled("forest", *arguments)
    assert done.code == 2
    assert says in done.err
    # What fails leaves nothing behind.
    assert "Report" not in filled("stats", "--json").json()["counts"]


def test_names_that_do_not_tell_which(filled, tmp_path):
    more = [run(name, [name, "4"], task="t3", method="t1") for name in ("seven", "eight")]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(one) + "\n" for one in more))
    filled("ingest", "more.jsonl")
    filled("forest", "build", "-q")
    assert "2 forests are called 't1': name one by its id" in filled("forest", "show", "t1").err
    assert "there is no forest 'x'" in filled("forest", "show", "x").err
    assert "there are no forests 'x'" in filled("forest", "diagnose", "--forests", "x").err
    assert "f.txt: forests are saved as .json" in filled("forest", "export", "f.txt").err
    both = filled("evaluate", "--forests", "x", "--no-forests")
    assert both.code == 2
    assert "give one of them" in both.err
    said = filled("evaluate", "--forest-level", "decomposition", "--dry-run").err
    assert "masgraph forest build --level decomposition" in said
    assert filled("evaluate", "--forest-level", "x").code == 2
    assert "there is no embedder" in filled("evaluate", "--embedder", "x").err


def test_a_set_can_be_removed(filled):
    document = filled("forest", "build", "--json").json()
    assert "3 forests removed." in filled("forest", "delete", document["set"]).err
    assert filled("forest", "delete", document["set"]).code == 2
    assert "the store has no forests" in filled("forest", "list").err


def test_evaluate_beside_forests(filled):
    before = filled("evaluate", "--json").json()
    assert list(before) == ["configuration", "configuration_hash", "rows"]
    assert all(row["forest_match"] is None for row in before["rows"])
    assert before["rows"][0]["information_uptake"] is not None
    filled("forest", "build", "-q")
    document = filled("evaluate", "--json").json()
    assert list(document) == ["configuration", "configuration_hash", "rows"]
    assert document["configuration"]["forest_set"]
    assert len(document["rows"]) == 6
    levels = {row["task"]: row["forest_level"] for row in document["rows"]}
    assert levels == {"t1": "task", "t2": "dataset"}
    failed = [row for row in document["rows"] if row["success"] is False]
    assert {row["best_similarity"] for row in failed} == {1.0}
    assert {row["diagnosis"] for row in failed} <= {"content", "structural"}
    done = filled("evaluate")
    assert "Beside the ways that work" in done.out
    assert "1 were compared with forests that pool more than their own task." in done.err
    assert "best reference" in filled("evaluate", "--by-run").out
    assert "Beside" not in filled("evaluate", "--no-forests").out
    pooled = filled("evaluate", "--json", "--dry-run", "--forest-level", "method").json()
    assert {row["forest_level"] for row in pooled["rows"]} == {"method"}
    bare = filled("evaluate", "--json", "--dry-run", "--embedder", "none").json()
    assert {row["information_uptake"] for row in bare["rows"]} == {None}
    assert filled("query", "runs-by-diagnosis", "--json").json()["rows"]


def test_diagnose(filled):
    filled("forest", "build", "-q")
    done = filled("forest", "diagnose")
    assert done.code == 0
    assert "structural" in done.out
    assert "Configuration" in done.err
    assert "parts at" in filled("forest", "diagnose", "--by-run").out
    document = filled("forest", "diagnose", "--json").json()
    assert document["mistakes"] is None
    assert document["methods"][0]["runs"] == 6
    assert filled("query", "reports", "-p", "kind=diagnosis", "--json").json()["rows"]
    assert filled("forest", "diagnose", "--task", "none").code == 2


def test_export_and_import(filled, tmp_path):
    filled("forest", "build", "-q")
    rows = filled("evaluate", "--json", "--dry-run").json()["rows"]
    done = filled("forest", "export", "forests.json.gz")
    assert done.code == 0
    assert "3 forests with" in done.err
    filled("forest", "export", "again.json.gz")
    first = (tmp_path / "forests.json.gz").read_bytes()
    assert (tmp_path / "again.json.gz").read_bytes() == first
    other = ("--store", "other.db")
    found = filled("forest", "import", "forests.json.gz", "--json", *other).json()
    assert (found["forests"], found["written"]) == (3, True)
    assert found["graphs"] > 0
    assert "Run" not in filled("stats", "--json", *other).json()["counts"]
    assert filled("forest", "show", "t1", *other).code == 0
    filled("ingest", "runs.jsonl", *other)
    assert filled("evaluate", "--json", "--dry-run", *other).json()["rows"] == rows
    assert "they were there" in filled("forest", "import", "forests.json.gz", *other).err


@pytest.mark.parametrize("asked", [(), ("--quiet",), ("--json",)])
def test_where_no_forest_is_made_that_is_said(filled, asked):
    done = filled("forest", "build", "--fewest", 99, *asked)
    assert (done.code, done.out) == (2, "")
    assert "No forest for the task t1: " in done.err
    assert "no forest was made: no group has enough distinct successes" in done.err
    assert "Set forests-" not in done.err
    assert "--json names them" not in done.err
    assert filled("forest", "list").code == 2
    assert "Report" not in filled("stats", "--json").json()["counts"]


def test_what_has_no_forest_is_said_with_quiet_too(filled):
    loud = filled("forest", "build", "--dry-run")
    quiet = filled("forest", "build", "--dry-run", "--quiet")
    short = [line for line in loud.err.splitlines() if line.startswith("No forest for ")]
    assert short
    assert quiet.err.splitlines() == short
