"""A TaskResult's text says what its JSON says, and is never evaluated."""

import json

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import Rejection
from ingest.readers.autogen_messages import AUTOGEN_MESSAGES
from ingest.readers.autogen_taskresult import AUTOGEN_TASKRESULT
from ingest.readers.python_repr import parse_repr
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import (
    FORMATS,
    claimed_by,
    contents,
    edges,
    read_all,
    read_one,
    tokens,
)

GARDEN = (FORMATS / "autogen-taskresult" / "garden.txt").read_bytes()
JSON = (FORMATS / "autogen-messages" / "garden.result.json").read_bytes()
OLD = (
    "TaskResult(messages=["
    "TextMessage(source='user', models_usage=None, content='Hi\\n\"you\"', "
    "type='TextMessage'), "
    "ToolCallRequestEvent(source='a', "
    "models_usage=RequestUsage(prompt_tokens=7, completion_tokens=2), "
    "content=[FunctionCall(id='1', arguments='{}', name='look')], "
    "type='ToolCallRequestEvent'), "
    "ToolCallExecutionEvent(source='a', models_usage=None, "
    "content=[FunctionExecutionResult(content='seen', call_id='1')], "
    "type='ToolCallExecutionEvent'), "
    "HandoffMessage(source='a', models_usage=None, target='b', content='To b', "
    "type='HandoffMessage')], stop_reason='Handoff')"
)


def test_the_text_reads_as_the_json_does():
    one, other = read_one(AUTOGEN_TASKRESULT, GARDEN), read_one(AUTOGEN_MESSAGES, JSON)
    assert contents(one) == contents(other)
    assert edges(one) == edges(other)
    assert tokens(one) == tokens(other) == (233, 56)
    assert [n.started_at for n in one.nodes] == [n.started_at for n in other.nodes]
    assert [n.attributes for n in one.nodes] == [n.attributes for n in other.nodes]
    assert one.outcome == other.outcome
    assert one.nodes[0].started_at is not None


def test_an_older_result_by_hand():
    graph = read_one(AUTOGEN_TASKRESULT, OLD.encode())
    assert [agent.name for agent in graph.agents] == ["user", "a", "b"]
    assert [node.kind for node in graph.nodes] == ["agent_message", "tool_call", "decision"]
    assert contents(graph) == ['Hi\n"you"', "seen", "To b"]
    assert edges(graph) == [(0, 1, "delivered"), (1, 2, "continued")]
    assert tokens(graph) == (7, 2)
    assert all(node.started_at is None for node in graph.nodes)
    assert graph.outcome.termination == "Handoff"


def test_printed_laid_out_and_surrounded():
    printed = "messages=[TextMessage(source='a', content='] stop_reason=', type='TextMessage')]"
    graph = read_one(AUTOGEN_TASKRESULT, (printed + " stop_reason='End'").encode())
    assert contents(graph) == ["] stop_reason="]
    assert graph.outcome.termination == "End"
    laid_out = OLD.replace("TaskResult(messages=[", "TaskResult(\n    messages=[\n", 1)
    assert contents(read_one(AUTOGEN_TASKRESULT, laid_out.encode())) == [
        'Hi\n"you"',
        "seen",
        "To b",
    ]
    around = f"{OLD}\nDone in 3 s\n"
    assert len(read_one(AUTOGEN_TASKRESULT, around.encode()).nodes) == 3


def test_several_results_are_several_runs():
    cut = OLD[: len(OLD) // 2]
    first, rejected, last = read_all(AUTOGEN_TASKRESULT, f"{OLD}\n{cut}\n{OLD}\n".encode())
    assert isinstance(first, CollaborationGraph)
    assert isinstance(last, CollaborationGraph)
    assert [first.source.record, last.source.record] == ["line 1", "line 3"]
    assert first.id != last.id
    assert isinstance(rejected, Rejection)
    assert rejected.record == "line 2"
    assert "no complete Python value" in rejected.reason


def test_no_message_is_lost():
    raw = json.loads(JSON)["messages"]
    calls = sum(len(m["content"]) for m in raw if m["type"] == "ToolCallRequestEvent")
    pairs = sum(m["type"].startswith("ToolCall") for m in raw)
    graph = read_one(AUTOGEN_TASKRESULT, GARDEN)
    assert len(graph.nodes) == len(raw) - pairs + calls


def test_parsed_and_never_run():
    assert parse_repr("[1, -2.5, None, True, {'a': (1, 'b')}]") == [
        1,
        -2.5,
        None,
        True,
        {"a": [1, "b"]},
    ]
    assert parse_repr("Image(at=<Image object at 0x7f>)") == {
        "at": "<Image object at 0x7f>",
        "type": "Image",
    }
    zoned = "datetime.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=TzInfo(UTC))"
    assert parse_repr(zoned) == "2026-01-02T03:04:05.000006+00:00"
    called = parse_repr("__import__('os').system('echo no')")
    assert called == {"arguments": ["echo no"], "type": "system"}
    for text in ("", "[1", "a b", "(" * 500, "x = 1", "'\x00'"):
        with pytest.raises(InputError):
            parse_repr(text)


@pytest.mark.parametrize("content", [b"", b"nothing here", OLD[:-40].encode(), b"TaskResult()"])
def test_what_is_no_result_is_an_error(content):
    with pytest.raises(InputError):
        read_all(AUTOGEN_TASKRESULT, content)


def test_sniffing():
    assert claimed_by(GARDEN) == ["autogen-taskresult"]
    assert claimed_by(OLD.encode()) == ["autogen-taskresult"]
    for cut in cuts(GARDEN):
        AUTOGEN_TASKRESULT.sniff(cut)
    assert not AUTOGEN_TASKRESULT.sniff(b"The TaskResult(messages=[]) was empty")


def test_damage_is_rejected():
    assert assert_survives(AUTOGEN_TASKRESULT, GARDEN) > 0
    assert assert_survives(AUTOGEN_TASKRESULT, OLD.encode()) > 0
