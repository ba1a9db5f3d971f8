"""masgraph interventions: links, predictions and measured responses over a store."""

import json

import pytest

import masgraph as mg

ORGANIZATION = {
    "V": [
        "lead",
        {"id": "law", "role": "specialist"},
        {"id": "maths", "role": "specialist"},
        {"id": "critic", "role": "critic"},
        {"id": "end", "role": "aggregator"},
    ],
    "E": [
        ["lead", "law"],
        ["lead", "maths"],
        ["law", "critic"],
        ["maths", "critic"],
        ["critic", "end"],
        ["maths", "end"],
    ],
}
CONTROLS = {
    "backend_configuration_id": "small",
    "prompt_template_hash": "p1",
    "parser_version": "2",
    "runtime_limits": {"calls": 20},
}
TRACE = [
    {"unit": "lead", "to": ["law", "maths"], "output": "Who pays what?"},
    {"unit": "law", "to": ["critic"], "output": "The tenant pays."},
    {"unit": "maths", "to": ["critic", "lead"], "outgoing": ["m1"], "output": "15 euros"},
    {"unit": "critic", "to": ["end"], "output": "Both hold: 15."},
    {"unit": "end", "output": "15"},
]
NO_CRITIC = {"intervention_type": "node", "intervention_parameters": {"variant": "no critic"}}
WRONG = {
    "intervention_type": "information",
    "intervention_parameters": {"rate": 0.2, "seed": 4},
    "injected_records": [{"message": "m1", "injected": "15", "original": "12"}],
}


def record(name, task, score, intervention=None, **more):
    return {
        "openmas_gcom": 1,
        "id": name,
        "dataset_id": "d",
        "sample_id": task,
        "method_id": "trio",
        "metric_result": score,
        **CONTROLS,
        **({"intervention": intervention} if intervention else {}),
        **more,
    }


RECORDS = [
    record("r1", "1", 1.0, **ORGANIZATION, trace=TRACE, final_answer="12"),
    record("r2", "2", 0.5),
    record("m1", "1", 0.5, NO_CRITIC),
    record("m2", "2", 0.5, NO_CRITIC),
    record("i1", "1", 0.0, WRONG, **ORGANIZATION, trace=TRACE, final_answer="15"),
    record("i2", "2", 0.5, WRONG, backend_configuration_id="large"),
]


@pytest.fixture
def store(masgraph, tmp_path):
    path = tmp_path / "in" / "trio.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    assert masgraph("ingest", path).code == 0
    return tmp_path / "masgraph.db"


def reports(masgraph, kind):
    return masgraph("query", "reports", "-p", f"kind={kind}", "--json").json()["rows"]


def document(masgraph, report):
    rows = masgraph("query", "report-document", "-p", f"report={report}", "--json").json()
    return json.loads(rows["rows"][0]["document"])


def test_links_as_permitted_and_as_executed(masgraph, store):
    done = masgraph("interventions", "links", "--json")
    assert done.code == 0, done.err
    found = done.json()
    (method,) = found["methods"]
    assert (method["runs"], method["known"], method["organizations"]) == (6, 2, 1)
    assert method["share_used"] == pytest.approx(5 / 6)
    assert method["unpermitted_links"] == 1
    links = {(one["source"], one["target"]): one for one in method["links"]}
    assert links["maths", "end"]["messages"] == 0
    assert links["maths", "lead"]["permitted"] is False
    assert links["maths", "critic"]["messages"] == links["maths", "critic"]["runs"] == 2
    roles = {(one["source"], one["target"]): one["messages"] for one in method["roles"]}
    # One message of the lead reached two specialists: one message between the roles.
    assert roles["orchestrator", "specialist"] == pytest.approx(2 / 6)
    assert roles["specialist", "critic"] == pytest.approx(4 / 6)
    assert [row["messages"] for row in found["rows"]].count(4) == 2
    (head,) = reports(masgraph, "execution")
    assert head["runs"] == 6
    assert "rows" not in document(masgraph, head["report"])
    people = masgraph("interventions", "links")
    assert "Messages from role to role" in people.out
    assert "4 of 6 runs name no organization" in people.err


