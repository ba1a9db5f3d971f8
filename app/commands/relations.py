"""``masgraph relations``: goals reached, and whether connected results agree."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import (
    DatasetOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection
from app.output import print_json, print_table, progress, say
from graphstore.errors import NotFoundError, StoreError

if TYPE_CHECKING:
    from app.relation_jobs import CheckedFile, RejectedChecks, RelationResult

EXIT_SOME_REJECTED = 1
SHOWN_REJECTED = 10
KINDS = {"dependency": "dependencies", "shared_resource": "shared resources"}
OUTCOMES = ("satisfied", "inconsistent", "unavailable", "unassessable")
AVAILABLE = ("upstream only", "downstream only", "neither")
CHANGED = ("first_inconsistent", "final_inconsistent", "corrected", "broken")


def register(cli: typer.Typer) -> None:
    """Adds the command of this module."""
    cli.command("relations")(relations)


def relations(
    checks: Annotated[
        list[Path] | None,
        typer.Option(
            "--checks",
            metavar="FILE",
            help="JSON or JSON lines of what was checked (docs/relations.md), beside what runs "
            "of the store hold. Can be given again.",
        ),
    ] = None,
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the result, store no report. Files alone then need no store.",
        ),
    ] = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure progress and resolution, and how dependent and shared results agree."""
    from app import relation_jobs

    read, rejected = relation_jobs.read_checks(checks or ())
    selection = Selection(dataset, method, task)
    if _without_store(store, read, rejected, dry_run=dry_run):
        result = relation_jobs.relations(
            None, read, rejected=rejected, selection=selection, save=False
        )
    else:
        try:
            with (
                opened(
                    store, read_only=dry_run, must_exist=not read, quiet=quiet
                ) as graph_store,
                progress("reading checks", quiet=quiet or json) as reporter,
            ):
                result = relation_jobs.relations(
                    graph_store,
                    read,
                    rejected=rejected,
                    selection=selection,
                    save=not dry_run,
                    progress=reporter,
                )
        except StoreError:
            _say_rejected(rejected)
            raise
    found = bool(result.report.rows or result.rejected)
    if json and found:
        print_json(result.to_dict())
    elif not json and result.report.rows:
        _print(result)
    if not quiet and not json:
        _say_what_is_missing(result)
    if not json:
        _say_rejected(result.rejected)
    if not found:
        raise NotFoundError(
            "no selected run holds checks: give a file of them with  --checks FILE  "
            "(docs/relations.md)"
        )
    if result.rejected:
        raise typer.Exit(EXIT_SOME_REJECTED)


def _without_store(
    store: str | None,
    read: "Sequence[CheckedFile]",
    rejected: "Sequence[RejectedChecks]",
    *,
    dry_run: bool,
) -> bool:
    """Whether files alone are enough, and there is no store beside them."""
    if "://" in (store or "") or Path(store or "masgraph.db").exists():
        return False
    if read:
        return dry_run and store is None and all(one.record.run is None for one in read)
    # No record could be read: that is what has to be said, and needs no store.
    return bool(rejected)


def _print(result: "RelationResult") -> None:
    summaries = result.report.by_method()
    print_table(
        ("method", "runs", "tasks", "progress_score", "of_tasks", "resolved_rate", "of_them"),
        [
            (
                one.method,
                one.runs,
                one.tasks,
                _two(one.progress_score),
                one.scored_tasks,
                _two(one.resolved_rate),
                one.judged_tasks,
            )
            for one in summaries
        ],
        title="Goals, in percent; means over tasks",
    )
    outcomes: list[tuple[Any, ...]] = []
    handled: list[tuple[Any, ...]] = []
    for one in summaries:
        for kind, shares in one.outcomes.items():
            if shares:
                outcomes.append(
                    (
                        one.method,
                        KINDS[kind],
                        one.relation_tasks[kind],
                        one.relation_checks[kind],
                        one.relation_items[kind],
                        *(_percent(share) for share in shares.values()),
                    )
                )
        for kind, ways in one.handling.items():
            handled += [
                (one.method, KINDS[kind], how, *(counts.get(name, 0) for name in OUTCOMES))
                for how, counts in ways.items()
            ]
    if outcomes:
        print_table(
            ("method", "relations", "tasks", "checks", "objects", *OUTCOMES, *AVAILABLE),
            outcomes,
            title="Outcomes of relations; means over checks, then tasks",
        )
    if handled:
        print_table(
            ("method", "relations", "handled by", *OUTCOMES),
            handled,
            title="Objects by who made the two sides",
        )
    changed = [
        (
            row.method,
            row.task,
            check.check,
            check.items,
            *(getattr(history, name) for name in CHANGED),
        )
        for row in result.report.rows
        for check in row.checks
        if (history := check.history) is not None
    ]
    if changed:
        print_table(
            ("method", "task", "relation", "objects", *CHANGED),
            changed,
            title="Inconsistent objects: at the first comparable state, and at the end",
        )


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def _two(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _say_what_is_missing(result: "RelationResult") -> None:
    rows = result.report.rows
    counts: dict[str, int] = {}
    for row in rows:
        for sentence in row.missing:
            counts[sentence] = counts.get(sentence, 0) + 1
        for check in row.checks:
            if check.history is not None and check.history.contradicted:
                say(
                    f"{row.run}, {check.check}: the recorded changes do not lead to the stated "
                    f"results of {', '.join(check.history.contradicted[:5])}."
                )
    for sentence, count in sorted(counts.items(), key=lambda item: -item[1]):
        say(f"{count:,} of {len(rows):,} runs: {sentence}")
    if result.without:
        say(f"{result.without:,} runs of the store hold no checks and were left out.")
    if rows:
        say(f"Configuration {result.report.configuration_hash}.")


def _say_rejected(rejected: "Sequence[RejectedChecks]") -> None:
    """Under --quiet too: something the person gave was not used."""
    for one in rejected[:SHOWN_REJECTED]:
        say(f"Rejected: {one.file}, {one.record}: {one.reason}")
    if len(rejected) > SHOWN_REJECTED:
        say(f"{len(rejected) - SHOWN_REJECTED:,} more: --json names them.")
