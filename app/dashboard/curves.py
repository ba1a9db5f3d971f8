"""Curves in small panels beside each other, which share names, colours and one scale."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.dashboard import drawing
from app.dashboard.charts import ticks
from app.dashboard.drawing import SERIES_COLOURS, Figure
from app.dashboard.legend import legend
from app.output import show

_WIDTH, _LEFT, _RIGHT, _HEIGHT = 760, 46, 14, 150
_ABOVE, _BELOW = 30, 40
DASHES = (" ", " ", " ", "7 3", "2 3", "9 3 2 3", "4 4", "1 2")
"""Later curves are broken, so that one below shows where two are equal."""
MOST_CURVES = 12


@dataclass(frozen=True)
class Spot:
    """A point of a curve.

    Attributes:
        x: Where, finite.
        y: How much, finite.
        low: Lower end of its interval; None where none is known.
        high: Upper end, likewise.
        words: What the hint says of it.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    words: str = ""


@dataclass(frozen=True)
class Curve:
    """Points in the order of x.

    Attributes:
        name: Equal names have equal colours in all panels.
        spots: The points.
    """

    name: str
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class Panel:
    """Some curves on one pair of axes.

    Attributes:
        title: What they have in common.
        curves: The first :data:`MOST_CURVES` are drawn.
        x_title: Of the axis below.
    """

    title: str
    curves: tuple[Curve, ...]
    x_title: str = ""


def panels(
    title: str,
    shown: Sequence[Panel],
    *,
    columns: int = 3,
    y_range: tuple[float, float] | None = None,
) -> Figure:
    """Draws panels on one scale of y, each with its own of x.

    Args:
        title: What they show.
        shown: From left to right, then from top to bottom.
        columns: Panels beside each other, 1 or more.
        y_range: What the scale holds in any case.
    """
    if any(len(panel.curves) > MOST_CURVES for panel in shown):
        title += f" (the first {MOST_CURVES} of each)"
        shown = [replace(panel, curves=panel.curves[:MOST_CURVES]) for panel in shown]
    names = list(dict.fromkeys(curve.name for panel in shown for curve in panel.curves))
    looks = {
        name: (SERIES_COLOURS[place % len(SERIES_COLOURS)], DASHES[place % len(DASHES)])
        for place, name in enumerate(names)
    }
    parts = [drawing.text(0, 16, title, kind="strong", length=110)]
    top = 28.0
    if len(names) > 1:
        found, top = legend(
            [(name, *look) for name, look in looks.items()], 0, _WIDTH - _RIGHT, top
        )
        parts += found
    marks = _marks([spot for panel in shown for c in panel.curves for spot in c.spots], y_range)
    columns = max(1, min(columns, len(shown)))
    width = _WIDTH / columns
    step = _ABOVE + _HEIGHT + _BELOW
    for place, panel in enumerate(shown):
        x = width * (place % columns)
        y = top + _ABOVE + step * (place // columns)
        parts += _panel(panel, looks, marks, (x + _LEFT, x + width - _RIGHT), y)
    rows = -(-len(shown) // columns)
    return Figure(_WIDTH, int(top + step * rows), title, "".join(parts))


def _marks(spots: Sequence[Spot], y_range: tuple[float, float] | None) -> list[float]:
    ends = list(y_range or ())
    for spot in spots:
        ends += [end for end in (spot.y, spot.low, spot.high) if end is not None]
    return ticks(min(ends, default=0.0), max(ends, default=1.0), about=4)


def _panel(
    panel: Panel,
    looks: dict[str, tuple[str, str]],
    marks: list[float],
    sides: tuple[float, float],
    top: float,
) -> list[str]:
    left, right = sides
    xs = [spot.x for curve in panel.curves for spot in curve.spots]
    across = ticks(min(xs, default=0.0), max(xs, default=1.0), about=3)

    def at(x: float) -> float:
        return left + (right - left) * (x - across[0]) / (across[-1] - across[0])

    def level(y: float) -> float:
        return top + _HEIGHT * (1 - (y - marks[0]) / (marks[-1] - marks[0]))

    parts = [drawing.text(left, top - 9, panel.title, kind="strong", length=40)]
    for mark in marks:
        y = level(mark)
        parts.append(drawing.line(left, y, right, y, opacity=0.45 if mark == 0 else 0.16))
        parts.append(drawing.text(left - 6, y + 4, show(mark), anchor="end", kind="small"))
    parts += [
        drawing.text(at(mark), top + _HEIGHT + 15, show(mark), anchor="middle", kind="small")
        for mark in across
    ]
    if panel.x_title:
        parts.append(
            drawing.text(
                right, top + _HEIGHT + 30, panel.x_title, anchor="end", kind="small soft"
            )
        )
    for curve in panel.curves:
        colour, dashes = looks[curve.name]
        band = [
            (at(spot.x), level(spot.low), level(spot.high))
            for spot in curve.spots
            if spot.low is not None and spot.high is not None
        ]
        if len(band) > 1:
            edge = [(x, high) for x, _, high in band] + [(x, low) for x, low, _ in band[::-1]]
            parts.append(drawing.area(f"M{_through(edge)} Z", colour, opacity=0.13))
        places = [(at(spot.x), level(spot.y)) for spot in curve.spots]
        if len(places) > 1:
            parts.append(
                drawing.path(
                    f"M{_through(places)}", width=2, colour=colour, dashes=dashes.strip()
                )
            )
        parts += [
            drawing.hint(
                f"{curve.name}: {spot.words or show(spot.y)}",
                [drawing.circle(x, y, 3.5, colour=colour)],
            )
            for spot, (x, y) in zip(curve.spots, places, strict=True)
        ]
    return parts


def _through(places: Sequence[tuple[float, float]]) -> str:
    return " L".join(f"{drawing.number(x)} {drawing.number(y)}" for x, y in places)
