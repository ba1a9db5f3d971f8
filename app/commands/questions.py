"""``masgraph query``: the saved questions, or your own Cypher, read-only."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import JsonOption, StoreOption, opened
from app.output import print_json, print_table, say
from graphstore.errors import QueryTimeoutError, UsageError
from graphstore.rows import DEFAULT_ROW_LIMIT, DEFAULT_TIMEOUT

if TYPE_CHECKING:
    from graphstore.queries import SavedQuery
    from graphstore.rows import QueryResult

OUTPUT_SUFFIXES = (".csv", ".json", ".parquet")


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    cli.command("query")(query)


def query(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A saved query; see --list.")
    ] = None,
    cypher: Annotated[
        str | None,
        typer.Option("--cypher", "-c", metavar="TEXT", help="Your own Cypher; - reads it."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", metavar="NAME=VALUE", help="May be repeated."),
    ] = None,
    list_queries: Annotated[
        bool, typer.Option("--list", "-l", help="The saved queries and their parameters.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Print the Cypher, do not run it.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.001, metavar="SECONDS", help="Time limit.")
    ] = DEFAULT_TIMEOUT,
    rows: Annotated[
        int, typer.Option("--rows", min=1, metavar="N", help="Row limit.")
    ] = DEFAULT_ROW_LIMIT,
    csv: Annotated[bool, typer.Option("--csv", help="CSV on standard output.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write a .csv, .json or .parquet file."
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Answer a saved query, or your own Cypher. Nothing can be written with it."""
    if list_queries:
        _print_list(json)
        return
    if (name is None) == (cypher is None):
        raise UsageError(
            "name one saved query, or give --cypher TEXT; --list shows the queries"
        )
    if out is not None and out.suffix not in OUTPUT_SUFFIXES:
        raise UsageError(f"--out takes a file that ends in {', '.join(OUTPUT_SUFFIXES)}")
    if show and name is not None:
        from graphstore.queries import saved_query

        typer.echo(saved_query(name).cypher)
        return
    text, parameters = _text_and_parameters(name, cypher, parameter or [])
    if show:
        typer.echo(text)
        return
    with opened(store, read_only=True) as graph_store:
        try:
            result = graph_store.query(text, parameters, timeout=timeout, row_limit=rows)
        except QueryTimeoutError as error:
            raise QueryTimeoutError(
                f"{error}: let it match less, or give it more time with --timeout SECONDS"
            ) from error
    if out is not None:
        _write(result, out)
        say(f"{len(result.rows):,} rows in {out}")
    elif json:
        print_json(_document(result))
    elif csv:
        result.to_pandas().to_csv(sys.stdout, index=False)
    else:
        print_table(result.columns, result.rows, spell_columns=False)
        if not result.rows:
            say("No rows.")
    if result.truncated:
        say(f"The answer has more than {rows:,} rows; --rows N shows more of them.")


def _text_and_parameters(
    name: str | None, cypher: str | None, given: list[str]
) -> tuple[str, dict[str, Any]]:
    from graphstore.queries import bind, saved_query

    pairs = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--parameter takes NAME=VALUE, not {text!r}")
        pairs[key.strip().removeprefix("$")] = value
    if name is not None:
        saved = saved_query(name)
        return saved.cypher, bind(saved, pairs)
    text = sys.stdin.read() if cypher == "-" else cypher or ""
    if pairs:
        _check_used(text, pairs)
    return text, {key: _value(value) for key, value in pairs.items()}


def _check_used(cypher: str, given: Iterable[str]) -> None:
    from graphstore.lexer import parameter_names, tokens

    names = parameter_names(tokens(cypher))
    for name in given:
        if name not in names:
            has = f"it has {', '.join(names)}" if names else "it has none"
            raise UsageError(f"the query has no parameter {name}: {has}")


def _value(text: str) -> Any:
    """A parameter of one's own Cypher: JSON where it is JSON, else the text itself."""
    import msgspec

    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _document(result: "QueryResult") -> dict[str, Any]:
    return {
        "columns": list(result.columns),
        "rows": result.records(),
        "truncated": result.truncated,
    }


def _write(result: "QueryResult", path: Path) -> None:
    import msgspec

    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_bytes(msgspec.json.format(msgspec.json.encode(_document(result)), indent=2))
    elif path.suffix == ".csv":
        result.to_pandas().to_csv(path, index=False)
    else:
        result.to_pandas().to_parquet(path, index=False)


def _print_list(json: bool) -> None:
    from graphstore.queries import saved_queries

    queries = saved_queries()
    if json:
        print_json({"queries": [_described(saved) for saved in queries]})
        return
    print_table(
        ("name", "question", "parameters"),
        [
            (
                saved.name,
                saved.question,
                ", ".join(parameter.name for parameter in saved.parameters),
            )
            for saved in queries
        ],
    )
    say("Run one:  masgraph query NAME --parameter limit=5")
    say("Its Cypher:  masgraph query NAME --show")


def _described(saved: "SavedQuery") -> dict[str, Any]:
    return {
        "name": saved.name,
        "title": saved.title,
        "question": saved.question,
        "parameters": [
            {
                "name": parameter.name,
                "default": parameter.default,
                "type": parameter.type,
                "required": parameter.required,
                "meaning": parameter.meaning,
            }
            for parameter in saved.parameters
        ],
    }
