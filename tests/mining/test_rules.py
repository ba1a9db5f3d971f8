import itertools
from collections import Counter

import pytest
from hypothesis import given, settings

from graphstore.errors import UsageError
from mining.canonical import Pattern, canonical
from mining.motif_enumeration import MotifSearch
from mining.motifs import MotifConfiguration, mine_motifs
from mining.pair_composition import compose_pair
from mining.rules import RuleConfiguration, canonical_rule, mine_rules
from tests.mining.test_motifs import graphs, make_graph

EVERYTHING = MotifConfiguration(kept_occurrences=None, labels="role")
ALL_PLACES = RuleConfiguration(kept_places=None)
A_TO_B = Pattern(("a", "b"), (1,))


def slow_form(first, one, second, other):
    """A name of an overlap by the definition: both patterns drawn over one set of nodes.

    Patterns and their node tuples; the smallest drawing over all ways to list the nodes of
    either occurrence that leave its pattern as it is.
    """
    drawings = []
    for left, left_nodes, right, right_nodes in (
        (first, one, second, other),
        (second, other, first, one),
    ):
        for order in itertools.permutations(range(left.size)):
            if left.reordered(order) != left:
                continue
            for back in itertools.permutations(range(right.size)):
                if right.reordered(back) != right:
                    continue
                mine = [left_nodes[place] for place in order]
                theirs = [right_nodes[place] for place in back]
                shared = sorted(
                    (mine.index(node), theirs.index(node)) for node in set(mine) & set(theirs)
                )
                drawings.append((left, right, tuple(shared)))
    return min(drawings)


def slow_rules(library):
    """(graph, rule) -> number of overlapping pairs and the shared nodes, pair by pair."""
    found = {}
    for graph in range(len(library.graphs)):
        shown = [
            (library.motifs[occurrence.motif].pattern, nodes)
            for occurrence in library.occurrences()
            if occurrence.graph == graph
            for nodes in occurrence.nodes
        ]
        for (first, one), (second, other) in itertools.combinations(shown, 2):
            shared = set(one) & set(other)
            if shared:
                key = (graph, slow_form(first, one, second, other))
                count, places = found.setdefault(key, (0, set()))
                places.add(tuple(sorted(shared)))
                found[key] = (count + 1, places)
    return found


def fast_rules(rules):
    return {
        (
            found.graph,
            (rule.first, rule.second, rule.alignment),
        ): (found.count, set(found.places))
        for place, rule in enumerate(rules.rules)
        for found in rules.occurrences(place)
    }


@settings(max_examples=150, deadline=None)
@given(graphs(largest=8))
def test_rules_equal_a_search_pair_by_pair(graph):
    motifs = mine_motifs([graph], EVERYTHING)
    rules = mine_rules(motifs, ALL_PLACES)
    expected = slow_rules(motifs)
    assert fast_rules(rules) == expected
    assert [row.overlaps for row in rules.graphs] == [sum(c for c, _ in expected.values())]
    for rule in rules.rules:
        assert rule.task_support == rule.graph_support == 1


@settings(max_examples=60, deadline=None)
@given(graphs(largest=8))
def test_composing_by_a_rule_gives_both_patterns_back(graph):
    for rule in mine_rules(mine_motifs([graph], EVERYTHING)).rules:
        joined = compose_pair(rule.first, rule.second, rule.alignment, bridges=True)
        assert len([label for label in joined.labels if label is not None]) == rule.size
        search = MotifSearch((2, 3), True, None)
        found = search.find(joined.motif_input)
        shown = set()
        sets = iter(found.sets.tolist())
        for number, kept in zip(found.numbers.tolist(), found.kept.tolist(), strict=True):
            for _ in range(kept):
                shown.add((search.patterns[number], frozenset(next(sets)) - {-1}))
        assert (rule.first, frozenset(joined.first)) in shown
        assert (rule.second, frozenset(joined.second)) in shown
        plain = compose_pair(rule.first, rule.second, rule.alignment)
        assert None not in plain.labels
        assert len(plain.labels) == rule.size
        # The positions say where: types and direct relations are those of the patterns.
        for pattern, nodes in ((rule.first, plain.first), (rule.second, plain.second)):
            assert tuple(plain.labels[node] for node in nodes) == pattern.labels
            for (a, b), relation in zip(
                itertools.combinations(range(pattern.size), 2), pattern.relations, strict=True
            ):
                one, other = nodes[a], nodes[b]
                assert ((one, other) in plain.edges) == (relation % 5 == 1)
                assert ((other, one) in plain.edges) == (relation % 5 == 3)
                assert (tuple(sorted((one, other))) in plain.couplings) == (relation >= 5)


