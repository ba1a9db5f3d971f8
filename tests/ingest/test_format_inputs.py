"""The inputs of the benchmark are what they are said to be: larger, and of their format."""

import pytest

from benchmarks.format_inputs import EXAMPLES, INPUTS, enlarged
from graphstore.model import CollaborationGraph
from ingest.pipeline import read
from ingest.registry import BUILT_IN

REPEATED = [name for name, source in INPUTS.items() if source.way not in ("folder", "xml")]
NO_YARDSTICK = {"masgraph-parquet"}


def totals(path, format):
    graphs = [item for item in read(path) if isinstance(item, CollaborationGraph)]
    assert {graph.source.format for graph in graphs} == {format}
    return len(graphs) + sum(len(graph.nodes) for graph in graphs)


def test_every_format_is_measured():
    assert set(BUILT_IN) - set(INPUTS) == NO_YARDSTICK


@pytest.mark.parametrize("format", REPEATED)
def test_an_enlarged_example_holds_more(format, tmp_path):
    source = INPUTS[format]
    example = EXAMPLES / source.example
    larger = tmp_path / example.name
    larger.write_bytes(enlarged(source, 3 * example.stat().st_size))
    once, thrice = totals(example, format), totals(larger, format)
    assert once < thrice < 5 * once
