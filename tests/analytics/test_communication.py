import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.communication import (
    CommunicationConfiguration,
    RoundScore,
    TokenCount,
    measure_communication,
    score_per_thousand_tokens,
    scores_by_round,
    transmitted_messages,
)
from analytics.contributions import normalized_contribution_entropy
from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import UsageError
from graphstore.model import Outcome
from tests import strategies
from tests.analytics.published import OPENMAS_TABLE_2


def start(name="r", task="t", method="debate", contributions=(3.0, 1.0, 0.0), attributes=None):
    builder = GraphBuilder(kind="run", format="test", uri="test", content=name, name=name)
    builder.set_task(task, dataset="small")
    builder.set_method(method)
    for agent, amount in zip("abc", contributions, strict=True):
        builder.new_agent(agent, attributes={} if amount is None else {"contribution": amount})
    builder.new_agent("search", kind="tool", role="tool")
    builder.new_agent("user", kind="human", role="human")
    builder.attributes.update(attributes or {})
    return builder


def talk(builder):
    def say(agent, to, tokens, content, *, kind="agent_message", number=None):
        return builder.add(
            kind,
            "x",
            agent=agent,
            recipients=to,
            tokens_out=tokens,
            content=content,
            round=number,
        )

    say(4, [0, 1, 2], 50, "please")  # a prompt
    say(0, [1, 2], 10, "hello", number=0)  # sent, counted once
    say(1, [], 20, "hm", number=0)  # thought aloud, never sent
    say(1, [0], 30, "hi", number=1, kind="decision")  # sent
    say(2, [3], 5, "look it up", kind="tool_call", number=1)  # a private action
    say(2, [4], 40, "done", number=1)  # to the human
    say(2, [2], 7, "note", number=1)  # to itself
    return builder


def test_sent_and_all_tokens_worked_out_by_hand():
    builder = talk(start())
    builder.outcome = Outcome(score=0.5)
    found = measure_communication(builder.build())
    assert found.transmitted == TokenCount(40, 2, 2)
    assert found.message_phase == TokenCount(107, 5, 5)
    assert found.score_per_thousand == 12.5
    assert found.score_per_thousand_phase == pytest.approx(500 / 107)
    assert found.agents == 3
    # 3/4 and 1/4 of three agents.
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(3)
    assert found.contribution_entropy == pytest.approx(entropy)
    assert [(one.round, one.messages, one.tokens, one.characters) for one in found.lengths] == [
        (0, 1, (10,), (5,)),
        (1, 1, (30,), (2,)),
    ]
    assert found.missing == ("No scored proposal names an action with a round.",)


def test_who_talks_can_be_chosen():
    graph = talk(start()).build()
    options = CommunicationConfiguration(agent_kinds=("agent", "human"))
    found = measure_communication(graph, options)
    assert found.transmitted == TokenCount(130, 4, 4)
    with_tools = CommunicationConfiguration(
        agent_kinds=("agent", "tool"), message_kinds=("agent_message", "decision", "tool_call")
    )
    assert measure_communication(graph, with_tools).transmitted == TokenCount(45, 3, 3)


def test_what_another_agent_consumed_was_transmitted():
    builder = start()
    builder.add("agent_message", "x", agent=0, tokens_out=3)
    builder.add("agent_message", "x", agent=0, tokens_out=4)
    builder.add("agent_message", "x", agent=1, tokens_out=5)
    builder.edge(0, 1, "continued")
    builder.edge(1, 2, "explicit")
    found = transmitted_messages(builder.build())
    assert [node.index for node in found] == [1]


def test_a_trace_that_does_not_say_who_got_what():
    builder = start()
    builder.add("agent_message", "x", agent=0, tokens_out=3)
    alone = measure_communication(builder.build())
    assert alone.transmitted == TokenCount(0, 0, 0)
    assert alone.transmitted.total == 0
    # No token was sent: a score for each 1,000 is not defined.
    builder.outcome = Outcome(score=1.0)
    assert measure_communication(builder.build()).score_per_thousand is None
    builder.add("agent_message", "x", agent=1, tokens_out=3)
    found = measure_communication(builder.build())
    assert found.transmitted is None
    assert found.score_per_thousand is None
    assert "The trace does not say who got what." in found.missing


def test_a_missing_token_count_is_no_zero():
    builder = start()
    builder.add("agent_message", "x", agent=0, recipients=[1], tokens_out=3)
    builder.add("agent_message", "x", agent=1, recipients=[0])
    builder.outcome = Outcome(score=1.0)
    found = measure_communication(builder.build())
    assert (found.transmitted.known, found.transmitted.total) == (3, None)
    assert (found.score_per_thousand, found.score_per_thousand_phase) == (None, None)
    assert "1 of 2 messages have no token count." in found.missing
    assert "2 of 2 messages have no round." in found.missing


@pytest.mark.parametrize(
    ("score", "thousands", "ratio"), OPENMAS_TABLE_2.values(), ids=OPENMAS_TABLE_2
)
def test_the_ratios_of_openmas_gcom_table_2(score, thousands, ratio):
    assert round(score_per_thousand_tokens(score, 1000 * thousands), 2) == ratio


