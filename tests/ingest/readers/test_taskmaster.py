"""Task Master: a hand-counted file, and what its ids and dependencies may look like."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.taskmaster import TASK_MASTER
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives

TASKS = (
    Path(__file__).resolve().parents[3] / "examples" / "formats" / "taskmaster" / "tasks.json"
)


def read_all(content: bytes) -> list[CollaborationGraph | Rejection]:
    return list(TASK_MASTER.read(MemoryFile(content), ReadContext()))


def read_tasks(*tasks: Any) -> CollaborationGraph | Rejection:
    (result,) = read_all(json.dumps({"tasks": tasks}).encode())
    return result


def pairs(graph: CollaborationGraph | Rejection) -> set[tuple[str, str]]:
    assert isinstance(graph, CollaborationGraph), graph
    ids = {node.id: node.attributes["id"] for node in graph.nodes}
    assert {edge.basis for edge in graph.edges} <= {"explicit"}
    return {(ids[edge.source], ids[edge.target]) for edge in graph.edges}


def test_the_example_by_hand() -> None:
    master, broken = read_all(TASKS.read_bytes())
    assert isinstance(master, CollaborationGraph)
    ids = [node.attributes["id"] for node in master.nodes]
    assert ids == ["1", "2", "2.1", "2.2", "2.3", "3"]
    assert [node.kind for node in master.nodes] == [
        "subtask", "group", "subtask", "subtask", "subtask", "subtask",
    ]  # fmt: skip
    group = master.nodes[1].id
    assert [node.parent for node in master.nodes] == [None, None, group, group, group, None]
    assert pairs(master) == {
        ("1", "2"),
        ("2.1", "2.2"),
        ("2.1", "2.3"),
        ("2.2", "2.3"),
        ("2", "3"),
        ("2.3", "3"),
    }
    first = master.nodes[0]
    assert (first.name, first.content) == ("Set up the garden app", "Make the folders.")
    assert first.attributes == {
        "id": "1",
        "details": "Folders for code and tests.",
        "testStrategy": "Look at them.",
        "priority": "high",
        "status": "done",
    }
    assert master.name == "master: Set up the garden app"
    assert (master.task.dataset, master.task.description) == ("Task Master", "A garden app")
    assert master.source.record == "master"
    assert master.outcome.success is None
    assert broken == Rejection("memory.json", "broken", "1 depends on 4, which does not exist")


def test_the_older_form_is_the_tag_master() -> None:
    graph = read_tasks({"id": 1, "title": "Only"})
    assert isinstance(graph, CollaborationGraph)
    assert graph.source.record == "master"
    assert [node.name for node in graph.nodes] == ["Only"]


def test_ids_of_subtasks_may_repeat_the_parent() -> None:
    content = (
        b'{"tasks": [{"id": 30, "title": "t", "subtasks": [{"id": 30.1, "title": "a"},'
        b' {"id": 30.10, "title": "b", "dependencies": [30.1]},'
        b' {"id": "30.2", "title": "c", "dependencies": ["30.10", "30.1"]},'
        b' {"id": 301, "title": "d", "dependencies": [30]}]}]}'
    )
    (graph,) = read_all(content)
    assert isinstance(graph, CollaborationGraph)
    ids = {node.attributes["id"] for node in graph.nodes}
    assert ids == {"30", "30.1", "30.10", "30.2", "30.301"}
    assert pairs(graph) == {
        ("30.1", "30.10"),
        ("30.10", "30.2"),
        ("30.1", "30.2"),
        ("30", "30.301"),
    }


def test_a_sibling_comes_before_a_task() -> None:
    subtasks = [{"id": 1, "title": "a"}, {"id": 2, "title": "b", "dependencies": [1, 3]}]
    graph = read_tasks(
        {"id": 1, "title": "one", "subtasks": subtasks},
        {"id": 3, "title": "three", "dependencies": ["1.1", "1.1"]},
    )
    assert pairs(graph) == {("1.1", "1.2"), ("3", "1.2"), ("1.1", "3")}


def test_subtasks_stand_after_what_they_need() -> None:
    graph = read_tasks(
        {"id": 1, "title": "late", "dependencies": [2]}, {"id": 2, "title": "early"}
    )
    assert isinstance(graph, CollaborationGraph)
    assert [node.name for node in graph.nodes] == ["early", "late"]


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ([{"id": 1}, {"id": "1"}], "the id 1 stands twice"),
        (
            [{"id": 1, "title": "a", "dependencies": [1]}],
            "the dependencies form a cycle through a",
        ),
        (
            [{"id": 1, "dependencies": [2]}, {"id": 2, "dependencies": [1]}],
            "the dependencies form a cycle through 1, 2",
        ),
        ([{"title": "a"}], "the task at position 0 has no id"),
        ([{"id": True}], "the task at position 0 has no id"),
        ([{"id": 1, "subtasks": [5]}], "the task at position 0 of 1 has no id"),
        ([{"id": 1, "dependencies": 2}], "the dependencies of 1 are no list"),
        ([{"id": 1, "dependencies": [None]}], "1 depends on nothing"),
        ([{"id": 1, "dependencies": [[2]]}], "1 depends on [2], which does not exist"),
    ],
)
def test_malformed_tags_are_rejected(tasks: list[Any], reason: str) -> None:
    assert read_tasks(*tasks) == Rejection("memory.json", "master", reason)


def test_equal_tags_are_two_decompositions_and_two_projects_two_tasks() -> None:
    tag = {"tasks": [{"id": 1, "title": "a"}]}
    one, two = read_all(json.dumps({"x": tag, "y": tag}).encode())
    assert isinstance(one, CollaborationGraph)
    assert isinstance(two, CollaborationGraph)
    assert one.id != two.id
    other = read_tasks({"id": 1, "title": "a", "description": "another project"})
    same = read_tasks({"id": 1, "title": "a"})
    assert isinstance(other, CollaborationGraph)
    assert isinstance(same, CollaborationGraph)
    assert other.task.id != same.task.id


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"tasks": []}',
        b'{"master": {"tasks": {}}}',
        b"\x00",
        b"[" * 9999,
    ],
)
def test_broken_files_are_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        read_all(content)


def test_sniffing() -> None:
    sample = TASKS.read_bytes()
    assert TASK_MASTER.sniff(sample)
    assert TASK_MASTER.sniff(sample[:400])
    assert not TASK_MASTER.sniff(b'{"tasks": [{"name": "a", "id": "1", "parents": []}]}')
    for strange in (b"", b"{", b"\xff", b'[{"tasks": [{"title": 1, "subtasks": []}]}]'):
        assert not TASK_MASTER.sniff(strange)


def test_damaged_files_only_reject() -> None:
    assert_survives(TASK_MASTER, TASKS.read_bytes())
