"""The overview of a store: counted by hand, kept once, and told to be old when it is."""

import json

import pytest

from app import evaluation_jobs
from app.overview_jobs import is_stale, make_overview, stored_overview
from graphstore.errors import StoreError
from tests.graphstore.query_corpus import GRAPHS, A


def test_an_overview_by_hand(fresh_store):
    fresh_store.write(GRAPHS)
    assert stored_overview(fresh_store) is None
    evaluation_jobs.evaluate(fresh_store)
    report = make_overview(fresh_store)
    document = report.document
    assert report.head.runs == 4
    assert document["counts"]["Run"] == 4
    assert document["counts"]["Evaluation"] == 4
    assert "Report" not in document["counts"]
    assert document["outcomes"] == [
        {"outcome": "failed", "runs": 1},
        {"outcome": "succeeded", "runs": 2},
        {"outcome": "unknown", "runs": 1},
    ]
    assert [row["dataset"] for row in document["datasets"]] == ["alpha", "beta"]
    assert document["roles"][0]["role"] == "orchestrator"
    assert document["unknown_roles"][0]["raw_name"] == "Thinker"
    actions = next(row for row in document["metrics"] if row["metric"] == "actions")
    # Runs of 6, 4, 4 and 2 actions.
    assert actions["known"] == actions["runs"] == 4
    assert len(actions["percentiles"]) == 101
    assert (actions["percentiles"][0], actions["percentiles"][50]) == (2, 4)
    assert actions["percentiles"][100] == 6
    assert stored_overview(fresh_store) == report
    json.dumps(document, allow_nan=False)


def test_it_is_kept_once_and_known_to_be_old(fresh_store):
    fresh_store.write([A])
    first = make_overview(fresh_store)
    again = make_overview(fresh_store)
    assert again == first, "equal stores give equal overviews"
    assert not is_stale(first.document, fresh_store.counts())
    fresh_store.write(GRAPHS)
    assert is_stale(first.document, fresh_store.counts())
    newer = make_overview(fresh_store)
    assert newer.head.report == first.head.report
    assert stored_overview(fresh_store) == newer
    assert fresh_store.counts()["Report"] == 1


def test_an_empty_store_has_an_overview(fresh_store):
    document = make_overview(fresh_store).document
    assert document["counts"] == {}
    assert document["metrics"] == []


def test_a_store_for_reading_keeps_none(open_fresh_store):
    store = open_fresh_store()
    store.write([A])
    store.checkpoint()
    store.close()
    with pytest.raises(StoreError, match="read-only"):
        make_overview(open_fresh_store.again(read_only=True))


def test_the_command(masgraph, one_run, tmp_path):
    store = tmp_path / "s.db"
    assert masgraph("ingest", one_run, "--store", store).code == 0
    done = masgraph("overview", "--store", store)
    assert done.code == 0
    assert done.out == ""
    assert "1 runs and 0 decompositions" in done.err
    document = masgraph("overview", "--store", store, "--json").json()
    assert document["counts"]["Action"] == 3
    assert masgraph("overview", "--store", tmp_path / "none.db").code == 3
    assert masgraph("query", "reports", "--store", store).code == 0


def test_streamlit_knows_every_option_that_is_set():
    pytest.importorskip("streamlit", reason="the dashboard needs the extra ui")
    from streamlit import config

    from app.dashboard.server import streamlit_options

    options = streamlit_options("127.0.0.1", 8501, 200)
    assert set(options) <= set(config.get_config_options())
    assert options["browser.gatherUsageStats"] is False
    assert options["client.showErrorDetails"] == "none"
    assert options["server.enableXsrfProtection"] is True
    assert options["server.fileWatcherType"] == "none"


def test_what_was_rejected_stays_on_record_until_it_is_mended(masgraph, one_run, tmp_path):
    store = tmp_path / "s.db"
    bad = one_run.with_name("bad.json")
    bad.write_text("{")
    assert masgraph("ingest", one_run.parent, "--store", store).code == 1
    kept = masgraph("query", "reports", "-p", "kind=ingest", "--store", store, "--json").json()
    assert len(kept["rows"]) == 1
    report = kept["rows"][0]["report"]
    found = masgraph(
        "query", "report-document", "-p", f"report={report}", "--store", store, "--json"
    ).json()
    (rejected,) = json.loads(found["rows"][0]["document"])["rejected"]
    assert rejected["file"].endswith("bad.json")
    bad.unlink()
    assert masgraph("ingest", one_run.parent, "--store", store).code == 0
    found = masgraph(
        "query", "report-document", "-p", f"report={report}", "--store", store, "--json"
    ).json()
    assert json.loads(found["rows"][0]["document"])["rejected"] == []
