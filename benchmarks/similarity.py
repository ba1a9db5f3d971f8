"""Similarity of runs: one trace beside ten references, and all pairs of many.

Needs the package GraKeL: ``pip install 'masgraph[benchmarks]'``; POT, where it is there, adds
a line.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import networkx
import numpy

from analytics.forest import ForestConfiguration, ForestSet, ReferenceForest
from analytics.forest_building import build_forest, make_candidate
from analytics.forest_keys import keys_of
from analytics.forest_panel import forest_row
from analytics.forest_scoring import ForestScorer
from analytics.similarity.edit import EditMeasure
from analytics.similarity.forest import ForestMeasure, ForestReferences
from analytics.similarity.measure import measure_named
from analytics.similarity.wl import WeisfeilerLehmanMeasure
from benchmarks import corpus, motifs
from benchmarks.page import Table
from graphstore.model import CollaborationGraph
from mining.k_medoids import solve

ACTIONS = 60
REFERENCES = 10
SUCCESSES = 40
RUNS = 5_000
LARGE = 5_000
ITERATIONS = 3
PATIENCE = 60.0
"""Seconds that networkx may take for one trace beside its references."""


def measure(scale: float = 1.0) -> list[Table]:
    """On ``5,000 * scale`` runs of 60 actions; slow ways on a part of them."""
    count = max(200, int(RUNS * scale))
    return [one_trace(max(50, int(200 * scale))), small_traces(), pairs(count), aligned()]


def runs(count: int, actions: int = ACTIONS, first: int = 0) -> list[CollaborationGraph]:
    """Stars and group chats in turn."""
    return [
        motifs.chat(number, actions) if number % 2 else corpus.run(number, actions)
        for number in range(first, first + count)
    ]


def median_seconds(work: Callable[[Any], Any], inputs: Iterable[Any]) -> float:
    """Median processor time of one call."""
    taken = []
    for one in inputs:
        begin = time.process_time()
        work(one)
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


# --- one trace --------------------------------------------------------------------------------


def one_trace(count: int) -> Table:
    """Median time of scoring a trace that has just been read, with references ready."""
    table = Table(
        f"One run of {ACTIONS} actions beside {REFERENCES} references",
        ("way", "traces", "microseconds a trace (median)", "times GraKeL"),
    )
    references = runs(REFERENCES)
    traces = runs(count, first=SUCCESSES)
    few = traces[: max(10, count // 10)]
    same = WeisfeilerLehmanMeasure(iterations=ITERATIONS, direction="undirected")
    theirs, values = grakel_seconds(references, few)
    ready = [same.prepare(graph) for graph in references]
    ours = same.matrix([same.prepare(graph) for graph in few], ready)
    numpy.testing.assert_allclose(ours, values, rtol=1e-9)
    table.add(f"GraKeL: WeisfeilerLehman, n_iter={ITERATIONS}", len(few), theirs * 1e6, 1.0)
    for title, way in (
        ("`wl`, the same kernel (undirected)", same),
        ("`wl`, as it is by default (directions apart)", measure_named("wl")),
        ("`forest`: ForestBench's sum", measure_named("forest")),
        ("`motif`", measure_named("motif")),
    ):
        seconds = median_seconds(against(way, references), traces)
        table.add(title, count, seconds * 1e6, theirs / seconds)
    scorer = panel_scorer()
    seconds = median_seconds(lambda graph: forest_row(graph, scorer=scorer), traces)
    table.add(
        "the whole panel (match, structure, diagnosis)", count, seconds * 1e6, theirs / seconds
    )
    table.notes.append(
        "All start from the same graphs in memory. Preparing the trace is counted (for GraKeL: "
        "putting it into its form); preparing the references is not. GraKeL's values and ours "
        "are compared in the run. Processor time of one core."
    )
    return table


def against(way: Any, references: Sequence[CollaborationGraph]) -> Callable[[Any], list[Any]]:
    """A function that scores a trace beside prepared references."""
    ready = [way.prepare(graph) for graph in references]
    if isinstance(way, ForestMeasure):
        together = ForestReferences(ready)
        return lambda graph: way.beside(way.prepare(graph), together).similarity

    def score(graph: CollaborationGraph) -> list[Any]:
        prepared = way.prepare(graph)
        return [way.similarity(prepared, reference) for reference in ready]

    score(references[0])
    return score


def panel_scorer() -> ForestScorer:
    """A forest of ten references, as ``masgraph forest build`` makes it."""
    graphs = runs(SUCCESSES)
    options = ForestConfiguration(references=REFERENCES)
    chosen = options.make_measure()
    forest = build_forest(
        keys_of(graphs[0], ["dataset"])["dataset"],
        [make_candidate(graph, chosen) for graph in graphs],
        options,
        chosen,
        lambda distances, k: ((found := solve(distances, k)).medoids, found.labels),
    )
    assert isinstance(forest, ReferenceForest)
    assert len(forest.references) == REFERENCES
    return ForestScorer(ForestSet(options, {}, (forest,)), graphs)


def grakel_seconds(
    references: Sequence[CollaborationGraph], traces: Sequence[CollaborationGraph]
) -> tuple[float, Any]:
    """Median time of one trace through GraKeL, and the values: shape (traces, references)."""
    import grakel

    kernel = grakel.WeisfeilerLehman(
        n_iter=ITERATIONS, base_graph_kernel=grakel.VertexHistogram, normalize=True
    )
    kernel.fit([given(graph) for graph in references])
    values: list[Any] = []
    seconds = median_seconds(
        lambda graph: values.append(kernel.transform([given(graph)])[0]), traces
    )
    return seconds, numpy.array(values)


def given(graph: CollaborationGraph) -> list[Any]:
    """Neighbours in both directions, and labels."""
    index = {node.id: node.index for node in graph.nodes}
    near: dict[int, dict[int, float]] = {place: {} for place in index.values()}
    for edge in graph.edges:
        one, other = index[edge.source], index[edge.target]
        near[one][other] = near[other][one] = 1.0
    return [near, {node.index: f"{node.role}/{node.kind}" for node in graph.nodes}]


# --- small traces -----------------------------------------------------------------------------


def small_traces() -> Table:
    """Beside networkx's exact edit distance, as far as that goes."""
    table = Table(
        f"One run beside {REFERENCES} references: sizes that networkx's edit distance finishes",
        (
            "actions",
            "networkx, seconds",
            "`edit` (exact), seconds",
            "`forest`, seconds",
            "`forest`, times networkx",
        ),
    )
    exact = EditMeasure()
    for actions in (4, 6, 7, 8, 9, 10):
        references = runs(REFERENCES, actions)
        trace = runs(1, actions, first=SUCCESSES)[0]
        begin = time.process_time()
        values = [edit_distance(trace, reference) for reference in references]
        slow = time.process_time() - begin
        ready = exact.prepare(trace)
        found = [exact.distance(ready, exact.prepare(reference)) for reference in references]
        if None not in values:
            assert [one.value for one in found] == values
            assert all(one.exact for one in found)
        ours = median_seconds(against(exact, references), [trace] * 20)
        fast = median_seconds(against(measure_named("forest"), references), [trace] * 100)
        finished = None not in values
        table.add(
            actions,
            slow if finished else f"more than {PATIENCE:.0f}",
            ours,
            fast,
            slow / fast if finished else f"more than {slow / fast:,.0f}",
        )
        if not finished:
            break
    table.notes.append("The exact distances are compared with networkx's in the run.")
    return table


