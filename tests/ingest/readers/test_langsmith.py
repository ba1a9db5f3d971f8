import copy
import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext, Rejection
from ingest.readers.langsmith import LANGSMITH
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
HARBOUR = (EXAMPLES / "langsmith" / "harbour.json").read_bytes()


def read_all(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(LANGSMITH.read(MemoryFile(content, "a.json"), ReadContext()))


def read(content):
    (graph,) = read_all(content)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def merged(content=HARBOUR):
    """The runs as an export holds them."""
    said = json.loads(content)
    runs = {run["id"]: run for run in said["post"]}
    for run in said["patch"]:
        runs[run["id"]] |= run
    return list(runs.values())


def test_agents_actions_and_edges():
    graph = read(HARBOUR)
    assert [(node.name, node.kind) for node in graph.nodes] == [
        ("planner", "agent_message"),
        ("pilot", "agent_message"),
        ("tide_table", "tool_call"),
        ("pilot", "agent_message"),
        ("gate", "decision"),
        ("clerk", "agent_message"),
    ]
    assert links(graph) == [
        (0, 1, "inferred"),
        (1, 2, "explicit"),
        (2, 3, "explicit"),
        (2, 5, "explicit"),
        (3, 4, "inferred"),
        (4, 5, "delivered"),
    ]
    assert [(node.tokens_in, node.tokens_out) for node in graph.nodes] == [
        (20, 7),
        (31, 9),
        (None, None),
        (52, 8),
        (None, None),
        (40, 11),
    ]
    assert graph.nodes[2].content == "High water at 14:20."
    assert graph.nodes[2].status == "ok"


def test_task_method_and_outcome():
    graph = read(HARBOUR)
    assert graph.task.description == "When should the ferry leave Elm?"
    assert (graph.method.name, graph.method.framework) == ("harbour", "langgraph")
    assert graph.outcome.answer == "Leave at two; the tide turns at 14:20."
    assert graph.attributes["project"] == "default"


def test_no_model_or_tool_run_is_lost_or_doubled():
    runs = merged()
    graph = read(HARBOUR)
    kinds = Counter(run["run_type"] for run in runs)
    assert kinds == {"chain": 9, "llm": 4, "tool": 1}
    ids = [node.attributes["span_id"] for node in graph.nodes]
    assert len(set(ids)) == len(ids)
    assert {run["id"] for run in runs if run["run_type"] != "chain"} < set(ids)
    usage = [
        run["extra"]["metadata"]["usage_metadata"] for run in runs if run["run_type"] == "llm"
    ]
    assert sum(node.tokens_in or 0 for node in graph.nodes) == sum(
        one["input_tokens"] for one in usage
    )


def test_all_wrappings_give_the_same_actions():
    runs = merged()
    expected = read(HARBOUR).nodes
    assert read(runs).nodes == expected
    assert read({"runs": runs[::-1]}).nodes == expected
    assert read(b"\n".join(json.dumps(run).encode() for run in runs)).nodes == expected
    said = json.loads(HARBOUR)
    halves = [{"post": said["post"]}, {"patch": said["patch"]}]
    assert read(b"\n".join(json.dumps(half).encode() for half in halves)).nodes == expected


def test_a_tree_of_child_runs_needs_no_dotted_order():
    runs = {run["id"]: {**run, "child_runs": []} for run in merged()}
    roots = []
    for run in runs.values():
        del run["dotted_order"]
        parent = run.pop("parent_run_id", None)
        (roots if parent is None else runs[parent]["child_runs"]).append(run)
    assert read(roots).nodes == read(HARBOUR).nodes


def test_parents_from_dotted_order_alone():
    runs = merged()
    for run in runs:
        run.pop("parent_run_id", None)
        run.pop("trace_id", None)
    assert read(runs).nodes == read(HARBOUR).nodes


def test_times_without_a_zone():
    runs = merged()
    for run in runs:
        run["start_time"] = run["start_time"].removesuffix("+00:00")
        run["end_time"] = run["end_time"].removesuffix("+00:00")
    first = read(HARBOUR).nodes[0]
    assert read(runs).nodes[0].ended_at == first.ended_at
    for run in runs:
        del run["dotted_order"]
    assert {node.started_at for node in read(runs).nodes} == {None}


def test_feedback_is_the_outcome_where_it_is_about_success():
    runs = merged()
    runs[0]["feedback_stats"] = {"correctness": {"n": 1, "avg": 1.0}, "style": {"avg": 0.2}}
    graph = read(runs)
    assert graph.outcome.score == 1.0
    assert graph.attributes["evaluations"] == [
        {"name": "correctness", "score": 1.0},
        {"name": "style", "score": 0.2},
    ]


def test_errors_and_traces():
    runs = merged()
    broken = next(run for run in runs if run["run_type"] == "tool")
    broken["error"] = "ToolError: no table for Elm"
    broken["outputs"] = None
    graph = read(runs)
    assert graph.nodes[2].status == "error"
    # The nodes around it put the words out.
    assert graph.nodes[2].content == "High water at 14:20."
    silent = [run | {"outputs": None} if run["run_type"] == "chain" else run for run in runs]
    assert read(silent).nodes[2].content is None
    assert graph.nodes[2].attributes["status_message"] == "ToolError: no table for Elm"
    other = copy.deepcopy(runs)
    for run in other:
        for key in ("id", "trace_id", "parent_run_id"):
            if run.get(key):
                run[key] = "b" + run[key][1:]
        del run["dotted_order"]
    assert len(read_all(runs + other)) == 2


def graph_run(id, name, kind, second, *, parent="root", given=(), put_out=(), node=None):
    path = ["root"] if parent is None else ["root", *([parent] if parent != "root" else []), id]
    start = f"20260301T1000{second:02}000000Z"
    return {
        "id": id,
        "trace_id": "root",
        "dotted_order": ".".join(start + part for part in path),
        "parent_run_id": parent,
        "name": name,
        "run_type": kind,
        "status": "success",
        "start_time": f"2026-03-01T10:00:{second:02}Z",
        "end_time": f"2026-03-01T10:00:{second:02}.500Z",
        "inputs": {"messages": list(given)},
        "outputs": {"messages": list(put_out)},
        "extra": {
            "metadata": {}
            if parent is None
            else {"langgraph_node": node or name, "langgraph_step": second}
        },
    }


def said(id, text, kind="ai"):
    return {"type": kind, "id": id, "content": text}


def test_words_that_a_node_wrote_beside_its_model_are_not_lost():
    asked, lifts, book = (
        said("m0", "Can it?", "human"),
        said("m1", "40 t."),
        said("m2", "Book."),
    )
    noted, done = said("m3", "Noted."), said("m4", "Done.")
    runs = [
        graph_run("root", "team", "chain", 0, parent=None, given=[asked], put_out=[done]),
        graph_run("c", "crane", "chain", 1, given=[asked], put_out=[asked, lifts, book]),
        graph_run(
            "l", "model", "llm", 1, parent="c", given=[asked], put_out=[lifts], node="crane"
        ),
        # A clerk without a model passes on what it was given, and adds a word of its own.
        graph_run(
            "k", "clerk", "chain", 3, given=[asked, lifts], put_out=[asked, lifts, noted, done]
        ),
    ]
    for order in (runs, runs[::-1]):
        graph = read(order)
        agents = {agent.id: agent.name for agent in graph.agents}
        assert [(agents[node.agent], node.content) for node in graph.nodes] == [
            ("crane", "40 t."),
            ("crane", "Book."),
            ("clerk", "Noted."),
            ("clerk", "Done."),
        ]
        written = [node.attributes.get("written_by") for node in graph.nodes]
        assert written == [None, "node", "node", "node"]
        times = [node.started_at for node in graph.nodes]
        assert times == sorted(times)


def test_a_trace_without_actions_is_rejected_by_its_id():
    runs = [run for run in merged() if run["run_type"] == "chain"][:1]
    (rejection,) = read_all(runs)
    assert isinstance(rejection, Rejection)
    assert rejection.record == runs[0]["trace_id"]


@pytest.mark.parametrize("content", [b"", b" ", b"[]", b"{}", b"7", b'{"post": 1}', b"{"])
def test_files_that_hold_no_run(content):
    with pytest.raises(InputError):
        read_all(content)


def test_damaged_files_give_errors_only():
    assert assert_survives(LANGSMITH, HARBOUR, count=100) > 20
    for cut in cuts(HARBOUR, 30):
        LANGSMITH.sniff(cut)
        with pytest.raises(InputError):
            read_all(cut)


def test_sniffs_its_own_files_only():
    assert LANGSMITH.sniff(HARBOUR)
    assert LANGSMITH.sniff(HARBOUR[:1_000])
    assert LANGSMITH.sniff(json.dumps(merged()).encode())
    assert LANGSMITH.sniff(json.dumps(merged()[0]).encode() + b"\n{}")
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if "langsmith" not in path.parts:
            assert not LANGSMITH.sniff(path.read_bytes()[:65_536]), path
