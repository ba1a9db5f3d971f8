import csv
import gzip
import io
import json

import pytest

from app.library_jobs import load_library, read_library
from graphstore.errors import InputError, NotFoundError
from graphstore.store import open_store
from tests.app.conftest import RUN

INGEST_KEYS = [
    "files",
    "read",
    "written",
    "unchanged",
    "rejected",
    "warnings",
    "runs",
    "decompositions",
    "actions",
    "subtasks",
    "agents",
    "edges",
    "inferred_edges",
]


def test_ingest_counts_and_again_unchanged(masgraph, one_run):
    first = masgraph("ingest", one_run, "--json")
    assert first.code == 0
    report = first.json()
    assert list(report) == INGEST_KEYS
    assert (report["runs"], report["actions"], report["agents"], report["edges"]) == (
        1,
        3,
        2,
        2,
    )
    assert (report["written"], report["unchanged"]) == (1, 0)
    again = masgraph("ingest", one_run, "--json").json()
    assert (again["written"], again["unchanged"]) == (0, 1)


def test_a_dry_run_makes_no_store(masgraph, one_run, tmp_path):
    done = masgraph("ingest", one_run, "--dry-run")
    assert done.code == 0
    assert not list(tmp_path.glob("masgraph.db*"))


def test_one_bad_file_is_told_and_the_rest_is_stored(masgraph, one_run):
    (one_run.parent / "bad.json").write_text("{")
    done = masgraph("ingest", one_run.parent)
    assert done.code == 1
    assert "bad.json" in done.err
    assert masgraph("stats", "--json").json()["counts"]["Run"] == 1


def test_strict_stores_nothing(masgraph, one_run):
    (one_run.parent / "bad.json").write_text("{")
    assert masgraph("ingest", one_run.parent, "--strict").code == 1
    counts = masgraph("stats", "--json")
    assert counts.code == 0
    assert "Run" not in counts.json()["counts"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("ingest", "nowhere"), 2, "nowhere"),
        (("ingest", "traces", "--format", "nothing"), 2, "nothing"),
        (("ingest", "traces", "--keep-content", "--drop-content"), 2, "choose one"),
        (("stats",), 3, "there is no store at masgraph.db"),
        (("evaluate",), 3, "there is no store"),
        (("mine",), 3, "there is no store"),
        (("report",), 3, "there is no store"),
        (("query", "who-talks-to-whom"), 3, "there is no store"),
        (("query", "who-talks-to-wohm"), 2, "who-talks-to-whom"),
        (("query",), 2, "--list"),
        (("query", "x", "--cypher", "RETURN 1"), 2, "one saved query"),
        (("query", "actions-by-role", "-p", "nonsense"), 2, "NAME=VALUE"),
        (("query", "actions-by-role", "-p", "nonsense=1"), 2, "nonsense"),
        (("export", "out.txt"), 2, ".txt"),
        (("stats", "--store", "ftp://x"), 2, "ftp"),
        (("stats", "--store", "bolt://127.0.0.1:1"), 3, "127.0.0.1:1"),
        (("nothing",), 2, "nothing"),
    ],
)
def test_what_goes_wrong_is_one_sentence(masgraph, one_run, arguments, code, sentence):
    done = masgraph(*arguments)
    assert done.code == code, done.err
    assert sentence in done.err
    assert done.out == ""


def test_a_file_that_is_no_store(masgraph, tmp_path):
    (tmp_path / "foreign.db").write_bytes(b"not a store at all" * 100)
    for arguments in (("stats",), ("evaluate",), ("query", "actions-by-role")):
        done = masgraph(*arguments, "--store", "foreign.db")
        assert done.code == 3
        assert "foreign.db" in done.err
    assert (tmp_path / "foreign.db").read_bytes() == b"not a store at all" * 100


