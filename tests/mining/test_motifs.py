import itertools
from collections import Counter

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mining.motif_enumeration
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph
from mining.motifs import MotifConfiguration, mine_motifs

EVERYTHING = MotifConfiguration(kept_occurrences=None)


def make_graph(
    name: str,
    roles: list[str],
    edges: list[tuple[int, int]],
    couplings: list[tuple[int, int]] = (),
    *,
    task: str = "t",
    kind: str = "run",
) -> CollaborationGraph:
    builder = GraphBuilder(kind=kind, format="test", uri="test", content=name, record=name)
    builder.set_task(task)
    for place, role in enumerate(roles):
        node_kind = "agent_message" if kind == "run" else "subtask"
        builder.add(node_kind, f"node {place}", role=role)
    for source, target in edges:
        builder.edge(source, target, "explicit")
    for one, other in couplings:
        builder.couple(one, other)
    return builder.build()


def slow_motifs(graph: CollaborationGraph, sizes=(2, 3), indirect=True) -> dict:
    """Canonical form -> the sorted node sets that show it, by the definition alone."""
    index = {node.id: node.index for node in graph.nodes}
    direct = {(index[edge.source], index[edge.target]) for edge in graph.edges}
    coupled = {frozenset((index[pair.source], index[pair.target])) for pair in graph.couplings}
    dag = networkx.DiGraph()
    dag.add_nodes_from(index.values())
    dag.add_edges_from(direct)
    reachable = {node: networkx.descendants(dag, node) for node in dag}
    joined = networkx.Graph()
    joined.add_nodes_from(dag)
    joined.add_edges_from(direct)
    joined.add_edges_from(tuple(pair) for pair in coupled)
    labels = {node.index: f"{node.role}/{node.kind}" for node in graph.nodes}

    def relation(a: int, b: int) -> int:
        if (a, b) in direct:
            code = 1
        elif (b, a) in direct:
            code = 3
        elif indirect and b in reachable[a]:
            code = 2
        elif indirect and a in reachable[b]:
            code = 4
        else:
            code = 0
        return code + 5 * (frozenset((a, b)) in coupled)

    found = {}
    for size in sizes:
        for nodes in itertools.combinations(sorted(joined), size):
            if not networkx.is_connected(joined.subgraph(nodes)):
                continue
            encodings = [
                (
                    tuple(labels[node] for node in order),
                    tuple(relation(a, b) for a, b in itertools.combinations(order, 2)),
                    order,
                )
                for order in itertools.permutations(nodes)
            ]
            names, relations, order = min(encodings)
            found.setdefault((names, relations), []).append(order)
    return {key: sorted(value) for key, value in found.items()}


def fast_motifs(library, graph: CollaborationGraph) -> dict:
    place = [found.id for found in library.graphs].index(graph.id)
    return {
        (motif.pattern.labels, motif.pattern.relations): sorted(occurrence.nodes)
        for number, motif in enumerate(library.motifs)
        for occurrence in library.occurrences(number)
        if occurrence.graph == place
    }


@st.composite
def graphs(draw, largest=9):
    size = draw(st.integers(0, largest))
    roles = draw(
        st.lists(st.sampled_from(["solver", "critic", "planner"]), min_size=size, max_size=size)
    )
    pairs = list(itertools.combinations(range(size), 2))
    subset = st.lists(st.sampled_from(pairs), unique=True) if pairs else st.just([])
    edges, couplings = draw(subset), draw(st.one_of(st.just([]), subset))
    return make_graph("g", roles, edges, couplings)


@settings(max_examples=300, deadline=None)
@given(graphs(), st.booleans(), st.sampled_from([(2,), (3,), (2, 3)]))
def test_patterns_equal_a_search_by_the_definition(graph, indirect, sizes):
    library = mine_motifs(
        [graph], MotifConfiguration(sizes=sizes, indirect=indirect, kept_occurrences=None)
    )
    expected = slow_motifs(graph, sizes, indirect)
    assert fast_motifs(library, graph) == expected
    counts = {
        (motif.labels, motif.pattern.relations): motif.occurrence_count
        for motif in library.motifs
    }
    assert counts == {key: len(nodes) for key, nodes in expected.items()}
    (row,) = library.graphs
    by_size = Counter()
    for (labels, _), nodes in expected.items():
        by_size[len(labels)] += len(nodes)
    assert row.pairs == (by_size[2] if 2 in sizes else None)
    assert row.triples == (by_size[3] if 3 in sizes else None)


@settings(max_examples=40, deadline=None)
@given(graphs(largest=14))
def test_the_compiled_kernel_finds_the_same(graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mining.motif_enumeration, "_USED", set())
        patch.setattr(mining.motif_enumeration, "_PLAIN_SETS", 10**9)
        plain = mine_motifs([graph], EVERYTHING)
        assert not mining.motif_enumeration._USED
        patch.setattr(mining.motif_enumeration, "_PLAIN_SETS", -1)
        compiled = mine_motifs([graph], EVERYTHING)
        assert mining.motif_enumeration._USED
    assert compiled.hash == plain.hash
    assert list(compiled.occurrences()) == list(plain.occurrences())


