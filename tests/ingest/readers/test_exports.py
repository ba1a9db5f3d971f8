"""What masgraph exports comes back equal, through the same door as every other trace."""

import gzip
import json
import shutil

import msgspec
import pytest

from graphstore import exchange
from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from graphstore.store import open_store
from graphstore.validation import validate
from ingest.pipeline import ReadOptions, ingest, read
from ingest.reader import ReadContext, Rejection
from ingest.readers.export_graphs import CHANGED, under_policy
from ingest.readers.exports import EXPORT_GRAPHML, EXPORT_JSON, EXPORT_PARQUET
from ingest.redact import Drop, Keep, Redact
from tests.ingest.memory_file import MemoryFile
from tests.ingest.mutations import mutations
from tests.ingest.reading import FORMATS

WAYS = {
    "json": ("masgraph-json", "out.json"),
    "graphml": ("masgraph-graphml", "out.graphml"),
    "gexf": ("masgraph-gexf", "out.gexf"),
    "parquet": ("masgraph-parquet", "out"),
}
KEEP = ReadOptions(content="keep")
EVENING = (FORMATS / "masgraph-json" / "evening.json").read_bytes()


@pytest.fixture(scope="module")
def graphs():
    """Graphs of many formats: proposals, couplings, organizations, groups, tools, times."""
    wanted = ("massgen", "mac-bench", "marble", "taskmaster", "openmas-gcom", "ag2-channel")
    found = [item for name in wanted for item in read(FORMATS / name, options=KEEP)]
    found = [item for item in found if isinstance(item, CollaborationGraph)]
    assert len(found) > 6
    assert {graph.kind for graph in found} == {"run", "decomposition"}
    return sorted(found, key=lambda graph: graph.id)


@pytest.mark.parametrize("way", WAYS)
def test_an_export_comes_back_with_the_same_ids(tmp_path, graphs, way):
    format, name = WAYS[way]
    exchange.write_file(graphs, tmp_path / name, way)
    for chosen in ("auto", format):
        back = list(read(tmp_path / name, format=chosen, options=KEEP))
        assert [graph.id for graph in back] == [graph.id for graph in graphs]
        for one, other in zip(back, graphs, strict=True):
            assert one.nodes == other.nodes
            assert one.edges == other.edges
            assert one.agents == other.agents
            assert one.proposals == other.proposals
            assert one.organization == other.organization
            assert one.source == other.source


@pytest.mark.parametrize("way", WAYS)
def test_a_store_takes_nothing_new_from_its_own_export(tmp_path, graphs, way):
    with open_store(str(tmp_path / "s.db")) as store:
        store.write(graphs)
        exchange.write_file(store.graphs(), tmp_path / "export" / WAYS[way][1], way)
        report = ingest(tmp_path / "export", store, options=KEEP)
        assert (report.written, report.unchanged) == (0, len(graphs))
        assert report.rejected == ()
        assert sorted(graph.id for graph in store.graphs()) == [graph.id for graph in graphs]


def test_the_examples_are_one_export_in_four_forms():
    forms = [list(read(FORMATS / format, options=KEEP)) for format, _ in WAYS.values()]
    formats = {graph.source.format for graph in forms[0]}
    assert (len(forms[0]), formats) == (3, {"openmas-gcom", "mac-bench"})
    for form in forms[1:]:
        assert [graph.id for graph in form] == [graph.id for graph in forms[0]]
        assert [graph.nodes for graph in form] == [graph.nodes for graph in forms[0]]


def secret_run(tmp_path):
    key = "sk-" + "a1B2" * 12
    record = {
        "masgraph": 1, "kind": "run", "task": {"name": "t"}, "agents": [{"name": "a"}],
        "actions": [{"agent": "a", "content": f"The key is {key}", "attributes": {"k": key}}],
    }  # fmt: skip
    path = tmp_path / "secret.jsonl"
    path.write_text(json.dumps(record))
    (graph,) = read(path, options=KEEP)
    assert key in graph.nodes[0].content
    return key, graph, path


@pytest.mark.parametrize("way", WAYS)
def test_contents_are_redacted_or_dropped_on_the_way_back(tmp_path, way):
    key, graph, path = secret_run(tmp_path)
    exchange.write_file(graph, tmp_path / WAYS[way][1], way)
    target = tmp_path / WAYS[way][1]
    (redacted,) = read(target)
    assert key not in msgspec.json.encode(redacted).decode()
    assert redacted.id == graph.id
    (direct,) = read(path)
    assert redacted.nodes[0].content == direct.nodes[0].content
    assert redacted.nodes[0].content_hash == direct.nodes[0].content_hash
    (dropped,) = read(target, options=ReadOptions(content="drop"))
    assert dropped.nodes[0].content is None
    assert dropped.nodes[0].attributes == {}
    assert dropped.nodes[0].content_hash == direct.nodes[0].content_hash


