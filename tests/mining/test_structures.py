import itertools

import networkx
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.builder import GraphBuilder
from graphstore.errors import UsageError
from graphstore.model import Artifact
from mining.boundaries import WHOLE, Contents
from mining.coarse_graphs import contract, find_cycle, refine
from mining.group_categories import Relations, categorize
from mining.structures import StructureConfiguration, mine_structures
from mining.task_tree import ROOT, TaskTree


def builder(name="d", task="t", kind="decomposition"):
    made = GraphBuilder(kind=kind, format="test", uri="test", content=name, record=name)
    made.set_task(task)
    return made


def contents_of(graph):
    return Contents(graph, TaskTree.of(graph), [node.kind for node in graph.nodes])


def pairs_of(graph):
    index = {node.id: node.index for node in graph.nodes}
    return (
        tuple((index[edge.source], index[edge.target]) for edge in graph.edges),
        tuple((index[pair.source], index[pair.target]) for pair in graph.couplings),
    )


def paper_task(name="paper", task="t"):
    """Two groups and a leaf that combines what they make.

    Group A: read -> parse. Group B: draft, style (coupled). Then report, which gets parse's
    table and the draft. All change one sheet, but for read and report.
    """
    made = builder(name, task)
    sheet = made.resource("sheet", "file")
    table, text = Artifact(name="table", type="csv"), Artifact(name="text")
    group_a = made.add("group", "A")
    group_b = made.add("group", "B")
    read = made.add(
        "subtask",
        "read",
        parent=group_a,
        inputs=[Artifact(name="source", type="pdf")],
        outputs=[Artifact(name="rows", type="list")],
    )
    parse = made.add(
        "subtask",
        "parse",
        parent=group_a,
        inputs=[Artifact(name="rows", type="list")],
        outputs=[table, Artifact(name="log")],
        accesses=[(sheet, "write")],
    )
    draft = made.add(
        "subtask", "draft", parent=group_b, outputs=[text], accesses=[(sheet, "write")]
    )
    style = made.add(
        "subtask", "style", parent=group_b, accesses=[(sheet, "read"), (sheet, "write")]
    )
    report = made.add(
        "subtask",
        "report",
        inputs=[table, text],
        outputs=[Artifact(name="report", type="pdf")],
        content="Combine both",
    )
    for source, target in ((read, parse), (parse, report), (draft, report), (read, style)):
        made.edge(source, target, "explicit")
    made.couple(draft, style, resources=[sheet])
    made.couple(parse, draft, resources=[sheet])
    return made.build()


@st.composite
def trees(draw, largest=12):
    """A graph with groups in groups, relations between nodes of every level."""
    made = builder(str(draw(st.integers(0, 5))))
    size = draw(st.integers(0, largest))
    parents = []
    for place in range(size):
        above = draw(st.none() | st.integers(0, place - 1)) if place else None
        parents.append(above)
    for place, above in enumerate(parents):
        kind = "group" if place in parents else "subtask"
        made.add(kind, f"n{place}", parent=above)
    possible = list(itertools.combinations(range(size), 2))
    some = st.lists(st.sampled_from(possible), unique=True, max_size=15)
    for one, other in draw(some) if possible else []:
        made.edge(one, other, "explicit")
    for one, other in draw(some) if possible else []:
        made.couple(one, other)
    return made.build()


# --- the tree ---------------------------------------------------------------------------------


