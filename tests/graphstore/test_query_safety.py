"""Queries of people on both stores: nothing is written, no file is read, limits hold.

The guard's own list of attempts runs here against stores that hold something, and the
stores are compared with what they held before.
"""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder
from graphstore.errors import QueryError, QueryTimeoutError, UsageError
from graphstore.model import CollaborationGraph
from graphstore.store import GraphStore

SECRET = "sesame-4711"


def small_graph(name: str) -> CollaborationGraph:
    builder = GraphBuilder("run", "test", "file", content=name)
    builder.set_task("count to three", dataset="numbers")
    builder.set_method("pair")
    one = builder.new_agent("one", role="planner")
    other = builder.new_agent("other", role="solver")
    first = builder.add("agent_message", "one", agent=one, recipients=[other], content="go")
    second = builder.add(
        "agent_message",
        "other",
        agent=other,
        recipients=[one],
        content="1 2 3",
        started_at=1_700_000_000_123_456_789,
        tokens_out=3,
    )
    builder.edge(first, second, "delivered")
    return builder.build()


GRAPHS = [small_graph("a"), small_graph("b")]


@pytest.fixture
def store(open_fresh_store: Any) -> GraphStore:
    opened: GraphStore = open_fresh_store()
    opened.write(GRAPHS)
    return opened


def state(store: GraphStore) -> object:
    return store.counts(), list(store.graphs()), store.query("SHOW INDEXES YIELD name").rows


def size(store: GraphStore) -> object:
    """What nearly every write changes, in one query."""
    nodes = "MATCH (n) RETURN count(n) AS n, count(n.content) AS c, sum(size(keys(n))) AS k"
    relations = "MATCH ()-[r]->() RETURN count(r) AS n"
    return store.query(nodes).rows, store.query(relations).rows


def attempts(path: Path) -> list[str]:
    """Texts that must not pass, those that read files aimed at a file that exists."""
    from_path = f"FROM '{path}' AS row RETURN row"
    from_uri = f"FROM 'file://{path}' AS row RETURN row"
    spellings = [
        "LOAD CSV",
        "load csv with headers",
        "LoAd\n\tcSv",
        "`LOAD` CSV",
        "LOAD `CSV`",
        "`load` `csv`",
        "LOAD /* a */ CSV",
        "LOAD // a\nCSV",
        "// it's\nLOAD CSV",
        "PROFILE LOAD CSV",
        "EXPLAIN LOAD CSV",
        "RETURN 1 AS row UNION LOAD CSV",
        "RETURN 1 AS row UNION ALL `LOAD` CSV",
        "RETURN ['a'] AS row UNION // x\nLOAD // y\nCSV",
        "MATCH (n) LOAD CSV",
        "USING PERIODIC COMMIT LOAD CSV",
        "FOR VALID_TIME ALL LOAD CSV",
        "L\\u004FAD CSV",
        "LOAD\u00a0CSV",
        "LOAD\u2028CSV",
        "// '\rLOAD CSV",
        "RETURN '\\u0027 AS x UNION LOAD CSV",
        "RETURN 1 AS row; LOAD CSV",
    ]
    files = [f"{spelling} {rest}" for spelling in spellings for rest in (from_path, from_uri)]
    files += [
        f"CALL {{ LOAD CSV {from_path} }} RETURN row",
        f"CALL apoc.load.csv('{path}') YIELD list RETURN list",
        f"RETURN apoc.load.json('{path}')",
        f"CALL db.ontology.declare({{ontology: '{path}'}})",
    ]
    writes = [
        "CREATE (:Run {id: 'x'})",
        "INSERT (:Run {id: 'x'})",
        "`INSERT` (:Run {id: 'x'})",
        "MERGE (:Run {id: 'x'})",
        "MATCH (n:Action) SET n.content = 'x'",
        "MATCH (n:Action) SET n += {content: 'x'}",
        "MATCH (n:Action) SET n:Run",
        "MATCH (n:Action) S\\u0045T n.content = 'x'",
        "MATCH (n:Action) \u017fET n.content = 'x'",
        "MATCH (n:Action)\u2028SET\u2028n.content = 'x'",
        "MATCH (n:Action) // '\rSET n.content = 'x' // '",
        "MATCH (n:Action) WHERE n.content <> '\\u0027 SET n.content = 'x' //'",
        "MATCH (n:Action) // \\u000A SET n.content = 'x'",
        "MATCH (n:Action) WHERE n.index > 0SET n.content = 'x'",
        "MATCH (n:Action) REMOVE n.content",
        "MATCH (n:Action) DETACH DELETE n",
        "MATCH (n:Action) NODETACH DELETE n",
        "MATCH ()-[r]->() DELETE r",
        "MATCH ()-[r]->() `NODETACH` DELETE r",
        "MATCH (n:Action) FOREACH (x IN [1] | SET n.content = 'x')",
        "MATCH (n:Action) CALL (n) { SET n.content = 'x' } RETURN n",
        "MATCH (n:Action) CALL { WITH n DETACH DELETE n } IN TRANSACTIONS",
        "EXPLAIN CREATE (:Run {id: 'x'})",
        "PROFILE CREATE (:Run {id: 'x'})",
        "CYPHER planner=cost CREATE (:Run {id: 'x'})",
        "MATCH (as:Action) WITH as SET as.content = 'x'",
        "RETURN 1 AS x UNION CREATE (n:Run {id: 'x'}) RETURN n.id AS x",
        "CREATE INDEX sneaky FOR (n:Run) ON (n.answer)",
        "DROP INDEX run_name IF EXISTS",
        "DROP CONSTRAINT run_id IF EXISTS",
        "RETURN 1 AS x; MATCH (n) DETACH DELETE n",
        "CALL db.createLabel('Sneaky')",
        "CALL `db`.createLabel('Sneaky')",
        "CALL db.node_text_index.build({type: 'Action', text_column: 'content'})",
        "CALL table.upsert({type: 'Run'})",
        "CALL db.cdc.enable()",
        "USE system SHOW USERS",
        "SHOW TRANSACTIONS YIELD transactionId AS id TERMINATE TRANSACTIONS id",
        "",
        "// nothing",
    ]
    return files + writes


