"""The example data: made again it is the same, every file is read, and the teams differ."""

import json
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from graphstore.model import CollaborationGraph
from ingest.files import LocalFile
from ingest.reader import ReadContext, Rejection
from ingest.registry import default_registry
from ingest.roles import RoleTable

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import make_examples  # noqa: E402
from teams import chain, debate, orchestrator, single, tools  # noqa: E402
from teams.problems import TASKS  # noqa: E402
from teams.stage import Play, tokens  # noqa: E402
from teams.writers import otlp, whowhen  # noqa: E402

TASK = {task.name: task for task in TASKS}


@cache
def plays() -> tuple[Play, ...]:
    return tuple(make_examples.play_all())


@cache
def graphs() -> tuple[CollaborationGraph, ...]:
    context = ReadContext(role_of=RoleTable.default().role_of)
    found = []
    for folder in make_examples.FOLDERS:
        for path in sorted((EXAMPLES / folder).rglob("*")):
            if path.is_file():
                file = LocalFile(str(path), uri=path.relative_to(EXAMPLES).as_posix())
                reader = default_registry().sniff(file.sample)
                assert reader is not None, path
                results = list(reader.read(file, context))
                assert results, path
                rejected = [result for result in results if isinstance(result, Rejection)]
                assert not rejected, rejected[:3]
                found += results
    return tuple(found)


def runs(method: str) -> list[CollaborationGraph]:
    return [
        graph
        for graph in graphs()
        if graph.kind == "run" and graph.method is not None and graph.method.name == method
    ]


def mean(values: list[float]) -> float:
    assert values
    return sum(values) / len(values)


# --- The files


def test_made_again_the_files_are_the_same() -> None:
    assert make_examples.differences(make_examples.make_files(), EXAMPLES) == []


def test_the_script_checks_from_any_folder_in_a_fresh_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "make_examples.py"), "--check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONHASHSEED": "12345"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_tells_what_is_missing_different_or_not_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_examples.main(["--out", str(tmp_path)]) == 0
    (tmp_path / "traces/single.jsonl").write_text("other\n")
    (tmp_path / "traces/debate.jsonl").unlink()
    (tmp_path / "traces/extra.json").write_text("{}")
    capsys.readouterr()
    assert make_examples.main(["--check", "--out", str(tmp_path)]) == 1
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "traces/debate.jsonl is missing",
        "traces/extra.json is made by no run",
        "traces/single.jsonl differs",
    ]


def test_another_seed_plays_other_runs() -> None:
    other = make_examples.play_all(seed=8)
    assert [play.id for play in other] == [play.id for play in plays()]
    assert [play.answer for play in other] != [play.answer for play in plays()]


def test_the_page_shows_the_numbers_of_these_files() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert make_examples.table(list(plays())) in page
    assert f"the same {len(TASKS)} small problems" in page
    assert f"{len(plays())} runs" in page


def test_the_files_stay_small() -> None:
    assert sum(map(len, make_examples.make_files().values())) < 3_000_000


def test_every_file_is_read_and_no_run_is_lost() -> None:
    found = graphs()
    assert len({graph.id for graph in found}) == len(found)
    for method in make_examples.TEAMS:
        assert len(runs(method)) == len(TASKS) * make_examples.REPETITIONS
    assert sum(graph.kind == "decomposition" for graph in found) == len(TASKS)
    assert {graph.source.format for graph in found} == {
        "native",
        "whowhen-handcrafted",
        "otlp",
    }
    assert [
        (graph.source.uri, graph.source.warnings) for graph in found if graph.source.warnings
    ] == []


def test_a_task_is_one_task_in_every_format() -> None:
    formats: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for graph in graphs():
        assert graph.task.dataset == "masgraph-examples"
        assert graph.task.description == TASK[graph.task.name].question
        assert graph.task.category == TASK[graph.task.name].family
        formats[graph.task.id].add((graph.kind, graph.source.format))
    assert len(formats) == len(TASKS)
    for found in formats.values():
        assert found == {
            ("run", "native"),
            ("run", "whowhen-handcrafted"),
            ("run", "otlp"),
            ("decomposition", "native"),
        }


def test_a_method_is_one_method_in_every_format() -> None:
    ids = {(graph.method.id, graph.method.name) for graph in graphs() if graph.method}
    assert len(ids) == len(make_examples.TEAMS) + 1
    assert {name for _, name in ids} == {*make_examples.TEAMS, "plan"}


def test_the_graphs_say_what_was_played() -> None:
    read: dict[tuple[str, str], list[tuple[bool | None, str | None]]] = defaultdict(list)
    played: dict[tuple[str, str], list[tuple[bool | None, str | None]]] = defaultdict(list)
    for graph in graphs():
        if graph.kind == "run" and graph.method is not None:
            key = (graph.method.name, graph.task.name)
            read[key].append((graph.outcome.success, graph.outcome.answer))
            assert graph.outcome.expected == TASK[graph.task.name].expected
    for play in plays():
        played[play.method, play.task.name].append((play.verdict.right, play.answer))
    assert {key: sorted(map(str, value)) for key, value in read.items()} == {
        key: sorted(map(str, value)) for key, value in played.items()
    }


