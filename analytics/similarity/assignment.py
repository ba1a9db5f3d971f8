"""Which node of one graph stands for which of another: assignments of least cost.

Source: Riesen and Bunke, "Approximate graph edit distance computation by means of bipartite
graph matching", Image and Vision Computing 27 (2009), for the costs of nodes with their
neighbourhoods; then fixed-point rounds, in which the edges that the last mapping keeps enter
the costs of the next (Leordeanu, Hebert and Sukthankar, "An Integer Projected Fixed Point
Method for Graph Matching and MAP Inference", NIPS 2009). The cheapest mapping seen is kept.

Graphs of up to ``dense_limit`` nodes are assigned whole. In larger ones each node chooses from
a few candidates: those around its own number, and around the place that it has in the
cheapest mapping that keeps the order of the nodes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from analytics.similarity.edit_cost import UNMATCHED, Pairing

Mapping = NDArray[numpy.int64]
Numbers = NDArray[numpy.float64]

CHUNK = 4_000_000
"""Pairs of an edge and a candidate that are looked up at once."""


@dataclass(frozen=True, slots=True)
class AssignmentOptions:
    """How counterparts are chosen; none of it changes what a mapping costs.

    Attributes:
        content: Added where both contents are known and differ, in edits.
        position: Added for a shift by the whole length, in edits.
        rounds: Fixed-point rounds from each start.
        dense_limit: Number of nodes up to which all pairs are candidates.
        window: Candidates on each side of the expected place, beyond that limit.
    """

    content: float
    position: float
    rounds: int
    dense_limit: int
    window: int


def assign(pairing: Pairing, options: AssignmentOptions) -> Mapping:
    """The cheapest mapping found, for each node of the first graph.

    Args:
        pairing: The first graph must not have more nodes than the second.
        options: How to look.
    """
    rows, columns = len(pairing.one.labels), len(pairing.other.labels)
    best = numpy.arange(rows, dtype=numpy.int64)
    if not rows:
        return best
    least = pairing.cost(best)
    if not least and pairing.one.contents == pairing.other.contents:
        return best
    terms = Terms(pairing, options)
    least_ties = terms.total_ties(best)
    dense = columns <= options.dense_limit
    search: Dense | Sparse = Dense(terms) if dense else Sparse(terms, options.window)
    for start in search.starts():
        mapping = start
        seen: set[bytes] = set()
        for _ in range(options.rounds + 1):
            cost, ties = pairing.cost(mapping), terms.total_ties(mapping)
            if (cost, ties) < (least, least_ties):
                best, least, least_ties = mapping, cost, ties
            if mapping.tobytes() in seen:
                break
            seen.add(mapping.tobytes())
            mapping = search.next(mapping)
    return best


class Terms:
    """What a pair of nodes costs by itself, for any rows and columns."""

    def __init__(self, pairing: Pairing, options: AssignmentOptions) -> None:
        self.pairing = pairing
        self.rows = len(pairing.one.labels)
        self.columns = len(pairing.other.labels)
        self._options = options

    def relabel(self, rows: Mapping, columns: Mapping) -> Numbers:
        """1 where the labels differ."""
        here, there = self.pairing.labels
        costs: Numbers = (here[rows] != there[columns]).astype(float)
        return costs

    def edges(self, rows: Mapping, columns: Mapping) -> Numbers:
        """Edges that one of both has more, in each direction; seen from two ends each."""
        near, far = self.pairing.degrees
        costs: Numbers = numpy.abs(near[rows] - far[columns]).sum(axis=-1) / 2
        return costs

    def ties(self, rows: Mapping, columns: Mapping) -> Numbers:
        """What decides between mappings of one cost: contents and positions."""
        differ = self.pairing.reworded(rows, columns)
        shift = numpy.abs(rows - columns) / self.columns
        costs: Numbers = self._options.content * differ + self._options.position * shift
        return costs

    def total_ties(self, mapping: Mapping) -> float:
        """The ties of a whole mapping."""
        return round(float(self.ties(numpy.arange(self.rows), mapping).sum()), 9)

    def in_order(self) -> Mapping:
        """The cheapest mapping that keeps the order of the nodes."""
        everywhere = numpy.arange(self.columns)

        def costs(row: int) -> Numbers:
            one = numpy.array([row])
            return (
                self.relabel(one, everywhere)
                + self.edges(one, everywhere)
                + self.ties(one, everywhere)
            )

        return in_order(costs, self.rows, self.columns)


class Dense:
    """Every pair is a candidate."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        rows = numpy.arange(terms.rows)[:, None]
        columns = numpy.arange(terms.columns)[None, :]
        self._own = terms.relabel(rows, columns) + terms.ties(rows, columns)
        self._adjacent = [
            _adjacency(edges, len(labels))
            for edges, labels in zip(terms.pairing.edges, terms.pairing.labels, strict=True)
        ]

    def starts(self) -> Iterator[Mapping]:
        """Mappings to begin with."""
        from scipy.spatial.distance import cdist

        yield numpy.arange(self._terms.rows, dtype=numpy.int64)
        yield self._terms.in_order()
        here, there = self._terms.pairing.labels
        near, far = self._terms.pairing.edges
        kinds = int(max(here.max(), there.max())) + 1
        one, other = _neighbourhoods(near, here, kinds), _neighbourhoods(far, there, kinds)
        alone = one.sum(axis=1)[:, None] + other.sum(axis=1)[None, :]
        yield self._solve((cdist(one, other, "cityblock") - alone) / 2)

    def next(self, mapping: Mapping) -> Mapping:
        """The assignment that the edges kept by a mapping make cheapest."""
        one, other = self._adjacent
        moved = numpy.zeros((len(one), len(other)), numpy.float32)
        moved[:, mapping] = one
        kept = moved @ other.T
        moved[:, mapping] = one.T
        kept += moved @ other
        return self._solve(-2.0 * kept)

    def _solve(self, edge_costs: NDArray[Any]) -> Mapping:
        from scipy.optimize import linear_sum_assignment

        _, columns = linear_sum_assignment(self._own + edge_costs)
        mapping: Mapping = columns.astype(numpy.int64)
        return mapping


