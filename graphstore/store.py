"""What a store can do, and the door to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self

from graphstore.model import CollaborationGraph, GraphKind
from graphstore.rows import DEFAULT_ROW_LIMIT, DEFAULT_TIMEOUT, QueryResult, Rows, WriteReport


class GraphStore(Protocol):
    """A place where graphs are kept.

    Use it as a context manager, or call :meth:`close`. Both stores answer one Cypher text
    with the same values.
    """

    @property
    def url(self) -> str:
        """Where it is, without a password."""

    @property
    def read_only(self) -> bool:
        """Whether it refuses writes."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about the store as it was found, one sentence each."""

    def write(self, graphs: Iterable[CollaborationGraph]) -> WriteReport:
        """Stores graphs, many in one transaction, each whole or not at all.

        Args:
            graphs: Validated graphs. A graph that is stored already with the same content
                changes nothing; one with the same id and other content replaces it.

        Raises:
            StoreError: Nothing of the failed transaction is stored.
        """

    def read(self, graph_id: str) -> CollaborationGraph:
        """The graph that was written, every field.

        Raises:
            NotFoundError: No graph has that id.
        """

    def graphs(
        self,
        *,
        kind: GraphKind | None = None,
        dataset: str | None = None,
        method: str | None = None,
        task: str | None = None,
        ids: Sequence[str] | None = None,
    ) -> Iterator[CollaborationGraph]:
        """Streams graphs in the order of their ids.

        Args:
            kind: Only runs, or only decompositions.
            dataset: Only of that data set (name).
            method: Only of that method (name).
            task: Only of that task (name or id).
            ids: Only these.
        """

    def delete(self, graph_ids: Sequence[str]) -> int:
        """Removes graphs with all that belongs to them alone; tells how many there were."""

    def query(
        self,
        cypher: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        row_limit: int = DEFAULT_ROW_LIMIT,
    ) -> QueryResult:
        """Answers a read-only Cypher text.

        Raises:
            QueryError: It would write, read a file, or cannot be run.
            QueryTimeoutError: It ran into its time limit.
        """

    def write_results(self, rows: Rows, *, replace: Rows | None = None) -> None:
        """Stores mined or computed nodes and relations in one transaction.

        Args:
            rows: Nodes of the scopes ``mined`` and ``result``; relations whose ends are in
                ``rows`` or in the store. Equal ids are overwritten.
            replace: Nodes (only their ids matter) to remove first, with their relations.

        Raises:
            StoreError: An end of a relation does not exist. Nothing is stored.
        """

    def counts(self) -> dict[str, int]:
        """Number of nodes of each label and of relations of each type that occur."""

    def checkpoint(self) -> None:
        """Makes what was written visible to readers of an embedded file."""

    def close(self) -> None:
        """Releases the file or the connection. Closing twice is fine."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


SERVER_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def open_store(
    url: str | None = None,
    *,
    read_only: bool = False,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
) -> GraphStore:
    """Opens a store.

    Args:
        url: A path opens the embedded store and makes it if need be; ``bolt://`` and
            ``neo4j://`` with their ``+s`` and ``+ssc`` forms open Neo4j. By default the
            environment variable ``MASGRAPH_STORE``, else ``masgraph.db``.
        read_only: Refuse writes. An embedded file can then be open elsewhere.
        user: For Neo4j; by default ``NEO4J_USER``, else ``neo4j``.
        password: For Neo4j; by default ``NEO4J_PASSWORD``; without one, no authentication.
        database: For Neo4j; by default the server's own.

    Raises:
        UsageError: The URL has a scheme that no store knows.
        StoreError: It cannot be opened; the subclass says why.
    """
    import os

    from graphstore.errors import UsageError

    address = url or os.environ.get("MASGRAPH_STORE") or "masgraph.db"
    scheme, separator, _ = address.partition("://")
    if separator and scheme in SERVER_SCHEMES:
        from graphstore.neo4j import Neo4jStore

        return Neo4jStore(
            address,
            user=user or os.environ.get("NEO4J_USER") or "neo4j",
            password=password or os.environ.get("NEO4J_PASSWORD"),
            database=database,
            read_only=read_only,
        )
    if separator and scheme != "file":
        raise UsageError(
            f"no store is known for {scheme}://: use a path, or one of "
            + ", ".join(f"{name}://" for name in SERVER_SCHEMES)
        )
    try:
        from graphstore.embedded import EmbeddedStore
    except ImportError as error:
        from graphstore.errors import StoreError, unloadable

        raise StoreError(unloadable("kglite", error)) from None
    path = address.removeprefix("file://")
    return EmbeddedStore(path, read_only=read_only)
