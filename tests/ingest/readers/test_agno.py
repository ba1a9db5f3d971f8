import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext
from ingest.readers.agno import AGNO
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "agno" / "harbour.json"
).read_bytes()
RUN = json.loads(EXAMPLE)


def results(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(AGNO.read(MemoryFile(content), ReadContext()))


def read(content):
    (graph,) = results(content)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def copy():
    return json.loads(EXAMPLE)


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [
        (by_id[node.agent], node.kind, node.content, [by_id[r] for r in node.recipients])
        for node in graph.nodes
    ]


def test_a_team_that_delegates():
    graph = read(EXAMPLE)
    assert spoken(graph) == [
        ("user", "agent_message", "When should we sail?", ["Harbour Team"]),
        ("Harbour Team", "agent_message", "Ask the reader.", []),
        ("Harbour Team", "decision", "When is high tide?", ["Tide Reader"]),
        ("Tide Reader", "agent_message", "Let me look.", []),
        ("Tide Reader", "tool_call", "high at 6", []),
        ("Tide Reader", "tool_call", "no such harbour", []),
        ("Tide Reader", "agent_message", "High tide is at 6.", ["Harbour Team"]),
        ("Harbour Team", "decision", "Write when to sail.", ["Writer"]),
        ("Writer", "agent_message", "Sail at 5.", ["Harbour Team"]),
        ("Harbour Team", "agent_message", "Sail at 5, an hour before high tide.", ["user"]),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "continued"),
        (2, 3, "explicit"),
        (3, 4, "continued"),
        (3, 5, "continued"),
        (4, 6, "continued"),
        (5, 6, "continued"),
        (6, 7, "explicit"),
        (7, 8, "explicit"),
        (8, 9, "explicit"),
    ]
    assert [node.status for node in graph.nodes if node.kind == "tool_call"] == ["ok", "error"]
    assert graph.agents[1].role == "orchestrator"
    assert graph.agents[1].attributes["system_prompt"] == "Lead the harbour team."


def test_tokens_and_times():
    graph = read(EXAMPLE)
    # Six answers of the models.
    assert sum(node.tokens_in or 0 for node in graph.nodes) == 6 * 30
    assert sum(node.tokens_out or 0 for node in graph.nodes) == 6 * 6
    assert graph.nodes[0].started_at == RUN["messages"][1]["created_at"] * 10**9
    tool = graph.nodes[4]
    assert tool.started_at <= tool.ended_at < tool.started_at + 10**9
    assert graph.outcome.termination == "COMPLETED"
    assert graph.outcome.latency == RUN["metrics"]["duration"]


def test_tokens_that_nobody_counted_are_unknown():
    run = copy()
    run["messages"][2]["metrics"].update(input_tokens=0, output_tokens=0)
    assert read(run).nodes[1].tokens_in is None


def test_no_message_is_lost_or_doubled():
    said = Counter()
    for run in [RUN, *RUN["member_responses"]]:
        for message in run["messages"]:
            if message["role"] in ("user", "assistant") and message.get("content"):
                said[message["content"]] += 1
            if message["role"] == "tool" and message["tool_name"] == "tide":
                said[message["content"]] += 1
    assert Counter(content for _, _, content, _ in spoken(read(EXAMPLE))) == said


def as_rows():
    members = RUN["member_responses"]
    parent = {k: v for k, v in RUN.items() if k != "member_responses"}
    return [
        {"run_id": run["run_id"], "session_id": "trip-1", "run_type": "agent", "run_data": run}
        for run in [*members, parent]
    ]


def test_rows_and_sessions_say_the_same():
    one, rows = read(EXAMPLE), read(as_rows())
    session = read({"session_id": "trip-1", "user_id": "mo", "runs": [RUN]})
    for other in (rows, session):
        assert spoken(other) == spoken(one)
        assert links(other) == links(one)
    lines = b"\n".join(json.dumps(row).encode() for row in as_rows())
    assert spoken(read(lines)) == spoken(one)


def test_a_session_repeats_its_history():
    again = copy()
    again.update(run_id="second", member_responses=[], tools=[])
    for message in again["messages"]:
        message["from_history"] = True
    again["messages"] += [
        {"id": "q", "role": "user", "content": "And tomorrow?", "created_at": 1796066200},
        {"id": "a", "role": "assistant", "content": "At 6.", "created_at": 1796066201},
    ]
    graph = read({"session_id": "trip-1", "user_id": "mo", "runs": [RUN, again]})
    assert len(graph.nodes) == 12
    assert graph.attributes["runs"] == [RUN["run_id"], "second"]
    assert spoken(graph)[-2:] == [
        ("user", "agent_message", "And tomorrow?", ["Harbour Team"]),
        ("Harbour Team", "agent_message", "At 6.", ["user"]),
    ]
    assert (9, 10, "delivered") in links(graph)


