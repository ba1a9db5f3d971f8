"""What every store must do: each test runs on the embedded engine and on Neo4j."""

from datetime import UTC, date, datetime

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import (
    NotFoundError,
    QueryError,
    QueryTimeoutError,
    StoreError,
    UsageError,
)
from graphstore.model import Artifact, Outcome
from graphstore.records import graph_rows
from graphstore.rows import Rows
from tests.strategies import graph_lists

FIXTURES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def make_run(
    record="1",
    *,
    task="sum",
    description="Add them.",
    method="debate",
    answer="4",
    organization=None,
):
    builder = GraphBuilder(kind="run", format="test", uri="a.json", content="x", record=record)
    builder.set_task(task, description=description, dataset="tiny", category="arithmetic")
    builder.set_method(method, framework="f")
    builder.organization = organization
    boss = builder.new_agent("boss", role="planner", unit=0 if organization else None)
    worker = builder.new_agent("worker", role="solver", attributes={"model": "m"})
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
    builder.couple(first, second, resources=[table])
    builder.propose("s1", "final", agent=worker, node=second, value="42", score=0.5, valid=True)
    builder.outcome = Outcome(success=False, score=0.0, answer=answer, mistake_step=1)
    return builder.build()


def make_decomposition(record="1", *, task="sum"):
    builder = GraphBuilder(
        kind="decomposition", format="plan", uri="p.json", content="y", record=record
    )
    builder.set_task(task, description="Add them.", dataset="tiny", category="arithmetic")
    group = builder.add("group", "all of it")
    first = builder.add("subtask", "read", parent=group, outputs=[Artifact(name="numbers")])
    second = builder.add("subtask", "add", parent=group, inputs=[Artifact(name="numbers")])
    builder.edge(first, second, "explicit")
    return builder.build()


def team():
    return make_organization(
        "team", [("boss", "planner", {"x": 1}), ("worker", "solver", {})], [(0, 1, "leads")]
    )


@pytest.fixture
def store(fresh_store):
    return fresh_store


def test_a_graph_comes_back_as_it_was_written(store):
    run, plan = make_run(organization=team()), make_decomposition()
    report = store.write([run, plan])
    assert report.changes == ((run.id, "written"), (plan.id, "written"))
    assert report.warnings == ()
    assert store.read(run.id) == run
    assert store.read(plan.id) == plan


def test_counts_are_the_rows_that_were_made(store):
    run = make_run(organization=team())
    store.write([run])
    rows = graph_rows(run)
    expected = {label: len(nodes) for label, nodes in rows.nodes.items()}
    for (type_, _, _), relations in rows.relations.items():
        expected[type_] = expected.get(type_, 0) + len(relations)
    assert store.counts() == expected


def test_an_empty_store_counts_nothing(store):
    assert store.counts() == {}
    assert list(store.graphs()) == []


@settings(max_examples=25, deadline=None, suppress_health_check=FIXTURES)
@given(batch=graph_lists(max_size=3), again=st.booleans())
def test_any_graphs_come_back(store, batch, again):
    store.delete([graph.id for graph in store.graphs()])
    assert store.counts() == {}
    changes = store.write(batch).changes
    assert changes == tuple((graph.id, "written") for graph in batch)
    counts = store.counts()
    assert list(store.graphs()) == sorted(batch, key=lambda graph: graph.id)
    for graph in batch:
        assert store.read(graph.id) == graph
    if again:
        assert store.write(batch).unchanged == len(batch)
        assert store.counts() == counts


def test_writing_again_changes_nothing(store):
    graphs = [make_run(str(record)) for record in range(5)]
    store.write(graphs)
    counts = store.counts()
    report = store.write(iter(graphs))
    assert report.changes == tuple((graph.id, "unchanged") for graph in graphs)
    assert (report.written, report.unchanged) == (0, 5)
    assert store.counts() == counts


def test_the_file_name_is_no_content(store):
    run = make_run()
    store.write([run])
    moved = msgspec.structs.replace(
        run, source=msgspec.structs.replace(run.source, uri="elsewhere.json")
    )
    assert store.write([moved]).changes == ((run.id, "unchanged"),)


