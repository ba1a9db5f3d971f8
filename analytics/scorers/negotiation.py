"""Negotiation: the share of one's own value that an accepted offer keeps, discounted.

Source: MASTraceBench, appendix "Negotiation" (Eq. 17 and 18): an accepted allocation scores
delta^(t-1) u(a) / u_max, a rejected one 0; u_max is the value of all items. Whether the
opponent accepts is asked of the opponent; here its answers are **recorded** with the instance,
one for each allocation, and an allocation that it was not asked about has no score. Open in the
paper, and chosen here: **an allocation that the pool does not allow is no proposal** (not
valid, no score); the largest score is that of an accepted offer to take everything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from analytics.scorers.base import SCALE, Scorer, invalid, read_fields
from analytics.scorers.parsing import find_json, whole_number
from analytics.verdicts import Verdict
from graphstore.errors import UsageError

DISCOUNT = 0.95
ROUNDS = 10
OWN_NAMES = ("mine", "me", "i_get")
OTHER_NAMES = ("theirs", "opponent", "they_get")
"""What an object may call the two sides of an allocation."""

Amounts = Mapping[str, int]


class _Response(msgspec.Struct, forbid_unknown_fields=True):
    allocation: dict[str, int]
    accepted: bool


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    items: dict[str, int]
    values: dict[str, float]
    round: int = 1
    responses: list[_Response] = []
    discount: float = DISCOUNT
    rounds: int = ROUNDS


@dataclass(frozen=True, slots=True)
class NegotiationState:
    """A round of a negotiation, from the side of the player who proposes.

    Attributes:
        items: Quantity in the pool by item.
        values: The player's value of one piece, by item; not negative.
        round: t, from 1.
        responses: Whether the opponent accepts, by what the player would get: quantities in
            the order of ``items``.
        discount: delta, above 0, at most 1.
    """

    items: dict[str, int]
    values: dict[str, float]
    round: int
    responses: dict[tuple[int, ...], bool]
    discount: float = DISCOUNT

    @property
    def most(self) -> float:
        """u_max: the value of all items; above 0."""
        return self.payoff(self.items)

    def payoff(self, allocation: Amounts) -> float:
        """The value of what the player gets (u)."""
        return sum(self.values[item] * allocation[item] for item in self.items)


def allocation_score(state: NegotiationState, allocation: Amounts, *, accepted: bool) -> float:
    """S of Eq. 17, and R of Eq. 18 for an agreement, between 0 and 1.

    Args:
        state: Pool, values and round.
        allocation: What the player gets, by item, all items.
        accepted: Whether the opponent accepts.
    """
    if not accepted:
        return 0.0
    return state.discount ** (state.round - 1) * state.payoff(allocation) / state.most


class NegotiationScorer(Scorer):
    """The discounted share of the highest payoff, times 100."""

    name = "negotiation"
    title = "Negotiation: discounted payoff of accepted offers"
    dynamic = True

    def read_instance(self, fields: Mapping[str, Any]) -> NegotiationState:
        """``items``, ``values``, ``round`` and the opponent's recorded ``responses``."""
        given = read_fields(fields, _Fields)
        if not given.items or any(not 0 <= n <= 10**9 for n in given.items.values()):
            raise UsageError("items need quantities between 0 and a billion")
        if set(given.values) != set(given.items):
            raise UsageError("each item needs one value")
        if any(not 0 <= value < 1e12 for value in given.values.values()):
            raise UsageError("a value cannot be negative, nor a trillion or more")
        if not 0 < given.discount <= 1:
            raise UsageError("a discount lies above 0 and is at most 1")
        if not 1 <= given.round <= given.rounds:
            raise UsageError(f"the round lies between 1 and {given.rounds}")
        responses: dict[tuple[int, ...], bool] = {}
        for one in given.responses:
            key = _key(given.items, one.allocation)
            if isinstance(key, str):
                raise UsageError(f"a response is to no allocation: {key}")
            if responses.setdefault(key, one.accepted) != one.accepted:
                raise UsageError("two responses to one allocation differ")
        state = NegotiationState(
            given.items, given.values, given.round, responses, given.discount
        )
        if not state.most > 0:
            raise UsageError("all items together are worth nothing to the player")
        return state

    def score(self, instance: NegotiationState, value: str) -> Verdict:
        """An allocation is JSON: what the player gets, or both sides as mine and theirs."""
        key = _proposed(instance, value)
        if isinstance(key, str):
            return invalid(key)
        accepted = instance.responses.get(key)
        if accepted is None:
            return Verdict(None, True, "the opponent was not asked about this allocation")
        allocation = dict(zip(instance.items, key, strict=True))
        return Verdict(SCALE * allocation_score(instance, allocation, accepted=accepted), True)

    def normal_form(self, instance: NegotiationState, value: str) -> str:
        """What the player gets, in the order of the items."""
        return str(_proposed(instance, value))

    def best_score(self, instance: NegotiationState) -> float | None:
        """An accepted offer to take everything."""
        return SCALE * allocation_score(instance, instance.items, accepted=True)


def _proposed(state: NegotiationState, value: str) -> tuple[int, ...] | str:
    """What the player gets by a proposal, or what is wrong with it."""
    found = find_json(value)
    if not isinstance(found, dict):
        return "it holds no JSON object"
    own = next((found[name] for name in OWN_NAMES if name in found), found)
    key = _key(state.items, own)
    other = next((found[name] for name in OTHER_NAMES if name in found), None)
    if isinstance(key, str) or other is None or own is found:
        return key
    rest = _key(state.items, other)
    if isinstance(rest, str) or any(
        mine + theirs != count
        for mine, theirs, count in zip(key, rest, state.items.values(), strict=True)
    ):
        return "both sides together are not the pool"
    return key


def _key(items: Amounts, allocation: Any) -> tuple[int, ...] | str:
    """Quantities in the order of the items, or what is wrong. Items left out are not taken."""
    if not isinstance(allocation, dict):
        return "it holds no allocation"
    unknown = next((item for item in allocation if item not in items), None)
    if unknown is not None:
        return f"it names something that is not in the pool: {unknown!r}"
    found = []
    for item, most in items.items():
        count = whole_number(allocation.get(item, 0))
        if count is None or not 0 <= count <= most:
            return f"it takes an impossible number of {item!r}"
        found.append(count)
    return tuple(found)
