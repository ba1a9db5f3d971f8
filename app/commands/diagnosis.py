"""``masgraph forest diagnose``: what went wrong, where, and how far that can be trusted."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import (
    ByRunOption,
    DatasetOption,
    DryRunOption,
    EmbeddingOption,
    ForestSetOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_table, progress, say

if TYPE_CHECKING:
    from analytics.diagnosis_report import DiagnosisReport

LevelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="NAME",
        help="May be repeated: task, category, dataset, method, all or decomposition.",
    ),
]


def diagnose(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    forests: ForestSetOption = None,
    embedding: EmbeddingOption = None,
    level: LevelOption = None,
    by_run: ByRunOption = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Tell failures of structure from failures of content, and where runs leave what works."""
    from analytics.forest_keys import checked_levels
    from app import diagnosis_jobs
    from app.similarity_options import load_embedding

    if embedding is not None:
        load_embedding(embedding)
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("diagnosing", quiet=quiet or json) as reporter,
    ):
        report = diagnosis_jobs.diagnose(
            graph_store,
            forests=forests,
            levels=checked_levels(level) if level else None,
            selection=Selection(dataset, method, task),
            save=not dry_run,
            progress=reporter,
        )
    if not report.rows:
        raise nothing_matches()
    if json:
        print_json(report.to_dict())
        return
    if by_run:
        print_table(
            SHOWN_OF_A_RUN,
            [tuple(getattr(row, name) for name in SHOWN_OF_A_RUN) for row in report.rows],
        )
    else:
        counts = report.counts()
        print_table(list(counts[0]), [list(one.values()) for one in counts])
    _print_mistakes(report)
    if not quiet:
        _say_what_was_compared(report)


SHOWN_OF_A_RUN = (
    "run",
    "task",
    "method",
    "success",
    "diagnosis",
    "forest_level",
    "forest_match",
    "percentile",
    "best_reference",
    "parts_at",
    "parts_after",
    "parts_action",
    "parts_agent",
    "mistake_step",
)


def _print_mistakes(report: "DiagnosisReport") -> None:
    if report.mistakes is None:
        return
    print_table(
        ("runs of", "guess", "runs", "answered", "right action", "", "right agent", ""),
        [
            (
                row.method or "all methods",
                row.strategy.replace("_", " "),
                row.runs,
                row.answered,
                row.step.estimate,
                _range(row.step.low, row.step.high),
                row.agent.estimate,
                _range(row.agent.low, row.agent.high),
            )
            for row in report.mistakes.rows
        ],
        title="Labelled mistakes: how often each guess is right",
    )


def _range(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.3f} to {high:.3f}"


def _say_what_was_compared(report: "DiagnosisReport") -> None:
    without = sum(row.forest_level is None for row in report.rows)
    if without:
        say(f"{without:,} of {len(report.rows):,} runs have no forest to be compared with.")
    undecided = sum(row.diagnosis is None for row in report.rows) - without
    if undecided:
        say(
            f"{undecided:,} were compared and have no diagnosis: the outcome is not known, or "
            "the forest has too few successes for a threshold."
        )
    pooled = sum(row.forest_level not in (None, "task") for row in report.rows)
    if pooled:
        say(f"{pooled:,} were compared with forests that pool more than their own task.")
    say(f"Configuration {report.configuration_hash}.")
