"""Sentences in boxes."""

import streamlit as st

from app.dashboard.text import escaped


def note(sentence: str, *, command: str | None = None, kind: str = "info") -> None:
    """A sentence in a box.

    Args:
        sentence: As it is; a stored text in it stays text.
        command: A command to copy, below it.
        kind: ``info``, ``empty``, ``warning`` or ``error``.
    """
    if kind == "error":
        # It may begin with a path or a name, which stay as they are.
        words = escaped(sentence.rstrip(" :\n"))
    else:
        words = escaped(sentence[:1].upper() + sentence[1:])
    ending = "" if words[-1:] in ".!?:;" else "."
    more = f"<br><code>{escaped(command)}</code>" if command else ""
    role = "alert" if kind == "error" else "status"
    st.html(f'<div class="mg-note {kind}" role="{role}">{words}{ending}{more}</div>')
