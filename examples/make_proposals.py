"""Plays planners of robot routes and writes what they proposed: ``make_proposals.py``.

Three kinds of team plan ways for robots on small maps: one planner alone, three that debate
and vote, and three that take their plans apart into claims which the others endorse or
challenge (the idea of CLEARS, MASTraceBench). Nobody here is a language model: each plans one
robot after the other around those it has planned, and slips now and then. The proposals are
real plans, and nothing here scores them: that is what ``masgraph trajectories`` is for.

The same seed gives the same bytes. ``--check`` writes nothing and compares.
"""

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from analytics.scorers.mapf import STEPS, MapfInstance, MapfScorer, simulate  # noqa: E402

SEED = 11
REPETITIONS = 3
DATASET = "masgraph-routes"
FRAMEWORK = "masgraph-examples"
CHARACTERS_A_TOKEN = 4
WORDS = {(0, 0): "wait", (-1, 0): "up", (1, 0): "down", (0, -1): "left", (0, 1): "right"}

# Letters are starts, the same letters in lower case goals.
MAPS = {
    "crossroads": ("..A..", "#.#.#", "B...b", "#.#.#", "..a.."),
    "swap-with-bay": ("####.####", "A.b....aB", "#########"),
    "narrow-gate": ("Aa...", "##.##", "b.C.B", "##.##", "..c.."),
    "two-lanes": ("A...b", ".###.", "B...a"),
    "ring": ("A.B.b", ".###.", "C.c.a"),
    "courtyard": ("A....a", ".#..#.", "B.....", ".#..#b", "C....c"),
    "long-corridor": ("A......b", "###..###", "B......a"),
    "market": ("A.#.b.", ".....#", "#.C...", "B.#..a", "...c#."),
    "four-corners": ("A...B", ".....", "c.#.d", ".....", "D...C", "b...a"),
    "stairs": ("A.###", "..b##", "#B..#", "##..a", "###c.", "C...."),
    "plaza": ("A.B.C", "..#..", "d...D", "..#..", "c.b.a"),
    "shelves": ("A.....d", ".#.#.#.", "B.....c", ".#.#.#.", "C.....b", ".#.#.#.", "D.....a"),
}


@dataclass(frozen=True)
class Planner:
    """Somebody who plans.

    Attributes:
        name: Its name.
        order: Which robots it plans first: ``given``, ``reversed`` or ``near``.
        slip: How often it forgets the other robots when it plans one.
        notices: How often it sees that a robot does not arrive in somebody's plan.
    """

    name: str
    order: str
    slip: float
    notices: float


SOLO = Planner("Solo", "given", 0.45, 0.0)
THREE = (
    Planner("Ada", "given", 0.5, 0.75),
    Planner("Ben", "reversed", 0.4, 0.6),
    Planner("Cleo", "near", 0.45, 0.7),
)
Cell = tuple[int, int]
Plan = dict[str, list[str]]


def instance_fields(rows: tuple[str, ...]) -> dict:
    """The map and its robots as the scorer reads them."""
    places = {mark: (r, c) for r, row in enumerate(rows) for c, mark in enumerate(row)}
    names = sorted(mark for mark in places if mark.isupper())
    return {
        "map": ["".join("#" if mark == "#" else "." for mark in row) for row in rows],
        "robots": [
            {"name": name, "start": list(places[name]), "goal": list(places[name.lower()])}
            for name in names
        ],
    }


def way(
    instance: MapfInstance, start: Cell, goal: Cell, others: list[list[Cell]]
) -> list[Cell] | None:
    """A shortest way in space and time that meets no other; None where there is none."""

    def at(path: list[Cell], time: int) -> Cell:
        return path[min(time, len(path) - 1)]

    frontier: dict[Cell, tuple[Cell, ...]] = {start: (start,)}
    for time in range(STEPS + 1):
        if goal in frontier and all(
            goal != at(path, later) for path in others for later in range(time, STEPS + 1)
        ):
            return list(frontier[goal])
        following: dict[Cell, tuple[Cell, ...]] = {}
        for cell, path in frontier.items():
            for down, right in WORDS:
                near = (cell[0] + down, cell[1] + right)
                if not instance.is_free(near) or near in following:
                    continue
                if any(
                    at(other, time + 1) == near
                    or (at(other, time + 1) == cell and at(other, time) == near)
                    for other in others
                ):
                    continue
                following[near] = (*path, near)
        frontier = following
    return None


