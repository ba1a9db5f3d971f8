"""Google ADK: events of a session, and who receives what they say.

An event has an author, parts (text, thoughts, function calls and their responses, code and
its result, files), a time, and *actions* (a transfer, changes of the shared state). All of a
session's agents see its history, but no event names a receiver except a transfer. What an
author says goes to the author that comes next in the invocation, else to the user: both are
``inferred``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Status
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_seconds

Record = dict[str, Any]

USER = "user"
TRANSFERS = frozenset({"transfer_to_agent", "transfer_to_other_agent"})

_CAMEL: dict[str, str] = {}
_KEPT = ("branch", "error_code", "interrupted", "finish_reason", "custom_metadata")


def get(record: Any, name: str) -> Any:
    """A field that is written in snake case or in camel case; None where it is missing."""
    if not isinstance(record, dict):
        return None
    value = record.get(name)
    if value is None:
        camel = _CAMEL.get(name)
        if camel is None:
            head, *rest = name.split("_")
            camel = _CAMEL[name] = head + "".join(word.capitalize() for word in rest)
        value = record.get(camel)
    return value


def is_event(value: Any) -> bool:
    """Whether a JSON value is an event."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("author"), str)
        and get(value, "invocation_id") is not None
    )


@dataclass(slots=True)
class Call:
    """A function call, with its response where the session holds it."""

    name: str
    id: str | None
    arguments: Any
    response: Any = None
    is_answered: bool = False
    ended_at: int | None = None
    target: str | None = None
    written: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """One event: what was said, thought and called."""

    author: str
    invocation: str | None
    text: str | None = None
    thought: str | None = None
    calls: list[Call] = field(default_factory=list)
    started_at: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    status: Status | None = None
    written: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    attributes: Attributes = field(default_factory=dict)
    is_answer: bool = False


def turns_of(
    builder: GraphBuilder, events: Iterable[Any], usage: dict[str, Record] | None = None
) -> list[Turn]:
    """Puts a session's events into turns, each call with its response.

    Args:
        builder: Receives the warnings.
        events: In the order of the session.
        usage: A model's usage by the id of its event, where it stands beside the events.
    """
    usage = usage or {}
    turns: list[Turn] = []
    waiting: dict[str, list[Call]] = {}
    seen: set[str] = set()
    partial: list[Record] = []
    for number, event in enumerate(events):
        if not isinstance(event, dict):
            builder.warn(f"event {number} is no object and was left out")
            continue
        id = event.get("id")
        if isinstance(id, str) and id and event.get("partial") is not True:
            if id in seen:
                builder.warn("events that stand more than once under one id were counted once")
                continue
            seen.add(id)
        if event.get("partial") is True:
            if partial and partial[0].get("author") != event.get("author"):
                turns.append(_turn(builder, _joined(builder, partial), waiting, usage))
                partial = []
            partial.append(event)
            continue
        if partial:
            if partial[0].get("author") != event.get("author"):
                turns.append(_turn(builder, _joined(builder, partial), waiting, usage))
            partial = []
        turn = _turn(builder, event, waiting, usage)
        if not turn.is_answer:
            turns.append(turn)
    if partial:
        turns.append(_turn(builder, _joined(builder, partial), waiting, usage))
    return turns


def _joined(builder: GraphBuilder, partial: list[Record]) -> Record:
    """The chunks of an answer that was streamed and never stood as a whole."""
    builder.warn(
        "the chunks of a streamed answer, without the answer itself, were joined to one"
    )
    texts = [
        text_of(get(part, "text")) or ""
        for event in partial
        for part in _parts(event)
        if isinstance(part, dict) and part.get("thought") is not True
    ]
    return {**partial[0], "content": {"parts": [{"text": "".join(texts)}]}}


