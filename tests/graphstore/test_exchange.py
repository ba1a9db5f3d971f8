import pytest

from graphstore import exchange
from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.exchange_xml import exact_texts
from tests.graphstore.test_records import make_run


def make_decomposition():
    builder = GraphBuilder(kind="decomposition", format="test", uri="b.json", content="y")
    builder.set_task("t1", dataset="d")
    group = builder.add("group", "all")
    last = builder.add("subtask", "last", parent=group, content="Finish.")
    first = builder.add("subtask", "first", parent=group, content="Begin.")
    builder.edge(first, last, "explicit")
    return builder.build()


@pytest.fixture
def graphs():
    return sorted([make_run(), make_decomposition()], key=lambda graph: graph.id)


def with_all_task_fields(graphs):
    """Two graphs of one task share its fields once they stand in one file."""
    import msgspec

    full = next(graph.task for graph in graphs if graph.task.description)
    return [msgspec.structs.replace(graph, task=full) for graph in graphs]


def test_networkx_and_back(graphs):
    made = exchange.to_networkx(graphs)
    assert made.nodes[graphs[0].id]["label"] == "Decomposition"
    assert exchange.from_networkx(made) == with_all_task_fields(graphs)


def test_frames_and_back(graphs):
    frames = exchange.to_frames(graphs)
    assert len(frames["Action"]) == 2
    assert frames["Action"]["tokens_in"].isna().tolist() == [True, False]
    assert exchange.from_frames(frames) == with_all_task_fields(graphs)


@pytest.mark.parametrize("format", exchange.FILE_FORMATS)
def test_files_and_back(graphs, tmp_path, format):
    path = tmp_path / "out"
    exchange.write_file(graphs, path, format)
    assert exchange.read_file(path, format) == with_all_task_fields(graphs)


@pytest.mark.parametrize("format", ["graphml", "json", "gexf"])
def test_the_same_graphs_give_the_same_bytes(graphs, tmp_path, format):
    for name in ("one", "two"):
        exchange.write_file(graphs, tmp_path / name, format)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("format", ["graphml", "json"])
def test_a_foreign_file_is_refused_with_its_name(tmp_path, format):
    path = tmp_path / "foreign"
    path.write_text('{"nodes": [{"id": 1}], "edges": []}')
    with pytest.raises(InputError, match="foreign"):
        exchange.read_file(path, format)


@pytest.mark.parametrize("format", ["graphml", "gexf"])
def test_control_characters_leave_xml_well_formed(tmp_path, format):
    builder = GraphBuilder(kind="run", format="test", uri="c.json", content="z")
    builder.add("agent_message", "a", content="red \x1b[31m and \x00 and \ufffe, tab\t kept")
    graph = builder.build()
    exchange.write_file(graph, tmp_path / "out", format)
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert "red \ufffd[31m and \ufffd and \ufffd, tab" in text
    assert exchange.read_file(tmp_path / "out", format) == [graph]
    # Who edits the text that is shown means it.
    (tmp_path / "out").write_text(text.replace("red \ufffd", "blue \ufffd"), encoding="utf-8")
    (edited,) = exchange.read_file(tmp_path / "out", format)
    assert edited.nodes[0].content == "blue \ufffd[31m and \ufffd and \ufffd, tab\t kept"


@pytest.mark.parametrize("held", ["nothing", "[1]", '{"content": 3}'])
def test_exact_texts_that_are_none_are_refused(held):
    with pytest.raises(InputError, match="masgraph_exact does not hold texts"):
        exact_texts({"content": "x", "masgraph_exact": held})


@pytest.mark.parametrize("format", exchange.FILE_FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        "a\r\nb",
        "\r",
        "a\rb\n\r\n",
        " \t\r x ",
        "&#13; <b>\r</b>",
        "\x1b[0m\r\n\ufffd\x00",
        "\x85\u2028",
    ],
)
def test_every_text_comes_back(tmp_path, format, text):
    builder = GraphBuilder(kind="run", format="test", uri="c.json", content="z")
    builder.set_task(f"task {text}.")
    first = builder.add("agent_message", "a", content=f"begin{text}end")
    second = builder.add("agent_message", "b", content=f"x{text}")
    builder.edge(first, second, "explicit")
    graph = builder.build()
    exchange.write_file(graph, tmp_path / "out", format)
    assert exchange.read_file(tmp_path / "out", format) == [graph]
