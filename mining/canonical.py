"""The canonical form of a small pattern: the same for every naming of its nodes.

Source: MAC-Bench, Eq. 3 and appendix F.1. A pattern of k nodes in the order sigma is
encoded by its type labels and, for each pair of positions, by direct or indirect
precedence and coupling; the canonical form is the lexicographic minimum over all k! orders.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

from graphstore.identity import canonical_json

INCOMPARABLE, DIRECT, INDIRECT, DIRECT_BACK, INDIRECT_BACK = range(5)
"""Precedence of a pair of positions (a, b): none; a before b by an edge; a before b by a
longer path only; b before a, likewise."""

COUPLED = 5
"""Added to a precedence where the pair is coupled."""

MUTUAL = 10
"""Each of a pair before the other, by edges: between agents, who can answer each other."""

PAIRS: dict[int, tuple[tuple[int, int], ...]] = {
    size: tuple(combinations(range(size), 2)) for size in (2, 3)
}
"""The pairs of positions in the order in which a pattern's relations stand."""

_REVERSED = (0, 3, 4, 1, 2, 5, 8, 9, 6, 7, 10)


def reverse(relation: int) -> int:
    """The relation of a pair, seen from its other end."""
    return _REVERSED[relation]


@dataclass(frozen=True, slots=True, order=True)
class Pattern:
    """Two or three typed nodes and their relations, in one order of the nodes.

    Attributes:
        labels: The type of each node.
        relations: For each pair of :data:`PAIRS`, its precedence, plus :data:`COUPLED`
            where it is coupled: 0 to 9; or :data:`MUTUAL`.
    """

    labels: tuple[str, ...]
    relations: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    def reordered(self, order: Sequence[int]) -> "Pattern":
        """The same pattern with node ``order[0]`` first."""
        relation = dict(zip(PAIRS[self.size], self.relations, strict=True))
        found = []
        for one, other in PAIRS[self.size]:
            a, b = order[one], order[other]
            found.append(relation[a, b] if a < b else reverse(relation[b, a]))
        return Pattern(tuple([self.labels[place] for place in order]), tuple(found))

    @property
    def text(self) -> str:
        """One line that names this pattern and no other: JSON of labels and relations."""
        return canonical_json([self.labels, self.relations])

    @property
    def shape(self) -> str:
        """The classical name of the structure without its labels."""
        return _shape(self.size, self.relations)

    @property
    def description(self) -> str:
        """The pattern in words: its shape, then each relation with the nodes' labels.

        ``a -> b`` is an edge, ``a <-> b`` edges both ways, ``a ~> b`` a longer path,
        ``a -- b`` a coupling. Nodes of one label are told apart by ``#1``, ``#2``, ``#3``.
        """
        names = _told_apart(self.labels)
        direct, indirect, coupled = _arrows(self.size, self.relations)
        following = dict(direct)
        parts = [f"{names[one]} -> {names[other]}" for one, other in direct]
        for one, other in direct:
            if len(direct) == 2 and other in following:
                # A chain is one phrase, and says itself that its ends are in order.
                parts = [f"{names[one]} -> {names[other]} -> {names[following[other]]}"]
                indirect = []
        for (one, other), relation in zip(PAIRS[self.size], self.relations, strict=True):
            if relation == MUTUAL:
                parts.append(f"{names[one]} <-> {names[other]}")
        parts += [f"{names[one]} ~> {names[other]}" for one, other in indirect]
        parts += [f"{names[one]} -- {names[other]}" for one, other in coupled]
        return f"{self.shape}: {', '.join(parts)}"


def canonical(pattern: Pattern) -> tuple[Pattern, tuple[int, ...]]:
    """The smallest of a pattern's encodings, and the order of the nodes that gives it.

    Args:
        pattern: Of two or three nodes.

    Returns:
        The canonical pattern, and the first order (lexicographically) that makes it.
    """
    return min((pattern.reordered(order), order) for order in permutations(range(pattern.size)))


@cache
def automorphisms(pattern: Pattern) -> tuple[tuple[int, ...], ...]:
    """The orders of a pattern's nodes that leave it as it is: the trivial one comes first."""
    return tuple(
        [
            order
            for order in permutations(range(pattern.size))
            if pattern.reordered(order) == pattern
        ]
    )


