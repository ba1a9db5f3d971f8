"""Claude Code: the lines of session files, put into runs and into one order.

A line is a record. Messages have a ``uuid`` and the ``parentUuid`` of the record that they
follow on; a sub-agent's have ``isSidechain`` and, in newer versions, an ``agentId``. They
stand in the session's file, or in files of their own (``agent-*.jsonl``). The stream of
``claude -p --output-format stream-json`` has ``session_id`` and ``parent_tool_use_id``
instead. Sessions are one run where one continues another's thread.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec

from graphstore.errors import InputError
from ingest.reader import Rejection, TraceFile
from ingest.readers.decoding import decode_bytes
from ingest.readers.instants import from_iso
from ingest.readers.merging import merged

NOTHING = msgspec.Raw(b"")

MESSAGES = ("user", "assistant", "system")


class Line(msgspec.Struct):
    """One record, with the fields that are read; others are passed over."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = msgspec.field(default=None, name="parentUuid")
    is_sidechain: Any = msgspec.field(default=None, name="isSidechain")
    session_id: Any = msgspec.field(default=None, name="sessionId")
    stream_session: Any = msgspec.field(default=None, name="session_id")
    agent_id: Any = msgspec.field(default=None, name="agentId")
    parent_tool: Any = msgspec.field(default=None, name="parent_tool_use_id")
    parent_call: Any = msgspec.field(default=None, name="parentToolUseID")
    timestamp: Any = None
    message: Any = None
    tool_result: msgspec.Raw = msgspec.field(default=NOTHING, name="toolUseResult")
    is_meta: Any = msgspec.field(default=None, name="isMeta")
    is_summary: Any = msgspec.field(default=None, name="isCompactSummary")
    is_error: Any = msgspec.field(default=None, name="isApiErrorMessage")
    subtype: Any = None
    content: Any = None
    summary: Any = None
    version: Any = None
    cwd: Any = None
    model: Any = None
    attachment: Any = None
    data: msgspec.Raw = NOTHING
    result: Any = None
    total_cost_usd: Any = None
    duration_ms: Any = None
    failed: Any = msgspec.field(default=None, name="is_error")
    usage: Any = None

    def session(self) -> str | None:
        """The session's id."""
        return _session(self.session_id, self.stream_session)


def _session(one: Any, other: Any) -> str | None:
    if isinstance(one, str) and one:
        return one
    return other if isinstance(other, str) and other else None


DECODER = msgspec.json.Decoder(Line)
_ANY: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()


@dataclass(slots=True, eq=False)
class Record:
    """A line with its place.

    Attributes:
        thread: The key of its sub-agent's thread, None in the main one.
        digest: Of the line's bytes.
    """

    line: Line
    file: int
    number: int
    time: int | None
    digest: bytes
    thread: str | None = None
    uuid: str | None = None
    parent: str | None = None

    def __post_init__(self) -> None:
        line = self.line
        self.uuid = line.uuid if isinstance(line.uuid, str) else None
        self.parent = line.parent_uuid if isinstance(line.parent_uuid, str) else None


@dataclass
class Lines:
    """What some files hold.

    Attributes:
        runs: The records of each run by file, in the order of the files' lines.
        names: Each run's first session.
        damaged: Lines that could not be read.
        repaired: Whether halves of surrogate pairs were replaced.
        repeated: Records that stand twice under one uuid.
    """

    runs: list[list[Record]] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    damaged: list[Rejection] = field(default_factory=list)
    repaired: bool = False
    repeated: int = 0


def read_lines(files: Sequence[TraceFile]) -> Lines:
    """Reads the records of files that belong together.

    Raises:
        InputError: A file cannot be read at all.
    """
    found = Lines()
    sessions: list[tuple[Record, str]] = []
    parents: dict[str, str] = {}
    session_of: dict[str, str] = {}
    known: dict[str, Record] = {}
    for place, file in enumerate(files):
        current: str | None = None
        waiting: list[Record] = []
        for number, line in file.lines():
            record = _record(found, file, place, number, line)
            if record is None:
                continue
            uuid = record.uuid
            if uuid is not None and record.line.type in MESSAGES:
                other = known.setdefault(uuid, record)
                if other is not record and other.line.message == record.line.message:
                    found.repeated += 1
                    continue
            session = record.line.session()
            if session is None and current is None:
                waiting.append(record)
                continue
            current = session or current or ""
            sessions += [(early, current) for early in waiting]
            waiting = []
            sessions.append((record, current))
            if uuid is not None:
                session_of.setdefault(uuid, current)
                if record.parent is not None and record.parent not in parents:
                    parents[uuid] = record.parent
        sessions += [(early, "") for early in waiting]
    _part(found, sessions, parents, session_of)
    return found


