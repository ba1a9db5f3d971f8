"""Charts as figures: bars and points and lines, with axes of round numbers."""

import math
from collections.abc import Mapping, Sequence

from app.dashboard import drawing
from app.dashboard.drawing import SERIES_COLOURS, Figure
from app.dashboard.legend import legend
from app.output import show

_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 16, 44
MOST_BARS = 60


def bars(
    title: str,
    values: Sequence[tuple[str, float | None]],
    *,
    unit: str = "",
    most: int = MOST_BARS,
) -> Figure:
    """Lying bars, one below the other, in the order that they are given.

    Args:
        title: What they show.
        values: Names and values, 0 or more; a missing value has no bar.
        unit: What the values count.
        most: Bars at most; the title says how many were left out.
    """
    kept = values[:most]
    if len(values) > most:
        title += f" (the first {most:,} of {len(values):,})"
    top = max((value for _, value in kept if value is not None), default=0) or 1
    name_width = min(290, 74 + 7 * max((len(name) for name, _ in kept), default=0))
    width, step = 760, 24
    parts = [drawing.text(0, 16, title, kind="strong", length=110)]
    for place, (name, value) in enumerate(kept):
        y = 30 + step * place
        length = 0.0 if value is None else (width - name_width - 10) * max(value, 0) / top
        words = f"{name}: {show(value)} {unit}".strip()
        parts.append(
            drawing.hint(
                words,
                [
                    drawing.text(name_width - 58, y + 14, name, anchor="end", length=32),
                    drawing.box(
                        name_width, y + 3, max(length, 1), 15, colour=SERIES_COLOURS[0], round=2
                    ),
                    # Before the bar: on a narrow screen its end may be out of sight.
                    drawing.text(
                        name_width - 6, y + 14, show(value), anchor="end", kind="small"
                    ),
                ],
            )
        )
    return Figure(width, 36 + step * len(kept), title, "".join(parts))


def stacked(
    title: str,
    values: Sequence[tuple[str, Mapping[str, float]]],
    colours: Mapping[str, str],
    *,
    most: int = MOST_BARS,
) -> Figure:
    """Lying bars of parts, which share one scale.

    Args:
        title: What they show.
        values: Names, and for each its parts, 0 or more.
        colours: Of the parts, in their order.
        most: Bars at most; the title says how many were left out.
    """
    kept = values[:most]
    if len(values) > most:
        title += f" (the first {most:,} of {len(values):,})"
    top = max((sum(parts.values()) for _, parts in kept), default=0) or 1
    name_width = min(290, 74 + 7 * max((len(name) for name, _ in kept), default=0))
    width, step = 760, 24
    names, top_edge = legend(
        [(part, colour, "") for part, colour in colours.items()], name_width, width, 26
    )
    shapes = [drawing.text(0, 16, title, kind="strong", length=110), *names]
    for place, (name, parts) in enumerate(kept):
        y = top_edge + step * place
        x = float(name_width)
        pieces = [drawing.text(name_width - 58, y + 14, name, anchor="end", length=32)]
        for part, colour in colours.items():
            length = (width - name_width - 10) * parts.get(part, 0) / top
            if length > 0:
                pieces.append(drawing.box(x, y + 3, length, 15, colour=colour))
            x += length
        total = sum(parts.values())
        pieces.append(
            drawing.text(name_width - 6, y + 14, show(total), anchor="end", kind="small")
        )
        words = ", ".join(f"{show(parts.get(part, 0))} {part}" for part in colours)
        shapes.append(drawing.hint(f"{name}: {words}", pieces))
    return Figure(width, int(top_edge) + 6 + step * len(kept), title, "".join(shapes))


def points(
    title: str,
    series: Sequence[tuple[str, Sequence[tuple[float, float, str]]]],
    *,
    x_title: str,
    y_title: str,
    joined: bool = False,
    labels: Mapping[tuple[float, float], str] | None = None,
) -> Figure:
    """Points in the plane, joined in their order if asked.

    Args:
        title: What they show.
        series: Names, and for each its points: x, y and the words that belong to it. All
            numbers are finite.
        x_title: Of the axis below.
        y_title: Of the axis on the left.
        joined: Whether a line goes through them.
        labels: Words beside points, by their place.
    """
    width, height = 760, 380
    every = [point for _, found in series for point in found]
    x_ticks = ticks(
        min((p[0] for p in every), default=0), max((p[0] for p in every), default=1)
    )
    y_ticks = ticks(
        min((p[1] for p in every), default=0), max((p[1] for p in every), default=1)
    )

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0])
        up = (y - y_ticks[0]) / (y_ticks[-1] - y_ticks[0])
        return (
            _LEFT + across * (width - _LEFT - _RIGHT),
            height - _BOTTOM - up * (height - _TOP - _BOTTOM - 24),
        )

    parts = [drawing.text(0, 14, title, kind="strong", length=110)]
    for value in x_ticks:
        x, y = place(value, y_ticks[0])
        parts.append(drawing.line(x, y, x, place(value, y_ticks[-1])[1], opacity=0.2))
        parts.append(drawing.text(x, y + 16, show(value), anchor="middle", kind="small"))
    for value in y_ticks:
        x, y = place(x_ticks[0], value)
        parts.append(drawing.line(x, y, place(x_ticks[-1], value)[0], y, opacity=0.2))
        parts.append(drawing.text(x - 6, y + 4, show(value), anchor="end", kind="small"))
    parts.append(drawing.text(width - _RIGHT, height - 8, x_title, anchor="end", kind="soft"))
    parts.append(drawing.text(_LEFT, 34, y_title, kind="soft"))
    legend = _LEFT + 160.0
    for number, (name, found) in enumerate(series):
        colour = SERIES_COLOURS[number % len(SERIES_COLOURS)]
        spots = [(*place(x, y), words) for x, y, words in found]
        if joined and len(spots) > 1:
            course = " L".join(f"{drawing.number(x)} {drawing.number(y)}" for x, y, _ in spots)
            parts.append(drawing.path(f"M{course}", width=2, colour=colour))
        parts += [
            drawing.hint(words, [drawing.circle(x, y, 4, colour=colour, opacity=0.85)])
            for x, y, words in spots
        ]
        if len(series) > 1:
            parts.append(drawing.circle(legend, 30, 5, colour=colour))
            parts.append(drawing.text(legend + 9, 34, name, kind="small", length=24))
            legend += 30 + 7 * min(len(name), 24)
    for (x, y), label in (labels or {}).items():
        left, top = place(x, y)
        is_far = left > width * 0.7
        parts.append(
            drawing.text(
                left - 9 if is_far else left + 9,
                top + 4,
                label,
                anchor="end" if is_far else "start",
                length=32,
            )
        )
    return Figure(max(width, int(legend) + 20), height, title, "".join(parts))


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that hold a range, at least two of them.

    Args:
        low: The smallest value.
        high: The largest.
        about: How many, roughly.
    """
    if high - low <= max(1e-9 * max(abs(low), abs(high)), 1e-300):
        # One value, as far as an axis can tell.
        pad = abs(low) / 2 or 1.0
        low, high = low - pad, high + pad
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(place * step, digits) for place in range(first, last + 1)]
