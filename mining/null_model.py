"""Random graphs like the observed ones, and how often they show each motif.

The null model (beyond MAC-Bench, which counts support only): graphs with the same vertices,
the same numbers of edges into and out of each vertex, the same number of edges between each
ordered pair of labels, and the same couplings. Two edges a -> b and c -> d are swapped to
a -> d and c -> b where b and d, or a and c, have one label, and where no edge or loop would
stand twice. Among nodes, edges stay pointing forward in index, so that each graph is acyclic
with the same order of its nodes; among agents they may point anywhere. Swaps preserve degrees
as in Maslov and Sneppen (2002) and Milo et al. (2002).

A swap and its way back are equally likely, so the walk is reversible and its stationary
distribution is uniform on the graphs that swaps can reach. Samples are drawn by the parallel
method of Besag and Clifford (1989): one walk from the observed graph to a hub, then a walk of
the same length from the hub for each sample. The observed graph and the samples are then
exchangeable under the null hypothesis, so the p-values are valid, however long the walks are;
longer ones find more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphstore.compiled import compiled
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash, digest
from mining.agent_graphs import DirectedSearch
from mining.canonical import Pattern, order_table
from mining.motif_enumeration import pack
from mining.motif_kernel import enumerate_sets
from mining.motif_library import MotifConfiguration
from mining.motifs import VertexGraph
from mining.neighbour_kernel import fill_neighbours
from mining.swap_kernel import swap_edges

NamedGraph = tuple[str, VertexGraph]
"""A graph's id, and what is searched in it."""


