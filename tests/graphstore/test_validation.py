"""Graphs that the builder lets through keep every rule; the quick looks agree with the slow."""

import math
from itertools import chain

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore import validation
from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import GraphError
from graphstore.model import Artifact, Method, Outcome, Task
from graphstore.validation import validate
from tests import strategies

HALF = "\ud800"


def slow_problems(value):
    """Whether a store could not give a value back: a walk through all of it."""
    if isinstance(value, str):
        return any(0xD800 <= ord(letter) < 0xE000 for letter in value)
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(slow_problems, chain(value.keys(), value.values())))
    if isinstance(value, list | tuple):
        return any(map(slow_problems, value))
    return True


wild_texts = st.one_of(
    strategies.texts, st.sampled_from([HALF, f"a{HALF}", "\udc00b"]), st.text(max_size=5)
)
wild_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from([2**63, -(2**63) - 1, 10**400, 2**63 - 1, -(2**63), 0]),
        st.integers(),
        st.floats(),
        wild_texts,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(wild_texts, inner, max_size=3)
    ),
    max_leaves=4,
)
wild_attributes = st.dictionaries(wild_texts, wild_values, max_size=3)


def run_builder(**fields):
    return GraphBuilder(kind="run", format="test", uri="file", content="x", **fields)


@given(
    graph=strategies.graphs(max_nodes=3),
    attributes=wild_attributes,
    score=st.none() | st.floats(),
    number=st.none() | st.integers(-(2**65), 2**65),
    text=wild_texts,
)
def test_the_quick_look_at_values_agrees_with_the_slow_walk(
    graph, attributes, score, number, text
):
    replace = msgspec.structs.replace
    outcome = replace(graph.outcome, score=score, tokens_in=number, answer=text)
    graphs = [
        replace(graph, attributes=attributes),
        replace(graph, outcome=outcome),
        replace(graph, source=replace(graph.source, warnings=(text,))),
    ]
    if graph.nodes:
        node = replace(graph.nodes[0], attributes=attributes, started_at=number, content=text)
        graphs.append(replace(graph, nodes=(node, *graph.nodes[1:])))
    if graph.agents:
        agent = replace(graph.agents[0], attributes=attributes)
        graphs.append(replace(graph, agents=(agent, *graph.agents[1:])))
    for changed in graphs:
        wrong = slow_problems(msgspec.to_builtins(changed))
        assert bool(list(validation._value_problems(changed))) == wrong
        assert validation._plainly_storable(changed) == (not wrong)


@given(graph=strategies.graphs())
def test_what_the_builder_makes_passes_the_slow_validation(graph):
    validate(graph)


@given(data=st.data(), attributes=wild_attributes, text=wild_texts)
def test_the_builder_lets_nothing_through_that_the_validation_refuses(data, attributes, text):
    draw = data.draw
    builder = run_builder()
    kinds = st.sampled_from(["agent_message", "tool_call", "decision", "subtask", "other"])
    maybe = strategies.maybe
    for _ in range(2):
        builder.new_agent("a", role=draw(st.sampled_from(["solver", "boss"])))
    resource = builder.resource("r")
    size = draw(st.integers(1, 4))
    places = st.integers(-1, size - 1)
    for _ in range(size):
        builder.add(
            draw(kinds),
            draw(st.sampled_from(["name", text])),
            agent=draw(maybe(st.integers(-1, 1))),
            role=draw(maybe(st.sampled_from(["critic", "king"]))),
            recipients=draw(st.lists(st.integers(-1, 1), max_size=2)),
            delivery=draw(st.sampled_from(["explicit", "shouted"])),
            content=draw(maybe(st.sampled_from(["said", text]))),
            content_hash=draw(st.sampled_from([None, "0" * 32, text])),
            inputs=draw(st.lists(st.sampled_from([Artifact("f"), Artifact("f", text)]))),
            accesses=draw(
                st.lists(st.tuples(st.sampled_from([resource, -1]), st.sampled_from("rw")))
                | st.just([(resource, "read")])
            ),
            parent=draw(maybe(places)),
            round=draw(maybe(st.integers(-1, 2))),
            started_at=draw(maybe(st.sampled_from([0, 2**63, -(2**63), math.nan, 1.5]))),
            tokens_in=draw(maybe(st.sampled_from([0, -1, 2**63 - 1, 2**63]))),
            status=draw(st.sampled_from([None, "ok", "fine"])),
            attributes=draw(st.sampled_from([{}, attributes])),
        )
    for source, target in draw(st.lists(st.tuples(places, places), max_size=3)):
        builder.edge(source, target, draw(st.sampled_from(["explicit", "because"])))
    if draw(st.booleans()):
        builder.couple(0, draw(places), resources=[resource])
    if draw(st.booleans()):
        builder.propose("u", draw(st.sampled_from(["final", "last"])), score=draw(st.floats()))
    try:
        graph = builder.build()
    except GraphError:
        return
    validate(graph)


