"""Whose successes a forest holds: what is pooled, and to which pools a graph belongs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from graphstore.errors import UsageError
from graphstore.listed import listed
from graphstore.model import CollaborationGraph

Level = Literal["task", "category", "dataset", "method", "all", "decomposition"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""What a forest pools. A run is scored against the first of these that there is."""
DEFAULT_LEVELS: tuple[Level, ...] = ("task", "category", "dataset", "method")


@dataclass(frozen=True, order=True)
class ForestKey:
    """Whose successes a forest holds.

    Attributes:
        level: What is pooled.
        name: For people: of the task, category, data set or method.
        dataset: Name of the data set, at the levels ``category`` and ``dataset``.
        category: At the level ``category``.
        task: Id of the task, at the levels ``task`` and ``decomposition``.
        method: Id of the method, at the level ``method``.
    """

    level: Level
    name: str
    dataset: str | None = None
    category: str | None = None
    task: str | None = None
    method: str | None = None

    @property
    def identity(self) -> tuple[str, ...]:
        """What two keys of one forest share, whatever it is called."""
        parts = (self.level, self.dataset, self.category, self.task, self.method)
        return tuple([part or "" for part in parts])


def keys_of(graph: CollaborationGraph, levels: Iterable[Level]) -> dict[Level, ForestKey]:
    """The forests that a graph belongs to, or is compared with, by level.

    A level for which the graph lacks what is pooled (a run without a method) has none.

    Args:
        graph: A run, or at the level ``decomposition`` also a decomposition.
        levels: Which ones.
    """
    task, method = graph.task, graph.method
    keys: dict[Level, ForestKey | None] = {
        "task": ForestKey("task", task.name, task=task.id),
        "category": (
            None
            if task.category is None
            else ForestKey("category", task.category, task.dataset, task.category)
        ),
        "dataset": (
            None if task.dataset is None else ForestKey("dataset", task.dataset, task.dataset)
        ),
        "method": (
            None if method is None else ForestKey("method", method.name, method=method.id)
        ),
        "all": ForestKey("all", "all"),
        "decomposition": ForestKey("decomposition", task.name, task=task.id),
    }
    return {level: key for level in levels if (key := keys[level]) is not None}


def identity_at(graph: CollaborationGraph, level: Level) -> tuple[str, ...] | None:
    """:attr:`ForestKey.identity` of a graph at one level; None where it has no such key."""
    task, method = graph.task, graph.method
    if level in ("task", "decomposition"):
        return (level, "", "", task.id, "")
    if level == "category" and task.category is not None:
        return (level, task.dataset or "", task.category, "", "")
    if level == "dataset" and task.dataset is not None:
        return (level, task.dataset, "", "", "")
    if level == "method" and method is not None:
        return (level, "", "", "", method.id)
    return (level, "", "", "", "") if level == "all" else None


def checked_levels(levels: Iterable[str] | str | None) -> tuple[Level, ...]:
    """Levels in the order in which they are tried; all where None.

    Raises:
        UsageError: There is no such level.
    """
    wanted = set[str](LEVELS if levels is None else listed(levels))
    unknown = sorted(wanted - set(LEVELS))
    if unknown:
        raise UsageError(f"there is no level {unknown[0]!r}; choose among {', '.join(LEVELS)}")
    return tuple(level for level in LEVELS if level in wanted)
