import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analytics.averages import LARGEST
from analytics.statistics import BootstrapConfiguration
from analytics.trajectories import TrajectoryConfiguration
from analytics.trajectory_intervals import intervals_by_method
from analytics.trajectory_report import evaluate_trajectories, methods_to_pandas
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import Outcome
from tests import strategies
from tests.analytics.published import (
    MASTRACE_BENCHMARKS,
    MASTRACE_SINGLE_AGENT,
    MASTRACE_TABLE_2,
)
from tests.analytics.test_trajectories import make_run


def proposals(initial, final, answer, unit="u", values=None):
    names = "abc"
    values = values or [f"v{place}" for place in range(len(initial))]
    return [
        *((unit, "initial", names[i], "x", score, None) for i, score in enumerate(initial)),
        *((unit, "final", names[i], values[i], score, None) for i, score in enumerate(final)),
        (unit, "answer", None, "z", answer, None),
    ]


def runs():
    def outcome(score, tokens):
        return Outcome(
            score=score,
            tokens_in=None if tokens is None else tokens - 1,
            tokens_out=None if tokens is None else 1,
        )

    return [
        make_run(
            proposals([0.5, 0.2], [0.5, 0.5], 0.5, values=["a", "a"]),
            outcome(0.5, 300),
            task="t1",
            name="d1",
        ),
        make_run(
            proposals([1.0, 0.2], [1.0, 0.1], 0.5), outcome(0.5, 500), task="t2", name="d2"
        ),
        make_run(
            proposals([0.2, 0.1], [0.6, 0.6], 0.7), outcome(0.7, None), task="t2", name="d3"
        ),
        make_run([], outcome(1.0, 900), task="t9", name="d4"),
        make_run([], outcome(0.4, 100), task="t1", name="s1", method="single"),
        make_run([], outcome(0.5, 100), task="t2", name="s2", method="single"),
        make_run([], outcome(0.0, 10), task="t5", name="s3", method="single"),
    ]


def test_methods_worked_out_by_hand():
    report = evaluate_trajectories(runs(), TrajectoryConfiguration(maximum_score=1.0))
    debate, single = report.by_method("single")
    assert (debate.method, debate.runs, debate.tasks, debate.units) == ("debate", 4, 3, 3)
    # t1: 0.5; t2: the mean of 0.5 and 0.7; t9: 1.0.
    assert debate.task_score == pytest.approx(2.1 / 3)
    # Both scored t1 and t2: 0.55 against 0.45.
    assert debate.collaboration_gain == pytest.approx(0.1)
    assert debate.gain_tasks == 2
    assert debate.gain.counts == {
        "Improve": 1,
        "OptKeep": 0,
        "SubKeep": 1,
        "UnratedKeep": 0,
        "Regress": 1,
    }
    assert debate.strong.counts["OptKeep"] == 1
    assert debate.weak.counts["Reach"] == 1
    assert debate.weak.counts["Degrade"] == 1
    assert debate.weak.counts["Surpass"] == 1
    # 0, 0.5 and -0.1.
    assert debate.aggregation_loss == pytest.approx(0.4 / 3)
    assert debate.token_cost == pytest.approx(1700 / 3)
    assert debate.token_runs == 3
    # t1 and t2: 400 a run against 100. The single agent records no unit.
    assert (debate.token_multiple, debate.multiple_tasks) == (4.0, 2)
    assert debate.validity.share == 1.0
    assert debate.agreement == pytest.approx(1 / 3)
    assert debate.notes == (
        "1 of 4 runs have no complete token count.",
        "1 of 4 runs record no proposal.",
    )
    assert (single.collaboration_gain, single.token_multiple) == (0.0, 1.0)
    assert single.gain.share("Improve") is None
    assert single.validity.share is None
    assert single.aggregation_loss is None


def test_dynamic_tasks_cost_by_the_decision():
    steps = [step for unit in "wxyz" for step in proposals([0.5, 0.1], [0.5, 0.5], 0.5, unit)]
    graphs = [
        make_run(steps, Outcome(score=1.0, tokens_in=700, tokens_out=100), name="d"),
        make_run(
            proposals([0.5], [0.5], 0.5, "w") + proposals([0.5], [0.5], 0.5, "x"),
            Outcome(score=0.0, tokens_in=80, tokens_out=20),
            method="single",
            name="s",
        ),
    ]
    debate, single = evaluate_trajectories(graphs).by_method("single")
    assert (debate.token_cost, single.token_cost) == (200.0, 50.0)
    assert debate.token_multiple == 4.0
    assert debate.gain.counts["UnratedKeep"] == 4
    assert any("largest possible score" in note for note in debate.notes)


def test_table_2_of_mastracebench_from_runs():
    graphs = []
    for place, benchmark in enumerate(MASTRACE_BENCHMARKS):
        scores = {"Single-Agent": MASTRACE_SINGLE_AGENT[place]}
        scores |= {method: row[place][0] for method, row in MASTRACE_TABLE_2.items()}
        graphs += [
            make_run(
                [],
                Outcome(score=score),
                task=benchmark,
                method=f"{method}/{benchmark}",
                name=f"{method} {benchmark}",
            )
            for method, score in scores.items()
        ]
    report = evaluate_trajectories(graphs)
    for place, benchmark in enumerate(MASTRACE_BENCHMARKS):
        found = {one.method: one for one in report.by_method(f"Single-Agent/{benchmark}")}
        for method, row in MASTRACE_TABLE_2.items():
            summary = found[f"{method}/{benchmark}"]
            assert (summary.task_score, round(summary.collaboration_gain, 2)) == row[place]


