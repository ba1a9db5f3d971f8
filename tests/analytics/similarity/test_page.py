"""The examples of the page are run."""

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_examples_of_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    result = doctest.testfile(str(ROOT / "docs" / "similarity.md"), module_relative=False)
    assert result.attempted >= 12
    assert result.failed == 0
