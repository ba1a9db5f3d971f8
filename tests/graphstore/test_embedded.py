"""The embedded store's file: its lock, its damage, its readers, and writers that are killed."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from graphstore import embedded, embedded_bulk, embedded_files, embedded_load, operations
from graphstore.builder import GraphBuilder
from graphstore.embedded import EmbeddedStore
from graphstore.embedded_values import iso_duration, plain
from graphstore.errors import (
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnreachableError,
)
from graphstore.model import Edge
from graphstore.schema import LABELS_BY_NAME
from graphstore.store import open_store


def chain(number, length=5, words="hello"):
    """A run in which each action consumes the one before it."""
    builder = GraphBuilder(kind="run", format="chain", uri="c", content="c", record=str(number))
    builder.set_task(f"task {number % 3}", dataset="chains")
    agent = builder.new_agent("a", role="solver")
    for position in range(length):
        builder.add("agent_message", "a", agent=agent, content=f"{words} {number} {position}")
        if position:
            builder.edge(position - 1, position, "continued")
    return builder.build()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


def filled(path, count=3, **options):
    with EmbeddedStore(path) as store:
        store.write(chain(number, **options) for number in range(count))
    return path


def test_a_new_store_can_be_read_at_once(path):
    with EmbeddedStore(path) as writer:
        assert path.exists()
        with EmbeddedStore(path, read_only=True) as reader:
            assert reader.counts() == {}
            assert reader.notices == ()
        assert writer.url == str(path)
    assert open_store(f"file://{path}").url == str(path)


def test_opening_and_closing_writes_nothing(path):
    filled(path)
    before = path.read_bytes()
    for _ in range(3):
        EmbeddedStore(path).close()
    assert path.read_bytes() == before
    assert embedded_files.log_bytes(path) <= embedded_files.EMPTY_LOG_BYTES


def test_ids_are_unique_by_constraint_on_every_label(path):
    with EmbeddedStore(path) as store:
        rows = store.query(
            "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties "
            "RETURN type, labelsOrTypes, properties"
        ).rows
    constrained = {labels[0] for kind, labels, names in rows if names == ["id"]}
    assert constrained == set(LABELS_BY_NAME)
    assert {kind for kind, _, _ in rows} == {"NODE_KEY"}


def test_a_second_writer_is_told_who_holds_the_file(path):
    with EmbeddedStore(path), pytest.raises(StoreLockedError, match="by this process"):
        EmbeddedStore(path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(StoreLockedError, match=rf"by process {holder.pid} \(since "):
            EmbeddedStore(path)
        with EmbeddedStore(path, read_only=True) as reader:
            assert reader.counts() == {}
            if Path("/proc/locks").exists():
                told = embedded_files.writer_of(path)
                assert re.fullmatch(rf"process {holder.pid} \(since \S+\)", told)
    finally:
        holder.kill()
        holder.communicate()
    assert embedded_files.writer_of(path) is None, "the names it left behind hold nothing"
    EmbeddedStore(path).close()


HOLD = """
import sys, time
from graphstore.embedded import EmbeddedStore
store = EmbeddedStore(sys.argv[1])
print("open", flush=True)
time.sleep(60)
"""


def test_paths_that_cannot_be_opened(path, tmp_path):
    for read_only in (False, True):
        with pytest.raises(StoreUnreachableError, match="does not exist"):
            EmbeddedStore(tmp_path / "nowhere" / "store.db", read_only=read_only)
        with pytest.raises(StoreUnreachableError, match="is a folder, not a store"):
            EmbeddedStore(tmp_path, read_only=read_only)
    with pytest.raises(StoreUnreachableError, match="there is no store at"):
        EmbeddedStore(path, read_only=True)
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_file_without_permission_is_unreachable(path):
    filled(path)
    path.chmod(0)
    for read_only in (False, True):
        with pytest.raises(StoreUnreachableError, match="Permission denied"):
            EmbeddedStore(path, read_only=read_only)


def everything_in(folder):
    return {
        one.name: (one.read_bytes(), one.stat().st_mode, one.stat().st_mtime_ns)
        for one in folder.iterdir()
    }


@pytest.mark.parametrize("what", ["file", "folder", "folder of a new store"])
def test_what_is_write_protected_is_not_rewritten(path, what):
    if what != "folder of a new store":
        filled(path)
    target, mode = (path, 0o444) if what == "file" else (path.parent, 0o555)
    target.chmod(mode)
    try:
        before = everything_in(path.parent)
        told = "the store" if what == "file" else "the folder of the store"
        with pytest.raises(StoreError, match=f"^{told} .* is write-protected.*--dry-run"):
            EmbeddedStore(path)
        if what != "folder of a new store":
            with EmbeddedStore(path, read_only=True) as store:
                assert len(list(store.graphs())) == 3
                assert store.query("MATCH (r:Run) RETURN count(r) AS n").rows == ((3,),)
        assert everything_in(path.parent) == before
    finally:
        target.chmod(0o755)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_of_traces_says_what_to_do_with_it(path, read_only):
    path.write_text('{"masgraph": 1, "kind": "run"}\n')
    with pytest.raises(StoreDamagedError, match="masgraph ingest") as caught:
        EmbeddedStore(path, read_only=read_only)
    assert "kglite" not in str(caught.value)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("content", [b"", b"hello", b"hello world" * 1000, bytes(5000)])
def test_a_file_that_is_no_store_is_refused_and_left_alone(path, content, read_only):
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match="no store or is damaged") as caught:
        EmbeddedStore(path, read_only=read_only)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize("read_only", [False, True])
def test_a_flipped_bit_anywhere_is_found_or_does_no_harm(path, read_only):
    filled(path, 40, words="some words that fill the file")
    good = path.read_bytes()
    with EmbeddedStore(path, read_only=True) as store:
        expected = list(store.graphs())
    chance = random.Random(7)
    refused = 0
    for place in chance.sample(range(len(good)), 60):
        damaged = bytearray(good)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            with EmbeddedStore(path, read_only=read_only) as store:
                assert list(store.graphs()) == expected
        except StoreDamagedError:
            refused += 1
    assert refused > 40


@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_cut_off_is_refused(path, read_only):
    filled(path, 40)
    good = path.read_bytes()
    for size in (10, len(good) // 3, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:size])
        with pytest.raises(StoreDamagedError):
            EmbeddedStore(path, read_only=read_only)


def crashed(path, count=6):
    """A store whose writer died: one checkpointed graph, the others in the log only."""
    filled(path, 1)
    subprocess.run([sys.executable, "-c", CRASH, str(path), str(count)], check=True)
    return embedded_files.log_path(path)


CRASH = """
import os, sys
from graphstore.embedded import EmbeddedStore
from tests.graphstore.test_embedded import chain
store = EmbeddedStore(sys.argv[1])
for number in range(1, int(sys.argv[2])):
    store.write([chain(number)])
