"""Means of what is known."""

import math
from collections.abc import Sequence

from graphstore.errors import UsageError

LARGEST = 1e100
"""Values beyond it are refused: sums and third powers of them have to be numbers."""


def refuse_huge(value: float | None, what: str) -> None:
    """Refuses a value with which nothing can be computed.

    Args:
        value: None is fine.
        what: Names it and its run or task, at the start of the sentence.

    Raises:
        UsageError: It is not finite, or beyond 1e100.
    """
    if value is None or -LARGEST <= value <= LARGEST:
        return
    raise UsageError(f"{what} is {value:g}: no number beyond {LARGEST:g} can be averaged")


def without_noise(value: float, width: float) -> float:
    """A value, but 0 where it differs from 0 by rounding.

    Args:
        value: A mean or difference.
        width: The largest absolute value that is taken for 0.
    """
    return 0.0 if abs(value) <= width else value


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, rounded once; None of nothing."""
    if not values:
        return None
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # the sum is beyond a float, the mean is not
        return math.fsum([value / len(values) for value in values])
