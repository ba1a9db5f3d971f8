"""Proposals are the same however they are written, and different ones are not."""

import json

import pytest

from analytics.scorers.base import Scorer
from analytics.scorers.registry import BUILT_IN, default_scorers
from analytics.trajectories import TrajectoryConfiguration, Verdict, trajectory_of
from analytics.trajectory_metrics import diagnose_unit
from analytics.trajectory_scoring import InstanceTable, score_run
from tests.analytics.test_trajectories import make_run

ROBOTS = [{"start": [0, 0], "goal": [0, 2]}, {"start": [1, 0], "goal": [1, 2]}]
OPTIONS = {"correct": "a", "distractors": ["b", "c", "d"]}
CASES = {
    "mapf": (
        {"map": ["...", "..."], "robots": ROBOTS},
        ['{"1": [], "0": ["right"]}', 'So: {"0":["RIGHT"],"1":[]}', '[["right"], []]'],
        '[["right"], ["wait"]]',
    ),
    "optiongen": (
        {"article": "", "question": "", "correct_rubric": "", "distractor_rubric": ""},
        [
            json.dumps(OPTIONS),
            '{"options": {"A": "d", "B": "a", "C": "c", "D": "b"}, "correct": "B"}',
        ],
        json.dumps({**OPTIONS, "correct": "e"}),
    ),
    "evidencechain": (
        {"gold": [1]},
        ["[1, 2]", '{"chain": ["1", 2.0, 1]}', "evidencechain: [1,2]"],
        "[2, 1]",
    ),
    "gomoku": (
        {"player": "black", "black": [], "white": []},
        ["[7, 8]", "(7,8)", '{"row": 7, "col": 8}', 'I play {"move": [7, 8]}'],
        "[8, 7]",
    ),
    "negotiation": (
        {"items": {"x": 2, "y": 1}, "values": {"x": 1, "y": 1}},
        ['{"x": 2}', '{"y": 0, "x": 2.0}', '{"mine": {"x": 2}, "theirs": {"y": 1}}'],
        '{"x": 1}',
    ),
    "tacticduel": (
        {"opponent_action": "Quick"},
        ["Heavy", "heavy.", '{"action": "HEAVY"}'],
        "Guard",
    ),
}


def test_every_scorer_has_a_case():
    assert list(CASES) == list(BUILT_IN)


@pytest.mark.parametrize("name", CASES)
def test_one_proposal_has_one_form(name):
    scorer = default_scorers().scorer(name)
    fields, same, other = CASES[name]
    instance = scorer.read_instance(fields)
    forms = {scorer.normal_form(instance, value) for value in same}
    assert len(forms) == 1
    assert scorer.normal_form(instance, other) not in forms


@pytest.mark.parametrize("name", [name for name in CASES if name != "optiongen"])
def test_agreement_is_of_proposals_not_of_texts(name):
    scorer = default_scorers().scorer(name)
    fields, same, other = CASES[name]
    table = InstanceTable.from_records([{"task": "t", "instance": fields}], scorer)

    def agreed(*values):
        graph = make_run(
            [
                ("u", "final", agent, v, None, None)
                for agent, v in zip("abc", values, strict=False)
            ]
        )
        scored = score_run(graph, scorer, table)
        options = TrajectoryConfiguration(task_score="answer")
        (unit,) = trajectory_of(scored.graph, options).units
        return diagnose_unit(unit, options).agreement

    assert agreed(*same[:3]) is True
    assert agreed(*same[:2], other) is False
    assert agreed(same[0], "no proposal at all") is False


class Plain(Scorer):
    name, title = "plain", "Anything"

    def read_instance(self, fields):
        return fields

    def score(self, instance, value):
        return Verdict(1.0, True)


def test_by_default_it_is_the_json_in_the_text():
    forms = {
        Plain().normal_form({}, text) for text in ('{"b":1,"a":2}', 'so {"a": 2, "b": 1}.')
    }
    assert forms == {'{"a":2,"b":1}'}
    assert Plain().normal_form({}, "by bus") == "by bus"
    assert (Plain().best_score({}), Plain().instance_of_expected("x")) == (100.0, None)
