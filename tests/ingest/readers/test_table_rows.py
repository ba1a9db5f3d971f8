"""The first line of a table: its delimiter, its names, and what it may name."""

from hypothesis import example, given
from hypothesis import strategies as st

from ingest.readers.table_mapping import NAMES, Mapping, may_name, places
from ingest.readers.table_rows import DELIMITERS, _cells, header_of

LINES = st.lists(
    st.sampled_from(
        [
            *DELIMITERS,
            '"',
            "'",
            " ",
            "\r",
            "\0",
            "\x0b",
            "\u2028",
            "a",
            "from",
            "con",
            "tent",
            "Text",
        ]
    ),
    max_size=12,
).map("".join)


@given(LINES)
@example("")
@example("a;b;c,d,e")
def test_a_line_without_quotes_is_parted_as_csv_parts_it(line):
    parted = [(delimiter, _cells(line, delimiter)) for delimiter in DELIMITERS]
    assert header_of(line) == max(parted, key=lambda pair: len(pair[1]))


@given(LINES)
def test_a_line_names_no_field_that_it_may_not_name(line):
    found = places(header_of(line)[1], Mapping())
    assert {field for field in NAMES if may_name(line, field)} >= found.keys()
