"""The inner loops of the null model: plain functions, for numba or for Python itself."""

from typing import Any


def swap_edges(
    sources: Any,
    targets: Any,
    starts: Any,
    labels: Any,
    draws: Any,
    forward: bool,
) -> int:
    """Tries swaps of edges one after the other: a -> b, c -> d become a -> d, c -> b.

    A swap is made where the targets, or the sources, have one label, where neither new edge
    exists or is a loop, and, if asked for, where both point forward. Each vertex keeps its
    numbers of edges in and out, and each pair of labels its number of edges.

    Args:
        sources: For each edge its source, ascending.
        targets: For each edge its target; changed in place.
        starts: Where each vertex's edges begin; one entry more than vertices.
        labels: For each vertex, a number for its label.
        draws: Shape (attempts, 2): two edges for each attempt.
        forward: Whether edges must point to larger vertices.

    Returns:
        Number of swaps made.
    """
    made = 0
    for attempt in range(len(draws)):
        one, other = draws[attempt, 0], draws[attempt, 1]
        a, b, c, d = sources[one], targets[one], sources[other], targets[other]
        if a in (c, d) or b == d or c == b:
            continue
        if labels[b] != labels[d] and labels[a] != labels[c]:
            continue
        if forward and (a > d or c > b):
            continue
        taken = False
        for place in range(starts[a], starts[a + 1]):
            if targets[place] == d:
                taken = True
        for place in range(starts[c], starts[c + 1]):
            if targets[place] == b:
                taken = True
        if taken:
            continue
        targets[one], targets[other] = d, b
        made += 1
    return made
