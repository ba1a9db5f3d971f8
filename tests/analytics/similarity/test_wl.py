"""The Weisfeiler-Lehman kernel against GraKeL, and against labels written out in full."""

import random
import warnings
from collections import Counter

import numpy
import pytest

from analytics.similarity.wl import DIRECTIONS, WeisfeilerLehmanMeasure
from tests.analytics.similarity.drawing import drawn, random_graph

GRAPHS = 200


def sample(count=GRAPHS, couplings=0.0, seed=5):
    generator = random.Random(seed)
    return [
        random_graph(
            generator, generator.randint(1, 14), generator.random() / 2, couplings=couplings
        )
        for _ in range(count)
    ]


def adjacency(graph, direction):
    """What GraKeL is given: the neighbours whose labels it reads for each node."""
    index = {node.id: node.index for node in graph.nodes}
    near = {place: {} for place in range(len(graph.nodes))}
    for edge in graph.edges:
        one, other = index[edge.source], index[edge.target]
        if direction in ("out", "undirected"):
            near[one][other] = 1.0
        if direction in ("in", "undirected"):
            near[other][one] = 1.0
    return [near, {node.index: f"{node.role}/{node.kind}" for node in graph.nodes}]


def kernels(measure, graphs):
    rows = [measure.prepare(graph) for graph in graphs]
    return numpy.array([[measure.kernel(one, other) for other in rows] for one in rows])


@pytest.mark.parametrize("iterations", [0, 3, 5])
@pytest.mark.parametrize("direction", ["undirected", "out", "in"])
def test_values_are_those_of_grakel(direction, iterations):
    grakel = pytest.importorskip("grakel")
    graphs = sample()
    measure = WeisfeilerLehmanMeasure(iterations=iterations, direction=direction)
    given = [adjacency(graph, direction) for graph in graphs]

    def theirs(normalize):
        if iterations:
            kernel = grakel.WeisfeilerLehman(
                n_iter=iterations,
                base_graph_kernel=grakel.VertexHistogram,
                normalize=normalize,
            )
        else:
            kernel = grakel.VertexHistogram(normalize=normalize)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return kernel.fit_transform(given)

    numpy.testing.assert_array_equal(kernels(measure, graphs), theirs(False))
    ours = measure.matrix([measure.prepare(graph) for graph in graphs])
    numpy.testing.assert_allclose(ours, theirs(True), rtol=1e-12)


def in_full(graph, iterations, direction):
    """Labels as nested tuples: no hash, no number, every iteration counted."""
    index = {node.id: node.index for node in graph.nodes}
    after, before, coupled = ({place: [] for place in index.values()} for _ in range(3))
    for edge in graph.edges:
        after[index[edge.source]].append(index[edge.target])
        before[index[edge.target]].append(index[edge.source])
    for pair in graph.couplings:
        coupled[index[pair.source]].append(index[pair.target])
        coupled[index[pair.target]].append(index[pair.source])
    labels = {node.index: f"{node.role}/{node.kind}" for node in graph.nodes}
    found = Counter((0, label) for label in labels.values())
    groups = {
        "both": lambda node: (after[node], before[node], coupled[node]),
        "out": lambda node: (after[node], coupled[node]),
        "in": lambda node: (before[node], coupled[node]),
        "undirected": lambda node: (after[node] + before[node], coupled[node]),
    }[direction]
    for level in range(1, iterations + 1):
        labels = {
            node: repr(
                (
                    labels[node],
                    [sorted(labels[other] for other in near) for near in groups(node)],
                )
            )
            for node in labels
        }
        found.update((level, label) for label in labels.values())
    return found


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("couplings", [0.0, 0.2])
def test_values_are_those_of_labels_in_full(direction, couplings):
    graphs = sample(40, couplings)
    counts = [in_full(graph, 3, direction) for graph in graphs]
    expected = [
        [sum((one[key] * other[key]) for key in one) for other in counts] for one in counts
    ]
    measure = WeisfeilerLehmanMeasure(direction=direction)
    numpy.testing.assert_array_equal(kernels(measure, graphs), expected)


def test_directions_see_different_things():
    fan_out = drawn(["solver"] * 3, [(0, 1), (0, 2)])
    fan_in = drawn(["solver"] * 3, [(0, 2), (1, 2)])

    def value(direction):
        measure = WeisfeilerLehmanMeasure(direction=direction)
        return measure.similarity(measure.prepare(fan_out), measure.prepare(fan_in))

    assert value("undirected") == 1
    assert all(value(direction) < 1 for direction in ("both", "out", "in"))


def test_many_columns_and_blocks(monkeypatch):
    """Dense and sparse columns, several blocks of each, give the same sums."""
    measure = WeisfeilerLehmanMeasure()
    rows = [measure.prepare(graph) for graph in sample(50)]
    whole = measure.matrix(rows)
    for common, block in ((0.0, 3), (0.2, 7), (1.0, 5)):
        monkeypatch.setattr("analytics.similarity.counts.COMMON", common)
        monkeypatch.setattr("analytics.similarity.counts.BLOCK", block)
        numpy.testing.assert_array_equal(measure.matrix(rows), whole)
