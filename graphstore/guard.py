"""Lets through what only reads: the barrier before both engines.

One engine reads local files in each of its read-only modes (LOAD CSV), so here nothing may
slip by. The rules are about words, not about grammar: a word that writes is refused
wherever it could begin a clause; where it can only be a name (``n.set``, ``:Set``,
``{set: 1}``, ``AS set``) it passes. Where that is in doubt, it is refused.
"""

from collections.abc import Sequence

from graphstore import dialect
from graphstore.errors import QueryError
from graphstore.lexer import Token, ends_expression, is_name, tokens, without_comments, words

FIRST_WORDS = ("MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL", "SHOW")
"""What a query, and each part of a UNION, may begin with."""

WRITING_WORDS = words(
    "CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH INSERT DROP ALTER"
)
ADMINISTERING_WORDS = words("USE TRANSACTIONS TERMINATE GRANT DENY REVOKE RENAME PERIODIC")
_TAKEN_QUOTED = frozenset(["INSERT", "NODETACH", "DROP"])
"""Words that the embedded engine takes for a clause even in backticks."""

PROCEDURES = frozenset(
    [
        "db.labels",
        "db.propertyKeys",
        "db.relationshipTypes",
        "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties",
        "db.schema.visualization",
    ]
)
"""The procedures that may be called: they describe the data, and both engines have them."""

SHOWN = words("INDEX INDEXES CONSTRAINT CONSTRAINTS FUNCTION FUNCTIONS PROCEDURE PROCEDURES")

NAMESPACES = words("date datetime duration localdatetime localtime point time vector")
"""Namespaces of functions that are the language's own: others come from plug-ins."""


def check_read_only(cypher: str) -> None:
    """Refuses a query that could do anything but read this store.

    Args:
        cypher: The query, as somebody typed it.

    Raises:
        QueryError: It is empty, or holds a word, procedure or spelling that is not let
            through; the sentence says which and how to write it otherwise.
    """
    checked(cypher)


def checked(cypher: str) -> str:
    """The query as the engines are to run it, once it is known to read only.

    Args:
        cypher: The query, as somebody typed it.

    Returns:
        The same text with blanks for comments and without a closing semicolon: what the
        engines read differently is gone, and positions in their messages still hold.

    Raises:
        QueryError: As for :func:`check_read_only`.
    """
    found = tokens(cypher)
    end = len(cypher)
    if found and found[-1].text == ";":
        end = found.pop().start
    if not found:
        raise QueryError("the query is empty")
    for position, token in enumerate(found):
        if token.text == ";":
            raise QueryError(
                "the query holds several statements: give them one by one, without ;"
            )
        if token.kind in ("word", "quoted"):
            _check_word(found, position)
    _check_beginnings(found)
    refused = dialect.refused_construct(found)
    if refused is not None:
        raise QueryError(refused)
    return without_comments(cypher[:end])


def _check_word(found: Sequence[Token], position: int) -> None:
    token = found[position]
    following = found[position + 1] if position + 1 < len(found) else None
    pair = (token.key, following.key if following else "")
    if pair == ("LOAD", "CSV"):
        raise QueryError("LOAD CSV reads files: a query sees the store only")
    if pair == ("FORMAT", "CSV"):
        raise QueryError("FORMAT CSV is for one engine only: ask masgraph for CSV instead")
    if token.kind == "quoted" and token.key not in _TAKEN_QUOTED:
        _check_function(found, position)
        return
    if is_name(found, position):
        _check_function(found, position)
        return
    if token.key in WRITING_WORDS:
        raise QueryError(
            f"{token.key} writes, and queries only read{_otherwise(found, position)}"
        )
    if token.key in ADMINISTERING_WORDS:
        raise QueryError(
            f"{token.key} is about the server, and queries only read the store"
            + _otherwise(found, position)
        )
    if token.key in ("EXPLAIN", "PROFILE"):
        raise QueryError(
            f"{token.key} asks for a plan, which each engine gives in its own way: leave it "
            f"out{_otherwise(found, position)}"
        )
    if token.key == "CALL":
        _check_call(found, position)
    elif token.key == "SHOW":
        _check_show(found, position)
    else:
        _check_function(found, position)


