"""Records as bytes: an array is taken apart at once where nothing is wrong with it."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import InputError
from ingest import json_text
from ingest.readers.json_values import values
from ingest.readers.raw_records import raw_records
from tests.ingest.memory_file import MemoryFile

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('aé😀\\"\ud800\n', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)


def found_in(data: bytes) -> list[tuple[str, bytes, bool]] | str:
    try:
        return [(raw.place, raw.data, raw.repaired) for raw in raw_records(MemoryFile(data))]
    except InputError as error:
        return error.reason


def checked_first(data: bytes) -> list[tuple[str, bytes, bool]] | str:
    """The rule: the document is looked at as a whole, then its items are taken."""
    try:
        whole, used = json_text.decode(data, msgspec.json.Decoder(msgspec.Raw))
    except InputError as error:
        return error.reason
    items = msgspec.json.decode(bytes(whole), type=list[msgspec.Raw])
    repaired = used is not data
    return [(f"record {place}", bytes(item), repaired) for place, item in enumerate(items, 1)]


@given(st.lists(VALUES, max_size=4), st.booleans(), st.integers(0, 60), st.binary(max_size=2))
def test_an_array_is_taken_apart_as_if_it_were_checked_first(items, indented, place, noise):
    data = json.dumps(items, indent=1 if indented else None).encode()
    damaged = data[:place] + noise + data[place:]
    assert found_in(data) == checked_first(data)
    if damaged.lstrip().startswith(b"["):
        assert found_in(damaged) == checked_first(damaged)


@given(VALUES)
def test_an_indented_document_has_the_values_of_one_in_a_line(value):
    def values_of(indent: int | None) -> list[object]:
        data = json.dumps(value, indent=indent).encode()
        return [repr(found) for found in values(MemoryFile(data))]

    assert values_of(2) == values_of(None)


@pytest.mark.parametrize("content", [b"[\n1,\n", b"{\n", b"[\n]\n]", b"[\n\xff\n]"])
def test_a_damaged_document_is_refused_with_a_reason(content):
    with pytest.raises(InputError):
        list(values(MemoryFile(content)))
    with pytest.raises(InputError):
        list(raw_records(MemoryFile(content)))
