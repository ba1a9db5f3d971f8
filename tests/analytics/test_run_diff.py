"""Two runs as a diff: laws for any two, and one worked out by hand."""

from hypothesis import given, settings

from analytics.run_diff import DiffRow, run_diff
from graphstore.builder import GraphBuilder
from tests.strategies import graphs


def team(*steps, content="x"):
    made = GraphBuilder(kind="run", format="toy", uri="x", content=content + repr(steps))
    made.set_task("t")
    made.set_method("m")
    agents = {}
    for place, role in enumerate(steps):
        agent = agents.setdefault(role, None) or made.new_agent(role, role=role)
        agents[role] = agent
        made.add("agent_message", role, agent=agent, content=f"{role} {content}")
        if place:
            made.edge(place - 1, place, "explicit")
    return made.build()


def test_a_step_that_one_run_lacks():
    long = team("planner", "solver", "critic", "aggregator", "human", "tool")
    short = team("planner", "solver", "aggregator", "human", "tool", content="y")
    diff = run_diff(long, short)
    # One node, the two edges at it, and the edge that stands for them. To take the critic for
    # the aggregator would relabel three nodes and end with an extra one: 3 + 1 + 1 edits.
    assert diff.alignment.cost == 4
    assert diff.rows == (
        DiffRow("matched", 0, 0, True),
        DiffRow("rewired", 1, 1, True),
        DiffRow("extra", 2, None, False),
        DiffRow("rewired", 3, 2, True),
        DiffRow("matched", 4, 3, True),
        DiffRow("matched", 5, 4, True),
    )
    assert "parts from the second at action 2" in diff.conclusion
    back = run_diff(short, long)
    assert [(row.kind, row.one, row.other) for row in back.rows[:4]] == [
        ("matched", 0, 0),
        ("rewired", 1, 1),
        ("missing", None, 2),
        ("rewired", 2, 3),
    ]
    assert list(back.to_pandas()["kind"]) == [row.kind for row in back.rows]


def test_a_counterpart_with_another_role():
    diff = run_diff(
        team("planner", "solver", "critic", "aggregator"),
        team("planner", "solver", "aggregator"),
    )
    assert diff.alignment.cost == 3
    assert [row.kind for row in diff.rows] == ["matched", "matched", "relabelled", "extra"]


def test_a_run_that_stops_early_is_a_part_of_the_other():
    diff = run_diff(team("planner"), team("planner", "solver"))
    assert diff.alignment.first_divergence is None
    assert diff.conclusion.endswith("The first run is a part of the second.")


def test_equal_runs_do_not_part():
    run = team("planner", "solver")
    diff = run_diff(run, run)
    assert {row.kind for row in diff.rows} == {"matched"}
    assert diff.conclusion.endswith("The runs do not part.")


@settings(max_examples=60, deadline=None)
@given(graphs(), graphs())
def test_every_action_stands_in_one_row_and_in_order(one, other):
    diff = run_diff(one, other)
    firsts = [row.one for row in diff.rows if row.one is not None]
    assert firsts == list(range(len(one.nodes)))
    seconds = [row.other for row in diff.rows if row.other is not None]
    assert sorted(seconds) == list(range(len(other.nodes)))
    assert diff.count("extra") == len(diff.alignment.extra)
    assert diff.count("missing") == len(diff.alignment.missing)
    assert diff.to_dict()["similarity"] == diff.alignment.similarity
