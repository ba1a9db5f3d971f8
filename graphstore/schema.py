"""Labels, relations, keys, constraints and indexes: the one table that stores are built from.

A property's name is the model's field name wherever the model has one. Maps are kept as
JSON text (type ``json``), because neither engine agrees with the other on nested values.
Every label has a unique ``id`` and, since an engine makes one up where it is unset, a
``name``. For the same reason no property is called ``type``, ``title`` or ``label``.
"""

from graphstore import schema_graphs, schema_mined, schema_results
from graphstore.schema_parts import NodeLabel, Property, PropertyType, Relation

__all__ = [
    "GRAPH_LABELS",
    "LABELS",
    "LABELS_BY_NAME",
    "RELATIONS",
    "RELATIONS_BY_KEY",
    "NodeLabel",
    "Property",
    "PropertyType",
    "Relation",
]

LABELS: tuple[NodeLabel, ...] = (
    *schema_graphs.LABELS,
    *schema_mined.LABELS,
    *schema_results.LABELS,
)
RELATIONS: tuple[Relation, ...] = (
    *schema_graphs.RELATIONS,
    *schema_mined.RELATIONS,
    *schema_results.RELATIONS,
)

LABELS_BY_NAME: dict[str, NodeLabel] = {label.name: label for label in LABELS}
RELATIONS_BY_KEY: dict[tuple[str, str, str], Relation] = {
    relation.key: relation for relation in RELATIONS
}
GRAPH_LABELS: tuple[str, ...] = ("Run", "Decomposition")
"""The labels that stand for a whole graph."""
