"""The dashboard in a real browser: clicked through, looked at, and nothing asked elsewhere."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from app.dashboard.catalogue import VIEWS
from graphstore.store import open_store
from tests.app.dashboard import hostile
from tests.app.dashboard.hostile import CLOSING, ELSEWHERE, IMAGE, MARKDOWN, SCRIPT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

TITLES = tuple(view.title for view in VIEWS)
LOOKS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]


@pytest.fixture(autouse=True)
def nothing_is_asked_elsewhere(browser, server):
    """After each test: every request went to this machine, and no script broke."""
    browser.look(1280, 1000, "light")
    yield
    allowed = urlsplit(server.address).netloc
    for address in browser.requests():
        parts = urlsplit(address)
        if parts.scheme in ("http", "https", "ws", "wss"):
            assert parts.hostname in ("127.0.0.1", "localhost"), address
    assert allowed
    assert browser.complaints() == []


def parameters(browser):
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit(browser.driver.current_url).query).items()
    }


def test_click_through_every_page(browser, server):
    browser.open(server.address)
    for title in TITLES:
        browser.click(title, kind="[data-testid=stSidebarNavLink]")
        heading = browser.wait(
            lambda title=title: (
                browser.script("return document.querySelector('h1').innerText") == title
            ),
            f"the page {title}",
        )
        assert heading
        assert "error of masgraph" not in browser.text()
        assert "Traceback" not in browser.text()


def test_a_filter_goes_into_the_address_and_comes_back(browser, server):
    browser.open(f"{server.address}/runs?outcome=failed")
    browser.wait(lambda: "7 runs; here 1 to 7" in browser.text(), "the runs that failed")
    browser.click("Decompositions")
    assert parameters(browser)["kind"] == "Decompositions"
    browser.open(browser.driver.current_url)
    browser.wait(
        lambda: "decompositions. Pick a row" in browser.text(), "the list to be restored"
    )


def test_an_open_run_remembers_the_filters_of_its_list(browser, server):
    browser.open(f"{server.address}/runs?method=method+plain&outcome=failed")
    browser.wait(lambda: "3 runs; here 1 to 3" in browser.text(), "the filtered list")
    opened = f"{server.address}/runs?run={hostile.run(1).id}"
    browser.open(f"{opened}&list=method%3Dmethod%2Bplain%26outcome%3Dfailed")
    browser.wait(lambda: picks(browser), "the run")
    browser.click("Back to the list", kind="button")
    browser.wait(lambda: "3 runs; here 1 to 3" in browser.text(), "the filtered list again")
    assert parameters(browser) == {"method": "method plain", "outcome": "failed"}


def test_a_stale_address_is_said(browser, server):
    browser.open(f"{server.address}/runs?method=nosuch")
    browser.wait(lambda: "asks for 'nosuch'" in browser.text(), "the sentence")


def test_open_a_run_and_read_an_action(browser, server):
    run = hostile.run(1).id
    browser.open(f"{server.address}/runs?run={run}")
    browser.wait(lambda: picks(browser), "dots that can be picked")
    assert len(picks(browser)) == 4
    browser.script(
        "document.querySelectorAll('*').forEach(one => { const dot = one.shadowRoot && "
        "one.shadowRoot.querySelector('[data-pick=\"2\"]'); if (dot) dot.dispatchEvent("
        "new MouseEvent('click', {bubbles: true})); })"
    )
    browser.wait(lambda: parameters(browser).get("action") == "2", "the action in the address")
    browser.settle()
    browser.wait(lambda: "It is 4. plain" in browser.text(), "the action's words")
    for part in ("Timeline", "Transcript", "Metrics", "Tree", "Graph"):
        browser.click(part)
        assert parameters(browser).get("part", "Graph") == part
        assert "error of masgraph" not in browser.text()


def picks(browser):
    return browser.script(
        "const found = []; document.querySelectorAll('*').forEach(one => { if (one.shadowRoot) "
        "found.push(...[...one.shadowRoot.querySelectorAll('[data-pick]')].map("
        "dot => dot.dataset.pick)); }); return found"
    )


def test_follow_a_link_from_a_motif_to_a_run(browser, server, filled_store):
    with open_store(str(filled_store), read_only=True) as store:
        motif = store.query(
            "MATCH (m:Motif)-[:OCCURS_IN]->(:Run) RETURN m.id AS id ORDER BY id LIMIT 1"
        ).rows[0][0]
    browser.open(f"{server.address}/motifs?motif={motif}")
    browser.click("Open it with these actions marked", kind="a")
    browser.wait(lambda: "/runs" in browser.driver.current_url, "the page Runs")
    found = parameters(browser)
    assert found["run"].startswith("run-")
    assert found["marked"]
    browser.settle()
    browser.wait(lambda: picks(browser), "the run's drawing")


def test_ask_a_question(browser, server):
    browser.open(f"{server.address}/cypher?query=actions-by-role")
    browser.wait(lambda: "rows of actions" in browser.text(), "an answer")
    browser.click("Chart")
    browser.wait(lambda: "by role" in browser.text(), "a chart")
    browser.open(f"{server.address}/cypher?cypher=MATCH+(r:Run)+RETURN+count(r)+AS+n")
    browser.click("Ask")
    browser.wait(lambda: "1 row of MATCH" in browser.text(), "an answer of one's own question")
    browser.open(f"{server.address}/cypher?cypher=MATCH+(r:Run)+DETACH+DELETE+r")
    browser.click("Ask")
    browser.wait(lambda: "queries only read" in browser.text(), "a refusal")


@pytest.mark.parametrize("trick", [SCRIPT, IMAGE, MARKDOWN, CLOSING])
def test_nothing_stored_becomes_markup(browser, server, trick):
    run = hostile.run(1, name=trick).id
    for part in ("Graph", "Timeline", "Transcript", "Tree"):
        browser.open(f"{server.address}/runs?run={run}&part={part}&action=0")
        time.sleep(0.3)
        browser.wait(lambda: trick[:8] in browser.text(), "the trick as text")
        assert browser.script("return window.broken") is None
        assert not browser.script(
            "return [...document.querySelectorAll('img, a')].filter("
            f"one => (one.src || one.href || '').includes('{ELSEWHERE}') || "
            "(one.href || '').startsWith('javascript:')).length"
        )
    browser.open(f"{server.address}/cypher?query=runs&form=Table")
    assert browser.script("return window.broken") is None


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("overview", "/"),
        ("outcomes", "/?part=Outcomes"),
        ("health", "/?part=Health"),
        ("runs", "/runs"),
        ("graph", "/runs?run={run}&action=2&marked=0,1"),
        ("agents", "/runs?run={run}&nodes=agents"),
        ("timeline", "/runs?run={run}&part=Timeline"),
        ("transcript", "/runs?run={run}&part=Transcript"),
        ("metrics", "/runs?run={run}&part=Metrics"),
        ("tree", "/runs?run={plan}&part=Tree"),
        ("compare", "/compare"),
        ("motifs", "/motifs"),
        ("forests", "/forests"),
        ("trajectories", "/trajectories"),
        ("cypher", "/cypher?query=who-talks-to-whom&form=Graph"),
        ("chart", "/cypher?query=actions-by-role&form=Chart"),
        ("ingest", "/ingest"),
    ],
)
def test_looks(browser, server, name, where, width, scheme):
    """Keeps a picture, and checks that nothing hangs over the edge of the screen."""
    browser.look(width, 900, scheme)
    places = {"run": hostile.run(1).id, "plan": hostile.decomposition(1).id}
    browser.open(server.address + where.format(**places))
    path = browser.shot(f"{name}-{width}-{scheme}")
    assert path.stat().st_size > 8_000
    assert browser.script(
        "return document.documentElement.scrollWidth <= window.innerWidth + 1"
    ), "the page is wider than the screen"
    ground, ink = browser.script(
        "const style = getComputedStyle(document.querySelector('[data-testid=stApp]'));"
        "return [style.backgroundColor, style.color]"
    )
    assert (lightness(ground) > lightness(ink)) == (scheme == "light")


def lightness(colour):
    return sum(float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])


def test_a_password_is_asked_for(browser, filled_store):
    from tests.browser.conftest import Server

    guarded = Server(filled_store, MASGRAPH_APP_PASSWORD="open sesame")
    try:
        browser.driver.get(f"{guarded.address}/runs?outcome=failed")
        field = browser.wait(
            lambda: browser.driver.find_element("css selector", "input[type=password]"),
            "the question for a password",
        )
        assert "Runs" not in browser.text()
        field.send_keys("wrong")
        field.submit()
        browser.wait(lambda: "not the password" in browser.text(), "a refusal")
        field = browser.driver.find_element("css selector", "input[type=password]")
        field.send_keys("open sesame")
        field.submit()
        browser.settle()
        assert parameters(browser) == {"outcome": "failed"}
        browser.script("location.reload()")
        browser.settle()
        assert "Runs" in browser.text()
    finally:
        guarded.close()
        browser.complaints().clear()
