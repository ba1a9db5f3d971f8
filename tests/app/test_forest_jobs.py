"""Forests in both stores, as a file, and runs evaluated and diagnosed beside them."""

import gzip
import json

import pytest

import masgraph as mg
from analytics.forest import ForestConfiguration, forest_match
from app import diagnosis_jobs, evaluation_jobs, forest_files, forest_jobs, jobs
from app.stored_reports import read_report, report_heads
from graphstore.errors import InputError, NotFoundError, UsageError
from graphstore.identity import content_hash
from tests.analytics.teams import team_run

RUNS = [
    team_run("a", "psc", contents=["plan", "do", "judge"]),
    team_run("b", "psc", contents=["plan", "do", "judge"]),
    team_run("c", "psv"),
    team_run("d", "psvc", method="other"),
    team_run("e", "vvvvvv", success=False, mistake=("verifier", 1)),
    team_run("f", "psc", success=False, method="other"),
    team_run("g", "pv", task="u", success=False),
    team_run("h", "ps", task="u", success=None, method=None),
]
PLAN = team_run("plan", "ss", kind="decomposition", success=None)


def test_forests_come_back_from_the_store_as_they_were(fresh_store):
    fresh_store.write([*RUNS, PLAN])
    made = forest_jobs.build_forests(fresh_store)
    assert [forest.key.level for forest in made.forests] == [
        "task",
        "category",
        "dataset",
        "method",
    ]
    assert [(one.key.level, one.key.name) for one in made.short] == [
        ("task", "u"),
        ("method", "other"),
    ]
    assert made.short[0].reason == "no successes among 2 seen, 2 needed"
    stored = forest_jobs.read_forests(fresh_store, made.id)
    assert stored.forests == made.forests
    assert stored.configuration.configuration == made.configuration.configuration
    assert stored.id == made.id
    assert forest_jobs.find_forests(fresh_store).forests == made.forests
    counts = fresh_store.counts()
    assert counts["ReferenceForest"] == 4
    assert counts["FOREST_OF"] == 1
    assert counts["CONTAINS"] == sum(len(forest.references) for forest in made.forests)
    task = made.forests[0]
    assert (task.successes, task.distinct, len(task.references)) == (4, 3, 3)
    rows = mg.query(fresh_store, "forest-references", forest=made.forest_id(task.key)).records()
    assert {row["reference"]: row["weight"] for row in rows} == {
        one.graph: one.weight for one in task.references
    }
    listed = mg.query(fresh_store, "forests", level="task").records()
    assert [(row["forest"], row["successes"], row["near_copies"]) for row in listed] == [
        (made.forest_id(task.key), 4, False)
    ]
    (head,) = report_heads(fresh_store, "forests")
    document = read_report(fresh_store, head.report).document
    assert document["levels"]["task"] == {
        "forests": 1,
        "near_copies": 0,
        "without_threshold": 0,
        "short": 1,
    }
    assert head.runs == 8


def test_building_again_leaves_nothing_old_behind(fresh_store):
    fresh_store.write(RUNS)
    first = forest_jobs.build_forests(fresh_store)
    fresh_store.delete([graph.id for graph in RUNS if graph.outcome.success][1:])
    fresh_store.write([team_run("i", "pcc", task="u"), team_run("j", "pccc", task="u")])
    again = forest_jobs.build_forests(fresh_store)
    # A set is named by what it was built from, too.
    assert again.id != first.id
    with pytest.raises(NotFoundError, match="there are no forests"):
        forest_jobs.read_forests(fresh_store, first.id)
    assert [forest.key.name for forest in again.forests] == ["u", "c", "d", "m"]
    stored = forest_jobs.read_forests(fresh_store, again.id)
    assert stored.forests == again.forests
    assert fresh_store.counts()["ReferenceForest"] == 4
    # Another level of the same set: the others stay.
    again = forest_jobs.build_forests(fresh_store, levels=["all"])
    assert len(forest_jobs.read_forests(fresh_store, again.id).forests) == 5
    assert [forest.key.level for forest in again.forests][-1] == "all"
    # Another configuration is another set; then one must be named.
    other = forest_jobs.build_forests(fresh_store, ForestConfiguration(references=1))
    assert fresh_store.counts()["ReferenceForest"] == 9
    with pytest.raises(UsageError, match="the store has 2 sets of forests: name one"):
        forest_jobs.find_forests(fresh_store)
    assert forest_jobs.find_forests(fresh_store, other.id).forests == other.forests
    with pytest.raises(NotFoundError, match="there are no forests 'x'"):
        forest_jobs.find_forests(fresh_store, "x")
    with pytest.raises(UsageError, match="sets of forests"):
        evaluation_jobs.evaluate(fresh_store)
    assert evaluation_jobs.evaluate(fresh_store, forests=other.id).compared > 0
    assert evaluation_jobs.evaluate(fresh_store, forests=False).compared == 0
    assert forest_jobs.delete_forests(fresh_store, other.id) == 4
    assert forest_jobs.find_forests(fresh_store).id == again.id
    with pytest.raises(NotFoundError, match="there are no forests"):
        forest_jobs.delete_forests(fresh_store, other.id)
    assert fresh_store.counts()["Run"] == len(RUNS) - 1


