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
from mining.motif_kernel import KEYS_FULL, PAIR_FLAG, enumerate_sets, group_sets
from mining.neighbour_kernel import fill_neighbours

_PLAIN_SETS = 100_000
"""Sets up to which plain Python is quicker than compiling the kernel."""

_USED: set[Callable[..., int]] = set()
"""Holds the kernel once it was compiled in this process: then it is quicker for all."""

_FIRST_ROWS = 65_536
_LABEL = (1 << 15) - 1


@dataclass(frozen=True, slots=True, eq=False)
class MotifInput:
    """What the search needs of a graph, with positions for nodes.

    Attributes:
        labels: The type of each node.
        edges: int64 of shape (2, edges): sources, ascending, and targets, which are larger.
        couplings: int64 of shape (2, couplings).
        left_out: Nodes that paths may use, and patterns may not.
        bound: At least the number of connected sets of two and three nodes: half of the sum
            of squared degrees. ``d (d - 1) / 2`` over all nodes counts a set of three once,
            or three times where all are joined; ``d / 2`` counts the sets of two.
    """

    labels: Sequence[str]
    edges: Any
    couplings: Any
    left_out: frozenset[int]
    bound: int

    @classmethod
    def of(
        cls,
        labels: Sequence[str],
        edges: Sequence[tuple[int, int]],
        couplings: Sequence[tuple[int, int]],
        left_out: Sequence[int] = (),
    ) -> "MotifInput":
        """Puts pairs in order.

        Args:
            labels: The type of each node.
            edges: Pairs of positions, the smaller first, each once.
            couplings: Likewise.
            left_out: Nodes that paths may use, and patterns may not.
        """
        return cls.of_columns(
            labels, *_columns(sorted(edges)), *_columns(sorted(couplings)), left_out
        )

    @classmethod
    def of_columns(
        cls,
        labels: Sequence[str],
        sources: list[int],
        targets: list[int],
        ones: list[int],
        others: list[int],
        left_out: Sequence[int] = (),
    ) -> "MotifInput":
        """Takes columns: sources ascending, each target larger, as those of a graph are."""
        import numpy

        ends = numpy.array(sources + targets + ones + others, numpy.int64)
        cut = 2 * len(sources)
        edges, couplings = ends[:cut].reshape(2, -1), ends[cut:].reshape(2, -1)
        out = frozenset(left_out)
        joined = ends[:cut]
        if ones or out:
            pairs = {*zip(sources, targets, strict=True), *zip(ones, others, strict=True)}
            inside = [pair for pair in pairs if pair[0] not in out and pair[1] not in out]
            joined = numpy.array(inside, numpy.int64).reshape(-1)
        degrees = numpy.bincount(joined)
        return cls(labels, edges, couplings, out, int(degrees @ degrees) // 2)


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
        size = len(graph.labels)
        width = (size + 7) // 8 if self._indirect else 0
        bound = graph.bound
        self._work += bound
        fast = self._work > _PLAIN_SETS or bool(_USED)
        if fast:
            _USED.add(enumerate_sets)
        kernel: Callable[..., int] = compiled(enumerate_sets) if fast else enumerate_sets
        fill: Callable[..., None] = compiled(fill_neighbours) if fast else fill_neighbours
        ends = 2 * (graph.edges.shape[1] + graph.couplings.shape[1])
        left_out = numpy.zeros(size, numpy.uint8)
        if graph.left_out:
            left_out[list(graph.left_out)] = 1
        room = numpy.empty(size + 1 + 2 * ends, numpy.int64)
        labels: Any = numpy.array([rank[label] for label in graph.labels], numpy.int64)
        reach: Any = numpy.empty(max(1, size * width), numpy.uint8)
        lists: list[Any] = [
            *graph.edges,
            *graph.couplings,
            left_out,
            room[: size + 1],
            room[size + 1 : size + 1 + ends],
            room[size + 1 + ends :],
        ]
        tables: tuple[Any, Any] = order_table()
        if not fast:
            # Plain Python is quicker with its own lists, machine code with arrays.
            lists = [values.tolist() for values in lists]
            labels, reach = labels.tolist(), reach.tolist()
            tables = _plain_tables()
        fill(*lists, width, reach)
        inputs = (labels, *lists[5:], reach, width, *tables, *self._sizes)
        limit = -1 if self._keep is None else self._keep
        slots, kept = 1024, max(1, bound if self._keep is None else min(bound, _FIRST_ROWS))
        while True:
            keys = numpy.full(slots, -1, numpy.int64)
            counts = numpy.zeros(slots, numpy.int64)
            rows = numpy.empty(kept, numpy.int64)
            sets = numpy.empty((kept, 3), numpy.int32)
            marks = numpy.zeros((2, size), numpy.int64)
            filled = int(kernel(*inputs, limit, keys, counts, rows, sets, marks[0], marks[1]))
            if filled >= 0:
                return self._results(keys, counts, rows[:filled], sets[:filled], names, fast)
            if filled == KEYS_FULL:
                slots *= 4
            else:
                kept *= 4

    def _results(
        self, keys: Any, counts: Any, rows: Any, sets: Any, names: tuple[str, ...], fast: bool
    ) -> GraphPatterns:
        import numpy

        # Graphs with the same labels give a pattern the same key.
        known = self._known.setdefault(names, {})
        slots = numpy.flatnonzero(keys >= 0)
        found = keys[slots]
        order = numpy.argsort(found)
        slots, found = slots[order], found[order]
        numbers = []
        for key in found.tolist():
            number = known.get(key)
            if number is None:
                number = self._numbers.setdefault(_unpack(key, names), len(self._numbers))
                known[key] = number
            numbers.append(number)
        counted = counts[slots]
        kept = counted if self._keep is None else numpy.minimum(counted, self._keep)
        # Where the next set of each slot goes: sets stand by pattern, as they were found.
        following = numpy.zeros(len(keys), numpy.int64)
        following[slots] = numpy.cumsum(kept) - kept
        grouped = numpy.empty_like(sets)
        (compiled(group_sets) if fast else group_sets)(rows, sets, following, grouped)
        return GraphPatterns(
            numbers=numpy.array(numbers, numpy.int64),
            counts=counted,
            kept=kept,
            sets=grouped,
            pairs=found >= PAIR_FLAG,
        )


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


@cache
def _plain_tables() -> tuple[list[int], list[int]]:
    orders, relations = order_table()
    return orders.tolist(), relations.tolist()


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
