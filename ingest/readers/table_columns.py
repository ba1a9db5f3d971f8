"""The columns of a table of messages: each is looked at once, for all rows together."""

from collections.abc import Sequence
from math import isnan
from typing import Any

from graphstore.model import Attributes, Task
from ingest.readers.decoding import text_of
from ingest.readers.table_mapping import Mapping
from ingest.readers.table_rows import Rows
from ingest.readers.table_values import named, plain

Receivers = tuple[str, ...] | None
"""The names of receivers; None for everybody, an empty tuple for nobody."""

Message = tuple[
    str | None,  # sender
    Receivers,
    Any,  # content: the cell as it is, None where it is empty
    Any,  # time: likewise
    str | None,  # id
    str | None,  # the id of the message that it answers
    str | None,  # kind
    str | None,  # status
    str | None,  # round
    str | None,  # tokens read
    str | None,  # tokens written
]


class Columns:
    """What the fields of a message hold, by the row's position.

    A text has no white space around it; it is None where no column is of that field, where
    the cell is empty, and where the row is short.

    Args:
        table: The rows as they stand in the file.
        places: The position of each field's column.
        mapping: What else is known of the table.

    Attributes:
        rows: The cells of each row.
        widths: How many cells rows have, each number once.
        receivers: Whom each row names.
        messages: The fields of each row that make its message.
        named_tasks: The tasks of the runs so far, by text and data set: runs share them.
    """

    def __init__(self, table: Rows, places: dict[str, int], mapping: Mapping) -> None:
        self.rows: list[list[Any]] = []
        self.numbers: list[int] = []
        for number, cells in table.numbered:
            self.numbers.append(number)
            self.rows.append(cells)
        self.header = table.header
        self.unit = table.unit
        self.mapping = mapping
        self.places = places
        self.widths = set(map(len, self.rows))
        self._are_texts = table.are_texts
        self._are_plain = table.are_texts and self.widths == {len(self.header)}
        self._others = _others(self.header, places)
        self._missing: Sequence[None] = [None] * len(self.rows)
        self.runs = self._texts("run")
        self.senders = self._texts("sender")
        self.receivers = self._receivers()
        self.roles = self._texts("role")
        self.ids = self._texts("id")
        self.tasks = self._texts("task")
        self.methods = self._texts("method")
        self.datasets = self._texts("dataset")
        self.messages: list[Message] = list(
            zip(
                self.senders,
                self.receivers,
                self._cells("content"),
                self._cells("time"),
                self.ids,
                self._texts("reply_to"),
                self._texts("kind"),
                self._texts("status"),
                self._texts("round"),
                self._texts("tokens_in"),
                self._texts("tokens_out"),
                strict=True,
            )
        )
        self.named_tasks: dict[tuple[str, str | None], Task] = {}

    def place(self, row: int) -> str:
        """Where a row stands in the file, for a person."""
        return f"{self.unit} {self.numbers[row]}"

    def plain_cells(self, row: int) -> list[Any]:
        """The cells of a row as JSON values."""
        cells = self.rows[row]
        if self._are_texts:
            return cells
        return [cell if type(cell) is str else plain(cell) for cell in cells]

    def others(self, row: int) -> Attributes:
        """What stands in the columns of no field, by the column's name."""
        cells = self.rows[row]
        if self._are_plain:
            return {name: cell for place, name in self._others if (cell := cells[place])}
        return {
            name: plain(cell)
            for place, name in self._others
            if place < len(cells) and (cell := cells[place]) is not None and cell != ""
        }

    def extra(self, row: int) -> list[Any]:
        """What stands in cells beyond the last column."""
        beyond = self.rows[row][len(self.header) :]
        return [plain(cell) for cell in beyond if cell is not None and cell != ""]

    def _texts(self, field: str) -> Sequence[str | None]:
        place = self.places.get(field)
        if place is None:
            return self._missing
        if self._are_plain:
            return [cells[place].strip() or None for cells in self.rows]
        return [_text(cells[place]) if place < len(cells) else None for cells in self.rows]

    def _cells(self, field: str) -> Sequence[Any]:
        place = self.places.get(field)
        if place is None:
            return self._missing
        if self._are_plain:
            return [
                cell if (cell := cells[place]) and not cell.isspace() else None
                for cells in self.rows
            ]
        return [
            None if place >= len(cells) or _is_empty(cell := cells[place]) else cell
            for cells in self.rows
        ]

    def _receivers(self) -> Sequence[Receivers]:
        by_text: dict[str, Receivers] = {}
        found: list[Receivers] = []
        for cell in self._cells("receiver"):
            if type(cell) is not str:
                found.append(named(cell, self.mapping))
                continue
            if cell not in by_text:
                by_text[cell] = named(cell, self.mapping)
            found.append(by_text[cell])
        return found


def _others(header: list[str], places: dict[str, int]) -> list[tuple[int, str]]:
    """Place and name of the columns that no field takes."""
    used = set(places.values())
    return [
        (place, name or f"column {place + 1}")
        for place, name in enumerate(header)
        if place not in used
    ]


def _is_empty(cell: Any) -> bool:
    return (
        cell is None
        or (isinstance(cell, str) and not cell.strip())
        or (isinstance(cell, float) and isnan(cell))
    )


def _text(cell: Any) -> str | None:
    if type(cell) is str:
        return cell.strip() or None
    return None if _is_empty(cell) else (text_of(plain(cell)) or "").strip() or None
