"""A chain: each member gets the note of the one before, and nothing else."""

from typing import Any

from teams.mind import Mind, source_of_chance
from teams.stage import HUMAN, TOOL_MEMBERS, USER, Charter, Member, Play, Stage
from teams.task import Step, Task, listed, show
from teams.tools import CALCULATOR, TABLES

METHOD = "chain"
PLANNER, ANALYST, EXECUTOR, REPORTER = "Planner", "Analyst", "Executor", "Reporter"
MISREADS = 0.07
SKILLS: dict[str, dict[str, float]] = {
    ANALYST: {
        "arithmetic": 0.9,
        "reading": 0.93,
        "lookup": 0.93,
        "search": 0.8,
        "letters": 0.86,
        "logic": 0.84,
    },
    EXECUTOR: {
        "arithmetic": 0.93,
        "reading": 0.92,
        "lookup": 0.86,
        "search": 0.76,
        "letters": 0.88,
        "logic": 0.8,
    },
    REPORTER: {"arithmetic": 0.8, "reading": 0.85, "letters": 0.82},
}
CHARTER = Charter(
    units=(
        (PLANNER, "planner"),
        (ANALYST, "specialist"),
        (EXECUTOR, "executor"),
        (REPORTER, "aggregator"),
        (TABLES, "tool"),
        (CALCULATOR, "tool"),
    ),
    links=(
        (PLANNER, ANALYST, "hands over to"),
        (ANALYST, EXECUTOR, "hands over to"),
        (EXECUTOR, REPORTER, "hands over to"),
        (REPORTER, EXECUTOR, "sends back to"),
        (ANALYST, TABLES, "calls"),
        (TABLES, ANALYST, "answers"),
        (EXECUTOR, CALCULATOR, "calls"),
        (CALCULATOR, EXECUTOR, "answers"),
    ),
)
MEMBERS = (
    USER,
    Member(PLANNER, "planner", "the first of a chain, who notes what is given and asked"),
    Member(ANALYST, "specialist", "the second of a chain, who does the first half"),
    Member(EXECUTOR, "executor", "the third of a chain, who does the second half"),
    Member(REPORTER, "aggregator", "the last of a chain, who writes the answer"),
    TOOL_MEMBERS[TABLES],
    TOOL_MEMBERS[CALCULATOR],
)


def play(task: Task, repetition: int, seed: int, begins: int) -> Play:
    """Plays one run."""
    chance = source_of_chance(seed, METHOD, task.name, repetition)
    stage = Stage(task, METHOD, repetition, MEMBERS, CHARTER, begins, chance)
    planner = Mind(PLANNER, {}, chance)
    analyst = Mind(ANALYST, SKILLS[ANALYST], chance, frozenset({TABLES}))
    executor = Mind(EXECUTOR, SKILLS[EXECUTOR], chance, frozenset({CALCULATOR}))
    reporter = Mind(REPORTER, SKILLS[REPORTER], chance)
    half = -(-len(task.steps) // 2)

    stage.ask(PLANNER)
    values, wrong = planner.misread(task.givens, MISREADS)
    place = stage.say(PLANNER, _reading(task, values), ANALYST)
    if wrong is not None:
        reason = f"{PLANNER} copied {show(values[wrong])} for {show(task.givens[wrong])}."
        stage.blame(METHOD, wrong, place, reason)

    def part(mind: Mind, steps: tuple[Step, ...], to: str) -> int:
        sentences = []
        attempts = []
        for step in steps:
            attempt = mind.attempt(step, values)
            stage.use_tool(mind, attempt, values)
            values[step.key] = attempt.value
            sentences.append(attempt.said(values))
            attempts.append(attempt)
        place = stage.say(mind.name, " ".join(sentences), to)
        for attempt in attempts:
            stage.note(METHOD, attempt, place)
        return place

    part(analyst, task.steps[:half], EXECUTOR)
    place = part(executor, task.steps[half:], REPORTER)
    stage.offer(EXECUTOR, "initial", place, task.answer(values))

    last = task.steps[-1]
    again = reporter.attempt(last, values, care=0.3)
    if again.value != values[last.key] and reporter.happens(0.5):
        # The reporter trusts its own eyes: right as often as not.
        said = again.said(values)
        values[last.key] = again.value
        answer = task.answer(values)
        place = stage.say(
            REPORTER, f"I corrected the last step: {said} The answer is {answer}.", HUMAN
        )
        stage.note(METHOD, again, place)
    else:
        answer = task.answer(values)
        place = stage.say(REPORTER, f"The answer is {answer}.", HUMAN)
    stage.offer(REPORTER, "final", place, answer)
    return stage.close(place, answer, "the last of the chain answered", METHOD)


def _reading(task: Task, values: dict[str, Any]) -> str:
    numbers = [
        f"{name.replace('_', ' ')} {show(value)}"
        for name, value in values.items()
        if not isinstance(value, tuple)
    ]
    titles = [step.title[0].lower() + step.title[1:] for step in task.steps]
    known = (
        f"Given: {listed(numbers)}. "
        if numbers
        else "All that is given stands in the question. "
    )
    return f"{known}To do: {'; '.join(titles)}."