def test_scores_without_tokens_have_no_ratio():
    assert score_per_thousand_tokens(1.0, 0) is None
    assert score_per_thousand_tokens(None, 5) is None
    assert score_per_thousand_tokens(1.0, None) is None
    assert score_per_thousand_tokens(0.0, 5) == 0.0
    with pytest.raises(UsageError, match="negative"):
        score_per_thousand_tokens(1.0, -1)


@pytest.mark.parametrize(
    ("contributions", "entropy"),
    [
        ([5.0, 0.0, 0.0], 0.0),
        ([5.0], 0.0),
        ([0.0, 0.0], None),
        ([], None),
        ([2.0, 2.0, 2.0], 1.0),
        ([1.0, 1.0, 0.0, 0.0], 0.5),
        ([1e308, 1e308], 1.0),
    ],
)
def test_contribution_entropy(contributions, entropy):
    found = normalized_contribution_entropy(contributions)
    assert found == (None if entropy is None else pytest.approx(entropy))


@given(st.lists(st.integers(0, 20).map(float), min_size=2, max_size=6), st.integers(2, 5))
def test_entropy_has_its_range_and_scale(contributions, factor):
    found = normalized_contribution_entropy(contributions)
    if not any(contributions):
        assert found is None
        return
    assert 0.0 <= found <= 1.0
    assert found == pytest.approx(
        normalized_contribution_entropy([factor * one for one in contributions[::-1]])
    )
    if sum(one > 0 for one in contributions) > 1:
        assert normalized_contribution_entropy([*contributions, 0.0]) < found


def test_contributions_that_make_no_sense():
    for wrong in ([-1.0, 2.0], [math.inf, 1.0], [math.nan]):
        with pytest.raises(UsageError):
            normalized_contribution_entropy(wrong)
    found = measure_communication(start(contributions=(-1.0, 2.0, 0.0)).build())
    assert found.contribution_entropy is None
    assert any("negative" in sentence for sentence in found.missing)


def test_contributions_that_are_not_recorded_are_not_guessed():
    builder = talk(start(contributions=(3.0, None, 0.0)))
    graph = builder.build()
    found = measure_communication(graph)
    assert found.contribution_entropy is None
    assert "The contribution of 1 of 3 agents is not known." in found.missing

    def stand_in(name):
        return measure_communication(
            graph, CommunicationConfiguration(contribution=name)
        ).contribution_entropy

    # a and b sent one message each, c none.
    assert stand_in("messages") == pytest.approx(math.log(2) / math.log(3))
    assert stand_in("actions") == pytest.approx(normalized_contribution_entropy([1, 2, 3]))
    assert stand_in("tokens") == pytest.approx(normalized_contribution_entropy([10, 50, 52]))
    nobody = measure_communication(start(contributions=(0, 0, 0)).build())
    assert nobody.contribution_entropy is None
    assert any("Nobody contributed" in sentence for sentence in nobody.missing)


def test_scores_round_by_round():
    builder = start()
    for number in (0, 0, 1, 3, None):
        builder.add("agent_message", "x", agent=0, round=number)
    builder.propose("u", "initial", agent=0, node=0, score=0.2)
    builder.propose("u", "initial", agent=1, node=1, score=0.4)
    builder.propose("u", "final", agent=0, node=2, score=0.8)
    builder.propose("u", "final", agent=1, node=2)
    builder.propose("u", "answer", node=3, score=0.9)
    builder.propose("u", "final", agent=2, node=4, score=1.0)
    builder.propose("u", "final", agent=2, score=1.0)
    assert scores_by_round(builder.build()) == (
        RoundScore(0, 2, pytest.approx(0.3), 0.4, pytest.approx(0.3), None),
        RoundScore(1, 1, 0.8, 0.8, pytest.approx(0.6), None),
        RoundScore(3, 0, None, None, pytest.approx(0.6), 0.9),
    )
    assert scores_by_round(start().build()) == ()


def test_factors_come_from_the_run_or_from_its_policy():
    builder = start(attributes={"memory": True, "protocol": None, "routing": ["a"]})
    builder.organization = make_organization(
        "o",
        [("a", "solver", {})],
        [],
        policy={"memory": "no", "routing": "gate", "protocol": 2},
    )
    found = measure_communication(builder.build())
    assert found.factors == (("memory", "on"), ("protocol", "2"), ("routing", "gate"))


def test_only_runs_talk():
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="c")
    builder.set_task("t")
    builder.add("subtask", "s")
    with pytest.raises(UsageError, match="nobody has acted yet"):
        measure_communication(builder.build())


@pytest.mark.parametrize(
    "changes",
    [
        {"agent_kinds": ("robot",)},
        {"agent_kinds": ()},
        {"message_kinds": ("subtask",)},
        {"contribution": "luck"},
    ],
)
def test_options_that_make_no_sense(changes):
    with pytest.raises(UsageError):
        CommunicationConfiguration(**changes)


@given(strategies.graphs(kind="run"))
def test_any_run_can_be_measured(graph):
    found = measure_communication(graph)
    if found.transmitted is not None:
        assert found.transmitted.actions <= found.message_phase.actions
        assert found.transmitted.known <= found.message_phase.known
        assert sum(one.messages for one in found.lengths) <= found.transmitted.actions
