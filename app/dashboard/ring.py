"""The agents of a run on a ring, and what they sent each other."""

import math
from collections import Counter
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.drawing import MARK, ROLE_COLOURS, Figure
from app.dashboard.lanes import Drawn
from app.dashboard.settings import DRAWN_NODES
from app.dashboard.text import one_line
from graphstore.model import CollaborationGraph

_LABELLED_ARROWS = 40


@dataclass(frozen=True)
class _Member:
    """One place on the ring: an agent, or all agents of a role."""

    key: str
    name: str
    role: str
    actions: int
    is_marked: bool


def agent_graph(graph: CollaborationGraph, marked: frozenset[int] = frozenset()) -> Drawn:
    """Who told whom: agents, and an arrow for each pair with the number of deliveries.

    A dashed arrow stands for consumption alone: the trace names no recipient, but the one
    used what the other wrote.

    Args:
        graph: The run or decomposition.
        marked: Indexes of actions whose agents stand out.

    Returns:
        All agents, or, of more than :data:`DRAWN_NODES`, their roles.
    """
    by_role = len(graph.agents) > DRAWN_NODES
    key_of = {agent.id: agent.role if by_role else agent.id for agent in graph.agents}
    actions: Counter[str] = Counter()
    marks: set[str] = set()
    delivered: Counter[tuple[str, str]] = Counter()
    consumed: Counter[tuple[str, str]] = Counter()
    agent_of = {node.id: node.agent for node in graph.nodes}
    for node in graph.nodes:
        if node.agent is None:
            continue
        key = key_of[node.agent]
        actions[key] += 1
        if node.index in marked:
            marks.add(key)
        for recipient in node.recipients:
            delivered[key, key_of[recipient]] += 1
    for edge in graph.edges:
        source, target = agent_of[edge.source], agent_of[edge.target]
        if source is not None and target is not None and source != target:
            consumed[key_of[source], key_of[target]] += 1
    members = {
        key_of[agent.id]: _Member(
            key_of[agent.id],
            agent.role if by_role else agent.name,
            agent.role,
            actions[key_of[agent.id]],
            key_of[agent.id] in marks,
        )
        for agent in graph.agents
    }
    title = (
        f"Who told whom: {len(members):,} {'roles' if by_role else 'agents'}, "
        f"{sum(delivered.values()):,} deliveries"
    )
    figure = _ring(title, list(members.values()), delivered, consumed)
    sentence = (
        f"{len(graph.agents):,} agents are more than a drawing can show: they are folded by role"
        if by_role
        else None
    )
    return Drawn(figure, sentence)


def _ring(
    title: str,
    members: list[_Member],
    delivered: Counter[tuple[str, str]],
    consumed: Counter[tuple[str, str]],
) -> Figure:
    radius = max(110.0, 26 * len(members) / (2 * math.pi))
    width, height = int(2 * radius + 400), int(2 * radius + 150)
    middle_x, middle_y = width / 2, height / 2 + 14
    spots: dict[str, tuple[float, float]] = {}
    parts = [drawing.tip(), drawing.text(0, 16, title, kind="strong", length=90)]
    for place, member in enumerate(members):
        turn = 2 * math.pi * place / len(members) - math.pi / 2
        spots[member.key] = (
            middle_x + radius * math.cos(turn),
            middle_y + radius * math.sin(turn),
        )
    arrows = [(pair, count, False) for pair, count in delivered.items()]
    arrows += [(pair, count, True) for pair, count in consumed.items() if pair not in delivered]
    names = {member.key: member.name for member in members}
    for (source, target), count, is_consumption in sorted(arrows):
        how = "uses of its output" if is_consumption else "deliveries"
        words = f"{one_line(names[source], 40)} to {one_line(names[target], 40)}: {count:,} {how}"
        shapes = _course(spots[source], spots[target], (middle_x, middle_y), count, is_consumption)
        if len(arrows) > _LABELLED_ARROWS:
            shapes = shapes[:1]
        parts.append(drawing.hint(words, shapes))
    for member in members:
        parts.append(_member(member, spots[member.key], (middle_x, middle_y)))
    return Figure(width, height, title, "".join(parts))


def _course(
    start: tuple[float, float],
    end: tuple[float, float],
    middle: tuple[float, float],
    count: int,
    is_consumption: bool,
) -> list[str]:
    """An arrow bent to its right, so that the way back is another line; and its number."""
    (x1, y1), (x2, y2) = start, end
    width = min(1 + count**0.5 * 0.5, 7)
    dashes = "4 3" if is_consumption else ""
    if start == end:
        away = 1 if x1 >= middle[0] else -1
        course = (
            f"M{drawing.number(x1)} {drawing.number(y1 - 14)} "
            f"c{20 * away} -34 {44 * away} -10 {13 * away} 10"
        )
        label = (x1 + 26 * away, y1 - 26)
    else:
        length = math.hypot(x2 - x1, y2 - y1)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bend = min(length * 0.18, 46.0)
        mx, my = (x1 + x2) / 2 - uy * bend, (y1 + y2) / 2 + ux * bend
        out = math.hypot(mx - x1, my - y1)
        ax, ay = x1 + (mx - x1) * 15 / out, y1 + (my - y1) * 15 / out
        bx, by = x2 + (mx - x2) * 17 / out, y2 + (my - y2) * 17 / out
        course = (
            f"M{drawing.number(ax)} {drawing.number(ay)} Q{drawing.number(mx)} "
            f"{drawing.number(my)} {drawing.number(bx)} {drawing.number(by)}"
        )
        # A third of the way, where arrows to and fro are well apart.
        label = (0.45 * x1 + 0.44 * mx + 0.11 * x2, 0.45 * y1 + 0.44 * my + 0.11 * y2)
    return [
        drawing.path(course, width=width, opacity=0.5, dashes=dashes, has_tip=True),
        drawing.text(*label, f"{count:,}", anchor="middle", kind="small"),
    ]


def _member(member: _Member, spot: tuple[float, float], middle: tuple[float, float]) -> str:
    x, y = spot
    middle_x, is_top = middle[0], y < middle[1]
    radius = 13
    edge, edge_width = (MARK, 4.0) if member.is_marked else ("currentColor", 0.6)
    side = 0 if abs(x - middle_x) < 8 else (1 if x > middle_x else -1)
    anchor = {0: "middle", 1: "start", -1: "end"}[side]
    label_y = y + 4 if side else (y - 33 if is_top else y + 28)
    return drawing.hint(
        f"{one_line(member.name, 60)}, {member.role}: {member.actions:,} actions",
        [
            drawing.circle(
                x,
                y,
                radius,
                colour=ROLE_COLOURS.get(member.role, ROLE_COLOURS["unknown"]),
                edge=edge,
                edge_width=edge_width,
            ),
            drawing.text(x + 20 * side, label_y, member.name, anchor=anchor, length=26),
            drawing.text(
                x + 20 * side,
                label_y + 13,
                f"{member.role}, {member.actions:,}",
                anchor=anchor,
                kind="small soft",
            ),
        ],
    )
