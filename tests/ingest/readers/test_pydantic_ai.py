import json
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext
from ingest.readers.pydantic_ai import PYDANTIC_AI
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats"
LAMPS = (EXAMPLES / "pydantic-ai" / "lamps.json").read_bytes()


def read_all(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(PYDANTIC_AI.read(MemoryFile(content, "a.json"), ReadContext()))


def read(content):
    (graph,) = read_all(content)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def test_agents_actions_and_edges():
    graph = read(LAMPS)
    assert [(agent.name, agent.kind) for agent in graph.agents] == [
        ("agent", "agent"),
        ("user", "human"),
        ("count_lamps", "tool"),
        ("weather", "tool"),
    ]
    assert [(n.name, n.content, n.tokens_in, n.status) for n in graph.nodes] == [
        ("user", "When do we mend the lamps in Quay?", None, None),
        ("agent", "I ask the counter.", 40, None),
        ("count_lamps", "Eleven lamps are out.", None, "ok"),
        ("weather", "no forecast for Monday", None, "error"),
        ("agent", None, 60, None),
        ("weather", '{"day":"Tuesday","rain":false}', None, "ok"),
        ("agent", "Send two crews on Tuesday; eleven lamps are out.", 75, None),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "explicit"),
        (1, 3, "explicit"),
        (2, 4, "delivered"),
        (3, 4, "delivered"),
        (4, 5, "explicit"),
        (5, 6, "delivered"),
    ]
    assert graph.nodes[1].attributes["thinking"] == ["I need numbers."]
    assert graph.nodes[2].attributes["arguments"] == {"street": "Quay"}
    assert graph.nodes[2].ended_at > graph.nodes[2].started_at
    assert graph.outcome.answer == "Send two crews on Tuesday; eleven lamps are out."
    assert graph.attributes["instructions"] == ["You look after street lamps."]


def test_no_part_is_lost_or_doubled():
    parts = [part["part_kind"] for message in json.loads(LAMPS) for part in message["parts"]]
    responses = [message for message in json.loads(LAMPS) if message["kind"] == "response"]
    graph = read(LAMPS)
    kinds = [node.kind for node in graph.nodes]
    assert kinds.count("tool_call") == parts.count("tool-call") == parts.count("tool-return")
    assert kinds.count("agent_message") == len(responses) + parts.count("user-prompt")
    for count, key in ((175, "tokens_in"), (38, "tokens_out")):
        assert sum(getattr(node, key) or 0 for node in graph.nodes) == count
    assert sum(message["usage"]["input_tokens"] for message in responses) == 175


def test_histories_line_by_line():
    said = json.loads(LAMPS)
    first = said[:2]
    lines = b"\n".join(json.dumps(one).encode() for one in (first, said))
    graph = read(lines)
    assert len(graph.nodes) == 7
    assert "histories that later ones of the file repeat were left out" in graph.source.warnings
    other = json.loads(LAMPS.replace(b"01a22ddc-cce4-712e-8fb1-e5fe532125fa", b"other"))
    both = read_all(b"\n".join(json.dumps(one).encode() for one in (said, other)))
    assert [graph.source.record for graph in both] == ["record 1", "record 2"]


def test_an_object_around_a_history_names_the_agent():
    graph = read({"agent": "warden", "messages": json.loads(LAMPS)})
    assert graph.agents[0].name == "warden"
    assert graph.source.warnings == ()


def test_older_and_other_parts():
    history = [
        {
            "kind": "request",
            "parts": [
                {"part_kind": "user-prompt", "content": ["Read this.", {"kind": "image-url"}]}
            ],
        },
        {
            "kind": "response",
            "parts": [{"part_kind": "text", "content": "No."}],
            "usage": {"requests": 1, "request_tokens": 7, "response_tokens": 2},
        },
        {
            "kind": "request",
            "parts": [{"part_kind": "retry-prompt", "content": "Answer with a number."}],
        },
        {
            "kind": "response",
            "parts": [
                {"part_kind": "tool-call", "tool_name": "final_result", "args": '{"n":4}'},
                {"part_kind": "something-new", "content": "x"},
            ],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        },
    ]
    graph = read(history)
    assert [(n.name, n.content, n.tokens_in, n.status) for n in graph.nodes] == [
        ("user", "Read this.", None, None),
        ("agent", "No.", 7, None),
        ("validation", "Answer with a number.", None, "error"),
        ("agent", None, None, None),
        ("final_result", None, None, None),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "explicit"),
        (2, 3, "delivered"),
        (3, 4, "explicit"),
    ]
    assert graph.nodes[0].attributes["media"] == ["image-url"]
    assert graph.nodes[0].started_at is None
    assert graph.outcome.answer == '{"n":4}'
    assert "parts of unknown kinds are kept as attributes" in graph.source.warnings


def test_a_tool_that_is_called_like_the_agent_stays_a_tool():
    said = json.loads(LAMPS.replace(b'"count_lamps"', b'"agent"'))
    assert [(a.name, a.kind) for a in read(said).agents][:3] == [
        ("agent", "agent"),
        ("user", "human"),
        ("agent", "tool"),
    ]


@pytest.mark.parametrize(
    "content", [b"", b" ", b"[]", b"{}", b"7", b'[{"kind": "request"}]', b"{"]
)
def test_files_that_hold_no_history(content):
    with pytest.raises(InputError):
        read_all(content)


def test_damaged_files_give_errors_only():
    assert assert_survives(PYDANTIC_AI, LAMPS, count=150) > 20
    for cut in cuts(LAMPS, 40):
        PYDANTIC_AI.sniff(cut)
        with pytest.raises(InputError):
            read_all(cut)


def test_sniffs_its_own_files_only():
    assert PYDANTIC_AI.sniff(LAMPS)
    assert PYDANTIC_AI.sniff(LAMPS[:400])
    assert PYDANTIC_AI.sniff(json.dumps({"messages": json.loads(LAMPS)}).encode())
    for path in sorted(EXAMPLES.parent.rglob("*.json*")):
        if "pydantic-ai" not in path.parts:
            assert not PYDANTIC_AI.sniff(path.read_bytes()[:65_536]), path
