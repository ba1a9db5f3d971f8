import gzip
import hashlib
import io
import os
import threading

import pytest

from graphstore.errors import InputError
from ingest import files
from ingest.files import LocalFile
from ingest.finding import find_files, total_size
from ingest.reader import SAMPLE_BYTES


def test_gzip_is_known_by_its_first_bytes(tmp_path):
    content = b"line one\r\n\nline two"
    plain, packed = tmp_path / "x.gz", tmp_path / "y.json"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content[:9]) + gzip.compress(content[9:]))
    for path in (plain, packed):
        file = LocalFile(str(path))
        assert list(file.lines()) == [(1, b"line one"), (3, b"line two")]
        assert file.data() == content
        assert file.sample == content
        assert file.sha256 == hashlib.sha256(content).hexdigest()


def test_a_cut_or_damaged_gzip_file_says_so(tmp_path):
    packed = gzip.compress(os.urandom(100_000))
    cut, damaged = tmp_path / "cut", tmp_path / "damaged"
    cut.write_bytes(packed[:-20])
    damaged.write_bytes(packed[:5000] + bytes([packed[5000] ^ 255]) + packed[5001:])
    with pytest.raises(InputError, match="the gzip data breaks off"):
        LocalFile(str(cut)).data()
    with pytest.raises(InputError, match="the gzip data is damaged"):
        list(LocalFile(str(damaged)).lines())


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_larger_than_what_is_kept_streams(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(files, "KEPT_BYTES", 100_000)
    lines = [f"line {number} ".encode() + b"x" * 50 for number in range(20_000)]
    content = b"\xef\xbb\xbf" + b"\n".join(lines)
    path = tmp_path / "large"
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    file = LocalFile(str(path))
    assert file.sample == content[3 : SAMPLE_BYTES + 3]
    assert not file.sample_is_all
    positions = []
    for number, line in file.lines():
        assert line == lines[number - 1]
        positions.append(file.position)
    assert len(positions) == len(lines)
    assert positions == sorted(positions)
    assert positions[-1] == file.size
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert file.data() == content[3:]


def test_a_byte_order_mark_is_no_content_but_counts_in_the_hash(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf{}")
    file = LocalFile(str(path))
    assert file.sample == file.data() == b"{}"
    assert list(file.lines()) == [(1, b"{}")]
    assert file.sha256 == hashlib.sha256(b"\xef\xbb\xbf{}").hexdigest()


def test_a_small_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BOMB_BYTES", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"0" * (40 << 20)))
    with pytest.raises(InputError, match="grows to more than 400 times its size"):
        LocalFile(str(path)).data()
    with pytest.raises(InputError, match="grows to more than 400 times its size"):
        list(LocalFile(str(path)).lines())


def test_limits_on_whole_files_and_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "KEPT_BYTES", 10)
    monkeypatch.setattr(files, "LINE_BYTES", 100)
    path = tmp_path / "long"
    path.write_bytes(b"short\n" + b"x" * 200)
    with pytest.raises(InputError, match="line 2 is longer than"):
        list(LocalFile(str(path)).lines())
    monkeypatch.setattr(files, "WHOLE_BYTES", 100)
    with pytest.raises(InputError, match="read in one piece"):
        LocalFile(str(path)).data()


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_read_once_and_can_be_read_again(packed):
    content = b'{"a": 1}\n' * 10
    stream = io.BytesIO(gzip.compress(content) if packed else content)
    found = find_files(["-", "-"], stdin=stream)
    assert [file.uri for file in found] == ["-"]
    file = found[0]
    assert file.size is None
    assert total_size(found) is None
    assert len(list(file.lines())) == 10
    file.release()
    assert file.data() == content
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    file.close()


def test_a_pipe_is_spooled_and_a_device_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\ntwo",))
    writer.start()
    file = LocalFile(str(pipe))
    assert file.data() == b"one\ntwo"
    file.release()
    assert list(file.lines()) == [(1, b"one"), (2, b"two")]
    writer.join()
    file.close()
    with pytest.raises(InputError, match="neither a file nor a pipe"):
        LocalFile("/dev/null").data()


@pytest.mark.parametrize("packed", [False, True])
def test_many_blank_lines_are_passed_and_counted(tmp_path, monkeypatch, packed):
    monkeypatch.setattr(files, "KEPT_BYTES", 1_000)
    blank = b"\n" * 50_000 + b" \t\r\n" * 30_000 + b"   "
    content = b"first\n" + blank + b"second\n\nthird" + b"\n \n" * 20_000
    path = tmp_path / "large"
    path.write_bytes(gzip.compress(content) if packed else content)
    file = LocalFile(str(path))
    expected = [
        (number, line.strip())
        for number, line in enumerate(content.split(b"\n"), 1)
        if line.strip()
    ]
    asked = 0
    read_line = files._Counted.readline if not packed else files._Guarded.readline

    def counted(self, size=-1):
        nonlocal asked
        asked += 1
        return read_line(self, size)

    kind = files._Guarded if packed else files._Counted
    monkeypatch.setattr(kind, "readline", counted)
    assert list(file.lines()) == expected
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert asked < 1_000


def test_blank_lines_count_where_gzip_grows_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "KEPT_BYTES", 1_000)
    monkeypatch.setattr(files, "BOMB_BYTES", 1_000_000)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"{}\n" + b"\n" * 30_000_000, 9))
    with pytest.raises(InputError, match="times its size"):
        list(LocalFile(str(path)).lines())


def test_nothing_is_kept_after_release(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    file = LocalFile(str(path))
    assert file.data() == b"old"
    assert file.sample_is_all
    path.write_bytes(b"new")
    assert file.data() == b"old"
    file.release()
    assert file.data() == b"new"
