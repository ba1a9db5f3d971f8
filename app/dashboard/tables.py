"""Query results as tables to show and as files to take away."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from app.output import visible
from graphstore.rows import QueryResult

if TYPE_CHECKING:
    import pandas

SAFE_INTEGER = 2**53
"""Integers from here on lose digits in a browser: they are shown as texts."""

SHOWN_CHARACTERS = 2_000
"""Characters of a text that a cell shows; files have all."""


def as_result(answer: "QueryResult | Iterable[Mapping[str, Any]]") -> QueryResult:
    """Records with equal keys as a result."""
    if isinstance(answer, QueryResult):
        return answer
    records = list(answer)
    columns = tuple(records[0]) if records else ()
    return QueryResult(columns, tuple(tuple(row[name] for name in columns) for row in records))


def shown_frame(result: QueryResult, hidden: Sequence[str] = ()) -> "pandas.DataFrame":
    """A result for the screen: every text stays a text, a missing value stays missing.

    Args:
        result: The rows.
        hidden: Columns that are left out.
    """
    import pandas

    series = {}
    for position, name in enumerate(result.columns):
        if name not in hidden:
            values = [row[position] for row in result.rows]
            cells, kind = _column(values)
            series[position] = pandas.Series(cells, dtype=kind)
    frame = pandas.DataFrame(series)
    frame.columns = [result.columns[position] for position in series]
    return frame


def _column(values: list[Any]) -> tuple[list[Any], str]:
    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    if kinds == {int} and all(abs(value) < SAFE_INTEGER for value in present):
        return values, "Int64"
    if kinds == {float} or (
        kinds == {int, float}
        and all(abs(value) < SAFE_INTEGER for value in present if isinstance(value, int))
    ):
        return values, "Float64"
    return [None if value is None else _text(value) for value in values], "string"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return visible(", ".join(value))[:SHOWN_CHARACTERS]
    if isinstance(value, (list, tuple, dict)):
        return visible(_json(value))[:SHOWN_CHARACTERS]
    return visible(str(value))[:SHOWN_CHARACTERS]


def _json(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def column_config(
    result: QueryResult,
    labels: Mapping[str, str],
    hidden: Sequence[str],
    bars: Sequence[str],
) -> dict[str, Any]:
    """Streamlit's options of the columns: headings as plain text, numbers readable."""
    import streamlit as st

    config: dict[str, Any] = {}
    for position, name in enumerate(result.columns):
        if name in hidden:
            continue
        heading = labels.get(name, visible(name).replace("_", " "))
        kinds = {type(row[position]) for row in result.rows if row[position] is not None}
        if name in bars:
            config[name] = st.column_config.ProgressColumn(
                heading, min_value=0, max_value=1, format="percent"
            )
        elif kinds == {int}:
            config[name] = st.column_config.NumberColumn(heading, format="localized")
        elif kinds and kinds <= {int, float}:
            config[name] = st.column_config.NumberColumn(heading, format="%.4g")
        else:
            config[name] = st.column_config.TextColumn(heading)
    return config


def to_csv(result: QueryResult) -> bytes:
    """A result as CSV in UTF-8; lists and maps as JSON, a missing value as nothing."""
    import csv

    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(result.columns)
    for row in result.rows:
        writer.writerow([_flat(value) for value in row])
    return out.getvalue().encode()


def _flat(value: Any) -> Any:
    return _json(value) if isinstance(value, (list, tuple, dict)) else value


def to_parquet(result: QueryResult) -> bytes:
    """A result as Parquet; a column whose values have no one type holds texts."""
    import pyarrow
    from pyarrow import parquet

    arrays, names, taken = [], [], set()
    for position, name in enumerate(result.columns):
        values = [row[position] for row in result.rows]
        try:
            array = pyarrow.array(values)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
            array = pyarrow.array([None if one is None else str(_flat(one)) for one in values])
        while name in taken:
            name += "_"
        taken.add(name)
        arrays.append(array)
        names.append(name)
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays, names=names), out)
    return out.getvalue()
