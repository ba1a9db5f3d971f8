import msgspec
import pytest

from graphstore.errors import InputError
from ingest import json_text

ANY = msgspec.json.Decoder()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b'{"a": 1', "the JSON breaks off at line 1, column 8"),
        (b'{"a":\n  1,\n  "b": [', "the JSON breaks off at line 3, column 9"),
        (b'{"a":\n  1,,}', "the JSON is malformed at line 2, column 5: unexpected ',}'"),
        ('{"ä": x}'.encode(), "the JSON is malformed at line 1, column 7: unexpected 'x}'"),
        (
            b'{"a": NaN}',
            "JSON has no NaN (at line 1, column 7): write null for a missing value",
        ),
        (
            b"[Infinity]",
            "JSON has no Infinity (at line 1, column 2): write null for a missing value",
        ),
        (b'["\xff"]', "the text is not UTF-8: byte 0xff at line 1, column 3"),
        (b"[" * 200_000, "the JSON is nested too deeply"),
    ],
)
def test_the_reason_names_the_place(data, reason):
    with pytest.raises(InputError) as caught:
        json_text.decode(data, ANY)
    assert caught.value.reason == reason


def test_lines_count_on_from_the_first():
    with pytest.raises(InputError, match="line 41, column 2"):
        json_text.decode(b"[", ANY, first_line=41)


def test_halves_of_pairs_are_repaired_and_nothing_else():
    data = rb'["\ud800", "\udc00x", "\ud83d\ude00", "\\ud800", "\ud800\ud83d\ude00", "\u00e4"]'
    value, repaired = json_text.decode(data, ANY)
    assert value == ["\ufffd", "\ufffdx", "\U0001f600", r"\ud800", "\ufffd\U0001f600", "ä"]
    assert repaired is not data
    assert json_text.repair_surrogates(rb'["\ud83d\ude00\\ud800"]') is None
    fine = b'["x"]'
    assert json_text.decode(fine, ANY)[1] is fine


def test_a_wrong_type_is_left_to_the_caller():
    with pytest.raises(msgspec.ValidationError):
        json_text.decode(b'"x"', msgspec.json.Decoder(int))
    with pytest.raises(msgspec.ValidationError):
        json_text.decode(rb'"\ud800"', msgspec.json.Decoder(int))
