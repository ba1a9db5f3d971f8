"""What a schema is made of: properties, labels and relations."""

from dataclasses import dataclass
from typing import Literal

PropertyType = Literal["string", "integer", "float", "boolean", "strings", "json", "datetime"]
Scope = Literal["graph", "shared", "organization", "mined", "result"]


@dataclass(frozen=True)
class Property:
    """A property of a node or relation.

    Attributes:
        name: The name in the store.
        type: ``strings`` is a list of texts, ``json`` a JSON text, ``datetime`` a UTC
            datetime in microseconds kept beside the exact integer of nanoseconds.
        indexed: Whether look-ups by it are made fast.
    """

    name: str
    type: PropertyType = "string"
    indexed: bool = False


@dataclass(frozen=True)
class NodeLabel:
    """A label.

    Attributes:
        name: As in Cypher.
        scope: ``graph``: belongs to one run or decomposition and goes with it; ``shared``:
            many graphs point to it, missing properties are filled in later; ``organization``:
            never changes, its id is its hash; ``mined`` and ``result``: made by jobs.
        properties: Without ``id`` and ``name``, which every label has.
        meaning: One sentence for the documentation.
    """

    name: str
    scope: Scope
    meaning: str
    properties: tuple[Property, ...] = ()

    @property
    def all_properties(self) -> tuple[Property, ...]:
        """Properties with ``id`` and ``name``."""
        return (Property("id"), Property("name", indexed=True), *self.properties)


@dataclass(frozen=True)
class Relation:
    """A relation type between two labels. At most one of a type joins one pair of nodes.

    Attributes:
        type: As in Cypher.
        source: Label at the start.
        target: Label at the end.
        scope: As for labels: what it belongs to.
        properties: Its properties.
        meaning: One sentence for the documentation.
    """

    type: str
    source: str
    target: str
    scope: Scope
    meaning: str
    properties: tuple[Property, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Type, source label and target label: what rows are grouped by."""
        return (self.type, self.source, self.target)
