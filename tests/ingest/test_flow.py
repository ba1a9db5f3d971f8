from hypothesis import given
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder
from ingest.flow import EverybodyElse, FlowTracker


def make(*agents):
    builder = GraphBuilder(kind="run", format="test", uri="x", content="x")
    for name in agents:
        builder.new_agent(name)
    return builder, FlowTracker(builder)


def act(builder, flow, agent, to=(), **options):
    node = builder.add("agent_message", "x", agent=agent, recipients=to)
    flow.act(node, agent, recipients=to, **options)
    return node


def edges(builder):
    return [
        (int(edge.source.rpartition("/")[2]), int(edge.target.rpartition("/")[2]), edge.basis)
        for edge in builder.build().edges
    ]


def test_an_action_consumes_all_that_waits_for_its_agent():
    builder, flow = make("a", "b", "c")
    act(builder, flow, 0, [2])
    act(builder, flow, 1, [2], basis="inferred")
    assert flow.waiting(2) == (0, 1)
    act(builder, flow, 2)
    assert flow.waiting(2) == ()
    assert edges(builder) == [(0, 2, "delivered"), (1, 2, "inferred")]


def test_an_action_continues_its_agents_last_one_when_nothing_waits():
    builder, flow = make("a", "b")
    act(builder, flow, 0)
    act(builder, flow, 1)
    act(builder, flow, 0)
    assert flow.last_action(0) == 2
    assert flow.last_action(1) == 1
    assert edges(builder) == [(0, 2, "continued")]


def test_nobody_gets_its_own_message():
    builder, flow = make("a")
    act(builder, flow, 0, [0])
    act(builder, flow, 0)
    assert edges(builder) == [(0, 1, "continued")]


def test_explicit_sources_settle_what_waits():
    builder, flow = make("a", "b")
    act(builder, flow, 0, [1])
    act(builder, flow, 0, [1])
    act(builder, flow, 1, explicit=[0])
    act(builder, flow, 1)
    assert edges(builder) == [(0, 1, "continued"), (0, 2, "explicit"), (2, 3, "continued")]


def test_no_sources_can_be_explicit_too():
    builder, flow = make("a", "b")
    act(builder, flow, 0, [1])
    act(builder, flow, 1, derive=False)
    assert flow.waiting(1) == ()
    assert flow.last_action(1) == 1
    assert edges(builder) == []


def test_an_action_of_nobody_gets_explicit_edges_only():
    builder, flow = make("a")
    act(builder, flow, 0)
    act(builder, flow, None, [0])
    act(builder, flow, None, explicit=[1])
    act(builder, flow, 0)
    assert edges(builder) == [(1, 2, "explicit"), (1, 3, "delivered")]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 3))), min_size=1, max_size=25)
)
def test_edges_are_those_of_the_rule_read_literally(script):
    builder, flow = make("a", "b", "c", "d")
    for agent, to in script:
        act(builder, flow, agent, sorted(to))
    expected = []
    for target, (agent, _) in enumerate(script):
        own = [place for place in range(target) if script[place][0] == agent]
        since = own[-1] if own else -1
        consumed = [
            place
            for place in range(max(since, 0), target)
            if place != since and script[place][0] != agent and agent in script[place][1]
        ]
        # What came before the agent's own last action was consumed by that one.
        if not own:
            consumed = [
                place
                for place in range(target)
                if script[place][0] != agent and agent in script[place][1]
            ]
        if consumed:
            expected += [(place, target, "delivered") for place in consumed]
        elif own:
            expected.append((own[-1], target, "continued"))
    assert edges(builder) == sorted(expected)


def test_calls_made_at_once_share_their_sources_and_all_inform_what_follows():
    builder, flow = make("a", "b")
    act(builder, flow, 0, [1])
    calls = [builder.add("tool_call", "t", agent=1) for _ in range(2)]
    flow.act_together(calls, 1)
    act(builder, flow, 0, [1])
    act(builder, flow, 1)
    assert edges(builder) == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (0, 3, "continued"),
        (1, 4, "continued"),
        (2, 4, "continued"),
        (3, 4, "delivered"),
    ]


def test_a_later_delivery_waits_like_any_other():
    builder, flow = make("a", "b")
    said = act(builder, flow, 0)
    flow.deliver(said, [1], "inferred")
    assert flow.waiting(1) == (said,)
    act(builder, flow, 1)
    assert edges(builder) == [(0, 1, "inferred")]


def test_in_a_group_chat_everybody_but_the_speaker_is_told():
    others = EverybodyElse([0, 2, 3])
    assert others[2] == others[2] == (0, 3)
    assert others[None] == others[1] == (0, 2, 3)
