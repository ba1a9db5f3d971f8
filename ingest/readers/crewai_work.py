"""CrewAI: the events of one kickoff as agents' work."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso
from ingest.readers.thread_items import (
    Actor,
    Call,
    Heard,
    Item,
    Opened,
    Returned,
    Step,
    Thread,
    Words,
)

Record = dict[str, Any]

_DELEGATIONS = frozenset({"delegate work to coworker", "ask question to coworker"})
_TASKS = ("task", "question")
_QUIET = frozenset(
    {"task_started", "task_completed", "agent_logs_started", "flow_started", "flow_finished"}
    | {"llm_call_started", "llm_stream_chunk", "llm_thinking_chunk", "flow_created"}
    | {"method_execution_started", "method_execution_finished"}
)


@dataclass(slots=True, eq=False)
class _Work:
    """One agent's work on one task; its open answer, the last one, and what was said."""

    thread: Thread
    call: Call | None = None
    step: Step | None = None
    last: Step | None = None
    words: list[Words] = field(default_factory=list)


class Crew:
    """Reads the events of one kickoff.

    Attributes:
        items: What happened, in order.
        user: Who kicked off.
        asked: What each task asks, in order.
    """

    def __init__(self, events: list[Record], builder: GraphBuilder) -> None:
        self.items: list[Item] = []
        self.user = Actor("user", role="human", kind="human")
        self.asked: list[str] = []
        self.name: str | None = None
        self.inputs: Any = None
        self.answer: str | None = None
        self.termination: str | None = None
        self.total_tokens: int | None = None
        self.models: dict[str, None] = {}
        self.others: Counter[str] = Counter()
        self._builder = builder
        self._system = Actor("system", role="environment", kind="environment")
        self._threads: dict[str, Thread] = {}
        self._above: dict[str, str] = {}
        self._works: dict[str, _Work] = {}
        self._latest: _Work | None = None
        self._calls: dict[str, tuple[Call, _Work]] = {}
        self._open: list[tuple[str, Call, _Work]] = []
        self._replied: set[int] = set()
        self._contexts: dict[str, str] = {}
        self._outputs: list[Words] = []
        self._roles = _roles(events)
        for event in events:
            id = text_of(event.get("event_id"))
            up = text_of(event.get("parent_event_id"))
            if id is not None and up is not None:
                self._above[id] = up
        for event in events:
            self._read(event)
        for words in self._outputs:
            words.told = list(dict.fromkeys(words.told))

    def _read(self, event: Record) -> None:
        kind = event["type"]
        match kind:
            case "crew_kickoff_started":
                self.name = self.name or text_of(event.get("crew_name"))
                self.inputs = event.get("inputs")
            case "crew_kickoff_completed":
                self.answer, self.termination = _raw(event.get("output")), "completed"
                total = event.get("total_tokens")
                if isinstance(total, int) and not isinstance(total, bool) and 0 < total < 2**60:
                    self.total_tokens = total
            case "crew_kickoff_failed":
                self.termination = f"failed: {text_of(event.get('error'))}"
            case "task_started":
                task = text_of(event.get("task_id")) or text_of(_get(event, "task", "id"))
                if task is not None and isinstance(event.get("context"), str):
                    self._contexts[task] = event["context"]
            case "agent_execution_started" | "lite_agent_execution_started":
                self._begin(event)
            case "llm_call_completed":
                self._answered(event)
            case "llm_call_failed" | "agent_execution_error" | "task_failed":
                self._failed(event)
            case "agent_logs_execution":
                self._logged(event)
            case "agent_execution_completed" | "lite_agent_execution_completed":
                self._finish(event)
            case "tool_usage_started":
                self._use(event)
            case "tool_usage_finished" | "tool_usage_error":
                self._used(event)
            case _ if kind not in _QUIET:
                self.others[kind] += 1

    def _thread(self, event: Record) -> Thread:
        id = _agent_id(event)
        role = _agent_role(event) or self._roles.get(id or "")
        if id is None:
            # Two agents can have one role: then a role alone names neither.
            named = [known for known, of in self._roles.items() if of == role]
            id = named[0] if len(named) == 1 else None
        key = id or role or "agent"
        if key not in self._threads:
            self._threads[key] = Thread(Actor(role or "agent", attributes=_about(event)))
        return self._threads[key]

    def _work(self, event: Record) -> _Work:
        """The work that an event stands in; where nothing says so, its agent's latest."""
        id: str | None = text_of(event.get("parent_event_id"))
        seen: set[str] = set()
        while id is not None and id not in seen:
            if id in self._works:
                return self._works[id]
            seen.add(id)
            id = self._above.get(id)
        started = text_of(event.get("started_event_id"))
        if started is not None and started in self._works:
            return self._works[started]
        latest = self._latest
        named = _agent_id(event) or _agent_role(event)
        if latest is not None and (named is None or self._thread(event) is latest.thread):
            return latest
        self._latest = _Work(self._thread(event))
        return self._latest

    def _begin(self, event: Record) -> None:
        thread = self._thread(event)
        work = _Work(thread)
        self._latest = work
        id = text_of(event.get("event_id"))
        if id is not None:
            self._works[id] = work
        found = self._calls.get(text_of(event.get("parent_event_id")) or "")
        if found is not None and found[0].prompt is not None:
            work.call = found[0]
            work.call.opens = thread
            self.items.append(Opened(thread, work.call))
            return
        task = text_of(event.get("task_id")) or text_of(_get(event, "task", "id"))
        text = text_of(_get(event, "task", "description")) or text_of(event.get("task_name"))
        text = text or text_of(event.get("task_prompt")) or _lite_prompt(event.get("messages"))
        attributes: Attributes = {}
        expected = text_of(_get(event, "task", "expected_output"))
        if expected:
            attributes["expected_output"] = expected
        context = self._contexts.get(task or "")
        if context and not self._give(context, thread):
            attributes["context"] = context
        if text is not None:
            self.asked.append(text)
            self.items.append(Heard(thread, text, self.user, _time(event), attributes))

    def _give(self, context: str, thread: Thread) -> bool:
        """Whether a task's context is what agents said before: it then reaches the agent."""
        given = [w for w in self._outputs if w.text and w.text.strip() in context]
        for words in given:
            words.told.append(thread)
            self.items.append(Opened(thread, words))
        return bool(given)

    def _step(self, work: _Work) -> Step:
        if work.step is None:
            work.step = work.last = Step(work.thread)
            self.items.append(work.step)
        return work.step

    def _say(self, work: _Work, words: Words, *, first: bool = False) -> None:
        step = self._step(work)
        step.parts.insert(0, words) if first else step.parts.append(words)
        if not words.thought:
            work.words.append(words)

    def _answered(self, event: Record) -> None:
        work = self._work(event)
        work.step = None
        step = self._step(work)
        model = text_of(event.get("model"))
        if model:
            step.attributes["model"] = model
            self.models.setdefault(model)
        usage = event.get("usage")
        if isinstance(usage, dict):
            step.tokens_in = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
            step.tokens_out = _count(usage.get("completion_tokens", usage.get("output_tokens")))
            if step.tokens_in == step.tokens_out == 0:
                step.tokens_in = step.tokens_out = None
        response = event.get("response")
        if isinstance(response, str) or not response or not _is_calls(response):
            self._say(work, Words(text_of(response), started_at=_time(event)))

    def _failed(self, event: Record) -> None:
        work = self._work(event)
        text = text_of(event.get("error"))
        if text is not None and all(words.text != text for words in work.words[-1:]):
            work.step = None
            self._say(work, Words(text, started_at=_time(event), status="error"))
            work.step = None

    def _logged(self, event: Record) -> None:
        """An agent's log of what its model wrote; a tool's use stands before it."""
        answer = event.get("formatted_answer")
        if not isinstance(answer, dict):
            return
        work = self._work(event)
        output = text_of(answer.get("output"))
        thought = text_of(answer.get("thought"))
        text = text_of(answer.get("text")) or ""
        said = [words.text or "" for words in work.words]
        if any(one and (text.startswith(one.strip()) or one == output) for one in said):
            return
        time = _time(event)
        if output is None:
            step = work.last
            if thought and step is not None and isinstance(step.parts[0], Call):
                step.parts.insert(0, Words(thought, True, time))
            return
        work.step = None
        if thought:
            self._say(work, Words(thought, True, time))
        self._say(work, Words(output, started_at=time))

    def _finish(self, event: Record) -> None:
        started = text_of(event.get("started_event_id")) or ""
        work = self._works.get(started) or self._work(event)
        output = _raw(event.get("output"))
        found = next(
            (w for w in reversed(work.words) if output and output.strip() in (w.text or "")),
            None,
        )
        if found is None and output is not None:
            work.step = None
            found = Words(output, started_at=_time(event))
            self._say(work, found)
        work.step = None
        if found is not None:
            self._outputs.append(found)
            if work.call is not None:
                self._replied.add(id(work.call))

    def _use(self, event: Record) -> None:
        work = self._work(event)
        name = text_of(event.get("tool_name")) or "unknown tool"
        raw = event.get("tool_args")
        call = Call(name, None, text_of(raw), started_at=_time(event))
        if name.replace("_", " ").strip().casefold() in _DELEGATIONS:
            arguments = _arguments(raw)
            call.prompt = next((t for k in _TASKS if (t := text_of(arguments.get(k)))), None)
            rest = {k: v for k, v in arguments.items() if k not in _TASKS}
            coworker = text_of(arguments.get("coworker"))
            if call.prompt is not None and coworker is not None:
                call.arguments = text_of(rest)
                call.opens = self._coworker(coworker)
            else:
                call.prompt = None
        self._step(work).parts.append(call)
        id = text_of(event.get("event_id"))
        if id is not None:
            self._calls[id] = (call, work)
        self._open.append((name.replace("_", " ").casefold(), call, work))

    def _coworker(self, name: str) -> Thread:
        key = name.strip().casefold()
        for thread in self._threads.values():
            if thread.actor.name.strip().casefold() == key:
                return thread
        for id, role in self._roles.items():
            if role.strip().casefold() == key:
                return self._threads.setdefault(id, Thread(Actor(role)))
        return self._threads.setdefault(name, Thread(Actor(name)))

    def _used(self, event: Record) -> None:
        found = self._calls.get(text_of(event.get("started_event_id")) or "")
        name = (text_of(event.get("tool_name")) or "").replace("_", " ").casefold()
        if found is None:
            found = next(((c, w) for n, c, w in reversed(self._open) if n == name), None)
        if found is None:
            self._use(event)
            _, call, work = self._open[-1]
            self._builder.warn("a tool's result stands without its call")
        else:
            call, work = found
        self._open = [entry for entry in self._open if entry[1] is not call]
        call.ended_at = _time(event)
        if event["type"] == "tool_usage_error":
            call.status, call.result = "error", text_of(event.get("error"))
        else:
            call.status, call.result = "ok", text_of(event.get("output"))
        reports: list[Thread] = []
        if call.opens is not None and id(call) in self._replied:
            # What the coworker said stands in its own work.
            reports, call.attributes["result"] = [call.opens], call.result
        self.items.append(Returned(work.thread, call, reports))
        work.step = None


