"""What a page is made of: titles, links that restore it, tables, drawings, sentences.

A page is a function ``show(page: Page) -> None``. It asks (``page.ask``), and shows what it
got through the methods here, which escape stored texts and add downloads. The page's state
is kept in its address: see :class:`app.dashboard.address.Address`.

Whatever goes wrong becomes one sentence: see :func:`shown`.
"""

import os
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from app.dashboard import connection, figure, tables
from app.dashboard.address import Address
from app.dashboard.drawing import Figure
from app.dashboard.notes import note
from app.dashboard.text import JOINER, escaped, plain
from graphstore.errors import MasgraphError
from graphstore.rows import QueryResult

if TYPE_CHECKING:
    from graphstore.model import CollaborationGraph

_STYLES = """
<style>
.stMainBlockContainer{padding-top:3.2rem}
h1{font-size:2.1rem !important}h3{font-size:1.35rem !important}
.mg-note{border-left:.25rem solid #2f7fc1;padding:.5rem .9rem;margin:.2rem 0;
 background:color-mix(in srgb, currentColor 6%, transparent);border-radius:.25rem;
 overflow-wrap:anywhere}
.mg-note.error{border-left-color:#d9582b}.mg-note.warning{border-left-color:#d98a00}
.mg-note code{font-size:.9em;white-space:pre-wrap}
.mg-tiles{display:flex;flex-wrap:wrap;gap:.6rem;margin:.2rem 0 .6rem;padding:0;list-style:none}
.mg-tiles div{background:color-mix(in srgb, currentColor 6%, transparent);
 border-radius:.4rem;padding:.45rem .9rem;min-width:6.5rem}
.mg-tiles b{display:block;font-size:1.3rem;font-variant-numeric:tabular-nums}
.mg-tiles span{font-size:.85rem;opacity:.75}
.mg-text{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;font:inherit;font-size:.92rem}
.mg-head{font-weight:600;margin:.1rem 0;overflow-wrap:anywhere}
.mg-soft{opacity:.75;font-size:.88rem;overflow-wrap:anywhere}
.mg-remarks div{margin:.15rem 0}
</style>
"""


@dataclass(frozen=True)
class View:
    """A page of the dashboard.

    Attributes:
        name: Its address after the slash; empty for the first page.
        title: Its heading, and its name in the navigation.
        icon: A name of Streamlit's own icons, which come with it.
        about: What it shows, in a sentence.
        show: Shows it.
    """

    name: str
    title: str
    icon: str
    about: str
    show: "Callable[[Page], None]"


