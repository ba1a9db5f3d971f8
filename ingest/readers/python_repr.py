"""Reads what Python's ``repr`` wrote, without running anything.

``TaskResult(messages=[TextMessage(source='user', ...)])`` becomes an object with the class's
name under ``type`` and its arguments as members, unless it has a ``type`` of its own. The
text is parsed to a syntax tree and only constants, lists, dictionaries and calls with
keywords are looked at; nothing is evaluated.
"""

import ast
import re
import warnings
from datetime import UTC, datetime, timedelta, timezone
from keyword import iskeyword
from math import isfinite
from typing import Any

from graphstore.errors import InputError

_OBJECT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|<[^<>'"\n]*>""", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

# What most lists of tool calls are, [FunctionCall(id='1', arguments='{}', name='look')]: all
# arguments have names and are constants, and no text has an odd character or escape.
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_ODD = r"\\\n\r\0\ud800-\udfff"
_TEXT = "|".join(
    rf"{mark}[^{mark}{_ODD}]*(?:\\[\\'\"nrt][^{mark}{_ODD}]*)*{mark}" for mark in ("'", '"')
)
_LITERAL = re.compile(_TEXT)
_CONSTANT = f"{_TEXT}|None|True|False"
_CALL = rf"{_NAME}\({_NAME}=(?:{_CONSTANT})(?:, {_NAME}=(?:{_CONSTANT}))*\)"
_CALLS = re.compile(rf"\[{_CALL}(?:, {_CALL})*\]")
_PARTS = re.compile(rf"({_NAME})(?:\(|=({_CONSTANT}))")
_QUOTES = "'\""
_CONSTANTS = {"None": None, "True": True, "False": False}
_ESCAPE = re.compile(r"\\.")
_ESCAPES = {
    r"\n": "\n",
    r"\r": "\r",
    r"\t": "\t",
    r"\\": "\\",
    r"\'": "'",
    r"\"": '"',
}


def parse_repr(text: str) -> Any:
    """The value that a ``repr`` shows, as JSON values.

    Times become ISO 8601 text; a thing that shows as ``<...>``, and anything else that is
    no plain value, becomes its own text.

    Args:
        text: One expression.

    Raises:
        InputError: It is none.
    """
    if (calls := _plain_calls(text)) is not None:
        return calls
    try:
        tree = _tree(text)
        return _value(tree.body)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        raise InputError(
            f"the text is no complete Python value (line {line}, column {column})"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError("the text is no Python value that can be read") from error


def plain_literal(text: str) -> str | None:
    """What the literal of a text says: what stands between its quotes, without escapes.

    Args:
        text: One expression.

    Returns:
        None where it is no such literal, or holds an odd character or escape.
    """
    return _unescaped(text[1:-1]) if _LITERAL.fullmatch(text) else None


def _unescaped(inside: str) -> str:
    if "\\" not in inside:
        return inside
    return _ESCAPE.sub(lambda shown: _ESCAPES[shown[0]], inside)


def _plain_calls(text: str) -> list[dict[str, Any]] | None:
    """A list of calls that holds nothing unusual, as the syntax tree would give it.

    Returns:
        None where only the syntax tree can tell.
    """
    if _CALLS.fullmatch(text) is None:
        return None
    calls: list[dict[str, Any]] = []
    names: list[str] = []
    call: dict[str, Any] = {}
    for name, constant in _PARTS.findall(text):
        if iskeyword(name):
            return None
        if not constant:
            names.append(name)
            call = {}
            calls.append(call)
        elif constant[0] not in _QUOTES:
            call[name] = _CONSTANTS[constant]
        else:
            call[name] = _unescaped(constant[1:-1])
    for name, call in zip(names, calls, strict=True):
        call.setdefault("type", name)
    return calls


def _tree(text: str) -> ast.Expression:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # odd escapes are no concern of the reader's user
        try:
            return ast.parse(text, mode="eval")
        except SyntaxError:
            shown = _OBJECT.sub(lambda m: repr(m[0]) if m[0][0] == "<" else m[0], text)
            if shown == text:
                raise
            return ast.parse(shown, mode="eval")


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.Call):
        return _call(node)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {
            _key(key): _value(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = _value(node.operand)
        if isinstance(operand, int | float) and not isinstance(operand, bool):
            return -operand
    return _clean(ast.unparse(node))


def _constant(value: Any) -> Any:
    if type(value) is str:
        return _clean(value)
    if value is None or isinstance(value, int):
        return value
    return value if isinstance(value, float) and isfinite(value) else repr(value)


def _key(node: ast.expr) -> str:
    value = _value(node)
    return value if isinstance(value, str) else repr(value)


def _clean(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _call(node: ast.Call) -> Any:
    name = _name(node.func)
    if name == "datetime" and node.args:
        time = _time(node)
        if time is not None:
            return time
    members = {word.arg: _value(word.value) for word in node.keywords if word.arg is not None}
    if node.args:
        members["arguments"] = [_value(argument) for argument in node.args]
    members.setdefault("type", name)
    return members


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript):
        return f"{_name(node.value)}[{_name(node.slice)}]"
    return ast.unparse(node)


def _time(node: ast.Call) -> str | None:
    numbers = [_value(argument) for argument in node.args]
    if not 3 <= len(numbers) <= 7 or not all(isinstance(n, int) for n in numbers):
        return None
    year, month, day, hour, minute, second, micro = [*numbers, 0, 0, 0, 0][:7]
    zone = next((word.value for word in node.keywords if word.arg == "tzinfo"), None)
    try:
        time = datetime(year, month, day, hour, minute, second, micro, tzinfo=_zone(zone))
        return time.isoformat()
    except (ValueError, TypeError, OverflowError):
        return None


def _zone(node: ast.expr | None) -> timezone | None:
    """``datetime.timezone.utc``, ``TzInfo(UTC)``, ``TzInfo(0)``, or a zone with an offset."""
    if node is None:
        return None
    if isinstance(node, ast.Attribute) and node.attr == "utc":
        return UTC
    if isinstance(node, ast.Call) and _name(node.func) in ("TzInfo", "timezone") and node.args:
        argument = node.args[0]
        if isinstance(argument, ast.Name) and argument.id == "UTC":
            return UTC
        seconds = _value(argument)
        if isinstance(argument, ast.Call):
            words = {word.arg: _value(word.value) for word in argument.keywords}
            seconds = words.get("seconds", 0) + 86_400 * words.get("days", 0)
        if isinstance(seconds, int):
            return timezone(timedelta(seconds=seconds))
    return None
