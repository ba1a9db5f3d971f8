"""AutoGen as JSON: one run as a result, a stream and a state, and what can be strange."""

import json

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import Rejection
from ingest.readers.autogen_messages import AUTOGEN_MESSAGES
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import (
    FORMATS,
    agents,
    bases,
    claimed_by,
    contents,
    edges,
    kinds,
    read_all,
    read_one,
    receivers,
    speaker,
    tokens,
)

FOLDER = FORMATS / "autogen-messages"
RESULT = (FOLDER / "garden.result.json").read_bytes()
STREAM = (FOLDER / "garden.stream.jsonl").read_bytes()
STATE = (FOLDER / "garden.state.json").read_bytes()


def text(source, content, **fields):
    return {"source": source, "content": content, "type": "TextMessage", **fields}


def result(*messages, **fields):
    return json.dumps({"messages": list(messages), "stop_reason": None, **fields}).encode()


def lines(*values):
    return "\n".join(json.dumps(value) for value in values).encode()


def test_a_selector_team_by_hand():
    graph = read_one(AUTOGEN_MESSAGES, RESULT)
    manager = "SelectorGroupChatManager"
    assert agents(graph) == ["user", manager, "planner", "gardener"]
    assert [agent.kind for agent in graph.agents] == ["human", "agent", "agent", "agent"]
    assert kinds(graph) == {"agent_message": 4, "decision": 4, "tool_call": 2}
    assert edges(graph) == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (0, 4, "delivered"),
        (1, 2, "delivered"),
        (2, 3, "delivered"),
        (2, 4, "delivered"),
        (3, 4, "delivered"),
        (4, 5, "continued"),
        (4, 6, "continued"),
        (5, 7, "continued"),
        (6, 7, "continued"),
        (7, 8, "delivered"),
        (7, 9, "delivered"),
        (8, 9, "delivered"),
    ]
    assert tokens(graph) == (40 + 52 + 66 + 75, 9 + 24 + 12 + 11)
    choice, east, west = graph.nodes[1], graph.nodes[5], graph.nodes[6]
    assert receivers(graph, choice) == ["planner"]
    assert choice.delivery == "explicit"
    assert receivers(graph, graph.nodes[2]) == ["user", manager, "gardener"]
    assert graph.nodes[2].delivery == "broadcast"
    assert (east.name, east.content, east.status) == ("soil", "The east bed is sandy.", "ok")
    assert east.attributes["arguments"] == '{"bed":"east"}'
    assert (west.content, west.status, west.tokens_in) == ("no bed of that name", "error", None)
    assert east.started_at < east.ended_at
    assert graph.outcome.termination == "Text 'DONE' mentioned"
    assert graph.outcome.success is None
    assert graph.method.name == "SelectorGroupChat"
    assert graph.task.description == "What can we sow this week?"


def test_nothing_is_lost_or_doubled_in_any_of_the_shapes():
    messages = json.loads(RESULT)["messages"]
    calls = sum(len(m["content"]) for m in messages if m["type"] == "ToolCallRequestEvent")
    events = ("ToolCallRequestEvent", "ToolCallExecutionEvent")
    others = [m for m in messages if m["type"] not in events]
    usages = [m["models_usage"] for m in messages if m["models_usage"]]
    thread = json.loads(STATE)["agent_states"]["SelectorGroupChatManager"]["message_thread"]
    choices = len(messages) - len(thread)
    for content, missing in ((RESULT, 0), (STREAM, 0), (STATE, choices)):
        graph = read_one(AUTOGEN_MESSAGES, content)
        assert len(graph.nodes) == len(others) + calls - missing
        assert tokens(graph)[0] == sum(u["prompt_tokens"] for u in usages)
        assert tokens(graph)[1] == sum(u["completion_tokens"] for u in usages)
        said = [m["content"] for m in others if m["type"] == "TextMessage"]
        assert [c for c in contents(graph) if c in said] == said


def test_a_stream_that_ends_with_its_result_is_the_result():
    one, other = read_one(AUTOGEN_MESSAGES, RESULT), read_one(AUTOGEN_MESSAGES, STREAM)
    assert contents(one) == contents(other)
    assert edges(one) == edges(other)
    assert one.outcome == other.outcome


def test_a_stream_that_was_kept_as_a_list_is_the_stream():
    values = [json.loads(line) for line in STREAM.splitlines()]
    one = read_one(AUTOGEN_MESSAGES, STREAM)
    other = read_one(AUTOGEN_MESSAGES, json.dumps(values).encode())
    assert contents(one) == contents(other)
    assert edges(one) == edges(other)
    assert agents(one) == agents(other)
    assert one.outcome == other.outcome
    assert other.source.warnings == ()


