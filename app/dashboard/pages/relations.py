"""Relations: goals that were reached, and whether results that depend on others agree."""

from typing import Any

from app.dashboard.drawing import BAD, GOOD, MARK, SERIES_COLOURS
from app.dashboard.page import Page
from app.dashboard.pages.stored import chosen_report, followed, named, notes, rows_of
from app.dashboard.shares import Whole, share_bars

KINDS = {"dependency": "dependencies", "shared_resource": "shared resources"}
OUTCOMES = {
    "satisfied": GOOD,
    "inconsistent": BAD,
    "unavailable: upstream only": MARK,
    "unavailable: downstream only": SERIES_COLOURS[4],
    "unavailable: neither": SERIES_COLOURS[5],
    "unavailable: not told which": SERIES_COLOURS[3],
    "unassessable": SERIES_COLOURS[-1],
}
HANDLED = ("satisfied", "inconsistent", "unavailable", "unassessable")
CHANGED = (
    "items",
    "changes",
    "first_inconsistent",
    "final_inconsistent",
    "corrected",
    "broken",
)


def show(page: Page) -> None:
    """Shows a stored report on goals and relations."""
    report = chosen_report(
        page,
        "relations",
        empty="no checks of goals and relations have been measured: they stand in runs, or in "
        "a file that a grader writes",
        command="masgraph relations --checks FILE",
        name="relations",
    )
    if report is None:
        return
    document = report.document
    methods = document["methods"]
    page.tiles(
        {
            "checked runs": f"{document['runs']:,}",
            "runs without checks": f"{document['runs_without_checks']:,}",
            "rejected": f"{len(document['rejected']):,}",
        }
    )
    _goals(page, methods)
    _outcomes(page, methods)
    _handling(page, methods)
    _history(page, document)
    _runs(page, document)
    if document["rejected"]:
        page.heading("Rejected checks")
        page.table(
            rows_of(document["rejected"], ("file", "record", "reason")),
            "rejected",
            about="Checks that could not be used, with the reason",
        )


def _goals(page: Page, methods: list[dict[str, Any]]) -> None:
    page.heading("Goals")
    rows = [
        Whole(
            followed(named(one["method"]), f", {what}"),
            {"achieved": one[field] / 100, "not achieved": 1 - one[field] / 100},
            {},
        )
        for one in methods
        for field, what in (("progress_score", "goals"), ("resolved_rate", "tasks resolved"))
        if one[field] is not None
    ]
    if rows:
        page.figure(
            share_bars(
                "Goals achieved and tasks resolved, by method",
                rows,
                {"achieved": GOOD, "not achieved": SERIES_COLOURS[-1]},
            ),
            "progress",
        )
    page.table(
        [
            {
                "method": one["method"],
                "runs": one["runs"],
                "tasks": one["tasks"],
                "progress score, %": one["progress_score"],
                "of tasks": one["scored_tasks"],
                "resolved, %": one["resolved_rate"],
                "of them": one["judged_tasks"],
            }
            for one in methods
        ],
        "goals",
        about="Progress and resolution by method, means over tasks",
    )


def share_of_outcomes(found: dict[str, float]) -> dict[str, float]:
    """Shares that add up to 1: what is unavailable is told by what is there, where known."""
    shares = {name: value for name, value in found.items() if name != "unavailable"}
    told = sum(value for name, value in shares.items() if name.startswith("unavailable"))
    rest = (found.get("unavailable") or 0.0) - told
    if rest > 1e-9:
        shares["unavailable: not told which"] = rest
    return shares


def _outcomes(page: Page, methods: list[dict[str, Any]]) -> None:
    page.heading("Do related results agree?")
    rows = [
        (one, kind, one["outcomes"][kind])
        for one in methods
        for kind in KINDS
        if any(value is not None for value in (one["outcomes"].get(kind) or {}).values())
    ]
    if not rows:
        page.empty("no relation between results was checked")
        return
    wholes = [
        Whole(followed(named(one["method"]), f", {KINDS[kind]}"), share_of_outcomes(found), {})
        for one, kind, found in rows
    ]
    page.figure(
        share_bars(
            "Outcomes of relations: share of objects, mean over tasks",
            wholes,
            {
                name: colour
                for name, colour in OUTCOMES.items()
                if any(whole.shares.get(name) for whole in wholes)
            },
        ),
        "outcomes",
    )
    page.table(
        [
            {
                "method": one["method"],
                "relations": KINDS[kind],
                "tasks": one["relation_tasks"][kind],
                "checks": one["relation_checks"][kind],
                "objects": one["relation_items"][kind],
                **{name: found.get(name) for name in HANDLED},
                **{
                    name.removeprefix("unavailable: "): found.get(name)
                    for name in list(OUTCOMES)[2:5]
                },
            }
            for one, kind, found in rows
        ],
        "outcomes",
        about="Shares of objects by outcome, method and kind of relation",
        bars=("satisfied", "inconsistent", "unavailable", "unassessable"),
        hidden=("upstream only", "downstream only", "neither"),
    )


def _handling(page: Page, methods: list[dict[str, Any]]) -> None:
    rows = [
        {
            "method": one["method"],
            "relations": KINDS[kind],
            "handled by": how,
            **{name: counts.get(name, 0) for name in HANDLED},
        }
        for one in methods
        for kind in KINDS
        for how, counts in (one["handling"].get(kind) or {}).items()
    ]
    if rows:
        page.heading("Who made the two sides")
        page.table(rows, "handling", about="Objects by who made the two sides and by outcome")


def _history(page: Page, document: dict[str, Any]) -> None:
    rows = [
        {
            "run": row["run"],
            "method": row["method"],
            "task": row["task"],
            "relation": check["check"],
            **{name: check["history"][name] for name in CHANGED},
        }
        for row in document["rows"]
        for check in row["checks"]
        if check["history"] is not None
    ]
    if rows:
        page.heading("First against final")
        page.soft(
            "Inconsistent objects when both results were there for the first time, and at the "
            "end."
        )
        page.table(
            rows,
            "history",
            about="Inconsistent objects at the first comparable state and at the end",
            labels={"items": "objects"},
        )


def _runs(page: Page, document: dict[str, Any]) -> None:
    page.heading("Checked runs")
    rows = document["rows"]
    if document["runs"] > document["runs_shown"]:
        page.soft(f"The first {document['runs_shown']:,} of {document['runs']:,}.")
    page.table(
        [
            {
                "run": row["run"],
                "method": row["method"],
                "task": row["task"],
                "goals": row["goals"],
                "passed": row["goals_passed"],
                "failed": ", ".join(row["failed_goals"]) or None,
                "preserved": row["preserved"],
                "resolved": row["resolved"],
                "relations": len(row["checks"]),
            }
            for row in rows
        ],
        "runs",
        about="Runs with their goals and relations; pick one to open it",
        on_pick=lambda row: page.go(run=row["run"]),
    )
    run = page.value("run")
    if run is not None and run.startswith("run-"):
        page.link("runs", f"Open {run}", run=run)
    notes(page, (f"{row['run']}: {told}" for row in rows for told in row["missing"]))
