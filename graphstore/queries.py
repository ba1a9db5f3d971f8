"""The saved queries: Cypher files with a header that says what they answer.

A file begins with comments, one fact a line, then holds one statement:

    // title: Tokens by role
    // question: Which roles read and write the most tokens?
    // parameter: method: string = null -- only runs of this method (its name)
    // parameter: run: string -- id of the run
    // column: role -- role of the action
    // key: role

A parameter has a type (``string``, ``integer``, ``float``, ``boolean``) and a default, JSON
or ``null`` for "no filter"; without one it must be given. Integers are counts: from 0 to
2,147,483,647, which is as far as both engines cut texts.
The key names the columns that no two rows share: the order of the rows ends in them, so
that both stores give the same rows in the same order.
"""

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal, get_args

import msgspec

from graphstore.errors import NotFoundError, UsageError

ParameterType = Literal["string", "integer", "float", "boolean"]
ParameterValue = str | int | float | bool | None

PARAMETER_TYPES: tuple[str, ...] = get_args(ParameterType)

_HEADER = re.compile(r"//\s*(?P<field>\w+):\s*(?P<text>.*\S)\s*")
_PARAMETER = re.compile(
    r"(?P<name>\w+):\s*(?P<type>\w+)(?:\s*=\s*(?P<default>.*?))?\s+--\s+(?P<meaning>.+)"
)
_COLUMN = re.compile(r"(?P<name>\w+)\s+--\s+(?P<meaning>.+)")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_MAX_COUNT = 2**31 - 1


@dataclass(frozen=True)
class QueryParameter:
    """A parameter of a saved query.

    Attributes:
        name: As in Cypher, without the dollar sign.
        type: What its value must be.
        default: Its value where none is given. None, where ``required`` is false, means
            that it filters nothing.
        required: Whether it must be given.
        meaning: A phrase for people.
    """

    name: str
    type: ParameterType
    default: ParameterValue
    required: bool
    meaning: str


@dataclass(frozen=True)
class QueryColumn:
    """A column of a saved query's answer.

    Attributes:
        name: As the query returns it.
        meaning: A phrase for people, with unit and range.
    """

    name: str
    meaning: str


@dataclass(frozen=True)
class SavedQuery:
    """A query that is kept with the program. It runs unchanged on both stores.

    Attributes:
        name: The file's name.
        title: A heading.
        question: What somebody asks who needs it.
        parameters: In the order of the header.
        columns: In the order of the answer.
        key: The columns that together tell rows apart.
        cypher: The statement, without the header.
    """

    name: str
    title: str
    question: str
    parameters: tuple[QueryParameter, ...]
    columns: tuple[QueryColumn, ...]
    key: tuple[str, ...]
    cypher: str


def saved_queries() -> tuple[SavedQuery, ...]:
    """All saved queries, by name."""
    return tuple(_loaded().values())


