"""One run or decomposition: its drawing, timeline, transcript, metrics and tree."""

from html import escape
from typing import Any

import streamlit as st

from app.dashboard import connection
from app.dashboard.lanes import action_graph
from app.dashboard.page import Page
from app.dashboard.pages import transcript
from app.dashboard.ring import agent_graph
from app.dashboard.settings import READ_ACTIONS
from app.dashboard.text import escaped, one_line
from app.dashboard.timeline import has_times, timeline
from app.overview_jobs import rank_in
from graphstore.errors import NotFoundError
from graphstore.model import CollaborationGraph, Node

PARTS = ("Graph", "Timeline", "Transcript", "Metrics", "Tree")
TIMELINE_ACTIONS = 200
TREE_ROWS = 500


def show(page: Page, graph_id: str) -> None:
    """Shows one graph.

    Raises:
        NotFoundError: No graph has that id.
    """
    size = _size(page, graph_id)
    if size > READ_ACTIONS:
        page.warn(
            f"{graph_id} has {size:,} nodes, more than a page can hold ({READ_ACTIONS:,}): "
            "write it to a file instead",
            command=f"masgraph export run.parquet --graph {graph_id}",
        )
        return
    graph = page.graph(graph_id)
    marked = _marked(page)
    _head(page, graph)
    part = page.tabs("Part", PARTS, "part")
    _one_action(page, graph)
    if part == "Graph":
        _graph(page, graph, marked)
    elif part == "Timeline":
        _timeline(page, graph, marked)
    elif part == "Transcript":
        transcript.show(page, graph, marked)
    elif part == "Metrics":
        _metrics(page, graph)
    else:
        _tree(page, graph, marked)


def _size(page: Page, graph_id: str) -> int:
    rows = page.ask("size-of-a-graph", graph=graph_id).rows
    if not rows:
        raise NotFoundError(f"the store has no run or decomposition {graph_id!r}")
    return int(rows[0][1] or 0)


def _marked(page: Page) -> frozenset[int]:
    """The actions that a link asks to highlight: ``marked=3,4,7``."""
    found = (page.value("marked") or "").replace(";", ",").split(",")
    return frozenset(
        int(one) for one in found if one.isascii() and one.isdigit() and len(one) < 9
    )


def _head(page: Page, graph: CollaborationGraph) -> None:
    outcome = graph.outcome
    ending = {True: "succeeded", False: "failed", None: "outcome unknown"}[outcome.success]
    page.heading(
        f"{graph.task.name}: {graph.method.name if graph.method else 'no method named'}"
    )
    page.soft(
        f"{graph.kind} {graph.id} ({one_line(graph.name)}), read from {graph.source.format}"
        + (f", data set {graph.task.dataset}" if graph.task.dataset else "")
    )
    tiles: dict[str, Any] = {}
    if graph.kind == "run":
        tiles["outcome"] = ending
        tiles["score"] = outcome.score
    tiles |= {
        "actions" if graph.kind == "run" else "subtasks": len(graph.nodes),
        "agents": len(graph.agents),
        "edges": len(graph.edges),
        "guessed edges": graph.inferred_edges,
        "tokens written": outcome.tokens_out,
        "seconds": outcome.latency,
    }
    page.tiles({name: value for name, value in tiles.items() if value is not None})
    with st.expander("Task, answer and source"):
        rows = {
            "task": graph.task.description,
            "answer": outcome.answer,
            "expected": outcome.expected,
            "ended because": outcome.termination,
            "decisive mistake": outcome.mistake_reason or outcome.mistake_agent,
            "file": graph.source.uri,
            "record": graph.source.record,
        }
        for name, value in rows.items():
            if value is not None:
                st.html(
                    f'<div class="mg-soft">{escape(name)}</div>'
                    f'<div class="mg-text">{escaped(value)}</div>'
                )
        for sentence in graph.source.warnings:
            page.warn(sentence)
        st.download_button(
            "masgraph JSONL",
            data=lambda: _native(graph),
            file_name=f"{graph.id}.jsonl",
            mime="application/jsonl",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
        )


def _native(graph: CollaborationGraph) -> bytes:
    from ingest.readers.native_writer import write_native

    return b"".join(line + b"\n" for line in write_native([graph]))


def _one_action(page: Page, graph: CollaborationGraph) -> None:
    given = page.value("action") or ""
    if not (given.isascii() and given.isdigit() and int(given) < len(graph.nodes)):
        return
    node = graph.nodes[int(given)]
    by_id = {one.id: one for one in graph.nodes}
    with st.container(border=True):
        transcript.show_action(graph, node, whole=True)
        sources = [by_id[edge.source] for edge in graph.edges if edge.target == node.id]
        targets = [by_id[edge.target] for edge in graph.edges if edge.source == node.id]
        for title, others in (("Consumed", sources), ("Was consumed by", targets)):
            _neighbours(page, title, others)
        if node.attributes:
            with st.expander("Attributes"):
                import msgspec

                text = msgspec.json.format(msgspec.json.encode(node.attributes), indent=2)
                st.code(text.decode(), language=None, wrap_lines=True)
        st.button("Close", key="close-action", on_click=page.go, kwargs={"action": None})


