"""Bootstrap intervals of means and ratios, over tasks or over groups of tasks.

Source: OpenMAS-GCom, appendix B.6: common tasks are resampled; tasks that share a source are
grouped, because they depend on each other; the record names the resampling unit, the number
of repetitions, the interval method and the central estimate. The BCa interval is Efron's
(1987): bias-corrected and accelerated percentiles, with the acceleration from the jackknife.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy
from numpy.typing import NDArray

from graphstore.errors import UsageError
from graphstore.identity import configuration_hash

IntervalMethod = Literal["percentile", "bca"]
INTERVAL_METHODS: tuple[str, ...] = get_args(IntervalMethod)
ResamplingUnit = Literal["task", "source"]

FEW_UNITS = 20
"""Below this many resampled units an interval says that it is too narrow."""

_NO_WIDTH = "All units agree: an interval without width does not say that nothing varies."
_BLOCK = 1 << 16
"""Indices drawn at once: they and what they select stay in the processor's cache."""
_COUNTING_COST = 20
"""One count of a multinomial draw costs about as much as this many drawn indices."""

Floats = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True)
class BootstrapConfiguration:
    """How an interval is made.

    Attributes:
        confidence: Between 0 and 1, both exclusive.
        draws: Number of resamples, at least 1.
        method: ``percentile``: quantiles of the draws. ``bca``: quantiles moved for bias and
            for a spread that changes with the value; the better one for skewed scores.
        seed: Not negative.
    """

    confidence: float = 0.95
    draws: int = 10_000
    method: IntervalMethod = "percentile"
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise UsageError(f"a confidence lies between 0 and 1, not at {self.confidence}")
        if self.draws < 1:
            raise UsageError(f"a bootstrap needs at least one draw, not {self.draws}")
        if self.method not in INTERVAL_METHODS:
            raise UsageError(
                f"there is no interval {self.method!r}; "
                f"choose one of {', '.join(INTERVAL_METHODS)}"
            )
        if self.seed < 0:
            raise UsageError(f"a seed cannot be negative: {self.seed}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)


@dataclass(frozen=True, slots=True)
class Interval:
    """A central estimate with a bootstrap interval, and how it was made.

    Attributes:
        estimate: Of the values at hand; None where there is none.
        low: Lower end; None where no interval can be given (``notes`` say why).
        high: Upper end, likewise.
        standard_error: Standard deviation of the draws; None where there is no interval.
        confidence: For example 0.95.
        method: The method used: ``percentile`` too where ``bca`` was asked for and is not
            defined.
        unit: What was resampled: each ``task`` (value), or each ``source`` (group).
        units: How many of them.
        values: Number of values that are known.
        missing: Number of values that are not, and were left out.
        draws: Number of resamples.
        seed: Of the draws.
        notes: What a reader of the interval must know, one sentence each.
    """

    estimate: float | None
    low: float | None
    high: float | None
    standard_error: float | None
    confidence: float
    method: IntervalMethod
    unit: ResamplingUnit
    units: int
    values: int
    missing: int
    draws: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def excludes_zero(self) -> bool | None:
        """Whether the whole interval lies on one side of 0; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0.0 or self.high < 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON values, named as the attributes."""
        return asdict(self)


def bootstrap_mean(
    values: Sequence[float | None],
    *,
    sources: Sequence[str | None] | None = None,
    configuration: BootstrapConfiguration | None = None,
) -> Interval:
    """The mean of task values, with an interval.

    The result does not depend on the order of the tasks.

    Args:
        values: One for each task; None where it is not known. Left out and counted.
        sources: For each task the group that it shares with others (a repository, a
            template family): whole groups are resampled, and the mean stays the mean over
            tasks. A task whose source is None is a group of its own.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: A value is not finite, or there is not one source for each value.
    """
    return bootstrap_ratio(
        values,
        [None if value is None else 1.0 for value in values],
        sources=sources,
        configuration=configuration,
    )


def bootstrap_ratio(
    numerators: Sequence[float | None],
    denominators: Sequence[float | None],
    *,
    sources: Sequence[str | None] | None = None,
    configuration: BootstrapConfiguration | None = None,
) -> Interval:
    """Sum of numerators over sum of denominators, with an interval.

    This is the form of a score per token: both sums are taken over the same tasks.

    Args:
        numerators: One for each task; None where it is not known.
        denominators: Likewise, not negative.
        sources: As in :func:`bootstrap_mean`.
        configuration: Options; the defaults where None.

    Raises:
        UsageError: A number is not finite, a denominator is negative, or the sequences are
            not of one length.
    """
    options = configuration or BootstrapConfiguration()
    known, missing = _known(numerators, denominators, sources)
    units = _units(known, sources is not None)
    notes = _notes(known, missing, len(units), sources is not None)
    numerator, denominator = math.fsum(units[:, 0]), math.fsum(units[:, 1])
    estimate = numerator / denominator if denominator else None
    if len(known) and estimate is None:
        notes.append("The denominators add up to 0: the ratio is not defined.")
    low = high = error = None
    method = options.method
    if estimate is not None and len(units) >= 2:
        draws = _draws(units, options)
        if numpy.isfinite(draws).all():
            low, high, method, note = _ends(draws, estimate, units, options)
            error = float(draws.std(ddof=1)) if len(draws) > 1 else None
            notes.extend([note] if note else [])
        else:
            notes.append("Some draws have denominators that add up to 0: no interval is given.")
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        standard_error=error,
        confidence=options.confidence,
        method=method,
        unit="task" if sources is None else "source",
        units=len(units),
        values=len(known),
        missing=missing,
        draws=options.draws,
        seed=options.seed,
        notes=tuple(notes),
    )


