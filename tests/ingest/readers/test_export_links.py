"""A node-link document that is taken as it stands says what networkx makes of it."""

import json

import networkx
from hypothesis import example, given
from hypothesis import strategies as st

from graphstore.exchange_xml import EXACT
from ingest.readers.export_links import node_links
from tests.ingest.reading import FORMATS

EVENING = FORMATS / "masgraph-json" / "evening.json"
names = st.sampled_from(["a", "b", "c"])
values = st.sampled_from([None, 1, "x", ["y"]])
attributes = st.dictionaries(st.sampled_from(["label", "type", "relation", "self"]), values)
ids = names | st.sampled_from([1, None, ["a"]])


def merged(*parts):
    return st.tuples(*parts).map(lambda found: {**found[0], **found[1]})


nodes = st.lists(
    merged(attributes, st.fixed_dictionaries({}, optional={"id": ids})), max_size=4
)
ends = {"source": ids, "target": ids}
edges = st.lists(
    merged(attributes, st.fixed_dictionaries(ends, optional={"key": ids})), max_size=6
)
plain_nodes = st.permutations(["a", "b", "c"]).map(lambda found: [{"id": one} for one in found])
plain_edges = st.lists(
    st.fixed_dictionaries({"source": names, "target": names, "key": st.sampled_from("kl")}),
    max_size=6,
)


def said(graph):
    """Nodes and edges in their order, without the attributes that name them."""
    return (
        [
            (node, {k: v for k, v in about.items() if k != "id"})
            for node, about in graph.nodes(data=True)
        ],
        [
            (
                (source, target, key),
                {k: v for k, v in about.items() if k not in ("source", "target", "key")},
            )
            for source, target, key, about in graph.edges(data=True, keys=True)
        ],
    )


@given(
    st.booleans() | st.none(),
    st.booleans(),
    st.tuples(nodes, edges) | st.tuples(plain_nodes, plain_edges),
)
@example(True, True, ([{"id": "a"}], [{"source": "a", "target": "b", "key": "k"}]))
@example(True, True, ([{"id": "a", EXACT: "{}"}], []))
def test_what_is_taken_is_what_networkx_makes_of_it(directed, multigraph, parts):
    value = {"multigraph": multigraph, "graph": {}, "nodes": parts[0], "edges": parts[1]}
    if directed is not None:
        value["directed"] = directed
    links = node_links(value)
    if links is not None:
        made = networkx.node_link_graph(value, edges="edges")
        assert type(made) is networkx.MultiDiGraph
        assert said(links) == said(made)


def test_an_export_is_taken_as_it_stands():
    value = json.loads(EVENING.read_bytes())
    assert node_links(value) is not None
    value["edges"].reverse()
    assert node_links(value) is None
