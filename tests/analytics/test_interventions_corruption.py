"""What wrong contents can reach, and what became of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.interventions import Team
from analytics.interventions_corruption import (
    Injection,
    eligible_actions,
    expose_run,
    expose_team,
    recorded_injections,
    states,
    trace_injection,
)
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.model import Outcome


def chain(contents, answer=None, records=None, names="abcd"):
    """a -> b -> c: each consumes what the one before wrote."""
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    builder.set_task("t")
    for place, content in enumerate(contents):
        agent = builder.new_agent(names[place])
        node = builder.add(
            "agent_message",
            names[place],
            agent=agent,
            content=content,
            attributes={"outgoing": [f"m{place}"]},
        )
        if place:
            builder.edge(node - 1, node, "explicit")
    builder.outcome = Outcome(answer=answer)
    if records is not None:
        builder.attributes = {"intervention": {"injected_records": records}}
    return builder.build()


INJECTED = [{"message": "m0", "injected": "12", "original": "9"}]


@pytest.mark.parametrize(
    ("contents", "answer", "fate", "stating", "correcting"),
    [
        (["12 units", "so 12", "it is 12"], "12", "adopted", ("b", "c"), ()),
        (["12 units", "so 12", "no, it is 9"], "9", "corrected", ("b",), ("c",)),
        (["12 units", "so 12", "hm"], "none", "corrected", ("b",), ()),
        (["12 units", "well", "hm"], "5", "ignored", (), ()),
        (["12 units", "well", "hm"], "9", "corrected", (), ()),
        (["12 units", "well", "hm"], "not 12 but 9", "unclear", (), ()),
        (["12 units", None, "hm"], "5", "unclear", (), ()),
        (["12 units", "well", None], None, "unclear", (), ()),
        (["12 units"], "12", "not reached", (), ()),
        # 120 and 9.5 are other numbers.
        (["12 units", "120 and 9.5", "hm"], "4", "ignored", (), ()),
    ],
)
def test_fates(contents, answer, fate, stating, correcting):
    graph = chain(contents, answer, INJECTED)
    (injection,) = recorded_injections(graph)
    found = trace_injection(graph, injection)
    assert (found.fate, found.stating, found.correcting) == (fate, stating, correcting)
    assert found.reached == ("b", "c")[: len(contents) - 1]


def test_without_an_answer_the_last_action_is_it():
    graph = chain(["12 units", "so 12", "it is 12"], None, INJECTED)
    assert trace_injection(graph, recorded_injections(graph)[0]).fate == "adopted"


def test_what_is_recorded_of_injections():
    graph = chain(
        ["x", "y", "z"],
        "z",
        [
            "m1",
            {"action": 0, "injected": 7},
            {"id": "lost", "injected": "q", "fate": "ignored"},
            {"item": "m2", "fate": "eaten"},
        ],
    )
    first, second, third, fourth = recorded_injections(graph)
    assert (first.item, first.node, first.injected) == ("m1", graph.nodes[1].id, None)
    assert (second.node, second.injected) == (graph.nodes[0].id, "7")
    assert (third.node, third.recorded) == (None, "ignored")
    assert fourth.recorded is None
    # Without the candidate nobody can tell whether it was adopted.
    assert trace_injection(graph, first).fate == "unclear"
    assert trace_injection(graph, third).fate == "ignored"
    assert trace_injection(graph, fourth).fate == "not reached"
    assert recorded_injections(chain(["x"])) == ()
    assert trace_injection(graph, Injection("gone", None)).fate == "unclear"


@pytest.mark.parametrize(
    ("text", "candidate", "stated"),
    [
        ("It is 12.", "12", True),
        ("It is 12.5", "12", False),
        ("1,012", "12", False),
        ("-12", "12", False),
        ("x = -12", "12", False),
        ("20-12", "12", True),
        ("PARIS is it", "paris", True),
        ("comparison", "paris", False),
        ("so (b)", "(B)", True),
        (None, "b", False),
        ("b", None, False),
        ("b", "  ", False),
    ],
)
def test_a_candidate_stands_as_a_word_of_its_own(text, candidate, stated):
    assert states(text, candidate) is stated


def test_a_run_is_exposed_along_its_edges():
    graph = chain(["w", "x", "y", "z"])
    assert eligible_actions(graph) == (0, 1, 2)
    for rate, selected in ((0.0, 0), (0.3, 1), (0.5, 2), (1.0, 3)):
        found = expose_run(graph, rate, 1)
        assert len(found.selected) == selected
        first = min(found.selected, default=4)
        assert found.reached == len({0, 1, 2, 3} - set(range(first + 1)) - set(found.selected))
        assert found.output_reached is (selected > 0)
    with pytest.raises(UsageError, match="between 0 and 1"):
        expose_run(graph, -0.1)


def test_a_unit_that_gives_the_output_or_sends_nothing_is_not_replaced():
    names = ("a", "b", "c", "d")
    team = Team(names, names, ("solver",) * 4, ((0, 1), (1, 2), (2, 1)), (2,), "named")
    found = expose_team(team, 1.0)
    assert found.selected == (0, 1)
    assert (found.eligible, found.achieved) == (2, 1.0)
    assert (found.reached, found.others, found.share_reached) == (1, 2, 0.5)
    assert found.output_reached is True
    unknown = Team(names, names, ("solver",) * 4, ((0, 1),))
    assert expose_team(unknown, 1.0).output_reached is None
    none = Team(names, names, ("solver",) * 4, ())
    assert expose_team(none, 1.0).achieved is None


@given(st.integers(0, 50), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_holds_a_smaller_one(seed, one, other):
    names = tuple(str(place) for place in range(11))
    links = tuple((place, (place + 1) % 11) for place in range(11))
    team = Team(names, names, ("solver",) * 11, links)
    small, large = sorted((one, other))
    first, second = expose_team(team, small, seed), expose_team(team, large, seed)
    assert set(first.selected) <= set(second.selected)
