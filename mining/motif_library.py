"""What a motif search is told, and what it gives back."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.model import GraphKind, NodeKind
from graphstore.short_view import TableView, counted
from mining.canonical import Pattern
from mining.motif_columns import OccurrenceTable

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class MotifConfiguration:
    """What the patterns depend on besides the graphs.

    Attributes:
        sizes: Numbers of nodes: 2, 3 or both.
        vertices: ``nodes`` (actions, or subtasks), or ``agents``: then an edge says that one
            agent's output went to another (:mod:`mining.agent_graphs`), indexes count agents,
            and there is no order in time: longer paths are not looked at.
        labels: How nodes are typed: a name in :data:`mining.motifs.LABELS`, or any other name
            for the function that is handed to :func:`mining.motifs.mine_motifs`. None means
            :data:`mining.motifs.DEFAULT_LABELS`.
        indirect: Whether a longer path between two nodes is told from no path.
        node_kinds: Kinds of nodes that patterns are made of, None for all. Precedence runs
            through the others all the same.
        min_graph_support: In how many graphs a pattern must occur to be kept.
        min_task_support: In how many tasks.
        kept_occurrences: How many node sets of a pattern and graph are kept to be shown, None
            for all. Those that begin at the smallest indexes come first. Counts are exact
            whatever is kept.
        max_nodes: A graph with more nodes is left out, and the library says so: precedence
            takes ``nodes ** 2 / 8`` bytes.
        max_sets: A graph that may have more connected node sets is left out, and the library
            says so. What is compared is the bound of
            :attr:`mining.motif_enumeration.MotifInput.bound`, which is at most three times
            the true number. Five hundred million take about ten seconds.
        definitions: Raised whenever the same graphs would give other patterns.
    """

    sizes: tuple[int, ...] = (2, 3)
    vertices: Literal["nodes", "agents"] = "nodes"
    labels: str | None = None
    indirect: bool = True
    node_kinds: tuple[NodeKind, ...] | None = None
    min_graph_support: int = 1
    min_task_support: int = 1
    kept_occurrences: int | None = 20
    max_nodes: int = 20_000
    max_sets: int = 500_000_000
    definitions: str = "1"

    def __post_init__(self) -> None:
        if not self.sizes or not set(self.sizes) <= {2, 3}:
            raise UsageError("the sizes of patterns are 2, 3 or both")
        object.__setattr__(self, "sizes", tuple(sorted(set(self.sizes))))
        if self.vertices not in ("nodes", "agents"):
            raise UsageError("the vertices of patterns are nodes or agents")
        if self.vertices == "agents":
            if self.node_kinds is not None:
                raise UsageError("node_kinds chooses nodes, and the vertices are agents")
            object.__setattr__(self, "indirect", False)
        if self.node_kinds is not None:
            unknown = sorted(set(self.node_kinds) - set(get_args(NodeKind)))
            if unknown:
                raise UsageError(f"unknown kinds of nodes: {', '.join(unknown)}")
            object.__setattr__(self, "node_kinds", tuple(sorted(set(self.node_kinds))))
        for name in ("min_graph_support", "min_task_support", "max_nodes", "max_sets"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        if self.kept_occurrences is not None and self.kept_occurrences < 0:
            raise UsageError("kept_occurrences must not be negative")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class Motif:
    """A pattern and how often it was found.

    Attributes:
        id: Made from the library's configuration and the canonical form.
        pattern: In canonical form; a position of an occurrence is a position in it.
        occurrence_count: Number of node sets that show it, in all graphs.
        graph_support: Number of distinct graphs that hold it.
        task_support: Number of distinct tasks whose graphs hold it.
    """

    id: str
    pattern: Pattern
    occurrence_count: int
    graph_support: int
    task_support: int

    @property
    def size(self) -> int:
        """Number of nodes."""
        return self.pattern.size

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of the nodes, in canonical order."""
        return self.pattern.labels

    @property
    def canonical_form(self) -> str:
        """One line that names the pattern and no other."""
        return self.pattern.text

    @property
    def shape(self) -> str:
        """The classical name of its structure: chain, fork, join, ..."""
        return self.pattern.shape

    @property
    def description(self) -> str:
        """The pattern in words."""
        return self.pattern.description


