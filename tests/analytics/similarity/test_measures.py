"""What holds for every measure, whatever it measures."""

import importlib.util
import pickle
import random

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import masgraph
from analytics.similarity.compare import align, similarities, similarity
from analytics.similarity.measure import MEASURES, measure_named
from graphstore.errors import MissingExtraError, UsageError
from tests.analytics.similarity.drawing import ROLES, drawn, random_graph, renamed, reordered
from tests.strategies import graphs

OWN = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name == "gromov" and importlib.util.find_spec("ot") is None, reason="needs POT"
        ),
    )
    for name in MEASURES
    if name != "embedding"
]
COUNTING = ("forest", "wl", "motif")


def several(count=12, nodes=9, seed=3):
    generator = random.Random(seed)
    return [
        random_graph(generator, generator.randint(0, nodes), 0.35, couplings=0.05)
        for _ in range(count)
    ]


@pytest.mark.parametrize("name", OWN)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_graph_is_like_itself_and_likeness_goes_both_ways(name, data):
    measure = measure_named(name)
    one, other = (measure.prepare(data.draw(graphs(max_nodes=7))) for _ in range(2))
    assert measure.similarity(one, one) in (1.0, None)
    value = measure.similarity(one, other)
    assert value == measure.similarity(other, one)
    assert value is None or 0 <= value <= 1


@pytest.mark.parametrize("name", OWN)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_ids_and_names_of_agents_say_nothing(name, data):
    measure = measure_named(name)
    graph, other = data.draw(graphs(max_nodes=7)), data.draw(graphs(max_nodes=7))
    twin = renamed(graph)
    assert measure.prepare(twin) == measure.prepare(graph)
    before = measure.similarity(measure.prepare(graph), measure.prepare(other))
    assert measure.similarity(measure.prepare(twin), measure.prepare(other)) == before


@pytest.mark.parametrize("name", [name for name in OWN if "alignment" not in name.values])
def test_a_large_graph_in_another_order_is_the_same(name):
    generator = random.Random(12)
    measure = measure_named(name)
    for density in (0.03, 0.1, 0.3):
        graph = random_graph(generator, 30, density, roles=ROLES[:2], couplings=0.03)
        twin = reordered(graph, generator)
        one, other = measure.prepare(graph), measure.prepare(twin)
        assert one != other or name != "edit"
        assert measure.similarity(one, other) == 1.0
        assert measure.similarity(other, one) == 1.0


@pytest.mark.parametrize("name", [*COUNTING, "edit"])
def test_the_order_of_independent_actions_says_nothing(name):
    generator = random.Random(11)
    measure = measure_named(name)
    for _ in range(40):
        graph = random_graph(
            generator,
            generator.randint(1, 8),
            0.3,
            couplings=0.1 if name != "edit" else 0.0,
        )
        other = measure.prepare(random_graph(generator, generator.randint(1, 8), 0.3))
        twin = measure.prepare(reordered(graph, generator))
        own = measure.prepare(graph)
        assert measure.similarity(own, twin) in (1.0, None)
        assert measure.similarity(own, other) == measure.similarity(twin, other)


@pytest.mark.parametrize("name", OWN)
def test_a_matrix_holds_the_pairs(name):
    measure = measure_named(name)
    prepared = [measure.prepare(graph) for graph in several()]
    expected = numpy.array(
        [[measure.similarity(one, other) for other in prepared] for one in prepared], float
    )
    whole = measure.matrix(prepared)
    numpy.testing.assert_allclose(whole, expected, rtol=1e-14)
    numpy.testing.assert_array_equal(whole, whole.T)
    numpy.testing.assert_array_equal(measure.matrix(prepared[:5], prepared), whole[:5])
    assert set(numpy.diag(whole)[~numpy.isnan(numpy.diag(whole))]) == {1.0}
    assert measure.matrix([], prepared).shape == (0, len(prepared))
    assert measure.matrix([]).shape == (0, 0)


@pytest.mark.parametrize("name", COUNTING)
def test_compiled_and_plain_loops_agree(name, monkeypatch):
    measure = measure_named(name)
    prepared = [measure.prepare(graph) for graph in several(60)]
    monkeypatch.setattr("analytics.similarity.counts.COMPILE_FROM", 10**12)
    plain = measure.matrix(prepared)
    monkeypatch.setattr("analytics.similarity.counts.COMPILE_FROM", 0)
    numpy.testing.assert_array_equal(measure.matrix(prepared), plain)
    monkeypatch.setattr("analytics.similarity.counts.ROWS", 7)
    numpy.testing.assert_array_equal(measure.matrix(prepared), plain)


@pytest.mark.parametrize("name", OWN)
def test_what_was_prepared_travels(name):
    measure = measure_named(name)
    for graph in several(4):
        prepared = measure.prepare(graph)
        assert pickle.loads(pickle.dumps(prepared)) == prepared
    assert pickle.loads(pickle.dumps(measure)) == measure