def test_query_in_every_form(masgraph, one_run, tmp_path):
    masgraph("ingest", one_run)
    text = "MATCH (n:Action) RETURN n.index AS index, n.role AS role ORDER BY index"
    document = masgraph("query", "--cypher", text, "--json").json()
    rows = [
        {"index": 0, "role": "planner"},
        {"index": 1, "role": "solver"},
        {"index": 2, "role": "planner"},
    ]
    assert document == {"columns": ["index", "role"], "rows": rows, "truncated": False}
    table = masgraph("query", "--cypher", text, "--csv").out
    assert list(csv.DictReader(io.StringIO(table)))[1] == {"index": "1", "role": "solver"}
    for name in ("out.csv", "out.json", "out.parquet"):
        assert masgraph("query", "--cypher", text, "--out", name).code == 0
        assert (tmp_path / name).stat().st_size > 0
    assert json.loads((tmp_path / "out.json").read_text()) == document
    assert "planner" in masgraph("query", "--cypher", text).out


def test_query_limits_rows_and_says_so(masgraph, one_run):
    masgraph("ingest", one_run)
    done = masgraph("query", "--cypher", "MATCH (n:Action) RETURN n.index", "--rows", 2)
    assert done.code == 0
    assert "more than 2 rows" in done.err
    exact = masgraph("query", "--cypher", "MATCH (n:Action) RETURN n.index", "--rows", 3)
    assert "more than" not in exact.err


def test_a_query_without_time_is_told_how_to_get_more(masgraph, one_run):
    masgraph("ingest", one_run)
    endless = (
        "WITH range(1, 99999) AS r RETURN reduce(s=0, x IN r | s + size([y IN r | y])) AS n"
    )
    done = masgraph("query", "--cypher", endless, "--timeout", 0.1)
    assert done.code == 2
    assert "time limit of 0.1 s" in done.err
    assert "with --timeout SECONDS" in " ".join(done.err.split())


def test_query_parameters_of_ones_own_cypher(masgraph, one_run):
    masgraph("ingest", one_run)
    text = "MATCH (n:Action) WHERE n.index >= $from AND n.role = $role RETURN count(n) AS found"
    done = masgraph("query", "-c", text, "-p", "from=1", "-p", "role=planner", "--json")
    assert done.json()["rows"] == [{"found": 1}]


def test_query_cannot_write(masgraph, one_run):
    masgraph("ingest", one_run)
    before = masgraph("stats", "--json").out
    for text in ("MATCH (n) DETACH DELETE n", "CREATE (n:Run {id: 'x'}) RETURN n"):
        done = masgraph("query", "--cypher", text)
        assert done.code == 2
        assert len(done.err.strip().splitlines()) == 1
    assert masgraph("stats", "--json").out == before


def test_the_list_of_queries(masgraph):
    listed = masgraph("query", "--list", "--json").json()["queries"]
    assert len(listed) >= 20
    assert all(list(one) == ["name", "title", "question", "parameters"] for one in listed)
    parameters = {
        (query["name"], one["name"]): one for query in listed for one in query["parameters"]
    }
    assert all(list(one)[:2] == ["name", "default"] for one in parameters.values())
    assert parameters["run-transcript", "run"]["required"]
    assert parameters["busiest-agents", "limit"]["default"] == 20
    assert not parameters["busiest-agents", "limit"]["required"]
    for one in listed:
        # Also where a parameter has to be given to run it.
        shown = masgraph("query", one["name"], "--show")
        assert (shown.code, "MATCH" in shown.out) == (0, True)


def test_evaluate_by_hand(masgraph, one_run):
    masgraph("ingest", one_run)
    document = masgraph("evaluate", "--json").json()
    assert list(document) == ["configuration", "configuration_hash", "rows"]
    (row,) = document["rows"]
    # Ann -> Bob and Bob -> Ann: both ordered pairs are joined by an edge; Ann's last message
    # goes to nobody, so each of the two messages comes from another agent.
    assert row["density"] == 1.0
    assert row["reachable_pair_fraction"] == 1.0
    assert row["average_path_length"] == 1.0
    assert row["normalized_source_entropy"] == pytest.approx(1.0, abs=1e-12)
    assert row["node_validity"] == 1.0
    assert row["content_redundancy"] == 0.0
    assert row["permitted_density"] is None
    stored = masgraph("query", "evaluations-by-method", "--json").json()["rows"]
    assert stored[0]["density"] == 1.0
    masgraph("evaluate")
    assert masgraph("stats", "--json").json()["counts"]["Evaluation"] == 1


