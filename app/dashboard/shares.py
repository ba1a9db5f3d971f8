"""Parts of a whole: bars from 0 to 100 percent, one below the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.dashboard import drawing
from app.dashboard.drawing import Figure
from app.dashboard.legend import legend

MOST_ROWS = 60
_STEP = 28
_WIDTH, _RIGHT = 760, 24
_READABLE = 36
"""Pixels from which a part holds its percentage."""


@dataclass(frozen=True)
class Whole:
    """What is taken apart.

    Attributes:
        name: What it is.
        shares: Share of each part, 0 to 1; parts that are not named have none.
        words: What more the hint over a part says, by part.
    """

    name: str
    shares: Mapping[str, float]
    words: Mapping[str, str]


def share_bars(title: str, rows: Sequence[Whole], colours: Mapping[str, str]) -> Figure:
    """Draws shares as lying bars of one length.

    Args:
        title: What they show.
        rows: From top to bottom; those after the first :data:`MOST_ROWS` are left out, and
            the title says so.
        colours: Of the parts, in their order.
    """
    kept = rows[:MOST_ROWS]
    if len(rows) > MOST_ROWS:
        title += f" (the first {MOST_ROWS} of {len(rows):,})"
    name_width = min(300, 24 + 7 * max((len(row.name) for row in kept), default=0))
    span = _WIDTH - name_width - _RIGHT
    found, top = legend(
        [(part, colour, "") for part, colour in colours.items()], 0, _WIDTH - _RIGHT, 28
    )
    parts = [drawing.text(0, 16, title, kind="strong", length=110), *found]
    bottom = top + 4 + _STEP * len(kept)
    for percent in (0, 25, 50, 75, 100):
        x = name_width + span * percent / 100
        parts.append(drawing.line(x, top, x, bottom, opacity=0.6 if percent == 0 else 0.18))
        parts.append(drawing.text(x, bottom + 16, f"{percent}%", anchor="middle", kind="small"))
    for place, row in enumerate(kept):
        y = top + 4 + _STEP * place
        parts.append(drawing.text(name_width - 10, y + 16, row.name, anchor="end", length=40))
        x = float(name_width)
        for part, colour in colours.items():
            share = row.shares.get(part, 0.0)
            if share <= 0:
                continue
            width = span * share
            pieces = [drawing.box(x, y + 2, width, _STEP - 7, colour=colour)]
            if width >= _READABLE:
                pieces.append(
                    drawing.text(
                        x + width / 2, y + 16, f"{share:.0%}", anchor="middle", kind="inside"
                    )
                )
            more = f" ({row.words[part]})" if part in row.words else ""
            parts.append(drawing.hint(f"{row.name}, {part}: {share:.1%}{more}", pieces))
            x += width
    return Figure(_WIDTH, int(bottom) + 24, title, "".join(parts))
