"""Training of the learned embedding: the one module that imports torch.

Nothing here is for use outside :mod:`analytics.similarity.embedding`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy
import torch
import torch_geometric
from numpy.typing import NDArray
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv

from analytics.similarity.embedding_features import EmbeddingConfiguration, GraphFeatures

Progress = Callable[[float, float | None, str], None]


@dataclass(frozen=True)
class Trained:
    """What training gives.

    Attributes:
        weights: Parameters by name.
        losses: Mean loss of each epoch.
        versions: Of the packages.
    """

    weights: dict[str, NDArray[numpy.float32]]
    losses: tuple[float, ...]
    versions: dict[str, str]


def train(
    graphs: Sequence[GraphFeatures],
    configuration: EmbeddingConfiguration,
    progress: Progress | None,
) -> Trained:
    """Trains on graphs, one thread, one seed."""
    with _reproducible(configuration.seed):
        modules = _modules(configuration)
        losses = _fit(modules, [_data(one) for one in graphs], configuration, progress)
        weights = {
            name: values.detach().numpy().copy()
            for name, values in modules.state_dict().items()
        }
    return Trained(
        weights=weights,
        losses=losses,
        versions={
            "torch": str(torch.__version__),
            "torch-geometric": str(torch_geometric.__version__),
        },
    )


@contextmanager
def _reproducible(seed: int) -> Iterator[None]:
    """One thread and random numbers of our own; what the caller had comes back after."""
    threads = torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(strict)
            torch.set_num_threads(threads)


def _modules(configuration: EmbeddingConfiguration) -> Any:
    """Encoder and decoders, by name."""
    width = configuration.width

    def convolution(inputs: int) -> Any:
        inner = torch.nn.Sequential(
            torch.nn.Linear(inputs, width), torch.nn.ReLU(), torch.nn.Linear(width, width)
        )
        return GINConv(inner, train_eps=True)

    sizes = [configuration.features] + [width] * (configuration.layers - 1)
    return torch.nn.ModuleDict(
        {
            "along": torch.nn.ModuleList([convolution(size) for size in sizes]),
            "against": torch.nn.ModuleList([convolution(size) for size in sizes]),
            "norms": torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in sizes]),
            "labels": torch.nn.ModuleList(
                [torch.nn.Linear(width, count) for count in configuration.label_sizes]
            ),
            "edges": torch.nn.Bilinear(width, width, 1),
        }
    )


def _data(graph: GraphFeatures) -> Any:
    return Data(
        x=torch.from_numpy(graph.nodes),
        y=torch.from_numpy(graph.labels),
        edge_index=torch.from_numpy(graph.edges),
    )


def _encode(modules: Any, nodes: Any, edges: Any) -> list[Any]:
    """Node embeddings of each layer, each of shape (n, width).

    :func:`analytics.similarity.embedding_features.encode` does the same without torch.
    """
    found = []
    current = nodes
    backward = edges.flip(0)
    for along, against, norm in zip(
        modules["along"], modules["against"], modules["norms"], strict=True
    ):
        current = torch.relu(norm(along(current, edges) + against(current, backward)))
        found.append(current)
    return found


def _fit(
    modules: Any,
    graphs: list[Any],
    configuration: EmbeddingConfiguration,
    progress: Progress | None,
) -> tuple[float, ...]:
    optimizer = torch.optim.Adam(modules.parameters(), lr=configuration.learning_rate)
    losses = []
    for epoch in range(configuration.epochs):
        order = torch.randperm(len(graphs)).tolist()
        total = 0.0
        for start in range(0, len(order), configuration.batch):
            chosen = order[start : start + configuration.batch]
            batch = Batch.from_data_list([graphs[place] for place in chosen])
            optimizer.zero_grad()
            loss = _loss(modules, batch, configuration)
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(chosen)
        losses.append(total / len(graphs))
        if progress is not None:
            progress(epoch + 1, configuration.epochs, f"loss {losses[-1]:.3f}")
    return tuple(losses)


def _loss(modules: Any, batch: Any, configuration: EmbeddingConfiguration) -> Any:
    """Cross-entropy of hidden labels, and of edges beside as many pairs that are none."""
    hidden = torch.rand(batch.num_nodes) < configuration.masked
    if not hidden.any():
        hidden[int(torch.randint(batch.num_nodes, (1,)))] = True
    nodes = batch.x.clone()
    nodes[hidden, : sum(configuration.label_sizes)] = 0.0
    nodes[hidden, -1] = 1.0
    last = _encode(modules, nodes, batch.edge_index)[-1]
    loss = torch.zeros(())
    for block, decoder in enumerate(modules["labels"]):
        loss = loss + torch.nn.functional.cross_entropy(
            decoder(last[hidden]), batch.y[hidden, block]
        )
    sources, targets = batch.edge_index
    if len(sources):
        absent = _absent_pairs(batch)
        true = modules["edges"](last[sources], last[targets])[:, 0]
        false = modules["edges"](last[absent[0]], last[absent[1]])[:, 0]
        known = torch.cat([torch.ones(len(true)), torch.zeros(len(false))])
        loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(
            torch.cat([true, false]), known
        )
    return loss


def _absent_pairs(batch: Any) -> Any:
    """About as many ordered pairs without an edge as there are edges, graph by graph."""
    owner = batch.batch[batch.edge_index[0]]
    first, size = batch.ptr[owner], (batch.ptr[1:] - batch.ptr[:-1])[owner]
    drawn = torch.rand(2, len(owner))
    one = first + (drawn[0] * size).long().clamp(max=size - 1)
    other = first + (drawn[1] * size).long().clamp(max=size - 1)
    pairs = torch.stack([torch.minimum(one, other), torch.maximum(one, other)])
    count = batch.num_nodes
    codes, edges = (
        pairs[0] * count + pairs[1],
        batch.edge_index[0] * count + batch.edge_index[1],
    )
    return pairs[:, (pairs[0] != pairs[1]) & ~torch.isin(codes, edges)]