def test_tokens_in_the_files_follow_the_rule() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "abcde")] == [0, 1, 1, 2]
    for method in (single.METHOD, chain.METHOD, debate.METHOD):
        for graph in runs(method):
            written = [node for node in graph.nodes if node.tokens_out is not None]
            assert written
            for node in written:
                assert node.content is not None
                assert node.tokens_out == -(-len(node.content) // 4)


def test_a_team_of_one_name_has_the_same_roles_in_each_format() -> None:
    for method in make_examples.TEAMS:
        roles: dict[str, set[str]] = defaultdict(set)
        for graph in runs(method):
            for agent in graph.agents:
                roles[agent.name].add(agent.role)
        assert {name: found for name, found in roles.items() if len(found) != 1} == {}
        assert "unknown" not in set().union(*roles.values())


# --- The kinds of team differ


def test_success_tokens_and_actions_differ_between_the_teams() -> None:
    success = {
        method: mean([float(graph.outcome.success is True) for graph in runs(method)])
        for method in make_examples.TEAMS
    }
    assert success[single.METHOD] < success[debate.METHOD] < success[orchestrator.METHOD]
    assert success[chain.METHOD] < success[debate.METHOD]
    read = {
        method: mean([play.tokens_in for play in plays() if play.method == method])
        for method in make_examples.TEAMS
    }
    assert read[chain.METHOD] * 2 < read[single.METHOD]
    assert read[single.METHOD] * 1.5 < read[debate.METHOD]
    agents = {
        method: {len(graph.agents) for graph in runs(method)} for method in make_examples.TEAMS
    }
    assert max(agents[single.METHOD]) <= 3
    assert agents[debate.METHOD] == {5}


def reachable_pairs(graph: CollaborationGraph) -> float:
    """The share of ordered pairs of actions joined by a path, by plain search."""
    following = graph.successors()
    count = 0
    for start in following:
        seen: set[str] = set()
        stack = list(following[start])
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack.extend(following[node])
        count += len(seen)
    size = len(graph.nodes)
    return count / (size * (size - 1))


def test_structure_differs_between_the_teams() -> None:
    fan_in = {}
    density = {}
    for method in (single.METHOD, debate.METHOD):
        found = runs(method)
        density[method] = mean(
            [len(g.edges) / (len(g.nodes) * (len(g.nodes) - 1)) for g in found]
        )
        fan_in[method] = max(
            sum(edge.target == node.id for edge in graph.edges)
            for graph in found
            for node in graph.nodes
        )
    # One agent goes from action to action: a path, n - 1 edges, every pair reachable one way.
    for graph in runs(single.METHOD):
        assert len(graph.edges) == len(graph.nodes) - 1
        assert reachable_pairs(graph) == 0.5
    # Debaters of one round do not reach each other.
    for graph in runs(debate.METHOD):
        assert reachable_pairs(graph) < 0.5
    assert fan_in[single.METHOD] == 1
    assert fan_in[debate.METHOD] >= 4
    assert density[debate.METHOD] > 1.2 * density[single.METHOD]


def test_permitted_links_are_known_and_some_are_never_used() -> None:
    for method in (single.METHOD, debate.METHOD, orchestrator.METHOD):
        used: set[tuple[str, str]] = set()
        permitted: set[tuple[str, str]] = set()
        for graph in runs(method):
            if graph.organization is None:
                continue
            unit = {agent.id: agent.unit for agent in graph.agents}
            permitted |= {(link.source, link.target) for link in graph.organization.links}
            used |= {
                (unit[node.agent], unit[to])
                for node in graph.nodes
                for to in node.recipients
                if unit.get(node.agent or "") and unit[to]
            }
        assert used
        assert used <= permitted
        assert (permitted == used) == (method == single.METHOD)


# --- The formats


def test_plans_have_groups_artifacts_resources_and_couplings() -> None:
    plans = [graph for graph in graphs() if graph.kind == "decomposition"]
    bakery = next(graph for graph in plans if graph.task.name == "bakery-takings")
    names = {node.id: node.name for node in bakery.nodes}
    assert {(names[edge.source], names[edge.target]) for edge in bakery.edges} == {
        ("Work out what the loaves bring in", "Add up the takings"),
        ("Work out what the rolls bring in", "Add up the takings"),
        ("Add up the takings", "Take the costs off the takings"),
    }
    assert [node.name for node in bakery.nodes if node.kind == "group"] == ["Income", "Result"]
    assert len(bakery.couplings) == 1
    assert [resource.name for resource in bakery.resources] == ["ledger"]
    assert sum(len(graph.couplings) for graph in plans) >= 10
    assert all(node.parent for graph in plans for node in graph.nodes if node.kind == "subtask")


def test_a_log_keeps_every_turn_and_places_the_mistake() -> None:
    for play in plays():
        if play.method != orchestrator.METHOD:
            continue
        log = whowhen.log(play)
        turns = [
            action
            for action in play.actions
            if action.kind != "tool_call"
            and not set(action.to) & {tools.CALCULATOR, tools.TABLES}
        ]
        assert len(log["history"]) == len(turns)
        assert log["history"][0] == {"content": play.task.question, "role": "human"}
        assert log["history"][-1]["content"].endswith(f"FINAL ANSWER: {play.answer}")
        if play.mistake is not None:
            entry = log["history"][int(log["mistake_step"])]
            assert entry["role"] == play.mistake.speaker


def test_spans_nest_and_hold_64_bit_numbers_as_text() -> None:
    play = next(play for play in plays() if play.method == chain.METHOD)
    trace = json.loads(otlp.lines([play]))
    spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ids = {span["spanId"] for span in spans}
    assert len(ids) == len(spans)
    assert [span["name"] for span in spans if "parentSpanId" not in span] == ["chain.run"]
    for span in spans:
        assert len(span["traceId"]) == 32
        assert len(span["spanId"]) == 16
        assert span.get("parentSpanId", span["spanId"]) in ids
        assert isinstance(span["startTimeUnixNano"], str)
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
