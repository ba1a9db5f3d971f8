"""Scores for the proposals of a run, from a scorer and the task's instance.

An instance comes from a table (a tasks file), else from the run's attributes: ``instances``
by unit, or one ``instance`` for all, else from the run's expected answer, where the scorer can
do with it. With a scorer all scores come from it: a proposal without an instance or a text
has none, whatever the trace says, because the two need not have one unit.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from analytics.scorers.base import Scorer
from analytics.verdicts import Verdict, score_proposals
from graphstore.errors import InputError, MasgraphError, UsageError
from graphstore.model import CollaborationGraph, Proposal

Result = TypeVar("Result")


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    instance: dict[str, Any]
    task: str | None = None
    dataset: str | None = None
    run: str | None = None
    unit: str | None = None
    scorer: str | None = None


_Key = tuple[str, str, str | None, str | None]


@dataclass(frozen=True)
class InstanceTable:
    """Instances by what they are for.

    Attributes:
        instances: By run or task, data set and unit; None where it holds for all.
    """

    instances: Mapping[_Key, Any]

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any] | None],
        scorer: Scorer,
        *,
        file: str | None = None,
    ) -> "InstanceTable":
        """Reads ``{"task": ..., "unit": ..., "instance": {...}}``.

        Args:
            records: JSON objects; None is an empty line. ``task`` (a name or id) or ``run``
                (a name, record or id) says what the instance is for; ``dataset`` and ``unit``
                narrow it. A record that names another ``scorer`` is passed over.
            scorer: Who reads the instances.
            file: Where they are from, for messages.

        Raises:
            InputError: A record makes no instance, or two are for the same.
        """
        found: dict[_Key, Any] = {}
        for number, record in enumerate(records, start=1):
            if record is None:
                continue
            try:
                entry = msgspec.convert(record, _Entry)
                if entry.scorer is not None and entry.scorer != scorer.name:
                    continue
                key = _key_of(entry)
                if key in found:
                    raise UsageError("another record is for the same")
                found[key] = scorer.read_instance(entry.instance)
            except (msgspec.ValidationError, UsageError) as error:
                raise InputError(str(error), file=file, record=str(number)) from None
        return cls(found)

    def find(self, graph: CollaborationGraph, unit: str) -> Any:
        """The instance of a unit, the most special one; None where there is none."""
        task = graph.task
        for kind, names, dataset in (
            ("run", (graph.id, graph.name, graph.source.record), None),
            ("task", (task.id, task.name), task.dataset),
            ("task", (task.id, task.name), None),
        ):
            for one in (unit, None):
                for name in filter(None, names):
                    found = self.instances.get((kind, name, dataset, one))
                    if found is not None:
                        return found
        return None


def _key_of(entry: _Entry) -> _Key:
    if (entry.task is None) == (entry.run is None):
        raise UsageError("an instance is for one task or one run: name one of the two")
    if entry.run is not None:
        return ("run", entry.run, None, entry.unit)
    return ("task", entry.task or "", entry.dataset, entry.unit)


@dataclass(frozen=True)
class ScoredRun:
    """A run whose proposals were scored.

    Attributes:
        graph: The run; all scores of proposals are the scorer's, and so is the form in which
            valid ones stand.
        maximum_scores: S* by unit, where the scorer knows it.
        scored: Proposals that have a score.
        reasons: For each proposal that has none, why.
    """

    graph: CollaborationGraph
    maximum_scores: Mapping[str, float]
    scored: int
    reasons: tuple[str, ...]


def score_run(
    graph: CollaborationGraph, scorer: Scorer, instances: InstanceTable | None = None
) -> ScoredRun:
    """Scores every proposal of a run.

    Args:
        graph: A run.
        scorer: How.
        instances: Goes before what the run itself says.

    Raises:
        UsageError: The scorer fails, lacks its judge, or the judge cannot be asked.
        InputError: What the judge says is no answer.
    """
    units = dict.fromkeys(proposal.unit for proposal in graph.proposals)
    found: dict[str, Any] = {}
    told: dict[str, str] = {}
    for unit in units:
        try:
            found[unit] = _instance(graph, scorer, instances, unit)
        except UsageError as error:
            found[unit], told[unit] = None, f"the run's own instance cannot be read: {error}"
    reasons: list[str] = []

    def verdict_on(proposal: Proposal) -> Verdict:
        verdict = _verdict(proposal, scorer, found[proposal.unit], told.get(proposal.unit))
        if verdict.score is None:
            reasons.append(verdict.reason or "the scorer gives no reason")
        return verdict

    scored = score_proposals(graph, verdict_on, replace=True)
    # Proposals are compared too, and the same move can be written in many ways.
    proposals = [
        msgspec.structs.replace(
            one, value=_safely(scorer, one, scorer.normal_form, found[one.unit])
        )
        if one.valid and found[one.unit] is not None and one.value is not None
        else one
        for one in scored.proposals
    ]
    scored = msgspec.structs.replace(scored, proposals=tuple(proposals))
    maximum_scores = {}
    for unit, instance in found.items():
        best = None if instance is None else scorer.best_score(instance)
        if best is not None:
            maximum_scores[unit] = best
    return ScoredRun(
        scored, maximum_scores, len(scored.proposals) - len(reasons), tuple(reasons)
    )


def _instance(
    graph: CollaborationGraph, scorer: Scorer, instances: InstanceTable | None, unit: str
) -> Any:
    if instances is not None:
        found = instances.find(graph, unit)
        if found is not None:
            return found
    by_unit = graph.attributes.get("instances")
    fields = by_unit.get(unit) if isinstance(by_unit, dict) else None
    if fields is None:
        fields = graph.attributes.get("instance")
    if isinstance(fields, dict):
        return scorer.read_instance(fields)
    expected = graph.outcome.expected
    return None if expected is None else scorer.instance_of_expected(expected)


def _safely(
    scorer: Scorer, proposal: Proposal, asked: Callable[[Any, str], Result], instance: Any
) -> Result:
    """Asks a scorer, whose author may have made a mistake."""
    try:
        return asked(instance, proposal.value or "")
    except MasgraphError:
        raise
    except Exception as error:
        raise UsageError(
            f"the scorer {scorer.name} failed on {proposal.id}: {type(error).__name__}: {error}"
        ) from error


def _verdict(proposal: Proposal, scorer: Scorer, instance: Any, told: str | None) -> Verdict:
    if instance is None:
        return Verdict(None, proposal.valid, told or "there is no instance of its task")
    if proposal.value is None:
        return Verdict(None, proposal.valid, "the trace does not hold its text")
    verdict = _safely(scorer, proposal, scorer.score, instance)
    if not isinstance(verdict, Verdict):
        raise UsageError(
            f"the scorer {scorer.name} gave {proposal.id} {type(verdict).__name__}, no Verdict"
        )
    if verdict.score is not None and not math.isfinite(verdict.score):
        raise UsageError(f"the scorer {scorer.name} gave {proposal.id} {verdict.score}")
    return verdict
