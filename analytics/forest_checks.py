"""Whether forests that were read are such as are built."""

import math

from analytics.forest import SAME, ForestConfiguration, ForestSet, ReferenceForest, quantile


def check_forests(forests: ForestSet) -> None:
    """Refuses forests that no build gives.

    Raises:
        ValueError: The first thing that does not fit.
    """
    seen: set[tuple[str, ...]] = set()
    for forest in forests.forests:
        name = f"the forest of the {forest.key.level} {forest.key.name}"
        if forest.key.identity in seen:
            raise ValueError(f"{name} occurs twice")
        seen.add(forest.key.identity)
        flaw = _flaw(forest, forests.configuration)
        if flaw is not None:
            raise ValueError(f"in {name} {flaw}")


def _flaw(forest: ReferenceForest, options: ForestConfiguration) -> str | None:
    """What no build gives, as the end of a sentence; None where all is well."""
    members = [name for one in forest.references for name in one.members]
    graphs = [one.graph for one in forest.references]
    scores = forest.scores
    weights = [
        value for one in forest.references for value in (one.weight, one.weight_without_one)
    ]
    enough = len(scores) >= options.fewest_scores
    alike = forest.median_similarity
    flaws = {
        "there is no reference, or there are too many": not (
            1 <= len(forest.references) <= options.references
        ),
        "a reference occurs twice": len(set(graphs)) != len(graphs),
        "a success is in two clusters": len(set(members)) != len(members),
        "a reference is not in its own cluster": any(
            one.signature not in one.members or one.graph not in one.copies
            for one in forest.references
        ),
        "a weight is no number from 0 to 1": not all(0.0 <= value <= 1.0 for value in weights),
        "the weights do not add up to 1": (
            abs(math.fsum(one.weight for one in forest.references) - 1.0) > SAME
        ),
        "the numbers of successes do not fit": (
            not len(members) == forest.considered <= forest.distinct <= forest.successes
            or len(scores) > len(members)
        ),
        "a cluster's stand-in does not fit": any(
            (one.stand_in is None) != (len(one.members) == 1)
            or (one.weight_without_one == 0.0) != (one.stand_in is None)
            for one in forest.references
        ),
        "the scores are not ascending numbers from 0 to 1": (
            list(scores) != sorted(scores)
            or not all(-SAME <= value <= 1.0 + SAME for value in scores)
        ),
        "the threshold is not that of the scores": (
            forest.threshold != (quantile(scores, options.quantile) if enough else None)
        ),
        "the median similarity is no number from 0 to 1": (
            alike is not None and not -SAME <= alike <= 1.0 + SAME
        ),
        "the mark of near copies is not that of the median similarity": (
            forest.near_copies != (None if alike is None else alike >= options.near_copies)
        ),
    }
    return next((flaw for flaw, found in flaws.items() if found), None)
