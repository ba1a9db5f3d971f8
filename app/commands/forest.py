"""``masgraph forest``: the ways that work, as references that runs are compared with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from app.commands.diagnosis import diagnose
from app.commands.options import (
    DatasetOption,
    DryRunOption,
    EmbeddingOption,
    ForestSetOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_mapping, print_table, progress, say
from graphstore.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from analytics.forest import ForestSet, ReferenceForest, Weighting

SHOWN_SHORTAGES = 5


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(
        no_args_is_help=True,
        help="Build, list and move reference forests; diagnose runs beside them.",
    )
    group.command("build")(build)
    group.command("list")(list_forests)
    group.command("show")(show)
    group.command("delete")(delete)
    group.command("export")(export)
    group.command("import")(import_file)
    group.command("diagnose")(diagnose)
    cli.add_typer(group, name="forest")


def build(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            "--level",
            metavar="NAME",
            help="What to pool; may be repeated: task, category, dataset, method (these four "
            "by default), all, or decomposition.",
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The similarity: forest, wl, motif, alignment, edit, gromov or embedding.",
        ),
    ] = "forest",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of the similarity; may be repeated: labels=role, alpha=0.5, ...",
        ),
    ] = None,
    embedding: EmbeddingOption = None,
    references: Annotated[
        int, typer.Option(min=1, help="Graphs that a forest keeps at most.")
    ] = 10,
    fewest: Annotated[
        int, typer.Option(min=1, help="Distinct successes that a forest needs.")
    ] = 2,
    weights: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="share: a reference weighs as much as the successes that it stands for; "
            "equal: each way weighs the same.",
        ),
    ] = "share",
    quantile: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Of the successes' own matches: where a high forest match begins.",
        ),
    ] = 0.1,
    seed: Annotated[int, typer.Option(min=0, help="Of the clustering.")] = 0,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Build reference forests from successful runs: distinct, clustered, few, calibrated."""
    from analytics.forest import ForestConfiguration
    from analytics.forest_keys import checked_levels
    from app import forest_jobs
    from app.similarity_options import load_embedding

    options = _options(option or [])
    if embedding is not None:
        if measure not in ("forest", "embedding"):
            raise UsageError(f"--embedding is for the measure embedding, not for {measure}")
        measure = "embedding"
        options["model"] = load_embedding(embedding).hash
    configuration = ForestConfiguration(
        measure=measure,
        options=options,
        references=references,
        fewest=fewest,
        weights=cast("Weighting", weights),
        quantile=quantile,
        seed=seed,
    )
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("building forests", quiet=quiet or json) as reporter,
    ):
        found = forest_jobs.build_forests(
            graph_store,
            configuration,
            levels=checked_levels(level) if level else None,
            selection=Selection(dataset, method, task),
            save=not dry_run,
            progress=reporter,
        )
    if not found.forests and not found.short:
        raise nothing_matches("graph")
    if not found.forests:
        _say_what_is_short(found)
        raise NotFoundError("no forest was made: no group has enough distinct successes")
    if json:
        print_json(found.to_dict())
        return
    _print_forests(found)
    _say_what_is_short(found)
    if not quiet:
        _say_what_was_made(found)


def _options(given: list[str]) -> dict[str, Any]:
    import msgspec

    found: dict[str, Any] = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--option takes NAME=VALUE, not {text!r}")
        try:
            found[name.strip()] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[name.strip()] = value
    return found


def _print_forests(found: "ForestSet") -> None:
    print_table(
        (
            "level",
            "name",
            "references",
            "successes",
            "distinct",
            "threshold",
            "median_similarity",
            "near_copies",
            "forest",
        ),
        [
            (
                one.key.level,
                one.key.name,
                len(one.references),
                one.successes,
                one.distinct,
                one.threshold,
                one.median_similarity,
                one.near_copies,
                found.forest_id(one.key),
            )
            for one in found.forests
        ],
        title="Reference forests",
    )


def _say_what_is_short(found: "ForestSet") -> None:
    for one in found.short[:SHOWN_SHORTAGES]:
        say(f"No forest for the {one.key.level} {one.key.name}: {one.reason}.")
    more = len(found.short) - SHOWN_SHORTAGES
    if more > 0:
        told = ": --json names them" if found.forests else ""
        say(f"{more:,} more have too few successes{told}.")


def _say_what_was_made(found: "ForestSet") -> None:
    for forest in found.forests:
        if forest.near_copies:
            say(
                f"The successes of the {forest.key.level} {forest.key.name} are near copies: "
                "a low forest match says little there."
            )
    say(f"Set {found.id}, configuration {found.configuration_hash}.")


