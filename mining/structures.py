"""Global structures of many tasks: coarse graphs, refinements, templates, categories.

Source: MAC-Bench, section 3.2.1 (global task structure extraction) and appendix F.1. The
step ``Coarsen`` of Algorithm 1.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from graphstore.errors import UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.model import CollaborationGraph, Node
from graphstore.short_view import TableView, counted
from mining.boundaries import Contents
from mining.coarse_graphs import CoarseGraph, contract
from mining.group_categories import (
    CATEGORIES,
    DEFAULT_WORDS,
    categories_of,
    with_categories,
)
from mining.task_tree import TaskTree
from mining.templates import CouplingTemplate, IntegrationTemplate, TemplateCollector

if TYPE_CHECKING:
    import pandas

LabelOf = Callable[[Node], str | None]


@dataclass(frozen=True)
class StructureConfiguration:
    """What the structures depend on besides the graphs.

    Attributes:
        words: For each category, the words in a group's objective that speak for it where
            its relations do not (:mod:`mining.group_categories`).
        flat_decompositions: Whether a decomposition without groups gives a coarse graph:
            each of its leaves is then a group of one.
        flat_runs: Likewise for a run in which no action contains another.
        min_children: How many groups a node must contain to be a refinement.
        min_task_support: In how many tasks an integration or coupling template must occur.
        definitions: Raised whenever the same graphs would give other structures.
    """

    words: tuple[tuple[str, tuple[str, ...]], ...] = DEFAULT_WORDS
    flat_decompositions: bool = True
    flat_runs: bool = False
    min_children: int = 2
    min_task_support: int = 1
    definitions: str = "1"

    def __post_init__(self) -> None:
        unknown = {category for category, _ in self.words} - set(CATEGORIES)
        if unknown:
            raise UsageError(f"unknown categories of groups: {', '.join(sorted(unknown))}")
        for name in ("min_children", "min_task_support"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)

    @property
    def category_of_word(self) -> dict[str, str]:
        """The category that each word speaks for; the first list that has it wins."""
        found: dict[str, str] = {}
        for category, words in self.words:
            for word in words:
                found.setdefault(word, category)
        return found


@dataclass(frozen=True, slots=True)
class ExcludedStructure:
    """A coarse graph that is no part of the library.

    Attributes:
        id: Of the coarse graph.
        graph: Id of the graph.
        task: Id of the task.
        node: Index of the node that was coarsened; None for the whole task.
        reason: One sentence.
    """

    id: str
    graph: str
    task: str
    node: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """How many groups have a category.

    Attributes:
        category: Its name; None for groups without one.
        groups: Number of groups of several nodes.
        leaves: Number of leaves that stand for themselves.
        tasks: Number of tasks with any of both.
    """

    category: str | None
    groups: int
    leaves: int
    tasks: int


@dataclass(frozen=True)
class GraphGroups:
    """The groups of one graph, to find the smallest one around an occurrence.

    Attributes:
        tree: Its tree.
        categories: Of each node below the root.
    """

    tree: TaskTree
    categories: dict[int, str | None]

    def categorized(self, node: int) -> tuple[int, str] | None:
        """The first group with a category from a node upward; None where there is none."""
        while node != self.tree.root:
            category = self.categories.get(node)
            if category is not None:
                return node, category
            node = self.tree.parents[node]
        return None


@dataclass(frozen=True, eq=False, repr=False)
class StructureLibrary(TableView):
    """The global structures of a corpus: the paper's ``L_G``.

    Attributes:
        configuration: What it was made with.
        coarse_graphs: Of whole tasks, by graph.
        refinements: Of groups, by graph, depth and node.
        integrations: Templates of subtasks that combine contributions, by support.
        couplings: Templates of shared resources, by support.
        categories: Counts, in the order of :data:`mining.group_categories.CATEGORIES`, then
            those without.
        excluded: Coarse graphs with a cycle, and graphs without nodes, with the reason.
        hash: Of the configuration and all of these.
    """

    configuration: StructureConfiguration
    coarse_graphs: tuple[CoarseGraph, ...]
    refinements: tuple[CoarseGraph, ...]
    integrations: tuple[IntegrationTemplate, ...]
    couplings: tuple[CouplingTemplate, ...]
    categories: tuple[CategoryCount, ...]
    excluded: tuple[ExcludedStructure, ...]
    hash: str = field(default="")

    def _in_short(self) -> str:
        coarse = counted(len(self.coarse_graphs), "coarse graph")
        return f"{coarse}, {counted(len(self.refinements), 'refinement')}"

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a coarse graph: those of whole tasks, then the refinements."""
        import pandas

        columns = ("id", "graph", "task", "node", "name", "depth", "category", "signature")
        lines = [
            {
                **{name: getattr(one, name) for name in columns},
                "groups": len(one.groups),
                "dependencies": len(one.dependencies),
                "couplings": len(one.couplings),
                "leaves": sum(group.leaves for group in one.groups),
            }
            for one in (*self.coarse_graphs, *self.refinements)
        ]
        frame = pandas.DataFrame(
            lines, columns=[*columns, "groups", "dependencies", "couplings", "leaves"]
        )
        return frame.astype({"node": "Int64"})


