"""Weighted k-medoids: k points such that all points are near one of them.

The loss is ``sum_i w_i min_c d(i, c)`` over the chosen points c (MAC-Bench, appendix F.1,
Eq. 6). :func:`solve` works on a matrix of distances; :class:`KMedoids` is the same as an
estimator in scikit-learn's form.
"""

import importlib
from collections.abc import Callable, Sequence
from operator import index
from typing import Any, Literal, get_args

import numpy
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from graphstore.compiled import compiled
from graphstore.errors import UsageError
from mining import k_medoids_kernel as kernel
from mining.k_medoids_search import MedoidSearch, MedoidSolution, solution_of

__all__ = ["SOLVERS", "STARTS", "KMedoids", "MedoidSolution", "check_distances", "solve"]

Solver = Literal["fasterpam", "alternate", "scikit-learn-extra"]
Start = Literal["k-medoids++", "random", "build"]
SOLVERS: tuple[str, ...] = get_args(Solver)
STARTS: tuple[str, ...] = get_args(Start)

_TILE = 64


def solve(
    distances: Any,
    k: int,
    weights: Any = None,
    *,
    seed: int | Sequence[int] = 0,
    starts: int | Literal["auto"] = "auto",
    start: Start | Sequence[int] = "k-medoids++",
    solver: Solver = "fasterpam",
    max_iterations: int = 300,
    threads: int = 1,
) -> MedoidSolution:
    """Finds k medoids, keeping the lowest loss over several starts.

    By default (``auto``) four starts are made, and then starts that replace some medoids of
    the best solution so far, until ten in a row found nothing better or 100 were made
    (:meth:`mining.k_medoids_search.MedoidSearch.until_calm`); where there are few sets of k
    points, all are tried instead, and the result is the optimum. With a number, so many
    starts are made, each of its own.

    With ``fasterpam`` no single swap of a medoid lowers the result's loss; with
    ``alternate`` no reassignment and no better centre of a cluster does, as in MAC-Bench.
    Points of weight 0 are labelled and nothing else: they cannot be medoids. Memory beside
    the matrix grows with n only. The number of threads does not change the result.

    Args:
        distances: Shape (n, n), finite, not negative, float32 or float64 (others are
            converted); symmetric, which is not checked.
        k: At least 1, at most the number of points with positive weight.
        weights: Shape (n,), finite, not negative; all 1 where None.
        seed: One or more numbers, not negative: for the starts and the order of trying.
        starts: ``auto``, or how many; one for ``build``, and for medoids that are given.
        start: How starts are made, or the medoids to start from.
        solver: ``fasterpam``, ``alternate``, or ``scikit-learn-extra`` where that is
            installed (its ``pam`` from BUILD; equal weights only).
        max_iterations: Rounds after which a start stops; at least 1.
        threads: How many starts run at once; at least 1.

    Raises:
        UsageError: An argument is none of these, the arguments do not fit together, or
            scikit-learn-extra is asked for and not installed.
    """
    matrix = _checked_matrix(distances)
    mass = _checked_weights(weights, len(matrix))
    k = _whole("k", k, least=None)
    max_iterations = _whole("max_iterations", max_iterations)
    threads = _whole("threads", threads)
    count = None if isinstance(starts, str) and starts == "auto" else _starts(starts)
    seeds = _seeds(seed)
    candidates = int(numpy.count_nonzero(mass))
    if not 1 <= k <= candidates:
        raise UsageError(f"{k} medoids cannot be chosen from {candidates} points with a weight")
    if solver not in SOLVERS:
        raise UsageError(f"there is no solver {solver!r}; choose one of {', '.join(SOLVERS)}")
    if solver == "scikit-learn-extra":
        return _by_scikit_learn_extra(matrix, mass, k, max_iterations)
    search = MedoidSearch(
        matrix,
        mass,
        k,
        solver=solver,
        max_iterations=max_iterations,
        seeds=seeds,
        threads=threads,
    )
    if not isinstance(start, str):
        return search.from_medoids(start)
    if start not in STARTS:
        raise UsageError(f"there is no start {start!r}; choose one of {', '.join(STARTS)}")
    if start == "build" or k == 1:
        return search.from_starts(start, 1)
    if count is None:
        return search.of_all() if search.can_try_all else search.until_calm(start)
    return search.from_starts(start, count)


