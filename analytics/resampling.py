"""Bootstrap resamples: what their sums are, for many of them at once."""

import numpy
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]

_BLOCK = 1 << 16
"""Indices drawn at once: they and what they select stay in the processor's cache."""
_MOST_ENTRIES = 1 << 18
"""Of a table of sums: 2 MB, which the second cache holds."""
_COUNTING_COST = 20
"""One count of a multinomial draw costs about as much as this many drawn indices."""


def resampled_sums(units: Floats, draws: int, seed: int) -> Floats:
    """The sums of bootstrap resamples: as many units as there are, drawn with replacement.

    Units are drawn in groups, from a table of the sums of all groups: two of 500 units are
    one of 250,000 pairs. Pairs of independent, uniform units are uniform too, so that the
    distribution stays the same with half of the draws.

    Args:
        units: Shape (units, columns), finite; the order matters to what is drawn.
        draws: Number of resamples.
        seed: Not negative.

    Returns:
        Shape (draws, columns).
    """
    generator = numpy.random.default_rng(seed)
    count, columns = units.shape
    kinds, repeats = numpy.unique(units, axis=0, return_counts=True)
    size = _group_size(count, draws)
    groups, alone = divmod(count, size)
    if len(kinds) * _COUNTING_COST <= groups + alone:
        # Scores of 0 and 1 have few kinds of units: how often each is drawn is what matters.
        return _counted(generator, kinds, repeats, draws)
    # A column that is the same everywhere, such as the weights of a mean, needs no draw.
    constant = (units == units[0]).all(axis=0)
    found = numpy.empty((draws, columns))
    found[:, constant] = units[0, constant] * count
    drawn = numpy.flatnonzero(~constant)
    values = [units[:, column].copy() for column in drawn]
    tables = [_table(column, size) for column in values]
    block = max(1, _BLOCK // (groups + alone))
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        places = generator.integers(0, count**size, size=(rows, groups))
        rest = generator.integers(0, count, size=(rows, alone))
        for column, table, single in zip(drawn, tables, values, strict=True):
            found[start : start + rows, column] = table.take(places).sum(axis=1)
            if alone:
                found[start : start + rows, column] += single.take(rest).sum(axis=1)
    return found


def _group_size(count: int, draws: int) -> int:
    """How many units are drawn at once; a table must cost less than what it saves."""
    size = 1
    most = min(_MOST_ENTRIES, draws * count // 8)
    while size < count and count > 1 and count ** (size + 1) <= most:
        size += 1
    return size


def _table(values: Floats, size: int) -> Floats:
    sums = values
    for _ in range(size - 1):
        sums = (sums[:, None] + values).ravel()
    return sums


def _counted(
    generator: numpy.random.Generator,
    kinds: Floats,
    repeats: NDArray[numpy.int64],
    draws: int,
) -> Floats:
    count = int(repeats.sum())
    found = numpy.empty((draws, kinds.shape[1]))
    block = max(1, _BLOCK // len(kinds))
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        times = generator.multinomial(count, repeats / count, size=rows)
        found[start : start + rows] = times @ kinds
    return found
