import json
import xml.etree.ElementTree

import pytest

from app.perturbation_jobs import drawn_graphs
from app.stored_reports import read_report, report_heads
from graphstore.store import open_store
from tests.teams import team_runs

SVG = "{http://www.w3.org/2000/svg}"
QUICK = ("--measure", "forest", "--rates", "0.2,0.6", "--repeats", "1", "--draws", "200")


@pytest.fixture
def store(masgraph, tmp_path):
    path = tmp_path / "masgraph.db"
    with open_store(str(path)) as made:
        made.write(team_runs(4, 2, 2))
    return path


def test_perturb_as_json_and_as_a_report(masgraph, store):
    done = masgraph("perturb", *QUICK, "--json")
    assert done.code == 0, done.err
    document = done.json()
    assert (document["graphs"], document["tasks"]) == (8, 4)
    assert len(document["responses"]) == 9 * 6
    drop = document["responses"][0]
    assert (drop["quantity"], drop["edit"], drop["verdict"]) == ("forest", "drop", "falls")
    assert [point["rate"] for point in drop["points"]] == [0.0, 0.2, 0.6]
    with open_store(str(store), read_only=True) as opened:
        (head,) = report_heads(opened, "perturbation")
        stored = read_report(opened, head.report)
    assert (head.runs, head.name) == (8, "Perturbation of 8 runs")
    assert stored.document == document
    assert stored.configuration["limit"] == 100
    again = masgraph("perturb", *QUICK, "--json", "--jobs", "2")
    assert again.out == done.out


def test_perturb_prints_a_table_for_each_quantity(masgraph, store):
    done = masgraph("perturb", *QUICK, "--edit", "rewire", "--metric", "node_validity")
    assert done.code == 0, done.err
    assert "forest (similarity to the unedited graph)" in done.out
    assert "node validity" in done.out
    assert "rewire" in done.out
    assert "drop" not in done.out
    assert "8 runs of 4 tasks; intervals resample tasks." in done.err
    assert "With only 4 groups the interval tends to be too narrow." in done.err


def test_a_dry_run_stores_nothing_and_none_means_no_metric(masgraph, store):
    before = store.read_bytes()
    done = masgraph("perturb", *QUICK, "--metric", "none", "--dry-run", "--json", "-q")
    assert done.code == 0, done.err
    assert {one["kind"] for one in done.json()["responses"]} == {"measure"}
    assert store.read_bytes() == before


def test_a_limit_draws_by_seed_and_not_by_order(masgraph, store):
    graphs = team_runs(4, 2, 2)
    chosen = [graph.id for graph in drawn_graphs(iter(graphs), 3, 0)]
    assert chosen == sorted(chosen)
    assert chosen == [graph.id for graph in drawn_graphs(iter(graphs[::-1]), 3, 0)]
    assert {tuple(g.id for g in drawn_graphs(iter(graphs), 3, s)) for s in range(9)} != {
        tuple(chosen)
    }
    done = masgraph("perturb", *QUICK, "--limit", "3")
    assert "3 runs of" in done.err
    assert "At most 3 graphs are edited: --limit takes more." in done.err
    assert masgraph("perturb", *QUICK, "--limit", "0", "--json").json()["graphs"] == 8


