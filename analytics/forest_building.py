"""Builds a reference forest: copies out, clustered, at most so many kept, calibrated."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analytics.forest import (
    SAME,
    ForestConfiguration,
    Reference,
    ReferenceForest,
    Shortage,
    forest_match,
    quantile,
)
from analytics.forest_copies import signature
from analytics.forest_keys import ForestKey
from analytics.similarity.measure import SimilarityMeasure
from graphstore.model import CollaborationGraph

Clustering = Callable[[Any, int], tuple[Sequence[int], Sequence[int]]]
"""From distances, shape (n, n), and k: positions of k medoids, and for each point the place
of its medoid among those."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A successful graph, as far as a forest must know it.

    Attributes:
        graph: Its id.
        signature: Of its structure and content (:func:`analytics.forest_copies.signature`).
        features: What the measure prepared.
    """

    graph: str
    signature: str
    features: Any


def make_candidate(graph: CollaborationGraph, measure: SimilarityMeasure) -> Candidate:
    """A successful graph as far as a forest must know it."""
    return Candidate(graph.id, signature(graph), measure.prepare(graph))


def build_forest(
    key: ForestKey,
    candidates: Iterable[Candidate],
    configuration: ForestConfiguration,
    measure: SimilarityMeasure,
    cluster: Clustering,
    *,
    runs: int | None = None,
) -> ReferenceForest | Shortage:
    """Chooses references among successful graphs.

    Copies (:func:`analytics.forest_copies.signature`) count once. The distinct graphs are
    clustered by k-medoids on 1 - similarity; k is :attr:`ForestConfiguration.references`, or
    the number of graphs that are not alike to the measure where that is less. The medoids are
    the references. Ids decide nothing but which of several copies is kept.

    Args:
        key: Whose successes these are.
        candidates: Successful graphs; their order does not matter.
        configuration: Options.
        measure: What prepared the candidates.
        cluster: K-medoids.
        runs: Graphs that were seen, successful or not; as many as candidates where None.

    Returns:
        A forest, or why there is none.
    """
    import numpy

    copies: dict[str, list[Candidate]] = {}
    successes = 0
    for one in candidates:
        successes += 1
        copies.setdefault(one.signature, []).append(one)
    distinct = [min(group, key=lambda one: one.graph) for group in copies.values()]
    drawn = sorted(distinct, key=lambda one: one.signature)[: configuration.candidates]
    alike = measure.matrix([one.features for one in drawn]) if drawn else numpy.empty((0, 0))
    # A graph that is not even comparable with itself has nothing to compare: no nodes.
    kept = numpy.flatnonzero(~numpy.isnan(alike.diagonal()))
    drawn = [drawn[place] for place in kept]
    alike = alike[numpy.ix_(kept, kept)]
    needed = 1 if key.level == "decomposition" else configuration.fewest
    if len(drawn) < needed:
        seen = successes if runs is None else runs
        return Shortage(key, seen, successes, len(drawn), needed)
    clusters = _clusters(alike, configuration.references, cluster)
    references = []
    for medoid, members in clusters:
        others = [place for place in members if place != medoid]
        stand_in = _stand_in(alike, medoid, others)
        if configuration.weights == "share":
            weight = len(members) / len(drawn)
            left_weight = len(others) / len(drawn)
        else:
            weight = 1 / len(clusters)
            left_weight = weight if others else 0.0
        chosen = drawn[medoid]
        references.append(
            Reference(
                graph=chosen.graph,
                signature=chosen.signature,
                weight=weight,
                copies=tuple(sorted(one.graph for one in copies[chosen.signature])),
                represented=sum(len(copies[drawn[place].signature]) for place in members),
                members=tuple(sorted(drawn[place].signature for place in members)),
                weight_without_one=left_weight,
                stand_in=None if stand_in is None else drawn[stand_in].graph,
            )
        )
    made = ReferenceForest(
        key=key,
        references=tuple(sorted(references, key=lambda one: one.graph)),
        successes=successes,
        distinct=len(distinct),
        considered=len(drawn),
        scores=(),
        threshold=None,
        median_similarity=None,
        near_copies=None,
    )
    return _calibrated(made, drawn, alike, configuration)


def _clusters(alike: Any, largest: int, cluster: Clustering) -> list[tuple[int, list[int]]]:
    """Positions of medoids, each with the positions of its cluster."""
    import numpy

    distances = 1.0 - numpy.nan_to_num(alike, nan=0.0)
    distances = numpy.clip((distances + distances.T) / 2, 0.0, 1.0)
    numpy.fill_diagonal(distances, 0.0)
    # The first graph that each graph is the same as, to this measure.
    first = (distances <= SAME).argmax(axis=1)
    ways = numpy.unique(first)
    if len(ways) <= largest:
        medoids, labels = ways, numpy.searchsorted(ways, first)
    else:
        chosen, places = cluster(distances, largest)
        medoids, labels = numpy.asarray(chosen), numpy.asarray(places)
    return [
        (int(medoid), numpy.flatnonzero(labels == place).tolist())
        for place, medoid in enumerate(medoids)
    ]


def _stand_in(alike: Any, medoid: int, places: list[int]) -> int | None:
    """Of a cluster's other graphs, one like its medoid, or the one most alike to all others.

    One that the measure cannot tell from the medoid keeps the cluster as it is, so that the
    medoid and that one are compared with the same. The first in a tie.
    """
    import numpy

    if not places:
        return None
    same = [place for place in places if alike[medoid, place] >= 1.0 - SAME]
    if same:
        return same[0]
    inside = numpy.nan_to_num(alike[numpy.ix_(places, places)], nan=0.0)
    # Rounded, so that a tie is a tie whatever the order of addition.
    return places[int(inside.sum(axis=1).round(9).argmax())]


def _calibrated(
    forest: ReferenceForest,
    drawn: Sequence[Candidate],
    alike: Any,
    configuration: ForestConfiguration,
) -> ReferenceForest:
    """Scores each success against the forest without it."""
    import numpy

    place_of = {one.graph: place for place, one in enumerate(drawn)}
    scores = []
    for place, one in enumerate(drawn):
        left = forest.references_for(one.graph, one.signature)
        score = forest_match(
            [float(alike[place, place_of[graph]]) for graph, _ in left],
            [weight for _, weight in left],
        )
        if score is not None:
            scores.append(score)
    scores.sort()
    pairs = alike[numpy.triu_indices(len(drawn), 1)]
    pairs = pairs[~numpy.isnan(pairs)]
    median = float(numpy.median(pairs)) if len(pairs) else None
    enough = len(scores) >= configuration.fewest_scores
    return replace(
        forest,
        scores=tuple(scores),
        threshold=quantile(scores, configuration.quantile) if enough else None,
        median_similarity=median,
        near_copies=None if median is None else median >= configuration.near_copies,
    )