def _roles(events: list[Record]) -> dict[str, str]:
    found: dict[str, str] = {}
    for event in events:
        id, role = _agent_id(event), _agent_role(event)
        if id is not None and role is not None:
            found.setdefault(id, role)
    return found


def _agent_id(event: Record) -> str | None:
    for key in ("agent", "agent_info"):
        if (id := text_of(_get(event, key, "id"))) is not None:
            return id
    return text_of(event.get("agent_id"))


def _agent_role(event: Record) -> str | None:
    for key in ("agent", "agent_info"):
        if (role := text_of(_get(event, key, "role"))) is not None:
            return role.strip()
    role = text_of(event.get("agent_role"))
    return role.strip() if role else None


def _about(event: Record) -> Attributes:
    names = ("goal", "backstory")
    return {n: v for n in names if isinstance(v := _get(event, "agent", n), str) and v}


def _get(event: Record, key: str, name: str) -> Any:
    inner = event.get(key)
    return inner.get(name) if isinstance(inner, dict) else None


def _raw(output: Any) -> str | None:
    if isinstance(output, dict):
        return text_of(output.get("raw", output))
    return text_of(output)


def _lite_prompt(messages: Any) -> str | None:
    if isinstance(messages, str):
        return messages
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            return text_of(message.get("content"))
    return None


def _is_calls(response: Any) -> bool:
    """Whether a response is a list of calls: their uses are events of their own."""
    return isinstance(response, list) and all(
        isinstance(part, dict) and ("function" in part or "name" in part) for part in response
    )


def _arguments(value: Any) -> Record:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _time(event: Record) -> int | None:
    return from_iso(event.get("timestamp"))


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**60 else None
