"""What could fill the memory, the disk or the time: told in one sentence, the rest is read."""

import gzip
import io
import json
import os
import threading
import time
import zipfile

import pytest

from graphstore.errors import InputError
from ingest import pipeline, pipes
from ingest.files import LocalFile
from ingest.pipeline import ReadOptions, ingest, read
from ingest.reader import Rejection
from ingest.readers import zip_archive
from ingest.readers.zip_archive import ZipArchive
from tests.ingest.reading import FORMATS

GOOD = json.dumps(
    {"masgraph": 1, "kind": "run", "id": "one", "actions": [{"agent": "a", "content": "hello"}]}
)


@pytest.fixture
def folder(tmp_path):
    """A folder with one good file."""
    inside = tmp_path / "traces"
    inside.mkdir()
    (inside / "good.jsonl").write_text(GOOD + "\n")
    return inside


def only_rejection(folder):
    """What is said of the one bad thing beside the good file, which is read all the same."""
    report = ingest(folder, None)
    assert report.runs == 1
    (rejection,) = report.rejected
    return rejection


def test_a_gzip_bomb_of_gigabytes(folder):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as stream:
        stream.write(b'{"masgraph": 1, "kind": "run", "actions": [{"content": "')
        block = b"0" * (1 << 20)
        for _ in range(300):
            stream.write(block)
    (folder / "bomb.jsonl").write_bytes(packed.getvalue())
    assert len(packed.getvalue()) < 1_000_000
    rejection = only_rejection(folder)
    assert rejection.file.endswith("bomb.jsonl")
    assert rejection.reason == (
        "the gzip data grows to more than 400 times its size, which no trace does"
    )


@pytest.mark.parametrize("key", [None, "resourceSpans"])
def test_a_gzip_bomb_in_the_form_of_a_large_array(folder, key):
    begin = b'[\n{"masgraph": 1}' if key is None else b'{"resourceSpans": [{}'
    with gzip.open(folder / "bomb.json", "wb", compresslevel=9) as stream:
        stream.write(begin)
        block = b', {"text": "' + b"0" * (1 << 20) + b'"}'
        for _ in range(300):
            stream.write(block)
    report = ingest(folder, None)
    assert report.runs == 1
    assert "grows to more than 400 times its size" in report.rejected[-1].reason


def eval_archive(**more):
    """A small inspect_ai archive, and more entries."""
    made = io.BytesIO()
    example = ZipArchive((FORMATS / "inspect-ai" / "capitals.eval").read_bytes(), "example")
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in example.names:
            archive.writestr(name, example.read(name))
        for name, content in more.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_the_archive_that_the_others_are_made_from_is_read(folder):
    (folder / "good.eval").write_bytes(eval_archive())
    report = ingest(folder, None)
    assert report.rejected == ()
    assert report.runs > 1


def test_a_zip_bomb(folder, monkeypatch):
    monkeypatch.setattr(zip_archive, "BOMB_BYTES", 1 << 20)
    (folder / "bomb.eval").write_bytes(eval_archive(**{"samples/9.json": b"0" * (20 << 20)}))
    assert "times its size: it is no log" in only_rejection(folder).reason


@pytest.mark.parametrize("name", ["../../evil.json", "/etc/evil.json", "samples/../../evil"])
def test_a_path_that_leaves_its_archive(folder, name):
    (folder / "evil.eval").write_bytes(eval_archive(**{name: b"{}"}))
    rejection = only_rejection(folder)
    assert rejection.reason == f"the entry {name!r} leads out of the archive"
    assert sorted(path.name for path in folder.parent.rglob("*")) == [
        "evil.eval",
        "good.jsonl",
        "traces",
    ]


def test_a_pipe_that_nobody_writes_to(folder, monkeypatch):
    monkeypatch.setattr(pipes, "PIPE_SECONDS", 0.1)
    os.mkfifo(folder / "pipe")
    (rejection,) = read(folder / "pipe")
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "it is a pipe that nobody writes to"
    report = ingest(folder, None)
    assert (report.files, report.read, len(report.rejected)) == (2, 1, 1)
    assert "pipe" in report.rejected[0].reason


def test_a_pipe_whose_writer_takes_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "PIPE_SECONDS", 0.05)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    opened = threading.Event()

    def write():
        with pipe.open("wb", buffering=0) as stream:
            opened.set()
            time.sleep(0.3)
            stream.write(GOOD.encode())

    writer = threading.Thread(target=write)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # lets the writer open its end
    writer.start()
    opened.wait()
    file = LocalFile(str(pipe))
    try:
        assert file.data() == GOOD.encode()
    finally:
        os.close(reader)
        writer.join()
        file.close()


def test_a_pipe_without_end(monkeypatch):
    monkeypatch.setattr(pipes, "PIPE_BYTES", 3 << 20)

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"x" * size

    (rejection,) = read("-", options=ReadOptions(stdin=Endless()))
    assert rejection.file == "-"
    assert rejection.reason.startswith("the pipe gives more than 0 GiB")


def test_a_file_of_bad_records_without_end(folder, monkeypatch):
    monkeypatch.setattr(pipeline, "HOPELESS_RECORDS", 20)
    bad = '{"masgraph": 1, "kind": "nonsense"}\n'
    (folder / "bad.jsonl").write_text(bad * 1_000 + GOOD.replace("one", "two"))
    (folder / "mixed.jsonl").write_text(
        bad * 19 + GOOD.replace("one", "three") + "\n" + bad * 50
    )
    report = ingest(folder, None)
    assert report.runs == 2
    of_bad = [one for one in report.rejected if one.file.endswith("bad.jsonl")]
    assert len(of_bad) == 21
    assert of_bad[-1].record is None
    assert of_bad[-1].reason == (
        "none of its first 20 records can be read: the rest is left out"
    )
    assert len(report.rejected) == 21 + 19 + 50


def test_folders_whose_links_go_round(folder):
    deep = folder / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "other.jsonl").write_text(GOOD.replace("one", "two"))
    (deep / "up").symlink_to(folder)
    (folder / "a" / "again").symlink_to(deep)
    (folder / "itself").symlink_to(folder / "itself")
    report = ingest(folder, None)
    assert report.runs == 2
    (rejection,) = report.rejected
    assert rejection.file.endswith("itself")
    assert rejection.reason == "its links lead in a circle"


def test_the_limits_are_those_of_a_file_that_is_named_too(folder):
    (folder / "loop").symlink_to(folder / "loop")
    with pytest.raises(InputError, match="links lead in a circle"):
        LocalFile(str(folder / "loop")).data()
