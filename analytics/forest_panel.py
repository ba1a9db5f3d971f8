"""The panel of a run beside those that worked: ForestBench's seven parts, each for itself.

Forest match and best similarity come from :class:`ForestScorer`; node validity and content
redundancy from :mod:`analytics.redundancy`; information uptake and topology efficiency from
:mod:`analytics.forest_parts`; tokens are reported beside them.

Source: "ForestBench: A Unified Graph Framework for Evaluating Multi-Agent Collaboration"; what
it leaves open is said where it is chosen.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from analytics.diagnosis import diagnose
from analytics.forest import (
    LEVELS,
    ForestSet,
    Level,
    ReferenceForest,
    forest_match,
    identity_at,
)
from analytics.forest_copies import glance, signature
from analytics.forest_parts import (
    Cosines,
    information_uptake,
    topology_efficiency,
)
from analytics.panel import (
    METRICS,
    Evaluation,
    PanelConfiguration,
    PanelRow,
    panel_values,
)
from analytics.positions import Positions
from analytics.similarity.forest import ForestMeasure, ForestReferences
from graphstore.errors import UsageError
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
        levels: Iterable[Level] | None = None,
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


def checked_levels(levels: Iterable[Level] | None) -> tuple[Level, ...]:
    """Levels in the order in which they are tried; all where None.

    Raises:
        UsageError: There is no such level.
    """
    wanted = set(LEVELS if levels is None else levels)
    unknown = sorted(wanted - set(LEVELS))
    if unknown:
        raise UsageError(f"there is no level {unknown[0]!r}; choose among {', '.join(LEVELS)}")
    return tuple(level for level in LEVELS if level in wanted)


@dataclass(frozen=True)
class ForestPanelConfiguration(PanelConfiguration):
    """What a panel with forests depends on besides the run.

    Attributes:
        embedder: Name of what embeds contents; None where uptake is not measured.
        forest_set: Id of the forests (:attr:`analytics.forest.ForestSet.id`); None without.
        forest_levels: The levels that may be used.
    """

    embedder: str | None = None
    forest_set: str | None = None
    forest_levels: tuple[Level, ...] = LEVELS

    def __post_init__(self) -> None:
        PanelConfiguration.__post_init__(self)
        object.__setattr__(self, "forest_levels", checked_levels(self.forest_levels))


def panel_configuration(
    configuration: PanelConfiguration | None,
    embedder: str | None,
    scorer: ForestScorer | None,
) -> ForestPanelConfiguration:
    """The configuration of a panel with what was chosen beside it.

    Args:
        configuration: The panel's own options; the defaults where None.
        embedder: Name of what embeds contents.
        scorer: What knows the forests.
    """
    options = configuration or PanelConfiguration()
    return ForestPanelConfiguration(
        **{one.name: getattr(options, one.name) for one in fields(PanelConfiguration)},
        embedder=embedder,
        forest_set=None if scorer is None else scorer.forests.id,
        forest_levels=LEVELS if scorer is None else scorer.levels,
    )


@dataclass(frozen=True, slots=True)
class ForestPanelRow(PanelRow):
    """The metrics of one run, with those beside the ways that work.

    Attributes:
        information_uptake: :func:`analytics.forest_parts.information_uptake`.
        uptake_edges: Edges that it rests on; None where it was not asked for.
        parallelism: :func:`analytics.forest_parts.topology_efficiency`.
        topology_efficiency: Likewise.
        forest: As in :class:`ForestScore`, and so are all that follow.
        forest_level: What the forest pools.
        forest_references: References that the run was compared with.
        forest_match: 0 to 1.
        forest_node_match: 0 to 1.
        forest_edge_match: 0 to 1.
        forest_topology_match: 0 to 1.
        best_similarity: 0 to 1.
        best_reference: Id of the nearest reference.
        forest_match_percentile: Among the forest's own successes, 0 to 1.
        forest_threshold: 0 to 1.
        forest_near_copies: Whether the forest's successes are all alike.
        diagnosis: :func:`analytics.diagnosis.diagnose`.
    """

    information_uptake: float | None = None
    uptake_edges: int | None = None
    parallelism: float | None = None
    topology_efficiency: float | None = None
    forest: str | None = None
    forest_level: str | None = None
    forest_references: int | None = None
    forest_match: float | None = None
    forest_node_match: float | None = None
    forest_edge_match: float | None = None
    forest_topology_match: float | None = None
    best_similarity: float | None = None
    best_reference: str | None = None
    forest_match_percentile: float | None = None
    forest_threshold: float | None = None
    forest_near_copies: bool | None = None
    diagnosis: str | None = None


_TEXTS = ("forest", "forest_level", "best_reference", "diagnosis")
FOREST_METRICS: tuple[str, ...] = tuple(
    field.name
    for field in fields(ForestPanelRow)
    if field.name not in {one.name for one in fields(PanelRow)} and field.name not in _TEXTS
)
"""The further fields of a row that a method's mean is taken of."""


