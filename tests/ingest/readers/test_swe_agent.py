"""SWE-agent: a trajectory beside its history, a demonstration, and steps alone."""

import json

import pytest

from graphstore.errors import InputError
from ingest.readers.swe_agent import SWE_AGENT
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import (
    FORMATS,
    agents,
    claimed_by,
    contents,
    edges,
    kinds,
    read_all,
    read_one,
    receivers,
)

FOLDER = FORMATS / "swe-agent"
LAMP = (FOLDER / "lamp.traj").read_bytes()
BELL = (FOLDER / "bell.traj").read_bytes()


def without(content, *keys):
    value = json.loads(content)
    return json.dumps({key: value[key] for key in value if key not in keys}).encode()


def test_a_trajectory_by_hand():
    graph = read_one(SWE_AGENT, LAMP)
    assert agents(graph) == ["environment", "primary", "user"]
    assert [agent.kind for agent in graph.agents] == ["environment", "agent", "human"]
    assert graph.agents[1].attributes["system_prompt"] == "You work at a command line."
    assert [node.name for node in graph.nodes] == [
        "environment", "user", "primary", "open", "primary", "edit", "primary", "submit",
    ]  # fmt: skip
    assert edges(graph) == [
        (0, 2, "delivered"),
        (1, 2, "delivered"),
        (2, 3, "continued"),
        (3, 4, "continued"),
        (4, 5, "continued"),
        (5, 6, "continued"),
        (6, 7, "continued"),
    ]
    assert graph.nodes[0].attributes["is_demo"] is True
    assert receivers(graph, graph.nodes[1]) == ["primary"]
    assert graph.nodes[3].content == "1:def glow(): return on\n(Open file: lamp.py)"
    assert graph.nodes[3].attributes["action"] == "open lamp.py\n"
    assert graph.nodes[7].content == "diff --git a/lamp.py b/lamp.py"
    outcome = graph.outcome
    assert outcome.termination == "submitted"
    assert outcome.answer == "diff --git a/lamp.py b/lamp.py"
    assert outcome.success is None
    assert (outcome.tokens_in, outcome.tokens_out, outcome.calls) == (900, 80, 3)
    assert outcome.cost == 0.25
    assert graph.task.description == "ISSUE: the lamp never glows."


def test_a_demonstration_with_parallel_calls_by_hand():
    graph = read_one(SWE_AGENT, BELL)
    assert agents(graph) == ["user", "main"]
    assert kinds(graph) == {"agent_message": 2, "tool_call": 2}
    assert contents(graph)[2:] == ["Found bell.py", "Found nothing"]
    assert edges(graph) == [(0, 1, "delivered"), (1, 2, "continued"), (1, 3, "continued")]
    assert graph.nodes[2].attributes["call_id"] == "c1"


def test_nothing_is_lost():
    history = json.loads(LAMP)["history"]
    actions = sum(message["role"] == "assistant" for message in history)
    prompts = sum(m["role"] != "assistant" and "ISSUE" in m["content"] for m in history)
    demos = sum(message.get("is_demo", False) for message in history)
    graph = read_one(SWE_AGENT, LAMP)
    assert len(graph.nodes) == 2 * actions + prompts + demos
    words = [message["content"] for message in history if message["role"] != "system"]
    assert set(words) <= set(contents(graph))


def test_either_part_alone():
    steps = read_one(SWE_AGENT, without(LAMP, "history"))
    assert contents(steps)[:2] == [
        "I look at the file.\n```\nopen lamp.py\n```",
        "1:def glow(): return on",
    ]
    assert len(steps.nodes) == 6
    history = read_one(SWE_AGENT, without(LAMP, "trajectory", "info"))
    assert len(history.nodes) == 8
    assert history.nodes[7].content is None
    assert history.outcome.termination is None


def test_counts_that_differ_and_zeros_that_say_nothing():
    value = json.loads(LAMP)
    del value["trajectory"][1]
    stats = dict.fromkeys(value["info"]["model_stats"], 0)
    value["info"]["model_stats"] = stats
    graph = read_one(SWE_AGENT, json.dumps(value).encode())
    assert "3 actions and the trajectory 2 steps" in graph.source.warnings[0]
    assert graph.outcome.tokens_in is None
    assert graph.outcome.cost is None


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"history": [{"role": "system", "content": "x", "agent": "a"}]}'],
)
def test_what_is_no_trajectory_is_an_error(content):
    with pytest.raises(InputError):
        read_all(SWE_AGENT, content)


@pytest.mark.parametrize("content", [LAMP, BELL])
def test_sniffing_and_damage(content):
    assert claimed_by(content) == ["swe-agent"]
    for cut in cuts(content):
        SWE_AGENT.sniff(cut)
    assert assert_survives(SWE_AGENT, content) > 0
