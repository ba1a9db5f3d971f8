"""What the readers of JSON files share."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.readers.decoding import short_name


@given(
    st.text(alphabet=" ab\t\n\x1c\x85\xa0\u2028\u3000\u00e9\U0001f600", max_size=20),
    st.integers(3, 12),
)
def test_a_short_name_is_the_first_line_that_says_something_cut_at_a_word(text, length):
    line = next(filter(None, map(str.strip, text.splitlines())), "")
    name = short_name(text, length)
    if len(line) <= length:
        assert name == line
        return
    assert len(name) <= length
    kept = name.removesuffix("\u2026")
    assert kept != name
    assert line.startswith(kept)
    assert kept == kept.rstrip()
