"""AutoGen's console text, with and without the classes of its messages."""

import re

import pytest

from graphstore.errors import InputError
from ingest.readers.autogen_console import AUTOGEN_CONSOLE
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
    tokens,
)

FOLDER = FORMATS / "autogen-console"
LIBRARY = (FOLDER / "library.txt").read_bytes()
BAKERY = (FOLDER / "bakery.txt").read_bytes()


def block(header, *lines):
    return f"---------- {header} ----------\n" + "\n".join(lines) + "\n"


def read_text(*blocks):
    return read_one(AUTOGEN_CONSOLE, "".join(blocks).encode())


def test_a_swarm_by_hand():
    graph = read_one(AUTOGEN_CONSOLE, LIBRARY)
    assert agents(graph) == ["user", "front_desk", "librarian"]
    assert kinds(graph) == {"agent_message": 3, "tool_call": 3, "decision": 2}
    assert edges(graph) == [
        (0, 1, "delivered"),
        (0, 3, "delivered"),
        (1, 2, "continued"),
        (2, 3, "inferred"),
        (3, 4, "continued"),
        (4, 5, "continued"),
        (4, 7, "delivered"),
        (5, 6, "continued"),
        (6, 7, "inferred"),
    ]
    assert receivers(graph, graph.nodes[2]) == ["librarian"]
    assert graph.nodes[2].delivery == "inferred"
    assert graph.nodes[3].attributes["arguments"] == '{"title":"Moss"}'
    assert graph.nodes[3].status == "ok"
    assert tokens(graph) == (193, 39)
    outcome = graph.outcome
    assert (outcome.tokens_in, outcome.tokens_out) == (193, 39)
    assert (outcome.termination, outcome.latency) == ("Text 'DONE' mentioned", 0.05)
    assert graph.source.warnings == ()


def test_an_older_text_with_two_runs_by_hand():
    graph = read_one(AUTOGEN_CONSOLE, BAKERY)
    assert agents(graph) == ["user", "shopkeeper", "baker"]
    assert kinds(graph) == {"agent_message": 5, "tool_call": 3, "decision": 1}
    assert contents(graph)[3:7] == [
        "4",
        "2",
        'Tool calls:\ncount({"kind":"rye"}) = 4\ncount({"kind":"oat"}) = 2',
        "Six loaves: four of rye,\n\ntwo of oat.",
    ]
    assert bases(graph) == {"delivered": 6, "continued": 4, "inferred": 2}
    assert receivers(graph, graph.nodes[2]) == ["baker"]
    assert graph.nodes[3].attributes["printed"] == "The scale was switched on."
    assert graph.nodes[5].attributes["type"] == "ToolCallSummaryMessage"
    assert graph.nodes[5].attributes["type_is_guessed"] is True
    assert tokens(graph) == (21 + 34 + 58 + 70, 7 + 19 + 12 + 6)
    outcome = graph.outcome
    assert (outcome.tokens_in, outcome.tokens_out, outcome.latency) == (183, 44, 4.25)
    assert outcome.termination == "Maximum number of turns 1 reached."


@pytest.mark.parametrize("content", [LIBRARY, BAKERY])
def test_no_message_and_no_token_is_lost(content):
    text = content.decode()
    headers = re.findall(r"^-{10} (.*) -{10}$", text, re.MULTILINE)
    results = text.count("\n[FunctionExecutionResult(")
    requests = text.count("\n[FunctionCall(")
    calls = text.count("FunctionCall(")
    messages = len(headers) - headers.count("Summary") - results - requests
    usages = re.findall(r"^\[Prompt tokens: (\d+), Completion tokens: (\d+)\]$", text, re.M)
    graph = read_one(AUTOGEN_CONSOLE, content)
    assert len(graph.nodes) == messages + calls
    assert tokens(graph) == (sum(int(a) for a, _ in usages), sum(int(b) for _, b in usages))


def test_a_repeated_result_at_the_end_is_left_out():
    shown = "TaskResult(messages=[TextMessage(source='a', content='Yes')], stop_reason='End')"
    graph = read_text(block("user", "Well?"), block("a", "Yes"), shown)
    assert contents(graph) == ["Well?", "Yes"]
    assert graph.outcome.termination == "End"
    assert len(graph.source.warnings) == 1


def test_what_is_printed_around_is_named():
    graph = read_text(
        "Starting\n",
        block("user", "Hi"),
        block("Summary", "Number of messages: 4", "Finish reason: None", "Bye"),
    )
    assert contents(graph) == ["Hi"]
    assert graph.outcome.termination is None
    assert len(graph.source.warnings) == 3


def test_an_agent_called_summary_and_odd_lines():
    graph = read_text(block("user", "Hi"), block("Summary", "All is well."))
    assert agents(graph) == ["user", "Summary"]
    assert contents(graph) == ["Hi", "All is well."]
    text = block("a b (c)", "x\r", "----------", "y").replace("\n", "\r\n")
    assert read_text("\x1b[32m" + text + "\x1b[0m").nodes[0].content.startswith("x")
    streamed = read_text(block("ModelClientStreamingChunkEvent (a)", "A few words"))
    assert streamed.nodes[0].attributes["streamed"] is True
    assert streamed.nodes[0].kind == "agent_message"


@pytest.mark.parametrize("content", [b"", b"no header", b"\xff\xfe", b"---- a ----\nx"])
def test_what_is_no_console_text_is_an_error(content):
    with pytest.raises(InputError):
        read_all(AUTOGEN_CONSOLE, content)


@pytest.mark.parametrize("content", [LIBRARY, BAKERY])
def test_sniffing_and_damage(content):
    assert claimed_by(content) == ["autogen-console"]
    for cut in cuts(content):
        AUTOGEN_CONSOLE.sniff(cut)
    assert assert_survives(AUTOGEN_CONSOLE, content) > 0


def test_one_line_of_dashes_in_a_text_is_no_header():
    assert not AUTOGEN_CONSOLE.sniff(b"Notes\n---------- part ----------\nMore")
    assert not AUTOGEN_CONSOLE.sniff(b"{\n---------- part ----------\n")
