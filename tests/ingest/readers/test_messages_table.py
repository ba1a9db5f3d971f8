"""Tables of messages: CSV and Parquet, known names and mapped ones."""

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet
import pytest

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph
from ingest.files import LocalFile
from ingest.finding import find_files
from ingest.pipeline import read
from ingest.reader import ReadContext
from ingest.readers.messages_table import MESSAGES_TABLE
from ingest.readers.table_mapping import _TEXTS, NAMES, Mapping, parse, places
from ingest.roles import RoleTable
from tests.ingest.mutations import assert_survives, cuts
from tests.ingest.reading import (
    FORMATS,
    agents,
    claimed_by,
    contents,
    edges,
    read_all,
    read_one,
    receivers,
    tokens,
)

FOLDER = FORMATS / "messages-table"
STAGE = (FOLDER / "stage.csv").read_bytes()
SIX = 1_772_388_000 * 10**9
"""2026-03-01T18:00:00Z."""


def read_file(path):
    context = ReadContext(role_of=RoleTable.default().role_of)
    return list(MESSAGES_TABLE.read(LocalFile(str(path)), context))


def test_two_runs_by_hand():
    one, two = read_all(MESSAGES_TABLE, STAGE)
    assert [graph.source.record for graph in (one, two)] == ["one", "two"]
    assert agents(one) == ["director", "ann", "ben"]
    assert contents(one) == ["Lights, please.", 'Warm or "cold"?', "Warm,\nand low.", "Done."]
    assert [receivers(one, node) for node in one.nodes] == [
        [],
        ["director"],
        ["ann", "ben"],
        ["director", "ann"],
    ]
    deliveries = [None, "explicit", "explicit", "broadcast"]
    assert [node.delivery for node in one.nodes] == deliveries
    assert edges(one) == [(0, 1, "explicit"), (1, 2, "delivered"), (2, 3, "delivered")]
    assert [node.started_at - SIX for node in one.nodes] == [0, 2 * 10**9, 4 * 10**9, 8 * 10**9]
    assert tokens(one) == (0, 12)
    assert one.nodes[1].tokens_out is None
    assert one.nodes[0].attributes == {"id": "m1", "mood": "calm"}
    assert one.task.name == "light a stage"
    assert one.task.id == two.task.id
    assert two.nodes[0].started_at is None
    assert two.nodes[0].attributes["time"] == "tomorrow"
    assert one.source.warnings == ()


def test_a_mapping_beside_the_table():
    (graph,) = read_file(FOLDER / "kitchen.tsv")
    assert agents(graph) == ["chef", "cook"]
    assert receivers(graph, graph.nodes[0]) == ["cook"]
    assert graph.nodes[0].delivery == "broadcast"
    assert graph.nodes[0].started_at == SIX - 3600 * 10**9
    assert [node.round for node in graph.nodes] == [0, 1]
    assert edges(graph) == [(0, 1, "delivered")]
    assert graph.method.name == "kitchen brigade"


def test_the_mapping_is_no_trace_of_its_own():
    assert [file.path for file in find_files([FOLDER])] == [
        str(FOLDER / "kitchen.tsv"),
        str(FOLDER / "stage.csv"),
    ]


