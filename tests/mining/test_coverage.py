import itertools
import random
from dataclasses import replace

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from graphstore.builder import GraphBuilder
from graphstore.errors import NotFoundError, UsageError
from graphstore.identity import canonical_json
from mining.canonical import Pattern
from mining.coverage import CoverageConfiguration, measure_coverage
from mining.coverage_rows import bootstrap_interval
from mining.coverage_splits import coverage_tasks, nested_subsets, split_tasks
from mining.motifs import MotifConfiguration
from mining.rules import RuleConfiguration, canonical_rule
from mining.subtask_types import SubtaskTypeConfiguration, mine_subtask_types
from mining.workers import Workers
from tests.mining.planted import ORDER, planted
from tests.mining.test_motifs import slow_motifs

BY_NAME = CoverageConfiguration(
    labels="name", held_out_sources=("held",), sizes=(3,), sequences=2
)


def task(
    name,
    labels,
    edges=(),
    couplings=(),
    *,
    dataset="mined",
    group=None,
    category=None,
    description=None,
    kind="decomposition",
    record="",
):
    builder = GraphBuilder(
        kind=kind, format="test", uri="test", content=f"{name} {record}", record=name
    )
    builder.set_task(
        name,
        dataset=dataset,
        source_group=group,
        category=category,
        description=description or f"the task {name}",
    )
    for label in labels:
        if kind == "run":
            builder.add("agent_message", label, role=label)
        else:
            builder.add("subtask", label)
    for source, target in edges:
        builder.edge(source, target, "explicit")
    for one, other in couplings:
        builder.couple(one, other)
    return builder.build()


def mined_by_hand():
    """A -> B -> C twice, so that it has support; D -> E once."""
    return [
        task("m1", "ABC", [(0, 1), (1, 2)]),
        task("m2", "ABC", [(0, 1), (1, 2)]),
        task("m3", "DE", [(0, 1)]),
    ]


def held_by_hand():
    return [
        # AB, BC, CF, ABC, BCF: three are known, two have known structures with other types.
        task("chain", "ABCF", [(0, 1), (1, 2), (2, 3)], dataset="held", group="one"),
        # AB is known, DE was seen once.
        task("rare", "ABDE", [(0, 1), (2, 3)], dataset="held", group="one"),
        # No coupling was ever seen.
        task("coupled", "AB", [], [(0, 1)], dataset="held", group="two"),
        # AB twice, known, never joined at A; and a fork, which was never seen.
        task("fork", "ABB", [(0, 1), (0, 2)], dataset="held", group="three"),
    ]


def by_hand():
    return mined_by_hand() + held_by_hand()


def counts_by_name(coverage, library=-1):
    names = {one.id: one.name for one in coverage.split.held_out}
    return {names[one.task]: one for one in coverage.libraries[library].tasks}


# --- worked out on paper --------------------------------------------------------------------


def test_patterns_by_hand():
    found = counts_by_name(measure_coverage(by_hand(), BY_NAME))
    fields = (
        "patterns",
        "patterns_covered",
        "patterns_rare",
        "patterns_new_types",
        "patterns_new_structure",
        "coupled",
        "coupled_covered",
    )
    assert {
        name: tuple([getattr(one, field) for field in fields]) for name, one in found.items()
    } == {
        "chain": (5, 3, 0, 2, 0, 0, 0),
        "rare": (2, 1, 1, 0, 0, 0, 0),
        "coupled": (1, 0, 0, 0, 1, 1, 0),
        "fork": (3, 2, 0, 0, 1, 0, 0),
    }


def test_rules_by_hand():
    found = counts_by_name(measure_coverage(by_hand(), BY_NAME))
    fields = ("rules", "rules_covered", "rules_rare", "rules_unjoined", "rules_new_patterns")
    assert {
        name: tuple([getattr(one, field) for field in fields]) for name, one in found.items()
    } == {
        # All pairs of the five sets but AB with CF; AB, BC and ABC overlap as in m1 and m2.
        "chain": (9, 3, 0, 0, 6),
        "rare": (0, 0, 0, 0, 0),
        "coupled": (0, 0, 0, 0, 0),
        "fork": (3, 0, 0, 1, 2),
    }


