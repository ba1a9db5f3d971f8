"""Drawings as SVG: shapes and a figure that holds them.

A figure is text that equal input gives equal bytes of. It takes its ink from the page
(``currentColor``), so that one drawing serves light and dark, and loads nothing. Every text
goes through :func:`app.dashboard.text.escaped`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.dashboard.text import escaped

ROLE_COLOURS: dict[str, str] = {
    "planner": "#8a63d2",
    "orchestrator": "#2f7fc1",
    "proposer": "#157f8a",
    "solver": "#24854b",
    "specialist": "#5f8316",
    "executor": "#96700a",
    "critic": "#c44a1f",
    "verifier": "#c94074",
    "aggregator": "#5b74e0",
    "tool": "#6c7682",
    "human": "#a86a3a",
    "environment": "#4a787c",
    "unknown": "#808080",
}
"""Middle tones: they stand out on white and on black. Labels say the same in words."""

SERIES_COLOURS = (
    "#2f7fc1",
    "#d9582b",
    "#2e9e5b",
    "#8a63d2",
    "#b98a00",
    "#c94074",
    "#1f9aa8",
    "#7d8794",
)
GOOD, BAD, MARK = "#2e9e5b", "#d9582b", "#d98a00"

_STYLE = (
    "text{font:12px system-ui,'Source Sans Pro',sans-serif;fill:currentColor}"
    ".small{font-size:11px}.strong{font-weight:600}.soft{opacity:.72}"
    ".inside{font-size:11px;font-weight:600;fill:#10151c}"
    ".line{stroke:currentColor;fill:none}.tip{fill:currentColor}"
    "[data-pick]{cursor:pointer}[data-pick]:focus{outline:2px solid currentColor}"
)


@dataclass(frozen=True)
class Figure:
    """A drawing.

    Attributes:
        width: Of its coordinates, in pixels.
        height: Likewise.
        title: What it shows, for people who cannot see it.
        body: SVG elements.
    """

    width: int
    height: int
    title: str
    body: str

    def inline(self) -> str:
        """For a page: takes the page's colours."""
        return self._svg("")

    def document(self) -> str:
        """A file of its own, dark on white."""
        ground = f'<rect width="{self.width}" height="{self.height}" fill="#fff"/>'
        return self._svg(ground, ' style="color:#1d2430"') + "\n"

    def _svg(self, ground: str, style: str = "") -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="group" '
            f'aria-label="{escaped(self.title)}"{style}><title>{escaped(self.title)}</title>'
            f"<style>{_STYLE}</style>{ground}{self.body}</svg>"
        )


def number(value: float) -> str:
    """A coordinate: one digit after the point, none where it is 0."""
    return f"{value:.1f}".removesuffix(".0")


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    kind: str = "",
    length: int = 60,
) -> str:
    """A line of text.

    Args:
        x: Where it is anchored.
        y: Its base line.
        words: The text, as it is stored.
        anchor: ``start``, ``middle`` or ``end``.
        kind: Style classes: ``small``, ``strong``, ``soft``, or ``inside`` for dark letters
            on one of our colours.
        length: Characters at most.
    """
    style = f' class="{kind}"' if kind else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{style}>'
        f"{escaped(words, length)}</text>"
    )


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    *,
    width: float = 1,
    opacity: float = 1,
    dashes: str = "",
    colour: str = "currentColor",
    has_tip: bool = False,
) -> str:
    """A straight line, with an arrow's tip at its end if asked."""
    return path(
        f"M{number(x1)} {number(y1)} L{number(x2)} {number(y2)}",
        width=width,
        opacity=opacity,
        dashes=dashes,
        colour=colour,
        has_tip=has_tip,
    )


def path(
    course: str,
    *,
    width: float = 1,
    opacity: float = 1,
    dashes: str = "",
    colour: str = "currentColor",
    has_tip: bool = False,
) -> str:
    """A line along a course in SVG's language."""
    more = f' stroke-dasharray="{dashes}"' if dashes else ""
    more += ' marker-end="url(#tip)"' if has_tip else ""
    return (
        f'<path d="{course}" fill="none" stroke="{colour}" stroke-width="{number(width)}" '
        f'opacity="{number(opacity)}"{more}/>'
    )


def area(course: str, colour: str, *, opacity: float = 1) -> str:
    """A filled shape along a closed course in SVG's language."""
    return f'<path d="{course}" fill="{colour}" fill-opacity="{opacity:g}"/>'


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    colour: str = "currentColor",
    opacity: float = 1,
    round: float = 0,
    edge: str = "none",
) -> str:
    """A rectangle."""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" '
        f'height="{number(max(height, 0))}" rx="{number(round)}" fill="{colour}" '
        f'fill-opacity="{opacity:g}" stroke="{edge}"/>'
    )


def circle(
    x: float,
    y: float,
    radius: float,
    *,
    colour: str = "currentColor",
    opacity: float = 1,
    edge: str = "none",
    edge_width: float = 1,
) -> str:
    """A disc."""
    return (
        f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{colour}" '
        f'fill-opacity="{opacity:g}" stroke="{edge}" stroke-width="{number(edge_width)}"/>'
    )


def tip() -> str:
    """The arrow's tip that lines point to; once in a figure, before its first line."""
    return (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        '<path class="tip" d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    )


def hint(words: str, shapes: Iterable[str], *, pick: str | None = None) -> str:
    """Shapes with words that appear over them, and to screen readers.

    Args:
        words: What they stand for; kept on their lines.
        shapes: SVG elements.
        pick: What the page is told when somebody clicks them or presses Enter there; None
            where nothing happens.
    """
    more = ""
    if pick is not None:
        more = (
            f' data-pick="{escaped(pick)}" tabindex="0" role="button" '
            f'aria-label="{escaped(words)}"'
        )
    return f"<g{more}><title>{escaped(words)}</title>{''.join(shapes)}</g>"
