"""Coarse graphs: the children of a group as nodes, and what crosses between them.

Source: MAC-Bench, section 3.2.1 (global task structure extraction) and appendix F.1 (global
task structures and boundary mappings). Contracting the child groups of a node h gives its
coarse graph: a dependency or coupling that crosses two of them joins them. The coarse graph
of the root is the structure of the whole task; those of other inner nodes say how a group
can be refined, with a boundary that maps what comes in and goes out to the children.

Planners also state dependencies between groups. Such a one joins groups in the coarse graph
and is no dependency of their leaves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from graphstore.errors import UsageError
from graphstore.identity import canonical_json, digest
from mining.boundaries import WHOLE, Boundary, Contents, Pair


@dataclass(frozen=True, slots=True)
class Group:
    """A node of a coarse graph: a group of leaves, or one leaf.

    Attributes:
        node: Its index in the graph that it was found in.
        name: Its short label.
        objective: What it is to achieve, where the graph says so.
        label: The type of a single leaf; None for a group of several, or without a type.
        leaves: Number of leaves in it.
        category: Its function: ``foundation``, ``capability``, ``integrate``, ``deliver``,
            or None.
        boundary: What it gets, gives and shares.
    """

    node: int
    name: str
    objective: str | None
    label: str | None
    leaves: int
    category: str | None
    boundary: Boundary


@dataclass(frozen=True, slots=True)
class CoarseDependency:
    """Something in ``target`` depends on something in ``source``.

    Attributes:
        source: Position of a group.
        target: Position of a group.
        pairs: The dependencies that cross, by node index, ascending.
    """

    source: int
    target: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class CoarseCoupling:
    """Something in one group is coupled with something in another one.

    Attributes:
        source: Position of a group, the smaller one.
        target: Position of a group.
        pairs: The couplings that cross, by node index, the one in ``source`` first.
        resources: The types (names, where they have no type) of the shared resources.
    """

    source: int
    target: int
    pairs: tuple[Pair, ...]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CoarseGraph:
    """The child groups of a node and their relations.

    Attributes:
        graph: Id of the graph.
        task: Id of the task.
        node: Index of the node that was coarsened; None for the whole task.
        name: The name of that node, or of the task.
        depth: Number of groups around it: 0 for the whole task.
        category: Its own category; None for the whole task.
        groups: By index of their nodes.
        dependencies: By source and target.
        couplings: Likewise.
        contained: Dependencies between the node itself and something inside it: they cross
            no two groups.
        contained_couplings: Likewise.
        boundary: Of the node: which child gets, gives and shares what. Empty for the task.
        cycle: Positions of groups that depend on each other in a circle; empty where the
            graph is acyclic.
    """

    graph: str
    task: str
    node: int | None
    name: str
    depth: int
    category: str | None
    groups: tuple[Group, ...]
    dependencies: tuple[CoarseDependency, ...]
    couplings: tuple[CoarseCoupling, ...]
    contained: tuple[Pair, ...]
    contained_couplings: tuple[Pair, ...]
    boundary: Boundary
    cycle: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Made from the graph and the node."""
        return f"coarse-{digest(self.graph, 'task' if self.node is None else str(self.node))}"

    @property
    def signature(self) -> str:
        """Equal for coarse graphs of one structure: categories, relations and interfaces.

        Names, indexes and the number of leaves do not matter; the order of the groups does.
        """
        groups = [(group.category, group.label, group.boundary.types) for group in self.groups]
        arrows = [(edge.source, edge.target) for edge in self.dependencies]
        ties = [(tie.source, tie.target, tie.resources) for tie in self.couplings]
        return digest(canonical_json([groups, arrows, ties]), size=8)

    @property
    def leaf_dependencies(self) -> tuple[Pair, ...]:
        """The dependencies of the graph that this one stands for, by node index, ascending."""
        crossing = {pair for edge in self.dependencies for pair in edge.pairs}
        return tuple(sorted(crossing | set(self.contained)))

    @property
    def leaf_couplings(self) -> tuple[Pair, ...]:
        """The couplings, likewise."""
        crossing = {(min(pair), max(pair)) for tie in self.couplings for pair in tie.pairs}
        return tuple(sorted(crossing | set(self.contained_couplings)))