def _checked_matrix(distances: Any) -> Any:
    try:
        matrix = numpy.asarray(distances)
        if matrix.dtype not in _FLOATS:
            matrix = matrix.astype(numpy.float64)
    except (TypeError, ValueError):
        raise UsageError("the distances are no matrix of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise UsageError(f"distances of shape {matrix.shape} are not square")
    # Neither comparison holds for a value that is no number.
    if matrix.size and not (matrix.min() >= 0 and matrix.max() < numpy.inf):
        raise UsageError("a distance is negative or not finite")
    return numpy.ascontiguousarray(matrix)


def _checked_weights(weights: Any, points: int) -> Any:
    if weights is None:
        return numpy.ones(points)
    try:
        mass = numpy.asarray(weights, numpy.float64)
    except (TypeError, ValueError):
        raise UsageError("the weights are no numbers") from None
    if mass.shape != (points,):
        raise UsageError(f"weights of shape {mass.shape} do not fit {points} points")
    if points and not (mass.min() >= 0 and mass.max() < numpy.inf):
        raise UsageError("a weight is negative or not finite")
    return mass


def _whole(name: str, value: Any, least: int | None = 1) -> int:
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{name} must be a whole number, not {value!r}") from None
    if least is not None and number < least:
        raise UsageError(f"{name} must be at least {least}")
    return number


def _starts(starts: Any) -> int:
    try:
        count = index(starts)
    except TypeError:
        raise UsageError(f"starts is 'auto' or a number, not {starts!r}") from None
    if count < 1:
        raise UsageError("there must be at least one start")
    return count


def _seeds(seed: Any) -> list[int]:
    several = seed if isinstance(seed, Sequence) and not isinstance(seed, str) else [seed]
    return [_whole("seed", one, least=0) for one in several]


def _by_scikit_learn_extra(
    matrix: Any, weights: Any, k: int, max_iterations: int
) -> MedoidSolution:
    try:
        theirs = importlib.import_module("sklearn_extra.cluster")
    except ImportError:
        # No extra of masgraph brings it: it has to be built from source beside NumPy 2.
        raise UsageError(
            "the solver 'scikit-learn-extra' needs the package scikit-learn-extra, built from "
            "source: run  pip install cython && pip install --no-build-isolation "
            "--no-binary scikit-learn-extra scikit-learn-extra"
        ) from None
    if weights.min() != weights.max():
        raise UsageError(
            "the solver 'scikit-learn-extra' knows no weights: use 'fasterpam' or 'alternate'"
        )
    model = theirs.KMedoids(
        k,
        metric="precomputed",
        method="pam",
        init="build",
        max_iter=max_iterations,
    ).fit(matrix)
    return solution_of(matrix, weights, model.medoid_indices_, int(model.n_iter_))


class KMedoids(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Weighted k-medoids as a scikit-learn estimator.

    Args:
        n_clusters: Number of medoids.
        metric: ``"precomputed"``, a name that ``sklearn.metrics.pairwise_distances`` knows,
            or a function of two rows.
        solver: As in :func:`solve`.
        init: As ``start`` in :func:`solve`.
        n_init: ``auto``, or the number of starts; as ``starts`` in :func:`solve`.
        max_iter: Rounds after which a start stops.
        random_state: Seed, generator or None, as everywhere in scikit-learn.
        n_jobs: How many starts run at once, in threads; None for one.

    Attributes:
        medoid_indices_: Positions of the medoids, ascending; shape (n_clusters,).
        cluster_centers_: The medoids' rows; None for precomputed distances.
        labels_: The cluster of each row; shape (n,).
        inertia_: Sum of weight times distance to the nearest medoid.
        n_iter_: Rounds of the start that won.
        n_features_in_: Number of columns of X.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        solver: Solver = "fasterpam",
        init: Start | Sequence[int] = "k-medoids++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,  # noqa: ARG002 - scikit-learn's form
        sample_weight: Any = None,
    ) -> "KMedoids":
        """Finds the medoids.

        Args:
            X: Rows of features, or distances of shape (n, n) where precomputed.
            y: Ignored.
            sample_weight: Shape (n,), not negative; all 1 where None. A weight of 2 is the
                same as the row given twice, 0 the same as the row left out. Clusters are
                numbered in the order of their medoids' rows, so that rows in another order
                number them otherwise.

        Raises:
            ValueError: X is no matrix of distances, or does not fit the parameters.
        """
        precomputed = self.metric == "precomputed"
        X = validate_data(  # noqa: N806
            self,
            X,
            accept_sparse=False if precomputed else "csr",
            dtype=_FLOATS,
            ensure_non_negative=precomputed,
        )
        weights = _check_sample_weight(
            sample_weight, X, dtype=numpy.float64, ensure_non_negative=True
        )
        if precomputed:
            check_distances(X)
            distances = X
        else:
            distances = _between_rows(X, self.metric)
        random = check_random_state(self.random_state)
        try:
            found = solve(
                distances,
                self.n_clusters,
                weights,
                seed=int(random.randint(2**31 - 1)),
                starts=self.n_init,
                start=self.init,
                solver=self.solver,
                max_iterations=self.max_iter,
                threads=self.n_jobs or 1,
            )
        except UsageError as error:
            raise ValueError(str(error)) from None
        self.medoid_indices_ = found.medoids
        self.cluster_centers_ = None if precomputed else X[found.medoids]
        self.labels_ = found.labels
        self.inertia_ = found.loss
        self.n_iter_ = found.iterations
        return self

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The cluster of the nearest medoid; the smaller number in a tie.

        Args:
            X: Rows of features, or distances to the rows of ``fit``, shape (m, n).

        Returns:
            Shape (m,).
        """
        check_is_fitted(self)
        precomputed = self.metric == "precomputed"
        X = validate_data(  # noqa: N806
            self,
            X,
            accept_sparse=False if precomputed else "csr",
            dtype=_FLOATS,
            reset=False,
        )
        if precomputed:
            distances = X[:, self.medoid_indices_]
        else:
            distances = pairwise_distances(X, self.cluster_centers_, metric=self.metric)
        return distances.argmin(axis=1)

    def __sklearn_tags__(self) -> Any:
        """Says that X may be a square matrix of distances, and may be sparse otherwise."""
        tags = super().__sklearn_tags__()
        precomputed = self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = precomputed
        tags.input_tags.sparse = not precomputed
        return tags


_FLOATS = [numpy.float64, numpy.float32]

_DENSE = 1 << 27
"""Entries up to which sparse rows are made dense for exact Euclidean distances: 1 GB."""


def _between_rows(rows: Any, metric: Any) -> Any:
    """Distances of all rows.

    scikit-learn takes Euclidean ones from products, so that equal rows are some 1e-8 apart.
    """
    if metric != "euclidean" or rows.shape[0] * rows.shape[1] > _DENSE:
        return pairwise_distances(rows, metric=metric)
    from scipy.spatial.distance import cdist

    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return cdist(dense, dense)


def check_distances(distances: Any) -> None:
    """Checks that a matrix holds distances.

    Args:
        distances: float32 or float64.

    Raises:
        ValueError: It is not square, or holds a value that is not finite, negative, not
            symmetric, or not 0 between a point and itself.
    """
    matrix = check_array(distances, dtype=_FLOATS, ensure_all_finite=False)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"distances of shape {matrix.shape} are not square")
    # Half of the digits: what different ways of computing one distance may differ by.
    tolerance = float(matrix.max()) * float(numpy.finfo(matrix.dtype).eps) ** 0.5
    if not numpy.isfinite(tolerance):
        tolerance = 0.0
    kind, row, column = compiled(kernel.first_flaw)(
        numpy.ascontiguousarray(matrix), tolerance, _TILE
    )
    if kind:
        reason = ("", "no finite number", "negative", "not symmetric", "not zero")[kind]
        raise ValueError(f"the distance between points {row} and {column} is {reason}")
