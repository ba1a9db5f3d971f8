import json
from pathlib import Path

import pytest

import masgraph as mg
from analytics.scorers.judge import prompt_hash
from analytics.scorers.optiongen import OptionGenScorer, OptionSet, judge_prompt
from analytics.trajectory_results import AnalysisConfiguration
from app import trajectory_jobs
from app.stored_reports import read_report, report_heads
from graphstore.store import open_store

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RUNS, TASKS = EXAMPLES / "proposals" / "runs.jsonl", EXAMPLES / "proposals" / "tasks.jsonl"


@pytest.fixture
def routes(masgraph):
    """A store with the planners of robot routes."""
    assert masgraph("ingest", RUNS).code == 0


def scored(masgraph, *more):
    return masgraph(
        "trajectories",
        "--baseline",
        "one planner",
        "--scorer",
        "mapf",
        "--tasks",
        TASKS,
        "--draws",
        "300",
        *more,
    )


def method(document, name):
    return next(one for one in document["methods"] if one["method"] == name)


def test_planners_are_scored_and_kept(masgraph, routes):
    document = scored(masgraph, "--json").json()
    assert (document["runs"], document["tasks"], document["units"]) == (108, 12, 108)
    assert document["scorer"] == "mapf 1"
    names = ["claims", "one planner", "plan debate"]
    assert [one["method"] for one in document["methods"]] == names
    claims, single, debate = document["methods"]
    gain = debate["task_score"]["value"] - single["task_score"]["value"]
    assert debate["collaboration_gain"]["value"] == pytest.approx(gain)
    assert debate["gain_against_best"]["known"] == 36
    assert claims["claims"]["runs"] == 36
    assert document["claim_units"] == len(document["claims"]) == 36
    assert "612 proposals were scored by mapf." in document["notes"]
    with open_store("masgraph.db", read_only=True) as store:
        (head,) = report_heads(store, "trajectories")
        stored = read_report(store, head.report)
    assert head.name == "Proposal trajectories against one planner, scored by mapf"
    assert (head.runs, head.selection.method) == (108, None)
    assert stored.document == document
    assert head.configuration_hash == document["configuration_hash"]
    # Again it takes the place of the first; another configuration stands beside it.
    scored(masgraph)
    scored(masgraph, "--keep-unrevised")
    with open_store("masgraph.db", read_only=True) as store:
        assert len(report_heads(store, "trajectories")) == 2


def test_tables_and_sentences(masgraph, routes):
    done = scored(masgraph, "--by-run")
    for text in (
        "Means over the units of a run",
        "Task score and collaboration gain",
        "Answers against the best initial proposal",
        "Final proposals of weak proposers",
        "top challenged",
        "four-corners, plan debate, run 2",
    ):
        assert text in done.out
    table = done.out[done.out.index("Means over the units of a run") :]
    cells = [line.split("│") for line in table.splitlines() if line.startswith("│")][:108]
    rows = [(row[2].strip(), row[3].strip(), row[1].strip()) for row in cells]
    assert len(set(rows)) == 108
    assert rows == sorted(rows)
    assert "plan debate differs from one planner by" in done.err
    assert "one planner: 36 of 36 units have one proposer." in done.err
    assert scored(masgraph, "--quiet").err == ""


def test_claims_are_nodes_that_go_with_their_run(masgraph, routes):
    document = scored(masgraph, "--json").json()
    scored(masgraph)
    total = sum(one["claims"] for one in document["claims"])
    with open_store("masgraph.db") as store:
        assert store.counts()["Claim"] == total
        first = document["claims"][0]
        rows = mg.query(store, "top-claims", run=first["run"], limit=100).records()
        assert sum(row["endorsements"] for row in rows) == first["endorsements"]
        for side in ("top_endorsed", "top_challenged"):
            marked = {row["claim"] for row in rows if row[side]}
            assert marked == {one["id"] for one in first[side]}
        assert {row["agent"] for row in rows} == {"Ada", "Ben", "Cleo"}
        stances = store.query(
            "MATCH (:Agent)-[s:ENDORSES|CHALLENGES]->(c:Claim)-[:OF]->(:Run {id: $run}) "
            "RETURN count(s) AS count",
            {"run": first["run"]},
        )
        assert stances.rows == ((first["endorsements"] + first["challenges"],),)
        store.delete([first["run"]])
        assert store.counts()["Claim"] == total - first["claims"]


