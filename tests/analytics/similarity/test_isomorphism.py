"""Graphs that are numbered otherwise, against networkx and against all mappings."""

import random
from itertools import permutations

import networkx
import pytest
from hypothesis import given, settings

from analytics.similarity.isomorphism import MAX_NODES, isomorphism
from analytics.similarity.outline import outline
from tests.analytics.similarity.drawing import drawn, random_graph, reordered, small_graphs


def joined(seen):
    made = networkx.DiGraph()
    made.add_nodes_from((place, {"label": label}) for place, label in enumerate(seen.labels))
    made.add_edges_from(seen.edges)
    return made


@settings(max_examples=150, deadline=None)
@given(small_graphs(max_nodes=5), small_graphs(max_nodes=5))
def test_small_graphs_against_networkx(one, other):
    first, second = outline(one), outline(other)
    expected = networkx.is_isomorphic(
        joined(first), joined(second), node_match=lambda a, b: a["label"] == b["label"]
    )
    found = isomorphism(first, second)
    assert (found is not None) == expected
    if found is not None:
        assert found in permutations(range(len(first.labels)))
        assert {(found[a], found[b]) for a, b in first.edges} == set(second.edges)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.1, 0.4, 1.0])
def test_any_order_is_found(density):
    generator = random.Random(5)
    for nodes in (1, 7, 25, 60):
        graph = random_graph(generator, nodes, density, roles=("solver",), couplings=0.02)
        first, second = outline(graph), outline(reordered(graph, generator))
        found = isomorphism(first, second)
        assert found is not None
        assert [second.labels[place] for place in found] == list(first.labels)
        assert {(found[a], found[b]) for a, b in first.edges} == set(second.edges)


def test_what_differs_is_told():
    chain = outline(drawn(["solver"] * 4, [(0, 1), (1, 2), (2, 3)]))
    star = outline(drawn(["solver"] * 4, [(0, 1), (0, 2), (0, 3)]))
    coupled = outline(drawn(["solver"] * 4, [(0, 1), (1, 2), (2, 3)], couplings=[(0, 2)]))
    assert isomorphism(chain, star) is None
    assert isomorphism(chain, coupled) is None
    assert isomorphism(chain, coupled, couplings=False) == (0, 1, 2, 3)
    # The same degrees and levels everywhere: two squares of consumers, and one of eight.
    small = [(0, 4), (0, 5), (1, 4), (1, 5), (2, 6), (2, 7), (3, 6), (3, 7)]
    large = [(0, 4), (0, 5), (1, 5), (1, 6), (2, 6), (2, 7), (3, 7), (3, 4)]
    two, one = (outline(drawn(["solver"] * 8, edges)) for edges in (small, large))
    assert isomorphism(two, one) is None
    assert isomorphism(two, two) is not None
    many = outline(drawn(["solver"] * (MAX_NODES + 1)))
    assert isomorphism(many, many) is None
