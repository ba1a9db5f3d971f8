"""A reader's queries run in a process of their own, which can be ended."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import kglite
import pytest

from graphstore import embedded_client, embedded_files
from graphstore.builder import GraphBuilder
from graphstore.embedded import EmbeddedStore
from graphstore.embedded_worker import answer
from graphstore.errors import (
    QueryError,
    QueryTimeoutError,
    StoreDamagedError,
    StoreError,
    StoreUnreachableError,
)

LONG = (
    "WITH range(1, 20000) AS r RETURN reduce(s=0, x IN r | s + reduce(t=0, y IN r | t+1)) AS x"
)
LARGE = "RETURN reduce(s='a', x IN range(1, 60) | s + s) AS x"
MANY = (
    "UNWIND range(1, 4000) AS a UNWIND range(1, 4000) AS b "
    "RETURN size(collect('some words that take memory ' + toString(a * b))) AS n"
)
LINUX = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


def run(number):
    builder = GraphBuilder(kind="run", format="test", uri="w", content="w", record=str(number))
    builder.set_task("task", dataset="worker")
    agent = builder.new_agent("a", role="solver")
    builder.add(
        "agent_message",
        "a",
        agent=agent,
        content=f"said {number}",
        started_at=1_700_000_000_123_456_789,
    )
    return builder.build()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "store.db"
    with EmbeddedStore(path) as store:
        store.write([run(0), run(1)])
    return path


@pytest.fixture
def reader(path):
    with EmbeddedStore(path, read_only=True) as store:
        yield store


def worker_of(store):
    return store._worker.process_id


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(process, seconds=3.0):
    deadline = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(process)


def answers(store):
    return store.query("MATCH (r:Run) RETURN count(r) AS n").rows == ((2,),)


@pytest.mark.parametrize("cypher", [LONG, LARGE, MANY])
def test_a_query_that_the_engine_does_not_end_is_ended(reader, cypher):
    began = time.monotonic()
    with pytest.raises(QueryError, match=r"time limit of 1 s$|needed more than 2 GiB of mem"):
        reader.query(cypher, timeout=1)
    assert time.monotonic() - began < 1 + 2
    assert answers(reader)


def test_time_over_is_said_with_the_limit(reader):
    first = worker_of(reader)
    with pytest.raises(
        QueryTimeoutError, match=r"^the query ran into its time limit of 0\.3 s$"
    ):
        reader.query(LONG, timeout=0.3)
    assert ends(first)
    assert answers(reader)
    assert worker_of(reader) != first


def test_a_limit_that_the_engine_keeps_leaves_the_worker(reader):
    first = worker_of(reader)
    with pytest.raises(QueryTimeoutError, match=r"time limit of 0\.3 s"):
        reader.query(
            "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b "
            "WITH a, b WHERE a * b % 7 = 3 RETURN count(*) AS n",
            timeout=0.3,
        )
    assert answers(reader)
    assert worker_of(reader) == first


@pytest.mark.parametrize(
    ("cypher", "sentence"),
    [
        (
            "UNWIND range(1, 200) AS x RETURN size(collect(range(1, 100000))) AS n",
            r"^the query makes more than 10,000,000 collection items on its way "
            r"\(in range\(\)\), where the embedded engine stops: let it match",
        ),
        (
            "UNWIND range(1, 1000000000) AS x RETURN sum(x) AS n",
            r"^a list of 1,000,000,000 numbers is longer than the embedded engine makes one "
            r"\(256 MiB\)",
        ),
    ],
)
def test_too_much_work_is_told_without_options_of_the_engine(reader, cypher, sentence):
    with pytest.raises(QueryError, match=sentence) as caught:
        reader.query(cypher)
    assert "_" not in str(caught.value)


@pytest.mark.parametrize(
    ("cypher", "sentence"),
    [
        ("RETURN 'a' =~ 'a(' AS n", "the regular expression 'a(' is wrong: unclosed group"),
        (
            "MATCH (r) RETURN text_score(r, 'name', 'b') AS n",
            "text_score compares texts by a model's vectors, and a store holds none: look for "
            "words with CONTAINS or =~",
        ),
    ],
)
def test_what_the_engine_breaks_off_is_told_whole(cypher, sentence):
    graph = kglite.KnowledgeGraph()
    graph.cypher("CREATE (:A {id: 1, name: 'x'})")
    with pytest.raises(QueryError) as caught:
        answer(graph, cypher, {}, 9.0, 1)
    assert str(caught.value) == sentence


def test_too_many_rows_are_told_without_options_of_the_engine():
    graph = kglite.KnowledgeGraph()
    graph.cypher("UNWIND range(1, 3200) AS x CREATE (:A {id: x})")
    with pytest.raises(QueryError, match=r"000,000 rows on its way \(in shortestPath\)"):
        answer(graph, "MATCH p = shortestPath((a)-[*1..2]-(b)) RETURN count(p)", {}, 9.0, 1)


@LINUX
def test_memory_has_a_limit(reader, monkeypatch):
    # The engine has 1 GiB set aside from its start: less than that is not kept exactly.
    monkeypatch.setattr(embedded_client, "QUERY_MEMORY_BYTES", 256 * 1024**2)
    with pytest.raises(QueryError) as caught:
        reader.query(LARGE, timeout=60)
    assert str(caught.value) == (
        "the query needed more than 0.25 GiB of memory: let it match or collect less"
    )
    assert not isinstance(caught.value, QueryTimeoutError)
    monkeypatch.undo()
    assert answers(reader)
    assert reader.query("RETURN size(range(1, 1000000)) AS n").rows == ((1_000_000,),)


def test_nothing_that_the_engine_prints_is_seen(reader, monkeypatch, capfd):
    monkeypatch.setattr(embedded_client, "QUERY_MEMORY_BYTES", 256 * 1024**2)
    for cypher in (LARGE, LONG):
        with pytest.raises(QueryError):
            reader.query(cypher, timeout=0.5)
    assert answers(reader)
    assert capfd.readouterr() == ("", "")


def test_what_the_engine_says_of_a_torn_log_is_a_notice_only(path, capfd):
    subprocess.run([sys.executable, "-c", DIES, str(path)], check=True)
    log = embedded_files.log_path(path)
    log.write_bytes(log.read_bytes()[:-7])
    with EmbeddedStore(path, read_only=True) as store:
        assert answers(store)
        assert store.counts()["Run"] == 2
    with EmbeddedStore(path) as store:
        assert "was not finished" in store.notices[0]
    assert capfd.readouterr() == ("", "")


DIES = """
import os, sys
from graphstore.embedded import EmbeddedStore
from tests.graphstore.test_embedded_worker import run
store = EmbeddedStore(sys.argv[1])
for number in range(2, 5):
    store.write([run(number)])
