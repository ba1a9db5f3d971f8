"""The two libraries of a corpus, as one frozen value that a file can hold.

Source: MAC-Bench, section 3.2.1 and appendix F.1: ``K = (L_L, L_G)``. The local library
holds subtask types with their interfaces, patterns indexed by category, and composition
rules; the global library holds coarse graphs, boundaries and templates
(:class:`mining.structures.StructureLibrary`).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from graphstore.errors import InputError, UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.model import GraphKind
from graphstore.short_view import ShortView, TableView, counted
from mining.canonical import Pattern
from mining.coarse_graphs import CoarseGraph
from mining.motif_library import MotifConfiguration
from mining.motifs import LABELS
from mining.rules import Alignment, RuleConfiguration, rule_text
from mining.structures import (
    CategoryCount,
    ExcludedStructure,
    StructureConfiguration,
    StructureLibrary,
)
from mining.subtask_types import SubtaskTypeConfiguration
from mining.templates import CouplingTemplate, IntegrationTemplate

if TYPE_CHECKING:
    import pandas

FORMAT = "masgraph library"
VERSION = 2
"""Raised whenever a file of the older version could not be read as it stands."""


@dataclass(frozen=True)
class LibraryConfiguration:
    """What a library depends on besides the graphs.

    Attributes:
        motifs: Of the patterns. All occurrences are kept, since rules need them.
        rules: Of the composition rules.
        structures: Of the global structures.
        types: How leaves are typed by clustering (Eq. 6); None where the labels of the motifs
            type them.
        definitions: Raised whenever the same parts would be put together otherwise.
    """

    motifs: MotifConfiguration = field(
        default_factory=lambda: MotifConfiguration(min_task_support=2, kept_occurrences=None)
    )
    rules: RuleConfiguration = field(
        default_factory=lambda: RuleConfiguration(min_task_support=2)
    )
    structures: StructureConfiguration = field(default_factory=StructureConfiguration)
    types: SubtaskTypeConfiguration | None = None
    definitions: str = "2"

    def __post_init__(self) -> None:
        if self.motifs.kept_occurrences is not None:
            raise UsageError("a library needs all occurrences: set kept_occurrences to None")
        if self.motifs.vertices != "nodes":
            raise UsageError("a library is made of nodes: mine patterns of agents on their own")
        if self.motifs.labels in LABELS and self.types is not None:
            raise UsageError("the labels of the motifs and learned types exclude each other")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class LibraryGraph:
    """A graph that was mined.

    Attributes:
        id: Of the graph.
        task: Position of its task in the library's tasks.
        skipped: What was left out of it, and why, one sentence each.
    """

    id: str
    task: int
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeEntry:
    """A type of subtasks (or of actions) with what was seen of it: the paper's ``Theta``.

    Attributes:
        label: Its name; the labels of patterns are these names.
        title: What people call it, where that is not the label.
        medoid: Id of the node that stands for it, where types were learned.
        inputs: Descriptors of what its members need, sorted.
        outputs: Descriptors of what they make, sorted.
        reads: Descriptors of the resources that they read, sorted.
        writes: Descriptors of the resources that they change, sorted.
        members: Number of its leaves.
        tasks: Positions of the tasks that have it.
    """

    label: str
    title: str | None
    medoid: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    members: int
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PatternEntry:
    """A retained pattern.

    Attributes:
        id: Of the motif.
        pattern: In canonical form.
        occurrences: Number of node sets that show it.
        graph_support: Number of graphs that hold it.
        tasks: Positions of the tasks that hold it.
    """

    id: str
    pattern: Pattern
    occurrences: int
    graph_support: int
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CategoryPattern:
    """A pattern under a group category: an entry of the paper's ``M_r`` with ``c_r(M)``.

    Attributes:
        category: The category.
        pattern: Position of the pattern.
        occurrences: Number of its node sets whose smallest categorized group has it.
        tasks: Positions of the tasks with any.
    """

    category: str
    pattern: int
    occurrences: int
    tasks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A composition rule ``(M, M', psi)``.

    Attributes:
        id: Of the rule.
        first: Position of the first pattern.
        second: Position of the second pattern.
        alignment: Position in the first and in the second, for each shared node.
        overlaps: Number of pairs of occurrences that overlap so.
        graph_support: Number of graphs in which any do.
        tasks: Positions of the tasks in which any do.
    """

    id: str
    first: int
    second: int
    alignment: Alignment
    overlaps: int
    graph_support: int
    tasks: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class LocalLibrary(ShortView):
    """Types, patterns, their categories, rules: the paper's ``L_L``.

    Attributes:
        types: By label.
        patterns: By task support, then graph support, then occurrences.
        index: By category (in the order of the paper), then task support and position.
        unindexed: Number of occurrences in no categorized group.
        rules: By task support, then graph support, then overlaps.
    """

    types: tuple[TypeEntry, ...]
    patterns: tuple[PatternEntry, ...]
    index: tuple[CategoryPattern, ...]
    unindexed: int
    rules: tuple[RuleEntry, ...]

    def _in_short(self) -> str:
        return ", ".join(
            [
                counted(len(self.types), "type"),
                counted(len(self.patterns), "pattern"),
                counted(len(self.rules), "rule"),
            ]
        )

    def of_category(self, category: str) -> tuple[CategoryPattern, ...]:
        """The patterns of one category, the best supported first."""
        return tuple([one for one in self.index if one.category == category])

    @cached_property
    def position_of(self) -> dict[Pattern, int]:
        """Where each pattern stands."""
        return {one.pattern: place for place, one in enumerate(self.patterns)}

    @cached_property
    def rule_forms(self) -> dict[str, int]:
        """Where each rule stands, by its canonical form: to look up rules of other graphs."""
        return {self.rule_form(place): place for place in range(len(self.rules))}

    def rule_form(self, place: int) -> str:
        """The canonical form of a rule (:func:`mining.rules.rule_text`)."""
        rule = self.rules[place]
        first, second = self.patterns[rule.first], self.patterns[rule.second]
        return rule_text(first.pattern, second.pattern, rule.alignment)


