"""Forests: the ways that work, a run's place among them, and what that says of failures."""

from typing import Any

import streamlit as st

from app.dashboard import charts
from app.dashboard.drawing import BAD, GOOD, MARK, SERIES_COLOURS
from app.dashboard.intervals import Estimate, intervals
from app.dashboard.lanes import action_graph
from app.dashboard.page import Page
from app.dashboard.pages.stored import choice_form, chosen_report, named, rows_of
from app.dashboard.quadrant import Field, quadrant
from app.dashboard.settings import ROWS_A_PAGE
from app.output import show as shown
from graphstore.errors import NotFoundError

PARTS = ("Forests", "Diagnosis")
LEVELS = ("task", "category", "dataset", "method", "all", "decomposition")
QUADRANTS = {
    "sound": GOOD,
    "lucky": MARK,
    "content": SERIES_COLOURS[0],
    "structural": BAD,
}
FIELDS = (
    Field("lucky", 0, 0, QUADRANTS["lucky"], ("It worked, in another way", "or by good luck.")),
    Field("sound", 1, 0, QUADRANTS["sound"], ("It worked", "as others did.")),
    Field(
        "structural", 0, 1, QUADRANTS["structural"], ("Look at who did what", "in which order.")
    ),
    Field(
        "content",
        1,
        1,
        QUADRANTS["content"],
        ("Built as it should be:", "look at what was said."),
    ),
)
FAILED_COLUMNS = (
    "task",
    "method",
    "diagnosis",
    "forest_match",
    "threshold",
    "best_similarity",
    "parts_at",
    "parts_agent",
    "parts_action",
    "missing",
    "extra",
    "mistake_step",
    "mistake_agent",
    "run",
    "best_reference",
)
DRAWN_NODES = 200
"""Nodes up to which a reference is drawn among the others."""
DRAWN_REFERENCES = 24
LEAST_SCALE = 0.9
"""How far a drawing is shrunk at most."""
STRATEGIES = {
    "parts_at": "where it parts from its reference",
    "parts_after": "the action before that",
    "random": "any action",
    "first": "the first action",
    "last": "the last action",
    "busiest": "any action of the busiest agent",
}


def show(page: Page) -> None:
    """Shows the forests, or one of them, or the diagnosis of runs."""
    opened = page.value("forest")
    if opened is not None:
        st.button(
            "Back to the list",
            icon=":material/arrow_back:",
            on_click=page.go,
            kwargs={"forest": None},
        )
        _forest(page, opened)
    elif page.tabs("What to show", PARTS, "part") == PARTS[0]:
        _list(page)
    else:
        _diagnosis(page)


def _list(page: Page) -> None:
    columns = st.columns(2)
    with columns[0]:
        level = page.choose("Level", LEVELS, "level")
    with columns[1]:
        at_most = page.count("Rows", "rows", value=ROWS_A_PAGE, least=10, most=1_000)
    found = page.ask("forests", level=level, limit=at_most)
    if not found.rows:
        if level is not None:
            page.empty(f"there is no forest of the level {level}: choose  all  again")
            return
        page.empty(
            "no reference forest was built yet: they are made of the successful runs of each "
            "task, category, data set and method",
            command="masgraph forest build && masgraph evaluate",
        )
        return
    page.soft("Pick a forest to see its references and the runs beside it.")
    page.table(
        found,
        "forests",
        about="Reference forests; pick one to open it",
        hidden=("forest", "forest_set", "configuration_hash"),
        on_pick=lambda row: page.go(forest=row["forest"]),
    )
    choice_form(
        "Forest",
        "Open",
        _titles(found.records()),
        "forest",
        lambda forest: page.go(forest=forest),
    )


