"""Questions to four small tables that must be joined."""

from collections.abc import Callable
from typing import Any

from teams import tools
from teams.task import (
    Slip,
    Step,
    Task,
    Values,
    Verdict,
    listed,
    lookup,
    name_check,
    number_check,
    show,
)

ORDER, CITY, COUNTRY = "O-204", "Porto", "Norway"


def _task(
    name: str,
    question: str,
    tables: tuple[str, ...],
    givens: dict[str, Any],
    steps: tuple[Step, ...],
    check: Callable[[str], Verdict],
) -> Task:
    shown = " ".join(tools.as_text(table) for table in tables)
    return Task(
        name=name,
        family="table",
        question=f"{question} The tables are: {shown}",
        givens=givens,
        steps=steps,
        answer=lambda values: show(values[steps[-1].key]),
        check=check,
    )


def _column(rows: tuple[tools.Row, ...], place: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[place] for row in rows))


def _lines(rows: tuple[tools.Row, ...]) -> str:
    return listed([f"{count} x {product}" for product, count in rows])


def _pairs(unit: str) -> Callable[[Values, Any], str]:
    def say(_: Values, rows: Any) -> str:
        return f"The products table gives {listed([f'{a} {b} {unit}' for a, b in rows])}."

    return say


def _summed(lines: str, facts: str, skip: int = 0) -> Callable[[Values], Any]:
    """Count times fact, summed over lines; products that nobody found are left out."""

    def compute(values: Values) -> Any:
        each = dict(values[facts])
        rows = values[lines]
        return sum(each.get(row[0], 0) * row[-1] for row in rows[: len(rows) - skip])

    return compute


def _unweighted(lines: str, facts: str) -> Callable[[Values], Any]:
    def compute(values: Values) -> Any:
        each = dict(values[facts])
        return sum(each.get(row[0], 0) for row in values[lines])

    return compute


def _sum_step(
    key: str, title: str, lines: str, facts: str, say: Callable[[Values, Any], str]
) -> Step:
    return Step(
        key=key,
        title=title,
        skill="arithmetic",
        needs=(lines, facts),
        compute=_summed(lines, facts),
        say=say,
        slips=(
            Slip("leaves the last line out", _summed(lines, facts, skip=1)),
            Slip("forgets how many of each were ordered", _unweighted(lines, facts)),
        ),
        writes=("ledger",),
    )


def _products_of(lines: str, column: str) -> Callable[[Values], tools.Query]:
    return lambda values: tools.Query(
        "products", ("product", column), "product", _column(values[lines], 0)
    )


ORDER_VALUE = _task(
    "order-value",
    f"What is the price in euros of everything in order {ORDER}?",
    ("products", "orders"),
    {"order": ORDER},
    (
        lookup(
            "lines",
            "Find the lines of the order",
            ("order",),
            lambda values: tools.Query(
                "orders", ("product", "count"), "order", (values["order"],)
            ),
            lambda values, rows: f"Order {values['order']} holds {_lines(rows)}.",
        ),
        lookup(
            "prices",
            "Find the prices of these products",
            ("lines",),
            _products_of("lines", "price"),
            _pairs("euros"),
        ),
        _sum_step(
            "total",
            "Multiply and add",
            "lines",
            "prices",
            lambda _, result: f"Price times count, added up, makes {show(result)} euros.",
        ),
    ),
    number_check("239"),
)

CITY_WEIGHT = _task(
    "city-weight",
    f"How many grams go to customers in {CITY}?",
    ("products", "orders", "customers"),
    {"city": CITY},
    (
        lookup(
            "people",
            "Find the customers in the city",
            ("city",),
            lambda values: tools.Query("customers", ("customer",), "city", (values["city"],)),
            lambda values, rows: f"In {values['city']} live {listed(_column(rows, 0))}.",
        ),
        lookup(
            "lines",
            "Find what these customers ordered",
            ("people",),
            lambda values: tools.Query(
                "orders", ("product", "count"), "customer", _column(values["people"], 0)
            ),
            lambda _, rows: f"They ordered {_lines(rows)}.",
        ),
        lookup(
            "weights",
            "Find the weights of these products",
            ("lines",),
            _products_of("lines", "grams"),
            _pairs("grams"),
        ),
        _sum_step(
            "total",
            "Multiply and add",
            "lines",
            "weights",
            lambda _, result: f"Weight times count, added up, makes {show(result)} grams.",
        ),
    ),
    number_check("24400"),
)


