"""Claude Code: which lines are one run, read so that only unfinished runs are in memory.

A file is gone through twice. First each line is asked for its session, its id and its parent:
sessions are one run where one continues another's thread. Then the lines are read, and a run
is given out as soon as its last line is. The first lines are decoded as a whole at once: most
files hold no more.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from graphstore.errors import InputError
from ingest.json_text import DECODE_ERRORS
from ingest.reader import Rejection, TraceFile
from ingest.readers.claude_records import (
    DECODER,
    MESSAGES,
    NOTHING,
    PLACE_DECODER,
    Line,
    Place,
    Record,
    record_of,
)
from ingest.readers.decoding import decode_bytes
from ingest.readers.instants import from_iso
from ingest.run_limit import run_bytes

_DAMAGED = -1
_DECODED_BYTES = 1 << 20
"""Lines that are kept decoded from the first pass to the second, together."""


@dataclass(slots=True)
class Run:
    """The records of one run.

    Attributes:
        name: Its first session, None where no record names one.
        records: By file, in the order of the files' lines.
        repaired: Whether halves of surrogate pairs were replaced.
        repeated: Records that stood twice under one uuid.
        size: Bytes of its lines. Past the limit, its records are not kept.
    """

    name: str | None
    records: list[Record] = field(default_factory=list)
    repaired: bool = False
    repeated: int = 0
    size: int = 0
    known: dict[str, Record] = field(default_factory=dict)


class Runs:
    """The runs of files that belong together.

    Attributes:
        damaged: Lines that could not be read; complete when all runs were given out.
        is_damaged: Whether there are such lines; known from the start.
        limit: The most bytes of one run's lines.
    """

    def __init__(self, files: Sequence[TraceFile]) -> None:
        self.damaged: list[Rejection] = []
        self.is_damaged = False
        self.limit = run_bytes()
        self._files = files
        self._names: list[str] = []
        self._leader: list[int] = []
        self._decoded: dict[tuple[int, int], Line] = {}
        self._decoded_left = _DECODED_BYTES
        session_of: dict[str, int] = {}
        later: list[tuple[int, str]] = []
        self._session_of_line = [
            self._look(place, file, session_of, later) for place, file in enumerate(files)
        ]
        for session, uuid in later:
            parent = session_of.get(uuid)
            if parent is not None:
                self._leader[self._find(session)] = self._find(parent)

    def __iter__(self) -> Iterator[Run]:
        last: dict[int, tuple[int, int]] = {}
        for place, sessions in enumerate(self._session_of_line):
            for position, session in enumerate(sessions):
                if session != _DAMAGED:
                    last[self._find(session)] = (place, position)
        under_way: dict[int, Run] = {}
        for place, file in enumerate(self._files):
            sessions = self._session_of_line[place]
            for position, (number, line) in enumerate(file.lines()):
                if sessions[position] == _DAMAGED:
                    self._reject(file, number, line)
                    continue
                root = self._find(sessions[position])
                run = under_way.get(root)
                if run is None:
                    name = self._names[sessions[position]]
                    run = under_way[root] = Run(name or None)
                self._read(run, place, number, line)
                if last[root] == (place, position):
                    yield under_way.pop(root)

    def _find(self, session: int) -> int:
        leader = self._leader
        while leader[session] != session:
            leader[session] = leader[leader[session]]
            session = leader[session]
        return session

    def _look(
        self,
        file_place: int,
        file: TraceFile,
        session_of: dict[str, int],
        later: list[tuple[int, str]],
    ) -> "array[int]":
        """The session of each line of a file; sessions that go on in each other are tied.

        Args:
            file_place: Which of the files it is.
            file: The file.
            session_of: The session of each record so far, by its id.
            later: Sessions with parents that were not read yet.
        """
        found = array("q")
        indexes: dict[str, int] = {name: n for n, name in enumerate(self._names)}
        current: int | None = None
        waiting: list[int] = []
        for number, line in file.lines():
            place = self._place(file_place, number, line)
            if place is None:
                self.is_damaged = True
                found.append(_DAMAGED)
                continue
            name = place.session()
            if name is None and current is None:
                waiting.append(len(found))
                found.append(_DAMAGED)
                continue
            if name is not None:
                current = indexes.get(name)
                if current is None:
                    current = self._new(indexes, name)
            session = current if current is not None else 0
            found.append(session)
            if isinstance(place.uuid, str):
                session_of.setdefault(place.uuid, session)
                if isinstance(place.parent_uuid, str):
                    parent = session_of.get(place.parent_uuid)
                    if parent is None:
                        later.append((session, place.parent_uuid))
                    elif parent != session:
                        self._leader[self._find(session)] = self._find(parent)
        if waiting:
            # Records before the first session belong to it; without one they are one run.
            first = next((n for n in found if n != _DAMAGED), None)
            if first is None:
                first = indexes[""] if "" in indexes else self._new(indexes, "")
            for position in waiting:
                found[position] = first
        return found

    def _new(self, indexes: dict[str, int], name: str) -> int:
        indexes[name] = len(self._names)
        self._leader.append(len(self._names))
        self._names.append(name)
        return indexes[name]

    def _reject(self, file: TraceFile, number: int, line: bytes) -> None:
        try:
            decode_bytes(line, PLACE_DECODER, file.uri, first_line=number)
        except InputError as error:
            reason = error.reason
            if reason.startswith("Expected `object`"):
                reason = "it is no record, but another JSON value"
            self.damaged.append(Rejection(file.uri, f"line {number}", reason))

    def _place(self, file: int, number: int, line: bytes) -> Line | Place | None:
        """Where a record belongs, None where it is none; the first records are kept whole."""
        if len(line) <= self._decoded_left:
            try:
                value = self._decoded[file, number] = DECODER.decode(line)
            except DECODE_ERRORS:
                return _place(line)
            self._decoded_left -= len(line)
            return value
        return _place(line)

    def _line(self, run: Run, place: int, number: int, line: bytes) -> Line | None:
        """A line that was not kept decoded; None for one that cannot be read."""
        uri = self._files[place].uri
        try:
            value, repaired = decode_bytes(line, DECODER, uri, first_line=number)
        except InputError as error:
            self.damaged.append(Rejection(uri, f"line {number}", error.reason))
            return None
        run.repaired = run.repaired or repaired
        return value

    def _read(self, run: Run, place: int, number: int, line: bytes) -> None:
        run.size += len(line)
        if run.size > self.limit:
            run.records.clear()
            run.known.clear()
            return
        value = self._decoded.pop((place, number), None)
        if value is None:
            value = self._line(run, place, number, line)
        if value is None:
            return
        # A part that is not decoded holds on to its whole line; most repeat what is known.
        if value.tool_result is not NOTHING:
            value.tool_result = _kept(value.tool_result, b'"agentId"')
        if value.data is not NOTHING:
            value.data = _kept(value.data, b'"agent_progress"')
        digest = blake2b(line, digest_size=16).digest()
        record = record_of(value, place, number, from_iso(value.timestamp), digest, None)
        if record.uuid is not None and value.type in MESSAGES:
            other = run.known.setdefault(record.uuid, record)
            if other is not record and other.line.message == value.message:
                run.repeated += 1
                return
        run.records.append(record)


def _place(line: bytes) -> Place | None:
    try:
        return PLACE_DECODER.decode(line)
    except DECODE_ERRORS:
        pass
    try:
        return decode_bytes(line, PLACE_DECODER, "")[0]
    except InputError:
        return None


def _kept(raw: msgspec.Raw, mark: bytes) -> msgspec.Raw:
    text = bytes(raw)
    return msgspec.Raw(text) if mark in text or b'"totalTokens"' in text else NOTHING
