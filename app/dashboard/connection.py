"""The store behind the pages: open for reading, asked through saved queries, remembered.

Answers are kept by the store's fingerprint: a newer checkpoint of a file makes them stale at
once. A server has no such mark, so there they are kept for :data:`KEPT_SECONDS`.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.dashboard.settings import LIVE_RUNS, PAGE_SECONDS, current
from graphstore.errors import MasgraphError, NotFoundError, StoreError, StoreUnreachableError
from graphstore.rows import QueryResult
from graphstore.store import SERVER_SCHEMES, GraphStore, open_store

if TYPE_CHECKING:
    from app.stored_reports import ReportHead, StoredReport
    from graphstore.model import CollaborationGraph

KEPT_SECONDS = 60
"""How long an answer of a server is taken for fresh."""

KEPT_ANSWERS = 1_000
KEPT_GRAPHS = 24
MANY = 1_000_000_000


@dataclass(frozen=True)
class Place:
    """Where a store is.

    Attributes:
        address: As it was given, without a password.
        file: The embedded store's file, None for a server.
    """

    address: str
    file: Path | None


def place_of(address: str) -> Place:
    """Where an address leads."""
    scheme, separator, rest = address.partition("://")
    if separator and scheme in SERVER_SCHEMES:
        return Place(f"{scheme}://{rest.rpartition('@')[2]}", None)
    return Place(address, Path(address.removeprefix("file://")))


class Connection:
    """A store that may go away and come back.

    It is opened when it is first asked, and again after it failed. Pages of all sessions
    share one; the console has its own, so that a long query holds up nobody else.

    Args:
        address: A path or URL.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._store: GraphStore | None = None
        self.place = place_of(address)

    def is_to_be_made(self) -> bool:
        """Whether this is an embedded store of which nothing is there yet."""
        file = self.place.file
        return file is not None and not file.exists() and not _log_of(file).exists()

    def store(self) -> GraphStore:
        """The store, open for reading.

        Raises:
            StoreError: It cannot be opened; the sentence says why.
        """
        with self._lock:
            if self._store is None:
                if self.is_to_be_made():
                    file = self.place.file
                    raise StoreUnreachableError(
                        f"there is no store at {file} yet: drop files on the page Ingest, or "
                        f"run  masgraph ingest PATH --store {file}"
                    )
                self._store = open_store(self._address, read_only=True)
            return self._store

    def reset(self) -> None:
        """Closes the store; the next question opens it again."""
        with self._lock:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    def fingerprint(self) -> str:
        """What changes when the content may have changed.

        Raises:
            StoreError: The file is gone.
        """
        if self.place.file is None:
            return "server"
        from graphstore.embedded_files import stamp

        if not self.place.file.exists():
            self.reset()
            return self.store().url  # raises, with the sentence
        return repr(stamp(self.place.file))

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float = PAGE_SECONDS,
        row_limit: int = MANY,
    ) -> QueryResult:
        """Answers a read-only text; a store that failed is opened again next time.

        Raises:
            QueryError: It was refused, failed, or ran into its limit.
            StoreError: The store cannot be used.
        """
        self.fingerprint()
        try:
            return self.store().query(cypher, parameters, timeout=timeout, row_limit=row_limit)
        except StoreError:
            self.reset()
            raise

    def read(self, graph_id: str) -> "CollaborationGraph":
        """One graph, through queries: a file is not loaded into this process for it.

        Raises:
            NotFoundError: No graph has that id.
        """
        from graphstore import operations

        found = operations.read_graphs(self._run, [graph_id])
        if not found:
            raise NotFoundError(f"the store has no run or decomposition {graph_id!r}")
        return found[0]

    def counts(self) -> dict[str, int]:
        """Number of nodes of each label and of relations of each type that occur."""
        from graphstore import operations

        return operations.count_all(self._run)

    def _run(self, text: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return list(self.query(text, parameters).rows)


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def connection() -> Connection:
    """The connection that the pages share."""
    return _connection(current().address, "pages")


def console_connection() -> Connection:
    """The connection of the page Cypher."""
    return _connection(current().address, "console")


_connections: dict[tuple[str, str], Connection] = {}
_opening = threading.Lock()


def _connection(address: str, use: str) -> Connection:
    with _opening:
        return _connections.setdefault((address, use), Connection(address))


def warm() -> None:
    """Opens the store and asks what the first pages ask, so that nobody waits for it.

    A store that does not exist yet is no error: the page Ingest makes it. What an engine
    cannot answer in time is none either: the pages say so.

    Raises:
        StoreError: The store cannot be opened, so that no page could show anything.
    """
    source = connection()
    if source.is_to_be_made():
        return
    try:
        source.counts()
        for name in ("number-of-runs", "runs"):
            _fetch(source, "answer", (name, tuple(_defaults(name).items())))
        _fetch(source, "overview", None)
    except StoreError:
        source.reset()
        raise
    except MasgraphError:
        source.reset()


def _defaults(name: str) -> dict[str, Any]:
    from graphstore.queries import bind, saved_query

    return bind(saved_query(name), {})


def close_all() -> None:
    """Closes every store, and forgets every answer."""
    with _opening:
        for one in _connections.values():
            one.reset()
        _connections.clear()
    forget()


def forget() -> None:
    """Forgets every answer: somebody wrote to the store."""
    for kept in _kept or ():
        kept.clear()


def ask(name: str, parameters: Mapping[str, Any] | None = None) -> QueryResult:
    """Answers a saved query, from memory where the store is as it was.

    Args:
        name: Of the saved query.
        parameters: Values by name; those that are left out have their defaults.

    Raises:
        UsageError: A parameter is unknown or does not fit.
        QueryError: It ran into its time limit.
        StoreError: The store cannot be used.
    """
    from graphstore.queries import bind, saved_query

    bound = bind(saved_query(name), dict(parameters or {}))
    found: QueryResult = _remembered("answer", connection(), (name, tuple(bound.items())))
    return found


def graph(graph_id: str) -> "CollaborationGraph":
    """A run or a decomposition, whole.

    Raises:
        NotFoundError: No graph has that id.
        StoreError: The store cannot be used.
    """
    source = connection()
    found: CollaborationGraph = _remembered("graph", source, graph_id)
    return found


def counts() -> dict[str, int]:
    """Number of nodes of each label and of relations of each type."""
    found: dict[str, int] = _remembered("counts", connection(), None)
    return found


def report_heads(kind: str | None = None) -> "list[ReportHead]":
    """The reports that are stored."""
    found: list[ReportHead] = _remembered("heads", connection(), kind)
    return found


def report(report_id: str) -> "StoredReport":
    """A stored report.

    Raises:
        NotFoundError: There is no such report.
    """
    found: StoredReport = _remembered("report", connection(), report_id)
    return found


def newest_report(kind: str) -> "StoredReport | None":
    """The stored report of a kind that rests on the most runs, None without one."""
    heads = report_heads(kind)
    if not heads:
        return None
    return report(max(heads, key=lambda head: (head.runs, head.report)).report)


def overview() -> "Overview":
    """The overview that a job made, or, of a small store, one that is made now."""
    found: Overview = _remembered("overview", connection(), None)
    return found


@dataclass(frozen=True)
class Overview:
    """What is known of the whole store.

    Attributes:
        document: See :func:`app.overview_jobs.overview_document`; None where nobody computed
            it and the store is too large to do so for a page.
        is_stale: Whether the store has changed since.
    """

    document: dict[str, Any] | None
    is_stale: bool


def _overview(source: Connection) -> Overview:
    from app.overview_jobs import is_stale, overview_document, stored_overview
    from graphstore.queries import bind, saved_query

    def ask_now(name: str, parameters: Mapping[str, Any]) -> QueryResult:
        saved = saved_query(name)
        return source.query(saved.cypher, bind(saved, parameters))

    found = source.counts()
    if found.get("Run", 0) + found.get("Decomposition", 0) <= LIVE_RUNS:
        return Overview(overview_document(ask_now, found), is_stale=False)
    stored = stored_overview(source.store())
    if stored is None:
        return Overview(None, is_stale=False)
    return Overview(stored.document, is_stale(stored.document, found))


def _remembered(what: str, source: Connection, key: Any) -> Any:
    answers, graphs = _caches()
    kept = graphs if what == "graph" else answers
    return kept(source, (source.place.address, source.fingerprint()), what, key)


def _caches() -> tuple[Any, Any]:
    """Made once in this process: Streamlit keeps what they remember."""
    global _kept
    if _kept is None:
        import streamlit

        def answers(_source: Connection, mark: Any, what: str, key: Any) -> Any:  # noqa: ARG001
            return _fetch(_source, what, key)

        def graphs(_source: Connection, mark: Any, what: str, key: Any) -> Any:  # noqa: ARG001
            return _fetch(_source, what, key)

        options: dict[str, Any] = {"ttl": KEPT_SECONDS, "show_spinner": False}
        _kept = (
            streamlit.cache_data(**options, max_entries=KEPT_ANSWERS)(answers),
            streamlit.cache_resource(**options, max_entries=KEPT_GRAPHS)(graphs),
        )
    return _kept


_kept: tuple[Any, Any] | None = None


def _fetch(source: Connection, what: str, key: Any) -> Any:
    from app import stored_reports
    from graphstore.queries import saved_query

    if what == "answer":
        name, items = key
        return source.query(saved_query(name).cypher, dict(items))
    if what == "graph":
        return source.read(key)
    if what == "counts":
        return source.counts()
    if what == "overview":
        return _overview(source)
    store = source.store()
    try:
        if what == "heads":
            return stored_reports.report_heads(store, key)
        return stored_reports.read_report(store, key)
    except StoreError:
        source.reset()
        raise
