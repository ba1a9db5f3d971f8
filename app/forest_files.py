"""Reference forests as one file, with the graphs that they hold: to be used elsewhere."""

import gzip
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.files import read_unpacked, write_whole
from app.forest_store import forest_graphs, parsed_forests, store_forests, stored_forests
from app.library_jobs import LIBRARY_SUFFIXES
from graphstore.errors import GraphError, InputError, UsageError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph
from graphstore.short_view import ShortView, counted
from graphstore.store import GraphStore
from graphstore.validation import validate

if TYPE_CHECKING:
    from analytics.forest import ForestSet

FORMAT = 2
"""Raised whenever the file's form changes."""


@dataclass(frozen=True, repr=False)
class LoadedForests(ShortView):
    """Forests with the graphs that they hold.

    Attributes:
        forests: The forests.
        graphs: References and what stands in for them, by id.
    """

    forests: "ForestSet"
    graphs: tuple[CollaborationGraph, ...]

    def _in_short(self) -> str:
        return (
            f"{counted(len(self.forests.forests), 'forest')}, "
            f"{counted(len(self.graphs), 'graph')}"
        )


def with_graphs(
    forests: "ForestSet", source: GraphStore | Sequence[CollaborationGraph]
) -> LoadedForests:
    """Forests that were just built, with the graphs that they were built from.

    Args:
        forests: As :func:`app.forest_notebook.build_forests` gives them.
        source: A store or graphs: those that the forests name must be there.

    Raises:
        UsageError: One is missing.
    """
    wanted = {name for forest in forests.forests for name in forest.graph_ids}
    if isinstance(source, Sequence):
        found = {graph.id: graph for graph in source if graph.id in wanted}
    else:
        found = {graph.id: graph for graph in forest_graphs(source, forests)}
    if len(found) < len(wanted):
        raise UsageError(
            f"{len(wanted) - len(found)} of the {len(wanted)} graphs that the forests hold are "
            "not among those given: save the forests with the graphs that they were built "
            "from (mg.save_forests), and load that file"
        )
    return LoadedForests(forests, tuple(found[name] for name in sorted(found)))


def dump_forests(forests: "ForestSet", graphs: Sequence[CollaborationGraph]) -> bytes:
    """The file's bytes: the same forests and graphs give the same bytes.

    Args:
        forests: The forests.
        graphs: Those that they name; others are left out.
    """
    wanted = {name for forest in forests.forests for name in forest.graph_ids}
    held = sorted((one for one in graphs if one.id in wanted), key=lambda graph: graph.id)
    document = {
        "masgraph_forests": FORMAT,
        "set": forests.id,
        "configuration": forests.configuration.configuration,
        "configuration_hash": forests.configuration_hash,
        "selection": forests.selection,
        "forests": [asdict(forest) for forest in forests.forests],
        "graphs": held,
    }
    return canonical_json(document).encode() + b"\n"


