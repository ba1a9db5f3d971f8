import itertools
import random
from collections import Counter

import igraph
import networkx
import numpy
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.projection import project
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from mining.agent_graphs import agent_links
from mining.canonical import MUTUAL, Pattern, canonical
from mining.motifs import MotifConfiguration, mine_motifs
from mining.neighbour_kernel import fill_neighbours
from mining.pair_composition import compose_pair
from mining.significance import (
    NullModelConfiguration,
    benjamini_hochberg,
    holm,
    motif_significance,
)
from mining.swap_kernel import swap_edges
from tests.mining.test_motifs import graphs, make_graph
from tests.strategies import graphs as any_graphs

AGENTS = MotifConfiguration(vertices="agents", kept_occurrences=None)
FEW = NullModelConfiguration(samples=20)


def team(name, roles, links, task="t"):
    """A run in which each link is one message."""
    made = GraphBuilder(kind="run", format="test", uri="test", content=name, record=name)
    made.set_task(task)
    agents = [made.new_agent(f"agent {place}", role=role) for place, role in enumerate(roles)]
    for source, target in links:
        made.add(
            "agent_message",
            "message",
            agent=agents[source],
            recipients=[agents[target]],
            delivery="explicit",
        )
    return made.build()


# --- agents as vertices -----------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(any_graphs(kind="run", max_nodes=8))
def test_links_are_the_exchange_that_the_metrics_use(graph):
    projected = project(graph, "exchange")
    size = len(graph.agents)
    edges = [
        (source, target)
        for source, targets in enumerate(projected.graph.successors)
        for target in targets
        if source < size and target < size
    ]
    assert agent_links(graph) == sorted(edges)


@st.composite
def teams(draw):
    size = draw(st.integers(0, 7))
    pairs = list(itertools.permutations(range(size), 2))
    links = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return team("team", ["solver"] * size, links)


# The classes of Holland and Leinhardt: mutual, asymmetric and null pairs, then direction.
SHAPES = {
    "021D": "fork",
    "021U": "join",
    "021C": "chain",
    "111D": "mutual pair that receives",
    "111U": "mutual pair that sends",
    "030T": "feed-forward triangle",
    "030C": "cycle",
    "201": "mutual chain",
    "120D": "mutual pair with a common sender",
    "120U": "mutual pair with a common receiver",
    "120C": "mutual pair in a cycle",
    "210": "mutual chain with a shortcut",
    "300": "mutual triangle",
}


@settings(max_examples=150, deadline=None)
@given(teams())
def test_agents_of_one_role_equal_the_triadic_census(graph):
    library = mine_motifs([graph], AGENTS)
    links = agent_links(graph)
    whole = networkx.DiGraph(links)
    whole.add_nodes_from(range(len(graph.agents)))
    census = dict.fromkeys(SHAPES, 0)
    if len(whole) >= 3:
        census = {
            name: count
            for name, count in networkx.triadic_census(whole).items()
            if name in SHAPES
        }
    found = Counter()
    for motif in library.motifs:
        found[motif.shape] += motif.occurrence_count
    expected = {SHAPES[name]: count for name, count in census.items() if count}
    assert {shape: count for shape, count in found.items() if shape != "pair"} == {
        **expected,
        **({"mutual pair": found["mutual pair"]} if found["mutual pair"] else {}),
    }
    mutual = sum((target, source) in links for source, target in links) // 2
    assert found["mutual pair"] == mutual
    assert found["pair"] == len(links) - 2 * mutual


@settings(max_examples=150, deadline=None)
@given(graphs(largest=12))
def test_actions_of_one_type_equal_networkx_and_igraph(graph):
    index = {node.id: node.index for node in graph.nodes}
    edges = [(index[edge.source], index[edge.target]) for edge in graph.edges]
    plain = make_graph("plain", ["solver"] * len(graph.nodes), edges)
    found = Counter()
    options = MotifConfiguration(sizes=(3,), indirect=False)
    for motif in mine_motifs([plain], options).motifs:
        found[motif.shape] += motif.occurrence_count
    if len(graph.nodes) < 3:
        assert not found
        return
    whole = networkx.DiGraph(edges)
    whole.add_nodes_from(range(len(graph.nodes)))
    census = networkx.triadic_census(whole)
    names = {name: SHAPES[name] for name in ("021D", "021U", "021C", "030T")}
    assert found == Counter({shape: census[name] for name, shape in names.items()})
    by_class = igraph.Graph(len(graph.nodes), edges, directed=True).motifs_randesu(3)
    # Isomorphism classes of three vertices, numbered by igraph; NaN where not connected.
    classes = {
        igraph.Graph(3, shape, directed=True).isoclass(): name
        for name, shape in (
            ("fork", [(0, 1), (0, 2)]),
            ("join", [(0, 2), (1, 2)]),
            ("chain", [(0, 1), (1, 2)]),
            ("feed-forward triangle", [(0, 1), (0, 2), (1, 2)]),
        )
    }
    assert found == Counter({name: int(by_class[number]) for number, name in classes.items()})