def node(**fields):
    def make(builder):
        builder.add("agent_message", "a", **fields)

    return make


def field(name, value):
    return lambda builder: setattr(builder, name, value)


def two_nodes(action):
    def make(builder):
        builder.add("agent_message", "a")
        builder.add("agent_message", "b")
        action(builder)

    return make


WRONG = {
    "kind": lambda builder: builder.add("subtask", "a"),
    "role": node(role="king"),
    "status": node(status="fine"),
    "delivery": lambda builder: builder.add(
        "agent_message", "a", recipients=[builder.agent("b")], delivery="shouted"
    ),
    "tokens": node(tokens_in=-1),
    "round": node(round=-1),
    "time": node(started_at=2**63),
    "time that is no number": node(ended_at=math.nan),
    "parent of itself": node(parent=0),
    "parents in a circle": two_nodes(
        lambda builder: (
            builder.add("agent_message", "c", parent=3),
            builder.add("agent_message", "d", parent=2),
        )
    ),
    "edge to itself": two_nodes(lambda builder: builder.edge(1, 1, "explicit")),
    "edge backwards": two_nodes(lambda builder: builder.edge(1, 0, "explicit")),
    "basis": two_nodes(lambda builder: builder.edge(0, 1, "because")),
    "coupling": two_nodes(lambda builder: builder.couple(1, 1)),
    "coupling's basis": two_nodes(lambda builder: builder.couple(0, 1, basis="delivered")),
    "access": lambda builder: builder.add(
        "agent_message", "a", accesses=[(builder.resource("r"), "lick")]
    ),
    "phase": lambda builder: builder.propose("u", "last"),
    "proposal's score": lambda builder: builder.propose("u", "final", score=math.inf),
    "proposal's value": lambda builder: builder.propose("u", "final", value=HALF),
    "agent's role": lambda builder: builder.new_agent("a", role="king"),
    "agent's kind": lambda builder: builder.new_agent("a", kind="ghost"),
    "agent's name": lambda builder: builder.new_agent(HALF),
    "agent's attributes": lambda builder: builder.new_agent("a", attributes={"x": math.nan}),
    "name": lambda builder: builder.add("agent_message", HALF),
    "content": node(content=HALF),
    "hash": node(content_hash=HALF),
    "artifact": node(inputs=[Artifact(HALF)]),
    "artifact's type": node(outputs=[Artifact("a", HALF)]),
    "key": node(attributes={HALF: 1}),
    "attribute": node(attributes={"a": {"b": [HALF]}}),
    "number in a list": node(attributes={"a": [1, 2**63]}),
    "no number": node(attributes={"a": math.nan}),
    "attribute of the graph": field("attributes", {"a": [{"b": HALF}]}),
    "warning": lambda builder: builder.warn(HALF),
    "record": field("record", HALF),
    "outcome": field("outcome", Outcome(answer=HALF)),
    "latency": field("outcome", Outcome(latency=math.nan)),
    "task": field("task", Task(id="task-1", name="t", category=HALF)),
    "method": field("method", Method(id="method-1", name="m", framework=HALF)),
    "organization": field("organization", make_organization("o", [("u", "king", {})], [])),
    "unit": field("organization", make_organization("o", [("u", "solver", {"a": 2**70})], [])),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_draft_that_breaks_a_rule_is_refused(what):
    builder = run_builder()
    WRONG[what](builder)
    with pytest.raises(GraphError):
        builder.build()
