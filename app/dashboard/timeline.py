"""What happened when: lanes by agent, actions as boxes, messages as arrows."""

from collections.abc import Sequence

from app.dashboard import drawing
from app.dashboard.drawing import BAD, MARK, ROLE_COLOURS, Figure
from app.dashboard.lanes import NO_AGENT, node_words
from app.output import show
from graphstore.model import CollaborationGraph, Node

_NAMES, _LANE, _TOP, _TOKENS = 150, 40, 44, 60


def has_times(nodes: Sequence[Node]) -> bool:
    """Whether each node says when it began."""
    return bool(nodes) and all(node.started_at is not None for node in nodes)


def timeline(
    graph: CollaborationGraph,
    nodes: Sequence[Node],
    *,
    by_clock: bool,
    marked: frozenset[int] = frozenset(),
) -> Figure:
    """Draws some actions of a run.

    Args:
        graph: The run.
        nodes: The actions that are shown, in their order.
        by_clock: Place them by their time, which each must have; else one after the other.
        marked: Indexes of actions that stand out.
    """
    step = 30
    width = _NAMES + max(500, (900 if by_clock else step * len(nodes))) + 30
    spans = _spans(nodes, by_clock, width, step)
    acting = {node.agent for node in nodes} | {to for node in nodes for to in node.recipients}
    lanes: list[str | None] = [agent.id for agent in graph.agents if agent.id in acting]
    if None in acting:
        lanes.append(None)
    names = {agent.id: agent.name for agent in graph.agents}
    y_of = {lane: _TOP + _LANE * place + _LANE / 2 for place, lane in enumerate(lanes)}
    bottom = _TOP + _LANE * len(lanes)
    order = "time" if by_clock else "order"
    title = f"Timeline by {order}: actions {nodes[0].index} to {nodes[-1].index}"
    parts = [drawing.tip(), drawing.text(0, 16, title, kind="strong", length=110)]
    for place, lane in enumerate(lanes):
        if place % 2 == 0:
            parts.append(drawing.box(0, _TOP + _LANE * place, width, _LANE, opacity=0.05))
        name = NO_AGENT if lane is None else names[lane]
        parts.append(
            drawing.hint(name, [drawing.text(4, y_of[lane] + 4, name, kind="small", length=24)])
        )
    parts += _ticks(nodes, by_clock, spans, bottom)
    for node in nodes:
        start, end = spans[node.id]
        for recipient in node.recipients:
            if recipient != node.agent:
                parts.append(
                    _message(
                        end, y_of[node.agent], y_of[recipient], node.delivery == "inferred"
                    )
                )
    for node in nodes:
        start, end = spans[node.id]
        y = y_of[node.agent]
        edge = MARK if node.index in marked else BAD if node.status == "error" else "none"
        shapes = [
            drawing.box(
                start,
                y - 9,
                end - start,
                18,
                colour=ROLE_COLOURS[node.role],
                round=3,
                edge=edge,
            )
        ]
        if node.index in marked:
            shapes.append(
                drawing.circle((start + end) / 2, y, 14, opacity=0, edge=MARK, edge_width=3)
            )
        if end - start >= 20:
            shapes.append(
                f'<text x="{drawing.number((start + end) / 2)}" y="{drawing.number(y + 4)}" '
                'text-anchor="middle" style="fill:#fff;font-size:10px;font-weight:600">'
                f"{node.index}</text>"
            )
        parts.append(drawing.hint(_words(graph, node), shapes, pick=str(node.index)))
    parts += _tokens(nodes, spans, bottom)
    return Figure(width, bottom + _TOKENS + 30, title, "".join(parts))


def _words(graph: CollaborationGraph, node: Node) -> str:
    words = node_words(graph, node)
    if node.tokens_out is not None:
        words += f" ({node.tokens_out:,} tokens written)"
    if node.started_at is not None and node.ended_at is not None:
        words += f" ({show((node.ended_at - node.started_at) / 1e9)} s)"
    return words


def _spans(
    nodes: Sequence[Node], by_clock: bool, width: int, step: int
) -> dict[str, tuple[float, float]]:
    if not by_clock:
        return {
            node.id: (_NAMES + place * step + 2.0, _NAMES + (place + 1) * step - 4.0)
            for place, node in enumerate(nodes)
        }
    begin = min(node.started_at or 0 for node in nodes)
    end = max(max(node.started_at or 0, node.ended_at or 0) for node in nodes)
    scale = (width - _NAMES - 40) / max(end - begin, 1)
    found = {}
    for node in nodes:
        start = _NAMES + ((node.started_at or 0) - begin) * scale
        stop = _NAMES + (max(node.ended_at or 0, node.started_at or 0) - begin) * scale
        found[node.id] = (start, max(stop, start + 4))
    return found


def _ticks(
    nodes: Sequence[Node],
    by_clock: bool,
    spans: dict[str, tuple[float, float]],
    bottom: float,
) -> list[str]:
    parts = []
    if by_clock:
        begin = min(node.started_at or 0 for node in nodes)
        end = max(max(node.started_at or 0, node.ended_at or 0) for node in nodes)
        left = _NAMES
        right = max(stop for _, stop in spans.values())
        for part in range(6):
            x = left + (right - left) * part / 5
            seconds = (end - begin) * part / 5 / 1e9
            parts.append(drawing.line(x, _TOP - 4, x, bottom, opacity=0.15))
            parts.append(
                drawing.text(x, _TOP - 8, f"{show(seconds)} s", anchor="middle", kind="small")
            )
        return parts
    last = None
    for node in nodes:
        if node.round is not None and node.round != last:
            x = spans[node.id][0] - 2
            parts.append(drawing.line(x, _TOP - 4, x, bottom, opacity=0.3, dashes="2 3"))
            parts.append(drawing.text(x + 2, _TOP - 8, f"round {node.round}", kind="small"))
            last = node.round
    return parts


def _message(x: float, y1: float, y2: float, is_guess: bool) -> str:
    down = 1 if y2 > y1 else -1
    return drawing.line(
        x - 3,
        y1 + 9 * down,
        x + 5,
        y2 - 11 * down,
        opacity=0.5,
        dashes="3 3" if is_guess else "",
        has_tip=True,
    )


def _tokens(
    nodes: Sequence[Node], spans: dict[str, tuple[float, float]], bottom: float
) -> list[str]:
    top = max((node.tokens_out or 0 for node in nodes), default=0)
    if not top:
        return [drawing.text(4, bottom + 30, "no tokens known", kind="small soft")]
    base = bottom + _TOKENS + 10
    parts = [
        drawing.text(4, base - 24, "tokens written", kind="small"),
        drawing.text(4, base - 10, f"most: {top:,}", kind="small soft"),
        drawing.line(_NAMES, base, max(end for _, end in spans.values()), base, opacity=0.4),
    ]
    for node in nodes:
        if node.tokens_out is not None:
            start, end = spans[node.id]
            height = _TOKENS * node.tokens_out / top
            parts.append(
                drawing.hint(
                    f"{node.index}: {node.tokens_out:,} tokens written",
                    [
                        drawing.box(
                            start, base - height, max(end - start, 3), height, opacity=0.45
                        )
                    ],
                )
            )
    return parts
