"""The public jobs take an open store, its path, or graphs, and say what else they got."""

import json

import pytest

import masgraph as mg
from analytics.perturbation_study import PerturbationConfiguration
from app.sources import GraphsAlone
from tests.app.test_interventions_command import RECORDS

JOBS = {
    "communication": mg.communication,
    "compare_methods": mg.compare_methods,
    "execution": mg.execution,
    "measure_interventions": mg.measure_interventions,
    "predict_interventions": mg.predict_interventions,
    "relations": mg.relations,
}
LIBRARY = {
    **JOBS,
    "trajectories": mg.trajectories,
    "evaluate": mg.evaluate,
    "mine": mg.mine,
    "mine_library": mg.mine_library,
    "build_forests": mg.build_forests,
    "diagnose": mg.diagnose,
    "study_perturbations": mg.study_perturbations,
    "suitability": mg.suitability,
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "trio.jsonl"
    second = [{**one, "id": f"{one['id']} of duo", "method_id": "duo"} for one in RECORDS[:2]]
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS + second))
    return path


@pytest.fixture(scope="module")
def kept(traces):
    path = traces.parent / "trio.db"
    mg.ingest(traces, path)
    return path


def reports(path):
    return len(mg.query(path, "reports").rows)


@pytest.mark.parametrize("name", JOBS)
def test_a_store_its_path_and_its_graphs_give_the_same(kept, traces, name):
    job = JOBS[name]
    with mg.open_store(str(kept)) as store:
        expected = job(store, save=False).to_dict()
    assert job(kept).to_dict() == expected
    assert job(str(kept)).to_dict() == expected
    assert job(store=f"file://{kept}").to_dict() == expected
    graphs = mg.read(traces)
    assert job(graphs).to_dict() == expected
    assert job(one for one in reversed(graphs)).to_dict() == expected
    with mg.open_store(str(kept), read_only=True) as store:
        assert job(store, save=False).to_dict() == expected
        with pytest.raises(
            mg.StoreError, match=r"opened read-only, .* unless you say save=False"
        ):
            job(store)
    assert reports(kept) == 0


def test_a_report_is_kept_where_it_was_asked_for(traces, tmp_path):
    path = tmp_path / "own.db"
    mg.ingest(traces, path)
    mg.communication(path, save=True)
    assert reports(path) == 1
    with mg.open_store(str(path)) as store:
        mg.execution(store)
        mg.compare_methods(store, save=True)
        mg.relations(store)  # No run has checks: there is nothing to keep.
    assert reports(path) == 3
    with pytest.raises(mg.UsageError, match="graphs without a store keep no report"):
        mg.communication(mg.read(traces), save=True)


@pytest.mark.parametrize("name", LIBRARY)
def test_what_is_no_store_is_said(traces, tmp_path, name):
    job = LIBRARY[name]
    missing = tmp_path / "away.db"
    with pytest.raises(mg.StoreUnreachableError, match="there is no store at"):
        job(missing)
    with pytest.raises(mg.StoreDamagedError, match=r"no store or is damaged.* masgraph ingest"):
        job(traces)
    with pytest.raises(mg.StoreUnreachableError, match="is a folder"):
        job(traces.parent)
    if name in JOBS:
        with pytest.raises(mg.StoreUnreachableError, match="there is no store at"):
            job(missing, save=True)
    with pytest.raises(mg.UsageError, match="graphs are expected, not str: read"):
        job([str(traces)])
    for other in (mg.read(traces)[0], 3):
        with pytest.raises(mg.UsageError, match=f"expected, not {type(other).__name__}"):
            job(other)
    assert not missing.exists()


def test_options_and_help_stay_those_of_the_job(kept):
    found = mg.communication(kept, by=("method",), measure="transmitted_tokens")
    assert found.measure == "transmitted_tokens"
    assert [one.group for one in found.groups] == [("duo",), ("trio",)]
    assert [one.method for one in mg.compare_methods(kept, ["trio", "duo"]).methods]
    for job in JOBS.values():
        assert "Args:" in job.__doc__
        assert "its path or URL, or graphs alone" in job.__doc__


@pytest.mark.parametrize("name", sorted({*LIBRARY} - {"relations"}))
def test_none_is_refused_in_a_sentence(name):
    with pytest.raises(mg.UsageError, match=r"a store .* is expected|expected, not NoneType"):
        LIBRARY[name](None)


def test_one_name_is_a_list_of_one(kept, traces, tmp_path):
    graphs = mg.read(traces)
    with pytest.raises(mg.UsageError, match="two methods"):
        mg.compare_methods(graphs, "trio")
    assert mg.communication(graphs, by="method").by == ("method",)
    forests = mg.build_forests(graphs, levels="task")
    assert forests.short or forests.forests
    assert forests.id == mg.build_forests(graphs, levels=["task"]).id
    assert mg.diagnose(graphs, forests=forests, levels="task").rows
    with pytest.raises(mg.UsageError, match="no level 'tusk'"):
        mg.diagnose(graphs, forests=forests, levels="tusk")
    checks = tmp_path / "ch.jsonl"
    checks.write_text('{"id": "a", "task": "t"}\n')
    for one in (checks, str(checks)):
        assert mg.read_checks(one) == mg.read_checks([one])
    assert mg.predict_interventions(graphs, output="lead").to_dict() == (
        mg.predict_interventions(graphs, output=["lead"]).to_dict()
    )
    with pytest.raises(mg.NotFoundError, match="'trix'"):
        mg.suitability(graphs, teams="trix")


def test_one_measure_is_a_list_of_one(traces):
    graphs = mg.read(traces)[:1]
    options = PerturbationConfiguration(edits="drop", metrics="density", rates=(0.5,))
    assert options.edits == ("drop",)
    assert mg.study_perturbations(graphs, "wl", options).to_dict() == (
        mg.study_perturbations(graphs, ["wl"], options).to_dict()
    )


def test_files_of_checks_need_no_store():
    assert mg.relations(None).to_pandas().empty


def test_graphs_are_selected_as_in_a_store(kept):
    with mg.open_store(str(kept), read_only=True) as store:
        alone = GraphsAlone(store.graphs())
        some = next(iter(store.graphs(kind="run")))
        counts = store.counts()
        assert alone.counts() == {name: counts[name] for name in ("Run",)}
        for selection in (
            {},
            {"kind": "run"},
            {"kind": "decomposition"},
            {"dataset": "d"},
            {"dataset": "e"},
            {"method": "duo"},
            {"method": "nobody"},
            {"task": "1"},
            {"task": some.task.id, "method": "trio"},
            {"ids": [some.id, "away"]},
            {"ids": []},
        ):
            assert list(alone.graphs(**selection)) == list(store.graphs(**selection))


def test_a_scorer_is_an_instance(kept):
    with pytest.raises(
        mg.UsageError, match=r"a scorer is an instance, not the class: Scorer\(\)"
    ):
        mg.trajectories(kept, scorer=mg.Scorer)
    with pytest.raises(mg.UsageError, match="a scorer is a name or a Scorer, not int"):
        mg.trajectories(kept, scorer=3)
