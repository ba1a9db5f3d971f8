"""A page's state, kept in its address: a link restores what somebody saw.

* Widgets (``choose``, ``tabs``, ``search``, ``count``, ``switch``, ``turn``) are tied to a
  query parameter of their own name. Where an address asks for what is not there, they say so.
* What is opened or picked is set with ``page.go(run=...)`` and read with ``page.value("run")``.
"""

from collections.abc import Sequence

import streamlit as st

from app.dashboard.notes import note
from app.dashboard.settings import ROWS_A_PAGE
from app.dashboard.text import one_line

ALL = "all"
"""The choice that filters nothing."""


class Address:
    """What of a page stands in its address."""

    def value(self, name: str) -> str | None:
        """A query parameter that no widget is tied to, None where it is not set."""
        found = st.query_params.get(name)
        return None if found is None or found == "" else str(found)

    def go(self, **values: str | int | None) -> None:
        """Sets query parameters that no widget is tied to; None removes one.

        Call it in a callback: the page then runs again by itself.
        """
        for name, value in values.items():
            if value is None:
                if name in st.query_params:
                    del st.query_params[name]
            else:
                st.query_params[name] = str(value)

    def choose(
        self,
        label: str,
        options: Sequence[str],
        name: str,
        *,
        any: str | None = ALL,
    ) -> str | None:
        """One of some values, tied to a query parameter.

        Args:
            label: What is chosen.
            options: The values, as they are stored.
            name: The query parameter.
            any: The first choice, which gives None; None for no such choice.
        """
        values = [*([any] if any is not None else []), *options]
        if not values:
            return None
        self._say_what_is_not_here(label, name, values)
        if st.session_state.get(name, values[0]) not in values:
            del st.session_state[name]
        found = st.selectbox(label, values, key=name, bind="query-params")
        return None if found == any and any is not None else found

    def tabs(self, label: str, options: Sequence[str], name: str) -> str:
        """Parts of a page, of which one is shown, tied to a query parameter.

        Args:
            label: What they are, for screen readers.
            options: Their headings, which also stand in the address; the first is shown at
                first. Words of the page itself, not of the store: they are Markdown.
            name: The query parameter.
        """
        self._say_what_is_not_here(label, name, options)
        found = st.segmented_control(
            label,
            options,
            default=options[0],
            key=name,
            bind="query-params",
            required=True,
            label_visibility="collapsed",
        )
        return str(found or options[0])

    def _say_what_is_not_here(self, label: str, name: str, values: Sequence[str]) -> None:
        """A stale address would else show something other than it says, without a word."""
        given = self.value(name)
        if given is not None and given not in values:
            note(
                f"the address asks for {one_line(given, 80)!r} as {label!r}, which is not "
                "here: another choice is shown",
                kind="warning",
            )

    def search(self, label: str, name: str, *, hint: str = "") -> str | None:
        """A text, tied to a query parameter; None where it is empty."""
        found = st.text_input(label, key=name, bind="query-params", placeholder=hint)
        return found.strip() or None if found else None

    def count(self, label: str, name: str, *, value: int, least: int, most: int) -> int:
        """A whole number, tied to a query parameter."""
        given = self.value(name)
        if given is not None and not (
            given.isascii() and given.isdigit() and least <= int(given[:18]) <= most
        ):
            note(
                f"the address asks for {one_line(given, 40)} as {label!r}, which is none of "
                f"{least:,} to {most:,}",
                kind="warning",
            )
        if not least <= (st.session_state.get(name) or least) <= most:
            del st.session_state[name]
        return int(
            st.number_input(
                label,
                min_value=least,
                max_value=most,
                value=value,
                step=1,
                key=name,
                bind="query-params",
            )
        )

    def switch(self, label: str, name: str, *, value: bool = False) -> bool:
        """Yes or no, tied to a query parameter."""
        return bool(st.toggle(label, value=value, key=name, bind="query-params"))

    def turn(self, total: int, name: str = "page", *, size: int = ROWS_A_PAGE) -> int:
        """Lets a long list be turned, tied to a query parameter.

        Args:
            total: Rows of the whole list.
            name: The query parameter.
            size: Rows of a page.

        Returns:
            How many rows to skip.
        """
        pages = max(1, -(-total // size))
        if pages == 1:
            if self.value(name) not in (None, "1"):
                note(
                    f"the address asks for another page ({name}), but there is only one",
                    kind="warning",
                )
            return 0
        at = self.count(f"Page, of {pages:,}", name, value=1, least=1, most=pages)
        return (at - 1) * size
