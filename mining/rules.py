"""Composition rules: how two patterns overlap inside one task.

Source: MAC-Bench, section 3.2.1 and appendix F.1 (local collaboration patterns:
canonicalization and connections). A rule ``(M, M', psi)`` says that an occurrence of M and
one of M' share nodes, and psi maps positions in M to positions in M'. Two occurrences are
different node sets, so they share one node or two.

Positions that an automorphism of a pattern exchanges are the same position: psi counts up to
the automorphisms of M and of M', and up to exchanging M and M' where both are one pattern.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphstore.errors import UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.short_view import TableView, counted
from mining.canonical import Pattern, automorphisms
from mining.motif_library import MotifLibrary
from mining.rule_overlaps import Overlaps, RuleTable, find_overlaps

if TYPE_CHECKING:
    import pandas

Alignment = tuple[tuple[int, int], ...]
"""Shared nodes: a position in the first pattern and one in the second, for each."""


@dataclass(frozen=True)
class RuleConfiguration:
    """What the rules depend on besides the patterns.

    Attributes:
        min_graph_support: In how many graphs a rule must occur to be kept.
        min_task_support: In how many tasks.
        kept_places: How many sets of shared nodes are kept to be shown for a rule and
            graph, None for all. Counts are exact whatever is kept.
        max_occurrences: A graph with more occurrences of the patterns is left out, and the
            library says so: about 400 bytes are needed for each.
        max_pairs: A graph in which more kinds of overlaps would have to be compared is left
            out likewise: about 100 bytes are needed for each.
        max_rules: A graph that shows more rules is left out likewise: where nearly every
            overlap is a rule of its own, none says how work is joined.
        definitions: Raised whenever the same patterns would give other rules.
    """

    min_graph_support: int = 1
    min_task_support: int = 1
    kept_places: int | None = 20
    max_occurrences: int = 2_000_000
    max_pairs: int = 10_000_000
    max_rules: int = 250_000
    definitions: str = "2"

    def __post_init__(self) -> None:
        limits = ("max_occurrences", "max_pairs", "max_rules")
        for name in ("min_graph_support", "min_task_support", *limits):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        if self.kept_places is not None and self.kept_places < 0:
            raise UsageError("kept_places must not be negative")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class CompositionRule:
    """A way to join two patterns, and how often it was found.

    Attributes:
        id: Made from the configurations and the canonical form.
        first: The smaller pattern (or the same one).
        second: The other pattern.
        alignment: Positions of the shared nodes, in canonical form.
        first_motif: Id of the first pattern's motif.
        second_motif: Id of the second pattern's motif.
        overlap_count: Number of pairs of occurrences that overlap so.
        graph_support: Number of distinct graphs in which any do.
        task_support: Number of distinct tasks.
    """

    id: str
    first: Pattern
    second: Pattern
    alignment: Alignment
    first_motif: str
    second_motif: str
    overlap_count: int
    graph_support: int
    task_support: int

    @property
    def canonical_form(self) -> str:
        """One line that names the rule and no other."""
        return rule_text(self.first, self.second, self.alignment)

    @property
    def size(self) -> int:
        """Number of nodes of both patterns together."""
        return self.first.size + self.second.size - len(self.alignment)

    @property
    def description(self) -> str:
        """The rule in words."""
        shared = ", ".join(
            f"{self.first.labels[one]} (node {one + 1} of the first, {other + 1} of the second)"
            for one, other in self.alignment
        )
        return f"[{self.first.description}] and [{self.second.description}] share {shared}"


@dataclass(frozen=True, slots=True)
class Extension:
    """A rule, seen from one of its patterns.

    Attributes:
        rule: Position in the library's rules.
        pattern: The pattern that is attached.
        alignment: Positions in the pattern that is there, and in the one that is attached.
        task_support: Of the rule.
    """

    rule: int
    pattern: Pattern
    alignment: Alignment
    task_support: int


@dataclass(frozen=True, slots=True)
class RuleOccurrence:
    """A rule in one graph.

    Attributes:
        rule: Position in the library's rules.
        graph: Position in the library's graphs.
        count: Number of pairs of occurrences that overlap so: exact.
        places: The kept sets of shared nodes: indexes of nodes, ascending.
    """

    rule: int
    graph: int
    count: int
    places: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class RuleGraph:
    """What the search for rules met in one graph.

    Attributes:
        id: Of the graph.
        task: Id of its task.
        overlaps: Number of overlapping pairs of occurrences; None where not counted.
        skipped: Why the graph was left out; None where it was searched in full.
    """

    id: str
    task: str
    overlaps: int | None
    skipped: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class RuleLibrary(TableView):
    """The composition rules of a corpus.

    Attributes:
        configuration: What it was made with.
        motif_hash: Hash of the library of patterns that it was made from.
        rules: By task support, then graph support, then overlaps, the largest first; ties
            by canonical form.
        graphs: In order of id.
        dropped_rules: Number of rules below the support thresholds.
        hash: Of the configuration, the patterns, the rules and the counts.
    """

    configuration: RuleConfiguration
    motif_hash: str
    rules: tuple[CompositionRule, ...]
    graphs: tuple[RuleGraph, ...]
    dropped_rules: int
    hash: str
    _table: RuleTable = field(repr=False)

    def _in_short(self) -> str:
        return f"{counted(len(self.rules), 'rule')} of {counted(len(self.graphs), 'graph')}"

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    @property
    def skipped(self) -> tuple[RuleGraph, ...]:
        """The graphs that were left out, each with the reason."""
        return tuple([graph for graph in self.graphs if graph.skipped is not None])

    def occurrences(self, rule: int | None = None) -> Iterator[RuleOccurrence]:
        """Where rules occur, by rule, then by graph.

        Args:
            rule: Position of one rule; None for all.
        """
        chosen = range(len(self.rules)) if rule is None else (range(len(self.rules))[rule],)
        for place in chosen:
            for graph, count, places in self._table.of(place):
                nodes = tuple([tuple([node for node in row if node >= 0]) for row in places])
                yield RuleOccurrence(rule=place, graph=graph, count=count, places=nodes)

    def graphs_of(self, rule: int) -> list[int]:
        """Positions of the graphs in which a rule occurs, ascending."""
        return self._table.graphs_of(rule)

    def extensions(self, pattern: Pattern) -> tuple[Extension, ...]:
        """The rules of one pattern, each seen from it: the paper's ``Psi(M)``.

        A rule of one pattern with itself stands once, or twice where the alignment is not
        its own mirror image. In order of the rules.
        """
        found = []
        for place, rule in enumerate(self.rules):
            ways = []
            if rule.first == pattern:
                ways.append((rule.second, rule.alignment))
            if rule.second == pattern:
                mirrored = tuple(sorted([(other, one) for one, other in rule.alignment]))
                same = rule.first == pattern and _smallest(
                    pattern, pattern, mirrored
                ) == _smallest(pattern, pattern, rule.alignment)
                if not same:
                    ways.append((rule.first, mirrored))
            found += [
                Extension(place, other, alignment, rule.task_support)
                for other, alignment in ways
            ]
        return tuple(found)

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a rule, in order."""
        import pandas

        names = (
            "id",
            "description",
            "first_motif",
            "second_motif",
            "alignment",
            "size",
            "canonical_form",
            "overlap_count",
            "graph_support",
            "task_support",
        )
        return pandas.DataFrame(
            {name: [getattr(rule, name) for rule in self.rules] for name in names}
        )


