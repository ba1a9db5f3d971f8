import json

import pytest

from analytics.panel import PanelConfiguration, evaluate, evaluate_graph
from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import UsageError
from graphstore.model import Outcome


def run(name="r", method="debate", *, bare=False, success=True):
    builder = GraphBuilder(kind="run", format="test", uri="test", content=name, name=name)
    builder.set_task("sum", dataset="small")
    if bare:
        return builder.build()
    builder.set_method(method)
    builder.organization = make_organization(
        "pair", [("a", "solver", {}), ("b", "critic", {})], [(0, 1, "")]
    )
    builder.new_agent("a", unit=0)
    builder.new_agent("b", unit=1)
    builder.new_agent("c")
    builder.add(
        "agent_message", "a", agent=0, recipients=[1], content="4", tokens_in=10, tokens_out=2
    )
    builder.add("agent_message", "b", agent=1, recipients=[0], content="4", tokens_out=1)
    builder.add("agent_message", "a", agent=0, content="5")
    builder.edge(0, 1, "delivered")
    builder.edge(1, 2, "inferred")
    builder.outcome = Outcome(success=success, tokens_in=100)
    return builder.build()


def test_a_row_worked_out_by_hand():
    row = evaluate_graph(run())
    assert (row.name, row.task, row.method, row.success) == ("r", "sum", "debate", True)
    assert row.density == 2 / 6
    assert row.reachable_pair_fraction == 2 / 6
    assert row.average_path_length == 1.0
    # Two of three agents send one message each: log 2 / log 3.
    assert row.normalized_source_entropy == pytest.approx(0.6309297535714574, abs=1e-12)
    assert row.permitted_density == 1 / 2
    assert row.permitted_reachable_pair_fraction == 1 / 2
    assert row.permitted_average_path_length == 1.0
    assert row.permitted_links_used == 1.0
    assert row.unpermitted_links == 1
    assert row.node_validity == 1.0
    assert row.content_redundancy == pytest.approx(1 / 3)
    assert (row.actions, row.agents, row.active_agents) == (3, 3, 2)
    assert (row.vertices, row.links, row.messages) == (3, 2, 2)
    assert (row.edges, row.inferred_edges, row.share_of_inferred_edges) == (2, 1, 0.5)
    # The run's own total beats the sum over the actions.
    assert (row.tokens_in, row.tokens_out) == (100, 3)


def test_what_is_not_known_is_none():
    row = evaluate_graph(run(bare=True))
    known = {"run", "name", "task", "task_id"}
    zero = {
        "actions",
        "agents",
        "active_agents",
        "vertices",
        "links",
        "messages",
        "edges",
        "inferred_edges",
        "known_contents",
    }
    for name in row.__dataclass_fields__:
        value = getattr(row, name)
        if name in zero:
            assert value == 0
        elif name not in known:
            assert value is None, name


def test_json_holds_what_scripts_rely_on():
    evaluation = evaluate([run(), run("bare", bare=True)])
    document = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert document["configuration"]["projection"] == "exchange"
    assert document["configuration_hash"] == PanelConfiguration().hash
    assert [row["density"] for row in document["rows"]] == [2 / 6, None]
    assert document["rows"][0]["run"] == run().id


def test_table_keeps_missing_values_and_types():
    table = evaluate([run(), run("bare", bare=True)]).to_pandas()
    assert str(table["actions"].dtype) == "Int64"
    assert str(table["success"].dtype) == "boolean"
    assert table["density"].isna().tolist() == [False, True]
    assert table["tokens_out"].tolist()[0] == 3
    assert list(evaluate([]).to_pandas().columns) == list(table.columns)


def test_means_of_a_method_leave_out_what_is_missing():
    evaluation = evaluate(
        [
            run("bare", bare=True),
            run("1", "swarm"),
            run("2", "swarm", success=False),
            run("3", "chain"),
        ]
    )
    summaries = evaluation.by_method()
    assert [(summary.method, summary.runs) for summary in summaries] == [
        ("chain", 1),
        ("swarm", 2),
        (None, 1),
    ]
    assert summaries[1].means["success"] == 0.5
    assert summaries[1].tasks == 1
    assert summaries[2].means["density"] is None
    assert summaries[2].known["density"] == 0


def test_the_configuration_decides():
    graph = run()
    consumption = evaluate_graph(graph, PanelConfiguration(projection="consumption"))
    assert consumption.messages == 2
    action = evaluate_graph(graph, PanelConfiguration(projection="action"))
    assert (action.vertices, action.links, action.permitted_links_used) == (3, 2, None)
    one = PanelConfiguration(agent_kinds=("tool", "agent"))
    assert one.hash == PanelConfiguration(agent_kinds=("agent", "tool")).hash
    assert one.hash != PanelConfiguration().hash


def test_what_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="no projection"):
        PanelConfiguration(projection="talk")
    with pytest.raises(UsageError, match="no reading"):
        PanelConfiguration(terminal="sinks")
    with pytest.raises(UsageError, match="robot"):
        PanelConfiguration(agent_kinds=("robot",))
    with pytest.raises(UsageError, match="at least one kind"):
        PanelConfiguration(agent_kinds=())
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="x")
    with pytest.raises(UsageError, match="nobody has acted yet"):
        evaluate_graph(builder.build())
