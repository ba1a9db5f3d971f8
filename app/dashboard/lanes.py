"""Graphs drawn in lanes: who from top to bottom, what came after what from left to right.

The layout follows from the graph alone, so that it is the same from visit to visit: a column
is the longest way to a node from what nobody had to wait for, a lane is an agent.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.drawing import MARK, ROLE_COLOURS, Figure
from app.dashboard.settings import DRAWN_NODES
from app.dashboard.text import escaped, one_line
from graphstore.model import CollaborationGraph, Node

NO_AGENT = "nobody named"
_STEP, _ROW, _HEAD, _NAMES = 58, 30, 40, 150


@dataclass(frozen=True)
class Dot:
    """A node of a drawing.

    Attributes:
        key: Tells it apart.
        lane: Place of its lane, from 0.
        column: Place of its column, from 0.
        label: A few letters inside it.
        words: What it is, for a hint and for screen readers.
        colour: Of its inside.
        is_square: Whether it is a box, as tool calls are.
        is_marked: Whether it stands out.
        pick: What the page is told when it is picked.
    """

    key: str
    lane: int
    column: int
    label: str
    words: str
    colour: str
    is_square: bool = False
    is_marked: bool = False
    pick: str | None = None


@dataclass(frozen=True)
class Arrow:
    """A relation between two dots.

    Attributes:
        source: Key of the dot that it leaves.
        target: Key of the dot that it enters.
        weight: How many relations it stands for.
        is_guess: Whether a reader guessed them: dashed.
        is_coupling: Whether both change one resource: thick, without a tip.
    """

    source: str
    target: str
    weight: int = 1
    is_guess: bool = False
    is_coupling: bool = False


@dataclass(frozen=True)
class Drawn:
    """A figure, and what was left out of it.

    Attributes:
        figure: The drawing.
        sentence: What was folded, None where all is shown.
    """

    figure: Figure
    sentence: str | None = None


def draw(
    title: str, lanes: Sequence[str], dots: Sequence[Dot], arrows: Sequence[Arrow]
) -> Figure:
    """Draws dots in lanes and the arrows between them.

    Args:
        title: What it shows.
        lanes: Their names, from the top.
        dots: The nodes.
        arrows: Relations; those whose ends are no dots are left out.
    """
    crowd = Counter((dot.lane, dot.column) for dot in dots)
    rows = [
        max([1, *(count for (lane, _), count in crowd.items() if lane == place)])
        for place in range(len(lanes))
    ]
    tops, top = [], float(_HEAD)
    for count in rows:
        tops.append(top)
        top += count * _ROW + 10
    columns = max((dot.column for dot in dots), default=0) + 1
    width = _NAMES + columns * _STEP + 20
    parts = [drawing.tip(), drawing.text(0, 16, title, kind="strong", length=110)]
    for place, name in enumerate(lanes):
        height = rows[place] * _ROW + 10
        if place % 2 == 0:
            parts.append(drawing.box(0, tops[place] - 4, width, height, opacity=0.05))
        parts.append(
            drawing.hint(
                name, [drawing.text(4, tops[place] + height / 2, name, kind="small", length=24)]
            )
        )
    spots: dict[str, tuple[float, float]] = {}
    filled: Counter[tuple[int, int]] = Counter()
    for dot in dots:
        cell = (dot.lane, dot.column)
        free = (rows[dot.lane] - crowd[cell]) / 2
        spots[dot.key] = (
            _NAMES + dot.column * _STEP + _STEP / 2,
            tops[dot.lane] + (free + filled[cell]) * _ROW + 15,
        )
        filled[cell] += 1
    parts += [
        _arrow(spots[arrow.source], spots[arrow.target], arrow)
        for arrow in arrows
        if arrow.source in spots and arrow.target in spots
    ]
    parts += [_dot(dot, *spots[dot.key]) for dot in dots]
    return Figure(max(width, 420), int(top) + 10, title, "".join(parts))


def _dot(dot: Dot, x: float, y: float) -> str:
    edge, edge_width = (MARK, 4) if dot.is_marked else ("currentColor", 0.6)
    shape = (
        drawing.box(x - 11, y - 10, 22, 20, colour=dot.colour, edge=edge, round=3)
        if dot.is_square
        else drawing.circle(x, y, 11, colour=dot.colour, edge=edge, edge_width=edge_width)
    )
    if dot.is_square and dot.is_marked:
        shape += drawing.circle(x, y, 15, opacity=0, edge=MARK, edge_width=4)
    label = (
        f'<text x="{drawing.number(x)}" y="{drawing.number(y + 4)}" text-anchor="middle" '
        f'style="fill:#fff;font-size:10px;font-weight:600">{escaped(dot.label, 5)}</text>'
    )
    return drawing.hint(dot.words, [shape, label], pick=dot.pick)


def _arrow(start: tuple[float, float], end: tuple[float, float], arrow: Arrow) -> str:
    (x1, y1), (x2, y2) = start, end
    x1, x2 = x1 + 11, x2 - 12
    bend = max(18.0, abs(x2 - x1) * 0.4)
    if arrow.is_coupling:
        course = f"M{drawing.number(x1 - 11)} {drawing.number(y1)} "
        middle = f"Q{drawing.number((x1 + x2) / 2)} {drawing.number(min(y1, y2) - 26)} "
        return drawing.path(
            course + middle + f"{drawing.number(x2 + 12)} {drawing.number(y2)}",
            width=2.5,
            opacity=0.7,
            dashes="2 3",
            colour=drawing.BAD,
        )
    course = (
        f"M{drawing.number(x1)} {drawing.number(y1)} "
        f"C{drawing.number(x1 + bend)} {drawing.number(y1)} "
        f"{drawing.number(x2 - bend)} {drawing.number(y2)} "
        f"{drawing.number(x2)} {drawing.number(y2)}"
    )
    return drawing.path(
        course,
        width=min(1 + arrow.weight**0.5 * 0.4, 6),
        opacity=0.55,
        dashes="4 3" if arrow.is_guess else "",
        has_tip=True,
    )


def node_words(graph: CollaborationGraph, node: Node) -> str:
    """A node in words: its place, who acted, what it says."""
    names = {agent.id: agent.name for agent in graph.agents}
    who = f" by {names[node.agent]}" if node.agent else ""
    return one_line(f"{node.index}: {node.kind} {node.name}{who}: {node.content or ''}", 220)


def depths(graph: CollaborationGraph) -> dict[str, int]:
    """The longest way, in edges, to each node from one that consumed nothing, by id."""
    depth = {node.id: 0 for node in graph.nodes}
    sources: dict[str, list[str]] = {}
    for edge in graph.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    for node in graph.nodes:  # Edges point to larger indexes: sources come first.
        depth[node.id] = max((depth[one] + 1 for one in sources.get(node.id, ())), default=0)
    return depth


def action_graph(graph: CollaborationGraph, marked: frozenset[int] = frozenset()) -> Drawn:
    """The actions of a run, or the subtasks of a decomposition, and who consumed what.

    Args:
        graph: The run or decomposition.
        marked: Indexes of nodes that stand out.

    Returns:
        All nodes, or, of more than :data:`DRAWN_NODES`, those of one agent in one round
        folded into one; where rounds are not known, those of one agent.
    """
    nodes = [node for node in graph.nodes if node.kind != "group"]
    lanes, lane_of = _lanes(graph, nodes)
    what = "actions" if graph.kind == "run" else "subtasks"
    if len(nodes) > DRAWN_NODES:
        return _folded(graph, nodes, lanes, lane_of, what)
    depth = depths(graph)
    dots = [
        Dot(
            key=node.id,
            lane=lane_of[node.agent],
            column=depth[node.id],
            label=str(node.index),
            words=node_words(graph, node),
            colour=ROLE_COLOURS[node.role],
            is_square=node.kind == "tool_call",
            is_marked=node.index in marked,
            pick=str(node.index),
        )
        for node in nodes
    ]
    arrows = [
        Arrow(edge.source, edge.target, is_guess=edge.basis == "inferred")
        for edge in graph.edges
    ]
    arrows += [Arrow(one.source, one.target, is_coupling=True) for one in graph.couplings]
    title = f"Who consumed what: {len(dots):,} {what}, {len(graph.edges):,} edges"
    return Drawn(draw(title, lanes, dots, arrows))


def _lanes(
    graph: CollaborationGraph, nodes: Sequence[Node]
) -> tuple[list[str], dict[str | None, int]]:
    acting = {node.agent for node in nodes}
    lanes: list[str] = []
    lane_of: dict[str | None, int] = {}
    for agent in graph.agents:
        if agent.id in acting:
            lane_of[agent.id] = len(lanes)
            lanes.append(agent.name)
    if None in acting:
        lane_of[None] = len(lanes)
        lanes.append(NO_AGENT if graph.agents else "")
    return lanes, lane_of


def _folded(
    graph: CollaborationGraph,
    nodes: Sequence[Node],
    lanes: list[str],
    lane_of: dict[str | None, int],
    what: str,
) -> Drawn:
    rounds = sorted({node.round for node in nodes if node.round is not None})
    by_round = len(rounds) > 1 and all(node.round is not None for node in nodes)
    if by_round and len({(node.agent, node.round) for node in nodes}) > DRAWN_NODES:
        by_round = False
    column = {number: place for place, number in enumerate(rounds)}
    group: dict[str, tuple[str | None, int]] = {
        node.id: (node.agent, column[node.round] if by_round and node.round is not None else 0)
        for node in nodes
    }
    members: dict[tuple[str | None, int], list[Node]] = {}
    for node in nodes:
        members.setdefault(group[node.id], []).append(node)
    kept = sorted(members, key=lambda one: (-len(members[one]), lane_of[one[0]], one[1]))
    kept = sorted(kept[:DRAWN_NODES], key=lambda one: (one[1], lane_of[one[0]]))
    shown_lanes = sorted({lane_of[agent] for agent, _ in kept})
    place_of = {lane: place for place, lane in enumerate(shown_lanes)}
    dots = [
        Dot(
            key=f"{agent}/{at}",
            lane=place_of[lane_of[agent]],
            column=at if by_round else lane_of[agent] % 12,
            label=str(len(members[agent, at])),
            words=f"{lanes[lane_of[agent]]}"
            + (f", round {rounds[at]}" if by_round else "")
            + f": {len(members[agent, at]):,} {what}",
            colour=ROLE_COLOURS[members[agent, at][0].role],
            pick=str(members[agent, at][0].index),
        )
        for agent, at in kept
    ]
    weights: Counter[tuple[str, str]] = Counter()
    for edge in graph.edges:
        if edge.source in group and edge.target in group:
            ends = [f"{agent}/{at}" for agent, at in (group[edge.source], group[edge.target])]
            if ends[0] != ends[1]:
                weights[ends[0], ends[1]] += 1
    arrows = [Arrow(source, target, weight) for (source, target), weight in weights.items()]
    how = "agent and round" if by_round else "agent"
    sentence = (
        f"{len(nodes):,} {what} are more than a drawing can show: they are folded by {how}, "
        "and a dot's number says how many it stands for"
    )
    if len(kept) < len(members):
        sentence += f"; the {len(kept):,} largest of {len(members):,} groups are shown"
    title = f"Who consumed what: {len(nodes):,} {what} by {how}"
    drawn_lanes = [lanes[lane] for lane in shown_lanes]
    return Drawn(draw(title, drawn_lanes, dots, arrows), sentence)
