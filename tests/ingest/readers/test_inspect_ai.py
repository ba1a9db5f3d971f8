import io
import json
import random
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from graphstore.validation import validate
from ingest.reader import ReadContext, Rejection
from ingest.readers.inspect_ai import INSPECT
from ingest.readers.zip_archive import ZipArchive
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

FOLDER = Path(__file__).parents[3] / "examples" / "formats" / "inspect-ai"
RAIN = (FOLDER / "rain.json").read_bytes()
CAPITALS = (FOLDER / "capitals.eval").read_bytes()
LOG = json.loads(RAIN)


def results(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    return list(INSPECT.read(MemoryFile(content), ReadContext()))


def read(content):
    (graph,) = results(content)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def changed(**values):
    log = json.loads(RAIN)
    log["samples"][0].update(values)
    return log


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [
        (by_id[node.agent], node.kind, node.content, [by_id[r] for r in node.recipients])
        for node in graph.nodes
    ]


def test_a_team_that_hands_over_and_uses_agents_as_tools():
    graph = read(RAIN)
    assert spoken(graph) == [
        ("user", "agent_message", "How much rain fell at the mill, in mm?", ["boss"]),
        ("boss", "agent_message", "I ask the reader.", []),
        ("boss", "decision", None, ["gauge_reader"]),
        ("gauge_reader", "agent_message", "First the mill.", []),
        ("gauge_reader", "tool_call", "12 mm", []),
        ("gauge_reader", "agent_message", "Then the other one.", []),
        ("gauge_reader", "tool_call", "no such gauge", []),
        ("gauge_reader", "agent_message", "The mill has 12 mm.", ["boss"]),
        (
            "system",
            "agent_message",
            "The gauge_reader agent has completed its work.",
            ["boss"],
        ),
        ("system", "agent_message", "Go on.", ["boss"]),
        ("boss", "agent_message", "How many are there?", []),
        ("boss", "decision", "Count the gauges.", ["counter"]),
        ("counter", "agent_message", "There are 2 gauges.", ["boss"]),
        ("boss", "agent_message", "That is all.", []),
        ("boss", "tool_call", "12 mm", []),
    ]
    assert links(graph) == [
        (0, 1, "explicit"),
        (0, 3, "explicit"),
        (1, 2, "continued"),
        (2, 3, "explicit"),
        (2, 10, "explicit"),
        (3, 4, "continued"),
        (4, 5, "explicit"),
        (4, 10, "explicit"),
        (5, 6, "continued"),
        (6, 7, "explicit"),
        (6, 10, "explicit"),
        (7, 10, "explicit"),
        (8, 9, "continued"),
        (8, 10, "explicit"),
        (9, 10, "explicit"),
        (10, 11, "continued"),
        (11, 12, "explicit"),
        (12, 13, "explicit"),
        (13, 14, "continued"),
    ]
    assert [node.status for node in graph.nodes if node.kind == "tool_call"] == [
        "ok",
        "error",
        "ok",
    ]
    assert graph.agents[1].attributes["system_prompt"] == "You lead."


def test_tokens_count_once_a_model_call():
    graph = read(RAIN)
    # Five calls of tools with 20 + 3 from the cache, two answers with 10.
    assert sum(node.tokens_in or 0 for node in graph.nodes) == 5 * 23 + 2 * 10
    assert sum(node.tokens_out or 0 for node in graph.nodes) == 5 * 7 + 2 * 5
    assert (graph.outcome.tokens_in, graph.outcome.tokens_out) == (135, 45)


def test_the_outcome_and_the_task():
    graph = read(RAIN)
    outcome = graph.outcome
    assert (outcome.success, outcome.score, outcome.expected) == (True, 1.0, "12")
    assert (outcome.termination, outcome.retries) == ("success", 0)
    assert outcome.answer.endswith("12 mm")
    assert (graph.task.name, graph.task.dataset) == ("mill", "rain")
    assert graph.method.name == "react (boss)"
    assert graph.source.record == "mill epoch 1"
    assert all(node.started_at for node in graph.nodes if node.tokens_in)


def test_no_message_is_lost_or_doubled():
    sample = LOG["samples"][0]
    texts = Counter({sample["input"]: 1})
    for event in sample["events"]:
        if event["event"] == "model":
            message = event["output"]["choices"][0]["message"]
            texts[message["content"].removesuffix("\n\n12 mm")] += 1
            calls = message.get("tool_calls") or ()
            texts.update(
                call["arguments"]["input"] for call in calls if "input" in call["arguments"]
            )
    texts.update(["The gauge_reader agent has completed its work.", "Go on."])
    graph = read(RAIN)
    kept = Counter(n.content for n in graph.nodes if n.kind != "tool_call" and n.content)
    assert kept == texts
    calls = sum(event["event"] == "tool" for event in sample["events"])
    assert sum(n.attributes.get("call_id") is not None for n in graph.nodes) == calls


def test_an_archive_has_a_run_for_each_sample():
    graphs = results(CAPITALS)
    assert [graph.source.record for graph in graphs] == ["1 epoch 1", "2 epoch 1"]
    assert [graph.outcome.success for graph in graphs] == [True, False]
    assert [graph.outcome.score for graph in graphs] == [1.0, 0.0]
    for graph, answer in zip(graphs, ("Oslo.", "Bergen."), strict=True):
        assert [(who, to) for who, _, _, to in spoken(graph)] == [
            ("user", ["assistant"]),
            ("assistant", ["user"]),
            ("system", ["model_graded_qa"]),
            ("model_graded_qa", []),
        ]
        assert graph.nodes[1].content == answer
        assert graph.agents[1].attributes["system_prompt"] == "Be brief."


def test_a_log_and_its_archive_are_read_alike():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({k: LOG[k] for k in LOG if k != "samples"}))
        archive.writestr("samples/mill_epoch_1.json", json.dumps(LOG["samples"][0]))
    one, other = read(RAIN), read(buffer.getvalue())
    assert (one.id, one.nodes, one.edges) == (other.id, other.nodes, other.edges)
    assert one.outcome == other.outcome


