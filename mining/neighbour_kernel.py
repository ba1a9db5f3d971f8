"""Prepares a graph for the motif search: one plain function, for numba or for Python."""

from typing import Any


def fill_neighbours(
    sources: Any,
    targets: Any,
    ones: Any,
    others: Any,
    left_out: Any,
    near_starts: Any,
    near: Any,
    codes: Any,
    width: int,
    reach: Any,
) -> None:
    """Makes what the search for patterns needs of a graph.

    Args:
        sources: For each edge its source, ascending.
        targets: For each edge its target, a larger vertex.
        ones: For each coupling a vertex.
        others: For each coupling the other one.
        left_out: For each vertex, whether it is no part of patterns.
        near_starts: Receives where each vertex's neighbours begin; one entry more.
        near: Receives neighbours, ascending for each vertex; at least twice as long as there
            are edges and couplings.
        codes: Receives 1 for an edge, plus 3 where coupled.
        width: Bytes of ``reach`` for each vertex; 0 where it is not wanted.
        reach: Receives bits: which vertices a path leads to.
    """
    size = len(left_out)
    for vertex in range(size + 1):
        near_starts[vertex] = 0
    for kind in range(2):
        count = len(sources) if kind == 0 else len(ones)
        for place in range(count):
            one = sources[place] if kind == 0 else ones[place]
            other = targets[place] if kind == 0 else others[place]
            if not (left_out[one] or left_out[other]):
                near_starts[one + 1] += 1
                near_starts[other + 1] += 1
    for vertex in range(size):
        near_starts[vertex + 1] += near_starts[vertex]
    # The end of what is filled stands one entry further on, until all is filled.
    for vertex in range(size, 0, -1):
        near_starts[vertex] = near_starts[vertex - 1]
    for kind in range(2):
        count = len(sources) if kind == 0 else len(ones)
        for place in range(count):
            one = sources[place] if kind == 0 else ones[place]
            other = targets[place] if kind == 0 else others[place]
            if left_out[one] or left_out[other]:
                continue
            for _turn in range(2):
                at = near_starts[one + 1]
                near[at] = other
                codes[at] = 1 if kind == 0 else 3
                near_starts[one + 1] = at + 1
                one, other = other, one
    kept = 0
    begin = 0
    for vertex in range(size):
        end = near_starts[vertex + 1]
        for place in range(begin + 1, end):
            value, code = near[place], codes[place]
            spot = place
            while spot > begin and near[spot - 1] > value:
                near[spot], codes[spot] = near[spot - 1], codes[spot - 1]
                spot -= 1
            near[spot], codes[spot] = value, code
        first = kept
        for place in range(begin, end):
            if kept > first and near[kept - 1] == near[place]:
                codes[kept - 1] += codes[place]
            else:
                near[kept], codes[kept] = near[place], codes[place]
                kept += 1
        begin = end
        near_starts[vertex] = first
        near_starts[vertex + 1] = end
    near_starts[size] = kept
    if not width:
        return
    for place in range(size * width):
        reach[place] = 0
    for edge in range(len(sources) - 1, -1, -1):
        one, other = sources[edge], targets[edge]
        for byte in range(width):
            reach[one * width + byte] |= reach[other * width + byte]
        reach[one * width + (other >> 3)] |= 1 << (other & 7)
