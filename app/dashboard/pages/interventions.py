"""Interventions: what scores answered, what structure lets expect, which links were used."""

import re
from typing import TYPE_CHECKING, Any

from app.dashboard import charts
from app.dashboard.curves import Curve, Panel, Spot, panels
from app.dashboard.drawing import ROLE_COLOURS
from app.dashboard.intervals import Estimate, intervals
from app.dashboard.page import Page
from app.dashboard.pages.stored import NAME_LENGTH, chosen_report, followed, named, rows_of
from app.output import show as shown
from app.shown_columns import EFFECT_HEADINGS

if TYPE_CHECKING:
    from app.stored_reports import ReportHead

VIEWS = ("Responses", "Predictions", "Links and roles")
ABOUT = {
    VIEWS[0]: "How scores answered, where runs with and without a change are in the store.",
    VIEWS[1]: "What the structure of teams alone lets one expect of a change.",
    VIEWS[2]: "Who may write to whom, and who did.",
}
RESPONSE_COLUMNS = (
    "method",
    "reference_method",
    "setting",
    "pairs",
    "tasks",
    "reference",
    "modified",
    "response",
    "low",
    "high",
    "retention",
    "better",
    "tied",
    "worse",
    "unrecorded",
    "replaced_links",
    "removed_units",
)
PREDICTED = {
    "setting": "intervention",
    "teams": "teams",
    **EFFECT_HEADINGS,
    "not_possible": "not possible",
}
"""Columns with their headings, as the command prints them."""
FAMILIES = {
    "structure": ("rewired links", "share rewired"),
    "information": ("wrong contents", "share of senders"),
    "execution": ("failing workers", "workers that fail"),
}
QUANTITIES = {
    "output_reachability": "units that reach the output",
    "reachable_pair_fraction": "pairs joined by a path",
    "reached": "units that wrong contents reach",
    "output_reached": "draws in which they reach the output",
}
MOST_PANELS = 12
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?![\w.-])")


def show(page: Page) -> None:
    """Shows stored reports on interventions."""
    view = page.tabs("What to show of interventions", VIEWS, "view")
    page.soft(ABOUT[view])
    if view == VIEWS[0]:
        _responses(page)
    elif view == VIEWS[1]:
        _predictions(page)
    else:
        _execution(page)


def _is_response(head: "ReportHead") -> bool:
    # The two kinds of report have the names that app/intervention_jobs.py gives them.
    return head.name.startswith("respon")


def _responses(page: Page) -> None:
    report = chosen_report(
        page,
        "interventions",
        empty="no responses have been measured: it takes runs that record an intervention, and "
        "runs without one on the same tasks",
        command="masgraph interventions measure",
        name="responses",
        fits=_is_response,
    )
    if report is None:
        return
    document = report.document
    settings = document["settings"]
    page.tiles(
        {
            "reference runs": f"{document['references']:,}",
            "modified runs": f"{document['modified']:,}",
            "left out": f"{document['left_out_runs']:,}",
        }
    )
    known = [one for one in settings if one["response"] is not None]
    if not known:
        page.empty("no modified run has a reference with equal controls; see below why")
    else:
        value = document["configuration"]["value"]
        page.figure(
            intervals(
                f"Response of the {value}: modified less reference",
                [
                    Estimate(
                        _row(one),
                        one["response"],
                        one["low"],
                        one["high"],
                        f"{one['tasks']} tasks: {one['better']} better, {one['tied']} tied, "
                        f"{one['worse']} worse; retention {shown(one['retention'])}%.",
                        True,
                    )
                    for one in known
                ],
                x_title=f"change of the {value}",
            ),
            "responses",
        )
        _levels(page, known)
        retained = [one for one in known if one["retention"] is not None]
        if retained:
            page.figure(
                charts.bars(
                    "Retention: modified in percent of the reference",
                    [(_row(one, 32), one["retention"]) for one in retained],
                    unit="%",
                ),
                "retention",
            )
        page.table(
            rows_of(settings, RESPONSE_COLUMNS),
            "responses",
            about="Reference and modified runs by method and setting",
        )
    _fates(page, settings)
    _left_out(page, document)


def _row(one: dict[str, Any], length: int = NAME_LENGTH) -> str:
    return followed(named(one["method"]), f", {one['setting']}", length)


def level_of(setting: str) -> tuple[str, float] | None:
    """A setting whose one number is a level: its words without it, and the number.

    Args:
        setting: As reports name it, ``information: rate 0.2`` for example.

    Returns:
        None where the setting names no number, or several.
    """
    found = _NUMBER.findall(setting)
    if len(found) != 1:
        return None
    return _NUMBER.sub("…", setting), float(found[0])


