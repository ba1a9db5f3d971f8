"""Builds a graph in canonical order: the one way in which readers make graphs.

Agents, resources and nodes are handed around as positions (plain integers) while a graph
grows; ids are made at the end, from the graph's own id and those positions.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from graphstore import identity
from graphstore.errors import GraphError
from graphstore.model import (
    Access,
    AccessMode,
    Agent,
    AgentKind,
    Artifact,
    Attributes,
    Basis,
    CollaborationGraph,
    Coupling,
    Delivery,
    Edge,
    GraphKind,
    Link,
    Method,
    Node,
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
    Unit,
    validate,
)


class ContentPolicy(Protocol):
    """What may be stored of the words in a trace."""

    def text(self, text: str) -> str | None:
        """A content as it may be stored, or None where contents are dropped."""

    def hashed(self, text: str) -> str:
        """The form of a content that its hash is made of."""

    def label(self, text: str) -> str:
        """A name or title as it may be stored."""

    def attributes(self, attributes: Attributes) -> Attributes:
        """Attributes as they may be stored."""


class KeepEverything:
    """The policy that changes nothing: for graphs that no trace stands behind."""

    def text(self, text: str) -> str | None:
        return text

    def hashed(self, text: str) -> str:
        return text

    def label(self, text: str) -> str:
        return text

    def attributes(self, attributes: Attributes) -> Attributes:
        return attributes


@dataclass(slots=True)
class _NodeDraft:
    kind: NodeKind
    name: str
    role: Role
    agent: int | None
    recipients: tuple[int, ...]
    delivery: Delivery | None
    content: str | None
    inputs: Sequence[Artifact]
    outputs: Sequence[Artifact]
    accesses: Sequence[tuple[int, AccessMode]]
    parent: int | None
    round: int | None
    started_at: int | None
    ended_at: int | None
    tokens_in: int | None
    tokens_out: int | None
    status: Status | None
    attributes: Attributes
    content_hash: str | None


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


def make_organization(
    name: str,
    units: Iterable[tuple[str, Role, Attributes]],
    links: Iterable[tuple[int, int, str]],
    *,
    state: Attributes | None = None,
    policy: Attributes | None = None,
) -> Organization:
    """Makes an organization with its hash and ids.

    Args:
        name: For people.
        units: Name, role and attributes of each unit.
        links: Permitted links as positions in ``units`` and the relationship's name
            (may be empty). Several kinds between one pair become one link.
        state: Shared state that the units may read or write.
        policy: The rules of the organization.

    Returns:
        The organization; equal ones have equal ids, wherever they were read.
    """
    members = list(units)
    kinds: dict[tuple[int, int], set[str]] = {}
    for source, target, kind in links:
        kinds.setdefault((source, target), set()).update({kind} if kind else ())
    pairs = [
        (source, target, sorted(names)) for (source, target), names in sorted(kinds.items())
    ]
    value = identity.digest(
        identity.canonical_json([name, members, pairs, state or {}, policy or {}])
    )
    organization = f"organization-{value}"
    ids = [f"{organization}/unit/{position}" for position in range(len(members))]
    return Organization(
        id=organization,
        name=name,
        hash=value,
        units=tuple(
            Unit(id=unit, name=label, role=role, attributes=attributes)
            for unit, (label, role, attributes) in zip(ids, members, strict=True)
        ),
        links=tuple(
            Link(source=ids[source], target=ids[target], kinds=tuple(names))
            for source, target, names in pairs
        ),
        state=state or {},
        policy=policy or {},
    )


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
    role_of: Callable[[str], Role] = lambda name: "unknown"
    task: Task | None = None
    method: Method | None = None
    organization: Organization | None = None
    outcome: Outcome = field(default_factory=Outcome)
    name: str | None = None
    attributes: Attributes = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _agents: list[_AgentDraft] = field(default_factory=list)
    _agents_by_name: dict[str, int] = field(default_factory=dict)
    _nodes: list[_NodeDraft] = field(default_factory=list)
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
        self.task = Task(
            id=identity.task_id(label, dataset),
            name=label,
            description=None if description is None else self.policy.text(description),
            dataset=dataset,
            category=category,
            source_group=source_group,
        )

    def set_method(self, name: str, *, framework: str | None = None) -> None:
        """Names the multi-agent system that made the run."""
        self.method = Method(
            id=identity.method_id(name, framework), name=name, framework=framework
        )

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
                role_name,
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
        key = (self.policy.label(name), type)
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
        """Adds a node. Arguments as in :class:`graphstore.model.Node`, with positions for ids.

        Args:
            role: By default the agent's role.
            recipients: Positions of agents; order and repetition do not matter.
            delivery: Needed when there are recipients; dropped when there are none.
            content_hash: Only for a trace that keeps the hash and not the content.

        Returns:
            The node's position.
        """
        if role is None:
            role = "unknown" if agent is None else self._agents[agent].role
        receivers = tuple(sorted(set(recipients)))
        self._nodes.append(
            _NodeDraft(
                kind,
                name,
                role,
                agent,
                receivers,
                (delivery or "explicit") if receivers else None,
                content,
                tuple(dict.fromkeys(inputs)),
                tuple(dict.fromkeys(outputs)),
                sorted(set(accesses), key=lambda access: (access[0], access[1])),
                parent,
                round,
                started_at,
                ended_at,
                tokens_in,
                tokens_out,
                status,
                attributes or {},
                content_hash,
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
        known, first = self._couplings.setdefault(pair, (set(), basis))
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
        order = self._order()
        place = {old: new for new, old in enumerate(order)}
        agents = [f"{graph}/agent/{position}" for position in range(len(self._agents))]
        nodes = [f"{graph}/{place[old]}" for old in range(len(self._nodes))]
        resources = [f"{graph}/resource/{position}" for position in range(len(self._resources))]
        task = self.task
        if task is None:
            fallback = self.record or graph
            task = Task(id=identity.task_id(fallback, self.format), name=fallback)
        built = CollaborationGraph(
            id=graph,
            kind=self.kind,
            name=self.policy.label(self.name or self.record or task.name),
            task=task,
            method=self.method,
            organization=self.organization,
            agents=tuple(
                Agent(
                    id=agents[position],
                    name=draft.name,
                    role=draft.role,
                    role_name=draft.role_name,
                    kind=draft.kind,
                    unit=self._unit_id(draft.unit),
                    attributes=draft.attributes,
                )
                for position, draft in enumerate(self._agents)
            ),
            nodes=tuple(
                self._node(self._nodes[old], nodes[old], new, agents, nodes, resources)
                for new, old in enumerate(order)
            ),
            edges=tuple(
                Edge(
                    source=nodes[source],
                    target=nodes[target],
                    basis=self._edges[source, target],
                )
                for source, target in sorted(
                    self._edges, key=lambda pair: (place[pair[0]], place[pair[1]])
                )
            ),
            couplings=self._built_couplings(place, nodes, resources),
            resources=tuple(
                Resource(id=resources[position], name=name, type=type_)
                for position, (name, type_) in enumerate(self._resources)
            ),
            proposals=tuple(
                Proposal(
                    id=f"{graph}/proposal/{position}",
                    unit=draft.unit,
                    phase=draft.phase,
                    agent=None if draft.agent is None else agents[draft.agent],
                    node=None if draft.node is None else nodes[draft.node],
                    value=None if draft.value is None else self.policy.text(draft.value),
                    score=draft.score,
                    valid=draft.valid,
                )
                for position, draft in enumerate(self._proposals)
            ),
            outcome=self._outcome(),
            source=Source(
                format=self.format,
                uri=self.uri,
                record=self.record,
                sha256=self.sha256,
                reader_version=self.reader_version,
                warnings=tuple(self.warnings),
            ),
            attributes=self.policy.attributes(self.attributes),
        )
        validate(built)
        return built

    def _unit_id(self, unit: int | None) -> str | None:
        if unit is None or self.organization is None:
            return None
        return self.organization.units[unit].id

    def _node(
        self,
        draft: _NodeDraft,
        id: str,
        index: int,
        agents: list[str],
        nodes: list[str],
        resources: list[str],
    ) -> Node:
        content, content_hash = None, draft.content_hash
        if draft.content is not None:
            content = self.policy.text(draft.content)
            content_hash = identity.content_hash(self.policy.hashed(draft.content))
        return Node(
            id=id,
            index=index,
            kind=draft.kind,
            name=self.policy.label(draft.name),
            role=draft.role,
            agent=None if draft.agent is None else agents[draft.agent],
            recipients=tuple([agents[recipient] for recipient in draft.recipients]),
            delivery=draft.delivery,
            content=content,
            content_hash=content_hash,
            inputs=tuple(draft.inputs),
            outputs=tuple(draft.outputs),
            accesses=tuple(
                [Access(resource=resources[place], mode=mode) for place, mode in draft.accesses]
            ),
            parent=None if draft.parent is None else nodes[draft.parent],
            round=draft.round,
            started_at=draft.started_at,
            ended_at=draft.ended_at,
            tokens_in=draft.tokens_in,
            tokens_out=draft.tokens_out,
            status=draft.status,
            attributes=self.policy.attributes(draft.attributes) if draft.attributes else {},
        )

    def _built_couplings(
        self, place: dict[int, int], nodes: list[str], resources: list[str]
    ) -> tuple[Coupling, ...]:
        ordered = []
        for (one, other), (shared, basis) in self._couplings.items():
            first, second = sorted((one, other), key=lambda position: place[position])
            ordered.append((place[first], place[second], first, second, sorted(shared), basis))
        return tuple(
            Coupling(
                source=nodes[first],
                target=nodes[second],
                resources=tuple(resources[position] for position in shared),
                basis=basis,
            )
            for _, _, first, second, shared, basis in sorted(ordered)
        )

    def _outcome(self) -> Outcome:
        outcome = self.outcome
        kept = {
            name: None if value is None else self.policy.text(value)
            for name, value in (
                ("answer", outcome.answer),
                ("expected", outcome.expected),
                ("mistake_reason", outcome.mistake_reason),
            )
        }
        fields = {name: getattr(outcome, name) for name in outcome.__struct_fields__}
        return Outcome(**{**fields, **kept})

    def _order(self) -> list[int]:
        if self.kind == "run":
            return list(range(len(self._nodes)))
        waiting = [0] * len(self._nodes)
        following: dict[int, list[int]] = {}
        for source, target in self._edges:
            waiting[target] += 1
            following.setdefault(source, []).append(target)
        ready = [position for position, count in enumerate(waiting) if count == 0]
        order: list[int] = []
        while ready:
            position = heapq.heappop(ready)
            order.append(position)
            for target in following.get(position, ()):
                waiting[target] -= 1
                if waiting[target] == 0:
                    heapq.heappush(ready, target)
        if len(order) < len(self._nodes):
            stuck = [
                self._nodes[position].name
                for position, count in enumerate(waiting)
                if count > 0
            ]
            raise GraphError(
                "the dependencies form a cycle through " + ", ".join(stuck[:5]),
                file=self.uri,
                record=self.record,
            )
        return order
