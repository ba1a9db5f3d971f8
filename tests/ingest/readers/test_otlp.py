"""OTLP: hand-counted traces, one meaning in many encodings, and who consumed what."""

import base64
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.otlp import OTLP
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives

FORMATS = Path(__file__).resolve().parents[3] / "examples" / "formats" / "otlp"
NEWSROOM = [FORMATS / "newsroom-1.ndjson", FORMATS / "newsroom-2.json"]
SHOP = FORMATS / "repair-shop.json"
TRACE = "0123456789abcdef0123456789abcdef"
MESSAGES = '[{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}]'
START = 1_764_500_000_000_000_000


def span(
    id: int,
    parent: int | None,
    times: tuple[float, float] | None,
    kind: str | None = None,
    name: str = "span",
    **more: Any,
) -> dict[str, Any]:
    """A span; keyword arguments with ``__`` for points are its attributes."""
    attributes = {key.replace("__", "."): value for key, value in more.items() if "__" in key}
    if kind:
        attributes["openinference.span.kind"] = kind
    made: dict[str, Any] = {
        "traceId": more.get("trace", TRACE),
        "spanId": f"{id:016x}",
        "name": name,
        "attributes": [{"key": k, "value": boxed(v)} for k, v in attributes.items()],
    }
    if parent is not None:
        made["parentSpanId"] = f"{parent:016x}"
    if times:
        made["startTimeUnixNano"] = START + int(times[0] * 1e9)
        made["endTimeUnixNano"] = START + int(times[1] * 1e9)
    made.update({key: more[key] for key in ("status", "links", "events") if key in more})
    return made


