"""Cypher that both stores run unchanged, made from :mod:`graphstore.schema`'s table.

Values are never part of a text: a statement takes ``$rows`` (maps) or ``$ids`` (texts). The
dialect is what both engines agree on: both ends are matched before a relation is made,
missing values are null, columns are scalars.
"""

from collections.abc import Sequence
from functools import cache

from graphstore.schema import (
    GRAPH_LABELS,
    LABELS,
    LABELS_BY_NAME,
    RELATIONS,
    RELATIONS_BY_KEY,
    Property,
)

RelationKey = tuple[str, str, str]

ITEMS = {"Run": "Action", "Decomposition": "Subtask"}
"""The label of a graph's nodes, by the label of the graph."""

_HAS_ITEM = {"Run": "HAS_ACTION", "Decomposition": "HAS_SUBTASK"}


def constraint_statements() -> tuple[str, ...]:
    """One unique constraint on ``id`` for each label."""
    return tuple(
        f"CREATE CONSTRAINT {label.name.lower()}_id IF NOT EXISTS "
        f"FOR (node:{label.name}) REQUIRE node.id IS UNIQUE"
        for label in LABELS
    )


def index_statements() -> tuple[str, ...]:
    """One index for each property that the table wants to be found by."""
    return tuple(
        f"CREATE INDEX {label.name.lower()}_{item.name} IF NOT EXISTS "
        f"FOR (node:{label.name}) ON (node.{item.name})"
        for label in LABELS
        for item in label.all_properties
        if item.indexed
    )


@cache
def create_nodes(label: str) -> str:
    """Makes one node for each of ``$rows``; an id that exists fails."""
    values = ", ".join(
        f"{item.name}: row.{item.name}" for item in LABELS_BY_NAME[label].all_properties
    )
    return f"UNWIND $rows AS row CREATE (node:{label} {{{values}}})"


@cache
def merge_nodes(label: str) -> str:
    """Makes the nodes of ``$rows`` that are new and fills what the others lack."""
    _, name, *others = LABELS_BY_NAME[label].all_properties
    created = ", ".join(f"node.{item.name} = row.{item.name}" for item in (name, *others))
    filled = ", ".join(
        f"node.{item.name} = coalesce(node.{item.name}, row.{item.name})" for item in others
    )
    matched = f" ON MATCH SET {filled}" if filled else ""
    return (
        f"UNWIND $rows AS row MERGE (node:{label} {{id: row.id}}) "
        f"ON CREATE SET {created}{matched}"
    )


@cache
def overwrite_nodes(label: str) -> str:
    """Makes or overwrites one node for each of ``$rows``; what a row lacks is removed."""
    _, *others = LABELS_BY_NAME[label].all_properties
    values = ", ".join(f"node.{item.name} = row.{item.name}" for item in others)
    return f"UNWIND $rows AS row MERGE (node:{label} {{id: row.id}}) SET {values}"


_ENDS = (
    "UNWIND $rows AS row "
    "MATCH (source:{source} {{id: row.source}}) MATCH (target:{target} {{id: row.target}}) "
)


@cache
def create_relations(key: RelationKey) -> str:
    """Makes a relation for each of ``$rows`` whose ends exist; returns their number."""
    type_, source, target = key
    values = ", ".join(
        f"{item.name}: row.{item.name}" for item in RELATIONS_BY_KEY[key].properties
    )
    properties = f" {{{values}}}" if values else ""
    return (
        _ENDS.format(source=source, target=target)
        + f"CREATE (source)-[:{type_}{properties}]->(target) RETURN count(*) AS count"
    )


@cache
def merge_relations(key: RelationKey) -> str:
    """As :func:`create_relations`, but a relation that exists is overwritten."""
    type_, source, target = key
    values = ", ".join(
        f"relation.{item.name} = row.{item.name}" for item in RELATIONS_BY_KEY[key].properties
    )
    assignments = f"SET {values} " if values else ""
    return (
        _ENDS.format(source=source, target=target)
        + f"MERGE (source)-[relation:{type_}]->(target) {assignments}"
        + "RETURN count(*) AS count"
    )


@cache
def existing_ids(label: str) -> str:
    """Returns those of ``$ids`` that nodes of the label have."""
    return f"UNWIND $ids AS id MATCH (node:{label} {{id: id}}) RETURN node.id AS id"


@cache
def delete_nodes(label: str) -> str:
    """Removes the nodes of ``$ids`` with their relations."""
    return f"UNWIND $ids AS id MATCH (node:{label} {{id: id}}) DETACH DELETE node"


