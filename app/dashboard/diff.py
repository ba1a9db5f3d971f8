"""Two runs beside each other: what matches, what is missing, what is extra."""

from typing import TYPE_CHECKING

from app.dashboard import drawing
from app.dashboard.drawing import BAD, GOOD, MARK, ROLE_COLOURS, Figure
from app.dashboard.legend import legend
from app.dashboard.text import one_line

if TYPE_CHECKING:
    from analytics.run_diff import RunDiff
    from graphstore.model import CollaborationGraph

DRAWN_ROWS = 150
_STEP = 26
_BOX = 300
_GAP = 120
_COLOURS = {
    "matched": GOOD,
    "rewired": MARK,
    "relabelled": BAD,
    "extra": BAD,
    "missing": BAD,
}
_BROKEN = "5 4"
_WORDS = {
    "matched": "same label and edges",
    "rewired": "other edges",
    "relabelled": "another label",
    "extra": "only in the first run",
    "missing": "only in the second run",
}


def who(graph: "CollaborationGraph", index: int | None) -> str | None:
    """Who acts in a node, as what."""
    if index is None:
        return None
    node = graph.nodes[index]
    name = next((agent.name for agent in graph.agents if agent.id == node.agent), node.name)
    return f"{index} {name} ({node.role} {node.kind.replace('_', ' ')})"


def diff_figure(
    diff: "RunDiff", one: "CollaborationGraph", other: "CollaborationGraph"
) -> Figure:
    """Draws a diff: the first run on the left, the second on the right.

    Args:
        diff: Of the two runs; the first :data:`DRAWN_ROWS` rows are drawn.
        one: The first run.
        other: The second run.
    """
    rows = diff.rows[:DRAWN_ROWS]
    title = f"{one.name} beside {other.name}"
    if len(diff.rows) > DRAWN_ROWS:
        title += f" (the first {DRAWN_ROWS} of {len(diff.rows):,} rows)"
    width = 2 * _BOX + _GAP
    found, top = legend(
        [
            (_WORDS[kind], _COLOURS[kind], " " if kind == "matched" else _BROKEN)
            for kind in ("matched", "rewired", "relabelled")
        ],
        0,
        width,
        28,
    )
    parts = [drawing.text(0, 16, title, kind="strong", length=100), *found]
    for place, row in enumerate(rows):
        y = top + 4 + place * _STEP
        middle = y + _STEP / 2 - 2
        shapes = []
        for graph, index, x in ((one, row.one, 0), (other, row.other, _BOX + _GAP)):
            if index is None:
                continue
            node = graph.nodes[index]
            shapes += [
                drawing.box(x, y, _BOX, _STEP - 5, opacity=0.07, round=3),
                drawing.box(x, y, 6, _STEP - 5, colour=ROLE_COLOURS[node.role], round=2),
                drawing.text(x + 12, y + 15, who(graph, index) or "", length=44, kind="small"),
            ]
        colour = _COLOURS[row.kind]
        if row.one is not None and row.other is not None:
            shapes.append(
                drawing.line(
                    _BOX + 4,
                    middle,
                    _BOX + _GAP - 4,
                    middle,
                    width=2,
                    colour=colour,
                    dashes="" if row.kind == "matched" else _BROKEN,
                )
            )
        else:
            is_first = row.one is not None
            shapes.append(
                drawing.text(
                    _BOX + 10 if is_first else _BOX + _GAP - 10,
                    middle + 4,
                    "only here",
                    anchor="start" if is_first else "end",
                    kind="small soft",
                )
            )
        words = _WORDS[row.kind] + (", other words" if row.reworded else "")
        parts.append(drawing.hint(f"{words}: {_texts(row.one, row.other, one, other)}", shapes))
    return Figure(width, int(top) + 10 + _STEP * len(rows), title, "".join(parts))


def _texts(
    first: int | None,
    second: int | None,
    one: "CollaborationGraph",
    other: "CollaborationGraph",
) -> str:
    return " | ".join(
        one_line(graph.nodes[index].content, 160)
        for graph, index in ((one, first), (other, second))
        if index is not None
    )
