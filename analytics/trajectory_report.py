"""The measures of proposal trajectories over many runs, and by method.

Source: MASTraceBench, "Multi-Layer Metrics": task score TS (Eq. 2), collaboration gain CG
(Eq. 3), the distributions of GAB and AR, aggregation loss AL (Eq. 4), token cost TC (Eq. 5);
output validity OV (Eq. 23) and final-proposal agreement FPA (Eq. 24). With one run a task
they are the paper's; runs of one task are averaged before tasks are (MASBench, C.4).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean, without_noise
from analytics.paired_scores import mean_by_task
from analytics.trajectories import (
    Trajectory,
    TrajectoryConfiguration,
    Validity,
    differs,
    trajectory_of,
)
from analytics.trajectory_metrics import (
    LabelCounts,
    UnitDiagnosis,
    collaboration_gain,
    count_gains,
    count_refinements,
    diagnose,
    token_multiple,
)
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import CollaborationGraph

if TYPE_CHECKING:
    import pandas


MethodKey = tuple[bool, str, str]
"""Whether the method is not known, its name, its id: sorted, unknown methods come last."""


@dataclass(frozen=True, slots=True)
class MethodTrajectories:
    """The measures of one method. None is "not known" or "not defined", never 0.

    Attributes:
        method: The method's name; None for runs whose method is not known.
        method_id: Its id.
        runs: Number of runs.
        tasks: Number of tasks.
        units: Number of evaluation units, |D|.
        task_score: TS: mean over tasks of the mean over a task's scored runs.
        scored_tasks: Number of tasks that it rests on.
        collaboration_gain: CG, on the tasks that the single agent scored too.
        gain_tasks: Number of those tasks.
        gain: GAB labels over units.
        strong: AR labels of strong proposers over units.
        weak: AR labels of weak proposers over units.
        aggregation_loss: AL: mean over units.
        aggregation_units: Number of units that it rests on.
        token_cost: TC: tokens for each evaluation unit, over runs whose tokens are known; a
            run without recorded units counts as one.
        token_runs: Number of runs that it rests on.
        token_multiple: TC over the single agent's, on the tasks that both count tokens for;
            for each run, not unit, where some of these runs record no unit.
        multiple_tasks: Number of those tasks.
        validity: Outputs that could be parsed and scored, OV.
        agreement: FPA: share of units whose final proposals are all equal.
        agreement_units: Number of units that it rests on.
        notes: What is left out and why, one sentence each.
    """

    method: str | None
    method_id: str | None
    runs: int
    tasks: int
    units: int
    task_score: float | None
    scored_tasks: int
    collaboration_gain: float | None
    gain_tasks: int
    gain: LabelCounts
    strong: LabelCounts
    weak: LabelCounts
    aggregation_loss: float | None
    aggregation_units: int
    token_cost: float | None
    token_runs: int
    token_multiple: float | None
    multiple_tasks: int
    validity: Validity
    agreement: float | None
    agreement_units: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrajectoryReport:
    """Many runs under one configuration.

    Attributes:
        configuration: What the measures were made with.
        trajectories: One for each run, in the order in which the runs came.
        diagnoses: For each of them its evaluation units.
    """

    configuration: TrajectoryConfiguration
    trajectories: tuple[Trajectory, ...]
    diagnoses: tuple[tuple[UnitDiagnosis, ...], ...]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def to_pandas(self) -> "pandas.DataFrame":
        """One line an evaluation unit, with its run, task and method."""
        import pandas

        columns: dict[str, tuple[str, list[Any]]] = {
            name: ("string", [])
            for name in ("run", "name", "task", "task_id", "method", "method_id", "unit")
        }
        kinds = {
            "proposers": "Int64",
            "best_initial": "Float64",
            "answer_score": "Float64",
            "gain": "string",
            "best_final": "Float64",
            "aggregation_loss": "Float64",
            "agreement": "boolean",
        }
        columns |= {name: (kind, []) for name, kind in kinds.items()}
        columns["missing"] = ("string", [])
        for trajectory, units in zip(self.trajectories, self.diagnoses, strict=True):
            for unit in units:
                for name in ("run", "name", "task", "task_id", "method", "method_id"):
                    columns[name][1].append(getattr(trajectory, name))
                for name in ("unit", *kinds):
                    columns[name][1].append(getattr(unit, name))
                columns["missing"][1].append(" ".join(unit.missing) or None)
        return pandas.DataFrame(
            {name: pandas.Series(cells, dtype=kind) for name, (kind, cells) in columns.items()}
        )

    def by_method(self, single_agent: str | None = None) -> tuple[MethodTrajectories, ...]:
        """The measures of each method, by name; runs without a known method come last.

        Args:
            single_agent: Name or id of the method that is the single agent. Without it,
                gains and multiples are missing.

        Raises:
            NotFoundError: No run has that method.
            UsageError: Two methods have that name.
        """
        groups = self.groups()
        single = None if single_agent is None else groups[find_method(groups, single_agent)]
        return tuple(self._summary(places, single) for _, places in sorted(groups.items()))

    def task_scores(
        self, *, require_all: bool = False
    ) -> dict[tuple[str | None, str | None], dict[str, float | None]]:
        """Score by task id for each method (name and id): what comparisons are made of.

        Args:
            require_all: As in :func:`analytics.paired_scores.mean_by_task`.
        """
        return {
            (name or None, identity or None): mean_by_task(
                [
                    (self.trajectories[place].task_id, self.trajectories[place].score)
                    for place in places
                ],
                require_all=require_all,
            )
            for (_, name, identity), places in sorted(self.groups().items())
        }

    def groups(self) -> dict[MethodKey, list[int]]:
        """Positions of the runs of each method."""
        groups: dict[MethodKey, list[int]] = {}
        for place, one in enumerate(self.trajectories):
            key = (one.method_id is None, one.method or "", one.method_id or "")
            groups.setdefault(key, []).append(place)
        return groups

    def _summary(self, places: list[int], single: list[int] | None) -> MethodTrajectories:
        runs = [self.trajectories[place] for place in places]
        units = [unit for place in places for unit in self.diagnoses[place]]
        scores = mean_by_task((run.task_id, run.score) for run in runs)
        known = [score for score in scores.values() if score is not None]
        losses = [u.aggregation_loss for u in units if u.aggregation_loss is not None]
        agreed = [u.agreement for u in units if u.agreement is not None]
        counted = [run for run in runs if run.tokens is not None]
        gain, gain_tasks = None, 0
        multiple, multiple_tasks = None, 0
        without_multiple: list[str] = []
        if single is not None:
            others = [self.trajectories[place] for place in single]
            gain, gain_tasks = _gain(runs, others, self.configuration.tie)
            multiple, multiple_tasks, by_unit = _multiple(runs, others)
            if multiple is None and multiple_tasks:
                without_multiple = ["The single agent used no token: there is no multiple."]
            elif multiple is not None and not by_unit and len(units) > len(runs):
                without_multiple = [
                    "The multiple is for each run, not unit: some runs of its tasks record no "
                    "unit."
                ]
        validity = sum((run.validity for run in runs), Validity(0, 0))
        return MethodTrajectories(
            method=runs[0].method,
            method_id=runs[0].method_id,
            runs=len(runs),
            tasks=len(scores),
            units=len(units),
            task_score=mean(known),
            scored_tasks=len(known),
            collaboration_gain=gain,
            gain_tasks=gain_tasks,
            gain=count_gains(units),
            strong=count_refinements(units, "strong"),
            weak=count_refinements(units, "weak"),
            aggregation_loss=_settled(mean(losses), self.configuration.tie),
            aggregation_units=len(losses),
            token_cost=_tokens_each(counted, by_unit=True),
            token_runs=len(counted),
            token_multiple=multiple,
            multiple_tasks=multiple_tasks,
            validity=validity,
            agreement=mean([float(one) for one in agreed]),
            agreement_units=len(agreed),
            notes=(
                *_notes(runs, units, validity, self.configuration.tie),
                *without_multiple,
            ),
        )


def report_trajectories(
    trajectories: Iterable[Trajectory], configuration: TrajectoryConfiguration | None = None
) -> TrajectoryReport:
    """The measures of trajectories that are at hand.

    Raises:
        UsageError: A score is above the maximum score.
    """
    options = configuration or TrajectoryConfiguration()
    kept = tuple(trajectories)
    return TrajectoryReport(options, kept, tuple(diagnose(one, options) for one in kept))


def evaluate_trajectories(
    graphs: Iterable[CollaborationGraph], configuration: TrajectoryConfiguration | None = None
) -> TrajectoryReport:
    """The measures of many runs; the runs are taken one by one and not kept.

    Raises:
        UsageError: One of the graphs is a decomposition, or a score is above the maximum.
    """
    options = configuration or TrajectoryConfiguration()
    return report_trajectories((trajectory_of(graph, options) for graph in graphs), options)


def methods_to_pandas(methods: Iterable[MethodTrajectories]) -> "pandas.DataFrame":
    """One line a method: its measures, and the share of each label.

    The columns of labels are named ``gain_Improve``, ``strong_Regress``, ``weak_Reach``.
    """
    import pandas

    rows = []
    for one in methods:
        row = asdict(one)
        validity = row.pop("validity")
        row |= {"output_validity": one.validity.share, "known_outputs": validity["known"]}
        for group in ("gain", "strong", "weak"):
            labels: LabelCounts = getattr(one, group)
            del row[group]
            row |= {f"{group}_{label}": labels.share(label) for label in labels.counts}
            row[f"{group}_known"] = labels.known
        row["notes"] = " ".join(one.notes) or None
        rows.append(row)
    return pandas.DataFrame(rows).convert_dtypes()


def find_method(groups: Iterable[MethodKey], wanted: str) -> MethodKey:
    """The method with a name or id.

    Raises:
        NotFoundError: No run has that method.
        UsageError: Two methods have that name.
    """
    found = [key for key in groups if wanted in (key[1], key[2])]
    if not found:
        raise NotFoundError(f"no run was made by a method {wanted!r}")
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} methods are named {wanted!r}; "
            f"give an id: {', '.join(identity for *_, identity in found)}"
        )
    return found[0]


def _gain(
    runs: list[Trajectory], single: list[Trajectory], tie: float
) -> tuple[float | None, int]:
    own = mean_by_task((run.task_id, run.score) for run in runs)
    base = mean_by_task((run.task_id, run.score) for run in single)
    pairs = [
        (score, other)
        for task, score in own.items()
        if score is not None and (other := base.get(task)) is not None
    ]
    gain = collaboration_gain(mean([a for a, _ in pairs]), mean([b for _, b in pairs]))
    return _settled(gain, tie), len(pairs)


def _settled(value: float | None, tie: float) -> float | None:
    return None if value is None else without_noise(value, tie)


def _multiple(
    runs: list[Trajectory], single: list[Trajectory]
) -> tuple[float | None, int, bool]:
    own = [run for run in runs if run.tokens is not None]
    base = [run for run in single if run.tokens is not None]
    tasks = {run.task_id for run in own} & {run.task_id for run in base}
    own = [run for run in own if run.task_id in tasks]
    base = [run for run in base if run.task_id in tasks]
    by_unit = all(run.units for run in (*own, *base))
    return (
        token_multiple(_tokens_each(own, by_unit=by_unit), _tokens_each(base, by_unit=by_unit)),
        len(tasks),
        by_unit,
    )


def _tokens_each(runs: list[Trajectory], *, by_unit: bool) -> float | None:
    if not runs:
        return None
    total = sum(run.tokens for run in runs if run.tokens is not None)
    return total / sum((len(run.units) or 1) if by_unit else 1 for run in runs)


def _notes(
    runs: list[Trajectory], units: list[UnitDiagnosis], validity: Validity, tie: float
) -> Iterable[str]:
    def told(count: int, total: int, what: str) -> Iterable[str]:
        if count:
            yield f"{count} of {total} {what}."

    count = len(runs)
    if count == 1:
        yield "There is one run: nothing tells how much runs differ."
    yield from told(sum(run.score is None for run in runs), count, "runs have no score")
    yield from told(
        sum(differs(run.own_score, run.score, tie) for run in runs),
        count,
        "runs have a score of their own that is not their only answer's, which is the task "
        "score",
    )
    yield from told(
        sum(run.tokens is None for run in runs), count, "runs have no complete token count"
    )
    yield from told(sum(not run.units for run in runs), count, "runs record no proposal")
    total = len(units)
    yield from told(
        sum(unit.best_initial is None for unit in units),
        total,
        "units have no known best initial proposal",
    )
    yield from told(
        sum(unit.best_final is None for unit in units),
        total,
        "units have no known best final proposal",
    )
    yield from told(
        sum(unit.answer_score is None for unit in units), total, "units have no scored answer"
    )
    yield from told(
        sum(unit.proposers == 1 for unit in units), total, "units have one proposer"
    )
    yield from told(
        sum(unit.gain == "UnratedKeep" for unit in units),
        total,
        "units keep the best initial score, and the largest possible score is not known",
    )
    yield from told(
        validity.unknown, validity.known + validity.unknown, "outputs may be valid or not"
    )
