import networkx
import pytest
from hypothesis import given, settings

from analytics.suitability import (
    SuitabilityConfiguration,
    assess_tasks,
    graph_shape,
    is_single_agent,
)
from graphstore.builder import GraphBuilder
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import Outcome
from tests.strategies import graphs


def run(task, agents, edges, success=None, record="r", kinds=None, method=None):
    """Actions by the agents named, in order; edges as pairs of positions."""
    builder = GraphBuilder(kind="run", format="f", uri="u", content="c", record=record)
    builder.set_task(task, dataset="d")
    if method is not None:
        builder.set_method(method)
    known = {}
    for name in agents:
        if name is not None and name not in known:
            known[name] = builder.new_agent(name, kind=(kinds or {}).get(name, "agent"))
    for name in agents:
        builder.add("agent_message", "x", agent=None if name is None else known[name])
    for one, other in edges:
        builder.edge(one, other, "explicit")
    builder.outcome = Outcome(success=success)
    return builder.build()


DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
CHAIN = [(0, 1), (1, 2), (2, 3)]


@given(graphs(max_nodes=8))
@settings(max_examples=80, deadline=None)
def test_depth_and_width_beside_networkx(graph):
    plain = networkx.DiGraph()
    plain.add_nodes_from(node.id for node in graph.nodes)
    plain.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    levels = [len(level) for level in networkx.topological_generations(plain)]
    shape = graph_shape(graph)
    assert shape.depth == len(levels)
    assert shape.width == max(levels, default=0)
    if graph.nodes:
        assert shape.depth == networkx.dag_longest_path_length(plain) + 1
        antichains = networkx.antichains(plain)
        assert shape.width <= max(map(len, antichains))


def test_medians_are_taken_over_team_runs():
    found = assess_tasks(
        [
            run("t", "abca", DIAMOND, True, "1"),
            run("t", "abca", CHAIN, False, "2"),
            run("t", "aaaa", CHAIN, False, "3"),
            run("t", "aaaaaaaa", [], None, "4"),
        ]
    )
    (task,) = found.tasks
    assert (task.team_runs, task.single_runs) == (2, 2)
    assert (task.depth, task.width) == (3.5, 1.5)
    assert (task.team_success, task.single_success, task.gain) == (0.5, 0.0, 0.5)
    assert task.failed == ("width",)
    assert task.suitable is False


def test_what_is_not_known_is_missing():
    (alone,) = assess_tasks([run("t", "aa", [(0, 1)], True)]).tasks
    assert (alone.depth, alone.width, alone.gain, alone.team_success) == (None,) * 4
    assert alone.single_success == 1.0
    assert (alone.failed, alone.unknown) == ((), ("depth", "width", "gain"))
    assert alone.suitable is None
    (team,) = assess_tasks([run("t", "abca", DIAMOND, None)]).tasks
    assert (team.failed, team.unknown) == ((), ("gain",))
    assert team.suitable is None
    (shape_only,) = assess_tasks(
        [run("t", "abca", DIAMOND, None)], SuitabilityConfiguration(gain=None)
    ).tasks
    assert shape_only.suitable is True


def test_thresholds_are_met_by_equal_values():
    team = [run("t", "abca", DIAMOND, success, str(success)) for success in (True, False)]
    single = [run("t", "a", [], False, "s")]
    exact = SuitabilityConfiguration(depth=3, width=2, gain=0.5)
    assert assess_tasks(team + single, exact).tasks[0].suitable is True
    for name, value in (("depth", 3.1), ("width", 2.1), ("gain", 0.51)):
        options = SuitabilityConfiguration(**{"depth": 3, "width": 2, "gain": 0.5, name: value})
        assert assess_tasks(team + single, options).tasks[0].failed == (name,)


def test_a_single_agent_may_have_tools_and_people_around():
    kinds = {"t": "tool", "h": "human"}
    assert is_single_agent(run("t", "hata", [], kinds=kinds))
    assert not is_single_agent(run("t", "hab", [], kinds=kinds))
    assert not is_single_agent(run("t", [None, None], []))


def test_methods_can_be_named():
    runs = [
        run("t", "abca", DIAMOND, True, "1", method="wide"),
        run("t", "ab", [(0, 1)], False, "2", method="narrow"),
        run("t", "aa", [], False, "3", method="plain"),
        run("t", "ab", [], True, "4", method="pair that counts as one"),
    ]
    (found,) = assess_tasks(runs, SuitabilityConfiguration(teams=("wide",))).tasks
    assert (found.team_runs, found.single_runs, found.depth, found.gain) == (1, 1, 3, 1.0)
    options = SuitabilityConfiguration(teams=("wide",), single="pair that counts as one")
    (found,) = assess_tasks(runs, options).tasks
    assert (found.team_runs, found.single_runs, found.gain) == (1, 1, 0.0)
    with pytest.raises(NotFoundError, match="made by the method 'wyde'"):
        assess_tasks(runs, SuitabilityConfiguration(teams=("wyde",)))
    with pytest.raises(UsageError, match="both a team and the single agent"):
        SuitabilityConfiguration(teams=("wide",), single="wide")


def test_runs_without_actions_say_nothing():
    found = assess_tasks([run("t", "", [], True)])
    assert (found.runs, found.tasks[0].team_runs, found.tasks[0].single_runs) == (1, 0, 0)
    assert found.tasks[0].team_success is None


def test_document_and_table_agree():
    found = assess_tasks([run("b", "abca", DIAMOND, True), run("a", "ab", [(0, 1)], True)])
    document = found.to_dict()
    assert [task["task"] for task in document["tasks"]] == ["a", "b"]
    assert (document["suitable"], document["unsuitable"], document["not_known"]) == (0, 1, 1)
    assert document["failed"] == {"depth": 1, "width": 1, "gain": 0}
    assert document["unknown"] == {"depth": 0, "width": 0, "gain": 2}
    frame = found.to_pandas()
    assert frame["failed"].tolist() == ["depth, width", ""]
    assert frame["gain"].isna().all()
    assert frame["suitable"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    "options", [{"depth": -1}, {"width": float("nan")}, {"gain": 1.5}, {"gain": float("nan")}]
)
def test_thresholds_out_of_range(options):
    with pytest.raises(UsageError, match="a threshold of"):
        SuitabilityConfiguration(**options)


def test_decompositions_are_refused():
    graph = GraphBuilder(kind="decomposition", format="f", uri="u", content="c").build()
    with pytest.raises(UsageError, match="nobody has acted yet"):
        assess_tasks([graph])