def test_mine_by_hand_and_again(masgraph, one_run):
    masgraph("ingest", one_run)
    (library,) = masgraph("mine", "--json").json()["libraries"]
    # 1 -> 2 -> 3: two pairs (planner -> solver, solver -> planner) and one chain.
    assert len(library["motifs"]) == 3
    assert {motif["shape"] for motif in library["motifs"]} == {"pair", "chain"}
    assert all(motif["occurrence_count"] == 1 for motif in library["motifs"])
    first = masgraph("stats", "--json").json()["counts"]
    assert (first["Motif"], first["Library"], first["OCCURS_IN"]) == (3, 1, 3)
    masgraph("mine")
    assert masgraph("stats", "--json").json()["counts"] == first


def test_mining_after_more_runs_leaves_no_old_motif_behind(masgraph, one_run):
    masgraph("ingest", one_run)
    masgraph("mine")
    other = {**RUN, "id": "two", "task": {"name": "t2", "dataset": "d"}}
    one_run.write_text(json.dumps(other) + "\n")
    masgraph("ingest", one_run)
    masgraph("mine", "--min-task-support", 2)
    masgraph("mine")
    rows = masgraph("query", "motifs-by-support", "--json").json()["rows"]
    assert {row["task_support"] for row in rows} == {2}
    assert len({row["library"] for row in rows}) == 2


def test_motifs_beside_chance_by_hand(masgraph, one_run):
    masgraph("ingest", one_run)
    (library,) = masgraph("mine", "--json", "--significance", 40).json()["libraries"]
    # No other graph of 1 -> 2 -> 3 has the same degrees: chance always gives the same.
    for motif in library["motifs"]:
        assert (motif["mean"], motif["deviation"], motif["z"]) == (1.0, 0.0, None)
        assert (motif["p"], motif["p_holm"], motif["p_benjamini_hochberg"]) == (1.0, 1.0, 1.0)


def test_motifs_beside_chance_are_printed_and_stored(masgraph, tmp_path):
    path = tmp_path / "in" / "runs.jsonl"
    path.parent.mkdir()
    actions = [{"id": str(place), "agent": "a", "content": "ask"} for place in range(4)] + [
        {"id": str(4 + place), "agent": "b", "content": "say", "consumes": [str(one)]}
        for place, one in enumerate((0, 0, 1, 2))
    ]
    path.write_text(json.dumps({**RUN, "actions": actions}) + "\n")
    masgraph("ingest", path)
    (plain,) = masgraph("mine", "--json").json()["libraries"]
    (library,) = masgraph("mine", "--json", "--significance", 40).json()["libraries"]
    added = {"mean", "deviation", "z", "p", "p_holm", "p_benjamini_hochberg"}
    for one, other in zip(plain["motifs"], library["motifs"], strict=True):
        assert other.keys() - one.keys() == added
        assert {name: other[name] for name in one} == one
        if other["z"] is not None:
            gap = other["occurrence_count"] - other["mean"]
            assert other["z"] == pytest.approx(gap / other["deviation"])
    assert any(motif["z"] for motif in library["motifs"])
    assert library["summary"]["significance"]["configuration"]["samples"] == 40

    def stored():
        with open_store(str(tmp_path / "masgraph.db"), read_only=True) as store:
            names = ("occurrence_count", "expected_count", "z_score", "p_holm")
            asked = ", ".join(f"m.{name}" for name in names)
            found = store.query(f"MATCH (m:Motif) RETURN {asked} ORDER BY m.position").rows
            return [tuple(row) for row in found]

    names = ("occurrence_count", "mean", "z", "p_holm")
    assert stored() == [tuple([one[name] for name in names]) for one in library["motifs"]]
    assert "by chance" in masgraph("mine", "--significance", 40).out
    assert "by chance" not in masgraph("mine").out
    # Mined again without it, nothing old is left.
    assert {row[1:] for row in stored()} == {(None, None, None)}