def test_one_mapping_for_a_folder_and_another_run_for_another_mapping(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("who,text,to\na,Hi,b\n")
    with pytest.raises(InputError, match="no column is known to hold the sender"):
        read_file(table)
    shared = tmp_path / "messages.mapping.toml"
    shared.write_text('[columns]\nsender = "who"\n')
    (first,) = read_file(table)
    shared.write_text('[columns]\nsender = "who"\n[options]\nmethod = "pairs"\n')
    (second,) = read_file(table)
    assert first.id != second.id
    assert (first.method, second.method.name) == (None, "pairs")


def test_a_number_that_is_none_is_an_empty_cell(tmp_path):
    path = tmp_path / "m.parquet"
    columns = {
        "sender": [1.5, float("nan")],
        "receiver": [float("nan"), 1.5],
        "content": ["Hi", "Ho"],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    graph = next(item for item in read(path) if isinstance(item, CollaborationGraph))
    assert contents(graph) == ["Hi", "Ho"]
    assert [agent.name for agent in graph.agents] == ["1.5"]
    assert [node.agent for node in graph.nodes] == [graph.agents[0].id, None]


def test_parquet_is_the_same_table(tmp_path):
    path = tmp_path / "m.parquet"
    frame = pandas.DataFrame(
        {
            "sender": ["a", "b", "a"],
            "receiver": [["b"], ["a", "c"], None],
            "time": pandas.to_datetime(["2026-03-01T18:00:00.000000007Z"] * 3, utc=True),
            "content": ["Hi", "Ho", None],
            "tokens_in": [3.0, None, 4.0],
            "note": [1.5, None, 2.0],
        }
    )
    frame.to_parquet(path)
    (graph,) = read_file(path)
    assert contents(graph) == ["Hi", "Ho", None]
    assert [receivers(graph, node) for node in graph.nodes] == [["b"], ["a", "c"], []]
    assert edges(graph) == [(0, 1, "delivered"), (1, 2, "delivered")]
    assert tokens(graph) == (7, 0)
    assert graph.nodes[1].tokens_in is None
    assert graph.nodes[0].started_at == SIX + 7
    assert [node.attributes for node in graph.nodes] == [{"note": 1.5}, {}, {"note": 2}]
    data = path.read_bytes()
    assert claimed_by(data) == ["messages-table"]
    for content in (data[:200], data[:40], b"PAR1"):
        with pytest.raises(InputError, match="damaged"):
            read_all(MESSAGES_TABLE, content)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2026-03-01T18:00:00Z", SIX),
        ("2026-03-01T19:00:00+01:00", SIX),
        ("1772388000", SIX),
        ("1772388000.5", SIX + 5 * 10**8),
        ("1772388000000", SIX),
        ("1772388000000000", SIX),
        (str(SIX), SIX),
        ("12.5", None),
        ("2026-03-01 18:00:00", None),
        ("soon", None),
        ("", None),
    ],
)
def test_times(cell, expected):
    graph = read_one(MESSAGES_TABLE, f"sender,time,content\na,{cell},x\n".encode())
    assert graph.nodes[0].started_at == expected
    assert ("time" in graph.nodes[0].attributes) == (expected is None and cell != "")


def test_delimiters_lists_and_missing_receivers():
    for delimiter in ",;\t|":
        rows = [["from", "to", "text"], ["a", '"[""b"", ""c""]"', "x"], ["b", "", "y"]]
        content = "\r\n".join(delimiter.join(row) for row in rows).encode()
        graph = read_one(MESSAGES_TABLE, content)
        assert [receivers(graph, node) for node in graph.nodes] == [["b", "c"], []]
    graph = read_one(MESSAGES_TABLE, b"from,when,run,message\na,,,x\nb,,,y\n")
    assert edges(graph) == []
    assert len(graph.source.warnings) == 2


def test_repeated_ids_answers_kinds_and_extra_cells():
    content = (
        b"id,reply_to,kind,status,sender,to,content\n"
        b"1,,tool,failed,a,b,x\n"
        b"1,,tool,failed,a,b,x\n"
        b"2,9,dance,odd,b,a,y\n"
        b"2,1,decision,,b,a,z,more\n"
    )
    graph = read_one(MESSAGES_TABLE, content)
    assert contents(graph) == ["x", "y", "z"]
    assert [node.kind for node in graph.nodes] == ["tool_call", "agent_message", "decision"]
    assert graph.nodes[0].status == "error"
    assert graph.nodes[1].attributes == {"id": "2", "kind": "dance", "status": "odd"}
    assert graph.nodes[2].attributes["extra_cells"] == ["more"]
    assert edges(graph) == [(0, 1, "delivered"), (0, 2, "explicit")]
    assert len(graph.source.warnings) == 4


def test_a_short_row_says_so():
    graph = read_one(MESSAGES_TABLE, b"sender,receiver,message\na,b,x\n1,b\n2,a\n")
    assert contents(graph) == ["x", None, None]
    (warning,) = [one for one in graph.source.warnings if "fewer cells" in one]
    assert "(2 such rows, the first in line 3)" in warning


@pytest.mark.parametrize(
    ("header", "both"),
    [
        (b"sender,sender,receiver,message", "column 1, 'sender', and column 2, 'sender',"),
        (b"sender,receiver,message,Sender", "column 1, 'sender', and column 4, 'Sender',"),
    ],
)
def test_two_columns_of_one_name_are_refused(header, both):
    with pytest.raises(InputError) as refused:
        read_one(MESSAGES_TABLE, header + b"\na,b,c,d\n")
    assert f"{both} could all hold the sender" in refused.value.reason


def test_a_mapping_that_is_no_file_is_an_error(tmp_path):
    table = tmp_path / "chat.csv"
    table.write_text("sender,message,to\nanna,Hi,bert\n")
    for make in (Path.mkdir, lambda path: os.mkfifo(path), lambda path: path.symlink_to("no")):
        mapping = tmp_path / "chat.csv.mapping.toml"
        make(mapping)
        (rejection,) = paths_read(table)
        assert (rejection.file, rejection.record) == (str(table), None)
        assert f"{mapping} cannot be used: the mapping is no file" in rejection.reason
        mapping.rmdir() if mapping.is_dir() else mapping.unlink()


