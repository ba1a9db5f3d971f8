"""What an alignment says, on graphs where one can see it."""

import random

import numpy
import pytest

from analytics.similarity.alignment import AlignmentMeasure, Match
from analytics.similarity.assignment import completed, in_order
from analytics.similarity.edit_cost import Pairing
from tests.analytics.similarity.drawing import drawn, random_graph

CHAIN = ["planner", "solver", "critic", "executor", "verifier", "aggregator"]


def chain(labels, **options):
    return drawn(labels, [(place, place + 1) for place in range(len(labels) - 1)], **options)


def align(one, other, **options):
    return AlignmentMeasure(**options).align(one, other)


def test_a_graph_aligns_with_itself():
    found = align(chain(CHAIN), chain(CHAIN, record="again"))
    assert found.matched == tuple(Match(place, place, 0) for place in range(6))
    assert found.cost == 0
    assert found.similarity == 1
    assert found.extra == found.missing == found.relabelled == found.reworded == ()
    assert found.first_divergence is None


def test_an_action_that_was_left_out():
    found = align(chain(CHAIN[:2] + CHAIN[3:]), chain(CHAIN))
    assert [(match.one, match.other) for match in found.matched] == [
        (0, 0),
        (1, 1),
        (2, 3),
        (3, 4),
        (4, 5),
    ]
    assert found.missing == (2,)
    assert found.extra == ()
    # The critic, the two edges at it, and the edge that goes around it.
    assert found.cost == 4
    assert (found.kept_edges, found.lost_edges, found.missing_edges) == (3, 1, 2)
    assert found.similarity == pytest.approx(1 - 4 / (5 + 4 + 6 + 5))
    assert found.first_divergence == 2
    back = align(chain(CHAIN), chain(CHAIN[:2] + CHAIN[3:]))
    assert (back.extra, back.missing, back.cost) == ((2,), (), 4)
    assert back.first_divergence == 2
    assert back.similarity == found.similarity


def test_a_run_that_stops_early_parts_nowhere():
    found = align(chain(CHAIN[:4]), chain(CHAIN))
    assert found.missing == (4, 5)
    assert found.first_divergence is None
    assert found.cost == 4


def test_another_role_in_the_same_place():
    swapped = [*CHAIN[:3], "human", *CHAIN[4:]]
    found = align(chain(swapped), chain(CHAIN))
    assert found.relabelled == (3,)
    assert found.cost == 1
    assert found.matched[3] == Match(3, 3, 1)
    assert found.first_divergence == 3


def test_an_input_that_was_not_consumed():
    one = drawn(["planner", "solver", "critic"], [(0, 1)])
    other = drawn(["planner", "solver", "critic"], [(0, 1), (1, 2)])
    found = align(one, other)
    assert found.cost == found.missing_edges == 1
    assert found.first_divergence == 2
    assert [match.cost for match in found.matched] == [0, 0.5, 0.5]


def test_contents_decide_between_equal_places():
    one = drawn(["solver"] * 3, contents=["a", "b", "c"])
    other = drawn(["solver"] * 3, contents=["c", "a", "b"])
    found = align(one, other)
    assert [match.other for match in found.matched] == [1, 2, 0]
    assert found.reworded == ()
    assert [match.other for match in align(one, other, content=0).matched] == [0, 1, 2]
    reworded = drawn(["solver"] * 3, contents=["a", "x", None])
    assert align(one, reworded).reworded == (1,)


def test_shares_of_the_cost_add_up():
    generator = random.Random(1)
    for _ in range(50):
        one, other = (random_graph(generator, generator.randint(1, 9), 0.3) for _ in range(2))
        found = align(one, other)
        edges = [
            [(int(e.source.split("/")[1]), int(e.target.split("/")[1])) for e in graph.edges]
            for graph in (one, other)
        ]
        alone = sum(
            1 + sum(node in edge for edge in edges[side]) / 2
            for side, nodes in enumerate((found.extra, found.missing))
            for node in nodes
        )
        assert sum(match.cost for match in found.matched) + alone == found.cost
        nodes = len(found.extra) + len(found.missing) + len(found.relabelled)
        assert nodes + found.lost_edges + found.missing_edges == found.cost


def test_large_graphs_are_aligned_from_candidates():
    """A graph beyond the limit finds its planted cuts and insertions."""
    generator = random.Random(3)
    labels = [generator.choice(("solver", "critic", "executor")) for _ in range(300)]
    contents = [f"text {place}" for place in range(300)]
    whole = chain(labels, contents=contents)
    cut = chain(labels[:100] + labels[140:], contents=contents[:100] + contents[140:])
    sparse = AlignmentMeasure(dense_limit=0)
    found = sparse.align(cut, whole)
    assert found.missing == tuple(range(100, 140))
    assert found.extra == found.reworded == ()
    assert found.cost == AlignmentMeasure().align(cut, whole).cost == 40 + 41 + 1


def test_a_few_candidates_cost_little_more_than_all():
    generator = random.Random(4)
    for _ in range(10):
        one = random_graph(generator, 60, 0.05)
        index = {node.id: node.index for node in one.nodes}
        kept = sorted(generator.sample(range(60), 52))
        place = {node: number for number, node in enumerate(kept)}
        edges = [(index[edge.source], index[edge.target]) for edge in one.edges]
        other = drawn(
            [one.nodes[node].role for node in kept],
            [
                (place[source], place[target])
                for source, target in edges
                if source in place and target in place and generator.random() < 0.9
            ],
        )
        whole, part = (
            AlignmentMeasure(dense_limit=limit).align(one, other) for limit in (600, 0)
        )
        assert part.cost <= 1.1 * whole.cost


def test_an_order_is_kept_at_the_least_cost():
    generator = numpy.random.default_rng(5)
    for _ in range(50):
        rows = int(generator.integers(0, 6))
        columns = int(generator.integers(max(rows, 1), 8))
        costs = generator.integers(0, 5, (rows, columns)).astype(float)
        mapping = in_order(costs.__getitem__, rows, columns)
        assert list(mapping) == sorted(set(mapping.tolist()))

        def least(row, first, costs=costs, columns=columns):
            if row == len(costs):
                return 0
            return min(
                (
                    costs[row, column] + least(row + 1, column + 1)
                    for column in range(first, columns - (len(costs) - row) + 1)
                ),
                default=numpy.inf,
            )

        assert costs[numpy.arange(rows), mapping].sum() == least(0, 0)


def test_rows_without_a_candidate_get_one_in_order():
    here, there = numpy.array([0, 1, 0, 2]), numpy.array([1, 0, 0, 1, 0])
    mapping = numpy.array([-1, 0, -1, -1])
    assert completed(mapping, here, there).tolist() == [1, 0, 2, 3]


def test_a_mapping_is_priced_by_its_edits():
    measure = AlignmentMeasure()
    one = measure.prepare(drawn(["solver", "critic"], [(0, 1)]))
    other = measure.prepare(drawn(["solver", "critic", "planner"], [(0, 1), (1, 2)]))
    pairing = Pairing(one, other)
    assert pairing.cost(numpy.array([0, 1])) == 2
    assert pairing.cost(numpy.array([1, 0])) == 2 + 1 + 3
    assert pairing.cost(numpy.array([-1, -1])) == pairing.size == 8


def test_to_dict_is_json():
    found = align(chain(CHAIN[:3]), chain(CHAIN[1:])).to_dict()
    assert set(found["matched"][0]) == {"one", "other", "cost"}
    assert found["configuration"]["measure"] == "alignment"