def _known(
    numerators: Sequence[float | None],
    denominators: Sequence[float | None],
    sources: Sequence[str | None] | None,
) -> tuple[list[tuple[float, float, str | None]], int]:
    for other, what in ((denominators, "denominators"), (sources, "sources")):
        if other is not None and len(other) != len(numerators):
            raise UsageError(f"{len(other)} {what} for {len(numerators)} values")
    known = []
    for place, (value, weight) in enumerate(zip(numerators, denominators, strict=True)):
        if value is None or weight is None:
            continue
        if not (math.isfinite(value) and math.isfinite(weight)):
            raise UsageError(f"the value {value if weight == 1.0 else weight} is not finite")
        if weight < 0:
            raise UsageError(f"a denominator cannot be negative: {weight}")
        known.append((float(value), float(weight), None if sources is None else sources[place]))
    return known, len(numerators) - len(known)


def _units(known: list[tuple[float, float, str | None]], grouped: bool) -> Floats:
    """Sums of each resampled unit, sorted: what comes of them cannot depend on an order."""
    if not grouped:
        pairs = [(value, weight) for value, weight, _ in known]
    else:
        members: dict[str, list[tuple[float, float]]] = {}
        pairs = []
        for value, weight, source in known:
            if source is None:
                pairs.append((value, weight))
            else:
                members.setdefault(source, []).append((value, weight))
        pairs += [
            (math.fsum(value for value, _ in found), math.fsum(weight for _, weight in found))
            for found in members.values()
        ]
    return numpy.array(sorted(pairs), numpy.float64).reshape(-1, 2)


def _notes(
    known: list[tuple[float, float, str | None]], missing: int, units: int, grouped: bool
) -> list[str]:
    notes = []
    if missing:
        notes.append(f"{missing} of {missing + len(known)} values are missing and left out.")
    alone = sum(source is None for *_, source in known) if grouped else 0
    if alone:
        notes.append(f"{alone} tasks name no source: each is a group of its own.")
    what = "group" if grouped else "task"
    if units == 0:
        notes.append("There is no value.")
    elif units == 1:
        notes.append(f"One {what} gives no interval.")
    elif units < FEW_UNITS:
        notes.append(f"With only {units} {what}s the interval tends to be too narrow.")
    return notes


def _draws(units: Floats, options: BootstrapConfiguration) -> Floats:
    """The ratio of each resample, length ``draws``; not finite where it is not defined."""
    generator = numpy.random.default_rng(options.seed)
    count = len(units)
    kinds, repeats = numpy.unique(units, axis=0, return_counts=True)
    numerators, denominators = numpy.empty(options.draws), numpy.empty(options.draws)
    # Scores of 0 and 1 have few kinds of units: how often each is drawn is all that matters.
    counting = len(kinds) * _COUNTING_COST <= count
    block = max(1, _BLOCK // (len(kinds) if counting else count))
    weights = units[:, 1].copy()
    constant = bool((weights == weights[0]).all())
    values = units[:, 0].copy()
    for start in range(0, options.draws, block):
        stop = min(start + block, options.draws)
        if counting:
            drawn = generator.multinomial(count, repeats / count, size=stop - start)
            sums = drawn @ kinds
            numerators[start:stop], denominators[start:stop] = sums[:, 0], sums[:, 1]
            continue
        places = generator.integers(0, count, size=(stop - start, count))
        numerators[start:stop] = values.take(places).sum(axis=1)
        denominators[start:stop] = (
            weights[0] * count if constant else weights.take(places).sum(axis=1)
        )
    with numpy.errstate(divide="ignore", invalid="ignore"):
        ratios: Floats = numerators / denominators
    return ratios


def _ends(
    draws: Floats, estimate: float, units: Floats, options: BootstrapConfiguration
) -> tuple[float, float, IntervalMethod, str | None]:
    tail = (1.0 - options.confidence) / 2.0
    slack = 1e-9 * max(1e-300, abs(estimate), float(numpy.abs(draws).max()))
    if float(numpy.ptp(draws)) <= slack:
        return estimate, estimate, "percentile", _NO_WIDTH
    levels = [tail, 1.0 - tail]
    method: IntervalMethod = "percentile"
    note: str | None = None
    if options.method == "bca":
        moved = _bca_levels(draws, estimate, units, tail, slack)
        if moved is None:
            note = "The BCa interval is not defined here: percentiles are given."
        else:
            levels, method = moved, "bca"
    low, high = numpy.quantile(draws, levels)
    return float(low), float(high), method, note


def _bca_levels(
    draws: Floats, estimate: float, units: Floats, tail: float, slack: float
) -> list[float] | None:
    near = numpy.abs(draws - estimate) <= slack
    below = (float(((draws < estimate) & ~near).sum()) + 0.5 * float(near.sum())) / len(draws)
    if not 0.0 < below < 1.0:
        return None
    rest = units.sum(axis=0) - units
    if (rest[:, 1] <= 0.0).any():
        return None
    left_out = rest[:, 0] / rest[:, 1]
    lag = left_out.mean() - left_out
    spread = float((lag**2).sum())
    if spread == 0.0:
        return None
    acceleration = float((lag**3).sum()) / (6.0 * spread**1.5)
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    levels = []
    for level in (tail, 1.0 - tail):
        shifted = bias + normal.inv_cdf(level)
        scale = 1.0 - acceleration * shifted
        if scale <= 0.0:
            return None
        levels.append(normal.cdf(bias + shifted / scale))
    return levels