@given(trees())
def test_ancestors_equal_a_walk_upward(graph):
    tree = TaskTree.of(graph)

    def upward(node):
        return [node, *tree.above(node)]

    leaves = [node for node in range(len(graph.nodes)) if node not in tree.parents]
    assert list(tree.leaves) == [node for node in leaves if node != tree.root]
    sets, expected = [], []
    for nodes in itertools.combinations(range(len(graph.nodes)), 2):
        common = [node for node in upward(nodes[0]) if node in upward(nodes[1])]
        assert tree.lowest_common_ancestor(nodes) == common[0]
        sets.append((*nodes, -1))
        expected.append(common[0])
    for nodes in itertools.combinations(range(min(8, len(graph.nodes))), 3):
        common = [
            node
            for node in upward(nodes[0])
            if node in upward(nodes[1]) and node in upward(nodes[2])
        ]
        sets.append(nodes)
        expected.append(common[0])
    if sets:
        assert tree.common_ancestors(numpy.array(sets)).tolist() == expected
    for node in (tree.root, *range(len(graph.nodes))):
        below = [leaf for leaf in tree.leaves if node in upward(leaf)]
        assert tree.leaf_counts[node] == len(below)


def test_a_single_top_node_with_children_is_the_root():
    made = builder()
    top = made.add("group", "all")
    made.add("subtask", "one", parent=top)
    tree = TaskTree.of(made.build())
    assert (tree.root, tree.leaves, tree.flat) == (0, (1,), True)
    made = builder()
    made.add("subtask", "one")
    tree = TaskTree.of(made.build())
    assert (tree.root, tree.leaves, tree.flat) == (ROOT, (0,), True)


# --- contracting and refining -----------------------------------------------------------------


def fully_refined(contents):
    coarse = contract(contents, contents.tree.root)
    while True:
        inner = [
            place
            for place, group in enumerate(coarse.groups)
            if group.node in contents.tree.children
        ]
        if not inner:
            return coarse
        node = coarse.groups[inner[0]].node
        coarse = refine(coarse, inner[0], contract(contents, node))


@settings(max_examples=200, deadline=None)
@given(trees())
def test_contracting_and_refining_gives_the_graph_back(graph):
    contents = contents_of(graph)
    dependencies, couplings = pairs_of(graph)
    if not graph.nodes:
        return
    whole = fully_refined(contents)
    assert whole.leaf_dependencies == dependencies
    assert whole.leaf_couplings == couplings
    assert tuple(group.node for group in whole.groups) == contents.tree.leaves
    # A relation of two leaves joins exactly their two groups of one.
    place = {group.node: position for position, group in enumerate(whole.groups)}
    joined = {(edge.source, edge.target): edge.pairs for edge in whole.dependencies}
    for one, other in dependencies:
        if one in place and other in place:
            ends = place[one], place[other]
            assert (one, other) in joined[ends]
            assert [key for key, pairs in joined.items() if (one, other) in pairs] == [ends]
    tied = {(tie.source, tie.target) for tie in whole.couplings}
    for one, other in couplings:
        if one in place and other in place:
            assert (place[one], place[other]) in tied


@given(trees())
def test_each_relation_crosses_in_one_coarse_graph(graph):
    contents = contents_of(graph)
    if not graph.nodes:
        return
    found = [
        pair
        for node in contents.tree.inner
        for pair in contract(contents, node).leaf_dependencies
    ]
    assert sorted(found) == list(pairs_of(graph)[0])


def test_a_coarse_graph_by_hand():
    graph = paper_task()
    contents = contents_of(graph)
    coarse = contract(contents, contents.tree.root)
    names = [graph.nodes[group.node].name for group in coarse.groups]
    assert names == ["A", "B", "report"]
    at = {node.name: node.index for node in graph.nodes}
    assert [(edge.source, edge.target, edge.pairs) for edge in coarse.dependencies] == [
        (0, 1, ((at["read"], at["style"]),)),
        (0, 2, ((at["parse"], at["report"]),)),
        (1, 2, ((at["draft"], at["report"]),)),
    ]
    assert [(tie.source, tie.target, tie.resources) for tie in coarse.couplings] == [
        (0, 1, ("file",))
    ]
    assert [group.leaves for group in coarse.groups] == [2, 2, 1]
    assert coarse.cycle == ()
    assert coarse.groups[2].objective == "Combine both"


