"""Wrong contents keep their form."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.interventions_replacement import plan_replacements, wrong_value
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError


@given(st.integers(-(10**400), 10**400) | st.integers(-100, 100), st.integers(0, 30))
def test_a_whole_number_becomes_another(value, seed):
    wrong = wrong_value(str(value), seed)
    assert int(wrong) != value
    assert wrong_value(str(value), seed) == wrong


@given(st.decimals(-1000, 1000, places=2), st.integers(0, 30))
def test_decimals_keep_their_places(value, seed):
    wrong = wrong_value(str(value), seed)
    assert Decimal(wrong) != value
    assert len(wrong.partition(".")[2]) == 2


@pytest.mark.parametrize(
    ("value", "wrong"),
    [("yes", "no"), ("No", "Yes"), ("TRUE", "FALSE"), ("false", "true"), ("a map", None)],
)
def test_words(value, wrong):
    assert wrong_value(value) == wrong


@pytest.mark.parametrize("value", ["B", "(b)", "C.", "A)", "E"])
def test_options_keep_their_shape(value):
    for seed in range(10):
        wrong = wrong_value(value, seed)
        assert wrong != value
        assert len(wrong) == len(value)
        assert [one.isupper() for one in wrong] == [one.isupper() for one in value]


def test_json_keeps_its_fields():
    value = '{"units": 5, "fair": true, "note": "kept", "parts": [1.5, {"n": -2}], "x": null}'
    wrong = json.loads(wrong_value(value, 3))
    right = json.loads(value)
    assert wrong.keys() == right.keys()
    assert wrong["fair"] is False
    assert (wrong["note"], wrong["x"]) == ("kept", None)
    assert wrong["units"] != 5
    assert isinstance(wrong["units"], int)
    assert wrong["parts"][0] != 1.5
    assert wrong["parts"][1]["n"] != -2
    assert wrong_value('{"note": "kept"}') is None
    assert wrong_value("{broken") is None


def chain(contents, proposals=()):
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    builder.set_task("t")
    for place, content in enumerate(contents):
        agent = builder.new_agent(f"a{place}")
        builder.add("agent_message", f"a{place}", agent=agent, content=content)
        if place:
            builder.edge(place - 1, place, "explicit")
    for place, value in proposals:
        builder.propose("t", "initial", agent=place, node=place, value=value)
    return builder.build()


def test_a_plan_counted_by_hand():
    graph = chain(
        ["12 euros", "in 2019 it was Paris, 30 times", None, "no numbers", "none here", "end"],
        [(1, "Paris")],
    )
    whole = plan_replacements(graph, 1.0, 5)
    # The last one is the answer; the third has no content.
    assert (whole.eligible, whole.impossible, whole.achieved) == (4, 1, 1.0)
    first, second, third, fourth = whole.replacements
    assert (first.original, first.agent) == ("12", "a0")
    assert first.content == f"{first.injected} euros"
    assert first.injected != "12"
    # Paris has no form that a wrong city could be made of: the last number is changed.
    assert second.original == "30"
    assert second.content == f"in 2019 it was Paris, {second.injected} times"
    assert third.content in {"12 euros", "in 2019 it was Paris, 30 times", "none here"}
    assert fourth.content != "none here"
    assert whole == plan_replacements(graph, 1.0, 5)
    half = plan_replacements(graph, 0.5, 5)
    assert len(half.replacements) == 2
    assert set(half.replacements) <= set(whole.replacements)
    with pytest.raises(UsageError, match="between 0 and 1"):
        plan_replacements(graph, 2.0)


def test_a_proposed_answer_is_replaced_in_its_text():
    graph = chain(["of 7 maps I choose 4", "so be it"], [(0, "7")])
    (one,) = plan_replacements(graph, 1.0).replacements
    assert one.original == "7"
    assert one.content == f"of {one.injected} maps I choose 4"


def test_nothing_to_put_in_place():
    plan = plan_replacements(chain(["only this", "end"]), 1.0)
    assert (plan.eligible, plan.impossible, plan.achieved) == (0, 1, None)
    assert plan_replacements(chain(["alone"]), 1.0).eligible == 0
