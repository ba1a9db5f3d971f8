"""A graph as the rows of a store; :mod:`graphstore.graph_of_rows` turns them back."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import msgspec

from graphstore import identity
from graphstore.model import (
    Agent,
    Artifact,
    Attributes,
    CollaborationGraph,
    Outcome,
    Proposal,
    Task,
)
from graphstore.rows import Rows

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_DATETIME_NS = 253_402_300_799_999_999_000
OUTCOME_FIELDS = Outcome.__struct_fields__
NODE_FIELDS = (
    "name",
    "index",
    "kind",
    "role",
    "delivery",
    "content",
    "content_hash",
    "round",
    "started_at",
    "ended_at",
    "tokens_in",
    "tokens_out",
    "status",
)


def fingerprint(graph: CollaborationGraph) -> str:
    """Hash of everything that a graph says, except the name of the file it came from.

    The task's shared fields are left out too: a store keeps those once for all graphs.
    """
    own = msgspec.structs.replace(
        graph,
        task=Task(id=graph.task.id, name=""),
        source=msgspec.structs.replace(graph.source, uri=""),
    )
    return identity.digest(identity.canonical_json(own), size=16)


def graph_label(graph_id: str) -> str:
    """The label of the node that stands for a graph: ``Run`` or ``Decomposition``."""
    return "Run" if graph_id.startswith("run-") else "Decomposition"


def graph_rows(graph: CollaborationGraph) -> Rows:
    """A graph as rows.

    Args:
        graph: A validated graph.

    Returns:
        Nodes and relations for :mod:`graphstore.schema`'s table.
    """
    rows = Rows()
    top = graph_label(graph.id)
    item = "Action" if graph.kind == "run" else "Subtask"
    rows.node(
        top,
        {
            "id": graph.id,
            "name": graph.name,
            "fingerprint": fingerprint(graph),
            "format": graph.source.format,
            "uri": graph.source.uri,
            "record": graph.source.record,
            "sha256": graph.source.sha256,
            "reader_version": graph.source.reader_version,
            "warnings": list(graph.source.warnings) or None,
            "attributes": _json(graph.attributes),
            **{name: getattr(graph.outcome, name) for name in OUTCOME_FIELDS},
            "node_count": len(graph.nodes),
            "edge_count": len(graph.edges),
            "inferred_edge_count": graph.inferred_edges,
            "agent_count": len(graph.agents),
        },
    )
    _task_rows(rows, graph, top)
    _organization_rows(rows, graph, top)
    for position, agent in enumerate(graph.agents):
        _agent_rows(rows, graph.id, top, position, agent)
    for position, resource in enumerate(graph.resources):
        rows.node(
            "Resource",
            {
                "id": resource.id,
                "name": resource.name,
                "resource_type": resource.type,
                "position": position,
            },
        )
        rows.relate(
            "HAS_RESOURCE", top, "Resource", {"source": graph.id, "target": resource.id}
        )
    _node_rows(rows, graph, top, item)
    rows.relate_all(
        "INFORMS" if item == "Action" else "PRECEDES",
        item,
        item,
        [
            {"source": edge.source, "target": edge.target, "basis": edge.basis}
            for edge in graph.edges
        ],
    )
    for coupling in graph.couplings:
        rows.relate(
            "COUPLED_WITH",
            item,
            item,
            {
                "source": coupling.source,
                "target": coupling.target,
                "resources": list(coupling.resources) or None,
                "basis": coupling.basis,
            },
        )
    for position, proposal in enumerate(graph.proposals):
        _proposal_rows(rows, graph.id, top, item, position, proposal)
    return rows


def _json(value: Attributes) -> str | None:
    return identity.canonical_json(value) if value else None


def _time(nanoseconds: int | None) -> datetime | None:
    if nanoseconds is None or not 0 <= nanoseconds <= _MAX_DATETIME_NS:
        return None
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _task_rows(rows: Rows, graph: CollaborationGraph, top: str) -> None:
    task = graph.task
    rows.node("Task", {name: getattr(task, name) for name in task.__struct_fields__})
    rows.relate("OF_TASK", top, "Task", {"source": graph.id, "target": task.id})
    if task.dataset is not None:
        dataset = identity.dataset_id(task.dataset)
        rows.node("Dataset", {"id": dataset, "name": task.dataset})
        rows.relate("HAS_TASK", "Dataset", "Task", {"source": dataset, "target": task.id})
    if graph.method is not None:
        method = graph.method
        rows.node(
            "Method", {"id": method.id, "name": method.name, "framework": method.framework}
        )
        rows.relate("BY_METHOD", top, "Method", {"source": graph.id, "target": method.id})


def _organization_rows(rows: Rows, graph: CollaborationGraph, top: str) -> None:
    organization = graph.organization
    if organization is None:
        return
    rows.node(
        "Organization",
        {
            "id": organization.id,
            "name": organization.name,
            "hash": organization.hash,
            "state": _json(organization.state),
            "policy": _json(organization.policy),
        },
    )
    rows.relate(
        "CONFIGURED_AS", top, "Organization", {"source": graph.id, "target": organization.id}
    )
    for position, unit in enumerate(organization.units):
        rows.node(
            "Unit",
            {
                "id": unit.id,
                "name": unit.name,
                "role": unit.role,
                "position": position,
                "attributes": _json(unit.attributes),
            },
        )
        rows.relate(
            "HAS_UNIT", "Organization", "Unit", {"source": organization.id, "target": unit.id}
        )
    for link in organization.links:
        rows.relate(
            "MAY_SEND",
            "Unit",
            "Unit",
            {"source": link.source, "target": link.target, "kinds": list(link.kinds) or None},
        )


def _agent_rows(rows: Rows, graph: str, top: str, position: int, agent: Agent) -> None:
    rows.node(
        "Agent",
        {
            "id": agent.id,
            "name": agent.name,
            "role": agent.role,
            "role_name": agent.role_name,
            "kind": agent.kind,
            "position": position,
            "attributes": _json(agent.attributes),
        },
    )
    rows.relate("HAS_AGENT", top, "Agent", {"source": graph, "target": agent.id})
    if agent.unit is not None:
        rows.relate("PLAYS", "Agent", "Unit", {"source": agent.id, "target": agent.unit})


def _membership_rows(rows: Rows, graph: CollaborationGraph, top: str, item: str) -> None:
    """The relations that nearly every node has; most of a store's rows are these."""
    nodes = graph.nodes
    rows.relate_all(
        "HAS_ACTION" if item == "Action" else "HAS_SUBTASK",
        top,
        item,
        [{"source": graph.id, "target": node.id} for node in nodes],
    )
    if item == "Subtask":
        task = graph.task.id
        rows.relate_all(
            "DECOMPOSES_INTO",
            "Task",
            item,
            [{"source": task, "target": node.id} for node in nodes],
        )
    else:
        rows.relate_all(
            "NEXT",
            item,
            item,
            [{"source": one.id, "target": other.id} for one, other in pairwise(nodes)],
        )
    rows.relate_all(
        "PERFORMED",
        "Agent",
        item,
        [{"source": node.agent, "target": node.id} for node in nodes if node.agent is not None],
    )
    rows.relate_all(
        "SENT_TO",
        item,
        "Agent",
        [{"source": node.id, "target": to} for node in nodes for to in node.recipients],
    )
    rows.relate_all(
        "PARENT_OF",
        item,
        item,
        [
            {"source": node.parent, "target": node.id}
            for node in nodes
            if node.parent is not None
        ],
    )