PLAN = {
    "masgraph": 1,
    "kind": "decomposition",
    "subtasks": [
        {"id": "a", "name": "Prepare", "kind": "group"},
        {"id": "b", "name": "Compute", "kind": "group"},
        {"id": "1", "name": "Read", "parent": "a", "outputs": ["rows"]},
        {"id": "2", "name": "Parse", "parent": "a", "consumes": ["1"], "inputs": ["rows"]},
        {"id": "3", "name": "Add", "parent": "b", "consumes": ["2"]},
        {"id": "4", "name": "Check", "parent": "b", "consumes": ["3"]},
    ],
}


@pytest.fixture
def two_plans(tmp_path):
    """A file with two decompositions of two tasks: two groups of two subtasks each."""
    path = tmp_path / "plans" / "two.jsonl"
    path.parent.mkdir()
    lines = [{**PLAN, "id": name, "task": {"name": name, "dataset": "d"}} for name in "xy"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_mine_decompositions_by_hand(masgraph, two_plans):
    report = masgraph("ingest", two_plans, "--json").json()
    assert (report["decompositions"], report["subtasks"], report["edges"]) == (2, 12, 6)
    (library,) = masgraph("mine", "--labels", "name", "--json").json()["libraries"]
    # Read -> Parse -> Add -> Check: three pairs and two chains, each in both tasks.
    summary = library["summary"]
    assert (summary["motifs"], summary["occurrences"], summary["tasks"]) == (5, 10, 2)
    assert summary["types"] == 4
    # Overlaps: 2 of neighbouring pairs, 4 of a pair in a chain, 2 of a pair at the end of a
    # chain, 1 of the two chains.
    assert summary["rules"] == 9
    assert (summary["coarse_graphs"], summary["refinements"]) == (2, 4)
    counts = masgraph("stats", "--json").json()["counts"]
    assert (counts["Motif"], counts["CompositionRule"], counts["SubtaskType"]) == (5, 9, 4)
    assert (counts["CoarseGraph"], counts["APPLIES_IN"], counts["JOINS"]) == (6, 18, 18)
    rows = masgraph("query", "motifs-by-category", "--json").json()["rows"]
    # Inside Prepare (it has a user, no supplier) and Compute (the only end) one pair each.
    assert [(row["category"], row["task_support"]) for row in rows] == [
        ("capability", 2),
        ("deliver", 2),
    ]
    masgraph("mine", "--labels", "name")
    assert masgraph("stats", "--json").json()["counts"] == counts


def test_mining_gives_the_same_bytes_wherever_it_runs(masgraph, two_plans, cluster):
    masgraph("ingest", two_plans)
    command = ("mine", "--json", "--dry-run", "--significance", 20)
    one = masgraph(*command, "--jobs", 1)
    assert one.code == 0, one.err
    assert masgraph(*command).out == one.out
    assert masgraph(*command, "--jobs", 2).out == one.out
    assert masgraph(*command, "--dask", cluster).out == one.out
    assert masgraph(*command, "--jobs", 0).code == 2


def test_graphs_without_nodes_are_no_tasks_of_a_library(masgraph, two_plans):
    empty = {**PLAN, "id": "team", "task": {"name": "z", "dataset": "d"}, "subtasks": []}
    with two_plans.open("a") as file:
        file.write(json.dumps(empty) + "\n")
    masgraph("ingest", two_plans)
    done = masgraph("mine", "--json")
    (library,) = done.json()["libraries"]
    assert (library["summary"]["tasks"], library["summary"]["graphs"]) == (2, 2)
    assert len(library["summary"]["without_nodes"]) == 1
    assert "1 graph has no nodes" in done.err
    assert "no graph that matches has a node" in masgraph("mine", "--task", "z").err


def test_mined_types_rules_and_where_they_occur(masgraph, two_plans):
    masgraph("ingest", two_plans)
    shown = masgraph("mine")
    assert shown.code == 0, shown.err
    assert "Subtask types of 2 tasks" in shown.out
    (library,) = masgraph("query", "libraries", "--json").json()["rows"]
    assert library["kind"] == "library"
    types = masgraph("query", "types-by-support", "--json").json()["rows"]
    assert sum(row["members"] for row in types) == 8
    leaves = [
        row["index"]
        for one in types
        for row in masgraph(
            "query",
            "where-a-type-occurs",
            "-p",
            f"subtask_type={one['subtask_type']}",
            "--json",
        ).json()["rows"]
    ]
    assert len(leaves) == 8
    rules = masgraph("query", "rules-by-support", "--json").json()["rows"]
    assert len(rules) == library["rules"]
    where = masgraph(
        "query", "where-a-rule-applies", "-p", f"rule={rules[0]['rule']}", "--json"
    )
    assert len(where.json()["rows"]) == rules[0]["graph_support"]
    coarse = masgraph("query", "coarse-graphs", "--json").json()["rows"]
    assert [(row["groups"], row["leaves"]) for row in coarse] == [(2, 4)] * 2 + [(2, 2)] * 4


def test_a_library_is_saved_to_a_file(masgraph, two_plans, tmp_path):
    masgraph("ingest", two_plans)
    mine = ("mine", "--labels", "name", "--kind", "decomposition")
    for name in ("one.json", "two.json.gz"):
        assert masgraph(*mine, "--library", name).code == 0
    with open_store(str(tmp_path / "masgraph.db"), read_only=True) as store:
        name = store.query("MATCH (l:Library) RETURN l.id AS id").rows[0][0]
        stored = read_library(store, name)
        with pytest.raises(NotFoundError, match="no library 'x'"):
            read_library(store, "x")
    assert (
        load_library(tmp_path / "one.json") == load_library(tmp_path / "two.json.gz") == stored
    )
    first = (tmp_path / "two.json.gz").read_bytes()
    masgraph(*mine, "--library", "two.json.gz", "--dry-run")
    assert (tmp_path / "two.json.gz").read_bytes() == first
    assert sorted(path.name for path in tmp_path.glob("*.json*")) == ["one.json", "two.json.gz"]


def test_files_that_are_no_library(masgraph, two_plans, one_run, tmp_path):
    masgraph("ingest", two_plans)
    for name, says in (("x.txt", ".json.gz"), ("none/x.json", "no folder")):
        done = masgraph("mine", "--library", name)
        assert (done.code, done.out) == (2, "")
        assert says in done.err
    masgraph("ingest", one_run)
    assert "choose  --kind" in masgraph("mine", "--library", "x.json").err
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b"{}")[:-4])
    (tmp_path / "other.json").write_text("{}")
    for name, says in (
        ("cut.json.gz", "cannot be read"),
        ("other.json", "this is no library"),
        ("missing.json", "cannot be read: No such file"),
    ):
        with pytest.raises(InputError, match=says):
            load_library(tmp_path / name)


