"""A simulated member of a team: it works a step out, and sometimes slips."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from teams.task import Slip, Step, Values, fill

FATIGUE = 0.985
"""What each step worked before leaves of a skill."""
TOOL_HELP = 0.5
"""The share of mistakes that is left to somebody who uses the step's tool."""


def source_of_chance(*parts: object) -> random.Random:
    """Random numbers that depend on the parts alone, and on no process or platform."""
    return random.Random("|".join(str(part) for part in parts))


@dataclass(frozen=True)
class Attempt:
    """A step, worked out.

    Attributes:
        step: The step.
        value: The result.
        slip: What went wrong, None where nothing did.
        chance: How likely the member was to get it right, from 0 to 1.
    """

    step: Step
    value: Any
    slip: Slip | None
    chance: float

    def said(self, values: Values) -> str:
        """The sentence that reports it; a wrong way shows in it, a slip of the pen does not."""
        say = self.step.say if self.slip is None else self.slip.say or self.step.say
        return say(values, self.value)

    def expression(self, values: Values) -> str | None:
        """What the calculator is asked, which a slip may have set up wrongly."""
        text = self.step.expression if self.slip is None else self.slip.expression
        return None if text is None else fill(text, values)


@dataclass
class Mind:
    """A member's skills, tools and source of chance.

    Attributes:
        name: The member's name.
        skills: Chance of getting an ordinary step right, from 0 to 1, by skill.
        chance: Its own random numbers.
        tools: The tools that it may call.
        worked: Steps worked so far: attention wears off.
    """

    name: str
    skills: Mapping[str, float]
    chance: random.Random
    tools: frozenset[str] = frozenset()
    worked: int = field(default=0)

    def happens(self, probability: float) -> bool:
        """Whether something of this probability happens now."""
        return self.chance.random() < probability

    def attempt(self, step: Step, values: Values, care: float = 0.0) -> Attempt:
        """Works a step out from the values at hand, which may be wrong already.

        Args:
            step: The step.
            values: Givens and earlier results, as this member knows them.
            care: The share of mistakes that a second, slower look avoids, from 0 to 1.
        """
        with_tool = step.tool in self.tools
        chance = self.skills.get(step.skill, 0.75) ** step.difficulty * FATIGUE**self.worked
        misses = (1 - chance) * (1 - care) * (TOOL_HELP if with_tool else 1.0)
        self.worked += 1
        if not self.happens(misses):
            return Attempt(step, step.compute(values), None, 1 - misses)
        slips = [slip for slip in step.slips if not (with_tool and slip.by_hand)]
        if not slips:
            return Attempt(step, step.compute(values), None, 1 - misses)
        slip = slips[int(self.chance.random() * len(slips))]
        value = slip.compute(values)
        # A wrong way that happens to give the right result is nobody's mistake.
        real = slip if value != step.compute(values) else None
        return Attempt(step, value, real, 1 - misses)

    def misread(self, givens: Values, probability: float) -> tuple[dict[str, Any], str | None]:
        """Copies the numbers of a question, now and then with its last two digits swapped.

        Returns:
            The copy, and the name of the given that was copied wrongly.
        """
        copied = dict(givens)
        swapped: dict[str, Fraction] = {}
        for name, value in copied.items():
            text = str(value) if isinstance(value, Fraction) else ""
            if text.isdecimal() and len(text) > 1 and text[-1] != text[-2]:
                swapped[name] = Fraction(text[:-2] + text[-1] + text[-2])
        if not swapped or not self.happens(probability):
            return copied, None
        name = list(swapped)[int(self.chance.random() * len(swapped))]
        copied[name] = swapped[name]
        return copied, name
