"""CAMEL: memories, and which of them quote each other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from graphstore.identity import digest
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_seconds
from ingest.readers.openai_calls import text_of_content

Record = dict[str, Any]

TYING_LENGTH = 32
"""Shorter words tie no two memories together: greetings stand in many."""

PLAIN_ROLES = frozenset({"", "system", "assistant", "user"})


@dataclass(slots=True, eq=False)
class Memory:
    """One agent's records.

    Attributes:
        file: The position of its file.
        name: Its role, where it has one of its own, else its id.
    """

    file: int
    id: str
    name: str
    records: list[Record]


Entry = tuple[Memory, Record]


def memories_of(records: list[Record], place: int) -> list[Memory]:
    """The memories of one file: one an agent."""
    by_agent: dict[str, list[Record]] = {}
    for record in records:
        by_agent.setdefault(text_of(record.get("agent_id")) or "", []).append(record)
    found = []
    for id, own in by_agent.items():
        roles = [
            role
            for record in own
            if record["role_at_backend"] in ("assistant", "system")
            and (role := text_of(record["message"].get("role_name")))
        ]
        role = next((r for r in roles if r.casefold() not in PLAIN_ROLES), None)
        name = role or id or (roles[0] if roles else "agent")
        found.append(Memory(place, id, name, own))
    return found


def ties_of(record: Record) -> Iterator[str]:
    """What ties a record to those of other agents: words, and whose they are."""
    message = record["message"]
    text = text_of_content(message.get("content"))
    role = text_of(message.get("role_name")) or ""
    if text is None or len(text.strip()) < TYING_LENGTH:
        return
    kind = record["role_at_backend"]
    if kind == "assistant" or (kind == "user" and role.casefold() != "user"):
        yield digest(role, text.strip())


def entries_of(memory: Memory) -> list[Entry]:
    """A memory's records, each with the memory."""
    return [(memory, record) for record in memory.records]


def quotes_in(
    streams: list[list[Entry]],
) -> tuple[Callable[[Entry], Entry | None], dict[int, set[str]]]:
    """What each told text is in the memory of the agent that said it.

    Of several that said the same, it is the one that said it last before. Each answer is told
    to an agent once.

    Returns:
        What a record quotes, and by memory the quotes that tie it to others.
    """
    said: dict[str, list[Entry]] = {}
    for stream in streams:
        for entry in stream:
            if entry[1]["role_at_backend"] == "assistant" and (text := content_of(entry[1])):
                said.setdefault(text, []).append(entry)
    found: dict[int, Entry] = {}
    ties: dict[int, set[str]] = {}
    for stream in streams:
        used: set[int] = set()
        for memory, record in stream:
            if record["role_at_backend"] != "user" or not (text := content_of(record)):
                continue
            others = [
                other
                for other in said.get(text, ())
                if other[0] is not memory
                and id(other[1]) not in used
                and _may_be(other, record, text)
            ]
            if others:
                other = max(others, key=lambda entry: time_of(entry[1]) or 0)
                used.add(id(other[1]))
                found[id(record)] = other
                for one in (memory, other[0]):
                    ties.setdefault(id(one), set()).add(str(id(record)))
    return (lambda entry: found.get(id(entry[1]))), ties


def _may_be(other: Entry, record: Record, text: str) -> bool:
    """Whether an agent's words can be what another was told: its role, and the time, agree."""
    role = role_of(record).casefold()
    names = (role_of(other[1]).casefold(), other[0].name.casefold())
    if role not in names and len(text) < TYING_LENGTH:
        return False
    told, said = time_of(record), time_of(other[1])
    return told is None or said is None or said <= told


def content_of(record: Record) -> str:
    """A record's text."""
    return (text_of_content(record["message"].get("content")) or "").strip()


def role_of(record: Record) -> str:
    """The role under which a record's words were said."""
    return text_of(record["message"].get("role_name")) or ""


def time_of(record: Record) -> int | None:
    """When a record was made."""
    return from_seconds(record.get("timestamp")) or None