def test_no_attempt_writes_or_reads_a_file(store: GraphStore, tmp_path: Path) -> None:
    path = tmp_path / "secret.csv"
    path.write_text(f"{SECRET},1\n")
    before = state(store)
    for cypher in attempts(path):
        with pytest.raises(QueryError) as caught:
            store.query(cypher, {"path": str(path)})
        sentence = str(caught.value)
        assert SECRET not in sentence, cypher
        assert "\n" not in sentence, cypher
    assert state(store) == before


def test_the_embedded_engine_would_read_the_file_without_the_guard(tmp_path: Path) -> None:
    """Shows that the test above can fail: the engine itself is no barrier."""
    import kglite

    path = tmp_path / "secret.csv"
    path.write_text(f"{SECRET},1\n")
    graph = kglite.KnowledgeGraph()
    graph.read_only(True)
    rows = graph.cypher(f"`LOAD` CSV FROM '{path}' AS row RETURN row").to_list()
    assert SECRET in str(rows)


HARMLESS: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("RETURN 'CREATE; LOAD CSV' AS x // SET", [("CREATE; LOAD CSV",)]),
    ("RETURN 1 /* it's; DELETE */ AS x;", [(1,)]),
    ("RETURN 'it\\'s \\\\ \\u00e9' AS x", [("it's \\ é",)]),
    ("MATCH (n:Action) RETURN n.set AS set, n.delete AS x LIMIT 1", [(None, None)]),
    ("MATCH (n:Action) RETURN n.`create` AS x, n.call AS y LIMIT 1", [(None, None)]),
    ("RETURN {set: 1, load: 2}.set AS x", [(1,)]),
    ("WITH {create: 1} AS m RETURN m.create AS delete", [(1,)]),
    ("MATCH (n:SET) RETURN count(n) AS x", [(0,)]),
    ("MATCH (:Action)-[r:DELETE|INFORMS]->() RETURN count(r) AS x", [(2,)]),
    ("MATCH (`set`:Run) RETURN count(`set`) AS x", [(2,)]),
    ("MATCH (n:Run) RETURN count(n) AS set", [(2,)]),
    ("MATCH (n:Run) WHERE n.format = $set RETURN count(n) AS x", [(2,)]),
    (
        "MATCH (n:Action) WITH n.role AS role, count(*) AS n RETURN role, n ORDER BY role",
        [("planner", 2), ("solver", 2)],
    ),
    ("UNWIND [1, 2] AS x RETURN x UNION ALL UNWIND [3] AS x RETURN x", [(1,), (2,), (3,)]),
    (
        "MATCH (n:Run) CALL (n) { MATCH (n)-[:HAS_AGENT]->(a) RETURN count(a) AS agents } "
        "RETURN sum(agents) AS x",
        [(4,)],
    ),
    ("MATCH (n:Run) WHERE EXISTS { (n)-[:OF_TASK]->() } RETURN count(n) AS x", [(2,)]),
    ("RETURN 1.0 / 0 AS x, 0.0 / 0 AS y", [(None, None)]),
    ("RETURN duration('P1DT2H') AS x", [("P1DT2H",)]),
    (
        "RETURN point({latitude: 1.5, longitude: 2.5}) AS x",
        [({"latitude": 1.5, "longitude": 2.5},)],
    ),
    ("CALL db.labels() YIELD label WITH label WHERE label = 'Run' RETURN label", [("Run",)]),
]


