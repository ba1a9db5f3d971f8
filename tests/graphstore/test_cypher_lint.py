"""A lint over the saved queries: complete headers, one text for both engines, fixed order.

The rules are functions of a query's text, so that each is shown to catch what it is for.
"""

import re
from importlib import resources
from itertools import pairwise

import pytest

from graphstore import schema
from graphstore.dialect import one_engine_constructs
from graphstore.guard import check_read_only
from graphstore.lexer import Token, tokens
from graphstore.queries import SavedQuery, parse_query, saved_queries

CLAUSES = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "ORDER", "LIMIT", "WHERE", "SKIP"}
LABELS = set(schema.LABELS_BY_NAME)
TYPES = {relation.type for relation in schema.RELATIONS}
PROPERTIES = {
    item.name
    for holder in (*schema.LABELS, *schema.RELATIONS)
    for item in (
        holder.all_properties if isinstance(holder, schema.NodeLabel) else holder.properties
    )
}
FLOATS = {
    item.name for label in schema.LABELS for item in label.properties if item.type == "float"
}
# What a pattern comprehension finds has no order: here only its largest member is used.
MAY_COMPREHEND_PATTERNS = {"longest-chains", "subtasks-by-depth"}


def clauses(found: list[Token]) -> list[tuple[str, list[Token]]]:
    """The statement's clauses at its top level: first word and tokens."""
    cut: list[tuple[str, list[Token]]] = []
    depth = 0
    for position, token in enumerate(found):
        if token.text in ("(", "[", "{"):
            depth += 1
        elif token.text in (")", "]", "}"):
            depth -= 1
        named = position and found[position - 1].text in (".", ":", "$")
        if depth == 0 and token.kind == "word" and token.key in CLAUSES and not named:
            cut.append((token.key, [token]))
        elif cut:
            cut[-1][1].append(token)
    return cut


