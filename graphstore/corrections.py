"""P-values of many comparisons at once.

Motifs and methods are both tested by the dozen. This is here, like
:mod:`graphstore.compiled`, because ``mining`` and ``analytics`` both need it and may not
import each other.
"""

from collections.abc import Sequence


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected by Holm's step-down method (1979).

    Bounds the chance of any false finding, however the tests depend on each other.

    Args:
        values: Each between 0 and 1: the whole family.

    Returns:
        In the order given, each between 0 and 1.
    """
    order = sorted(range(len(values)), key=lambda place: values[place])
    found, largest = [0.0] * len(values), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        found[place] = largest
    return found


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """P-values corrected by the step-up method of Benjamini and Hochberg (1995).

    Bounds the expected share of false findings among all findings.

    Args:
        values: Each between 0 and 1: the whole family.

    Returns:
        In the order given, each between 0 and 1.
    """
    order = sorted(range(len(values)), key=lambda place: -values[place])
    found, smallest = [0.0] * len(values), 1.0
    for rank, place in enumerate(order):
        smallest = min(smallest, values[place] * len(values) / (len(values) - rank))
        found[place] = smallest
    return found