def test_means_shares_and_bands_by_hand():
    coverage = measure_coverage(by_hand(), BY_NAME)
    patterns, rules = coverage.curve
    assert (patterns.measure, patterns.size, patterns.tasks) == ("patterns", 3, 4)
    assert patterns.mean == pytest.approx((3 / 5 + 1 / 2 + 0 + 2 / 3) / 4)
    # Two sequences end at the same three tasks: one library.
    assert patterns.libraries == 1
    assert patterns.low == patterns.high == patterns.mean
    assert (patterns.retained, patterns.types) == (3, None)
    # A task without overlapping patterns has no rule coverage, which is not 0.
    assert (rules.tasks, rules.retained) == (2, 3)
    assert rules.mean == pytest.approx((1 / 3 + 0) / 2)
    shares = {(one.measure, one.part): one.share for one in coverage.breakdown}
    assert shares == {
        ("patterns", "covered"): pytest.approx(patterns.mean),
        ("patterns", "rare"): pytest.approx(1 / 8),
        ("patterns", "new_types"): pytest.approx(2 / 5 / 4),
        ("patterns", "new_structure"): pytest.approx((1 + 1 / 3) / 4),
        ("rules", "covered"): pytest.approx(1 / 6),
        ("rules", "rare"): 0,
        ("rules", "unjoined"): pytest.approx(1 / 3 / 2),
        ("rules", "new_patterns"): pytest.approx((6 / 9 + 2 / 3) / 2),
    }
    with_couplings, without = coverage.couplings
    assert (with_couplings.tasks, with_couplings.coverage) == (1, 0)
    assert (without.tasks, without.coverage) == (3, pytest.approx((0.6 + 0.5 + 2 / 3) / 3))
    (held,) = coverage.collections
    assert (held.collection, held.tasks) == ("held", 4)
    assert held.patterns == pytest.approx(patterns.mean)
    assert held.rules == pytest.approx(rules.mean)
    of_patterns, of_rules = coverage.distributions
    assert (of_patterns.full, of_patterns.none, of_rules.full, of_rules.none) == (0, 1, 0, 1)
    assert of_patterns.median == pytest.approx((0.5 + 0.6) / 2)
    assert coverage.coverage_of("rules")[held_by_hand()[1].task.id] is None


def test_rare_rules_by_hand():
    """A -> B -> C once and its parts twice: the rule that joins them has no support."""
    mined = [
        task("m1", "ABC", [(0, 1), (1, 2)]),
        task("m2", "AB", [(0, 1)]),
        task("m3", "BC", [(0, 1)]),
    ]
    held = task("h", "ABC", [(0, 1), (1, 2)], dataset="held")
    (found,) = measure_coverage([*mined, held], BY_NAME).libraries[-1].tasks
    assert (found.patterns_covered, found.patterns_rare) == (2, 1)
    assert (found.rules, found.rules_covered, found.rules_rare) == (3, 0, 3)


def test_thresholds_are_in_tasks_and_can_be_set():
    once = replace(
        BY_NAME,
        motifs=MotifConfiguration(kept_occurrences=None),
        rules=RuleConfiguration(),
    )
    found = counts_by_name(measure_coverage(by_hand(), once))
    assert (found["rare"].patterns_covered, found["rare"].patterns_rare) == (2, 0)
    # Two graphs of one task are one task.
    twice = [task("m3", "DE", [(0, 1)], record=str(number)) for number in range(2)]
    graphs = [*mined_by_hand()[:2], *twice, *held_by_hand()]
    assert counts_by_name(measure_coverage(graphs, BY_NAME))["rare"].patterns_rare == 1


def test_graphs_of_one_task_are_counted_together():
    held = [
        task("h", "ABC", [(0, 1), (1, 2)], dataset="held", record="one"),
        task("h", "AF", [(0, 1)], dataset="held", record="two"),
    ]
    (found,) = measure_coverage([*mined_by_hand(), *held], BY_NAME).libraries[-1].tasks
    assert (found.patterns, found.patterns_covered) == (4, 3)


