"""Ids and hashes: made from content and position, never from a clock or a counter.

The same input gives the same ids on every machine and in every process.
"""

import hashlib
import re
import sys
import unicodedata
from functools import cache, lru_cache
from typing import Any

import msgspec

_CONTENT_STATE = hashlib.blake2b(digest_size=16)
_ENCODER = msgspec.json.Encoder(order="deterministic")
# ASCII in lower case, its white space as spaces.
_FOLDED = bytes(
    32 if code < 128 and chr(code).isspace() else code + 32 if 65 <= code <= 90 else code
    for code in range(256)
)
_ASCII = bytes(range(128))
# Scripts in which no letter joins the one before it; their combining marks are told apart.
_PLAIN_BLOCKS = (
    ("\u0080", "\u02ff"),
    ("\u0370", "\u052f"),
    ("\u1e00", "\u30ff"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7a3"),
    ("\ufe0f", "\ufe0f"),
    ("\U0001f000", "\U0001faff"),
)
_MOST_REPLACED = 8
_SPACE = ord(" ")
# Two literal spaces first: they are searched for at once, single ones passed over.
_RUN_OF_SPACES = re.compile(rb"   *")
_LONG = 2_000
"""Bytes from which on a call of numpy costs less than it saves."""
_COPIED_BYTES = 4_096


def digest(*parts: str | bytes, size: int = 10) -> str:
    """Hashes parts so that no two different lists of parts collide by concatenation.

    Args:
        parts: Texts or bytes, in order.
        size: Length of the hash in bytes.

    Returns:
        ``2 * size`` hexadecimal digits of a BLAKE2b hash.
    """
    state = hashlib.blake2b(digest_size=size)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        length = len(data).to_bytes(8, "big")
        if len(data) < _COPIED_BYTES:
            # Copying little costs less than a second call.
            state.update(length + data)
        else:
            state.update(length)
            state.update(data)
    return state.hexdigest()


def canonical_json(value: Any) -> str:
    """JSON text with sorted keys: equal values give equal text.

    Args:
        value: JSON values, dataclasses or ``msgspec`` structs.
    """
    return _ENCODER.encode(value).decode()


def canonical_bytes(value: Any) -> bytes:
    """:func:`canonical_json` in UTF-8: what ids are made of needs not become text first."""
    return _ENCODER.encode(value)


def configuration_hash(configuration: Any) -> str:
    """The hash that a result carries of the configuration that made it (16 hex digits)."""
    return digest(canonical_json(configuration), size=8)


def graph_id(kind: str, format_name: str, record: str | None, content: str | bytes) -> str:
    """Id of a graph: ``run-...`` or ``decomposition-...``.

    Args:
        kind: ``run`` or ``decomposition``.
        format_name: The reader's name.
        record: The record inside the file, None for the whole file. Two equal records of
            one file are two graphs.
        content: The record's own bytes or canonical text.
    """
    return f"{kind}-{digest(format_name, record or '', content)}"


def task_id(name: str, dataset: str | None = None) -> str:
    """Id of a task: the same for each run and decomposition of it."""
    return f"task-{digest(dataset or '', name)}"


@lru_cache(maxsize=1_024)
def method_id(name: str, framework: str | None = None) -> str:
    """Id of a method."""
    return f"method-{digest(name, framework or '')}"


def dataset_id(name: str) -> str:
    """Id of a data set."""
    return f"dataset-{digest(name)}"


def normalize_content(text: str) -> str:
    """The form in which contents are compared: NFKC, case folded, white space collapsed."""
    return _normalized(text).decode("utf-8", "surrogatepass")


def _normalized(text: str) -> bytes:
    """:func:`normalize_content` in UTF-8, on bytes where that is the same and faster."""
    if text.isascii():
        plain = text.encode()
    else:
        plain = text.encode("utf-8", "surrogatepass")
        others = plain.translate(None, _ASCII).decode("utf-8", "surrogatepass")
        replaced = [
            (character, image)
            for character in set(others)
            if (image := _image(character)) != character
        ]
        if len(replaced) > _MOST_REPLACED or any(image is None for _, image in replaced):
            text = unicodedata.normalize("NFKC", text).casefold()
            return " ".join(text.split()).encode("utf-8", "surrogatepass")
        for character, image in replaced:
            plain = plain.replace(character.encode(), (image or "").encode())
    return _single_spaced(plain.translate(_FOLDED)).strip(b" ")


def _single_spaced(plain: bytes) -> bytes:
    """Each run of spaces as one space; at either end some may be left, or none."""
    if len(plain) >= _LONG and "numpy" in sys.modules:
        # Loading it would cost more than it saves; a store or a table has mostly done so.
        # Another thread may just be at it: importing waits for that.
        import numpy

        codes = numpy.frombuffer(plain, numpy.uint8)
        others = codes != _SPACE
        kept = others.copy()
        kept[1:] |= others[:-1]  # a space is kept where none stands before it
        result: bytes = codes[kept].tobytes()
        return result
    return b" ".join(_RUN_OF_SPACES.split(plain))


@cache
def _image(character: str) -> str | None:
    """What a character past ASCII becomes, whatever stands around it.

    Returns:
        Its normal, folded form with plain spaces; None where that is not certain: its
        neighbours may matter, or the form would change when it is made again.
    """
    if not any(first <= character <= last for first, last in _PLAIN_BLOCKS):
        return None
    if unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
        return None
    image = unicodedata.normalize("NFKC", character).casefold()
    settled = unicodedata.normalize("NFKC", image).casefold() == image
    return "".join(" " if one.isspace() else one for one in image) if settled else None


def content_hash(text: str) -> str:
    """Hash of the normalized content (32 hex digits).

    Source: ForestBench's content redundancy counts distinct normalized content hashes.
    """
    # ``digest(normalized, size=16)``, written out: this runs once for each content.
    data = _normalized(text)
    state = _CONTENT_STATE.copy()
    state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()
