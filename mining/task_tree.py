"""The tree of a graph: which nodes contain which, and which are the leaves.

Source: MAC-Bench, section 3.2.1: the tree H holds the task and its subtasks; its leaves are
the subtasks proper, and each other node but the root is the group of the leaves below it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphstore.model import CollaborationGraph

ROOT = -1
"""Stands for the task itself where no node of the graph does."""


@dataclass(frozen=True)
class TaskTree:
    """Containment, with positions for nodes.

    Where exactly one node has no parent, and it contains others, that node stands for the
    task: it is the root. Everywhere else the root is :data:`ROOT`, which is no node.

    Attributes:
        root: Position of the root, or :data:`ROOT`.
        parents: For each node, the node that contains it; the root's own is :data:`ROOT`.
    """

    root: int
    parents: tuple[int, ...]

    @classmethod
    def of(cls, graph: CollaborationGraph) -> "TaskTree":
        """The tree of a graph's ``parent`` fields."""
        index = {node.id: node.index for node in graph.nodes}
        parents = [ROOT if node.parent is None else index[node.parent] for node in graph.nodes]
        top = [node for node, parent in enumerate(parents) if parent == ROOT]
        only = len(top) == 1 and len(parents) > 1
        return cls(top[0] if only else ROOT, tuple(parents))

    @cached_property
    def children(self) -> dict[int, tuple[int, ...]]:
        """The children of each node that has any, ascending; with those of the root."""
        found: dict[int, list[int]] = {self.root: []}
        for node, parent in enumerate(self.parents):
            if node != self.root:
                found.setdefault(parent, []).append(node)
        return {parent: tuple(nodes) for parent, nodes in found.items()}

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Nodes that contain nothing, ascending."""
        return tuple(
            [
                node
                for node in range(len(self.parents))
                if node not in self.children and node != self.root
            ]
        )

    @cached_property
    def leaf_counts(self) -> dict[int, int]:
        """Number of leaves at or below each node and the root."""
        counts = dict.fromkeys(range(len(self.parents)), 0) | {self.root: 0}
        for leaf in self.leaves:
            for group in (leaf, *self.above(leaf)):
                counts[group] += 1
        return counts

    @property
    def flat(self) -> bool:
        """Whether there are no groups between the root and the leaves."""
        return len(self.children) == 1

    @property
    def inner(self) -> tuple[int, ...]:
        """The root, then the nodes that contain others, by depth and position."""
        groups = [node for node in self.children if node != self.root]
        return (self.root, *sorted(groups, key=lambda node: (len(self.paths[node]), node)))

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the groups that contain it, the outermost first, and itself last.

        The root is in no path; its own is empty.
        """
        found: dict[int, tuple[int, ...]] = {self.root: (), ROOT: ()}
        for start in range(len(self.parents)):
            waiting = []
            node = start
            while node not in found:
                waiting.append(node)
                node = self.parents[node]
            while waiting:
                inner = waiting.pop()
                found[inner] = (*found[self.parents[inner]], inner)
        return tuple([found[node] for node in range(len(self.parents))])

    def above(self, node: int) -> Iterator[int]:
        """What contains a node: its parent first, the root last."""
        while node != self.root:
            node = self.parents[node]
            # The root may be a node, whose own parent is no part of the tree.
            yield node

    def lowest_common_ancestor(self, nodes: Iterable[int]) -> int:
        """The smallest group that contains (or is) all of some nodes; the root if no other."""
        paths = [self.paths[node] for node in nodes]
        found = self.root
        for level in zip(*paths, strict=False):
            if len(set(level)) > 1:
                break
            found = level[0]
        return found

    def common_ancestors(self, sets: Any) -> Any:
        """:meth:`lowest_common_ancestor` for many sets at once.

        Args:
            sets: Integers of shape (n, 3): positions of nodes, -1 as the third of a pair.

        Returns:
            int64 of shape (n,).
        """
        import numpy

        depth = max(map(len, self.paths), default=0)
        paths = numpy.full((len(self.parents), depth), -2, numpy.int64)
        for node, path in enumerate(self.paths):
            paths[node, : len(path)] = path
        found = numpy.full(len(sets), self.root, numpy.int64)
        inside = numpy.ones(len(sets), bool)
        first, second = sets[:, 0], sets[:, 1]
        third = numpy.where(sets[:, 2] < 0, first, sets[:, 2])
        for level in range(depth):
            here = paths[first, level]
            inside &= (here >= 0) & (here == paths[second, level])
            inside &= here == paths[third, level]
            found[inside] = here[inside]
        return found
