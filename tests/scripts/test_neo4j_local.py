"""scripts/neo4j-local: errors and cache (with stand-ins for Java and Maven), then a server.

The tests of the real server carry the marker ``neo4j_server``. They are skipped where Java or
Maven is missing, except in CI, where that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "neo4j-local"
PASSWORD = '# say "friend" \\ñ'


def command(*arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
    """Begin a neo4j-local command, free of settings of the person who runs the tests."""
    inherited = {k: v for k, v in os.environ.items() if k != "NEO4J_PASSWORD"}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        env=inherited | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments: str | Path, **environment: str) -> tuple[int, str, str]:
    """Run a command to its end: exit status, standard output, standard error."""
    process = command(*arguments, **environment)
    out, err = process.communicate(timeout=600)
    assert "Traceback" not in err
    return process.returncode, out.strip(), err.strip()


def wait_for(condition: object, seconds: float = 60) -> None:
    """Wait until a callable is true."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def ended(pid: int, seconds: float = 20.0) -> bool:
    """Whether the process is gone, or dead and only waits for its parent to notice.

    A JVM's last threads may outlive the moment in which it lets go of its store.
    """
    ps = ["ps", "-o", "stat=", "-p", str(pid)]
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        state = subprocess.run(ps, capture_output=True, text=True, check=False).stdout.strip()
        if (state.startswith("Z") and "l" not in state) or not state:
            return True
        time.sleep(0.1)
    return False


# --- without a server -------------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has a shell's tools, but neither Java nor Maven."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("sh", "sleep"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    cache = str(tmp_path / "cache")
    return {"PATH": str(folder), "JAVA_HOME": "", "MASGRAPH_CACHE": cache}


def put(tools: dict[str, str], name: str, script: str) -> None:
    """Put a stand-in for a program on the PATH."""
    path = Path(tools["PATH"], name)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def java(tools: dict[str, str], version: str) -> None:
    """Put a Java that knows its version and nothing else on the PATH."""
    put(tools, "java", f"echo 'openjdk version \"{version}\" 2025-01-21' >&2")


MAVEN = """for word; do case $word in -DoutputDirectory=*) out=${word#*=};; esac; done
echo x >"$out/a.jar"
sleep ${MAVEN_TAKES:-0}
echo x >"$out/b.jar"
"""


def test_help_names_every_command() -> None:
    status, out, _ = run("--help")
    assert status == 0
    assert all(word in out for word in ("start", "stop", "status", "fetch", "Java 17"))


@pytest.mark.parametrize(
    "arguments", [[], ["start"], ["start", "--data", "x", "--port", "many"]]
)
def test_bad_usage(arguments: list[str]) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert "error:" in err


def test_java_missing(tools: dict[str, str], tmp_path: Path) -> None:
    status, out, err = run("start", "--data", tmp_path / "data", **tools)
    assert (status, out) == (1, "")
    assert err.startswith("neo4j-local: error: Java is missing")
    assert "\n" not in err


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2"])
def test_java_too_old(tools: dict[str, str], tmp_path: Path, version: str) -> None:
    java(tools, version)
    status, _, err = run("start", "--data", tmp_path / "data", **tools)
    assert status == 1
    assert err.endswith("but Neo4j needs 17 or newer")


def test_maven_missing(tools: dict[str, str]) -> None:
    java(tools, "21.0.1")
    status, _, err = run("fetch", **tools)
    assert status == 1
    assert err.startswith("neo4j-local: error: Maven (mvn) is missing")


def test_maven_fails(tools: dict[str, str]) -> None:
    java(tools, "17")
    put(tools, "mvn", "echo '[INFO] hm'; echo '[ERROR] no such host'; exit 1")
    status, _, err = run("fetch", **tools)
    assert status == 1
    assert err.endswith("[ERROR] no such host")
    assert not [path for path in Path(tools["MASGRAPH_CACHE"]).iterdir() if path.is_dir()]


def test_fetch_killed_in_the_middle_is_done_again(tools: dict[str, str]) -> None:
    java(tools, "17.0.9")
    put(tools, "mvn", MAVEN)
    cache = Path(tools["MASGRAPH_CACHE"])
    killed = command("fetch", MAVEN_TAKES="2", **tools)
    wait_for(lambda: list(cache.glob("*.partial-*/a.jar")))
    killed.kill()
    killed.communicate()
    began = time.monotonic()
    status, _, err = run("fetch", **tools)
    assert status == 0, err
    assert time.monotonic() - began > 1, "did not wait for the Maven that was left"
    (folder,) = [path for path in cache.iterdir() if path.is_dir()]
    assert sorted(path.name for path in folder.iterdir()) == ["a.jar", "b.jar"]


def test_fetches_at_the_same_time(tools: dict[str, str]) -> None:
    java(tools, "17.0.9")
    put(tools, "mvn", f'echo x >>"$MASGRAPH_CACHE/calls"\n{MAVEN}')
    both = [command("fetch", MAVEN_TAKES="1", **tools) for _ in range(2)]
    for process in both:
        process.communicate(timeout=60)
    assert [process.returncode for process in both] == [0, 0]
    assert Path(tools["MASGRAPH_CACHE"], "calls").read_text() == "x\n"


def test_port_taken(tools: dict[str, str], tmp_path: Path) -> None:
    java(tools, "17.0.9")
    put(tools, "mvn", MAVEN)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, _, err = run("start", "--data", tmp_path / "data", "--port", str(port), **tools)
    assert status == 1
    assert f"port {port} on 127.0.0.1 cannot be had" in err


