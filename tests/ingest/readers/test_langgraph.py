import json
import random
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext
from ingest.readers.langgraph_checkpoints import LANGGRAPH_CHECKPOINTS
from ingest.readers.langgraph_debug import LANGGRAPH_DEBUG
from ingest.readers.langgraph_events import LANGGRAPH_EVENTS
from ingest.readers.langgraph_names import agent_in, agent_path, nodes_of
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
EVENTS = (EXAMPLES / "langgraph-events" / "harbour.jsonl").read_bytes()
DEBUG = (EXAMPLES / "langgraph-debug" / "harbour.jsonl").read_bytes()
CHECKPOINTS = (EXAMPLES / "langgraph-checkpoints" / "harbour.jsonl").read_bytes()
HISTORY = (EXAMPLES / "langgraph-checkpoints" / "harbour_history.jsonl").read_bytes()

READERS = [
    (LANGGRAPH_EVENTS, EVENTS),
    (LANGGRAPH_DEBUG, DEBUG),
    (LANGGRAPH_CHECKPOINTS, CHECKPOINTS),
    (LANGGRAPH_CHECKPOINTS, HISTORY),
]
WORDS = [
    ("planner", "Ask the pilot for the tide.", 20),
    ("pilot", None, 31),
    ("tide_table", "High water at 14:20.", None),
    ("pilot", "High water is at 14:20.", 52),
    ("clerk", "Leave at two; the tide turns at 14:20.", 40),
]


def records(content):
    return [json.loads(line) for line in content.splitlines()]


def read_all(reader, content):
    if isinstance(content, list):
        content = b"\n".join(json.dumps(record).encode() for record in content)
    return list(reader.read(MemoryFile(content, "a.jsonl"), ReadContext()))


def read(reader, content):
    (graph,) = read_all(reader, content)
    return graph


def shape(graph):
    return [(node.name, node.content, node.tokens_in) for node in graph.nodes]


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


@pytest.mark.parametrize(("reader", "content"), READERS)
def test_the_same_run_in_each_form(reader, content):
    graph = read(reader, content)
    said = [one for one in shape(graph) if one[0] not in ("user", "gate")]
    assert said == WORDS
    assert graph.task.description == "When should the ferry leave Elm?"
    assert graph.outcome.answer == "Leave at two; the tide turns at 14:20."
    assert graph.attributes["thread"] == "t1"
    assert sum(node.tokens_out or 0 for node in graph.nodes) == 7 + 9 + 8 + 11


def test_edges_of_events():
    graph = read(LANGGRAPH_EVENTS, EVENTS)
    assert [node.name for node in graph.nodes][4] == "gate"
    assert graph.nodes[4].kind == "decision"
    assert links(graph) == [
        (0, 1, "inferred"),
        (1, 2, "explicit"),
        (2, 3, "explicit"),
        (2, 5, "explicit"),
        (3, 4, "inferred"),
        (4, 5, "delivered"),
    ]
    assert {node.started_at for node in graph.nodes} == {None}
    assert graph.method.name == "harbour"


def test_edges_of_debug():
    graph = read(LANGGRAPH_DEBUG, DEBUG)
    assert [node.kind for node in graph.nodes] == [
        "agent_message",
        "agent_message",
        "agent_message",
        "tool_call",
        "agent_message",
        "decision",
        "agent_message",
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (0, 5, "delivered"),
        (0, 6, "delivered"),
        (1, 2, "delivered"),
        (1, 5, "delivered"),
        (1, 6, "delivered"),
        (2, 3, "explicit"),
        (2, 5, "delivered"),
        (2, 6, "delivered"),
        (3, 4, "explicit"),
        (3, 5, "delivered"),
        (3, 6, "delivered"),
        (4, 5, "delivered"),
        (4, 6, "delivered"),
        (5, 6, "inferred"),
    ]
    assert graph.nodes[1].started_at is not None
    assert graph.nodes[3].attributes["arguments"] == {"harbour": "Elm"}


