from itertools import product

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.corrections import adjust
from analytics.paired_scores import (
    SignCounts,
    compare_many,
    compare_pair,
    mean_by_task,
    randomization_test,
    sign_counts,
)
from analytics.statistics import BootstrapConfiguration
from graphstore.errors import NotFoundError, UsageError

QUICK = BootstrapConfiguration(draws=2000)


def scores(values, start=0):
    return {f"t{start + place:03}": value for place, value in enumerate(values)}


def test_a_pair_worked_out_by_hand():
    first = {"a": 1.0, "b": 0.5, "c": 0.25, "d": None, "x": 1.0}
    second = {"c": 0.75, "b": 0.5, "a": 0.0, "d": 1.0, "y": 0.0}
    found = compare_pair(("one", first), ("two", second), configuration=QUICK)
    assert found.tasks == ("a", "b", "c")
    assert found.differences == (1.0, 0.0, -0.5)
    assert (found.mean_first, found.mean_second) == (1.75 / 3, 1.25 / 3)
    assert found.interval.estimate == pytest.approx(0.5 / 3)
    assert found.signs == SignCounts(better=1, tied=1, worse=1)
    assert (found.only_first, found.only_second, found.unscored) == (("x",), ("y",), ("d",))
    # Two differences count, 1 and -0.5: |sum| >= 0.5 for all four choices of signs.
    assert found.randomization_test == 1.0
    assert found.to_pandas()["difference"].tolist() == [1.0, 0.0, -0.5]


def test_fewer_tokens_can_be_better():
    found = compare_pair(
        ("one", scores([10.0, 20.0])),
        ("two", scores([30.0, 20.0])),
        higher_is_better=False,
        configuration=QUICK,
    )
    assert found.signs == SignCounts(better=1, tied=1, worse=0)
    assert found.interval.estimate == -10.0


def test_rounding_makes_no_winner():
    found = compare_pair(
        ("one", scores([0.1 + 0.2])), ("two", scores([0.3])), configuration=QUICK
    )
    assert found.signs == SignCounts(0, 1, 0)
    assert found.differences == (0.0,)


def test_differences_that_cancel_out_leave_no_rounding():
    first, second = {"t1": 0.7, "t2": 0.1}, {"t1": 0.5, "t2": 0.3}
    for draws in (1, 2000):
        found = compare_pair(
            ("one", first), ("two", second), configuration=BootstrapConfiguration(draws=draws)
        )
        assert found.interval.estimate == 0.0
        assert not found.interval.excludes_zero
        assert "by +0 on" in found.conclusion
    # Without a width of ties too.
    found = compare_pair(("one", first), ("two", second), tie=0.0, configuration=QUICK)
    assert found.interval.estimate == 0.0


def test_runs_of_one_task_are_averaged():
    runs = [("b", 1.0), ("a", 0.5), ("b", 0.0), ("c", None), ("a", None)]
    assert mean_by_task(runs) == {"b": 0.5, "a": 0.5, "c": None}
    assert mean_by_task(runs, require_all=True) == {"b": 0.5, "a": None, "c": None}


def test_the_sign_test_by_hand():
    assert SignCounts(5, 3, 0).sign_test == pytest.approx(2 / 32)
    assert SignCounts(1, 0, 1).sign_test == 1.0
    assert SignCounts(0, 9, 0).sign_test is None


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=7))
def test_few_differences_are_flipped_in_every_way(values):
    differences = [float(value) for value in values]
    moved = [value for value in differences if value]
    if len(moved) < 2:
        assert randomization_test(differences) is None
        return
    extreme = [
        abs(sum(sign * value for sign, value in zip(signs, moved, strict=True)))
        >= abs(sum(moved))
        for signs in product((-1, 1), repeat=len(moved))
    ]
    assert randomization_test(differences) == sum(extreme) / len(extreme)


def test_many_differences_are_flipped_by_chance():
    differences = numpy.random.default_rng(1).normal(0.3, 1.0, 20).tolist()
    signs = numpy.array(list(product((-1.0, 1.0), repeat=20)))
    exact = (abs(signs @ differences) >= abs(sum(differences)) - 1e-9).mean()
    drawn = randomization_test(differences, draws=20_000, seed=2)
    assert drawn == pytest.approx(exact, abs=0.01)
    assert drawn == randomization_test(differences[::-1], draws=20_000, seed=2)
    assert drawn != randomization_test(differences, draws=20_000, seed=3)


