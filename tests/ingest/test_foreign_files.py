"""A reader that is given another format's file by name rejects it."""

from pathlib import Path

import pytest

from graphstore.model import CollaborationGraph
from ingest.pipeline import read
from ingest.registry import BUILT_IN

EXAMPLES = Path(__file__).parents[2] / "examples" / "formats"

MOST = 6
"""Files of a format that are tried: a Parquet export has dozens of tables alike."""

SUPERSETS: dict[tuple[str, str], str] = {}
"""Reader and format of the example: why the reader takes the file all the same."""


def _examples() -> dict[str, list[Path]]:
    found = {
        folder.name: sorted(path for path in folder.rglob("*") if path.is_file())
        for folder in sorted(EXAMPLES.iterdir())
        if folder.is_dir()
    }
    return {name: files[:MOST] for name, files in found.items() if files}


def test_every_reader_but_our_own_lines_has_an_example() -> None:
    assert set(BUILT_IN) - set(_examples()) <= {"native"}


@pytest.mark.parametrize("format", sorted(BUILT_IN))
def test_examples_of_other_formats_are_rejected(format: str) -> None:
    taken = []
    for other, files in _examples().items():
        if other == format:
            continue
        for path in files:
            items = list(read(path, format=format))
            graphs = [item for item in items if isinstance(item, CollaborationGraph)]
            if (format, other) in SUPERSETS:
                assert graphs, f"{path.name} is rejected by now: take the pair out"
                continue
            if graphs:
                taken.append(f"{path.name}: {len(graphs)} graphs")
                continue
            assert items, f"{path.name} gave neither a graph nor a rejection"
            for item in items:
                assert not isinstance(item, CollaborationGraph)
                assert item.file == str(path)
                assert item.reason.strip()
                assert "internal error" not in item.reason
                assert "\n" not in item.reason
    assert not taken


def test_the_name_of_an_agent_at_work_is_no_event(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text(
        '{"id": "s", "current_agent_name": "clerk", "events": [], "past_events": []}'
    )
    (rejection,) = read(path, format="llamaindex-events")
    assert not isinstance(rejection, CollaborationGraph)
    assert "event of an agent workflow" in rejection.reason