def test_edges_of_checkpoints():
    for content in (CHECKPOINTS, HISTORY):
        graph = read(LANGGRAPH_CHECKPOINTS, content)
        assert links(graph) == [
            (0, 1, "inferred"),
            (0, 2, "inferred"),
            (0, 5, "inferred"),
            (1, 2, "inferred"),
            (1, 5, "inferred"),
            (2, 3, "explicit"),
            (2, 5, "inferred"),
            (3, 4, "delivered"),
            (3, 5, "inferred"),
            (4, 5, "inferred"),
        ]


@pytest.mark.parametrize(("reader", "content"), READERS)
def test_no_message_is_lost_or_doubled(reader, content):
    """A plain count: the distinct ids of messages of agents anywhere in the raw file."""
    ids = set()
    waiting = [records(content)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.get("type") == "ai" and "content" in value:
                ids.add(value["id"])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    agents = {"planner", "pilot", "clerk"}
    nodes = [node for node in read(reader, content).nodes if node.name in agents]
    assert len(nodes) == len(ids) == 4


def test_checkpoints_in_any_order_and_as_lists():
    said = records(CHECKPOINTS)
    random.Random(2).shuffle(said)
    expected = shape(read(LANGGRAPH_CHECKPOINTS, CHECKPOINTS))
    assert shape(read(LANGGRAPH_CHECKPOINTS, said)) == expected
    lists = [list(one.values()) for one in said]
    assert shape(read(LANGGRAPH_CHECKPOINTS, lists)) == expected
    assert shape(read(LANGGRAPH_CHECKPOINTS, json.dumps(lists, indent=1).encode())) == expected


def test_older_checkpoints_say_who_wrote():
    said = records(CHECKPOINTS)
    for one in said:
        one["checkpoint"]["versions_seen"] = {}
        one["pending_writes"] = []
        held = one["checkpoint"]["channel_values"].get("messages", [])
        ids = {message["id"]: message for message in held}
        if not one["config"]["configurable"]["checkpoint_ns"] and "m3" in ids:
            one["metadata"]["writes"] = {"clerk": {"messages": [ids["m3"]]}}
    names = [node.name for node in read(LANGGRAPH_CHECKPOINTS, said).nodes]
    assert names[-1] == "clerk"


def test_threads_are_runs():
    other = json.loads(json.dumps(records(CHECKPOINTS)).replace('"t1"', '"t2"'))
    first, second = read_all(LANGGRAPH_CHECKPOINTS, records(CHECKPOINTS) + other)
    assert (first.source.record, second.source.record) == ("thread t1", "thread t2")
    assert shape(first) == shape(second)
    stream = json.loads(json.dumps(records(DEBUG)).replace('"t1"', '"t2"'))
    first, second = read_all(LANGGRAPH_DEBUG, records(DEBUG) + stream)
    assert (first.attributes["thread"], second.attributes["thread"]) == ("t1", "t2")


def test_streams_in_all_wrappings():
    bare = [event for _, event in records(DEBUG)]
    graph = read(LANGGRAPH_DEBUG, DEBUG)
    assert len(read(LANGGRAPH_DEBUG, bare).nodes) == len(graph.nodes)
    modes = [[namespace, "debug", event] for namespace, event in records(DEBUG)]
    assert read(LANGGRAPH_DEBUG, modes).nodes == graph.nodes
    parts = [{"type": "debug", "ns": ns, "data": event} for ns, event in records(DEBUG)]
    assert read(LANGGRAPH_DEBUG, parts).nodes == graph.nodes
    tasks = [
        [namespace, "tasks", event["payload"]]
        for namespace, event in records(DEBUG)
        if event["type"] != "checkpoint"
    ]
    found = read(LANGGRAPH_DEBUG, tasks)
    assert links(found) == links(graph)
    assert {node.started_at for node in found.nodes} == {None}


def test_updates_alone():
    updates = [
        [namespace, {event["payload"]["name"]: event["payload"]["result"] or None}]
        for namespace, event in records(DEBUG)
        if event["type"] == "task_result"
    ]
    graph = read(LANGGRAPH_DEBUG, updates)
    said = [one for one in shape(graph) if one[0] not in ("user", "gate")]
    assert said == WORDS
    assert "delivered" not in {basis for source, target, basis in links(graph) if target == 6}


def test_messages_without_ids_are_not_merged():
    def message(kind, text):
        return {"type": kind, "content": text}

    state = [message("human", "Go.")]
    events = []
    for number, name in enumerate(("one", "two", "one")):
        said = message("ai", "Ready.")
        events += [
            {
                "id": str(number),
                "name": name,
                "input": {"messages": list(state)},
                "triggers": [],
            },
            {"id": str(number), "name": name, "result": {"messages": [said]}, "error": None},
        ]
        state.append(said)
    graph = read(LANGGRAPH_DEBUG, events)
    assert [node.name for node in graph.nodes] == ["user", "one", "two", "one"]
    assert links(graph) == [
        (0, 1, "delivered"),
        (0, 2, "delivered"),
        (1, 2, "delivered"),
        (2, 3, "delivered"),
    ]


def test_handoffs_and_the_made_up_way_back():
    def task(number, name, given, written):
        return [
            {"id": number, "name": name, "input": {"messages": given}, "triggers": []},
            {"id": number, "name": name, "result": {"messages": written}, "error": None},
        ]

    ask = {"type": "human", "content": "Go.", "id": "h"}
    call = {"name": "transfer_to_writer", "args": {}, "id": "c1"}
    choice = {"type": "ai", "content": "", "id": "a1", "tool_calls": [call]}
    moved = {
        "type": "tool",
        "content": "Transferred.",
        "id": "t1",
        "name": "transfer_to_writer",
        "tool_call_id": "c1",
    }
    text = {"type": "ai", "content": "Done.", "id": "a2"}
    flag = {"__is_handoff_back": True}
    back_call = {"name": "transfer_back_to_boss", "args": {}, "id": "c2"}
    back = {
        "type": "ai",
        "content": "Transferring back to boss",
        "id": "a3",
        "tool_calls": [back_call],
        "response_metadata": flag,
    }
    result = {
        "type": "tool",
        "content": "Back.",
        "id": "t2",
        "name": "transfer_back_to_boss",
        "tool_call_id": "c2",
        "response_metadata": flag,
    }
    last = {"type": "ai", "content": "All done.", "id": "a4"}
    events = [
        *task("1", "boss", [ask], [choice, moved]),
        *task("2", "writer", [ask, choice, moved], [text, back, result]),
        *task("3", "boss", [ask, choice, moved, text, back, result], [last]),
    ]
    graph = read(LANGGRAPH_DEBUG, events)
    by_id = {agent.id: agent.name for agent in graph.agents}
    assert [
        (node.name, node.kind, [by_id[one] for one in node.recipients]) for node in graph.nodes
    ] == [
        ("user", "agent_message", ["boss", "writer"]),
        ("boss", "agent_message", ["writer"]),
        ("boss", "decision", ["writer"]),
        ("writer", "agent_message", ["boss"]),
        ("writer", "decision", ["boss"]),
        ("boss", "agent_message", []),
    ]
    assert graph.nodes[4].attributes["synthetic"] is True


LOCKSMITHS = [
    (LANGGRAPH_EVENTS, "langgraph-events/locksmiths.jsonl", [(0, 1), (1, 2)]),
    (
        LANGGRAPH_DEBUG,
        "langgraph-debug/locksmiths.jsonl",
        [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)],
    ),
    (
        LANGGRAPH_DEBUG,
        "langgraph-debug/locksmiths_updates.jsonl",
        [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)],
    ),
    (
        LANGGRAPH_CHECKPOINTS,
        "langgraph-checkpoints/locksmiths.jsonl",
        [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)],
    ),
]


