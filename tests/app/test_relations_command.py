"""masgraph relations: files of checks, and what runs of a store hold."""

import json
from pathlib import Path

import jsonschema
import pytest

from app.relation_records import json_schema

ROOT = Path(__file__).parents[2]

TRAINING = {
    "masgraph_checks": 1,
    "id": "training-1",
    "task": "training",
    "dataset": "service",
    "method": "trio",
    "goals": [
        {"id": "bookings", "checks": [{"id": "all", "passed": True}, {"passed": True}]},
        {"id": "calendar", "passed": False},
    ],
    "preservation": [{"id": "notes", "passed": True}],
    "relations": [
        {
            "id": "bookings to calendar",
            "kind": "dependency",
            "downstream": {"agents": ["ann"]},
            "items": [{"id": name} for name in ("v1", "v2", "v3")],
            "changes": [
                *(
                    {"item": name, "side": "upstream", "value": "week 1", "agent": "bob"}
                    for name in ("v1", "v2", "v3")
                ),
                *(
                    {"item": name, "side": "downstream", "value": value}
                    for name, value in (("v1", "week 1"), ("v2", "week 2"), ("v3", "week 2"))
                ),
                {"item": "v3", "side": "upstream", "value": "week 2", "agent": "bob"},
            ],
        },
        {
            "id": "kits",
            "kind": "shared_resource",
            "rule": "disjoint",
            "items": [
                {"id": "kit 1", "upstream": [9, 11], "downstream": [10, 12]},
                {"id": "kit 2", "upstream": [9, 11]},
            ],
        },
    ],
}
RUN = {
    "masgraph": 1,
    "kind": "run",
    "id": "one",
    "task": {"name": "housing", "dataset": "d"},
    "method": {"name": "pair"},
    "agents": ["ann", "bob"],
    "resources": ["register", "handovers"],
    "actions": [
        {"agent": "ann", "to": ["bob"], "content": "Flat 3.", "writes": ["register"]},
        {"agent": "bob", "content": "Keys for flat 2.", "writes": ["handovers"]},
    ],
    "attributes": {
        "checks": {
            "goals": [
                {"id": name, "passed": passed}
                for name, passed in (
                    ("allocation", True),
                    ("finance", True),
                    ("appointments", True),
                    ("handover", False),
                )
            ],
            "relations": [
                {
                    "id": "allocation to handover",
                    "kind": "dependency",
                    "upstream": {"resource": "register"},
                    "downstream": {"resource": "handovers"},
                    "items": [{"id": "h1", "upstream": 3, "downstream": 2}],
                }
            ],
        }
    },
}


@pytest.fixture
def file(tmp_path):
    def write(*records):
        path = tmp_path / "checks.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        return path

    return write


@pytest.fixture
def store(masgraph, tmp_path):
    def ingest(*runs):
        path = tmp_path / "in" / "runs.jsonl"
        path.parent.mkdir()
        path.write_text("".join(json.dumps(one) + "\n" for one in runs))
        assert masgraph("ingest", path).code == 0
        graphs = masgraph("query", "--cypher", "MATCH (r:Run) RETURN r.id AS id", "--json")
        return [row["id"] for row in graphs.json()["rows"]]

    return ingest


def test_a_file_needs_no_store(masgraph, file):
    done = masgraph("relations", "--checks", file(TRAINING), "--dry-run", "--json")
    assert done.code == 0, done.err
    found = done.json()
    (method,) = found["methods"]
    assert (method["progress_score"], method["resolved_rate"]) == (50.0, 0.0)
    dependency = method["outcomes"]["dependency"]
    assert dependency["satisfied"] == pytest.approx(2 / 3)
    assert method["outcomes"]["shared_resource"]["unavailable: upstream only"] == 0.5
    calendar, _kits = found["rows"][0]["checks"]
    assert calendar["across"] is True
    assert calendar["handling"] == {"across agents": {"satisfied": 2, "inconsistent": 1}}
    assert calendar["history"]["first_inconsistent"] == 2
    assert calendar["history"]["final_inconsistent"] == 1
    assert calendar["history"]["corrected"] == 1
    assert not Path("masgraph.db").exists()