def _parts(event: Record) -> list[Any]:
    content = event.get("content")
    if isinstance(content, str):
        return [{"text": content}]
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def _turn(
    builder: GraphBuilder,
    event: Record,
    waiting: dict[str, list[Call]],
    usage: dict[str, Record],
) -> Turn:
    author = event.get("author")
    if not isinstance(author, str) or not author.strip():
        builder.warn("an event names no author")
        author = ""
    turn = Turn(author, text_of(get(event, "invocation_id")))
    _set_time(builder, turn, event.get("timestamp"))
    counted = get(event, "usage_metadata") or usage.get(text_of(event.get("id")) or "")
    turn.tokens_in = _count(get(counted, "prompt_token_count"))
    written = [_count(get(counted, f"{n}_token_count")) for n in ("candidates", "thoughts")]
    if any(count is not None for count in written):
        turn.tokens_out = sum(count or 0 for count in written)
    for name in ("id", *_KEPT):
        value = get(event, name)
        if value not in (None, {}, [], ""):
            turn.attributes[name] = value
    actions = get(event, "actions") or get(event, "options") or {}
    target = get(actions, "transfer_to_agent")
    target = target if isinstance(target, str) and target else None
    answered = _add_parts(builder, turn, _parts(event), waiting, target)
    holder = answered[-1] if answered else turn
    holder.written += _keys(actions, "state_delta")
    holder.artifacts += _keys(actions, "artifact_delta")
    for name in ("escalate", "end_of_agent", "compaction"):
        value = get(actions, name)
        if value not in (None, {}, [], False):
            turn.attributes[name] = value
    error = get(event, "error_message")
    if isinstance(error, str) and error:
        turn.status = "error"
        turn.attributes["error_message"] = error
        if turn.text is None:
            turn.text = error
    is_empty = turn.text is None and turn.thought is None and not turn.calls
    turn.is_answer = bool(answered) and is_empty
    return turn


def _add_parts(
    builder: GraphBuilder,
    turn: Turn,
    parts: list[Any],
    waiting: dict[str, list[Call]],
    target: str | None,
) -> list[Call]:
    """Sorts an event's parts; returns the calls that it answers."""
    texts: list[str] = []
    thoughts: list[str] = []
    answered: list[Call] = []
    others: list[str] = []
    for part in parts:
        if not isinstance(part, dict):
            builder.warn("a part that is no object was kept as text")
            texts.append(text_of(part) or "")
            continue
        if (asked := get(part, "function_call")) is not None:
            call = Call(
                text_of(get(asked, "name")) or "unknown tool",
                text_of(get(asked, "id")),
                get(asked, "args"),
            )
            call.target = _target(call)
            turn.calls.append(call)
            waiting.setdefault(call.name, []).append(call)
        elif (code := get(part, "executable_code")) is not None:
            call = Call("code execution", None, code)
            turn.calls.append(call)
            waiting.setdefault(call.name, []).append(call)
        elif (reply := get(part, "function_response")) is not None:
            answered.append(_answer(builder, turn, reply, waiting, target))
        elif (result := get(part, "code_execution_result")) is not None:
            reply = {"name": "code execution", "response": result}
            answered.append(_answer(builder, turn, reply, waiting, None))
        elif isinstance(part.get("text"), str):
            (thoughts if part.get("thought") is True else texts).append(part["text"])
        else:
            others += [name for name, value in part.items() if value is not None]
    turn.text = "\n".join(texts) if texts else None
    turn.thought = "\n".join(thoughts) if thoughts else None
    if others:
        turn.attributes["other_parts"] = sorted(set(others))
        builder.warn("parts without text (files, images, sound) are named but not kept")
    return answered


def _answer(
    builder: GraphBuilder,
    turn: Turn,
    reply: Any,
    waiting: dict[str, list[Call]],
    target: str | None,
) -> Call:
    """Gives a response to its call: the one with its id, else the first of its name."""
    name = text_of(get(reply, "name")) or "unknown tool"
    id = text_of(get(reply, "id"))
    calls = waiting.get(name, [])
    call = next((call for call in calls if id is not None and call.id == id), None)
    if call is None and calls and (id is None or calls[0].id is None):
        call = calls[0]
    if call is None:
        builder.warn("a function's response stands without its call")
        call = Call(name, id, None)
        turn.calls.append(call)
    else:
        calls.remove(call)
    call.is_answered = True
    call.response = get(reply, "response")
    call.ended_at = turn.started_at
    if call.name in TRANSFERS:
        call.target = target or call.target
    return call


def _target(call: Call) -> str | None:
    """The agent that a transfer names in its arguments."""
    if call.name not in TRANSFERS or not isinstance(call.arguments, dict):
        return None
    name = get(call.arguments, "agent_name")
    return name if isinstance(name, str) and name.strip() else None


def _keys(actions: Any, name: str) -> list[str]:
    changes = get(actions, name)
    return sorted(changes) if isinstance(changes, dict) else []


def _set_time(builder: GraphBuilder, turn: Turn, value: Any) -> None:
    if value is None:
        return
    turn.started_at = from_seconds(value)
    if turn.started_at is None:
        builder.warn("a time that is no number of seconds since 1970 was kept as it is")
        turn.attributes["timestamp"] = value


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**62 else None
