"""Multisets as sets of bits, so that what two of them share is one AND and one count."""

from collections.abc import Mapping, Sequence
from typing import Any

MOST_BITS = 1 << 16
"""Bits of a row up to which this pays; long integers are slow to put together."""


class BitCounts:
    """What one multiset shares with each of several.

    A key that occurs at most m times in any row owns m bits, of which a row with c of it sets
    the first c. The bits that two rows both set are then the minima of their counts.

    Args:
        rows: Multisets: counts of at least 1, by key.
    """

    def __init__(self, rows: Sequence[Mapping[Any, int]]) -> None:
        most: dict[Any, int] = {}
        for row in rows:
            for key, count in row.items():
                if count > most.get(key, 0):
                    most[key] = count
        self._rows = rows
        self._places: dict[Any, tuple[int, int]] = {}
        place = 0
        for key, count in most.items():
            self._places[key] = (place, count)
            place += count
        self._codes = [self._code(row) for row in rows] if place <= MOST_BITS else None

    def shared(self, row: Mapping[Any, int]) -> list[int]:
        """The sum of the minima with each row."""
        if self._codes is None:
            return [shared_count(row, other) for other in self._rows]
        code = self._code(row)
        return [(code & other).bit_count() for other in self._codes]

    def _code(self, row: Mapping[Any, int]) -> int:
        places = self._places
        code = 0
        for key, count in row.items():
            found = places.get(key)
            if found is not None:
                place, most = found
                code |= ((1 << (count if count < most else most)) - 1) << place
        return code


def shared_count(one: Mapping[Any, int], other: Mapping[Any, int]) -> int:
    """The sum of the minima of two multisets' counts."""
    if len(other) < len(one):
        one, other = other, one
    shared = 0
    for key, count in one.items():
        there = other.get(key)
        if there is not None:
            shared += count if count < there else there
    return shared