def test_inner_nodes_are_no_part_of_patterns():
    builder = GraphBuilder(
        kind="decomposition", format="test", uri="test", content="h", record="h"
    )
    builder.set_task("h", dataset="held")
    group = builder.add("group", "G")
    one = builder.add("subtask", "A", parent=group)
    other = builder.add("subtask", "B", parent=group)
    last = builder.add("subtask", "C")
    builder.edge(one, other, "explicit")
    builder.edge(group, last, "explicit")
    (found,) = (
        measure_coverage([*mined_by_hand(), builder.build()], BY_NAME).libraries[-1].tasks
    )
    assert (found.patterns, found.patterns_covered) == (1, 1)


def test_runs_are_covered_by_role_and_kind():
    graphs = [
        task(
            f"r{number}",
            ["planner", "solver", "critic"],
            [(0, 1), (1, 2)],
            kind="run",
            group=str(number),
        )
        for number in range(6)
    ]
    coverage = measure_coverage(graphs)
    assert coverage.configuration.labels == "role/kind"
    assert coverage.curve[-1].mean == 1
    assert {point.mean for point in coverage.curve if point.size == 1} == {0}


# --- against a slow oracle ------------------------------------------------------------------


def slow_counts(mined, held):
    """Covered and all occurrences, by definition: every set, and every pair of sets."""

    def occurrences(graph):
        return [
            (Pattern(*pattern), nodes)
            for pattern, places in slow_motifs(graph).items()
            for nodes in places
        ]

    def rules(graph):
        found = []
        for (one, first), (other, second) in itertools.combinations(occurrences(graph), 2):
            shared = set(first) & set(second)
            if shared:
                pairs = [(first.index(node), second.index(node)) for node in shared]
                found.append(canonical_rule(one, other, pairs))
        return found

    support = {}
    rule_support = {}
    for graph in mined:
        for pattern, _ in occurrences(graph):
            support.setdefault(pattern, set()).add(graph.task.id)
        for rule in rules(graph):
            rule_support.setdefault(rule, set()).add(graph.task.id)
    result = {}
    for graph in held:
        shown = [pattern for pattern, _ in occurrences(graph)]
        joined = rules(graph)
        result[graph.task.id] = (
            len(shown),
            sum(len(support.get(pattern, ())) >= 2 for pattern in shown),
            len(joined),
            sum(len(rule_support.get(rule, ())) >= 2 for rule in joined),
        )
    return result


@pytest.mark.parametrize("seed", range(25))
def test_counts_are_those_of_a_slow_oracle(seed):
    drawn = random.Random(seed)
    graphs = []
    for number in range(7):
        size = drawn.randint(2, 6)
        pairs = list(itertools.combinations(range(size), 2))
        edges = [pair for pair in pairs if drawn.random() < 0.45]
        couplings = [pair for pair in pairs if drawn.random() < 0.1]
        graphs.append(
            task(
                f"t{number}",
                drawn.choices(["solver", "critic"], k=size),
                edges,
                couplings,
                kind="run",
                dataset="held" if number < 3 else "mined",
            )
        )
    options = CoverageConfiguration(held_out_sources=("held",), sizes=(4,), sequences=1)
    coverage = measure_coverage(graphs, options)
    found = {
        one.task: (one.patterns, one.patterns_covered, one.rules, one.rules_covered)
        for one in coverage.libraries[0].tasks
    }
    assert found == slow_counts(graphs[3:], graphs[:3])


# --- planted corpora ------------------------------------------------------------------------


