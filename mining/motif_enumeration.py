"""Finds every connected set of two and three nodes of one graph, and counts their patterns.

Source: MAC-Bench, appendix F.1: edges and couplings connect; precedence is inherited from
the whole graph. Each set is met once: from its smallest node, then through the smaller of
the nodes that it touches. The work is proportional to the number of sets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphstore.compiled import compiled
from mining.canonical import Pattern, order_table
from mining.motif_kernel import KEYS_FULL, PAIR_FLAG, enumerate_sets

_PLAIN_SETS = 100_000
"""Sets up to which plain Python is quicker than compiling the kernel."""

_FIRST_ROWS = 65_536
_LABEL = (1 << 15) - 1


@dataclass(frozen=True, slots=True)
class MotifInput:
    """What the search needs of a graph, with positions for nodes.

    Attributes:
        labels: The type of each node.
        edges: Pairs of positions, the smaller first.
        neighbours: For each node, the nodes that it is joined to: 1 for an edge, plus 3 for
            a coupling. Nodes that may not be part of a pattern have none and are nobody's.
    """

    labels: Sequence[str]
    edges: Sequence[tuple[int, int]]
    neighbours: Sequence[dict[int, int]]

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        edges: Sequence[tuple[int, int]],
        couplings: Sequence[tuple[int, int]],
        left_out: Sequence[int] = (),
    ) -> "MotifInput":
        """Makes the neighbourhoods.

        Args:
            labels: The type of each node.
            edges: Pairs of positions, the smaller first, each once.
            couplings: Likewise.
            left_out: Nodes that paths may use, and patterns may not.
        """
        found: list[dict[int, int]] = [{} for _ in labels]
        for source, target in edges:
            found[source][target] = found[target][source] = 1
        for one, other in couplings:
            found[one][other] = found[other][one] = found[one].get(other, 0) + 3
        for node in left_out:
            for other in found[node]:
                del found[other][node]
            found[node] = {}
        return cls(labels, edges, found)

    @property
    def bound(self) -> int:
        """At least the number of connected sets of two and three nodes.

        Half of the sum of squared degrees: ``d (d - 1) / 2`` over all nodes counts a set of
        three once, or three times where all are joined; ``d / 2`` counts the sets of two.
        """
        return sum(len(near) ** 2 for near in self.neighbours) // 2


@dataclass(frozen=True, slots=True)
class GraphPatterns:
    """The patterns of one graph, by column.

    Attributes:
        numbers: int64, one a pattern: its position in :attr:`MotifSearch.patterns`.
        counts: int64: number of node sets that show it, exact.
        kept: int64: number of its rows in ``sets``.
        sets: int32 of shape (sum of ``kept``, 3): positions of nodes in canonical order, -1
            as the third of a pair; grouped by pattern, in the order in which they were found
            (by their smallest node).
        pairs: bool, one a pattern: whether it has two nodes.
    """

    numbers: Any
    counts: Any
    kept: Any
    sets: Any
    pairs: Any


class MotifSearch:
    """Searches graphs one after the other, and compiles its kernel once that pays.

    Args:
        sizes: Which of 2 and 3.
        indirect: Whether longer paths are told from no path.
        keep: How many sets of each pattern and graph to keep, the first found; None for all.

    Attributes:
        patterns: The patterns found so far, in canonical form, in the order of finding.
    """

    def __init__(self, sizes: Sequence[int], indirect: bool, keep: int | None) -> None:
        self._sizes = (2 in sizes, 3 in sizes)
        self._indirect = indirect
        self._keep = keep
        self._work = 0
        self._numbers: dict[Pattern, int] = {}
        self._known: dict[tuple[str, ...], dict[int, int]] = {}

    @property
    def patterns(self) -> list[Pattern]:
        return list(self._numbers)

    def find(self, graph: MotifInput) -> GraphPatterns:
        """Every pattern of a graph, with exact counts."""
        import numpy

        names = tuple(sorted(set(graph.labels)))
        rank = {name: place for place, name in enumerate(names)}
        starts, targets, codes = [0], [], []
        for near in graph.neighbours:
            for node in sorted(near):
                targets.append(node)
                codes.append(near[node])
            starts.append(len(targets))
        width = (len(graph.labels) + 7) // 8 if self._indirect else 0
        lists: list[Any] = [[rank[label] for label in graph.labels], starts, targets, codes]
        reach: Any = _reachability(graph, width) if width else bytes(1)
        tables: tuple[Any, Any] = _plain_tables()
        bound = graph.bound
        self._work += bound
        kernel: Callable[..., int] = enumerate_sets
        if self._work > _PLAIN_SETS:
            kernel = compiled(enumerate_sets)
            lists = [numpy.array(values, numpy.int64) for values in lists]
            reach = numpy.frombuffer(reach, numpy.uint8)
            tables = order_table()
        inputs = (*lists, reach, width, *tables, *self._sizes)
        limit = -1 if self._keep is None else self._keep
        slots, kept = 1024, max(1, bound if self._keep is None else min(bound, _FIRST_ROWS))
        while True:
            keys = numpy.full(slots, -1, numpy.int64)
            counts = numpy.zeros(slots, numpy.int64)
            rows = numpy.empty(kept, numpy.int64)
            sets = numpy.empty((kept, 3), numpy.int32)
            marks = numpy.zeros((2, len(graph.labels)), numpy.int64)
            filled = int(kernel(*inputs, limit, keys, counts, rows, sets, marks[0], marks[1]))
            if filled >= 0:
                return self._results(keys, counts, rows[:filled], sets[:filled], names)
            if filled == KEYS_FULL:
                slots *= 4
            else:
                kept *= 4

    def _results(
        self, keys: Any, counts: Any, rows: Any, sets: Any, names: tuple[str, ...]
    ) -> GraphPatterns:
        import numpy

        # Graphs with the same labels give a pattern the same key.
        known = self._known.setdefault(names, {})
        slots = numpy.flatnonzero(keys >= 0)
        slots = slots[numpy.argsort(keys[slots])]
        numbers = []
        for key in keys[slots].tolist():
            number = known.get(key)
            if number is None:
                number = self._numbers.setdefault(_unpack(key, names), len(self._numbers))
                known[key] = number
            numbers.append(number)
        position = numpy.empty(len(keys), numpy.int64)
        position[slots] = numpy.arange(len(slots))
        owners = position[rows]
        return GraphPatterns(
            numbers=numpy.array(numbers, numpy.int64),
            counts=counts[slots],
            kept=numpy.bincount(owners, minlength=len(slots)),
            sets=sets[numpy.argsort(owners, kind="stable")],
            pairs=keys[slots] >= PAIR_FLAG,
        )


@cache
def _plain_tables() -> tuple[list[int], list[int]]:
    orders, relations = order_table()
    return orders.tolist(), relations.tolist()


def _reachability(graph: MotifInput, width: int) -> bytes:
    """For each node, ``width`` bytes of bits: the nodes that a path leads to."""
    following: list[list[int]] = [[] for _ in graph.labels]
    for source, target in graph.edges:
        following[source].append(target)
    reached = [0] * len(following)
    for node in range(len(following) - 1, -1, -1):
        row = 0
        for target in sorted(following[node]):
            # What a nearer successor reaches already needs no second union.
            if not row >> target & 1:
                row |= reached[target] | 1 << target
        reached[node] = row
    return b"".join([row.to_bytes(width, "little") for row in reached])


def pack(pattern: Pattern, rank: Mapping[str, int]) -> int:
    """The key of a pattern in a graph whose labels have these ranks."""
    places = [rank[label] for label in pattern.labels]
    if pattern.size == 2:
        return PAIR_FLAG | places[0] << 19 | places[1] << 4 | pattern.relations[0]
    one, two, three = pattern.relations
    key = places[0] << 42 | places[1] << 27 | places[2] << 12
    return key | one << 8 | two << 4 | three


def _unpack(key: int, names: tuple[str, ...]) -> Pattern:
    if key & PAIR_FLAG:
        return Pattern((names[key >> 19 & _LABEL], names[key >> 4 & _LABEL]), (key & 15,))
    return Pattern(
        (names[key >> 42 & _LABEL], names[key >> 27 & _LABEL], names[key >> 12 & _LABEL]),
        (key >> 8 & 15, key >> 4 & 15, key & 15),
    )
