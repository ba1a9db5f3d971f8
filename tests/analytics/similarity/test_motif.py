"""Motif profiles against every set of two and three nodes, looked at one by one."""

import random
from collections import Counter
from itertools import combinations, permutations

from analytics.similarity.motif import MotifMeasure
from tests.analytics.similarity.drawing import drawn, random_graph


def listed(graph):
    """Connected sets of two and three nodes as canonical patterns."""
    index = {node.id: node.index for node in graph.nodes}
    relation = {}
    for edge in graph.edges:
        relation.setdefault((index[edge.source], index[edge.target]), set()).add("feeds")
        relation.setdefault((index[edge.target], index[edge.source]), set()).add("takes")
    for pair in graph.couplings:
        for one, other in ((pair.source, pair.target), (pair.target, pair.source)):
            relation.setdefault((index[one], index[other]), set()).add("coupled")
    labels = [f"{node.role}/{node.kind}" for node in graph.nodes]
    found = {2: Counter(), 3: Counter()}
    for size in (2, 3):
        for nodes in combinations(range(len(labels)), size):
            joined = sum(pair in relation for pair in combinations(nodes, 2))
            if joined >= size - 1:
                pattern = min(
                    (
                        tuple(labels[node] for node in order),
                        tuple(
                            tuple(sorted(relation.get(pair, ())))
                            for pair in permutations(order, 2)
                        ),
                    )
                    for order in permutations(nodes)
                )
                found[size][pattern] += 1
    return found


def overlap(one, other):
    total = sum((one | other).values())
    return sum((one & other).values()) / total if total else None


def test_every_set_is_counted_once():
    generator = random.Random(4)
    measure = MotifMeasure()
    graphs = [
        random_graph(generator, generator.randint(2, 9), density, couplings=0.15)
        for density in (0.1, 0.3, 0.6, 1.0)
        for _ in range(12)
    ]
    expected = [listed(graph) for graph in graphs]
    prepared = [measure.prepare(graph) for graph in graphs]
    for counts, profile in zip(expected, prepared, strict=True):
        assert sorted(counts[2].values()) == sorted(profile.pairs.values())
        assert sorted(counts[3].values()) == sorted(profile.triples.values())
    for one, left in zip(expected, prepared, strict=True):
        for other, right in zip(expected, prepared, strict=True):
            values = [overlap(one[size], other[size]) for size in (2, 3)]
            known = [value for value in values if value is not None]
            wanted = sum(known) / len(known) if known else None
            assert measure.similarity(left, right) == wanted


def test_sizes_are_a_choice():
    one = drawn(["solver"] * 3, [(0, 1), (1, 2)])
    other = drawn(["solver"] * 3, [(0, 1), (0, 2)])

    def value(*sizes):
        measure = MotifMeasure(sizes=sizes)
        return measure.similarity(measure.prepare(one), measure.prepare(other))

    assert (value(2), value(3), value(3, 2)) == (1, 0, 0.5)


def test_a_search_that_would_take_too_long_is_missing():
    crowd = drawn(["solver"] * 12, list(combinations(range(12), 2)))
    measure = MotifMeasure(max_steps=10)
    prepared = measure.prepare(crowd)
    assert prepared.triples is None
    assert "more than 10 steps" in measure.obstacle(prepared)
    assert measure.similarity(prepared, prepared) is None
    small = measure.prepare(drawn(["solver"] * 2, [(0, 1)]))
    found = measure.matrix([small, prepared])
    assert found[0, 0] == 1
    assert [value != value for value in found.ravel()] == [False, True, True, True]
    pairs = MotifMeasure(sizes=(2,), max_steps=10)
    assert pairs.similarity(pairs.prepare(crowd), pairs.prepare(crowd)) == 1
