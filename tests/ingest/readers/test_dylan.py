import json
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.pipeline import read as read_files
from ingest.reader import ReadContext, Rejection
from ingest.readers.dylan import DYLAN
from ingest.readers.dylan_summary import parse_summary
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats" / "dylan"
TABLE = (EXAMPLES / "jugs_test_2.json").read_bytes()
SUMMARY = (EXAMPLES / "jugs_test_2.txt").read_bytes()


def read(content, uri="a.json"):
    return list(DYLAN.read(MemoryFile(content, uri), ReadContext()))


def read_both(table=TABLE, summary=SUMMARY):
    files = [MemoryFile(summary, "x/a.txt"), MemoryFile(table, "x/a.json")]
    return list(DYLAN.read_joined(files, ReadContext()))


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def test_each_round_reads_the_one_before():
    first, second = read(TABLE)
    assert [(node.name, node.round) for node in first.nodes] == [
        ("agent 1", 0),
        ("agent 2", 0),
        ("agent 3", 0),
        ("agent 1", 1),
        ("agent 2", 1),
        ("agent 2", 2),
        ("agent 3", 2),
    ]
    assert links(first) == [
        (0, 3, "continued"),
        (0, 4, "delivered"),
        (1, 3, "delivered"),
        (1, 4, "continued"),
        (2, 3, "delivered"),
        (2, 4, "delivered"),
        (3, 5, "delivered"),
        (3, 6, "delivered"),
        (4, 5, "continued"),
        (4, 6, "delivered"),
    ]
    agents = [agent.id for agent in first.agents]
    assert first.nodes[2].recipients == (agents[0], agents[1])
    assert first.nodes[2].delivery == "broadcast"
    assert first.nodes[5].recipients == ()
    assert len(second.agents) == 3
    assert len(second.nodes) == 2
    assert links(second) == []


def test_no_reply_is_lost_or_doubled():
    raw = [
        [reply for row in json.loads(line) for reply in row if reply is not None]
        for line in TABLE.splitlines()
    ]
    for graph, replies in zip(read(TABLE), raw, strict=True):
        assert sorted(node.content for node in graph.nodes) == sorted(replies)
    assert sum(map(len, raw)) == parse_summary(SUMMARY).calls


def test_the_summary_of_the_same_name_tells_what_was_right():
    first, second = read_both()
    assert [first.outcome.success, second.outcome.success] == [True, False]
    assert [node.attributes["importance"] for node in first.nodes] == [
        0.4, 0.4, 0.2, 0.5, 0.5, 0.6, 0.4,
    ]  # fmt: skip
    assert first.attributes["file_totals"] == {
        "questions": 2,
        "calls": 9,
        "prompt_tokens": 1500,
        "completion_tokens": 240,
    }
    assert all(node.tokens_in is None for node in first.nodes)
    alone = read(TABLE)[0]
    assert alone.outcome.success is None
    assert alone.id != first.id
    assert alone.task == first.task


def test_the_pipeline_joins_by_name():
    graphs = list(read_files([EXAMPLES]))
    assert [graph.outcome.success for graph in graphs] == [True, False]


def test_a_summary_alone_holds_no_message():
    with pytest.raises(InputError, match="no replies"):
        read(SUMMARY, "a.txt")
    files = [MemoryFile(SUMMARY, "a.txt"), MemoryFile(SUMMARY, "a.txt.gz")]
    assert [result.reason[:20] for result in DYLAN.read_joined(files, ReadContext())] == [
        "another summary has ",
        "it holds weights and",
    ]


def test_a_summary_of_other_questions_is_left_out():
    first, *_ = read_both(table=TABLE.splitlines()[0])
    assert first.outcome.success is None
    assert "is about 2 questions, not 1" in first.source.warnings[0]


def test_summaries_of_three_kinds():
    whole = parse_summary(SUMMARY)
    assert (whole.correct, whole.calls) == ((True, False), 9)
    assert (whole.prompt_tokens, whole.completion_tokens) == (1500, 240)
    one_line = parse_summary(b"832 5.07\n[[0.2, 0.3], [0.5, 0]]\n[0.3, 0.1]\n15728 4450\n")
    assert (one_line.correct, one_line.calls, one_line.questions) == (None, 832, 2)
    assert (one_line.prompt_tokens, one_line.completion_tokens) == (15728, 4450)
    short = parse_summary(b"[True] 1.0\n5 5.0\n[[0.2]]\n[0.2]\n")
    assert (short.prompt_tokens, short.completion_tokens) == (None, None)
    assert parse_summary(b"hello") is None


def test_tables_in_one_array_or_alone():
    tables = [json.loads(line) for line in TABLE.splitlines()]
    for content in (json.dumps(tables), json.dumps(tables, indent=1)):
        assert [len(graph.nodes) for graph in read(content.encode())] == [7, 2]
    (alone,) = read(json.dumps(tables[0], indent=2).encode())
    assert len(alone.nodes) == 7


def test_a_question_without_a_table_is_a_rejection():
    first, second, third = read(TABLE.splitlines()[0] + b"\n3\n[[null],[null]]\n")
    assert isinstance(first, CollaborationGraph)
    assert second == Rejection("a.json", "question 2", "it is no table of agents and rounds")
    assert third.reason == "no agent replied"


@pytest.mark.parametrize("content", [b"", b"{", b"[[", b"[[[[1"])
def test_what_is_no_json_is_refused(content):
    with pytest.raises(InputError):
        read(content)


def test_every_cut_gives_runs_or_a_reason():
    counts, reasons = [], []
    for cut in cuts(TABLE):
        try:
            counts.append(sum(isinstance(r, CollaborationGraph) for r in read(cut)))
        except InputError as error:
            reasons.append(error.reason)
    assert all(reasons)
    assert set(counts) <= {0, 1, 2}


@pytest.mark.parametrize("content", [TABLE, SUMMARY], ids=["table", "summary"])
def test_damaged_files_are_survived(content):
    assert_survives(DYLAN, content, 300)


def test_sniffing_goes_by_content():
    assert DYLAN.sniff(TABLE)
    assert DYLAN.sniff(TABLE[:60])
    assert DYLAN.sniff(SUMMARY)
    assert not DYLAN.sniff(b"")
    assert not DYLAN.sniff(b'[["a", "b"], ["c", "d"]]')
    assert not DYLAN.sniff(b'[{"agent": "a"}]')
    # A stream of LangGraph with subgraphs, kept as a list.
    assert not DYLAN.sniff(b'[[["desk:1"], {"model": {"messages": []}}], [[], {"desk": {}}]]')
    assert not DYLAN.sniff(b'[[["desk:1"], {"model": {"messages": [{"content": "I pa')
    assert not DYLAN.sniff(b"12 34\n")