def test_without_a_single_agent_gains_are_missing():
    report = evaluate_trajectories(runs())
    debate = report.by_method()[0]
    assert (debate.collaboration_gain, debate.token_multiple, debate.gain_tasks) == (
        None,
        None,
        0,
    )
    with pytest.raises(NotFoundError, match="nobody"):
        report.by_method("nobody")
    assert report.by_method(debate.method_id) == report.by_method("debate")


def test_methods_without_a_task_in_common_cannot_be_compared():
    graphs = [
        make_run([], Outcome(score=1.0), task="t1", name="a"),
        make_run([], Outcome(score=0.5), task="t2", name="b", method="single"),
    ]
    debate, _ = evaluate_trajectories(graphs).by_method("single")
    assert debate.task_score == 1.0
    assert (debate.collaboration_gain, debate.gain_tasks) == (None, 0)


def test_task_scores_are_what_comparisons_are_made_of():
    graphs = runs()
    scores = evaluate_trajectories(graphs).task_scores()
    assert [name for name, _ in scores] == ["debate", "single"]
    debate = next(iter(scores.values()))
    assert debate[graphs[0].task.id] == 0.5
    assert debate[graphs[1].task.id] == pytest.approx(0.6)


def test_tables():
    report = evaluate_trajectories(runs(), TrajectoryConfiguration(maximum_score=1.0))
    frame = report.to_pandas()
    assert frame["gain"].tolist() == ["SubKeep", "Regress", "Improve"]
    assert frame["agreement"].dtype == "boolean"
    assert frame["missing"].isna().all()
    methods = methods_to_pandas(report.by_method("single"))
    assert methods["gain_Improve"].tolist()[0] == pytest.approx(1 / 3)
    assert methods["weak_Reach"].isna().tolist() == [False, True]
    assert methods["method"].tolist() == ["debate", "single"]
    assert evaluate_trajectories([]).to_pandas().empty
    assert evaluate_trajectories([]).by_method() == ()


def test_gains_that_cancel_out_are_no_rounding():
    graphs = [
        make_run(proposals([one], [one], one), None, task=task, name=name + task, method=name)
        for task, team, single in (("t1", 0.7, 0.5), ("t2", 0.1, 0.3))
        for name, one in (("team", team), ("solo", single))
    ]
    report = evaluate_trajectories(graphs)
    _, team = report.by_method("solo")
    assert team.collaboration_gain == 0.0
    _, intervals = intervals_by_method(report, "solo", BootstrapConfiguration(draws=1))
    found = intervals.against_single
    assert (found.interval.estimate, found.interval.low) == (0.0, None)
    assert "speak for" not in found.conclusion
    _, intervals = intervals_by_method(report, "solo")
    assert "holds 0" in intervals.against_single.conclusion
    assert "e-17" not in intervals.against_single.conclusion


def test_a_multiple_that_is_not_by_unit_says_so():
    steps = [step for unit in "wx" for step in proposals([0.5], [0.5], 0.5, unit)]
    used = Outcome(tokens_in=500, tokens_out=0)
    graphs = [
        make_run(steps, used, name="team", method="team"),
        make_run([], Outcome(tokens_in=550, tokens_out=0), name="solo", method="solo"),
    ]
    _, team = evaluate_trajectories(graphs).by_method("solo")
    # 250 a unit beside 550 a run: the multiple is that of runs.
    assert (team.token_cost, team.token_multiple) == (250.0, 500 / 550)
    assert any(note.startswith("The multiple is for each run, not unit") for note in team.notes)


def test_runs_whose_score_is_not_their_answers_are_counted():
    graphs = [
        make_run(proposals([0.5], [0.5], 0.5), Outcome(score=score), task="t", name=f"r{score}")
        for score in (0.5, 0.9)
    ]
    (found,) = evaluate_trajectories(graphs).by_method()
    assert found.task_score == 0.5
    told = "1 of 2 runs have a score of their own that is not their only answer's"
    assert any(note.startswith(told) for note in found.notes)


def test_scores_above_the_maximum_are_refused():
    with pytest.raises(UsageError, match="d2, unit u"):
        evaluate_trajectories(runs(), TrajectoryConfiguration(maximum_score=0.9))


@given(st.lists(strategies.graphs(kind="run"), max_size=3))
def test_any_runs_can_be_reported(graphs):
    for graph in graphs:
        scores = (graph.outcome.score, *(one.score for one in graph.proposals))
        assume(all(score is None or abs(score) <= LARGEST for score in scores))
    report = evaluate_trajectories(graphs)
    assert len(report.to_pandas()) == sum(
        len({proposal.unit for proposal in graph.proposals}) for graph in graphs
    )
    for one in report.by_method():
        assert one.gain.known + one.gain.unknown == one.units
        assert one.validity.valid <= one.validity.known
