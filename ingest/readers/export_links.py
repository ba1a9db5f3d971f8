"""The node-link JSON of networkx, taken as it stands.

An export lists each node once and its edges in networkx's own order. Then the document says
all that the graph that networkx makes of it would say, and no such graph has to be made.
"""

from dataclasses import dataclass
from typing import Any

from graphstore.exchange_xml import EXACT

_UNUSUAL = frozenset({"node_for_adding", "self", "u_for_edge", "v_for_edge", EXACT})
"""Attributes that networkx refuses, or that stand for others."""


@dataclass(frozen=True, slots=True)
class NodeLinks:
    """What is asked of a graph of networkx; made by :func:`node_links`."""

    _nodes: list[dict[str, Any]]
    _edges: list[dict[str, Any]]

    def nodes(self, data: bool = True) -> list[tuple[str, dict[str, Any]]]:  # noqa: ARG002
        """Each node's id and attributes, the id among them."""
        return [(node["id"], node) for node in self._nodes]

    def edges(
        self,
        data: bool = True,  # noqa: ARG002
        keys: bool = True,  # noqa: ARG002
    ) -> list[tuple[str, str, str, dict[str, Any]]]:
        """Each edge's source, target, key and attributes, the first three among them."""
        return [(edge["source"], edge["target"], edge["key"], edge) for edge in self._edges]


def node_links(value: dict[str, Any]) -> NodeLinks | None:
    """The graph of a document; None where networkx would make something else of it.

    Args:
        value: The decoded document.
    """
    nodes, edges = value.get("nodes"), value.get("edges")
    if value.get("directed") is not True or value.get("multigraph") is not True:
        return None
    if not isinstance(nodes, list) or not isinstance(edges, list):
        return None
    places = _places(nodes)
    if places is None or not _in_order(edges, places):
        return None
    return NodeLinks(nodes, edges)


def _places(nodes: list[Any]) -> dict[str, int] | None:
    """Where each node stands; None where one is no plain node, or stands twice."""
    places: dict[str, int] = {}
    for place, node in enumerate(nodes):
        if not isinstance(node, dict) or not _UNUSUAL.isdisjoint(node):
            return None
        id = node.get("id")
        if not isinstance(id, str):
            return None
        places[id] = place
    return places if len(places) == len(nodes) else None


def _in_order(edges: list[Any], places: dict[str, int]) -> bool:
    """Whether all are plain edges, once each, by source and those of one pair together."""
    last = -1
    target_before: str | None = None
    targets: set[str] = set()
    keys: set[str] = set()
    for edge in edges:
        if not isinstance(edge, dict) or not _UNUSUAL.isdisjoint(edge):
            return False
        source, target, key = edge.get("source"), edge.get("target"), edge.get("key")
        if not (isinstance(source, str) and isinstance(target, str) and isinstance(key, str)):
            return False
        place = places.get(source, -1)
        if place < last or place < 0 or target not in places:
            return False
        if place != last:
            last, target_before = place, None
            targets.clear()
        if target != target_before:
            if target in targets:
                return False
            targets.add(target)
            target_before = target
            keys.clear()
        if key in keys:
            return False
        keys.add(key)
    return True
