"""Counts, in each graph, how occurrences of patterns overlap, without looking at each pair.

Two different node sets of at most three nodes share one node or two. An occurrence stands at
a node in a *class*: its pattern and the position of the node, up to automorphism.

Two nodes shared: all occurrences that hold both nodes differ in the third, so any two of
them overlap in exactly these two.

One node v shared: of all pairs of occurrences at v in the classes c and c', those also share
a second node u that both hold. Let n(c) be the number of occurrences of class c at v and
d(c, u) those that hold u too. No two occurrences share both other nodes (they would be one),
so n(c) n(c') - sum over u of d(c, u) d(c', u) pairs share v alone. Within one class the sum
counts an occurrence of three nodes with itself twice where once is meant.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mining.canonical import Pattern, automorphisms
from mining.motif_columns import Support
from mining.motif_library import MotifLibrary

_ONE_SHARED = 0
_TWO_SHARED = 1


@dataclass(frozen=True, slots=True, eq=False)
class RuleTable:
    """One row for each rule and graph, ordered by both.

    Attributes:
        starts: Where each rule's rows begin; one entry more than rules.
        graphs: Position of the graph, one a row.
        counts: Number of overlapping pairs, one a row.
        offsets: Where each row's places begin in ``places``; one entry more than rows.
        places: int32 of shape (kept places, 2): shared nodes, -1 as the second of one.
    """

    starts: Any
    graphs: Any
    counts: Any
    offsets: Any
    places: Any

    def of(self, rule: int) -> Iterator[tuple[int, int, list[list[int]]]]:
        """The rows of one rule: graph, count, and kept places."""
        for row in range(int(self.starts[rule]), int(self.starts[rule + 1])):
            places = self.places[self.offsets[row] : self.offsets[row + 1]]
            yield int(self.graphs[row]), int(self.counts[row]), places.tolist()

    def graphs_of(self, rule: int) -> list[int]:
        """The graphs of one rule's rows."""
        found: list[int] = self.graphs[self.starts[rule] : self.starts[rule + 1]].tolist()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """What was found in all graphs.

    Attributes:
        rules: For each rule the positions of two motifs, and an alignment.
        totals: For each graph, the number of overlapping pairs.
        skipped: Graphs that were left out, by position, with the reason.
        numbers: Rule of each row; rows stand by graph.
        graphs: Graph of each row.
        counts: Overlapping pairs of each row.
        kept: Number of kept places of each row.
        places: int32 of shape (sum of ``kept``, 2).
    """

    rules: list[tuple[int, int, tuple[tuple[int, int], ...]]]
    totals: list[int]
    skipped: dict[int, str]
    numbers: Any
    graphs: Any
    counts: Any
    kept: Any
    places: Any

    def support(self, tasks: Sequence[str]) -> Support:
        """Counts graphs and tasks.

        Args:
            tasks: The task of each graph.
        """
        import numpy

        size = len(self.rules)
        totals = numpy.zeros(size, numpy.int64)
        numpy.add.at(totals, self.numbers, self.counts)
        known: dict[str, int] = {}
        places = numpy.array([known.setdefault(task, len(known)) for task in tasks], int)
        many = len(known) + 1
        shown = numpy.unique(self.numbers * many + places[self.graphs])
        return Support(
            counts=totals.tolist(),
            graphs=numpy.bincount(self.numbers, minlength=size).tolist(),
            tasks=numpy.bincount(shown // many, minlength=size).tolist(),
        )

    def table(self, chosen: Sequence[int]) -> RuleTable:
        """The rows of some rules, in their order."""
        import numpy

        place_of = numpy.full(len(self.rules), -1, numpy.int64)
        place_of[list(chosen)] = numpy.arange(len(chosen))
        rules = place_of[self.numbers]
        order = numpy.lexsort((self.graphs, rules))
        order = order[rules[order] >= 0]
        begins = numpy.cumsum(self.kept) - self.kept
        offsets = numpy.concatenate(([0], numpy.cumsum(self.kept[order])))
        shift = numpy.repeat(begins[order] - offsets[:-1], self.kept[order])
        return RuleTable(
            starts=numpy.searchsorted(rules[order], numpy.arange(len(chosen) + 1)),
            graphs=self.graphs[order],
            counts=self.counts[order],
            offsets=offsets,
            places=self.places[shift + numpy.arange(len(shift))],
        )


def find_overlaps(
    motifs: MotifLibrary,
    *,
    max_occurrences: int,
    max_pairs: int,
    max_rules: int,
    keep: int | None,
) -> Overlaps:
    """Counts the overlaps of all graphs of a library.

    Args:
        motifs: Patterns with all their occurrences.
        max_occurrences: Graphs with more are left out.
        max_pairs: Graphs with more pairs of classes at a node are left out.
        max_rules: Graphs with more rules are left out.
        keep: How many places of a rule and graph to keep; None for all.
    """
    import numpy

    classes = _Classes.of([motif.pattern for motif in motifs.motifs])
    totals = [0] * len(motifs.graphs)
    skipped: dict[int, str] = {}
    numbers: dict[tuple[int, int, int], int] = {}
    columns = [array("q") for _ in range(4)]
    places = array("i")
    for graph, chosen, sets in motifs.columns():
        if len(chosen) > max_occurrences:
            skipped[graph] = (
                f"{len(chosen)} occurrences, more than max_occurrences = {max_occurrences}"
            )
            continue
        found = [_one_shared(chosen, sets, classes, max_pairs)]
        if found[0] is not None:
            found.append(_two_shared(chosen, sets, classes, max_pairs))
        if found[-1] is None:
            skipped[graph] = f"more than max_pairs = {max_pairs} kinds of overlaps to compare"
            continue
        shown = sum(len(part[1]) for part in found if part is not None)
        if shown > max_rules:
            skipped[graph] = f"{shown} rules, more than max_rules = {max_rules}"
            continue
        for kind, part in enumerate(found):
            assert part is not None
            codes, counts, owners, shared = part
            rank = _rank_within(owners)
            limit = len(shared) if keep is None else keep
            kept = numpy.bincount(owners[rank < limit], minlength=len(counts))
            for (one, other), count, size in zip(
                codes.tolist(), counts.tolist(), kept.tolist(), strict=True
            ):
                number = numbers.setdefault((kind, one, other), len(numbers))
                for column, value in zip(columns, (number, graph, count, size), strict=True):
                    column.append(value)
            places.frombytes(shared[rank < limit].astype(numpy.int32).tobytes())
            totals[graph] += int(counts.sum())
    rows = [numpy.array(column, numpy.int64) for column in columns]
    return Overlaps(
        rules=[classes.decoded(*key) for key in numbers],
        totals=totals,
        skipped=skipped,
        numbers=rows[0],
        graphs=rows[1],
        counts=rows[2],
        kept=rows[3],
        places=numpy.array(places, numpy.int32).reshape(-1, 2),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Classes:
    """Positions in patterns up to automorphism, as numbers.

    Attributes:
        single: int64 (motifs, 3): a number for motif and position.
        double: int64 (motifs, 3, 3): a number for motif and two positions in order.
        mirrored: For each number of ``double``, that of the same positions the other way.
        size: Nodes of each motif.
    """

    single: Any
    double: Any
    mirrored: Any
    size: Any

    @classmethod
    def of(cls, patterns: Sequence[Pattern]) -> "_Classes":
        import numpy

        single = numpy.zeros((len(patterns), 3), numpy.int64)
        double = numpy.zeros((len(patterns), 3, 3), numpy.int64)
        mirrored = numpy.zeros(len(patterns) * 9, numpy.int64)
        for motif, pattern in enumerate(patterns):
            orders = automorphisms(pattern)
            for a in range(pattern.size):
                single[motif, a] = motif * 3 + min(order[a] for order in orders)
                for b in range(pattern.size):
                    smallest = min((order[a], order[b]) for order in orders)
                    double[motif, a, b] = motif * 9 + smallest[0] * 3 + smallest[1]
            for a in range(pattern.size):
                for b in range(pattern.size):
                    mirrored[double[motif, a, b]] = double[motif, b, a]
        sizes = numpy.array([pattern.size for pattern in patterns], numpy.int64)
        return cls(single, double, mirrored, sizes)

    def decoded(
        self, kind: int, one: int, other: int
    ) -> tuple[int, int, tuple[tuple[int, int], ...]]:
        """Two motifs and an alignment, of two classes."""
        if kind == _ONE_SHARED:
            return one // 3, other // 3, ((one % 3, other % 3),)
        first, second = one % 9, other % 9
        pairs = ((first // 3, second // 3), (first % 3, second % 3))
        return one // 9, other // 9, pairs


_Part = tuple[Any, Any, Any, Any]
"""Codes (rules, 2), counts (rules), and for each place its rule and its nodes (places, 2)."""


def _one_shared(chosen: Any, sets: Any, classes: _Classes, max_pairs: int) -> _Part | None:
    import numpy

    nodes: list[Any] = []
    kinds: list[Any] = []
    held: list[Any] = []
    holders: list[Any] = []
    holding: list[Any] = []
    one: Any
    other: Any
    for position in range(3):
        inside = sets[:, position] >= 0
        here = sets[inside, position].astype(numpy.int64)
        kind = classes.single[chosen[inside], position]
        nodes.append(here)
        kinds.append(kind)
        for second in range(3):
            if second != position:
                there = sets[inside, second]
                both = there >= 0
                held.append(there[both].astype(numpy.int64))
                holders.append(here[both])
                holding.append(kind[both])
    known, ranks = numpy.unique(numpy.concatenate(kinds), return_inverse=True)
    size = len(known)
    node_count = int(sets.max()) + 1
    # How many occurrences stand at a node in a class.
    keys, numbers = numpy.unique(numpy.concatenate(nodes) * size + ranks, return_counts=True)
    # How many of these hold another node too.
    inner = numpy.searchsorted(known, numpy.concatenate(holding))
    pairs = numpy.concatenate(holders) * node_count + numpy.concatenate(held)
    inner_keys, inner_numbers = numpy.unique(pairs * size + inner, return_counts=True)
    at, at_class = keys // size, keys % size
    at_inner, inner_class = inner_keys // size, inner_keys % size
    if _pair_count(at) + _pair_count(at_inner) > max_pairs:
        return None
    left, right = _pairs_within(at)
    inner_left, inner_right = _pairs_within(at_inner)
    node = numpy.concatenate((at[left], at_inner[inner_left] // node_count))
    one = numpy.concatenate((at_class[left], inner_class[inner_left]))
    other = numpy.concatenate((at_class[right], inner_class[inner_right]))
    weight = numpy.concatenate(
        (
            numbers[left] * numbers[right],
            -inner_numbers[inner_left] * inner_numbers[inner_right],
        )
    )
    total_keys, place = numpy.unique((node * size + one) * size + other, return_inverse=True)
    totals = numpy.zeros(len(total_keys), numpy.int64)
    numpy.add.at(totals, place, weight)
    one, other = total_keys // size % size, total_keys % size
    node = total_keys // size // size
    same = one == other
    whole = classes.size[known[one] // 3] == 3
    alone = numbers[numpy.searchsorted(keys, node * size + one)]
    totals = numpy.where(same, (totals + numpy.where(whole, alone, 0)) // 2, totals)
    real = totals > 0
    shared = numpy.stack((node[real], numpy.full(int(real.sum()), -1)), axis=1)
    return _merged(known[one[real]], known[other[real]], totals[real], shared)


def _two_shared(chosen: Any, sets: Any, classes: _Classes, max_pairs: int) -> _Part | None:
    import numpy

    firsts, seconds, kinds = [], [], []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        inside = sets[:, b] >= 0
        one, other = sets[inside, a].astype(numpy.int64), sets[inside, b].astype(numpy.int64)
        kind = classes.double[chosen[inside], a, b]
        backward = one > other
        kinds.append(numpy.where(backward, classes.mirrored[kind], kind))
        firsts.append(numpy.minimum(one, other))
        seconds.append(numpy.maximum(one, other))
    known, ranks = numpy.unique(numpy.concatenate(kinds), return_inverse=True)
    size = len(known)
    node_count = int(sets.max()) + 1
    pairs = numpy.concatenate(firsts) * node_count + numpy.concatenate(seconds)
    keys, numbers = numpy.unique(pairs * size + ranks, return_counts=True)
    at, at_class = keys // size, known[keys % size]
    if _pair_count(at) > max_pairs:
        return None
    left, right = _pairs_within(at)
    weight = numpy.where(
        left == right,
        numbers[left] * (numbers[left] - 1) // 2,
        numbers[left] * numbers[right],
    )
    real = weight > 0
    left, right, weight = left[real], right[real], weight[real]
    one, other = at_class[left], at_class[right]
    # Seen from the other end, both classes change: the smaller pair stands for both.
    back, front = classes.mirrored[one], classes.mirrored[other]
    one, other = numpy.minimum(one, other), numpy.maximum(one, other)
    back, front = numpy.minimum(back, front), numpy.maximum(back, front)
    turned = (back < one) | ((back == one) & (front < other))
    one, other = numpy.where(turned, back, one), numpy.where(turned, front, other)
    shared = numpy.stack((at[left] // node_count, at[left] % node_count), axis=1)
    return _merged(one, other, weight, shared)


def _merged(one: Any, other: Any, counts: Any, shared: Any) -> _Part:
    """Sums by rule; places stand by rule, then by node."""
    import numpy

    codes, owners = numpy.unique(numpy.stack((one, other), axis=1), axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    totals = numpy.zeros(len(codes), numpy.int64)
    numpy.add.at(totals, owners, counts)
    order = numpy.lexsort((shared[:, 1], shared[:, 0], owners))
    owners, shared = owners[order], shared[order]
    fresh = numpy.ones(len(owners), bool)
    fresh[1:] = (owners[1:] != owners[:-1]) | (shared[1:] != shared[:-1]).any(axis=1)
    return codes, totals, owners[fresh], shared[fresh]


def _pair_count(groups: Any) -> int:
    """Number of pairs (i <= j) of equal entries of a sorted array."""
    import numpy

    sizes = numpy.unique(groups, return_counts=True)[1]
    return int((sizes * (sizes + 1) // 2).sum())


def _pairs_within(groups: Any) -> tuple[Any, Any]:
    """Positions (i <= j) of equal entries of a sorted array."""
    import numpy

    ends = numpy.searchsorted(groups, groups, side="right")
    positions = numpy.arange(len(groups))
    repeats = ends - positions
    left = numpy.repeat(positions, repeats)
    begins = numpy.cumsum(repeats) - repeats
    return left, left + numpy.arange(len(left)) - numpy.repeat(begins, repeats)


def _rank_within(groups: Any) -> Any:
    """For each entry of a sorted array, how many equal ones stand before it."""
    import numpy

    return numpy.arange(len(groups)) - numpy.searchsorted(groups, groups, side="left")
