"""The panel of a run beside those that worked: ForestBench's seven parts, each for itself.

Forest match and best similarity come from :mod:`analytics.forest_scoring`; node validity and
content redundancy from :mod:`analytics.redundancy`; information uptake and topology efficiency
from :mod:`analytics.forest_parts`; tokens are reported beside them.

Source: "ForestBench: A Unified Graph Framework for Evaluating Multi-Agent Collaboration"; what
it leaves open is said where it is chosen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import ClassVar

from analytics.diagnosis import diagnose
from analytics.forest_keys import LEVELS, Level, checked_levels
from analytics.forest_parts import Cosines, information_uptake, topology_efficiency
from analytics.forest_scoring import ForestScore, ForestScorer
from analytics.panel import METRICS, Evaluation, PanelConfiguration, PanelRow, panel_values
from analytics.positions import Positions
from graphstore.model import CollaborationGraph


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
