"""How a score answered to an intervention: paired runs, response and retention.

Source: OpenMAS-GCom, Eq. 6 and 13 (response: the modified score minus the reference score, on
the same tasks), section 3.4 (retention: the modified score over a positive reference score),
appendix A.6 (the audit: pairs whose controls disagree are left out) and B.6 (intervals by
resampling common tasks, grouped by their source).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.interventions import Family
from analytics.interventions_controls import (
    VALUES,
    ControlledRun,
    Value,
    disagreements,
    organization_change,
)
from analytics.interventions_corruption import FATES
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class ResponseConfiguration:
    """What counts, and what makes a pair.

    Attributes:
        value: ``score``, or ``success`` as 1 and 0.
        accept_unrecorded: Whether a control that neither run of a pair records is taken to
            agree. It is left out otherwise: nobody knows.
        draws: Resamples of the interval.
        seed: Of the resamples.
        definitions: Raised whenever a measure changes its meaning.
    """

    value: Value = "score"
    accept_unrecorded: bool = False
    draws: int = 10_000
    seed: int = 0
    definitions: str = "1"

    def __post_init__(self) -> None:
        if self.value not in VALUES:
            raise UsageError(f"there is no value {self.value!r}: {' or '.join(VALUES)}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class Pair:
    """A modified run with the reference runs that it may be compared with.

    Attributes:
        modified: The modified run.
        references: Runs of the same task whose controls agree, those of the same seed where
            there are any.
    """

    modified: ControlledRun
    references: tuple[ControlledRun, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A modified run that takes no part, and why.

    Attributes:
        run: Its id.
        name: Its short label.
        task: Name of its task.
        method: Name of its method.
        setting: Of its intervention.
        reasons: One or more, for people.
    """

    run: str
    name: str
    task: str
    method: str | None
    setting: str | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingResponse:
    """How one method answered to one setting of an intervention.

    Attributes:
        method: Name of the modified runs' method.
        reference_method: Name of the reference runs' method.
        setting: The intervention with its parameters.
        family: Its family; None where the type is of none that is known.
        pairs: Number of modified runs with a reference.
        tasks: Number of tasks.
        reference: Mean over tasks of the reference runs' values.
        modified: Mean over tasks of the modified runs' values.
        response: Modified minus reference: negative for a loss.
        retention: 100 times modified over reference, in percent; None where the reference is
            not positive.
        low: Lower end of the 95% interval of the response; None for one task.
        high: Upper end.
        better: Number of tasks on which the modified runs did better.
        tied: As well.
        worse: Worse.
        unrecorded: Number of pairs that agree only because a control is recorded by neither.
        replaced_links: Mean share of permitted links that were replaced; None where no pair
            has both organizations.
        removed_units: Mean number of units that were removed, likewise.
        fates: Injected candidates by what became of them.
        tokens: Mean over pairs that know them: reference, modified.
        calls: Likewise.
        messages: Likewise.
    """

    method: str | None
    reference_method: str | None
    setting: str
    family: Family | None
    pairs: int
    tasks: int
    reference: float | None
    modified: float | None
    response: float | None
    retention: float | None
    low: float | None
    high: float | None
    better: int
    tied: int
    worse: int
    unrecorded: int
    replaced_links: float | None
    removed_units: float | None
    fates: dict[str, int]
    tokens: tuple[float | None, float | None]
    calls: tuple[float | None, float | None]
    messages: tuple[float | None, float | None]


