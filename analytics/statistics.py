"""Bootstrap intervals of means and ratios, over tasks or over groups of tasks.

Source: OpenMAS-GCom, appendix B.6: common tasks are resampled; tasks that share a source are
grouped, because they depend on each other; the record names the resampling unit, the number
of repetitions, the interval method and the central estimate. Plain percentiles are too narrow
in small samples, by the factor of a variance over n instead of n - 1 and by a normal instead of
Student's distribution; expanded percentiles (Hesterberg, "What Teachers Should Know About the
Bootstrap", 2015, section 4.3) undo both. The BCa interval is Efron's (1987): bias-corrected and
accelerated percentiles, with the acceleration from the jackknife.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy

from analytics.averages import LARGEST, without_noise
from analytics.resampling import Floats, resampled_sums
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash

IntervalMethod = Literal["expanded", "percentile", "bca"]
INTERVAL_METHODS: tuple[str, ...] = get_args(IntervalMethod)
ResamplingUnit = Literal["task", "source"]

FEW_UNITS = 30
"""Below this many resampled units an interval says that it may be too narrow: the default
covers 95% as promised from 20 units on where values are not very skewed, and falls under 93%
below this number where they are, as exponential ones (docs/metrics.md has the table)."""
MOST_DRAWS = 1_000_000

NO_WIDTH = "All units agree: an interval without width does not say that nothing varies."


@dataclass(frozen=True, slots=True)
class BootstrapConfiguration:
    """How an interval is made.

    Attributes:
        confidence: Between 0 and 1, both exclusive.
        draws: Number of resamples, 1 to 1,000,000. One gives no interval.
        method: ``expanded``: quantiles of the draws, further out in small samples.
            ``percentile``: the plain quantiles, too narrow in small samples. ``bca``: plain
            quantiles moved for bias and for a spread that changes with the value.
        seed: Not negative.
        definitions: Raised whenever the same options give another interval.
    """

    confidence: float = 0.95
    draws: int = 10_000
    method: IntervalMethod = "expanded"
    seed: int = 0
    definitions: str = "2"

    def __post_init__(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise UsageError(f"a confidence lies between 0 and 1, not at {self.confidence}")
        if self.draws < 1:
            raise UsageError(f"a bootstrap needs at least one draw, not {self.draws}")
        if self.draws > MOST_DRAWS:
            raise UsageError(
                f"a bootstrap has at most {MOST_DRAWS:,} draws, not {self.draws:,}"
            )
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
        method: The method used: ``expanded`` too where ``bca`` was asked for and is not
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

    def without_noise(self, width: float) -> "Interval":
        """The same interval, with what differs from 0 by no more than ``width`` at 0.

        Differences that cancel out leave rounding behind, which is on one side of 0.
        """
        if self.estimate is None:
            return self
        low, high = self.low, self.high
        return replace(
            self,
            estimate=without_noise(self.estimate, width),
            low=None if low is None else without_noise(low, width),
            high=None if high is None else without_noise(high, width),
        )

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
        UsageError: A value is not finite or beyond 1e100, or there is not one source for
            each value.
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
        UsageError: A number is not finite or beyond 1e100, a denominator is negative, or
            the sequences are not of one length.
    """
    options = configuration or BootstrapConfiguration()
    known, missing = _known(numerators, denominators, sources)
    units = _units(known, sources is not None)
    notes = _notes(known, missing, len(units), sources is not None)
    numerator, denominator = math.fsum(units[:, 0]), math.fsum(units[:, 1])
    estimate = numerator / denominator if denominator else None
    if len(known) and estimate is None:
        notes.append("The denominators add up to 0: the ratio is not defined.")
    if estimate is not None and not math.isfinite(estimate):
        raise UsageError(f"the ratio of {numerator:g} and {denominator:g} is too large")
    low = high = error = None
    method = options.method
    if estimate is not None and len(units) >= 2 and options.draws == 1:
        notes.append("One draw gives no interval.")
    elif estimate is not None and len(units) >= 2:
        sums = resampled_sums(units, options.draws, options.seed)
        with numpy.errstate(divide="ignore", invalid="ignore", over="ignore"):
            draws = sums[:, 0] / sums[:, 1]
        if numpy.isfinite(draws).all():
            low, high, method, told = _ends(draws, estimate, units, options)
            error = float(draws.std(ddof=1))
            notes.extend(told)
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
        if max(abs(value), abs(weight)) > LARGEST:
            raise UsageError(f"the value {max(value, weight, key=abs):g} is too large")
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


def few_units(units: int, what: str = "task") -> str:
    """What an interval over few units says."""
    if units < 20:
        return f"With only {units} {what}s the interval tends to be too narrow."
    return f"With only {units} {what}s the interval is too narrow where values are skewed."


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
        notes.append(few_units(units, what))
    return notes


def expanded_tail(confidence: float, units: int) -> float:
    """The share of draws below an interval that holds what it promises in a small sample.

    Hesterberg (2015), section 4.3: the normal probability of
    ``sqrt(n / (n - 1)) * t(n - 1, (1 - confidence) / 2)``.

    Args:
        confidence: Between 0 and 1.
        units: n, at least 2.
    """
    from scipy.special import ndtr, stdtrit

    quantile = stdtrit(units - 1, (1.0 - confidence) / 2.0)
    return float(ndtr(math.sqrt(units / (units - 1)) * quantile))


def quantile_ends(
    draws: Floats, units: int, options: BootstrapConfiguration
) -> tuple[float, float, list[str]]:
    """Percentiles of draws, expanded unless plain ones are asked for, and what to say."""
    tail = (1.0 - options.confidence) / 2.0
    if options.method != "percentile":
        tail = expanded_tail(options.confidence, units)
    low, high = numpy.quantile(draws, [tail, 1.0 - tail])
    return float(low), float(high), _few_draws(tail, len(draws))


def _few_draws(tail: float, draws: int) -> list[str]:
    if tail * draws >= 1.0 or tail * MOST_DRAWS < 1.0:
        return []
    return [f"With only {draws} draws the ends of the interval are the outermost draws."]


def no_spread(draws: Floats, estimate: float) -> float:
    """The largest spread of draws that is taken for rounding."""
    return 1e-9 * max(1e-300, abs(estimate), float(numpy.abs(draws).max()))


def _ends(
    draws: Floats, estimate: float, units: Floats, options: BootstrapConfiguration
) -> tuple[float, float, IntervalMethod, list[str]]:
    method: IntervalMethod = "expanded" if options.method == "bca" else options.method
    slack = no_spread(draws, estimate)
    if float(numpy.ptp(draws)) <= slack:
        return estimate, estimate, method, [NO_WIDTH]
    notes = []
    if options.method == "bca":
        tail = (1.0 - options.confidence) / 2.0
        levels = _bca_levels(draws, estimate, units, tail, slack)
        if levels is not None:
            low, high = numpy.quantile(draws, levels)
            return float(low), float(high), "bca", _few_draws(tail, len(draws))
        notes = ["The BCa interval is not defined here: expanded percentiles are given."]
    start, end, told = quantile_ends(draws, len(units), options)
    return start, end, method, notes + told


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
