"""Which measure notices what: every quantity's response curve to controlled edits.

Source: ForestBench's perturbation studies (its edits are not public; ours are those of
:mod:`analytics.perturbation`). Intervals resample whole tasks, as in OpenMAS-GCom, appendix
B.6: runs of one task are not independent.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from analytics.forest_parts import information_uptake, topology_efficiency
from analytics.panel import METRICS, PanelConfiguration, evaluate_graph
from analytics.perturbation import EDITS, EditName, check_rate, checked_edit, perturb
from analytics.perturbation_result import (
    NO_CHANGE,
    PerturbationStudy,
    QuantityKind,
    Response,
    ResponsePoint,
    Verdict,
)
from analytics.similarity.measure import SimilarityMeasure
from analytics.statistics import BootstrapConfiguration, Interval, bootstrap_mean
from analytics.term_weights import term_cosines
from graphstore.errors import UsageError
from graphstore.listed import listed
from graphstore.model import CollaborationGraph

__all__ = [
    "DEFAULT_METRICS",
    "GraphResponse",
    "PerturbationConfiguration",
    "PerturbationStudy",
    "graph_response",
    "study_perturbations",
    "summarize_responses",
]

DEFAULT_RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
DEFAULT_METRICS = (
    "node_validity",
    "content_redundancy",
    "density",
    "reachable_pair_fraction",
    "average_path_length",
    "normalized_source_entropy",
    "information_uptake",
    "topology_efficiency",
)
"""The panel's metrics that are no count."""
BESIDE_THE_ROW: dict[str, Callable[[CollaborationGraph], float | None]] = {
    "information_uptake": lambda graph: information_uptake(graph, term_cosines).value,
    "topology_efficiency": lambda graph: topology_efficiency(graph).value,
}
"""Metrics of ForestBench's panel beside :class:`analytics.panel.PanelRow`; contents are
compared by term weights."""

_CERTAIN = ("truncate",)
"""Edits that leave nothing to chance: repeating them gives nothing new."""

Progress = Callable[[float, float | None, str], None]
Curve = tuple[float | None, ...]


@dataclass(frozen=True)
class PerturbationConfiguration:
    """How graphs are edited and responses summed up.

    Attributes:
        edits: Which edits.
        rates: Shares to edit, each above 0 and at most 1; put into ascending order. Rate 0,
            the graph itself, is always there.
        seed: Of the edits; not negative.
        repeats: Edits of each graph at each rate, with seeds of their own; their mean is the
            graph's value.
        metrics: Metrics of the panel to follow too (:data:`analytics.panel.METRICS` and
            :data:`BESIDE_THE_ROW`); for runs only.
        panel: The panel's options.
        bootstrap: How intervals are made.
    """

    edits: tuple[EditName, ...] = EDITS
    rates: tuple[float, ...] = DEFAULT_RATES
    seed: int = 0
    repeats: int = 3
    metrics: tuple[str, ...] = DEFAULT_METRICS
    panel: PanelConfiguration = field(default_factory=PanelConfiguration)
    bootstrap: BootstrapConfiguration = field(
        default_factory=lambda: BootstrapConfiguration(draws=2_000)
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "edits", tuple(dict.fromkeys(listed(self.edits))))
        object.__setattr__(self, "metrics", tuple(dict.fromkeys(listed(self.metrics))))
        for edit in self.edits:
            checked_edit(edit)
        for rate in self.rates:
            check_rate(rate)
        if not self.edits or not self.rates or 0.0 in self.rates:
            raise UsageError("a study needs at least one edit, and rates above 0")
        if self.repeats < 1:
            raise UsageError(f"repeats must be at least 1, not {self.repeats}")
        if self.seed < 0:
            raise UsageError(f"a seed cannot be negative: {self.seed}")
        known = (*METRICS, *BESIDE_THE_ROW)
        unknown = [name for name in self.metrics if name not in known]
        if unknown:
            raise UsageError(
                f"the panel has no metric {unknown[0]!r}; choose among {', '.join(known)}"
            )
        object.__setattr__(self, "rates", tuple(sorted({float(one) for one in self.rates})))

    def repeats_of(self, edit: str) -> int:
        """How often an edit is made anew: once where nothing is left to chance."""
        return 1 if edit in _CERTAIN else self.repeats


