"""tau-bench: results, tau2 results and few-shot examples."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import Rejection
from ingest.readers.tau_bench import TAU_BENCH, _shown_messages
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import (
    FORMATS,
    agents,
    claimed_by,
    contents,
    edges,
    read_all,
    read_one,
    receivers,
    tokens,
)

FOLDER = FORMATS / "tau-bench"
RESULTS = (FOLDER / "passes.json").read_bytes()
FEW_SHOT = (FOLDER / "few-shot.jsonl").read_bytes()
TAU2 = (FOLDER / "hours.tau2.json").read_bytes()


def graphs(content):
    found = read_all(TAU_BENCH, content)
    assert all(isinstance(graph, CollaborationGraph) for graph in found)
    return found


def result(*messages, **fields):
    trial = {"task_id": 5, "reward": 0.5, "info": {}, "traj": list(messages), **fields}
    return json.dumps([trial]).encode()


def test_two_trials_by_hand():
    renewed, refused = graphs(RESULTS)
    assert [g.source.record for g in (renewed, refused)] == [
        "task 0, trial 0",
        "task 1, trial 0",
    ]
    assert agents(renewed) == ["assistant", "user"]
    prompt = "Be brief and check the pass first."
    assert renewed.agents[0].attributes["system_prompt"] == prompt
    assert [node.name for node in renewed.nodes] == [
        "user", "get_pass", "assistant", "renew_pass", "assistant", "user",
    ]  # fmt: skip
    assert edges(renewed) == [
        (0, 1, "delivered"),
        (1, 2, "continued"),
        (2, 3, "continued"),
        (3, 4, "continued"),
        (4, 5, "delivered"),
    ]
    assert [receivers(renewed, node) for node in renewed.nodes] == [
        ["assistant"], [], [], [], ["user"], ["assistant"],
    ]  # fmt: skip
    assert renewed.nodes[3].content == "renewed for 12 months"
    assert json.loads(renewed.nodes[3].attributes["arguments"]) == {"pass_id": "P7"}
    assert (renewed.outcome.success, renewed.outcome.score) == (True, 1.0)
    assert renewed.outcome.expected == '["12"]'
    assert renewed.outcome.cost is None
    assert renewed.attributes["user_cost"] == 0.002
    assert (refused.outcome.success, refused.outcome.score) == (False, 0.0)
    assert refused.nodes[1].status == "error"
    assert renewed.task.name == "0 (ida_holm_11)"
    assert renewed.task.id != refused.task.id


def test_few_shot_examples_by_hand():
    bike, lock = graphs(FEW_SHOT)
    assert contents(bike) == [
        "Hi, where is my bike?",
        "May I have its number?",
        "It is 81.",
        '{"place": "north gate"}',
        "At the north gate:\n\nask the guard.",
        "###STOP###",
    ]
    assert bike.nodes[3].name == "unknown tool"
    assert len(edges(bike)) == 5
    assert contents(lock)[1:] == ["I will call somebody.", "Transfer successful"]
    assert receivers(lock, lock.nodes[1]) == []
    assert lock.outcome.success is None


def parted_by_lines(text):
    """Role and content of each message of a few-shot example, line by line."""
    said = [(None, [])]
    for line in text.split("\n"):
        role, colon, rest = line.partition(":")
        if colon and role in ("system", "user", "assistant", "tool"):
            said.append((role, [rest.removeprefix(" ")]))
        else:
            said[-1][1].append(line)
    before, *messages = [(role, "\n".join(lines)) for role, lines in said]
    if messages:
        messages[-1] = (messages[-1][0], messages[-1][1].removesuffix("\n"))
    if messages and before[1].strip():
        messages.insert(0, (None, before[1] + "\n"))
    return messages


PIECES = [
    "user",
    "assistant",
    "tool",
    "system",
    ":",
    ": ",
    " ",
    "\n",
    "\n\n",
    "\r",
    "word",
    "None",
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_few_shot_texts_are_parted_like_their_lines(text):
    parted = [
        (one.get("role"), "None" if one["content"] is None else one["content"])
        for one in _shown_messages(text)
    ]
    assert parted == parted_by_lines(text)


def test_a_tau2_simulation_by_hand():
    (graph,) = graphs(TAU2)
    assert contents(graph) == ["Hello!", "When do you open?", "09:00", "At nine."]
    assert tokens(graph) == (50 + 90 + 110, 5 + 8 + 4)
    assert graph.nodes[2].status == "ok"
    assert graph.nodes[2].attributes["arguments"] == '{"day":"today"}'
    outcome = graph.outcome
    assert (outcome.success, outcome.termination, outcome.latency) == (True, "user_stop", 4.5)
    assert outcome.cost == pytest.approx(0.03)
    assert graph.task.description == '{"instructions":"Ask for the opening hours."}'


def test_no_message_is_lost():
    for trial, graph in zip(json.loads(RESULTS), graphs(RESULTS), strict=True):
        answers = sum(message["role"] == "tool" for message in trial["traj"])
        both = sum(bool(m.get("tool_calls") and m.get("content")) for m in trial["traj"])
        prompts = sum(message["role"] == "system" for message in trial["traj"])
        assert len(graph.nodes) == len(trial["traj"]) - answers - prompts + both
    for line, graph in zip(FEW_SHOT.splitlines(), graphs(FEW_SHOT), strict=True):
        shown = json.loads(line)["messages_display"].split("\n")
        lines = [s for s in shown if s.startswith(("user: ", "assistant: ", "tool: "))]
        assert len(graph.nodes) == len(lines) - lines.count("assistant: None")


def test_parallel_calls_orphans_and_unknown_roles():
    call = {"function": {"name": "look", "arguments": "{}"}}
    (graph,) = graphs(
        result(
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "tool_calls": [{"id": "a", **call}, {"id": "b", **call}]},
            {"role": "tool", "tool_call_id": "b", "content": "second"},
            {"role": "tool", "tool_call_id": "a", "content": "first"},
            {"role": "tool", "tool_call_id": "c", "content": "third"},
            {"role": "assistant", "content": [{"type": "text", "text": "So."}]},
            {"role": "system", "content": "Stop."},
            {"content": "who?"},
            "odd",
        )
    )
    assert contents(graph) == ["Hi", "first", "second", "third", "So.", "Stop.", "who?", "odd"]
    assert edges(graph)[:4] == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (1, 3, "continued"),
        (2, 3, "continued"),
    ]
    assert graph.outcome.success is False
    assert graph.outcome.score == 0.5
    assert len(graph.source.warnings) == 2


def test_bad_trials_are_named_and_the_others_are_read():
    content = json.dumps([{"task_id": 1, "traj": []}, 7, *json.loads(RESULTS)]).encode()
    first, second, *others = read_all(TAU_BENCH, content)
    assert first == Rejection("memory.json", "task 1", "the trial holds no messages")
    assert second == Rejection("memory.json", "position 1", "the trial is no object")
    assert len(others) == 2


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"3"])
def test_what_is_no_result_is_an_error(content):
    with pytest.raises(InputError):
        read_all(TAU_BENCH, content)


@pytest.mark.parametrize("content", [RESULTS, FEW_SHOT, TAU2])
def test_sniffing_and_damage(content):
    assert claimed_by(content) == ["tau-bench"]
    for cut in cuts(content):
        TAU_BENCH.sniff(cut)
    assert assert_survives(TAU_BENCH, content) > 0


def test_the_same_task_twice_is_two_runs():
    trial = json.loads(RESULTS)[0]
    one, other = graphs(json.dumps([trial, trial]).encode())
    assert one.id != other.id
    assert one.task.id == other.task.id
    single = read_one(TAU_BENCH, json.dumps(trial).encode())
    assert contents(single) == contents(one)
