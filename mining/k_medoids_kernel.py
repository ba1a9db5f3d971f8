"""The inner loops of k-medoids: plain functions, for numba.

Every function reads a symmetric matrix of distances by rows, which lie together in memory.
Sums are kept in double precision and taken in a fixed order, so that equal input gives equal
bytes on any number of threads.
"""

from typing import Any

UNREACHED = float("inf")
LEFT_OUT = -1.0
"""Stands for the distance to the second medoid of a point that does not count."""


def swap_medoids(
    distances: Any,
    weights: Any,
    candidates: Any,
    tolerance: float,
    max_passes: int,
    known: Any,
    medoids: Any,
    nearest: Any,
    runner_up: Any,
    near: Any,
    second: Any,
    removal: Any,
    change: Any,
    hits: Any,
    chosen: Any,
) -> int:
    """FasterPAM: swaps a medoid for a candidate whenever that lowers the weighted loss.

    Source: Schubert and Rousseeuw, "Fast and eager k-medoids clustering", Information Systems
    101 (2021): the loss of removing each medoid is kept, so that one look at a candidate's
    row prices its swaps with all medoids; each improving swap is done at once. A point of
    weight w counts w times. The search ends after a full round without a swap.

    Differences are taken in double precision, whatever the distances are. In single precision
    rounding can make a swap and its reversal both seem to save a little, and the search would
    go round in circles.

    A look first lists the points that a candidate would take or become the second choice of,
    without a branch, and then prices those alone.

    Args:
        distances: Shape (n, n), symmetric.
        weights: One a point, not negative. Points of weight 0 do not count.
        candidates: Points that may become medoids, in the order of trying.
        tolerance: By how much a swap must lower the loss.
        max_passes: Rounds over the candidates.
        known: One a point: 1 for the medoids of a solution that no swap improves, else 0. The
            search ends where it arrives there; all 0 where none is known.
        medoids: At least two points; receives the result.
        nearest: Room for n integers: position of the nearest medoid.
        runner_up: Likewise: of the second nearest.
        near: Room for n distances in double precision.
        second: Likewise.
        removal: Room for a sum for each medoid.
        change: Likewise.
        hits: Room for n + 1 integers.
        chosen: n zeros.

    Returns:
        Number of rounds that were begun, or -1 where the last one still swapped.
    """
    points = len(weights)
    k = len(medoids)
    for point in range(points):
        if weights[point] == 0:
            near[point] = second[point] = LEFT_OUT
            continue
        first_value = second_value = UNREACHED
        first = other = -1
        for place in range(k):
            value = distances[medoids[place], point]
            if value < first_value:
                second_value, other = first_value, first
                first_value, first = value, place
            elif value < second_value:
                second_value, other = value, place
        nearest[point], runner_up[point] = first, other
        near[point], second[point] = first_value, second_value
    for place in range(k):
        removal[place] = 0.0
        chosen[medoids[place]] = 1
    for point in range(points):
        if weights[point] != 0:
            removal[nearest[point]] += weights[point] * (second[point] - near[point])
    last = -1
    shared_medoids = 0
    for place in range(k):
        shared_medoids += known[medoids[place]]
    for step in range(max_passes):
        swapped = False
        for candidate in candidates:
            if candidate == last:
                return step + 1
            if chosen[candidate]:
                continue
            row = distances[candidate]
            count = 0
            for point in range(points):
                hits[count] = point
                count += row[point] < second[point]
            for place in range(k):
                change[place] = removal[place]
            shared = 0.0
            for hit in range(count):
                point = hits[hit]
                value = row[point]
                weight = weights[point]
                shared += weight * min(value - near[point], 0.0)
                change[nearest[point]] += weight * (max(value, near[point]) - second[point])
            best = 0
            for place in range(1, k):
                if change[place] < change[best]:
                    best = place
            if change[best] + shared >= -tolerance:
                continue
            shared_medoids += known[candidate]
            shared_medoids -= known[medoids[best]]
            chosen[medoids[best]] = 0
            chosen[candidate] = 1
            medoids[best] = last = candidate
            if shared_medoids == k:
                return step + 1
            swapped = True
            for point in range(points):
                if weights[point] == 0:
                    continue
                value = row[point]
                if nearest[point] == best:
                    if value < second[point]:
                        near[point] = value
                        continue
                    nearest[point], near[point] = runner_up[point], second[point]
                elif value < near[point]:
                    runner_up[point], second[point] = nearest[point], near[point]
                    nearest[point], near[point] = best, value
                    continue
                elif value < second[point]:
                    runner_up[point], second[point] = best, value
                    continue
                elif runner_up[point] != best:
                    continue
                second_value = UNREACHED
                other = -1
                for place in range(k):
                    if place != nearest[point] and distances[medoids[place], point] < (
                        second_value
                    ):
                        second_value = distances[medoids[place], point]
                        other = place
                runner_up[point], second[point] = other, second_value
            for place in range(k):
                removal[place] = 0.0
            for point in range(points):
                if weights[point] != 0:
                    removal[nearest[point]] += weights[point] * (
                        float(second[point]) - near[point]
                    )
        if not swapped:
            return step + 1
    return -1


