"""``masgraph trajectories`` and ``scorers``: did working together help, and why?"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import (
    DatasetOption,
    DryRunOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.files import write_file
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_table, progress, say
from app.trajectory_output import (
    print_by_run,
    print_claims,
    print_labels,
    print_methods,
    say_notes,
)
from graphstore.errors import UsageError

if TYPE_CHECKING:
    from analytics.scorers.judge import Judge, RecordingJudge
    from app.trajectory_jobs import Scoring

JUDGE_KEY = "MASGRAPH_JUDGE_KEY"
"""The environment variable with the key of a judge's server."""


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("trajectories")(trajectories)
    cli.command("scorers")(scorers)


def trajectories(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            "-b",
            metavar="METHOD",
            help="The single agent's method: gains and multiples are taken against it.",
        ),
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(
            "--scorer",
            metavar="NAME",
            help="Score the proposals anew; see  masgraph scorers. Without it, they have the "
            "scores of the trace.",
        ),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(
            "--tasks",
            metavar="FILE",
            help="JSONL with the instances of the tasks, for the scorer; see docs/scorers.md.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="JUDGE",
            help="Whom a scorer asks: recorded:FILE, or openai:MODEL@URL with the key in "
            f"{JUDGE_KEY}.",
        ),
    ] = None,
    record_judge: Annotated[
        Path | None,
        typer.Option(
            "--record-judge",
            metavar="FILE",
            help="Keep the judge's answers there, and ask nothing twice.",
        ),
    ] = None,
    maximum_score: Annotated[
        float | None,
        typer.Option(
            "--maximum-score",
            metavar="SCORE",
            help="The largest possible score, which tells OptKeep from SubKeep. Scorers know "
            "their own.",
        ),
    ] = None,
    invalid_score: Annotated[
        float | None,
        typer.Option(
            "--invalid-score",
            metavar="SCORE",
            help="The score of outputs that could not be parsed; by default they have none.",
        ),
    ] = None,
    keep_unrevised: Annotated[
        bool,
        typer.Option(
            "--keep-unrevised",
            help="An agent without a final proposal has kept its initial one.",
        ),
    ] = False,
    by_run: Annotated[
        bool, typer.Option("--by-run", help="A line for each run too, with what it lacks.")
    ] = False,
    confidence: Annotated[
        float, typer.Option(help="Of the intervals, between 0 and 1.")
    ] = 0.95,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="NAME",
            help="Bootstrap interval: expanded (default), percentile or bca.",
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, help="Resamples of the bootstrap, at most 1,000,000.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Did the team do better than one agent, and where was it gained or lost?"""
    from analytics.statistics import BootstrapConfiguration
    from analytics.trajectories import TrajectoryConfiguration
    from analytics.trajectory_results import AnalysisConfiguration
    from app import trajectory_jobs

    chosen: dict[str, Any] = {} if interval is None else {"method": interval}
    configuration = AnalysisConfiguration(
        trajectory=TrajectoryConfiguration(
            maximum_score=maximum_score,
            invalid_score=invalid_score,
            keep_unrevised=keep_unrevised,
        ),
        bootstrap=BootstrapConfiguration(
            confidence=confidence,
            draws=draws,
            seed=seed,
            **chosen,
        ),
        baseline=baseline,
    )
    scoring, recording = _scoring(scorer, tasks, judge, record_judge)
    try:
        with (
            opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
            progress("following proposals", quiet=quiet or json) as reporter,
        ):
            result = trajectory_jobs.analyse(
                graph_store,
                configuration,
                scoring=scoring,
                selection=Selection(dataset, method, task),
                save=not dry_run,
                progress=reporter,
            )
    finally:
        if recording is not None and record_judge is not None:
            lines = "".join(f"{line}\n" for line in recording.lines())
            write_file(record_judge, lines, make_folder=True)
    if not result.report.trajectories:
        raise nothing_matches()
    document = result.to_dict()
    if json:
        print_json({**document, "by_run": result.by_run()} if by_run else document)
        return
    if by_run:
        print_by_run(result.by_run())
    print_methods(document, confidence)
    print_labels(document)
    print_claims(document)
    if not quiet:
        say_notes(document)


def _scoring(
    scorer: str | None, tasks: Path | None, judge: str | None, record: Path | None
) -> "tuple[Scoring | None, RecordingJudge | None]":
    from analytics.scorers.judge import RecordingJudge
    from app.trajectory_jobs import make_judge, make_scoring, read_recorded_judge

    if scorer is None:
        for option, given in (
            ("--tasks", tasks),
            ("--judge", judge),
            ("--record-judge", record),
        ):
            if given is not None:
                raise UsageError(f"{option} is for a scorer: name one with --scorer")
        return None, None
    if record is not None and judge is None:
        raise UsageError("--record-judge keeps the answers of a judge: name one with --judge")
    asked: Judge | None = None
    recording = None
    if judge is not None:
        asked = make_judge(judge, os.environ.get(JUDGE_KEY))
        if record is not None:
            known = read_recorded_judge(record).answers if record.exists() else {}
            asked = recording = RecordingJudge(asked, dict(known))
    return make_scoring(scorer, tasks=tasks, judge=asked), recording


def scorers(quiet: QuietOption = False, json: JsonOption = False) -> None:
    """List the scorers of proposals, with those of installed packages."""
    from analytics.scorers.registry import default_scorers

    registry = default_scorers()
    rows = [
        {
            "name": name,
            "scores": one.title,
            "version": one.version,
            "unit": "state" if one.dynamic else "sample",
            "maximum": one.maximum,
            "needs_judge": one.needs_judge,
        }
        for name, one in registry.scorers().items()
    ]
    if json:
        print_json({"scorers": rows, "warnings": registry.warnings})
        return
    print_table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    if not quiet:
        for warning in registry.warnings:
            say(f"Warning: {warning}")
