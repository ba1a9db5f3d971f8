"""The first page: what is in the store, how it ended, how far it can be trusted."""

from typing import Any

import streamlit as st

from app.dashboard import charts, connection
from app.dashboard.drawing import BAD, GOOD
from app.dashboard.page import Page

OUTCOMES = {"succeeded": GOOD, "failed": BAD, "unknown": "#9a9a9a"}
TILES = {
    "Dataset": "data sets",
    "Task": "tasks",
    "Run": "runs",
    "Decomposition": "decompositions",
    "Method": "methods",
    "Agent": "agents",
    "Action": "actions",
    "Subtask": "subtasks",
}
"""What is counted, by the nodes' label."""

PARTS = ("Contents", "Outcomes", "Health", "Results")


def show(page: Page) -> None:
    """Shows the page."""
    found = connection.overview()
    counts = connection.counts()
    if not any(counts.get(name) for name in ("Run", "Decomposition")):
        page.empty(
            "the store holds no run and no decomposition yet: drop files on the page Ingest, "
            "or run the command below",
            command="masgraph ingest PATH",
        )
        page.link("ingest", "Go to Ingest")
        return
    page.tiles({words: counts[name] for name, words in TILES.items() if counts.get(name)})
    if found.document is None:
        page.warn(
            "this store is too large to be summed up while you wait: run the command below "
            "once, then come back",
            command=f"masgraph overview --store {connection.connection().place.address}",
        )
        return
    if found.is_stale:
        page.warn(
            "the store has changed since it was summed up: the figures below are of then",
            command=f"masgraph overview --store {connection.connection().place.address}",
        )
    part = page.tabs("Part", PARTS, "part")
    if part == "Contents":
        _contents(page, found.document)
    elif part == "Outcomes":
        _outcomes(page, found.document)
    elif part == "Health":
        _health(page, found.document)
    else:
        _results(page, counts)


def _contents(page: Page, document: dict[str, Any]) -> None:
    page.heading("Data sets")
    page.table(document["datasets"], "datasets", about="What each data set holds")
    if document["roles"]:
        page.heading("Who acts")
        page.figure(
            charts.bars(
                "Actions by role",
                [(row["role"], row["actions"]) for row in document["roles"]],
                unit="actions",
            ),
            "roles",
        )
    page.heading("Formats")
    page.table(
        document["formats"],
        "formats",
        about="What came in by each format",
        labels={"share": "share of guessed edges"},
        bars=("share",),
    )


def _outcomes(page: Page, document: dict[str, Any]) -> None:
    if not document["outcomes"]:
        page.empty("the store holds decompositions only: they have no outcome")
        return
    page.tiles({row["outcome"]: row["runs"] for row in document["outcomes"]})
    page.heading("By method")
    page.figure(
        charts.stacked(
            "Runs by outcome",
            [
                (row["method"] or "no method named", {name: row[name] for name in OUTCOMES})
                for row in document["methods"]
            ],
            OUTCOMES,
        ),
        "outcomes-by-method",
    )
    page.table(
        document["methods"],
        "methods",
        about="How often each method succeeds; pick a row to see its runs",
        hidden=("method_id",),
        bars=("success_rate",),
    )
    with st.container(horizontal=True):
        for row in document["methods"][:12]:
            if row["method"]:
                page.link("runs", f"Runs of {row['method']}", method=row["method"])
    page.heading("Tokens")
    page.table(
        document["tokens"],
        "tokens",
        about="Tokens that the runs of each method say that they read and wrote",
        hidden=("method_id",),
    )
    page.heading("By task")
    page.soft(f"At most {500:,} tasks, the least successful first.")
    page.table(
        document["tasks"],
        "tasks",
        about="How often the runs of each task succeed",
        hidden=("task_id",),
        bars=("success_rate",),
    )


def _health(page: Page, document: dict[str, Any]) -> None:
    edges = sum(row["edges"] for row in document["formats"])
    guessed = sum(row["inferred_edges"] for row in document["formats"])
    unknown = sum(row["agents"] for row in document["unknown_roles"])
    page.tiles(
        {
            "edges": edges,
            "edges that a reader guessed": guessed,
            "share of guessed edges": guessed / edges if edges else None,
            "agents without a known role": unknown,
            "kinds of warnings": len(document["reader_warnings"]),
        }
    )
    page.heading("Rejected files")
    _rejected(page)
    page.heading("Unknown roles")
    if document["unknown_roles"]:
        page.table(
            document["unknown_roles"], "unknown-roles", about="Names that stand for no role"
        )
        page.say("give these names a role", command="masgraph roles --help")
    else:
        page.empty("every agent has a role of the shared vocabulary")
    page.heading("What readers had to guess or leave out")
    if document["reader_warnings"]:
        page.table(
            document["reader_warnings"], "warnings", about="Warnings of readers, by format"
        )
    else:
        page.empty("no reader warned of anything")
    page.heading("Runs with the most guessed edges")
    if any(row["inferred_edges"] for row in document["guessed_edges"]):
        page.table(
            [row for row in document["guessed_edges"] if row["inferred_edges"]],
            "guessed-edges",
            about="Runs by their share of guessed edges",
            bars=("share",),
        )
    else:
        page.empty("no edge of a run is a guess")


def _rejected(page: Page) -> None:
    heads = connection.report_heads("ingest")
    rows = [
        {"read": head.name, **one}
        for head in heads
        for one in connection.report(head.report).document["rejected"]
    ]
    if rows:
        page.table(rows, "rejected", about="Files and records that could not be read, and why")
    else:
        page.empty("no file or record is on record as rejected")


def _results(page: Page, counts: dict[str, int]) -> None:
    page.tiles(
        {
            "evaluated runs": counts.get("Evaluation", 0),
            "libraries": counts.get("Library", 0),
            "motifs": counts.get("Motif", 0),
            "subtask types": counts.get("SubtaskType", 0),
            "composition rules": counts.get("CompositionRule", 0),
        }
    )
    heads = connection.report_heads()
    if not counts.get("Evaluation"):
        page.empty("no run has been evaluated yet", command="masgraph evaluate")
    if not counts.get("Library"):
        page.empty("nothing has been mined yet", command="masgraph mine")
    page.heading("Reports")
    if heads:
        page.table(
            [
                {
                    "kind": head.kind,
                    "name": head.name,
                    "runs": head.runs,
                    "dataset": head.selection.dataset,
                    "method": head.selection.method,
                    "task": head.selection.task,
                    "report": head.report,
                }
                for head in heads
            ],
            "reports",
            about="What jobs found about many runs",
        )
    else:
        page.empty("no job has left a report yet")
