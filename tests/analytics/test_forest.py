"""Reference forests: what is a copy, who stays, with which weight, how it is calibrated."""

import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.forest import (
    LEVELS,
    ForestConfiguration,
    ForestKey,
    ForestSet,
    ReferenceForest,
    Shortage,
    forest_match,
    identity_at,
    keys_of,
)
from analytics.forest_building import build_forest, make_candidate, quantile, signature
from graphstore.errors import UsageError
from graphstore.model import Task
from mining.k_medoids import solve
from tests.analytics.teams import team_run

KEY = ForestKey("task", "t", task="task-1")


def cluster(distances, k):
    found = solve(distances, k, seed=0)
    return found.medoids, found.labels


def forest_of(graphs, key=KEY, **options):
    configuration = ForestConfiguration(**options)
    measure = configuration.make_measure()
    candidates = [make_candidate(graph, measure) for graph in graphs]
    return build_forest(key, candidates, configuration, measure, cluster)


def test_a_copy_has_the_same_structure_and_content_whatever_the_names():
    one = team_run("a", "ps", contents=["plan", "do"])
    assert signature(one) == signature(
        team_run("b", "ps", contents=["Plan ", "DO"], rename="Dr ", task="u", success=False)
    )
    for other in (
        team_run("c", "ps", contents=["plan", "undo"]),
        team_run("d", "ps", contents=["plan", None]),
        team_run("e", "ps", [], contents=["plan", "do"]),
        team_run("f", "pc", contents=["plan", "do"]),
        team_run("g", "ps", contents=["plan", "do"], agents=False),
        team_run("h", "pss", contents=["plan", "do", "do"]),
    ):
        assert signature(other) != signature(one), other.id


def test_a_forest_worked_out_by_hand():
    # Two copies of planner -> solver, and planner -> critic.
    graphs = [
        team_run("a", "ps", contents=["plan", "do"]),
        team_run("b", "ps", contents=["plan", "do"]),
        team_run("c", "pc", contents=["plan", "judge"]),
    ]
    forest = forest_of(graphs)
    assert (forest.successes, forest.distinct, forest.considered) == (3, 2, 2)
    pair, judged = sorted(forest.references, key=lambda one: one.weight, reverse=True)
    kept, copy = sorted(graph.id for graph in graphs[:2])
    assert (pair.graph, pair.weight, pair.represented) == (kept, 2 / 3, 2)
    assert pair.copies == (kept, copy)
    assert pair.stand_in is None
    assert (judged.graph, judged.weight, judged.copies) == (
        graphs[2].id,
        1 / 3,
        (graphs[2].id,),
    )
    # They share one label of three, no pair of labels, and every size:
    # (0.4 / 3 + 0 + 0.2) / 1.
    assert forest.median_similarity == pytest.approx(1 / 3)
    assert forest.scores == pytest.approx((1 / 3, 1 / 3))
    assert forest.threshold is None
    assert forest.near_copies is False
    # Without itself, and without its copy, a run has only the other way to be compared with.
    for graph in graphs[:2]:
        assert forest.references_for(graph.id) == ((graphs[2].id, 1 / 3),)
    assert forest.references_for("another") == tuple(
        (one.graph, one.weight) for one in forest.references
    )


def test_the_next_best_stands_in_for_a_reference_that_is_left_out():
    # One structure, three contents: one way, which two more runs went.
    graphs = [team_run(name, "psc") for name in "abc"]
    forest = forest_of(graphs)
    (reference,) = forest.references
    first, second, _ = sorted(graph.id for graph in graphs)
    assert (reference.graph, reference.weight, reference.represented) == (first, 1.0, 3)
    assert (reference.stand_in, reference.stand_in_weight) == (second, pytest.approx(2 / 3))
    assert forest.references_for(first) == ((second, reference.stand_in_weight),)
    assert forest.graph_ids == (first, second)
    assert forest.scores == (1.0, 1.0, 1.0)
    assert forest.threshold == 1.0
    assert forest.near_copies is True


