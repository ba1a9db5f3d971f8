import json
from collections import Counter
from pathlib import Path

import pytest

from analytics.trajectories import trajectory_of
from graphstore.errors import InputError
from ingest.reader import ReadContext
from ingest.readers.massgen import MASSGEN
from ingest.readers.massgen_stream import _ASCII_MARK, _MARKS, Chunk, Stream
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "massgen" / "tower.json"
).read_bytes()
VALUE = json.loads(EXAMPLE)


def read(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    (graph,) = MASSGEN.read(MemoryFile(content), ReadContext())
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def names(graph, node):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [by_id[recipient] for recipient in node.recipients]


def spoken(graph, agent):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [node for node in graph.nodes if node.agent and by_id[node.agent] == agent]


def test_chunks_become_messages():
    graph = read(EXAMPLE)
    assert [agent.name for agent in graph.agents] == ["ada", "ben", "cleo", "orchestrator"]
    assert Counter(node.kind for node in graph.nodes) == {
        "agent_message": 8,
        "tool_call": 1,
        "decision": 5,
    }
    assert [node.content for node in spoken(graph, "cleo")] == [
        "Since nobody has answered,",
        '💡 Providing answer: "The guide book says 55 metres."',
        "I compare the two.",
        '💡 Providing answer: "54 metres, as the town says."',
        "🗳️ Voting for agent2: It is short.",
    ]
    tool = graph.nodes[2]
    assert (tool.kind, tool.name, tool.status) == ("tool_call", "Web Search", "ok")
    assert "[Query] 'height of the church tower'" in tool.content
    assert graph.nodes[0].status == "error"
    assert spoken(graph, "ada")[-1].content == (
        "🎤  [ada] presenting final answerThe tower is 54 metres high ✅."
    )


def test_no_chunk_is_lost_or_doubled():
    graph = read(EXAMPLE)
    for agent, chunks in VALUE["agent_outputs"].items():
        made = spoken(graph, agent)
        assert sum(node.attributes["chunks"] for node in made) == len(chunks)
        kept = "".join(node.content for node in made) + "".join(
            notice for node in made for notice in node.attributes.get("notices", ())
        )
        assert Counter(kept) == Counter("".join(chunk["content"] for chunk in chunks))


def test_an_event_that_repeats_a_chunk_is_no_action():
    graph = read(EXAMPLE)
    (selection,) = spoken(graph, "orchestrator")
    assert selection.content.startswith("🎯 FINAL: ada selected")
    assert names(graph, selection) == ["ada"]


def test_answers_reach_the_others_by_a_guess_and_votes_their_candidate():
    graph = read(EXAMPLE)
    answer, refused, recorded, own = (graph.nodes[index] for index in (4, 6, 9, 10))
    assert (names(graph, answer), answer.delivery) == (
        ["ben", "cleo", "orchestrator"],
        "inferred",
    )
    assert (names(graph, refused), refused.delivery) == ([], None)
    assert (names(graph, recorded), recorded.delivery) == (["ada"], "explicit")
    assert own.recipients == ()
    assert recorded.attributes["vote_alias"] == "agent1"
    assert recorded.attributes["vote_for"] == "ada"


def test_edges():
    assert links(read(EXAMPLE)) == [
        (2, 3, "continued"),
        (3, 4, "continued"),
        (4, 5, "inferred"),
        (4, 6, "inferred"),
        (4, 9, "explicit"),
        (4, 10, "explicit"),
        (5, 6, "inferred"),
        (5, 7, "continued"),
        (5, 10, "inferred"),
        (7, 8, "continued"),
        (8, 9, "inferred"),
        (8, 10, "inferred"),
        (8, 11, "explicit"),
        (9, 12, "explicit"),
        (10, 12, "explicit"),
        (11, 12, "explicit"),
        (12, 13, "explicit"),
    ]


def test_votes_are_decisions_and_no_proposals():
    graph = read(EXAMPLE)
    votes = [node for node in graph.nodes if node.attributes.get("message") == "vote"]
    by_id = {agent.id: agent.name for agent in graph.agents}
    assert {node.kind for node in votes} == {"decision"}
    assert [
        (by_id[n.agent], n.attributes.get("vote_for"), n.attributes.get("accepted"))
        for n in votes
    ] == [
        ("ben", None, False),
        ("ben", "ada", True),
        ("ada", "ada", True),
        ("cleo", "cleo", True),
    ]
    # Four outputs that were proposed, and the team's answer: OV counts no vote.
    measured = trajectory_of(graph)
    assert [unit.unit for unit in measured.units] == ["question"]
    assert (measured.validity.valid, measured.validity.known) == (4, 4)


def test_answers_are_proposals():
    graph = read(EXAMPLE)
    by_id = {agent.id: agent.name for agent in graph.agents}
    assert [
        (p.unit, p.phase, by_id.get(p.agent), p.value, p.valid) for p in graph.proposals
    ] == [
        ("question", "initial", "ada", "54 metres", True),
        ("question", "final", "ada", "54 metres", True),
        ("question", "initial", "cleo", "The guide book says 55 metres.", True),
        ("question", "final", "cleo", "54 metres, as the town says.", True),
        ("question", "answer", None, "The tower is 54 metres high ✅.", None),
    ]


def test_what_the_file_says_of_the_whole():
    graph = read(EXAMPLE)
    assert graph.task.description == "How high is the church tower of our town?"
    assert graph.outcome.answer == "The tower is 54 metres high ✅."
    assert (graph.outcome.termination, graph.outcome.latency) == ("completed", 8.0)
    assert graph.outcome.success is None
    assert graph.source.warnings == (
        "the file's counter new_answers is 0, where 3 were found",
        "the file's counter votes is 0, where 3 were found",
    )
    assert all(node.started_at is None for node in graph.nodes)


def test_an_unfinished_run_has_no_answer():
    value = json.loads(EXAMPLE)
    value["session"]["final_answer"] = ""
    value["orchestrator_events"] = []
    graph = read(value)
    assert graph.outcome.answer is None
    assert "orchestrator" in [agent.name for agent in graph.agents]
    assert not spoken(graph, "orchestrator")


def test_a_selection_that_counts_other_votes_is_a_guess():
    value = json.loads(EXAMPLE)
    value["orchestrator_events"][-1]["event"] = "🎯 FINAL: ada selected (ada: 3 votes)"
    graph = read(value)
    assert (9, 12, "inferred") in links(graph)
    assert any("counts other votes" in warning for warning in graph.source.warnings)


def test_hundreds_of_chunks_are_one_message():
    stream = Stream("a")
    stream.take(Chunk(f"word{n} ", None, "x") for n in range(485))
    (action,) = stream.actions
    assert action.chunks == 485


def test_chunks_with_more_in_them_are_read_alike():
    value = json.loads(EXAMPLE)
    usual = read(value)
    for chunks in value["agent_outputs"].values():
        for chunk in chunks:
            chunk["source"] = "a newer version"
    other = read(value)
    assert [(n.content, n.attributes) for n in other.nodes] == [
        (n.content, n.attributes) for n in usual.nodes
    ]
    assert links(other) == links(usual)
    assert other.source.warnings == usual.source.warnings


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"agent_outputs": {}}, "no agent wrote anything"),
        ({"agent_outputs": {"a": []}, "session": 3}, "no agent wrote anything"),
        ({"session": {}}, "agent_outputs"),
        ({"agent_outputs": []}, "Expected `object`"),
    ],
)
def test_what_is_no_run(value, reason):
    with pytest.raises(InputError, match=reason):
        read(value)


def test_cuts_are_refused_with_their_place():
    for cut in cuts(EXAMPLE, 30):
        with pytest.raises(InputError):
            read(cut)


def test_damaged_files_are_survived():
    assert assert_survives(MASSGEN, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    assert MASSGEN.sniff(EXAMPLE)
    assert MASSGEN.sniff(EXAMPLE[:900])
    assert not MASSGEN.sniff(b"")
    assert not MASSGEN.sniff(b'{"session": {"agent_ids": []}}')
    assert not MASSGEN.sniff(b'{"a": "\\"session\\": \\"agent_ids\\": \\"agent_outputs\\": "}')


def test_one_mark_alone_is_ascii():
    # Texts of ASCII letters without it are taken for streamed text at a glance.
    assert {mark for mark in _MARKS if mark.isascii()} == {_ASCII_MARK}
