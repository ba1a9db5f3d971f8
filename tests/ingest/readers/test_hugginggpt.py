"""HuggingGPT: answers as decompositions, and those that are no JSON rejected one by one."""

import json

import pytest

from graphstore.errors import InputError
from ingest.reader import Rejection
from ingest.readers.hugginggpt import HUGGINGGPT
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import FORMATS, claimed_by, edges, read_all, read_one

EXAMPLE = (FORMATS / "hugginggpt" / "answers.json").read_bytes()


def answer(*tasks):
    content = tasks[0] if isinstance(tasks[0], str) else json.dumps(tasks)
    return json.dumps([{"role": "assistant", "content": content}]).encode()


def task(id, dep=(-1,), **args):
    return {"task": f"t{id}", "id": id, "dep": list(dep), "args": args}


def test_the_example_by_hand():
    first, second, broken, dangling = read_all(HUGGINGGPT, EXAMPLE, "answers.json")
    assert [node.name for node in first.nodes] == ["image-to-text", "text-to-speech"]
    assert edges(first) == [(0, 1, "explicit")]
    assert [(a.name, a.type) for a in first.nodes[0].inputs] == [("garden.jpg", "image")]
    assert [(a.name, a.type) for a in first.nodes[0].outputs] == [("<GENERATED>-0", "text")]
    assert first.nodes[1].inputs == first.nodes[0].outputs
    assert first.nodes[0].attributes == {
        "id": 0,
        "dep": [-1],
        "args": {"image": "garden.jpg"},
    }
    assert first.task.description == "Say what is in garden.jpg and read it aloud"
    assert (first.task.dataset, first.source.record) == ("HuggingGPT", "answer 1")

    assert edges(second) == [
        (0, 1, "explicit"),
        (1, 2, "explicit"),
        (1, 3, "delivered"),
        (2, 3, "delivered"),
    ]
    assert second.nodes[1].content == "visual-question-answering: How many bees?"
    assert second.nodes[2].content == "text-to-image"

    assert (broken.file, broken.record) == ("answers.json", "answer 3")
    assert broken.reason.startswith("the answer is not valid JSON: ")
    assert dangling == Rejection(
        "answers.json", "answer 4", "the task 0 needs 3, which does not exist"
    )


def test_a_plain_count_finds_the_same_tasks_and_dependencies():
    results = iter(read_all(HUGGINGGPT, EXAMPLE))
    for message in json.loads(EXAMPLE)[1::2]:
        result = next(results)
        try:
            tasks = json.loads(message["content"])
        except ValueError:
            assert isinstance(result, Rejection)
            continue
        if isinstance(result, Rejection):
            continue
        assert len(result.nodes) == len(tasks)
        stated = sum(dep >= 0 for one in tasks for dep in one["dep"])
        assert sum(edge.basis == "explicit" for edge in result.edges) == stated


def test_tasks_without_a_conversation_and_in_a_fence():
    bare = json.dumps([task(0), task(1, [0])]).encode()
    assert edges(read_one(HUGGINGGPT, bare)) == [(0, 1, "explicit")]
    fenced = answer("```json\n" + json.dumps([task(0)]) + "\n```")
    assert [node.name for node in read_one(HUGGINGGPT, fenced).nodes] == ["t0"]
    lines = b"\n".join(json.dumps(m).encode() for m in json.loads(EXAMPLE))
    assert [getattr(one, "nodes", None) for one in read_all(HUGGINGGPT, lines)] == [
        getattr(one, "nodes", None) for one in read_all(HUGGINGGPT, EXAMPLE)
    ]


def test_a_bad_line_costs_one_record():
    good = json.dumps(json.loads(EXAMPLE)[1]).encode()
    results = read_all(HUGGINGGPT, good + b'\n{"role": "assis\n' + good)
    assert [isinstance(one, Rejection) for one in results] == [False, True, False]
    assert results[1].record == "line 2"


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ([task(0), task(0)], "the id 0 stands twice"),
        ([task(0, [1]), task(1, [0])], "form a cycle"),
        ([task(0, [0])], "form a cycle"),
        ([task(0, ["x"])], "the task 0 needs something that is no number"),
        ([task(0, text="<GENERATED>-7")], "the task 0 uses 7, which does not exist"),
        ([{"task": "a"}], "position 0 has no name and id"),
        (["[]"], "the answer lists no tasks"),
        (["{}"], "the answer is no list of tasks"),
        (["Sorry, I cannot."], "the answer is not valid JSON"),
    ],
)
def test_malformed_answers_are_rejected(tasks, reason):
    (result,) = read_all(HUGGINGGPT, answer(*tasks))
    assert isinstance(result, Rejection)
    assert reason in result.reason


@pytest.mark.parametrize("content", [b"", b"[", b"\xff", b"[]", b"3", b"[" * 9999])
def test_broken_files_are_refused(content):
    with pytest.raises(InputError):
        read_all(HUGGINGGPT, content)


def test_every_cut_is_refused():
    for cut in list(cuts(EXAMPLE))[1:]:
        with pytest.raises(InputError, match=r"breaks off|empty"):
            read_all(HUGGINGGPT, cut)


def test_damaged_files_are_survived():
    assert assert_survives(HUGGINGGPT, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    assert claimed_by(EXAMPLE) == claimed_by(EXAMPLE[:400]) == ["hugginggpt"]
    chat = json.dumps([{"role": "user", "content": "a task with id and dep"}]).encode()
    for other in (b"", b"[", b"\xff", chat):
        assert not HUGGINGGPT.sniff(other)
