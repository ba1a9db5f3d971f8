"""Two agents of one name stay two where a trace of spans tells them apart; else it says so."""

import json

import pytest

from ingest.readers.langfuse import LANGFUSE
from ingest.readers.langgraph_events import LANGGRAPH_EVENTS
from ingest.readers.langsmith import LANGSMITH
from ingest.readers.openai_agents_spans import OPENAI_AGENTS_SPANS
from tests.ingest.reading import agents, read_one, speaker

TAKEN_FOR_ONE = "agents of one name are taken for one, since no id tells them apart: clerk"


def lines(values):
    return b"\n".join(json.dumps(value).encode() for value in values)


def stamp(second):
    return f"2026-03-01T10:00:{second:02}.000000Z"


def message(text):
    return {"messages": [{"type": "ai", "content": text}]}


def in_langsmith(first, second):
    """Two model runs of an agent called clerk inside one root, with metadata of their own."""
    root = "20260301T100000000000Zr"
    runs = [
        {"id": "r", "trace_id": "r", "name": "office", "run_type": "chain",
         "dotted_order": root, "start_time": stamp(0), "end_time": stamp(9)},
    ]  # fmt: skip
    for n, metadata in enumerate((first, second), 1):
        runs.append(
            {"id": f"m{n}", "trace_id": "r", "parent_run_id": "r", "name": "model",
             "run_type": "llm", "dotted_order": f"{root}.20260301T10000{n}000000Zm{n}",
             "start_time": stamp(2 * n), "end_time": stamp(2 * n + 1),
             "extra": {"metadata": metadata}, "outputs": message(f"words {n}")}
        )  # fmt: skip
    return read_one(LANGSMITH, json.dumps({"post": runs, "patch": []}).encode())


def in_langfuse(first, second):
    observations = [
        {"id": f"a{n}", "traceId": "t", "type": "AGENT", "name": "clerk",
         "startTime": stamp(2 * n), "endTime": stamp(2 * n + 1), "metadata": metadata,
         "output": f"words {n}"}
        for n, metadata in enumerate((first, second), 1)
    ]  # fmt: skip
    for one, metadata in zip(observations, (first, second), strict=True):
        if "agent_name" not in metadata:
            one["metadata"] = {**metadata, "agent_name": "clerk"}
    trace = {"id": "t", "timestamp": stamp(0), "name": "office"}
    return read_one(
        LANGFUSE, json.dumps({"trace": trace, "observations": observations}).encode()
    )


def in_events(first, second):
    events = [{"event": "on_chain_start", "run_id": "r", "name": "office", "parent_ids": [],
               "data": {}}]  # fmt: skip
    for n, metadata in enumerate((first, second), 1):
        for moment, data in (("start", {}), ("end", {"output": message(f"words {n}")})):
            events.append(
                {"event": f"on_chat_model_{moment}", "run_id": f"m{n}", "name": "model",
                 "parent_ids": ["r"], "metadata": metadata, "data": data}
            )  # fmt: skip
    events.append({"event": "on_chain_end", "run_id": "r", "name": "office", "parent_ids": [],
                   "data": {}})  # fmt: skip
    return read_one(LANGGRAPH_EVENTS, lines(events))


def place(path):
    names = path.split("/")
    return {
        "langgraph_node": names[-1],
        "langgraph_checkpoint_ns": "|".join(f"{name}:{len(name)}" for name in names),
    }


@pytest.mark.parametrize("read", [in_langsmith, in_langfuse, in_events])
def test_the_nodes_that_lead_to_an_agent_tell_two_apart(read):
    graph = read(place("north/clerk"), place("south/clerk"))
    assert agents(graph).count("clerk") == 2
    clerks = [agent for agent in graph.agents if agent.name == "clerk"]
    assert [agent.attributes["id"] for agent in clerks] == ["north/clerk", "south/clerk"]
    assert len({node.agent for node in graph.nodes}) == 2
    assert [node.content for node in graph.nodes] == ["words 1", "words 2"]
    assert not any("one name" in warning for warning in graph.source.warnings)


