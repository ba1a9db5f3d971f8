"""Goals and relations over a store and files of checks: read, measured, kept as a report."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.jobs import Progress, Selection, no_progress, runs_of
from app.relation_records import (
    ATTRIBUTE,
    ChecksFileRecord,
    ChecksRecord,
    decoder,
    goals_of,
    relations_of,
)
from app.stored_reports import save_report
from graphstore.errors import InputError, UsageError
from graphstore.identity import task_id
from graphstore.listed import listed
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted
from graphstore.store import GraphStore

if TYPE_CHECKING:
    import pandas

    from analytics.relations_report import CheckedRun, RelationReport

SHOWN_RUNS = 300
"""Runs that a stored report holds one by one; all are in its means."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A record of a file of checks.

    Attributes:
        file: The file as it was named.
        place: The record inside it.
        record: What it says.
    """

    file: str
    place: str
    record: ChecksFileRecord


@dataclass(frozen=True, slots=True)
class RejectedChecks:
    """A record that could not be used.

    Attributes:
        file: The file, or the id of the run whose attribute it is.
        record: The record inside it.
        reason: What is wrong.
    """

    file: str
    record: str
    reason: str


@dataclass(frozen=True, repr=False)
class RelationResult(TableView):
    """What a job found.

    Attributes:
        report: The measures.
        without: Number of selected runs of the store of which nothing was checked.
        rejected: Records that could not be used.
    """

    report: "RelationReport"
    without: int
    rejected: tuple[RejectedChecks, ...]

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a run: goals, scores and preservation."""
        return self.report.to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            **self.report.to_dict(),
            "runs_without_checks": self.without,
            "rejected": [
                {"file": one.file, "record": one.record, "reason": one.reason}
                for one in self.rejected
            ],
        }

    def _in_short(self) -> str:
        return f"{counted(len(self.report.rows), 'run')}, {len(self.rejected):,} rejected"


def read_checks(
    paths: Iterable[str | Path] | str | Path,
) -> tuple[tuple[CheckedFile, ...], tuple[RejectedChecks, ...]]:
    """Reads files of checks: JSON or JSON lines, gzip too.

    Args:
        paths: The files, or one.

    Returns:
        The records, and what could not be read.

    Raises:
        InputError: A file cannot be read at all.
    """
    from ingest import json_text
    from ingest.field_problems import explain_field
    from ingest.files import LocalFile
    from ingest.readers.raw_records import raw_records

    found: list[CheckedFile] = []
    rejected = []
    for path in listed(paths):
        file = LocalFile(str(path))
        seen: dict[str, str] = {}
        for raw in raw_records(file):
            try:
                record, _ = json_text.decode(raw.data, decoder, first_line=raw.line)
            except msgspec.ValidationError as error:
                reason = explain_field(error, ChecksFileRecord)
                rejected.append(RejectedChecks(file.uri, raw.place, reason))
            except InputError as error:
                rejected.append(RejectedChecks(file.uri, raw.place, error.reason))
            else:
                if record.id in seen:
                    reason = f"the id {record.id!r} stands twice (first in {seen[record.id]})"
                    rejected.append(RejectedChecks(file.uri, raw.place, reason))
                    continue
                seen[record.id] = raw.place
                found.append(CheckedFile(file.uri, raw.place, record))
    return tuple(found), tuple(rejected)


