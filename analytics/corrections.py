"""P-values of many comparisons at once.

Source: Holm (1979), which bounds the chance of any false finding, and Benjamini and Hochberg
(1995), which bounds the expected share of false findings.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from graphstore.corrections import benjamini_hochberg, holm
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
    step = holm if correction == "holm" else benjamini_hochberg
    adjusted = iter(step(known))
    return tuple(None if value is None else next(adjusted) for value in p_values)