@dataclass(frozen=True, slots=True)
class MinedGraph:
    """What the search met in one graph.

    Attributes:
        id: Of the graph.
        task: Id of its task.
        nodes: Number of its nodes, or of its agents where these are the vertices.
        edges: Number of its edges, or of ordered pairs of agents with an exchange.
        couplings: Number of its couplings; 0 between agents.
        pairs: Number of connected sets of two nodes; None where they were not counted.
        triples: Number of connected sets of three nodes; None where not counted.
        skipped: Why the graph was left out; None where it was searched in full.
    """

    id: str
    task: str
    nodes: int
    edges: int
    couplings: int
    pairs: int | None
    triples: int | None
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A pattern in one graph.

    Attributes:
        motif: Position in the library's motifs.
        graph: Position in the library's graphs.
        count: Number of node sets that show it: exact.
        nodes: The kept sets: indexes of nodes, in the order of the canonical form.
    """

    motif: int
    graph: int
    count: int
    nodes: tuple[tuple[int, ...], ...]

    @property
    def complete(self) -> bool:
        """Whether all sets were kept."""
        return len(self.nodes) == self.count


@dataclass(frozen=True, eq=False, repr=False)
class MotifLibrary(TableView):
    """The patterns of a corpus.

    Attributes:
        configuration: What it was made with; ``labels`` is None only without graphs.
        scope: ``run`` or ``decomposition``; None without graphs.
        motifs: By task support, then graph support, then occurrences, the largest first;
            ties by size and canonical form.
        graphs: In order of id.
        dropped_motifs: Number of patterns below the support thresholds.
        dropped_occurrences: Number of node sets that showed those.
        hash: Of the configuration, the graphs, the patterns and the counts.
    """

    configuration: MotifConfiguration
    scope: GraphKind | None
    motifs: tuple[Motif, ...]
    graphs: tuple[MinedGraph, ...]
    dropped_motifs: int
    dropped_occurrences: int
    hash: str
    _table: OccurrenceTable = field(repr=False)

    def _in_short(self) -> str:
        graphs = counted(len(self.graphs), self.scope or "graph")
        return f"{counted(len(self.motifs), 'motif')} of {graphs}"

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    @property
    def skipped(self) -> tuple[MinedGraph, ...]:
        """The graphs that were left out, each with the reason."""
        return tuple([graph for graph in self.graphs if graph.skipped is not None])

    def occurrences(
        self, motif: int | None = None, *, at_most: int | None = None
    ) -> Iterator[Occurrence]:
        """Where patterns occur, by motif, then by graph.

        Args:
            motif: Position of one motif; None for all.
            at_most: How many of the kept sets to give of each motif and graph; None for all.
        """
        chosen = range(len(self.motifs)) if motif is None else (range(len(self.motifs))[motif],)
        for place in chosen:
            size = self.motifs[place].size
            for graph, count, sets in self._table.of(place):
                nodes = tuple(map(tuple, sets[:at_most, :size].tolist()))
                yield Occurrence(motif=place, graph=graph, count=count, nodes=nodes)

    def graphs_of(self, motif: int) -> list[int]:
        """Positions of the graphs that hold a motif, ascending."""
        return self._table.graphs_of(motif)

    def columns(self) -> Iterator[tuple[int, Any, Any]]:
        """The kept occurrences by graph, as arrays: for millions of them.

        Yields:
            Position of the graph; int64 positions of the motifs, one an occurrence; the
            node indexes in canonical order, int32 of shape (occurrences, 3), -1 as the
            third of a pair.
        """
        return self._table.by_graph()

    @property
    def complete(self) -> bool:
        """Whether all occurrences were kept."""
        return self._table.complete

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a motif, in order."""
        import pandas

        names = (
            "id",
            "size",
            "shape",
            "description",
            "labels",
            "canonical_form",
            "occurrence_count",
            "graph_support",
            "task_support",
        )
        return pandas.DataFrame(
            {name: [getattr(motif, name) for motif in self.motifs] for name in names}
        )

    def occurrences_to_pandas(self) -> "pandas.DataFrame":
        """One line for each motif and graph: ids, the exact count and the kept node sets."""
        import pandas

        rows = [
            (self.motifs[row.motif].id, self.graphs[row.graph].id, row.count, row.nodes)
            for row in self.occurrences()
        ]
        return pandas.DataFrame(rows, columns=["motif", "graph", "count", "nodes"])
