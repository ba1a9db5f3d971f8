"""A store that goes away, is locked, or comes back: a sentence each time."""

import pytest

from app.dashboard import connection, settings
from graphstore.store import open_store
from tests.app.dashboard import hostile
from tests.app.dashboard.conftest import PAGES, Shown, open_page

pytestmark = pytest.mark.xdist_group("dashboard")


def sentence(shown: Shown) -> str:
    assert not shown.test.exception
    assert len(shown.kinds("error")) == 1, shown.notes
    words = shown.kinds("error")[0]
    assert "Traceback" not in words
    assert "\n" not in words
    return words


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "store.db"
    with open_store(str(path)) as store:
        store.write([hostile.run(number) for number in range(3)])
    settings.configure(settings.Settings(store=str(path)))
    return path


@pytest.mark.parametrize("page", ["", "runs", "motifs"])
def test_a_file_that_goes_away_in_the_middle_and_comes_back(file, page):
    shown = open_page(page).check()
    aside = file.rename(file.with_name("elsewhere.db"))
    shown.test.run()
    assert str(file) in sentence(shown)
    aside.rename(file)
    shown.test.run()
    shown.check()


def test_a_run_that_is_deleted_while_it_is_open(file):
    run = hostile.run(1).id
    shown = open_page("runs", run=run).check()
    with open_store(str(file)) as store:
        store.delete([run])
    shown.test.run()
    assert run in sentence(shown)


def test_what_is_written_meanwhile_is_seen(file):
    shown = open_page("runs").check()
    assert len(shown.test.dataframe[0].value) == 3
    with open_store(str(file)) as store:
        store.write([hostile.run(7)])
    shown.test.run()
    assert len(shown.check().test.dataframe[0].value) == 4


def test_a_damaged_file(file):
    file.write_bytes(b"nothing of a store")
    connection.close_all()
    for page in ("", "runs", "motifs"):
        assert "store" in sentence(open_page(page))


@pytest.mark.parametrize("page", ["", "runs", "motifs"])
def test_no_file_yet(tmp_path, page):
    settings.configure(settings.Settings(store=str(tmp_path / "none.db")))
    assert "masgraph ingest" in sentence(open_page(page))
    assert not (tmp_path / "none.db").exists(), "looking makes no store"


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ("cypher", "ingest")])
def test_a_server_that_does_not_answer(page):
    settings.configure(settings.Settings(store="bolt://127.0.0.1:9"))
    assert "127.0.0.1:9" in sentence(open_page(page))


@pytest.mark.neo4j_server
def test_a_server_that_goes_away_in_the_middle(neo4j_database, monkeypatch):
    """The driver is closed behind the page's back: the next question finds no connection."""
    monkeypatch.setenv("NEO4J_USER", neo4j_database.user)
    if neo4j_database.password:
        monkeypatch.setenv("NEO4J_PASSWORD", neo4j_database.password)
    with open_store(neo4j_database.uri, **neo4j_database.options) as store:
        store.write([hostile.run(1)])
    settings.configure(settings.Settings(store=neo4j_database.uri))
    shown = open_page("runs").check()
    connection.connection().store().close()
    connection.forget()
    shown.test.run()
    assert sentence(shown)
    shown.test.run()
    shown.check()


def test_a_password_in_an_address_is_not_shown():
    place = connection.place_of("bolt://user:secret@example.org:7687")
    assert place.address == "bolt://example.org:7687"
    assert place.file is None
    assert str(connection.place_of("file:///a/b.db").file) == "/a/b.db"
