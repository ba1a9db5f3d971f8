"""Looks into a file that begins with JSON, although the sample may be cut in the middle."""

import re
from functools import lru_cache
from typing import Any

import msgspec

# Possessive: a text that is cut off is gone over once, not once more for each way to part it.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["{}\[\],]', re.DOTALL)
_KEY = re.compile(rb'"([^"\\\n]{1,60})"\s*:')
_CLOSING = {0x7B: b"}", 0x5B: b"]"}
_DEEPEST = 200


@lru_cache(maxsize=8)
def first_value(sample: bytes) -> Any:
    """The first JSON value of a sample; what was cut off is left out.

    Objects and lists that are still open where the sample ends are closed there, without the
    member at which it ends. The value is shared between callers: do not change it.

    Args:
        sample: The first bytes of a file, perhaps cut anywhere.

    Returns:
        The value, or None where the sample does not begin with an object or a list.
    """
    start = len(sample) - len(sample.lstrip(b" \t\r\n"))
    if sample[start : start + 1] not in (b"{", b"["):
        return None
    # Most files are one value that fits, or lines with a value each: no search for the end.
    line_end = sample.find(b"\n", start)
    for text in (sample, sample[start:line_end]) if line_end > 0 else (sample,):
        try:
            return msgspec.json.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
    open_: list[int] = []
    end = start
    for found in _TOKEN.finditer(sample, start):
        token = found[0][0]
        if token in _CLOSING:
            open_.append(token)
            if len(open_) > _DEEPEST:
                return None
            end = found.end()
        elif token in b"}]":
            if not open_:
                return None
            open_.pop()
            end = found.end()
            if not open_:
                return _decoded(sample[start:end])
        elif token == 0x2C:
            end = found.start()
        elif len(found[0]) == 1:
            break
    ending = b"".join(_CLOSING[bracket] for bracket in reversed(open_))
    return _decoded(sample[start:end] + ending)


@lru_cache(maxsize=8)
def keys(sample: bytes) -> frozenset[bytes]:
    """The keys of a sample of JSON, at any depth; keys in escaped texts are left out.

    Every reader asks for some: they are found once a sample.

    Args:
        sample: The first bytes of a file, perhaps cut anywhere.

    Returns:
        Keys of at most 60 bytes without escapes, as they are written.
    """
    return frozenset(_KEY.findall(sample))


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.json.decode(text.decode(errors="replace").encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
