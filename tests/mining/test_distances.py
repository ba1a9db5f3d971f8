import itertools
import math

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.model import Artifact
from mining import distances
from mining.distances import (
    DistanceWeights,
    PositionWeights,
    distances_to,
    hierarchy_distances,
    interface_distances,
    leaf_distances,
    position_distances,
    semantic_distances,
)
from mining.leaves import Leaf, Position, leaves_of

NAMES = st.lists(st.sampled_from("abc"), max_size=3, unique=True).map(sorted).map(tuple)
DEGREES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def leaf_lists(draw):
    leaves = []
    for place in range(draw(st.integers(0, 9))):
        graph = draw(st.sampled_from(["g", "h"]))
        depth = draw(st.integers(0, 3))
        groups = [
            draw(st.sampled_from([f"{graph}{level}x", f"{graph}{level}y"]))
            for level in range(depth)
        ]
        leaves.append(
            Leaf(
                id=f"{graph}/{place}",
                graph=graph,
                task=graph,
                name="",
                text="",
                inputs=draw(NAMES),
                outputs=draw(NAMES),
                reads=draw(NAMES),
                writes=draw(NAMES),
                ancestors=(graph, *groups),
                position=Position(
                    draw(st.booleans()),
                    draw(st.booleans()),
                    draw(st.booleans()),
                    draw(DEGREES),
                    draw(DEGREES),
                ),
            )
        )
    return leaves


def slow_interface(one: Leaf, other: Leaf) -> float:
    def descriptors(leaf):
        return {
            (direction, name)
            for direction in ("inputs", "outputs", "reads", "writes")
            for name in getattr(leaf, direction)
        }

    a, b = descriptors(one), descriptors(other)
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def slow_hierarchy(one: Leaf, other: Leaf) -> float:
    a, b = set(one.ancestors), set(other.ancestors)
    return 1 - len(a & b) / max(len(a), len(b))


def slow_position(one: Leaf, other: Leaf, weights: PositionWeights) -> float:
    p, q = one.position, other.position
    structure = ((p.source != q.source) + (p.sink != q.sink) + (p.fan_in != q.fan_in)) / 3
    behaviour = (
        (bool(one.inputs) != bool(other.inputs)) + (bool(one.outputs) != bool(other.outputs))
    ) / 2
    access = (
        (bool(one.reads) != bool(other.reads)) + (bool(one.writes) != bool(other.writes))
    ) / 2
    degree = (abs(p.in_degree - q.in_degree) + abs(p.out_degree - q.out_degree)) / 2
    parts = (structure, behaviour, access, degree)
    shares = (weights.structure, weights.behaviour, weights.access, weights.degree)
    return sum(map(math.prod, zip(parts, shares, strict=True))) / sum(shares)


def check_matrix(matrix, count):
    assert matrix.shape == (count, count)
    assert matrix.dtype == numpy.float32
    assert (matrix == matrix.T).all()
    assert (numpy.diag(matrix) == 0).all()
    assert ((matrix >= 0) & (matrix <= 1)).all()


def pairs(leaves, distance):
    return numpy.array([[distance(a, b) for b in leaves] for a in leaves]).reshape(
        len(leaves), len(leaves)
    )


@settings(deadline=None)
@given(leaf_lists(), st.tuples(*[st.integers(0, 3)] * 4).filter(any), st.integers(0, 2**20))
def test_distances_are_those_of_the_definition(leaves, shares, seed):
    count = len(leaves)
    weights = PositionWeights(*shares)
    vectors = numpy.random.default_rng(seed).integers(-2, 3, (count, 3))
    found = {
        "interface": interface_distances(leaves),
        "hierarchy": hierarchy_distances(leaves),
        "position": position_distances(leaves, weights),
        "semantic": semantic_distances(vectors),
    }
    for matrix in found.values():
        check_matrix(matrix, count)
    assert found["interface"] == pytest.approx(pairs(leaves, slow_interface))
    assert found["hierarchy"] == pytest.approx(pairs(leaves, slow_hierarchy))
    assert found["position"] == pytest.approx(
        pairs(leaves, lambda a, b: slow_position(a, b, weights)), abs=1e-6
    )
    for a, b in itertools.combinations(range(count), 2):
        lengths = math.sqrt(sum(vectors[a] ** 2)) * math.sqrt(sum(vectors[b] ** 2))
        if lengths:
            expected = 1 - max(0.0, float(vectors[a] @ vectors[b]) / lengths)
        else:
            expected = float(vectors[a].any() != vectors[b].any())
        assert found["semantic"][a, b] == pytest.approx(expected, abs=1e-6)
    combined = leaf_distances(leaves, vectors, DistanceWeights(*shares), weights)
    check_matrix(combined, count)
    expected = sum(
        share * found[name].astype(float)
        for share, name in zip(
            shares, ("semantic", "interface", "hierarchy", "position"), strict=True
        )
    )
    assert combined == pytest.approx(expected / sum(shares), abs=1e-6)


