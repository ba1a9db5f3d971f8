"""Weighted k-medoids beside the packages that do it without weights.

``kmedoids`` (GPL) and scikit-learn-extra are no dependencies of masgraph. A yardstick that is
not installed is left out, and the table says so. To have both::

    pip install kmedoids cython
    pip install --no-build-isolation --no-binary scikit-learn-extra scikit-learn-extra
"""

import importlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from scipy.spatial.distance import cdist

from benchmarks.page import Table
from mining.k_medoids import solve

RUNS = 20
"""Of kmedoids, of which the best counts."""

REPEATS = 3
FEWEST = 200
"""Points, however small the scale."""


def measure(scale: float = 1.0) -> list[Table]:
    """On ``1,000 * scale`` and ``5,000 * scale`` points; ``pam`` on the fewer only."""
    sizes = [max(FEWEST, int(count * scale)) for count in (1_000, 5_000)]
    # The first call compiles.
    solve(points("one cloud", FEWEST)[0], 2, starts=1)
    return [weighted(sizes), by_pam(sizes[0])]


def points(kind: str, count: int) -> tuple[Any, Any]:
    """Distances between points, float32, and weights like those of tasks' leaves."""
    generator = numpy.random.default_rng([count, len(kind)])
    rows = generator.normal(size=(count, 8))
    if kind == "25 groups":
        rows += 3 * generator.normal(size=(25, 8))[generator.integers(0, 25, count)]
    distances = cdist(rows, rows)
    distances /= distances.max()
    weights = 1 / generator.integers(2, 30, count)
    return distances.astype(numpy.float32), weights


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the wall, seconds of processor time (of all threads), and the result."""
    begin, used = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - begin, time.process_time() - used, result


def fastest(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """The least time of several, each kind by itself."""
    found = [timed(work) for _ in range(REPEATS)]
    return min(one[0] for one in found), min(one[1] for one in found), found[0][2]


def loss_of(distances: Any, weights: Any, medoids: Any) -> float:
    """Weighted sum of distances to the nearest medoid."""
    return float(weights @ distances[medoids].min(axis=0).astype(numpy.float64))


def weighted(sizes: list[int]) -> Table:
    """``solve`` beside the best of many runs of ``kmedoids.fasterpam``."""
    table = Table(
        f"Weighted k-medoids beside the best of {RUNS} runs of kmedoids on scaled rows",
        (
            "points",
            "n",
            "k",
            "starts",
            "loss above their best",
            "seconds",
            f"time to {RUNS} runs of theirs",
            "time to one run of theirs",
            "processor time to one run of theirs",
        ),
        notes=[
            "kmedoids knows no weights: each row of the distances is multiplied by the point's "
            "weight, so that its loss is the weighted one. It runs on as many threads as it "
            "likes, masgraph on one.",
        ],
    )
    try:
        theirs = importlib.import_module("kmedoids")
    except ImportError:
        table.notes.append("Left out: the package kmedoids is not installed.")
        return table
    for count in sizes:
        for kind in ("one cloud", "25 groups"):
            distances, weights = points(kind, count)
            scaled = numpy.ascontiguousarray(distances * weights.astype(numpy.float32)[:, None])
            for k in (10, 20, 40):
                runs = [
                    timed(partial(theirs.fasterpam, scaled, k, random_state=seed))
                    for seed in range(RUNS)
                ]
                wall, used = (sum(run[place] for run in runs) / RUNS for place in (0, 1))
                best = min(loss_of(distances, weights, run[2].medoids) for run in runs)
                for starts in (3, 10):
                    seconds, work, found = fastest(
                        partial(solve, distances, k, weights, starts=starts)
                    )
                    above = f"{100 * (found.loss / best - 1):+.3f}%"
                    ratios = (seconds / wall / RUNS, seconds / wall, work / used)
                    table.add(kind, count, k, starts, above, seconds, *ratios)
    return table


def by_pam(count: int) -> Table:
    """``solve`` beside ``pam`` of scikit-learn-extra, without weights."""
    table = Table(
        f"k-medoids without weights beside scikit-learn-extra's pam, {count:,} points",
        ("points", "k", "starts", "loss above theirs", "seconds", "times as fast"),
    )
    try:
        theirs = importlib.import_module("sklearn_extra.cluster").KMedoids
    except ImportError:
        table.notes.append("Left out: the package scikit-learn-extra is not installed.")
        return table
    for kind in ("one cloud", "25 groups"):
        distances, _ = points(kind, count)
        ones = numpy.ones(count)
        for k in (10, 20, 40):
            model = theirs(k, metric="precomputed", method="pam", init="build", max_iter=10_000)
            wall, _, fitted = timed(partial(model.fit, distances))
            other = loss_of(distances, ones, fitted.medoid_indices_)
            for starts in (3, 10, 20):
                seconds, _, found = fastest(partial(solve, distances, k, starts=starts))
                above = f"{100 * (found.loss / other - 1):+.3f}%"
                table.add(kind, k, starts, above, seconds, wall / seconds)
    return table
