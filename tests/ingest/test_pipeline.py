import gzip
import io
import json
import tracemalloc
from collections import Counter

import pytest

from graphstore.errors import InputError, NotFoundError, StoreError
from graphstore.model import CollaborationGraph
from graphstore.store import open_store
from ingest import pipeline
from ingest.files import LocalFile
from ingest.pipeline import Progress, ReadOptions, ingest, read
from ingest.reader import Capabilities, Rejection
from ingest.registry import BUILT_IN, Registry


def run(number, **fields):
    actions = [{"agent": "a", "to": ["b"], "content": f"say {number}"}, {"agent": "b"}]
    return {
        "masgraph": 1,
        "kind": "run",
        "id": f"r{number}",
        "task": "t",
        "actions": actions,
    } | fields


def plan(number):
    subtasks = [{"id": "x"}, {"id": "y", "consumes": ["x"]}, {"id": "g", "kind": "group"}]
    return {"masgraph": 1, "kind": "decomposition", "id": f"d{number}", "subtasks": subtasks}


def lines(*records):
    return "\n".join(json.dumps(record) for record in records).encode() + b"\n"


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / "store" / "masgraph.db")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def make_store_folder(tmp_path):
    (tmp_path / "store").mkdir()


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "one.jsonl").write_bytes(lines(run(1), run(2), plan(1)))
    (folder / "two.jsonl.gz").write_bytes(gzip.compress(lines(run(3))))
    return folder


COUNTS = {
    "files": 2,
    "read": 2,
    "written": 4,
    "unchanged": 0,
    "rejected": [],
    "warnings": [],
    "runs": 3,
    "decompositions": 1,
    "actions": 6,
    "subtasks": 3,
    "agents": 6,
    "edges": 4,
    "inferred_edges": 0,
}


def stored(store):
    return sorted(graph.source.record for graph in store.graphs())


def test_a_folder_is_stored_and_a_second_time_changes_nothing(data, store):
    report = ingest(data, store)
    assert report.to_dict() == COUNTS
    assert list(report.to_dict()) == list(COUNTS)
    counts = store.counts()
    again = ingest([data], store).to_dict()
    assert again == COUNTS | {"written": 0, "unchanged": 4}
    assert store.counts() == counts
    assert stored(store) == ["d1", "r1", "r2", "r3"]


def test_what_is_read_without_a_store_is_what_is_stored(data, store):
    ingest(data, store)
    graphs = {graph.id: graph for graph in read(data)}
    assert {graph.id: graph for graph in store.graphs()} == graphs


def test_a_dry_run_stores_nothing_and_counts(data, store):
    report = ingest(data, store, dry_run=True)
    assert report.to_dict() == COUNTS | {"written": 0}
    assert ingest(data, None, dry_run=True) == report
    assert stored(store) == []


def test_a_graph_that_comes_twice_is_stored_once(data, store):
    (data / "three.jsonl").write_bytes(lines(run(3)))
    report = ingest(data, store)
    assert (report.files, report.read, report.written, report.unchanged) == (3, 3, 4, 1)


# Bad files.