def spread_medoids(
    distances: Any, weights: Any, draws: Any, medoids: Any, near: Any, sums: Any
) -> None:
    """Draws medoids that lie apart: k-means++ with distances in place of their squares.

    The first is drawn by weight, each further one by weight times distance to the nearest
    medoid so far. Of several draws the one that lowers the loss most is taken.

    Source: Arthur and Vassilvitskii, "k-means++", SODA 2007, section 2 and the greedy variant
    of its conclusion.

    Args:
        distances: Shape (n, n), symmetric.
        weights: One a point, not negative, k or more of them positive.
        draws: Numbers in [0, 1), shape (k, tries).
        medoids: Room for k points; receives the result.
        near: Room for n distances.
        sums: Room for n sums.
    """
    points = len(weights)
    for place in range(len(medoids)):
        total = 0.0
        for point in range(points):
            share = weights[point]
            if place:
                share *= near[point]
            total += share
            sums[point] = total
        best = -1
        best_loss = UNREACHED
        for attempt in range(draws.shape[1]):
            drawn = -1
            if total > 0.0:
                goal = draws[place, attempt] * total
                low, high = 0, points - 1
                while low < high:
                    middle = (low + high) // 2
                    if sums[middle] > goal:
                        high = middle
                    else:
                        low = middle + 1
                drawn = low
            taken = drawn < 0 or weights[drawn] == 0
            for before in range(place):
                taken = taken or medoids[before] == drawn
            if taken:
                # Every point lies on a medoid: any other one that counts will do.
                for point in range(points):
                    free = weights[point] != 0
                    for before in range(place):
                        free = free and medoids[before] != point
                    if free:
                        drawn = point
                        break
            loss = 0.0
            for point in range(points):
                value = distances[drawn, point]
                if place and near[point] < value:
                    value = near[point]
                loss += weights[point] * value
            if loss < best_loss:
                best, best_loss = drawn, loss
        medoids[place] = best
        for point in range(points):
            value = distances[best, point]
            if place == 0 or value < near[point]:
                near[point] = value


def build_medoids(distances: Any, weights: Any, medoids: Any, near: Any, chosen: Any) -> None:
    """BUILD of PAM: adds the point that lowers the weighted loss most, k times.

    Source: Kaufman and Rousseeuw, "Finding groups in data", 1990, chapter 2, with weights.
    Ties go to the smaller index.

    Args:
        distances: Shape (n, n), symmetric.
        weights: One a point, not negative, k or more of them positive.
        medoids: Room for k points; receives the result.
        near: Room for n distances.
        chosen: n zeros.
    """
    points = len(weights)
    for place in range(len(medoids)):
        best = -1
        best_loss = UNREACHED
        for candidate in range(points):
            if weights[candidate] == 0 or chosen[candidate]:
                continue
            loss = 0.0
            for point in range(points):
                value = distances[candidate, point]
                if place and near[point] < value:
                    value = near[point]
                loss += weights[point] * value
            if best < 0 or loss < best_loss:
                best, best_loss = candidate, loss
        medoids[place] = best
        chosen[best] = 1
        for point in range(points):
            value = distances[best, point]
            if place == 0 or value < near[point]:
                near[point] = value


def first_flaw(distances: Any, tolerance: float, tile: int) -> tuple[int, int, int]:
    """Looks for what makes a matrix no matrix of distances, in square tiles.

    Args:
        distances: Shape (n, n).
        tolerance: How far two values may differ that should be equal.
        tile: Side of a tile.

    Returns:
        A kind, a row and a column: 0 for no flaw, 1 not a finite number, 2 negative, 3 not
        symmetric, 4 a point that is not at distance 0 from itself.
    """
    points = len(distances)
    for top in range(0, points, tile):
        for left in range(top, points, tile):
            for row in range(top, min(top + tile, points)):
                for column in range(max(left, row), min(left + tile, points)):
                    value = distances[row, column]
                    mirrored = distances[column, row]
                    # Only finite numbers give zero here.
                    if value - value != 0 or mirrored - mirrored != 0:
                        return 1, row, column
                    if value < 0 or mirrored < 0:
                        return 2, row, column
                    if abs(value - mirrored) > tolerance:
                        return 3, row, column
                    if row == column and value > tolerance:
                        return 4, row, column
    return 0, -1, -1
