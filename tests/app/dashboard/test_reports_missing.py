"""The pages on many runs where there is nothing, or one run."""

import json

import pytest

from analytics.interventions_configuration import InterventionConfiguration
from analytics.perturbation_study import PerturbationConfiguration
from analytics.similarity.measure import measure_named
from analytics.statistics import BootstrapConfiguration
from analytics.trajectory_results import AnalysisConfiguration
from app import (
    communication_jobs,
    evaluation_jobs,
    forest_jobs,
    intervention_jobs,
    perturbation_jobs,
    relation_jobs,
    trajectory_jobs,
)
from app.dashboard import settings
from app.drop_jobs import DroppedFile, read_dropped
from graphstore.store import open_store
from tests.app.dashboard import teams
from tests.app.dashboard.conftest import open_page
from tests.app.dashboard.teams import STATES
from tests.app.dashboard.test_injection import check

pytestmark = pytest.mark.xdist_group("dashboard")

FEW = BootstrapConfiguration(draws=200)


@pytest.mark.parametrize(("page", "state"), STATES)
def test_an_empty_store_says_which_command_fills_it(open_fresh_store, page, state, monkeypatch):
    store = open_fresh_store()
    _log_in(open_fresh_store.server, monkeypatch)
    store.checkpoint()
    settings.configure(settings.Settings(store=store.url))
    shown = open_page(page, **state).check()
    told = " ".join(shown.kinds("empty"))
    assert "masgraph " in told or "ids" in told, shown.notes
    assert not shown.test.dataframe


@pytest.mark.parametrize("run", [teams.alone("plain", 0), teams.team("plain", 0, 0)])
def test_one_run(tmp_path, run):
    """All jobs that can be made of one run; what they cannot say is said by the page."""
    path = tmp_path / "one.db"
    with open_store(str(path)) as store:
        read_dropped([DroppedFile("one.jsonl", json.dumps(run).encode())], store)
        found = forest_jobs.build_forests(store)
        assert not found.forests, "one success is no forest"
        trajectory_jobs.analyse(store, AnalysisConfiguration(bootstrap=FEW))
        communication_jobs.communication(store)
        intervention_jobs.execution(store)
        intervention_jobs.predict(store, InterventionConfiguration(draws=2))
        perturbation_jobs.assess_suitability(store)
        perturbation_jobs.perturb_graphs(
            store, [measure_named("forest")], PerturbationConfiguration(bootstrap=FEW)
        )
        if "attributes" in run:
            relation_jobs.relations(store)
        evaluation_jobs.evaluate(store)
        stored = store.query("MATCH (r:Run) RETURN r.id AS id").rows[0][0]
    settings.configure(settings.Settings(store=str(path)))
    for page, state in STATES:
        check(open_page(page, **state).check())
    shown = open_page("compare", part="Two runs", one=stored, other=stored).check()
    assert set(shown.test.dataframe[0].value["kind"]) == {"matched"}
    shown = open_page("compare", part="Two runs", one=stored).check()
    assert shown.kinds("empty")


def _log_in(server, monkeypatch):
    if server is not None:
        monkeypatch.setenv("NEO4J_USER", server.user)
        if server.password:
            monkeypatch.setenv("NEO4J_PASSWORD", server.password)
