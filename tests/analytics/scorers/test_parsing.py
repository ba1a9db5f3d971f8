import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.scorers.parsing import LONGEST_VALUE, NOTHING, find_json, whole_number

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_json_alone_is_itself(value):
    assert find_json(json.dumps(value)) == value


@given(st.lists(st.integers()) | st.dictionaries(st.text("ab"), st.integers()))
def test_json_in_sentences_is_found(value):
    assert find_json(f"First I thought [1, 2].\nNow: {json.dumps(value)}. Done") == value


def test_the_last_fenced_block_goes_first():
    text = "```json\n[1]\n```\nno:\n```\n[2]\n```\nnot [3] and ```python\nx = 1\n```"
    assert find_json(text) == [2]


@pytest.mark.parametrize("text", ["", "words", "{", "[1, 2", "{'a': 1}", "[NaN]", "Infinity"])
def test_what_is_no_json(text):
    assert find_json(text) is NOTHING


def test_hostile_texts_end_soon():
    began = time.perf_counter()
    for text in ("[" * 900_000, "[1," * 300_000, '{"a":' * 200_000, "x" * (LONGEST_VALUE + 1)):
        assert find_json(text) is NOTHING
    assert time.perf_counter() - began < 10


@given(st.integers(-(2**52), 2**52))
def test_whole_numbers(number):
    assert whole_number(number) == number
    assert whole_number(float(number)) == number
    assert whole_number(number + 0.5 if abs(number) < 2**50 else True) is None
    assert whole_number(str(number)) is None
