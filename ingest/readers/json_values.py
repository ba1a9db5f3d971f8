"""The JSON values of a file: one document, the items of an array, or a value a line."""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.errors import InputError
from ingest.big_json import is_indented, streamed_items
from ingest.reader import TraceFile
from ingest.readers.decoding import decode_bytes

_ANY: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()


def values(file: TraceFile) -> Iterator[tuple[Any, bool]]:
    """The values of a file, and whether each had to be repaired.

    A file that is one array gives its items. A file with one value a line, which may be an
    array too, is streamed.

    Raises:
        InputError: It is not JSON; with the line as the record, where lines are values.
    """
    if (items := streamed_items(file)) is not None:
        for place, item in enumerate(items, 1):
            try:
                yield decode_bytes(item, _ANY, file.uri)
            except InputError as error:
                record = f"record {place}"
                raise InputError(error.reason, file=file.uri, record=record) from error
        return
    if is_indented(file):
        yield from _items(*decode_bytes(file.data(), _ANY, file.uri))
        return
    lines = file.lines()
    first = next(lines, None)
    if first is None:
        return
    number, line = first
    try:
        value, repaired = decode_bytes(line, _ANY, file.uri, first_line=number)
    except InputError as error:
        if _complete(line):
            raise InputError(error.reason, file=file.uri, record=f"line {number}") from error
        yield from _items(*decode_bytes(file.data(), _ANY, file.uri))
        return
    second = next(lines, None)
    if second is None:
        yield from _items(value, repaired)
        return
    yield value, repaired
    yield _line(file, *second)
    for number, line in lines:
        yield _line(file, number, line)


def _items(value: Any, repaired: bool) -> Iterator[tuple[Any, bool]]:
    for item in value if isinstance(value, list) else [value]:
        yield item, repaired


def _line(file: TraceFile, number: int, line: bytes) -> tuple[Any, bool]:
    try:
        return decode_bytes(line, _ANY, file.uri, first_line=number)
    except InputError as error:
        raise InputError(error.reason, file=file.uri, record=f"line {number}") from error


def _complete(line: bytes) -> bool:
    """Whether a line is a JSON value by itself: not the begin of an indented document."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
