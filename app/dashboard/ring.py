"""The agents of a run on a ring, and what they sent each other."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.drawing import MARK, ROLE_COLOURS, Figure
from app.dashboard.lanes import Drawn
from app.dashboard.settings import DRAWN_NODES
from app.dashboard.text import one_line
from app.output import show
from graphstore.model import CollaborationGraph

_LABELLED_ARROWS = 16


@dataclass(frozen=True)
class Member:
    """One place on the ring.

    Attributes:
        key: Tells it apart.
        name: Beside it.
        below: Below the name, in small letters.
        colour: Of its disc.
        is_marked: Whether it stands out.
    """

    key: str
    name: str
    below: str
    colour: str
    is_marked: bool = False


@dataclass(frozen=True)
class Tie:
    """What goes from one member to another.

    Attributes:
        source: Key of the first.
        target: Key of the second.
        weight: How much, 0 or more.
        what: What the weight counts.
        is_dashed: Whether it is drawn with dashes.
    """

    source: str
    target: str
    weight: float
    what: str
    is_dashed: bool = False


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
        key_of[agent.id]: Member(
            key_of[agent.id],
            agent.role if by_role else agent.name,
            f"{agent.role}, {actions[key_of[agent.id]]:,}",
            ROLE_COLOURS[agent.role],
            key_of[agent.id] in marks,
        )
        for agent in graph.agents
    }
    ties = [Tie(*pair, count, "deliveries") for pair, count in delivered.items()]
    ties += [
        Tie(*pair, count, "uses of its output", is_dashed=True)
        for pair, count in consumed.items()
        if pair not in delivered
    ]
    title = (
        f"Who told whom: {len(members):,} {'roles' if by_role else 'agents'}, "
        f"{sum(delivered.values()):,} deliveries"
    )
    figure = ring(title, list(members.values()), ties)
    sentence = (
        f"{len(graph.agents):,} agents are more than a drawing can show: they are folded by "
        "role"
        if by_role
        else None
    )
    return Drawn(figure, sentence)


def ring(title: str, members: Sequence[Member], ties: Sequence[Tie]) -> Figure:
    """Draws members on a ring and what goes between them.

    Args:
        title: What it shows.
        members: In their order, from the top, clockwise.
        ties: What joins them; one for each direction of a pair.
    """
    radius = max(140.0, 26 * len(members) / (2 * math.pi))
    width, height = int(2 * radius + 400), int(2 * radius + 150)
    middle = (width / 2, height / 2 + 14)
    parts = [drawing.tip(), drawing.text(0, 16, title, kind="strong", length=90)]
    spots: dict[str, tuple[float, float]] = {}
    for place, member in enumerate(members):
        turn = 2 * math.pi * place / len(members) - math.pi / 2
        spots[member.key] = (
            middle[0] + radius * math.cos(turn),
            middle[1] + radius * math.sin(turn),
        )
    names = {member.key: one_line(member.name, 40) for member in members}
    most = max((tie.weight for tie in ties), default=0) or 1
    for tie in sorted(ties, key=lambda one: (one.source, one.target, one.is_dashed)):
        words = f"{names[tie.source]} to {names[tie.target]}: {show(tie.weight)} {tie.what}"
        shapes = _course(spots[tie.source], spots[tie.target], middle, tie, tie.weight / most)
        if len(ties) > _LABELLED_ARROWS:
            shapes = shapes[:1]
        parts.append(drawing.hint(words.strip(), shapes))
    parts += [_member(member, spots[member.key], middle) for member in members]
    return Figure(width, height, title, "".join(parts))


def _course(
    start: tuple[float, float],
    end: tuple[float, float],
    middle: tuple[float, float],
    tie: Tie,
    share: float,
) -> list[str]:
    """An arrow bent to its right, so that the way back is another line; and its number."""
    (x1, y1), (x2, y2) = start, end
    # Thickness tells pairs apart only where there is something to tell.
    width = 1.5 if tie.weight <= 1 else 1.5 + 3 * max(share, 0) ** 0.5
    dashes = "4 3" if tie.is_dashed else ""
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
        drawing.text(*label, show(tie.weight), anchor="middle", kind="small"),
    ]


def _member(member: Member, spot: tuple[float, float], middle: tuple[float, float]) -> str:
    x, y = spot
    edge, edge_width = (MARK, 4.0) if member.is_marked else ("currentColor", 0.6)
    side = 0 if abs(x - middle[0]) < 8 else (1 if x > middle[0] else -1)
    anchor = {0: "middle", 1: "start", -1: "end"}[side]
    label_y = y + 4 if side else (y - 33 if y < middle[1] else y + 28)
    return drawing.hint(
        f"{one_line(member.name, 60)}: {member.below}",
        [
            drawing.circle(x, y, 13, colour=member.colour, edge=edge, edge_width=edge_width),
            drawing.text(x + 20 * side, label_y, member.name, anchor=anchor, length=26),
            drawing.text(
                x + 20 * side, label_y + 13, member.below, anchor=anchor, kind="small soft"
            ),
        ],
    )
