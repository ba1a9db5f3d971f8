"""The unified collaboration graph: one class for executions and for decompositions.

A graph is immutable. Readers make one through :class:`graphstore.builder.GraphBuilder`,
which puts its parts into canonical order; :mod:`graphstore.validation` holds the rules.

Canonical order, so that equal graphs are equal values and equal bytes:
nodes by ``index``; edges by the indexes of source and target; couplings likewise, with
the smaller index first; a node's recipients by the position of the agent in ``agents``;
accesses by resource position, reads before writes.
"""

from typing import Any, Literal, get_args

import msgspec

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
        return [edge.basis for edge in self.edges].count("inferred")

    def successors(self) -> dict[str, tuple[str, ...]]:
        """Ids of the nodes that consumed each node's output, by node id, in order of index."""
        found: dict[str, list[str]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            found[edge.source].append(edge.target)
        return {node: tuple(targets) for node, targets in found.items()}
