"""What ran inside what in a LangGraph stream whose events name no parents.

The file's order tells when a run began and ended; the metadata tell in which node something
ran: a namespace that continues another's (``outer:id|inner:id``) is inside it. A run that
began after an outermost run had ended, or that belongs to another thread, is another one.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands in its file.

    Attributes:
        first: Place of its first event.
        last: Place of its end; None for a run that left without one, as where a tool inside
            it hands over.
        metadata: Of its first event.
        is_node: Whether it is the run of a node.
    """

    first: int
    last: int | None
    metadata: dict[str, Any]
    is_node: bool


def nested(places: dict[str, Place]) -> dict[str, str | None]:
    """The nearest run around each run; None for an outermost one.

    Args:
        places: By the run's id, in the order of their first events.
    """
    found: dict[str, str | None] = {}
    open_runs: list[str] = []
    for key, place in places.items():
        open_runs = [one for one in open_runs if _lasts(places[one], place.first)]
        around = [
            one
            for one in open_runs
            if _lasts(places[one], place.last or place.first)
            and _same_thread(places[one], place)
        ]
        fitting = [one for one in around if _encloses(places[one], place)]
        found[key] = fitting[-1] if fitting else (around[0] if around else None)
        open_runs.append(key)
    return found


def _lasts(outer: Place, until: int) -> bool:
    return outer.last is None or outer.last >= until


def _same_thread(outer: Place, inner: Place) -> bool:
    names = [place.metadata.get("thread_id") for place in (outer, inner)]
    return None in names or names[0] == names[1]


def _encloses(outer: Place, inner: Place) -> bool:
    """Whether the metadata of two runs, one during the other, put one inside the other."""
    around, within = _namespace(outer), _namespace(inner)
    if not around or not within:
        return not around
    if around == within:
        if outer.metadata.get("langgraph_node") != inner.metadata.get("langgraph_node"):
            return False
        # With an id, a namespace is of one turn; else two turns can go by one name.
        return ":" in around[-1] or not (outer.is_node and inner.is_node)
    return within[: len(around)] == around


def _namespace(place: Place) -> list[str]:
    metadata = place.metadata
    for key in ("langgraph_checkpoint_ns", "checkpoint_ns"):
        if isinstance(found := metadata.get(key), str) and found:
            return found.split("|")
    node, step = metadata.get("langgraph_node"), metadata.get("langgraph_step")
    return [f"{node} {step}"] if isinstance(node, str) else []
