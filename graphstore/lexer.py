"""Cypher as tokens: as much of the language as it takes to tell words from texts.

The two engines cut a text into tokens by slightly different rules, and a query that means
one thing to the reader here and another to an engine could hide a clause. So whatever they
cut differently is refused: unicode escapes that stand for a quote, a lone carriage return,
invisible characters, a number that runs into a word.
"""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

from graphstore.errors import QueryError

TokenKind = Literal["word", "quoted", "text", "number", "symbol"]


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables that are easier to read in prose form."""
    return frozenset(text.split())


class Token(NamedTuple):
    """A token.

    Attributes:
        kind: ``word``, ``quoted`` (a name in backticks), ``text`` (a string), ``number`` or
            ``symbol``.
        text: As it stands in the query.
        key: A word or name in capitals, without backticks and in its plainest characters:
            what an engine could take for a keyword. A symbol's own text; else empty.
        start: Position in the query.
    """

    kind: TokenKind
    text: str
    key: str
    start: int


_COMMENT = re.compile(r"//[^\r\n]*+|/\*.*?\*/", re.DOTALL)
_PATTERN = re.compile(
    r"""
    (?P<space>[ \t\n]++|\r\n)
  | (?P<comment>//[^\r\n]*+|/\*)
  | (?P<text>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")
  | (?P<quoted>`(?:[^`]|``)*+`)
  | (?P<number>0[xX][0-9a-fA-F]+|0[oO][0-7]+
      |(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<word>[^\W\d]\w*+)
  | (?P<symbol>\.\.|::|[()\[\]{}<>=+\-*/%^.,:;|&!$~])
    """,
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN_ESCAPES = frozenset("\\'\"nrt")

_CLAUSES = words("CALL MATCH OPTIONAL ORDER LIMIT RETURN SKIP UNION UNWIND WHERE WITH")
_BEFORE_EXPRESSION = _CLAUSES | words(
    "ALL AND ANY AS BY CASE CONTAINS COUNT DISTINCT ELSE ENDS EXISTS IN IS NONE NOT OR "
    "SINGLE STARTS THEN WHEN XOR YIELD OFFSET ON USING"
)


def tokens(cypher: str) -> list[Token]:
    """Cuts a query into tokens, without comments.

    Args:
        cypher: The query.

    Returns:
        Tokens in order.

    Raises:
        QueryError: Something that the engines would read differently, or not at all.
    """
    found: list[Token] = []
    position = 0
    while position < len(cypher):
        match = _PATTERN.match(cypher, position)
        if match is None:
            raise _error(cypher, position, _unexpected(cypher, position))
        kind, text = match.lastgroup, match[0]
        end = match.end()
        if kind == "comment":
            end = _comment_end(cypher, position)
        elif kind != "space":
            found.append(_token(cypher, position, kind, text))
            _check_neighbours(cypher, found, end)
        position = end
    return found


def without_comments(cypher: str) -> str:
    """The query with spaces for comments, so that positions stay and no engine reads them.

    Args:
        cypher: A query that :func:`tokens` accepts.
    """
    parts: list[str] = []
    position = 0
    while position < len(cypher):
        match = _PATTERN.match(cypher, position)
        if match is None:
            break
        end = match.end()
        if match.lastgroup == "comment":
            end = _comment_end(cypher, position)
            parts.append(re.sub(r"[^\n]", " ", cypher[position:end]))
        else:
            parts.append(match[0])
        position = end
    return "".join(parts)


def parameter_names(found: Sequence[Token]) -> list[str]:
    """The parameters that a query uses, in order, each once.

    Args:
        found: All tokens.
    """
    names = [
        token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        for before, token in itertools.pairwise(found)
        if before.text == "$" and token.kind in ("word", "quoted", "number")
    ]
    return list(dict.fromkeys(names))


def is_name(found: Sequence[Token], position: int) -> bool:
    """Whether a word can only be a name: of a property, label, type, key, parameter, alias.

    Args:
        found: All tokens.
        position: Of a word or quoted name.
    """
    before = found[position - 1] if position else None
    if before is None:
        return False
    following = found[position + 1] if position + 1 < len(found) else None
    if before.kind == "symbol":
        if before.text in (".", ":", "|", "&", "!", "$"):
            return True
        return (
            following is not None
            and following.text == ":"
            and before.text in ("{", ",", "(", "[")
        )
    return (
        before.kind == "word"
        and before.key == "AS"
        and ends_expression(found, position - 2)
        and (
            following is None
            or following.text in (",", "}", ")")
            or (following.kind == "word" and following.key in _CLAUSES)
        )
    )


def ends_expression(found: Sequence[Token], position: int) -> bool:
    """Whether an expression can end here, so that no name can follow it.

    Args:
        found: All tokens.
        position: Of the token that would be its last; below 0 there is none.
    """
    if position < 0:
        return False
    token = found[position]
    if token.kind == "symbol":
        return token.text in (")", "]", "}", "*")
    if token.kind == "word" and token.key in _BEFORE_EXPRESSION:
        return is_name(found, position)
    return True


def _token(cypher: str, position: int, kind: str | None, text: str) -> Token:
    if kind == "word":
        return Token("word", text, _key(text), position)
    if kind == "quoted":
        if "\\" in text:
            raise _error(cypher, position, "a name in backticks cannot hold a backslash")
        return Token("quoted", text, _key(text[1:-1].replace("``", "`")), position)
    if kind == "text":
        _check_escapes(cypher, position, text)
        return Token("text", text, "", position)
    if kind == "number":
        return Token("number", text, "", position)
    return Token("symbol", text, text, position)


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", name).upper()


def _comment_end(cypher: str, position: int) -> int:
    match = _COMMENT.match(cypher, position)
    if match is None:
        raise _error(cypher, position, "a comment is not closed")
    escape = match[0].find("\\u")
    if escape >= 0:
        raise _error(
            cypher, position + escape, "\\u in a comment: Neo4j reads it as a character"
        )
    return match.end()


def _check_escapes(cypher: str, position: int, text: str) -> None:
    for match in _ESCAPE.finditer(text, 1, len(text) - 1):
        escape = match[1]
        place = position + match.start()
        if len(escape) == 5:
            character = chr(int(escape[1:], 16))
            if character in "'\"`\\" or not character.isprintable():
                raise _error(
                    cypher,
                    place,
                    f"\\{escape} stands for a quote, a backslash or an invisible character: "
                    "give such a text as a parameter",
                )
        elif escape not in _PLAIN_ESCAPES:
            raise _error(
                cypher,
                place,
                f"\\{escape} means something else to each engine: write \\\\ for a "
                "backslash, or give the text as a parameter",
            )


def _check_neighbours(cypher: str, found: list[Token], end: int) -> None:
    """Refuses tokens that touch where the engines cut at different places."""
    token = found[-1]
    following = cypher[end : end + 1]
    if token.kind == "number" and (following == "_" or following.isalnum()):
        raise _error(
            cypher,
            token.start,
            f"the number {token.text} runs into a word: put a space after it",
        )
    before = found[-2] if len(found) > 1 else None
    if before is None:
        return
    touching = before.start + len(before.text) == token.start
    if token.text == "." and before.kind == "number":
        raise _error(cypher, token.start, "a number ends in a point: write 1.0 instead of 1.")
    if token.text == "$" and touching and before.kind in ("word", "number", "quoted"):
        raise _error(
            cypher, token.start, "$ runs into what stands before it: put a space there"
        )
    if before.kind == "quoted" == token.kind and touching:
        raise _error(cypher, token.start, "two names in backticks touch: put a space between")


def _unexpected(cypher: str, position: int) -> str:
    character = cypher[position]
    if character in "'\"":
        return "a text is not closed"
    if character == "`":
        return "a name in backticks is not closed"
    if character == "\\":
        return "a backslash stands outside of a text: write the character itself"
    if character == "\r":
        return "a carriage return without a line feed: the engines end a comment differently"
    if character.isprintable() and not character.isspace():
        return f"the character {character} has no place in Cypher"
    return f"an invisible character (U+{ord(character):04X}): write a plain space"


def _error(cypher: str, position: int, reason: str) -> QueryError:
    line = cypher.count("\n", 0, position) + 1
    column = position - cypher.rfind("\n", 0, position)
    return QueryError(f"line {line}, column {column} of the query: {reason}")
