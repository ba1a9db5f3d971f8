"""Rows into the embedded engine in bulk: a detached graph, folded in as one commit.

A transaction of the engine copies the whole store at its first write, and its statements
reach a third of its bulk loader's speed. A batch is therefore built in a graph of its own,
which costs what the batch costs, and merged into the store: one frame of the log, so it is
there whole or not at all.
"""

import warnings
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import kglite
import numpy
import pandas

from graphstore.errors import StoreError
from graphstore.operations import Prepared
from graphstore.rows import Row
from graphstore.schema import LABELS, LABELS_BY_NAME, RELATIONS_BY_KEY, Property, PropertyType

# Datetimes are declared as zoned: the engine's plain kind would drop the zone.
_COLUMN_TYPES: dict[PropertyType, str] = {
    "string": "string",
    "json": "string",
    "integer": "integer",
    "float": "float",
    "strings": "list",
    "datetime": "zoneddatetime",
}
# Types of columns without gaps, and with them.
_ARRAY_TYPES: dict[PropertyType, tuple[Any, Any]] = {
    "integer": (numpy.int64, "Int64"),
    "float": (numpy.float64, "Float64"),
    "boolean": (numpy.bool_, "boolean"),
}
_ENDS = (Property("source"), Property("target"))


def declare_labels(graph: Any) -> None:
    """Tells the engine each label's key, its properties, and that ``name`` is its title.

    The key is a unique constraint on ``id`` that the index of identities enforces; one made
    by a statement would keep a second index of all ids, and cost a fifth of the speed. Without
    the title the engine lists a made-up one among the properties of some nodes.

    Args:
        graph: The engine's handle.
    """
    graph.define_schema({"nodes": {label.name: {"primary_key": "id"} for label in LABELS}})
    for label in LABELS:
        _add_nodes(graph, label.name, [], label.all_properties)


def merge_prepared(graph: Any, prepared: Prepared) -> None:
    """Stores rows as one commit.

    Args:
        graph: The engine's handle.
        prepared: Rows whose own part is new to the store.

    Raises:
        StoreError: A relation names a node that is not among the rows. Nothing is stored.
    """
    detached = kglite.KnowledgeGraph()
    with warnings.catch_warnings():
        # The loader makes up a node for an end that is missing, and warns.
        warnings.simplefilter("ignore", UserWarning)
        counts = add_rows(detached, prepared)
    if detached.shape != counts:
        raise StoreError(missing_end(prepared))
    graph.extend(detached, "preserve")


def add_rows(graph: Any, prepared: Prepared) -> tuple[int, int]:
    """Loads rows with the engine's loader, a commit for each label and relation.

    Args:
        graph: The engine's handle.
        prepared: The rows.

    Returns:
        The number of nodes and of relations among the rows.
    """
    count = 0
    for rows in (prepared.shared, prepared.own):
        for label, new in rows.nodes.items():
            _add_nodes(graph, label, new, _present(LABELS_BY_NAME[label].all_properties, new))
            count += len(new)
    relation_count = 0
    for rows in (prepared.shared, prepared.own):
        for (type_, source, target), links in rows.relations.items():
            properties = RELATIONS_BY_KEY[type_, source, target].properties
            columns = (*_ENDS, *_present(properties, links))
            graph.add_relationships(
                _frame(links, columns),
                type_,
                source,
                "source",
                target,
                "target",
                column_types=_types(columns),
                conflict_handling="preserve",
            )
            relation_count += len(links)
    return count, relation_count


def missing_end(prepared: Prepared) -> str:
    """A sentence on the first relation whose end is not among the rows."""
    ids: dict[str, set[str]] = {}
    for rows in (prepared.shared, prepared.own):
        for label, new in rows.nodes.items():
            ids.setdefault(label, set()).update(row["id"] for row in new)
    for rows in (prepared.shared, prepared.own):
        for (type_, source, target), links in rows.relations.items():
            for row in links:
                for label, id in ((source, row["source"]), (target, row["target"])):
                    if id not in ids.get(label, ()):
                        return f"a relation {type_} names the {label} {id}, which is not stored"
    return "an id stands twice among the graphs to be stored"


def _add_nodes(
    graph: Any, label: str, rows: Sequence[Row], properties: Sequence[Property]
) -> None:
    graph.add_nodes(
        _frame(rows, properties),
        label,
        "id",
        "name",
        column_types=_types(properties),
        conflict_handling="preserve",
    )


def _present(properties: Sequence[Property], rows: Sequence[Row]) -> tuple[Property, ...]:
    used: set[str] = set().union(*rows)
    return tuple(item for item in properties if item.name in used)


def _types(properties: Sequence[Property]) -> dict[str, str]:
    return {
        item.name: _COLUMN_TYPES[item.type] for item in properties if item.type in _COLUMN_TYPES
    }


def _frame(rows: Sequence[Row], properties: Sequence[Property]) -> "pandas.DataFrame":
    return pandas.DataFrame({item.name: _column(rows, item) for item in properties}, copy=False)


def _column(rows: Sequence[Row], item: Property) -> Any:
    try:
        values = list(map(itemgetter(item.name), rows))
        is_full = True
    except KeyError:
        values = [row.get(item.name) for row in rows]
        is_full = False
    full_type, type_with_gaps = _ARRAY_TYPES.get(item.type, (object, object))
    if full_type is object:
        return pandas.Series(values, dtype=object, copy=False)
    if is_full:
        return numpy.array(values, dtype=full_type)
    return pandas.array(values, dtype=type_with_gaps)
