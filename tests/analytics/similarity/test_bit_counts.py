"""Minima of counts as bits, beside collections.Counter."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.similarity import bit_counts
from analytics.similarity.bit_counts import BitCounts, shared_count

MULTISETS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 70), max_size=5)


@given(MULTISETS, st.lists(MULTISETS, max_size=5))
def test_shared_is_the_size_of_the_intersection(row, rows):
    expected = [(Counter(row) & Counter(other)).total() for other in rows]
    assert BitCounts(rows).shared(row) == expected
    assert [shared_count(row, other) for other in rows] == expected


@pytest.mark.parametrize("most_bits", [0, 16, 17])
def test_long_rows_are_compared_without_bits(monkeypatch, most_bits):
    monkeypatch.setattr(bit_counts, "MOST_BITS", most_bits)
    # 9 bits for a, 5 for b and 3 for c.
    counts = BitCounts([{"a": 9, "b": 2}, {"b": 5, "c": 3}, {}])
    assert counts.shared({"a": 4, "b": 7, "d": 1}) == [4 + 2, 5, 0]
    assert counts.shared({}) == [0, 0, 0]
