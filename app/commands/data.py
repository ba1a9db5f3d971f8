"""``masgraph ingest``, ``stats``, ``formats`` and ``export``: data in and out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
from app.jobs import nothing_matches
from app.output import Reporter, print_json, print_mapping, print_table, progress, say
from graphstore.errors import UsageError

if TYPE_CHECKING:
    from ingest.pipeline import Progress, ReadOptions
    from ingest.report import IngestReport

SHOWN_REJECTIONS = 20
"""Rejections and warnings that are told one by one; ``--json`` has all of them."""

Content = Literal["redact", "keep", "drop"]
ExportFormat = Literal["native", "graphml", "gexf", "json", "parquet"]


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("ingest")(ingest)
    cli.command("formats")(formats)
    cli.command("stats")(stats)
    cli.command("export")(export)


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Files, folders, globs, or - for standard input."
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            "--format", "-f", metavar="NAME", help="auto, or one of masgraph formats."
        ),
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and count, store nothing.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Store nothing at all if any file or record is rejected."
        ),
    ] = False,
    keep_content: Annotated[
        bool, typer.Option("--keep-content", help="Store contents as they are, secrets too.")
    ] = False,
    drop_content: Annotated[
        bool, typer.Option("--drop-content", help="Store hashes of contents, not the words.")
    ] = False,
    roles: Annotated[
        Path | None,
        typer.Option("--roles", metavar="FILE", help="A TOML file with more role names."),
    ] = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Read traces and task decompositions into the store.

    A file's content tells its format. What cannot be read is rejected with its file, record
    and reason; the rest is stored. Reading a folder again changes nothing.
    """
    from app.drop_jobs import remember_report
    from ingest import pipeline

    if keep_content and drop_content:
        raise UsageError("choose one of --keep-content and --drop-content")
    content: Content = "keep" if keep_content else "drop" if drop_content else "redact"
    options = _read_options(content, roles)
    with progress("reading", quiet=quiet or json) as reporter:
        shown = shown_progress(reporter)
        if dry_run:
            report = pipeline.ingest(
                paths, None, format=format, dry_run=True, options=options, progress=shown
            )
        else:
            with opened(store, quiet=quiet) as graph_store:
                report = pipeline.ingest(
                    paths,
                    graph_store,
                    format=format,
                    strict=strict,
                    options=options,
                    progress=shown,
                )
                if not (strict and report.rejected):
                    # The dashboard tells of what was rejected long after this is scrolled away.
                    remember_report(
                        graph_store, report, ", ".join(paths), format=format, content=content
                    )
    if json:
        print_json(report.to_dict())
    elif not quiet:
        print_report(report, dry_run=dry_run)
    if not json:
        say_problems(report, quiet=quiet)
        if strict and report.rejected:
            say("Nothing was stored, because of --strict.")
    if report.rejected:
        raise typer.Exit(1)


def _read_options(content: Content, roles: Path | None) -> "ReadOptions":
    from ingest.pipeline import ReadOptions
    from ingest.roles import RoleTable

    table = RoleTable.default() if roles is None else RoleTable.load(roles)
    return ReadOptions(content=content, roles=table)


def shown_progress(reporter: Reporter) -> Any:
    """Shows how far an ingest is, on a reporter."""

    def show_progress(now: "Progress") -> None:
        reporter(
            now.bytes_done / 1e6,
            None if now.bytes_total is None else now.bytes_total / 1e6,
            f"MB, {now.graphs:,} graphs",
        )

    return show_progress


def print_report(report: "IngestReport", *, dry_run: bool) -> None:
    """Prints what an ingest read and stored, in numbers."""
    counts = {
        name: value
        for name, value in report.to_dict().items()
        if name not in ("rejected", "warnings")
    }
    counts["rejected"] = len(report.rejected)
    counts["warnings"] = sum(one.count for one in report.warnings)
    print_mapping(counts, title="Read, nothing stored" if dry_run else None)


