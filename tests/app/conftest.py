"""The commands, called in this process: exit code, standard output, standard error."""

import json
import sys
from dataclasses import dataclass

import pytest

from app.cli import main

RUN = {
    "masgraph": 1,
    "kind": "run",
    "id": "one",
    "task": {"name": "t1", "dataset": "d"},
    "method": {"name": "pair"},
    "agents": [
        {"id": "a", "name": "Ann", "role": "planner"},
        {"id": "b", "name": "Bob", "role": "solver"},
    ],
    "actions": [
        {"id": "1", "agent": "a", "to": ["b"], "content": "Add 2 and 2."},
        {"id": "2", "agent": "b", "to": ["a"], "content": "It is 4."},
        {"id": "3", "agent": "a", "content": "The answer is 4."},
    ],
    "outcome": {"success": True},
}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    def json(self):
        return json.loads(self.out)


@pytest.fixture
def masgraph(monkeypatch, capsys, tmp_path):
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MASGRAPH_STORE", raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["masgraph", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        code = end.value.code
        return Done(0 if code is None else code, captured.out, captured.err)

    return run


@pytest.fixture
def one_run(tmp_path):
    """A file with one run of two agents and three actions."""
    path = tmp_path / "traces" / "one.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(RUN) + "\n")
    return path
