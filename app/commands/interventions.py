"""``masgraph interventions``: what a change of the team does to its structure, or did."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.apply import apply
from app.commands.links import ProjectionOption, links
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
from app.output import print_json, print_mapping, print_table, progress, say
from app.shown_columns import EFFECT_HEADINGS
from graphstore.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from analytics.interventions_prediction import InterventionPrediction
    from analytics.interventions_response import ResponseReport
    from app.intervention_jobs import PredictionReport

SHOWN_LEFT_OUT = 10
SHOWN_RESPONSE = (
    "method",
    "setting",
    "pairs",
    "tasks",
    "reference",
    "modified",
    "response",
    "low",
    "high",
    "retention",
    "better",
    "tied",
    "worse",
    "replaced_links",
)

group = typer.Typer(
    help="What changes of a team do: predicted from its structure, or measured on runs.",
    no_args_is_help=True,
)


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    group.command("links")(links)
    group.command("predict")(predict)
    group.command("apply")(apply)
    group.command("measure")(measure)
    cli.add_typer(group, name="interventions")


def predict(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEAM]",
            help="Id or name of an organization, or with --executed the id of a run. All "
            "selected ones by default.",
        ),
    ] = None,
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    executed: Annotated[
        bool,
        typer.Option(
            "--executed",
            help="Take the links that runs used. By default those that organizations permit.",
        ),
    ] = False,
    projection: ProjectionOption = "exchange",
    output: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A unit that gives the output. Can be given again; by default the trace, the "
            "policy, the aggregators or the sinks tell.",
        ),
    ] = None,
    ratio: Annotated[
        list[float] | None,
        typer.Option(
            metavar="SHARE", help="Of links to rewire. Can be given again; 0.1 0.3 0.5 0.7."
        ),
    ] = None,
    roles: Annotated[
        Literal["observed", "any"],
        typer.Option(
            help="Which roles a rewired link may join: those that some link joins, or any."
        ),
    ] = "observed",
    critic: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE", help="Whom 'no critic' removes. Can be given again."),
    ] = None,
    specialist: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE", help="Whom 'no specialist' removes. Can be given again."),
    ] = None,
    expert: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE", help="Whom 'expert only' keeps. Can be given again."),
    ] = None,
    draws: Annotated[
        int, typer.Option(min=1, help="Draws of each setting that has chance in it.")
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Of the first draw.")] = 0,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Predict what rewiring, removal, wrong contents and failures do to a team's structure."""
    from analytics.interventions_configuration import InterventionConfiguration
    from app import intervention_jobs

    given: dict[str, Any] = {
        name: tuple(values)
        for name, values in (
            ("rewiring", ratio),
            ("critic_roles", critic),
            ("specialist_roles", specialist),
            ("expert_roles", expert),
        )
        if values
    }
    configuration = InterventionConfiguration(
        subject="executed" if executed else "permitted",
        projection=projection,
        role_rule=roles,
        draws=draws,
        seed=seed,
        **given,
    )
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("intervening", quiet=quiet or json) as reporter,
    ):
        report = intervention_jobs.predict(
            graph_store,
            configuration,
            selection=Selection(dataset, method, task),
            subject=subject,
            output=output or (),
            save=not dry_run,
            progress=reporter,
        )
    if not report.predictions:
        if executed:
            raise nothing_matches()
        raise NotFoundError("no selected graph names an organization: try  --executed")
    if json:
        print_json(report.to_dict())
        return
    _print_prediction(report)
    if not quiet:
        _say_of_prediction(report, executed)


def _print_prediction(report: "PredictionReport") -> None:
    if len(report.predictions) == 1:
        _print_team(report.predictions[0])
    rows = report.settings()
    print_table(
        ("intervention", "teams", *EFFECT_HEADINGS.values()),
        [
            (row["setting"], row["teams"], *(row[name] for name in EFFECT_HEADINGS))
            for row in rows
        ],
        title="Structure after each intervention; means over draws and teams",
    )


def _print_team(prediction: "InterventionPrediction") -> None:
    team, reference = prediction.team, prediction.reference
    print_mapping(
        {
            "units": reference.units,
            "links": reference.links,
            "output": ", ".join(team.names[place] for place in team.outputs) or None,
            "known by": team.output_basis,
            "articulation points": ", ".join(reference.articulation_points) or None,
            "critical for the output": ", ".join(reference.critical_units) or None,
        },
        title=prediction.name,
    )


