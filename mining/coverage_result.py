"""What a measurement of coverage gives: curves, bands, intervals and breakdowns.

Source: MAC-Bench, appendix E.1 and G.3.3. Bands are the least and the greatest mean over the
mining subsets of one size; intervals are percentiles of a bootstrap over held-out source
groups, which keeps the tasks of a group together.
"""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphstore.identity import canonical_json, digest
from graphstore.model import GraphKind
from graphstore.short_view import TableView, counted
from mining.coverage_counts import CoverageConfiguration, TaskCounts
from mining.coverage_rows import (
    MEASURES,
    PARTS,
    CollectionCoverage,
    CouplingCoverage,
    CurvePoint,
    Distribution,
    Fraction,
    Gain,
    Interval,
    LeftOutTask,
    LibraryCoverage,
    Measure,
    Part,
    bootstrap_interval,
    covered,
    fractions_of,
    known_mean,
    of_coupled,
    of_uncoupled,
    share_of,
)
from mining.coverage_splits import CoverageTask, Split

if TYPE_CHECKING:
    import pandas

__all__ = ["MEASURES", "Coverage", "Interval", "LeftOutTask", "LibraryCoverage", "Measure"]


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(TableView):
    """Held-out coverage of a corpus.

    Attributes:
        configuration: What it was made with.
        scope: ``run`` or ``decomposition``.
        split: Which tasks were mined and which held out.
        libraries: By size, then by sequence.
        left_out: Tasks that took no part.
    """

    configuration: CoverageConfiguration
    scope: GraphKind
    split: Split
    libraries: tuple[LibraryCoverage, ...]
    left_out: tuple[LeftOutTask, ...]

    def _in_short(self) -> str:
        mined = counted(
            max(self.sizes, default=0), f"task of {self.scope}s", f"tasks of {self.scope}s"
        )
        return f"{counted(len(self.libraries), 'library', 'libraries')} of at most {mined}"

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    @cached_property
    def hash(self) -> str:
        """Of the configuration, the split and all counts (16 hex digits)."""
        return digest(
            self.configuration_hash,
            self.scope,
            canonical_json([self.split, self.libraries, self.left_out]),
            size=8,
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of mined tasks, ascending."""
        return tuple(sorted({library.size for library in self.libraries}))

    @cached_property
    def curve(self) -> tuple[CurvePoint, ...]:
        """By measure, then by size."""
        return tuple(
            [self._point(measure, size) for measure in MEASURES for size in self.sizes]
        )

    @cached_property
    def gains(self) -> tuple[Gain, ...]:
        """From the smallest to the largest size, for each measure; none with one size."""
        if len(self.sizes) < 2:
            return ()
        smallest, largest = self.sizes[0], self.sizes[-1]
        found = []
        for measure in MEASURES:
            fraction = covered(measure)
            gained = self._by_task(fraction, largest) - self._by_task(fraction, smallest)
            mean, interval = self._mean(gained)
            found.append(Gain(measure, smallest, largest, mean, interval))
        return tuple(found)

    @cached_property
    def distributions(self) -> tuple[Distribution, ...]:
        """For each measure."""
        import numpy

        found = []
        for measure in MEASURES:
            values = self._by_task(covered(measure), self.sizes[-1])
            known = values[~numpy.isnan(values)]
            lower = median = upper = None
            if len(known):
                lower, median, upper = numpy.quantile(known, (0.25, 0.5, 0.75)).tolist()
            found.append(
                Distribution(
                    measure,
                    len(known),
                    lower,
                    median,
                    upper,
                    full=int((known == 1).sum()),
                    none=int((known == 0).sum()),
                )
            )
        return tuple(found)

    @cached_property
    def breakdown(self) -> tuple[Part, ...]:
        """Where occurrences of each size stand: covered, or why not. Shares add up to 1."""
        found = []
        for measure in MEASURES:
            for size in self.sizes:
                for name in PARTS[measure]:
                    share, _ = self._mean(self._by_task(share_of(measure, name), size))
                    found.append(Part(measure, size, name.removeprefix(f"{measure}_"), share))
        return tuple(found)

    @cached_property
    def collections(self) -> tuple[CollectionCoverage, ...]:
        """By name."""
        import numpy

        values = [self._by_task(covered(measure), self.sizes[-1]) for measure in MEASURES]
        held = self.split.held_out
        found = []
        for name in sorted({task.collection for task in held}):
            inside = numpy.array([task.collection == name for task in held])
            means = [known_mean(value[inside]) for value in values]
            found.append(CollectionCoverage(name, int(inside.sum()), means[0], means[1]))
        return tuple(found)

    @cached_property
    def couplings(self) -> tuple[CouplingCoverage, ...]:
        """Patterns with couplings, then those without."""
        import numpy

        found = []
        for coupled, fraction in ((True, of_coupled), (False, of_uncoupled)):
            values = self._by_task(fraction, self.sizes[-1])
            many = int((~numpy.isnan(values)).sum())
            found.append(CouplingCoverage(coupled, many, known_mean(values)))
        return tuple(found)

    @property
    def skipped(self) -> tuple[TaskCounts, ...]:
        """Held-out tasks that were too large for patterns or rules, each once."""
        found = {
            counts.task: counts
            for library in self.libraries
            for counts in library.tasks
            if counts.skipped or counts.rules_skipped
        }
        return tuple([found[task] for task in sorted(found)])

    def coverage_of(self, measure: Measure, size: int | None = None) -> dict[str, float | None]:
        """Coverage of each held-out task, the mean over the sequences, by id.

        Args:
            measure: ``patterns`` or ``rules``.
            size: Number of mined tasks; the largest where None.
        """
        values = self._by_task(covered(measure), self.sizes[-1] if size is None else size)
        return {
            task.id: None if value != value else value
            for task, value in zip(self.split.held_out, values.tolist(), strict=True)
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """The curves: one line a measure and size."""
        import pandas

        rows = [asdict(point) for point in self.curve]
        for row in rows:
            low, high = row.pop("interval") or (None, None)
            row |= {"interval_low": low, "interval_high": high}
        frame = pandas.DataFrame(rows)
        real = ("mean", "low", "high", "interval_low", "interval_high", "types")
        return frame.astype(dict.fromkeys(real, "float64"))

    def tasks_to_pandas(self) -> "pandas.DataFrame":
        """One line a held-out task, with its coverage by the largest libraries."""
        import pandas

        columns = {measure: self.coverage_of(measure) for measure in MEASURES}
        rows = [
            {
                "task": task.id,
                "name": task.name,
                "collection": task.collection,
                "group": task.group,
                **{measure: columns[measure][task.id] for measure in MEASURES},
            }
            for task in self.split.held_out
        ]
        return pandas.DataFrame(rows).astype(dict.fromkeys(MEASURES, "float64"))

    def breakdown_to_pandas(self) -> "pandas.DataFrame":
        """One line a measure, size and part."""
        import pandas

        return pandas.DataFrame([asdict(part) for part in self.breakdown])

    def counts_to_pandas(self) -> "pandas.DataFrame":
        """One line a library and held-out task: the counts that all else comes from."""
        import pandas

        return pandas.DataFrame(
            [
                {"size": library.size, "sequence": library.sequences[0], **asdict(counts)}
                for library in self.libraries
                for counts in library.tasks
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, without the counts of each library and task."""
        return {
            "configuration": self.configuration,
            "configuration_hash": self.configuration_hash,
            "hash": self.hash,
            "scope": self.scope,
            "mining": _side(self.split.mining, self.split.mining_groups),
            "held_out": _side(self.split.held_out, self.split.held_out_groups),
            "left_out": [asdict(task) for task in self.left_out],
            "skipped": [
                {"task": one.task, "reason": one.skipped or one.rules_skipped}
                for one in self.skipped
            ],
            "curve": [asdict(point) for point in self.curve],
            "gains": [asdict(gain) for gain in self.gains],
            "distributions": [asdict(one) for one in self.distributions],
            "breakdown": [asdict(part) for part in self.breakdown],
            "collections": [asdict(one) for one in self.collections],
            "couplings": [asdict(one) for one in self.couplings],
            "libraries": [
                {
                    "size": library.size,
                    "sequences": library.sequences,
                    "types": library.types,
                    "patterns": library.patterns,
                    "rules": library.rules,
                    "skipped": library.skipped,
                }
                for library in self.libraries
            ],
            "tasks": [
                {
                    "task": task.id,
                    "name": task.name,
                    "collection": task.collection,
                    "group": task.group,
                    "patterns": patterns,
                    "rules": rules,
                }
                for task, patterns, rules in zip(
                    self.split.held_out,
                    self.coverage_of("patterns").values(),
                    self.coverage_of("rules").values(),
                    strict=True,
                )
            ],
        }

    def _point(self, measure: Measure, size: int) -> CurvePoint:
        import numpy

        fraction = covered(measure)
        values = self._by_task(fraction, size)
        mean, interval = self._mean(values)
        inside = [library for library in self.libraries if library.size == size]
        means = [known_mean(fractions_of(library, fraction)) for library in inside]
        known = [one for one in means if one is not None]
        weights = [len(library.sequences) for library in inside]

        def average(numbers: list[int]) -> float:
            pairs = zip(numbers, weights, strict=True)
            return sum(number * weight for number, weight in pairs) / sum(weights)

        types = [library.types for library in inside if library.types is not None]
        return CurvePoint(
            measure=measure,
            size=size,
            mean=mean,
            low=min(known, default=None),
            high=max(known, default=None),
            interval=interval,
            libraries=len(inside),
            tasks=int((~numpy.isnan(values)).sum()),
            retained=average([getattr(library, measure) for library in inside]),
            types=average(types) if types else None,
        )

    def _by_task(self, fraction: Fraction, size: int) -> Any:
        """For each held-out task the mean over sequences; NaN where nothing can be counted.

        Whether a task has occurrences does not depend on the library.
        """
        inside = [library for library in self.libraries if library.size == size]
        weight = sum(len(library.sequences) for library in inside)
        total = sum(
            fractions_of(library, fraction) * len(library.sequences) for library in inside
        )
        return total / weight

    def _mean(self, values: Any) -> tuple[float | None, Interval | None]:
        groups = [task.group for task in self.split.held_out]
        options = self.configuration
        return known_mean(values), bootstrap_interval(
            values, groups, options.resamples, options.confidence, options.seed
        )


def _side(tasks: tuple[CoverageTask, ...], groups: int) -> dict[str, Any]:
    collections: dict[str, int] = {}
    for task in tasks:
        collections[task.collection] = collections.get(task.collection, 0) + 1
    return {
        "tasks": len(tasks),
        "source_groups": groups,
        "collections": dict(sorted(collections.items())),
    }
