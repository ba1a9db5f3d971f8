"""Response curves as a picture: one panel for each edit, one curve for each quantity."""

from typing import TYPE_CHECKING

from app.svg import BandPoint, banded_curve, document, line, text

if TYPE_CHECKING:
    from analytics.perturbation_result import PerturbationStudy, Response

COLOURS = (
    "#1b62a5",
    "#b8480e",
    "#2b7f3f",
    "#7a3fa0",
    "#9a6a00",
    "#b02a5b",
    "#0f7f8c",
    "#555f6b",
)
DASHES = ("", "", "", "7 3", "2 3", "9 3 2 3", "4 4", "1 2")
"""Later curves are broken, so that one below shows where two are equal."""
COLUMNS = 3
_PANEL, _GAP, _LEFT = (230, 150), (40, 52), 52
_LETTER = 6.5
"""About how wide a letter is."""


def perturbation_svg(study: "PerturbationStudy") -> str:
    """Draws the measures, and below them the metrics that lie between 0 and 1.

    Args:
        study: What was found.

    Returns:
        An SVG document. Equal studies give equal text.
    """
    blocks = [
        ("Similarity to the unedited graph", _quantities(study, "measure")),
        ("Metrics of the edited graph", _quantities(study, "metric")),
    ]
    parts: list[str] = []
    y = 0.0
    for title, quantities in blocks:
        if quantities:
            drawn, y = _block(study, title, quantities, y)
            parts += drawn
    parts.append(
        text(
            _LEFT,
            y - 6,
            f"{study.graphs:,} graphs of {study.tasks:,} tasks. Lines: means. Bands: "
            f"{study.configuration['bootstrap']['confidence']:.0%} bootstrap over "
            f"{study.resampled}s.",
            "small",
        )
    )
    width = _LEFT + COLUMNS * (_PANEL[0] + _GAP[0])
    return document(width, round(y + 10), _in_words(study), parts)


def _quantities(study: "PerturbationStudy", kind: str) -> list[str]:
    """Names that can share an axis from 0 to 1, in the study's order."""
    names = dict.fromkeys(one.quantity for one in study.responses if one.kind == kind)
    return [
        name
        for name in names
        if (values := _values([one for one in study.responses if one.quantity == name]))
        and all(0.0 <= value <= 1.0 for value in values)
    ]


def _values(responses: "list[Response]") -> list[float]:
    return [
        point.value.estimate
        for one in responses
        for point in one.points
        if point.value.estimate is not None
    ]


def _in_words(study: "PerturbationStudy") -> str:
    falls: dict[str, list[str]] = {}
    for one in study.responses:
        if one.kind == "measure":
            found = falls.setdefault(one.quantity, [])
            if one.verdict == "falls":
                found.append(one.edit)
    said = [
        f"{name} falls under {', '.join(edits) or 'no edit'}" for name, edits in falls.items()
    ]
    return "Response to controlled edits: " + ("; ".join(said) or "metrics only")


def _block(
    study: "PerturbationStudy", title: str, quantities: list[str], top: float
) -> tuple[list[str], float]:
    """Panels of the quantities, and where they end."""
    looks = {
        name: (COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)])
        for place, name in enumerate(quantities)
    }
    parts = [text(_LEFT, top + 24, title, "title")]
    x, y = float(_LEFT), top + 42
    for name, (colour, dashes) in looks.items():
        label = name.replace("_", " ")
        room = _LETTER * len(label) + 38
        if x + room > _LEFT + COLUMNS * (_PANEL[0] + _GAP[0]):
            x, y = float(_LEFT), y + 18
        sample = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes or "none"}"'
        parts.append(line(x, y - 4, x + 18, y - 4, sample))
        parts.append(text(x + 23, y, label, colour=colour))
        x += room
    first = y + 34
    edits = list(dict.fromkeys(one.edit for one in study.responses))
    for place, edit in enumerate(edits):
        left = _LEFT + (place % COLUMNS) * (_PANEL[0] + _GAP[0])
        upper = first + (place // COLUMNS) * (_PANEL[1] + _GAP[1])
        parts += _panel(study, edit, looks, left, upper)
    rows = -(-len(edits) // COLUMNS)
    return parts, first + rows * (_PANEL[1] + _GAP[1])


def _panel(
    study: "PerturbationStudy",
    edit: str,
    looks: dict[str, tuple[str, str]],
    left: float,
    top: float,
) -> list[str]:
    width, height = _PANEL
    largest: float = max(study.configuration["rates"])

    def at(rate: float) -> float:
        return left + width * rate / largest

    def level(value: float) -> float:
        return top + height * (1.0 - value)

    parts = [text(left, top - 8, edit.replace("-", " "), "small")]
    for percent in (0, 50, 100):
        y = level(percent / 100)
        kind = 'class="axis"' if percent == 0 else 'class="grid"'
        parts.append(line(left, y, left + width, y, kind))
        parts.append(text(left - 6, y + 4, f"{percent / 100:g}", "small", "end"))
    parts += [
        text(at(rate), top + height + 15, f"{rate:.0%}", "small", "middle")
        for rate in (0.0, largest)
    ]
    for name, (colour, dashes) in looks.items():
        found = study.response(name, edit)
        points: list[BandPoint] = []
        for point in found.points:
            value = point.value
            if value.estimate is None:
                continue
            ends = [None if end is None else level(end) for end in (value.low, value.high)]
            points.append((at(point.rate), ends[0], level(value.estimate), ends[1]))
        hint = f"{name}: {found.verdict or 'not known'}"
        parts += banded_curve(points, colour, hint, dashes)
    return parts