def items(found: list[Token]) -> list[list[Token]]:
    """The comma-separated items of a clause, without its first word."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found[1:]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def header_problems(query: SavedQuery):
    if not re.fullmatch(r"[a-z]+(-[a-z]+)*", query.name):
        yield "the name is not in small words with hyphens"
    if query.title.endswith(".") or not query.title[0].isupper():
        yield "the title is no heading"
    if not query.question.endswith("?") or not query.question[0].isupper():
        yield "the question is no question"
    for part in (*query.parameters, *query.columns):
        if part.meaning.endswith("."):
            yield f"the meaning of {part.name} is a phrase, without a full stop"
    names = [part.name for part in query.parameters]
    if len(set(names)) < len(names):
        yield "a parameter is declared twice"
    used = {
        after.text
        for token, after in zip(tokens(query.cypher), tokens(query.cypher)[1:], strict=False)
        if token.text == "$"
    }
    for name in sorted(used - set(names)):
        yield f"${name} is not declared"
    for name in sorted(set(names) - used):
        yield f"the parameter {name} is not used"


def column_problems(query: SavedQuery):
    cut = clauses(tokens(query.cypher))
    returned = [found for name, found in cut if name == "RETURN"]
    if len(returned) != 1 or cut[-1][0] not in ("ORDER", "LIMIT"):
        yield "the query does not end in one RETURN with its ORDER BY"
        return
    names = []
    for item in items(returned[0]):
        if len(item) > 1 and item[-2].key != "AS":
            yield f"the column {item[-1].text} has no name"
        names.append(item[-1].text)
    declared = [column.name for column in query.columns]
    if names != declared:
        yield f"the columns are {names}, declared are {declared}"


def order_problems(query: SavedQuery):
    # A SKIP takes its rows from an order as a LIMIT does, and stands before it.
    cut = clauses(tokens(query.cypher))
    for (before, _), (name, _) in pairwise(cut):
        if name == "SKIP" and before != "ORDER":
            yield "a SKIP without an ORDER BY"
    cut = [(name, found) for name, found in cut if name != "SKIP"]
    for (before, _), (name, _) in pairwise(cut):
        if name == "LIMIT" and before != "ORDER":
            yield "a LIMIT without an ORDER BY"
    orders = [found for name, found in cut if name == "ORDER"]
    last = items(orders[-1]) if orders and "ORDER" in (cut[-1][0], cut[-2][0]) else []
    sorted_by = {
        token.text for item in last for token in item if token.key not in ("BY", "DESC", "ASC")
    }
    columns = {column.name for column in query.columns}
    for name in query.key:
        if name not in columns:
            yield f"the key {name} is no column"
        if name not in sorted_by:
            yield f"the rows are not ordered by {name}, so that equal ones may swap"


def collection_problems(query: SavedQuery):
    """A list has the order of the rows that it is made of: they must have one."""
    ordered = False
    for name, found in clauses(tokens(query.cypher)):
        if name in ("WITH", "RETURN"):
            for position, token in enumerate(found):
                collects = token.key == "COLLECT" and found[position + 2].key != "DISTINCT"
                if collects and not ordered:
                    yield "collect of rows without an order"
            ordered = False
        elif name == "ORDER":
            ordered = True
        elif name in ("MATCH", "OPTIONAL", "UNWIND"):
            ordered = False
    if query.name not in MAY_COMPREHEND_PATTERNS and re.search(r"\[\(\w*\)", query.cypher):
        yield "a pattern comprehension has no order"


def number_problems(query: SavedQuery):
    found = tokens(query.cypher)
    for position, token in enumerate(found):
        after = [item.text for item in found[position + 1 : position + 6]]
        if token.key in ("AVG", "STDEV", "ROUND", "RAND") and after[:1] == ["("]:
            yield f"{token.text}: the engines differ in the last digits"
        if token.key == "SUM" and after[:1] == ["("] and FLOATS & set(after):
            yield "sum of floats: the order of adding shows"
        if token.text == "/" and found[position + 1].kind == "word":
            before = [item.key for item in found[max(0, position - 8) : position]]
            if "TOFLOAT" not in before and "REDUCE" not in [item.key for item in found]:
                yield "a division of integers gives an integer"


def name_problems(query: SavedQuery):
    """A misspelt name is no error in Cypher: it silently matches nothing."""
    found = tokens(query.cypher)
    opened: list[str] = []
    known_keys = PROPERTIES | {
        token.text
        for token, after in pairwise(found)
        if after.text == ":" and token.kind == "word"
    }
    for position, token in enumerate(found):
        before = found[position - 1].text if position else ""
        if token.text in ("(", "[", "{"):
            opened.append(token.text)
        elif token.text in (")", "]", "}"):
            opened.pop()
        elif before == ":" and token.kind == "word" and opened:
            known = {"(": LABELS, "[": TYPES}.get(opened[-1])
            if known is not None and token.text not in known:
                kind = "label" if opened[-1] == "(" else "relation"
                yield f"no {kind} is called {token.text}"
        elif before == "|" and opened[-1:] == ["["] and found[position - 2].text in TYPES:
            if token.text not in TYPES:
                yield f"no relation is called {token.text}"
        elif before == "." and token.kind == "word" and token.text not in known_keys:
            yield f"no property is called {token.text}"


def path_problems(query: SavedQuery):
    """Paths have a bound, and a small one: their number grows with the power of it."""
    found = tokens(query.cypher)
    for position, token in enumerate(found):
        if token.text != "*" or found[position - 1].text in ("(",):
            continue
        inside = "[" in [item.text for item in found[max(0, position - 4) : position]]
        if inside and not re.match(r"\*\s*\d+\s*\.\.\s*\d+", query.cypher[token.start :]):
            yield "a path without bounds"


def grouping_problems(query: SavedQuery):
    """One engine counted wrong where an OPTIONAL MATCH's own variable is a grouping key."""
    bound: set[str] = set()
    own: set[str] = set()
    before = ""
    for name, found in clauses(tokens(query.cypher)):
        if name == "MATCH":
            variables = {
                token.text
                for opener, token in pairwise(found)
                if opener.text in ("(", "[") and token.kind == "word"
            }
            bound |= own
            own = variables - bound if before == "OPTIONAL" else set()
            bound |= variables - own
        elif name in ("WITH", "RETURN"):
            parts = items(found)
            if any(token.key in ("COUNT", "SUM", "COLLECT") for token in found):
                for part in parts:
                    if len(part) == 1 and part[0].text in own:
                        yield f"{part[0].text} is a grouping key of its own OPTIONAL MATCH"
            bound, own = {part[-1].text for part in parts}, set()
        before = name


