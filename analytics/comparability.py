"""Whether runs may be compared at all, and what a comparison of them cannot show.

Source: OpenMAS-GCom, section 3.3 and appendix B.6: methods are compared on common tasks, under
controls that agree (backend, prompt, parser, budget).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.interventions_controls import CONTROL_PATHS

FEW_TASKS = 5


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """What a comparison needs to know of one run.

    Attributes:
        run: Its id.
        method: Name of its method.
        task: Id of its task.
        task_name: The task's name.
        group: The task's source, data set or category, as the grouping has it.
        dataset: The task's data set.
        expected: The expected answer, where the trace gives one.
        format: The reader's name.
        controls: What the run records of backend, prompt, parser and budget, as JSON text
            (:data:`analytics.interventions_controls.CONTROL_PATHS`).
        seed: The seed that it records, likewise.
        values: By metric; None where it is not known.
    """

    run: str
    method: str
    task: str
    task_name: str
    group: str | None
    dataset: str | None
    expected: str | None
    format: str
    controls: Mapping[str, str | None]
    seed: str | None
    values: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that limits what a pair of methods can show.

    Attributes:
        first: Name of the first method.
        second: Name of the second.
        comparable: False where the pair was not compared at all.
        reason: One sentence.
    """

    first: str
    second: str
    comparable: bool
    reason: str


def without_conflicts(
    by_method: Mapping[str, list[ComparedRun]],
) -> tuple[dict[str, list[ComparedRun]], dict[str, tuple[str, ...]]]:
    """Leaves out the runs of tasks whose expected answers differ: they are not one task.

    Args:
        by_method: Runs by name of the method.

    Returns:
        The runs that stay, and the ids of the others by the reason.
    """
    answers: dict[str, set[str]] = defaultdict(set)
    for runs in by_method.values():
        for run in runs:
            if run.expected is not None:
                answers[run.task].add(run.expected)
    torn = {task for task, found in answers.items() if len(found) > 1}
    left_out: dict[str, tuple[str, ...]] = {}
    if torn:
        reason = "runs of one task name different expected answers: it is not one task"
        left_out[reason] = tuple(
            sorted(run.run for runs in by_method.values() for run in runs if run.task in torn)
        )
    return {
        name: [run for run in runs if run.task not in torn] for name, runs in by_method.items()
    }, left_out


def cautions_of(
    first: str, second: str, left: Sequence[ComparedRun], right: Sequence[ComparedRun]
) -> list[Caution]:
    """What limits the comparison of two methods.

    Args:
        first: Name of the first method.
        second: Name of the second.
        left: Runs of the first.
        right: Runs of the second.

    Returns:
        One caution alone, with ``comparable`` False, where no task is common.
    """

    def caution(reason: str, *, comparable: bool = True) -> Caution:
        return Caution(first, second, comparable, reason)

    ours, theirs = {run.task for run in left}, {run.task for run in right}
    common = ours & theirs
    if not common:
        return [
            caution(
                f"{first} ({_counted(len(ours))}) and {second} ({_counted(len(theirs))}) have "
                "no task in common: they cannot be compared.",
                comparable=False,
            )
        ]
    found = []
    alone = len(ours ^ theirs)
    if alone:
        found.append(
            caution(
                f"{len(common)} of {len(ours | theirs)} tasks are common to {first} and "
                f"{second}; nothing is said of the other {alone}."
            )
        )
    if len(common) < FEW_TASKS:
        found.append(caution(f"{_counted(len(common))} in common: too few to show much."))
    left, right = ([run for run in runs if run.task in common] for runs in (left, right))
    for name in CONTROL_PATHS:
        one, other = (_told(runs, name) for runs in (left, right))
        if one and other and one != other:
            found.append(
                caution(
                    f"{first} and {second} differ in {name} ({', '.join(sorted(one))} against "
                    f"{', '.join(sorted(other))}): a difference cannot be put down to the "
                    "method alone."
                )
            )
    formats = [{run.format for run in runs} for runs in (left, right)]
    if formats[0] != formats[1]:
        found.append(
            caution(
                f"The runs of {first} and {second} come from different formats "
                f"({', '.join(sorted(formats[0]))} against {', '.join(sorted(formats[1]))}): "
                "structural differences may come from what a format records."
            )
        )
    ends = [_range(runs) for runs in (left, right)]
    if all(ends) and (ends[0] > 1.0) != (ends[1] > 1.0) and max(ends) > 10 * max(min(ends), 1):
        found.append(
            caution(
                f"The highest scores of {first} and {second} are {ends[0]:g} and {ends[1]:g}: "
                "they may be in different units."
            )
        )
    return found


def missing_values(
    first: str,
    second: str,
    left: Sequence[ComparedRun],
    right: Sequence[ComparedRun],
    metric: str,
) -> tuple[str, ...]:
    """Which of two methods lacks values of a metric, where both have some.

    Args:
        first: Name of the first method.
        second: Name of the second.
        left: Runs of the first on the common tasks.
        right: Runs of the second on them.
        metric: Its name.

    Returns:
        ``3 of 9 runs of NAME`` for each; nothing where no value is missing, and where a
        method has none at all, so that nothing is compared.
    """
    found = []
    for name, runs in ((first, left), (second, right)):
        missing = sum(run.values[metric] is None for run in runs)
        if missing == len(runs):
            return ()
        if missing:
            found.append(f"{missing} of {len(runs)} runs of {name}")
    return tuple(found)


def _counted(tasks: int) -> str:
    return "1 task" if tasks == 1 else f"{tasks} tasks"


def _told(runs: Iterable[ComparedRun], name: str) -> set[str]:
    return {told for run in runs if (told := run.controls.get(name)) is not None}


def _range(runs: Iterable[ComparedRun]) -> float:
    return max([abs(run.values["score"] or 0.0) for run in runs], default=0.0)