def test_results_in_a_list_are_read_as_in_lines():
    first = {"messages": [text("user", "One", id="1"), text("a", "Two")], "stop_reason": "s"}
    values = [text("user", "One", id="1"), first, {**first, "stop_reason": "t"}]
    as_lines = read_all(AUTOGEN_MESSAGES, lines(*values))
    as_list = read_all(AUTOGEN_MESSAGES, json.dumps(values).encode())
    assert [contents(graph) for graph in as_lines] == [["One", "Two"], ["One", "Two"]]
    assert [contents(graph) for graph in as_list] == [contents(graph) for graph in as_lines]
    assert [graph.outcome for graph in as_list] == [graph.outcome for graph in as_lines]
    assert [graph.source.record for graph in as_list] == ["entry 2", None]


def test_a_team_that_was_only_in_the_state_is_in_the_group():
    graph = read_one(AUTOGEN_MESSAGES, STATE)
    state = json.loads(STATE)
    state["agent_states"]["silent/3f2a"] = {"type": "ChatAgentContainerState"}
    other = read_one(AUTOGEN_MESSAGES, json.dumps(state).encode())
    assert agents(other) == [*agents(graph), "silent"]
    assert "silent" in receivers(other, other.nodes[0])
    assert other.method.name == "SelectorGroupChat"


def test_a_handoff_is_a_decision_for_its_target():
    graph = read_one(
        AUTOGEN_MESSAGES,
        result(
            text("user", "Help"),
            {"source": "a", "content": "To b.", "type": "HandoffMessage", "target": "b"},
            text("b", "Here."),
            text("c", "Me too."),
        ),
    )
    assert graph.nodes[1].kind == "decision"
    assert receivers(graph, graph.nodes[1]) == ["b"]
    assert edges(graph) == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (0, 3, "delivered"),
        (1, 2, "delivered"),
        (2, 3, "delivered"),
    ]


def test_chunks_are_their_answer():
    def chunk(word, **fields):
        type_ = "ModelClientStreamingChunkEvent"
        return {"source": "a", "content": word, "type": type_, **fields}

    whole = [chunk("Two ", full_message_id="m"), chunk("words", full_message_id="m")]
    answer = text("a", "Two words")
    graph = read_one(AUTOGEN_MESSAGES, lines(text("user", "Hi"), *whole, answer))
    assert contents(graph) == ["Hi", "Two words"]
    assert graph.source.warnings == ()
    cut = read_one(AUTOGEN_MESSAGES, lines(text("user", "Hi"), *whole))
    assert contents(cut) == ["Hi", "Two words"]
    assert any("chunks" in warning for warning in cut.source.warnings)
    others = read_one(AUTOGEN_MESSAGES, lines(chunk("Yes"), text("b", "No")))
    assert contents(others) == ["Yes", "No"]


def test_one_id_is_one_message():
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    message = text("a", "Once", id="1", models_usage=usage)
    graph = read_one(AUTOGEN_MESSAGES, result(message, text("b", "Then", id="2"), message))
    assert contents(graph) == ["Once", "Then"]
    assert tokens(graph) == (3, 1)
    changed = read_one(AUTOGEN_MESSAGES, result(message, {**message, "content": "Twice"}))
    assert contents(changed) == ["Once", "Twice"]
    assert "two different messages" in changed.source.warnings[0]


def test_calls_find_their_results_by_id_and_order():
    def request(*ids):
        calls = [{"id": i, "name": "look", "arguments": "{}"} for i in ids]
        return {"source": "a", "content": calls, "type": "ToolCallRequestEvent"}

    def answer(*pairs):
        results = [{"call_id": i, "content": c} for i, c in pairs]
        return {"source": "a", "content": results, "type": "ToolCallExecutionEvent"}

    graph = read_one(
        AUTOGEN_MESSAGES,
        result(
            request("x", "y"),
            answer(("y", "second"), ("x", "first")),
            request("x"),
            answer(("x", "third")),
            request("z"),
            answer(("w", "orphan")),
        ),
    )
    assert contents(graph) == ["first", "second", "third", None, "orphan"]
    assert [node.status for node in graph.nodes] == [None] * 5
    assert graph.source.warnings == ("a tool's result stands without its call",)


