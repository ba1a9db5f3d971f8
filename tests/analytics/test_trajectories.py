import math

import pytest

from analytics.trajectories import (
    Output,
    TrajectoryConfiguration,
    Validity,
    Verdict,
    score_proposals,
    total_tokens,
    trajectory_of,
)
from analytics.trajectory_metrics import diagnose_unit
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.model import Outcome


def make_run(proposals, outcome=None, *, agents="abc", name="r", method="debate", task="t"):
    """A run with (unit, phase, agent, value, score, valid) for each proposal."""
    builder = GraphBuilder(kind="run", format="test", uri="test", content=name, name=name)
    builder.set_task(task, dataset="small")
    builder.set_method(method)
    for agent in agents:
        builder.new_agent(agent)
    for unit, phase, agent, value, score, valid in proposals:
        builder.propose(
            unit,
            phase,
            agent=None if agent is None else agents.index(agent),
            value=value,
            score=score,
            valid=valid,
        )
    if outcome is not None:
        builder.outcome = outcome
    return builder.build()


def test_a_run_becomes_a_trajectory():
    graph = make_run(
        [
            ("u", "initial", "b", "Up, up", 0.2, True),
            ("u", "initial", "a", "left", 0.4, True),
            ("u", "final", "a", " LEFT ", 0.4, None),
            ("u", "final", "b", "left", 0.4, True),
            ("u", "answer", None, "left", 0.4, True),
            ("v", "initial", "c", "down", None, None),
        ],
        Outcome(score=0.7, tokens_in=90, tokens_out=10),
    )
    found = trajectory_of(graph, TrajectoryConfiguration(maximum_score=1.0))
    assert (found.run, found.task, found.method) == (graph.id, "t", "debate")
    assert (found.score, found.tokens) == (0.7, 100)
    first, second = found.units
    assert [one.agent for one in first.proposers] == [graph.agents[0].id, graph.agents[1].id]
    assert first.proposers[0].initial == Output(0.4, "left", True)
    # Values are compared in normal form; a score shows that there was something to score.
    assert first.proposers[0].final == Output(0.4, "left", True)
    assert first.proposers[1].initial == Output(0.2, "up, up", True)
    assert first.answer == Output(0.4, "left", True)
    assert (first.maximum, first.missing) == (1.0, ())
    assert second.answer is None
    assert second.missing == (
        "The initial proposal of c has no score.",
        "c has no final proposal.",
        "There is no answer.",
    )
    assert found.validity == Validity(valid=5, known=5, unknown=1)
    assert found.missing == ()


def test_units_may_differ_in_their_maximum():
    graph = make_run(
        [("u", "answer", None, "x", 1.0, True), ("v", "answer", None, "x", 1, True)]
    )
    found = trajectory_of(
        graph, TrajectoryConfiguration(maximum_score=1.0), maximum_scores={"v": 6.0}
    )
    assert [unit.maximum for unit in found.units] == [1.0, 6.0]


def test_the_first_accepted_initial_and_the_last_final_proposal_count():
    graph = make_run(
        [
            ("u", "initial", "a", "rejected", None, False),
            ("u", "initial", "a", "kept", 0.1, True),
            ("u", "initial", "a", "later", 0.9, True),
            ("u", "final", "a", "early", 0.3, True),
            ("u", "final", "a", "broken", None, False),
            ("u", "answer", None, "draft", 0.2, True),
            ("u", "answer", None, "sent", 0.5, True),
        ]
    )
    unit = trajectory_of(graph).units[0]
    assert unit.proposers[0].initial.value == "kept"
    assert unit.proposers[0].final == Output(None, "broken", False)
    assert unit.answer.value == "sent"
    assert unit.missing == ("The final proposal of a is not valid and has no score.",)
    strict = trajectory_of(graph, TrajectoryConfiguration(invalid_score=0.0)).units[0]
    assert strict.proposers[0].final == Output(0.0, "broken", False)
    assert strict.missing == ()
    assert trajectory_of(graph).validity == Validity(5, 7, 0)


def test_the_score_of_a_run_with_one_unit_is_its_answers():
    proposed = [("u", "initial", "a", "x", 0.5, True), ("u", "final", "a", "x", 0.5, True)]
    from_run = trajectory_of(make_run(proposed, Outcome(score=0.5))).units[0]
    assert from_run.answer == Output(0.5, None, None)
    assert from_run.missing == ("The score of the answer is the run's.",)
    answered = [*proposed, ("u", "answer", None, "x", 0.25, True)]
    assert trajectory_of(make_run(answered)).score == 0.25
    assert trajectory_of(make_run(answered, Outcome(score=0.5))).units[0].answer.score == 0.25
    # Two units: neither can speak for the other, or for the episode.
    two = [*proposed, ("v", "answer", None, "x", 0.25, True)]
    found = trajectory_of(make_run(two, Outcome(score=0.5)))
    assert found.units[0].answer is None
    assert trajectory_of(make_run(two)).score is None


def test_an_invalid_output_has_no_score_whatever_the_trace_gives_it():
    graph = make_run(
        [
            ("u", "initial", "a", "x", 0.9, False),
            ("u", "initial", "b", "y", 0.2, True),
            ("u", "answer", None, "z", 0.5, False),
        ]
    )
    unit = trajectory_of(graph).units[0]
    assert [one.initial.score for one in unit.proposers] == [None, 0.2]
    assert unit.answer.score is None
    assert "The initial proposal of a is not valid and has no score." in unit.missing
    assert "The answer is not valid and has no score." in unit.missing
    assert diagnose_unit(unit).best_initial is None
    assert trajectory_of(graph).validity == Validity(1, 3, 0)
    strict = TrajectoryConfiguration(invalid_score=0.0)
    unit = trajectory_of(graph, strict).units[0]
    assert diagnose_unit(unit).best_initial == 0.2
    assert (diagnose_unit(unit).gain, trajectory_of(graph, strict).score) == ("Regress", 0.0)


