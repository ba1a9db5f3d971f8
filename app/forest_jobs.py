"""Reference forests: built from a store, kept there, read back; and the panel beside them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.jobs import MANY, Progress, Selection, graph_label_of, no_progress
from graphstore.errors import InputError, NotFoundError, UsageError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.rows import Rows
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.forest import (
        ForestConfiguration,
        ForestKey,
        ForestSet,
        Level,
        ReferenceForest,
    )
    from analytics.forest_building import Candidate
    from analytics.forest_panel import ForestScorer
    from analytics.forest_parts import Cosines

REPORT_KIND = "forests"
REPORTED_SHORTAGES = 1_000
"""How many groups with too few successes a stored report names; it counts all."""
READ_SECONDS = 600.0


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
        levels: "Iterable[Level]",
        selection: Selection,
    ) -> None:
        from analytics.forest_panel import checked_levels

        self.configuration = configuration
        self.levels = checked_levels(levels)
        self.selection = selection
        self._measure = configuration.make_measure()
        self._candidates: dict[ForestKey, list[Candidate]] = {}
        self._seen: dict[ForestKey, int] = {}

    def add(self, graph: CollaborationGraph) -> None:
        """Takes a graph: a run that succeeded, or a decomposition that did not fail, counts."""
        from analytics.forest import keys_of
        from analytics.forest_building import make_candidate

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
    levels: "Iterable[Level] | None" = None,
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
            of those of the same configuration, selection and levels.
        progress: Receives the number of graphs, then of forests, done.
    """
    from analytics.forest import DEFAULT_LEVELS, ForestConfiguration

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
    if save:
        store_forests(store, found, builder.levels)
        _report(store, found, chosen, done)
    return found


def store_forests(
    store: GraphStore, forests: "ForestSet", levels: "Iterable[Level]" = ()
) -> None:
    """Writes forests with their membership.

    Args:
        store: Where to; the graphs must be there.
        forests: What to write.
        levels: The forests of this set at these levels that are not written again go.
    """
    gone = set(levels)
    replaced = Rows()
    written = {forests.forest_id(forest.key) for forest in forests.forests}
    for row in _asked(store, "forests", {"forest_set": forests.id, "limit": MANY}):
        if row["forest"] in written or row["level"] in gone:
            replaced.node("ReferenceForest", {"id": row["forest"]})
    store.write_results(_forest_rows(forests), replace=replaced)
    store.checkpoint()


def _forest_rows(forests: "ForestSet") -> Rows:
    from graphstore.records import graph_label

    rows = Rows()
    common = {
        "forest_set": forests.id,
        "configuration": canonical_json(forests.configuration.configuration),
        "configuration_hash": forests.configuration_hash,
        "selection": canonical_json(forests.selection),
    }
    for forest in forests.forests:
        name = forests.forest_id(forest.key)
        key = asdict(forest.key)
        rows.node(
            "ReferenceForest",
            {
                "id": name,
                **key,
                "references": len(forest.references),
                "successes": forest.successes,
                "distinct_successes": forest.distinct,
                "calibrated": len(forest.scores),
                "threshold": forest.threshold,
                "median_similarity": forest.median_similarity,
                "near_copies": forest.near_copies,
                **common,
                "document": canonical_json(asdict(forest)),
            },
        )
        for one in forest.references:
            rows.relate(
                "CONTAINS",
                "ReferenceForest",
                graph_label(one.graph),
                {"source": name, "target": one.graph, "weight": one.weight},
            )
        if forest.key.task is not None:
            rows.relate(
                "FOREST_OF",
                "ReferenceForest",
                "Task",
                {"source": name, "target": forest.key.task},
            )
    return rows


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


def stored_forests(store: GraphStore, forest_set: str | None = None) -> list[dict[str, Any]]:
    """The forests of a store, one row each, as the saved query ``forests`` gives them."""
    return _asked(store, "forests", {"forest_set": forest_set, "limit": MANY})


def stored_references(store: GraphStore, forest: str) -> list[dict[str, Any]]:
    """The references of a forest that are in the store, heaviest first."""
    return _asked(store, "forest-references", {"forest": forest})


