"""The inner loop over all pairs of sparse rows: a plain function, for numba."""

from typing import Any


def shared_counts(
    left_starts: Any,
    left_columns: Any,
    left_counts: Any,
    right_starts: Any,
    right_columns: Any,
    right_counts: Any,
    row: Any,
    shared: Any,
) -> None:
    """Sums the minima of every left row with every right row.

    Args:
        left_starts: Where each row starts; one more entry than rows.
        left_columns: Columns of the counts.
        left_counts: At least 1.
        right_starts: Likewise.
        right_columns: Likewise.
        right_counts: Likewise.
        row: A zero for each column; zeros again afterwards.
        shared: Shape (left rows, right rows); receives the sums.
    """
    for one in range(len(left_starts) - 1):
        for place in range(left_starts[one], left_starts[one + 1]):
            row[left_columns[place]] = left_counts[place]
        for other in range(len(right_starts) - 1):
            total = 0
            for place in range(right_starts[other], right_starts[other + 1]):
                here = row[right_columns[place]]
                there = right_counts[place]
                total += here if here < there else there
            shared[one, other] = total
        for place in range(left_starts[one], left_starts[one + 1]):
            row[left_columns[place]] = 0
