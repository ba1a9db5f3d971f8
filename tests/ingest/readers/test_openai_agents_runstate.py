import json
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext, Rejection
from ingest.readers.openai_agents_runstate import RUN_STATE
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
GARDEN = (EXAMPLES / "openai-agents-runstate" / "garden.json").read_bytes()
PENDING = (EXAMPLES / "openai-agents-runstate" / "order_pending.json").read_bytes()


def read_all(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(RUN_STATE.read(MemoryFile(content, "a.json"), ReadContext()))


def read(content):
    (graph,) = read_all(content)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def shape(graph):
    return [(node.name, node.kind, node.content, node.tokens_in) for node in graph.nodes]


def camel(value):
    """A state as the TypeScript SDK writes it."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        first, *others = key.split("_")
        found[first + "".join(other.capitalize() for other in others)] = camel(inner)
    return found


def test_agents_actions_and_edges():
    graph = read(GARDEN)
    assert shape(graph) == [
        ("user", "agent_message", "Where should the blueberries go?", None),
        ("on_topic", "decision", '{"topic":"garden"}', None),
        ("front desk", "agent_message", "I ask the measurer first.", 30),
        ("measure", "tool_call", "The west bed is 3 by 2 metres.", None),
        ("front desk", "agent_message", None, 40),
        ("front desk", "decision", None, None),
        ("botanist", "agent_message", None, 60),
        ("soil_test", "tool_call", "pH 7.9, too much lime.", None),
        (
            "botanist",
            "agent_message",
            "The east bed has too much lime for blueberries; use the west bed.",
            90,
        ),
    ]
    assert links(graph) == [
        (0, 1, "explicit"),
        (0, 2, "delivered"),
        (2, 3, "explicit"),
        (3, 4, "delivered"),
        (4, 5, "explicit"),
        (5, 6, "delivered"),
        (6, 7, "explicit"),
        (7, 8, "delivered"),
    ]
    by_id = {agent.id: agent.name for agent in graph.agents}
    assert [by_id[one] for one in graph.nodes[5].recipients] == ["botanist"]
    assert graph.nodes[7].attributes["arguments"] == '{"bed": "east"}'


def test_outcome_and_totals():
    outcome = read(GARDEN).outcome
    assert outcome.answer.startswith("The east bed")
    # The measurer ran as a tool: its tokens are in the total only.
    assert (outcome.tokens_in, outcome.tokens_out, outcome.calls) == (235, 61, 5)


def test_a_call_that_waits_for_approval():
    graph = read(PENDING)
    tool = graph.nodes[2]
    assert (tool.kind, tool.content, tool.delivery) == ("tool_call", None, None)
    assert tool.attributes["approval"] == "asked for"
    assert graph.outcome.termination == "next_step_interruption"
    assert graph.outcome.answer is None
    assert graph.method.name == "Agent workflow"


def test_no_item_is_lost_or_doubled():
    for content in (GARDEN, PENDING):
        state = json.loads(content)
        kinds = [item["type"] for item in state["session_items"]]
        graph = read(content)
        counted = [node.kind for node in graph.nodes]
        assert counted.count("tool_call") == kinds.count("tool_call_item")
        handoffs = [n for n in graph.nodes if n.kind == "decision" and n.delivery == "explicit"]
        assert len(handoffs) == kinds.count("handoff_call_item")
        texts = [
            part["text"]
            for item in state["session_items"]
            if item["type"] == "message_output_item"
            for part in item["raw_item"]["content"]
        ]
        said = [n.content for n in graph.nodes if n.kind == "agent_message" and n.content]
        assert said[1:] == texts
        assert sum(node.tokens_in or 0 for node in graph.nodes) == sum(
            response["usage"]["input_tokens"] for response in state["model_responses"]
        )


def test_camel_case_of_the_other_sdk():
    state = camel(json.loads(GARDEN))
    for item in state["generatedItems"] + state["sessionItems"]:
        if item["rawItem"].get("type") == "function_call_output":
            item["rawItem"]["type"] = "function_call_result"
            item["rawItem"]["output"] = {"type": "text", "text": item["rawItem"]["output"]}
    graph = read(state)
    assert shape(graph) == shape(read(GARDEN))
    assert links(graph) == links(read(GARDEN))


def test_generated_items_alone():
    state = json.loads(GARDEN)
    state["session_items"] = []
    assert read(state).nodes[1:] != ()
    assert shape(read(state)) == shape(read(GARDEN))
    del state["session_items"]
    assert shape(read(state)) == shape(read(GARDEN))


def test_without_model_responses_items_are_grouped_by_agent():
    state = json.loads(GARDEN)
    state["model_responses"] = []
    graph = read(state)
    assert [(node.name, node.content) for node in graph.nodes] == [
        (node.name, node.content) for node in read(GARDEN).nodes
    ]
    assert {node.tokens_in for node in graph.nodes} == {None}


def test_input_that_repeats_the_sessions_items():
    state = json.loads(GARDEN)
    state["original_input"] = [
        {"role": "user", "content": "Where should the blueberries go?"},
        state["session_items"][0]["raw_item"],
    ]
    assert shape(read(state)) == shape(read(GARDEN))


def test_history_before_the_run():
    state = json.loads(PENDING)
    state["original_input"] = [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "What may I buy?"},
        {"role": "user", "content": "Buy soil."},
    ]
    graph = read(state)
    assert [(node.name, node.content) for node in graph.nodes[:3]] == [
        ("user", "Hello."),
        ("assistant", "What may I buy?"),
        ("user", "Buy soil."),
    ]


def test_two_agents_of_one_name_stay_two():
    state = json.loads(GARDEN)
    for item in state["session_items"][-3:]:
        item["agent"] = {"name": "front desk", "identity": "front desk#2"}
    agents = [agent for agent in read(state).agents if agent.kind == "agent"]
    assert [agent.name for agent in agents] == ["front desk", "botanist", "front desk"]


def test_only_items_that_are_exactly_alike_are_one():
    state = json.loads(GARDEN)
    items = state["generated_items"]
    (place,) = [
        n
        for n, item in enumerate(items)
        if item["type"] == "tool_call_item" and item["raw_item"].get("name") == "soil_test"
    ]
    other = json.loads(json.dumps(items[place]))
    other["raw_item"]["arguments"] = "{}"
    again = [items[place], other, items[place], dict(reversed(other.items())), other]
    items[place : place + 1] = json.loads(json.dumps(again))
    state["session_items"] = items
    graph = read(state)
    assert sum(node.name == "soil_test" for node in graph.nodes) == 2
    assert "3 items stood twice and were counted once" in graph.source.warnings


def test_items_of_unknown_types_are_kept():
    state = json.loads(GARDEN)
    state["session_items"].append({"type": "mcp_list_tools_item", "raw_item": {"tools": []}})
    graph = read(state)
    assert len(graph.nodes) == 9
    assert graph.attributes["other_items"] == [
        '{"raw_item":{"tools":[]},"type":"mcp_list_tools_item"}'
    ]
    assert "1 items of other types are kept as attributes" in graph.source.warnings


def test_an_empty_run():
    state = {"$schemaVersion": "1.0", "current_agent": {"name": "solo"}, "original_input": "Hi"}
    graph = read(state)
    assert [(node.name, node.content) for node in graph.nodes] == [("user", "Hi")]
    assert [agent.name for agent in graph.agents] == ["user", "solo"]


def test_several_states_in_a_file():
    lines = b"\n".join(json.dumps(json.loads(one)).encode() for one in (GARDEN, PENDING))
    first, second = read_all(lines)
    assert (first.source.record, second.source.record) == ("state 1", "state 2")
    rejection = read_all([json.loads(GARDEN), {}])[1]
    assert isinstance(rejection, Rejection)
    assert rejection.record == "state 2"


def test_damaged_files_give_errors_only():
    assert assert_survives(RUN_STATE, GARDEN, count=150) > 20
    for cut in cuts(GARDEN, 40):
        RUN_STATE.sniff(cut)
        with pytest.raises(InputError):
            read_all(cut)


def test_sniffs_its_own_files_only():
    assert RUN_STATE.sniff(GARDEN)
    assert RUN_STATE.sniff(GARDEN[:300])
    assert RUN_STATE.sniff(json.dumps(camel(json.loads(GARDEN))).encode())
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if "openai-agents-runstate" not in path.parts:
            assert not RUN_STATE.sniff(path.read_bytes()[:65_536]), path
