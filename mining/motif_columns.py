"""Where patterns occur, by column: millions of occurrences stay small and sort at once."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mining.motif_enumeration import GraphPatterns


@dataclass(frozen=True, slots=True)
class Support:
    """How often each pattern was found, by its number.

    Attributes:
        counts: Node sets that show it.
        graphs: Distinct graphs that hold it.
        tasks: Distinct tasks whose graphs hold it.
    """

    counts: list[int]
    graphs: list[int]
    tasks: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class OccurrenceTable:
    """One row for each motif and graph, ordered by both.

    Attributes:
        starts: Where each motif's rows begin; one entry more than motifs.
        graphs: Position of the graph, one a row.
        counts: Exact number of node sets, one a row.
        kept: Number of kept sets, one a row.
        begins: Where each row's sets begin in ``sets``.
        sets: int32 of shape (all kept sets, 3), in the order in which they were gathered:
            moving millions of them would take longer than finding them.
    """

    starts: Any
    graphs: Any
    counts: Any
    kept: Any
    begins: Any
    sets: Any

    def of(self, motif: int) -> Iterator[tuple[int, int, Any]]:
        """The rows of one motif: graph, count, and kept sets of shape (kept, 3)."""
        first, last = int(self.starts[motif]), int(self.starts[motif + 1])
        for row in range(first, last):
            begin = int(self.begins[row])
            sets = self.sets[begin : begin + int(self.kept[row])]
            yield int(self.graphs[row]), int(self.counts[row]), sets

    def graphs_of(self, motif: int) -> list[int]:
        """The graphs of one motif's rows."""
        found: list[int] = self.graphs[self.starts[motif] : self.starts[motif + 1]].tolist()
        return found

    def by_graph(self) -> Iterator[tuple[int, Any, Any]]:
        """The kept sets of each graph that has any: graph, motif of each set, the sets.

        Sets stand by motif, then as in :meth:`of`; graphs ascend.
        """
        import numpy

        motif_of = numpy.searchsorted(self.starts, numpy.arange(len(self.graphs)), "right") - 1
        order = numpy.argsort(self.graphs, kind="stable")
        found, firsts = numpy.unique(self.graphs[order], return_index=True)
        bounds = [*firsts.tolist(), len(order)]
        for graph, (first, last) in zip(found.tolist(), pairwise(bounds), strict=True):
            rows = order[first:last]
            sizes = self.kept[rows]
            if not sizes.sum():
                continue
            shift = numpy.repeat(self.begins[rows] - (numpy.cumsum(sizes) - sizes), sizes)
            sets = self.sets[shift + numpy.arange(len(shift))]
            yield graph, numpy.repeat(motif_of[rows], sizes), sets

    @property
    def complete(self) -> bool:
        """Whether every set that was counted was kept."""
        return bool((self.kept == self.counts).all())


class OccurrenceCollector:
    """Gathers the patterns of one graph after the other."""

    def __init__(self) -> None:
        self._tasks = array("q")
        self._numbers = array("q")
        self._graphs = array("q")
        self._counts = array("q")
        self._kept = array("q")
        self._sets = array("i")

    def add(self, found: GraphPatterns | None, task: int) -> None:
        """Takes the next graph.

        Args:
            found: What it shows; None for a graph that was left out.
            task: A number that all graphs of its task share.
        """
        if found is not None:
            self._numbers.frombytes(found.numbers.tobytes())
            self._counts.frombytes(found.counts.tobytes())
            self._kept.frombytes(found.kept.tobytes())
            self._sets.frombytes(found.sets.tobytes())
            self._graphs.extend([len(self._tasks)] * len(found.numbers))
        self._tasks.append(task)

    def support(self, patterns: int) -> Support:
        """Counts graphs and tasks.

        Args:
            patterns: Number of patterns.
        """
        import numpy

        numbers, graphs, counts = map(_numbers, (self._numbers, self._graphs, self._counts))
        totals = numpy.zeros(patterns, numpy.int64)
        numpy.add.at(totals, numbers, counts)
        tasks = max(self._tasks, default=0) + 1
        shown = numpy.unique(numbers * tasks + _numbers(self._tasks)[graphs])
        return Support(
            counts=totals.tolist(),
            graphs=numpy.bincount(numbers, minlength=patterns).tolist(),
            tasks=numpy.bincount(shown // tasks, minlength=patterns).tolist(),
        )

    def table(
        self, kept: Sequence[int], graph_order: Sequence[int], patterns: int
    ) -> OccurrenceTable:
        """Sorts what was gathered.

        Args:
            kept: The numbers of the patterns that become motifs, in their order.
            graph_order: The graphs, by the order in which they were added, in their order.
            patterns: Number of patterns.
        """
        import numpy

        motif_of = numpy.full(patterns, -1, numpy.int64)
        motif_of[list(kept)] = numpy.arange(len(kept))
        graph_of = numpy.empty(len(graph_order), numpy.int64)
        graph_of[list(graph_order)] = numpy.arange(len(graph_order))
        motifs = motif_of[_numbers(self._numbers)]
        graphs = graph_of[_numbers(self._graphs)]
        order = numpy.lexsort((graphs, motifs))
        order = order[motifs[order] >= 0]
        sizes = _numbers(self._kept)
        return OccurrenceTable(
            starts=numpy.searchsorted(motifs[order], numpy.arange(len(kept) + 1)),
            graphs=graphs[order],
            counts=_numbers(self._counts)[order],
            kept=sizes[order],
            begins=(numpy.cumsum(sizes) - sizes)[order],
            sets=numpy.array(self._sets, numpy.int32).reshape(-1, 3),
        )


def _numbers(values: "array[int]") -> Any:
    import numpy

    return numpy.array(values, numpy.int64)
