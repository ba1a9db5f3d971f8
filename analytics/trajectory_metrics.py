"""What became of proposals: gain against best, refinement, aggregation loss, agreement.

Source: MASTraceBench, "Multi-Layer Metrics" (GAB, AR, AL: Eq. 4) and the appendix "Output
Validity and Final-Proposal Agreement" (FPA: Eq. 24). A measure needs every score that its
formula names: where one is missing, so is the measure, and the unit is left out of shares
and means.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from analytics.averages import without_noise
from analytics.trajectories import Trajectory, TrajectoryConfiguration, UnitTrajectory
from graphstore.errors import UsageError

GainLabel = Literal["Improve", "OptKeep", "SubKeep", "UnratedKeep", "Regress"]
WeakLabel = Literal["Surpass", "Reach", "Partial", "Keep", "Degrade"]
Group = Literal["strong", "weak"]
GAIN_LABELS: tuple[str, ...] = get_args(GainLabel)
"""Of GAB and of strong proposers. ``UnratedKeep`` is ours: kept, but nobody said what the
largest score is."""
WEAK_LABELS: tuple[str, ...] = get_args(WeakLabel)


@dataclass(frozen=True, slots=True)
class Refinement:
    """What an agent made of its own proposal (AR).

    Attributes:
        agent: Id of the agent.
        group: ``strong`` with the best initial score of the unit, else ``weak``.
        label: A :data:`GainLabel` for strong, a :data:`WeakLabel` for weak agents; None
            where the final proposal has no score.
    """

    agent: str
    group: Group
    label: GainLabel | WeakLabel | None


@dataclass(frozen=True, slots=True)
class UnitDiagnosis:
    """The measures of one evaluation unit. None is "not known" or "not defined", never 0.

    Attributes:
        unit: The sample or state.
        proposers: Number of agents that proposed something.
        best_initial: b, the best initial score; None unless all proposers have one.
        answer_score: S of the team's answer.
        gain: The GAB label.
        refinements: One for each proposer; empty where the best initial score is not known.
        best_final: The best final score; None unless all proposers have one.
        aggregation_loss: Best final score minus the answer's; below 0 where aggregation
            made more of the proposals than any of them held.
        agreement: Whether all final proposals are equal; None for fewer than two proposers,
            or where a final proposal's value is not known.
        missing: What the trace does not hold, one sentence each.
    """

    unit: str
    proposers: int
    best_initial: float | None
    answer_score: float | None
    gain: GainLabel | None
    refinements: tuple[Refinement, ...]
    best_final: float | None
    aggregation_loss: float | None
    agreement: bool | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How often each label was given.

    Attributes:
        counts: By label, all labels of the group, in the paper's order.
        unknown: Units (or proposers) for which the label is not known. They are left out of
            the shares.
    """

    counts: dict[str, int]
    unknown: int

    @property
    def known(self) -> int:
        """Number of labels given."""
        return sum(self.counts.values())

    def share(self, label: str) -> float | None:
        """Of the known labels, between 0 and 1; None where none is known.

        Raises:
            UsageError: There is no such label in this group.
        """
        if label not in self.counts:
            raise UsageError(
                f"there is no label {label!r}; choose one of {', '.join(self.counts)}"
            )
        return self.counts[label] / self.known if self.known else None


def gain_label(
    score: float, best: float, maximum: float | None = None, *, tie: float = 1e-9
) -> GainLabel:
    """GAB: a score against the best initial score. Also the label of strong proposers.

    Args:
        score: Of the answer, or of a strong proposer's final proposal.
        best: b, the best initial score.
        maximum: The largest score that can be reached; None where it is not known.
        tie: Scores that differ by no more are equal.

    Raises:
        UsageError: A score is above the maximum.
    """
    if maximum is not None and max(score, best) > maximum + tie:
        raise UsageError(
            f"a score of {max(score, best):g} is above the maximum score of {maximum:g}"
        )
    if score > best + tie:
        return "Improve"
    if score < best - tie:
        return "Regress"
    if maximum is None:
        return "UnratedKeep"
    return "OptKeep" if score >= maximum - tie else "SubKeep"


def weak_label(initial: float, final: float, best: float, *, tie: float = 1e-9) -> WeakLabel:
    """AR of a weak proposer: its final score against its own and the best initial score.

    Args:
        initial: Its initial score, below the best.
        final: Its final score.
        best: b, the best initial score.
        tie: Scores that differ by no more are equal.

    Raises:
        UsageError: The initial score is the best, so that the proposer is strong.
    """
    if initial >= best - tie:
        raise UsageError("a proposer with the best initial score is strong, not weak")
    if final > best + tie:
        return "Surpass"
    if final >= best - tie:
        return "Reach"
    if final > initial + tie:
        return "Partial"
    return "Keep" if final >= initial - tie else "Degrade"


