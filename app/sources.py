"""What a notebook may hand to a job: an open store, the path of one, or graphs alone."""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from app.notebook import Source, need_source
from graphstore.errors import StoreError, UsageError
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.store import GraphStore, open_store

_Options = ParamSpec("_Options")
_Result = TypeVar("_Result")


class GraphsAlone:
    """Graphs in memory, read as those of a store are: what a job that keeps nothing asks for.

    Args:
        graphs: Runs and decompositions.

    Raises:
        UsageError: One of them is something else.
    """

    def __init__(self, graphs: Iterable[CollaborationGraph]) -> None:
        found = tuple(graphs)
        need_source(found)
        self._graphs = tuple(sorted(found, key=lambda graph: graph.id))

    def graphs(
        self,
        *,
        kind: GraphKind | None = None,
        dataset: str | None = None,
        method: str | None = None,
        task: str | None = None,
        ids: Sequence[str] | None = None,
    ) -> Iterator[CollaborationGraph]:
        """The graphs that fit, in the order of their ids; see :class:`GraphStore`."""
        wanted = None if ids is None else frozenset(ids)
        for graph in self._graphs:
            if (
                kind in (None, graph.kind)
                and dataset in (None, graph.task.dataset)
                and (method is None or (graph.method and graph.method.name == method))
                and task in (None, graph.task.id, graph.task.name)
                and (wanted is None or graph.id in wanted)
            ):
                yield graph

    def counts(self) -> dict[str, int]:
        """Number of runs and of decompositions, where there are any."""
        runs = sum(graph.kind == "run" for graph in self._graphs)
        found = {"Run": runs, "Decomposition": len(self._graphs) - runs}
        return {label: count for label, count in found.items() if count}


def from_any_source(
    job: Callable[Concatenate[GraphStore, _Options], _Result], *, without: bool = False
) -> Callable[Concatenate[Source, _Options], _Result]:
    """A job that takes what a notebook has at hand in the place of the store.

    An open store is used as it is, and the job's report is kept there unless ``save=False``.
    A path or URL is opened for reading, and graphs are taken alone: nothing is kept, unless
    ``save=True`` opens the path for writing.

    Args:
        job: Its first argument is a store; it has an option ``save``, which is on by default.
        without: Whether None, for no store, is fine with the job.
    """
    run = cast("Callable[..., _Result]", job)

    @functools.wraps(job)
    def taking(store: Source, *arguments: Any, **options: Any) -> _Result:
        save = options.pop("save", None)
        if isinstance(store, (str, Path)):
            if save:
                _need_file(str(store))
            with open_store(str(store), read_only=not save) as opened:
                return run(opened, *arguments, **options, save=bool(save))
        if isinstance(store, Iterable):
            if save:
                raise UsageError("graphs without a store keep no report: leave out save=True")
            return run(GraphsAlone(store), *arguments, **options, save=False)
        if not (without and store is None):
            need_source(store)
        keep = save is None or bool(save)
        if keep and store is not None and store.read_only:
            raise StoreError(
                f"the store {store.url} was opened read-only, and the report is kept there "
                "unless you say save=False"
            )
        return run(store, *arguments, **options, save=keep)

    taking.__doc__ = f"{job.__doc__}\n    {_FORMS}\n"
    return cast("Callable[Concatenate[Source, _Options], _Result]", taking)


_FORMS = (
    "The store may also be its path or URL, or graphs alone: then nothing is kept, unless\n"
    "    a path comes with ``save=True``. A store that was opened read-only needs\n"
    "    ``save=False``."
)


def _need_file(address: str) -> None:
    """Refuses to make a new, empty store where a job is to read one."""
    if "://" not in address and not Path(address).exists():
        with open_store(address, read_only=True):
            pass
