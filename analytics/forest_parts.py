"""Two parts of the panel that need no forest: information uptake and topology efficiency.

Source: "ForestBench: A Unified Graph Framework for Evaluating Multi-Agent Collaboration"; what
it leaves open is said where it is chosen.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from analytics.positions import Positions
from graphstore.model import CollaborationGraph


class ContentEmbedder(Protocol):
    """Turns the contents of one run into vectors whose cosines say how alike they are."""

    def fit(self, texts: Sequence[str]) -> "ContentEmbedder":
        """Learns what it must from the texts."""

    def embed(self, texts: Sequence[str]) -> Any:
        """Vectors, one row a text, zeros for a text without any term; shape (n, d)."""


@dataclass(frozen=True, slots=True)
class InformationUptake:
    """How much of what was consumed is found again in what was said.

    Attributes:
        value: Mean cosine along edges, -1 to 1 (0 to 1 with term weights); None where no
            edge can be measured.
        edges: Edges that it rests on.
    """

    value: float | None
    edges: int


@dataclass(frozen=True, slots=True)
class TopologyEfficiency:
    """How much of a graph's parallelism each agent carries.

    Attributes:
        parallelism: Nodes over nodes on the longest path, at least 1; None without nodes.
        active_agents: Agents that performed at least one action.
        value: Parallelism over active agents, above 0; None without an active agent.
    """

    parallelism: float | None
    active_agents: int
    value: float | None


Cosines = Callable[[Sequence[str], Sequence[tuple[int, int]]], Sequence[float]]
"""From the texts of a run and pairs of their positions: the cosine of each pair, NaN where a
text has nothing to compare. :func:`analytics.term_weights.term_cosines` is one."""


def embedded_cosines(embedder: ContentEmbedder) -> Cosines:
    """Cosines of what an embedder makes of the texts of one run.

    Args:
        embedder: Not yet fitted: it is fitted to each run's own texts.
    """

    def cosines(texts: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[float]:
        import numpy

        vectors = embedder.fit(texts).embed(texts)
        sources = vectors[[one for one, _ in pairs]]
        targets = vectors[[other for _, other in pairs]]
        products = _row_products(sources, targets)
        lengths = numpy.sqrt(_row_products(sources, sources) * _row_products(targets, targets))
        nothing = numpy.full(len(pairs), numpy.nan)
        found = numpy.divide(products, lengths, out=nothing, where=lengths > 0)
        values: list[float] = numpy.clip(found, -1.0, 1.0).tolist()
        return values

    return cosines


def information_uptake(graph: CollaborationGraph, cosines: Cosines) -> InformationUptake:
    """Mean cosine of content embeddings along edges (ForestBench).

    Contents are embedded among the run's own contents, so that a run's value does not depend
    on its neighbours: with term weights, words that all actions use count little. An edge
    counts where both ends have a content with at least one term.

    Args:
        graph: A run or a decomposition.
        cosines: What compares contents.
    """
    content = {node.id: node.content for node in graph.nodes if node.content is not None}
    ends = [
        (edge.source, edge.target)
        for edge in graph.edges
        if edge.source in content and edge.target in content
    ]
    if not ends:
        return InformationUptake(None, 0)
    place = {name: position for position, name in enumerate(content)}
    found = cosines(
        list(content.values()), [(place[source], place[target]) for source, target in ends]
    )
    known = [value for value in found if not math.isnan(value)]
    return InformationUptake(math.fsum(known) / len(known) if known else None, len(known))


def _row_products(ones: Any, others: Any) -> Any:
    """The inner product of each row with its counterpart; dense or sparse; shape (n,)."""
    import numpy
    from scipy.sparse import issparse

    products = ones.multiply(others) if issparse(ones) else numpy.asarray(ones) * others
    return numpy.asarray(products.sum(axis=1)).ravel()


def topology_efficiency(
    graph: CollaborationGraph, positions: Positions | None = None
) -> TopologyEfficiency:
    """The graph's parallelism, carried by each active agent (ForestBench names it so).

    ForestBench does not say what parallelism is. Here it is work over span: the number of
    nodes over the number of nodes on the longest path, how many actions stand side by side
    on average. The value is this over the number of agents that acted: 1 where all agents
    always work side by side, 1 / agents where they form one chain, above 1 where agents do
    several things that do not depend on each other.

    Args:
        graph: A run or a decomposition.
        positions: Of this graph, where they have been read; read here where None.
    """
    read = positions or Positions(graph)
    active = read.active_agents
    if not graph.nodes:
        return TopologyEfficiency(None, active, None)
    parallelism = len(graph.nodes) / read.depth
    return TopologyEfficiency(parallelism, active, parallelism / active if active else None)
