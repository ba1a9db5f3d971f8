"""``masgraph evaluate``: the panel of each run, by itself and beside the ways that work."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from app.commands.options import (
    ByRunOption,
    DatasetOption,
    DryRunOption,
    EmbeddingOption,
    JsonOption,
    MethodOption,
    QuietOption,
    StoreOption,
    TaskOption,
    opened,
)
from app.jobs import Selection, nothing_matches
from app.output import print_json, print_table, progress, say
from graphstore.errors import UsageError

if TYPE_CHECKING:
    from analytics.forest_panel import ForestEvaluation
    from analytics.projection import ProjectionName

SHOWN_METRICS = (
    "success",
    "score",
    "density",
    "reachable_pair_fraction",
    "average_path_length",
    "normalized_source_entropy",
    "node_validity",
    "content_redundancy",
    "actions",
    "tokens_out",
)
SHOWN_FOREST_METRICS = (
    "forest_match",
    "best_similarity",
    "forest_match_percentile",
    "information_uptake",
    "topology_efficiency",
)


def register(cli: typer.Typer) -> None:
    """Adds the command of this module."""
    cli.command("evaluate")(evaluate)


def evaluate(
    store: StoreOption = None,
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    projection: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What makes an edge of the executed graph: exchange, message, consumption or "
            "action.",
        ),
    ] = None,
    forests: Annotated[
        str | None,
        typer.Option(
            "--forests",
            metavar="SET",
            help="Reference forests to compare with; needed only where the store has several "
            "sets. Without forests (masgraph forest build), what needs them is missing.",
        ),
    ] = None,
    no_forests: Annotated[
        bool, typer.Option("--no-forests", help="Compare with no forest.")
    ] = False,
    forest_level: Annotated[
        list[str] | None,
        typer.Option(
            "--forest-level",
            metavar="NAME",
            help="Only forests of this level; may be repeated: task, category, dataset, "
            "method, all or decomposition. The first of these that a run has is taken.",
        ),
    ] = None,
    embedding: EmbeddingOption = None,
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What embeds contents for information uptake: tfidf, wordllama, "
            "sentence-transformers:MODEL, openai:MODEL@URL, or none.",
        ),
    ] = "tfidf",
    by_run: ByRunOption = False,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Measure the structure of runs, and how close they are to those that worked."""
    from analytics.forest_keys import checked_levels
    from analytics.panel import PanelConfiguration
    from app import evaluation_jobs
    from app.similarity_options import load_embedding

    if no_forests and forests is not None:
        raise UsageError("--forests names what --no-forests leaves out: give one of them")
    configuration = PanelConfiguration()
    if projection:
        configuration = PanelConfiguration(projection=cast("ProjectionName", projection))
    selection = Selection(dataset, method, task)
    if embedding is not None:
        load_embedding(embedding)
    with (
        opened(store, read_only=dry_run, must_exist=True, quiet=quiet) as graph_store,
        progress("evaluating", quiet=quiet or json) as reporter,
    ):
        result = evaluation_jobs.evaluate(
            graph_store,
            configuration,
            selection=selection,
            save=not dry_run,
            embedder=None if embedder == "none" else embedder,
            forests=False if no_forests else forests,
            levels=checked_levels(forest_level) if forest_level else None,
            progress=reporter,
        )
    if not result.rows:
        raise nothing_matches()
    if json:
        print_json(result.to_dict())
        return
    if by_run:
        _print_by_run(result)
    else:
        print_by_method(result)
    if not quiet:
        _say_what_is_missing(result)
        if forest_level and not no_forests and not result.compared:
            say(
                f"No run has a forest of the level {' or '.join(forest_level)}: make it with  "
                "masgraph forest build " + " ".join(f"--level {one}" for one in forest_level)
            )


def _print_by_run(result: "ForestEvaluation") -> None:
    print_table(
        ("run", "task", "method", *SHOWN_METRICS),
        [
            (row.run, row.task, row.method, *(getattr(row, name) for name in SHOWN_METRICS))
            for row in result.rows
        ],
    )
    if result.compared:
        columns = ("run", "diagnosis", "forest_level", *SHOWN_FOREST_METRICS, "best_reference")
        print_table(
            columns,
            [tuple(getattr(row, name) for name in columns) for row in result.rows],
            title="Beside the ways that work",
        )


def print_by_method(result: "ForestEvaluation") -> None:
    """Prints a line for each method: means over the runs that have a value."""
    methods = result.by_method()
    print_table(
        ("method", "runs", "tasks", *SHOWN_METRICS),
        [
            (row.method, row.runs, row.tasks, *(row.means[name] for name in SHOWN_METRICS))
            for row in methods
        ],
        title="Means over the runs that have a value",
    )
    if result.compared:
        print_table(
            ("method", "compared", *SHOWN_FOREST_METRICS),
            [
                (
                    row.method,
                    row.known["forest_match"],
                    *(row.means[name] for name in SHOWN_FOREST_METRICS),
                )
                for row in methods
            ],
            title="Beside the ways that work",
        )


def _say_what_is_missing(result: "ForestEvaluation") -> None:
    if result.compared:
        without = len(result.rows) - result.compared
        if without:
            say(f"{without:,} of {len(result.rows):,} runs have no reference forest.")
        pooled = sum(
            getattr(row, "forest_level", None) not in (None, "task") for row in result.rows
        )
        if pooled:
            say(f"{pooled:,} were compared with forests that pool more than their own task.")
    lost = len(result.missing_references)
    if lost:
        say(f"{lost:,} references are no longer in the store: build the forests again.")
    unknown = sum(row.success is None for row in result.rows)
    if unknown:
        say(f"{unknown} of {len(result.rows)} runs do not say whether they succeeded.")
    guessed = sum(row.inferred_edges for row in result.rows)
    edges = sum(row.edges for row in result.rows)
    if guessed:
        say(f"{guessed:,} of {edges:,} edges ({guessed / edges:.0%}) were inferred by readers.")
    say(f"Configuration {result.configuration_hash}.")
