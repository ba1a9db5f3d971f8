import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import InputError
from ingest.reader import ReadContext
from ingest.readers.smolagents import SMOLAGENTS
from ingest.readers.smolagents_steps import Memory, stages_of
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
LIBRARY = (EXAMPLES / "smolagents" / "library.json").read_bytes()


def read(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    (graph,) = SMOLAGENTS.read(MemoryFile(content, "a.json"), ReadContext())
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def action(number, name, arguments, observations, start=None, end=None, **more):
    step = {
        "step_number": number,
        "model_output": more.pop("said", ""),
        "tool_calls": [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
        ],
        "observations": observations,
        "token_usage": {"input_tokens": 10, "output_tokens": 2},
        **more,
    }
    if start is not None:
        step["timing"] = {"start_time": start, "end_time": end}
    return step


def team(times):
    """A manager that calls its helper by a tool call."""
    first, second, inner = ((1.0, 5.0), (6.0, 7.0), (2.0, 3.0)) if times else [(None, None)] * 3
    return {
        "chief": [
            {"task": "Paint the gate.", "task_images": None},
            action(1, "painter", {"task": "Which colour?"}, "Green.", *first, said="I ask."),
            action(2, "final_answer", {"answer": "Green it is."}, "Green it is.", *second),
        ],
        "painter": [
            {"task": "You're a helpful agent named 'painter'. Which colour?"},
            action(1, "final_answer", {"answer": "Green."}, "Green.", *inner),
        ],
    }


def test_a_code_agent_and_its_helper():
    graph = read(LIBRARY)
    assert [(agent.name, agent.kind) for agent in graph.agents] == [
        ("librarian", "agent"),
        ("user", "human"),
        ("python_interpreter", "tool"),
        ("finder", "agent"),
        ("shelf_of", "tool"),
    ]
    assert [(n.name, n.kind, n.tokens_in, n.round) for n in graph.nodes] == [
        ("user", "agent_message", None, None),
        ("librarian", "agent_message", 120, 1),
        ("librarian", "decision", None, None),
        ("finder", "agent_message", 50, 1),
        ("shelf_of", "tool_call", None, 1),
        ("finder", "agent_message", 70, 2),
        ("shelf_of", "tool_call", None, 2),
        ("finder", "agent_message", 80, 3),
        ("python_interpreter", "tool_call", None, 1),
        ("librarian", "agent_message", 150, 2),
        ("python_interpreter", "tool_call", None, 2),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "inferred"),
        (1, 8, "explicit"),
        (2, 3, "inferred"),
        (3, 4, "explicit"),
        (4, 5, "delivered"),
        (5, 6, "explicit"),
        (6, 7, "delivered"),
        (7, 8, "inferred"),
        (8, 9, "delivered"),
        (9, 10, "explicit"),
    ]
    assert graph.nodes[4].status == "error"
    assert graph.nodes[6].content == "Shelf 12"
    assert graph.nodes[7].content == "It stands on shelf 12."
    assert graph.outcome.answer == "Shelf 12"
    assert graph.task.description == "Where do I find the book on moss?"


@pytest.mark.parametrize("times", [True, False])
def test_a_helper_called_by_name(times):
    graph = read(team(times))
    assert [(n.name, n.kind, n.content) for n in graph.nodes] == [
        ("user", "agent_message", "Paint the gate."),
        ("chief", "agent_message", "I ask."),
        ("chief", "decision", "You're a helpful agent named 'painter'. Which colour?"),
        ("painter", "agent_message", "Green."),
        ("chief", "agent_message", "Green it is."),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "explicit"),
        (2, 3, "delivered"),
        (3, 4, "delivered"),
    ]
    names = {agent.id: agent.name for agent in graph.agents}
    assert [names[one] for one in graph.nodes[3].recipients] == ["chief"]
    assert graph.outcome.answer == "Green it is."


def test_a_manager_that_calls_two_helpers():
    graph = read((EXAMPLES / "smolagents" / "shelves.json").read_bytes())
    assert [(n.name, n.kind, n.tokens_in) for n in graph.nodes] == [
        ("user", "agent_message", None),
        ("librarian", "agent_message", 10),
        ("librarian", "decision", None),
        ("finder", "agent_message", 70),
        ("shelf_of", "tool_call", None),
        ("finder", "agent_message", 80),
        ("librarian", "agent_message", 20),
        ("librarian", "decision", None),
        ("checker", "agent_message", 30),
        ("librarian", "agent_message", 30),
    ]
    assert [basis for _, _, basis in links(graph)].count("inferred") == 0
    assert len(graph.edges) == 9


def test_no_step_is_lost_or_doubled():
    said = json.loads(LIBRARY)
    steps = [step for memory in said.values() for step in memory if "step_number" in step]
    graph = read(LIBRARY)
    messages = [n for n in graph.nodes if n.kind == "agent_message" and n.name != "user"]
    assert len(messages) == len(steps)
    for key, name in (("input_tokens", "tokens_in"), ("output_tokens", "tokens_out")):
        counted = sum(step["token_usage"][key] for step in steps)
        assert sum(getattr(node, name) or 0 for node in graph.nodes) == counted
    tasks = [step for memory in said.values() for step in memory if "task" in step]
    asked = [n for n in graph.nodes if n.kind == "decision" or n.name == "user"]
    assert len(asked) == len(tasks)


def test_wrappings_of_several_agents():
    said = json.loads(LIBRARY)
    records = [{"agent": name, "steps": steps} for name, steps in said.items()]
    expected = links(read(LIBRARY))
    assert links(read(records)) == expected
    assert links(read(b"\n".join(json.dumps(one).encode() for one in records))) == expected


