"""``masgraph mine`` and ``report``: from what is stored to what it means."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.options import (
    DaskOption,
    DatasetOption,
    DryRunOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection, graph_label_of, nothing_matches
from app.output import print_json, print_mapping, print_table, progress, say
from graphstore.errors import NotFoundError, UsageError
from graphstore.model import GraphKind

if TYPE_CHECKING:
    from mining.library import Library
    from mining.library_mining import MinedLibrary
    from mining.motifs import MotifLibrary
    from mining.significance import Significance

KINDS: tuple[GraphKind, ...] = ("run", "decomposition")
SHOWN_REASONS = 5


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("mine")(mine)
    cli.command("report")(report)


def mine(
    store: StoreOption = None,
    kind: Annotated[
        Literal["run", "decomposition", "all"],
        typer.Option(help="Which graphs to mine; each kind makes a library of its own."),
    ] = "all",
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME",
            help="What types a node: types (learned; decompositions by default), role/kind "
            "(runs by default), role, kind or name.",
        ),
    ] = None,
    types: Annotated[
        list[int] | None,
        typer.Option(
            metavar="K",
            min=1,
            help="Number of subtask types, where types are learned. Given again: numbers to "
            "choose from.",
        ),
    ] = None,
    min_task_support: Annotated[
        int, typer.Option(min=1, help="Tasks in which a motif or rule must occur.")
    ] = 1,
    min_graph_support: Annotated[
        int, typer.Option(min=1, help="Runs or decompositions in which it must occur.")
    ] = 1,
    significance: Annotated[
        int | None,
        typer.Option(
            metavar="SAMPLES",
            min=1,
            help="Compare motifs with this many random corpora: z-scores and corrected "
            "p-values. 1000 are enough for most uses.",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="Types and motifs to print.")] = 20,
    library: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save the library to a file too: .json or .json.gz; with one kind of graphs.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="Processes for learning types and for random corpora. By default one for "
            "each core where that is some ten seconds of work or more, else one.",
        ),
    ] = None,
    dask: DaskOption = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Find subtask types, recurring patterns, how these join, and how tasks are built."""
    from app import library_jobs
    from mining.significance import NullModelConfiguration
    from mining.workers import Workers

    if library is not None:
        library_jobs.check_library_path(library)
    selection = Selection(dataset, method, task)
    workers = Workers(jobs, dask)
    null_model = None if significance is None else NullModelConfiguration(significance)
    documents: list[dict[str, Any]] = []
    without_nodes = 0
    with opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store:
        counts = graph_store.counts()
        kinds = [
            one
            for one in KINDS
            if (kind == "all" and counts.get(graph_label_of(one))) or kind == one
        ]
        if library is not None and len(kinds) > 1:
            raise UsageError(
                "a file holds one library: choose  --kind run  or  --kind decomposition"
            )
        for one in kinds:
            configuration = library_jobs.library_configuration(
                one,
                labels,
                min_task_support,
                min_graph_support,
                # Under --kind all they mean the decompositions, unless runs are typed too.
                () if kind == "all" and one == "run" and labels != "types" else types or (),
            )
            with progress(f"mining {one}s", quiet=quiet or json) as reporter:
                mined, beside_chance = library_jobs.mine_with_significance(
                    graph_store,
                    configuration,
                    null_model,
                    kind=one,
                    selection=selection,
                    save=not dry_run,
                    workers=workers,
                    progress=reporter,
                )
            without_nodes += len(mined.without_nodes)
            if not mined.motifs.graphs:
                continue
            if library is not None:
                library_jobs.save_library(mined.library, library)
            summary = library_jobs.library_summary(mined, one, selection, beside_chance)
            documents.append(
                {
                    "configuration": mined.library.configuration,
                    "configuration_hash": mined.library.configuration_hash,
                    "summary": summary,
                    "motifs": _motif_rows(mined.motifs, beside_chance),
                    "types": mined.library.local.types,
                }
            )
            if not json:
                print_mined(mined, summary, top, beside_chance, quiet=quiet)
                if library is not None and not quiet:
                    say(f"Library: {library}")
    if without_nodes and not quiet:
        say(_no_nodes(without_nodes))
    if not documents and without_nodes:
        raise NotFoundError("no graph that matches has a node: there is nothing to mine")
    if not documents:
        raise nothing_matches("graph")
    if json:
        print_json({"libraries": documents})


def _no_nodes(graphs: int) -> str:
    if graphs == 1:
        return "1 graph has no nodes (an organization alone): its task takes no part."
    return f"{graphs:,} graphs have no nodes (organizations alone): their tasks take no part."


