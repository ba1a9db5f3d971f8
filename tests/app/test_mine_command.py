"""``masgraph mine``: what it prints, what it refuses, and inputs at the edge."""

import json

import pytest

ROLES = ("planner", "solver", "critic")


def plan(name, task, subtasks):
    return {
        "masgraph": 1,
        "kind": "decomposition",
        "id": name,
        "task": {"name": task, "dataset": "d"},
        "subtasks": subtasks,
    }


def run(name, task, count, *, chained=True):
    agents = [{"id": role, "name": role, "role": role} for role in ROLES]
    actions = [
        {
            "id": str(place),
            "agent": ROLES[place % 3],
            "to": [],
            "content": f"Step {place}.",
            "consumes": [str(place - 1)] if chained and place else [],
        }
        for place in range(count)
    ]
    return {
        "masgraph": 1,
        "kind": "run",
        "id": name,
        "task": {"name": task, "dataset": "d"},
        "agents": agents,
        "actions": actions,
    }


def chain(count):
    return [
        {"id": "all", "name": "All", "kind": "group"},
        *(
            {
                "id": str(place),
                "name": f"Do part {place % 7}",
                "parent": "all",
                "consumes": [str(place - 1)] if place else [],
            }
            for place in range(count)
        ),
    ]


def alone(count):
    return [{"id": str(place), "name": f"Do {place}"} for place in range(count)]


@pytest.fixture
def stored(masgraph, tmp_path):
    def put(*graphs):
        path = tmp_path / "graphs.jsonl"
        path.write_text("".join(json.dumps(graph) + "\n" for graph in graphs))
        done = masgraph("ingest", path)
        assert done.code == 0, done.err

    return put


