import json
import random
from collections import Counter, deque
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.scorers.mapf import MOVES, MapfScorer, simulate
from graphstore.errors import UsageError

SCORER = MapfScorer()


def instance(map, *robots, **more):
    return SCORER.read_instance(
        {
            "map": map,
            "robots": [{"start": list(start), "goal": list(goal)} for start, goal in robots],
            **more,
        }
    )


def outcome(instance, *plans):
    found = simulate(instance, [plan.split() for plan in plans])
    return found.reached, found.failures


ROOM = ["...", "...", "..."]


def test_two_of_three_robots_arrive():
    found = instance(ROOM, ((0, 0), (0, 2)), ((2, 0), (2, 1)), ((1, 0), (1, 2)))
    plan = json.dumps({"0": ["right", "right"], "1": ["Right "], "2": ["wait"]})
    verdict = SCORER.score(found, plan)
    assert verdict.score == pytest.approx(200 / 3)
    assert verdict.valid is True
    assert SCORER.best_score(found) == 100.0


def test_each_rule_by_hand():
    # One cell at one time: both halt, and where they halt they stay in the way.
    both = instance(ROOM, ((0, 0), (0, 1)), ((0, 2), (2, 2)))
    assert outcome(both, "right", "left left") == ((False, False), ("collision", "collision"))
    # Through each other.
    swap = instance(["..", ".."], ((0, 0), (0, 1)), ((0, 1), (0, 0)))
    assert outcome(swap, "right", "left") == ((False, False), ("crossing", "crossing"))
    # In a circle nobody passes through anybody.
    ring = instance(
        ["..", ".."],
        ((0, 0), (0, 1)),
        ((0, 1), (1, 1)),
        ((1, 1), (1, 0)),
        ((1, 0), (0, 0)),
    )
    assert outcome(ring, "right", "down", "left", "up")[0] == (True,) * 4
    # Into a robot that has arrived: only the mover halts.
    goal = instance(ROOM, ((0, 0), (0, 1)), ((0, 2), (0, 0)))
    assert outcome(goal, "right", "wait left") == ((True, False), (None, "collision"))
    # Into a robot that waits: both halt.
    waits = instance(ROOM, ((0, 0), (2, 2)), ((0, 1), (0, 0)))
    assert outcome(waits, "", "left") == ((False, False), ("collision", "collision"))
    # Off the map, and into an obstacle; what follows is not executed.
    walls = instance(["..#", "..."], ((0, 0), (0, 1)), ((0, 1), (1, 1)))
    assert outcome(walls, "up right", "right down") == (
        (False, False),
        ("off the map", "obstacle"),
    )


def test_who_halts_is_in_the_way_of_who_follows():
    # The first leaves the map, so the second, which follows it, runs into it.
    line = instance(["..."], ((0, 0), (0, 2)), ((0, 1), (0, 0)))
    assert outcome(line, "left", "left") == ((False, False), ("off the map", "collision"))
    # Without that the second takes the place of the first.
    row = instance(["....", "...."], ((0, 0), (1, 0)), ((0, 1), (0, 0)))
    assert outcome(row, "down", "left") == ((True, True), (None, None))


def test_a_robot_at_its_goal_stops_and_some_start_there():
    there = instance(ROOM, ((0, 0), (0, 0)), ((2, 0), (2, 1)))
    found = simulate(there, [["right", "right"], ["right", "right"]])
    assert found.reached == (True, True)
    assert found.paths == (((0, 0), (0, 0)), ((2, 0), (2, 1)))


