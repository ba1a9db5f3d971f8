"""The simulated teams: their problems, their checkers, their members."""

import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import make_examples  # noqa: E402
from teams import debate, orchestrator, tools  # noqa: E402
from teams.mind import Mind, source_of_chance  # noqa: E402
from teams.problems import TASKS  # noqa: E402
from teams.stage import Play, Stage  # noqa: E402
from teams.task import Task  # noqa: E402

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


# --- The problems and their checkers


def test_the_answers_are_those_worked_out_by_hand() -> None:
    assert {task.name: task.expected for task in TASKS} == ANSWERS
    assert len({task.family for task in TASKS}) >= 6


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_the_checker_takes_the_right_answer_and_no_other(task: Task) -> None:
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
def test_a_slip_is_a_computation_that_can_go_wrong(task: Task) -> None:
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
