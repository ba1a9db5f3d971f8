"""Rows of a table: CSV with any of the usual delimiters, or Parquet."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphstore.errors import InputError
from ingest.reader import TraceFile

PARQUET = b"PAR1"
DELIMITERS = (",", ";", "\t", "|")
_UNUSUAL = '"\r\n\0'
"""What may keep delimiters together, or end a line in the middle."""
_LONGEST_PLAIN = 10_000
_LONGEST_CELL = 1 << 30


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as it stands in its file.

    Attributes:
        header: The names of the columns.
        unit: What the numbers count: ``line`` or ``row``.
        numbered: The cells of each row, with the number of the line at which it begins, or of
            the row. An empty cell is an empty text in CSV and None in Parquet.
        are_texts: Whether all cells are texts, as in CSV.
    """

    header: list[str]
    unit: str
    numbered: Iterator[tuple[int, list[Any]]]
    are_texts: bool


def header_of(line: str) -> tuple[str, list[str]]:
    """The delimiter of a table and the names of its columns, by its first line.

    The delimiter that parts the line into most cells is taken.

    Args:
        line: The first line, without its end.
    """
    if 0 < len(line) <= _LONGEST_PLAIN and not any(sign in line for sign in _UNUSUAL):
        # Each cell ends at a delimiter: the first of the most frequent ones.
        delimiter = max(DELIMITERS, key=line.count)
        return delimiter, [cell.strip() for cell in line.split(delimiter)]
    # Delimiters that do not stand in it all part it into the same: the first one counts.
    absent = [delimiter for delimiter in DELIMITERS if delimiter not in line]
    parted = [
        (delimiter, _cells(line, delimiter))
        for delimiter in DELIMITERS
        if delimiter not in absent[1:]
    ]
    return max(parted, key=lambda pair: len(pair[1]))


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def read_rows(file: TraceFile) -> Rows:
    """The columns of a table, and its rows, which are read as they are asked for.

    Args:
        file: CSV, tab-separated values and the like in UTF-8, or Parquet.

    Raises:
        InputError: It is no table. Also while the rows are read.
    """
    data = file.data()
    if data.startswith(PARQUET):
        return _parquet(data, file.uri)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        reason = f"the table is not UTF-8 at byte {error.start}"
        raise InputError(reason, file=file.uri) from error
    text = text.lstrip("\r\n")
    if not text.strip():
        raise InputError("the table is empty", file=file.uri)
    delimiter, header = header_of(text.split("\n", 1)[0].rstrip("\r"))
    return Rows(header, "line", _csv(text, delimiter, file.uri), are_texts=True)


def _csv(text: str, delimiter: str, uri: str) -> Iterator[tuple[int, list[Any]]]:
    before = csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for number, row in enumerate(reader):
            if number and row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        reason = f"the row that begins in line {line} is no CSV: {error}"
        raise InputError(reason, file=uri) from error
    finally:
        csv.field_size_limit(before)


def _parquet(data: bytes, uri: str) -> Rows:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        header = list(table.schema_arrow.names)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError("the Parquet file is damaged", file=uri) from error

    def rows() -> Iterator[tuple[int, list[Any]]]:
        number = 0
        try:
            for batch in table.iter_batches():
                columns = [column.to_pylist() for column in batch.columns]
                for row in zip(*columns, strict=True):
                    number += 1
                    yield number, list(row)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise InputError("the Parquet file is damaged", file=uri) from error

    return Rows(header, "row", rows(), are_texts=False)
