"""docs/scorers.md, followed to the letter: its instances are scored, its package is run."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from analytics.scorers.registry import BUILT_IN, default_scorers
from analytics.trajectory_scoring import InstanceTable

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scorers.md").read_text("utf-8")
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
INSTANCE = re.compile(r"<!-- instance: (\w+) -->\n```json\n(.*?)```", re.DOTALL)
SCORES = re.compile(
    r"<!-- scores: (\w+) -->\n\| proposal \| score \|\n\|---\|---\|\n((?:\|.*\n)+)"
)
ROW = re.compile(r"\| `(.*)` \| (.*) \|")
COMMANDS = re.search(r"<!-- run -->\n```sh\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()


def test_each_scorer_has_a_section_with_an_instance():
    assert [name for name, _ in INSTANCE.findall(PAGE)] == list(BUILT_IN)
    for name in BUILT_IN:
        assert f"\n## {name}\n" in PAGE


@pytest.mark.parametrize(("name", "text"), INSTANCE.findall(PAGE))
def test_instances_are_read(name, text):
    scorer = default_scorers().scorer(name)
    record = {"task": "t", "scorer": name, "instance": json.loads(text)}
    assert len(InstanceTable.from_records([record], scorer).instances) == 1


@pytest.mark.parametrize(("name", "table"), SCORES.findall(PAGE))
def test_proposals_score_as_the_page_says(name, table):
    scorer = default_scorers().scorer(name)
    instance = scorer.read_instance(json.loads(dict(INSTANCE.findall(PAGE))[name]))
    rows = [ROW.fullmatch(line).groups() for line in table.splitlines()]
    assert len(rows) >= 5
    for value, said in rows:
        verdict = scorer.score(instance, value)
        if said == "not valid":
            assert (verdict.score, verdict.valid) == (None, False), value
        elif said.startswith("none: "):
            assert (verdict.score, verdict.valid) == (None, True), value
            assert said.removeprefix("none: ") in verdict.reason
        else:
            assert verdict.score == pytest.approx(float(said), abs=0.005), value


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The page's package, with the metadata that an installation writes."""
    folder = tmp_path_factory.mktemp("guess")
    for name, text in FILE.findall(PAGE):
        (folder / name).write_text(text)
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def run(folder, *arguments, path=()):
    places = [str(folder), *map(str, path), str(ROOT)]
    kept = {name: value for name, value in os.environ.items() if name != "MASGRAPH_STORE"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )


def masgraph(folder, *arguments, path=()):
    return run(folder, "-m", "app.cli", *arguments, path=path)


def test_its_tests_pass(package):
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_scorer_is_found_and_scores(package):
    listed = json.loads(masgraph(package, "scorers", "--json").stdout)
    assert listed["scorers"][-1] == {
        "name": "guess",
        "scores": "Guesses: how far off",
        "version": "1",
        "unit": "sample",
        "maximum": 100.0,
        "needs_judge": False,
    }
    for command in COMMANDS:
        program, *arguments = command.split()
        assert program == "masgraph"
        done = masgraph(package, *arguments, *(["--json"] if "trajectories" in command else []))
        assert done.returncode == 0, done.stderr
    (pair,) = json.loads(done.stdout)["methods"]
    assert pair["task_score"]["value"] == 90.0
    assert pair["gain_against_best"]["labels"]["Improve"]["count"] == 1
    assert pair["refinement_of_weak"]["labels"]["Surpass"]["count"] == 1
    assert pair["aggregation_loss"]["value"] == 0.0


def test_a_notebook_takes_the_scorer_itself(package):
    script = (
        "from masgraph_guess import GuessScorer\n"
        + re.search(r"```python\n(import masgraph as mg\n.*?)```", PAGE, re.DOTALL)[1].replace(
            "mg.trajectories(", "found = mg.trajectories("
        )
        + "print(found['methods'][0]['task_score']['value'])\n"
    )
    done = run(package, "-c", script)
    assert done.stdout == "90.0\n", done.stderr


def test_a_scorer_that_fails_to_import_is_a_warning(package, tmp_path):
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text(
        "[masgraph.scorers]\nbroken = broken_scorer:Scorer\nmapf = broken_scorer:Scorer\n"
    )
    (tmp_path / "broken_scorer.py").write_text("import no_such_package_at_all\n")
    listed = masgraph(package, "scorers", path=[tmp_path])
    assert listed.returncode == 0
    assert "guess" in listed.stdout
    assert "Warning: the scorer broken cannot be used: ModuleNotFoundError" in listed.stderr
    assert "the scorer broken_scorer:Scorer is left out: mapf is analytics" in listed.stderr
    done = masgraph(package, "trajectories", "--scorer", "broken", path=[tmp_path])
    assert done.returncode == 2
    assert "the scorer broken cannot be used" in done.stderr