def test_members_whose_runs_were_not_kept_have_their_answer():
    run = copy()
    run["member_responses"] = []
    graph = read(run)
    assert [(who, content) for who, _, content, _ in spoken(graph)] == [
        ("user", "When should we sail?"),
        ("Harbour Team", "Ask the reader."),
        ("Harbour Team", "When is high tide?"),
        ("tide-reader", "Let me look.High tide is at 6."),
        ("Harbour Team", "Write when to sail."),
        ("writer", "Sail at 5."),
        ("Harbour Team", "Sail at 5, an hour before high tide."),
    ]


def test_one_call_can_ask_all_members():
    run = copy()
    call = {
        "id": "all",
        "function": {"name": "delegate_task_to_members", "arguments": '{"task": "Report."}'},
    }
    for member in run["member_responses"]:
        member["input"]["input_content"] = "Report."
        member["messages"][1]["content"] = "Report."
    run["messages"] = [
        *run["messages"][:2],
        {"id": "x", "role": "assistant", "tool_calls": [call]},
        {"id": "y", "role": "tool", "tool_call_id": "all", "content": "Both said something."},
        run["messages"][-1],
    ]
    graph = read(run)
    decision = graph.nodes[1]
    assert spoken(graph)[1] == (
        "Harbour Team",
        "decision",
        "Report.",
        ["Tide Reader", "Writer"],
    )
    last = graph.nodes[-1].index
    assert sorted(s for s, t, _ in links(graph) if t == last) == [5, 6]
    assert decision.attributes["result"] == "Both said something."


def test_runs_that_no_call_started_follow_on_their_parent():
    steps = [dict(run, parent_run_id="flow") for run in RUN["member_responses"]]
    flow = {
        "run_id": "flow",
        "workflow_id": "w",
        "workflow_name": "Evening",
        "input": "Plan the evening.",
        "content": "Sail at 5.",
        "step_executor_runs": steps,
    }
    graph = read(flow)
    assert [(who, content) for who, _, content, to in spoken(graph) if to] == [
        ("user", "Plan the evening."),
        ("Evening", "When is high tide?"),
        ("Evening", "Write when to sail."),
    ]
    assert [content for _, _, content, _ in spoken(graph)].count("Sail at 5.") == 1


def test_runs_without_messages_have_their_tools_and_contents():
    run = copy()
    for part in [run, *run["member_responses"]]:
        part.pop("messages")
    run["input"] = json.dumps(run["input"])
    graph = read(run)
    assert [(who, content) for who, _, content, _ in spoken(graph)] == [
        ("user", "When should we sail?"),
        ("Harbour Team", "When is high tide?"),
        ("Tide Reader", "high at 6"),
        ("Tide Reader", "no such harbour"),
        ("Tide Reader", "Let me look.High tide is at 6."),
        ("Harbour Team", "Write when to sail."),
        ("Writer", "Sail at 5."),
        ("Harbour Team", "Ask the reader.Sail at 5, an hour before high tide."),
    ]


def test_an_older_session_keeps_runs_in_its_memory():
    old = {"session_id": "s", "agent_id": "a", "memory": {"runs": [{"response": RUN}]}}
    assert spoken(read(old)) == spoken(read(EXAMPLE))


@pytest.mark.parametrize("value", [{"session_id": "s", "session_type": "team"}, []])
def test_what_holds_no_runs(value):
    with pytest.raises(InputError, match="it holds no runs"):
        results(value)


def test_a_value_that_is_no_run_is_named():
    graph, bad = results([RUN, {"hello": 1}])
    assert isinstance(graph, CollaborationGraph)
    assert (bad.record, bad.reason) == ("value 1", "it is no run")


def test_cuts_are_refused():
    for cut in cuts(EXAMPLE, 30):
        with pytest.raises(InputError):
            results(cut)


def test_damaged_files_are_survived():
    assert assert_survives(AGNO, EXAMPLE, 250) > 80
    assert assert_survives(AGNO, json.dumps(as_rows()).encode(), 150) > 40


def test_sniffing_goes_by_content():
    rows = json.dumps(as_rows()).encode()
    for content in (EXAMPLE, EXAMPLE[:900], rows, rows[:700]):
        assert AGNO.sniff(content)
    for other in (b"", b"{}", b"[]", b'{"run_id": "x"}', b'{"session_id": "x", "events": []}'):
        assert not AGNO.sniff(other)
