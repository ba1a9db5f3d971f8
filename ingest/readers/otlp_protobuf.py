"""OTLP in protobuf: the bodies that exporters post, and what collectors write into files.

A file holds one ``ExportTraceServiceRequest`` (or ``TracesData``, which has the same form), or
several of them, each after its length: a varint, as protobuf's own delimited streams have it,
or four bytes, the largest first, as the OpenTelemetry Collector's file exporter writes.

The requests become the structures of :mod:`ingest.readers.otlp_wire`, so that a span means the
same as in JSON. Decoding needs the package ``opentelemetry-proto``; telling whether a file is
in this form does not.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from graphstore.errors import InputError, MissingExtraError
from ingest.reader import TraceFile
from ingest.readers.otlp_wire import (
    ArrayValue,
    Attribute,
    Event,
    KeyValueList,
    Link,
    Resource,
    ResourceSpans,
    Scope,
    ScopeSpans,
    Span,
    SpanStatus,
    TracesData,
    Value,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

_LENGTH_DELIMITED = 2
_FIELD = 3
_RESOURCE_SPANS = 1
_SCOPE_SPANS = 2
_SPANS = 2
_OLD_SCOPE_SPANS = 1000
_TRACE_ID_BYTES = 16
_SPAN_ID_BYTES = 8
_PREFIX_BYTES = 4
_LONGEST_VARINT = 10


def is_protobuf(sample: bytes) -> bool:
    """Whether a file that begins like this is OTLP in protobuf.

    It is where a span with a trace id of 16 bytes and a span id of 8 bytes stands in the
    place that the protocol has for it.

    Args:
        sample: The first bytes of a file, perhaps cut anywhere.
    """
    # The length of a trace id stands before it, mostly as one byte: no text holds such bytes.
    if b"\x10" not in sample and b"\0" not in sample:
        return False
    return any(_holds_span(sample, start) for start in _starts(sample))


def documents(file: TraceFile) -> Iterator[TracesData]:
    """The requests of a file.

    Raises:
        InputError: A request is damaged or cut off; with its number as the record.
        MissingExtraError: ``opentelemetry-proto`` is not installed.
    """
    request = _request_type()
    data = memoryview(file.data())
    parts = list(_parts(data, file.uri))
    for number, part in enumerate(parts, 1):
        record = f"request {number}" if len(parts) > 1 else None
        try:
            message = request.FromString(bytes(part))
        except Exception as error:
            # The package's own error type moves between its versions.
            raise InputError(
                "the protobuf is damaged or cut off", file=file.uri, record=record
            ) from error
        try:
            yield _document(message)
        except UnicodeError as error:
            raise InputError(
                "a text in the protobuf is not UTF-8", file=file.uri, record=record
            ) from error


def _request_type() -> Any:
    try:
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData as Request
    except ImportError as error:
        raise MissingExtraError(
            "opentelemetry-proto", "otel", "reading OTLP in protobuf"
        ) from error
    return Request


def _starts(sample: bytes) -> Iterable[int]:
    """Where the first request may begin."""
    yield 0
    varint = _varint(sample, 0)
    if varint is not None:
        yield varint[1]
    yield _PREFIX_BYTES


def _parts(data: memoryview, uri: str) -> Iterator[memoryview]:
    """The requests of a file, without their lengths."""
    head = bytes(data[:65_536])
    if _holds_span(head, 0):
        yield data
        return
    fixed = not ((varint := _varint(head, 0)) is not None and _holds_span(head, varint[1]))
    place = 0
    number = 0
    while place < len(data):
        number += 1
        if fixed:
            prefix = bytes(data[place : place + _PREFIX_BYTES])
            length = int.from_bytes(prefix, "big") if len(prefix) == _PREFIX_BYTES else None
            place += _PREFIX_BYTES
        else:
            found = _varint(bytes(data[place : place + _LONGEST_VARINT]), 0)
            length = None if found is None else found[0]
            place += 0 if found is None else found[1]
        if length is None or place + length > len(data):
            raise InputError(
                "the file breaks off inside a request", file=uri, record=f"request {number}"
            )
        yield data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int] | None:
    """A number of variable length and the place behind it; None where it is cut or too long."""
    value = 0
    for count in range(_LONGEST_VARINT):
        if place + count >= len(data):
            return None
        byte = data[place + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, place + count + 1
    return None


def _fields(data: bytes, place: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of the fields with a length; stops at anything malformed."""
    while place < end:
        tag = _varint(data, place)
        if tag is None or tag[0] >> _FIELD == 0:
            return
        number, kind = tag[0] >> _FIELD, tag[0] & 7
        place = tag[1]
        if kind == _LENGTH_DELIMITED:
            length = _varint(data, place)
            if length is None:
                return
            place = length[1]
            yield number, place, place + length[0]
            place += length[0]
        elif kind == 0:
            skipped = _varint(data, place)
            if skipped is None:
                return
            place = skipped[1]
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
        else:
            return