@pytest.mark.parametrize(("reader", "name", "edges"), LOCKSMITHS)
def test_a_tool_that_hands_over(reader, name, edges):
    """The tool's message has no id at first, and stands in two graphs: it is one decision."""
    graph = read(reader, (EXAMPLES / name).read_bytes())
    by_id = {agent.id: agent.name for agent in graph.agents}
    nodes = [node for node in graph.nodes if node.name != "user"]
    assert [(node.name, node.kind, node.tokens_in) for node in nodes] == [
        ("desk", "agent_message", 11),
        ("desk", "decision", None),
        ("smith", "agent_message", 21),
    ]
    assert [by_id[one] for one in nodes[1].recipients] == ["smith"]
    assert [(source, target) for source, target, _ in links(graph)] == edges


def test_events_that_break_off():
    said = [one for one in records(EVENTS) if one["name"] != "clerk"]
    last = next(place for place, one in enumerate(said) if one["event"] == "on_chat_model_end")
    end = said[last]
    chunk = {"type": "AIMessageChunk", "id": "m0"}
    said[last : last + 1] = [
        {**end, "event": "on_chat_model_stream", "data": {"chunk": {**chunk, "content": text}}}
        for text in ("Ask the ", "pilot.")
    ]
    graph = read(LANGGRAPH_EVENTS, said[: last + 2])
    assert [(node.name, node.content) for node in graph.nodes] == [
        ("planner", "Ask the pilot.")
    ]
    assert "3 runs have no end" in graph.source.warnings


