"""Counts of many graphs as one sparse matrix, and what all pairs of its rows share.

Two operations carry the measures that count: the sum of minima (forest, motifs) and the sum
of products (Weisfeiler-Lehman). Neither loops over pairs in Python.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from analytics.similarity.counts_kernel import shared_counts
from graphstore.compiled import compiled

COMPILE_FROM = 20_000
"""Steps of the inner loop from which compiling it pays."""

COMMON = 1 / 64
"""Share of the rows from which a column counts as common."""
ROWS = 256
"""Rows of a matrix that are computed at once."""
BLOCK = 1_000
"""Columns, or rows, that are multiplied at once."""

Counts = tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]
"""Where each row starts, and its columns and counts: a matrix by compressed rows."""


def count_rows(groups: Sequence[Sequence[Mapping[Any, int]]]) -> tuple[list[Counts], int]:
    """Counts by compressed rows, over one set of columns.

    Args:
        groups: Lists of multisets.

    Returns:
        A matrix for each list, and the number of columns.
    """
    columns: dict[Any, int] = {}
    matrices = []
    for rows in groups:
        starts = numpy.zeros(len(rows) + 1, numpy.int64)
        numpy.cumsum([len(row) for row in rows], out=starts[1:])
        places = numpy.array(
            [columns.setdefault(key, len(columns)) for row in rows for key in row], numpy.int64
        )
        counts = numpy.array([count for row in rows for count in row.values()], numpy.int64)
        matrices.append((starts, places, counts))
    return matrices, len(columns)


class Overlaps:
    """Shared over all for pairs of multisets (Jaccard's index with counts), rows at a time.

    Args:
        ones: n multisets.
        others: m multisets; the first ones again where None.
    """

    def __init__(
        self,
        ones: Sequence[Mapping[Any, int]],
        others: Sequence[Mapping[Any, int]] | None = None,
    ) -> None:
        matrices, self._width = count_rows([ones] if others is None else [ones, others])
        self._left, self._right = matrices[0], matrices[-1]
        self._sums = row_sums(self._left), row_sums(self._right)
        steps = len(self._sums[0]) * len(self._right[1])
        self._kernel = compiled(shared_counts) if steps >= COMPILE_FROM else shared_counts

    def rows(self, begin: int, end: int) -> NDArray[numpy.float64]:
        """Sum of minima / sum of maxima; NaN where both are empty.

        Args:
            begin: The first row.
            end: The row after the last.

        Returns:
            Shape (end - begin, m).
        """
        starts, places, counts = self._left
        shared = numpy.zeros((end - begin, len(self._sums[1])), numpy.int64)
        row = numpy.zeros(self._width, numpy.int64)
        self._kernel(starts[begin : end + 1], places, counts, *self._right, row, shared)
        both = self._sums[0][begin:end, None] + self._sums[1][None, :]
        values = numpy.full(shared.shape, numpy.nan)
        numpy.divide(shared, both - shared, out=values, where=both > 0)
        return values


def blocks(rows: int) -> Iterator[tuple[int, int]]:
    """Parts of many rows, so that what is computed for one part stays small."""
    for begin in range(0, rows, ROWS):
        yield begin, min(begin + ROWS, rows)


def row_sums(matrix: Counts) -> NDArray[numpy.int64]:
    """The sum of each row's counts."""
    starts, _, counts = matrix
    running = numpy.concatenate(([0], numpy.cumsum(counts)))
    sums: NDArray[numpy.int64] = running[starts[1:]] - running[starts[:-1]]
    return sums


def products(
    ones: Sequence[Mapping[Any, int]], others: Sequence[Mapping[Any, int]] | None = None
) -> NDArray[numpy.float64]:
    """Sums of products for all pairs of multisets.

    Columns that many rows share are multiplied as dense blocks, the rest as sparse matrices:
    the first are few, the second have few pairs. All numbers are whole and below 2**53, so
    that sums are exact in any order.

    Args:
        ones: n multisets.
        others: m multisets; the first ones again where None.

    Returns:
        Shape (n, m).
    """
    from scipy import sparse

    groups = [ones] if others is None else [ones, others]
    matrices, width = count_rows(groups)
    rows = [
        sparse.csr_array((counts.astype(float), places, starts), (len(starts) - 1, width))
        for starts, places, counts in matrices
    ]
    left, right = rows[0], rows[-1]
    common = numpy.flatnonzero(
        numpy.bincount(right.indices, minlength=width) > max(1, right.shape[0] * COMMON)
    )
    kept = numpy.ones(width, bool)
    kept[common] = False
    rare = numpy.flatnonzero(kept)
    values = numpy.zeros((left.shape[0], right.shape[0]))
    by_column = [matrix.tocsc() for matrix in (left, right)]
    for begin in range(0, len(common), BLOCK):
        block = common[begin : begin + BLOCK]
        dense = [matrix[:, block].toarray() for matrix in by_column]
        values += dense[0] @ dense[1].T
    few_left, few_right = (matrix[:, rare].tocsr() for matrix in by_column)
    across = few_right.T.tocsr()
    for begin in range(0, left.shape[0], BLOCK):
        part = (few_left[begin : begin + BLOCK] @ across).tocoo()
        values[begin + part.row, part.col] += part.data
    return values