def _otherwise(found: Sequence[Token], position: int) -> str:
    """What to do where the word was meant as a name: nothing where it cannot be one."""
    if _begins_clause(found, position):
        return ""
    token = found[position]
    if token.key in _TAKEN_QUOTED:
        return "; where it is a name, choose another one"
    return f"; where it is a name, put it in backticks: `{token.text}`"


def _begins_clause(found: Sequence[Token], position: int) -> bool:
    """Whether a word plainly begins a clause: a statement or an expression has just ended.

    Where a name could stand, it is False: a product's second factor follows ``*`` as a
    clause may.
    """
    if not position:
        return True
    before = found[position - 1]
    if before.kind == "word" and before.key in ("ALL", "DISTINCT") and position > 1:
        before = found[position - 2]
        return before.kind == "word" and before.key == "UNION"
    if before.kind == "word" and before.key == "UNION":
        return True
    if before.text == "{" and position > 1:
        # Of a subquery; a map projection's brace follows its variable.
        opener = found[position - 2]
        return opener.text == ")" or opener.key in ("CALL", "COLLECT", "COUNT", "EXISTS")
    return before.text != "*" and ends_expression(found, position - 1)


def _check_beginnings(found: Sequence[Token]) -> None:
    """Each statement, and each part of a UNION, begins with a clause that reads."""
    beginnings = [0]
    for position, token in enumerate(found):
        if token.kind == "word" and token.key == "UNION" and not is_name(found, position):
            beginning = position + 1
            if beginning < len(found) and found[beginning].key in ("ALL", "DISTINCT"):
                beginning += 1
            beginnings.append(beginning)
    for beginning in beginnings:
        first = found[beginning] if beginning < len(found) else None
        if first is None or first.kind != "word" or first.key not in FIRST_WORDS:
            word = "nothing" if first is None else first.text[:40]
            raise QueryError(
                f"a query begins with one of {', '.join(FIRST_WORDS)}, not with {word}"
            )


def _dotted(found: Sequence[Token], position: int) -> tuple[str, int]:
    """A name with its namespaces, and the position after it."""
    parts: list[str] = []
    while position < len(found) and found[position].kind in ("word", "quoted"):
        token = found[position]
        parts.append(token.text if token.kind == "word" else token.text[1:-1])
        position += 1
        if position >= len(found) or found[position].text != ".":
            break
        position += 1
    return ".".join(parts), position


def _check_call(found: Sequence[Token], position: int) -> None:
    following = found[position + 1] if position + 1 < len(found) else None
    if following is not None and following.text in ("(", "{"):
        return
    name, _ = _dotted(found, position + 1)
    if name not in PROCEDURES:
        raise QueryError(
            f"CALL {name} is not let through: only the procedures "
            f"{', '.join(sorted(PROCEDURES))} are, and subqueries{_otherwise(found, position)}"
        )


def _check_show(found: Sequence[Token], position: int) -> None:
    following = found[position + 1] if position + 1 < len(found) else None
    if following is None or following.kind != "word" or following.key not in SHOWN:
        raise QueryError(
            "SHOW may be followed by INDEXES, CONSTRAINTS, FUNCTIONS or PROCEDURES only"
            + _otherwise(found, position)
        )


def _check_function(found: Sequence[Token], position: int) -> None:
    """Refuses functions of plug-ins, which can do anything."""
    if position and found[position - 1].text == ".":
        return
    name, end = _dotted(found, position)
    if "." in name and end < len(found) and found[end].text == "(":
        if position and found[position - 1].key == "CALL" and not is_name(found, position - 1):
            return
        namespace = name.partition(".")[0]
        if namespace.lower() not in NAMESPACES:
            raise QueryError(f"the function {name} is not part of Cypher and may not be called")
