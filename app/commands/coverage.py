"""``masgraph coverage``: how much of unseen tasks the mined patterns and rules already know."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.options import (
    DaskOption,
    DatasetOption,
    DryRunOption,
    JsonOption,
    MethodOption,
    PlotOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.files import write_file
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_table, progress, say
from graphstore.errors import UsageError
from graphstore.model import GraphKind

if TYPE_CHECKING:
    from mining.coverage import Coverage
    from mining.coverage_result import Interval

PART_TITLES = {
    "covered": "covered",
    "rare": "seen, below the support threshold",
    "new_types": "known structure, other types",
    "new_structure": "unknown structure",
    "unjoined": "both patterns known, never joined so",
    "new_patterns": "with a pattern that is not known",
}


def register(cli: typer.Typer) -> None:
    """Adds the command of this module."""
    cli.command("coverage")(coverage)


def coverage(
    store: StoreOption = None,
    kind: Annotated[
        Literal["decomposition", "run"], typer.Option(help="Which graphs to take.")
    ] = "decomposition",
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="What types a node: types (learned from each mining subset; for "
            "decompositions by default), role/kind (for runs), role, kind or name.",
        ),
    ] = None,
    source: Annotated[
        Literal["group", "category", "task"],
        typer.Option(
            help="Tasks of one source are never parted. group: the task's source group, else "
            "its data set. category: the data set with the task's category. task: the source "
            "group, else each task alone."
        ),
    ] = "group",
    same_text: Annotated[
        bool,
        typer.Option(
            "--same-text/--ignore-text",
            help="Whether tasks with identical descriptions (or leaves, where they have none) "
            "stay together too.",
        ),
    ] = True,
    held_out: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the tasks to hold out.")
    ] = 0.3333333333333333,
    hold_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Hold out this data set, category, source group or format instead. Can be "
            "given again.",
        ),
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            help="Tasks to mine. Can be given again; by default 10, 25, 50, 75 and 100% of "
            "those that are not held out.",
        ),
    ] = None,
    sequences: Annotated[
        int, typer.Option(min=1, help="Nested sequences of mining subsets.")
    ] = 10,
    min_task_support: Annotated[
        int, typer.Option(min=1, help="Mined tasks that a pattern or rule must occur in.")
    ] = 2,
    types: Annotated[
        list[int] | None,
        typer.Option(
            metavar="K",
            min=1,
            help="Numbers of subtask types to choose from, where types are learned. Can be "
            "given again.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="For the split, the subsets and the resamples.")
    ] = 0,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Processes; by default one for each core."),
    ] = None,
    dask: DaskOption = None,
    plot: PlotOption = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Mine a part of the tasks and measure what of the others the patterns and rules cover."""
    from app.coverage_plot import coverage_svg
    from mining.coverage import CoverageConfiguration, measure_coverage
    from mining.motifs import MotifConfiguration
    from mining.rules import RuleConfiguration
    from mining.subtask_types import SubtaskTypeConfiguration
    from mining.workers import Workers, available_cores

    if plot is not None and plot.suffix.lower() != ".svg":
        raise UsageError(f"plots are drawn as SVG: {plot} should end in .svg")
    configuration = CoverageConfiguration(
        labels=labels,
        types=SubtaskTypeConfiguration(candidates=tuple(types))
        if types
        else SubtaskTypeConfiguration(),
        motifs=MotifConfiguration(min_task_support=min_task_support, kept_occurrences=None),
        rules=RuleConfiguration(min_task_support=min_task_support),
        level=source,
        same_text=same_text,
        held_out=held_out,
        held_out_sources=tuple(sorted(set(hold_out or ()))),
        sizes=tuple(size) if size else None,
        sequences=sequences,
        seed=seed,
    )
    workers = Workers(jobs or available_cores(), dask)
    with opened(store, read_only=True, quiet=quiet) as graph_store:
        graphs = list(graph_store.graphs(kind=kind, dataset=dataset, method=method, task=task))
    if not graphs:
        raise nothing_matches(kind)
    with progress("mining libraries", quiet=quiet or json) as reporter:
        result = measure_coverage(graphs, configuration, workers=workers, progress=reporter)
    if plot is not None:
        write_file(plot, coverage_svg(result))
    if not dry_run:
        _save(result, store, kind, Selection(dataset, method, task), quiet=quiet)
    if json:
        print_json(result.to_dict())
        return
    _print(result)
    if not quiet:
        _say_what_is_missing(result)
        if plot is not None:
            say(f"Plot: {plot}")