@dataclass(frozen=True, slots=True)
class GraphResponse:
    """How the quantities of one graph answer.

    Attributes:
        graph: Its id.
        task: Id of its task.
        changed: For each edit, the share that was edited at each rate (0 first), mean over
            repeats; None where the graph has nothing to edit.
        curves: For each quantity and edit its values at each rate, mean over the repeats
            that have one.
    """

    graph: str
    task: str
    changed: dict[str, Curve]
    curves: dict[tuple[str, str], Curve]


def graph_response(
    graph: CollaborationGraph,
    measures: Sequence[SimilarityMeasure],
    configuration: PerturbationConfiguration,
) -> GraphResponse:
    """Edits one graph in every way and measures what comes of it.

    Args:
        graph: A run or a decomposition.
        measures: Each of another name.
        configuration: Edits, rates, metrics.
    """
    originals = [measure.prepare(graph) for measure in measures]
    metrics = configuration.metrics if graph.kind == "run" else ()
    changed: dict[str, Curve] = {}
    curves: dict[tuple[str, str], Curve] = {}
    for edit in configuration.edits:
        repeats = configuration.repeats_of(edit)
        made = [
            perturb(graph, edit, rate, seed=configuration.seed * 1_000_003 + repeat)
            for rate in (0.0, *configuration.rates)
            for repeat in range(repeats)
        ]
        size = len(graph.edges) if edit == "rewire" else len(graph.nodes)
        changed[edit] = _means([one.changed / size if size else None for one in made], repeats)
        # At rate 0, and where an edit can change nothing, there is one graph to measure.
        edited = {one.graph.id: one.graph for one in made}
        order = [one.graph.id for one in made]
        for measure, original in zip(measures, originals, strict=True):
            row = measure.matrix([original], [measure.prepare(one) for one in edited.values()])
            known = dict(zip(edited, row[0].tolist(), strict=True))
            values = [known[name] if known[name] == known[name] else None for name in order]
            curves[measure.name, edit] = _means(values, repeats)
        found = {name: _metrics(one, metrics, configuration) for name, one in edited.items()}
        for metric in metrics:
            curves[metric, edit] = _means([found[name][metric] for name in order], repeats)
    return GraphResponse(graph.id, graph.task.id, changed, curves)


def _metrics(
    graph: CollaborationGraph, names: Sequence[str], configuration: PerturbationConfiguration
) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    row = None
    for name in names:
        if name in BESIDE_THE_ROW:
            values[name] = BESIDE_THE_ROW[name](graph)
            continue
        row = row or evaluate_graph(graph, configuration.panel)
        value = getattr(row, name)
        values[name] = None if value is None else float(value)
    return values


def _means(values: Sequence[float | None], repeats: int) -> Curve:
    found: list[float | None] = []
    for start in range(0, len(values), repeats):
        known = [value for value in values[start : start + repeats] if value is not None]
        found.append(math.fsum(known) / len(known) if known else None)
    return tuple(found)


def study_perturbations(
    graphs: Iterable[CollaborationGraph],
    measures: Sequence[SimilarityMeasure],
    configuration: PerturbationConfiguration | None = None,
    *,
    progress: Progress | None = None,
) -> PerturbationStudy:
    """Response curves over many graphs.

    Args:
        graphs: Runs or decompositions.
        measures: Similarity measures, each of another name. May be empty.
        configuration: Options; the defaults where None.
        progress: Receives the number of graphs done.

    Raises:
        UsageError: Two measures have one name.
    """
    options = configuration or PerturbationConfiguration()
    check_measures(measures)
    found = []
    for graph in graphs:
        found.append(graph_response(graph, measures, options))
        if progress is not None:
            progress(len(found), None, "")
    return summarize_responses(found, measures, options)