@cache
def fingerprints(top: str) -> str:
    """Returns id and fingerprint of those graphs of ``$ids`` that are stored."""
    return (
        f"UNWIND $ids AS id MATCH (graph:{top} {{id: id}}) "
        "RETURN graph.id AS id, graph.fingerprint AS fingerprint"
    )


def _columns(variable: str, properties: Sequence[Property]) -> str:
    return ", ".join(
        f"{variable}.{item.name} AS v{position}" for position, item in enumerate(properties)
    )


def stored_properties(label: str) -> tuple[Property, ...]:
    """The properties of a label that carry information: datetimes repeat an integer."""
    return tuple(
        item for item in LABELS_BY_NAME[label].all_properties if item.type != "datetime"
    )


@cache
def nodes_by_id(label: str) -> str:
    """Returns the nodes of ``$ids``, as :func:`stored_properties` in order."""
    return (
        f"UNWIND $ids AS id MATCH (node:{label} {{id: id}}) "
        f"RETURN {_columns('node', stored_properties(label))}"
    )


def _paths(top: str, node: str) -> dict[str, str]:
    """How each label of a graph is reached from ``graph``, with a name for that node."""
    item = ITEMS[top]
    return {
        "Task": f"(graph)-[:OF_TASK]->({node}:Task)",
        "Method": f"(graph)-[:BY_METHOD]->({node}:Method)",
        "Organization": f"(graph)-[:CONFIGURED_AS]->({node}:Organization)",
        "Unit": f"(graph)-[:CONFIGURED_AS]->(:Organization)-[:HAS_UNIT]->({node}:Unit)",
        "Agent": f"(graph)-[:HAS_AGENT]->({node}:Agent)",
        "Resource": f"(graph)-[:HAS_RESOURCE]->({node}:Resource)",
        "Proposal": f"(graph)-[:HAS_PROPOSAL]->({node}:Proposal)",
        item: f"(graph)-[:{_HAS_ITEM[top]}]->({node}:{item})",
        "Artifact": f"(graph)-[:{_HAS_ITEM[top]}]->(:{item})"
        f"-[:REQUIRES|PRODUCES]->({node}:Artifact)",
    }


@cache
def read_nodes(top: str) -> dict[str, str]:
    """The nodes of the graphs in ``$ids``, by label.

    Each statement returns the graph's id, then :func:`stored_properties` in order.
    """
    texts = {
        top: f"UNWIND $ids AS id MATCH (node:{top} {{id: id}}) "
        f"RETURN id, {_columns('node', stored_properties(top))}"
    }
    for label, path in _paths(top, "node").items():
        # Only an artifact is reached several times.
        distinct = "DISTINCT " if label == "Artifact" else ""
        texts[label] = (
            f"UNWIND $ids AS id MATCH (graph:{top} {{id: id}}) MATCH {path} "
            f"RETURN {distinct}id, {_columns('node', stored_properties(label))}"
        )
    return texts


@cache
def read_relations(top: str) -> dict[RelationKey, str]:
    """The relations of the graphs in ``$ids``, by key.

    Each statement returns the graph's id, source, target and the relation's properties in
    the table's order. Relations that only say what belongs to the graph, or repeat the
    order of its nodes, are left out: :func:`graphstore.records.graph_from_rows` needs none.
    """
    item = ITEMS[top]
    paths = _paths(top, "source")
    wanted = {
        "Agent": ("PLAYS", "PERFORMED", "OFFERED"),
        "Unit": ("MAY_SEND",),
        item: (
            "SENT_TO",
            "INFORMS",
            "PRECEDES",
            "PARENT_OF",
            "COUPLED_WITH",
            "PROPOSES",
            "PRODUCES",
            "REQUIRES",
            "READS",
            "WRITES",
        ),
    }
    other = ITEMS["Decomposition" if top == "Run" else "Run"]
    texts = {}
    for relation in RELATIONS:
        if relation.type in wanted.get(relation.source, ()) and relation.target != other:
            properties = _columns("relation", relation.properties)
            texts[relation.key] = (
                f"UNWIND $ids AS id MATCH (graph:{top} {{id: id}}) "
                f"MATCH {paths[relation.source]} "
                f"MATCH (source)-[relation:{relation.type}]->(target:{relation.target}) "
                "RETURN id, source.id AS source, target.id AS target"
                + (f", {properties}" if properties else "")
            )
    return texts


