"""Whether an intervention was made at all, as far as the run that records it tells.

Source: OpenMAS-GCom, appendices A.4 and B.6: a draw records its achieved ratio and accepted
swaps. A team that nothing was changed in answers to nothing: its score beside the reference
is the chance of running twice, not a response.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REQUESTED = ("ratio", "rewiring_ratio", "rate", "corruption_rate", "failed_workers", "count")
"""Parameters that say how much was asked for; the first that is a number."""
ACHIEVED = ("achieved_ratio", "actual_ratio")
"""Where the achieved share stands, among the parameters or beside them."""

_LISTS = {
    "injected_records": "no content was replaced: it lists no injected record",
    "changed_nodes": "no unit was removed: it lists no changed node",
    "changed_edges": "no link was replaced: it lists no changed edge",
    "failed_workers": "no worker failed: it lists none",
}


@dataclass(frozen=True, slots=True)
class Extent:
    """How far an intervention was made.

    Attributes:
        requested: Share or number that was asked for; None where it is not recorded.
        achieved: Share that was replaced, between 0 and 1; None likewise.
        complete: False where the run says that less was made than was asked for.
        unmade: Why nothing was changed; None where something was, where nobody knows, and
            where nothing was asked for (a ratio of 0).
    """

    requested: float | None = None
    achieved: float | None = None
    complete: bool = True
    unmade: str | None = None


def recorded_extent(attributes: Mapping[str, Any], parameters: Any) -> Extent:
    """How far the intervention was made that a run records.

    Args:
        attributes: Of the run; what was done stands in its object ``intervention``.
        parameters: Of the intervention.
    """
    group = attributes.get("intervention")
    done: Mapping[str, Any] = group if isinstance(group, dict) else {}
    given: Mapping[str, Any] = parameters if isinstance(parameters, dict) else {}
    requested = _number(given, REQUESTED)
    achieved = _number(given, ACHIEVED)
    if achieved is None:
        achieved = _number(done, ACHIEVED)
    complete = done.get("complete") is not False
    if requested == 0.0:
        return Extent(requested, achieved, complete)
    return Extent(requested, achieved, complete, _unmade(done, achieved))


def _unmade(done: Mapping[str, Any], achieved: float | None) -> str | None:
    swaps = _number(done, ("accepted_swaps",))
    if swaps == 0.0:
        return "no link was rewired: 0 swaps were accepted"
    for name, sentence in _LISTS.items():
        listed = done.get(name)
        if isinstance(listed, dict):
            listed = [part for part in listed.values() if part != []]
        if listed == []:
            return sentence
    if achieved == 0.0:
        return "nothing was replaced: its achieved ratio is 0"
    return None


def _number(values: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None
