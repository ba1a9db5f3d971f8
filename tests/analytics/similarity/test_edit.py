"""Alignment and edit distance against networkx, and against all mappings of small graphs."""

import random
from itertools import permutations

import networkx
import numpy
import pytest
from hypothesis import given, settings

from analytics.similarity.alignment import AlignmentMeasure
from analytics.similarity.edit import EditMeasure
from analytics.similarity.edit_cost import Pairing, branch_bound, counting_bound
from tests.analytics.similarity.drawing import drawn, random_graph, small_graphs

EDIT, ALIGNMENT = EditMeasure(), AlignmentMeasure()


def networkx_distance(one, other):
    def directed(graph):
        made = networkx.DiGraph()
        made.add_nodes_from(
            (node.id, {"label": f"{node.role}/{node.kind}"}) for node in graph.nodes
        )
        made.add_edges_from((edge.source, edge.target) for edge in graph.edges)
        return made

    return networkx.graph_edit_distance(
        directed(one), directed(other), node_match=lambda a, b: a["label"] == b["label"]
    )


def every_mapping(one, other):
    """The least cost over all mappings, by the definition; deletions beside insertions, too."""
    small, large = sorted((one, other), key=lambda graph: len(graph.nodes))
    rows, columns = len(small.nodes), len(large.nodes)
    place = [{node.id: node.index for node in graph.nodes} for graph in (small, large)]
    near, far = (
        {(index[edge.source], index[edge.target]) for edge in graph.edges}
        for graph, index in zip((small, large), place, strict=True)
    )
    best = None
    # A column of its own beyond the others for each row stands for deletion.
    for mapping in permutations(range(columns + rows), rows):
        nodes = sum(
            1 if target >= columns else int(small.nodes[row].role != large.nodes[target].role)
            for row, target in enumerate(mapping)
        )
        nodes += columns - sum(target < columns for target in mapping)
        kept = sum((mapping[a], mapping[b]) in far for a, b in near)
        cost = nodes + len(near) + len(far) - 2 * kept
        best = cost if best is None else min(best, cost)
    return best


@settings(max_examples=60, deadline=None)
@given(one=small_graphs(), other=small_graphs())
def test_an_alignment_never_costs_less_than_the_edit_distance(one, other):
    rows = EDIT.prepare(one), EDIT.prepare(other)
    found = EDIT.distance(*rows)
    assert found.exact
    assert found.lower == found.value == found.upper
    cost = ALIGNMENT.cost(ALIGNMENT.prepare(one), ALIGNMENT.prepare(other))
    assert cost >= found.value
    pairing = Pairing(*sorted(rows, key=lambda row: row.key))
    assert counting_bound(pairing) <= found.value
    if len(pairing.one.labels):
        assert counting_bound(pairing) <= branch_bound(pairing) <= found.value


def test_two_hundred_pairs_of_up_to_eight_nodes():
    """Exact where networkx finds it soon; the alignment above it, and mostly equal."""
    generator = random.Random(8)
    equal = 0
    for number in range(200):
        largest = 8 if number % 8 == 0 else 6
        one, other = (
            random_graph(generator, generator.randint(largest // 2, largest), density)
            for density in (generator.random() / 2, generator.random() / 2)
        )
        expected = networkx_distance(one, other)
        found = EDIT.distance(EDIT.prepare(one), EDIT.prepare(other))
        assert found.exact
        assert found.value == expected
        cost = ALIGNMENT.cost(ALIGNMENT.prepare(one), ALIGNMENT.prepare(other))
        assert cost >= expected
        equal += cost == expected
    assert equal >= 160


def test_deleting_and_inserting_is_never_cheaper():
    generator = random.Random(6)
    for _ in range(25):
        one, other = (random_graph(generator, generator.randint(1, 4), 0.5) for _ in range(2))
        found = EDIT.distance(EDIT.prepare(one), EDIT.prepare(other))
        assert found.value == every_mapping(one, other)


def test_large_graphs_get_bounds():
    generator = random.Random(9)
    one, other = (random_graph(generator, 40, 0.1) for _ in range(2))
    found = EDIT.distance(EDIT.prepare(one), EDIT.prepare(other))
    assert not found.exact
    assert found.lower < found.value == found.upper
    again = EDIT.distance(EDIT.prepare(other), EDIT.prepare(one))
    assert found == again
    same = EDIT.distance(EDIT.prepare(one), EDIT.prepare(one))
    assert same.exact
    assert same.value == 0


def test_the_upper_bound_is_never_above_the_alignment():
    generator = random.Random(13)
    for _ in range(12):
        graphs = []
        for _ in range(2):
            graph = random_graph(generator, 14, 0.3, roles=("solver",))
            words = [generator.choice("abcde") for _ in graph.nodes]
            graphs.append(worded(graph, words))
        found = EDIT.distance(*map(EDIT.prepare, graphs))
        assert found.upper <= ALIGNMENT.align(*graphs).cost
        bare = [worded(graph, [None] * 14) for graph in graphs]
        assert found.upper <= ALIGNMENT.align(*bare).cost


def worded(graph, words):
    """The same labels and edges with these contents."""
    place = {node.id: node.index for node in graph.nodes}
    return drawn(
        [node.role for node in graph.nodes],
        [(place[edge.source], place[edge.target]) for edge in graph.edges],
        contents=words,
    )


def test_a_search_without_steps_gives_bounds():
    generator = random.Random(10)
    one, other = (random_graph(generator, 8, 0.4) for _ in range(2))
    rows = EDIT.prepare(one), EDIT.prepare(other)
    exact = EDIT.distance(*rows)
    hurried = EditMeasure(max_steps=3).distance(*rows)
    assert not hurried.exact
    assert hurried.lower <= exact.value <= hurried.upper == hurried.value
    assert EditMeasure(exact_limit=7).distance(*rows).lower <= exact.value


@pytest.mark.parametrize("nodes", [6, 9])
def test_compiled_and_plain_searches_agree(nodes, monkeypatch):
    generator = random.Random(nodes)
    for _ in range(5):
        rows = [EDIT.prepare(random_graph(generator, nodes, 0.3)) for _ in range(2)]
        compiled = EDIT.distance(*rows)
        monkeypatch.setattr("analytics.similarity.edit.COMPILE_FROM", 99)
        assert EDIT.distance(*rows) == compiled
        monkeypatch.undo()


def test_the_distance_is_a_metric():
    generator = random.Random(12)
    rows = [
        EDIT.prepare(random_graph(generator, generator.randint(0, 6), 0.4)) for _ in range(9)
    ]
    values = numpy.array([[EDIT.distance(a, b).value for b in rows] for a in rows])
    assert (values == values.T).all()
    # Each way round a third graph is at least as long.
    assert (values[:, None, :] <= values[:, :, None] + values[None, :, :]).all()