def _levels(page: Page, settings: list[dict[str, Any]]) -> None:
    """Curves of settings that differ in one number alone."""
    families: dict[str, dict[str, list[tuple[float, dict[str, Any]]]]] = {}
    for one in settings:
        level = level_of(one["setting"])
        if level is not None:
            methods = families.setdefault(level[0], {})
            methods.setdefault(named(one["method"]), []).append((level[1], one))
    drawn = [
        Panel(
            words,
            tuple(
                Curve(
                    method,
                    tuple(
                        Spot(
                            level,
                            one["response"],
                            one["low"],
                            one["high"],
                            f"{shown(one['response'])} at {shown(level)}, retention "
                            f"{shown(one['retention'])}%",
                        )
                        for level, one in sorted(found, key=lambda each: each[0])
                    ),
                )
                for method, found in methods.items()
                if len(found) > 1
            ),
            "level",
        )
        for words, methods in families.items()
    ]
    drawn = [panel for panel in drawn if panel.curves]
    if drawn:
        page.figure(
            panels("Response by level", drawn[:MOST_PANELS], columns=2, y_range=(0.0, 0.0)),
            "levels",
        )


def _fates(page: Page, settings: list[dict[str, Any]]) -> None:
    names = ("adopted", "corrected", "ignored", "not reached", "unclear")
    rows = [
        {
            "method": one["method"],
            "setting": one["setting"],
            **{name: one["fates"].get(name, 0) for name in names},
        }
        for one in settings
        if one["fates"]
    ]
    if rows:
        page.heading("What became of injected contents")
        page.table(rows, "fates", about="Injected contents by what became of them")


def _left_out(page: Page, document: dict[str, Any]) -> None:
    if not document["left_out"]:
        return
    page.heading("Modified runs that take no part")
    page.table(
        [
            {"run": one["run"], "name": one["name"], "method": one["method"],
             "setting": one["setting"], "because": "; ".join(one["reasons"])}
            for one in document["left_out"]
        ],
        "left-out",
        about="Modified runs without a reference, and why",
    )  # fmt: skip


def _predictions(page: Page) -> None:
    report = chosen_report(
        page,
        "interventions",
        empty="nothing has been predicted: it takes runs that name their organization",
        command="masgraph interventions predict",
        name="predictions",
        fits=lambda head: not _is_response(head),
    )
    if report is None:
        return
    document = report.document
    page.tiles(
        {
            "teams": f"{document['teams']:,}",
            "without an organization": f"{document['without_team']:,}",
            "draws": document["configuration"]["draws"],
        }
    )
    settings = document["settings"]
    drawn = []
    for family, (title, x_title) in FAMILIES.items():
        curves = [
            Curve(
                words,
                tuple(
                    Spot(
                        one["level"],
                        one[field],
                        words=f"{shown(one[field])} after {one['setting']}, "
                        f"{one['teams']} teams",
                    )
                    for one in settings
                    if one["family"] == family
                    and one["level"] is not None
                    and one[field] is not None
                ),
            )
            for field, words in QUANTITIES.items()
        ]
        curves = [curve for curve in curves if curve.spots]
        if curves:
            drawn.append(Panel(title, tuple(curves), x_title))
    if drawn:
        page.figure(panels("What is left, or reached", drawn, y_range=(0, 1)), "predictions")
    page.table(
        rows_of(settings, tuple(PREDICTED)),
        "predictions",
        about="Structure after each intervention, means over draws and teams",
        labels=PREDICTED,
    )
    page.heading("Teams")
    page.table(
        [
            {
                "team": one["name"],
                "units": len(one["units"]),
                "links": one["links"],
                "output": ", ".join(unit["name"] for unit in one["units"] if unit["output"])
                or None,
                "cut points": ", ".join(one["reference"]["articulation_points"]) or None,
                "critical": ", ".join(one["reference"]["critical_units"]) or None,
                "reach the output": one["reference"]["output_reachability"],
                "pairs joined": one["reference"]["reachable_pair_fraction"],
            }
            for one in document["predictions"]
        ],
        "teams",
        about="Teams as they are: units, links, and who cannot be spared",
    )
    if document["teams"] > document["teams_shown"]:
        page.soft(f"The first {document['teams_shown']:,} of {document['teams']:,}.")


def _execution(page: Page) -> None:
    report = chosen_report(
        page,
        "execution",
        empty="nobody has counted yet which links were used",
        command="masgraph interventions links",
        name="links",
    )
    if report is None:
        return
    methods = report.document["methods"]
    sent = [one for one in methods if one["sent"]]
    if sent:
        page.figure(
            charts.stacked(
                "Messages a run, by the sender's role",
                [(named(one["method"]), one["sent"]) for one in sent],
                {
                    role: colour
                    for role, colour in ROLE_COLOURS.items()
                    if any(one["sent"].get(role) for one in sent)
                },
            ),
            "roles",
        )
    page.table(
        rows_of(
            methods,
            (
                *("method", "runs", "tasks", "organizations", "known", "share_used"),
                *("unpermitted_links", "messages"),
            ),
        ),
        "links",
        about="Permitted links that were used, and links that nothing permits",
        labels={
            "known": "runs with an organization",
            "share_used": "permitted links used",
            "unpermitted_links": "links that are not permitted",
            "messages": "messages a run",
        },
        bars=("share_used",),
    )
    page.heading("From role to role")
    page.table(
        [
            {
                "method": one["method"],
                "from": row["source"],
                "to": row["target"],
                "messages a run": row["messages"],
            }
            for one in methods
            for row in sorted(
                one["roles"], key=lambda row: (-row["messages"], row["source"], row["target"])
            )
        ],
        "roles",
        about="Messages a run from role to role, by method",
    )
