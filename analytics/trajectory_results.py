"""What collaboration gained, by method: measures, intervals and claims as one result.

Source: MASTraceBench, "Multi-Layer Metrics" and the appendix "Output Validity and
Final-Proposal Agreement"; the formulas are in :mod:`analytics.trajectory_report`, the
intervals in :mod:`analytics.trajectory_intervals`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.claims import ClaimSignals, UnitClaims
from analytics.statistics import BootstrapConfiguration, Interval
from analytics.trajectories import Trajectory, TrajectoryConfiguration
from analytics.trajectory_intervals import MethodIntervals, intervals_by_method
from analytics.trajectory_metrics import LabelCounts, UnitDiagnosis
from analytics.trajectory_report import (
    MethodTrajectories,
    TrajectoryReport,
    find_method,
    methods_to_pandas,
    report_trajectories,
)
from graphstore.identity import configuration_hash
from graphstore.short_view import TableView, runs_in_short

if TYPE_CHECKING:
    import pandas

MOST_CLAIM_UNITS = 500
"""Units whose claims a document names, the first ones; the others are counted."""
LONGEST_CLAIM = 200
"""Characters of a claim that a document holds."""
_INCOMPLETE = (
    " But {} have no score: the comparison rests on the others, and misleads where scores are "
    "missing for a reason, such as a failure."
)


@dataclass(frozen=True, slots=True)
class AnalysisConfiguration:
    """All that the result depends on besides the runs.

    Attributes:
        trajectory: What counts as a score, a tie, a final proposal.
        bootstrap: Of the intervals.
        baseline: Name or id of the method that is the single agent.
        scorer: Name and version of the scorer, as ``mapf 1``.
        judge: Name of the judge that it asked.
        tasks: Hash of the tasks file.
    """

    trajectory: TrajectoryConfiguration = field(default_factory=TrajectoryConfiguration)
    bootstrap: BootstrapConfiguration = field(default_factory=BootstrapConfiguration)
    baseline: str | None = None
    scorer: str | None = None
    judge: str | None = None
    tasks: str | None = None

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, repr=False)
class TrajectoryResult(TableView):
    """Many runs, by method.

    Attributes:
        configuration: What it was made with.
        report: The measures of each run and unit.
        methods: The measures of each method, by name.
        intervals: For each of them how sure they are.
        claims: Of the runs that have any.
        notes: What to know of the whole, one sentence each.
    """

    configuration: AnalysisConfiguration
    report: TrajectoryReport
    methods: tuple[MethodTrajectories, ...]
    intervals: tuple[MethodIntervals, ...]
    claims: tuple[ClaimSignals, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def _in_short(self) -> str:
        return runs_in_short(self.report.trajectories)

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a method; see :func:`analytics.trajectory_report.methods_to_pandas`."""
        return methods_to_pandas(self.methods)

    def to_dict(self) -> dict[str, Any]:
        """JSON values for a document: missing is None, shares lie between 0 and 1."""
        runs = self.report.trajectories
        units = [unit for signals in self.claims for unit in signals.units]
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "baseline": self.configuration.baseline,
            "scorer": self.configuration.scorer,
            "runs": len(runs),
            "tasks": len({run.task_id for run in runs}),
            "units": sum(len(run.units) for run in runs),
            "methods": [
                _method_document(method, intervals, self.claims, missing)
                for method, intervals, missing in zip(
                    self.methods, self.intervals, self._missing_scores(), strict=True
                )
            ],
            "claims": _claim_documents(self.claims)[:MOST_CLAIM_UNITS],
            "claim_units": len(units),
            "notes": list(self.notes),
        }

    def _missing_scores(self) -> list[tuple[str, ...]]:
        """For each method which runs on its common tasks with the baseline have no score."""
        groups = self.report.groups()
        baseline = self.configuration.baseline
        if baseline is None:
            return [() for _ in groups]
        runs = self.report.trajectories
        base = [runs[place] for place in groups[find_method(groups, baseline)]]
        found = []
        for _, places in sorted(groups.items()):
            own = [runs[place] for place in places]
            common = {run.task_id for run in own} & {run.task_id for run in base}
            told = []
            for group in (own, base):
                shared = [run for run in group if run.task_id in common]
                missing = sum(run.score is None for run in shared)
                if missing:
                    name = shared[0].method or "an unknown method"
                    told.append(f"{missing} of {len(shared)} runs of {name}")
            found.append(tuple(told))
        return found

    def by_run(self) -> list[dict[str, Any]]:
        """One mapping a run, in the order in which runs came."""
        return [
            _run_document(run, units)
            for run, units in zip(self.report.trajectories, self.report.diagnoses, strict=True)
        ]


