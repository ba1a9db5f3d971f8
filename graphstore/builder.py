"""Builds a graph in canonical order: the one way in which readers make graphs.

Agents, resources and nodes are handed around as positions (plain integers) while a graph
grows; ids are made at the end, from the graph's own id and those positions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from operator import ge
from typing import Any

from graphstore import identity
from graphstore.as_stored import (
    label_as_stored,
    method_as_stored,
    organization_as_stored,
    outcome_as_stored,
    task_as_stored,
)
from graphstore.assembly import Assembly, NodeDraft
from graphstore.errors import GraphError
from graphstore.model import (
    AccessMode,
    Agent,
    AgentKind,
    Artifact,
    Attributes,
    Basis,
    CollaborationGraph,
    Coupling,
    Delivery,
    GraphKind,
    Method,
    NodeKind,
    Organization,
    Outcome,
    Proposal,
    ProposalPhase,
    Resource,
    Role,
    Source,
    Status,
    Task,
)
from graphstore.ordering import topological_order
from graphstore.organizations import make_organization
from graphstore.policies import ContentPolicy, KeepEverything
from graphstore.validation import contains_itself, holds_beside_nodes, validate

__all__ = [
    "ContentPolicy",
    "GraphBuilder",
    "KeepEverything",
    "make_organization",
    "unknown_role",
]


def unknown_role(name: str) -> Role:  # noqa: ARG001 - the signature of a role table
    """The role where there is no table of roles."""
    return "unknown"


def _each_once(artifacts: Iterable[Artifact]) -> tuple[Artifact, ...]:
    listed = tuple(artifacts)
    if len(listed) < 2 or len(set(listed)) == len(listed):
        return listed
    return tuple(dict.fromkeys(listed))


def _numbered(start: str, parts: Sequence[Any]) -> list[str]:
    """Ids that begin alike, one for each part."""
    return [f"{start}{position}" for position in range(len(parts))] if parts else []


@dataclass(slots=True)
class _AgentDraft:
    name: str
    role: Role
    role_name: str | None
    kind: AgentKind
    unit: int | None
    attributes: Attributes


@dataclass(slots=True)
class _ProposalDraft:
    unit: str
    phase: ProposalPhase
    agent: int | None
    node: int | None
    value: str | None
    score: float | None
    valid: bool | None


@dataclass
class GraphBuilder:
    """Collects the parts of one graph, then makes it.

    Nodes of a run keep the order in which they are added. Subtasks and groups are put into
    topological order, ties in the order of adding, since planners list them in any order.

    Args:
        kind: ``run`` or ``decomposition``.
        format: The reader's name.
        uri: The file as it was named.
        content: The record's own bytes or canonical text: the graph's identity.
        record: The record inside the file, None for the whole file.
        sha256: Of the file.
        reader_version: Of the reader.
        policy: What may be stored of contents.
        role_of: Maps a raw role or agent name to the shared vocabulary.
    """

    kind: GraphKind
    format: str
    uri: str
    content: str | bytes
    record: str | None = None
    sha256: str | None = None
    reader_version: str = "1"
    policy: ContentPolicy = field(default_factory=KeepEverything)
    role_of: Callable[[str], Role] = unknown_role
    task: Task | None = None
    method: Method | None = None
    organization: Organization | None = None
    outcome: Outcome = field(default_factory=Outcome)
    name: str | None = None
    attributes: Attributes = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _stored_task: Task | None = None
    _agents: list[_AgentDraft] = field(default_factory=list)
    _agents_by_name: dict[str, int] = field(default_factory=dict)
    _nodes: list[NodeDraft] = field(default_factory=list)
    _edges: dict[tuple[int, int], Basis] = field(default_factory=dict)
    _couplings: dict[tuple[int, int], tuple[set[int], Basis]] = field(default_factory=dict)
    _resources: list[tuple[str, str | None]] = field(default_factory=list)
    _resource_positions: dict[tuple[str, str | None], int] = field(default_factory=dict)
    _proposals: list[_ProposalDraft] = field(default_factory=list)

    def warn(self, sentence: str) -> None:
        """Notes what had to be left out or guessed. The same sentence counts once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def set_task(
        self,
        name: str,
        *,
        description: str | None = None,
        dataset: str | None = None,
        category: str | None = None,
        source_group: str | None = None,
    ) -> None:
        """Names the task; its id is made from data set and name."""
        label = self.policy.label(name)
        dataset = self._label(dataset)
        self.task = self._stored_task = Task(
            identity.task_id(label, dataset),
            label,
            None if description is None else self.policy.text(description),
            dataset,
            self._label(category),
            self._label(source_group),
        )

    def set_method(self, name: str, *, framework: str | None = None) -> None:
        """Names the multi-agent system that made the run."""
        name, framework = self.policy.label(name), self._label(framework)
        self.method = Method(
            id=identity.method_id(name, framework), name=name, framework=framework
        )

    def _label(self, text: str | None) -> str | None:
        return label_as_stored(text, self.policy)

    @property
    def agent_count(self) -> int:
        """Number of agents so far."""
        return len(self._agents)

    @property
    def node_count(self) -> int:
        """Number of nodes so far: the position that the next one gets."""
        return len(self._nodes)

    def agent_role(self, agent: int) -> Role:
        """The role of an agent that was added."""
        return self._agents[agent].role

    def agent_name(self, agent: int) -> str:
        """The name of an agent that was added."""
        return self._agents[agent].name

    def new_agent(
        self,
        name: str,
        *,
        role_name: str | None = None,
        role: Role | None = None,
        kind: AgentKind = "agent",
        unit: int | None = None,
        attributes: Attributes | None = None,
    ) -> int:
        """Adds an agent, also where another one has the same name.

        Args:
            name: The name in the trace.
            role_name: The role's name in the trace, where the trace has one.
            role: The shared role; by default what ``role_of`` says of the role's name, else
                of the agent's name.
            kind: Agent, tool, human or environment.
            unit: Position of the organization's unit that it plays.
            attributes: Whatever else the trace says.

        Returns:
            The agent's position.
        """
        if role is None:
            role = self.role_of(role_name) if role_name else "unknown"
            if role == "unknown":
                role = self.role_of(name)
        self._agents.append(
            _AgentDraft(
                self.policy.label(name),
                role,
                self._label(role_name),
                kind,
                unit,
                self.policy.attributes(attributes or {}),
            )
        )
        self._agents_by_name.setdefault(name, len(self._agents) - 1)
        return len(self._agents) - 1

    def agent(self, name: str, **options: Any) -> int:
        """The agent of that exact name, added (with :meth:`new_agent`'s options) if new."""
        found = self._agents_by_name.get(name)
        return self.new_agent(name, **options) if found is None else found

    def resource(self, name: str, type: str | None = None) -> int:
        """The position of a shared resource, added if new."""
        key = (self.policy.label(name), self._label(type))
        if key not in self._resource_positions:
            self._resource_positions[key] = len(self._resources)
            self._resources.append(key)
        return self._resource_positions[key]

    def add(
        self,
        kind: NodeKind,
        name: str,
        *,
        agent: int | None = None,
        role: Role | None = None,
        recipients: Iterable[int] = (),
        delivery: Delivery | None = None,
        content: str | None = None,
        content_hash: str | None = None,
        inputs: Iterable[Artifact] = (),
        outputs: Iterable[Artifact] = (),
        accesses: Iterable[tuple[int, AccessMode]] = (),
        parent: int | None = None,
        round: int | None = None,
        started_at: int | None = None,
        ended_at: int | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
        status: Status | None = None,
        attributes: Attributes | None = None,
    ) -> int:
        """Adds a node.

        Args:
            kind: As in :class:`graphstore.model.Node`, like all that is not explained here.
            name: A short label.
            agent: The position of the agent that acted.
            role: By default the agent's role.
            recipients: Positions of agents; order and repetition do not matter.
            delivery: Needed when there are recipients; dropped when there are none.
            content: The text as the trace has it.
            content_hash: Only for a trace that keeps the hash and not the content.
            inputs: What it needs; repetition does not matter.
            outputs: What it makes, likewise.
            accesses: Positions of resources, and how each is used.
            parent: The position of the node that contains it.
            round: From 0.
            started_at: Nanoseconds since 1970-01-01 UTC.
            ended_at: Likewise.
            tokens_in: Tokens read.
            tokens_out: Tokens written.
            status: ``ok``, ``error``, or None where the trace says nothing.
            attributes: Whatever else the trace says; not to be changed afterwards.

        Returns:
            The node's position.
        """
        if role is None:
            role = "unknown" if agent is None else self._agents[agent].role
        receivers = tuple(recipients)
        if len(receivers) > 1:
            receivers = tuple(sorted(set(receivers)))
        self._nodes.append(
            (
                kind,
                name,
                role,
                agent,
                receivers,
                (delivery or "explicit") if receivers else None,
                content,
                content_hash,
                _each_once(inputs) if inputs else (),
                _each_once(outputs) if outputs else (),
                tuple(sorted(set(accesses))) if accesses else (),
                parent,
                round,
                started_at,
                ended_at,
                tokens_in,
                tokens_out,
                status,
                attributes or {},
            )
        )
        return len(self._nodes) - 1

    def edge(self, source: int, target: int, basis: Basis) -> None:
        """``target`` consumed ``source``'s output. The first basis given to a pair stays."""
        self._edges.setdefault((source, target), basis)

    def couple(
        self, one: int, other: int, *, resources: Iterable[int] = (), basis: Basis = "explicit"
    ) -> None:
        """Two nodes change one shared resource. Repeating a pair adds resources."""
        pair = (min(one, other), max(one, other))
        known, _ = self._couplings.setdefault(pair, (set(), basis))
        known.update(resources)

    def propose(
        self,
        unit: str,
        phase: ProposalPhase,
        *,
        agent: int | None = None,
        node: int | None = None,
        value: str | None = None,
        score: float | None = None,
        valid: bool | None = None,
    ) -> None:
        """Adds a proposal, with positions for the agent and the node."""
        self._proposals.append(_ProposalDraft(unit, phase, agent, node, value, score, valid))

    def build(self) -> CollaborationGraph:
        """Makes the graph and checks it.

        Raises:
            GraphError: It breaks a rule of the model, for example by a cycle.
        """
        graph = identity.graph_id(self.kind, self.format, self.record, self.content)
        drafts = self._nodes
        place: Sequence[int] = range(len(drafts))
        # Edges that all point forward leave every node where it was added.
        if self.kind != "run" and any(starmap(ge, self._edges)):
            order = self._topological_order()
            drafts = [drafts[old] for old in order]
            place = [0] * len(order)
            for new, old in enumerate(order):
                place[old] = new
        agents = _numbered(f"{graph}/agent/", self._agents)
        nodes = _numbered(f"{graph}/", drafts)
        resources = _numbered(f"{graph}/resource/", self._resources)
        label = self.policy.label
        record = self._label(self.record)
        task = self.task
        if task is None:
            name = record or graph
            task = Task(id=identity.task_id(name, self.format), name=name)
        elif task is not self._stored_task:
            task = task_as_stored(task, self.policy)
        organization = self.organization
        if organization is not None:
            organization = organization_as_stored(organization, self.policy)
        parts = Assembly(self.kind, self.policy, nodes, place, agents, resources)
        built = CollaborationGraph(
            id=graph,
            kind=self.kind,
            name=label(self.name or record or task.name),
            task=task,
            source=Source(
                format=self.format,
                uri=self.uri,
                record=record,
                sha256=self.sha256,
                reader_version=self.reader_version,
                warnings=tuple(dict.fromkeys(map(label, self.warnings)))
                if self.warnings
                else (),
            ),
            method=None if self.method is None else method_as_stored(self.method, self.policy),
            organization=organization,
            agents=self._built_agents(agents, organization),
            nodes=parts.nodes(drafts),
            edges=parts.edges(self._edges),
            couplings=self._built_couplings(place, nodes, resources),
            resources=self._built_resources(resources),
            proposals=self._built_proposals(graph, agents, nodes, place),
            outcome=outcome_as_stored(self.outcome, self.policy),
            attributes=parts.attributes(self.attributes),
        )
        if not (parts.valid and holds_beside_nodes(built)) or (
            parts.parents_follow and contains_itself(built)
        ):
            validate(built)
        return built

    def _built_agents(
        self, ids: list[str], organization: Organization | None
    ) -> tuple[Agent, ...]:
        if not ids:
            return ()
        return tuple(
            [
                Agent(
                    id=id,
                    name=draft.name,
                    role=draft.role,
                    role_name=draft.role_name,
                    kind=draft.kind,
                    unit=None
                    if draft.unit is None or organization is None
                    else organization.units[draft.unit].id,
                    attributes=draft.attributes,
                )
                for id, draft in zip(ids, self._agents, strict=True)
            ]
        )

    def _built_resources(self, ids: list[str]) -> tuple[Resource, ...]:
        if not ids:
            return ()
        return tuple(
            [
                Resource(id=id, name=name, type=type_)
                for id, (name, type_) in zip(ids, self._resources, strict=True)
            ]
        )

    def _built_couplings(
        self, place: Sequence[int], nodes: list[str], resources: list[str]
    ) -> tuple[Coupling, ...]:
        if not self._couplings:
            return ()
        ordered = []
        for (one, other), (shared, basis) in self._couplings.items():
            first, second = sorted((place[one], place[other]))
            ordered.append((first, second, sorted(shared), basis))
        return tuple(
            [
                Coupling(
                    source=nodes[first],
                    target=nodes[second],
                    resources=tuple([resources[position] for position in shared]),
                    basis=basis,
                )
                for first, second, shared, basis in sorted(ordered)
            ]
        )

    def _built_proposals(
        self, graph: str, agents: list[str], nodes: list[str], place: Sequence[int]
    ) -> tuple[Proposal, ...]:
        if not self._proposals:
            return ()
        return tuple(
            [
                Proposal(
                    id=f"{graph}/proposal/{position}",
                    unit=self.policy.label(draft.unit),
                    phase=draft.phase,
                    agent=None if draft.agent is None else agents[draft.agent],
                    node=None if draft.node is None else nodes[place[draft.node]],
                    value=None if draft.value is None else self.policy.text(draft.value),
                    score=draft.score,
                    valid=draft.valid,
                )
                for position, draft in enumerate(self._proposals)
            ]
        )

    def _topological_order(self) -> list[int]:
        """Positions, sources first, ties in the order of adding."""
        order, stuck = topological_order(len(self._nodes), self._edges)
        if stuck:
            names = [self.policy.label(self._nodes[position][1]) for position in stuck[:5]]
            raise GraphError(
                "the dependencies form a cycle through " + ", ".join(names),
                file=self.uri,
                record=self._label(self.record),
            )
        return order
