"""Every example belongs to one reader: the one of its format, whatever the file is called."""

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.pipeline import read
from ingest.reader import SAMPLE_BYTES, Rejection
from ingest.readers.decoding import has_key
from ingest.readers.sample_json import keys
from ingest.registry import BUILT_IN, default_registry
from tests.ingest.reading import FORMATS

EXAMPLES = FORMATS.parent
TOLD = {
    "formats/messages-table/kitchen.tsv",
}
"""Tables whose columns have names of their own: only ``--format`` can tell them."""

BESIDE = ("chatdev-config", "dylan", "masgraph-parquet")
"""Formats that read what lies beside a file, by its name."""

EXPORTS = ("masgraph-json", "masgraph-graphml", "masgraph-gexf")
"""Formats whose graphs keep the format that they had before they were exported."""

READERS = default_registry().readers()

KEYS_BESIDE = (
    *(
        "agents",
        "chain",
        "checkpoint",
        "config",
        "content",
        "data",
        "edges",
        "event_type",
        "id",
    ),
    *(
        "info",
        "input",
        "links",
        "messages",
        "name",
        "ns",
        "parents",
        "result",
        "session",
        "tools",
    ),
    *("triggers", "type", "workflow"),
)
"""Keys that some readers ask for beside those that tell their files."""

OF_TRACES = {
    "chain.otlp.ndjson": "otlp",
    "debate.jsonl": "native",
    "single.jsonl": "native",
    "orchestrator.jsonl": "native",
    "orchestrator": "whowhen-handcrafted",
}


def examples():
    files = [path for path in sorted(FORMATS.rglob("*")) if path.is_file()]
    files += [path for path in sorted((EXAMPLES / "traces").rglob("*")) if path.is_file()]
    files += [
        path for path in sorted((EXAMPLES / "decompositions").rglob("*")) if path.is_file()
    ]
    return [
        str(path.relative_to(EXAMPLES)) for path in files if not path.match("*.mapping.toml")
    ]


def format_of(name):
    parts = Path(name).parts
    if parts[0] == "formats":
        return parts[1]
    return "native" if parts[0] == "decompositions" else OF_TRACES[parts[1]]


def claims(sample):
    return [reader.format for reader in default_registry().readers() if reader.sniff(sample)]


def test_readers_that_are_not_asked_would_not_claim_an_example():
    registry = default_registry()
    for name in examples():
        content = (EXAMPLES / name).read_bytes()[:SAMPLE_BYTES]
        for part in range(1, 9):
            sample = content[: len(content) * part // 8]
            assert [reader.format for reader in registry.claims(sample)] == claims(sample)


TOLD_BY = sorted(
    {
        key
        for reader in READERS
        for said in ("telling_keys", "telling_keys_of_objects")
        for key in getattr(reader, said, ())
    }
)
BEGINNINGS = [
    b"\n", b" ", b"}", b"[", b'"', b":", b",", b"x", b"---------- a ----------\n",
    b"[2024-01-01 00:00:00 INFO] ", b"**[Preprocessing]**", b"sender,receiver,content\n",
    b"TaskResult(messages=[", b"[True] 1.0\n", b"<graphml", b'"eval"', b'"tokens"',
    b'"model_size": 1,', b'"id": 1, "dep": [-1], ', b'"resourceSpans": [', b"PAR1",
    b"PK\x03\x04",
]  # fmt: skip
"""Pieces of files of the formats that are no JSON objects."""
VALUES = st.recursive(
    st.sampled_from([None, True, 1, "", "user", "task", "message", "on_chain_start", "system"]),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.sampled_from([*TOLD_BY, *KEYS_BESIDE]), inside, max_size=5)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_readers_that_are_not_asked_would_not_claim_other_json(value):
    sample = json.dumps(value).encode()
    assert [reader.format for reader in default_registry().claims(sample)] == claims(sample)
    escaped = re.sub(rb"(?<=\")[a-z]", lambda found: b"\\u%04x" % found[0][0], sample)
    assert [reader.format for reader in default_registry().claims(escaped)] == claims(escaped)


@given(st.lists(st.sampled_from(BEGINNINGS), max_size=8).map(b"".join))
def test_readers_that_are_not_asked_would_not_claim_what_only_begins_like_an_object(rest):
    sample = b"{" + rest
    assert [reader.format for reader in default_registry().claims(sample)] == claims(sample)


def test_every_built_in_format_has_an_example():
    assert set(BUILT_IN) - {format_of(name) for name in examples()} == set()


@pytest.mark.parametrize("name", examples())
def test_one_reader_claims_an_example(name):
    sample = (EXAMPLES / name).read_bytes()[:SAMPLE_BYTES]
    assert claims(sample) == ([] if name in TOLD else [format_of(name)])


@pytest.mark.parametrize("name", examples())
def test_a_sample_that_is_cut_has_no_second_reader(name):
    content = (EXAMPLES / name).read_bytes()
    for part in range(1, 12):
        found = claims(content[: min(len(content), SAMPLE_BYTES) * part // 12])
        assert found in ([], [format_of(name)]), f"cut at {part} of 12"


def test_names_and_compression_change_nothing(tmp_path):
    for place, name in enumerate(
        sorted({format_of(name): name for name in examples()}.values())
    ):
        if name in TOLD or format_of(name) in BESIDE:
            continue
        for ending in (".txt", ".otlp.ndjson", ""):
            copy = tmp_path / f"copy{place}{ending}"
            shutil.copy(EXAMPLES / name, copy)
            graphs = [item for item in read(copy) if not isinstance(item, Rejection)]
            assert formats_in(graphs, name) == {format_of(name)}
        packed = tmp_path / f"packed{place}.json"
        packed.write_bytes(gzip.compress((EXAMPLES / name).read_bytes()))
        graphs = [item for item in read(packed) if not isinstance(item, Rejection)]
        assert formats_in(graphs, name) == {format_of(name)}


def formats_in(graphs, name):
    found = {graph.source.format for graph in graphs}
    return {format_of(name)} if found and format_of(name) in EXPORTS else found


def test_keys_are_found_once_and_not_in_texts():
    sample = rb'{"a": "b", "text": "{\"quoted\": 1, \"b\": 2}", "c" : [{"d":1}], "e'
    assert keys(sample) == {b"a", b"text", b"c", b"d"}
    assert has_key(sample, "d")
    assert not has_key(sample, "quoted")
    assert keys(sample) is keys(sample)