def test_other_content_replaces_a_graph_and_leaves_the_others(store):
    old, other = make_run("1", organization=team()), make_run("2")
    store.write([old, other])
    new = msgspec.structs.replace(
        old,
        organization=None,
        agents=old.agents[1:],
        nodes=(),
        edges=(),
        couplings=(),
        proposals=(),
    )
    assert new.id == old.id
    report = store.write([new, other])
    assert report.changes == ((new.id, "replaced"), (other.id, "unchanged"))
    assert report.written == 1
    assert store.read(new.id) == new
    assert store.read(other.id) == other
    assert "Organization" not in store.counts()
    store.write([old])
    assert store.read(old.id) == old


def test_the_same_id_twice_in_one_call(store):
    run = make_run()
    other = msgspec.structs.replace(run, name="renamed")
    report = store.write([run, run, other, make_run("2"), run])
    assert [change for _, change in report.changes] == [
        "written",
        "unchanged",
        "replaced",
        "written",
        "replaced",
    ]
    assert store.read(run.id) == run
    assert store.counts()["Run"] == 2


def test_a_shared_value_that_contradicts_is_warned_of_and_not_taken(store):
    first = make_run("1", description="Add them.")
    store.write([first])
    report = store.write([make_run("2", description="Subtract them.")])
    assert len(report.warnings) == 1
    assert "'Add them.' was kept" in report.warnings[0]
    assert "task 'sum'" in report.warnings[0]
    assert store.read(first.id) == first
    both = store.write(
        [make_run("3", task="t", description="A"), make_run("4", task="t", description="B")]
    )
    assert len(both.warnings) == 1
    assert store.query("MATCH (t:Task {name: 't'}) RETURN t.description AS d").rows == (("A",),)


def test_a_missing_shared_value_is_filled_in(store):
    poor, rich = make_run("1", description=None), make_run("2", description="Add them.")
    store.write([poor])
    assert store.read(poor.id).task.description is None
    assert store.write([rich]).warnings == ()
    assert store.read(poor.id).task.description == "Add them."
    assert store.write([make_run("3", description=None)]).warnings == ()
    assert store.read(rich.id) == rich
    assert store.counts()["Task"] == 1


def test_replacing_the_only_graph_of_a_task_takes_its_new_description(store):
    store.write([make_run("1", description="my secret", answer="4")])
    changed = make_run("1", description=None, answer="5")
    report = store.write([changed])
    assert [change for _, change in report.changes] == ["replaced"]
    assert report.warnings == ()
    assert store.read(changed.id) == changed


def test_an_unknown_graph_is_not_found(store):
    store.write([make_run()])
    with pytest.raises(NotFoundError, match="run-nowhere"):
        store.read("run-nowhere")


def test_graphs_are_filtered_and_ordered(store):
    runs = [make_run(str(n), task=f"t{n % 2}", method=f"m{n % 3}") for n in range(6)]
    plans = [make_decomposition(str(n), task=f"t{n}") for n in range(2)]
    store.write([*runs, *plans])

    def ids(**filters):
        return [graph.id for graph in store.graphs(**filters)]

    everything = sorted(graph.id for graph in [*runs, *plans])
    assert ids() == everything
    assert ids(kind="run") == sorted(run.id for run in runs)
    assert ids(kind="decomposition") == sorted(plan.id for plan in plans)
    assert ids(dataset="tiny") == everything
    assert ids(dataset="huge") == []
    assert ids(method="m1") == sorted(run.id for run in runs if run.method.name == "m1")
    t1 = sorted(graph.id for graph in [*runs, *plans] if graph.task.name == "t1")
    assert ids(task="t1") == t1
    assert ids(task=runs[1].task.id) == t1
    assert ids(ids=[runs[3].id, "run-nowhere", plans[0].id, runs[3].id]) == sorted(
        [runs[3].id, plans[0].id]
    )
    assert ids(ids=[]) == []
    assert ids(kind="run", task="t0", method="m2") == sorted(
        run.id for run in runs if run.task.name == "t0" and run.method.name == "m2"
    )


