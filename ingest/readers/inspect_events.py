"""Inspect: the events of one sample as threads of agents.

Spans contain each other; an event belongs to the nearest span of an agent, else of a scorer,
else of a solver. A span of one name inside one agent is one agent, however often it is
called. In logs without spans, ``step`` events open and close, and tools and subtasks hold
their events inside.

A model call's input names its messages by id. What is new there to an agent is what its
answer rests on: results of its calls, and what another agent wrote before it handed back,
even where the transcript puts that into other words.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.identity import digest
from graphstore.model import Role
from ingest.readers.decoding import text_of
from ingest.readers.inspect_parts import (
    Record,
    Span,
    events_of,
    flat,
    inputs_of,
    key_of,
    start_of,
    tokens_of,
)
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
    thread_key,
)

Ref = Heard | Call | Words

MAIN_AGENT = "assistant"

_AGENTS = ("agent", "scorer", "solver")
_ATTACHMENT = "attachment://"
_QUIET = frozenset(
    {"sample_init", "span_begin", "span_end", "step", "state", "store", "score", "subtask"}
)


@dataclass(slots=True)
class _Known:
    """What stands for a message: its nodes, and whose it is."""

    refs: list[Ref] = field(default_factory=list)
    thread: Thread | None = None


class Sample:
    """Reads the events of one sample.

    Attributes:
        items: What happened, in order.
        user: Who asked.
        others: How many events of each kind are no message.
        models: The models that answered.
    """

    def __init__(self, sample: Record, builder: GraphBuilder) -> None:
        self.items: list[Item] = []
        self.user = Actor("user", role="human", kind="human")
        self.others: Counter[str] = Counter()
        self.models: dict[str, None] = {}
        self._sample = sample
        self._builder = builder
        self._system = Actor("system", role="environment", kind="environment")
        found = sample.get("attachments")
        self._attachments: Record = found if isinstance(found, dict) else {}
        pool = sample.get("events_data")
        messages = pool.get("messages") if isinstance(pool, dict) else None
        self._pool: list[Any] = messages if isinstance(messages, list) else []
        self._spans: dict[str, Span] = {}
        self._threads: dict[tuple[int, str, str], Thread] = {}
        self._main: Thread | None = None
        self._calls: dict[str, tuple[Call, Thread]] = {}
        self._known: dict[str, _Known] = {}
        self._heard: dict[int, set[str]] = {}
        self._waiting: dict[int, list[Returned]] = {}
        self._opening: dict[str, Call] = {}
        self._prompts: dict[int, list[Call]] = {}
        self._steps: list[Span] = []
        for event, inside in flat(events_of(sample), ()):
            self._read(event, inside)
        self._finish()

    def _read(self, event: Record, inside: tuple[str, ...]) -> None:
        kind = event.get("event")
        match kind:
            case "span_begin":
                self._begin(event)
            case "step":
                self._step_event(event)
            case "model":
                self._model(event, self._thread(event, inside))
            case "tool":
                self._tool(event, self._thread(event, inside))
            case "input" if isinstance(event.get("input"), str):
                thread = self._thread(event, inside)
                self._say(Heard(thread, event["input"], self.user, start_of(event)))
            case "error":
                error = event.get("error")
                text = error.get("message") if isinstance(error, dict) else error
                thread = self._thread(event, inside)
                self._say(Heard(thread, text_of(text), self._system, start_of(event)))
            case _:
                name = text_of(kind) or "no type"
                if name not in _QUIET:
                    self.others[name] += 1

    def _begin(self, event: Record) -> None:
        id = event.get("id")
        if isinstance(id, str):
            parent = self._spans.get(text_of(event.get("parent_id")) or "")
            kind = text_of(event.get("type"))
            name = text_of(event.get("name")) or kind or "span"
            self._spans.setdefault(id, Span(id, parent, kind, name))

    def _step_event(self, event: Record) -> None:
        name = text_of(event.get("name")) or "step"
        if event.get("action") == "begin":
            parent = self._steps[-1] if self._steps else None
            self._steps.append(Span("", parent, text_of(event.get("type")), name))
        elif self._steps:
            self._steps.pop()

    def _thread(self, event: Record, inside: tuple[str, ...]) -> Thread:
        span = self._spans.get(text_of(event.get("span_id")) or "")
        if span is None and self._steps:
            span = self._steps[-1]
        return self._thread_of(span, inside)

    def _thread_of(self, span: Span | None, inside: tuple[str, ...] = ()) -> Thread:
        path: list[Span] = []
        while span is not None:
            if span.type in _AGENTS:
                path.append(span)
            span = span.parent
        # A solver that is an agent is one and the same: the agent's span names it.
        named = [part for part in path if part.type != "solver"] or path[:1]
        parent: Thread | None = None
        for part in reversed(named):
            parent = self._child(parent, part.type or "", part.name)
        for name in inside:
            parent = self._child(parent, "agent", name)
        return parent or self._child(None, "solver", MAIN_AGENT)

    def _child(self, parent: Thread | None, kind: str, name: str) -> Thread:
        key = (id(parent), kind, name)
        if key not in self._threads:
            role: Role | None = "verifier" if kind == "scorer" else None
            if kind == "solver" and name == "generate":
                name = MAIN_AGENT
            actor = Actor(name, role_name=kind if role else None, role=role)
            thread = Thread(actor, None, parent, silent=kind == "scorer")
            self._threads[key] = thread
            if self._main is None and kind != "scorer":
                self._main = thread
                self._ask(thread)
        return self._threads[key]

    def _ask(self, thread: Thread) -> None:
        """The sample's input: what the first agent is asked."""
        asked = self._sample.get("input")
        if isinstance(asked, str):
            heard = Heard(thread, self._text(asked), self.user)
            self._say(heard)
            # The first message of the transcript is this text under an id of its own.
            self._known[f"input:{digest(heard.text or '')}"] = _Known([heard])
        earlier: Counter[str] = Counter()
        for message in asked if isinstance(asked, list) else ():
            if isinstance(message, dict):
                self._take(message, key_of(message, earlier), thread)

    def _say(self, heard: Heard) -> None:
        self.items.append(heard)

    def _model(self, event: Record, thread: Thread) -> None:
        found = event.get("output")
        output: Record = found if isinstance(found, dict) else {}
        after: list[Ref] = []
        own = self._heard.setdefault(id(thread), set())
        earlier: Counter[str] = Counter()
        for message in inputs_of(event, self._pool):
            key = key_of(message, earlier)
            if key in own:
                continue
            own.add(key)
            known = self._take(message, key, thread)
            if known is not None and known.thread is not thread:
                after += known.refs
        for returned in self._waiting.pop(id(thread), []):
            self.items.append(returned)
        step = Step(thread, after=after or None)
        model = text_of(output.get("model")) or text_of(event.get("model"))
        if model:
            step.attributes["model"] = model
            self.models.setdefault(model)
        step.tokens_in, step.tokens_out = tokens_of(output.get("usage"))
        self.items.append(step)
        choices = output.get("choices")
        for number, choice in enumerate(choices if isinstance(choices, list) else []):
            said = choice.get("message") if isinstance(choice, dict) else None
            if isinstance(said, dict):
                parts, made = self._parts(said, event, thread)
                if number:
                    for part in parts:
                        part.attributes["choice"] = number
                step.parts += parts
                key = key_of(said, earlier)
                # The results of calls come as messages of their own.
                refs: list[Ref] = [] if made else [p for p in parts if isinstance(p, Words)]
                self._known.setdefault(key, _Known(refs, thread))
                own.add(key)
        error = text_of(event.get("error")) or text_of(output.get("error"))
        if error is not None:
            step.parts.append(Words(error, status="error", started_at=start_of(event)))
        elif not step.parts:
            step.parts.append(Words(None, started_at=start_of(event)))

    def _parts(
        self, message: Record, event: Record, thread: Thread
    ) -> tuple[list[Words | Call], bool]:
        """What a model answered, and whether it called tools."""
        parts: list[Words | Call] = []
        start = start_of(event)
        for kind, text in self._contents(message.get("content")):
            parts.append(Words(text, kind == "reasoning", start))
        calls = message.get("tool_calls")
        said = len(parts)
        for value in calls if isinstance(calls, list) else []:
            if not isinstance(value, dict):
                continue
            name = text_of(value.get("function")) or "unknown tool"
            call = Call(name, text_of(value.get("id")), started_at=start)
            arguments = value.get("arguments")
            call.arguments = self._text(text_of(arguments))
            if call.id is not None:
                self._calls.setdefault(call.id, (call, thread))
            parts.append(call)
        return parts, len(parts) > said

    def _take(self, message: Record, key: str, thread: Thread) -> _Known | None:
        """What an input message stands for; one that is new to the log is heard."""
        known = self._known.get(key)
        if known is not None:
            return known
        role = message.get("role")
        text = self._joined(message.get("content"))
        if role == "user":
            asked = self._known.pop(f"input:{digest(text or '')}", None)
            if asked is not None:
                self._known[key] = asked
                return asked
        if role == "tool":
            made = self._calls.get(text_of(message.get("tool_call_id")) or "")
            if made is not None:
                return self._remember(key, [made[0]])
        if role == "assistant" or (role == "user" and message.get("source") == "generate"):
            step = Step(thread, [Words(text)])
            self.items.append(step)
            return self._remember(key, [part for part in step.parts if isinstance(part, Words)])
        if role == "system":
            attributes = thread.actor.attributes
            if attributes.setdefault("system_prompt", text) == text:
                return self._remember(key, [])
        for call in self._prompts.get(id(thread), []):
            if call.prompt is not None and call.prompt == text:
                self._prompts[id(thread)].remove(call)
                self.items.append(Opened(thread, call))
                return self._remember(key, [call])
        asked_by = message.get("source") in ("input", "operator")
        human = role == "user" and (asked_by or not self._known)
        heard = Heard(thread, text, self.user if human else self._system)
        self._say(heard)
        return self._remember(key, [heard])

    def _remember(self, key: str, refs: list[Ref], thread: Thread | None = None) -> _Known:
        self._known[key] = _Known(refs, thread)
        return self._known[key]

    def _tool(self, event: Record, thread: Thread) -> None:
        id = text_of(event.get("id"))
        known = self._calls.get(id or "")
        if known is None:
            call = Call(text_of(event.get("function")) or "unknown tool", id)
            call.arguments = self._text(text_of(event.get("arguments")))
            call.started_at = start_of(event)
            owner = thread
            self.items.append(Step(thread, [call]))
            if id is not None:
                self._calls[id] = (call, thread)
        else:
            call, owner = known
        call.ended_at = from_iso(event.get("completed"))
        error = event.get("error")
        result = self._joined(event.get("result"))
        if error is not None:
            said = error.get("message") if isinstance(error, dict) else error
            call.status, result = "error", result or text_of(said)
        elif event.get("pending") is not True and "result" in event:
            call.status = "ok"
        call.result = result
        returned = Returned(owner, call)
        other = self._opened_by(event, call, owner)
        if other is not None:
            call.opens = other
            other.opened_by = other.opened_by or call
            arguments = event.get("arguments")
            values = arguments.values() if isinstance(arguments, dict) else ()
            given = [value for value in values if isinstance(value, str)]
            if event.get("agent") is None and len(given) == 1:
                call.prompt, call.arguments = given[0], None
                self._prompts.setdefault(thread_key(other), []).append(call)
            elif event.get("agent") is not None:
                call.detached, returned.reports = True, [other]
                call.attributes["result"] = call.result
                self.items.append(Opened(other, call))
        key = text_of(event.get("message_id"))
        if key is not None:
            hidden = call.opens is not None and not call.detached
            self._known.setdefault(key, _Known([] if hidden else [call], None))
        self._waiting.setdefault(thread_key(owner), []).append(returned)

    def _opened_by(self, event: Record, call: Call, owner: Thread) -> Thread | None:
        """The thread of the agent that a call hands over to, or uses as a tool."""
        name = text_of(event.get("agent"))
        if name is not None:
            return self._child(owner, "agent", name)
        span = text_of(event.get("agent_span_id"))
        if span is None:
            return None
        found = self._spans.get(span)
        name = found.name if found is not None else call.name
        return self._child(owner, "agent", name)

    def _contents(self, content: Any) -> Iterator[tuple[str, str | None]]:
        if not isinstance(content, list):
            text = self._text(text_of(content))
            if text:
                yield "text", text
            return
        for part in content:
            kind = text_of(part.get("type")) if isinstance(part, dict) else None
            if isinstance(part, dict) and kind in ("text", "reasoning"):
                text = self._text(text_of(part.get(kind)))
                if text:
                    yield kind or "text", text
            elif kind in ("image", "audio", "video", "document", "data"):
                yield "text", f"[{kind}]"
            else:
                yield "text", self._text(text_of(part))

    def _joined(self, content: Any) -> str | None:
        texts = [text for kind, text in self._contents(content) if text and kind == "text"]
        return "\n".join(texts) if texts else None

    def _text(self, text: str | None) -> str | None:
        if text is not None and text.startswith(_ATTACHMENT):
            return text_of(self._attachments.get(text.removeprefix(_ATTACHMENT), text))
        return text

    def _finish(self) -> None:
        for waiting in self._waiting.values():
            self.items += waiting
        listed = self._sample.get("messages")
        messages = (
            [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
        )
        if not self.items:
            return
        # A message after the last model call stands in the transcript only.
        earlier: Counter[str] = Counter()
        keys = [key_of(message, earlier) for message in messages]
        last = max((n for n, key in enumerate(keys) if key in self._known), default=-1)
        for message, key in list(zip(messages, keys, strict=True))[last + 1 :]:
            if message.get("role") == "user" and self._main is not None:
                self._take(message, key, self._main)
