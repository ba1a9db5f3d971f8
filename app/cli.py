"""The ``masgraph`` command: the entry point, and what happens when something goes wrong.

Each command stands in a module of :mod:`app.commands`, which imports heavy packages only
when it runs: ``masgraph --help`` is quick.
"""

import os
import sys

import typer

from app.commands import (
    app as dashboard,
)
from app.commands import (
    communication,
    compare,
    coverage,
    data,
    demo,
    embedding,
    evaluation,
    forest,
    interventions,
    measure,
    perturb,
    questions,
    relations,
    roles,
    trajectories,
)
from app.output import say
from graphstore.errors import MasgraphError, StoreError

EXIT_DONE = 0
EXIT_SOME_REJECTED = 1
EXIT_USAGE = 2
EXIT_STORE = 3
EXIT_INTERNAL = 70

cli = typer.Typer(
    name="masgraph",
    help=(
        "How did a team of LLM agents work together, and did it help? masgraph reads traces "
        "and task decompositions into a graph database, mines them and measures them."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 done; 1 done, some inputs rejected; 2 bad usage or input, or "
        "nothing matches; 3 the store cannot be used; 70 an error of masgraph itself."
    ),
)
for module in (
    demo,
    data,
    measure,
    trajectories,
    compare,
    coverage,
    questions,
    roles,
    perturb,
    embedding,
    evaluation,
    forest,
    interventions,
    communication,
    relations,
    dashboard,
):
    module.register(cli)


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"masgraph {version('masgraph')}")
        raise typer.Exit


@cli.callback()
def options(
    version: bool = typer.Option(
        False,
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Print the version and stop.",
    ),
) -> None:
    """Options that hold for the command itself."""


def main() -> None:
    """Runs the command; errors become one sentence and an exit code, never a traceback."""
    try:
        cli()
    except StoreError as error:
        say(f"masgraph: {error}")
        sys.exit(EXIT_STORE)
    except MasgraphError as error:
        say(f"masgraph: {error}")
        sys.exit(EXIT_USAGE)
    except Exception as error:
        if os.environ.get("MASGRAPH_DEBUG"):
            raise
        say(
            f"masgraph: an error of masgraph itself, not of yours: {type(error).__name__}: "
            f"{error}. Set MASGRAPH_DEBUG=1 to see where it happened."
        )
        sys.exit(EXIT_INTERNAL)


if __name__ == "__main__":
    main()
