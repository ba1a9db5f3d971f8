"""``masgraph embedding``: train an embedding of graphs, and look at one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

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
from app.files import check_writable
from app.jobs import Selection
from app.output import print_json, print_mapping, progress, say
from graphstore.model import GraphKind

if TYPE_CHECKING:
    from analytics.similarity.embedding_features import Labels


def register(cli: typer.Typer) -> None:
    """Adds the commands of this module."""
    group = typer.Typer(
        name="embedding",
        help="Train an embedding of graphs: the similarity measure embedding.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("train")(train)
    group.command("show")(show)
    cli.add_typer(group)


def train(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where the model goes, as JSON."),
    ],
    store: StoreOption = None,
    kind: Annotated[GraphKind, typer.Option(help="Which graphs to train on.")] = "run",
    dataset: DatasetOption = None,
    method: MethodOption = None,
    task: TaskOption = None,
    labels: Annotated[
        str,
        typer.Option(
            metavar="SCHEME", help="What of a node the network sees: role/kind, role or kind."
        ),
    ] = "role/kind",
    width: Annotated[int, typer.Option(min=1, help="Numbers in a node's embedding.")] = 32,
    layers: Annotated[int, typer.Option(min=1, help="How far, in edges, a node sees.")] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Times that each graph is seen.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Of the network and its training.")] = 0,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Train a graph autoencoder on the store's graphs (needs masgraph[gnn])."""
    from analytics.similarity.embedding import EmbeddingConfiguration
    from app.similarity_options import save_embedding, train_on_store

    configuration = EmbeddingConfiguration(
        labels=cast("Labels", labels),
        width=width,
        layers=layers,
        epochs=epochs,
        seed=seed,
    )
    check_writable(output)
    with (
        opened(store, read_only=True, quiet=quiet) as graph_store,
        progress("training", quiet=quiet or json) as reporter,
    ):
        model = train_on_store(
            graph_store,
            configuration,
            kind=kind,
            selection=Selection(dataset, method, task),
            progress=reporter,
        )
    save_embedding(model, output)
    _print(model, json)
    if not (quiet or json):
        say(f"Model: {output}")


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trained model.")],
    json: JsonOption = False,
) -> None:
    """Say how a model was trained. Its hash is checked; torch is not needed."""
    from app.similarity_options import load_embedding

    _print(load_embedding(file), json)


def _print(model: object, json: bool) -> None:
    from dataclasses import asdict

    from analytics.similarity.embedding import EmbeddingModel

    assert isinstance(model, EmbeddingModel)
    values = {
        "hash": model.hash,
        "graphs": model.graphs,
        "first_loss": model.losses[0],
        "last_loss": model.losses[-1],
        "numbers": sum(int(one.size) for one in model.weights.values()),
        **asdict(model.configuration),
        "configuration_hash": model.configuration.hash,
        "versions": model.versions,
    }
    if json:
        print_json(values)
    else:
        print_mapping(values, title="Embedding")
