import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError, UsageError
from graphstore.model import Artifact
from mining.library import (
    Library,
    LibraryConfiguration,
    dump_library,
    load_library,
)
from mining.library_mining import KnownType, mine_library
from mining.library_parts import join_library, split_library
from mining.motifs import MotifConfiguration, mine_motifs
from mining.rules import RuleConfiguration, canonical_rule, mine_rules, rule_text
from mining.subtask_types import SubtaskTypeConfiguration, mine_subtask_types
from tests.mining.test_motifs import graphs, make_graph
from tests.mining.test_structures import builder, paper_task, trees

ALL = LibraryConfiguration(
    motifs=MotifConfiguration(kept_occurrences=None), rules=RuleConfiguration()
)
BY_NAME = LibraryConfiguration(
    motifs=MotifConfiguration(kept_occurrences=None, labels="name"), rules=RuleConfiguration()
)


def round_trips(library: Library) -> bool:
    data = dump_library(library)
    loaded = load_library(data)
    rest, parts = split_library(library)
    return loaded == library == join_library(rest, parts) and dump_library(loaded) == data


def test_the_library_of_two_tasks_by_hand():
    mined = mine_library([paper_task("one", "t1"), paper_task("two", "t2")], BY_NAME)
    library = mined.library
    local = library.local
    assert library.scope == "decomposition"
    assert len(library.tasks) == 2
    # Joined pairs of leaves: read -> parse, parse -> report, draft -> report, read -> style,
    # draft - style, parse - draft.
    pairs = {one.pattern.labels: one for one in local.patterns if one.pattern.size == 2}
    assert set(pairs) == {
        ("parse", "read"),
        ("parse", "report"),
        ("draft", "report"),
        ("read", "style"),
        ("draft", "style"),
        ("draft", "parse"),
    }
    assert all((one.occurrences, one.tasks) == (2, (0, 1)) for one in local.patterns)
    # Two pairs lie inside of a group: read -> parse in A (foundation), draft - style in B
    # (capability). All others are held by the root alone, which is no group.
    index = {
        (one.category, local.patterns[one.pattern].pattern.labels): (one.occurrences, one.tasks)
        for one in local.index
    }
    assert index == {
        ("foundation", ("parse", "read")): (2, (0, 1)),
        ("capability", ("draft", "style")): (2, (0, 1)),
    }
    assert local.unindexed == sum(one.occurrences for one in local.patterns) - 4
    assert [one.pattern for one in local.of_category("foundation")] == [
        local.position_of[pairs["parse", "read"].pattern]
    ]
    assert local.of_category("deliver") == ()
    types = {one.label: one for one in local.types}
    assert set(types) == {"read", "parse", "draft", "style", "report"}
    parse = types["parse"]
    assert (parse.inputs, parse.outputs) == (("list",), ("csv", "log"))
    assert (parse.reads, parse.writes, parse.members, parse.tasks) == ((), ("file",), 2, (0, 1))
    assert [group.category for group in library.structures.coarse_graphs[0].groups] == [
        "foundation",
        "capability",
        "deliver",
    ]
    assert len(library.structures.refinements) == 4
    assert round_trips(library)


def test_rules_and_patterns_are_those_of_the_parts():
    graphs_ = [paper_task("one", "t1"), paper_task("two", "t2")]
    mined = mine_library(graphs_, BY_NAME)
    leaves = {node.id for graph in graphs_ for node in graph.nodes if node.kind == "subtask"}
    motifs = mine_motifs(
        graphs_,
        MotifConfiguration(kept_occurrences=None, labels="mine"),
        label_of=lambda node: node.name if node.id in leaves else None,
    )
    rules = mine_rules(motifs)
    local = mined.library.local
    assert [one.pattern for one in local.patterns] == [one.pattern for one in motifs.motifs]
    assert {
        (local.rule_form(place), rule.overlaps, rule.graph_support)
        for place, rule in enumerate(local.rules)
    } == {(one.canonical_form, one.overlap_count, one.graph_support) for one in rules.rules}
    form = rule_text(*canonical_rule(*[
        local.patterns[local.rules[0].second].pattern,
        local.patterns[local.rules[0].first].pattern,
        [(other, one) for one, other in local.rules[0].alignment],
    ]))  # fmt: skip
    assert local.rule_forms[form] == 0


