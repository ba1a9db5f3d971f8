"""From paths to graphs, and from graphs into a store.

Every file ends in one of two ways: it gives graphs, or it is rejected with a reason. No
file stops the others. Graphs go by one at a time; a batch of them is stored at once.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, cast

from graphstore.builder import ContentPolicy
from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from graphstore.store import GraphStore
from ingest.diagnosis import unknown_format
from ingest.files import LocalFile
from ingest.finding import find_files, total_size
from ingest.joining import groups
from ingest.reader import JoiningReader, ReadContext, Reader, Rejection, TraceFile
from ingest.redact import Drop, Keep, Redact
from ingest.registry import Registry, default_registry
from ingest.report import IngestReport, Tally
from ingest.roles import RoleTable
from ingest.verdicts import checked, rejections

AUTO = "auto"

BATCH_NODES = 20_000
"""Nodes after which a batch of graphs is stored."""

BATCH_GRAPHS = 2_000
"""Graphs after which a batch is stored, however small they are."""

CHECKPOINT_NODES = 200_000
"""Nodes after which a long ingest makes its first checkpoint; each later one waits for as
many nodes as were stored before it, so that all checkpoints together cost linear time."""

HOPELESS_RECORDS = 100_000
"""A file of which so many records are rejected before one is read is not read further: the
reasons alone would fill the memory."""

WAITING_BYTES = 32 << 20
"""So much content of files that may have to be joined is kept until all files were looked at;
what is more is read again."""

ContentChoice = Literal["redact", "keep", "drop"]


@dataclass(frozen=True)
class Progress:
    """How far an ingest is.

    Attributes:
        file: The file at work, as it was named.
        files_done: Files finished.
        files_total: Files found.
        bytes_done: Bytes on disk gone through, compressed where files are.
        bytes_total: Bytes on disk of all files, None where one is a pipe.
        graphs: Graphs read so far.
        checking: Whether this is the first of the two passes of a strict ingest.
    """

    file: str
    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int | None
    graphs: int
    checking: bool = False


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True)
class ReadOptions:
    """How files are read.

    Attributes:
        content: What may be stored of contents: ``redact``, ``keep``, ``drop``, or a policy.
        roles: Maps names to the shared roles; by default the table that comes with masgraph.
        registry: The readers; by default the built-in and installed ones.
        stdin: The stream that ``-`` stands for.
    """

    content: ContentChoice | ContentPolicy = "redact"
    roles: RoleTable | None = None
    registry: Registry | None = None
    stdin: BinaryIO | None = None

    def context(self) -> ReadContext:
        """What readers are given."""
        roles = self.roles or RoleTable.default()
        return ReadContext(policy=content_policy(self.content), role_of=roles.role_of)


def content_policy(content: ContentChoice | ContentPolicy) -> ContentPolicy:
    """The policy of that name, or the policy itself."""
    match content:
        case "redact":
            return Redact()
        case "keep":
            return Keep()
        case "drop":
            return Drop()
        case _:
            return content


def read(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    format: str = AUTO,
    options: ReadOptions | None = None,
) -> Iterator[CollaborationGraph | Rejection]:
    """Reads files without a store.

    Args:
        paths: Files, folders, globs or ``-``, as for :func:`ingest.finding.find_files`.
        format: A reader's name; ``auto`` looks at each file's content.
        options: How to read.

    Yields:
        Graphs and rejections, in the order of the files; files that may have to be joined
        come last.

    Raises:
        InputError: A path stands for no file.
        NotFoundError: No reader has that name.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    choice = options or ReadOptions()
    job = _Job(find_files(paths, stdin=choice.stdin), format, choice)
    yield from job.results()