def test_names_of_agents():
    assert nodes_of("team:1|writer:2") == ["team", "writer"]
    assert agent_path(["team", "writer", "model"]) == ("team", "writer")
    assert agent_path(["agent"]) == ("agent",)
    assert agent_path(["tools"]) is None
    assert agent_path(["writer", "Summaries.before_model"]) == ("writer",)
    assert agent_in({"langgraph_checkpoint_ns": "a:1|tools:2"}) == "a"
    assert agent_in({"lc_agent_name": "named", "langgraph_node": "model"}) == "named"
    assert agent_in({}) is None


@pytest.mark.parametrize("reader", {id(one): one for one, _ in READERS}.values())
@pytest.mark.parametrize("content", [b"", b" ", b"[]", b"{}", b"7", b'{"event": 1}', b"{"])
def test_files_that_hold_no_run(reader, content):
    with pytest.raises(InputError):
        read_all(reader, content)


@pytest.mark.parametrize(("reader", "content"), READERS)
def test_damaged_files_give_errors_only(reader, content):
    assert assert_survives(reader, content, count=60) > 10
    for cut in cuts(content, 20):
        reader.sniff(cut)


@pytest.mark.parametrize(("reader", "content"), READERS)
def test_sniffs_its_own_files_only(reader, content):
    assert reader.sniff(content[:65_536])
    assert reader.sniff(content[:700])
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if reader.format not in path.parts:
            assert not reader.sniff(path.read_bytes()[:65_536]), path


OWN = (EXAMPLES / "langgraph-events" / "own_words.jsonl").read_bytes()
LOCKSMITHS = (EXAMPLES / "langgraph-events" / "locksmiths.jsonl").read_bytes()
OWN_WORDS = [
    ("planner", "Plan: ask twice."),
    ("editor", "A draft."),
    ("editor", "Edited: A draft."),
    ("tide", "14:20 at Elm"),
    ("looker", "The tide: 14:20 at Elm"),
    ("deep", "Inside words."),
    ("wrapper", "Inside words."),
    ("both", "A draft."),
    ("both", "And my own."),
    ("closer", "Done."),
    ("deep", "Inside words."),
]


