import itertools
from dataclasses import replace

import msgspec
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from mining.distances import DistanceWeights, leaf_distances
from mining.embedders import TfidfEmbedder
from mining.k_medoids import solve
from mining.leaves import leaves_of
from mining.motifs import MotifConfiguration, mine_motifs
from mining.subtask_types import SubtaskTypeConfiguration, mine_subtask_types
from mining.type_selection import chance_cohesion, parted_pairs
from tests.mining.planted import planted, worded


def flat(
    name: str, texts: list[str], *, task: str | None = None, edges=(), kind="decomposition"
):
    builder = GraphBuilder(kind=kind, format="test", uri="test", content=name, record=name)
    builder.set_task(task or name)
    for text in texts:
        builder.add("subtask" if kind == "decomposition" else "decision", text)
    for source, target in edges:
        builder.edge(source, target, "explicit")
    return builder.build()


# --- planted types ----------------------------------------------------------------------------


@pytest.mark.parametrize("types", [3, 4, 6])
@pytest.mark.parametrize("solver", ["fasterpam", "alternate"])
def test_planted_types_are_recovered_and_so_is_their_number(types, solver):
    graphs, truth = planted(30, types, seed=types)
    found = mine_subtask_types(graphs, SubtaskTypeConfiguration(solver=solver))
    assert len(found.types) == types
    assert adjusted_rand_score(
        [truth[leaf.node] for leaf in found.leaves], [leaf.type for leaf in found.leaves]
    ) == pytest.approx(1)
    assert found.chosen.instability == 0
    assert found.chosen.low_support == 0
    assert found.chosen.k == types
    assert 0.4 < found.chosen.cohesion < 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_types_are_not_split_into_their_wordings(seed):
    graphs, truth = worded(seed)
    found = mine_subtask_types(graphs)
    assert len(found.types) == 4
    assert not found.is_at_upper_end
    assert adjusted_rand_score(
        [truth[leaf.node] for leaf in found.leaves], [leaf.type for leaf in found.leaves]
    ) == pytest.approx(1)
    assert [one.task_support for one in found.types] == [40] * 4
    # The paper's rule does split them: nothing in it speaks against stable wordings.
    paper = mine_subtask_types(
        graphs,
        SubtaskTypeConfiguration(chance_weight=0, instability_weight=1, low_support_weight=1),
    )
    assert len(paper.types) > 20


def test_the_upper_end_of_the_candidates_is_noticed():
    graphs, _ = worded(1)
    cut = mine_subtask_types(graphs, SubtaskTypeConfiguration(candidates=(1, 2, 3)))
    assert len(cut.types) == 3
    assert cut.is_at_upper_end
    asked = mine_subtask_types(graphs, SubtaskTypeConfiguration(candidates=(3,)))
    assert not asked.is_at_upper_end


def test_chance_is_the_mean_over_random_medoids():
    # Every pair of points is drawn equally often.
    distances = numpy.array([[0, 1, 3], [1, 0, 2], [3, 2, 0]], numpy.float32)
    weights = numpy.ones(3)
    pairs = [
        float(distances[list(pair)].min(axis=0).sum())
        for pair in itertools.combinations(range(3), 2)
    ]
    single = float(distances.sum(axis=1).min())
    expected = 1 - numpy.mean(pairs) / single
    assert chance_cohesion(distances, weights, 2, single) == pytest.approx(expected, abs=0.05)
    assert chance_cohesion(distances, weights, 3, single) == 1
    assert chance_cohesion(distances, weights, 1, single) == 0
    assert chance_cohesion(numpy.zeros((3, 3)), weights, 1, 0.0) == 0


def test_actions_of_runs_are_typed_likewise():
    graphs, truth = planted(20, 4, kind="run")
    found = mine_subtask_types(graphs)
    assert found.scope == "run"
    assert adjusted_rand_score(
        [truth[leaf.node] for leaf in found.leaves], [leaf.type for leaf in found.leaves]
    ) == pytest.approx(1)


