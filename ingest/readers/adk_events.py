"""Google ADK: events of a session, and who receives what they say.

An event has an author, parts (text, thoughts, function calls and their responses, code and
its result, files), a time, and *actions* (a transfer, changes of the shared state). All of a
session's agents see its history, but no event names a receiver except a transfer. What an
author says goes to the author that comes next in the invocation, else to the user: both are
``inferred``.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Status
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_seconds

Record = dict[str, Any]

USER = "user"
TRANSFERS = frozenset({"transfer_to_agent", "transfer_to_other_agent"})

_KEPT = ("id", "branch", "error_code", "interrupted", "finish_reason", "custom_metadata")
_TOO_MANY = 2**62
_EMPTY: tuple[Any, ...] = ({}, [], "")
_KEPT_ACTIONS = ("escalate", "end_of_agent", "compaction")


@cache
def _camel(name: str) -> str:
    """A name of the code's own in camel case; there are few."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


_SNAKE = {
    _camel(name): name
    for name in (
        "error_code",
        "finish_reason",
        "custom_metadata",
        "error_message",
        "invocation_id",
        "usage_metadata",
        "prompt_token_count",
        "candidates_token_count",
        "thoughts_token_count",
        "transfer_to_agent",
        "state_delta",
        "artifact_delta",
        "end_of_agent",
        "function_call",
        "function_response",
        "executable_code",
        "code_execution_result",
    )
}
"""The names that events and their parts are asked for, by their form in camel case."""

_CAMEL_CASED = frozenset(_SNAKE)
_NOTHING: Record = {}


def get(record: Any, name: str) -> Any:
    """A field that is written in snake case or in camel case; None where it is missing."""
    if not isinstance(record, dict):
        return None
    value = record.get(name)
    return record.get(_camel(name)) if value is None and "_" in name else value


def _snake_cased(record: Any) -> Record:
    """A record's fields by their names in snake case; nothing where it is no record.

    As in :func:`get`, the name in snake case counts where both have a value.
    """
    if not isinstance(record, dict):
        return _NOTHING
    if _CAMEL_CASED.isdisjoint(record):
        return record
    named = dict(record)
    for camel in _CAMEL_CASED.intersection(record):
        if named.get(_SNAKE[camel]) is None:
            named[_SNAKE[camel]] = record[camel]
    return named


def is_event(value: Any) -> bool:
    """Whether a JSON value is an event."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("author"), str)
        and get(value, "invocation_id") is not None
    )


class Call(msgspec.Struct):
    """A function call, with its response where the session holds it."""

    name: str
    id: str | None
    arguments: Any
    response: Any = None
    is_answered: bool = False
    ended_at: int | None = None
    target: str | None = None
    written: list[str] = []
    artifacts: list[str] = []


class Turn(msgspec.Struct):
    """One event: what was said, thought and called."""

    author: str
    invocation: str | None
    text: str | None = None
    thought: str | None = None
    calls: list[Call] = []
    started_at: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    status: Status | None = None
    written: list[str] = []
    artifacts: list[str] = []
    attributes: Attributes = {}
    is_answer: bool = False

    def take_tokens(self) -> tuple[int | None, int | None]:
        """The tokens read and written: they belong to the event's first node alone."""
        taken = self.tokens_in, self.tokens_out
        self.tokens_in = self.tokens_out = None
        return taken