@pytest.mark.parametrize("read", [in_langsmith, in_langfuse, in_events])
def test_one_node_that_runs_twice_is_one_agent(read):
    graph = read(place("north/clerk"), place("north/clerk"))
    assert agents(graph).count("clerk") == 1
    assert "id" not in graph.agents[0].attributes


@pytest.mark.parametrize("read", [in_langsmith, in_langfuse])
def test_ids_of_agents_tell_two_apart(read):
    first, second = ({"agent_name": "clerk", "agent_id": one} for one in ("c-1", "c-2"))
    assert agents(read(first, second)).count("clerk") == 2
    assert agents(read(first, dict(first))).count("clerk") == 1


def agent_span(id, parent, start, end, tools=(), name="clerk"):
    return {
        "object": "trace.span", "id": id, "trace_id": "t", "parent_id": parent,
        "started_at": stamp(start), "ended_at": stamp(end), "error": None,
        "span_data": {"type": "agent", "name": name, "handoffs": [], "tools": list(tools),
                      "output_type": "str"},
    }  # fmt: skip


TRACE = {"object": "trace", "id": "t", "workflow_name": "office"}


def in_sdk(*spans):
    return read_one(OPENAI_AGENTS_SPANS, lines([TRACE, *spans]))


def test_spans_without_ids_say_that_namesakes_are_taken_for_one():
    plain = in_sdk(agent_span("a", None, 1, 2), agent_span("b", None, 3, 4))
    assert agents(plain) == ["clerk"]
    assert TAKEN_FOR_ONE not in plain.source.warnings
    other_tools = in_sdk(agent_span("a", None, 1, 2), agent_span("b", None, 3, 4, ["ring"]))
    at_once = in_sdk(agent_span("a", None, 1, 3), agent_span("b", None, 2, 4))
    for graph in (other_tools, at_once):
        assert agents(graph) == ["clerk"]
        assert TAKEN_FOR_ONE in graph.source.warnings


def test_an_agent_that_is_a_tool_of_its_namesake_is_told():
    tool = agent_span("f", "a", 2, 5)
    tool["span_data"] = {"type": "function", "name": "ask_clerk", "input": "{}", "output": "x"}
    graph = in_sdk(agent_span("a", None, 1, 6), tool, agent_span("b", "f", 3, 4))
    assert TAKEN_FOR_ONE in graph.source.warnings


def test_langfuse_agents_at_once_are_told():
    observations = [
        {"id": id, "traceId": "t", "type": "AGENT", "name": "clerk", "startTime": stamp(start),
         "endTime": stamp(end), "output": id}
        for id, start, end in (("a", 1, 3), ("b", 2, 4))
    ]  # fmt: skip
    graph = read_one(LANGFUSE, lines(observations))
    assert TAKEN_FOR_ONE in graph.source.warnings


def test_a_handoff_goes_to_the_namesake_that_is_at_work_next():
    events = [{"event": "on_chain_start", "run_id": "r", "name": "office", "parent_ids": [],
               "data": {}}]  # fmt: skip
    plan = [
        ("m0", "chat_model", "model", "chief", message("Ask a clerk.")),
        ("t1", "tool", "transfer_to_clerk", "chief", "done"),
        ("m1", "chat_model", "model", "north/clerk", message("north here")),
        ("m2", "chat_model", "model", "south/clerk", message("south here")),
    ]
    for id, kind, name, path, output in plan:
        for moment, data in (("start", {"input": {}}), ("end", {"output": output})):
            events.append(
                {"event": f"on_{kind}_{moment}", "run_id": id, "name": name,
                 "parent_ids": ["r"], "metadata": place(path), "data": data}
            )  # fmt: skip
    graph = read_one(LANGGRAPH_EVENTS, lines(events))
    (handoff,) = [node for node in graph.nodes if node.kind == "decision"]
    first = next(node for node in graph.nodes if node.content == "north here")
    assert speaker(graph, handoff) == "chief"
    assert handoff.recipients == (first.agent,)
