"""Which runs make a pair of reference and modified, and which are left out for what reason.

Source: OpenMAS-GCom, appendix A.6: before aggregation, an audit checks that both share task,
parser, backend, prompt template and stopping budget; others are excluded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from analytics.interventions_controls import VALUES, ControlledRun, Value, disagreements
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash


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
    definitions: str = "2"

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


def _belongs(reference: ControlledRun, modified: ControlledRun) -> bool:
    if modified.reference_hash is not None and modified.reference_hash in reference.hashes:
        return True
    return reference.method_id == modified.method_id


def _agreeing(
    offered: Sequence[ControlledRun], run: ControlledRun, options: ResponseConfiguration
) -> tuple[tuple[ControlledRun, ...], tuple[str, ...]]:
    if run.extent.unmade is not None:
        return (), (run.extent.unmade,)
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
