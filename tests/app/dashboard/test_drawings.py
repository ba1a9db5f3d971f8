"""Drawings: the same from visit to visit, folded where there is too much, true to the graph."""

import re
import xml.etree.ElementTree as ElementTree

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.dashboard import charts, tables
from app.dashboard.lanes import action_graph, depths
from app.dashboard.pages.answers import pairs_figure
from app.dashboard.pattern import pattern_figure, pattern_of
from app.dashboard.ring import agent_graph
from app.dashboard.settings import DRAWN_NODES
from app.dashboard.timeline import timeline
from app.overview_jobs import is_stale, percentiles, rank_in
from graphstore.builder import GraphBuilder
from graphstore.rows import QueryResult
from tests.app.dashboard import hostile

RUN = hostile.run(3)


def parsed(figure):
    """The file of a figure, as XML."""
    return ElementTree.fromstring(figure.document())


def picks(figure):
    return re.findall(r'data-pick="([^"]*)"', figure.body)


def large(actions, agents, *, rounds=None):
    built = GraphBuilder("run", "toy", "x", content=f"{actions}/{agents}/{rounds}")
    built.set_task("large")
    team = [built.new_agent(f"agent {place}", role="solver") for place in range(agents)]
    for index in range(actions):
        built.add(
            "agent_message",
            "say",
            agent=team[index % agents],
            round=None if rounds is None else index * rounds // actions,
        )
        if index:
            built.edge(index - 1, index, "explicit")
    return built.build()


@pytest.mark.parametrize("draw", [action_graph, agent_graph])
def test_a_drawing_is_the_same_from_visit_to_visit(draw):
    again = hostile.run(3)
    assert draw(RUN).figure == draw(again).figure
    assert parsed(draw(RUN).figure).tag.endswith("svg")


@pytest.mark.parametrize("graph", hostile.graphs(), ids=lambda graph: graph.id)
def test_every_drawing_is_well_formed(graph):
    for figure in (
        action_graph(graph, frozenset([0, 1])).figure,
        agent_graph(graph, frozenset([0])).figure,
        timeline(graph, graph.nodes, by_clock=False),
    ):
        parsed(figure)
    if graph.kind == "run":
        parsed(timeline(graph, graph.nodes, by_clock=True))


def test_every_action_is_drawn_and_can_be_picked():
    drawn = action_graph(RUN, frozenset([1]))
    assert sorted(picks(drawn.figure)) == ["0", "1", "2", "3"]
    assert drawn.sentence is None
    assert drawn.figure.body.count('marker-end="url(#tip)"') == len(RUN.edges)
    assert drawn.figure.body.count('stroke-dasharray="4 3"') == RUN.inferred_edges
    assert picks(timeline(RUN, RUN.nodes, by_clock=True)) == ["0", "1", "2", "3"]


def test_columns_are_longest_ways():
    assert list(depths(RUN).values()) == [0, 1, 2, 3]
    graph = large(5, 2)
    assert list(depths(graph).values()) == [0, 1, 2, 3, 4]


def test_more_than_a_drawing_holds_is_folded_by_round():
    graph = large(DRAWN_NODES + 1, 3, rounds=10)
    drawn = action_graph(graph)
    assert "folded by agent and round" in drawn.sentence
    assert len(picks(drawn.figure)) == 30
    labels = re.findall(r"font-weight:600\">(\d+)<", drawn.figure.body)
    assert sum(map(int, labels)) == DRAWN_NODES + 1
    assert "10 actions" in drawn.figure.body or "11 actions" in drawn.figure.body


def test_without_rounds_it_is_folded_by_agent():
    drawn = action_graph(large(DRAWN_NODES + 50, 4))
    assert "folded by agent," in drawn.sentence
    assert len(picks(drawn.figure)) == 4


def test_at_most_so_many_dots_whatever_comes():
    drawn = action_graph(large(2 * DRAWN_NODES, 2 * DRAWN_NODES, rounds=3))
    assert len(picks(drawn.figure)) == DRAWN_NODES
    assert "largest" in drawn.sentence
    drawn = agent_graph(large(10, DRAWN_NODES + 1))
    assert "folded by role" in drawn.sentence
    assert action_graph(large(DRAWN_NODES, 3)).sentence is None


def test_agents_and_what_went_between_them():
    body = agent_graph(RUN).figure.body
    assert "lead plain to solver: 1 deliveries" in body
    assert "solver to lead plain: 1 deliveries" in body
    assert "calculator to solver: 1 uses of its output" in body


