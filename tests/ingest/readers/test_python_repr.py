"""The repr of Python objects: a list of plain calls is read without a syntax tree."""

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphstore.errors import InputError
from ingest.readers import python_repr
from ingest.readers.python_repr import parse_repr

NAMES = st.sampled_from(["id", "name", "arguments", "type", "class", "None", "_x1", "é"])
CONSTANTS = st.one_of(st.text(), st.none(), st.booleans(), st.integers(), st.floats())
CALLS = st.lists(
    st.tuples(NAMES, st.lists(st.tuples(NAMES, CONSTANTS), min_size=1, max_size=3)), max_size=3
)


def shown(calls):
    return ", ".join(
        f"{name}({', '.join(f'{key}={value!r}' for key, value in members)})"
        for name, members in calls
    )


def by_tree(text):
    """What the syntax tree says, None where it says nothing."""
    try:
        return python_repr._value(python_repr._tree(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@given(CALLS, st.text(alphabet="'\"\\nx([,)=]# \n", max_size=3), st.integers(0, 80))
@example([("F", [("a", 'it\'s "so"\n\t\r\\')])], "", 0)
@example([("F", [("a", "\ud800")])], "", 0)
@example([("class", [("a", "x")])], "", 0)
@example([("F", [("a", "x")])], "\0", 6)
@example([("F", [("a", "x")])], "\\d", 6)
def test_plain_calls_are_what_the_syntax_tree_says(calls, damage, place):
    text = f"[{shown(calls)}]"
    text = text[:place] + damage + text[place:]
    quick = python_repr._plain_calls(text)
    if quick is not None:
        assert quick == by_tree(text)
        assert parse_repr(text) == quick


def test_usual_calls_are_plain():
    text = (
        "[FunctionCall(id='c1', arguments='{\"a\": \"b\"}', name='look'), "
        'FunctionExecutionResult(content="it\'s\\n\\\\ 4", call_id=None, is_error=False)]'
    )
    expected = [
        {"id": "c1", "arguments": '{"a": "b"}', "name": "look", "type": "FunctionCall"},
        {
            "content": "it's\n\\ 4",
            "call_id": None,
            "is_error": False,
            "type": "FunctionExecutionResult",
        },
    ]
    assert python_repr._plain_calls(text) == expected == by_tree(text)


@pytest.mark.parametrize(
    "text", ["[F(a='x'", "[F(a='x',, b='y')]", "[lambda(a='x')]", "[F(a='x\ny')]"]
)
def test_what_is_no_call_is_an_error(text):
    assert python_repr._plain_calls(text) is None
    with pytest.raises(InputError, match="no complete Python value"):
        parse_repr(text)


@given(st.one_of(st.text().map(repr), st.text(alphabet="'\"\\nx\n\r\t\0a", max_size=8)))
@example("'it\\'s'")
@example("'\\x41'")
@example("'a' 'b'")
def test_a_plain_literal_is_what_python_says(text):
    said = python_repr.plain_literal(text)
    if said is not None:
        assert said == ast.literal_eval(text)


def test_usual_texts_are_plain_literals():
    for said in ("", "it's", 'say "so"', 'it\'s "so"\n\t\\', "ä\U0001f642"):
        assert python_repr.plain_literal(repr(said)) == said
