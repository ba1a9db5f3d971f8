"""Steps of smolagents: what memories hold, and which helper ran during which step."""

import re
from bisect import bisect_left
from collections import deque
from itertools import accumulate
from typing import Any

import msgspec

from ingest.readers.chat_payload import ChatMessage, as_message, tool_calls_in
from ingest.readers.instants import from_seconds
from ingest.readers.platform_spans import count_at, text_at

FINAL = "final_answer"

_NAMED = re.compile(r"You're a helpful agent named '([^']+)'")
_MARKS = frozenset({"plan", "step_number", "system_prompt", "task"})
_LISTS = ("steps", "messages", "memory")


class Memory(msgspec.Struct, eq=False):
    """The steps of one agent, and the result that they stood in."""

    name: str | None
    steps: list[Any] = []
    result: dict[str, Any] = {}


class Step(msgspec.Struct, eq=False):
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
    calls: list[tuple[str, Any, str | None]] = []
    observations: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    children: "list[Stage]" = []


class Stage(msgspec.Struct, eq=False):
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
    steps: list[Step] = []
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
    holders = _Holders(stages)
    for stage in stages:
        stage.holder = holder = holders.of(stage)
        if holder is not None:
            holder.children.append(stage)
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


class _Holders:
    """Finds the step of another agent during which a run began."""

    def __init__(self, stages: list[Stage]) -> None:
        calling = [
            (stage.memory, step) for stage in stages for step in stage.steps if step.calls
        ]
        timed = [
            (step.started_at, -place, step.ended_at, memory, step)
            for place, (memory, step) in enumerate(calling)
            if step.started_at is not None and step.ended_at is not None
        ]
        # Of steps that began at once the first of the file comes last: it is found first.
        self._timed = sorted(timed, key=lambda entry: entry[:2])
        self._latest_ends = list(accumulate((entry[2] for entry in self._timed), max))
        self._naming: dict[str, deque[tuple[int, Step]]] = {}
        for memory, step in calling:
            for name in dict.fromkeys(call[0] for call in step.calls):
                self._naming.setdefault(name, deque()).append((memory, step))

    def of(self, stage: Stage) -> Step | None:
        """The step that was running when a run began; without times, one that calls its name.

        Args:
            stage: The runs before it are known to their steps as children.
        """
        start = stage.started_at
        if start is not None:
            return self._running(start, stage.memory)
        return None if stage.name is None else self._calling(stage.name, stage)

    def _running(self, start: int, memory: int) -> Step | None:
        """The last step of another memory that began before a moment and ended no earlier."""
        place = bisect_left(self._timed, start, key=lambda entry: entry[0])
        while place > 0 and self._latest_ends[place - 1] >= start:
            place -= 1
            _, _, ended_at, other, step = self._timed[place]
            if ended_at >= start and other != memory:
                return step
        return None

    def _calling(self, name: str, stage: Stage) -> Step | None:
        """The first step of another memory with a call by name that no run was found for."""
        waiting = self._naming.get(name, deque())
        while waiting and not _calls_more(waiting[0][1], name):
            waiting.popleft()
        inside = _inside(stage)
        for memory, step in waiting:
            if memory != stage.memory and id(step) not in inside and _calls_more(step, name):
                return step
        return None


def _calls_more(step: Step, name: str) -> bool:
    """Whether more calls of a step have a name than runs that were found for them."""
    named = sum(call[0] == name for call in step.calls)
    return named > sum(child.name == name for child in step.children)


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
    output = raw.get("plan") if step.planning else raw.get("model_output")
    if isinstance(output, str):
        step.text = output or None
    elif isinstance(output, list):
        said = as_message({"role": "assistant", "content": output})
        step.text = said.text if said is not None else None
    elif (message := _message(raw)) is not None:
        step.text = message.text
    found = tool_calls_in({"tool_calls": raw.get("tool_calls")})
    if not found and raw.get("error") is not None and (message := _message(raw)) is not None:
        found = message.calls
    step.calls = [(call.name or "tool", call.arguments, call.id) for call in found]
    observations = raw.get("observations")
    step.observations = observations if isinstance(observations, str) and observations else None
    usage = raw.get("token_usage")
    if not isinstance(usage, dict) and (message := _message(raw)) is not None:
        usage = message.raw.get("token_usage")
    step.tokens_in = count_at(usage, "input_tokens")
    step.tokens_out = count_at(usage, "output_tokens")
    return step


def _message(raw: dict[str, Any]) -> ChatMessage | None:
    """What the model answered, where a step keeps the whole message."""
    return as_message(raw.get("model_output_message"))
