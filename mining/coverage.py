"""Held-out coverage: how much of unseen tasks the mined patterns and rules already know.

Source: MAC-Bench, appendix E.1 (cross-task structure reuse) and G.3.3 (held-out structure
reuse). Tasks are divided by source; nested subsets of one side are mined; an occurrence in a
held-out task is covered when the library holds its pattern or rule. Fractions are taken within
a task and averaged over tasks.
"""

from collections.abc import Iterable
from dataclasses import replace

from graphstore.errors import UsageError
from graphstore.model import CollaborationGraph, GraphKind
from mining.coverage_counts import (
    LEARNED,
    CoverageConfiguration,
    CoverageCorpus,
    TaskCounts,
    count_subset,
)
from mining.coverage_result import Coverage, LeftOutTask, LibraryCoverage
from mining.coverage_splits import (
    CoverageTask,
    Split,
    coverage_tasks,
    nested_subsets,
    split_tasks,
)
from mining.leaves import leaves_of
from mining.motifs import DEFAULT_LABELS
from mining.workers import Progress, Workers

__all__ = [
    "Coverage",
    "CoverageConfiguration",
    "CoverageTask",
    "LeftOutTask",
    "LibraryCoverage",
    "Split",
    "TaskCounts",
    "measure_coverage",
]

_SHARES = (10, 25, 50, 75, 100)


def measure_coverage(
    graphs: Iterable[CollaborationGraph],
    configuration: CoverageConfiguration | None = None,
    *,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Coverage:
    """Mines nested subsets of some tasks, and measures what they cover of the others.

    The order of the graphs does not matter, nor do the workers. Graphs of one task are
    counted together.

    Args:
        graphs: Decompositions, or runs.
        configuration: Options; the defaults where None.
        workers: Where subsets are mined; by default in this process.
        progress: Told how many libraries are done, and of how many.

    Raises:
        UsageError: Runs and decompositions are mixed, a graph comes twice, one side of the
            split would be empty, a size is above the number of tasks to mine, or the Dask
            cluster cannot be used.
        NotFoundError: A source to hold out does not exist.
        MissingExtraError: An embedder or Dask is not installed.
    """
    options = configuration or CoverageConfiguration()
    scope, found = _checked(graphs)
    if options.labels is None:
        chosen = LEARNED if scope == "decomposition" else DEFAULT_LABELS[scope]
        options = replace(options, labels=chosen)
    tasks = coverage_tasks(found.values(), options.level, options.same_text)
    tasks, left_out = _large_enough(tasks, found, options.min_nodes)
    if not tasks:
        raise UsageError(
            f"no task has {options.min_nodes} leaves or more: there is nothing to cover"
        )
    split = split_tasks(tasks, options.held_out, options.seed, options.held_out_sources)
    sizes = options.sizes or _default_sizes(len(split.mining))
    sequences = nested_subsets(split.mining, sizes, options.sequences, options.seed)
    used: dict[tuple[str, ...], list[int]] = {}
    for number, sequence in enumerate(sequences):
        for subset in sequence:
            used.setdefault(subset, []).append(number)
    # The dearest first: workers that are done early then get the cheap ones.
    subsets = sorted(used, key=lambda subset: (-len(subset), subset))
    corpus = CoverageCorpus(
        options,
        scope,
        {task.id: tuple([found[name] for name in task.graphs]) for task in split.mining},
        {task.id: tuple([found[name] for name in task.graphs]) for task in split.held_out},
    )
    counted = (workers or Workers()).map(count_subset, corpus, subsets, progress)
    libraries = [
        LibraryCoverage(
            size=len(subset),
            sequences=tuple(used[subset]),
            mined=subset,
            types=one.types,
            patterns=one.patterns,
            rules=one.rules,
            skipped=one.skipped,
            tasks=one.tasks,
        )
        for subset, one in zip(subsets, counted, strict=True)
    ]
    libraries.sort(key=lambda library: (library.size, library.sequences))
    return Coverage(options, scope, split, tuple(libraries), left_out)


def _checked(
    graphs: Iterable[CollaborationGraph],
) -> tuple[GraphKind, dict[str, CollaborationGraph]]:
    scope: GraphKind | None = None
    found: dict[str, CollaborationGraph] = {}
    for graph in graphs:
        if scope is None:
            scope = graph.kind
        elif graph.kind != scope:
            raise UsageError("coverage is measured over runs or decompositions, not both")
        if graph.id in found:
            raise UsageError(f"the graph {graph.id} was given twice")
        found[graph.id] = graph
    if scope is None:
        raise UsageError("there are no graphs: coverage needs tasks to mine and to hold out")
    return scope, found


def _large_enough(
    tasks: tuple[CoverageTask, ...], graphs: dict[str, CollaborationGraph], min_nodes: int
) -> tuple[tuple[CoverageTask, ...], tuple[LeftOutTask, ...]]:
    kept, left_out = [], []
    for task in tasks:
        most = max(len(leaves_of(graphs[name])) for name in task.graphs)
        if most >= min_nodes:
            kept.append(task)
        else:
            leaves = "1 node" if most == 1 else f"{most} nodes"
            left_out.append(
                LeftOutTask(task.id, task.name, f"{leaves}, fewer than {min_nodes}")
            )
    return tuple(kept), tuple(left_out)


def _default_sizes(tasks: int) -> tuple[int, ...]:
    return tuple(sorted({max(1, round(tasks * share / 100)) for share in _SHARES}))