@dataclass(frozen=True, repr=False)
class ForestEvaluation(Evaluation):
    """The panel of many runs beside the ways that work.

    Attributes:
        configuration: A :class:`ForestPanelConfiguration`.
        rows: One :class:`ForestPanelRow` for each run, in the order in which they came.
        missing_references: References that the forests name and that were not there.
    """

    row_type: ClassVar[type[PanelRow]] = ForestPanelRow
    metrics: ClassVar[tuple[str, ...]] = METRICS + FOREST_METRICS

    missing_references: tuple[str, ...] = ()

    @property
    def compared(self) -> int:
        """Number of runs that were compared with a forest."""
        return sum(getattr(row, "forest", None) is not None for row in self.rows)

    def _in_short(self) -> str:
        return f"{super()._in_short()}, {self.compared:,} beside a forest"


def forest_row(
    graph: CollaborationGraph,
    configuration: PanelConfiguration | None = None,
    *,
    cosines: Cosines | None = None,
    scorer: ForestScorer | None = None,
) -> ForestPanelRow:
    """The metrics of one run.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.
        cosines: What compares contents, for information uptake; missing without.
        scorer: For what needs a forest; missing without.

    Raises:
        UsageError: The graph is a decomposition: nobody has acted in it yet.
    """
    read = Positions(graph)
    values = panel_values(graph, configuration, positions=read)
    uptake = None if cosines is None else information_uptake(graph, cosines)
    efficiency = topology_efficiency(graph, read)
    score = ForestScore() if scorer is None else scorer.score(graph, read)
    return ForestPanelRow(
        **values,
        information_uptake=None if uptake is None else uptake.value,
        uptake_edges=None if uptake is None else uptake.edges,
        parallelism=efficiency.parallelism,
        topology_efficiency=efficiency.value,
        forest=score.forest,
        forest_level=score.level,
        forest_references=score.references,
        forest_match=score.match,
        forest_node_match=score.node_match,
        forest_edge_match=score.edge_match,
        forest_topology_match=score.topology_match,
        best_similarity=score.best_similarity,
        best_reference=score.best_reference,
        forest_match_percentile=score.percentile,
        forest_threshold=score.threshold,
        forest_near_copies=score.near_copies,
        diagnosis=diagnose(graph.outcome.success, score.match, score.threshold),
    )


def evaluate_beside_forests(
    graphs: Iterable[CollaborationGraph],
    configuration: ForestPanelConfiguration,
    *,
    cosines: Cosines | None = None,
    scorer: ForestScorer | None = None,
) -> ForestEvaluation:
    """The metrics of many runs; the runs are taken one by one and not kept.

    Args:
        graphs: Runs.
        configuration: Options; they must name what embeds contents and the forests.
        cosines: As in :func:`forest_row`.
        scorer: Likewise.
    """
    rows = tuple(
        [forest_row(graph, configuration, cosines=cosines, scorer=scorer) for graph in graphs]
    )
    return ForestEvaluation(configuration, rows, () if scorer is None else scorer.missing)
