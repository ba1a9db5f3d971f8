"""What was checked of a run, as a person or a grader writes it down: structs and their schema.

Source: MAC-Bench, appendices G.2 and G.3.2, which print no file format. The documentation is
``docs/relations.md``. A record stands in a file of its own, or among the attributes of a run,
under the name ``checks``.
"""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from analytics.relations import (
    Availability,
    Change,
    Goal,
    RelationCheck,
    RelationItem,
    RelationKind,
    RelationOutcome,
    Rule,
    Side,
)
from analytics.relations_history import final_values
from graphstore.errors import UsageError

ATTRIBUTE = "checks"
"""The attribute of a run that holds what was checked of it."""


class _Part(
    msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Base of all parts: a field that no part has is an error, never left out in silence."""


class PassRecord(_Part, frozen=True):
    """One check of a goal, or one preservation check."""

    passed: Annotated[bool | None, Meta(description="null where it is not known.")] = None
    id: str | None = None


class GoalRecord(_Part, frozen=True):
    """A required goal: with the checks of its group, or with their joint result alone."""

    id: str
    checks: Annotated[list[PassRecord], Meta(description="All of them must pass.")] = []
    passed: Annotated[
        bool | None, Meta(description="In place of checks: whether all passed.")
    ] = None


class SideRecord(_Part, frozen=True):
    """Who made one side of a relation."""

    agents: Annotated[list[str], Meta(description="Names of the contributors.")] = []
    resource: Annotated[
        str | None,
        Meta(description="Name of a resource of the run: who wrote it made this side."),
    ] = None


class StateRecord(_Part, frozen=True):
    """Both results of an object before the run."""

    upstream: Any = None
    downstream: Any = None


class ItemRecord(_Part, frozen=True):
    """An object that a relation covers: a person, an activity, an allocation."""

    id: Annotated[str, Meta(description="Once in the relation.")]
    upstream: Annotated[
        Any, Meta(description="The upstream result at the end; null or absent where missing.")
    ] = UNSET
    downstream: Annotated[
        Any, Meta(description="The downstream result at the end; null or absent likewise.")
    ] = UNSET
    initial: Annotated[
        StateRecord, Meta(description="Both results before the run, where changes are listed.")
    ] = StateRecord()
    consistent: Annotated[
        bool | None, Meta(description="What a checker says where both results are there.")
    ] = None
    assessable: Annotated[
        bool, Meta(description="false where matching records cannot be found.")
    ] = True
    outcome: Annotated[
        RelationOutcome | None, Meta(description="In place of results and consistent.")
    ] = None
    available: Annotated[
        Availability | None, Meta(description="With the outcome unavailable: what is there.")
    ] = None
    upstream_agents: list[str] = []
    downstream_agents: list[str] = []


class ChangeRecord(_Part, frozen=True):
    """A successful write, in the order in which writes were completed."""

    item: str
    side: Side
    value: Annotated[Any, Meta(description="The new result; null where it was removed.")] = None
    agent: str | None = None


class RelationRecord(_Part, frozen=True):
    """A dependency or a shared resource, with all objects that the task names."""

    id: str
    kind: RelationKind
    items: list[ItemRecord]
    rule: Annotated[
        Rule,
        Meta(
            description="When two results agree: equal, distinct, or disjoint spans "
            "[start, end] of numbers or times."
        ),
    ] = "equal"
    upstream: SideRecord = SideRecord()
    downstream: SideRecord = SideRecord()
    changes: list[ChangeRecord] = []


class ChecksRecord(_Part, kw_only=True, frozen=True):
    """What was checked of one run: the form of a run's attribute ``checks``."""

    goals: list[GoalRecord] = []
    preservation: Annotated[
        list[PassRecord], Meta(description="What must have stayed as it was.")
    ] = []
    resolved: Annotated[
        bool | None, Meta(description="The evaluator's own flag, which goes first.")
    ] = None
    relations: list[RelationRecord] = []


class ChecksFileRecord(ChecksRecord, kw_only=True, frozen=True):
    """What was checked of one run, in a file."""

    masgraph_checks: Annotated[int, Meta(ge=1, le=1, description="The version of this form.")]
    id: Annotated[str, Meta(description="Any text, once in the file.")]
    run: Annotated[
        str | None, Meta(description="Id of the run in the store, which knows the rest.")
    ] = None
    task: Annotated[str | None, Meta(description="Name of the task, without a run.")] = None
    dataset: str | None = None
    method: str | None = None


decoder = msgspec.json.Decoder(ChecksFileRecord)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a record in a file: ``app/checks-record.schema.json``."""
    _, parts = msgspec.json.schema_components([ChecksFileRecord], ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:masgraph:checks-record:1",
        "title": "masgraph checks record",
        "description": "Goals, preservation and relations that were checked of one run.",
        "$ref": "#/$defs/ChecksFileRecord",
        "$defs": {name: parts[name] for name in sorted(parts)},
    }
    # Defaults are tuples here and arrays there.
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(schema))
    return found


def goals_of(record: ChecksRecord) -> tuple[Goal, ...]:
    """The goals of a record.

    Raises:
        UsageError: A goal stands twice, or has both checks and a joint result.
    """
    _once("goals", [goal.id for goal in record.goals])
    found = []
    for place, goal in enumerate(record.goals):
        if goal.checks and goal.passed is not None:
            raise UsageError(f"goals[{place}]: it has checks, so leave out 'passed'")
        checks = [check.passed for check in goal.checks] or [goal.passed]
        found.append(Goal(goal.id, tuple(checks)))
    return tuple(found)


def relations_of(
    record: ChecksRecord, agents: "dict[tuple[int, Side], tuple[str, ...]] | None" = None
) -> tuple[RelationCheck, ...]:
    """The relation checks of a record.

    Args:
        record: The record.
        agents: For a relation's position and a side: who made it, where the run tells.

    Raises:
        UsageError: A name stands twice, a change names no object, or an object has an
            outcome beside results.
    """
    _once("relations", [relation.id for relation in record.relations])
    return tuple(
        _relation(f"relations[{place}]", place, relation, agents or {})
        for place, relation in enumerate(record.relations)
    )


def _relation(
    path: str,
    place: int,
    record: RelationRecord,
    agents: "dict[tuple[int, Side], tuple[str, ...]]",
) -> RelationCheck:
    _once(f"{path}.items", [item.id for item in record.items])
    known = {item.id for item in record.items}
    for number, change in enumerate(record.changes):
        if change.item not in known:
            raise UsageError(
                f"{path}.changes[{number}].item: no item is called {change.item!r}"
            )
    changes = tuple(
        Change(change.item, change.side, change.value, change.agent)
        for change in record.changes
    )
    last = final_values(
        {item.id: (item.initial.upstream, item.initial.downstream) for item in record.items},
        changes,
    )
    return RelationCheck(
        id=record.id,
        kind=record.kind,
        items=tuple(
            _item(f"{path}.items[{number}]", item, last[item.id] if changes else (None, None))
            for number, item in enumerate(record.items)
        ),
        rule=record.rule,
        changes=changes,
        upstream_agents=tuple(record.upstream.agents) or agents.get((place, "upstream"), ()),
        downstream_agents=tuple(record.downstream.agents)
        or agents.get((place, "downstream"), ()),
    )


def _item(path: str, record: ItemRecord, last: tuple[Any, Any]) -> RelationItem:
    given = (record.upstream, record.downstream)
    stated = [one for one in given if not isinstance(one, UnsetType)]
    if record.outcome is not None and (stated or record.consistent is not None):
        raise UsageError(f"{path}: it has an outcome, so leave out results and 'consistent'")
    if record.available is not None and record.outcome != "unavailable":
        raise UsageError(f"{path}.available: only with the outcome unavailable")
    # Where one side is stated, the other is missing; where none is, the changes tell.
    upstream, downstream = (
        last
        if not stated
        else tuple(None if isinstance(one, UnsetType) else one for one in given)
    )
    return RelationItem(
        id=record.id,
        upstream=upstream,
        downstream=downstream,
        initial=(record.initial.upstream, record.initial.downstream),
        consistent=record.consistent,
        assessable=record.assessable,
        outcome=record.outcome,
        available=record.available,
        upstream_agents=tuple(record.upstream_agents),
        downstream_agents=tuple(record.downstream_agents),
    )


def _once(path: str, names: list[str]) -> None:
    seen = set()
    for place, name in enumerate(names):
        if name in seen:
            raise UsageError(f"{path}[{place}].id: {name!r} stands twice")
        seen.add(name)
