"""``masgraph perturb`` and ``suitability``: what measures notice, and what tasks are worth."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.commands.options import (
    DaskOption,
    DatasetOption,
    DryRunOption,
    EmbeddingOption,
    JsonOption,
    MethodOption,
    PlotOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.files import check_writable, write_file
from app.jobs import Selection
from app.output import print_json, print_table, progress, say
from graphstore.errors import UsageError

if TYPE_CHECKING:
    from analytics.perturbation_result import PerturbationStudy
    from analytics.statistics import Interval
    from analytics.suitability import Suitability


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("perturb")(perturb)
    cli.command("suitability")(suitability)


def perturb(
    store: StoreOption = None,
    kind: Annotated[
        Literal["run", "decomposition"], typer.Option(help="Which graphs to edit.")
    ] = "run",
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            metavar="N",
            min=0,
            help="Edit at most this many graphs, drawn with the seed; 0 for all.",
        ),
    ] = 100,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Follow this similarity measure: forest, wl, motif, alignment, edit, gromov "
            "or embedding. Can be given again; by default all that need nothing else.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Follow this metric of masgraph evaluate, of runs. Can be given again; none "
            "for no metric. By default the eight that are no count.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="What types a node for the measures; role/kind by default.",
        ),
    ] = None,
    embedding: EmbeddingOption = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Make this edit: drop, insert, swap-roles, rewire, duplicate-content or "
            "truncate. Can be given again; by default all.",
        ),
    ] = None,
    rates: Annotated[
        str,
        typer.Option(metavar="LIST", help="Shares to edit, above 0 and at most 1."),
    ] = "0.1,0.2,0.3,0.4,0.5",
    repeats: Annotated[
        int, typer.Option(min=1, help="Edits of each graph at each rate; their mean counts.")
    ] = 3,
    seed: Annotated[
        int, typer.Option(min=0, help="For the draw of graphs, the edits and the intervals.")
    ] = 0,
    draws: Annotated[int, typer.Option(min=1, help="Resamples behind each interval.")] = 2_000,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="Processes; by default one for each core where there are many graphs.",
        ),
    ] = None,
    dask: DaskOption = None,
    plot: PlotOption = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Edit graphs at stated rates and follow which measure notices what."""
    from analytics.perturbation import EDITS, checked_edit
    from analytics.perturbation_study import DEFAULT_METRICS, PerturbationConfiguration
    from analytics.statistics import BootstrapConfiguration
    from app.perturbation_jobs import DEFAULT_MEASURES, perturb_graphs
    from app.perturbation_plot import perturbation_svg
    from app.similarity_options import measures_from
    from mining.workers import Workers

    if plot is not None and plot.suffix.lower() != ".svg":
        raise UsageError(f"plots are drawn as SVG: {plot} should end in .svg")
    if plot is not None:
        check_writable(plot)
    names = measure or (() if embedding is not None else DEFAULT_MEASURES)
    measures = measures_from(names, embedding=embedding, labels=labels)
    metrics = tuple(metric) if metric else DEFAULT_METRICS
    configuration = PerturbationConfiguration(
        edits=tuple(map(checked_edit, edit)) if edit else EDITS,
        rates=_rates(rates),
        seed=seed,
        repeats=repeats,
        metrics=() if metrics == ("none",) else metrics,
        bootstrap=BootstrapConfiguration(draws=draws, seed=seed),
    )
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("editing", quiet=quiet or json) as reporter,
    ):
        study = perturb_graphs(
            graph_store,
            measures,
            configuration,
            kind=kind,
            selection=Selection(dataset, method, task),
            limit=limit or None,
            save=not dry_run,
            workers=Workers(jobs, dask),
            progress=reporter,
        )
    if plot is not None:
        write_file(plot, perturbation_svg(study))
    if json:
        print_json(study.to_dict())
        return
    _print_study(study)
    if not quiet:
        _say_about(study, limit, kind)
        if plot is not None:
            say(f"Plot: {plot}")


