import math
import random
from fractions import Fraction

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import analytics.flow_metrics
from analytics.flow_metrics import (
    FlowMetrics,
    average_path_length,
    density,
    digraph_metrics,
    distances,
    normalized_source_entropy,
    reachable_pair_fraction,
)
from analytics.projection import SimpleDigraph
from graphstore.errors import UsageError


def random_graph(seed: int) -> SimpleDigraph:
    generator = random.Random(seed)
    size = generator.choice([0, 1, 2, 3, 5, 8, 20, 60])
    share = generator.choice([0.0, 0.02, 0.1, 0.5, 1.0])
    return SimpleDigraph.of(
        map(str, range(size)),
        [
            (source, target)
            for source in range(size)
            for target in range(size)
            if generator.random() < share
        ],
    )


def in_networkx(graph: SimpleDigraph) -> networkx.DiGraph:
    other = networkx.DiGraph()
    other.add_nodes_from(range(graph.vertex_count))
    other.add_edges_from(
        (source, target)
        for source, targets in enumerate(graph.successors)
        for target in targets
    )
    return other


@pytest.mark.parametrize("plain", [True, False])
def test_metrics_equal_networkx_on_200_random_graphs(plain, monkeypatch):
    if not plain:
        monkeypatch.setattr(analytics.flow_metrics, "_PLAIN_WORK", -1)
    seen_none = seen_value = 0
    for seed in range(200):
        graph = random_graph(seed)
        other = in_networkx(graph)
        size = other.number_of_nodes()
        lengths = [
            length
            for source, found in networkx.all_pairs_shortest_path_length(other)
            for target, length in found.items()
            if source != target
        ]
        pairs = size * (size - 1)
        metrics = digraph_metrics(graph)
        assert metrics.density == density(graph)
        assert metrics.reachable_pair_fraction == reachable_pair_fraction(graph)
        assert metrics.average_path_length == average_path_length(graph)
        if size < 2:
            assert metrics.density is None
            assert metrics.reachable_pair_fraction is None
        else:
            assert metrics.density == networkx.density(other)
            assert metrics.reachable_pair_fraction == len(lengths) / pairs
        if lengths:
            assert metrics.average_path_length == float(Fraction(sum(lengths), len(lengths)))
            seen_value += 1
        else:
            assert metrics.average_path_length is None
            seen_none += 1
    assert seen_none > 20
    assert seen_value > 80


def test_a_long_path_is_searched_by_the_compiled_kernel():
    size = 1500
    path = SimpleDigraph.of(
        map(str, range(size)), [(place, place + 1) for place in range(size - 1)]
    )
    assert size * (size - 1) > analytics.flow_metrics._PLAIN_WORK
    found = distances(path)
    assert found.reachable_pairs == size * (size - 1) // 2
    # Each length d stands (size - d) times.
    assert found.total_length == sum(d * (size - d) for d in range(1, size))


def test_metrics_worked_out_by_hand():
    # 0 -> 1 -> 2, 2 -> 0, and 3 alone. Pairs of 4 vertices: 12. Reached: each of the three
    # reaches the other two, at distances 1 and 2.
    graph = SimpleDigraph.of("abcd", [(0, 1), (1, 2), (2, 0), (0, 1), (1, 1)])
    assert digraph_metrics(graph, [2, 1, 1, 0]) == FlowMetrics(
        vertices=4,
        edges=3,
        messages=4,
        density=3 / 12,
        reachable_pair_fraction=6 / 12,
        average_path_length=9 / 6,
        # 1/2 log 2 + 2 * 1/4 log 4 = 3/2 log 2, over log 4.
        normalized_source_entropy=pytest.approx(0.75, abs=1e-15),
    )


@given(st.lists(st.integers(0, 1000), max_size=40))
def test_entropy_equals_its_definition(sent):
    value = normalized_source_entropy(sent)
    total, size = sum(sent), len(sent)
    if total == 0 or size < 2:
        assert value is None
        return
    terms = [Fraction(count, total) for count in sent]
    expected = -sum(float(p) * math.log(float(p)) for p in terms if p) / math.log(size)
    assert value == pytest.approx(expected, abs=1e-12)
    assert 0.0 <= value <= 1.0


def test_entropy_at_its_ends():
    assert math.copysign(1, normalized_source_entropy([5, 0, 0])) == 1
    assert normalized_source_entropy([5, 0, 0]) == 0.0
    assert normalized_source_entropy([7] * 49) == 1.0
    assert normalized_source_entropy([0, 0]) is None
    assert normalized_source_entropy([3]) is None
    assert normalized_source_entropy([]) is None


def test_wrong_counts_are_refused():
    graph = SimpleDigraph.of("ab", [(0, 1)])
    with pytest.raises(UsageError, match="3 message counts for 2 vertices"):
        digraph_metrics(graph, [1, 2, 3])
    with pytest.raises(UsageError, match="negative"):
        normalized_source_entropy([1, -1])
    with pytest.raises(UsageError, match="names no vertex"):
        SimpleDigraph.of("ab", [(0, 2)])


@pytest.mark.parametrize("size", [0, 1])
def test_small_graphs_have_no_metrics(size):
    metrics = digraph_metrics(SimpleDigraph.of("a" * size, []), [1] * size)
    assert (
        metrics.density,
        metrics.reachable_pair_fraction,
        metrics.average_path_length,
        metrics.normalized_source_entropy,
    ) == (None, None, None, None)
