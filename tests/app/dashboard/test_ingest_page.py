"""Files that are dropped: read, counted, rejected; and a file that somebody else holds."""

import gzip
from pathlib import Path

import pytest

from app.dashboard import settings
from app.drop_jobs import DroppedFile, read_dropped, what_was_dropped
from graphstore.errors import UsageError
from graphstore.store import open_store
from ingest.readers.native_writer import write_native
from tests.app.dashboard import hostile
from tests.app.dashboard.conftest import open_page

pytestmark = pytest.mark.xdist_group("dashboard")

RUNS = b"".join(line + b"\n" for line in write_native([hostile.run(1), hostile.run(2)]))


@pytest.fixture
def place(open_fresh_store, monkeypatch):
    """A fresh store's address; the store itself is closed, as files have one writer."""
    open_fresh_store()
    address, server = open_fresh_store.url, open_fresh_store.server
    open_fresh_store.close()
    if server is not None:
        monkeypatch.setenv("NEO4J_USER", server.user)
        if server.password:
            monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    settings.configure(settings.Settings(store=address))
    return address


def drop(shown, *files):
    shown.test.file_uploader[0].set_value(list(files)).run()
    read = next(one for one in shown.test.button if one.label == "Read")
    read.click().run(timeout=120)
    return shown


def number_of_runs(address):
    with open_store(address, read_only=True) as store:
        return store.query("MATCH (r:Run) RETURN count(r) AS n").rows[0][0]


def test_dropped_files_are_read_and_what_is_not_is_named(place):
    shown = drop(
        open_page("ingest"),
        ("runs.jsonl.gz", gzip.compress(RUNS), "application/gzip"),
        ("<b>bad.json", b"{", "application/json"),
    ).check()
    assert any("Read and stored" in words for words in shown.markdown)
    frame = shown.test.dataframe[0].value
    assert len(frame) == 1
    assert "bad" in frame["file"][0]
    assert "/" not in frame["file"][0]
    assert number_of_runs(place) == 2
    with open_store(place, read_only=True) as store:
        uris = store.query("MATCH (r:Run) RETURN DISTINCT r.uri AS uri").rows
        assert uris == (("runs.jsonl.gz",),), "graphs know the names that files had"
    health = open_page("", part="Health").check()
    assert "bad" in str(health.test.dataframe[0].value["file"][0])


def test_only_looking_stores_nothing(place):
    shown = drop(open_page("ingest", look="true"), ("r.jsonl", RUNS, "")).check()
    assert any("nothing stored" in words for words in shown.markdown)
    assert number_of_runs(place) == 0


def test_all_or_nothing(place):
    shown = drop(
        open_page("ingest", strict="true"), ("r.jsonl", RUNS, ""), ("bad.json", b"{", "")
    ).check()
    assert any("Nothing was stored" in words for words in shown.markdown)
    assert number_of_runs(place) == 0


def test_a_file_that_somebody_else_writes_to(tmp_path):
    path = tmp_path / "held.db"
    with open_store(str(path)) as store:
        store.write([hostile.run(1)])
        store.checkpoint()
        settings.configure(settings.Settings(store=str(path)))
        shown = open_page("ingest")
        if Path("/proc/locks").exists():
            assert "this process (since" in shown.kinds("warning")[0].lower()
        else:
            assert any("says which one" in body for body in shown.html)
        drop(shown, ("r.jsonl", RUNS, ""))
        assert not shown.test.exception
        assert any("open for writing by" in words for words in shown.kinds("warning"))
        assert open_page("runs").check().test.dataframe
    shown = open_page("ingest").check()
    assert any("says which one" in body for body in shown.html)
    drop(shown, ("r.jsonl", RUNS, "")).check()
    assert number_of_runs(str(path)) == 3


def test_a_store_is_made_by_dropping(tmp_path):
    path = tmp_path / "new.db"
    settings.configure(settings.Settings(store=str(path)))
    assert not open_page("runs").test.dataframe
    drop(open_page("ingest"), ("r.jsonl", RUNS, "")).check()
    assert len(open_page("runs").check().test.dataframe[0].value) == 2


def test_a_dashboard_for_reading_takes_no_files(tmp_path):
    settings.configure(settings.Settings(store=str(tmp_path / "x.db"), is_read_only=True))
    shown = open_page("ingest").check()
    assert not shown.test.file_uploader
    assert any("--read-only" in words for words in shown.kinds("empty"))


def test_names_of_dropped_files_do_no_harm(tmp_path):
    names = [
        "../../etc/passwd",
        "..",
        "",
        "a\\b\\c.json",
        "x" * 400 + ".json",
        "a.json",
        "a.json",
    ]
    report = read_dropped([DroppedFile(name, b"{") for name in names], None)
    assert report.files == len(names)
    assert len(report.rejected) == len(names)
    assert all("/" not in one.file for one in report.rejected)
    with pytest.raises(UsageError, match="no file"):
        read_dropped([], None)
    four = [DroppedFile(name, b"") for name in "dcba"]
    assert what_was_dropped(four) == "a, b, c and 1 more"
