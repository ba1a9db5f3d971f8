"""The driver's values as Python's own: what the embedded store gives for the same query."""

import math
from datetime import UTC
from typing import Any

import neo4j.graph
import neo4j.spatial
import neo4j.time

_LATITUDE_FIRST = (4326, 4979)
"""Reference systems of points on the earth."""


def plain(value: Any) -> Any:
    """A value of a query's answer without the driver's types.

    Args:
        value: Whatever the driver returned.

    Returns:
        Scalars, lists and maps, their keys in order. Nodes and relations become their
        property maps, paths maps of ``nodes`` and ``relationships``, times Python's own in
        microseconds, datetimes with a zone UTC, durations ISO 8601 texts, points maps. What
        is no number (NaN, infinity) is missing, as it is in the embedded engine.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in sorted(value.items())}
    if isinstance(value, neo4j.graph.Node | neo4j.graph.Relationship):
        return {name: plain(item) for name, item in sorted(value.items())}
    if isinstance(value, neo4j.graph.Path):
        return {
            "nodes": [plain(node) for node in value.nodes],
            "relationships": [plain(relation) for relation in value.relationships],
        }
    if isinstance(value, neo4j.time.DateTime):
        native = value.to_native()
        return native if native.tzinfo is None else native.astimezone(UTC)
    if isinstance(value, neo4j.time.Date | neo4j.time.Time):
        return value.to_native()
    if isinstance(value, neo4j.time.Duration):
        return value.iso_format()
    if isinstance(value, neo4j.spatial.Point):
        return _point(value)
    return value


def _point(value: neo4j.spatial.Point) -> dict[str, float]:
    names = ("longitude", "latitude", "height") if value.srid in _LATITUDE_FIRST else "xyz"
    return dict(sorted(zip(names, value, strict=False)))
