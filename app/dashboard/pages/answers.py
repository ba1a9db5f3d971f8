"""A query's rows as table, graph or chart."""

from typing import Any

import streamlit as st

from app.dashboard import charts
from app.dashboard.drawing import SERIES_COLOURS, Figure
from app.dashboard.page import Page
from app.dashboard.ring import Member, Tie, ring
from app.dashboard.settings import DRAWN_NODES
from app.dashboard.text import one_line
from graphstore.rows import QueryResult

FORMS = ("Table", "Graph", "Chart")
ROWS = 500
"""Rows of a table that are sent to a browser at once."""

CHARTED = 2_000
"""Rows that a chart takes."""


def show(page: Page, result: QueryResult) -> None:
    """Shows rows in one of three forms."""
    form = page.tabs("Shown as", FORMS, "form")
    if not result.columns or not result.rows:
        page.empty("no row answers it")
        return
    if form == "Table":
        skip = page.turn(len(result.rows), "rows", size=ROWS)
        window = QueryResult(result.columns, result.rows[skip : skip + ROWS])
        page.table(window, "answer", about="Rows of the answer", download=result)
    elif form == "Graph":
        _graph(page, result)
    else:
        _chart(page, result)


def _graph(page: Page, result: QueryResult) -> None:
    columns = list(result.columns)
    if len(columns) < 2:
        page.empty("a graph needs two columns: from whom, and to whom")
        return
    across = st.columns(3)
    with across[0]:
        source = page.choose("From", columns, "from", any=None) or columns[0]
    with across[1]:
        target = page.choose("To", columns[1:] + columns[:1], "to", any=None) or columns[1]
    numbers = [name for name in columns if _is_numeric(result, name)]
    with across[2]:
        weight = page.choose("Weight", numbers, "weight", any="number of rows")
    figure, left_out = pairs_figure(result, source, target, weight)
    if left_out:
        page.say(
            f"more than {DRAWN_NODES} names are more than a drawing can show: {left_out:,} "
            "rows whose names came later are left out"
        )
    page.figure(figure, "graph")


def pairs_figure(
    result: QueryResult, source: str, target: str, weight: str | None
) -> tuple[Figure, int]:
    """Draws rows as arrows from one column's value to another's.

    Args:
        result: The rows.
        source: Column of where an arrow begins.
        target: Column of where it ends.
        weight: Column of numbers that are added up; None counts rows.

    Returns:
        The figure, and how many rows were left out because of :data:`DRAWN_NODES`.
    """
    at = {name: place for place, name in enumerate(result.columns)}
    members: dict[str, Member] = {}
    weights: dict[tuple[str, str], float] = {}
    left_out = 0
    for row in result.rows:
        ends = (name_of(row[at[source]]), name_of(row[at[target]]))
        new = [end for end in dict.fromkeys(ends) if end not in members]
        if len(members) + len(new) > DRAWN_NODES:
            left_out += 1
            continue
        for end in new:
            members[end] = Member(end, end, "", SERIES_COLOURS[0])
        amount = 1 if weight is None else row[at[weight]] or 0
        weights[ends] = weights.get(ends, 0) + max(amount, 0)
    ties = [Tie(*ends, amount, weight or "rows") for ends, amount in weights.items()]
    title = f"{source} to {target}: {len(members):,} names, {len(ties):,} pairs"
    return ring(title, list(members.values()), ties), left_out


def name_of(value: Any) -> str:
    """What stands for a value in a drawing: of a node its name, else its id."""
    if isinstance(value, dict):
        value = value.get("name") or value.get("id") or value
    return one_line(value, 60)


def _is_numeric(result: QueryResult, name: str) -> bool:
    place = result.columns.index(name)
    values = [row[place] for row in result.rows if row[place] is not None]
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def _chart(page: Page, result: QueryResult) -> None:
    numbers = [name for name in result.columns if _is_numeric(result, name)]
    if not numbers:
        page.empty("a chart needs a column of numbers")
        return
    columns = list(result.columns)
    across = st.columns(2)
    with across[0]:
        along = page.choose("Along", columns, "along", any=None) or columns[0]
    with across[1]:
        height = page.choose("Height", numbers[::-1], "height", any=None) or numbers[-1]
    at = {name: place for place, name in enumerate(columns)}
    rows = result.rows[:CHARTED]
    if len(result.rows) > CHARTED:
        page.say(f"the chart shows the first {CHARTED:,} of {len(result.rows):,} rows")
    if along in numbers and along != height:
        points = [
            (
                float(row[at[along]]),
                float(row[at[height]]),
                f"{row[at[along]]}, {row[at[height]]}",
            )
            for row in rows
            if row[at[along]] is not None and row[at[height]] is not None
        ]
        figure = charts.points(
            f"{height} by {along}", [(height, points)], x_title=along, y_title=height
        )
    else:
        figure = charts.bars(
            f"{height} by {along}", [(name_of(row[at[along]]), row[at[height]]) for row in rows]
        )
    page.figure(figure, "chart")
