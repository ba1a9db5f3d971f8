"""What a notebook calls: reading, storing, measuring and mining, each in one line.

The functions take a store or plain graphs, and return results that know ``to_pandas()``.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import evaluation_jobs, jobs
from graphstore.errors import UsageError
from graphstore.listed import listed
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.rows import QueryResult
from graphstore.store import GraphStore, open_store

if TYPE_CHECKING:
    import pandas

    from analytics.forest import ForestSet
    from analytics.forest_panel import ForestEvaluation
    from analytics.panel import PanelConfiguration
    from app.forest_files import LoadedForests
    from ingest.reader import Rejection
    from ingest.report import IngestReport
    from mining.library import Library, LibraryConfiguration
    from mining.motifs import MotifConfiguration, MotifLibrary

Paths = str | Path | Sequence[str | Path]
Source = str | Path | GraphStore | Iterable[CollaborationGraph]


def need_source(source: object) -> None:
    """Says in a sentence what a function cannot work on.

    Raises:
        UsageError: It is no store, path or URL, and no graphs. Of an iterator nothing is taken.
    """
    if isinstance(source, Sequence) and not isinstance(source, str):
        for one in source:
            if not isinstance(one, CollaborationGraph):
                raise UsageError(
                    f"graphs are expected, not {type(one).__name__}: read() makes them of files"
                )
    elif not isinstance(source, (str, Path, Iterable)) and not hasattr(source, "graphs"):
        raise UsageError(
            "a store (open, or its path or URL) or several graphs are expected, not "
            f"{type(source).__name__}"
        )


class GraphList(tuple[CollaborationGraph, ...]):
    """Graphs that were read, with what could not be read.

    Attributes:
        rejected: Records and files that were not read, with their reasons.
    """

    rejected: "tuple[Rejection, ...]" = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} graphs, {len(self.rejected):,} rejected>"

    def _repr_html_(self) -> str:
        return str(self.to_pandas().head(50).to_html(index=False))

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a graph: what it is, how large it is and how it ended."""
        import pandas

        lines = [
            {
                "id": graph.id,
                "kind": graph.kind,
                "name": graph.name,
                "dataset": graph.task.dataset,
                "task": graph.task.name,
                "method": None if graph.method is None else graph.method.name,
                "format": graph.source.format,
                "agents": len(graph.agents),
                "nodes": len(graph.nodes),
                "edges": len(graph.edges),
                "inferred_edges": graph.inferred_edges,
                "success": graph.outcome.success,
                "score": graph.outcome.score,
            }
            for graph in self
        ]
        frame = pandas.DataFrame(lines)
        if lines:
            frame = frame.astype({"success": "boolean", "score": "Float64"})
        return frame


def read(paths: Paths, *, format: str = "auto") -> GraphList:
    """Reads traces and decompositions without a store.

    Args:
        paths: Files, folders or globs.
        format: A reader's name; by default each file's content tells.

    Returns:
        The graphs, in the order of the files; what could not be read is in ``rejected``.
    """
    from ingest import pipeline

    graphs, rejected = [], []
    for item in pipeline.read(_listed(paths), format=format):
        if isinstance(item, CollaborationGraph):
            graphs.append(item)
        else:
            rejected.append(item)
    found = GraphList(graphs)
    found.rejected = tuple(rejected)
    return found


def ingest(
    paths: Paths, store: str | Path | GraphStore = "masgraph.db", **options: Any
) -> "IngestReport":
    """Reads traces and decompositions into a store.

    Args:
        paths: Files, folders or globs.
        store: A path, a URL or an open store.
        **options: As :func:`ingest.pipeline.ingest` takes them.
    """
    from ingest import pipeline

    if isinstance(store, (str, Path)):
        with open_store(str(store)) as opened:
            return pipeline.ingest(_listed(paths), opened, **options)
    return pipeline.ingest(_listed(paths), store, **options)


