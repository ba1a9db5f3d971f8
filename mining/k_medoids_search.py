"""From starts to a solution: starts of their own, or a few and then changes of the best."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy

from graphstore.compiled import compiled
from graphstore.errors import UsageError
from mining import k_medoids_kernel as kernel

RELATIVE_GAIN = 1e-12
"""The share of the loss that a swap must save: less is rounding."""

FIRST_STARTS = 4
"""Starts of their own before the best solution is changed."""

EXHAUSTIVE_WORK = 2_000_000
"""Sets of medoids, times their size, times the points, up to which all sets are tried: some
hundredths of a second."""

CALM_STARTS = 10
"""Starts in a row without a better solution after which a search of its own accord ends."""

_AT_ONCE = 1024

MOST_STARTS = 100
"""Where it ends in any case."""

CHANGED_SHARE = 0.25
"""Of the best solution's medoids: a start replaces up to so many of them."""


@dataclass(frozen=True, slots=True, eq=False)
class MedoidSolution:
    """The best that was found.

    Attributes:
        medoids: Their positions, ascending; shape (k,).
        labels: For each point, the position in ``medoids`` of the nearest one; the smaller
            position in a tie, but a medoid is always its own. Shape (n,).
        loss: Sum of weight times distance to the nearest medoid.
        iterations: Rounds of the start that won.
        starts: How many starts were made.
    """

    medoids: Any
    labels: Any
    loss: float
    iterations: int
    starts: int = 1


def solution_of(matrix: Any, weights: Any, medoids: Any, iterations: int) -> MedoidSolution:
    """Labels and loss of medoids."""
    chosen = numpy.sort(numpy.asarray(medoids, numpy.intp))
    rows = matrix[chosen]
    labels = rows.argmin(axis=0)
    labels[chosen] = numpy.arange(len(chosen))
    loss = float((rows.min(axis=0).astype(numpy.float64) * weights).sum())
    return MedoidSolution(chosen, labels, loss, iterations)


def _counted(best: MedoidSolution, starts: int) -> MedoidSolution:
    return MedoidSolution(best.medoids, best.labels, best.loss, best.iterations, starts)


