"""What AutoGen's messages and events are, whichever way they were written down.

AutoGen 0.4 and later (``autogen_agentchat``) has two families. *Messages* go to the team:
text, images, a handoff, a summary of tool results, a stop. *Events* stay inside an agent or
the team's manager: a tool call, its result, a thought, a memory query, generated and executed
code, a chunk of a streamed answer, the choice of the next speaker.

The three readers of this framework bring their files into one form, a list of objects as the
framework's own ``model_dump_json`` writes them, and :func:`steps` puts these in order:

- a message that stands twice under one id is one message;
- the chunks of a streamed answer are the answer, which follows as one message; only where it
  does not (a file that was cut) do they become one;
- a tool call and its result are one step, at the place of the call.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from graphstore.model import Attributes, Delivery, Status
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso

REQUESTS = frozenset({"ToolCallRequestEvent", "ToolCallMessage"})
RESULTS = frozenset({"ToolCallExecutionEvent", "ToolCallResultMessage"})
CHUNK = "ModelClientStreamingChunkEvent"
SPEAKER_CHOICES = frozenset({"SelectSpeakerEvent", "SelectorEvent"})
INNER = frozenset({"ThoughtEvent", "UserInputRequestedEvent", *SPEAKER_CHOICES})
CONTEXT_RESULT = "FunctionExecutionResultMessage"
_CALL_EVENTS = REQUESTS | RESULTS | {CONTEXT_RESULT}
_KNOWN_EVENTS = INNER | {"CodeGenerationEvent", "CodeExecutionEvent", "MemoryQueryEvent"}
_NO_PLAIN_TEXT = frozenset(
    {"CodeExecutionEvent", "MemoryQueryEvent", "UserInputRequestedEvent"}
)

_KNOWN_FIELDS = frozenset(
    {"id", "source", "content", "type", "created_at", "models_usage", "metadata", "thought"}
)
_REPEATED_FIELDS = frozenset({"tool_calls", "results", "format_string"})
_NOT_KEPT = _KNOWN_FIELDS | _REPEATED_FIELDS

StepKind = Literal["message", "inner", "calls"]


class Call(msgspec.Struct):
    """One tool call, with its result where the file holds it."""

    name: str
    arguments: str | None
    call_id: str | None
    result: str | None = None
    status: Status | None = None
    ended_at: int | None = None
    attributes: Attributes = {}


class Step(msgspec.Struct):
    """One thing that happened: a message to the team, something inside, or tool calls.

    Attributes:
        target: The agents that the trace names as receivers, None where it names nobody.
        delivery: ``inferred`` where the reader had to guess the target.
    """

    kind: StepKind
    source: str
    content: str | None = None
    target: tuple[str, ...] | None = None
    delivery: Delivery = "explicit"
    is_handoff: bool = False
    started_at: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    calls: list[Call] = []
    attributes: Attributes = {}


Record = dict[str, Any]
Warn = Callable[[str], None]


def is_message(value: Any) -> bool:
    """Whether a JSON value is one of AutoGen's messages or events."""
    if not isinstance(value, dict) or "content" not in value:
        return False
    type_, source = value.get("type"), value.get("source")
    return (
        isinstance(source, str)
        and isinstance(type_, str)
        and (
            type_.endswith(("Message", "Event"))
            or (type_.startswith("StructuredMessage[") and type_.endswith("]"))
        )
    )


def type_of(record: Record) -> str:
    """A message's type, an empty text where it has none."""
    type_ = record.get("type")
    return type_ if isinstance(type_, str) else ""


def steps(records: Iterable[Record], warn: Warn) -> list[Step]:
    """Puts messages and events into the steps of a run, in the order of the file.

    Args:
        records: Objects as ``model_dump_json`` writes them.
        warn: Receives one sentence for whatever is missing or strange.
    """
    found: list[Step] = []
    waiting: dict[tuple[str, str | None], list[Call]] = {}
    for record in _streamed(_once(records, warn), warn):
        type_ = type_of(record)
        step = _step(record, type_, warn)
        if step.kind == "calls":
            if type_ in REQUESTS or step.calls:
                for call in step.calls:
                    if call.result is None:
                        waiting.setdefault((step.source, call.call_id), []).append(call)
            else:
                step.calls = _unmatched(record, step, waiting, warn)
                if not step.calls:
                    continue
        found.append(step)
    return found


