"""``masgraph roles``: the names that the table of aliases does not know."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import JsonOption, StoreOption, opened
from app.output import print_json, print_table, say
from graphstore.errors import UsageError

if TYPE_CHECKING:
    from graphstore.model import CollaborationGraph

EVERY_ROW = 2**31 - 1
"""The largest limit that the saved query takes."""


@dataclass
class Unknown:
    """A name that stands for no shared role.

    Attributes:
        name: The role's name in the trace, else the agent's.
        agents: Agents with it.
        runs: Runs in which they stand.
        actions: What these agents did.
        formats: Formats of the runs.
    """

    name: str
    agents: int = 0
    runs: int = 0
    actions: int = 0
    formats: set[str] = field(default_factory=set)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, formats in order."""
        return {
            "name": self.name,
            "agents": self.agents,
            "runs": self.runs,
            "actions": self.actions,
            "formats": sorted(self.formats),
        }


def register(cli: typer.Typer) -> None:
    """Adds the command of this module."""
    cli.command("roles")(roles)


def roles(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Files, folders or globs to look at, instead of the store.",
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option("--format", "-f", metavar="NAME", help="Of the files; by default auto."),
    ] = "auto",
    table: Annotated[
        Path | None,
        typer.Option(
            "--roles",
            metavar="FILE",
            help="A TOML file with more role names: what it knows is not listed.",
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the names of roles and agents that stand for no shared role.

    Put them into a TOML file of your own and give it to ingest with --roles FILE. Given
    here, it shows what is still unknown; agents in the store get their roles when their
    traces are read again.
    """
    if not paths and format != "auto":
        raise UsageError("--format says how files are read: name the files")
    rejected = known = 0
    if paths:
        found, rejected = _of_files(paths, format, table)
    else:
        found, known = _of_store(store, table)
    if json:
        print_json({"roles": [one.to_dict() for one in found], "rejected": rejected})
    elif found:
        print_table(
            ("name", "agents", "runs", "actions", "formats"),
            [
                (one.name, one.agents, one.runs, one.actions, ", ".join(sorted(one.formats)))
                for one in found
            ],
        )
    else:
        say("Every name is known.")
    if known and not json:
        say(f"Names that {table} knows: {known:,}. Read the traces again with it.")
    if rejected:
        if not json:
            why = "masgraph ingest --dry-run says why"
            say(f"Files or records that were rejected: {rejected:,} ({why}).")
        raise typer.Exit(1)


def _of_files(paths: list[str], format: str, table: Path | None) -> tuple[list[Unknown], int]:
    from ingest.pipeline import ReadOptions, read
    from ingest.reader import Rejection
    from ingest.roles import RoleTable

    names = RoleTable.default() if table is None else RoleTable.load(table)
    found: dict[str, Unknown] = {}
    rejected = 0
    for item in read(paths, format=format, options=ReadOptions(content="drop", roles=names)):
        if isinstance(item, Rejection):
            rejected += 1
        elif item.kind == "run":
            _count(item, found)
    return _sorted(found.values()), rejected


def _count(graph: "CollaborationGraph", found: dict[str, Unknown]) -> None:
    done = Counter(node.agent for node in graph.nodes)
    seen = set()
    for agent in graph.agents:
        if agent.role != "unknown":
            continue
        name = agent.name if agent.role_name is None else agent.role_name
        one = found.setdefault(name, Unknown(name))
        one.agents += 1
        one.actions += done[agent.id]
        one.formats.add(graph.source.format)
        seen.add(name)
    for name in seen:
        found[name].runs += 1


def _of_store(store: str | None, table: Path | None) -> tuple[list[Unknown], int]:
    """The unknown names of a store, and how many more a table of the user's own knows."""
    from graphstore.queries import bind, saved_query
    from ingest.roles import RoleTable

    names = None if table is None else RoleTable.load(table)
    query = saved_query("unknown-roles")
    with opened(store, read_only=True) as graph_store:
        result = graph_store.query(
            query.cypher, bind(query, {"limit": EVERY_ROW}), row_limit=EVERY_ROW
        )
    found: dict[str, Unknown] = {}
    known: set[str] = set()
    for row in result.records():
        if names is not None and names.role_of(row["raw_name"]) != "unknown":
            known.add(row["raw_name"])
            continue
        one = found.setdefault(row["raw_name"], Unknown(row["raw_name"]))
        one.agents += row["agents"]
        one.runs += row["runs"]
        one.actions += row["actions"]
        one.formats.add(row["format"])
    return _sorted(found.values()), len(known)


def _sorted(found: Iterable[Unknown]) -> list[Unknown]:
    return sorted(found, key=lambda one: (-one.actions, -one.agents, one.name))
