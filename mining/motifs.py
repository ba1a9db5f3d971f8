"""Recurring patterns of two and three nodes over many runs or decompositions.

Source: MAC-Bench, section 3.2.1, Eq. 3 and appendix F.1 (local collaboration patterns).
For runs, where no subtask types exist, a node's type is its role and its kind.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from graphstore.errors import UsageError
from graphstore.identity import digest
from graphstore.model import Agent, CollaborationGraph, GraphKind, Node
from mining.agent_graphs import DirectedSearch, agent_links
from mining.canonical import Pattern
from mining.motif_columns import OccurrenceCollector
from mining.motif_enumeration import GraphPatterns, MotifInput, MotifSearch
from mining.motif_library import (
    MinedGraph,
    Motif,
    MotifConfiguration,
    MotifLibrary,
    Occurrence,
)

__all__ = [
    "DEFAULT_LABELS",
    "LABELS",
    "LabelOf",
    "MinedGraph",
    "Motif",
    "MotifConfiguration",
    "MotifLibrary",
    "Occurrence",
    "mine_motifs",
]

LabelOf = Callable[[Node], str | None]

LABELS: dict[str, LabelOf] = {
    "role/kind": lambda node: f"{node.role}/{node.kind}",
    "role": lambda node: node.role,
    "kind": lambda node: node.kind,
    "name": lambda node: node.name,
}
"""The ways to type nodes that have a name of their own."""

DEFAULT_LABELS: dict[str, str] = {"run": "role/kind", "decomposition": "kind"}
"""How nodes are typed where nothing else is said; agents are typed by their role."""


def default_labels(configuration: MotifConfiguration, scope: GraphKind) -> str:
    """How vertices are typed where the configuration does not say; agents by their role."""
    return "role" if configuration.vertices == "agents" else DEFAULT_LABELS[scope]


def mine_motifs(
    graphs: Iterable[CollaborationGraph],
    configuration: MotifConfiguration | None = None,
    *,
    label_of: LabelOf | None = None,
) -> MotifLibrary:
    """Finds every connected set of two and three nodes and merges equal patterns.

    Sets are connected through edges or couplings. Counts are exact; a graph over one of the
    budgets is left out as a whole and named in :attr:`MotifLibrary.skipped`. The order of
    the graphs does not matter; each is looked at once and not kept.

    Args:
        graphs: Runs, or decompositions.
        configuration: Options; the defaults where None.
        label_of: Types a node; None leaves the node out of patterns. The configuration must
            give the function a name in ``labels``, since results carry only that.

    Raises:
        UsageError: Runs and decompositions are mixed, a graph comes twice, or the labels
            are not known.
    """
    options = configuration or MotifConfiguration()
    _check_labels(options, label_of)
    collector = OccurrenceCollector()
    scope: GraphKind | None = None
    rows: list[MinedGraph] = []
    seen: set[str] = set()
    tasks: dict[str, int] = {}
    search: MotifSearch | DirectedSearch
    if options.vertices == "agents":
        search = DirectedSearch(options.sizes, options.kept_occurrences)
    else:
        search = MotifSearch(options.sizes, options.indirect, options.kept_occurrences)
    for graph in graphs:
        if scope is None:
            scope = graph.kind
            if options.labels is None:
                options = replace(options, labels=default_labels(options, scope))
        elif graph.kind != scope:
            raise UsageError("runs and decompositions cannot be mined into one library")
        labels = label_of or LABELS[options.labels or "kind"]
        mined, found = _mine_graph(graph, options, labels, search)
        if mined.id in seen:
            raise UsageError(f"the graph {mined.id} was given twice")
        seen.add(mined.id)
        rows.append(mined)
        collector.add(found, tasks.setdefault(mined.task, len(tasks)))
    return _library(options, scope, rows, search.patterns, collector)


def _check_labels(options: MotifConfiguration, label_of: LabelOf | None) -> None:
    known = options.labels is None or options.labels in LABELS
    if label_of is not None and known:
        raise UsageError(
            "a labelling function needs a name of its own in the configuration's labels"
        )
    if label_of is None and not known:
        raise UsageError(
            f"the labels {options.labels!r} are not one of {', '.join(LABELS)}, "
            "and no labelling function was given"
        )


@dataclass(frozen=True, slots=True)
class VertexGraph:
    """What is searched in one graph: its nodes or its agents, with positions.

    Attributes:
        labels: The type of each vertex; None leaves it out of patterns.
        sources: Of each edge, ascending.
        targets: Of each edge; among nodes the larger position.
        couplings: Pairs of positions, the smaller first.
    """

    labels: Sequence[str | None]
    sources: list[int]
    targets: list[int]
    couplings: list[tuple[int, int]]

    @classmethod
    def of(
        cls, graph: CollaborationGraph, options: MotifConfiguration, label_of: LabelOf
    ) -> "VertexGraph":
        """Reads a graph as the configuration says."""
        if options.vertices == "agents":
            # An agent has a role, a kind and a name like a node.
            label_of_agent = cast("Callable[[Agent], str | None]", label_of)
            labels = list(map(label_of_agent, graph.agents))
            links = agent_links(graph)
            return cls(labels, [one for one, _ in links], [other for _, other in links], [])
        index = {node.id: place for place, node in enumerate(graph.nodes)}
        labels = list(map(label_of, graph.nodes))
        if options.node_kinds is not None:
            for place, node in enumerate(graph.nodes):
                if node.kind not in options.node_kinds:
                    labels[place] = None
        return cls(
            labels,
            [index[edge.source] for edge in graph.edges],
            [index[edge.target] for edge in graph.edges],
            [(index[pair.source], index[pair.target]) for pair in graph.couplings],
        )

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs of positions."""
        return list(zip(self.sources, self.targets, strict=True))

    @property
    def motif_input(self) -> MotifInput:
        """What the search among nodes needs."""
        labels: list[str] = []
        out: list[int] = []
        for place, label in enumerate(self.labels):
            labels.append(label or "")
            if label is None:
                out.append(place)
        return MotifInput.of_columns(
            labels,
            self.sources,
            self.targets,
            [one for one, _ in self.couplings],
            [other for _, other in self.couplings],
            out,
        )


