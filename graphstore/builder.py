"""Builds a graph in canonical order: the one way in which readers make graphs.

Agents, resources and nodes are handed around as positions (plain integers) while a graph
grows; ids are made at the end, from the graph's own id and those positions.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore import identity
from graphstore.assembly import Assembly, NodeDraft
from graphstore.errors import GraphError, UsageError
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
    Link,
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
    Unit,
)
from graphstore.policies import ContentPolicy, KeepEverything
from graphstore.validation import holds_beside_nodes, validate

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


_OUTCOME_TEXTS = ("answer", "expected", "mistake_reason")
_OUTCOME_LABELS = ("termination", "mistake_agent")


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

    Raises:
        UsageError: A unit or a link is no triple of this kind, or a position is of no unit.
    """
    members = list(units)
    for place, unit in enumerate(members):
        if not isinstance(unit, tuple | list) or len(unit) != 3:
            raise UsageError(
                f"units[{place}] is not (name, role, attributes): for example "
                "('ann', 'critic', {})"
            )
    kinds: dict[tuple[int, int], set[str]] = {}
    for place, link in enumerate(links):
        if not isinstance(link, tuple | list) or len(link) != 3:
            raise UsageError(
                f"links[{place}] is not (source, target, kind): positions in units and a "
                "text, for example (0, 1, '')"
            )
        source, target, kind = link
        for end in (source, target):
            if type(end) is not int or not 0 <= end < len(members):
                raise UsageError(
                    f"links[{place}] joins {end!r}: an end is a unit's position, from 0 to "
                    f"{len(members) - 1}"
                )
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
    role_of: Callable[[str], Role] = unknown_role
    task: Task | None = None
    method: Method | None = None
    organization: Organization | None = None
    outcome: Outcome = field(default_factory=Outcome)
    name: str | None = None
    attributes: Attributes = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
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
        self.task = Task(
            id=identity.task_id(label, dataset),
            name=label,
            description=None if description is None else self.policy.text(description),
            dataset=dataset,
            category=self._label(category),
            source_group=self._label(source_group),
        )

    def set_method(self, name: str, *, framework: str | None = None) -> None:
        """Names the multi-agent system that made the run."""
        name, framework = self.policy.label(name), self._label(framework)
        self.method = Method(
            id=identity.method_id(name, framework), name=name, framework=framework
        )

    def _label(self, text: str | None) -> str | None:
        return None if text is None else self.policy.label(text)

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
        receivers: tuple[int, ...] = ()
        if recipients:
            receivers = tuple(sorted(set(recipients)))
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
                tuple(dict.fromkeys(inputs)) if inputs else (),
                tuple(dict.fromkeys(outputs)) if outputs else (),
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
        if self.kind != "run" and not all(source < target for source, target in self._edges):
            order = self._order()
            drafts = [drafts[old] for old in order]
            place = [0] * len(order)
            for new, old in enumerate(order):
                place[old] = new
        agents = [f"{graph}/agent/{position}" for position in range(len(self._agents))]
        nodes = [f"{graph}/{index}" for index in range(len(drafts))]
        resources = [f"{graph}/resource/{position}" for position in range(len(self._resources))]
        label = self.policy.label
        record = self._label(self.record)
        task = self._task(record or graph)
        organization = self._organization()
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
                warnings=tuple(dict.fromkeys(map(label, self.warnings))),
            ),
            method=self._method(),
            organization=organization,
            agents=tuple(
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
                    for id, draft in zip(agents, self._agents, strict=True)
                ]
            ),
            nodes=parts.nodes(drafts),
            edges=parts.edges(self._edges),
            couplings=self._built_couplings(place, nodes, resources),
            resources=tuple(
                [
                    Resource(id=id, name=name, type=type_)
                    for id, (name, type_) in zip(resources, self._resources, strict=True)
                ]
            ),
            proposals=tuple(
                [
                    Proposal(
                        id=f"{graph}/proposal/{position}",
                        unit=label(draft.unit),
                        phase=draft.phase,
                        agent=None if draft.agent is None else agents[draft.agent],
                        node=None if draft.node is None else nodes[place[draft.node]],
                        value=None if draft.value is None else self.policy.text(draft.value),
                        score=draft.score,
                        valid=draft.valid,
                    )
                    for position, draft in enumerate(self._proposals)
                ]
            ),
            outcome=self._outcome(),
            attributes=parts.attributes(self.attributes),
        )
        if not (parts.valid and holds_beside_nodes(built)):
            validate(built)
        return built

    def _task(self, fallback: str) -> Task:
        """The task; one that a reader made by itself has not seen the policy."""
        task = self.task
        if task is None:
            return Task(id=identity.task_id(fallback, self.format), name=fallback)
        kept = (
            self.policy.label(task.name),
            self._label(task.dataset),
            self._label(task.category),
            self._label(task.source_group),
        )
        if kept == (task.name, task.dataset, task.category, task.source_group):
            return task
        name, dataset, category, source_group = kept
        return Task(
            id=identity.task_id(name, dataset),
            name=name,
            description=task.description,
            dataset=dataset,
            category=category,
            source_group=source_group,
        )

    def _method(self) -> Method | None:
        method = self.method
        if method is None:
            return None
        name, framework = self.policy.label(method.name), self._label(method.framework)
        if (name, framework) == (method.name, method.framework):
            return method
        return Method(id=identity.method_id(name, framework), name=name, framework=framework)

    def _organization(self) -> Organization | None:
        """The organization as it may be stored, with the ids that this form has."""
        found = self.organization
        if found is None:
            return None
        label, attributes = self.policy.label, self.policy.attributes
        name = label(found.name)
        members = [
            (label(one.name), one.role, attributes(one.attributes)) for one in found.units
        ]
        kinds = [tuple(map(label, link.kinds)) for link in found.links]
        state, policy = attributes(found.state), attributes(found.policy)
        if (
            name == found.name
            and members == [(one.name, one.role, one.attributes) for one in found.units]
            and kinds == [link.kinds for link in found.links]
            and state == found.state
            and policy == found.policy
        ):
            return found
        positions = {unit.id: position for position, unit in enumerate(found.units)}
        links = [
            (positions[link.source], positions[link.target], kind)
            for link, names in zip(found.links, kinds, strict=True)
            for kind in names or ("",)
        ]
        return make_organization(name, members, links, state=state, policy=policy)

    def _built_couplings(
        self, place: Sequence[int], nodes: list[str], resources: list[str]
    ) -> tuple[Coupling, ...]:
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

    def _outcome(self) -> Outcome:
        outcome = self.outcome
        kept: dict[str, str | None] = {}
        for names, stored in (
            (_OUTCOME_TEXTS, self.policy.text),
            (_OUTCOME_LABELS, self._label),
        ):
            for name in names:
                value = getattr(outcome, name)
                if value is not None and (found := stored(value)) != value:
                    kept[name] = found
        return msgspec.structs.replace(outcome, **kept) if kept else outcome

    def _order(self) -> list[int]:
        """Topological order, ties in the order of adding."""
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
                self.policy.label(self._nodes[position][1])
                for position, count in enumerate(waiting)
                if count > 0
            ]
            raise GraphError(
                "the dependencies form a cycle through " + ", ".join(stuck[:5]),
                file=self.uri,
                record=self._label(self.record),
            )
        return order
