import json
from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.reader import ReadContext
from ingest.readers.metagpt import METAGPT
from ingest.readers.metagpt_messages import Messages
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives, cuts

EXAMPLE = (
    Path(__file__).parents[3] / "examples" / "formats" / "metagpt-team" / "garden.json"
).read_bytes()


def value():
    return json.loads(EXAMPLE)


def read(content):
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    context = ReadContext(role_of=RoleTable.default().role_of)
    (graph,) = METAGPT.read(MemoryFile(content), context)
    return graph


def links(graph):
    place = {node.id: node.index for node in graph.nodes}
    return [(place[edge.source], place[edge.target], edge.basis) for edge in graph.edges]


def names(graph, node):
    by_id = {agent.id: agent.name for agent in graph.agents}
    return [by_id[recipient] for recipient in node.recipients]


def ids(graph):
    return [node.attributes["message_id"] for node in graph.nodes]


def test_a_message_in_several_memories_is_one_message():
    graph = read(EXAMPLE)
    stored = {
        message["id"]
        for role in value()["env"]["roles"].values()
        for message in role["rc"]["memory"]["storage"]
    }
    assert ids(graph) == ["m-1", "m-2", "m-3", "m-4", "m-5", "m-6"]
    assert set(ids(graph)) == stored


def test_who_watches_an_action_gets_its_messages():
    graph = read(EXAMPLE)
    assert [(node.name, names(graph, node), node.delivery) for node in graph.nodes] == [
        ("user", ["Rosa"], "explicit"),
        ("Rosa", ["Rosa"], "explicit"),
        ("Rosa", ["Tom", "Ida"], "explicit"),
        ("Tom", ["Rosa"], "explicit"),
        ("Rosa", ["Tom", "Ida"], "explicit"),
        ("Ida", [], None),
    ]
    assert links(graph) == [
        (0, 1, "delivered"),
        (1, 2, "continued"),
        (2, 3, "delivered"),
        (2, 5, "delivered"),
        (3, 4, "delivered"),
        (4, 5, "delivered"),
    ]


def test_two_roles_of_one_class_are_told_apart_by_the_name_in_the_message():
    graph = read(EXAMPLE)
    assert graph.nodes[3].name == "Tom"
    assert graph.nodes[5].name == "Ida"
    twice = value()
    for memory in (twice["env"]["history"], twice["env"]["roles"]["Tom"]["rc"]["memory"]):
        for message in memory["storage"]:
            message["metadata"] = {}
    warned = read(twice)
    assert any(
        "several roles have the address" in warning for warning in warned.source.warnings
    )


def test_agents_organization_and_totals():
    graph = read(EXAMPLE)
    assert [(agent.name, agent.role_name, agent.kind) for agent in graph.agents] == [
        ("Rosa", "Garden Owner", "agent"),
        ("Tom", "Plan Reviewer", "agent"),
        ("Ida", "Seed Clerk", "agent"),
        ("user", None, "human"),
    ]
    assert graph.agents[1].role == "critic"
    organization = graph.organization
    place = {unit.id: unit.name for unit in organization.units}
    assert [
        (place[link.source], place[link.target], link.kinds) for link in organization.links
    ] == [
        ("Rosa", "Tom", ("DrawPlan",)),
        ("Rosa", "Ida", ("DrawPlan",)),
    ]
    assert graph.agents[0].unit == organization.units[0].id
    assert (graph.outcome.tokens_in, graph.outcome.tokens_out) == (1200, 340)
    assert graph.outcome.cost == 0.02
    assert graph.outcome.success is None
    assert graph.task.description == "Plan a school garden of 40 square metres."


def test_without_any_watch_everybody_else_is_told():
    team = value()
    for role in team["env"]["roles"].values():
        del role["rc"]["watch"]
    graph = read(team)
    assert names(graph, graph.nodes[2]) == ["Tom", "Ida"]
    assert graph.nodes[2].delivery == "broadcast"
    assert names(graph, graph.nodes[0]) == ["Rosa", "Tom", "Ida"]


def test_totals_survive_in_a_text_that_was_cut():
    team = value()
    team["context"]["cost_manager"] = team["context"]["cost_manager"][:70] + "...[truncated]"
    graph = read(team)
    assert (graph.outcome.tokens_in, graph.outcome.tokens_out) == (1200, 340)
    assert graph.outcome.cost is None


def test_counts_of_nothing_are_unknown():
    team = value()
    team["context"] = {"cost_manager": {"total_prompt_tokens": 0, "total_cost": 0}}
    outcome = read(team).outcome
    assert (outcome.tokens_in, outcome.tokens_out, outcome.cost) == (None, None, None)


def test_an_address_that_no_role_has_is_an_agent_and_a_warning():
    team = value()
    team["env"]["history"]["storage"][1]["sent_from"] = "garden.roles.Stranger"
    graph = read(team)
    assert graph.nodes[2].name == "Stranger"
    assert any("is the address of no role" in warning for warning in graph.source.warnings)


def test_messages_of_one_memory_only_keep_their_place():
    messages = Messages()
    messages.add(-1, [{"id": "b"}, {"id": "d"}])
    messages.add(0, [{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}, {"id": "e"}])
    messages.add(1, [{"id": "x"}])
    assert [key for key, _ in messages.ordered] == ["a", "b", "c", "d", "e", "x"]
    assert messages.holders["b"] == [-1, 0]


def test_messages_without_ids_are_as_many_as_in_the_fullest_memory():
    same = {"content": "yes"}
    messages = Messages()
    messages.add(-1, [same])
    messages.add(0, [same, same])
    assert len(messages.ordered) == 2


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"env": {"roles": {}}}, "holds a message"),
        ({"env": {"roles": {"a": 3}, "history": "text"}}, "holds a message"),
        ({"env": {}}, "roles"),
        ([], "Expected `object`"),
    ],
)
def test_what_is_no_team(content, reason):
    with pytest.raises(InputError, match=reason):
        read(content)


def test_cuts_are_refused_with_their_place():
    for cut in cuts(EXAMPLE, 30):
        with pytest.raises(InputError):
            read(cut)


def test_damaged_files_are_survived():
    assert assert_survives(METAGPT, EXAMPLE, 300) > 100


def test_sniffing_goes_by_content():
    assert METAGPT.sniff(EXAMPLE)
    assert METAGPT.sniff(EXAMPLE[:400])
    assert not METAGPT.sniff(b"")
    assert not METAGPT.sniff(b'{"env": {"roles": {}}}')
