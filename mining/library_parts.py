"""A library taken apart into the texts that a store keeps, and put together again."""

from collections.abc import Mapping
from typing import Any

import msgspec

from graphstore.errors import InputError
from graphstore.identity import canonical_json
from mining.library import FORMAT, VERSION, Library, load_library

PARTS: tuple[str, ...] = (
    "type",
    "pattern",
    "rule",
    "coarse graph",
    "refinement",
    "category",
    "integration",
    "coupling",
)
"""The kinds of parts that a store keeps as nodes of their own."""


def split_library(library: Library) -> tuple[str, dict[str, list[str]]]:
    """A library as JSON texts: one of what is no part of its own, and one for each part.

    Returns:
        The rest, and the parts by kind (:data:`PARTS`), in order.
    """
    local, structures = library.local, library.structures
    parts: dict[str, tuple[Any, ...]] = {
        "type": local.types,
        "pattern": local.patterns,
        "rule": local.rules,
        "coarse graph": structures.coarse_graphs,
        "refinement": structures.refinements,
        "category": structures.categories,
        "integration": structures.integrations,
        "coupling": structures.couplings,
    }
    rest = {
        "format": FORMAT,
        "version": VERSION,
        "hash": library.hash,
        "configuration": library.configuration,
        "scope": library.scope,
        "tasks": library.tasks,
        "graphs": library.graphs,
        "index": local.index,
        "unindexed": local.unindexed,
        "excluded": structures.excluded,
    }
    return canonical_json(rest), {
        kind: [canonical_json(one) for one in found] for kind, found in parts.items()
    }


def join_library(rest: str, parts: Mapping[str, list[str]]) -> Library:
    """Puts together what :func:`split_library` took apart.

    Args:
        rest: As returned.
        parts: As returned.

    Raises:
        InputError: Something is missing or damaged.
    """
    try:
        fields = msgspec.json.decode(rest, type=dict[str, msgspec.Raw])
        joined = {kind: f"[{','.join(parts.get(kind, []))}]" for kind in PARTS}
        own = {name: bytes(value).decode() for name, value in fields.items()}
        text = (
            f'{{"format":{own["format"]},"version":{own["version"]},"hash":{own["hash"]},'
            f'"library":{{"configuration":{own["configuration"]},"scope":{own["scope"]},'
            f'"tasks":{own["tasks"]},"graphs":{own["graphs"]},'
            f'"local":{{"types":{joined["type"]},"patterns":{joined["pattern"]},'
            f'"index":{own["index"]},"unindexed":{own["unindexed"]},"rules":{joined["rule"]}}},'
            f'"structures":{{"coarse_graphs":{joined["coarse graph"]},'
            f'"refinements":{joined["refinement"]},"integrations":{joined["integration"]},'
            f'"couplings":{joined["coupling"]},"categories":{joined["category"]},'
            f'"excluded":{own["excluded"]}}}}}}}'
        )
    except (msgspec.DecodeError, KeyError):
        raise InputError("the stored library is damaged") from None
    return load_library(text.encode())