@dataclass(frozen=True)
class ResponseReport:
    """All settings, and what was left out.

    Attributes:
        configuration: What counts.
        settings: By method and setting.
        left_out: Modified runs that take no part.
        references: Number of runs that were offered as references.
        modified: Number of runs that were offered as modified.
    """

    configuration: ResponseConfiguration
    settings: tuple[SettingResponse, ...]
    left_out: tuple[LeftOut, ...]
    references: int
    modified: int

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def reasons(self) -> dict[str, int]:
        """How many runs were left out for each reason, the most frequent first."""
        found = Counter(reason for one in self.left_out for reason in one.reasons)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "references": self.references,
            "modified": self.modified,
            "settings": [asdict(one) for one in self.settings],
            "reasons": self.reasons(),
            "left_out": [asdict(one) for one in self.left_out],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a setting."""
        import pandas

        columns: dict[str, Any] = {}
        for names, kind in (
            (("method", "reference_method", "setting", "family"), "string"),
            (("pairs", "tasks", "better", "tied", "worse", "unrecorded"), "Int64"),
            (
                (
                    *("reference", "modified", "response", "retention", "low", "high"),
                    *("replaced_links", "removed_units"),
                ),
                "Float64",
            ),
        ):
            for name in names:
                cells = [getattr(one, name) for one in self.settings]
                columns[name] = pandas.Series(cells, dtype=kind)
        return pandas.DataFrame(columns)


def response(modified: float, reference: float) -> float:
    """Modified minus reference score (OpenMAS-GCom, Eq. 6): negative for a loss."""
    return modified - reference


def retention(modified: float, reference: float) -> float | None:
    """100 times the modified over the reference score (OpenMAS-GCom, 3.4).

    Returns:
        In percent; None where the reference score is not positive.
    """
    return 100.0 * modified / reference if reference > 0.0 else None


def pair_runs(
    references: Sequence[ControlledRun],
    modified: Sequence[ControlledRun],
    configuration: ResponseConfiguration | None = None,
    *,
    by_method: bool = True,
) -> tuple[tuple[Pair, ...], tuple[LeftOut, ...]]:
    """Finds for each modified run the reference runs whose controls agree.

    Args:
        references: Runs of original organizations.
        modified: Runs of modified ones.
        configuration: What counts.
        by_method: Whether a reference must be of the same method or of the organization that
            the modified run names; else any run of the same task is offered.

    Returns:
        Pairs, and what was left out, both in the order of the modified runs.
    """
    options = configuration or ResponseConfiguration()
    by_task: dict[str, list[ControlledRun]] = {}
    for run in references:
        by_task.setdefault(run.task_id, []).append(run)
    pairs, left_out = [], []
    for run in modified:
        offered = by_task.get(run.task_id, [])
        if by_method:
            offered = [one for one in offered if _belongs(one, run)]
        agreeing, reasons = _agreeing(offered, run, options)
        if reasons:
            left_out.append(
                LeftOut(run.run, run.name, run.task, run.method, run.setting, reasons)
            )
        else:
            pairs.append(Pair(run, agreeing))
    return tuple(pairs), tuple(left_out)


def measure_responses(
    references: Sequence[ControlledRun],
    modified: Sequence[ControlledRun],
    configuration: ResponseConfiguration | None = None,
    *,
    by_method: bool = True,
) -> ResponseReport:
    """Response and retention for each method and setting; arguments as :func:`pair_runs`."""
    options = configuration or ResponseConfiguration()
    pairs, left_out = pair_runs(references, modified, options, by_method=by_method)
    groups: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        key = (
            pair.modified.method or "",
            pair.references[0].method or "",
            pair.modified.setting or "no intervention recorded",
        )
        groups.setdefault(key, []).append(pair)
    return ResponseReport(
        options,
        tuple(_measured(key[2], found, options) for key, found in sorted(groups.items())),
        left_out,
        len(references),
        len(modified),
    )


def _belongs(reference: ControlledRun, modified: ControlledRun) -> bool:
    if modified.reference_hash is not None and modified.reference_hash in reference.hashes:
        return True
    return reference.method_id == modified.method_id


def _agreeing(
    offered: Sequence[ControlledRun], run: ControlledRun, options: ResponseConfiguration
) -> tuple[tuple[ControlledRun, ...], tuple[str, ...]]:
    if not offered:
        return (), ("no reference run of its task and method",)
    told = [
        disagreements(one, run, accept_unrecorded=options.accept_unrecorded) for one in offered
    ]
    agreeing = [one for one, reasons in zip(offered, told, strict=True) if not reasons]
    if not agreeing:
        return (), min(told, key=lambda reasons: (len(reasons), reasons))
    same_seed = [one for one in agreeing if run.seed is not None and one.seed == run.seed]
    agreeing = same_seed or agreeing
    if run.value is None:
        return (), (f"it has no {options.value}",)
    scored = [one for one in agreeing if one.value is not None]
    if not scored:
        return (), (f"no reference run of it has a {options.value}",)
    return tuple(scored), ()


def _measured(
    setting: str, pairs: Sequence[Pair], options: ResponseConfiguration
) -> SettingResponse:
    from analytics.paired_scores import compare_pair, mean_by_task
    from analytics.statistics import BootstrapConfiguration

    scores = [mean([one.value for one in pair.references if one.value is not None])
              for pair in pairs]  # fmt: skip
    tasks = [pair.modified.task_id for pair in pairs]
    found = compare_pair(
        ("modified", mean_by_task(zip(tasks, (p.modified.value for p in pairs), strict=True))),
        ("reference", mean_by_task(zip(tasks, scores, strict=True))),
        sources={
            pair.modified.task_id: pair.modified.source
            for pair in pairs
            if pair.modified.source is not None
        },
        configuration=BootstrapConfiguration(draws=options.draws, seed=options.seed),
    )
    before, after = found.mean_second, found.mean_first
    known = before is not None and after is not None
    changes = [
        organization_change(pair.references[0].organization, pair.modified.organization)
        for pair in pairs
        if pair.references[0].organization is not None
        and pair.modified.organization is not None
    ]
    fates: Counter[str] = Counter()
    for pair in pairs:
        fates.update(pair.modified.fates)
    return SettingResponse(
        method=pairs[0].modified.method,
        reference_method=pairs[0].references[0].method,
        setting=setting,
        family=pairs[0].modified.family,
        pairs=len(pairs),
        tasks=len(found.tasks),
        reference=before,
        modified=after,
        response=response(after, before) if known else None,  # type: ignore[arg-type]
        retention=retention(after, before) if known else None,  # type: ignore[arg-type]
        low=found.interval.low,
        high=found.interval.high,
        better=found.signs.better,
        tied=found.signs.tied,
        worse=found.signs.worse,
        unrecorded=sum(None in pair.modified.controls.values() for pair in pairs),
        replaced_links=mean(
            [one.replaced_share for one in changes if one.replaced_share is not None]
        ),
        removed_units=mean([float(len(one.removed_units)) for one in changes]),
        fates={fate: fates[fate] for fate in FATES if fates[fate]},
        tokens=_both(pairs, "tokens"),
        calls=_both(pairs, "calls"),
        messages=_both(pairs, "messages"),
    )


def _both(pairs: Iterable[Pair], name: str) -> tuple[float | None, float | None]:
    before, after = [], []
    for pair in pairs:
        known = [getattr(one, name) for one in pair.references]
        known = [float(one) for one in known if one is not None]
        value = getattr(pair.modified, name)
        if known and value is not None:
            before.append(sum(known) / len(known))
            after.append(float(value))
    return mean(before), mean(after)
