import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from graphstore.corrections import benjamini_hochberg, holm

p_values = st.lists(st.integers(0, 100).map(lambda percent: percent / 100), max_size=9)


def test_worked_out_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert benjamini_hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert (holm([]), benjamini_hochberg([])) == ([], [])


@given(p_values.filter(bool))
def test_benjamini_hochberg_agrees_with_scipy(values):
    assert benjamini_hochberg(values) == pytest.approx(list(false_discovery_control(values)))


@given(p_values)
def test_both_lie_between_the_value_and_bonferroni(values):
    for value, family, discovery in zip(
        values, holm(values), benjamini_hochberg(values), strict=True
    ):
        assert value - 1e-12 <= discovery <= family + 1e-12
        assert family <= min(1.0, len(values) * value) + 1e-12
