"""ForestBench's sum: how alike two graphs are in their nodes, edges and proportions.

Source: "ForestBench: A Unified Graph Framework for Evaluating Multi-Agent Collaboration",
sim(G, G') = alpha s_node + beta s_edge + gamma s_topo. Its constants and the exact form of
the three parts are not public; those here are ours, named, and stored with every result.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

from analytics.positions import Positions
from analytics.similarity.bit_counts import BitCounts, shared_count
from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, LABELS, check_labels
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


_Sizes = tuple[int, int, int, int]


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
    sizes: _Sizes


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
    definitions: str = "2"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        weights = (self.alpha, self.beta, self.gamma)
        if not all(0 <= weight < float("inf") for weight in weights) or not any(weights):
            raise UsageError(
                "alpha, beta and gamma must be finite numbers of at least 0, one of them above"
            )

    def prepare(
        self, graph: CollaborationGraph, positions: Positions | None = None
    ) -> ForestFeatures:
        """Counts of labels and of pairs, and sizes.

        Args:
            graph: A run or a decomposition.
            positions: Of this graph, where they have been read; read here where None.
        """
        read = positions or Positions(graph)
        labels = LABELS[self.labels](graph.nodes)
        ends = zip(read.sources, read.targets, strict=True)
        edges: Counter[tuple[str, ...]] = Counter(
            [(labels[source], labels[target]) for source, target in ends]
        )
        for pair in graph.couplings:
            first, second = sorted(
                (labels[read.index[pair.source]], labels[read.index[pair.target]])
            )
            edges[first, COUPLING, second] += 1
        return ForestFeatures(
            nodes=Counter(labels),
            edges=edges,
            sizes=(
                len(labels),
                len(read.sources) + len(graph.couplings),
                read.depth,
                read.width,
            ),
        )

    def obstacle(self, prepared: ForestFeatures) -> str | None:
        """Why the graph has no similarity, or None."""
        return None if prepared.sizes[0] else "it has no nodes"

    def parts(self, one: ForestFeatures, other: ForestFeatures) -> ForestParts:
        """The three parts for two prepared graphs; all None where one has no nodes."""
        if not one.sizes[0] or not other.sizes[0]:
            return ForestParts(None, None, None)
        return ForestParts(
            node=overlap(one.nodes, other.nodes, one.sizes[0] + other.sizes[0]),
            edge=overlap(one.edges, other.edges, one.sizes[1] + other.sizes[1]),
            topology=_mean_ratio(one.sizes, other.sizes),
        )

    def combine(
        self, node: float | None, edge: float | None, topology: float | None
    ) -> float | None:
        """The weighted mean of the parts that are defined; None where no weight is left."""
        total = weights = 0.0
        if node is not None:
            total += self.alpha * node
            weights += self.alpha
        if edge is not None:
            total += self.beta * edge
            weights += self.beta
        if topology is not None:
            total += self.gamma * topology
            weights += self.gamma
        return total / weights if weights else None

    def similarity(self, one: ForestFeatures, other: ForestFeatures) -> float | None:
        """The sum for two prepared graphs, 0 to 1; None where one has no nodes."""
        parts = self.parts(one, other)
        return self.combine(parts.node, parts.edge, parts.topology)

    def beside(self, one: ForestFeatures, references: "ForestReferences") -> "ForestColumns":
        """The parts and the sum for one prepared graph and each of several references."""
        node, edge, topology = parts = references.parts(one)
        weights = self.alpha + self.beta + self.gamma
        sums = [
            (self.alpha * here + self.beta * there + self.gamma * shape) / weights
            for here, there, shape in zip(*parts, strict=True)
        ]
        if math.isnan(sum(sums)):
            # Somewhere a part is not defined: its weight falls away.
            sums = [
                _nan(self.combine(*[None if math.isnan(value) else value for value in values]))
                for values in zip(*parts, strict=True)
            ]
        return ForestColumns(node, edge, topology, sums)

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
        result[left[:, 0] == 0] = numpy.nan
        result[:, right[:, 0] == 0] = numpy.nan
        return result


@dataclass(frozen=True, slots=True)
class ForestColumns:
    """One graph beside several references; one entry a reference, NaN where not defined.

    Attributes:
        node: As in :class:`ForestParts`.
        edge: Likewise.
        topology: Likewise.
        similarity: The sum.
    """

    node: list[float]
    edge: list[float]
    topology: list[float]
    similarity: list[float]


class ForestReferences:
    """Several prepared graphs, laid out so that one more is compared with all at once.

    Args:
        features: What :meth:`ForestMeasure.prepare` made of them.
    """

    def __init__(self, features: Sequence[ForestFeatures]) -> None:
        self._nodes = BitCounts([one.nodes for one in features])
        self._edges = BitCounts([one.edges for one in features])
        self._ratios = _Ratios([one.sizes for one in features])
        self._node_sums = [one.sizes[0] for one in features]
        self._edge_sums = [one.sizes[1] for one in features]
        self._all_have_nodes = all(self._node_sums)

    def parts(self, one: ForestFeatures) -> tuple[list[float], list[float], list[float]]:
        """s_node, s_edge and s_topo for each reference; NaN where not defined."""
        found = (
            _overlaps(self._nodes.shared(one.nodes), one.sizes[0], self._node_sums),
            _overlaps(self._edges.shared(one.edges), one.sizes[1], self._edge_sums),
            self._ratios.mean(one.sizes),
        )
        if one.sizes[0] and self._all_have_nodes:
            return found
        for values in found:
            for place, nodes in enumerate(self._node_sums):
                if not one.sizes[0] or not nodes:
                    values[place] = math.nan
        return found


def _overlaps(shared: list[int], size: int, sizes: list[int]) -> list[float]:
    """Shared over all, as in :func:`overlap`, for each reference; NaN where both are empty."""
    return [
        both / (size + there - both) if size or there else math.nan
        for both, there in zip(shared, sizes, strict=True)
    ]


class _Ratios:
    """s_topo for each reference; what one size gives with all of theirs is remembered."""

    def __init__(self, references: Sequence[_Sizes]) -> None:
        self._references = references
        self._of = [
            lru_cache(maxsize=1024)(partial(_ratios, [sizes[place] for sizes in references]))
            for place in range(4)
        ]

    def mean(self, ones: _Sizes) -> list[float]:
        """The mean ratio for each reference; NaN where not defined."""
        if not all(ones):
            return [_nan(_mean_ratio(ones, others)) for others in self._references]
        # All four are compared, whatever the references have.
        nodes, edges, depth, width = self._of
        return [
            (one + two + three + four) / 4
            for one, two, three, four in zip(
                nodes(ones[0]), edges(ones[1]), depth(ones[2]), width(ones[3]), strict=True
            )
        ]


def _ratios(theirs: Sequence[int], size: int) -> list[float]:
    """Smaller over larger of a size above 0 and each of theirs."""
    return [size / other if size < other else other / size for other in theirs]


def _mean_ratio(ones: Sequence[int], others: Sequence[int]) -> float | None:
    """s_topo: the mean of smaller over larger, of the sizes that one of the two has."""
    ratios = 0.0
    known = 0
    for here, there in zip(ones, others, strict=True):
        if here or there:
            ratios += here / there if here < there else there / here
            known += 1
    return ratios / known if known else None


def _nan(value: float | None) -> float:
    return math.nan if value is None else value


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
    shared = shared_count(one, other)
    # Maximum and minimum of two numbers add up to their sum.
    return shared / (total - shared)
