"""docs/write-a-reader.md, followed to the letter: its files are installed and run."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "write-a-reader.md").read_text("utf-8")
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The page's package, with the metadata that an installation writes."""
    folder = tmp_path_factory.mktemp("relay")
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
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )


def masgraph(folder, *arguments, path=()):
    return run(folder, "-m", "app.cli", *arguments, path=path)


def test_the_files_are_those_that_the_page_promises():
    assert [name for name, _ in FILE.findall(PAGE)] == [
        "chairs.relay",
        "pyproject.toml",
        "masgraph_relay.py",
        "test_masgraph_relay.py",
    ]


def test_its_tests_pass(package):
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 passed" in done.stdout


def test_the_reader_is_found_and_reads(package):
    listed = masgraph(package, "formats", "--json")
    assert listed.returncode == 0, listed.stderr
    (relay,) = [one for one in json.loads(listed.stdout)["formats"] if one["name"] == "relay"]
    assert (relay["kind"], relay["recipients"], relay["time"]) == ("run", "yes", "no")
    done = masgraph(package, "ingest", "chairs.relay", "--dry-run", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert (report["runs"], report["actions"], report["agents"]) == (1, 5, 3)
    assert (report["edges"], report["inferred_edges"], report["warnings"]) == (4, 0, [])


def test_a_reader_that_fails_to_import_is_a_warning(package, tmp_path):
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (broken / "entry_points.txt").write_text(
        "[masgraph.readers]\nbroken = broken_reader:Reader\notlp = broken_reader:Reader\n"
    )
    (tmp_path / "broken_reader.py").write_text("import no_such_package_at_all\n")
    done = masgraph(package, "ingest", "chairs.relay", "--dry-run", "--json", path=[tmp_path])
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["runs"] == 1
    told = sorted(one["warning"] for one in report["warnings"])
    assert len(told) == 2
    assert told[0].startswith(
        "the reader broken_reader:Reader is left out: the format otlp is "
    )
    assert told[1].startswith("the reader of the format broken cannot be used: ModuleNotFound")
    listed = masgraph(package, "formats", path=[tmp_path])
    assert listed.returncode == 0
    assert "Warning: the reader of the format broken cannot be used" in listed.stderr


def test_a_reader_that_claims_the_files_of_another_is_told(package, tmp_path):
    greedy = tmp_path / "greedy-1.0.dist-info"
    greedy.mkdir()
    (greedy / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy\nVersion: 1.0\n")
    (greedy / "entry_points.txt").write_text("[masgraph.readers]\ngreedy = greedy:Greedy\n")
    (tmp_path / "greedy.py").write_text(
        "from masgraph_relay import RelayReader\n"
        "class Greedy(RelayReader):\n"
        "    format = 'greedy'\n"
    )
    done = masgraph(package, "ingest", "chairs.relay", "--dry-run", path=[tmp_path])
    assert done.returncode == 1
    assert "the readers greedy and relay claim it at once" in done.stderr
    assert "--format greedy or --format relay" in done.stderr
    chosen = masgraph(
        package, "ingest", "chairs.relay", "--dry-run", "--format", "relay", path=[tmp_path]
    )
    assert chosen.returncode == 0, chosen.stderr
