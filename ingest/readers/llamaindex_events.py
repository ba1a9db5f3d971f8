"""LlamaIndex: the events that an agent workflow streams, one a line or in a list.

An event is wrapped by the workflow's serializer (``qualified_name``, ``value``), or named in a
field beside its own; where it has no name, its fields tell what it is. Events name the agent
that is at work (``current_agent_name``), but tool calls do not: a call is that of the agent
whose answer came before it. The last answer repeats all calls of the run; they count once.

A handoff is a tool of that name. What an agent is given repeats the whole conversation: only
the user's messages that are new there are messages.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, text_of
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value
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
from ingest.readers.threads import play

Record = dict[str, Any]

FRAMEWORK = "LlamaIndex"

_NAMES = ("type", "event", "event_type", "event_name", "class_name", "name")
_INNER = ("value", "data", "payload")
_TIMES = ("timestamp", "time", "created_at")
_KINDS = frozenset(
    {"AgentInput", "AgentStream", "AgentOutput", "AgentSetup", "ToolCall", "ToolCallResult"}
    | {"AgentWorkflowStartEvent", "StartEvent", "StopEvent", "InputRequiredEvent"}
    | {"HumanResponseEvent", "AgentStreamStructuredOutput"}
)
_OF_ANSWERS = frozenset({"response", "structured_response", "tool_calls"})
_OF_CALLS = frozenset({"tool_kwargs", "tool_id", "tool_output"})
_OBSERVATION = "Observation:"
"""How an agent that reasons in text is told of a result: as if by the user."""


class LlamaIndexEventsReader:
    """LlamaIndex workflow events: one file is one run."""

    format = "llamaindex-events"
    title = "LlamaIndex agent workflow events"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="partly",
        outcome="partly",
        notes=(
            "A handoff names its receiver; all agents share one conversation, which no event "
            "says: other words are the user's.",
            "A call is that of the agent whose answer came before it.",
            "Times and tokens are kept where whoever saved the events wrote them beside.",
        ),
    )
    telling_keys = frozenset(
        {"qualified_name", "current_agent_name", "__is_pydantic", "user_msg"}
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with an event of an agent workflow."""
        value = first_value(sample)
        if isinstance(value, list) and value:
            value = value[0]
        return isinstance(value, dict) and _is_event(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's run, and a rejection for each value that is no event.

        Raises:
            InputError: The file is not JSON, or holds no message.
        """
        events: list[Record] = []
        rejected: list[Rejection] = []
        damaged = False
        try:
            for number, (value, repaired) in enumerate(values(file)):
                damaged = damaged or repaired
                if isinstance(value, dict):
                    events.append(value)
                else:
                    rejected.append(Rejection(file.uri, f"value {number}", "it is no event"))
        except InputError as error:
            if not events:
                raise
            rejected.append(Rejection(file.uri, error.record, error.reason))
        if events and not any(_is_ours(event) for event in events):
            raise InputError(
                "none of its values is an event of an agent workflow", file=file.uri
            )
        identity = digest(*(canonical_json(event) for event in events), size=16)
        builder = context.builder(self, file, identity)
        run = _Run(builder)
        for event in events:
            run.read(event)
        run.finish()
        play(builder, run.items, run.user)
        if builder.node_count:
            if damaged:
                builder.warn(REPAIRED)
            if rejected:
                builder.warn("values that could not be read are missing")
            run.describe()
            yield builder.build()
        yield from rejected
        if not builder.node_count and not rejected:
            raise InputError("its events hold no message", file=file.uri)


LLAMAINDEX_EVENTS = LlamaIndexEventsReader()


class _Run:
    def __init__(self, builder: GraphBuilder) -> None:
        self.items: list[Item] = []
        self.user = Actor("user", role="human", kind="human")
        self._builder = builder
        self._threads: dict[str, Thread] = {}
        self._current: Thread | None = None
        self._root: Thread | None = None
        self._step: Step | None = None
        self._streamed: tuple[Thread, str, str] | None = None
        self._told: Counter[str] = Counter()
        self._begun = False
        self._calls: dict[str, Call] = {}
        self._owner: dict[int, Thread] = {}
        self._asked: str | None = None
        self._answer: str | None = None
        self._ended = False
        self._others: Counter[str] = Counter()

    def read(self, event: Record) -> None:
        kind, inner, time = _opened(event)
        if kind != "AgentStream" and kind not in ("AgentOutput", "AgentStreamStructuredOutput"):
            self._keep_stream(None)
        match kind:
            case "AgentInput" | "AgentSetup":
                self._given(inner, time)
            case "AgentStream":
                self._stream(inner)
            case "AgentOutput":
                self._output(inner, time)
            case "ToolCall":
                self._call(inner, time)
            case "ToolCallResult":
                self._result(inner, time)
            case "AgentWorkflowStartEvent" | "StartEvent":
                text = _text(inner.get("user_msg"))
                if text is not None:
                    self._asked = self._asked or text
            case "HumanResponseEvent" if (text := text_of(inner.get("response"))) is not None:
                self._hear(text, time)
            case "InputRequiredEvent" if (text := text_of(inner.get("prefix"))) is not None:
                self.items.append(Step(self._at_work(), [Words(text, started_at=time)]))
            case "StopEvent":
                self._stop(inner)
            case _:
                self._others[kind] += 1

    def finish(self) -> None:
        """Keeps what was streamed and never stood as a whole."""
        self._keep_stream(None)

    def describe(self) -> None:
        """Names the task and the method, and says how it ended."""
        builder = self._builder
        root = self._root.actor.name if self._root is not None else FRAMEWORK
        builder.set_method(root, framework=FRAMEWORK)
        if self._asked is not None and self._asked.strip():
            set_task_from_text(builder, self._asked)
        if self._others:
            builder.attributes["other_events"] = dict(sorted(self._others.items()))
            names = ", ".join(sorted(self._others))
            builder.warn(f"events that are no message were counted only: {names}")
        builder.outcome = Outcome(
            answer=self._answer, termination="stopped" if self._ended else None
        )

    def _thread(self, name: str) -> Thread:
        if name not in self._threads:
            self._threads[name] = Thread(Actor(name))
        self._root = self._root or self._threads[name]
        return self._threads[name]

    def _at_work(self, inner: Record | None = None) -> Thread:
        name = text_of((inner or {}).get("current_agent_name"))
        if name:
            self._current = self._thread(name)
        return self._current or self._thread("agent")

    def _given(self, inner: Record, time: int | None) -> None:
        """What an agent is given: system prompt, and the user's messages that are new."""
        thread = self._at_work(inner)
        listed = inner.get("input")
        seen: Counter[str] = Counter()
        first, self._begun = not self._begun, True
        for message in listed if isinstance(listed, list) else []:
            if not isinstance(message, dict):
                continue
            text, role = _text(message), message.get("role")
            if role in ("system", "developer"):
                known = thread.actor.attributes
                if text is not None:
                    known.setdefault("system_prompt", text)
            elif role == "user" and text is not None and not text.startswith(_OBSERVATION):
                seen[text] += 1
                if seen[text] > self._told[text]:
                    self._hear(text, time)
            elif role == "assistant" and first and text:
                # What was said before the events begin.
                self.items.append(Step(thread, [Words(text)]))

    def _hear(self, text: str, time: int | None) -> None:
        self._told[text] += 1
        self._asked = self._asked or text
        self.items.append(Heard(self._at_work(), text, self.user, time))

    def _stream(self, inner: Record) -> None:
        thread = self._at_work(inner)
        if self._streamed is not None and self._streamed[0] is not thread:
            self._keep_stream(None)
        said = thought = ""
        if self._streamed is not None:
            _, said, thought = self._streamed
        whole = text_of(inner.get("response"))
        said = whole if whole else said + (text_of(inner.get("delta")) or "")
        thought += text_of(inner.get("thinking_delta")) or ""
        self._streamed = (thread, said, thought)

    def _keep_stream(self, thought: str | None) -> str | None:
        """Makes a message of chunks whose whole is missing; else gives back the thought."""
        if self._streamed is None:
            return None
        thread, said, streamed = self._streamed
        self._streamed = None
        if thought is not None:
            return streamed or None
        parts: list[Words | Call] = []
        if streamed:
            parts.append(Words(streamed, True))
        if said:
            parts.append(Words(said, attributes={"streamed": True}))
        if parts:
            self._step = Step(thread, parts)
            self.items.append(self._step)
        return None

    def _output(self, inner: Record, time: int | None) -> None:
        thread = self._at_work(inner)
        thought = self._keep_stream("")
        step = self._step = Step(thread)
        raw = inner.get("raw")
        usage = raw.get("usage") if isinstance(raw, dict) else None
        if isinstance(usage, dict):
            step.tokens_in = _count(usage.get("prompt_tokens", usage.get("input_tokens")))
            step.tokens_out = _count(usage.get("completion_tokens", usage.get("output_tokens")))
        response = inner.get("response")
        thought = _text(response, "thinking") or thought
        if thought:
            step.parts.append(Words(thought, True, time))
        listed = inner.get("tool_calls")
        calls = [c for c in listed if isinstance(c, dict)] if isinstance(listed, list) else []
        new = [c for c in calls if text_of(c.get("tool_id")) not in self._calls]
        text = _text(response)
        if text or not new:
            step.parts.append(Words(text, started_at=time))
        for call in new:
            self._add(call, step, time)
        self.items.append(step)

    def _add(self, value: Record, step: Step, time: int | None) -> Call:
        name = text_of(value.get("tool_name")) or "unknown tool"
        given = value.get("tool_kwargs")
        arguments = dict(given) if isinstance(given, dict) else {}
        call = Call(name, text_of(value.get("tool_id")), started_at=time)
        target = text_of(arguments.get("to_agent")) if name == "handoff" else None
        if target:
            call.opens, call.detached = self._thread(target), True
            call.prompt = text_of(arguments.pop("reason", None))
        call.arguments = text_of(arguments if target else given)
        step.parts.append(call)
        self._owner[id(call)] = step.thread
        if call.id is not None:
            self._calls[call.id] = call
        return call

    def _call(self, inner: Record, time: int | None) -> Call:
        known = self._calls.get(text_of(inner.get("tool_id")) or "")
        if known is not None and known.result is None and "result" not in known.attributes:
            known.started_at = known.started_at or time
            return known
        if self._step is None:
            self._step = Step(self._at_work())
            self.items.append(self._step)
        return self._add(inner, self._step, time)

    def _result(self, inner: Record, time: int | None) -> None:
        known = self._calls.get(text_of(inner.get("tool_id")) or "")
        if known is None or known.ended_at is not None or known.status is not None:
            known = self._call(inner, time)
        output = inner.get("tool_output")
        about = output if isinstance(output, dict) else {}
        text = _text(about) if about else text_of(output)
        failed = about.get("is_error")
        known.status = ("error" if failed else "ok") if isinstance(failed, bool) else None
        known.ended_at = time
        owner = self._owner[id(known)]
        if known.opens is not None:
            known.attributes["result"] = text
            self.items.append(Opened(known.opens, known))
        else:
            known.result = text
        self.items.append(Returned(owner, known))
        self._step = None

    def _stop(self, inner: Record) -> None:
        self._ended = True
        result = inner.get("result")
        response = result.get("response") if isinstance(result, dict) else result
        text = _text(response) if isinstance(response, dict) else text_of(response)
        self._answer = text or self._answer


def _opened(event: Record) -> tuple[str, Record, int | None]:
    """An event's name, its own fields, and its time where one stands beside it."""
    inner = next((event[k] for k in _INNER if isinstance(event.get(k), dict)), None)
    qualified = text_of(event.get("qualified_name"))
    name = qualified.rpartition(".")[2] if qualified else None
    if name is None:
        found = (event.get(key) for key in _NAMES)
        name = next((n for n in found if isinstance(n, str) and n in _KINDS), None)
    fields = event if inner is None else inner
    time = next((t for k in _TIMES if (t := from_iso(event.get(k))) is not None), None)
    return name or _kind(fields), fields, time


def _kind(fields: Record) -> str:
    """What an event without a name is, by its fields."""
    if "current_agent_name" in fields:
        if "delta" in fields:
            return "AgentStream"
        if "input" in fields:
            return "AgentInput"
        if fields.keys() & _OF_ANSWERS:
            return "AgentOutput"
    if "tool_name" in fields and fields.keys() & _OF_CALLS:
        return "ToolCallResult" if "tool_output" in fields else "ToolCall"
    return "StopEvent" if "result" in fields else "no name"


def _is_ours(event: Record) -> bool:
    """Whether an event is one of an agent workflow, wherever it stands in the stream."""
    kind, fields, _ = _opened(event)
    if _is_event(event):
        return True
    if kind in ("ToolCall", "ToolCallResult"):
        return "tool_name" in fields and bool(fields.keys() & _OF_CALLS)
    return kind in _KINDS and kind not in ("StartEvent", "StopEvent")


def _is_event(value: Record) -> bool:
    qualified = value.get("qualified_name")
    if isinstance(qualified, str) and qualified.startswith("llama_index.core.agent"):
        return True
    kind, fields, _ = _opened(value)
    if "current_agent_name" in fields:
        return kind in _KINDS and any(k in fields for k in ("input", "response", "delta"))
    if value.get("__is_pydantic") is True and isinstance(fields.get("input"), list):
        # The names can stand behind the cut.
        return True
    return kind == "AgentWorkflowStartEvent" and "user_msg" in fields


def _text(message: Any, wanted: str = "text") -> str | None:
    """The texts of a message's blocks; older ones have a content."""
    if isinstance(message, str):
        return message if wanted == "text" else None
    if not isinstance(message, dict):
        return None
    blocks = message.get("blocks")
    if not isinstance(blocks, list):
        return text_of(message.get("content")) if wanted == "text" else None
    texts: list[str] = []
    for block in blocks:
        if not isinstance(block, dict):
            continue
        kind = block.get("block_type")
        if kind == wanted:
            text = block.get("text") if wanted == "text" else block.get("content")
            if isinstance(text, str) and text:
                texts.append(text)
        elif wanted == "text" and kind in ("image", "audio", "document", "video"):
            texts.append(f"[{kind}]")
    return "\n".join(texts) if texts else None


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**60 else None
