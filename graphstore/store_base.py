"""What both stores do alike, however they reach their engine."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Self, TypeVar

from graphstore import operations
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import CollaborationGraph, GraphKind

Result = TypeVar("Result")


class StoreBase(ABC):
    """Reads whole graphs with statements that both engines take."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Where it is, without a password."""

    @abstractmethod
    def close(self) -> None:
        """Releases the file or the connection. Closing twice is fine."""

    @abstractmethod
    def _reading(self, work: Callable[[operations.Runner], Result]) -> Result:
        """Does what only reads."""

    def read(self, graph_id: str) -> CollaborationGraph:
        """The graph that was written, every field.

        Raises:
            NotFoundError: No graph has that id.
        """
        for graph in self._reading_group([graph_id]):
            return graph
        raise NotFoundError(f"no graph has the id {graph_id!r} in {self.url}")

    def graphs(
        self,
        *,
        kind: GraphKind | None = None,
        dataset: str | None = None,
        method: str | None = None,
        task: str | None = None,
        ids: Sequence[str] | None = None,
    ) -> Iterator[CollaborationGraph]:
        """Streams graphs in the order of their ids; see :class:`GraphStore`."""
        groups = self._reading(
            lambda run: list(
                operations.select_ids(
                    run, kind=kind, dataset=dataset, method=method, task=task, ids=ids
                )
            )
        )
        for group in groups:
            yield from self._reading_group(group)

    def counts(self) -> dict[str, int]:
        """Number of nodes of each label and of relations of each type that occur."""
        return self._reading(operations.count_all)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _reading_group(self, ids: list[str]) -> list[CollaborationGraph]:
        return self._reading(lambda run: operations.read_graphs(run, ids))


def check_limits(timeout: float, row_limit: int) -> None:
    """Looks at the limits of a query.

    Raises:
        UsageError: The time is no finite number above 0, or the number of rows is negative.
    """
    if not (timeout > 0 and math.isfinite(timeout)):
        raise UsageError(f"a time limit is a number of seconds above 0, not {timeout}")
    if row_limit < 0:
        raise UsageError(f"a row limit is 0 or more, not {row_limit}")
