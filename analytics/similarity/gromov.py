"""Fused Gromov-Wasserstein similarity: labels and distances inside the graph, transported.

Source: Vayer, Chapel, Flamary, Tavenard and Courty, "Optimal Transport for structured data
with application on graphs", ICML 2019, Eq. 2 with q = 2: a root of squares.
Needs the package POT (MIT): ``pip install 'masgraph[ot]'``.
"""

import importlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy
from numpy.typing import NDArray

from analytics.similarity.alignment import AlignmentMeasure
from analytics.similarity.isomorphism import isomorphism
from analytics.similarity.matrices import pair_by_pair
from analytics.similarity.measure import Configured
from analytics.similarity.outline import DEFAULT_LABELS, Outline, check_labels, outline
from graphstore.errors import MissingExtraError, UsageError, unloadable
from graphstore.model import CollaborationGraph

ALPHA = 0.5
"""Weight of structure against labels."""
MAX_NODES = 600
"""Number of nodes up to which a transport is solved: its time grows with their cube."""
MAX_ITERATIONS = 200
DIGITS = 12
"""Decimals of a cost: below them rounding decides."""


@dataclass(frozen=True)
class GromovMeasure(Configured):
    """1 - the root of the least cost found of carrying one graph's nodes onto the other's.

    Every node weighs 1 / n. A plan T carries weights, and costs

        (1 - alpha) sum_ij [labels differ] T_ij
        + alpha sum_ijkl (C_ik - C'_jl)^2 T_ij T_kl,   C_ik = d / (1 + d)

    with d the number of edges or couplings between two nodes, in any direction; C is 1 where
    no path joins them. The cost lies between 0 and 1. The solver finds a local minimum; of
    three starts (nothing known, the order of the nodes, the alignment) the best counts. One
    graph numbered otherwise is known as such
    (:mod:`analytics.similarity.isomorphism`). A graph of more than ``max_nodes`` nodes, or of
    none, has no similarity.

    Attributes:
        alpha: Weight of structure, 0 to 1.
        labels: How nodes are labelled (:data:`analytics.similarity.outline.LABELS`).
        max_nodes: The largest graph that is compared, at least 1.
        max_iterations: Of the solver, from each start, at least 1.
        definitions: Raised whenever the value changes its meaning.

    Raises:
        MissingExtraError: POT is not installed.
    """

    name: ClassVar[str] = "gromov"

    alpha: float = ALPHA
    labels: str = DEFAULT_LABELS
    max_nodes: int = MAX_NODES
    max_iterations: int = MAX_ITERATIONS
    definitions: str = "2"

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if not 0 <= self.alpha <= 1:
            raise UsageError(f"alpha must lie between 0 and 1, not {self.alpha}")
        for name in ("max_nodes", "max_iterations"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
        _solver()

    def prepare(self, graph: CollaborationGraph) -> Outline:
        """Labels, edges and couplings."""
        return outline(graph, self.labels)

    def obstacle(self, prepared: Outline) -> str | None:
        """Why the graph has no similarity, or None."""
        nodes = len(prepared.labels)
        if nodes > self.max_nodes:
            return f"it has {nodes} nodes, more than max_nodes = {self.max_nodes}"
        return None if nodes else "it has no nodes"

    def similarity(self, one: Outline, other: Outline) -> float | None:
        """Of two prepared graphs, 0 to 1; None where one has no nodes, or too many."""
        if self.obstacle(one) or self.obstacle(other):
            return None
        # One order of the pair, and the same plans, whichever graph is named first.
        first, second = sorted((one, other), key=lambda seen: (seen.key, seen.couplings))
        costs = numpy.array(
            [[float(here != there) for there in second.labels] for here in first.labels]
        )
        near, far = _structure(first), _structure(second)
        if not costs.diagonal().any() and numpy.array_equal(near, far):
            return 1.0
        if isomorphism(first, second) is not None:
            return 1.0
        least = min(self._cost(costs, near, far, plan) for plan in _plans(first, second))
        return 1 - math.sqrt(min(1.0, max(0.0, round(least, DIGITS))))

    def matrix(
        self, ones: Sequence[Outline], others: Sequence[Outline] | None = None
    ) -> NDArray[numpy.float64]:
        """All pairs, one by one; shape (n, m), NaN where not defined."""
        return pair_by_pair(self.similarity, ones, others)

    def _cost(self, costs: Any, near: Any, far: Any, plan: Any) -> float:
        _, log = _solver().fused_gromov_wasserstein(
            costs,
            near,
            far,
            numpy.full(len(near), 1 / len(near)),
            numpy.full(len(far), 1 / len(far)),
            loss_fun="square_loss",
            symmetric=True,
            alpha=self.alpha,
            G0=plan,
            log=True,
            max_iter=self.max_iterations,
        )
        return float(log["fgw_dist"])


def _structure(seen: Outline) -> NDArray[numpy.float64]:
    from scipy import sparse
    from scipy.sparse.csgraph import shortest_path

    nodes = len(seen.labels)
    pairs = numpy.array(seen.edges + seen.couplings, numpy.int64).reshape(-1, 2)
    joined = sparse.csr_array(
        (numpy.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes)
    )
    steps = shortest_path(joined, method="D", directed=False, unweighted=True)
    far = numpy.isinf(steps)
    steps[far] = 0
    values: NDArray[numpy.float64] = steps / (1 + steps)
    values[far] = 1
    return values


def _plans(one: Outline, other: Outline) -> list[Any]:
    """Starts: independent, by the order of the nodes, by the alignment."""
    rows, columns = len(one.labels), len(other.labels)
    straight = _in_order(rows, columns)
    mapping = AlignmentMeasure().mapping(one, other)
    back = numpy.full(columns, numpy.nan)
    back[mapping[mapping >= 0]] = numpy.flatnonzero(mapping >= 0)
    # A node without a counterpart goes with the node before it.
    place = numpy.maximum.accumulate(numpy.where(numpy.isnan(back), -1, back))
    order = numpy.lexsort((numpy.arange(columns), numpy.where(numpy.isnan(back), place, back)))
    aligned = numpy.empty_like(straight)
    aligned[:, order] = straight
    return [None, straight, aligned]


def _in_order(rows: int, columns: int) -> NDArray[numpy.float64]:
    """The plan that carries the first weights to the first places."""
    upper = numpy.minimum(
        (numpy.arange(rows)[:, None] + 1) * columns, (numpy.arange(columns)[None, :] + 1) * rows
    )
    lower = numpy.maximum(
        numpy.arange(rows)[:, None] * columns, numpy.arange(columns)[None, :] * rows
    )
    plan: NDArray[numpy.float64] = numpy.maximum(0, upper - lower) / (rows * columns)
    return plan


def _solver() -> Any:
    try:
        return importlib.import_module("ot.gromov")
    except ModuleNotFoundError:
        raise MissingExtraError("POT", "ot", "the measure gromov") from None
    except ImportError as error:
        raise UsageError(f"the measure gromov needs POT: {unloadable('POT', error)}") from None