class _Waiting:
    """Calls without a response so far, by name in their order, and by id."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[int, Call]] = {}
        self._by_id: dict[tuple[str, str], list[int]] = {}
        self._count = 0

    def add(self, call: Call) -> None:
        number = self._count = self._count + 1
        self._by_name.setdefault(call.name, {})[number] = call
        if call.id is not None:
            self._by_id.setdefault((call.name, call.id), []).append(number)

    def take(self, name: str, id: str | None) -> Call | None:
        """The call of a response: the one with its id, else the first of its name."""
        calls = self._by_name.get(name)
        if not calls:
            return None
        same = self._by_id.get((name, id)) if id is not None else None
        number = same[0] if same else next(iter(calls))
        if not same and id is not None and calls[number].id is not None:
            return None
        call = calls.pop(number)
        if call.id is not None:
            self._by_id[name, call.id].remove(number)
        return call


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
    waiting = _Waiting()
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
    waiting: _Waiting,
    usage: dict[str, Record],
) -> Turn:
    author = event.get("author")
    if not isinstance(author, str) or not author.strip():
        builder.warn("an event names no author")
        author = ""
    event = _snake_cased(event)
    turn = Turn(author, text_of(event.get("invocation_id")))
    attributes = turn.attributes
    if (time := event.get("timestamp")) is not None:
        _set_time(builder, turn, time)
    _set_tokens(turn, event, usage)
    for name in _KEPT:
        value = event.get(name)
        if value is not None and value not in _EMPTY:
            attributes[name] = value
    actions = _snake_cased(event.get("actions") or event.get("options"))
    target = actions.get("transfer_to_agent")
    target = target if isinstance(target, str) and target else None
    answered = _add_parts(builder, turn, _parts(event), waiting, target)
    holder = answered[-1] if answered else turn
    if written := actions.get("state_delta"):
        holder.written += _keys(written)
    if artifacts := actions.get("artifact_delta"):
        holder.artifacts += _keys(artifacts)
    for name in _KEPT_ACTIONS:
        value = actions.get(name)
        if value is not None and value not in ({}, [], False):
            attributes[name] = value
    error = event.get("error_message")
    if isinstance(error, str) and error:
        turn.status = "error"
        attributes["error_message"] = error
        if turn.text is None:
            turn.text = error
    is_empty = turn.text is None and turn.thought is None and not turn.calls
    turn.is_answer = bool(answered) and is_empty
    return turn


def _set_tokens(turn: Turn, event: Record, usage: dict[str, Record]) -> None:
    counted = event.get("usage_metadata")
    if not counted and usage:
        counted = usage.get(text_of(event.get("id")) or "")
    if not counted:
        return
    counted = _snake_cased(counted)
    turn.tokens_in = _count(counted.get("prompt_token_count"))
    written = _count(counted.get("candidates_token_count"))
    thoughts = _count(counted.get("thoughts_token_count"))
    if written is not None or thoughts is not None:
        turn.tokens_out = (written or 0) + (thoughts or 0)


def _add_parts(
    builder: GraphBuilder,
    turn: Turn,
    parts: list[Any],
    waiting: _Waiting,
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
        named = _snake_cased(part)
        if (asked := named.get("function_call")) is not None:
            asked = asked if isinstance(asked, dict) else _NOTHING
            call = Call(
                text_of(asked.get("name")) or "unknown tool",
                text_of(asked.get("id")),
                asked.get("args"),
            )
            call.target = _target(call)
            turn.calls.append(call)
            waiting.add(call)
        elif (code := named.get("executable_code")) is not None:
            call = Call("code execution", None, code)
            turn.calls.append(call)
            waiting.add(call)
        elif (reply := named.get("function_response")) is not None:
            answered.append(_answer(builder, turn, reply, waiting, target))
        elif (result := named.get("code_execution_result")) is not None:
            reply = {"name": "code execution", "response": result}
            answered.append(_answer(builder, turn, reply, waiting, None))
        elif isinstance(text := part.get("text"), str):
            (thoughts if part.get("thought") is True else texts).append(text)
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
    waiting: _Waiting,
    target: str | None,
) -> Call:
    """Gives a response to its call."""
    reply = reply if isinstance(reply, dict) else _NOTHING
    name = text_of(reply.get("name")) or "unknown tool"
    id = text_of(reply.get("id"))
    call = waiting.take(name, id)
    if call is None:
        builder.warn("a function's response stands without its call")
        call = Call(name, id, None)
        turn.calls.append(call)
    call.is_answered = True
    call.response = reply.get("response")
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


def _keys(changes: Any) -> list[str]:
    return sorted(changes) if isinstance(changes, dict) else []


def _set_time(builder: GraphBuilder, turn: Turn, value: Any) -> None:
    turn.started_at = from_seconds(value)
    if turn.started_at is None:
        builder.warn("a time that is no number of seconds since 1970 was kept as it is")
        turn.attributes["timestamp"] = value


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < _TOO_MANY else None
