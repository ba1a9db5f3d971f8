"""``masgraph query`` with one's own Cypher."""

import pytest


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("RETURN 1 AS one", "who=x", "the query has no parameter who: it has none"),
        (
            "RETURN $a AS a, $b AS b, $a + 1 AS c",
            "who=x",
            "the query has no parameter who: it has a, b",
        ),
        ("RETURN '$who' AS one // $who", "who=x", "the query has no parameter who"),
        ("RETURN $Who AS one", "who=x", "the query has no parameter who: it has Who"),
    ],
)
def test_a_parameter_that_ones_own_query_does_not_use(masgraph, one_run, text, given, said):
    masgraph("ingest", one_run)
    done = masgraph("query", "-c", text, "-p", given)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_a_parameter_that_is_used_is_taken(masgraph, one_run):
    masgraph("ingest", one_run)
    text = "WITH $who AS a RETURN a + $who + $n AS s"
    done = masgraph("query", "-c", text, "-p", "$who=2", "-p", "n=1", "--json")
    assert done.json()["rows"] == [{"s": 5}]
