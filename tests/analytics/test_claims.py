import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.claims import claim_signals
from graphstore.builder import GraphBuilder


def make_run(*actions, agents="abc"):
    """A run of (agent, attributes) actions."""
    builder = GraphBuilder(kind="run", format="test", uri="test", content="c", name="r")
    builder.set_task("t", dataset="small")
    builder.set_method("claims")
    for agent in agents:
        builder.new_agent(agent)
    for agent, attributes in actions:
        builder.add(
            "agent_message",
            "x",
            agent=None if agent is None else agents.index(agent),
            attributes=attributes,
        )
    return builder.build()


def named(graph):
    """Ids of agents in their order, as their names."""
    return {agent.id: agent.name for agent in graph.agents}


THREE = (
    ("a", {"claims": [{"id": "a1", "text": "x is 2"}, {"id": "a2", "text": "y is 3"}]}),
    ("b", {"claims": ["z is 4"]}),
    ("c", {"claims": [{"id": 7, "text": "w is 5"}]}),
)


def test_top_claims_by_hand():
    graph = make_run(
        *THREE,
        ("a", {"endorses": ["1.0"], "challenges": ["7"]}),
        ("b", {"endorses": ["a1", {"claim": "a2", "reason": "checked"}], "challenges": [7]}),
        ("c", {"endorses": ["a1", "1.0"], "challenges": ["a2"]}),
    )
    found = claim_signals(graph)
    assert (found.task, found.method, found.notes) == ("t", "claims", ())
    (unit,) = found.units
    assert [claim.id for claim in unit.claims] == ["a1", "a2", "1.0", "7"]
    assert [claim.text for claim in unit.claims] == ["x is 2", "y is 3", "z is 4", "w is 5"]
    names = named(graph)
    assert [[names[one] for one in claim.endorsed_by] for claim in unit.claims] == [
        ["b", "c"],
        ["b"],
        ["a", "c"],
        [],
    ]
    # Two tie at the top, and both stay.
    assert unit.top_endorsed == ("a1", "1.0")
    assert unit.top_challenged == ("7",)
    assert (unit.endorsements, unit.challenges) == (5, 3)


def test_the_last_word_counts_once():
    graph = make_run(
        *THREE,
        ("b", {"endorses": ["a1", "a1"]}),
        ("b", {"endorses": ["a1"]}),
        ("c", {"endorses": ["a1"]}),
        ("c", {"challenges": ["a1"]}),
    )
    claim = claim_signals(graph).units[0].claims[0]
    names = named(graph)
    assert [names[one] for one in claim.endorsed_by] == ["b"]
    assert [names[one] for one in claim.challenged_by] == ["c"]


def test_without_stances_nothing_is_at_the_top():
    (unit,) = claim_signals(make_run(*THREE)).units
    assert (unit.top_endorsed, unit.top_challenged) == ((), ())


def test_a_run_without_claims_has_no_units():
    found = claim_signals(make_run(("a", {"endorsement": ["x"]}), ("b", {})))
    assert (found.units, found.notes) == ((), ())


def test_units_are_kept_apart():
    graph = make_run(
        ("a", {"claims": [{"text": "one", "unit": "u"}, {"text": "two", "unit": "v"}]}),
        ("b", {"endorses": ["0.1"]}),
    )
    first, second = claim_signals(graph).units
    assert (first.unit, first.top_endorsed) == ("u", ())
    assert (second.unit, second.top_endorsed) == ("v", ("0.1",))


def test_an_action_without_an_agent_is_a_voice_of_its_own():
    graph = make_run(*THREE, (None, {"endorses": ["a1"]}), (None, {"endorses": ["a1"]}))
    claim = claim_signals(graph).units[0].claims[0]
    assert claim.endorsed_by == (f"{graph.id}/3", f"{graph.id}/4")


def test_what_is_left_out_is_told():
    graph = make_run(
        *THREE,
        ("a", {"claims": [3, {"text": 5}, {"id": "a1", "text": "again"}, {"unit": "u"}]}),
        ("b", {"claims": "x is 2", "endorses": ["nobody's"], "challenges": [["a1"]]}),
        ("a", {"endorses": ["a1"]}),
        ("c", {"endorses": ["a2"], "challenges": ["a2"]}),
    )
    found = claim_signals(graph)
    assert len(found.units[0].claims) == 4
    assert not found.units[0].endorsements
    assert set(found.notes) == {
        "Left out: 3 entries of 'claims' that are no text and no id with a text.",
        "Left out: 1 claims with the id of another claim.",
        "Left out: 1 values of 'claims' that are no list.",
        "Left out: 1 stances on a claim that nobody made.",
        "Left out: 1 entries of 'challenges' that name no claim.",
        "Left out: 1 stances on the agent's own claim.",
        "Left out: 2 stances that endorse and challenge one claim at once.",
    }


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz"), st.booleans()), max_size=30
    )
)
def test_counts_against_a_plain_tally(stances):
    authors = dict(zip("wxyz", "abca", strict=True))
    graph = make_run(
        *(
            (author, {"claims": [{"id": name, "text": name}]})
            for name, author in authors.items()
        ),
        *((who, {"endorses" if yes else "challenges": [what]}) for who, what, yes in stances),
        agents="abcd",
    )
    (unit,) = claim_signals(graph).units
    last = {(who, what): yes for who, what, yes in stances if authors[what] != who}
    for wanted, top in ((True, unit.top_endorsed), (False, unit.top_challenged)):
        tally = dict.fromkeys("wxyz", 0)
        for (_, what), yes in last.items():
            tally[what] += yes is wanted
        most = max(tally.values())
        assert top == tuple(name for name in "wxyz" if most and tally[name] == most)


@pytest.mark.parametrize("value", [None, 3, "a1", {"a1": 1}, [None], [{"claim": None}], [[]]])
def test_any_attribute_is_survived(value):
    for name in ("claims", "endorses", "challenges"):
        found = claim_signals(make_run(*THREE, ("b", {name: value})))
        assert found.notes
