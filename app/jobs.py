"""Store -> functions -> store: the jobs behind the commands and the notebook's door."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph
from graphstore.schema import LABELS_BY_NAME
from graphstore.store import GraphStore, Rows

if TYPE_CHECKING:
    from analytics.panel import Evaluation, PanelConfiguration, PanelRow
    from mining.motifs import MotifConfiguration, MotifLibrary

Progress = Callable[[float, float | None, str], None]
"""Receives how much is done, of how much (None: not known), and a note."""

RESULT_BATCH = 5_000
"""Results that share a transaction."""


def no_progress(done: float, total: float | None = None, note: str = "") -> None:
    """Receives progress and shows nothing."""


@dataclass(frozen=True)
class Selection:
    """Which graphs a job works on; None means all."""

    dataset: str | None = None
    method: str | None = None
    task: str | None = None


def runs_of(store: GraphStore, selection: Selection) -> Iterator[CollaborationGraph]:
    """The selected runs, in the order of their ids."""
    return store.graphs(kind="run", **asdict(selection))


def evaluate(
    store: GraphStore,
    configuration: "PanelConfiguration | None" = None,
    *,
    selection: Selection | None = None,
    save: bool = True,
    progress: Progress = no_progress,
) -> "Evaluation":
    """Evaluates runs of a store and keeps the results there.

    Args:
        store: Where the runs are.
        configuration: The panel's options.
        selection: Which runs.
        save: Whether ``Evaluation`` nodes are written. Evaluating again under the same
            configuration overwrites them.
        progress: Receives the number of runs done.
    """
    from analytics.panel import Evaluation, PanelConfiguration, evaluate_graph

    options = configuration or PanelConfiguration()
    total = store.counts().get("Run", 0)
    rows = []
    for graph in runs_of(store, selection or Selection()):
        rows.append(evaluate_graph(graph, options))
        progress(len(rows), total, "")
    evaluation = Evaluation(options, tuple(rows))
    if save:
        for batch in _batches(evaluation.rows):
            store.write_results(_evaluation_rows(evaluation, batch))
        store.checkpoint()
    return evaluation


def _batches(rows: Sequence["PanelRow"]) -> Iterator[Sequence["PanelRow"]]:
    for start in range(0, len(rows), RESULT_BATCH):
        yield rows[start : start + RESULT_BATCH]


def _evaluation_rows(evaluation: "Evaluation", batch: Iterable["PanelRow"]) -> Rows:
    rows = Rows()
    configuration = canonical_json(evaluation.configuration)
    known = {item.name for item in LABELS_BY_NAME["Evaluation"].properties}
    for row in batch:
        name = f"evaluation-{digest(row.run, evaluation.configuration_hash)}"
        measured: dict[str, Any] = {
            field: value for field, value in asdict(row).items() if field in known
        }
        rows.node(
            "Evaluation",
            {
                "id": name,
                "name": row.name,
                "configuration": configuration,
                "configuration_hash": evaluation.configuration_hash,
                **measured,
            },
        )
        rows.relate("OF", "Evaluation", "Run", {"source": name, "target": row.run})
    return rows
