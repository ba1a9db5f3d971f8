"""Where groups went: bands from each group on the left to its outcomes on the right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.drawing import Figure

_WIDTH = 760
_LEFT, _RIGHT, _BAR = 150, 520, 14
_TOP, _HEIGHT = 34, 260
_SLOT, _GAP, _BETWEEN = 17, 4, 22
"""Least height of an outcome, the space between two, and that between two groups."""


@dataclass(frozen=True)
class Stream:
    """A group with its outcomes.

    Attributes:
        name: Of the group.
        outcomes: How many of it went to each outcome, 0 or more; those with none are left
            out.
    """

    name: str
    outcomes: Mapping[str, int]

    @property
    def size(self) -> int:
        """How many there are."""
        return sum(self.outcomes.values())


def flow_figure(title: str, streams: Sequence[Stream], colours: Mapping[str, str]) -> Figure:
    """Draws groups and outcomes on one scale.

    Args:
        title: What they show.
        streams: From top to bottom; empty ones are left out.
        colours: Of the outcomes, in their order.
    """
    kept = [stream for stream in streams if stream.size]
    scale = _HEIGHT / max(sum(stream.size for stream in kept), 1)
    parts = [drawing.text(0, 16, title, kind="strong", length=110)]
    y = float(_TOP)
    for stream in kept:
        drawn, y = _stream(stream, colours, scale, y)
        parts += drawn
        y += _BETWEEN
    return Figure(_WIDTH, int(y) - (_BETWEEN - 8 if kept else 0), title, "".join(parts))


def _stream(
    stream: Stream, colours: Mapping[str, str], scale: float, top: float
) -> tuple[list[str], float]:
    """One group, and where it ends."""
    outcomes = [(name, stream.outcomes[name]) for name in colours if stream.outcomes.get(name)]
    slots = [max(count * scale, _SLOT) for _, count in outcomes]
    height = sum(slots) + _GAP * (len(slots) - 1)
    size = stream.size * scale
    left = top + (height - size) / 2
    parts = [
        drawing.hint(
            f"{stream.name}: {stream.size:,}",
            [
                drawing.box(_LEFT, left, _BAR, size, opacity=0.55),
                drawing.text(
                    _LEFT - 8, top + height / 2, stream.name, anchor="end", kind="strong"
                ),
                drawing.text(
                    _LEFT - 8, top + height / 2 + 15, f"{stream.size:,}", anchor="end"
                ),
            ],
        )
    ]
    right = top
    for (name, count), slot in zip(outcomes, slots, strict=True):
        thick = count * scale
        end = right + (slot - thick) / 2
        share = f"{count:,} ({count / stream.size:.0%})"
        parts.append(
            drawing.hint(
                f"{stream.name}, {name}: {share}",
                [
                    drawing.area(_band(left, end, thick), colours[name], opacity=0.45),
                    drawing.box(_RIGHT, end, _BAR, max(thick, 1), colour=colours[name]),
                    drawing.text(_RIGHT + _BAR + 8, right + slot / 2 + 4, f"{name} {share}"),
                ],
            )
        )
        left += thick
        right += slot + _GAP
    return parts, top + height


def _band(start: float, end: float, thick: float) -> str:
    one, other = _LEFT + _BAR, _RIGHT
    middle = (one + other) / 2
    points = [drawing.number(value) for value in (start, end, end + thick, start + thick)]
    a, b, c, d = points
    return (
        f"M{one} {a} C{drawing.number(middle)} {a} {drawing.number(middle)} {b} {other} {b} "
        f"L{other} {c} C{drawing.number(middle)} {c} {drawing.number(middle)} {d} {one} {d} Z"
    )