def test_messages_without_ids_are_told_apart_by_their_words():
    text = RAIN.decode()
    log = json.loads(text)
    stack = [log["samples"]]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if "role" in value:
                value.pop("id", None)
            value.pop("message_id", None)
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    graph = read(log)
    contents = Counter(content for *_, content, _ in spoken(graph))
    assert contents["How much rain fell at the mill, in mm?"] == 1
    assert contents["The mill has 12 mm."] == 1


def test_equal_words_without_ids_are_told_apart_by_their_place():
    said = {"role": "assistant", "content": "Hm."}
    told = {"role": "user", "content": "Go on."}
    asked = {"role": "user", "content": "Well?", "source": "input"}
    events = [
        {"event": "model", "input": [asked, *[said, told] * n], "output": _answer(said)}
        for n in range(3)
    ]
    graph = read(changed(input="Well?", events=events, messages=[asked, *[said, told] * 3]))
    assert [content for _, _, content, _ in spoken(graph)] == [
        "Well?",
        *["Hm.", "Go on."] * 3,
    ]
    assert links(graph) == [
        (0, 1, "explicit"),
        (2, 3, "explicit"),
        (2, 4, "continued"),
        (4, 5, "explicit"),
        (4, 6, "continued"),
    ]


def _answer(message):
    return {"choices": [{"message": message}]}


def test_a_log_without_spans_names_agents_by_its_tools():
    log = json.loads(RAIN)
    events = [
        {k: v for k, v in e.items() if k != "span_id"}
        for e in log["samples"][0]["events"]
        if not e["event"].startswith("span")
    ]
    tool = next(e for e in events if e["event"] == "tool")
    place = events.index(tool)
    tool["events"] = events[place + 1 : place + 6]
    log["samples"][0]["events"] = events[: place + 1] + events[place + 6 :]
    graph = read(log)
    assert {who for who, *_ in spoken(graph)} == {
        "user",
        "assistant",
        "gauge_reader",
        "system",
        "counter",
    }


def test_a_log_without_events_has_its_messages():
    graph = read(changed(events=[], events_data=None))
    assert "the sample has no events" in graph.source.warnings[0]
    assert all(node.tokens_in is None for node in graph.nodes)
    assert "I ask the reader." in [node.content for node in graph.nodes]


def test_calls_of_messages_without_events_have_names():
    graph = read(changed(events=[], events_data=None))
    assert [n.name for n in graph.nodes if n.kind == "tool_call"] == [
        "transfer_to_gauge_reader",
        "counter",
    ]


