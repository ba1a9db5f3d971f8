"""What a comparison of methods found, as sentences, JSON values and a table."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analytics.comparability import Caution
from analytics.compare_configuration import ComparisonConfiguration
from analytics.paired_scores import PairedComparison
from analytics.pareto import ParetoFront
from analytics.uncertainty import Uncertainty
from graphstore.short_view import TableView, counted

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class MethodEntry:
    """One method of a comparison, by itself.

    Attributes:
        method: Its name.
        runs: Number of its runs.
        tasks: Number of its tasks.
        means: By metric, over its tasks (each task counts alike); None where none is known.
        known: Number of tasks behind each mean.
        known_runs: Number of runs behind each mean.
        success_rate: In percent, with the uncertainty that the runs allow and its code.
    """

    method: str
    runs: int
    tasks: int
    means: Mapping[str, float | None]
    known: Mapping[str, int]
    known_runs: Mapping[str, int]
    success_rate: Uncertainty


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two methods under one metric.

    Attributes:
        metric: Its name.
        comparison: The paired comparison.
        adjusted: Its randomization test's p-value, corrected for all pairs and metrics.
        missing: ``3 of 9 runs of NAME`` for each method that lacks values on common tasks.
    """

    metric: str
    comparison: PairedComparison
    adjusted: float | None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class MethodComparison(TableView):
    """Two methods, or many, side by side.

    Attributes:
        configuration: What it was made with.
        methods: Each by itself, in the order asked for.
        pairs: Each comparable pair under each metric.
        pareto: The front of score (success where no method has a score) and tokens.
        pareto_score: Which of the two it is; None where neither is known.
        cautions: What the comparison cannot show, and which pairs it left out.
        left_out: Run ids by the reason for which they were left out.
    """

    configuration: ComparisonConfiguration
    methods: tuple[MethodEntry, ...]
    pairs: tuple[ComparedPair, ...]
    pareto: ParetoFront
    pareto_score: str | None
    cautions: tuple[Caution, ...]
    left_out: Mapping[str, tuple[str, ...]]

    @property
    def configuration_hash(self) -> str:
        """Hash of the configuration (16 hex digits)."""
        return self.configuration.hash

    def _in_short(self) -> str:
        comparisons = counted(len(self.pairs), "comparison")
        return f"{counted(len(self.methods), 'method')}, {comparisons}"

    def conclusions(self) -> tuple[str, ...]:
        """Plain sentences: what each pair shows under each metric, and what it does not."""
        return tuple(
            f"{pair.metric.replace('_', ' ')}: {pair.comparison.conclusion}"
            + _corrected(pair, self.configuration)
            + _incomplete(pair)
            for pair in self.pairs
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "configuration": asdict(self.configuration),
            "configuration_hash": self.configuration_hash,
            "methods": [
                {
                    "method": one.method,
                    "runs": one.runs,
                    "tasks": one.tasks,
                    "means": dict(one.means),
                    "known": dict(one.known),
                    "known_runs": dict(one.known_runs),
                    "success_rate": one.success_rate.score,
                    "success_rate_uncertainty": one.success_rate.value,
                    "uncertainty_code": (
                        None if one.success_rate.value is None else one.success_rate.code
                    ),
                }
                for one in self.methods
            ],
            "pairs": [
                {**_pair_row(pair), "conclusion": sentence}
                for pair, sentence in zip(self.pairs, self.conclusions(), strict=True)
            ],
            "pareto": {
                "score": self.pareto_score,
                "points": [asdict(point) for point in self.pareto.points],
                "front": list(self.pareto.front),
                "dominated_by": {
                    name: list(by) for name, by in self.pareto.dominated_by.items()
                },
                "left_out": list(self.pareto.left_out),
            },
            "cautions": [asdict(caution) for caution in self.cautions],
            "left_out": {reason: list(runs) for reason, runs in self.left_out.items()},
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """One line for each pair and metric."""
        import pandas

        rows = [_pair_row(pair) for pair in self.pairs]
        return pandas.DataFrame(
            {
                name: pandas.Series([row[name] for row in rows], dtype=kind)
                for name, kind in _PAIR_COLUMNS.items()
            }
        )


_PAIR_COLUMNS = {
    "metric": "string",
    "first": "string",
    "second": "string",
    "tasks": "Int64",
    "mean_first": "Float64",
    "mean_second": "Float64",
    "difference": "Float64",
    "low": "Float64",
    "high": "Float64",
    "better": "Int64",
    "tied": "Int64",
    "worse": "Int64",
    "sign_test": "Float64",
    "randomization_test": "Float64",
    "adjusted": "Float64",
    "only_first": "Int64",
    "only_second": "Int64",
    "unscored": "Int64",
}


def _corrected(pair: ComparedPair, options: ComparisonConfiguration) -> str:
    excludes = pair.comparison.interval.excludes_zero
    if not excludes or pair.adjusted is None:
        return ""
    if pair.adjusted <= 1.0 - options.bootstrap.confidence:
        return ""
    return (
        f" After correction for all pairs and metrics ({options.correction}) the test does not "
        f"hold (p = {pair.adjusted:.3g})."
    )


def untold(metric: str, missing: tuple[str, ...]) -> str:
    """What it means that some runs have no value."""
    name = metric.replace("_", " ")
    return (
        f"{' and '.join(missing)} have no {name}: the comparison rests on the others, and "
        "misleads where values are missing for a reason, such as a failure."
    )


def _incomplete(pair: ComparedPair) -> str:
    if not pair.missing or not pair.comparison.interval.excludes_zero:
        return ""
    return f" But {untold(pair.metric, pair.missing)}"


def _pair_row(pair: ComparedPair) -> dict[str, Any]:
    found = pair.comparison
    return {
        "metric": pair.metric,
        "first": found.first,
        "second": found.second,
        "tasks": len(found.tasks),
        "mean_first": found.mean_first,
        "mean_second": found.mean_second,
        "difference": found.interval.estimate,
        "low": found.interval.low,
        "high": found.interval.high,
        "better": found.signs.better,
        "tied": found.signs.tied,
        "worse": found.signs.worse,
        "sign_test": found.signs.sign_test,
        "randomization_test": found.randomization_test,
        "adjusted": pair.adjusted,
        "only_first": len(found.only_first),
        "only_second": len(found.only_second),
        "unscored": len(found.unscored),
    }