os._exit(0)
"""


def test_lines_of_others_are_passed_on(capfd):
    with embedded_files.without_engine_lines():
        os.write(2, b"[kglite] WARN something\nsomebody else\n")
    os.write(2, b"[kglite] after\n")
    assert capfd.readouterr().err == "somebody else\n[kglite] after\n"


def test_values_are_those_of_a_store_in_this_process(path):
    later = datetime(2024, 2, 29, 12, 30, 1, 250_000, tzinfo=timezone(timedelta(hours=2)))
    parameters = {
        "when": later,
        "list": [1, 2.5, None, "é\ud7ff", True],
        "map": {"a": {"b": []}},
    }
    cypher = (
        "MATCH (a:Action) RETURN a AS node, a.started_at_time AS time, $when AS when, "
        "$list AS list, $map AS map, date('2024-02-29') AS day, "
        "duration({days: 1, hours: 2}) AS span, localdatetime('2024-02-29T01:02:03') AS local, "
        "point({latitude: 1.0, longitude: 2.0}) AS point ORDER BY a.id"
    )
    with EmbeddedStore(path) as store:
        expected = store.query(cypher, parameters)
    with EmbeddedStore(path, read_only=True) as store:
        found = store.query(cypher, parameters)
        cut = store.query(cypher, parameters, row_limit=1)
    assert found == expected
    assert [list(map(type, row)) for row in found.rows] == [
        list(map(type, row)) for row in expected.rows
    ]
    assert found.rows[0][1].tzinfo is UTC
    assert found.rows[0][2] == later
    assert (cut.rows, cut.truncated) == (expected.rows[:1], True)


class Unreadable:
    def __reduce__(self):
        return (Unreadable._make, ())

    @staticmethod
    def _make():
        raise ValueError("cannot be made again")


def test_parameters_that_cannot_be_sent(reader):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    first = worker_of(reader)
    for value in (object(), lambda: 1, 2**63, {"a": object()}, threading.Lock(), Unreadable()):
        with pytest.raises(QueryError, match=r"^a parameter cannot be used: ") as caught:
            reader.query("RETURN $value AS x", {"value": value})
        assert "\n" not in str(caught.value)
    with pytest.raises(QueryError, match=r"^a parameter cannot be used: "):
        reader.query("RETURN $value AS x", {"value": deep})
    assert worker_of(reader) == first
    assert answers(reader)


def test_the_guard_stands_before_the_worker(reader):
    for cypher in ("CREATE (n:Run {id: 'x'})", "LOAD CSV FROM '/etc/passwd' AS r RETURN r"):
        with pytest.raises(QueryError, match=r"writes|reads files"):
            reader.query(cypher)
    with pytest.raises(QueryError, match="cannot be run"):
        reader.query("RETURN nosuchfunction(1) AS x")
    assert answers(reader)


def test_checkpoints_are_followed_and_notices_with_them(path):
    with EmbeddedStore(path) as writer, EmbeddedStore(path, read_only=True) as reader:
        first = worker_of(reader)
        assert answers(reader)
        writer.write([run(2)])
        assert answers(reader)
        writer.checkpoint()
        assert reader.query("MATCH (r:Run) RETURN count(r) AS n").rows == ((3,),)
        assert reader.notices == ()
        writer.write([run(3)])
        writer.checkpoint()
        writer.write([run(4)])
        assert reader.query("MATCH (r:Run) RETURN count(r) AS n").rows == ((4,),)
        assert "of its log are newer" in reader.notices[0]
        assert worker_of(reader) == first


def test_what_is_wrong_with_a_file_is_said_at_the_opening(path, tmp_path):
    with pytest.raises(StoreUnreachableError, match="there is no store at"):
        EmbeddedStore(tmp_path / "none.db", read_only=True)
    with pytest.raises(StoreUnreachableError, match="is a folder"):
        EmbeddedStore(tmp_path, read_only=True)
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(b"hello" * 1000)
    with pytest.raises(StoreDamagedError, match="is no store or is damaged"):
        EmbeddedStore(foreign, read_only=True)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StoreDamagedError, match="damaged"):
        EmbeddedStore(path, read_only=True)


def test_damage_that_comes_later_is_said_at_every_query_until_it_is_gone(path, reader):
    good = path.read_bytes()
    path.write_bytes(good[:-100])
    for _ in range(2):
        with pytest.raises(StoreDamagedError):
            reader.query("RETURN 1 AS x")
        with pytest.raises(StoreDamagedError):
            reader.counts()
    path.unlink()
    with pytest.raises(StoreUnreachableError):
        reader.query("RETURN 1 AS x")
    path.write_bytes(good)
    assert answers(reader)
    assert reader.counts()["Run"] == 2


def test_closing_ends_the_worker(path):
    store = EmbeddedStore(path, read_only=True)
    process = worker_of(store)
    assert is_running(process)
    store.close()
    store.close()
    assert not is_running(process)
    for use in (lambda: store.query("RETURN 1 AS x"), store.counts):
        with pytest.raises(StoreError, match="is closed"):
            use()


def test_closing_ends_a_query_of_another_thread(path):
    store = EmbeddedStore(path, read_only=True)
    process = worker_of(store)
    caught = []

    def ask():
        try:
            store.query(LONG, timeout=60)
        except StoreError as error:
            caught.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.5)
    store.close()
    thread.join(5)
    assert not thread.is_alive()
    assert caught == [f"the store {path} is closed"]
    assert not is_running(process)


def test_a_forgotten_store_leaves_no_worker(path):
    store = EmbeddedStore(path, read_only=True)
    process = worker_of(store)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        del store
    assert ends(process)
    assert said == []


ASKS = f"""
import sys
from graphstore.embedded import EmbeddedStore
store = EmbeddedStore(sys.argv[1], read_only=True)
print(store._worker.process_id, flush=True)
try:
    store.query({LONG!r}, timeout=float(sys.argv[2]))
