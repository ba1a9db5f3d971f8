"""Goals and relations over many runs, by method.

Source: MAC-Bench, Eq. 10 (progress scores are averaged over tasks; the resolved rate is a share
of tasks) and appendix G.3.2 (outcome shares are averaged over the checks of a task, then over
tasks; contributors; changes). Runs of one task are averaged before tasks are.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.relations import (
    AVAILABILITIES,
    HANDLINGS,
    RELATION_KINDS,
    RELATION_OUTCOMES,
    Goal,
    ItemOutcome,
    RelationCheck,
    outcomes,
    progress_score,
    resolved,
)
from analytics.relations_history import ConsistencyHistory, consistency_history
from graphstore.identity import configuration_hash
from graphstore.short_view import TableView, runs_in_short

if TYPE_CHECKING:
    import pandas

SHARES = (*RELATION_OUTCOMES, *(f"unavailable: {name}" for name in AVAILABILITIES))
"""The shares of objects that are averaged."""


@dataclass(frozen=True, slots=True)
class RelationConfiguration:
    """What the measures depend on besides the checks.

    Attributes:
        definitions: Raised whenever a measure changes its meaning.
    """

    definitions: str = "1"

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """What was checked of one run.

    Attributes:
        run: Id of the run in the store, or the name of the record.
        task: Name of the task.
        task_id: What tells tasks apart.
        method: Name of the method; None where it is not known.
        goals: Required goals.
        preservation: Preservation checks; empty where the task has none.
        flag: The evaluator's own resolved flag.
        relations: Dependency and shared-resource checks.
    """

    run: str
    task: str
    task_id: str
    method: str | None = None
    goals: tuple[Goal, ...] = ()
    preservation: tuple[bool | None, ...] = ()
    flag: bool | None = None
    relations: tuple[RelationCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckOutcomes:
    """One relation check of one run.

    Attributes:
        check: Its name.
        kind: ``dependency`` or ``shared_resource``.
        items: Number of objects.
        outcomes: Number of objects by outcome; all four are there.
        unavailable: Number of unavailable objects by what is there; only what is known.
        handling: Number of objects by handling and outcome.
        across: Whether every object was handled across agents and has a satisfied or
            inconsistent outcome: the relations that MAC-Bench follows through their changes.
        history: First against final consistency, where changes are recorded.
    """

    check: str
    kind: str
    items: int
    outcomes: dict[str, int]
    unavailable: dict[str, int]
    handling: dict[str, dict[str, int]]
    across: bool
    history: ConsistencyHistory | None

    @property
    def shares(self) -> dict[str, float]:
        """Share of the objects for each of :data:`SHARES`."""
        counts = {
            **self.outcomes,
            **{f"unavailable: {k}": v for k, v in self.unavailable.items()},
        }
        return {name: counts.get(name, 0) / self.items for name in SHARES}


@dataclass(frozen=True, slots=True)
class RelationRow:
    """The measures of one run. None is "not known" or "not defined", never 0.

    Attributes:
        run: Id of the run, or the record's name.
        task: Name of the task.
        task_id: What tells tasks apart.
        method: Name of the method.
        goals: Number of goals.
        goals_passed: Number of goals that are known to have passed.
        failed_goals: Names of the goals that failed.
        progress_score: In percent.
        preserved: Whether all preservation checks passed; None without any.
        resolved: Whether the task is fully resolved.
        checks: Relation checks with at least one object.
        missing: What is not there, one sentence each.
    """

    run: str
    task: str
    task_id: str
    method: str | None
    goals: int
    goals_passed: int
    failed_goals: tuple[str, ...]
    progress_score: float | None
    preserved: bool | None
    resolved: bool | None
    checks: tuple[CheckOutcomes, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelationSummary:
    """What the runs of one method have in common.

    Attributes:
        method: Name of the method; None where it is not known.
        runs: Number of runs.
        tasks: Number of tasks.
        progress_score: Mean over tasks, in percent.
        scored_tasks: Number of tasks that it rests on.
        resolved_rate: Share of the tasks that are fully resolved, in percent; a task that was
            run several times counts with the share of its runs.
        judged_tasks: Number of tasks that it rests on.
        outcomes: By kind of relation, the mean over tasks of each share (:data:`SHARES`);
            empty for a kind without checks.
        relation_tasks: By kind, the number of tasks that these rest on.
        relation_checks: By kind, the number of checks.
        relation_items: By kind, the number of objects.
        handling: By kind and handling, the number of objects by outcome.
    """

    method: str | None
    runs: int
    tasks: int
    progress_score: float | None
    scored_tasks: int
    resolved_rate: float | None
    judged_tasks: int
    outcomes: dict[str, dict[str, float | None]]
    relation_tasks: dict[str, int]
    relation_checks: dict[str, int]
    relation_items: dict[str, int]
    handling: dict[str, dict[str, dict[str, int]]]


@dataclass(frozen=True, repr=False)
class RelationReport(TableView):
    """Many runs.

    Attributes:
        configuration: What the measures depend on.
        rows: One for each run, in the order in which they came.
    """

    configuration: RelationConfiguration
    rows: tuple[RelationRow, ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def by_method(self) -> tuple[RelationSummary, ...]:
        """Means for each method, by name; runs without a known method come last."""
        groups: dict[tuple[bool, str], list[RelationRow]] = {}
        for row in self.rows:
            groups.setdefault((row.method is None, row.method or ""), []).append(row)
        return tuple(_summary(rows) for _, rows in sorted(groups.items()))

    def to_dict(self) -> dict[str, Any]:
        """JSON values: ``configuration``, ``configuration_hash``, ``methods`` and ``rows``."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "methods": [asdict(one) for one in self.by_method()],
            "rows": [asdict(row) for row in self.rows],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a run: goals, scores and preservation."""
        import pandas

        columns: dict[str, Any] = {}
        for names, kind in (
            (("run", "task", "method"), "string"),
            (("goals", "goals_passed"), "Int64"),
            (("progress_score",), "Float64"),
            (("preserved", "resolved"), "boolean"),
        ):
            for name in names:
                columns[name] = pandas.Series(
                    [getattr(row, name) for row in self.rows], dtype=kind
                )
        return pandas.DataFrame(columns)

    def checks_to_pandas(self) -> "pandas.DataFrame":
        """One line a run and relation check: objects by outcome, and consistency."""
        import pandas

        lines = [
            {
                "run": row.run,
                "task": row.task,
                "method": row.method,
                "check": check.check,
                "kind": check.kind,
                "items": check.items,
                **check.outcomes,
                **{f"unavailable: {k}": check.unavailable.get(k, 0) for k in AVAILABILITIES},
                "across_agents": check.across,
                "first_inconsistent": check.history and check.history.first_inconsistent,
                "final_inconsistent": check.history and check.history.final_inconsistent,
            }
            for row in self.rows
            for check in row.checks
        ]
        return pandas.DataFrame(lines).convert_dtypes()

    def _in_short(self) -> str:
        return runs_in_short(self.rows)


def measure_relations(run: CheckedRun) -> RelationRow:
    """All measures of one run.

    Raises:
        UsageError: The evaluator's flag contradicts the checks, or a change names no object.
    """
    missing = []
    score = progress_score(run.goals)
    if not run.goals:
        missing.append("No goal is recorded.")
    elif score is None:
        unknown = sum(goal.passed is None for goal in run.goals)
        missing.append(f"{unknown} of {len(run.goals)} goals have no result.")
    done = resolved(run.goals, run.preservation, run.flag) if run.goals else run.flag
    if done is None:
        missing.append("It is not known whether the task is resolved.")
    elif done and run.flag is None and not run.preservation:
        missing.append("No preservation check is recorded: resolved rests on goals alone.")
    if not run.relations:
        missing.append("No relation check is recorded.")
    empty = [check.id for check in run.relations if not check.items]
    if empty:
        missing.append(f"Relation checks without objects: {', '.join(empty)}.")
    preserved = None
    if run.preservation and None not in run.preservation:
        preserved = False not in run.preservation
    elif False in run.preservation:
        preserved = False
    return RelationRow(
        run=run.run,
        task=run.task,
        task_id=run.task_id,
        method=run.method,
        goals=len(run.goals),
        goals_passed=sum(goal.passed is True for goal in run.goals),
        failed_goals=tuple(goal.id for goal in run.goals if goal.passed is False),
        progress_score=score,
        preserved=preserved,
        resolved=done,
        checks=tuple(_check(one) for one in run.relations if one.items),
        missing=tuple(missing),
    )


def evaluate_relations(
    runs: Iterable[CheckedRun], configuration: RelationConfiguration | None = None
) -> RelationReport:
    """The measures of many runs.

    Raises:
        UsageError: As in :func:`measure_relations`.
    """
    return RelationReport(
        configuration or RelationConfiguration(),
        tuple([measure_relations(one) for one in runs]),
    )


def _check(check: RelationCheck) -> CheckOutcomes:
    found = outcomes(check)
    by_outcome: Counter[str] = Counter(one.outcome for one in found)
    handled: dict[str, Counter[str]] = {}
    for one in found:
        handled.setdefault(one.handling, Counter())[one.outcome] += 1
    return CheckOutcomes(
        check=check.id,
        kind=check.kind,
        items=len(found),
        outcomes={name: by_outcome[name] for name in RELATION_OUTCOMES},
        unavailable=dict(Counter(one.available for one in found if one.available is not None)),
        handling={name: dict(handled[name]) for name in HANDLINGS if name in handled},
        across=_across(found),
        history=consistency_history(check),
    )


def _across(found: Sequence[ItemOutcome]) -> bool:
    return all(
        one.handling == "across agents" and one.outcome in ("satisfied", "inconsistent")
        for one in found
    )


def _summary(rows: Sequence[RelationRow]) -> RelationSummary:
    scores = _by_task((row.task_id, row.progress_score) for row in rows)
    flags = _by_task(
        (row.task_id, None if row.resolved is None else 100.0 * row.resolved) for row in rows
    )
    means: dict[str, dict[str, float | None]] = {}
    tasks: dict[str, int] = {}
    checks: dict[str, int] = {}
    items: dict[str, int] = {}
    handled: dict[str, dict[str, dict[str, int]]] = {}
    for kind in RELATION_KINDS:
        found = [
            (row.task_id, [check for check in row.checks if check.kind == kind]) for row in rows
        ]
        found = [(task, listed) for task, listed in found if listed]
        tasks[kind] = len({task for task, _ in found})
        checks[kind] = sum(len(listed) for _, listed in found)
        items[kind] = sum(check.items for _, listed in found for check in listed)
        means[kind] = {
            name: mean(
                _by_task(
                    (task, mean([check.shares[name] for check in listed]))
                    for task, listed in found
                )
            )
            for name in (SHARES if found else ())
        }
        totals: dict[str, Counter[str]] = {}
        for _, listed in found:
            for check in listed:
                for how, counts in check.handling.items():
                    totals.setdefault(how, Counter()).update(counts)
        handled[kind] = {name: dict(totals[name]) for name in HANDLINGS if name in totals}
    return RelationSummary(
        method=rows[0].method,
        runs=len(rows),
        tasks=len({row.task_id for row in rows}),
        progress_score=mean(scores),
        scored_tasks=len(scores),
        resolved_rate=mean(flags),
        judged_tasks=len(flags),
        outcomes=means,
        relation_tasks=tasks,
        relation_checks=checks,
        relation_items=items,
        handling=handled,
    )


def _by_task(values: Iterable[tuple[str, float | None]]) -> list[float]:
    """The mean of each task over its runs that have a value; other tasks are left out."""
    found: dict[str, list[float]] = {}
    for task, value in values:
        if value is not None:
            found.setdefault(task, []).append(value)
    return [one for known in found.values() if (one := mean(known)) is not None]
