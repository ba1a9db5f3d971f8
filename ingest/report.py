"""What an ingest did, counted."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphstore.model import CollaborationGraph
from ingest.reader import Rejection

MAX_WARNINGS = 1_000
"""Different warning sentences that a report keeps; the others are only counted."""


@dataclass(frozen=True)
class Warned:
    """A warning, told once however often it came up.

    Attributes:
        file: The first file that it was about, None where it was about none.
        record: The record in that file.
        warning: The sentence.
        count: How many graphs or writes it came up in.
    """

    file: str | None
    record: str | None
    warning: str
    count: int = 1


@dataclass(frozen=True)
class IngestReport:
    """The counts of one ingest. Graphs that were there already count as read.

    Attributes:
        files: Files found.
        read: Files that gave at least one graph.
        written: Graphs stored, new or in place of an older form. 0 in a dry run.
        unchanged: Graphs that were in the store already, or came twice. 0 in a dry run.
        rejected: Files and records that could not be read.
        warnings: What had to be left out or guessed.
        runs: Runs read.
        decompositions: Decompositions read.
        actions: Nodes of those runs.
        subtasks: Nodes of those decompositions, groups included.
        agents: Agents of all graphs read.
        edges: Edges of all graphs read.
        inferred_edges: Those of them that a reader guessed.
    """

    files: int = 0
    read: int = 0
    written: int = 0
    unchanged: int = 0
    rejected: tuple[Rejection, ...] = ()
    warnings: tuple[Warned, ...] = ()
    runs: int = 0
    decompositions: int = 0
    actions: int = 0
    subtasks: int = 0
    agents: int = 0
    edges: int = 0
    inferred_edges: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values, in the fixed order of its fields."""
        return {
            "files": self.files,
            "read": self.read,
            "written": self.written,
            "unchanged": self.unchanged,
            "rejected": [
                {"file": one.file, "record": one.record, "reason": one.reason}
                for one in self.rejected
            ],
            "warnings": [
                {
                    "file": one.file,
                    "record": one.record,
                    "warning": one.warning,
                    "count": one.count,
                }
                for one in self.warnings
            ],
            "runs": self.runs,
            "decompositions": self.decompositions,
            "actions": self.actions,
            "subtasks": self.subtasks,
            "agents": self.agents,
            "edges": self.edges,
            "inferred_edges": self.inferred_edges,
        }


@dataclass
class Tally:
    """Counts while graphs go by."""

    files: int = 0
    written: int = 0
    unchanged: int = 0
    rejected: list[Rejection] = field(default_factory=list)
    runs: int = 0
    decompositions: int = 0
    actions: int = 0
    subtasks: int = 0
    agents: int = 0
    edges: int = 0
    inferred_edges: int = 0
    _read: set[str] = field(default_factory=set)
    _counts: dict[str, int] = field(default_factory=dict)
    _first: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    _more_warnings: int = 0

    def graph(self, graph: CollaborationGraph, files: Iterable[str]) -> None:
        """Counts a graph that was read from some files."""
        self._read.update(files)
        if graph.kind == "run":
            self.runs += 1
            self.actions += len(graph.nodes)
        else:
            self.decompositions += 1
            self.subtasks += len(graph.nodes)
        self.agents += len(graph.agents)
        self.edges += len(graph.edges)
        self.inferred_edges += graph.inferred_edges
        for sentence in graph.source.warnings:
            self.warn(sentence, graph.source.uri, graph.source.record)

    def warn(self, sentence: str, file: str | None = None, record: str | None = None) -> None:
        """Counts a warning."""
        if sentence in self._counts:
            self._counts[sentence] += 1
        elif len(self._counts) < MAX_WARNINGS:
            self._counts[sentence] = 1
            self._first[sentence] = (file, record)
        else:
            self._more_warnings += 1

    def report(self) -> IngestReport:
        """The counts so far."""
        warnings = [
            Warned(*self._first[sentence], sentence, count)
            for sentence, count in self._counts.items()
        ]
        if self._more_warnings:
            warnings.append(
                Warned(None, None, "further warnings are not shown", self._more_warnings)
            )
        return IngestReport(
            files=self.files,
            read=len(self._read),
            written=self.written,
            unchanged=self.unchanged,
            rejected=tuple(self.rejected),
            warnings=tuple(warnings),
            runs=self.runs,
            decompositions=self.decompositions,
            actions=self.actions,
            subtasks=self.subtasks,
            agents=self.agents,
            edges=self.edges,
            inferred_edges=self.inferred_edges,
        )
