"""``masgraph communication``: what talk cost, and what it brought."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

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
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_table, progress, say
from app.shown_columns import ROUND_COLUMNS

if TYPE_CHECKING:
    from app.communication_jobs import CommunicationResult

SHOWN_ROUNDS = 12
PAIR_COLUMNS = (
    "first",
    "second",
    "tasks",
    "difference",
    "low",
    "high",
    "better",
    "tied",
    "worse",
    "adjusted",
)


def register(cli: typer.Typer) -> None:
    """Adds the command of this module."""
    cli.command("communication")(communication)


def communication(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Group by this: method (the default) or a factor. Can be given again.",
        ),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A mechanism that configurations differ in, recorded by runs. Can be given "
            "again; by default memory, protocol and routing.",
        ),
    ] = None,
    measure: Annotated[
        Literal[
            "score",
            "transmitted_tokens",
            "message_phase_tokens",
            "score_per_thousand",
            "score_per_thousand_phase",
            "contribution_entropy",
        ],
        typer.Option(metavar="NAME", help="What the levels of a factor are compared in."),
    ] = "score",
    within_method: Annotated[
        bool,
        typer.Option("--within-method", help="Compare levels of a factor in one method only."),
    ] = False,
    contribution: Annotated[
        Literal["recorded", "messages", "tokens", "actions"],
        typer.Option(
            help="What an agent contributed: the number that the trace records, or a stand-in."
        ),
    ] = "recorded",
    contribution_name: Annotated[
        str, typer.Option(metavar="NAME", help="Attribute of an agent that records it.")
    ] = "contribution",
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals.")] = 0,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure messages: their tokens, score per 1,000 of them, rounds, who contributed."""
    from analytics.communication import CommunicationConfiguration
    from app import communication_jobs

    given: dict[str, Any] = {"factors": tuple(factor)} if factor else {}
    configuration = CommunicationConfiguration(
        contribution=contribution, contribution_name=contribution_name, **given
    )
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("measuring messages", quiet=quiet or json) as reporter,
    ):
        result = communication_jobs.communication(
            graph_store,
            configuration,
            by=tuple(by) if by else ("method",),
            measure=measure,
            within_method=within_method,
            seed=seed,
            selection=Selection(dataset, method, task),
            save=not dry_run,
            progress=reporter,
        )
    if not result.report.rows:
        raise nothing_matches()
    if json:
        print_json(result.to_dict())
        return
    _print(result, quiet=quiet)
    if not quiet:
        _say_what_is_missing(result)


def _print(result: "CommunicationResult", *, quiet: bool) -> None:
    from analytics.communication_summary import MEASURES

    print_table(
        (*result.by, "runs", "tasks", *MEASURES),
        [
            (*one.group, one.runs, one.tasks, *(one.means[name] for name in MEASURES))
            for one in result.groups
        ],
        title="Means over the tasks that have a value",
    )
    # A measure that no task has is a dash above: there is nothing to count.
    partly = [
        name
        for name in MEASURES
        if any(0 < one.known[name] < one.tasks for one in result.groups)
    ]
    if partly:
        print_table(
            (*result.by, "tasks", *partly),
            [
                (*one.group, one.tasks, *(one.known[name] for name in partly))
                for one in result.groups
            ],
            title="Number of tasks that a mean rests on, where it is not all of them",
        )
    rounds = [
        (*one.group, each.round, *(getattr(each, name) for name in ROUND_COLUMNS))
        for one in result.groups
        for each in one.rounds[:SHOWN_ROUNDS]
    ]
    if rounds:
        print_table(
            (*result.by, "round", *ROUND_COLUMNS),
            rounds,
            title="By round: score so far, and length of messages",
        )
    longest = max((len(one.rounds) for one in result.groups), default=0)
    if longest > SHOWN_ROUNDS and not quiet:
        say(f"Rounds after the first {SHOWN_ROUNDS} are not shown: --json holds them all.")
    for one in result.factors:
        others = ", ".join(f"{name} {level}" for name, level in one.others)
        pairs = one.to_dict()["pairs"]
        print_table(
            PAIR_COLUMNS,
            [[row[name] for name in PAIR_COLUMNS] for row in pairs],
            title=f"{one.factor}: {result.measure}" + (f", with {others}" if others else ""),
        )
        for row in pairs if not quiet else ():
            say(row["conclusion"])


def _say_what_is_missing(result: "CommunicationResult") -> None:
    total = len(result.report.rows)
    for sentence, count in result.missing().items():
        say(f"{count:,} of {total:,} runs: {sentence}")
    unknown = [name for name, counts in result.levels().items() if not counts]
    if unknown:
        say(f"No run records {', '.join(unknown)}: see docs/communication.md.")
    say(f"Configuration {result.report.configuration_hash}.")