def test_planted_types_and_motifs_are_recovered_and_cover_the_rest():
    types = 5
    graphs, truth = planted(24, types, seed=3)
    options = CoverageConfiguration(level="task", sizes=(2, 16), sequences=3)
    coverage = measure_coverage(graphs, options)
    assert coverage.curve[1].types == types
    mined = {one.id for one in coverage.split.mining}
    held = [graph for graph in graphs if graph.task.id not in mined]
    learned = mine_subtask_types([graph for graph in graphs if graph.task.id in mined])
    labels = learned.assign(held)
    assert adjusted_rand_score(
        [truth[node] for node in labels], list(labels.values())
    ) == pytest.approx(1)
    # All pairs of types that work was planted between are motifs.
    assert coverage.libraries[-1].patterns >= sum(max(pair) < types for pair in ORDER)
    point = {(one.measure, one.size): one for one in coverage.curve}
    assert point["patterns", 16].mean > 0.99
    assert point["rules", 16].mean > 0.99
    assert point["patterns", 2].mean < point["patterns", 16].mean
    gain = {one.measure: one for one in coverage.gains}["patterns"]
    assert gain.mean == pytest.approx(point["patterns", 16].mean - point["patterns", 2].mean)
    assert gain.interval[0] <= gain.mean <= gain.interval[1]


def test_held_out_tasks_of_other_types_are_not_covered():
    """The same shapes, other work: as many types, and none of the patterns."""
    mined, _ = planted(12, 4, seed=1)
    held = [
        task(
            f"h{number}",
            [f"zzz{place}" for place in range(3)],
            [(0, 1), (1, 2)],
            dataset="held",
        )
        for number in range(4)
    ]
    options = CoverageConfiguration(
        labels="name", held_out_sources=("held",), sizes=(12,), sequences=1
    )
    coverage = measure_coverage([*mined, *held], options)
    shares = {one.part: one.share for one in coverage.breakdown if one.measure == "patterns"}
    assert shares == {"covered": 0, "rare": 0, "new_types": 1, "new_structure": 0}


# --- splits ---------------------------------------------------------------------------------

sources = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from([None, "g1", "g2", "g3", "g4"]),
        st.sampled_from(["p", "q"]),
        st.integers(0, 12),
    ),
    min_size=2,
    max_size=14,
)


def corpus(rows):
    return [
        task(
            f"t{number}",
            "AB",
            dataset=dataset,
            group=group,
            category=category,
            description=f"Do   the WORK {text}",
        )
        for number, (dataset, group, category, text) in enumerate(rows)
    ]


@settings(deadline=None, max_examples=60)
@given(sources, st.sampled_from(["group", "category", "task"]), st.integers(0, 5))
def test_no_source_stands_on_both_sides(rows, level, seed):
    graphs = corpus(rows)
    tasks = coverage_tasks(graphs, level)
    try:
        split = split_tasks(tasks, 0.4, seed)
    except UsageError:
        assert len({one.group for one in tasks}) == 1
        return
    place = {
        one.id: number
        for number, one in enumerate((split.mining, split.held_out))
        for one in one
    }
    assert len(place) == len(rows)
    for one, other in itertools.combinations(graphs, 2):
        same_text = one.task.description == other.task.description
        if level == "category":
            same = (one.task.dataset, one.task.category) == (
                other.task.dataset,
                other.task.category,
            )
        elif one.task.source_group or other.task.source_group:
            same = one.task.source_group == other.task.source_group
        else:
            same = level == "group" and one.task.dataset == other.task.dataset
        if same or same_text:
            assert place[one.task.id] == place[other.task.id]
    assert split_tasks(tuple(tasks), 0.4, seed) == split


def test_groups_are_no_larger_than_they_must_be():
    rows = [("x", "g1", "p", 1), ("x", "g2", "p", 2), ("y", "g1", "q", 3), ("y", None, "q", 4),
            ("y", None, "p", 5), ("z", "g3", "p", 2)]  # fmt: skip
    names = {graph.task.id: graph.task.name for graph in corpus(rows)}

    def groups(level):
        found = {}
        for one in coverage_tasks(corpus(rows), level):
            found.setdefault(one.group, set()).add(names[one.id])
        return sorted(map(sorted, found.values()))

    assert groups("group") == [["t0", "t2"], ["t1", "t5"], ["t3", "t4"]]
    assert groups("task") == [["t0", "t2"], ["t1", "t5"], ["t3"], ["t4"]]
    # By category t1 stands with t0, and its text joins the only task of z/p.
    assert groups("category") == [["t0", "t1", "t5"], ["t2", "t3"], ["t4"]]


