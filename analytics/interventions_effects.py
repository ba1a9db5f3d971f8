"""What an intervention does to the structure of a team, before anything is run again.

Source: OpenMAS-GCom, appendix B.4 (reachable pairs, path length, density) and B.6 (whether the
output can still be reached). Articulation points are those of Hopcroft and Tarjan, "Efficient
algorithms for graph manipulation" (1973), on the links without their direction; the units
that all paths to the output pass through are dominators of the reversed graph, found as by
Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from analytics.averages import mean
from analytics.flow_metrics import digraph_metrics
from analytics.interventions import Team


@dataclass(frozen=True, slots=True)
class StructuralEffects:
    """The structure of a team, as far as its links say. None is "not known" or "not defined".

    Attributes:
        units: n.
        links: m.
        density: m / (n (n - 1)).
        reachable_pair_fraction: Share of ordered pairs joined by a path.
        average_path_length: Over those pairs, in links.
        output_kept: Whether a unit that gives the output is there; None where it was never
            known which one does.
        output_reachability: Share of the other units from which the output can be reached;
            0 where no unit that gives it is left; None for a team without other units.
        output_path_length: Mean length of the shortest paths to it, in links, over those
            units; None where there are none.
        longest_output_path: The longest of them.
        parts: Number of parts that links join, whatever their direction.
        articulation_points: Names of the units without which a part falls apart.
        critical_units: Names of the units without which some other unit no longer reaches
            the output.
    """

    units: int
    links: int
    density: float | None
    reachable_pair_fraction: float | None
    average_path_length: float | None
    output_kept: bool | None
    output_reachability: float | None
    output_path_length: float | None
    longest_output_path: int | None
    parts: int
    articulation_points: tuple[str, ...]
    critical_units: tuple[str, ...]


def structural_effects(team: Team) -> StructuralEffects:
    """Measures the structure of a team."""
    flow = digraph_metrics(team.digraph)
    n = len(team.ids)
    entering: list[list[int]] = [[] for _ in range(n)]
    beside: list[list[int]] = [[] for _ in range(n)]
    for source, target in team.links:
        entering[target].append(source)
        beside[source].append(target)
        beside[target].append(source)
    known = team.output_basis is not None
    others = n - len(team.outputs)
    lengths = [length for length in distances_to(entering, team.outputs) if length]
    parts, cuts = articulation_points(beside)
    return StructuralEffects(
        units=n,
        links=len(team.links),
        density=flow.density,
        reachable_pair_fraction=flow.reachable_pair_fraction,
        average_path_length=flow.average_path_length,
        output_kept=bool(team.outputs) if known else None,
        output_reachability=len(lengths) / others if known and others else None,
        output_path_length=mean(lengths),
        longest_output_path=max(lengths, default=None),
        parts=parts,
        articulation_points=tuple(team.names[place] for place in cuts),
        critical_units=tuple(
            team.names[place] for place in critical_vertices(entering, team.outputs)
        ),
    )


def distances_to(entering: Sequence[Sequence[int]], targets: Sequence[int]) -> list[int | None]:
    """For each vertex the length of the shortest path to the nearest target.

    Args:
        entering: For each vertex, the vertices with an edge to it.
        targets: Vertices, with length 0.

    Returns:
        In edges; None for vertices from which no target can be reached.
    """
    lengths: list[int | None] = [None] * len(entering)
    level = list(targets)
    for place in level:
        lengths[place] = 0
    depth = 0
    while level:
        depth += 1
        nearer = []
        for place in level:
            for source in entering[place]:
                if lengths[source] is None:
                    lengths[source] = depth
                    nearer.append(source)
        level = nearer
    return lengths


def articulation_points(beside: Sequence[Sequence[int]]) -> tuple[int, tuple[int, ...]]:
    """Number of connected parts, and the vertices without which one falls apart.

    Args:
        beside: For each vertex its neighbours, whatever the direction; repetitions are fine.

    Returns:
        The number of parts, and positions, ascending.
    """
    order = [0] * len(beside)
    low = [0] * len(beside)
    cuts: set[int] = set()
    parts = clock = 0
    for root in range(len(beside)):
        if order[root]:
            continue
        parts += 1
        children = 0
        clock += 1
        order[root] = low[root] = clock
        stack = [(root, -1, iter(beside[root]))]
        while stack:
            vertex, parent, neighbours = stack[-1]
            for other in neighbours:
                if not order[other]:
                    clock += 1
                    order[other] = low[other] = clock
                    stack.append((other, vertex, iter(beside[other])))
                    break
                if other != parent:
                    low[vertex] = min(low[vertex], order[other])
            else:
                stack.pop()
                if parent == root:
                    children += 1
                elif parent >= 0 and low[vertex] >= order[parent]:
                    cuts.add(parent)
                if parent >= 0:
                    low[parent] = min(low[parent], low[vertex])
        if children > 1:
            cuts.add(root)
    return parts, tuple(sorted(cuts))


def critical_vertices(
    entering: Sequence[Sequence[int]], targets: Sequence[int]
) -> tuple[int, ...]:
    """Vertices, other than the targets, that all paths of some other one to a target pass.

    Args:
        entering: For each vertex, the vertices with an edge to it.
        targets: Vertices.

    Returns:
        Positions, ascending.
    """
    root = len(entering)
    backward = [list(found) for found in entering] + [list(dict.fromkeys(targets))]
    rank, order = _postorder(backward, root)
    forward: list[list[int]] = [[] for _ in backward]
    for vertex, found in enumerate(backward):
        for source in found:
            forward[source].append(vertex)
    dominator = {root: root}
    changed = True
    while changed:
        changed = False
        for vertex in reversed(order[:-1]):
            new = -1
            for nearer in forward[vertex]:
                if nearer not in dominator:
                    continue
                new = nearer if new < 0 else _common(dominator, rank, new, nearer)
            if dominator.get(vertex) != new:
                dominator[vertex] = new
                changed = True
    passed = {dominator[vertex] for vertex in order[:-1]}
    return tuple(sorted(passed - {root} - set(targets)))


def _common(dominator: dict[int, int], rank: dict[int, int], one: int, other: int) -> int:
    while one != other:
        while rank[one] < rank[other]:
            one = dominator[one]
        while rank[other] < rank[one]:
            other = dominator[other]
    return one


def _postorder(
    backward: Sequence[Sequence[int]], root: int
) -> tuple[dict[int, int], list[int]]:
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(backward[root]))]
    while stack:
        vertex, rest = stack[-1]
        for source in rest:
            if source not in seen:
                seen.add(source)
                stack.append((source, iter(backward[source])))
                break
        else:
            stack.pop()
            order.append(vertex)
    return {vertex: place for place, vertex in enumerate(order)}, order
