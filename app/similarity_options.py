"""Similarity measures from what a user names, and trained embeddings in files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.files import write_file
from app.jobs import Progress, Selection, no_progress
from graphstore.errors import InputError, UsageError
from graphstore.model import GraphKind
from graphstore.store import GraphStore

if TYPE_CHECKING:
    from analytics.similarity.embedding import EmbeddingConfiguration, EmbeddingModel
    from analytics.similarity.measure import SimilarityMeasure

LEARNED = "embedding"


def measures_from(
    names: Sequence[str], *, embedding: str | Path | None = None, labels: str | None = None
) -> "list[SimilarityMeasure]":
    """Measures by name, with their defaults; a name that comes again counts once.

    Args:
        names: Of :data:`analytics.similarity.measure.MEASURES`.
        embedding: The file of a trained model: for ``embedding``, which is added where this
            is given.
        labels: How nodes are typed; each measure's default where None. A trained model keeps
            the labels that it was trained with.

    Raises:
        UsageError: A name, or the labels, are unknown; ``embedding`` has no file.
        InputError: The file cannot be read, or holds no model.
        MissingExtraError: A measure needs a package that is not installed.
    """
    from analytics.similarity.measure import measure_named

    wanted = list(dict.fromkeys([*names, *([LEARNED] if embedding else [])]))
    found = []
    for name in wanted:
        options: dict[str, Any] = {}
        if name == LEARNED:
            if embedding is None:
                raise UsageError(
                    "the measure embedding needs a trained model: make one with  masgraph "
                    "embedding train  and give its file as --embedding FILE"
                )
            options = {"model": load_embedding(embedding)}
        elif labels is not None:
            options = {"labels": labels}
        found.append(measure_named(name, **options))
    return found


def save_embedding(model: "EmbeddingModel", path: str | Path) -> None:
    """Writes a model with its configuration and hash as one JSON file.

    Raises:
        InputError: The file cannot be written.
    """
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(model.to_dict(), order="sorted"), indent=1)
    write_file(path, text + b"\n")


def load_embedding(path: str | Path) -> "EmbeddingModel":
    """The model that :func:`save_embedding` wrote.

    From then on its hash names it in this process: forests that were built with it can be
    used again.

    Raises:
        InputError: The file cannot be read, is no model, or is damaged.
    """
    import msgspec

    from analytics.similarity.embedding import EmbeddingModel, remember

    try:
        document = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InputError("this is no embedding of masgraph", file=str(path)) from None
    try:
        model = EmbeddingModel.from_dict(document)
    except InputError as error:
        raise InputError(error.reason, file=str(path)) from None
    remember(model)
    return model


def train_on_store(
    store: GraphStore,
    configuration: "EmbeddingConfiguration | None" = None,
    *,
    kind: GraphKind = "run",
    selection: Selection | None = None,
    progress: Progress = no_progress,
) -> "EmbeddingModel":
    """Trains an embedding on graphs of a store. Nothing is written there.

    Args:
        store: Where the graphs are.
        configuration: Options.
        kind: Runs or decompositions.
        selection: Which of them.
        progress: Receives epochs done, epochs in all, and the loss.

    Raises:
        UsageError: Fewer than two different graphs with nodes are there.
        MissingExtraError: torch or torch-geometric is not installed.
    """
    from dataclasses import asdict

    from analytics.similarity.embedding import train_embedding

    graphs = store.graphs(kind=kind, **asdict(selection or Selection()))
    return train_embedding(graphs, configuration, progress=progress)
