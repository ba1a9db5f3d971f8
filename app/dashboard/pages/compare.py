"""Compare: methods on their common tasks, and two runs as an aligned diff."""

from typing import Any

import streamlit as st

from app.dashboard import charts, connection
from app.dashboard.diff import DRAWN_ROWS, diff_figure, who
from app.dashboard.intervals import Estimate, intervals
from app.dashboard.page import Page
from app.dashboard.pages.stored import (
    PAIR_COLUMNS,
    choice_form,
    chosen_report,
    followed,
    notes,
    rows_of,
)
from app.dashboard.settings import READ_ACTIONS
from app.dashboard.text import one_line
from app.output import show as shown

PARTS = ("Methods", "Two runs")
DOWNLOADED_COLUMNS = (
    "sign_test",
    "randomization_test",
    "only_first",
    "only_second",
    "unscored",
)
DIRECTIONS = {"success": True, "score": True, "tokens": False, "latency": False, "cost": False}
ALIGNED_ACTIONS = 2_000
"""Actions of a run up to which a page aligns it: more take the command's time."""


def show(page: Page) -> None:
    """Shows stored comparisons of methods, or two runs."""
    if page.tabs("What to compare", PARTS, "part") == PARTS[0]:
        _methods(page)
    else:
        _runs(page)


def _methods(page: Page) -> None:
    report = chosen_report(
        page,
        "comparison",
        empty="no methods have been compared in this store yet: run the command, which "
        "compares all methods on the tasks that they share",
        command="masgraph compare",
        label="Comparison",
    )
    if report is None:
        return
    document = report.document
    _panel(page, document)
    _differences(page, document)
    _pareto(page, document)
    _cautions(page, document)


def _cautions(page: Page, document: dict[str, Any]) -> None:
    page.heading("What this cannot show")
    against = [one["reason"] for one in document["cautions"] if not one["comparable"]]
    for reason in against[:5]:
        page.warn(f"not to be compared: {reason}")
    reasons = against[5:]
    reasons += [one["reason"] for one in document["cautions"] if one["comparable"]]
    reasons += [
        f"{len(runs):,} runs were left out: {reason}."
        for reason, runs in document["left_out"].items()
    ]
    notes(page, reasons)
    if not against and not reasons:
        page.soft("Nothing was found that speaks against the comparison.")


def _panel(page: Page, document: dict[str, Any]) -> None:
    from analytics.uncertainty import CODE_MEANINGS

    page.heading("The methods")
    front = set(document["pareto"]["front"])
    unknown = set(document["pareto"]["left_out"])
    # The pairs tell the metrics in the order in which they were asked for.
    metrics = dict.fromkeys(pair["metric"] for pair in document["pairs"])
    metrics |= dict.fromkeys(name for one in document["methods"] for name in one["means"])
    page.table(
        [
            {
                "method": one["method"],
                "runs": one["runs"],
                "tasks": one["tasks"],
                "success rate, %": one["success_rate"],
                "uncertainty, %": one["success_rate_uncertainty"],
                "uncertainty is": (
                    CODE_MEANINGS[one["uncertainty_code"]].uncertainty
                    if one["uncertainty_code"]
                    else None
                ),
                "on the front": None if one["method"] in unknown else one["method"] in front,
                **{name: one["means"].get(name) for name in metrics if name != "success"},
            }
            for one in document["methods"]
        ],
        "methods",
        about="Each method by itself: means over its tasks",
    )


def _differences(page: Page, document: dict[str, Any]) -> None:
    pairs = document["pairs"]
    if not pairs:
        page.empty("no two of these methods share a task on which both have a value")
        return
    page.heading("Differences on common tasks")
    metrics = list(dict.fromkeys(pair["metric"] for pair in pairs))
    metric = page.choose("Metric", metrics, "metric", any=None) or metrics[0]
    found = [pair for pair in pairs if pair["metric"] == metric]
    chance = 1.0 - document["configuration"]["bootstrap"]["confidence"]
    rows = [
        Estimate(
            followed(pair["first"], f" - {one_line(pair['second'], 18)}"),
            pair["difference"],
            pair["low"],
            pair["high"],
            pair["conclusion"],
            DIRECTIONS.get(metric),
            pair["adjusted"] is None or pair["adjusted"] <= chance,
        )
        for pair in found
        if pair["difference"] is not None
    ]
    if rows:
        page.figure(
            intervals(
                f"Mean difference in {metric.replace('_', ' ')}, first minus second",
                rows,
                x_title=f"difference in {metric.replace('_', ' ')}",
            ),
            "differences",
        )
        page.soft(
            "Grey: the interval holds 0, or the difference does not hold after correction for "
            "all pairs and metrics."
        )
    page.table(
        rows_of(found, (*PAIR_COLUMNS, *DOWNLOADED_COLUMNS)),
        "pairs",
        about=f"Differences in {metric} between pairs of methods",
        labels={"adjusted": "p, corrected"},
        hidden=("sign_test", "randomization_test", "only_first", "only_second", "unscored"),
    )
    notes(page, (pair["conclusion"] for pair in found))


