"""Runs and decompositions in masgraph's own JSONL."""

import msgspec

from ingest.readers import native_records as records
from teams.stage import Play
from teams.task import DATASET, Step, Task

FRAMEWORK = "masgraph-examples"


def task_record(task: Task) -> records.TaskRecord:
    """The task, the same in each format."""
    return records.TaskRecord(
        name=task.name, description=task.question, dataset=DATASET, category=task.family
    )


def run_lines(plays: list[Play]) -> bytes:
    """One line a run."""
    return _lines([run_record(play) for play in plays])


def decomposition_lines(tasks: tuple[Task, ...]) -> bytes:
    """One line a task's plan."""
    return _lines([decomposition_record(task) for task in tasks])


def _lines(found: list[records.AnyRecord]) -> bytes:
    return b"".join(records.encoder.encode(record) + b"\n" for record in found)


def run_record(play: Play) -> records.RunRecord:
    """A run with everything that is known of it."""
    units = {name for name, _ in play.charter.units}
    derived = _derived(play)
    return records.RunRecord(
        masgraph=1,
        id=play.id,
        name=f"{play.task.name}, {play.method}, run {play.repetition}",
        task=task_record(play.task),
        method=records.MethodRecord(name=play.method, framework=FRAMEWORK),
        organization=records.OrganizationRecord(
            name=play.method,
            units=tuple(
                records.UnitRecord(name=name, role=role) for name, role in play.charter.units
            ),
            links=tuple(
                records.LinkRecord(source=source, target=target, kinds=(kind,))
                for source, target, kind in play.charter.links
            ),
        ),
        agents=tuple(
            records.AgentRecord(
                name=member.name,
                role=member.role,
                kind=member.kind,
                unit=member.name if member.name in units else None,
            )
            for member in play.members
        ),
        actions=tuple(
            records.ActionRecord(
                kind=action.kind,
                name=action.name,
                agent=action.speaker,
                to=action.to,
                consumes=None if derived else tuple(str(one) for one in action.consumes),
                content=action.content,
                round=action.round,
                started_at=action.started_at,
                ended_at=action.ended_at,
                tokens_in=action.tokens_in,
                tokens_out=action.tokens_out,
                status=action.status,
                attributes={} if action.arguments is None else {"arguments": action.arguments},
            )
            for action in play.actions
        ),
        proposals=tuple(
            records.ProposalRecord(
                unit=play.task.name,
                phase=offer.phase,
                agent=offer.speaker,
                node=str(offer.action),
                value=offer.value,
                score=offer.verdict.score,
                valid=offer.verdict.valid,
            )
            for offer in play.offers
        ),
        outcome=_outcome(play),
        attributes={"seed": play.repetition},
    )


def _outcome(play: Play) -> records.OutcomeRecord:
    mistake = play.mistake
    return records.OutcomeRecord(
        success=play.verdict.right,
        score=play.verdict.score,
        answer=play.answer,
        expected=play.task.expected,
        termination=play.termination,
        tokens_in=play.tokens_in,
        tokens_out=play.tokens_out,
        calls=play.calls,
        retries=play.retries,
        latency=round(play.latency, 3),
        mistake_agent=None if mistake is None else mistake.speaker,
        mistake_step=None if mistake is None else mistake.action,
        mistake_reason=None if mistake is None else mistake.reason,
    )


def _derived(play: Play) -> bool:
    """Whether a reader that follows deliveries finds the same sources by itself.

    It does not where members speak at once: they hear each other later than they are written
    down.
    """
    waiting: dict[str, list[int]] = {}
    last: dict[str, int] = {}
    for place, action in enumerate(play.actions):
        found = tuple(waiting.pop(action.speaker, ()))
        if not found and action.speaker in last:
            found = (last[action.speaker],)
        if found != action.consumes:
            return False
        last[action.speaker] = place
        for receiver in action.to:
            waiting.setdefault(receiver, []).append(place)
    return True


def decomposition_record(task: Task) -> records.DecompositionRecord:
    """A task's plan: its steps in groups, what they take and make, and what they share."""
    groups = tuple(dict.fromkeys(step.group for step in task.steps))
    made = {step.key: step for step in task.steps}
    steps = tuple(_subtask(step, made, task) for step in task.steps)
    writers: dict[str, list[str]] = {}
    for step in task.steps:
        for resource in step.writes:
            writers.setdefault(resource, []).append(step.key)
    shared: dict[tuple[str, str], list[str]] = {}
    for resource, keys in writers.items():
        for place, one in enumerate(keys):
            for other in keys[place + 1 :]:
                shared.setdefault((one, other), []).append(resource)
    resources: dict[str, str] = {}
    for step in task.steps:
        for table in _tables(step, task):
            resources.setdefault(table, "table")
        for resource in (*step.reads, *step.writes):
            resources.setdefault(resource, "document")
    return records.DecompositionRecord(
        masgraph=1,
        id=f"{task.name}-plan",
        name=f"{task.name}, the plan",
        task=task_record(task),
        method=records.MethodRecord(name="plan", framework=FRAMEWORK),
        resources=tuple(
            records.ResourceRecord(name=name, type=type_) for name, type_ in resources.items()
        ),
        subtasks=(
            *(
                records.SubtaskRecord(id=f"group {number}", kind="group", name=group)
                for number, group in enumerate(groups, start=1)
            ),
            *(
                msgspec.structs.replace(subtask, parent=f"group {groups.index(step.group) + 1}")
                for step, subtask in zip(task.steps, steps, strict=True)
            ),
        ),
        couplings=tuple(
            records.CouplingRecord(between=pair, resources=tuple(names))
            for pair, names in shared.items()
        ),
    )


def _tables(step: Step, task: Task) -> tuple[str, ...]:
    return () if step.query is None else (step.query(task.solve()).table,)


def _subtask(step: Step, made: dict[str, Step], task: Task) -> records.SubtaskRecord:
    return records.SubtaskRecord(
        id=step.key,
        name=step.title,
        role="solver" if step.tool is None else "executor",
        content=f"{step.title}.",
        inputs=tuple(
            records.ArtifactRecord(
                name=need.replace("_", " "),
                type=made[need].makes if need in made else "given",
            )
            for need in step.needs
        ),
        outputs=(records.ArtifactRecord(name=step.key.replace("_", " "), type=step.makes),),
        reads=(*_tables(step, task), *step.reads),
        writes=step.writes,
        consumes=tuple(need for need in step.needs if need in made),
        attributes={"skill": step.skill, "difficulty": step.difficulty},
    )