@dataclass(frozen=True, repr=False)
class GlobalLibrary(ShortView):
    """Coarse graphs, boundaries and templates: the paper's ``L_G``.

    Attributes:
        coarse_graphs: Of whole tasks.
        refinements: Of groups.
        integrations: Templates of subtasks that combine contributions.
        couplings: Templates of shared resources.
        categories: How many groups and leaves have each category.
        excluded: Coarse graphs that were left out, with the reason.
    """

    coarse_graphs: tuple[CoarseGraph, ...]
    refinements: tuple[CoarseGraph, ...]
    integrations: tuple[IntegrationTemplate, ...]
    couplings: tuple[CouplingTemplate, ...]
    categories: tuple[CategoryCount, ...]
    excluded: tuple[ExcludedStructure, ...]

    def _in_short(self) -> str:
        return ", ".join(
            [
                counted(len(self.coarse_graphs), "coarse graph"),
                counted(len(self.refinements), "refinement"),
                counted(len(self.integrations), "integration template"),
                counted(len(self.couplings), "coupling template"),
            ]
        )

    @classmethod
    def of(cls, found: StructureLibrary) -> "GlobalLibrary":
        """The same structures as a plain value."""
        return cls(
            found.coarse_graphs,
            found.refinements,
            found.integrations,
            found.couplings,
            found.categories,
            found.excluded,
        )


@dataclass(frozen=True, repr=False)
class Library(TableView):
    """What was mined from a corpus: ``K = (L_L, L_G)``.

    Attributes:
        configuration: What it was made with.
        scope: ``run`` or ``decomposition``; None without graphs.
        tasks: Ids of the tasks, sorted.
        graphs: In order of id.
        local: The local library.
        structures: The global library.
    """

    configuration: LibraryConfiguration
    scope: GraphKind | None
    tasks: tuple[str, ...]
    graphs: tuple[LibraryGraph, ...]
    local: LocalLibrary
    structures: GlobalLibrary

    def _in_short(self) -> str:
        graphs = counted(len(self.graphs), self.scope or "graph")
        parts = (self.local._in_short(), self.structures._in_short())
        return f"{graphs} of {counted(len(self.tasks), 'task')}; {', '.join(parts)}"

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    @cached_property
    def hash(self) -> str:
        """Hash of the whole value (16 hex digits)."""
        return digest(canonical_json(self), size=8)

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a pattern, with its support in each category."""
        import pandas

        table = pandas.DataFrame(
            [
                {
                    "id": one.id,
                    "size": one.pattern.size,
                    "shape": one.pattern.shape,
                    "description": one.pattern.description,
                    "occurrences": one.occurrences,
                    "graph_support": one.graph_support,
                    "task_support": len(one.tasks),
                }
                for one in self.local.patterns
            ]
        )
        for count in self.structures.categories:
            if count.category is not None and len(table):
                support = {
                    one.pattern: len(one.tasks)
                    for one in self.local.of_category(count.category)
                }
                table[count.category] = [support.get(place, 0) for place in range(len(table))]
        return table


@dataclass(frozen=True)
class _File:
    format: str
    version: int
    hash: str
    library: Library


def dump_library(library: Library) -> bytes:
    """The library as canonical JSON: equal libraries give equal bytes."""
    return canonical_json(_File(FORMAT, VERSION, library.hash, library)).encode()


def load_library(data: bytes, *, file: str | None = None) -> Library:
    """The library that :func:`dump_library` wrote.

    Args:
        data: The bytes.
        file: Their file's name, for messages.

    Raises:
        InputError: They are no library, of another version, or damaged.
    """
    try:
        head = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        name, version = (msgspec.json.decode(head[key]) for key in ("format", "version"))
    except (msgspec.DecodeError, KeyError):
        raise InputError("this is no library", file=file) from None
    if name != FORMAT:
        raise InputError("this is no library", file=file)
    if version != VERSION:
        raise InputError(
            f"the library has version {version!r}, and only version {VERSION} can be read",
            file=file,
        )
    try:
        found = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UsageError, RecursionError) as error:
        raise InputError(f"the library is damaged: {error}", file=file) from None
    if found.hash != found.library.hash:
        raise InputError("the library is damaged: its hash does not fit", file=file)
    return found.library