def _neighbours(page: Page, title: str, others: list[Node]) -> None:
    if not others:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<span class="mg-soft">{escape(title)}</span>', width="content")
        for one in others[:20]:
            st.button(
                f"{one.index}",
                key=f"go-{title}-{one.index}",
                help=None,
                on_click=page.go,
                kwargs={"action": one.index},
            )


def _graph(page: Page, graph: CollaborationGraph, marked: frozenset[int]) -> None:
    what = page.choose("Nodes are", ("actions", "agents"), "nodes", any=None)
    if not graph.nodes:
        page.empty("this graph has no nodes: the trace holds an organization alone")
        return
    if what == "agents" and not graph.agents:
        page.empty("this graph names no agents: choose actions")
        return
    drawn = agent_graph(graph, marked) if what == "agents" else action_graph(graph, marked)
    if drawn.sentence:
        page.say(drawn.sentence)
    if what == "agents":
        page.figure(drawn.figure, "agents")
    else:
        page.soft(
            "Boxes are tool calls. Dashed arrows are a reader's guess. Pick a dot to read it."
        )
        page.figure(
            drawn.figure, "actions", scrolls=True, on_pick=lambda index: page.go(action=index)
        )
    if graph.kind == "run":
        page.heading("Agents")
        page.table(
            page.ask("agents-of-a-run", run=graph.id),
            "agents",
            about="The agents of this run, with what each did, sent and received",
            hidden=("agent_id",),
        )


def _timeline(page: Page, graph: CollaborationGraph, marked: frozenset[int]) -> None:
    if not graph.nodes:
        page.empty("this graph has no actions")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        skip = page.turn(len(graph.nodes), "window", size=TIMELINE_ACTIONS)
        nodes = graph.nodes[skip : skip + TIMELINE_ACTIONS]
        clock = page.switch("By the clock", "clock") if has_times(nodes) else False
    if len(graph.nodes) > TIMELINE_ACTIONS:
        page.soft(f"{len(graph.nodes):,} actions, {TIMELINE_ACTIONS} at a time.")
    if not has_times(nodes):
        page.soft("The trace does not say when each action began: they stand in their order.")
    page.figure(
        timeline(graph, nodes, by_clock=clock, marked=marked),
        "timeline",
        scrolls=True,
        on_pick=lambda index: page.go(action=index),
    )


def _metrics(page: Page, graph: CollaborationGraph) -> None:
    evaluations = page.ask("evaluations-of-a-run", run=graph.id).records()
    if not evaluations:
        page.empty("this run has not been evaluated yet", command="masgraph evaluate")
        return
    hashes = [row["configuration_hash"] for row in evaluations]
    chosen = page.choose("Configuration", hashes, "configuration", any=None)
    found = connection.overview()
    known = {
        row["metric"]: row
        for row in (found.document or {}).get("metrics", ())
        if row["configuration_hash"] == chosen
    }
    row = next(one for one in evaluations if one["configuration_hash"] == chosen)
    rows = []
    for name, value in row.items():
        if name in ("evaluation", "run", "configuration_hash") or value is None:
            continue
        others = known.get(name)
        rank = None if others is None else rank_in(float(value), others["percentiles"]) / 100
        rows.append(
            {
                "metric": name.replace("_", " "),
                "value": float(value),
                "percentile": rank,
                "runs compared": None if others is None else others["known"],
            }
        )
    page.table(
        rows,
        "metrics",
        about="The metrics of this run, and where it stands among all evaluated runs",
        bars=("percentile",),
    )
    if not known:
        page.warn(
            "where this run stands among others is not known until the store is summed up",
            command="masgraph overview",
        )
    elif found.is_stale:
        page.warn(
            "the store has changed since it was summed up: the percentiles are of then",
            command="masgraph overview",
        )


def _tree(page: Page, graph: CollaborationGraph, marked: frozenset[int]) -> None:
    if not any(node.parent for node in graph.nodes):
        page.empty(
            "the trace has no spans or groups: no node contains another one"
            if graph.kind == "run"
            else "this decomposition has no groups: its subtasks stand side by side"
        )
        return
    order = _tree_order(graph)
    skip = page.turn(len(order), "rows", size=TREE_ROWS)
    lines = []
    for node, depth in order[skip : skip + TREE_ROWS]:
        mark = " style='font-weight:600;color:#d98a00'" if node.index in marked else ""
        lines.append(
            f'<div role="treeitem" aria-level="{depth + 1}" '
            f'style="padding-left:{min(depth, 20) * 1.3:g}rem">'
            f"<span{mark}>{node.index}</span> "
            f'<span class="mg-soft">{escape(node.kind)}</span> {escaped(node.name, 80)}'
            + (
                f' <span class="mg-soft">{escaped(node.content, 120)}</span>'
                if node.content
                else ""
            )
            + "</div>"
        )
    st.html(f'<div role="tree" aria-label="What contains what">{"".join(lines)}</div>')
    page.soft(f"{len(order):,} nodes.")


def _tree_order(graph: CollaborationGraph) -> list[tuple[Node, int]]:
    """Nodes with their depth, each after what contains it; without recursion."""
    children: dict[str | None, list[Node]] = {}
    for node in graph.nodes:
        children.setdefault(node.parent, []).append(node)
    order: list[tuple[Node, int]] = []
    waiting = [(node, 0) for node in reversed(children.get(None, []))]
    while waiting:
        node, depth = waiting.pop()
        order.append((node, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(node.id, []))]
    return order
