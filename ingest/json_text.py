"""What is wrong with a text that should be JSON, said so that a person finds the place."""

import re
from typing import TypeVar

import msgspec

from graphstore.errors import InputError

T = TypeVar("T")

DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ValueError)
"""What :mod:`msgspec` raises for a text that is no JSON, or not of the expected type."""

_BYTE = re.compile(r"\(byte (\d+)\)")
_NOT_A_NUMBER = re.compile(rb"(-?Infinity|NaN|-?inf|nan)\b")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def decode(
    data: bytes, decoder: msgspec.json.Decoder[T], *, first_line: int = 1
) -> tuple[T, bytes]:
    """Decodes JSON, repairing halves of surrogate pairs where that is all that is wrong.

    Args:
        data: The JSON.
        decoder: For the expected type.
        first_line: The number of the line in the file at which ``data`` begins.

    Returns:
        The value and the bytes that it was decoded from: ``data`` itself, or the repaired
        ones.

    Raises:
        msgspec.ValidationError: The JSON is right, its type is not.
        InputError: It is no JSON, with the line and column.
    """
    try:
        return decoder.decode(data), data
    except msgspec.ValidationError:
        raise
    except DECODE_ERRORS as error:
        repaired = repair_surrogates(data)
        if repaired is not None:
            try:
                return decoder.decode(repaired), repaired
            except msgspec.ValidationError:
                raise
            except DECODE_ERRORS:
                pass
        raise InputError(explain(data, error, first_line=first_line)) from error


def explain(data: bytes, error: Exception, *, first_line: int = 1) -> str:
    """Why JSON could not be decoded, with the line and column.

    Args:
        data: What was decoded.
        error: What :mod:`msgspec` raised.
        first_line: The number of the line in the file at which ``data`` begins.

    Returns:
        A sentence without a full stop, for :class:`graphstore.errors.InputError`.
    """
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    message = str(error)
    if isinstance(error, msgspec.ValidationError):
        return message
    if not data.strip():
        return "it is empty"
    if (problem := not_utf8(data, first_line=first_line)) is not None:
        return problem
    found = _BYTE.search(message)
    if found is None:
        if repair_surrogates(data) is not None:
            return "the JSON holds half of a surrogate pair"
        return f"the JSON breaks off at {_place(data, len(data), first_line)}"
    offset = int(found[1])
    place = _place(data, offset, first_line)
    if number := _NOT_A_NUMBER.match(data, offset):
        return f"JSON has no {number[1].decode()} (at {place}): write null for a missing value"
    if "surrogate" in message:
        return f"the JSON holds half of a surrogate pair at {place}"
    return f"the JSON is malformed at {place}: {_near(data, offset)}"


def not_utf8(data: bytes, *, first_line: int = 1) -> str | None:
    """Where a text is not UTF-8, None where it is."""
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        place = _place(data, problem.start, first_line)
        return f"the text is not UTF-8: byte 0x{data[problem.start]:02x} at {place}"
    return None


def repair_surrogates(data: bytes) -> bytes | None:
    """Replaces each escaped half of a surrogate pair by U+FFFD.

    Half a pair is no character: no file, store or screen can hold it. Programs that cut
    texts by UTF-16 units write such halves.

    Returns:
        The repaired JSON, or None where there was nothing to repair.
    """
    count = 0

    def replaced(found: re.Match[bytes]) -> bytes:
        nonlocal count
        if found["lone"] is None:
            return found[0]
        count += 1
        return b"\\ufffd"

    repaired = _ESCAPE.sub(replaced, data)
    return repaired if count else None


def _place(data: bytes, offset: int, first_line: int) -> str:
    start = data.rfind(b"\n", 0, offset) + 1
    line = data.count(b"\n", 0, offset) + first_line
    column = len(data[start:offset].decode(errors="replace")) + 1
    return f"line {line}, column {column}"


def _near(data: bytes, offset: int) -> str:
    rest = data[offset : offset + 20].decode(errors="replace").splitlines()
    return f"unexpected {rest[0]!r}" if rest and rest[0] else "unexpected end of line"