def analyse_trajectories(
    trajectories: Iterable[Trajectory],
    configuration: AnalysisConfiguration | None = None,
    *,
    claims: Iterable[ClaimSignals] = (),
    notes: Sequence[str] = (),
) -> TrajectoryResult:
    """The measures of trajectories by method, with intervals.

    Args:
        trajectories: One for each run (:func:`analytics.trajectories.trajectory_of`).
        configuration: Options; the defaults where None.
        claims: Of the runs; those without claims are left out.
        notes: Passed on.

    Raises:
        NotFoundError: No run was made by the baseline.
        UsageError: Two methods have the baseline's name, or a score is above the maximum.
    """
    options = configuration or AnalysisConfiguration()
    report = report_trajectories(trajectories, options.trajectory)
    return TrajectoryResult(
        configuration=options,
        report=report,
        methods=report.by_method(options.baseline),
        intervals=intervals_by_method(report, options.baseline, options.bootstrap),
        claims=tuple(one for one in claims if one.units),
        notes=tuple(notes),
    )


def _method_document(
    method: MethodTrajectories,
    intervals: MethodIntervals,
    claims: Sequence[ClaimSignals],
    missing: tuple[str, ...],
) -> dict[str, Any]:
    against = intervals.against_single
    gain = None
    if against is not None:
        gain = {
            **_measure(method.collaboration_gain, against.interval, tasks=method.gain_tasks),
            "better": against.signs.better,
            "tied": against.signs.tied,
            "worse": against.signs.worse,
            "randomization_test": against.randomization_test,
            "conclusion": against.conclusion
            + (_INCOMPLETE.format(" and ".join(missing)) if missing and against.tasks else ""),
        }
    validity = method.validity
    own = [one for one in claims if one.method_id == method.method_id]
    return {
        "method": method.method,
        "method_id": method.method_id,
        "runs": method.runs,
        "tasks": method.tasks,
        "units": method.units,
        "task_score": _measure(
            method.task_score, intervals.task_score, tasks=method.scored_tasks
        ),
        "collaboration_gain": gain,
        "gain_against_best": _labels(method.gain, intervals.gain),
        "refinement_of_strong": _labels(method.strong, intervals.strong),
        "refinement_of_weak": _labels(method.weak, intervals.weak),
        "aggregation_loss": _measure(
            method.aggregation_loss, intervals.aggregation_loss, units=method.aggregation_units
        ),
        "token_cost": _measure(method.token_cost, intervals.token_cost, runs=method.token_runs),
        "token_multiple": None
        if intervals.token_multiple is None
        else _measure(
            method.token_multiple, intervals.token_multiple, tasks=method.multiple_tasks
        ),
        "output_validity": _measure(
            validity.share,
            intervals.validity,
            valid=validity.valid,
            known=validity.known,
            unknown=validity.unknown,
        ),
        "final_proposal_agreement": _measure(
            method.agreement, intervals.agreement, units=method.agreement_units
        ),
        "claims": _claim_summary(own) if own else None,
        "notes": [*method.notes, *_without_width(intervals)],
    }


