"""The example data: made again it is the same, every file is read, and the teams differ."""

import json
import subprocess
import sys
from collections import defaultdict
from fractions import Fraction
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
from teams.mind import Mind, source_of_chance  # noqa: E402
from teams.problems import TASKS  # noqa: E402
from teams.stage import Play, Stage, tokens  # noqa: E402
from teams.writers import otlp, whowhen  # noqa: E402

# Worked out by hand, from the questions' texts.
ANSWERS = {
    "bakery-takings": "95",
    "rain-barrel": "131",
    "fence-posts": "2352",
    "school-trip": "2468",
    "flour-bags": "3",
    "runner-pace": "25",
    "fuel-bill": "72.8",
    "order-value": "239",
    "city-weight": "24400",
    "best-customer": "Emil",
    "country-buyers": "4",
    "harbour-route": "Quay-Fort-Dock-Park-Mill (8 km)",
    "mountain-hut": "Valley-Farm-Chapel-Hut (11 km)",
    "courier-round": "Depot-Theatre-School-Clinic-Bank-Depot (21 km)",
    "hiking-bag": "stove, rope, camera; value 19",
    "meeting-room": "Design, Hiring, Sales, Team",
    "print-jobs": "ticket, flyer, menu, poster, manual; 25 minutes",
    "caesar-note": "NRTNL",
    "acrostic-key": "GQTU",
    "badge-code": "MRG-7-16",
    "seating-row": "Ada-Ben-Cleo-Eve-Dan",
    "nurse-shifts": "Lou-Max-Kim-Nia",
    "lock-number": "273",
}
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
            assert graph.outcome.expected == ANSWERS[graph.task.name]
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


# --- The problems and their checkers


def test_the_answers_are_those_worked_out_by_hand() -> None:
    assert {task.name: task.expected for task in TASKS} == ANSWERS
    assert len({task.family for task in TASKS}) >= 6


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_checker_takes_the_right_answer_and_no_other(task) -> None:
    assert task.check(ANSWERS[task.name]).right
    for other in set(ANSWERS.values()) - {ANSWERS[task.name]}:
        assert not task.check(other).right
    for nonsense in ("", "nothing", "no path (0 km)", "no order", "?"):
        verdict = task.check(nonsense)
        assert not verdict.right
        assert verdict.score < 1


@pytest.mark.parametrize(
    ("name", "answer", "valid", "score"),
    [
        ("rain-barrel", "109", True, 0.416),  # off by 22 of 131: (1 - 22/131) / 2
        ("rain-barrel", "1000", True, 0.0),
        ("best-customer", "Abel", True, 0.0),
        ("best-customer", "Zoe", False, 0.0),
        ("harbour-route", "Quay-Mill (6 km)", True, 0.0),  # that road is closed
        ("harbour-route", "Quay-Fort-Dock-Park-Mill (9 km)", True, 0.5),  # wrong sum
        ("harbour-route", "Quay-Dock-Park-Mill (9 km)", True, 0.889),  # 8 / 9
        ("harbour-route", "Quay-Park-Mill (9 km)", True, 0.0),  # no such road
        ("courier-round", "Depot-Bank-Clinic-School-Theatre-Depot (21 km)", True, 1.0),
        ("courier-round", "Depot-Bank-Clinic-Depot (9 km)", True, 0.0),
        ("hiking-bag", "tent, camera; value 18", True, 0.947),  # 18 / 19
        ("hiking-bag", "tent, stove, rope; value 21", True, 0.0),  # 10 kg
        ("hiking-bag", "fuel can, tent, rope; value 22", True, 0.0),  # may not fly
        ("hiking-bag", "tent, tent; value 20", False, 0.0),
        ("meeting-room", "Design, Sales, Team", True, 0.75),
        ("meeting-room", "Design, Budget", True, 0.0),  # both at nine
        ("print-jobs", "ticket, flyer, menu, poster, manual; 24 minutes", True, 0.5),
        ("caesar-note", "NRTLN", True, 0.6),
        ("seating-row", "Ben-Ada-Cleo-Eve-Dan", True, 0.8),  # four of five rules
        ("seating-row", "Ada-Ben-Cleo-Dan", False, 0.0),
        ("lock-number", "200", True, 0.366),
    ],
)
def test_partial_scores(name: str, answer: str, valid: bool, score: float) -> None:
    verdict = TASK[name].check(answer)
    assert (verdict.valid, verdict.score) == (valid, score)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_slip_is_a_computation_that_can_go_wrong(task) -> None:
    harmful = 0
    for wrong in task.steps:
        for slip in wrong.slips:
            values = dict(task.givens)
            for step in task.steps:
                values[step.key] = (slip if step is wrong else step).compute(values)
                assert step.say(values, values[step.key])
            harmful += not task.check(task.answer(values)).right
    assert harmful >= 2


def test_a_plan_takes_only_what_is_there_before() -> None:
    for task in TASKS:
        known = set(task.givens)
        for step in task.steps:
            assert set(step.needs) <= known, (task.name, step.key)
            known.add(step.key)


# --- The members