def test_a_type_keeps_what_its_leaves_show():
    graphs, _ = planted(30, 6, seed=2)
    found = mine_subtask_types(graphs)
    nodes = {node.id: node for graph in graphs for node in graph.nodes}
    task_of = {graph.id: graph.task.id for graph in graphs}
    sizes = {graph.id: sum(node.kind == "subtask" for node in graph.nodes) for graph in graphs}
    for place, one in enumerate(found.types):
        members = [leaf for leaf in found.leaves if leaf.type == place]
        assert one.leaves == len(members)
        assert one.medoid.id in {leaf.node for leaf in members}
        assert one.tasks == tuple(sorted({task_of[leaf.graph] for leaf in members}))
        assert one.weight == pytest.approx(sum(1 / sizes[leaf.graph] for leaf in members))
        for name in ("inputs", "outputs"):
            assert getattr(one, name) == tuple(
                sorted({x.type for leaf in members for x in getattr(nodes[leaf.node], name)})
            )
        assert one.radius == pytest.approx(
            numpy.average(
                [leaf.distance for leaf in members],
                weights=[1 / sizes[leaf.graph] for leaf in members],
            )
        )
    assert [one.label for one in found.types] == [f"T{place}" for place in range(1, 7)]
    support = [one.task_support for one in found.types]
    assert support == sorted(support, reverse=True)
    assert sum(one.weight for one in found.types) == pytest.approx(found.tasks)
    total = sum(one.weight * one.radius for one in found.types)
    assert found.chosen.loss == pytest.approx(total, rel=1e-6)
    assert len({one.id for one in found.types}) == 6


def test_accesses_are_kept():
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="x")
    builder.set_task("t")
    page = builder.resource("page 1", "page")
    builder.add("subtask", "edit", accesses=[(page, "write")])
    builder.add("subtask", "look", accesses=[(page, "read")])
    found = mine_subtask_types([builder.build()], SubtaskTypeConfiguration(candidates=(1,)))
    (one,) = found.types
    assert one.reads == one.writes == ("page",)
    assert one.access_modes == ("read", "write")


# --- the choice of k --------------------------------------------------------------------------


def slow_parted(before, after):
    together = [
        pair
        for pair in itertools.combinations(range(len(before)), 2)
        if before[pair[0]] == before[pair[1]]
    ]
    if not together:
        return None
    return sum(after[a] != after[b] for a, b in together) / len(together)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=25))
def test_parted_pairs_are_counted(labels):
    before, after = [a for a, _ in labels], [b for _, b in labels]
    found, expected = parted_pairs(before, after), slow_parted(before, after)
    assert found == expected or found == pytest.approx(expected)


def test_every_candidate_is_scored_by_the_definition():
    graphs, _ = planted(9, 4, seed=5, noise=3)
    options = SubtaskTypeConfiguration(
        candidates=(2, 5, 9),
        refits=None,
        starts=30,
        refit_starts=30,
        chance_weight=0.9,
        instability_weight=0.7,
        low_support_weight=0.3,
        min_task_support=3,
    )
    found = mine_subtask_types(graphs[::-1], options)
    leaves = [
        leaf for graph in sorted(graphs, key=lambda one: one.id) for leaf in leaves_of(graph)
    ]
    assert [leaf.id for leaf in leaves] == [leaf.node for leaf in found.leaves]
    texts = [leaf.text for leaf in leaves]
    distances = leaf_distances(leaves, TfidfEmbedder().fit(texts).embed(texts)).astype(float)
    tasks = [leaf.task for leaf in leaves]
    weights = numpy.array([1 / tasks.count(task) for task in tasks])
    single = min(float(weights @ row) for row in distances)
    for choice in found.choices:
        fit = solve(distances, choice.k, weights, starts=60)
        assert choice.loss == pytest.approx(fit.loss, rel=1e-5)
        assert choice.cohesion == pytest.approx(1 - fit.loss / single, rel=1e-5)
        shares = []
        for task in sorted(set(tasks)):
            kept = numpy.flatnonzero([other != task for other in tasks])
            refit = solve(distances[numpy.ix_(kept, kept)], choice.k, weights[kept], starts=60)
            shares.append(slow_parted(fit.labels[kept], refit.labels))
        # Where several fits are equally good, another one may win here.
        assert choice.instability == pytest.approx(numpy.mean(shares), abs=0.05)
        assert choice.refits == 9
        support = [
            len({task for task, label in zip(tasks, fit.labels, strict=True) if label == one})
            for one in range(choice.k)
        ]
        assert choice.low_support == sum(count < 3 for count in support) / choice.k
        assert choice.score == pytest.approx(
            choice.cohesion
            - 0.9 * choice.chance
            - 0.7 * choice.instability
            - 0.3 * choice.low_support
        )
    best = max(found.choices, key=lambda choice: choice.score)
    assert found.chosen == best