def _once(records: Iterable[Record], warn: Warn) -> Iterator[Record]:
    seen: dict[str, Record] = {}
    for record in records:
        id = record.get("id")
        if isinstance(id, str) and id:
            first = seen.setdefault(id, record)
            if first is not record:
                if first == record:
                    warn("messages that stand more than once under one id were counted once")
                    continue
                warn(f"two different messages have the id {id}: both were kept")
        yield record


def _streamed(records: Iterator[Record], warn: Warn) -> Iterator[Record]:
    """Leaves out chunks whose whole answer follows, and joins those of one that is missing."""
    chunks: list[Record] = []
    for record in records:
        if record.get("type") == CHUNK:
            if chunks and not _same_answer(chunks[0], record):
                yield _joined(chunks, warn)
                chunks = []
            chunks.append(record)
            continue
        if chunks:
            if not _completes(record, chunks):
                yield _joined(chunks, warn)
            chunks = []
        yield record
    if chunks:
        yield _joined(chunks, warn)


def _same_answer(one: Record, other: Record) -> bool:
    return bool(
        one.get("source") == other.get("source")
        and one.get("full_message_id") == other.get("full_message_id")
    )


def _completes(record: Record, chunks: list[Record]) -> bool:
    if record.get("source") != chunks[0].get("source"):
        return False
    id = chunks[0].get("full_message_id")
    if id is not None and record.get("id") == id:
        return True
    content = text_of(record.get("content")) or ""
    whole = _chunk_text(chunks)
    return content.strip() in whole or whole.strip() in content


def _chunk_text(chunks: list[Record]) -> str:
    return "".join(text_of(chunk.get("content")) or "" for chunk in chunks)


def _joined(chunks: list[Record], warn: Warn) -> Record:
    warn("the chunks of a streamed answer, without the answer itself, were joined to one")
    return {
        **chunks[0],
        "id": chunks[0].get("full_message_id") or chunks[0].get("id"),
        "type": "TextMessage",
        "content": _chunk_text(chunks),
        "chunks": len(chunks),
    }


def _step(record: Record, type_: str, warn: Warn) -> Step:
    kind, source = _kind(type_, warn), _source(record, type_, warn)
    step = Step(kind, source, attributes=_attributes(record))
    if (time := record.get("created_at")) is not None:
        _set_time(step, time, warn)
    if (usage := record.get("models_usage")) is not None:
        step.tokens_in, step.tokens_out = _tokens(usage, warn)
    content = record.get("content")
    if isinstance(content, str) and type_ not in _NO_PLAIN_TEXT:
        step.content = content
    elif isinstance(content, list) and _holds_calls(type_, content):
        step.kind = "calls"
        step.calls = [_call(item) for item in content]
        thought = record.get("thought")
        if isinstance(thought, str) and thought:
            step.attributes["thought"] = thought
    elif type_ == "CodeExecutionEvent":
        step.kind, step.calls = "calls", [_executed_code(record)]
        step.attributes.pop("result", None)
    elif type_ == "MemoryQueryEvent":
        step.kind, step.calls = "calls", [Call("memory", None, None, text_of(content))]
    elif type_ == "SelectSpeakerEvent" and isinstance(content, list):
        step.content = ", ".join(text_of(name) or "" for name in content)
        step.target = tuple(name for name in content if isinstance(name, str) and name)
    elif isinstance(content, list) and type_ in ("MultiModalMessage", "UserMessage"):
        step.content = _multi_modal(content, step.attributes)
    elif type_ == "UserInputRequestedEvent" and content == "":
        step.content = None
    else:
        step.content = text_of(content)
    target = record.get("target")
    if type_ == "HandoffMessage" or isinstance(target, str):
        step.is_handoff = True
        if isinstance(target, str) and target.strip():
            step.target = (target,)
    return step


