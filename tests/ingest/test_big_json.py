import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphstore.errors import InputError
from ingest import big_json
from ingest.big_json import streamed_items
from ingest.files import LocalFile
from ingest.pipeline import ReadOptions, read
from ingest.reader import SAMPLE_BYTES, Rejection
from tests.ingest.reading import FORMATS

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(['[{"', '"}]', "\\", '\\"', "}},{{", ",", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Pieces:
    """A file whose bytes come in pieces of a few bytes."""

    uri = "pieces"

    def __init__(self, content, size):
        self.content = content
        self.size = size

    @property
    def sample(self):
        return self.content[:SAMPLE_BYTES]

    def blocks(self):
        for start in range(0, len(self.content), self.size):
            yield self.content[start : start + self.size]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(big_json, "STREAMED_BYTES", 0)
    monkeypatch.setattr(big_json, "SAMPLE_BYTES", 0)


def items(content, key=None, size=7):
    found = streamed_items(Pieces(content, size), key)
    return None if found is None else [json.loads(item) for item in found]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(VALUES, max_size=6),
    st.sampled_from([None, 1]),
    st.integers(1, 40),
    st.booleans(),
)
def test_the_items_are_those_of_the_array(values, indent, size, ascii_only):
    text = json.dumps(values, indent=indent, ensure_ascii=True)
    if not ascii_only:
        text = json.dumps(values, indent=indent, ensure_ascii=False)
    content = b" \n" + text.encode("utf-8", "replace") + b"\n "
    expected = json.loads(content)
    found = items(content, size=size)
    # A document that fits into its first line may as well be one of many lines.
    assert found == expected or (found is None and indent is None) or not values


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), VALUES, max_size=4), st.lists(VALUES, max_size=4), st.data())
def test_the_items_under_a_key(others, values, data):
    others.pop("wanted", None)
    members = [*others.items(), ("wanted", values)]
    ordered = dict(data.draw(st.permutations(members)))
    content = json.dumps(ordered, indent=1).encode()
    assert items(content, "wanted", data.draw(st.integers(1, 40))) == values
    other = json.dumps(others, indent=1).encode()
    if others:
        assert items(other, "wanted") == []


def test_objects_that_follow_each_other_give_the_items_of_all():
    one = json.dumps({"a": [1, {"b": 2}], "c": {"a": [9]}}, indent=1).encode()
    assert items(one + b"\n" + one, "a") == [1, {"b": 2}, 1, {"b": 2}]


def until_an_error(content, key):
    """The items before a damaged place, and what is said of it."""
    found = []
    try:
        for item in streamed_items(Pieces(content, 5), key):
            found.append(item)  # noqa: PERF402 - the error comes after some of them
    except InputError as error:
        return found, error
    return pytest.fail("nothing was raised")


@pytest.mark.parametrize("key", [None, "list"])
def test_a_document_that_is_cut_gives_its_whole_items_and_an_error(key):
    values = [{"a": [1, 2, {"b": 'text ] } \\" '}]}, "word", 12, [[]], {"c": 'half "'}]
    whole = json.dumps(
        values if key is None else {"x": {"y": 1}, key: values}, indent=1
    ).encode()
    for end in range(1, len(whole)):
        found, error = until_an_error(whole[:end], key)
        assert [json.loads(item) for item in found] == values[: len(found)]
        assert error.reason == f"the JSON breaks off (after {len(found)} items)"
        assert error.file == "pieces"


@pytest.mark.parametrize(
    ("content", "count", "reason"),
    [
        (b'[\n{"a": 1} {"b": 2}]', 1, "'{' stands for ','"),
        (b'[\n{"a": 1},]', 1, "no value"),
        (b'[\n{"a": 1}]\n{"b": 2}', 1, "there is more after the end"),
        (b"[\n1, 2}", 2, "'}' stands for ','"),
        (b"[\n,1]", 0, "no value"),
    ],
)
def test_what_is_no_array_says_so(content, count, reason):
    found, error = until_an_error(content, None)
    assert len(found) == count
    assert reason in error.reason


def test_a_damaged_item_is_left_to_its_reader():
    content = b'[\n{"a": nan}, {"b": "\\ud800"}, {"c": 1}]'
    assert list(streamed_items(Pieces(content, 3))) == [
        b'{"a": nan}',
        b'{"b": "\\ud800"}',
        b'{"c": 1}',
    ]


def test_an_item_may_be_long_but_not_without_end(monkeypatch):
    monkeypatch.setattr(big_json, "WINDOW_BYTES", 50)
    content = json.dumps([{"a": "x" * 2_000}, {"b": 1}], indent=1).encode()
    assert [len(item) for item in items(content)] == [1, 1]
    monkeypatch.setattr(big_json, "ITEM_BYTES", 1_000)
    with pytest.raises(InputError, match="longer than 0 MiB"):
        items(content)


def test_lines_and_small_files_are_read_in_the_ordinary_way(monkeypatch):
    assert items(b'{"a": [1]}\n{"a": [2]}\n', "a", 100) is None
    assert items(b"[1]\n[2]\n", None, 100) is None
    assert items(b"[\n1\n]", "a") is None
    assert items(b'{\n"a": 1}') is None
    monkeypatch.setattr(big_json, "STREAMED_BYTES", 100)
    assert items(b"[\n1\n]") is None