def test_a_report_is_kept(masgraph, file):
    done = masgraph("relations", "--checks", file(TRAINING))
    assert done.code == 0, done.err
    assert "Outcomes of relations" in done.out
    assert "Inconsistent objects" in done.out
    (head,) = masgraph("query", "reports", "-p", "kind=relations", "--json").json()["rows"]
    assert head["runs"] == 1


def test_a_run_holds_its_own_checks(masgraph, store):
    store(RUN)
    done = masgraph("relations", "--json")
    assert done.code == 0, done.err
    (row,) = done.json()["rows"]
    assert (row["task"], row["method"], row["progress_score"]) == ("housing", "pair", 75.0)
    assert row["failed_goals"] == ["handover"]
    assert row["resolved"] is False
    # Who wrote the two registers made the two sides.
    assert row["checks"][0]["handling"] == {"across agents": {"inconsistent": 1}}
    people = masgraph("relations")
    assert "No preservation check" not in people.err


def test_a_record_of_a_file_goes_before_the_runs_own(masgraph, store, file):
    other = {**RUN, "id": "two", "attributes": {}}
    first, second = store(RUN, other)
    path = file(
        {
            "masgraph_checks": 1,
            "id": "x",
            "run": first,
            "goals": [{"id": "g", "passed": True}],
        },
        {"masgraph_checks": 1, "id": "y", "run": first},
        {"masgraph_checks": 1, "id": "z", "run": "run-nowhere"},
    )
    done = masgraph("relations", "--checks", path, "--json")
    assert done.code == 1
    found = done.json()
    scores = {row["run"]: row["progress_score"] for row in found["rows"]}
    assert scores.pop(first) == 100.0
    assert set(scores.values()) <= {75.0}
    assert found["runs_without_checks"] == (0 if second in scores else 1)
    reasons = [one["reason"] for one in found["rejected"]]
    assert f"the run {first!r} is checked in line 1 too" in reasons
    assert "no selected run of the store has the id 'run-nowhere'" in reasons


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"gaols": []}, "unknown field 'gaols': did you mean 'goals'?"),
        ({"task": None}, "it names neither a run nor a task"),
        ({"resolved": True}, "it is said to be resolved, but a goal"),
        ({"goals": [{"id": "g"}, {"id": "g"}]}, "goals[1].id: 'g' stands twice"),
        (
            {"goals": [{"id": "g", "passed": True, "checks": [{"passed": True}]}]},
            "goals[0]: it has checks, so leave out 'passed'",
        ),
        (
            {"relations": [{"id": "r", "kind": "link", "items": []}]},
            "relations[0].kind: invalid value 'link': use one of ",
        ),
        (
            {"relations": [{"id": "r", "kind": "dependency", "items": [{"id": "a"}] * 2}]},
            "relations[0].items[1].id: 'a' stands twice",
        ),
        (
            {
                "relations": [
                    {
                        "id": "r",
                        "kind": "dependency",
                        "items": [{"id": "a", "outcome": "satisfied", "upstream": 1}],
                    }
                ]
            },
            "relations[0].items[0]: it has an outcome, so leave out results and 'consistent'",
        ),
        (
            {
                "relations": [
                    {
                        "id": "r",
                        "kind": "dependency",
                        "items": [{"id": "a", "available": "neither"}],
                    }
                ]
            },
            "relations[0].items[0].available: only with the outcome unavailable",
        ),
        (
            {
                "relations": [
                    {
                        "id": "r",
                        "kind": "dependency",
                        "items": [{"id": "a"}],
                        "changes": [{"item": "b", "side": "upstream"}],
                    }
                ]
            },
            "relations[0].changes[0].item: no item is called 'b'",
        ),
        (
            {
                "relations": [
                    {
                        "id": "r",
                        "kind": "dependency",
                        "items": [],
                        "upstream": {"resource": "x"},
                    }
                ]
            },
            "relations[0].upstream.resource: a resource needs a run of the store",
        ),
    ],
)
def test_a_wrong_record_is_rejected_and_the_others_are_read(masgraph, file, change, reason):
    bad = {**TRAINING, "id": "bad", **change}
    done = masgraph("relations", "--checks", file(TRAINING, bad), "--dry-run", "--json")
    assert done.code == 1
    assert len(done.json()["rows"]) == 1
    (rejected,) = done.json()["rejected"]
    assert rejected["record"] == "line 2"
    assert reason in rejected["reason"]


