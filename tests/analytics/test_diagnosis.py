"""Quadrants, where a run parts from what works, and how often that names the mistake."""

import pytest

from analytics.diagnosis import diagnose, parting
from analytics.diagnosis_report import Diagnostician, diagnose_runs
from analytics.forest_panel import ForestScorer
from analytics.mistakes import STRATEGIES, labelled_run, mistake_report
from analytics.similarity.alignment import AlignmentMeasure
from tests.analytics.teams import team_run
from tests.analytics.test_forest_panel import forests_of

PARTS_AT, PARTS_AFTER, RANDOM, FIRST, LAST, BUSIEST = range(len(STRATEGIES))


@pytest.mark.parametrize(
    ("success", "match", "threshold", "expected"),
    [
        (False, 0.2, 0.5, "structural"),
        (False, 0.5, 0.5, "content"),
        (True, 0.2, 0.5, "lucky"),
        (True, 0.5 - 1e-12, 0.5, "sound"),
        (None, 0.2, 0.5, None),
        (True, None, 0.5, None),
        (True, 0.2, None, None),
    ],
)
def test_the_quadrants(success, match, threshold, expected):
    assert diagnose(success, match, threshold) == expected


@pytest.mark.parametrize(
    ("roles", "at", "after", "action"),
    [
        ("pscv", None, None, None),
        ("psc", None, 2, None),
        ("pspv", 2, 1, "planner agent_message"),
        ("vscv", 0, None, "verifier agent_message"),
    ],
)
def test_where_a_run_parts(roles, at, after, action):
    reference = team_run("good", "pscv")
    found = parting(team_run("x", roles), reference, AlignmentMeasure())
    assert (found.index, found.after, found.action) == (at, after, action)
    assert found.reference == reference.id
    if at is not None:
        assert found.agent == action.split()[0]
    assert found.missing == 4 - len(roles)


def test_chances_by_hand():
    run = team_run("x", "pssc", mistake=("Solver", 2), success=False)
    hits = labelled_run(run, 2, 1).hits
    assert (hits[PARTS_AT].step, hits[PARTS_AT].agent) == (1.0, 1.0)
    assert (hits[PARTS_AFTER].step, hits[PARTS_AFTER].agent) == (0.0, 1.0)
    assert (hits[RANDOM].step, hits[RANDOM].agent) == (0.25, 0.5)
    assert (hits[FIRST].step, hits[FIRST].agent) == (0.0, 0.0)
    assert (hits[LAST].step, hits[LAST].agent) == (0.0, 0.0)
    assert (hits[BUSIEST].step, hits[BUSIEST].agent) == (0.5, 1.0)
    silent = labelled_run(run, None, None).hits[PARTS_AT]
    assert (silent.step, silent.agent, silent.answered) == (0.0, 0.0, False)
    half = labelled_run(team_run("y", "ps", mistake=(None, 1)), 1, 0).hits[PARTS_AT]
    assert (half.step, half.agent) == (1.0, None)
    assert labelled_run(team_run("z", "ps"), 1, 0) is None
    assert labelled_run(team_run("z", "ps", agents=False, mistake=("p", 1)), 1, 0) is None


def test_the_report_counts_what_has_no_answer_as_wrong():
    runs = [
        labelled_run(team_run(name, "pssc", task=name, mistake=("solver", 2)), at, None)
        for name, at in (("a", 2), ("b", 1), ("c", None), ("d", 0))
    ]
    report = mistake_report(runs)
    assert [row.strategy for row in report.rows] == list(STRATEGIES)
    row = report.rows[PARTS_AT]
    assert (row.method, row.runs, row.answered) == (None, 4, 3)
    assert row.step.estimate == 0.25
    assert row.agent.estimate == 0.5
    assert row.step_gain.estimate == 0.0
    assert report.rows[RANDOM].step_gain.estimate == 0.0
    assert report.rows[BUSIEST].agent_gain.estimate == -0.5
    assert row.step.units == 4
    assert mistake_report(runs[::-1]) == report
    assert report.to_pandas().shape[0] == len(STRATEGIES)
    assert report.to_dict()["rows"][0]["answered"] == 3
    two = mistake_report(
        [
            *runs,
            labelled_run(team_run("e", "ps", method="other", mistake=("planner", 0)), 0, None),
        ]
    )
    assert [row.method for row in two.rows[:: len(STRATEGIES)]] == [None, "m", "other"]


def test_runs_are_diagnosed_beside_a_forest():
    works = [team_run("a", "psc"), team_run("b", "psv"), team_run("c", "pscv")]
    scorer = ForestScorer(forests_of(works), works)
    strange = team_run("x", "vvvvvvvv", success=False, mistake=("verifier", 0))
    alike = team_run("y", "psc", success=False, mistake=("critic", 2), method=None)
    elsewhere = team_run("w", "psc", success=False, task="u", dataset="e")
    plan = team_run("plan", "psc", kind="decomposition")
    made = Diagnostician(scorer, {graph.id: graph for graph in works}, AlignmentMeasure())
    report = diagnose_runs([strange, *works, alike, elsewhere, plan], made)
    rows = {row.run: row for row in report.rows}
    assert len(rows) == 6
    assert list(rows) == sorted(rows)
    assert rows[strange.id].diagnosis == "structural"
    assert (rows[strange.id].parts_at, rows[strange.id].parts_agent) == (0, "verifier")
    assert rows[alike.id].diagnosis == "content"
    assert rows[alike.id].best_reference == works[0].id
    assert rows[alike.id].parts_at is None
    assert rows[elsewhere.id].forest_level is None
    assert rows[elsewhere.id].parts_at is None
    named, nameless = report.counts()
    assert (named["method"], nameless["method"]) == ("m", None)
    assert (named["runs"], named["compared"], named["structural"]) == (5, 4, 1)
    assert nameless["content"] == 1
    assert report.mistakes.rows[0].runs == 2
    assert report.to_pandas().shape[0] == 6
    document = report.to_dict()
    assert document["configuration_hash"] == report.configuration_hash
    assert len(document["rows"]) == 6
    nothing = diagnose_runs([elsewhere], Diagnostician(scorer, {}, AlignmentMeasure()))
    assert nothing.mistakes is None
