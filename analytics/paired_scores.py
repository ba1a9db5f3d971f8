"""Two methods, or many, on the tasks that they share.

Source: OpenMAS-GCom, appendix B.6: common tasks are resampled and score differences computed
within each replicate. The sign test is the exact binomial one; the randomization test flips
the signs of differences (Fisher), of whole sources where tasks are grouped.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy

from analytics.averages import mean, refuse_huge
from analytics.corrections import Correction, adjust
from analytics.statistics import FEW_UNITS, BootstrapConfiguration, Interval, bootstrap_mean
from graphstore.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    import pandas

TIE = 1e-9
"""Scores that differ by no more than this are tied: sums of fractions differ by rounding."""
NOISE = 1e-13
"""The share of the largest value that rounding may leave of differences that cancel out."""
_EXACT_UNITS = 13
"""Up to this many differences, every choice of signs is tried: at most 8,192."""
_BLOCK = 1 << 18

TaskValues = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SignCounts:
    """On how many tasks the first method did better, as well, or worse than the second."""

    better: int
    tied: int
    worse: int

    @property
    def sign_test(self) -> float | None:
        """Exact two-sided p-value, each task by itself; None where all are tied."""
        decided = self.better + self.worse
        if not decided:
            return None
        from scipy.stats import binomtest

        return float(binomtest(self.better, decided).pvalue)


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The first method against the second, on the tasks where both have a value.

    Attributes:
        first: Name of the first method.
        second: Name of the second.
        higher_is_better: False for tokens, latency, cost; None where neither end is better,
            as for a density: then ``signs`` count higher and lower values.
        tasks: The common tasks with two values, sorted.
        differences: First minus second for each of them.
        mean_first: Over those tasks; None without any.
        mean_second: Likewise.
        interval: Of the mean difference.
        signs: Better, tied and worse, from the first method's side.
        randomization_test: Two-sided p-value of the mean difference; None where all tasks
            are tied or fewer than two units can be flipped.
        only_first: Tasks that the first method alone has.
        only_second: Tasks that the second alone has.
        unscored: Common tasks where one of the two has no value.
    """

    first: str
    second: str
    higher_is_better: bool | None
    tasks: tuple[str, ...]
    differences: tuple[float, ...]
    mean_first: float | None
    mean_second: float | None
    interval: Interval
    signs: SignCounts
    randomization_test: float | None
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    unscored: tuple[str, ...]

    @property
    def conclusion(self) -> str:
        """One or two plain sentences: what can be concluded, and what cannot."""
        return _conclusion(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a common task: ``task`` and ``difference``."""
        import pandas

        return pandas.DataFrame(
            {
                "task": pandas.Series(self.tasks, dtype="string"),
                "difference": pandas.Series(self.differences, dtype="Float64"),
            }
        )


@dataclass(frozen=True, slots=True)
class ManyComparisons:
    """Several pairs of methods, corrected for their number.

    Attributes:
        comparisons: One for each pair.
        correction: The correction.
        adjusted: The adjusted p-value of each pair's randomization test; None where the
            pair has none, which then is no member of the family.
    """

    comparisons: tuple[PairedComparison, ...]
    correction: Correction
    adjusted: tuple[float | None, ...]

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a pair, with its means, interval, signs and p-values."""
        import pandas

        rows: dict[str, tuple[str, list[Any]]] = {
            "first": ("string", [one.first for one in self.comparisons]),
            "second": ("string", [one.second for one in self.comparisons]),
            "tasks": ("Int64", [len(one.tasks) for one in self.comparisons]),
            "mean_first": ("Float64", [one.mean_first for one in self.comparisons]),
            "mean_second": ("Float64", [one.mean_second for one in self.comparisons]),
            "difference": ("Float64", [one.interval.estimate for one in self.comparisons]),
            "low": ("Float64", [one.interval.low for one in self.comparisons]),
            "high": ("Float64", [one.interval.high for one in self.comparisons]),
            "better": ("Int64", [one.signs.better for one in self.comparisons]),
            "tied": ("Int64", [one.signs.tied for one in self.comparisons]),
            "worse": ("Int64", [one.signs.worse for one in self.comparisons]),
            "sign_test": ("Float64", [one.signs.sign_test for one in self.comparisons]),
            "randomization_test": (
                "Float64",
                [one.randomization_test for one in self.comparisons],
            ),
            "adjusted": ("Float64", list(self.adjusted)),
        }
        return pandas.DataFrame(
            {name: pandas.Series(column, dtype=kind) for name, (kind, column) in rows.items()}
        )


def mean_by_task(
    values: Iterable[tuple[str, float | None]], *, require_all: bool = False
) -> dict[str, float | None]:
    """One value a task: the mean over its runs that have one.

    Source: MASBench, C.4: repetitions are averaged first, then each task counts alike.

    Args:
        values: Task and value of each run.
        require_all: Gives no value to a task where one of its runs has none: values are often
            missing for a reason, such as failures that nobody scored.

    Returns:
        By task, in the order in which tasks came; None where no run has a value.
    """
    found: dict[str, list[float]] = {}
    incomplete = set()
    for task, value in values:
        known = found.setdefault(task, [])
        if value is not None:
            known.append(value)
        else:
            incomplete.add(task)
    if require_all:
        found |= {task: [] for task in incomplete}
    return {task: mean(known) for task, known in found.items()}


def sign_counts(
    differences: Iterable[float], *, higher_is_better: bool | None = True, tie: float = TIE
) -> SignCounts:
    """Counts differences above, within and below the width of a tie.

    Args:
        differences: First minus second.
        higher_is_better: Whether a positive difference speaks for the first. Where it speaks
            for neither (None), higher values count as ``better``.
        tie: Absolute difference up to which two values are tied.
    """
    signed = [-value if higher_is_better is False else value for value in differences]
    better = sum(value > tie for value in signed)
    worse = sum(value < -tie for value in signed)
    return SignCounts(better, len(signed) - better - worse, worse)


def compare_pair(
    first: tuple[str, TaskValues],
    second: tuple[str, TaskValues],
    *,
    sources: Mapping[str, str] | None = None,
    higher_is_better: bool | None = True,
    tie: float = TIE,
    configuration: BootstrapConfiguration | None = None,
) -> PairedComparison:
    """The first method against the second on their common tasks.

    Args:
        first: Name, and value by task (:func:`mean_by_task`).
        second: Likewise.
        sources: The source of a task, where tasks are resampled by source. Tasks that it
            lacks are sources of their own.
        higher_is_better: False for tokens, latency, cost; None where neither end is better.
        tie: Absolute difference up to which two values are tied.
        configuration: Of the interval; its draws and seed also serve the randomization test.

    Raises:
        UsageError: A value is not finite, or beyond 1e100; the sentence names the task.
    """
    options = configuration or BootstrapConfiguration()
    common = sorted(first[1].keys() & second[1].keys())
    tasks, left, right = [], [], []
    for task in common:
        one, other = first[1][task], second[1][task]
        for method, value in ((first[0], one), (second[0], other)):
            refuse_huge(value, f"the value of {method} on {task}")
        if one is not None and other is not None:
            tasks.append(task)
            left.append(float(one))
            right.append(float(other))
    differences = [one - other for one, other in zip(left, right, strict=True)]
    differences = [0.0 if abs(value) <= tie else value for value in differences]
    groups = None if sources is None else [sources.get(task) for task in tasks]
    return PairedComparison(
        first=first[0],
        second=second[0],
        higher_is_better=higher_is_better,
        tasks=tuple(tasks),
        differences=tuple(differences),
        mean_first=mean(left),
        mean_second=mean(right),
        interval=bootstrap_mean(
            differences, sources=groups, configuration=options
        ).without_noise(max(tie, NOISE * max(map(abs, (*left, *right)), default=0.0))),
        signs=sign_counts(differences, higher_is_better=higher_is_better, tie=tie),
        randomization_test=randomization_test(
            differences, sources=groups, draws=options.draws, seed=options.seed
        ),
        only_first=tuple(sorted(first[1].keys() - second[1].keys())),
        only_second=tuple(sorted(second[1].keys() - first[1].keys())),
        unscored=tuple(sorted(set(common) - set(tasks))),
    )


def compare_many(
    methods: Mapping[str, TaskValues],
    *,
    reference: str | None = None,
    correction: Correction = "holm",
    sources: Mapping[str, str] | None = None,
    higher_is_better: bool | None = True,
    tie: float = TIE,
    configuration: BootstrapConfiguration | None = None,
) -> ManyComparisons:
    """All pairs of methods, or all others against one, with corrected p-values.

    Args:
        methods: Value by task, by name of the method.
        reference: Compares every other method with this one; all pairs where None.
        correction: ``holm`` bounds the chance of any false finding, ``benjamini-hochberg``
            the expected share of false findings.
        sources: As in :func:`compare_pair`, like the rest.
        higher_is_better: As there.
        tie: As there.
        configuration: As there.

    Raises:
        NotFoundError: There is no method of the reference's name.
        UsageError: The correction is unknown, or a value is not finite.
    """
    if reference is not None and reference not in methods:
        raise NotFoundError(f"there is no method {reference!r} to compare with")
    pairs = (
        list(combinations(methods, 2))
        if reference is None
        else [(name, reference) for name in methods if name != reference]
    )
    found = tuple(
        compare_pair(
            (first, methods[first]),
            (second, methods[second]),
            sources=sources,
            higher_is_better=higher_is_better,
            tie=tie,
            configuration=configuration,
        )
        for first, second in pairs
    )
    return ManyComparisons(
        found, correction, adjust([one.randomization_test for one in found], correction)
    )


def randomization_test(
    differences: Sequence[float],
    *,
    sources: Sequence[str | None] | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> float | None:
    """Two-sided p-value of a mean difference: the signs of the differences are exchangeable.

    Up to 13 differences (or sources) that are not 0 every choice of signs is tried; with
    more, ``draws`` of them are drawn, and the observed one counts among them.

    Args:
        differences: Of common tasks, finite.
        sources: The group of each: groups are flipped as a whole.
        draws: Number of drawn choices.
        seed: Not negative.

    Returns:
        Above 0, at most 1; None where fewer than two units differ from 0.

    Raises:
        UsageError: There is not one source for each difference.
    """
    if sources is None:
        sums = list(differences)
    else:
        if len(sources) != len(differences):
            raise UsageError(f"{len(sources)} sources for {len(differences)} values")
        members: dict[str, list[float]] = {}
        sums = []
        for value, source in zip(differences, sources, strict=True):
            if source is None:
                sums.append(value)
            else:
                members.setdefault(source, []).append(value)
        sums += [math.fsum(found) for found in members.values()]
    units = numpy.array(sorted(value for value in sums if value != 0.0), numpy.float64)
    if len(units) < 2:
        return None
    # A flipped sum that equals the observed one must count, whatever its rounding.
    bound = abs(math.fsum(units)) - 1e-9 * float(numpy.abs(units).sum())
    if len(units) <= _EXACT_UNITS:
        choices = numpy.arange(1 << len(units))[:, None] >> numpy.arange(len(units)) & 1
        extreme = numpy.abs((2.0 * choices - 1.0) @ units) >= bound
        return float(extreme.mean())
    generator = numpy.random.default_rng(seed)
    total = float(units.sum())
    count = 0
    block = max(1, _BLOCK // len(units))
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        bits = numpy.unpackbits(
            generator.integers(0, 256, size=(rows, -(-len(units) // 8)), dtype=numpy.uint8),
            axis=1,
            count=len(units),
        )
        flipped = total - 2.0 * (bits.astype(numpy.float64) @ units)
        count += int((numpy.abs(flipped) >= bound).sum())
    return (1 + count) / (1 + draws)


def _conclusion(found: PairedComparison) -> str:
    first, second, interval = found.first, found.second, found.interval
    if not found.tasks:
        return (
            f"{first} and {second} have no task in common on which both have a value: "
            "nothing can be concluded."
        )
    tasks = "1 common task" if len(found.tasks) == 1 else f"{len(found.tasks)} common tasks"
    above, below = (
        ("higher", "lower") if found.higher_is_better is None else ("better", "worse")
    )
    counts = (
        f"{found.signs.better} {above}, {found.signs.tied} tied, {found.signs.worse} {below}"
    )
    if found.signs.tied == len(found.tasks):
        return (
            f"{first} and {second} are tied on all of {tasks}. "
            "That does not show that they are equal elsewhere."
        )
    told = f"differs from {second} by {interval.estimate:+.4g} on {tasks} ({counts})"
    if interval.low is None or interval.high is None:
        return f"{first} {told}, but that is too little for an interval: nothing follows."
    ends = f"{interval.confidence:.0%} interval {interval.low:.4g} to {interval.high:.4g}"
    if not interval.excludes_zero:
        return (
            f"{first} {told}; {ends}. The interval holds 0: neither is shown to be "
            f"{'higher' if found.higher_is_better is None else 'better'}, "
            "nor are they shown equal."
        )
    if interval.low == interval.high:
        ends += ", without width: the units agree, which does not say that nothing varies"
    few = f"; {interval.units} units are few" if interval.units < FEW_UNITS else ""
    if found.higher_is_better is None:
        higher = first if interval.low > 0.0 else second
        return (
            f"{first} {told}; {ends}. The values of {higher} are higher{few}; "
            "neither end of this measure is better by itself."
        )
    better = first if (interval.low > 0.0) == found.higher_is_better else second
    return (
        f"{first} {told}; {ends}. "
        f"The tasks speak for {better}{few}; this alone does not say why."
    )
