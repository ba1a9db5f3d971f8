"""How methods are compared: on which metrics, by which groups of tasks, corrected how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from analytics.averages import LARGEST
from analytics.corrections import CORRECTIONS, Correction
from analytics.paired_scores import TIE
from analytics.panel import METRICS, PanelConfiguration
from analytics.statistics import BootstrapConfiguration
from graphstore.errors import UsageError
from graphstore.identity import configuration_hash
from graphstore.listed import listed

Grouping = Literal["task", "source", "dataset", "category"]
GROUPINGS: tuple[str, ...] = get_args(Grouping)

OUTCOMES = ("success", "score", "tokens", "latency", "cost")
"""What a run reached and used; ``tokens`` is what was read and what was written."""
DIRECTIONS: Mapping[str, bool | None] = {
    "success": True,
    "score": True,
    "tokens": False,
    "tokens_in": False,
    "tokens_out": False,
    "latency": False,
    "cost": False,
}
"""Whether higher is better; a metric that is not named here is better at neither end."""
COMPARABLE_METRICS: tuple[str, ...] = tuple(dict.fromkeys((*OUTCOMES, *METRICS)))
DEFAULT_METRICS = (
    "success",
    "score",
    "tokens",
    "density",
    "reachable_pair_fraction",
    "average_path_length",
    "normalized_source_entropy",
    "node_validity",
    "content_redundancy",
)


@dataclass(frozen=True)
class ComparisonConfiguration:
    """How methods are compared.

    Attributes:
        metrics: Of :data:`COMPARABLE_METRICS`, each once.
        reference: Every other method is compared with this one; all pairs where None.
        grouping: What is resampled: each ``task``, or all tasks of one ``source`` (group),
            ``dataset`` or ``category`` together.
        correction: For the number of pairs times metrics.
        require_all: A task has no value where one of its runs has none.
        tie: Absolute difference up to which two values are tied.
        bootstrap: Of the intervals.
        panel: Of the structural metrics.
    """

    metrics: tuple[str, ...] = DEFAULT_METRICS
    reference: str | None = None
    grouping: Grouping = "task"
    correction: Correction = "holm"
    require_all: bool = False
    tie: float = TIE
    bootstrap: BootstrapConfiguration = field(default_factory=BootstrapConfiguration)
    panel: PanelConfiguration = field(default_factory=PanelConfiguration)

    def __post_init__(self) -> None:
        # Named twice, a metric would count twice in the correction for many tests.
        object.__setattr__(self, "metrics", tuple(dict.fromkeys(listed(self.metrics))))
        unknown = [name for name in self.metrics if name not in COMPARABLE_METRICS]
        if unknown or not self.metrics:
            raise UsageError(
                f"there is no metric {unknown[0]!r}; "
                f"choose from {', '.join(COMPARABLE_METRICS)}"
                if unknown
                else "a comparison needs at least one metric"
            )
        if self.grouping not in GROUPINGS:
            raise UsageError(
                f"tasks are not grouped by {self.grouping!r}; choose one of "
                f"{', '.join(GROUPINGS)}"
            )
        if self.correction not in CORRECTIONS:
            raise UsageError(
                f"there is no correction {self.correction!r}; "
                f"choose one of {', '.join(CORRECTIONS)}"
            )
        if not 0.0 <= self.tie <= LARGEST:
            raise UsageError(f"the width of a tie is a number from 0 on, not {self.tie}")

    @property
    def hash(self) -> str:
        """The hash that results carry (16 hex digits)."""
        return configuration_hash(self)
