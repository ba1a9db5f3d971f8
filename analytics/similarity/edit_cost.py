"""What a mapping of nodes costs as a path of edits, and bounds of the least such cost.

One model of costs for the alignment and for the edit distance: 1 for a node that is inserted,
deleted or given another label, 1 for an edge that is inserted or deleted. These are the costs
of networkx's graph_edit_distance with a node_match and nothing else. Couplings do not count.

In this model a cheapest path never deletes one node and inserts another: relabelling one into
the other costs less, and keeps at least as many edges. So every mapping here joins all nodes
of the smaller graph.
"""

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
from numpy.typing import NDArray

from analytics.similarity.outline import Outline

UNMATCHED = -1


@dataclass(frozen=True)
class Pairing:
    """Two graphs as arrays over one alphabet of labels.

    Attributes:
        one: A graph.
        other: Another.
    """

    one: Outline
    other: Outline

    @cached_property
    def labels(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """The number of each node's label."""
        number = {
            label: place
            for place, label in enumerate(sorted({*self.one.labels, *self.other.labels}))
        }
        return (
            numpy.array([number[label] for label in self.one.labels], numpy.int64),
            numpy.array([number[label] for label in self.other.labels], numpy.int64),
        )

    @cached_property
    def edges(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """Shape (edges, 2) each."""
        return (
            numpy.array(self.one.edges, numpy.int64).reshape(-1, 2),
            numpy.array(self.other.edges, numpy.int64).reshape(-1, 2),
        )

    @cached_property
    def degrees(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """Shape (nodes, 2) each: edges that leave a node, and that reach it."""
        return (
            _degrees(self.edges[0], len(self.one.labels)),
            _degrees(self.edges[1], len(self.other.labels)),
        )

    @cached_property
    def edge_keys(self) -> NDArray[numpy.int64]:
        """The edges of the other graph as single numbers, ascending."""
        edges = self.edges[1]
        return edges[:, 0] * max(1, len(self.other.labels)) + edges[:, 1]

    @cached_property
    def contents(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
        """The number of each node's content, -1 where it is not known."""
        number = {"": -1}
        texts = [
            graph.contents or ("",) * len(graph.labels) for graph in (self.one, self.other)
        ]
        for text in itertools.chain(*texts):
            number.setdefault(text, len(number))
        one, other = (
            numpy.array([number[text] for text in part], numpy.int64) for part in texts
        )
        return one, other

    def reworded(
        self, rows: NDArray[numpy.int64], columns: NDArray[numpy.int64]
    ) -> NDArray[numpy.bool_]:
        """Where both contents are known and differ."""
        one, other = self.contents[0][rows], self.contents[1][columns]
        differ: NDArray[numpy.bool_] = (one >= 0) & (other >= 0) & (one != other)
        return differ

    @property
    def size(self) -> int:
        """The cost of deleting one graph and inserting the other: the largest cost."""
        return sum(len(graph.labels) + len(graph.edges) for graph in (self.one, self.other))

    def has_edges(
        self, sources: NDArray[numpy.int64], targets: NDArray[numpy.int64]
    ) -> NDArray[numpy.bool_]:
        """Whether the other graph has edges between these nodes; never where one is missing."""
        keys = self.edge_keys
        if not len(keys):
            return numpy.zeros(len(sources), bool)
        wanted = sources * len(self.other.labels) + targets
        places = numpy.minimum(numpy.searchsorted(keys, wanted), len(keys) - 1)
        found: NDArray[numpy.bool_] = (keys[places] == wanted) & (sources >= 0) & (targets >= 0)
        return found

    def kept_edges(self, mapping: NDArray[numpy.int64]) -> NDArray[numpy.bool_]:
        """Which edges of the first graph the mapping keeps."""
        mapped = mapping[self.edges[0]]
        return self.has_edges(mapped[:, 0], mapped[:, 1])

    def cost(self, mapping: NDArray[numpy.int64]) -> int:
        """The number of edits that a mapping implies.

        Args:
            mapping: For each node of the first graph its counterpart, or UNMATCHED.
        """
        here, there = self.labels
        places = numpy.flatnonzero(mapping >= 0)
        relabelled = int((here[places] != there[mapping[places]]).sum())
        edges = len(self.edges[0]) + len(self.edges[1])
        kept = int(self.kept_edges(mapping).sum())
        return relabelled + len(here) + len(there) - 2 * len(places) + edges - 2 * kept


def _degrees(edges: NDArray[numpy.int64], nodes: int) -> NDArray[numpy.int64]:
    counts: NDArray[numpy.int64] = numpy.stack(
        [numpy.bincount(edges[:, side], minlength=nodes) for side in (0, 1)], axis=1
    )
    return counts


def counting_bound(pairing: Pairing) -> int:
    """At most the edit distance: what sizes and labels alone make necessary."""
    one, other = pairing.one, pairing.other
    shared = sum((Counter(one.labels) & Counter(other.labels)).values())
    nodes = max(len(one.labels), len(other.labels)) - shared
    return nodes + abs(len(one.edges) - len(other.edges))


def branch_bound(pairing: Pairing) -> int:
    """At most the edit distance: the cheapest assignment of nodes with halves of their edges.

    Source: Blumenthal and Gamper, "Improved lower bounds for graph edit distance", IEEE TKDE
    30 (2018), BRANCH, with edges that have a direction and no label. Time and room grow with
    the product of the sizes.
    """
    from scipy.optimize import linear_sum_assignment

    (here, there), (near, far) = pairing.labels, pairing.degrees
    costs = (here[:, None] != there[None, :]).astype(float)
    for side in (0, 1):
        costs += numpy.abs(near[:, side, None] - far[None, :, side]) / 2
    alone = 1 + near.sum(axis=1) / 2, 1 + far.sum(axis=1) / 2
    rows, columns = linear_sum_assignment(costs - alone[0][:, None] - alone[1][None, :])
    total: Any = (
        alone[0].sum()
        + alone[1].sum()
        + (costs[rows, columns] - alone[0][rows] - alone[1][columns]).sum()
    )
    # Half-integers are exact; the distance is whole.
    return max(int(numpy.ceil(total)), counting_bound(pairing))