@cache
def order_table() -> tuple[Any, Any]:
    """For each way that three labels compare and three relations can be: the first best order.

    The order depends on the labels only through their comparisons, and a pair whose first
    node has the smaller index is never preceded by its second. So a table of 27 * 216
    entries replaces the search over permutations.

    Returns:
        Two int64 arrays of 5832 entries: the number of the order among
        ``permutations(range(3))`` (-1 where the comparisons contradict each other), and the
        relations in that order, 4 bits each, the first pair highest. The entry is
        ``comparisons * 216 + relations``, where comparisons are three digits to base 3 (0
        smaller, 1 equal, 2 larger) and relations three digits to base 6 (precedence 0 to
        2, plus 3 where coupled), for the pairs of :data:`PAIRS`.
    """
    import numpy

    best_orders = numpy.full(27 * 216, -1, numpy.int64)
    best_relations = numpy.full(27 * 216, -1, numpy.int64)
    orders = list(permutations(range(3)))
    for ranks in sorted(set(product(range(3), repeat=3))):
        comparisons = 0
        for one, other in PAIRS[3]:
            sign = (ranks[one] > ranks[other]) - (ranks[one] < ranks[other])
            comparisons = comparisons * 3 + sign + 1
        labels = tuple(map(str, ranks))
        for digits in product(range(6), repeat=3):
            row = (comparisons * 6 + digits[0]) * 36 + digits[1] * 6 + digits[2]
            if best_orders[row] >= 0:
                continue
            relations = tuple([digit if digit < 3 else digit + 2 for digit in digits])
            best, order = canonical(Pattern(labels, relations))
            best_orders[row] = orders.index(order)
            best_relations[row] = (
                best.relations[0] << 8 | best.relations[1] << 4 | best.relations[2]
            )
    return best_orders, best_relations


def _told_apart(labels: tuple[str, ...]) -> list[str]:
    return [
        f"{label} #{labels[: place + 1].count(label)}" if labels.count(label) > 1 else label
        for place, label in enumerate(labels)
    ]


def _arrows(
    size: int, relations: tuple[int, ...]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]], list[tuple[int, int]]]:
    """The direct and the indirect precedences, the earlier position first, and couplings."""
    direct, indirect, coupled = [], [], []
    for (one, other), relation in zip(PAIRS[size], relations, strict=True):
        if relation == MUTUAL:
            continue
        precedence = relation % COUPLED
        pair = (other, one) if precedence in (DIRECT_BACK, INDIRECT_BACK) else (one, other)
        if precedence in (DIRECT, DIRECT_BACK):
            direct.append(pair)
        elif precedence != INCOMPARABLE:
            indirect.append(pair)
        if relation >= COUPLED:
            coupled.append((one, other))
    return direct, indirect, coupled


def _shape(size: int, relations: tuple[int, ...]) -> str:
    direct, indirect, couplings = _arrows(size, relations)
    coupled = len(couplings)
    sources = {source for source, _ in direct}
    targets = {target for _, target in direct}
    mutual = [pair for pair, one in zip(PAIRS[size], relations, strict=True) if one == MUTUAL]
    if mutual:
        return _mutual_shape(size, mutual, direct)
    if len(direct) == 3 and len(sources) == 3:
        name = "cycle"
    elif len(direct) == 3:
        name = "feed-forward triangle"
    elif len(direct) == 2 and len(sources) == 1:
        name = "fork" if not indirect else "fork, one branch before the other"
    elif len(direct) == 2 and len(targets) == 1:
        name = "join" if not indirect else "join, one branch before the other"
    elif len(direct) == 2:
        name = "chain"
    elif size == 2 and not direct:
        return "coupled pair" if not indirect else "coupled pair in sequence"
    elif size == 2:
        name = "pair"
    else:
        name = "pair and third node" if direct else "trio"
        if indirect:
            name += " in sequence"
    if not coupled:
        return name
    return f"{name} with {'a coupling' if coupled == 1 else f'{coupled} couplings'}"


def _mutual_shape(
    size: int, mutual: list[tuple[int, int]], direct: list[tuple[int, int]]
) -> str:
    """The name where some pairs are joined both ways."""
    if size == 2:
        return "mutual pair"
    if len(mutual) == 3:
        return "mutual triangle"
    if len(mutual) == 2:
        return "mutual chain with a shortcut" if direct else "mutual chain"
    sources = {source for source, _ in direct}
    targets = {target for _, target in direct}
    if len(direct) == 1:
        sends = sources <= set(mutual[0])
        return "mutual pair that sends" if sends else "mutual pair that receives"
    if len(sources) == 1:
        return "mutual pair with a common sender"
    if len(targets) == 1:
        return "mutual pair with a common receiver"
    return "mutual pair in a cycle"
