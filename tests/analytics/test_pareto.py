import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.pareto import OperatingPoint, pareto_front
from graphstore.errors import UsageError
from tests.analytics.published import OPENMAS_TABLE_2


def test_the_operating_points_of_openmas_gcom():
    found = pareto_front(
        [
            OperatingPoint(name, score, 1000 * tokens)
            for name, (score, tokens, _) in OPENMAS_TABLE_2.items()
        ]
    )
    assert found.front == ("AutoGen", "VeriMap", "GoAgent")
    assert found.dominated_by["DeepSeek"] == ("VeriMap",)
    assert len(found.dominated_by) == 14


def test_equal_points_stand_together_and_unknown_ones_are_named():
    found = pareto_front(
        [
            OperatingPoint("a", 1.0, 10.0),
            OperatingPoint("b", 1.0, 10.0),
            OperatingPoint("c", 1.0, 11.0),
            OperatingPoint("d", None, 1.0),
            OperatingPoint("e", 9.0, None),
        ]
    )
    assert found.front == ("a", "b")
    assert found.dominated_by == {"c": ("a", "b")}
    assert found.left_out == ("d", "e")
    frame = found.to_pandas()
    assert frame["on_front"].tolist()[:3] == [True, True, False]
    assert frame["on_front"].isna().tolist() == [False, False, False, True, True]
    assert frame["dominated_by"][2] == "a, b"


def test_nothing_has_an_empty_front():
    assert pareto_front([]).front == ()
    assert pareto_front([]).to_pandas().empty


def test_two_points_of_one_name_are_refused():
    with pytest.raises(UsageError, match="'a'"):
        pareto_front([OperatingPoint("a", 1.0, 1.0), OperatingPoint("a", 2.0, 1.0)])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_a_walk_by_rising_tokens_finds_the_same_front(pairs):
    points = [OperatingPoint(str(i), s, t) for i, (s, t) in enumerate(pairs)]
    found = pareto_front(points)
    best, expected = None, set()
    for tokens in sorted({t for _, t in pairs}):
        top = max(s for s, t in pairs if t == tokens)
        if best is None or top > best:
            best = top
            expected |= {str(i) for i, pair in enumerate(pairs) if pair == (top, tokens)}
    assert set(found.front) == expected
    assert set(found.front) | set(found.dominated_by) == {point.name for point in points}
