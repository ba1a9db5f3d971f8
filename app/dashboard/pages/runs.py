"""Runs and decompositions: find one and open it."""

from typing import Any

import streamlit as st

from app.dashboard import connection
from app.dashboard.page import Page
from app.dashboard.pages import one_graph
from app.dashboard.settings import ROWS_A_PAGE

OUTCOMES = ("succeeded", "failed", "unknown")
SORTS = ("actions", "agents", "edges", "tokens", "score")
KINDS = ("Runs", "Decompositions")


def show(page: Page) -> None:
    """Shows the list, or what was opened."""
    opened = page.value("run")
    if opened is not None:
        st.button(
            "Back to the list",
            icon=":material/arrow_back:",
            on_click=page.go,
            kwargs={"run": None, "action": None, "marked": None},
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
        counted = {
            row["outcome"]: row["runs"]
            for row in page.ask("number-of-runs", **chosen).records()
        }
        total = counted.get(outcome, 0) if outcome else sum(counted.values())
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
        f"{total:,} runs; here {skip + 1:,} to {skip + len(answer.rows):,}. Pick a row to open "
        "it."
    )
    page.table(
        answer,
        "runs",
        about="Runs that fit the filter; pick a row to open the run",
        labels={"tokens_out": "tokens written"},
        on_pick=lambda row: page.go(run=row["run"]),
    )
    _open_by_name(
        page, [(row["run"], f"{row['task']} by {row['method']}") for row in answer.records()]
    )


def _decompositions(page: Page, chosen: dict[str, Any]) -> None:
    total = page.ask("number-of-decompositions", **chosen).rows[0][0]
    if not total:
        _nothing(page, "decomposition", chosen, None)
        return
    skip = page.turn(total)
    answer = page.ask("decompositions", **chosen, skip=skip, limit=ROWS_A_PAGE)
    page.soft(f"{total:,} decompositions. Pick a row to open it.")
    page.table(
        answer,
        "decompositions",
        about="Decompositions that fit the filter; pick a row to open one",
        on_pick=lambda row: page.go(run=row["decomposition"]),
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
            page.go(run=found)
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