def test_boundaries_by_hand():
    graph = paper_task()
    contents = contents_of(graph)
    at = {node.name: node.index for node in graph.nodes}
    inner = contract(contents, at["A"])
    inputs = [(port.name, port.type, port.final, port.ends) for port in inner.boundary.inputs]
    assert inputs == [("source", "pdf", False, ((at["read"], 0),))]
    outputs = [(port.name, port.final, port.ends) for port in inner.boundary.outputs]
    assert outputs == [
        # Nobody requires the log: it counts as a result.
        ("log", True, ((at["parse"], 1),)),
        ("table", False, ((at["parse"], 1),)),
        # read -> style hands nothing over that has a name.
        (None, False, ((at["read"], 0),)),
    ]
    shared = [(port.name, port.mode, port.ends) for port in inner.boundary.accesses]
    assert shared == [("sheet", "write", ((at["parse"], 1),))]
    assert inner.boundary.ties == ((at["parse"], 1),)
    assert inner.boundary.children == {at["read"]: 0, at["parse"]: 1}
    assert inner.boundary.types == (("pdf",), ("", "csv", "log"), ("write file",))
    leaf = contents.boundary(at["report"])
    assert [(port.name, port.ends) for port in leaf.inputs] == [
        ("table", ((at["report"], WHOLE),)),
        ("text", ((at["report"], WHOLE),)),
    ]
    assert [(port.name, port.final) for port in leaf.outputs] == [("report", True)]


def test_a_dependency_that_a_resource_explains_has_no_bare_port():
    made = builder()
    state = made.resource("state")
    one, other = made.add("group", "one"), made.add("group", "other")
    writer = made.add("subtask", "w", parent=one, accesses=[(state, "write")])
    reader = made.add("subtask", "r", parent=other, accesses=[(state, "read")])
    made.edge(writer, reader, "explicit")
    graph = made.build()
    at = {node.name: node.index for node in graph.nodes}
    found = contents_of(graph).boundary(at["other"])
    assert found.inputs == ()
    assert [(port.name, port.mode, port.ends) for port in found.accesses] == [
        ("state", "read", ((at["r"], 0),))
    ]


def test_a_dependency_between_groups_leads_to_first_and_comes_from_last():
    made = builder()
    one, other = made.add("group", "one"), made.add("group", "other")
    a, b = made.add("subtask", "a", parent=one), made.add("subtask", "b", parent=one)
    c, d = made.add("subtask", "c", parent=other), made.add("subtask", "d", parent=other)
    for source, target in ((one, other), (a, b), (c, d)):
        made.edge(source, target, "explicit")
    graph = made.build()
    whole = fully_refined(contents_of(graph))
    names = [graph.nodes[group.node].name for group in whole.groups]
    arrows = {(names[edge.source], names[edge.target]) for edge in whole.dependencies}
    assert arrows == {("a", "b"), ("b", "c"), ("c", "d")}
    assert whole.leaf_dependencies == pairs_of(graph)[0]


def test_only_the_graph_of_a_group_refines_it():
    contents = contents_of(paper_task())
    at = {node.name: node.index for node in contents.graph.nodes}
    coarse = contract(contents, contents.tree.root)
    with pytest.raises(UsageError, match="is not the coarse graph of 'A'"):
        refine(coarse, 0, contract(contents, at["B"]))
    with pytest.raises(UsageError, match="contains no other node"):
        contract(contents, at["read"])


# --- cycles -----------------------------------------------------------------------------------


@given(st.integers(1, 7), st.data())
def test_a_cycle_is_found_where_there_is_one(size, data):
    pairs = [pair for pair in itertools.product(range(size), repeat=2) if pair[0] != pair[1]]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    found = find_cycle(size, edges)
    graph = networkx.DiGraph(edges)
    assert bool(found) == (not networkx.is_directed_acyclic_graph(graph))
    assert find_cycle(size, edges[::-1]) == found
    if found:
        assert found[0] == min(found)
        assert all(pair in edges for pair in itertools.pairwise((*found, found[0])))


