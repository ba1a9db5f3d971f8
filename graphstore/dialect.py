"""What a query may hold that the two engines do not answer alike: refused, or named.

Why, and what else differs, is in :mod:`graphstore.differences`.
"""

from collections.abc import Iterator, Sequence

from graphstore.differences import DIFFERENCES as DIFFERENCES
from graphstore.lexer import Token, is_name, tokens, words

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
