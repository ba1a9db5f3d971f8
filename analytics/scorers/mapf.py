"""MAPF: robots on a grid, scored by the share that reaches its goals.

Source: MASTraceBench, appendix "MAPF" (Eq. 9) and the task prompt of Figure 11: collisions
are checked after each step; robots collide on one cell or when they pass through each other;
a robot at its goal stops there, and nobody may move into it; no move leaves the map or enters
an obstacle; a plan runs for at most 30 steps. What becomes of robots that collide the paper
leaves open; here **they halt**: the step that fails is not made, and a robot that failed stands
where it stood, an obstacle to all others, and never reaches its goal. Of a collision with a
robot that still acts both halt; of a collision with one that stands for good, the mover.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from analytics.scorers.base import SCALE, Scorer, invalid, read_fields
from analytics.scorers.parsing import NOTHING, find_json
from analytics.verdicts import Verdict
from graphstore.errors import UsageError

Cell = tuple[int, int]
Failure = Literal["off the map", "obstacle", "collision", "crossing"]

STEPS = 30
"""A plan is executed for at most as many steps."""
MOVES: dict[str, Cell] = {
    "up": (-1, 0),
    "down": (1, 0),
    "left": (0, -1),
    "right": (0, 1),
    "wait": (0, 0),
    "stay": (0, 0),
}
"""Rows count from the top, columns from the left, both from 0."""
_LONGEST_SIDE = 1_000


class _RobotFields(msgspec.Struct, forbid_unknown_fields=True):
    start: Cell
    goal: Cell
    name: str | None = None


class _Fields(msgspec.Struct, forbid_unknown_fields=True):
    map: list[str]
    robots: list[_RobotFields]
    steps: int = STEPS


@dataclass(frozen=True, slots=True)
class Robot:
    """A robot with its way to go; cells are (row, column)."""

    name: str
    start: Cell
    goal: Cell


@dataclass(frozen=True, slots=True)
class MapfInstance:
    """A map and its robots.

    Attributes:
        rows: Of the map.
        columns: Of the map.
        obstacles: Cells that nobody may enter.
        robots: At least one; starts differ, and so do goals.
        steps: A plan is executed for at most as many.
    """

    rows: int
    columns: int
    obstacles: frozenset[Cell]
    robots: tuple[Robot, ...]
    steps: int = STEPS

    def is_free(self, cell: Cell) -> bool:
        """Whether a cell is on the map and no obstacle."""
        return self.on_map(cell) and cell not in self.obstacles

    def on_map(self, cell: Cell) -> bool:
        """Whether a cell is on the map."""
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a plan does.

    Attributes:
        reached: For each robot whether it is at its goal.
        failures: For each robot why it halted; None where it did not.
        paths: For each robot its cells, the start first, one more than there were steps.
    """

    reached: tuple[bool, ...]
    failures: tuple[Failure | None, ...]
    paths: tuple[tuple[Cell, ...], ...]

    @property
    def share(self) -> float:
        """Robots at their goals over all robots, between 0 and 1 (Eq. 9)."""
        return sum(self.reached) / len(self.reached)


def simulate(instance: MapfInstance, plans: Sequence[Sequence[str]]) -> Simulation:
    """Executes a joint plan.

    A robot whose plan has ended waits; what stands in a plan after the last step, or after
    its robot has reached the goal, is not executed.

    Args:
        instance: Map and robots.
        plans: Actions (keys of :data:`MOVES`) for each robot, in the order of the robots.

    Raises:
        UsageError: There is not one plan for each robot, or an action is unknown.
    """
    if len(plans) != len(instance.robots):
        raise UsageError(f"{len(plans)} plans for {len(instance.robots)} robots")
    for robot, plan in zip(instance.robots, plans, strict=True):
        unknown = next((action for action in plan if action not in MOVES), None)
        if unknown is not None:
            raise UsageError(f"the plan of robot {robot.name} has an action {unknown!r}")
    at = [robot.start for robot in instance.robots]
    reached = [robot.start == robot.goal for robot in instance.robots]
    failures: list[Failure | None] = [None] * len(at)
    paths = [[cell] for cell in at]
    for step in range(instance.steps):
        moving = [i for i in range(len(at)) if not reached[i] and failures[i] is None]
        if not any(step < len(plans[i]) for i in moving):
            break
        wanted = list(at)
        for i in moving:
            if step < len(plans[i]):
                down, right = MOVES[plans[i][step]]
                wanted[i] = (at[i][0] + down, at[i][1] + right)
        _settle(instance, at, wanted, failures, reached)
        at = wanted
        for i, cell in enumerate(at):
            paths[i].append(cell)
            if failures[i] is None and cell == instance.robots[i].goal:
                reached[i] = True
    return Simulation(tuple(reached), tuple(failures), tuple(tuple(path) for path in paths))


