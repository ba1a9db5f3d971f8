"""Codex: the lines of rollout files, as one stream of records a thread.

A file is one thread. Its first line names it (``session_meta``, in old files without a
type); then come what the model read and wrote (``response_item``), and what happened
(``event_msg``), which mostly says the same again. A thread that another one started repeats
what it was given of that thread's records, with the old times or with new ones.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore.errors import InputError
from graphstore.identity import canonical_json, digest
from ingest.reader import Rejection, TraceFile
from ingest.readers.decoding import decode_bytes
from ingest.readers.instants import from_iso
from ingest.run_limit import run_bytes, too_large

RESPONSES = frozenset(
    {"message", "reasoning", "function_call", "function_call_output", "custom_tool_call"}
    | {"custom_tool_call_output", "local_shell_call", "local_shell_call_output"}
    | {"web_search_call", "tool_search_call", "tool_search_output", "image_generation_call"}
    | {"mcp_tool_call", "mcp_tool_call_output"}
)
SPAWNED = ("new_thread_id", "receiver_thread_id", "receiver_thread_ids")
"""Where an event names the thread that a call started or spoke to."""

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()


@dataclass(slots=True, eq=False)
class Record:
    """A line.

    Attributes:
        kind: ``response_item``, ``event_msg``, ``item`` (of a stream), or another type.
        payload: What it holds.
        digest: Of the line's bytes.
    """

    kind: str
    payload: dict[str, Any]
    time: int | None
    file: int
    digest: str


@dataclass(slots=True, eq=False)
class Rollout:
    """One file.

    Attributes:
        id: The thread.
        parent: The thread that started it.
        call: The call that did, where the file names it.
        name: What it is called.
        role: What it is there for.
        begun: When it began.
        meta: The first line's payload.
        lost: Whether its file is missing, and another one told of it.
        size: Bytes of its lines.
    """

    file: int
    id: str | None = None
    parent: str | None = None
    call: str | None = None
    name: str | None = None
    role: str | None = None
    begun: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    damaged: list[Rejection] = field(default_factory=list)
    repaired: bool = False
    repeats: int = 0
    lost: bool = False
    size: int = 0


def read_rollouts(files: Sequence[TraceFile]) -> list[Rollout]:
    """Reads files that are one run together.

    Raises:
        InputError: They hold more than a run may.
    """
    limit = room = run_bytes()
    rollouts = []
    for place, file in enumerate(files):
        rollout = _read(file, place, room)
        if rollout is None:
            raise InputError(too_large(limit))  # all of them together
        room -= rollout.size
        rollouts.append(rollout)
    return rollouts


def _read(file: TraceFile, place: int, room: int) -> Rollout | None:
    """The file at a place among files; None where it holds more bytes than there is room."""
    rollout = Rollout(place)
    for number, line in file.lines():
        rollout.size += len(line)
        if rollout.size > room:
            return None
        try:
            value, repaired = decode_bytes(line, _DECODER, file.uri, first_line=number)
        except InputError as error:
            rollout.damaged.append(Rejection(file.uri, f"line {number}", error.reason))
            continue
        if not isinstance(value, dict):
            reason = "it is no record, but another JSON value"
            rollout.damaged.append(Rejection(file.uri, f"line {number}", reason))
            continue
        rollout.repaired = rollout.repaired or repaired
        record = _record(value, place, digest(line, size=16))
        if record is None:
            _describe(rollout, value)
        elif record.kind == "session_meta":
            _describe(rollout, {"timestamp": value.get("timestamp"), **record.payload})
        else:
            rollout.records.append(record)
    return rollout


def _record(value: dict[str, Any], place: int, identity: str) -> Record | None:
    """A line as a record; None for the first line of an old file."""
    kind, payload = value.get("type"), value.get("payload")
    time = from_iso(value.get("timestamp"))
    if isinstance(kind, str) and isinstance(payload, dict):
        return Record(kind, payload, time, place, identity)
    if isinstance(kind, str) and kind in RESPONSES:
        return Record("response_item", value, time, place, identity)
    if isinstance(kind, str) and kind.split(".")[0] in ("item", "turn", "thread", "error"):
        return Record("stream", value, time, place, identity)
    if kind is None and "id" in value and "timestamp" in value:
        return None
    return Record(kind if isinstance(kind, str) else "no type", value, time, place, identity)


def _describe(rollout: Rollout, meta: dict[str, Any]) -> None:
    """Takes the thread's own first line; a later one is repeated from its parent."""
    if rollout.id is not None or rollout.meta:
        return
    rollout.meta = meta
    rollout.id = _text(meta.get("id")) or _text(meta.get("session_id"))
    rollout.begun = from_iso(meta.get("timestamp"))
    source = meta.get("source")
    sub = source.get("subagent") if isinstance(source, dict) else None
    spawn = sub.get("thread_spawn") if isinstance(sub, dict) else None
    about = spawn if isinstance(spawn, dict) else {}
    rollout.parent = _text(about.get("parent_thread_id")) or _text(meta.get("parent_thread_id"))
    rollout.call = _text(about.get("spawn_call_id"))
    rollout.name = _text(about.get("agent_nickname")) or _text(meta.get("agent_nickname"))
    rollout.role = _text(about.get("agent_role")) or _text(meta.get("agent_role"))
    if isinstance(sub, str):
        rollout.role = rollout.role or sub


def settle(rollouts: list[Rollout]) -> list[Rollout]:
    """Gives each record to the thread that it belongs to, once.

    What a thread holds from before its own start is its parent's: it is dropped where the
    parent's file has it, and given to the parent where that file has lost it or is missing.
    Records with new times are repeats as long as they stand at the begin, in the parent's
    order.

    Returns:
        The threads, those that are only told of at the end.
    """
    threads = list(rollouts)
    by_id = {rollout.id: rollout for rollout in rollouts if rollout.id is not None}
    for rollout in rollouts:
        if rollout.parent is None or rollout.parent == rollout.id:
            continue
        parent = by_id.get(rollout.parent)
        if parent is None:
            parent = Rollout(len(threads), rollout.parent, meta=rollout.meta, lost=True)
            by_id[rollout.parent] = parent
            threads.append(parent)
        _settle(rollout, parent)
    return threads


def _settle(rollout: Rollout, parent: Rollout) -> None:
    known = [_content(record) for record in parent.records]
    left = Counter(known)
    position, leading = 0, True
    own: list[Record] = []
    given = False
    for record in rollout.records:
        content = _content(record)
        if _is_early(rollout, record):
            if left[content]:
                left[content] -= 1
                rollout.repeats += 1
            else:
                record.file = parent.file
                parent.records.append(record)
                given = True
            continue
        if leading and record.kind in ("response_item", "event_msg"):
            found = _index(known, content, position)
            if found is not None:
                position = found + 1
                rollout.repeats += 1
                continue
            leading = _opens(record)
        own.append(record)
    rollout.records = own
    if given and all(record.time is not None for record in parent.records):
        parent.records.sort(key=lambda record: record.time or 0)


def _is_early(rollout: Rollout, record: Record) -> bool:
    return rollout.begun is not None and record.time is not None and record.time < rollout.begun


def _index(known: list[str], content: str, start: int) -> int | None:
    try:
        return known.index(content, start)
    except ValueError:
        return None


def _opens(record: Record) -> bool:
    """Whether a record tells of a new turn, which looks the same in each thread."""
    return record.kind == "event_msg" and record.payload.get("type") in (
        "task_started",
        "token_count",
        "turn_started",
    )


def _content(record: Record) -> str:
    return digest(record.kind, canonical_json(record.payload), size=12)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