def test_motifs_are_drawn_from_their_form():
    assert pattern_of('[["a","b"],[1]]').labels == ("a", "b")
    for form in ("nonsense", "[]", '[["a"],[]]', '[["a","b"],[1,2]]'):
        assert pattern_of(form) is None
        parsed(pattern_figure(form))
    for relation in range(11):
        parsed(pattern_figure(f'[["a/b","c"],[{relation}]]'))
    assert pattern_figure('[["a","b"],[10]]').body.count("marker-end") == 2
    assert pattern_figure('[["a","b"],[1]]').body.count("marker-end") == 1
    assert pattern_figure('[["a","b"],[5]]').body.count("marker-end") == 0


@given(
    low=st.floats(-1e9, 1e9),
    span=st.floats(0, 1e9),
    about=st.integers(2, 9),
)
def test_ticks_hold_what_they_are_for(low, span, about):
    found = charts.ticks(low, low + span, about)
    assert len(found) >= 2
    assert found == sorted(set(found))
    assert found[0] <= low + abs(low) * 1e-9 + 1e-9
    assert found[-1] >= low + span - abs(low + span) * 1e-9 - 1e-9
    assert len(found) <= 3 * about + 3


def test_charts_are_well_formed_whatever_the_values():
    parsed(charts.bars("empty", []))
    parsed(charts.bars("none", [("a", None), ("b", 0)]))
    parsed(charts.stacked("parts", [("a", {"x": 0})], {"x": "#000"}))
    parsed(charts.points("one", [("s", [(1.0, 1.0, "p")])], x_title="x", y_title="y"))
    parsed(charts.points("none", [], x_title="x", y_title="y"))
    assert "first 60 of 70" in charts.bars("many", [(str(n), n) for n in range(70)]).title


def test_pairs_of_an_answer_are_added_up_and_bounded():
    rows = (("a", "b", 2), ("a", "b", 3), ({"name": "a"}, None, 1))
    figure, left_out = pairs_figure(QueryResult(("x", "y", "n"), rows), "x", "y", "n")
    assert left_out == 0
    assert "a to b: 5 n" in figure.body
    many = QueryResult(("x", "y"), tuple((n, n + 1000) for n in range(DRAWN_NODES)))
    figure, left_out = pairs_figure(many, "x", "y", None)
    assert left_out == DRAWN_NODES // 2
    parsed(figure)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300))
def test_percentiles_are_numpys(values):
    values.sort()
    assert percentiles(values) == pytest.approx(
        numpy.percentile(values, range(101)).tolist(), abs=1e-6
    )


@given(st.lists(st.integers(0, 50), min_size=2, max_size=300), st.integers(-5, 55))
def test_a_rank_is_near_the_share_below(values, value):
    values.sort()
    rank = rank_in(value, percentiles(values))
    below = 100 * sum(one < value for one in values) / len(values)
    through = 100 * sum(one <= value for one in values) / len(values)
    slack = 100 / (len(values) - 1) + 1.01
    assert below - slack <= rank <= through + slack


def test_ranks_by_hand():
    assert rank_in(5.0, [5.0] * 101) == 50
    assert rank_in(1.0, percentiles([2.0, 3.0])) == 0
    assert rank_in(9.0, percentiles([2.0, 3.0])) == 100
    assert rank_in(50.5, percentiles(list(range(101)))) == 50.5


def test_an_overview_is_stale_when_anything_was_added():
    document = {"counts": {"Run": 1}}
    assert not is_stale(document, {"Run": 1, "Report": 3})
    assert is_stale(document, {"Run": 2})
    assert is_stale(document, {"Run": 1, "Action": 1})


def test_tables_keep_texts_numbers_and_gaps():
    result = QueryResult(
        ("t", "n", "f", "b", "l", "m", "big", "gap"),
        (
            ("<b>", 1, 0.5, True, ["a", "b"], {"k": 1}, 2**60, None),
            (None, None, 2, False, None, None, 1, None),
        ),
    )
    frame = tables.shown_frame(result, hidden=("b",))
    assert list(frame.columns) == ["t", "n", "f", "l", "m", "big", "gap"]
    assert frame["t"][0] == "<b>"
    assert frame["l"][0] == "a, b"
    assert frame["m"][0] == '{"k":1}'
    assert frame["big"][0] == str(2**60)
    assert frame["n"].isna().tolist() == [False, True]
    assert tables.to_csv(result).decode().splitlines()[1].startswith("<b>,1,0.5,True,")


def test_files_can_be_read_again(tmp_path):
    import pandas

    result = QueryResult(
        ("a", "a", "mixed"), ((1, "x", 1), (None, None, "two"), (3, "z", {"k": [1]}))
    )
    path = tmp_path / "x.parquet"
    path.write_bytes(tables.to_parquet(result))
    frame = pandas.read_parquet(path)
    assert list(frame.columns) == ["a", "a_", "mixed"]
    assert frame["mixed"].tolist() == ["1", "two", '{"k":[1]}']
    empty = QueryResult((), ())
    assert tables.to_csv(empty) == b"\r\n"
    assert tables.to_parquet(empty)
    assert tables.as_result([]).columns == ()
