"""Whether two graphs are one graph whose nodes are numbered otherwise.

Colour refinement, and a node of each graph told apart from its class where refinement stops:
the scheme of McKay, "Practical graph isomorphism", Congressus Numerantium 30 (1981), without
its search. What is found is checked; in graphs of much symmetry it may find nothing.
"""

from collections import Counter
from collections.abc import Sequence

from analytics.similarity.outline import Outline, levels

MAX_NODES = 600
"""The largest graphs that are looked at: a fraction of a second."""

Near = list[tuple[list[int], list[int], list[int]]]
"""For each node those that consume it, that it consumes, and that it is coupled with."""


def isomorphism(
    one: Outline, other: Outline, *, couplings: bool = True
) -> tuple[int, ...] | None:
    """The counterpart of each node of the first graph, so that labels and edges agree.

    Args:
        one: A graph.
        other: Another.
        couplings: Whether couplings must agree, too.

    Returns:
        None where there is none, or none was found.
    """
    size = len(one.labels)
    if (
        size > MAX_NODES
        or len(one.edges) != len(other.edges)
        or (couplings and len(one.couplings) != len(other.couplings))
        or sorted(one.labels) != sorted(other.labels)
    ):
        return None
    # Both graphs side by side: nodes of the second one are numbered from ``size`` on.
    edges = [*one.edges, *((source + size, target + size) for source, target in other.edges)]
    pairs = (
        [
            *one.couplings,
            *((source + size, target + size) for source, target in other.couplings),
        ]
        if couplings
        else []
    )
    near = _neighbours(2 * size, edges, pairs)
    first = [*_placed(one), *_placed(other)]
    numbers = {seen: number for number, seen in enumerate(sorted(set(first)))}
    colours = [numbers[seen] for seen in first]
    if sorted(colours[:size]) != sorted(colours[size:]):
        return None
    while True:
        colours = _refined(colours, near)
        if Counter(colours[:size]) != Counter(colours[size:]):
            return None
        classes: dict[int, tuple[list[int], list[int]]] = {}
        for node, colour in enumerate(colours):
            classes.setdefault(colour, ([], []))[node >= size].append(node)
        open_classes = [
            (ours, theirs)
            for ours, theirs in classes.values()
            if len(ours) > 1 and not _are_twins(ours[0], colours, near, classes)
        ]
        if not open_classes:
            break
        ours, theirs = min(open_classes)
        new = max(colours) + 1
        colours[ours[0]] = colours[theirs[0]] = new
    found = [0] * size
    for ours, theirs in classes.values():
        for here, there in zip(ours, theirs, strict=True):
            found[here] = there - size
    return tuple(found) if _agrees(found, one, other, couplings=couplings) else None


def _placed(graph: Outline) -> list[tuple[str, int, int]]:
    """Of each node the label, and how far at most it is from a first and from a last one."""
    size = len(graph.labels)
    back = sorted([(size - 1 - target, size - 1 - source) for source, target in graph.edges])
    return list(
        zip(graph.labels, levels(size, graph.edges), levels(size, back)[::-1], strict=True)
    )


def _neighbours(
    size: int, edges: Sequence[tuple[int, int]], pairs: Sequence[tuple[int, int]]
) -> Near:
    near: Near = [([], [], []) for _ in range(size)]
    for source, target in edges:
        near[source][0].append(target)
        near[target][1].append(source)
    for source, target in pairs:
        near[source][2].append(target)
        near[target][2].append(source)
    return near


def _refined(colours: list[int], near: Near) -> list[int]:
    """Colours by which neighbours tell no more nodes apart."""
    count = len(set(colours))
    while True:
        keys = [
            (colour, *(tuple(sorted([colours[one] for one in side])) for side in near[node]))
            for node, colour in enumerate(colours)
        ]
        numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
        colours = [numbers[key] for key in keys]
        if len(numbers) == count:
            return colours
        count = len(numbers)


def _are_twins(
    node: int,
    colours: list[int],
    near: Near,
    classes: dict[int, tuple[list[int], list[int]]],
) -> bool:
    """Whether nodes of its colour have the very same neighbours: any may stand for any."""
    return all(len(classes[colours[one]][0]) == 1 for side in near[node] for one in side)


def _agrees(found: list[int], one: Outline, other: Outline, *, couplings: bool) -> bool:
    edges = {(found[source], found[target]) for source, target in one.edges}
    pairs = {frozenset((found[source], found[target])) for source, target in one.couplings}
    return (
        all(label == other.labels[found[node]] for node, label in enumerate(one.labels))
        and edges == set(other.edges)
        and (not couplings or pairs == set(map(frozenset, other.couplings)))
    )
