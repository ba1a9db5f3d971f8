import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.trajectories import (
    Output,
    ProposerTrajectory,
    Trajectory,
    TrajectoryConfiguration,
    UnitTrajectory,
)
from analytics.trajectory_metrics import (
    GAIN_LABELS,
    WEAK_LABELS,
    collaboration_gain,
    count_gains,
    count_refinements,
    diagnose,
    diagnose_unit,
    gain_label,
    token_multiple,
    weak_label,
)
from graphstore.errors import UsageError
from tests.analytics.published import (
    MASTRACE_BENCHMARKS,
    MASTRACE_SINGLE_AGENT,
    MASTRACE_TABLE_2,
)


def unit(initial, final, answer, maximum=100.0, values=None):
    values = values or [f"v{place}" for place in range(len(initial))]
    return UnitTrajectory(
        "u",
        tuple(
            ProposerTrajectory(
                f"p{place}",
                None if first is None else Output(first, "x"),
                None if last is None else Output(last, value),
            )
            for place, (first, last, value) in enumerate(
                zip(initial, final, values, strict=True)
            )
        ),
        None if answer is None else Output(answer),
        maximum,
    )


@pytest.mark.parametrize("method", MASTRACE_TABLE_2)
@pytest.mark.parametrize("place", range(6), ids=MASTRACE_BENCHMARKS)
def test_collaboration_gains_of_mastracebench_table_2(method, place):
    score, gain = MASTRACE_TABLE_2[method][place]
    assert round(collaboration_gain(score, MASTRACE_SINGLE_AGENT[place]), 2) == gain


def test_the_three_cases_of_path_finding_in_the_paper():
    # In each the answer scores 66.7. All initial proposals scored 33.3: something new.
    found = diagnose_unit(unit([33.3, 33.3, 33.3], [66.7, 33.3, 33.3], 66.7))
    assert found.gain == "Improve"
    # One had scored 100 already, while two were refined.
    found = diagnose_unit(unit([100.0, 33.3, 33.3], [66.7, 66.7, 66.7], 66.7))
    assert found.gain == "Regress"
    assert [one.label for one in found.refinements] == ["Regress", "Partial", "Partial"]
    # A final proposal still scores 100: the loss lies in the aggregation.
    found = diagnose_unit(unit([100.0, 33.3, 33.3], [100.0, 66.7, 33.3], 66.7))
    assert round(found.aggregation_loss, 1) == 33.3


def test_a_unit_worked_out_by_hand():
    found = diagnose_unit(
        unit(
            [40.0, 40.0, 40.0, 10.0, 10.0, 10.0, 10.0, 10.0],
            [50.0, 40.0, 30.0, 45.0, 40.0, 25.0, 10.0, 0.0],
            55.0,
        )
    )
    assert (found.proposers, found.best_initial, found.best_final) == (8, 40.0, 50.0)
    assert [(one.group, one.label) for one in found.refinements] == [
        ("strong", "Improve"),
        ("strong", "SubKeep"),
        ("strong", "Regress"),
        ("weak", "Surpass"),
        ("weak", "Reach"),
        ("weak", "Partial"),
        ("weak", "Keep"),
        ("weak", "Degrade"),
    ]
    # The answer holds more than any final proposal.
    assert found.aggregation_loss == -5.0
    assert found.gain == "Improve"
    assert found.agreement is False
    assert found.missing == ()


@pytest.mark.parametrize(
    ("score", "best", "maximum", "label"),
    [
        (0.6, 0.5, 1.0, "Improve"),
        (0.4, 0.5, 1.0, "Regress"),
        (1.0, 1.0, 1.0, "OptKeep"),
        (0.5, 0.5, 1.0, "SubKeep"),
        (0.5, 0.5, None, "UnratedKeep"),
        (0.1 + 0.2, 0.3, 0.3, "OptKeep"),
        (0.0, 0.0, 0.0, "OptKeep"),
        (-1.0, -2.0, 6.0, "Improve"),
    ],
)
def test_gains_against_best(score, best, maximum, label):
    assert gain_label(score, best, maximum) == label


grades = st.integers(0, 4).map(float)


