"""Algorithm 1: from graphs to the two libraries.

Source: MAC-Bench, appendix F.1, Algorithm 1: ``Cluster`` (where the configuration asks for
learned types), ``Enumerate``, ``Canonicalize``, ``Overlaps``, ``Filter``, ``Coarsen`` and
``Index``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph, Node
from graphstore.short_view import ShortView
from mining.embedders import Embedder
from mining.group_categories import CATEGORIES
from mining.leaves import Leaf, leaves_of
from mining.library import (
    CategoryPattern,
    GlobalLibrary,
    Library,
    LibraryConfiguration,
    LibraryGraph,
    LocalLibrary,
    PatternEntry,
    RuleEntry,
    TypeEntry,
)
from mining.motif_library import MotifLibrary
from mining.motifs import DEFAULT_LABELS, LABELS, LabelOf, default_labels, mine_motifs
from mining.rules import RuleLibrary, mine_rules
from mining.structures import StructureCollector
from mining.subtask_types import mine_subtask_types
from mining.type_selection import Progress, TypeChoice
from mining.workers import Workers


@dataclass(frozen=True, eq=False, repr=False)
class MinedLibrary(ShortView):
    """A library, and where its patterns and rules were found.

    Attributes:
        library: What is kept.
        motifs: The patterns with all their occurrences.
        rules: The rules with their occurrences.
        leaf_types: The label of each typed node, by node id, where types were learned.
        without_nodes: Ids of the graphs that have no nodes, sorted. These are no part of the
            library, and their tasks do not count: a description of an organization alone
            says nothing of how a task was divided.
        type_choices: What each number of types that was tried is worth, ascending; empty
            where types were not learned.
    """

    library: Library
    motifs: MotifLibrary
    rules: RuleLibrary
    leaf_types: Mapping[str, str]
    without_nodes: tuple[str, ...] = ()
    type_choices: tuple[TypeChoice, ...] = ()

    @property
    def types_at_upper_end(self) -> bool:
        """Whether the largest of several numbers of types was chosen."""
        choices = self.type_choices
        return len(choices) > 1 and len(self.library.local.types) == choices[-1].k

    def _in_short(self) -> str:
        return self.library._in_short()


@dataclass(frozen=True, slots=True)
class KnownType:
    """What a clustering says of a type.

    Attributes:
        title: A short description.
        medoid: Id of the node that stands for it.
    """

    title: str | None = None
    medoid: str | None = None


def mine_library(
    graphs: Iterable[CollaborationGraph],
    configuration: LibraryConfiguration | None = None,
    *,
    label_of: LabelOf | None = None,
    types: Mapping[str, KnownType] | None = None,
    embedder: Embedder | None = None,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> MinedLibrary:
    """Mines types, patterns, rules and structures.

    Patterns of decompositions are made of leaves alone; dependencies of groups show in the
    coarse graphs. In runs every action counts. Graphs are looked at once and not kept, unless
    types are learned from them first; those without nodes are left out. The search for
    patterns is done in this process whatever the workers are: it takes less time than
    sending the graphs would.

    Args:
        graphs: Runs, or decompositions. Their order does not matter.
        configuration: Options; the defaults where None.
        label_of: Types a leaf or an action; None leaves it without a type. The
            configuration of the motifs must give the function a name in ``labels``. By
            default the labels that the configuration names, or learned types where it asks
            for these.
        types: What is known of each type, by label, where ``label_of`` is given.
        embedder: For learned types: as in :func:`mining.subtask_types.mine_subtask_types`.
        workers: For learned types: where fits are made; by default in this process. The
            result does not depend on it.
        progress: For learned types: told how many fits are done, and of how many.

    Raises:
        UsageError: Runs and decompositions are mixed, a graph comes twice, the labels are
            not known, types cannot be learned from so many leaves, or the Dask cluster
            cannot be used.
        MissingExtraError: An embedder or Dask is not installed.
    """
    options = configuration or LibraryConfiguration()
    leaf_types: dict[str, str] = {}
    choices: tuple[TypeChoice, ...] = ()
    without_nodes: list[str] = []
    graphs = _with_nodes(graphs, without_nodes)
    if options.types is not None and label_of is None:
        graphs = list(graphs)
        learned = mine_subtask_types(
            graphs, options.types, embedder=embedder, workers=workers, progress=progress
        )
        options = replace(options, motifs=replace(options.motifs, labels=learned.name))
        label_of = learned.type_of
        choices = learned.choices
        types = {one.label: KnownType(one.name, one.medoid.id) for one in learned.types}
        leaf_types = {leaf.node: learned.types[leaf.type].label for leaf in learned.leaves}
    given = iter(graphs)
    first = next(given, None)
    kind = None if first is None else first.kind
    if kind is not None and options.motifs.labels is None:
        options = replace(
            options, motifs=replace(options.motifs, labels=default_labels(options.motifs, kind))
        )
    labels = label_of or _named_labels(options.motifs.labels)
    walk = _Walk(options, labels)
    name, leaf_label = options.motifs, label_of
    if kind == "decomposition":
        # Inner nodes are no part of patterns: these are other labels than those of all nodes.
        name = replace(options.motifs, labels=f"{options.motifs.labels} of leaves")
        leaf_label = walk.label
    motifs = mine_motifs(
        walk.over([] if first is None else chain((first,), given)), name, label_of=leaf_label
    )
    rules = mine_rules(motifs, options.rules)
    tasks = tuple(sorted({graph.task for graph in motifs.graphs}))
    position = {task: place for place, task in enumerate(tasks)}
    task_of = [position[graph.task] for graph in motifs.graphs]
    index, unindexed = _index(motifs, walk.structures, task_of)
    structures = GlobalLibrary.of(walk.structures.library())
    library = Library(
        configuration=options,
        scope=motifs.scope,
        tasks=tasks,
        graphs=_graphs(motifs, rules, task_of),
        local=LocalLibrary(
            types=walk.types(position, types or {}),
            patterns=_patterns(motifs, task_of),
            index=index,
            unindexed=unindexed,
            rules=_rules(motifs, rules, task_of),
        ),
        structures=structures,
    )
    return MinedLibrary(
        library, motifs, rules, leaf_types, tuple(sorted(without_nodes)), choices
    )


def _with_nodes(
    graphs: Iterable[CollaborationGraph], without: list[str]
) -> Iterator[CollaborationGraph]:
    """Passes on the graphs that have nodes, and notes the others."""
    for graph in graphs:
        if graph.nodes:
            yield graph
        else:
            without.append(graph.id)


class _Members:
    """What was seen of a type."""

    def __init__(self) -> None:
        self.count = 0
        self.tasks: set[str] = set()
        self.interface: tuple[set[str], ...] = (set(), set(), set(), set())

    def add(self, leaf: Leaf) -> None:
        self.count += 1
        self.tasks.add(leaf.task)
        parts = (leaf.inputs, leaf.outputs, leaf.reads, leaf.writes)
        for found, part in zip(self.interface, parts, strict=True):
            found.update(part)


class _Walk:
    """Looks at each graph on its way into the search for patterns."""

    def __init__(self, options: LibraryConfiguration, label_of: LabelOf) -> None:
        self.structures = StructureCollector(options.structures, self.label)
        self._label_of = label_of
        self._leaves: set[str] = set()
        self._members: dict[str, _Members] = {}

    def label(self, node: Node) -> str | None:
        """The type of a node of the graph that is being looked at; None for inner nodes."""
        return self._label_of(node) if node.id in self._leaves else None

    def over(self, graphs: Iterable[CollaborationGraph]) -> Iterator[CollaborationGraph]:
        """Passes the graphs on."""
        for graph in graphs:
            leaves = {leaf.id: leaf for leaf in leaves_of(graph)}
            self._leaves = set(leaves)
            for node in graph.nodes:
                label = self.label(node)
                if label is not None:
                    self._members.setdefault(label, _Members()).add(leaves[node.id])
            self.structures.add(graph)
            yield graph

    def types(
        self, position: Mapping[str, int], known: Mapping[str, KnownType]
    ) -> tuple[TypeEntry, ...]:
        """What was seen of each type, by label."""
        return tuple(
            [
                _type(label, found, position, known.get(label, KnownType()))
                for label, found in sorted(self._members.items())
            ]
        )


def _type(
    label: str, found: _Members, position: Mapping[str, int], known: KnownType
) -> TypeEntry:
    inputs, outputs, reads, writes = [tuple(sorted(part)) for part in found.interface]
    return TypeEntry(
        label=label,
        title=known.title,
        medoid=known.medoid,
        inputs=inputs,
        outputs=outputs,
        reads=reads,
        writes=writes,
        members=found.count,
        tasks=tuple(sorted([position[task] for task in found.tasks])),
    )


def _named_labels(name: str | None) -> LabelOf:
    labels = LABELS.get(name or DEFAULT_LABELS["decomposition"])
    if labels is None:
        raise UsageError(
            f"the labels {name!r} are not one of {', '.join(LABELS)}, "
            "and no labelling function was given"
        )
    return labels


def _graphs(
    motifs: MotifLibrary, rules: RuleLibrary, task_of: list[int]
) -> tuple[LibraryGraph, ...]:
    found = []
    for graph, joined, task in zip(motifs.graphs, rules.graphs, task_of, strict=True):
        reasons = []
        if graph.skipped is not None:
            reasons.append(f"no patterns: {graph.skipped}")
        elif joined.skipped is not None:
            reasons.append(f"no rules: {joined.skipped}")
        found.append(LibraryGraph(graph.id, task, tuple(reasons)))
    return tuple(found)


def _patterns(motifs: MotifLibrary, task_of: list[int]) -> tuple[PatternEntry, ...]:
    return tuple(
        [
            PatternEntry(
                motif.id,
                motif.pattern,
                motif.occurrence_count,
                motif.graph_support,
                tuple(sorted({task_of[graph] for graph in motifs.graphs_of(place)})),
            )
            for place, motif in enumerate(motifs.motifs)
        ]
    )


def _rules(
    motifs: MotifLibrary, rules: RuleLibrary, task_of: list[int]
) -> tuple[RuleEntry, ...]:
    position = {motif.pattern: place for place, motif in enumerate(motifs.motifs)}
    return tuple(
        [
            RuleEntry(
                rule.id,
                position[rule.first],
                position[rule.second],
                rule.alignment,
                rule.overlap_count,
                rule.graph_support,
                tuple(sorted({task_of[graph] for graph in rules.graphs_of(place)})),
            )
            for place, rule in enumerate(rules.rules)
        ]
    )


def _index(
    motifs: MotifLibrary, structures: StructureCollector, task_of: list[int]
) -> tuple[tuple[CategoryPattern, ...], int]:
    """Patterns by the category of the smallest categorized group around each occurrence."""
    import numpy

    counts: dict[tuple[int, int], int] = {}
    tasks: dict[tuple[int, int], set[int]] = {}
    unindexed = 0
    for graph, chosen, sets in motifs.columns():
        groups = structures.groups[motifs.graphs[graph].id]
        common, place = numpy.unique(groups.tree.common_ancestors(sets), return_inverse=True)
        found = [groups.categorized(node) for node in common.tolist()]
        number = numpy.array(
            [-1 if one is None else CATEGORIES.index(one[1]) for one in found], numpy.int64
        )[place]
        unindexed += int((number < 0).sum())
        inside = number >= 0
        keys, many = numpy.unique(
            number[inside] * len(motifs.motifs) + chosen[inside], return_counts=True
        )
        for key, count in zip(keys.tolist(), many.tolist(), strict=True):
            pair = divmod(key, len(motifs.motifs))
            counts[pair] = counts.get(pair, 0) + count
            tasks.setdefault(pair, set()).add(task_of[graph])
    entries = [
        CategoryPattern(CATEGORIES[pair[0]], pair[1], counts[pair], tuple(sorted(tasks[pair])))
        for pair in sorted(counts)
    ]
    entries.sort(key=lambda one: (CATEGORIES.index(one.category), -len(one.tasks), one.pattern))
    return tuple(entries), unindexed
