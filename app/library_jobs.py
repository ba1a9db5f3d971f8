"""Libraries: mined from a store, kept there and read back; saved to a file and loaded."""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.files import read_unpacked, write_whole
from app.jobs import MANY, Progress, Selection, graph_label_of, no_progress
from graphstore.errors import NotFoundError, UsageError
from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.rows import Rows
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from mining.library import Library, LibraryConfiguration
    from mining.library_mining import MinedLibrary
    from mining.significance import NullModelConfiguration, Significance
    from mining.subtask_types import SubtaskTypeConfiguration
    from mining.workers import Workers

LIBRARY_SUFFIXES = (".json", ".json.gz")
LEARNED = "types"
"""The name of labels that are learned from the graphs: subtask types."""


def mine_library(
    store: GraphStore,
    configuration: "LibraryConfiguration | None" = None,
    *,
    kind: GraphKind = "decomposition",
    selection: Selection | None = None,
    save: bool = True,
    workers: "Workers | None" = None,
    progress: Progress = no_progress,
) -> "MinedLibrary":
    """Mines types, patterns, rules and structures of a store, and keeps them there.

    As :func:`mine_with_significance` does, without the comparison with chance.
    """
    return mine_with_significance(
        store,
        configuration,
        None,
        kind=kind,
        selection=selection,
        save=save,
        workers=workers,
        progress=progress,
    )[0]


def mine_with_significance(
    store: GraphStore,
    configuration: "LibraryConfiguration | None" = None,
    null_model: "NullModelConfiguration | None" = None,
    *,
    kind: GraphKind = "decomposition",
    selection: Selection | None = None,
    save: bool = True,
    workers: "Workers | None" = None,
    progress: Progress = no_progress,
) -> "tuple[MinedLibrary, Significance | None]":
    """Mines a store, compares its motifs with chance, and keeps both there.

    Args:
        store: Where the graphs are.
        configuration: Options; the defaults where None.
        null_model: What chance is; None leaves the comparison out. Then the graphs are read
            once, else twice.
        kind: Runs or decompositions.
        selection: Which of them.
        save: Whether the library is written, if there was a graph to mine. It takes the place
            of what was mined before under the same configuration from the same selection.
        workers: Where types are learned and random graphs are drawn; by default in this
            process. The result does not depend on it.
        progress: Receives the number of graphs done, or of fits where types are learned.

    Returns:
        The library, and its motifs beside chance.
    """
    from app.library_rows import library_rows
    from mining import library_mining
    from mining.library import LibraryConfiguration

    options = configuration or LibraryConfiguration()
    chosen = selection or Selection()
    total = store.counts().get(graph_label_of(kind), 0)

    def counted() -> Iterator[CollaborationGraph]:
        for done, graph in enumerate(store.graphs(kind=kind, **asdict(chosen)), start=1):
            yield graph
            progress(done, total, "")

    mined = library_mining.mine_library(
        counted(),
        options,
        workers=workers,
        progress=lambda done, fits: progress(done, fits, "types"),
    )
    significance = None
    if null_model is not None and mined.motifs.graphs:
        from mining.library_significance import library_significance

        significance = library_significance(
            store.graphs(kind=kind, **asdict(chosen)),
            mined,
            null_model,
            workers=workers,
            progress=lambda done, parts: progress(done, parts, "random graphs"),
        )
    if save and mined.motifs.graphs:
        library_id = library_id_of(options, kind, chosen)
        store.write_results(
            library_rows(
                mined,
                library_id,
                library_summary(mined, kind, chosen, significance),
                significance,
            ),
            replace=_stored_parts(store, library_id),
        )
        store.checkpoint()
    return mined, significance


def library_configuration(
    kind: GraphKind,
    labels: str | None = None,
    min_task_support: int = 1,
    min_graph_support: int = 1,
    types: Sequence[int] = (),
) -> "LibraryConfiguration":
    """The configuration that a few options mean.

    Args:
        kind: Runs or decompositions.
        labels: ``types`` for learned types, or a name of :data:`mining.motifs.LABELS`; by
            default learned types for decompositions, role and kind for runs.
        min_task_support: Of motifs, rules and templates.
        min_graph_support: Of motifs and rules.
        types: Numbers of learned types to choose from; the usual ones where empty.

    Raises:
        UsageError: There are no such labels, or numbers of types are given and none are
            learned.
    """
    from mining.library import LibraryConfiguration
    from mining.motifs import DEFAULT_LABELS, LABELS, MotifConfiguration
    from mining.rules import RuleConfiguration
    from mining.structures import StructureConfiguration

    if labels is not None and labels not in (LEARNED, *LABELS):
        known = ", ".join((LEARNED, *LABELS))
        raise UsageError(f"there are no labels {labels!r}: choose one of {known}")
    learned = labels == LEARNED or (labels is None and kind == "decomposition")
    if types and not learned:
        raise UsageError(
            f"the labels {labels or DEFAULT_LABELS[kind]} are not learned, so there is no "
            "number of types to choose: add  --labels types"
        )
    return LibraryConfiguration(
        motifs=MotifConfiguration(
            labels=None if learned else labels,
            kept_occurrences=None,
            min_task_support=min_task_support,
            min_graph_support=min_graph_support,
        ),
        rules=RuleConfiguration(
            min_task_support=min_task_support, min_graph_support=min_graph_support
        ),
        structures=StructureConfiguration(min_task_support=min_task_support),
        types=_type_configuration(types) if learned else None,
    )


