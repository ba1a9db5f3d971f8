"""The two tools: a calculator and a table look-up. Both really work."""

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

CALCULATOR = "calculator"
TABLES = "table_lookup"

Row = tuple[Any, ...]

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[[Any], int]] = {"ceil": math.ceil, "floor": math.floor}


def calculate(expression: str) -> Fraction:
    """Evaluates an expression exactly: numbers, ``+ - * / // %``, ``ceil``, ``floor``.

    Raises:
        ValueError: It holds something else, or divides by zero.
    """
    try:
        return Fraction(_evaluate(ast.parse(expression, mode="eval").body, expression))
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"the calculator cannot work out {expression!r}: {error}") from None


def _evaluate(node: ast.expr, expression: str) -> Any:
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number)
        case ast.Constant(value=float()):
            # The digits as written: 6.5 is 13/2, whatever a float would make of it.
            return Fraction(ast.get_source_segment(expression, node) or "0")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, expression)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](
                _evaluate(left, expression), _evaluate(right, expression)
            )
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_evaluate(argument, expression))
    raise ValueError(f"the calculator does not know {ast.dump(node)}")


COLUMNS: dict[str, tuple[str, ...]] = {
    "products": ("product", "price", "grams", "supplier"),
    "orders": ("order", "customer", "product", "count"),
    "customers": ("customer", "city"),
    "suppliers": ("supplier", "country"),
}
TABLE_ROWS: dict[str, tuple[Row, ...]] = {
    "products": (
        ("lamp", 34, 1200, "Nordlys"),
        ("chair", 58, 4500, "Carpinteria"),
        ("kettle", 27, 900, "Fjellvik"),
        ("blanket", 41, 1500, "Nordlys"),
        ("vase", 19, 1100, "Olaria"),
        ("clock", 23, 400, "Fjellvik"),
        ("mirror", 66, 5200, "Olaria"),
    ),
    "orders": (
        ("O-201", "Abel", "lamp", 2),
        ("O-201", "Abel", "vase", 3),
        ("O-202", "Britta", "chair", 4),
        ("O-203", "Chen", "kettle", 5),
        ("O-203", "Chen", "mirror", 1),
        ("O-204", "Dalia", "blanket", 2),
        ("O-204", "Dalia", "clock", 6),
        ("O-204", "Dalia", "vase", 1),
        ("O-205", "Abel", "chair", 2),
        ("O-206", "Emil", "mirror", 3),
        ("O-207", "Farah", "vase", 4),
        ("O-207", "Farah", "chair", 1),
        ("O-208", "Emil", "clock", 2),
    ),
    "customers": (
        ("Abel", "Porto"),
        ("Britta", "Bergen"),
        ("Chen", "Porto"),
        ("Dalia", "Lyon"),
        ("Emil", "Bergen"),
        ("Farah", "Lyon"),
    ),
    "suppliers": (
        ("Nordlys", "Norway"),
        ("Carpinteria", "Portugal"),
        ("Fjellvik", "Norway"),
        ("Olaria", "Portugal"),
    ),
}


@dataclass(frozen=True)
class Query:
    """Rows of a table whose column holds one of the wanted values; all rows where it is None.

    Attributes:
        table: The table.
        select: The columns to give back.
        column: The column to filter by.
        wanted: The values to keep.
    """

    table: str
    select: tuple[str, ...]
    column: str | None = None
    wanted: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = "" if self.column is None else f" where {self.column} is "
        return f"{', '.join(self.select)} of {self.table}{where}{' or '.join(self.wanted)}"


def look_up(query: Query) -> tuple[Row, ...]:
    """The rows that a query asks for, in the table's order."""
    columns = COLUMNS[query.table]
    places = [columns.index(name) for name in query.select]
    key = None if query.column is None else columns.index(query.column)
    return tuple(
        tuple(row[place] for place in places)
        for row in TABLE_ROWS[query.table]
        if key is None or row[key] in query.wanted
    )


def as_text(table: str) -> str:
    """A table as a question shows it."""
    rows = "; ".join(" ".join(str(cell) for cell in row) for row in TABLE_ROWS[table])
    return f"{table} ({', '.join(COLUMNS[table])}): {rows}."
