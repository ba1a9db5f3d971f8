"""What --quiet means: the same for every command that takes it."""

import json
import shutil

import pytest
from typer.main import get_command

from app import forest_jobs
from app.cli import cli
from app.drop_jobs import DroppedFile, read_dropped
from graphstore.store import open_store
from tests.app.dashboard.teams import alone, team

FEW = ("--draws", "200")
ANSWERS = {
    "communication": (),
    "compare": FEW,
    "coverage": ("--kind", "run", "--hold-out", "held", "--jobs", "1", "--size", "1"),
    "evaluate": (),
    "forest build": ("--level", "all"),
    "forest diagnose": (),
    "interventions apply": ("office plain", "--variant", "no-critic", "--role", "specialist"),
    "interventions links": (),
    "interventions measure": (),
    "interventions predict": ("--draws", "2"),
    "mine": ("--top", "1"),
    "perturb": ("--measure", "wl", "--repeats", "1", "--jobs", "1", *FEW),
    "relations": (),
    "scorers": (),
    "suitability": (),
    "trajectories": ("--baseline", "alone", *FEW),
}
"""Commands that answer something, each with what it needs."""

ACTS = {
    "export": ("out.jsonl",),
    "forest delete": ("FORESTS",),
    "forest export": ("out.json",),
    "forest import": ("forests.json",),
    "ingest": ("runs.jsonl",),
    "overview": (),
    "report": (),
}
"""Commands that do something, and have no answer."""

ELSEWHERE = {
    "app": "it serves until it is ended",
    "demo": "test_commands.py: it takes long",
    "embedding train": "tests/gnn: it needs torch",
}


def run(name, task, variant, dataset="mined"):
    made = team(name, task, variant)
    return {**made, "task": {**made["task"], "dataset": dataset}}


RUNS = [
    *[run("plain", 0, variant) for variant in range(3)],
    *[run("plain", 1, variant, "held") for variant in range(2)],
    team("plain", 0, 0, 0.2),
    alone("plain", 0),
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with a store, the file that it was read from, and one of its forests."""
    folder = tmp_path_factory.mktemp("quiet")
    lines = "".join(json.dumps(one) + "\n" for one in RUNS)
    (folder / "runs.jsonl").write_text(lines)
    with open_store(str(folder / "masgraph.db")) as store:
        read_dropped([DroppedFile("runs.jsonl", lines.encode())], store)
        forests = forest_jobs.build_forests(store)
    (folder / "id").write_text(forests.id)
    return folder


@pytest.fixture
def answered(masgraph, filled, tmp_path):
    """Runs a command in a fresh copy of the folder."""

    def answer(command, *arguments):
        shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
        if command == "forest import":
            assert masgraph("forest", "export", "forests.json", "-q").code == 0
        named = [(filled / "id").read_text() if one == "FORESTS" else one for one in arguments]
        return masgraph(*command.split(), *named)

    return answer


def commands(group, above=""):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def test_no_command_is_forgotten():
    quiet = {
        name
        for name, command in commands(get_command(cli))
        if any(one.name == "quiet" for one in command.params)
    }
    assert quiet == {*ANSWERS, *ACTS, *ELSEWHERE}


@pytest.mark.parametrize("command", ANSWERS)
def test_the_answer_stays_and_remarks_go(answered, command):
    loud = answered(command, *ANSWERS[command])
    quiet = answered(command, *ANSWERS[command], "--quiet")
    assert (loud.code, quiet.code) == (0, 0), loud.err
    assert quiet.out == loud.out
    assert quiet.out
    assert quiet.err == ""


@pytest.mark.parametrize("command", ACTS)
def test_what_was_done_is_not_said(answered, command):
    loud = answered(command, *ACTS[command])
    quiet = answered(command, *ACTS[command], "--quiet")
    assert (loud.code, quiet.code) == (0, 0), loud.err
    assert loud.out + loud.err
    assert quiet.out + quiet.err == ""


def test_what_was_rejected_is_said_and_what_was_guessed_is_not(masgraph, tmp_path):
    guessed = json.dumps({**RUNS[0], "warnings": ["The end is guessed."]})
    (tmp_path / "half.jsonl").write_text(guessed + '\n{"masgraph": 1}\n')
    loud = masgraph("ingest", "half.jsonl", "--dry-run")
    assert "Rejected half.jsonl" in loud.err
    assert "Warning: The end is guessed." in loud.err
    quiet = masgraph("ingest", "half.jsonl", "--dry-run", "--quiet")
    assert (quiet.code, quiet.out) == (1, "")
    assert quiet.err.startswith("Rejected half.jsonl")
    assert "Warning" not in quiet.err
