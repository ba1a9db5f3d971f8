"""Density, reachability, path length and source entropy of a simple directed graph.

Source: OpenMAS-GCom, appendix B.4, Eq. 15 and 16.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analytics.projection import ALL_AGENT_KINDS, ProjectionName, SimpleDigraph, project
from graphstore.compiled import compiled
from graphstore.errors import UsageError
from graphstore.model import AgentKind, CollaborationGraph

_PLAIN_WORK = 2_000_000
"""Vertices times edges up to which plain Python beats compiling, loading and calling."""


_SMALL_TEAM = 32
"""Vertices up to which a graph's distances are remembered."""


@dataclass(frozen=True, slots=True)
class Distances:
    """The shortest directed paths of a graph, summed up.

    Attributes:
        reachable_pairs: Number of ordered pairs of distinct vertices joined by a path: |R|.
        total_length: Sum of their shortest lengths, in edges.
    """

    reachable_pairs: int
    total_length: int


@dataclass(frozen=True, slots=True)
class FlowMetrics:
    """The metrics of OpenMAS-GCom, B.4, for one graph.

    Attributes:
        vertices: n.
        edges: m.
        messages: Number of messages, None where the graph has no senders.
        density: Between 0 and 1; None for fewer than two vertices.
        reachable_pair_fraction: Between 0 and 1; None for fewer than two vertices.
        average_path_length: At least 1, in edges; None where no vertex reaches another.
        normalized_source_entropy: Between 0 (one sender) and 1 (all send alike); None
            without messages or for fewer than two vertices.
    """

    vertices: int
    edges: int
    messages: int | None
    density: float | None
    reachable_pair_fraction: float | None
    average_path_length: float | None
    normalized_source_entropy: float | None


def density(graph: SimpleDigraph) -> float | None:
    """Edges over ordered pairs, ``m / (n (n - 1))``; None for fewer than two vertices."""
    n = graph.vertex_count
    return graph.edge_count / (n * (n - 1)) if n >= 2 else None


def distances(graph: SimpleDigraph) -> Distances:
    """Counts the reachable pairs and sums their shortest path lengths, exactly.

    Large graphs are searched by a compiled kernel in ``O(n (n + m))``.
    """
    if graph.vertex_count <= _SMALL_TEAM:
        return _distances_of_teams(graph.successors)
    if graph.vertex_count * graph.edge_count <= _PLAIN_WORK:
        return _distances_by_levels(graph.successors)
    return _distances_compiled(graph)


def reachable_pair_fraction(graph: SimpleDigraph) -> float | None:
    """|R| / (n (n - 1)), Eq. 15 on the left; None for fewer than two vertices."""
    n = graph.vertex_count
    return distances(graph).reachable_pairs / (n * (n - 1)) if n >= 2 else None


def average_path_length(graph: SimpleDigraph) -> float | None:
    """Mean shortest path length over the reachable pairs, Eq. 15 on the right.

    Returns:
        In edges, at least 1; None where no vertex reaches another.
    """
    found = distances(graph)
    return found.total_length / found.reachable_pairs if found.reachable_pairs else None


def normalized_source_entropy(sent: Sequence[int]) -> float | None:
    """How evenly messages come from all vertices, OpenMAS-GCom Eq. 16.

    Args:
        sent: Number of messages that came from each vertex; silent vertices with 0.

    Returns:
        Between 0 and 1; None without messages or for fewer than two vertices.

    Raises:
        UsageError: A count is negative.
    """
    if min(sent, default=0) < 0:
        raise UsageError("a number of messages cannot be negative")
    total = sum(sent)
    if total == 0 or len(sent) < 2:
        return None
    shares = [count / total for count in sent if count]
    entropy = -math.fsum([share * math.log(share) for share in shares])
    # Rounding can carry a uniform distribution past 1, and one sender to -0.0.
    return min(1.0, max(0.0, entropy / math.log(len(sent))))


