"""Reference forests as a store keeps them: written, listed, read back, removed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.jobs import MANY
from graphstore.errors import InputError, NotFoundError, UsageError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph
from graphstore.rows import Rows
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.forest import ForestSet, ReferenceForest

READ_SECONDS = 600.0


def store_forests(
    store: GraphStore,
    forests: "ForestSet",
    *,
    replaced: Iterable[str] = (),
    graphs: Sequence[CollaborationGraph] | None = None,
) -> None:
    """Writes forests with their membership.

    Args:
        store: Where to.
        forests: What to write.
        replaced: Ids of the sets that go.
        graphs: Those that the forests name, where they are no runs of the store: each forest
            keeps its own in its document. None where they are.
    """
    gone = Rows()
    for name in replaced:
        for row in stored_forests(store, name):
            gone.node("ReferenceForest", {"id": row["forest"]})
    by_id = None if graphs is None else {graph.id: graph for graph in graphs}
    store.write_results(_forest_rows(forests, by_id), replace=gone)
    store.checkpoint()


def _forest_rows(forests: "ForestSet", graphs: Mapping[str, CollaborationGraph] | None) -> Rows:
    from graphstore.records import graph_label

    rows = Rows()
    common = {
        "forest_set": forests.id,
        "imported": graphs is not None,
        "configuration": canonical_json(forests.configuration.configuration),
        "configuration_hash": forests.configuration_hash,
        "selection": canonical_json(forests.selection),
    }
    for forest in forests.forests:
        name = forests.forest_id(forest.key)
        key = asdict(forest.key)
        document = asdict(forest)
        if graphs is not None:
            document["graphs"] = [graphs[one] for one in forest.graph_ids]
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
                "document": canonical_json(document),
            },
        )
        if graphs is not None:
            continue
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


def stored_forests(store: GraphStore, forest_set: str | None = None) -> list[dict[str, Any]]:
    """The forests of a store, one row each, as the saved query ``forests`` gives them."""
    return _asked(store, "forests", {"forest_set": forest_set, "limit": MANY})


def stored_references(store: GraphStore, forest: str) -> list[dict[str, Any]]:
    """The references of a forest that are in the store, heaviest first."""
    return _asked(store, "forest-references", {"forest": forest})


def described_references(
    store: GraphStore, forests: "ForestSet", forest: "ReferenceForest"
) -> dict[str, dict[str, Any]]:
    """Task, method, nodes and agents of a forest's references that are there, by id."""
    name = forests.forest_id(forest.key)
    rows = stored_references(store, name)
    if rows:
        return {row["reference"]: row for row in rows}
    wanted = {one.graph for one in forest.references}
    return {
        graph.id: {
            "task": graph.task.name,
            "method": None if graph.method is None else graph.method.name,
            "nodes": len(graph.nodes),
            "agents": len(graph.agents),
        }
        for graph in forest_graphs(store, forests)
        if graph.id in wanted
    }


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
    found = parsed_forests(head["configuration"], head["selection"], documents, store.url)
    if found.id != forest_set:
        raise InputError(
            f"the forests {forest_set} are not those that were built: delete them and build "
            "again",
            file=store.url,
        )
    return found


def parsed_forests(
    configuration: str, selection: str, documents: Iterable[str], file: str
) -> "ForestSet":
    """A set of forests from the JSON texts that a store or a file has of it.

    Raises:
        InputError: A text is damaged.
    """
    import msgspec

    from analytics.forest import ForestConfiguration, ForestSet, ReferenceForest
    from analytics.forest_checks import check_forests

    try:
        options = ForestConfiguration.from_dict(
            msgspec.json.decode(configuration, type=dict[str, Any])
        )
        chosen = msgspec.json.decode(selection, type=dict[str, str | None])
        forests = [msgspec.json.decode(text, type=ReferenceForest) for text in documents]
        forests.sort(key=place_of)
        found = ForestSet(options, chosen, tuple(forests))
        check_forests(found)
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the forests are damaged, or of another version of masgraph: {error}", file=file
        ) from None
    return found


def place_of(forest: "ReferenceForest") -> tuple[Any, ...]:
    """Where a forest stands among those of a set: by level, then by name."""
    from analytics.forest_keys import LEVELS

    return (LEVELS.index(forest.key.level), forest.key.name, forest.key.identity)


def forest_graphs(store: GraphStore, forests: "ForestSet") -> list[CollaborationGraph]:
    """References of forests and what stands in for them, by id, as far as they are there.

    Those of forests from a file are kept with the forests, the others are runs of the store.
    """
    import msgspec

    class Kept(msgspec.Struct):
        graphs: list[CollaborationGraph] = []

    found: dict[str, CollaborationGraph] = {}
    for row in stored_forests(store, forests.id):
        if row["imported"]:
            break
    else:
        wanted = sorted({name for forest in forests.forests for name in forest.graph_ids})
        for start in range(0, len(wanted), 1_000):
            for graph in store.graphs(ids=wanted[start : start + 1_000]):
                found[graph.id] = graph
        return [found[name] for name in sorted(found)]
    for row in _asked(store, "forest-documents", {"forest_set": forests.id}):
        for graph in msgspec.json.decode(row["document"], type=Kept).graphs:
            found[graph.id] = graph
    return [found[name] for name in sorted(found)]


def _asked(store: GraphStore, name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    from graphstore.queries import bind, saved_query

    saved = saved_query(name)
    found = store.query(
        saved.cypher, bind(saved, parameters), timeout=READ_SECONDS, row_limit=MANY
    )
    return found.records()