def propose(instance: MapfInstance, planner: Planner, chance: random.Random) -> Plan:
    """A plan for all robots, one after the other."""
    robots = list(instance.robots)
    if planner.order == "reversed":
        robots.reverse()
    elif planner.order == "near":
        robots.sort(
            key=lambda one: abs(one.start[0] - one.goal[0]) + abs(one.start[1] - one.goal[1])
        )
    planned: list[list[Cell]] = []
    plan: Plan = {}
    for robot in robots:
        known = [] if chance.random() < planner.slip else planned
        path = way(instance, robot.start, robot.goal, known) or [robot.start]
        planned.append(path)
        plan[robot.name] = [
            WORDS[(there[0] - here[0], there[1] - here[1])] for here, there in pairwise(path)
        ]
    return {robot.name: plan[robot.name] for robot in instance.robots}


def arrivals(instance: MapfInstance, plan: Plan) -> dict[str, bool]:
    """Who really arrives."""
    found = simulate(instance, [plan[robot.name] for robot in instance.robots])
    return {robot.name: ok for robot, ok in zip(instance.robots, found.reached, strict=True)}


class Run:
    """A run as it is written down."""

    def __init__(self, task: str, question: str, method: str, repetition: int) -> None:
        self.record = {
            "masgraph": 1,
            "kind": "run",
            "id": f"{task}-{method}-{repetition}".replace(" ", "-"),
            "name": f"{task}, {method}, run {repetition}",
            "task": {"name": task, "description": question, "dataset": DATASET},
            "method": {"name": method, "framework": FRAMEWORK},
            "agents": [{"name": "User", "role": "human", "kind": "human"}],
            "actions": [],
            "proposals": [],
        }
        self.read: Counter[str] = Counter()

    def join(self, name: str, role: str) -> None:
        """Somebody takes part."""
        self.record["agents"].append({"name": name, "role": role})

    def say(self, agent: str, text: str, *to: str, round: int, **attributes: list) -> str:
        """Somebody says something; returns the action's id."""
        place = str(len(self.record["actions"]))
        size = -(-len(text) // CHARACTERS_A_TOKEN)
        action = {"id": place, "agent": agent, "to": list(to), "content": text, "round": round}
        if agent != "User":
            action |= {"tokens_in": self.read[agent], "tokens_out": size}
        if attributes:
            action["attributes"] = attributes
        self.record["actions"].append(action)
        for name in (agent, *to):
            self.read[name] += size
        return place

    def offer(self, phase: str, agent: str | None, node: str, plan: Plan) -> None:
        """A plan is put forward."""
        proposal = {"unit": "plan", "phase": phase, "node": node, "value": written(plan)}
        if agent is not None:
            proposal["agent"] = agent
        self.record["proposals"].append(proposal)


def written(plan: Plan) -> str:
    """A plan as an agent writes it."""
    return json.dumps(plan, separators=(",", ":"))


def play_single(run: Run, instance: MapfInstance, chance: random.Random) -> None:
    """One planner, one plan."""
    run.join(SOLO.name, "solver")
    run.say("User", run.record["task"]["description"], SOLO.name, round=0)
    plan = propose(instance, SOLO, chance)
    node = run.say(SOLO.name, f"My plan: {written(plan)}", "User", round=0)
    for phase in ("initial", "final"):
        run.offer(phase, SOLO.name, node, plan)
    run.offer("answer", None, node, plan)


def first_round(run: Run, instance: MapfInstance, chance: random.Random) -> dict[str, Plan]:
    """All three plan without seeing each other."""
    names = [planner.name for planner in THREE]
    for name in names:
        run.join(name, "proposer")
    run.say("User", run.record["task"]["description"], *names, round=0)
    return {planner.name: propose(instance, planner, chance) for planner in THREE}


def play_debate(run: Run, instance: MapfInstance, chance: random.Random) -> None:
    """Three plan, look at all plans, keep or take over one, and vote."""
    plans = first_round(run, instance, chance)
    run.join("Teller", "aggregator")
    for name, plan in plans.items():
        others = [other for other in plans if other != name]
        node = run.say(name, f"My plan: {written(plan)}", *others, round=0)
        run.offer("initial", name, node, plan)
    finals = {}
    for planner in THREE:
        seen = {
            name: sum(
                not arrives and chance.random() < planner.notices
                for arrives in arrivals(instance, plan).values()
            )
            for name, plan in plans.items()
        }
        best = min(plans, key=lambda name: (seen[name], name != planner.name, name))
        finals[planner.name] = plans[best]
        own = best == planner.name
        reason = "I keep my plan" if own else f"I take over the plan of {best}"
        text = f"I see {seen[planner.name]} robots of mine go wrong. {reason}: "
        node = run.say(planner.name, text + written(plans[best]), "Teller", round=1)
        run.offer("final", planner.name, node, plans[best])
    votes = Counter(written(plan) for plan in finals.values())
    winner = max(finals.values(), key=lambda plan: votes[written(plan)])
    text = f"{votes[written(winner)]} of 3 vote for {written(winner)}"
    run.offer("answer", None, run.say("Teller", text, "User", round=2), winner)


def play_claims(run: Run, instance: MapfInstance, chance: random.Random) -> None:
    """Three plan, judge each robot's way in the others' plans, and one puts it together."""
    plans = first_round(run, instance, chance)
    run.join("Weaver", "aggregator")
    for name, plan in plans.items():
        others = [other for other in plans if other != name]
        claims = [
            {"id": f"{name}-{robot}", "text": f"Robot {robot} arrives after step {len(steps)}."}
            for robot, steps in plan.items()
        ]
        text = f"My plan: {written(plan)}"
        node = run.say(name, text, *others, "Weaver", round=0, claims=claims)
        for phase in ("initial", "final"):
            run.offer(phase, name, node, plan)
    balance: Counter[str] = Counter()
    challenged: Counter[str] = Counter()
    for planner in THREE:
        endorses, challenges = [], []
        for name, plan in plans.items():
            if name == planner.name:
                continue
            for robot, arrives in arrivals(instance, plan).items():
                if arrives:
                    endorses.append(f"{name}-{robot}")
                elif chance.random() < planner.notices:
                    challenges.append(f"{name}-{robot}")
        balance.update(endorses)
        balance.subtract(challenges)
        challenged.update(challenges)
        text = f"I endorse {', '.join(endorses) or 'none'}; I challenge {len(challenges)}."
        run.say(planner.name, text, "Weaver", round=1, endorses=endorses, challenges=challenges)
    base = max(plans, key=lambda name: sum(balance[f"{name}-{r}"] for r in plans[name]))
    answer = dict(plans[base])
    for robot in answer:
        if challenged[f"{base}-{robot}"]:
            better = max(plans, key=lambda name: balance[f"{name}-{robot}"])
            answer[robot] = plans[better][robot]
    text = f"I start from the plan of {base} and mend what was challenged: {written(answer)}"
    run.offer("answer", None, run.say("Weaver", text, "User", round=2), answer)


TEAMS = {"one planner": play_single, "plan debate": play_debate, "claims": play_claims}


def make_files(seed: int = SEED) -> dict[str, bytes]:
    """The runs and the tasks, by path below this folder."""
    runs, tasks = [], []
    scorer = MapfScorer()
    for task, rows in MAPS.items():
        fields = instance_fields(rows)
        instance = scorer.read_instance(fields)
        tasks.append(
            {"task": task, "dataset": DATASET, "scorer": scorer.name, "instance": fields}
        )
        ways = "; ".join(
            f"{one['name']} from {one['start']} to {one['goal']}" for one in fields["robots"]
        )
        question = (
            "Plan ways for robots on this map:\n" + "\n".join(fields["map"]) + f"\n{ways}"
        )
        for method, play in TEAMS.items():
            for repetition in range(1, REPETITIONS + 1):
                chance = random.Random(f"{seed}/{task}/{method}/{repetition}")
                run = Run(task, question, method, repetition)
                play(run, instance, chance)
                runs.append(run.record)
    return {
        "proposals/runs.jsonl": _lines(runs),
        "proposals/tasks.jsonl": _lines(tasks),
    }


def _lines(records: list[dict]) -> bytes:
    return "".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in records).encode()


def main(arguments: list[str] | None = None) -> int:
    """Runs the script; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seed", type=int, default=SEED, help="the planners' source of chance")
    parser.add_argument("--out", type=Path, default=HERE, help="the folder to write to")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args(arguments)
    files = make_files(options.seed)
    if options.check:
        differing = [
            name
            for name, content in files.items()
            if not (options.out / name).is_file()
            or (options.out / name).read_bytes() != content
        ]
        print("\n".join(f"{name} differs or is missing" for name in differing) or "all as made")
        return 1 if differing else 0
    for name, content in files.items():
        path = options.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        print(f"{len(content):,} bytes in {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
