"""Goals and relations of a task: what was reached, and whether connected results agree.

Source: MAC-Bench, appendix G.2 (Eq. 10: progress score and resolved rate; preservation checks)
and G.3.2 (relation assessment, outcomes, contributors). A relation check is a dependency or a
shared resource with the objects that it covers: people, activities, allocations. Each object
has a result on the upstream and on the downstream side.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from graphstore.errors import UsageError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph

RelationKind = Literal["dependency", "shared_resource"]
RELATION_KINDS: tuple[str, ...] = get_args(RelationKind)
RelationOutcome = Literal["satisfied", "inconsistent", "unavailable", "unassessable"]
RELATION_OUTCOMES: tuple[str, ...] = get_args(RelationOutcome)
Availability = Literal["upstream only", "downstream only", "neither"]
AVAILABILITIES: tuple[str, ...] = get_args(Availability)
Rule = Literal["equal", "distinct", "disjoint"]
RULES: tuple[str, ...] = get_args(Rule)
Side = Literal["upstream", "downstream"]
SIDES: tuple[Side, ...] = get_args(Side)
Handling = Literal["same agent", "across agents", "joint", "unknown"]
HANDLINGS: tuple[str, ...] = get_args(Handling)

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}([T ]|$)")


@dataclass(frozen=True, slots=True)
class Goal:
    """A required task goal with the group of checks that must pass.

    Attributes:
        id: Its name.
        checks: Whether each check passed; None where that is not known.
    """

    id: str
    checks: tuple[bool | None, ...]

    @property
    def passed(self) -> bool | None:
        """Whether all checks passed; None where that cannot be told."""
        return all_passed(self.checks)


@dataclass(frozen=True, slots=True)
class Change:
    """A recorded change of one object, in the order in which changes were completed.

    Attributes:
        item: The object.
        side: Whose result changed.
        value: The new value, None where it was removed.
        agent: Name of the agent who wrote it.
    """

    item: str
    side: Side
    value: Any
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class RelationItem:
    """One object that a relation check covers.

    Attributes:
        id: Its name.
        upstream: The upstream side's result, any JSON value; None where it is missing.
        downstream: The downstream side's.
        initial: Both results before the run, where changes are recorded.
        consistent: What a checker says of two results that are there; None leaves it to the
            check's rule.
        assessable: False where the records that belong together cannot be found.
        outcome: The outcome, where a checker gives it and not the results.
        available: With it, what is there where the outcome is unavailable.
        upstream_agents: Names of the agents who made the upstream result.
        downstream_agents: Names of the agents who made the downstream result.
    """

    id: str
    upstream: Any = None
    downstream: Any = None
    initial: tuple[Any, Any] = (None, None)
    consistent: bool | None = None
    assessable: bool = True
    outcome: RelationOutcome | None = None
    available: Availability | None = None
    upstream_agents: tuple[str, ...] = ()
    downstream_agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationCheck:
    """A dependency or shared resource with all objects that the task names.

    Attributes:
        id: Its name.
        kind: Which of the two.
        items: The objects, those with missing results too.
        rule: When two results agree: ``equal`` values; ``distinct`` values; ``disjoint``
            spans, pairs of a start and an end (numbers, or dates and times).
        changes: Recorded changes, in the order of completion.
        upstream_agents: Who made the upstream results, where no object says so.
        downstream_agents: Who made the downstream results, likewise.
    """

    id: str
    kind: RelationKind
    items: tuple[RelationItem, ...]
    rule: Rule = "equal"
    changes: tuple[Change, ...] = ()
    upstream_agents: tuple[str, ...] = ()
    downstream_agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one object.

    Attributes:
        item: Its name.
        outcome: The outcome.
        available: What is there, where the outcome is unavailable and that is known.
        handling: Who made the two sides.
        upstream_agents: Their names, sorted.
        downstream_agents: Their names, sorted.
    """

    item: str
    outcome: RelationOutcome
    available: Availability | None
    handling: Handling
    upstream_agents: tuple[str, ...]
    downstream_agents: tuple[str, ...]


def all_passed(checks: Sequence[bool | None]) -> bool | None:
    """Whether all checks passed: one that failed decides, one that is unknown does not.

    Returns:
        None where no check failed and one is unknown, or there is no check.
    """
    if False in checks:
        return False
    return None if None in checks or not checks else True


def progress_score(goals: Sequence[Goal]) -> float | None:
    """Share of the goals whose checks all passed (MAC-Bench, Eq. 10).

    Returns:
        In percent, 0 to 100; None without goals, or where a goal is not known to have passed
        or failed.
    """
    passed = [goal.passed for goal in goals]
    if not passed or None in passed:
        return None
    return 100.0 * passed.count(True) / len(passed)


def resolved(
    goals: Sequence[Goal],
    preservation: Sequence[bool | None] = (),
    flag: bool | None = None,
) -> bool | None:
    """Whether a task is fully resolved: goals and preservation checks (MAC-Bench, G.2).

    Args:
        goals: All goals.
        preservation: Preservation checks, where the task has some.
        flag: The evaluator's own flag, which can know more conditions; it goes first.

    Returns:
        None where it cannot be told.

    Raises:
        UsageError: The flag says resolved, and a goal or a preservation check failed.
    """
    found = all_passed([*(goal.passed for goal in goals), *preservation])
    if flag and found is False:
        raise UsageError("it is said to be resolved, but a goal or a preservation check failed")
    return found if flag is None else flag