def test_runs_are_evaluated_beside_forests_and_kept(fresh_store):
    fresh_store.write(RUNS)
    made = forest_jobs.build_forests(fresh_store)
    found = evaluation_jobs.evaluate(fresh_store)
    rows = {row.run: row for row in found.rows}
    by_name = dict(zip("abcdefgh", RUNS, strict=True))
    assert {row.forest_level for row in rows.values()} == {"task", "category"}
    assert rows[by_name["g"].id].forest_level == "category"
    strange, alike = rows[by_name["e"].id], rows[by_name["f"].id]
    assert (strange.diagnosis, alike.diagnosis) == ("structural", "content")
    assert alike.best_similarity == 1.0
    # The copies are compared with the same others.
    pair = rows[by_name["a"].id], rows[by_name["b"].id]
    assert pair[0].forest_match == pair[1].forest_match
    assert pair[0].forest_references == 2
    # Slowly: f beside the task's forest.
    forest = made.forests[0]
    measure = made.configuration.make_measure()
    graphs = {graph.id: measure.prepare(graph) for graph in RUNS}
    values = [
        measure.similarity(graphs[alike.run], graphs[one.graph]) for one in forest.references
    ]
    assert alike.forest_match == forest_match(values, [one.weight for one in forest.references])
    kept = fresh_store.query(
        "MATCH (e:Evaluation)-[:OF]->(r:Run) RETURN r.id AS run, e.forest_match AS match, "
        "e.best_reference AS best, e.diagnosis AS diagnosis, e.information_uptake AS uptake, "
        "e.topology_efficiency AS efficiency, e.forest_level AS level, "
        "e.forest_match_percentile AS percentile ORDER BY run"
    ).records()
    assert kept == [
        {
            "run": row.run,
            "match": row.forest_match,
            "best": row.best_reference,
            "diagnosis": row.diagnosis,
            "uptake": row.information_uptake,
            "efficiency": row.topology_efficiency,
            "level": row.forest_level,
            "percentile": row.forest_match_percentile,
        }
        for row in sorted(found.rows, key=lambda row: row.run)
    ]
    listed = mg.query(fresh_store, "runs-by-diagnosis", diagnosis="structural").records()
    assert {row["run"] for row in listed} >= {strange.run}
    assert all(row["diagnosis"] == "structural" for row in listed)
    methods = mg.query(fresh_store, "panel-by-method").records()
    means = {row.method: row for row in found.by_method()}
    assert [row["method"] for row in methods] == sorted(
        means, key=lambda name: -means[name].means["forest_match"]
    )
    for row in methods:
        mean = means[row["method"]].means
        for name in ("forest_match", "best_similarity", "topology_efficiency"):
            assert row[name] == pytest.approx(mean[name])
        assert row["scored"] == means[row["method"]].known["forest_match"]
    nodes = fresh_store.counts()["Evaluation"]
    evaluation_jobs.evaluate(fresh_store)
    assert fresh_store.counts()["Evaluation"] == nodes


def test_a_reference_that_was_deleted_is_missed(fresh_store):
    fresh_store.write(RUNS)
    made = forest_jobs.build_forests(fresh_store)
    fresh_store.delete([RUNS[2].id])
    assert evaluation_jobs.evaluate(fresh_store, save=False).missing_references == (RUNS[2].id,)
    with pytest.raises(InputError, match="no longer there: 1, run-"):
        forest_files.save_forests(made, forest_jobs.forest_graphs(fresh_store, made), "x.json")
    fresh_store.delete([graph.id for graph in RUNS])
    assert forest_jobs.forest_graphs(fresh_store, made) == []