def test_texts_are_compared_once_normalized_and_leaves_stand_in_for_them():
    one = task("a", "AB", description="Sort  the LIST")
    other = task("b", "CD", description="sort the list ", dataset="elsewhere")
    assert len({found.group for found in coverage_tasks([one, other], "task")}) == 1
    assert len({found.group for found in coverage_tasks([one, other], "task", False)}) == 2

    def without_text(name, labels):
        builder = GraphBuilder(
            kind="decomposition", format="test", uri="test", content=name, record=name
        )
        builder.set_task(name)
        for label in labels:
            builder.add("subtask", label)
        return builder.build()

    tasks = [without_text("a", "XY"), without_text("b", "YX"), without_text("c", "XZ")]
    tasks += [without_text("d", ""), without_text("e", "")]
    groups = {found.name: found.group for found in coverage_tasks(tasks, "task")}
    assert groups["a"] == groups["b"]
    assert len(set(groups.values())) == 4


def test_sources_to_hold_out_are_named():
    rows = [("x", "g1", "p", 1), ("x", "g2", "q", 2), ("y", None, "p", 3), ("y", None, "q", 4)]
    tasks = coverage_tasks(corpus(rows), "task")
    held = {
        name: sorted(one.name for one in split_tasks(tasks, sources=(name,)).held_out)
        for name in ("x", "p", "y/q", "g2")
    }
    assert held == {"x": ["t0", "t1"], "p": ["t0", "t2"], "y/q": ["t3"], "g2": ["t1"]}
    with pytest.raises(NotFoundError, match=r"no task has the source 'w'.* x, y"):
        split_tasks(tasks, sources=("w",))
    with pytest.raises(UsageError, match="no task is left to mine"):
        split_tasks(tasks, sources=("x", "y"))
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_tasks(tasks, 1.0)
    with pytest.raises(UsageError, match="not 'repository'"):
        coverage_tasks(corpus(rows), "repository")


def many_rows(sizes, grouped=True):
    return [
        (name, f"{name}{number}" if grouped else None, "p", f"{name}{number}")
        for name, many in sizes
        for number in range(many)
    ]


def test_each_collection_gives_up_its_share():
    rows = many_rows((("x", 30), ("y", 12), ("z", 6)))
    split = split_tasks(coverage_tasks(corpus(rows)), 1 / 3, seed=4)
    held = [one.collection for one in split.held_out]
    assert {name: held.count(name) for name in "xyz"} == {"x": 10, "y": 4, "z": 2}
    others = split_tasks(coverage_tasks(corpus(rows)), 1 / 3, seed=5)
    assert others.held_out != split.held_out


def test_whole_collections_are_held_out_where_they_cannot_be_parted():
    rows = many_rows((("x", 6), ("y", 4), ("z", 2)), grouped=False)
    split = split_tasks(coverage_tasks(corpus(rows)), 1 / 3)
    assert 2 <= len(split.held_out) <= 6
    assert {one.collection for one in split.held_out} & {
        one.collection for one in split.mining
    } == set()


def test_subsets_are_nested_stratified_and_drawn_anew_for_each_sequence():
    rows = many_rows((("x", 40), ("y", 20)))
    tasks = coverage_tasks(corpus(rows))
    collection = {one.id: one.collection for one in tasks}
    found = nested_subsets(tasks, (3, 15, 30, 60), 10, seed=1)
    assert len(found) == 10
    for sequence in found:
        for smaller, larger in itertools.pairwise(sequence):
            assert set(smaller) < set(larger)
        for subset in sequence:
            many = sum(collection[one] == "y" for one in subset)
            assert abs(many - len(subset) / 3) <= 1
    assert len({sequence[0] for sequence in found}) > 5
    assert len({sequence[-1] for sequence in found}) == 1
    assert nested_subsets(tasks, (3, 15, 30, 60), 10, seed=1) == found
    with pytest.raises(UsageError, match="61 tasks was asked for, and 60 can be mined"):
        nested_subsets(tasks, (61,), 1)


