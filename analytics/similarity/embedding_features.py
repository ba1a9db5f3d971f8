"""What the learned embedding reads of a graph, and what a trained network makes of it.

Using a trained network takes sums and products only: numpy does them, and torch is needed for
training alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy
from numpy.typing import NDArray

from analytics.similarity.outline import levels
from graphstore.errors import InputError, UsageError
from graphstore.identity import canonical_json, configuration_hash, digest
from graphstore.model import NODE_KINDS, ROLES, CollaborationGraph

Labels = Literal["role/kind", "role", "kind"]
LABELS: tuple[str, ...] = get_args(Labels)

_DEGREES = 2
_POSITION = 1
_MASK = 1
_NORM_EPSILON = 1e-5
"""Of layer normalization, as torch has it."""

Floats = NDArray[numpy.float64]


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
    depths = numpy.array(levels(size, tuple(ends)), numpy.float64)
    nodes[:, start + 2] = depths / max(1.0, depths.max(initial=0.0))
    return GraphFeatures(nodes, labels, edges)


def encode(
    weights: Mapping[str, NDArray[Any]],
    features: GraphFeatures,
    configuration: EmbeddingConfiguration,
) -> Floats:
    """The embedding of a graph before it is centered, shape (layers * width + 2,).

    With N(v) the nodes that v consumes, and N'(v) those that consume it, each layer is

        h(v) <- relu(norm(f((1 + e) h(v) + sum of h over N(v))
                          + g((1 + e') h(v) + sum of h over N'(v))))

    where f and g are networks of one hidden layer (Xu et al., ICLR 2019, Eq. 4.1, once along
    the edges and once against them). The embedding is the mean over nodes of every layer, and
    ``ln(1 + n)`` and ``ln(1 + m)`` of the numbers of nodes and edges.

    Args:
        weights: Parameters by name.
        features: Of a graph with at least one node.
        configuration: Names the number of layers.
    """
    current = features.nodes.astype(numpy.float64)
    sources, targets = features.edges
    pooled = []
    for layer in range(configuration.layers):
        along = _convolved(weights, f"along.{layer}", current, sources, targets)
        against = _convolved(weights, f"against.{layer}", current, targets, sources)
        current = numpy.maximum(_normed(weights, f"norms.{layer}", along + against), 0.0)
        pooled.append(current.mean(axis=0))
    sizes = numpy.log1p([len(features.nodes), features.edges.shape[1]])
    found: Floats = numpy.concatenate([*pooled, sizes])
    return found


def _convolved(
    weights: Mapping[str, NDArray[Any]],
    name: str,
    nodes: Floats,
    sources: NDArray[numpy.int64],
    targets: NDArray[numpy.int64],
) -> Floats:
    from scipy.sparse import csr_array

    size = len(nodes)
    ones = numpy.ones(len(sources))
    summed = csr_array((ones, (targets, sources)), shape=(size, size)) @ nodes
    gathered = (1.0 + float(weights[f"{name}.eps"].item())) * nodes + summed
    hidden = numpy.maximum(_linear(weights, f"{name}.nn.0", gathered), 0.0)
    return _linear(weights, f"{name}.nn.2", hidden)


def _linear(weights: Mapping[str, NDArray[Any]], name: str, nodes: Floats) -> Floats:
    matrix, bias = (
        weights[f"{name}.{part}"].astype(numpy.float64) for part in ("weight", "bias")
    )
    found: Floats = nodes @ matrix.T + bias
    return found


def _normed(weights: Mapping[str, NDArray[Any]], name: str, nodes: Floats) -> Floats:
    centered = nodes - nodes.mean(axis=1, keepdims=True)
    spread = numpy.sqrt((centered**2).mean(axis=1, keepdims=True) + _NORM_EPSILON)
    found: Floats = centered / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return found


def check_weights(
    weights: Mapping[str, NDArray[Any]], configuration: EmbeddingConfiguration
) -> None:
    """Raises InputError where an encoder's parameter is missing or has another shape."""
    width = configuration.width
    for layer in range(configuration.layers):
        inputs = width if layer else configuration.features
        shapes: dict[str, Sequence[int]] = {
            f"norms.{layer}.weight": (width,),
            f"norms.{layer}.bias": (width,),
        }
        for way in ("along", "against"):
            shapes |= {
                f"{way}.{layer}.nn.0.weight": (width, inputs),
                f"{way}.{layer}.nn.0.bias": (width,),
                f"{way}.{layer}.nn.2.weight": (width, width),
                f"{way}.{layer}.nn.2.bias": (width,),
            }
        sized = all(name in weights and weights[name].shape == shapes[name] for name in shapes)
        scaled = all(
            f"{way}.{layer}.eps" in weights and weights[f"{way}.{layer}.eps"].size == 1
            for way in ("along", "against")
        )
        if not (sized and scaled):
            raise InputError("this embedding's weights do not fit its configuration")