def parse_forests(data: bytes, file: str) -> LoadedForests:
    """What :func:`dump_forests` wrote.

    Args:
        data: The file's bytes.
        file: Its name, for messages.

    Raises:
        InputError: It holds no forests, or of another version, or is damaged.
    """
    import msgspec

    class Document(msgspec.Struct):
        masgraph_forests: int
        set: str
        configuration: msgspec.Raw
        configuration_hash: str
        selection: msgspec.Raw
        forests: list[msgspec.Raw]
        graphs: list[CollaborationGraph]

    try:
        version = msgspec.json.decode(data, type=dict[str, Any]).get("masgraph_forests")
    except msgspec.MsgspecError as error:
        raise InputError(f"it holds no reference forests: {error}", file=file) from None
    if version != FORMAT:
        raise InputError(
            "it holds no reference forests"
            if version is None
            else f"its reference forests are of version {version!r}; {FORMAT} is known",
            file=file,
        )
    try:
        found = msgspec.json.decode(data, type=Document)
    except msgspec.MsgspecError as error:
        raise InputError(f"its reference forests are damaged: {error}", file=file) from None
    forests = parsed_forests(
        bytes(found.configuration).decode(),
        bytes(found.selection).decode(),
        [bytes(one).decode() for one in found.forests],
        file,
    )
    if (forests.id, forests.configuration_hash) != (found.set, found.configuration_hash):
        raise InputError(
            "its reference forests are damaged: they are not those that the file names",
            file=file,
        )
    for graph in found.graphs:
        try:
            validate(graph)
        except GraphError as error:
            raise InputError(f"a reference is damaged: {error}", file=file) from None
    held = {graph.id for graph in found.graphs}
    wanted = {name for forest in forests.forests for name in forest.graph_ids}
    if held != wanted or len(held) != len(found.graphs):
        raise InputError(
            f"its reference forests are damaged: they name {len(wanted)} graphs, and it "
            f"holds {len(found.graphs)}",
            file=file,
        )
    _check_signatures(forests, found.graphs, file)
    return LoadedForests(forests, tuple(sorted(found.graphs, key=lambda graph: graph.id)))


def _check_signatures(
    forests: "ForestSet", graphs: Sequence[CollaborationGraph], file: str
) -> None:
    from analytics.forest_copies import signature

    known = {graph.id: signature(graph) for graph in graphs}
    for forest in forests.forests:
        for one in forest.references:
            if known[one.graph] != one.signature or (
                one.stand_in is not None
                and known[one.stand_in] not in set(one.members) - {one.signature}
            ):
                raise InputError(
                    "its reference forests are damaged: a graph of the "
                    f"{forest.key.level} {forest.key.name} is not the one that was chosen",
                    file=file,
                )


def save_forests(
    forests: "ForestSet", graphs: Sequence[CollaborationGraph], path: str | Path
) -> None:
    """Writes forests with their graphs to one file, whole or not at all.

    Args:
        forests: The forests.
        graphs: Those that they name.
        path: Ends in ``.json``, or in ``.json.gz`` to be compressed.

    Raises:
        UsageError: The name ends otherwise, or the file cannot be written.
        InputError: A graph is missing.
    """
    target = Path(path)
    if not target.name.endswith(LIBRARY_SUFFIXES):
        raise UsageError(f"{target}: forests are saved as {' or '.join(LIBRARY_SUFFIXES)}")
    if not target.parent.is_dir():
        raise UsageError(f"{target}: there is no folder {target.parent}")
    wanted = {name for forest in forests.forests for name in forest.graph_ids}
    lost = sorted(wanted - {graph.id for graph in graphs})
    if lost:
        raise InputError(
            f"references that are no longer there: {len(lost)}, {lost[0]} for one; build the "
            "forests again"
        )
    data = dump_forests(forests, graphs)
    # Without a name and a time: the same forests give the same file.
    write_whole(target, gzip.compress(data, mtime=0) if target.suffix == ".gz" else data)


def load_forests(path: str | Path) -> LoadedForests:
    """Reads what :func:`save_forests` wrote.

    Raises:
        InputError: The file cannot be read, holds no forests, or is damaged.
    """
    return parse_forests(read_unpacked(path), str(path))


def export_forests(store: GraphStore, forests: "ForestSet", path: str | Path) -> int:
    """Writes forests of a store to one file; tells how many graphs it holds."""
    graphs = forest_graphs(store, forests)
    save_forests(forests, graphs, path)
    return len(graphs)


def import_forests(store: GraphStore, loaded: LoadedForests) -> bool:
    """Writes forests to a store, with the graphs that they hold.

    These graphs do not become runs of the store: what is measured there of methods and tasks
    stays what it was. A set is named by all that it holds, so that two sets never mix.

    Returns:
        False where the store had this set: then nothing is written.
    """
    if stored_forests(store, loaded.forests.id):
        return False
    store_forests(store, loaded.forests, graphs=loaded.graphs)
    return True
