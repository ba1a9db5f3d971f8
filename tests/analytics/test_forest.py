"""Reference forests: what is a copy, who stays, with which weight, how it is calibrated."""

import random

import msgspec
import numpy
import pytest
from hypothesis import given, settings
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
    quantile,
)
from analytics.forest_building import build_forest, make_candidate
from analytics.forest_checks import check_forests
from analytics.forest_copies import glance, glance_of, signature
from graphstore.errors import UsageError
from graphstore.identity import canonical_json
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
    pair, judged = sorted(forest.references, key=lambda one: one.represented, reverse=True)
    kept, copy = sorted(graph.id for graph in graphs[:2])
    # A copy is no further way: it counts once.
    assert (pair.graph, pair.weight, pair.represented) == (kept, 1 / 2, 2)
    assert pair.copies == (kept, copy)
    assert pair.members == (signature(graphs[0]),)
    assert (pair.stand_in, pair.weight_without_one) == (None, 0.0)
    assert (judged.graph, judged.weight, judged.copies) == (
        graphs[2].id,
        1 / 2,
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
        assert forest.references_for(graph.id, signature(graph)) == ((graphs[2].id, 1 / 2),)
    # A copy is known by what it is, under whatever id; a reference by its id, too, when its
    # file has become another graph.
    assert forest.references_for("another", signature(graphs[1])) == ((graphs[2].id, 1 / 2),)
    assert forest.references_for(kept, "other") == ((graphs[2].id, 1 / 2),)
    for name in (None, "other"):
        assert forest.references_for("another", name) == tuple(
            (one.graph, one.weight) for one in forest.references
        )


def test_the_next_best_stands_in_for_a_reference_that_is_left_out():
    # One structure, three contents: one way, which two more runs went.
    graphs = [team_run(name, "psc") for name in "abc"]
    forest = forest_of(graphs)
    (reference,) = forest.references
    first, second, third = sorted(graphs, key=signature)
    assert (reference.graph, reference.weight, reference.represented) == (first.id, 1.0, 3)
    assert (reference.stand_in, reference.weight_without_one) == (second.id, 2 / 3)
    assert forest.references_for(first.id, signature(first)) == ((second.id, 2 / 3),)
    for other in (second, third):
        assert forest.references_for(other.id, signature(other)) == ((first.id, 2 / 3),)
    assert forest.graph_ids == tuple(sorted((first.id, second.id)))
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
    assert found.reason == "1 distinct success among 2 seen, 2 needed"
    assert isinstance(forest_of([]), Shortage)
    plan = team_run("plan", "ps", kind="decomposition")
    plans = forest_of([plan], ForestKey("decomposition", "t", task="task-1"))
    assert isinstance(plans, ReferenceForest)
    assert plans.references_for(plan.id, signature(plan)) == ()
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


@settings(deadline=None)
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
    # The calibration, slowly: each success by itself, its copies under any id.
    measure = ForestConfiguration().make_measure()
    by_id = {graph.id: graph for graph in graphs}
    scores = {}
    for graph in graphs:
        left = forest.references_for(f"again-{graph.id}", signature(graph))
        assert left == forest.references_for(graph.id, signature(graph))
        assert signature(graph) not in {signature(by_id[name]) for name, _ in left}
        own = measure.prepare(graph)
        total = sum(weight for _, weight in left)
        if total:
            pairs = [
                weight * measure.similarity(own, measure.prepare(by_id[name]))
                for name, weight in left
            ]
            scores[signature(graph)] = sum(pairs) / total
    assert forest.scores == pytest.approx(sorted(scores.values()))
    # Equal structures have equal matches, whatever they say and how often it is said.
    of_structure = {}
    for graph in graphs:
        if signature(graph) in scores:
            roles = tuple(node.role for node in graph.nodes)
            of_structure.setdefault(roles, []).append(scores[signature(graph)])
    for found in of_structure.values():
        assert found == pytest.approx([found[0]] * len(found))
    if weights == "share":
        # The cluster has lost just the share of that one success.
        for graph in graphs:
            left = forest.references_for(graph.id, signature(graph))
            assert sum(weight for _, weight in left) == pytest.approx(1 - 1 / forest.considered)


@settings(deadline=None)
@given(teams, st.integers(1, 4))
def test_other_ids_give_the_same_forest(drawn, references):
    def made(prefix):
        graphs = [
            team_run(f"{prefix}{place}", roles, contents=[f"x{content}"] * len(roles))
            for place, (roles, content) in enumerate(drawn)
        ]
        forest = forest_of(graphs, references=references)
        if isinstance(forest, Shortage):
            return None
        by_id = {graph.id: signature(graph) for graph in graphs}
        return forest.scores, {
            by_id[one.graph]: (one.weight, one.members, by_id.get(one.stand_in))
            for one in forest.references
        }

    assert made("a") == made("z") == made("m")


def test_of_copies_alone_no_two_structures_get_two_matches():
    # x1 = x2 and y1 = y2 but for their words, and a copy of x1.
    said = {"x1": ["a", "b"], "x2": ["c", "d"], "x1 again": ["a", "b"]}
    graphs = [team_run(name, "ps", contents=words) for name, words in said.items()]
    graphs += [team_run(name, "pc", contents=[name, name]) for name in ("y1", "y2")]
    forest = forest_of(graphs)
    assert [one.weight for one in forest.references] == [0.5, 0.5]
    # One other of its own way, two of the other way, whose similarity is 1/3.
    assert forest.scores == pytest.approx([(1 + 2 / 3) / 3] * 4)


def test_a_glance_tells_what_need_not_be_hashed():
    one = team_run("a", "ps", contents=["plan", "do"])
    assert glance_of(signature(one)) == glance(one)
    assert glance(one) == glance(team_run("b", "ps", contents=["other", "Do "], rename="x"))
    assert glance(one) != glance(team_run("c", "ps", contents=["plan", "undo"]))
    assert glance(team_run("d", "ps", contents=[None, None])) == "2.1.0.-.ps"
    assert glance(team_run("e", "")) == "0"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: one["references"][0].update(weight=-5.0), "a weight is no number from 0"),
        (lambda one: one["references"][0].update(weight=0.1), "do not add up to 1"),
        (lambda one: one["references"].append(one["references"][0]), "occurs twice"),
        (lambda one: one.update(references=[]), "there is no reference"),
        (lambda one: one["references"][0].update(members=["x"]), "not in its own cluster"),
        (lambda one: one["references"][0].update(stand_in="x"), "stand-in does not fit"),
        (lambda one: one.update(threshold=7.0), "the threshold is not that of the scores"),
        (lambda one: one["scores"].reverse(), "the scores are not ascending"),
        (lambda one: one.update(scores=[0.1, 0.2, 3.0]), "the scores are not ascending"),
        (lambda one: one.update(considered=2), "the numbers of successes do not fit"),
        (lambda one: one.update(median_similarity=-1.0), "the median similarity is no"),
        (lambda one: one.update(near_copies=True), "the mark of near copies"),
    ],
)
def test_forests_that_no_build_gives_are_refused(change, says):
    graphs = [
        team_run(name, roles) for name, roles in zip("abc", ("ps", "pss", "pv"), strict=True)
    ]
    forest = forest_of(graphs)
    check_forests(ForestSet(ForestConfiguration(), {}, (forest,)))
    with pytest.raises(ValueError, match="the forest of the task t occurs twice"):
        check_forests(ForestSet(ForestConfiguration(), {}, (forest, forest)))
    values = msgspec.json.decode(canonical_json(forest))
    change(values)
    changed = msgspec.convert(values, ReferenceForest)
    with pytest.raises(ValueError, match=says):
        check_forests(ForestSet(ForestConfiguration(), {}, (changed,)))
    assert (
        ForestSet(ForestConfiguration(), {}, (changed,)).id
        != ForestSet(ForestConfiguration(), {}, (forest,)).id
    )


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
    assert document["short"][0]["reason"] == "1 distinct success among 1 seen, 2 needed"
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