DEEP = b'{"masgraph": 1, "kind": "run", "attributes": {"x": '
KNOWN = f"{len(BUILT_IN)} formats are known: see  masgraph formats"
BAD = {
    "empty": (b"", "the file is empty"),
    "spaces": (b" \n\n ", "the file holds only white space"),
    "binary": (b"\x00\x01\x02\x03" * 100, "it is a binary file, not a trace"),
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00", "it is a binary file, not a trace"),
    "zip": (b"PK\x03\x04....", "it is a zip archive: unpack it first"),
    "zstd": (b"\x28\xb5\x2f\xfd....", "it is compressed with zstd: unpack it first"),
    "utf16": ('{"a": 1}'.encode("utf-16"), "it is UTF-16 text: save it as UTF-8"),
    "latin1": (
        '{"history": "ä"}'.encode("latin-1"),
        f"the text is not UTF-8: byte 0xe4 at line 1, column 14; {KNOWN}",
    ),
    "text": (b"hello\nworld\n", f"it is text, but in no known format ({KNOWN})"),
    "log": (b"[12:30] hello", f"it is text, but in no known format ({KNOWN})"),
    "other": (b'{"a": [1]}', f"it is JSON, but in no known format ({KNOWN})"),
    "lines": (
        b'{"a": 1}\n{"a": 2}',
        f"it is JSON, but in no known format ({KNOWN})",
    ),
    "almost": (
        b'{\n  "a": 1,\n  "b": oops\n}',
        f"the JSON is malformed at line 3, column 8: unexpected 'oops'; {KNOWN}",
    ),
    "cut": (
        b'{"a": [1, 2',
        f"the JSON breaks off at line 1, column 12; {KNOWN}",
    ),
    "bad line": (
        b'{"a": 1}\n{"a": }',
        f"the JSON is malformed at line 2, column 7: unexpected '}}'; {KNOWN}",
    ),
    "deep": (
        b"[" * 200 + b"]" * 200,
        f"it is JSON, but in no known format ({KNOWN})",
    ),
    "deeper": (b"[" * 90_000, f"the JSON is nested too deeply; {KNOWN}"),
    "cut gzip": (gzip.compress(b"x" * 1000)[:-9], "the gzip data breaks off"),
    "cut native": (
        b'{"masgraph": 1, "kind": "run", "actions": [{"agent"',
        "the JSON breaks off at line 1, column 52",
    ),
    "native 200 levels": (DEEP + b"[" * 200 + b"]" * 200 + b"}}", "more than 100 levels deep"),
    "native 900 levels": (DEEP + b"[" * 900 + b"]" * 900 + b"}}", "deep"),
    "cycle": (
        lines(
            plan(1)
            | {"subtasks": [{"id": "a", "consumes": ["a2"]}, {"id": "a2", "consumes": ["a"]}]}
        ),
        "the dependencies form a cycle through a, a2",
    ),
    "dangling": (lines(run(1, actions=[{"consumes": ["z"]}])), "no action is called 'z'"),
    "nan": (
        b'{"masgraph": 1, "kind": "run", "outcome": {"score": NaN}}',
        "JSON has no NaN (at line 1, column 53): write null for a missing value",
    ),
    "huge": (lines(run(1, attributes={"x": 10**40})), "does not fit into 64 bits"),
    "huger": (
        b'{"masgraph": 1, "kind": "run", "attributes": {"x": ' + b"9" * 5000 + b"}}",
        "integer value out of range",
    ),
}