def _mine_graph(
    graph: CollaborationGraph,
    options: MotifConfiguration,
    label_of: LabelOf,
    search: MotifSearch | DirectedSearch,
) -> tuple[MinedGraph, GraphPatterns | None]:
    size = len(graph.agents if options.vertices == "agents" else graph.nodes)
    if size > options.max_nodes:
        reason = f"{size} {options.vertices}, more than max_nodes = {options.max_nodes}"
        return _left_out(graph, options, reason), None
    vertices = VertexGraph.of(graph, options, label_of)
    given = vertices.motif_input
    bound = given.bound
    if bound > options.max_sets:
        reason = f"up to {bound} connected sets, more than max_sets = {options.max_sets}"
        return _left_out(graph, options, reason), None
    if isinstance(search, DirectedSearch):
        found = search.find(vertices.labels, vertices.edges)
    else:
        found = search.find(given)
    pairs = int(found.counts[found.pairs].sum())
    triples = int(found.counts.sum()) - pairs
    return MinedGraph(
        id=graph.id,
        task=graph.task.id,
        nodes=size,
        edges=len(vertices.sources),
        couplings=len(vertices.couplings),
        pairs=pairs if 2 in options.sizes else None,
        triples=triples if 3 in options.sizes else None,
    ), found


def _left_out(
    graph: CollaborationGraph, options: MotifConfiguration, reason: str
) -> MinedGraph:
    agents = options.vertices == "agents"
    return MinedGraph(
        id=graph.id,
        task=graph.task.id,
        nodes=len(graph.agents if agents else graph.nodes),
        edges=len(agent_links(graph) if agents else graph.edges),
        couplings=0 if agents else len(graph.couplings),
        pairs=None,
        triples=None,
        skipped=reason,
    )


def _library(
    options: MotifConfiguration,
    scope: GraphKind | None,
    rows: list[MinedGraph],
    patterns: list[Pattern],
    collector: OccurrenceCollector,
) -> MotifLibrary:
    support = collector.support(len(patterns))
    kept = [
        place
        for place in range(len(patterns))
        if support.graphs[place] >= options.min_graph_support
        and support.tasks[place] >= options.min_task_support
    ]
    kept.sort(
        key=lambda place: (
            -support.tasks[place],
            -support.graphs[place],
            -support.counts[place],
            patterns[place].size,
            patterns[place],
        )
    )
    configured = options.hash
    motifs = tuple(
        [
            Motif(
                id=f"motif-{digest(configured, scope or '', patterns[place].text)}",
                pattern=patterns[place],
                occurrence_count=support.counts[place],
                graph_support=support.graphs[place],
                task_support=support.tasks[place],
            )
            for place in kept
        ]
    )
    order = sorted(range(len(rows)), key=lambda place: rows[place].id)
    graphs = tuple([rows[place] for place in order])
    lines = [
        f"{motif.canonical_form} {motif.occurrence_count} "
        f"{motif.graph_support} {motif.task_support}"
        for motif in motifs
    ]
    return MotifLibrary(
        configuration=options,
        scope=scope,
        motifs=motifs,
        graphs=graphs,
        dropped_motifs=len(patterns) - len(kept),
        dropped_occurrences=sum(support.counts) - sum(support.counts[place] for place in kept),
        hash=digest(configured, scope or "", *[graph.id for graph in graphs], *lines, size=8),
        _table=collector.table(kept, order, len(patterns)),
    )
