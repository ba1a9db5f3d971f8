"""Options that several commands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.output import say
from graphstore.errors import StoreUnreachableError

if TYPE_CHECKING:
    from graphstore.store import GraphStore

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="URL",
        envvar="MASGRAPH_STORE",
        help=(
            "A path for the embedded store (default: masgraph.db), or bolt:// or neo4j:// for "
            "Neo4j, with NEO4J_USER and NEO4J_PASSWORD from the environment."
        ),
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else.")
]
QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No progress, no remarks: the answer alone, and what went wrong."
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print the result, store nothing.")
]
ByRunOption = Annotated[
    bool, typer.Option("--by-run", help="A line for each run, not for each method.")
]
PlotOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the curves into this SVG file.")
]
QUIET_RULE = (
    "`--quiet` is the same for every command: no progress, and nothing of a command's own work "
    "(what it read, wrote or left out, and what comes next). An answer stays on standard "
    "output as it is without `--quiet`. What went wrong is still said: rejected input, less "
    "than was asked for, errors."
)
DatasetOption = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="Only this data set.")
]
MethodOption = Annotated[
    str | None, typer.Option("--method", metavar="NAME", help="Only this method.")
]
TaskOption = Annotated[
    str | None, typer.Option("--task", metavar="NAME", help="Only this task (name or id).")
]
ForestSetOption = Annotated[
    str | None,
    typer.Option(
        "--forests",
        metavar="SET",
        help="Id of a set of forests; needed only where the store has several.",
    ),
]
EmbeddingOption = Annotated[
    Path | None,
    typer.Option(
        "--embedding",
        metavar="FILE",
        help="A trained model (masgraph embedding train): for the measure embedding.",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Compute on the Dask cluster with this scheduler (tcp://HOST:PORT) instead.",
    ),
]


@contextmanager
def opened(
    url: str | None, *, read_only: bool = False, must_exist: bool = False, quiet: bool = False
) -> Iterator["GraphStore"]:
    """Opens the store that the options name, and closes it.

    Args:
        url: A path or URL.
        read_only: Refuse writes.
        must_exist: Do not make a new embedded store, although it is opened for writing.
        quiet: Do not say what there is to know about the file.

    Raises:
        StoreUnreachableError: It should exist, and there is no such file.
    """
    from graphstore.store import open_store

    address = url or "masgraph.db"
    scheme, separator, rest = address.partition("://")
    path = Path(rest if separator else address)
    is_file = not separator or scheme == "file"
    if (
        (read_only or must_exist)
        and is_file
        and not path.exists()
        and not _log_of(path).exists()
    ):
        raise StoreUnreachableError(
            f"there is no store at {path}: make one with  masgraph ingest PATH --store {path}"
        )
    with open_store(address, read_only=read_only) as store:
        for notice in () if quiet else store.notices:
            say(f"Note: {notice}.")
        yield store


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")