def test_different_ways_stay_when_there_are_too_many():
    # Thirty chains of two families; two references must be one of each.
    short = [team_run(f"s{number}", "p" + "s" * (1 + number % 5)) for number in range(20)]
    long = [team_run(f"l{number}", "v" + "c" * (9 + number % 5)) for number in range(10)]
    forest = forest_of([*short, *long], references=2)
    families = {graph.id: graph.nodes[0].role for graph in (*short, *long)}
    weights = {families[one.graph]: one.weight for one in forest.references}
    assert weights == {"planner": pytest.approx(2 / 3), "verifier": pytest.approx(1 / 3)}
    equal = forest_of([*short, *long], references=2, weights="equal")
    assert [one.weight for one in equal.references] == [0.5, 0.5]
    assert len(forest_of([*short, *long]).references) == 10


def test_too_few_successes_say_so():
    found = forest_of([team_run("a", "ps"), team_run("b", "", [])])
    assert found == Shortage(KEY, 2, 2, 1, 2)
    assert found.reason == "1 distinct of 2 successes, 2 seen"
    assert isinstance(forest_of([]), Shortage)
    plan = team_run("plan", "ps", kind="decomposition")
    plans = forest_of([plan], ForestKey("decomposition", "t", task="task-1"))
    assert isinstance(plans, ReferenceForest)
    assert plans.references_for(plan.id) == ()
    assert plans.scores == ()
    assert (plans.threshold, plans.median_similarity, plans.near_copies) == (None,) * 3


def test_of_more_candidates_than_are_considered_always_the_same_are_drawn():
    graphs = [team_run(f"r{number}", "p" + "s" * number) for number in range(1, 9)]
    forest = forest_of(graphs, candidates=3)
    assert (forest.distinct, forest.considered, len(forest.references)) == (8, 3, 3)
    drawn = sorted(graphs, key=signature)[:3]
    assert {one.graph for one in forest.references} == {graph.id for graph in drawn}
    assert sum(one.weight for one in forest.references) == pytest.approx(1.0)


teams = st.lists(
    st.tuples(st.text("psc", min_size=1, max_size=5), st.integers(0, 2)),
    min_size=2,
    max_size=14,
)


@given(teams, st.integers(1, 5), st.sampled_from(["share", "equal"]), st.randoms())
def test_no_graph_is_ever_compared_with_itself(drawn, references, weights, shuffled):
    graphs = [
        team_run(f"r{place}", roles, contents=[f"x{content}"] * len(roles))
        for place, (roles, content) in enumerate(drawn)
    ]
    forest = forest_of(graphs, references=references, weights=weights)
    again = list(graphs)
    shuffled.shuffle(again)
    assert forest_of(again, references=references, weights=weights) == forest
    if isinstance(forest, Shortage):
        assert len({signature(graph) for graph in graphs}) < 2
        return
    assert len(forest.references) <= references
    assert sum(one.weight for one in forest.references) == pytest.approx(1.0)
    assert sum(one.represented for one in forest.references) == len(graphs)
    # The calibration, slowly.
    measure = ForestConfiguration().make_measure()
    by_id = {graph.id: graph for graph in graphs}
    firsts = {}
    for graph in sorted(graphs, key=lambda one: one.id):
        firsts.setdefault(signature(graph), graph)
    scores = []
    for graph in firsts.values():
        left = forest.references_for(graph.id)
        assert signature(graph) not in {signature(by_id[name]) for name, _ in left}
        own = measure.prepare(graph)
        total = sum(weight for _, weight in left)
        if total:
            pairs = [
                weight * measure.similarity(own, measure.prepare(by_id[name]))
                for name, weight in left
            ]
            scores.append(sum(pairs) / total)
    assert forest.scores == pytest.approx(sorted(scores))
    for graph in graphs:
        assert graph.id not in {name for name, _ in forest.references_for(graph.id)}


def test_a_percentile_counts_half_of_the_equal():
    graphs = [
        team_run(name, roles) for name, roles in zip("abc", ("ps", "pc", "pv"), strict=True)
    ]
    forest = forest_of(graphs)
    assert len(forest.scores) == 3
    value = forest.scores[0]
    assert forest.scores == pytest.approx((value,) * 3)
    assert forest.percentile(value) == 0.5
    assert forest.percentile(value + 1e-12) == 0.5
    assert forest.percentile(value - 0.1) == 0.0
    assert forest.percentile(1.0) == 1.0
    assert forest.percentile(None) is None
    assert forest.threshold == pytest.approx(value)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1))
