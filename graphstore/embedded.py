"""The default store: one file, no server."""

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import kglite

from graphstore import embedded_files, identity, operations, statements
from graphstore.embedded_client import QueryWorker
from graphstore.embedded_worker import answer
from graphstore.errors import StoreError
from graphstore.guard import checked
from graphstore.model import CollaborationGraph
from graphstore.rows import (
    DEFAULT_ROW_LIMIT,
    DEFAULT_TIMEOUT,
    Change,
    QueryResult,
    Rows,
    WriteReport,
)
from graphstore.schema import LABELS, RELATIONS
from graphstore.store_base import StoreBase, check_limits

CHECKPOINT_BYTES = 128 * 1024 * 1024
"""The smallest log that is folded into the file in the middle of a long write.

About 100,000 actions, and two seconds when it has to be replayed. Past that, a log as large
as the file: the cost of all checkpoints stays in proportion to what is written.
"""

_Result = TypeVar("_Result")


class EmbeddedStore(StoreBase):
    """A store in one file, with one writer at a time and any number of readers.

    A handle for writing sees every commit. A read-only one sees the last checkpoint and
    follows when there is a newer one; it takes no lock and keeps nothing mapped. Its queries
    run in a worker process (:mod:`graphstore.embedded_client`), which is started at once and
    checks the file; the graphs that it reads are loaded here when they are first asked for.

    Attributes:
        notices: What a person should know about the file, one sentence each: commits that
            a reader cannot see yet, a write that a killed process left unfinished.

    Args:
        path: The file; made if need be, unless ``read_only``.
        read_only: Refuse writes.

    Raises:
        StoreLockedError: Another handle is open for writing.
        StoreDamagedError: The file or its log fails its checks.
        StoreUnreachableError: The path cannot be opened.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self._path = Path(path)
        self._read_only = read_only
        self._lock = threading.RLock()
        self._graph: Any = None
        self._is_dirty = False
        self.notices: tuple[str, ...] = ()
        self._stamp: embedded_files.Stamp | None = None
        self._worker: QueryWorker | None = None
        if read_only:
            self._worker = QueryWorker(self._path)
            self.notices = self._worker.notices
        else:
            self._open()

    @property
    def url(self) -> str:
        """The path of the file."""
        return str(self._path)

    @property
    def read_only(self) -> bool:
        """Whether it refuses writes."""
        return self._read_only

    def write(self, graphs: Iterable[CollaborationGraph]) -> WriteReport:
        """Stores graphs, many in one commit, each whole or not at all.

        New graphs are merged in bulk; graphs that replace others take a transaction, which
        copies the store in memory.

        Args:
            graphs: Validated graphs, consumed lazily.

        Raises:
            StoreError: Nothing of the failed commit is stored; earlier ones stay.
        """
        self._writable()
        changes: list[tuple[str, Change]] = []
        sentences: dict[str, None] = {}
        for batch in operations.batches(graphs):
            with self._lock:
                done, said = self._write_batch(batch)
                self._checkpoint_if_long()
            changes.extend(done.items())
            sentences.update(dict.fromkeys(said))
        return WriteReport(tuple(changes), tuple(sentences))

    def delete(self, graph_ids: Sequence[str]) -> int:
        """Removes graphs with all that belongs to them alone; tells how many there were."""
        self._writable()
        ids = list(graph_ids)
        return self._changing(lambda run: operations.delete_graphs(run, ids))

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        row_limit: int = DEFAULT_ROW_LIMIT,
    ) -> QueryResult:
        """Answers a read-only Cypher text.

        The guard refuses what would write or read files; the engine refuses writes once
        more, because the handle is read-only while no write runs and no label may be
        written by a query.

        A read-only store keeps the time limit, and one of memory
        (``embedded_client.QUERY_MEMORY_BYTES``), whatever the query does. In a store that
        is open for writing, the engine looks at the time between rows only.

        Args:
            cypher: The query.
            parameters: Values for its parameters.
            timeout: Seconds, above 0.
            row_limit: Rows that are returned at most.

        Raises:
            QueryError: It would write, read a file, cannot be run, or needs too much memory.
            QueryTimeoutError: It ran into its time limit.
        """
        check_limits(timeout, row_limit)
        text = checked(cypher)
        if self._worker is not None:
            try:
                return self._worker.ask(text, parameters or {}, timeout, row_limit)
            finally:
                self.notices = self._worker.notices
        with self._current() as graph:
            return answer(graph, text, parameters or {}, timeout, row_limit)

    def write_results(self, rows: Rows, *, replace: Rows | None = None) -> None:
        """Stores mined or computed nodes and relations in one transaction.

        Raises:
            UsageError: A label, relation or property does not belong to results.
            StoreError: An end of a relation does not exist. Nothing is stored.
        """
        self._writable()
        self._changing(lambda run: operations.write_results(run, rows, replace))

    def checkpoint(self) -> None:
        """Folds the log into the file, so that readers see what was written."""
        self._writable()
        with self._lock, embedded_files.translated(self._path), _without_layout_warning():
            self._graph.save()
            self._is_dirty = False

    def close(self) -> None:
        """Makes a checkpoint of what was written and releases the file.

        Closing twice is fine.

        Raises:
            StoreError: The checkpoint could not be made. What was written is in the log.
        """
        if self._worker is not None:
            self._worker.close()
        with self._lock:
            if self._graph is None:
                return
            try:
                if not self._read_only and self._is_dirty:
                    self.checkpoint()
            finally:
                graph, self._graph = self._graph, None
                if not self._read_only:
                    embedded_files.release(graph)

    def _open(self) -> None:
        # With them comes pandas, which readers have no use for.
        from graphstore import embedded_bulk, embedded_load

        graph = embedded_files.open_for_writing(self._path)
        try:
            with embedded_files.translated(self._path):
                replayed = embedded_files.log_bytes(self._path)
                was_undone = embedded_load.undo_unfinished(graph)
                if graph.schema_version != _SCHEMA_VERSION:
                    embedded_bulk.declare_labels(graph)
                    for text in statements.index_statements():
                        graph.cypher(text)
                    graph.set_schema_version(_SCHEMA_VERSION)
                    with _without_layout_warning():
                        graph.save()
                    replayed = 0
                graph.read_only(True)
        except BaseException:
            embedded_files.release(graph)
            raise
        self._graph = graph
        self._is_dirty = replayed > embedded_files.EMPTY_LOG_BYTES
        self.notices = embedded_files.unfinished_writes(self._path)
        if was_undone:
            self.notices += (
                f"a write to {self._path} was not finished because its process died: what it "
                "had begun was undone",
            )

    def _load(self) -> None:
        # Taken before the file is read: a checkpoint in between is read twice, never missed.
        found = embedded_files.stamp(self._path) if self._path.exists() else None
        self._graph = embedded_files.load_for_reading(self._path)
        self._stamp = found
        unread = embedded_files.unread_log(self._path)
        self.notices = (unread,) if unread else ()

    def _writable(self) -> None:
        if self._read_only:
            raise StoreError(f"the store {self._path} was opened read-only")
        if self._graph is None:
            raise StoreError(f"the store {self._path} is closed")

    @contextmanager
    def _current(self) -> Iterator[Any]:
        """The engine's handle for reading: of a reader the newest checkpoint."""
        if not self._read_only:
            with self._lock:
                if self._graph is None:
                    raise StoreError(f"the store {self._path} is closed")
                yield self._graph
            return
        with self._lock:
            if self._worker is None or self._worker.is_closed:
                raise StoreError(f"the store {self._path} is closed")
            if self._graph is None or embedded_files.stamp(self._path) != self._stamp:
                self._load()
            graph = self._graph
        # A reader's handle never changes, so that queries of several threads run at once.
        yield graph

    def _reading(self, work: Callable[[operations.Runner], _Result]) -> _Result:
        with self._current() as graph, embedded_files.translated(self._path):
            return work(_runner(graph))

    def _changing(self, work: Callable[[operations.Runner], _Result]) -> _Result:
        with self._lock:
            with self._open_for_change() as graph, graph.begin() as transaction:
                result = work(_runner(transaction))
            self._is_dirty = True
            self._checkpoint_if_long()
        return result

    @contextmanager
    def _open_for_change(self) -> Iterator[Any]:
        from graphstore import embedded_load

        graph = self._graph
        with embedded_files.translated(self._path):
            graph.read_only(False)
            try:
                yield graph
            except embedded_load.UndoError:
                self._graph = None
                embedded_files.release(graph)
                raise
            finally:
                graph.read_only(True)

    def _write_batch(
        self, batch: list[CollaborationGraph]
    ) -> tuple[dict[str, Change], list[str]]:
        from graphstore import embedded_bulk, embedded_load

        with embedded_files.translated(self._path):
            run = _runner(self._graph)
            changes = operations.find_changes(run, batch)
        new: list[CollaborationGraph] = []
        others: list[CollaborationGraph] = []
        for graph in batch:
            change = changes[graph.id]
            if change == "replaced" or (change == "written" and not _owns_its_ids(graph)):
                others.append(graph)
            elif change == "written":
                new.append(graph)
        said: list[str] = []
        if others:
            said += self._changing(lambda run: operations.write_batch(run, others))[1]
        if new:
            with self._open_for_change() as handle:
                prepared = operations.prepare(run, new)
                self._is_dirty = True
                if sum(map(len, prepared.own.nodes.values())) < embedded_load.SMALLEST:
                    embedded_bulk.merge_prepared(handle, prepared)
                else:
                    embedded_load.load_prepared(handle, prepared, [graph.id for graph in new])
            said += prepared.warnings
        return changes, said

    def _checkpoint_if_long(self) -> None:
        """Keeps the log short: replaying it takes longer than reading a checkpoint."""
        log = embedded_files.log_bytes(self._path)
        if log > CHECKPOINT_BYTES and log > embedded_files.stamp(self._path)[1]:
            self.checkpoint()


_SCHEMA_VERSION = int(identity.configuration_hash([*LABELS, *RELATIONS])[:7], 16)
"""Made from the table: a file that another table made gets what it lacks."""


def _runner(graph: Any) -> operations.Runner:
    def run(text: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        view = graph.cypher(text, params=dict(parameters), timeout_ms=0)
        columns = view.columns
        if not columns:
            return []
        return list(zip(*[view.column(name) for name in columns], strict=True))

    return run


def _owns_its_ids(graph: CollaborationGraph) -> bool:
    """Whether no other graph can have its ids, so that merging cannot touch anything."""
    prefix = f"{graph.id}/"
    return all(
        part.id.startswith(prefix)
        for parts in (graph.nodes, graph.agents, graph.resources, graph.proposals)
        for part in parts
    )


@contextmanager
def _without_layout_warning() -> Iterator[None]:
    """Zoned datetimes cannot be mapped from the file; a reader maps nothing anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kglite.MappedFallbackWarning)
        yield
