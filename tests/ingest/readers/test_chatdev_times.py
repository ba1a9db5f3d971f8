"""The times of a ChatDev log."""

from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.readers.chatdev_times import date_order, local_time

FORMS = {"year-day-month": "%Y-%d-%m %H:%M:%S", "year-month-day": "%Y-%m-%d %H:%M:%S"}


def digits(least, most):
    return st.text(alphabet="0123456789\u0661", min_size=least, max_size=most)


@pytest.mark.parametrize("order", FORMS)
@given(
    year=st.one_of(st.just("2023"), digits(4, 4)),
    one=digits(1, 2),
    other=digits(1, 2),
    hour=digits(1, 2),
    minute=digits(2, 2),
    second=digits(2, 2),
)
@example(year="2023", one="26", other="07", hour="12", minute="11", second="45")
@example(year="2023", one="7", other="7", hour="1", minute="00", second="60")
@example(year="0000", one="7", other="7", hour="1", minute="00", second="00")
def test_a_time_is_what_strptime_says(order, year, one, other, hour, minute, second):
    text = f"{year}-{one}-{other} {hour}:{minute}:{second}"
    try:
        expected = datetime.strptime(text, FORMS[order]).isoformat()
    except ValueError:
        expected = None
    assert local_time(text, order) == expected


def test_the_order_of_dates():
    assert date_order("", ["2023-26-07 12:00:00", "2023-01-02 12:00:00"]) == "year-day-month"
    assert date_order("", ["2023-07-26 12:00:00"]) == "year-month-day"
    assert date_order("", ["2023-07-06 12:00:00"]) is None
    started = "**ChatDev Starts** (20230706120000)"
    assert date_order(started, ["2023-06-07 12:00:00"]) == "year-day-month"
    assert date_order(started, ["2023-07-06 12:00:00"]) == "year-month-day"
    assert local_time("2023-07-06 12:00:00", None) is None
