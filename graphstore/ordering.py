"""The order in which nodes of a graph stand."""

import heapq
from collections.abc import Iterable


def topological_order(
    count: int, edges: Iterable[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    """Positions with each source before its targets, ties in ascending order.

    Args:
        count: Number of positions, from 0.
        edges: Source and target of each edge.

    Returns:
        The order, and the positions that stand on or behind a cycle and have no place in it.
    """
    waiting = [0] * count
    following: dict[int, list[int]] = {}
    for source, target in edges:
        waiting[target] += 1
        following.setdefault(source, []).append(target)
    ready = [position for position, sources in enumerate(waiting) if sources == 0]
    order: list[int] = []
    while ready:
        position = heapq.heappop(ready)
        order.append(position)
        for target in following.get(position, ()):
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, target)
    return order, [position for position, sources in enumerate(waiting) if sources > 0]
