"""Reports that jobs keep in a store."""

import pytest

from app.jobs import Selection
from app.stored_reports import read_report, report_heads, save_report
from graphstore.errors import NotFoundError
from graphstore.store import open_store

DOCUMENT = {"rows": [{"method": "pair", "score": None}], "note": "two ' quotes \" and ü"}


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / "s.db")) as opened:
        yield opened


def test_a_report_comes_back_as_it_was_saved(store):
    selection = Selection(method="pair")
    name = save_report(
        store, "overview", "All", {"seed": 1}, DOCUMENT, selection=selection, runs=3
    )
    found = read_report(store, name)
    assert found.document == DOCUMENT
    assert found.configuration == {"seed": 1}
    assert (found.head.kind, found.head.name, found.head.runs) == ("overview", "All", 3)
    assert found.head.selection == selection


def test_the_same_question_overwrites_and_another_one_does_not(store):
    def save(seed, selection, runs):
        return save_report(
            store, "overview", "All", {"seed": seed}, {}, selection=selection, runs=runs
        )

    first = save(1, Selection(), 1)
    assert save(1, Selection(), 2) == first
    others = {save(2, Selection(), 3), save(1, Selection(task="t"), 4)}
    assert len(others | {first}) == 3
    heads = report_heads(store)
    assert sorted(head.runs for head in heads) == [2, 3, 4]
    assert report_heads(store, "trajectories") == []


def test_a_report_that_is_not_there(store):
    with pytest.raises(NotFoundError, match="no report 'nothing'"):
        read_report(store, "nothing")
