import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from analytics.scorers.evidencechain import EvidenceChainScorer, order_agreement, set_f1
from graphstore.errors import UsageError

SCORER = EvidenceChainScorer()
GOLD = [6, 3, 1, 0]
"""The chain of the paper's Figure 9."""


def score(value, gold=GOLD):
    return SCORER.score(SCORER.read_instance({"gold": gold}), value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[6, 3, 1, 0]", 100.0),
        # All facts, one pair of six the wrong way round.
        ("[3, 6, 1, 0]", 50 * (1 + 5 / 6)),
        ("[0, 1, 3, 6]", 50.0),
        # Two right of three, of four: F1 = 4/7, in order.
        ("[6, 1, 7]", 50 * (4 / 7 + 1)),
        # One shared fact makes no pair.
        ("[6]", 50 * (2 / 5)),
        ("[2, 4]", 0.0),
        ("[]", 0.0),
        # A fact that is named again counts where it stands first.
        ("[6, 3, 6, 1, 0]", 100.0),
        ('{"evidence_chain": ["6", "3", 1, 0.0]}', 100.0),
        ("evidencechain: [6, 3, 1, 0]", 100.0),
    ],
)
def test_scores_worked_out_by_hand(value, expected):
    verdict = score(value)
    assert verdict.score == pytest.approx(expected)
    assert verdict.valid is True


def test_a_chain_of_one_fact_that_was_found_has_nothing_to_order():
    assert score("[2]", [2]).score == 100.0
    assert score("[2, 5]", [2]).score == pytest.approx(50 * (2 / 3 + 1))
    assert score("[5]", [2]).score == 0.0


@pytest.mark.parametrize("value", ["6, 3", "{}", '{"answer": [6]}', "[[6]]", "[null]", "[1.5]"])
def test_what_is_no_chain_has_no_score(value):
    verdict = score(value)
    assert (verdict.score, verdict.valid) == (None, False)


@given(st.permutations(range(6)), st.integers(2, 6))
def test_order_is_kendalls_tau_on_0_to_1(order, length):
    predicted = [str(fact) for fact in order[:length]]
    gold = [str(fact) for fact in range(6)]
    tau = kendalltau(range(length), [int(fact) for fact in predicted]).statistic
    assert order_agreement(predicted, gold) == pytest.approx((tau + 1) / 2)


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9), min_size=1))
def test_f1_is_that_of_precision_and_recall(predicted, gold):
    found = set_f1([str(i) for i in predicted], [str(i) for i in gold])
    shared = len(predicted & gold)
    if not shared:
        assert found == 0.0
        return
    precision, recall = shared / len(predicted), shared / len(gold)
    assert found == pytest.approx(2 * precision * recall / (precision + recall))


def test_the_right_chain_alone_scores_most():
    scores = {
        chain: score(str(list(chain))).score
        for length in range(5)
        for chain in itertools.permutations([6, 3, 1, 0, 7], length)
    }
    assert max(scores, key=scores.__getitem__) == (6, 3, 1, 0)
    assert all(0.0 <= value <= 100.0 for value in scores.values())


def test_the_expected_answer_of_a_run_is_an_instance():
    assert SCORER.instance_of_expected("[6, 3]").gold == ("6", "3")
    for text in ("by train", "[]", "7"):
        assert SCORER.instance_of_expected(text) is None


@pytest.mark.parametrize("gold", [[], [1, 1], ["a", "a "], 3])
def test_what_is_no_chain_is_told(gold):
    with pytest.raises(UsageError):
        SCORER.read_instance({"gold": gold})