def ingest(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    store: GraphStore | None,
    *,
    format: str = AUTO,
    dry_run: bool = False,
    strict: bool = False,
    options: ReadOptions | None = None,
    progress: ProgressCallback | None = None,
) -> IngestReport:
    """Reads files and stores their graphs.

    Graphs are stored in batches, each graph whole or not at all; when the store fails,
    earlier batches stay, and the same ingest can be run again. A strict ingest reads
    everything first and stores nothing if anything was rejected.

    Args:
        paths: Files, folders, globs or ``-``, as for :func:`ingest.finding.find_files`.
        store: Where graphs go; may be None in a dry run.
        format: A reader's name; ``auto`` looks at each file's content.
        dry_run: Read and count, and store nothing.
        strict: Store nothing at all if any file or record is rejected.
        options: How to read.
        progress: Called after each graph and each file.

    Raises:
        InputError: A path stands for no file; or a file changed between the two passes of
            a strict ingest.
        NotFoundError: No reader has that name.
        StoreError: The store failed.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    choice = options or ReadOptions()
    files = find_files(paths, stdin=choice.stdin)
    try:
        if dry_run or store is None:
            job = _Job(files, format, choice, progress)
            for _ in job.results():
                pass
            return job.report()
        if strict:
            return _ingest_strictly(files, store, format, choice, progress)
        job = _Job(files, format, choice, progress)
        writer = _Writer(store, job.tally)
        for item in job.results():
            if isinstance(item, CollaborationGraph):
                writer.add(item)
        writer.finish()
        return job.report()
    finally:
        for file in files:
            file.close()


def _ingest_strictly(
    files: list[LocalFile],
    store: GraphStore,
    format: str,
    options: ReadOptions,
    progress: ProgressCallback | None,
) -> IngestReport:
    """Reads everything; if nothing was rejected, stores it, from memory where it fits."""
    job = _Job(files, format, options, progress, checking=True)
    kept: list[CollaborationGraph] | None = []
    nodes = 0
    for item in job.results():
        if isinstance(item, Rejection) or kept is None:
            kept = None
            continue
        nodes += len(item.nodes)
        if nodes > BATCH_NODES or len(kept) >= BATCH_GRAPHS:
            kept = None
        else:
            kept.append(item)
    if job.tally.rejected:
        return job.report()
    if kept is None:
        job = _Job(files, format, options, progress)
    writer = _Writer(store, job.tally)
    graphs: Iterable[CollaborationGraph | Rejection] = (
        kept if kept is not None else job.results()
    )
    for graph in graphs:
        if isinstance(graph, Rejection):
            raise InputError(
                f"it changed while it was read: {graph.reason}",
                file=graph.file,
                record=graph.record,
            )
        writer.add(graph)
    writer.finish()
    return job.report()


class _Writer:
    """Stores graphs in batches and keeps count."""

    def __init__(self, store: GraphStore, tally: Tally) -> None:
        self._store = store
        self._tally = tally
        self._batch: list[CollaborationGraph] = []
        self._nodes = 0
        self._seen: set[str] = set()
        self._stored = 0
        self._checkpoint_at = CHECKPOINT_NODES

    def add(self, graph: CollaborationGraph) -> None:
        if graph.id in self._seen:
            self._tally.unchanged += 1
            return
        self._seen.add(graph.id)
        self._batch.append(graph)
        self._nodes += len(graph.nodes)
        if self._nodes >= BATCH_NODES or len(self._batch) >= BATCH_GRAPHS:
            self._flush()

    def finish(self) -> None:
        self._flush()

    def _flush(self) -> None:
        if not self._batch:
            return
        report = self._store.write(self._batch)
        self._tally.written += report.written
        self._tally.unchanged += report.unchanged
        for sentence in report.warnings:
            self._tally.warn(sentence)
        self._stored += self._nodes
        self._batch, self._nodes = [], 0
        if self._stored >= self._checkpoint_at:
            self._store.checkpoint()
            self._checkpoint_at = 2 * self._stored


Item = CollaborationGraph | Rejection


@dataclass
class _Job:
    """One pass over files."""

    files: list[LocalFile]
    format: str
    options: ReadOptions
    progress: ProgressCallback | None = None
    checking: bool = False
    tally: Tally = field(default_factory=Tally)
    _files_done: int = 0
    _bytes_done: int = 0
    _bytes_total: int | None = None
    _waiting: set[LocalFile] = field(default_factory=set)
    _waiting_bytes: int = 0

    def __post_init__(self) -> None:
        self.registry = self.options.registry or default_registry()
        self.context = self.options.context()
        self.tally.files = len(self.files)
        if self.progress is not None:
            self._bytes_total = total_size(self.files)
        self.chosen = None if self.format == AUTO else self.registry.reader(self.format)

    def report(self) -> IngestReport:
        for sentence in self.registry.warnings:
            self.tally.warn(sentence)
        return self.tally.report()

    def results(self) -> Iterator[Item]:
        """Each graph or rejection, once it is counted."""
        waiting: dict[str, tuple[Reader, list[LocalFile]]] = {}
        for file in self.files:
            reader: Reader | None = None
            try:
                reader = self.chosen or self.registry.sniff(file.sample)
                reason = None if reader else unknown_format(file, self.registry.usable)
            except InputError as error:
                reader, reason = None, error.reason
            if reader is None:
                yield self._counted([file], Rejection(file.uri, None, reason or ""))
                self._done([file])
            elif hasattr(reader, "join_keys"):
                waiting.setdefault(reader.format, (reader, []))[1].append(file)
                self._wait(file)
            else:
                yield from self._unit(reader, [file])
        for reader, files in waiting.values():
            joining = cast("JoiningReader", reader)
            for unit in groups(files, lambda file, by=joining: self._keys(by, file)):  # type: ignore[misc]
                yield from self._unit(reader, unit)

    def _keys(self, reader: JoiningReader, file: LocalFile) -> frozenset[str]:
        """A file whose keys cannot be told is read alone, and rejected then."""
        try:
            return reader.join_keys(file)
        except MemoryError:
            raise
        except Exception:
            return frozenset()
        finally:
            self._wait(file)

    def _wait(self, file: LocalFile) -> None:
        """Keeps the content of a file that waits for others, if it is little in all."""
        size = file.kept_bytes
        if file in self._waiting or size == 0:
            return
        if self._waiting_bytes + size > WAITING_BYTES:
            file.release()
            return
        self._waiting.add(file)
        self._waiting_bytes += size

    def _unit(self, reader: Reader, files: list[LocalFile]) -> Iterator[Item]:
        joining = len(files) > 1
        iterator: Iterator[Item] | None = None
        refused: int | None = 0  # records before the first graph
        while refused is None or refused < HOPELESS_RECORDS:
            try:
                if iterator is None:
                    iterator = iter(
                        cast("JoiningReader", reader).read_joined(
                            cast("list[TraceFile]", files), self.context
                        )
                        if joining
                        else reader.read(files[0], self.context)
                    )
                item = checked(next(iterator))
            except StopIteration:
                break
            except MemoryError:
                raise
            except Exception as error:
                for rejection in rejections(error, reader, files):
                    yield self._counted(files, rejection)
                break
            if isinstance(item, CollaborationGraph):
                refused = None
            elif refused is not None:
                refused += 1
            yield self._counted(files, item)
        else:
            reason = f"none of its first {refused:,} records can be read: the rest is left out"
            yield self._counted(files, Rejection(files[0].uri, None, reason))
        self._done(files)

    def _counted(self, files: Sequence[LocalFile], item: Item) -> Item:
        if isinstance(item, Rejection):
            # What a reader quotes has not seen the policy.
            label = self.context.policy.label
            record = None if item.record is None else label(item.record)
            item = Rejection(item.file, record, label(item.reason))
            self.tally.rejected.append(item)
        else:
            self.tally.graph(item, [file.uri for file in files])
            self._tell(files)
        return item

    def _done(self, files: Sequence[LocalFile]) -> None:
        for file in files:
            if self.progress is not None:
                self._bytes_done += file.size or 0
            self._files_done += 1
            file.release()
            self._waiting.discard(file)
        self._tell(files, finished=True)

    def _tell(self, files: Sequence[LocalFile], *, finished: bool = False) -> None:
        if self.progress is None:
            return
        current = 0 if finished else sum(file.position for file in files)
        done = self._bytes_done + current
        total = self._bytes_total
        self.progress(
            Progress(
                file=files[0].uri,
                files_done=self._files_done,
                files_total=len(self.files),
                bytes_done=done if total is None else min(done, total),
                bytes_total=total,
                graphs=self.tally.runs + self.tally.decompositions,
                checking=self.checking,
            )
        )