def test_a_prediction_for_one_organization(masgraph, store):
    done = masgraph("interventions", "predict", "trio", "--roles", "any", "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert found["teams"] == 1
    (team,) = found["predictions"]
    assert team["output_basis"] == "aggregator"
    assert team["reference"]["critical_units"] == ["critic"]
    assert [unit["name"] for unit in team["units"] if unit["output"]] == ["end"]
    settings = {one["setting"]: one for one in team["settings"]}
    assert len(settings) == 1 + 4 + 3 + 5 + 5
    assert settings["no critic"]["removed"] == ["critic"]
    assert settings["no critic"]["effects"]["output_reachability"]["mean"] == pytest.approx(
        2 / 3
    )
    assert settings["no critic"]["cut_off"]["mean"] == 1.0
    rewired = settings["rewiring 50%"]
    assert len(rewired["draws"]) == 20
    assert [one["seed"] for one in rewired["draws"]] == list(range(20))
    assert all(
        0 < one["achieved_ratio"] <= 5 / 6 for one in rewired["draws"] if one["complete"]
    )
    assert rewired["effects"]["links"]["lowest"] == rewired["effects"]["links"]["highest"] == 6
    assert settings["4 workers fail"]["reason"] == "the team has 3 of them"
    assert settings["3 workers fail"]["effects"]["output_reachability"]["mean"] == 0.0
    assert settings["wrong contents 80%"]["output_reached"] == 1.0
    (head,) = reports(masgraph, "interventions")
    assert head["name"] == "interventions predicted on 1 permitted team"
    assert document(masgraph, head["report"]) == found
    again = masgraph("interventions", "predict", "trio", "--roles", "any", "--json")
    assert again.out == done.out
    assert len(reports(masgraph, "interventions")) == 1


def test_a_prediction_for_executed_runs(masgraph, store):
    found = masgraph("interventions", "predict", "--executed", "--draws", "3", "--json").json()
    # Runs without a trace have no agents.
    assert (found["teams"], found["without_team"]) == (2, 4)
    rows = {one["setting"]: one for one in found["settings"]}
    assert rows["no critic"]["teams"] == 2
    assert rows["no critic"]["output_reachability_change"] < 0
    assert rows["wrong contents 80%"]["output_reached"] == 1.0
    assert "draws" not in found["predictions"][0]["settings"][1]
    run = found["predictions"][0]["subject"]
    one = masgraph("interventions", "predict", run, "--executed", "--json").json()
    settings = {each["setting"]: each for each in one["predictions"][0]["settings"]}
    # What wrong contents replace in a run are its actions: all four are used by others.
    assert settings["wrong contents 80%"]["draws"][0].keys() == {"seed", "actions"}
    assert settings["wrong contents 80%"]["changed"]["mean"] == 0.75


def test_a_value_and_its_change_are_of_the_same_teams(masgraph, store, tmp_path):
    # Beside the trio a pair: without critic, specialist and worker, and nobody is cut off.
    pair = {"V": ["lead", {"id": "end", "role": "aggregator"}], "E": [["lead", "end"]]}
    path = tmp_path / "in" / "pair.json"
    path.write_text(json.dumps({**record("p", "1", 1.0, **pair), "method_id": "pair"}))
    assert masgraph("ingest", path).code == 0
    found = masgraph("interventions", "predict", "--draws", "2", "--json").json()
    rows = {one["setting"]: one for one in found["settings"]}
    trio = next(one for one in found["predictions"] if one["name"] == "trio")
    alone = {one["setting"]: one for one in trio["settings"]}
    assert rows["as it is"]["reachable_pair_fraction"] == pytest.approx((0.45 + 0.5) / 2)
    row = rows["no critic"]
    assert (row["teams"], row["not_possible"]) == (1, 1)
    for name in ("reachable_pair_fraction", "output_reachability", "units"):
        before = alone["as it is"]["effects"][name]["mean"]
        after = alone["no critic"]["effects"][name]["mean"]
        assert (row[name], row[f"{name}_before"], row[f"{name}_teams"]) == (after, before, 1)
        assert row[f"{name}_change"] == after - before
    # Without experts no path is left: there is no length, before or after.
    path_length = rows["expert only"]["output_path_length_before"]
    assert (path_length, rows["expert only"]["output_path_length"]) == (None, None)
    for row in rows.values():
        for name in ("links", "average_path_length", "output_path_length"):
            if row[name] is not None:
                assert row[f"{name}_before"] + row[f"{name}_change"] == pytest.approx(row[name])
    told = masgraph("interventions", "predict", "--draws", "2")
    assert "settings can be made on some of the 2 teams only" in told.err


def test_predictions_for_people_and_what_cannot_be_predicted(masgraph, store):
    done = masgraph("interventions", "predict", "--draws", "2")
    assert done.code == 0, done.err
    assert "Structure after each intervention" in done.out
    assert "critical for the output" in done.out
    assert "They do not tell how a score would answer." in done.err
    assert "rewiring 10%: none of 1,000 proposed swaps is valid." in done.err
    missing = masgraph("interventions", "predict", "duo")
    assert missing.code == 2
    assert "there is no organization 'duo'" in missing.err
    assert masgraph("interventions", "predict", "duo", "--executed").code == 2
    unit = masgraph("interventions", "predict", "trio", "--output", "boss")
    assert (unit.code, "no unit is called 'boss'" in unit.err) == (2, True)
    role = masgraph("interventions", "predict", "--critic", "judge")
    assert (role.code, "there is no role 'judge'" in role.err) == (2, True)
    share = masgraph("interventions", "predict", "--ratio", "7")
    assert (share.code, "between 0 and 1" in share.err) == (2, True)


def test_roles_that_an_intervention_removes_can_be_chosen(masgraph, store):
    found = masgraph(
        "interventions", "predict", "trio", "--critic", "specialist", "--expert", "critic",
        "--expert", "aggregator", "--dry-run", "--json",
    ).json()  # fmt: skip
    settings = {one["setting"]: one for one in found["predictions"][0]["settings"]}
    assert settings["no critic"]["removed"] == ["law", "maths"]
    assert settings["expert only"]["effects"]["output_reachability"]["mean"] == 1.0
    assert reports(masgraph, "interventions") == []


def test_responses_and_the_audit(masgraph, store):
    done = masgraph("interventions", "measure", "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert (found["references"], found["modified"]) == (2, 4)
    information, node = found["settings"]
    assert information["setting"] == "information: rate 0.2"
    assert information["fates"] == {"adopted": 1}
    assert (information["response"], information["retention"]) == (-1.0, 0.0)
    assert information["replaced_links"] == 0.0
    assert node["setting"] == "node: variant no critic"
    assert (node["reference"], node["modified"], node["response"]) == (0.75, 0.5, -0.25)
    assert node["retention"] == pytest.approx(200 / 3)
    (left,) = found["left_out"]
    assert (left["task"], left["reasons"]) == ("2", ["the backend differs"])
    (head,) = reports(masgraph, "interventions")
    stored = document(masgraph, head["report"])
    assert stored["left_out_runs"] == 1
    assert stored["settings"] == found["settings"]
    people = masgraph("interventions", "measure")
    assert "1 of 4 modified runs take no part" in people.out
    assert "What became of injected contents" in people.out
    assert "(task 2): the backend differs." in people.err


def test_methods_by_name(masgraph, tmp_path, store):
    other = [{**record(f"o{n}", str(n), 0.25), "method_id": "duo"} for n in (1, 2)]
    path = tmp_path / "in" / "duo.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in other))
    assert masgraph("ingest", path).code == 0
    found = masgraph("interventions", "measure", "trio", "duo", "--json").json()
    (setting,) = found["settings"]
    assert (setting["reference_method"], setting["method"], setting["pairs"]) == (
        "trio", "duo", 2,
    )  # fmt: skip
    # The runs of trio that were modified themselves are no reference.
    assert (found["references"], setting["reference"]) == (2, 0.75)
    assert masgraph("interventions", "measure", "trio").code == 2
    same = masgraph("interventions", "measure", "trio", "trio")
    assert (same.code, "name two methods" in same.err) == (2, True)
    unknown = masgraph("interventions", "measure", "trio", "quartet")
    assert (unknown.code, "of a method 'quartet'" in unknown.err) == (2, True)


def test_a_store_without_interventions(masgraph, one_run):
    assert masgraph("ingest", one_run).code == 0
    done = masgraph("interventions", "measure")
    assert done.code == 2
    assert "no selected run records an intervention" in done.err
    empty = masgraph("interventions", "predict")
    assert (empty.code, "try  --executed" in empty.err) == (2, True)
    links = masgraph("interventions", "links", "--method", "nobody")
    assert (links.code, "no run matches" in links.err) == (2, True)
    assert masgraph("interventions", "links", "--method", "nobody", "--json") == links


def applied(masgraph, *arguments):
    done = masgraph("interventions", "apply", *arguments)
    assert done.code == 0, done.err
    return done.json()


def test_a_modified_organization_is_written_run_and_measured(masgraph, store, tmp_path):
    record = applied(masgraph, "trio", "--rewire", "0.5", "--roles", "any", "--seed", "3")
    assert record["intervention"]["intervention_parameters"]["achieved_ratio"] >= 0.5
    changed = record["intervention"]["changed_edges"]
    assert len(changed["removed"]) == len(changed["added"]) >= 3
    assert record["organization"]["V"][1] == {"id": "law", "role": "specialist"}
    path = tmp_path / "in" / "again.jsonl"
    runs = [
        {**record, **CONTROLS, "id": f"a{task}", "dataset_id": "d", "sample_id": task,
         "metric_result": 0.25}
        for task in ("1", "2")
    ]  # fmt: skip
    path.write_text("".join(json.dumps(one) + "\n" for one in runs))
    assert masgraph("ingest", path).code == 0
    found = masgraph("interventions", "measure", "--json").json()
    (structure,) = [one for one in found["settings"] if one["family"] == "structure"]
    # Only the first reference run names the organization that was modified.
    assert (structure["pairs"], structure["response"]) == (1, -0.75)
    assert structure["replaced_links"] >= 0.5
    assert structure["setting"] == "structure: ratio 0.5, role_rule any"
    # These runs record no action: nobody knows who wrote how much.
    assert (structure["sent"], structure["messages"]) == ({}, [None, None])
    (information,) = [one for one in found["settings"] if one["family"] == "information"]
    assert information["sent"]["specialist"] == [2.0, 2.0]


def test_removed_failed_and_wrong(masgraph, store, tmp_path):
    less = applied(masgraph, "trio", "--variant", "no-critic")
    assert less["intervention"]["changed_nodes"] == ["critic"]
    assert ["maths", "end", ""] in less["organization"]["E"]
    assert len(less["organization"]["E"]) == 3
    experts = applied(masgraph, "trio", "--variant", "expert-only", "--role", "aggregator")
    assert [unit["id"] for unit in experts["organization"]["V"]] == ["end"]
    failed = applied(masgraph, "trio", "--fail", "2", "--seed", "1")
    assert len(failed["intervention"]["failed_workers"]) == 2
    assert len(failed["organization"]["V"]) == 5
    rows = masgraph(
        "query",
        "--cypher",
        "MATCH (r:Run) WHERE r.node_count > 0 RETURN r.id AS id",
        "--json",
    ).json()["rows"]
    wrong = applied(masgraph, rows[0]["id"], "--corrupt", "0.5")
    injected = wrong["intervention"]["injected_records"]
    assert len(injected) == 2
    assert all(one["injected"] != one["original"] for one in injected)
    out = tmp_path / "less.json"
    done = masgraph("interventions", "apply", "trio", "--variant", "no-critic", "--out", out)
    assert (done.code, done.out) == (0, "")
    assert json.loads(out.read_text()) == less
    assert masgraph("ingest", out).code == 0


def test_an_intervention_that_could_not_be_made_is_said_and_not_measured(
    masgraph, store, tmp_path
):
    # Between observed roles, no swap of this team is valid.
    done = masgraph("interventions", "apply", "trio", "--rewire", "0.3", "--quiet")
    assert done.code == 1
    assert (
        "Warning: nothing was changed: no link was rewired: 0 swaps were accepted" in done.err
    )
    assert "of 1,000 proposed (rejected: " in done.err
    assert "--roles any lets links join other roles" in done.err
    record = done.json()
    assert record["intervention"]["complete"] is False
    runs = [
        {**record, **CONTROLS, "id": f"a{task}", "dataset_id": "d", "sample_id": task,
         "metric_result": 0.0, "method_id": "trio"}
        for task in ("1", "2")
    ]  # fmt: skip
    path = tmp_path / "in" / "unmade.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in runs))
    assert masgraph("ingest", path).code == 0
    found = masgraph("interventions", "measure", "--json").json()
    assert [one["family"] for one in found["settings"]] == ["information", "node"]
    assert found["reasons"]["no link was rewired: 0 swaps were accepted"] == 2


def test_a_share_of_less_than_half_a_link(masgraph, store, tmp_path):
    out = tmp_path / "team.json"
    done = masgraph("interventions", "apply", "trio", "--rewire", "0.01", "--out", out)
    assert (done.code, "Modified" in done.err) == (1, False)
    assert "the share is less than half a link" in done.err
    assert json.loads(out.read_text())["intervention"]["accepted_swaps"] == 0


def test_a_part_of_an_intervention_is_said_beside_its_response(masgraph, store, tmp_path):
    done = masgraph("interventions", "apply", "trio", "--rewire", "1", "--roles", "any")
    assert done.code == 1
    assert (
        "Warning: less was changed than asked for: a share of 0.8333 instead of 1" in done.err
    )
    run = {**done.json(), **CONTROLS, "dataset_id": "d", "sample_id": "1",
           "metric_result": 0.5, "method_id": "trio"}  # fmt: skip
    path = tmp_path / "in" / "part.json"
    path.write_text(json.dumps(run))
    assert masgraph("ingest", path).code == 0
    told = masgraph("interventions", "measure")
    assert "achieved" in told.out
    assert "1 of 1 runs with structure: ratio 1.0, role_rule any got less of it" in told.err
    assert "(a share of 0.8333)" in told.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--rewire", "0.5", "--role", "critic"), "--role is for --variant and --fail"),
        (("--fail", "1", "--roles", "any"), "--roles is for --rewire"),
        (
            (
                "--variant",
                "no-critic",
                *(
                    part
                    for role in ("orchestrator", "specialist", "critic", "aggregator")
                    for part in ("--role", role)
                ),
            ),
            "nobody would be left",
        ),
        ((), "choose one of --rewire, --variant, --corrupt and --fail"),
        (("--rewire", "0.5", "--fail", "1"), "choose one of"),
        (("--rewire", "5"), "between 0 and 1"),
        (("--fail", "4"), "4 workers cannot fail: the team has 3"),
        (("--variant", "no-critic", "--role", "verifier"), "no unit of 'trio' is a verifier"),
        (("--variant", "no-critic", "--role", "boss"), "there is no role 'boss'"),
        (("--corrupt", "0.5"), "there is no run 'trio'"),
        (("--fail", "1", "--out", "nowhere/x.json"), "cannot be written"),
    ],
)
def test_what_cannot_be_applied(masgraph, store, arguments, told):
    done = masgraph("interventions", "apply", "trio", *arguments)
    assert done.code == 2
    assert told in done.err
    assert done.out == ""
    assert masgraph("interventions", "apply", "duo", "--fail", "1").code == 2