def test_a_dry_evaluation_stores_nothing(masgraph, one_run):
    masgraph("ingest", one_run)
    before = masgraph("stats", "--json").out
    assert masgraph("evaluate", "--dry-run").code == 0
    assert masgraph("mine", "--dry-run").code == 0
    assert masgraph("stats", "--json").out == before


@pytest.mark.parametrize("name", ["out.graphml", "out.gexf", "out.json", "out.jsonl", "tables"])
def test_export(masgraph, one_run, tmp_path, name):
    masgraph("ingest", one_run)
    assert masgraph("export", name).code == 0
    assert (tmp_path / name).exists()


def test_an_export_of_nothing_is_said(masgraph, one_run):
    masgraph("ingest", one_run)
    done = masgraph("export", "out.json", "--method", "nobody")
    assert done.code == 2
    assert "no graph matches" in done.err


def test_exported_jsonl_is_read_again(masgraph, one_run):
    masgraph("ingest", one_run)
    masgraph("export", "out.jsonl")
    report = masgraph("ingest", "out.jsonl", "--store", "other.db", "--json").json()
    assert (report["runs"], report["actions"], report["edges"]) == (1, 3, 2)


def test_report_loads_nothing_and_is_the_same_twice(masgraph, one_run, tmp_path):
    masgraph("ingest", one_run)
    masgraph("mine")
    masgraph("evaluate")
    masgraph("report", "--out", "one.html")
    masgraph("report", "--out", "two.html")
    text = (tmp_path / "one.html").read_text()
    assert text == (tmp_path / "two.html").read_text()
    assert "http" not in text
    assert "<svg" in text
    assert "pair" in text


