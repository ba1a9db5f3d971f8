"""The panel beside forests: each part by hand, and runs that lack something."""

import math
import time

import networkx
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.forest import ForestConfiguration, ForestSet, keys_of
from analytics.forest_building import build_forest, make_candidate
from analytics.forest_panel import (
    ForestPanelConfiguration,
    ForestScorer,
    evaluate_beside_forests,
    forest_row,
    panel_configuration,
)
from analytics.forest_parts import (
    embedded_cosines,
    information_uptake,
    topology_efficiency,
)
from analytics.panel import evaluate_graph
from analytics.term_weights import term_cosines
from graphstore.errors import UsageError
from mining.embedders import TfidfEmbedder
from tests.analytics.teams import team_run
from tests.analytics.test_forest import cluster
from tests.strategies import graphs as any_graphs


def forests_of(graphs, levels=("task", "dataset"), **options):
    """A set of forests of runs that all count as successes."""
    configuration = ForestConfiguration(**options)
    measure = configuration.make_measure()
    groups = {}
    for graph in graphs:
        for key in keys_of(graph, levels).values():
            groups.setdefault(key, []).append(make_candidate(graph, measure))
    made = [
        build_forest(key, found, configuration, measure, cluster)
        for key, found in sorted(groups.items())
    ]
    return ForestSet(configuration, {}, tuple(one for one in made if hasattr(one, "scores")))


WAYS = [
    team_run("a", "ps", contents=["plan", "do"]),
    team_run("b", "ps", contents=["plan", "do"]),
    team_run("c", "pc", contents=["plan", "judge"]),
]


def test_the_score_of_a_run_worked_out_by_hand():
    scorer = ForestScorer(forests_of(WAYS), WAYS)
    failed = team_run("x", "pss", success=False)
    row = forest_row(failed, scorer=scorer)
    # Beside planner -> solver (weight 1/2): labels 2 of 3, pairs 1 of 2; sizes 2/3, 1/2, 2/3
    # and 1/1. Beside planner -> critic (1/2): labels 1 of 4, no pair of 3, the same sizes.
    sizes = (2 / 3 + 1 / 2 + 2 / 3 + 1) / 4
    near = 0.4 * 2 / 3 + 0.4 * 1 / 2 + 0.2 * sizes
    far = 0.4 * 1 / 4 + 0.2 * sizes
    assert row.forest_match == pytest.approx((near + far) / 2)
    assert row.forest_node_match == pytest.approx((2 / 3 + 1 / 4) / 2)
    assert row.forest_edge_match == pytest.approx(1 / 2 / 2)
    assert row.forest_topology_match == pytest.approx(sizes)
    assert row.best_similarity == pytest.approx(near)
    assert row.best_reference == min(graph.id for graph in WAYS[:2])
    assert (row.forest_level, row.forest_references) == ("task", 2)
    assert row.forest_match_percentile == 1.0
    # Two distinct successes are too few for a threshold.
    assert (row.forest_threshold, row.diagnosis) == (None, None)
    assert row.information_uptake is None
    assert row.uptake_edges is None


def test_a_run_of_the_forest_is_compared_with_the_others_alone():
    scorer = ForestScorer(forests_of(WAYS), WAYS)
    for run in WAYS[:2]:
        score = scorer.score(run)
        assert (score.references, score.best_reference) == (1, WAYS[2].id)
        assert score.match == score.best_similarity == pytest.approx(1 / 3)
    # A copy under another id is the same success; with other words it is another run.
    again = team_run("z", "ps", contents=["plan", "do"], success=False)
    assert scorer.score(again) == scorer.score(WAYS[0])
    other = team_run("y", "ps", contents=["plan", "did"], success=False)
    assert scorer.score(other).best_similarity == 1.0
    assert scorer.score(other).match == pytest.approx(1 / 2 + 1 / 3 / 2)


@pytest.mark.parametrize("measure", ["forest", "wl"])
def test_every_success_leaves_its_share_whoever_stands_for_it(measure):
    graphs = [team_run(f"{way}{one}", way) for way in ("ps", "pc", "psv") for one in range(3)]
    scorer = ForestScorer(forests_of(graphs, ("task",), measure=measure), graphs)
    assert len(scorer.forests.forests[0].references) == 3
    ready = scorer.measure
    for graph in graphs:
        # All others, one by one: what a forest without clusters would give.
        own = ready.prepare(graph)
        others = [
            ready.similarity(own, ready.prepare(other)) for other in graphs if other != graph
        ]
        assert scorer.score(graph).match == pytest.approx(sum(others) / len(others))


