"""Times as people and programs write them, as nanoseconds since 1970-01-01 UTC."""

import re
from datetime import UTC, datetime, timedelta

from graphstore.errors import InputError

_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000_000

NO_ZONE = "a time without a zone was read as UTC"
"""The warning for an ISO 8601 time that does not say where it was."""

_COARSE = (
    (range(10**9, 10**10), "seconds"),
    (range(10**12, 10**13), "milliseconds"),
    (range(10**15, 10**16), "microseconds"),
)
PLAIN_NANOSECONDS = 10**16
"""From here on a whole number is taken for nanoseconds without a question."""


def nanoseconds(value: int | str) -> tuple[int, str | None]:
    """A time as nanoseconds since 1970-01-01 UTC.

    Args:
        value: Nanoseconds already, or ISO 8601 with up to nine digits of a second's
            fraction (further ones are cut).

    Returns:
        The nanoseconds, and a warning where something had to be assumed.

    Raises:
        InputError: It is no time.
    """
    if isinstance(value, int):
        if value >= PLAIN_NANOSECONDS:
            return value, None
        for numbers, unit in _COARSE:
            if value in numbers:
                return value, f"a time looks like {unit}, and was read as nanoseconds"
        return value, None
    found = _FRACTION.search(value)
    fraction = int(f"{found[1]:0<9.9}") if found else 0
    try:
        time = datetime.fromisoformat(_FRACTION.sub("", value, count=1))
    except ValueError as error:
        raise InputError(
            f"{value!r} is no time: write 2026-01-31T12:00:00Z, or whole nanoseconds since 1970"
        ) from error
    warning = None
    if time.tzinfo is None:
        time, warning = time.replace(tzinfo=UTC), NO_ZONE
    whole = (time - _EPOCH) // timedelta(seconds=1)
    return whole * _SECOND + fraction, warning
