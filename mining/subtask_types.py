"""Subtask types: leaves of all tasks that do the same kind of work.

Source: MAC-Bench, section 3.2.1 and appendix F.1, "subtask types". Leaves are pooled, and
each weighs 1 / |leaves of its task|, so that every task has the same say. Runs are typed
likewise by their actions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from graphstore.errors import UsageError
from graphstore.identity import digest
from graphstore.model import CollaborationGraph, GraphKind
from mining.distances import leaf_distances
from mining.embedders import Embedder, make_embedder
from mining.leaves import Leaf, leaves_of
from mining.subtask_type_library import (
    SubtaskType,
    SubtaskTypeConfiguration,
    SubtaskTypes,
    TypedLeaf,
)
from mining.type_selection import Progress, SelectionOptions, TypeChoice, select_types
from mining.workers import Workers

__all__ = [
    "SubtaskType",
    "SubtaskTypeConfiguration",
    "SubtaskTypes",
    "TypeChoice",
    "TypedLeaf",
    "mine_subtask_types",
]


def mine_subtask_types(
    graphs: Iterable[CollaborationGraph],
    configuration: SubtaskTypeConfiguration | None = None,
    *,
    embedder: Embedder | None = None,
    threads: int = 1,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> SubtaskTypes:
    """Finds the types of all leaves of decompositions, or of all actions of runs.

    The order of the graphs does not matter. Several graphs of one task share its weight.
    Without graphs, or without leaves, there are no types.

    Args:
        graphs: Decompositions, or runs.
        configuration: Options; the defaults where None.
        embedder: Makes vectors of texts; by default the one that the configuration names.
        threads: How many starts of a fit run at once; the result does not depend on it.
        workers: Where fits are made; by default in this process. Nor on them.
        progress: Told how many fits are done, and of how many.

    Raises:
        UsageError: Runs and decompositions are mixed, a graph comes twice, there are more
            leaves than ``max_leaves`` or fewer than any candidate asks for, the embedder is
            not the configuration's, or the Dask cluster cannot be used.
        MissingExtraError: The embedder's package, or Dask, is not installed.
    """
    options = configuration or SubtaskTypeConfiguration()
    if embedder is not None and configuration is None:
        options = replace(options, embedder=embedder.name)
    chosen = make_embedder(options.embedder) if embedder is None else embedder
    if chosen.name != options.embedder:
        raise UsageError(
            f"the configuration names the embedder {options.embedder!r}, not {chosen.name!r}"
        )
    scope, leaves = _pool(graphs, options)
    texts = [leaf.text for leaf in leaves]
    fitted = chosen.fit(texts)
    if not leaves:
        return SubtaskTypes(
            configuration=options,
            scope=scope,
            types=(),
            choices=(),
            leaves=(),
            tasks=0,
            hash=digest(options.hash, scope or "", size=8),
            embedder=fitted,
            _labels={},
        )
    import numpy

    names = sorted({leaf.task for leaf in leaves})
    number = {name: place for place, name in enumerate(names)}
    tasks = numpy.array([number[leaf.task] for leaf in leaves])
    weights = 1 / numpy.bincount(tasks)[tasks]
    vectors = fitted.embed(texts) if options.weights.semantic else None
    distances = leaf_distances(leaves, vectors, options.weights, options.position)
    fit, choices = select_types(
        distances,
        weights,
        tasks,
        SelectionOptions(
            candidates=options.candidates,
            chance_weight=options.chance_weight,
            instability_weight=options.instability_weight,
            low_support_weight=options.low_support_weight,
            min_task_support=options.min_task_support,
            refits=options.refits,
            starts=options.starts,
            refit_starts=options.refit_starts,
            solver=options.solver,
            seed=options.seed,
        ),
        threads=threads,
        workers=workers,
        progress=progress,
    )
    own = distances[numpy.arange(len(leaves)), fit.medoids[fit.labels]]
    return _result(options, scope, leaves, weights, fit, own, choices, fitted)


def _pool(
    graphs: Iterable[CollaborationGraph], options: SubtaskTypeConfiguration
) -> tuple[GraphKind | None, list[Leaf]]:
    scope: GraphKind | None = None
    found: dict[str, tuple[Leaf, ...]] = {}
    total = 0
    for graph in graphs:
        if scope is None:
            scope = graph.kind
        elif graph.kind != scope:
            raise UsageError("runs and decompositions cannot be typed together")
        if graph.id in found:
            raise UsageError(f"the graph {graph.id} was given twice")
        found[graph.id] = leaves_of(graph, options.descriptors)
        total += len(found[graph.id])
        if total > options.max_leaves:
            raise UsageError(
                f"there are more leaves than max_leaves = {options.max_leaves}: their "
                f"distances would take more than {4 * options.max_leaves**2 / 1e9:.1f} GB"
            )
    return scope, [leaf for graph in sorted(found) for leaf in found[graph]]


def _result(
    options: SubtaskTypeConfiguration,
    scope: GraphKind | None,
    leaves: Sequence[Leaf],
    weights: Any,
    fit: Any,
    own: Any,
    choices: tuple[TypeChoice, ...],
    embedder: Embedder,
) -> SubtaskTypes:
    configured = options.hash
    corpus = digest(*[leaf.id for leaf in leaves])
    members: list[list[int]] = [[] for _ in fit.medoids]
    for place, label in enumerate(fit.labels.tolist()):
        members[label].append(place)
    types: list[SubtaskType] = []
    for medoid, places in zip(fit.medoids.tolist(), members, strict=True):
        inside = [leaves[place] for place in places]
        weight = float(weights[places].sum())
        types.append(
            SubtaskType(
                id=f"type-{digest(configured, corpus, leaves[medoid].id)}",
                label="",
                medoid=leaves[medoid],
                leaves=len(places),
                weight=weight,
                tasks=tuple(sorted({leaf.task for leaf in inside})),
                inputs=_union(leaf.inputs for leaf in inside),
                outputs=_union(leaf.outputs for leaf in inside),
                reads=_union(leaf.reads for leaf in inside),
                writes=_union(leaf.writes for leaf in inside),
                radius=float((weights[places] * own[places]).sum()) / weight,
            )
        )
    order = sorted(
        range(len(types)),
        key=lambda place: (
            -types[place].task_support,
            -round(types[place].weight, 9),
            place,
        ),
    )
    rank = {old: new for new, old in enumerate(order)}
    named = tuple([replace(types[old], label=f"T{new + 1}") for new, old in enumerate(order)])
    typed = tuple(
        [
            TypedLeaf(leaf.id, leaf.graph, leaf.task, rank[label], float(distance))
            for leaf, label, distance in zip(leaves, fit.labels.tolist(), own, strict=True)
        ]
    )
    lines = [f"{leaf.node} {leaf.type}" for leaf in typed]
    return SubtaskTypes(
        configuration=options,
        scope=scope,
        types=named,
        choices=choices,
        leaves=typed,
        tasks=len({leaf.task for leaf in leaves}),
        hash=digest(configured, scope or "", *lines, size=8),
        embedder=embedder,
        _labels={leaf.node: named[leaf.type].label for leaf in typed},
    )


def _union(descriptors: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({name for names in descriptors for name in names}))
