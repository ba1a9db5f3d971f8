"""Reference forests built from a store, and what compares its runs with them."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from app.forest_store import (
    delete_forests,
    described_references,
    find_forests,
    forest_graphs,
    place_of,
    read_forests,
    store_forests,
    stored_forests,
    stored_references,
)
from app.jobs import Progress, Selection, graph_label_of, no_progress
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.forest import ForestConfiguration, ForestSet, ReferenceForest
    from analytics.forest_building import Candidate
    from analytics.forest_keys import ForestKey, Level
    from analytics.forest_parts import Cosines
    from analytics.forest_scoring import ForestScorer

__all__ = [
    "ForestBuilder",
    "build_forests",
    "cosines_named",
    "delete_forests",
    "described_references",
    "find_forests",
    "forest_graphs",
    "make_scorer",
    "read_forests",
    "store_forests",
    "stored_forests",
    "stored_references",
]

REPORT_KIND = "forests"
REPORTED_SHORTAGES = 1_000
"""How many groups with too few successes a stored report names; it counts all."""


class ForestBuilder:
    """Takes graphs one by one, keeps what forests need of them, builds the forests.

    Args:
        configuration: Options.
        levels: What to pool.
        selection: Which graphs were asked for: part of the set's identity.
    """

    def __init__(
        self,
        configuration: "ForestConfiguration",
        levels: "Iterable[Level] | Level",
        selection: Selection,
    ) -> None:
        from analytics.forest_keys import checked_levels

        self.configuration = configuration
        self.levels = checked_levels(levels)
        self.selection = selection
        self._measure = configuration.make_measure()
        self._candidates: dict[ForestKey, list[Candidate]] = {}
        self._seen: dict[ForestKey, int] = {}

    def add(self, graph: CollaborationGraph) -> None:
        """Takes a graph: a run that succeeded, or a decomposition that did not fail, counts."""
        from analytics.forest_building import make_candidate
        from analytics.forest_keys import keys_of

        plan = graph.kind == "decomposition"
        levels = [level for level in self.levels if (level == "decomposition") == plan]
        works = graph.outcome.success is not False if plan else graph.outcome.success is True
        candidate = make_candidate(graph, self._measure) if works and levels else None
        for key in keys_of(graph, levels).values():
            self._seen[key] = self._seen.get(key, 0) + 1
            if candidate is not None:
                self._candidates.setdefault(key, []).append(candidate)

    def build(self, progress: Progress = no_progress) -> "ForestSet":
        """The forests, by level and name."""
        from analytics.forest import ForestSet, Shortage
        from analytics.forest_building import build_forest

        options = self.configuration

        def cluster(distances: Any, k: int) -> tuple[Any, Any]:
            from mining.k_medoids import solve

            found = solve(distances, k, seed=options.seed, starts=options.starts)
            return found.medoids, found.labels

        order = {level: place for place, level in enumerate(self.levels)}
        keys = sorted(self._seen, key=lambda key: (order[key.level], key.name, key.identity))
        forests: list[ReferenceForest] = []
        short: list[Shortage] = []
        for done, key in enumerate(keys, start=1):
            made = build_forest(
                key,
                self._candidates.get(key, ()),
                options,
                self._measure,
                cluster,
                runs=self._seen[key],
            )
            if isinstance(made, Shortage):
                short.append(made)
            else:
                forests.append(made)
            progress(done, len(keys), "forests")
        return ForestSet(options, asdict(self.selection), tuple(forests), tuple(short))


def build_forests(
    store: GraphStore,
    configuration: "ForestConfiguration | None" = None,
    *,
    levels: "Iterable[Level] | Level | None" = None,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "ForestSet":
    """Builds reference forests from the successful runs of a store, and keeps them there.

    Args:
        store: Where the runs are.
        configuration: Options; the defaults where None.
        levels: What to pool; by default each task, category, data set and method.
        selection: Which graphs.
        save: Whether ``ReferenceForest`` nodes and a report are written. They take the place
            of those that were built here with the same configuration and selection; of these,
            forests of other levels stay, and are part of what is returned. Where no graph
            matches, nothing is written; where no forest is made, no report.
        progress: Receives the number of graphs, then of forests, done.
    """
    from analytics.forest import ForestConfiguration
    from analytics.forest_keys import DEFAULT_LEVELS

    chosen = selection or Selection()
    builder = ForestBuilder(
        configuration or ForestConfiguration(), levels or DEFAULT_LEVELS, chosen
    )
    counts = store.counts()
    done = 0
    kinds: list[GraphKind] = []
    if set(builder.levels) - {"decomposition"}:
        kinds.append("run")
    if "decomposition" in builder.levels:
        kinds.append("decomposition")
    total = sum(counts.get(graph_label_of(kind), 0) for kind in kinds)
    for kind in kinds:
        for graph in store.graphs(kind=kind, **asdict(chosen)):
            builder.add(graph)
            done += 1
            progress(done, total, "graphs")
    found = builder.build(progress)
    if not save or not (found.forests or found.short):
        return found
    old = _built_here(store, found)
    kept = {
        one.key.identity: one
        for forests in old
        for one in forests.forests
        if one.key.level not in builder.levels
    }
    together = replace(
        found, forests=tuple(sorted([*found.forests, *kept.values()], key=place_of))
    )
    store_forests(store, together, replaced=[forests.id for forests in old])
    if together.forests:
        _report(store, together, chosen, done)
    return together


def _built_here(store: GraphStore, forests: "ForestSet") -> "list[ForestSet]":
    """The sets of one configuration and selection that were built from this store."""
    sets = {
        row["forest_set"]
        for row in stored_forests(store)
        if row["configuration_hash"] == forests.configuration_hash and not row["imported"]
    }
    found = [read_forests(store, name) for name in sorted(sets)]
    return [one for one in found if one.selection == forests.selection]


def _report(store: GraphStore, forests: "ForestSet", selection: Selection, graphs: int) -> None:
    from app.stored_reports import save_report

    levels: dict[str, dict[str, int]] = {}
    for forest in forests.forests:
        level = levels.setdefault(
            forest.key.level,
            {"forests": 0, "near_copies": 0, "without_threshold": 0, "short": 0},
        )
        level["forests"] += 1
        level["near_copies"] += bool(forest.near_copies)
        level["without_threshold"] += forest.threshold is None
    for one in forests.short:
        empty = {"forests": 0, "near_copies": 0, "without_threshold": 0, "short": 0}
        levels.setdefault(one.key.level, empty)["short"] += 1
    save_report(
        store,
        REPORT_KIND,
        "Reference forests",
        forests.configuration.configuration,
        {
            "forest_set": forests.id,
            "levels": levels,
            "short_count": len(forests.short),
            "short": [
                {"level": one.key.level, "name": one.key.name, "reason": one.reason}
                for one in forests.short[:REPORTED_SHORTAGES]
            ],
        },
        selection=selection,
        runs=graphs,
    )


def cosines_named(embedder: str | None) -> "Cosines | None":
    """What compares contents, by the name of what embeds them.

    Args:
        embedder: As :func:`mining.embedders.make_embedder` takes it; None for nothing.

    Raises:
        UsageError: There is no such embedder.
    """
    if embedder is None:
        return None
    if embedder == "tfidf":
        from analytics.term_weights import term_cosines

        return term_cosines
    from analytics.forest_parts import embedded_cosines
    from mining.embedders import make_embedder

    return embedded_cosines(make_embedder(embedder))


def make_scorer(
    store: GraphStore, forests: "ForestSet", levels: "Iterable[Level] | Level | None" = None
) -> "ForestScorer":
    """What compares graphs with the forests of a store."""
    from analytics.forest_scoring import ForestScorer

    return ForestScorer(forests, forest_graphs(store, forests), levels)
