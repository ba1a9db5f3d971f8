"""Graph edit distance: exact for small graphs, between two bounds for large ones."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from analytics.similarity import edit_kernel
from analytics.similarity.alignment import DENSE_LIMIT, AlignmentMeasure
from analytics.similarity.edit_cost import Pairing, branch_bound, counting_bound
from analytics.similarity.isomorphism import isomorphism
from analytics.similarity.matrices import pair_by_pair
from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, Outline, check_labels, outline
from graphstore.compiled import compiled
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph

EXACT_LIMIT = 10
"""Number of nodes up to which the search for the exact distance is tried."""
MAX_STEPS = 20_000_000
"""Steps of that search; about a second."""
COMPILE_FROM = 5
"""Number of nodes from which the search is compiled."""


@dataclass(frozen=True, slots=True)
class EditDistance:
    """The distance of two graphs, or what is known of it.

    Attributes:
        value: The exact number of edits, or where ``exact`` is False the upper bound.
        exact: Whether the value is the distance itself.
        lower: No path of edits is shorter.
        upper: A path of edits of this length is known.
    """

    value: int
    exact: bool
    lower: int
    upper: int

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class EditMeasure(Configured):
    """1 - edit distance / edits that replace one graph by the other.

    Source: Sanfeliu and Fu, "A distance measure between attributed relational graphs for
    pattern recognition", IEEE SMC 13 (1983). Costs: :mod:`analytics.similarity.edit_cost`.

    Up to ``exact_limit`` nodes in the larger graph, a search finds the distance, unless it
    takes more than ``max_steps``. Beyond either, the distance is bounded: from above by the
    cost of the alignment, with contents as a guide and without, from below by labels and
    degrees (BRANCH), or in graphs of more than 600 nodes by sizes and labels. Where both
    bounds meet, they are exact. One graph numbered otherwise is looked for before
    (:mod:`analytics.similarity.isomorphism`): its distance is 0. The similarity rests on the
    upper bound, so it is never too high.

    Attributes:
        labels: How nodes are labelled (:data:`analytics.similarity.outline.LABELS`).
        exact_limit: Number of nodes up to which the search is tried, at least 0.
        max_steps: The most that it may take, at least 0.
        definitions: Raised whenever the value changes its meaning.
    """

    name: ClassVar[str] = "edit"

    labels: str = DEFAULT_LABELS
    exact_limit: int = EXACT_LIMIT
    max_steps: int = MAX_STEPS
    definitions: str = "2"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        for name in ("exact_limit", "max_steps"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must be at least 0, not {getattr(self, name)}")

    def prepare(self, graph: CollaborationGraph) -> Outline:
        """Labels and edges; contents cost nothing, and guide the alignment alone."""
        return outline(graph, self.labels, contents=True)

    def distance(self, one: Outline, other: Outline) -> EditDistance:
        """The distance of two prepared graphs, or bounds of it."""
        if one.key > other.key:
            one, other = other, one
        pairing = Pairing(one, other)
        if isomorphism(one, other, couplings=False) is not None:
            return EditDistance(0, True, 0, 0)
        upper = AlignmentMeasure().cost(one, other)
        small = len(other.labels) <= self.exact_limit
        # The finer bound takes an assignment of all nodes; a search does without it.
        fine = one.labels and len(other.labels) <= DENSE_LIMIT and not small
        lower = branch_bound(pairing) if fine else counting_bound(pairing)
        if lower < upper:
            bare = [replace(graph, contents=None) for graph in (one, other)]
            bare.sort(key=lambda graph: graph.key)
            upper = min(upper, AlignmentMeasure().cost(*bare))
        if lower == upper:
            return EditDistance(upper, True, lower, upper)
        if small:
            value, certain = _search(pairing, upper, self.max_steps)
            if certain:
                return EditDistance(value, True, value, value)
            upper = value
        return EditDistance(upper, lower == upper, lower, upper)

    def obstacle(self, prepared: Outline) -> str | None:
        """Why the graph has no similarity, or None."""
        return None if prepared.labels else "it has no nodes"

    def similarity(self, one: Outline, other: Outline) -> float | None:
        """Of two prepared graphs, 0 to 1; None where one has no nodes."""
        if not one.labels or not other.labels:
            return None
        most = Pairing(one, other).size
        return 1 - self.distance(one, other).value / most

    def matrix(
        self, ones: Sequence[Outline], others: Sequence[Outline] | None = None
    ) -> NDArray[numpy.float64]:
        """All pairs, one by one; shape (n, m), NaN where not defined."""
        return pair_by_pair(self.similarity, ones, others)


def _search(pairing: Pairing, bound: int, max_steps: int) -> tuple[int, bool]:
    (here, there), (near, far) = pairing.labels, pairing.edges
    # Nodes with many edges first: they decide most.
    order = numpy.argsort(-pairing.degrees[0].sum(axis=1), kind="stable")
    rank = numpy.argsort(order)
    rows, columns = len(here), len(there)
    here = here[order]
    kinds = int(max(here.max(initial=-1), there.max(initial=-1))) + 1
    adjacent, joined = _adjacency(rank[near], rows), _adjacency(far, columns)
    rest_labels = numpy.zeros((rows + 1, kinds), numpy.int64)
    for row in range(rows - 1, -1, -1):
        rest_labels[row] = rest_labels[row + 1]
        rest_labels[row, here[row]] += 1
    latest = rank[near].max(axis=1, initial=-1)
    rest_edges = numpy.array(
        [int((latest >= row).sum()) for row in range(rows + 1)], numpy.int64
    )
    kernel = edit_kernel.least_edits
    value, certain = (compiled(kernel) if columns >= COMPILE_FROM else kernel)(
        here,
        there,
        adjacent,
        joined,
        rest_labels,
        rest_edges,
        bound,
        max_steps,
        numpy.zeros(rows, numpy.int64),
        numpy.zeros(rows + 1, numpy.int64),
        numpy.zeros(rows + 1, numpy.int64),
        numpy.zeros(rows + 1, numpy.int64),
        numpy.zeros(columns, numpy.int64),
        numpy.bincount(there, minlength=kinds),
    )
    return int(value), bool(certain)


def _adjacency(edges: NDArray[numpy.int64], nodes: int) -> NDArray[numpy.int64]:
    matrix = numpy.zeros((nodes, nodes), numpy.int64)
    matrix[edges[:, 0], edges[:, 1]] = 1
    return matrix
