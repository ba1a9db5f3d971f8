import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.scorers.gomoku import GomokuScorer, GomokuState, move_points
from graphstore.errors import UsageError

SCORER = GomokuScorer()


def state(black=(), white=(), player="black", **more):
    return SCORER.read_instance(
        {
            "player": player,
            "black": [list(stone) for stone in black],
            "white": [list(stone) for stone in white],
            **more,
        }
    )


def row(*columns, row=7):
    return [(row, column) for column in columns]


@pytest.mark.parametrize(
    ("own", "blocked", "points"),
    [
        # Table 6: three, four and five with two, one and no open end.
        (row(5, 6), (), 3),
        (row(5, 6), row(4), 2),
        (row(5, 6), row(4, 8), 0),
        (row(4, 5, 6), (), 4),
        (row(4, 5, 6), row(3), 2),
        (row(4, 5, 6), row(3, 8), 0),
        (row(3, 4, 5, 6), (), 5),
        (row(3, 4, 5, 6), row(2), 5),
        (row(3, 4, 5, 6), row(2, 8), 0),
        (row(6), (), 0),
        ((), (), 0),
        # A row of six counts as five; a gap ends a row.
        (row(2, 3, 4, 5, 6), (), 5),
        (row(3, 4, 5), (), 0),
    ],
)
def test_self_formation_of_a_row(own, blocked, points):
    assert move_points(state(own, blocked), (7, 7)) == (points, 0)


@pytest.mark.parametrize(
    ("other", "blocked", "points"),
    [
        (row(5, 6), (), 3),
        (row(5, 6), row(4), 2),
        (row(4, 5, 6), (), 4),
        (row(4, 5, 6), row(3), 3),
        (row(3, 4, 5, 6), (), 2),
        (row(3, 4, 5, 6), row(2), 5),
        (row(3, 4, 5, 6), row(2, 8), 0),
    ],
)
def test_interception_of_a_row(other, blocked, points):
    assert move_points(state(blocked, other), (7, 7)) == (0, points)


def test_the_edge_of_the_board_is_no_open_end():
    assert move_points(state(row(0, 1)), (7, 2)) == (2, 0)
    assert move_points(state(row(14, 13)), (7, 12)) == (2, 0)


def test_rows_in_all_directions_add_up():
    # White's example of the paper's Figure 2: a move that blocks and makes a three at once.
    black = [(7, 5), (7, 6), (5, 7), (6, 7), (5, 5), (6, 6), (5, 9), (6, 8)]
    verdict = SCORER.score(state(black), "[7, 7]")
    assert verdict.score == 4 * 3 * 20.0
    both = state(row(5, 6), [(5, 7), (6, 7)])
    assert move_points(both, (7, 7)) == (3, 3)
    assert SCORER.score(both, '{"row": 7, "col": 7}').score == 120.0


def test_illegal_moves_score_0_and_what_is_no_move_has_no_score():
    board = state([(0, 0)], [(1, 1)])
    for value in ("[0, 0]", "(1, 1)", "[15, 0]", "[-1, 3]"):
        verdict = SCORER.score(board, value)
        assert (verdict.score, verdict.valid) == (0.0, True)
    for value in (
        "resign",
        "[1]",
        "[1, 2, 3]",
        "[1.5, 2]",
        '["a", "b"]',
        "7",
        "{}",
        "[true, 1]",
    ):
        verdict = SCORER.score(board, value)
        assert (verdict.score, verdict.valid) == (None, False), value


@pytest.mark.parametrize(
    "value", ["(7, 8)", "[7, 8]", '{"move": [7, 8]}', '{"row": 7, "col": 8}', "I play [7, 8]."]
)
def test_how_a_move_may_be_written(value):
    white = state([(7, 5), (7, 6), (7, 7)], player="white")
    assert SCORER.score(white, value).score == 20.0 * 4


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"black": [[0, 0]], "white": [[0, 0]]}, "two stones"),
        ({"black": [[0, 15]]}, "off the board"),
        ({"player": "red"}, "player"),
        ({"size": 4}, "side"),
    ],
)
def test_what_is_no_board_is_told(fields, reason):
    with pytest.raises(UsageError, match=reason):
        SCORER.read_instance({"player": "black", "black": [], "white": [], **fields})


