"""``masgraph compare``: methods on their common tasks, or two runs action by action."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import (
    DatasetOption,
    DryRunOption,
    JsonOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection
from app.output import print_json, print_table, progress, say, visible
from graphstore.errors import UsageError

if TYPE_CHECKING:
    from analytics.compare_configuration import ComparisonConfiguration
    from analytics.compare_result import MethodComparison
    from graphstore.model import CollaborationGraph

SHOWN_METHOD = ("runs", "tasks", "success", "score", "tokens")
SHOWN_CAUTIONS = 12
SHOWN_CHARACTERS = 60
MARKS = {"matched": "=", "relabelled": "~", "rewired": "*", "extra": ">", "missing": "<"}


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("compare")(compare)


def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Names of methods (all methods by default), or the ids of two runs.",
        ),
    ] = None,
    store: StoreOption = None,
    dataset: DatasetOption = None,
    task: TaskOption = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD", help="Compare all others with this method, not all pairs."
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="May be repeated: success, score, tokens, latency, cost or a metric of "
            "masgraph evaluate.",
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP",
            help="What is resampled together: task (default), source, dataset or category.",
        ),
    ] = None,
    correction: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For many tests: holm (default) or benjamini-hochberg."
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Bootstrap interval: expanded (default), percentile or bca."
        ),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Of the intervals; 0.95 by default.")
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of the bootstrap; 10,000 by default, at most 1,000,000."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the draws.")] = 0,
    require_all: Annotated[
        bool,
        typer.Option(
            "--require-all",
            help="A task has no value where one of its runs has none; by default the others "
            "are averaged.",
        ),
    ] = False,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="Of two runs: which actions may match: role/kind (default), role or kind.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Compare methods on their common tasks, or two runs action by action."""
    from app import compare_jobs

    configuration = _configuration(
        reference=reference,
        metrics=tuple(metric or ()),
        grouping=group_by,
        correction=correction,
        require_all=require_all,
        bootstrap={"method": interval, "confidence": confidence, "draws": draws, "seed": seed},
    )
    with opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store:
        runs = compare_jobs.runs_or_methods(graph_store, names) if names else None
        if runs is not None:
            _compare_runs(*runs, labels=labels, json=json, quiet=quiet)
            return
        if labels is not None:
            raise UsageError("--labels belongs to a comparison of two runs")
        with progress("comparing", quiet=quiet or json) as reporter:
            result = compare_jobs.compare_methods(
                graph_store,
                names,
                configuration,
                selection=Selection(dataset=dataset, task=task),
                save=not dry_run,
                progress=reporter,
            )
    if json:
        print_json(result.to_dict())
        return
    _print_comparison(result)
    if not quiet:
        _say_cautions(result)


def _compare_runs(
    one: "CollaborationGraph",
    other: "CollaborationGraph",
    *,
    labels: str | None,
    json: bool,
    quiet: bool,
) -> None:
    from analytics.run_diff import run_diff

    diff = run_diff(one, other, **({} if labels is None else {"labels": labels}))
    if json:
        print_json(diff.to_dict())
        return
    print_table(
        ("", "one", "action", "other", "counterpart"),
        [
            (
                MARKS[row.kind],
                row.one,
                None if row.one is None else _told(one, row.one),
                row.other,
                None if row.other is None else _told(other, row.other),
            )
            for row in diff.rows
        ],
        title=f"{one.name} beside {other.name}",
        spell_columns=False,
    )
    typer.echo(visible(diff.conclusion))
    if not quiet:
        say(
            "= the same place, ~ another label, * other edges, > only the first run, "
            "< only the second."
        )
        say(f"Configuration {diff.alignment.configuration_hash}.")


def _told(graph: "CollaborationGraph", index: int) -> str:
    node = graph.nodes[index]
    actor = next((agent.name for agent in graph.agents if agent.id == node.agent), None)
    text = " ".join((node.content or "").split())
    if len(text) > SHOWN_CHARACTERS:
        text = text[: SHOWN_CHARACTERS - 1] + "…"
    return f"{actor or node.name} ({node.role} {node.kind}): {text}"


def _configuration(
    *,
    reference: str | None,
    metrics: tuple[str, ...],
    grouping: str | None,
    correction: str | None,
    require_all: bool,
    bootstrap: dict[str, Any],
) -> "ComparisonConfiguration":
    from analytics.compare_configuration import ComparisonConfiguration
    from analytics.statistics import BootstrapConfiguration

    given: dict[str, Any] = {
        "reference": reference,
        "metrics": metrics or None,
        "grouping": grouping,
        "correction": correction,
    }
    return ComparisonConfiguration(
        require_all=require_all,
        bootstrap=BootstrapConfiguration(
            **{name: value for name, value in bootstrap.items() if value is not None}
        ),
        **{name: value for name, value in given.items() if value is not None},
    )


def _print_comparison(result: "MethodComparison") -> None:
    metrics = [name for name in result.configuration.metrics if name not in SHOWN_METHOD]
    print_table(
        ("method", "runs", "tasks", "success_rate", "score", "tokens", *metrics, "front"),
        [
            (
                one.method,
                one.runs,
                one.tasks,
                str(one.success_rate).removesuffix(
                    " b" if one.success_rate.value is None else ""
                ),
                one.means.get("score"),
                one.means.get("tokens"),
                *(one.means.get(name) for name in metrics),
                None
                if one.method in result.pareto.left_out
                else one.method in result.pareto.front,
            )
            for one in result.methods
        ],
        title="Methods: means over their tasks",
    )
    if not result.pairs:
        return
    print_table(
        (
            "metric",
            "first",
            "second",
            "tasks",
            "difference",
            "low",
            "high",
            "better",
            "tied",
            "worse",
            "adjusted_p",
        ),
        [
            (
                pair.metric,
                pair.comparison.first,
                pair.comparison.second,
                len(pair.comparison.tasks),
                pair.comparison.interval.estimate,
                pair.comparison.interval.low,
                pair.comparison.interval.high,
                pair.comparison.signs.better,
                pair.comparison.signs.tied,
                pair.comparison.signs.worse,
                pair.adjusted,
            )
            for pair in result.pairs
        ],
        title="First minus second, on common tasks",
    )
    for sentence in result.conclusions():
        typer.echo(visible(sentence))


def _say_cautions(result: "MethodComparison") -> None:
    for caution in result.cautions[:SHOWN_CAUTIONS]:
        say(caution.reason)
    if len(result.cautions) > SHOWN_CAUTIONS:
        say(f"... and {len(result.cautions) - SHOWN_CAUTIONS} more; --json has all.")
    for reason, runs in result.left_out.items():
        say(f"{len(runs)} runs were left out: {reason}.")
    codes = {one.success_rate.code for one in result.methods if one.success_rate.value}
    for code in sorted(codes):
        meaning = next(
            one.success_rate.meaning for one in result.methods if one.success_rate.code == code
        )
        say(f"Uncertainty {code}: {meaning.uncertainty}.")
    say(f"Configuration {result.configuration_hash}.")
