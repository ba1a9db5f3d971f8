"""Proposals: what teams gained, what became of proposals, and what is claimed."""

from typing import Any

from app.dashboard.drawing import BAD, GOOD, MARK, SERIES_COLOURS
from app.dashboard.flow import Stream, flow_figure
from app.dashboard.intervals import Estimate, intervals
from app.dashboard.page import Page
from app.dashboard.pages.stored import chosen_report, followed, named, notes
from app.dashboard.shares import Whole, share_bars

COMMAND = "masgraph trajectories --baseline METHOD --maximum-score SCORE"
GAIN_COLOURS = {
    "Improve": GOOD,
    "OptKeep": SERIES_COLOURS[0],
    "SubKeep": MARK,
    "UnratedKeep": SERIES_COLOURS[-1],
    "Regress": BAD,
}
WEAK_COLOURS = {
    "Surpass": GOOD,
    "Reach": SERIES_COLOURS[0],
    "Partial": SERIES_COLOURS[6],
    "Keep": MARK,
    "Degrade": BAD,
}
GAIN_MEANINGS = {
    "Improve": "better than the best initial proposal",
    "OptKeep": "as good as it, and nothing could be better",
    "SubKeep": "as good as it, though something could be better",
    "UnratedKeep": "as good as it; the largest possible score is not known",
    "Regress": "worse than it",
}
WEAK_MEANINGS = {
    "Surpass": "better than the best initial proposal of the team",
    "Reach": "as good as it",
    "Partial": "better than before, not as good as the best",
    "Keep": "as good as before",
    "Degrade": "worse than before",
}
MEASURES: dict[str, tuple[str, bool | None]] = {
    "collaboration gain": ("collaboration_gain", True),
    "task score": ("task_score", None),
    "aggregation loss": ("aggregation_loss", False),
    "tokens a unit": ("token_cost", None),
    "tokens over the baseline's": ("token_multiple", None),
    "output validity": ("output_validity", None),
    "agreement of final proposals": ("final_proposal_agreement", None),
}
"""Field of the document, and whether more is better where 0 is a limit that means something."""


def show(page: Page) -> None:
    """Shows a stored report on proposal trajectories."""
    report = chosen_report(
        page,
        "trajectories",
        empty="no proposals have been followed yet: it takes runs that record them, and scores",
        command=COMMAND,
        name="proposals",
    )
    if report is None:
        return
    document = report.document
    methods = _methods(document)
    page.tiles(
        {
            "runs": f"{document['runs']:,}",
            "tasks": f"{document['tasks']:,}",
            "units": f"{document['units']:,}",
            "baseline": document["baseline"] or "none",
            "scorer": document["scorer"] or "the trace's",
        }
    )
    notes(page, document["notes"])
    _intervals(page, methods)
    _gain(page, methods)
    _refinement(page, methods)
    _claims(page, document)
    about = [f"{one['name']}: {note}" for one in methods for note in one["notes"]]
    if about:
        page.heading("What is not known")
        notes(page, about)


