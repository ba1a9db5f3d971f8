"""Looks into a file that begins with JSON, although the sample may be cut in the middle."""

import re
from functools import lru_cache
from typing import Any

import msgspec

# Possessive: a text that is cut off is gone over once, not once more for each way to part it.
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NEXT_BRACKET = re.compile(rb"[^\"{}\[\]]*+(?:%b[^\"{}\[\]]*+)*+([{}\[\]])" % _TEXT, re.DOTALL)
_LAST_COMMA = re.compile(rb"(?:[^\",]*+(?:%b[^\",]*+)*+,)++" % _TEXT, re.DOTALL)
_ESCAPED_ASCII = re.compile(rb"\\u00[2-7]")
_KEY = re.compile(rb'"([^"\\\n]{1,60}+)"\s*+:')
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
        if not text.rstrip(b" \t\r\n").endswith((b"}", b"]")):
            continue
        try:
            return msgspec.json.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
    open_: list[int] = []
    end = start
    while found := _NEXT_BRACKET.match(sample, end):
        end = found.end()
        bracket = sample[end - 1]
        if bracket in _CLOSING:
            open_.append(bracket)
            if len(open_) > _DEEPEST:
                return None
            continue
        open_.pop()
        if not open_:
            return _decoded(sample[start:end])
    # What stands behind the last comma may be half a member.
    if members := _LAST_COMMA.match(sample, end):
        end = members.end() - 1
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


@lru_cache(maxsize=8)
def has_escaped_letters(sample: bytes) -> bool:
    """Whether ASCII letters are written as escapes, so that :func:`keys` may miss a key."""
    return b"\\u00" in sample and _ESCAPED_ASCII.search(sample) is not None


def may_have_key(sample: bytes, wanted: frozenset[bytes]) -> bool:
    """Whether one of some keys stands in a sample, however it is written.

    Args:
        sample: The first bytes of a file, perhaps cut anywhere.
        wanted: Keys of ASCII letters, digits and signs, at most 60.

    Returns:
        False only where :func:`first_value` has none of them, at any depth.
    """
    return not wanted.isdisjoint(keys(sample)) or has_escaped_letters(sample)


def _decoded(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return msgspec.json.decode(text.decode(errors="replace").encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