def _save(
    result: "Coverage",
    store: str | None,
    kind: GraphKind,
    selection: Selection,
    *,
    quiet: bool,
) -> None:
    """Keeps a result as a report; the store was closed while it was computed."""
    from app.stored_reports import save_report

    document = result.to_dict()
    with opened(store, must_exist=True, quiet=quiet) as graph_store:
        save_report(
            graph_store,
            "coverage",
            f"Coverage of {len(result.split.held_out):,} held-out tasks ({kind}s)",
            {"kind": kind, "configuration": document["configuration"]},
            document,
            selection=selection,
            runs=len(result.split.held_out) + len(result.split.mining),
        )


def _print(result: "Coverage") -> None:
    held, mining = result.split.held_out, result.split.mining
    print_table(
        (
            "covered",
            "tasks mined",
            "mean",
            "least",
            "greatest",
            "interval",
            "libraries",
            "known",
            "types",
        ),
        [
            (
                point.measure,
                point.size,
                _percent(point.mean),
                _percent(point.low),
                _percent(point.high),
                _interval(point.interval),
                point.libraries,
                round(point.retained),
                None if point.types is None else round(point.types, 1),
            )
            for point in result.curve
        ],
        title=f"Coverage of {len(held):,} held-out tasks "
        f"({_sources(result.split.held_out_groups)}) by up to {len(mining):,} others "
        f"({_sources(result.split.mining_groups)})",
    )
    print_table(
        ("occurrences", "of patterns", "of rules"),
        _breakdown(result),
        title=f"With {result.sizes[-1]:,} tasks mined, mean of the tasks' shares",
    )
    print_table(
        ("collection", "held-out tasks", "patterns", "rules"),
        [
            (one.collection, one.tasks, _percent(one.patterns), _percent(one.rules))
            for one in result.collections
        ],
        title="By collection",
    )


def _breakdown(result: "Coverage") -> list[tuple[Any, ...]]:
    shares = {
        (part.part, part.measure): part.share
        for part in result.breakdown
        if part.size == result.sizes[-1]
    }
    return [
        (
            title,
            *(
                _percent(shares[name, measure]) if (name, measure) in shares else ""
                for measure in ("patterns", "rules")
            ),
        )
        for name, title in PART_TITLES.items()
    ]


def _sources(number: int) -> str:
    return "1 source" if number == 1 else f"{number:,} sources"


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.1%}"


def _interval(interval: "Interval | None") -> str | None:
    return None if interval is None else f"{interval[0]:.1%} to {interval[1]:.1%}"


def _say_what_is_missing(result: "Coverage") -> None:
    if result.split.held_out_groups < 2:
        say("All held-out tasks come from one source: there is no interval.")
    if result.left_out:
        fewest = result.configuration.min_nodes
        many = len(result.left_out)
        tasks = "1 task has" if many == 1 else f"{many:,} tasks have"
        takes = "takes" if many == 1 else "take"
        say(f"{tasks} fewer than {fewest} nodes and {takes} no part.")
    for counts in result.skipped:
        say(f"A held-out task was not counted: {counts.skipped or counts.rules_skipped}.")
    large = {graph for library in result.libraries for graph in library.skipped}
    for graph in sorted(large):
        say(f"{graph} was too large to be mined.")
    say(f"Configuration {result.configuration_hash}, result {result.hash}.")