def diagnose_unit(
    unit: UnitTrajectory, configuration: TrajectoryConfiguration | None = None
) -> UnitDiagnosis:
    """All measures of one evaluation unit.

    Args:
        unit: Its proposals and answer.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: A score is above the maximum score.
    """
    tie = (configuration or TrajectoryConfiguration()).tie
    missing = list(unit.missing)
    initial = [one.initial.score if one.initial else None for one in unit.proposers]
    final = [one.final.score if one.final else None for one in unit.proposers]
    best_initial, best_final = _best(initial), _best(final)
    answer = unit.answer.score if unit.answer else None
    if not unit.proposers:
        missing.append("There is no proposal.")
    elif len(unit.proposers) == 1:
        missing.append("One proposer: no agreement, and nobody is weak.")
    refinements = []
    if best_initial is not None:
        for proposer, first, last in zip(unit.proposers, initial, final, strict=True):
            assert first is not None
            strong = first >= best_initial - tie
            label: GainLabel | WeakLabel | None = None
            if last is not None and strong:
                label = gain_label(last, best_initial, unit.maximum, tie=tie)
            elif last is not None:
                label = weak_label(first, last, best_initial, tie=tie)
            refinements.append(
                Refinement(proposer.agent, "strong" if strong else "weak", label)
            )
    gain: GainLabel | None = None
    if answer is not None and best_initial is not None:
        gain = gain_label(answer, best_initial, unit.maximum, tie=tie)
        if gain == "UnratedKeep":
            missing.append("The largest possible score is not known.")
    loss = None
    if best_final is not None and answer is not None:
        loss = without_noise(best_final - answer, tie)
    return UnitDiagnosis(
        unit=unit.unit,
        proposers=len(unit.proposers),
        best_initial=best_initial,
        answer_score=answer,
        gain=gain,
        refinements=tuple(refinements),
        best_final=best_final,
        aggregation_loss=loss,
        agreement=_agreement(unit),
        missing=tuple(missing),
    )


def diagnose(
    trajectory: Trajectory, configuration: TrajectoryConfiguration | None = None
) -> tuple[UnitDiagnosis, ...]:
    """The measures of each evaluation unit of a run.

    Raises:
        UsageError: A score is above the maximum score; the sentence names run and unit.
    """
    found = []
    for unit in trajectory.units:
        try:
            found.append(diagnose_unit(unit, configuration))
        except UsageError as error:
            raise UsageError(f"{trajectory.name}, unit {unit.unit}: {error}") from None
    return tuple(found)


def count_gains(units: Iterable[UnitDiagnosis]) -> LabelCounts:
    """The distribution of GAB labels over evaluation units."""
    return _counts([unit.gain for unit in units], GAIN_LABELS)


def count_refinements(units: Iterable[UnitDiagnosis], group: Group) -> LabelCounts:
    """The distribution of AR labels over the proposers of one group, in all units.

    Proposers of units without a known best initial score belong to neither group.
    """
    return _counts(
        [one.label for unit in units for one in unit.refinements if one.group == group],
        GAIN_LABELS if group == "strong" else WEAK_LABELS,
    )


def collaboration_gain(task_score: float | None, single: float | None) -> float | None:
    """CG = TS - TS of the single agent (MASTraceBench, Eq. 3).

    Returns:
        In the unit of the scores; None where one of them is not known.
    """
    return None if task_score is None or single is None else task_score - single


def token_multiple(tokens: float | None, single: float | None) -> float | None:
    """Token cost as a multiple of the single agent's (MASTraceBench, Table 3).

    Returns:
        None where one of them is not known, or the single agent used no token.
    """
    return None if tokens is None or not single else tokens / single


def _best(scores: list[float | None]) -> float | None:
    known = [score for score in scores if score is not None]
    return max(known) if known and len(known) == len(scores) else None


def _agreement(unit: UnitTrajectory) -> bool | None:
    values = [one.final.value if one.final else None for one in unit.proposers]
    if len(values) < 2 or None in values:
        return None
    return len(set(values)) == 1


def _counts(labels: list[str | None], names: tuple[str, ...]) -> LabelCounts:
    found = Counter(label for label in labels if label is not None)
    return LabelCounts({name: found[name] for name in names}, labels.count(None))