def test_points_of_a_taken_point_are_an_error():
    with pytest.raises(UsageError, match="taken"):
        move_points(state([(3, 3)]), (3, 3))


# --- A slow, plain second implementation: lines as texts


def slow_points(board, move):
    """F and D of the board's text: ``x`` moves against ``o``, ``.`` is empty."""

    def line(down, right, stone):
        text, place = "", None
        reach = range(-len(board), len(board) + 1)
        for step in reach:
            r, c = move[0] + step * down, move[1] + step * right
            if step == 0:
                place = len(text)
                text += stone
            elif 0 <= r < len(board) and 0 <= c < len(board):
                text += board[r][c]
            else:
                text += "|"
        return text, place

    def total(stone, table):
        points = 0
        for down, right in ((0, 1), (1, 0), (1, 1), (-1, 1)):
            text, place = line(down, right, stone)
            for found in re.finditer(f"{stone}+", text):
                if found.start() <= place < found.end():
                    ends = text[found.start() - 1] + text[found.end()]
                    points += table[min(5, len(found.group()))][ends.count(".")]
        return points

    nothing = (0, 0, 0)
    self_table = [nothing, nothing, nothing, (0, 2, 3), (0, 2, 4), (0, 5, 5)]
    defense_table = [nothing, nothing, nothing, (0, 2, 3), (0, 3, 4), (0, 5, 2)]
    return total("x", self_table), total("o", defense_table)


def random_board(chance, size=15):
    """Stones in clumps and lines, so that there are rows to score."""
    board = [["."] * size for _ in range(size)]
    for _ in range(chance.randint(4, 24)):
        r, c = chance.randrange(size), chance.randrange(size)
        down, right = chance.choice(((0, 1), (1, 0), (1, 1), (-1, 1)))
        stone = chance.choice("xo")
        for step in range(chance.randint(1, 6)):
            y, x = r + step * down, c + step * right
            if 0 <= y < size and 0 <= x < size and chance.random() < 0.85:
                board[y][x] = stone
    return ["".join(line) for line in board]


def test_the_second_implementation_agrees_on_1000_random_boards():
    chance = random.Random(20260902)
    seen = Counter()
    for _ in range(1000):
        board = random_board(chance)
        points = {
            mark: [(r, c) for r in range(15) for c in range(15) if board[r][c] == mark]
            for mark in "xo."
        }
        found = state(points["x"], points["o"])
        stones = {*points["x"], *points["o"]}
        # Beside a stone there is more to score.
        near = [
            (r, c)
            for r, c in points["."]
            if any((r + i, c + j) in stones for i in (-1, 0, 1) for j in (-1, 0, 1))
        ]
        for move in chance.sample(near, min(25, len(near))):
            expected = slow_points(board, move)
            assert move_points(found, move) == expected, (board, move)
            seen[expected] += 1
    assert len(seen) > 30, seen
    assert max(sum(points) for points in seen) > 10


def test_the_best_move_is_the_best_of_all():
    chance = random.Random(3)
    for _ in range(20):
        board = random_board(chance)
        points = {
            mark: [(r, c) for r in range(15) for c in range(15) if board[r][c] == mark]
            for mark in "xo."
        }
        best = max(sum(slow_points(board, move)) for move in points["."])
        assert SCORER.best_score(state(points["x"], points["o"])) == 20.0 * best
    full = GomokuState(frozenset((r, c) for r in range(5) for c in range(5)), frozenset(), 5)
    assert SCORER.best_score(full) is None


@given(st.integers(0, 14), st.integers(0, 14), st.booleans())
def test_colours_change_places(r, c, swap):
    black, white = [(3, 3), (3, 4), (8, 8)], [(4, 4), (5, 5), (6, 6)]
    if (r, c) in black + white:
        return
    one = state(black, white, "white" if swap else "black")
    other = state(white, black, "black" if swap else "white")
    assert move_points(one, (r, c)) == move_points(other, (r, c))
