"""A learned embedding of graphs, and the cosine of two embeddings as a similarity.

A model is trained on graphs once (:func:`train_embedding`), kept as JSON values
(:meth:`EmbeddingModel.to_dict`), and used through :class:`EmbeddingMeasure`. Training alone
needs torch, which stands in :mod:`analytics.similarity.embedding_network`: the one module
that needs the extra ``gnn``, imported when a model is trained and never before.
"""

import base64
import binascii
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from analytics.similarity.embedding_features import (
    EmbeddingConfiguration,
    Floats,
    check_weights,
    encode,
    graph_features,
)
from graphstore.errors import InputError, MissingExtraError, UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.model import CollaborationGraph

__all__ = [
    "EmbeddingConfiguration",
    "EmbeddingMeasure",
    "EmbeddingModel",
    "remember",
    "train_embedding",
]

FORMAT_VERSION = 1
LEAST_GRAPHS = 2
"""Different graphs that training needs: embeddings are told apart by their mean."""

_ALIKE = 1e-12
"""Cosines closer to 1 than this are those of equal embeddings."""
_LEAST_SCALE = 1e-3
"""A dimension varies by at least this share of the one that varies most: less is rounding."""

Progress = Callable[[float, float | None, str], None]


@dataclass(frozen=True, eq=False)
class EmbeddingModel:
    """A trained network.

    Attributes:
        configuration: How it was built and trained.
        weights: The network's parameters by name, float32.
        center: Mean embedding of the training graphs, shape (d,).
        scale: Their deviation in each dimension, above 0, shape (d,).
        graphs: Number of graphs it was trained on.
        training: Hash of what the network saw of them.
        losses: Mean loss of each epoch.
        versions: Of the packages that trained it; no part of the hash.
    """

    configuration: EmbeddingConfiguration
    weights: dict[str, NDArray[numpy.float32]]
    center: Floats
    scale: Floats
    graphs: int
    training: str
    losses: tuple[float, ...]
    versions: dict[str, str] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        """Hash of the configuration and of every number that an embedding depends on."""
        parts: list[str | bytes] = [canonical_json(self.configuration), self.training]
        for name, values in sorted(self.weights.items()):
            parts += [name, canonical_json(values.shape), values.tobytes()]
        return digest(*parts, self.center.tobytes(), self.scale.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EmbeddingModel) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def embed(self, graph: CollaborationGraph) -> Floats:
        """The embedding of a graph with nodes, centered and scaled, shape (d,)."""
        features = graph_features(graph, self.configuration)
        raw = encode(self.weights, features, self.configuration)
        found: Floats = (raw - self.center) / self.scale
        return found

    def to_dict(self) -> dict[str, Any]:
        """JSON values: what :meth:`from_dict` reads. Arrays are little-endian in base64."""
        return {
            "masgraph_embedding": FORMAT_VERSION,
            "hash": self.hash,
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration.hash,
            "graphs": self.graphs,
            "training": self.training,
            "losses": list(self.losses),
            "versions": self.versions,
            "center": _packed(self.center),
            "scale": _packed(self.scale),
            "weights": {name: _packed(values) for name, values in sorted(self.weights.items())},
        }

    @classmethod
    def from_dict(cls, document: Any) -> "EmbeddingModel":
        """A model from what :meth:`to_dict` gave.

        Raises:
            InputError: It is no model, of another version, or damaged.
        """
        if not isinstance(document, dict) or "masgraph_embedding" not in document:
            raise InputError("this is no embedding of masgraph")
        if document["masgraph_embedding"] != FORMAT_VERSION:
            raise InputError(
                f"this embedding has the format {document['masgraph_embedding']}, and only "
                f"{FORMAT_VERSION} can be read"
            )
        try:
            model = cls(
                configuration=EmbeddingConfiguration(**document["configuration"]),
                weights={
                    name: _unpacked(packed, "<f4")
                    for name, packed in document["weights"].items()
                },
                center=_unpacked(document["center"], "<f8"),
                scale=_unpacked(document["scale"], "<f8"),
                graphs=document["graphs"],
                training=document["training"],
                losses=tuple(document["losses"]),
                versions=document["versions"],
            )
            found = model.hash
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            binascii.Error,
            UsageError,
        ) as error:
            raise InputError(f"this embedding is damaged: {error}") from None
        if found != document.get("hash"):
            raise InputError("this embedding is damaged: its numbers do not fit its hash")
        check_weights(model.weights, model.configuration)
        size = (model.configuration.layers * model.configuration.width + 2,)
        if model.center.shape != size or model.scale.shape != size:
            raise InputError("this embedding's weights do not fit its configuration")
        return model