def resolved_rate(flags: Sequence[bool]) -> float | None:
    """Share of tasks that are fully resolved (MAC-Bench, Eq. 10).

    Returns:
        In percent, 0 to 100; None without tasks.
    """
    return 100.0 * sum(flags) / len(flags) if flags else None


def assess(
    rule: Rule, item: RelationItem, upstream: Any, downstream: Any
) -> tuple[RelationOutcome, Availability | None]:
    """The outcome of one object for given results (MAC-Bench, G.3.2).

    Args:
        rule: When two results agree.
        item: The object, for what a checker said of it.
        upstream: The upstream result, None where it is missing.
        downstream: The downstream result.

    Returns:
        The outcome, and which side is there where it is unavailable.
    """
    if item.outcome is not None:
        return item.outcome, item.available
    if not item.assessable:
        return "unassessable", None
    if upstream is None or downstream is None:
        if upstream is not None:
            return "unavailable", "upstream only"
        return "unavailable", "neither" if downstream is None else "downstream only"
    agree = item.consistent
    if agree is None:
        agree = agrees(rule, upstream, downstream)
    if agree is None:
        return "unassessable", None
    return ("satisfied" if agree else "inconsistent"), None


def agrees(rule: Rule, upstream: Any, downstream: Any) -> bool | None:
    """Whether two results agree by a rule.

    Returns:
        None where the rule cannot be applied: a span is no pair of comparable ends.
    """
    if rule != "disjoint":
        same = _plain(upstream) == _plain(downstream)
        return same if rule == "equal" else not same
    one, other = _span(upstream), _span(downstream)
    if one is None or other is None or isinstance(one[0], float) != isinstance(other[0], float):
        return None
    return bool(one[1] <= other[0] or other[1] <= one[0])


def outcomes(check: RelationCheck) -> tuple[ItemOutcome, ...]:
    """The outcome and the contributors of every object of a check, in their order."""
    writers: dict[tuple[str, str], set[str]] = {}
    for change in check.changes:
        if change.agent is not None:
            writers.setdefault((change.item, change.side), set()).add(change.agent)
    found = []
    for item in check.items:
        outcome, available = assess(check.rule, item, item.upstream, item.downstream)
        above = contributors(
            item.upstream_agents,
            writers.get((item.id, "upstream"), ()),
            check.upstream_agents,
        )
        below = contributors(
            item.downstream_agents,
            writers.get((item.id, "downstream"), ()),
            check.downstream_agents,
        )
        found.append(
            ItemOutcome(
                item.id,
                outcome,
                available,
                handling(above, below),
                tuple(sorted(above)),
                tuple(sorted(below)),
            )
        )
    return tuple(found)


def contributors(*sources: Collection[str]) -> Collection[str]:
    """The first source that names anybody: the object, its changes, the whole check."""
    return next((source for source in sources if source), ())


def handling(upstream: Collection[str], downstream: Collection[str]) -> Handling:
    """Who handled the two sides of an object (MAC-Bench, G.3.2).

    Returns:
        ``across agents`` for two different single contributors, ``same agent`` for one on
        both sides, ``joint`` where a side has several, ``unknown`` where a side has none.
    """
    above, below = set(upstream), set(downstream)
    if not above or not below:
        return "unknown"
    if len(above) > 1 or len(below) > 1:
        return "joint"
    return "same agent" if above == below else "across agents"


def resource_writers(graph: CollaborationGraph, resource: str) -> tuple[str, ...]:
    """Names of the agents who wrote a resource, sorted; failed actions do not count.

    A tool that wrote it worked for the agents whose actions its own action used.

    Args:
        graph: A run.
        resource: Name of the resource.
    """
    ids = {one.id for one in graph.resources if one.name == resource}
    agents = {agent.id: agent for agent in graph.agents}
    owner = {node.id: node.agent for node in graph.nodes}
    callers: dict[str, list[str]] = {}
    for edge in graph.edges:
        callers.setdefault(edge.target, []).append(edge.source)
    found: set[str] = set()
    for node in graph.nodes:
        wrote = any(one.resource in ids and one.mode == "write" for one in node.accesses)
        if not wrote or node.agent is None or node.status == "error":
            continue
        acting: list[str | None] = [node.agent]
        if agents[node.agent].kind == "tool":
            acting = [owner[source] for source in callers.get(node.id, ())]
        found.update(
            agents[one].name
            for one in acting
            if one is not None and agents[one].kind in ("agent", "human")
        )
    return tuple(sorted(found))


def _plain(value: Any) -> str:
    """Equal values as equal text: 1 and 1.0 are one number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        return canonical_json(value.strip())
    if isinstance(value, list):
        return "[" + ",".join(map(_plain, value)) + "]"
    if isinstance(value, dict):
        entries = sorted((str(name), _plain(one)) for name, one in value.items())
        return "{" + ",".join(f"{canonical_json(name)}:{one}" for name, one in entries) + "}"
    return canonical_json(value)


def _span(value: Any) -> tuple[Any, Any] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    ends: list[Any] = [_moment(end) for end in value]
    if None in ends or isinstance(ends[0], float) != isinstance(ends[1], float):
        return None
    return None if ends[1] < ends[0] else (ends[0], ends[1])


def _moment(value: Any) -> float | datetime | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str) or not _DAY.match(value):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