def canonical_rule(
    first: Pattern, second: Pattern, alignment: Sequence[tuple[int, int]]
) -> tuple[Pattern, Pattern, Alignment]:
    """The one form of a rule, whichever of its nodes and patterns was named first.

    Args:
        first: A pattern in canonical form.
        second: Another, or the same.
        alignment: Positions in the first and in the second, for each shared node.

    Returns:
        The smaller pattern, the larger one, and the smallest of the alignments that the
        automorphisms of the two (and exchanging them, where they are equal) make of it.
    """
    pairs = tuple(alignment)
    if second < first:
        first, second = second, first
        pairs = tuple([(other, one) for one, other in pairs])
    best = _smallest(first, second, pairs)
    if first == second:
        mirrored = tuple([(other, one) for one, other in pairs])
        best = min(best, _smallest(first, second, mirrored))
    return first, second, best


def rule_text(first: Pattern, second: Pattern, alignment: Alignment) -> str:
    """One line of JSON for a rule in canonical form."""
    return canonical_json(
        [[first.labels, first.relations], [second.labels, second.relations], alignment]
    )


def _smallest(first: Pattern, second: Pattern, pairs: Alignment) -> Alignment:
    return min(
        tuple(sorted([(one[a], other[b]) for a, b in pairs]))
        for one in automorphisms(first)
        for other in automorphisms(second)
    )


