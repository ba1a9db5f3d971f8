"""Who may write to whom, who did, and how much: links and roles, permitted and executed.

Source: OpenMAS-GCom, section 2.1 (the organization and the trace are recorded apart) and
appendix B.4 (constructed edges beside executed message edges; role-level message counts).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from analytics.projection import ALL_AGENT_KINDS, PROJECTIONS, ProjectionName
from analytics.runs import require_run
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import AGENT_KINDS, AgentKind, CollaborationGraph


@dataclass(frozen=True, slots=True)
class ExecutionConfiguration:
    """What the counts depend on besides the runs.

    Attributes:
        projection: What makes a message from one agent to another
            (:mod:`analytics.projection`): not ``action``.
        agent_kinds: Agents of other kinds are left out with all that they sent and got.
        definitions: Raised whenever a count changes its meaning.
    """

    projection: ProjectionName = "exchange"
    agent_kinds: tuple[AgentKind, ...] = ALL_AGENT_KINDS
    definitions: str = "1"

    def __post_init__(self) -> None:
        known = [name for name in PROJECTIONS if name != "action"]
        if self.projection not in known:
            raise UsageError(
                f"messages cannot be read as {self.projection!r}; choose {', '.join(known)}"
            )
        unknown = sorted(set(self.agent_kinds) - set(AGENT_KINDS))
        if unknown or not self.agent_kinds:
            raise UsageError(
                f"unknown kinds of agents: {', '.join(unknown)}"
                if unknown
                else "at least one kind of agent is needed"
            )

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class LinkTraffic:
    """A directed link between two units.

    Attributes:
        source: Name of the unit that sends.
        target: Name of the unit that receives.
        permitted: Whether the organization permits it.
        messages: Number of messages that passed.
    """

    source: str
    target: str
    permitted: bool
    messages: int


@dataclass(frozen=True, slots=True)
class RoleTraffic:
    """Messages from one role to another.

    Attributes:
        source: The sender's role.
        target: The receiver's role.
        messages: Number of messages; one that reached several agents of the role counts once.
    """

    source: str
    target: str
    messages: int


@dataclass(frozen=True, slots=True)
class RunExecution:
    """What was executed in one run. None is "not known", never 0.

    Attributes:
        run: Id of the run.
        name: Its short label.
        task: Name of the task.
        task_id: Id of the task.
        method: Name of the method.
        method_id: Id of the method.
        organization: Name of its organization; None where none is known.
        organization_id: Id of it.
        units: Number of its units.
        executed_units: Number of those that some agent who acted plays; None where no agent
            says which unit it plays.
        permitted_links: Number of its links, without loops.
        used_links: Number of those that carried a message.
        unpermitted_links: Number of pairs of units with a message and no permitted link.
        messages: Number of actions that reached another agent.
        sent: Number of messages by the sender's role.
        roles: Messages from role to role.
        links: Every permitted link, and every other pair of units with a message.
        calls: Model calls, as the run reports.
        retries: Likewise.
        missing: What the trace does not hold, one sentence each.
    """

    run: str
    name: str
    task: str
    task_id: str
    method: str | None
    method_id: str | None
    organization: str | None
    organization_id: str | None
    units: int | None
    executed_units: int | None
    permitted_links: int | None
    used_links: int | None
    unpermitted_links: int | None
    messages: int
    sent: dict[str, int]
    roles: tuple[RoleTraffic, ...]
    links: tuple[LinkTraffic, ...]
    calls: int | None
    retries: int | None
    missing: tuple[str, ...]

    @property
    def share_used(self) -> float | None:
        """Used over permitted links, between 0 and 1; None without permitted links."""
        if not self.permitted_links or self.used_links is None:
            return None
        return self.used_links / self.permitted_links


def measure_execution(
    graph: CollaborationGraph, configuration: ExecutionConfiguration | None = None
) -> RunExecution:
    """Counts the messages of a run over links and roles.

    Args:
        graph: A run.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: The graph is a decomposition.
    """
    options = configuration or ExecutionConfiguration()
    require_run(graph)
    role = {agent.id: agent.role for agent in graph.agents}
    unit_of = {agent.id: agent.unit for agent in graph.agents}
    pairs: Counter[tuple[str, str]] = Counter()
    between: Counter[tuple[str, str]] = Counter()
    sent: Counter[str] = Counter()
    for sender, receivers in messages_of(graph, options):
        sent[role[sender]] += 1
        pairs.update({(role[sender], role[one]) for one in receivers})
        units = {unit_of[one] for one in receivers}
        here = unit_of[sender]
        between.update({(here, one) for one in units if here and one and one != here})
    missing = []
    organization = graph.organization
    plays = any(unit_of.values())
    if organization is None:
        missing.append("The run names no organization.")
    elif not plays:
        missing.append("No agent says which unit of the organization it plays.")
    permitted = set()
    links: list[LinkTraffic] = []
    if organization is not None and plays:
        label = {unit.id: unit.name for unit in organization.units}
        permitted = {
            (link.source, link.target)
            for link in organization.links
            if link.source != link.target
        }
        place = {unit.id: position for position, unit in enumerate(organization.units)}
        links = [
            LinkTraffic(
                label[one], label[other], (one, other) in permitted, between[one, other]
            )
            for one, other in sorted(
                permitted | between.keys(), key=lambda ends: (place[ends[0]], place[ends[1]])
            )
        ]
    acting = {node.agent for node in graph.nodes}
    return RunExecution(
        run=graph.id,
        name=graph.name,
        task=graph.task.name,
        task_id=graph.task.id,
        method=None if graph.method is None else graph.method.name,
        method_id=None if graph.method is None else graph.method.id,
        organization=None if organization is None else organization.name,
        organization_id=None if organization is None else organization.id,
        units=None if organization is None else len(organization.units),
        executed_units=(
            len({agent.unit for agent in graph.agents if agent.unit and agent.id in acting})
            if organization is not None and plays
            else None
        ),
        permitted_links=len(permitted) if links or (organization and plays) else None,
        used_links=(
            sum(one.permitted and one.messages > 0 for one in links)
            if organization is not None and plays
            else None
        ),
        unpermitted_links=(
            sum(not one.permitted for one in links)
            if organization is not None and plays
            else None
        ),
        messages=sum(sent.values()),
        sent=dict(sorted(sent.items())),
        roles=tuple(
            RoleTraffic(one, other, count) for (one, other), count in sorted(pairs.items())
        ),
        links=tuple(links),
        calls=graph.outcome.calls,
        retries=graph.outcome.retries,
        missing=tuple(missing),
    )


def messages_of(
    graph: CollaborationGraph, configuration: ExecutionConfiguration
) -> Iterator[tuple[str, set[str]]]:
    """Every action that reached another agent: who sent it, and who got it (ids)."""
    known = {agent.id for agent in graph.agents if agent.kind in configuration.agent_kinds}
    owner = {node.id: node.agent for node in graph.nodes}
    got: dict[str, set[str]] = {}
    if configuration.projection != "message":
        for edge in graph.edges:
            receiver = owner[edge.target]
            if receiver is not None:
                got.setdefault(edge.source, set()).add(receiver)
    for node in graph.nodes:
        if node.agent not in known:
            continue
        receivers = set(got.get(node.id, ()))
        if configuration.projection != "consumption":
            receivers.update(node.recipients)
        receivers = (receivers & known) - {node.agent}
        if receivers and node.agent is not None:
            yield node.agent, receivers
