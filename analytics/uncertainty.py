"""The uncertainty codes of OpenMAS-GCom: what the number beside a score means.

Source: OpenMAS-GCom, appendix A.8, Table 10 and Eq. 14. A standard deviation over task sets,
one over seeds, an analytic standard error and a combined estimate are different things; the
code keeps them apart. Scores are percentages, uncertainties percentage points.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from analytics.averages import mean
from graphstore.errors import UsageError

Code = Literal["s", "r", "e", "b", "m"]
CODES: tuple[str, ...] = get_args(Code)

DATASET_WEIGHT = 0.70
METHOD_WEIGHT = 0.30


@dataclass(frozen=True, slots=True)
class CodeMeaning:
    """A letter of OpenMAS-GCom, Table 10.

    Attributes:
        code: The letter.
        score: Where the score comes from.
        uncertainty: What the number beside it is.
        repetition: What is known of repetitions.
    """

    code: Code
    score: str
    uncertainty: str
    repetition: str


CODE_MEANINGS: dict[str, CodeMeaning] = {
    meaning.code: meaning
    for meaning in (
        CodeMeaning(
            "s",
            "mean over sampled sets of tasks",
            "sample standard deviation across the sets",
            "the number of sets (three in the paper)",
        ),
        CodeMeaning(
            "r",
            "one fixed reference score",
            "standard deviation over runs with other seeds",
            "the number of runs, where it is recorded",
        ),
        CodeMeaning(
            "e",
            "one reference score",
            "estimate from a data set's and a method's component, weighted 0.70 and 0.30",
            "not recorded",
        ),
        CodeMeaning(
            "b",
            "one reference score",
            "binomial standard error from the score and the number of tasks",
            "none: analytic",
        ),
        CodeMeaning(
            "m",
            "mean over runs with other seeds, where there is no reference score",
            "standard deviation over those runs",
            "the number of runs, where it is recorded",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """A score with the number beside it.

    Attributes:
        score: In percent; None where it is not known.
        value: In percentage points; None where it cannot be given.
        code: What ``value`` is (:data:`CODE_MEANINGS`).
        repetitions: Sets (``s``), runs (``r``, ``m``) or tasks (``b``); None if not recorded.
    """

    score: float | None
    value: float | None
    code: Code
    repetitions: int | None = None

    @property
    def meaning(self) -> CodeMeaning:
        """The code in words."""
        return CODE_MEANINGS[self.code]

    def __str__(self) -> str:
        """As the paper prints it: ``26.75 (2.21) b``; a dash for what is missing."""
        score, value = (
            "-" if one is None else f"{one:.2f}" for one in (self.score, self.value)
        )
        return f"{score} ({value}) {self.code}"


def binomial_standard_error(score: float, tasks: int) -> float | None:
    """Code ``b``: ``100 sqrt(p (1 - p) / N)`` with p = score / 100 (OpenMAS-GCom, A.8).

    It holds for outcomes that are right or wrong, each task by itself.

    Args:
        score: In percent, 0 to 100.
        tasks: N.

    Returns:
        In percentage points, 0 to 50; None without tasks.

    Raises:
        UsageError: The score is no percentage, or the number of tasks is negative.
    """
    if not 0.0 <= score <= 100.0:
        raise UsageError(f"a score in percent lies between 0 and 100, not at {score}")
    if tasks < 0:
        raise UsageError(f"a number of tasks cannot be negative: {tasks}")
    share = score / 100.0
    return 100.0 * math.sqrt(share * (1.0 - share) / tasks) if tasks else None


def from_task_count(score: float, tasks: int) -> Uncertainty:
    """Code ``b``: a score with its binomial standard error.

    Raises:
        UsageError: As in :func:`binomial_standard_error`.
    """
    return Uncertainty(score, binomial_standard_error(score, tasks), "b", tasks)


def from_task_sets(scores: Sequence[float | None]) -> Uncertainty:
    """Code ``s``: mean and sample standard deviation over sets of tasks, Eq. 14.

    Args:
        scores: One percentage for each set; those not known are left out.

    Returns:
        Without a value for fewer than two sets, without a score for none.
    """
    return _mean_and_deviation(scores, "s")


def from_seeds(scores: Sequence[float | None], reference: float | None = None) -> Uncertainty:
    """Code ``r`` with a reference score, code ``m`` without: deviation over seeds.

    The paper leaves open which standard deviation it is; this is the sample's, as in Eq. 14.

    Args:
        scores: One percentage for each run; those not known are left out.
        reference: The score to print; their mean where None.
    """
    found = _mean_and_deviation(scores, "m")
    if reference is None:
        return found
    return Uncertainty(reference, found.value, "r", found.repetitions)


def from_components(score: float, dataset: float, method: float) -> Uncertainty:
    """Code ``e``: 0.70 of a data set's and 0.30 of a method's component.

    The paper gives the weights alone; adding the weighted components is our reading.

    Args:
        score: In percent.
        dataset: Component of the data set, percentage points, not negative.
        method: Component of the method, likewise.

    Raises:
        UsageError: A component is negative.
    """
    if dataset < 0.0 or method < 0.0:
        raise UsageError("a component of an uncertainty cannot be negative")
    return Uncertainty(score, DATASET_WEIGHT * dataset + METHOD_WEIGHT * method, "e")


def _mean_and_deviation(scores: Sequence[float | None], code: Code) -> Uncertainty:
    known = [score for score in scores if score is not None]
    return Uncertainty(
        score=mean(known),
        value=statistics.stdev(known) if len(known) >= 2 else None,
        code=code,
        repetitions=len(known),
    )
