"""The order of nodes, beside networkx's."""

import networkx
from hypothesis import given
from hypothesis import strategies as st

from graphstore.ordering import topological_order


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9))))
def test_sources_first_and_ties_in_ascending_order(edges):
    graph = networkx.DiGraph(edges)
    graph.add_nodes_from(range(10))
    order, stuck = topological_order(10, edges)
    if networkx.is_directed_acyclic_graph(graph):
        assert order == list(networkx.lexicographical_topological_sort(graph))
        assert stuck == []
    else:
        behind = {
            node
            for cycle in networkx.strongly_connected_components(graph)
            if len(cycle) > 1 or any(graph.has_edge(node, node) for node in cycle)
            for start in cycle
            for node in (start, *networkx.descendants(graph, start))
        }
        assert stuck == sorted(behind)
        assert sorted([*order, *stuck]) == list(range(10))