@settings(deadline=None, max_examples=30)
@given(leaf_lists(), st.integers(1, 4))
def test_the_size_of_blocks_does_not_matter(leaves, size):
    vectors = sparse.random_array((len(leaves), 4), density=0.5, rng=0)
    whole = leaf_distances(leaves, vectors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_BLOCK", size)
        assert (leaf_distances(leaves, vectors) == whole).all()
        for columns in range(len(leaves) + 1):
            some = distances_to(leaves, vectors, columns)
            assert some == pytest.approx(whole[:, :columns], abs=1e-6)


def test_sparse_and_dense_vectors_give_the_same():
    vectors = sparse.random_array((40, 12), density=0.2, rng=1)
    assert semantic_distances(vectors) == pytest.approx(
        semantic_distances(vectors.toarray()), abs=1e-6
    )


def test_vectors_that_are_no_numbers_are_refused():
    for bad in (numpy.nan, numpy.inf):
        vectors = numpy.array([[1.0, bad], [1.0, 0.0]])
        for form in (vectors, sparse.csr_array(vectors)):
            with pytest.raises(UsageError, match="not finite"):
                semantic_distances(form)


@pytest.mark.parametrize("kind", [DistanceWeights, PositionWeights])
def test_weights_must_say_something(kind):
    for values in ((0, 0, 0, 0), (1, -1, 1, 1), (1, float("nan"), 1, 1)):
        with pytest.raises(UsageError, match="must not be negative, nor all be 0"):
            kind(*values)
    kind(0, 0, 0, 1)


def kitchen():
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="kitchen")
    builder.set_task("supper")
    oven = builder.resource("oven", "machine")
    table = builder.resource("table")
    meal = builder.add("group", "meal")
    soup = builder.add("group", "soup", parent=meal)
    chop = builder.add(
        "subtask",
        "chop",
        content="chop the carrots",
        outputs=[Artifact("carrots", "vegetable"), Artifact("peel", "vegetable")],
        parent=soup,
    )
    boil = builder.add(
        "subtask",
        "boil",
        content="  ",
        inputs=[Artifact("carrots", "vegetable"), Artifact("water")],
        outputs=[Artifact("soup", "dish")],
        accesses=[(oven, "write"), (oven, "read")],
        parent=soup,
    )
    bake = builder.add("subtask", "bake", accesses=[(oven, "write")], parent=meal)
    serve = builder.add(
        "subtask", "serve", inputs=[Artifact("soup", "dish")], accesses=[(table, "read")]
    )
    for source, target in ((chop, boil), (boil, serve), (bake, serve)):
        builder.edge(source, target, "explicit")
    return builder.build()


def test_leaves_worked_out_by_hand():
    leaves = {leaf.name: leaf for leaf in leaves_of(kitchen())}
    assert set(leaves) == {"chop", "boil", "bake", "serve"}
    assert {name: leaf.text for name, leaf in leaves.items()} == {
        "chop": "chop the carrots",
        "boil": "boil",
        "bake": "bake",
        "serve": "serve",
    }
    assert leaves["chop"].outputs == ("vegetable",)
    assert leaves["boil"].inputs == ("vegetable", "water")
    assert leaves["boil"].reads == leaves["boil"].writes == ("machine",)
    assert leaves["boil"].access_modes == ("read", "write")
    assert leaves["serve"].reads == ("table",)
    assert leaves["chop"].access_modes == ()
    depth = {name: len(leaf.ancestors) for name, leaf in leaves.items()}
    assert depth == {"chop": 3, "boil": 3, "bake": 2, "serve": 1}
    assert leaves["chop"].position == Position(True, False, False, 0.0, 1.0)
    assert leaves["boil"].position == Position(False, False, False, 0.5, 1.0)
    assert leaves["serve"].position == Position(False, True, True, 1.0, 0.0)
    named = {leaf.name: leaf for leaf in leaves_of(kitchen(), "name")}
    assert named["chop"].outputs == ("carrots: vegetable", "peel: vegetable")
    assert named["boil"].inputs == ("carrots: vegetable", "water")
    with pytest.raises(UsageError, match="no descriptors"):
        leaves_of(kitchen(), "colour")


def test_distances_worked_out_by_hand():
    leaves = leaves_of(kitchen())
    place = {leaf.name: number for number, leaf in enumerate(leaves)}

    def between(matrix, one, other):
        return pytest.approx(float(matrix[place[one], place[other]]), abs=1e-6)

    hierarchy = hierarchy_distances(leaves)
    assert between(hierarchy, "chop", "boil") == 0
    assert between(hierarchy, "chop", "bake") == 1 / 3
    assert between(hierarchy, "chop", "serve") == 2 / 3
    assert between(hierarchy, "bake", "serve") == 1 / 2
    interface = interface_distances(leaves)
    # boil: in vegetable, in water, out dish, read machine, write machine; bake: write machine
    assert between(interface, "boil", "bake") == 1 - 1 / 5
    # An output of vegetables is no input of vegetables.
    assert between(interface, "chop", "boil") == 1
    position = position_distances(leaves)
    # chop source, bake source; outputs 1/2; writes 1/2; out degree 1 and 1, in degree 0 and 0
    assert between(position, "chop", "bake") == (0 + 1 / 2 + 1 / 2 + 0) / 4


def test_every_action_of_a_run_counts_also_one_that_contains_others():
    builder = GraphBuilder(kind="run", format="test", uri="test", content="run")
    builder.set_task("t")
    outer = builder.add("agent_message", "outer")
    inner = builder.add("tool_call", "inner", parent=outer)
    builder.edge(outer, inner, "explicit")
    leaves = leaves_of(builder.build())
    assert [leaf.name for leaf in leaves] == ["outer", "inner"]
    assert [len(leaf.ancestors) for leaf in leaves] == [1, 2]


def test_a_very_deep_tree_is_walked():
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="deep")
    builder.set_task("t")
    parent = None
    for level in range(3000):
        parent = builder.add("group", f"level {level}", parent=parent)
    builder.add("subtask", "bottom", parent=parent)
    (leaf,) = leaves_of(builder.build())
    assert len(leaf.ancestors) == 3001
