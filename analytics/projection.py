"""The simple directed graphs that a run is measured on: as executed, and as permitted.

Source: OpenMAS-GCom, appendix B.4, which measures simple directed graphs of units and
compares constructed edges with executed message edges. What counts as an executed edge is
left open there; three readings have names here:

- ``message``: an action of u was delivered to v;
- ``consumption``: an action of v consumed the output of an action of u;
- ``exchange`` (the default): either of the two. Formats that record recipients make both
  readings nearly one; formats that record only parents or replies have no recipients, and
  would look silent if deliveries alone counted.

A fourth, ``action``, is the graph of the actions (or subtasks) themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from analytics.positions import Positions
from graphstore.errors import UsageError
from graphstore.model import AgentKind, CollaborationGraph, Organization

ProjectionName = Literal["exchange", "message", "consumption", "action"]
PROJECTIONS: tuple[str, ...] = get_args(ProjectionName)
ALL_AGENT_KINDS: tuple[AgentKind, ...] = get_args(AgentKind)
_KINDS = frozenset(ALL_AGENT_KINDS)


@dataclass(frozen=True, slots=True)
class SimpleDigraph:
    """A directed graph without loops and without repeated edges.

    Attributes:
        vertices: Ids, n of them.
        successors: For each vertex, the positions that it has an edge to, ascending.
    """

    vertices: tuple[str, ...]
    successors: tuple[tuple[int, ...], ...]

    @property
    def vertex_count(self) -> int:
        """Number of vertices, n."""
        return len(self.vertices)

    @property
    def edge_count(self) -> int:
        """Number of edges, m."""
        return sum(map(len, self.successors))

    @classmethod
    def of(cls, vertices: Iterable[str], edges: Iterable[tuple[int, int]]) -> "SimpleDigraph":
        """Makes a graph of any list of edges; loops and repetitions fall away.

        Args:
            vertices: Ids.
            edges: Pairs of positions in ``vertices``.

        Raises:
            UsageError: An edge names a position that is no vertex.
        """
        names = tuple(vertices)
        targets: list[set[int]] = [set() for _ in names]
        for source, target in edges:
            if not (0 <= source < len(names) and 0 <= target < len(names)):
                raise UsageError(
                    f"the edge {source} -> {target} names no vertex of {len(names)}"
                )
            if source != target:
                targets[source].add(target)
        return cls(names, tuple([tuple(sorted(found)) for found in targets]))


@dataclass(frozen=True, slots=True)
class Projection:
    """A run as a simple directed graph, with the number of messages from each vertex.

    Attributes:
        name: Which reading of an executed edge it is.
        graph: The graph.
        sent: For each vertex, the number of its actions that made at least one edge of the
            graph. A message counts once, however many received it. None for the graph of
            actions, where a vertex is no sender.
    """

    name: ProjectionName
    graph: SimpleDigraph
    sent: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class RouteUse:
    """Permitted links beside executed edges, between units (OpenMAS-GCom, B.4).

    Attributes:
        permitted: Number of permitted links, without loops.
        used: Number of permitted links that carried at least one message.
        unpermitted: Number of executed edges between units that no link permits.
    """

    permitted: int
    used: int
    unpermitted: int

    @property
    def share_used(self) -> float | None:
        """Used links over permitted links, between 0 and 1; None without any link."""
        return self.used / self.permitted if self.permitted else None


def project(
    graph: CollaborationGraph,
    name: ProjectionName = "exchange",
    *,
    agent_kinds: Iterable[AgentKind] = ALL_AGENT_KINDS,
    positions: Positions | None = None,
) -> Projection:
    """The simple directed graph of what was executed.

    Vertices are the agents of the run, silent ones too, then those units of its
    organization that no agent plays, so that the graph can be laid beside the permitted
    one. (Where no agent says which unit it plays, the units are left out: they would stand
    twice.) Actions that nobody owns have no vertex and make no edge. For ``action`` the
    vertices are the nodes and the edges are the graph's own.

    Args:
        graph: A run; for ``action`` a decomposition too.
        name: The reading of an executed edge.
        agent_kinds: Agents of other kinds are left out with all that they sent and got.
        positions: Of this graph, where they have been read; read here where None.

    Raises:
        UsageError: The name or a kind is unknown.
    """
    if name not in PROJECTIONS:
        raise UsageError(
            f"there is no projection {name!r}; choose one of {', '.join(PROJECTIONS)}"
        )
    kinds = frozenset(agent_kinds)
    if not kinds <= _KINDS:
        raise UsageError(f"unknown kinds of agents: {sorted(kinds - _KINDS)}")
    read = positions or Positions(graph)
    if name == "action":
        edges = zip(read.sources, read.targets, strict=True)
        return Projection(name, SimpleDigraph.of(read.index, edges), None)
    position = {
        agent: place
        for place, agent in enumerate(
            [agent.id for agent in graph.agents if agent.kind in kinds]
        )
    }
    vertices = (*position, *_unplayed_units(graph))
    # Actions without a vertex share one place behind the last; nothing is sent or got there.
    nobody = len(vertices)
    owners = [position.get(agent or "", nobody) for agent in read.agents]
    units = [*[1 << vertex for vertex in range(nobody)], 0]
    receivers = (
        [0] * len(owners) if name == "consumption" else _delivered(graph, position, units)
    )
    if name != "message":
        consumers = [units[owner] for owner in owners]
        for source, target in zip(read.sources, read.targets, strict=True):
            receivers[source] |= consumers[target]
    others = [*[~unit for unit in units[:nobody]], 0]
    targets = [0] * (nobody + 1)
    sent = [0] * (nobody + 1)
    for owner, found in zip(owners, receivers, strict=True):
        if reached := found & others[owner]:
            targets[owner] |= reached
            sent[owner] += 1
    return Projection(
        name,
        SimpleDigraph(vertices, tuple([_members(bits) for bits in targets[:nobody]])),
        tuple(sent[:nobody]),
    )


def permitted(organization: Organization) -> SimpleDigraph:
    """The simple directed graph of the links that an organization permits."""
    position = {unit.id: place for place, unit in enumerate(organization.units)}
    return SimpleDigraph.of(
        position,
        [(position[link.source], position[link.target]) for link in organization.links],
    )


def route_use(graph: CollaborationGraph, executed: SimpleDigraph) -> RouteUse | None:
    """Which permitted links were used, and what happened outside of them.

    Args:
        graph: The run that was projected.
        executed: Its graph of agents.

    Returns:
        None where no organization is known, or no agent says which unit it plays.
        Edges of agents without a unit, and between agents of one unit, count nowhere.
    """
    if graph.organization is None:
        return None
    unit_of = {agent.id: agent.unit for agent in graph.agents if agent.unit is not None}
    if not unit_of:
        return None
    links = {
        (link.source, link.target)
        for link in graph.organization.links
        if link.source != link.target
    }
    units = [unit_of.get(vertex) for vertex in executed.vertices]
    edges = {
        (units[source], units[target])
        for source, found in enumerate(executed.successors)
        for target in found
        if units[source] is not None
        and units[target] is not None
        and units[source] != units[target]
    }
    return RouteUse(len(links), len(links & edges), len(edges - links))


def _unplayed_units(graph: CollaborationGraph) -> tuple[str, ...]:
    if graph.organization is None:
        return ()
    played = {agent.unit for agent in graph.agents if agent.unit is not None}
    if not played:
        return ()
    return tuple([unit.id for unit in graph.organization.units if unit.id not in played])


def _delivered(
    graph: CollaborationGraph, position: dict[str, int], units: list[int]
) -> list[int]:
    """For each node, those whom it was delivered to, as a set of bits."""
    lists = [node.recipients for node in graph.nodes]
    # A broadcast repeats its list of recipients with every message.
    found = {}
    for recipients in set(lists):
        bits = 0
        for recipient in recipients:
            if recipient in position:
                bits |= units[position[recipient]]
        found[recipients] = bits
    return [found[recipients] for recipients in lists]


@lru_cache(maxsize=4096)
def _members(bits: int) -> tuple[int, ...]:
    """The positions of the bits that are set, ascending."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(found)
