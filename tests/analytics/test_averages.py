import pytest

from analytics.averages import mean


def test_means():
    assert mean([]) is None
    assert mean([0.1] * 10) == 0.1
    assert mean([1, 2]) == 1.5
    assert mean([1e308, 1.6e308]) == pytest.approx(1.3e308)
