"""The JSON values of a file: one document, the items of an array, or a value a line."""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.errors import InputError
from ingest.reader import TraceFile
from ingest.readers.decoding import decode_bytes, first_character

_ANY: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()


def values(file: TraceFile) -> Iterator[tuple[Any, bool]]:
    """The values of a file, and whether each had to be repaired.

    An array gives its items. A file with one value a line is streamed.

    Raises:
        InputError: It is not JSON; with the line as the record, where lines are values.
    """
    if first_character(file.sample) == b"[":
        array, repaired = decode_bytes(file.data(), _ANY, file.uri)
        for item in array:
            yield item, repaired
        return
    last = 0
    for number, line in file.lines():
        try:
            decoded = decode_bytes(line, _ANY, file.uri, first_line=number)
        except InputError as error:
            if last == 0 and not _complete(line):
                break
            raise InputError(error.reason, file=file.uri, record=f"line {number}") from error
        last = number
        yield decoded
    if last == 0 and file.sample.strip():
        yield decode_bytes(file.data(), _ANY, file.uri)


def _complete(line: bytes) -> bool:
    """Whether a line is a JSON value by itself: not the begin of an indented document."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
