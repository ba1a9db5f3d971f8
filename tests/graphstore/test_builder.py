"""The builder asks the policy for every text, once, and keeps ids where nothing changes."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import GraphError, UsageError
from graphstore.identity import method_id, task_id
from graphstore.model import Artifact, Method, Outcome, Task
from graphstore.validation import validate
from ingest.redact import Drop, Keep, Redact

SECRET = "sk-proj-" + "aB3dE5gH7jK9" * 4
FIELDS = """record, task, description, dataset, category, group, method, framework,
organization, unit, unit attribute, link, state, policy, agent, role name, agent key,
agent attribute, resource, resource type, node, content, input, input type, output,
output type, key, attribute, proposal unit, value, answer, expected, termination,
mistake agent, mistake reason, name, warning, graph key, graph attribute"""
POLICIES = {"redact": Redact, "drop": Drop, "keep": Keep}


def filled(policy, mark=lambda field: field, kind="run"):
    """A graph in which every text is ``mark`` of its field's name."""
    builder = GraphBuilder(
        kind=kind,
        format="test",
        uri="file",
        content="x",
        record=mark("record"),
        policy=policy,
    )
    builder.set_task(
        mark("task"),
        description=mark("description"),
        dataset=mark("dataset"),
        category=mark("category"),
        source_group=mark("group"),
    )
    builder.set_method(mark("method"), framework=mark("framework"))
    builder.organization = make_organization(
        mark("organization"),
        [
            (mark("unit"), "solver", {"a": mark("unit attribute")}),
            ("second", "solver", {}),
        ],
        [(0, 1, mark("link")), (1, 0, "")],
        state={"state": [mark("state")]},
        policy={"policy": mark("policy")},
    )
    agent = builder.new_agent(
        mark("agent"),
        role="solver",
        role_name=mark("role name"),
        unit=0,
        attributes={mark("agent key"): mark("agent attribute")},
    )
    other = builder.new_agent("other", role="critic", unit=1)
    resource = builder.resource(mark("resource"), mark("resource type"))
    builder.add(
        "agent_message" if kind == "run" else "subtask",
        mark("node"),
        agent=agent,
        recipients=[other],
        content=mark("content"),
        inputs=[Artifact(mark("input"), mark("input type")), Artifact("plain")],
        outputs=[Artifact(mark("output"), mark("output type"))],
        accesses=[(resource, "write"), (resource, "read")],
        attributes={mark("key"): {"deep": [mark("attribute"), 1, None]}},
    )
    second = builder.add("tool_call" if kind == "run" else "group", "tool", agent=other)
    builder.edge(0, second, "explicit")
    builder.propose(mark("proposal unit"), "final", agent=agent, node=0, value=mark("value"))
    builder.outcome = Outcome(
        answer=mark("answer"),
        expected=mark("expected"),
        termination=mark("termination"),
        mistake_agent=mark("mistake agent"),
        mistake_reason=mark("mistake reason"),
    )
    builder.name = mark("name")
    builder.warn(mark("warning"))
    builder.attributes = {mark("graph key"): {"deep": mark("graph attribute")}}
    graph = builder.build()
    validate(graph)
    return graph


def json_of(graph):
    return msgspec.json.encode(graph, order="deterministic").decode()


def test_no_field_stores_a_secret():
    for name in ("redact", "drop"):
        for kind in ("run", "decomposition"):
            graph = filled(POLICIES[name](), lambda field: f"{field} {SECRET}", kind)
            assert SECRET not in json_of(graph), name
    assert SECRET in json_of(filled(Keep(), lambda field: f"{field} {SECRET}"))


def test_each_field_says_that_a_secret_stood_there():
    text = json_of(filled(Redact(), lambda field: f"{field} {SECRET}"))
    for field in re.split(r",\s+", FIELDS):
        assert f'"{field} [redacted:openai-key]"' in text, field


def test_drop_keeps_no_contents_and_no_attributes():
    text = json_of(filled(Drop()))
    for field in ("content", "description", "value", "answer", "expected", "mistake reason"):
        assert f'"{field}"' not in text.replace(f'"{field}":', ""), field
    assert "attribute" not in text.replace('"attributes":', "")
    assert '"state"' not in text.replace('"state":', "")
    for label in ("termination", "mistake agent", "role name", "proposal unit", "warning"):
        assert f'"{label}"' in text.replace(f'"{label}":', ""), label


def test_where_nothing_is_taken_out_the_graph_is_the_same_under_both_policies():
    assert filled(Redact()) == filled(Keep())
    assert filled(Redact()).organization.id == filled(Keep()).organization.id


