"""The Weisfeiler-Lehman subtree kernel of collaboration graphs.

Source: Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and Borgwardt, "Weisfeiler-Lehman
Graph Kernels", JMLR 12 (2011), section 3.2, definition 4.

A label of an iteration is a hash of 64 bits of the label before and of the multiset of the
neighbours' labels, not a number handed out while graphs are read. So a graph's features do
not depend on the others, and can be computed anywhere. Two different labels get one hash
with a chance below one in a million for ten million of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import ClassVar

import numpy
from numpy.typing import NDArray

from analytics.similarity.counts import products
from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, Outline, check_labels, outline
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph

ITERATIONS = 3
"""Rounds of relabelling: a label then speaks for three steps around its node."""
MOST_ITERATIONS = 100
DIRECTIONS = ("both", "out", "in", "undirected")
"""Whose labels refine a node's: those of the nodes that consumed its output (``out``), of
those whose output it consumed (``in``), of both kept apart, or of both as one multiset."""

# Odd, so that no bit is lost in a product.
_OWN, _BEFORE, _AFTER, _COUPLED = (
    numpy.uint64(int.from_bytes(blake2b(name, digest_size=8).digest(), "big") | 1)
    for name in (b"own", b"before", b"after", b"coupled")
)


@dataclass(frozen=True, slots=True)
class WeisfeilerLehmanFeatures:
    """How often each label occurs, over all iterations.

    Attributes:
        counts: By label (64 bits).
        norm: The kernel of the graph with itself.
    """

    counts: Mapping[int, int]
    norm: int


@dataclass(frozen=True)
class WeisfeilerLehmanMeasure(Configured):
    """k(G, G') / sqrt(k(G, G) k(G', G')), where k counts equal labels of all iterations.

    ``k(G, G') = sum over i = 0 .. iterations, over labels x, of c_i(G, x) c_i(G', x)``: the
    same number as GraKeL's WeisfeilerLehman(n_iter=iterations) over VertexHistogram. GraKeL
    reads an adjacency as it is given: a symmetric one is ``undirected`` here, one with
    entries (source, target) is ``out``. Couplings, which GraKeL does not know, add a multiset
    of their own where a graph has any; without them they change nothing.

    Attributes:
        iterations: 0 (labels alone) to 100.
        direction: One of :data:`DIRECTIONS`.
        labels: How nodes are labelled (:data:`analytics.similarity.outline.LABELS`).
        definitions: Raised whenever the value changes its meaning.
    """

    name: ClassVar[str] = "wl"

    iterations: int = ITERATIONS
    direction: str = "both"
    labels: str = DEFAULT_LABELS
    definitions: str = "1"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if self.direction not in DIRECTIONS:
            raise UsageError(
                f"there is no direction {self.direction!r}; "
                f"choose one of {', '.join(DIRECTIONS)}"
            )
        if not isinstance(self.iterations, int) or not 0 <= self.iterations <= MOST_ITERATIONS:
            raise UsageError(
                f"iterations must be a whole number from 0 to {MOST_ITERATIONS}, "
                f"not {self.iterations!r}"
            )

    def prepare(self, graph: CollaborationGraph) -> WeisfeilerLehmanFeatures:
        """Counts of the labels of all iterations."""
        seen = outline(graph, self.labels)
        found = node_labels(seen, self.iterations, self.direction)
        labels, counts = numpy.unique(numpy.concatenate(found), return_counts=True)
        return WeisfeilerLehmanFeatures(
            counts=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
            norm=int((counts * counts).sum()),
        )

    def obstacle(self, prepared: WeisfeilerLehmanFeatures) -> str | None:
        """Why the graph has no similarity, or None."""
        return None if prepared.norm else "it has no nodes"

    def kernel(self, one: WeisfeilerLehmanFeatures, other: WeisfeilerLehmanFeatures) -> int:
        """The kernel's value before it is normalized; at least 0."""
        left, right = one.counts, other.counts
        if len(right) < len(left):
            left, right = right, left
        return sum([count * right[key] for key, count in left.items() if key in right])

    def similarity(
        self, one: WeisfeilerLehmanFeatures, other: WeisfeilerLehmanFeatures
    ) -> float | None:
        """The normalized kernel, 0 to 1; None where a graph has no node."""
        if not one.norm or not other.norm:
            return None
        # sqrt(x * x) is x in IEEE arithmetic, so that a graph and itself give exactly 1.
        return min(1.0, self.kernel(one, other) / math.sqrt(float(one.norm) * other.norm))

    def matrix(
        self,
        ones: Sequence[WeisfeilerLehmanFeatures],
        others: Sequence[WeisfeilerLehmanFeatures] | None = None,
    ) -> NDArray[numpy.float64]:
        """All pairs; shape (n, m), NaN where not defined."""
        left = [row.counts for row in ones]
        right = None if others is None else [row.counts for row in others]
        values = products(left, right)
        norms = numpy.array([row.norm for row in ones], float)
        scales = norms if others is None else numpy.array([row.norm for row in others], float)
        for place, norm in enumerate(norms):
            scale = numpy.sqrt(norm * scales)
            row = values[place]
            numpy.divide(row, scale, out=row, where=scale > 0)
            row[scale == 0] = numpy.nan
        return numpy.minimum(values, 1.0, out=values)


def node_labels(
    seen: Outline, iterations: int, direction: str = "both"
) -> list[NDArray[numpy.uint64]]:
    """The label of each node after 0, 1, ... iterations.

    Args:
        seen: A graph.
        iterations: At least 0.
        direction: One of :data:`DIRECTIONS`.

    Returns:
        ``iterations + 1`` arrays of one hash a node.
    """
    current = numpy.array([_hash(label) for label in seen.labels], numpy.uint64)
    edges = numpy.array(seen.edges, numpy.int64).reshape(-1, 2)
    couplings = numpy.array(seen.couplings, numpy.int64).reshape(-1, 2)
    found = [current]
    for _ in range(iterations):
        current = _refined(current, edges, couplings, direction)
        found.append(current)
    return found


def _refined(
    labels: NDArray[numpy.uint64],
    edges: NDArray[numpy.int64],
    couplings: NDArray[numpy.int64],
    direction: str,
) -> NDArray[numpy.uint64]:
    """One iteration. A multiset's hash is the sum of its members': it knows no order.

    Labels spread evenly over 64 bits, so that sums and odd multiples of them do, too.
    """
    sources, targets = edges[:, 0], edges[:, 1]
    refined = labels * _OWN
    after = numpy.zeros_like(labels)
    if direction != "in":
        numpy.add.at(after, sources, labels[targets])
    before = numpy.zeros_like(labels) if direction == "both" else after
    if direction != "out":
        numpy.add.at(before, targets, labels[sources])
    refined += before * _BEFORE
    if direction == "both":
        refined += after * _AFTER
    if len(couplings):
        coupled = numpy.zeros_like(labels)
        numpy.add.at(coupled, couplings[:, 0], labels[couplings[:, 1]])
        numpy.add.at(coupled, couplings[:, 1], labels[couplings[:, 0]])
        refined += coupled * _COUPLED
    return _mixed(refined)


@lru_cache(maxsize=65_536)
def _hash(label: str) -> int:
    data = label.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def _mixed(values: NDArray[numpy.uint64]) -> NDArray[numpy.uint64]:
    """Spreads 64 bits over 64 bits, one to one (Steele, Lea and Flood 2014: SplitMix64)."""
    values = values + numpy.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return values ^ (values >> numpy.uint64(31))