class StructureCollector:
    """Gathers the structures of one graph after the other.

    Args:
        configuration: Options.
        label_of: Types a leaf; None for no type.

    Attributes:
        groups: What is needed to index patterns, by graph id.
    """

    def __init__(self, configuration: StructureConfiguration, label_of: LabelOf) -> None:
        self.groups: dict[str, GraphGroups] = {}
        self._options = configuration
        self._label_of = label_of
        self._words = configuration.category_of_word
        self._found: list[CoarseGraph] = []
        self._excluded: list[ExcludedStructure] = []
        self._templates = TemplateCollector()
        self._counted: dict[str | None, tuple[list[int], set[str]]] = {}

    def add(self, graph: CollaborationGraph) -> None:
        """Takes the next graph."""
        tree = TaskTree.of(graph)
        contents = Contents(graph, tree, [self._label_of(node) for node in graph.nodes])
        self._templates.add(contents)
        options = self._options
        wanted = options.flat_decompositions
        if graph.kind == "run":
            wanted = options.flat_runs
        if not graph.nodes:
            reason = "it has no nodes"
            self._excluded.append(
                ExcludedStructure(
                    f"coarse-{digest(graph.id, 'task')}", graph.id, graph.task.id, None, reason
                )
            )
        if not graph.nodes or (tree.flat and not wanted):
            self.groups[graph.id] = GraphGroups(tree, {})
            return
        coarse = {node: contract(contents, node) for node in tree.inner}
        categories = categories_of(contents, coarse, self._words)
        self.groups[graph.id] = GraphGroups(tree, categories)
        self._count(graph.task.id, tree, categories)
        for node in tree.inner:
            found = with_categories(coarse[node], categories)
            if found.cycle:
                self._excluded.append(_cyclic(found))
            elif node == tree.root or len(found.groups) >= options.min_children:
                self._found.append(found)

    def library(self) -> StructureLibrary:
        """What was gathered, whatever the order of the graphs."""
        support = self._options.min_task_support
        order = sorted(self._found, key=lambda one: (one.graph, one.depth, one.node or 0))
        parts = (
            tuple([one for one in order if one.node is None]),
            tuple([one for one in order if one.node is not None]),
            self._templates.integrations(support),
            self._templates.couplings(support),
            self._categories(),
            tuple(sorted(self._excluded, key=lambda one: (one.graph, one.node or -1))),
        )
        value = canonical_json(msgspec.to_builtins(parts))
        return StructureLibrary(
            self._options, *parts, hash=digest(self._options.hash, value, size=8)
        )

    def _count(self, task: str, tree: TaskTree, categories: dict[int, str | None]) -> None:
        for node, category in categories.items():
            counts, tasks = self._counted.setdefault(category, ([0, 0], set()))
            counts[node not in tree.children] += 1
            tasks.add(task)

    def _categories(self) -> tuple[CategoryCount, ...]:
        found = []
        for category in (*CATEGORIES, None):
            (groups, leaves), tasks = self._counted.get(category, ([0, 0], set()))
            found.append(CategoryCount(category, groups, leaves, len(tasks)))
        return tuple(found)


def mine_structures(
    graphs: Iterable[CollaborationGraph],
    configuration: StructureConfiguration | None = None,
    *,
    label_of: LabelOf | None = None,
) -> StructureLibrary:
    """Extracts coarse graphs, boundaries, templates and categories.

    Args:
        graphs: Decompositions; or runs, where spans that contain others are the groups.
        configuration: Options; the defaults where None.
        label_of: Types a leaf; by default its kind.
    """
    collector = StructureCollector(
        configuration or StructureConfiguration(), label_of or (lambda node: node.kind)
    )
    for graph in graphs:
        collector.add(graph)
    return collector.library()


def _cyclic(found: CoarseGraph) -> ExcludedStructure:
    names = [found.groups[place].name for place in (*found.cycle, found.cycle[0])]
    return ExcludedStructure(
        found.id,
        found.graph,
        found.task,
        found.node,
        f"its groups depend on each other in a circle: {' -> '.join(names)}",
    )