def test_no_more_steps_than_allowed():
    far = instance(["." * 40], ((0, 0), (0, 31)))
    assert outcome(far, "right " * 31)[0] == (False,)
    near = instance(["." * 40], ((0, 0), (0, 30)))
    assert outcome(near, "right " * 31)[0] == (True,)
    assert outcome(instance(["..."], ((0, 0), (0, 2)), steps=1), "right right")[0] == (False,)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("up, up", "no JSON"),
        ("[[]]", "2 plans"),
        ('{"0": [], "2": []}', "each of the robots 0, 1"),
        ('{"0": [], "1": ["fly"]}', "robot 1"),
        ('{"0": [], "1": [3]}', "robot 1"),
        ('{"0": [], "1": "up"}', "no list"),
    ],
)
def test_what_is_no_plan_has_no_score(value, reason):
    found = instance(ROOM, ((0, 0), (0, 1)), ((1, 0), (1, 1)))
    verdict = SCORER.score(found, value)
    assert (verdict.score, verdict.valid) == (None, False)
    assert reason in verdict.reason


def test_a_plan_stands_in_sentences_or_a_list_or_under_plan():
    found = instance(ROOM, ((0, 0), (0, 1)), ((1, 0), (1, 1)))
    for value in (
        '[["right"], ["right"]]',
        'I think [1] so:\n```json\n{"0": ["right"], "1": ["right"]}\n```\nDone [2].',
        'My plan is {"plan": {"0": ["right"], "1": ["RIGHT"]}}.',
    ):
        assert SCORER.score(found, value).score == 100.0


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"map": [], "robots": []}, "one length"),
        ({"map": ["..", "."], "robots": []}, "one length"),
        ({"map": ["ab"], "robots": []}, "made of"),
        ({"map": [".."], "robots": []}, "no robot"),
        ({"map": [".#"], "robots": [{"start": [0, 0], "goal": [0, 1]}]}, "goal of robot 0"),
        ({"map": [".."], "robots": [{"start": [0, 2], "goal": [0, 1]}]}, "start of robot 0"),
        ({"map": [".."], "robots": [{"start": [0], "goal": [0, 1]}]}, "start"),
        ({"map": [".."], "robots": [{"start": [0, 0], "goal": [0, 1]}] * 2}, "same start"),
        ({"map": [".."]}, "robots"),
        ({"map": [".."], "robots": [], "stps": 3}, "stps"),
        (
            {"map": [".."], "robots": [{"start": [0, 0], "goal": [0, 1]}], "steps": 0},
            "steps",
        ),
    ],
)
def test_what_is_no_instance_is_told(fields, reason):
    with pytest.raises(UsageError, match=reason):
        SCORER.read_instance(fields)


def test_plans_that_do_not_fit_the_robots():
    found = instance(ROOM, ((0, 0), (0, 1)))
    with pytest.raises(UsageError, match="2 plans for 1 robots"):
        simulate(found, [[], []])
    with pytest.raises(UsageError, match="'fly'"):
        simulate(found, [["fly"]])


# --- A slow, plain second implementation


def slow_simulation(rows, robots, plans, steps):
    """Pairs of robots, one at a time, in complex numbers: real part right, imaginary down."""
    free = {
        complex(column, row)
        for row, line in enumerate(rows)
        for column, mark in enumerate(line)
        if mark == "."
    }
    every = {
        complex(column, row) for row, line in enumerate(rows) for column, _ in enumerate(line)
    }
    by_word = {"up": -1j, "down": 1j, "left": -1, "right": 1, "wait": 0, "stay": 0}
    here = {name: complex(start[1], start[0]) for name, (start, _) in robots.items()}
    goal = {name: complex(end[1], end[0]) for name, (_, end) in robots.items()}
    arrived = {name for name in robots if here[name] == goal[name]}
    halted = {}
    for step in range(steps):
        there = {}
        for name in robots:
            acts = name not in arrived and name not in halted and step < len(plans[name])
            there[name] = here[name] + (by_word[plans[name][step]] if acts else 0)
        bad = {name: "obstacle" for name in robots if there[name] not in free}
        bad |= {name: "off the map" for name in robots if there[name] not in every}
        while True:
            for name in bad:
                halted[name], there[name] = bad[name], here[name]
            bad = {}
            for name, other in permutations(robots, 2):
                if name in arrived or name in halted or bad.get(name) == "collision":
                    continue
                if there[other] == there[name]:
                    bad[name] = "collision"
                elif (here[name], there[name]) == (there[other], here[other]):
                    bad[name] = "crossing"
            if not bad:
                break
        here = there
        arrived |= {n for n in robots if n not in halted and here[n] == goal[n]}
    return arrived, halted, here


