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
from statistics import median
from typing import Any, Literal

import numpy
from scipy.spatial.distance import cdist

from benchmarks.page import Table
from mining.k_medoids import solve

RUNS = 20
"""Of kmedoids, of which the best counts."""

PAIRS = 4
"""Parts of these runs, each beside a call of ours."""

REPEATS = 3
STARTS: tuple[Literal["auto"] | int, ...] = ("auto", 10)
KINDS = ("one cloud", "25 groups")
UNREACHED = float("inf")
FEWEST = 200
"""Points, however small the scale."""


def measure(scale: float = 1.0) -> list[Table]:
    """On ``1,000 * scale`` and ``5,000 * scale`` points; ``pam`` on the fewer only."""
    sizes = [max(FEWEST, int(count * scale)) for count in (1_000, 5_000)]
    # The first call compiles.
    solve(points("one cloud", FEWEST)[0], 2)
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
            f"processor time to {RUNS} runs of theirs",
            "processor time to one run of theirs",
        ),
        notes=[
            "kmedoids knows no weights: each row of the distances is multiplied by the point's "
            "weight, so that its loss is the weighted one. It runs on as many threads as it "
            f"likes, masgraph on one. Ratios are medians of {PAIRS} pairs: "
            f"{RUNS // PAIRS} runs of theirs, one call of ours, and so on in turn. `auto` is "
            "the default: it makes starts until ten in a row found nothing better; the number "
            "in brackets says how many it made.",
        ],
    )
    try:
        theirs = importlib.import_module("kmedoids")
    except ImportError:
        table.notes.append("Left out: the package kmedoids is not installed.")
        return table
    for count in sizes:
        for kind in KINDS:
            distances, weights = points(kind, count)
            scaled = numpy.ascontiguousarray(distances * weights.astype(numpy.float32)[:, None])
            for k in (10, 20, 40):
                best = UNREACHED
                ours: dict[int | str, list[tuple[float, float, Any]]] = {
                    starts: [] for starts in STARTS
                }
                spent = []
                for pair in range(PAIRS):
                    seeds = range(pair * RUNS // PAIRS, (pair + 1) * RUNS // PAIRS)
                    runs = [
                        timed(partial(theirs.fasterpam, scaled, k, random_state=seed))
                        for seed in seeds
                    ]
                    losses = [loss_of(distances, weights, run[2].medoids) for run in runs]
                    best = min(best, *losses)
                    spent.append([sum(run[one] for run in runs) / len(runs) for one in (0, 1)])
                    for starts, found in ours.items():
                        found.append(
                            timed(partial(solve, distances, k, weights, starts=starts))
                        )
                for starts, found in ours.items():
                    wall, used = (
                        median(
                            [
                                mine[one] / yours[one]
                                for mine, yours in zip(found, spent, strict=True)
                            ]
                        )
                        for one in (0, 1)
                    )
                    solution = found[0][2]
                    table.add(
                        kind,
                        count,
                        k,
                        f"auto ({solution.starts})" if starts == "auto" else starts,
                        f"{100 * (solution.loss / best - 1):+.3f}%",
                        min(one[0] for one in found),
                        wall / RUNS,
                        wall,
                        used / RUNS,
                        used,
                    )
    return table


def by_pam(count: int) -> Table:
    """``solve`` beside ``pam`` of scikit-learn-extra, without weights."""
    table = Table(
        f"k-medoids without weights beside scikit-learn-extra's pam, {count:,} points",
        (
            "points",
            "k",
            "starts",
            "loss above theirs",
            "seconds",
            "times as fast",
            "times as fast, processor time",
        ),
        notes=[f"Ratios are medians of {REPEATS} pairs, run in turn."],
    )
    try:
        theirs = importlib.import_module("sklearn_extra.cluster").KMedoids
    except ImportError:
        table.notes.append("Left out: the package scikit-learn-extra is not installed.")
        return table
    for kind in KINDS:
        distances, _ = points(kind, count)
        ones = numpy.ones(count)
        for k in (10, 20, 40):
            model = theirs(k, metric="precomputed", method="pam", init="build", max_iter=10_000)
            pairs = [
                (
                    timed(partial(model.fit, distances)),
                    [timed(partial(solve, distances, k, starts=one)) for one in STARTS],
                )
                for _ in range(REPEATS)
            ]
            other = loss_of(distances, ones, pairs[0][0][2].medoid_indices_)
            for place, starts in enumerate(STARTS):
                solution = pairs[0][1][place][2]
                table.add(
                    kind,
                    k,
                    f"auto ({solution.starts})" if starts == "auto" else starts,
                    f"{100 * (solution.loss / other - 1):+.3f}%",
                    min(ours[place][0] for _, ours in pairs),
                    *(
                        median([yours[one] / ours[place][one] for yours, ours in pairs])
                        for one in (0, 1)
                    ),
                )
    return table
