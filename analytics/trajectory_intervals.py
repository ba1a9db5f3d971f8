"""How sure the measures of trajectories are: bootstrap intervals by method.

Source: OpenMAS-GCom, appendix B.6: tasks are resampled, with all their runs, units and
proposers, because these depend on each other. Every central estimate is the one of
:class:`analytics.trajectory_report.MethodTrajectories`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

from analytics.paired_scores import PairedComparison, compare_pair
from analytics.resampling import Floats, resampled_sums
from analytics.statistics import (
    FEW_UNITS,
    NO_WIDTH,
    BootstrapConfiguration,
    Interval,
    IntervalMethod,
    bootstrap_mean,
    bootstrap_ratio,
    few_units,
    no_spread,
    quantile_ends,
)
from analytics.trajectories import Trajectory
from analytics.trajectory_metrics import GAIN_LABELS, WEAK_LABELS, UnitDiagnosis
from analytics.trajectory_report import TrajectoryReport, find_method


@dataclass(frozen=True, slots=True)
class MethodIntervals:
    """Intervals of the measures of one method.

    Attributes:
        task_score: TS.
        against_single: Task scores beside the single agent's, whose mean difference is CG;
            None without a single agent.
        gain: Share of each GAB label.
        strong: Share of each AR label of strong proposers.
        weak: Share of each AR label of weak proposers.
        aggregation_loss: AL.
        token_cost: TC.
        token_multiple: TC over the single agent's; None without a single agent.
        validity: OV.
        agreement: FPA.
    """

    task_score: Interval
    against_single: PairedComparison | None
    gain: dict[str, Interval]
    strong: dict[str, Interval]
    weak: dict[str, Interval]
    aggregation_loss: Interval
    token_cost: Interval
    token_multiple: Interval | None
    validity: Interval
    agreement: Interval


def intervals_by_method(
    report: TrajectoryReport,
    single_agent: str | None = None,
    configuration: BootstrapConfiguration | None = None,
) -> tuple[MethodIntervals, ...]:
    """Intervals in the order of :meth:`TrajectoryReport.by_method`.

    Args:
        report: Many runs.
        single_agent: Name or id of the method that is the single agent.
        configuration: Of the bootstrap; the defaults where None.

    Raises:
        NotFoundError: No run has that method.
        UsageError: Two methods have that name.
    """
    options = configuration or BootstrapConfiguration()
    groups = report.groups()
    scores = report.task_scores()
    single = None if single_agent is None else find_method(groups, single_agent)
    found = []
    for key, places in sorted(groups.items()):
        tasks = _Tasks(report, places)
        own = scores[key[1] or None, key[2] or None]
        against = multiple = None
        if single is not None:
            base = scores[single[1] or None, single[2] or None]
            against = compare_pair(
                (key[1] or "unknown", own),
                (single[1] or "unknown", base),
                tie=report.configuration.tie,
                configuration=options,
            )
            multiple = _multiple(tasks, _Tasks(report, groups[single]), options)
        found.append(
            MethodIntervals(
                task_score=bootstrap_mean(list(own.values()), configuration=options),
                against_single=against,
                gain=_labels(tasks, options, GAIN_LABELS, lambda unit: [unit.gain]),
                strong=_labels(tasks, options, GAIN_LABELS, _refinements("strong")),
                weak=_labels(tasks, options, WEAK_LABELS, _refinements("weak")),
                aggregation_loss=tasks.unit_ratio(
                    lambda u: [u.aggregation_loss], options
                ).without_noise(report.configuration.tie),
                token_cost=tasks.ratio(_tokens, options),
                token_multiple=multiple,
                validity=tasks.ratio(
                    lambda run, _: (float(run.validity.valid), float(run.validity.known)),
                    options,
                ),
                agreement=tasks.unit_ratio(
                    lambda u: [None if u.agreement is None else float(u.agreement)], options
                ),
            )
        )
    return tuple(found)


_Measure = Callable[[Trajectory, tuple[UnitDiagnosis, ...]], tuple[float, float]]


class _Tasks:
    """The runs of one method by task."""

    def __init__(self, report: TrajectoryReport, places: Sequence[int]) -> None:
        self.runs: dict[str, list[tuple[Trajectory, tuple[UnitDiagnosis, ...]]]] = {}
        for place in places:
            run = report.trajectories[place]
            self.runs.setdefault(run.task_id, []).append((run, report.diagnoses[place]))

    def ratio(self, measure: _Measure, options: BootstrapConfiguration) -> Interval:
        """Sum of the first over sum of the second, over all runs; tasks are resampled."""
        pairs = []
        for runs in self.runs.values():
            measured = [measure(run, units) for run, units in runs]
            weight = math.fsum(below for _, below in measured)
            pairs.append((math.fsum(above for above, _ in measured), weight))
        return bootstrap_ratio(
            [above if below else None for above, below in pairs],
            [below or None for _, below in pairs],
            configuration=options,
        )

    def unit_ratio(
        self,
        values_of: Callable[[UnitDiagnosis], Sequence[float | None]],
        options: BootstrapConfiguration,
    ) -> Interval:
        """The mean over known values of units (or of their proposers)."""

        def measure(_: Trajectory, units: tuple[UnitDiagnosis, ...]) -> tuple[float, float]:
            known = [v for unit in units for v in values_of(unit) if v is not None]
            return math.fsum(known), float(len(known))

        return self.ratio(measure, options)


def _labels(
    tasks: _Tasks,
    options: BootstrapConfiguration,
    labels: tuple[str, ...],
    labels_of: Callable[[UnitDiagnosis], Sequence[str | None]],
) -> dict[str, Interval]:
    def share_of(label: str) -> Interval:
        return tasks.unit_ratio(
            lambda unit: [
                None if given is None else float(given == label) for given in labels_of(unit)
            ],
            options,
        )

    return {label: share_of(label) for label in labels}


def _refinements(group: str) -> Callable[[UnitDiagnosis], Sequence[str | None]]:
    return lambda unit: [one.label for one in unit.refinements if one.group == group]


def _tokens(run: Trajectory, _: tuple[UnitDiagnosis, ...]) -> tuple[float, float]:
    return (0.0, 0.0) if run.tokens is None else (float(run.tokens), float(_units(run)))


def _units(run: Trajectory) -> int:
    return len(run.units) or 1


def _multiple(own: _Tasks, base: _Tasks, options: BootstrapConfiguration) -> Interval:
    """A ratio of two ratios, which :func:`bootstrap_ratio` does not know."""
    counted = [_counted(tasks) for tasks in (own, base)]
    common = sorted(counted[0].keys() & counted[1].keys())
    runs = [run for one in counted for task in common for run in one[task]]
    by_unit = all(run.units for run in runs)
    sums = numpy.array(
        [
            [
                value
                for one in counted
                for value in (
                    math.fsum(run.tokens or 0 for run in one[task]),
                    sum(_units(run) if by_unit else 1 for run in one[task]),
                )
            ]
            for task in common
        ],
        numpy.float64,
    ).reshape(-1, 4)
    # Sorted: what is drawn must not depend on the names of tasks.
    sums = sums[numpy.lexsort(sums.T[::-1])]
    estimate = _ratio_of_ratios(sums.sum(axis=0)[None, :])[0] if common else math.nan
    notes = []
    missing = len(own.runs.keys() | base.runs.keys()) - len(common)
    if missing:
        notes.append(f"{missing} tasks lack the tokens of one of the two and are left out.")
    low = high = error = None
    # Without a jackknife of this ratio there is no BCa.
    method: IntervalMethod = "percentile" if options.method == "percentile" else "expanded"
    if not math.isfinite(estimate):
        notes.append(
            "The single agent used no token." if common else "There is no common task."
        )
    elif len(common) == 1:
        notes.append("One task gives no interval.")
    else:
        if len(common) < FEW_UNITS:
            notes.append(few_units(len(common)))
        draws = _ratio_of_ratios(resampled_sums(sums, options.draws, options.seed))
        if options.draws == 1:
            notes.append("One draw gives no interval.")
        elif not numpy.isfinite(draws).all():
            notes.append("Some draws hold no token of the single agent: no interval is given.")
        elif float(numpy.ptp(draws)) <= no_spread(draws, estimate):
            low = high = float(estimate)
            error = 0.0
            notes.append(NO_WIDTH)
        else:
            low, high, told = quantile_ends(draws, len(common), options)
            error = float(draws.std(ddof=1))
            notes.extend(told)
    return Interval(
        estimate=float(estimate) if math.isfinite(estimate) else None,
        low=low,
        high=high,
        standard_error=error,
        confidence=options.confidence,
        method=method,
        unit="task",
        units=len(common),
        values=len(common),
        missing=missing,
        draws=options.draws,
        seed=options.seed,
        notes=tuple(notes),
    )


def _counted(tasks: _Tasks) -> dict[str, list[Trajectory]]:
    found = {
        task: [run for run, _ in runs if run.tokens is not None]
        for task, runs in tasks.runs.items()
    }
    return {task: runs for task, runs in found.items() if runs}


def _ratio_of_ratios(
    sums: Floats,
) -> Floats:
    with numpy.errstate(divide="ignore", invalid="ignore"):
        ratios = (sums[:, 0] / sums[:, 1]) / (sums[:, 2] / sums[:, 3])
    return numpy.asarray(ratios, numpy.float64)