def _settle(
    instance: MapfInstance,
    at: list[Cell],
    wanted: list[Cell],
    failures: list[Failure | None],
    reached: list[bool],
) -> None:
    """Halts robots until what is left of the step breaks no rule.

    A halted robot takes back its old cell, which can be in the way of the next one; each
    round halts all that collide, so that the order of the robots does not matter.
    """
    halting: dict[int, Failure] = {}
    for i, cell in enumerate(wanted):
        if not instance.on_map(cell):
            halting[i] = "off the map"
        elif cell in instance.obstacles:
            halting[i] = "obstacle"
    while True:
        for i, failure in halting.items():
            failures[i], wanted[i] = failure, at[i]
        halting = {}
        together: dict[Cell, list[int]] = {}
        for i, cell in enumerate(wanted):
            together.setdefault(cell, []).append(i)
        left = {cell: i for i, cell in enumerate(at)}
        for cell, robots in together.items():
            for i in robots:
                if failures[i] is not None or reached[i]:
                    continue
                other = left.get(cell)
                if len(robots) > 1:
                    halting[i] = "collision"
                elif other is not None and other != i and wanted[other] == at[i]:
                    halting[i] = "crossing"
        if not halting:
            return


class MapfScorer(Scorer):
    """The share of robots that reach their goals, times 100."""

    name = "mapf"
    title = "Multi-agent path finding: robots at their goals"

    def read_instance(self, fields: Mapping[str, Any]) -> MapfInstance:
        """``map``: rows of ``.`` and ``#``; ``robots``: starts and goals as [row, column]."""
        given = read_fields(fields, _Fields)
        columns = len(given.map[0]) if given.map else 0
        if not columns or any(len(row) != columns for row in given.map):
            raise UsageError("the rows of the map must have one length, above 0")
        if max(len(given.map), columns) > _LONGEST_SIDE:
            raise UsageError(f"a side of the map is longer than {_LONGEST_SIDE} cells")
        if set("".join(given.map)) - {".", "#"}:
            raise UsageError("a map is made of . (free) and # (obstacle)")
        if not 0 < given.steps <= 10_000:
            raise UsageError("steps lie between 1 and 10,000")
        instance = MapfInstance(
            rows=len(given.map),
            columns=columns,
            obstacles=frozenset(
                (row, column)
                for row, line in enumerate(given.map)
                for column, mark in enumerate(line)
                if mark == "#"
            ),
            robots=tuple(
                Robot(robot.name or str(place), robot.start, robot.goal)
                for place, robot in enumerate(given.robots)
            ),
            steps=given.steps,
        )
        _check(instance)
        return instance

    def score(self, instance: MapfInstance, value: str) -> Verdict:
        """A plan is JSON: actions by robot name, or a list of them in the robots' order."""
        plans = _plans(instance, value)
        if isinstance(plans, str):
            return invalid(plans)
        return Verdict(SCALE * simulate(instance, plans).share, True)

    def normal_form(self, instance: MapfInstance, value: str) -> str:
        """The actions of all robots in their order."""
        return str(_plans(instance, value))


def _check(instance: MapfInstance) -> None:
    if not instance.robots:
        raise UsageError("there is no robot")
    for what, kept in (
        ("name", [robot.name for robot in instance.robots]),
        ("start", [robot.start for robot in instance.robots]),
        ("goal", [robot.goal for robot in instance.robots]),
    ):
        if len(set(kept)) < len(kept):
            raise UsageError(f"two robots have the same {what}")
    for robot in instance.robots:
        for what, cell in (("start", robot.start), ("goal", robot.goal)):
            if not instance.is_free(cell):
                raise UsageError(
                    f"the {what} of robot {robot.name} is off the map or an obstacle"
                )


def _plans(instance: MapfInstance, value: str) -> list[list[str]] | str:
    """Actions for each robot, or what is wrong with them."""
    found = find_json(value)
    if isinstance(found, dict) and len(found) == 1 and "plan" in found:
        found = found["plan"]
    names = [robot.name for robot in instance.robots]
    if found is NOTHING:
        return "it holds no JSON"
    if isinstance(found, dict):
        if set(found) != set(names):
            return f"it does not hold one plan for each of the robots {', '.join(names)}"
        found = [found[name] for name in names]
    if not isinstance(found, list) or len(found) != len(names):
        return f"it does not hold {len(names)} plans"
    plans = []
    for name, plan in zip(names, found, strict=True):
        if not isinstance(plan, list):
            return f"the plan of robot {name} is no list"
        actions = [one.strip().lower() if isinstance(one, str) else "" for one in plan]
        if any(action not in MOVES for action in actions):
            return f"the plan of robot {name} holds something that is no action"
        plans.append(actions)
    return plans