def find_forests(store: GraphStore, forest_set: str | None = None) -> "ForestSet | None":
    """The forests to use: those that are named, or the only set that the store has.

    Args:
        store: Where they are.
        forest_set: Id of the set; None for the only one.

    Returns:
        None where no set is named and the store has none.

    Raises:
        NotFoundError: The store has no such set.
        UsageError: It has several, and none is named.
    """
    sets = sorted({row["forest_set"] for row in stored_forests(store)})
    if forest_set is not None:
        if forest_set not in sets:
            raise NotFoundError(
                f"there are no forests {forest_set!r}: see  masgraph forest list"
            )
        return read_forests(store, forest_set)
    if not sets:
        return None
    if len(sets) > 1:
        raise UsageError(
            f"the store has {len(sets)} sets of forests: name one with --forests, of "
            + ", ".join(sets)
        )
    return read_forests(store, sets[0])


def delete_forests(store: GraphStore, forest_set: str) -> int:
    """Removes a set of forests; its graphs stay.

    Returns:
        How many forests there were.

    Raises:
        NotFoundError: The store has no such set.
    """
    gone = Rows()
    rows = stored_forests(store, forest_set)
    for row in rows:
        gone.node("ReferenceForest", {"id": row["forest"]})
    if not rows:
        raise NotFoundError(f"there are no forests {forest_set!r}: see  masgraph forest list")
    store.write_results(Rows(), replace=gone)
    store.checkpoint()
    return len(rows)


def read_forests(store: GraphStore, forest_set: str) -> "ForestSet":
    """A set of forests as it was written, without what was short.

    Raises:
        NotFoundError: The store has no such set.
        InputError: A forest is damaged.
    """
    rows = _asked(store, "forest-documents", {"forest_set": forest_set})
    if not rows:
        raise NotFoundError(f"there are no forests {forest_set!r}: see  masgraph forest list")
    documents = [row["document"] for row in rows]
    head = rows[0]
    return parsed_forests(head["configuration"], head["selection"], documents, store.url)


def parsed_forests(
    configuration: str, selection: str, documents: Iterable[str], file: str
) -> "ForestSet":
    """A set of forests from the JSON texts that a store or a file has of it.

    Raises:
        InputError: A text is damaged.
    """
    import msgspec

    from analytics.forest import ForestConfiguration, ForestSet, ReferenceForest

    try:
        options = ForestConfiguration.from_dict(
            msgspec.json.decode(configuration, type=dict[str, Any])
        )
        chosen = msgspec.json.decode(selection, type=dict[str, str | None])
        forests = [msgspec.json.decode(text, type=ReferenceForest) for text in documents]
    except (msgspec.MsgspecError, KeyError, TypeError) as error:
        raise InputError(f"the forests are damaged: {error}", file=file) from None
    forests.sort(key=_order)
    return ForestSet(options, chosen, tuple(forests))


def _order(forest: "ReferenceForest") -> tuple[Any, ...]:
    from analytics.forest import LEVELS

    return (LEVELS.index(forest.key.level), forest.key.name, forest.key.identity)


def forest_graphs(store: GraphStore, forests: "ForestSet") -> list[CollaborationGraph]:
    """References of forests and what stands in for them, by id, as far as they are there."""
    wanted = sorted({name for forest in forests.forests for name in forest.graph_ids})
    found: list[CollaborationGraph] = []
    for start in range(0, len(wanted), 1_000):
        found.extend(store.graphs(ids=wanted[start : start + 1_000]))
    return sorted(found, key=lambda graph: graph.id)


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
    store: GraphStore, forests: "ForestSet", levels: "Iterable[Level] | None" = None
) -> "ForestScorer":
    """What compares graphs with the forests of a store."""
    from analytics.forest_panel import ForestScorer

    return ForestScorer(forests, forest_graphs(store, forests), levels)


def _asked(store: GraphStore, name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    from graphstore.queries import bind, saved_query

    saved = saved_query(name)
    found = store.query(
        saved.cypher, bind(saved, parameters), timeout=READ_SECONDS, row_limit=MANY
    )
    return found.records()
