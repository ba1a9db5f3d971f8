"""The store on a Neo4j server, over Bolt with the official driver."""

import contextlib
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

import neo4j
import neo4j.exceptions

from graphstore import operations, statements
from graphstore.errors import (
    QueryError,
    StoreDamagedError,
    StoreError,
    UsageError,
)
from graphstore.guard import checked
from graphstore.model import CollaborationGraph
from graphstore.neo4j_errors import (
    FAILURES,
    is_lack_of_memory,
    may_pass,
    one_line,
    query_error,
    store_error,
)
from graphstore.neo4j_values import plain
from graphstore.rows import (
    DEFAULT_ROW_LIMIT,
    DEFAULT_TIMEOUT,
    Change,
    QueryResult,
    Rows,
    WriteReport,
)
from graphstore.schema import LABELS
from graphstore.store_base import StoreBase, check_limits

BATCH_NODES = 20_000
"""Nodes that share a transaction: a server's default heap holds them several times over."""

RETRY_SECONDS = 15.0
"""How long a transaction is tried again after a deadlock or a lost connection."""

CONNECT_SECONDS = 10.0
OLDEST = 5
_Answer = TypeVar("_Answer")

# Without a handler of the application, Python would print the driver's lines about broken
# connections beside masgraph's own sentence.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class _TooLargeError(Exception):
    """The server has not enough memory for a transaction."""