def test_the_weights_of_the_penalties_decide():
    graphs, _ = planted(12, 6, seed=1, noise=4)
    free = SubtaskTypeConfiguration(chance_weight=0, instability_weight=0, low_support_weight=0)
    most = mine_subtask_types(graphs, free)
    assert len(most.types) == 40
    strict = replace(free, low_support_weight=1, min_task_support=13)
    assert mine_subtask_types(graphs, strict).chosen.low_support == 1
    few = mine_subtask_types(graphs, SubtaskTypeConfiguration())
    assert len(few.types) == 6


def test_a_task_weighs_one_however_many_leaves_it_has():
    # One task says one thing twenty times; three say another one once each.
    graphs = [flat("long", ["alpha"] * 20), *[flat(name, ["omega"]) for name in "abc"]]
    options = SubtaskTypeConfiguration(
        candidates=(1,), weights=DistanceWeights(1, 0, 0, 0), refits=0
    )
    (one,) = mine_subtask_types(graphs, options).types
    assert one.medoid.text == "omega"
    assert one.weight == pytest.approx(4)


def test_graphs_of_one_task_share_its_weight():
    graphs = [flat("a", ["x", "y"], task="t"), flat("b", ["x", "z"], task="t")]
    found = mine_subtask_types(graphs)
    assert found.tasks == 1
    assert sum(one.weight for one in found.types) == pytest.approx(1)


# --- use --------------------------------------------------------------------------------------


def test_types_label_motifs():
    graphs, _ = planted(20, 4)
    types = mine_subtask_types(graphs)
    library = mine_motifs(graphs, MotifConfiguration(labels=types.name), label_of=types.type_of)
    labels = {one.label for one in types.types}
    assert library.motifs
    assert all(set(motif.labels) <= labels for motif in library.motifs)
    group = next(node for node in graphs[0].nodes if node.kind == "group")
    assert types.type_of(group) is None


def test_leaves_of_other_tasks_get_the_type_of_the_nearest_medoid():
    graphs, truth = planted(40, 6, seed=3)
    types = mine_subtask_types(graphs[:30])
    known = types.assign(graphs[:30])
    assert known == {leaf.node: types.types[leaf.type].label for leaf in types.leaves}
    given = types.assign(graphs[30:])
    names = {}
    for leaf in types.leaves:
        names.setdefault(truth[leaf.node], set()).add(types.types[leaf.type].label)
    assert {frozenset({label}) for label in given.values()} == set(
        map(frozenset, names.values())
    )
    assert all(names[truth[node]] == {label} for node, label in given.items())
    assert types.assign([]) == {}
    # The same without remembering the leaves: what a library that was loaded again does.
    assert replace(types, _labels={}).assign(graphs[:30]) == known


def test_the_order_of_graphs_and_the_number_of_threads_do_not_matter():
    graphs, _ = planted(15, 5, noise=3)
    one = mine_subtask_types(graphs)
    other = mine_subtask_types(iter(graphs[::-1]), threads=3)
    assert one.hash == other.hash
    assert one.types == other.types
    assert one.choices == other.choices
    assert one.leaves == other.leaves
    assert mine_subtask_types(graphs, SubtaskTypeConfiguration(seed=1)).hash != one.hash


def test_tables_have_a_line_for_each_thing():
    graphs, _ = planted(12, 3)
    found = mine_subtask_types(graphs)
    table = found.to_pandas()
    assert table["label"].tolist() == ["T1", "T2", "T3"]
    assert table["leaves"].sum() == len(found.leaves_to_pandas()) == len(found.leaves)
    assert (
        found.leaves_to_pandas()["type"].value_counts().to_dict()
        == table.set_index("label")["leaves"].to_dict()
    )
    choices = found.choices_to_pandas()
    assert choices.loc[choices["score"].idxmax(), "k"] == 3