def test_no_row_is_lost():
    rows = sum(len(graph.nodes) for graph in read_all(MESSAGES_TABLE, STAGE))
    assert rows == len(pandas.read_csv(FOLDER / "stage.csv"))


def test_names_of_columns():
    assert places(["From", "prompt tokens", "Message-ID", "x"], Mapping()) == {
        "sender": 0,
        "tokens_in": 1,
        "id": 2,
    }
    mapping = parse('[columns]\nreceiver = "from"\n', "m.toml")
    assert places(["from", "author"], mapping) == {"receiver": 0, "sender": 1}


@pytest.mark.parametrize(
    "text",
    [
        "oops",
        '[columns]\nx = "a"',
        "[columns]\nsender = 3",
        "[other]",
        "[options]\nspeed = 3",
        '[options]\ntime_unit = "h"',
        '[options]\ntime_zone = "Mars/North"',
        '[options]\neverybody = "all"',
        '[options]\nreceiver_separator = ""',
    ],
)
def test_a_mapping_that_says_something_unknown(text):
    with pytest.raises(InputError, match=r"m\.toml"):
        parse(text, "m.toml")


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"a,b,c\n", b"sender,content\n", b'sender,content\na,"x', b"\xff\xfe,\n"],
)
def test_what_is_no_table_is_an_error(content):
    with pytest.raises(InputError):
        read_all(MESSAGES_TABLE, content)


def test_sniffing_and_damage():
    assert claimed_by(STAGE) == ["messages-table"]
    for cut in cuts(STAGE):
        MESSAGES_TABLE.sniff(cut)
    for text in (
        b"name,price,time\n",
        b"Dear, from me, a message\n",
        b"a message to you\n",
    ):
        assert not MESSAGES_TABLE.sniff(text)
    assert assert_survives(MESSAGES_TABLE, STAGE) > 0


def test_the_constant_is_six_o_clock():
    assert datetime(2026, 3, 1, 18, tzinfo=UTC).timestamp() * 10**9 == SIX


PAGE = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")


def paths_read(path, format="auto"):
    return list(read(path, format=format))


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_on_tables_as_it_stands(tmp_path):
    plain, chat = blocks("csv")
    (mapping,) = blocks("toml")
    (tmp_path / "plain.csv").write_text(plain)
    (graph,) = paths_read(tmp_path / "plain.csv")
    assert contents(graph) == ["Write two lines on tides.", "They come and they go."]
    table = tmp_path / "chat.csv"
    table.write_text(chat)
    (rejection,) = paths_read(table)
    assert f"name its columns in {table}.mapping.toml" in rejection.reason
    beside = tmp_path / "chat.csv.mapping.toml"
    beside.write_text(mapping)
    (rejection,) = paths_read(table)
    assert str(beside) in rejection.reason
    assert "--format messages-table" in rejection.reason
    (graph,) = paths_read(table, format="messages-table")
    assert agents(graph) == ["anna", "bert"]
    assert [receivers(graph, node) for node in graph.nodes] == [["bert"], ["anna"]]
    for field in NAMES:
        assert f"`{field}`" in PAGE
    for option in ("everybody", *_TEXTS):
        assert f"`{option}`" in PAGE


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        (b"[columns\n", "the mapping is no TOML"),
        (b"\xff\xfe", "the mapping is not UTF-8 text"),
        (b'[columns]\nwho = "a"\n', "unknown field 'who'"),
        (
            b'[columns]\nsender = "von"\ncontent = "von"\n',
            "gives the column 'von' to both sender and content",
        ),
        (b'[columns]\nsender = "nobody here"\n', "the column 'nobody here'"),
    ],
)
def test_a_broken_mapping_is_named_with_its_table(tmp_path, mapping, reason):
    table = tmp_path / "chat.csv"
    table.write_text("von,nachricht,an\nanna,Hi,bert\n")
    (tmp_path / "chat.csv.mapping.toml").write_bytes(mapping)
    (rejection,) = paths_read(table, format="messages-table")
    assert rejection.file == str(table)
    assert reason in rejection.reason
    assert (
        "chat.csv.mapping.toml" in rejection.reason or "the mapping names" in rejection.reason
    )


def test_plain_text_gets_no_advice_on_tables(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Hello, world\nand more\n")
    (rejection,) = paths_read(path)
    assert "messages-table" not in rejection.reason
