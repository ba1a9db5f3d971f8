"""Methods side by side on the tasks that they share, and what can be concluded from it.

Source: OpenMAS-GCom, appendix B.6 (common tasks, resampled; tasks of one source together),
A.8 (what an uncertainty is) and section 4.I (operating points of score and tokens). What one
pair of methods may be compared on, and what speaks against it, is said for each pair.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

from analytics.averages import LARGEST, mean, refuse_huge
from analytics.comparability import (
    Caution,
    ComparedRun,
    cautions_of,
    missing_values,
    without_conflicts,
)
from analytics.corrections import CORRECTIONS, Correction, adjust
from analytics.interventions_controls import recorded_controls, recorded_seed
from analytics.paired_scores import TIE, PairedComparison, compare_pair, mean_by_task
from analytics.panel import METRICS, PanelConfiguration, PanelRow, evaluate_graph
from analytics.pareto import OperatingPoint, ParetoFront, pareto_front
from analytics.statistics import BootstrapConfiguration
from analytics.uncertainty import Uncertainty, from_seeds, from_task_count
from graphstore.errors import NotFoundError, UsageError
from graphstore.identity import configuration_hash
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas

Grouping = Literal["task", "source", "dataset", "category"]
GROUPINGS: tuple[str, ...] = get_args(Grouping)

OUTCOMES = ("success", "score", "tokens", "latency", "cost")
"""What a run reached and used; ``tokens`` is what was read and what was written."""
DIRECTIONS: Mapping[str, bool | None] = {
    "success": True,
    "score": True,
    "tokens": False,
    "tokens_in": False,
    "tokens_out": False,
    "latency": False,
    "cost": False,
}
"""Whether higher is better; a metric that is not named here is better at neither end."""
COMPARABLE_METRICS: tuple[str, ...] = tuple(dict.fromkeys((*OUTCOMES, *METRICS)))
DEFAULT_METRICS = (
    "success",
    "score",
    "tokens",
    "density",
    "reachable_pair_fraction",
    "average_path_length",
    "normalized_source_entropy",
    "node_validity",
    "content_redundancy",
)


@dataclass(frozen=True)
class ComparisonConfiguration:
    """How methods are compared.

    Attributes:
        metrics: Of :data:`COMPARABLE_METRICS`, each once.
        reference: Every other method is compared with this one; all pairs where None.
        grouping: What is resampled: each ``task``, or all tasks of one ``source`` (group),
            ``dataset`` or ``category`` together.
        correction: For the number of pairs times metrics.
        require_all: A task has no value where one of its runs has none.
        tie: Absolute difference up to which two values are tied.
        bootstrap: Of the intervals.
        panel: Of the structural metrics.
    """

    metrics: tuple[str, ...] = DEFAULT_METRICS
    reference: str | None = None
    grouping: Grouping = "task"
    correction: Correction = "holm"
    require_all: bool = False
    tie: float = TIE
    bootstrap: BootstrapConfiguration = field(default_factory=BootstrapConfiguration)
    panel: PanelConfiguration = field(default_factory=PanelConfiguration)

    def __post_init__(self) -> None:
        # Named twice, a metric would count twice in the correction for many tests.
        object.__setattr__(self, "metrics", tuple(dict.fromkeys(self.metrics)))
        unknown = [name for name in self.metrics if name not in COMPARABLE_METRICS]
        if unknown or not self.metrics:
            raise UsageError(
                f"there is no metric {unknown[0]!r}; "
                f"choose from {', '.join(COMPARABLE_METRICS)}"
                if unknown
                else "a comparison needs at least one metric"
            )
        if self.grouping not in GROUPINGS:
            raise UsageError(
                f"tasks are not grouped by {self.grouping!r}; choose one of "
                f"{', '.join(GROUPINGS)}"
            )
        if self.correction not in CORRECTIONS:
            raise UsageError(
                f"there is no correction {self.correction!r}; "
                f"choose one of {', '.join(CORRECTIONS)}"
            )
        if not 0.0 <= self.tie <= LARGEST:
            raise UsageError(f"the width of a tie is a number from 0 on, not {self.tie}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class MethodEntry:
    """One method of a comparison, by itself.

    Attributes:
        method: Its name.
        runs: Number of its runs.
        tasks: Number of its tasks.
        means: By metric, over its tasks (each task counts alike); None where none is known.
        known: Number of tasks behind each mean.
        known_runs: Number of runs behind each mean.
        success_rate: In percent, with the uncertainty that the runs allow and its code.
    """

    method: str
    runs: int
    tasks: int
    means: Mapping[str, float | None]
    known: Mapping[str, int]
    known_runs: Mapping[str, int]
    success_rate: Uncertainty


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two methods under one metric.

    Attributes:
        metric: Its name.
        comparison: The paired comparison.
        adjusted: Its randomization test's p-value, corrected for all pairs and metrics.
        missing: ``3 of 9 runs of NAME`` for each method that lacks values on common tasks.
    """

    metric: str
    comparison: PairedComparison
    adjusted: float | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class MethodComparison(TableView):
    """Two methods, or many, side by side.

    Attributes:
        configuration: What it was made with.
        methods: Each by itself, in the order asked for.
        pairs: Each comparable pair under each metric.
        pareto: The front of score (success where no method has a score) and tokens.
        pareto_score: Which of the two it is; None where neither is known.
        cautions: What the comparison cannot show, and which pairs it left out.
        left_out: Run ids by the reason for which they were left out.
    """

    configuration: ComparisonConfiguration
    methods: tuple[MethodEntry, ...]
    pairs: tuple[ComparedPair, ...]
    pareto: ParetoFront
    pareto_score: str | None
    cautions: tuple[Caution, ...]
    left_out: Mapping[str, tuple[str, ...]]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def _in_short(self) -> str:
        comparisons = counted(len(self.pairs), "comparison")
        return f"{counted(len(self.methods), 'method')}, {comparisons}"

    def conclusions(self) -> tuple[str, ...]:
        """Plain sentences: what each pair shows under each metric, and what it does not."""
        return tuple(
            f"{pair.metric.replace('_', ' ')}: {pair.comparison.conclusion}"
            + _corrected(pair, self.configuration)
            + _incomplete(pair)
            for pair in self.pairs
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "methods": [
                {
                    "method": one.method,
                    "runs": one.runs,
                    "tasks": one.tasks,
                    "means": dict(one.means),
                    "known": dict(one.known),
                    "known_runs": dict(one.known_runs),
                    "success_rate": one.success_rate.score,
                    "success_rate_uncertainty": one.success_rate.value,
                    "uncertainty_code": (
                        None if one.success_rate.value is None else one.success_rate.code
                    ),
                }
                for one in self.methods
            ],
            "pairs": [
                {**_pair_row(pair), "conclusion": sentence}
                for pair, sentence in zip(self.pairs, self.conclusions(), strict=True)
            ],
            "pareto": {
                "score": self.pareto_score,
                "points": [asdict(point) for point in self.pareto.points],
                "front": list(self.pareto.front),
                "dominated_by": {
                    name: list(by) for name, by in self.pareto.dominated_by.items()
                },
                "left_out": list(self.pareto.left_out),
            },
            "cautions": [asdict(caution) for caution in self.cautions],
            "left_out": {reason: list(runs) for reason, runs in self.left_out.items()},
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line for each pair and metric."""
        import pandas

        rows = [_pair_row(pair) for pair in self.pairs]
        return pandas.DataFrame(
            {
                name: pandas.Series([row[name] for row in rows], dtype=kind)
                for name, kind in _PAIR_COLUMNS.items()
            }
        )


_PAIR_COLUMNS = {
    "metric": "string",
    "first": "string",
    "second": "string",
    "tasks": "Int64",
    "mean_first": "Float64",
    "mean_second": "Float64",
    "difference": "Float64",
    "low": "Float64",
    "high": "Float64",
    "better": "Int64",
    "tied": "Int64",
    "worse": "Int64",
    "sign_test": "Float64",
    "randomization_test": "Float64",
    "adjusted": "Float64",
    "only_first": "Int64",
    "only_second": "Int64",
    "unscored": "Int64",
}


def compared_run(
    graph: CollaborationGraph, configuration: ComparisonConfiguration | None = None
) -> ComparedRun | None:
    """What a comparison needs of a run; None where its method is not known.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: The graph is a decomposition, or a value of it is beyond 1e100.
    """
    options = configuration or ComparisonConfiguration()
    if graph.method is None:
        return None
    task, outcome = graph.task, graph.outcome
    groups = {
        "task": None,
        "source": task.source_group,
        "dataset": task.dataset,
        "category": task.category,
    }
    return ComparedRun(
        run=graph.id,
        method=graph.method.name,
        task=task.id,
        task_name=task.name,
        group=groups[options.grouping],
        dataset=task.dataset,
        expected=outcome.expected,
        format=graph.source.format,
        controls=recorded_controls(graph),
        seed=recorded_seed(graph),
        values=_values(graph, evaluate_graph(graph, options.panel), options.metrics),
    )


def compare_methods(
    runs: Iterable[ComparedRun],
    methods: Sequence[str] | None = None,
    configuration: ComparisonConfiguration | None = None,
) -> MethodComparison:
    """Compares methods on the tasks that they share.

    Each task counts alike: its repetitions are averaged first (MASBench, C.4).

    Args:
        runs: The runs of the methods, and perhaps of others, which are passed over.
        methods: Names, in the order in which pairs are formed; all, by name, where None.
        configuration: Options; the defaults where None.

    Raises:
        NotFoundError: A method or the reference has no run.
        UsageError: Fewer than two methods are there.
    """
    options = configuration or ComparisonConfiguration()
    by_method: dict[str, list[ComparedRun]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.run):
        by_method[run.method].append(run)
    names = list(dict.fromkeys(methods)) if methods else sorted(by_method)
    for name in [*names, *([options.reference] if options.reference else [])]:
        if name not in by_method:
            raise NotFoundError(f"there is no run of a method {name!r}")
    if options.reference is not None and options.reference not in names:
        names.append(options.reference)
    if len(names) < 2:
        raise UsageError(
            f"a comparison needs two methods; there is {', '.join(names) or 'none'}"
        )
    kept, left_out = without_conflicts({name: by_method[name] for name in names})
    tasks = {
        name: {metric: _by_task(kept[name], metric, options) for metric in options.metrics}
        for name in names
    }
    entries = tuple(_entry(name, kept[name], tasks[name]) for name in names)
    cautions: list[Caution] = []
    compared: list[tuple[str, PairedComparison, tuple[str, ...]]] = []
    for first, second in _pairs(names, options.reference):
        found = cautions_of(first, second, kept[first], kept[second])
        cautions.extend(found)
        if not all(caution.comparable for caution in found):
            continue
        sources = _sources(kept[first] + kept[second], options.grouping)
        common = {run.task for run in kept[first]} & {run.task for run in kept[second]}
        ours, theirs = (
            [run for run in kept[name] if run.task in common] for name in (first, second)
        )
        for metric in options.metrics:
            left, right = tasks[first][metric], tasks[second][metric]
            if not _any_known(left) and not _any_known(right):
                continue
            missing = missing_values(first, second, ours, theirs, metric)
            if missing:
                cautions.append(Caution(first, second, True, _untold(metric, missing)))
            compared.append(
                (
                    metric,
                    compare_pair(
                        (first, left),
                        (second, right),
                        sources=sources,
                        higher_is_better=DIRECTIONS.get(metric),
                        tie=options.tie,
                        configuration=options.bootstrap,
                    ),
                    missing,
                )
            )
    adjusted = adjust([one.randomization_test for _, one, _ in compared], options.correction)
    score, front = _front(entries, kept, options)
    return MethodComparison(
        configuration=options,
        methods=entries,
        pairs=tuple(
            [
                ComparedPair(metric, comparison, value, missing)
                for (metric, comparison, missing), value in zip(compared, adjusted, strict=True)
            ]
        ),
        pareto=front,
        pareto_score=score,
        cautions=tuple(cautions),
        left_out=left_out,
    )


def _values(
    graph: CollaborationGraph, row: PanelRow, metrics: Sequence[str]
) -> dict[str, float | None]:
    outcome = graph.outcome
    both = (row.tokens_in, row.tokens_out)
    others = {
        "tokens": None if None in both else sum(value or 0 for value in both),
        "latency": outcome.latency,
        "cost": outcome.cost,
    }
    wanted = dict.fromkeys((*metrics, "success", "score", "tokens"))
    found = {name: others[name] if name in others else getattr(row, name) for name in wanted}
    for name, value in found.items():
        refuse_huge(value, f"the {name.replace('_', ' ')} of the run {graph.name}")
    return {name: None if value is None else float(value) for name, value in found.items()}


def _by_task(
    runs: Iterable[ComparedRun], metric: str, options: ComparisonConfiguration
) -> dict[str, float | None]:
    return mean_by_task(
        [(run.task, run.values[metric]) for run in runs], require_all=options.require_all
    )


def _any_known(values: Mapping[str, float | None]) -> bool:
    return any(value is not None for value in values.values())


def _pairs(names: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    if reference is None:
        return list(combinations(names, 2))
    return [(name, reference) for name in names if name != reference]


def _sources(runs: Iterable[ComparedRun], grouping: Grouping) -> dict[str, str] | None:
    if grouping == "task":
        return None
    return {run.task: run.group for run in runs if run.group is not None}


def _entry(
    name: str, runs: Sequence[ComparedRun], tasks: Mapping[str, Mapping[str, float | None]]
) -> MethodEntry:
    known = {
        metric: [value for value in values.values() if value is not None]
        for metric, values in tasks.items()
    }
    return MethodEntry(
        method=name,
        runs=len(runs),
        tasks=len({run.task for run in runs}),
        means={metric: mean(values) for metric, values in known.items()},
        known={metric: len(values) for metric, values in known.items()},
        known_runs={
            metric: sum(run.values[metric] is not None for run in runs) for metric in tasks
        },
        success_rate=_success_rate(runs),
    )


def _success_rate(runs: Sequence[ComparedRun]) -> Uncertainty:
    """Over seeds (code m) where each seed ran each task once; else, one run a task, code b."""
    known = [run for run in runs if run.values["success"] is not None]
    by_task = mean_by_task([(run.task, run.values["success"]) for run in known])
    rate = mean([value for value in by_task.values() if value is not None])
    if rate is None:
        return Uncertainty(None, None, "b", 0)
    by_seed: dict[str | None, list[ComparedRun]] = defaultdict(list)
    for run in known:
        by_seed[run.seed].append(run)
    complete = all(
        len(found) == len(by_task) == len({run.task for run in found})
        for found in by_seed.values()
    )
    if None not in by_seed and len(by_seed) > 1 and complete:
        rates = [
            mean([100.0 * (run.values["success"] or 0.0) for run in found])
            for _, found in sorted(by_seed.items(), key=lambda item: item[0] or "")
        ]
        return from_seeds(rates)
    if len(known) == len(by_task):
        return from_task_count(100.0 * rate, len(by_task))
    # Several runs a task that name no seeds: no code of the paper fits.
    return Uncertainty(100.0 * rate, None, "b", len(by_task))


def _front(
    entries: Sequence[MethodEntry],
    kept: Mapping[str, Sequence[ComparedRun]],
    options: ComparisonConfiguration,
) -> tuple[str | None, ParetoFront]:
    """Score and tokens on the tasks that all methods share: else points tell of tasks."""
    common = set.intersection(*({run.task for run in runs} for runs in kept.values()))

    def over_common(name: str, metric: str) -> float | None:
        runs = [run for run in kept[name] if run.task in common]
        values = _by_task(runs, metric, options).values()
        return mean([value for value in values if value is not None])

    for metric in ("score", "success"):
        points = [
            OperatingPoint(
                one.method, over_common(one.method, metric), over_common(one.method, "tokens")
            )
            for one in entries
        ]
        if any(point.score is not None for point in points):
            return metric, pareto_front(points)
    return None, pareto_front(points)


def _corrected(pair: ComparedPair, options: ComparisonConfiguration) -> str:
    excludes = pair.comparison.interval.excludes_zero
    if not excludes or pair.adjusted is None:
        return ""
    if pair.adjusted <= 1.0 - options.bootstrap.confidence:
        return ""
    return (
        f" After correction for all pairs and metrics ({options.correction}) the test does not "
        f"hold (p = {pair.adjusted:.3g})."
    )


def _untold(metric: str, missing: tuple[str, ...]) -> str:
    name = metric.replace("_", " ")
    return (
        f"{' and '.join(missing)} have no {name}: the comparison rests on the others, and "
        "misleads where values are missing for a reason, such as a failure."
    )


def _incomplete(pair: ComparedPair) -> str:
    if not pair.missing or not pair.comparison.interval.excludes_zero:
        return ""
    return f" But {_untold(pair.metric, pair.missing)}"


def _pair_row(pair: ComparedPair) -> dict[str, Any]:
    found = pair.comparison
    return {
        "metric": pair.metric,
        "first": found.first,
        "second": found.second,
        "tasks": len(found.tasks),
        "mean_first": found.mean_first,
        "mean_second": found.mean_second,
        "difference": found.interval.estimate,
        "low": found.interval.low,
        "high": found.interval.high,
        "better": found.signs.better,
        "tied": found.signs.tied,
        "worse": found.signs.worse,
        "sign_test": found.signs.sign_test,
        "randomization_test": found.randomization_test,
        "adjusted": pair.adjusted,
        "only_first": len(found.only_first),
        "only_second": len(found.only_second),
        "unscored": len(found.unscored),
    }
