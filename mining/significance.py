"""Which patterns occur more often, or less often, than chance makes them.

The null model is that of :mod:`mining.null_model`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from graphstore.corrections import benjamini_hochberg, holm
from graphstore.errors import UsageError
from graphstore.identity import digest
from graphstore.model import CollaborationGraph
from graphstore.short_view import TableView, counted
from mining.motif_library import Motif, MotifLibrary
from mining.motifs import LABELS, LabelOf, VertexGraph
from mining.null_model import NamedGraph, NullModelConfiguration, SampledMotifs, sample_graphs
from mining.workers import Progress, Workers

if TYPE_CHECKING:
    import pandas

__all__ = [
    "MotifSignificance",
    "NullModelConfiguration",
    "Significance",
    "motif_significance",
]

_PARTS = 64
"""Into how many parts graphs are dealt, whoever counts them: one message for each."""

LARGE = 1e7
"""Edges times samples from which on processes are worth starting: some ten seconds of work."""


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


@dataclass(frozen=True, repr=False)
class Significance(TableView):
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

    def _in_short(self) -> str:
        samples = counted(self.configuration.samples, "random corpus", "random corpora")
        return f"{counted(len(self.rows), 'motif')} beside {samples}"

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
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Significance:
    """Compares how often each motif occurs with how often it does in random graphs.

    Args:
        graphs: Those that the motifs were mined from, in any order. Each is looked at once,
            and only its vertices and edges are kept.
        motifs: What was mined.
        configuration: Options; the defaults where None.
        label_of: The function that typed the nodes, where the library's labels are no name
            of :data:`mining.motifs.LABELS`. It is called here, not by the workers.
        workers: Where samples are drawn and counted; by default in this process. The result
            does not depend on them.
        progress: Told how many parts of the graphs are done, and of how many.

    Raises:
        UsageError: The labels are not known, the graphs are not those of the library, or the
            Dask cluster cannot be used.
        MissingExtraError: A Dask cluster is named and Dask is not installed.
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
    given: list[NamedGraph] = []
    for graph in graphs:
        if graph.id in skipped:
            continue
        if graph.id not in wanted:
            raise UsageError(f"the motifs were not mined from the graph {graph.id}")
        wanted.remove(graph.id)
        given.append((graph.id, VertexGraph.of(graph, motifs.configuration, labels)))
    if wanted:
        raise UsageError(f"the graph {min(wanted)}, which has motifs, was not given")
    # Dealt out by size, so that no part is much dearer than another.
    given.sort(key=lambda one: (-len(one[1].sources), one[0]))
    edges = sum(len(vertices.sources) for _, vertices in given)
    counted = (workers or Workers()).map(
        sample_graphs,
        SampledMotifs(
            options, motifs.configuration, tuple([motif.pattern for motif in motifs.motifs])
        ),
        [given[first::_PARTS] for first in range(min(len(given), _PARTS))],
        progress,
        large=edges * options.samples >= LARGE,
    )
    # One row for the observed corpus, then one for each sample.
    totals = numpy.zeros((options.samples + 1, len(motifs.motifs)), numpy.int64)
    for part in counted:
        totals[:, part.places] += part.counts
    made, tried = sum(part.made for part in counted), sum(part.tried for part in counted)
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
