"""Graphs to and from what other tools read: networkx, pandas, Parquet, GraphML, GEXF, JSON.

Every form holds the same rows as a store (:mod:`graphstore.schema`), so that nothing is
lost: a graph that goes out and comes back is equal to the first one. Python's pickle is
used nowhere.
"""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from graphstore.errors import InputError
from graphstore.exchange_xml import EXACT, exact_texts, write_xml
from graphstore.model import CollaborationGraph
from graphstore.records import graph_from_rows, graph_rows
from graphstore.rows import Row, Rows
from graphstore.schema import LABELS_BY_NAME, RELATIONS_BY_KEY, Property, PropertyType
from graphstore.schema_parts import Scope

if TYPE_CHECKING:
    import networkx
    import pandas

_NO_PROPERTY = ("type", "id")
"""What forms of graphs say of an edge beside the relation's properties."""

FILE_FORMATS = ("graphml", "gexf", "json", "parquet")
"""What :func:`write_file` writes and :func:`read_file` reads."""


def merged_rows(graphs: Iterable[CollaborationGraph]) -> Rows:
    """The rows of many graphs, with what they share (tasks, methods) once.

    Where two graphs carry different fields of one task, the first value of each stays.
    """
    merged = Rows()
    seen: dict[str, Row] = {}
    related: set[tuple[str, str, str]] = set()
    for graph in graphs:
        rows = graph_rows(graph)
        for label, items in rows.nodes.items():
            owned = LABELS_BY_NAME[label].scope == "graph"
            for row in items:
                known = None if owned else seen.get(row["id"])
                if known is None:
                    merged.node(label, row)
                    if not owned:
                        seen[row["id"]] = merged.nodes[label][-1]
                else:
                    for name, value in row.items():
                        known.setdefault(name, value)
        for key, items in rows.relations.items():
            owned = RELATIONS_BY_KEY[key].scope == "graph"
            for row in items:
                mark = (key[0], row["source"], row["target"])
                if owned or mark not in related:
                    merged.relate(*key, row)
                    related.add(mark)
    return merged


def split_rows(rows: Rows) -> list[CollaborationGraph]:
    """The graphs in merged rows, in the order of their ids.

    Raises:
        InputError: A part of a graph is missing.
    """
    label_of = {row["id"]: label for label, items in rows.nodes.items() for row in items}
    row_of = {row["id"]: row for items in rows.nodes.values() for row in items}
    neighbours = _neighbours(rows, label_of)
    graphs = []
    heads = [
        row["id"] for label in ("Run", "Decomposition") for row in rows.nodes.get(label, ())
    ]
    for head in sorted(heads):
        inside = f"{head}/"
        part = Rows()
        part.node(label_of[head], row_of[head])
        waiting, reached, used = [head], {head}, set()
        while waiting:
            current = waiting.pop()
            is_own = current == head or current.startswith(inside)
            for key, row, other, needed in neighbours.get(current, ()):
                if needed and is_own + (other == head or other.startswith(inside)) < needed:
                    continue
                if id(row) not in used:
                    used.add(id(row))
                    part.relations.setdefault(key, []).append(row)
                if other not in reached:
                    reached.add(other)
                    part.node(label_of[other], row_of[other])
                    waiting.append(other)
        graphs.append(graph_from_rows(part))
    return graphs


_Neighbour = tuple[tuple[str, str, str], Row, str, int]
"""A relation, its row, the node at the other end, and how many of both ends have to be a
graph's own for a walk from that graph's head to take it."""

_NO_GRAPHS = 3


def _needed(one: Scope, other: Scope) -> int:
    """How many ends of a relation have to be a graph's own: shared nodes lead nowhere else."""
    if one == other == "shared":
        return _NO_GRAPHS
    if "shared" in (one, other) or {one, other} == {"organization", "graph"}:
        return 1
    return 0 if one == other == "organization" else 2


def _neighbours(rows: Rows, label_of: dict[str, str]) -> dict[str, list[_Neighbour]]:
    """The relations of each node, but for those that are no graph's.

    Raises:
        InputError: A relation names a node that is missing.
    """
    scopes = {label.scope for label in LABELS_BY_NAME.values()}
    needed_of = {(one, other): _needed(one, other) for one in scopes for other in scopes}
    scope_of = {node: LABELS_BY_NAME[label].scope for node, label in label_of.items()}
    found: dict[str, list[_Neighbour]] = {}
    for key, items in rows.relations.items():
        for row in items:
            source, target = row["source"], row["target"]
            for end in (source, target):
                if end not in scope_of:
                    raise InputError(f"a relation {key[0]} names the missing node {end}")
            needed = needed_of[scope_of[source], scope_of[target]]
            if needed == _NO_GRAPHS:
                continue
            found.setdefault(source, []).append((key, row, target, needed))
            if target != source:
                found.setdefault(target, []).append((key, row, source, needed))
    return found