def _rates(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UsageError(
            f"rates are numbers with commas between them, as in 0.1,0.5, not {text!r}"
        ) from None


def _print_study(study: "PerturbationStudy") -> None:
    rates = [0.0, *study.configuration["rates"]]
    columns = ("edit", *(f"{rate:.0%}" for rate in rates), "change", "interval", "verdict")
    for quantity in dict.fromkeys(one.quantity for one in study.responses):
        responses = [one for one in study.responses if one.quantity == quantity]
        print_table(
            columns,
            [
                (
                    one.edit,
                    *(_rounded(point.value.estimate) for point in one.points),
                    _rounded(one.change.estimate),
                    _ends(one.change),
                    one.verdict,
                )
                for one in responses
            ],
            title=f"{quantity.replace('_', ' ')} "
            + ("(similarity to the unedited graph)" if responses[0].kind == "measure" else ""),
            spell_columns=False,
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _ends(interval: "Interval") -> str | None:
    if interval.low is None or interval.high is None:
        return None
    return f"{interval.low:.3f} to {interval.high:.3f}"


def _say_about(study: "PerturbationStudy", limit: int, kind: str) -> None:
    say(
        f"{study.graphs:,} {kind}s of {study.tasks:,} tasks; intervals resample "
        f"{study.resampled}s."
    )
    if study.graphs == limit:
        say(f"At most {limit:,} graphs are edited: --limit takes more.")
    for note in study.notes:
        say(note)
    say(f"Configuration {study.configuration_hash}.")


def suitability(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    task: TaskOption = None,
    depth: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Least median depth: actions on a longest path of team runs. none: any.",
        ),
    ] = "3",
    width: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Least median width: actions of the largest level of team runs. none: any.",
        ),
    ] = "2",
    gain: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Least success rate of teams over that of a single agent. none: any.",
        ),
    ] = "0.05",
    team: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD",
            help="A method that is a team. Can be given again; by default every run is a "
            "team's in which not one agent alone acts.",
        ),
    ] = None,
    single: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="The method that is the single agent; by default every run in which one "
            "agent alone acts.",
        ),
    ] = None,
    only: Annotated[
        bool, typer.Option("--only-suitable", help="Print suitable tasks alone.")
    ] = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Tell tasks that are deep, wide and better done by a team from the others."""
    from analytics.suitability import SuitabilityConfiguration
    from app.perturbation_jobs import assess_suitability

    configuration = SuitabilityConfiguration(
        _threshold("depth", depth),
        _threshold("width", width),
        _threshold("gain", gain),
        teams=tuple(team or ()),
        single=single,
    )
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("looking at runs", quiet=quiet or json) as reporter,
    ):
        result = assess_suitability(
            graph_store,
            configuration,
            selection=Selection(dataset, None, task),
            save=not dry_run,
            progress=reporter,
        )
    if json:
        print_json(result.to_dict())
        return
    _print_tasks(result, only)
    if not quiet:
        document = result.to_dict()
        say(
            f"{document['suitable']:,} of {len(result.tasks):,} tasks are suitable, "
            f"{document['unsuitable']:,} are not; of {document['not_known']:,} a value is "
            "missing."
        )
        say(f"Configuration {result.configuration_hash}.")


def _threshold(name: str, text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--{name} takes a number or none, not {text!r}") from None


def _print_tasks(result: "Suitability", only: bool) -> None:
    print_table(
        (
            "task",
            "team runs",
            "single runs",
            "depth",
            "width",
            "team success",
            "single success",
            "gain",
            "suitable",
            "misses",
            "lacks",
        ),
        [
            (
                one.task,
                one.team_runs,
                one.single_runs,
                one.depth,
                one.width,
                one.team_success,
                one.single_success,
                one.gain,
                one.suitable,
                ", ".join(one.failed) or None,
                ", ".join(one.unknown) or None,
            )
            for one in (result.suitable if only else result.tasks)
        ],
        title=f"Tasks of {result.runs:,} runs",
    )