def test_agents_and_their_roles_by_hand():
    graph = team(
        "hub",
        ["orchestrator", "solver", "solver", "critic"],
        [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3), (3, 1), (0, 1)],
    )
    library = mine_motifs([graph], AGENTS)
    assert library.configuration.labels == "role"
    assert (library.graphs[0].nodes, library.graphs[0].edges) == (4, 6)
    table = {motif.description: motif.occurrence_count for motif in library.motifs}
    assert table == {
        "mutual pair: orchestrator <-> solver": 2,
        "pair: orchestrator -> critic": 1,
        "pair: critic -> solver": 1,
        "mutual chain: orchestrator <-> solver #1, orchestrator <-> solver #2": 1,
        "mutual pair that sends: orchestrator -> critic, orchestrator <-> solver": 1,
        "mutual pair in a cycle: orchestrator -> critic -> solver, orchestrator <-> solver": 1,
    }
    (two,) = [motif for motif in library.motifs if motif.size == 2 and motif.task_support
              and "<->" in motif.description]  # fmt: skip
    (found,) = library.occurrences(library.motifs.index(two))
    assert found.nodes == ((0, 1), (0, 2))
    typed = mine_motifs([graph], MotifConfiguration(vertices="agents", labels="role/kind"))
    assert "orchestrator/agent" in typed.motifs[0].labels


@given(
    st.lists(st.sampled_from([0, 1, 3, MUTUAL]), min_size=3, max_size=3),
    st.permutations([0, 1, 2]),
)
def test_mutual_pairs_have_one_canonical_form(relations, order):
    pattern = Pattern(("a", "a", "b"), tuple(relations))
    assert canonical(pattern.reordered(order))[0] == canonical(pattern)[0]


def test_what_makes_no_sense_for_agents_is_refused():
    with pytest.raises(UsageError, match="vertices"):
        MotifConfiguration(vertices="agents", node_kinds=("decision",))
    with pytest.raises(UsageError, match="nodes or agents"):
        MotifConfiguration(vertices="others")
    assert MotifConfiguration(vertices="agents").indirect is False
    mutual = Pattern(("a", "a"), (MUTUAL,))
    with pytest.raises(UsageError, match="answer each other"):
        compose_pair(mutual, mutual, [(0, 1)])
    large = mine_motifs(
        [team("x", ["solver"] * 3, [(0, 1)])],
        MotifConfiguration(vertices="agents", max_nodes=2),
    )
    assert large.graphs[0].skipped == "3 agents, more than max_nodes = 2"


# --- the null model ---------------------------------------------------------------------------


def swapped(edges, labels, forward, seed, attempts=200):
    edges = sorted(edges)
    sources = numpy.array([source for source, _ in edges], numpy.int64)
    targets = numpy.array([target for _, target in edges], numpy.int64)
    starts = numpy.searchsorted(sources, numpy.arange(len(labels) + 1))
    draws = numpy.random.default_rng(seed).integers(0, max(1, len(edges)), (attempts, 2))
    if not edges:
        draws = draws[:0]
    made = swap_edges(sources, targets, starts, labels, draws, forward)
    return list(zip(sources.tolist(), targets.tolist(), strict=True)), made


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 9), st.data(), st.booleans(), st.integers(0, 10**6))
def test_swaps_keep_degrees_role_links_and_order(size, data, forward, seed):
    make = itertools.combinations if forward else itertools.permutations
    pairs = list(make(range(size), 2))
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    other, _ = swapped(edges, labels, forward, seed)

    def kept(found):
        return (
            Counter(source for source, _ in found),
            Counter(target for _, target in found),
            Counter((labels[source], labels[target]) for source, target in found),
        )

    assert kept(other) == kept(edges)
    assert len(set(other)) == len(edges)
    assert all(source < target if forward else source != target for source, target in other)


def test_swaps_reach_all_graphs_about_equally_often():
    # Sources 0, 1, 2 send one edge each to 3, 4, 5: six ways, all with the same degrees.
    edges = [(0, 3), (1, 4), (2, 5)]
    seen = Counter(
        tuple(sorted(swapped(edges, [0] * 6, True, seed, attempts=40)[0]))
        for seed in range(3_000)
    )
    assert len(seen) == 6
    assert scipy.stats.chisquare(list(seen.values())).pvalue > 1e-4
    # Where each target has a label of its own, and each source too, nothing can be swapped.
    assert swapped(edges, list(range(6)), True, 1) == (edges, 0)