def test_forests_move_as_a_file(open_fresh_store, tmp_path):
    store = open_fresh_store()
    store.write(RUNS)
    made = forest_jobs.build_forests(store)
    count = forest_files.export_forests(store, made, tmp_path / "one.json")
    forest_files.export_forests(store, made, tmp_path / "one.json.gz")
    first = (tmp_path / "one.json").read_bytes()
    assert gzip.decompress((tmp_path / "one.json.gz").read_bytes()) == first
    before = evaluation_jobs.evaluate(store, save=False)
    diagnosed = diagnosis_jobs.diagnose(store, save=False)
    ours = forest_jobs.described_references(store, made, made.forests[0])
    loaded = forest_files.load_forests(tmp_path / "one.json.gz")
    assert (loaded.forests.forests, len(loaded.graphs)) == (made.forests, count)
    # Without a store: the same values.
    assert mg.evaluate(RUNS, forests=loaded).to_dict()["rows"] == sorted(
        before.to_dict()["rows"], key=lambda row: [one.id for one in RUNS].index(row["run"])
    )
    # In another store, with runs or without: the same values again, and no run more.
    other = open_fresh_store()
    assert forest_files.import_forests(other, loaded)
    assert other.counts() == {"ReferenceForest": len(made.forests)}
    other.write(RUNS)
    assert evaluation_jobs.evaluate(other, save=False) == before
    assert diagnosis_jobs.diagnose(other, save=False) == diagnosed
    stored = forest_jobs.find_forests(other)
    assert stored.forests == made.forests
    forest_files.export_forests(other, stored, tmp_path / "two.json")
    assert (tmp_path / "two.json").read_bytes() == first
    shown = forest_jobs.described_references(other, stored, stored.forests[0])
    assert shown == {
        name: {key: row[key] for key in ("task", "method", "nodes", "agents")}
        for name, row in ours.items()
    }
    assert not forest_files.import_forests(other, loaded)
    assert other.counts()["ReferenceForest"] == len(made.forests)


def test_forests_from_a_file_never_mix_with_those_built_here(open_fresh_store, tmp_path):
    theirs = open_fresh_store()
    theirs.write(RUNS)
    made = forest_jobs.build_forests(theirs)
    forest_files.export_forests(theirs, made, tmp_path / "theirs.json")
    ours = open_fresh_store()
    ours.write([RUNS[0], RUNS[2]])
    own = forest_jobs.build_forests(ours)
    assert own.configuration_hash == made.configuration_hash
    assert own.selection == made.selection
    assert forest_files.import_forests(
        ours, forest_files.load_forests(tmp_path / "theirs.json")
    )
    assert forest_jobs.read_forests(ours, own.id).forests == own.forests
    assert forest_jobs.read_forests(ours, made.id).forests == made.forests
    assert ours.counts()["Run"] == 2
    assert {row["forest_set"]: row["imported"] for row in forest_jobs.stored_forests(ours)} == {
        own.id: False,
        made.id: True,
    }
    # Building again replaces what was built here, and leaves what came with the file.
    ours.write(RUNS)
    again = forest_jobs.build_forests(ours)
    assert again.id == made.id
    assert {row["forest_set"] for row in forest_jobs.stored_forests(ours)} == {made.id}
    assert not any(row["imported"] for row in forest_jobs.stored_forests(ours))


def test_what_was_ingested_again_under_other_ids_is_still_the_same_run(open_fresh_store):
    contents = {"a": ["plan", "do"], "b": ["other", "words"], "c": ["so", "and so"]}
    roles = {"a": "ps", "b": "ps", "c": "pc"}
    store = open_fresh_store()
    runs = {name: team_run(name, roles[name], contents=contents[name]) for name in "abc"}
    store.write(list(runs.values()))
    forest_jobs.build_forests(store)
    late = {
        name: team_run(f"late {name}", roles[name], contents=contents[name], rename="Dr ")
        for name in "abc"
    }
    store.write(list(late.values()))
    rows = {row.run: row for row in evaluation_jobs.evaluate(store, save=False).rows}
    for name, graph in runs.items():
        first, again = rows[graph.id], rows[late[name].id]
        assert graph.id != late[name].id
        assert first.forest_match == again.forest_match
        assert first.best_similarity == again.best_similarity
        assert first.forest_match_percentile == again.forest_match_percentile


def test_where_nothing_matches_nothing_is_written(fresh_store):
    fresh_store.write(RUNS)
    found = forest_jobs.build_forests(fresh_store, selection=jobs.Selection("nope"))
    assert (found.forests, found.short) == ((), ())
    assert report_heads(fresh_store) == []