def _without_width(intervals: MethodIntervals) -> list[str]:
    against = intervals.against_single
    named = {
        "task score": intervals.task_score,
        "collaboration gain": None if against is None else against.interval,
        "aggregation loss": intervals.aggregation_loss,
        "tokens": intervals.token_cost,
        "multiple": intervals.token_multiple,
        "validity": intervals.validity,
        "agreement": intervals.agreement,
    }
    if against is not None and against.first == against.second:
        # The single agent beside itself has no gain, and a multiple of 1.
        del named["collaboration gain"], named["multiple"]
    found = [
        name
        for name, one in named.items()
        if one is not None and one.low is not None and one.low == one.high
    ]
    if not found:
        return []
    return [
        f"No width of the interval: {', '.join(found)}. All tasks agree, which does not say "
        "that nothing varies."
    ]


def _measure(value: float | None, interval: Interval, **counts: int) -> dict[str, Any]:
    return {
        "value": value,
        "low": interval.low,
        "high": interval.high,
        **counts,
        "resampled_tasks": interval.units,
        "notes": list(interval.notes),
    }


def _labels(counts: LabelCounts, intervals: dict[str, Interval]) -> dict[str, Any]:
    return {
        "known": counts.known,
        "unknown": counts.unknown,
        "labels": {
            label: {
                "count": count,
                "share": counts.share(label),
                "low": intervals[label].low,
                "high": intervals[label].high,
            }
            for label, count in counts.counts.items()
        },
    }


def _claim_summary(claims: Sequence[ClaimSignals]) -> dict[str, Any]:
    units = [unit for signals in claims for unit in signals.units]
    return {
        "runs": len(claims),
        "units": len(units),
        "claims": sum(len(unit.claims) for unit in units),
        "endorsements": sum(unit.endorsements for unit in units),
        "challenges": sum(unit.challenges for unit in units),
        "units_with_a_top_endorsed": sum(bool(unit.top_endorsed) for unit in units),
        "units_with_a_tie_of_top_endorsed": sum(len(unit.top_endorsed) > 1 for unit in units),
        "units_with_a_top_challenged": sum(bool(unit.top_challenged) for unit in units),
        "units_with_a_tie_of_top_challenged": sum(
            len(unit.top_challenged) > 1 for unit in units
        ),
        "notes": sorted({note for signals in claims for note in signals.notes}),
    }


def _claim_documents(claims: Sequence[ClaimSignals]) -> list[dict[str, Any]]:
    return [
        {
            "run": signals.run,
            "name": signals.name,
            "method": signals.method,
            "unit": unit.unit,
            "claims": len(unit.claims),
            "endorsements": unit.endorsements,
            "challenges": unit.challenges,
            "top_endorsed": _named(unit, unit.top_endorsed),
            "top_challenged": _named(unit, unit.top_challenged),
        }
        for signals in sorted(claims, key=lambda one: (one.name, one.run))
        for unit in signals.units
    ]


def _named(unit: UnitClaims, wanted: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {
            "id": claim.id,
            "text": None if claim.text is None else claim.text[:LONGEST_CLAIM],
            "agent": claim.agent,
            "endorsements": len(claim.endorsed_by),
            "challenges": len(claim.challenged_by),
        }
        for claim in unit.claims
        if claim.id in wanted
    ]


def _run_document(run: Trajectory, units: Sequence[UnitDiagnosis]) -> dict[str, Any]:
    losses = [unit.aggregation_loss for unit in units if unit.aggregation_loss is not None]
    agreed = [float(unit.agreement) for unit in units if unit.agreement is not None]
    gains = [unit.gain for unit in units]
    return {
        "run": run.run,
        "name": run.name,
        "task": run.task,
        "method": run.method,
        "units": len(units),
        "task_score": run.score,
        "best_initial": _mean(unit.best_initial for unit in units),
        "answer_score": _mean(unit.answer_score for unit in units),
        "gain_against_best": {
            label: gains.count(label) for label in dict.fromkeys(gains) if label is not None
        },
        "aggregation_loss": mean(losses),
        "final_proposal_agreement": mean(agreed),
        "output_validity": run.validity.share,
        "tokens": run.tokens,
        "missing": [*run.missing, *dict.fromkeys(one for u in units for one in u.missing)],
    }


def _mean(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])