def _record(
    found: Lines, file: TraceFile, place: int, number: int, line: bytes
) -> Record | None:
    try:
        value, repaired = decode_bytes(line, DECODER, file.uri, first_line=number)
    except InputError as error:
        reason = error.reason
        if reason.startswith("Expected `object`"):
            reason = "it is no record, but another JSON value"
        found.damaged.append(Rejection(file.uri, f"line {number}", reason))
        return None
    found.repaired = found.repaired or repaired
    # A part that is not decoded holds on to its whole line, and most repeat what is known.
    value.tool_result = _kept(value.tool_result, b'"agentId"')
    value.data = _kept(value.data, b'"agent_progress"')
    digest = blake2b(line, digest_size=16).digest()
    return Record(value, place, number, from_iso(value.timestamp), digest)


def _kept(raw: msgspec.Raw, mark: bytes) -> msgspec.Raw:
    text = bytes(raw)
    return msgspec.Raw(text) if mark in text or b'"totalTokens"' in text else NOTHING


def _part(
    found: Lines,
    sessions: list[tuple[Record, str]],
    parents: dict[str, str],
    session_of: dict[str, str],
) -> None:
    """Puts records into runs: sessions that continue each other are one."""
    leader: dict[str, str] = {session: session for _, session in sessions}

    def find(session: str) -> str:
        while leader[session] != session:
            leader[session] = leader[leader[session]]
            session = leader[session]
        return session

    for uuid, parent in parents.items():
        if parent in session_of:
            one, other = find(session_of[uuid]), find(session_of[parent])
            leader[one] = other
    runs: dict[str, list[Record]] = {}
    names: dict[str, str] = {}
    for record, session in sessions:
        root = find(session)
        runs.setdefault(root, []).append(record)
        names.setdefault(root, session)
    found.runs = list(runs.values())
    found.names = [names[root] or None for root in runs]


def merge(
    records: list[Record], opened_after: Callable[[Record], Record | None]
) -> list[Record]:
    """Puts the records of one run into one order: each file's own, between files by time.

    Args:
        records: By file, in the order of lines.
        opened_after: The record of the call that opened a record's thread, where it is known.
    """
    by_file: dict[int, list[Record]] = {}
    for record in records:
        by_file.setdefault(record.file, []).append(record)
    # Where times are equal, a sub-agent's file comes first: its call is done after it.
    streams = sorted(
        by_file.values(),
        key=lambda part: (
            any(record.thread is None for record in part),
            part[0].time or 0,
            part[0].digest,
        ),
    )
    return merged(streams, lambda record: record.time, opened_after)


def blocks_of(message: Any) -> list[dict[str, Any]]:
    """A message's blocks; a text is one block, and what is no block becomes text."""
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        block if isinstance(block, dict) else {"type": "text", "text": block}
        for block in content
        if block is not None
    ]


def decoded(raw: msgspec.Raw) -> dict[str, Any]:
    """A part that is decoded only when it is needed; empty where it is no object."""
    if not bytes(raw).startswith(b"{"):
        return {}
    try:
        value = _ANY.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def session_ids(files: Sequence[TraceFile]) -> Iterator[str]:
    """The session of each record."""
    for file in files:
        for _, line in file.lines():
            try:
                session = _SESSIONS.decode(line).session()
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            if session is not None:
                yield session


class _Session(msgspec.Struct):
    session_id: Any = msgspec.field(default=None, name="sessionId")
    stream_session: Any = msgspec.field(default=None, name="session_id")

    def session(self) -> str | None:
        return _session(self.session_id, self.stream_session)


_SESSIONS = msgspec.json.Decoder(_Session)