def _pareto(page: Page, document: dict[str, Any]) -> None:
    found = document["pareto"]
    known = [
        point
        for point in found["points"]
        if point["score"] is not None and point["tokens"] is not None
    ]
    page.heading("Score and tokens")
    if not known:
        page.empty("no method has both a score and tokens on the tasks that all share")
        return
    front = set(found["front"])
    series = [
        (
            name,
            [
                (point["tokens"], point["score"], _point(point, found))
                for point in known
                if (point["name"] in front) == on_front
            ],
        )
        for name, on_front in (("on the front", True), ("dominated", False))
    ]
    page.figure(
        charts.points(
            "What a method reaches, and the tokens that it uses",
            [one for one in series if one[1]],
            x_title="tokens a task",
            y_title=found["score"] or "score",
            labels=_names(known),
        ),
        "front",
    )
    page.table(
        [
            {
                "method": point["name"],
                found["score"] or "score": point["score"],
                "tokens": point["tokens"],
                "dominated by": ", ".join(found["dominated_by"].get(point["name"], [])) or None,
            }
            for point in found["points"]
        ],
        "front",
        about="Score and tokens of each method",
    )


def _names(points: list[dict[str, Any]]) -> dict[tuple[float, float], str]:
    """Names by place; methods at one place share a label."""
    names: dict[tuple[float, float], str] = {}
    for point in points:
        place = (point["tokens"], point["score"])
        names[place] = f"{names[place]}, {point['name']}" if place in names else point["name"]
    return names


def _point(point: dict[str, Any], found: dict[str, Any]) -> str:
    words = f"{point['name']}: {shown(point['score'])} with {shown(point['tokens'])} tokens"
    better = found["dominated_by"].get(point["name"])
    return words if not better else f"{words}; dominated by {', '.join(better)}"


def _runs(page: Page) -> None:
    columns = st.columns(2)
    with columns[0]:
        one = page.search("First run (id)", "one", hint="run-...")
    with columns[1]:
        other = page.search("Second run (id)", "other", hint="run-...")
    if one is None or other is None:
        _choose_runs(page, one or other)
        return
    for run in (one, other):
        size = page.ask("size-of-a-graph", graph=run).rows
        if size and (size[0][1] or 0) > min(ALIGNED_ACTIONS, READ_ACTIONS):
            page.say(
                f"{run} has more than {ALIGNED_ACTIONS:,} actions: the command aligns it",
                command=f"masgraph compare {one} {other}",
            )
            return
    from analytics.run_diff import run_diff

    first, second = page.graph(one), page.graph(other)
    diff = run_diff(first, second)
    page.tiles(
        {
            "similarity": shown(diff.alignment.similarity),
            "matched: same label and edges": diff.count("matched"),
            "rewired: other edges": diff.count("rewired"),
            "relabelled: another label": diff.count("relabelled"),
            "extra: only in the first run": diff.count("extra"),
            "missing: only in the second run": diff.count("missing"),
        }
    )
    page.text(diff.conclusion)
    page.link("runs", "Open the first run", run=one, action=diff.alignment.first_divergence)
    page.link("runs", "Open the second run", run=other)
    page.figure(diff_figure(diff, first, second), "diff")
    page.soft("The colour at the left of an action is its role's. Point at a row to read it.")
    if len(diff.rows) > DRAWN_ROWS:
        page.say(f"the drawing holds the first {DRAWN_ROWS} rows; the table has all")
    page.table(
        [
            {
                "kind": row.kind,
                "first": who(first, row.one),
                "second": who(second, row.other),
                "says": None if row.one is None else one_line(first.nodes[row.one].content),
                "says there": (
                    None if row.other is None else one_line(second.nodes[row.other].content)
                ),
                "other words": row.reworded,
            }
            for row in diff.rows
        ],
        "diff",
        about="Each action of the first run beside its counterpart in the second",
    )


def _choose_runs(page: Page, chosen: str | None) -> None:
    task = page.value("task")
    if chosen is not None:
        task = page.graph(chosen).task.id
    if task is None:
        _choose_task(page)
        return
    runs = page.ask("runs-of-a-task", task=task)
    names = {
        f"{row['run']} ({row['method'] or 'no method'}, {_ended(row['success'])})": row["run"]
        for row in runs.records()
    }
    if len(names) < 2:
        page.empty("this task has no second run: give the id of a run of another task")
        return
    listed = list(names)
    first = next((place for place, name in enumerate(listed) if names[name] == chosen), 0)

    def compare() -> None:
        for name in ("one", "other"):
            st.session_state[name] = names[st.session_state[f"chosen-{name}"]]

    with st.form("two", border=False):
        st.selectbox("First", listed, index=first, key="chosen-one")
        st.selectbox("Second", listed, index=0 if first else 1, key="chosen-other")
        st.form_submit_button("Compare", on_click=compare)


def _choose_task(page: Page) -> None:
    document = connection.overview().document
    if document is None:
        page.empty(
            "give the ids of two runs, which the page Runs shows; to choose them by task, the "
            "overview has to be computed",
            command="masgraph overview",
        )
        return
    found = [row for row in document["tasks"] if row["runs"] > 1]
    if not found:
        page.empty(
            "no task in this store has two runs: two runs can be compared by their ids, which "
            "the page Runs shows"
        )
        return
    page.soft("Tasks with several runs. Pick one to choose two of its runs.")
    page.table(
        found,
        "tasks",
        about="Tasks with several runs; pick one to choose two of its runs",
        hidden=("task_id",),
        on_pick=lambda row: page.go(task=row["task_id"]),
    )
    choice_form(
        "Task",
        "Choose runs",
        {f"{row['task']} ({row['runs']:,} runs)": row["task_id"] for row in found},
        "task",
        lambda task: page.go(task=task),
    )


def _ended(success: bool | None) -> str:
    return "unknown" if success is None else "succeeded" if success else "failed"
