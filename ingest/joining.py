"""Which files belong together: those that share a key, directly or through others."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def groups(files: Sequence[T], keys: Callable[[T], Iterable[str]]) -> list[list[T]]:
    """Puts files into groups by union-find.

    Args:
        files: Files, in order. One alone is not asked for its keys.
        keys: What ties a file to others.

    Returns:
        Groups in the order of their first file, each in the order of ``files``.
    """
    if len(files) < 2:
        return [[file] for file in files]
    parents = list(range(len(files)))

    def root(position: int) -> int:
        while parents[position] != position:
            parents[position] = parents[parents[position]]
            position = parents[position]
        return position

    owners: dict[str, int] = {}
    for position, file in enumerate(files):
        for key in keys(file):
            one, other = root(owners.setdefault(key, position)), root(position)
            parents[max(one, other)] = min(one, other)
    found: dict[int, list[T]] = {}
    for position, file in enumerate(files):
        found.setdefault(root(position), []).append(file)
    return list(found.values())
