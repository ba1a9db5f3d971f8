from graphstore.builder import GraphBuilder, make_organization
from graphstore.model import Artifact, Outcome
from graphstore.records import graph_from_rows, graph_rows


def make_run():
    builder = GraphBuilder(kind="run", format="test", uri="a.json", content="x", record="1")
    builder.set_task("t1", description="What?", dataset="d", category="c", source_group="s")
    builder.set_method("debate", framework="f")
    builder.organization = make_organization(
        "team", [("boss", "planner", {"x": 1}), ("worker", "solver", {})], [(0, 1, "leads")]
    )
    boss = builder.new_agent("boss", role="planner", unit=0)
    worker = builder.new_agent("worker", role="solver", unit=1, attributes={"model": "m"})
    table = builder.resource("table", "db")
    first = builder.add(
        "agent_message", "boss", agent=boss, recipients=[worker], content="Do it."
    )
    second = builder.add(
        "tool_call",
        "search",
        agent=worker,
        parent=first,
        inputs=[Artifact(name="q", type="text")],
        outputs=[Artifact(name="r"), Artifact(name="q", type="text")],
        accesses=[(table, "write"), (table, "read")],
        started_at=1_700_000_000_123_456_789,
        ended_at=1_700_000_001_000_000_000,
        tokens_in=3,
        tokens_out=0,
        status="error",
        attributes={"deep": [{"a": None}]},
    )
    builder.edge(first, second, "delivered")
    builder.couple(second, first, resources=[table])
    builder.propose("s1", "final", agent=worker, node=second, value="42", score=0.5, valid=True)
    builder.outcome = Outcome(success=False, score=0.0, answer="41", mistake_step=1)
    builder.warn("guessed a thing")
    builder.attributes = {"seed": 3}
    return builder.build()


def test_rows_and_back_is_the_same_graph():
    graph = make_run()
    assert graph_from_rows(graph_rows(graph)) == graph