def test_ids_are_made_of_what_is_stored_and_stay_apart():
    graph = filled(Redact(), lambda field: f"{field} {SECRET}")
    assert graph.task.id == task_id(graph.task.name, graph.task.dataset)
    assert graph.method.id == method_id(graph.method.name, graph.method.framework)
    again = filled(Redact(), lambda field: f"{field} {SECRET}")
    assert again == graph
    other = filled(Redact(), lambda field: f"{field} {SECRET[::-1]}")
    assert other.id != graph.id
    assert graph.agents[0].unit == graph.organization.units[0].id


def test_parts_that_a_reader_made_by_itself_are_looked_at_too():
    builder = GraphBuilder(kind="run", format="test", uri="f", content="x", policy=Redact())
    builder.task = Task(id=task_id(SECRET), name=SECRET, source_group=SECRET)
    builder.method = Method(id=method_id(SECRET), name=SECRET)
    graph = builder.build()
    assert SECRET not in json_of(graph)
    assert graph.task.id == task_id(graph.task.name)
    assert graph.method.id == method_id(graph.method.name)


def test_artifacts_that_look_alike_without_their_secrets_are_one():
    builder = GraphBuilder(kind="run", format="test", uri="f", content="x", policy=Redact())
    secrets = [SECRET, SECRET.replace("a", "c")]
    builder.add("tool_call", "t", inputs=[Artifact(secret) for secret in secrets])
    assert builder.build().nodes[0].inputs == (Artifact("[redacted:openai-key]"),)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["plain", f"key {SECRET}", "mail a@b.co", "password = hunter22"]),
            st.dictionaries(
                st.sampled_from(["a", "api_key", "note"]),
                st.sampled_from(["x", SECRET, 1, None, ["y", SECRET], {"password": "p"}]),
                max_size=2,
            ),
        ),
        max_size=6,
    )
)
def test_many_nodes_are_stored_as_each_would_be_alone(drafts):
    def built(some):
        builder = GraphBuilder(kind="run", format="t", uri="f", content="", policy=Redact())
        for content, attributes in some:
            builder.add("tool_call", content, content=content, attributes=attributes)
        return builder.build().nodes

    together = built(drafts)
    for one, draft in zip(together, drafts, strict=True):
        (alone,) = built([draft])
        assert msgspec.structs.replace(one, id=alone.id, index=0) == alone


def test_more_nodes_than_are_looked_at_at_once():
    builder = GraphBuilder(kind="run", format="t", uri="f", content="", policy=Redact())
    for number in range(3_000):
        content = f"mail a{number}@b.co" if number == 2_500 else f"said {number}"
        builder.add("tool_call", "t", content=content, parent=number - 1 if number else None)
    graph = builder.build()
    validate(graph)
    assert [node.content for node in graph.nodes[2_499:2_502]] == [
        "said 2499",
        "mail [redacted:email]",
        "said 2501",
    ]
    assert graph.nodes[2_048].parent == graph.nodes[2_047].id


@pytest.mark.parametrize(
    ("units", "links", "told"),
    [
        (["ann"], [], r"units\[0\] is not \(name, role, attributes\)"),
        ([("ann", "critic")], [], r"units\[0\] is not"),
        ([("ann", "critic", {})], [(0, 0)], r"links\[0\] is not \(source, target, kind\)"),
        ([("ann", "critic", {})], [("ann", "ann", "")], r"links\[0\] joins 'ann'"),
        ([("ann", "critic", {})], [(0, 0, ""), (0, -1, "")], r"links\[1\] joins -1"),
        ([("ann", "critic", {})], [(0, 1, "")], r"links\[0\] joins 1: .* from 0 to 0"),
    ],
)
def test_an_organization_of_wrong_parts_says_which(units, links, told):
    with pytest.raises(UsageError, match=told):
        make_organization("o", units, links)


@given(st.lists(st.none() | st.integers(0, 5), min_size=6, max_size=6))
def test_nodes_contain_each_other_in_any_order_but_never_themselves(parents):
    builder = GraphBuilder(kind="run", format="test", uri="file", content="x")
    for name, parent in enumerate(parents):
        builder.add("decision", str(name), parent=parent)
    circles = 0
    for start in range(6):
        outer = parents[start]
        for _ in range(6):
            outer = None if outer is None else parents[outer]
        circles += outer is not None
    if circles:
        with pytest.raises(GraphError, match="contains itself"):
            builder.build()
    else:
        nodes = builder.build().nodes
        assert [node.parent for node in nodes] == [
            None if parent is None else nodes[parent].id for parent in parents
        ]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(["", *"abc"]))))
def test_links_of_one_pair_are_one_link_of_all_its_kinds(links):
    organization = make_organization("o", [(name, "unknown", {}) for name in "xyz"], links)
    kinds = {}
    for source, target, kind in links:
        kinds.setdefault((source, target), set()).update([kind] if kind else [])
    ids = [unit.id for unit in organization.units]
    assert [(link.source, link.target, link.kinds) for link in organization.links] == [
        (ids[source], ids[target], tuple(sorted(kinds[source, target])))
        for source, target in sorted(kinds)
    ]
