"""The parts that plots are drawn of: texts, lines and curves with bands, as SVG elements."""

from collections.abc import Sequence
from html import escape

STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}"
    ".title{font-weight:600}.small{font-size:11px;fill:#666}"
    ".grid{stroke:#ddd}.axis{stroke:#888}"
)

BandPoint = tuple[float, float | None, float, float | None]
"""A point of a curve: x, the lower end of the band, y, its upper end (None: no band)."""


def document(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    """A whole SVG file.

    Args:
        width: In pixels.
        height: In pixels.
        label: What the picture shows, in words, for those who cannot see it.
        parts: The elements.
    """
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" '
            f'aria-label="{escape(label, quote=True)}">',
            f"<style>{STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(
    x: float, y: float, words: str, kind: str = "", anchor: str = "start", colour: str = ""
) -> str:
    """Words at a place.

    Args:
        x: Of the anchor.
        y: Of the baseline.
        words: Any text; it is escaped.
        kind: ``title``, ``small`` or nothing.
        anchor: ``start``, ``middle`` or ``end``.
        colour: Another colour than the style's.
    """
    style = f' class="{kind}"' if kind else ""
    fill = f' style="fill:{colour}"' if colour else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}{fill}>'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, attributes: str) -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {attributes}/>'


def banded_curve(
    points: Sequence[BandPoint], colour: str, title: str = "", dashes: str = ""
) -> list[str]:
    """A curve with its points and, where every point has one, its band.

    Args:
        points: From left to right, in pixels.
        colour: Of the curve.
        title: Shown where a pointer rests on the curve.
        dashes: Lengths of line and gap, as in ``"6 3"``; a whole line where empty.
    """
    if not points:
        return []
    parts = []
    lower = [f"{x:.1f},{low:.1f}" for x, low, _, _ in points if low is not None]
    upper = [f"{x:.1f},{high:.1f}" for x, _, _, high in points if high is not None]
    if len(points) > 1 and len(lower) == len(upper) == len(points):
        corners = " ".join([*upper, *reversed(lower)])
        parts.append(f'<polygon points="{corners}" fill="{colour}" fill-opacity="0.15"/>')
    if len(points) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, _, y, _ in points)
        broken = f' stroke-dasharray="{dashes}"' if dashes else ""
        hint = f"<title>{escape(title)}</title>" if title else ""
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
            f"{broken}>{hint}</polyline>"
        )
    parts += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, _, y, _ in points
    ]
    return parts
