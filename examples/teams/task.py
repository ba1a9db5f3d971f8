"""A problem as a plan of steps that can be done right, or wrong in a known way."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from teams import tools

DATASET = "masgraph-examples"

Values = Mapping[str, Any]
Compute = Callable[[Values], Any]
Say = Callable[[Values, Any], str]


@dataclass(frozen=True)
class Slip:
    """A real wrong way to do a step.

    Attributes:
        name: What goes wrong, as somebody who finds it would say: "forgets the wages".
        compute: The wrong computation.
        expression: The wrong expression, where the step has one.
        say: The sentence that reports it, where that differs from the step's.
        by_hand: It cannot happen to somebody who uses the step's tool.
    """

    name: str
    compute: Compute
    expression: str | None = None
    say: Say | None = None
    by_hand: bool = False


@dataclass(frozen=True)
class Step:
    """One step of a problem's plan.

    Attributes:
        key: The name of the value that it makes.
        title: What is to be done, as an instruction without a full stop.
        skill: ``arithmetic``, ``reading``, ``lookup``, ``search``, ``letters`` or ``logic``.
        needs: The values that it takes: givens of the task or keys of earlier steps.
        compute: The right computation.
        say: The sentence that reports a result.
        slips: What can go wrong.
        expression: What the calculator is asked, with ``{name}`` for values.
        query: What the table look-up is asked.
        group: The part of the plan that it belongs to.
        makes: The type of the value.
        reads: Shared things that it reads, beside its query's table.
        writes: Shared things that it changes.
        difficulty: The exponent on a skill: 2 asks the skill twice.
    """

    key: str
    title: str
    skill: str
    needs: tuple[str, ...]
    compute: Compute
    say: Say
    slips: tuple[Slip, ...]
    expression: str | None = None
    query: Callable[[Values], tools.Query] | None = None
    group: str = "Work it out"
    makes: str = "number"
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    difficulty: float = 1.0

    @property
    def tool(self) -> str | None:
        """The tool that does the step exactly, once it is asked the right thing."""
        if self.expression is not None:
            return tools.CALCULATOR
        return tools.TABLES if self.query is not None else None


@dataclass(frozen=True)
class Verdict:
    """What the checker says of an answer.

    Attributes:
        valid: It could be read as an answer.
        score: From 0 to 1; below 1 unless it is right.
    """

    valid: bool
    score: float

    @property
    def right(self) -> bool:
        return self.valid and self.score == 1.0


@dataclass(frozen=True)
class Task:
    """A problem whose answers can be checked.

    Attributes:
        name: Its key in the data set.
        family: The kind of problem.
        question: The text that a team gets.
        givens: The values that stand in the question.
        steps: The plan, each step after those it needs; the last one ends it.
        answer: The answer's text, from all values.
        check: Judges an answer's text by the problem's own rules.
    """

    name: str
    family: str
    question: str
    givens: Values
    steps: tuple[Step, ...]
    answer: Callable[[Values], str]
    check: Callable[[str], Verdict]

    def solve(self) -> dict[str, Any]:
        """All values of the plan, each step done right."""
        values = dict(self.givens)
        for step in self.steps:
            values[step.key] = step.compute(values)
        return values

    @property
    def expected(self) -> str:
        """The right answer."""
        return self.answer(self.solve())


def show(value: Any) -> str:
    """A value as people write it: ``72``, ``33.28``, ``lamp, chair``."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        # Written from the exact fraction, so that no platform's floats can differ.
        cents = round(abs(value) * 100)
        text = f"{cents // 100}.{cents % 100:02d}".rstrip("0").rstrip(".")
        return f"-{text}" if value < 0 else text
    if isinstance(value, tuple):
        return ", ".join(show(item) for item in value) or "nothing"
    return str(value)


def listed(items: tuple[str, ...] | list[str]) -> str:
    """Items in a sentence: ``a, b and c``."""
    if not items:
        return "nothing"
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def fill(expression: str, values: Values) -> str:
    """An expression with the values put in."""
    return expression.format_map({name: show(value) for name, value in values.items()})


