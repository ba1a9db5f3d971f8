"""What stands in a table's cells: names, times, and values for attributes."""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso
from ingest.readers.table_mapping import UNITS, Mapping

_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,9})?")
_BY_SIZE = (
    (10**9, 10**10, "s"),
    (10**12, 10**13, "ms"),
    (10**15, 10**16, "us"),
    (10**18, 9 * 10**18, "ns"),
)
"""Numbers between 2001 and 2255, in the one unit that puts them there."""


def named(cell: Any, mapping: Mapping) -> tuple[str, ...] | None:
    """The names in a cell of receivers, each once.

    Args:
        cell: A text, a list, or None where the cell is empty.
        mapping: Says what parts names, and who stands for everybody.

    Returns:
        None for everybody, an empty tuple for nobody.
    """
    names: list[str] = []
    if isinstance(cell, list):
        names = [text for item in cell if (text := (text_of(plain(item)) or "").strip())]
    elif cell is not None:
        text = (text_of(plain(cell)) or "").strip()
        names = names_in_json(text) or [
            name for part in text.split(mapping.receiver_separator) if (name := part.strip())
        ]
    if not names:
        return None if mapping.missing_receiver == "everybody" else ()
    if any(name.casefold() in mapping.everybody for name in names):
        return None
    return tuple(dict.fromkeys(names))


def names_in_json(text: str) -> list[str]:
    """The names in a cell that holds a JSON list, none where it holds anything else."""
    if not text.startswith("["):
        return []
    try:
        listed = msgspec.json.decode(text.encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    if not isinstance(listed, list):
        return []
    return [name.strip() for name in listed if isinstance(name, str) and name.strip()]


def instant(value: Any, mapping: Mapping) -> int | None:
    """A cell as nanoseconds since 1970-01-01 UTC.

    Args:
        value: A text, a number or a time.
        mapping: Names the unit of numbers, and the zone of times without one.

    Returns:
        None where the unit, the zone or the epoch is in doubt.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, datetime):
        if value.tzinfo is None and mapping.time_zone is not None:
            value = value.replace(tzinfo=mapping.time_zone)
        return from_iso(value.isoformat())
    text = str(value).strip()
    if "-" not in text and _NUMBER.fullmatch(text):  # most are dates
        return _from_number(Decimal(text), mapping.time_unit)
    time = from_iso(text)
    if time is None and mapping.time_zone is not None:
        try:
            local = datetime.fromisoformat(text)
        except ValueError:
            return None
        return from_iso(local.replace(tzinfo=mapping.time_zone).isoformat())
    return time


def _from_number(number: Decimal, unit: str | None) -> int | None:
    """A number of the mapping's unit, else of the unit that puts it between 2001 and 2255."""
    if unit is None:
        unit = next((u for least, most, u in _BY_SIZE if least <= number < most), None)
    if unit is None:
        return None
    time = int(number * UNITS[unit])
    return time if time < 9 * 10**18 else None


def plain(value: Any) -> Any:
    """A cell as a JSON value."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        is_finite = value == value and abs(value) != float("inf")
        return (
            (int(value) if value.is_integer() and abs(value) < 2**53 else value)
            if (is_finite)
            else None
        )
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value)
