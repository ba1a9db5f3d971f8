import networkx
from hypothesis import given
from hypothesis import strategies as st

from ingest.joining import groups

KEYS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=3), max_size=12)


@given(KEYS)
def test_groups_are_the_connected_components_in_order(keys):
    found = groups(list(range(len(keys))), lambda place: keys[place])
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(keys)))
    for one in range(len(keys)):
        for other in range(one):
            if keys[one] & keys[other]:
                graph.add_edge(one, other)
    expected = sorted(sorted(part) for part in networkx.connected_components(graph))
    assert found == expected


def test_one_file_is_not_asked():
    def fail(file):
        raise AssertionError(file)

    assert groups(["x"], fail) == [["x"]]
    assert groups([], fail) == []