class MedoidSearch:
    """One matrix, searched from many starts.

    Args:
        matrix: Distances, shape (n, n), in rows that lie together.
        weights: Shape (n,).
        k: Number of medoids, at most that of the points with a weight.
        solver: ``fasterpam`` or ``alternate``.
        max_iterations: Rounds after which a start stops.
        seeds: Start ``number`` draws from a generator of its own, seeded by these and its
            number.
        threads: How many starts run at once. The result does not depend on it.
    """

    def __init__(
        self,
        matrix: Any,
        weights: Any,
        k: int,
        *,
        solver: str,
        max_iterations: int,
        seeds: Sequence[int],
        threads: int,
    ) -> None:
        self.matrix, self.weights, self.k = matrix, weights, k
        self.candidates = numpy.flatnonzero(weights)
        self._solver, self._max_iterations = solver, max_iterations
        self._seeds, self._threads = seeds, threads

    def from_medoids(self, medoids: Sequence[int]) -> MedoidSolution:
        """From medoids that somebody chose.

        Raises:
            UsageError: They are not k different points with a weight.
        """
        begin = numpy.array(medoids, numpy.int64)
        allowed = set(self.candidates.tolist())
        if begin.shape != (self.k,) or len(set(begin.tolist()) & allowed) != self.k:
            raise UsageError(
                f"a start needs {self.k} different positions of points with a weight"
            )
        return self._improved(begin, self._generator(0))

    def from_starts(self, start: str, count: int) -> MedoidSolution:
        """The best of so many starts, each of its own."""
        found = list(self._tried(range(count), lambda random: self._begin(start, random)))
        return _counted(min(found, key=lambda one: one.loss), count)

    @property
    def can_try_all(self) -> bool:
        """Whether there are few sets of medoids."""
        each = self.k * len(self.matrix)
        return comb(len(self.candidates), self.k) * each <= EXHAUSTIVE_WORK

    def of_all(self) -> MedoidSolution:
        """The best of all sets of medoids, the first one in a tie: the optimum."""
        sets = combinations(self.candidates.tolist(), self.k)
        best: tuple[float, Any] = (numpy.inf, None)
        while some := list(islice(sets, _AT_ONCE)):
            tried = numpy.array(some)
            near = self.matrix[tried].min(axis=1)
            losses = near.astype(numpy.float64) @ self.weights
            place = int(losses.argmin())
            if best[1] is None or losses[place] < best[0] * (1 - RELATIVE_GAIN):
                best = (float(losses[place]), tried[place])
        return solution_of(self.matrix, self.weights, best[1], 1)

    def until_calm(self, start: str) -> MedoidSolution:
        """A few starts of their own, then starts that change the best so far.

        Each later start replaces one to ``CHANGED_SHARE`` of the best solution's medoids by
        points that are drawn, and is improved from there. The search ends after
        ``CALM_STARTS`` starts in a row that found nothing better, or ``MOST_STARTS`` in all.

        Source: iterated local search; Lourenço, Martin and Stützle, "Iterated local search",
        Handbook of Metaheuristics, 2003, section 2, with the criterion "better".
        """
        best = self.from_starts(start, FIRST_STARTS)
        made, calm = FIRST_STARTS, 0
        if self.k == len(self.candidates):
            return best
        while calm < CALM_STARTS and made < MOST_STARTS:
            # As many as threads are made ahead. Where one is better, those after it are made
            # again from there, so that the number of threads does not show in the result.
            ahead = min(self._threads, CALM_STARTS - calm, MOST_STARTS - made)
            for found in self._changed(best, range(made, made + ahead)):
                made += 1
                calm += 1
                if found.loss < best.loss * (1 - RELATIVE_GAIN):
                    best, calm = found, 0
                    break
        return _counted(best, made)

    def _changed(self, best: MedoidSolution, numbers: range) -> Iterator[MedoidSolution]:
        free = numpy.setdiff1d(self.candidates, best.medoids)
        most = min(max(1, round(CHANGED_SHARE * self.k)), len(free))

        def begin(generator: Any) -> Any:
            medoids = best.medoids.astype(numpy.int64)
            count = int(generator.integers(1, most + 1))
            places = generator.choice(self.k, count, replace=False)
            medoids[places] = generator.choice(free, count, replace=False)
            return medoids

        # One that was stopped early may not be the end of the search yet.
        ended = best.iterations < self._max_iterations
        return self._tried(numbers, begin, best.medoids if ended else None)

    def _tried(
        self, numbers: range, begin: Callable[[Any], Any], known: Any = None
    ) -> Iterator[MedoidSolution]:
        """Makes starts, in order."""

        def attempt(number: int) -> MedoidSolution:
            generator = self._generator(number)
            return self._improved(begin(generator), generator, known)

        if self._threads > 1 and len(numbers) > 1:
            with ThreadPoolExecutor(min(self._threads, len(numbers))) as pool:
                yield from pool.map(attempt, numbers)
        else:
            yield from map(attempt, numbers)

    def _generator(self, number: int) -> Any:
        return numpy.random.default_rng([*self._seeds, number])

    def _begin(self, start: str, generator: Any) -> Any:
        """The medoids that a start of its own begins with."""
        points = len(self.matrix)
        if start == "random":
            return generator.choice(self.candidates, self.k, replace=False)
        medoids = numpy.empty(self.k, numpy.int64)
        near = numpy.empty(points, self.matrix.dtype)
        if start == "build" or self.k == 1:
            compiled(kernel.build_medoids, threads=True)(
                self.matrix, self.weights, medoids, near, numpy.zeros(points, numpy.uint8)
            )
        else:
            draws = generator.random((self.k, 2 + int(numpy.log(self.k))))
            compiled(kernel.spread_medoids, threads=True)(
                self.matrix, self.weights, draws, medoids, near, numpy.empty(points)
            )
        return medoids

    def _improved(self, begin: Any, generator: Any, known: Any = None) -> MedoidSolution:
        """Improves one start.

        Args:
            begin: Its medoids; they are changed.
            generator: For the order of trying.
            known: Medoids that no swap improves: a start that arrives there is done.
        """
        if self.k == 1:
            medoids, rounds = self._begin("build", generator), 1
        elif self._solver == "alternate":
            medoids, rounds = self._alternated(begin)
        else:
            medoids, rounds = self._swapped(begin, generator, known)
        return solution_of(self.matrix, self.weights, medoids, rounds)

    def _swapped(self, begin: Any, generator: Any, known: Any) -> tuple[Any, int]:
        points, k = len(self.matrix), self.k
        order = generator.permutation(self.candidates)
        # The scale of the losses: what the medoid of all points would cost at most.
        scale = float(self.weights @ self.matrix[begin[0]])
        done = numpy.zeros(points, numpy.uint8)
        if known is not None:
            done[known] = 1
        rounds = compiled(kernel.swap_medoids, threads=True)(
            self.matrix,
            self.weights,
            order,
            RELATIVE_GAIN * scale,
            self._max_iterations,
            done,
            begin,
            numpy.empty(points, numpy.int32),
            numpy.empty(points, numpy.int32),
            numpy.empty(points),
            numpy.empty(points),
            numpy.empty(k),
            numpy.empty(k),
            numpy.empty(points + 1, numpy.int32),
            numpy.zeros(points, numpy.uint8),
        )
        return begin, self._max_iterations if rounds < 0 else int(rounds)

    def _alternated(self, begin: Any) -> tuple[Any, int]:
        medoids = begin.copy()
        for step in range(self._max_iterations):
            labels = self.matrix[medoids].argmin(axis=0)
            labels[medoids] = numpy.arange(self.k)
            moved = False
            for place in range(self.k):
                members = numpy.flatnonzero((labels == place) & (self.weights != 0))
                inside = self.matrix[numpy.ix_(members, members)]
                costs = inside.astype(numpy.float64) @ self.weights[members]
                best = int(costs.argmin())
                current = int(numpy.searchsorted(members, medoids[place]))
                if costs[best] < costs[current] * (1 - RELATIVE_GAIN):
                    medoids[place] = members[best]
                    moved = True
            if not moved:
                return medoids, step + 1
        return medoids, self._max_iterations