def test_a_coarse_cycle_is_excluded_and_reported():
    made = builder()
    one, other = made.add("group", "one"), made.add("group", "other")
    a = made.add("subtask", "a", parent=one)
    b = made.add("subtask", "b", parent=other)
    c = made.add("subtask", "c", parent=one)
    made.edge(a, b, "explicit")
    made.edge(b, c, "explicit")
    graph = made.build()
    library = mine_structures([graph])
    assert library.coarse_graphs == ()
    (excluded,) = library.excluded
    assert (excluded.graph, excluded.node) == (graph.id, None)
    assert excluded.reason == (
        "its groups depend on each other in a circle: one -> other -> one"
    )


# --- categories -------------------------------------------------------------------------------

WORDS = {"merge": "integrate", "deploy": "deliver", "setup": "foundation"}


@pytest.mark.parametrize(
    ("suppliers", "users", "at_root", "only_end", "objective", "result", "category"),
    [
        (2, 0, True, False, "", False, "deliver"),
        (1, 0, True, True, "", False, "deliver"),
        (1, 0, True, False, "", False, "capability"),
        (2, 0, False, True, "", False, "integrate"),
        (2, 1, True, False, "", False, "integrate"),
        (0, 2, True, False, "", False, "foundation"),
        (0, 2, False, False, "merge", False, "foundation"),
        (0, 1, True, False, "", False, "capability"),
        (1, 1, True, False, "deploy", False, "capability"),
        (0, 0, True, False, "Merge, then deploy", False, "integrate"),
        (0, 0, True, False, "Deploy it", False, "deliver"),
        (0, 0, False, False, "Deploy it", False, None),
        (0, 0, False, False, "Deploy, then merge", False, "integrate"),
        (0, 0, True, False, "redeployment", False, None),
        (0, 0, True, False, "", True, "capability"),
        (0, 0, True, False, "", False, None),
    ],
)
def test_categories(suppliers, users, at_root, only_end, objective, result, category):
    relations = Relations(suppliers, users, at_root, only_end)
    assert categorize(relations, objective, result, WORDS) == category


def test_categories_of_a_task_by_hand():
    library = mine_structures([paper_task()])
    (coarse,) = library.coarse_graphs
    # A supplies B and the report; B gets from A and gives to the report, which ends it.
    assert [group.category for group in coarse.groups] == [
        "foundation",
        "capability",
        "deliver",
    ]
    inner = {one.name: one for one in library.refinements}
    assert inner["A"].category == "foundation"
    assert [group.category for group in inner["A"].groups] == ["capability", "capability"]
    counts = {one.category: (one.groups, one.leaves, one.tasks) for one in library.categories}
    assert counts == {
        "foundation": (1, 0, 1),
        "capability": (1, 4, 1),
        "integrate": (0, 0, 0),
        "deliver": (0, 1, 1),
        None: (0, 0, 0),
    }


# --- templates --------------------------------------------------------------------------------


def test_templates_by_hand():
    made = builder("x", "t3")
    sheet = made.resource("sheet", "file")
    a = made.add("subtask", "a", role="planner", outputs=[Artifact(name="p", type="plan")])
    b = made.add("subtask", "b", role="solver", outputs=[Artifact(name="q")])
    c = made.add(
        "subtask",
        "c",
        role="aggregator",
        inputs=[Artifact(name="p", type="plan"), Artifact(name="q")],
        outputs=[Artifact(name="r", type="text")],
        accesses=[(sheet, "write")],
    )
    d = made.add("subtask", "d", role="critic", accesses=[(sheet, "read"), (sheet, "write")])
    for source, target in ((a, c), (b, c), (c, d)):
        made.edge(source, target, "explicit")
    made.couple(c, d, resources=[sheet])
    library = mine_structures([made.build()], label_of=lambda node: node.role)
    (found,) = library.integrations
    assert (found.label, found.suppliers, found.users) == (
        "aggregator",
        (("planner", ("plan",)), ("solver", ("q",))),
        ("critic",),
    )
    assert (found.outputs, found.accesses, found.crossing) == (
        ("text",),
        ("write file",),
        False,
    )
    (coupling,) = library.couplings
    assert coupling.ends == (("aggregator", ("write",)), ("critic", ("read", "write")))
    assert (coupling.resources, coupling.crossing, coupling.count) == (("file",), False, 1)
    # A subtask without a type shows no template.
    blind = mine_structures(
        [made.build()], label_of=lambda node: None if node.name == "a" else "x"
    )
    assert blind.integrations == ()