def test_a_dry_run_stores_nothing(masgraph, routes):
    assert scored(masgraph, "--dry-run").code == 0
    with open_store("masgraph.db", read_only=True) as store:
        assert report_heads(store) == []
        assert "Claim" not in store.counts()


def test_the_baseline_comes_with_another_method(masgraph, routes):
    whole = scored(masgraph, "--json").json()
    part = scored(masgraph, "--method", "plan debate", "--json").json()
    assert [one["method"] for one in part["methods"]] == ["one planner", "plan debate"]
    assert method(part, "plan debate") == method(whole, "plan debate")
    one_task = scored(masgraph, "--task", "plaza", "--json").json()
    assert (one_task["runs"], one_task["tasks"]) == (9, 1)
    assert method(one_task, "claims")["task_score"]["low"] is None


def test_without_a_scorer_the_scores_of_the_trace_count(masgraph, routes):
    document = masgraph("trajectories", "--json").json()
    assert document["notes"][0].startswith("No baseline is named")
    debate = method(document, "plan debate")
    assert debate["task_score"]["value"] is None
    assert debate["gain_against_best"]["known"] == 0
    assert debate["collaboration_gain"] is None
    # Nobody scored them, but what was proposed can be compared all the same.
    assert debate["final_proposal_agreement"]["units"] == 36
    assert debate["output_validity"]["unknown"] == 36 * 7


def test_tasks_of_a_store_that_the_file_lacks_are_told(masgraph, routes, one_run, tmp_path):
    masgraph("ingest", one_run)
    lines = TASKS.read_text().splitlines()[:1]
    (tmp_path / "some.jsonl").write_text("\n\n".join([*lines, ""]))
    done = masgraph("trajectories", "--scorer", "mapf", "--tasks", "some.jsonl", "--json")
    notes = done.json()["notes"]
    assert "561 proposals have no score: there is no instance of its task." in notes
    assert "99 runs with proposals have none that was scored." in notes


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--tasks", TASKS), 2, "--tasks is for a scorer"),
        (("--judge", "recorded:x"), 2, "--judge is for a scorer"),
        (("--scorer", "chess"), 2, "there is no scorer 'chess'"),
        (("--scorer", "optiongen"), 2, "asks a judge"),
        (("--scorer", "optiongen", "--judge", "me"), 2, "there is no judge 'me'"),
        (("--scorer", "optiongen", "--judge", "recorded:no.jsonl"), 2, "no.jsonl"),
        (("--scorer", "mapf", "--record-judge", "x.jsonl"), 2, "--record-judge"),
        (("--scorer", "mapf", "--tasks", "no.jsonl"), 2, "no.jsonl: cannot be read"),
        (("--scorer", "gomoku", "--tasks", TASKS), 2, "no instance for the scorer gomoku"),
        (("--scorer", "mapf", "--tasks", "bad.jsonl"), 2, "bad.jsonl, record 2"),
        (("--baseline", "nobody"), 2, "no run was made by a method 'nobody'"),
        (("--dataset", "nothing"), 2, "no run matches"),
        (("--confidence", "1"), 2, "confidence"),
        (("--store", "nowhere.db"), 3, "there is no store"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    masgraph, one_run, tmp_path, arguments, code, sentence
):
    masgraph("ingest", one_run)
    (tmp_path / "bad.jsonl").write_text(TASKS.read_text().splitlines()[0] + "\n{\n")
    done = masgraph("trajectories", *arguments)
    assert done.code == code, done.err
    assert sentence in done.err
    assert done.out == ""