def _packed(values: NDArray[Any]) -> dict[str, Any]:
    little = values.astype(values.dtype.newbyteorder("<"))
    return {"shape": list(values.shape), "data": base64.b64encode(little.tobytes()).decode()}


def _unpacked(packed: dict[str, Any], kind: str) -> NDArray[Any]:
    data = base64.b64decode(packed["data"], validate=True)
    values = numpy.frombuffer(data, kind).reshape(packed["shape"])
    return values.astype(numpy.dtype(kind).newbyteorder("="))


def train_embedding(
    graphs: Iterable[CollaborationGraph],
    configuration: EmbeddingConfiguration | None = None,
    *,
    progress: Progress | None = None,
) -> EmbeddingModel:
    """Trains a graph autoencoder; the order of the graphs does not matter.

    The encoder is a graph isomorphism network (Xu et al., "How powerful are graph neural
    networks?", ICLR 2019, Eq. 4.1), with one aggregation along and one against the edges.
    Two decoders make it learn without any label of outcome: one guesses the hidden roles and
    kinds of nodes, as in masked autoencoders; one tells edges from pairs that are none, by a
    bilinear form (Kipf and Welling, "Variational graph auto-encoders", 2016, section 1, made
    directed). A graph's embedding is the mean of each layer's node embeddings and the
    logarithms of its sizes, less the mean of the training graphs, in units of their
    deviation.

    On one machine the same graphs and configuration give the same bytes. Another processor
    or another version of torch may round otherwise.

    Args:
        graphs: Runs or decompositions; those without nodes are left out.
        configuration: Options; the defaults where None.
        progress: Receives epochs done, epochs in all, and the loss.

    Raises:
        UsageError: Fewer than two different graphs have nodes.
        MissingExtraError: torch or torch-geometric is not installed.
    """
    options = configuration or EmbeddingConfiguration()
    network = _network()
    found = [(graph.id, graph_features(graph, options)) for graph in graphs if graph.nodes]
    found.sort(key=lambda pair: pair[0])
    features = [one for _, one in found]
    hashes = [one.hash for one in features]
    if len(set(hashes)) < LEAST_GRAPHS:
        raise UsageError(
            f"an embedding is trained on at least {LEAST_GRAPHS} different graphs with nodes"
        )
    trained = network.train(features, options, progress)
    raw = numpy.array([encode(trained.weights, one, options) for one in features])
    deviations = raw.std(axis=0)
    floor = _LEAST_SCALE * float(deviations.max())
    model = EmbeddingModel(
        configuration=options,
        weights=trained.weights,
        center=raw.mean(axis=0),
        scale=numpy.maximum(deviations, floor if floor else 1.0),
        graphs=len(features),
        training=digest(*hashes),
        losses=trained.losses,
        versions=trained.versions,
    )
    remember(model)
    return model