@settings(max_examples=60, deadline=None)
@given(graphs(largest=9), st.data())
def test_neighbours_are_filled_like_a_slow_list(graph, data):
    index = {node.id: node.index for node in graph.nodes}
    size = len(graph.nodes)
    edges = [(index[edge.source], index[edge.target]) for edge in graph.edges]
    coupled = [(index[pair.source], index[pair.target]) for pair in graph.couplings]
    left_out = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    width = 2
    starts = numpy.empty(size + 1, numpy.int64)
    near = numpy.empty(2 * (len(edges) + len(coupled)), numpy.int64)
    codes = near.copy()
    reach = numpy.full(size * width, 255, numpy.uint8)
    fill_neighbours(
        numpy.array([source for source, _ in edges], numpy.int64),
        numpy.array([target for _, target in edges], numpy.int64),
        [one for one, _ in coupled],
        [other for _, other in coupled],
        left_out,
        starts,
        near,
        codes,
        width,
        reach,
    )
    expected = [Counter() for _ in range(size)]
    for pairs, code in ((edges, 1), (coupled, 3)):
        for one, other in pairs:
            if not (left_out[one] or left_out[other]):
                expected[one][other] += code
                expected[other][one] += code
    dag = networkx.DiGraph(edges)
    dag.add_nodes_from(range(size))
    for node in range(size):
        here = slice(starts[node], starts[node + 1])
        assert list(zip(near[here].tolist(), codes[here].tolist(), strict=True)) == sorted(
            expected[node].items()
        )
        bits = int.from_bytes(reach[node * width : (node + 1) * width].tobytes(), "little")
        assert {other for other in range(size) if bits >> other & 1} == networkx.descendants(
            dag, node
        )


# --- significance -----------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(graphs(largest=9))
def test_counts_of_samples_equal_mining_them(graph):
    """The same walks, done slowly: swap, build the graph, mine it."""
    motifs = mine_motifs([graph])
    options = NullModelConfiguration(samples=4, attempts_per_edge=3, seed=5)
    result = motif_significance([graph], motifs, options)
    index = {node.id: node.index for node in graph.nodes}
    edges = sorted((index[edge.source], index[edge.target]) for edge in graph.edges)
    coupled = [(index[pair.source], index[pair.target]) for pair in graph.couplings]
    from graphstore.identity import digest

    stream = numpy.random.PCG64(int(digest("5", graph.id, size=16), 16))
    labels = [node.role for node in graph.nodes]

    def walk(current):
        current = list(current)
        raw = stream.random_raw(2 * 3 * len(edges)).tolist()
        for one, other in zip(raw[::2], raw[1::2], strict=True):
            i, j = one % len(edges), other % len(edges)
            (a, b), (c, d) = current[i], current[j]
            same = labels[b] == labels[d] or labels[a] == labels[c]
            new = ((a, d), (c, b))
            loops = a >= d or c >= b
            if a != c and b != d and same and not loops and not set(new) & set(current):
                current[i], current[j] = new
        return current

    totals = Counter()
    hub = walk(edges) if len(edges) > 1 else edges
    for _ in range(4):
        sample = walk(hub) if len(edges) > 1 else edges
        drawn = make_graph("sample", labels, sample, coupled)
        for motif in mine_motifs([drawn]).motifs:
            totals[motif.pattern] += motif.occurrence_count
    for row in result.rows:
        assert row.observed == row.motif.occurrence_count
        assert row.mean == pytest.approx(totals[row.motif.pattern] / 4)


def planted(count, seed=1):
    """Runs in which work always comes back to the one who gave it: many feed-forward
    triangles, far more than the same degrees give by chance."""
    made = []
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        edges = set()
        for begin in range(0, 27, 3):
            edges |= {(begin, begin + 1), (begin + 1, begin + 2), (begin, begin + 2)}
        for _ in range(9):
            one, other = sorted(chance.sample(range(27), 2))
            edges.add((one, other))
        made.append(make_graph(f"run {number}", ["solver"] * 27, sorted(edges)))
    return made


def test_a_planted_pattern_is_found_and_others_are_not():
    runs = planted(10)
    motifs = mine_motifs(runs)
    result = motif_significance(runs, motifs, NullModelConfiguration(samples=200))
    by_shape = {row.motif.shape: row for row in result.rows}
    triangle = by_shape["feed-forward triangle"]
    assert triangle.z > 10
    assert triangle.p_more == 1 / 201
    assert triangle.p == 2 / 201
    assert triangle.p_holm < 0.1
    # Edges and their ends are kept, so that pairs never change.
    pair = by_shape["pair"]
    assert (pair.mean, pair.deviation, pair.z, pair.p) == (pair.observed, 0.0, None, 1.0)
    assert by_shape["chain"].z < 0
    assert 0 < result.swap_share < 1


