"""The ForestBench sum against values that were counted by hand."""

import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.similarity.forest import ForestMeasure, ForestParts, ForestReferences
from tests.analytics.similarity.drawing import drawn, small_graphs

ONE = drawn(
    ["planner", "solver", "solver", "critic"], [(0, 1), (0, 2), (1, 3), (2, 3)], record="one"
)
OTHER = drawn(["planner", "solver", "critic", "critic"], [(0, 1), (1, 2)], record="other")


def parts(one, other, **options):
    measure = ForestMeasure(**options)
    return measure.parts(measure.prepare(one), measure.prepare(other))


def value(one, other, **options):
    measure = ForestMeasure(**options)
    return measure.similarity(measure.prepare(one), measure.prepare(other))


def test_counted_by_hand():
    # Nodes: one planner, one solver, one critic in both, of 4 + 4 - 3.
    # Edges: planner > solver and solver > critic once in both, of 4 + 2 - 2.
    # Sizes: 4 and 4 nodes, 4 and 2 edges, depth 3 and 3, width 2 and 2.
    assert parts(ONE, OTHER) == ForestParts(node=3 / 5, edge=2 / 4, topology=3.5 / 4)
    expected = 0.4 * 3 / 5 + 0.4 * 2 / 4 + 0.2 * 3.5 / 4
    assert value(ONE, OTHER) == pytest.approx(expected, rel=1e-15)
    assert value(ONE, OTHER, alpha=1, beta=0, gamma=0) == 3 / 5
    assert value(ONE, OTHER, alpha=2, beta=2, gamma=1) == pytest.approx(expected, rel=1e-15)


def test_an_edge_has_a_direction_and_a_coupling_has_none():
    there = drawn(["planner", "solver"], [(0, 1)])
    back = drawn(["solver", "planner"], [(0, 1)])
    assert parts(there, back) == ForestParts(node=1, edge=0, topology=1)
    there = drawn(["planner", "solver"], couplings=[(0, 1)])
    back = drawn(["solver", "planner"], couplings=[(0, 1)])
    assert parts(there, back) == ForestParts(node=1, edge=1, topology=1)
    fed = drawn(["planner", "solver"], [(0, 1)])
    assert parts(there, fed).edge == 0


def test_parts_with_nothing_to_compare_are_left_out():
    one, other = drawn(["planner", "solver"]), drawn(["planner", "critic"])
    assert parts(one, other) == ForestParts(node=1 / 3, edge=None, topology=1)
    assert value(one, other) == pytest.approx((0.4 / 3 + 0.2) / 0.6)
    assert value(one, other, alpha=0, beta=1, gamma=0) is None
    nothing = drawn([])
    assert parts(nothing, nothing) == ForestParts(None, None, None)
    assert value(nothing, nothing) is None
    assert parts(nothing, one) == ForestParts(None, None, None)
    assert value(nothing, one) is None


@given(small_graphs(), st.lists(small_graphs(), max_size=4))
@pytest.mark.parametrize("weights", [(0.4, 0.4, 0.2), (0, 1, 0), (3, 0, 1)])
def test_several_references_at_once_are_each_alone(weights, graph, references):
    alpha, beta, gamma = weights
    measure = ForestMeasure(alpha=alpha, beta=beta, gamma=gamma)
    one, others = measure.prepare(graph), [measure.prepare(other) for other in references]
    found = measure.beside(one, ForestReferences(others))
    for name, values in asdict(found).items():
        assert len(values) == len(others)
        for value, other in zip(values, others, strict=True):
            expected = (
                measure.similarity(one, other)
                if name == "similarity"
                else getattr(measure.parts(one, other), name)
            )
            assert math.isnan(value) if expected is None else value == expected


def test_labels_are_a_choice():
    one, other = drawn(["planner"]), drawn(["solver"])
    assert value(one, other) < 1
    assert value(one, other, labels="kind") == 1
    assert value(one, other, labels="name") == 1
    assert value(one, other, labels="role") < 1


def test_a_matrix_leaves_out_the_same_parts():
    measure = ForestMeasure(alpha=0, beta=1, gamma=0)
    rows = [measure.prepare(graph) for graph in (ONE, drawn(["solver"]), OTHER)]
    found = measure.matrix(rows)
    assert math.isnan(found[1, 1])
    assert found[0, 1] == 0
    assert found[0, 2] == 0.5
