"""Joins two patterns by a composition rule into one small graph.

Source: MAC-Bench, appendix F.2 (local pattern composition): shared nodes are merged, the
other nodes of the second pattern are added with their direct dependencies and couplings.
Indirect precedence describes reachability in the source and is no edge of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graphstore.errors import UsageError
from mining.canonical import (
    COUPLED,
    DIRECT,
    DIRECT_BACK,
    INDIRECT,
    INDIRECT_BACK,
    MUTUAL,
    PAIRS,
    Pattern,
    reverse,
)
from mining.motif_enumeration import MotifInput


@dataclass(frozen=True, slots=True)
class ComposedPair:
    """Two patterns in one graph, nodes in topological order.

    Attributes:
        labels: The type of each node; None for a bridge, which only carries precedence.
        edges: Pairs of positions, the smaller first, ascending.
        couplings: Likewise.
        first: Node of each position of the first pattern.
        second: Node of each position of the second pattern.
    """

    labels: tuple[str | None, ...]
    edges: tuple[tuple[int, int], ...]
    couplings: tuple[tuple[int, int], ...]
    first: tuple[int, ...]
    second: tuple[int, ...]

    @property
    def motif_input(self) -> MotifInput:
        """What a motif search needs of it."""
        return MotifInput.of(
            [label or "" for label in self.labels],
            self.edges,
            self.couplings,
            [place for place, label in enumerate(self.labels) if label is None],
        )


def compose_pair(
    first: Pattern,
    second: Pattern,
    alignment: Sequence[tuple[int, int]],
    *,
    bridges: bool = False,
) -> ComposedPair:
    """Merges the shared nodes of two patterns.

    Args:
        first: The pattern that is there.
        second: The pattern that is attached.
        alignment: Position in the first and in the second, for each shared node.
        bridges: Whether an indirect precedence that no path of the two patterns makes gets
            a node of its own in between. With bridges, both patterns are found again in the
            result as they are, whatever rule they were joined by; without, a pattern whose
            precedence runs outside of the rule comes back without it, as in the paper.

    Raises:
        UsageError: A position is out of range or shared twice, shared nodes differ in type
            or in their relation, or the result would have a cycle.
    """
    node_of = _merged_nodes(first, second, alignment)
    labels: list[str | None] = [*first.labels]
    labels += [None] * (max(node_of) + 1 - len(labels))
    for place, node in enumerate(node_of):
        if labels[node] is not None and labels[node] != second.labels[place]:
            raise UsageError(
                f"a shared node cannot be both {labels[node]!r} and {second.labels[place]!r}"
            )
        labels[node] = second.labels[place]
    relations = _relations(first, tuple(range(first.size)))
    for pair, relation in _relations(second, node_of).items():
        if relations.setdefault(pair, relation) != relation:
            raise UsageError("the patterns disagree on the relation of two shared nodes")
    edges, indirect, couplings = _arrows(relations)
    if bridges:
        reached = _reached(len(labels), edges)
        for source, target in indirect:
            if target not in reached[source]:
                edges += [(source, len(labels)), (len(labels), target)]
                labels.append(None)
    order = _topological_order(len(labels), edges)
    place_of = {node: place for place, node in enumerate(order)}
    return ComposedPair(
        labels=tuple([labels[node] for node in order]),
        edges=tuple(sorted([(place_of[one], place_of[other]) for one, other in edges])),
        couplings=tuple(
            sorted([_ascending(place_of[one], place_of[other]) for one, other in couplings])
        ),
        first=tuple([place_of[node] for node in range(first.size)]),
        second=tuple([place_of[node] for node in node_of]),
    )


def _merged_nodes(
    first: Pattern, second: Pattern, alignment: Sequence[tuple[int, int]]
) -> tuple[int, ...]:
    """The node of each position of the second pattern; nodes of the first come first."""
    shared = {other: one for one, other in alignment}
    if (
        not alignment
        or len(shared) != len(alignment)
        or len(set(shared.values())) != len(alignment)
        or not set(shared) <= set(range(second.size))
        or not set(shared.values()) <= set(range(first.size))
    ):
        raise UsageError(
            "an alignment pairs positions of the first pattern with positions of the second, "
            "each at most once"
        )
    found, following = [], first.size
    for place in range(second.size):
        if place in shared:
            found.append(shared[place])
        else:
            found.append(following)
            following += 1
    return tuple(found)


def _ascending(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _relations(pattern: Pattern, nodes: Sequence[int]) -> dict[tuple[int, int], int]:
    found = {}
    for (a, b), relation in zip(PAIRS[pattern.size], pattern.relations, strict=True):
        one, other = nodes[a], nodes[b]
        if one < other:
            found[one, other] = relation
        else:
            found[other, one] = reverse(relation)
    return found


def _arrows(
    relations: dict[tuple[int, int], int],
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    edges, indirect, couplings = [], [], []
    for (one, other), relation in sorted(relations.items()):
        if relation == MUTUAL:
            raise UsageError("patterns of agents that answer each other cannot be composed")
        precedence = relation % COUPLED
        if precedence == DIRECT:
            edges.append((one, other))
        elif precedence == DIRECT_BACK:
            edges.append((other, one))
        elif precedence == INDIRECT:
            indirect.append((one, other))
        elif precedence == INDIRECT_BACK:
            indirect.append((other, one))
        if relation >= COUPLED:
            couplings.append((one, other))
    return edges, indirect, couplings


def _reached(size: int, edges: Sequence[tuple[int, int]]) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(size)]
    for node in reversed(_topological_order(size, edges)):
        for source, target in edges:
            if source == node:
                found[node] |= {target} | found[target]
    return found


def _topological_order(size: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Nodes in topological order, the smallest first among those that can come next."""
    waiting = [0] * size
    for _, target in edges:
        waiting[target] += 1
    order: list[int] = []
    while len(order) < size:
        ready = [node for node in range(size) if node not in order and not waiting[node]]
        if not ready:
            raise UsageError("the patterns joined by this rule would have a cycle")
        order.append(ready[0])
        for source, target in edges:
            if source == ready[0]:
                waiting[target] -= 1
    return order
