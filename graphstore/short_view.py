"""How results show themselves: one line, and a table of the first rows in a notebook."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

SHOWN_ROWS = 20


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number of things in words.

    Args:
        count: How many.
        one: What one is called.
        many: What several are called; with an s by default.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def runs_in_short(rows: Iterable[Any]) -> str:
    """Runs in words: how many, of how many methods.

    Args:
        rows: One for each run, with its ``method``.
    """
    methods = [row.method for row in rows]
    return f"{counted(len(methods), 'run')} of {counted(len(set(methods)), 'method')}"


class ShortView(ABC):
    """A result that may hold megabytes, and is shown in a line.

    Dataclasses that inherit from it are declared with ``repr=False``.
    """

    @abstractmethod
    def _in_short(self) -> str:
        """What it holds, in numbers."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._in_short()}>"


class TableView(ShortView):
    """Likewise, of a result that is a table."""

    @abstractmethod
    def to_pandas(self) -> "pandas.DataFrame":
        """The table."""

    def _repr_html_(self) -> str:
        table = self.to_pandas()
        parts = [f"<p>{escape(self._in_short())}</p>"]
        if len(table):
            parts.append(table.head(SHOWN_ROWS).to_html(index=False))
        if len(table) > SHOWN_ROWS:
            parts.append(f"<p>{len(table) - SHOWN_ROWS:,} more rows: to_pandas()</p>")
        return "\n".join(parts)