@given(st.lists(st.tuples(grades, grades), min_size=1, max_size=5), grades)
def test_labels_agree_with_the_formulas_read_one_by_one(scores, answer):
    found = diagnose_unit(unit([a for a, _ in scores], [b for _, b in scores], answer, 4.0))
    best = sorted(a for a, _ in scores)[-1]
    gains = {
        "Improve": lambda s: s > best,
        "Regress": lambda s: s < best,
        "OptKeep": lambda s: s == best == 4.0,
        "SubKeep": lambda s: s == best < 4.0,
    }
    assert [name for name, holds in gains.items() if holds(answer)] == [found.gain]
    for (first, last), one in zip(scores, found.refinements, strict=True):
        if first == best:
            assert one.group == "strong"
            assert [name for name, holds in gains.items() if holds(last)] == [one.label]
        else:
            weak = {
                "Surpass": last > best,
                "Reach": last == best,
                "Partial": first < last < best,
                "Keep": last == first,
                "Degrade": last < first,
            }
            assert one.group == "weak"
            assert [name for name, holds in weak.items() if holds] == [one.label]
    assert found.aggregation_loss == max(b for _, b in scores) - answer


def test_a_tie_has_a_width():
    options = TrajectoryConfiguration(tie=0.05)
    found = diagnose_unit(unit([0.5, 0.48], [0.52, 0.4], 0.53, 1.0), options)
    assert [one.group for one in found.refinements] == ["strong", "strong"]
    assert [one.label for one in found.refinements] == ["SubKeep", "Regress"]
    assert found.gain == "SubKeep"


def test_one_missing_score_makes_what_needs_it_missing():
    found = diagnose_unit(unit([0.5, None], [0.5, 0.6], 0.4, 1.0))
    assert (found.best_initial, found.gain, found.refinements) == (None, None, ())
    assert found.aggregation_loss == pytest.approx(0.2)
    found = diagnose_unit(unit([0.5, 0.2], [0.5, None], 0.4, 1.0))
    assert (found.best_final, found.aggregation_loss) == (None, None)
    assert [one.label for one in found.refinements] == ["SubKeep", None]
    assert found.gain == "Regress"
    assert found.agreement is None
    found = diagnose_unit(unit([0.5], [0.5], None, 1.0))
    assert (found.gain, found.aggregation_loss) == (None, None)


def test_no_proposal_and_one_proposer_are_said_to_be_so():
    found = diagnose_unit(unit([], [], 0.5))
    assert (found.best_initial, found.gain, found.agreement) == (None, None, None)
    assert found.missing == ("There is no proposal.",)
    found = diagnose_unit(unit([0.5], [0.7], 0.7))
    assert (found.gain, found.agreement) == ("Improve", None)
    assert found.missing == ("One proposer: no agreement, and nobody is weak.",)


def test_agreement_needs_equal_final_proposals():
    assert diagnose_unit(unit([0.5, 0.5], [1.0, 1.0], 1.0, values=["a", "a"])).agreement is True
    assert (
        diagnose_unit(unit([0.5, 0.5], [1.0, 1.0], 1.0, values=["a", "b"])).agreement is False
    )
    assert (
        diagnose_unit(unit([0.5, 0.5], [1.0, 1.0], 1.0, values=["a", None])).agreement is None
    )


def test_labels_are_counted_by_group():
    units = [
        diagnose_unit(unit([1.0, 0.0], [1.0, 1.0], 1.0, 1.0)),
        diagnose_unit(unit([0.5, 0.0], [None, 0.0], 0.2, 1.0)),
        diagnose_unit(unit([None, 0.0], [1.0, 0.0], 0.2, 1.0)),
    ]
    gains = count_gains(units)
    assert tuple(gains.counts) == GAIN_LABELS
    assert (gains.counts["OptKeep"], gains.counts["Regress"], gains.unknown) == (1, 1, 1)
    assert gains.share("OptKeep") == 0.5
    strong, weak = count_refinements(units, "strong"), count_refinements(units, "weak")
    assert (strong.counts["OptKeep"], strong.known, strong.unknown) == (1, 1, 1)
    assert tuple(weak.counts) == WEAK_LABELS
    assert (weak.counts["Reach"], weak.counts["Keep"], weak.unknown) == (1, 1, 0)
    assert count_gains([]).share("Improve") is None
    with pytest.raises(UsageError, match="Reach"):
        gains.share("Reach")


def test_scores_above_the_maximum_are_refused_with_the_run():
    trajectory = Trajectory("run-1", "seven", "t", "t", units=(unit([1.2], [1.0], 1.0, 1.0),))
    with pytest.raises(UsageError, match=r"seven, unit u: a score of 1.2 is above"):
        diagnose(trajectory)
    with pytest.raises(UsageError, match="strong"):
        weak_label(0.5, 0.6, 0.5)


def test_gains_and_multiples_without_a_base_are_missing():
    assert collaboration_gain(None, 1.0) is None
    assert collaboration_gain(1.0, None) is None
    assert token_multiple(300.0, 100.0) == 3.0
    assert token_multiple(300.0, 0.0) is None
    assert token_multiple(None, 100.0) is None
    assert token_multiple(0.0, 100.0) == 0.0
