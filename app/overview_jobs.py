"""The overview of a store: what takes an engine seconds, computed once and kept as a report.

The dashboard shows it. Everything comes from saved queries; the metrics of evaluated runs are
kept as percentiles, so that a page can tell where a run stands without reading all others.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.jobs import MANY, Progress, Selection, no_progress
from app.stored_reports import StoredReport, read_report, report_heads, save_report
from graphstore.rows import QueryResult
from graphstore.store import GraphStore

KIND = "overview"
SECONDS = 600.0
"""Seconds that one query of the job may take."""

CONFIGURATION = {"version": 1, "tasks": 500, "rows": 100, "percentiles": 100}
"""What the overview keeps: tasks and other rows at most, and parts of a hundred."""

Ask = Callable[[str, Mapping[str, Any]], QueryResult]
"""Answers a saved query, by its name and parameters."""

_SECTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("datasets", "datasets-overview", {}),
    ("outcomes", "number-of-runs", {}),
    ("methods", "outcomes-by-method", {}),
    ("tasks", "outcomes-by-task", {"limit": CONFIGURATION["tasks"]}),
    ("formats", "formats-overview", {}),
    ("roles", "actions-of-each-role", {}),
    ("tokens", "reported-tokens-by-method", {}),
    ("unknown_roles", "unknown-roles", {"limit": CONFIGURATION["rows"]}),
    ("guessed_edges", "guessed-edges", {"limit": CONFIGURATION["rows"]}),
    ("reader_warnings", "reader-warnings", {"limit": CONFIGURATION["rows"]}),
)
_NO_METRICS = ("evaluation", "run", "configuration_hash")


def make_overview(store: GraphStore, *, progress: Progress = no_progress) -> StoredReport:
    """Computes the overview of a store and keeps it there, in place of an older one.

    Args:
        store: Open for writing.
        progress: Receives the number of questions answered.

    Raises:
        StoreError: The store cannot be used, or was opened read-only.
    """
    from graphstore.queries import bind, saved_query

    def ask(name: str, parameters: Mapping[str, Any]) -> QueryResult:
        saved = saved_query(name)
        return store.query(
            saved.cypher, bind(saved, parameters), timeout=SECONDS, row_limit=MANY
        )

    document = overview_document(ask, store.counts(), progress=progress)
    report = save_report(
        store,
        KIND,
        "Overview of the store",
        CONFIGURATION,
        document,
        selection=Selection(),
        runs=document["counts"].get("Run", 0),
    )
    return read_report(store, report)


def stored_overview(store: GraphStore) -> StoredReport | None:
    """The overview as it was computed last, None where nobody did."""
    for head in report_heads(store, KIND):
        return read_report(store, head.report)
    return None


def overview_document(
    ask: Ask, counts: Mapping[str, int], *, progress: Progress = no_progress
) -> dict[str, Any]:
    """What the overview says.

    Args:
        ask: Answers saved queries.
        counts: Number of nodes of each label and of relations of each type.
        progress: Receives the number of questions answered.

    Returns:
        ``counts``; for each section the rows of its query; ``metrics``: for each
        configuration of an evaluation and each metric the number of runs (``runs``), those
        with a value (``known``), and their ``percentiles``, from the smallest to the largest
        value in 101 steps.
    """
    document: dict[str, Any] = {"counts": _without_reports(counts)}
    for done, (section, query, parameters) in enumerate(_SECTIONS):
        progress(done, len(_SECTIONS) + 1, query)
        document[section] = ask(query, parameters).records()
    progress(len(_SECTIONS), len(_SECTIONS) + 1, "evaluations")
    document["metrics"] = _metrics(ask("evaluations", {"limit": MANY}))
    progress(len(_SECTIONS) + 1, len(_SECTIONS) + 1, "")
    return document


def is_stale(document: Mapping[str, Any], counts: Mapping[str, int]) -> bool:
    """Whether the store holds another number of anything than the overview counted."""
    return bool(document["counts"] != _without_reports(counts))


def _without_reports(counts: Mapping[str, int]) -> dict[str, int]:
    """Keeping an overview adds a report: that must not make it stale."""
    return {name: counts[name] for name in sorted(counts) if name != "Report"}


def _metrics(evaluations: QueryResult) -> list[dict[str, Any]]:
    at = {name: position for position, name in enumerate(evaluations.columns)}
    names = [name for name in evaluations.columns if name not in _NO_METRICS]
    by_configuration: dict[str, list[tuple[Any, ...]]] = {}
    for row in evaluations.rows:
        by_configuration.setdefault(row[at["configuration_hash"]] or "", []).append(row)
    found = []
    for configuration, rows in sorted(by_configuration.items()):
        for name in names:
            values = sorted(row[at[name]] for row in rows if row[at[name]] is not None)
            if values:
                found.append(
                    {
                        "configuration_hash": configuration,
                        "metric": name,
                        "runs": len(rows),
                        "known": len(values),
                        "percentiles": percentiles(values),
                    }
                )
    return found


def percentiles(values: Sequence[float]) -> list[float]:
    """The 101 values that part sorted ones into hundredths, linear in between.

    Percentile ``p`` is at place ``(n - 1) * p / 100`` of the ``n`` sorted values: definition 7
    of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American
    Statistician 50(4), 1996.

    Args:
        values: At least one, sorted, finite.
    """
    found = []
    for part in range(101):
        place, rest = divmod((len(values) - 1) * part, 100)
        low = float(values[place])
        high = float(values[min(place + 1, len(values) - 1)])
        found.append(low + (high - low) * rest / 100)
    return found


def rank_in(value: float, percentile_values: Sequence[float]) -> float:
    """Where a value stands among others, from 0 (below all) to 100 (above all).

    Args:
        value: The value.
        percentile_values: What :func:`percentiles` gave. Where several are equal to the
            value, the middle of their places counts, so that a value that all runs share
            stands at 50.
    """
    below = bisect_left(percentile_values, value)
    through = bisect_right(percentile_values, value)
    if below == through:
        if below in (0, len(percentile_values)):
            return 0.0 if below == 0 else 100.0
        low, high = percentile_values[below - 1], percentile_values[below]
        return below - 1 + (value - low) / (high - low)
    return (below + through - 1) / 2