@given(graphs(), st.randoms())
def test_another_order_of_the_nodes_gives_the_same_patterns(graph, random):
    index = {node.id: node.index for node in graph.nodes}
    dag = networkx.DiGraph()
    dag.add_nodes_from(range(len(graph.nodes)))
    dag.add_edges_from((index[edge.source], index[edge.target]) for edge in graph.edges)
    key = [random.random() for _ in graph.nodes]
    order = list(networkx.lexicographical_topological_sort(dag, key=key.__getitem__))
    place = {old: new for new, old in enumerate(order)}
    moved = make_graph(
        "moved",
        [graph.nodes[old].role for old in order],
        [(place[source], place[target]) for source, target in dag.edges],
        [(place[index[pair.source]], place[index[pair.target]]) for pair in graph.couplings],
    )

    def counts(one):
        return {
            motif.canonical_form: motif.occurrence_count
            for motif in mine_motifs([one], EVERYTHING).motifs
        }

    assert counts(moved) == counts(graph)


def test_a_chain_counted_by_hand():
    graph = make_graph("chain", ["solver"] * 4, [(0, 1), (1, 2), (2, 3)])
    library = mine_motifs([graph])
    assert [(motif.shape, motif.occurrence_count) for motif in library.motifs] == [
        ("pair", 3),
        ("chain", 2),
    ]
    chain = library.motifs[1]
    assert chain.labels == ("solver/agent_message",) * 3
    # Relations stand for the pairs (0, 1), (0, 2), (1, 2); the least order of a -> b -> c
    # puts a first: direct, indirect, direct.
    assert chain.pattern.relations == (1, 2, 1)
    (found,) = library.occurrences(1)
    assert found.nodes == ((0, 1, 2), (1, 2, 3))
    assert found.complete


