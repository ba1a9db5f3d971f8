import pytest

from analytics.redundancy import content_redundancy, node_validity, terminal_nodes
from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError


def run(contents, edges=()):
    builder = GraphBuilder(kind="run", format="test", uri="test", content="x")
    builder.new_agent("a")
    for content in contents:
        builder.add("agent_message", "a", agent=0, content=content)
    for source, target in edges:
        builder.edge(source, target, "delivered")
    return builder


def test_only_the_last_action_needs_no_consumer():
    # 0 -> 1, 2 is never consumed, 3 is the last: 2 of 3 count.
    validity = node_validity(run("abcd", [(0, 1), (1, 3)]).build())
    assert (validity.consumed, validity.non_terminal) == (2, 3)
    assert validity.value == 2 / 3


def test_actions_that_hand_in_an_answer_are_terminal():
    builder = run("abcde", [(0, 1), (0, 2), (0, 3), (1, 2)])
    builder.propose("sample", "initial", node=0)
    builder.propose("sample", "final", node=2)
    builder.propose("sample", "answer", node=3)
    builder.propose("sample", "answer")
    graph = builder.build()
    ids = [node.id for node in graph.nodes]
    assert terminal_nodes(graph) == {ids[2], ids[3], ids[4]}
    assert node_validity(graph).value == 2 / 2
    assert terminal_nodes(graph, "last") == {ids[4]}
    assert node_validity(graph, "last").value == 2 / 4


@pytest.mark.parametrize("contents", ["", "a"])
def test_without_a_non_terminal_node_validity_is_unknown(contents):
    assert node_validity(run(contents).build()).value is None


def test_contents_are_compared_after_normalization():
    graph = run(["Yes, I agree.", "yes,  i AGREE.\n", "No.", None, ""]).build()
    redundancy = content_redundancy(graph)
    assert (redundancy.distinct, redundancy.known) == (3, 4)
    assert redundancy.value == 1 / 4


def test_redundancy_of_unknown_contents_is_unknown():
    assert content_redundancy(run([None, None]).build()).value is None
    assert content_redundancy(run(["a", "b"]).build()).value == 0.0


def test_an_unknown_reading_is_refused():
    with pytest.raises(UsageError, match="choose one of answers, last"):
        terminal_nodes(run("a").build(), "sinks")
