"""What a run's metrics share, counted by hand."""

from analytics.panel import evaluate_graph, panel_values
from analytics.positions import Positions
from graphstore.builder import GraphBuilder
from tests.analytics.similarity.drawing import drawn


def test_edges_by_position():
    builder = GraphBuilder(kind="run", format="test", uri="memory", content="x", record="x")
    one, other = builder.new_agent("one"), builder.new_agent("other")
    for agent in (one, other, None, one):
        builder.add("agent_message", "speaks", agent=agent)
    for source, target in ((1, 3), (0, 2), (0, 1)):
        builder.edge(source, target, "explicit")
    graph = builder.build()
    read = Positions(graph)
    ids = [agent.id for agent in graph.agents]
    assert read.agents == [ids[0], ids[1], None, ids[0]]
    assert list(zip(read.sources, read.targets, strict=True)) == [(0, 1), (0, 2), (1, 3)]
    assert [read.index[node.id] for node in graph.nodes] == [0, 1, 2, 3]
    assert read.fullness == [1, 2, 1]
    assert (read.depth, read.width) == (3, 2)
    assert read.active_agents == 2
    row = evaluate_graph(graph)
    assert {name: getattr(row, name) for name in panel_values(graph)} == panel_values(
        graph, positions=read
    )


def test_of_nothing():
    read = Positions(drawn([]))
    assert (read.fullness, read.depth, read.width, read.active_agents) == ([], 0, 0, 0)
