"""What stands in attributes: their texts and keys at any depth, found in one walk."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from graphstore.model import Attributes

MAX_DEPTH = 100
"""How deep attributes may be nested: what is deeper cannot be relied on to come back from
every store."""

_INT64 = 2**63


def texts_and_keys(attributes: Sequence[Attributes]) -> tuple[list[str], set[str]] | None:
    """The texts and the keys of attributes at any depth.

    Args:
        attributes: Of any number of holders.

    Returns:
        None where they hold what a store cannot give back, or are nested more than
        :data:`MAX_DEPTH` levels deep.
    """
    strings: list[str] = []
    keys: set[str] = set()
    level: Sequence[dict[str, Any] | list[Any]] = attributes
    for _ in range(MAX_DEPTH):
        deeper: list[dict[str, Any] | list[Any]] = []
        for holder in level:
            values: Iterable[Any] = holder
            if type(holder) is dict:
                keys.update(holder)
                values = holder.values()
            for value in values:
                kind = type(value)
                if kind is str:
                    strings.append(value)
                elif kind is int:
                    if not -_INT64 <= value < _INT64:
                        return None
                elif kind is dict or kind is list:
                    deeper.append(value)
                elif kind is float:
                    if not isfinite(value):
                        return None
                elif value is not None and kind is not bool:
                    return None
        if not deeper:
            return (strings, keys) if set(map(type, keys)) <= {str} else None
        level = deeper
    return None
