import json

import msgspec
import pytest

from analytics.scorers.evidencechain import EvidenceChainScorer
from analytics.scorers.gomoku import GomokuScorer
from analytics.scorers.mapf import MapfScorer
from analytics.scorers.registry import BUILT_IN, ScorerRegistry, default_scorers
from analytics.trajectories import TrajectoryConfiguration, Verdict, trajectory_of
from analytics.trajectory_metrics import diagnose_unit
from analytics.trajectory_scoring import InstanceTable, score_run
from graphstore.errors import InputError, NotFoundError, UsageError
from graphstore.model import Outcome
from tests.analytics.test_trajectories import make_run

ROOM = {
    "map": ["...", "...", "..."],
    "robots": [{"start": [row, 0], "goal": [row, 2]} for row in range(3)],
}


def plan(arriving):
    """A plan by which so many of three robots arrive."""
    return json.dumps([["right", "right"]] * arriving + [["wait"]] * (3 - arriving))


def run_of(initial, final, answer, **more):
    """A run of plans by which so many robots arrive."""
    return make_run(
        [
            *(("u", "initial", "abc"[i], plan(n), None, None) for i, n in enumerate(initial)),
            *(("u", "final", "abc"[i], plan(n), None, None) for i, n in enumerate(final)),
            ("u", "answer", None, plan(answer), None, None),
        ],
        **more,
    )


def diagnosed(graph, scorer=None, table=None):
    scored = score_run(graph, scorer or MapfScorer(), table or room())
    options = TrajectoryConfiguration(task_score="answer")
    found = trajectory_of(scored.graph, options, maximum_scores=scored.maximum_scores)
    return found, [diagnose_unit(unit, options) for unit in found.units]


def room(**key):
    return InstanceTable.from_records([{"task": "t", "instance": ROOM, **key}], MapfScorer())


@pytest.mark.parametrize(
    ("initial", "final", "gain", "loss"),
    [
        # The three cases of the paper: arrival rates, and an answer at 66.7 in each.
        ([1, 1, 1], [1, 2, 2], "Improve", 0.0),
        ([3, 1, 1], [2, 2, 2], "Regress", 0.0),
        ([3, 1, 1], [3, 2, 2], "Regress", 100 / 3),
    ],
)
def test_the_three_cases_of_the_paper_from_real_plans(initial, final, gain, loss):
    found, (unit,) = diagnosed(run_of(initial, final, 2))
    assert found.score == unit.answer_score == pytest.approx(200 / 3)
    assert unit.best_initial == pytest.approx(100 * max(initial) / 3)
    assert unit.gain == gain
    assert unit.aggregation_loss == pytest.approx(loss)


def test_the_run_may_hold_its_instances():
    graph = run_of([1], [1], 1)
    for attributes in ({"instance": ROOM}, {"instances": {"u": ROOM, "v": {}}}):
        held = msgspec.structs.replace(graph, attributes=attributes)
        assert score_run(held, MapfScorer()).scored == 3
    # The tasks file goes before them.
    other = {"map": ["."], "robots": [{"start": [0, 0], "goal": [0, 0]}]}
    held = msgspec.structs.replace(graph, attributes={"instance": other})
    assert score_run(held, MapfScorer(), room()).scored == 3
    assert score_run(held, MapfScorer()).scored == 0


def test_an_instance_that_cannot_be_read_is_told():
    graph = msgspec.structs.replace(
        run_of([1], [1], 1), attributes={"instances": {"u": {"map": [3]}}}
    )
    scored = score_run(graph, MapfScorer())
    assert scored.scored == 0
    assert scored.reasons[0].startswith("the run's own instance cannot be read: ")


def test_the_expected_answer_may_be_the_instance():
    graph = make_run(
        [("u", "answer", None, "[1, 2]", 0.5, True)], Outcome(score=0.5, expected="[1, 2]")
    )
    found, (unit,) = diagnosed(graph, EvidenceChainScorer(), InstanceTable({}))
    # The score of the trace, in another unit, is gone.
    assert (found.score, unit.answer_score) == (100.0, 100.0)


def test_what_cannot_be_scored_is_missing_and_says_why():
    graph = make_run(
        [
            ("u", "initial", "a", "right, right", 0.9, True),
            ("u", "initial", "b", None, 0.9, True),
            ("u", "final", "a", plan(3), None, None),
            ("u", "answer", None, plan(2), 0.1, None),
        ]
    )
    scored = score_run(graph, MapfScorer(), room())
    assert [(one.score, one.valid) for one in scored.graph.proposals] == [
        (None, False),
        (None, True),
        (100.0, True),
        (pytest.approx(200 / 3), True),
    ]
    assert scored.scored == 2
    assert scored.reasons == ("it holds no JSON", "the trace does not hold its text")
    other = score_run(graph, MapfScorer(), room(unit="v"))
    assert other.scored == 0
    assert set(other.reasons) == {"there is no instance of its task"}
    assert [one.score for one in other.graph.proposals] == [None] * 4


