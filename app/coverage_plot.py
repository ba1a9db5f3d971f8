"""Held-out coverage as a picture: one SVG file that needs no plotting library.

Left, the curves with their bands; right, what each held-out task is covered by the largest
libraries. After figure 10 of MAC-Bench.
"""

from typing import TYPE_CHECKING

from app.svg import document
from app.svg import line as _line
from app.svg import text as _text

if TYPE_CHECKING:
    from mining.coverage_result import Coverage, Measure
    from mining.coverage_rows import CurvePoint

COLOURS = {"patterns": "#1b62a5", "rules": "#b8480e"}
TITLES = {"patterns": "local patterns", "rules": "connecting rules"}
_WIDTH, _HEIGHT = 860, 380
_TOP, _BOTTOM = 48, 320
_CURVES = (64, 440)
_TASKS = (590, 830)
_DOT = 2.6


def coverage_svg(coverage: "Coverage") -> str:
    """Draws the curves and the tasks.

    Args:
        coverage: What was measured.

    Returns:
        An SVG document. Equal coverage gives equal text.
    """
    held = coverage.split
    parts = [
        _text(_CURVES[0], 24, "Coverage of held-out tasks by mining size", "title"),
        _text(_TASKS[0] - 60, 24, f"Each task, {coverage.sizes[-1]:,} tasks mined", "title"),
        *_scale(*_CURVES),
        *_scale(*_TASKS),
        *_curves(coverage),
        *_tasks(coverage),
        _text(
            _CURVES[0],
            _HEIGHT - 10,
            f"{len(held.held_out):,} tasks of {held.held_out_groups:,} sources held out. Band: "
            "least and greatest mean of a mining subset. Bars: bootstrap over sources, "
            f"{coverage.configuration.confidence:.0%}.",
            "small",
        ),
    ]
    return document(_WIDTH, _HEIGHT, _in_words(coverage), parts)


def _in_words(coverage: "Coverage") -> str:
    ends = [
        f"{TITLES[point.measure]} {point.mean:.0%}"
        for point in coverage.curve
        if point.size == coverage.sizes[-1] and point.mean is not None
    ]
    found = " and ".join(ends) or "nothing that can be covered"
    return f"Held-out coverage with {coverage.sizes[-1]:,} mined tasks: {found}"


def _height(share: float) -> float:
    return _BOTTOM - share * (_BOTTOM - _TOP)


def _scale(left: float, right: float) -> list[str]:
    parts = []
    for percent in (0, 25, 50, 75, 100):
        y = _height(percent / 100)
        kind = 'class="axis"' if percent == 0 else 'class="grid"'
        parts.append(_line(left, y, right, y, kind))
        parts.append(_text(left - 8, y + 4, f"{percent}%", "small", "end"))
    return parts


def _curves(coverage: "Coverage") -> list[str]:
    from mining.coverage_result import MEASURES

    largest = coverage.sizes[-1]
    left, right = _CURVES

    def place(size: int) -> float:
        return left + size / largest * (right - left)

    parts = [
        _text(place(size), _BOTTOM + 16, f"{size:,}", "small", "middle")
        for size in coverage.sizes
    ]
    parts.append(_text((left + right) / 2, _BOTTOM + 34, "tasks mined", "small", "middle"))
    ends: list[tuple[float, Measure]] = []
    for shift, measure in zip((-2, 2), MEASURES, strict=True):
        points = [one for one in coverage.curve if one.measure == measure]
        known = [(place(one.size), one) for one in points if one.mean is not None]
        parts += _curve(known, COLOURS[measure], shift)
        if known:
            ends.append((_height(known[-1][1].mean or 0.0), measure))
    ends.sort()
    if len(ends) == 2 and ends[1][0] - ends[0][0] < 14:
        # Labels of curves that end together stand one above the other.
        middle = (ends[0][0] + ends[1][0]) / 2
        ends = [(middle - 7, ends[0][1]), (middle + 7, ends[1][1])]
    parts += [
        _text(right + 8, y + 4, TITLES[measure], colour=COLOURS[measure]) for y, measure in ends
    ]
    return parts


def _curve(known: list[tuple[float, "CurvePoint"]], colour: str, shift: float) -> list[str]:
    parts = []
    upper = [f"{x:.1f},{_height(one.high):.1f}" for x, one in known if one.high is not None]
    lower = [f"{x:.1f},{_height(one.low):.1f}" for x, one in known if one.low is not None]
    if len(upper) > 1:
        corners = " ".join([*upper, *reversed(lower)])
        parts.append(f'<polygon points="{corners}" fill="{colour}" fill-opacity="0.15"/>')
        path = " ".join(f"{x:.1f},{_height(one.mean or 0.0):.1f}" for x, one in known)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    for x, one in known:
        if one.interval is not None:
            low, high = one.interval
            attributes = f'stroke="{colour}" stroke-opacity="0.6"'
            parts.append(_line(x + shift, _height(low), x + shift, _height(high), attributes))
        parts.append(
            f'<circle cx="{x:.1f}" cy="{_height(one.mean or 0.0):.1f}" r="3.5" '
            f'fill="{colour}"/>'
        )
    return parts


def _tasks(coverage: "Coverage") -> list[str]:
    parts = []
    left, right = _TASKS
    step = (right - left) / 2
    for number, found in enumerate(coverage.distributions):
        middle = left + step * (number + 0.5)
        colour = COLOURS[found.measure]
        parts.append(_text(middle, _BOTTOM + 16, TITLES[found.measure], "small", "middle"))
        known = [v for v in coverage.coverage_of(found.measure).values() if v is not None]
        parts += _dots(known, middle, step * 0.42, colour)
        lower, median, upper = found.lower_quartile, found.median, found.upper_quartile
        if lower is None or median is None or upper is None:
            parts.append(_text(middle, (_TOP + _BOTTOM) / 2, "none", "small", "middle"))
            continue
        top, height = _height(upper), _height(lower) - _height(upper)
        parts.append(
            f'<rect x="{middle - 16:.1f}" y="{top:.1f}" width="32" height="{height:.1f}" '
            f'fill="none" stroke="#222"/>'
        )
        y = _height(median)
        parts.append(_line(middle - 16, y, middle + 16, y, 'stroke="#222" stroke-width="2.5"'))
    return parts


def _dots(values: list[float], middle: float, room: float, colour: str) -> list[str]:
    """One dot a task; those of about the same height stand side by side."""
    rows: dict[int, list[float]] = {}
    for value in sorted(values):
        rows.setdefault(round(value * 50), []).append(value)
    parts = []
    for row in rows.values():
        step = min(2 * _DOT, 2 * room / max(len(row) - 1, 1))
        for number, value in enumerate(row):
            x = middle + (number - (len(row) - 1) / 2) * step
            parts.append(
                f'<circle cx="{x:.1f}" cy="{_height(value):.1f}" r="{_DOT}" fill="{colour}" '
                'fill-opacity="0.45"/>'
            )
    return parts