def _say_of_prediction(report: "PredictionReport", executed: bool) -> None:
    if len(report.predictions) == 1:
        for one in report.predictions[0].settings:
            if one.reason is not None:
                say(f"{one.setting}: {one.reason}.")
    rows = report.settings()
    partly = sum(0 < row["teams"] < len(report.predictions) for row in rows)
    if partly:
        say(
            f"{partly:,} of {len(rows):,} settings can be made on some of the "
            f"{len(report.predictions):,} teams only (column teams): their values are over "
            "these teams; the value less its (change) is what these teams have as they are."
        )
    unknown = sum(one.team.output_basis is None for one in report.predictions)
    if unknown:
        say(
            f"{unknown:,} of {len(report.predictions):,} teams do not tell who gives the "
            "output: name it with  --output NAME"
        )
    if report.without:
        lacking = "no agents" if executed else "no organization"
        say(f"{report.without:,} selected graphs have {lacking} and were left out.")
    say("These are effects on structure. They do not tell how a score would answer.")
    say(f"Configuration {report.configuration.hash}.")


def measure(
    reference: Annotated[
        str | None,
        typer.Argument(
            metavar="[REFERENCE]",
            help="Method of the reference runs. By default all that record no intervention.",
        ),
    ] = None,
    modified: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODIFIED]",
            help="Method of the modified runs. By default all that record an intervention.",
        ),
    ] = None,
    store: StoreOption = None,
    dataset: DatasetOption = None,
    task: TaskOption = None,
    value: Annotated[
        Literal["score", "success"],
        typer.Option(help="What answers: the score as it is, or success as 1 and 0."),
    ] = "score",
    accept_unrecorded: Annotated[
        bool,
        typer.Option(
            "--accept-unrecorded",
            help="Keep pairs of which neither run records a control; they are counted.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals.")] = 0,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure how scores answered to interventions, on pairs of runs whose controls agree."""
    from analytics.interventions_pairs import ResponseConfiguration
    from app import intervention_jobs

    if (reference is None) != (modified is None):
        raise UsageError("name two methods, REFERENCE and MODIFIED, or none")
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("pairing runs", quiet=quiet or json) as reporter,
    ):
        report = intervention_jobs.measure(
            graph_store,
            ResponseConfiguration(value=value, accept_unrecorded=accept_unrecorded, seed=seed),
            reference=reference,
            modified=modified,
            selection=Selection(dataset, None, task),
            save=not dry_run,
            progress=reporter,
        )
    if not report.modified:
        raise NotFoundError(
            "no selected run records an intervention: name two methods, or see "
            "docs/interventions.md for what a run records"
        )
    if json:
        print_json({"report": "measure", **report.to_dict()})
        return
    _print_responses(report, quiet=quiet)


def _print_responses(report: "ResponseReport", *, quiet: bool) -> None:
    if report.settings:
        columns: tuple[str, ...] = SHOWN_RESPONSE
        if any(one.achieved is not None for one in report.settings):
            columns += ("achieved",)
        print_table(
            columns,
            [tuple(getattr(one, name) for name in columns) for one in report.settings],
            title="Response to interventions; means over tasks, 95% intervals, retention in %",
        )
        fates = [one for one in report.settings if one.fates]
        if fates:
            names = sorted({fate for one in fates for fate in one.fates})
            print_table(
                ("method", "intervention", *names),
                [
                    (one.method, one.setting, *(one.fates.get(name, 0) for name in names))
                    for one in fates
                ],
                title="What became of injected contents",
            )
    if report.left_out:
        print_table(
            ("left_out", "because"),
            [(count, reason) for reason, count in report.reasons().items()],
            title=f"{len(report.left_out):,} of {report.modified:,} modified runs take no part",
        )
    if quiet:
        return
    for left in report.left_out[:SHOWN_LEFT_OUT]:
        say(f"{left.run} (task {left.task}): {'; '.join(left.reasons)}.")
    if len(report.left_out) > SHOWN_LEFT_OUT:
        say(f"{len(report.left_out) - SHOWN_LEFT_OUT:,} more: --json names them.")
    for one in report.settings:
        if one.incomplete:
            achieved = "" if one.achieved is None else f" (a share of {one.achieved:.4g})"
            say(
                f"Caution: {one.incomplete:,} of {one.pairs:,} runs with {one.setting} got "
                f"less of it than was asked for{achieved}."
            )
    unrecorded = sum(one.unrecorded for one in report.settings)
    if unrecorded:
        say(f"{unrecorded:,} pairs agree only as far as is recorded.")
    say(f"Configuration {report.configuration_hash}.")
