import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest

from analytics.claims import claim_signals
from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext, Rejection
from ingest.readers.native import NativeReader
from ingest.readers.native_records import json_schema
from ingest.readers.native_time import nanoseconds
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "native-format.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)


def run(*actions, **fields):
    return {"masgraph": 1, "kind": "run", "task": "t", "actions": list(actions), **fields}


def plan(*subtasks, **fields):
    return {
        "masgraph": 1,
        "kind": "decomposition",
        "task": "t",
        "subtasks": list(subtasks),
        **fields,
    }


def read_all(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    context = ReadContext(role_of=RoleTable.default().role_of)
    return list(NativeReader().read(MemoryFile(content), context))


def read_one(record):
    (graph,) = read_all(record)
    assert isinstance(graph, CollaborationGraph), graph
    return graph


def reason(record):
    (rejection,) = read_all(record)
    assert isinstance(rejection, Rejection)
    return rejection.reason


def edges(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def agent_names(graph, ids):
    names = {agent.id: agent.name for agent in graph.agents}
    return [names[one] for one in ids]


# The documentation.


def test_the_documented_examples_read_as_the_text_says():
    smallest, fuller, decomposition, claims = [read_one(text.encode()) for text in EXAMPLES]
    assert [
        (claim.id, len(claim.endorsed_by), len(claim.challenged_by))
        for claim in claim_signals(claims).units[0].claims
    ] == [("ann-tens", 1, 0), ("ann-ones", 1, 0), ("bob-ones", 0, 1)]
    assert claims.attributes["instance"] == {"right": 42}
    assert [agent.name for agent in smallest.agents] == ["planner", "solver"]
    assert len(smallest.nodes) == 3
    assert edges(smallest) == [(0, 1, "delivered"), (1, 2, "delivered")]
    assert smallest.outcome.answer == "42"

    assert [agent.name for agent in fuller.agents] == ["Lena", "worker", "worker", "sql"]
    assert [agent.role for agent in fuller.agents] == [
        "orchestrator",
        "specialist",
        "solver",
        "tool",
    ]
    assert fuller.agents[1].role_name == "Sales Analyst"
    assert edges(fuller) == [
        (0, 1, "explicit"),
        (0, 2, "delivered"),
        (0, 3, "delivered"),
        (1, 2, "delivered"),
        (2, 4, "explicit"),
    ]
    assert fuller.organization is not None
    assert [unit.role for unit in fuller.organization.units] == ["orchestrator", "unknown"]
    assert [link.kinds for link in fuller.organization.links] == [("assigns",), ()]
    assert fuller.nodes[0].started_at == 1_772_442_000_000_000_000
    assert fuller.proposals[0].node == fuller.nodes[2].id

    assert [node.name for node in decomposition.nodes] == [
        "collect the numbers",
        "write the report",
        "draw the chart",
        "report",
    ]
    assert edges(decomposition) == [(0, 1, "explicit"), (0, 2, "explicit")]
    assert [node.parent for node in decomposition.nodes[:3]] == [decomposition.nodes[3].id] * 3
    (coupling,) = decomposition.couplings
    assert (coupling.source, coupling.target) == (
        decomposition.nodes[1].id,
        decomposition.nodes[2].id,
    )


def test_the_documented_examples_fit_the_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema())
    validator = jsonschema.Draft202012Validator(json_schema())
    for text in EXAMPLES:
        validator.validate(json.loads(text))
    assert not validator.is_valid(run({"contnt": "x"}))
    assert not validator.is_valid({"masgraph": 1})
    assert not validator.is_valid(run(subtasks=[]))


def test_the_shipped_schema_is_the_one_of_the_structs():
    shipped = (ROOT / "ingest" / "masgraph-record.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == json_schema()


def test_the_documented_messages_are_the_real_ones():
    good = json.dumps(run()).encode()
    bad_field = json.dumps(run({"contnt": 1})).encode()
    bad_name = json.dumps(run({"id": "a"}, {"consumes": ["ask"]})).encode()
    bad_kind = json.dumps(plan({}, {}, {"kind": "step"})).encode()
    lines = [good, good, bad_field, bad_name, bad_kind, b'{"masgraph": 1, "kind": "r']
    found = [item for item in read_all(b"\n".join(lines)) if isinstance(item, Rejection)]
    assert [(one.record, one.reason) for one in found] == [
        ("3", "unknown field 'contnt' at actions[0]: did you mean 'content'?"),
        ("4", "actions[1].consumes[0]: no action is called 'ask'"),
        ("5", "subtasks[2].kind: invalid value 'step': use one of 'group' or 'subtask'"),
        ("6", "the JSON breaks off at line 6, column 27"),
    ]
    for one in found[:3]:
        assert one.reason in DOCUMENT


# Shapes of files.


def test_every_word_that_may_stand_in_a_field_is_documented():
    listed = re.findall(r'"enum": \[([^\]]*)\]', json.dumps(json_schema()))
    named = {word for values in listed for word in re.findall(r'"(\w+)"', values)}
    assert {"tool_call", "group", "broadcast"} <= named
    assert {word for word in named if f"`{word}`" not in DOCUMENT} == set()


def test_lines_an_indented_object_and_an_array_give_the_same_graphs():
    records = [run({"agent": "a", "content": "x"}, id="one"), plan({"id": "s"}, id="two")]
    lines = "\n".join(json.dumps(record) for record in records).encode()
    array = json.dumps(records, indent=2).encode()
    crlf = lines.replace(b"\n", b"\r\n") + b"\r\n\r\n"
    spread = [json.dumps(record, indent=1).encode() for record in records]
    ids = [graph.id for graph in read_all(lines)]
    assert len(set(ids)) == 2
    assert [graph.id for graph in read_all(array)] == ids
    assert [graph.id for graph in read_all(crlf)] == ids
    assert [graph.id for text in spread for graph in read_all(text)] == ids


def test_equal_records_without_an_id_are_two_graphs_by_their_lines():
    line = json.dumps(run()).encode()
    first, second = read_all(line + b"\n\n" + line)
    assert (first.source.record, second.source.record) == ("1", "3")
    assert first.id != second.id


@pytest.mark.parametrize(
    ("sample", "is_native"),
    [
        (b'{"masgraph": 1, "kind": "run"}', True),
        (b'{"kind": "run", "id": "x", "masgraph": 1}\n{"', True),
        (b'{\n  "kind": "run",\n  "masgraph": 1', True),
        (b'[\n{"masgraph":1', True),
        (b'\n {"masgraph": 1, "kind": "run", "content": "cut he', True),
        (b'{"attributes": {"masgraph": "x"}}', False),
        (b'{"content": "write \\"masgraph\\": 1"', False),
        (b'{"history": []}', False),
        (b"masgraph: 1", False),
        (b"[" * 100_000, False),
        (b"", False),
        (b"\xff\xfe\x00", False),
    ],
)
def test_sniffing_goes_by_content(sample, is_native):
    assert NativeReader().sniff(sample) is is_native


def test_a_bad_first_line_does_not_hide_the_others():
    lines = b'{"masgraph": 1, "kind": "run", }\n' + json.dumps(run()).encode()
    bad, good = read_all(lines)
    assert isinstance(bad, Rejection)
    assert bad.record == "1"
    assert "line 1, column 32" in bad.reason
    assert isinstance(good, CollaborationGraph)


def test_a_document_that_breaks_off_is_rejected_whole():
    array = json.dumps([run(), run()], indent=1).encode()
    with pytest.raises(InputError, match=r"the JSON breaks off at line \d+, column \d+"):
        read_all(array[:-20])


def test_half_a_surrogate_pair_is_replaced_with_a_warning():
    line = b'{"masgraph":1,"kind":"run","actions":[{"content":"a \\ud83d b \\ud83d\\ude00"}]}'
    for content in (line, b"[" + line + b"]", line.replace(b",", b",\n")):
        (graph,) = read_all(content)
        assert graph.nodes[0].content == "a \ufffd b \U0001f600"
        assert len(graph.source.warnings) == 1


# Agents, recipients and edges.


def test_agents_are_made_of_the_names_in_use():
    graph = read_one(run({"agent": "b", "to": ["a", "c"]}, {"agent": "a", "to": "user"}))
    assert [agent.name for agent in graph.agents] == ["b", "a", "c", "user"]
    assert [agent.kind for agent in graph.agents] == ["agent", "agent", "agent", "human"]


def test_all_is_everybody_else_also_those_who_speak_later():
    graph = read_one(run({"agent": "a", "to": "all"}, {"agent": "b"}, {"agent": "c"}))
    assert agent_names(graph, graph.nodes[0].recipients) == ["b", "c"]
    assert graph.nodes[0].delivery == "broadcast"
    assert edges(graph) == [(0, 1, "delivered"), (0, 2, "delivered")]


def test_in_a_list_all_is_a_name():
    graph = read_one(run({"agent": "a", "to": ["all"]}))
    assert agent_names(graph, graph.nodes[0].recipients) == ["all"]


def test_consumes_beats_delivery_and_an_empty_list_says_nothing():
    graph = read_one(
        run(
            {"id": "x", "agent": "a", "to": ["b"]},
            {"id": "y", "agent": "c", "to": ["b"]},
            {"agent": "b", "consumes": ["x"]},
            {"agent": "b"},
            {"agent": "c", "to": ["b"]},
            {"agent": "b", "consumes": []},
            {"agent": "b", "consumes": [{"id": "y", "basis": "inferred"}]},
        )
    )
    assert edges(graph) == [
        (0, 2, "explicit"),
        (1, 4, "continued"),
        (1, 6, "inferred"),
        (2, 3, "continued"),
    ]


def test_a_guessed_delivery_makes_inferred_edges():
    graph = read_one(run({"agent": "a", "to": ["b"], "delivery": "inferred"}, {"agent": "b"}))
    assert edges(graph) == [(0, 1, "inferred")]


def test_two_agents_of_one_name_stay_two():
    agents = [{"id": "1", "name": "w"}, {"id": "2", "name": "w"}, "boss"]
    graph = read_one(run({"agent": "2"}, {"agent": "boss"}, agents=agents))
    assert [agent.name for agent in graph.agents] == ["w", "w", "boss"]
    assert graph.nodes[0].agent == graph.agents[1].id
    assert "no agent is called 'w'" in reason(run({"agent": "w"}, agents=agents))


def test_an_agent_may_be_named_by_its_id_or_its_only_name():
    graph = read_one(
        run({"agent": "w1"}, {"agent": "worker"}, agents=[{"id": "w1", "name": "worker"}])
    )
    assert graph.nodes[0].agent == graph.nodes[1].agent


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (run({"tokens_in": -1}), "actions[0].tokens_in: expected 'int' >= 0"),
        (run({"tokens_in": 2**64}), "actions[0].tokens_in"),
        (
            run({"role": "boss"}),
            "actions[0].role: invalid value 'boss': use one of 'aggre",
        ),
        (run({"agent": "x"}, agents=["y"]), "actions[0].agent: no agent is called 'x'"),
        (run({"to": ["x"]}, agents=["y"]), "actions[0].to: no agent is called 'x'"),
        (
            run({"id": "a"}, {"id": "a"}),
            "actions[1].id: 'a' stands twice (first at actions[0])",
        ),
        (
            run({"id": "a", "consumes": ["a"]}),
            "actions[0].consumes[0]: 'a' cannot consume itself",
        ),
        (run({"consumes": ["1"]}, {}), "actions[0].consumes[0]: '1' comes later"),
        (run({"parent": "p"}), "actions[0].parent: no action is called 'p'"),
        (run({"id": "a", "parent": "a"}), "contains itself"),
        (run({"reads": ["r"]}, resources=["s"]), "actions[0].reads: no resource is called 'r'"),
        (run(agents=["a", "a"]), "agents[1]: 'a' stands twice"),
        (run(agents=[{"name": "a", "unit": "u"}]), "agents[0].unit: no unit is called 'u'"),
        (
            run(agents=[{"name": "a", "role": "boss", "role_name": "Boss"}]),
            "agents[0].role: beside role_name it must be one of planner",
        ),
        (run({"started_at": "yesterday"}), "actions[0].started_at: 'yesterday' is no time"),
        (run(proposals=[{"unit": "u", "phase": "first"}]), "proposals[0].phase"),
        (run(proposals=[{"unit": "u", "phase": "final", "node": "9"}]), "proposals[0].node"),
        (run(couplings=[{"between": ["0", "0"]}]), "couplings[0].between"),
        (run({}, couplings=[{"between": ["0", "0"]}]), "it must name two different ones"),
        (
            plan({"id": "a", "consumes": ["b"]}, {"id": "b", "consumes": ["a"]}),
            "cycle through a, b",
        ),
        (plan({"consumes": ["x"]}), "subtasks[0].consumes[0]: no subtask is called 'x'"),
        (run(subtasks=[]), "unknown field 'subtasks'"),
        ({"masgraph": 2, "kind": "run"}, "masgraph: invalid value 2: use 1"),
        ({"masgraph": 1}, "the field 'kind' is missing"),
        (
            {"masgraph": 1, "kind": "trace"},
            "kind: invalid value 'trace': use one of 'decompo",
        ),
        (run(organization={"name": "o", "units": ["a", "a"]}), "organization.units[1]"),
        (
            run(
                organization={
                    "name": "o",
                    "units": ["a"],
                    "links": [{"source": "a", "target": "b"}],
                }
            ),
            "organization.links[0].target: no unit is called 'b'",
        ),
        (run({"attributes": {"x": 2**70}}), "does not fit into 64 bits"),
        ([3], "expected 'object', got 'int'"),
    ],
)
def test_a_wrong_field_is_named_with_its_path(record, said):
    assert said in reason(record)


