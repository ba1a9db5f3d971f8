"""Each page, in each of its states, on both stores."""

import pytest

from app.dashboard import settings
from app.jobs import Selection
from app.stored_reports import save_report
from tests.app.dashboard.conftest import PAGES, open_page

pytestmark = pytest.mark.xdist_group("dashboard")


def first(store, cypher, **parameters):
    return store.query(cypher, parameters).rows[0][0]


@pytest.fixture
def ids(full):
    return {
        "run": first(full, "MATCH (r:Run) RETURN r.id AS id ORDER BY id LIMIT 1"),
        "decomposition": first(
            full, "MATCH (r:Decomposition) RETURN r.id AS id ORDER BY id LIMIT 1"
        ),
        "motif": first(
            full,
            "MATCH (m:Motif) WHERE m.scope = 'run' RETURN m.id AS id "
            "ORDER BY m.task_support DESC, id LIMIT 1",
        ),
    }


@pytest.mark.parametrize("page", PAGES)
def test_each_page_opens(opened, page):
    shown = opened(page).check()
    assert len(shown.test.main) > 1


@pytest.mark.parametrize("part", ["Contents", "Outcomes", "Health", "Results"])
def test_overview(opened, part):
    shown = opened("", part=part).check()
    assert shown.test.query_params.get("part", "Contents") == part
    assert shown.test.dataframe
    assert len(shown.test.get("download_button")) >= 2


def test_overview_counts_what_is_there(opened, full):
    frame = opened("").check().test.dataframe[0].value
    assert list(frame["dataset"]) == ["numbers"]
    assert list(frame["runs"]) == [full.counts()["Run"]]
    assert any("<span>runs</span>" in body for body in opened("").html)


def test_runs_are_filtered_by_the_address(opened):
    shown = opened("runs", outcome="failed", method="method plain").check()
    frame = shown.test.dataframe[0].value
    assert list(frame.columns)[:4] == ["task", "method", "outcome", "score"]
    assert list(frame.columns)[-1] == "run"
    assert set(frame["outcome"]) == {"failed"}
    assert set(frame["method"]) == {"method plain"}
    assert len(frame) == 3
    shown.test.selectbox(key="outcome").select("succeeded").run()
    # A browser would write it into the address as well: tests/browser looks at that.
    assert set(shown.test.dataframe[0].value["outcome"]) == {"succeeded"}


def test_a_run_opened_from_a_filtered_list_leads_back_to_it(opened):
    shown = opened("runs", outcome="failed", method="method plain", sort="score", up="true")
    rows = shown.check().test.dataframe[0].value
    shown.test.selectbox(key="outcome").select("succeeded").run()
    shown.test.selectbox(key="outcome").select("failed").run()
    opener = next(one for one in shown.test.selectbox if one.label == "Open")
    opener.select(opener.options[1].partition(":")[0])
    next(one for one in shown.test.button if one.label == "Open").click().run()
    address = dict(shown.check().test.query_params)
    assert "failed" in str(address["list"])
    # As after a reload: nothing is known but the address.
    again = opened(
        "runs", **{name: one[0] if isinstance(one, list) else one
                   for name, one in address.items() if name in ("run", "list")}
    ).check()  # fmt: skip
    back = next(one for one in again.test.button if one.label == "Back to the list")
    back.click().run()
    assert again.check().test.dataframe[0].value.equals(rows)
    assert again.test.selectbox(key="method").value == "method plain"
    for forged in ("method=nosuch&page=x&up=3", "kind=x", "sort=nosuch&page=99999", "a=b&;;"):
        shown = opened("runs", run="nothing", list=forged)
        shown.test.button[0].click().run()
        assert shown.check().test.dataframe, forged


def test_runs_are_sorted_and_found_by_task(opened):
    frame = opened("runs", sort="score", task="plain").check().test.dataframe[0].value
    assert list(frame["score"]) == sorted(frame["score"], reverse=True)
    frame = (
        opened("runs", sort="score", up="true", task="PLAIN 1").check().test.dataframe[0].value
    )
    assert list(frame["score"]) == [0.1, 0.4]


def test_a_filter_that_nothing_fits(opened):
    shown = opened("runs", task="no such task").check()
    assert any("no run fits" in words.lower() for words in shown.kinds("empty"))
    assert not shown.test.dataframe


def test_decompositions_are_listed(opened):
    frame = opened("runs", kind="Decompositions").check().test.dataframe[0].value
    assert len(frame) == 7


@pytest.mark.parametrize("part", ["Graph", "Timeline", "Transcript", "Metrics", "Tree"])
@pytest.mark.parametrize("kind", ["run", "decomposition"])
def test_an_open_graph(opened, ids, part, kind):
    shown = opened("runs", run=ids[kind], part=part, action=1, marked="0,2").check()
    assert any("Action 1" in body for body in shown.html)
    if part in ("Graph", "Timeline"):
        assert len(shown.figures) == 1
    if part == "Graph":
        assert opened("runs", run=ids[kind], nodes="agents").check()


