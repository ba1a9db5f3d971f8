import json

import pytest

NAMES = {
    "one": [("Zanzibar", None), ("Bob", "solver"), ("Quux", None)],
    "two": [("Zanzibar", None), ("Zanzibar", "cartographer")],
}
"""Agents with their roles' names, by run."""

SAID = {"one": [0, 0, 1, 2], "two": [0, 1, 1]}

HISTORY = {
    "question": "Which bridge is longer?",
    "is_correct": True,
    "system_prompt": {"Quux": "You are Quux."},
    "history": [
        {"content": "The new one.", "role": "assistant", "name": "Quux"},
        {"content": "Yes.", "role": "user", "name": "Reviewer"},
    ],
}

EXPECTED = [
    {
        "name": "Zanzibar",
        "agents": 2,
        "runs": 2,
        "actions": 3,
        "formats": ["native"],
    },
    {
        "name": "Quux",
        "agents": 2,
        "runs": 2,
        "actions": 2,
        "formats": ["native", "whowhen-ag2"],
    },
    {
        "name": "cartographer",
        "agents": 1,
        "runs": 1,
        "actions": 2,
        "formats": ["native"],
    },
]


@pytest.fixture
def traces(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    lines = []
    for name, agents in NAMES.items():
        record = {
            "masgraph": 1,
            "kind": "run",
            "id": name,
            "task": name,
            "agents": [
                {"id": str(place), "name": agent, "role": role}
                for place, (agent, role) in enumerate(agents)
            ],
            "actions": [{"agent": str(place), "content": "hm"} for place in SAID[name]],
        }
        for agent in record["agents"]:
            if agent["role"] is None:
                del agent["role"]
        lines.append(json.dumps(record))
    (folder / "runs.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "history.json").write_text(json.dumps(HISTORY))
    return folder


def test_files_and_store_list_the_same_names(masgraph, traces):
    of_files = masgraph("roles", traces, "--json")
    assert of_files.code == 0
    assert of_files.json() == {"roles": EXPECTED, "rejected": 0}
    masgraph("ingest", traces)
    of_store = masgraph("roles", "--json")
    assert of_store.code == 0
    assert of_store.json() == of_files.json()


def test_the_table_for_people(masgraph, traces):
    done = masgraph("roles", traces)
    assert done.code == 0
    (row,) = [line for line in done.out.splitlines() if "Quux" in line]
    assert [cell.strip() for cell in row.split("│")[1:-1]] == [
        "Quux", "2", "2", "2", "native, whowhen-ag2",
    ]  # fmt: skip
    assert "Bob" not in done.out


def test_no_store_is_made_or_needed_for_files(masgraph, traces, tmp_path):
    assert masgraph("roles", traces).code == 0
    assert not list(tmp_path.glob("masgraph.db*"))
    done = masgraph("roles")
    assert done.code == 3
    assert "there is no store at masgraph.db" in done.err


def test_a_table_of_ones_own_makes_names_known(masgraph, traces, tmp_path):
    table = tmp_path / "mine.toml"
    table.write_text(
        '[names]\nplanner = ["zanzibar", "Quux"]\n[patterns]\nspecialist = ["cartographer"]\n'
    )
    done = masgraph("roles", traces, "--roles", table)
    assert (done.code, done.out) == (0, "")
    assert done.err == "Every name is known.\n"


def test_a_table_of_ones_own_for_the_store(masgraph, traces, tmp_path):
    masgraph("ingest", traces)
    table = tmp_path / "mine.toml"
    table.write_text('[names]\nplanner = ["zanzibar"]\n')
    done = masgraph("roles", "--roles", table, "--json")
    assert done.json() == {"roles": EXPECTED[1:], "rejected": 0}
    told = masgraph("roles", "--roles", table)
    assert "Zanzibar" not in told.out
    assert f"Names that {table} knows: 1. Read the traces again with it." in told.err
    assert masgraph("roles", "--roles", tmp_path / "nowhere.toml").code == 2


def test_a_format_without_files_is_a_mistake(masgraph, traces):
    masgraph("ingest", traces)
    done = masgraph("roles", "--format", "native")
    assert done.code == 2
    assert "name the files" in done.err


def test_files_that_are_rejected_are_told(masgraph, traces):
    (traces / "bad.json").write_text("{")
    done = masgraph("roles", traces)
    assert done.code == 1
    assert "rejected: 1 " in done.err
    assert masgraph("roles", traces, "--json").json()["rejected"] == 1
    assert masgraph("roles", "nowhere").code == 2