def list_forests(
    store: StoreOption = None,
    forests: ForestSetOption = None,
    json: JsonOption = False,
) -> None:
    """List the reference forests of the store."""
    from app import forest_jobs

    with opened(store, read_only=True) as graph_store:
        rows = forest_jobs.stored_forests(graph_store, forests)
    if json:
        print_json({"forests": rows})
        return
    if not rows:
        raise NotFoundError("the store has no forests: make them with  masgraph forest build")
    columns = [name for name in rows[0] if name != "configuration_hash"]
    print_table(columns, [[row[name] for name in columns] for row in rows])


def show(
    name: Annotated[
        str,
        typer.Argument(metavar="FOREST", help="Id of a forest, or the name of its task, ..."),
    ],
    store: StoreOption = None,
    forests: ForestSetOption = None,
    json: JsonOption = False,
) -> None:
    """Show one forest: its references with their weights, and its calibration."""
    from dataclasses import asdict

    from app import forest_jobs

    with opened(store, read_only=True) as graph_store:
        found = forest_jobs.find_forests(graph_store, forests)
        forest = _named(found, name)
        assert found is not None
        graphs = forest_jobs.described_references(graph_store, found, forest)
    if json:
        print_json({"id": _id(found, forest), **asdict(forest)})
        return
    print_mapping(
        {
            "level": forest.key.level,
            "name": forest.key.name,
            "successes": forest.successes,
            "distinct": forest.distinct,
            "calibrated_with": len(forest.scores),
            "lowest_match": forest.scores[0] if forest.scores else None,
            "threshold": forest.threshold,
            "highest_match": forest.scores[-1] if forest.scores else None,
            "median_similarity": forest.median_similarity,
            "near_copies": forest.near_copies,
        },
        title=_id(found, forest),
    )
    print_table(
        ("reference", "weight", "stands_for", "copies", "task", "method", "nodes", "agents"),
        [
            (
                one.graph,
                one.weight,
                one.represented,
                len(one.copies),
                *[graphs.get(one.graph, {}).get(column) for column in SHOWN_OF_A_REFERENCE],
            )
            for one in sorted(forest.references, key=lambda one: (-one.weight, one.graph))
        ],
    )
    gone = sum(one.graph not in graphs for one in forest.references)
    if gone:
        say(f"{gone} references are no longer in the store: build the forests again.")


SHOWN_OF_A_REFERENCE = ("task", "method", "nodes", "agents")


def _id(found: "ForestSet | None", forest: "ReferenceForest") -> str:
    assert found is not None
    return found.forest_id(forest.key)


def _named(found: "ForestSet | None", name: str) -> "ReferenceForest":
    """A forest by its id, or by the name of what it pools where only one has it."""
    if found is None:
        raise NotFoundError("the store has no forests: make them with  masgraph forest build")
    matching = [
        forest
        for forest in found.forests
        if name in (found.forest_id(forest.key), forest.key.name, forest.key.task)
    ]
    if not matching:
        raise NotFoundError(f"there is no forest {name!r}: see  masgraph forest list")
    if len(matching) > 1:
        raise UsageError(
            f"{len(matching)} forests are called {name!r}: name one by its id, of "
            + ", ".join(found.forest_id(forest.key) for forest in matching)
        )
    return matching[0]


def delete(
    forests: Annotated[str, typer.Argument(metavar="SET", help="Id of a set of forests.")],
    store: StoreOption = None,
    quiet: QuietOption = False,
) -> None:
    """Remove a set of forests; the runs that it holds stay."""
    from app import forest_jobs

    with opened(store, must_exist=True, quiet=quiet) as graph_store:
        count = forest_jobs.delete_forests(graph_store, forests)
    if not quiet:
        say(f"{count:,} forests removed.")


def export(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Ends in .json, or in .json.gz.")
    ],
    store: StoreOption = None,
    forests: ForestSetOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write a set of forests to one file, with the graphs that they hold."""
    from app import forest_files, forest_jobs

    with opened(store, read_only=True, quiet=quiet) as graph_store:
        found = forest_jobs.find_forests(graph_store, forests)
        if found is None:
            raise NotFoundError(
                "the store has no forests: make them with  masgraph forest build"
            )
        graphs = forest_files.export_forests(graph_store, found, file)
    if not quiet:
        say(f"{len(found.forests):,} forests with {graphs:,} graphs in {file}")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What export wrote.")],
    store: StoreOption = None,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Read forests into the store, beside its own; their graphs do not become runs of it."""
    from app import forest_files

    loaded = forest_files.load_forests(file)
    with opened(store, quiet=quiet) as graph_store:
        written = forest_files.import_forests(graph_store, loaded)
    forests, graphs = loaded.forests, len(loaded.graphs)
    if json:
        print_json(
            {
                "set": forests.id,
                "forests": len(forests.forests),
                "graphs": graphs,
                "written": written,
            }
        )
    elif not quiet:
        done = "written" if written else "they were there"
        say(f"{len(forests.forests):,} forests of {graphs:,} graphs, set {forests.id}: {done}.")
