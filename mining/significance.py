"""Which patterns occur more often, or less often, than chance makes them.

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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from graphstore.compiled import compiled
from graphstore.corrections import benjamini_hochberg, holm
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash, digest
from graphstore.model import CollaborationGraph
from mining.agent_graphs import DirectedSearch
from mining.canonical import order_table
from mining.motif_enumeration import pack
from mining.motif_kernel import enumerate_sets
from mining.motif_library import Motif, MotifConfiguration, MotifLibrary
from mining.motifs import LABELS, LabelOf, VertexGraph
from mining.neighbour_kernel import fill_neighbours
from mining.swap_kernel import swap_edges

if TYPE_CHECKING:
    import pandas


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
class MotifSignificance:
    """A motif beside chance.

    Attributes:
        motif: The motif.
        observed: Number of node sets that show it, in all graphs.
        mean: Mean of that number over the samples.
        deviation: Its standard deviation over the samples; None with one sample.
        z: ``(observed - mean) / deviation``; None where chance always gives one number.
        p_more: Share of all corpora, samples and the observed one, with at least as many.
        p_less: Share with at most as many.
        p: Two-sided: twice the smaller of both, at most 1.
        p_holm: Corrected for the number of motifs: family-wise error rate.
        p_benjamini_hochberg: Corrected likewise: false discovery rate.
    """

    motif: Motif
    observed: int
    mean: float
    deviation: float | None
    z: float | None
    p_more: float
    p_less: float
    p: float
    p_holm: float
    p_benjamini_hochberg: float


@dataclass(frozen=True)
class Significance:
    """All motifs of a library beside chance.

    Attributes:
        configuration: Of the null model.
        motif_hash: Hash of the library of motifs.
        rows: In the order of the library.
        swap_share: Swaps made over swaps tried; None where no graph has two edges. A small
            one says that few other graphs fit the null model.
        hash: Of all of these.
    """

    configuration: NullModelConfiguration
    motif_hash: str
    rows: tuple[MotifSignificance, ...]
    swap_share: float | None
    hash: str

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a motif, in order."""
        import pandas

        measured = (
            "observed",
            "mean",
            "deviation",
            "z",
            "p_more",
            "p_less",
            "p",
            "p_holm",
            "p_benjamini_hochberg",
        )
        described = ("id", "shape", "description", "task_support")
        columns: dict[str, list[Any]] = {
            name: [getattr(row.motif, name) for row in self.rows] for name in described
        }
        columns |= {name: [getattr(row, name) for row in self.rows] for name in measured}
        frame = pandas.DataFrame(columns)
        return frame.astype({"deviation": "Float64", "z": "Float64"})


def motif_significance(
    graphs: Iterable[CollaborationGraph],
    motifs: MotifLibrary,
    configuration: NullModelConfiguration | None = None,
    *,
    label_of: LabelOf | None = None,
) -> Significance:
    """Compares how often each motif occurs with how often it does in random graphs.

    Args:
        graphs: Those that the motifs were mined from, in any order.
        motifs: What was mined.
        configuration: Options; the defaults where None.
        label_of: The function that typed the nodes, where the library's labels are no name
            of :data:`mining.motifs.LABELS`.

    Raises:
        UsageError: The labels are not known, or the graphs are not those of the library.
    """
    import numpy

    options = configuration or NullModelConfiguration()
    labels = label_of or LABELS.get(motifs.configuration.labels or "kind")
    if labels is None:
        raise UsageError(
            f"the labels {motifs.configuration.labels!r} need their labelling function"
        )
    wanted = {graph.id for graph in motifs.graphs if graph.skipped is None}
    skipped = {graph.id for graph in motifs.skipped}
    # One row for the observed corpus, then one for each sample.
    totals = numpy.zeros((options.samples + 1, len(motifs.motifs)), numpy.int64)
    counter = _counter(motifs)
    made = tried = 0
    for graph in graphs:
        if graph.id in skipped:
            continue
        if graph.id not in wanted:
            raise UsageError(f"the motifs were not mined from the graph {graph.id}")
        wanted.remove(graph.id)
        vertices = VertexGraph.of(graph, motifs.configuration, labels)
        sampled = _sample(graph.id, vertices, options, counter, totals)
        made, tried = made + sampled[0], tried + sampled[1]
    if wanted:
        raise UsageError(f"the graph {min(wanted)}, which has motifs, was not given")
    observed = [motif.occurrence_count for motif in motifs.motifs]
    if totals[0].tolist() != observed:
        raise UsageError("the graphs do not show the motifs as often as when they were mined")
    rows = _rows(motifs, totals)
    lines = [f"{row.motif.id} {row.mean!r} {row.p_more!r} {row.p_less!r}" for row in rows]
    return Significance(
        configuration=options,
        motif_hash=motifs.hash,
        rows=rows,
        swap_share=made / tried if tried else None,
        hash=digest(options.hash, motifs.hash, *lines, size=8),
    )


def _rows(motifs: MotifLibrary, totals: Any) -> tuple[MotifSignificance, ...]:
    samples = len(totals) - 1
    measured = []
    for place, motif in enumerate(motifs.motifs):
        observed, *drawn = totals[:, place].tolist()
        mean = sum(drawn) / samples
        deviation = None
        if samples > 1:
            # Integers are summed exactly, so that the order of the samples does not show.
            squares = samples * sum(count * count for count in drawn) - sum(drawn) ** 2
            deviation = sqrt(squares / (samples * (samples - 1)))
        more = (1 + sum(count >= observed for count in drawn)) / (samples + 1)
        less = (1 + sum(count <= observed for count in drawn)) / (samples + 1)
        measured.append(
            (motif, observed, mean, deviation, more, less, min(1.0, 2 * min(more, less)))
        )
    values = [row[-1] for row in measured]
    return tuple(
        [
            MotifSignificance(
                motif=motif,
                observed=observed,
                mean=mean,
                deviation=deviation,
                z=(observed - mean) / deviation if deviation else None,
                p_more=more,
                p_less=less,
                p=p,
                p_holm=family,
                p_benjamini_hochberg=discovery,
            )
            for (motif, observed, mean, deviation, more, less, p), family, discovery in zip(
                measured, holm(values), benjamini_hochberg(values), strict=True
            )
        ]
    )


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


def _counter(motifs: MotifLibrary) -> "_NodeCounter | _AgentCounter":
    return _AgentCounter(motifs) if _of_agents(motifs.configuration) else _NodeCounter(motifs)


def _of_agents(configuration: MotifConfiguration) -> bool:
    return configuration.vertices == "agents"


class _AgentCounter:
    """Counts the motifs of random graphs of agents."""

    def __init__(self, motifs: MotifLibrary) -> None:
        self._search = DirectedSearch(motifs.configuration.sizes, 0)
        self._place_of = {motif.pattern: place for place, motif in enumerate(motifs.motifs)}
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

    def __init__(self, motifs: MotifLibrary) -> None:
        self._motifs = motifs
        self._keys: dict[tuple[str, ...], tuple[Any, Any]] = {}

    def begin(self, vertices: VertexGraph, sources: Any) -> None:
        """Turns to the next graph."""
        import numpy

        configuration = self._motifs.configuration
        size = len(vertices.labels)
        names = tuple(sorted({label or "" for label in vertices.labels}))
        rank = {name: place for place, name in enumerate(names)}
        if names not in self._keys:
            found = sorted(
                [
                    (pack(motif.pattern, rank), place)
                    for place, motif in enumerate(self._motifs.motifs)
                    if rank.keys() >= set(motif.labels)
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
