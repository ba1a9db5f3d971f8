"""Says what is wrong with a field of a record that somebody wrote by hand.

:mod:`msgspec` names the place and the problem. Whoever wrote the field needs more: the name
that was meant, or the values that may stand there; both are known from the record's type.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import inspect

_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*?)`(?: - at `\$\.?(.*)`)?$")
_MISSING_FIELD = re.compile(r"Object missing required field `(.*?)`(?: - at `\$\.?(.*)`)?$")
_NO_MEMBER = re.compile(r"Invalid (?:enum )?value (.*?)(?: - at `\$\.?(.*)`)?$", re.DOTALL)
_AT = re.compile(r"^(.*?)(?: - at `\$\.?(.*)`)?$", re.DOTALL)
_STEP = re.compile(r"(\w+)|\[[^\]]*\]")


def explain_field(error: msgspec.ValidationError, record: Any) -> str:
    """What :mod:`msgspec` says of a wrong field, for the person who wrote it.

    Args:
        error: What was raised.
        record: The type that the record should have: a struct, or a union of structs.

    Returns:
        A sentence without a full stop, which begins with the field's path where it has one.
    """
    message = str(error)
    if found := _UNKNOWN_FIELD.match(message):
        name, path = found[1], found[2]
        return f"unknown field {name!r}{_at(path)}{_instead(name, path, record)}"
    if found := _MISSING_FIELD.match(message):
        return f"the field {found[1]!r} is missing{_at(found[2])}"
    if (found := _NO_MEMBER.match(message)) and (values := _permitted(record, found[2] or "")):
        path = f"{found[2]}: " if found[2] else ""
        return f"{path}invalid value {found[1]}: use {_one_of(values)}"
    found = _AT.match(message)
    what, path = (found[1], found[2]) if found else (message, None)
    return f"{path}: {_lower(what)}" if path else _lower(what)


def _instead(name: str, path: str | None, record: Any) -> str:
    """What to do about an unknown field, as the end of the sentence."""
    known = _field_names(record)
    if name not in known and (close := get_close_matches(name, known, n=1, cutoff=0.6)):
        return f": did you mean {close[0]!r}?"
    if not path and (places := _with_field(name, record)):
        return f": it stands where {' or '.join(places)}"
    return ": put it into 'attributes'" if "attributes" in known else ""


def _with_field(name: str, record: Any) -> list[str]:
    """The members of a union of records that have a field, by their tags."""
    return [
        f"{member.tag_field!r} is {_written(member.tag)}"
        for member in _plain(_type_info(record))
        if isinstance(member, inspect.StructType)
        and member.tag_field is not None
        and any(field.encode_name == name for field in member.fields)
    ]


@lru_cache(maxsize=16)
def _type_info(record: Any) -> inspect.Type:
    return inspect.type_info(record)


def _permitted(record: Any, path: str) -> list[str]:
    """The values that may stand at a path, as they are written in JSON; none if any may."""
    places = list(_plain(_type_info(record)))
    values: set[str] = set()
    for step in _STEP.finditer(path):
        inside: list[inspect.Type] = []
        for place in places:
            if isinstance(place, inspect.StructType):
                if step[1] is not None and step[1] == place.tag_field:
                    values.add(_written(place.tag))
                inside += [
                    one
                    for field in place.fields
                    if field.encode_name == step[1]
                    for one in _plain(field.type)
                ]
            elif isinstance(place, inspect.DictType):
                inside += _plain(place.value_type)
            elif isinstance(place, inspect.TupleType):
                inside += [one for item in place.item_types for one in _plain(item)]
            elif isinstance(place, inspect.CollectionType):
                inside += _plain(place.item_type)
        places = inside
    for place in places:
        if isinstance(place, inspect.LiteralType):
            values.update(map(_written, place.values))
    return sorted(values)


def _plain(type_: inspect.Type) -> Iterator[inspect.Type]:
    """The members of a union, what is only said about types left out."""
    if isinstance(type_, inspect.Metadata):
        yield from _plain(type_.type)
    elif isinstance(type_, inspect.UnionType):
        for member in type_.types:
            yield from _plain(member)
    else:
        yield type_


def _field_names(record: Any) -> list[str]:
    """Every field that some part of a record has."""
    names: set[str] = set()
    seen: set[type] = set()
    waiting = [_type_info(record)]
    while waiting:
        for place in _plain(waiting.pop()):
            if isinstance(place, inspect.StructType):
                if place.cls in seen:
                    continue
                seen.add(place.cls)
                names.update(field.encode_name for field in place.fields)
                if place.tag_field is not None:
                    names.add(place.tag_field)
                waiting += [field.type for field in place.fields]
            elif isinstance(place, inspect.DictType):
                waiting.append(place.value_type)
            elif isinstance(place, inspect.TupleType):
                waiting += place.item_types
            elif isinstance(place, inspect.CollectionType):
                waiting.append(place.item_type)
    return sorted(names)


def _written(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _one_of(values: list[str]) -> str:
    if len(values) == 1:
        return values[0]
    return f"one of {', '.join(values[:-1])} or {values[-1]}"


def _at(path: str | None) -> str:
    return f" at {path}" if path else ""


def _lower(text: str) -> str:
    return (text[:1].lower() + text[1:]).replace("`", "'")