def test_the_calculator_is_exact_and_refuses_what_it_does_not_know() -> None:
    assert tools.calculate("512 * 6.5 / 100 * 1.75") == Fraction("58.24")
    assert tools.calculate("ceil(158 / 52) - floor(158 / 52)") == 1
    for bad in ("2 ** 9", "__import__('os')", "1 / 0", "1 +", "x", "ceil(1, 2)"):
        with pytest.raises(ValueError, match="calculator"):
            tools.calculate(bad)


def test_the_table_look_up_filters_and_selects() -> None:
    query = tools.Query("orders", ("product", "count"), "order", ("O-204",))
    assert tools.look_up(query) == (("blanket", 2), ("clock", 6), ("vase", 1))
    assert str(query) == "product, count of orders where order is O-204"


def test_skill_decides_and_a_tool_helps() -> None:
    step = TASK["bakery-takings"].steps[0]
    values = TASK["bakery-takings"].solve()

    def wrong(skill: float, with_tool: bool) -> int:
        chance = source_of_chance("skill", skill, with_tool)
        held = frozenset({tools.CALCULATOR}) if with_tool else frozenset()
        return sum(
            Mind("X", {"arithmetic": skill}, chance, held).attempt(step, values).value != 144
            for _ in range(2000)
        )

    assert wrong(1.0, False) == 0
    assert 0.15 < wrong(0.8, False) / 2000 < 0.25
    assert 0.07 < wrong(0.8, True) / 2000 < 0.13


def test_nobody_with_a_calculator_loses_a_carry() -> None:
    for play in plays():
        for action in play.actions:
            if action.name == tools.CALCULATOR and action.status == "ok":
                asked = action.arguments["expression"]
                told = Fraction(action.content.removeprefix(f"{asked} = "))
                assert abs(told - tools.calculate(asked)) <= Fraction(1, 200)


def test_tools_fail_now_and_then_and_are_asked_again() -> None:
    failed = 0
    for play in plays():
        for place, action in enumerate(play.actions):
            if action.status == "error":
                failed += 1
                again = next(
                    later for later in play.actions[place + 1 :] if later.kind == "tool_call"
                )
                assert again.arguments == action.arguments
    assert failed >= 10


def test_a_failed_run_names_the_mistake_that_decided_it() -> None:
    for play in plays():
        assert (play.mistake is None) == play.verdict.right
        if play.mistake is not None:
            assert play.actions[play.mistake.action].speaker == play.mistake.speaker


def test_a_chain_passes_its_mistakes_on() -> None:
    misread = [play for play in plays() if play.mistake and "copied" in play.mistake.reason]
    assert misread
    for play in misread:
        wrong = play.mistake.reason.split()[2]
        assert wrong in play.actions[play.mistake.action].content
        assert wrong not in play.task.question.split()


def test_debaters_answer_before_they_hear_each_other_and_can_agree_on_a_mistake() -> None:
    debates = [play for play in plays() if play.method == debate.METHOD]
    for play in debates:
        for action in play.actions[1:4]:
            assert action.round == 0
            assert action.consumes == (0,)
    firsts = {
        play.id: [o.value for o in play.offers if o.phase == "initial"] for play in debates
    }
    lost = [
        play
        for play in debates
        if not play.verdict.right and play.task.expected in firsts[play.id]
    ]
    won = [play for play in debates if play.verdict.right and len(set(firsts[play.id])) > 1]
    assert lost, "no debate talked a right debater down"
    assert len(won) > len(lost)


def test_the_critic_really_works_it_out_and_can_be_wrong_itself() -> None:
    objections = repaired = needless = 0
    for play in plays():
        if play.method != orchestrator.METHOD:
            continue
        for place, action in enumerate(play.actions):
            if action.content.startswith("I do not agree"):
                objections += 1
                assert play.actions[place + 1].content.startswith("The critic objects")
        if any(action.content.startswith("I do not agree") for action in play.actions):
            initial = [o for o in play.offers if o.phase == "initial"]
            repaired += not initial[0].verdict.right and play.verdict.right
            needless += initial[0].verdict.right and play.verdict.right
    assert objections >= 10
    assert repaired >= 1
    assert needless >= 1


def test_nobody_starts_before_what_it_consumed_has_ended() -> None:
    for play in plays():
        for place, action in enumerate(play.actions):
            assert action.ended_at >= action.started_at
            for source in action.consumes:
                assert source < place
                assert play.actions[source].ended_at <= action.started_at


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


def test_a_stage_hears_speakers_of_one_moment_afterwards() -> None:
    stage = Stage(
        TASK["rain-barrel"],
        "debate",
        1,
        debate.MEMBERS,
        debate.CHARTER,
        0,
        source_of_chance("stage"),
    )
    stage.ask("Mira", "Otto")
    with stage.together():
        stage.say("Mira", "one", "Otto")
        stage.say("Otto", "two", "Mira")
    stage.say("Mira", "three")
    stage.say("Mira", "four")
    assert [action.consumes for action in stage.actions] == [(), (0,), (0,), (2,), (3,)]
