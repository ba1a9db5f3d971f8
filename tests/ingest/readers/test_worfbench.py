"""WorfBench: hand-counted plans, and the ways in which a model's message deviates."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.errors import GraphError, InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers import worfbench
from ingest.readers.worfbench import WORFBENCH
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives

HOME = Path(__file__).resolve().parents[3] / "examples" / "formats" / "worfbench" / "home.json"


def read_all(content: bytes) -> list[CollaborationGraph | Rejection]:
    return list(WORFBENCH.read(MemoryFile(content), ReadContext()))


def read_plan(plan: str) -> CollaborationGraph | Rejection:
    messages = [{"role": "user", "content": "Do it"}, {"role": "assistant", "content": plan}]
    (result,) = read_all(json.dumps([{"id": "x", "conversations": messages}]).encode())
    return result


def pairs(graph: CollaborationGraph | Rejection) -> list[tuple[int, int]]:
    assert isinstance(graph, CollaborationGraph), graph
    places = {node.id: node.index for node in graph.nodes}
    assert {edge.basis for edge in graph.edges} <= {"explicit"}
    return [(places[edge.source], places[edge.target]) for edge in graph.edges]


def test_the_example_by_hand() -> None:
    table, plant, wait, leave = read_all(HOME.read_bytes())
    assert isinstance(table, CollaborationGraph)
    assert [node.name for node in table.nodes] == [
        "take two plates from the cupboard",
        "take two forks from the drawer",
        "put everything on the table",
    ]
    assert {node.kind for node in table.nodes} == {"subtask"}
    assert [node.attributes for node in table.nodes] == [{"id": "1"}, {"id": "2"}, {"id": "3"}]
    assert pairs(table) == [(0, 2), (1, 2)]
    assert table.kind == "decomposition"
    assert table.name == "lay the table for two."
    assert table.source.record == "home_1"
    assert (table.task.name, table.task.dataset) == ("home_1", "WorfBench/home")
    assert table.task.description == (
        "You stand in the kitchen.\n\nYour task is to: lay the table for two."
    )
    assert table.attributes == {
        "actions": ["1. open {drawer}", "2. take {thing} from {place}"],
        "split": "eval",
    }
    assert table.source.warnings == ()
    assert isinstance(plant, CollaborationGraph)
    assert plant.nodes[1].content == "Fill in fresh soil\nand press it down."
    assert pairs(plant) == [(0, 1), (1, 2)]
    assert plant.name == "How to Repot a Plant"
    assert plant.attributes["actions"] == ["Water it.", "Choose a larger pot."]
    assert plant.source.warnings == ("1 of 4 edges stand twice", "no edge names END")
    assert wait == Rejection(
        "memory.json", "home_3", "the dependencies form a cycle through wait, wait again"
    )
    assert leave == Rejection(
        "memory.json", "home_4", "the edge (1,7) names the unknown subtask 7"
    )


@pytest.mark.parametrize(
    "edges",
    [
        "Edge: (START,1) (1,2) (2,END)",
        "Edges:\n(START, 1)\n(1, 2)\n(2, END)",
        "Edge: (START,1)\nEdge: (1,2)\nEdge: (2,END)",
        "**Edges:**\n1. (START,1)\n2. (1,2)\n3. (2,END)",
        "edge:(start,1),(1,2),(2,end)",
        "The order is plain.\n\n- **Edge**: (START, 1), (1, 2), (2, END)\n\nSo it ends.",
        "\n1. **Start** node:\n   - the begin\n2. **Edges**:\n (START, 1) (1, 2) (2, END)",
    ],
)
def test_edges_are_read_however_they_are_written(edges: str) -> None:
    graph = read_plan(f"Node:\n1: wash\n2: dry\n{edges}")
    assert pairs(graph) == [(0, 1)]
    assert isinstance(graph, CollaborationGraph)
    assert [node.name for node in graph.nodes] == ["wash", "dry"]
    assert graph.source.warnings == ()


def test_subtasks_are_put_into_order() -> None:
    graph = read_plan("Node:\n1: last\n2: first\nEdge: (START,2) (2,1) (1,END)")
    assert isinstance(graph, CollaborationGraph)
    assert [node.name for node in graph.nodes] == ["first", "last"]
    assert pairs(graph) == [(0, 1)]


def test_what_is_odd_but_readable_is_warned_about() -> None:
    graph = read_plan("Node:\n1: a\n2: b\n3: c\nEdge: (1,2)")
    assert isinstance(graph, CollaborationGraph)
    assert graph.source.warnings == (
        "in no edge: subtask 3",
        "no edge names START",
        "no edge names END",
    )


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("I cannot do that.", "its message lists no subtasks under Node:"),
        ("Node:\nEdge: (START,END)", "its message lists no subtasks under Node:"),
        ("Node:\n1: a\n2: b", "its message names no edges"),
        ("Node:\n1: a\n1: b\nEdge: (START,1)", "the subtask 1 stands twice"),
        ("Node:\n1: a\nEdge: (1,1)", "the dependencies form a cycle through a"),
        ("Node:\n1: a\nEdge: (2,1)", "the edge (2,1) names the unknown subtask 2"),
    ],
)
def test_malformed_plans_are_rejected_one_by_one(plan: str, reason: str) -> None:
    assert read_plan(plan) == Rejection("memory.json", "x", reason)


def test_records_without_an_id_or_with_the_same_one() -> None:
    plan = [{"role": "assistant", "content": "Node:\n1: a\nEdge: (START,1) (1,END)"}]
    items = [{"conversations": plan}, {"id": 7, "conversations": plan}] * 2
    results = read_all(json.dumps(items).encode())
    assert all(isinstance(result, CollaborationGraph) for result in results)
    records = [r.source.record for r in results if isinstance(r, CollaborationGraph)]
    assert records == ["#0", "7", "#2", "7#3"]
    assert len({r.id for r in results if isinstance(r, CollaborationGraph)}) == 4


def test_one_bad_item_leaves_the_others() -> None:
    items = json.loads(HOME.read_bytes())
    items[0] = {"conversations": [{"role": 5}]}
    items[1]["conversations"] = []
    first, second, *_ = read_all(json.dumps(items).encode())
    assert isinstance(first, Rejection)
    assert (first.record, second) == (
        "#0",
        Rejection("memory.json", "home_2", "it holds no assistant message"),
    )


def test_a_single_item_is_read_too() -> None:
    item = json.loads(HOME.read_bytes())[0]
    (graph,) = read_all(json.dumps(item).encode())
    assert pairs(graph) == [(0, 2), (1, 2)]


@pytest.mark.parametrize("content", [b"", b"[", b"[1", b"\x00", b"3", b"[" * 100_000])
def test_broken_files_are_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        read_all(content)


def test_sniffing() -> None:
    sample = HOME.read_bytes()
    assert WORFBENCH.sniff(sample)
    assert WORFBENCH.sniff(sample[:700])
    assert not WORFBENCH.sniff(b'[{"conversations": [{"role": "user", "content": "hi"}]}]')
    for strange in (b"", b"[", b"\xff", b"Node:\n1: x"):
        assert not WORFBENCH.sniff(strange)


def test_damaged_files_only_reject() -> None:
    assert_survives(WORFBENCH, HOME.read_bytes())


def outcome_of(read: Callable[[str], object], text: str) -> object:
    try:
        return read(text)
    except GraphError as error:
        return error.reason


plan_pieces = st.sampled_from(
    [
        "Node:",
        "Nodes:",
        "\n",
        "\nEdge:",
        "Edge:",
        "\r\n",
        "\x0b",
        "\u2028",
        " ",
        "1:",
        "2:",
        "3:",
        "01:",
        "2.",
        "\u0661:",
        "3",
        " look",
        ": and",
        "(START,1)",
        "(1,2)",
        "-",
    ]
)
usual_plans = st.lists(st.sampled_from(["look", " put it ", "a: b", "", "Edge", "3: x"])).map(
    lambda texts: (
        "Node:"
        + "".join(f"\n{number}:{text}" for number, text in enumerate(texts, 1))
        + "\nEdge: (START,1)"
    )
)


@given(st.one_of(st.lists(plan_pieces).map("".join), usual_plans))
def test_the_usual_form_of_a_plan_reads_as_any_form_does(plan: str) -> None:
    found = outcome_of(worfbench._subtasks, plan)
    assert found == outcome_of(worfbench._deviating_subtasks, plan)


pair_pieces = [
    "(",
    ")",
    "START",
    "END",
    "start",
    "End",
    "1",
    "23",
    "\u0661",
    ",",
    " ",
    "\n",
    "(2,3)",
]


@given(st.lists(st.sampled_from([*pair_pieces, "(START,1)", "(1, END)"])).map("".join))
def test_pairs_are_found_however_they_are_written(text: str) -> None:
    expected = [
        (found[1].upper(), found[2].upper()) for found in worfbench._PAIR.finditer(text)
    ]
    assert worfbench._pairs(text) == expected


listed_pieces = st.sampled_from(
    [
        "[",
        "]",
        "'",
        '"',
        ", ",
        ",",
        "\\n",
        "\\'",
        '\\"',
        "\\\\",
        "\\t",
        "\n",
        "\0",
        "\t",
        "a",
        " é ",
        "1",
    ]
)


@given(
    st.one_of(
        st.lists(listed_pieces).map(lambda pieces: f"['{''.join(pieces)}']"),
        st.lists(st.text(alphabet="ab'\"\n\\ é"), max_size=4).map(repr),
    )
)
def test_a_list_of_plain_texts_reads_as_python_reads_it(listed: str) -> None:
    found = worfbench._python_texts(listed)
    assert found is None or found == worfbench._python_list(listed)


@given(
    st.lists(
        st.sampled_from(
            [
                "Task:",
                "Your task is to:",
                "My problem is:",
                "Instruction: [SEP]",
                "[SEP]",
                " ",
                "\n",
                "Your task",
                "look",
                "T",
            ]
        )
    ).map("".join)
)
def test_what_is_asked_stands_after_the_first_mark(question: str) -> None:
    marks = r"(?:\ATask:|Your task is to:|My problem is:|Instruction: \[SEP\])"
    found = re.search(marks, question)
    rest = question[found.end() :] if found else question
    assert worfbench._core(question) == rest.partition("[SEP]")[0].strip()
