"""How many subtask types: cohesion beyond chance, less instability, less low support.

Source: MAC-Bench, appendix F.1, "subtask types", last paragraph. The paper scores cohesion as
it is. That rises with every type, and leaving out one task of many parts few pairs, so that
the largest candidate wins wherever no type is rare. Ours takes away what as many leaves
drawn at random would save; a weight of 0 for it gives the paper's rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphstore.errors import UsageError
from mining.workers import Workers

Progress = Callable[[int, int], None]
"""Told how many fits are done, and of how many."""

CHANCE_DRAWS = 100
"""Random sets of medoids of which chance is the mean."""

LARGE = 4e9
"""Entries of the matrix of distances that all starts read once, from which on a choice is
worth starting processes for: some ten seconds of work for one core."""


@dataclass(frozen=True, slots=True)
class TypeChoice:
    """What one number of types is worth.

    Attributes:
        k: Number of types.
        loss: Weighted sum of distances to the nearest medoid: every task weighs 1.
        cohesion: Share of the loss with one medoid that is saved, 0 to 1; 0 where nothing can
            be saved, since all leaves are alike.
        chance: Cohesion with as many leaves drawn at random as medoids, by their weights: the
            mean of :data:`CHANCE_DRAWS` draws, at least 0.
        instability: Share of the pairs of leaves of one type that a refit without one task
            parts, averaged over refits, 0 to 1. None where no refit could tell: there is one
            task only, or no two leaves of one type.
        low_support: Share of types with leaves of fewer tasks than the support asked for.
        score: Cohesion less the weighted other three; an unknown instability counts 0.
        refits: Number of refits that could tell.
    """

    k: int
    loss: float
    cohesion: float
    chance: float
    instability: float | None
    low_support: float
    score: float
    refits: int


@dataclass(frozen=True, slots=True)
class SelectionOptions:
    """How candidates are fitted and scored.

    Attributes:
        candidates: Numbers of types, ascending.
        chance_weight: How much of the cohesion by chance is taken away.
        instability_weight: What a full instability costs.
        low_support_weight: What types without support cost, if all are.
        min_task_support: Tasks that a type needs.
        refits: How many tasks are left out in turn, drawn by the seed; None for all.
        starts: Of each fit.
        refit_starts: Of each refit.
        solver: Of all.
        seed: Of all.
    """

    candidates: tuple[int, ...]
    chance_weight: float
    instability_weight: float
    low_support_weight: float
    min_task_support: int
    refits: int | None
    starts: int
    refit_starts: int
    solver: Any
    seed: int


@dataclass(frozen=True, slots=True)
class _Fits:
    """What all fits share: :func:`select_types` says what each is."""

    distances: Any
    weights: Any
    tasks: Any
    options: SelectionOptions
    threads: int


def fit_types(shared: _Fits, item: tuple[int, int | None]) -> Any:
    """Fits one number of types, to all leaves or to those of all tasks but one.

    Args:
        shared: The leaves.
        item: The number of types, and the task to leave out.

    Returns:
        A :class:`mining.k_medoids.MedoidSolution`.
    """
    from mining.k_medoids import solve

    options = shared.options
    k, task = item
    settings = {"solver": options.solver, "threads": shared.threads}
    if task is None:
        return solve(
            shared.distances,
            k,
            shared.weights,
            seed=[options.seed, k],
            starts=options.starts,
            **settings,
        )
    kept = shared.tasks != task
    return solve(
        shared.distances,
        min(k, int(kept.sum())),
        shared.weights * kept,
        seed=[options.seed, k, 1 + task],
        starts=options.refit_starts,
        **settings,
    )


def select_types(
    distances: Any,
    weights: Any,
    tasks: Any,
    options: SelectionOptions,
    *,
    threads: int = 1,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> tuple[Any, tuple[TypeChoice, ...]]:
    """Fits each candidate and scores it.

    Args:
        distances: Shape (n, n), with n at least 1. Each worker gets a copy.
        weights: Shape (n,), positive.
        tasks: For each leaf, the number of its task, from 0 without gaps; shape (n,).
        options: Candidates above n are passed over.
        threads: How many starts of a fit run at once; the result does not depend on it.
        workers: Where fits are made; by default in this process. Nor on them.
        progress: Told how many fits are done.

    Returns:
        The best candidate's :class:`mining.k_medoids.MedoidSolution` (the smallest number of
        types in a tie), and what each candidate is worth.

    Raises:
        UsageError: There are fewer leaves than any candidate asks for, or the Dask cluster
            cannot be used.
    """
    from mining.k_medoids import solve

    count = len(weights)
    candidates = [k for k in options.candidates if k <= count]
    if not candidates:
        raise UsageError(
            f"{count} leaves are too few for {min(options.candidates)} types, the fewest "
            "that were asked for"
        )
    omitted = _omitted(int(tasks.max()) + 1, options)
    # The dearest first: workers that are done early then get the cheap ones.
    items = [(k, task) for k in reversed(candidates) for task in (None, *omitted)]
    starts = len(candidates) * (options.starts + len(omitted) * options.refit_starts)
    solved = (workers or Workers()).map(
        fit_types,
        _Fits(distances, weights, tasks, options, threads),
        items,
        progress,
        large=starts * count**2 >= LARGE,
    )
    found = dict(zip(items, solved, strict=True))
    single = solve(distances, 1, weights, seed=options.seed, solver=options.solver).loss
    best: tuple[float, Any] | None = None
    choices: list[TypeChoice] = []
    for k in candidates:
        fit = found[k, None]
        parted: list[float] = []
        for task in omitted:
            kept = tasks != task
            share = parted_pairs(fit.labels[kept], found[k, task].labels[kept])
            if share is not None:
                parted.append(share)
        instability = sum(parted) / len(parted) if parted else None
        cohesion = max(0.0, 1 - fit.loss / single) if single > 0 else 0.0
        chance = chance_cohesion(distances, weights, k, single, options.seed)
        low = _low_support(fit.labels, tasks, k, options.min_task_support)
        score = (
            cohesion
            - options.chance_weight * chance
            - options.instability_weight * (instability or 0.0)
            - options.low_support_weight * low
        )
        choices.append(
            TypeChoice(k, fit.loss, cohesion, chance, instability, low, score, len(parted))
        )
        if best is None or score > best[0] + 1e-12:
            best = (score, fit)
    assert best is not None
    return best[1], tuple(choices)


def chance_cohesion(
    distances: Any, weights: Any, k: int, single: float, seed: int = 0
) -> float:
    """The cohesion that k leaves have as medoids which nobody chose.

    Args:
        distances: Shape (n, n).
        weights: Shape (n,), positive: a leaf is drawn in proportion to its weight.
        k: At least 1, at most n.
        single: The loss with the best single medoid.
        seed: For the draws.

    Returns:
        The mean share of ``single`` that is saved, 0 to 1; 0 where nothing can be saved, or
        where the leaves drawn are on average worse than the best single one.
    """
    import numpy

    if single <= 0:
        return 0.0
    generator = numpy.random.default_rng([seed, k])
    share = weights / weights.sum()
    losses = [
        float(weights @ distances[drawn].min(axis=0).astype(numpy.float64))
        for drawn in (
            generator.choice(len(weights), k, replace=False, p=share)
            for _ in range(CHANCE_DRAWS)
        )
    ]
    return min(1.0, max(0.0, 1 - sum(losses) / (CHANCE_DRAWS * single)))


def parted_pairs(before: Sequence[int], after: Sequence[int]) -> float | None:
    """Share of the pairs with one label before that have two labels after.

    Args:
        before: Labels, not negative; shape (n,).
        after: Likewise, of the same points.

    Returns:
        Between 0 and 1; None where no two points had one label.
    """
    import numpy

    old, new = numpy.asarray(before), numpy.asarray(after)
    if not len(old):
        return None
    width = int(new.max()) + 1
    together = numpy.bincount(old).astype(object)
    still = numpy.bincount(old * width + new).astype(object)
    pairs = int((together * (together - 1)).sum())
    if not pairs:
        return None
    return float(1 - int((still * (still - 1)).sum()) / pairs)


def _omitted(tasks: int, options: SelectionOptions) -> list[int]:
    if tasks < 2:
        return []
    if options.refits is None or options.refits >= tasks:
        return list(range(tasks))
    import numpy

    generator = numpy.random.default_rng([options.seed, tasks])
    return sorted(generator.choice(tasks, options.refits, replace=False).tolist())


def _low_support(labels: Any, tasks: Any, k: int, needed: int) -> float:
    import numpy

    width = int(tasks.max()) + 1
    pairs = numpy.unique(labels * width + tasks)
    support = numpy.bincount(pairs // width, minlength=k)
    return float((support < needed).mean())
