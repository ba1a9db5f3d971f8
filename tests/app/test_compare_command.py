"""``masgraph compare``, on methods and on runs."""

import json

import pytest

from app.stored_reports import read_report, report_heads
from graphstore.store import open_store


def record(method, task, score, *, number=0, actions=2):
    return {
        "masgraph": 1,
        "kind": "run",
        "id": f"{method}-{task}-{number}",
        "task": {"name": task, "dataset": "d"},
        "method": {"name": method},
        "agents": [{"name": "Ann", "role": "planner"}, {"name": "Bob", "role": "solver"}],
        "actions": [
            {"agent": "Ann" if place % 2 == 0 else "Bob", "content": f"{method} {place}",
             "tokens_in": 5, "tokens_out": 5}
            for place in range(actions)
        ],
        "outcome": {"score": score, "success": score >= 0.5},
    }  # fmt: skip


@pytest.fixture
def compared(masgraph, tmp_path):
    """A store with three methods: two share six tasks, the third has one of its own."""
    records = [record("team", f"t{place}", 0.5 + place / 12, actions=4) for place in range(6)]
    records += [record("solo", f"t{place}", place / 12) for place in range(6)]
    records += [record("other", "alone", 1.0)]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert masgraph("ingest", "runs.jsonl", "-q").code == 0
    return masgraph


def test_two_methods(compared):
    done = compared("compare", "team", "solo", "--draws", "500", "--json")
    assert done.code == 0
    found = done.json()
    score = next(row for row in found["pairs"] if row["metric"] == "score")
    assert (score["tasks"], score["better"], score["worse"]) == (6, 6, 0)
    assert score["difference"] == pytest.approx(0.5)
    assert "speak for team" in score["conclusion"]
    tokens = next(row for row in found["pairs"] if row["metric"] == "tokens")
    assert (tokens["mean_first"], tokens["mean_second"]) == (40.0, 20.0)
    assert found["pareto"]["front"] == ["solo", "team"]


def test_a_metric_named_three_times_is_corrected_for_once(compared):
    once = compared("compare", "team", "solo", "--metric", "tokens", "--json").json()
    thrice = compared("compare", "team", "solo", *["--metric", "tokens"] * 3, "--json").json()
    assert thrice == once
    assert len(once["pairs"]) == 1


def test_missing_scores_are_said(masgraph, tmp_path):
    records = [record("team", f"t{n}", 0.8 + n / 100, number=k) for n in range(6) for k in "ab"]
    for one in records[1::2]:
        del one["outcome"]["score"]
    records += [record("solo", f"t{n}", n / 100) for n in range(6)]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert masgraph("ingest", "runs.jsonl", "-q").code == 0
    done = masgraph("compare", "team", "solo", "--metric", "score")
    told = "6 of 12 runs of team have no score"
    assert told in done.err
    assert told in done.out
    document = masgraph("compare", "team", "solo", "--json").json()
    assert any(told in one["reason"] for one in document["cautions"])
    assert document["methods"][0]["known_runs"]["score"] == 6


@pytest.mark.parametrize("command", [("compare", "team", "solo"), ("trajectories",)])
@pytest.mark.parametrize(
    ("draws", "said"), [("100000000000", "at most 1,000,000 draws"), ("1000001", "at most")]
)
def test_draws_have_a_bound(compared, command, draws, said):
    done = compared(*command, "--draws", draws)
    assert done.code == 2
    assert said in done.err


def test_a_score_that_nobody_can_average_names_its_run(masgraph, tmp_path):
    records = [record("team", "t", 1e308), record("solo", "t", -1e308)]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert masgraph("ingest", "runs.jsonl", "-q").code == 0
    for command in (("compare", "team", "solo"), ("trajectories", "--baseline", "solo")):
        done = masgraph(*command)
        assert (done.code, done.out) == (2, "")
        assert "the score of the run" in done.err
        assert "no number beyond 1e+100 can be averaged" in done.err


def test_what_cannot_be_compared_is_said(compared):
    done = compared("compare", "--draws", "200")
    assert done.code == 0
    assert "no task in common" in done.err
    assert "speak for" in done.out
    assert "nothing" not in compared("compare", "team", "solo", "-q", "--draws", "200").err


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("plan", "team"), "'plan' made decompositions only"),
        (("plan", "outline"), "'plan' and 'outline' made decompositions only"),
        (("plan", "nobody"), "neither a run nor a method is called 'nobody'"),
    ],
)
def test_a_method_without_runs_is_told_from_an_unknown_one(compared, tmp_path, names, said):
    plans = [
        {
            "masgraph": 1,
            "kind": "decomposition",
            "task": {"name": "t0", "dataset": "d"},
            "method": {"name": name},
            "subtasks": [{"content": "First."}],
        }
        for name in ("plan", "outline")
    ]
    (tmp_path / "plans.jsonl").write_text("\n".join(map(json.dumps, plans)))
    assert compared("ingest", "plans.jsonl", "-q").code == 0
    done = compared("compare", *names)
    assert done.code == 2
    assert said in done.err


def test_the_result_is_kept_once_for_a_question(compared):
    compared("compare", "team", "solo", "--draws", "200")
    compared("compare", "team", "solo", "--draws", "200")
    compared("compare", "--draws", "200", "--dry-run")
    compared("compare", "--draws", "200")
    with open_store("masgraph.db", read_only=True) as store:
        heads = report_heads(store, "comparison")
        assert len(heads) == 2
        assert {head.runs for head in heads} == {12, 13}
        document = read_report(store, heads[0].report).document
    assert document["configuration"]["correction"] == "holm"


def test_two_runs_as_a_diff(compared):
    runs = compared("query", "runs-of-a-task", "-p", "task=t0", "--json").json()["rows"]
    ids = [row["run"] for row in runs]
    done = compared("compare", *ids, "--json")
    assert done.code == 0
    assert len(done.json()["rows"]) == 4
    kinds = {row["kind"] for row in done.json()["rows"]}
    assert kinds & {"extra", "missing"}
    shown = compared("compare", *ids)
    assert "Similarity" in shown.out
    assert compared("compare", *ids, "--labels", "moon").code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("team",), "needs two methods"),
        (("team", "nobody"), "neither a run nor a method is called 'nobody'"),
        (("r1", "r2"), "neither a run nor a method is called 'r1' or 'r2'"),
        (("team", "solo", "--reference", "nobody"), "no run of a method 'nobody'"),
        (("team", "solo", "--dataset", "moon"), "no run of a method 'team'"),
        (("team", "solo", "--metric", "speed"), "no metric 'speed'"),
        (("team", "solo", "--group-by", "moon"), "not grouped by"),
        (("team", "solo", "--confidence", "2"), "confidence"),
        (("team", "solo", "--labels", "role"), "two runs"),
        (("team", "solo", "--interval", "x"), "no interval 'x'"),
    ],
)
def test_a_wrong_question_is_one_sentence(compared, arguments, said):
    done = compared("compare", *arguments)
    assert done.code == 2
    assert said in done.err


def test_a_run_beside_a_method(compared):
    runs = compared("query", "runs-of-a-task", "-p", "task=t0", "--json").json()["rows"]
    done = compared("compare", runs[0]["run"], "team")
    assert done.code == 2
    assert "is a run, but team is none" in done.err