def test_p_values_of_random_graphs_are_fair():
    """Graphs drawn from the null model itself: small p-values are as rare as they say."""
    values = []
    for number in range(60):
        chance = random.Random(number)
        edges = {tuple(sorted(chance.sample(range(14), 2))) for _ in range(22)}
        start = make_graph(f"g{number}", ["solver"] * 14, sorted(edges))
        edges, _ = swapped(edges, [0] * 14, True, number, attempts=2_000)
        drawn = make_graph(f"g{number}", ["solver"] * 14, sorted(edges))
        assert len(start.edges) == len(drawn.edges)
        motifs = mine_motifs([drawn], MotifConfiguration(indirect=False))
        result = motif_significance([drawn], motifs, NullModelConfiguration(samples=99))
        values += [row.p_more for row in result.rows if row.motif.shape == "chain"]
    assert len(values) == 60
    assert scipy.stats.kstest(values, "uniform", alternative="greater").pvalue > 1e-3


def test_agents_beside_chance():
    # Rings of answers: everybody answers whoever asked.
    links = [(place, (place + 1) % 8) for place in range(8)]
    links += [(target, source) for source, target in links]
    runs = [team(f"r{number}", ["solver"] * 8, links) for number in range(3)]
    motifs = mine_motifs(runs, AGENTS)
    result = motif_significance(runs, motifs, NullModelConfiguration(samples=60))
    rows = {row.motif.shape: row for row in result.rows}
    assert rows["mutual pair"].z > 3
    assert rows["mutual pair"].p_more == 1 / 61


def test_the_same_seed_gives_the_same_result():
    runs = planted(3)
    motifs = mine_motifs(runs)
    one = motif_significance(runs, motifs, FEW)
    assert motif_significance(runs[::-1], motifs, FEW) == one
    other = motif_significance(runs, motifs, NullModelConfiguration(samples=20, seed=1))
    assert other.hash != one.hash


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections(values):
    expected = scipy.stats.false_discovery_control(values)
    assert benjamini_hochberg(values) == pytest.approx(list(expected))
    # Holm, by its definition: the smallest level at which each hypothesis is rejected.
    order = sorted(range(len(values)), key=lambda place: values[place])
    for place, corrected in enumerate(holm(values)):
        rank = order.index(place)
        steps = [min(1, (len(values) - j) * values[order[j]]) for j in range(rank + 1)]
        assert corrected == pytest.approx(max(steps))


def test_corrections_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert benjamini_hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert (holm([]), benjamini_hochberg([])) == ([], [])


def test_labels_left_out_and_graphs_over_budget():
    small = make_graph("small", ["solver", "critic", "solver"], [(0, 1), (1, 2)])
    large = make_graph("large", ["solver"] * 5, [(0, 1), (2, 3)])
    options = MotifConfiguration(labels="some", max_nodes=4)
    label = lambda node: None if node.role == "critic" else node.role  # noqa: E731
    motifs = mine_motifs([small, large], options, label_of=label)
    result = motif_significance([small, large], motifs, FEW, label_of=label)
    assert result.rows == ()
    with pytest.raises(UsageError, match="need their labelling function"):
        motif_significance([small], motifs, FEW)


def test_graphs_that_are_not_those_of_the_motifs_are_refused():
    one, other = make_graph("a", ["solver"] * 2, [(0, 1)]), make_graph("b", ["solver"], [])
    motifs = mine_motifs([one])
    with pytest.raises(UsageError, match="were not mined from"):
        motif_significance([one, other], motifs, FEW)
    with pytest.raises(UsageError, match="was not given"):
        motif_significance([], motifs, FEW)
    for wrong in ({"samples": 0}, {"attempts_per_edge": 0}):
        with pytest.raises(UsageError):
            NullModelConfiguration(**wrong)


def test_tables_and_nothing():
    empty = motif_significance([], mine_motifs([]), FEW)
    assert (empty.rows, empty.swap_share) == ((), None)
    assert empty.to_pandas().empty
    graph = make_graph("a", ["solver"] * 2, [(0, 1)])
    single = NullModelConfiguration(samples=1)
    table = motif_significance([graph], mine_motifs([graph]), single).to_pandas()
    assert list(table["observed"]) == [1]
    assert table["deviation"].isna().all()
