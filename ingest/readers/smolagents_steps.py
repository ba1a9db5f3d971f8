"""Steps of smolagents: what memories hold, and which helper ran during which step."""

import re
from dataclasses import dataclass, field
from typing import Any

from ingest.readers.chat_payload import as_message
from ingest.readers.instants import from_seconds
from ingest.readers.platform_spans import count_at, text_at

FINAL = "final_answer"

_NAMED = re.compile(r"You're a helpful agent named '([^']+)'")
_MARKS = frozenset({"plan", "step_number", "system_prompt", "task"})
_LISTS = ("steps", "messages", "memory")


@dataclass(slots=True, eq=False)
class Memory:
    """The steps of one agent, and the result that they stood in."""

    name: str | None
    steps: list[Any] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Step:
    """A step of planning or acting.

    Attributes:
        raw: As it was written.
        text: What the model said.
        calls: Name, arguments and id of each tool call.
        children: The runs of helpers that began during it.
    """

    raw: dict[str, Any]
    number: int | None = None
    planning: bool = False
    text: str | None = None
    calls: list[tuple[str, Any, str | None]] = field(default_factory=list)
    observations: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    children: "list[Stage]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Stage:
    """A task and the steps that follow it.

    Attributes:
        memory: The position of the memory that it stands in.
        name: The agent's name.
        holder: The step of a manager during which it began.
        called: Whether a tool call names the agent.
    """

    memory: int
    name: str | None
    task: str | None = None
    steps: list[Step] = field(default_factory=list)
    holder: Step | None = None
    called: bool = False

    @property
    def started_at(self) -> int | None:
        """When its first step began."""
        return next((one.started_at for one in self.steps if one.started_at is not None), None)


def is_step(value: Any) -> bool:
    """Whether a value is a step of a memory."""
    if not isinstance(value, dict):
        return False
    if "step_number" in value:
        return "model_output" in value or "observations" in value or "tool_calls" in value
    if "task" in value:
        return "task_images" in value or value.keys() <= {"task"}
    if "plan" in value:
        return "model_output_message" in value or "timing" in value
    return value.keys() == {"system_prompt"} or (
        "output" in value and value.keys() <= {"output"}
    )


def memories_in(value: Any) -> list[Memory]:
    """The memories of an object that holds some: a result, an agent, or steps by name."""
    if not isinstance(value, dict):
        return []
    for key in _LISTS:
        held = value.get(key)
        if isinstance(held, dict):
            held = held.get("steps")
        if isinstance(held, list) and _are_steps(held):
            name = text_at(value, "agent", "agent_name", "name")
            result = {
                one: value[one]
                for one in ("output", "state", "token_usage", "timing")
                if value.get(one) is not None
            }
            return [Memory(name, held, result)]
    if value and all(_are_steps(held) for held in value.values()):
        return [Memory(name, held) for name, held in value.items()]
    return []


def _are_steps(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and any(is_step(step) for step in value)


def stages_of(memories: list[Memory]) -> list[Stage]:
    """The runs of all agents, those of helpers joined to the steps that held them.

    Args:
        memories: In order of the file.
    """
    stages: list[Stage] = []
    for place, memory in enumerate(memories):
        stages.extend(_stages(place, memory))
    for stage in stages:
        _join(stage, stages)
    return stages


def _stages(place: int, memory: Memory) -> list[Stage]:
    name = memory.name
    if name is None:
        tasks = [text_at(step, "task") or "" for step in memory.steps if is_step(step)]
        name = next((match[1] for task in tasks if (match := _NAMED.search(task))), None)
    found: list[Stage] = []
    for raw in memory.steps:
        if not is_step(raw):
            continue
        if "step_number" in raw or "plan" in raw:
            if not found:
                found.append(Stage(place, name))
            found[-1].steps.append(_step(raw))
        elif "task" in raw:
            task = raw["task"]
            found.append(Stage(place, name, task if isinstance(task, str) else None))
    return found


def _join(stage: Stage, stages: list[Stage]) -> None:
    """Finds the step of another agent during which a run began."""
    others = [
        step
        for other in stages
        if other.memory != stage.memory
        for step in other.steps
        if step.calls
    ]
    start = stage.started_at
    if start is not None:
        around = [
            step
            for step in others
            if step.started_at is not None
            and step.ended_at is not None
            and step.started_at < start <= step.ended_at
        ]
        if around:
            stage.holder = max(around, key=lambda step: step.started_at or 0)
    elif stage.name is not None:
        inside = _inside(stage)
        for step in others:
            named = sum(call[0] == stage.name for call in step.calls)
            taken = sum(child.name == stage.name for child in step.children)
            if named > taken and id(step) not in inside:
                stage.holder = step
                break
    if stage.holder is not None:
        stage.holder.children.append(stage)


def _inside(stage: Stage) -> set[int]:
    """The steps of a run and of the runs inside it, by identity."""
    waiting = list(stage.steps)
    found: set[int] = set()
    while waiting:
        step = waiting.pop()
        found.add(id(step))
        for child in step.children:
            waiting.extend(child.steps)
    return found


def _step(raw: dict[str, Any]) -> Step:
    step = Step(raw, planning="plan" in raw and "step_number" not in raw)
    number = raw.get("step_number")
    if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
        step.number = number
    timing = raw.get("timing")
    if isinstance(timing, dict):
        step.started_at = from_seconds(timing.get("start_time"))
        step.ended_at = from_seconds(timing.get("end_time"))
    elif "start_time" in raw:
        # Before version 1.15, times stood in the step itself.
        step.started_at = from_seconds(raw.get("start_time"))
        step.ended_at = from_seconds(raw.get("end_time"))
    message = as_message(raw.get("model_output_message"))
    output = raw.get("plan") if step.planning else raw.get("model_output")
    if isinstance(output, str):
        step.text = output or None
    elif isinstance(output, list):
        said = as_message({"role": "assistant", "content": output})
        step.text = said.text if said is not None else None
    elif message is not None:
        step.text = message.text
    calls = as_message({"role": "assistant", "tool_calls": raw.get("tool_calls") or []})
    found = calls.calls if calls is not None else []
    if not found and message is not None and raw.get("error") is not None:
        found = message.calls
    step.calls = [(call.name or "tool", call.arguments, call.id) for call in found]
    observations = raw.get("observations")
    step.observations = observations if isinstance(observations, str) and observations else None
    usage = raw.get("token_usage")
    if not isinstance(usage, dict) and message is not None:
        usage = message.raw.get("token_usage")
    step.tokens_in = count_at(usage, "input_tokens")
    step.tokens_out = count_at(usage, "output_tokens")
    return step
