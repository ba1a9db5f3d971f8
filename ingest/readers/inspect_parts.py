"""Inspect: the parts of events and messages."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphstore.identity import digest
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso

Record = dict[str, Any]


@dataclass(slots=True, eq=False)
class Span:
    """A stretch of a sample's work."""

    id: str
    parent: "Span | None"
    type: str | None
    name: str


def events_of(sample: Record) -> list[Any]:
    """A sample's events, in an older log those of its transcript."""
    events = sample.get("events")
    transcript = sample.get("transcript")
    if not events and isinstance(transcript, dict):
        events = transcript.get("events")
    return events if isinstance(events, list) else []


def flat(
    events: list[Any], inside: tuple[str, ...]
) -> Iterator[tuple[Record, tuple[str, ...]]]:
    """Events with those that tools and subtasks hold inside, and the agents around them."""
    waiting: list[tuple[Any, tuple[str, ...]]] = [(event, inside) for event in reversed(events)]
    while waiting:
        event, around = waiting.pop()
        if not isinstance(event, dict):
            continue
        yield event, around
        inner = event.get("events")
        if isinstance(inner, list) and inner:
            name = event.get("agent") if event.get("event") == "tool" else None
            deeper = (*around, name) if isinstance(name, str) and name else around
            waiting += [(part, deeper) for part in reversed(inner)]


def key_of(message: Record, earlier: Counter[str]) -> str:
    """What tells a message from others: its id, else the call it answers, else its words.

    Args:
        message: One of a conversation.
        earlier: How often the same words stand before it there; counted on.
    """
    id = message.get("id")
    if isinstance(id, str) and id:
        return id
    call = message.get("tool_call_id")
    if isinstance(call, str) and message.get("role") == "tool":
        return f"result:{call}"
    words = f"{message.get('role')}:{digest(text_of(message.get('content')) or '')}"
    earlier[words] += 1
    return f"{words} {earlier[words]}"


def start_of(event: Record) -> int | None:
    """When an event began."""
    return from_iso(event.get("timestamp"))


def inputs_of(event: Record, pool: list[Any]) -> Iterator[Record]:
    """A model call's messages: in the event, or as stretches of the sample's pool."""
    listed = event.get("input")
    for message in listed if isinstance(listed, list) else []:
        if isinstance(message, dict):
            yield message
    refs = event.get("input_refs")
    for part in refs if isinstance(refs, list) else []:
        if isinstance(part, list) and len(part) == 2 and all(_is_place(n) for n in part):
            for message in pool[part[0] : part[1]]:
                if isinstance(message, dict):
                    yield message


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40


def tokens_of(usage: Any) -> tuple[int | None, int | None]:
    """Tokens read, those of the cache included, and written."""
    if not isinstance(usage, dict):
        return None, None
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    read = [n for name in names if (n := _number(usage.get(name))) is not None]
    return (sum(read) if read else None), _number(usage.get("output_tokens"))


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**60 else None
