"""What the measures read of a graph: labels, edges and couplings by position, no ids."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore.errors import UsageError
from graphstore.model import NODE_KINDS, ROLES, CollaborationGraph, Node

# Made once, so that equal labels are one object, hashed once.
_JOINED = {role: {kind: f"{role}/{kind}" for kind in NODE_KINDS} for role in ROLES}

LABELS: dict[str, Callable[[Sequence[Node]], list[str]]] = {
    "role/kind": lambda nodes: [_JOINED[node.role][node.kind] for node in nodes],
    "role": lambda nodes: [node.role for node in nodes],
    "kind": lambda nodes: [node.kind for node in nodes],
    "name": lambda nodes: [node.name for node in nodes],
}
"""The ways to label nodes: the same names and meanings as where motifs are mined."""

DEFAULT_LABELS = "role/kind"
"""Role of the shared vocabulary and kind of action: what ForestBench's nodes carry."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A graph without its ids.

    Attributes:
        labels: Of each node, by index.
        edges: Pairs of indexes, the smaller first, ascending, each once.
        couplings: Likewise.
        contents: The content hash of each node, "" where the trace has no content; None
            where they were not read.
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    couplings: tuple[tuple[int, int], ...]
    contents: tuple[str, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Puts a pair of graphs into one order, whichever is named first."""
        return (len(self.labels), len(self.edges), self.labels, self.edges, self.contents or ())


def check_labels(labels: str) -> None:
    """Raises UsageError where no labelling has the name."""
    if labels not in LABELS:
        raise UsageError(
            f"there are no labels {labels!r}; choose one of {', '.join(map(repr, LABELS))}"
        )


def outline(
    graph: CollaborationGraph, labels: str = DEFAULT_LABELS, *, contents: bool = False
) -> Outline:
    """Reads a graph.

    Args:
        graph: A run or a decomposition, in canonical order as every graph is.
        labels: One of :data:`LABELS`.
        contents: Whether content hashes are read.
    """
    nodes = graph.nodes
    index = {node.id: place for place, node in enumerate(nodes)}
    return Outline(
        labels=tuple(LABELS[labels](nodes)),
        edges=tuple([(index[edge.source], index[edge.target]) for edge in graph.edges]),
        couplings=tuple([(index[pair.source], index[pair.target]) for pair in graph.couplings]),
        contents=tuple([node.content_hash or "" for node in nodes]) if contents else None,
    )


def levels(size: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The level of each node: the length in edges of the longest path that ends at it.

    Args:
        size: Number of nodes.
        edges: Pairs of indexes in ascending order, the smaller first: sources are final
            before they are read.
    """
    level = [0] * size
    for source, target in edges:
        if level[source] >= level[target]:
            level[target] = level[source] + 1
    return level