def test_templates_of_several_tasks_are_merged():
    graphs = [paper_task("one", "t1"), paper_task("two", "t2"), paper_task("three", "t2")]
    library = mine_structures(graphs)
    tasks = sorted({graph.task.id for graph in graphs})
    # In each task, draft is coupled with style inside B, and parse with draft across.
    table = {
        (one.ends, one.crossing): (one.count, list(one.tasks)) for one in library.couplings
    }
    write, both = ("subtask", ("write",)), ("subtask", ("read", "write"))
    assert table == {
        ((both, write), False): (3, tasks),
        ((write, write), True): (3, tasks),
    }
    assert len({one.signature for one in library.coarse_graphs}) == 1
    few = mine_structures(graphs, StructureConfiguration(min_task_support=3))
    assert few.couplings == ()


# --- the whole --------------------------------------------------------------------------------


def test_the_order_of_the_graphs_does_not_matter():
    graphs = [paper_task("one", "t1"), paper_task("two", "t2"), builder("three").build()]
    one, other = mine_structures(graphs), mine_structures(graphs[::-1])
    assert one.hash == other.hash
    assert one.coarse_graphs == other.coarse_graphs
    assert [row.reason for row in one.excluded] == ["it has no nodes"]
    assert mine_structures(graphs[:1]).hash != one.hash


def test_flat_graphs():
    made = builder()
    one, other = made.add("subtask", "a"), made.add("subtask", "b")
    made.edge(one, other, "explicit")
    graph = made.build()
    (coarse,) = mine_structures([graph]).coarse_graphs
    assert [(group.label, group.leaves) for group in coarse.groups] == [("subtask", 1)] * 2
    left_out = mine_structures([graph], StructureConfiguration(flat_decompositions=False))
    assert left_out.coarse_graphs == ()
    run = builder("r", kind="run")
    run.add("agent_message", "a")
    assert mine_structures([run.build()]).coarse_graphs == ()
    (alone,) = mine_structures(
        [run.build()], StructureConfiguration(flat_runs=True)
    ).coarse_graphs
    assert len(alone.groups) == 1


def test_five_thousand_leaves_in_one_task():
    made = builder()
    groups = [made.add("group", f"g{place}") for place in range(5)]
    for place in range(5_000):
        made.add("subtask", f"s{place}", parent=groups[place % 5])
    for place in range(4_999):
        made.edge(5 + place, 6 + place, "explicit")
    library = mine_structures([made.build()])
    # Each group supplies the next, and the last the first: a circle.
    assert [row.node for row in library.excluded] == [None]
    assert [len(one.groups) for one in library.refinements] == [1_000] * 5


def test_nothing_in_nothing_out():
    library = mine_structures([])
    assert (library.coarse_graphs, library.refinements, library.excluded) == ((), (), ())
    assert library.to_pandas().empty
    table = mine_structures([paper_task()]).to_pandas()
    assert list(table["groups"]) == [3, 2, 2]


def test_what_makes_no_sense_is_refused():
    for wrong in (
        {"words": (("other", ("x",)),)},
        {"min_children": 0},
        {"min_task_support": 0},
    ):
        with pytest.raises(UsageError):
            StructureConfiguration(**wrong)
