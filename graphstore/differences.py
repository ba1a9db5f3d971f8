"""Where the two engines differ, as data: what is levelled, refused, or for a person to know.

The embedded engine (kglite 0.21) and Neo4j 5.26 were run side by side. A difference that
gives an error on one of them tells itself; one that gives two answers is levelled by the
stores, refused by the guard, or written down here.
"""

from dataclasses import dataclass
from typing import Literal

Treatment = Literal["levelled", "refused", "documented"]


@dataclass(frozen=True)
class Difference:
    """A construct that both engines take and answer differently.

    Attributes:
        construct: How it is written.
        embedded: What the embedded engine answers.
        neo4j: What Neo4j answers.
        treatment: ``levelled`` (both stores give one answer), ``refused`` (by the guard) or
            ``documented`` (the guard cannot see it).
        advice: What to write, or what the stores do.
    """

    construct: str
    embedded: str
    neo4j: str
    treatment: Treatment
    advice: str


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "ORDER BY a WITH's renamed grouping key",
        "wrong order, and wrong rows under LIMIT",
        "right",
        "levelled",
        "the embedded store runs without the optimizer's step that does it",
    ),
    Difference(
        "OPTIONAL MATCH (a)-->(b) ... b, count(b): its own variable as a grouping key",
        "one row with a missing b",
        "right",
        "levelled",
        "the embedded store runs without the optimizer's step that does it",
    ),
    Difference(
        "n.title, n.type, n.label where they are unset",
        "the node's name or label",
        "null",
        "refused",
        "no label here has them (artifacts have artifact_type, resources resource_type)",
    ),
    Difference(
        "properties(n), keys(n), n{.*}",
        "title and type besides",
        "what was stored",
        "levelled",
        "the embedded store hides what it adds",
    ),
    Difference(
        "RETURN n, r, a path",
        "maps of its own",
        "objects of the driver",
        "levelled",
        "both stores give property maps",
    ),
    Difference(
        "RETURN `a b`, `a b` + 1: a column that begins with a backtick",
        "a name without that backtick alone",
        "the name without backticks, the expression as it is written",
        "levelled",
        "the embedded store names columns as Neo4j does",
    ),
    Difference(
        "id(n), elementId(n)",
        "the property id; a number of the file",
        "numbers of the server",
        "refused",
        "write n.id",
    ),
    Difference(
        "1.0/0, 0.0/0, log(0), sqrt(-1)",
        "null",
        "Infinity or NaN",
        "levelled",
        "as a result they are missing on both; inside a query, test the divisor",
    ),
    Difference("[1] || [2]", "a text", "a list", "refused", "write + to join texts or lists"),
    Difference(
        "datetimes with an offset",
        "keep it",
        "keep it",
        "levelled",
        "both stores give UTC",
    ),
    Difference(
        "nanoseconds of datetimes",
        "cut to microseconds",
        "kept",
        "levelled",
        "results have microseconds; the integers started_at and ended_at are exact",
    ),
    Difference(
        "durations and points",
        "maps",
        "objects of the driver",
        "levelled",
        "both stores give ISO 8601 texts and maps",
    ),
    Difference(
        "block comments", "an error", "taken", "levelled", "comments are taken out first"
    ),
    Difference(
        "\\b, \\f and unknown escapes in a text",
        "the letter",
        "the character, or backslash and letter",
        "refused",
        "give such a text as a parameter",
    ),
    Difference(
        "EXPLAIN, PROFILE", "rows of a plan", "no rows, or the query's", "refused", "leave out"
    ),
    Difference(
        "1 and 1.0 in DISTINCT, grouping, UNION",
        "two values",
        "one value",
        "documented",
        "write toFloat(...) where integers and floats meet",
    ),
    Difference(
        "avg of many numbers",
        "sum divided by count",
        "a running mean, other last digits",
        "documented",
        "write toFloat(sum(x)) / count(x)",
    ),
    Difference(
        "texts ordered or compared where some come from a parameter or a literal",
        "by code point",
        "by UTF-16 unit: emoji before U+E000 to U+FFFF",
        "documented",
        "order by stored texts, which both compare by code point",
    ),
    Difference(
        "round of a negative half: round(-2.5)",
        "-3.0",
        "-2.0",
        "documented",
        "round results, not inside the query",
    ),
    Difference(
        "stdev of one value",
        "null",
        "0.0",
        "documented",
        "test count(*) > 1",
    ),
    Difference(
        "the order of keys(n)",
        "sorted",
        "any",
        "documented",
        "UNWIND keys(n) AS key, then ORDER BY key",
    ),
    Difference(
        "[1] + null, toFloat(' 3 '), toString of floats and datetimes",
        "differ",
        "differ",
        "documented",
        "format results, not inside the query",
    ),
    Difference(
        "arithmetic with durations; a datetime compared with a date",
        "differ",
        "differ",
        "documented",
        "compare the integers started_at and ended_at (nanoseconds)",
    ),
    Difference(
        "sum of texts, 'a' + true",
        "0, 'atrue'",
        "an error",
        "documented",
        "sum numbers only",
    ),
    Difference(
        "r.id of a relation",
        "a number of the file",
        "null",
        "documented",
        "relations have no id: use their ends and type",
    ),
)
