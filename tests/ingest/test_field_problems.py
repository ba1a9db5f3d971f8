"""What is wrong with a field: the place, and what may stand there instead."""

from typing import Literal

import msgspec
import pytest

from ingest.field_problems import explain_field
from ingest.readers import native_records


class Wheel(msgspec.Struct, forbid_unknown_fields=True):
    side: Literal["left", "right"]
    size: Literal[26, 28] | None = None


class Bicycle(msgspec.Struct, tag_field="on", tag="road", forbid_unknown_fields=True):
    wheels: list[Wheel] = []
    spare: dict[str, Wheel] = {}
    pair: tuple[Wheel, int] | None = None
    attributes: dict[str, int] = {}


class Boat(msgspec.Struct, tag_field="on", tag="water", forbid_unknown_fields=True):
    parts: tuple["Boat", ...] = ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"on": "road", "wheels": [{"side": "left"}, {"side": "top"}]}',
            "wheels[1].side: invalid value 'top': use one of 'left' or 'right'",
        ),
        (
            '{"on": "road", "wheels": [{"side": "left", "size": 27}]}',
            "wheels[0].size: invalid value 27: use one of 26 or 28",
        ),
        (
            '{"on": "road", "spare": {"a": {"side": ""}}}',
            "spare[...].side: invalid value '': use one of 'left' or 'right'",
        ),
        (
            '{"on": "road", "pair": [{"side": "up"}, 1]}',
            "pair[0].side: invalid value 'up': use one of 'left' or 'right'",
        ),
        ('{"on": "air"}', "on: invalid value 'air': use one of 'road' or 'water'"),
        ('{"on": "road", "wheel": []}', "unknown field 'wheel': did you mean 'wheels'?"),
        ('{"on": "road", "bell": 1}', "unknown field 'bell': put it into 'attributes'"),
        (
            '{"on": "water", "parts": [{"on": "water"}, {"on": "water", "x": 1}]}',
            "unknown field 'x' at parts[1]: put it into 'attributes'",
        ),
        (
            '{"on": "road", "parts": []}',
            "unknown field 'parts': it stands where 'on' is 'water'",
        ),
        (
            '{"on": "road", "wheels": [{"parts": []}]}',
            "unknown field 'parts' at wheels[0]: put it into 'attributes'",
        ),
        ('{"on": "road", "side": 1}', "unknown field 'side': put it into 'attributes'"),
        ('{"on": "road", "wheels": [{}]}', "the field 'side' is missing at wheels[0]"),
        ('{"wheels": []}', "the field 'on' is missing"),
        ('{"on": "road", "wheels": 3}', "wheels: expected 'array', got 'int'"),
        ("3", "expected 'object', got 'int'"),
    ],
)
def test_the_sentence(text, said):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(text, type=Bicycle | Boat)
    assert explain_field(caught.value, Bicycle | Boat) == said


def test_a_record_without_attributes_is_given_no_such_advice():
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode('{"on": "water", "x": 1}', type=Boat)
    assert explain_field(caught.value, Boat) == "unknown field 'x'"


def test_fields_of_the_own_format_are_suggested():
    with pytest.raises(msgspec.ValidationError) as caught:
        native_records.decoder.decode('{"masgraph": 1, "kind": "run", "tsak": "t"}')
    said = explain_field(caught.value, native_records.AnyRecord)
    assert said == "unknown field 'tsak': did you mean 'task'?"


def test_a_field_of_the_other_kind_of_record_is_not_its_own_suggestion():
    with pytest.raises(msgspec.ValidationError) as caught:
        native_records.decoder.decode('{"masgraph": 1, "kind": "decomposition", "actions": []}')
    said = explain_field(caught.value, native_records.AnyRecord)
    assert said == "unknown field 'actions': it stands where 'kind' is 'run'"