# --- bands, intervals, resamples ------------------------------------------------------------


def test_bands_are_the_least_and_the_greatest_library():
    graphs, _ = planted(18, 4, seed=2)
    coverage = measure_coverage(
        graphs, CoverageConfiguration(level="task", sizes=(2, 4), sequences=6, labels="name")
    )
    for point in coverage.curve:
        means = []
        for library in coverage.libraries:
            if library.size == point.size:
                shares = [
                    getattr(one, f"{point.measure}_covered") / getattr(one, point.measure)
                    for one in library.tasks
                    if getattr(one, point.measure)
                ]
                means += [sum(shares) / len(shares)] * len(library.sequences)
        assert len(means) == 6
        assert point.low == pytest.approx(min(means))
        assert point.high == pytest.approx(max(means))
        assert point.mean == pytest.approx(sum(means) / 6)


def test_the_interval_of_two_groups_is_known():
    # Both groups, or one of them twice: a quarter of the resamples at each end.
    values = numpy.array([0.0, 0.2, 1.0, numpy.nan])
    assert bootstrap_interval(values, [0, 0, 1, 1], 2000, 0.95, 0) == (0.1, 1.0)
    low, high = bootstrap_interval(values, [0, 0, 1, 1], 2000, 0.4, 0)
    assert low == high == pytest.approx(0.4)
    assert bootstrap_interval(values, [0, 0, 0, 1], 2000, 0.95, 0) is None
    assert bootstrap_interval(numpy.array([]), [], 10, 0.9, 0) is None


def test_the_interval_is_that_of_a_slow_bootstrap_over_groups():
    drawn = random.Random(7)
    groups = [drawn.randrange(9) for _ in range(60)]
    values = numpy.array([drawn.random() * (1 + group % 3) / 3 for group in groups])
    members = {group: values[[one == group for one in groups]] for group in set(groups)}
    means = []
    for _ in range(20_000):
        chosen = drawn.choices(sorted(members), k=len(members))
        means.append(numpy.concatenate([members[group] for group in chosen]).mean())
    slow = numpy.quantile(means, (0.025, 0.975))
    fast = bootstrap_interval(values, groups, 20_000, 0.95, 1)
    assert fast == pytest.approx(slow, abs=0.006)
    # Tasks of one group are no independent witnesses.
    alone = bootstrap_interval(values, range(60), 20_000, 0.95, 1)
    assert fast[1] - fast[0] > 1.3 * (alone[1] - alone[0])


# --- determinism and workers ----------------------------------------------------------------


def test_the_order_of_graphs_does_not_matter():
    graphs, _ = planted(12, 3, seed=5)
    options = CoverageConfiguration(level="task", sizes=(3, 6), sequences=2)
    one = measure_coverage(graphs, options)
    other = measure_coverage(graphs[::-1], options)
    assert one.hash == other.hash
    assert canonical_json(one.to_dict()) == canonical_json(other.to_dict())
    assert one.hash != measure_coverage(graphs, replace(options, seed=1)).hash


def test_processes_give_the_same_bytes():
    graphs, _ = planted(12, 3, seed=5)
    options = CoverageConfiguration(level="task", sizes=(3, 6), sequences=2)
    told = []
    one = measure_coverage(graphs, options)
    other = measure_coverage(
        graphs,
        options,
        workers=Workers(2),
        progress=lambda done, total: told.append((done, total)),
    )
    assert canonical_json([one.libraries, one.to_dict()]) == canonical_json(
        [other.libraries, other.to_dict()]
    )
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)


# --- what is bad, small or large ------------------------------------------------------------