def check_measures(measures: Sequence[SimilarityMeasure]) -> None:
    """Raises a UsageError where two measures have one name."""
    names = [measure.name for measure in measures]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the measure {name} was given twice")


def summarize_responses(
    responses: Sequence[GraphResponse],
    measures: Sequence[SimilarityMeasure],
    configuration: PerturbationConfiguration,
) -> PerturbationStudy:
    """Means with intervals from the responses of single graphs, whatever their order.

    Args:
        responses: Of :func:`graph_response`, under the same measures and configuration.
        measures: As there.
        configuration: As there.
    """
    rows = sorted(responses, key=lambda one: one.graph)
    tasks = [one.task for one in rows]
    by_task = len(set(tasks)) > 1
    sources = tasks if by_task else None
    kinds: dict[str, QuantityKind] = {measure.name: "measure" for measure in measures}
    if any(
        (metric, edit) in one.curves
        for one in rows
        for metric in configuration.metrics
        for edit in configuration.edits
    ):
        kinds |= dict.fromkeys(configuration.metrics, "metric")
    return PerturbationStudy(
        configuration=_as_json(measures, configuration),
        graphs=len(rows),
        tasks=len(set(tasks)),
        resampled="task" if by_task else "graph",
        responses=tuple(
            _response(rows, quantity, kind, edit, sources, configuration)
            for quantity, kind in kinds.items()
            for edit in configuration.edits
        ),
    )


def _as_json(
    measures: Sequence[SimilarityMeasure], configuration: PerturbationConfiguration
) -> dict[str, Any]:
    return {
        "measures": [measure.configuration for measure in measures],
        **asdict(configuration),
    }


def _response(
    rows: Sequence[GraphResponse],
    quantity: str,
    kind: QuantityKind,
    edit: EditName,
    sources: Sequence[str] | None,
    configuration: PerturbationConfiguration,
) -> Response:
    rates = (0.0, *configuration.rates)
    curves = [one.curves.get((quantity, edit), (None,) * len(rates)) for one in rows]

    def mean(values: Sequence[float | None]) -> Interval:
        return bootstrap_mean(values, sources=sources, configuration=configuration.bootstrap)

    def between(first: int, last: int) -> Interval:
        return mean([_difference(curve[first], curve[last]) for curve in curves])

    points = []
    for place, rate in enumerate(rates):
        shares = [share for one in rows if (share := one.changed[edit][place]) is not None]
        points.append(
            ResponsePoint(
                rate=rate,
                changed=math.fsum(shares) / len(shares) if shares else None,
                value=mean([curve[place] for curve in curves]),
                step=between(place - 1, place) if place else None,
            )
        )
    change = between(0, len(rates) - 1)
    verdict = _verdict(curves, change)
    return Response(
        quantity, kind, edit, tuple(points), change, verdict, _steady(verdict, points)
    )


def _difference(first: float | None, last: float | None) -> float | None:
    return None if first is None or last is None else last - first


def _verdict(curves: Sequence[Curve], change: Interval) -> Verdict | None:
    moves = [
        abs(value - curve[0])
        for curve in curves
        if curve[0] is not None
        for value in curve
        if value is not None
    ]
    if change.estimate is None:
        return None
    if max(moves) <= NO_CHANGE:
        return "flat"
    if change.low is None or change.high is None:
        return None
    if change.high < -NO_CHANGE:
        return "falls"
    return "rises" if change.low > NO_CHANGE else "unclear"


def _steady(verdict: Verdict | None, points: Sequence[ResponsePoint]) -> bool | None:
    if verdict not in ("falls", "rises"):
        return None
    sign = 1.0 if verdict == "falls" else -1.0
    for point in points:
        if point.step is None or point.step.low is None or point.step.high is None:
            continue
        against = point.step.low if verdict == "falls" else point.step.high
        if sign * against > NO_CHANGE:
            return False
    return True