def test_the_event_log_repeats_and_is_read_once():
    def record(payload, stage):
        return {
            "payload": json.dumps(payload),
            "sender": "a",
            "receiver": None,
            "kind": "MessageKind.PUBLISH",
            "delivery_stage": f"DeliveryStage.{stage}",
            "type": "Message",
        }

    first, then = text("user", "Go", id="1"), text("a", "Went", id="2")
    log = lines(
        record({"messages": [first]}, "SEND"),
        record({"messages": [first]}, "DELIVER"),
        {"type": "LLMCall", "prompt_tokens": 3, "completion_tokens": 1},
        record({"message": then}, "SEND"),
        record({"response": {"chat_message": then, "inner_messages": []}}, "DELIVER"),
        {**record({}, "SEND"), "payload": "Message could not be serialized"},
    )
    graph = read_one(AUTOGEN_MESSAGES, log)
    assert contents(graph) == ["Go", "Went"]
    assert graph.source.warnings == (
        "records of the event log that hold no message were left out",
    )


def test_results_of_several_runs_one_a_line():
    content = result(text("user", "One")) + b"\n" + result(text("user", "Two"))
    graphs = read_all(AUTOGEN_MESSAGES, content)
    assert [graph.source.record for graph in graphs] == ["line 1", "line 2"]
    assert [contents(graph) for graph in graphs] == [["One"], ["Two"]]


def test_a_damaged_line_is_named_and_the_rest_is_read():
    content = lines(text("user", "One")) + b'\n{"source": \n' + lines(text("a", "Two"))
    rejected, graph = read_all(AUTOGEN_MESSAGES, content)
    assert isinstance(rejected, Rejection)
    assert rejected.record == "line 2"
    assert isinstance(graph, CollaborationGraph)
    assert contents(graph) == ["One", "Two"]
    assert "lines that could not be read are missing" in graph.source.warnings


def test_an_agents_own_memory():
    memory = {
        "type": "AssistantAgentState",
        "version": "1.0.0",
        "llm_context": {
            "messages": [
                {"content": "Go", "source": "user", "type": "UserMessage"},
                {
                    "content": [{"id": "1", "name": "look", "arguments": "{}"}],
                    "thought": "Hm.",
                    "source": "a",
                    "type": "AssistantMessage",
                },
                {
                    "content": [{"call_id": "1", "content": "seen", "is_error": False}],
                    "type": "FunctionExecutionResultMessage",
                },
                {"content": "Done", "source": "a", "type": "AssistantMessage"},
            ]
        },
    }
    graph = read_one(AUTOGEN_MESSAGES, json.dumps(memory).encode())
    assert contents(graph) == ["Go", "seen", "Done"]
    assert receivers(graph, graph.nodes[0]) == ["a"]
    assert graph.nodes[1].attributes["thought"] == "Hm."
    assert graph.nodes[2].recipients == ()
    assert edges(graph) == [(0, 1, "delivered"), (1, 2, "continued")]


def test_images_unknown_types_and_naive_times_are_kept_with_a_note():
    graph = read_one(
        AUTOGEN_MESSAGES,
        result(
            {"source": "user", "type": "MultiModalMessage", "content": ["See", {"data": "aa"}]},
            text("a", "Seen", created_at="2026-01-02T03:04:05"),
            {"source": "a", "type": "NewEvent", "content": {"x": 1}, "extra": 7},
        ),
    )
    assert contents(graph) == ["See\n[image]", "Seen", '{"x":1}']
    assert graph.nodes[0].attributes["images"] == 1
    assert graph.nodes[1].started_at is None
    assert graph.nodes[1].attributes["created_at"] == "2026-01-02T03:04:05"
    assert graph.nodes[2].attributes["extra"] == 7
    assert len(graph.source.warnings) == 2


def test_speakers_keep_their_messages():
    graph = read_one(AUTOGEN_MESSAGES, STREAM)
    raw = json.loads(RESULT)["messages"]
    said = [(m["source"], m["content"]) for m in raw if m["type"] == "TextMessage"]
    read = [(speaker(graph, node), node.content) for node in graph.nodes]
    assert [pair for pair in read if pair in said] == said
    assert sum(bases(graph).values()) == len(graph.edges)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"messages": [], "stop_reason": null}', b"null", b"[1]"],
)
def test_what_is_no_run_is_an_error(content):
    with pytest.raises(InputError):
        read_all(AUTOGEN_MESSAGES, content)


@pytest.mark.parametrize("content", [RESULT, STREAM, STATE])
def test_sniffing(content):
    assert claimed_by(content) == ["autogen-messages"]
    for cut in cuts(content[:4000]):
        AUTOGEN_MESSAGES.sniff(cut)
    assert not AUTOGEN_MESSAGES.sniff(b'{"messages": [{"role": "user", "content": "x"}]}')


@pytest.mark.parametrize("content", [RESULT, STREAM, STATE])
def test_damage_is_rejected(content):
    assert assert_survives(AUTOGEN_MESSAGES, content) > 0
