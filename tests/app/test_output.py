import pytest

from app.output import show


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (True, "yes"),
        (1234567, "1,234,567"),
        (999_999_999_999_999, "999,999,999,999,999"),
        (10**15, "1e+15"),
        (10**400, "1.000e+400"),
        (-(2**70), "-1.181e+21"),
        (0.123456, "0.1235"),
        (1234567.8, "1,234,568"),
        (1e300, "1e+300"),
        (-1.23456e20, "-1.235e+20"),
        (float("inf"), "inf"),
    ],
)
def test_a_cell_never_holds_hundreds_of_digits(value, shown):
    assert show(value) == shown
