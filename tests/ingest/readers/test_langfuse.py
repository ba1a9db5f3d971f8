import copy
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext, Rejection
from ingest.readers.langfuse import LANGFUSE
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
BENCHES = (EXAMPLES / "langfuse" / "bench-finder.trace.json").read_bytes()


def read_all(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(LANGFUSE.read(MemoryFile(content, "a.json"), ReadContext()))


def read(content):
    (graph,) = read_all(content)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def test_agents_actions_and_edges():
    graph = read(BENCHES)
    assert [(agent.name, agent.kind) for agent in graph.agents] == [
        ("surveyor", "agent"),
        ("critic", "agent"),
        ("sun_hours", "tool"),
        ("list_benches", "tool"),
    ]
    assert [(node.name, node.kind, node.status) for node in graph.nodes] == [
        ("surveyor", "agent_message", None),
        ("sun_hours", "tool_call", "error"),
        ("list_benches", "tool_call", None),
        ("surveyor", "agent_message", None),
        ("critic", "agent_message", None),
    ]
    assert links(graph) == [
        (0, 1, "explicit"),
        (0, 2, "explicit"),
        (1, 3, "explicit"),
        (2, 3, "explicit"),
        (3, 4, "inferred"),
    ]
    assert graph.nodes[4].content == "Agreed: bench 14 faces west and nothing stands before it."
    assert graph.nodes[0].started_at == 1_773_480_600_700_000_000
    assert graph.nodes[1].attributes["status_message"] == "the sun table has no bench 14"


def test_task_method_and_outcome():
    graph = read(BENCHES)
    assert graph.task.description == "Which bench on the river path gets the most evening sun?"
    assert (graph.method.name, graph.method.framework) == ("bench-finder", "langgraph")
    assert graph.outcome.success is True
    assert graph.outcome.score == 1.0
    assert graph.outcome.cost == pytest.approx(0.0004)
    assert graph.attributes["evaluations"][1] == {
        "name": "tone",
        "score": 0.9,
        "of": "c3f2",
        "by": "EVAL",
    }


def test_nothing_is_lost_or_doubled():
    said = json.loads(BENCHES)
    beside = {one["id"]: one for one in said["observations"]}
    actions = [one for one in beside.values() if one["type"] in ("GENERATION", "TOOL")]
    graph = read(BENCHES)
    assert len(graph.nodes) == len(actions)
    ids = {node.attributes["span_id"] for node in graph.nodes}
    assert ids == {one["id"] for one in actions}
    assert sum(node.tokens_in or 0 for node in graph.nodes) == sum(
        one["usageDetails"].get("input", 0) for one in actions
    )
    others = {one["span_id"] for one in graph.attributes["containers"]}
    assert others == beside.keys() - ids


def test_order_of_observations_and_json_in_texts_change_nothing():
    said = json.loads(BENCHES)
    random.Random(5).shuffle(said["observations"])
    for one in said["observations"]:
        for key in ("input", "output", "metadata"):
            if one[key] is not None and not isinstance(one[key], str):
                one[key] = json.dumps(one[key])
    assert read(said).nodes == read(BENCHES).nodes


def test_other_wrappings():
    said = json.loads(BENCHES)
    whole = {**said["trace"], "observations": said["observations"]}
    expected = read(BENCHES).nodes
    assert read(whole).nodes == expected
    assert read([said]).nodes == expected
    assert read({"data": [whole], "meta": {}}).nodes == expected
    lines = b"\n".join(json.dumps(one).encode() for one in said["observations"])
    assert read(lines).nodes == expected


def test_exports_in_snake_case_with_traces_and_observations_apart():
    said = json.loads(BENCHES)
    trace = said["trace"]
    del trace["observations"]

    def snake(key):
        return re.sub(r"(?<=[a-z])([A-Z])", lambda found: "_" + found[1].lower(), key)

    apart = [{snake(key): value for key, value in one.items()} for one in said["observations"]]
    lines = [trace, *apart]
    graph = read(b"\n".join(json.dumps(line).encode() for line in lines))
    assert graph.nodes == read(BENCHES).nodes
    assert graph.outcome == read(BENCHES).outcome
    (rejection,) = read_all(trace)
    assert rejection.reason == "the trace has no observations"


def test_two_traces_are_two_runs():
    one = json.loads(BENCHES)
    other = copy.deepcopy(one)
    other["trace"]["id"] = "other"
    first, second = read_all([one, other])
    assert first.id != second.id
    assert len(first.nodes) == len(second.nodes) == 5


def test_an_answer_in_a_call_that_no_tool_takes():
    said = json.loads(BENCHES)
    for one in said["observations"]:
        if one["id"] == "b2e5":
            one["output"] = [
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "tool_call", "name": "result", "arguments": {"bench": 14}}
                    ],
                }
            ]
    assert read(said).nodes[3].content == '{"bench":14}'


