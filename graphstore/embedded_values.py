"""Values of the embedded engine as both stores give them."""

import itertools
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from graphstore.lexer import tokens

_NODE = {"id", "labels", "properties"}
_RELATION = {"id", "start", "end", "type", "properties"}
_PATH = {"nodes", "relationships"}
_DURATION = {"months", "days", "seconds"}
_MADE_UP = ("title", "type")


def column_names(text: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of an answer as the other store names them.

    The engine drops the backtick with which an expression begins. A name in backticks is
    given without them, an expression as it is written.

    Args:
        text: The query, as the guard lets it through.
        columns: Names by the engine.
    """
    if "`" not in text:
        return tuple(columns)
    found = tokens(text)
    begins = [
        token
        for before, token in itertools.pairwise(found)
        if token.kind == "quoted" and before.key in ("RETURN", "DISTINCT", ",")
    ]

    def name(column: str) -> str:
        written = f"`{column}"
        for token in begins:
            if token.text == written:
                return column[:-1].replace("``", "`")
            if written.startswith(token.text) and text.startswith(written, token.start):
                return written
        return column

    return tuple(map(name, columns))


def plain(value: Any) -> Any:
    """A value of the engine as the other store gives it.

    Nodes and relations become their property maps without what the engine makes up, paths
    their nodes and relations, datetimes with a zone UTC, durations ISO 8601 texts. What is
    no number (NaN, infinity) is missing.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return _plain_map(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    return value


def _plain_map(value: Mapping[str, Any]) -> Any:
    keys = value.keys()
    if keys == _NODE and isinstance(value["properties"], dict):
        return {
            name: plain(item)
            for name, item in sorted(value["properties"].items())
            if name not in _MADE_UP
        }
    if keys == _RELATION and isinstance(value["properties"], dict):
        return {name: plain(item) for name, item in sorted(value["properties"].items())}
    if keys == _PATH:
        return {name: plain(value[name]) for name in ("nodes", "relationships")}
    if keys - {"nanoseconds"} == _DURATION:
        return iso_duration(
            value["months"],
            value["days"],
            value["seconds"] * 1_000_000_000 + value.get("nanoseconds", 0),
        )
    return {name: plain(item) for name, item in value.items()}


def iso_duration(months: int, days: int, nanoseconds: int) -> str:
    """A duration as ISO 8601 text, in the spelling that the Neo4j driver uses."""
    years, months = _split(months, 12)
    seconds, rest = _split(nanoseconds, 1_000_000_000)
    hours, seconds = _split(seconds, 3600)
    minutes, seconds = _split(seconds, 60)
    date = "".join(
        f"{count}{unit}" for count, unit in ((years, "Y"), (months, "M"), (days, "D")) if count
    )
    time = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    if rest:
        fraction = f"{abs(rest):09d}".rstrip("0")
        sign = "-" if nanoseconds < 0 else ""
        time += f"{sign}{abs(seconds)}.{fraction}S"
    elif seconds:
        time += f"{seconds}S"
    if not date and not time:
        return "PT0S"
    return f"P{date}" + (f"T{time}" if time else "")


def _split(value: int, size: int) -> tuple[int, int]:
    """Division towards zero, so that both parts carry the sign."""
    whole, rest = divmod(abs(value), size)
    return (-whole, -rest) if value < 0 else (whole, rest)