def test_the_rules_of_a_chain_worked_out_on_paper():
    # planner -> solver -> critic. Patterns: PS (planner -> solver), SC (solver -> critic),
    # and the chain PSC. Labels in order: critic < planner < solver, so the canonical chain
    # lists critic, planner, solver; the pairs list (planner, solver) and (critic, solver).
    graph = make_graph("chain", ["planner", "solver", "critic"], [(0, 1), (1, 2)])
    motifs = mine_motifs([graph], EVERYTHING)
    chain = Pattern(("critic", "planner", "solver"), (4, 3, 1))
    begins, ends = Pattern(("planner", "solver"), (1,)), Pattern(("critic", "solver"), (3,))
    assert {motif.pattern for motif in motifs.motifs} == {chain, begins, ends}
    rules = mine_rules(motifs)
    assert {(rule.first, rule.second, rule.alignment) for rule in rules.rules} == {
        # The two pairs share the solver, last in both.
        (ends, begins, ((1, 1),)),
        # The pairs lie inside the chain: both of their nodes are shared.
        (chain, ends, ((0, 0), (2, 1))),
        (chain, begins, ((1, 0), (2, 1))),
    }
    assert all(rule.overlap_count == 1 for rule in rules.rules)
    places = {
        rule.alignment: found.places
        for rule, found in zip(rules.rules, rules.occurrences(), strict=True)
    }
    assert places == {
        ((1, 1),): ((1,),),
        ((0, 0), (2, 1)): ((1, 2),),
        ((1, 0), (2, 1)): ((0, 1),),
    }


def test_the_rules_of_a_fork_of_equal_branches_worked_out_on_paper():
    # planner -> solver, three times. Pairs: 3, forks: 3 (one for each two branches).
    graph = make_graph(
        "fork", ["planner", "solver", "solver", "solver"], [(0, 1), (0, 2), (0, 3)]
    )
    rules = mine_rules(mine_motifs([graph], EVERYTHING))
    pair, fork = (
        Pattern(("planner", "solver"), (1,)),
        Pattern(("planner", "solver", "solver"), (1, 1, 0)),
    )
    table = {
        (rule.first, rule.second, rule.alignment): rule.overlap_count for rule in rules.rules
    }
    assert table == {
        # Two of three pairs share the planner.
        (pair, pair, ((0, 0),)): 3,
        # A fork and the pair outside of it share the planner alone.
        (pair, fork, ((0, 0),)): 3,
        # A fork and one of the two pairs inside; the branches of a fork are one position.
        (pair, fork, ((0, 0), (1, 1))): 6,
        # Two forks of three branches share the planner and one branch.
        (fork, fork, ((0, 0), (1, 1))): 3,
    }


