"""How a score answered to an intervention: paired runs, response and retention.

Source: OpenMAS-GCom, Eq. 6 and 13 (response: the modified score minus the reference score, on
the same tasks), section 3.4 (retention: the modified score over a positive reference score),
appendix A.6 (the audit: pairs whose controls disagree are left out; so are runs in which
nothing was changed) and B.6 (intervals by resampling common tasks, grouped by their source).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.averages import mean
from analytics.interventions import Family
from analytics.interventions_controls import ControlledRun, organization_change
from analytics.interventions_corruption import FATES
from analytics.interventions_pairs import LeftOut, Pair, ResponseConfiguration, pair_runs
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas


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
        achieved: Mean share that the modified runs say was replaced; None where none does.
        incomplete: Number of pairs whose modified run got less than was asked for.
        fates: Injected candidates by what became of them.
        tokens: Mean over pairs that know them: reference, modified.
        calls: Likewise.
        messages: Likewise.
        sent: Mean number of messages by the sender's role: reference, modified; over pairs
            whose runs record actions.
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
    achieved: float | None
    incomplete: int
    fates: dict[str, int]
    tokens: tuple[float | None, float | None]
    calls: tuple[float | None, float | None]
    messages: tuple[float | None, float | None]
    sent: dict[str, tuple[float, float]]


@dataclass(frozen=True, repr=False)
class ResponseReport(TableView):
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
            (
                ("pairs", "tasks", "better", "tied", "worse", "unrecorded", "incomplete"),
                "Int64",
            ),
            (
                (
                    *("reference", "modified", "response", "retention", "low", "high"),
                    *("replaced_links", "removed_units", "achieved"),
                ),
                "Float64",
            ),
        ):
            for name in names:
                cells = [getattr(one, name) for one in self.settings]
                columns[name] = pandas.Series(cells, dtype=kind)
        return pandas.DataFrame(columns)

    def _in_short(self) -> str:
        return (
            f"{counted(len(self.settings), 'setting')}, {len(self.left_out):,} of "
            f"{counted(self.modified, 'modified run')} left out"
        )


def response(modified: float, reference: float) -> float:
    """Modified minus reference score (OpenMAS-GCom, Eq. 6): negative for a loss."""
    return modified - reference


def retention(modified: float, reference: float) -> float | None:
    """100 times the modified over the reference score (OpenMAS-GCom, 3.4).

    Returns:
        In percent; None where the reference score is not positive.
    """
    return 100.0 * modified / reference if reference > 0.0 else None


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
    answered = retained = None
    if before is not None and after is not None:
        answered, retained = response(after, before), retention(after, before)
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
        response=answered,
        retention=retained,
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
        achieved=mean(
            [
                pair.modified.extent.achieved
                for pair in pairs
                if pair.modified.extent.achieved is not None
            ]
        ),
        incomplete=sum(not pair.modified.extent.complete for pair in pairs),
        fates={fate: fates[fate] for fate in FATES if fates[fate]},
        tokens=_both(pairs, "tokens"),
        calls=_both(pairs, "calls"),
        messages=_both(pairs, "messages"),
        sent=_sent(pairs),
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


def _sent(pairs: Sequence[Pair]) -> dict[str, tuple[float, float]]:
    """Messages by role before and after (OpenMAS-GCom, B.4), as means over the pairs."""
    known = [
        (pair, references)
        for pair in pairs
        if pair.modified.messages is not None
        and (references := [run for run in pair.references if run.messages is not None])
    ]
    roles = {
        role for pair, others in known for run in (pair.modified, *others) for role in run.sent
    }
    found = {}
    for role in sorted(roles):
        before = [
            sum(run.sent.get(role, 0) for run in others) / len(others) for _, others in known
        ]
        after = [pair.modified.sent.get(role, 0) for pair, _ in known]
        found[role] = (sum(before) / len(known), sum(after) / len(known))
    return found