def test_bad_corpora_are_told_in_a_sentence():
    run = task("r", ["planner", "solver"], kind="run")
    with pytest.raises(UsageError, match="there are no graphs"):
        measure_coverage([])
    with pytest.raises(UsageError, match="runs or decompositions, not both"):
        measure_coverage([run, *by_hand()])
    with pytest.raises(UsageError, match="was given twice"):
        measure_coverage([run, run])
    with pytest.raises(UsageError, match="no task can be held out: the 1 task comes from 1 so"):
        measure_coverage([run])
    with pytest.raises(UsageError, match="no task has 2 leaves or more"):
        measure_coverage([task("t", "A")])
    with pytest.raises(UsageError, match="4 tasks was asked for, and 3 can be mined"):
        measure_coverage(by_hand(), replace(BY_NAME, sizes=(4,)))


def test_tasks_without_patterns_take_no_part():
    graphs = [*by_hand(), task("tiny", "A"), task("empty", "", dataset="held")]
    coverage = measure_coverage(graphs, BY_NAME)
    assert {(one.name, one.reason) for one in coverage.left_out} == {
        ("tiny", "1 node, fewer than 2"),
        ("empty", "0 nodes, fewer than 2"),
    }
    assert coverage.curve == measure_coverage(by_hand(), BY_NAME).curve


def test_tasks_without_edges_have_no_coverage():
    graphs = [*mined_by_hand(), task("h", "AB", dataset="held")]
    coverage = measure_coverage(graphs, BY_NAME)
    assert [point.mean for point in coverage.curve] == [None, None]
    assert [point.interval for point in coverage.curve] == [None, None]
    assert [one.share for one in coverage.breakdown] == [None] * 8
    assert coverage.to_pandas()["mean"].isna().all()
    assert coverage.distributions[0].median is None


def test_graphs_that_are_too_large_are_named_and_not_counted():
    small = replace(
        BY_NAME,
        motifs=MotifConfiguration(min_task_support=2, kept_occurrences=None, max_nodes=3),
    )
    coverage = measure_coverage(by_hand(), small)
    skipped = {one.task: one for one in coverage.skipped}
    names = {one.id: one.name for one in coverage.split.held_out}
    assert sorted(names[one] for one in skipped) == ["chain", "rare"]
    assert all("4 nodes, more than max_nodes = 3" in one.skipped for one in skipped.values())
    assert coverage.curve[0].tasks == 2
    few = replace(BY_NAME, rules=RuleConfiguration(min_task_support=2, max_occurrences=3))
    found = counts_by_name(measure_coverage(by_hand(), few))["chain"]
    assert found.skipped is None
    assert "5 occurrences" in found.rules_skipped
    assert (found.patterns_covered, found.rules) == (3, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "colour"}, "the labels 'colour' are not one of types, role/kind"),
        ({"sizes": ()}, "1 or more"),
        ({"sizes": (0,)}, "1 or more"),
        ({"sequences": 0}, "sequences must be at least 1"),
        ({"resamples": 0}, "resamples must be at least 1"),
        ({"held_out": 0.0}, "held_out must lie between 0 and 1"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"motifs": MotifConfiguration(vertices="agents")}, "not over agents"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        CoverageConfiguration(**options)


def test_tables():
    coverage = measure_coverage(by_hand(), BY_NAME)
    curve = coverage.to_pandas()
    assert curve[["measure", "size"]].to_numpy().tolist() == [["patterns", 3], ["rules", 3]]
    low, high = coverage.curve[0].interval
    assert curve.loc[0, ["interval_low", "interval_high"]].tolist() == [low, high]
    tasks = coverage.tasks_to_pandas().set_index("name")
    assert tasks.loc["chain", "patterns"] == pytest.approx(0.6)
    assert tasks["rules"].isna().tolist().count(True) == 2
    assert len(coverage.breakdown_to_pandas()) == 8
    assert coverage.counts_to_pandas()["patterns"].sum() == 11
    document = coverage.to_dict()
    assert document["mining"] == {
        "tasks": 3,
        "source_groups": 1,
        "collections": {"mined": 3},
    }
    assert document["held_out"]["source_groups"] == 3
    assert document["configuration"].types == SubtaskTypeConfiguration()