def test_progress_is_told():
    graphs, _ = planted(6, 3)
    seen = []
    options = SubtaskTypeConfiguration(candidates=(2, 3), refits=4)
    mine_subtask_types(graphs, options, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (10, 10)
    assert seen == sorted(seen)


# --- corners ----------------------------------------------------------------------------------


def test_without_graphs_or_leaves_there_are_no_types():
    for graphs in ([], [flat("empty", [])]):
        found = mine_subtask_types(graphs)
        assert found.types == found.choices == found.leaves == ()
        assert found.chosen is None
        assert found.assign([flat("a", ["x"])]) == {}
        for table in (found.to_pandas(), found.choices_to_pandas(), found.leaves_to_pandas()):
            assert len(table) == 0


def test_one_leaf():
    found = mine_subtask_types([flat("a", ["x"])])
    assert len(found.types) == 1
    assert found.chosen.cohesion == 0
    assert found.chosen.instability is None
    assert found.chosen.low_support == 1
    with pytest.raises(UsageError, match="1 leaves are too few for 3 types"):
        mine_subtask_types([flat("a", ["x"])], SubtaskTypeConfiguration(candidates=(3, 4)))


def test_one_task_is_judged_by_cohesion_alone():
    texts = ["fetch water", "fetch wood", "cook rice", "cook fish"]
    found = mine_subtask_types([flat("a", texts)], SubtaskTypeConfiguration(candidates=(2,)))
    assert found.chosen.instability is None
    assert found.chosen.refits == 0
    groups = {}
    for leaf, text in zip(found.leaves, texts, strict=True):
        groups.setdefault(leaf.type, set()).add(text.split()[0])
    assert sorted(groups.values(), key=min) == [{"cook"}, {"fetch"}]


def test_duplicate_tasks_are_one_type_for_each_leaf():
    graphs = [flat(str(copy), ["alpha", "beta"], edges=[(0, 1)]) for copy in range(5)]
    found = mine_subtask_types(graphs)
    assert len(found.types) == 2
    assert {one.medoid.text for one in found.types} == {"alpha", "beta"}
    assert all(one.task_support == 5 for one in found.types)
    assert found.chosen.low_support == 0


def test_leaves_that_are_all_alike_are_one_type():
    found = mine_subtask_types(
        [flat(str(copy), ["alpha"]) for copy in range(5)],
        SubtaskTypeConfiguration(weights=DistanceWeights(1, 1, 0, 1)),
    )
    assert len(found.types) == 1
    assert [choice.cohesion for choice in found.choices] == [0] * 5


def test_tasks_without_edges_or_text():
    found = mine_subtask_types([flat("a", ["", "  "]), flat("b", [""])])
    assert len(found.leaves) == 3


def test_five_thousand_leaves_in_one_task():
    words = ["alpha", "beta", "gamma", "delta"]
    texts = [f"{words[place % 4]} {'abcdefgh'[place % 8] * 3}" for place in range(5000)]
    chain = [(place, place + 1) for place in range(4999)]
    found = mine_subtask_types(
        [flat("big", texts, edges=chain)],
        SubtaskTypeConfiguration(candidates=(4,), starts=2),
    )
    assert len(found.types) == 4
    assert sorted(one.leaves for one in found.types) == [1250] * 4


def test_what_cannot_be_typed_is_refused():
    graph = flat("a", ["x", "y", "z"])
    with pytest.raises(UsageError, match="given twice"):
        mine_subtask_types([graph, graph])
    with pytest.raises(UsageError, match="cannot be typed together"):
        mine_subtask_types([graph, flat("r", ["x"], kind="run")])
    with pytest.raises(UsageError, match="more leaves than max_leaves = 2"):
        mine_subtask_types([graph], SubtaskTypeConfiguration(max_leaves=2))

    class Other(TfidfEmbedder):
        name = "other"

    with pytest.raises(UsageError, match="names the embedder 'tfidf', not 'other'"):
        mine_subtask_types([graph], SubtaskTypeConfiguration(), embedder=Other())
    assert mine_subtask_types([graph], embedder=Other()).configuration.embedder == "other"


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": ()},
        {"candidates": (0, 2)},
        {"descriptors": "colour"},
        {"solver": "best"},
        {"starts": 0},
        {"refits": -1},
        {"chance_weight": -0.1},
        {"instability_weight": -0.1},
        {"low_support_weight": float("nan")},
        {"seed": -1},
    ],
)
def test_configurations_that_make_no_sense_are_refused(wrong):
    with pytest.raises(UsageError):
        SubtaskTypeConfiguration(**wrong)


def test_the_hash_follows_every_option():
    base = SubtaskTypeConfiguration()
    assert base.hash == SubtaskTypeConfiguration().hash == configuration_hash(base)
    assert SubtaskTypeConfiguration(candidates=(3, 2, 3)).candidates == (2, 3)
    changed = {
        "weights": DistanceWeights(semantic=1),
        "embedder": "wordllama",
        "descriptors": "name",
        "candidates": (2,),
        "refits": None,
        "solver": "alternate",
    }
    hashes = {replace(base, **{name: value}).hash for name, value in changed.items()}
    assert len(hashes | {base.hash}) == len(changed) + 1
    assert msgspec.json.encode(base)
