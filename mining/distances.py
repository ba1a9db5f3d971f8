"""How far two leaves are apart: four distances and their weighted sum.

Source: MAC-Bench, appendix F.1, "subtask types", Eq. 6. Every distance is symmetric, 0
between a leaf and itself, and lies between 0 and 1. What two leaves both lack does not set
them apart: two leaves without a text, or without any interface, are at distance 0 there.

Matrices are float32 and are filled by blocks of rows: 5,000 leaves take 100 MB.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from graphstore.errors import UsageError
from mining.leaves import Leaf

_BLOCK = 256
_DECIMALS = 6
"""Cosines are rounded, so that the order in which products were summed does not show."""


def _check_weights(weights: "DistanceWeights | PositionWeights") -> None:
    values = astuple(weights)
    if not all(0 <= value < float("inf") for value in values) or sum(values) <= 0:
        names = ", ".join(field.name for field in fields(weights))
        raise UsageError(f"the weights {names} must not be negative, nor all be 0")


@dataclass(frozen=True, slots=True)
class DistanceWeights:
    """The weight of each distance; only their proportions matter.

    The paper fixes weights and does not print them in its text; these are ours.
    """

    semantic: float = 0.45
    interface: float = 0.25
    hierarchy: float = 0.10
    position: float = 0.20

    def __post_init__(self) -> None:
        _check_weights(self)


@dataclass(frozen=True, slots=True)
class PositionWeights:
    """The parts of the distance of positions; only their proportions matter.

    Attributes:
        structure: Of being a source, a sink, a place of fan-in.
        behaviour: Of needing inputs and of making outputs.
        access: Of reading and of changing resources.
        degree: Of the degrees.
    """

    structure: float = 1.0
    behaviour: float = 1.0
    access: float = 1.0
    degree: float = 1.0

    def __post_init__(self) -> None:
        _check_weights(self)


Block = Callable[[slice, slice], Any]
"""Distances of a range of rows to a range of columns, in double precision."""


def semantic_distances(vectors: Any) -> Any:
    """Cosine dissimilarity of texts: ``1 - max(0, cos)``.

    Vectors that point apart are as far as vectors that have nothing in common. A vector of
    zeros stands for a text without any term: two of them are at distance 0, and at distance
    1 from all others.

    Args:
        vectors: One row a text, shape (n, d), dense or sparse, of any length.

    Returns:
        float32 of shape (n, n).

    Raises:
        UsageError: A value is not finite.
    """
    return _square(_semantic(vectors), vectors.shape[0])


def interface_distances(leaves: Sequence[Leaf]) -> Any:
    """Jaccard dissimilarity of what leaves need, make, read and change.

    ``1 - |A and B| / |A or B|`` over sets of descriptors, each with its direction: an input
    differs from an output of the same type. Two empty sets are equal: 0.

    Returns:
        float32 of shape (n, n).
    """
    return _square(_interface(leaves), len(leaves))


def hierarchy_distances(leaves: Sequence[Leaf]) -> Any:
    """How much of their ancestry two leaves do not share.

    ``1 - |common ancestors| / max(|ancestors|)``: 0 for two leaves of one group, 1 for leaves
    of different trees. A task's root counts as an ancestor, so that leaves of one task always
    share something. The paper names shared ancestry without a formula; this one is ours.

    Returns:
        float32 of shape (n, n).
    """
    return _square(_hierarchy(leaves), len(leaves))


def position_distances(leaves: Sequence[Leaf], weights: PositionWeights | None = None) -> Any:
    """How differently two leaves stand in their graphs.

    The weighted mean of four parts, each the mean of absolute differences: structure
    (source, sink, fan-in), behaviour (needs inputs, makes outputs), access (reads, changes)
    and degree (in, out, each as a share of its graph's largest). The paper names the parts;
    equal weights are ours.

    Returns:
        float32 of shape (n, n).
    """
    return _square(_position(leaves, weights or PositionWeights()), len(leaves))


def leaf_distances(
    leaves: Sequence[Leaf],
    vectors: Any,
    weights: DistanceWeights | None = None,
    position: PositionWeights | None = None,
) -> Any:
    """The weighted mean of the four distances (Eq. 6 with weights that sum to 1).

    Args:
        leaves: n leaves.
        vectors: Of their texts, shape (n, d); not looked at where ``semantic`` weighs 0.
        weights: Of the distances.
        position: Of the parts of the distance of positions.

    Returns:
        float32 of shape (n, n): no other matrix of that shape is made.
    """
    return _square(_combined(leaves, vectors, weights, position), len(leaves))


def distances_to(
    leaves: Sequence[Leaf],
    vectors: Any,
    columns: int,
    weights: DistanceWeights | None = None,
    position: PositionWeights | None = None,
) -> Any:
    """As :func:`leaf_distances`, from all leaves to the first few only.

    Returns:
        float32 of shape (n, columns).
    """
    import numpy

    block = _combined(leaves, vectors, weights, position)
    result = numpy.empty((len(leaves), columns), numpy.float32)
    for start in range(0, len(leaves), _BLOCK):
        rows = slice(start, min(start + _BLOCK, len(leaves)))
        result[rows] = block(rows, slice(0, columns))
    return result


def _square(block: Block, count: int) -> Any:
    """Fills a matrix from its upper half, so that it is symmetric to the bit."""
    import numpy

    result = numpy.empty((count, count), numpy.float32)
    for start in range(0, count, _BLOCK):
        rows = slice(start, min(start + _BLOCK, count))
        values = block(rows, slice(start, count)).astype(numpy.float32)
        size = len(values)
        upper = numpy.triu(values[:, :size], 1)
        values[:, :size] = upper + upper.T
        result[rows, start:] = values
        result[rows.stop :, rows] = values[:, size:].T
    return result


def _combined(
    leaves: Sequence[Leaf],
    vectors: Any,
    weights: DistanceWeights | None,
    position: PositionWeights | None,
) -> Block:
    chosen = weights or DistanceWeights()
    total = sum(astuple(chosen))
    parts: list[tuple[float, Block]] = []
    if chosen.semantic:
        parts.append((chosen.semantic / total, _semantic(vectors)))
    if chosen.interface:
        parts.append((chosen.interface / total, _interface(leaves)))
    if chosen.hierarchy:
        parts.append((chosen.hierarchy / total, _hierarchy(leaves)))
    if chosen.position:
        parts.append(
            (chosen.position / total, _position(leaves, position or PositionWeights()))
        )

    def block(rows: slice, columns: slice) -> Any:
        result = parts[0][1](rows, columns) * parts[0][0]
        for share, part in parts[1:]:
            values = part(rows, columns)
            values *= share
            result += values
        return result.clip(0, 1)

    return block


def _semantic(vectors: Any) -> Block:
    import numpy
    from scipy import sparse

    if sparse.issparse(vectors):
        rows_of = sparse.csr_array(vectors).astype(numpy.float64)
        finite = bool(numpy.isfinite(rows_of.data).all())
        lengths = numpy.sqrt(rows_of.multiply(rows_of).sum(axis=1)).ravel()
    else:
        rows_of = numpy.asarray(vectors, numpy.float64)
        finite = bool(numpy.isfinite(rows_of).all())
        lengths = numpy.linalg.norm(rows_of, axis=1)
    if not finite:
        raise UsageError("the embeddings of the texts hold values that are not finite")
    empty = lengths == 0
    scale = 1 / numpy.where(empty, 1, lengths)
    if sparse.issparse(rows_of):
        unit = sparse.csr_array(sparse.diags_array(scale) @ rows_of)
        turned = sparse.csr_array(unit.T)
    else:
        unit = rows_of * scale[:, None]

    def block(rows: slice, columns: slice) -> Any:
        if sparse.issparse(unit):
            cosines = (unit[rows] @ turned).toarray()[:, columns]
        else:
            cosines = unit[rows] @ unit[columns].T
        result = numpy.round(1 - cosines, _DECIMALS).clip(0, 1)
        result[numpy.ix_(empty[rows], empty[columns])] = 0
        return result

    return block


def _interface(leaves: Sequence[Leaf]) -> Block:
    import numpy

    common, sizes = _memberships(
        [
            [
                *[("input", name) for name in leaf.inputs],
                *[("output", name) for name in leaf.outputs],
                *[("read", name) for name in leaf.reads],
                *[("write", name) for name in leaf.writes],
            ]
            for leaf in leaves
        ]
    )

    def block(rows: slice, columns: slice) -> Any:
        shared = common(rows, columns)
        union = sizes[rows, None] + sizes[None, columns] - shared
        return numpy.where(union == 0, 0.0, 1 - shared / numpy.maximum(union, 1))

    return block


def _hierarchy(leaves: Sequence[Leaf]) -> Block:
    import numpy

    common, depths = _memberships([leaf.ancestors for leaf in leaves])

    def block(rows: slice, columns: slice) -> Any:
        return 1 - common(rows, columns) / numpy.maximum(
            depths[rows, None], depths[None, columns]
        )

    return block


def _memberships(sets: Sequence[Sequence[Any]]) -> tuple[Block, Any]:
    """The sizes of sets, and of what two of them have in common."""
    import numpy
    from scipy import sparse

    numbers: dict[Any, int] = {}
    members = [[numbers.setdefault(member, len(numbers)) for member in one] for one in sets]
    sizes = numpy.array([len(one) for one in members], numpy.float64)
    starts = numpy.concatenate(([0], numpy.cumsum([len(one) for one in members])))
    columns_of = numpy.array([number for one in members for number in one], numpy.int64)
    matrix = sparse.csr_array(
        (numpy.ones(len(columns_of)), columns_of, starts),
        shape=(len(sets), max(len(numbers), 1)),
    )
    turned = sparse.csr_array(matrix.T)

    def common(rows: slice, columns: slice) -> Any:
        return (matrix[rows] @ turned).toarray()[:, columns]

    return common, sizes


def _position(leaves: Sequence[Leaf], weights: PositionWeights) -> Block:
    import numpy
    from scipy.spatial.distance import cdist

    total = sum(astuple(weights))
    parts = (
        (weights.structure, [(p.source, p.sink, p.fan_in) for p in _positions(leaves)]),
        (weights.behaviour, [(bool(leaf.inputs), bool(leaf.outputs)) for leaf in leaves]),
        (weights.access, [(bool(leaf.reads), bool(leaf.writes)) for leaf in leaves]),
        (weights.degree, [(p.in_degree, p.out_degree) for p in _positions(leaves)]),
    )
    features = numpy.hstack(
        [
            numpy.array(values, numpy.float64) * (weight / total / len(values[0]))
            for weight, values in parts
            if values
        ]
        or [numpy.empty((0, 1))]
    )

    def block(rows: slice, columns: slice) -> Any:
        return cdist(features[rows], features[columns], "cityblock")

    return block


def _positions(leaves: Sequence[Leaf]) -> list[Any]:
    return [leaf.position for leaf in leaves]
