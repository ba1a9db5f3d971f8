"""What ``masgraph trajectories`` prints for people."""

from typing import Any

from app.output import print_table, say

SHOWN_CLAIMS = 20
SHOWN_TIES = 3


def print_methods(document: dict[str, Any], confidence: float) -> None:
    """Prints task scores and gains, and what the proposals cost, a line for each method."""
    interval = f"{confidence * 100:g}% interval"
    methods = document["methods"]
    print_table(
        (
            "method",
            "runs",
            "tasks",
            "task_score",
            interval,
            "collaboration_gain",
            interval,
            "better/tied/worse",
        ),
        [
            (
                one["method"],
                one["runs"],
                one["tasks"],
                one["task_score"]["value"],
                _interval(one["task_score"]),
                *_gain(one, document["baseline"]),
            )
            for one in methods
        ],
        title="Task score and collaboration gain",
    )
    print_table(
        (
            "method",
            "units",
            "aggregation_loss",
            interval,
            "tokens",
            "multiple",
            interval,
            "validity",
            "agreement",
        ),
        [
            (
                one["method"],
                one["units"],
                one["aggregation_loss"]["value"],
                _interval(one["aggregation_loss"]),
                one["token_cost"]["value"],
                None if one["token_multiple"] is None else one["token_multiple"]["value"],
                _interval(one["token_multiple"]),
                one["output_validity"]["value"],
                one["final_proposal_agreement"]["value"],
            )
            for one in methods
        ],
        title="Proposals and cost, by evaluation unit",
    )


def _gain(method: dict[str, Any], baseline: str | None) -> tuple[Any, str | None, str | None]:
    gain = method["collaboration_gain"]
    if gain is None or baseline in (method["method"], method["method_id"]):
        return None, None, None
    if not gain["tasks"]:
        return None, None, None
    signs = "/".join(str(gain[name]) for name in ("better", "tied", "worse"))
    return gain["value"], _interval(gain), signs


def _interval(measure: dict[str, Any] | None) -> str | None:
    if measure is None or measure["low"] is None:
        return None
    # Sums of fractions differ from 0 by rounding.
    low, high = (0.0 if abs(measure[end]) < 1e-12 else measure[end] for end in ("low", "high"))
    return f"{low:.4g} to {high:.4g}"


def print_labels(document: dict[str, Any]) -> None:
    """Prints what became of proposals: the shares of labels, by method."""
    for name, title in (
        ("gain_against_best", "Answers against the best initial proposal, share of units"),
        ("refinement_of_strong", "Final proposals of strong proposers, share"),
        ("refinement_of_weak", "Final proposals of weak proposers, share"),
    ):
        counted = [one for one in document["methods"] if one[name]["known"]]
        if not counted:
            continue
        labels = [
            label
            for label in counted[0][name]["labels"]
            if label != "UnratedKeep"
            or any(one[name]["labels"][label]["count"] for one in counted)
        ]
        print_table(
            ("method", "known", "unknown", *labels),
            [
                (
                    one["method"],
                    one[name]["known"],
                    one[name]["unknown"],
                    *(one[name]["labels"][label]["share"] for label in labels),
                )
                for one in counted
            ],
            title=title,
            spell_columns=False,
        )


def print_claims(document: dict[str, Any]) -> None:
    """Prints the claims that stand out, the first runs."""
    claims = document["claims"]
    if not claims:
        return
    print_table(
        ("run", "unit", "claims", "top endorsed", "by", "top challenged", "by"),
        [
            (
                one["name"],
                one["unit"],
                one["claims"],
                _claims(one["top_endorsed"]),
                max((c["endorsements"] for c in one["top_endorsed"]), default=None),
                _claims(one["top_challenged"]),
                max((c["challenges"] for c in one["top_challenged"]), default=None),
            )
            for one in claims[:SHOWN_CLAIMS]
        ],
        title="Claims",
    )


def _claims(claims: list[dict[str, Any]]) -> str | None:
    shown = ", ".join(one["id"] for one in claims[:SHOWN_TIES])
    more = len(claims) - SHOWN_TIES
    return f"{shown} and {more} more" if more > 0 else shown or None


def print_by_run(runs: list[dict[str, Any]]) -> None:
    """Prints a line for each run, by task, method and name: ids are in no order for people."""
    print_table(
        (
            "run",
            "task",
            "method",
            "units",
            "task_score",
            "best_initial",
            "answer",
            "gain",
            "aggregation_loss",
            "agreement",
            "tokens",
        ),
        [
            (
                one["name"],
                one["task"],
                one["method"],
                one["units"],
                one["task_score"],
                one["best_initial"],
                one["answer_score"],
                _counts(one["gain_against_best"]),
                one["aggregation_loss"],
                one["final_proposal_agreement"],
                one["tokens"],
            )
            for one in sorted(
                runs, key=lambda one: (one["task"], one["method"] or "", one["name"])
            )
        ],
        title="Means over the units of a run",
    )


def _counts(labels: dict[str, int]) -> str | None:
    if len(labels) == 1:
        return next(iter(labels))
    return ", ".join(f"{count} {label}" for label, count in labels.items()) or None


def say_notes(document: dict[str, Any]) -> None:
    """Says what can be concluded, and what is missing."""
    for one in document["methods"]:
        gain = one["collaboration_gain"]
        if gain is not None and document["baseline"] not in (one["method"], one["method_id"]):
            say(gain["conclusion"])
    for note in document["notes"]:
        say(note)
    for one in document["methods"]:
        for note in one["notes"]:
            say(f"{one['method'] or 'unknown method'}: {note}")
    more = document["claim_units"] - SHOWN_CLAIMS
    if more > 0:
        say(f"{more:,} more units have claims: --json names more of them.")
    say(f"Configuration {document['configuration_hash']}.")
