"""Store -> functions -> store: the jobs behind the commands and the notebook's door."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from graphstore.errors import NotFoundError
from graphstore.model import CollaborationGraph, GraphKind
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from mining.motifs import MotifConfiguration, MotifLibrary

Progress = Callable[[float, float | None, str], None]
"""Receives how much is done, of how much (None: not known), and a note."""

MANY = 1_000_000_000
"""More rows than any store holds: no limit."""


def no_progress(done: float, total: float | None = None, note: str = "") -> None:
    """Receives progress and shows nothing."""


@dataclass(frozen=True)
class Selection:
    """Which graphs a job works on; None means all."""

    dataset: str | None = None
    method: str | None = None
    task: str | None = None


def nothing_matches(what: str = "run") -> NotFoundError:
    """The error of a selection that nothing fits; a command raises it with ``--json``, too."""
    return NotFoundError(f"no {what} matches: see what is there with  masgraph stats")


def runs_of(store: GraphStore, selection: Selection) -> Iterator[CollaborationGraph]:
    """The selected runs, in the order of their ids."""
    return store.graphs(kind="run", **asdict(selection))


def mine(
    store: GraphStore,
    configuration: "MotifConfiguration | None" = None,
    *,
    kind: GraphKind = "run",
    selection: Selection | None = None,
    progress: Progress = no_progress,
) -> "MotifLibrary":
    """The motifs of a store alone. Nothing is written: that is the library's job.

    :func:`app.library_jobs.mine_library` finds and keeps them with types and rules.

    Args:
        store: Where the graphs are.
        configuration: Sizes, thresholds, labels.
        kind: Runs or decompositions.
        selection: Which of them.
        progress: Receives the number of graphs done.
    """
    from mining.motifs import mine_motifs

    chosen = selection or Selection()
    total = store.counts().get(graph_label_of(kind), 0)

    def counted() -> Iterator[CollaborationGraph]:
        for done, graph in enumerate(store.graphs(kind=kind, **asdict(chosen)), start=1):
            yield graph
            progress(done, total, "")

    return mine_motifs(counted(), configuration)


def graph_label_of(kind: GraphKind) -> str:
    """The label of the node that stands for a graph of that kind."""
    return "Run" if kind == "run" else "Decomposition"
