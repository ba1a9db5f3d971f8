import pytest

from analytics.uncertainty import (
    CODE_MEANINGS,
    CODES,
    binomial_standard_error,
    from_components,
    from_seeds,
    from_task_count,
    from_task_sets,
)
from graphstore.errors import UsageError
from tests.analytics.published import OPENMAS_TABLE_17


@pytest.mark.parametrize(("score", "error"), OPENMAS_TABLE_17.values(), ids=OPENMAS_TABLE_17)
def test_the_binomial_errors_of_table_17(score, error):
    assert round(binomial_standard_error(score, 400), 2) == error


def test_a_score_is_printed_with_its_error_and_code():
    assert str(from_task_count(26.75, 400)) == "26.75 (2.21) b"


def test_code_s_is_mean_and_sample_deviation():
    found = from_task_sets([80.0, 82.0, None, 87.0])
    assert (found.score, found.code, found.repetitions) == (83.0, "s", 3)
    assert found.value == pytest.approx(13**0.5)


def test_seeds_with_and_without_a_reference_score():
    with_reference = from_seeds([10.0, 14.0], reference=11.0)
    assert (with_reference.score, with_reference.code) == (11.0, "r")
    without = from_seeds([10.0, 14.0])
    assert (without.score, without.code, without.repetitions) == (12.0, "m", 2)
    assert with_reference.value == without.value == pytest.approx(8**0.5)


def test_code_e_weighs_two_components():
    assert from_components(50.0, 1.0, 2.0).value == pytest.approx(0.7 + 0.6)


def test_each_code_has_a_meaning():
    assert tuple(CODE_MEANINGS) == CODES
    assert "binomial" in from_task_count(50.0, 4).meaning.uncertainty


def test_too_little_is_missing():
    assert from_task_sets([80.0]).value is None
    assert from_task_sets([]).score is None
    assert str(from_task_sets([None])) == "- (-) s"
    assert binomial_standard_error(50.0, 0) is None
    assert binomial_standard_error(100.0, 9) == 0.0


def test_what_is_no_percentage_is_refused():
    for call in (
        lambda: binomial_standard_error(101.0, 4),
        lambda: binomial_standard_error(float("nan"), 4),
        lambda: binomial_standard_error(1.0, -1),
        lambda: from_components(1.0, -1.0, 0.0),
    ):
        with pytest.raises(UsageError):
            call()
