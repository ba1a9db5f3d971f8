"""Names and paths as they are handed over: several, or one alone."""

from pathlib import Path
from typing import Any


def listed(given: Any) -> tuple[Any, ...]:
    """What was given, as several: one string or path is a list of one, not of its letters.

    Args:
        given: Names, paths or whatever else is listed; or one string or path.
    """
    return (given,) if isinstance(given, (str, Path)) else tuple(given)
