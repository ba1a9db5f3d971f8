"""Stored texts on a page, as text: what a trace says is never taken for markup.

Streamlit reads Markdown in labels, captions and messages. A stored text goes there through
:func:`plain`, into HTML or SVG through :func:`escaped`; tables and code need neither.
"""

import re
from html import escape
from typing import Any

from app.output import show, visible

_MARKUP = re.compile(r"([!-/:-@\[-`{-~])")
_BREAKS = re.compile(r"\s+")
JOINER = "\u2060"
_LINKED = re.compile(r"(?i)(https?|ftp|mailto|xmpp|www|:|@)")


def one_line(value: Any, length: int = 80) -> str:
    """A value on one line, cut at a length, with what would steer a screen spelled out.

    Args:
        value: Anything; a missing value is a dash.
        length: Characters at most, 2 or more.
    """
    text = _BREAKS.sub(" ", show(value)).strip()
    return text if len(text) <= length else text[: length - 1] + "…"


def counted(number: int, what: str) -> str:
    """A number with the thing it counts: ``1 row``, ``2 rows``.

    Args:
        number: How many.
        what: One of them; its plural ends in s.
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def plain(value: Any, length: int = 200) -> str:
    """A text as Markdown that shows just that text: no emphasis, link, image or emoji.

    Args:
        value: Anything; a missing value is a dash.
        length: Characters at most, before escaping.
    """
    text = _MARKUP.sub(r"\\\1", one_line(value, length))
    # What looks like an address, or like :smile:, is found after the escapes are read: a
    # joiner that nobody sees keeps it apart.
    return _LINKED.sub(lambda found: found[0] + JOINER, text)


def escaped(value: Any, length: int | None = None) -> str:
    """A text for HTML or SVG, in an element or in a quoted attribute.

    Args:
        value: Anything; a missing value is a dash.
        length: Characters at most, on one line; None for all, with its lines.
    """
    text = visible(show(value)) if length is None else one_line(value, length)
    return escape(text, quote=True)
