"""masgraph's own exports, read back: node-link JSON, GraphML, GEXF, and a folder of Parquet.

What ``masgraph export`` writes for other tools holds whole graphs: read back, they have the
ids, sources and contents that they had. A Parquet export is a folder with a file for each
table, named like the table; the files of a folder are read together.
"""

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

import msgspec

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.schema import LABELS_BY_NAME, RELATIONS_BY_KEY
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.export_graphs import checked_graphs, guarded
from ingest.readers.export_links import node_links
from ingest.readers.sample_json import first_value
from ingest.readers.table_rows import PARQUET

if TYPE_CHECKING:
    import networkx
    import pandas

_HEADS = ("Run", "Decomposition")
_ID = re.compile(rb"(?:run|decomposition|task|method|dataset|organization)-[0-9a-f]{20}")
_ID_BYTES = 400
_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_NOTES = (
    "A graph that was exported comes back with its id, its source and all that was known.",
    "What is stored of contents is asked again: by default they are redacted.",
    "A graph that was changed after the export says so in a warning.",
)


def is_export_table(sample: bytes) -> bool:
    """Whether a Parquet file begins like a table of an export: with the ids of graphs.

    Args:
        sample: The file's first bytes.
    """
    return sample.startswith(PARQUET) and _ID.search(sample[:_ID_BYTES]) is not None


def _graphs_of(
    made: "networkx.MultiDiGraph[str]", context: ReadContext, what: str, uri: str
) -> Iterator[CollaborationGraph | Rejection]:
    from graphstore.exchange import from_networkx

    graphs = guarded(lambda: from_networkx(made), what, uri)
    marks = {str(node): said.get("fingerprint") for node, said in made.nodes(data=True)}
    yield from checked_graphs(graphs, marks, context, uri)


def _directed(made: Any) -> "networkx.MultiDiGraph[str]":
    """A graph of networkx as the one kind that is read; a copy only where it is another."""
    import networkx

    return made if type(made) is networkx.MultiDiGraph else networkx.MultiDiGraph(made)