def to_networkx(
    graphs: CollaborationGraph | Iterable[CollaborationGraph],
) -> "networkx.MultiDiGraph[str]":
    """Graphs as one networkx graph: every node and relation that a store would hold.

    Args:
        graphs: One graph or several.

    Returns:
        Nodes by id with the attribute ``label`` and the store's properties; edges keyed by
        relation type, with the type as attribute ``type`` too. Missing values are absent.
    """
    import networkx

    rows = _rows_of(graphs)
    made: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    for label, items in rows.nodes.items():
        for row in items:
            attributes = {name: value for name, value in row.items() if name != "id"}
            made.add_node(row["id"], **attributes, label=label)
    for (type_, _, _), items in rows.relations.items():
        for row in items:
            attributes = {
                name: value for name, value in row.items() if name not in ("source", "target")
            }
            made.add_edge(row["source"], row["target"], key=type_, **attributes, type=type_)
    return made


def from_networkx(graph: "networkx.MultiDiGraph[str]") -> list[CollaborationGraph]:
    """The graphs that :func:`to_networkx` was given, in the order of their ids.

    Raises:
        InputError: A node has no ``label``, or a part of a graph is missing.
    """
    rows = Rows()
    labels: dict[str, str] = {}
    for node, attributes in graph.nodes(data=True):
        label = attributes.get("label")
        if label not in LABELS_BY_NAME:
            raise InputError(f"node {node} has no label that masgraph knows")
        labels[node] = label
        known = {"id": node, **attributes}
        del known["label"]
        if EXACT in known:
            known = exact_texts(known)
        rows.node(label, _typed(_LABEL_TYPES[label], known))
    for source, target, type_, attributes in graph.edges(data=True, keys=True):
        relation = attributes.get("relation") or attributes.get("type") or type_
        key = (relation, labels[source], labels[target])
        if key not in RELATIONS_BY_KEY:
            raise InputError(f"no relation {key[0]} joins {key[1]} and {key[2]}")
        if EXACT in attributes:
            attributes = exact_texts(dict(attributes))
        typed = _typed(_RELATION_TYPES[key], attributes)
        rows.relate(*key, {"source": source, "target": target, **typed})
    return split_rows(rows)


def to_frames(
    graphs: CollaborationGraph | Iterable[CollaborationGraph],
) -> "dict[str, pandas.DataFrame]":
    """Graphs as tables: one for each label, one for each kind of relation.

    Returns:
        ``Action``, ``Agent``, ... with a row for each node, and ``Action-INFORMS-Action``,
        ... with ``source``, ``target`` and the relation's properties. Columns are those of
        the schema, with nullable types; missing values are NA.
    """
    rows = _rows_of(graphs)
    frames = {
        label: _frame(LABELS_BY_NAME[label].all_properties, items)
        for label, items in sorted(rows.nodes.items())
    }
    ends = (Property("source"), Property("target"))
    for key, items in sorted(rows.relations.items()):
        type_, source, target = key
        frames[f"{source}-{type_}-{target}"] = _frame(
            (*ends, *RELATIONS_BY_KEY[key].properties), items
        )
    return frames


def from_frames(frames: "dict[str, pandas.DataFrame]") -> list[CollaborationGraph]:
    """The graphs that :func:`to_frames` was given, in the order of their ids.

    Raises:
        InputError: A table has a name that the schema does not know.
    """
    rows = Rows()
    for name, frame in frames.items():
        if name in LABELS_BY_NAME:
            for row in _frame_rows(frame):
                rows.node(name, _typed(_LABEL_TYPES[name], row))
            continue
        source, _, rest = name.partition("-")
        type_, _, target = rest.partition("-")
        key = (type_, source, target)
        if key not in RELATIONS_BY_KEY:
            raise InputError(f"the table {name} is no part of a graph")
        for row in _frame_rows(frame):
            typed = _typed(_RELATION_TYPES[key], row)
            rows.relate(*key, {"source": row["source"], "target": row["target"], **typed})
    return split_rows(rows)


