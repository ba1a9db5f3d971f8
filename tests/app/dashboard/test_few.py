"""Each page on an empty store, on one run, and after files were rejected; on both stores.

These take a fresh store each; those of :mod:`test_pages` share one, which keeps the server to
itself as long as their module runs.
"""

import pytest

from app import evaluation_jobs
from app.dashboard import connection, settings
from app.drop_jobs import DroppedFile, read_dropped, remember_report, what_was_dropped
from tests.app.dashboard import hostile
from tests.app.dashboard.conftest import PAGES, open_page

pytestmark = pytest.mark.xdist_group("dashboard")


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_store_says_what_to_do(open_fresh_store, page, monkeypatch):
    store = open_fresh_store()
    shown = open_on(store, monkeypatch, open_fresh_store.server, page)
    shown.check()
    assert shown.kinds("empty")
    assert "masgraph" in " ".join(shown.kinds("empty")) or page == "cypher"


@pytest.mark.parametrize("page", PAGES)
def test_one_run(open_fresh_store, page, monkeypatch):
    store = open_fresh_store()
    store.write([hostile.run(1)])
    evaluation_jobs.evaluate(store)
    shown = open_on(store, monkeypatch, open_fresh_store.server, page)
    shown.check()
    if page == "runs":
        run = shown.test.dataframe[0].value["run"][0]
        for part in ("Graph", "Timeline", "Transcript", "Metrics", "Tree"):
            open_on(
                store, monkeypatch, open_fresh_store.server, page, run=run, part=part
            ).check()


def open_on(store, monkeypatch, server, page, **parameters):
    if server is not None:
        monkeypatch.setenv("NEO4J_USER", server.user)
        if server.password:
            monkeypatch.setenv("NEO4J_PASSWORD", server.password)
    store.checkpoint()
    settings.configure(settings.Settings(store=store.url))
    return open_page(page, **parameters)


def test_rejected_files_are_on_record(open_fresh_store, monkeypatch, tmp_path):
    store = open_fresh_store()
    files = [DroppedFile("../../odd\x00name.json", b"{"), DroppedFile("b.json", b"[1, 2]")]
    report = read_dropped(files, store)
    assert len(report.rejected) == 2
    assert not any("/" in one.file for one in report.rejected)
    remember_report(store, report, what_was_dropped(files), format="auto", content="redact")
    shown = open_on(store, monkeypatch, open_fresh_store.server, "", part="Health")
    assert not shown.test.exception
    store.write([hostile.run(1)])
    connection.close_all()
    shown = open_on(store, monkeypatch, open_fresh_store.server, "", part="Health").check()
    frame = shown.test.dataframe[0].value
    assert len(frame) == 2
    assert frame["reason"].notna().all()
