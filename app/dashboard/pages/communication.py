"""Communication: tokens of messages, what a round adds, and factors that settings differ in."""

from typing import Any

from app.dashboard import charts
from app.dashboard.curves import Curve, Panel, Spot, panels
from app.dashboard.intervals import Estimate, intervals
from app.dashboard.page import Page
from app.dashboard.pages.stored import PAIR_COLUMNS, chosen_report, followed, notes, rows_of
from app.dashboard.text import one_line
from app.output import show as shown
from app.shown_columns import ROUND_COLUMNS

MEASURES = {
    "score": "score",
    "transmitted_tokens": "transmitted tokens",
    "message_phase_tokens": "tokens of the message phase",
    "score_per_thousand": "score per 1,000 transmitted tokens",
    "score_per_thousand_phase": "score per 1,000 tokens of the phase",
    "contribution_entropy": "contribution entropy",
}
LOWER_IS_BETTER = ("transmitted_tokens", "message_phase_tokens")


def show(page: Page) -> None:
    """Shows a stored report on messages."""
    report = chosen_report(
        page,
        "communication",
        empty="no messages of this store have been measured",
        command="masgraph communication",
        name="communication",
    )
    if report is None:
        return
    document = report.document
    _groups(page, document)
    _rounds(page, document)
    _factors(page, document)
    if document["missing"]:
        page.heading("What is not known")
        ordered = sorted(document["missing"].items(), key=lambda one: (-one[1], one[0]))
        notes(
            page,
            (f"{count:,} of {document['runs']:,} runs: {told}" for told, count in ordered),
        )


def _name(group: dict[str, Any], by: list[str]) -> str:
    """The values that a group has in common."""
    if by == ["method"]:
        return group["method"] or "no method"
    return ", ".join(f"{name} {group[name] or 'not recorded'}" for name in by)


def _groups(page: Page, document: dict[str, Any]) -> None:
    by, groups = document["by"], document["groups"]
    page.heading(f"By {' and '.join(by)}")
    known = {
        title: name
        for name, title in MEASURES.items()
        if any(one["means"][name] is not None for one in groups)
    }
    if not known:
        page.empty("no measure is known of any run: its messages have no tokens and no score")
        return
    title = page.choose("Measure", list(known), "message-measure", any=None) or next(
        iter(known)
    )
    page.figure(
        charts.bars(
            f"Mean {title}",
            [(_name(one["group"], by), one["means"][known[title]]) for one in groups],
        ),
        "groups",
    )
    page.table(
        [
            {
                **{name: one["group"][name] for name in by},
                "runs": one["runs"],
                "tasks": one["tasks"],
                **{MEASURES[name]: one["means"][name] for name in MEASURES},
            }
            for one in groups
        ],
        "groups",
        about="Means over the tasks that have a value",
    )


def _rounds(page: Page, document: dict[str, Any]) -> None:
    by = document["by"]
    groups = [one for one in document["groups"] if one["rounds"]]
    if not groups:
        return
    page.heading("Round by round")
    drawn = []
    for title, field in (("score so far", "score"), ("tokens of a message", "mean_tokens")):
        curves = [
            Curve(
                _name(one["group"], by),
                tuple(
                    Spot(
                        each["round"],
                        each[field],
                        words=f"{shown(each[field])} in round {each['round']}, "
                        f"{each['runs']:,} runs, {each['messages']:,} messages",
                    )
                    for each in one["rounds"]
                    if each[field] is not None
                ),
            )
            for one in groups
        ]
        curves = [curve for curve in curves if curve.spots]
        if curves:
            drawn.append((title, field, Panel("", tuple(curves), "round")))
    for title, field, panel in drawn:
        page.figure(
            panels(f"{title[:1].upper()}{title[1:]}, by round", [panel], columns=1),
            f"rounds-{field.replace('_', '-')}",
        )
    page.table(
        [
            {
                **{name: one["group"][name] for name in by},
                "round": each["round"],
                **{name: each[name] for name in (*ROUND_COLUMNS, "deviation_characters")},
            }
            for one in groups
            for each in one["rounds"]
        ],
        "rounds",
        about="Score so far and length of messages, by round",
    )
    if any(one["rounds_shown"] < len(one["rounds"]) for one in groups):
        page.soft("Later rounds are not in the report; the command with --json lists all.")


def _factors(page: Page, document: dict[str, Any]) -> None:
    page.heading("Factors")
    unrecorded = [name for name, counts in document["levels"].items() if not counts]
    if not document["factors"]:
        page.empty(
            "no factor can be compared: it takes runs that record two levels of one factor "
            f"({', '.join(document['levels'])}) while the others stay as they are"
        )
        return
    measure = document["measure"]
    for place, factor in enumerate(document["factors"]):
        others = ", ".join(
            f"{name} {level}" for name, level in sorted(factor["others"].items())
        )
        title = f"{factor['factor']}" + (f", with {others}" if others else "")
        pairs = factor["pairs"]
        rows = [
            Estimate(
                followed(pair["first"], f" - {one_line(pair['second'], 18)}"),
                pair["difference"],
                pair["low"],
                pair["high"],
                pair["conclusion"],
                measure not in LOWER_IS_BETTER,
            )
            for pair in pairs
            if pair["difference"] is not None
        ]
        if rows:
            page.figure(
                intervals(
                    f"{title}: difference in {MEASURES[measure]}, first minus second",
                    rows,
                    x_title=MEASURES[measure],
                ),
                f"factor-{place}",
            )
        page.table(
            rows_of(pairs, PAIR_COLUMNS),
            f"factor-{place}",
            about=f"Pairs of levels of {title}",
            labels={"adjusted": "p, corrected"},
        )
        notes(page, (pair["conclusion"] for pair in pairs))
    if unrecorded:
        page.soft(f"No run records {', '.join(unrecorded)}.")
