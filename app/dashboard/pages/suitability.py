"""Suitability: tasks that are deep, wide and better done by a team."""

from typing import Any

from app.dashboard import charts
from app.dashboard.page import Page
from app.dashboard.pages.stored import choice_form, chosen_report
from app.output import show as shown

COLUMNS = (
    "task",
    "dataset",
    "category",
    "suitable",
    "depth",
    "width",
    "team_success",
    "single_success",
    "gain",
    "misses",
    "not_known",
    "team_runs",
    "single_runs",
    "task_id",
)
NAMES = {True: "suitable", False: "not suitable", None: "not known"}


def show(page: Page) -> None:
    """Shows a stored report on the suitability of tasks."""
    report = chosen_report(
        page,
        "suitability",
        empty="no tasks have been told apart by depth, width and what a team gains on them",
        command="masgraph suitability",
        name="suitability",
    )
    if report is None:
        return
    document = report.document
    tasks = document["tasks"]
    asked = document["configuration"]
    page.tiles(
        {
            "suitable": f"{document['suitable']:,}",
            "not suitable": f"{document['unsuitable']:,}",
            "not known": f"{document['not_known']:,}",
            **{
                f"{name} at least": "any" if asked[name] is None else shown(asked[name])
                for name in ("depth", "width", "gain")
            },
        }
    )
    failed = [f"{count:,} miss {name}" for name, count in _sorted(document["failed"])]
    lacking = [f"{count:,} lack {name}" for name, count in _sorted(document["unknown"])]
    if failed or lacking:
        page.soft(f"Of {len(tasks):,} tasks, {', '.join([*failed, *lacking])}.")
    if document["tasks_left_out"]:
        page.say(f"{document['tasks_left_out']:,} more tasks are not in the report")
    _draw(page, tasks)
    page.table(
        [
            {
                **{name: one.get(name) for name in COLUMNS},
                "misses": ", ".join(one["failed"]) or None,
                "not_known": ", ".join(one["unknown"]) or None,
            }
            for one in tasks
        ],
        "tasks",
        about="Tasks with depth, width and gain; pick one to compare two of its runs",
        hidden=("task_id",),
        on_pick=lambda row: page.go(task=row["task_id"]),
    )
    choice_form(
        "Task",
        "Choose",
        {_title(one): one["task_id"] for one in tasks},
        "task",
        lambda task: page.go(task=task),
    )
    task = page.value("task")
    if task is not None:
        told = next((one["task"] for one in tasks if one["task_id"] == task), task)
        page.link("compare", f"Compare two runs of {told}", part="Two runs", task=task)


def _title(task: dict[str, Any]) -> str:
    return task["task"] if task["dataset"] is None else f"{task['task']} ({task['dataset']})"


def _draw(page: Page, tasks: list[dict[str, Any]]) -> None:
    series = []
    for suitable, name in NAMES.items():
        points = [
            (
                one["depth"],
                one["gain"],
                f"{one['task']}: depth {shown(one['depth'])}, width {shown(one['width'])}, "
                f"gain {shown(one['gain'])}; {name}",
            )
            for one in tasks
            if one["suitable"] is suitable
            and one["depth"] is not None
            and one["gain"] is not None
        ]
        if points:
            series.append((name, points))
    if not series:
        page.empty(
            "no task has both a depth and a gain: it takes runs of a team and of one agent "
            "alone that say how they ended"
        )
        return
    page.figure(
        charts.points(
            "Tasks by the depth of team runs and what a team gains",
            series,
            x_title="median depth, in actions",
            y_title="gain",
        ),
        "tasks",
    )


def _sorted(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(
        (item for item in counts.items() if item[1]), key=lambda one: (-one[1], one[0])
    )
