"""The patterns of a library beside chance."""

from collections.abc import Iterable, Iterator

from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph, Node
from mining.leaves import leaves_of
from mining.library_mining import MinedLibrary
from mining.motifs import LABELS
from mining.null_model import NullModelConfiguration
from mining.significance import Significance, motif_significance
from mining.workers import Progress, Workers


def library_significance(
    graphs: Iterable[CollaborationGraph],
    mined: MinedLibrary,
    configuration: NullModelConfiguration | None = None,
    *,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Significance:
    """Compares how often each pattern occurs with how often it does in random graphs.

    Nodes have the types that the library was mined with; in decompositions, leaves alone.

    Args:
        graphs: Those that were mined, in any order. Those without nodes are passed over.
        mined: The library, mined with learned types or with named labels.
        configuration: Of the null model; the defaults where None.
        workers: As in :func:`mining.significance.motif_significance`.
        progress: Likewise.

    Returns:
        Its rows are in the order of the library's patterns.

    Raises:
        UsageError: As :func:`mining.significance.motif_significance` does; so too where the
            library was mined with a labelling function of one's own.
        MissingExtraError: A Dask cluster is named and Dask is not installed.
    """
    options = mined.library.configuration
    named = LABELS.get(options.motifs.labels or "")
    if options.types is None and named is None:
        raise UsageError(
            "the library was mined with a labelling function: hand it to motif_significance"
        )
    leaves: set[str] = set()

    def label_of(node: Node) -> str | None:
        if named is None:
            return mined.leaf_types.get(node.id)
        return named(node) if node.id in leaves else None

    def walked() -> Iterator[CollaborationGraph]:
        for graph in graphs:
            if graph.nodes:
                leaves.clear()
                leaves.update(leaf.id for leaf in leaves_of(graph))
                yield graph

    return motif_significance(
        walked(),
        mined.motifs,
        configuration,
        label_of=label_of,
        workers=workers,
        progress=progress,
    )
