"""Who gave to whom: agents as vertices, and the search for patterns among them.

An ordered pair of agents is joined where an action of the one was delivered to the other, or
where an action of the other consumed the output of an action of the one. Agents answer each
other, so there are cycles, and a pair can be joined both ways: patterns are those of simple
directed graphs, of which three vertices have 13 connected ones.
"""

from array import array
from collections.abc import Sequence
from typing import Any

from graphstore.model import CollaborationGraph
from mining.canonical import DIRECT, DIRECT_BACK, INCOMPARABLE, MUTUAL, Pattern, canonical
from mining.motif_enumeration import GraphPatterns

Link = tuple[int, int]


def agent_links(graph: CollaborationGraph) -> list[Link]:
    """Ordered pairs of different agents, by position in ``graph.agents``, ascending."""
    position = {agent.id: place for place, agent in enumerate(graph.agents)}
    owner: dict[str, int] = {}
    links: set[Link] = set()
    for node in graph.nodes:
        if node.agent is not None:
            sender = owner[node.id] = position[node.agent]
            links.update([(sender, position[one]) for one in node.recipients])
    for edge in graph.edges:
        if edge.source in owner and edge.target in owner:
            links.add((owner[edge.source], owner[edge.target]))
    return sorted([link for link in links if link[0] != link[1]])


def joined(size: int, links: Sequence[Link]) -> list[list[int]]:
    """For each vertex, those that it is joined to in either direction, ascending."""
    found: list[set[int]] = [set() for _ in range(size)]
    for source, target in links:
        found[source].add(target)
        found[target].add(source)
    return [sorted(near) for near in found]


class DirectedSearch:
    """Finds the patterns of simple directed graphs, one after the other.

    Args:
        sizes: Which of 2 and 3.
        keep: How many sets of each pattern and graph to keep, the first found; None for all.

    Attributes:
        patterns: The patterns found so far, in canonical form, in the order of finding.
    """

    def __init__(self, sizes: Sequence[int], keep: int | None) -> None:
        self._sizes = tuple(sizes)
        self._keep = keep
        self._numbers: dict[Pattern, int] = {}
        self._known: dict[Pattern, tuple[int, tuple[int, ...]]] = {}

    @property
    def patterns(self) -> list[Pattern]:
        return list(self._numbers)

    def find(self, labels: Sequence[str | None], links: Sequence[Link]) -> GraphPatterns:
        """Every pattern of a graph, with exact counts.

        Args:
            labels: The type of each vertex; None leaves it out.
            links: Ordered pairs of vertices.
        """
        import numpy

        inside = [link for link in links if None not in (labels[link[0]], labels[link[1]])]
        directed = set(inside)
        counts: dict[int, int] = {}
        kept: dict[int, list[tuple[int, ...]]] = {}
        for vertices in _connected(joined(len(labels), inside), self._sizes):
            number, order = self._pattern(labels, directed, vertices)
            counts[number] = counts.get(number, 0) + 1
            sets = kept.setdefault(number, [])
            if self._keep is None or len(sets) < self._keep:
                sets.append(tuple([vertices[place] for place in order]))
        numbers = sorted(counts)
        patterns = self.patterns
        rows = array("i")
        for number in numbers:
            for row in kept[number]:
                rows.extend((*row, -1)[:3])
        return GraphPatterns(
            numbers=numpy.array(numbers, numpy.int64),
            counts=numpy.array([counts[number] for number in numbers], numpy.int64),
            kept=numpy.array([len(kept[number]) for number in numbers], numpy.int64),
            sets=numpy.array(rows, numpy.int32).reshape(-1, 3),
            pairs=numpy.array([patterns[number].size == 2 for number in numbers], bool),
        )

    def _pattern(
        self, labels: Sequence[str | None], links: set[Link], vertices: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...]]:
        relations = []
        for place, one in enumerate(vertices):
            for other in vertices[place + 1 :]:
                forward, back = (one, other) in links, (other, one) in links
                relations.append(
                    (MUTUAL if back else DIRECT)
                    if forward
                    else (DIRECT_BACK if back else INCOMPARABLE)
                )
        found = Pattern(tuple([labels[one] or "" for one in vertices]), tuple(relations))
        known = self._known.get(found)
        if known is None:
            best, order = canonical(found)
            known = (self._numbers.setdefault(best, len(self._numbers)), order)
            self._known[found] = known
        return known


def _connected(near: list[list[int]], sizes: Sequence[int]) -> Any:
    """Connected sets of two and three vertices, ascending, each once."""
    for first, around in enumerate(near):
        for place, second in enumerate(around):
            if second < first:
                continue
            if 2 in sizes:
                yield (first, second)
            if 3 in sizes:
                # A third that the first touches too, or that only the second touches.
                for third in around[place + 1 :]:
                    yield (first, second, third)
                for third in near[second]:
                    if third > first and third not in around:
                        yield (first, *sorted((second, third)))