def observation(id, name, kind, second, *, parent="root", given=(), put_out=(), node=None):
    return {
        "id": id,
        "traceId": "t",
        "type": kind,
        "name": name,
        "parentObservationId": parent,
        "startTime": f"2026-03-01T10:00:{second:02}.000Z",
        "endTime": f"2026-03-01T10:00:{second:02}.500Z",
        "input": {"messages": list(given)},
        "output": {"messages": list(put_out)},
        "metadata": {}
        if parent is None
        else {"langgraph_node": node or name, "langgraph_step": second},
    }


@pytest.mark.parametrize("kind", ["CHAIN", "SPAN", "AGENT"])
def test_words_that_a_node_wrote_beside_its_model_are_not_lost(kind):
    def message(id, text, type="ai"):
        return {"type": type, "id": id, "content": text}

    asked, lifts = message("m0", "Can it?", "human"), message("m1", "40 t.")
    book = message("m2", "Book.")
    observations = [
        observation("root", "team", kind, 0, parent=None, given=[asked], put_out=[book]),
        observation("c", "crane", kind, 1, given=[asked], put_out=[asked, lifts, book]),
        observation(
            "l", "model", "GENERATION", 1, parent="c", given=[asked], put_out=[lifts],
            node="crane",
        ),
    ]  # fmt: skip
    for order in (observations, observations[::-1]):
        graph = read({"trace": {"id": "t", "name": "team"}, "observations": order})
        agents = {agent.id: agent.name for agent in graph.agents}
        assert [(agents[node.agent], node.content) for node in graph.nodes] == [
            ("crane", "40 t."),
            ("crane", "Book."),
        ]
        assert graph.nodes[1].attributes["written_by"] == "node"


def test_one_score_of_quality_is_no_outcome():
    said = json.loads(BENCHES)
    del said["trace"]["scores"][0]
    outcome = read(said).outcome
    assert (outcome.success, outcome.score) == (None, None)


def test_missing_usage_and_times_are_missing():
    said = json.loads(BENCHES)
    del said["trace"]["observations"]
    for one in said["observations"]:
        one["usageDetails"] = {}
        one["inputUsage"] = 0
        one["startTime"] = one["startTime"].removesuffix("Z")
    graph = read(said)
    assert {node.tokens_in for node in graph.nodes} == {None}
    assert {node.started_at for node in graph.nodes} == {None}


def test_a_trace_without_actions_is_rejected_by_its_id():
    said = json.loads(BENCHES)
    del said["trace"]["observations"]
    said["observations"] = [one for one in said["observations"] if one["type"] == "EVENT"]
    (rejection,) = read_all(said)
    assert isinstance(rejection, Rejection)
    assert rejection.record == said["trace"]["id"]


@pytest.mark.parametrize("content", [b"", b"  ", b"[]", b"{}", b"7", b'{"trace": 1}', b"{"])
def test_files_that_hold_no_trace(content):
    with pytest.raises(InputError):
        read_all(content)


def test_damaged_files_give_errors_only():
    assert assert_survives(LANGFUSE, BENCHES, count=150) > 20
    for cut in cuts(BENCHES, 40):
        LANGFUSE.sniff(cut)
        with pytest.raises(InputError):
            read_all(cut)


def test_sniffs_its_own_files_only():
    assert LANGFUSE.sniff(BENCHES)
    assert LANGFUSE.sniff(BENCHES[:700])
    one = json.loads(BENCHES)["observations"][0]
    assert LANGFUSE.sniff(json.dumps(one).encode())
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if "langfuse" not in path.parts:
            assert not LANGFUSE.sniff(path.read_bytes()[:65_536]), path


def test_kinds_of_observations():
    kinds = Counter(one["type"] for one in json.loads(BENCHES)["observations"])
    assert kinds == {"SPAN": 2, "GENERATION": 3, "AGENT": 1, "TOOL": 2, "EVENT": 1}
