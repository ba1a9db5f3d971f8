"""Methods side by side on the tasks that they share, and what can be concluded from it.

Source: OpenMAS-GCom, appendix B.6 (common tasks, resampled; tasks of one source together),
A.8 (what an uncertainty is) and section 4.I (operating points of score and tokens). What one
pair of methods may be compared on, and what speaks against it, is said for each pair.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from analytics.averages import mean, refuse_huge
from analytics.comparability import (
    Caution,
    ComparedRun,
    cautions_of,
    missing_values,
    without_conflicts,
)
from analytics.compare_configuration import DIRECTIONS, ComparisonConfiguration, Grouping
from analytics.compare_result import ComparedPair, MethodComparison, MethodEntry, untold
from analytics.corrections import adjust
from analytics.interventions_controls import recorded_controls, recorded_seed
from analytics.paired_scores import PairedComparison, compare_pair, mean_by_task
from analytics.panel import PanelRow, evaluate_graph
from analytics.pareto import OperatingPoint, ParetoFront, pareto_front
from analytics.runs import require_run
from analytics.uncertainty import Uncertainty, from_seeds, from_task_count
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import CollaborationGraph


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
    require_run(graph)
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
                cautions.append(Caution(first, second, True, untold(metric, missing)))
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