def test_deleting_leaves_what_others_use(store):
    runs = [make_run("1", organization=team()), make_run("2", organization=team())]
    plan = make_decomposition()
    store.write([*runs, plan])
    assert store.delete([runs[0].id, "run-nowhere", runs[0].id]) == 1
    assert store.read(runs[1].id) == runs[1]
    assert store.read(plan.id) == plan
    counts = store.counts()
    assert (counts["Run"], counts["Unit"], counts["MAY_SEND"]) == (1, 2, 1)
    assert store.delete([runs[1].id]) == 1
    assert store.read(plan.id) == plan
    assert {"Organization", "Unit", "Method", "Run", "Action"}.isdisjoint(store.counts())
    assert store.delete([plan.id]) == 1
    assert store.counts() == {}
    assert store.delete([plan.id]) == 0
    assert store.delete([]) == 0


def evaluation(run, number=0.5, **properties):
    rows = Rows()
    rows.node("Evaluation", {"id": f"e-{run}", "name": "e", "density": number, **properties})
    rows.relate("OF", "Evaluation", "Run", {"source": f"e-{run}", "target": run})
    return rows


def test_results_are_stored_overwritten_and_replaced(store):
    run = make_run()
    store.write([run])
    store.write_results(evaluation(run.id, 0.25, node_validity=1.0))
    question = (
        "MATCH (e:Evaluation)-[:OF]->(r:Run) "
        "RETURN e.id AS id, e.density AS density, e.node_validity AS validity, r.id AS run"
    )
    assert store.query(question).rows == ((f"e-{run.id}", 0.25, 1.0, run.id),)
    store.write_results(evaluation(run.id, 0.5))
    assert store.query(question).rows == ((f"e-{run.id}", 0.5, None, run.id),)

    library = Rows()
    library.node("Library", {"id": "l1", "name": "runs", "kind": "motifs"})
    library.node("Motif", {"id": "m1", "name": "chain", "size": 3, "labels": ["a", "b"]})
    library.relate("CONTAINS", "Library", "Motif", {"source": "l1", "target": "m1"})
    library.relate(
        "OCCURS_IN",
        "Motif",
        "Run",
        {"source": "m1", "target": run.id, "count": 2, "nodes": "[]"},
    )
    store.write_results(library)
    store.write_results(library)
    counts = store.counts()
    assert (counts["Library"], counts["Motif"], counts["CONTAINS"], counts["OCCURS_IN"]) == (
        1,
        1,
        1,
        1,
    )
    renamed = Rows()
    renamed.node("Library", {"id": "l2", "name": "runs"})
    store.write_results(renamed, replace=library)
    counts = store.counts()
    assert counts["Library"] == 1
    assert {"Motif", "CONTAINS", "OCCURS_IN"}.isdisjoint(counts)
    assert store.read(run.id) == run


def test_results_about_a_graph_go_with_it(store):
    run = make_run()
    store.write([run])
    store.write_results(evaluation(run.id))
    store.delete([run.id])
    assert store.counts() == {}


def test_results_with_a_missing_end_are_not_stored(store):
    store.write([make_run()])
    before = store.counts()
    with pytest.raises(StoreError, match="OF names the Run run-nowhere, which is not stored"):
        store.write_results(evaluation("run-nowhere"))
    assert store.counts() == before


@pytest.mark.parametrize(
    ("label", "row", "reason"),
    [
        ("Run", {"id": "x", "name": "x"}, "Run is no label of results"),
        ("Nonsense", {"id": "x", "name": "x"}, "Nonsense is no label"),
        ("Motif", {"id": "x", "name": "x", "colour": "red"}, "no property colour"),
        ("Motif", {"name": "x"}, "no id"),
        ("Motif", {"id": "x"}, "no name"),
    ],
)
def test_results_outside_the_table_are_refused(store, label, row, reason):
    rows = Rows()
    rows.node(label, row)
    with pytest.raises(UsageError, match=reason):
        store.write_results(rows)
    assert store.counts() == {}


