"""Holds a graph to the rules of the model.

:func:`validate` is the whole check, part by part, for graphs from anywhere. The builder's own
graphs pass quick looks first (:func:`holds_beside_nodes` is one) and come here only where a
look is not sure.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from graphstore.errors import GraphError
from graphstore.model import (
    ACCESS_MODES,
    ACTION_KINDS,
    AGENT_KINDS,
    BASES,
    DELIVERIES,
    GRAPH_KINDS,
    PROPOSAL_PHASES,
    ROLES,
    STATUSES,
    SUBTASK_KINDS,
    CollaborationGraph,
    Node,
    Organization,
    Outcome,
)

_ROLES = frozenset(ROLES)
_AGENT_KINDS = frozenset(AGENT_KINDS)


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
    rest = (
        graph.name,
        graph.task,
        graph.source,
        graph.method,
        graph.organization,
        graph.agents,
        graph.resources,
        graph.proposals,
        graph.outcome,
    )
    if graph.kind not in GRAPH_KINDS or not _encodes(rest):
        return False
    if not _has_only_nodes(graph) and not _fit(_values_beside(graph)):
        return False
    units: set[str] = set()
    if (organization := graph.organization) is not None:
        units.update([unit.id for unit in organization.units])
        if not _is_sound(organization, units):
            return False
    for agent in graph.agents:
        if agent.role not in _ROLES or agent.kind not in _AGENT_KINDS:
            return False
        if agent.unit is not None and agent.unit not in units:
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


def contains_itself(graph: CollaborationGraph) -> bool:
    """Whether some node stands inside itself."""
    return any(_containment_problems(graph, {node.id: node.index for node in graph.nodes}))


def _has_only_nodes(graph: CollaborationGraph) -> bool:
    """Whether nothing beside nodes and edges can hold numbers or attributes."""
    return not (
        graph.agents
        or graph.proposals
        or graph.organization is not None
        or graph.outcome != _NO_OUTCOME
    )


def _is_sound(organization: Organization, ids: set[str]) -> bool:
    """Whether a quick look finds no problem with units, of these ids, and links."""
    units, links = organization.units, organization.links
    return (
        len(ids) == len(units)
        and len({(link.source, link.target) for link in links}) == len(links)
        and _ROLES.issuperset([unit.role for unit in units])
        and ids.issuperset([link.source for link in links])
        and ids.issuperset([link.target for link in links])
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
_NO_OUTCOME = Outcome()
_FITTING = frozenset((str, bool, type(None)))


def _plainly_storable(graph: CollaborationGraph) -> bool:
    """Whether a quick look shows that every value can be stored; False leaves it open.

    Encoding finds broken text wherever it stands. Only numbers and what attributes hold are
    left to look at: this is what makes checking a large graph cheap.
    """
    if not _encodes(graph):
        return False
    stack = [graph.attributes, *_values_beside(graph)]
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
    return _fit(stack)


def _encodes(value: Any) -> bool:
    """Whether all of a value can be JSON in UTF-8."""
    try:
        _ENCODER.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError, RecursionError):
        return False
    return True


def _values_beside(graph: CollaborationGraph) -> list[Any]:
    """Numbers, and what may hold some, beside nodes and the graph's attributes."""
    values: list[Any] = [agent.attributes for agent in graph.agents if agent.attributes]
    values.extend([proposal.score for proposal in graph.proposals])
    if graph.organization is not None:
        organization = graph.organization
        values += (organization.name, organization.state, organization.policy)
        for unit in organization.units:
            values += (unit.name, unit.attributes)
        values += [kind for link in organization.links for kind in link.kinds]
    if graph.outcome != _NO_OUTCOME:
        values.extend(msgspec.structs.astuple(graph.outcome))
    return values


def _fit(stack: list[Any]) -> bool:
    """Whether all numbers in some values can be stored, and all else is JSON."""
    stack = [value for value in stack if type(value) not in _FITTING]
    for value in stack:
        if isinstance(value, dict):
            stack.extend([inner for inner in value.values() if type(inner) not in _FITTING])
        elif isinstance(value, list | tuple):
            stack.extend([inner for inner in value if type(inner) not in _FITTING])
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
