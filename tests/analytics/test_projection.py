import random

import networkx
import pytest

from analytics.flow_metrics import flow_metrics
from analytics.projection import RouteUse, SimpleDigraph, permitted, project, route_use
from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import UsageError


def team(*, organized: bool = True) -> GraphBuilder:
    """A planner asks two workers; one answers, one stays silent; a critic is never used."""
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    if organized:
        builder.organization = make_organization(
            "team",
            [(name, "unknown", {}) for name in ("plan", "one", "two", "check", "judge")],
            [(0, 1, ""), (0, 2, ""), (1, 0, ""), (2, 0, ""), (1, 3, ""), (0, 0, "")],
        )
    for place, name in enumerate(("plan", "one", "two", "check")):
        builder.new_agent(name, unit=place if organized else None)
    builder.new_agent("search", kind="tool")
    builder.add("agent_message", "plan", agent=0, recipients=[1, 2])
    builder.add("agent_message", "one", agent=1, recipients=[0])
    builder.add("tool_call", "search", agent=1, recipients=[1, 4])
    builder.add("agent_message", "plan", agent=0)
    builder.add("agent_message", "stray")
    builder.edge(0, 1, "delivered")
    builder.edge(1, 2, "continued")
    builder.edge(2, 3, "explicit")
    builder.edge(3, 4, "explicit")
    return builder


def pairs(projection) -> set[tuple[str, str]]:
    names = [vertex.rsplit("/", 1)[1] for vertex in projection.graph.vertices]
    return {
        (names[source], names[target])
        for source, targets in enumerate(projection.graph.successors)
        for target in targets
    }


def test_messages_are_deliveries_to_others():
    projection = project(team(organized=False).build(), "message")
    assert pairs(projection) == {("0", "1"), ("0", "2"), ("1", "0"), ("1", "4")}
    # The planner's last words reached nobody, and one message to two is one.
    assert projection.sent == (1, 2, 0, 0, 0)


def test_consumption_goes_by_the_edges_between_agents():
    projection = project(team(organized=False).build(), "consumption")
    assert pairs(projection) == {("0", "1"), ("1", "0")}
    assert projection.sent == (1, 1, 0, 0, 0)


def test_exchange_is_either_of_the_two():
    graph = team(organized=False).build()
    both = project(graph)
    assert both == project(graph, "exchange")
    assert pairs(both) == pairs(project(graph, "message")) | pairs(
        project(graph, "consumption")
    )
    assert both.sent == (1, 2, 0, 0, 0)


def test_a_trace_without_recipients_is_not_silent():
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    for name in ("a", "b"):
        builder.new_agent(name)
    builder.add("agent_message", "a", agent=0)
    builder.add("agent_message", "b", agent=1)
    builder.edge(0, 1, "explicit")
    graph = builder.build()
    assert flow_metrics(graph).density == 0.5
    assert flow_metrics(graph).messages == 1
    assert flow_metrics(graph, "message").density == 0.0
    assert flow_metrics(graph, "message").normalized_source_entropy is None


def test_units_that_nobody_plays_are_silent_vertices():
    graph = team().build()
    projection = project(graph)
    assert projection.graph.vertices == (
        *[agent.id for agent in graph.agents],
        graph.organization.units[4].id,
    )
    assert projection.sent == (1, 2, 0, 0, 0, 0)
    # Four edges among six vertices; 2 of 3 messages come from one sender.
    metrics = flow_metrics(graph)
    assert metrics.density == 4 / 30
    # 0 reaches 1, 2 and (over 1) 4; 1 reaches 0, 4 and (over 0) 2.
    assert metrics.reachable_pair_fraction == 6 / 30
    assert metrics.average_path_length == 8 / 6


def test_agents_of_other_kinds_can_be_left_out():
    projection = project(
        team(organized=False).build(), agent_kinds=("agent", "human", "environment")
    )
    assert pairs(projection) == {("0", "1"), ("0", "2"), ("1", "0")}
    assert len(projection.graph.vertices) == 4
    # The call to the tool makes the planner's edge by consumption, so it still counts.
    assert projection.sent == (1, 2, 0, 0)


def test_actions_are_a_graph_too():
    graph = team().build()
    projection = project(graph, "action")
    assert projection.graph.vertices == tuple(node.id for node in graph.nodes)
    assert projection.graph.successors == ((1,), (2,), (3,), (4,), ())
    assert projection.sent is None
    metrics = flow_metrics(graph, "action")
    assert (metrics.messages, metrics.normalized_source_entropy) == (None, None)
    # A path of five: lengths 1 to 4 stand 4, 3, 2 and 1 times.
    assert metrics.average_path_length == 20 / 10


def test_permitted_links_and_their_use():
    graph = team().build()
    allowed = permitted(graph.organization)
    assert allowed.successors == ((1, 2), (0, 3), (0,), (), ())
    # Five links without the loop; plan -> one, plan -> two and one -> plan were used.
    use = route_use(graph, project(graph).graph)
    assert use == RouteUse(permitted=5, used=3, unpermitted=0)
    assert use.share_used == 3 / 5
    assert RouteUse(0, 0, 2).share_used is None


def test_a_route_outside_of_the_organization_is_counted():
    builder = team()
    builder.add("agent_message", "two", agent=2, recipients=[1, 4])
    graph = builder.build()
    assert route_use(graph, project(graph).graph) == RouteUse(5, 3, 1)


def test_without_units_nothing_is_known_of_routes():
    builder = team(organized=False)
    graph = builder.build()
    assert route_use(graph, project(graph).graph) is None
    builder.organization = make_organization("team", [("a", "unknown", {})], [])
    graph = builder.build()
    assert route_use(graph, project(graph).graph) is None
    assert len(project(graph).graph.vertices) == 5


def test_flow_metrics_of_200_random_runs_equal_networkx():
    for seed in range(200):
        generator = random.Random(seed)
        builder = GraphBuilder(kind="run", format="test", uri="test", content=str(seed))
        agents = generator.randrange(1, 7)
        other = networkx.DiGraph()
        for place in range(agents):
            builder.new_agent(f"agent {place}")
            other.add_node(place)
        for index in range(generator.randrange(0, 25)):
            sender = generator.choice([None, *range(agents)])
            receivers = generator.sample(range(agents), generator.randrange(agents + 1))
            builder.add("agent_message", "m", agent=sender, recipients=receivers)
            other.add_edges_from(
                (sender, receiver)
                for receiver in receivers
                if sender is not None and sender != receiver
            )
            if index and generator.random() < 0.3:
                source = generator.randrange(index)
                builder.edge(source, index, "explicit")
        metrics = flow_metrics(builder.build(), "message")
        lengths = [
            length
            for source, found in networkx.all_pairs_shortest_path_length(other)
            for target, length in found.items()
            if source != target
        ]
        assert (metrics.vertices, metrics.edges) == (agents, other.number_of_edges())
        if agents >= 2:
            assert metrics.density == networkx.density(other)
            assert metrics.reachable_pair_fraction == len(lengths) / (agents * (agents - 1))
        expected = sum(lengths) / len(lengths) if lengths else None
        assert metrics.average_path_length == expected


def test_unknown_names_are_refused():
    graph = team().build()
    with pytest.raises(UsageError, match="choose one of exchange, message"):
        project(graph, "talk")
    with pytest.raises(UsageError, match="robot"):
        project(graph, agent_kinds=("robot",))


def test_loops_and_repetitions_fall_away():
    assert SimpleDigraph.of("ab", [(0, 0), (0, 1), (0, 1)]).successors == ((1,), ())
