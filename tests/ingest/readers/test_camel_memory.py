import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.camel_memory import CAMEL_MEMORY
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

FOLDER = Path(__file__).parents[3] / "examples" / "formats" / "camel-memory"
READER = (FOLDER / "reader.json").read_bytes()
WRITER = (FOLDER / "writer.json").read_bytes()


def results(*contents):
    files = [MemoryFile(content, f"{n}.json") for n, content in enumerate(contents)]
    return list(CAMEL_MEMORY.read_joined(files, ReadContext()))


def read(*contents):
    (graph,) = results(*contents)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def records(content):
    return [json.loads(line) for line in content.splitlines() if line.strip()]


def written(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [
        (by_id[node.agent], node.kind, node.content, [by_id[r] for r in node.recipients])
        for node in graph.nodes
    ]


def test_two_memories_that_quote_each_other_are_one_run():
    graph = read(READER, WRITER)
    assert spoken(graph) == [
        ("User", "agent_message", "When is high tide?", ["Reader"]),
        ("Reader", "agent_message", "Let me look.", []),
        ("Reader", "tool_call", "high at 6", []),
        ("Reader", "agent_message", "High tide is at 6 in the evening, they say.", ["Writer"]),
        ("Writer", "agent_message", "Sail at 5.", []),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "continued"),
        (2, 3, "continued"),
        (3, 4, "explicit"),
    ]
    assert [a.attributes.get("system_prompt") for a in graph.agents] == [
        None,
        "You are the Reader.",
        "You are the Writer.",
    ]
    assert graph.task.description == "When is high tide?"


def test_the_order_of_the_files_changes_nothing():
    one, other = read(READER, WRITER), read(WRITER, READER)
    assert (one.id, one.nodes, one.edges) == (other.id, other.nodes, other.edges)


def test_join_keys_are_long_words_of_agents():
    keys = [CAMEL_MEMORY.join_keys(MemoryFile(content)) for content in (READER, WRITER)]
    assert len(keys[0] & keys[1]) == 1
    assert len(keys[0]) == len(keys[1]) == 1


def test_a_memory_alone_names_who_spoke_to_it():
    graph = read(WRITER)
    assert spoken(graph) == [
        ("Reader", "agent_message", "High tide is at 6 in the evening, they say.", ["Writer"]),
        ("Writer", "agent_message", "Sail at 5.", []),
    ]


def test_no_record_is_lost_or_doubled():
    kept = Counter()
    for record in [*records(READER), *records(WRITER)]:
        message = record["message"]
        if record["role_at_backend"] in ("user", "assistant"):
            kept[message["content"]] += 1
        if record["role_at_backend"] == "function":
            kept[message["result"]] += 1
    kept["High tide is at 6 in the evening, they say."] -= 1
    assert Counter(content for _, _, content, _ in spoken(read(READER, WRITER))) == kept


def test_times():
    graph = read(READER, WRITER)
    first = next(r for r in records(READER) if r["role_at_backend"] == "user")
    assert graph.nodes[0].started_at // 10**9 == int(first["timestamp"])
    assert all(
        a.started_at <= b.started_at for a, b in zip(graph.nodes, graph.nodes[1:], strict=False)
    )
    assert graph.nodes[2].ended_at >= graph.nodes[2].started_at


def test_memories_of_other_teams_stay_apart():
    values = records(WRITER)
    for value in values:
        value["message"]["content"] = value["message"]["content"].replace("6", "7")
    graphs = results(READER, written(values))
    assert [graph.name for graph in graphs] == ["reader", "writer"]


def test_teams_that_were_told_the_same_stay_apart():
    told = "Now tell each other what you know about the tides."
    pairs = []
    for day in range(2):
        pair = []
        for content in (READER, WRITER):
            values = records(content)
            first = next(v for v in values if v["role_at_backend"] == "user")
            first = json.loads(json.dumps(first))
            first["message"].update(role_name="Reader", content=told)
            first["timestamp"] -= 50
            for value in [first, *values]:
                value["timestamp"] += day * 86_400
                value["uuid"] = f"{day}-{value['uuid']}-{value is first}"
                value["agent_id"] = f"{value['agent_id']}-{day}"
            pair.append(written([first, *values]))
        pairs.append(pair)
    keys = [CAMEL_MEMORY.join_keys(MemoryFile(pair[1])) for pair in pairs]
    assert keys[0] & keys[1]
    graphs = results(pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1])
    assert [graph.name for graph in graphs] == ["reader-0 + writer-0", "reader-1 + writer-1"]


def test_the_task_stands_in_the_prompt():
    values = records(READER)
    values[0]["message"]["task"] = "Plan a trip"
    assert read(written(values)).task.name == "Plan a trip"


def test_a_record_of_one_id_in_several_memories_is_one():
    copies = [dict(record, agent_id="writer") for record in records(READER)]
    graph = read(READER, written([*copies, *records(WRITER)]))
    assert len(graph.nodes) == 5
    warning = "a record that stands in several memories was counted once"
    assert warning in graph.source.warnings


def test_agents_whose_role_is_system_are_named_by_their_id():
    values = records(READER)
    for value in values:
        if value["message"]["role_name"] == "Reader":
            value["message"]["role_name"] = "System"
    assert {who for who, *_ in spoken(read(written(values)))} == {"User", "reader"}


def test_an_older_call_is_a_record_of_its_own():
    values = records(READER)
    call = values[2]["message"]
    call.pop("tool_calls")
    call.update(func_name="tide", args={"harbour": "north"}, content="")
    values[3]["message"].pop("tool_call_id")
    (tool,) = [n for n in read(written(values)).nodes if n.kind == "tool_call"]
    assert (tool.name, tool.content) == ("tide", "high at 6")
    assert tool.attributes["arguments"] == '{"harbour":"north"}'


def test_damaged_records_are_named_and_the_rest_is_read():
    found = results(READER + b'{"hello": 1}\n{"uuid": "\n')
    assert isinstance(found[0], CollaborationGraph)
    assert [r.record for r in found if isinstance(r, Rejection)] == ["value 5", "line 7"]


@pytest.mark.parametrize("content", [b"[]", b""])
def test_what_holds_no_records(content):
    with pytest.raises(InputError, match="it holds no records"):
        results(content)


def test_a_memory_of_a_prompt_alone_is_refused():
    (bad,) = results(READER.splitlines()[0])
    assert bad.reason == "the memory holds no message"


def test_cuts_lose_only_what_was_cut():
    for cut in cuts(READER, 25):
        try:
            found = [r for r in results(cut) if isinstance(r, CollaborationGraph)]
        except InputError:
            continue
        assert sum(len(graph.nodes) for graph in found) <= 4


def test_damaged_files_are_survived():
    assert assert_survives(CAMEL_MEMORY, READER, 250) > 80


def test_sniffing_goes_by_content():
    for content in (READER, WRITER, READER[:180]):
        assert CAMEL_MEMORY.sniff(content)
    for other in (b"", b"{}", b'{"uuid": "x", "message": {"role": "user"}}', b"[1]"):
        assert not CAMEL_MEMORY.sniff(other)