@dataclass(frozen=True)
class EmbeddingMeasure:
    """Half of one plus the cosine of two learned embeddings.

    1 for equal embeddings, 0.5 for unrelated ones, 0 for opposite ones: embeddings are
    centered on the training graphs.

    Attributes:
        model: A trained model, or the hash of one that this process trained or read: what
            stored configurations hold. There is no default one.

    Raises:
        UsageError: There is no model.
    """

    name: ClassVar[str] = "embedding"
    model: EmbeddingModel | str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.model, EmbeddingModel):
            remember(self.model)
        elif not self.model or not isinstance(self.model, str):
            raise UsageError(
                "the measure embedding needs a trained model: make one with  masgraph "
                "embedding train  and give its file as --embedding FILE"
            )

    @property
    def configuration(self) -> dict[str, Any]:
        """The name and the model's hash, as JSON values; the model's file says the rest."""
        known = isinstance(self.model, EmbeddingModel)
        return {"measure": self.name, "model": self._model.hash if known else self.model}

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return configuration_hash(self.configuration)

    def obstacle(self, prepared: Floats | None) -> str | None:
        """Why the graph has no similarity, or None."""
        return "it has no nodes" if prepared is None else None

    def prepare(self, graph: CollaborationGraph) -> Floats | None:
        """The embedding at unit length, shape (d,); None for a graph without nodes.

        An embedding without length (exactly the mean of the training graphs) stays zero.
        """
        if not graph.nodes:
            return None
        vector = self._model.embed(graph)
        length = float(numpy.linalg.norm(vector))
        return vector / length if length else vector

    def similarity(self, one: Floats | None, other: Floats | None) -> float | None:
        """Of two prepared graphs, 0 to 1; None where one has no nodes."""
        found = float(self.matrix([one], [other])[0, 0])
        return None if math.isnan(found) else found

    def matrix(
        self, ones: Sequence[Floats | None], others: Sequence[Floats | None] | None = None
    ) -> Floats:
        """All similarities at once, shape (n, m); NaN where a graph has no nodes."""
        left = self._stacked(ones)
        right = left if others is None else self._stacked(others)
        cosines = numpy.clip(left @ right.T, -1.0, 1.0)
        cosines[cosines > 1.0 - _ALIKE] = 1.0
        empty = [numpy.logical_not(side.any(axis=1)) for side in (left, right)]
        found: Floats = numpy.where(numpy.logical_and.outer(*empty), 1.0, (1.0 + cosines) / 2.0)
        return found

    @property
    def _model(self) -> EmbeddingModel:
        if isinstance(self.model, EmbeddingModel):
            return self.model
        found = _REMEMBERED.get(str(self.model))
        if found is None:
            raise UsageError(
                f"this needs the trained embedding {self.model}: give its file as --embedding "
                "FILE, or load it first"
            )
        return found

    def _stacked(self, vectors: Sequence[Floats | None]) -> Floats:
        lacking = numpy.full(len(self._model.center), numpy.nan)
        rows = [lacking if one is None else one for one in vectors]
        return numpy.array(rows, numpy.float64).reshape(len(rows), len(lacking))


_REMEMBERED: dict[str, EmbeddingModel] = {}
"""Models by their hashes: which is which does not depend on who put them here."""


def remember(model: EmbeddingModel) -> None:
    """Lets the model be named by its hash in this process."""
    _REMEMBERED[model.hash] = model


def _network() -> ModuleType:
    """The module with torch in it.

    Raises:
        MissingExtraError: torch or torch-geometric is not installed.
    """
    try:
        with warnings.catch_warnings():
            # Old ways that the packages use among themselves are not the user's concern.
            warnings.simplefilter("ignore")
            from analytics.similarity import embedding_network
    except ImportError as error:
        package = "torch-geometric" if error.name == "torch_geometric" else "torch"
        raise MissingExtraError(package, "gnn", "training an embedding of graphs") from None
    except OSError as error:
        # The embedded store, scikit-learn and torch together can be more than a process has
        # thread-local storage for; each pair of them fits.
        raise UsageError(
            f"torch cannot be loaded beside what this process has loaded ({error}): train in "
            "a process of its own, with  masgraph embedding train"
        ) from None
    return embedding_network