def say_problems(report: "IngestReport", *, quiet: bool) -> None:
    """Tells what was rejected, and unless it is to be quiet, what readers warn of."""
    for one in report.rejected[:SHOWN_REJECTIONS]:
        where = one.file if one.record is None else f"{one.file}, record {one.record}"
        say(f"Rejected {where}: {one.reason}")
    if len(report.rejected) > SHOWN_REJECTIONS:
        _say_more(len(report.rejected), "rejected")
    if quiet:
        return
    for warned in report.warnings[:SHOWN_REJECTIONS]:
        times = f" ({warned.count:,} times)" if warned.count > 1 else ""
        where = f" First in {warned.file}." if warned.file else ""
        say(f"Warning: {warned.warning}{times}.{where}".replace("..", "."))
    if len(report.warnings) > SHOWN_REJECTIONS:
        _say_more(len(report.warnings), "warnings")


def _say_more(count: int, what: str) -> None:
    say(f"... and {count - SHOWN_REJECTIONS:,} more {what}; --json lists all.")


def formats(json: JsonOption = False) -> None:
    """List the formats that can be read, and what each can know."""
    from ingest.registry import default_registry

    registry = default_registry()
    readers = registry.readers()
    for sentence in registry.warnings:
        say(f"Warning: {sentence}")
    known = ("time", "tokens", "recipients", "outcome")
    if json:
        print_json(
            {
                "formats": [
                    {
                        "name": reader.format,
                        "title": reader.title,
                        "kind": reader.kind,
                        "version": reader.version,
                        **{name: getattr(reader.capabilities, name) for name in known},
                        "notes": list(reader.capabilities.notes),
                    }
                    for reader in readers
                ]
            }
        )
        return
    print_table(
        ("name", "title", "kind", *known),
        [
            (
                reader.format,
                reader.title,
                reader.kind,
                *(getattr(reader.capabilities, name) for name in known),
            )
            for reader in readers
        ],
    )


def stats(store: StoreOption = None, json: JsonOption = False) -> None:
    """Count what the store holds."""
    from graphstore.queries import bind, saved_query

    overview = saved_query("datasets-overview")
    by_format = saved_query("formats-overview")
    with opened(store, read_only=True) as graph_store:
        counts = graph_store.counts()
        datasets = graph_store.query(overview.cypher, bind(overview, {}))
        formats_read = graph_store.query(by_format.cypher, bind(by_format, {}))
        url = graph_store.url
    if json:
        print_json(
            {
                "store": url,
                "counts": counts,
                "datasets": datasets.records(),
                "formats": formats_read.records(),
            }
        )
        return
    if not counts:
        say(f"The store {url} is empty: put graphs in with  masgraph ingest PATH")
        return
    print_mapping(counts, title=url)
    print_table(datasets.columns, datasets.rows, title=overview.title)
    print_table(formats_read.columns, formats_read.rows, title=by_format.title)


def export(
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The file; for parquet a folder."),
    ],
    format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", "-f", help="By default from the file's ending (.jsonl is native)."
        ),
    ] = None,
    kind: Annotated[
        Literal["run", "decomposition"] | None, typer.Option(help="Only these graphs.")
    ] = None,
    graph: Annotated[
        list[str] | None, typer.Option("--graph", metavar="ID", help="Only this graph; repeat.")
    ] = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    store: StoreOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write graphs for other tools, or as masgraph's own JSONL."""
    if str(out) == "-":
        raise UsageError("export writes files: name one, or a folder for parquet")
    chosen = format or _format_of(out)
    with opened(store, read_only=True, quiet=quiet) as graph_store:
        graphs = list(
            graph_store.graphs(kind=kind, dataset=dataset, method=method, task=task, ids=graph)
        )
    if not graphs:
        raise nothing_matches("graph")
    if chosen == "native":
        _write_native(graphs, out)
    else:
        from graphstore.exchange import write_file

        write_file(graphs, out, chosen)
    if not quiet:
        say(f"{len(graphs):,} graphs in {out}")


def _format_of(path: Path) -> ExportFormat:
    endings: dict[str, ExportFormat] = {
        ".jsonl": "native",
        ".ndjson": "native",
        ".graphml": "graphml",
        ".gexf": "gexf",
        ".json": "json",
        ".parquet": "parquet",
        "": "parquet",
    }
    if path.suffix not in endings:
        raise UsageError(f"the ending {path.suffix} names no format: give --format")
    return endings[path.suffix]


def _write_native(graphs: list[Any], out: Path) -> None:
    from graphstore.errors import InputError
    from ingest.readers.native_writer import write_native

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("wb") as file:
            for line in write_native(graphs):
                file.write(line + b"\n")
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=str(out)) from error