def test_an_id_that_stands_twice_rejects_the_second_record():
    lines = "\n".join(json.dumps(run(id=name)) for name in ("a", "b", "a")).encode()
    first, second, third = read_all(lines)
    assert isinstance(first, CollaborationGraph)
    assert isinstance(second, CollaborationGraph)
    assert third.reason == "the id 'a' stands twice in the file (first in record 1)"
    assert third.record == "3"


def test_a_task_given_as_text_gets_a_short_name_that_tells_texts_apart():
    long = "word " * 60
    one, other = read_one(run() | {"task": long + "a"}), read_one(run() | {"task": long + "b"})
    assert len(one.task.name) < 100
    assert one.task.description == long + "a"
    assert one.task.id != other.task.id
    assert read_one(run() | {"task": "short"}).task.name == "short"


def test_a_dropped_content_keeps_its_hash():
    kept = "0123456789abcdef" * 2
    assert read_one(run({"content_hash": kept})).nodes[0].content_hash == kept
    both = read_one(run({"content_hash": kept, "content": "x"})).nodes[0]
    assert both.content_hash != kept


# Times.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.000000001Z", 1),
        ("1970-01-01T01:00:00.5+01:00", 500_000_000),
        ("1969-12-31T23:59:59.75Z", -250_000_000),
        ("2026-03-02T09:00:00,123456789123Z", 1_772_442_000_123_456_789),
        ("20260302T090000Z", 1_772_442_000_000_000_000),
    ],
)
def test_times_are_exact_to_the_nanosecond(text, expected):
    assert nanoseconds(text) == (expected, None)


