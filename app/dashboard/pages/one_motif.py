"""One motif: drawn, with the tasks and runs where it occurs, and the actions marked there."""

import msgspec
import streamlit as st

from app.dashboard.lanes import action_graph
from app.dashboard.page import Page
from app.dashboard.pattern import pattern_figure
from app.dashboard.settings import READ_ACTIONS
from app.output import show as shown
from graphstore.errors import NotFoundError

ROWS = 200


def show(page: Page, motif: str) -> None:
    """Shows a motif.

    Raises:
        NotFoundError: There is no such motif.
    """
    rows = page.ask("motif", motif=motif).records()
    if not rows:
        raise NotFoundError(f"the store has no motif {motif!r}: it may have been mined again")
    row = rows[0]
    page.heading(row["name"])
    columns = st.columns([1, 2])
    with columns[0]:
        page.figure(pattern_figure(row["canonical_form"]), "motif", least=0)
    with columns[1]:
        page.tiles(
            {
                "tasks": row["task_support"],
                f"{row['scope']}s": row["graph_support"],
                "occurrences": row["occurrences"],
                **{
                    name: shown(row[column])
                    for name, column in (
                        ("by chance", "expected"),
                        ("z", "z_score"),
                        ("p (Holm)", "p_holm"),
                        ("p (Benjamini-Hochberg)", "p_benjamini_hochberg"),
                    )
                    if row[column] is not None
                },
            }
        )
        tasks = page.ask("tasks-of-a-motif", motif=motif, limit=ROWS)
        page.table(tasks, "tasks", about="Tasks in which the motif occurs", hidden=("task_id",))
    page.heading("Where it occurs")
    places = page.ask("where-a-motif-occurs", motif=motif, limit=ROWS)
    if not places.rows:
        page.empty("the library keeps no places of this motif: it keeps those of the best")
        return
    page.soft(
        f"Here the {len(places.rows):,} runs or decompositions that hold it most often. Pick a "
        "row to see it there."
    )
    page.table(
        places,
        "places",
        about="Runs or decompositions in which the motif occurs; pick a row to see it there",
        hidden=("motif", "nodes"),
        on_pick=lambda one: page.go(graph=one["graph"], occurrence=None),
    )
    _there(page, places.records())


def _there(page: Page, places: list[dict[str, str]]) -> None:
    graph_id = page.value("graph") or places[0]["graph"]
    found = next((one for one in places if one["graph"] == graph_id), None)
    if found is None:
        raise NotFoundError(f"the motif does not occur in {graph_id!r}, or not among the first")
    occurrences = occurrences_of(found["nodes"])
    page.heading(f"In {found['task']} by {found['method']}")
    names = [
        f"{place}: {', '.join(map(str, nodes))}"
        for place, nodes in enumerate(occurrences[:ROWS], start=1)
    ]
    chosen = page.choose("Occurrence", names, "occurrence-shown")
    marked = (
        {node for nodes in occurrences for node in nodes}
        if chosen is None
        else set(occurrences[names.index(chosen)])
    )
    page.link(
        "runs",
        "Open it with these actions marked",
        run=graph_id,
        marked=",".join(map(str, sorted(marked))),
    )
    size = page.ask("size-of-a-graph", graph=graph_id).rows
    if size and (size[0][1] or 0) > READ_ACTIONS:
        page.say(f"{graph_id} is too large to be drawn here")
        return
    drawn = action_graph(page.graph(graph_id), frozenset(marked))
    if drawn.sentence:
        page.say(drawn.sentence)
    page.figure(drawn.figure, "there", scrolls=True)


def occurrences_of(nodes: str | None) -> list[list[int]]:
    """The node indexes of each occurrence, as a library keeps them."""
    try:
        return msgspec.json.decode(nodes or "[]", type=list[list[int]])
    except msgspec.DecodeError:
        return []


def all_nodes(nodes: str | None) -> str:
    """The nodes of all occurrences as a query parameter."""
    return ",".join(map(str, sorted({one for some in occurrences_of(nodes) for one in some})))