def shortest(rows, start, goal):
    """One shortest way over the map, without regard to others; None where there is none."""
    words = {(-1, 0): "up", (1, 0): "down", (0, -1): "left", (0, 1): "right"}
    came, queue = {start: None}, deque([start])
    while queue:
        cell = queue.popleft()
        for (down, right), word in words.items():
            near = (cell[0] + down, cell[1] + right)
            inside = 0 <= near[0] < len(rows) and 0 <= near[1] < len(rows[0])
            if inside and rows[near[0]][near[1]] == "." and near not in came:
                came[near] = (cell, word)
                queue.append(near)
    if goal not in came:
        return []
    plan = []
    while came[goal] is not None:
        goal, word = came[goal]
        plan.append(word)
    return plan[::-1]


def random_case(chance):
    height, width = chance.randint(1, 6), chance.randint(2, 6)
    rows = [
        "".join("#" if chance.random() < 0.15 else "." for _ in range(width))
        for _ in range(height)
    ]
    free = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "."]
    if len(free) < 2:
        return random_case(chance)
    count = chance.randint(1, min(5, len(free)))
    starts, goals = chance.sample(free, count), chance.sample(free, count)
    robots = {str(i): pair for i, pair in enumerate(zip(starts, goals, strict=True))}
    plans = {}
    for name, (start, goal) in robots.items():
        plan = shortest(rows, start, goal)
        for _ in range(chance.choice((0, 0, 1, 2, 4))):
            place = chance.randint(0, len(plan))
            plan[place:place] = [chance.choice(list(MOVES))]
        plans[name] = plan
    return rows, robots, plans, chance.choice((30, 30, 3))


def test_the_second_implementation_agrees_on_2000_random_maps():
    chance = random.Random(20260901)
    seen = Counter()
    for _ in range(2000):
        rows, robots, plans, steps = random_case(chance)
        found = simulate(
            instance(rows, *robots.values(), steps=steps), [plans[name] for name in robots]
        )
        arrived, halted, here = slow_simulation(rows, robots, plans, steps)
        assert found.reached == tuple(name in arrived for name in robots)
        assert found.failures == tuple(halted.get(name) for name in robots)
        assert [path[-1] for path in found.paths] == [
            (int(here[name].imag), int(here[name].real)) for name in robots
        ]
        seen.update(found.failures)
        seen.update(found.reached)
    # The cases are not all of one kind.
    for kind in ("off the map", "obstacle", "collision", "crossing", None, True, False):
        assert seen[kind] > 100, seen


@given(st.integers(0, 2**32))
def test_the_order_of_the_robots_does_not_matter(seed):
    chance = random.Random(seed)
    rows, robots, plans, steps = random_case(chance)
    names = list(robots)
    chance.shuffle(names)
    found = simulate(instance(rows, *robots.values(), steps=steps), list(plans.values()))
    again = simulate(
        instance(rows, *(robots[name] for name in names), steps=steps),
        [plans[name] for name in names],
    )
    assert [found.failures[int(name)] for name in names] == list(again.failures)
    assert [found.reached[int(name)] for name in names] == list(again.reached)


@given(st.integers(0, 2**32))
def test_no_two_robots_ever_share_a_cell(seed):
    rows, robots, plans, steps = random_case(random.Random(seed))
    found = simulate(instance(rows, *robots.values(), steps=steps), list(plans.values()))
    for cells in zip(*found.paths, strict=True):
        assert len(set(cells)) == len(cells)
        assert all(rows[row][column] == "." for row, column in cells)


@given(st.text(max_size=60))
def test_any_text_gets_a_verdict(value):
    found = instance(ROOM, ((0, 0), (0, 1)))
    verdict = SCORER.score(found, value)
    assert (verdict.score is None) == (verdict.valid is False)
