"""Names of colours above a drawing, on as many lines as they need."""

from collections.abc import Iterable

from app.dashboard import drawing

LINE = 18


def legend(
    entries: Iterable[tuple[str, str, str]], left: float, right: float, top: float
) -> tuple[list[str], float]:
    """Draws names with their colours.

    Args:
        entries: Name, colour and dashes of each; without dashes a square stands for it, with
            them (a space for an unbroken line) a piece of its line.
        left: Where lines begin.
        right: Where they end at the latest.
        top: Upper edge of the first line.

    Returns:
        The shapes, and where the last line ends.
    """
    parts: list[str] = []
    x, y = left, top
    for name, colour, dashes in entries:
        length = 34 + 6.6 * min(len(name), 40)
        if x > left and x + length > right:
            x, y = left, y + LINE
        if dashes:
            parts.append(
                drawing.line(
                    x, y + 6, x + 16, y + 6, width=2.5, colour=colour, dashes=dashes.strip()
                )
            )
        else:
            parts.append(drawing.box(x, y, 11, 11, colour=colour, round=2))
        parts.append(drawing.text(x + 20, y + 10, name, kind="small", length=40))
        x += length
    return parts, y + LINE