os._exit(0)
"""


def test_what_is_only_in_the_log_is_there_when_opened_again(path):
    log = crashed(path)
    assert log.stat().st_size > 1000
    with EmbeddedStore(path, read_only=True) as reader:
        assert reader.counts()["Run"] == 1
        assert "of its log are newer" in reader.notices[0]
    with EmbeddedStore(path) as store:
        assert store.notices == ()
        assert list(store.graphs()) == sorted(map(chain, range(6)), key=lambda run: run.id)
    assert log.stat().st_size <= embedded_files.EMPTY_LOG_BYTES
    with EmbeddedStore(path, read_only=True) as reader:
        assert reader.counts()["Run"] == 6
        assert reader.notices == ()


def test_a_log_damaged_in_the_middle_is_reported_until_somebody_decides(path):
    log = crashed(path)
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    log.write_bytes(damaged)
    for read_only in (False, True, False):
        with pytest.raises(StoreDamagedError, match=r"set aside as store.db-wal.quarantine-"):
            EmbeddedStore(path, read_only=read_only)
    (aside,) = path.parent.glob("*.quarantine-*")
    assert aside.read_bytes() == bytes(damaged)
    aside.rename(path.parent / "kept")
    with EmbeddedStore(path) as store:
        assert 1 <= store.counts()["Run"] < 6
        for graph in store.graphs():
            assert graph in [chain(number) for number in range(6)]


def test_a_log_with_an_unfinished_end_loses_that_write_only(path):
    log = crashed(path)
    log.write_bytes(log.read_bytes()[:-7])
    with EmbeddedStore(path) as store:
        assert store.counts()["Run"] == 5
        assert "was not finished" in store.notices[0]


@pytest.mark.parametrize("content", [b"hello" * 100, bytes(3000)])
def test_a_log_that_is_none_is_refused(path, content):
    filled(path)
    embedded_files.log_path(path).write_bytes(content)
    with pytest.raises(StoreDamagedError, match="log"):
        EmbeddedStore(path)


def test_a_log_without_its_file_is_refused(path):
    crashed(path)
    path.unlink()
    with pytest.raises(StoreUnreachableError, match="has no checkpoint yet"):
        EmbeddedStore(path, read_only=True)
    with pytest.raises(StoreDamagedError, match="the file itself is missing"):
        EmbeddedStore(path)
    assert not path.exists()


def test_a_reader_follows_checkpoints(path):
    with EmbeddedStore(path) as writer:
        writer.write([chain(0)])
        with EmbeddedStore(path, read_only=True) as reader:
            assert reader.counts() == {}
            writer.checkpoint()
            assert reader.counts()["Run"] == 1
            assert reader.notices == ()
            writer.write([chain(1)])
            assert reader.counts()["Run"] == 1
            writer.checkpoint()
            assert reader.read(chain(1).id) == chain(1)


def test_a_reader_survives_what_happens_to_the_file(path):
    # Large enough for the engine to map columns from the file, if it were let.
    filled(path, 200, length=20, words="enough words to fill a column of the file " * 4)
    with EmbeddedStore(path, read_only=True) as reader:
        counts = reader.counts()
        graph = reader._graph
        os.truncate(path, 100)
        assert len(graph.cypher("MATCH (a:Action) RETURN a.content AS c").to_list()) == 4000
        with pytest.raises(StoreDamagedError):
            reader.counts()
        path.unlink()
        with pytest.raises(StoreUnreachableError):
            reader.counts()
        filled(path, 1)
        assert reader.counts()["Run"] == 1
    assert counts["Action"] == 4000


def test_a_long_write_makes_checkpoints(path, monkeypatch):
    monkeypatch.setattr(embedded, "CHECKPOINT_BYTES", 10_000)
    monkeypatch.setattr(operations.batches, "__defaults__", (20,))
    seen = []

    def stream():
        with EmbeddedStore(path, read_only=True) as reader:
            for number in range(60):
                seen.append(reader.counts().get("Run", 0))
                yield chain(number)

    with EmbeddedStore(path) as store:
        assert store.write(stream()).written == 60
        assert seen == sorted(seen)
        assert len(set(seen)) > 5
        size = path.stat().st_size
        assert embedded_files.log_bytes(path) < max(2 * size, 30_000)


def test_graphs_are_consumed_lazily_and_earlier_batches_stay(path, monkeypatch):
    monkeypatch.setattr(operations.batches, "__defaults__", (1,))

    def stream(store):
        yield chain(0)
        yield chain(1)
        assert store.counts()["Run"] == 1
        raise OSError("the source broke")

    with EmbeddedStore(path) as store:
        with pytest.raises(OSError, match="broke"):
            store.write(stream(store))
        assert list(store.graphs()) == [chain(0)]


def with_a_lost_edge(graph):
    """No reader makes such a graph; the store must not either."""
    lost = Edge(source="run-x/77", target=graph.nodes[-1].id, basis="explicit")
    return msgspec.structs.replace(graph, edges=(*graph.edges, lost))


@pytest.fixture(params=["merged", "loaded"])
def way(request, monkeypatch):
    """Both ways in which new graphs are stored: small batches are merged, large ones loaded."""
    monkeypatch.setattr(embedded_load, "SMALLEST", 0 if request.param == "loaded" else 10**9)
    return request.param


def content(store):
    """Everything that a store holds, in an order of its own."""
    question = (
        "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) "
        "RETURN properties(n) AS n, keys(n) AS k, type(r) AS t, properties(r) AS r, m.id AS m"
    )
    return sorted(map(repr, store.query(question, row_limit=10**6).rows))


def test_a_write_that_fails_in_the_middle_stores_nothing_of_it(path, way):
    with EmbeddedStore(path) as store:
        store.write([chain(0)])
        before = store.counts()
        broken = with_a_lost_edge(chain(1))
        with pytest.raises(StoreError, match="run-x/77, which is not stored"):
            store.write([broken, chain(2)])
        assert store.counts() == before
        changed = with_a_lost_edge(chain(0, words="other"))
        with pytest.raises(StoreError, match="run-x/77, which is not stored"):
            store.write([changed])
        assert store.counts() == before
        assert store.read(chain(0).id) == chain(0)
        stored = content(store)
        assert store.write([chain(1)]).written == 1
        assert store.delete([chain(1).id]) == 1
        assert content(store) == stored
    with EmbeddedStore(path) as store:
        assert content(store) == stored


def test_ids_that_another_graph_has_are_refused(path):
    with EmbeddedStore(path) as store:
        store.write([chain(0)])
        thief = msgspec.structs.replace(chain(0), id="run-thief")
        with pytest.raises(StoreError, match="already exists"):
            store.write([thief])
        assert list(store.graphs()) == [chain(0)]


def test_all_ways_of_writing_store_the_same(tmp_path, monkeypatch):
    """New graphs are merged or loaded; one that replaces another takes statements."""
    runs = [chain(number) for number in range(3)]
    older = [chain(number, words="older") for number in range(3)]
    assert [run.id for run in runs] == [run.id for run in older]
    found = []
    for smallest, first in ((10**9, []), (0, []), (10**9, older), (0, older)):
        monkeypatch.setattr(embedded_load, "SMALLEST", smallest)
        with EmbeddedStore(tmp_path / f"{len(found)}.db") as store:
            store.write(first)
            assert store.write(runs).written == 3
            found.append(content(store))
        with EmbeddedStore(tmp_path / f"{len(found) - 1}.db") as store:
            assert content(store) == found[-1]
    assert found[0] == found[1] == found[2] == found[3]


def described(number, description):
    run = chain(number)
    task = msgspec.structs.replace(run.task, description=description)
    return msgspec.structs.replace(run, task=task)


def test_a_batch_fills_what_a_shared_task_lacks(path, way):
    with EmbeddedStore(path) as store:
        store.write([chain(0)])
        assert store.write([described(3, "told later"), chain(6)]).warnings == ()
        assert {run.task.description for run in store.graphs()} == {"told later"}
        assert store.write([described(9, "told again")]).warnings != ()
        assert {run.task.description for run in store.graphs()} == {"told later"}


def batch():
    """A batch with a new task, a known one, and a known one that gets a description."""
    return [described(3, "told later"), chain(4), chain(6)]


def broken_off(step, end):
    """Lets the loader come to an end before its commit of that number."""
    real, count = embedded_bulk._frame, 0

    def frame(*arguments):
        nonlocal count
        count += 1
        if count == step:
            end()
        return real(*arguments)

    return frame


def no_space():
    raise OSError("no space left")


STEPS = range(1, 13, 2)


@pytest.mark.parametrize("step", STEPS)
def test_a_loaded_batch_that_fails_is_undone_at_once(path, monkeypatch, step):
    monkeypatch.setattr(embedded_load, "SMALLEST", 0)
    with EmbeddedStore(path) as store:
        store.write([chain(0)])
        before = content(store)
        with monkeypatch.context() as patch:
            patch.setattr(embedded_bulk, "_frame", broken_off(step, no_space))
            with pytest.raises(StoreError, match="no space left"):
                store.write(batch())
        assert content(store) == before
        assert store.write(batch()).written == 3
        assert list(store.graphs(kind="run", ids=[chain(4).id])) == [chain(4)]
        store.delete([run.id for run in batch()])
        labels = {row[0] for row in store.query("CALL db.labels() YIELD label").rows}
        assert labels <= set(LABELS_BY_NAME)


def test_a_batch_that_cannot_even_be_undone_closes_the_store(path, monkeypatch):
    monkeypatch.setattr(embedded_load, "SMALLEST", 0)
    store = EmbeddedStore(path)
    store.write([chain(0)])
    before = content(store)
    with monkeypatch.context() as patch:
        patch.setattr(embedded_bulk, "_frame", broken_off(9, no_space))
        patch.setattr(embedded_load, "undo_unfinished", lambda graph: no_space())
        with pytest.raises(StoreError, match="opening it for writing again undoes it"):
            store.write(batch())
    with pytest.raises(StoreError, match="closed"):
        store.counts()
    store.close()
    with EmbeddedStore(path, read_only=True) as reader:
        assert reader.counts() == {}
    with EmbeddedStore(path) as store:
        assert content(store) == before


@pytest.mark.parametrize("step", STEPS)
def test_a_loaded_batch_whose_process_died_is_undone_by_the_next_writer(path, step):
    with EmbeddedStore(path) as store:
        store.write([chain(0)])
        before = content(store)
    ended = subprocess.run([sys.executable, "-c", DIES, str(path), str(step)], check=False)
    assert ended.returncode == 3
    with EmbeddedStore(path, read_only=True) as reader:
        assert content(reader) == before
    for _ in range(2):
        with EmbeddedStore(path) as store:
            assert content(store) == before
            assert any("was undone" in notice for notice in store.notices) == (_ == 0)


DIES = """
import os, sys
from graphstore import embedded_bulk, embedded_load
from graphstore.embedded import EmbeddedStore
from tests.graphstore.test_embedded import batch, broken_off
store = EmbeddedStore(sys.argv[1])
embedded_load.SMALLEST = 0
embedded_bulk._frame = broken_off(int(sys.argv[2]), lambda: os._exit(3))
store.write(batch())
"""


def test_queries_of_several_threads(path):
    filled(path, 20)
    failures = []

    def ask(store):
        try:
            for _ in range(30):
                assert store.query("MATCH (a:Action) RETURN count(a) AS n").rows[0][0] >= 100
        except BaseException as error:
            failures.append(error)

    with EmbeddedStore(path) as writer, EmbeddedStore(path, read_only=True) as reader:
        threads = [
            threading.Thread(target=ask, args=(store,)) for store in (writer, reader, reader)
        ]
        for thread in threads:
            thread.start()
        for number in range(20, 30):
            writer.write([chain(number)])
            writer.checkpoint()
        for thread in threads:
            thread.join()
    assert failures == []


KILLED = """
import sys
from graphstore import embedded, embedded_load, operations
embedded.CHECKPOINT_BYTES = 30_000
embedded_load.SMALLEST = int(sys.argv[3])
operations.batches.__defaults__ = (120,)
from graphstore.embedded import EmbeddedStore
from tests.graphstore.test_embedded import chain
path, start = sys.argv[1], int(sys.argv[2])
store = EmbeddedStore(path)
print("open", flush=True)
number = start
while True:
    # New graphs, and every third time graphs that replace others.
    again = [chain(n, 12, "changed") for n in range(max(0, number - 8), number)]
    store.write(again if number % 3 == 2 and number else [])
    store.write(chain(n, 12) for n in range(number, number + 10))
    number += 10
    print(number, flush=True)