def _methods(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The methods with names that differ; the baseline has no gain against itself."""
    found = []
    taken = [one["method"] for one in document["methods"]]
    for one in document["methods"]:
        name, method = named(one["method"]), one["method_id"]
        if taken.count(one["method"]) > 1 and method is not None:
            name += f" ({method[-4:]})"
        is_baseline = document["baseline"] in (one["method"], method)
        gain = None if is_baseline else one["collaboration_gain"]
        found.append({**one, "name": name, "collaboration_gain": gain})
    return found


def _intervals(page: Page, methods: list[dict[str, Any]]) -> None:
    page.heading("By method")
    known = [
        title
        for title, (field, _) in MEASURES.items()
        if any((one[field] or {}).get("value") is not None for one in methods)
    ]
    if not known:
        page.empty("no measure is known of any method: no run has a score or tokens")
        return
    title = page.choose("Measure", known, "measure", any=None) or known[0]
    field, more_is_better = MEASURES[title]
    rows = [(one, one[field]) for one in methods if one[field] is not None]
    page.figure(
        intervals(
            f"{title[:1].upper()}{title[1:]} by method, with its interval",
            [
                Estimate(
                    one["name"],
                    found["value"],
                    found["low"],
                    found["high"],
                    found.get("conclusion") or f"{found['resampled_tasks']} tasks resampled.",
                    more_is_better,
                )
                for one, found in rows
                if found["value"] is not None
            ],
            x_title=title,
        ),
        "measure",
    )
    page.table(
        [_line(one) for one in methods],
        "methods",
        about="Each method: scores, gain against the baseline, tokens",
        hidden=("score low", "score high", "loss low", "loss high"),
    )
    gains = {one["name"]: one["collaboration_gain"] for one in methods}
    known_gains = {name: gain for name, gain in gains.items() if gain and gain["tasks"]}
    notes(page, [gain["conclusion"] for gain in known_gains.values()])
    others = [name for name, gain in gains.items() if gain and name not in known_gains]
    if others:
        page.soft(f"No task in common with the baseline: {', '.join(others)}.")


def _line(one: dict[str, Any]) -> dict[str, Any]:
    gain = one["collaboration_gain"] or {}
    return {
        "method": one["name"],
        "runs": one["runs"],
        "tasks": one["tasks"],
        "units": one["units"],
        "task score": one["task_score"]["value"],
        "score low": one["task_score"]["low"],
        "score high": one["task_score"]["high"],
        "collaboration gain": gain.get("value"),
        "low": gain.get("low"),
        "high": gain.get("high"),
        "better": gain.get("better"),
        "tied": gain.get("tied"),
        "worse": gain.get("worse"),
        "aggregation loss": one["aggregation_loss"]["value"],
        "loss low": one["aggregation_loss"]["low"],
        "loss high": one["aggregation_loss"]["high"],
        "tokens a unit": one["token_cost"]["value"],
        "over the baseline's": (one["token_multiple"] or {}).get("value"),
        "validity": one["output_validity"]["value"],
        "agreement": one["final_proposal_agreement"]["value"],
    }


def _gain(page: Page, methods: list[dict[str, Any]]) -> None:
    page.heading("Answers against the best initial proposal")
    found = [one for one in methods if one["gain_against_best"]["known"]]
    if not found:
        page.empty(
            "no answer could be compared with the best initial proposal: both need scores",
            command="masgraph trajectories --scorer NAME --tasks FILE",
        )
        return
    page.figure(
        share_bars(
            "Gain against best: share of units by method",
            [
                Whole(
                    followed(one["name"], f" ({one['gain_against_best']['known']:,})"),
                    {
                        label: values["share"] or 0.0
                        for label, values in one["gain_against_best"]["labels"].items()
                    },
                    {
                        label: _told(values)
                        for label, values in one["gain_against_best"]["labels"].items()
                    },
                )
                for one in found
            ],
            _used(GAIN_COLOURS, [one["gain_against_best"] for one in found]),
        ),
        "gain",
    )
    page.remarks(_meanings(GAIN_MEANINGS, [one["gain_against_best"] for one in found]))
    page.table(
        [
            {"method": one["name"], **_counts(one["gain_against_best"], GAIN_COLOURS)}
            for one in methods
            if one["gain_against_best"]["known"] or one["gain_against_best"]["unknown"]
        ],
        "gain",
        about="Number of units of each method by gain against best",
    )


def _refinement(page: Page, methods: list[dict[str, Any]]) -> None:
    page.heading("What proposers made of their own proposals")
    found = [
        one
        for one in methods
        if one["refinement_of_strong"]["known"] or one["refinement_of_weak"]["known"]
    ]
    if not found:
        page.empty("no proposer has a known initial and a known final proposal")
        return
    names = [one["name"] for one in found]
    # The method in which most weak proposers stood beside strong ones tells most.
    most = max(found, key=lambda one: one["refinement_of_weak"]["known"])
    chosen = page.choose(
        "Method", sorted(names, key=lambda name: name != most["name"]), "method",
        any=None,
    )  # fmt: skip
    one = found[names.index(chosen)] if chosen in names else most
    strong, weak = one["refinement_of_strong"], one["refinement_of_weak"]
    page.figure(
        flow_figure(
            f"Refinement in {one['name']}: from initial to final proposals",
            [
                Stream(title, {label: v["count"] for label, v in group["labels"].items()})
                for title, group in (("Strong proposers", strong), ("Weak proposers", weak))
            ],
            {**GAIN_COLOURS, **WEAK_COLOURS},
        ),
        "refinement",
    )
    page.remarks(
        [
            "Strong proposers had the best initial proposal of their unit, weak ones a worse "
            "one.",
            *_meanings(GAIN_MEANINGS, [strong], "Of strong proposers, "),
            *_meanings(WEAK_MEANINGS, [weak], "Of weak proposers, "),
        ]
    )
    page.table(
        [
            {
                "method": each["name"],
                "proposers": title,
                **_counts(each[field], {**GAIN_COLOURS, **WEAK_COLOURS}),
            }
            for each in found
            for title, field in (
                ("strong", "refinement_of_strong"),
                ("weak", "refinement_of_weak"),
            )
        ],
        "refinement",
        about="Number of strong and weak proposers of each method by what they made",
    )


def _claims(page: Page, document: dict[str, Any]) -> None:
    claims = document["claims"]
    if not claims:
        return
    page.heading("Claims")
    summaries = [
        {"method": one["method"], **one["claims"]}
        for one in document["methods"]
        if one["claims"] is not None
    ]
    columns = ("method", "runs", "units", "claims", "endorsements", "challenges")
    page.table(
        [{name: row[name] for name in columns} for row in summaries],
        "claims-by-method",
        about="Claims, endorsements and challenges by method",
    )
    if document["claim_units"] > len(claims):
        page.soft(
            f"The first {len(claims):,} of {document['claim_units']:,} units with claims."
        )
    page.table(
        [
            {
                "run": one["run"],
                "name": one["name"],
                "unit": one["unit"],
                "claims": one["claims"],
                "top endorsed": _top(one["top_endorsed"]),
                "by": _most(one["top_endorsed"], "endorsements"),
                "top challenged": _top(one["top_challenged"]),
                "challenged by": _most(one["top_challenged"], "challenges"),
            }
            for one in claims
        ],
        "claims",
        about="Claims that most agents endorse or challenge, by unit; pick one to open its run",
        hidden=("run",),
        on_pick=lambda row: page.go(run=row["run"]),
    )
    run = page.value("run")
    if run is not None:
        page.link("runs", f"Open {run}", run=run)


def _top(claims: list[dict[str, Any]]) -> str | None:
    told = "; ".join(str(one["text"] or one["id"]) for one in claims[:3])
    if len(claims) > 3:
        told += f" and {len(claims) - 3} more"
    return told or None


def _most(claims: list[dict[str, Any]], field: str) -> int | None:
    return max((one[field] for one in claims), default=None)


def _counts(group: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """Counts by label; a label of the other group has none."""
    return {
        "known": group["known"],
        "unknown": group["unknown"],
        **{label: (group["labels"].get(label) or {}).get("count") for label in labels},
    }


def _used(colours: dict[str, str], groups: list[dict[str, Any]]) -> dict[str, str]:
    """The labels that were given, UnratedKeep only where it was."""
    return {
        label: colour
        for label, colour in colours.items()
        if label != "UnratedKeep" or any(one["labels"][label]["count"] for one in groups)
    }


def _told(values: dict[str, Any]) -> str:
    if values["low"] is None:
        return f"{values['count']:,}"
    return f"{values['count']:,}; interval {values['low']:.1%} to {values['high']:.1%}"


def _meanings(
    meanings: dict[str, str], groups: list[dict[str, Any]], group: str = ""
) -> list[str]:
    """What the labels that were given mean, in a sentence."""
    told = [
        f"{label}: {meaning}"
        for label, meaning in meanings.items()
        if any(one["labels"][label]["count"] for one in groups)
    ]
    return [f"{group}{'; '.join(told)}."] if told else []
