"""Runs and decompositions: find one and open it."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from app.dashboard import connection
from app.dashboard.address import ALL
from app.dashboard.page import Page
from app.dashboard.pages import one_graph
from app.dashboard.settings import ROWS_A_PAGE
from app.dashboard.text import counted
from graphstore.rows import QueryResult

OUTCOMES = ("succeeded", "failed", "unknown")
SORTS = ("actions", "agents", "edges", "tokens", "score")
KINDS = ("Runs", "Decompositions")
FIRST_COLUMNS = ("task", "method", "outcome", "score")
FILTERS = {
    "kind": "Runs",
    "dataset": ALL,
    "method": ALL,
    "task": "",
    "outcome": ALL,
    "sort": "id",
    "up": False,
    "page": 1,
}
"""What narrows and orders the list, by query parameter, with what it is at first."""


def show(page: Page) -> None:
    """Shows the list, or what was opened."""
    opened = page.value("run")
    if opened is not None:
        st.button(
            "Back to the list",
            icon=":material/arrow_back:",
            on_click=_back,
            kwargs={"page": page, "filters": page.value("list") or ""},
        )
        one_graph.show(page, opened)
        return
    kind = page.tabs("What to list", KINDS, "kind")
    found = connection.overview().document
    columns = st.columns(4)
    with columns[0]:
        dataset = page.choose("Data set", _names(found, "datasets", "dataset"), "dataset")
    with columns[1]:
        method = page.choose("Method", _names(found, "methods", "method"), "method")
    with columns[2]:
        task = page.search("Task", "task", hint="a part of its name")
    chosen: dict[str, Any] = {
        "dataset": dataset,
        "method": method,
        "task": task.lower() if task else None,
    }
    if kind == "Runs":
        with columns[3]:
            outcome = page.choose("Outcome", OUTCOMES, "outcome")
        _runs(page, chosen, outcome)
    else:
        _decompositions(page, chosen)


def _open(page: Page, run: str) -> None:
    """Opens a graph; its address remembers how the list was filtered."""
    state = {name: st.session_state.get(name) for name in FILTERS}
    changed = {
        name: str(value).lower() if value is True else value
        for name, value in state.items()
        if value is not None and value != FILTERS[name]
    }
    page.go(run=run, list=urlencode(changed) or None)


def _back(page: Page, filters: str) -> None:
    page.go(run=None, action=None, marked=None, list=None)
    for name, value in parse_qsl(filters):
        first = FILTERS.get(name)
        found: str | int | None = None
        if isinstance(first, bool):
            found = value == "true"
        elif isinstance(first, int):
            if value.isascii() and value.isdigit() and len(value) < 9:
                found = max(1, int(value))
        elif first is not None and (name != "kind" or value in KINDS):
            found = value
        if found is not None:
            # The field takes its value from the one, the browser's address from the other.
            st.session_state[name] = found
            page.go(**{name: value})


def _names(document: dict[str, Any] | None, section: str, column: str) -> list[str]:
    """Names to filter by; without an overview they are asked for."""
    if document is not None:
        rows = document[section]
    else:
        query = {"datasets": "datasets-overview", "methods": "outcomes-by-method"}[section]
        rows = connection.ask(query).records()
    return sorted({row[column] for row in rows if row[column]})


def _runs(page: Page, chosen: dict[str, Any], outcome: str | None) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sort = page.choose("Sort by", SORTS, "sort", any="id")
        smallest = page.switch("Smallest first", "up") if sort else False
        numbers = {
            row["outcome"]: row["runs"]
            for row in page.ask("number-of-runs", **chosen).records()
        }
        total = numbers.get(outcome, 0) if outcome else sum(numbers.values())
        skip = page.turn(total)
    if not total:
        _nothing(page, "run", chosen, outcome)
        return
    window = {**chosen, "outcome": outcome, "skip": skip, "limit": ROWS_A_PAGE}
    if sort:
        answer = page.ask(
            "runs-by-size", **window, sort=sort, direction=1.0 if smallest else -1.0
        )
    else:
        answer = page.ask("runs", **window)
    page.soft(
        f"{counted(total, 'run')}; here {skip + 1:,} to {skip + len(answer.rows):,}. "
        "Pick a row to open it."
    )
    page.table(
        _in_order(answer),
        "runs",
        about="Runs that fit the filter; pick a row to open the run",
        labels={"tokens_out": "tokens written"},
        on_pick=lambda row: _open(page, row["run"]),
    )
    _open_by_name(
        page, [(row["run"], f"{row['task']} by {row['method']}") for row in answer.records()]
    )


def _in_order(answer: QueryResult) -> QueryResult:
    """How a run ended first, its id last."""
    rest = [name for name in answer.columns if name not in (*FIRST_COLUMNS, "run")]
    names = (*FIRST_COLUMNS, *rest, "run")
    places = [answer.columns.index(name) for name in names]
    return QueryResult(names, tuple(tuple(row[one] for one in places) for row in answer.rows))


def _decompositions(page: Page, chosen: dict[str, Any]) -> None:
    total = page.ask("number-of-decompositions", **chosen).rows[0][0]
    if not total:
        _nothing(page, "decomposition", chosen, None)
        return
    skip = page.turn(total)
    answer = page.ask("decompositions", **chosen, skip=skip, limit=ROWS_A_PAGE)
    page.soft(f"{counted(total, 'decomposition')}. Pick a row to open it.")
    page.table(
        answer,
        "decompositions",
        about="Decompositions that fit the filter; pick a row to open one",
        on_pick=lambda row: _open(page, row["decomposition"]),
    )
    _open_by_name(
        page,
        [
            (row["decomposition"], f"{row['task']} by {row['method']}")
            for row in answer.records()
        ],
    )


def _open_by_name(page: Page, rows: list[tuple[str, str]]) -> None:
    """The same for the keyboard: a table drawn on a canvas is hard to pick from."""
    titles = dict(rows)
    with st.form("open", border=False):
        found = st.selectbox(
            "Open",
            list(titles),
            index=None,
            format_func=lambda run: f"{run}: {titles[run]}",
            placeholder="choose, or type an id",
            accept_new_options=True,
        )
        if st.form_submit_button("Open") and found:
            _open(page, found)
            st.rerun()


def _nothing(page: Page, what: str, chosen: dict[str, Any], outcome: str | None) -> None:
    if any(chosen.values()) or outcome:
        page.empty(f"no {what} fits this filter: choose  all  again, or another one")
    else:
        page.empty(
            f"the store holds no {what} yet: drop files on the page Ingest, or run the command "
            "below",
            command="masgraph ingest PATH",
        )
