"""The pages on many runs in a real browser: clicked through, and looked at."""

import time

import pytest

from graphstore.store import open_store
from tests.app.dashboard import teams
from tests.app.dashboard.hostile import CLOSING, IMAGE, MARKDOWN, SCRIPT
from tests.browser.conftest import Server
from tests.browser.test_browser import LOOKS, lightness, parameters, picks

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def teams_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("teams") / "teams.db"
    with open_store(str(path)) as store:
        teams.fill(store)
    return path


@pytest.fixture(scope="module")
def address(teams_store):
    made = Server(teams_store)
    yield made.address
    made.close()


@pytest.fixture(scope="module")
def places(teams_store):
    """What addresses name: two runs of a task, and its forest."""
    with open_store(str(teams_store), read_only=True) as store:
        runs = store.query(
            "MATCH (r:Run)-[:OF_TASK]->(:Task {name: 'task plain 0'}) "
            "RETURN r.id AS id ORDER BY r.name, id"
        ).rows
        forest = store.query(
            "MATCH (f:ReferenceForest {level: 'task', name: 'task plain 0'}) RETURN f.id AS id"
        ).rows[0][0]
    return {"one": runs[0][0], "other": runs[-1][0], "forest": forest}


@pytest.fixture(autouse=True)
def nothing_broke(browser):
    browser.look(1280, 1000, "light")
    yield
    assert browser.script("return window.broken") is None
    assert browser.complaints() == []


def pick_option(browser, label, option):
    """Opens a select box by its label, types what is wanted, and takes the first."""
    from selenium.webdriver.common.keys import Keys

    field = browser.wait(
        lambda: browser.script(
            "return [...document.querySelectorAll('[data-testid=stSelectbox]')].find("
            "one => one.querySelector('label').innerText.trim() === arguments[0])"
            "?.querySelector('input') || null",
            label,
        ),
        f"the choice {label}",
    )
    browser.script("arguments[0].scrollIntoView({block: 'center'})", field)
    field.send_keys(option)
    time.sleep(0.3)
    field.send_keys(Keys.ENTER)
    time.sleep(0.3)
    browser.settle()


def test_compare_methods_then_two_runs(browser, address):
    browser.open(f"{address}/compare")
    browser.wait(lambda: "Mean difference in success" in browser.text(), "the differences")
    pick_option(browser, "Metric", "tokens")
    browser.wait(lambda: "Mean difference in tokens" in browser.text(), "those in tokens")
    assert parameters(browser)["metric"] == "tokens"
    browser.click("Two runs")
    pick_option(browser, "Task", "task plain 0")
    browser.click("Choose runs", kind="button")
    browser.wait(lambda: parameters(browser).get("task"), "the task in the address")
    browser.click("Compare", kind="[data-testid=stForm] button")
    browser.wait(lambda: " beside " in browser.text(), "the diff")
    found = parameters(browser)
    assert found["one"] != found["other"]
    browser.open(browser.driver.current_url)
    browser.wait(lambda: " beside " in browser.text(), "the diff again, from its address")
    browser.click("Open the second run", kind="a")
    browser.wait(lambda: "/runs" in browser.driver.current_url, "the page Runs")
    browser.wait(lambda: picks(browser), "the run's drawing")


def test_open_a_forest_and_a_run_beside_it(browser, address, places):
    browser.open(f"{address}/forests")
    pick_option(browser, "Forest", "task: task plain 0")
    browser.click("Open", kind="[data-testid=stForm] button")
    browser.wait(lambda: parameters(browser).get("forest") == places["forest"], "the forest")
    browser.wait(lambda: "Runs beside them" in browser.text(), "runs beside it")
    browser.click("Back to the list", kind="button")
    browser.wait(lambda: "forest" not in parameters(browser), "the list again")
    browser.click("Diagnosis")
    browser.wait(lambda: "like the ways that work" in browser.text(), "the quadrant")


def test_all_parts_of_trajectories(browser, address):
    browser.open(f"{address}/trajectories")
    for part, words in (
        ("Proposals", "Gain against best"),
        ("Interventions", "Response by level"),
        ("Predictions", "failing workers"),
        ("Links and roles", "Messages a run"),
        ("Perturbation", "Similarity to the unedited graph"),
        ("Communication", "Score so far"),
        ("Relations", "Outcomes of relations"),
        ("Suitability", "Tasks by the depth"),
        ("Proposals", "Refinement in"),
    ):
        browser.click(part)
        browser.wait(lambda words=words: words in browser.text(), words)
        assert "error of masgraph" not in browser.text()
    pick_option(browser, "Method", "team plain")
    browser.wait(lambda: "Refinement in team plain" in browser.text(), "another method")
    assert parameters(browser)["method"] == "team plain"


@pytest.mark.parametrize("trick", [SCRIPT, IMAGE, MARKDOWN, CLOSING])
def test_nothing_stored_becomes_markup(browser, address, trick):
    for where in (
        "/compare",
        "/forests?part=Diagnosis",
        "/trajectories",
        "/trajectories?part=Interventions",
    ):
        browser.open(address + where)
        browser.wait(lambda: trick[:8] in browser.text(), "the trick as text")
        assert browser.script("return window.broken") is None


FRAMES = """
const found = [];
document.querySelectorAll('*').forEach(one => {
  if (one.shadowRoot) found.push(...one.shadowRoot.querySelectorAll('.frame'));
});
"""


@pytest.mark.parametrize("width", [1280, 400])
def test_references_are_drawn_to_be_read_and_say_that_they_scroll(
    browser, address, places, width
):
    browser.look(width, 900, "light")
    browser.open(f"{address}/forests?forest={places['forest']}")
    frames = browser.wait(
        lambda: browser.script(
            FRAMES + "return found.map(one => ({label: one.getAttribute('aria-label'), "
            "goesOn: one.scrollWidth > one.clientWidth + 4, scale: one.firstChild."
            "getBoundingClientRect().width / one.firstChild.getAttribute('width')}))"
        ),
        "the drawings",
    )
    references = [one for one in frames if one["label"].startswith("Who consumed what")]
    assert references
    for one in references:
        assert one["scale"] > 0.89
        assert one["goesOn"] == one["label"].endswith("the drawing goes on to the right.")
    assert any(one["goesOn"] for one in references) == (width == 400)
    browser.script(FRAMES + "found.forEach(one => { one.scrollLeft = one.scrollWidth; })")
    browser.wait(
        lambda: (
            not browser.script(
                FRAMES + "return found.some(one => one.ariaLabel.includes('Scroll'))"
            )
        ),
        "no hint where a drawing ends",
    )


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("compare", "/compare"),
        ("two-runs", "/compare?part=Two+runs&one={one}&other={other}"),
        ("forest", "/forests?forest={forest}"),
        ("diagnosis", "/forests?part=Diagnosis"),
        ("proposals", "/trajectories?method=team+plain"),
        ("interventions", "/trajectories?part=Interventions"),
        ("perturbation", "/trajectories?part=Perturbation"),
        ("relations", "/trajectories?part=Relations"),
    ],
)
def test_looks(browser, address, places, name, where, width, scheme):
    """Keeps a picture, and checks that nothing hangs over the edge of the screen."""
    browser.look(width, 900, scheme)
    browser.open(address + where.format(**places))
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
