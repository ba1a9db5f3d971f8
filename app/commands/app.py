"""``masgraph app``: the dashboard in a browser; ``masgraph overview``: its numbers."""

import os
from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import JsonOption, QuietOption, StoreOption, opened
from app.output import print_json, progress, say
from graphstore.errors import InputError, UsageError
from graphstore.rows import DEFAULT_ROW_LIMIT, DEFAULT_TIMEOUT

PASSWORD_VARIABLE = "MASGRAPH_APP_PASSWORD"
HEADER_VARIABLE = "MASGRAPH_APP_HEADER"


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("app")(app)
    cli.command("overview")(overview)


def app(
    store: StoreOption = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address to listen on. Other machines can reach any but the loopback: "
            "then a password or a proxy's header must be asked for.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8501,
    password_file: Annotated[
        Path | None,
        typer.Option(
            "--password-file",
            metavar="FILE",
            help=f"Ask for the password in this file, or in {PASSWORD_VARIABLE}.",
        ),
    ] = None,
    require_header: Annotated[
        str | None,
        typer.Option(
            "--require-header",
            metavar="NAME[=VALUE]",
            envvar=HEADER_VARIABLE,
            help="Let in requests with this header, which your proxy sets; with a value, only "
            "that one. Nobody but the proxy may reach the port.",
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="No files can be dropped.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout",
            min=0.001,
            max=3600,
            metavar="SECONDS",
            help="Time limit of a query that somebody types.",
        ),
    ] = DEFAULT_TIMEOUT,
    rows: Annotated[
        int,
        typer.Option("--rows", min=1, max=100_000, metavar="N", help="Row limit of it."),
    ] = DEFAULT_ROW_LIMIT,
    upload_limit: Annotated[
        int,
        typer.Option(
            "--upload-limit", min=1, max=2_000, metavar="MB", help="Largest file to drop."
        ),
    ] = 200,
    quiet: QuietOption = False,
) -> None:
    """Open the dashboard: pages over the store, for people who would rather look than read.

    It serves this machine only, unless told otherwise, and asks no other machine for
    anything.
    """
    from app.dashboard import server
    from app.dashboard.access import Access, check_access
    from app.dashboard.settings import Settings

    server.check_installed()
    header, has_value, value = (require_header or "").partition("=")
    access = Access(
        password=_password(password_file),
        header=header.strip() or None,
        header_value=value.strip() if has_value else None,
    )
    if require_header and (not access.header or (has_value and not access.header_value)):
        raise UsageError("--require-header takes NAME or NAME=VALUE")
    check_access(host, access)
    settings = Settings(
        store=store,
        console_seconds=timeout,
        console_rows=rows,
        upload_megabytes=upload_limit,
        is_read_only=read_only,
    )

    def ready(address: str) -> None:
        if not quiet:
            say(f"The dashboard of {settings.address}, until Ctrl-C ends it:")
        typer.echo(address)

    server.serve(settings, access, host=host, port=port, ready=ready)


def _password(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(PASSWORD_VARIABLE)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("cannot be read as a file with a password", file=str(file)) from error
    return lines[0].strip() if lines else ""


def overview(
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Count and sum up the store for the dashboard, and keep that in the store.

    In a large store this takes a while, once; run it again after reading more.
    """
    from app.overview_jobs import make_overview

    with (
        opened(store, must_exist=True, quiet=quiet) as graph_store,
        progress("overview", quiet=quiet or json) as reporter,
    ):
        report = make_overview(graph_store, progress=reporter)
    if json:
        print_json(report.document)
    elif not quiet:
        counts = report.document["counts"]
        say(
            f"Overview of {counts.get('Run', 0):,} runs and "
            f"{counts.get('Decomposition', 0):,} decompositions: see it with  masgraph app"
        )
