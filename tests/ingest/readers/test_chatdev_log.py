import re
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext
from ingest.readers.chatdev_log import CHATDEV_LOG
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats" / "chatdev-log"
TIMETABLE = (EXAMPLES / "timetable.log").read_bytes()
RIDDLE = (EXAMPLES / "riddle_2023.log").read_bytes()


def read(content):
    if isinstance(content, str):
        content = content.encode()
    context = ReadContext(role_of=RoleTable.default().role_of)
    (graph,) = CHATDEV_LOG.read(MemoryFile(content, "a.log"), context)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def names(graph, node):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [by_id[recipient] for recipient in node.recipients]


def test_blocks_that_name_both_roles():
    graph = read(TIMETABLE)
    assert [agent.name for agent in graph.agents] == [
        "Chief Technology Officer",
        "Programmer",
        "Code Reviewer",
        "Software Test Engineer",
        "User",
    ]
    assert Counter(node.kind for node in graph.nodes) == {"agent_message": 9, "tool_call": 2}
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "continued"),
        (2, 3, "delivered"),
        (3, 4, "delivered"),
        (5, 6, "inferred"),
        (6, 7, "delivered"),
        (7, 9, "delivered"),
        (8, 9, "inferred"),
    ]
    review = graph.nodes[3]
    assert review.content == "Days without a lesson leave an empty line.\n[They should say so.]"
    assert names(graph, review) == ["Programmer"]
    assert (review.delivery, review.round) == ("explicit", 0)
    assert (review.tokens_in, review.tokens_out) == (300, 25)
    assert review.attributes == {
        "local_time": "2024-03-13T09:00:10",
        "phase": "CodeReviewComment",
    }
    assert review.started_at is None
    assert [artifact.name for artifact in graph.nodes[1].outputs] == ["main.py"]
    assert [node.status for node in graph.nodes if node.kind == "tool_call"] == ["error", "ok"]
    assert graph.agents[1].attributes["system_prompt"].startswith("Little Studio")
    assert [
        node.attributes["phase"] for node in graph.nodes if "starts_phase" in node.attributes
    ] == [
        "Coding",
        "CodeReviewComment",
        "TestErrorSummary",
    ]


def test_what_the_log_says_of_the_whole():
    graph = read(TIMETABLE)
    assert graph.task.description == "Write a timetable printer for one school class."
    assert graph.name == "Timetable"
    outcome = graph.outcome
    assert outcome.termination == "ChatDev Ends"
    assert (outcome.tokens_in, outcome.tokens_out) == (1090, 140)
    assert (outcome.cost, outcome.latency, outcome.success) == (0.0042, 20.0, None)


def test_pairs_of_the_first_months():
    graph = read(RIDDLE)
    assert [node.name for node in graph.nodes] == [
        "Chief Executive Officer",
        "Chief Product Officer",
        "Chief Executive Officer",
        "Chief Technology Officer",
        "Programmer",
    ]
    assert [names(graph, node) for node in graph.nodes] == [
        ["Chief Product Officer"],
        ["Chief Executive Officer"],
        ["Chief Product Officer"],
        ["Programmer"],
        ["Chief Technology Officer"],
    ]
    assert links(graph) == [(0, 1, "delivered"), (1, 2, "delivered"), (3, 4, "delivered")]
    assert graph.nodes[4].content == (
        "It has a face and cannot see,\nit runs all day and stays with me."
    )
    assert graph.task.description == "Write a riddle for the school's newspaper."
    assert graph.agents[0].attributes["system_prompt"] == (
        "You answer as the Chief Executive Officer.\nBe short."
    )
    assert graph.outcome.tokens_in is None
    assert not any("\x1b" in (node.content or "") for node in graph.nodes)


@pytest.mark.parametrize("content", [TIMETABLE, RIDDLE], ids=["timetable", "riddle"])
def test_no_token_is_lost_or_counted_twice(content):
    graph = read(content)
    text = content.decode()
    prompts = sum(map(int, re.findall(r"^prompt_tokens: (\d+)", text, re.MULTILINE)))
    replies = sum(map(int, re.findall(r"^completion_tokens: (\d+)", text, re.MULTILINE)))
    spare = graph.attributes["unassigned_calls"]
    assert sum(node.tokens_in or 0 for node in graph.nodes) + spare["prompt_tokens"] == prompts
    assert (
        sum(node.tokens_out or 0 for node in graph.nodes) + spare["completion_tokens"]
        == replies
    )


