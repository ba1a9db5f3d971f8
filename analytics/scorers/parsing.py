"""JSON in what an agent wrote: alone, in a fenced block, or somewhere in its sentences."""

import json
import re
from typing import Any

LONGEST_VALUE = 1_000_000
"""A proposal of more characters is not looked at."""
_ATTEMPTS = 200
"""Brackets that open no JSON before the search ends: each costs a look at what follows."""
_FENCED = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_OPENING = re.compile(r"[\[{]")
NOTHING = object()
"""There is no JSON: ``None`` is JSON's null."""


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def find_json(text: str) -> Any:
    """The JSON value of a text.

    The whole text, else the last fenced block that is JSON, else the last object or array
    that stands in the text. Models explain first and answer last.

    Returns:
        JSON values; :data:`NOTHING` where the text holds none.
    """
    if len(text) > LONGEST_VALUE:
        return NOTHING
    whole = _decoded(text)
    if whole is not NOTHING:
        return whole
    for block in reversed(_FENCED.findall(text)):
        found = _decoded(block)
        if found is not NOTHING:
            return found
    return _last_value(text)


def _decoded(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return NOTHING


def _last_value(text: str) -> Any:
    found: Any = NOTHING
    failures = position = 0
    while failures < _ATTEMPTS and (opening := _OPENING.search(text, position)):
        try:
            found, position = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            failures += 1
            position = opening.end()
    return found


def member(value: Any, *names: str) -> Any:
    """The first member of an object that is there; the value itself where it is no object."""
    if isinstance(value, dict):
        return next((value[name] for name in names if name in value), NOTHING)
    return value


def whole_number(value: Any) -> int | None:
    """A whole number from JSON: 3 or 3.0, not true and not "3"; None else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else None
    return value
