"""Gomoku: what a move makes for oneself, and what it takes from the opponent.

Source: MASTraceBench, appendix "Gomoku" (Eq. 16, Table 6): for each of the four directions the
row of stones through the move is looked at, once with one's own stone there and once with the
opponent's; its length and its open ends give points; both sums are added and multiplied by
20. A move off the board or on a stone scores 0, as the paper says. Open in the paper, and
chosen here: **a longer row counts as five**; an open end is an empty point of the board next
to the row; **the sum is not cut off at 5**, so that a move that makes and blocks several rows
can score more than 100; a five without an open end scores 0, as the paper's table has it.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from analytics.scorers.base import Scorer, invalid, read_fields
from analytics.scorers.parsing import NOTHING, find_json, whole_number
from analytics.verdicts import Verdict
from graphstore.errors import UsageError

Point = tuple[int, int]
Player = Literal["black", "white"]

SIZE = 15
POINTS_TO_SCORE = 20.0
DIRECTIONS: tuple[Point, ...] = ((0, 1), (1, 0), (1, 1), (1, -1))
SELF_POINTS: dict[tuple[int, int], int] = {
    (5, 2): 5,
    (5, 1): 5,
    (4, 2): 4,
    (4, 1): 2,
    (3, 2): 3,
    (3, 1): 2,
}
"""Table 6, by length of the row and number of open ends; everything else gives 0."""
DEFENSE_POINTS: dict[tuple[int, int], int] = {
    (5, 2): 2,
    (5, 1): 5,
    (4, 2): 4,
    (4, 1): 3,
    (3, 2): 3,
    (3, 1): 2,
}
"""Likewise for what the opponent would have made."""
_LONGEST_SIDE = 50


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    player: Player
    black: list[Point]
    white: list[Point]
    size: int = SIZE


@dataclass(frozen=True, slots=True)
class GomokuState:
    """A board before a move.

    Attributes:
        own: Stones of the player who moves, as (row, column) from 0.
        other: Stones of the opponent.
        size: Points on a side.
    """

    own: frozenset[Point]
    other: frozenset[Point]
    size: int = SIZE

    def on_board(self, point: Point) -> bool:
        """Whether a point is on the board."""
        return 0 <= point[0] < self.size and 0 <= point[1] < self.size

    def is_empty(self, point: Point) -> bool:
        """Whether a point is on the board and bears no stone."""
        return self.on_board(point) and point not in self.own and point not in self.other


def rows_through(
    state: GomokuState, move: Point, stones: Set[Point]
) -> tuple[tuple[int, int], ...]:
    """Length and open ends of the row through a move, for each of the four directions.

    Args:
        state: The board; the move is empty.
        move: Where a stone is put.
        stones: The other stones of its colour.
    """
    found = []
    for down, right in DIRECTIONS:
        length, open_ends = 1, 0
        for sign in (1, -1):
            point = (move[0] + sign * down, move[1] + sign * right)
            while point in stones:
                length += 1
                point = (point[0] + sign * down, point[1] + sign * right)
            open_ends += state.is_empty(point)
        found.append((length, open_ends))
    return tuple(found)


def move_points(state: GomokuState, move: Point) -> tuple[int, int]:
    """F and D of Eq. 16: points for what a move makes, and for what it prevents.

    Raises:
        UsageError: The point is taken or off the board.
    """
    if not state.is_empty(move):
        raise UsageError(f"the point {move} is taken or off the board")
    formation = sum(
        SELF_POINTS.get((min(length, 5), ends), 0)
        for length, ends in rows_through(state, move, state.own)
    )
    interception = sum(
        DEFENSE_POINTS.get((min(length, 5), ends), 0)
        for length, ends in rows_through(state, move, state.other)
    )
    return formation, interception


class GomokuScorer(Scorer):
    """F + D, times 20."""

    name = "gomoku"
    title = "Gomoku: rows that a move makes and prevents"
    dynamic = True
    maximum = None

    def read_instance(self, fields: Mapping[str, Any]) -> GomokuState:
        """``player``: black or white; ``black``, ``white``: stones as [row, column]."""
        given = read_fields(fields, _Fields)
        if not 5 <= given.size <= _LONGEST_SIDE:
            raise UsageError(f"a side of the board has 5 to {_LONGEST_SIDE} points")
        stones = [*given.black, *given.white]
        if len(set(stones)) < len(stones):
            raise UsageError("two stones are on one point")
        own, other = (
            (given.black, given.white)
            if given.player == "black"
            else (given.white, given.black)
        )
        state = GomokuState(frozenset(own), frozenset(other), given.size)
        if not all(state.on_board(stone) for stone in stones):
            raise UsageError("a stone is off the board")
        return state

    def score(self, instance: GomokuState, value: str) -> Verdict:
        """A move is JSON: ``[7, 8]``, or an object with ``row`` and ``col``, or ``move``."""
        move = _move(value)
        if move is None:
            return invalid("it is no point of a board")
        if not instance.is_empty(move):
            where = "taken" if instance.on_board(move) else "off the board"
            return Verdict(0.0, True, f"the point is {where}")
        return Verdict(POINTS_TO_SCORE * sum(move_points(instance, move)), True)

    def best_score(self, instance: GomokuState) -> float | None:
        """The best move of all empty points; None on a full board."""
        side = range(instance.size)
        scores = [
            sum(move_points(instance, (row, column)))
            for row in side
            for column in side
            if instance.is_empty((row, column))
        ]
        return POINTS_TO_SCORE * max(scores) if scores else None

    def normal_form(self, instance: GomokuState, value: str) -> str:  # noqa: ARG002
        """The point."""
        return str(_move(value))


def _move(value: str) -> Point | None:
    text = value.strip()
    if text.startswith("(") and text.endswith(")"):
        text = f"[{text[1:-1]}]"
    found = find_json(text)
    if isinstance(found, dict) and "move" in found:
        found = found["move"]
    if isinstance(found, dict):
        found = [found.get("row"), found.get("col", found.get("column"))]
    if found is NOTHING or not isinstance(found, list) or len(found) != 2:
        return None
    row, column = whole_number(found[0]), whole_number(found[1])
    return None if row is None or column is None else (row, column)