def contract(contents: Contents, node: int) -> CoarseGraph:
    """Contracts the children of one inner node; categories are not given yet.

    Args:
        contents: The graph.
        node: An inner node of its tree, or its root.

    Raises:
        UsageError: The node contains nothing.
    """
    tree, graph = contents.tree, contents.graph
    if node not in tree.children:
        raise UsageError(f"node {node} of {graph.id} contains no other node")
    is_root = node == tree.root
    dependencies, contained = _crossing(contents, node, contents.crossings[0].get(node, ()))
    couplings, touching = _crossing(contents, node, contents.crossings[1].get(node, ()))
    ties: dict[Pair, set[Pair]] = {}
    for (one, other), pairs in couplings.items():
        for pair in pairs:
            _tie(ties, one, other, pair)
    return CoarseGraph(
        graph=graph.id,
        task=graph.task.id,
        node=None if is_root else node,
        name=graph.task.name if is_root else graph.nodes[node].name,
        depth=0 if is_root else len(tree.paths[node]),
        category=None,
        groups=tuple([_group(contents, child) for child in tree.children[node]]),
        dependencies=_dependencies(dependencies),
        couplings=tuple(
            [
                CoarseCoupling(
                    *ends, tuple(sorted(ties[ends])), contents.resources_of(ties[ends])
                )
                for ends in sorted(ties)
            ]
        ),
        contained=contained,
        contained_couplings=touching,
        boundary=Boundary() if is_root else contents.boundary(node),
        cycle=find_cycle(len(tree.children[node]), dependencies),
    )


def refine(coarse: CoarseGraph, position: int, inner: CoarseGraph) -> CoarseGraph:
    """Replaces a group by the graph of its children.

    The boundary of the group says which child each external relation leads to. A dependency
    of the group as a whole leads to the children that come first, or comes from those that
    come last; a coupling of the group as a whole ties all children.

    Args:
        coarse: A coarse graph.
        position: Of the group in it.
        inner: The coarse graph of that group.

    Returns:
        The finer graph of the same node; groups by index of their nodes.

    Raises:
        UsageError: ``inner`` is not the coarse graph of that group.
    """
    old = coarse.groups[position]
    if (inner.graph, inner.node) != (coarse.graph, old.node):
        raise UsageError(
            f"{inner.name!r} is not the coarse graph of {old.name!r}, which it is to refine"
        )
    kept = [group for group in coarse.groups if group is not old]
    groups = sorted([*kept, *inner.groups], key=lambda group: group.node)
    place_of = {group.node: place for place, group in enumerate(groups)}
    outer_places = [place_of.get(group.node, WHOLE) for group in coarse.groups]
    inner_places = [place_of[group.node] for group in inner.groups]
    child_of = inner.boundary.children
    ends = _ends(inner)

    def places(group: int, node: int, end: str) -> list[int]:
        if group != position:
            return [outer_places[group]]
        child = child_of.get(node, WHOLE)
        return [inner_places[one] for one in (ends[end] if child == WHOLE else (child,))]

    arrows: dict[Pair, set[Pair]] = {}
    for edge in coarse.dependencies:
        for pair in edge.pairs:
            for one in places(edge.source, pair[0], "last"):
                for other in places(edge.target, pair[1], "first"):
                    arrows.setdefault((one, other), set()).add(pair)
    for edge in inner.dependencies:
        key = (inner_places[edge.source], inner_places[edge.target])
        arrows.setdefault(key, set()).update(edge.pairs)
    ties: dict[Pair, set[Pair]] = {}
    resources: dict[Pair, set[str]] = {}
    for tie in coarse.couplings:
        for pair in tie.pairs:
            for one in places(tie.source, pair[0], "all"):
                for other in places(tie.target, pair[1], "all"):
                    resources.setdefault(_tie(ties, one, other, pair), set()).update(
                        tie.resources
                    )
    for tie in inner.couplings:
        for pair in tie.pairs:
            key = _tie(ties, inner_places[tie.source], inner_places[tie.target], pair)
            resources.setdefault(key, set()).update(tie.resources)
    return replace(
        coarse,
        groups=tuple(groups),
        dependencies=_dependencies(arrows),
        couplings=tuple(
            [
                CoarseCoupling(*key, tuple(sorted(ties[key])), tuple(sorted(resources[key])))
                for key in sorted(ties)
            ]
        ),
        contained=tuple(sorted({*coarse.contained, *inner.contained})),
        contained_couplings=tuple(
            sorted({*coarse.contained_couplings, *inner.contained_couplings})
        ),
        cycle=find_cycle(len(groups), arrows),
    )