def saved_query(name: str) -> SavedQuery:
    """The saved query of that name.

    Raises:
        NotFoundError: There is none; the sentence names the nearest ones.
    """
    queries = _loaded()
    try:
        return queries[name]
    except KeyError:
        near = difflib.get_close_matches(name, queries, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "--list shows all of them"
        raise NotFoundError(f"no saved query is called {name!r}: {hint}") from None


def parse_query(name: str, text: str) -> SavedQuery:
    """Reads the header of a saved query.

    Args:
        name: The file's name without its ending.
        text: The file's text.

    Raises:
        UsageError: The header lacks a part or has one that cannot be read.
    """
    single: dict[str, str] = {}
    parameters: list[QueryParameter] = []
    columns: list[QueryColumn] = []
    lines = text.splitlines()
    number = 0
    for number, line in enumerate(lines):
        if not line.startswith("//"):
            break
        match = _HEADER.fullmatch(line)
        field = match["field"] if match else ""
        where = f"the saved query {name}, line {number + 1}"
        if match is None:
            raise UsageError(f"{where}: a header line reads // field: text")
        if field == "parameter":
            parameters.append(_parameter(match["text"], where))
        elif field == "column":
            columns.append(_column(match["text"], where))
        elif field in ("title", "question", "key") and field not in single:
            single[field] = match["text"]
        else:
            raise UsageError(f"{where}: the field {field} is unknown or stands twice")
    missing = [field for field in ("title", "question", "key") if field not in single]
    if missing or not columns:
        raise UsageError(f"the saved query {name} lacks {' and '.join(missing or ['columns'])}")
    return SavedQuery(
        name=name,
        title=single["title"],
        question=single["question"],
        parameters=tuple(parameters),
        columns=tuple(columns),
        key=tuple(part.strip() for part in single["key"].split(",")),
        cypher="\n".join(lines[number:]).strip(),
    )


def bind(query: SavedQuery, given: Mapping[str, Any]) -> dict[str, ParameterValue]:
    """The parameters with which a query runs.

    Args:
        query: The saved query.
        given: Values by parameter name. Texts, as a command line has them, are converted
            to the parameter's type. None stands for a default of ``null``.

    Returns:
        A value for each parameter of the query.

    Raises:
        UsageError: A name is unknown, a value has the wrong type, or one that must be given
            is missing.
    """
    known = {parameter.name: parameter for parameter in query.parameters}
    for name in given:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise UsageError(f"{query.name} has no parameter {name}: {has}")
    bound: dict[str, ParameterValue] = {}
    for name, parameter in known.items():
        if name in given:
            bound[name] = _converted(query, parameter, given[name])
        elif parameter.required:
            raise UsageError(f"{query.name} needs the parameter {name}: {parameter.meaning}")
        else:
            bound[name] = parameter.default
    return bound


@cache
def _loaded() -> dict[str, SavedQuery]:
    folder = resources.files("graphstore") / "cypher"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".cypher")),
        key=lambda file: file.name.removesuffix(".cypher"),
    )
    queries = (
        parse_query(file.name.removesuffix(".cypher"), file.read_text(encoding="utf-8"))
        for file in files
    )
    return {query.name: query for query in queries}


def _parameter(text: str, where: str) -> QueryParameter:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise UsageError(f"{where}: a parameter reads name: type = default -- meaning")
    type_: Any = match["type"]
    if type_ not in PARAMETER_TYPES:
        raise UsageError(f"{where}: {type_} is none of {', '.join(PARAMETER_TYPES)}")
    required = match["default"] is None
    default = None
    if not required:
        try:
            default = msgspec.json.decode(match["default"])
        except msgspec.DecodeError as error:
            raise UsageError(f"{where}: the default is no JSON value") from error
        if default is not None and not _fits(type_, default):
            raise UsageError(f"{where}: the default is no {type_}")
    return QueryParameter(
        name=match["name"],
        type=type_,
        default=default,
        required=required,
        meaning=match["meaning"],
    )


def _column(text: str, where: str) -> QueryColumn:
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise UsageError(f"{where}: a column reads name -- meaning")
    return QueryColumn(name=match["name"], meaning=match["meaning"])


def _fits(type_: ParameterType, value: Any) -> bool:
    if type_ == "string":
        return isinstance(value, str)
    if type_ == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if type_ == "integer":
        return isinstance(value, int) and 0 <= value <= _MAX_COUNT
    return isinstance(value, int | float) and math.isfinite(value)


def _converted(query: SavedQuery, parameter: QueryParameter, value: Any) -> ParameterValue:
    if value is None and not parameter.required and parameter.default is None:
        return None
    converted = _from_text(parameter.type, value) if isinstance(value, str) else value
    if not _fits(parameter.type, converted):
        wanted = {
            "string": "a text",
            "integer": "a whole number, 0 or more",
            "float": "a number",
            "boolean": "true or false",
        }[parameter.type]
        raise UsageError(f"{query.name}: {parameter.name} takes {wanted}, not {value!r}")
    if parameter.type == "float":
        return float(converted)
    result: ParameterValue = converted
    return result


def _from_text(type_: ParameterType, text: str) -> Any:
    """A text of the command line as a value of the type; as it is where it is none."""
    plain = text.strip()
    if type_ == "integer" and len(plain) < 32 and _INTEGER.fullmatch(plain):
        return int(plain)
    if type_ == "boolean":
        return _BOOLEANS.get(plain.lower(), text)
    if type_ == "float":
        try:
            return float(plain)
        except ValueError:
            return text
    return text
