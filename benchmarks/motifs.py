"""Motifs of runs: typed, with occurrences, beside what others count.

Needs the packages igraph and grandiso: ``pip install 'masgraph[benchmarks]'``.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import networkx

from benchmarks import corpus
from benchmarks.page import Table
from graphstore.builder import GraphBuilder
from graphstore.model import CollaborationGraph
from ingest.flow import FlowTracker
from mining.motifs import MotifConfiguration, mine_motifs
from mining.rules import RuleConfiguration, mine_rules
from mining.significance import NullModelConfiguration, motif_significance

ACTIONS = 60
GRAPHS = 10_000
EVERYTHING = MotifConfiguration(kept_occurrences=None)


def measure(scale: float = 1.0) -> list[Table]:
    """On ``10,000 * scale`` runs of 60 actions; slow ways on a part of them."""
    count = max(100, int(GRAPHS * scale))
    mine_motifs(runs(1_000), EVERYTHING)  # compiles the kernel
    return [enumeration(count), growth(count), beyond(count)]


def runs(count: int) -> Iterator[CollaborationGraph]:
    """Stars and group chats in turn: one input for most actions, or one of each other agent."""
    for number in range(count):
        if number % 2:
            yield chat(number)
        else:
            yield corpus.run(number, ACTIONS, seed=corpus.SEED)


def chat(number: int, actions: int = ACTIONS) -> CollaborationGraph:
    """A group chat of four: each hears all others, and takes up what it has not answered."""
    random_ = random.Random(f"chat/{number}")
    made = GraphBuilder(
        kind="run", format="benchmark", uri="synthetic", content=f"chat/{number}", record="chat"
    )
    made.set_task(f"task-{number % 500}", dataset="benchmark")
    roles = ("planner", "solver", "solver", "critic")
    agents = [made.new_agent(f"{role}-{place}", role=role) for place, role in enumerate(roles)]
    flow = FlowTracker(made)
    for _ in range(actions):
        speaker = random_.choice(agents)
        others = [agent for agent in agents if agent != speaker]
        node = made.add(
            "agent_message", "chat", agent=speaker, recipients=others, delivery="broadcast"
        )
        flow.act(node, speaker, recipients=others)
    return made.build()


class Timed:
    """Graphs one by one, and the time that making them took, so that it can be left out."""

    def __init__(self, graphs: Iterable[CollaborationGraph]) -> None:
        self.seconds = 0.0
        self._graphs = iter(graphs)

    def __iter__(self) -> Iterator[CollaborationGraph]:
        while True:
            begin = time.process_time()
            graph = next(self._graphs, None)
            self.seconds += time.process_time() - begin
            if graph is None:
                return
            yield graph


def seconds_for(
    count: int, work: Callable[[Iterable[CollaborationGraph]], Any]
) -> tuple[float, Any]:
    """Processor time that work takes on that many runs, without making them; its result."""
    graphs = Timed(runs(count))
    begin = time.process_time()
    result = work(graphs)
    return time.process_time() - begin - graphs.seconds, result


# --- enumeration ------------------------------------------------------------------------------


def enumeration(count: int) -> Table:
    """One line for each way, by seconds a thousand graphs."""
    table = Table(
        f"Motifs of two and three nodes in {count:,} runs of {ACTIONS} actions",
        (
            "way",
            "graphs",
            "node sets found",
            "seconds",
            "graphs a second",
            "times straight networkx",
        ),
    )
    few = max(10, count // 100)
    fewest = max(2, few // 20)
    slow, listed = seconds_for(few, with_networkx)
    slowest, tried = seconds_for(fewest, lambda graphs: with_networkx(graphs, every_set))
    assert tried == with_networkx(runs(fewest))
    base = fewest / slowest
    ours, library = seconds_for(count, lambda graphs: mine_motifs(graphs, EVERYTHING))
    sets = sum(motif.occurrence_count for motif in library.motifs)
    part = mine_motifs(runs(few), EVERYTHING)
    assert listed == {
        (motif.labels, motif.pattern.relations): motif.occurrence_count for motif in part.motifs
    }
    counted, total = seconds_for(count, with_igraph)
    assert total == sum(row.triples or 0 for row in library.graphs)
    searched, matched = seconds_for(few, with_grandiso)
    assert matched == sum(row.triples or 0 for row in part.graphs)
    for way, graphs, found, seconds in (
        (
            "networkx, straight: every two and three nodes, asked whether they are connected",
            fewest,
            sum(tried.values()),
            slowest,
        ),
        (
            "networkx, with care: neighbours of each node, the rest the same",
            few,
            sum(listed.values()),
            slow,
        ),
        (
            "grandiso: four untyped shapes of three nodes, one after the other, occurrences",
            few,
            matched,
            searched,
        ),
        (
            "`mine_motifs`: types, precedence, canonical form, all occurrences kept",
            count,
            sets,
            ours,
        ),
        (
            "igraph `motifs_randesu(3)`: untyped counts of three nodes, no occurrences",
            count,
            total,
            counted,
        ),
    ):
        table.add(way, graphs, found, seconds, graphs / seconds, graphs / seconds / base)
    table.notes.append(
        "All start from the same graphs in memory and count the same sets (the untyped "
        "ones without pairs); this is checked in the run. Half of the runs are stars around an "
        "orchestrator, half are group chats of four; seconds are processor time of one core."
    )
    return table


def every_set(directed: Any) -> Iterator[Any]:
    """The connected sets, by the definition."""
    near = directed.to_undirected()
    for size in (2, 3):
        for nodes in itertools.combinations(directed, size):
            if networkx.is_connected(near.subgraph(nodes)):
                yield nodes


def joined_sets(directed: Any) -> set[Any]:
    """The same, from the neighbours of each node."""
    near = directed.to_undirected(as_view=True)
    sets = {frozenset(edge) for edge in directed.edges}
    for node in directed:
        sets.update(frozenset((node, *pair)) for pair in itertools.combinations(near[node], 2))
    return sets


def with_networkx(
    graphs: Iterable[CollaborationGraph],
    connected: Callable[[Any], Iterable[Any]] = joined_sets,
) -> dict[Any, int]:
    """Types, precedence, canonical form, occurrences; tells the counts."""
    counts: dict[Any, int] = {}
    occurrences: dict[Any, list[Any]] = {}
    for graph in graphs:
        index = {node.id: node.index for node in graph.nodes}
        labels = [f"{node.role}/{node.kind}" for node in graph.nodes]
        directed = networkx.DiGraph()
        directed.add_nodes_from(range(len(labels)))
        directed.add_edges_from(
            (index[edge.source], index[edge.target]) for edge in graph.edges
        )
        reached = {node: networkx.descendants(directed, node) for node in directed}
        for nodes in connected(directed):
            key, order = min(
                (
                    (
                        tuple([labels[node] for node in order]),
                        tuple(
                            [
                                _relation(directed, reached, one, other)
                                for one, other in itertools.combinations(order, 2)
                            ]
                        ),
                    ),
                    order,
                )
                for order in itertools.permutations(nodes)
            )
            counts[key] = counts.get(key, 0) + 1
            occurrences.setdefault(key, []).append((graph.id, order))
    return counts


def _relation(directed: Any, reached: Any, one: int, other: int) -> int:
    if directed.has_edge(one, other):
        return 1
    if directed.has_edge(other, one):
        return 3
    if other in reached[one]:
        return 2
    return 4 if one in reached[other] else 0


def with_igraph(graphs: Iterable[CollaborationGraph]) -> int:
    """The number of connected sets of three nodes."""
    import igraph

    total = 0
    for graph in graphs:
        index = {node.id: node.index for node in graph.nodes}
        edges = [(index[edge.source], index[edge.target]) for edge in graph.edges]
        counts = igraph.Graph(len(index), edges, directed=True).motifs_randesu(3)
        total += sum(int(one) for one in counts if one == one)
    return total


def with_grandiso(graphs: Iterable[CollaborationGraph]) -> int:
    """The number of connected sets of three nodes, shape by shape."""
    import grandiso

    # How many times each shape is found on one set of nodes.
    shapes = (
        ([(0, 1), (1, 2)], 1),
        ([(0, 1), (0, 2)], 2),
        ([(0, 2), (1, 2)], 2),
        ([(0, 1), (0, 2), (1, 2)], 1),
    )
    total = 0
    for graph in graphs:
        index = {node.id: node.index for node in graph.nodes}
        host = networkx.DiGraph()
        host.add_nodes_from(range(len(index)))
        host.add_edges_from((index[edge.source], index[edge.target]) for edge in graph.edges)
        for edges, times in shapes:
            shape = networkx.DiGraph(edges)
            total += len(grandiso.find_motifs(shape, host, isomorphisms_only=True)) // times
    return total


# --- growth -----------------------------------------------------------------------------------


def growth(count: int) -> Table:
    """The same with more and more graphs."""
    table = Table(
        "Motifs: growth with the number of runs",
        ("graphs", "node sets found", "seconds", "microseconds a graph"),
    )
    for part in (count // 16, count // 8, count // 4, count // 2, count):
        seconds, library = seconds_for(part, lambda graphs: mine_motifs(graphs, EVERYTHING))
        sets = sum(motif.occurrence_count for motif in library.motifs)
        table.add(part, sets, seconds, seconds / part * 1e6)
    table.notes.append("Linear: the last column stays about the same.")
    return table


# --- rules and significance -------------------------------------------------------------------


def beyond(count: int) -> Table:
    """Composition rules and the null model."""
    table = Table(
        "From motifs to rules and to chance",
        ("what", "graphs", "found", "seconds", "microseconds a graph"),
    )
    motifs = mine_motifs(runs(count), EVERYTHING)
    begin = time.process_time()
    rules = mine_rules(motifs, RuleConfiguration(kept_places=0))
    seconds = time.process_time() - begin
    overlaps = sum(row.overlaps or 0 for row in rules.graphs)
    table.add(
        f"composition rules, of {overlaps:,} overlapping pairs",
        count,
        len(rules.rules),
        seconds,
        seconds / count * 1e6,
    )
    few, samples = max(10, count // 100), 100
    part = mine_motifs(runs(few))
    options = NullModelConfiguration(samples=samples)
    motif_significance(runs(few), part, NullModelConfiguration(samples=1))
    seconds, result = seconds_for(few, lambda graphs: motif_significance(graphs, part, options))
    table.add(
        f"{samples} samples of the null model: swaps, search, counts",
        few * samples,
        len(result.rows),
        seconds,
        seconds / (few * samples) * 1e6,
    )
    return table