def test_no_message_is_lost_or_doubled():
    blocks = re.findall(
        r"turn \d+\*\*$|\*\*\[Start Chat\]\*\*$", TIMETABLE.decode(), re.MULTILINE
    )
    others = ["Test Pass!", "Make the print larger."]
    spoken = [node for node in read(TIMETABLE).nodes if node.kind == "agent_message"]
    assert len(spoken) == len(blocks) + len(others)
    headers = re.findall(r"AI (?:User|Assistant) \([^)]*\):$", RIDDLE.decode(), re.MULTILINE)
    assert len(read(RIDDLE).nodes) == len(headers)


def test_a_call_without_a_reply_is_no_reply_of_another():
    graph = read(RIDDLE)
    assert graph.nodes[4].tokens_in == 110
    assert graph.attributes["unassigned_calls"] == {
        "calls": 1,
        "prompt_tokens": 90,
        "completion_tokens": 2,
    }


def test_without_a_named_pair_the_next_speaker_is_a_guess():
    head = "[2023-25-06 20:10:30 INFO] "
    graph = read(
        f"{head}AgentTech Starts (20230625201030)\n\n"
        f"{head}\x1b[32m[0] AI Assistant (Programmer):\n\nprint(1)\n\n"
        f"{head}\x1b[32m[0] AI Assistant (Code Reviewer):\n\nPrint 2.\n"
    )
    assert links(graph) == [(0, 1, "inferred")]
    assert graph.nodes[0].delivery == "inferred"
    assert graph.nodes[1].recipients == ()
    assert any("next speaker" in warning for warning in graph.source.warnings)


@pytest.mark.parametrize(
    ("dates", "stamp", "expected"),
    [
        (("2023-26-07", "2023-26-07"), "", "2023-07-26T10:00:00"),
        (("2023-07-26", "2023-07-26"), "", "2023-07-26T10:00:00"),
        (("2023-05-07", "2023-05-07"), "20230705100000", "2023-07-05T10:00:00"),
        (("2023-05-07", "2023-05-07"), "", None),
        (("2023-05-05", "2023-05-05"), "20230505100000", None),
        (("2023-26-07", "2023-07-26"), "20230726100000", None),
    ],
)
def test_dates_that_can_be_told_apart_and_those_that_cannot(dates, stamp, expected):
    first, second = dates
    start = f"ChatDev Starts ({stamp})" if stamp else "PhaseType: PhaseType.CODING"
    graph = read(
        f"[{first} 10:00:00 INFO] {start}\n\n"
        f"[{second} 10:00:00 INFO] AI User (Tester):\n\nGo.\n"
    )
    attributes = graph.nodes[0].attributes
    assert attributes.get("local_time") == expected
    assert attributes.get("time") == (None if expected else f"{second} 10:00:00")


def test_a_log_that_breaks_off_before_the_first_message():
    with pytest.raises(InputError, match="breaks off before the first message"):
        read(TIMETABLE[:183])
    with pytest.raises(InputError, match="no line begins with a date"):
        read("nothing here")


def test_every_cut_gives_a_graph_or_a_reason():
    counts, reasons = [], []
    for cut in cuts(TIMETABLE):
        try:
            counts.append(len(read(cut).nodes))
        except InputError as error:
            reasons.append(error.reason)
    assert all(reasons)
    assert counts == sorted(counts)
    assert counts[-1] == 11


@pytest.mark.parametrize("content", [TIMETABLE, RIDDLE], ids=["timetable", "riddle"])
def test_damaged_logs_are_survived(content):
    assert assert_survives(CHATDEV_LOG, content) > 50


def test_sniffing_goes_by_content():
    assert CHATDEV_LOG.sniff(TIMETABLE[:120])
    assert CHATDEV_LOG.sniff(RIDDLE)
    assert not CHATDEV_LOG.sniff(b"")
    assert not CHATDEV_LOG.sniff(b"[2024-01-01 10:00:00 INFO] some other program")
    assert not CHATDEV_LOG.sniff(b'{"text": "[2024-01-01 10:00:00 INFO] ChatDev Starts"}')
    assert not CHATDEV_LOG.sniff(b"[10:09:45 INFO]\nReasoning Path: 0\nAgent Sequence: A->B\n")


def test_reading_twice_gives_the_same_graph():
    assert read(TIMETABLE) == read(TIMETABLE)
