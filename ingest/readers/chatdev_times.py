"""The times of a ChatDev log: year-day-month as ChatDev writes them, or year-month-day."""

import re
from datetime import datetime
from functools import lru_cache

_STARTED = re.compile(r"\bStarts(?:\*\*)? \((\d{4})(\d\d)(\d\d)\d{6}\)")
_NUMBER = re.compile(r"\d+")


def date_order(text: str, times: list[str]) -> str | None:
    """Which field of the dates is the month.

    ChatDev writes year-day-month. A day past 12 tells, or the stamp of the first record.

    Args:
        text: Of the log.
        times: Of its records.

    Returns:
        ``year-day-month``, ``year-month-day``, or None where both are possible.
    """
    dates = {time.split(" ")[0] for time in times}
    fields = {tuple(int(part) for part in date.split("-")) for date in dates}
    middle = any(second > 12 for _, second, _ in fields)
    last = any(third > 12 for _, _, third in fields)
    if middle != last:
        return "year-day-month" if middle else "year-month-day"
    stamp = _STARTED.search(text)
    if middle or stamp is None:
        return None
    month, day = int(stamp[2]), int(stamp[3])
    first = tuple(int(part) for part in times[0].split(" ")[0].split("-"))[1:]
    if month == day or first not in ((month, day), (day, month)):
        return None
    return "year-day-month" if first == (day, month) else "year-month-day"


def local_time(text: str, order: str | None) -> str | None:
    """A log's time in ISO form without a zone, None where the order of its date is unknown.

    Args:
        text: ``2023-26-07 12:11:45``.
        order: ``year-day-month`` or ``year-month-day``.
    """
    if order is None:
        return None
    return _read_as(text, order)


@lru_cache(maxsize=1_024)
def _read_as(text: str, order: str) -> str | None:
    # Records of one second follow each other.
    try:
        if text.isascii():
            year, month, day, hour, minute, second = map(int, _NUMBER.findall(text))
            if order == "year-day-month":
                month, day = day, month
            return datetime(year, month, day, hour, minute, second).isoformat()
        # Digits of other scripts; ten times slower.
        form = "%Y-%d-%m %H:%M:%S" if order == "year-day-month" else "%Y-%m-%d %H:%M:%S"
        return datetime.strptime(text, form).isoformat()
    except ValueError:
        return None