def test_quiet_prints_the_result_and_says_nothing(masgraph, stored):
    stored(run("r", "t", 6), plan("p", "t", chain(4)), plan("empty", "z", []))
    loud = masgraph("mine", "--top", 1)
    assert "more motifs" in loud.err
    assert "no nodes" in loud.err
    quiet = masgraph("mine", "--top", 1, "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.out == loud.out
    saved = masgraph("mine", "-q", "--kind", "run", "--library", "k.json")
    assert (saved.code, saved.err) == (0, "")


def test_unknown_labels_are_told_all_that_are_known(masgraph, stored):
    stored(run("r", "t", 3))
    for labels in ("foo", ""):
        done = masgraph("mine", "--labels", labels)
        assert done.code == 2
        assert done.err == (
            f"masgraph: there are no labels {labels!r}: choose one of types, role/kind, role, "
            "kind, name\n"
        )
    assert "Library" not in masgraph("stats", "--json").json()["counts"]


def test_the_number_of_types_can_be_asked_for(masgraph, stored):
    words = ("search the web", "write a report", "deploy servers")
    steps = [{"id": str(place), "name": name} for place, name in enumerate(words * 2)]
    stored(run("r", "t", 6), *[plan(f"p{n}", f"t{n}", steps) for n in range(4)])
    asked = masgraph("mine", "--kind", "decomposition", "--types", 3, "--json").json()
    (library,) = asked["libraries"]
    assert library["configuration"]["types"]["candidates"] == [3]
    assert (library["summary"]["types"], library["summary"]["types_at_upper_end"]) == (3, False)
    assert [one["k"] for one in library["summary"]["type_choices"]] == [3]
    ranged = masgraph("mine", "--kind", "decomposition", "--types", 1, "--types", 2)
    assert ranged.code == 0
    assert "2 types are the most that were tried, so more may fit better" in ranged.err
    both = masgraph("mine", "--types", 3, "--json").json()["libraries"]
    assert [one["configuration"]["types"] is None for one in both] == [True, False]
    refused = masgraph("mine", "--kind", "run", "--types", 3)
    assert refused.code == 2
    assert "there is no number of types to choose: add  --labels types" in refused.err
    typed = masgraph("mine", "--kind", "run", "--labels", "types", "--types", 2)
    assert typed.code == 0


def test_a_support_that_nothing_has_is_said(masgraph, stored):
    stored(run("r", "t", 6))
    done = masgraph("mine", "--kind", "run", "--min-task-support", 1000)
    assert done.code == 0
    assert "motifs has the support that was asked for: lower --min-task-support" in done.err


@pytest.mark.parametrize("name", ["types-by-support", "rules-by-support", "motifs-by-support"])
def test_rankings_tell_runs_from_decompositions(masgraph, stored, name):
    stored(run("r", "t", 6), plan("p", "t", chain(6)))
    assert masgraph("mine", "--labels", "types").code == 0

    def scopes(*options):
        rows = masgraph("query", name, "--json", "--rows", 999, "-p", "limit=999", *options)
        return {row["scope"] for row in rows.json()["rows"]}

    assert scopes() == {"run", "decomposition"}
    assert scopes("-p", "scope=run") == {"run"}


def test_an_empty_store_has_nothing_to_mine(masgraph, stored):
    stored(run("r", "t", 3))
    for arguments in (("--kind", "decomposition"), ("--task", "nothing")):
        done = masgraph("mine", *arguments)
        assert done.code != 0
        assert (
            done.err == "masgraph: no graph matches: see what is there with  masgraph stats\n"
        )
        assert done.out == ""


@pytest.mark.parametrize(
    ("graphs", "tasks", "found"),
    [
        pytest.param([plan("p", "t", chain(4))], 1, 5, id="one task"),
        pytest.param([plan("p", "t", alone(1))], 1, 0, id="one leaf"),
        pytest.param([run("r", "t", 1)], 1, 0, id="one action"),
        pytest.param(
            [plan(f"p{place}", f"t{place}", alone(4)) for place in range(3)],
            3,
            0,
            id="no dependencies",
        ),
        pytest.param(
            [run(f"r{place}", f"t{place}", 4, chained=False) for place in range(2)],
            2,
            0,
            id="nothing consumed",
        ),
    ],
)
def test_small_inputs_give_a_library(masgraph, stored, graphs, tasks, found):
    stored(*graphs)
    done = masgraph("mine", "--json")
    assert done.code == 0, done.err
    (library,) = done.json()["libraries"]
    summary = library["summary"]
    assert (summary["tasks"], summary["graphs"]) == (tasks, len(graphs))
    assert summary["occurrences"] == found
    assert masgraph("mine", "-q").code == 0


def test_graphs_of_one_task_support_it_once(masgraph, stored):
    stored(*[plan(f"p{place}", "t", chain(4)) for place in range(3)])
    (library,) = masgraph("mine", "--labels", "name", "--json").json()["libraries"]
    assert (library["summary"]["tasks"], library["summary"]["graphs"]) == (1, 3)
    # Three pairs and two chains of four parts.
    assert len(library["motifs"]) == 5
    assert {motif["task_support"] for motif in library["motifs"]} == {1}
    assert {motif["graph_support"] for motif in library["motifs"]} == {3}


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "star"])
def test_five_thousand_leaves_in_one_task(masgraph, stored, shape):
    subtasks = chain(5000)
    if shape == "star":
        for place, subtask in enumerate(subtasks[2:], start=1):
            subtask["consumes"] = ["0"] if place else []
    stored(plan("p", "t", subtasks))
    done = masgraph("mine", "--labels", "name", "--json")
    assert done.code == 0, done.err
    (library,) = done.json()["libraries"]
    summary = library["summary"]
    if shape == "chain":
        assert summary["occurrences"] == 4999 + 4998
        assert summary["skipped"] == []
    else:
        assert summary["occurrences"] == 4999 + 4999 * 4998 // 2
        ((reason,),) = [[one["reason"]] for one in summary["skipped"]]
        assert "no rules" in reason
        assert "max_occurrences" in reason


def test_the_report_shows_what_was_mined(masgraph, stored, tmp_path):
    stored(run("r1", "t1", 4), run("r2", "t2", 4))
    sections = ('id="types-by-support"', 'id="rules-by-support"')
    assert masgraph("report", "-o", "before.html").code == 0
    before = (tmp_path / "before.html").read_text()
    assert not any(section in before for section in sections)
    assert "No motifs have been mined yet" in before
    masgraph("mine")
    masgraph("report", "-o", "after.html")
    after = (tmp_path / "after.html").read_text()
    assert all(section in after for section in sections)
    assert "critic/agent_message" in after
