"""The search behind the exact edit distance: a plain function, for numba."""

from typing import Any


def least_edits(
    here: Any,
    there: Any,
    near: Any,
    far: Any,
    rest_labels: Any,
    rest_edges: Any,
    bound: int,
    max_steps: int,
    chosen: Any,
    relabelled: Any,
    kept: Any,
    inner: Any,
    used: Any,
    spare: Any,
) -> Any:
    """Branch and bound, depth first, over the mappings of all rows to columns.

    A partial mapping costs what it has relabelled and what it has lost; the rest costs at
    least the labels that the free columns cannot offer, and the edges that one side has more.

    Args:
        here: Label of each row, as a number.
        there: Label of each column; not fewer columns than rows.
        near: Shape (rows, rows): 1 where an edge leads from the first to the second.
        far: Shape (columns, columns), likewise.
        rest_labels: Shape (rows + 1, labels): labels of the rows from each one on.
        rest_edges: For each row, the edges that touch it or a later one; one more entry.
        bound: Number of edits that is known to suffice.
        max_steps: Pairs of a row and a column to try at most.
        chosen: Room for a column for each row.
        relabelled: Room for rows + 1 numbers; the first is 0.
        kept: Likewise.
        inner: Likewise: edges among the columns that are used.
        used: A zero for each column.
        spare: How many free columns carry each label.

    Returns:
        The least number of edits, at most ``bound``, and 1 where that is certain: 0 where
        the steps ran out.
    """
    rows = len(here)
    columns = len(there)
    near_edges = rest_edges[0]
    far_edges = 0
    for one in range(columns):
        for other in range(columns):
            far_edges += far[one, other]
    fixed = columns - rows + near_edges + far_edges
    best = bound
    steps = 0
    depth = 0
    for row in range(rows):
        chosen[row] = -1
    while depth >= 0:
        if depth == rows:
            total = fixed + relabelled[depth] - 2 * kept[depth]
            best = min(best, total)
            depth -= 1
            continue
        column = chosen[depth]
        if column >= 0:
            used[column] = 0
            spare[there[column]] += 1
        column += 1
        advanced = False
        while column < columns:
            if not used[column]:
                steps += 1
                if steps > max_steps:
                    return best, 0
                found = 0
                touched = 0
                for row in range(depth):
                    mapped = chosen[row]
                    found += near[row, depth] * far[mapped, column]
                    found += near[depth, row] * far[column, mapped]
                    touched += far[mapped, column] + far[column, mapped]
                used[column] = 1
                spare[there[column]] -= 1
                relabelled[depth + 1] = relabelled[depth] + (here[depth] != there[column])
                kept[depth + 1] = kept[depth] + found
                inner[depth + 1] = inner[depth] + touched
                offered = 0
                for label in range(len(spare)):
                    offered += min(spare[label], rest_labels[depth + 1, label])
                needed = relabelled[depth + 1] + (rows - depth - 1) - offered
                possible = kept[depth + 1]
                possible += min(rest_edges[depth + 1], far_edges - inner[depth + 1])
                if fixed + needed - 2 * possible < best:
                    chosen[depth] = column
                    depth += 1
                    if depth < rows:
                        chosen[depth] = -1
                    advanced = True
                    break
                used[column] = 0
                spare[there[column]] += 1
            column += 1
        if not advanced:
            chosen[depth] = -1
            depth -= 1
    return best, 1