ARRAYS = {
    "native": ("traces/single.jsonl", None),
    "otlp": ("formats/otlp/newsroom-1.ndjson", None),
    "worfbench": ("formats/worfbench/home.json", None),
    "langsmith": ("formats/langsmith/harbour.json", None),
    "openai-agents-spans": ("formats/openai-agents-spans/garden.jsonl", None),
    "marble": ("formats/marble/market.jsonl", None),
    "agentverse": ("formats/agentverse/results.jsonl", None),
    "tau-bench": ("formats/tau-bench/passes.json", None),
    "beads": ("formats/beads", None),
    "hugginggpt": ("formats/hugginggpt", None),
}
"""Formats whose files may be arrays of records."""


def records_of(path):
    text = path.read_text("utf-8")
    try:
        value = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("format", ARRAYS)
def test_a_large_array_gives_the_graphs_of_a_small_one(format, tmp_path, monkeypatch):
    path = FORMATS.parent / ARRAYS[format][0]
    if path.is_dir():
        path = min(child for child in path.iterdir() if child.suffix in (".json", ".jsonl"))
    array = tmp_path / "array.json"
    array.write_text(json.dumps(records_of(path), indent=1))
    options = ReadOptions(content="keep")
    streamed = list(read(array, format=format, options=options))
    monkeypatch.undo()
    ordinary = list(read(array, format=format, options=options))
    if format == "otlp":  # runs come when they are complete, not in order of their ids
        assert by_id(streamed) == by_id(ordinary)
    else:
        assert streamed == ordinary
    assert not all(isinstance(item, Rejection) for item in streamed)


def by_id(graphs):
    listed = list(graphs)
    found = {graph.id: graph for graph in listed}
    assert len(found) == len(listed)
    return found


def scattered_spans():
    """Export requests of one span each, the traces mixed."""
    lines = []
    for name in ("newsroom-1.ndjson", "newsroom-2.json", "repair-shop.json"):
        for record in records_of(FORMATS / "otlp" / name):
            for resource in record["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    for span in scope["spans"]:
                        alone = {**resource, "scopeSpans": [{**scope, "spans": [span]}]}
                        lines.append(json.dumps({"resourceSpans": [alone]}))
    random.Random(1).shuffle(lines)
    return lines


def test_runs_of_large_otlp_files_come_when_their_last_span_went_by(tmp_path, monkeypatch):
    lines = scattered_spans()
    path = tmp_path / "mixed.ndjson"
    path.write_text("\n".join(lines))
    streamed = list(read(path))
    assert len(streamed) > 1
    assert by_id(streamed) == by_id(read(path))
    halves = [tmp_path / "a.ndjson", tmp_path / "b.ndjson"]
    halves[0].write_text("\n".join(lines[::2]))
    halves[1].write_text("\n".join(lines[1::2]))
    joined = list(read(halves))
    bad = tmp_path / "c.ndjson"
    bad.write_text("\n".join([*lines[:3], '{"resourceSpans": [']))
    damaged = list(read([*halves, bad]))
    monkeypatch.undo()
    assert by_id(streamed) == by_id(read(path))
    assert by_id(joined) == by_id(read(halves))
    ordinary = list(read([*halves, bad]))
    assert sorted(damaged, key=str) == sorted(ordinary, key=str)
    assert isinstance(damaged[-1], Rejection)
    assert {graph.id for graph in joined} == {graph.id for graph in streamed}


def test_a_large_otlp_file_that_is_damaged_gives_nothing(tmp_path):
    path = tmp_path / "bad.ndjson"
    path.write_text("\n".join([*scattered_spans(), '{"resourceSpans": 1}']))
    (rejection,) = read(path)
    assert isinstance(rejection, Rejection)


def test_one_large_otlp_document_is_read_in_parts(tmp_path, monkeypatch):
    merged = {"resourceSpans": []}
    for record in records_of(FORMATS / "otlp" / "newsroom-1.ndjson"):
        merged["resourceSpans"] += record["resourceSpans"]
    path = tmp_path / "one.json"
    path.write_text(json.dumps(merged, indent=1))
    streamed = list(read(path))
    monkeypatch.undo()
    assert by_id(streamed) == by_id(read(path))
    assert len(streamed) >= 1


def test_a_large_file_that_breaks_off_keeps_its_good_records(tmp_path):
    records = records_of(FORMATS.parent / "traces" / "single.jsonl")[:4]
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(records, indent=1)[:-40])
    *graphs, rejection = read(path)
    assert [graph.kind for graph in graphs] == ["run"] * 3
    assert isinstance(rejection, Rejection)
    assert rejection.reason == "the JSON breaks off (after 3 items)"


def test_blocks_of_a_file_are_its_bytes(tmp_path):
    path = tmp_path / "file.json"
    path.write_bytes(b"\xef\xbb\xbf" + b"[1]" * 3_000_000)
    assert b"".join(LocalFile(str(path)).blocks()) == b"[1]" * 3_000_000
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert list(LocalFile(str(path)).blocks()) == [b"[1]"]
