"""What ``masgraph app`` was told: set once before the server starts, read by every page."""

import os
from dataclasses import dataclass

PAGE_SECONDS = 10.0
"""Seconds that a page's own query may take."""

ROWS_A_PAGE = 50
"""Rows that a table shows before it is turned."""

LIVE_RUNS = 2_000
"""Runs and decompositions up to which an overview is made when it is asked for."""

DRAWN_NODES = 300
"""Nodes that a drawing shows; more are folded."""

READ_ACTIONS = 20_000
"""Actions up to which a run is read whole."""


@dataclass(frozen=True)
class Settings:
    """The options of ``masgraph app`` that pages need.

    Attributes:
        store: A path or URL; None means ``MASGRAPH_STORE``, else ``masgraph.db``.
        console_seconds: Time limit of a query that somebody types.
        console_rows: Row limit of such a query.
        upload_megabytes: Largest file that can be dropped.
        is_read_only: Whether files cannot be dropped at all.
    """

    store: str | None = None
    console_seconds: float = 30.0
    console_rows: int = 10_000
    upload_megabytes: int = 200
    is_read_only: bool = False

    @property
    def address(self) -> str:
        """Where the store is."""
        return self.store or os.environ.get("MASGRAPH_STORE") or "masgraph.db"


_current = Settings()


def configure(settings: Settings) -> None:
    """Sets what holds for this process."""
    global _current
    _current = settings


def current() -> Settings:
    """What holds for this process."""
    return _current