def write_file(
    graphs: CollaborationGraph | Iterable[CollaborationGraph], path: str | Path, format: str
) -> None:
    """Writes graphs in a form that other tools read.

    Args:
        graphs: One graph or several.
        path: The file; for ``parquet`` a folder with one file for each table.
        format: ``graphml``, ``gexf``, ``json`` (networkx's node-link form) or ``parquet``.
            The first two are XML, which cannot hold most control characters: U+FFFD stands
            for each there, and an attribute ``masgraph_exact`` holds the text for
            :func:`read_file`.

    Raises:
        InputError: The format is not known, or the path cannot be written.
    """
    target = Path(path)
    try:
        if format == "parquet":
            target.mkdir(parents=True, exist_ok=True)
            for name, frame in to_frames(graphs).items():
                frame.to_parquet(target / f"{name}.parquet", index=False)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if format == "json":
            target.write_bytes(_node_link(to_networkx(graphs)))
        elif format in ("graphml", "gexf"):
            write_xml(to_networkx(graphs), target, format)
        else:
            raise InputError(
                f"cannot write {format!r}: choose one of {', '.join(FILE_FORMATS)}"
            )
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", file=str(path)) from error


def read_file(path: str | Path, format: str) -> list[CollaborationGraph]:
    """The graphs that :func:`write_file` wrote, in the order of their ids.

    Raises:
        InputError: The file cannot be read, or is in another format.
    """
    import networkx

    if format not in FILE_FORMATS:
        raise InputError(f"cannot read {format!r}: choose one of {', '.join(FILE_FORMATS)}")
    try:
        return _read(Path(path), format)
    except InputError as error:
        raise InputError(error.reason, file=str(path)) from error
    except (OSError, ValueError, SyntaxError, KeyError, networkx.NetworkXException) as error:
        raise InputError(f"not a {format} file of masgraph: {error}", file=str(path)) from error


def _read(source: Path, format: str) -> list[CollaborationGraph]:
    import networkx

    if format == "parquet":
        import pandas

        files = sorted(source.glob("*.parquet"))
        return from_frames({file.stem: pandas.read_parquet(file) for file in files})
    made: Any
    if format == "json":
        value = msgspec.json.decode(source.read_bytes())
        made = networkx.node_link_graph(value, directed=True, multigraph=True, edges="edges")
    elif format == "graphml":
        made = networkx.read_graphml(source, force_multigraph=True)
    else:
        made = networkx.MultiDiGraph(networkx.read_gexf(source))
    return from_networkx(made)


def _rows_of(graphs: CollaborationGraph | Iterable[CollaborationGraph]) -> Rows:
    return merged_rows([graphs] if isinstance(graphs, CollaborationGraph) else graphs)


def _node_link(graph: "networkx.MultiDiGraph[str]") -> bytes:
    import networkx

    value = networkx.node_link_data(graph, edges="edges")
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1)


_LABEL_TYPES = {
    name: {item.name: item.type for item in label.all_properties}
    for name, label in LABELS_BY_NAME.items()
}
_RELATION_TYPES = {
    key: {item.name: item.type for item in relation.properties if item.name not in _NO_PROPERTY}
    for key, relation in RELATIONS_BY_KEY.items()
}


def _typed(types: dict[str, PropertyType], row: dict[str, Any]) -> Row:
    """A row with the schema's Python types, from whatever a file format made of them."""
    typed: Row = {}
    for name, value in row.items():
        type_ = types.get(name)
        if type_ is None or value is None or (isinstance(value, float) and value != value):
            continue
        if type_ == "integer":
            value = int(value)
        elif type_ == "float":
            value = float(value)
        elif type_ == "boolean":
            value = value if isinstance(value, bool) else str(value).lower() == "true"
        elif type_ == "strings":
            value = msgspec.json.decode(value) if isinstance(value, str) else list(value)
        elif type_ == "datetime" and isinstance(value, str):
            value = datetime.fromisoformat(value)
        typed[name] = value
    return typed


_PANDAS_TYPES = {
    "string": "string",
    "json": "string",
    "integer": "Int64",
    "float": "Float64",
    "boolean": "boolean",
    "datetime": "datetime64[us, UTC]",
    "strings": "object",
}


def _frame(properties: tuple[Property, ...], rows: list[Row]) -> "pandas.DataFrame":
    import pandas

    columns = {}
    for item in properties:
        values = [row.get(item.name) for row in rows]
        columns[item.name] = pandas.Series(values, dtype=_PANDAS_TYPES[item.type])
    return pandas.DataFrame(columns)


def _frame_rows(frame: "pandas.DataFrame") -> list[dict[str, Any]]:
    import pandas

    rows = []
    for record in frame.to_dict(orient="records"):
        row: dict[str, Any] = {}
        for name, value in record.items():
            if value is None or (pandas.api.types.is_scalar(value) and pandas.isna(value)):
                continue
            row[str(name)] = value.tolist() if hasattr(value, "tolist") else value
        rows.append(row)
    return rows