def test_a_query_gives_plain_values(store):
    run = make_run()
    store.write([run])
    result = store.query(
        "MATCH (a:Action {name: $name})<-[:HAS_ACTION]-(r:Run) "
        "RETURN a.tokens_in AS tokens, a.started_at AS ns, a.started_at_time AS at, "
        "r.score AS score, r.success AS success, a.round AS missing, [1, 2] AS list, "
        "date('2024-02-03') AS day",
        {"name": "search"},
    )
    assert result.columns == (
        "tokens",
        "ns",
        "at",
        "score",
        "success",
        "missing",
        "list",
        "day",
    )
    at = datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)
    (row,) = result.rows
    assert row == (
        3,
        1_700_000_000_123_456_789,
        at,
        0.0,
        False,
        None,
        [1, 2],
        date(2024, 2, 3),
    )
    assert [type(value) for value in row[:5]] == [int, int, datetime, float, bool]
    assert row[2].utcoffset().total_seconds() == 0
    assert not result.truncated
    assert result.records()[0]["tokens"] == 3


def test_a_query_gives_nodes_relations_and_paths_as_maps(store):
    run = make_run()
    store.write([run])
    (row,) = store.query(
        "MATCH p = (a:Agent {name: 'worker'})-[r:PERFORMED]->(x:Action)-[:PRODUCES]->"
        "(y:Artifact {name: 'r'}) RETURN a, r, p, y, collect(a) AS many, properties(y) AS own"
    ).rows
    agent, performed, path, artifact, many, own = row
    assert agent == {
        "id": run.agents[1].id,
        "name": "worker",
        "role": "solver",
        "kind": "agent",
        "position": 1,
        "attributes": '{"model":"m"}',
    }
    assert performed == {}
    assert artifact == own == {"id": f"{run.id}/artifact/1", "name": "r"}
    assert many == [agent]
    assert path["nodes"][0] == agent
    assert path["nodes"][2] == artifact
    assert path["relationships"] == [{}, {"position": 0}]
    (edge,) = store.query("MATCH ()-[r:INFORMS]->() RETURN r").rows[0]
    assert edge == {"basis": "delivered"}


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            "WITH 1 AS `a b`, 2 AS `c` RETURN `a b`, `c`, `a b` + `c`",
            ("a b", "c", "`a b` + `c`"),
        ),
        ("WITH {name: 1} AS `r` RETURN DISTINCT `r`.name", ("`r`.name",)),
        ("WITH 1 AS `a``b`, 2 AS c RETURN `a``b`, c + `a``b`", ("a`b", "c + `a``b`")),
        ("WITH 1 AS `a` RETURN -`a`, `a` AS `q``r`, `a` AS ```x`", ("-`a`", "q`r", "`x")),
        ("WITH 1 AS `a` RETURN `a` AS b UNION RETURN 2 AS `b`", ("b",)),
        ("WITH 1 AS `a`, 2 AS `b c` RETURN *", ("a", "b c")),
        ("RETURN '`x`', \"`,`\" AS y", ("'`x`'", "y")),
    ],
)
def test_names_in_backticks_are_columns_without_them(store, text, columns):
    assert store.query(text).columns == columns


def test_unset_properties_are_missing_on_every_label(store):
    store.write([make_run(), make_decomposition()])
    rows = store.query("MATCH (n:Artifact) RETURN n.artifact_type AS t ORDER BY n.id").rows
    assert {row[0] for row in rows} == {"text", None}


def test_the_row_limit_says_when_it_cut(store):
    store.write([make_run(str(n)) for n in range(5)])
    question = "MATCH (r:Run) RETURN r.record AS record ORDER BY record"
    whole = store.query(question, row_limit=5)
    assert ([row[0] for row in whole.rows], whole.truncated) == (
        ["0", "1", "2", "3", "4"],
        False,
    )
    cut = store.query(question, row_limit=4)
    assert ([row[0] for row in cut.rows], cut.truncated) == (["0", "1", "2", "3"], True)
    limited = store.query(question + " LIMIT 3", row_limit=3)
    assert (len(limited.rows), limited.truncated) == (3, False)
    none = store.query(question, row_limit=0)
    assert (none.rows, none.truncated) == ((), True)
    empty = store.query("MATCH (r:Run) WHERE r.record = 'x' RETURN r.record AS record")
    assert (empty.columns, empty.rows, empty.truncated) == (("record",), (), False)


