"""First against final consistency of a relation, from the changes that a run recorded.

Source: MAC-Bench, appendix G.3.2 ("Availability and subsequent changes") and Table 7: changes
are applied in the order in which they were completed; the first comparable state is the
earliest one at which every object has both sides; inconsistent objects are counted there and
at the end.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from analytics.relations import Change, RelationCheck, assess
from graphstore.errors import UsageError


@dataclass(frozen=True, slots=True)
class ConsistencyHistory:
    """What changes did to one relation.

    Attributes:
        check: The relation's name.
        items: Number of its objects.
        changes: Number of changes.
        first_comparable: Number of changes after which every object has both sides for the
            first time: 0 for the state before the run; None where that never is so.
        first_inconsistent: Number of inconsistent objects at that state.
        final_inconsistent: Number of them at the end; None without a comparable state.
        corrected: Number of objects that were inconsistent there and are satisfied at the
            end.
        broken: Number of those that were satisfied there and are not at the end.
        final_unavailable: Number of objects of which a side is missing at the end.
        contradicted: Objects whose reconstructed outcome is not the one that the checks
            state.
    """

    check: str
    items: int
    changes: int
    first_comparable: int | None
    first_inconsistent: int | None
    final_inconsistent: int | None
    corrected: int | None
    broken: int | None
    final_unavailable: int
    contradicted: tuple[str, ...]


def final_values(
    initial: Mapping[str, tuple[Any, Any]], changes: Iterable[Change]
) -> dict[str, tuple[Any, Any]]:
    """Both results of each object after all changes.

    Args:
        initial: Both results before the run, by the object's name.
        changes: In the order of completion; of objects that are there.
    """
    state = {name: list(pair) for name, pair in initial.items()}
    for change in changes:
        state[change.item][change.side == "downstream"] = change.value
    return {name: (pair[0], pair[1]) for name, pair in state.items()}


def consistency_history(check: RelationCheck) -> ConsistencyHistory | None:
    """Applies the changes of a relation to what was there before the run.

    Returns:
        None where no change is recorded, or the objects' results are not: where a checker
        states outcomes alone, or judges consistency itself, earlier states cannot be judged.

    Raises:
        UsageError: A change names no object of the check.
    """
    judged = any(
        item.outcome is not None or item.consistent is not None for item in check.items
    )
    if not check.changes or not check.items or judged:
        return None
    state = {item.id: list(item.initial) for item in check.items}
    missing = sum(None in pair for pair in state.values())
    first = 0 if not missing else None
    then = {name: (pair[0], pair[1]) for name, pair in state.items()}
    for number, change in enumerate(check.changes, start=1):
        if change.item not in state:
            raise UsageError(f"a change names {change.item!r}, which {check.id!r} lacks")
        pair = state[change.item]
        missing -= None in pair
        pair[change.side == "downstream"] = change.value
        missing += None in pair
        if first is None and not missing:
            first = number
            then = {name: (one[0], one[1]) for name, one in state.items()}
    final = {item.id: assess(check.rule, item, *state[item.id])[0] for item in check.items}
    stated = {
        item.id: assess(check.rule, item, item.upstream, item.downstream)[0]
        for item in check.items
    }
    before = None
    if first is not None:
        before = {item.id: assess(check.rule, item, *then[item.id])[0] for item in check.items}
    return ConsistencyHistory(
        check=check.id,
        items=len(check.items),
        changes=len(check.changes),
        first_comparable=first,
        first_inconsistent=_inconsistent(before),
        final_inconsistent=None if before is None else _inconsistent(final),
        corrected=_moved(before, final, "inconsistent", "satisfied"),
        broken=_moved(before, final, "satisfied", None),
        final_unavailable=list(final.values()).count("unavailable"),
        contradicted=tuple(name for name in final if final[name] != stated[name]),
    )


def _inconsistent(found: dict[str, Any] | None) -> int | None:
    return None if found is None else list(found.values()).count("inconsistent")


def _moved(
    before: dict[str, Any] | None, after: dict[str, Any], one: str, other: str | None
) -> int | None:
    """Objects that were ``one`` and are ``other`` now, or no longer ``one`` for None."""
    if before is None:
        return None
    return sum(
        bool(
            before[name] == one
            and (after[name] != one if other is None else after[name] == other)
        )
        for name in after
    )