def test_a_policy_on_a_graph_is_the_policy_on_its_trace():
    paths = [FORMATS / name for name in ("massgen", "mac-bench", "marble", "openmas-gcom")]
    for content, policy in (("redact", Redact()), ("drop", Drop()), ("keep", Keep())):
        for path in paths:
            kept = list(read(path, options=KEEP))
            direct = list(read(path, options=ReadOptions(content=content)))
            for one, other in zip(kept, direct, strict=True):
                if isinstance(one, Rejection):
                    continue
                shown = under_policy(one, policy)
                assert shown.nodes == other.nodes
                assert shown.agents == other.agents
                assert shown.task == other.task
                assert shown.outcome == other.outcome
                assert shown.organization == other.organization
                assert shown.proposals == other.proposals


def test_a_changed_graph_says_so(tmp_path):
    said = json.loads(EVENING)
    node = next(one for one in said["nodes"] if one.get("content"))
    node["content"] = "Something else."
    found = EXPORT_JSON.read(MemoryFile(json.dumps(said).encode()), ReadContext())
    warned = [CHANGED in graph.source.warnings for graph in found]
    assert sorted(warned) == [False, False, True]


def test_a_graph_that_breaks_a_rule_is_rejected_and_the_others_are_not():
    said = json.loads(EVENING)
    edge = next(one for one in said["edges"] if one["key"] == "INFORMS")
    edge["source"], edge["target"] = edge["target"], edge["source"]
    found = list(EXPORT_JSON.read(MemoryFile(json.dumps(said).encode()), ReadContext()))
    (rejection,) = [item for item in found if isinstance(item, Rejection)]
    assert rejection.record.startswith("run-")
    assert len(found) == 3


def test_tables_alone_and_strange_tables_are_refused(tmp_path):
    folder = FORMATS / "masgraph-parquet" / "evening"
    (rejection,) = read(folder / "Action.parquet")
    assert "give the whole folder" in rejection.reason
    (rejection,) = read(folder / "Action.parquet", format="messages-table")
    assert "--format masgraph-parquet" in rejection.reason
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "Agent.parquet").rename(tmp_path / "copy" / "Agents.parquet")
    found = list(read(tmp_path / "copy"))
    assert found
    assert all(isinstance(item, Rejection) for item in found)
    assert "no table called 'Agents'" in found[0].reason


def test_compressed_exports(tmp_path):
    content = (FORMATS / "masgraph-graphml" / "evening.graphml").read_bytes()
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(content))
    assert len(list(read(path))) == 3


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"nodes": 1, "edges": []}', "it is no node-link JSON"),
        (b"[]", "it has no nodes and edges"),
        (b'{"nodes": [], "edges": []}', "it holds no run and no decomposition"),
        (b'{"nodes": [{"id": "a"}], "edges": []}', "has no label that masgraph knows"),
    ],
)
def test_other_json_is_refused(content, reason):
    with pytest.raises(InputError, match=reason):
        list(EXPORT_JSON.read(MemoryFile(content), ReadContext()))


def test_xml_with_entities_is_refused():
    bomb = b'<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY a "aaaa">]><graphml>&a;</graphml>'
    with pytest.raises(InputError, match="declares entities"):
        list(EXPORT_GRAPHML.read(MemoryFile(bomb), ReadContext()))


def test_damage_in_a_folder_of_tables(tmp_path):
    """One table of the folder is damaged at a time: valid graphs or reasons come out."""
    folder = FORMATS / "masgraph-parquet" / "evening"
    outcomes = set()
    for place, path in enumerate(sorted(folder.iterdir())[::7]):
        copy = tmp_path / str(place)
        shutil.copytree(folder, copy)
        for damaged in mutations(path.read_bytes(), 3, seed=place):
            (copy / path.name).write_bytes(damaged)
            for item in read(copy, format="masgraph-parquet"):
                outcomes.add(type(item))
                if isinstance(item, Rejection):
                    assert item.reason
                    assert "internal error" not in item.reason
                else:
                    validate(item)
    assert outcomes == {CollaborationGraph, Rejection}


def test_a_damaged_table_is_named():
    content = (FORMATS / "masgraph-parquet" / "evening" / "Run.parquet").read_bytes()
    with pytest.raises(InputError, match=r"Run\.parquet: it is no Parquet table"):
        list(EXPORT_PARQUET.read(MemoryFile(content[:-9], "x/Run.parquet"), ReadContext()))