def test_the_index_walks_up_to_the_first_category():
    made = builder()
    outer = made.add("group", "outer", outputs=[Artifact(name="x")])
    made.add("group", "empty")
    inner = made.add("group", "inner", parent=outer)
    a, b = made.add("subtask", "a", parent=inner), made.add("subtask", "b", parent=inner)
    made.edge(a, b, "explicit")
    graph = made.build()
    # The inner group has neither relations nor results: no category. The outer one makes x.
    library = mine_library([graph], ALL).library
    assert [(one.category, one.occurrences) for one in library.local.index] == [
        ("capability", 1)
    ]
    assert library.local.unindexed == 0


@settings(max_examples=40, deadline=None)
@given(st.lists(trees(), max_size=3))
def test_nothing_is_lost_in_a_file(given_graphs):
    unique = list({graph.id: graph for graph in given_graphs}.values())
    one = mine_library(unique, ALL).library
    other = mine_library(unique[::-1], ALL).library
    assert dump_library(one) == dump_library(other)
    assert round_trips(one)
    total = sum(pattern.occurrences for pattern in one.local.patterns)
    indexed = sum(entry.occurrences for entry in one.local.index)
    assert indexed + one.local.unindexed == total


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_runs_have_libraries_too(graph):
    mined = mine_library([graph], ALL)
    assert mined.library.scope == ("run" if graph.nodes else None)
    assert mined.without_nodes == (() if graph.nodes else (graph.id,))
    assert len(mined.library.tasks) == bool(graph.nodes)
    assert round_trips(mined.library)
    plain = mine_motifs([graph], MotifConfiguration(kept_occurrences=None))
    assert [one.id for one in mined.library.local.patterns] == [one.id for one in plain.motifs]


def test_types_come_from_outside():
    graph = make_graph("d", ["unknown"] * 3, [(0, 1), (1, 2)], kind="decomposition")
    types = {graph.nodes[0].id: "t0", graph.nodes[1].id: "t1"}
    configuration = LibraryConfiguration(
        motifs=MotifConfiguration(kept_occurrences=None, labels="types x"),
        rules=RuleConfiguration(),
    )
    library = mine_library(
        [graph],
        configuration,
        label_of=lambda node: types.get(node.id),
        types={"t0": KnownType("gathers", graph.nodes[0].id)},
    ).library
    assert [(one.label, one.title, one.medoid) for one in library.local.types] == [
        ("t0", "gathers", graph.nodes[0].id),
        ("t1", None, None),
    ]
    assert [one.pattern.labels for one in library.local.patterns] == [("t0", "t1")]
    assert library.configuration.motifs.labels == "types x"


def test_types_can_be_learned_first():
    graphs_ = [paper_task("one", "t1"), paper_task("two", "t2")]
    learn = SubtaskTypeConfiguration(candidates=(2,), refits=0)
    configuration = LibraryConfiguration(
        motifs=MotifConfiguration(kept_occurrences=None),
        rules=RuleConfiguration(),
        types=learn,
    )
    mined = mine_library(graphs_, configuration)
    types = mine_subtask_types(graphs_, learn)
    local = mined.library.local
    assert [one.label for one in local.types] == ["T1", "T2"]
    assert {one.label: one.title for one in local.types} == {
        one.label: one.name for one in types.types
    }
    assert {one.label: one.medoid for one in local.types} == {
        one.label: one.medoid.id for one in types.types
    }
    assert set(mined.leaf_types) == {
        node.id for graph in graphs_ for node in graph.nodes if node.kind == "subtask"
    }
    for one in types.types:
        (entry,) = [found for found in local.types if found.label == one.label]
        assert (entry.inputs, entry.outputs, entry.writes) == (
            one.inputs,
            one.outputs,
            one.writes,
        )
        assert entry.members == one.leaves
    assert mined.library.configuration.motifs.labels == types.name
    assert round_trips(mined.library)
    again = mine_library(graphs_[::-1], configuration)
    assert dump_library(again.library) == dump_library(mined.library)


def test_support_thresholds_of_the_paper_are_the_defaults():
    graphs_ = [
        make_graph("a", ["planner", "solver"], [(0, 1)], task="t1"),
        make_graph("b", ["planner", "solver"], [(0, 1)], task="t2"),
        make_graph("c", ["critic", "solver"], [(0, 1)], task="t2"),
    ]
    library = mine_library(graphs_).library
    assert [one.pattern.labels[0] for one in library.local.patterns] == [
        "planner/agent_message"
    ]
    assert library.configuration.motifs.labels == "role/kind"
    assert library.configuration_hash != ALL.hash


