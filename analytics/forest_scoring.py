"""How close a graph is to those that worked.

Source: ForestBench (forest match, best similarity); see :mod:`analytics.forest_panel`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from analytics.forest import ForestSet, ReferenceForest, forest_match
from analytics.forest_copies import glance, signature
from analytics.forest_keys import Level, checked_levels, identity_at
from analytics.positions import Positions
from analytics.similarity.forest import ForestMeasure, ForestReferences
from graphstore.model import CollaborationGraph


@dataclass(frozen=True, slots=True)
class ForestScore:
    """How close a graph is to those that worked. All None where there is no forest for it.

    Attributes:
        forest: Id of the forest.
        level: What it pools.
        references: Number of references that the graph was compared with.
        match: Forest match, 0 to 1.
        node_match: The same sum over s_node alone, where the measure is ForestBench's.
        edge_match: Over s_edge.
        topology_match: Over s_topo.
        best_similarity: To the nearest reference, 0 to 1.
        best_reference: Its id; the smallest one in a tie.
        percentile: Share of the successes whose own match is lower, 0 to 1.
        threshold: Matches from here on are high.
        near_copies: Whether the forest's successes are all alike.
    """

    forest: str | None = None
    level: Level | None = None
    references: int | None = None
    match: float | None = None
    node_match: float | None = None
    edge_match: float | None = None
    topology_match: float | None = None
    best_similarity: float | None = None
    best_reference: str | None = None
    percentile: float | None = None
    threshold: float | None = None
    near_copies: bool | None = None


class ForestScorer:
    """Compares graphs with a set of forests; references are prepared once.

    Args:
        forests: The forests.
        graphs: Those that :attr:`analytics.forest.ReferenceForest.graph_ids` name. One that
            is missing is left out of its forest, and named in ``missing``.
        levels: The levels to use, whatever their order; all where None.

    Attributes:
        levels: The levels that are used, in the order in which they are tried.
        missing: Ids of the graphs that are not there.
    """

    def __init__(
        self,
        forests: ForestSet,
        graphs: Iterable[CollaborationGraph],
        levels: Iterable[Level] | Level | None = None,
    ) -> None:
        self.forests = forests
        self.measure = forests.configuration.make_measure()
        self._features = {graph.id: self.measure.prepare(graph) for graph in graphs}
        self._by_key = {one.key.identity: one for one in forests.forests}
        self._ids = {name: forests.forest_id(one.key) for name, one in self._by_key.items()}
        self._for_strangers: dict[tuple[str, ...], _Comparison] = {}
        self.levels = checked_levels(levels)
        wanted = {name for one in forests.forests for name in one.graph_ids}
        self.missing = tuple(sorted(wanted - set(self._features)))

    def forest_for(
        self, graph: CollaborationGraph
    ) -> tuple[ReferenceForest, tuple[tuple[str, float], ...]] | None:
        """The nearest forest that has anything to compare a graph with, and what that is.

        Args:
            graph: It is never compared with itself
                (:meth:`analytics.forest.ReferenceForest.references_for`).
        """
        found = self._nearest(graph)
        return None if found is None else (found.forest, found.left)

    def score(
        self, graph: CollaborationGraph, positions: Positions | None = None
    ) -> ForestScore:
        """How close a graph is to the forest nearest to it (ForestBench, FM and best).

        FM(G, F) = sum_k w_k sim(G, G_k) / sum_k w_k; the best similarity is the largest.

        Args:
            graph: A run or a decomposition.
            positions: Of this graph, where they have been read; read here where None.
        """
        found = self._nearest(graph)
        if found is None:
            return ForestScore()
        forest, weights = found.forest, found.weights
        node = edge = topology = None
        if isinstance(self.measure, ForestMeasure):
            columns = self.measure.beside(
                self.measure.prepare(graph, positions), found.references
            )
            similarities = columns.similarity
            node = forest_match(columns.node, weights)
            edge = forest_match(columns.edge, weights)
            topology = forest_match(columns.topology, weights)
        else:
            features = self.measure.prepare(graph)
            similarities = self.measure.matrix([features], found.references)[0].tolist()
        match = forest_match(similarities, weights)
        known = similarities
        if math.isnan(sum(similarities)):
            known = [value for value in similarities if not math.isnan(value)]
        best = max(known, default=None)
        nearest = min(
            [
                name
                for value, name in zip(similarities, found.names, strict=True)
                if value == best
            ],
            default=None,
        )
        return ForestScore(
            forest=self._ids[forest.key.identity],
            level=forest.key.level,
            references=len(weights),
            match=match,
            node_match=node,
            edge_match=edge,
            topology_match=topology,
            best_similarity=best,
            best_reference=nearest,
            percentile=forest.percentile(match),
            threshold=forest.threshold,
            near_copies=forest.near_copies,
        )

    def _nearest(self, graph: CollaborationGraph) -> "_Comparison | None":
        for level in self.levels:
            identity = identity_at(graph, level)
            forest = None if identity is None else self._by_key.get(identity)
            if identity is None or forest is None:
                continue
            comparison = self._for_strangers.get(identity)
            if comparison is None:
                comparison = self._for_strangers[identity] = self._comparison(forest, "", None)
            if glance(graph) in forest.glances or forest.names(graph.id):
                comparison = self._without(graph, comparison)
            if comparison.left:
                return comparison
        return None

    def _without(self, graph: CollaborationGraph, whole: "_Comparison") -> "_Comparison":
        """What is left of a forest for a graph that may be a part of it."""
        left = whole.forest.references_for(graph.id, signature(graph))
        if [name for name, _ in left] != whole.names:
            return self._comparison(whole.forest, graph.id, signature(graph))
        return replace(whole, left=left, weights=[weight for _, weight in left])

    def _comparison(
        self, forest: ReferenceForest, graph: str, signature: str | None
    ) -> "_Comparison":
        """What a graph is compared with (:meth:`ReferenceForest.references_for`)."""
        left = tuple(
            one for one in forest.references_for(graph, signature) if one[0] in self._features
        )
        features = [self._features[name] for name, _ in left]
        return _Comparison(
            forest=forest,
            left=left,
            names=[name for name, _ in left],
            weights=[weight for _, weight in left],
            references=(
                ForestReferences(features)
                if isinstance(self.measure, ForestMeasure)
                else features
            ),
        )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A forest's references, laid out for comparing.

    Attributes:
        forest: The forest.
        left: Ids of the references, with weights.
        names: These ids alone.
        weights: These weights alone.
        references: What the measure compares with.
    """

    forest: ReferenceForest
    left: tuple[tuple[str, float], ...]
    names: list[str]
    weights: list[float]
    references: Any
