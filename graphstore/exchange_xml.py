"""The XML forms of graphs, GraphML and GEXF: what XML cannot hold, and how it comes back."""

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from graphstore.errors import InputError

if TYPE_CHECKING:
    import networkx

EXACT = "masgraph_exact"
"""The attribute of XML forms that holds texts which XML cannot, as JSON in ASCII."""

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""


def write_xml(graph: "networkx.MultiDiGraph[str]", path: Path, format: str) -> None:
    """Writes GraphML or GEXF.

    XML forms take scalars only: lists go as JSON text, datetimes as ISO text. A text that
    XML cannot hold goes with U+FFFD for what it cannot, and whole under :data:`EXACT`.

    Args:
        graph: As :func:`graphstore.exchange.to_networkx` makes it; it is not changed.
        path: The file.
        format: ``graphml`` or ``gexf``.
    """
    import networkx

    plain = graph.copy()
    for _, attributes in plain.nodes(data=True):
        attributes.update(_scalars(attributes))
    for _, _, attributes in plain.edges(data=True):
        attributes.update(_scalars(attributes))
    if format == "graphml":
        # A reader of XML takes a bare carriage return for a line end (XML 1.0, section 2.11).
        made = io.BytesIO()
        networkx.write_graphml(plain, made, named_key_ids=True)
        path.write_bytes(made.getvalue().replace(b"\r", b"&#13;"))
    else:
        for node, attributes in plain.nodes(data=True):
            attributes["label"] = attributes["label"] or node
        for _, _, relation, attributes in plain.edges(data=True, keys=True):
            # GEXF has a meaning of its own for an edge's type.
            attributes["relation"] = relation
        networkx.write_gexf(plain, path)


def _scalars(attributes: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    exact: dict[str, str] = {}
    for name, value in attributes.items():
        if isinstance(value, list):
            text = msgspec.json.encode(value).decode()
            changed[name] = json.dumps(value) if _NOT_XML.search(text) else text
        elif hasattr(value, "isoformat"):
            changed[name] = value.isoformat()
        elif isinstance(value, str) and _NOT_XML.search(value):
            exact[name] = value
            changed[name] = _NOT_XML.sub("\ufffd", value)
    if exact:
        changed[EXACT] = json.dumps(exact)
    return changed


def exact_texts(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes with the texts that XML cannot hold, where nobody changed them since.

    Raises:
        InputError: ``masgraph_exact`` holds something else.
    """
    try:
        held = msgspec.json.decode(attributes.pop(EXACT, None) or "{}", type=dict[str, str])
    except (msgspec.DecodeError, TypeError):
        raise InputError(f"the attribute {EXACT} does not hold texts by name") from None
    for name, text in held.items():
        if attributes.get(name) == _NOT_XML.sub("\ufffd", text):
            attributes[name] = text
    return attributes