def boxed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": value}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def document(spans: Iterable[dict[str, Any]], service: str | None = "svc") -> dict[str, Any]:
    attributes = [{"key": "service.name", "value": boxed(service)}] if service else []
    return {
        "resourceSpans": [
            {"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}
        ]
    }


def read_all(*contents: bytes) -> list[CollaborationGraph | Rejection]:
    files = [MemoryFile(content, f"{n}.json") for n, content in enumerate(contents)]
    return list(OTLP.read_joined(list(files), ReadContext()))


def read(*spans: dict[str, Any], service: str | None = "svc") -> CollaborationGraph:
    (graph,) = read_all(json.dumps(document(spans, service)).encode())
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def edges(graph: CollaborationGraph) -> list[tuple[int, int, str]]:
    places = {node.id: node.index for node in graph.nodes}
    return [(places[e.source], places[e.target], e.basis) for e in graph.edges]


def owners(graph: CollaborationGraph) -> list[str | None]:
    known = {agent.id: agent.name for agent in graph.agents}
    return [known[node.agent] if node.agent else None for node in graph.nodes]


def receivers(graph: CollaborationGraph) -> list[tuple[list[str], str | None]]:
    known = {agent.id: agent.name for agent in graph.agents}
    return [([known[r] for r in node.recipients], node.delivery) for node in graph.nodes]


def test_openinference_by_hand() -> None:
    (graph,) = read_all(*(path.read_bytes() for path in NEWSROOM))
    assert isinstance(graph, CollaborationGraph)
    assert [(a.name, a.kind, a.role) for a in graph.agents] == [
        ("Editor", "agent", "unknown"),
        ("Writer", "agent", "unknown"),
        ("look_up", "tool", "tool"),
    ]
    assert owners(graph) == ["Editor", "look_up", "Editor", "Writer", "Editor"]
    assert [node.kind for node in graph.nodes] == [
        "agent_message", "tool_call", "agent_message", "agent_message", "agent_message",
    ]  # fmt: skip
    assert edges(graph) == [
        (0, 1, "explicit"),
        (1, 2, "explicit"),
        (2, 3, "inferred"),
        (3, 4, "delivered"),
    ]
    assert receivers(graph) == [
        (["look_up"], "explicit"),
        (["Editor"], "explicit"),
        (["Writer"], "inferred"),
        (["Editor"], "explicit"),
        ([], None),
    ]
    assert [node.tokens_in for node in graph.nodes] == [100, None, 180, 90, 100]
    assert [node.tokens_out for node in graph.nodes] == [20, None, 12, 31, 12]
    assert [node.status for node in graph.nodes] == ["ok", "error", "ok", "ok", "ok"]
    assert [node.content for node in graph.nodes] == [
        None,
        "no such page",
        "Writer, two sentences on the ferry, please.",
        "The ferry sails at noon. It carries forty cars.",
        "Accepted.",
    ]
    assert graph.nodes[0].attributes["tool_calls"] == ["look_up"]
    assert graph.nodes[1].attributes["input"] == '{"page": "ferry"}'
    assert (graph.nodes[0].started_at, graph.nodes[0].ended_at) == (
        START + 10**9,
        START + 3 * 10**9,
    )


def test_the_whole_of_a_trace_by_hand() -> None:
    (graph,) = read_all(*(path.read_bytes() for path in NEWSROOM))
    assert isinstance(graph, CollaborationGraph)
    assert (
        graph.task.name == graph.task.description == "Write two sentences about the new ferry."
    )
    assert graph.method is not None
    assert (graph.method.name, graph.method.framework) == ("newsroom", "crewai")
    outcome = graph.outcome
    assert outcome.answer == "The ferry sails at noon. It carries forty cars."
    assert (outcome.score, outcome.success) == (0.5, None)
    assert (outcome.tokens_in, outcome.tokens_out) == (470, 75)  # as the root reports them
    assert outcome.latency == 20.0
    assert graph.attributes["evaluations"] == [
        {
            "span": "length",
            "span_id": "00000000000000b1",
            "of": "00000000000000f0",
            "score": 0.5,
            "name": "length",
            "explanation": "Two sentences, but the second says little.",
        }
    ]
    kinds = [(one["kind"], one["name"]) for one in graph.attributes["containers"]]
    assert kinds == [
        ("CHAIN", "newsroom.run"),
        ("AGENT", "invoke Editor"),
        ("AGENT", "invoke Writer"),
    ]
    assert graph.attributes["containers"][1]["tokens_in"] == 470  # no node counts them again
    assert graph.attributes["other_spans"] == 1
    assert graph.source.record == "5b8efff798038103d269b633813fc60c"
    assert graph.source.uri == "0.json + 1.json"
    assert graph.source.warnings == ()


def test_genai_by_hand() -> None:
    (graph,) = read_all(SHOP.read_bytes())
    assert isinstance(graph, CollaborationGraph)
    assert [(a.name, a.attributes) for a in graph.agents] == [
        ("triage", {"id": "agent-7"}),
        ("repair", {"id": "agent-8"}),
    ]
    assert owners(graph) == ["triage", "triage", "repair", "repair"]
    assert [node.kind for node in graph.nodes] == [
        "agent_message", "decision", "agent_message", "agent_message",
    ]  # fmt: skip
    assert edges(graph) == [(0, 1, "explicit"), (1, 2, "delivered"), (2, 3, "continued")]
    assert receivers(graph)[1] == (["repair"], "explicit")
    assert [node.tokens_in for node in graph.nodes] == [40, None, 60, 70]
    assert graph.nodes[2].content == "Bring it in before five."
    assert graph.nodes[2].attributes["model"] == "small-1"
    assert graph.task.name == "My bicycle has a flat tyre."
    assert graph.attributes["trace_ids"] == ["aa" * 16, "bb" * 16]
    assert graph.attributes["sessions"] == ["conversation-3"]
    assert graph.source.warnings == ("2 traces were joined by the session conversation-3",)
    assert graph.source.record == "aa" * 16 + " and 1 more"


def spelled(spans: list[dict[str, Any]], how: str) -> list[dict[str, Any]]:
    """The same spans as another exporter writes them."""
    copies: list[dict[str, Any]] = json.loads(json.dumps(spans))
    for one in copies:
        for field in ("startTimeUnixNano", "endTimeUnixNano"):
            one[field] = str(one[field]) if how == "texts" else int(one[field])
        if how == "texts":
            one["kind"] = "SPAN_KIND_INTERNAL"
            one["status"] = {"code": "STATUS_CODE_ERROR"}
            one.setdefault("parentSpanId", "")
            for attribute in one["attributes"]:
                if "intValue" in attribute["value"]:
                    attribute["value"]["intValue"] = str(attribute["value"]["intValue"])
        elif how == "base64":
            one["status"] = {"code": 2}
            for field in ("traceId", "spanId", "parentSpanId"):
                if field in one:
                    raw = bytes.fromhex(one[field])
                    one[field] = base64.b64encode(raw).decode()
        else:
            one["kind"] = 1
            one["status"] = {"code": 2, "message": None}
            one["traceId"] = one["traceId"].upper()
            one.setdefault("parentSpanId", "0" * 16)
    return copies


def small_team() -> list[dict[str, Any]]:
    return [
        span(1, None, (0, 9), "AGENT", agent__name="boss", input__value="Add them."),
        span(2, 1, (1, 2), "LLM", llm__token_count__prompt=7, output__value="Adder?"),
        span(3, 1, (3, 6), "AGENT", agent__name="adder"),
        span(4, 3, (4, 5), "LLM", llm__token_count__prompt=8, output__value="4"),
        span(5, 1, (7, 8), "LLM", llm__token_count__prompt=9, output__value="It is 4."),
    ]


def test_one_meaning_in_every_spelling() -> None:
    graphs = [read(*spelled(small_team(), how)) for how in ("numbers", "texts", "base64")]
    assert len({graph.id for graph in graphs}) == 1
    assert graphs[0].nodes == graphs[1].nodes == graphs[2].nodes
    assert [node.status for node in graphs[0].nodes] == ["error"] * 3
    assert edges(graphs[0]) == [(0, 1, "inferred"), (1, 2, "delivered")]


def test_order_lines_and_files_do_not_matter() -> None:
    spans = small_team()
    whole = document(spans)
    expected = read(*spans)
    layouts: list[list[bytes]] = [
        [json.dumps(whole, indent=2).encode()],
        [json.dumps([whole]).encode()],
        [json.dumps([document([one]) for one in spans], indent=1).encode()],
        [b"\n\n".join(json.dumps(document([one])).encode() for one in spans) + b"\n"],
        [json.dumps(document([one])).encode() for one in spans],
    ]
    chance = random.Random(7)
    for _ in range(20):
        chance.shuffle(spans)
        cut = chance.randrange(1, 5)
        layouts.append(
            [json.dumps(document(part)).encode() for part in (spans[:cut], spans[cut:])]
        )
    for layout in layouts:
        (graph,) = read_all(*layout)
        assert isinstance(graph, CollaborationGraph)
        assert graph.id == expected.id
        assert (graph.nodes, graph.edges, graph.agents, graph.attributes, graph.outcome) == (
            expected.nodes,
            expected.edges,
            expected.agents,
            expected.attributes,
            expected.outcome,
        )


def test_files_that_share_a_trace_or_a_session_have_a_common_key() -> None:
    keys = [OTLP.join_keys(MemoryFile(path.read_bytes())) for path in [*NEWSROOM, SHOP]]
    trace = "trace:5b8efff798038103d269b633813fc60c"
    assert keys == [
        {trace},
        {trace},
        {"trace:" + "aa" * 16, "trace:" + "bb" * 16, "session:conversation-3"},
    ]
    indented = json.dumps(json.loads(SHOP.read_bytes()), indent=4).encode()
    assert OTLP.join_keys(MemoryFile(indented)) == keys[2]
    for strange in (b"", b"{", b"\xff\x00", b'{"traceId"', b'{"traceId": 5}', b"[" * 9999):
        assert OTLP.join_keys(MemoryFile(strange)) == frozenset()


def test_a_key_in_a_text_is_no_key() -> None:
    text = json.dumps({"traceId": "ff" * 16})
    sample = json.dumps(document([span(1, None, (0, 1), "LLM", output__value=text)]))
    assert OTLP.join_keys(MemoryFile(sample.encode())) == {f"trace:{TRACE}"}


def test_a_parent_that_is_nowhere_is_noted() -> None:
    graph = read(span(2, 1, (0, 1), "LLM", agent__name="a", output__value="x"))
    assert graph.source.warnings == ("1 spans have a parent that was not found",)
    assert graph.nodes[0].attributes["parent_span_id"] == f"{1:016x}"


def test_a_span_exported_twice_counts_once_and_two_of_one_id_are_refused() -> None:
    spans = small_team()
    content = json.dumps(document(spans)).encode()
    (graph,) = read_all(content, content)
    assert isinstance(graph, CollaborationGraph)
    assert graph.id == read(*spans).id
    assert graph.source.warnings == ("5 spans stood twice and were counted once",)
    other = span(4, 3, (4, 5), "LLM", output__value="5")
    assert read_all(json.dumps(document([*spans, other])).encode()) == [
        Rejection(
            "0.json", TRACE, "the span id 0000000000000004 stands for two different spans"
        )
    ]


def test_spans_that_contain_each_other_are_refused() -> None:
    loop = [span(1, 2, (0, 9), "LLM"), span(2, 1, (0, 9), "LLM")]
    other = span(3, None, (0, 1), "LLM", trace="f" * 32, output__value="x")
    results = read_all(json.dumps(document([*loop, other])).encode())
    assert results[0] == Rejection("0.json", TRACE, "the span 0000000000000001 contains itself")
    assert isinstance(results[1], CollaborationGraph)
    itself = [span(1, 1, (0, 9), "LLM")]
    (result,) = read_all(json.dumps(document(itself)).encode())
    assert isinstance(result, Rejection)


def test_a_trace_about_something_else_is_refused() -> None:
    content = json.dumps(document([span(1, None, (0, 1), http__method="GET")])).encode()
    assert read_all(content) == [
        Rejection("0.json", TRACE, "it has no model, tool or agent span")
    ]


def test_a_wrapped_call_counts_once() -> None:
    graph = read(
        span(1, None, (0, 9), "AGENT", agent__name="a", llm__token_count__prompt=50),
        span(2, 1, (1, 8), "LLM", llm__token_count__prompt=50, output__value="x"),
        span(3, 2, (1, 8), "CHAIN"),
        span(4, 3, (2, 7), "LLM", llm__token_count__prompt=50, output__value="x"),
    )
    assert [node.tokens_in for node in graph.nodes] == [50]
    assert graph.nodes[0].attributes["span_id"] == f"{4:016x}"
    kept = {one["span_id"][-1]: one.get("tokens_in") for one in graph.attributes["containers"]}
    assert kept == {"1": 50, "2": 50, "3": None}


def test_an_agent_span_with_nothing_inside_is_a_message() -> None:
    graph = read(
        span(1, None, (0, 9), "CHAIN"),
        span(2, 1, (1, 2), "AGENT", agent__name="a", output__value="done"),
        span(3, 1, (3, 4), "AGENT", agent__name="b"),
        span(4, 3, (3, 4), http__method="GET"),
    )
    assert owners(graph) == ["a", "b"]
    assert [node.content for node in graph.nodes] == ["done", None]
    assert edges(graph) == [(0, 1, "inferred")]


def test_the_name_of_a_span_is_no_agent() -> None:
    graph = read(
        span(1, None, (0, 9), "CHAIN", name="pipeline"),
        span(2, 1, (1, 2), "LLM", name="llm.step_one", output__value="a"),
        span(3, 1, (3, 4), "LLM", name="llm.step_two", output__value="b"),
    )
    assert [(a.name, a.attributes) for a in graph.agents] == [("svc", {"named_by": "service"})]
    assert edges(graph) == [(0, 1, "continued")]
    assert graph.source.warnings == (
        "no span names the agent of some actions: the service stands for it",
    )
    assert read(span(1, None, (0, 1), "LLM"), service=None).agents[0].name == "agent"


def test_a_nameless_agent_span_is_called_by_its_node_or_its_own_name() -> None:
    graph = read(
        span(1, None, (0, 9), "CHAIN"),
        span(2, 1, (1, 2), "AGENT", name="loop.review"),
        span(3, 2, (1, 2), "LLM"),
        span(4, 1, (3, 4), "AGENT", name="x", graph__node__id="critic"),
        span(5, 4, (3, 4), "LLM"),
    )
    assert owners(graph) == ["loop.review", "critic"]
    assert [a.attributes for a in graph.agents] == [{"named_by": "span"}, {}]
    assert graph.source.warnings == (
        "some agent spans name no agent: the span's name stands for it",
    )


def test_two_agents_of_one_name_stay_two() -> None:
    by_id = read(
        span(1, None, (0, 1), "LLM", gen_ai__agent__name="a", gen_ai__agent__id="1"),
        span(2, None, (2, 3), "LLM", gen_ai__agent__name="a", gen_ai__agent__id="2"),
        span(3, None, (4, 5), "LLM", gen_ai__agent__name="a", gen_ai__agent__id="1"),
    )
    assert [agent.name for agent in by_id.agents] == ["a", "a"]
    assert by_id.nodes[0].agent == by_id.nodes[2].agent != by_id.nodes[1].agent
    one = document([span(1, None, (0, 1), "LLM", agent__name="a")], "north")
    two = document([span(2, None, (2, 3), "LLM", agent__name="a")], "south")
    (by_service,) = read_all(json.dumps([one, two]).encode())
    assert isinstance(by_service, CollaborationGraph)
    assert len(by_service.agents) == 2
    again = read(
        span(1, None, (0, 1), "AGENT", agent__name="a"),
        span(2, None, (2, 3), "AGENT", agent__name="a"),
    )
    assert len(again.agents) == 1


def test_an_agent_that_never_acts_is_an_agent() -> None:
    graph = read(
        span(1, None, (0, 9), "AGENT", agent__name="boss"),
        span(2, 1, (1, 2), "AGENT", agent__name="worker", output__value="x"),
    )
    assert [agent.name for agent in graph.agents] == ["boss", "worker"]
    assert receivers(graph) == [(["boss"], "explicit")]


def test_parallel_calls_read_the_same_and_are_read_together() -> None:
    graph = read(
        span(1, None, (0, 20), "AGENT", agent__name="a"),
        span(2, 1, (1, 2), "LLM", output__value="go"),
        span(3, 1, (3, 8), "TOOL", tool__name="left"),
        span(4, 1, (4, 7), "TOOL", tool__name="right"),
        span(5, 1, (9, 12), "LLM", output__value="one"),
        span(6, 1, (10, 11), "LLM", output__value="two"),
        span(7, 1, (13, 14), "LLM", output__value="both"),
    )
    assert edges(graph) == [
        (0, 1, "inferred"),
        (0, 2, "inferred"),
        (1, 3, "delivered"),
        (1, 4, "delivered"),
        (2, 3, "delivered"),
        (2, 4, "delivered"),
        (3, 5, "continued"),
        (4, 5, "continued"),
    ]


def test_agents_in_parallel_read_the_same_and_the_next_reads_both() -> None:
    graph = read(
        span(1, None, (0, 20), "CHAIN"),
        span(2, 1, (1, 2), "AGENT", agent__name="first"),
        span(3, 1, (3, 8), "AGENT", agent__name="left"),
        span(4, 1, (4, 7), "AGENT", agent__name="right"),
        span(5, 1, (9, 10), "AGENT", agent__name="last"),
    )
    assert edges(graph) == [
        (0, 1, "inferred"),
        (0, 2, "inferred"),
        (1, 3, "inferred"),
        (2, 3, "inferred"),
    ]


def test_an_agent_inside_a_tool_call() -> None:
    graph = read(
        span(1, None, (0, 20), "AGENT", agent__name="boss"),
        span(2, 1, (1, 2), "LLM"),
        span(3, 1, (3, 9), "TOOL", tool__name="ask_expert"),
        span(4, 3, (4, 8), "AGENT", agent__name="expert"),
        span(5, 4, (4, 5), "LLM"),
        span(6, 4, (6, 7), "LLM"),
        span(7, 1, (10, 11), "LLM"),
    )
    assert owners(graph) == ["boss", "ask_expert", "expert", "expert", "boss"]
    assert edges(graph) == [
        (0, 1, "inferred"),
        (1, 2, "explicit"),
        (1, 4, "delivered"),
        (2, 3, "continued"),
        (3, 4, "delivered"),
    ]
    assert [n.parent and int(n.parent.rsplit("/")[-1]) for n in graph.nodes] == [
        None, None, 1, 1, None,
    ]  # fmt: skip


def test_links_are_explicit_and_never_point_backwards() -> None:
    graph = read(
        span(1, None, (0, 1), "LLM", agent__name="a"),
        span(2, None, (0.5, 3), "LLM", agent__name="b", links=[{"spanId": f"{1:016x}"}]),
        span(3, None, (0.7, 4), "LLM", agent__name="c", links=[{"spanId": f"{4:016x}"}]),
        span(4, None, (5, 6), "LLM", agent__name="d", links=[{"spanId": "zz"}, {}]),
    )
    assert (0, 1, "explicit") in edges(graph)
    assert all(source < target for source, target, _ in edges(graph))
    assert graph.source.warnings == (
        "1 sources that the trace names start later than what consumed them and were left out",
    )


def test_spans_without_times_stand_where_their_parent_does() -> None:
    graph = read(
        span(1, None, (5, 9), "AGENT", agent__name="a"),
        span(2, 1, None, "LLM", output__value="x"),
        span(3, None, (1, 2), "LLM", agent__name="b", output__value="y"),
    )
    assert [node.content for node in graph.nodes] == ["y", "x"]
    assert graph.nodes[1].started_at is None
    assert graph.source.warnings == (
        "1 spans have no start: they stand where their parent does",
    )


def test_a_child_that_a_wrong_clock_puts_before_its_parent() -> None:
    graph = read(
        span(1, None, (5, 9), "AGENT", agent__name="a"),
        span(2, 1, (4, 6), "TOOL", tool__name="t"),
        span(3, 2, (3, 4), "LLM", output__value="x"),
    )
    assert owners(graph) == ["a", "t"]
    assert all(source < target for source, target, _ in edges(graph))


def test_missing_is_missing() -> None:
    graph = read(span(1, None, (0, 1), "LLM", agent__name="a"))
    node = graph.nodes[0]
    assert (node.tokens_in, node.tokens_out, node.content, node.status) == (None,) * 4
    outcome = graph.outcome
    assert (outcome.success, outcome.score, outcome.answer, outcome.tokens_in) == (None,) * 4
    zero = read(
        span(
            1, None, (0, 1), "LLM", llm__token_count__prompt=0, gen_ai__usage__output_tokens=3.0
        )
    )
    assert (zero.nodes[0].tokens_in, zero.nodes[0].tokens_out) == (0, 3)


def test_errors_of_the_root_and_of_a_step() -> None:
    graph = read(
        span(1, None, (0, 9), "CHAIN", status={"code": 2, "message": "out of money"}),
        span(
            2,
            1,
            (1, 2),
            "TOOL",
            name="execute_tool search",
            status={"code": "ERROR"},
            events=[
                {
                    "name": "exception",
                    "attributes": [
                        {"key": "exception.type", "value": boxed("IOError")},
                        {"key": "exception.message", "value": boxed("gone")},
                    ],
                }
            ],
        ),
    )
    assert (graph.outcome.success, graph.outcome.termination) == (False, "out of money")
    assert (graph.nodes[0].name, graph.nodes[0].status) == ("search", "error")
    assert graph.nodes[0].attributes["exception"] == "IOError: gone"


@pytest.mark.parametrize(
    "attributes",
    [
        {"llm__output_messages__0__message__content": "hi", "output__value": '{"raw": 1}'},
        {"output__value": "hi"},
        {"gen_ai__response__content": "hi"},
        {"gen_ai__completion__0__content": "hi", "gen_ai__completion__0__role": "assistant"},
        {"gen_ai__output__messages": MESSAGES},
        {"llm__output_messages__0__message__contents__0__message_content__text": "hi"},
    ],
)  # fmt: skip
def test_the_text_of_a_message_in_each_convention(attributes: dict[str, str]) -> None:
    graph = read(span(1, None, (0, 1), "LLM", **attributes))
    assert graph.nodes[0].content == "hi"


@pytest.mark.parametrize(
    "attributes",
    [
        {"openinference__span__kind": "llm"},
        {"gen_ai__operation__name": "chat"},
        {"gen_ai__operation__name": "generate_content"},
        {"llm__request__type": "chat"},
    ],
)
def test_a_model_call_in_each_convention(attributes: dict[str, str]) -> None:
    assert read(span(1, None, (0, 1), **attributes)).nodes[0].kind == "agent_message"


def test_texts_in_events() -> None:
    choice = json.dumps({"index": 0, "message": {"role": "assistant", "content": "hi"}})
    event = {
        "name": "gen_ai.choice",
        "attributes": [{"key": "message", "value": boxed(choice)}],
    }
    graph = read(span(1, None, (0, 1), gen_ai__operation__name="chat", events=[event]))
    assert graph.nodes[0].content == "hi"


def test_long_attributes_and_repeated_inputs_are_left_out() -> None:
    graph = read(
        span(
            1, None, (0, 1), "LLM",
            a__long="x" * 1_001, a__short="x" * 1_000, a__number=4, a__flag=True,
            llm__input_messages__0__message__content="again",
        )
    )  # fmt: skip
    attributes = graph.nodes[0].attributes
    assert attributes["a.short"] == "x" * 1_000
    assert (attributes["a.number"], attributes["a.flag"]) == (4, True)
    assert "a.long" not in attributes
    assert "again" not in json.dumps(attributes)


def test_one_judgement_says_how_it_went() -> None:
    def judged(*labels: str) -> CollaborationGraph:
        judges = [
            span(9 + n, 1, (2, 3), "EVALUATOR", eval__label=label, eval__score=float(n))
            for n, label in enumerate(labels)
        ]
        return read(span(1, None, (0, 1), "LLM", agent__name="a"), *judges)

    assert (judged("passed").outcome.success, judged("passed").outcome.score) == (True, 0.0)
    assert judged("incorrect").outcome.success is False
    assert judged("fine").outcome.success is None
    two = judged("passed", "failed")
    assert (two.outcome.success, two.outcome.score) == (None, None)
    assert len(two.attributes["evaluations"]) == 2
    assert len(two.nodes) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\x00\xff",
        b"[]x",
        b'{"resourceSpans": 5}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"spanId": "1"}]}]}]}',
        b'{"resource": []}',
        b"[" * 100_000,
    ],
)
def test_broken_files_are_refused(content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        list(OTLP.read(MemoryFile(content, "bad.json"), ReadContext()))
    assert caught.value.file == "bad.json"


def test_a_file_that_breaks_off_gives_nothing() -> None:
    content = NEWSROOM[0].read_bytes()
    with pytest.raises(InputError) as caught:
        list(OTLP.read(MemoryFile(content[:-40]), ReadContext()))
    assert caught.value.record == "line 7"
    whole = json.dumps(document(small_team()), indent=1).encode()
    with pytest.raises(InputError):
        list(OTLP.read(MemoryFile(whole[:-40]), ReadContext()))


def test_a_damaged_file_leaves_those_it_was_joined_with() -> None:
    first, second = (path.read_bytes() for path in NEWSROOM)
    graph, rejection = read_all(first, second[:-60])
    assert isinstance(graph, CollaborationGraph)
    assert len(graph.nodes) == 2
    assert (
        "spans may be missing: a file with the same traces could not be read"
        in graph.source.warnings
    )
    assert isinstance(rejection, Rejection)
    assert rejection.file == "1.json"


def test_sniffing() -> None:
    for path in [*NEWSROOM, SHOP]:
        assert OTLP.sniff(path.read_bytes())
    assert OTLP.sniff(b'{"resourceSpans": [{"resource"')
    for other in (
        b"",
        b"{",
        b"\xff",
        b'{"text": "\\"resourceSpans\\": ["}',
        b'"resourceSpans": [',
    ):
        assert not OTLP.sniff(other)


def test_damaged_files_only_reject() -> None:
    assert_survives(OTLP, NEWSROOM[0].read_bytes())
    assert_survives(OTLP, NEWSROOM[1].read_bytes())
    assert_survives(OTLP, SHOP.read_bytes())


def test_a_guardrail_decides_and_its_agent_reads_the_decision() -> None:
    graph = read(
        span(1, None, (0, 9), "AGENT", agent__name="a"),
        span(2, 1, (1, 2), "LLM", output__value="send it"),
        span(3, 1, (3, 4), "GUARDRAIL", name="no_addresses", output__value="blocked"),
        span(4, 1, (5, 6), "LLM", output__value="send less"),
    )
    assert [node.kind for node in graph.nodes] == ["agent_message", "decision", "agent_message"]
    assert owners(graph) == ["a", "no_addresses", "a"]
    assert edges(graph) == [(0, 1, "inferred"), (1, 2, "delivered")]


def test_what_an_agent_without_actions_got_reaches_the_one_around_it() -> None:
    graph = read(
        span(1, None, (0, 20), "AGENT", agent__name="chief"),
        span(2, 1, (1, 2), "LLM", output__value="plan"),
        span(3, 1, (3, 10), "AGENT", agent__name="section"),
        span(4, 3, (4, 5), "AGENT", agent__name="one"),
        span(5, 3, (6, 7), "AGENT", agent__name="two"),
        span(6, 1, (11, 12), "LLM", output__value="done"),
    )
    assert owners(graph) == ["chief", "one", "two", "chief"]
    assert edges(graph) == [
        (0, 1, "inferred"),
        (1, 2, "inferred"),
        (1, 3, "delivered"),
        (2, 3, "delivered"),
    ]
    assert receivers(graph)[2] == (["section"], "explicit")