@pytest.mark.parametrize("options", [("--dry-run",), (), ("--store", "away.db")])
@pytest.mark.parametrize("record", [{}, {**TRAINING, "goals": [{"id": "g", "passed": 1}]}])
def test_a_file_without_a_usable_record_needs_no_store(masgraph, file, record, options):
    done = masgraph("relations", "--checks", file(record), *options)
    assert (done.code, done.out) == (1, "")
    assert "checks.jsonl, line 1: " in done.err
    assert "no store" not in done.err
    quiet = masgraph("relations", "--checks", file(record), "--quiet", *options)
    assert (quiet.code, quiet.err) == (1, done.err)
    found = masgraph("relations", "--checks", file(record), "--json", *options)
    assert (found.code, len(found.json()["rejected"]), found.err) == (1, 1, "")
    assert not Path("masgraph.db").exists()
    assert not Path("away.db").exists()


def test_a_rejection_is_said_before_a_store_that_is_missing(masgraph, file):
    good = {"masgraph_checks": 1, "id": "y", "run": "run-nowhere"}
    done = masgraph("relations", "--checks", file(good, {}), "--dry-run", "--quiet")
    assert done.code == 3
    assert "line 2: " in done.err
    assert "there is no store at masgraph.db" in done.err


def test_a_record_that_contradicts_itself_is_said_under_quiet(masgraph, file):
    bad = {**TRAINING, "id": "bad", "task": None}
    done = masgraph("relations", "--checks", file(TRAINING, bad), "--dry-run", "--quiet")
    assert done.code == 1
    assert done.err.startswith("Rejected: ")
    assert done.err.endswith("line 2: it names neither a run nor a task\n")


def test_what_is_wrong_with_a_runs_own_checks_is_said(masgraph, store):
    wrong = {**RUN, "attributes": {"checks": {"goals": [{"passed": True}]}}}
    lost = json.loads(json.dumps({**RUN, "id": "two"}))
    lost["attributes"]["checks"]["relations"][0]["upstream"] = {"resource": "ledger"}
    store(wrong, lost)
    done = masgraph("relations", "--json")
    assert done.code == 1
    assert sorted(one["reason"] for one in done.json()["rejected"]) == [
        "relations[0].upstream.resource: the run has no resource 'ledger'",
        "the field 'id' is missing at goals[0]",
    ]


def test_nothing_to_measure(masgraph, store, one_run, file):
    assert masgraph("ingest", one_run).code == 0
    done = masgraph("relations")
    assert done.code == 2
    assert "no selected run holds checks" in done.err
    assert masgraph("relations", "--checks", "nothing.json").code == 2
    twice = masgraph("relations", "--checks", file(TRAINING, TRAINING), "--json")
    assert twice.json()["rejected"][0]["reason"].startswith("the id 'training-1' stands twice")
    other = masgraph("relations", "--checks", file(TRAINING), "--method", "duo")
    assert other.code == 2


def test_the_shipped_schema_is_the_one_of_the_structs(file):
    path = ROOT / "app" / "checks-record.schema.json"
    shipped = json.loads(path.read_text(encoding="utf-8"))
    assert shipped == json_schema()
    jsonschema.Draft202012Validator.check_schema(shipped)
    validator = jsonschema.Draft202012Validator(shipped)
    validator.validate(TRAINING)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**TRAINING, "gaols": []})
