"""Claude Code: the lines of session files, put into runs and into one order.

A line is a record. Messages have a ``uuid`` and the ``parentUuid`` of the record that they
follow on; a sub-agent's have ``isSidechain`` and, in newer versions, an ``agentId``. They
stand in the session's file, or in files of their own (``agent-*.jsonl``). The stream of
``claude -p --output-format stream-json`` has ``session_id`` and ``parent_tool_use_id``
instead. Sessions are one run where one continues another's thread.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ingest.reader import TraceFile
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


class Record(msgspec.Struct, eq=False):
    """A line with its place; made by :func:`record_of`.

    Attributes:
        digest: Of the line's bytes.
        uuid: The line's, where it is a text.
        parent: The record that it follows on, likewise.
        thread: The key of its sub-agent's thread, None in the main one.
    """

    line: Line
    file: int
    number: int
    time: int | None
    digest: bytes
    uuid: str | None
    parent: str | None
    thread: str | None = None


def record_of(
    line: Line, file: int, number: int, time: int | None, digest: bytes, thread: str | None
) -> Record:
    """A line with its place, its ids taken where they are texts."""
    uuid, parent = line.uuid, line.parent_uuid
    return Record(
        line,
        file,
        number,
        time,
        digest,
        uuid if isinstance(uuid, str) else None,
        parent if isinstance(parent, str) else None,
        thread,
    )


def in_order_of_files(records: list[Record]) -> list[Record]:
    """The records with their files in order of time, whatever order they were named in."""
    parts = list(_by_file(records).values())
    if len(parts) == 1:
        return records
    parts.sort(key=lambda part: (_first_time(part), part[0].digest))
    return [record for part in parts for record in part]


def _by_file(records: list[Record]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for record in records:
        found.setdefault(record.file, []).append(record)
    return found


def _first_time(records: list[Record]) -> int:
    return next((record.time for record in records if record.time is not None), 0)


RecordOf = Callable[[Record], Record | None]


def merge(records: list[Record], opened_after: RecordOf, closed_by: RecordOf) -> list[Record]:
    """Puts the records of one run into one order: each file's own, between files by time.

    A sub-agent's records that stand in the same file as the call that opened it, but before it
    or after its result, go by time too.

    Args:
        records: By file, in the order of lines.
        opened_after: The record of the call that opened a record's thread, where it is known.
        closed_by: The record of that call's result, likewise.
    """
    parts = [
        part
        for records_of_file in _by_file(records).values()
        for part in _threads_apart(records_of_file, opened_after, closed_by)
    ]
    # Where times are equal, a sub-agent's file comes first: its call is done after it.
    streams = sorted(
        parts,
        key=lambda part: (
            any(record.thread is None for record in part),
            _first_time(part),
            part[0].digest,
        ),
    )
    return merged(streams, lambda record: record.time, opened_after)


def _threads_apart(
    records: list[Record], opened_after: RecordOf, closed_by: RecordOf
) -> Iterator[list[Record]]:
    """A file's records, each thread apart that does not stand between its call and result."""
    if all(record.thread is None for record in records):
        yield records
        return
    apart: dict[str, list[Record]] = {}
    seen: set[int] = set()
    present = {id(record) for record in records}
    for record in records:
        opener = opened_after(record)
        if opener is not None and id(opener) in present:
            closer = closed_by(record)
            if id(opener) not in seen or (closer is not None and id(closer) in seen):
                apart[record.thread or ""] = []
        seen.add(id(record))
    if not apart:
        yield records
        return
    rest: list[Record] = []
    for record in records:
        apart.get(record.thread or "", rest).append(record)
    yield from (part for part in (rest, *apart.values()) if part)


def blocks_of(message: Any) -> list[dict[str, Any]]:
    """A message's blocks, not to be changed; a text is one, and what is none becomes text."""
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, dict):
        return [content]
    if not isinstance(content, list):
        return []
    if all(type(block) is dict for block in content):
        return content
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


class Place(msgspec.Struct):
    """Where a record belongs: what is read of it before the rest."""

    uuid: Any = None
    parent_uuid: Any = msgspec.field(default=None, name="parentUuid")
    session_id: Any = msgspec.field(default=None, name="sessionId")
    stream_session: Any = msgspec.field(default=None, name="session_id")

    def session(self) -> str | None:
        """The session's id."""
        return _session(self.session_id, self.stream_session)


PLACE_DECODER = msgspec.json.Decoder(Place)


def session_ids(files: Sequence[TraceFile]) -> Iterator[str]:
    """The session of each record."""
    for file in files:
        for _, line in file.lines():
            try:
                session = PLACE_DECODER.decode(line).session()
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
            if session is not None:
                yield session
