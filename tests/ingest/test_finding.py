import os
from glob import glob

import pytest

from graphstore.errors import InputError
from ingest.finding import _matches, find_files


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


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**/*.jsonl", ["x.jsonl", "deep/y.jsonl", "outer/z.jsonl"]),
        ("./**/*.jsonl", ["./x.jsonl", "./deep/y.jsonl", "./outer/z.jsonl"]),
        ("**/**/y.jsonl", ["deep/y.jsonl"]),
        ("**/one/y.jsonl", []),
        ("**/one/x.jsonl", ["one/x.jsonl"]),
        ("one/**/*.jsonl", ["one/x.jsonl", "one/deep/y.jsonl", "one/outer/z.jsonl"]),
        ("deep/**", ["deep/up/outer/z.jsonl", "deep/up/x.jsonl", "deep/y.jsonl"]),
    ],
)
def test_a_glob_through_folders_follows_no_links_to_folders(
    tmp_path, monkeypatch, pattern, expected
):
    for name in ("x.jsonl", "deep/y.jsonl", "outer/z.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    (tmp_path / "one").symlink_to(".")
    (tmp_path / "two").symlink_to(".")
    (tmp_path / "deep" / "up").symlink_to("..")
    monkeypatch.chdir(tmp_path)
    if not expected:
        with pytest.raises(InputError, match="no file matches this pattern"):
            find_files([pattern])
        return
    assert sorted(file.path for file in find_files([pattern])) == sorted(expected)


TOPS = ("", "./", ".//", "a/", "../{name}/", "{path}/", "*/", ".h/")
PATTERNS = (
    *("**", "**/", "**/*", "**/*.json", "**/x.json", "**/b/*", "**/b/**", "**/**/x*", "*/**"),
    *("**/.*", "**/.h/*", "**/.h/**/*.json", "**/b//x.json", "**/./x.json", "**/../*", "**x"),
    *("x**/*", "**/[ab]/**/*.json", "**/[[]1]/*", "**/*/", "a/**/**", "*.json", "x.json/**"),
)
FILES = (
    *("x.json", ".x.json", "a/x.json", "a/b/x.json", "a/b/a/y.json", "a/.h/x.json", "b/a/*"),
    *(".h/x.json", ".h/b/.z.json", "[1]/b/x.json", "c/empty/.h/x.json"),
)


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_without_links_a_glob_is_that_of_python(tmp_path, monkeypatch, top, pattern):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    monkeypatch.chdir(tmp_path)
    whole = top.format(name=tmp_path.name, path=tmp_path) + pattern
    expected = set(glob(whole, recursive=True))  # noqa: PTH207
    # Python 3.11 finds the folder in front of ** even where there is none.
    existing = [path for path in expected if os.path.lexists(path)]
    assert sorted(_matches(whole)) == sorted(existing)


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


def test_pipes_inside_a_folder_are_not_waited_for_and_say_so(folder):
    os.mkfifo(folder / "pipe")
    (found,) = [file for file in find_files([folder]) if file.path.endswith("pipe")]
    with pytest.raises(InputError, match="pipes and devices are not read"):
        found.data()


def test_a_name_that_is_no_unicode_is_shown_with_replacements(tmp_path):
    path = os.fsencode(tmp_path) + b"/bad\xff.json"
    with open(path, "wb") as file:  # noqa: PTH123 - a name in bytes
        file.write(b"x")
    (found,) = find_files([tmp_path])
    assert found.uri.endswith("bad\ufffd.json")
    assert found.data() == b"x"


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
