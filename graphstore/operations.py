"""What both stores do with graphs and rows, over any way to run a statement.

A store hands in a runner that belongs to one transaction; committing it, undoing it and
naming its failures stay with the store.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from graphstore import statements
from graphstore.errors import StoreError, UsageError
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.records import fingerprint, graph_from_rows, graph_label, graph_rows
from graphstore.rows import Change, Row, Rows
from graphstore.schema import GRAPH_LABELS, LABELS_BY_NAME, RELATIONS_BY_KEY

Runner = Callable[[str, Mapping[str, Any]], Sequence[Sequence[Any]]]
"""Runs a statement with its parameters and returns all rows, columns in order."""

BATCH_NODES = 50_000
"""Nodes that share a transaction; one graph is never split, however large."""

STATEMENT_ROWS = 10_000
"""Rows that one statement writes."""

STATEMENT_CHARACTERS = 4_000_000
"""Characters of text that the rows of one statement hold: a server with a small heap hangs up
on a message of 100 MB."""

CHARACTERS_PER_NODE = 2_000
"""Characters of content that weigh as much as one node more in a transaction."""

READ_NODES = 5_000
"""Nodes of the graphs that are read at once."""


def batches(
    graphs: Iterable[CollaborationGraph], size: int = BATCH_NODES
) -> Iterator[list[CollaborationGraph]]:
    """Groups graphs into transactions, lazily and in order.

    Args:
        graphs: Any number of graphs.
        size: Nodes and agents after which a batch ends; long contents count as more.

    Yields:
        Batches in which every id is different: a graph that comes twice meets its first
        copy in the store.
    """
    batch: dict[str, CollaborationGraph] = {}
    weight = 0
    for graph in graphs:
        if batch and (weight >= size or graph.id in batch):
            yield list(batch.values())
            batch, weight = {}, 0
        batch[graph.id] = graph
        characters = sum(len(node.content) for node in graph.nodes if node.content)
        weight += 1 + len(graph.nodes) + len(graph.agents) + characters // CHARACTERS_PER_NODE
    if batch:
        yield list(batch.values())


def find_changes(run: Runner, graphs: Sequence[CollaborationGraph]) -> dict[str, Change]:
    """What writing each graph would do, by id, in order."""
    stored = dict(_by_label(run, [graph.id for graph in graphs], statements.fingerprints))
    changes: dict[str, Change] = {}
    for graph in graphs:
        if graph.id not in stored:
            changes[graph.id] = "written"
        elif stored[graph.id] == fingerprint(graph):
            changes[graph.id] = "unchanged"
        else:
            changes[graph.id] = "replaced"
    return changes


@dataclass
class Prepared:
    """Rows that are ready to be stored.

    Attributes:
        own: What belongs to one graph alone; all of it is new.
        shared: Tasks, methods, data sets and organizations, each once; some may be stored.
        warnings: Contradictions between shared values, one sentence each.
    """

    own: Rows = field(default_factory=Rows)
    shared: Rows = field(default_factory=Rows)
    warnings: list[str] = field(default_factory=list)


def prepare(run: Runner, graphs: Iterable[CollaborationGraph]) -> Prepared:
    """Turns graphs, none of which is stored, into rows.

    A shared value that is stored stays, and one that a graph has differently is warned of;
    among the graphs themselves the first one counts.
    """
    prepared = Prepared()
    nodes: dict[str, dict[str, Row]] = {}
    relations: dict[statements.RelationKey, dict[tuple[str, str], Row]] = {}
    for graph in graphs:
        rows = graph_rows(graph)
        for label, new in rows.nodes.items():
            if LABELS_BY_NAME[label].scope == "graph":
                prepared.own.nodes.setdefault(label, []).extend(new)
                continue
            known = nodes.setdefault(label, {})
            for row in new:
                first = known.setdefault(row["id"], row)
                if first is not row:
                    _fill(label, first, row, prepared.warnings)
        for key, links in rows.relations.items():
            if RELATIONS_BY_KEY[key].scope == "graph":
                prepared.own.relations.setdefault(key, []).extend(links)
                continue
            for row in links:
                relations.setdefault(key, {}).setdefault((row["source"], row["target"]), row)
    for label, known in nodes.items():
        if LABELS_BY_NAME[label].scope == "shared":
            _compare_with_store(run, label, known, prepared.warnings)
        prepared.shared.nodes[label] = list(known.values())
    for key, pairs in relations.items():
        prepared.shared.relations[key] = list(pairs.values())
    return prepared


def write_prepared(run: Runner, prepared: Prepared) -> None:
    """Stores rows by statements, nodes first.

    Raises:
        StoreError: An end of a relation does not exist.
    """
    for label, new in prepared.shared.nodes.items():
        _write_nodes(run, statements.merge_nodes(label), new)
    for label, new in prepared.own.nodes.items():
        _write_nodes(run, statements.create_nodes(label), new)
    for key, links in prepared.shared.relations.items():
        _write_relations(run, key, statements.merge_relations(key), links)
    for key, links in prepared.own.relations.items():
        _write_relations(run, key, statements.create_relations(key), links)


def write_batch(
    run: Runner, graphs: Sequence[CollaborationGraph]
) -> tuple[dict[str, Change], list[str]]:
    """Stores one batch by statements.

    Args:
        run: A runner in an open transaction.
        graphs: Graphs of different ids.

    Returns:
        The change of each graph by id, and warnings.

    Raises:
        StoreError: An end of a relation does not exist.
    """
    changes = find_changes(run, graphs)
    delete_graphs(run, [id for id, change in changes.items() if change == "replaced"])
    prepared = prepare(run, (graph for graph in graphs if changes[graph.id] != "unchanged"))
    write_prepared(run, prepared)
    return changes, prepared.warnings


def delete_graphs(run: Runner, ids: Sequence[str]) -> int:
    """Removes graphs, what belongs to them, and shared nodes that nothing uses any more.

    Returns:
        How many of them were stored.
    """
    shared: dict[str, list[str]] = {}
    existing = [
        id for id, _ in _by_label(run, list(dict.fromkeys(ids)), statements.fingerprints)
    ]
    for top, members in _grouped_by_label(existing):
        for label in statements.SHARED_LABELS:
            text = statements.shared_ids(top, label)
            shared.setdefault(label, []).extend(row[0] for row in run(text, {"ids": members}))
        for text in statements.delete_graphs(top):
            run(text, {"ids": members})
    for label, candidates in shared.items():
        if candidates:
            for text in statements.delete_unused(label):
                run(text, {"ids": list(dict.fromkeys(candidates))})
    return len(existing)


def read_graphs(run: Runner, ids: Sequence[str]) -> list[CollaborationGraph]:
    """The stored ones of some graphs, in the order of ``ids``.

    Raises:
        StoreDamagedError: A stored graph lacks a part.
    """
    found: dict[str, Rows] = {}
    for top, members in _grouped_by_label(list(dict.fromkeys(ids))):
        parameters = {"ids": members}
        for label, text in statements.read_nodes(top).items():
            names = [item.name for item in statements.stored_properties(label)]
            for id, *values in run(text, parameters):
                rows = found.setdefault(id, Rows())
                rows.node(label, dict(zip(names, values, strict=True)))
        for key, text in statements.read_relations(top).items():
            names = [
                "source",
                "target",
                *(item.name for item in RELATIONS_BY_KEY[key].properties),
            ]
            for id, *values in run(text, parameters):
                found[id].relate(*key, dict(zip(names, values, strict=True)))
    return [graph_from_rows(found[id]) for id in ids if id in found]


def select_ids(
    run: Runner,
    *,
    kind: GraphKind | None = None,
    dataset: str | None = None,
    method: str | None = None,
    task: str | None = None,
    ids: Sequence[str] | None = None,
) -> Iterator[list[str]]:
    """Ids of the graphs that fit, in order, in groups that can be read at once."""
    wanted = {"run": "Run", "decomposition": "Decomposition"}
    tops = GRAPH_LABELS if kind is None else (wanted[kind],)
    found: dict[str, int] = {}
    for top in tops:
        text = statements.select_graphs(
            top,
            dataset=dataset is not None,
            method=method is not None,
            task=task is not None,
            ids=ids is not None,
        )
        parameters = {"dataset": dataset, "method": method, "task": task}
        chosen: dict[str, Any] = {
            name: value for name, value in parameters.items() if value is not None
        }
        if ids is not None:
            chosen["ids"] = list(dict.fromkeys(ids))
        found.update((row[0], row[1]) for row in run(text, chosen))
    group: list[str] = []
    weight = 0
    for id in sorted(found):
        group.append(id)
        weight += 1 + (found[id] or 0)
        if weight >= READ_NODES:
            yield group
            group, weight = [], 0
    if group:
        yield group


def write_results(run: Runner, rows: Rows, replace: Rows | None = None) -> None:
    """Stores what jobs made.

    Args:
        run: A runner in an open transaction.
        rows: Nodes and relations of the scopes ``mined`` and ``result``.
        replace: Nodes to remove first; only labels and ids matter.

    Raises:
        UsageError: A label, relation or property is not in the table, or belongs to graphs.
        StoreError: An end of a relation does not exist.
    """
    _check_results(rows, named=True)
    if replace is not None:
        _check_results(Rows(nodes=replace.nodes), named=False)
        for label, old in replace.nodes.items():
            for chunk in _chunks([row["id"] for row in old]):
                run(statements.delete_nodes(label), {"ids": chunk})
    for label, new in rows.nodes.items():
        _write_nodes(run, statements.overwrite_nodes(label), new)
    for key, links in rows.relations.items():
        _write_relations(run, key, statements.merge_relations(key), links)


def count_all(run: Runner) -> dict[str, int]:
    """Number of nodes of each label and of relations of each type that occur."""
    counts = {
        name: int(run(text, {})[0][0]) for name, text in statements.count_statements().items()
    }
    return {name: count for name, count in counts.items() if count}


def _grouped_by_label(ids: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    for top, members in groupby(sorted(ids, key=graph_label), key=graph_label):
        yield top, list(members)


def _by_label(
    run: Runner, ids: Sequence[str], text: Callable[[str], str]
) -> Iterator[tuple[str, Any]]:
    for top, members in _grouped_by_label(ids):
        yield from ((id, value) for id, value in run(text(top), {"ids": members}))


def _chunks(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(rows), STATEMENT_ROWS):
        yield rows[start : start + STATEMENT_ROWS]


def _fill(label: str, kept: Row, other: Row, warnings: list[str]) -> None:
    for name, value in other.items():
        if kept.setdefault(name, value) != value:
            sentence = (
                f"{label.lower()} {kept['name']!r} has two values of {name}: "
                f"{_short(kept[name])} was kept, {_short(value)} was not"
            )
            if sentence not in warnings:
                warnings.append(sentence)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _compare_with_store(
    run: Runner, label: str, known: dict[str, Row], warnings: list[str]
) -> None:
    names = [item.name for item in statements.stored_properties(label)]
    for chunk in _chunks(list(known)):
        for values in run(statements.nodes_by_id(label), {"ids": chunk}):
            stored = {
                name: value
                for name, value in zip(names, values, strict=True)
                if value is not None
            }
            _fill(label, stored, known[stored["id"]], warnings)
            known[stored["id"]] = stored


def _write_nodes(run: Runner, text: str, rows: Sequence[Row]) -> None:
    for chunk in _node_chunks(rows):
        run(text, {"rows": chunk})


def _node_chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    start = characters = 0
    for position, row in enumerate(rows):
        size = sum([len(value) for value in row.values() if value.__class__ is str])
        full = position - start == STATEMENT_ROWS or characters + size > STATEMENT_CHARACTERS
        if full and position > start:
            yield rows[start:position]
            start, characters = position, 0
        characters += size
    if start < len(rows):
        yield rows[start:]


def _write_relations(
    run: Runner, key: statements.RelationKey, text: str, rows: Sequence[Row]
) -> None:
    for chunk in _chunks(rows):
        count = run(text, {"rows": chunk})[0][0]
        if count != len(chunk):
            raise StoreError(_missing_end(run, key, chunk))


def _missing_end(run: Runner, key: statements.RelationKey, rows: Sequence[Row]) -> str:
    type_, *labels = key
    for label, side in zip(labels, ("source", "target"), strict=True):
        wanted = list(dict.fromkeys(row[side] for row in rows))
        existing = {row[0] for row in run(statements.existing_ids(label), {"ids": wanted})}
        for id in wanted:
            if id not in existing:
                return f"a relation {type_} names the {label} {id}, which is not stored"
    return f"a relation {type_} between {labels[0]} and {labels[1]} could not be stored"


def _check_results(rows: Rows, *, named: bool) -> None:
    for label, nodes in rows.nodes.items():
        known = LABELS_BY_NAME.get(label)
        if known is None or known.scope not in ("mined", "result"):
            raise UsageError(f"{label} is no label of results")
        _check_properties(label, nodes, {item.name for item in known.all_properties})
        for row in nodes:
            if row.get("id") is None:
                raise UsageError(f"a {label} has no id")
            if named and row.get("name") is None:
                raise UsageError(f"the {label} {row['id']} has no name")
    for key, links in rows.relations.items():
        relation = RELATIONS_BY_KEY.get(key)
        if relation is None or relation.scope not in ("mined", "result"):
            raise UsageError(f"{' '.join(key)} is no relation of results")
        names = {item.name for item in relation.properties} | {"source", "target"}
        _check_properties(relation.type, links, names)


def _check_properties(what: str, rows: Iterable[Row], names: set[str]) -> None:
    for row in rows:
        unknown = sorted(row.keys() - names)
        if unknown:
            raise UsageError(f"{what} has no property {unknown[0]}")