def _holds_span(data: bytes, start: int) -> bool:
    """Whether a request that begins at a place begins with a span."""
    for number, begin, end in _fields(data, start, len(data)):
        if number != _RESOURCE_SPANS:
            return False
        for inner, inner_begin, inner_end in _fields(data, begin, min(end, len(data))):
            if inner not in (_SCOPE_SPANS, _OLD_SCOPE_SPANS):
                continue
            for deep, deep_begin, deep_end in _fields(
                data, inner_begin, min(inner_end, len(data))
            ):
                if deep == _SPANS:
                    return _is_span(data, deep_begin, min(deep_end, len(data)))
    return False


def _is_span(data: bytes, begin: int, end: int) -> bool:
    found: dict[int, int] = {}
    for number, inner, inner_end in _fields(data, begin, end):
        found.setdefault(number, inner_end - inner)
        if len(found) > 1:
            break
    return found.get(1) == _TRACE_ID_BYTES and found.get(2) == _SPAN_ID_BYTES


def _document(message: "Message") -> TracesData:
    request: Any = message
    return TracesData([_resource_spans(one) for one in request.resource_spans])


def _resource_spans(found: Any) -> ResourceSpans:
    return ResourceSpans(
        resource=Resource(_attributes(found.resource.attributes)),
        scope_spans=[
            ScopeSpans(scope=Scope(one.scope.name or None), spans=[_span(s) for s in one.spans])
            for one in found.scope_spans
        ],
    )


def _span(found: Any) -> Span:
    return Span(
        trace_id=found.trace_id.hex(),
        span_id=found.span_id.hex(),
        parent_span_id=found.parent_span_id.hex() or None,
        name=found.name,
        start_time_unix_nano=found.start_time_unix_nano,
        end_time_unix_nano=found.end_time_unix_nano,
        attributes=_attributes(found.attributes),
        events=[Event(one.name, _attributes(one.attributes)) for one in found.events] or None,
        links=[Link(one.span_id.hex()) for one in found.links] or None,
        status=SpanStatus(found.status.code, found.status.message or None),
    )


def _attributes(found: Any) -> list[Attribute]:
    return [
        Attribute(one.key, _value(one.value) if one.HasField("value") else None)
        for one in found
    ]


def _value(found: Any) -> Value:
    kind = found.WhichOneof("value")
    if kind == "string_value":
        return Value(string_value=found.string_value)
    if kind == "int_value":
        return Value(int_value=found.int_value)
    if kind == "bool_value":
        return Value(bool_value=found.bool_value)
    if kind == "double_value":
        return Value(double_value=found.double_value)
    if kind == "array_value":
        return Value(array_value=ArrayValue([_value(one) for one in found.array_value.values]))
    if kind == "kvlist_value":
        return Value(kvlist_value=KeyValueList(_attributes(found.kvlist_value.values)))
    return Value()