def test_a_query_that_takes_too_long_is_ended(store):
    store.write([make_run(str(n)) for n in range(30)])
    endless = (
        "MATCH (a:Action), (b:Action), (c:Action), (d:Action), (e:Action) "
        "RETURN sum(a.index * b.index + c.index * d.index + e.index) AS s"
    )
    with pytest.raises(QueryTimeoutError, match=r"limit of 0\.3 s"):
        store.query(endless, timeout=0.3)
    assert store.query("RETURN 1 AS one").rows == ((1,),)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (n:Run {id: 'x'})",
        "MATCH (n:Run) SET n.name = 'x'",
        "MATCH (n:Run) DETACH DELETE n",
        "MERGE (n:Run {id: 'x'})",
        "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
        "MATCH (n) RETURN n; MATCH (n) RETURN n",
        "DROP INDEX run_name",
        "MATCH (n RETURN n",
        "RETURN $missing AS x",
        "",
    ],
)
def test_a_query_that_writes_or_makes_no_sense_is_refused(store, text):
    store.write([make_run()])
    before = store.counts()
    with pytest.raises(QueryError) as caught:
        store.query(text)
    assert "\n" not in str(caught.value)
    assert store.counts() == before


@pytest.mark.parametrize(
    "limits", [{"timeout": 0}, {"timeout": float("nan")}, {"row_limit": -1}]
)
def test_limits_that_make_no_sense_are_refused(store, limits):
    with pytest.raises(UsageError):
        store.query("RETURN 1 AS one", **limits)


def test_a_parameter_that_no_engine_takes_is_refused(store):
    for value in (2**70, object(), {1, 2}):
        with pytest.raises(QueryError, match="parameter"):
            store.query("RETURN $x AS x", {"x": value})


def test_a_parameter_without_a_value_is_named(store):
    store.write([make_run()])
    with pytest.raises(QueryError, match=r"^the query needs a value for its parameter task$"):
        store.query("MATCH (t:Task) WHERE t.name = $task RETURN t.name AS name")


def test_order_by_after_grouping_is_right(store):
    # An optimizer pass of the embedded engine gives other rows here.
    question = "UNWIND range(1, 50) AS x WITH x % 3 AS k, x RETURN k, sum(x) AS s ORDER BY k {}"
    rows = ((0, 408), (1, 425), (2, 442))
    assert store.query(question.format("")).rows == rows
    assert store.query(question.format("DESC LIMIT 2")).rows == rows[:0:-1]


def test_a_read_only_store_reads_and_refuses_writes(open_fresh_store):
    writer = open_fresh_store()
    run = make_run()
    writer.write([run])
    writer.checkpoint()
    reader = open_fresh_store.again(read_only=True)
    assert reader.read_only
    assert not writer.read_only
    assert reader.read(run.id) == run
    assert reader.query("MATCH (r:Run) RETURN count(r) AS n").rows == ((1,),)
    for refused in (
        lambda: reader.write([make_run("2")]),
        lambda: reader.delete([run.id]),
        lambda: reader.write_results(Rows()),
    ):
        with pytest.raises(StoreError, match="read-only"):
            refused()
    assert reader.counts() == writer.counts()


def test_a_closed_store_says_so(open_fresh_store):
    store = open_fresh_store()
    with store as same:
        assert same is store
    store.close()
    for refused in (
        lambda: store.write([make_run()]),
        lambda: store.read("run-x"),
        lambda: store.query("RETURN 1 AS one"),
        store.counts,
    ):
        with pytest.raises(StoreError, match="closed"):
            refused()


def test_what_was_written_is_there_after_closing(open_fresh_store):
    store = open_fresh_store()
    runs = [make_run(str(n)) for n in range(3)]
    store.write(runs)
    counts = store.counts()
    store.close()
    again = open_fresh_store.again()
    assert again.counts() == counts
    assert list(again.graphs()) == sorted(runs, key=lambda run: run.id)
    assert again.write(runs).unchanged == 3