def test_precedence_runs_through_nodes_outside_of_the_set():
    # 0 -> 1 -> 2 -> 3 and 0 -> 3: in the fork {1, 3} of 0, node 1 comes before 3.
    graph = make_graph("g", ["solver"] * 4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    shapes = Counter()
    for motif in mine_motifs([graph]).motifs:
        shapes[motif.shape] += motif.occurrence_count
    assert shapes == {
        "pair": 4,
        "chain": 2,
        "fork, one branch before the other": 1,
        "join, one branch before the other": 1,
    }
    blind = mine_motifs([graph], MotifConfiguration(indirect=False))
    assert {motif.shape for motif in blind.motifs} == {"pair", "chain", "fork", "join"}


def test_support_counts_graphs_and_tasks_once():
    pair = [(0, 1)]
    graphs = [
        make_graph("a", ["planner", "solver"], pair, task="t1"),
        make_graph("b", ["planner", "solver"], pair, task="t1"),
        make_graph("c", ["planner", "solver", "solver"], [(0, 1), (0, 2)], task="t2"),
        make_graph("d", ["critic", "solver"], pair, task="t3"),
    ]
    library = mine_motifs(graphs)
    table = {
        motif.description: (motif.task_support, motif.graph_support, motif.occurrence_count)
        for motif in library.motifs
    }
    assert table == {
        "pair: planner/agent_message -> solver/agent_message": (2, 3, 4),
        "pair: critic/agent_message -> solver/agent_message": (1, 1, 1),
        "fork: planner/agent_message -> solver/agent_message #1, "
        "planner/agent_message -> solver/agent_message #2": (1, 1, 1),
    }
    assert library.motifs[0].task_support == 2
    filtered = mine_motifs(graphs, MotifConfiguration(min_task_support=2))
    assert [motif.graph_support for motif in filtered.motifs] == [3]
    assert (filtered.dropped_motifs, filtered.dropped_occurrences) == (2, 2)
    assert sorted(found.count for found in filtered.occurrences()) == [1, 1, 2]
    assert len(mine_motifs(graphs, MotifConfiguration(min_graph_support=4)).motifs) == 0


def test_the_order_of_the_graphs_does_not_matter():
    graphs = [
        make_graph("a", ["planner", "solver"], [(0, 1)], task="t1"),
        make_graph("b", ["solver", "critic", "planner"], [(0, 1), (1, 2)], task="t2"),
        make_graph("c", ["critic"], [], task="t3"),
    ]
    one, other = mine_motifs(graphs), mine_motifs(reversed(graphs))
    assert one.hash == other.hash
    assert (one.motifs, one.graphs) == (other.motifs, other.graphs)
    assert list(one.occurrences()) == list(other.occurrences())


def test_counts_stay_exact_when_few_sets_are_kept():
    graph = make_graph("star", ["solver"] * 30, [(0, target) for target in range(1, 30)])
    library = mine_motifs([graph], MotifConfiguration(kept_occurrences=2))
    assert [(motif.shape, motif.occurrence_count) for motif in library.motifs] == [
        ("fork", 29 * 28 // 2),
        ("pair", 29),
    ]
    forks, pairs = library.occurrences()
    # No precedence is the least relation, so the branches come first and the root last.
    assert forks.nodes == ((1, 2, 0), (1, 3, 0))
    assert pairs.nodes == ((0, 1), (0, 2))
    assert not forks.complete
    assert [
        found.nodes
        for found in mine_motifs([graph], MotifConfiguration(kept_occurrences=0)).occurrences()
    ] == [(), ()]


def test_a_complete_graph_of_many_kinds_grows_the_tables():
    size = 40
    roles = ["planner", "solver", "critic", "verifier"] * 10
    graph = make_graph("full", roles, list(itertools.combinations(range(size), 2)))
    labels = MotifConfiguration(kept_occurrences=None, labels="name")
    library = mine_motifs([graph], labels)
    # Every node has a name of its own, so every set is a pattern of its own.
    assert len(library.motifs) == size * (size - 1) // 2 + size * (size - 1) * (size - 2) // 6
    assert {motif.shape for motif in library.motifs} == {"pair", "feed-forward triangle"}
    assert fast_motifs(mine_motifs([graph], EVERYTHING), graph) == slow_motifs(graph)


def test_a_graph_over_budget_is_named():
    small = make_graph("small", ["solver"] * 2, [(0, 1)])
    large = make_graph("large", ["solver"] * 5, [(0, target) for target in range(1, 5)])
    library = mine_motifs([small, large], MotifConfiguration(max_sets=9))
    (left_out,) = library.skipped
    assert left_out.id == large.id
    assert left_out.skipped == "up to 10 connected sets, more than max_sets = 9"
    assert left_out.pairs is None
    assert [motif.occurrence_count for motif in library.motifs] == [1]
    library = mine_motifs([small, large], MotifConfiguration(max_nodes=4))
    assert [graph.skipped for graph in library.skipped] == ["5 nodes, more than max_nodes = 4"]
    assert mine_motifs([small, large], MotifConfiguration(max_sets=10)).skipped == ()


def test_types_can_come_from_outside():
    graph = make_graph("d", ["unknown"] * 3, [(0, 1), (1, 2)], kind="decomposition")
    types = {graph.nodes[0].id: "gather", graph.nodes[1].id: "count"}
    library = mine_motifs(
        [graph],
        MotifConfiguration(labels="types of library x"),
        label_of=lambda node: types.get(node.id),
    )
    assert [motif.description for motif in library.motifs] == ["pair: gather -> count"]
    assert mine_motifs([graph]).motifs[0].labels == ("subtask", "subtask")
    assert mine_motifs([graph]).configuration.labels == "kind"


def test_nodes_of_other_kinds_carry_precedence_only():
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    for kind in ("agent_message", "tool_call", "agent_message", "agent_message"):
        builder.add(kind, kind, role="solver")
    for source, target in [(0, 1), (1, 2), (0, 3), (2, 3)]:
        builder.edge(source, target, "explicit")
    library = mine_motifs([builder.build()], MotifConfiguration(node_kinds=("agent_message",)))
    assert [(motif.shape, motif.occurrence_count) for motif in library.motifs] == [
        ("pair", 2),
        ("join, one branch before the other", 1),
    ]


def test_tables():
    graphs = [make_graph("a", ["planner", "solver", "solver"], [(0, 1), (0, 2)])]
    library = mine_motifs(graphs)
    table = library.to_pandas()
    assert list(table["occurrence_count"]) == [2, 1]
    assert list(table["id"]) == [motif.id for motif in library.motifs]
    occurrences = library.occurrences_to_pandas()
    assert list(occurrences["nodes"]) == [((0, 1), (0, 2)), ((0, 1, 2),)]
    assert set(occurrences["graph"]) == {graphs[0].id}


def test_nothing_in_nothing_out():
    library = mine_motifs([])
    assert (library.motifs, library.graphs, library.scope) == ((), (), None)
    assert list(library.occurrences()) == []
    assert library.to_pandas().empty
    empty = mine_motifs([make_graph("e", [], [])])
    assert empty.graphs[0].pairs == 0


def test_what_makes_no_sense_is_refused():
    run = make_graph("a", ["solver"], [])
    with pytest.raises(UsageError, match="given twice"):
        mine_motifs([run, run])
    with pytest.raises(UsageError, match="cannot be mined into one library"):
        mine_motifs([run, make_graph("b", ["solver"], [], kind="decomposition")])
    with pytest.raises(UsageError, match="'types' are not one of"):
        mine_motifs([run], MotifConfiguration(labels="types"))
    with pytest.raises(UsageError, match="needs a name of its own"):
        mine_motifs([run], label_of=lambda node: "x")
    for wrong in (
        {"sizes": (4,)},
        {"sizes": ()},
        {"node_kinds": ("thought",)},
        {"min_task_support": 0},
        {"kept_occurrences": -1},
    ):
        with pytest.raises(UsageError):
            MotifConfiguration(**wrong)


def test_a_configuration_has_one_hash():
    assert MotifConfiguration().hash == MotifConfiguration(sizes=(3, 2)).hash
    assert MotifConfiguration().hash != MotifConfiguration(indirect=False).hash
