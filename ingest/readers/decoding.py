"""What the readers of JSON files share: decoding with a reason, and looking at a sample."""

import re
from typing import Any, TypeVar

import msgspec

from graphstore.errors import InputError
from graphstore.identity import canonical_json
from ingest.json_text import explain, repair_surrogates
from ingest.reader import TraceFile
from ingest.readers.sample_json import keys

T = TypeVar("T")

REPAIRED = "half a surrogate pair in the text was replaced by U+FFFD"

_SPACE = b" \t\r\n"
_LINE_END = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_FIRST_LINE = re.compile(rf"\s*(\S[^{_LINE_END}]*)")


def decode_bytes(
    data: bytes, decoder: "msgspec.json.Decoder[T]", file: str, *, first_line: int = 1
) -> tuple[T, bool]:
    """Decodes JSON, half surrogate pairs repaired.

    Args:
        data: The JSON text.
        decoder: Of the wanted type.
        file: The file as it was named.
        first_line: The line of the file at which ``data`` begins.

    Returns:
        The value, and whether the text had to be repaired (:data:`REPAIRED`).

    Raises:
        InputError: It is not JSON, or not of the wanted type.
    """
    try:
        return decoder.decode(data), False
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        repaired = repair_surrogates(data)
        if repaired is not None:
            try:
                return decoder.decode(repaired), True
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                pass
        raise InputError(explain(data, error, first_line=first_line), file=file) from error


def decode_file(file: TraceFile, decoder: "msgspec.json.Decoder[T]") -> tuple[T, bool]:
    """Decodes a whole file that is one JSON value; see :func:`decode_bytes`."""
    return decode_bytes(file.data(), decoder, file.uri)


def first_character(sample: bytes) -> bytes:
    """The first character that is no white space, empty where there is none."""
    return sample.lstrip(_SPACE)[:1]


def has_key(sample: bytes, key: str) -> bool:
    """Whether a JSON sample holds a key of that name, at any depth, escaped texts left out."""
    return key.encode() in keys(sample)


def text_of(value: Any) -> str | None:
    """A JSON value as text: texts as they are, None for null, else canonical JSON."""
    if value is None or isinstance(value, str):
        return value
    return canonical_json(value)


def short_name(text: str, length: int = 100) -> str:
    """The first line of a text that says something, cut at a word.

    Args:
        text: Any text.
        length: The most characters, the ellipsis included.
    """
    if len(text) <= length and text.isprintable():
        return text.strip()  # no line ends in it
    found = _FIRST_LINE.match(text)
    line = "" if found is None else found[1].rstrip()
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > length // 2 else cut).rstrip() + "…"
