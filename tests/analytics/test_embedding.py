"""The measure ``embedding`` with a small model that was trained once (tests/gnn trains)."""

import json
import math
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings

from analytics.similarity.embedding import EmbeddingMeasure, EmbeddingModel
from analytics.similarity.embedding_features import EmbeddingConfiguration, graph_features
from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import NODE_KINDS, ROLES
from tests.strategies import graphs

MODEL = EmbeddingModel.from_dict(
    json.loads((Path(__file__).parent / "small-embedding.json").read_text())
)
MEASURE = EmbeddingMeasure(MODEL)


@given(graphs(max_nodes=8), graphs(max_nodes=8))
@settings(max_examples=80, deadline=None)
def test_one_with_itself_symmetric_and_within_its_range(one, other):
    left, right = MEASURE.prepare(one), MEASURE.prepare(other)
    found = MEASURE.similarity(left, right)
    assert found == MEASURE.similarity(right, left)
    assert (found is None) == (not one.nodes or not other.nodes)
    assert found is None or 0.0 <= found <= 1.0
    assert MEASURE.similarity(left, left) == (1.0 if one.nodes else None)
    assert (MEASURE.obstacle(left) is None) == bool(one.nodes)


def test_features_by_hand():
    builder = GraphBuilder(kind="run", format="f", uri="u", content="c")
    builder.add("decision", "plan", role="planner")
    builder.add("tool_call", "look", role="tool")
    builder.add("agent_message", "say", role="solver")
    builder.edge(0, 1, "explicit")
    builder.edge(0, 2, "explicit")
    builder.edge(1, 2, "explicit")
    found = graph_features(builder.build(), EmbeddingConfiguration())
    assert found.edges.tolist() == [[0, 0, 1], [1, 2, 2]]
    labels = [[ROLES.index("planner"), NODE_KINDS.index("decision")]]
    labels += [[ROLES.index("tool"), NODE_KINDS.index("tool_call")]]
    labels += [[ROLES.index("solver"), NODE_KINDS.index("agent_message")]]
    assert found.labels.tolist() == labels
    assert found.nodes.shape == (3, 13 + 5 + 4)
    assert found.nodes[:, :18].sum(axis=1).tolist() == [2.0, 2.0, 2.0]
    rest = [[0, math.log(3), 0, 0], [math.log(2), math.log(2), 0.5, 0], [math.log(3), 0, 1, 0]]
    assert found.nodes[:, 18:] == pytest.approx(numpy.array(rest), abs=1e-6)


def test_an_embedding_without_length_is_like_itself_alone():
    zero, some = numpy.zeros(len(MODEL.center)), numpy.zeros(len(MODEL.center))
    some[0] = 1.0
    assert MEASURE.similarity(zero, zero) == 1.0
    assert MEASURE.similarity(zero, some) == 0.5


def test_a_damaged_model_is_noticed():
    document = MODEL.to_dict()
    for change in (
        {"center": document["scale"]},
        {"weights": {}},
        {"configuration": {"epochs": 0}},
        {"hash": "0"},
    ):
        with pytest.raises(InputError, match="damaged"):
            EmbeddingModel.from_dict({**document, **change})
