"""What was said, action by action, with search."""

import re
from html import escape

import streamlit as st

from app.dashboard.page import Page
from app.dashboard.text import escaped
from app.output import visible
from graphstore.model import CollaborationGraph, Node

ACTIONS = 25
"""Actions on a page."""

SHOWN = 1_500
"""Characters of a content; the whole is shown where one action is opened."""


def show(page: Page, graph: CollaborationGraph, marked: frozenset[int]) -> None:
    """Shows the transcript, or the actions that hold a text."""
    columns = st.columns(3)
    with columns[0]:
        wanted = page.search("Search", "find", hint="a word in a content or a name")
    with columns[1]:
        names = list(dict.fromkeys(agent.name for agent in graph.agents))
        agent = page.choose("Agent", names, "agent")
    ids = {one.id for one in graph.agents if one.name == agent}
    nodes = [
        node
        for node in graph.nodes
        if (agent is None or node.agent in ids)
        and (wanted is None or _holds(node, wanted.casefold()))
    ]
    if not nodes:
        page.empty(
            "no action holds that text"
            if wanted or agent
            else "this graph has no actions: the trace holds an organization alone"
        )
        return
    with columns[2]:
        skip = page.turn(len(nodes), "at", size=ACTIONS)
    page.soft(f"{len(nodes):,} of {len(graph.nodes):,} actions.")
    shown = nodes[skip : skip + ACTIONS]
    for node in shown:
        show_action(graph, node, find=wanted, is_marked=node.index in marked)
    longer = [node.index for node in shown if len(node.content or "") > SHOWN]
    if longer:
        with st.container(horizontal=True):
            st.html('<span class="mg-soft">Cut here; read whole:</span>', width="content")
            for index in longer:
                st.button(
                    str(index), key=f"whole-{index}", on_click=page.go, kwargs={"action": index}
                )


def _holds(node: Node, wanted: str) -> bool:
    return wanted in (node.content or "").casefold() or wanted in node.name.casefold()


def show_action(
    graph: CollaborationGraph,
    node: Node,
    *,
    whole: bool = False,
    find: str | None = None,
    is_marked: bool = False,
) -> None:
    """Shows one action: who to whom, and what.

    Args:
        graph: The run or decomposition.
        node: The action.
        whole: Whether a long content is not cut.
        find: A text that is marked in it.
        is_marked: Whether the action stands out.
    """
    names = {agent.id: agent.name for agent in graph.agents}
    who = escaped(names[node.agent] if node.agent else node.name, 60)
    to = ", ".join(escaped(names[one], 40) for one in node.recipients[:8])
    if len(node.recipients) > 8:
        to += f" and {len(node.recipients) - 8:,} more"
    facts = [node.kind.replace("_", " "), node.role]
    if node.agent and node.name != names[node.agent]:
        facts.append(node.name)
    for name, value in (("round", node.round), ("tokens", node.tokens_out)):
        if value is not None:
            facts.append(f"{name} {value:,}")
    if node.delivery not in (None, "explicit"):
        facts.append(f"delivery {node.delivery}")
    if node.status is not None:
        facts.append(node.status)
    content = visible(node.content or "")
    cut = not whole and len(content) > SHOWN
    body = _highlighted(content[:SHOWN] if cut else content, find) + ("…" if cut else "")
    if node.content is None:
        body = '<span class="mg-soft">no content</span>'
    edge = "#d98a00" if is_marked else "color-mix(in srgb, currentColor 25%, transparent)"
    st.html(
        f'<div role="article" aria-label="Action {node.index}" '
        f'style="border-left:.2rem solid {edge};padding-left:.8rem">'
        f'<div class="mg-head">{node.index} · {who}{" → " + to if to else ""} '
        f'<span class="mg-soft">{escaped(" · ".join(facts), 160)}</span></div>'
        f'<div class="mg-text">{body}</div></div>'
    )


def _highlighted(text: str, find: str | None) -> str:
    if not find:
        return escape(text)
    parts = re.split(f"({re.escape(find)})", text, flags=re.IGNORECASE)
    return "".join(
        f"<mark>{escape(part)}</mark>" if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )
