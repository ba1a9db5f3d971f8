"""The first value of a sample is what a slow walk over its characters makes of it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.sample_json import first_value, has_escaped_letters, keys, may_have_key

TEXTS = st.text(st.sampled_from('ab"\\{}[],:\n é\u2028'), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXTS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(TEXTS, inside, max_size=4),
    max_leaves=15,
)
HOLDERS = st.lists(VALUES, max_size=5) | st.dictionaries(TEXTS, VALUES, max_size=5)


def closed(text):
    """The JSON up to its last whole member, closed where it is open; None for no JSON."""
    open_, end = [], 0
    inside_text = escaped = False
    for place, letter in enumerate(text):
        if inside_text:
            inside_text = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            inside_text = True
        elif letter in "{[":
            open_.append("}" if letter == "{" else "]")
            end = place + 1
        elif letter in "}]":
            open_.pop()
            end = place + 1
            if not open_:
                break
        elif letter == ",":
            end = place
    try:
        return json.loads(text[:end] + "".join(reversed(open_)))
    except ValueError:
        return None


@given(HOLDERS, st.data(), st.sampled_from([None, 1]), st.sampled_from(["", "\n", "\n[1]\n"]))
def test_a_sample_may_be_cut_anywhere(value, data, indent, behind):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert first_value((text + behind).encode()) == value
    cut = text[: data.draw(st.integers(1, len(text)))]
    assert first_value(cut.encode()) == closed(cut)


@pytest.mark.parametrize("sample", [b"", b"  ", b"1", b'"a"', b"x {", b"}", b"<a>", b"[" * 300])
def test_what_does_not_begin_with_json_has_no_value(sample):
    assert first_value(sample) is None


def test_bytes_that_are_no_text_are_replaced():
    assert first_value(b'{"a": "\xff", "b": [1, ') == {"a": "\ufffd", "b": [1]}


def test_a_key_is_seen_however_it_is_written():
    wanted = frozenset({b"role"})
    assert may_have_key(b'{"role" : 1', wanted)
    assert may_have_key(rb'{"r\u006fle": 1', wanted)
    assert not may_have_key(rb'{"r\u00f6le": "\"role\": 1", "a": "role"', wanted)
    assert has_escaped_letters(rb'{"\u0024schema": 1')
    assert not has_escaped_letters(b"{}")
    assert keys(rb'{"r\u006fle": 1, "a": {"b": 2}, "c" ') == {b"a", b"b"}