def _titles(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Forests by level and name; two of one name are told apart by their ids."""
    names = [f"{row['level']}: {row['name']}" for row in rows]
    return {
        name if names.count(name) == 1 else f"{name} ({row['forest'][-6:]})": row["forest"]
        for name, row in zip(names, rows, strict=True)
    }


def _forest(page: Page, forest: str) -> None:
    references = page.ask("forest-references", forest=forest)
    heads = page.ask("forests", forest=forest).records()
    if not heads:
        raise NotFoundError(f"the store has no forest {forest!r}: it may have been built again")
    head = heads[0]
    page.heading(f"{head['level']}: {head['name']}")
    page.tiles(
        {
            "references": head["references"],
            "successes": head["successes"],
            "distinct": head["distinct_successes"],
            "high from": shown(head["threshold"]),
            "median similarity": shown(head["median_similarity"]),
        }
    )
    if head["near_copies"]:
        page.warn(
            "all successes are nearly alike: a low match says only that a run goes another "
            "way, not that the way is wrong"
        )
    if references.rows:
        _references(page, references.records())
        page.table(
            references,
            "references",
            about="References of the forest with their weights",
            bars=("weight",),
        )
    elif head["imported"]:
        page.soft(
            "This forest came from a file: its references are no runs of this store. "
            "`masgraph forest show` lists them."
        )
    _beside(page, forest, head)


def _references(page: Page, rows: list[dict[str, Any]]) -> None:
    page.heading("References")
    for row in rows[:DRAWN_REFERENCES]:
        _reference(page, row)
    if len(rows) > DRAWN_REFERENCES:
        page.say(f"the drawings are those of the first {DRAWN_REFERENCES}; the table has all")


def _reference(page: Page, row: dict[str, Any]) -> None:
    page.text(
        f"{row['method'] or row['task']}: {row['nodes']} nodes, weight {shown(row['weight'])}"
    )
    if row["nodes"] > DRAWN_NODES:
        page.soft("Too large to be drawn among others; open it.")
    else:
        drawn = action_graph(page.graph(row["reference"])).figure
        # A long one is scrolled: shrunk into the page its letters are lost.
        page.card(
            drawn, f"reference-{row['reference']}", least=round(drawn.width * LEAST_SCALE)
        )
    page.link("runs", "Open it", run=row["reference"])


def _beside(page: Page, forest: str, head: dict[str, Any]) -> None:
    page.heading("Runs beside them")
    found = page.ask("runs-beside-a-forest", forest=forest)
    rows = [row for row in found.records() if row["forest_match"] is not None]
    if not rows:
        if page.ask("runs-by-diagnosis", limit=1).rows:
            page.empty(
                "no run is compared with this forest: each is compared with the most specific "
                "forest that it has, as that of its task"
            )
        else:
            page.empty(
                "no run has been measured against a forest yet", command="masgraph evaluate"
            )
        return
    series = []
    groups = {
        True: "succeeded",
        False: "failed",
        None: "outcome unknown",
    }
    for success, name in groups.items():
        points = [
            (
                row["forest_match"],
                row["best_similarity"],
                f"{row['run']} by {row['method']}: match {shown(row['forest_match'])}, best "
                f"{shown(row['best_similarity'])}, {row['diagnosis'] or 'no diagnosis'}",
            )
            for row in rows
            if row["success"] is success and row["best_similarity"] is not None
        ]
        if points:
            series.append((name, points))
    page.figure(
        charts.points(
            f"Forest match and best similarity; high from {shown(head['threshold'])}",
            series,
            x_title="forest match",
            y_title="best similarity",
        ),
        "beside",
    )
    page.soft("Pick a row to open the run; its best reference is named beside it.")
    page.table(
        found,
        "beside",
        about="Runs that were compared with the forest; pick one to open it",
        hidden=("configuration_hash",),
        on_pick=lambda row: page.go(run=row["run"], best=row["best_reference"]),
    )
    choice_form("Run", "Choose", _runs(rows), "beside", lambda pair: page.go(**pair))
    run, best = page.value("run"), page.value("best")
    if run is not None:
        page.link("runs", f"Open {run}", run=run)
        if best is not None:
            page.link(
                "compare", "Beside its best reference", part="Two runs", one=run, other=best
            )


def _diagnosis(page: Page) -> None:
    report = chosen_report(
        page,
        "diagnosis",
        empty="no runs have been diagnosed yet: it takes reference forests and runs whose "
        "outcome is known",
        command="masgraph forest build && masgraph forest diagnose",
    )
    if report is None:
        return
    document = report.document
    methods = document["methods"]
    names = [named(row["method"]) for row in methods]
    chosen = page.choose("Method", list(dict.fromkeys(names)), "method")
    counted = [row for row, name in zip(methods, names, strict=True) if chosen in (None, name)]
    page.figure(
        quadrant(
            f"Runs of {chosen or 'all methods'} by diagnosis",
            FIELDS,
            {name: sum(row[name] for row in counted) for name in QUADRANTS},
        ),
        "quadrant",
        least=360,
    )
    undecided = sum(row["runs"] for row in counted) - sum(
        row[name] for row in counted for name in QUADRANTS
    )
    if undecided:
        page.soft(
            f"{undecided:,} more runs have no diagnosis: their outcome is not known, or no "
            "forest of theirs says how alike is alike."
        )
    page.figure(
        charts.stacked(
            "Runs by diagnosis",
            [
                (
                    named(row["method"]),
                    {name: float(row[name]) for name in QUADRANTS},
                )
                for row in methods
            ],
            QUADRANTS,
        ),
        "quadrants",
    )
    page.table(
        rows_of(methods, ("method", "runs", "compared", *QUADRANTS, "undecided")),
        "diagnosis",
        about="Number of runs of each method by diagnosis",
    )
    _failed(page, document)
    _mistakes(page, document)


def _failed(page: Page, document: dict[str, Any]) -> None:
    page.heading("Failed runs, and where they part from their best reference")
    rows = document["failed"]
    if not rows:
        page.empty("no failed run was compared with a forest")
        return
    if document["failed_count"] > len(rows):
        page.soft(f"The first {len(rows):,} of {document['failed_count']:,}.")
    page.table(
        rows_of(rows, FAILED_COLUMNS),
        "failed",
        about="Failed runs beside their best references; pick one to see both",
        on_pick=lambda row: page.go(run=row["run"], best=row["best_reference"]),
    )
    choice_form("Failed run", "Choose", _runs(rows), "failed", lambda pair: page.go(**pair))
    run, best = page.value("run"), page.value("best")
    if run is not None and best is not None:
        page.link(
            "compare", f"{run} beside its reference", part="Two runs", one=run, other=best
        )


def _runs(rows: list[dict[str, Any]]) -> dict[str, dict[str, str | None]]:
    """Runs with their best references, by a title."""
    found = {}
    for row in rows:
        whose = named(row["method"])
        title = whose if "task" not in row else f"{row['task']}, {whose}"
        found[f"{title} ({row['run'][-6:]})"] = {
            "run": row["run"],
            "best": row["best_reference"],
        }
    return found


def _mistakes(page: Page, document: dict[str, Any]) -> None:
    page.heading("Labelled mistakes")
    rows = [row for row in document["mistakes"] if row["method"] is None]
    if not rows:
        page.empty(
            "no failed run names its decisive mistake: there is nothing to check against"
        )
        return
    for what, title in (("step", "action"), ("agent", "agent")):
        page.figure(
            intervals(
                f"How often a guess names the {title} of the mistake",
                [
                    Estimate(
                        STRATEGIES.get(row["strategy"], row["strategy"]),
                        row[what]["estimate"],
                        row[what]["low"],
                        row[what]["high"],
                        f"{row['answered']} of {row['runs']} runs answered.",
                    )
                    for row in rows
                    if row[what]["estimate"] is not None
                ],
                x_title="share of runs",
            ),
            f"mistakes-{what}",
        )
    page.table(
        [
            {
                "guess": STRATEGIES.get(row["strategy"], row["strategy"]),
                "runs": row["runs"],
                "answered": row["answered"],
                "right action": row["step"]["estimate"],
                "right agent": row["agent"]["estimate"],
            }
            for row in rows
        ],
        "mistakes",
        about="How often each guess is right",
        bars=("right action", "right agent"),
    )