def _type_configuration(numbers: Sequence[int]) -> "SubtaskTypeConfiguration":
    from mining.subtask_types import SubtaskTypeConfiguration

    if numbers:
        return SubtaskTypeConfiguration(candidates=tuple(numbers))
    return SubtaskTypeConfiguration()


def library_id_of(
    configuration: "LibraryConfiguration", kind: GraphKind, selection: Selection
) -> str:
    """Id in the store: one library for each configuration, kind and selection.

    What was asked for counts, not the types that were learned: with more graphs in the
    store, the new library takes the place of the old one.
    """
    parts = ("library", kind, configuration.hash, canonical_json(asdict(selection)))
    return f"library-{digest(*parts)}"


def library_summary(
    mined: "MinedLibrary",
    kind: GraphKind,
    selection: Selection,
    significance: "Significance | None" = None,
) -> dict[str, Any]:
    """What a mining job found, in numbers."""
    found: dict[str, Any] = {}
    if significance is not None:
        found["significance"] = {
            "configuration": significance.configuration,
            "configuration_hash": significance.configuration.hash,
            "hash": significance.hash,
            "swap_share": significance.swap_share,
        }
    library, motifs, rules = mined.library, mined.motifs, mined.rules
    local, structures = library.local, library.structures
    return {
        "kind": kind,
        "selection": asdict(selection),
        "hash": library.hash,
        "graphs": len(library.graphs),
        "tasks": len(library.tasks),
        "without_nodes": mined.without_nodes,
        "skipped": [
            {"graph": graph.id, "reason": reason}
            for graph in library.graphs
            for reason in graph.skipped
        ],
        "types": len(local.types),
        "types_at_upper_end": mined.types_at_upper_end,
        "type_choices": [asdict(choice) for choice in mined.type_choices],
        "motifs": len(local.patterns),
        "dropped_motifs": motifs.dropped_motifs,
        "occurrences": sum(one.occurrences for one in local.patterns),
        "dropped_occurrences": motifs.dropped_occurrences,
        "unindexed_occurrences": local.unindexed,
        "rules": len(local.rules),
        "dropped_rules": rules.dropped_rules,
        "coarse_graphs": len(structures.coarse_graphs),
        "refinements": len(structures.refinements),
        "integrations": len(structures.integrations),
        "couplings": len(structures.couplings),
        "excluded": [
            {"graph": one.graph, "node": one.node, "reason": one.reason}
            for one in structures.excluded
        ],
        **found,
    }


def _stored_parts(store: GraphStore, library_id: str) -> Rows:
    """What a library that is mined again replaces."""
    from app.library_rows import LABEL_OF_PART

    rows = Rows()
    for record in _asked(store, "library-parts", library_id):
        rows.node(LABEL_OF_PART[record["part"]], {"id": record["id"]})
    return rows


def _asked(store: GraphStore, name: str, library: str) -> list[dict[str, Any]]:
    from graphstore.queries import bind, saved_query

    saved = saved_query(name)
    found = store.query(
        saved.cypher, bind(saved, {"library": library}), timeout=600.0, row_limit=MANY
    )
    return found.records()


def read_library(store: GraphStore, library: str) -> "Library":
    """The library that was written, every part.

    Args:
        store: Where it is.
        library: Its id; the saved query ``libraries`` lists them.

    Raises:
        NotFoundError: There is no such library, or it holds motifs alone.
        InputError: A part is missing or damaged.
    """
    from mining.library_parts import join_library

    heads = [
        row for row in _asked(store, "library-document", library) if row["document"] is not None
    ]
    if not heads:
        raise NotFoundError(f"there is no library {library!r}: see  masgraph query libraries")
    parts: dict[str, list[str]] = {}
    for record in _asked(store, "library-parts", library):
        parts.setdefault(record["part"], []).append(record["document"])
    return join_library(heads[0]["document"], parts)


def save_library(library: "Library", path: str | Path) -> None:
    """Writes a library to one file, whole or not at all.

    Args:
        library: The library.
        path: Ends in ``.json``, or in ``.json.gz`` to be compressed. Equal libraries give
            equal bytes.

    Raises:
        UsageError: The name ends otherwise, or the file cannot be written.
    """
    from mining.library import dump_library

    check_library_path(path)
    target = Path(path)
    data = dump_library(library)
    if target.suffix == ".gz":
        # Without a name and a time: the same library gives the same file.
        data = gzip.compress(data, mtime=0)
    write_whole(target, data)


def check_library_path(path: str | Path) -> None:
    """Refuses a name that a library cannot be saved under.

    Raises:
        UsageError: It ends otherwise, or there is no such folder.
    """
    target = Path(path)
    if not target.name.endswith(LIBRARY_SUFFIXES):
        raise UsageError(f"{target}: a library is saved as {' or '.join(LIBRARY_SUFFIXES)}")
    if not target.parent.is_dir():
        raise UsageError(f"{target}: there is no folder {target.parent}")


def load_library(path: str | Path) -> "Library":
    """Reads a library that :func:`save_library` wrote.

    Raises:
        InputError: The file cannot be read, is no library, of another version, or damaged.
    """
    from mining import library

    return library.load_library(read_unpacked(path), file=str(path))
