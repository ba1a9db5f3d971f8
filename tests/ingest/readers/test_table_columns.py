"""The columns of a table: what is read at a glance is what is read cell by cell."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.table_columns import Columns
from ingest.readers.table_mapping import Mapping, places
from ingest.readers.table_rows import Rows

HEADER = ["run", "from", "to", "time", "content", "tokens in", "id", "mood", "mood", ""]
CELLS = st.sampled_from(["", " ", "\u3000", "a", " a\n", "a; b", '["a", "b"]', "*", "3"])
TABLES = st.lists(
    st.lists(CELLS, min_size=len(HEADER), max_size=len(HEADER)), min_size=1, max_size=6
)


def columns(rows: list[list[str]], *, are_texts: bool) -> Columns:
    table = Rows(HEADER, "line", iter(enumerate(rows, 2)), are_texts)
    return Columns(table, places(HEADER, Mapping()), Mapping())


@given(TABLES)
def test_whole_rows_of_texts_are_read_as_any_cells_are(rows):
    quick, careful = (columns(rows, are_texts=known) for known in (True, False))
    assert quick.messages == careful.messages
    assert quick.runs == careful.runs
    for row in range(len(rows)):
        assert quick.others(row) == careful.others(row)
        assert quick.plain_cells(row) == careful.plain_cells(row) == rows[row]


@given(TABLES)
def test_a_short_row_changes_no_other_row(rows):
    whole = columns(rows, are_texts=True)
    with_short = columns([*rows, ["x", "y"]], are_texts=True)
    assert with_short.messages[:-1] == whole.messages
    assert [with_short.others(row) for row in range(len(rows))] == [
        whole.others(row) for row in range(len(rows))
    ]
    assert with_short.messages[-1] == ("y", (), *[None] * 9)