def find_cycle(size: int, edges: Iterable[Pair]) -> tuple[int, ...]:
    """A circle of a directed graph, from its smallest node on; empty where there is none.

    Args:
        size: Number of nodes.
        edges: Pairs of nodes. The same edges give the same circle in any order.
    """
    following: list[list[int]] = [[] for _ in range(size)]
    for source, target in sorted(edges):
        following[source].append(target)
    state = [0] * size
    for start in range(size):
        if state[start]:
            continue
        path = [start]
        steps = [iter(following[start])]
        state[start] = 1
        while path:
            target = next(steps[-1], -1)
            if target < 0:
                state[path.pop()] = 2
                steps.pop()
            elif state[target] == 1:
                circle = path[path.index(target) :]
                least = circle.index(min(circle))
                return tuple(circle[least:] + circle[:least])
            elif not state[target]:
                state[target] = 1
                path.append(target)
                steps.append(iter(following[target]))
    return ()


def _group(contents: Contents, node: int) -> Group:
    described = contents.graph.nodes[node]
    single = node not in contents.tree.children
    return Group(
        node=node,
        name=described.name,
        objective=described.content,
        label=contents.labels[node] if single else None,
        leaves=contents.tree.leaf_counts[node],
        category=None,
        boundary=contents.boundary(node),
    )


def _crossing(
    contents: Contents, node: int, pairs: Iterable[Pair]
) -> tuple[dict[Pair, set[Pair]], tuple[Pair, ...]]:
    """Relations by the positions of the children that they join, and those of the node."""
    crossing: dict[Pair, set[Pair]] = {}
    contained = []
    for pair in pairs:
        one, other = contents.child_of(node, pair[0]), contents.child_of(node, pair[1])
        if WHOLE in (one, other):
            contained.append(pair)
        else:
            crossing.setdefault((one, other), set()).add(pair)
    return crossing, tuple(sorted(contained))


def _tie(ties: dict[Pair, set[Pair]], one: int, other: int, pair: Pair) -> Pair:
    """Adds a coupling under its groups, the smaller position first; tells which these are."""
    key, turned = ((one, other), pair) if one < other else ((other, one), (pair[1], pair[0]))
    ties.setdefault(key, set()).add(turned)
    return key


def _dependencies(found: Mapping[Pair, Iterable[Pair]]) -> tuple[CoarseDependency, ...]:
    return tuple([CoarseDependency(*key, tuple(sorted(found[key]))) for key in sorted(found)])


def _ends(inner: CoarseGraph) -> dict[str, tuple[int, ...]]:
    """The children that come first, last, and all."""
    sources = {edge.source for edge in inner.dependencies}
    targets = {edge.target for edge in inner.dependencies}
    everyone = tuple(range(len(inner.groups)))
    return {
        "first": tuple([child for child in everyone if child not in targets]) or everyone,
        "last": tuple([child for child in everyone if child not in sources]) or everyone,
        "all": everyone,
    }