def evaluate(
    source: Source,
    configuration: "PanelConfiguration | None" = None,
    *,
    forests: "LoadedForests | ForestSet | str | bool | None" = None,
    embedder: str | None = "tfidf",
) -> "ForestEvaluation":
    """The structural panel of each run. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), or graphs; decompositions among the
            graphs are left out.
        configuration: The panel's options.
        forests: What runs are compared with: forests from a file
            (:func:`app.forest_files.load_forests`), forests that were built from the same
            source (:func:`app.forest_notebook.build_forests`), or from a store the id of a
            set; None takes the only set that the store has, if any; False none.
        embedder: Name of what embeds contents for information uptake; None leaves that out.
    """
    from analytics.forest import ForestSet
    from analytics.forest_panel import evaluate_beside_forests, panel_configuration
    from analytics.forest_scoring import ForestScorer
    from app.forest_files import LoadedForests, with_graphs
    from app.forest_jobs import cosines_named

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return evaluate(store, configuration, forests=forests, embedder=embedder)
    if isinstance(forests, ForestSet):
        source = list(source) if isinstance(source, Iterable) else source
        forests = with_graphs(forests, source)
    if isinstance(forests, LoadedForests):
        graphs = source if isinstance(source, Iterable) else source.graphs(kind="run")
        scorer = ForestScorer(forests.forests, forests.graphs)
    elif isinstance(source, Iterable):
        if forests:
            raise UsageError(
                "graphs without a store are compared with forests from a file, or with those "
                "that mg.build_forests makes of them"
            )
        graphs, scorer = source, None
    else:
        return evaluation_jobs.evaluate(
            source, configuration, forests=forests, embedder=embedder, save=False
        )
    return evaluate_beside_forests(
        (graph for graph in graphs if graph.kind == "run"),
        panel_configuration(configuration, embedder, scorer),
        cosines=cosines_named(embedder),
        scorer=scorer,
    )


def mine(source: Source, configuration: "MotifConfiguration | None" = None) -> "MotifLibrary":
    """The recurring patterns of two and three nodes. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), or graphs of one kind.
        configuration: Sizes, thresholds, labels.
    """
    from mining import motifs

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return jobs.mine(store, configuration)
    if isinstance(source, Iterable):
        return motifs.mine_motifs(source, configuration)
    return jobs.mine(source, configuration)


def mine_library(
    source: Source,
    configuration: "LibraryConfiguration | None" = None,
    *,
    kind: GraphKind = "decomposition",
    jobs: int | None = 1,
    dask: str | None = None,
) -> "Library":
    """Subtask types, patterns, composition rules and task structures. A store is left as it is.

    Args:
        source: A store (open, or its path or URL), or graphs of one kind.
        configuration: Options; by default types are learned for decompositions, and the
            actions of runs are typed by role and kind, with a support of one task.
        kind: What to take from a store: runs or decompositions.
        jobs: Processes for learning types. None means one for each core where the work is
            large; a program that asks for more than one guards its start with
            ``if __name__ == "__main__":``.
        dask: Address of a Dask scheduler, to compute there instead.
    """
    from app import library_jobs
    from mining import library_mining
    from mining.workers import Workers

    need_source(source)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return mine_library(store, configuration, kind=kind, jobs=jobs, dask=dask)
    workers = Workers(jobs, dask)
    if isinstance(source, Iterable):
        graphs = list(source)
        options = configuration or library_jobs.library_configuration(
            graphs[0].kind if graphs else kind
        )
        return library_mining.mine_library(graphs, options, workers=workers).library
    options = configuration or library_jobs.library_configuration(kind)
    return library_jobs.mine_library(
        source, options, kind=kind, save=False, workers=workers
    ).library


def query(source: str | Path | GraphStore, name: str, **parameters: Any) -> QueryResult:
    """Answers a saved query.

    Args:
        source: A store (open, or its path or URL).
        name: The query's name; :func:`graphstore.queries.saved_queries` lists them.
        **parameters: Its parameters; those left out have their defaults.
    """
    from graphstore.queries import bind, saved_query

    saved = saved_query(name)
    bound = bind(saved, parameters)
    if isinstance(source, (str, Path)):
        with open_store(str(source), read_only=True) as store:
            return store.query(saved.cypher, bound)
    return source.query(saved.cypher, bound)


def _listed(paths: Paths) -> list[str]:
    return [str(path) for path in listed(paths)]