def test_a_score_above_the_maximum_is_told(masgraph):
    masgraph("ingest", EXAMPLES / "traces" / "debate.jsonl")
    done = masgraph("trajectories", "--maximum-score", "0.5")
    assert done.code == 2
    assert "is above the maximum score of 0.5" in done.err


ARTICLE = {
    "article": "The ferry does not run on Sundays in winter.",
    "question": "When does it not run?",
    "correct_rubric": "Sundays, winter.",
    "distractor_rubric": "Other days.",
}
OPTIONS = {"correct": "Sundays in winter", "distractors": ["Mondays", "Summers", "Never"]}


def options_run(number, answer):
    return {
        "masgraph": 1,
        "kind": "run",
        "id": f"o{number}",
        "task": {"name": "ferry"},
        "method": "writers",
        "actions": [{"agent": "w", "content": "x"}],
        "proposals": [{"unit": "u", "phase": "answer", "value": json.dumps(answer)}],
        "attributes": {"instance": ARTICLE},
    }


def test_a_judge_that_was_recorded(masgraph, tmp_path):
    (tmp_path / "runs.jsonl").write_text(
        "".join(
            json.dumps(options_run(number, answer)) + "\n"
            for number, answer in enumerate([OPTIONS, {**OPTIONS, "correct": "At night"}])
        )
    )
    instance = OptionGenScorer().read_instance(ARTICLE)
    options = OptionSet(OPTIONS["correct"], tuple(OPTIONS["distractors"]))
    (tmp_path / "judge.jsonl").write_text(
        "".join(
            json.dumps(
                {"prompt": prompt_hash(judge_prompt(instance, options, part)), "answer": text}
            )
            + "\n"
            for part, text in (("correct", "80"), ("distractors", '{"score": 60}'))
        )
    )
    masgraph("ingest", "runs.jsonl")
    done = masgraph(
        "trajectories",
        "--scorer",
        "optiongen",
        "--judge",
        "recorded:judge.jsonl",
        "--record-judge",
        "again.jsonl",
        "--json",
    )
    document = done.json()
    assert document["configuration"]["judge"].startswith("recorded:")
    assert method(document, "writers")["task_score"]["value"] == 70.0
    assert "1 proposals have no score: the judge has no answer on correct." in document["notes"]
    assert sorted((tmp_path / "again.jsonl").read_text().splitlines()) == sorted(
        json.dumps(json.loads(line), separators=(",", ":"))
        for line in (tmp_path / "judge.jsonl").read_text().splitlines()
    )


def test_scorers_are_listed(masgraph):
    listed = masgraph("scorers", "--json").json()
    assert [one["name"] for one in listed["scorers"]][:6] == [
        "mapf",
        "optiongen",
        "evidencechain",
        "gomoku",
        "negotiation",
        "tacticduel",
    ]
    assert "Multi-agent path finding" in masgraph("scorers").out


def test_a_notebook_gets_the_same(masgraph, routes):
    document = scored(masgraph, "--json", "--draws", "10000").json()
    options = {"baseline": "one planner", "scorer": "mapf", "tasks": TASKS}
    found = mg.trajectories("masgraph.db", **options)
    assert json.loads(json.dumps(found.to_dict())) == document
    graphs = mg.read(RUNS)
    # Without a store the runs come in another order.
    again = mg.trajectories(graphs, **options)
    assert method(again.to_dict(), "claims") == method(document, "claims")
    assert list(found.to_pandas()["method"]) == ["claims", "one planner", "plan debate"]
    with pytest.raises(mg.UsageError, match="name one"):
        mg.trajectories(graphs, tasks=TASKS)