def test_death_at_the_start_shows_the_log(tools: dict[str, str], tmp_path: Path) -> None:
    put(
        tools,
        "java",
        "echo 'openjdk version \"17\"' >&2; [ $1 = -version ] || echo 'no memory'",
    )
    put(tools, "mvn", MAVEN)
    status, out, err = run("start", "--data", tmp_path / "data", **tools)
    assert (status, out) == (1, "")
    assert "the server died at its start" in err
    assert err.endswith("no memory")


def test_password_too_short(tmp_path: Path) -> None:
    status, _, err = run("start", "--data", tmp_path / "data", "--password", "short")
    assert status == 1
    assert "8 characters" in err


def test_nothing_to_stop(tmp_path: Path) -> None:
    assert run("stop", "--data", tmp_path / "data")[0] == 0
    assert run("status", "--data", tmp_path / "data")[:2] == (3, "")
    assert not (tmp_path / "data").exists()


def test_a_strangers_process_is_left_alone(tmp_path: Path) -> None:
    """A process number from before a reboot may belong to anybody now."""
    (tmp_path / "neo4j-local.pid").write_text(f"{os.getpid()}\n")
    assert run("status", "--data", tmp_path)[:2] == (3, "")
    assert run("stop", "--data", tmp_path)[0] == 0


# --- with a server ----------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder (with a blank in its name), whose server is stopped in the end."""
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            reason = f"{tool} is missing, so there is no Neo4j server to test"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
    folder = tmp_path / "the data"
    yield folder
    status, _, err = run("stop", "--data", folder)
    assert status == 0, err


def start(data: Path, *arguments: str) -> str:
    """Start the server: its URI."""
    status, out, err = run("start", "--data", data, *arguments)
    assert status == 0, err
    return out


def shake_hands(uri: str) -> bytes:
    """The Bolt version the server chooses out of 5.0 to 5.8."""
    host, port = uri.removeprefix("bolt://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(bytes.fromhex("6060b017 00080805") + bytes(12))
        return connection.recv(4)


@pytest.mark.neo4j_server
def test_life_of_a_server(data: Path) -> None:
    uri = start(data)
    assert uri.startswith("bolt://127.0.0.1:")
    assert shake_hands(uri)[3] == 5
    assert run("status", "--data", data)[:2] == (0, uri)
    assert start(data) == uri
    known = json.loads(start(data, "--json"))
    assert known == {"uri": uri, "user": None, "pid": known["pid"], "data": str(data)}
    assert os.getsid(known["pid"]) != os.getsid(0)
    assert json.loads(run("status", "--data", data, "--json")[1]) == known

    assert run("stop", "--data", data)[0] == 0
    assert ended(known["pid"])
    assert run("status", "--data", data)[:2] == (3, "")
    status, _, err = run("stop", "--data", data)
    assert (status, err) == (0, "neo4j-local: nothing runs here")


@pytest.mark.neo4j_server
def test_data_and_password_survive_a_restart_and_a_crash(data: Path) -> None:
    neo4j = pytest.importorskip("neo4j")

    def query(uri: str, text: str) -> list[object]:
        with neo4j.GraphDatabase.driver(uri, auth=("neo4j", PASSWORD)) as driver:
            return [record.value() for record in driver.execute_query(text).records]

    known = json.loads(start(data, "--password", PASSWORD, "--json"))
    assert known["user"] == "neo4j"
    query(known["uri"], "CREATE (:Run {id: 'r1'})")
    assert run("stop", "--data", data)[0] == 0

    known = json.loads(start(data, "--json"))  # still asks for the password
    with (
        pytest.raises(neo4j.exceptions.AuthError),
        neo4j.GraphDatabase.driver(known["uri"]) as d,
    ):
        d.verify_connectivity()
    query(known["uri"], "CREATE (:Run {id: 'r2'})")
    os.kill(known["pid"], signal.SIGKILL)
    assert ended(known["pid"], 60.0)

    status, out, err = run("start", "--data", data, "--password", "not the password")
    assert (status, out) == (1, "")
    assert err.endswith("has another password")
    assert run("status", "--data", data)[0] == 3, "a start that failed left its server"

    uri = start(data, "--password", PASSWORD)
    assert query(uri, "MATCH (r:Run) RETURN r.id ORDER BY r.id") == ["r1", "r2"]
    assert query(uri.replace("bolt:", "neo4j:"), "RETURN 1") == [1]


@pytest.mark.neo4j_server
def test_a_folder_without_a_password_can_get_one(data: Path) -> None:
    start(data, "--no-auth")
    run("stop", "--data", data)
    status, out, err = run("start", "--data", data, NEO4J_PASSWORD=PASSWORD)
    assert status == 0, err
    assert start(data, "--password", PASSWORD) == out
    run("stop", "--data", data)
    assert json.loads(start(data, "--no-auth", "--json"))["user"] is None


@pytest.mark.neo4j_server
def test_a_start_killed_in_the_middle_is_taken_up(data: Path) -> None:
    start(data)
    run("stop", "--data", data)
    first = command("start", "--data", data)
    pid_file = data / "neo4j-local.pid"
    wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
    first.kill()
    first.communicate()
    known = json.loads(start(data, "--json"))
    assert known["pid"] == int(pid_file.read_text())
    assert shake_hands(known["uri"])[3] == 5


@pytest.mark.neo4j_server
def test_an_interrupted_start_leaves_no_server(data: Path) -> None:
    process = command("start", "--data", data)
    pid_file = data / "neo4j-local.pid"
    wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
    pid = int(pid_file.read_text())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert ended(pid)


@pytest.mark.neo4j_server
def test_starts_at_the_same_time_find_one_server(data: Path) -> None:
    both = [command("start", "--data", data) for _ in range(2)]
    ends = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert ends[0][0] == ends[1][0]