def mine_rules(
    motifs: MotifLibrary, configuration: RuleConfiguration | None = None
) -> RuleLibrary:
    """Finds how the patterns of a library overlap, in each graph.

    The number of overlapping pairs is counted without looking at each pair, so a node with
    thousands of occurrences is no problem.

    Args:
        motifs: Retained patterns, with all their occurrences kept.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: The library kept a part of the occurrences only.
    """
    options = configuration or RuleConfiguration()
    if not motifs.complete:
        raise UsageError(
            "rules need all occurrences of the patterns: mine these with kept_occurrences=None"
        )
    found = find_overlaps(
        motifs,
        max_occurrences=options.max_occurrences,
        max_pairs=options.max_pairs,
        max_rules=options.max_rules,
        keep=options.kept_places,
    )
    return _library(options, motifs, found)


def _library(options: RuleConfiguration, motifs: MotifLibrary, found: Overlaps) -> RuleLibrary:
    tasks = [graph.task for graph in motifs.graphs]
    support = found.support(tasks)
    kept = [
        place
        for place in range(len(found.rules))
        if support.graphs[place] >= options.min_graph_support
        and support.tasks[place] >= options.min_task_support
    ]
    forms = {}
    for place in kept:
        one, other, alignment = found.rules[place]
        first, second = motifs.motifs[one].pattern, motifs.motifs[other].pattern
        forms[place] = canonical_rule(first, second, alignment)
    kept.sort(
        key=lambda place: (
            -support.tasks[place],
            -support.graphs[place],
            -support.counts[place],
            forms[place],
        )
    )
    configured = digest(options.hash, motifs.configuration_hash, motifs.scope or "", size=8)
    ids = {motif.pattern: motif.id for motif in motifs.motifs}
    rules = tuple(
        [
            CompositionRule(
                id=f"rule-{digest(configured, rule_text(*forms[place]))}",
                first=forms[place][0],
                second=forms[place][1],
                alignment=forms[place][2],
                first_motif=ids[forms[place][0]],
                second_motif=ids[forms[place][1]],
                overlap_count=support.counts[place],
                graph_support=support.graphs[place],
                task_support=support.tasks[place],
            )
            for place in kept
        ]
    )
    graphs = tuple(
        [
            RuleGraph(
                id=graph.id,
                task=graph.task,
                overlaps=None if graph.skipped or place in found.skipped else overlaps,
                skipped=graph.skipped or found.skipped.get(place),
            )
            for place, (graph, overlaps) in enumerate(
                zip(motifs.graphs, found.totals, strict=True)
            )
        ]
    )
    lines = [
        f"{rule.id} {rule.overlap_count} {rule.graph_support} {rule.task_support}"
        for rule in rules
    ]
    return RuleLibrary(
        configuration=options,
        motif_hash=motifs.hash,
        rules=rules,
        graphs=graphs,
        dropped_rules=len(found.rules) - len(kept),
        hash=digest(configured, motifs.hash, *lines, size=8),
        _table=found.table(kept),
    )
