"""Agents of one name in a trace of spans: two where the trace can tell, else one and a warning.

What tells them apart is an id of the agent, or, in LangGraph, the nodes that lead to it
(``north/clerk`` and ``south/clerk``). Where neither is there, spans of one name that ran at
the same time, that stand inside each other, or that declare other tools, may be of two
agents: they are taken for one, and a warning says so.
"""

from collections.abc import Iterable
from typing import Any

from graphstore.builder import GraphBuilder
from ingest.readers.langgraph_names import agent_path, nodes_of
from ingest.readers.otlp_attributes import AGENT, TOOL_KINDS, Facts
from ingest.readers.otlp_tree import SpanTree
from ingest.readers.platform_spans import text_at

_DECLARED = ("tools", "handoffs", "output_type")
_NAMED = 5
"""How many names a warning lists."""


def mark_in(metadata: dict[str, Any]) -> str | None:
    """What tells a span's agent from others of its name: an id, else its place in a graph.

    Args:
        metadata: Of the span, with ``agent_id`` or LangGraph's keys, where it has them.
    """
    named = text_at(metadata, "agent_id", "agentId")
    if named is not None:
        return named
    for key in ("langgraph_checkpoint_ns", "checkpoint_ns"):
        if (namespace := text_at(metadata, key)) is not None:
            path = agent_path(nodes_of(namespace))
            return None if path is None else "/".join(path)
    return None


def part_namesakes(found: Iterable[Facts], marks: dict[str, str]) -> None:
    """Gives agents of one name an id each, where their spans have different marks.

    Args:
        found: The spans of a trace; changed in place.
        marks: By the span's id, see :func:`mark_in`.
    """
    by_name: dict[tuple[str | None, str], list[Facts]] = {}
    for facts in found:
        if facts.agent is not None and facts.agent_id is None and facts.id in marks:
            by_name.setdefault((facts.service, facts.agent), []).append(facts)
    for namesakes in by_name.values():
        if len({marks[facts.id] for facts in namesakes}) > 1:
            for facts in namesakes:
                facts.agent_id = marks[facts.id]


def warn_of_namesakes(builder: GraphBuilder, tree: SpanTree, marks: dict[str, str]) -> None:
    """Says which names may be those of several agents that the trace does not tell apart.

    Args:
        builder: Of the run.
        tree: Its spans.
        marks: By the span's id; spans with a mark are told apart.
    """
    stays: dict[int, list[int]] = {}
    for place, span in enumerate(tree.spans):
        agent = tree.callers[place]
        if (
            agent < 0
            or span.id in marks
            or tree.agents[agent].id is not None
            or (span.category != AGENT and tree.visits[place] != place)
        ):
            continue
        stays.setdefault(agent, []).append(place)
    names = [
        tree.agents[agent].name for agent, places in stays.items() if _may_be_two(tree, places)
    ]
    if names:
        listed = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        builder.warn(
            f"agents of one name are taken for one, since no id tells them apart: {listed}"
        )


def _may_be_two(tree: SpanTree, places: list[int]) -> bool:
    declared = set()
    latest = -1
    for place in places:
        span = tree.spans[place]
        said = tuple(span.extra.get(key) for key in _DECLARED)
        if span.category == AGENT and any(part is not None for part in said):
            declared.add(said)
        if _inside_namesake(tree, place):
            return True
        if tree.visits[place] == place:
            if tree.starts[place] < latest:
                return True
            latest = max(latest, tree.ends[place])
    return len(declared) > 1


def _inside_namesake(tree: SpanTree, place: int) -> bool:
    """Whether an agent's span stands inside a tool that another one of its name called."""
    if tree.spans[place].category != AGENT:
        return False
    outer, through_tool = tree.parents[place], False
    while outer >= 0:
        span = tree.spans[outer]
        through_tool = through_tool or span.category in TOOL_KINDS
        if span.category == AGENT:
            return through_tool and tree.callers[outer] == tree.callers[place]
        outer = tree.parents[outer]
    return False