class Page(Address):
    """What a page's function works with.

    Args:
        view: The page.
        targets: The pages that can be linked to, by name, as Streamlit knows them.
    """

    def __init__(self, view: View, targets: Mapping[str, Any]) -> None:
        self.view = view
        self._targets = targets

    # What the store says.

    def ask(self, query: str, **parameters: Any) -> QueryResult:
        """Answers a saved query; see :func:`app.dashboard.connection.ask`."""
        return connection.ask(query, parameters)

    def graph(self, graph_id: str) -> "CollaborationGraph":
        """A run or a decomposition, whole; remembered.

        Raises:
            NotFoundError: No graph has that id.
        """
        return connection.graph(graph_id)

    # What is shown.

    def link(self, view: str, label: str, **parameters: str | int | None) -> None:
        """A link to a page, with what it is to show.

        Args:
            view: Name of the page.
            label: Its words; stored texts are shown as they are.
            parameters: Query parameters there.
        """
        target = self._targets.get(view)
        if target is None:
            return
        given = {name: str(value) for name, value in parameters.items() if value is not None}
        st.page_link(target, label=plain(label), query_params=given)

    def heading(self, words: str) -> None:
        """A heading inside the page; stored texts are shown as they are."""
        markdown = plain(words)
        if JOINER in markdown:
            # Nobody sees a joiner, but who copies a query from its heading would copy it too.
            st.html(f"<h3>{escaped(words, 200)}</h3>")
        else:
            st.subheader(markdown, anchor=False)

    def say(self, sentence: str, *, command: str | None = None) -> None:
        """A sentence, and a command that can be copied."""
        note(sentence, command=command)

    def warn(self, sentence: str, *, command: str | None = None) -> None:
        """A sentence that should not be overlooked."""
        note(sentence, command=command, kind="warning")

    def empty(self, sentence: str, *, command: str | None = None) -> None:
        """Says that there is nothing, and what to do about it."""
        note(sentence, command=command, kind="empty")

    def soft(self, words: str) -> None:
        """A remark below something."""
        st.html(f'<div class="mg-soft">{escaped(words)}</div>')

    def remarks(self, sentences: Iterable[str]) -> None:
        """Remarks below something, each on a line of its own."""
        found = "".join(f"<div>{escaped(words)}</div>" for words in sentences)
        if found:
            st.html(f'<div class="mg-soft mg-remarks">{found}</div>')

    def text(self, words: str) -> None:
        """A stored text with its lines, as it is."""
        st.html(f'<div class="mg-text">{escaped(words)}</div>')

    def tiles(self, values: Mapping[str, Any]) -> None:
        """A few numbers with their names."""
        shown = "".join(
            f'<div role="listitem"><b>{escaped(value)}</b><span>{escaped(name)}</span></div>'
            for name, value in values.items()
        )
        st.html(f'<div class="mg-tiles" role="list">{shown}</div>')

    def table(
        self,
        answer: "QueryResult | Iterable[Mapping[str, Any]]",
        name: str,
        *,
        about: str,
        labels: Mapping[str, str] | None = None,
        hidden: Sequence[str] = (),
        bars: Sequence[str] = (),
        on_pick: Callable[[dict[str, Any]], None] | None = None,
        download: "QueryResult | None" = None,
    ) -> None:
        """Rows as a table, with downloads as CSV and Parquet.

        Args:
            answer: A query's result, or records with equal keys.
            name: Of the files, and of the table on this page.
            about: What it shows, for screen readers.
            labels: Headings, where they are not the columns' names in plain words.
            hidden: Columns that are downloaded, not shown.
            bars: Columns of shares from 0 to 1 that get a bar.
            on_pick: Called with the record of a row that somebody picks, before the page
                runs again.
            download: What is downloaded, where that is more than is shown.
        """
        result = tables.as_result(answer)
        frame = tables.shown_frame(result, hidden)
        key = f"table-{self.view.name}-{name}"
        options: dict[str, Any] = {}
        if on_pick is not None:
            records = result.records()

            def picked() -> None:
                rows = st.session_state[key]["selection"]["rows"]
                if rows and rows[0] < len(records):
                    on_pick(records[rows[0]])

            options = {"on_select": picked, "selection_mode": "single-row"}
        st.dataframe(
            frame,
            key=key,
            hide_index=True,
            alt=about,
            placeholder="-",
            column_config=tables.column_config(result, labels or {}, hidden, bars),
            **options,
        )
        self.downloads(download or result, name)

    def downloads(self, result: QueryResult, name: str) -> None:
        """Buttons for a result as CSV and Parquet."""
        with st.container(horizontal=True, gap="small"):
            for title, ending, kind, make in (
                ("CSV", "csv", "text/csv", tables.to_csv),
                ("Parquet", "parquet", "application/vnd.apache.parquet", tables.to_parquet),
            ):
                st.download_button(
                    f"{title} ({name})",
                    data=partial(make, result),
                    file_name=f"masgraph-{name}.{ending}",
                    mime=kind,
                    key=f"download-{self.view.name}-{name}-{ending}",
                    on_click="ignore",
                    type="tertiary",
                    icon=":material/download:",
                )

    def figure(
        self,
        drawn: Figure,
        name: str,
        *,
        scrolls: bool = False,
        least: int = figure.LEAST_WIDTH,
        on_pick: Callable[[str], None] | None = None,
    ) -> None:
        """A drawing, with a download as SVG.

        Args:
            drawn: The drawing.
            name: Of the file, and of the figure on this page.
            scrolls: Whether it keeps its size and is scrolled.
            least: Pixels below which it is not shrunk but scrolled.
            on_pick: Called with the ``pick`` of what was clicked, before the page runs
                again.
        """
        figure.mount(
            drawn,
            key=f"figure-{self.view.name}-{name}",
            scrolls=scrolls,
            least=least,
            on_pick=on_pick,
        )
        st.download_button(
            f"SVG ({name})",
            data=drawn.document(),
            file_name=f"masgraph-{name}.svg",
            mime="image/svg+xml",
            key=f"download-{self.view.name}-{name}-svg",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
        )

    def card(self, drawn: Figure, name: str, *, least: int = 0) -> None:
        """A small drawing without a download: one of many, which a table below gives.

        Args:
            drawn: The drawing.
            name: Of the figure on this page.
            least: Pixels below which it is not shrunk but scrolled.
        """
        figure.mount(drawn, key=f"figure-{self.view.name}-{name}", least=least)


def shown(view: View, targets: Mapping[str, Any]) -> None:
    """Shows a page. Whatever goes wrong becomes one sentence, never a traceback.

    Args:
        view: The page.
        targets: The pages that can be linked to.
    """
    st.html(_STYLES)
    st.title(view.title, anchor=False)
    page = Page(view, targets)
    page.soft(view.about)
    try:
        view.show(page)
    except MasgraphError as error:
        note(str(error), kind="error")
    except Exception as error:
        if os.environ.get("MASGRAPH_DEBUG"):
            traceback.print_exc()
        note(
            f"An error of masgraph itself, not of yours: {type(error).__name__}: {error}. Set "
            "MASGRAPH_DEBUG=1 to see on the server where it happened",
            kind="error",
        )
