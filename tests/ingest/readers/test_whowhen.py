"""Who&When: hand-counted totals of two small logs, and what may be strange about one."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph, Role
from ingest.reader import ReadContext, Reader
from ingest.readers.whowhen import AG2, HANDCRAFTED
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives

FORMATS = Path(__file__).resolve().parents[3] / "examples" / "formats"
LIBRARY = FORMATS / "whowhen-handcrafted" / "library-hours.json"
BRIDGE = FORMATS / "whowhen-ag2" / "bridge-length.json"


def read(reader: Reader, content: bytes, context: ReadContext | None = None) -> Any:
    (graph,) = reader.read(MemoryFile(content), context or ReadContext())
    assert isinstance(graph, CollaborationGraph)
    return graph


def read_log(reader: Reader, **log: Any) -> CollaborationGraph:
    return read(reader, json.dumps(log).encode())


def edges(graph: CollaborationGraph) -> list[tuple[int, int, str]]:
    places = {node.id: node.index for node in graph.nodes}
    return [(places[e.source], places[e.target], e.basis) for e in graph.edges]


def names(graph: CollaborationGraph, ids: tuple[str, ...]) -> list[str]:
    known = {agent.id: agent.name for agent in graph.agents}
    return [known[id] for id in ids]


def test_magentic_one_by_hand() -> None:
    graph = read(HANDCRAFTED, LIBRARY.read_bytes())
    assert [(a.name, a.kind, a.role) for a in graph.agents] == [
        ("human", "human", "human"),
        ("Orchestrator", "agent", "orchestrator"),
        ("WebSurfer", "agent", "unknown"),
        ("ComputerTerminal", "tool", "tool"),
    ]
    kinds = "m d d m d m d m t m m m d"
    short = {"agent_message": "m", "decision": "d", "tool_call": "t"}
    assert " ".join(short[node.kind] for node in graph.nodes) == kinds
    assert edges(graph) == [
        (0, 1, "inferred"),
        (1, 2, "continued"),
        (2, 3, "continued"),
        (3, 4, "continued"),
        (3, 5, "delivered"),
        (5, 6, "inferred"),
        (6, 7, "continued"),
        (7, 8, "delivered"),
        (8, 9, "inferred"),
        (9, 10, "continued"),
        (9, 11, "delivered"),
        (10, 11, "delivered"),
        (11, 12, "inferred"),
    ]
    assert [(names(graph, n.recipients), n.delivery) for n in graph.nodes] == [
        (["Orchestrator"], "inferred"),
        ([], None),
        ([], None),
        (["WebSurfer"], "explicit"),
        ([], None),
        (["Orchestrator"], "inferred"),
        ([], None),
        (["ComputerTerminal"], "explicit"),
        (["Orchestrator"], "inferred"),
        (["WebSurfer"], "explicit"),
        (["WebSurfer"], "explicit"),
        (["Orchestrator"], "inferred"),
        ([], None),
    ]
    assert [node.status for node in graph.nodes if node.kind == "tool_call"] == ["error"]


def test_magentic_one_ledgers_labels_and_task() -> None:
    graph = read(HANDCRAFTED, LIBRARY.read_bytes())
    assert graph.nodes[2].attributes == {
        "note": "thought",
        "ledger": {
            "is_request_satisfied": False,
            "is_in_loop": False,
            "is_progress_being_made": True,
            "next_speaker": "WebSurfer",
            "instruction": "Open the page of the town library.",
        },
    }
    assert graph.nodes[6].attributes == {"note": "thought"}  # its ledger is cut off
    assert graph.nodes[12].attributes == {"note": "termination condition"}
    outcome = graph.outcome
    assert (outcome.success, outcome.answer, outcome.expected) == (False, "18", "14")
    assert outcome.termination == "Max rounds (12) reached."
    assert (outcome.mistake_agent, outcome.mistake_step) == ("WebSurfer", 5)
    assert outcome.mistake_reason == "It read the row of Friday as the row of Saturday."
    assert graph.attributes == {"mistake_agent_label": "Websurfer"}
    assert graph.task.name == "library-hours"
    assert (graph.task.dataset, graph.task.category) == ("Who&When", "2")
    assert graph.task.description == graph.nodes[0].content
    assert graph.method is not None
    assert graph.method.name == "Magentic-One"
    assert graph.source.warnings == ()
    assert outcome.tokens_in is None
    assert outcome.latency is None


def test_group_chat_by_hand() -> None:
    graph = read(AG2, BRIDGE.read_bytes())
    assert [(a.name, a.kind, a.role) for a in graph.agents] == [
        ("Bridge_Expert", "agent", "unknown"),
        ("Computer_terminal", "tool", "tool"),
        ("bridge_expert", "agent", "unknown"),
        ("Archive_Expert", "agent", "unknown"),
    ]
    assert graph.agents[3].attributes == {"system_prompt": "You find old drawings."}
    assert graph.agents[1].attributes == {}
    pairs = [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5), (4, 5)]
    assert edges(graph) == [(*pair, "delivered") for pair in pairs]
    for node in graph.nodes:
        assert node.delivery == "broadcast"
        others = {agent.id for agent in graph.agents} - {node.agent}
        assert set(node.recipients) == others
    assert [node.status for node in graph.nodes] == [None, None, None, None, "error", None]
    assert [n.kind for n in graph.nodes].count("tool_call") == 2
    assert [n.attributes["chat_role"] for n in graph.nodes][:2] == ["assistant", "user"]
    outcome = graph.outcome
    assert (outcome.success, outcome.answer, outcome.termination) == (False, None, "TERMINATE")
    assert (outcome.mistake_agent, outcome.mistake_step) == ("Bridge_Expert", None)
    assert graph.source.warnings == (
        "mistake_step '9' is no position in a history of 6 entries and was left out",
    )


def test_every_entry_is_one_action_and_keeps_its_text() -> None:
    for reader, path in ((HANDCRAFTED, LIBRARY), (AG2, BRIDGE)):
        graph = read(reader, path.read_bytes())
        entries = json.loads(path.read_bytes())["history"]
        assert [node.content for node in graph.nodes] == [e["content"] for e in entries]
        assert [node.index for node in graph.nodes] == list(range(len(entries)))


def test_ids_come_from_the_content_alone() -> None:
    content = LIBRARY.read_bytes()
    (one,) = HANDCRAFTED.read(MemoryFile(content, "a.json"), ReadContext())
    (two,) = HANDCRAFTED.read(MemoryFile(content, "elsewhere/b.json"), ReadContext())
    assert isinstance(one, CollaborationGraph)
    assert isinstance(two, CollaborationGraph)
    assert one.nodes == two.nodes
    assert one.id != read(HANDCRAFTED, content.replace(b"Lindau", b"Bregenz")).id


def test_the_role_table_beats_what_the_format_knows() -> None:
    roles: dict[str, Role] = {"Orchestrator": "planner", "ComputerTerminal": "executor"}
    context = ReadContext(role_of=lambda name: roles.get(name, "unknown"))
    graph = read(HANDCRAFTED, LIBRARY.read_bytes(), context)
    assert [a.role for a in graph.agents] == ["human", "planner", "unknown", "executor"]


def test_a_receiver_that_never_speaks_is_an_agent() -> None:
    graph = read_log(
        HANDCRAFTED,
        history=[{"role": "Orchestrator (-> FileSurfer)", "content": "Read it."}],
        mistake_agent="filesurfer",
        mistake_step=0,
    )
    assert [agent.name for agent in graph.agents] == ["Orchestrator", "FileSurfer"]
    assert graph.outcome.mistake_agent == "FileSurfer"
    assert graph.outcome.mistake_step == 0
    assert graph.source.warnings == (
        "it names no question",
        "mistake_step 0 was made by Orchestrator, not by FileSurfer",
    )


def test_an_entry_without_a_speaker_is_kept_with_a_warning() -> None:
    history = [{"role": "human", "content": "Hello"}, {"content": "who am I"}]
    graph = read_log(HANDCRAFTED, history=history, question="?", question_ID="1")
    assert [node.agent is None for node in graph.nodes] == [False, True]
    assert graph.source.warnings == ("entry 1 of the history names no speaker",)
    graph = read_log(
        AG2,
        history=[{"name": "A", "content": "Hello"}, {"role": "user", "content": None}],
        question="?",
    )
    assert [node.agent is None for node in graph.nodes] == [False, True]
    assert graph.nodes[1].content is None


@pytest.mark.parametrize(
    ("step", "expected"),
    [("1", 1), (" 0 ", 0), (1, 1), ("1.5", None), ("-1", None), ("x", None), ("2", None),
     (True, None), (None, None), ([1], None)],
)  # fmt: skip
def test_mistake_steps(step: Any, expected: int | None) -> None:
    history = [{"name": "A", "content": "one"}, {"name": "A", "content": "two"}]
    graph = read_log(AG2, history=history, question="?", mistake_step=step)
    assert graph.outcome.mistake_step == expected
    warned = any("mistake_step" in warning for warning in graph.source.warnings)
    assert warned == (expected is None and step is not None)


@pytest.mark.parametrize(
    ("labels", "success"),
    [
        ({"is_correct": True}, True),
        ({"is_correct": False}, False),
        ({"is_corrected": False}, False),
        ({"is_corrected": True}, None),
        ({"is_correct": "no"}, None),
        ({}, None),
    ],
)
def test_success_only_where_the_label_says_so(
    labels: dict[str, Any], success: bool | None
) -> None:
    history = [{"role": "human", "content": "one"}]
    graph = read_log(HANDCRAFTED, history=history, question="?", **labels)
    assert graph.outcome.success is success
    assert ("is_corrected" in str(graph.source.warnings)) == labels.get("is_corrected", False)


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        ("FINAL ANSWER: 4\nSCENARIO.PY COMPLETE !#!#", "4"),
        ("FINAL ANSWER: a\nb\n\nSCENARIO.PY COMPLETE !#!#", "a\nb"),
        ("FINAL ANSWER: 4\nthanks", "4"),
        ("FINAL ANSWER: 3\nno:\nFINAL ANSWER: 4", "4"),
        ("FINAL ANSWER:\nSCENARIO.PY COMPLETE", None),
        ("my FINAL ANSWER: 4", None),
        ("", None),
    ],
)
def test_final_answers(last: str, answer: str | None) -> None:
    history = [
        {"role": "human", "content": "FINAL ANSWER: not this one"},
        {"role": "Orchestrator (termination condition)", "content": last},
    ]
    assert read_log(HANDCRAFTED, history=history, question="?").outcome.answer == answer


def test_case_folds_names_in_magentic_one_only() -> None:
    speakers = ["Solver", "solver"]
    log = [{"role": name, "content": "x"} for name in speakers]
    assert len(read_log(HANDCRAFTED, history=log, question="?").agents) == 1
    log = [{"name": name, "content": "x"} for name in speakers]
    assert len(read_log(AG2, history=log, question="?").agents) == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\x00\x01\x02",
        b"[]",
        b'"history"',
        b'{"history": []}',
        b'{"history": {"role": "human"}}',
        b'{"history": [1]}',
        b'{"question": "?"}',
        b'{"history": [{"role": "human", "content": "\xff"}]}',
        b"[" * 100_000,
    ],
)
def test_broken_files_are_refused_with_a_reason(content: bytes) -> None:
    for reader in (HANDCRAFTED, AG2):
        with pytest.raises(InputError) as caught:
            list(reader.read(MemoryFile(content, "bad.json"), ReadContext()))
        assert caught.value.file == "bad.json"
        assert caught.value.reason


def test_half_a_surrogate_pair_is_repaired() -> None:
    content = BRIDGE.read_bytes().replace(b"369 m", b"369 m \\ud83d")
    graph = read(AG2, content)
    assert graph.nodes[5].content is not None
    assert "\ufffd" in graph.nodes[5].content
    assert "half a surrogate pair in the text was replaced by U+FFFD" in graph.source.warnings


def test_sniffing_by_content() -> None:
    library, bridge = LIBRARY.read_bytes(), BRIDGE.read_bytes()
    assert HANDCRAFTED.sniff(library)
    assert AG2.sniff(bridge)
    assert not HANDCRAFTED.sniff(bridge)
    assert not AG2.sniff(library)
    # Cut anywhere after the first entry and a label or a telling role, still known.
    assert HANDCRAFTED.sniff(library[:900])
    assert AG2.sniff(bridge[:400])
    other = b'{"history": [{"role": "user", "content": "x", "agent": "main"}], "info": {}}'
    assert not HANDCRAFTED.sniff(other)
    assert not AG2.sniff(other)
    for sample in (
        b"",
        b"{",
        b"\xff\xfe",
        b'{"history": [{',
        b"[[[[",
        b'{"history": [{"name": "',
    ):
        assert not HANDCRAFTED.sniff(sample)
        assert not AG2.sniff(sample)


def test_a_name_inside_a_text_is_no_name() -> None:
    log = {
        "history": [{"content": '{"name": "x"}, {"role": "y"}', "role": "human"}],
        "question_ID": "1",
    }
    sample = json.dumps(log).encode()
    assert HANDCRAFTED.sniff(sample)
    assert not AG2.sniff(sample)


@pytest.mark.parametrize("length", [10, 4_000, 4_096, 70_000])
def test_what_follows_a_long_text_of_the_first_entry_is_seen(length: int) -> None:
    text = "Ä" * (length // 2)
    named = {"content": text, "role": "assistant", "name": "Ann"}
    spoken = {"content": text, "role": "Orchestrator (thought)"}
    fits = length < 65_536
    for entry, reader, other in ((named, AG2, HANDCRAFTED), (spoken, HANDCRAFTED, AG2)):
        log = {"is_correct": False, "history": [entry, {"content": "x", "name": "B"}]}
        sample = json.dumps(log, ensure_ascii=False).encode()[:65_536]
        assert reader.sniff(sample) is fits
        assert not other.sniff(sample)


def test_damaged_files_only_reject() -> None:
    assert_survives(HANDCRAFTED, LIBRARY.read_bytes())
    assert_survives(AG2, BRIDGE.read_bytes())
