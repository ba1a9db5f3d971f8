"""Which action of one graph stands for which of another, what is missing and what is extra.

The alignment is a mapping of nodes, found by assignment, and the edits that it implies. Its
cost is the cost of a path of edits, so it is never below the edit distance
(:mod:`analytics.similarity.edit`), and usually near it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy
from numpy.typing import NDArray

from analytics.similarity.assignment import AssignmentOptions, assign
from analytics.similarity.edit_cost import UNMATCHED, Pairing
from analytics.similarity.matrices import pair_by_pair
from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, Outline, check_labels, outline
from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph

CONTENT = 0.25
"""What other content adds to a pair, in edits. Below 1/2: it outweighs no edit of a pair."""
POSITION = 0.1
"""What a shift by the length of the longer graph adds to a pair, in edits."""
ROUNDS = 5
DENSE_LIMIT = 600
WINDOW = 16


class Match(NamedTuple):
    """A pair of nodes.

    Attributes:
        one: Index in the first graph.
        other: Index in the second graph.
        cost: 1 where the labels differ, and 1/2 for each edge at either node that the other
            lacks, since an edge has two ends.
    """

    one: int
    other: int
    cost: float


@dataclass(frozen=True)
class Alignment:
    """How a graph maps to a reference.

    Attributes:
        configuration: Of the measure that made it.
        configuration_hash: Its hash.
        matched: Every pair, by index in the first graph.
        extra: Indexes in the first graph that have no counterpart.
        missing: Indexes in the second graph that have no counterpart.
        relabelled: Indexes in the first graph whose counterpart carries another label.
        reworded: Indexes in the first graph whose counterpart has other content; only where
            both contents are known.
        kept_edges: Number of edges of the first graph that the second has, too.
        lost_edges: Number of edges of the first graph that the second lacks.
        missing_edges: Number of edges of the second graph that the first lacks.
        cost: Number of edits: relabelled + extra + missing nodes, lost + missing edges.
        similarity: 1 - cost / (all nodes + all edges of both), 0 to 1; None where one of
            the graphs has no nodes.
        first_divergence: Index of the first action of the first graph that has no
            counterpart, or whose counterpart carries another label or consumes other
            outputs. None where no action does: then the first graph is the second one, or a
            part of it that stops early.
    """

    configuration: dict[str, Any]
    configuration_hash: str
    matched: tuple[Match, ...]
    extra: tuple[int, ...]
    missing: tuple[int, ...]
    relabelled: tuple[int, ...]
    reworded: tuple[int, ...]
    kept_edges: int
    lost_edges: int
    missing_edges: int
    cost: int
    similarity: float | None
    first_divergence: int | None

    def to_dict(self) -> dict[str, Any]:
        """JSON values; a match is ``{"one", "other", "cost"}``."""
        return {**asdict(self), "matched": [match._asdict() for match in self.matched]}


@dataclass(frozen=True)
class AlignmentMeasure(Configured):
    """1 - edits of the best alignment found / edits that replace one graph by the other.

    Costs are those of :mod:`analytics.similarity.edit_cost`. Contents and positions choose
    between alignments, and do not enter the cost: texts of two runs nearly always differ.
    How counterparts are found: :mod:`analytics.similarity.assignment`.

    Attributes:
        labels: How nodes are labelled (:data:`analytics.similarity.outline.LABELS`).
        content: Weight of other content, in edits, at least 0.
        position: Weight of a shift by the whole length, in edits, at least 0.
        rounds: Rounds of improvement from each start, at least 0.
        dense_limit: Number of nodes up to which every pair is a candidate.
        window: Beyond it, candidates on each side of a node's expected place.
        definitions: Raised whenever the value changes its meaning.
    """

    name: ClassVar[str] = "alignment"

    labels: str = DEFAULT_LABELS
    content: float = CONTENT
    position: float = POSITION
    rounds: int = ROUNDS
    dense_limit: int = DENSE_LIMIT
    window: int = WINDOW
    definitions: str = "2"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        for name in ("content", "position"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise UsageError(f"{name} must be a finite number of at least 0")
        for name, least in (("rounds", 0), ("dense_limit", 0), ("window", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}")

    @property
    def options(self) -> AssignmentOptions:
        """How counterparts are chosen."""
        return AssignmentOptions(
            self.content, self.position, self.rounds, self.dense_limit, self.window
        )

    def prepare(self, graph: CollaborationGraph) -> Outline:
        """Labels, edges and content hashes."""
        return outline(graph, self.labels, contents=True)

    def mapping(self, one: Outline, other: Outline) -> NDArray[numpy.int64]:
        """The counterpart of each node of the first graph, or -1.

        The same pairs come out whichever graph is named first.
        """
        if one.key <= other.key:
            return assign(Pairing(one, other), self.options)
        found = assign(Pairing(other, one), self.options)
        mapping = numpy.full(len(one.labels), UNMATCHED, numpy.int64)
        mapping[found] = numpy.arange(len(found))
        return mapping

    def cost(self, one: Outline, other: Outline) -> int:
        """Number of edits of the alignment of two prepared graphs."""
        return Pairing(one, other).cost(self.mapping(one, other))

    def obstacle(self, prepared: Outline) -> str | None:
        """Why the graph has no similarity, or None."""
        return None if prepared.labels else "it has no nodes"

    def similarity(self, one: Outline, other: Outline) -> float | None:
        """Of two prepared graphs, 0 to 1; None where one has no nodes."""
        if not one.labels or not other.labels:
            return None
        most = Pairing(one, other).size
        return 1 - self.cost(one, other) / most

    def matrix(
        self, ones: Sequence[Outline], others: Sequence[Outline] | None = None
    ) -> NDArray[numpy.float64]:
        """All pairs, one by one; shape (n, m), NaN where not defined."""
        return pair_by_pair(self.similarity, ones, others)

    def align(self, one: CollaborationGraph, other: CollaborationGraph) -> Alignment:
        """Aligns a graph with a reference.

        Args:
            one: The graph that is looked at.
            other: The graph that it is compared with.
        """
        return self.align_prepared(self.prepare(one), self.prepare(other))

    def align_prepared(self, one: Outline, other: Outline) -> Alignment:
        """Aligns two prepared graphs."""
        pairing = Pairing(one, other)
        mapping = self.mapping(one, other)
        (here, there), (near, far) = pairing.labels, pairing.edges
        rows = numpy.flatnonzero(mapping >= 0)
        columns = mapping[rows]
        relabelled = here[rows] != there[columns]
        kept = pairing.kept_edges(mapping)
        # Each node pays for half of every edge at it that the mapping does not keep.
        halves = numpy.bincount(near[~kept].ravel(), minlength=len(here)) / 2
        back = numpy.full(len(there), UNMATCHED, numpy.int64)
        back[columns] = rows
        absent = ~Pairing(other, one).kept_edges(back)
        halves_there = numpy.bincount(far[absent].ravel(), minlength=len(there)) / 2
        costs = relabelled + halves[rows] + halves_there[columns]
        extra = numpy.flatnonzero(mapping < 0)
        differs = numpy.zeros(len(here), bool)
        differs[extra] = True
        differs[rows[relabelled]] = True
        differs[near[~kept][:, 1]] = True
        targets = back[far[absent][:, 1]]
        differs[targets[targets >= 0]] = True
        cost = pairing.cost(mapping)
        return Alignment(
            configuration=self.configuration,
            configuration_hash=self.configuration_hash,
            matched=tuple(
                map(Match, rows.tolist(), columns.tolist(), costs.astype(float).tolist())
            ),
            extra=tuple(extra.tolist()),
            missing=tuple(numpy.flatnonzero(back < 0).tolist()),
            relabelled=tuple(rows[relabelled].tolist()),
            reworded=tuple(rows[pairing.reworded(rows, columns)].tolist()),
            kept_edges=int(kept.sum()),
            lost_edges=int((~kept).sum()),
            missing_edges=int(absent.sum()),
            cost=cost,
            similarity=1 - cost / pairing.size if len(here) and len(there) else None,
            first_divergence=int(differs.argmax()) if differs.any() else None,
        )
