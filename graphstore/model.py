"""The unified collaboration graph: one class for executions and for decompositions.

A graph is immutable. Readers make one through :class:`graphstore.builder.GraphBuilder`,
which puts its parts into canonical order; :func:`validate` holds the rules.

Canonical order, so that equal graphs are equal values and equal bytes:
nodes by ``index``; edges by the indexes of source and target; couplings likewise, with
the smaller index first; a node's recipients by the position of the agent in ``agents``;
accesses by resource position, reads before writes.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal, get_args

import msgspec

from graphstore.errors import GraphError

GraphKind = Literal["run", "decomposition"]
NodeKind = Literal["agent_message", "tool_call", "decision", "subtask", "group"]
AgentKind = Literal["agent", "tool", "human", "environment"]
Role = Literal[
    "planner",
    "orchestrator",
    "proposer",
    "solver",
    "specialist",
    "executor",
    "critic",
    "verifier",
    "aggregator",
    "tool",
    "human",
    "environment",
    "unknown",
]
Basis = Literal["explicit", "delivered", "continued", "inferred"]
Delivery = Literal["explicit", "broadcast", "inferred"]
AccessMode = Literal["read", "write"]
ProposalPhase = Literal["initial", "final", "answer"]
Status = Literal["ok", "error"]

GRAPH_KINDS: tuple[str, ...] = get_args(GraphKind)
NODE_KINDS: tuple[str, ...] = get_args(NodeKind)
ACTION_KINDS: tuple[str, ...] = ("agent_message", "tool_call", "decision")
SUBTASK_KINDS: tuple[str, ...] = ("subtask", "group")
AGENT_KINDS: tuple[str, ...] = get_args(AgentKind)
ROLES: tuple[str, ...] = get_args(Role)
BASES: tuple[str, ...] = get_args(Basis)
DELIVERIES: tuple[str, ...] = get_args(Delivery)
ACCESS_MODES: tuple[str, ...] = get_args(AccessMode)
PROPOSAL_PHASES: tuple[str, ...] = get_args(ProposalPhase)
STATUSES: tuple[str, ...] = get_args(Status)

Attributes = dict[str, Any]
"""Whatever else a trace says: JSON values only. Kept as JSON text in the store."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """Base of the model's parts: immutable, compared by value.

    No part can hold itself, so the garbage collector need not look at any: with millions of
    them, looking costs more than reading the file.
    """


class Task(Record, frozen=True):
    """What was to be done. Shared by every run and decomposition of it.

    Attributes:
        id: Made from dataset and name (:func:`graphstore.identity.task_id`).
        name: The task's key in its data set, or a short form of its text.
        description: The full text of the task.
        dataset: The data set it belongs to.
        category: A kind of task inside the data set.
        source_group: Tasks that share a source (a repository, a document): kept together
            when tasks are split into mining and held-out parts.
    """

    id: str
    name: str
    description: str | None = None
    dataset: str | None = None
    category: str | None = None
    source_group: str | None = None


class Method(Record, frozen=True):
    """The multi-agent system, or configuration of one, that made a run.

    Attributes:
        id: Made from name and framework (:func:`graphstore.identity.method_id`).
        name: For example ``"Magentic-One"`` or ``"debate"``.
        framework: The software that ran it.
    """

    id: str
    name: str
    framework: str | None = None


class Unit(Record, frozen=True):
    """A member of an organization, before any run."""

    id: str
    name: str
    role: Role = "unknown"
    attributes: Attributes = {}


class Link(Record, frozen=True):
    """A directed link that an organization *permits*.

    Attributes:
        source: Id of the unit that may send.
        target: Id of the unit that may receive.
        kinds: The names of the relationship, sorted ("supervises", "collaborates with").
    """

    source: str
    target: str
    kinds: tuple[str, ...] = ()


class Organization(Record, frozen=True):
    """Who may talk to whom: kept apart from what was executed.

    The ``(V, E, S, pi)`` of OpenMAS-GCom, section 2: units, permitted links, shared state
    and policy.

    Attributes:
        id: Made from the hash, so equal organizations are one.
        hash: Content hash of units, links, state and policy.
    """

    id: str
    name: str
    hash: str
    units: tuple[Unit, ...] = ()
    links: tuple[Link, ...] = ()
    state: Attributes = {}
    policy: Attributes = {}


class Agent(Record, frozen=True):
    """Somebody or something that acts in one run. Two agents of one name stay two.

    Attributes:
        name: The name in the trace.
        role: The shared vocabulary's role.
        role_name: The role's name in the trace, where that is not the agent's name.
        unit: The unit of the organization that it plays, by id.
    """

    id: str
    name: str
    role: Role = "unknown"
    role_name: str | None = None
    kind: AgentKind = "agent"
    unit: str | None = None
    attributes: Attributes = {}


class Artifact(Record, frozen=True):
    """Something that a node needs or makes. The pair of name and type is its identity."""

    name: str
    type: str | None = None


class Access(Record, frozen=True):
    """A node reads or writes a shared resource (by the resource's id)."""

    resource: str
    mode: AccessMode


class Resource(Record, frozen=True):
    """A file, record, table or other state that several nodes share."""

    id: str
    name: str
    type: str | None = None


class Node(Record, frozen=True):
    """One action of a run, or one subtask or group of a decomposition.

    Attributes:
        id: ``<graph id>/<index>``.
        index: Position in the graph, from 0 without gaps. Edges point to larger indexes.
        name: A short label: the agent's name, the tool's name, the subtask's title.
        agent: Id of the agent that acted.
        recipients: Ids of the agents that it was delivered to.
        delivery: How the recipients are known: ``explicit`` (the trace names them),
            ``broadcast`` (a group chat: everybody else), ``inferred`` (the reader's
            guess), or None (nobody).
        content: The text, redacted. None where the trace has none.
        content_hash: Of the normalized content (:func:`graphstore.identity.content_hash`).
        parent: Id of the span or group that contains it. No edge.
        round: Round or turn, from 0, where the trace counts them.
        started_at: Nanoseconds since 1970-01-01 UTC.
        ended_at: Nanoseconds since 1970-01-01 UTC.
        tokens_in: Tokens read by the model for this node.
        tokens_out: Tokens written by the model for this node.
        status: ``error`` where the trace says that it failed, ``ok`` where it says that it
            did not, None where it says nothing.
    """

    id: str
    index: int
    kind: NodeKind
    name: str
    role: Role = "unknown"
    agent: str | None = None
    recipients: tuple[str, ...] = ()
    delivery: Delivery | None = None
    content: str | None = None
    content_hash: str | None = None
    inputs: tuple[Artifact, ...] = ()
    outputs: tuple[Artifact, ...] = ()
    accesses: tuple[Access, ...] = ()
    parent: str | None = None
    round: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    status: Status | None = None
    attributes: Attributes = {}


class Edge(Record, frozen=True):
    """``target`` consumed ``source``'s output (node ids)."""

    source: str
    target: str
    basis: Basis


class Coupling(Record, frozen=True):
    """Both nodes change one shared resource. Undirected.

    Attributes:
        source: The node with the smaller index.
        target: The node with the larger index.
        resources: Ids of the shared resources, in the order of the graph's ``resources``;
            empty where the trace does not name one.
        basis: ``explicit`` or ``inferred``.
    """

    source: str
    target: str
    resources: tuple[str, ...] = ()
    basis: Basis = "explicit"


class Proposal(Record, frozen=True):
    """An answer that an agent put forward.

    Attributes:
        unit: The sample, or the state of a dynamic task, that it answers.
        agent: Id of the agent, None for the team's answer.
        node: Id of the action that made it.
        score: In the task's own unit.
        valid: Whether it could be parsed as an answer.
    """

    id: str
    unit: str
    phase: ProposalPhase
    agent: str | None = None
    node: str | None = None
    value: str | None = None
    score: float | None = None
    valid: bool | None = None


class Outcome(Record, frozen=True):
    """How a run ended, with the totals that the trace itself reports.

    Attributes:
        termination: Why it stopped, in the trace's words.
        latency: Wall-clock seconds.
        cost: In US dollars, where the trace says so.
        mistake_agent: The agent whose mistake decided a failure, where somebody labelled it.
        mistake_step: The index of that action.
        mistake_reason: The label's explanation.
    """

    success: bool | None = None
    score: float | None = None
    answer: str | None = None
    expected: str | None = None
    termination: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    calls: int | None = None
    retries: int | None = None
    latency: float | None = None
    cost: float | None = None
    mistake_agent: str | None = None
    mistake_step: int | None = None
    mistake_reason: str | None = None


class Source(Record, frozen=True):
    """Where a graph was read from.

    Attributes:
        format: The reader's name.
        uri: The file as it was named; no part of the graph's identity.
        record: The record inside the file, in the file's own terms.
        sha256: Of the file's bytes, after decompression; of all files, where several were
            joined.
        reader_version: Of the reader that made the graph.
        warnings: What the reader had to leave out or to guess, one sentence each.
    """

    format: str
    uri: str
    record: str | None = None
    sha256: str | None = None
    reader_version: str = "1"
    warnings: tuple[str, ...] = ()


class CollaborationGraph(Record, frozen=True):
    """A run or a decomposition as one graph.

    Attributes:
        id: Made from format, record and content: the same on every machine.
        kind: ``run`` or ``decomposition``.
        name: A short label for people.
        attributes: Whatever else the trace says of the whole.
    """

    id: str
    kind: GraphKind
    name: str
    task: Task
    source: Source
    method: Method | None = None
    organization: Organization | None = None
    agents: tuple[Agent, ...] = ()
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    resources: tuple[Resource, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    outcome: Outcome = Outcome()
    attributes: Attributes = {}

    @property
    def inferred_edges(self) -> int:
        """Number of edges that a reader guessed."""
        return sum(edge.basis == "inferred" for edge in self.edges)

    def successors(self) -> dict[str, tuple[str, ...]]:
        """Ids of the nodes that consumed each node's output, by node id, in order of index."""
        found: dict[str, list[str]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            found[edge.source].append(edge.target)
        return {node: tuple(targets) for node, targets in found.items()}


def validate(graph: CollaborationGraph) -> None:
    """Checks every rule of the model.

    Args:
        graph: The graph, in canonical order.

    Raises:
        GraphError: With the first problem found, the number of further ones, and the
            graph's file and record.
    """
    problems = list(_problems(graph))
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise GraphError(problems[0] + more, file=graph.source.uri, record=graph.source.record)


def holds_beside_nodes(graph: CollaborationGraph) -> bool:
    """Whether all rules hold but for those of nodes, edges and the graph's attributes.

    For :class:`graphstore.builder.GraphBuilder`, which makes those so that they hold. False
    says only that this was not seen at a glance.
    """
    rest = CollaborationGraph(
        id=graph.id,
        kind=graph.kind,
        name=graph.name,
        task=graph.task,
        source=graph.source,
        method=graph.method,
        organization=graph.organization,
        agents=graph.agents,
        resources=graph.resources,
        proposals=graph.proposals,
        outcome=graph.outcome,
    )
    if graph.kind not in GRAPH_KINDS or not _plainly_storable(rest):
        return False
    if any(_agent_problems(graph)) or any(_organization_problems(graph)):
        return False
    if not graph.couplings and not graph.proposals:
        return True
    index = {node.id: node.index for node in graph.nodes}
    agents = {agent.id: position for position, agent in enumerate(graph.agents)}
    resources = {resource.id: position for position, resource in enumerate(graph.resources)}
    return not (
        any(_coupling_problems(graph, index, resources))
        or any(_proposal_problems(graph, index, agents))
    )


def _problems(graph: CollaborationGraph) -> Iterator[str]:
    if graph.kind not in GRAPH_KINDS:
        yield f"unknown graph kind {graph.kind!r}"
    index = {node.id: node.index for node in graph.nodes}
    agents = {agent.id: position for position, agent in enumerate(graph.agents)}
    resources = {resource.id: position for position, resource in enumerate(graph.resources)}
    yield from _duplicates("node id", (node.id for node in graph.nodes))
    yield from _duplicates("agent id", (agent.id for agent in graph.agents))
    yield from _duplicates("resource id", (resource.id for resource in graph.resources))
    yield from _duplicates("proposal id", (proposal.id for proposal in graph.proposals))
    yield from _organization_problems(graph)
    yield from _agent_problems(graph)
    for position, node in enumerate(graph.nodes):
        if node.index != position:
            yield f"node {node.id} has index {node.index} at position {position}"
        yield from _node_problems(graph, node, index, agents, resources)
    yield from _containment_problems(graph, index)
    yield from _edge_problems(graph, index)
    yield from _coupling_problems(graph, index, resources)
    yield from _proposal_problems(graph, index, agents)
    yield from _value_problems(graph)


def _proposal_problems(
    graph: CollaborationGraph, index: dict[str, int], agents: dict[str, int]
) -> Iterator[str]:
    for proposal in graph.proposals:
        if proposal.phase not in PROPOSAL_PHASES:
            yield f"proposal {proposal.id} has the unknown phase {proposal.phase!r}"
        if proposal.agent is not None and proposal.agent not in agents:
            yield f"proposal {proposal.id} names the unknown agent {proposal.agent}"
        if proposal.node is not None and proposal.node not in index:
            yield f"proposal {proposal.id} names the unknown node {proposal.node}"


def _duplicates(what: str, ids: Iterator[str]) -> Iterator[str]:
    for value, count in Counter(ids).items():
        if count > 1:
            yield f"duplicate {what} {value!r}"


def _organization_problems(graph: CollaborationGraph) -> Iterator[str]:
    if graph.organization is None:
        return
    units = {unit.id for unit in graph.organization.units}
    yield from _duplicates("unit id", (unit.id for unit in graph.organization.units))
    for unit in graph.organization.units:
        if unit.role not in ROLES:
            yield f"unit {unit.id} has the unknown role {unit.role!r}"
    pairs = [(link.source, link.target) for link in graph.organization.links]
    yield from _duplicates("link", (f"{source} -> {target}" for source, target in pairs))
    for source, target in pairs:
        if source not in units or target not in units:
            yield f"link {source} -> {target} names an unknown unit"


def _agent_problems(graph: CollaborationGraph) -> Iterator[str]:
    units = {unit.id for unit in graph.organization.units} if graph.organization else set()
    for agent in graph.agents:
        if agent.role not in ROLES:
            yield f"agent {agent.id} has the unknown role {agent.role!r}"
        if agent.kind not in AGENT_KINDS:
            yield f"agent {agent.id} has the unknown kind {agent.kind!r}"
        if agent.unit is not None and agent.unit not in units:
            yield f"agent {agent.id} names the unknown unit {agent.unit}"


def _node_problems(
    graph: CollaborationGraph,
    node: Node,
    index: dict[str, int],
    agents: dict[str, int],
    resources: dict[str, int],
) -> Iterator[str]:
    kinds = ACTION_KINDS if graph.kind == "run" else SUBTASK_KINDS
    if node.kind not in kinds:
        yield f"node {node.id} has kind {node.kind!r}, which a {graph.kind} cannot hold"
    if node.role not in ROLES:
        yield f"node {node.id} has the unknown role {node.role!r}"
    if node.status is not None and node.status not in STATUSES:
        yield f"node {node.id} has the unknown status {node.status!r}"
    if node.agent is not None and node.agent not in agents:
        yield f"node {node.id} names the unknown agent {node.agent}"
    if (node.delivery is None) != (not node.recipients):
        yield f"node {node.id} must have both recipients and a delivery, or neither"
    if node.delivery is not None and node.delivery not in DELIVERIES:
        yield f"node {node.id} has the unknown delivery {node.delivery!r}"
    positions = [agents.get(recipient, -1) for recipient in node.recipients]
    if -1 in positions:
        missing = node.recipients[positions.index(-1)]
        yield f"node {node.id} names the unknown recipient {missing}"
    elif any(a >= b for a, b in pairwise(positions)):
        yield f"node {node.id} has recipients out of order or twice"
    for access in node.accesses:
        if access.resource not in resources:
            yield f"node {node.id} names the unknown resource {access.resource}"
        if access.mode not in ACCESS_MODES:
            yield f"node {node.id} has the unknown access mode {access.mode!r}"
    if len(set(node.accesses)) != len(node.accesses):
        yield f"node {node.id} has one access twice"
    for artifacts in (node.inputs, node.outputs):
        if len(set(artifacts)) != len(artifacts):
            yield f"node {node.id} has one artifact twice"
    if node.parent is not None and node.parent not in index:
        yield f"node {node.id} names the unknown parent {node.parent}"
    for field in ("round", "tokens_in", "tokens_out"):
        value = getattr(node, field)
        if value is not None and value < 0:
            yield f"node {node.id} has the negative {field} {value}"


def _containment_problems(graph: CollaborationGraph, index: dict[str, int]) -> Iterator[str]:
    parents = {node.id: node.parent for node in graph.nodes}
    safe: set[str] = set()
    for start in parents:
        path: list[str] = []
        on_path: set[str] = set()
        current: str | None = start
        while current is not None and current in index and current not in safe:
            if current in on_path:
                yield f"node {current} contains itself"
                break
            path.append(current)
            on_path.add(current)
            current = parents[current]
        safe.update(path)


def _edge_problems(graph: CollaborationGraph, index: dict[str, int]) -> Iterator[str]:
    previous = (-1, -1)
    for edge in graph.edges:
        if edge.basis not in BASES:
            yield f"edge {edge.source} -> {edge.target} has the unknown basis {edge.basis!r}"
        if edge.source not in index or edge.target not in index:
            missing = edge.source if edge.source not in index else edge.target
            yield f"edge {edge.source} -> {edge.target} names the unknown node {missing}"
            continue
        pair = (index[edge.source], index[edge.target])
        if pair[0] >= pair[1]:
            yield f"edge {edge.source} -> {edge.target} does not point forward"
        if pair == previous:
            yield f"edge {edge.source} -> {edge.target} stands twice"
        elif pair < previous:
            yield f"edge {edge.source} -> {edge.target} is out of order"
        previous = pair


def _coupling_problems(
    graph: CollaborationGraph, index: dict[str, int], resources: dict[str, int]
) -> Iterator[str]:
    previous = (-1, -1)
    for coupling in graph.couplings:
        pair_text = f"coupling {coupling.source} - {coupling.target}"
        if coupling.basis not in ("explicit", "inferred"):
            yield f"{pair_text} has the basis {coupling.basis!r}"
        if coupling.source not in index or coupling.target not in index:
            yield f"{pair_text} names an unknown node"
            continue
        pair = (index[coupling.source], index[coupling.target])
        if pair[0] >= pair[1]:
            yield f"{pair_text} must name two nodes, the smaller index first"
        if pair <= previous:
            yield f"{pair_text} stands twice or is out of order"
        previous = pair
        positions = [resources.get(resource, -1) for resource in coupling.resources]
        if -1 in positions:
            yield f"{pair_text} names an unknown resource"
        elif any(a >= b for a, b in pairwise(positions)):
            yield f"{pair_text} has resources out of order or twice"


_INT64 = 2**63
_ENCODER = msgspec.json.Encoder()


def _plainly_storable(graph: CollaborationGraph) -> bool:
    """Whether a quick look shows that every value can be stored; False leaves it open.

    Encoding finds broken text wherever it stands. Only numbers and what attributes hold are
    left to look at: this is what makes checking a large graph cheap.
    """
    try:
        _ENCODER.encode(graph)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return False
    stack: list[Any] = [graph.attributes]
    if graph.organization is not None:
        stack.append(msgspec.to_builtins(graph.organization))
    stack.append(msgspec.to_builtins(graph.outcome))
    stack.extend([agent.attributes for agent in graph.agents if agent.attributes])
    stack.extend([proposal.score for proposal in graph.proposals])
    for node in graph.nodes:
        for number in (
            node.started_at,
            node.ended_at,
            node.tokens_in,
            node.tokens_out,
            node.round,
        ):
            if number is not None and not -_INT64 <= number < _INT64:
                return False
        if node.attributes:
            stack.append(node.attributes)
    for value in stack:
        if isinstance(value, dict):
            stack.extend([inner for inner in value.values() if type(inner) is not str])
        elif isinstance(value, list | tuple):
            stack.extend([inner for inner in value if type(inner) is not str])
        elif isinstance(value, int):
            if not -_INT64 <= value < _INT64:
                return False
        elif isinstance(value, float):
            if value - value != 0.0:
                return False
        elif value is not None and not isinstance(value, str):
            return False
    return True


def _value_problems(graph: CollaborationGraph) -> Iterator[str]:
    """Values that a store could not give back: lone surrogates, NaN, integers past 64 bits."""
    if _plainly_storable(graph):
        return
    stack: list[Any] = [msgspec.to_builtins(graph)]
    while stack:
        value = stack.pop()
        match value:
            case str():
                if not value.isascii():
                    try:
                        value.encode()
                    except UnicodeEncodeError:
                        yield f"the text {value[:40]!r} is no valid Unicode"
            case bool() | None:
                pass
            case int():
                if not -_INT64 <= value < _INT64:
                    yield f"the number {value} does not fit into 64 bits"
            case float():
                if value != value or value in (float("inf"), float("-inf")):
                    yield f"the number {value} is not finite"
            case dict():
                stack.extend(value)
                stack.extend(value.values())
            case list() | tuple():
                stack.extend(value)
            case _:
                yield f"a value of type {type(value).__name__} cannot be stored"
