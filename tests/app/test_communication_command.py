"""masgraph communication: by method, by factor, kept in the store."""

import json

import pytest


def run(
    name, task, score, memory=None, *, method="debate", where="attributes", tokens=(10, 30)
):
    attributes = {} if memory is None else {"memory": memory}
    record = {
        "masgraph": 1,
        "kind": "run",
        "id": name,
        "task": {"name": task, "dataset": "d"},
        "method": {"name": method},
        "agents": [
            {"name": "a", "attributes": {"contribution": 3}},
            {"name": "b", "attributes": {"contribution": 1}},
            {"name": "c", "attributes": {"contribution": 0}},
        ],
        "actions": [
            {"id": "p", "agent": "a", "to": ["b"], "content": "yes", "round": 0,
             "tokens_out": tokens[0]},
            {"id": "q", "agent": "b", "content": "I keep that to myself", "round": 1,
             "tokens_out": tokens[1]},
        ],
        "proposals": [
            {"unit": task, "phase": "initial", "agent": "a", "node": "p", "score": 0.0},
            {"unit": task, "phase": "final", "agent": "b", "node": "q", "score": score},
        ],
        "outcome": {"score": score},
        "attributes": attributes if where == "attributes" else {where: attributes},
    }  # fmt: skip
    if score is None:
        del record["outcome"], record["proposals"]
    return record


@pytest.fixture
def store(masgraph, tmp_path):
    records = [
        *(run(f"on{n}", f"t{n}", 0.8, "on") for n in range(8)),
        *(run(f"off{n}", f"t{n}", 0.4, "off", where="mechanisms") for n in range(8)),
        run("bare", "t0", None),
        run("other", "t0", 1.0, method="solo", tokens=(5, 5)),
    ]
    path = tmp_path / "in" / "runs.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    assert masgraph("ingest", path).code == 0
    return tmp_path / "masgraph.db"


def test_by_method(masgraph, store):
    done = masgraph("communication", "--json")
    assert done.code == 0, done.err
    found = done.json()
    debate, solo = found["groups"]
    assert debate["group"] == {"method": "debate"}
    assert (debate["runs"], debate["tasks"]) == (17, 8)
    # The message of a reached b; b's own words reached nobody.
    assert debate["means"]["transmitted_tokens"] == 10
    assert debate["means"]["message_phase_tokens"] == 40
    assert debate["means"]["score"] == pytest.approx(0.6)
    assert debate["means"]["score_per_thousand"] == pytest.approx(60)
    assert debate["means"]["score_per_thousand_phase"] == pytest.approx(15)
    assert debate["means"]["contribution_entropy"] == pytest.approx(0.5118, abs=1e-4)
    assert [one["score"] for one in debate["rounds"]] == pytest.approx([0.0, 0.3])
    assert debate["rounds"][0]["mean_tokens"] == 10
    assert solo["means"]["score_per_thousand"] == pytest.approx(200)
    assert found["missing"]["The run has no score."] == 1
    assert found["levels"]["memory"] == {"off": 8, "on": 8}
    (head,) = masgraph("query", "reports", "-p", "kind=communication", "--json").json()["rows"]
    assert head["runs"] == 18
    stored = masgraph(
        "query", "report-document", "-p", f"report={head['report']}", "--json"
    ).json()["rows"][0]["document"]
    assert json.loads(stored)["groups"][0]["means"] == debate["means"]


def test_levels_of_a_factor_are_compared(masgraph, store):
    found = masgraph("communication", "--by", "memory", "--json").json()
    assert [one["group"] for one in found["groups"]] == [
        {"memory": "off"},
        {"memory": "on"},
        {"memory": None},
    ]
    (memory,) = found["factors"]
    (pair,) = memory["pairs"]
    assert (pair["first"], pair["second"], pair["tasks"]) == ("off", "on", 8)
    assert pair["difference"] == pytest.approx(-0.4)
    assert (pair["better"], pair["worse"]) == (0, 8)
    assert "speak for on" in pair["conclusion"]
    tokens = masgraph("communication", "--measure", "transmitted_tokens", "--json").json()
    assert tokens["factors"][0]["pairs"][0]["tied"] == 8
    within = masgraph("communication", "--within-method", "--json").json()
    assert within["factors"][0]["others"] == {"method": "debate"}


def test_stand_ins_for_contributions_and_factors_of_ones_own(masgraph, store):
    found = masgraph(
        "communication", "--contribution", "tokens", "--factor", "team", "--dry-run", "--json"
    ).json()
    assert found["groups"][0]["means"]["contribution_entropy"] == pytest.approx(
        0.5118, abs=1e-4
    )
    assert found["levels"] == {"team": {}}
    assert found["factors"] == []
    assert masgraph("query", "reports", "--json").json()["rows"] == []


def test_for_people(masgraph, store):
    done = masgraph("communication", "--by", "method", "--by", "memory")
    assert done.code == 0, done.err
    assert "By round" in done.out
    assert "memory: score" in done.out
    assert "The tasks speak for on" in done.err
    assert "1 of 18 runs: The run has no score." in done.err
    assert "No run records protocol, routing" in done.err
    assert masgraph("communication", "--quiet").err == ""
    wrong = masgraph("communication", "--by", "colour")
    assert (wrong.code, "cannot be grouped by 'colour'" in wrong.err) == (2, True)
    nobody = masgraph("communication", "--method", "nobody")
    assert (nobody.code, "no run matches" in nobody.err) == (2, True)


def test_on_how_many_tasks_a_mean_rests(masgraph, tmp_path):
    silent = run("silent", "t2", 0.9)
    for action in silent["actions"]:
        del action["tokens_out"]
    records = [run("full", "t1", 0.1), silent, run("bare", "t3", None)]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    assert masgraph("ingest", path).code == 0
    done = masgraph("communication", "--quiet")
    assert "Number of tasks that a mean rests on" in done.out
    # Method, tasks, score, both counts of tokens, both scores per thousand.
    assert ["debate", "3", "2", "2", "2", "1", "1"] in [
        line.replace("│", " ").split() for line in done.out.splitlines()
    ]
    found = masgraph("communication", "--json").json()["groups"][0]
    assert (found["means"]["score"], found["means"]["score_per_thousand"]) == (
        pytest.approx(0.5), pytest.approx(10),
    )  # fmt: skip
    import masgraph as mg

    with mg.open_store("masgraph.db") as opened:
        result = mg.communication(opened, save=False)
        frame = result.to_pandas()
    assert frame.loc[0, "score_tasks"] == 2
    assert frame.loc[0, "score_per_thousand_tasks"] == 1
    rounds = result.rounds_to_pandas()
    assert len(rounds) == sum(len(group.rounds) for group in result.groups) > 0


def test_nothing_is_counted_where_every_task_has_all(masgraph, tmp_path):
    path = tmp_path / "runs.jsonl"
    whole = run("full", "t1", 0.1)
    whole["agents"] = ["a", "b", "c"]  # Nobody knows what they contributed.
    path.write_text(json.dumps(whole))
    assert masgraph("ingest", path).code == 0
    assert "Number of tasks that a mean rests on" not in masgraph("communication").out