def test_harmless_queries_pass_and_agree(store: GraphStore) -> None:
    for cypher, rows in HARMLESS:
        result = store.query(cypher, {"set": "test"})
        assert list(result.rows) == rows, cypher
        assert not result.truncated


def test_whole_nodes_relations_and_paths_are_plain_maps(store: GraphStore) -> None:
    result = store.query(
        "MATCH p = (a:Action)-[r:INFORMS]->(b:Action) WHERE b.graph = $graph "
        "RETURN b, r, p, b.started_at_time AS t, [a, b] AS both, {node: a} AS m",
        {"graph": GRAPHS[0].id},
    )
    ((b, r, p, t, both, m),) = result.rows
    assert b["content"] == "1 2 3"
    assert b["started_at"] == 1_700_000_000_123_456_789
    assert t == b["started_at_time"]
    assert t.isoformat() == "2023-11-14T22:13:20.123456+00:00"
    assert set(b) == {
        *("id", "name", "graph", "index", "kind", "role", "delivery", "content"),
        *("content_hash", "started_at", "started_at_time", "tokens_out"),
    }
    assert r == {"basis": "delivered"}
    assert p == {"nodes": both, "relationships": [r]}
    assert both[1] == b
    assert m == {"node": both[0]}
    ((m,),) = store.query("RETURN {b: 1, a: {d: 1, c: 2}} AS m").rows
    assert repr(m) == "{'a': {'c': 2, 'd': 1}, 'b': 1}"


def test_the_row_limit_cuts_and_says_so(store: GraphStore) -> None:
    cypher = "UNWIND range(1, 5) AS x RETURN x"
    assert store.query(cypher, row_limit=5).truncated is False
    cut = store.query(cypher, row_limit=4)
    assert cut.rows == ((1,), (2,), (3,), (4,))
    assert cut.truncated is True
    assert store.query(cypher, row_limit=0).rows == ()
    assert store.query(cypher, row_limit=0).truncated is True
    assert store.query("MATCH (n:Nothing) RETURN n.id AS id").columns == ("id",)
    with pytest.raises(UsageError, match="row limit"):
        store.query(cypher, row_limit=-1)


def test_the_time_limit_ends_a_query(store: GraphStore) -> None:
    began = time.monotonic()
    with pytest.raises(QueryTimeoutError, match=r"time limit of 0\.5 s"):
        store.query(
            "UNWIND range(1, 30000) AS a UNWIND range(1, 30000) AS b "
            "WITH a, b WHERE a * b % 7 = 3 RETURN count(*) AS n",
            timeout=0.5,
        )
    assert time.monotonic() - began < 15
    assert store.query("RETURN 1 AS x").rows == ((1,),)
    for timeout in (0, -1, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="time limit"):
            store.query("RETURN 1 AS x", timeout=timeout)


@pytest.mark.parametrize(
    "cypher",
    [
        "RETURN",
        "MATCH (n RETURN n",
        "RETURN nosuchfunction(1) AS x",
        "RETURN x",
        "RETURN $missing AS x",
        "MATCH (n) RETRUN n",
    ],
)
def test_a_wrong_query_is_one_sentence(store: GraphStore, cypher: str) -> None:
    with pytest.raises(QueryError) as caught:
        store.query(cypher)
    assert "\n" not in str(caught.value)
    assert store.query("RETURN 1 AS x").rows == ((1,),)


def test_parameters_that_cannot_be_sent(store: GraphStore) -> None:
    for value in (object(), 2**63, {"a": object()}):
        with pytest.raises(QueryError, match="parameter"):
            store.query("RETURN $value AS x", {"value": value})


PIECES = st.sampled_from(
    [
        *("'", '"', "`", "\\", "//", "/*", "*/", "\n", "\r", " ", ".", ":", "|", "$", "{", "}"),
        *("LOAD", "CSV", "`LOAD`", "FROM $path AS row RETURN row", "SET", "n.content = 'x'"),
        *("MATCH (n:Action)", "RETURN n.id AS id", "CREATE (:Run {id: 'x'})", "DELETE n"),
        *("AS", "as", "WITH", "n", "UNION", "INSERT (:Run)", "CALL", "{set: 1}", "\\u0027"),
        *("DETACH", "REMOVE n.content", "1.", "FOREACH (x IN [1] |", ")", "RETURN 1 AS row"),
    ]
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(pieces=st.lists(PIECES, min_size=1, max_size=10), glue=st.sampled_from(["", " "]))
def test_whatever_is_typed_changes_nothing(
    store: GraphStore, tmp_path: Path, pieces: list[str], glue: str
) -> None:
    path = tmp_path / "secret.csv"
    path.write_text(f"{SECRET},1\n")
    before = size(store)
    cypher = glue.join(pieces).replace("$path", f"'{path}'")
    try:
        rows = store.query(cypher, timeout=5).rows
    except QueryError as error:
        rows = ((str(error),),)
    assert SECRET not in str(rows)
    assert size(store) == before
