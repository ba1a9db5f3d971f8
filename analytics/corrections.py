"""P-values of many comparisons at once.

Source: Holm (1979), which bounds the chance of any false finding, and Benjamini and Hochberg
(1995), which bounds the expected share of false findings.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from graphstore.errors import UsageError

Correction = Literal["holm", "benjamini-hochberg"]
CORRECTIONS: tuple[str, ...] = get_args(Correction)


def adjust(
    p_values: Sequence[float | None], correction: Correction
) -> tuple[float | None, ...]:
    """Adjusted p-values of one family; missing ones stay missing and do not count.

    Args:
        p_values: Each between 0 and 1, or None.
        correction: ``holm`` or ``benjamini-hochberg``.

    Raises:
        UsageError: The correction is unknown, or a number is no probability.
    """
    if correction not in CORRECTIONS:
        raise UsageError(
            f"there is no correction {correction!r}; choose one of {', '.join(CORRECTIONS)}"
        )
    known = [value for value in p_values if value is not None]
    if not all(0.0 <= value <= 1.0 for value in known):
        raise UsageError("a p-value lies between 0 and 1")
    if not known:
        return tuple(p_values)
    if correction == "holm":
        adjusted = iter(_holm(known))
    else:
        from scipy.stats import false_discovery_control

        adjusted = iter(false_discovery_control(known, method="bh").tolist())
    return tuple(None if value is None else next(adjusted) for value in p_values)


def _holm(p_values: list[float]) -> list[float]:
    count = len(p_values)
    adjusted = [0.0] * count
    largest = 0.0
    for rank, place in enumerate(sorted(range(count), key=lambda one: p_values[one])):
        largest = max(largest, min(1.0, (count - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted
