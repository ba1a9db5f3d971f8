"""Two graphs, or many, compared in one call."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from analytics.similarity.measure import measure_named
from graphstore.model import CollaborationGraph

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from analytics.similarity.alignment import Alignment


def similarity(
    one: CollaborationGraph,
    other: CollaborationGraph,
    measure: str = "forest",
    **options: Any,
) -> float | None:
    """How alike two runs or decompositions are, 0 to 1.

    Args:
        one: A graph.
        other: Another.
        measure: A name of :data:`analytics.similarity.measure.MEASURES`.
        **options: The measure's own options.

    Returns:
        None where the measure is not defined for the pair.

    Raises:
        UsageError: The measure or an option is not known.
        MissingExtraError: The measure needs a package that is not installed.
    """
    chosen = measure_named(measure, **options)
    return chosen.similarity(chosen.prepare(one), chosen.prepare(other))


def similarities(
    graphs: Iterable[CollaborationGraph],
    others: Iterable[CollaborationGraph] | None = None,
    measure: str = "forest",
    **options: Any,
) -> "NDArray[numpy.float64]":
    """How alike all pairs of runs or decompositions are.

    Args:
        graphs: n graphs.
        others: m graphs; the first ones again where None.
        measure: A name of :data:`analytics.similarity.measure.MEASURES`.
        **options: The measure's own options.

    Returns:
        Shape (n, m), in the order of the graphs; NaN where the measure is not defined.

    Raises:
        UsageError: The measure or an option is not known.
        MissingExtraError: The measure needs a package that is not installed.
    """
    chosen = measure_named(measure, **options)
    rows = [chosen.prepare(graph) for graph in graphs]
    columns = None if others is None else [chosen.prepare(graph) for graph in others]
    return chosen.matrix(rows, columns)


def align(one: CollaborationGraph, other: CollaborationGraph, **options: Any) -> "Alignment":
    """Which action of a graph stands for which of another.

    Args:
        one: The graph that is looked at.
        other: The graph that it is compared with.
        **options: Those of :class:`analytics.similarity.alignment.AlignmentMeasure`.

    Raises:
        UsageError: An option is not known.
    """
    from analytics.similarity.alignment import AlignmentMeasure

    chosen = measure_named("alignment", **options)
    assert isinstance(chosen, AlignmentMeasure)
    return chosen.align(one, other)