def edit_distance(one: CollaborationGraph, other: CollaborationGraph) -> int | None:
    """The exact distance; None where it was not found in time."""
    begin = time.monotonic()
    found = networkx.graph_edit_distance(
        directed(one),
        directed(other),
        node_match=lambda left, right: left["label"] == right["label"],
        timeout=PATIENCE,
    )
    return int(found) if time.monotonic() - begin < PATIENCE else None


def directed(graph: CollaborationGraph) -> Any:
    """The graph for networkx."""
    made = networkx.DiGraph()
    made.add_nodes_from(
        (node.id, {"label": f"{node.role}/{node.kind}"}) for node in graph.nodes
    )
    made.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    return made


# --- all pairs --------------------------------------------------------------------------------


def pairs(count: int) -> Table:
    """All pairs of many runs."""
    table = Table(
        f"All pairs of {count:,} runs of {ACTIONS} actions",
        ("way", "runs", "prepare, seconds", "all pairs, seconds", "pairs a second"),
    )
    graphs = runs(count)
    few = graphs[: max(50, count // 25)]
    import grakel

    kernel = grakel.WeisfeilerLehman(
        n_iter=ITERATIONS, base_graph_kernel=grakel.VertexHistogram, normalize=True
    )
    inputs = [given(graph) for graph in few]
    begin = time.process_time()
    values = kernel.fit_transform(inputs)
    seconds = time.process_time() - begin
    table.add("GraKeL, on a part", len(few), "", seconds, len(few) ** 2 / seconds)
    same = WeisfeilerLehmanMeasure(iterations=ITERATIONS, direction="undirected")
    ours = same.matrix([same.prepare(graph) for graph in few])
    numpy.testing.assert_allclose(ours, values, rtol=1e-9)
    for title, way in (
        ("`wl`, the same kernel", same),
        ("`wl`, as it is by default", measure_named("wl")),
        ("`forest`", measure_named("forest")),
        ("`motif`", measure_named("motif")),
    ):
        way.matrix([way.prepare(graph) for graph in few])
        begin = time.process_time()
        ready = [way.prepare(graph) for graph in graphs]
        middle = time.process_time()
        way.matrix(ready)
        seconds = time.process_time() - middle
        table.add(title, count, middle - begin, seconds, count**2 / seconds)
    table.notes.append("Processor time, of all cores together.")
    return table


# --- alignments -------------------------------------------------------------------------------


def aligned() -> Table:
    """Measures that look at one pair after the other."""
    table = Table(
        "One pair of runs: alignment, bounds of the edit distance, transport",
        ("what", "actions", "pairs", "milliseconds a pair (median)"),
    )
    names = ["alignment", "edit"] + (["gromov"] if find_spec("ot") else [])
    for name, actions, count in (
        *[(name, ACTIONS, 12) for name in names],
        ("alignment", 500, 4),
        ("alignment", LARGE, 3),
        ("edit", LARGE, 3),
    ):
        way = measure_named(name)
        ready = [way.prepare(graph) for graph in runs(count, actions)]
        chosen = list(itertools.combinations(ready, 2))[:count]
        way.similarity(*chosen[0])
        seconds = median_seconds(lambda pair, way=way: way.similarity(*pair), chosen)
        table.add(f"`{name}`", actions, len(chosen), seconds * 1e3)
    table.notes.append(
        "Beyond 600 actions the alignment chooses among candidates; beyond 10 the edit "
        "distance is bounded."
    )
    return table
