"""Writes graphs as masgraph's own JSONL. Read back, a line gives the same graph again.

The same in all that a graph says: its parts, their order, the bases of its edges. Its ids
and its source are those of the new file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from graphstore.errors import UsageError
from graphstore.model import (
    Access,
    Agent,
    Artifact,
    CollaborationGraph,
    Node,
    Organization,
    Outcome,
)
from ingest.readers.native_graph import EVERYBODY
from ingest.readers.native_records import (
    FORMAT_VERSION,
    ActionRecord,
    AgentRecord,
    AnyRecord,
    ArtifactRecord,
    CouplingRecord,
    DecompositionRecord,
    LinkRecord,
    MethodRecord,
    OrganizationRecord,
    OutcomeRecord,
    ProposalRecord,
    ResourceRecord,
    RunRecord,
    SourceRecord,
    SubtaskRecord,
    TaskRecord,
    UnitRecord,
    encoder,
)


def write_native(graphs: Iterable[CollaborationGraph]) -> Iterator[bytes]:
    """Graphs as lines of masgraph's own JSONL.

    Args:
        graphs: Validated graphs.

    Yields:
        One line for each graph, in UTF-8, without a line end. The record's id is the
        graph's id.

    Raises:
        UsageError: A graph holds a value that JSON does not know.
    """
    for graph in graphs:
        try:
            yield encoder.encode(native_record(graph))
        except (TypeError, UnicodeEncodeError) as error:
            raise UsageError(f"{graph.id} cannot be written as JSON: {error}") from error


def native_record(graph: CollaborationGraph, *, id: str | None = None) -> AnyRecord:
    """A graph as a record of masgraph's own format.

    Args:
        graph: A validated graph.
        id: The record's id; by default the graph's.
    """
    agents = _keys([agent.name for agent in graph.agents])
    names = dict(zip((agent.id for agent in graph.agents), agents, strict=True))
    resources = _keys([resource.name for resource in graph.resources])
    shared = dict(zip((resource.id for resource in graph.resources), resources, strict=True))
    units = _keys(
        [unit.name for unit in graph.organization.units] if graph.organization else []
    )
    unit_keys = (
        dict(zip((unit.id for unit in graph.organization.units), units, strict=True))
        if graph.organization
        else {}
    )
    nodes = {node.id: str(node.index) for node in graph.nodes}
    sources: dict[str, list[SourceRecord | str]] = {}
    for edge in graph.edges:
        name = nodes[edge.source]
        sources.setdefault(edge.target, []).append(
            name if edge.basis == "explicit" else SourceRecord(id=name, basis=edge.basis)
        )
    everybody = tuple(agent.id for agent in graph.agents)
    fields: dict[str, Any] = {
        "masgraph": FORMAT_VERSION,
        "id": id or graph.id,
        "name": graph.name,
        "task": _task(graph),
        "method": None
        if graph.method is None
        else graph.method.name
        if graph.method.framework is None
        else MethodRecord(name=graph.method.name, framework=graph.method.framework),
        "organization": _organization(graph.organization, unit_keys),
        "agents": tuple(
            _agent(agent, key, unit_keys)
            for agent, key in zip(graph.agents, agents, strict=True)
        ),
        "resources": tuple(
            ResourceRecord(
                name=resource.name,
                id=None if key == resource.name else key,
                type=resource.type,
            )
            for resource, key in zip(graph.resources, resources, strict=True)
        ),
        "couplings": tuple(
            CouplingRecord(
                between=(nodes[coupling.source], nodes[coupling.target]),
                resources=tuple(shared[resource] for resource in coupling.resources),
                basis="inferred" if coupling.basis == "inferred" else "explicit",
            )
            for coupling in graph.couplings
        ),
        "proposals": tuple(
            ProposalRecord(
                unit=proposal.unit,
                phase=proposal.phase,
                agent=None if proposal.agent is None else names[proposal.agent],
                node=None if proposal.node is None else nodes[proposal.node],
                value=proposal.value,
                score=proposal.score,
                valid=proposal.valid,
            )
            for proposal in graph.proposals
        ),
        "outcome": _outcome(graph.outcome),
        "attributes": graph.attributes,
        "warnings": graph.source.warnings,
    }
    roles = {agent.id: agent.role for agent in graph.agents}
    items = [
        _node(node, names, nodes, shared, everybody)
        | {
            "role": None if node.role == roles.get(node.agent or "", "unknown") else node.role,
            "consumes": tuple(sources.get(node.id, ())),
        }
        for node in graph.nodes
    ]
    if graph.kind == "run":
        return RunRecord(**fields, actions=tuple(ActionRecord(**item) for item in items))
    return DecompositionRecord(
        **fields, subtasks=tuple(SubtaskRecord(**item) for item in items)
    )


def _keys(names: list[str]) -> list[str]:
    """Names where they stand once, else the name with its position."""
    count = Counter(names)
    taken = set(names)
    keys = []
    for position, name in enumerate(names):
        key = name
        if count[name] > 1 or name == EVERYBODY or not name:
            key = f"{name}#{position}"
            while key in taken:
                key += "#"
            taken.add(key)
        keys.append(key)
    return keys


def _task(graph: CollaborationGraph) -> TaskRecord:
    task = graph.task
    return TaskRecord(
        name=task.name,
        description=task.description,
        dataset=task.dataset,
        category=task.category,
        source_group=task.source_group,
    )


def _organization(
    organization: Organization | None, keys: dict[str, str]
) -> OrganizationRecord | None:
    if organization is None:
        return None
    return OrganizationRecord(
        name=organization.name,
        units=tuple(
            UnitRecord(
                name=unit.name,
                id=None if keys[unit.id] == unit.name else keys[unit.id],
                role=unit.role,
                attributes=unit.attributes,
            )
            for unit in organization.units
        ),
        links=tuple(
            LinkRecord(source=keys[link.source], target=keys[link.target], kinds=link.kinds)
            for link in organization.links
        ),
        state=organization.state,
        policy=organization.policy,
    )


def _agent(agent: Agent, key: str, units: dict[str, str]) -> AgentRecord:
    return AgentRecord(
        name=agent.name,
        id=None if key == agent.name else key,
        role=agent.role,
        role_name=agent.role_name,
        kind=agent.kind,
        unit=None if agent.unit is None else units[agent.unit],
        attributes=agent.attributes,
    )


def _node(
    node: Node,
    names: dict[str, str],
    nodes: dict[str, str],
    shared: dict[str, str],
    everybody: tuple[str, ...],
) -> dict[str, Any]:
    to: tuple[str, ...] | str = tuple(names[recipient] for recipient in node.recipients)
    delivery = None if node.delivery == "explicit" else node.delivery
    if node.delivery == "broadcast" and node.recipients == tuple(
        agent for agent in everybody if agent != node.agent
    ):
        to, delivery = EVERYBODY, None
    return {
        "id": nodes[node.id],
        "kind": node.kind,
        "name": node.name,
        "agent": None if node.agent is None else names[node.agent],
        "to": to,
        "delivery": delivery,
        "content": node.content,
        "content_hash": node.content_hash if node.content is None else None,
        "inputs": _artifacts(node.inputs),
        "outputs": _artifacts(node.outputs),
        "reads": _accesses(node.accesses, "read", shared),
        "writes": _accesses(node.accesses, "write", shared),
        "parent": None if node.parent is None else nodes[node.parent],
        "round": node.round,
        "started_at": node.started_at,
        "ended_at": node.ended_at,
        "tokens_in": node.tokens_in,
        "tokens_out": node.tokens_out,
        "status": node.status,
        "attributes": node.attributes,
    }


def _accesses(
    accesses: tuple[Access, ...], mode: str, shared: dict[str, str]
) -> tuple[str, ...]:
    return tuple(shared[access.resource] for access in accesses if access.mode == mode)


def _artifacts(artifacts: tuple[Artifact, ...]) -> tuple[ArtifactRecord | str, ...]:
    return tuple(
        artifact.name
        if artifact.type is None
        else ArtifactRecord(name=artifact.name, type=artifact.type)
        for artifact in artifacts
    )


def _outcome(outcome: Outcome) -> OutcomeRecord | None:
    if outcome == Outcome():
        return None
    return OutcomeRecord(
        **{name: getattr(outcome, name) for name in OutcomeRecord.__struct_fields__}
    )
