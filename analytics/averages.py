"""Means of what is known."""

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean, rounded once; None of nothing."""
    if not values:
        return None
    try:
        return math.fsum(values) / len(values)
    except OverflowError:  # the sum is beyond a float, the mean is not
        return math.fsum([value / len(values) for value in values])
