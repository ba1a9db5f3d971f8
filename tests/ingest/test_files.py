import gzip
import hashlib
import io
import os
import threading

import pytest

from graphstore.errors import InputError
from ingest import files
from ingest.files import LocalFile, find_files, total_size
from ingest.reader import SAMPLE_BYTES


@pytest.fixture
def folder(tmp_path):
    for name in ("b.json", "a.json", ".hidden", "masgraph.db", "masgraph.db-wal", "note.txt"):
        (tmp_path / name).write_text(name)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "c.json").write_text("c")
    (tmp_path / "deep" / "a.json").write_text("da")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_text("x")
    return tmp_path


def names(found, root):
    return [os.path.relpath(file.uri, root) for file in found]


def test_a_folder_is_walked_in_order_without_hidden_files_and_stores(folder):
    found = find_files([folder])
    assert names(found, folder) == [
        "a.json",
        "b.json",
        "deep/a.json",
        "deep/er/c.json",
        "note.txt",
    ]


def test_a_file_that_is_named_is_taken_whatever_its_name(folder):
    assert names(find_files([folder / ".hidden"]), folder) == [".hidden"]
    assert names(find_files([folder / "masgraph.db"]), folder) == ["masgraph.db"]


def test_globs_go_through_folders_and_each_file_comes_once(folder):
    found = find_files(
        [folder / "b.json", f"{folder}/**/*.json", f"{folder}/[ab].json", folder]
    )
    assert names(found, folder) == [
        "b.json",
        "a.json",
        "deep/a.json",
        "deep/er/c.json",
        "note.txt",
    ]


def test_a_name_with_brackets_that_exists_is_no_pattern(tmp_path):
    (tmp_path / "run[1].json").write_text("x")
    assert names(find_files([tmp_path / "run[1].json"]), tmp_path) == ["run[1].json"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.json", "there is no such file or folder"),
        ("*.xml", "no file matches this pattern"),
        ("empty", "the folder holds no files"),
    ],
)
def test_a_path_that_stands_for_nothing_is_an_error(folder, name, reason):
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=reason):
        find_files([folder / "a.json", folder / name])


def test_links_in_a_circle_end(folder):
    (folder / "deep" / "up").symlink_to(folder)
    (folder / "again.json").symlink_to(folder / "a.json")
    found = find_files([folder])
    assert sorted(names(found, folder)) == [
        "a.json",
        "b.json",
        "deep/a.json",
        "deep/er/c.json",
        "note.txt",
    ]
    loop = folder / "loop"
    loop.symlink_to(loop)
    (file,) = find_files([loop])
    with pytest.raises(InputError, match="links lead in a circle"):
        file.data()


def test_a_broken_link_in_a_folder_is_found_and_says_so_when_it_is_read(folder):
    (folder / "gone.json").symlink_to(folder / "nowhere")
    (file,) = [file for file in find_files([folder]) if file.uri.endswith("gone.json")]
    with pytest.raises(InputError, match="there is no such file"):
        file.sample  # noqa: B018


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_says_so(folder):
    (folder / "a.json").chmod(0)
    (folder / "deep").chmod(0)
    try:
        found = find_files([folder])
        problems = []
        for file in found:
            try:
                file.data()
            except InputError as error:
                problems.append(error.reason)
        assert problems == [
            "you may not read it",
            "the folder cannot be entered (you may not read it)",
        ]
    finally:
        (folder / "deep").chmod(0o700)


def test_a_folder_that_cannot_be_entered_does_not_stop_the_walk(folder, monkeypatch):
    real = os.scandir

    def refusing(path):
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = find_files([folder])
    assert names(found, folder) == ["a.json", "b.json", "deep", "note.txt"]
    with pytest.raises(InputError, match=r"cannot be entered \(you may not read it\)"):
        found[2].data()


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


def test_pipes_inside_a_folder_are_not_waited_for_and_say_so(folder):
    os.mkfifo(folder / "pipe")
    (found,) = [file for file in find_files([folder]) if file.path.endswith("pipe")]
    with pytest.raises(InputError, match="pipes and devices are not read"):
        found.data()


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


def test_a_name_that_is_no_unicode_is_shown_with_replacements(tmp_path):
    path = os.fsencode(tmp_path) + b"/bad\xff.json"
    with open(path, "wb") as file:  # noqa: PTH123 - a name in bytes
        file.write(b"x")
    (found,) = find_files([tmp_path])
    assert found.uri.endswith("bad\ufffd.json")
    assert found.data() == b"x"


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


def test_however_a_file_is_named_it_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "one.json").write_text("{}")
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "one.json").symlink_to("real/one.json")
    (tmp_path / "round").symlink_to("round")
    monkeypatch.chdir(tmp_path)
    names = ["real/one.json", "linked/one.json", "one.json", "./real/../one.json"]
    names += [str(tmp_path / "real" / "one.json"), "real", "linked", "*/one.json", "real/."]
    assert [file.uri for file in find_files(names)] == ["real/one.json"]
    assert [file.uri for file in find_files(reversed(names))] == ["real/./one.json"]
    assert [file.uri for file in find_files(["round", "./round"])] == ["round"]