except KeyboardInterrupt:
    print("interrupted", store.query("RETURN 1 AS x").rows, flush=True)
"""


def asking(path, timeout):
    process = subprocess.Popen(
        [sys.executable, "-c", ASKS, str(path), str(timeout)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    worker = int(process.stdout.readline())
    time.sleep(0.5)
    assert is_running(worker)
    return process, worker


@pytest.mark.parametrize("everybody", [False, True])
def test_an_interrupt_ends_the_query(path, everybody):
    process, worker = asking(path, 60)
    # A terminal sends it to the worker as well.
    (os.killpg if everybody else os.kill)(process.pid, signal.SIGINT)
    printed, said = process.communicate(timeout=10)
    assert (printed, said, process.returncode) == ("interrupted ((1,),)\n", "", 0)
    assert ends(worker)


def test_a_worker_does_not_outlive_who_asked(path):
    process, worker = asking(path, 1)
    process.kill()
    process.communicate()
    assert ends(worker, 4)


def test_a_worker_that_was_killed_is_replaced(reader):
    first = worker_of(reader)
    os.kill(first, signal.SIGKILL)
    assert ends(first)
    assert answers(reader)
    assert worker_of(reader) != first


def test_threads_share_a_reader(reader):
    failures = []

    def ask(number):
        try:
            for count in range(20):
                value = number * 100 + count
                assert reader.query("RETURN $v AS v", {"v": value}).rows == ((value,),)
            with pytest.raises(QueryTimeoutError):
                reader.query(LONG, timeout=0.1)
            assert answers(reader)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_relative_path_stays_where_it_was(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with EmbeddedStore("store.db", read_only=True) as store:
        with pytest.raises(QueryTimeoutError):
            store.query(LONG, timeout=0.1)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        assert answers(store)


def test_a_module_in_the_folder_is_not_taken_for_the_library(path, tmp_path, monkeypatch):
    (tmp_path / "pickle.py").write_text("raise SystemExit(9)")
    (tmp_path / "kglite.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    with EmbeddedStore("store.db", read_only=True) as store:
        assert answers(store)
