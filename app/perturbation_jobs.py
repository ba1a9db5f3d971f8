"""Perturbation studies and trace suitability over a store; both are kept as reports."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from app.jobs import (
    Progress,
    Selection,
    graph_label_of,
    no_progress,
    nothing_matches,
    runs_of,
)
from app.stored_reports import save_report
from graphstore.errors import UsageError
from graphstore.identity import digest
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.perturbation_study import (
        GraphResponse,
        PerturbationConfiguration,
        PerturbationStudy,
    )
    from analytics.similarity.measure import SimilarityMeasure
    from analytics.suitability import Suitability, SuitabilityConfiguration
    from mining.workers import Workers

PERTURBATION_KIND = "perturbation"
SUITABILITY_KIND = "suitability"
DEFAULT_MEASURES = ("forest", "wl", "motif", "alignment", "edit")
"""Those that need neither another package nor a trained model."""
DEFAULT_LIMIT = 100
"""Graphs of a study, unless told otherwise."""
FEW_GRAPHS = 40
"""Below this many graphs, starting processes costs more than it saves."""
REPORTED_TASKS = 2_000
"""How many tasks a stored report of suitability names; it counts all."""


def perturb_graphs(
    store: GraphStore,
    measures: "Sequence[SimilarityMeasure]",
    configuration: "PerturbationConfiguration | None" = None,
    *,
    kind: GraphKind = "run",
    selection: Selection | None = None,
    limit: int | None = DEFAULT_LIMIT,
    save: bool = True,
    workers: "Workers | None" = None,
    progress: Progress = no_progress,
) -> "PerturbationStudy":
    """Follows what measures and metrics make of edited graphs of a store.

    Args:
        store: Where the graphs are.
        measures: Each of another name; may be empty.
        configuration: Edits, rates, metrics.
        kind: Runs or decompositions; decompositions have no metrics.
        selection: Which of them.
        limit: At most this many graphs, drawn with the configuration's seed; None for all.
            The draw does not depend on the order or number of other graphs.
        save: Whether the result is kept as a report.
        workers: Where it runs; the result does not depend on it.
        progress: Receives the number of graphs done.

    Raises:
        NotFoundError: No graph with nodes matches.
        UsageError: Two measures have one name, or the limit is below 1.
    """
    from analytics.perturbation_study import (
        PerturbationConfiguration,
        check_measures,
        summarize_responses,
    )
    from mining.workers import Workers

    options = configuration or PerturbationConfiguration()
    chosen = selection or Selection()
    check_measures(measures)
    if limit is not None and limit < 1:
        raise UsageError(f"a study needs at least one graph, not {limit}")
    with_nodes = (graph for graph in store.graphs(kind=kind, **asdict(chosen)) if graph.nodes)
    graphs = drawn_graphs(with_nodes, limit, options.seed)
    if not graphs:
        raise nothing_matches(f"{kind} with nodes")
    # The dearest first, so that no process is left alone with one at the end.
    graphs.sort(key=lambda graph: (-len(graph.nodes), graph.id))
    responses = (workers or Workers(None)).map(
        _respond,
        (tuple(measures), options),
        graphs,
        lambda done, total: progress(done, total, ""),
        large=len(graphs) >= FEW_GRAPHS,
    )
    study = summarize_responses(responses, measures, options)
    if save:
        label = graph_label_of(kind).lower()
        save_report(
            store,
            PERTURBATION_KIND,
            f"Perturbation of {len(graphs):,} {label}s",
            {**study.configuration, "kind": kind, "limit": limit},
            study.to_dict(),
            selection=chosen,
            runs=len(graphs),
        )
    return study


def _respond(
    shared: "tuple[tuple[SimilarityMeasure, ...], PerturbationConfiguration]",
    graph: CollaborationGraph,
) -> "GraphResponse":
    from analytics.perturbation_study import graph_response

    return graph_response(graph, *shared)


def drawn_graphs(
    graphs: Iterator[CollaborationGraph], limit: int | None, seed: int
) -> list[CollaborationGraph]:
    """At most so many of the graphs, chosen by a hash of seed and id; in order of ids.

    Args:
        graphs: Taken one by one; no more than ``limit`` are kept.
        limit: How many; None for all.
        seed: Another one draws others.
    """
    if limit is None:
        return sorted(graphs, key=lambda graph: graph.id)
    ranked = ((digest(str(seed), graph.id), graph) for graph in graphs)
    chosen = heapq.nsmallest(limit, ranked, key=lambda pair: pair[0])
    return sorted([graph for _, graph in chosen], key=lambda graph: graph.id)


def assess_suitability(
    store: GraphStore,
    configuration: "SuitabilityConfiguration | None" = None,
    *,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "Suitability":
    """Depth, width and gain of a store's tasks, beside thresholds.

    Args:
        store: Where the runs are.
        configuration: Thresholds.
        selection: Which runs.
        save: Whether the result is kept as a report, with the first 2,000 tasks.
        progress: Receives the number of runs done.

    Raises:
        NotFoundError: No run matches.
    """
    from analytics.suitability import SuitabilityConfiguration, assess_tasks

    options = configuration or SuitabilityConfiguration()
    chosen = selection or Selection()
    total = store.counts().get("Run", 0)

    def counted() -> Iterator[CollaborationGraph]:
        for done, graph in enumerate(runs_of(store, chosen), start=1):
            yield graph
            progress(done, total, "")

    result = assess_tasks(counted(), options)
    if not result.runs:
        raise nothing_matches()
    if save:
        document = result.to_dict()
        tasks = document["tasks"]
        document["tasks"] = tasks[:REPORTED_TASKS]
        document["tasks_left_out"] = len(tasks) - len(document["tasks"])
        save_report(
            store,
            SUITABILITY_KIND,
            f"Suitability of {len(tasks):,} tasks",
            options,
            document,
            selection=chosen,
            runs=result.runs,
        )
    return result
