import json
import re
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.puppeteer import PUPPETEER
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats" / "chatdev-puppeteer"
META = (EXAMPLES / "meta.log").read_bytes()
PATH = (EXAMPLES / "path_1.jsonl").read_bytes()
STEPS = json.loads(PATH)


def read_all(content):
    context = ReadContext(role_of=RoleTable.default().role_of)
    return list(PUPPETEER.read(MemoryFile(content, "a"), context))


def read(content):
    (graph,) = read_all(content)
    assert isinstance(graph, CollaborationGraph)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def test_the_steps_of_a_path():
    graph = read(PATH)
    assert [(node.kind, node.name) for node in graph.nodes] == [
        ("agent_message", "PlannerAgent_small"),
        ("tool_call", "run_python"),
        ("agent_message", "CriticAgent_small"),
    ]
    assert [agent.role for agent in graph.agents] == ["planner", "executor", "critic"]
    assert [agent.role_name for agent in graph.agents] == [
        "PlannerAgent",
        "PythonAgent",
        "CriticAgent",
    ]
    assert links(graph) == [(0, 1, "inferred"), (1, 2, "inferred")]
    assert [node.delivery for node in graph.nodes] == ["inferred", "inferred", None]
    assert [node.content for node in graph.nodes] == [
        step["result"]["step_data"] for step in STEPS
    ]
    assert [node.status for node in graph.nodes] == ["ok", "ok", "error"]
    assert graph.nodes[1].attributes["parameter"] == "print(3 * 4 + 5 * 2)"
    assert graph.outcome.answer == "22"
    assert [(p.phase, p.value, p.node and p.node[-1]) for p in graph.proposals] == [
        ("final", "22", "1"),
        ("answer", "22", None),
    ]


def test_tokens_are_a_sum_and_never_split():
    graph = read(PATH)
    assert [node.attributes["tokens"] for node in graph.nodes] == [120, 90, 80]
    assert graph.attributes["tokens"] == sum(step["tokens"] for step in STEPS)
    assert all(node.tokens_in is None and node.tokens_out is None for node in graph.nodes)


def test_real_lines_and_one_array_are_the_same_path():
    lines = b"\n".join(json.dumps(step).encode() for step in STEPS)
    by_line, by_array = read(lines), read(PATH)
    assert [node.content for node in by_line.nodes] == [node.content for node in by_array.nodes]
    assert links(by_line) == links(by_array)


def test_a_file_of_several_paths_gives_a_run_for_each():
    first, empty, second = read_all(json.dumps([STEPS, [], STEPS[:1]]).encode())
    assert len(first.nodes) == 3
    assert isinstance(empty, Rejection)
    assert empty.record == "path 1"
    assert len(second.nodes) == 1
    assert first.id != second.id


def test_the_paths_of_a_meta_log_share_the_steps_before_a_split():
    graph = read(META)
    assert [node.name for node in graph.nodes] == [
        "TerminatorAgent",
        "PlannerAgent_small",
        "PythonAgent_small",
        "CriticAgent_small",
        "CriticAgent_small",
    ]
    assert graph.nodes[0].kind == "decision"
    assert links(graph) == [(1, 2, "explicit"), (1, 3, "explicit"), (2, 4, "explicit")]
    assert len(graph.agents) == 5
    assert {agent.name for agent in graph.agents} - {node.name for node in graph.nodes} == {
        "ConcluderAgent_small"
    }
    assert [node.attributes["path"] for node in graph.nodes] == [0, 1, 1, 2, 1]
    assert graph.nodes[2].attributes["time"] == "14:00:05"
    assert graph.nodes[2].attributes["end_time"] == "14:00:09"
    assert graph.task.description == (
        "Three cows and five hens stand in a yard.\nHow many legs do they have?"
    )


def test_every_step_that_ran_is_one_action():
    ran = re.findall(rb"^-+\[Reasoning Path\d+ STEP\]", META, re.MULTILINE)
    assert len(read(META).nodes) == len(ran)


def test_the_answers_of_the_paths_are_proposals():
    graph = read(META)
    assert [(p.phase, p.value, p.node and int(p.node[-1])) for p in graph.proposals] == [
        ("final", "22", 4),
        ("final", "32", 3),
        ("answer", "22", None),
    ]
    assert graph.outcome.answer == "22"


def test_sequences_without_records_of_their_steps():
    lines = META.splitlines(keepends=True)
    kept = [line for line in lines if b" STEP]" not in line]
    graph = read(b"".join(kept))
    assert len(graph.nodes) == 5
    assert any("5 agents were picked" in warning for warning in graph.source.warnings)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("[Model Query] Querying small", "names no agents"),
        ("[Init Policy Forward]", "holds no messages"),
        ("-----[Reasoning Path1 Start]-----", "only the agent that starts"),
    ],
)
def test_the_other_logs_of_the_folder_are_rejected_with_a_reason(body, reason):
    content = f"[10:00:00 INFO]\n{body}\n[10:00:01 INFO]\nmore\n".encode()
    assert PUPPETEER.sniff(content)
    with pytest.raises(InputError, match=reason):
        read_all(content)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"3", b"null"])
def test_what_holds_no_step_is_rejected(content):
    with pytest.raises(InputError):
        read_all(content)


def test_every_cut_gives_a_graph_or_a_reason():
    counts, reasons = [], []
    for cut in cuts(META):
        try:
            counts.append(len(read(cut).nodes))
        except InputError as error:
            reasons.append(error.reason)
    assert all(reasons)
    assert counts == sorted(counts)
    assert counts[-1] == 5


@pytest.mark.parametrize("content", [META, PATH], ids=["meta", "path"])
def test_damaged_files_are_survived(content):
    assert assert_survives(PUPPETEER, content, 300) > 50


def test_sniffing_goes_by_content():
    assert PUPPETEER.sniff(META)
    assert PUPPETEER.sniff(PATH)
    assert PUPPETEER.sniff(PATH[:300])
    assert not PUPPETEER.sniff(b"")
    assert not PUPPETEER.sniff(b'[{"agent": "a", "action": "b"}]')
    assert not PUPPETEER.sniff(b"[10:00:00 INFO]\nsomething else\n")
    assert not PUPPETEER.sniff(b"[2024-13-03 09:00:00 INFO] **[Preprocessing]**")
