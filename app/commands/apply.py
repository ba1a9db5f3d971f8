"""``masgraph interventions apply``: a modified organization, written to be run again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.options import QuietOption, StoreOption, opened
from app.files import write_file
from app.output import print_json, say
from graphstore.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from graphstore.model import CollaborationGraph, Organization
    from graphstore.store import GraphStore

EXIT_NOT_AS_ASKED = 1


def apply(
    team: Annotated[
        str,
        typer.Argument(
            metavar="TEAM",
            help="Id or name of an organization, or id of a run; a run for --corrupt.",
        ),
    ],
    store: StoreOption = None,
    rewire: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Swap targets of this share of links.")
    ] = None,
    variant: Annotated[
        Literal["no-critic", "no-specialist", "expert-only"] | None,
        typer.Option(metavar="NAME", help="no-critic, no-specialist or expert-only."),
    ] = None,
    corrupt: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Write wrong contents for this share of a run's used actions."
        ),
    ] = None,
    fail: Annotated[
        int | None, typer.Option(metavar="N", help="Draw this many workers that fail.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    roles: Annotated[
        Literal["observed", "any"] | None,
        typer.Option(
            help="Which roles a link may join after --rewire: those that some link joins "
            "(observed, the default), or any."
        ),
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE",
            help="Whom --variant removes or keeps, or who can --fail. Can be given again.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the record there."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Write a modified team as an OpenMAS-GCom record, for a runner to run again.

    Exit code 1: less could be changed than was asked for; the record says what was.
    """
    from app.intervention_records import shortfall
    from graphstore.model import ROLES

    if sum(one is not None for one in (rewire, variant, corrupt, fail)) != 1:
        raise UsageError("choose one of --rewire, --variant, --corrupt and --fail")
    unknown = sorted(set(role or ()) - set(ROLES))
    if unknown:
        raise UsageError(f"there is no role {unknown[0]!r}; choose from {', '.join(ROLES)}")
    if role and variant is None and fail is None:
        raise UsageError("--role is for --variant and --fail")
    if roles and rewire is None:
        raise UsageError("--roles is for --rewire")
    rule = roles or "observed"
    with opened(store, read_only=True, quiet=quiet) as graph_store:
        record = _made(graph_store, team, rewire, variant, corrupt, fail, seed, rule, role)
    missing = shortfall(record)
    if out is None:
        print_json(record)
    else:
        import msgspec

        write_file(out, msgspec.json.encode(record) + b"\n")
        if not quiet:
            say(f"{'Modified team' if missing is None else 'Team'}: {out}")
    if missing is not None:
        say(f"Warning: {missing}.")
        raise typer.Exit(EXIT_NOT_AS_ASKED)


def _made(
    store: "GraphStore",
    team: str,
    rewire: float | None,
    variant: str | None,
    corrupt: float | None,
    fail: int | None,
    seed: int,
    rule: Literal["observed", "any"],
    roles: list[str] | None,
) -> dict[str, Any]:
    from analytics.interventions import WORKER_ROLES
    from app import intervention_records as records

    if corrupt is not None:
        return records.corrupted_record(_run(store, team), corrupt, seed)
    organization = _organization(store, team)
    if rewire is not None:
        return records.rewired_record(organization, rewire, seed, rule)
    if variant is not None:
        usual = "critic" if variant == "no-critic" else "specialist"
        return records.reduced_record(
            organization,
            variant.replace("-", " "),
            tuple(roles or (usual,)),
            keep=variant == "expert-only",
        )
    return records.failed_record(organization, fail or 0, seed, tuple(roles or WORKER_ROLES))


def _run(store: "GraphStore", team: str) -> "CollaborationGraph":
    for graph in store.graphs(kind="run", ids=[team]):
        return graph
    raise NotFoundError(f"there is no run {team!r}: --corrupt takes the id of a run")


def _organization(store: "GraphStore", team: str) -> "Organization":
    found: dict[str, Organization] = {}
    for graph in store.graphs():
        organization = graph.organization
        if organization is not None and team in (organization.id, organization.name, graph.id):
            found[organization.id] = organization
    if not found:
        raise NotFoundError(f"there is no organization {team!r}, and no run of one")
    if len(found) > 1:
        told = ", ".join(sorted(found)[:3])
        raise UsageError(
            f"{len(found)} organizations are called {team!r}: choose by id: {told}"
        )
    return next(iter(found.values()))