def relations(
    store: GraphStore | None,
    checks: Sequence[CheckedFile] = (),
    *,
    rejected: Sequence[RejectedChecks] = (),
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> RelationResult:
    """Measures goals and relations of what files and the runs of a store say was checked.

    A record of a file goes before the checks that the run itself holds.

    Args:
        store: Where the runs are; None where no record names a run.
        checks: Records of files.
        rejected: Records that could not be read.
        selection: Which runs of the store; also which records, by data set, method and task.
        save: Whether a report is stored.
        progress: Receives the number of runs done.
    """
    from analytics.relations_report import RelationReport, measure_relations

    chosen = selection or Selection()
    refused = list(rejected)
    without: list[str] = []
    rows = []
    for file, place, run in _checked(store, checks, chosen, refused, without, progress):
        try:
            rows.append(measure_relations(run))
        except UsageError as error:
            refused.append(RejectedChecks(file, place, str(error)))
    report = RelationReport(_configuration(), tuple(rows))
    result = RelationResult(report, len(without), tuple(refused))
    if save and store is not None and rows:
        save_report(
            store,
            "relations",
            f"goals and relations of {len(rows):,} runs",
            {"definitions": report.configuration.definitions, "files": _digest(checks)},
            relation_document(result),
            selection=chosen,
            runs=len(rows),
        )
    return result


def relation_document(result: RelationResult) -> dict[str, Any]:
    """A result as JSON values, with the first of the runs."""
    document = result.to_dict()
    return {
        **document,
        "runs": len(document["rows"]),
        "runs_shown": min(len(document["rows"]), SHOWN_RUNS),
        "rows": document["rows"][:SHOWN_RUNS],
    }


def checked_run(record: ChecksRecord, graph: CollaborationGraph) -> "CheckedRun":
    """What was checked of a run that is at hand.

    Raises:
        UsageError: The record contradicts itself, or names a resource that the run lacks.
    """
    from analytics.relations import SIDES, Side, resource_writers
    from analytics.relations_report import CheckedRun

    known = {one.name for one in graph.resources}
    agents: dict[tuple[int, Side], tuple[str, ...]] = {}
    for place, relation in enumerate(record.relations):
        for side in SIDES:
            resource = getattr(relation, side).resource
            if resource is None:
                continue
            if resource not in known:
                raise UsageError(
                    f"relations[{place}].{side}.resource: the run has no resource {resource!r}"
                )
            agents[place, side] = resource_writers(graph, resource)
    return CheckedRun(
        run=graph.id,
        task=graph.task.name,
        task_id=graph.task.id,
        method=None if graph.method is None else graph.method.name,
        goals=goals_of(record),
        preservation=tuple(check.passed for check in record.preservation),
        flag=record.resolved,
        relations=relations_of(record, agents),
    )


def _configuration() -> Any:
    from analytics.relations_report import RelationConfiguration

    return RelationConfiguration()


def _checked(
    store: GraphStore | None,
    checks: Sequence[CheckedFile],
    selection: Selection,
    refused: list[RejectedChecks],
    without: list[str],
    progress: Progress,
) -> "Iterator[tuple[str, str, CheckedRun]]":
    named: dict[str, CheckedFile] = {}
    for one in checks:
        if one.record.run is None:
            run = _refusing(refused, one.file, one.place, _of_file, one.record)
            if run is not None and _is_selected(one.record, selection):
                yield one.file, one.place, run
        elif one.record.run in named:
            other = named[one.record.run]
            reason = f"the run {one.record.run!r} is checked in {other.place} too"
            refused.append(RejectedChecks(one.file, one.place, reason))
        else:
            named[one.record.run] = one
    if store is None:
        return
    there = set()
    for done, graph in enumerate(runs_of(store, selection), start=1):
        progress(done, None, "")
        file, place = graph.id, "attribute 'checks'"
        if graph.id in named:
            there.add(graph.id)
            file, place = named[graph.id].file, named[graph.id].place
            run = _refusing(refused, file, place, checked_run, named[graph.id].record, graph)
        elif ATTRIBUTE in graph.attributes:
            run = _refusing(refused, file, place, _of_run, graph)
        else:
            without.append(graph.id)
            continue
        if run is not None:
            yield file, place, run
    for name, one in named.items():
        if name not in there:
            reason = f"no selected run of the store has the id {name!r}"
            refused.append(RejectedChecks(one.file, one.place, reason))


def _refusing(
    refused: list[RejectedChecks], file: str, place: str, make: Any, *arguments: Any
) -> "CheckedRun | None":
    """What a function makes of a record; None where the record is wrong, which is kept."""
    try:
        made: CheckedRun = make(*arguments)
    except UsageError as error:
        refused.append(RejectedChecks(file, place, str(error)))
        return None
    return made


def _of_file(record: ChecksFileRecord) -> "CheckedRun":
    from analytics.relations_report import CheckedRun

    if record.task is None:
        raise UsageError("it names neither a run nor a task")
    for place, relation in enumerate(record.relations):
        for side, part in (
            ("upstream", relation.upstream),
            ("downstream", relation.downstream),
        ):
            if part.resource is not None:
                raise UsageError(
                    f"relations[{place}].{side}.resource: a resource needs a run of the store"
                )
    return CheckedRun(
        run=record.id,
        task=record.task,
        task_id=task_id(record.task, record.dataset),
        method=record.method,
        goals=goals_of(record),
        preservation=tuple(check.passed for check in record.preservation),
        flag=record.resolved,
        relations=relations_of(record),
    )


def _of_run(graph: CollaborationGraph) -> "CheckedRun":
    from ingest.field_problems import explain_field

    try:
        record = msgspec.convert(graph.attributes[ATTRIBUTE], ChecksRecord)
    except msgspec.ValidationError as error:
        raise UsageError(explain_field(error, ChecksRecord)) from error
    return checked_run(record, graph)


def _is_selected(record: ChecksFileRecord, selection: Selection) -> bool:
    return all(
        wanted is None or wanted == given
        for wanted, given in (
            (selection.dataset, record.dataset),
            (selection.method, record.method),
            (selection.task, record.task),
        )
    )


def _digest(checks: Sequence[CheckedFile]) -> str | None:
    """What tells one set of files from another, whatever they are called."""
    from graphstore.identity import digest

    if not checks:
        return None
    return digest(*(msgspec.json.encode(one.record) for one in checks))
