from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.perturbation import EDITS, perturb
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.records import graph_from_rows, graph_rows
from graphstore.validation import validate
from tests.strategies import graphs

RATES = st.floats(0.0, 1.0, allow_nan=False)


def team(size=10):
    """A planner and a solver in turn, each consuming the action before."""
    builder = GraphBuilder(kind="run", format="f", uri="u", content="c")
    planner = builder.new_agent("Ann", role="planner")
    solver = builder.new_agent("Bob", role="solver")
    for place in range(size):
        builder.add(
            "agent_message",
            "speaks",
            agent=solver if place % 2 else planner,
            recipients=[planner if place % 2 else solver],
            delivery="explicit",
            content=f"thought {place}",
        )
        if place:
            builder.edge(place - 1, place, "explicit")
    builder.propose("u", "answer", node=size - 1, value="4")
    builder.outcome = msgspec.structs.replace(builder.outcome, mistake_step=size - 2)
    return builder.build()


def links(graph):
    index = {node.id: node.index for node in graph.nodes}
    return [(index[edge.source], index[edge.target]) for edge in graph.edges]


@given(graphs(), st.sampled_from(EDITS), RATES, st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_edited_graphs_are_valid_and_can_be_stored(graph, edit, rate, seed):
    found = perturb(graph, edit, rate, seed=seed)
    validate(found.graph)
    assert graph_from_rows(graph_rows(found.graph)) == found.graph
    assert perturb(graph, edit, rate, seed=seed) == found
    assert (found.graph == graph) == (found.changed == 0)
    if found.changed:
        assert found.graph.id != graph.id
        assert found.graph.attributes["perturbation"]["of"] == graph.id
        assert all(node.id.startswith(f"{found.graph.id}/") for node in found.graph.nodes)


@given(graphs(), st.sampled_from(EDITS), RATES, RATES, st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_no_smaller_rate_edits_more(graph, edit, one, other, seed):
    less, more = (perturb(graph, edit, rate, seed=seed) for rate in sorted((one, other)))
    assert less.changed <= more.changed


def test_drop_takes_edges_along_and_joins_nothing():
    graph = team(10)
    found = perturb(graph, "drop", 0.3, seed=1)
    assert found.changed == 3
    kept = [node.content for node in found.graph.nodes]
    places = [int(content.split()[1]) for content in kept]
    assert len(kept) == 7
    assert places == sorted(places)
    assert links(found.graph) == [
        (at, at + 1) for at, (one, other) in enumerate(pairwise(places)) if other == one + 1
    ]


def test_smaller_rates_drop_a_part_of_what_larger_ones_drop():
    graph = team(30)
    kept = [
        {node.content for node in perturb(graph, "drop", rate, seed=5).graph.nodes}
        for rate in (0.1, 0.3, 0.6, 1.0)
    ]
    assert all(more > less for more, less in pairwise(kept))
    assert kept[-1] == set()


def test_labels_of_the_decisive_mistake_move_with_the_action():
    graph = team(10)
    steps = set()
    for seed in range(20):
        found = perturb(graph, "drop", 0.3, seed=seed).graph
        step = found.outcome.mistake_step
        steps.add(step is None)
        if step is not None:
            assert found.nodes[step].content == "thought 8"
        assert {one.node is None for one in found.proposals} <= {True, False}
    assert steps == {True, False}
    longer = perturb(graph, "insert", 1.0, seed=2).graph
    assert longer.nodes[longer.outcome.mistake_step].content == "thought 8"


def test_insert_adds_actions_of_known_actors_between_others():
    graph = team(10)
    found = perturb(graph, "insert", 0.5, seed=3)
    assert found.changed == 5
    added = [node for node in found.graph.nodes if (node.content or "").startswith("inserted")]
    assert len(added) == 5
    assert len({node.content for node in added}) == 5
    assert {node.role for node in added} <= {"planner", "solver"}
    joined = {place for link in links(found.graph) for place in link}
    assert {node.index for node in added} <= joined
    others = [node.content for node in found.graph.nodes if node not in added]
    assert others == [f"thought {place}" for place in range(10)]


def test_swapped_roles_keep_their_number():
    graph = team(10)
    found = perturb(graph, "swap-roles", 0.4, seed=1)
    assert found.changed == 4
    before, after = (
        [(node.role, node.agent.rpartition("/")[2]) for node in one.nodes]
        for one in (graph, found.graph)
    )
    assert sorted(before) == sorted(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 4
    assert links(found.graph) == links(graph)
    everyone = perturb(graph, "swap-roles", 1.0, seed=1)
    assert everyone.changed == 10


def test_nothing_to_swap_gives_the_graph_itself():
    builder = GraphBuilder(kind="run", format="f", uri="u", content="c")
    for place in range(4):
        builder.add("agent_message", str(place), role="solver")
    graph = builder.build()
    found = perturb(graph, "swap-roles", 1.0)
    assert (found.changed, found.graph) == (0, graph)


def test_rewiring_keeps_targets_and_number():
    graph = team(20)
    found = perturb(graph, "rewire", 0.5, seed=2)
    # The edge into the second action has no other source.
    assert found.changed == 10
    assert len(found.graph.edges) == 19
    assert sorted(target for _, target in links(found.graph)) == list(range(1, 20))
    assert all(one < other for one, other in links(found.graph))
    assert perturb(graph, "rewire", 1.0, seed=2).changed == 18


def test_duplicated_content_is_somebody_elses():
    graph = team(10)
    found = perturb(graph, "duplicate-content", 0.3, seed=4)
    assert found.changed == 3
    before, after = ([node.content_hash for node in one.nodes] for one in (graph, found.graph))
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 3
    assert set(after) < set(before)


def test_content_that_only_one_action_has_to_spare():
    builder = GraphBuilder(kind="run", format="f", uri="u", content="c")
    for text in ("same", "same", "other", "same", None):
        builder.add("agent_message", "x", content=text)
    found = perturb(builder.build(), "duplicate-content", 1.0)
    assert [node.content for node in found.graph.nodes] == [
        "other",
        "other",
        "same",
        "other",
        None,
    ]


def test_truncate_cuts_the_end():
    found = perturb(team(10), "truncate", 0.35)
    assert found.changed == 4
    assert [node.content for node in found.graph.nodes] == [f"thought {n}" for n in range(6)]
    assert links(found.graph) == [(n, n + 1) for n in range(5)]
    assert found.graph.proposals[0].node is None
    assert found.graph.outcome.mistake_step is None


def test_what_a_dropped_group_held_stands_in_its_parent():
    builder = GraphBuilder(kind="decomposition", format="f", uri="u", content="c")
    whole = builder.add("group", "whole")
    part = builder.add("group", "part", parent=whole)
    for place in range(3):
        builder.add("subtask", str(place), parent=part)
    graph = builder.build()
    seen = set()
    for seed in range(30):
        found = perturb(graph, "drop", 0.2, seed=seed).graph
        names = {node.id: node.name for node in found.nodes}
        seen |= {(node.name, names.get(node.parent)) for node in found.nodes}
    assert ("0", "whole") in seen
    assert ("part", None) in seen


def test_seeds_differ():
    graph = team(30)
    assert len({perturb(graph, "drop", 0.3, seed=seed).graph.id for seed in range(5)}) == 5
    contents = {
        tuple(node.content for node in perturb(graph, "drop", 0.3, seed=seed).graph.nodes)
        for seed in range(5)
    }
    assert len(contents) == 5


@pytest.mark.parametrize(
    ("edit", "rate", "seed", "message"),
    [
        ("melt", 0.1, 0, "there is no edit 'melt'; choose one of drop, insert"),
        ("drop", 1.5, 0, "a rate lies between 0 and 1, not at 1.5"),
        ("drop", float("nan"), 0, "a rate lies between 0 and 1"),
        ("drop", 0.1, -1, "a seed cannot be negative"),
    ],
)
def test_bad_arguments(edit, rate, seed, message):
    with pytest.raises(UsageError, match=message):
        perturb(team(3), edit, rate, seed=seed)
