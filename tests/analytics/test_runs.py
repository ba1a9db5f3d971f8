import pytest

from analytics.communication import measure_communication
from analytics.execution import measure_execution
from analytics.forest_panel import forest_row
from analytics.interventions import team_of_run
from analytics.panel import evaluate_graph
from analytics.suitability import assess_tasks
from analytics.trajectories import trajectory_of
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError


@pytest.mark.parametrize(
    "measure",
    [
        measure_communication,
        measure_execution,
        forest_row,
        team_of_run,
        evaluate_graph,
        lambda graph: assess_tasks([graph]),
        trajectory_of,
    ],
)
def test_what_needs_a_run_refuses_a_decomposition_in_one_sentence(measure):
    builder = GraphBuilder(kind="decomposition", format="test", uri="test", content="c")
    builder.set_task("t")
    builder.add("subtask", "s")
    graph = builder.build()
    with pytest.raises(UsageError) as told:
        measure(graph)
    assert str(told.value) == (
        f"{graph.id} is a decomposition, in which nobody has acted yet: this needs a run"
    )
