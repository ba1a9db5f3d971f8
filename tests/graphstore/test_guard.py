"""The guard by itself: what it refuses, what it lets through, and that it never falls over."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.dialect import COMMON_FUNCTIONS, DIFFERENCES, one_engine_constructs
from graphstore.errors import QueryError
from graphstore.guard import PROCEDURES, check_read_only, checked
from graphstore.lexer import tokens, without_comments

WRITES = [
    "CREATE (:Run)",
    "create (:Run)",
    "CrEaTe (:Run)",
    "MATCH (n) SET n.name = 'x'",
    "MATCH (n)SET n.name='x'",
    "MATCH (n)\nSET\nn.name = 'x'",
    "MATCH (n) SET\tn.name = 'x'",
    "MATCH (n) /* a */SET/* b */ n.name = 'x'",
    "MATCH (n) // RETURN n\nSET n.name = 'x'",
    "MATCH (n) SET n += {name: 'x'}",
    "MATCH (n) SET n:Other",
    "MATCH (n) DELETE n",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) NODETACH DELETE n",
    "MATCH (n) `NODETACH` DELETE n",
    "MATCH (n) REMOVE n.name",
    "MATCH (n) REMOVE n:Run",
    "MERGE (:Run {id: '1'})",
    "MATCH (n) MERGE (n)-[:R]->(n)",
    "MATCH (n) WITH n AS a, n AS b CREATE (a)-[:R]->(b)",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = x)",
    "FOREACH (x IN [1] | CREATE (:Run))",
    "INSERT (:Run)",
    "`INSERT` (:Run)",
    "MATCH (n) INSERT (:Run)",
    "MATCH (n) `insert` (:Run)",
    "UNWIND [1] AS x CREATE (:Run)",
    "MATCH (n) CALL { CREATE (:Run) } RETURN n",
    "MATCH (n) CALL (n) { SET n.x = 1 } RETURN n",
    "MATCH (n) CALL { WITH n DELETE n } IN TRANSACTIONS",
    "MATCH (n) CALL (n) { RETURN 1 AS x } IN 2 CONCURRENT TRANSACTIONS OF 5 ROWS RETURN x",
    "RETURN 1 AS x UNION CREATE (n:Run) RETURN n AS x",
    "RETURN 1 AS x UNION ALL MATCH (n) SET n.x = 1 RETURN 1 AS x",
    "WITH 1 AS as SET n.x = 1",
    "MATCH (as) WITH as SET as.x = 1",
    "MATCH (as) WITH 1 AS x, as SET as.x = 1",
    "MATCH (as) RETURN as SET as.x = 1",
    "MATCH (where) WITH where AS SET where.x = 1",
    "MATCH (n) WITH n.as SET n.x = 1",
    "MATCH (n) RETURN n.x SET n.y = 1",
    "MATCH (n) WHERE n:Run SET n.x = 1",
    "MATCH (n) WHERE n.x = $p SET n.x = 1",
    "MATCH (n) WHERE n.name = 'it\\'s' SET n.x = 1",
    "MATCH (n) WHERE n.name = '\\\\' SET n.x = 1",
    'MATCH (n) WHERE n.name = "\'" SET n.x = "\'"',
    "MATCH (`a'b`) SET `a'b`.x = 'c'",
    "MATCH (`a``'`) SET `a``'`.x = ''",
    "MATCH (n) WHERE n.x > 1SET n.x = 1",
    "MATCH (n) WHERE n.x > 1.SET n.x = 1",
    "MATCH (n) WHERE n.x > 0xFSET n.x = 1",
    "MATCH (n) \\u0053ET n.x = 1",
    "MATCH (n) S\\u0045T n.x = 1",
    "\\u0043REATE (:Run)",
    "MATCH (n) WHERE n.x = '\\u0027 SET n.x = 1 //'",
    "MATCH (n) WHERE n.x = '\\u005C' SET n.x = 1 //'",
    "MATCH (n) // \\u000A SET n.x = 1",
    "MATCH (n) /* \\u002A\\u002F SET n.x = 1 /* */",
    "MATCH (`n\\u0060) SET n.x = 1 //`",
    "MATCH (n) // comment\rSET n.x = 1",
    "MATCH (n)\u2028SET n.x = 1",
    "MATCH (n)\u00a0SET\u00a0n.x = 1",
    "MATCH (n)\x1cSET n.x = 1",
    "MATCH (n) \u017fET n.x = 1",
    "MATCH (n) \uff33\uff25\uff34 n.x = 1",
    "CREATE INDEX FOR (n:Run) ON (n.x)",
    "CREATE CONSTRAINT FOR (n:Run) REQUIRE n.x IS UNIQUE",
    "DROP INDEX x",
    "`DROP` INDEX x",
    "DROP CONSTRAINT x IF EXISTS",
    "EXPLAIN MATCH (n) SET n.x = 1",
    "PROFILE MATCH (n) SET n.x = 1",
    "CYPHER 5 MATCH (n) SET n.x = 1",
    "CYPHER planner=cost CREATE (:Run)",
    "FOR VALID_TIME ALL MATCH (n) SET n.x = 1",
]

FILES = [
    "LOAD CSV FROM 'file:///x' AS r RETURN r",
    "load csv with headers from 'file:///x' as r return r",
    "LOAD\n\tCSV FROM 'file:///x' AS r RETURN r",
    "`LOAD` CSV FROM 'file:///x' AS r RETURN r",
    "LOAD `CSV` FROM 'file:///x' AS r RETURN r",
    "`load``` `CSV` FROM 'file:///x' AS r RETURN r",
    "`Load` `Csv` FROM 'file:///x' AS r RETURN r",
    "LOAD /* a */ CSV FROM 'file:///x' AS r RETURN r",
    "LOAD // a\nCSV FROM 'file:///x' AS r RETURN r",
    "// a\nLOAD CSV FROM 'file:///x' AS r RETURN r",
    "PROFILE LOAD CSV FROM 'file:///x' AS r RETURN r",
    "EXPLAIN LOAD CSV FROM 'file:///x' AS r RETURN r",
    "EXPLAIN PROFILE LOAD CSV FROM 'file:///x' AS r RETURN r",
    "RETURN 1 AS r UNION LOAD CSV FROM 'file:///x' AS r RETURN r",
    "RETURN 1 AS r UNION ALL `LOAD` CSV FROM 'file:///x' AS r RETURN r",
    "RETURN 1 AS r INTERSECT LOAD CSV FROM 'file:///x' AS r RETURN r",
    "MATCH (n) LOAD CSV FROM 'file:///x' AS r RETURN r",
    "CALL { LOAD CSV FROM 'file:///x' AS r RETURN r } RETURN r",
    "USING PERIODIC COMMIT LOAD CSV FROM 'file:///x' AS r RETURN r",
    "FOR VALID_TIME ALL LOAD CSV FROM 'file:///x' AS r RETURN r",
    "L\\u004FAD CSV FROM 'file:///x' AS r RETURN r",
    "LOAD\u00a0CSV FROM 'file:///x' AS r RETURN r",
    "LOAD\u200bCSV FROM 'file:///x' AS r RETURN r",
    "LOAD C\u017fV FROM 'file:///x' AS r RETURN r",
    "// '\nLOAD CSV FROM 'file:///x' AS r RETURN r // '",
    "// '\rLOAD CSV FROM 'file:///x' AS r RETURN r // '",
    "RETURN 1 AS x; LOAD CSV FROM 'file:///x' AS r RETURN r",
    "RETURN 1 AS x FORMAT CSV",
    "RETURN 1 AS x `FORMAT` `csv`",
]

ADMINISTRATION = [
    "USE system SHOW USERS",
    "USE neo4j MATCH (n) RETURN n",
    "MATCH (n) CALL { USE other MATCH (m) RETURN m } RETURN m",
    "SHOW USERS",
    "SHOW SETTINGS",
    "SHOW TRANSACTIONS",
    "SHOW INDEXES YIELD name SHOW SETTINGS YIELD value RETURN value",
    "SHOW TRANSACTIONS YIELD transactionId AS id TERMINATE TRANSACTIONS id",
    "TERMINATE TRANSACTIONS 'x'",
    "GRANT ROLE admin TO somebody",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    "STOP DATABASE neo4j",
    "BEGIN",
    ":param x => 1",
    "CALL dbms.listConfig()",
    "CALL dbms.killQuery('x')",
    "CALL db.createLabel('X')",
    "CALL `db`.`createLabel`('X')",
    "CALL db . createLabel ( 'X' )",
    "CALL/**/db.createLabel('X')",
    "MATCH (n) CALL db.createLabel(n.name) RETURN n",
    "OPTIONAL CALL db.createLabel('X')",
    "CALL { CALL db.createLabel('X') } RETURN 1",
    "CALL db.clearQueryCaches()",
    "CALL table.upsert({type: 'Run'})",
    "CALL db.embeddings.embed({type: 'Run'})",
    "CALL db.cdc.enable()",
    "CALL db.ontology.declare({})",
    "CALL apoc.load.json('file:///x')",
    "CALL apoc.export.csv.all('x', {})",
    "CALL gds.graph.drop('x')",
    "CALL DB.LABELS()",
    "CALL",
    "CALL 'db.labels'()",
    "RETURN apoc.load.json('x')",
    "RETURN apoc . cypher . runFirstColumnSingle('CREATE (n) RETURN n', {})",
    "RETURN `apoc`.`util`.sleep(1)",
    "MATCH (n) WHERE n:CALL apoc.x.y() RETURN n",
]

SEVERAL = ["RETURN 1; RETURN 2", "RETURN 1;;", ";RETURN 1", ";", "RETURN 1; // a\n; "]
EMPTY = ["", " ", "\n\t", "// only a comment", "/* only\na comment */", "\r\n"]
BROKEN = ["RETURN 'x", 'RETURN "x', "RETURN `x", "RETURN 1 /* x", "RETURN '\\", "RETURN \x00 1"]

HARMLESS = [
    "MATCH (n) RETURN n",
    "MATCH (n) RETURN n;",
    "  MATCH (n) RETURN n ; // done\n",
    "RETURN 1 AS x // CREATE (:Run)",
    "RETURN 1 /* MATCH (n) DETACH DELETE n; LOAD CSV */ AS x",
    "RETURN 'CREATE (:Run); LOAD CSV FROM x' AS x",
    'RETURN "it\'s; SET" AS x',
    "RETURN 'it\\'s; SET n.x = 1' AS x",
    "RETURN 'C:\\\\users\\\\' AS x",
    "RETURN '\\u00e9t\\u00e9' AS x",
    "RETURN 'http://example.org/*' AS x",
    "MATCH (n) RETURN n.set, n.delete, n.create, n.`load`, n.call, n.use, n.insert",
    "MATCH (n) WHERE n.set = 1 AND n.remove > 2 RETURN n",
    "MATCH (n:Set) RETURN n",
    "MATCH (n:Run|Delete) RETURN n",
    "MATCH (:Create)-[:MERGE|REMOVE]->(m:Detach) RETURN m",
    "MATCH ()-[r:SET]->() RETURN r",
    "MATCH (n {set: 1, delete: 2}) RETURN n",
    "RETURN {create: 1, load: 2, call: 3} AS m",
    "MATCH (n) RETURN n {.set, .delete, create: 1} AS m",
    "MATCH (n) RETURN n.id AS set",
    "MATCH (n) RETURN n.id AS set, n.name AS delete ORDER BY `set`",
    "MATCH (n) WITH n.id AS create RETURN `create`",
    "MATCH (`set`:Run) RETURN `set`.id",
    "MATCH (n) WHERE n.id = $set RETURN n",
    "MATCH (n) RETURN n.format, n.csv",
    "MATCH (start)-->(stop) RETURN start, stop",
    "MATCH (load) RETURN load.id AS csv",
    "CALL db.labels() YIELD label RETURN label",
    "CALL `db`.`labels`() YIELD label RETURN label",
    "CALL db.labels",
    "MATCH (n) CALL { WITH n RETURN n.id AS id } RETURN id",
    "MATCH (n) CALL (n) { RETURN n.id AS id } RETURN id",
    "MATCH (n) CALL (*) { RETURN n.id AS id } RETURN id",
    "SHOW INDEXES",
    "SHOW CONSTRAINTS YIELD name RETURN name",
    "SHOW PROCEDURES YIELD name",
    "SHOW FUNCTIONS",
    "OPTIONAL MATCH (n) RETURN n",
    "UNWIND [1, 2] AS x RETURN x UNION ALL UNWIND [3] AS x RETURN x",
    "MATCH (n) RETURN n.id AS union UNION DISTINCT MATCH (m) RETURN m.id AS union",
    "RETURN datetime.truncate('day', datetime('2020-01-01T10:00:00Z')) AS t",
    "RETURN duration.between(date('2020-01-01'), date('2020-02-01')) AS d",
    "MATCH (a)-[r*1..3]-(b) WHERE NOT (a)-->(b) RETURN count(*)",
    "RETURN [x IN range(1, 10) WHERE x % 2 = 0 | x ^ 2][1..-1] AS xs",
    "RETURN 1.5e-3 + .5 + 0xFF AS x",
    "MATCH (n) WHERE n.name STARTS WITH 'a' OR n.name =~ 'b.*' RETURN n",
    "MATCH (größe:Zug) RETURN größe.länge AS x",
    "MATCH (n) RETURN CASE WHEN n.x THEN 1 ELSE 2 END AS x",
    "MATCH (n)\r\nRETURN n",
    "MATCH (n) USING INDEX n:Run(name) WHERE n.name = 'x' RETURN n",
    "MATCH (a) WHERE EXISTS { (a)-->() } RETURN COUNT { (a)-->() } AS degree",
]


@pytest.mark.parametrize("cypher", WRITES + FILES + ADMINISTRATION + SEVERAL + EMPTY + BROKEN)
def test_refused(cypher: str) -> None:
    with pytest.raises(QueryError) as caught:
        check_read_only(cypher)
    sentence = str(caught.value)
    assert sentence
    assert "\n" not in sentence
    assert sentence.isprintable()


@pytest.mark.parametrize("cypher", HARMLESS)
def test_let_through(cypher: str) -> None:
    check_read_only(cypher)


def test_sentences_say_which_word_and_what_to_write_instead() -> None:
    with pytest.raises(QueryError, match=r"^SET writes, .*put it in backticks: `Set`$"):
        check_read_only("MATCH (Set) RETURN Set")
    with pytest.raises(QueryError, match=r"^CALL db\.createLabel is not let through"):
        check_read_only("CALL db.createLabel('X')")
    with pytest.raises(QueryError, match=r"line 2, column 8 of the query: a text"):
        check_read_only("MATCH (n)\nRETURN 'x")
    with pytest.raises(QueryError, match="several statements"):
        check_read_only("RETURN 1; RETURN 2")
    with pytest.raises(QueryError, match="the query is empty"):
        check_read_only("// nothing\n;")


@pytest.mark.parametrize(
    "cypher",
    [
        "CREATE (:Run)",
        "`INSERT` (:Run)",
        "MATCH (n) SET n.x = 1",
        "MATCH (n) WHERE n:Run SET n.x = 1",
        "MATCH (n) RETURN n.x SET n.y = 1",
        "MATCH (n) WHERE n.x = 'a' DETACH DELETE n",
        "MATCH (n) WHERE n.x = $p REMOVE n.x",
        "RETURN 1 AS x UNION CREATE (n:Run) RETURN n AS x",
        "RETURN 1 AS x UNION ALL CREATE (n:Run) RETURN n AS x",
        "MATCH (n) CALL (n) { SET n.x = 1 } RETURN n",
        "CALL { CREATE (:Run) } RETURN 1 AS x",
        "EXPLAIN MATCH (n) RETURN n",
        "PROFILE MATCH (n) RETURN n",
        "USE other MATCH (n) RETURN n",
        "CALL dbms.listConfig()",
        "MATCH (n) CALL db.createLabel(n.name) RETURN n",
        "SHOW USERS",
        "SHOW INDEXES YIELD name SHOW SETTINGS YIELD value RETURN value",
    ],
)
def test_what_plainly_begins_a_clause_is_not_taken_for_a_name(cypher: str) -> None:
    with pytest.raises(QueryError) as caught:
        check_read_only(cypher)
    assert "where it is a name" not in str(caught.value)


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (set) RETURN 1 AS x",
        "MATCH set = (a)-->(b) RETURN 1 AS x",
        "MATCH (n) WHERE set.x = 1 RETURN n",
        "MATCH (n) RETURN DISTINCT set",
        "WITH 2 AS n RETURN n * set",
        "RETURN all(set IN [1] WHERE true) AS x",
        "MATCH (n) RETURN n {set}",
        "MATCH (n) RETURN n.id, call",
        "WITH show, 1 AS x RETURN x",
        "UNWIND profile AS x RETURN x",
        "MATCH (insert) RETURN 1 AS x",
    ],
)
def test_what_may_be_a_name_is_told_how_to_write_it(cypher: str) -> None:
    with pytest.raises(QueryError, match="where it is a name"):
        check_read_only(cypher)


def test_what_the_engines_get_has_no_comment_and_no_semicolon_and_keeps_its_positions() -> None:
    text = "MATCH (n) // it's\r\n/* a\nb */ RETURN 'http://x/*y*/' AS x; // end"
    assert checked(text) == ("MATCH (n)        \r\n    \n     RETURN 'http://x/*y*/' AS x")


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (n) RETURN id(n)",
        "MATCH (n) RETURN elementId(n)",
        "MATCH (n) RETURN `id`(n)",
        "MATCH (n) RETURN n.title",
        "MATCH (a:Artifact) RETURN a.type",
        "MATCH (a:Artifact) RETURN a.`type`",
        "MATCH (a:Artifact) RETURN a['type']",
        "MATCH (a:Artifact) RETURN a {.type}",
        "RETURN [1] || [2]",
        "RETURN 'a\\q'",
        "RETURN 'a\\b'",
    ],
)
def test_what_would_answer_differently_is_refused(cypher: str) -> None:
    with pytest.raises(QueryError):
        check_read_only(cypher)


def test_what_answers_alike_is_not_mistaken_for_it() -> None:
    for cypher in (
        "MATCH (a)-[r]->() RETURN type(r) AS type, labels(a) AS label, a.id AS id",
        "MATCH (a:Artifact) RETURN properties(a)['type'] AS type",
        "MATCH (a) WHERE a.name IN ['title'] RETURN a.id",
        "MATCH (a {title: 'x'}) RETURN ['type'] AS x",
        "RETURN [x IN [1] | x] AS x",
    ):
        check_read_only(cypher)


@pytest.mark.parametrize(
    ("cypher", "name"),
    [
        ("MATCH (n) RETURN percentileCont(n.x, 0.5)", "the function percentileCont"),
        ("RETURN timestamp()", "the function timestamp"),
        ("MATCH (n) RETURN median(n.x)", "the function median"),
        ("RETURN COLLECT { MATCH (n) RETURN n.id }", "COLLECT { }"),
        ("RETURN COUNT { MATCH (n) RETURN n }", "RETURN inside COUNT { }"),
        ("MATCH (n WHERE n.x = 1) RETURN n.id", "WHERE inside a pattern"),
        ("MATCH ()-[r:R WHERE r.x = 1]->() RETURN 1", "WHERE inside a pattern"),
        ("MATCH (a)-[:R]->{1,3}(b) RETURN 1", "a quantified pattern"),
        ("MATCH p = SHORTEST 1 (a)-[:R]->+(b) RETURN p", "SHORTEST"),
        ("RETURN 1 < 2 < 3", "a chain of comparisons"),
        ("RETURN CASE 1 WHEN 1, 5 THEN 2 END", "CASE with several values in one WHEN"),
        ("RETURN 'x' =~ '(?=x).'", "look-around in a regular expression"),
        ("MATCH (n) RETURN n.end", "end as a name without backticks"),
        ("MATCH (n:!Run) RETURN n.id", "! in a label"),
        ("MATCH (n:$(x)) RETURN n.id", "a dynamic label"),
        ("MATCH (n) RETURN n.id HAVING n.id = 1", "HAVING"),
        ("MATCH (n) FILTER n.id = 1 RETURN n.id", "FILTER"),
        ("RETURN 1 AS x INTERSECT RETURN 1 AS x", "INTERSECT"),
        ("MATCH (n) RETURN n.x AS x ORDER BY x NULLS FIRST", "NULLS FIRST or LAST"),
        ("RETURN 1 != 2", "!="),
        ("RETURN datetime({epochMillis: 0})", "datetime({epochMillis})"),
        ("RETURN $`p`", "a parameter in backticks"),
    ],
)
def test_lint_names_what_one_engine_takes(cypher: str, name: str) -> None:
    assert name in one_engine_constructs(cypher)


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (a:Action)-[:INFORMS]->(b:Action) WHERE a.index < b.index "
        "WITH a.role AS role, count(*) AS n, collect(b.id)[0..3] AS first "
        "RETURN role, n, first ORDER BY n DESC, role LIMIT 10",
        "MATCH (a) WHERE any(x IN a.labels WHERE x = 'y') AND a.x > 1 AND a.y < 2 RETURN a.id",
        "MATCH (a) RETURN [(a)-[:R]->(b) WHERE b.x = 1 | b.id] AS ids",
        "MATCH (a) WHERE EXISTS { MATCH (a)-->(b) WHERE b.x = 1 } RETURN a.id AS filter",
        "WITH 1 AS t ORDER BY t WITH collect(t) AS ts RETURN ts[size(ts)/2] AS median",
        "RETURN CASE WHEN 1 IN [1, 2] THEN coalesce(1, 2) ELSE 3 END AS `end`",
        "MATCH p = shortestPath((a:Run)-[:R*1..3]->(b:Run)) RETURN length(p) AS x",
        "MATCH (a)-[r]->(b) RETURN type(r) AS type, reduce(s = 0, x IN [1] | s + x) AS s",
    ],
)
def test_lint_is_quiet_about_what_both_take(cypher: str) -> None:
    assert one_engine_constructs(cypher) == []


def test_tables_are_whole() -> None:
    assert all(name == name.lower() for name in COMMON_FUNCTIONS)
    assert all(name.startswith("db.") for name in PROCEDURES)
    assert {difference.treatment for difference in DIFFERENCES} == {
        "levelled",
        "refused",
        "documented",
    }


FRAGMENTS = st.sampled_from(
    [
        *"'\"`\\/*();{}[].,:|$ \n\r\t=<>&!%+-^~#@?_19",
        "//",
        "/*",
        "*/",
        "\\u0027",
        "\\u005C",
        "\\'",
        "``",
        "LOAD",
        "CSV",
        "`LOAD`",
        "CREATE",
        "SET",
        "INSERT",
        "CALL",
        "AS",
        "WITH",
        "RETURN",
        "MATCH",
        "UNION",
        "n",
        "n.x",
        "db.labels",
        "0x",
        "1.",
        "1e",
        "\u00a0",
        "\u2028",
        "\u200b",
        "\u017f",
        "\ud800",
        "é",
        "\x00",
    ]
)


@settings(max_examples=500, deadline=None)
@given(st.text() | st.lists(FRAGMENTS, max_size=30).map("".join))
def test_no_input_raises_anything_else(text: str) -> None:
    for function in (check_read_only, one_engine_constructs):
        with contextlib.suppress(QueryError):
            function(text)


@settings(max_examples=500, deadline=None)
@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_tokens_without_comments_are_the_same_tokens(text: str) -> None:
    try:
        found = tokens(text)
    except QueryError:
        return
    plain = without_comments(text)
    assert len(plain) == len(text)
    assert tokens(plain) == found


@settings(max_examples=300, deadline=None)
@given(
    before=st.lists(FRAGMENTS, max_size=8).map("".join),
    between=st.sampled_from([" ", "\n", "\t", " \r\n ", "/* x */", "// x\n", " /**/ "]),
    words=st.sampled_from([("LOAD", "CSV"), ("load", "`CSV`"), ("`LoAd`", "csv")]),
)
def test_load_csv_never_passes_outside_of_a_text_or_comment(
    before: str, between: str, words: tuple[str, str]
) -> None:
    text = f"{before} {words[0]}{between}{words[1]} FROM 'x' AS r RETURN r"
    try:
        check_read_only(text)
    except QueryError:
        return
    # It passed: then a text, a comment or backticks opened before it swallowed the words.
    assert ("LOAD", "CSV") not in {
        (one.key, other.key)
        for one, other in zip(tokens(text), tokens(text)[1:], strict=False)
        if one.kind != "text" and other.kind != "text"
    }


def test_a_long_query_takes_no_long_time() -> None:
    check_read_only("RETURN [" + "1, " * 100_000 + "1] AS x")
    with pytest.raises(QueryError):
        check_read_only("(" * 200_000)
    with pytest.raises(QueryError):
        check_read_only("RETURN '" + "\\'" * 200_000)
