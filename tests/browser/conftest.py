"""A real browser on a real server: Chromium without a screen, and ``masgraph app``."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("streamlit", reason="the dashboard needs the extra ui")
webdriver = pytest.importorskip("selenium.webdriver", reason="Selenium is not installed")

from tests.app.dashboard import hostile  # noqa: E402

ARTEFACTS = Path(__file__).parents[2] / "build" / "browser"
"""Where screenshots are kept; the folder ``build`` is ignored by git."""

WAIT = float(os.environ.get("MASGRAPH_BROWSER_WAIT", "60"))
"""Seconds after which a page that shows nothing counts as broken."""


def _program(variable: str, *names: str) -> str:
    found = os.environ.get(variable) or next(filter(None, map(shutil.which, names)), None)
    if not found:
        sentence = f"no {names[0]} to test in: install chromium and chromium-driver by apt"
        if os.environ.get("CI"):
            pytest.fail(f"{sentence} (a failure because CI is set)", pytrace=False)
        pytest.skip(sentence)
    return found


class Browser:
    """Chromium, with what a test asks of it.

    Attributes:
        driver: Selenium's driver.
    """

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self._requests: list[str] = []
        self._messages: list[str] = []

    def look(self, width: int, height: int, scheme: str) -> None:
        """Sets the size of the screen and whether it is light or dark."""
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )

    def open(self, address: str) -> None:
        """Opens an address and waits until its page stands."""
        self.driver.get(address)
        self.settle()

    def script(self, text: str, *arguments: Any) -> Any:
        """Runs a script in the page."""
        return self.driver.execute_script(text, *arguments)

    def wait(self, what: Callable[[], Any], words: str) -> Any:
        """Waits until something holds, and gives it."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            with contextlib.suppress(Exception):
                found = what()
                if found:
                    return found
            time.sleep(0.05)
        raise AssertionError(
            f"waited {WAIT:g} s for {words}; the page says: {self.text()[:500]}"
        )

    def settle(self) -> None:
        """Waits until the page has run and stands still."""
        self.wait(lambda: self.script("return !!document.querySelector('h1')"), "a heading")
        self.wait(self._is_still, "the page to stand still")

    def _is_still(self) -> bool:
        app = self.script(
            "const a = document.querySelector('[data-testid=stApp]');"
            "return a ? a.getAttribute('data-test-script-state') : null"
        )
        return app in (None, "notRunning") and not self.script(
            "return !!document.querySelector('[data-testid=stSkeleton], [data-stale=true]')"
        )

    def text(self) -> str:
        """What the page says, drawings included."""
        return str(self.script(_EVERY_TEXT))

    def click(self, words: str, *, kind: str = "button, a, label, [role=radio]") -> None:
        """Clicks what bears these words."""
        found = self.wait(lambda: self._named(words, kind), f"{words!r} to click")
        self.script(
            "arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", found
        )
        time.sleep(0.3)
        self.settle()

    def _named(self, words: str, kind: str) -> Any:
        return self.script(
            "return [...document.querySelectorAll(arguments[1])].find("
            "one => (one.innerText || '').trim().split('\\n').pop() === arguments[0]) || null",
            words,
            kind,
        )

    def shot(self, name: str) -> Path:
        """Keeps a picture of the whole page."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        height = self.script(
            "const m = document.querySelector('[data-testid=stMain]') || document.body;"
            "return Math.min(Math.max(m.scrollHeight, 600), 6000)"
        )
        width = self.script("return window.innerWidth")
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        time.sleep(0.5)
        self.settle()
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        path = ARTEFACTS / f"{name}.png"
        path.write_bytes(base64.b64decode(data))
        return path

    def requests(self) -> list[str]:
        """Every address that was asked for so far, sockets included."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self._requests.append(message["params"]["request"]["url"])
            elif message["method"] == "Network.webSocketCreated":
                self._requests.append(message["params"]["url"])
        return self._requests

    def complaints(self) -> list[str]:
        """Errors on the browser's console.

        Left out: how Streamlit finds its base path, and that it says so when a busy machine
        lets it wait; what a test waits for tells whether the server answers.
        """
        self._messages += [
            entry["message"]
            for entry in self.driver.get_log("browser")
            if entry["level"] == "SEVERE"
            and "/_stcore/" not in entry["message"]
            and "server is not responding" not in entry["message"]
        ]
        return self._messages


_EVERY_TEXT = """
const words = [];
const walk = (node) => {
  if (node.nodeType === 3) words.push(node.textContent);
  if (node.shadowRoot) node.shadowRoot.childNodes.forEach(walk);
  if (node.tagName !== 'STYLE' && node.tagName !== 'SCRIPT') node.childNodes.forEach(walk);
};
walk(document.body);
return words.join(' ');
"""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of the session."""
    options = webdriver.ChromeOptions()
    options.binary_location = _program(
        "CHROMIUM", "chromium", "chromium-browser", "google-chrome"
    )
    service = webdriver.ChromeService(_program("CHROMEDRIVER", "chromedriver"))
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"),
        *("--disable-background-networking", "--disable-component-update", "--no-first-run"),
        "--hide-scrollbars",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Server:
    """``masgraph app`` in a process of its own.

    Attributes:
        address: Where it listens.
    """

    def __init__(self, store: Path, *arguments: str, **variables: str) -> None:
        environment = {**os.environ, "MASGRAPH_DEBUG": "1", **variables}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "app", "--store", str(store), "--port", "0",
             *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            cwd=Path(__file__).parents[2],
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://[\w.:\[\]]+", line)
        if found is None:
            self.process.kill()
            rest = self.process.communicate()[1]
            raise AssertionError(f"the server did not start: {line}{rest}")
        self.address = found[0]

    def close(self) -> None:
        """Ends it."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.fixture(scope="session")
def filled_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with runs, results, and texts that try to be markup."""
    from app import evaluation_jobs, library_jobs
    from app.overview_jobs import make_overview
    from graphstore.store import open_store

    path = tmp_path_factory.mktemp("browser") / "store.db"
    with open_store(str(path)) as store:
        store.write(hostile.graphs())
        evaluation_jobs.evaluate(store)
        for kind in ("run", "decomposition"):
            library_jobs.mine_library(
                store, library_jobs.library_configuration(kind), kind=kind
            )
        make_overview(store)
    return path


@pytest.fixture(scope="session")
def server(filled_store: Path) -> Iterator[Server]:
    """The dashboard of the filled store."""
    made = Server(filled_store)
    yield made
    made.close()
