"""The diagnosis of a store's runs beside its reference forests."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from app.forest_store import find_forests, forest_graphs
from app.jobs import Progress, Selection, no_progress, runs_of
from app.stored_reports import save_report
from graphstore.errors import NotFoundError
from graphstore.model import CollaborationGraph
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.diagnosis_report import DiagnosisReport, Diagnostician
    from analytics.forest import ForestSet
    from analytics.forest_keys import Level

REPORT_KIND = "diagnosis"
REPORTED_RUNS = 1_000
"""How many of the runs that failed a stored report names; it counts all."""


def diagnose(
    store: GraphStore,
    *,
    forests: str | None = None,
    levels: "Iterable[Level] | Level | None" = None,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "DiagnosisReport":
    """Tells of each run whether it failed by its structure or its content, and where it parts.

    Args:
        store: Where runs and forests are.
        forests: Id of the set of forests; None for the only one.
        levels: Of the forests to use; all by default.
        selection: Which runs.
        save: Whether a report is stored.
        progress: Receives the number of runs done.

    Raises:
        NotFoundError: The store has no forests, or no such set.
        UsageError: It has several sets, and none is named.
    """
    from analytics.diagnosis_report import diagnose_runs

    found = find_forests(store, forests)
    if found is None:
        raise NotFoundError("the store has no forests: make them with  masgraph forest build")
    graphs = forest_graphs(store, found)
    chosen = selection or Selection()
    diagnostician = make_diagnostician(found, graphs, levels)
    total = store.counts().get("Run", 0)

    def counted() -> Iterator[CollaborationGraph]:
        for done, graph in enumerate(runs_of(store, chosen), start=1):
            yield graph
            progress(done, total, "")

    report = diagnose_runs(counted(), diagnostician)
    if save and report.rows:
        save_report(
            store,
            REPORT_KIND,
            "Diagnosis of runs",
            report.configuration,
            _document(report),
            selection=chosen,
            runs=len(report.rows),
        )
    return report


def make_diagnostician(
    forests: "ForestSet",
    graphs: Sequence[CollaborationGraph],
    levels: "Iterable[Level] | Level | None" = None,
) -> "Diagnostician":
    """What diagnoses runs beside forests; it aligns by the labels that the forests use.

    Args:
        forests: The forests.
        graphs: Those that they hold.
        levels: Of the forests to use; all by default.
    """
    from analytics.diagnosis_report import Diagnostician
    from analytics.forest_scoring import ForestScorer
    from analytics.similarity.alignment import AlignmentMeasure

    labels = forests.configuration.make_measure().configuration.get("labels")
    return Diagnostician(
        ForestScorer(forests, graphs, levels),
        {graph.id: graph for graph in graphs},
        AlignmentMeasure(**({} if labels is None else {"labels": labels})),
    )


def _document(report: "DiagnosisReport") -> dict[str, object]:
    failed = [row for row in report.rows if row.success is False and row.forest_level]
    return {
        "methods": report.counts(),
        "mistakes": None if report.mistakes is None else report.mistakes.to_dict()["rows"],
        "failed_count": len(failed),
        "failed": [asdict(row) for row in failed[:REPORTED_RUNS]],
    }