def test_the_transcript_is_searched(opened, ids):
    shown = opened(
        "runs", run=ids["run"], part="Transcript", find="DECISION or nothing"
    ).check()
    assert any("no action holds" in words.lower() for words in shown.kinds("empty"))
    shown = opened("runs", run=ids["run"], part="Transcript", find="it is").check()
    assert sum("<mark>It is</mark>" in body for body in shown.html) == 1


def test_metrics_have_a_percentile(opened, ids):
    frame = opened("runs", run=ids["run"], part="Metrics").check().test.dataframe[0].value
    assert "density" in list(frame["metric"])
    assert frame["percentile"].between(0, 1).all()
    assert set(frame["runs compared"]) == {14}


def test_motifs(opened, ids):
    shown = opened("motifs").check()
    assert shown.figures
    assert opened("motifs", part="Types").check()
    assert opened("motifs", part="Rules").check()
    shown = opened("motifs", motif=ids["motif"]).check()
    assert len(shown.figures) == 2
    assert len(shown.test.dataframe) == 2
    link = shown.test.get("page_link")[0].proto
    assert "marked=" in link.query_string
    assert "run=" in link.query_string


def test_coverage_where_a_report_says_so(opened, full):
    shown = opened("motifs", part="Coverage").check()
    assert shown.kinds("empty")
    curve = [
        {"measure": measure, "size": size, "mean": size / 10, "low": None, "high": None,
         "interval": [0.1, 0.9], "libraries": 1}
        for measure in ("patterns", "rules")
        for size in (2, 4, 8)
    ]  # fmt: skip
    save_report(
        full, "coverage", "coverage of 8", {"seed": 1}, {"curve": curve},
        selection=Selection(), runs=8,
    )  # fmt: skip
    from app.dashboard import connection

    connection.close_all()
    shown = opened("motifs", part="Coverage").check()
    assert len(shown.figures) == 1
    assert len(shown.test.dataframe[0].value) == 6


def test_a_saved_question_is_answered(opened):
    shown = opened("cypher", query="actions-by-role").check()
    frame = shown.test.dataframe[0].value
    assert "orchestrator" in list(frame["role"])
    assert opened("cypher", query="actions-by-role", form="Chart").check().figures
    assert opened("cypher", query="who-talks-to-whom", form="Graph").check().figures


def test_a_question_of_ones_own(opened, full):
    shown = opened(
        "cypher", cypher="MATCH (r:Run) WHERE r.success = $ok RETURN count(r) AS n",
        parameters='{"ok": true}',
    ).check()  # fmt: skip
    assert not shown.test.dataframe, "a link asks nothing by itself"
    shown.test.button[0].click().run()
    assert list(shown.check().test.dataframe[0].value["n"]) == [7]
    shown.test.text_input(key="parameters").input("[1]")
    shown.test.button[0].click().run()
    assert any("JSON object" in words for words in shown.kinds("error"))


def test_a_question_that_needs_a_parameter(opened, ids):
    shown = opened("cypher", query="run-transcript").check()
    assert not shown.test.dataframe
    shown.test.button[0].click().run()
    assert any("needs the parameter run" in words for words in shown.kinds("error"))
    shown = opened("cypher", **{"query": "run-transcript", "p-run": ids["run"]}).check()
    assert len(shown.test.dataframe[0].value) == 4


def test_what_does_not_exist_is_one_sentence(opened):
    for page, parameters in (
        ("runs", {"run": "nothing"}),
        ("motifs", {"motif": "nothing"}),
    ):
        shown = opened(page, **parameters)
        assert not shown.test.exception
        assert len(shown.kinds("error")) == 1


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("runs", {"method": "nosuch"}),
        ("runs", {"kind": "nosuch"}),
        ("", {"part": "nosuch"}),
        ("cypher", {"query": "nosuch"}),
        ("forests", {"rows": "nosuch"}),
        ("forests", {"rows": "999999"}),
        ("forests", {"rows": "-5"}),
    ],
)
def test_a_stale_address_says_so(opened, page, parameters):
    shown = opened(page, **parameters).check()
    (value,) = parameters.values()
    assert sum(value in words for words in shown.kinds("warning")) == 1
    good = opened("runs", method="method plain", kind="Runs").check()
    assert not good.kinds("warning")


def test_an_error_keeps_the_name_that_it_begins_with(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demod").mkdir()
    settings.configure(settings.Settings(store="demod"))
    (sentence,) = open_page("runs").kinds("error")
    assert "demod" in sentence
    assert "Demod" not in sentence
    assert not sentence.endswith((":", ":."))