@pytest.mark.parametrize("content", ["redact", "keep"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_rejected_with_a_reason_and_the_rest_is_stored(
    data, store, name, content
):
    only_built_in = Registry(dict(BUILT_IN))
    bytes_, reason = BAD[name]
    (data / "bad").write_bytes(bytes_)
    report = ingest(data, store, options=ReadOptions(content=content, registry=only_built_in))
    (rejection,) = report.rejected
    assert rejection.file == str(data / "bad")
    assert reason in rejection.reason
    assert "\n" not in rejection.reason
    assert report.to_dict() == COUNTS | {
        "files": 3,
        "rejected": [
            {"file": rejection.file, "record": rejection.record, "reason": rejection.reason}
        ],
    }
    assert stored(store) == ["d1", "r1", "r2", "r3"]


def test_a_bad_record_does_not_take_the_others_of_its_file(data, store):
    good, bad = run(8), run(9, actions=[{"agnt": "x"}])
    (data / "mixed.jsonl").write_bytes(lines(good, bad, run(8), run(10))[:-20])
    report = ingest(data, store)
    assert [(one.record, one.reason.partition(" at line")[0]) for one in report.rejected] == [
        ("2", "unknown field 'agnt' at actions[0]: did you mean 'agent'?"),
        ("3", "the id 'r8' stands twice in the file (first in record 1)"),
        ("4", "the JSON breaks off"),
    ]
    assert report.read == 3
    assert stored(store) == ["d1", "r1", "r2", "r3", "r8"]


@pytest.mark.parametrize("format", ["native", "whowhen-ag2", "worfbench", "taskmaster", "otlp"])
def test_a_format_that_is_forced_rejects_what_is_not_in_it(tmp_path, format):
    contents = [b"", b"hello", b"{}", b"[]", b"[" * 90_000, b"\x00\xff", b'{"a": 1}\n{"b": 2}']
    for number, content in enumerate(contents):
        (tmp_path / f"{number}.x").write_bytes(content)
    for item in read(f"{tmp_path}/*.x", format=format):
        if isinstance(item, Rejection):
            assert not item.reason.startswith("internal error"), item


def test_an_unknown_format_is_an_error(data):
    with pytest.raises(NotFoundError, match="no reader is known for the format 'xml'"):
        list(read(data, format="xml"))


def test_a_path_that_does_not_exist_is_an_error_before_anything_is_stored(data, store):
    with pytest.raises(InputError, match="there is no such file or folder"):
        ingest([data, data / "nowhere"], store)
    assert stored(store) == []


def test_standard_input(store):
    stream = io.BytesIO(gzip.compress(lines(run(1), run(2))))
    report = ingest("-", store, options=ReadOptions(stdin=stream))
    assert report.written == 2
    assert {graph.source.uri for graph in store.graphs()} == {"-"}


# Strict.


def test_a_strict_ingest_stores_nothing_if_anything_is_rejected(data, store):
    (data / "zz.json").write_bytes(b"oops")
    report = ingest(data, store, strict=True)
    assert (report.written, report.unchanged, report.runs) == (0, 0, 3)
    assert [one.file for one in report.rejected] == [str(data / "zz.json")]
    assert stored(store) == []


@pytest.mark.parametrize("batch", [pipeline.BATCH_NODES, 2])
def test_a_strict_ingest_stores_everything_if_nothing_is_rejected(
    data, store, monkeypatch, batch
):
    monkeypatch.setattr(pipeline, "BATCH_NODES", batch)
    assert ingest(data, store, strict=True).to_dict() == COUNTS
    assert stored(store) == ["d1", "r1", "r2", "r3"]


def test_a_strict_ingest_reads_standard_input_twice(store, monkeypatch):
    monkeypatch.setattr(pipeline, "BATCH_NODES", 1)
    stream = io.BytesIO(lines(run(1), run(2)))
    report = ingest("-", store, strict=True, options=ReadOptions(stdin=stream))
    assert report.written == 2


def test_a_file_that_changes_between_the_passes_stops_a_strict_ingest(data, store, monkeypatch):
    monkeypatch.setattr(pipeline, "BATCH_NODES", 1)

    def spoil(now: Progress):
        if now.checking and now.files_done == now.files_total:
            (data / "one.jsonl").write_bytes(b"oops")

    with pytest.raises(InputError, match="it changed while it was read"):
        ingest(data, store, strict=True, progress=spoil)
    assert stored(store) == []


# Batches, memory, progress.


def test_graphs_go_to_the_store_in_batches(data, monkeypatch):
    monkeypatch.setattr(pipeline, "BATCH_GRAPHS", 3)

    class Counting:
        batches: list[int] = []

        def write(self, graphs):
            self.batches.append(len(graphs))
            raise_later = self.batches
            return FakeReport(len(graphs), raise_later)

    class FakeReport:
        def __init__(self, written, _):
            self.written, self.unchanged, self.warnings = written, 0, ("a task differs",)

    store = Counting()
    report = ingest(data, store)
    assert store.batches == [3, 1]
    assert report.written == 4
    assert [(one.warning, one.count) for one in report.warnings] == [("a task differs", 2)]


def test_a_store_that_fails_is_the_callers_problem_not_the_readers(data):
    class Failing:
        def write(self, graphs):
            raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        ingest(data, Failing())


def test_memory_stays_flat_however_long_a_file_is(tmp_path):
    def peak(records):
        path = tmp_path / f"{records}.jsonl"
        with path.open("wb") as file:
            for number in range(records):
                file.write(lines(run(number, attributes={"filler": "x" * 20_000})))
        tracemalloc.start()
        for _ in read(path):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = peak(600), peak(3_000)
    assert large < 1.5 * small + (1 << 20)


def test_progress_tells_files_bytes_and_graphs(data):
    seen: list[Progress] = []
    ingest(data, None, dry_run=True, progress=seen.append)
    total = sum(path.stat().st_size for path in data.iterdir())
    assert [now.graphs for now in seen] == [1, 2, 3, 3, 4, 4]
    assert [now.files_done for now in seen] == [0, 0, 0, 1, 1, 2]
    assert {now.files_total for now in seen} == {2}
    assert {now.bytes_total for now in seen} == {total}
    assert [now.bytes_done for now in seen] == sorted(now.bytes_done for now in seen)
    assert seen[-1].bytes_done == total


def test_an_exception_of_the_progress_callback_is_not_the_readers(data):
    def stop(now):
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        ingest(data, None, dry_run=True, progress=stop)


def test_warnings_are_told_once_with_their_count(tmp_path):
    records = [run(number, warnings=["tokens are guessed"]) for number in range(5)]
    (tmp_path / "x.jsonl").write_bytes(lines(*records))
    report = ingest(tmp_path / "x.jsonl", None, dry_run=True)
    assert report.to_dict()["warnings"] == [
        {
            "file": str(tmp_path / "x.jsonl"),
            "record": "r0",
            "warning": "tokens are guessed",
            "count": 5,
        }
    ]


# Readers that go wrong, and readers that join.


class Stub:
    """A reader for a format of this test: files that begin with ``stub``."""

    format = "stub"
    title = "Stub"
    kind = "run"
    version = "1"
    capabilities = Capabilities("no", "no", "no", "no")

    def sniff(self, sample):
        return sample.startswith(b"stub")

    def read(self, file, context):
        words = file.data().decode().split()
        for word in words[1:]:
            if word == "boom":
                raise KeyError("a\nb")
            if word == "deep":
                raise RecursionError
            if word == "memory":
                raise MemoryError
            if word == "interrupt":
                raise KeyboardInterrupt
            builder = context.builder(self, file, word, record=word)
            builder.new_agent("x")
            yield builder.build()


class Joining(Stub):
    format = "joining"

    def sniff(self, sample):
        return sample.startswith(b"join")

    def join_keys(self, file):
        words = file.data().decode().split()
        if "badkeys" in words:
            raise ValueError("no keys")
        return frozenset(words[1:])

    def read_joined(self, files, context):
        words = sorted({word for file in files for word in file.data().decode().split()[1:]})
        if "bad" in words:
            raise InputError("it has a bad span", file=files[1].uri, record="span 7")
        builder = context.builder(self, files[0], " ".join(words), record=" ".join(words))
        yield builder.build()


@pytest.fixture
def options(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "stub_readers", sys.modules[__name__])
    places = {"stub": "stub_readers:Stub", "joining": "stub_readers:Joining"}
    return ReadOptions(registry=Registry(dict(BUILT_IN) | places))


def test_a_reader_that_fails_is_a_rejection_and_what_it_gave_stays(tmp_path, options):
    for name, words in {"a": "one boom two", "b": "three", "c": "deep"}.items():
        (tmp_path / f"{name}.x").write_text(f"stub {words}")
    items = list(read(f"{tmp_path}/*.x", options=options))
    assert [
        item.source.record if isinstance(item, CollaborationGraph) else item.reason
        for item in items
    ] == [
        "one",
        "internal error in the reader stub: KeyError: 'a\\nb'",
        "three",
        "it is nested too deeply",
    ]


@pytest.mark.parametrize(
    ("word", "error"), [("memory", MemoryError), ("interrupt", KeyboardInterrupt)]
)
def test_what_must_stop_the_program_does(tmp_path, options, word, error):
    (tmp_path / "a.x").write_text(f"stub {word}")
    with pytest.raises(error):
        list(read(tmp_path / "a.x", options=options))


def test_files_that_share_a_key_are_read_as_one(tmp_path, options):
    contents = {"1": "join a b", "2": "stub z", "3": "join c", "4": "join b d", "5": "join d"}
    for name, text in contents.items():
        (tmp_path / f"{name}.x").write_text(text)
    report = ingest(f"{tmp_path}/*.x", None, dry_run=True, options=options)
    assert (report.files, report.read, report.runs) == (5, 5, 3)
    records = [item.source.record for item in read(f"{tmp_path}/*.x", options=options)]
    assert records == ["z", "a b d", "c"]


@pytest.mark.parametrize("room", [1_000, 8, 0])
def test_files_that_wait_for_others_are_read_once_if_they_are_small(
    tmp_path, options, monkeypatch, room
):
    reads = Counter()
    load = LocalFile._load

    def counted(file):
        reads[file.uri.removesuffix(".x")[-1]] += 1
        load(file)

    monkeypatch.setattr(LocalFile, "_load", counted)
    monkeypatch.setattr(pipeline, "WAITING_BYTES", room)
    for name, text in {"1": "join a", "2": "join a", "3": "join a"}.items():
        (tmp_path / f"{name}.x").write_text(text)
    (graph,) = read(f"{tmp_path}/*.x", options=options)
    assert graph.source.record == "a"
    # Looked at, asked for its keys, read: each time anew only where there is no room.
    assert reads["1"] == (1 if room else 3)
    assert reads["3"] == (1 if room == 1_000 else 3)


def test_a_bad_file_of_a_joined_group_is_named(tmp_path, options):
    for name, text in {
        "1": "join a",
        "2": "join a bad",
        "3": "join badkeys q",
        "4": "join q",
    }.items():
        (tmp_path / f"{name}.x").write_text(text)
    items = list(read(f"{tmp_path}/*.x", options=options))
    assert items[0] == Rejection(f"{tmp_path}/2.x", "span 7", "it has a bad span")
    assert [item.source.record for item in items[1:]] == ["badkeys", "q", "q"]


def test_a_reader_that_cannot_be_imported_is_a_warning_of_the_report(data):
    registry = Registry(dict(BUILT_IN) | {"broken": "no_such_module:X"})
    report = ingest(data, None, dry_run=True, options=ReadOptions(registry=registry))
    assert report.runs == 3
    assert [one.warning for one in report.warnings] == [
        "the reader of the format broken cannot be used: ModuleNotFoundError: No module named "
        "'no_such_module'"
    ]


@pytest.mark.parametrize("content", ["redact", "drop"])
def test_what_a_rejection_quotes_has_no_secrets(tmp_path, content):
    secret = "sk-proj-" + "Ab1Cd2Ef3Gh4" * 5
    path = tmp_path / "runs.jsonl"
    record = {
        "masgraph": 1,
        "kind": "run",
        "id": f"run of ann@example.org {secret}",
        "task": "t",
    }
    path.write_text(json.dumps(record | {"agents": ["ann"], "actions": [{"agent": secret}]}))
    (rejection,) = read(path, options=ReadOptions(content=content))
    assert "no agent is called" in rejection.reason
    assert secret not in str(rejection)
    report = ingest(path, None, dry_run=True, options=ReadOptions(content=content))
    assert secret not in str(report)
    (kept,) = read(path, options=ReadOptions(content="keep"))
    assert secret in kept.reason
