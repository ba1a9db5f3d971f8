import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.scorers.tacticduel import ACTIONS, TacticDuelScorer, damage, tactical_value
from graphstore.errors import UsageError

SCORER = TacticDuelScorer()

# The table of the paper's appendix, worked out by hand: damage of the row against the column.
NAMES = ["Quick", "Heavy", "Guard", "Counter", "Feint", "Charge", "Burst"]
DAMAGE = [
    [2, 2, 0, 2, 2, 2, 2],  # Quick
    [4, 4, 0, 0, 4, 4, 4],  # Heavy
    [0, 0, 0, 0, 0, 0, 0],  # Guard
    [1, 4, 0, 1, 1, 1, 1],  # Counter
    [1, 1, 4, 1, 1, 1, 1],  # Feint
    [0, 0, 0, 0, 0, 0, 0],  # Charge
    [6, 6, 2, 6, 6, 6, 6],  # Burst
]


def slow_score(action, opponent, energy, last):
    """The score by the table above; None where the action is not legal."""
    if action == last or (action == "Burst" and energy < 2):
        return None
    mine, theirs = NAMES.index(action), NAMES.index(opponent)
    value = DAMAGE[mine][theirs] - DAMAGE[theirs][mine] + (action == "Charge")
    return (value + 5) * 5 / 11 * 20


def test_the_action_table():
    assert list(ACTIONS) == NAMES
    assert [[damage(a, b) for b in ACTIONS] for a in ACTIONS] == DAMAGE


def test_values_lie_between_minus_5_and_6():
    values = {tactical_value(a, b) for a in ACTIONS for b in ACTIONS}
    assert (min(values), max(values)) == (-5, 6)
    assert (
        SCORER.score(
            SCORER.read_instance({"opponent_action": "Charge", "energy": 2}), "Burst"
        ).score
        == 100.0
    )
    worst = SCORER.read_instance({"opponent_action": "Burst"})
    assert SCORER.score(worst, "Charge").score == SCORER.score(worst, "Counter").score == 0.0


def test_the_second_implementation_agrees_on_1000_random_rounds():
    chance = random.Random(20260903)
    illegal = 0
    for _ in range(1000):
        opponent, energy = chance.choice(NAMES), chance.randint(0, 4)
        last = chance.choice([None, *NAMES])
        fields = {"opponent_action": opponent, "energy": energy, "last_action": last}
        state = SCORER.read_instance(fields)
        scores = []
        for action in NAMES:
            expected = slow_score(action, opponent, energy, last)
            verdict = SCORER.score(state, action)
            illegal += expected is None
            assert verdict.valid == (expected is not None)
            assert verdict.score == (None if expected is None else pytest.approx(expected))
            scores.append(expected)
        best = max(score for score in scores if score is not None)
        assert SCORER.best_score(state) == pytest.approx(best)
    assert illegal > 500


@pytest.mark.parametrize(
    "value", ["Heavy", " heavy.", '{"action": "HEAVY"}', 'I choose {"action": "Heavy"}']
)
def test_how_an_action_may_be_written(value):
    state = SCORER.read_instance({"opponent_action": "Quick"})
    assert SCORER.score(state, value).score == pytest.approx((4 - 2 + 5) / 11 * 100)


@pytest.mark.parametrize("value", ["", "Kick", "Heavy or Quick", "{}", "[1]", "null", "3"])
def test_what_is_no_action_has_no_score(value):
    verdict = SCORER.score(SCORER.read_instance({"opponent_action": "Quick"}), value)
    assert (verdict.score, verdict.valid) == (None, False)


@given(st.text())
def test_any_text_gets_a_verdict(value):
    verdict = SCORER.score(SCORER.read_instance({"opponent_action": "Guard"}), value)
    assert (verdict.score is None) == (verdict.valid is False)


@pytest.mark.parametrize(
    "fields", [{}, {"opponent_action": "Kick"}, {"opponent_action": "Quick", "energy": -1}]
)
def test_what_is_no_round_is_told(fields):
    with pytest.raises(UsageError):
        SCORER.read_instance(fields)