class Sparse:
    """A few candidates for each node."""

    def __init__(self, terms: Terms, window: int) -> None:
        self._terms = terms
        self._ordered = terms.in_order()
        self._rows, self._columns = candidates(self._ordered, terms.columns, window)
        self._firsts = numpy.searchsorted(self._rows, numpy.arange(terms.rows + 1))
        self._own = terms.relabel(self._rows, self._columns)
        self._own += terms.ties(self._rows, self._columns)

    def starts(self) -> Iterator[Mapping]:
        """Mappings to begin with."""
        yield numpy.arange(self._terms.rows, dtype=numpy.int64)
        yield self._ordered
        near, far = self._terms.pairing.degrees
        shared = numpy.minimum(near[self._rows], far[self._columns]).sum(axis=1)
        yield self._solve(self._own - shared)

    def next(self, mapping: Mapping) -> Mapping:
        """The assignment that the edges kept by a mapping make cheapest."""
        kept = numpy.zeros(len(self._rows))
        edges = self._terms.pairing.edges[0]
        ask = self._terms.pairing.has_edges
        self._count(edges[:, 0], mapping[edges[:, 1]], ask, kept)
        self._count(edges[:, 1], mapping[edges[:, 0]], lambda to, of: ask(of, to), kept)
        return self._solve(self._own - 2.0 * kept)

    def _count(
        self,
        nodes: Mapping,
        mapped: Mapping,
        ask: Callable[[Mapping, Mapping], NDArray[numpy.bool_]],
        kept: Numbers,
    ) -> None:
        """Counts, for each candidate of these nodes, the edges that it would keep."""
        counts = self._firsts[nodes + 1] - self._firsts[nodes]
        ends = numpy.cumsum(counts)
        begin = 0
        while begin < len(nodes):
            before = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(numpy.searchsorted(ends, before + CHUNK, "right")))
            part = slice(begin, end)
            first = self._firsts[nodes[part]] - (ends[part] - counts[part] - before)
            places = numpy.repeat(first, counts[part])
            places += numpy.arange(len(places))
            found = ask(self._columns[places], numpy.repeat(mapped[part], counts[part]))
            kept += numpy.bincount(places[found], minlength=len(kept))
            begin = end

    def _solve(self, costs: Numbers) -> Mapping:
        from scipy import sparse
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        rows, columns = self._terms.rows, self._terms.columns
        # Each row has a way out of its own, so that all can be assigned.
        weights = numpy.concatenate((costs, numpy.full(rows, 2.0)))
        weights += 1.0 - weights.min()
        ways = numpy.arange(rows)
        matrix = sparse.coo_array(
            (
                weights,
                (
                    numpy.concatenate((self._rows, ways)),
                    numpy.concatenate((self._columns, columns + ways)),
                ),
            ),
            shape=(rows, columns + rows),
        )
        found, chosen = min_weight_full_bipartite_matching(sparse.csr_array(matrix))
        mapping = numpy.full(rows, UNMATCHED, numpy.int64)
        inside = chosen < columns
        mapping[found[inside]] = chosen[inside]
        return completed(mapping, *self._terms.pairing.labels)


