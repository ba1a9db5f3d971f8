"""The console cannot write, read files, or run on: by a check and by the stores themselves."""

import time
from html import unescape

import pytest

from app.dashboard import connection, settings
from graphstore.errors import QueryError, QueryTimeoutError
from tests.app.dashboard.conftest import open_page
from tests.graphstore.test_query_safety import SECRET, attempts

pytestmark = pytest.mark.xdist_group("dashboard")

ENDLESS = (
    "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b "
    "WITH a, b WHERE a * b % 7 = 3 RETURN count(*) AS n"
)


def size(store):
    return store.counts(), store.query("MATCH (n) RETURN sum(size(keys(n))) AS k").rows


def test_no_attempt_passes_the_consoles_connection(opened, full, tmp_path):
    path = tmp_path / "secret.csv"
    path.write_text(f"{SECRET},1\n")
    before = size(full)
    console = connection.console_connection()
    tried = attempts(path)
    assert len(tried) > 80
    for cypher in tried:
        with pytest.raises(QueryError) as caught:
            console.query(cypher, {"path": str(path)})
        assert SECRET not in str(caught.value), cypher
    assert size(full) == before


def test_the_consoles_stores_are_read_only_by_themselves(opened, full):
    """The guard is one barrier: behind it the handle itself refuses to write."""
    store = connection.console_connection().store()
    assert store.read_only
    with pytest.raises(Exception, match=r"(?i)read.?only"):
        store.delete(["run-x"])
    with pytest.raises(Exception, match=r"(?i)read.?only|write"):
        unguarded(store, "CREATE (:Run {id: 'sneaky', name: 'sneaky'})")
    assert not full.query("MATCH (r:Run {id: 'sneaky'}) RETURN r.id AS id").rows


def unguarded(store, cypher):
    """Runs a text past the guard, as the engine would get it."""
    if "://" in store.url:
        with store._driver.session(default_access_mode="READ") as session:
            session.run(cypher).consume()
    else:
        store._worker.ask(cypher, {}, 10.0, 10)


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n:Run) SET n.name = 'x'",
        "match (n) detach delete n",
        "MATCH (n:Run) CALL (n) { SET n.name = 'x' } RETURN n",
        "`LOAD` CSV FROM '/etc/passwd' AS row RETURN row",
        "RETURN 1 AS x; MATCH (n) DETACH DELETE n",
        "CREATE INDEX sneaky FOR (n:Run) ON (n.answer)",
        "CALL dbms.listConfig()",
    ],
)
def test_the_page_refuses_in_one_sentence(opened, full, cypher):
    before = size(full)
    shown = opened("cypher", cypher=cypher)
    shown.test.button[0].click().run()
    assert not shown.test.exception
    assert len(shown.kinds("error")) == 1
    assert not shown.test.dataframe
    assert size(full) == before


def test_a_query_that_would_run_on_ends_at_its_limit(opened, full):
    settings.configure(settings.Settings(store=full.url, console_seconds=0.5))
    shown = open_page("cypher", cypher=ENDLESS)
    assert any("0.5 seconds" in body for body in shown.html), "the limit is shown"
    began = time.monotonic()
    shown.test.button[0].click().run()
    assert time.monotonic() - began < 20
    assert any("time limit of 0.5 s" in words for words in shown.kinds("error"))
    assert any("masgraph app --timeout" in words for words in shown.kinds("error"))


def test_a_limit_of_one_second_is_one_second(opened, full):
    settings.configure(settings.Settings(store=full.url, console_seconds=1))
    shown = open_page("cypher", cypher="RETURN 1 AS x")
    assert any("ends after 1 second and" in body for body in shown.html)


def test_a_long_query_holds_up_no_page(opened, full):
    assert connection.connection() is not connection.console_connection()
    assert connection.connection().store() is not connection.console_connection().store()


def test_a_million_rows_do_not_fill_the_browser(opened, full):
    settings.configure(settings.Settings(store=full.url, console_rows=1_200))
    shown = open_page("cypher", cypher="UNWIND range(1, 1000000) AS x RETURN x")
    shown.test.button[0].click().run(timeout=60)
    shown.check()
    assert len(shown.test.dataframe[0].value) == 500
    assert any("more rows than 1,200" in words for words in shown.kinds("warning"))
    assert any("1,200 rows" in words.replace("\\", "") for words in shown.markdown)


def test_a_query_can_be_copied_from_the_heading_of_its_answer(opened):
    cypher = "MATCH (r:Run) WHERE r.id <> 'http://x' RETURN count(r) AS n"
    shown = opened("cypher", cypher=cypher)
    shown.test.button[0].click().run()
    headings = [body for body in shown.check().html if body.startswith("<h3>")]
    assert [unescape(body) for body in headings] == [f"<h3>1 row of {cypher}</h3>"]
    assert not any("\u2060" in body for body in shown.html)


def test_the_page_limit_is_the_engines(opened):
    with pytest.raises(QueryTimeoutError):
        connection.console_connection().query(ENDLESS, timeout=0.3)
    assert connection.console_connection().query("RETURN 1 AS x").rows == ((1,),)


def test_history_lasts_a_session(opened):
    shown = opened("cypher", cypher="RETURN 1 AS one")
    shown.test.button[0].click().run()
    shown.test.text_area(key="cypher").input("RETURN 2 AS two")
    shown.test.button[0].click().run()
    assert list(shown.check().test.dataframe[0].value.columns) == ["two"]
    again = [one for one in shown.test.button if one.label == "Show again"]
    assert len(again) == 2
    again[1].click().run()
    assert list(shown.check().test.dataframe[0].value.columns) == ["one"]
    assert shown.test.text_area(key="cypher").value == "RETURN 1 AS one"


def test_an_answer_to_other_parameters_says_so(opened):
    shown = opened("cypher", query="who-talks-to-whom").check()
    rows = len(shown.test.dataframe[0].value)
    assert rows > 1
    assert not shown.kinds("warning")
    shown.test.text_input(key="p-limit").input("1").run()
    assert len(shown.check().test.dataframe[0].value) == rows
    assert any("press Ask" in words for words in shown.kinds("warning"))
    shown.test.button[0].click().run()
    assert len(shown.check().test.dataframe[0].value) == 1
    assert not shown.kinds("warning")


def test_what_a_link_asks_is_not_said_to_be_nothing(opened):
    shown = opened("cypher", cypher="RETURN 1 AS one").check()
    assert shown.kinds("empty") == ["This has not been asked yet: press Ask."]
    (sentence,) = opened("cypher").check().kinds("empty")
    assert "choose a question" in sentence


def test_a_procedure_that_describes_the_data_is_let_through(opened, full):
    shown = opened("cypher", cypher="CALL db.labels() YIELD label RETURN label")
    shown.test.button[0].click().run()
    assert len(shown.check().test.dataframe[0].value)
    assert any("db.labels()" in body for body in shown.html)
    has_limit = any("2 GiB of memory" in body for body in shown.html)
    assert has_limit == ("://" not in full.url), "only the embedded engine has this limit"
