"""How alike two graphs are in their connected pairs and triples of labelled nodes.

Source: Milo et al., "Superfamilies of Evolved and Designed Networks", Science 303 (2004):
networks compared by their profiles of triads. Here the profile holds the counts themselves,
typed by labels as MAC-Bench types its patterns (section 3.2.1), and is compared as a multiset.

Triples are not listed. Around each node, neighbours are counted by label and relation; the
product of two counts gives the paths through the node; those that a third relation closes
are found as triangles, counted apart, and taken off.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from analytics.similarity.counts import Overlaps, blocks
from analytics.similarity.forest import overlap
from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, Outline, check_labels, outline
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph

SIZES = {"pairs": 2, "triples": 3}
"""Number of nodes of a pattern, by the part of a profile that counts it."""
MAX_TRIANGLE_STEPS = 20_000_000
"""Looks at a third node that the search for triangles may take in one graph."""

FORWARD, BACKWARD, COUPLED = 1, 2, 4
"""What joins two nodes, seen from the first; both an edge and a coupling add up."""

Pair = tuple[str, int, str]
Profile = Mapping[Any, int]


@dataclass(frozen=True, slots=True)
class MotifProfile:
    """How often each pattern occurs.

    Attributes:
        nodes: Number of nodes.
        pairs: Joined pairs, by (label, relation, label).
        triples: Connected sets of three, by pattern; None where the search would take more
            than the measure's ``max_steps``.
    """

    nodes: int
    pairs: Profile
    triples: Profile | None


@dataclass(frozen=True)
class MotifMeasure(Configured):
    """The mean, over the sizes 2 and 3, of shared patterns over all patterns.

    With counts a(x) and b(x) of the patterns x of one size in both graphs, that size gives
    ``sum_x min(a(x), b(x)) / sum_x max(a(x), b(x))``; it is left out where neither graph has
    a pattern of it. A pattern is a set of nodes that edges or couplings join, with all
    relations among them (an induced subgraph), up to the order of its nodes. Two graphs in
    which nothing is joined have no similarity, and a graph without nodes has none with any.

    Attributes:
        sizes: 2, 3 or both; put into ascending order.
        labels: How nodes are labelled (:data:`analytics.similarity.outline.LABELS`).
        max_steps: The most that the search for triangles may take; a graph beyond it has no
            similarity, unless only pairs are asked for.
        definitions: Raised whenever the value changes its meaning.
    """

    name: ClassVar[str] = "motif"

    sizes: tuple[int, ...] = (2, 3)
    labels: str = DEFAULT_LABELS
    max_steps: int = MAX_TRIANGLE_STEPS
    definitions: str = "2"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if not self.sizes or not set(self.sizes) <= {2, 3}:
            raise UsageError(f"sizes must be 2, 3 or both, not {self.sizes!r}")
        if self.max_steps < 0:
            raise UsageError(f"max_steps must be at least 0, not {self.max_steps}")
        object.__setattr__(self, "sizes", tuple(sorted(set(self.sizes))))

    def prepare(self, graph: CollaborationGraph) -> MotifProfile:
        """Counts of patterns."""
        seen = outline(graph, self.labels)
        near = _neighbours(seen)
        pairs: Counter[Pair] = Counter()
        for one, joined in enumerate(near):
            for other, relation in joined.items():
                if one < other:
                    pairs[_pair(seen.labels[one], relation, seen.labels[other])] += 1
        wanted = 3 in self.sizes
        return MotifProfile(
            nodes=len(seen.labels),
            pairs=dict(pairs),
            triples=_triples(seen.labels, near, self.max_steps) if wanted else {},
        )

    def obstacle(self, prepared: MotifProfile) -> str | None:
        """Why the graph has no similarity, or None."""
        if not prepared.nodes:
            return "it has no nodes"
        if prepared.triples is None:
            return f"the search for its triangles would take more than {self.max_steps} steps"
        return None

    def similarity(self, one: MotifProfile, other: MotifProfile) -> float | None:
        """The mean over sizes, 0 to 1; None where nothing is joined or a search too long."""
        if not one.nodes or not other.nodes:
            return None
        found = []
        if 2 in self.sizes:
            total = sum(one.pairs.values()) + sum(other.pairs.values())
            found.append(overlap(one.pairs, other.pairs, total))
        if 3 in self.sizes:
            if one.triples is None or other.triples is None:
                return None
            total = sum(one.triples.values()) + sum(other.triples.values())
            found.append(overlap(one.triples, other.triples, total))
        known = [value for value in found if value is not None]
        return sum(known) / len(known) if known else None

    def matrix(
        self, ones: Sequence[MotifProfile], others: Sequence[MotifProfile] | None = None
    ) -> NDArray[numpy.float64]:
        """All pairs; shape (n, m), NaN where not defined."""
        columns = ones if others is None else others
        parts = [
            Overlaps(
                [getattr(row, part) or {} for row in ones],
                None if others is None else [getattr(row, part) or {} for row in others],
            )
            for part in ("pairs", "triples")
            if SIZES[part] in self.sizes
        ]
        result = numpy.full((len(ones), len(columns)), numpy.nan)
        for begin, end in blocks(len(ones)):
            block = result[begin:end]
            total, known = numpy.zeros(block.shape), numpy.zeros(block.shape)
            for part in parts:
                values = part.rows(begin, end)
                defined = ~numpy.isnan(values)
                numpy.add(total, values, out=total, where=defined)
                known += defined
            numpy.divide(total, known, out=block, where=known > 0)
        result[[row.triples is None or not row.nodes for row in ones]] = numpy.nan
        result[:, [row.triples is None or not row.nodes for row in columns]] = numpy.nan
        return result


def _neighbours(seen: Outline) -> list[dict[int, int]]:
    near: list[dict[int, int]] = [{} for _ in seen.labels]
    for one, other in seen.edges:
        near[one][other] = FORWARD
        near[other][one] = BACKWARD
    for one, other in seen.couplings:
        near[one][other] = near[one].get(other, 0) | COUPLED
        near[other][one] = near[other].get(one, 0) | COUPLED
    return near


def _reversed(relation: int) -> int:
    """The relation seen from the other node."""
    return (relation & COUPLED) | (relation & FORWARD) << 1 | (relation & BACKWARD) >> 1


def _pair(one: str, relation: int, other: str) -> Pair:
    return min((one, relation, other), (other, _reversed(relation), one))


def _triples(
    labels: Sequence[str], near: list[dict[int, int]], max_steps: int
) -> Profile | None:
    """Counts of connected sets of three: open paths and triangles."""
    # A triangle is met once: at the pair of its two first nodes in order of degree.
    order = sorted(range(len(near)), key=lambda node: (len(near[node]), node))
    rank = {node: place for place, node in enumerate(order)}
    later = [
        {other for other in joined if rank[other] > rank[node]}
        for node, joined in enumerate(near)
    ]
    steps = sum(
        min(len(later[node]), len(later[other])) for node in order for other in later[node]
    )
    if steps > max_steps:
        return None
    paths: Counter[Any] = Counter()
    for node, joined in enumerate(near):
        arms = sorted(Counter([(rel, labels[other]) for other, rel in joined.items()]).items())
        for place, (arm, count) in enumerate(arms):
            if count > 1:
                paths[labels[node], arm, arm] += count * (count - 1) // 2
            for another, number in arms[place + 1 :]:
                paths[labels[node], arm, another] += count * number
    closed: Counter[Any] = Counter()
    for node in order:
        for other in later[node]:
            for third in later[node] & later[other]:
                closed[
                    labels[node],
                    labels[other],
                    labels[third],
                    near[node][other],
                    near[node][third],
                    near[other][third],
                ] += 1
    triangles: Counter[Any] = Counter()
    for key, count in closed.items():
        ways = [_turned(key, turn) for turn in permutations(range(3))]
        triangles["triangle", *min(ways)] += count
        # Each of its nodes is the middle of one path that is not open.
        for middle, one, other in ((0, 1, 2), (1, 0, 2), (2, 0, 1)):
            arms_there = sorted(
                [(_relation(key, middle, end), key[end]) for end in (one, other)]
            )
            paths[key[middle], arms_there[0], arms_there[1]] -= count
    return {**{key: count for key, count in paths.items() if count}, **triangles}


def _relation(key: Any, one: int, other: int) -> int:
    """What joins two of a triangle's nodes, seen from the first."""
    if one > other:
        return _reversed(_relation(key, other, one))
    relation: int = key[2 + one + other]
    return relation


def _turned(key: Any, turn: tuple[int, ...]) -> tuple[Any, ...]:
    first, second, third = turn
    return (
        key[first],
        key[second],
        key[third],
        _relation(key, first, second),
        _relation(key, first, third),
        _relation(key, second, third),
    )
