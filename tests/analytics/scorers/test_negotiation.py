import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.scorers.negotiation import NegotiationScorer, allocation_score
from graphstore.errors import UsageError

SCORER = NegotiationScorer()
POOL = {
    "items": {"shirts": 3, "diamonds": 2, "food": 4},
    "values": {"shirts": 2, "diamonds": 1.5, "food": 0.25},
    "round": 3,
    "responses": [
        {"allocation": {"shirts": 2, "diamonds": 0, "food": 4}, "accepted": True},
        {"allocation": {"shirts": 3, "diamonds": 2, "food": 4}, "accepted": False},
    ],
}
"""All is worth 6 + 3 + 1 = 10 to the player."""


def score(value, **more):
    value = value if isinstance(value, str) else json.dumps(value)
    return SCORER.score(SCORER.read_instance({**POOL, **more}), value)


def test_an_accepted_offer_is_discounted():
    # (4 + 0 + 1) / 10, in the third round.
    verdict = score({"shirts": 2, "diamonds": 0, "food": 4})
    assert verdict.score == pytest.approx(100 * 0.95**2 * 0.5)
    assert score({"shirts": 2, "food": 4}, round=1).score == pytest.approx(50.0)
    assert score({"shirts": 2, "food": 4}, discount=0.5).score == pytest.approx(12.5)


def test_a_rejected_offer_scores_0():
    verdict = score({"shirts": 3, "diamonds": 2, "food": 4})
    assert (verdict.score, verdict.valid) == (0.0, True)


def test_without_the_opponents_answer_there_is_no_score():
    verdict = score({"shirts": 1})
    assert (verdict.score, verdict.valid) == (None, True)
    assert "not asked" in verdict.reason


def test_both_sides_must_be_the_pool():
    mine = {"shirts": 2, "diamonds": 0, "food": 4}
    theirs = {"shirts": 1, "diamonds": 2, "food": 0}
    good = score({"mine": mine, "theirs": theirs})
    assert good.score == pytest.approx(100 * 0.95**2 * 0.5)
    bad = score({"mine": mine, "theirs": {**theirs, "food": 1}})
    assert (bad.score, bad.valid) == (None, False)


@pytest.mark.parametrize(
    "value",
    [
        "half each",
        "[1, 2]",
        {"shirts": 4},
        {"shirts": -1},
        {"shirts": 1.5},
        {"cars": 1},
        {"mine": 3},
        {"shirts": "2"},
    ],
)
def test_what_the_pool_does_not_allow_has_no_score(value):
    verdict = score(value)
    assert (verdict.score, verdict.valid) == (None, False)


def test_the_largest_score_is_all_of_it():
    state = SCORER.read_instance(POOL)
    assert SCORER.best_score(state) == pytest.approx(100 * 0.95**2)


@given(
    st.fixed_dictionaries(
        {"shirts": st.integers(0, 3), "diamonds": st.integers(0, 2), "food": st.integers(0, 4)}
    ),
    st.integers(1, 10),
    st.booleans(),
)
def test_scores_lie_between_0_and_1(allocation, round, accepted):
    state = SCORER.read_instance({**POOL, "round": round})
    found = allocation_score(state, allocation, accepted=accepted)
    worth = 2 * allocation["shirts"] + 1.5 * allocation["diamonds"] + 0.25 * allocation["food"]
    assert found == pytest.approx(accepted * worth / 10 * 0.95 ** (round - 1))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"items": {}}, "items"),
        ({"items": {"shirts": -1, "diamonds": 2, "food": 4}}, "items"),
        ({"values": {"shirts": 2}}, "one value"),
        ({"values": {"shirts": -2, "diamonds": 2, "food": 4}}, "negative"),
        ({"values": {"shirts": 0, "diamonds": 0, "food": 0}}, "nothing"),
        ({"round": 11}, "round"),
        ({"round": 0}, "round"),
        ({"discount": 0}, "discount"),
        ({"responses": [{"allocation": {"shirts": 9}, "accepted": True}]}, "response"),
        (
            {"responses": [{"allocation": {}, "accepted": yes} for yes in (True, False)]},
            "differ",
        ),
    ],
)
def test_what_is_no_round_is_told(change, reason):
    with pytest.raises(UsageError, match=reason):
        SCORER.read_instance({**POOL, **change})
