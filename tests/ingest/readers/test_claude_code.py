import json
from collections import Counter
from pathlib import Path

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers import claude_runs
from ingest.readers.claude_code import CLAUDE_CODE
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

FOLDER = Path(__file__).parents[3] / "examples" / "formats" / "claude-code"
SESSION = (FOLDER / "bakery.jsonl").read_bytes()
HELPER = (FOLDER / "agent-f00d.jsonl").read_bytes()
STREAM = (FOLDER / "stream.jsonl").read_bytes()


def results(*contents):
    files = [MemoryFile(content, f"{n}.jsonl") for n, content in enumerate(contents)]
    return list(CLAUDE_CODE.read_joined(files, ReadContext()))


def read(*contents):
    (graph,) = results(*contents)
    return graph


def records(content):
    return [json.loads(line) for line in content.splitlines()]


def written(values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def spoken(graph):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [
        (node.name, by_id[node.agent], [by_id[r] for r in node.recipients])
        for node in graph.nodes
    ]


def test_a_session_and_its_helper_are_one_run():
    graph = read(SESSION, HELPER)
    assert [agent.name for agent in graph.agents] == [
        "user",
        "Claude Code",
        "price-reader",
        "general-purpose",
    ]
    assert spoken(graph) == [
        ("user", "user", ["Claude Code"]),
        ("Claude Code", "Claude Code", []),
        ("Claude Code", "Claude Code", []),
        ("Task", "Claude Code", ["price-reader"]),
        ("Task", "Claude Code", ["general-purpose"]),
        ("Read", "price-reader", []),
        ("Bash", "general-purpose", []),
        ("price-reader", "price-reader", ["Claude Code"]),
        ("general-purpose", "general-purpose", ["Claude Code"]),
        ("Write", "Claude Code", []),
        ("Claude Code", "Claude Code", ["user"]),
    ]
    assert Counter(node.kind for node in graph.nodes) == {
        "agent_message": 5,
        "decision": 3,
        "tool_call": 3,
    }
    assert links(graph) == [
        (0, 1, "explicit"),
        (1, 2, "continued"),
        (2, 3, "continued"),
        (2, 4, "continued"),
        (3, 5, "explicit"),
        (4, 6, "explicit"),
        (5, 7, "explicit"),
        (6, 8, "explicit"),
        (7, 9, "explicit"),
        (8, 9, "explicit"),
        (9, 10, "explicit"),
    ]


def test_tokens_count_once_a_response():
    graph = read(SESSION, HELPER)
    # Seven responses: 110 from the cache each, and 5+7+8+6+7+9+11 fresh ones.
    assert sum(node.tokens_in or 0 for node in graph.nodes) == 7 * 110 + 53
    assert sum(node.tokens_out or 0 for node in graph.nodes) == 90 + 20 + 12 + 15 + 18 + 30 + 40
    assert graph.nodes[1].tokens_out == 90
    assert graph.nodes[2].tokens_out is None


def test_what_a_call_did():
    graph = read(SESSION, HELPER)
    looked, wrote = graph.nodes[5], graph.nodes[9]
    assert looked.content == "bread,price\nrye,6.20\nwheat,4.10"
    assert [access.mode for access in (*looked.accesses, *wrote.accesses)] == ["read", "write"]
    assert (wrote.status, wrote.content) == ("error", "The file is read-only")
    assert graph.nodes[6].status == "ok"
    assert wrote.ended_at - wrote.started_at == 1_000_000_000
    assert wrote.started_at == 1_770_105_631_500_000_000


def test_no_message_is_lost_or_doubled():
    graph = read(SESSION, HELPER)
    texts = Counter()
    for record in [*records(SESSION), *records(HELPER)]:
        content = record.get("message", {}).get("content", [])
        for block in [{"text": content}] if isinstance(content, str) else content:
            for text in (block.get("text"), block.get("thinking")):
                if text is not None and record["type"] in ("user", "assistant"):
                    texts[text] += 1
    for prompt in records(SESSION)[5:7]:
        texts[prompt["message"]["content"][0]["input"]["prompt"]] += 0
    kept = Counter(n.content for n in graph.nodes if n.kind != "tool_call")
    assert kept == texts
    assert [n.content for n in graph.nodes].count("The rye loaf costs most: 6.20.") == 1


def test_the_order_of_the_files_changes_nothing():
    one, other = read(SESSION, HELPER), read(HELPER, SESSION)
    assert one.id == other.id
    assert one.nodes == other.nodes
    assert one.edges == other.edges


def test_a_session_alone_has_its_helpers_result():
    graph = read(SESSION)
    (answer,) = [node for node in graph.nodes if node.attributes.get("result_of") == "toolu_2"]
    assert answer.content == "There are three recipes; the shortest is scones.txt."
    assert answer.tokens_out is None
    assert (4, answer.index, "explicit") in links(graph)


def test_a_helper_alone_was_told_by_somebody():
    graph = read(HELPER)
    assert graph.nodes[0].delivery == "inferred"
    assert "only sub-agents' messages are in the trace" in graph.source.warnings


def test_a_stream_has_an_outcome():
    graph = read(STREAM)
    assert spoken(graph) == [
        ("Task", "Claude Code", ["price-reader"]),
        ("price-reader", "price-reader", ["Claude Code"]),
        ("Claude Code", "Claude Code", ["user"]),
    ]
    outcome = graph.outcome
    assert (outcome.answer, outcome.termination) == ("Rye.", "success")
    assert (outcome.cost, outcome.latency, outcome.tokens_out) == (0.0125, 2.5, 19)
    assert outcome.success is None


def test_sessions_that_have_nothing_in_common_are_runs_of_their_own():
    graphs = results(SESSION + STREAM)
    assert [graph.name for graph in graphs] == [read(SESSION).name, "stream-1"]
    assert graphs[0].nodes[1:] == results(SESSION + STREAM)[0].nodes[1:]


def test_a_session_that_goes_on_under_another_id_is_one_run():
    values = records(SESSION)
    for value in values[10:]:
        value["sessionId"] = "another"
    graph = read(written(values))
    assert graph.attributes["sessions"] == [values[3]["sessionId"], "another"]


def test_records_that_stand_twice_count_once():
    graph = read(SESSION + SESSION, HELPER)
    assert len(graph.nodes) == 11
    assert "records that stand twice under one id were counted once" in graph.source.warnings


def test_messages_of_one_id_but_other_words_are_both_kept():
    values = records(SESSION)
    other = json.loads(json.dumps(values[2]))
    other["message"]["content"] = "And which is the cheapest?"
    assert len(read(written([*values, other])).nodes) == len(read(SESSION).nodes) + 1


def test_a_branch_follows_on_its_parent_and_not_on_what_came_last():
    values = records(SESSION)
    asked = dict(values[2], uuid="again", message={"role": "user", "content": "Shorter!"})
    answer = dict(values[-1], uuid="again-2", parentUuid="again")
    answer["message"] = dict(
        answer["message"], id="msg_8", content=[{"type": "text", "text": "Rye."}]
    )
    graph = read(written([*values, asked, answer]))
    node = graph.nodes[-1]
    assert [s for s, t, _ in links(graph) if t == node.index] == [node.index - 1]


def test_without_parents_the_order_counts():
    values = records(SESSION)
    for value in values:
        value.pop("parentUuid", None)
    graph = read(written(v for v in values if not v.get("isSidechain")))
    assert {edge.basis for edge in graph.edges} <= {"delivered", "continued", "explicit"}
    assert (0, 1, "delivered") in links(graph)


def test_helpers_messages_in_reports_of_progress():
    inner = [
        {
            "type": "progress",
            "sessionId": value["sessionId"],
            "parentToolUseID": "toolu_2",
            "timestamp": value["timestamp"],
            "data": {
                "type": "agent_progress",
                "agentId": "f00d",
                "message": {k: value[k] for k in ("type", "uuid", "timestamp", "message")},
            },
        }
        for value in records(HELPER)
    ]
    values = records(SESSION)
    place = next(n for n, v in enumerate(values) if v.get("uuid") == "u3")
    alone = read(written([*values[:place], *inner, *values[place:]]))
    assert Counter(n.content for n in alone.nodes) == Counter(
        n.content for n in read(SESSION, HELPER).nodes
    )
    both = read(written([*values[:place], *inner, *values[place:]]), HELPER)
    assert len(both.nodes) == 11


def test_a_helper_in_the_background_returns_before_it_is_done():
    values = records(SESSION)
    returned = next(v for v in values if v.get("uuid") == "u3")
    returned["toolUseResult"] = {"status": "async_launched", "agentId": "f00d"}
    graph = read(written(values), HELPER)
    launched = graph.nodes[4]
    assert launched.attributes["result"].startswith("There are three recipes")
    assert launched.content == "Count the recipes in recipes/ and name the shortest."
    assert spoken(graph)[8] == ("general-purpose", "general-purpose", [])


def test_asking_for_a_helper_in_the_background_gets_its_words():
    values = records(SESSION)
    returned = next(v for v in values if v.get("uuid") == "u3")
    returned["toolUseResult"] = {"status": "async_launched", "agentId": "f00d"}
    asks = next(v for v in values if v.get("uuid") == "a5")
    asks["message"]["content"][0].update(name="TaskOutput", input={"task_id": "f00d"})
    graph = read(written(values), HELPER)
    assert spoken(graph)[8] == ("general-purpose", "general-purpose", ["Claude Code"])
    assert (8, 10, "explicit") in links(graph)


def test_what_the_harness_says_is_not_the_users():
    values = records(SESSION)
    more = []
    for number, (text, extra) in enumerate(
        [
            ("<local-command-stdout>done</local-command-stdout>", {}),
            ("The talk so far: bread.", {"isCompactSummary": True}),
            ("Thanks!", {}),
        ]
    ):
        told = dict(values[2], uuid=f"x{number}", parentUuid="a6", **extra)
        told["message"] = {"role": "user", "content": text}
        more.append(told)
    graph = read(written([*values, *more]), HELPER)
    assert [who for _, who, _ in spoken(graph)[-3:]] == ["system", "system", "user"]


def test_a_notification_is_the_helpers():
    values = records(SESSION)
    text = (
        "<task-notification>\n<task-id>f00d</task-id>\n<status>completed</status>\n"
        "<summary>Recipes are counted</summary>\n</task-notification>"
    )
    told = dict(
        values[2], uuid="n1", parentUuid="a6", message={"role": "user", "content": text}
    )
    graph = read(written([*values, told]), HELPER)
    assert spoken(graph)[-1] == ("general-purpose", "general-purpose", ["Claude Code"])
    assert (8, 11, "continued") in links(graph)


def test_a_run_is_given_out_when_its_last_line_is_read():
    class Counted(MemoryFile):
        def lines(self):
            for line in super().lines():
                read.append(line[0])
                yield line

    read = []
    file = Counted(SESSION + STREAM)
    reading = CLAUDE_CODE.read(file, ReadContext())
    looked_at = len(records(SESSION + STREAM))
    assert next(reading).attributes["versions"] == ["2.0.61"]
    assert len(read) == looked_at + len(records(SESSION))
    assert next(reading).name == "stream-1"
    assert len(read) == 2 * looked_at


def test_a_session_goes_on_in_another_file():
    values = records(SESSION)
    for value in values[10:]:
        value["sessionId"] = "another"
    first, second = written(values[:10]), written(values[10:])
    one, other = read(first, second), read(second, first)
    assert len(one.nodes) == 10
    assert (one.id, one.nodes, one.edges) == (other.id, other.nodes, other.edges)


def test_damaged_lines_are_named_and_the_rest_is_read():
    values = results(SESSION + b'{"type": "user", "mess\n42\n')
    assert isinstance(values[0], CollaborationGraph)
    assert [(v.record, v.reason.split(" at ")[0]) for v in values[1:]] == [
        ("line 17", "the JSON breaks off"),
        ("line 18", "it is no record, but another JSON value"),
    ]
    assert all(isinstance(v, Rejection) for v in values[1:])


def test_a_file_without_messages_is_refused():
    with pytest.raises(InputError, match="it holds no message"):
        results(SESSION.splitlines()[0])


def test_cuts_lose_only_what_was_cut():
    whole = len(read(SESSION).nodes)
    for cut in cuts(SESSION, 30):
        try:
            found = [r for r in results(cut) if isinstance(r, CollaborationGraph)]
        except InputError:
            found = []
        assert sum(len(graph.nodes) for graph in found) <= whole


def test_damaged_files_are_survived():
    assert assert_survives(CLAUDE_CODE, SESSION, 300) > 100
    assert assert_survives(CLAUDE_CODE, STREAM, 100) > 30


def test_sniffing_goes_by_content():
    for content in (SESSION, HELPER, STREAM, SESSION[:300], HELPER[:700]):
        assert CLAUDE_CODE.sniff(content)
    for other in (b"", b"{}", b'{"type": "user"}', b'{"sessionId": "x", "events": []}'):
        assert not CLAUDE_CODE.sniff(other)


def test_a_sidechain_before_its_call_is_not_doubled():
    """The same records in one file, the helpers' before the calls that opened them."""
    session, helper = records(SESSION), records(HELPER)
    own = [record for record in session if not record.get("isSidechain")]
    inside = [record for record in session if record.get("isSidechain")]
    expected = read(SESSION, HELPER)
    for early in (
        [*helper, *inside, *own],
        [*inside, *own, *helper],
        [*own[:3], *helper, *inside, *own[3:]],
        [*helper[:2], *own, *inside, *helper[2:]],
    ):
        graph = read(written(early))
        assert [node.content for node in graph.nodes] == [n.content for n in expected.nodes]
        assert spoken(graph) == spoken(expected)
        assert links(graph) == links(expected)
        timeless = [{k: v for k, v in one.items() if k != "timestamp"} for one in early]
        graph = read(written(timeless))
        assert sorted(str(n.content) for n in graph.nodes) == sorted(
            str(n.content) for n in expected.nodes
        )
        assert len(graph.agents) == len(expected.agents)


@pytest.mark.parametrize("kept", [0, 700, 2_000])
def test_lines_decoded_at_once_read_like_those_decoded_later(monkeypatch, kept):
    strange = SESSION.replace(b"bakery", rb"bak\ud800ery")
    damaged = SESSION + b'{"type":"user","uuid":"x","message":\n[]\n' + SESSION
    files = (HELPER, strange, damaged, STREAM)
    expected = results(*files)
    monkeypatch.setattr(claude_runs, "_DECODED_BYTES", kept)
    assert results(*files) == expected
