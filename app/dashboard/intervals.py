"""Estimates with their intervals, one below the other, beside a line at 0."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.charts import ticks
from app.dashboard.drawing import BAD, GOOD, SERIES_COLOURS, Figure
from app.output import show

_STEP = 26
_RIGHT = 24
MOST_ROWS = 60


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    Attributes:
        name: What it is of.
        value: The estimate.
        low: Lower end; None where no interval is known.
        high: Upper end, likewise.
        words: More about it, for the hint.
        higher_is_better: Colours an interval that excludes 0; None for no judgement.
        holds: Whether the difference holds after correction; where not, its interval is
            coloured as one that holds 0.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    words: str = ""
    higher_is_better: bool | None = None
    holds: bool = True


def intervals(title: str, rows: Sequence[Estimate], *, x_title: str = "") -> Figure:
    """Draws estimates with their intervals on one scale.

    Args:
        title: What they show.
        rows: From top to bottom, finite; more than :data:`MOST_ROWS` are left out, and the
            title says so.
        x_title: Of the scale.
    """
    kept = rows[:MOST_ROWS]
    if len(rows) > MOST_ROWS:
        title += f" (the first {MOST_ROWS} of {len(rows):,})"
    ends = [0.0]
    for row in kept:
        ends += [end for end in (row.value, row.low, row.high) if end is not None]
    marks = ticks(min(ends), max(ends))
    name_width = min(358, 82 + 7 * max((len(row.name) for row in kept), default=0))
    width = 760
    bottom = 30 + _STEP * len(kept)

    def place(value: float) -> float:
        share = (value - marks[0]) / (marks[-1] - marks[0])
        return name_width + share * (width - name_width - _RIGHT)

    parts = [drawing.text(0, 16, title, kind="strong", length=110)]
    for mark in marks:
        x = place(mark)
        parts.append(drawing.line(x, 26, x, bottom, opacity=0.6 if mark == 0 else 0.18))
        parts.append(drawing.text(x, bottom + 16, show(mark), anchor="middle", kind="small"))
    if x_title:
        parts.append(
            drawing.text(width - _RIGHT, bottom + 34, x_title, anchor="end", kind="soft")
        )
    for number, row in enumerate(kept):
        y = 30 + _STEP * number + _STEP / 2
        colour = _colour(row)
        told = show(row.value)
        shapes = [
            drawing.text(name_width - 72, y + 4, row.name, anchor="end", length=40),
            # Before the scale: on a narrow screen its end may be out of sight.
            drawing.text(name_width - 12, y + 4, told, anchor="end", kind="small"),
        ]
        if row.low is not None and row.high is not None:
            told += f", {show(row.low)} to {show(row.high)}"
            shapes.append(
                drawing.line(place(row.low), y, place(row.high), y, width=3, colour=colour)
            )
            shapes += [
                drawing.line(place(end), y - 5, place(end), y + 5, width=2, colour=colour)
                for end in (row.low, row.high)
            ]
        shapes.append(drawing.circle(place(row.value), y, 5, colour=colour))
        parts.append(drawing.hint(f"{row.name}: {told}. {row.words}".strip(), shapes))
    return Figure(width, bottom + (44 if x_title else 26), title, "".join(parts))


def _colour(row: Estimate) -> str:
    if row.higher_is_better is None or row.low is None or row.high is None:
        return SERIES_COLOURS[0]
    if not row.holds or row.low <= 0.0 <= row.high:
        return SERIES_COLOURS[-1]
    return GOOD if (row.low > 0.0) == row.higher_is_better else BAD
