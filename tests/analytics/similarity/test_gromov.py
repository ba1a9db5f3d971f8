"""Fused Gromov-Wasserstein, where POT is installed."""

import math
import random

import pytest

from tests.analytics.similarity.drawing import drawn, random_graph, reordered

pytest.importorskip("ot")

from analytics.similarity.gromov import GromovMeasure


def value(one, other, **options):
    measure = GromovMeasure(**options)
    return measure.similarity(measure.prepare(one), measure.prepare(other))


def test_labels_alone_and_structure_alone():
    one = drawn(["solver", "critic"], [(0, 1)])
    assert value(one, drawn(["solver", "planner"], [(0, 1)]), alpha=0) == pytest.approx(
        1 - math.sqrt(1 / 2)
    )
    # Distances 1/2 against 1 in two of the four pairs of places.
    apart = drawn(["solver", "critic"])
    assert value(one, apart, alpha=1) == pytest.approx(1 - math.sqrt(2 / 4 * (1 / 2) ** 2))
    assert value(one, apart, alpha=0) == 1


def test_one_graph_in_another_order_is_the_same():
    generator = random.Random(2)
    for _ in range(20):
        graph = random_graph(generator, 7, 0.4)
        assert value(graph, reordered(graph, generator)) == pytest.approx(1, abs=1e-5)


def test_another_direction_of_edges_says_nothing():
    one, other = (
        drawn(["solver"] * 3, [(0, 1), (0, 2)]),
        drawn(["solver"] * 3, [(0, 2), (1, 2)]),
    )
    assert value(one, other) == 1


def test_size_limit():
    measure = GromovMeasure(max_nodes=3)
    large = measure.prepare(drawn(["solver"] * 4))
    assert measure.similarity(large, large) is None
    assert measure.obstacle(large) == "it has 4 nodes, more than max_nodes = 3"
