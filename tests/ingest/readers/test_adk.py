"""Google ADK: a session that ADK wrote, the same as streamed events, and evaluation cases."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import Rejection
from ingest.readers.adk import ADK
from ingest.readers.adk_events import Call, _Waiting
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
    tokens,
)

FOLDER = FORMATS / "adk-session"
SESSION = (FOLDER / "harbour.session.json").read_bytes()
EVENTS = (FOLDER / "harbour.events.jsonl").read_bytes()
CASES = (FOLDER / "harbour.test.json").read_bytes()


def event(author, *parts, **fields):
    return {"author": author, "invocation_id": "i", "content": {"parts": list(parts)}, **fields}


def said(words):
    return {"text": words}


def session(*events, **fields):
    return json.dumps({"id": "s", "app_name": "app", "events": list(events), **fields}).encode()


def test_a_transfer_and_two_calls_by_hand():
    graph = read_one(ADK, SESSION)
    assert agents(graph) == ["user", "harbour_desk", "tide_agent"]
    assert kinds(graph) == {"agent_message": 2, "decision": 1, "tool_call": 2}
    assert edges(graph) == [
        (0, 1, "inferred"),
        (1, 2, "delivered"),
        (1, 3, "delivered"),
        (2, 4, "continued"),
        (3, 4, "continued"),
    ]
    asked, transfer, high, failed, answer = graph.nodes
    assert receivers(graph, asked) == ["harbour_desk"]
    assert asked.delivery == "inferred"
    assert receivers(graph, transfer) == ["tide_agent"]
    assert transfer.delivery == "explicit"
    assert json.loads(high.content) == {"status": "ok", "high_water": "06:40"}
    assert high.attributes["arguments"] == {"harbour": "Sund"}
    assert high.started_at < high.ended_at
    assert (high.status, failed.status) == (None, "error")
    assert receivers(graph, answer) == ["user"]
    assert tokens(graph) == (35 + 60 + 80, 6 + 14 + 9)
    assert [resource.name for resource in graph.resources] == ["last_harbour"]
    assert [len(node.accesses) for node in graph.nodes] == [0, 0, 0, 1, 0]
    assert graph.method.name == "harbour"


def test_snake_case_and_camel_case_are_one():
    one, other = read_one(ADK, SESSION), read_one(ADK, EVENTS)
    assert contents(one) == contents(other)
    assert edges(one) == edges(other)
    assert tokens(one) == tokens(other)
    assert [n.started_at for n in one.nodes] == [n.started_at for n in other.nodes]


def test_no_event_is_lost():
    raw = json.loads(SESSION)["events"]
    parts = [part for item in raw for part in item["content"]["parts"]]
    count = sum("text" in part or "function_call" in part for part in parts)
    assert len(read_one(ADK, SESSION).nodes) == count == 5


def test_expected_conversations_are_marked():
    graph, empty = read_all(ADK, CASES)
    assert isinstance(graph, CollaborationGraph)
    assert graph.source.record == "two questions"
    assert graph.attributes["is_reference"] is True
    assert [node.name for node in graph.nodes] == [
        "user", "tide", "wind", "tide_agent", "harbour", "user", "harbour",
    ]  # fmt: skip
    assert edges(graph) == [
        (0, 1, "inferred"),
        (1, 2, "continued"),
        (2, 3, "inferred"),
        (2, 4, "continued"),
        (3, 4, "inferred"),
        (4, 5, "inferred"),
        (5, 6, "inferred"),
    ]
    assert empty == Rejection("memory.json", "no words", "the case holds no conversation")


def test_an_evaluation_result_has_a_verdict():
    case = {
        "eval_id": "one",
        "final_eval_status": 2,
        "session_details": {"events": [event("user", said("Hi")), event("a", said("Ho"))]},
        "overall_eval_metric_results": [{"metric_name": "match", "score": 0.5}],
    }
    result = {"eval_set_result_id": "r", "eval_case_results": [case]}
    graph = read_one(ADK, json.dumps(result).encode())
    assert contents(graph) == ["Hi", "Ho"]
    assert graph.outcome.success is False
    assert "is_reference" not in graph.attributes


def test_a_workflow_agent_lets_its_helper_act():
    def call(name, **arguments):
        return {"function_call": {"name": name, "args": arguments}}

    graph = read_one(
        ADK,
        session(
            event("user", said("Go")),
            event("desk", call("transfer_to_other_agent", agent_name="line")),
            event("desk", {"function_response": {"name": "transfer_to_other_agent"}}),
            event("first", call("look")),
            event("second", said("Seen")),
        ),
    )
    assert edges(graph) == [(0, 1, "inferred"), (1, 2, "inferred"), (2, 3, "inferred")]
    assert receivers(graph, graph.nodes[1]) == ["line"]


def test_older_sessions_keep_usage_and_the_past_beside_the_events():
    usage = {"prompt_token_count": 9, "candidates_token_count": 4, "thoughts_token_count": 2}
    log = {"event_id": "e2", "model_response": {"usage_metadata": usage}}
    past = event("user", said("Before"), id="e0")
    content = session(
        past,
        event("user", said("Hi"), id="e1"),
        event("a", said("Ho"), id="e2"),
        past_events=[past],
        event_logs=[log],
    )
    graph = read_one(ADK, content)
    assert contents(graph) == ["Before", "Hi", "Ho"]
    assert tokens(graph) == (9, 6)


def test_chunks_thoughts_errors_and_silent_events():
    graph = read_one(
        ADK,
        session(
            event("a", said("On"), partial=True),
            event("a", said("Once"), id="1"),
            event("a", {"text": "Hm.", "thought": True}, said("So."), id="2"),
            {"author": "a", "invocation_id": "i", "error_message": "quota", "id": "3"},
            event("a", id="4", actions={"state_delta": {"k": 1}}),
            event("b", said("cut "), partial=True),
            event("b", said("off"), partial=True),
        ),
    )
    assert contents(graph) == ["Once", "Hm.", "So.", "quota", None, "cut off"]
    assert [node.kind for node in graph.nodes] == [
        "agent_message", "decision", "agent_message", "agent_message", "decision",
        "agent_message",
    ]  # fmt: skip
    assert graph.nodes[3].status == "error"
    assert len(graph.nodes[4].accesses) == 1
    assert any("chunks" in warning for warning in graph.source.warnings)


def test_files_and_odd_times_leave_a_note():
    graph = read_one(
        ADK,
        session(event("user", said("Look"), {"inline_data": {"data": "aa"}}, timestamp="now")),
    )
    assert graph.nodes[0].attributes["other_parts"] == ["inline_data"]
    assert graph.nodes[0].attributes["timestamp"] == "now"
    assert graph.nodes[0].started_at is None
    assert len(graph.source.warnings) == 2


@pytest.mark.parametrize("content", [b"", b"{}", session(), b'{"eval_set_id": "x"}', b"[3]"])
def test_what_is_no_session_is_an_error(content):
    with pytest.raises(InputError):
        read_all(ADK, content)


@pytest.mark.parametrize("content", [SESSION, EVENTS, CASES, session()])
def test_sniffing(content):
    assert claimed_by(content) == ["adk-session"]
    for cut in cuts(content):
        ADK.sniff(cut)


@pytest.mark.parametrize("content", [SESSION, EVENTS, CASES])
def test_damage_is_rejected(content):
    assert assert_survives(ADK, content) > 0


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from("ab"), st.sampled_from([None, "1", "2"])))
)
def test_a_response_finds_its_call_as_in_a_list(steps):
    waiting, model = _Waiting(), []
    for is_call, name, id in steps:
        if is_call:
            call = Call(name, id, None)
            waiting.add(call)
            model.append(call)
            continue
        named = [call for call in model if call.name == name]
        found = [call for call in named if id is not None and call.id == id]
        if not found and named and (id is None or named[0].id is None):
            found = named
        assert waiting.take(name, id) is (found[0] if found else None)
        model = [call for call in model if not found or call is not found[0]]
