import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext
from ingest.readers.a2a import A2A
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "a2a" / "lantern.jsonl"
).read_bytes()


def lines():
    return [json.loads(line) for line in EXAMPLE.splitlines()]


def written(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def results(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(A2A.read(MemoryFile(content), ReadContext()))


def read(content):
    (graph,) = results(content)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [(by_id[node.agent], node.content, node.status) for node in graph.nodes]


def test_a_conversation_over_two_tasks():
    graph = read(EXAMPLE)
    assert spoken(graph) == [
        ("client", "Draw me a paper lantern.", None),
        ("Lantern Studio", "Round or square?", None),
        ("client", "Round.", None),
        ("Lantern Studio", "A round paper lantern", None),
        ("Lantern Studio", "Light it from below.", None),
        ("client", "Now in red.", None),
        ("Lantern Studio", "Red ink is out.", "error"),
    ]
    assert links(graph) == [
        (0, 1, "explicit"),
        (1, 2, "explicit"),
        (1, 5, "explicit"),
        (2, 3, "explicit"),
        (2, 4, "explicit"),
        (3, 5, "explicit"),
        (4, 5, "explicit"),
        (5, 6, "explicit"),
    ]
    assert all(len(node.recipients) == 1 for node in graph.nodes)
    (drawing,) = graph.nodes[3].outputs
    assert (drawing.name, drawing.type) == ("lantern.svg", "image/svg+xml")
    assert [artifact.name for artifact in graph.nodes[4].outputs] == ["notes"]
    assert graph.nodes[1].started_at == 1_772_359_202 * 10**9
    assert graph.attributes["tasks"] == {"task-lantern-1": "completed"}
    assert graph.outcome.termination == "completed"
    assert graph.name == "ctx-lantern"
    assert graph.agents[0].role == "unknown"


def test_no_message_or_artifact_is_lost_or_doubled():
    said: Counter = Counter()
    for line in lines():
        message = line.get("params", {}).get("message") or (
            line.get("result", {}).get("status", {}).get("message")
        )
        if message:
            said[message["parts"][0]["text"]] += 1
    graph = read(EXAMPLE)
    kept = Counter(content for _, content, status in spoken(graph) if status is None)
    assert kept == said + Counter({"A round paper lantern": 1, "Light it from below.": 1})


def newer(text):
    """The same exchange as version 1.0 of the protocol spells it."""
    states = {"submitted", "input-required", "completed"}
    kinds = {"status-update": "statusUpdate", "artifact-update": "artifactUpdate"}

    def change(value):
        if isinstance(value, list):
            return [change(part) for part in value]
        if not isinstance(value, dict):
            return value
        found = {key: change(part) for key, part in value.items()}
        kind = found.pop("kind", None)
        if kind == "file":
            return {"raw": "PHN2Zy8+", "filename": "lantern.svg", "mediaType": "image/svg+xml"}
        if found.get("state") in states:
            found["state"] = "TASK_STATE_" + found["state"].upper().replace("-", "_")
        if found.get("role"):
            found["role"] = "ROLE_" + found["role"].upper()
        methods = {"message/stream": "SendStreamingMessage", "message/send": "SendMessage"}
        methods["tasks/get"] = "GetTask"
        found["method"] = methods.get(found.get("method"))
        found = {k: v for k, v in found.items() if k != "method" or v}
        if kind in ("task", *kinds):
            return {kinds.get(kind, kind): found}
        return found

    return written([change(json.loads(line)) for line in text.splitlines()])


def test_the_newer_spelling_says_the_same():
    content = newer(EXAMPLE)
    assert A2A.sniff(content)
    one, other = read(EXAMPLE), read(content)
    assert spoken(other) == spoken(one)
    assert links(other) == links(one)
    assert other.outcome == one.outcome
    assert other.nodes[3].outputs == one.nodes[3].outputs


def test_a_stored_task_alone():
    task = lines()[10]["result"]
    graph = read(task)
    assert [content for _, content, _ in spoken(graph)] == [
        "Draw me a paper lantern.",
        "Round or square?",
        "Round.",
        "A round paper lantern",
        "Light it from below.",
    ]
    assert A2A.sniff(json.dumps(task).encode())
    assert A2A.sniff(json.dumps([task]).encode())
    assert spoken(read([task, task])) == spoken(graph)


def test_messages_without_ids_are_told_apart_by_their_place():
    task = lines()[10]["result"]
    for message in task["history"]:
        message.pop("messageId")
    task["history"].append(dict(task["history"][-1]))
    graph = read([task, task])
    assert [content for _, content, _ in spoken(graph)].count("Round.") == 2


def test_conversations_are_runs():
    text = EXAMPLE.decode()
    again = text.replace("ctx-lantern", "ctx-2").replace("task-lantern", "task-2")
    for number in range(1, 5):
        again = again.replace(f'"m{number}"', f'"n{number}"')
    graphs = results((text + again).encode())
    assert [graph.name for graph in graphs] == ["ctx-lantern", "ctx-2"]
    assert spoken(graphs[0]) == spoken(graphs[1])


def test_parts_of_all_kinds():
    task = {
        "id": "t",
        "contextId": "c",
        "status": {"state": "working"},
        "history": [
            {
                "messageId": "m",
                "role": "user",
                "parts": [{"kind": "data", "data": {"a": 1}}, {"root": {"text": "x"}}, 3],
            }
        ],
    }
    graph = read(task)
    assert spoken(graph) == [("client", '{"a":1}\nx\n3', None)]
    assert graph.outcome.termination == "working"


def test_what_holds_no_message():
    with pytest.raises(InputError, match="it holds no message"):
        results(lines()[0])
    graph, bad = results(EXAMPLE + b'{"hello": 1}\n')
    assert isinstance(graph, CollaborationGraph)
    assert bad.record == "value 13"


def test_cuts_lose_only_what_was_cut():
    for cut in cuts(EXAMPLE, 30):
        try:
            found = [r for r in results(cut) if isinstance(r, CollaborationGraph)]
        except InputError:
            continue
        assert sum(len(graph.nodes) for graph in found) <= 7


def test_damaged_files_are_survived():
    assert assert_survives(A2A, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    task = json.dumps(lines()[10]["result"]).encode()
    for content in (EXAMPLE, written(lines()[1:]), written(lines()[1:])[:200], task[:120]):
        assert A2A.sniff(content)
    rpc = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}'
    card = json.dumps(lines()[0]).encode()
    for other in (b"", b"{}", rpc, card, b'{"id": "x", "status": {"state": "done"}}'):
        assert not A2A.sniff(other)