def digraph_metrics(graph: SimpleDigraph, sent: Sequence[int] | None = None) -> FlowMetrics:
    """All metrics of a simple directed graph.

    Args:
        graph: The graph.
        sent: Number of messages from each vertex, None where messages make no sense (an
            organization before any run).

    Raises:
        UsageError: ``sent`` has not one count for each vertex.
    """
    n, m = graph.vertex_count, graph.edge_count
    if sent is not None and len(sent) != n:
        raise UsageError(f"{len(sent)} message counts for {n} vertices")
    found = distances(graph)
    pairs = n * (n - 1) if n >= 2 else 0
    return FlowMetrics(
        vertices=n,
        edges=m,
        messages=None if sent is None else sum(sent),
        density=m / pairs if pairs else None,
        reachable_pair_fraction=found.reachable_pairs / pairs if pairs else None,
        average_path_length=(
            found.total_length / found.reachable_pairs if found.reachable_pairs else None
        ),
        normalized_source_entropy=None if sent is None else normalized_source_entropy(sent),
    )


def flow_metrics(
    graph: CollaborationGraph,
    projection: ProjectionName = "exchange",
    *,
    agent_kinds: Iterable[AgentKind] = ALL_AGENT_KINDS,
) -> FlowMetrics:
    """The metrics of a run as it was executed.

    Args:
        graph: A run; with ``action`` a decomposition too.
        projection: What makes an edge (:mod:`analytics.projection`).
        agent_kinds: Which agents are vertices.

    Raises:
        UsageError: The projection or a kind of agent is unknown.
    """
    projected = project(graph, projection, agent_kinds=agent_kinds)
    return digraph_metrics(projected.graph, projected.sent)


def _distances_by_levels(successors: Sequence[Sequence[int]]) -> Distances:
    """Widens the set that each vertex reaches by one edge at a time; sets are integers."""
    within = [1 << vertex for vertex in range(len(successors))]
    everything = (1 << len(successors)) - 1
    active = [vertex for vertex, targets in enumerate(successors) if targets]
    pairs = total = level = 0
    while active:
        level += 1
        wider = []
        for vertex in active:
            reached = within[vertex]
            for target in successors[vertex]:
                reached |= within[target]
            if reached != within[vertex]:
                wider.append((vertex, reached))
        # A vertex that gained nothing at this level has reached all it ever will.
        active = []
        for vertex, reached in wider:
            new = (reached ^ within[vertex]).bit_count()
            pairs += new
            total += level * new
            within[vertex] = reached
            if reached != everything:
                active.append(vertex)
    return Distances(pairs, total)


# Runs of one team mostly have one graph of agents.
_distances_of_teams = lru_cache(maxsize=1024)(_distances_by_levels)


def _distances_compiled(graph: SimpleDigraph) -> Distances:
    import numpy

    n = graph.vertex_count
    starts = numpy.zeros(n + 1, numpy.int64)
    numpy.cumsum([len(targets) for targets in graph.successors], out=starts[1:])
    targets = numpy.fromiter(
        (target for found in graph.successors for target in found), numpy.int64, int(starts[-1])
    )
    pairs, total = compiled(_breadth_first)(
        starts, targets, numpy.full(n, -1, numpy.int64), numpy.empty(n, numpy.int64)
    )
    return Distances(int(pairs), int(total))


def _breadth_first(starts: Any, targets: Any, depth: Any, queue: Any) -> tuple[int, int]:
    pairs = 0
    total = 0
    for source in range(len(depth)):
        depth[source] = 0
        queue[0] = source
        head = 0
        tail = 1
        while head < tail:
            vertex = queue[head]
            head += 1
            for place in range(starts[vertex], starts[vertex + 1]):
                target = targets[place]
                if depth[target] < 0:
                    depth[target] = depth[vertex] + 1
                    total += depth[target]
                    queue[tail] = target
                    tail += 1
        pairs += tail - 1
        for place in range(tail):
            depth[queue[place]] = -1
    return pairs, total
