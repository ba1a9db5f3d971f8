import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.readers.instants import _from_number, _from_unusual, from_iso, from_seconds

SECOND = 1_772_359_202


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2026-03-01T10:00:02Z", SECOND * 10**9),
        ("2026-03-01T10:00:02.5Z", SECOND * 10**9 + 500_000_000),
        ("2026-03-01T10:00:02.123456789Z", SECOND * 10**9 + 123_456_789),
        ("2026-03-01T10:00:02.1234567891Z", SECOND * 10**9 + 123_456_789),
        ("2026-03-01T12:00:02,25+02:00", SECOND * 10**9 + 250_000_000),
        ("1969-12-31T23:59:59.5Z", -500_000_000),
    ],
)
def test_times_with_a_zone(text, nanoseconds):
    assert from_iso(text) == nanoseconds
    assert from_iso(text) == nanoseconds


@pytest.mark.parametrize(
    "value",
    [None, 3, "", "today", "2026-03-01T10:00:02", "2026-03-01", "9999-12-31T23:59:59Z", "1.5Z"],
)
def test_what_is_no_certain_time(value):
    assert from_iso(value) is None


def test_seconds_since_the_epoch():
    assert from_seconds(SECOND) == SECOND * 10**9
    assert from_seconds(1772359202.123456) == SECOND * 10**9 + 123_456_000
    for value in (None, True, "1", -1, float("nan"), 1e18):
        assert from_seconds(value) is None


@given(
    st.datetimes().map(lambda time: time.isoformat(timespec="microseconds")),
    st.integers(0, 9),
    st.sampled_from(["Z", "+00:00", "+05:30", "-01:00", "+0000", "", " Z", "z", "+00:00:01"]),
    st.sampled_from(["T", " "]),
)
def test_the_usual_form_is_read_as_any_other(time, digits, zone, between):
    text = (f"{time}789"[: 20 + digits] + zone).replace("T", between)
    assert from_iso(text) == _from_unusual(text)


@given(st.text("0123456789-:.+TZ ,W\u0661", min_size=18, max_size=34))
@example("2026-03-01T10:00:02.\u0661Z")
@example("20260301T100002.1234567890Z")
@example("2026-W09-7T10:00:02.5Z")
def test_what_looks_like_a_time_is_read_as_any_other(text):
    assert from_iso(text) == _from_unusual(text)


@given(
    st.floats()
    | st.floats(0, 9_100_000_000)
    | st.integers(0, 2_000_000_000_000_000_000).map(lambda number: number / 10**9)
)
@example(1e-7)
@example(9_000_000_000.0)
@example(-0.0)
def test_a_number_of_seconds_is_read_by_its_digits(value):
    assert from_seconds(value) == _from_number(value)
