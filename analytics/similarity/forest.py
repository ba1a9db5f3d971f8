"""ForestBench's sum: how alike two graphs are in their nodes, edges and proportions.

Source: "ForestBench: A Unified Graph Framework for Evaluating Multi-Agent Collaboration",
sim(G, G') = alpha s_node + beta s_edge + gamma s_topo. Its constants and the exact form of
the three parts are not public; those here are ours, named, and stored with every result.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, check_labels, levels, outline
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

ALPHA = 0.4
"""Weight of s_node."""
BETA = 0.4
"""Weight of s_edge: who consumed whom says as much as who acted."""
GAMMA = 0.2
"""Weight of s_topo: four ratios of sizes say less than either."""

COUPLING = "~"
"""Stands between the labels of a coupled pair."""


@dataclass(frozen=True, slots=True)
class ForestFeatures:
    """What the sum reads of a graph.

    Attributes:
        nodes: How many nodes carry each label.
        edges: How many edges lead from one label to another, by (label, label), and how many
            couplings join two, by (label, ``~``, label).
        sizes: Number of nodes, number of edges and couplings, depth (nodes on the longest
            path) and width (nodes on the fullest level).
    """

    nodes: Mapping[str, int]
    edges: Mapping[tuple[str, ...], int]
    sizes: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class ForestParts:
    """The three parts of one similarity, 0 to 1 each; None where a part is not defined.

    Attributes:
        node: Overlap of the labels of nodes.
        edge: Overlap of the pairs of labels that edges join.
        topology: Mean ratio of the sizes.
    """

    node: float | None
    edge: float | None
    topology: float | None


@dataclass(frozen=True)
class ForestMeasure(Configured):
    """The ForestBench sum, divided by the weights of the parts that are defined.

    With counts a(x) and b(x) of the labels x in both graphs,

        s_node = sum_x min(a(x), b(x)) / sum_x max(a(x), b(x)),

    s_edge likewise over (label of source, label of target), where couplings count as pairs
    without a direction, and s_topo = the mean of min / max of the numbers of nodes and of
    edges, of the depth and of the width. A part is not defined, and left out, where both
    graphs have nothing to compare: no node, or no edge. Two graphs without nodes have no
    similarity.

    Attributes:
        alpha: Weight of s_node, at least 0.
        beta: Weight of s_edge, at least 0.
        gamma: Weight of s_topo, at least 0.
        labels: How nodes are labelled (:data:`analytics.similarity.outline.LABELS`).
        definitions: Raised whenever a part changes its meaning.
    """

    name: ClassVar[str] = "forest"

    alpha: float = ALPHA
    beta: float = BETA
    gamma: float = GAMMA
    labels: str = DEFAULT_LABELS
    definitions: str = "1"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        weights = (self.alpha, self.beta, self.gamma)
        if not all(0 <= weight < float("inf") for weight in weights) or not any(weights):
            raise UsageError(
                "alpha, beta and gamma must be finite numbers of at least 0, one of them above"
            )

    def prepare(self, graph: CollaborationGraph) -> ForestFeatures:
        """Counts of labels and of pairs, and sizes."""
        seen = outline(graph, self.labels)
        labels = seen.labels
        edges: Counter[tuple[str, ...]] = Counter(
            [(labels[one], labels[other]) for one, other in seen.edges]
        )
        for one, other in seen.couplings:
            first, second = sorted((labels[one], labels[other]))
            edges[first, COUPLING, second] += 1
        level = levels(len(labels), seen.edges)
        return ForestFeatures(
            nodes=dict(Counter(labels)),
            edges=dict(edges),
            sizes=(
                len(labels),
                len(seen.edges) + len(seen.couplings),
                max(level, default=-1) + 1,
                max(Counter(level).values(), default=0),
            ),
        )

    def parts(self, one: ForestFeatures, other: ForestFeatures) -> ForestParts:
        """The three parts for two prepared graphs."""
        ratios = 0.0
        known = 0
        for here, there in zip(one.sizes, other.sizes, strict=True):
            if here or there:
                ratios += here / there if here < there else there / here
                known += 1
        return ForestParts(
            node=overlap(one.nodes, other.nodes, one.sizes[0] + other.sizes[0]),
            edge=overlap(one.edges, other.edges, one.sizes[1] + other.sizes[1]),
            topology=ratios / known if known else None,
        )

    def combine(self, parts: ForestParts) -> float | None:
        """The weighted mean of the parts that are defined; None where no weight is left."""
        total = weights = 0.0
        for weight, value in (
            (self.alpha, parts.node),
            (self.beta, parts.edge),
            (self.gamma, parts.topology),
        ):
            if value is not None:
                total += weight * value
                weights += weight
        return total / weights if weights else None

    def similarity(self, one: ForestFeatures, other: ForestFeatures) -> float | None:
        """The sum for two prepared graphs, 0 to 1; None where neither has a node."""
        return self.combine(self.parts(one, other))

    def matrix(
        self, ones: Sequence[ForestFeatures], others: Sequence[ForestFeatures] | None = None
    ) -> "NDArray[numpy.float64]":
        """All pairs; shape (n, m), NaN where not defined."""
        import numpy

        from analytics.similarity.counts import Overlaps, blocks

        columns = ones if others is None else others
        nodes, edges = (
            Overlaps(
                [getattr(row, part) for row in ones],
                None if others is None else [getattr(row, part) for row in others],
            )
            for part in ("nodes", "edges")
        )
        left, right = (
            numpy.array([row.sizes for row in side], float).reshape(-1, 4)
            for side in (ones, columns)
        )
        result = numpy.empty((len(left), len(right)))
        for begin, end in blocks(len(left)):
            parts = (
                (self.alpha, nodes.rows(begin, end)),
                (self.beta, edges.rows(begin, end)),
                (self.gamma, _size_ratios(left[begin:end], right)),
            )
            total = numpy.zeros((end - begin, len(right)))
            weights = numpy.zeros_like(total)
            for weight, values in parts:
                defined = ~numpy.isnan(values)
                numpy.add(total, weight * values, out=total, where=defined)
                weights += weight * defined
            block = result[begin:end]
            block.fill(numpy.nan)
            numpy.divide(total, weights, out=block, where=weights > 0)
        return result


def _size_ratios(left: Any, right: Any) -> Any:
    """s_topo of all pairs of sizes; shapes (n, 4) and (m, 4) to (n, m), NaN where none is."""
    import numpy

    total = numpy.zeros((len(left), len(right)))
    known = numpy.zeros_like(total)
    for place in range(left.shape[1]):
        one, other = left[:, place, None], right[None, :, place]
        largest = numpy.maximum(one, other)
        defined = largest > 0
        ratios = numpy.divide(numpy.minimum(one, other), largest, where=defined, out=largest)
        numpy.add(total, ratios, out=total, where=defined)
        known += defined
    values = numpy.full_like(total, numpy.nan)
    numpy.divide(total, known, out=values, where=known > 0)
    return values


def overlap(one: Mapping[Any, int], other: Mapping[Any, int], total: int) -> float | None:
    """Shared over all, of two multisets (Jaccard's index with counts).

    Args:
        one: Counts.
        other: Counts.
        total: The sum of all counts of both.

    Returns:
        sum of minima / sum of maxima, 0 to 1; None where both are empty.
    """
    if not total:
        return None
    if len(other) < len(one):
        one, other = other, one
    shared = 0
    for key, count in one.items():
        there = other.get(key)
        if there is not None:
            shared += count if count < there else there
    # Maximum and minimum of two numbers add up to their sum.
    return shared / (total - shared)