def test_the_most_special_instance_is_taken():
    def one(arrives, **key):
        goal = [0, 1] if arrives else [0, 2]
        return {
            "instance": {"map": ["..."], "robots": [{"start": [0, 0], "goal": goal}]},
            **key,
        }

    value = '[["right"]]'
    graph = make_run([("u", "answer", None, value, None, None)], name="r1")

    def score(*records):
        table = InstanceTable.from_records(records, MapfScorer())
        return score_run(graph, MapfScorer(), table).graph.proposals[0].score

    assert score(one(True, task="t")) == 100.0
    assert score(one(True, task=graph.task.id)) == 100.0
    assert score(one(False, task="t"), one(True, task="t", dataset="small")) == 100.0
    assert score(one(False, task="t"), one(True, task="t", unit="u")) == 100.0
    assert score(one(False, task="t", unit="u"), one(True, run="r1")) == 100.0
    assert score(one(False, run="r1"), one(True, run=graph.id, unit="u")) == 100.0
    assert score(one(True, task="t", dataset="large")) is None
    assert score(one(True, task="t", unit="w")) is None
    # A file may hold the tasks of several scorers.
    other = {"task": "t", "scorer": "gomoku", "instance": {"player": "black"}}
    assert score(other, None, one(True, task="t", scorer="mapf")) == 100.0


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"instance": ROOM}, "one task or one run"),
        ({"instance": ROOM, "task": "t", "run": "r"}, "one task or one run"),
        ({"task": "t"}, "instance"),
        ({"task": "t", "instance": {"map": []}}, "robots"),
        ({"task": "t", "instance": ROOM, "units": "u"}, "units"),
        ({"task": "s", "instance": ROOM}, "another record"),
    ],
)
def test_a_bad_record_is_told_with_its_number(record, reason):
    records = [{"task": "s", "instance": ROOM}, None, record]
    with pytest.raises(InputError, match=f"tasks.jsonl, record 3: .*{reason}"):
        InstanceTable.from_records(records, MapfScorer(), file="tasks.jsonl")


def test_dynamic_tasks_have_a_largest_score_for_each_state():
    board = {"player": "black", "black": [[7, 5], [7, 6]], "white": []}
    empty = {"player": "black", "black": [], "white": []}
    graph = make_run(
        [
            (unit, phase, agent, move, None, None)
            for unit, move in (("1", "[0, 0]"), ("2", "[7, 7]"))
            for phase, agent in (("initial", "a"), ("answer", None))
        ],
        Outcome(score=1.0),
    )
    table = InstanceTable.from_records(
        [
            {"run": "r", "unit": "1", "instance": empty},
            {"run": "r", "unit": "2", "instance": board},
        ],
        GomokuScorer(),
    )
    scored = score_run(graph, GomokuScorer(), table)
    assert scored.maximum_scores == {"1": 0.0, "2": 60.0}
    options = TrajectoryConfiguration(task_score="episode")
    found = trajectory_of(scored.graph, options, maximum_scores=scored.maximum_scores)
    # The episode was won, which is no score of a move.
    assert found.score == 1.0
    assert [diagnose_unit(unit, options).gain for unit in found.units] == ["OptKeep"] * 2


def test_the_score_of_a_run_by_its_configuration():
    graph = make_run(
        [("u", "answer", None, "x", 0.5, True), ("v", "answer", None, "y", 0.1, True)],
        Outcome(score=0.9),
    )
    half = make_run(
        [("u", "answer", None, "x", 0.5, True), ("v", "answer", None, "y", None, True)]
    )
    alone = make_run([("u", "answer", None, "x", 0.5, True)])
    unscored = make_run([("u", "answer", None, "x", None, True)], Outcome(score=0.9))

    def score(graph, kind):
        return trajectory_of(graph, TrajectoryConfiguration(task_score=kind)).score

    assert [score(graph, kind) for kind in ("run", "episode", "answer")] == [0.9, 0.9, 0.3]
    assert [score(half, kind) for kind in ("run", "episode", "answer")] == [None] * 3
    assert [score(alone, kind) for kind in ("run", "episode", "answer")] == [0.5, None, 0.5]
    for kind, answer in (("run", 0.9), ("episode", None), ("answer", None)):
        found = trajectory_of(unscored, TrajectoryConfiguration(task_score=kind))
        assert found.units[0].answer.score == answer
    with pytest.raises(UsageError, match="'none'"):
        TrajectoryConfiguration(task_score="none")


def test_a_scorer_that_fails_is_told():
    class Failing(MapfScorer):
        def score(self, instance, value):
            return Verdict(float("nan"), True) if "wait" in value else 1 / 0

    graph = run_of([3], [3], 3)
    with pytest.raises(UsageError, match=r"scorer mapf failed on .*: ZeroDivisionError"):
        score_run(graph, Failing(), room())
    with pytest.raises(UsageError, match=r"scorer mapf gave .* nan"):
        score_run(run_of([1], [1], 1), Failing(), room())


# --- Scorers by name


def test_a_scorer_that_gives_no_verdict_is_told():
    class Silent(MapfScorer):
        def score(self, instance, text):
            return None

    with pytest.raises(UsageError, match="NoneType, no Verdict"):
        score_run(run_of([1], [1], 1), Silent(), room())


def test_the_built_in_scorers_are_found():
    registry = default_scorers()
    assert list(registry.scorers())[: len(BUILT_IN)] == list(BUILT_IN)
    assert [one.name for one in registry.scorers().values()][: len(BUILT_IN)] == list(BUILT_IN)
    with pytest.raises(NotFoundError, match="'chess': use one of mapf, optiongen"):
        registry.scorer("chess")


def test_a_scorer_that_cannot_be_imported_is_a_warning():
    registry = ScorerRegistry(
        {**BUILT_IN, "gone": "no_such_module:Scorer", "half": "analytics.averages:mean"}
    )
    assert list(registry.scorers()) == list(BUILT_IN)
    assert len(registry.warnings) == 2
    assert registry.warnings[0].startswith("the scorer gone cannot be used: ModuleNotFound")
    with pytest.raises(UsageError, match="scorer half cannot be used"):
        registry.scorer("half")
    assert len(registry.warnings) == 2
