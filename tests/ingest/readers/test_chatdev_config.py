from pathlib import Path

import pytest

from graphstore.errors import InputError
from ingest.pipeline import read as read_files
from ingest.reader import ReadContext, Rejection
from ingest.readers.chatdev_config import CHATDEV_CONFIG
from ingest.redact import Drop, Redact
from ingest.roles import RoleTable
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import assert_survives

EXAMPLES = Path(__file__).parents[3] / "examples" / "formats" / "chatdev-config"
CHAIN, PHASES, ROLES = (
    (EXAMPLES / f"{name}Config.json").read_bytes() for name in ("ChatChain", "Phase", "Role")
)


def read(*contents):
    context = ReadContext(role_of=RoleTable.default().role_of)
    files = [MemoryFile(content, f"x/{place}") for place, content in enumerate(contents)]
    return list(CHATDEV_CONFIG.read_joined(files, context))


def links(graph):
    place = {unit.id: unit.name for unit in graph.organization.units}
    return [(place[x.source], place[x.target], x.kinds) for x in graph.organization.links]


def test_the_chain_is_a_decomposition():
    (graph,) = read(CHAIN)
    assert [(node.name, node.kind) for node in graph.nodes] == [
        ("ChooseStory", "subtask"),
        ("Edit", "group"),
        ("EditComment", "subtask"),
        ("EditChange", "subtask"),
        ("Print", "subtask"),
    ]
    by_id = {node.id: node.name for node in graph.nodes}
    assert {(by_id[edge.source], by_id[edge.target]) for edge in graph.edges} == {
        ("ChooseStory", "Edit"),
        ("EditComment", "EditChange"),
        ("Edit", "Print"),
    }
    assert [by_id.get(node.parent) for node in graph.nodes] == [
        None,
        None,
        "Edit",
        "Edit",
        None,
    ]
    assert graph.nodes[1].attributes["cycleNum"] == 2
    assert [unit.name for unit in graph.organization.units] == ["Editor", "Author", "Printer"]
    assert links(graph) == []
    assert graph.organization.policy["self_improve"] == "False"


def test_prompts_are_redacted_or_dropped():
    roles = MemoryFile(b'{"Editor": ["{task}", "Write to ann@example.org."]}')
    (redacted,) = CHATDEV_CONFIG.read(roles, ReadContext(policy=Redact()))
    prompt = redacted.organization.units[0].attributes["prompt"]
    assert prompt.startswith("{task}\nWrite to [redacted")
    (dropped,) = CHATDEV_CONFIG.read(roles, ReadContext(policy=Drop()))
    assert dropped.organization.units[0].attributes == {}


def test_the_three_files_are_one_company():
    (graph,) = read(ROLES, CHAIN, PHASES)
    assert links(graph) == [
        ("Editor", "Author", ("ChooseStory", "EditChange", "EditComment")),
        ("Editor", "Printer", ("Print",)),
        ("Author", "Editor", ("ChooseStory", "EditChange", "EditComment")),
        ("Printer", "Editor", ("Print",)),
    ]
    assert graph.organization.units[0].attributes["prompt"] == (
        "{chatdev_prompt}\nYou are Editor.\nThe task is: {task}."
    )
    assert graph.nodes[0].attributes["assistant_role_name"] == "Author"
    assert graph.nodes[0].content == "Which story do we print?\nEnd with <INFO>."


def test_roles_alone_are_an_organization():
    (graph,) = read(ROLES)
    assert graph.nodes == ()
    assert [unit.name for unit in graph.organization.units] == ["Editor", "Author", "Printer"]


def test_the_pipeline_joins_a_folder():
    (graph,) = read_files([EXAMPLES])
    assert len(graph.nodes) == 5
    assert len(graph.organization.links) == 4


def test_a_file_of_another_kind_is_rejected_and_the_others_are_read():
    rejection, graph = read(b'{"a": 3}', CHAIN)
    assert isinstance(rejection, Rejection)
    assert "neither a chain" in rejection.reason
    assert len(graph.nodes) == 5
    with pytest.raises(InputError, match="neither a chain"):
        read(b'{"a": 3}')


@pytest.mark.parametrize("content", [CHAIN, PHASES, ROLES], ids=["chain", "phases", "roles"])
def test_damaged_files_are_survived(content):
    assert assert_survives(CHATDEV_CONFIG, content, 200) > 30


def test_sniffing_goes_by_content():
    for content in (CHAIN, PHASES, ROLES):
        assert CHATDEV_CONFIG.sniff(content)
    assert not CHATDEV_CONFIG.sniff(b"")
    assert not CHATDEV_CONFIG.sniff(b'{"chain": []}')
    assert not CHATDEV_CONFIG.sniff(b'{"a": ["{other}"]}')
