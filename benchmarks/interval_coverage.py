"""How often 95% bootstrap intervals of a mean hold the true mean, by sample size and shape.

The table of docs/metrics.md: ``python -m benchmarks interval_coverage``. Also how long 10,000
draws over 500 tasks take beside two loops that do the same.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import numpy

from analytics.statistics import BootstrapConfiguration, IntervalMethod, bootstrap_mean
from benchmarks.page import Table

REPETITIONS = 4_000
"""Samples for each cell: its standard error is 0.4%."""
DRAWS = 1_000
SIZES = (10, 20, 23, 30, 40, 50, 100, 200)
METHODS: tuple[IntervalMethod, ...] = ("expanded", "percentile", "bca")
TASKS = 500
REPEATS = 5

Maker = Callable[[numpy.random.Generator, int], Any]
SHAPES: dict[str, tuple[Maker, float]] = {
    "normal": (lambda generator, count: generator.normal(2.0, 3.0, count), 2.0),
    "t, 3 degrees": (lambda generator, count: generator.standard_t(3, count), 0.0),
    "0 or 1, half": (lambda generator, count: (generator.random(count) < 0.5) * 1.0, 0.5),
    "0 or 1, 30%": (lambda generator, count: (generator.random(count) < 0.3) * 1.0, 0.3),
    "exponential": (lambda generator, count: generator.exponential(1.0, count), 1.0),
}
"""Samples by shape, each with its true mean."""


def measure(scale: float = 1.0) -> list[Table]:
    """Coverage, with ``4,000 * scale`` samples for each cell, and time."""
    repetitions = max(100, int(REPETITIONS * scale))
    return [
        *(coverage_table(method, repetitions) for method in METHODS),
        time_table(),
    ]


def coverage_table(method: IntervalMethod, repetitions: int) -> Table:
    """A line for each sample size."""
    return Table(
        f"Coverage of 95% intervals, {method}",
        ("units", *SHAPES),
        [
            (
                str(count),
                *(
                    f"{100 * coverage(shape, count, repetitions, method=method):.1f}%"
                    for shape in SHAPES
                ),
            )
            for count in SIZES
        ],
        [f"{repetitions:,} samples a cell, {DRAWS:,} draws each."],
    )


def coverage(
    shape: str,
    count: int,
    repetitions: int,
    *,
    method: IntervalMethod = "expanded",
    draws: int = DRAWS,
) -> float:
    """The share of intervals that hold the true mean.

    Args:
        shape: Of :data:`SHAPES`.
        count: Units in a sample.
        repetitions: Number of samples.
        method: Of the interval.
        draws: Of each bootstrap.
    """
    make, expected = SHAPES[shape]
    generator = numpy.random.default_rng([count, len(shape)])
    hits = 0
    for seed in range(repetitions):
        found = bootstrap_mean(
            make(generator, count).tolist(),
            configuration=BootstrapConfiguration(method=method, draws=draws, seed=seed),
        )
        assert found.low is not None
        assert found.high is not None
        # A mean of 6 of 20 is 0.3, whatever its rounding.
        hits += found.low - 1e-9 <= expected <= found.high + 1e-9
    return hits / repetitions


def time_table() -> Table:
    """Processor seconds of 10,000 draws over 500 tasks."""
    values = numpy.random.default_rng(1).normal(size=TASKS)
    listed = values.tolist()
    ours = _fastest(lambda: bootstrap_mean(listed))
    loops = {
        "a loop of numpy, one resample after another": _fastest(lambda: numpy_loop(values)),
        "a loop of plain Python": 50 * _fastest(lambda: plain_loop(listed, 200)),
    }
    return Table(
        "10,000 draws over 500 tasks",
        ("way", "seconds", "times ours"),
        [
            ("masgraph", f"{ours:.4f}", "1"),
            *((way, f"{spent:.4f}", f"{spent / ours:.1f}") for way, spent in loops.items()),
        ],
        ["Processor time, the best of five."],
    )


def numpy_loop(values: Any, draws: int = 10_000) -> list[float]:
    """Means of resamples, each drawn and averaged by numpy."""
    generator = numpy.random.default_rng(1)
    return [
        float(values[generator.integers(0, len(values), len(values))].mean())
        for _ in range(draws)
    ]


def plain_loop(values: list[float], draws: int) -> list[float]:
    """Means of resamples, value by value."""
    chooser = random.Random(1)
    return [sum([chooser.choice(values) for _ in values]) / len(values) for _ in range(draws)]


def _fastest(work: Callable[[], Any]) -> float:
    spent = []
    for _ in range(REPEATS):
        before = time.process_time()
        work()
        spent.append(time.process_time() - before)
    return min(spent)
