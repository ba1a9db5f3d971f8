"""OTLP as it is written: the JSON of ``TracesData``, whole, as an array, or line by line.

Source: the OpenTelemetry protocol 1.x, ``opentelemetry/proto/trace/v1/trace.proto``, in its
JSON encoding. Files deviate from it: times and integers as numbers or as text, enumerations by
number or by name, ids in hexadecimal or, from protobuf's own JSON, in base64. All are
brought into one form here.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.errors import InputError
from graphstore.model import Status
from ingest.big_json import is_indented, streamed_items
from ingest.reader import TraceFile
from ingest.readers.decoding import decode_bytes, first_character


class Value(msgspec.Struct, rename="camel", gc=False):
    """``AnyValue``: at most one field is set."""

    string_value: str | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bool_value: bool | None = None
    array_value: "ArrayValue | None" = None
    kvlist_value: "KeyValueList | None" = None


class ArrayValue(msgspec.Struct, gc=False):
    """``ArrayValue``."""

    values: list[Value] = []


class Attribute(msgspec.Struct, gc=False):
    """``KeyValue``."""

    key: str
    value: Value | None = None


class KeyValueList(msgspec.Struct, gc=False):
    """``KeyValueList``."""

    values: list[Attribute] = []


class Event(msgspec.Struct, rename="camel", gc=False):
    """``Span.Event``: a named moment inside a span."""

    name: str | None = None
    attributes: list[Attribute] | None = None


class Link(msgspec.Struct, rename="camel", gc=False):
    """``Span.Link``: another span that caused this one."""

    span_id: str | None = None


class SpanStatus(msgspec.Struct, gc=False):
    """``Status``."""

    code: int | str | None = None
    message: str | None = None


class Span(msgspec.Struct, rename="camel", gc=False):
    """``Span``, the fields that are read."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str | None = None
    start_time_unix_nano: int | str | None = None
    end_time_unix_nano: int | str | None = None
    attributes: list[Attribute] | None = None
    events: list[Event] | None = None
    links: list[Link] | None = None
    status: SpanStatus | None = None


class Scope(msgspec.Struct, gc=False):
    """``InstrumentationScope``."""

    name: str | None = None


class ScopeSpans(msgspec.Struct, gc=False):
    """``ScopeSpans``, the spans of one instrumentation library."""

    scope: Scope | None = None
    spans: list[Span] | None = None


class Resource(msgspec.Struct, gc=False):
    """``Resource``: the process that wrote the spans."""

    attributes: list[Attribute] | None = None


class ResourceSpans(msgspec.Struct, rename="camel", gc=False):
    """``ResourceSpans``; before version 0.19 the scopes had another name."""

    resource: Resource | None = None
    scope_spans: list[ScopeSpans] | None = None
    instrumentation_library_spans: list[ScopeSpans] | None = None


class TracesData(msgspec.Struct, rename="camel", gc=False):
    """``TracesData``, also the body of an export request."""

    resource_spans: list[ResourceSpans]


DECODER = msgspec.json.Decoder(TracesData)
"""Of one document: the typed decoding that reading is measured against."""

_ARRAY = msgspec.json.Decoder(list[TracesData])

_STATUS: dict[int | str | None, Status | None] = {
    1: "ok",
    "1": "ok",
    "OK": "ok",
    "STATUS_CODE_OK": "ok",
    2: "error",
    "2": "error",
    "ERROR": "error",
    "STATUS_CODE_ERROR": "error",
}

_HEX = re.compile(r"[0-9a-f]+")
_INT64 = 1 << 63
_EXACT = 1 << 53
"""Up to here every integer is a float too."""


def documents(file: TraceFile) -> Iterator[tuple[TracesData, bool]]:
    """The documents of a file, and whether each had to be repaired.

    A file with one document a line is streamed.

    Raises:
        InputError: It is not JSON, or not of this shape; with the line as the record.
    """
    if (items := _streamed(file)) is not None:
        yield from items
        return
    if first_character(file.sample) == b"[":
        array, repaired = decode_bytes(file.data(), _ARRAY, file.uri)
        for document in array:
            yield document, repaired
        return
    if is_indented(file):
        yield decode_bytes(file.data(), DECODER, file.uri)
        return
    whole = False
    count = 0
    for number, line in file.lines():
        try:
            decoded = decode_bytes(line, DECODER, file.uri, first_line=number)
        except InputError as error:
            if count == 0 and not _complete(line):
                whole = True
                break
            raise InputError(error.reason, file=file.uri, record=f"line {number}") from error
        count += 1
        yield decoded
    if whole:
        yield decode_bytes(file.data(), DECODER, file.uri)
    elif count == 0:
        raise InputError("it is empty", file=file.uri)


def _streamed(file: TraceFile) -> Iterator[tuple[TracesData, bool]] | None:
    """The documents of a large array, or the parts of one large document."""
    documents = streamed_items(file)
    if documents is not None:
        return (decode_bytes(item, DECODER, file.uri) for item in documents)
    parts = streamed_items(file, "resourceSpans")
    if parts is None:
        return None
    return (
        decode_bytes(b'{"resourceSpans":[' + part + b"]}", DECODER, file.uri) for part in parts
    )


def _complete(line: bytes) -> bool:
    """Whether a line is a JSON value by itself: not the begin of an indented document."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


def hex_id(text: str, size: int) -> str | None:
    """An id in lower-case hexadecimal digits, None where it is empty or all zero.

    Args:
        text: Hexadecimal, or base64 as protobuf's own JSON has it.
        size: Bytes: 16 for a trace, 8 for a span.
    """
    if len(text) == size * 2:
        found = text.lower()
        return found if found.strip("0") else None
    if not text:
        return None
    if len(text) == -(-size // 3) * 4:
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return text
        if len(data) == size:
            return data.hex() if any(data) else None
    plain = text.lower().removeprefix("0x")
    if len(plain) == size * 2 and _HEX.fullmatch(plain):
        return plain if plain.strip("0") else None
    return text


def nanoseconds(value: int | str | None) -> int | None:
    """A point in time, None where it is missing, zero or no number."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            return None
    return value if 0 < value < _INT64 else None


def status_of(status: SpanStatus | None) -> Status | None:
    """What a span's status says; an unset one says nothing."""
    return None if status is None else _STATUS.get(status.code)


def plain(value: Value | None) -> Any:
    """An attribute's value as JSON: text, number, truth value, list or object."""
    if value is None:
        return None
    if value.string_value is not None:
        return value.string_value
    if value.int_value is not None:
        return whole_number(value.int_value)
    if value.bool_value is not None:
        return value.bool_value
    if value.double_value is not None:
        return real_number(value.double_value)
    if value.array_value is not None:
        return [plain(item) for item in value.array_value.values]
    if value.kvlist_value is not None:
        return {item.key: plain(item.value) for item in value.kvlist_value.values}
    return None


def whole_number(value: Any) -> int | None:
    """A count as an integer, also from text or from a number such as ``452.0``."""
    if type(value) is int and -_EXACT <= value <= _EXACT:
        return value
    if isinstance(value, str) and len(value) < 19 and value.isdecimal():
        return int(value)
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = int(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return number if -_INT64 <= number < _INT64 and float(value) == number else None


def real_number(value: Any) -> float | None:
    """A finite number, also from text."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None
