"""The leaves of decompositions, and the actions of runs, as what distances need of them.

Source: MAC-Bench, section 3.2.1 and appendix F.1: a leaf has an objective, inputs, outputs
and accesses, a place in its task's tree, and a place in its task's graph.
"""

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import Literal, get_args

from graphstore.errors import UsageError
from graphstore.model import AccessMode, Artifact, CollaborationGraph, Node, Resource

Descriptors = Literal["type", "name"]
DESCRIPTORS: tuple[str, ...] = get_args(Descriptors)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a node stands in its graph. Edges to groups count like others.

    Attributes:
        source: Nothing goes into it.
        sink: Nothing comes out of it.
        fan_in: Two or more edges go into it.
        in_degree: Edges into it, as a share of the graph's largest such number; 0 where the
            graph has no edges.
        out_degree: Edges out of it, likewise.
    """

    source: bool
    sink: bool
    fan_in: bool
    in_degree: float
    out_degree: float


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf subtask, or an action.

    Attributes:
        id: Of the node.
        graph: Id of its graph.
        task: Id of its task.
        name: The node's short label.
        text: Its objective: the content, or the name where there is none.
        inputs: Descriptors of what it needs, sorted.
        outputs: Descriptors of what it makes, sorted.
        reads: Descriptors of the resources that it reads, sorted.
        writes: Descriptors of the resources that it changes, sorted.
        ancestors: What contains it, from the root on. The whole task is the root of every
            tree; the graph's id stands for it.
        position: In its graph.
    """

    id: str
    graph: str
    task: str
    name: str
    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    ancestors: tuple[str, ...]
    position: Position

    @property
    def access_modes(self) -> tuple[AccessMode, ...]:
        """``read``, ``write``, both or neither."""
        return modes_of(self.reads, self.writes)


def modes_of(reads: Sized, writes: Sized) -> tuple[AccessMode, ...]:
    """``read`` where something is read, ``write`` where something is changed."""
    modes: list[AccessMode] = []
    if reads:
        modes.append("read")
    if writes:
        modes.append("write")
    return tuple(modes)


def leaves_of(graph: CollaborationGraph, descriptors: Descriptors = "type") -> tuple[Leaf, ...]:
    """The leaf subtasks of a decomposition, or all actions of a run, by index.

    Leaves are the nodes that contain no other. In runs each action counts, also a span that
    contains others.

    Args:
        graph: A decomposition or a run.
        descriptors: How inputs, outputs and resources are described: ``type`` by their type,
            so that tasks can be compared, and by their name only where they have no type;
            ``name`` by both.

    Raises:
        UsageError: There is no such way to describe them.
    """
    if descriptors not in DESCRIPTORS:
        raise UsageError(
            f"there are no descriptors {descriptors!r}; choose one of {', '.join(DESCRIPTORS)}"
        )
    nodes = {node.id: node for node in graph.nodes}
    inner = {node.parent for node in graph.nodes} if graph.kind == "decomposition" else set()
    into = dict.fromkeys(nodes, 0)
    out_of = dict.fromkeys(nodes, 0)
    for edge in graph.edges:
        out_of[edge.source] += 1
        into[edge.target] += 1
    most_in = max(into.values(), default=0) or 1
    most_out = max(out_of.values(), default=0) or 1
    resources = {resource.id: resource for resource in graph.resources}
    chains: dict[str | None, tuple[str, ...]] = {None: (graph.id,)}
    return tuple(
        [
            Leaf(
                id=node.id,
                graph=graph.id,
                task=graph.task.id,
                name=node.name,
                text=_text(node),
                inputs=_described(node.inputs, descriptors),
                outputs=_described(node.outputs, descriptors),
                reads=_described(_accessed(node, "read", resources), descriptors),
                writes=_described(_accessed(node, "write", resources), descriptors),
                ancestors=_ancestors(node.parent, nodes, chains),
                position=Position(
                    source=not into[node.id],
                    sink=not out_of[node.id],
                    fan_in=into[node.id] >= 2,
                    in_degree=into[node.id] / most_in,
                    out_degree=out_of[node.id] / most_out,
                ),
            )
            for node in graph.nodes
            if node.id not in inner
        ]
    )


def _text(node: Node) -> str:
    if node.content is not None and node.content.strip():
        return node.content
    return node.name


def _accessed(
    node: Node, mode: AccessMode, resources: dict[str, Resource]
) -> Iterable[Resource]:
    return [resources[access.resource] for access in node.accesses if access.mode == mode]


def _described(
    things: Iterable[Artifact | Resource], descriptors: Descriptors
) -> tuple[str, ...]:
    if descriptors == "type":
        return tuple(sorted({thing.type or thing.name for thing in things}))
    return tuple(
        sorted(
            {f"{thing.name}: {thing.type}" if thing.type else thing.name for thing in things}
        )
    )


def _ancestors(
    parent: str | None, nodes: dict[str, Node], chains: dict[str | None, tuple[str, ...]]
) -> tuple[str, ...]:
    """The chain down to a parent; ``chains`` holds those that are known."""
    missing: list[str] = []
    while parent not in chains:
        assert parent is not None
        missing.append(parent)
        parent = nodes[parent].parent
    chain = chains[parent]
    for node in reversed(missing):
        chain = chains[node] = (*chain, node)
    return chain
