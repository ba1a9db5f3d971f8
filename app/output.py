"""What the commands print: a table for people, or one JSON document.

Standard output carries the answer alone; progress, messages and warnings go to standard
error.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

MANY_DIGITS = 1e15
"""From here on a number is shown with its exponent."""

answers = Console(soft_wrap=False)
messages = Console(stderr=True)


def print_json(value: Any) -> None:
    """Prints one JSON document: the only thing on standard output."""
    text = msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2)
    sys.stdout.write(text.decode() + "\n")


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def show(value: Any) -> str:
    """A cell for people: a missing value is a dash, a real number has at most 4 digits.

    From 1e15 on every number is shown with its exponent.
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (float, int)) and abs(value) >= MANY_DIGITS:
        try:
            return f"{float(value):.4g}"
        except OverflowError:
            return f"{Decimal(value):.4g}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (list, dict)):
        return visible(msgspec.json.encode(value).decode())
    return visible(str(value))


_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def visible(text: str) -> str:
    """A text from a trace as it may be shown: what would steer a terminal is spelled out."""
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    title: str | None = None,
    spell_columns: bool = True,
) -> None:
    """Prints rows for people. Numbers stand on the right.

    Args:
        columns: Names of the columns.
        rows: Values in their order.
        title: Above the table.
        spell_columns: Whether ``tokens_out`` is headed "tokens out"; a query's own names stay.
    """
    table = Table(title=title, title_justify="left", title_style="bold")
    for position, column in enumerate(columns):
        numeric = any(isinstance(row[position], (int, float)) for row in rows)
        heading = column.replace("_", " ") if spell_columns else escape(visible(column))
        table.add_column(heading, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(escape(show(value)) for value in row))
    console = answers
    if not answers.is_terminal:
        # Without a terminal the width is unknown: a table that is read by a program, or in
        # a log, must not be folded to 80 columns.
        console = Console(width=max(80, _width(columns, rows)))
    console.print(table)


def _width(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
    widths = [
        max([len(column), *(len(show(row[position])) for row in rows)])
        for position, column in enumerate(columns)
    ]
    return sum(widths) + 3 * len(widths) + 1


def print_mapping(values: Mapping[str, Any], *, title: str | None = None) -> None:
    """Prints names and values for people."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    table.add_column("name")
    table.add_column("value", justify="right")
    for name, value in values.items():
        table.add_row(name.replace("_", " "), escape(show(value)))
    answers.print(table)


def say(sentence: str) -> None:
    """A message for the person at the keyboard."""
    messages.print(escape(visible(sentence)), highlight=False, soft_wrap=True)


@contextmanager
def progress(description: str, *, quiet: bool = False) -> Iterator["Reporter"]:
    """Shows how far a long job is, on standard error, where that is a terminal.

    Args:
        description: What is being done.
        quiet: Show nothing.
    """
    if quiet or not messages.is_terminal:
        yield Reporter(None, None)
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        console=messages,
        transient=True,
    ) as bar:
        yield Reporter(bar, bar.add_task(description, total=None, note=""))


class Reporter:
    """Receives progress: how much is done, of how much, and a note."""

    def __init__(self, bar: Progress | None, task: Any) -> None:
        self._bar = bar
        self._task = task

    def __call__(self, done: float, total: float | None = None, note: str = "") -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, note=note)