def test_runs_are_diagnosed_and_the_report_is_kept(fresh_store):
    fresh_store.write(RUNS)
    with pytest.raises(NotFoundError, match="the store has no forests"):
        diagnosis_jobs.diagnose(fresh_store)
    forest_jobs.build_forests(fresh_store)
    report = diagnosis_jobs.diagnose(fresh_store)
    again = diagnosis_jobs.diagnose(fresh_store, save=False)
    assert report == again
    assert len(report.rows) == 8
    assert report.mistakes.rows[0].runs == 1
    (head,) = report_heads(fresh_store, "diagnosis")
    document = read_report(fresh_store, head.report).document
    assert document["failed_count"] == 3
    assert [row["run"] for row in document["failed"]] == sorted(
        graph.id for graph in RUNS if graph.outcome.success is False
    )
    assert document["methods"][0]["method"] == "m"


def test_decompositions_make_forests_of_their_own(fresh_store):
    fresh_store.write([*RUNS, PLAN])
    made = forest_jobs.build_forests(
        fresh_store,
        ForestConfiguration(options={"labels": "role"}),
        levels=["decomposition"],
    )
    (forest,) = made.forests
    assert forest.references[0].graph == PLAN.id
    found = evaluation_jobs.evaluate(fresh_store, save=False)
    levels = {row.task: row.forest_level for row in found.rows}
    assert levels == {"t": "decomposition", "u": None}
    row = next(row for row in found.rows if row.run == RUNS[0].id)
    # One solver of {solver, solver}; planner and critic are extra.
    assert row.forest_node_match == pytest.approx(1 / 4)
    assert row.diagnosis is None


@pytest.fixture
def exported(tmp_path):
    path = tmp_path / "forests.json"
    with mg.open_store(str(tmp_path / "s.db")) as store:
        store.write(RUNS)
        forest_files.export_forests(store, forest_jobs.build_forests(store), path)
    return path


def reworded(graph):
    """Another content in a reference, and its hash."""
    node = graph["nodes"][0]
    node["content"] = "other words"
    node["content_hash"] = content_hash("other words")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: one.clear(), "it holds no reference forests"),
        (lambda one: one.update(masgraph_forests=7), "of version 7; 2 is known"),
        (lambda one: one.pop("graphs"), "damaged: Object missing required field `graphs`"),
        (lambda one: one["graphs"].pop(), "they name 3 graphs, and it holds 2"),
        (
            lambda one: one["configuration"].update(references=3),
            "not those that the file names",
        ),
        (
            lambda one: one["forests"][0]["references"][0].update(weight=-5),
            "a weight is no num",
        ),
        (lambda one: one["forests"][0].update(threshold=7), "the threshold is not that of"),
        (lambda one: one["forests"].append(one["forests"][0]), "task t occurs twice"),
        (lambda one: one["forests"][0].update(successes=9), "not those that the file names"),
        (lambda one: reworded(one["graphs"][0]), "a graph of the task t is not the one"),
        (lambda one: one["forests"][0].pop("references"), "missing required field"),
        (lambda one: one["graphs"][0]["nodes"].pop(0), "a reference is damaged"),
        (lambda one: one.update(selection=3), "damaged"),
    ],
)
def test_a_damaged_file_is_refused(exported, change, says):
    document = json.loads(exported.read_bytes())
    change(document)
    exported.write_text(json.dumps(document))
    with pytest.raises(InputError, match=says):
        forest_files.load_forests(exported)


@pytest.mark.parametrize("data", [b"", b"[1]", b"{", b"\x1f\x8bno", b'"x"'])
def test_what_is_no_file_of_forests_is_refused(tmp_path, data):
    path = tmp_path / "forests.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"forests.json: it (holds no|cannot be read)"):
        forest_files.load_forests(path)
    with pytest.raises(InputError, match="cannot be read"):
        forest_files.load_forests(tmp_path / "nothing.json")


def test_from_a_notebook(tmp_path, exported):
    path = tmp_path / "s.db"
    found = mg.evaluate(path)
    assert found.compared == 8
    assert mg.evaluate(path, forests=False).compared == 0
    loaded = mg.load_forests(exported)
    assert mg.evaluate(path, forests=loaded) == found
    made = mg.build_forests(path)
    assert made.forests == loaded.forests.forests
    assert mg.build_forests(RUNS).forests == made.forests
    assert mg.diagnose(path).rows == mg.diagnose(RUNS, forests=loaded).rows
    built = mg.build_forests(RUNS)
    for source in (path, RUNS, iter(RUNS)):
        again = mg.evaluate(source, forests=built)
        assert {row.run: row.forest_match for row in again.rows} == {
            row.run: row.forest_match for row in found.rows
        }
    assert mg.diagnose(RUNS, forests=built).rows == mg.diagnose(path).rows
    with pytest.raises(UsageError, match="of the 3 graphs that the forests hold are not among"):
        mg.evaluate(RUNS[3:], forests=built)
    with pytest.raises(UsageError, match="forests from a file"):
        mg.evaluate(RUNS, forests=True)