@pytest.mark.parametrize("name", OWN)
def test_bare_and_broken_runs(name):
    measure = measure_named(name)
    nothing = measure.prepare(drawn([]))
    alone = measure.prepare(drawn(["solver"]))
    apart = measure.prepare(drawn(["solver", "critic", "solver", "planner"], [(0, 1)]))
    assert measure.similarity(nothing, nothing) is None
    assert measure.similarity(alone, alone) == (None if name == "motif" else 1.0)
    assert measure.similarity(apart, apart) == 1.0
    assert numpy.isnan(measure.matrix([nothing])).all()
    value = measure.similarity(alone, apart)
    assert value is not None
    assert value < 1
    # What does nothing has no similarity; that is not the same as having nothing in common.
    for one, other in ((nothing, apart), (apart, nothing), (alone, nothing)):
        assert measure.similarity(one, other) is None
        assert numpy.isnan(measure.matrix([one], [other])).all()
    beside = measure.matrix([apart, nothing, apart], [nothing, apart])
    assert numpy.isnan(beside).tolist() == [[True, False], [True, True], [True, False]]
    assert measure.obstacle(nothing) == "it has no nodes"
    assert measure.obstacle(apart) is None


@pytest.mark.parametrize("name", OWN)
def test_a_run_of_five_thousand_actions(name):
    generator = random.Random(2)
    nodes = 5_000
    labels = [generator.choice(("solver", "critic", "executor")) for _ in range(nodes)]
    edges = [(place - 1, place) for place in range(1, nodes)]
    edges += [(place - 7, place) for place in range(7, nodes, 3)]
    one = drawn(labels, edges)
    labels[100:110] = ["planner"] * 10
    other = drawn(labels[:4_900], [edge for edge in edges if edge[1] < 4_900])
    measure = measure_named(name)
    prepared = [measure.prepare(graph) for graph in (one, other)]
    value = measure.similarity(*prepared)
    if name == "gromov":
        assert value is None
        assert "5000 nodes" in measure.obstacle(prepared[0])
    else:
        assert measure.obstacle(prepared[0]) is None
        assert 0.9 < value < 1


def test_names_and_options():
    with pytest.raises(UsageError, match=r"no measure 'cosine'; choose one of forest, wl"):
        measure_named("cosine")
    with pytest.raises(UsageError, match=r"forest has no option 'delta'; it has alpha"):
        measure_named("forest", delta=1)
    with pytest.raises(UsageError, match="no labels 'colour'"):
        measure_named("wl", labels="colour")
    changed = measure_named("forest", gamma=0.5)
    assert changed.configuration["gamma"] == 0.5
    assert changed.configuration["measure"] == "forest"
    assert changed.configuration_hash != measure_named("forest").configuration_hash
    assert changed.configuration_hash == measure_named("forest", gamma=0.5).configuration_hash


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("forest", {"alpha": -1}),
        ("forest", {"alpha": 0, "beta": 0, "gamma": 0}),
        ("forest", {"beta": float("nan")}),
        ("wl", {"iterations": -1}),
        ("wl", {"iterations": 2.5}),
        ("wl", {"direction": "up"}),
        ("motif", {"sizes": (2, 4)}),
        ("motif", {"sizes": ()}),
        ("motif", {"max_steps": -1}),
        ("alignment", {"position": -0.1}),
        ("alignment", {"content": float("inf")}),
        ("alignment", {"window": 0}),
        ("edit", {"exact_limit": -1}),
        ("forest", {"alpha": "x"}),
        ("forest", {"alpha": 1e308, "beta": 1e308, "gamma": 1e308}),
        ("forest", {"gamma": True}),
        ("forest", {"beta": None}),
        ("forest", {"definitions": 9}),
        ("forest", {"labels": 3}),
        ("wl", {"iterations": True}),
        ("motif", {"sizes": 3}),
        ("motif", {"sizes": ["x"]}),
        ("alignment", {"dense_limit": "x"}),
        ("alignment", {"content": "x"}),
        ("alignment", {"rounds": 1.5}),
        ("edit", {"exact_limit": "x"}),
        ("edit", {"max_steps": "x"}),
        ("edit", {"max_steps": 10**30}),
        pytest.param("gromov", {"alpha": "x"}, marks=OWN[-1].marks),
    ],
)
def test_options_that_make_no_sense(name, options):
    with pytest.raises(UsageError):
        measure_named(name, **options)


@pytest.mark.parametrize("name", OWN)
def test_a_configuration_makes_its_measure_again(name):
    values = measure_named(name).configuration
    again = measure_named(values.pop("measure"), **values)
    assert again.configuration_hash == measure_named(name).configuration_hash


def test_a_missing_extra_names_its_command(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("analytics.similarity.gromov.importlib.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'masgraph\[ot\]'"):
        measure_named("gromov")


def test_for_notebooks():
    one, other = drawn(["planner", "solver"], [(0, 1)]), drawn(["planner", "critic"], [(0, 1)])
    assert similarity(one, one) == 1
    assert masgraph.similarity(one, other, "edit") == 1 - 1 / 6
    assert similarities([one, other], measure="wl").shape == (2, 2)
    assert similarities([one], [one, other, other]).shape == (1, 3)
    assert align(one, other).cost == 1
    with pytest.raises(UsageError, match="alignment has no option 'alpha'"):
        align(one, other, alpha=1)