def completed(
    mapping: Mapping, here: NDArray[numpy.int64], there: NDArray[numpy.int64]
) -> Mapping:
    """Gives every node a counterpart: first of its label, then any, each in order."""
    result = mapping.copy()
    free = numpy.ones(len(there), bool)
    free[result[result >= 0]] = False
    waiting = numpy.flatnonzero(result < 0)
    spare: dict[int, list[int]] = {}
    for column in numpy.flatnonzero(free)[::-1].tolist():
        spare.setdefault(int(there[column]), []).append(column)
    for row in waiting.tolist():
        same = spare.get(int(here[row]))
        if same:
            result[row] = same.pop()
    rest = sorted(column for columns in spare.values() for column in columns)
    waiting = numpy.flatnonzero(result < 0)
    result[waiting] = rest[: len(waiting)]
    return result


def in_order(row_costs: Callable[[int], Numbers], rows: int, columns: int) -> Mapping:
    """The cheapest mapping of all rows that keeps their order.

    ``least[i, j] = min(least[i, j - 1], least[i - 1, j - 1] + cost[i, j])``: an alignment of
    sequences in which only the longer one has gaps. Takes rows * columns steps and bits.

    Args:
        row_costs: Gives the costs of one row with every column.
        rows: Number of rows, at most the number of columns.
        columns: Number of columns.
    """
    taken = numpy.zeros((rows, columns), bool)
    before = numpy.zeros(columns + 1)
    for row in range(rows):
        costs = before[:-1] + row_costs(row)
        costs[:row] = numpy.inf
        least = numpy.minimum.accumulate(costs)
        # Where a column lowers the minimum, it is taken; else an earlier one is.
        taken[row, 0] = True
        taken[row, 1:] = least[1:] < least[:-1]
        before = numpy.concatenate(([numpy.inf], least))
    mapping = numpy.empty(rows, numpy.int64)
    column = columns - 1
    for row in range(rows - 1, -1, -1):
        while not taken[row, column]:
            column -= 1
        mapping[row] = column
        column -= 1
    return mapping


def candidates(expected: Mapping, columns: int, window: int) -> tuple[Mapping, Mapping]:
    """Pairs worth a look in large graphs, ordered by row and then by column.

    Args:
        expected: The place around which each row looks, besides the place of its own number.
        columns: Number of columns.
        window: Candidates on each side.
    """
    rows = len(expected)
    offsets = numpy.arange(-window, window + 1)
    places = numpy.concatenate(
        (expected[:, None] + offsets, numpy.arange(rows)[:, None] + offsets), axis=1
    )
    owners = numpy.repeat(numpy.arange(rows), places.shape[1])
    places = places.ravel()
    inside = (places >= 0) & (places < columns)
    keys = numpy.unique(owners[inside] * columns + places[inside])
    return keys // columns, keys % columns


def _neighbourhoods(
    edges: NDArray[numpy.int64], labels: NDArray[numpy.int64], kinds: int
) -> Numbers:
    """Shape (nodes, 2 * kinds): how many neighbours of each label, after and before."""
    counts = numpy.zeros((len(labels), 2 * kinds))
    numpy.add.at(counts, (edges[:, 0], labels[edges[:, 1]]), 1)
    numpy.add.at(counts, (edges[:, 1], kinds + labels[edges[:, 0]]), 1)
    return counts


def _adjacency(edges: NDArray[numpy.int64], nodes: int) -> NDArray[numpy.float32]:
    matrix = numpy.zeros((nodes, nodes), numpy.float32)
    matrix[edges[:, 0], edges[:, 1]] = 1
    return matrix
