"""Graphs for the tests of measures: drawn from labels and edges, and the same ones renamed."""

import random
from collections.abc import Sequence

import msgspec
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder
from graphstore.model import CollaborationGraph

ROLES = ("planner", "solver", "critic", "executor")


def drawn(
    labels: Sequence[str],
    edges: Sequence[tuple[int, int]] = (),
    *,
    couplings: Sequence[tuple[int, int]] = (),
    contents: Sequence[str | None] | None = None,
    record: str = "drawn",
) -> CollaborationGraph:
    """A run without agents: a label is the role of a message."""
    builder = GraphBuilder(
        kind="run", format="test", uri="memory", content=record, record=record
    )
    for place, label in enumerate(labels):
        content = None if contents is None else contents[place]
        builder.add("agent_message", "speaks", role=label, content=content)
    for one, other in edges:
        builder.edge(one, other, "explicit")
    for one, other in couplings:
        builder.couple(one, other)
    return builder.build()


def random_graph(
    generator: random.Random,
    nodes: int,
    density: float,
    *,
    roles: Sequence[str] = ROLES,
    couplings: float = 0.0,
) -> CollaborationGraph:
    """A run in which each earlier node feeds each later one with that probability."""
    pairs = [(one, other) for other in range(nodes) for one in range(other)]
    return drawn(
        [generator.choice(roles) for _ in range(nodes)],
        [pair for pair in pairs if generator.random() < density],
        couplings=[pair for pair in pairs if generator.random() < couplings],
    )


def reordered(graph: CollaborationGraph, generator: random.Random) -> CollaborationGraph:
    """The same graph, its nodes in another order in which edges still point forward."""
    index = {node.id: node.index for node in graph.nodes}
    edges = [(index[edge.source], index[edge.target]) for edge in graph.edges]
    couplings = [(index[pair.source], index[pair.target]) for pair in graph.couplings]
    waiting = set(index.values())
    place: dict[int, int] = {}
    while waiting:
        ready = [
            node for node in waiting if not any(t == node and s in waiting for s, t in edges)
        ]
        node = generator.choice(sorted(ready))
        place[node] = len(place)
        waiting.remove(node)
    order = sorted(place, key=place.__getitem__)
    return drawn(
        [graph.nodes[node].role for node in order],
        [(place[one], place[other]) for one, other in edges],
        couplings=[(place[one], place[other]) for one, other in couplings],
        contents=[graph.nodes[node].content for node in order],
        record="reordered",
    )


def renamed(graph: CollaborationGraph) -> CollaborationGraph:
    """The same graph with other ids of everything, and agents of other names."""
    nodes = {node.id: f"other/{place}" for place, node in enumerate(graph.nodes)}
    agents = {agent.id: f"other-agent-{place}" for place, agent in enumerate(graph.agents)}
    resources = {item.id: f"other-item-{place}" for place, item in enumerate(graph.resources)}
    replace = msgspec.structs.replace
    return replace(
        graph,
        id="other",
        nodes=tuple(
            replace(
                node,
                id=nodes[node.id],
                agent=agents.get(node.agent),
                recipients=tuple(agents[agent] for agent in node.recipients),
                parent=nodes.get(node.parent),
                accesses=tuple(
                    replace(access, resource=resources[access.resource])
                    for access in node.accesses
                ),
            )
            for node in graph.nodes
        ),
        agents=tuple(
            replace(agent, id=agents[agent.id], name=f"name {place}")
            for place, agent in enumerate(graph.agents)
        ),
        resources=tuple(replace(item, id=resources[item.id]) for item in graph.resources),
        edges=tuple(
            replace(edge, source=nodes[edge.source], target=nodes[edge.target])
            for edge in graph.edges
        ),
        couplings=tuple(
            replace(
                pair,
                source=nodes[pair.source],
                target=nodes[pair.target],
                resources=tuple(resources[item] for item in pair.resources),
            )
            for pair in graph.couplings
        ),
        proposals=(),
    )


@st.composite
def small_graphs(draw: st.DrawFn, max_nodes: int = 8) -> CollaborationGraph:
    """A run of few nodes, any edges, and few labels, so that much can be mistaken."""
    labels = draw(st.lists(st.sampled_from(ROLES[:3]), max_size=max_nodes))
    pairs = [(one, other) for other in range(len(labels)) for one in range(other)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return drawn(labels, edges)