def test_a_metric_of_no_samples_is_missing():
    text = json.dumps(LOG).replace('"value": 1.0', '"value": NaN', 1)
    assert "NaN" in text
    assert read(text.encode()).nodes == read(RAIN).nodes
    with pytest.raises(InputError, match="JSON has no NaN"):
        results(text[:-200].encode())


def test_an_older_sample_has_one_score():
    log = changed(score={"value": "I"})
    del log["samples"][0]["scores"]
    assert read(log).outcome.success is False


def test_attachments_stand_in_their_place():
    log = changed(attachments={"abc": "A long story."})
    event = next(e for e in log["samples"][0]["events"] if e["event"] == "model")
    event["output"]["choices"][0]["message"]["content"] = "attachment://abc"
    assert read(log).nodes[1].content == "A long story."


def test_thoughts_errors_and_further_choices():
    log = json.loads(RAIN)
    models = [e for e in log["samples"][0]["events"] if e["event"] == "model"]
    first = models[0]["output"]["choices"]
    first[0]["message"]["content"] = [
        {"type": "reasoning", "reasoning": "Who knows?"},
        {"type": "text", "text": "I ask."},
    ]
    models[2]["output"]["choices"] = []
    models[2]["error"] = "the model is away"
    models[-1]["output"]["choices"].append(
        {"message": {"role": "assistant", "content": "Or so."}}
    )
    graph = read(log)
    assert (graph.nodes[1].kind, graph.nodes[1].content) == ("decision", "Who knows?")
    assert [n.content for n in graph.nodes if n.kind == "agent_message" and n.status] == [
        "the model is away"
    ]
    assert graph.nodes[-1].content == "Or so."
    assert graph.nodes[-1].attributes["choice"] == 1


@pytest.mark.parametrize(
    ("value", "success", "score"),
    [("C", True, 1.0), ("I", False, 0.0), ("P", None, 0.5), ("N", False, 0.0), (0.7, None, 0.7),
     (True, True, 1.0), ("maybe", None, None), (None, None, None), ([1], None, None)],
)  # fmt: skip
def test_verdicts(value, success, score):
    outcome = read(changed(scores={"includes": {"value": value}})).outcome
    assert (outcome.success, outcome.score) == (success, score)


def test_why_a_sample_ended():
    assert (
        read(changed(limit={"type": "token", "limit": 5})).outcome.termination == "limit: token"
    )
    error = read(changed(error={"message": "out of memory"}))
    assert error.outcome.termination == "error: out of memory"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"samples": []}, "the log holds no samples"),
        ({"eval": {}, "samples": None}, "the log holds no samples"),
        ([], "the log holds no samples"),
    ],
)
def test_what_is_no_log(value, reason):
    with pytest.raises(InputError, match=reason):
        results(value)


def test_a_damaged_sample_is_named_and_the_others_are_read():
    archive = ZipArchive(CAPITALS, "f")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name in archive.names:
            content = archive.read(name)
            out.writestr(name, content[:-50] if "2_epoch" in name else content)
    first, second = results(buffer.getvalue())
    assert isinstance(first, CollaborationGraph)
    assert isinstance(second, Rejection)
    assert second.record == "samples/2_epoch_1.json"
    (bad,) = results({"samples": [3]})
    assert (bad.record, bad.reason) == ("sample 0", "the sample is no object")


def test_cuts_are_refused():
    for content in (RAIN, CAPITALS):
        for cut in cuts(content, 25):
            with pytest.raises(InputError):
                results(cut)


def test_damaged_files_are_survived():
    assert assert_survives(INSPECT, RAIN, 200) > 60
    chance = random.Random(3)
    for _ in range(200):
        data = bytearray(CAPITALS)
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        INSPECT.sniff(bytes(data))
        try:
            for result in results(bytes(data)):
                if isinstance(result, CollaborationGraph):
                    validate(result)
        except InputError:
            continue


def test_sniffing_goes_by_content():
    for content in (RAIN, CAPITALS, RAIN[:2000], CAPITALS[:200]):
        assert INSPECT.sniff(content)
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("letter.txt", "Dear all")
    for content in (b"", b"{}", b"PK\x03\x04", other.getvalue(), b'{"eval": {"task": 1}}'):
        assert not INSPECT.sniff(content)
