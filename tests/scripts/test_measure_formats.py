import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.registry import BUILT_IN

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "examples" / "formats"


def measure(*arguments):
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "measure_formats.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_counts_by_format_and_nothing_of_the_files(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "secret-name.json").write_bytes((FORMATS / "ag2-chat" / "boat.json").read_bytes())
    (folder / "two.json").write_bytes((FORMATS / "worfbench" / "home.json").read_bytes())
    (folder / "note.txt").write_text("no trace")
    out = tmp_path / "out.json"
    done = measure(folder, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "2 files of 2 formats" in done.stdout
    assert "1 files of none" in done.stdout
    found = json.loads(out.read_text())
    # Two of WorfBench's four plans cannot be: a circle, and an edge to nowhere.
    assert found["worfbench"] == {
        "files": 1,
        "graphs": 2,
        "agents": 0,
        "actions": 6,
        "edges": 4,
        "inferred_edges": 0,
        "warnings": found["worfbench"]["warnings"],
        "rejected": 2,
    }
    assert (found["ag2-chat"]["graphs"], found["ag2-chat"]["actions"]) == (1, 4)
    assert list(found) == ["worfbench", "ag2-chat"]
    assert "secret" not in out.read_text()


def test_the_measured_table_stands_in_the_page():
    found = json.loads((ROOT / "docs" / "measured" / "formats.json").read_bytes())
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    assert set(found) <= set(BUILT_IN)
    assert len(found) > 20
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(found)
    for name, counts in found.items():
        (row,) = [line for line in rows if line.startswith(f"| `{name}` ")]
        assert f"| {counts['graphs']:,} | {counts['agents']:,} | {counts['actions']:,} |" in row
        assert counts["inferred_edges"] <= counts["edges"]


@pytest.mark.parametrize("path", ["nowhere", "no-[such]-*.json"])
def test_a_path_that_is_nothing(path):
    done = measure(path)
    assert done.returncode == 2
    assert done.stderr.startswith(path)
    assert "Traceback" not in done.stderr
