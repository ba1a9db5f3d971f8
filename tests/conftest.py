"""Stores for tests: each test of a store runs on the embedded engine and on a real Neo4j.

The server is the one that NEO4J_URI names (with NEO4J_USER and NEO4J_PASSWORD), else one that
scripts/neo4j-local starts for the session, else the tests are skipped; with CI set, that is
a failure. The processes of pytest-xdist share the server and take turns by a file lock,
because the Community Edition has one database only.

A database that somebody names is never wiped on arrival: it must be empty before each test,
and what the test put there is removed afterwards.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kglite  # noqa: F401 - first: later there may be no room left for it
import pytest

from graphstore.store import GraphStore, open_store

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "neo4j-local"
FOLDER = "MASGRAPH_TEST_SERVER"

# How long an example takes says more about the machine than about the code. The environment
# in which the learned embedding is tested has no hypothesis, and no test that needs it.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


@dataclass(frozen=True)
class Neo4jServer:
    """Where the test server is, and whether the tests may wipe it on arrival."""

    uri: str
    user: str
    password: str | None
    ours: bool

    @property
    def options(self) -> dict[str, Any]:
        """Arguments for ``open_store``."""
        return {"user": self.user, "password": self.password}


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    # The processes of pytest-xdist inherit the folder's name and so find one server.
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="masgraph-tests-")
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = os.environ.get(FOLDER)
    if folder is None or "PYTEST_XDIST_WORKER" in os.environ:
        return
    # Also after Ctrl-C: pytest comes by here on its way out. A second Ctrl-C must not leave
    # the server behind.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        data = Path(folder) / "data"
        if data.exists():
            _neo4j_local("stop", "--data", str(data))
        shutil.rmtree(folder, ignore_errors=True)
        del os.environ[FOLDER]
    finally:
        signal.signal(signal.SIGINT, before)


def _neo4j_local(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _no_server(reason: str) -> None:
    sentence = f"no Neo4j to test on: {reason}; set NEO4J_URI, or install Java 17 and Maven"
    if os.environ.get("CI"):
        pytest.fail(f"{sentence} (a failure because CI is set)", pytrace=False)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def neo4j_server() -> Neo4jServer:
    """The server, started if need be."""
    uri = os.environ.get("NEO4J_URI")
    if uri:
        return Neo4jServer(
            uri,
            os.environ.get("NEO4J_USER") or "neo4j",
            os.environ.get("NEO4J_PASSWORD") or None,
            ours=False,
        )
    data = Path(os.environ[FOLDER]) / "data"
    started = _neo4j_local("start", "--data", str(data), "--json", "--no-auth")
    if started.returncode:
        lines = started.stderr.strip().splitlines() or ["scripts/neo4j-local gave no reason"]
        _no_server(lines[-1].removeprefix("neo4j-local: ").removeprefix("error: "))
    return Neo4jServer(json.loads(started.stdout)["uri"], "neo4j", None, ours=True)


@pytest.fixture(scope="session")
def neo4j_uri(neo4j_server: Neo4jServer) -> str:
    """The server's URI. Tests that write take :func:`neo4j_database` instead."""
    return neo4j_server.uri


def _driver(server: Neo4jServer) -> Any:
    import neo4j

    auth = (server.user, server.password) if server.password else None
    return neo4j.GraphDatabase.driver(server.uri, auth=auth)


def _wipe(server: Neo4jServer) -> None:
    with _driver(server) as driver, driver.session() as session:
        session.run(
            "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
        ).consume()


def _size(server: Neo4jServer) -> int:
    with _driver(server) as driver, driver.session() as session:
        return int(session.run("MATCH (n) RETURN count(n)").single(strict=True)[0])


@contextlib.contextmanager
def _alone(neo4j_server: Neo4jServer) -> Iterator[Neo4jServer]:
    name = hashlib.sha256(neo4j_server.uri.encode()).hexdigest()[:16]
    lock = Path(tempfile.gettempdir()) / f"masgraph-tests-{name}.lock"
    with lock.open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        found = _size(neo4j_server)
        if found and not neo4j_server.ours:
            pytest.fail(
                f"the database at {neo4j_server.uri} holds {found} nodes: the tests wipe what "
                "they use, so NEO4J_URI must name an empty database",
                pytrace=False,
            )
        if found:
            _wipe(neo4j_server)
        try:
            yield neo4j_server
        finally:
            _wipe(neo4j_server)


@pytest.fixture
def neo4j_database(neo4j_server: Neo4jServer) -> Iterator[Neo4jServer]:
    """The server's database for this test alone: empty now, and emptied afterwards."""
    with _alone(neo4j_server) as server:
        yield server


@dataclass
class FreshStores:
    """Opens stores of one engine for a test and closes them at its end.

    Calling it gives a fresh, empty store; :meth:`again` opens the last one once more.
    """

    engine: str
    folder: Path
    server: Neo4jServer | None = None
    url: str = ""
    opened: list[GraphStore] = field(default_factory=list)
    count: int = 0

    def __call__(self, **options: Any) -> GraphStore:
        self.close()
        self.count += 1
        if self.server is None:
            self.url = str(self.folder / f"store-{self.count}.db")
        else:
            self.url = self.server.uri
            if self.count > 1:
                _wipe(self.server)
        return self.again(**options)

    def again(self, **options: Any) -> GraphStore:
        """Another handle on the last store, for example ``read_only=True``."""
        login = self.server.options if self.server else {}
        store = open_store(self.url, **login, **options)
        self.opened.append(store)
        return store

    def close(self) -> None:
        """Closes every handle."""
        while self.opened:
            self.opened.pop().close()


@pytest.fixture(
    params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j_server)],
)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine that the test runs on; a test that asks for it runs once on each."""
    return str(request.param)


@pytest.fixture
def open_fresh_store(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[FreshStores]:
    """Makes fresh, empty stores, on both engines in turn."""
    server = request.getfixturevalue("neo4j_database") if engine == "neo4j" else None
    stores = FreshStores(engine, tmp_path, server)
    yield stores
    stores.close()


@pytest.fixture
def fresh_store(open_fresh_store: FreshStores) -> GraphStore:
    """One fresh, empty store, on both engines in turn."""
    return open_fresh_store()


@pytest.fixture(
    scope="module",
    params=["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j_server)],
)
def module_store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GraphStore]:
    """One store for all tests of a module, on both engines in turn, empty at first.

    For modules whose tests only read what they put there once. The module keeps the server
    to itself until it ends, so it cannot use the other fixtures of a store as well.
    """
    with contextlib.ExitStack() as stack:
        if request.param == "neo4j":
            server = stack.enter_context(_alone(request.getfixturevalue("neo4j_server")))
            url, login = server.uri, server.options
        else:
            url, login = str(tmp_path_factory.mktemp("store") / "store.db"), {}
        yield stack.enter_context(open_store(url, **login))


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a real Dask scheduler with one worker of two threads, on the loopback."""
    import logging

    distributed = pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install 'masgraph[distributed]'"
    )
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # each process of pytest-xdist has one
        silence_logs=logging.CRITICAL,
    ) as made:
        yield made.scheduler_address
