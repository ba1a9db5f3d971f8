"""Wrong contents of a valid form, to be put in place of what agents wrote.

Source: OpenMAS-GCom, section 3.3 and appendix A.4: a share of the eligible upstream items is
replaced by format-valid but wrong candidates; appendix B.3: the eligible items, the selected
ones and the replacements are recorded. How a wrong candidate is made is left open there:

- an answer that the trace records as a proposal is replaced inside its text;
- else a text that is one value (a number, yes or no, an option's letter, JSON) gets another
  value of that form;
- else the last number in the text is changed;
- else the text of another eligible action takes its place.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from analytics.interventions import drawn, share_count
from analytics.interventions_corruption import eligible_actions, states
from graphstore.identity import normalize_content
from graphstore.model import CollaborationGraph

_NUMBER = re.compile(r"(?<![\w.,])[-+]?\d+(?:\.\d+)?(?!\w)")
_OPTION = re.compile(r"(\(?)([A-Ea-e])([).:]?)")
_EXACT_DIGITS = 14
"""Digits up to which a float tells a number from the next one."""
_OPPOSITES = {"yes": "no", "no": "yes", "true": "false", "false": "true"}


@dataclass(frozen=True, slots=True)
class Replacement:
    """One action's content, and what to put in its place.

    Attributes:
        node: Id of the action.
        index: Its position in the run.
        agent: Name of the agent who wrote it.
        original: The value that is replaced, in its text.
        injected: The wrong value.
        content: The whole text with the wrong value.
    """

    node: str
    index: int
    agent: str
    original: str
    injected: str
    content: str


@dataclass(frozen=True, slots=True)
class ReplacementPlan:
    """What an information intervention replaces in a run.

    Attributes:
        requested: Share of the eligible items.
        seed: Of the draws.
        eligible: Number of actions that can be replaced.
        impossible: Number of used actions without a content, or without a wrong value for it.
        replacements: The chosen ones, in the order of the run.
    """

    requested: float
    seed: int
    eligible: int
    impossible: int
    replacements: tuple[Replacement, ...]

    @property
    def achieved(self) -> float | None:
        """Replaced over eligible items; None without any."""
        return len(self.replacements) / self.eligible if self.eligible else None


def plan_replacements(graph: CollaborationGraph, rate: float, seed: int = 0) -> ReplacementPlan:
    """Chooses contents of a run, and wrong ones for them.

    With one seed, the items of a smaller share are among those of a larger one, and are
    replaced alike.

    Args:
        graph: A run.
        rate: Share of the eligible items, between 0 and 1.
        seed: Not negative.

    Raises:
        UsageError: The rate is no share.
    """
    used = [graph.nodes[place] for place in eligible_actions(graph)]
    pool = [node.content for node in used if node.content]
    proposed: dict[str, str] = {}
    for proposal in graph.proposals:
        if proposal.node is not None and proposal.value:
            proposed[proposal.node] = proposal.value
    label = {agent.id: agent.name for agent in graph.agents}
    possible = {}
    for node in used:
        if not node.content:
            continue
        # Each action has chance of its own, so that other actions change nothing here.
        chance = random.Random(f"{seed}/{node.index}")
        made = _replaced(node.content, proposed.get(node.id), pool, chance)
        if made is not None:
            name = label[node.agent] if node.agent is not None else ""
            possible[node.index] = Replacement(node.id, node.index, name, *made)
    chosen = drawn(sorted(possible), share_count(rate, len(possible)), seed)
    return ReplacementPlan(
        rate,
        seed,
        len(possible),
        len(used) - len(possible),
        tuple(possible[place] for place in sorted(chosen)),
    )


def wrong_value(value: str, seed: int = 0) -> str | None:
    """Another value of the same form.

    Args:
        value: A number, yes, no, true, false, an option's letter, or JSON.
        seed: Of the choice.

    Returns:
        None where the form is none of these.
    """
    return _wrong(value, random.Random(seed))


def _replaced(
    content: str, proposed: str | None, pool: Sequence[str], chance: random.Random
) -> tuple[str, str, str] | None:
    """The original value, the wrong one, and the text with it."""
    if proposed is not None and proposed in content and states(content, proposed):
        wrong = _wrong(proposed, chance)
        if wrong is not None:
            return proposed, wrong, content.replace(proposed, wrong)
    whole = _wrong(content, chance)
    if whole is not None:
        return content.strip(), whole, whole
    numbers = list(_NUMBER.finditer(content))
    if numbers:
        last = numbers[-1]
        wrong = _wrong_number(last[0], chance)
        return last[0], wrong, content[: last.start()] + wrong + content[last.end() :]
    own = normalize_content(content)
    others = sorted({text for text in pool if normalize_content(text) != own})
    if not others:
        return None
    other = others[int(chance.random() * len(others))]
    return content, other, other


def _wrong(value: str, chance: random.Random) -> str | None:
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _wrong_number(text, chance)
    opposite = _OPPOSITES.get(text.lower())
    if opposite is not None:
        return opposite.upper() if text.isupper() else _cased(opposite, text)
    option = _OPTION.fullmatch(text)
    if option is not None:
        letters = [one for one in "ABCD" if one != option[2].upper()]
        letter = letters[int(chance.random() * len(letters))]
        letter = letter if option[2].isupper() else letter.lower()
        return f"{option[1]}{letter}{option[3]}"
    if text[:1] in ("{", "["):
        try:
            found = msgspec.json.decode(text)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
        changed = _wrong_json(found, chance)
        return None if changed == found else msgspec.json.encode(changed).decode()
    return None


def _cased(opposite: str, like: str) -> str:
    return opposite.capitalize() if like[:1].isupper() else opposite


def _wrong_number(text: str, chance: random.Random) -> str:
    if sum(map(str.isdigit, text)) > _EXACT_DIGITS:
        digit = (int(text[-1]) + 1 + int(chance.random() * 9)) % 10
        return f"{text[:-1]}{digit}"
    decimals = len(text.partition(".")[2])
    step = 10.0**-decimals
    size = abs(float(text))
    offset = step * (1 + int(chance.random() * max(1.0, min(size / step / 2, 1e6))))
    value = float(text) + (offset if chance.random() < 0.5 or size < offset else -offset)
    return f"{value:.{decimals}f}"


def _wrong_json(value: Any, chance: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        made = _wrong_number(repr(value) if "e" not in repr(value) else "1", chance)
        return float(made) if isinstance(value, float) else int(made)
    if isinstance(value, str):
        return _wrong(value, chance) or value
    if isinstance(value, list):
        return [_wrong_json(one, chance) for one in value]
    if isinstance(value, dict):
        return {name: _wrong_json(one, chance) for name, one in value.items()}
    return value
