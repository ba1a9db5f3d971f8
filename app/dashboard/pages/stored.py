"""Stored reports: one of a kind is chosen, or a sentence says how to make one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from app.dashboard import connection
from app.dashboard.page import Page
from app.dashboard.text import one_line

if TYPE_CHECKING:
    from app.stored_reports import ReportHead, StoredReport

MOST_NOTES = 20
PAIR_COLUMNS = (
    "first",
    "second",
    "tasks",
    "mean_first",
    "mean_second",
    "difference",
    "low",
    "high",
    "better",
    "tied",
    "worse",
    "adjusted",
)
"""What a table says of the difference between two methods."""
NAME_LENGTH = 40
"""Characters of a row's name in a drawing."""


def chosen_report(
    page: Page,
    kind: str,
    *,
    empty: str,
    command: str,
    label: str = "Report",
    name: str = "report",
    fits: "Callable[[ReportHead], bool] | None" = None,
) -> "StoredReport | None":
    """A stored report, chosen where there are several.

    Args:
        page: Where it is to be shown.
        kind: Of the report.
        empty: What is said where there is none.
        command: What makes one.
        label: Of the choice.
        name: Query parameter of the choice.
        fits: Which of them can be chosen; None for all.

    Returns:
        The report; None where there is none, which is then said.
    """
    heads = [head for head in connection.report_heads(kind) if fits is None or fits(head)]
    if not heads:
        page.empty(empty, command=command)
        return None
    # What rests on most runs comes first: it is what somebody wants to see at first.
    heads.sort(key=lambda head: (-head.runs, head.name, head.report))
    titles = {title_of(head): head.report for head in heads}
    chosen = page.choose(label, list(titles), name, any=None)
    return connection.report(titles.get(chosen or "", heads[0].report))


def title_of(head: "ReportHead") -> str:
    """A report's name with what tells it apart from others of that name."""
    asked = head.selection
    parts = [one for one in (asked.dataset, asked.method, asked.task) if one is not None]
    only = f", only {', '.join(parts)}" if parts else ""
    return f"{head.name[:1].upper()}{head.name[1:]}{only} ({head.report[-6:]})"


def rows_of(found: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Records of a document with these keys, in this order; what a record lacks is None.

    Documents are kept with sorted keys, so that a table has to say in which order it reads.
    """
    return [{name: row.get(name) for name in columns} for row in found]


def choice_form(
    label: str, button: str, values: Mapping[str, Any], key: str, then: Callable[[Any], None]
) -> None:
    """A choice with a button: what a row of a table opens, for those who use no mouse.

    Args:
        label: What is chosen.
        button: Words of the button.
        values: What can be chosen, by its title.
        key: Tells forms of a page apart.
        then: Called with the value, before the page runs again.
    """

    def chosen() -> None:
        title = st.session_state[f"chosen-{key}"]
        if title in values:
            then(values[title])

    with st.form(f"form-{key}", border=False):
        st.selectbox(label, list(values), index=None, key=f"chosen-{key}")
        st.form_submit_button(button, on_click=chosen)


def notes(page: Page, sentences: Iterable[str]) -> None:
    """Remarks that belong to a result, the first ones."""
    found = list(dict.fromkeys(sentences))
    more = len(found) - MOST_NOTES
    rest = [f"... and {more:,} more, which --json lists."] if more > 0 else []
    page.remarks([*found[:MOST_NOTES], *rest])


def followed(name: str, rest: str, length: int = NAME_LENGTH) -> str:
    """A stored name and words behind it, which stay whole where the name is long.

    Args:
        name: Cut where both together are too long, though not below 8 characters.
        rest: What tells rows of one name apart.
        length: Of both.
    """
    return one_line(name, max(length - len(rest), 8)) + rest


def named(value: str | None, missing: str = "no method") -> str:
    """A stored name, or words where there is none."""
    return missing if value is None else value
