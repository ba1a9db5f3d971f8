"""The console: saved questions or one's own, read-only, with limits that are shown."""

import time
from dataclasses import dataclass
from typing import Any

import msgspec
import streamlit as st

from app.dashboard import connection
from app.dashboard.page import Page
from app.dashboard.pages import answers
from app.dashboard.settings import current
from app.dashboard.text import counted, one_line
from graphstore.errors import QueryTimeoutError, UsageError
from graphstore.queries import SavedQuery, bind, saved_queries, saved_query
from graphstore.rows import QueryResult

OWN = "your own"
EXAMPLE = "actions-of-each-role"
"""The saved question that an empty editor shows."""
HISTORY = 20
ANSWER, ASKED = "cypher-answer", "cypher-history"


@dataclass(frozen=True)
class Question:
    """What somebody asked.

    Attributes:
        cypher: The text.
        parameters: Values by name.
        saved: Name of the saved query, None for one's own.
    """

    cypher: str
    parameters: dict[str, Any]
    saved: str | None

    @property
    def words(self) -> str:
        """On one line, for the history."""
        return self.saved or one_line(self.cypher, 100)


@dataclass(frozen=True)
class Answered:
    """A question with its answer.

    Attributes:
        question: What was asked.
        result: The rows.
        seconds: How long it took.
    """

    question: Question
    result: QueryResult
    seconds: float


def show(page: Page) -> None:
    """Shows the page."""
    settings = current()
    memory = ""
    if connection.console_connection().place.file is not None:
        from graphstore.embedded_client import QUERY_MEMORY_BYTES

        memory = f" It may take {QUERY_MEMORY_BYTES / 2**30:g} GiB of memory."
    page.soft(
        f"A query ends after {_seconds(settings.console_seconds)} and gives at most "
        f"{settings.console_rows:,} rows.{memory} It cannot write or read files, and calls "
        "only the procedures that describe the data, as db.labels()."
    )
    names = [saved.name for saved in saved_queries()]
    chosen = page.choose("Question", names, "query", any=OWN)
    question = _own() if chosen is None else _saved(page, saved_query(chosen))
    if question is not None:
        _ask(question)
    answered: Answered | None = st.session_state.get(ANSWER)
    if answered is None or answered.question.saved != chosen:
        if chosen is not None or st.session_state.get("cypher"):
            page.empty("this has not been asked yet: press Ask")
        else:
            page.empty(
                "nothing has been asked yet: choose a question, or write one, and press Ask"
            )
    else:
        if chosen is not None and _has_changed(saved_query(chosen), answered.question):
            page.warn("the parameters have changed: press Ask to see what they give")
        _show_answer(page, answered)
    _history(page)


def _own() -> Question | None:
    with st.form("own", enter_to_submit=False):
        text = st.text_area(
            "Cypher",
            height=180,
            key="cypher",
            bind="query-params",
            placeholder=saved_query(EXAMPLE).cypher,
        )
        given = st.text_input(
            "Parameters, as JSON", key="parameters", bind="query-params", placeholder='{"n": 5}'
        )
        is_asked = st.form_submit_button("Ask", type="primary")
    if not is_asked:
        return None
    try:
        parameters = msgspec.json.decode(given, type=dict[str, Any]) if given else {}
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"parameters are a JSON object, {error}") from error
    return Question(text or "", parameters, None)


def _given(saved: SavedQuery) -> dict[str, Any]:
    """The parameters that the fields hold."""
    fields = {one.name: st.session_state.get(f"p-{one.name}") for one in saved.parameters}
    return {name: value for name, value in fields.items() if value}


def _has_changed(saved: SavedQuery, question: Question) -> bool:
    try:
        return bind(saved, _given(saved)) != question.parameters
    except UsageError:
        return True


def _saved(page: Page, saved: SavedQuery) -> Question | None:
    page.say(saved.question)
    # No form: a form tells nothing of its fields before it is sent, and the page could not say
    # that the answer below is one to other values.
    with st.container(border=True):
        columns = st.columns(3)
        for place, parameter in enumerate(saved.parameters):
            if parameter.required:
                hint = "must be given"
            elif parameter.default is None:
                hint = "all"
            else:
                hint = f"{parameter.default}"
            with columns[place % 3]:
                st.text_input(
                    f"{parameter.name}: {parameter.meaning}",
                    key=f"p-{parameter.name}",
                    bind="query-params",
                    placeholder=hint,
                )
        is_asked = st.button("Ask", type="primary", key=f"ask-{saved.name}")
    given = _given(saved)
    with st.expander("Its Cypher"):
        st.code(saved.cypher, language=None)
        st.button("Change it into my own", on_click=_take_over, kwargs={"cypher": saved.cypher})
    is_complete = all(
        parameter.name in given for parameter in saved.parameters if parameter.required
    )
    question = Question(saved.cypher, given, saved.name)
    before: Answered | None = st.session_state.get(ANSWER)
    is_open = before is not None and before.question.saved == saved.name
    if is_asked or (is_complete and not is_open):
        return Question(saved.cypher, bind(saved, question.parameters), saved.name)
    return None


def _take_over(cypher: str) -> None:
    st.session_state["query"] = OWN
    st.session_state["cypher"] = cypher


def _ask(question: Question) -> None:
    settings = current()
    st.session_state.pop(ANSWER, None)
    began = time.monotonic()
    try:
        result = connection.console_connection().query(
            question.cypher,
            question.parameters,
            timeout=settings.console_seconds,
            row_limit=settings.console_rows,
        )
    except QueryTimeoutError as error:
        raise QueryTimeoutError(
            f"{error}: let it match less; masgraph app --timeout SECONDS starts a dashboard "
            "that gives more time"
        ) from error
    answered = Answered(question, result, time.monotonic() - began)
    st.session_state[ANSWER] = answered
    history: list[Answered] = st.session_state.setdefault(ASKED, [])
    history.insert(0, answered)
    del history[HISTORY:]


def _seconds(limit: float) -> str:
    return "1 second" if limit == 1 else f"{limit:g} seconds"


def _show_answer(page: Page, answered: Answered) -> None:
    result = answered.result
    page.heading(f"{counted(len(result.rows), 'row')} of {answered.question.words}")
    page.soft(f"In {answered.seconds:.2f} seconds.")
    if result.truncated:
        page.warn(f"there are more rows than {current().console_rows:,}: these are the first")
    answers.show(page, result)


def _history(page: Page) -> None:
    history: list[Answered] = st.session_state.get(ASKED, [])
    if not history:
        return
    with st.expander(f"Asked in this session: {len(history)}"):
        for place, one in enumerate(history):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Show again",
                    key=f"again-{place}",
                    on_click=_again,
                    kwargs={"answered": one},
                )
                page.soft(f"{one.question.words}: {counted(len(one.result.rows), 'row')}")


def _again(answered: Answered) -> None:
    question = answered.question
    st.session_state[ANSWER] = answered
    st.session_state["query"] = question.saved or OWN
    if question.saved is None:
        st.session_state["cypher"] = question.cypher
        text = msgspec.json.encode(question.parameters).decode() if question.parameters else ""
        st.session_state["parameters"] = text
