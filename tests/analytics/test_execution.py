"""Messages over links and roles, beside the projection that the panel measures."""

import pytest
from hypothesis import given, settings

from analytics.execution import ExecutionConfiguration, measure_execution
from analytics.execution_report import evaluate_execution
from analytics.projection import PROJECTIONS, project, route_use
from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import UsageError
from tests.strategies import graphs


def team(*, plays=True, organized=True):
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    builder.set_task("t")
    builder.set_method("m")
    if organized:
        builder.organization = make_organization(
            "team",
            [("lead", "orchestrator", {}), ("one", "solver", {}), ("two", "solver", {}),
             ("judge", "aggregator", {})],
            [(0, 1, ""), (0, 2, ""), (1, 3, ""), (2, 3, ""), (0, 0, "")],
        )  # fmt: skip
    for place, (name, role) in enumerate(
        (("lead", "orchestrator"), ("one", "solver"), ("two", "solver"))
    ):
        builder.new_agent(name, role=role, unit=place if plays and organized else None)
    builder.new_agent("api", role="tool", kind="tool")
    builder.add("agent_message", "lead", agent=0, recipients=[1, 2], content="go")
    builder.add("tool_call", "api", agent=3, content="5")
    builder.add("agent_message", "one", agent=1, recipients=[0], content="done")
    builder.add("agent_message", "two", agent=2, content="to nobody")
    builder.edge(0, 2, "delivered")
    builder.edge(1, 2, "explicit")
    return builder.build()


def test_messages_by_link_and_role():
    found = measure_execution(team())
    assert (found.permitted_links, found.used_links, found.unpermitted_links) == (4, 2, 1)
    assert found.share_used == 0.5
    assert (found.units, found.executed_units) == (4, 3)
    assert found.messages == 3
    assert found.sent == {"orchestrator": 1, "solver": 1, "tool": 1}
    assert [(one.source, one.target, one.messages) for one in found.roles] == [
        ("orchestrator", "solver", 1),
        ("solver", "orchestrator", 1),
        ("tool", "solver", 1),
    ]
    assert [(one.source, one.target, one.permitted, one.messages) for one in found.links] == [
        ("lead", "one", True, 1),
        ("lead", "two", True, 1),
        ("one", "lead", False, 1),
        ("one", "judge", True, 0),
        ("two", "judge", True, 0),
    ]
    assert found.missing == ()


def test_projections_and_kinds_of_agents():
    consumed = measure_execution(team(), ExecutionConfiguration("consumption"))
    assert (consumed.used_links, consumed.messages) == (1, 2)
    delivered = measure_execution(team(), ExecutionConfiguration("message"))
    assert (delivered.used_links, delivered.messages) == (2, 2)
    agents = measure_execution(team(), ExecutionConfiguration(agent_kinds=("agent",)))
    assert "tool" not in agents.sent
    with pytest.raises(UsageError, match="cannot be read as 'action'"):
        ExecutionConfiguration("action")
    with pytest.raises(UsageError, match="at least one kind"):
        ExecutionConfiguration(agent_kinds=())


def test_without_an_organization_or_units_links_are_not_known():
    for graph, sentence in (
        (team(organized=False), "The run names no organization."),
        (team(plays=False), "No agent says which unit of the organization it plays."),
    ):
        found = measure_execution(graph)
        assert found.missing == (sentence,)
        assert found.permitted_links is found.used_links is found.share_used is None
        assert found.links == ()
        assert found.messages == 3


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_links_agree_with_the_projection(graph):
    if graph.kind != "run":
        with pytest.raises(UsageError, match="nobody has acted yet"):
            measure_execution(graph)
        return
    for name in PROJECTIONS:
        if name == "action":
            continue
        found = measure_execution(graph, ExecutionConfiguration(name))
        projected = project(graph, name)
        use = route_use(graph, projected.graph)
        assert found.messages == sum(projected.sent)
        assert (use is None) == (found.used_links is None)
        if use is not None:
            assert (found.permitted_links, found.used_links, found.unpermitted_links) == (
                use.permitted,
                use.used,
                use.unpermitted,
            )


def test_runs_of_a_method_together():
    report = evaluate_execution([team(), team(plays=False)])
    (method,) = report.by_method()
    assert (method.runs, method.known, method.organizations) == (2, 1, 1)
    assert (method.share_used, method.unpermitted_links, method.messages) == (0.5, 1.0, 3.0)
    assert {(one["source"], one["target"]): one["messages"] for one in method.roles} == {
        ("orchestrator", "solver"): 1.0,
        ("solver", "orchestrator"): 1.0,
        ("tool", "solver"): 1.0,
    }
    assert method.links[0] == {
        "organization": "team",
        "source": "lead",
        "target": "one",
        "permitted": True,
        "runs": 1,
        "messages": 1,
    }
    document = report.to_dict()
    assert document["rows"][0]["share_used"] == 0.5
    frame = report.to_pandas()
    assert list(frame["messages"]) == [3, 3]
    assert frame["used_links"].isna().tolist() == [False, True]
