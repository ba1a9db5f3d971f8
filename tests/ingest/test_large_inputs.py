"""A small part of ``python -m benchmarks.large_inputs``: memory does not grow with the file."""

import tracemalloc

import pytest

from benchmarks.large_inputs import INPUTS, measure, write
from graphstore.model import CollaborationGraph
from ingest import big_json, files
from ingest.pipeline import ReadOptions, read
from ingest.roles import RoleTable


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(big_json, "STREAMED_BYTES", 100_000)
    monkeypatch.setattr(files, "KEPT_BYTES", 100_000)
    monkeypatch.setattr(files, "_BLOCK", 50_000)


def peak(path, format):
    """Graphs, and the most bytes that Python objects held while they went by."""
    options = ReadOptions(content="drop", roles=RoleTable.default())
    count = 0
    tracemalloc.start()
    try:
        for item in read(path, format=format, options=options):
            assert isinstance(item, CollaborationGraph), item.reason
            count += 1
        return count, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "name", ["native array", "otlp lines", "otlp object", "worfbench array"]
)
def test_memory_does_not_grow_with_the_file(name, tmp_path):
    format, records, around = INPUTS[name]
    small, large = tmp_path / "small.json", tmp_path / "large.json"
    write(small, records(), 400_000, around)
    write(large, records(), 2_000_000, around)
    peak(small, format)  # imports and caches
    few, low = peak(small, format)
    many, high = peak(large, format)
    assert many > 4 * few
    assert high < 1.6 * low


@pytest.mark.parametrize("name", INPUTS)
def test_the_measurement_itself(name, tmp_path):
    graphs, nodes, rejected, took, mib = measure(name, tmp_path, 100_000)
    assert graphs > 0
    assert nodes >= graphs
    assert rejected == 0
    assert took > 0
    assert 10 < mib < 1024
    assert not list(tmp_path.iterdir())