def test_support_counts_tasks_once_and_thresholds_filter():
    fork = (["planner", "solver", "solver"], [(0, 1), (0, 2)])
    chain = (["planner", "solver", "critic"], [(0, 1), (1, 2)])
    graphs = [
        make_graph("a", *fork, task="t1"),
        make_graph("b", *fork, task="t1"),
        make_graph("c", *fork, task="t2"),
        make_graph("d", *chain, task="t3"),
    ]
    rules = mine_rules(mine_motifs(graphs, EVERYTHING))
    assert {(rule.graph_support, rule.task_support) for rule in rules.rules} == {(3, 2), (1, 1)}
    where = [rules.graphs[found.graph].id for found in rules.occurrences(0)]
    assert where == sorted(graph.id for graph in graphs[:3])
    filtered = mine_rules(
        mine_motifs(graphs, EVERYTHING), RuleConfiguration(min_task_support=2)
    )
    assert len(filtered.rules) + filtered.dropped_rules == len(rules.rules)
    assert {rule.task_support for rule in filtered.rules} == {2}
    # A rule joins retained patterns only.
    few = mine_motifs(
        graphs, MotifConfiguration(kept_occurrences=None, labels="role", min_task_support=3)
    )
    assert [motif.description for motif in few.motifs] == ["pair: planner -> solver"]
    (only,) = mine_rules(few).rules
    assert (only.first, only.second, only.alignment) == (
        few.motifs[0].pattern,
        few.motifs[0].pattern,
        ((0, 0),),
    )


def test_what_is_handed_over_in_another_order_gives_the_same_rules():
    graphs = [
        make_graph("a", ["planner", "solver", "solver"], [(0, 1), (0, 2)], [(1, 2)], task="t1"),
        make_graph("b", ["critic", "solver", "planner"], [(0, 1), (1, 2)], task="t2"),
    ]
    one = mine_rules(mine_motifs(graphs, EVERYTHING))
    other = mine_rules(mine_motifs(graphs[::-1], EVERYTHING))
    assert one.hash == other.hash
    assert one.rules == other.rules
    assert list(one.occurrences()) == list(other.occurrences())


def test_a_rule_has_one_form_whatever_is_named_first():
    join = canonical(Pattern(("a", "a", "b"), (0, 1, 1)))[0]
    assert canonical_rule(join, join, [(1, 0)]) == canonical_rule(join, join, [(0, 1)])
    assert canonical_rule(join, join, [(1, 0)])[2] == ((0, 0),)
    assert canonical_rule(join, A_TO_B, [(2, 1)]) == canonical_rule(A_TO_B, join, [(1, 2)])
    # Sharing both branches and sharing a branch and the joint are not the same.
    assert canonical_rule(join, join, [(0, 1), (1, 0)])[2] == ((0, 0), (1, 1))
    assert canonical_rule(join, join, [(1, 1), (2, 2)])[2] == ((0, 0), (2, 2))


def test_a_rule_seen_from_each_of_its_patterns():
    graph = make_graph("chain", ["planner", "planner", "planner"], [(0, 1), (1, 2)])
    rules = mine_rules(mine_motifs([graph], EVERYTHING))
    pair = Pattern(("planner", "planner"), (1,))
    ways = {(extension.pattern, extension.alignment) for extension in rules.extensions(pair)}
    chain = Pattern(("planner",) * 3, (1, 2, 1))
    assert ways == {
        # A pair can be attached behind the other and in front of it.
        (pair, ((0, 1),)),
        (pair, ((1, 0),)),
        (chain, ((0, 0), (1, 1))),
        (chain, ((0, 1), (1, 2))),
    }
    assert len(rules.extensions(pair)) == 4
    assert len(rules.extensions(chain)) == 2


