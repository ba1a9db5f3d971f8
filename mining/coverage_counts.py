"""One mining subset: a library is made of it, and what it covers of the held-out tasks.

Source: MAC-Bench, appendix E.1 and G.3.3. Types, patterns and rules are extracted anew from
each subset; held-out leaves get the nearest of its types.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import CollaborationGraph, GraphKind, Node
from mining.canonical import COUPLED, MUTUAL, Pattern, canonical
from mining.coverage_splits import SourceLevel
from mining.leaves import leaves_of
from mining.motif_library import MotifConfiguration, MotifLibrary
from mining.motifs import LABELS, LabelOf, mine_motifs
from mining.rules import Alignment, RuleConfiguration, RuleLibrary, mine_rules
from mining.subtask_types import SubtaskTypeConfiguration, mine_subtask_types

LEARNED = "types"
"""The labels that are learned from each mining subset."""


@dataclass(frozen=True)
class CoverageConfiguration:
    """What coverage depends on besides the graphs.

    Attributes:
        labels: How nodes are typed: ``types`` are learned from each mining subset; any name in
            :data:`mining.motifs.LABELS` needs no learning. None means ``types`` for
            decompositions and ``role/kind`` for runs.
        types: Of the learning.
        motifs: Of the patterns; the thresholds are those of the libraries. Labels and kept
            occurrences are not looked at.
        rules: Of the rules, likewise.
        level: What a source is (:func:`mining.coverage_splits.coverage_tasks`).
        same_text: Whether tasks with identical specifications stay together.
        held_out: Share of the tasks to hold out.
        held_out_sources: Hold out these sources instead.
        sizes: Numbers of mined tasks. None means 10, 25, 50, 75 and 100% of those that can be
            mined, which are the paper's sizes.
        sequences: Nested sequences of mining subsets.
        min_nodes: Tasks whose graphs all have fewer leaves (actions in runs) are left out:
            they hold no pattern.
        seed: For the split, the sequences and the resamples; types have their own.
        resamples: Of the held-out source groups.
        confidence: Of the intervals.
        definitions: Raised whenever the same graphs would give other results.
    """

    labels: str | None = None
    types: SubtaskTypeConfiguration = field(default_factory=SubtaskTypeConfiguration)
    motifs: MotifConfiguration = field(
        default_factory=lambda: MotifConfiguration(min_task_support=2, kept_occurrences=None)
    )
    rules: RuleConfiguration = field(
        default_factory=lambda: RuleConfiguration(min_task_support=2)
    )
    level: SourceLevel = "group"
    same_text: bool = True
    held_out: float = 1 / 3
    held_out_sources: tuple[str, ...] = ()
    sizes: tuple[int, ...] | None = None
    sequences: int = 10
    min_nodes: int = 2
    seed: int = 0
    resamples: int = 2000
    confidence: float = 0.95
    definitions: str = "1"

    def __post_init__(self) -> None:
        if self.labels not in (None, LEARNED, *LABELS):
            raise UsageError(
                f"the labels {self.labels!r} are not one of {', '.join((LEARNED, *LABELS))}"
            )
        if self.motifs.vertices != "nodes":
            raise UsageError("coverage is measured over nodes, not over agents")
        if self.sizes is not None:
            if not self.sizes or min(self.sizes) < 1:
                raise UsageError("the numbers of tasks to mine must be 1 or more")
            object.__setattr__(self, "sizes", tuple(sorted(set(self.sizes))))
        for name in ("sequences", "min_nodes", "resamples"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        for name in ("held_out", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise UsageError(f"{name} must lie between 0 and 1")
        if self.seed < 0:
            raise UsageError("seed must not be negative")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """What a library covers of one held-out task, in occurrences.

    The parts of ``patterns`` and of ``rules`` add up to them.

    Attributes:
        task: Id.
        patterns: Connected sets of nodes.
        patterns_covered: Whose pattern the library holds.
        patterns_rare: Whose pattern was seen in fewer mined tasks than the threshold asks for.
        patterns_new_types: Whose structure was seen, with other types only.
        patterns_new_structure: Whose structure was never seen.
        coupled: Of ``patterns``, those with a coupling.
        coupled_covered: Of those, the covered ones.
        rules: Pairs of overlapping occurrences.
        rules_covered: Whose rule the library holds.
        rules_rare: Whose rule was seen below the threshold.
        rules_unjoined: Whose patterns the library holds both, and which never overlapped so.
        rules_new_patterns: With a pattern that the library does not hold.
        skipped: Why the task was not counted (all numbers are 0 then); None where it was.
        rules_skipped: Likewise for the rules.
    """

    task: str
    patterns: int = 0
    patterns_covered: int = 0
    patterns_rare: int = 0
    patterns_new_types: int = 0
    patterns_new_structure: int = 0
    coupled: int = 0
    coupled_covered: int = 0
    rules: int = 0
    rules_covered: int = 0
    rules_rare: int = 0
    rules_unjoined: int = 0
    rules_new_patterns: int = 0
    skipped: str | None = None
    rules_skipped: str | None = None


PATTERN_PARTS = (
    "patterns_covered",
    "patterns_rare",
    "patterns_new_types",
    "patterns_new_structure",
)
RULE_PARTS = ("rules_covered", "rules_rare", "rules_unjoined", "rules_new_patterns")
_NUMBERS = tuple([one.name for one in fields(TaskCounts) if one.type in (int, "int")])


@dataclass(frozen=True, slots=True)
class SubsetCounts:
    """One library and what it covers.

    Attributes:
        types: Number of types that were learned; None where none were.
        patterns: Number of retained patterns.
        rules: Number of retained rules.
        skipped: Ids of mined graphs that gave no patterns or no rules, for their size.
        tasks: By id of the held-out task.
    """

    types: int | None
    patterns: int
    rules: int
    skipped: tuple[str, ...]
    tasks: tuple[TaskCounts, ...]


@dataclass(frozen=True)
class CoverageCorpus:
    """What all subsets share.

    Attributes:
        configuration: With its labels settled.
        scope: Of the graphs.
        mining: Graphs of each task that can be mined.
        held_out: Graphs of each held-out task.
    """

    configuration: CoverageConfiguration
    scope: GraphKind
    mining: dict[str, tuple[CollaborationGraph, ...]]
    held_out: dict[str, tuple[CollaborationGraph, ...]]


def count_subset(corpus: CoverageCorpus, subset: Sequence[str]) -> SubsetCounts:
    """Mines some tasks and counts what that covers of all held-out tasks.

    Args:
        corpus: Both sides.
        subset: Ids of the tasks to mine.
    """
    options = corpus.configuration
    mined = [graph for task in subset for graph in corpus.mining[task]]
    held = [graph for task in sorted(corpus.held_out) for graph in corpus.held_out[task]]
    types, label_of = _typed(corpus, mined, held)
    everything = replace(
        options.motifs,
        labels="coverage",
        min_graph_support=1,
        min_task_support=1,
        kept_occurrences=None,
    )
    all_rules = replace(options.rules, min_graph_support=1, min_task_support=1, kept_places=0)
    motifs = mine_motifs(mined, everything, label_of=label_of)
    rules = mine_rules(motifs, all_rules)
    known = _Known.of(motifs, rules, options)
    shown = mine_motifs(held, everything, label_of=label_of)
    joined = mine_rules(shown, all_rules)
    return SubsetCounts(
        types=types,
        patterns=len(known.retained),
        rules=len(known.retained_rules),
        skipped=tuple([graph.id for graph in rules.graphs if graph.skipped is not None]),
        tasks=_by_task(shown, joined, known),
    )


def _typed(
    corpus: CoverageCorpus,
    mined: Sequence[CollaborationGraph],
    held: Sequence[CollaborationGraph],
) -> tuple[int | None, LabelOf]:
    """The number of learned types, and what types a node of either side."""
    options = corpus.configuration
    if options.labels == LEARNED:
        types = mine_subtask_types(mined, options.types)
        labels = types.assign([*mined, *held])
        return len(types.types), lambda node: labels.get(node.id)
    named = LABELS[options.labels or "kind"]
    if corpus.scope == "run":
        return None, named
    leaves = {leaf.id for graph in (*mined, *held) for leaf in leaves_of(graph)}

    def of_leaf(node: Node) -> str | None:
        return named(node) if node.id in leaves else None

    return None, of_leaf


_Rule = tuple[Pattern, Pattern, Alignment]


@dataclass(frozen=True)
class _Known:
    """What a mining subset has shown.

    Attributes:
        retained: Patterns with support.
        seen: All patterns.
        structures: All patterns without their types.
        retained_rules: Rules with support between retained patterns.
        seen_rules: All rules.
    """

    retained: frozenset[Pattern]
    seen: frozenset[Pattern]
    structures: frozenset[Pattern]
    retained_rules: frozenset[_Rule]
    seen_rules: frozenset[_Rule]

    @classmethod
    def of(
        cls, motifs: MotifLibrary, rules: RuleLibrary, options: CoverageConfiguration
    ) -> "_Known":
        retained = frozenset(
            [
                motif.pattern
                for motif in motifs.motifs
                if motif.task_support >= options.motifs.min_task_support
                and motif.graph_support >= options.motifs.min_graph_support
            ]
        )
        return cls(
            retained,
            frozenset([motif.pattern for motif in motifs.motifs]),
            frozenset([untyped(motif.pattern) for motif in motifs.motifs]),
            frozenset(
                [
                    (rule.first, rule.second, rule.alignment)
                    for rule in rules.rules
                    if rule.task_support >= options.rules.min_task_support
                    and rule.graph_support >= options.rules.min_graph_support
                    and rule.first in retained
                    and rule.second in retained
                ]
            ),
            frozenset([(rule.first, rule.second, rule.alignment) for rule in rules.rules]),
        )

    def part_of_pattern(self, pattern: Pattern) -> str:
        if pattern in self.retained:
            return "patterns_covered"
        if pattern in self.seen:
            return "patterns_rare"
        if untyped(pattern) in self.structures:
            return "patterns_new_types"
        return "patterns_new_structure"

    def part_of_rule(self, rule: _Rule) -> str:
        if rule in self.retained_rules:
            return "rules_covered"
        if rule in self.seen_rules:
            return "rules_rare"
        if rule[0] in self.retained and rule[1] in self.retained:
            return "rules_unjoined"
        return "rules_new_patterns"


def untyped(pattern: Pattern) -> Pattern:
    """The structure of a pattern: precedence and couplings, without types."""
    return canonical(Pattern(("",) * pattern.size, pattern.relations))[0]


def _is_coupled(pattern: Pattern) -> bool:
    return any(COUPLED <= relation < MUTUAL for relation in pattern.relations)


def _by_task(motifs: MotifLibrary, rules: RuleLibrary, known: _Known) -> tuple[TaskCounts, ...]:
    import numpy

    counts = {graph.task: dict.fromkeys(_NUMBERS, 0) for graph in motifs.graphs}
    parts = [known.part_of_pattern(motif.pattern) for motif in motifs.motifs]
    coupled = [_is_coupled(motif.pattern) for motif in motifs.motifs]
    for graph, chosen, _ in motifs.columns():
        row = counts[motifs.graphs[graph].task]
        found, numbers = numpy.unique(chosen, return_counts=True)
        for place, number in zip(found.tolist(), numbers.tolist(), strict=True):
            row["patterns"] += number
            row[parts[place]] += number
            if coupled[place]:
                row["coupled"] += number
                row["coupled_covered"] += number * (parts[place] == "patterns_covered")
    for place, rule in enumerate(rules.rules):
        part = known.part_of_rule((rule.first, rule.second, rule.alignment))
        for occurrence in rules.occurrences(place):
            row = counts[rules.graphs[occurrence.graph].task]
            row["rules"] += occurrence.count
            row[part] += occurrence.count
    skipped: dict[str, str] = {}
    rules_skipped: dict[str, str] = {}
    for graph_row in reversed(motifs.graphs):
        if graph_row.skipped is not None:
            skipped[graph_row.task] = f"{graph_row.id}: {graph_row.skipped}"
    for rule_row in reversed(rules.graphs):
        if rule_row.skipped is not None:
            rules_skipped[rule_row.task] = f"{rule_row.id}: {rule_row.skipped}"
    found_tasks = []
    for task in sorted(counts):
        row = counts[task]
        if task in skipped:
            # A part of a task would pass for the whole of it.
            row = dict.fromkeys(_NUMBERS, 0)
        elif task in rules_skipped:
            row |= dict.fromkeys(("rules", *RULE_PARTS), 0)
        found_tasks.append(
            TaskCounts(
                task=task,
                skipped=skipped.get(task),
                rules_skipped=rules_skipped.get(task),
                **row,
            )
        )
    return tuple(found_tasks)