def _node_rows(rows: Rows, graph: CollaborationGraph, top: str, item: str) -> None:
    _membership_rows(rows, graph, top, item)
    artifacts: dict[Artifact, str] = {}
    for node in graph.nodes:
        rows.node(
            item,
            {
                "id": node.id,
                "graph": graph.id,
                **{name: getattr(node, name) for name in NODE_FIELDS},
                "started_at_time": _time(node.started_at),
                "ended_at_time": _time(node.ended_at),
                "attributes": _json(node.attributes),
            },
        )
        for access in node.accesses:
            rows.relate(
                "READS" if access.mode == "read" else "WRITES",
                item,
                "Resource",
                {"source": node.id, "target": access.resource},
            )
        for relation, used in (("REQUIRES", node.inputs), ("PRODUCES", node.outputs)):
            for position, artifact in enumerate(used):
                if artifact not in artifacts:
                    artifacts[artifact] = f"{graph.id}/artifact/{len(artifacts)}"
                    rows.node(
                        "Artifact",
                        {
                            "id": artifacts[artifact],
                            "name": artifact.name,
                            "artifact_type": artifact.type,
                        },
                    )
                rows.relate(
                    relation,
                    item,
                    "Artifact",
                    {"source": node.id, "target": artifacts[artifact], "position": position},
                )


def _proposal_rows(
    rows: Rows, graph: str, top: str, item: str, position: int, proposal: Proposal
) -> None:
    rows.node(
        "Proposal",
        {
            "id": proposal.id,
            "name": f"{proposal.phase} {proposal.unit}",
            "unit": proposal.unit,
            "phase": proposal.phase,
            "value": proposal.value,
            "score": proposal.score,
            "valid": proposal.valid,
            "position": position,
        },
    )
    rows.relate("HAS_PROPOSAL", top, "Proposal", {"source": graph, "target": proposal.id})
    if proposal.node is not None:
        rows.relate(
            "PROPOSES", item, "Proposal", {"source": proposal.node, "target": proposal.id}
        )
    if proposal.agent is not None:
        rows.relate(
            "OFFERED", "Agent", "Proposal", {"source": proposal.agent, "target": proposal.id}
        )
