"""What a group is for: its category, by stated rules.

Source: MAC-Bench, appendix F.1 (category indexing and library outputs). The paper names four
functions and says that deterministic rules over objectives, decomposition and boundary
connections give them, with one example; these are the rules here. A group's *suppliers* and
*users* are the other children of its parent that it depends on, and that depend on it.

1. ``deliver``: it is a child of the root, has suppliers and no users; and it has at least
   two suppliers, or no other child of the root has suppliers and no users.
2. ``integrate``: it has at least two suppliers.
3. ``foundation``: it has no suppliers and at least two users.
4. A group without suppliers and users that has words of one of the lists in its objective
   gets that list's category: the one whose word comes first. ``deliver`` only for children
   of the root.
5. ``capability``: it has a supplier or a user, or there is a result of its own: an output,
   or a write to a resource, of any node in it.
6. Otherwise none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mining.boundaries import Contents
from mining.coarse_graphs import CoarseGraph

FOUNDATION, CAPABILITY, INTEGRATE, DELIVER = "foundation", "capability", "integrate", "deliver"
CATEGORIES: tuple[str, ...] = (FOUNDATION, CAPABILITY, INTEGRATE, DELIVER)

DEFAULT_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        FOUNDATION,
        ("bootstrap", "configure", "initialize", "install", "prepare", "provision", "scaffold",
         "setup"),
    ),
    (
        INTEGRATE,
        ("aggregate", "assemble", "combine", "consolidate", "integrate", "merge", "reconcile",
         "synthesize"),
    ),
    (DELIVER, ("deliver", "deploy", "finalize", "publish", "release", "submit")),
)  # fmt: skip
"""Words that say what a group is for where its relations do not."""

_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Relations:
    """A group among the children of its parent.

    Attributes:
        suppliers: Number of others that it depends on.
        users: Number of others that depend on it.
        at_root: Whether its parent is the root.
        only_end: Whether it alone of them has suppliers and no users.
    """

    suppliers: int
    users: int
    at_root: bool
    only_end: bool


def categorize(
    relations: Relations, objective: str, has_result: bool, words: Mapping[str, str]
) -> str | None:
    """The category of a group, by the rules of this module.

    Args:
        relations: Among its siblings.
        objective: Its name and objective.
        has_result: Whether any node in it has an output or writes to a resource.
        words: The category that each word speaks for.
    """
    suppliers, users = relations.suppliers, relations.users
    if relations.at_root and suppliers and not users and (suppliers > 1 or relations.only_end):
        return DELIVER
    if suppliers > 1:
        return INTEGRATE
    if not suppliers and users > 1:
        return FOUNDATION
    if not suppliers and not users:
        for word in _WORD.findall(objective.lower()):
            category = words.get(word)
            if category is not None and (category != DELIVER or relations.at_root):
                return category
    if suppliers or users or has_result:
        return CAPABILITY
    return None


def categories_of(
    contents: Contents, coarse: Mapping[int, CoarseGraph], words: Mapping[str, str]
) -> dict[int, str | None]:
    """The category of every node below the root, leaves too.

    Args:
        contents: The graph.
        coarse: Its coarse graphs by node, the root's too.
        words: As in :func:`categorize`.
    """
    results = _results(contents)
    found: dict[int, str | None] = {}
    for parent, graph in coarse.items():
        size = len(graph.groups)
        suppliers: list[set[int]] = [set() for _ in range(size)]
        users: list[set[int]] = [set() for _ in range(size)]
        for edge in graph.dependencies:
            suppliers[edge.target].add(edge.source)
            users[edge.source].add(edge.target)
        ends = sum(
            bool(gets) and not gives for gets, gives in zip(suppliers, users, strict=True)
        )
        for place, group in enumerate(graph.groups):
            found[group.node] = categorize(
                Relations(
                    suppliers=len(suppliers[place]),
                    users=len(users[place]),
                    at_root=parent == contents.tree.root,
                    only_end=ends == 1,
                ),
                f"{group.name} {group.objective or ''}",
                group.node in results,
                words,
            )
    return found


def with_categories(graph: CoarseGraph, categories: Mapping[int, str | None]) -> CoarseGraph:
    """The same coarse graph with the categories of its groups and of its own node."""
    return replace(
        graph,
        category=None if graph.node is None else categories[graph.node],
        groups=tuple(
            [replace(group, category=categories[group.node]) for group in graph.groups]
        ),
    )


def _results(contents: Contents) -> set[int]:
    """Nodes that have an output or a write in them."""
    found: set[int] = set()
    for node in contents.graph.nodes:
        if node.outputs or any(access.mode == "write" for access in node.accesses):
            found.update(contents.tree.paths[node.index])
    return found