def test_the_task_score_is_the_final_answers_and_another_score_of_the_run_is_told():
    answered = [("u", "initial", "a", "x", 0.5, True), ("u", "answer", None, "x", 0.5, True)]
    found = trajectory_of(make_run(answered, Outcome(score=0.9)))
    assert (found.score, found.own_score) == (0.5, 0.9)
    assert found.missing[-1] == (
        "The run's own score is 0.9, that of its only answer 0.5: the answer's is the task "
        "score."
    )
    same = trajectory_of(make_run(answered, Outcome(score=0.5 + 1e-12)))
    assert not any("own score" in one for one in same.missing)
    # An episode's score is its own, whatever its only answer has.
    episode = TrajectoryConfiguration(task_score="episode")
    assert trajectory_of(make_run(answered, Outcome(score=0.9)), episode).score == 0.9


def test_scores_that_nothing_can_be_computed_with_are_named():
    with pytest.raises(UsageError, match=r"the score of the run big is 1e\+308"):
        trajectory_of(make_run([], Outcome(score=1e308), name="big"))
    graph = make_run([("u", "initial", "a", "x", -1e308, True)], name="deep")
    with pytest.raises(UsageError, match=r"deep: the score of the proposal .* is -1e\+308"):
        trajectory_of(graph)


def test_an_agent_that_revised_nothing_can_be_said_to_have_kept_its_proposal():
    graph = make_run([("u", "initial", "a", "x", 0.5, True)])
    assert trajectory_of(graph).units[0].proposers[0].final is None
    kept = trajectory_of(graph, TrajectoryConfiguration(keep_unrevised=True)).units[0]
    assert kept.proposers[0].final == Output(0.5, "x", True)
    assert kept.missing == ("There is no answer.",)


def test_a_run_without_anything_says_so():
    found = trajectory_of(make_run([]))
    assert (found.units, found.score, found.tokens) == ((), None, None)
    assert found.validity.share is None
    assert found.missing == (
        "The tokens read and written are not known.",
        "The run records no proposal.",
        "The run has no score.",
    )


def test_a_proposal_of_nobody_is_told():
    unit = trajectory_of(make_run([("u", "initial", None, "x", 1.0, True)])).units[0]
    assert unit.proposers == ()
    assert unit.missing[0] == "One initial proposal names no agent."


def test_tokens_are_the_runs_own_or_those_of_its_actions():
    builder = GraphBuilder(kind="run", format="test", uri="test", content="c", name="n")
    builder.set_task("t")
    builder.new_agent("a")
    builder.add("agent_message", "a", agent=0, tokens_in=10, tokens_out=1)
    builder.add("agent_message", "a", agent=0, tokens_in=20)
    assert total_tokens(builder.build()) == (
        31,
        "1 of 2 actions have no token count; others do.",
    )
    builder.outcome = Outcome(tokens_out=7)
    assert total_tokens(builder.build()) == (37, None)
    builder.add("agent_message", "a", agent=0)
    builder.outcome = Outcome(tokens_in=0, tokens_out=0)
    assert total_tokens(builder.build()) == (0, None)
    assert total_tokens(make_run([], Outcome(tokens_in=5))) == (
        None,
        "The tokens written are not known.",
    )


def test_a_scorer_fills_in_what_the_trace_lacks():
    graph = make_run(
        [
            ("u", "initial", "a", "12", None, None),
            ("u", "initial", "b", "twelve", None, None),
            ("u", "initial", "c", "13", 0.25, True),
            ("u", "answer", None, None, None, None),
        ]
    )

    def scorer(proposal):
        if proposal.value is None:
            return None
        number = proposal.value.isdigit()
        return Verdict(float(proposal.value == "12") if number else None, number)

    unit = trajectory_of(score_proposals(graph, scorer)).units[0]
    assert [one.initial.score for one in unit.proposers] == [1.0, None, 0.25]
    assert [one.initial.valid for one in unit.proposers] == [True, False, True]
    assert unit.answer == Output(None, None, None)
    again = trajectory_of(score_proposals(graph, scorer, replace=True)).units[0]
    assert again.proposers[2].initial.score == 0.0
    assert graph.proposals[0].score is None


def test_only_runs_have_proposals():
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="c")
    builder.set_task("t")
    builder.add("subtask", "s")
    with pytest.raises(UsageError, match="nobody has acted yet"):
        trajectory_of(builder.build())


def test_options():
    assert TrajectoryConfiguration().hash != TrajectoryConfiguration(tie=0.1).hash
    for changes in (
        {"tie": -1.0},
        {"tie": math.inf},
        {"maximum_score": math.nan},
        {"maximum_score": math.inf},
        {"invalid_score": -math.inf},
        {"invalid_score": math.nan},
        {"invalid_score": 1e308},
    ):
        with pytest.raises(UsageError, match=r"tie|maximum score|invalid outputs"):
            TrajectoryConfiguration(**changes)
    assert Validity(1, 2, 3) + Validity(1, 1, 0) == Validity(2, 3, 3)
    assert Validity(1, 2).share == 0.5
