"""Synthetic runs from a seed: teams with an orchestrator, workers, tools and a critic."""

import random
from collections.abc import Iterator

from graphstore.builder import GraphBuilder
from graphstore.model import CollaborationGraph
from ingest.flow import FlowTracker

SEED = 7
START = 1_767_225_600_000_000_000
WORDS = [
    "check",
    "the",
    "table",
    "again",
    "and",
    "add",
    "what",
    "is",
    "missing",
    "plan",
    "result",
    "total",
    "route",
    "price",
    "note",
    "team",
    "answer",
    "because",
    "first",
    "second",
    "before",
    "after",
    "open",
    "closed",
    "compare",
    "report",
    "step",
    "source",
]


def runs(count: int, actions: int = 50, *, seed: int = SEED) -> Iterator[CollaborationGraph]:
    """Makes runs one by one.

    Args:
        count: Number of runs.
        actions: Actions of each.
        seed: Equal seeds give equal runs.
    """
    for number in range(count):
        yield run(number, actions, seed=seed)


def run(number: int, actions: int, *, seed: int = SEED) -> CollaborationGraph:
    """One run: the orchestrator asks, a worker answers, a tool is called at times."""
    random_ = random.Random(f"{seed}/{number}")
    builder = GraphBuilder(
        kind="run",
        format="benchmark",
        uri="synthetic",
        content=f"{seed}/{number}/{actions}",
        record=str(number),
    )
    builder.set_task(f"task-{number % 500}", dataset="benchmark", category=f"c{number % 7}")
    builder.set_method(f"method-{number % 6}", framework="benchmark")
    boss = builder.new_agent("boss", role="orchestrator")
    workers = [builder.new_agent(f"worker-{place}", role="solver") for place in range(3)]
    tool = builder.new_agent("search", role="tool", kind="tool")
    critic = builder.new_agent("critic", role="critic")
    flow = FlowTracker(builder)
    moment = START + number * 10_000_000_000
    speaker, asked = boss, workers[0]
    for index in range(actions):
        moment += random_.randint(1, 900) * 1_000_000
        is_tool = speaker == tool
        if speaker == boss:
            asked = random_.choice([*workers, critic])
            receiver = asked
        else:
            receiver = boss if random_.random() < 0.7 else tool
            receiver = asked if is_tool else receiver
        node = builder.add(
            "tool_call" if is_tool else "agent_message",
            builder.agent_name(speaker),
            agent=speaker,
            recipients=[receiver],
            content=" ".join(random_.choices(WORDS, k=random_.randint(8, 40))),
            round=index // 6,
            started_at=moment,
            ended_at=moment + 400_000_000,
            tokens_in=None if is_tool else random_.randint(50, 2_000),
            tokens_out=None if is_tool else random_.randint(5, 200),
            status=("error" if random_.random() < 0.05 else "ok") if is_tool else None,
        )
        flow.act(node, speaker, recipients=[receiver])
        speaker = receiver
    return builder.build()