def test_a_time_without_a_zone_and_a_coarse_number_are_warned_about():
    time, warning = nanoseconds("1970-01-01 00:00:01")
    assert time == 1_000_000_000
    assert warning is not None
    assert (
        nanoseconds(1_772_442_000)[1]
        == "a time looks like seconds, and was read as nanoseconds"
    )
    assert nanoseconds(1_772_442_000_000_000_000) == (1_772_442_000_000_000_000, None)
    graph = read_one(run({"started_at": "2026-01-01T00:00:00"}))
    assert graph.source.warnings == ("a time without a zone was read as UTC",)


def test_many_levels_are_read_or_rejected_never_a_crash():
    for depth in (50, 150, 990, 100_000):
        line = b'{"masgraph":1,"kind":"run","attributes":{"x":' + b"[" * depth + b"]" * depth
        found = read_all(line + b"}}")
        assert len(found) == 1
        if depth == 100_000:
            assert found[0].reason == "the JSON is nested too deeply"


def test_a_million_lines_would_stream():
    line = json.dumps(run({"agent": "a"})).encode()

    class Endless(MemoryFile):
        def lines(self):
            number = 0
            while True:
                number += 1
                yield number, line

        def data(self):
            raise AssertionError("a file of lines is never read whole")

    graphs = NativeReader().read(Endless(line), ReadContext())
    records = [next(graphs).source.record for _ in range(50)]
    assert records == [str(number) for number in range(1, 51)]


