import msgspec
from hypothesis import HealthCheck, given, settings

from graphstore.model import CollaborationGraph
from ingest.reader import ReadContext
from ingest.readers.native import NativeReader
from ingest.readers.native_writer import write_native
from tests.ingest.memory_file import MemoryFile
from tests.strategies import graphs


def said(graph: CollaborationGraph) -> dict:
    """Everything that a graph says; its own ids and its source left out."""
    text = msgspec.json.encode(graph).decode().replace(graph.id, "GRAPH")
    value = msgspec.json.decode(text)
    assumed = "was read as nanoseconds"
    value["source"] = [w for w in graph.source.warnings if assumed not in w]
    del value["task"]["id"]
    return value


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(record="a record"))
def test_what_is_written_reads_back_as_the_same_graph(graph):
    (line,) = write_native([graph])
    (back,) = NativeReader().read(MemoryFile(line), ReadContext())
    assert isinstance(back, CollaborationGraph), back
    assert said(back) == said(graph)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(record="a record"))
def test_writing_again_writes_the_same_bytes(graph):
    (line,) = write_native([graph])
    assert b"\n" not in line
    assert list(write_native([graph])) == [line]
    assert NativeReader().sniff(line[:65_536])