def test_the_steps_of_one_agent():
    steps = json.loads(LIBRARY)["finder"]
    graph = read(steps)
    assert [agent.name for agent in graph.agents] == ["finder", "user", "shelf_of"]
    assert len(graph.nodes) == 6
    alone = read(json.loads(LIBRARY)["librarian"])
    assert "the steps do not name their agent" in alone.source.warnings
    assert [node.kind for node in alone.nodes].count("decision") == 0
    lines = b"\n".join(json.dumps(step).encode() for step in steps)
    assert links(read(lines)) == links(graph)


def test_a_result_with_a_plan_and_an_error():
    error = {"type": "AgentMaxStepsError", "message": "Reached max steps."}
    graph = read(
        {
            "output": "Half of it.",
            "state": "max_steps_error",
            "steps": [
                {"system_prompt": "You help."},
                {"task": "Dig.", "task_images": None},
                {
                    "plan": "First the shed.",
                    "model_output_message": {"role": "assistant", "content": "First the shed."},
                    "timing": {"start_time": 1.5, "end_time": 2.0},
                    "token_usage": {"input_tokens": 4, "output_tokens": 3},
                },
                {"step_number": 1, "model_output": "Half of it.", "error": error},
            ],
            "token_usage": {"input_tokens": 30, "output_tokens": 9},
            "timing": {"duration": 2.5},
        }
    )
    assert [(n.name, n.content, n.status) for n in graph.nodes] == [
        ("user", "Dig.", None),
        ("agent", "First the shed.", None),
        ("agent", "Half of it.", "error"),
    ]
    assert graph.nodes[1].started_at == 1_500_000_000
    assert graph.outcome.termination == "max_steps_error"
    assert (graph.outcome.tokens_in, graph.outcome.latency) == (30, 2.5)
    assert graph.attributes["system_prompts"] == ["You help."]


def test_several_calls_in_one_step():
    step = action(1, "weigh", {"stone": 1}, "Two kilos.\nThree kilos.")
    step["tool_calls"] *= 2
    graph = read([{"task": "Weigh.", "task_images": None}, step])
    assert [(n.name, n.content) for n in graph.nodes][2:] == [
        ("weigh", None),
        ("weigh", "Two kilos.\nThree kilos."),
    ]
    assert any("several calls" in warning for warning in graph.source.warnings)


def test_two_agents_that_call_each_other_end():
    graph = read(
        {
            "one": [{"task": "A"}, action(1, "two", {}, "x")],
            "two": [{"task": "B"}, action(1, "one", {}, "y")],
        }
    )
    assert [node.name for node in graph.nodes] == ["user", "two", "two", "one", "two"]


@pytest.mark.parametrize("content", [b"", b" ", b"[]", b"{}", b"7", b'{"steps": 1}', b"{"])
def test_files_that_hold_no_steps(content):
    with pytest.raises(InputError):
        read(content)


def test_damaged_files_give_errors_only():
    assert assert_survives(SMOLAGENTS, LIBRARY, count=150) > 20
    for cut in cuts(LIBRARY, 40):
        SMOLAGENTS.sniff(cut)
        with pytest.raises(InputError):
            read(cut)


def test_sniffs_its_own_files_only():
    assert SMOLAGENTS.sniff(LIBRARY)
    assert SMOLAGENTS.sniff(json.dumps(json.loads(LIBRARY)["finder"]).encode()[:900])
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if "smolagents" not in path.parts:
            assert not SMOLAGENTS.sniff(path.read_bytes()[:65_536]), path


def steps_inside(stage):
    below = [
        one for step in stage.steps for child in step.children for one in steps_inside(child)
    ]
    return stage.steps + below


def holder_by_search(stage, stages):
    """The rule as it is told: every step of every other memory is looked at."""
    calling = [
        step
        for other in stages
        if other.memory != stage.memory
        for step in other.steps
        if step.calls
    ]
    start = stage.started_at
    if start is not None:
        around = [
            step
            for step in calling
            if None not in (step.started_at, step.ended_at)
            and step.started_at < start <= step.ended_at
        ]
        return max(around, key=lambda step: step.started_at, default=None)
    inside = steps_inside(stage)
    for step in calling:
        if any(step is one for one in inside):
            continue
        named = sum(name == stage.name for name, _, _ in step.calls)
        if named > sum(child.name == stage.name for child in step.children):
            return step
    return None


SPANS = st.none() | st.tuples(st.integers(0, 6), st.integers(0, 6))
STEPS = st.lists(st.tuples(SPANS, st.lists(st.sampled_from("abx"), max_size=2)), max_size=3)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "m"]), STEPS), max_size=5))
def test_runs_are_held_by_the_steps_that_a_search_finds(memories):
    made = []
    for name, steps in memories:
        raw = [{"task": "go"}]
        for span, calls in steps:
            timing = {} if span is None else {"start_time": span[0], "end_time": span[1]}
            listed = [{"function": {"name": call, "arguments": {}}} for call in calls]
            raw.append(
                {"step_number": 1, "model_output": "", "timing": timing, "tool_calls": listed}
            )
        made.append(Memory(name, raw))
    stages = stages_of(made)
    found = [stage.holder for stage in stages]
    for stage in stages:
        for step in stage.steps:
            step.children.clear()
    for stage, holder in zip(stages, found, strict=True):
        assert holder is holder_by_search(stage, stages)
        if holder is not None:
            holder.children.append(stage)