def test_records_of_the_documentation_are_json_that_msgspec_reads_too():
    for text in EXAMPLES:
        assert msgspec.json.decode(text.encode())["masgraph"] == 1


# Organizations.


def test_the_same_organization_is_the_same_in_every_record():
    team = {"name": "team", "units": ["ann", "zorb"], "links": [], "state": {"size": 1}}
    broken = {**team, "units": ["ann", "ann"]}
    others = [
        {**team, "state": {"size": 1.0}},
        {**team, "state": {"size": True}},
        {**team, "units": ["zorb", "ann"]},
    ]
    records = [
        run({"agent": "a"}, agents=[{"name": "a", "unit": "zorb"}], organization=one)
        for one in (team, team, broken, team, *others, team)
    ]
    together = read_all(records)
    assert isinstance(together[2], Rejection)
    del together[2], records[2]
    for graph, record in zip(together, records, strict=True):
        alone = read_one(record)
        assert msgspec.json.encode(graph.organization) == msgspec.json.encode(
            alone.organization
        )
        assert graph.agents[0].unit == alone.agents[0].unit


def test_each_record_asks_for_the_roles_of_its_units():
    roles = RoleTable.default()
    record = run({}, organization={"name": "team", "units": ["zorb"]})
    file = MemoryFile(json.dumps([record] * 3).encode())
    list(NativeReader().read(file, ReadContext(role_of=roles.role_of)))
    assert roles.unknown == {"zorb": 3}