def test_a_report_shows_names_as_text(masgraph, one_run, tmp_path):
    bad = {**RUN, "method": {"name": "<script>alert(1)</script>"}}
    one_run.write_text(json.dumps(bad) + "\n")
    masgraph("ingest", one_run)
    masgraph("evaluate")
    masgraph("report", "--out", "one.html")
    assert "<script>" not in (tmp_path / "one.html").read_text()


def test_what_would_steer_a_terminal_is_spelled_out(masgraph, one_run):
    bad = {**RUN, "method": {"name": "m\x1b[8m\u202e"}}
    one_run.write_text(json.dumps(bad) + "\n")
    masgraph("ingest", one_run)
    out = masgraph("evaluate").out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "m\\x1b[8m\\u202e" in out


def test_mining_nothing_is_said_and_stores_nothing(masgraph, one_run):
    masgraph("ingest", one_run)
    done = masgraph("mine", "--method", "nobody")
    assert done.code == 2
    assert "Library" not in masgraph("stats", "--json").json()["counts"]


def test_export_to_standard_output_is_refused(masgraph, one_run, tmp_path):
    masgraph("ingest", one_run)
    assert masgraph("export", "-").code == 2
    assert not (tmp_path / "-").exists()


def test_formats(masgraph):
    done = masgraph("formats", "--json")
    assert done.code == 0
    names = {one["name"] for one in done.json()["formats"]}
    assert {"native", "otlp", "worfbench", "taskmaster"} <= names
    assert "native" in masgraph("formats").out


def test_version(masgraph):
    done = masgraph("--version")
    assert done.code == 0
    assert done.out.startswith("masgraph ")


def test_demo(masgraph, tmp_path):
    done = masgraph("demo", "--out", "demo")
    assert done.code == 0
    assert (tmp_path / "demo" / "report.html").exists()
    again = masgraph("demo", "--out", "demo", "--quiet")
    assert (again.code, again.err) == (0, "")
    assert again.out
    assert done.out.endswith(again.out), "the answers stay as they are"
    assert "Rejected" not in done.err


def test_the_store_from_the_environment(masgraph, one_run, tmp_path, monkeypatch):
    monkeypatch.setenv("MASGRAPH_STORE", str(tmp_path / "named.db"))
    masgraph("ingest", one_run)
    assert (tmp_path / "named.db").exists()


@pytest.mark.parametrize("asked", [(), ("--json",)])
@pytest.mark.parametrize(
    "command",
    [
        "communication",
        "coverage",
        "evaluate",
        "forest build",
        "forest diagnose",
        "interventions links",
        "interventions measure",
        "interventions predict",
        "interventions predict --executed",
        "mine",
        "perturb",
        "relations",
        "suitability",
        "trajectories --baseline pair",
    ],
)
def test_what_matches_nothing_has_one_exit_code(masgraph, one_run, command, asked):
    masgraph("ingest", one_run)
    if command == "forest diagnose":
        assert masgraph("forest", "build", "--fewest", "1").code == 0
    done = masgraph(*command.split(), "--task", "nope", *asked)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("masgraph: no ")
