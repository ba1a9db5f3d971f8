"""Four kinds of runs: succeeded or failed, like the ways that work or unlike them."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.drawing import Figure

_LEFT, _TOP = 76, 50
_WIDE, _HIGH, _GAP = 208, 88, 8


@dataclass(frozen=True)
class Field:
    """One of the four.

    Attributes:
        name: Of the kind.
        column: 0 for runs unlike the ways that work, 1 for those like them.
        row: 0 for success, 1 for failure.
        colour: Of the field.
        meaning: What to make of such a run, on two lines.
    """

    name: str
    column: int
    row: int
    colour: str
    meaning: tuple[str, str]


def quadrant(title: str, fields: tuple[Field, ...], counts: Mapping[str, int]) -> Figure:
    """Draws four fields with the number of runs in each.

    Args:
        title: What they show.
        fields: The four kinds.
        counts: Runs by kind; a kind that is not named has none.
    """
    width = _LEFT + 2 * _WIDE + _GAP
    total = sum(counts.get(field.name, 0) for field in fields)
    parts = [drawing.text(0, 16, title, kind="strong", length=110)]
    for column, words in enumerate(("unlike the ways that work", "like the ways that work")):
        x = _LEFT + column * (_WIDE + _GAP) + _WIDE / 2
        parts.append(drawing.text(x, _TOP - 10, words, anchor="middle", kind="soft"))
    for row, words in enumerate(("succeeded", "failed")):
        y = _TOP + row * (_HIGH + _GAP) + _HIGH / 2
        parts.append(drawing.text(_LEFT - 12, y + 4, words, anchor="end", kind="soft"))
    for field in fields:
        x = _LEFT + field.column * (_WIDE + _GAP)
        y = _TOP + field.row * (_HIGH + _GAP)
        count = counts.get(field.name, 0)
        share = count / total if total else 0.0
        told = f"{count:,} ({share:.0%})" if total else f"{count:,}"
        parts.append(
            drawing.hint(
                f"{field.name}: {told}. {' '.join(field.meaning)}",
                [
                    # The more runs, the stronger the field; words stay readable on it.
                    drawing.box(
                        *(x, y, _WIDE, _HIGH),
                        colour=field.colour,
                        opacity=0.1 + 0.35 * share,
                        round=4,
                    ),
                    drawing.box(x, y, 6, _HIGH, colour=field.colour, round=3),
                    drawing.text(x + 18, y + 26, f"{field.name}: {told}", kind="strong"),
                    *(
                        drawing.text(x + 18, y + 48 + 17 * line, words, length=40)
                        for line, words in enumerate(field.meaning)
                    ),
                ],
            )
        )
    return Figure(width, _TOP + 2 * _HIGH + _GAP + 10, title, "".join(parts))
