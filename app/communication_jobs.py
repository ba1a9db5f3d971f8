"""Communication over a store: measured by method or factor, kept as a report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from app.jobs import Progress, Selection, no_progress, runs_of
from app.stored_reports import save_report
from graphstore.listed import listed
from graphstore.short_view import TableView, counted
from graphstore.store import GraphStore

if TYPE_CHECKING:
    import pandas

    from analytics.communication import CommunicationConfiguration
    from analytics.communication_report import CommunicationReport
    from analytics.communication_summary import CommunicationSummary, Measure
    from analytics.paired_scores import ManyComparisons

SHOWN_ROUNDS = 200
"""Rounds that a stored report holds for each group."""
SHOWN_RUNS = 500
"""Runs that a stored report holds one by one; all are in its means."""
LOWER_IS_BETTER = ("transmitted_tokens", "message_phase_tokens")


@dataclass(frozen=True)
class FactorComparison:
    """The levels of one factor against each other, where all other factors agree.

    Attributes:
        factor: The factor.
        others: The other factors with their levels.
        comparisons: All pairs of levels, corrected for their number.
    """

    factor: str
    others: tuple[tuple[str, str], ...]
    comparisons: "ManyComparisons"

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        rows = []
        for one, adjusted in zip(
            self.comparisons.comparisons, self.comparisons.adjusted, strict=True
        ):
            rows.append(
                {
                    "first": one.first,
                    "second": one.second,
                    "tasks": len(one.tasks),
                    "mean_first": one.mean_first,
                    "mean_second": one.mean_second,
                    "difference": one.interval.estimate,
                    "low": one.interval.low,
                    "high": one.interval.high,
                    "better": one.signs.better,
                    "tied": one.signs.tied,
                    "worse": one.signs.worse,
                    "p": one.randomization_test,
                    "adjusted": adjusted,
                    "conclusion": one.conclusion,
                }
            )
        return {"factor": self.factor, "others": dict(self.others), "pairs": rows}


@dataclass(frozen=True, repr=False)
class CommunicationResult(TableView):
    """What a job found.

    Attributes:
        report: Every run.
        by: What runs were grouped by.
        measure: What levels of factors were compared in.
        groups: Means for each group.
        factors: Comparisons of the levels of factors; empty where no factor has two.
    """

    report: "CommunicationReport"
    by: tuple[str, ...]
    measure: str
    groups: "tuple[CommunicationSummary, ...]"
    factors: tuple[FactorComparison, ...]

    def missing(self) -> dict[str, int]:
        """How many runs lack what, the most frequent first; numbers in sentences left out."""
        found = Counter(_kind(sentence) for row in self.report.rows for sentence in row.missing)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def levels(self) -> dict[str, dict[str, int]]:
        """For each factor, how many runs record which level."""
        found: dict[str, Counter[str]] = {
            name: Counter() for name in self.report.configuration.factors
        }
        for row in self.report.rows:
            for name, level in row.factors:
                found[name][level] += 1
        return {name: dict(sorted(counts.items())) for name, counts in found.items()}

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a group, as :func:`analytics.communication_report.summaries_to_pandas`."""
        from analytics.communication_report import summaries_to_pandas

        return summaries_to_pandas(self.groups)

    def rounds_to_pandas(self) -> "pandas.DataFrame":
        """One line a group and round: what ``curves_to_pandas`` makes of the groups."""
        from analytics.communication_report import curves_to_pandas

        return curves_to_pandas(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        report = self.report.to_dict()
        return {
            "configuration": report["configuration"],
            "configuration_hash": report["configuration_hash"],
            "by": list(self.by),
            "measure": self.measure,
            "groups": [
                {**asdict(one), "group": dict(zip(self.by, one.group, strict=True))}
                for one in self.groups
            ],
            "levels": self.levels(),
            "factors": [one.to_dict() for one in self.factors],
            "missing": self.missing(),
            "rows": report["rows"],
        }

    def _in_short(self) -> str:
        return (
            f"{counted(len(self.report.rows), 'run')} in {counted(len(self.groups), 'group')}"
        )


def communication(
    store: GraphStore,
    configuration: "CommunicationConfiguration | None" = None,
    *,
    by: Sequence[str] | str = ("method",),
    measure: "Measure" = "score",
    within_method: bool = False,
    seed: int = 0,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> CommunicationResult:
    """Measures what the talk of the selected runs cost and brought.

    Args:
        store: Where the runs are.
        configuration: Who talks, what a contribution is, which factors there are.
        by: What runs are grouped by: ``method`` and names of factors.
        measure: What the levels of a factor are compared in.
        within_method: Whether levels are compared only within one method.
        seed: Of the intervals.
        selection: Which runs.
        save: Whether a report is stored.
        progress: Receives the number of runs done.

    Raises:
        UsageError: There is no such measure or factor.
    """
    from analytics.communication import CommunicationConfiguration, measure_communication
    from analytics.communication_report import CommunicationReport

    options = configuration or CommunicationConfiguration()
    by = listed(by)
    chosen = selection or Selection()
    total = store.counts().get("Run", 0)
    rows = []
    for graph in runs_of(store, chosen):
        rows.append(measure_communication(graph, options))
        progress(len(rows), total, "")
    report = CommunicationReport(options, tuple(rows))
    result = CommunicationResult(
        report,
        by,
        measure,
        report.summaries(by),
        _compared(report, measure, within_method, seed),
    )
    if save and rows:
        save_report(
            store,
            "communication",
            f"communication of {len(rows):,} runs by {' and '.join(by)}",
            {
                **asdict(options),
                "by": list(by),
                "measure": measure,
                "within_method": within_method,
                "seed": seed,
            },
            communication_document(result),
            selection=chosen,
            runs=len(rows),
        )
    return result


def communication_document(result: CommunicationResult) -> dict[str, Any]:
    """A result as JSON values, without single messages."""
    document = result.to_dict()
    for group in document["groups"]:
        group["rounds_shown"] = min(len(group["rounds"]), SHOWN_ROUNDS)
        group["rounds"] = group["rounds"][:SHOWN_ROUNDS]
    rows = document["rows"]
    for row in rows:
        del row["lengths"], row["scores"]
    return {
        **document,
        "runs": len(rows),
        "runs_shown": min(len(rows), SHOWN_RUNS),
        "rows": rows[:SHOWN_RUNS],
    }


def _compared(
    report: "CommunicationReport", measure: "Measure", within_method: bool, seed: int
) -> tuple[FactorComparison, ...]:
    from analytics.paired_scores import compare_many
    from analytics.statistics import BootstrapConfiguration

    return tuple(
        FactorComparison(
            factor,
            one.others,
            compare_many(
                one.levels,
                higher_is_better=measure not in LOWER_IS_BETTER,
                configuration=BootstrapConfiguration(seed=seed),
            ),
        )
        for factor in report.configuration.factors
        for one in report.matched_levels(factor, measure, within_method=within_method)
    )


def _kind(sentence: str) -> str:
    """A sentence about one run as one about runs: its counts are taken out."""
    words = sentence.split()
    if len(words) > 2 and words[0].isdigit() and words[1] == "of" and words[2].isdigit():
        return "Some " + " ".join(words[3:])
    if words[:4] == ["The", "contribution", "of", words[3] if len(words) > 3 else ""]:
        return "The contribution of some agents is not known."
    return sentence