def test_a_star_of_a_thousand_branches_is_counted_not_listed():
    size = 1_000
    graph = make_graph(
        "star", ["planner"] + ["solver"] * size, [(0, end) for end in range(1, size + 1)]
    )
    rules = mine_rules(mine_motifs([graph], EVERYTHING), RuleConfiguration(kept_places=1))
    forks = size * (size - 1) // 2
    by_shape = {
        (rule.first.size, rule.second.size, rule.alignment): rule.overlap_count
        for rule in rules.rules
    }
    assert by_shape == {
        (2, 2, ((0, 0),)): forks,
        (2, 3, ((0, 0),)): size * (size - 1) * (size - 2) // 2,
        (2, 3, ((0, 0), (1, 1))): 2 * forks,
        (3, 3, ((0, 0),)): forks * ((size - 2) * (size - 3) // 2) // 2,
        (3, 3, ((0, 0), (1, 1))): size * (size - 1) * (size - 2) // 2,
    }


def test_graphs_over_budget_are_named():
    small = make_graph("small", ["solver"] * 2, [(0, 1)])
    large = make_graph("large", ["solver"] * 5, [(0, end) for end in range(1, 5)])
    motifs = mine_motifs([small, large], EVERYTHING)
    rules = mine_rules(motifs, RuleConfiguration(max_occurrences=9))
    assert [row.skipped for row in rules.skipped] == [
        "10 occurrences, more than max_occurrences = 9"
    ]
    assert rules.skipped[0].overlaps is None
    rules = mine_rules(motifs, RuleConfiguration(max_pairs=10))
    assert [row.skipped for row in rules.skipped] == [
        "more than max_pairs = 10 kinds of overlaps to compare"
    ]
    assert len(mine_rules(motifs, RuleConfiguration(max_rules=5)).rules) == 5
    rules = mine_rules(motifs, RuleConfiguration(max_rules=4))
    assert [row.skipped for row in rules.skipped] == ["5 rules, more than max_rules = 4"]
    assert rules.rules == ()
    skipped = mine_motifs(
        [small, large], MotifConfiguration(kept_occurrences=None, max_nodes=4)
    )
    assert [row.skipped for row in mine_rules(skipped).skipped] == [
        "5 nodes, more than max_nodes = 4"
    ]


def test_what_makes_no_sense_is_refused():
    star = make_graph("star", ["solver"] * 5, [(0, end) for end in range(1, 5)])
    with pytest.raises(UsageError, match="kept_occurrences=None"):
        mine_rules(mine_motifs([star], MotifConfiguration(kept_occurrences=2)))
    for wrong in (
        {"min_task_support": 0},
        {"max_pairs": 0},
        {"max_rules": 0},
        {"kept_places": -1},
    ):
        with pytest.raises(UsageError):
            RuleConfiguration(**wrong)
    b_to_a, coupled = Pattern(("a", "b"), (3,)), Pattern(("a", "b"), (6,))
    for first, second, alignment, says in (
        (A_TO_B, A_TO_B, [], "each at most once"),
        (A_TO_B, A_TO_B, [(0, 2)], "each at most once"),
        (A_TO_B, A_TO_B, [(0, 0), (0, 1)], "each at most once"),
        (A_TO_B, A_TO_B, [(0, 1)], "cannot be both 'a' and 'b'"),
        (A_TO_B, coupled, [(0, 0), (1, 1)], "disagree"),
        (A_TO_B, b_to_a, [(0, 0), (1, 1)], "disagree"),
    ):
        with pytest.raises(UsageError, match=says):
            compose_pair(first, second, alignment)
    fork = Pattern(("a", "b", "b"), (1, 1, 0))
    join = Pattern(("a", "b", "b"), (3, 3, 0))
    # The branches of both are shared and the joint stays apart: no cycle.
    assert compose_pair(fork, join, [(1, 1), (2, 2)]).edges == ((0, 1), (0, 2), (1, 3), (2, 3))
    cyclic = Pattern(("a", "b", "b"), (1, 3, 0))
    with pytest.raises(UsageError, match="a cycle"):
        compose_pair(
            cyclic, Pattern(("a", "b", "b"), (3, 1, 0)), [(1, 1), (2, 2)], bridges=True
        )


def test_nothing_in_nothing_out():
    for given_graphs in ([], [make_graph("e", [], [])], [make_graph("one", ["solver"], [])]):
        rules = mine_rules(mine_motifs(given_graphs, EVERYTHING))
        assert rules.rules == ()
        assert list(rules.occurrences()) == []
        assert rules.to_pandas().empty
        assert [row.overlaps for row in rules.graphs] == [0] * len(given_graphs)


def test_tables():
    graph = make_graph("chain", ["planner", "solver", "critic"], [(0, 1), (1, 2)])
    rules = mine_rules(mine_motifs([graph], EVERYTHING))
    table = rules.to_pandas()
    assert list(table["id"]) == [rule.id for rule in rules.rules]
    assert Counter(table["size"]) == {3: 3}
    assert "share solver (node 2 of the first, 2 of the second)" in "".join(
        table["description"]
    )
