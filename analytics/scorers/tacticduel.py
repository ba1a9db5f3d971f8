"""TacticDuel: the net damage of an action against the one that the opponent really chose.

Source: MASTraceBench, appendix "TacticDuel" (Eq. 20 to 22, Table 8): damage dealt minus damage
taken, and 1 for Charge; that lies between -5 and 6, is shifted and scaled to 0 to 5, and
multiplied by 20. Open in the paper, and chosen here: **an illegal action is no proposal** (not
valid, no score): Burst with less than 2 energy, or the action of the round before again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import msgspec

from analytics.scorers.base import SCALE, Scorer, invalid, read_fields
from analytics.scorers.parsing import NOTHING, find_json, member
from analytics.verdicts import Verdict
from graphstore.errors import UsageError

Action = Literal["Quick", "Heavy", "Guard", "Counter", "Feint", "Charge", "Burst"]
ACTIONS: tuple[Action, ...] = get_args(Action)

BASE_DAMAGE: dict[Action, int] = {
    "Quick": 2,
    "Heavy": 4,
    "Guard": 0,
    "Counter": 1,
    "Feint": 1,
    "Charge": 0,
    "Burst": 6,
}
SPECIAL_DAMAGE: dict[tuple[Action, Action], int] = {
    ("Heavy", "Counter"): 0,
    ("Counter", "Heavy"): 4,
    ("Feint", "Guard"): 4,
}
"""Table 8, by action and the opponent's action: instead of the base damage."""
GUARDED = 4
"""Guard takes as much off the damage of everything but Feint."""
BURST_ENERGY = 2
CHARGE_BONUS = 1
LOWEST, HIGHEST = -5, 6
_BY_NAME = {action.lower(): action for action in ACTIONS}


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    opponent_action: Action
    energy: int = 0
    last_action: Action | None = None


@dataclass(frozen=True, slots=True)
class DuelState:
    """A round, from the side of the player who acts.

    Attributes:
        opponent_action: What the opponent did in this round.
        energy: The player's before the round.
        last_action: The player's in the round before; None in the first.
    """

    opponent_action: Action
    energy: int = 0
    last_action: Action | None = None

    def is_legal(self, action: Action) -> bool:
        """Whether the player may do it now."""
        if action == "Burst" and self.energy < BURST_ENERGY:
            return False
        return action != self.last_action


def damage(action: Action, against: Action) -> int:
    """d(a, b): what an action deals to somebody who does another (Table 8), 0 to 6."""
    dealt = SPECIAL_DAMAGE.get((action, against), BASE_DAMAGE[action])
    if against == "Guard" and action != "Feint":
        return max(0, dealt - GUARDED)
    return dealt


def tactical_value(action: Action, against: Action) -> int:
    """S of Eq. 22 before scaling: net damage and the bonus of Charge, -5 to 6."""
    bonus = CHARGE_BONUS if action == "Charge" else 0
    return damage(action, against) - damage(against, action) + bonus


def scaled(value: float) -> float:
    """A tactical value on 0 to 100."""
    return SCALE * (value - LOWEST) / (HIGHEST - LOWEST)


class TacticDuelScorer(Scorer):
    """The tactical value, scaled to 0 to 100."""

    name = "tacticduel"
    title = "Tactic duel: net damage against the opponent's action"
    dynamic = True

    def read_instance(self, fields: Mapping[str, Any]) -> DuelState:
        """``opponent_action``, and the player's ``energy`` and ``last_action``."""
        given = read_fields(fields, _Fields)
        if given.energy < 0:
            raise UsageError("energy cannot be negative")
        return DuelState(given.opponent_action, given.energy, given.last_action)

    def score(self, instance: DuelState, value: str) -> Verdict:
        """An action is its name, alone or as ``action`` of a JSON object."""
        action = _action(value)
        if action is None:
            return invalid("it names no action")
        if not instance.is_legal(action):
            return invalid(f"{action} is not legal in this round")
        return Verdict(scaled(tactical_value(action, instance.opponent_action)), True)

    def best_score(self, instance: DuelState) -> float | None:
        """The best legal action."""
        return scaled(
            max(
                tactical_value(action, instance.opponent_action)
                for action in ACTIONS
                if instance.is_legal(action)
            )
        )

    def normal_form(self, instance: DuelState, value: str) -> str:  # noqa: ARG002
        """The action's name."""
        return str(_action(value))


def _action(value: str) -> Action | None:
    text = value.strip().strip(".").lower()
    if text in _BY_NAME:
        return _BY_NAME[text]
    found = member(find_json(value), "action")
    if found is NOTHING or not isinstance(found, str):
        return None
    return _BY_NAME.get(found.strip().lower())
