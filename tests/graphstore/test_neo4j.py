"""What only the Neo4j store does: its errors, its retries, its schema, its memory."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j as driver
import pytest

from graphstore import neo4j as module
from graphstore import operations, statements
from graphstore.builder import GraphBuilder
from graphstore.errors import (
    StoreAuthError,
    StoreError,
    StoreUnreachableError,
    UsageError,
)
from graphstore.model import CollaborationGraph
from graphstore.neo4j import Neo4jStore
from graphstore.neo4j_values import plain
from graphstore.rows import Rows

PASSWORD = "right-password"

pytestmark = pytest.mark.neo4j_server


def graph(name: str, size: int = 3, content: str = "x", task: str = "t") -> CollaborationGraph:
    builder = GraphBuilder("run", "test", "file", content=name)
    builder.set_task(task, dataset="d")
    builder.set_method("m")
    agent = builder.new_agent("a", role="solver")
    for position in range(size):
        builder.add("agent_message", "a", agent=agent, content=f"{name} {position} {content}")
        if position:
            builder.edge(position - 1, position, "continued")
    return builder.build()


@pytest.fixture
def store(neo4j_database: Any) -> Iterator[Neo4jStore]:
    with Neo4jStore(neo4j_database.uri, **neo4j_database.options) as opened:
        yield opened


@pytest.fixture
def session(neo4j_database: Any) -> Iterator[driver.Session]:
    auth = (neo4j_database.user, neo4j_database.password) if neo4j_database.password else None
    with (
        driver.GraphDatabase.driver(neo4j_database.uri, auth=auth) as connection,
        connection.session() as opened,
    ):
        yield opened


class Proxy:
    """A TCP proxy before the server that cuts connections: after some bytes, or for good.

    Args:
        uri: The server.

    Attributes:
        cut_after: Bytes from the client after which each coming connection breaks.
        connections: How many there were.
    """

    def __init__(self, uri: str) -> None:
        host, _, port = uri.rpartition("//")[2].partition(":")
        self._target = (host, int(port or 7687))
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.cut_after: list[int] = []
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"
        self._start(self._accept)

    def _start(self, target: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def cut(self) -> None:
        """Breaks the connections there are."""
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Breaks everything and takes no new connection."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(10)
        self._listener.close()
        for end in self._ends:
            end.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            self.connections += 1
            self._ends += [client, server]
            limit = self.cut_after.pop(0) if self.cut_after else None
            self._start(self._pump, client, server, limit)
            self._start(self._pump, server, client, None)

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket, limit: int | None) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                passed += len(data)
                if limit is not None and passed > limit:
                    break
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def one_port() -> Iterator[tuple[socket.socket, str]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener, f"bolt://127.0.0.1:{listener.getsockname()[1]}"


def answer_once(listener: socket.socket, answer: bytes) -> None:
    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                with client:
                    client.recv(1024)
                    client.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()


# --- opening ------------------------------------------------------------------------------


def test_no_server(one_port: tuple[socket.socket, str]) -> None:
    listener, uri = one_port
    listener.close()
    with pytest.raises(StoreUnreachableError, match=f"^no Neo4j answers at {uri}: ") as caught:
        Neo4jStore(uri)
    assert "\n" not in str(caught.value)


def test_no_such_host() -> None:
    with pytest.raises(StoreUnreachableError, match=r"bolt://no-such-host\.invalid"):
        Neo4jStore("bolt://no-such-host.invalid:7687")


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-x\r\n", b"", b"\0\0\0\0", b"\0\0\0\x01"],
)
def test_something_else_answers(one_port: tuple[socket.socket, str], answer: bytes) -> None:
    listener, uri = one_port
    answer_once(listener, answer)
    with pytest.raises(StoreError, match=uri) as caught:
        Neo4jStore(uri)
    assert "\n" not in str(caught.value)


def test_nothing_is_said(
    one_port: tuple[socket.socket, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 1.0)
    with pytest.raises(StoreUnreachableError, match=one_port[1]):
        Neo4jStore(one_port[1])


@pytest.mark.parametrize("uri", ["bolt://x:port", "bolt://", "neo4j://localhost:99999"])
def test_no_address(uri: str) -> None:
    with pytest.raises((UsageError, StoreUnreachableError)) as caught:
        Neo4jStore(uri)
    assert "\n" not in str(caught.value)


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError, match="NEO4J_PASSWORD") as caught:
        Neo4jStore("bolt://neo4j:sesame@localhost:7687")
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        ("Neo4j/4.4.30", "Neo4j 4.4.30, which is too old"),
        ("Neo4j/3.5.0-SNAPSHOT", "too old"),
        ("Neo4j/v5.11.0 compatible graph database server - Memgraph", "is no Neo4j"),
        ("SomethingElse/5.0", "is no Neo4j"),
        ("", "is no Neo4j"),
    ],
)
def test_other_servers_are_told_apart(agent: str, sentence: str) -> None:
    with pytest.raises(StoreError, match=sentence):
        module.check_agent(agent, "bolt://x")


@pytest.mark.parametrize("agent", ["Neo4j/5.26.30", "Neo4j/5.3.0+1", "Neo4j/2025.10.1"])
def test_newer_servers_are_taken(agent: str) -> None:
    module.check_agent(agent, "bolt://x")


def test_an_unknown_database(neo4j_database: Any) -> None:
    with pytest.raises(StoreUnreachableError, match="no database named 'nosuch'"):
        Neo4jStore(neo4j_database.uri, **neo4j_database.options, database="nosuch")


@pytest.mark.slow
def test_a_wrong_password(neo4j_server: Any, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        if neo4j_server.password:
            uri, password = neo4j_server.uri, neo4j_server.password
        else:
            password = PASSWORD
            uri = stack.enter_context(started(tmp_path / "data"))
        for wrong in ("wrong-password", None):
            with pytest.raises(StoreAuthError, match="NEO4J_USER and NEO4J_PASSWORD") as caught:
                Neo4jStore(uri, password=wrong)
            assert "wrong-password" not in str(caught.value)
        with Neo4jStore(uri, user=neo4j_server.user, password=password) as opened:
            assert opened.query("RETURN 1 AS x").rows == ((1,),)


@contextlib.contextmanager
def started(data: Path, *options: str) -> Iterator[str]:
    """A server of its own, with a password."""
    script = Path(__file__).resolve().parents[2] / "scripts" / "neo4j-local"

    def command(name: str, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, str(script), name, "--data", str(data), *arguments],
            env={**os.environ, "NEO4J_PASSWORD": PASSWORD},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    try:
        yield json.loads(command("start", "--json", *options))["uri"]
    finally:
        command("stop")


# --- connections that break ---------------------------------------------------------------


def test_a_cut_connection_is_tried_again_and_doubles_nothing(
    neo4j_database: Any, store: Neo4jStore
) -> None:
    graphs = [graph(f"g{number}", 20, content="y" * 200) for number in range(20)]
    # The first connection logs in and makes the schema; the next two break inside the rows.
    proxy = Proxy(neo4j_database.uri)
    with (
        contextlib.closing(proxy),
        Neo4jStore(proxy.uri, **neo4j_database.options) as broken,
    ):
        broken.write([])
        broken.write(graphs[:1])
        proxy.cut_after[:] = [20_000, 60_000]
        proxy.cut()
        report = broken.write(graphs)
        assert proxy.connections >= 3
    assert (report.written, report.unchanged) == (19, 1)
    assert store.counts()["Action"] == 400
    assert list(store.graphs()) == sorted(graphs, key=lambda one: one.id)


def test_a_lost_server_is_told_and_nothing_half_is_stored(
    neo4j_database: Any, store: Neo4jStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 1.0)
    monkeypatch.setattr(module, "CONNECT_SECONDS", 1.0)
    proxy = Proxy(neo4j_database.uri)
    with Neo4jStore(proxy.uri, **neo4j_database.options) as lost:
        lost.write([graph("first")])

        def stream() -> Iterator[CollaborationGraph]:
            yield graph("second", 50)
            proxy.close()
            yield graph("third", 50)

        with pytest.raises(StoreUnreachableError, match=f"no Neo4j answers at {proxy.uri}"):
            lost.write(stream())
        with pytest.raises(StoreUnreachableError, match=proxy.uri):
            lost.query("RETURN 1 AS x")
        with pytest.raises(StoreUnreachableError, match=proxy.uri):
            lost.read("run-x")
    assert list(store.graphs()) == [graph("first")]


def test_a_closed_store_says_so(store: Neo4jStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.query("RETURN 1 AS x")


# --- schema -------------------------------------------------------------------------------


def test_the_schema_is_made_once(
    neo4j_database: Any, store: Neo4jStore, session: driver.Session
) -> None:
    store.write([graph("a")])
    names = {row["name"] for row in session.run("SHOW CONSTRAINTS YIELD name")}
    assert {"run_id", "action_id", "motif_id"} <= names
    indexes = {
        row["name"]: row["state"] for row in session.run("SHOW INDEXES YIELD name, state")
    }
    assert indexes["action_role"] == indexes["run_name"] == "ONLINE"
    with Neo4jStore(neo4j_database.uri, **neo4j_database.options) as again:
        again.write([graph("b")])
    assert {row["name"] for row in session.run("SHOW INDEXES YIELD name")} == set(indexes)


def test_somebody_elses_duplicates_are_told(store: Neo4jStore, session: driver.Session) -> None:
    session.run("DROP CONSTRAINT run_id IF EXISTS").consume()
    session.run("CREATE (:Run {id: 'x'}), (:Run {id: 'x'})").consume()
    with pytest.raises(StoreError, match="failed: ") as caught:
        store.write([graph("a")])
    assert "\n" not in str(caught.value)
    session.run("MATCH (n:Run) DETACH DELETE n").consume()
    assert store.write([graph("a")]).written == 1


def test_somebody_elses_constraint_is_told(store: Neo4jStore, session: driver.Session) -> None:
    session.run("DROP CONSTRAINT run_id IF EXISTS").consume()
    session.run("CREATE CONSTRAINT run_id FOR (n:Sprint) REQUIRE n.x IS UNIQUE").consume()
    try:
        with pytest.raises(StoreError, match="another constraint or index named run_id"):
            store.write([graph("a")])
    finally:
        session.run("DROP CONSTRAINT run_id").consume()
    session.run("CREATE CONSTRAINT other FOR (n:Run) REQUIRE n.id IS UNIQUE").consume()
    try:
        assert store.write([graph("a")]).written == 1
    finally:
        session.run("DROP CONSTRAINT other").consume()


def test_ends_are_found_through_the_unique_index(
    store: Neo4jStore, session: driver.Session
) -> None:
    store.write([graph("a")])
    for key in (("INFORMS", "Action", "Action"), ("HAS_ACTION", "Run", "Action")):
        for text in (statements.create_relations(key), statements.merge_relations(key)):
            plan = session.run(f"EXPLAIN {text}", rows=[]).consume().plan
            assert plan is not None
            operators = operators_of(plan)
            assert sum("UniqueIndexSeek" in name for name in operators) == 2, operators
            assert not any("Scan" in name for name in operators), operators


def operators_of(plan: dict[str, Any]) -> list[str]:
    return [plan["operatorType"]] + [
        name for child in plan.get("children", []) for name in operators_of(child)
    ]


# --- writing ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_batch_that_the_server_has_no_memory_for_is_split(
    neo4j_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not neo4j_server.ours:
        pytest.skip("needs a server with a small heap, and the tests started none")
    monkeypatch.setattr(module, "BATCH_NODES", 1_000_000)
    sizes: list[int] = []
    write_batch = operations.write_batch

    def counted(run: Any, graphs: list[CollaborationGraph]) -> Any:
        sizes.append(len(graphs))
        return write_batch(run, graphs)

    monkeypatch.setattr(operations, "write_batch", counted)
    small, huge = graph("small"), graph("huge", 5000, content="z" * 20_000)
    with (
        started(tmp_path / "data", "--heap", "160m") as uri,
        Neo4jStore(uri, password=PASSWORD) as poor,
    ):
        with pytest.raises(StoreError, match=f"not enough memory to store the graph {huge.id}"):
            poor.write([small, huge])
        assert sizes == [2, 1, 1]
        assert list(poor.graphs()) == [small]


def test_a_removal_that_is_too_large_is_split(
    neo4j_database: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = [graph(f"g{number}") for number in range(5)]
    sizes: list[int] = []
    delete_graphs = operations.delete_graphs

    def poor(run: Any, ids: list[str]) -> int:
        sizes.append(len(ids))
        if len(ids) > 2:
            raise module._TooLargeError
        return delete_graphs(run, ids)

    with Neo4jStore(neo4j_database.uri, **neo4j_database.options) as store:
        store.write(graphs)
        monkeypatch.setattr(operations, "delete_graphs", poor)
        assert store.delete([each.id for each in graphs]) == 5
        assert sizes == [5, 2, 3, 1, 2]
        assert store.counts() == {}


def test_writers_at_the_same_time_store_each_graph_once(neo4j_database: Any) -> None:
    graphs = [graph(f"g{number}", 10, task=f"t{number % 3}") for number in range(30)]
    failures: list[BaseException] = []

    def work(mine: list[CollaborationGraph]) -> None:
        try:
            with Neo4jStore(neo4j_database.uri, **neo4j_database.options) as own:
                for one in mine:
                    own.write([one])
        except BaseException as error:  # shown by the assertion below
            failures.append(error)

    orders = (graphs, list(reversed(graphs)), graphs[15:] + graphs[:15])
    threads = [threading.Thread(target=work, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Neo4jStore(neo4j_database.uri, **neo4j_database.options) as store:
        counts = store.counts()
        assert (counts["Run"], counts["Action"], counts["Task"]) == (30, 300, 3)
        assert counts["INFORMS"] == 270
        assert list(store.graphs()) == sorted(graphs, key=lambda one: one.id)


def test_a_read_only_store_reads(neo4j_database: Any, store: Neo4jStore) -> None:
    store.write([graph("a")])
    with Neo4jStore(neo4j_database.uri, **neo4j_database.options, read_only=True) as reader:
        assert reader.read(graph("a").id) == graph("a")
        for change in (
            lambda: reader.write([graph("b")]),
            lambda: reader.delete([graph("a").id]),
            lambda: reader.write_results(Rows()),
        ):
            with pytest.raises(StoreError, match="opened read-only"):
                change()


# --- reading ------------------------------------------------------------------------------


def test_rows_past_the_limit_are_not_fetched(store: Neo4jStore) -> None:
    result = store.query("UNWIND range(1, 50000000) AS x RETURN x", row_limit=10)
    assert result.rows == tuple((x,) for x in range(1, 11))
    assert result.truncated


def test_values_are_pythons_own(session: driver.Session) -> None:
    record = session.run(
        "RETURN datetime('2020-01-01T12:00:00.123456789+02:00') AS zoned, "
        "datetime('2020-07-01T12:00:00[Europe/Berlin]') AS named, "
        "localdatetime('2020-01-01T12:00:00') AS local, date('2020-01-01') AS day, "
        "time('10:00:00Z') AS time, duration('P1Y2DT3.5S') AS duration, "
        "point({x: 1.0, y: 2.0, z: 3.0}) AS xyz, 0.0 / 0 AS nan, "
        "[1.0 / 0, {a: 0.0 / 0}] AS nested"
    ).single(strict=True)
    values = {name: plain(value) for name, value in record.items()}
    assert values["zoned"].isoformat() == "2020-01-01T10:00:00.123456+00:00"
    assert values["named"].isoformat() == "2020-07-01T10:00:00+00:00"
    assert values["local"].isoformat() == "2020-01-01T12:00:00"
    assert values["day"].isoformat() == "2020-01-01"
    assert values["time"].isoformat() == "10:00:00+00:00"
    assert values["duration"] == "P1Y2DT3.5S"
    assert values["xyz"] == {"x": 1.0, "y": 2.0, "z": 3.0}
    assert values["nan"] is None
    assert values["nested"] == [None, {"a": None}]