def test_the_nearest_level_that_has_something_to_compare_with_is_used():
    elsewhere = [team_run(name, "ps", task="u") for name in "de"]
    forests = forests_of([*WAYS, *elsewhere], ("task", "dataset", "all"))
    scorer = ForestScorer(forests, [*WAYS, *elsewhere])
    assert scorer.score(team_run("x", "ps")).level == "task"
    assert scorer.score(team_run("x", "ps", task="new")).level == "dataset"
    assert scorer.score(team_run("x", "ps", task="new", dataset="e")).level == "all"
    pooled = ForestScorer(forests, [*WAYS, *elsewhere], ["dataset"])
    assert pooled.score(team_run("x", "ps")).level == "dataset"
    assert pooled.score(team_run("x", "ps", dataset="e")).match is None
    with pytest.raises(UsageError, match="there is no level 'galaxy'"):
        ForestScorer(forests, [], ["galaxy"])


def test_references_that_are_gone_are_left_out_and_named():
    forests = forests_of(WAYS)
    first = min(graph.id for graph in WAYS[:2])
    scorer = ForestScorer(forests, [WAYS[2]])
    assert scorer.missing == (first,)
    score = scorer.score(team_run("x", "ps"))
    assert (score.references, score.best_reference) == (1, WAYS[2].id)
    assert ForestScorer(forests, []).score(team_run("x", "ps")).level is None


def test_other_measures_give_no_parts():
    scorer = ForestScorer(forests_of(WAYS, measure="wl"), WAYS)
    score = scorer.score(team_run("x", "ps"))
    assert score.best_similarity == 1.0
    assert 0 < score.match < 1
    assert (score.node_match, score.edge_match, score.topology_match) == (None, None, None)


def test_uptake_by_hand():
    same = team_run("a", "psc", contents=["red fish", "red fish", "blue bird"])
    found = information_uptake(same, term_cosines)
    assert (found.value, found.edges) == (pytest.approx(0.5), 2)
    half = team_run("b", "ps", contents=["red fish", "red bird"])
    # Each word's weight is 1 + ln 1 = 1 where both texts have it, 1 + ln 1.5 where one has.
    rare = (1 + math.log(1.5)) ** 2
    assert information_uptake(half, term_cosines).value == pytest.approx(1 / (1 + rare))


WORDS = st.sampled_from(["red", "Fish", "readFile_12", "3", "ÉTÉ", "ﬁsh", "  ", "x", "it's"])


@given(st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=2, max_size=7), st.data())
def test_term_cosines_are_those_of_the_embedder(texts, data):
    places = st.integers(0, len(texts) - 1)
    pairs = data.draw(st.lists(st.tuples(places, places), min_size=1, max_size=8))
    expected = embedded_cosines(TfidfEmbedder())(texts, pairs)
    assert term_cosines(texts, pairs) == pytest.approx(expected, nan_ok=True)


def test_dense_vectors_have_cosines_too():
    class Lengths:
        """The number of letters beside 1: a real embedder of two dimensions."""

        def fit(self, texts):
            return self

        def embed(self, texts):
            return numpy.array([[len(text), 1.0 if text else 0.0] for text in texts])

    found = embedded_cosines(Lengths())(["a", "aa", ""], [(0, 1), (0, 0), (1, 2)])
    assert found == pytest.approx([3 / math.sqrt(10), 1.0, math.nan], nan_ok=True)


@pytest.mark.parametrize(
    "graph",
    [
        team_run("a", "p"),
        team_run("b", ""),
        team_run("c", "ps", []),
        team_run("d", "ps", contents=[None, "x"]),
        team_run("e", "ps", contents=["12", "34"]),
        team_run("f", "ps", contents=["", "words"]),
    ],
)
def test_uptake_is_missing_where_no_edge_can_be_measured(graph):
    found = information_uptake(graph, term_cosines)
    assert (found.value, found.edges) == (None, 0)


