"""A motif as a figure: two or three typed nodes and what joins them."""

import math

import msgspec

from app.dashboard import drawing
from app.dashboard.drawing import BAD, ROLE_COLOURS, SERIES_COLOURS, Figure
from mining.canonical import (
    COUPLED,
    DIRECT,
    DIRECT_BACK,
    INDIRECT,
    INDIRECT_BACK,
    MUTUAL,
    PAIRS,
    Pattern,
)

_WIDTH, _HEIGHT = 340, 150


def pattern_of(canonical_form: str) -> Pattern | None:
    """The pattern that a stored form stands for, None where it is none."""
    try:
        labels, relations = msgspec.json.decode(
            canonical_form, type=tuple[list[str], list[int]]
        )
    except msgspec.DecodeError:
        return None
    pattern = Pattern(tuple(labels), tuple(relations))
    if pattern.size not in PAIRS or len(relations) != len(PAIRS[pattern.size]):
        return None
    return pattern


def pattern_figure(canonical_form: str) -> Figure:
    """Draws a motif: solid arrows are edges, dashed ones longer paths, dotted lines couplings.

    Args:
        canonical_form: As it is stored. What is none is shown as its text.
    """
    pattern = pattern_of(canonical_form)
    if pattern is None:
        words = drawing.text(10, 30, canonical_form, length=44)
        return Figure(_WIDTH, 50, canonical_form, words)
    spots = _spots(pattern)
    parts = [drawing.tip()]
    for (one, other), relation in zip(PAIRS[pattern.size], pattern.relations, strict=True):
        parts += _joined(spots[one], spots[other], relation)
    for (x, y), label in zip(spots, pattern.labels, strict=True):
        parts += _node(x, y, label)
    height = 76 if pattern.size == 2 else _HEIGHT
    return Figure(_WIDTH, height, pattern.description, "".join(parts))


def _joined(one: tuple[int, int], other: tuple[int, int], relation: int) -> list[str]:
    if relation == MUTUAL:
        return [_line(one, other, tip=True), _line(other, one, tip=True)]
    is_coupled, precedence = divmod(relation, COUPLED)
    parts = []
    if is_coupled:
        (x1, y1), (x2, y2) = one, other
        course = f"M{x1} {y1} Q{(x1 + x2) / 2:g} {(y1 + y2) / 2 + 34:g} {x2} {y2}"
        parts.append(drawing.path(course, width=2.5, dashes="2 3", colour=BAD))
    if precedence in (DIRECT_BACK, INDIRECT_BACK):
        one, other = other, one
    if precedence:
        is_direct = precedence in (DIRECT, DIRECT_BACK)
        parts.append(_line(one, other, tip=True, dashes="" if is_direct else "5 4"))
    return parts


def _spots(pattern: Pattern) -> list[tuple[int, int]]:
    """What comes first stands on the left; of three, the one in the middle stands below."""
    before = [0] * pattern.size
    for (one, other), relation in zip(PAIRS[pattern.size], pattern.relations, strict=True):
        precedence = 0 if relation == MUTUAL else relation % COUPLED
        if precedence:
            before[other if precedence in (DIRECT, INDIRECT) else one] += 1
    places = [(70, 45), (270, 45)] if pattern.size == 2 else [(70, 45), (170, 95), (270, 45)]
    order = sorted(range(pattern.size), key=lambda node: (before[node], node))
    spot = dict(zip(order, places, strict=True))
    return [spot[node] for node in range(pattern.size)]


def _line(
    start: tuple[int, int], end: tuple[int, int], *, tip: bool = False, dashes: str = ""
) -> str:
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = 13 * (x2 - x1) / length, 13 * (y2 - y1) / length
    return drawing.line(
        x1 + dx, y1 + dy, x2 - dx, y2 - dy, width=1.6, opacity=0.8, dashes=dashes, has_tip=tip
    )


def _node(x: int, y: int, label: str) -> list[str]:
    words = label.split("/")
    colour = ROLE_COLOURS.get(words[0], SERIES_COLOURS[0])
    first = y - 8 - 13 * len(words) if y < 80 else y + 26
    return [
        drawing.circle(x, y, 9, colour=colour, edge="currentColor"),
        *[
            drawing.text(
                x, first + 13 * line + 4, word, anchor="middle", kind="small", length=22
            )
            for line, word in enumerate(words)
        ],
    ]