def _kind(type_: str, warn: Warn) -> StepKind:
    if not type_:
        warn("a message without a type was kept as a message to the team")
        return "message"
    if type_ in _CALL_EVENTS:
        return "calls"
    if type_.endswith("Event"):
        if type_ not in _KNOWN_EVENTS:
            warn(f"events of the unknown type {type_} were kept as steps inside their agent")
        return "inner"
    return "message"


def _holds_calls(type_: str, content: list[Any]) -> bool:
    if not content:
        return False
    return type_ in REQUESTS or (
        type_ == "AssistantMessage"
        and all(isinstance(item, dict) and "arguments" in item for item in content)
    )


def _call(item: Any) -> Call:
    if not isinstance(item, dict):
        return Call("unknown tool", text_of(item), None)
    return Call(
        text_of(item.get("name")) or "unknown tool",
        text_of(item.get("arguments")),
        text_of(item.get("id")),
    )


def _unmatched(
    record: Record,
    step: Step,
    waiting: dict[tuple[str, str | None], list[Call]],
    warn: Warn,
) -> list[Call]:
    """Gives each result to its call; what is left has no call in the file."""
    content = record.get("content")
    left: list[Call] = []
    for item in content if isinstance(content, list) else [content]:
        known = item if isinstance(item, dict) else {"content": item}
        call_id = text_of(known.get("call_id"))
        calls = waiting.get((step.source, call_id)) or _by_id(waiting, call_id)
        if calls:
            call = calls.pop(0)
        else:
            warn("a tool's result stands without its call")
            call = Call(text_of(known.get("name")) or "unknown tool", None, call_id)
            left.append(call)
        call.result = text_of(known.get("content"))
        call.ended_at = step.started_at
        if isinstance(known.get("is_error"), bool):
            call.status = "error" if known["is_error"] else "ok"
        if isinstance(record.get("id"), str):
            call.attributes["result_id"] = record["id"]
    return left


def _by_id(
    waiting: dict[tuple[str, str | None], list[Call]], call_id: str | None
) -> list[Call] | None:
    """Calls of another source: a memory's results name no source."""
    if call_id is None:
        return None
    return next((calls for (_, id), calls in waiting.items() if id == call_id and calls), None)


def _executed_code(record: Record) -> Call:
    result = record.get("result")
    call = Call("code execution", None, None)
    if isinstance(result, dict):
        call.result = text_of(result.get("output"))
        code = result.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool):
            call.status = "ok" if code == 0 else "error"
            call.attributes["exit_code"] = code
    else:
        call.result = text_of(result)
    if call.result is None:
        call.result = text_of(record.get("content"))
    return call


def _multi_modal(content: list[Any], attributes: Attributes) -> str:
    """Texts as they are; an image is a place holder, since its bytes are no words."""
    parts: list[str] = []
    images = 0
    for item in content:
        if isinstance(item, dict) and isinstance(item.get("data"), str):
            images += 1
            parts.append("[image]")
        else:
            parts.append(text_of(item) or "")
    if images:
        attributes["images"] = images
    return "\n".join(parts)


def _source(record: Record, type_: str, warn: Warn) -> str:
    source = record.get("source")
    if isinstance(source, str) and source.strip():
        return source
    if type_ not in (CONTEXT_RESULT, "SystemMessage"):
        warn("a message names no source")
    return ""


def _attributes(record: Record) -> Attributes:
    kept: Attributes = {}
    if not record.keys() <= _NOT_KEPT:
        kept = {
            key: value
            for key, value in record.items()
            if key not in _NOT_KEPT and (value or isinstance(value, int | float))
        }
    for key in ("id", "type"):
        if isinstance(value := record.get(key), str):
            kept[key] = value
    if metadata := record.get("metadata"):
        kept["metadata"] = metadata
    return kept


def _set_time(step: Step, value: Any, warn: Warn) -> None:
    step.started_at = from_iso(value)
    if step.started_at is None:
        warn("a time without a zone, or none at all, was kept as text")
        step.attributes["created_at"] = value


def _tokens(usage: Any, warn: Warn) -> tuple[int | None, int | None]:
    if not isinstance(usage, dict):
        warn("a usage that is no object was left out")
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None