def test_a_nodes_own_message_beside_a_model_or_a_tool():
    graph = read(LANGGRAPH_EVENTS, OWN)
    assert [(node.name, node.content) for node in graph.nodes] == OWN_WORDS
    assert [node.kind for node in graph.nodes if node.name == "tide"] == ["tool_call"]
    assert sum(node.tokens_in or 0 for node in graph.nodes) == 5 * 5
    assert (1, 2, "continued") in links(graph)  # the editor's words follow on its model's
    assert (3, 4, "delivered") in links(graph)  # the looker's on its tool's


def test_every_message_of_the_last_state_is_there_once():
    """A plain count: what the graph's last state holds, beside the user's words."""
    last = records(OWN)[-1]
    assert last["event"] == "on_chain_end"
    state = [one["content"] for one in last["data"]["output"]["messages"][1:]]
    assert len(state) == 8
    # Said inside the editor, the looker and the wrapper, and never part of the state.
    inside = ["A draft.", "14:20 at Elm", "Inside words."]
    said = [node.content for node in read(LANGGRAPH_EVENTS, OWN).nodes]
    assert sorted(said) == sorted([*state, *inside])


def test_tools_that_failed_and_orders_with_messages_are_not_doubled():
    said = [
        {"event": "on_chain_start", "run_id": "r", "name": "team", "parent_ids": [],
         "data": {"input": {"messages": [{"type": "human", "content": "Go", "id": "h"}]}}},
        {"event": "on_chain_start", "run_id": "n", "name": "clerk", "parent_ids": ["r"],
         "metadata": {"langgraph_node": "clerk"}, "data": {"input": {"messages": []}}},
        {"event": "on_tool_start", "run_id": "t", "name": "ring", "parent_ids": ["r", "n"],
         "metadata": {"langgraph_node": "clerk"}, "data": {"input": {"to": "Elm"}}},
        {"event": "on_tool_error", "run_id": "t", "name": "ring", "parent_ids": ["r", "n"],
         "metadata": {"langgraph_node": "clerk"}, "data": {"error": "no line"}},
        {"event": "on_chain_end", "run_id": "n", "name": "clerk", "parent_ids": ["r"],
         "metadata": {"langgraph_node": "clerk"},
         "data": {"output": {"goto": "end", "graph": None, "update": {"messages": [
             {"type": "tool", "content": "no line", "name": "ring", "tool_call_id": "c1"},
             {"type": "ai", "content": "Nobody answers."}]}}}},
        {"event": "on_chain_end", "run_id": "r", "name": "team", "parent_ids": [],
         "data": {"output": {"messages": []}}},
    ]  # fmt: skip
    graph = read(LANGGRAPH_EVENTS, said)
    assert [(node.kind, node.name, node.content) for node in graph.nodes] == [
        ("tool_call", "ring", "no line"),
        ("agent_message", "clerk", "Nobody answers."),
    ]
    assert graph.nodes[0].status == "error"
    assert graph.outcome.answer is None


@pytest.mark.parametrize("content", [OWN, EVENTS, LOCKSMITHS])
def test_a_stream_without_parents_is_one_run(content):
    said = records(content)
    for event in said:
        del event["parent_ids"]
    graph = read(LANGGRAPH_EVENTS, said)
    with_parents = read(LANGGRAPH_EVENTS, content)
    assert shape(graph) == shape(with_parents)
    assert links(graph) == links(with_parents)
    assert any("no event names a parent" in one for one in graph.source.warnings)


def test_two_runs_one_after_the_other_without_parents_stay_two():
    said = records(OWN)
    for event in said:
        del event["parent_ids"]
    again = json.loads(json.dumps(said))
    for event in again:
        event["run_id"] = "again " + event["run_id"]
    first, second = read_all(LANGGRAPH_EVENTS, said + again)
    assert len(first.nodes) == len(second.nodes) == len(OWN_WORDS)