def arithmetic(
    key: str,
    title: str,
    expression: str,
    sentence: str,
    *slips: tuple[str, str],
    group: str = "Work it out",
    writes: tuple[str, ...] = (),
    difficulty: float = 1.0,
) -> Step:
    """A step that is one expression.

    Args:
        key: The value's name.
        title: The instruction.
        expression: With ``{name}`` for values.
        sentence: With ``{working}`` and ``{result}``.
        slips: Name and wrong expression of each mistake in setting it up. A lost carry is
            added for people who calculate by hand.
        group: The part of the plan.
        writes: Shared things that it changes.
        difficulty: See :class:`Step`.
    """

    def evaluated(text: str) -> Compute:
        return lambda values: tools.calculate(fill(text, values))

    def lost_carry(values: Values) -> Any:
        right = tools.calculate(fill(expression, values))
        # A carry into the tens that was not added.
        return right - 10 if right >= 20 else right + 1

    def saying(text: str) -> Say:
        return lambda values, result: sentence.format(
            working=fill(text, values),
            result=show(result),
            **{name: show(value) for name, value in values.items()},
        )

    return Step(
        key=key,
        title=title,
        skill="arithmetic",
        needs=tuple(dict.fromkeys(re.findall(r"{(\w+)}", expression))),
        compute=evaluated(expression),
        say=saying(expression),
        slips=(
            *(
                Slip(name, evaluated(wrong), expression=wrong, say=saying(wrong))
                for name, wrong in slips
            ),
            Slip("loses a carry", lost_carry, by_hand=True),
        ),
        expression=expression,
        group=group,
        writes=writes,
        difficulty=difficulty,
    )


def lookup(
    key: str,
    title: str,
    needs: tuple[str, ...],
    query: Callable[[Values], tools.Query],
    sentence: Say,
    *slips: Slip,
    group: str = "Look it up",
) -> Step:
    """A step that reads rows of a table; by eye, a row can be missed."""

    def overlook_last(values: Values) -> Any:
        rows = tools.look_up(query(values))
        return rows[:-1] if len(rows) > 1 else rows

    def overlook_first(values: Values) -> Any:
        rows = tools.look_up(query(values))
        return rows[1:] if len(rows) > 1 else rows

    return Step(
        key=key,
        title=title,
        skill="lookup",
        needs=needs,
        compute=lambda values: tools.look_up(query(values)),
        say=sentence,
        slips=(
            Slip("overlooks the last row", overlook_last, by_hand=True),
            Slip("starts one row too late", overlook_first, by_hand=True),
            *slips,
        ),
        query=query,
        group=group,
        makes="rows",
    )


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def number_check(expected: str) -> Callable[[str], Verdict]:
    """A checker for one number: half a point at most for a wrong one, less the further off."""
    right = Fraction(expected)

    def check(text: str) -> Verdict:
        found = _NUMBER.fullmatch(text.strip())
        if found is None:
            return Verdict(valid=False, score=0.0)
        given = Fraction(found.group())
        if given == right:
            return Verdict(valid=True, score=1.0)
        off = abs(given - right) / abs(right)
        return Verdict(valid=True, score=round(float(max(Fraction(0), 1 - off) / 2), 3))

    return check


def text_check(expected: str) -> Callable[[str], Verdict]:
    """A checker for one word: the share of characters that stand in their place."""

    def check(text: str) -> Verdict:
        given = text.strip()
        if not given or given == "nothing":
            return Verdict(valid=False, score=0.0)
        if given == expected:
            return Verdict(valid=True, score=1.0)
        same = sum(one == other for one, other in zip(given, expected, strict=False))
        length = max(len(given), len(expected))
        return Verdict(valid=True, score=round(min(0.9, same / length), 3))

    return check


def name_check(expected: str, candidates: tuple[str, ...]) -> Callable[[str], Verdict]:
    """A checker for one name of a known list: right or wrong."""

    def check(text: str) -> Verdict:
        given = text.strip()
        return Verdict(valid=given in candidates, score=1.0 if given == expected else 0.0)

    return check


def share_kept(rules: tuple[Callable[[Any], bool], ...], given: Any) -> float:
    """The share of rules that hold."""
    return round(sum(rule(given) for rule in rules) / len(rules), 3)


def subsets(items: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All subsets, the small ones first, each in the order of the items."""
    return [chosen for size in range(len(items) + 1) for chosen in combinations(items, size)]
