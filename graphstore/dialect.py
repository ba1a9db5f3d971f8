"""Where the two engines differ, as data: what is refused, what a person should know.

The embedded engine (kglite 0.21) and Neo4j 5.26 were run side by side. A difference that
gives an error on one of them tells itself; one that gives two answers is levelled by the
stores, refused by the guard, or written down here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from graphstore.lexer import Token, is_name, tokens, words

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

COMMON_FUNCTIONS = words("""
    abs acos all any asin atan atan2 avg btrim ceil coalesce collect cos cot count date
    date.truncate datetime datetime.truncate degrees duration duration.between
    duration.indays duration.inmonths duration.inseconds endnode exists exp floor haversin
    head keys labels last left length localdatetime localdatetime.truncate localtime
    localtime.truncate log log10 ltrim max min nodes none pi point properties radians rand
    randomuuid range reduce relationships replace reverse right round rtrim
    shortestpath allshortestpaths sign sin single size split sqrt startnode stdev substring
    sum tail tan time time.truncate toboolean tofloat tointeger tolower tostring toupper
    trim type valuetype
    """)
"""Functions that both engines have, in small letters."""

_MADE_UP = frozenset(["title", "type", "label"])
_NOT_FUNCTIONS = words("""
    ALL AND AS BY CALL CASE CONTAINS DISTINCT ELSE END ENDS FROM IN IS LIMIT MATCH NOT NULL
    OFFSET ON OPTIONAL OR ORDER RETURN SKIP STARTS THEN UNION UNWIND WHEN WHERE WITH XOR YIELD
    """)
_NO_BARE_NAMES = words(
    "AND CASE ELSE END EXISTS LIMIT MATCH OPTIONAL OR RETURN SKIP THEN UNWIND WHEN WHERE WITH"
)
_CLAUSES_OF_ONE = {
    "FILTER": "FILTER",
    "FINISH": "FINISH",
    "HAVING": "HAVING",
    "INTERSECT": "INTERSECT",
    "EXCEPT": "EXCEPT",
    "LET": "LET",
    "NEXT": "NEXT",
    "SHORTEST": "SHORTEST",
    "NULLS": "NULLS FIRST or LAST",
}


def refused_construct(found: Sequence[Token]) -> str | None:
    """Says why a query is refused though it only reads: its answers would differ.

    Args:
        found: The query's tokens.

    Returns:
        One sentence, or None.
    """
    for position, token in enumerate(found):
        before = found[position - 1] if position else None
        after = found[position + 1] if position + 1 < len(found) else None
        name = _name(token)
        if before is not None and before.text == ".":
            if name in _MADE_UP and (after is None or after.text != "("):
                return _made_up(name)
        elif after is not None and after.text == "(" and token.key in ("ID", "ELEMENTID"):
            if token.kind in ("word", "quoted") and not is_name(found, position):
                return (
                    f"{token.text}(...) is an internal number, another one in each engine: "
                    "write n.id"
                )
        elif token.kind == "text" and token.text[1:-1] in _MADE_UP:
            if _is_subscript(found, position):
                return _made_up(token.text[1:-1])
        elif token.text == "|" and after is not None and after.text == "|":
            return "|| joins lists in one engine only: write +"
    return None


def _name(token: Token) -> str:
    return token.text.strip("`") if token.kind in ("word", "quoted") else ""


def _made_up(name: str) -> str:
    return (
        f"the property {name} is made up by one engine and no label here has it: write "
        f"properties(n)['{name}'] if you stored one"
    )


def _is_subscript(found: Sequence[Token], position: int) -> bool:
    """Whether a text stands in ``n['...']``, n being a variable or its property."""
    if position < 2 or position + 1 >= len(found):
        return False
    if found[position - 1].text != "[" or found[position + 1].text != "]":
        return False
    holder = found[position - 2]
    if holder.kind == "quoted":
        return True
    return holder.kind == "word" and (
        holder.key not in _NOT_FUNCTIONS or is_name(found, position - 2)
    )


def one_engine_constructs(cypher: str) -> list[str]:
    """Names what a query uses that only one engine takes, or that they answer differently.

    Meant for queries that are kept: ``query`` itself leaves it to each engine to refuse
    what it does not know.

    Args:
        cypher: The query.

    Returns:
        One short description each, in order, without repetition.

    Raises:
        QueryError: The text cannot be cut into tokens.
    """
    found = tokens(cypher)
    refused = refused_construct(found)
    names = [] if refused is None else [refused]
    names += _one_engine(found)
    return list(dict.fromkeys(names))


def _one_engine(found: Sequence[Token]) -> Iterator[str]:
    subqueries = _subqueries(found)
    openers: list[int] = []
    for position, token in enumerate(found):
        before = found[position - 1] if position else None
        after = found[position + 1] if position + 1 < len(found) else None
        if token.text in "([{" and token.kind == "symbol":
            openers.append(position)
        elif token.text in ")]}" and token.kind == "symbol" and openers:
            openers.pop()
        if token.key in ("EPOCHMILLIS", "EPOCHSECONDS") and after and after.text == ":":
            yield "datetime({epochMillis})"
        if token.kind == "word" and not is_name(found, position):
            yield from _word(found, position, openers, subqueries)
        if token.kind in ("word", "quoted") and after is not None and after.text == "(":
            yield from _function(found, position)
        if token.kind == "symbol" and before is not None:
            yield from _symbol(found, position)
        if token.kind == "text" and any(part in token.text for part in ("(?=", "(?!", "(?<")):
            yield "look-around in a regular expression"


def _word(
    found: Sequence[Token], position: int, openers: Sequence[int], subqueries: dict[int, str]
) -> Iterator[str]:
    token = found[position]
    after = found[position + 1] if position + 1 < len(found) else None
    if (
        token.key in _CLAUSES_OF_ONE
        and (after is None or after.text not in (",", ")", "."))
        and (token.key not in ("LET", "NEXT", "FILTER") or (after and after.kind == "word"))
    ):
        yield _CLAUSES_OF_ONE[token.key]
    if token.key == "COLLECT" and after is not None and after.text == "{":
        yield "COLLECT { }"
    if token.key == "RETURN" and openers and subqueries.get(openers[-1]) in ("COUNT", "EXISTS"):
        yield f"RETURN inside {subqueries[openers[-1]]} {{ }}"
    if token.key == "WHERE" and openers and found[openers[-1]].text in "([":
        # A list comprehension and a list predicate have a WHERE after IN.
        inside = found[openers[-1] : position]
        if not any(item.key == "IN" for item in inside) and not _is_comprehension(
            found, openers[-1]
        ):
            yield "WHERE inside a pattern"
    if token.key == "WHEN":
        yield from _when(found, position)


def _is_comprehension(found: Sequence[Token], opener: int) -> bool:
    """Whether ``[`` opens a pattern comprehension: ``[(a)-->(b) WHERE ... | ...]``."""
    return (
        found[opener].text == "["
        and opener + 1 < len(found)
        and (
            found[opener + 1].text == "("
            or (opener + 2 < len(found) and found[opener + 2].text == "=")
        )
    )


def _when(found: Sequence[Token], position: int) -> Iterator[str]:
    depth = 0
    for token in found[position + 1 :]:
        if token.kind == "symbol" and token.text in "([{":
            depth += 1
        elif token.kind == "symbol" and token.text in ")]}":
            depth -= 1
        elif depth == 0 and token.key == "THEN":
            return
        elif depth == 0 and token.text == ",":
            yield "CASE with several values in one WHEN"
            return


def _subqueries(found: Sequence[Token]) -> dict[int, str]:
    """The word before each opening brace, by the brace's position."""
    return {
        position: found[position - 1].key
        for position, token in enumerate(found)
        if token.text == "{" and position and found[position - 1].kind == "word"
    }


def _function(found: Sequence[Token], position: int) -> Iterator[str]:
    if position and found[position - 1].text in (".", ":", "|"):
        return
    if position and found[position - 1].key == "CALL":
        return
    token = found[position]
    if token.kind == "word" and token.key in _NOT_FUNCTIONS:
        return
    if token.key in ("ID", "ELEMENTID"):
        return
    if _name(token).lower() not in COMMON_FUNCTIONS:
        yield f"the function {_name(token)}"


def _is_chained(found: Sequence[Token], position: int) -> bool:
    """Whether a comparison of simple values stands on the left of another: ``1 < x.y < 3``."""
    position += 1
    if position < len(found) and found[position].text in ("=", ">"):
        position += 1
    start = position
    while position < len(found):
        token = found[position]
        if token.kind == "symbol" and (token.text != "." or position == start):
            break
        if token.kind == "word" and token.key in _NOT_FUNCTIONS:
            break
        position += 1
    if position == start or position + 1 >= len(found):
        return False
    # An arrow, <- or ->, is no comparison.
    return found[position].text in ("<", ">", "=") and found[position + 1].text != "-"


def _is_bound(token: Token | None) -> bool:
    return token is not None and (token.kind == "number" or token.text == ",")


def _symbol(found: Sequence[Token], position: int) -> Iterator[str]:
    token, before = found[position], found[position - 1]
    after = found[position + 1] if position + 1 < len(found) else None
    if token.text == "!" and before.text in (":", "&", "|", "("):
        yield "! in a label"
    if token.text == "=" and before.text == "!":
        yield "!="
    if token.text == "%" and before.text == ":":
        yield "% as a label"
    if token.text == "{" and before.text in (">", "-", ")") and _is_bound(after):
        yield "a quantified pattern"
    if token.text == "$" and after is not None and after.text == "(":
        yield "a dynamic label"
    if token.text == "$" and after is not None and after.kind == "quoted":
        yield "a parameter in backticks"
    bare = after is not None and after.kind == "word" and after.key in _NO_BARE_NAMES
    if bare and token.text in (".", ":"):
        yield f"{found[position + 1].text} as a name without backticks"
    if token.text in ("<", ">", "=") and _is_chained(found, position):
        yield "a chain of comparisons"