def _motif_rows(
    motifs: "MotifLibrary", beside_chance: "Significance | None"
) -> list[dict[Any, Any]]:
    rows = [dict(row) for row in motifs.to_pandas().to_dict(orient="records")]
    if beside_chance is not None:
        for row, one in zip(rows, beside_chance.rows, strict=True):
            row |= {
                name: getattr(one, name)
                for name in ("mean", "deviation", "z", "p", "p_holm", "p_benjamini_hochberg")
            }
    return rows


def print_mined(
    mined: "MinedLibrary",
    summary: dict[str, Any],
    top: int,
    beside_chance: "Significance | None" = None,
    *,
    quiet: bool = False,
) -> None:
    """Prints the best supported types and motifs, and what else was found, in numbers.

    Args:
        mined: What was found.
        summary: Of it (:func:`app.library_jobs.library_summary`).
        top: Types and motifs to print.
        beside_chance: The motifs beside chance, where they were compared.
        quiet: Say nothing of what was left out.
    """
    print_types(mined.library, top)
    print_motifs(mined.motifs, summary["kind"], top, beside_chance)
    print_library(summary)
    if not quiet:
        _say_what_is_left_out(mined.motifs, summary, top)


def print_types(library: "Library", top: int) -> None:
    """Prints the best supported types that were learned."""
    if library.configuration.types is None:
        return
    types = sorted(library.local.types, key=lambda one: (-len(one.tasks), -one.members))
    print_table(
        ("type", "medoid", "tasks", "subtasks", "needs", "makes"),
        [
            (
                one.label,
                one.title,
                len(one.tasks),
                one.members,
                ", ".join(one.inputs[:3]) or None,
                ", ".join(one.outputs[:3]) or None,
            )
            for one in types[:top]
        ],
        title=f"Subtask types of {len(library.tasks):,} tasks",
    )


def print_library(summary: dict[str, Any]) -> None:
    """Prints what else was found, in numbers."""
    print_mapping(
        {
            name: summary[name]
            for name in (
                "tasks",
                "motifs",
                "occurrences",
                "rules",
                "coarse_graphs",
                "refinements",
                "integrations",
                "couplings",
            )
        },
        title="Library",
    )


def _say_what_is_left_out(motifs: "MotifLibrary", summary: dict[str, Any], top: int) -> None:
    if not motifs.motifs and motifs.dropped_motifs:
        say(
            f"None of {motifs.dropped_motifs:,} motifs has the support that was asked for: "
            "lower --min-task-support or --min-graph-support."
        )
    if summary["types_at_upper_end"]:
        say(
            f"{summary['types']:,} types are the most that were tried, so more may fit better: "
            "--types K, once for each number to try."
        )
    if len(motifs.motifs) > top:
        more = len(motifs.motifs) - top
        say(f"{more:,} more motifs: --top N, or  masgraph query motifs-by-support")
    for graph in motifs.skipped:
        say(f"{graph.id} was left out: {graph.skipped}.")
    for one in summary["excluded"][:SHOWN_REASONS]:
        say(f"{one['graph']}: a coarse graph was left out: {one['reason']}.")
    for one in summary["skipped"][:SHOWN_REASONS]:
        if not one["reason"].startswith("no patterns"):
            say(f"{one['graph']} was left out in part: {one['reason']}.")
    more = sum(max(0, len(summary[name]) - SHOWN_REASONS) for name in ("excluded", "skipped"))
    if more:
        say(f"{more:,} more were left out: --json names them.")


def print_motifs(
    library: "MotifLibrary", kind: str, top: int, beside_chance: "Significance | None" = None
) -> None:
    """Prints the best supported motifs."""
    chance = ("by chance", "z", "p (Holm)", "p (B.-H.)") if beside_chance is not None else ()
    rows = beside_chance.rows if beside_chance is not None else ()
    print_table(
        ("motif", "shape", "tasks", f"{kind}s", "occurrences", *chance),
        [
            (
                motif.description,
                motif.shape,
                motif.task_support,
                motif.graph_support,
                motif.occurrence_count,
                *[
                    value
                    for one in rows[place : place + 1]
                    for value in (one.mean, one.z, one.p_holm, one.p_benjamini_hochberg)
                ],
            )
            for place, motif in enumerate(library.motifs[:top])
        ],
        title=f"Motifs of {len(library.graphs):,} {kind}s",
    )


def report(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The HTML file.")
    ] = Path("masgraph-report.html"),
    title: Annotated[str, typer.Option(help="Its heading.")] = "masgraph report",
    store: StoreOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML file with what the store holds, measures and motifs. It loads nothing."""
    from app.report import write_report

    with opened(store, read_only=True, quiet=quiet) as graph_store:
        write_report(graph_store, out, title=title)
    if not quiet:
        say(f"Report: {out}")
