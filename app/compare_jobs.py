"""Comparisons over a store: methods on common tasks."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from app.jobs import Progress, Selection, no_progress
from app.stored_reports import save_report
from graphstore.errors import NotFoundError, UsageError
from graphstore.listed import listed
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.compare_configuration import ComparisonConfiguration
    from analytics.compare_result import MethodComparison

REPORT_KIND = "comparison"


def compare_methods(
    store: GraphStore,
    methods: Sequence[str] | str | None = None,
    configuration: "ComparisonConfiguration | None" = None,
    *,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "MethodComparison":
    """Compares methods of a store on the tasks that they share.

    Args:
        store: Where the runs are.
        methods: Names, or one; all methods of the selection where None.
        configuration: Options.
        selection: Which data set and task.
        save: Whether the result is kept as a report.
        progress: Receives the number of runs done.

    Raises:
        NotFoundError: A method has no run.
        UsageError: Fewer than two methods are there.
    """
    from analytics import compare
    from analytics.compare_configuration import ComparisonConfiguration

    options = configuration or ComparisonConfiguration()
    methods = listed(methods) if methods else None
    chosen = selection or Selection()
    if chosen.method is not None:
        raise UsageError("a comparison takes its methods by name, not by a selection of one")
    total = store.counts().get("Run", 0)
    names: Sequence[str | None] = [None]
    if methods:
        names = list(dict.fromkeys((*methods, *_given(options.reference))))
    runs = []
    done = 0
    for name in names:
        for graph in store.graphs(
            kind="run", method=name, dataset=chosen.dataset, task=chosen.task
        ):
            done += 1
            progress(done, total, name or "")
            run = compare.compared_run(graph, options)
            if run is not None:
                runs.append(run)
    result = compare.compare_methods(runs, methods, options)
    if save:
        title = " and ".join(one.method for one in result.methods)
        if len(result.methods) > 3:
            title = f"{len(result.methods)} methods"
        save_report(
            store,
            REPORT_KIND,
            f"Comparison of {title}",
            {**asdict(options), "methods": [one.method for one in result.methods]},
            result.to_dict(),
            selection=chosen,
            runs=sum(one.runs for one in result.methods),
        )
    return result


def run_named(store: GraphStore, name: str) -> CollaborationGraph | None:
    """The run with that id; None where there is none."""
    return next(iter(store.graphs(kind="run", ids=[name])), None)


def runs_or_methods(
    store: GraphStore, names: Sequence[str]
) -> tuple[CollaborationGraph, CollaborationGraph] | None:
    """The two runs that names mean, None where they mean methods.

    Args:
        store: Where they are.
        names: Ids of runs, or names of methods.

    Raises:
        NotFoundError: A name is neither, or of a method without runs, or some are runs and
            others are not.
        UsageError: More than two runs.
    """
    found = {name: run_named(store, name) for name in dict.fromkeys(names)}
    runs = [run for run in found.values() if run is not None]
    if not runs:
        without = [name for name in found if not _has_graphs(store, name, "run")]
        unknown = [name for name in without if not _has_graphs(store, name, "decomposition")]
        if unknown:
            raise NotFoundError(
                f"neither a run nor a method is called {' or '.join(map(repr, unknown))}: see "
                "the methods with  masgraph query outcomes-by-method, the runs of a task with  "
                "masgraph query runs-of-a-task"
            )
        if without:
            raise NotFoundError(
                f"{' and '.join(map(repr, without))} made decompositions only, and a "
                "comparison takes methods that have runs: see them with  "
                "masgraph query outcomes-by-method"
            )
        return None
    if len(runs) < len(found):
        others = [name for name, run in found.items() if run is None]
        raise NotFoundError(
            f"{runs[0].id} is a run, but {', '.join(others)} is none: "
            "compare two runs by id, or methods by name"
        )
    if len(names) != 2:
        raise UsageError(f"an alignment takes two runs, not {len(names)}")
    first, second = (found[name] for name in names)
    assert first is not None
    assert second is not None
    return first, second


def _has_graphs(store: GraphStore, method: str, kind: GraphKind) -> bool:
    return any(True for _ in store.graphs(kind=kind, method=method))


def _given(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)