def test_the_plot_shows_the_means(masgraph, store, tmp_path):
    options = (*QUICK, "--edit", "drop", "--edit", "truncate", "--metric", "node_validity")
    done = masgraph("perturb", *options, "--plot", "curves.svg", "--json")
    assert done.code == 0, done.err
    text = (tmp_path / "curves.svg").read_text()
    root = xml.etree.ElementTree.fromstring(text)
    assert "forest falls under drop, truncate" in root.attrib["aria-label"]
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == 4
    # Similarity 1 stands at the panel's top, 0 at 150 below it.
    heights = [float(one.split(",")[1]) for one in lines[0].attrib["points"].split()]
    means = [point["value"]["mean"] for point in done.json()["responses"][0]["points"]]
    assert [heights[0] + 150 * (1 - mean) for mean in means] == pytest.approx(heights, abs=0.1)
    words = {one.text for one in root.iter(f"{SVG}text")}
    assert {"forest", "drop", "truncate", "node validity", "60%"} <= words
    masgraph("perturb", *options, "--plot", "again.svg", "-q")
    assert (tmp_path / "again.svg").read_text() == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "p.png"), "plots are drawn as SVG: p.png should end in .svg"),
        (("--plot", "no/p.svg", "--measure", "forest"), "no/p.svg: cannot be written"),
        (("--rates", "a"), "rates are numbers with commas between them, as in 0.1,0.5"),
        (("--rates", "2"), "a rate lies between 0 and 1, not at 2.0"),
        (("--rates", "0"), "rates above 0"),
        (("--edit", "melt"), "there is no edit 'melt'"),
        (("--measure", "charm"), "there is no measure 'charm'"),
        (("--measure", "embedding"), "needs a trained model"),
        (("--metric", "beauty"), "the panel has no metric 'beauty'"),
        (("--labels", "colour"), "colour"),
        (("--dataset", "nowhere"), "no run with nodes matches"),
        (("--kind", "decomposition"), "no decomposition with nodes matches"),
        (("--embedding", "none.json"), "none.json: cannot be read"),
    ],
)
def test_bad_usage_is_one_sentence(masgraph, store, options, message):
    done = masgraph("perturb", *options)
    assert done.code == 2
    assert message in done.err
    assert done.out == ""
    with open_store(str(store), read_only=True) as opened:
        assert "Report" not in opened.counts()


def test_a_store_is_needed(masgraph):
    assert masgraph("perturb").code == 3
    assert masgraph("suitability").code == 3


def test_suitability_as_json_and_as_a_report(masgraph, store):
    done = masgraph("suitability", "--gain", "none", "--json")
    assert done.code == 0, done.err
    document = done.json()
    assert (document["runs"], document["suitable"]) == (8, 4)
    assert document["configuration"]["gain"] is None
    with open_store(str(store), read_only=True) as opened:
        (head,) = report_heads(opened, "suitability")
        stored = read_report(opened, head.report)
    assert stored.document == {**document, "tasks_left_out": 0}
    assert (head.runs, head.name) == (8, "Suitability of 4 tasks")


def test_suitability_says_what_is_missing(masgraph, store):
    done = masgraph("suitability", "--team", "rounds")
    assert done.code == 0
    assert "0 of 4 tasks are suitable, 0 are not; of 4 a value is missing." in done.err
    few = masgraph("suitability", "--only-suitable", "--gain", "none", "--width", "3")
    assert "task 1" in few.out
    assert "task 0" not in few.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--depth", "deep"), "--depth takes a number or none, not 'deep'"),
        (("--gain", "3"), "a threshold of gain lies between -1 and 1"),
        (("--team", "nobody"), "no run here was made by the method 'nobody'"),
        (("--dataset", "nowhere"), "no run matches"),
    ],
)
def test_bad_thresholds_are_one_sentence(masgraph, store, options, message):
    done = masgraph("suitability", *options)
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nothing", "this is no embedding of masgraph"),
        ("[]", "this is no embedding of masgraph"),
        (
            json.dumps({"masgraph_embedding": 9}),
            "this embedding has the format 9, and only 1 can be read",
        ),
        (json.dumps({"masgraph_embedding": 1}), "this embedding is damaged"),
    ],
)
def test_what_is_no_model(masgraph, tmp_path, content, message):
    (tmp_path / "model.json").write_text(content)
    done = masgraph("embedding", "show", "model.json")
    assert done.code == 2
    assert f"model.json: {message}" in done.err


def test_without_torch_training_names_the_extra(masgraph, store, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "analytics.similarity.embedding_network", raising=False)
    done = masgraph("embedding", "train", "-o", "model.json")
    assert done.code == 2
    assert "needs the package torch: run  pip install 'masgraph[gnn]'" in done.err
