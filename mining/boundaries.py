"""What crosses the boundary of a group, and which child inside it is meant.

Source: MAC-Bench, appendix F.1 (global task structures and boundary mappings): a boundary
records externally supplied inputs, outputs needed outside of the group or by the task, and
accesses to resources that others use too. Here:

- an *input* is an artifact that a node inside requires and that a dependency brings in, or
  that no other node inside produces;
- an *output* is an artifact that a node inside produces and that a dependency takes out or a
  node outside requires; or that nobody requires: then it counts as a result of the task;
- an *access* is a read or write inside of a resource that a node outside accesses too;
- a dependency across the boundary that neither an artifact nor a resource explains is a
  *bare* input or output: one without a name.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphstore.model import AccessMode, Artifact, CollaborationGraph, Node, Resource
from mining.task_tree import TaskTree

Pair = tuple[int, int]
WHOLE = -1
"""Stands for the group itself where a child is named."""


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of a group.

    Attributes:
        name: Of the artifact; None for a bare dependency.
        type: Of the artifact, where the graph says so.
        final: Whether it is a result of the task that nobody in it requires.
        ends: The nodes inside (by index) that require or produce it, each with the position
            of the child group that holds it; :data:`WHOLE` where the group itself is meant.
    """

    name: str | None
    type: str | None
    final: bool
    ends: tuple[Pair, ...]

    @property
    def descriptor(self) -> str | None:
        """The type, or the name where there is no type; None for a bare dependency."""
        return self.type or self.name


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """A use of a resource that others use too.

    Attributes:
        name: Of the resource.
        type: Of the resource, where the graph says so.
        mode: ``read`` or ``write``.
        ends: As in :class:`Port`.
    """

    name: str
    type: str | None
    mode: AccessMode
    ends: tuple[Pair, ...]

    @property
    def descriptor(self) -> str:
        """The type, or the name where there is no type."""
        return self.type or self.name


@dataclass(frozen=True, slots=True)
class Boundary:
    """What a group gets, gives and shares: named ones by name and type, the bare one last.

    Attributes:
        inputs: What it gets.
        outputs: What it gives.
        accesses: What it shares, by name, type and mode.
        ties: Nodes inside with a coupling to the outside, with their children.
    """

    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    accesses: tuple[SharedAccess, ...] = ()
    ties: tuple[Pair, ...] = ()

    @property
    def children(self) -> dict[int, int]:
        """The child that each external relation's node stands in.

        :data:`WHOLE` where the relation is one of the group itself.
        """
        found = dict(self.ties)
        ports: tuple[Port | SharedAccess, ...] = (*self.inputs, *self.outputs, *self.accesses)
        for port in ports:
            found.update(port.ends)
        return found

    @property
    def types(self) -> tuple[tuple[str | None, ...], ...]:
        """Descriptors of inputs, of outputs, and of accesses with their modes, sorted."""
        return (
            tuple(sorted({port.descriptor or "" for port in self.inputs})),
            tuple(sorted({port.descriptor or "" for port in self.outputs})),
            tuple(sorted({f"{port.mode} {port.descriptor}" for port in self.accesses})),
        )


_Key = tuple[str | None, str | None]
_BARE: _Key = (None, None)


