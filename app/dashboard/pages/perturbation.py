"""Perturbation: which measure notices which edit, as curves."""

from typing import Any

from app.dashboard.curves import Curve, Panel, Spot, panels
from app.dashboard.page import Page
from app.dashboard.pages.stored import chosen_report, notes
from app.output import show as shown

MEASURES = "all measures, by edit"
METRICS = "all metrics, by edit"
VERDICTS = {
    "falls": "falls: its interval lies below 0",
    "rises": "rises: its interval lies above 0",
    "flat": "flat: nothing moves",
    "unclear": "unclear: the interval holds 0",
}


def show(page: Page) -> None:
    """Shows a stored study of controlled edits."""
    report = chosen_report(
        page,
        "perturbation",
        empty="no graphs of this store have been edited to see which measure notices it",
        command="masgraph perturb",
        name="perturbation",
    )
    if report is None:
        return
    document = report.document
    page.tiles(
        {
            "graphs": f"{document['graphs']:,}",
            "tasks": f"{document['tasks']:,}",
            "edits of each": document["configuration"]["repeats"],
            "resampled": f"{document['resampled']}s",
        }
    )
    notes(page, document["notes"])
    responses = document["responses"]
    quantities = list(dict.fromkeys(one["quantity"] for one in responses))
    kinds = {one["kind"] for one in responses}
    views = [
        *([MEASURES] if "measure" in kinds else []),
        *([METRICS] if "metric" in kinds else []),
    ]
    titles = {name.replace("_", " "): name for name in quantities}
    page.heading("Response curves")
    options = [*views, *titles]
    chosen = page.choose("Curves", options, "curves", any=None) or options[0]
    _draw(page, responses, chosen, titles.get(chosen))
    _table(page, responses)


def _draw(
    page: Page, responses: list[dict[str, Any]], chosen: str, quantity: str | None
) -> None:
    if quantity is not None:
        found = [one for one in responses if one["quantity"] == quantity]
        drawn = [
            Panel(one["edit"], (_curve(chosen, one),), "share edited")
            for one in found
            if _is_known(one)
        ]
        title = f"{chosen[:1].upper()}{chosen[1:]} by edit, with its interval"
    else:
        kind = "measure" if chosen == MEASURES else "metric"
        found = [one for one in responses if one["kind"] == kind]
        # Metrics that count have other scales: they are drawn one by one.
        small = {
            one["quantity"]
            for one in found
            if all(
                0 <= point["value"]["mean"] <= 1
                for other in found
                if other["quantity"] == one["quantity"]
                for point in other["points"]
                if point["value"]["mean"] is not None
            )
        }
        drawn = [
            Panel(
                edit,
                tuple(
                    _curve(one["quantity"].replace("_", " "), one)
                    for one in found
                    if one["edit"] == edit and one["quantity"] in small and _is_known(one)
                ),
                "share edited",
            )
            for edit in dict.fromkeys(one["edit"] for one in found)
        ]
        title = (
            "Similarity to the unedited graph, by edit"
            if kind == "measure"
            else "Metrics of the edited graph, by edit"
        )
        left = {one["quantity"] for one in found} - small
        if left:
            told = ", ".join(sorted(name.replace("_", " ") for name in left))
            page.soft(f"Not between 0 and 1, choose it to see it: {told}.")
    drawn = [panel for panel in drawn if panel.curves]
    if not drawn:
        page.empty("no graph has a value of it")
        return
    page.figure(
        panels(title, drawn, y_range=None if quantity is not None else (0, 1)), "curves"
    )


def _is_known(response: dict[str, Any]) -> bool:
    return any(point["value"]["mean"] is not None for point in response["points"])


def _curve(name: str, response: dict[str, Any]) -> Curve:
    return Curve(
        name,
        tuple(
            Spot(
                point["rate"],
                point["value"]["mean"],
                point["value"]["low"],
                point["value"]["high"],
                f"{shown(point['value']['mean'])} at {point['rate']:.0%}"
                + (f" ({point['changed']:.0%} edited)" if point["changed"] is not None else ""),
            )
            for point in response["points"]
            if point["value"]["mean"] is not None
        ),
    )


def _table(page: Page, responses: list[dict[str, Any]]) -> None:
    page.heading("Change from no edit to the largest share")
    page.table(
        [
            {
                "quantity": one["quantity"],
                "kind": one["kind"],
                "edit": one["edit"],
                "verdict": one["verdict"],
                "steady": one["steady"],
                "change": one["change"]["mean"],
                "low": one["change"]["low"],
                "high": one["change"]["high"],
                "graphs": one["change"]["values"],
                "missing": one["change"]["missing"],
            }
            for one in responses
        ],
        "changes",
        about="How each quantity changes under each edit, with its interval",
    )
    page.soft("; ".join(VERDICTS.values()) + ".")