class Neo4jStore(StoreBase):
    """Keeps graphs in Neo4j 5 or newer.

    Args:
        uri: ``bolt://`` or ``neo4j://``, with ``+s`` or ``+ssc`` for encryption.
        user: The user's name; not used without a password.
        password: None for a server without authentication.
        database: None for the server's default one.
        read_only: Refuse writes.

    Raises:
        UsageError: The URI makes no sense.
        StoreUnreachableError: No Neo4j server answers there.
        StoreAuthError: The server refused user or password.
        StoreError: The server is too old or is no Neo4j.
    """

    def __init__(
        self,
        uri: str,
        *,
        user: str = "neo4j",
        password: str | None = None,
        database: str | None = None,
        read_only: bool = False,
    ) -> None:
        self._url = _without_password(uri)
        self._database = database
        self._read_only = read_only
        self._has_schema = False
        self._closed = False
        try:
            self._driver = neo4j.GraphDatabase.driver(
                self._url,
                auth=(user, password) if password else None,
                user_agent="masgraph",
                connection_timeout=CONNECT_SECONDS,
                connection_acquisition_timeout=2 * CONNECT_SECONDS,
                max_transaction_retry_time=RETRY_SECONDS,
                notifications_min_severity="OFF",
            )
        except (neo4j.exceptions.ConfigurationError, ValueError, TypeError) as error:
            raise UsageError(f"{self._url} is no address of a Neo4j server: {error}") from error
        try:
            with self._translated():
                self._check_server()
        except BaseException:
            self._driver.close()
            raise

    @property
    def url(self) -> str:
        """The server's URI, without a password."""
        return self._url

    @property
    def read_only(self) -> bool:
        """Whether it refuses writes."""
        return self._read_only

    @property
    def notices(self) -> tuple[str, ...]:
        """Nothing: a server looks after its own log."""
        return ()

    def write(self, graphs: Iterable[CollaborationGraph]) -> WriteReport:
        """Stores graphs, many in one transaction, each whole or not at all.

        Raises:
            StoreError: Nothing of the failed transaction is stored; earlier ones stay.
        """
        self._need_writable()
        self._ensure_schema()
        changes: list[tuple[str, Change]] = []
        warnings: dict[str, None] = {}
        for batch in operations.batches(graphs, BATCH_NODES):
            for done, said in self._write_batch(batch):
                changes += done.items()
                warnings.update(dict.fromkeys(said))
        return WriteReport(tuple(changes), tuple(warnings))

    def delete(self, graph_ids: Sequence[str]) -> int:
        """Removes graphs with all that belongs to them alone; tells how many there were."""
        self._need_writable()
        return self._delete(list(dict.fromkeys(graph_ids)))

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        row_limit: int = DEFAULT_ROW_LIMIT,
    ) -> QueryResult:
        """Answers a read-only Cypher text.

        The guard refuses what would write; the server refuses it once more, because the
        transaction is one for reading. It also ends the transaction at the time limit. Rows
        past the limit stay on the server.

        Raises:
            QueryError: It would write, read a file, or cannot be run.
            QueryTimeoutError: It ran into its time limit.
        """
        check_limits(timeout, row_limit)
        text = checked(cypher)
        try:
            with self._session(
                neo4j.READ_ACCESS, fetch_size=min(row_limit + 1, 1000)
            ) as session:
                transaction = session.begin_transaction(timeout=timeout)
                try:
                    result = transaction.run(text, dict(parameters or {}))
                    columns = tuple(result.keys())
                    rows: list[tuple[Any, ...]] = []
                    truncated = False
                    for record in result:
                        if len(rows) == row_limit:
                            truncated = True
                            break
                        rows.append(tuple(plain(value) for value in record.values()))
                finally:
                    # Closing rolls back, and tells the server to forget the other rows.
                    transaction.close()
        except (OverflowError, TypeError, ValueError) as error:
            raise QueryError(
                f"a parameter cannot be sent to Neo4j: {one_line(error)}"
            ) from error
        except FAILURES as error:
            raise query_error(error, timeout, self._url, self._database) from error
        return QueryResult(columns, tuple(rows), truncated)

    def write_results(self, rows: Rows, *, replace: Rows | None = None) -> None:
        """Stores mined or computed nodes and relations in one transaction.

        Raises:
            UsageError: A label, relation or property does not belong to results.
            StoreError: An end of a relation does not exist. Nothing is stored.
        """
        self._need_writable()
        self._ensure_schema()
        try:
            self._write(lambda run: operations.write_results(run, rows, replace))
        except _TooLargeError as error:
            raise StoreError(
                f"the server at {self._url} has not enough memory for these results in one "
                "transaction: raise dbms.memory.transaction.total.max or its heap"
            ) from error

    def checkpoint(self) -> None:
        """Does nothing: what a server has committed is visible to every reader."""

    def close(self) -> None:
        """Closes the connections. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(*FAILURES):
                self._driver.close()

    def _check_server(self) -> None:
        """Connects, logs in, and looks at the server's own name and version."""
        with self._session(neo4j.READ_ACCESS) as session:
            result = session.run("RETURN 1 AS one")
            agent = result.consume().server.agent
        check_agent(agent or "", self._url)

    def _session(self, mode: str, **options: Any) -> neo4j.Session:
        if self._closed:
            raise StoreError(f"the store at {self._url} is closed")
        return self._driver.session(
            database=self._database, default_access_mode=mode, **options
        )

    def _need_writable(self) -> None:
        if self._read_only:
            raise StoreError(f"the store at {self._url} was opened read-only")

    def _ensure_schema(self) -> None:
        """Creates the constraints and indexes that are missing, once in this store's life."""
        if self._has_schema:
            return
        with self._translated(), self._session(neo4j.WRITE_ACCESS) as session:
            if self._unconstrained(session):
                for text in statements.constraint_statements():
                    session.execute_write(_run_once, text)
            missing = self._unconstrained(session)
            if missing:
                raise StoreError(
                    f"the database at {self._url} has another constraint or index named "
                    f"{missing[0].lower()}_id: masgraph needs that name for unique ids of "
                    f"{missing[0]}"
                )
            known = {row[0] for row in session.run("SHOW INDEXES YIELD name")}
            for text in statements.index_statements():
                if text.split()[2] not in known:
                    session.execute_write(_run_once, text)
            session.run("CALL db.awaitIndexes(300)").consume()
        self._has_schema = True

    @staticmethod
    def _unconstrained(session: neo4j.Session) -> list[str]:
        result = session.run(
            "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties "
            "WHERE type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY'] "
            "AND properties = ['id'] RETURN labelsOrTypes[0] AS label"
        )
        known = {row[0] for row in result}
        return [label.name for label in LABELS if label.name not in known]

    def _write_batch(
        self, graphs: list[CollaborationGraph]
    ) -> Iterator[tuple[dict[str, Change], list[str]]]:
        """Writes graphs in one transaction, or in several where memory asks for it."""
        try:
            done = self._write(lambda run: operations.write_batch(run, graphs))
        except _TooLargeError as error:
            if len(graphs) == 1:
                raise StoreError(
                    f"the server at {self._url} has not enough memory to store the graph "
                    f"{graphs[0].id} in one transaction: raise "
                    "dbms.memory.transaction.total.max or its heap"
                ) from error
        else:
            yield done
            return
        half = len(graphs) // 2
        yield from self._write_batch(graphs[:half])
        yield from self._write_batch(graphs[half:])

    def _delete(self, ids: list[str]) -> int:
        """Removes graphs in one transaction, or in several where memory asks for it."""
        try:
            return self._write(lambda run: operations.delete_graphs(run, ids))
        except _TooLargeError as error:
            if len(ids) == 1:
                raise StoreError(
                    f"the server at {self._url} has not enough memory to remove the graph "
                    f"{ids[0]}: raise dbms.memory.transaction.total.max or its heap"
                ) from error
        half = len(ids) // 2
        return self._delete(ids[:half]) + self._delete(ids[half:])

    def _write(self, work: Callable[[operations.Runner], _Answer]) -> _Answer:
        """Runs work in a transaction of its own, again where that may help.

        The driver's own retries would not do: they take the lack of memory for something
        that passes, and a commit whose answer got lost for a failure. All work here may be
        done twice, because it looks at what is stored first.
        """
        deadline = time.monotonic() + RETRY_SECONDS
        pause = 0.1
        with self._translated(), self._session(neo4j.WRITE_ACCESS) as session:
            while True:
                try:
                    with session.begin_transaction() as transaction:
                        answer = work(_runner(transaction))
                        transaction.commit()
                        return answer
                except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError) as error:
                    if is_lack_of_memory(error):
                        raise _TooLargeError from error
                    if not may_pass(error) or time.monotonic() + pause > deadline:
                        raise
                time.sleep(pause)
                pause = min(2 * pause, 2.0)

    def _reading(self, work: Callable[[operations.Runner], _Answer]) -> _Answer:
        with self._translated(), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda transaction: work(_runner(transaction)))

    def _reading_group(self, ids: list[str]) -> list[CollaborationGraph]:
        # Each statement sees what is committed at its time: a graph that is replaced in
        # between has parts that do not fit, and is whole again a moment later.
        for pause in (0.05, 0.5):
            with contextlib.suppress(StoreDamagedError, KeyError):
                return self._reading(lambda run: operations.read_graphs(run, ids))
            time.sleep(pause)
        return self._reading(lambda run: operations.read_graphs(run, ids))

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Turns the driver's errors into one sentence of masgraph's own."""
        try:
            yield
        except FAILURES as error:
            raise store_error(error, self._url, self._database) from error


def check_agent(agent: str, url: str) -> None:
    """Looks at the name and version that a server gives of itself.

    Args:
        agent: For example ``Neo4j/5.26.30``.
        url: The server's URI, for the sentence.

    Raises:
        StoreError: It is no Neo4j, or too old.
    """
    found = re.fullmatch(r"Neo4j/(\d+)\.[\w.\-+]+", agent)
    if found is None:
        raise StoreError(f"the server at {url} is no Neo4j: it says {agent!r}")
    if int(found[1]) < OLDEST:
        raise StoreError(
            f"the server at {url} is {agent.replace('/', ' ')}, which is too old: "
            f"masgraph needs Neo4j {OLDEST} or newer"
        )


def _run_once(transaction: neo4j.ManagedTransaction, text: str) -> None:
    transaction.run(text).consume()


def _runner(transaction: neo4j.ManagedTransaction | neo4j.Transaction) -> operations.Runner:
    def run(text: str, parameters: Mapping[str, Any]) -> list[list[Any]]:
        return [
            [plain(value) for value in record.values()]
            for record in transaction.run(text, dict(parameters))
        ]

    return run


def _without_password(uri: str) -> str:
    """The URI as it may be shown; names and passwords do not belong into it."""
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise UsageError(f"{uri.rpartition('@')[2]} is no address: {error}") from error
    if parts.username or parts.password:
        shown = f"{parts.scheme}://{parts.hostname}" + (f":{port}" if port else "")
        raise UsageError(
            f"{shown} comes with a user or password inside: set NEO4J_USER and "
            "NEO4J_PASSWORD instead, because an address ends up in logs"
        )
    return uri