def _spent(values: Values) -> tuple[tools.Row, ...]:
    prices = dict(values["prices"])
    spent: dict[str, int] = {}
    for customer, product, count in values["lines"]:
        spent[customer] = spent.get(customer, 0) + prices.get(product, 0) * count
    return tuple(spent.items())


def _last_line_only(values: Values) -> tuple[tools.Row, ...]:
    prices = dict(values["prices"])
    lines = values["lines"]
    return tuple(
        {customer: prices.get(product, 0) * count for customer, product, count in lines}.items()
    )


def _largest(values: Values) -> str:
    return max(values["spent"], key=lambda row: row[1], default=("nothing", 0))[0]


def _most_lines(values: Values) -> str:
    names = [row[0] for row in values["lines"]]
    return max(dict.fromkeys(names), key=names.count, default="nothing")


BEST_CUSTOMER = _task(
    "best-customer",
    "Which customer spent the most money over all orders?",
    ("products", "orders"),
    {},
    (
        lookup(
            "lines",
            "Read all lines of all orders",
            (),
            lambda _: tools.Query("orders", ("customer", "product", "count")),
            lambda _, rows: f"There are {len(rows)} order lines.",
            group="Look it up",
        ),
        lookup(
            "prices",
            "Read all prices",
            (),
            lambda _: tools.Query("products", ("product", "price")),
            _pairs("euros"),
            group="Look it up",
        ),
        Step(
            key="spent",
            title="Add up the spending of each customer",
            skill="arithmetic",
            needs=("lines", "prices"),
            compute=_spent,
            say=lambda _, rows: (
                f"Spending in euros: {listed([f'{name} {amount}' for name, amount in rows])}."
            ),
            slips=(Slip("keeps only the last line of each customer", _last_line_only),),
            makes="rows",
            writes=("ledger",),
            difficulty=1.6,
        ),
        Step(
            key="best",
            title="Name the customer with the largest sum",
            skill="reading",
            needs=("spent", "lines"),
            compute=_largest,
            say=lambda _, name: f"The largest sum belongs to {name}.",
            slips=(Slip("counts order lines instead of money", _most_lines),),
            makes="name",
            writes=("ledger",),
            group="Result",
        ),
    ),
    name_check("Emil", tuple(row[0] for row in tools.TABLE_ROWS["customers"])),
)

COUNTRY_BUYERS = _task(
    "country-buyers",
    f"How many different customers bought something from a supplier in {COUNTRY}?",
    ("suppliers", "products", "orders"),
    {"country": COUNTRY},
    (
        lookup(
            "makers",
            "Find the suppliers in the country",
            ("country",),
            lambda values: tools.Query(
                "suppliers", ("supplier",), "country", (values["country"],)
            ),
            lambda values, rows: f"{values['country']} has {listed(_column(rows, 0))}.",
        ),
        lookup(
            "goods",
            "Find the products of these suppliers",
            ("makers",),
            lambda values: tools.Query(
                "products", ("product",), "supplier", _column(values["makers"], 0)
            ),
            lambda _, rows: f"They make {listed(_column(rows, 0))}.",
        ),
        lookup(
            "buyers",
            "Find the order lines with these products",
            ("goods",),
            lambda values: tools.Query(
                "orders", ("customer",), "product", _column(values["goods"], 0)
            ),
            lambda _, rows: f"These order lines belong to {listed([r[0] for r in rows])}.",
        ),
        Step(
            key="count",
            title="Count each customer once",
            skill="reading",
            needs=("buyers",),
            compute=lambda values: len(_column(values["buyers"], 0)),
            say=lambda _, result: f"That makes {result} different customers.",
            slips=(
                Slip("counts order lines, not customers", lambda values: len(values["buyers"])),
            ),
            difficulty=1.3,
            group="Result",
        ),
    ),
    number_check("4"),
)

TASKS = (ORDER_VALUE, CITY_WEIGHT, BEST_CUSTOMER, COUNTRY_BUYERS)
