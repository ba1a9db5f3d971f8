"""Large batches by the engine's own loader, undone where they did not get to their end.

Merging a detached graph (:mod:`graphstore.embedded_bulk`) costs twice what loading costs.
A large batch is loaded straight into the store instead, in several commits, between a note
of what is being loaded and its removal, which is the moment at which the batch counts. A
process that dies in between leaves the note in the log; opening the store for writing then
removes what was begun. Nobody sees a part: the store's lock keeps queries out, and readers
see checkpoints, of which none is made before the end.
"""

import json
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from graphstore import embedded_bulk, statements
from graphstore.errors import StoreError
from graphstore.operations import Prepared
from graphstore.rows import Row, Rows
from graphstore.schema import LABELS

SMALLEST = 5_000
"""Nodes from which loading is faster: each commit waits for the disk."""

# A label of its own would be listed by the engine ever after.
_NOTE = "(note:Library {id: 'unfinished batch'})"
_TAKE_NOTE = (
    "CREATE (note:Library {id: 'unfinished batch', name: 'unfinished batch', summary: $graphs})"
)
_READ_NOTE = f"MATCH {_NOTE} RETURN note.summary AS graphs"
_REMOVE_NOTE = f"MATCH {_NOTE} DETACH DELETE note"
_CHUNK = 10_000


class UndoError(StoreError):
    """A batch was begun, failed, and is still there: the handle must not be used."""


def load_prepared(graph: Any, prepared: Prepared, ids: Sequence[str]) -> None:
    """Stores a batch.

    Args:
        graph: The engine's handle, to which nobody else writes.
        prepared: Rows whose own part is new to the store.
        ids: The graphs of the batch.

    Raises:
        StoreError: A relation names a node that is not stored. Nothing is stored.
        UndoError: It failed, and so did undoing it.
    """
    new, fills = _split(graph, prepared.shared)
    graph.cypher(_TAKE_NOTE, params={"graphs": json.dumps(list(ids))})
    try:
        before = graph.shape[0]
        with warnings.catch_warnings():
            # The loader makes up a node for an end that is missing, and warns.
            warnings.simplefilter("ignore", UserWarning)
            count, _ = embedded_bulk.add_rows(graph, Prepared(own=prepared.own, shared=new))
        if graph.shape[0] - before != count:
            raise StoreError(embedded_bulk.missing_end(prepared))
        _finish(graph, fills)
    except BaseException as error:
        try:
            undo_unfinished(graph)
        except Exception as failure:
            raise UndoError(
                "a write failed and could not be undone, so the store was closed: opening it "
                f"for writing again undoes it ({error})"
            ) from failure
        raise


def undo_unfinished(graph: Any) -> bool:
    """Removes what a batch began and did not finish.

    Being interrupted does no harm: the note goes last.

    Args:
        graph: The engine's handle.

    Returns:
        Whether there was such a batch.
    """
    notes = graph.cypher(_READ_NOTE).column("graphs")
    if not notes:
        return False
    doomed = set(json.loads(notes[0]))
    graph.purge_provisional()
    for label in LABELS:
        if label.scope == "graph":
            own = [id for id in _ids(graph, label.name) if _belongs(id, doomed)]
            for chunk in _chunks(own):
                graph.cypher(statements.delete_nodes(label.name), params={"ids": chunk})
    for name in statements.SHARED_LABELS:
        for chunk in _chunks(_ids(graph, name)):
            for text in statements.delete_unused(name):
                graph.cypher(text, params={"ids": chunk})
    graph.cypher(_REMOVE_NOTE)
    return True


def _split(graph: Any, shared: Rows) -> tuple[Rows, dict[str, list[Row]]]:
    """Shared rows that are new, and stored ones that lack a value which a row has."""
    new = Rows(relations=shared.relations)
    fills: dict[str, list[Row]] = {}
    for label, rows in shared.nodes.items():
        names = [item.name for item in statements.stored_properties(label)]
        view = graph.cypher(
            statements.nodes_by_id(label), params={"ids": [row["id"] for row in rows]}
        )
        columns = [view.column(name) for name in view.columns]
        stored = {
            values[0]: {
                name for name, value in zip(names, values, strict=True) if value is not None
            }
            for values in zip(*columns, strict=True)
        }
        if len(stored) < len(rows):
            new.nodes[label] = [row for row in rows if row["id"] not in stored]
        lacking = [row for row in rows if row.keys() - stored.get(row["id"], row.keys())]
        if lacking:
            fills[label] = lacking
    return new, fills


def _finish(graph: Any, fills: dict[str, list[Row]]) -> None:
    if not fills:
        graph.cypher(_REMOVE_NOTE)
        return
    with graph.begin() as transaction:
        for label, rows in fills.items():
            transaction.cypher(statements.merge_nodes(label), params={"rows": rows})
        transaction.cypher(_REMOVE_NOTE)


def _ids(graph: Any, label: str) -> list[str]:
    ids: list[str] = graph.cypher(f"MATCH (node:{label}) RETURN node.id AS id").column("id")
    return ids


def _belongs(id: str, graphs: set[str]) -> bool:
    """Whether an id is a graph's own or begins with it and a slash."""
    if id in graphs:
        return True
    end = id.rfind("/")
    while end > 0:
        if id[:end] in graphs:
            return True
        end = id.rfind("/", 0, end)
    return False


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _CHUNK):
        yield ids[start : start + _CHUNK]
