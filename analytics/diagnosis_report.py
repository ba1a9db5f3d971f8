"""The diagnosis of many runs: quadrants, where they part from what works, labelled mistakes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.diagnosis import DIAGNOSES, diagnose, parting
from analytics.forest_scoring import ForestScorer
from analytics.mistakes import LabelledRun, MistakeReport, labelled_run, mistake_report
from analytics.similarity.alignment import AlignmentMeasure
from analytics.statistics import BootstrapConfiguration
from graphstore.identity import configuration_hash
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, runs_in_short

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class DiagnosisRow:
    """What is known of one run.

    Attributes:
        run: Its id.
        task: Name of its task.
        method: Name of its method.
        success: Whether it succeeded.
        diagnosis: :func:`analytics.diagnosis.diagnose`.
        forest_level: What the forest pools that it was compared with; None without one.
        forest_match: 0 to 1.
        percentile: Among the forest's own successes, 0 to 1.
        threshold: Matches from here on are high.
        best_similarity: 0 to 1.
        best_reference: Id of the nearest reference.
        parts_at: Index of the action at which it parts from that reference.
        parts_after: Index of the action after which it does: the one before, or its last where
            it stops early.
        parts_action: Role and kind of the action.
        parts_agent: Name of its agent.
        matched: Actions that have a counterpart in the reference.
        extra: Actions that have none.
        missing: The reference's actions that have none.
        mistake_step: Index of the action that somebody labelled as the deciding mistake.
        mistake_agent: Name of the agent that was blamed.
    """

    run: str
    task: str
    method: str | None
    success: bool | None
    diagnosis: str | None
    forest_level: str | None
    forest_match: float | None
    percentile: float | None
    threshold: float | None
    best_similarity: float | None
    best_reference: str | None
    parts_at: int | None
    parts_after: int | None
    parts_action: str | None
    parts_agent: str | None
    matched: int | None
    extra: int | None
    missing: int | None
    mistake_step: int | None
    mistake_agent: str | None


@dataclass(frozen=True, repr=False)
class DiagnosisReport(TableView):
    """The diagnosis of many runs under one configuration.

    Attributes:
        configuration: Forests, alignment and intervals, as JSON values.
        rows: One for each run, by id.
        mistakes: How well labelled mistakes are found; None where no run has a label.
    """

    configuration: dict[str, Any]
    rows: tuple[DiagnosisRow, ...]
    mistakes: MistakeReport | None

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return configuration_hash(self.configuration)

    def counts(self) -> list[dict[str, Any]]:
        """For each method, by name: runs, runs with a forest, and runs of each diagnosis."""
        groups: dict[tuple[bool, str], list[DiagnosisRow]] = {}
        for row in self.rows:
            groups.setdefault((row.method is None, row.method or ""), []).append(row)
        found = []
        for _, rows in sorted(groups.items()):
            quadrants = Counter(row.diagnosis for row in rows)
            line: dict[str, Any] = {
                "method": rows[0].method,
                "runs": len(rows),
                "compared": sum(row.forest_level is not None for row in rows),
            }
            line.update((name, quadrants[name]) for name in DIAGNOSES)
            found.append({**line, "undecided": quadrants[None]})
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON values: configuration with hash, ``methods``, ``mistakes`` and ``rows``."""
        return {
            "configuration": self.configuration,
            "configuration_hash": self.configuration_hash,
            "methods": self.counts(),
            "mistakes": None if self.mistakes is None else self.mistakes.to_dict(),
            "rows": [asdict(row) for row in self.rows],
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a run."""
        import pandas

        return pandas.DataFrame([asdict(row) for row in self.rows]).convert_dtypes()

    def _in_short(self) -> str:
        return runs_in_short(self.rows)


class Diagnostician:
    """Takes runs one by one, then reports.

    Args:
        scorer: What compares runs with forests.
        references: The forests' graphs by id.
        alignment: How runs are aligned with references.
        intervals: Of what is said about labelled mistakes.
    """

    def __init__(
        self,
        scorer: ForestScorer,
        references: Mapping[str, CollaborationGraph],
        alignment: AlignmentMeasure,
        intervals: BootstrapConfiguration | None = None,
    ) -> None:
        self._scorer = scorer
        self._references = references
        self._alignment = alignment
        self._intervals = intervals or BootstrapConfiguration()
        self._rows: list[DiagnosisRow] = []
        self._labelled: list[LabelledRun] = []

    def add(self, graph: CollaborationGraph) -> DiagnosisRow:
        """Diagnoses a run."""
        score = self._scorer.score(graph)
        reference = (
            None if score.best_reference is None else self._references[score.best_reference]
        )
        parted = None if reference is None else parting(graph, reference, self._alignment)
        outcome = graph.outcome
        row = DiagnosisRow(
            run=graph.id,
            task=graph.task.name,
            method=None if graph.method is None else graph.method.name,
            success=outcome.success,
            diagnosis=diagnose(outcome.success, score.match, score.threshold),
            forest_level=score.level,
            forest_match=score.match,
            percentile=score.percentile,
            threshold=score.threshold,
            best_similarity=score.best_similarity,
            best_reference=score.best_reference,
            parts_at=None if parted is None else parted.index,
            parts_after=None if parted is None else parted.after,
            parts_action=None if parted is None else parted.action,
            parts_agent=None if parted is None else parted.agent,
            matched=None if parted is None else parted.matched,
            extra=None if parted is None else parted.extra,
            missing=None if parted is None else parted.missing,
            mistake_step=outcome.mistake_step,
            mistake_agent=outcome.mistake_agent,
        )
        self._rows.append(row)
        labelled = labelled_run(graph, row.parts_at, row.parts_after)
        if labelled is not None:
            self._labelled.append(labelled)
        return row

    def report(self) -> DiagnosisReport:
        """What was found about all runs that were added."""
        forests = self._scorer.forests
        return DiagnosisReport(
            configuration={
                "forest_set": forests.id,
                "forests": forests.configuration.configuration,
                "forest_levels": self._scorer.levels,
                "alignment": self._alignment.configuration,
                "intervals": asdict(self._intervals),
            },
            rows=tuple(sorted(self._rows, key=lambda row: row.run)),
            mistakes=(
                mistake_report(self._labelled, self._intervals) if self._labelled else None
            ),
        )


def diagnose_runs(
    graphs: Iterable[CollaborationGraph], diagnostician: Diagnostician
) -> DiagnosisReport:
    """Diagnoses runs; they are taken one by one and not kept.

    Args:
        graphs: Runs; decompositions among them are left out.
        diagnostician: What has the forests.
    """
    for graph in graphs:
        if graph.kind == "run":
            diagnostician.add(graph)
    return diagnostician.report()