"""


@pytest.mark.parametrize("smallest", [0, 10**9])
def test_a_writer_that_is_killed_leaves_whole_graphs_only(path, smallest):
    chance = random.Random(11)
    acknowledged = 0
    for _ in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), str(acknowledged), str(smallest)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert writer.stdout.readline() == "open\n"
        time.sleep(chance.uniform(0.0, 0.5))
        writer.send_signal(signal.SIGKILL)
        lines = writer.communicate()[0].split()
        acknowledged = max([acknowledged, *map(int, lines)])
        with EmbeddedStore(path) as store:
            found = list(store.graphs())
            counts = store.counts()
        whole = {
            graph.id: graph
            for number in range(acknowledged + 10)
            for graph in [chain(number, 12)]
        }
        changed = {number: chain(number, 12, "changed") for number in range(acknowledged + 10)}
        by_id = {graph.id: graph for graph in changed.values()}
        for graph in found:
            assert graph in (whole[graph.id], by_id[graph.id])
        stored = {graph.id for graph in found}
        for number in range(acknowledged):
            assert changed[number].id in stored
        assert counts.get("Action", 0) == 12 * len(found)
        assert counts.get("NEXT", 0) == counts.get("INFORMS", 0) == 11 * len(found)
        assert counts.get("Agent", 0) == counts.get("OF_TASK", 0) == len(found)
        acknowledged = max(acknowledged, len(found) // 10 * 10)
    assert acknowledged >= 20


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((0, 0, 0), "PT0S"),
        ((14, 3, 0), "P1Y2M3D"),
        ((0, 1, 90_061_500_000_000), "P1DT25H1M1.5S"),
        ((-14, 0, -1_500_000_000), "P-1Y-2MT-1.5S"),
        ((0, 0, -500_000_000), "PT-0.5S"),
        ((0, 0, 3_600_000_000_001), "PT1H0.000000001S"),
        ((0, -2, -3_660_000_000_000), "P-2DT-1H-1M"),
    ],
)
def test_durations_are_spelled_as_the_driver_of_the_other_store_does(parts, text):
    import neo4j.time

    assert iso_duration(*parts) == text
    months, days, nanoseconds = parts
    assert (
        neo4j.time.Duration(months=months, days=days, nanoseconds=nanoseconds).iso_format()
        == text
    )
    assert (
        plain(
            {
                "months": months,
                "days": days,
                "seconds": nanoseconds // 10**9,
                "nanoseconds": nanoseconds % 10**9,
            }
        )
        == text
    )


def test_no_number_is_a_missing_value():
    assert plain([float("nan"), float("inf"), 1.5, {"a": -float("inf")}]) == [
        None,
        None,
        1.5,
        {"a": None},
    ]


def test_the_path_may_be_a_path(path):
    with EmbeddedStore(Path(path)) as store:
        assert store.url == str(path)
