"""Which methods no other beats in both score and tokens.

Source: OpenMAS-GCom, Table 2 and section 4.I, which compares observed operating points of
score and tokens; the front is the usual one of two objectives.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphstore.errors import UsageError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What a method reached, and what it used.

    Attributes:
        name: Of the method.
        score: Higher is better; None where it is not known.
        tokens: Fewer is better; None where they are not known.
    """

    name: str
    score: float | None
    tokens: float | None


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """The points that no other dominates.

    A point dominates another with at least its score and at most its tokens, and better in
    one of the two. Equal points do not dominate each other.

    Attributes:
        points: All points, in the order in which they came.
        front: Names on the front, by tokens.
        dominated_by: For each other known point, the names that dominate it, in their order.
        left_out: Names whose score or tokens are not known.
    """

    points: tuple[OperatingPoint, ...]
    front: tuple[str, ...]
    dominated_by: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]

    def to_pandas(self) -> "pandas.DataFrame":
        """One line a point: ``name``, ``score``, ``tokens``, ``on_front``, ``dominated_by``.

        ``on_front`` is missing for points that were left out.
        """
        import pandas

        names = [point.name for point in self.points]
        return pandas.DataFrame(
            {
                "name": pandas.Series(names, dtype="string"),
                "score": pandas.Series([p.score for p in self.points], dtype="Float64"),
                "tokens": pandas.Series([p.tokens for p in self.points], dtype="Float64"),
                "on_front": pandas.Series(
                    [None if name in self.left_out else name in self.front for name in names],
                    dtype="boolean",
                ),
                "dominated_by": pandas.Series(
                    [", ".join(self.dominated_by.get(name, ())) or None for name in names],
                    dtype="string",
                ),
            }
        )


def pareto_front(points: Iterable[OperatingPoint]) -> ParetoFront:
    """Finds the front.

    Raises:
        UsageError: Two points have one name.
    """
    listed = tuple(points)
    names = [point.name for point in listed]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two operating points have the name {twice!r}")
    known = [
        (point.name, point.score, point.tokens)
        for point in listed
        if point.score is not None and point.tokens is not None
    ]
    dominated_by = {}
    for name, score, tokens in known:
        better = tuple(
            other
            for other, other_score, other_tokens in known
            if other_score >= score
            and other_tokens <= tokens
            and (other_score > score or other_tokens < tokens)
        )
        if better:
            dominated_by[name] = better
    kept = [entry for entry in known if entry[0] not in dominated_by]
    return ParetoFront(
        points=listed,
        front=tuple(name for name, _, _ in sorted(kept, key=lambda e: (e[2], e[1]))),
        dominated_by=dominated_by,
        left_out=tuple(
            point.name for point in listed if point.score is None or point.tokens is None
        ),
    )
