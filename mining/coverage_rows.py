"""The rows of a measurement of coverage, and the means, shares and intervals in them.

Source: MAC-Bench, appendix E.1 and G.3.3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mining.coverage_counts import PATTERN_PARTS, RULE_PARTS, TaskCounts

Measure = Literal["patterns", "rules"]
MEASURES: tuple[Measure, ...] = ("patterns", "rules")
Interval = tuple[float, float]
PARTS: dict[Measure, tuple[str, ...]] = {"patterns": PATTERN_PARTS, "rules": RULE_PARTS}


@dataclass(frozen=True, slots=True)
class LeftOutTask:
    """A task that takes no part, and why."""

    id: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class LibraryCoverage:
    """One library and what it covers.

    Attributes:
        size: Number of mined tasks.
        sequences: The nested sequences that it is a part of.
        mined: Ids of the mined tasks, sorted.
        types: Number of learned types; None where none were learned.
        patterns: Number of retained patterns.
        rules: Number of retained rules.
        skipped: Mined graphs that were too large for patterns or rules.
        tasks: What it covers of each held-out task, by id.
    """

    size: int
    sequences: tuple[int, ...]
    mined: tuple[str, ...]
    types: int | None
    patterns: int
    rules: int
    skipped: tuple[str, ...]
    tasks: tuple[TaskCounts, ...]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Coverage at one mining size. Fractions lie between 0 and 1.

    Attributes:
        measure: ``patterns`` or ``rules``.
        size: Number of mined tasks.
        mean: Over held-out tasks, of the mean over sequences; None where no task has any
            occurrence.
        low: The least mean of one library.
        high: The greatest.
        interval: Percentiles of the bootstrap over source groups; None with fewer than two.
        libraries: Number of distinct libraries.
        tasks: Number of held-out tasks with occurrences.
        retained: Mean number of retained patterns or rules over sequences.
        types: Mean number of learned types; None where none were learned. Few types are
            easily covered: coverage means little without this number.
    """

    measure: Measure
    size: int
    mean: float | None
    low: float | None
    high: float | None
    interval: Interval | None
    libraries: int
    tasks: int
    retained: float
    types: float | None


@dataclass(frozen=True, slots=True)
class Gain:
    """How much more the largest libraries cover than the smallest, on the same tasks."""

    measure: Measure
    smallest: int
    largest: int
    mean: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """Coverage of held-out tasks with the largest libraries.

    Attributes:
        measure: ``patterns`` or ``rules``.
        tasks: Number of tasks with occurrences.
        lower_quartile: Of the tasks' coverage; None without tasks, as the others.
        median: Likewise.
        upper_quartile: Likewise.
        full: Tasks that are covered whole.
        none: Tasks of which nothing is covered.
    """

    measure: Measure
    tasks: int
    lower_quartile: float | None
    median: float | None
    upper_quartile: float | None
    full: int
    none: int


@dataclass(frozen=True, slots=True)
class Part:
    """The share of occurrences of one kind, taken within a task and averaged over tasks.

    Attributes:
        measure: ``patterns`` or ``rules``.
        size: Number of mined tasks.
        part: A name in :data:`PARTS`, without its prefix.
        share: None where no task has any occurrence.
    """

    measure: Measure
    size: int
    part: str
    share: float | None


@dataclass(frozen=True, slots=True)
class CollectionCoverage:
    """Mean coverage of the held-out tasks of one collection, with the largest libraries."""

    collection: str
    tasks: int
    patterns: float | None
    rules: float | None


@dataclass(frozen=True, slots=True)
class CouplingCoverage:
    """Pattern coverage of occurrences with and without couplings, with the largest libraries.

    Attributes:
        coupled: Whether the patterns hold a coupling.
        tasks: Tasks with such occurrences.
        coverage: Mean over these tasks; None without any.
    """

    coupled: bool
    tasks: int
    coverage: float | None


Fraction = Callable[[TaskCounts], tuple[int, int]]
"""Covered and all occurrences of one kind."""


def bootstrap_interval(
    values: Any, groups: Any, resamples: int, confidence: float, seed: int
) -> Interval | None:
    """Percentile interval of a mean, resampling groups with replacement.

    All resamples are drawn at once, as how often each group is drawn. The same seed and the
    same groups give the same draws, whatever the values.

    Args:
        values: One a task, shape (n,); NaN is missing. Groups without any value are not drawn.
        groups: The group of each task, shape (n,).
        resamples: Number of draws.
        confidence: Above 0 and below 1.
        seed: Of the draws.

    Returns:
        The lower and the upper end; None with fewer than two groups.
    """
    import numpy

    known = ~numpy.isnan(values)
    names, places = numpy.unique(numpy.asarray(groups)[known], return_inverse=True)
    if len(names) < 2:
        return None
    sums = numpy.bincount(places, weights=values[known], minlength=len(names))
    sizes = numpy.bincount(places, minlength=len(names))
    generator = numpy.random.default_rng([seed, 2])
    shares = numpy.full(len(names), 1 / len(names))
    draws = generator.multinomial(len(names), shares, size=resamples)
    # Without BLAS: threads must not decide in which order is summed.
    means = numpy.einsum("rg,g->r", draws.astype(float), sums) / numpy.einsum(
        "rg,g->r", draws, sizes
    )
    tail = (1 - confidence) / 2
    low, high = numpy.quantile(means, (tail, 1 - tail)).tolist()
    return low, high


def fractions_of(library: LibraryCoverage, fraction: Fraction) -> Any:
    """One a held-out task; NaN where it has no such occurrence."""
    import numpy

    pairs = numpy.array([fraction(counts) for counts in library.tasks], float).reshape(-1, 2)
    return numpy.divide(
        pairs[:, 0],
        pairs[:, 1],
        out=numpy.full(len(pairs), numpy.nan),
        where=pairs[:, 1] > 0,
    )


def share_of(measure: Measure, part: str) -> Fraction:
    """The occurrences of a part, of all."""
    return lambda counts: (getattr(counts, part), getattr(counts, measure))


def covered(measure: Measure) -> Fraction:
    """The covered occurrences, of all."""
    return share_of(measure, f"{measure}_covered")


def of_coupled(counts: TaskCounts) -> tuple[int, int]:
    """Of the patterns with a coupling."""
    return counts.coupled_covered, counts.coupled


def of_uncoupled(counts: TaskCounts) -> tuple[int, int]:
    """Of the patterns without one."""
    return counts.patterns_covered - counts.coupled_covered, counts.patterns - counts.coupled


def known_mean(values: Any) -> float | None:
    """Mean of those that are not NaN; None where all are."""
    import numpy

    known = values[~numpy.isnan(values)]
    return float(known.mean()) if len(known) else None