def test_the_public_names(store):
    with mg.open_store(str(store)) as opened:
        assert len(mg.predict_interventions(opened).to_pandas()) == 18
        assert list(mg.measure_interventions(opened).to_pandas()["retention"].round(2)) == [
            0.0,
            66.67,
        ]
        assert list(mg.execution(opened).to_pandas()["used_links"].dropna()) == [5, 5]
        assert list(mg.communication(opened).to_pandas()["runs"]) == [6]
        assert mg.relations(opened).to_pandas().empty


def test_a_write_protected_store_is_left_as_it_is(masgraph, store):
    store.chmod(0o444)
    before = store.read_bytes()
    done = masgraph("interventions", "links")
    assert done.code == 3
    assert "is write-protected: what stores nothing works (--dry-run" in done.err
    assert masgraph("interventions", "links", "--dry-run").code == 0
    assert masgraph("stats").code == 0
    assert store.read_bytes() == before
    assert store.stat().st_mode & 0o777 == 0o444


def test_a_note_on_the_store_is_said_unless_quiet(masgraph, store):
    with mg.open_store(str(store)) as writer:
        (first, *_) = writer.graphs()
        writer.delete([first.id])
        told = masgraph("interventions", "links", "--dry-run")
        assert "Note: " in told.err
        assert "of its log are newer" in told.err
        assert masgraph("interventions", "links", "--dry-run", "--quiet").err == ""