@cache
def delete_graphs(top: str) -> tuple[str, ...]:
    """Removes the graphs of ``$ids`` with everything of the scope ``graph``, in order.

    Evaluations and claims go too: they say something about the graph as it was.
    """
    paths = _paths(top, "node")
    labels = ("Artifact", "Proposal", "Resource", ITEMS[top], "Agent")
    start = f"UNWIND $ids AS id MATCH (graph:{top} {{id: id}})"
    texts = [
        f"{start} MATCH {paths[label]} WITH DISTINCT node DETACH DELETE node"
        for label in labels
    ]
    if top == "Run":
        texts += [
            f"{start} MATCH (node:{label})-[:OF]->(graph) WITH DISTINCT node DETACH DELETE node"
            for label in ("Evaluation", "Claim")
        ]
    return (*texts, f"{start} DETACH DELETE graph")


SHARED_LABELS = ("Task", "Method", "Organization", "Dataset")
"""What graphs share, in the order in which leftovers are removed."""


@cache
def shared_ids(top: str, label: str) -> str:
    """Returns the ids of the shared nodes that the graphs of ``$ids`` use."""
    path = (
        "(graph)-[:OF_TASK]->(:Task)<-[:HAS_TASK]-(node:Dataset)"
        if label == "Dataset"
        else _paths(top, "node")[label]
    )
    return (
        f"UNWIND $ids AS id MATCH (graph:{top} {{id: id}}) MATCH {path} "
        "RETURN DISTINCT node.id AS id"
    )


@cache
def delete_unused(label: str) -> tuple[str, ...]:
    """Removes those shared nodes of ``$ids`` that nothing uses any more."""
    unused = {
        "Task": "NOT (node)<-[:OF_TASK]-()",
        "Method": "NOT (node)<-[:BY_METHOD]-()",
        "Organization": "NOT (node)<-[:CONFIGURED_AS]-()",
        "Dataset": "NOT (node)-[:HAS_TASK]->()",
    }[label]
    start = f"UNWIND $ids AS id MATCH (node:{label} {{id: id}}) WHERE {unused}"
    texts = [f"{start} DETACH DELETE node"]
    if label == "Organization":
        texts.insert(0, f"{start} MATCH (node)-[:HAS_UNIT]->(unit:Unit) DETACH DELETE unit")
    return tuple(texts)


def select_graphs(
    top: str,
    *,
    dataset: bool = False,
    method: bool = False,
    task: bool = False,
    ids: bool = False,
) -> str:
    """Returns id and node count of the graphs that fit the parameters named below.

    Args:
        top: ``Run`` or ``Decomposition``.
        dataset: Compare the name of the data set.
        method: Compare the name of the method.
        task: Compare name or id of the task.
        ids: Compare the graph's id.
    """
    start = (
        f"UNWIND $ids AS id MATCH (graph:{top} {{id: id}})" if ids else (f"MATCH (graph:{top})")
    )
    parts = [start]
    tests = []
    if dataset or task:
        parts.append("MATCH (graph)-[:OF_TASK]->(task:Task)")
    if dataset:
        tests.append("task.dataset = $dataset")
    if task:
        tests.append("(task.id = $task OR task.name = $task)")
    if method:
        parts.append("MATCH (graph)-[:BY_METHOD]->(method:Method)")
        tests.append("method.name = $method")
    if tests:
        parts.append("WHERE " + " AND ".join(tests))
    parts.append("RETURN DISTINCT graph.id AS id, graph.node_count AS node_count")
    return " ".join(parts)


def count_statements() -> dict[str, str]:
    """One statement for each label and each relation type: how many there are."""
    texts = {
        label.name: f"MATCH (node:{label.name}) RETURN count(node) AS count" for label in LABELS
    }
    for relation in RELATIONS:
        texts[relation.type] = (
            f"MATCH ()-[relation:{relation.type}]->() RETURN count(relation) AS count"
        )
    return texts


def every_statement() -> tuple[str, ...]:
    """All texts that this module can make, for tests of the dialect."""
    texts = [*constraint_statements(), *index_statements(), *count_statements().values()]
    for label in LABELS_BY_NAME:
        texts += [
            create_nodes(label),
            merge_nodes(label),
            overwrite_nodes(label),
            existing_ids(label),
            delete_nodes(label),
            nodes_by_id(label),
        ]
    for key in RELATIONS_BY_KEY:
        texts += [create_relations(key), merge_relations(key)]
    for top in GRAPH_LABELS:
        texts += [fingerprints(top), *read_nodes(top).values(), *read_relations(top).values()]
        texts += delete_graphs(top)
        texts += [shared_ids(top, label) for label in SHARED_LABELS]
        texts += [
            select_graphs(top),
            select_graphs(top, dataset=True, method=True, task=True, ids=True),
        ]
    for label in SHARED_LABELS:
        texts += delete_unused(label)
    return tuple(texts)