RULES = (
    header_problems,
    column_problems,
    order_problems,
    collection_problems,
    number_problems,
    name_problems,
    path_problems,
    grouping_problems,
)


@pytest.mark.parametrize("query", saved_queries(), ids=lambda query: query.name)
def test_saved_queries_keep_the_rules(query):
    check_read_only(query.cypher)
    assert one_engine_constructs(query.cypher) == []
    for rule in RULES:
        assert list(rule(query)) == [], rule.__name__


def test_every_file_is_a_query():
    folder = resources.files("graphstore") / "cypher"
    names = sorted(file.name.removesuffix(".cypher") for file in folder.iterdir())
    assert names == [query.name for query in saved_queries()]
    assert len(names) >= 24


def test_titles_and_questions_differ():
    for field in ("title", "question"):
        texts = [getattr(query, field) for query in saved_queries()]
        assert len(set(texts)) == len(texts)


GOOD = """// title: Roles
// question: Which roles?
// parameter: limit: integer = 5 -- rows at most
// column: role -- role of the action
// column: actions -- their number
// key: role

MATCH (a:Action)
WITH a.role AS role, count(*) AS actions
RETURN role, actions
ORDER BY actions DESC, role
LIMIT $limit
"""


def test_the_rules_pass_a_good_query():
    query = parse_query("good-one", GOOD)
    assert [problem for rule in RULES for problem in rule(query)] == []


@pytest.mark.parametrize(
    ("rule", "old", "new", "says"),
    [
        (header_problems, "Which roles?", "which roles?", "no question"),
        (header_problems, "title: Roles", "title: Roles.", "no heading"),
        (header_problems, "at most", "at most.", "without a full stop"),
        (header_problems, "// parameter: limit: integer = 5 -- rows at most\n", "", "$limit"),
        (header_problems, "$limit", "5", "limit is not used"),
        (column_problems, "RETURN role, actions", "RETURN actions, role", "declared are"),
        (column_problems, "RETURN role, actions", "RETURN role, actions + 1", "no name"),
        (column_problems, "ORDER BY actions DESC, role\nLIMIT $limit", "", "ORDER BY"),
        (order_problems, "ORDER BY actions DESC, role", "ORDER BY actions DESC", "may swap"),
        (order_problems, "ORDER BY actions DESC, role\n", "", "LIMIT without"),
        (order_problems, "ORDER BY actions DESC, role\n", "SKIP 1\n", "SKIP without"),
        (order_problems, "key: role", "key: name", "key name is no column"),
        (collection_problems, "count(*)", "collect(a.index)", "without an order"),
        (
            collection_problems,
            "count(*)",
            "size([(a)-[:INFORMS]->(b) | b.index])",
            "comprehension",
        ),
        (number_problems, "count(*)", "avg(a.tokens_in)", "last digits"),
        (number_problems, "(a:Action)", "(a:Run) WITH a, sum(a.score) AS s", "sum of floats"),
        (number_problems, "count(*)", "sum(a.index) / count(*)", "division of integers"),
        (name_problems, "a.role", "a.rolle", "no property is called rolle"),
        (name_problems, "(a:Action)", "(a:Actions)", "no label is called Actions"),
        (name_problems, "(a:Action)", "(a:Action)-[:INFORM]->(b:Action)", "called INFORM"),
        (name_problems, "(a:Action)", "(a)-[:READS|WRITE]->(b)", "called WRITE"),
        (path_problems, "(a:Action)", "(a:Action)-[:INFORMS*]->(b)", "without bounds"),
        (path_problems, "(a:Action)", "(a:Action)-[:INFORMS*2..]->(b)", "without bounds"),
        (
            grouping_problems,
            "WITH a.role AS role, count(*)",
            "OPTIONAL MATCH (a)-[:NEXT]->(b:Action)\nWITH b, b.role AS role, count(b)",
            "b is a grouping key",
        ),
    ],
)
def test_each_rule_catches_what_it_is_for(rule, old, new, says):
    assert old in GOOD
    query = parse_query("bad-one", GOOD.replace(old, new, 1))
    assert any(says in problem for problem in rule(query)), list(rule(query))
