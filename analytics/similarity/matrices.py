"""All pairs for measures that take them one by one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray


def pair_by_pair(
    similarity: Callable[[Any, Any], float | None],
    ones: Sequence[Any],
    others: Sequence[Any] | None = None,
) -> NDArray[numpy.float64]:
    """Asks a symmetric measure for every pair; each pair of one list once.

    Args:
        similarity: Of two prepared graphs.
        ones: n prepared graphs.
        others: m prepared graphs; the first ones again where None.

    Returns:
        Shape (n, m); NaN where the measure gives None.
    """
    columns = ones if others is None else others
    values = numpy.full((len(ones), len(columns)), numpy.nan)
    for row, one in enumerate(ones):
        for column in range(row if others is None else 0, len(columns)):
            value = similarity(one, columns[column])
            if value is not None:
                values[row, column] = value
                if others is None:
                    values[column, row] = value
    return values