@pytest.mark.parametrize(
    ("roles", "edges", "expected"),
    [
        ("ps", None, (1.0, 2, 0.5)),
        ("psc", [(0, 1), (0, 2)], (1.5, 3, 0.5)),
        ("psc", [], (3.0, 3, 1.0)),
        ("ppp", [], (3.0, 1, 3.0)),
        ("", [], (None, 0, None)),
    ],
)
def test_topology_efficiency_by_hand(roles, edges, expected):
    found = topology_efficiency(team_run("a", roles, edges))
    assert (found.parallelism, found.active_agents, found.value) == expected


def test_efficiency_is_missing_where_nobody_acts():
    found = topology_efficiency(team_run("a", "ps", agents=False))
    assert (found.parallelism, found.active_agents, found.value) == (1.0, 0, None)


@settings(max_examples=60, deadline=None)
@given(any_graphs(kind="run"))
def test_any_run_has_a_panel(graph):
    dag = networkx.DiGraph()
    dag.add_nodes_from(node.id for node in graph.nodes)
    dag.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    parallelism = topology_efficiency(graph).parallelism
    if graph.nodes:
        longest = networkx.dag_longest_path_length(dag) + 1
        assert parallelism == pytest.approx(len(graph.nodes) / longest)
    else:
        assert parallelism is None
    scorer = ForestScorer(forests_of(WAYS, ("all",)), WAYS)
    row = forest_row(graph, cosines=term_cosines, scorer=scorer)
    assert row.forest_level == "all"
    if graph.nodes:
        assert 0 <= row.forest_match <= row.best_similarity <= 1
    else:
        assert row.forest_match is row.best_similarity is row.forest_match_percentile is None
    assert row.information_uptake is None or 0 <= row.information_uptake <= 1 + 1e-12
    plain = evaluate_graph(graph)
    assert row.density == plain.density
    assert row.node_validity == plain.node_validity


def test_a_run_without_actions_has_nothing_to_compare():
    scorer = ForestScorer(forests_of(WAYS), WAYS)
    score = scorer.score(team_run("empty", ""))
    # That is missing, and no low match: no diagnosis rests on it.
    row = forest_row(team_run("empty", ""), scorer=scorer)
    for found in (score.match, score.node_match, score.edge_match, score.topology_match):
        assert found is None
    assert (score.best_similarity, score.best_reference, score.percentile) == (None,) * 3
    assert (row.forest_match, row.diagnosis) == (None, None)
    both = ForestScorer(forests_of(WAYS), [team_run("q", "")])
    assert both.score(team_run("empty", "")).match is None


def test_five_thousand_actions():
    long = team_run(
        "long", "ps" * 2500, contents=[f"word{n % 7} and more" for n in range(5000)]
    )
    scorer = ForestScorer(forests_of(WAYS), WAYS)
    start = time.perf_counter()
    row = forest_row(long, cosines=term_cosines, scorer=scorer)
    assert time.perf_counter() - start < 30
    assert (row.actions, row.uptake_edges) == (5000, 4999)
    assert row.topology_efficiency == 0.5
    assert 0 < row.forest_match < 0.5


def test_the_panel_of_many_runs():
    three = [*WAYS, team_run("d", "pv"), team_run("x", "vvvv", success=False)]
    forests = forests_of(three[:-1])
    scorer = ForestScorer(forests, three)
    configuration = panel_configuration(None, "tfidf", scorer)
    assert configuration == ForestPanelConfiguration(embedder="tfidf", forest_set=forests.id)
    found = evaluate_beside_forests(three, configuration, cosines=term_cosines, scorer=scorer)
    assert found.compared == 5
    assert [row.diagnosis for row in found.rows][-1] == "structural"
    assert found.rows[3].forest_threshold is not None
    frame = found.to_pandas()
    assert str(frame["forest_match"].dtype) == "Float64"
    assert str(frame["diagnosis"].dtype).startswith("string")
    (method,) = found.by_method()
    assert method.means["forest_match"] == pytest.approx(frame["forest_match"].mean())
    assert method.known["best_similarity"] == 5
    document = found.to_dict()
    assert list(document) == ["configuration", "configuration_hash", "rows"]
    assert document["configuration"]["forest_set"] == forests.id
    # Without forests and embedder, those columns are missing and the others as before.
    plain = evaluate_beside_forests(three, panel_configuration(None, None, None))
    assert plain.compared == 0
    assert plain.rows[0].forest_match is None
    assert plain.rows[0].density == found.rows[0].density
    assert plain.configuration_hash != found.configuration_hash