class ExportJsonReader:
    """Node-link JSON of networkx, as ``masgraph export out.json`` writes it."""

    format = "masgraph-json"
    title = "masgraph export (node-link JSON)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities("yes", "yes", "yes", "yes", _NOTES)
    telling_keys = frozenset({"directed"})

    def sniff(self, sample: bytes) -> bool:
        """Whether its first edges are relations of the schema."""
        value = first_value(sample)
        edges = value.get("edges") if isinstance(value, dict) and "directed" in value else None
        first = edges[0] if isinstance(edges, list) and edges else None
        return isinstance(first, dict) and (
            first.get("key") in _RELATIONS and {"source", "target"} <= first.keys()
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the graphs in the order of their ids.

        Raises:
            InputError: It is no export of masgraph.
        """
        what = "node-link JSON"

        def make() -> "networkx.MultiDiGraph[str]":
            value = _DECODER.decode(file.data())
            if not isinstance(value, dict) or "nodes" not in value or "edges" not in value:
                raise InputError(f"it is no {what} of masgraph: it has no nodes and edges")
            links = node_links(value)
            if links is not None:
                return cast("networkx.MultiDiGraph[str]", links)
            import networkx

            made: Any = networkx.node_link_graph(
                value, directed=True, multigraph=True, edges="edges"
            )
            return _directed(made)

        yield from _graphs_of(guarded(make, what, file.uri), context, what, file.uri)


class _XmlReader(ABC):
    """What the two XML forms share."""

    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        "yes",
        "yes",
        "yes",
        "yes",
        (
            *_NOTES,
            "XML cannot hold most control characters: U+FFFD stands for them there, and the "
            "attribute `masgraph_exact` holds such texts as they are, for reading them again.",
        ),
    )
    _root: bytes
    _name: str
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether it is XML of that form whose nodes have a fingerprint and counts of edges."""
        start = sample.lstrip()
        return (
            start.startswith(b"<")
            and self._root in start[:500]
            and all(mark in sample for mark in (b'"fingerprint"', b'"inferred_edge_count"'))
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the graphs in the order of their ids.

        Raises:
            InputError: It is no export of masgraph.
        """

        def make() -> "networkx.MultiDiGraph[str]":
            data = file.data()
            if self._root not in data[:2_000]:
                raise InputError(f"it is no {self._name} of masgraph")
            if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
                raise InputError("it declares entities, which an export never does")
            return self._parsed(io.BytesIO(data))

        made = guarded(make, self._name, file.uri)
        yield from _graphs_of(made, context, self._name, file.uri)

    @abstractmethod
    def _parsed(self, stream: io.BytesIO) -> "networkx.MultiDiGraph[str]":
        """The networkx graph in a stream of that form."""


class ExportGraphMLReader(_XmlReader):
    """GraphML, as ``masgraph export out.graphml`` writes it."""

    format = "masgraph-graphml"
    title = "masgraph export (GraphML)"
    _root = b"<graphml"
    _name = "GraphML"

    def _parsed(self, stream: io.BytesIO) -> "networkx.MultiDiGraph[str]":
        import networkx

        return _directed(networkx.read_graphml(stream, force_multigraph=True))


class ExportGexfReader(_XmlReader):
    """GEXF, as ``masgraph export out.gexf`` writes it."""

    format = "masgraph-gexf"
    title = "masgraph export (GEXF)"
    _root = b"<gexf"
    _name = "GEXF"

    def _parsed(self, stream: io.BytesIO) -> "networkx.MultiDiGraph[str]":
        import networkx

        return _directed(networkx.read_gexf(stream))


class ExportParquetReader:
    """A folder of Parquet tables, as ``masgraph export FOLDER`` writes it."""

    format = "masgraph-parquet"
    title = "masgraph export (folder of Parquet tables)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        "yes",
        "yes",
        "yes",
        "yes",
        (*_NOTES, "Give the whole folder: a table alone holds no graph; its file's name says "
        "which table it is."),
    )  # fmt: skip
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether it is a Parquet file that begins with the ids of graphs."""
        return is_export_table(sample)

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The folder: the tables of an export lie together."""
        return frozenset({str(PurePath(file.uri).parent)})

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Rejects a table that stands alone; see :meth:`read_joined`.

        Raises:
            InputError: Always: one table holds no whole graph.
        """
        yield from self.read_joined([file], context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the graphs of a folder's tables in the order of their ids.

        Raises:
            InputError: A table is missing, damaged, or none of an export.
        """
        from graphstore.exchange import from_frames

        tables: dict[str, pandas.DataFrame] = {}
        for file in files:
            name = _table_of(file)
            if name in tables:
                raise InputError(f"the table {name} stands twice in its folder", file=file.uri)
            tables[name] = guarded(_frame_maker(file), "Parquet table", file.uri)
        if not any(name in tables for name in _HEADS):
            raise InputError(
                "it is one table of an export, without Run or Decomposition: give the whole "
                "folder",
                file=files[0].uri,
            )
        folder = str(PurePath(files[0].uri).parent)
        uri = files[0].uri if len(files) == 1 else folder
        graphs = guarded(lambda: from_frames(tables), "Parquet export", uri)
        marks: dict[str, Any] = {}
        for name in _HEADS:
            if name in tables and {"id", "fingerprint"} <= set(tables[name].columns):
                marks |= dict(zip(tables[name]["id"], tables[name]["fingerprint"], strict=True))
        yield from checked_graphs(graphs, marks, context, uri)


def _table_of(file: TraceFile) -> str:
    """The table's name, by the file's.

    Raises:
        InputError: The schema has no such table.
    """
    name = PurePath(file.uri).name.removesuffix(".gz").removesuffix(".parquet")
    source, _, rest = name.partition("-")
    type_, _, target = rest.partition("-")
    if name not in LABELS_BY_NAME and (type_, source, target) not in RELATIONS_BY_KEY:
        raise InputError(
            f"an export has no table called {name!r}: its files are Run.parquet, Agent.parquet "
            "and so on, in one folder",
            file=file.uri,
        )
    return name


def _frame_maker(file: TraceFile) -> "Callable[[], pandas.DataFrame]":
    def make() -> "pandas.DataFrame":
        import pandas

        return pandas.read_parquet(io.BytesIO(file.data()))

    return make


_RELATIONS = frozenset(key[0] for key in RELATIONS_BY_KEY)

EXPORT_JSON = ExportJsonReader()
EXPORT_GRAPHML = ExportGraphMLReader()
EXPORT_GEXF = ExportGexfReader()
EXPORT_PARQUET = ExportParquetReader()
