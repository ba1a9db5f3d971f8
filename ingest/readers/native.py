"""Reads masgraph's own JSONL: what exporters write that know nothing of the model's insides.

One JSON object a line is one run or decomposition. A file that holds one indented object,
or an array of objects, reads the same. See ``docs/native-format.md``.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import CollaborationGraph, GraphKind
from ingest import json_text
from ingest.big_json import streamed_items
from ingest.field_problems import explain_field
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers import native_records
from ingest.readers.decoding import has_key
from ingest.readers.native_graph import fill
from ingest.readers.native_organizations import Organizations
from ingest.readers.native_records import RunRecord

_ANYTHING = msgspec.json.Decoder(msgspec.Raw)
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])

_MARK = re.compile(rb'"masgraph"(?<!\\"masgraph")\s*:\s*\d')
_SURROGATES = "half a surrogate pair in a text was replaced by U+FFFD"


class _Head(msgspec.Struct):
    masgraph: int | None = None


class NativeReader:
    """masgraph's own format."""

    format = "native"
    title = "masgraph JSONL"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="yes",
        outcome="yes",
        notes=("It can say everything; what a file says depends on who wrote it.",),
    )
    telling_keys = frozenset({"masgraph"})

    def sniff(self, sample: bytes) -> bool:
        """Whether an object, or an array of them, has the field ``masgraph``."""
        start = sample.lstrip()
        if start[:1] not in (b"{", b"[") or not has_key(sample, "masgraph"):
            return False
        line = start.partition(b"\n")[0]
        try:
            return msgspec.json.decode(line, type=_Head).masgraph is not None
        except json_text.DECODE_ERRORS:
            return _MARK.search(start) is not None

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a graph or a rejection for each record. Memory holds one record at a time.

        Raises:
            InputError: The file is neither lines of JSON nor one JSON document.
        """
        seen: dict[str, str] = {}
        organizations = Organizations()
        for piece in _pieces(file):
            try:
                yield self._graph(file, context, piece, seen, organizations)
            except InputError as error:
                yield Rejection(file=file.uri, record=piece.place, reason=error.reason)

    def _graph(
        self,
        file: TraceFile,
        context: ReadContext,
        piece: "_Piece",
        seen: dict[str, str],
        organizations: Organizations,
    ) -> CollaborationGraph:
        try:
            record, raw = json_text.decode(
                piece.raw, native_records.decoder, first_line=piece.line
            )
        except msgspec.ValidationError as error:
            raise InputError(explain_field(error, native_records.AnyRecord)) from error
        if record.id is not None and seen.setdefault(record.id, piece.place) != piece.place:
            raise InputError(
                f"the id {record.id!r} stands twice in the file (first in record "
                f"{seen[record.id]})"
            )
        builder = GraphBuilder(
            kind="run" if isinstance(record, RunRecord) else "decomposition",
            format=self.format,
            uri=file.uri,
            content=msgspec.json.format(raw, indent=-1),
            record=piece.place if record.id is None else record.id,
            sha256=file.sha256,
            reader_version=self.version,
            policy=context.policy,
            role_of=context.role_of,
        )
        for sentence in record.warnings:
            builder.warn(sentence)
        if piece.repaired or raw is not piece.raw:
            builder.warn(_SURROGATES)
        fill(builder, record, organizations)
        return builder.build()


class _Piece(msgspec.Struct, frozen=True):
    """The bytes of one record.

    Attributes:
        place: Its line, or its position in an array, from 1.
        line: The line of the file at which it begins; 1 inside a document.
    """

    place: str
    line: int
    raw: bytes
    repaired: bool = False


def _pieces(file: TraceFile) -> Iterator[_Piece]:
    if (items := streamed_items(file)) is not None:
        for place, raw in enumerate(items, 1):
            yield _Piece(str(place), 1, raw)
        return
    lines = file.lines()
    first = next(lines, None)
    if first is None:
        raise InputError("the file is empty", file=file.uri)
    number, line = first
    if not _is_line(line):
        document = _document(file, certain=line.startswith(b"[") or line == b"{")
        if document is not None:
            yield from document
            return
    yield _Piece(str(number), number, line)
    for number, line in lines:
        yield _Piece(str(number), number, line)


def _is_line(line: bytes) -> bool:
    """Whether a first line is a whole object, so that the file holds one a line."""
    if not line.startswith(b"{"):
        return False
    try:
        json_text.decode(line, _ANYTHING)
    except InputError:
        return False
    return True


def _document(file: TraceFile, *, certain: bool) -> Iterable[_Piece] | None:
    """The records of one JSON document; None where it rather is lines, one of them bad."""
    try:
        data = file.data()
        whole, repaired = json_text.decode(data, _ANYTHING)
    except InputError as error:
        if certain:
            raise InputError(error.reason, file=file.uri) from error
        return None
    changed = repaired is not data
    raw = bytes(whole)
    if not raw.startswith(b"["):
        return [_Piece("1", 1, raw, changed)]
    items = _ARRAY.decode(raw)
    return (_Piece(str(place), 1, bytes(item), changed) for place, item in enumerate(items, 1))
