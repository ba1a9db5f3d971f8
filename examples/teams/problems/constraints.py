"""Puzzles of constraints with exactly one solution."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

from teams.task import Slip, Step, Task, Values, Verdict, number_check, share_kept

Order = tuple[str, ...]
Rule = Callable[[Order], bool]


def _order_puzzle(
    name: str, intro: str, members: Order, rules: tuple[tuple[str, Rule], ...], places: int
) -> Task:
    """A puzzle whose answer is one order of the members.

    Args:
        name: The task's name.
        intro: The first sentences of the question.
        members: Who is to be ordered.
        rules: Text and rule; the first ``places`` speak of single places, the others of pairs.
        places: See above.
    """
    alone, paired = rules[:places], rules[places:]

    def keeping(kept: tuple[tuple[str, Rule], ...], orders: tuple[Order, ...]) -> Any:
        return tuple(order for order in orders if all(rule(order) for _, rule in kept))

    def overlooking(kept: tuple[tuple[str, Rule], ...], orders: Callable[[Values], Any]) -> Any:
        """A slip for each rule that somebody may overlook."""

        def without(position: int) -> Slip:
            others = kept[:position] + kept[position + 1 :]
            return Slip(
                f"overlooks a rule: {kept[position][0].removesuffix('.')}",
                lambda values: keeping(others, orders(values)),
            )

        return tuple(without(position) for position in range(len(kept)))

    def one_of(orders: tuple[Order, ...]) -> str:
        return "-".join(orders[-1]) if orders else "no order"

    def check(text: str) -> Verdict:
        order = tuple(text.strip().split("-"))
        if sorted(order) != sorted(members):
            return Verdict(valid=False, score=0.0)
        return Verdict(valid=True, score=share_kept(tuple(rule for _, rule in rules), order))

    every = tuple(permutations(members))
    return Task(
        name=name,
        family="constraint",
        question=(
            f"{intro} {' '.join(text for text, _ in rules)} "
            f"In which order do they come? Answer like {'-'.join(members)}."
        ),
        givens={"members": members},
        steps=(
            Step(
                key="possible",
                title="List the orders that keep the rules about single places",
                skill="logic",
                needs=("members",),
                compute=lambda _: keeping(alone, every),
                say=lambda _, left: (
                    f"Of {len(every)} orders, {len(left)} keep the rules about single places."
                ),
                slips=overlooking(alone, lambda _: every),
                group="Narrow down",
                makes="orders",
                writes=("list of orders",),
            ),
            Step(
                key="fitting",
                title="Keep those that fit the rules about two people",
                skill="logic",
                needs=("possible",),
                compute=lambda v: keeping(paired, v["possible"]),
                say=lambda _, left: (
                    f"Of these, {len(left)} also keep the rules about two people."
                ),
                slips=overlooking(paired, lambda v: v["possible"]),
                group="Narrow down",
                makes="orders",
                writes=("list of orders",),
                difficulty=1.6,
            ),
            Step(
                key="order",
                title="Write down the order that is left",
                skill="reading",
                needs=("fitting",),
                compute=lambda v: one_of(v["fitting"]),
                say=lambda _, order: f"What is left is {order}.",
                slips=(
                    Slip(
                        "reads the order from the wrong end",
                        lambda v: one_of(tuple(order[::-1] for order in v["fitting"])),
                    ),
                ),
                group="Result",
                makes="order",
            ),
        ),
        answer=lambda values: str(values["order"]),
        check=check,
    )


SEATS = _order_puzzle(
    "seating-row",
    "Ada, Ben, Cleo, Dan and Eve sit in a row of five seats.",
    ("Ada", "Ben", "Cleo", "Dan", "Eve"),
    (
        ("Cleo sits in the middle.", lambda o: o[2] == "Cleo"),
        ("Eve does not sit at an end.", lambda o: o.index("Eve") in (1, 2, 3)),
        ("Ada sits somewhere to the left of Ben.", lambda o: o.index("Ada") < o.index("Ben")),
        ("Dan sits next to Eve.", lambda o: abs(o.index("Dan") - o.index("Eve")) == 1),
        ("Eve sits to the right of Cleo.", lambda o: o.index("Eve") > o.index("Cleo")),
    ),
    places=2,
)

SHIFTS = _order_puzzle(
    "nurse-shifts",
    "Four nurses, Kim, Lou, Max and Nia, take one shift each: morning, noon, evening, night.",
    ("Kim", "Lou", "Max", "Nia"),
    (
        ("Kim does not take the night.", lambda o: o[3] != "Kim"),
        ("Max takes the morning or the noon.", lambda o: o.index("Max") < 2),
        ("Nia works right after Kim.", lambda o: o.index("Nia") == o.index("Kim") + 1),
        ("Lou works before Max.", lambda o: o.index("Lou") < o.index("Max")),
    ),
    places=2,
)


def _digits(number: int) -> int:
    return sum(int(digit) for digit in str(number))


LOCK = Task(
    name="lock-number",
    family="constraint",
    question=(
        "The number of a lock has three digits and can be divided by 7. Its digits add up to "
        "12 and its middle digit is odd. What is the smallest such number?"
    ),
    givens={"divisor": 7, "digit_sum": 12},
    steps=(
        Step(
            key="multiples",
            title="List the three-digit multiples",
            skill="arithmetic",
            needs=("divisor",),
            compute=lambda v: tuple(n for n in range(100, 1000) if n % v["divisor"] == 0),
            say=lambda v, found: (
                f"{len(found)} numbers of three digits can be divided by {v['divisor']}, "
                f"from {found[0]} on."
            ),
            slips=(
                Slip(
                    "starts counting at 107",
                    lambda v: tuple(range(107, 1000, v["divisor"])),
                ),
            ),
            group="Narrow down",
            makes="numbers",
            writes=("list of numbers",),
        ),
        Step(
            key="summing",
            title="Keep those with the right sum of digits",
            skill="logic",
            needs=("multiples", "digit_sum"),
            compute=lambda v: tuple(n for n in v["multiples"] if _digits(n) == v["digit_sum"]),
            say=lambda v, found: (
                f"{len(found)} of them have digits that add up to {v['digit_sum']}."
            ),
            slips=(
                Slip(
                    "lets a sum of eleven pass",
                    lambda v: tuple(
                        n for n in v["multiples"] if v["digit_sum"] - _digits(n) in (0, 1)
                    ),
                ),
            ),
            group="Narrow down",
            makes="numbers",
            writes=("list of numbers",),
            difficulty=1.3,
        ),
        Step(
            key="smallest",
            title="Take the smallest with an odd middle digit",
            skill="logic",
            needs=("summing",),
            compute=lambda v: next((n for n in v["summing"] if n // 10 % 2 == 1), 0),
            say=lambda _, number: f"The smallest that is left is {number}.",
            slips=(
                Slip("forgets the middle digit", lambda v: next(iter(v["summing"]), 0)),
                Slip(
                    "takes an even middle digit",
                    lambda v: next((n for n in v["summing"] if n // 10 % 2 == 0), 0),
                ),
            ),
            group="Result",
        ),
    ),
    answer=lambda values: str(values["smallest"]),
    check=number_check("273"),
)

TASKS = (SEATS, SHIFTS, LOCK)
