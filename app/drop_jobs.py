"""Files that somebody dropped: read into a store under the names that they had."""

import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from app.jobs import Progress, Selection, no_progress
from app.stored_reports import report_heads, save_report
from graphstore.errors import InputError, UsageError
from graphstore.model import CollaborationGraph
from graphstore.rows import WriteReport
from graphstore.store import GraphStore
from ingest.pipeline import ContentChoice, ReadOptions, ingest
from ingest.pipeline import Progress as ReadingProgress
from ingest.report import IngestReport

KIND = "ingest"
KEPT_ROWS = 1_000
"""Rejections and warnings that a stored report keeps."""

LONGEST_NAME = 120
_ODD = re.compile(r"[^\w.()+@ -]")


@dataclass(frozen=True)
class DroppedFile:
    """A file as it was dropped.

    Attributes:
        name: As its owner called it.
        content: Its bytes.
    """

    name: str
    content: bytes


def read_dropped(
    files: Sequence[DroppedFile],
    store: GraphStore | None,
    *,
    format: str = "auto",
    content: ContentChoice = "redact",
    strict: bool = False,
    progress: Progress = no_progress,
) -> IngestReport:
    """Reads dropped files as if they lay in one folder.

    Args:
        files: The files. Two of one name stay two.
        store: Where graphs go, open for writing; None reads and counts only.
        format: A reader's name, or ``auto``.
        content: What may be stored of contents: ``redact``, ``keep`` or ``drop``.
        strict: Store nothing if any file or record is rejected.
        progress: Receives the number of megabytes gone through.

    Raises:
        UsageError: There is no file.
        InputError: The files cannot be laid down.
        StoreError: The store failed.
    """
    if not files:
        raise UsageError("no file was dropped")

    def shown(now: ReadingProgress) -> None:
        total = None if now.bytes_total is None else now.bytes_total / 1e6
        progress(now.bytes_done / 1e6, total, f"{now.graphs:,} graphs")

    with tempfile.TemporaryDirectory(prefix="masgraph-drop-") as name:
        folder = Path(name)
        try:
            for file in files:
                _free_path(folder, file.name).write_bytes(file.content)
        except OSError as error:
            raise InputError(
                f"cannot be laid down: {error.strerror}", file=file.name
            ) from error
        report = ingest(
            [folder],
            None if store is None else cast("GraphStore", _Renaming(store, folder)),
            format=format,
            dry_run=store is None,
            strict=strict,
            options=ReadOptions(content=content),
            progress=shown,
        )
    return _renamed_report(report, folder)


def remember_report(
    store: GraphStore, report: IngestReport, what: str, *, format: str, content: str
) -> None:
    """Keeps what an ingest rejected, for whoever looks at the data's health.

    Reading the same again under the same options takes its place. Nothing is kept where nothing
    was rejected, unless something was before. Warnings stand in the graphs as well.

    Args:
        store: Open for writing.
        report: What an ingest did.
        what: What was read, for people: names of files.
        format: The format that was asked for.
        content: What was stored of contents.
    """
    configuration = {"what": what, "format": format, "content": content}
    is_known = any(head.name == what for head in report_heads(store, KIND))
    if not (report.rejected or is_known):
        return
    document = report.to_dict()
    for part in ("rejected", "warnings"):
        document[f"{part}_in_all"] = len(document[part])
        document[part] = document[part][:KEPT_ROWS]
    save_report(
        store, KIND, what, configuration, document, selection=Selection(), runs=report.runs
    )


def what_was_dropped(files: Sequence[DroppedFile]) -> str:
    """Names of dropped files as one line for people."""
    names = sorted(file.name for file in files)
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


class _Renaming:
    """A store that gives graphs the names of the dropped files, not of where they lie."""

    def __init__(self, store: GraphStore, folder: Path) -> None:
        self._store = store
        self._folder = folder

    def write(self, graphs: Iterable[CollaborationGraph]) -> WriteReport:
        return self._store.write(self._renamed(graph) for graph in graphs)

    def _renamed(self, graph: CollaborationGraph) -> CollaborationGraph:
        uri = _without(graph.source.uri, self._folder)
        source = msgspec.structs.replace(graph.source, uri=uri)
        return msgspec.structs.replace(graph, source=source)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def _free_path(folder: Path, name: str) -> Path:
    """A path in the folder for a file of that name, whatever the name holds."""
    base = _ODD.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(". ") or "file"
    base = base[-LONGEST_NAME:]
    path = folder / base
    number = 1
    while path.exists():
        number += 1
        stem, dot, ending = base.partition(".")
        path = folder / f"{stem} ({number}){dot}{ending}"
    return path


def _without(text: str, folder: Path) -> str:
    return text.replace(f"{folder}{os.sep}", "").replace(f"{folder.resolve()}{os.sep}", "")


def _renamed_report(report: IngestReport, folder: Path) -> IngestReport:
    return replace(
        report,
        rejected=tuple(
            replace(one, file=_without(one.file, folder), reason=_without(one.reason, folder))
            for one in report.rejected
        ),
        warnings=tuple(
            replace(
                one,
                file=None if one.file is None else _without(one.file, folder),
                warning=_without(one.warning, folder),
            )
            for one in report.warnings
        ),
    )
