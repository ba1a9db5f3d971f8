"""Opens pages of the dashboard, without a browser, on both stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

pytest.importorskip("streamlit", reason="the dashboard needs the extra ui")

from streamlit.testing.v1 import AppTest

from app import evaluation_jobs, library_jobs
from app.dashboard import connection, settings
from app.dashboard.catalogue import VIEWS
from app.overview_jobs import make_overview
from graphstore.store import GraphStore
from tests.app.dashboard import hostile

PAGES = tuple(view.name for view in VIEWS)


class Shown:
    """A page as it was shown: its elements, and what they say."""

    def __init__(self, test: AppTest) -> None:
        self.test = test

    @property
    def html(self) -> list[str]:
        """What was put out as HTML."""
        return [one.proto.body for one in self.test.get("html")]

    @property
    def markdown(self) -> list[str]:
        """What Streamlit reads as Markdown: headings, labels, captions."""
        found = [str(one.value) for kind in ("markdown", "subheader", "title", "caption")
                 for one in self.test.get(kind)]  # fmt: skip
        for kind in ("button", "download_button", "page_link", "expander", "selectbox"):
            found += [str(getattr(one, "label", "")) for one in self.test.get(kind)]
        return found

    @property
    def figures(self) -> list[str]:
        """The drawings' data, as JSON."""
        return [str(one.proto) for one in self.test.get("bidi_component")]

    @property
    def notes(self) -> list[tuple[str, str]]:
        """Sentences in boxes: kind and words."""
        found = []
        for body in self.html:
            reader = _Note()
            reader.feed(body)
            if reader.kind:
                found.append((reader.kind, "".join(reader.words)))
        return found

    def kinds(self, kind: str) -> list[str]:
        """The sentences of a kind."""
        return [words for found, words in self.notes if found == kind]

    def check(self) -> Shown:
        """Fails where anything went wrong."""
        assert not self.test.exception, self.test.exception
        assert not self.kinds("error"), self.kinds("error")
        assert self.test.title, "the page has no title"
        return self


class _Note(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.kind = ""
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = (dict(attrs).get("class") or "").split()
        if "mg-note" in names:
            self.kind = names[-1]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


Open = Callable[..., Shown]


def open_page(page: str = "", **parameters: Any) -> Shown:
    """Opens a page with query parameters."""
    test = AppTest.from_string(
        f"from app.dashboard.shell import run\nrun({page!r})", default_timeout=60
    )
    for name, value in parameters.items():
        test.query_params[name] = str(value)
    return Shown(test.run())


@pytest.fixture(autouse=True)
def fresh_connections() -> Iterator[None]:
    """No test sees what another one has opened or remembered."""
    connection.close_all()
    before = settings.current()
    yield
    settings.configure(before)
    connection.close_all()


@pytest.fixture(scope="module")
def full(module_store: GraphStore, request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    """A store with runs, decompositions, results, and texts that try to be markup."""
    module_store.write(hostile.graphs())
    evaluation_jobs.evaluate(module_store)
    for kind in ("run", "decomposition"):
        library_jobs.mine_library(
            module_store, library_jobs.library_configuration(kind), kind=kind
        )
    make_overview(module_store)
    module_store.checkpoint()
    with pytest.MonkeyPatch.context() as patch:
        if "://" in module_store.url:
            server = request.getfixturevalue("neo4j_server")
            patch.setenv("NEO4J_USER", server.user)
            if server.password:
                patch.setenv("NEO4J_PASSWORD", server.password)
        yield module_store


@pytest.fixture
def opened(full: GraphStore) -> Open:
    """Opens pages on the full store."""
    settings.configure(settings.Settings(store=full.url))
    return open_page
