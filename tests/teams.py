"""Sizeable runs of simulated teams, for studies that need many graphs with known shapes."""

import random

from graphstore.builder import GraphBuilder
from graphstore.model import CollaborationGraph, Outcome

SPECIALISTS = ("solver", "specialist", "proposer")


def team_run(task: int, repetition: int, rounds: int = 8) -> CollaborationGraph:
    """A planner hands out work, specialists use tools, a critic reads all, round by round.

    Every content is said once, so that repetition is only what an edit brings.

    Args:
        task: Number of the task: it decides how wide the team is.
        repetition: Number of the run: it decides who uses a tool.
        rounds: Rounds of work; some six actions each.
    """
    chance = random.Random(task * 1_000 + repetition)
    builder = GraphBuilder(
        kind="run", format="test", uri="u", content=f"{task}", record=f"{repetition}"
    )
    builder.set_task(f"task {task}", dataset="synthetic")
    builder.set_method("rounds")
    planner = builder.new_agent("Ann", role="planner")
    critic = builder.new_agent("Cy", role="critic")
    width = 2 + task % 3
    workers = [
        builder.new_agent(f"W{place}", role=SPECIALISTS[place % 3]) for place in range(width)
    ]
    tool = builder.new_agent("search", role="tool", kind="tool")
    said = 0

    def act(kind: str, agent: int, to: list[int], sources: list[int]) -> int:
        nonlocal said
        said += 1
        place = builder.add(
            kind,
            "acts",
            agent=agent,
            recipients=to,
            delivery="explicit" if to else None,
            content=f"sentence {said} of run {repetition} of task {task}",
        )
        for source in sources:
            builder.edge(source, place, "explicit")
        return place

    last: list[int] = []
    for number in range(rounds):
        plan = act("decision", planner, workers, last)
        results = []
        for worker in workers:
            step = act("agent_message", worker, [tool], [plan])
            if chance.random() < 0.4:
                answer = act("tool_call", tool, [worker], [step])
                step = act("agent_message", worker, [critic], [step, answer])
            results.append(step)
        verdict = act("agent_message", critic, [planner], results)
        last = [verdict] if number % 2 else [verdict, *results[:1]]
    act("decision", planner, [], last)
    builder.outcome = Outcome(success=chance.random() < 0.5)
    return builder.build()


def team_runs(
    tasks: int = 20, repetitions: int = 2, rounds: int = 8
) -> list[CollaborationGraph]:
    """Runs of many tasks, some 40 to 60 actions each with eight rounds."""
    return [
        team_run(task, repetition, rounds)
        for task in range(tasks)
        for repetition in range(repetitions)
    ]