def test_the_quantile_is_that_of_numpy(values, level):
    assert quantile(sorted(values), level) == pytest.approx(numpy.quantile(values, level))


def test_forest_match_leaves_out_what_is_not_defined():
    assert forest_match([1.0, 0.5, float("nan")], [1.0, 3.0, 9.0]) == 2.5 / 4
    assert forest_match([float("nan")], [1.0]) is None
    assert forest_match([0.5], [0.0]) is None
    assert forest_match([], []) is None


def test_each_level_has_its_key_and_lacks_it_where_the_graph_does():
    graph = team_run("a", "ps")
    keys = keys_of(graph, LEVELS)
    assert list(keys) == list(LEVELS)
    assert keys["task"].identity == ("task", "", "", graph.task.id, "")
    assert keys["category"].identity == ("category", "d", "c", "", "")
    assert keys["dataset"].identity == ("dataset", "d", "", "", "")
    assert keys["method"].identity == ("method", "", "", "", graph.method.id)
    assert len({key.identity for key in keys.values()}) == len(LEVELS)
    for level, key in keys.items():
        assert identity_at(graph, level) == key.identity
    bare = team_run("b", "ps", dataset=None, category=None, method=None)
    assert set(keys_of(bare, LEVELS)) == {"task", "all", "decomposition"}
    assert [level for level in LEVELS if identity_at(bare, level) is None] == [
        "category",
        "dataset",
        "method",
    ]


def test_the_configuration_comes_back_from_what_is_stored():
    made = ForestConfiguration("wl", {"labels": "role"}, references=4, quantile=0.2)
    again = ForestConfiguration.from_dict(made.configuration)
    assert again.configuration == made.configuration
    assert again.hash == made.hash != ForestConfiguration("wl").hash
    assert ForestConfiguration().hash == ForestConfiguration(options={"alpha": 0.4}).hash


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"references": 0}, "references must be at least 1, not 0"),
        ({"quantile": 1.5}, "quantile lies between 0 and 1, not at 1.5"),
        ({"weights": "heavy"}, "there are no weights 'heavy'; choose one of share, equal"),
        ({"seed": -1}, "a seed cannot be negative"),
    ],
)
def test_what_does_not_fit_is_refused(options, says):
    with pytest.raises(UsageError, match=says):
        ForestConfiguration(**options)


def test_unknown_measures_and_options_are_refused():
    with pytest.raises(UsageError, match="there is no measure 'nothing'"):
        ForestConfiguration("nothing").make_measure()
    with pytest.raises(UsageError, match="has no option 'delta'"):
        _ = ForestConfiguration(options={"delta": 1}).hash
    values = ForestConfiguration().configuration
    with pytest.raises(UsageError, match="forests have no option 'trees'"):
        ForestConfiguration.from_dict({**values, "trees": 3})


def test_a_set_as_json_and_as_a_table():
    graphs = [team_run(name, roles) for name, roles in zip("ab", ("ps", "pc"), strict=True)]
    forest = forest_of(graphs)
    made = ForestSet(
        ForestConfiguration(), {"task": None}, (forest,), (Shortage(KEY, 1, 1, 1, 2),)
    )
    document = made.to_dict()
    assert document["forests"][0]["id"] == made.forest_id(KEY)
    assert document["short"][0]["reason"] == "1 distinct of 2 successes, 1 seen"
    assert document["configuration_hash"] == made.configuration_hash
    frame = made.to_pandas()
    assert frame["references"].tolist() == [2]
    # The name of a task may change; what it is does not.
    assert made.forest_id(ForestKey("task", "other", task="task-1")) == made.forest_id(KEY)
    assert Task(id="task-1", name="t").id == KEY.task


def test_a_large_pool_is_the_same_twice():
    random_roles = random.Random(4)
    graphs = [
        team_run(f"r{number}", "".join(random_roles.choices("pscv", k=1 + number % 9)))
        for number in range(120)
    ]
    assert forest_of(graphs) == forest_of(graphs[::-1])
