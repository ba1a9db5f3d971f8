"""Points in time as nanoseconds since 1970-01-01 UTC, only where the trace leaves no doubt."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache

import msgspec

_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_UTC = len("2026-03-01T10:00:02.123456Z")
_LONGEST_ZONE = len("2026-03-01T10:00:02.123456+00:00")
_ENCODER = msgspec.json.Encoder()
_SECOND = 1_000_000_000
_MICROSECOND = 1_000
_DAY = 86_400
_LATEST_SECOND = 9_000_000_000
"""Within 64 bits of nanoseconds, in the year 2255."""


def from_iso(value: object) -> int | None:
    """An ISO 8601 time with a zone, as nanoseconds; None for anything else.

    Args:
        value: What the trace holds. A time without a zone could be anywhere: it is None.
    """
    if not isinstance(value, str):
        return None
    if value[19:20] == "." and value[4] == "-":
        length = len(value)
        # At most six digits stand behind the point: a datetime holds them all.
        if (length <= _LONGEST_UTC and value[-1] == "Z") or (
            length <= _LONGEST_ZONE and value[-6] in "+-"
        ):
            try:
                since = datetime.fromisoformat(value) - _EPOCH
            except (ValueError, TypeError, OverflowError):
                return _from_unusual(value)
            whole = since.days * _DAY + since.seconds
            if abs(whole) > _LATEST_SECOND:
                return None
            return whole * _SECOND + since.microseconds * _MICROSECOND
    return _from_unusual(value)


def _from_unusual(text: str) -> int | None:
    """Any time, its fraction of a second taken apart from the rest."""
    found = _FRACTION.search(text) if "." in text or "," in text else None
    if found is None:
        whole = _whole_seconds(text)
        return None if whole is None else whole * _SECOND
    whole = _whole_seconds(text[: found.start()] + text[found.end() :])
    return None if whole is None else whole * _SECOND + int(f"{found[1]:0<9.9}")


@lru_cache(maxsize=4096)
def _whole_seconds(text: str) -> int | None:
    """Seconds since 1970-01-01 UTC; kept, since records of one second stand together."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            return None
        whole = (time - _EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
    return whole if abs(whole) <= _LATEST_SECOND else None


def from_seconds(value: object) -> int | None:
    """Seconds since 1970-01-01 UTC, as nanoseconds; None where it is no number of them.

    Args:
        value: A number. It is taken at the digits that it was written with.
    """
    if type(value) is float and 0 <= value <= _LATEST_SECOND:
        # The shortest digits that stand for it, as in repr, and much faster.
        whole, _, fraction = _ENCODER.encode(value).partition(b".")
        if whole.isdigit() and fraction.isdigit():
            return int(whole) * _SECOND + int(fraction[:9].ljust(9, b"0"))
    if type(value) is int:
        return value * _SECOND if 0 <= value <= _LATEST_SECOND else None
    return _from_number(value)


def _from_number(value: object) -> int | None:
    """Any number of seconds, however it is written."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = Decimal(repr(value))
    except InvalidOperation:
        return None
    if not seconds.is_finite() or not 0 <= seconds <= _LATEST_SECOND:
        return None
    return int(seconds * _SECOND)