def test_on_both_engines(open_fresh_store, tmp_path):
    few = [line for line in RUNS.read_text().splitlines() if '"name":"swap-with-bay"' in line]
    assert len(few) == 9
    (tmp_path / "few.jsonl").write_text("\n".join(few))
    store = open_fresh_store()
    mg.ingest(tmp_path / "few.jsonl", store)
    scoring = trajectory_jobs.make_scoring("mapf", tasks=TASKS)
    result = trajectory_jobs.analyse(
        store, AnalysisConfiguration(baseline="one planner"), scoring=scoring
    )
    (head,) = report_heads(store, "trajectories")
    stored = read_report(store, head.report).document
    assert stored == json.loads(json.dumps(result.to_dict()))
    assert stored["claim_units"] == 3
    assert len(mg.query(store, "top-claims", limit=100).rows) == 3 * 6


def test_the_demos_debate_gains(masgraph, tmp_path):
    demo = masgraph("demo", "--out", "demo")
    command = demo.err.strip().splitlines()[-1].split()
    document = masgraph(*command[1:], "--json").json()
    debate = method(document, "debate")
    assert debate["collaboration_gain"]["low"] > 0
    assert debate["gain_against_best"]["known"] == 69
    assert debate["refinement_of_weak"]["labels"]["Reach"]["share"] > 0.5
    # What the other teams do not record is missing, and said.
    chain = method(document, "chain")
    assert chain["aggregation_loss"]["value"] is None
    assert "69 of 69 runs record no proposal." in chain["notes"]


@pytest.mark.parametrize(
    "option",
    [
        ("--maximum-score", "nan"),
        ("--maximum-score", "inf"),
        ("--invalid-score", "inf"),
        ("--invalid-score", "nan"),
        ("--interval", "moon"),
    ],
)
def test_options_that_are_no_numbers(masgraph, routes, option):
    done = masgraph("trajectories", *option)
    assert done.code == 2
    assert option[0].strip("-").split("-")[0] in done.err
    with open_store("masgraph.db", read_only=True) as store:
        assert report_heads(store, "trajectories") == []


def test_intervals_can_be_chosen(masgraph, routes):
    found = {
        name: scored(masgraph, "--interval", name, "--json").json()
        for name in ("expanded", "percentile")
    }
    assert found["expanded"] == scored(masgraph, "--json").json()
    wide, narrow = (one["methods"][0]["task_score"] for one in found.values())
    assert wide["low"] < narrow["low"]
    assert wide["high"] > narrow["high"]


def test_invalid_outputs_and_a_score_beside_the_answers(masgraph, tmp_path):
    run = {
        "masgraph": 1,
        "kind": "run",
        "id": "one",
        "task": {"name": "t"},
        "method": {"name": "team"},
        "agents": [{"name": "a"}, {"name": "b"}],
        "actions": [{"agent": "a", "content": "x"}],
        "proposals": [
            {"unit": "q", "phase": "initial", "agent": "a", "score": 0.9, "valid": False},
            {"unit": "q", "phase": "initial", "agent": "b", "score": 0.2},
            {"unit": "q", "phase": "answer", "score": 0.5},
        ],
        "outcome": {"score": 0.7},
    }
    (tmp_path / "run.json").write_text(json.dumps(run))
    assert masgraph("ingest", "run.json", "-q").code == 0
    (found,) = masgraph("trajectories", "--json", "--by-run").json()["by_run"]
    assert (found["best_initial"], found["gain_against_best"]) == (None, {})
    assert "The initial proposal of a is not valid and has no score." in found["missing"]
    assert found["task_score"] == 0.5
    assert any("The run's own score is 0.7" in note for note in found["missing"])
    done = masgraph("trajectories", "--invalid-score", "0", "--json", "--by-run").json()
    (found,) = done["by_run"]
    assert (found["best_initial"], found["gain_against_best"]) == (0.2, {"Improve": 1})
    assert "not their only answer's" in masgraph("trajectories").err
