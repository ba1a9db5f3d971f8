"""The records of a JSON file as bytes: a bad one is rejected and the others are read."""

from collections.abc import Iterator

import msgspec

from graphstore.errors import InputError
from ingest import json_text
from ingest.big_json import is_indented, streamed_items
from ingest.reader import TraceFile
from ingest.readers.decoding import first_character

_ONE = msgspec.json.Decoder(msgspec.Raw)
_MANY = msgspec.json.Decoder(list[msgspec.Raw])


class RawRecord(msgspec.Struct, frozen=True):
    """The bytes of one record.

    Attributes:
        place: ``line 3``, or ``record 3`` of an array, from 1.
        line: The line of the file at which it begins; 1 inside an array.
        data: The JSON, not looked at where records are lines.
        repaired: Whether half a surrogate pair was replaced.
    """

    place: str
    line: int
    data: bytes
    repaired: bool = False


def raw_records(file: TraceFile) -> Iterator[RawRecord]:
    """The items of an array, the lines of a file with one object a line, or one object.

    Lines are streamed, and so are the items of a large array.

    Raises:
        InputError: The file is empty, or neither an array, nor an object, nor lines of them.
    """
    if (items := streamed_items(file)) is not None:
        for place, item in enumerate(items, 1):
            yield RawRecord(f"record {place}", 1, item)
        return
    if first_character(file.sample) == b"[":
        try:
            listed = _MANY.decode(file.data())
        except json_text.DECODE_ERRORS:
            pass  # it is gone over again below, to say what is wrong or to repair it
        else:
            for place, item in enumerate(listed, 1):
                yield RawRecord(f"record {place}", 1, bytes(item))
            return
    lines = file.lines()
    # An indented document is not parted into lines: none of them is a record.
    indented = is_indented(file)
    number, line = (0, b"") if indented else next(lines, (0, b""))
    if not line and not indented:
        raise InputError("it is empty", file=file.uri)
    if not (line.startswith(b"{") and _complete(line)):
        try:
            whole = file.data()
            data, used = json_text.decode(whole, _ONE)
        except InputError as error:
            lines = file.lines()
            (number, line), following = next(lines), next(lines, None)
            if line.startswith(b"[") or following is None or following[1][:1] != b"{":
                raise InputError(error.reason, file=file.uri) from error
            lines = file.lines()
            number, line = next(lines)
        else:
            repaired = used is not whole
            value = bytes(data)
            if not value.startswith((b"[", b"{")):
                raise InputError("it is neither an object nor an array", file=file.uri)
            if value.startswith(b"{"):
                yield RawRecord("record 1", 1, value, repaired)
                return
            for place, item in enumerate(_MANY.decode(value), 1):
                yield RawRecord(f"record {place}", 1, bytes(item), repaired)
            return
    yield RawRecord(f"line {number}", number, line)
    for number, line in lines:
        yield RawRecord(f"line {number}", number, line)


def _complete(line: bytes) -> bool:
    try:
        json_text.decode(line, _ONE)
    except InputError:
        return False
    return True
