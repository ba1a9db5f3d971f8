"""A learned embedding of graphs, and the cosine of two embeddings as a similarity.

A model is trained on graphs once (:func:`train_embedding`), kept as JSON values
(:meth:`EmbeddingModel.to_dict`), and used through :class:`EmbeddingMeasure`. The network
itself, with torch, stands in :mod:`analytics.similarity.embedding_network`: the one module
that needs the extra ``gnn``. It is imported when a model is trained or used, never before.
"""

import base64
import binascii
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Literal, get_args

import numpy
from numpy.typing import NDArray

from graphstore.errors import InputError, MissingExtraError, UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.model import NODE_KINDS, ROLES, CollaborationGraph

Labels = Literal["role/kind", "role", "kind"]
LABELS: tuple[str, ...] = get_args(Labels)
FORMAT_VERSION = 1
LEAST_GRAPHS = 2
"""Different graphs that training needs: embeddings are told apart by their mean."""

_DEGREES = 2
_POSITION = 1
_MASK = 1
_ALIKE = 1e-12
"""Cosines closer to 1 than this are those of equal embeddings."""

Floats = NDArray[numpy.float64]
Progress = Callable[[float, float | None, str], None]


@dataclass(frozen=True)
class EmbeddingConfiguration:
    """How a network is built and trained.

    Attributes:
        labels: What of a node the network sees: role and kind, or one of them. Names are
            open and cannot be learned.
        width: Numbers in a node's embedding.
        layers: Layers of the network: how far, in edges, a node sees.
        epochs: Times that each graph is seen.
        batch: Graphs of one step.
        learning_rate: Of Adam, above 0.
        masked: Share of nodes whose labels are hidden in a step, to be guessed from the
            others; between 0 and 1, both exclusive.
        seed: Not negative.
        definitions: Raised whenever the network or its training change.
    """

    labels: Labels = "role/kind"
    width: int = 32
    layers: int = 3
    epochs: int = 60
    batch: int = 32
    learning_rate: float = 0.005
    masked: float = 0.25
    seed: int = 0
    definitions: str = "1"

    def __post_init__(self) -> None:
        if self.labels not in LABELS:
            raise UsageError(
                f"an embedding cannot learn the labels {self.labels!r}; "
                f"choose one of {', '.join(LABELS)}"
            )
        for name in ("width", "layers", "epochs", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1")
        if self.seed < 0:
            raise UsageError(f"a seed cannot be negative: {self.seed}")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0.0):
            raise UsageError(f"a learning rate is above 0, not {self.learning_rate}")
        if not 0.0 < self.masked < 1.0:
            raise UsageError(f"the masked share lies between 0 and 1, not at {self.masked}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)

    @property
    def label_sizes(self) -> tuple[int, ...]:
        """Number of labels of each one-hot block that the network sees."""
        sizes = {"role": len(ROLES), "kind": len(NODE_KINDS)}
        return tuple(sizes[part] for part in self.labels.split("/"))

    @property
    def features(self) -> int:
        """Numbers that the network sees of a node."""
        return sum(self.label_sizes) + _DEGREES + _POSITION + _MASK


@dataclass(frozen=True, eq=False)
class GraphFeatures:
    """What the network sees of a graph; no ids, no names, no contents.

    Attributes:
        nodes: Float32, shape (n, features): one-hot labels, ``ln(1 + degree)`` for edges in
            and out, the node's level over the largest level, and a last column of zeros
            that marks hidden labels while training.
        labels: Int64, shape (n, blocks): the label in each one-hot block.
        edges: Int64, shape (2, m): positions of sources and targets.
    """

    nodes: NDArray[numpy.float32]
    labels: NDArray[numpy.int64]
    edges: NDArray[numpy.int64]

    @property
    def hash(self) -> str:
        """Hash of the labels and edges."""
        return digest(
            canonical_json(self.labels.shape), self.labels.tobytes(), self.edges.tobytes()
        )


def graph_features(
    graph: CollaborationGraph, configuration: EmbeddingConfiguration
) -> GraphFeatures:
    """What the network sees of a graph.

    Args:
        graph: A run or a decomposition.
        configuration: Names the labels.
    """
    size = len(graph.nodes)
    index = {node.id: place for place, node in enumerate(graph.nodes)}
    ends = [(index[edge.source], index[edge.target]) for edge in graph.edges]
    edges = numpy.array(ends, numpy.int64).reshape(-1, 2).T.copy()
    ranks = {
        "role": {name: place for place, name in enumerate(ROLES)},
        "kind": {name: place for place, name in enumerate(NODE_KINDS)},
    }
    parts = configuration.labels.split("/")
    labels = numpy.array(
        [[ranks[part][getattr(node, part)] for part in parts] for node in graph.nodes],
        numpy.int64,
    ).reshape(size, len(parts))
    nodes = numpy.zeros((size, configuration.features), numpy.float32)
    start = 0
    for block, count in enumerate(configuration.label_sizes):
        nodes[numpy.arange(size), start + labels[:, block]] = 1.0
        start += count
    nodes[:, start] = numpy.log1p(numpy.bincount(edges[1], minlength=size))
    nodes[:, start + 1] = numpy.log1p(numpy.bincount(edges[0], minlength=size))
    nodes[:, start + 2] = _levels(ends, size)
    return GraphFeatures(nodes, labels, edges)


def _levels(ends: Sequence[tuple[int, int]], size: int) -> Floats:
    levels = [0] * size
    # Edges come in order of their sources and point forward: a source is final when used.
    for source, target in ends:
        levels[target] = max(levels[target], levels[source] + 1)
    return numpy.array(levels, numpy.float64) / max(1, *levels, 1)


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
    return EmbeddingModel(
        configuration=options,
        weights=trained.weights,
        center=trained.center,
        scale=trained.scale,
        graphs=len(features),
        training=digest(*hashes),
        losses=trained.losses,
        versions=trained.versions,
    )


@dataclass(frozen=True)
class EmbeddingMeasure:
    """Half of one plus the cosine of two learned embeddings.

    1 for equal embeddings, 0.5 for unrelated ones, 0 for opposite ones: embeddings are
    centered on the training graphs.

    Attributes:
        model: A trained model; there is no default one.
    """

    name: ClassVar[str] = "embedding"
    model: EmbeddingModel | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, EmbeddingModel):
            raise UsageError(
                "the measure embedding needs a trained model: make one with  "
                "masgraph embedding train"
            )
        _network()

    @property
    def configuration(self) -> dict[str, Any]:
        """The name, the model's hash and how it was made, as JSON values."""
        model = self._model
        return {
            "measure": self.name,
            "model": model.hash,
            "graphs": model.graphs,
            **asdict(model.configuration),
        }

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return configuration_hash(self.configuration)

    def prepare(self, graph: CollaborationGraph) -> Floats | None:
        """The embedding at unit length, shape (d,); None for a graph without nodes.

        An embedding without length (exactly the mean of the training graphs) stays zero.
        """
        if not graph.nodes:
            return None
        features = graph_features(graph, self._model.configuration)
        vector: Floats = _network().embed(self._model, [features])[0]
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
        assert self.model is not None
        return self.model

    def _stacked(self, vectors: Sequence[Floats | None]) -> Floats:
        lacking = numpy.full(len(self._model.center), numpy.nan)
        rows = [lacking if one is None else one for one in vectors]
        return numpy.array(rows, numpy.float64).reshape(len(rows), len(lacking))


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
        raise MissingExtraError(package, "gnn", "the learned embedding of graphs") from None
    return embedding_network