@dataclass(frozen=True)
class Contents:
    """A graph with positions for nodes, its tree, and the types of its leaves.

    Attributes:
        graph: The graph.
        tree: Its tree.
        labels: The type of each node; None for no type.
    """

    graph: CollaborationGraph
    tree: TaskTree
    labels: Sequence[str | None]

    @cached_property
    def dependencies(self) -> tuple[Pair, ...]:
        """Edges by node index, ascending."""
        index = {node.id: node.index for node in self.graph.nodes}
        return tuple([(index[edge.source], index[edge.target]) for edge in self.graph.edges])

    @cached_property
    def couplings(self) -> dict[Pair, tuple[str, ...]]:
        """Couplings by node index, with the ids of their resources."""
        index = {node.id: node.index for node in self.graph.nodes}
        return {
            (index[pair.source], index[pair.target]): pair.resources
            for pair in self.graph.couplings
        }

    @cached_property
    def resources(self) -> dict[str, Resource]:
        """Shared resources by id."""
        return {resource.id: resource for resource in self.graph.resources}

    @cached_property
    def crossings(self) -> tuple[dict[int, list[Pair]], dict[int, list[Pair]]]:
        """Dependencies, and couplings, by the smallest group that holds both ends."""
        found: tuple[dict[int, list[Pair]], dict[int, list[Pair]]] = ({}, {})
        for kind, pairs in enumerate((self.dependencies, tuple(self.couplings))):
            for pair in pairs:
                owner = self.tree.lowest_common_ancestor(pair)
                found[kind].setdefault(owner, []).append(pair)
        return found

    def child_of(self, group: int, node: int) -> int:
        """Position of the child of a group that holds a node; :data:`WHOLE` for itself."""
        depth = 0 if group == self.tree.root else len(self.tree.paths[group])
        path = self.tree.paths[node]
        if len(path) <= depth:
            return WHOLE
        return self._position[path[depth]]

    def resources_of(self, pairs: Iterable[Pair]) -> tuple[str, ...]:
        """Descriptors of the resources of some couplings, sorted."""
        named = {
            self.resources[resource]
            for one, other in pairs
            for resource in self.couplings[min(one, other), max(one, other)]
        }
        return tuple(sorted({resource.type or resource.name for resource in named}))

    def boundary(self, group: int) -> Boundary:
        """The boundary of a node of the tree (not of its root)."""
        inputs, outputs, accesses, ties = self._ports
        final = self._final
        return Boundary(
            inputs=self._made(group, inputs[group], frozenset()),
            outputs=self._made(group, outputs[group], final),
            accesses=tuple(
                [
                    SharedAccess(name, kind, mode, self._ends(group, nodes))
                    for (name, kind, mode), nodes in sorted(
                        accesses[group].items(),
                        key=lambda item: (item[0][0], item[0][1] or "", item[0][2]),
                    )
                ]
            ),
            ties=self._ends(group, ties[group]),
        )

    @cached_property
    def _position(self) -> dict[int, int]:
        return {
            child: position
            for children in self.tree.children.values()
            for position, child in enumerate(children)
        }

    def _ends(self, group: int, nodes: Iterable[int]) -> tuple[Pair, ...]:
        return tuple([(node, self.child_of(group, node)) for node in sorted(nodes)])

    def _made(
        self, group: int, found: dict[_Key, set[int]], final: frozenset[_Key]
    ) -> tuple[Port, ...]:
        order = sorted(found, key=lambda key: (key[0] is None, key[0] or "", key[1] or ""))
        return tuple([Port(*key, key in final, self._ends(group, found[key])) for key in order])

    @cached_property
    def _final(self) -> frozenset[_Key]:
        """Artifacts that are produced and that nobody requires."""
        required = {_key(item) for node in self.graph.nodes for item in node.inputs}
        produced = {_key(item) for node in self.graph.nodes for item in node.outputs}
        return frozenset(produced - required)

    @cached_property
    def _ports(
        self,
    ) -> tuple[
        defaultdict[int, defaultdict[_Key, set[int]]],
        defaultdict[int, defaultdict[_Key, set[int]]],
        defaultdict[int, defaultdict[tuple[str, str | None, AccessMode], set[int]]],
        defaultdict[int, set[int]],
    ]:
        inputs: defaultdict[int, defaultdict[_Key, set[int]]]
        outputs: defaultdict[int, defaultdict[_Key, set[int]]]
        inputs = defaultdict(lambda: defaultdict(set))
        outputs = defaultdict(lambda: defaultdict(set))
        ties: defaultdict[int, set[int]] = defaultdict(set)
        nodes, paths = self.graph.nodes, self.tree.paths
        for owner, pairs in self.crossings[0].items():
            depth = 0 if owner == self.tree.root else len(paths[owner])
            for source, target in pairs:
                carried = _carried(nodes[source], nodes[target])
                for group in paths[source][depth:]:
                    for key in carried:
                        outputs[group][key].add(source)
                for group in paths[target][depth:]:
                    for key in carried:
                        inputs[group][key].add(target)
        for owner, pairs in self.crossings[1].items():
            depth = 0 if owner == self.tree.root else len(paths[owner])
            for pair in pairs:
                for node in pair:
                    for group in paths[node][depth:]:
                        ties[group].add(node)
        self._add_unlinked(inputs, outputs)
        return inputs, outputs, self._shared(), ties

    def _add_unlinked(
        self,
        inputs: defaultdict[int, defaultdict[_Key, set[int]]],
        outputs: defaultdict[int, defaultdict[_Key, set[int]]],
    ) -> None:
        """Inputs that nothing inside produces; outputs that something outside requires."""
        paths = self.tree.paths
        makers: defaultdict[_Key, list[int]] = defaultdict(list)
        users: defaultdict[_Key, list[int]] = defaultdict(list)
        for described in self.graph.nodes:
            for item in described.outputs:
                makers[_key(item)].append(described.index)
            for item in described.inputs:
                users[_key(item)].append(described.index)
        for key, found in users.items():
            inside = _counted(makers[key], paths)
            for node in found:
                own = node in makers[key]
                for group in paths[node]:
                    if inside[group] - own <= 0:
                        inputs[group][key].add(node)
        for key, found in makers.items():
            inside = _counted(users[key], paths)
            for node in found:
                for group in paths[node]:
                    if key in self._final or inside[group] < len(users[key]):
                        outputs[group][key].add(node)

    def _shared(
        self,
    ) -> defaultdict[int, defaultdict[tuple[str, str | None, AccessMode], set[int]]]:
        paths = self.tree.paths
        found: defaultdict[int, defaultdict[tuple[str, str | None, AccessMode], set[int]]]
        found = defaultdict(lambda: defaultdict(set))
        users: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for node in self.graph.nodes:
            for access in node.accesses:
                users[access.resource][node.index] = None
        for resource, nodes in users.items():
            inside = _counted(nodes, paths)
            named = self.resources[resource]
            for index in nodes:
                modes = {
                    access.mode
                    for access in self.graph.nodes[index].accesses
                    if access.resource == resource
                }
                for group in paths[index]:
                    if inside[group] < len(nodes):
                        for mode in modes:
                            found[group][named.name, named.type, mode].add(index)
        return found


def _key(artifact: Artifact) -> _Key:
    return (artifact.name, artifact.type)


def _carried(source: Node, target: Node) -> list[_Key]:
    """What a dependency hands over: artifacts; nothing where a resource explains it."""
    required = set(target.inputs)
    artifacts = [_key(item) for item in source.outputs if item in required]
    if artifacts:
        return artifacts
    used = {access.resource for access in target.accesses}
    written = {access.resource for access in source.accesses if access.mode == "write"}
    return [] if written & used else [_BARE]


def _counted(nodes: Iterable[int], paths: Sequence[tuple[int, ...]]) -> defaultdict[int, int]:
    """How many of some nodes each group contains (or is)."""
    found: defaultdict[int, int] = defaultdict(int)
    for node in nodes:
        for group in paths[node]:
            found[group] += 1
    return found
