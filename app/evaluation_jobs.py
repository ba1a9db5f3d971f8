"""Evaluations: the panel of each run, beside the reference forests of the store."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from app.forest_jobs import cosines_named, find_forests, make_scorer
from app.jobs import Progress, Selection, no_progress, runs_of
from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph
from graphstore.rows import Rows
from graphstore.schema import LABELS_BY_NAME
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.forest_keys import Level
    from analytics.forest_panel import ForestEvaluation
    from analytics.panel import PanelConfiguration, PanelRow

RESULT_BATCH = 5_000
"""Results that share a transaction."""


def evaluate(
    store: GraphStore,
    configuration: "PanelConfiguration | None" = None,
    *,
    selection: Selection | None = None,
    save: bool = True,
    embedder: str | None = "tfidf",
    forests: "str | bool | None" = None,
    levels: "Iterable[Level] | Level | None" = None,
    progress: Progress = no_progress,
) -> "ForestEvaluation":
    """Evaluates runs of a store and keeps the results there.

    Args:
        store: Where the runs are.
        configuration: The panel's options.
        selection: Which runs.
        save: Whether ``Evaluation`` nodes are written. Evaluating again under the same
            configuration overwrites them.
        embedder: Name of what embeds contents for information uptake
            (:func:`mining.embedders.make_embedder`); None leaves that out.
        forests: Id of the set of reference forests to compare with; None takes the only set
            that the store has, if any; False none.
        levels: Of the forests to use; all by default.
        progress: Receives the number of runs done.

    Raises:
        UsageError: The store has several sets of forests, and none is named.
        NotFoundError: It has no such set.
    """
    from analytics.forest_panel import evaluate_beside_forests, panel_configuration

    scorer = None
    if forests is not False:
        found = find_forests(store, None if forests is True else forests)
        if found is not None:
            scorer = make_scorer(store, found, levels)
    options = panel_configuration(configuration, embedder, scorer)
    total = store.counts().get("Run", 0)

    def counted() -> Iterator[CollaborationGraph]:
        for done, graph in enumerate(runs_of(store, selection or Selection()), start=1):
            yield graph
            progress(done, total, "")

    evaluation = evaluate_beside_forests(
        counted(),
        options,
        cosines=cosines_named(embedder),
        scorer=scorer,
    )
    if save:
        for batch in _batches(evaluation.rows):
            store.write_results(_evaluation_rows(evaluation, batch))
        store.checkpoint()
    return evaluation


def _batches(rows: Sequence["PanelRow"]) -> Iterator[Sequence["PanelRow"]]:
    for start in range(0, len(rows), RESULT_BATCH):
        yield rows[start : start + RESULT_BATCH]


def _evaluation_rows(evaluation: "ForestEvaluation", batch: Iterable["PanelRow"]) -> Rows:
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