def test_sources_are_flipped_as_a_whole():
    # Two sources: four choices, and both that do not mix signs reach the observed sum.
    differences = [1.0, 1.0, 1.0, 1.0]
    assert randomization_test(differences, sources=["a", "a", "b", "b"]) == 0.5
    assert randomization_test(differences, sources=["a", "a", "b", None]) == 0.25
    assert randomization_test(differences) == 2 / 16
    with pytest.raises(UsageError, match="1 sources for 4"):
        randomization_test(differences, sources=["a"])


def test_holm_and_benjamini_hochberg_by_hand():
    p_values = [0.01, None, 0.04, 0.03]
    assert adjust(p_values, "holm") == pytest.approx((0.03, None, 0.06, 0.06))
    assert adjust(p_values, "benjamini-hochberg") == pytest.approx((0.03, None, 0.04, 0.04))
    assert adjust([], "holm") == ()
    assert adjust([None], "benjamini-hochberg") == (None,)


@given(st.lists(st.integers(0, 100).map(lambda percent: percent / 100), max_size=8))
def test_holm_rejects_what_stepping_down_rejects(p_values):
    adjusted = adjust(p_values, "holm")
    for level in (0.05, 0.2):
        order = sorted(range(len(p_values)), key=lambda place: p_values[place])
        rejected = set()
        for rank, place in enumerate(order):
            if p_values[place] * (len(p_values) - rank) > level:
                break
            rejected.add(place)
        assert {place for place, value in enumerate(adjusted) if value <= level} == rejected


def test_corrections_that_make_no_sense():
    with pytest.raises(UsageError, match="no correction"):
        adjust([0.1], "bonferroni")
    with pytest.raises(UsageError, match="between 0 and 1"):
        adjust([1.1], "holm")


def test_many_methods_are_corrected_for_their_number():
    generator = numpy.random.default_rng(4)
    base = generator.random(60)
    methods = {
        "single": scores(base.tolist()),
        "debate": scores((base + generator.normal(0.15, 0.1, 60)).tolist()),
        "noise": scores((base + generator.normal(0.0, 0.1, 60)).tolist()),
        "elsewhere": scores([1.0, 1.0], start=900),
    }
    found = compare_many(methods, configuration=QUICK)
    assert [(one.first, one.second) for one in found.comparisons[:2]] == [
        ("single", "debate"),
        ("single", "noise"),
    ]
    assert len(found.comparisons) == 6
    raw = [one.randomization_test for one in found.comparisons]
    assert [value is None for value in found.adjusted] == [value is None for value in raw]
    assert all(
        adjusted >= value
        for adjusted, value in zip(found.adjusted, raw, strict=True)
        if value is not None
    )
    against = compare_many(methods, reference="single", configuration=QUICK)
    assert [one.first for one in against.comparisons] == ["debate", "noise", "elsewhere"]
    assert against.adjusted[0] == pytest.approx(2 / 2001)
    frame = against.to_pandas()
    assert frame["adjusted"].isna().tolist() == [False, False, True]
    assert frame["tasks"].tolist() == [60, 60, 0]
    with pytest.raises(NotFoundError, match="nobody"):
        compare_many(methods, reference="nobody")


def test_conclusions_say_what_does_not_follow():
    def conclusion(first, second, **changes):
        return compare_pair(
            ("one", first), ("two", second), configuration=QUICK, **changes
        ).conclusion

    values = numpy.random.default_rng(1).random(40).tolist()
    better = [value + 0.2 + 0.1 * (place % 2) for place, value in enumerate(values)]
    assert "nothing can be concluded" in conclusion({"a": 1.0}, {"b": 1.0})
    assert "tied on all of 40 common tasks" in conclusion(scores(values), scores(values))
    assert "too little for an interval" in conclusion({"a": 1.0}, {"a": 0.5})
    assert "1 common task (1 better, 0 tied, 0 worse)" in conclusion({"a": 1.0}, {"a": 0.5})
    assert "holds 0: neither is shown" in conclusion(scores(values), scores(values[::-1]))
    assert "speak for one;" in conclusion(scores(better), scores(values))
    assert "speak for two;" in conclusion(scores(values), scores(better))
    assert "speak for two;" in conclusion(
        scores(better), scores(values), higher_is_better=False
    )
    assert "speak for one; 6 units are few" in conclusion(
        scores(better[:6]), scores(values[:6])
    )


def test_signs_have_a_width():
    assert sign_counts([0.2, -0.05, -0.2], tie=0.1) == SignCounts(1, 1, 1)