def test_empty_single_duplicate_and_flat_corpora():
    empty = mine_library([]).library
    assert (empty.scope, empty.tasks, empty.graphs) == (None, (), ())
    assert round_trips(empty)
    assert empty.to_pandas().empty
    one_leaf = make_graph("one", ["solver"], [], kind="decomposition")
    library = mine_library([one_leaf], ALL).library
    assert (library.local.patterns, library.local.rules) == ((), ())
    assert [len(one.groups) for one in library.structures.coarse_graphs] == [1]
    assert round_trips(library)
    no_edges = make_graph("none", ["solver"] * 4, [], kind="decomposition")
    assert mine_library([no_edges], ALL).library.local.patterns == ()
    # The same task twice, in two graphs, supports a pattern once.
    twice = [make_graph(name, ["solver"] * 2, [(0, 1)], kind="decomposition") for name in "ab"]
    (pattern,) = mine_library(twice, ALL).library.local.patterns
    assert (pattern.occurrences, pattern.graph_support, pattern.tasks) == (2, 2, (0,))
    assert mine_library(twice).library.local.patterns == ()
    with pytest.raises(UsageError, match="given twice"):
        mine_library([one_leaf, one_leaf])
    with pytest.raises(UsageError, match="cannot be mined into one library"):
        mine_library([one_leaf, make_graph("r", ["solver"], [])])


def test_five_thousand_leaves_in_one_task():
    size = 5_000
    chain = make_graph(
        "chain",
        ["solver"] * size,
        [(place, place + 1) for place in range(size - 1)],
        kind="decomposition",
    )
    library = mine_library([chain], ALL).library
    assert [one.occurrences for one in library.local.patterns] == [size - 1, size - 2]
    assert len(library.structures.coarse_graphs[0].groups) == size
    size = 2_500
    star = make_graph(
        "star", ["solver"] * size, [(0, end) for end in range(1, size)], kind="decomposition"
    )
    library = mine_library([star], ALL).library
    assert library.graphs[0].skipped == (
        "no rules: 3123750 occurrences, more than max_occurrences = 2000000",
    )
    assert [one.occurrences for one in library.local.patterns] == [3_121_251, 2_499]


def test_a_table():
    table = mine_library([paper_task("one", "t1"), paper_task("two", "t2")], BY_NAME).library
    frame = table.to_pandas()
    assert list(frame["task_support"]) == [2] * len(frame)
    assert sorted(frame["foundation"])[-2:] == [0, 2]


def test_what_is_no_library_is_refused():
    library = mine_library([paper_task()], BY_NAME).library
    good = json.loads(dump_library(library))
    for data, says in (
        (b"", "no library"),
        (b"[]", "no library"),
        (b"{}", "no library"),
        (json.dumps({**good, "format": "other"}).encode(), "no library"),
        (json.dumps({**good, "version": 99}).encode(), "version 99"),
        (json.dumps({**good, "hash": "0"}).encode(), "hash does not fit"),
        (json.dumps({**good, "library": {}}).encode(), "damaged"),
        (dump_library(library)[:-20], "no library"),
        (dump_library(library).replace(b'"capability"', b'"deliver"', 1), "does not fit"),
    ):
        with pytest.raises(InputError, match=says):
            load_library(data, file="x.json")
    rest, parts = split_library(library)
    with pytest.raises(InputError, match="damaged"):
        join_library(rest, {**parts, "rule": parts["rule"][1:]})
    with pytest.raises(InputError, match="damaged"):
        join_library("{}", parts)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="agents on their own"):
        LibraryConfiguration(
            motifs=MotifConfiguration(vertices="agents", kept_occurrences=None)
        )
    with pytest.raises(UsageError, match="exclude each other"):
        LibraryConfiguration(
            motifs=MotifConfiguration(labels="kind", kept_occurrences=None),
            types=SubtaskTypeConfiguration(),
        )
    with pytest.raises(UsageError, match="kept_occurrences"):
        LibraryConfiguration(motifs=MotifConfiguration())
    with pytest.raises(UsageError, match="'types' are not one of"):
        mine_library(
            [paper_task()],
            LibraryConfiguration(
                motifs=MotifConfiguration(labels="types", kept_occurrences=None)
            ),
        )


def test_a_root_that_feeds_what_it_contains_is_mined():
    builder = GraphBuilder(kind="run", format="test", uri="u", content="root")
    agent = builder.new_agent("boss", role="orchestrator")
    root = builder.add("decision", "boss", agent=agent)
    inner = builder.add("agent_message", "boss", agent=agent, parent=root)
    other = builder.add("agent_message", "boss", agent=agent, parent=root)
    last = builder.add("agent_message", "boss", agent=agent, parent=root)
    for source, target in ((root, inner), (root, other), (inner, other), (other, last)):
        builder.edge(source, target, "explicit")
    library = mine_library([builder.build()], ALL).library
    assert round_trips(library)
