import pytest

from ingest.readers.instants import from_iso, from_seconds

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