@dataclass(frozen=True)
class NullModelConfiguration:
    """What significance depends on besides graphs and patterns.

    Attributes:
        samples: Number of random corpora. The smallest p-value is ``2 / (samples + 1)``.
        attempts_per_edge: Swaps tried in each walk, for each edge of the graph.
        seed: Of the random numbers; each graph has its own, made of this and its id.
        definitions: Raised whenever the same seed would give other samples.
    """

    samples: int = 1000
    attempts_per_edge: int = 20
    seed: int = 0
    definitions: str = "1"

    def __post_init__(self) -> None:
        for name in ("samples", "attempts_per_edge"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class SampledMotifs:
    """What all parts of the graphs share.

    Attributes:
        options: Of the null model.
        configuration: Of the motifs.
        patterns: Those to count.
    """

    options: NullModelConfiguration
    configuration: MotifConfiguration
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class PartCounts:
    """What one part of the graphs adds.

    Attributes:
        places: Of the patterns that occur, in the observed graphs or in samples.
        counts: One row for the observed graphs, then one for each sample, and one column for
            each of these patterns.
        made: Swaps made.
        tried: Swaps tried.
    """

    places: Any
    counts: Any
    made: int
    tried: int


def sample_graphs(shared: SampledMotifs, graphs: Sequence[NamedGraph]) -> PartCounts:
    """Counts the patterns in some graphs and in their samples.

    Args:
        shared: What to count, and how samples are drawn.
        graphs: With their ids, which their random numbers are made of.
    """
    import numpy

    totals = numpy.zeros((shared.options.samples + 1, len(shared.patterns)), numpy.int64)
    counter = _counter(shared)
    made = tried = 0
    for name, vertices in graphs:
        sampled = _sample(name, vertices, shared.options, counter, totals)
        made, tried = made + sampled[0], tried + sampled[1]
    places = numpy.flatnonzero(totals.any(axis=0))
    return PartCounts(places, totals[:, places], made, tried)


def _sample(
    name: str,
    vertices: VertexGraph,
    options: NullModelConfiguration,
    counter: "_NodeCounter | _AgentCounter",
    totals: Any,
) -> tuple[int, int]:
    """Adds the counts of one graph and of its samples; tells swaps made and tried."""
    import numpy

    edges = sorted(vertices.edges)
    sources = numpy.array([source for source, _ in edges], numpy.int64)
    observed = numpy.array([target for _, target in edges], numpy.int64)
    rank = {
        label: place
        for place, label in enumerate(sorted({one or "" for one in vertices.labels}))
    }
    labels = numpy.array([rank[label or ""] for label in vertices.labels], numpy.int64)
    counter.begin(vertices, sources)
    counter.count(observed, totals[0])
    if len(edges) < 2:
        counter.count(observed, totals[1:])
        return 0, 0
    starts = numpy.searchsorted(sources, numpy.arange(len(labels) + 1))
    attempts = options.attempts_per_edge * len(edges)
    random = numpy.random.PCG64(int(digest(str(options.seed), name, size=16), 16))
    swap = compiled(swap_edges)
    forward = isinstance(counter, _NodeCounter)

    def walk(targets: Any) -> int:
        draws = random.random_raw(2 * attempts) % numpy.uint64(len(edges))
        pairs = draws.astype(numpy.int64).reshape(-1, 2)
        return int(swap(sources, targets, starts, labels, pairs, forward))

    hub = observed.copy()
    made = walk(hub)
    for sample in range(1, options.samples + 1):
        targets = hub.copy()
        made += walk(targets)
        counter.count(targets, totals[sample])
    return made, attempts * (options.samples + 1)


def _counter(shared: SampledMotifs) -> "_NodeCounter | _AgentCounter":
    return _AgentCounter(shared) if _of_agents(shared.configuration) else _NodeCounter(shared)


def _of_agents(configuration: MotifConfiguration) -> bool:
    return configuration.vertices == "agents"


class _AgentCounter:
    """Counts the motifs of random graphs of agents."""

    def __init__(self, shared: SampledMotifs) -> None:
        self._search = DirectedSearch(shared.configuration.sizes, 0)
        self._place_of = {pattern: place for place, pattern in enumerate(shared.patterns)}
        self._labels: Sequence[str | None] = ()
        self._sources: list[int] = []

    def begin(self, vertices: VertexGraph, sources: Any) -> None:
        """Turns to the next graph."""
        self._labels = vertices.labels
        self._sources = sources.tolist()

    def count(self, targets: Any, totals: Any) -> None:
        """Adds the counts of the graph with these targets to each row of ``totals``."""
        found = self._search.find(
            self._labels, list(zip(self._sources, targets.tolist(), strict=True))
        )
        patterns = self._search.patterns
        for number, count in zip(found.numbers.tolist(), found.counts.tolist(), strict=True):
            place = self._place_of.get(patterns[number])
            if place is not None:
                totals[..., place] += count


class _NodeCounter:
    """Counts the motifs of random graphs of nodes."""

    def __init__(self, shared: SampledMotifs) -> None:
        self._shared = shared
        self._keys: dict[tuple[str, ...], tuple[Any, Any]] = {}

    def begin(self, vertices: VertexGraph, sources: Any) -> None:
        """Turns to the next graph."""
        import numpy

        configuration = self._shared.configuration
        size = len(vertices.labels)
        names = tuple(sorted({label or "" for label in vertices.labels}))
        rank = {name: place for place, name in enumerate(names)}
        if names not in self._keys:
            found = sorted(
                [
                    (pack(pattern, rank), place)
                    for place, pattern in enumerate(self._shared.patterns)
                    if rank.keys() >= set(pattern.labels)
                ]
            )
            self._keys[names] = (
                numpy.array([key for key, _ in found], numpy.int64),
                numpy.array([place for _, place in found], numpy.int64),
            )
        self._known, self._places = self._keys[names]
        self._sources = sources
        self._labels = numpy.array([rank[one or ""] for one in vertices.labels], numpy.int64)
        self._left_out = numpy.array([one is None for one in vertices.labels], numpy.uint8)
        self._coupled = numpy.array(vertices.couplings, numpy.int64).reshape(-1, 2).T.copy()
        self._width = (size + 7) // 8 if configuration.indirect else 0
        ends = 2 * (len(sources) + len(vertices.couplings))
        self._starts = numpy.empty(size + 1, numpy.int64)
        self._near = numpy.empty(ends, numpy.int64)
        self._codes = numpy.empty(ends, numpy.int64)
        self._reach = numpy.empty(max(1, size * self._width), numpy.uint8)
        self._marks = numpy.zeros((2, size), numpy.int64)
        self._sizes = (2 in configuration.sizes, 3 in configuration.sizes)
        self._slots = 256
        self._empty = (numpy.empty(0, numpy.int64), numpy.empty((0, 3), numpy.int32))

    def count(self, targets: Any, totals: Any) -> None:
        """Adds the counts of the graph with these targets to each row of ``totals``."""
        import numpy

        compiled(fill_neighbours)(
            self._sources,
            targets,
            self._coupled[0],
            self._coupled[1],
            self._left_out,
            self._starts,
            self._near,
            self._codes,
            self._width,
            self._reach,
        )
        filled = -1
        while filled < 0:
            keys = numpy.full(self._slots, -1, numpy.int64)
            counts = numpy.zeros(self._slots, numpy.int64)
            filled = int(
                compiled(enumerate_sets)(
                    self._labels,
                    self._starts,
                    self._near,
                    self._codes,
                    self._reach,
                    self._width,
                    *order_table(),
                    *self._sizes,
                    0,
                    keys,
                    counts,
                    *self._empty,
                    self._marks[0],
                    self._marks[1],
                )
            )
            if filled < 0:
                self._slots *= 4
                self._marks[:] = 0
        used = keys >= 0
        keys, counts = keys[used], counts[used]
        if len(self._known):
            spots = numpy.searchsorted(self._known, keys).clip(max=len(self._known) - 1)
            known = self._known[spots] == keys
            totals[..., self._places[spots[known]]] += counts[known]
