"""The names that the alias table does not know, counted on small files."""

import json

import pytest

from graphstore.errors import InputError
from ingest.roles import RoleTable
from ingest.unknown_roles import FormatShare, UnknownName, unknown_roles


def run(id, *agents, **more):
    actions = [{"agent": name, "content": "x"} for name in agents]
    return json.dumps(
        {"masgraph": 1, "kind": "run", "id": id, "task": "t", "actions": actions, **more}
    )


@pytest.fixture
def folder(tmp_path):
    lines = [
        run("a", "planner", "Lena", "Otto", "Lena"),
        run("b", "Lena"),
        run(
            "c",
            "x",
            agents=[
                {"id": "x", "name": "Ida", "role": "Lena"},
                {"id": "y", "name": "planner", "role": "Zed"},
            ],
        ),
        "{",
    ]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))
    marble = {
        "scenario": "s",
        "task_id": 1,
        "agents": [{"agent_id": "Otto"}, {"agent_id": "solo", "role": "critic"}],
        "relationships": [],
    }
    (tmp_path / "marble.jsonl").write_text(json.dumps(marble))
    return tmp_path


def test_names_are_counted_by_those_who_bear_them(folder):
    found = unknown_roles(folder)
    assert found.names == (
        UnknownName("Lena", 3, ("native",), True),
        UnknownName("Otto", 2, ("marble", "native"), True),
    )
    assert found.shares == (FormatShare("marble", 2, 1), FormatShare("native", 6, 4))
    assert [share.share for share in found.shares] == [0.5, 4 / 6]
    assert [(rejection.record, bool(rejection.reason)) for rejection in found.rejected] == [
        ("4", True)
    ]


def test_a_name_that_the_table_was_not_asked_for_says_so(folder):
    found = unknown_roles(folder / "marble.jsonl")
    assert found.names == (UnknownName("Otto", 1, ("marble",), False),)


def test_a_users_table_makes_names_known(folder, tmp_path):
    path = tmp_path / "roles.toml"
    path.write_text('[names]\nspecialist = ["Lena", "otto"]\n')
    found = unknown_roles(folder / "runs.jsonl", table=RoleTable.load(path))
    assert found.names == ()
    assert found.shares == (FormatShare("native", 6, 0),)


def test_a_path_that_is_no_file_is_an_error(tmp_path):
    with pytest.raises(InputError):
        unknown_roles(tmp_path / "nothing")
