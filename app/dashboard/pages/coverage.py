"""Coverage of held-out tasks: how far a library carries."""

from typing import Any

from app.dashboard import charts, connection
from app.dashboard.page import Page
from app.output import show as shown

TITLES = {"patterns": "local patterns", "rules": "connecting rules"}


def show(page: Page) -> None:
    """Shows the stored reports of coverage, one at a time."""
    heads = connection.report_heads("coverage")
    if not heads:
        page.empty(
            "no coverage of held-out tasks has been measured for this store",
            command="masgraph coverage",
        )
        return
    titles = {f"{head.name} ({head.report[-6:]})": head.report for head in heads}
    chosen = page.choose("Report", list(titles), "report", any=None)
    document = connection.report(titles[chosen or next(iter(titles))]).document
    curve: list[dict[str, Any]] = document.get("curve") or []
    if not curve:
        page.empty("this report holds no curve")
        return
    series = []
    for measure, title in TITLES.items():
        points = [
            (
                float(one["size"]),
                100 * one["mean"],
                f"{title}, {one['size']:,} tasks mined: {one['mean']:.1%}",
            )
            for one in curve
            if one["measure"] == measure and one["mean"] is not None
        ]
        if points:
            series.append((title, points))
    if series:
        page.figure(
            charts.points(
                "Coverage of held-out tasks by mining size",
                series,
                x_title="tasks mined",
                y_title="covered, %",
                joined=True,
            ),
            "coverage",
        )
    page.table(
        [
            {
                "covered": TITLES.get(one["measure"], one["measure"]),
                "tasks mined": one["size"],
                "mean": one["mean"],
                "least": one.get("low"),
                "greatest": one.get("high"),
                "interval": _interval(one.get("interval")),
                "libraries": one.get("libraries"),
            }
            for one in curve
        ],
        "curve",
        about="Coverage of held-out tasks by mining size",
        bars=("mean",),
    )
    collections = document.get("collections") or []
    if collections:
        page.heading("By collection")
        page.table(collections, "collections", about="Coverage by collection of tasks")


def _interval(found: list[float] | None) -> str | None:
    return None if found is None else f"{shown(found[0])} to {shown(found[1])}"
