"""One agent: it plans, works step by step, looks back once, and answers."""

from teams.mind import Attempt, Mind, source_of_chance
from teams.stage import HUMAN, TOOL_MEMBERS, USER, Charter, Member, Play, Stage
from teams.task import Task
from teams.tools import TABLES

METHOD = "single"
SOLVER = "Solver"
SKILLS = {
    "arithmetic": 0.87,
    "reading": 0.92,
    "lookup": 0.88,
    "search": 0.8,
    "letters": 0.85,
    "logic": 0.82,
}
LOOKS_BACK = 0.5
CHARTER = Charter(
    units=((SOLVER, "solver"), (TABLES, "tool")),
    links=((SOLVER, TABLES, "calls"), (TABLES, SOLVER, "answers")),
)
MEMBERS = (
    USER,
    Member(SOLVER, "solver", "a careful all-rounder"),
    TOOL_MEMBERS[TABLES],
)


def play(task: Task, repetition: int, seed: int, begins: int) -> Play:
    """Plays one run."""
    chance = source_of_chance(seed, METHOD, task.name, repetition)
    stage = Stage(task, METHOD, repetition, MEMBERS, CHARTER, begins, chance)
    mind = Mind(SOLVER, SKILLS, chance, frozenset({TABLES}))
    stage.ask(SOLVER)
    plan = "; then ".join(step.title[0].lower() + step.title[1:] for step in task.steps)
    stage.say(SOLVER, f"My plan: {plan}.")
    values = dict(task.givens)
    done: list[Attempt] = []

    def work(start: int, care: float) -> None:
        for step in task.steps[start:]:
            attempt = mind.attempt(step, values, care)
            stage.use_tool(mind, attempt, values)
            values[step.key] = attempt.value
            place = stage.say(SOLVER, attempt.said(values))
            stage.note(SOLVER, attempt, place)
            done[start:] = [*done[start:], attempt]

    work(0, care=0.0)
    stage.offer(SOLVER, "initial", len(stage.actions) - 1, task.answer(values))
    if mind.happens(LOOKS_BACK):
        position = int(chance.random() * len(task.steps))
        step = task.steps[position]
        again = mind.attempt(step, values, care=0.3)
        same = again.value == values[step.key]
        topic = step.title[0].lower() + step.title[1:]
        if same:
            stage.say(
                SOLVER, f"I look back: {topic}. The same result, so I keep it.", kind="decision"
            )
        else:
            place = stage.say(
                SOLVER,
                f"I look back: {topic}. This time: {again.said(values)} "
                "I take the new result and go on from there.",
                kind="decision",
            )
            values[step.key] = again.value
            stage.note(SOLVER, again, place)
            work(position + 1, care=0.0)
    answer = task.answer(values)
    place = stage.say(SOLVER, f"The answer is {answer}.", HUMAN)
    stage.offer(SOLVER, "final", place, answer)
    return stage.close(place, answer, "the solver answered", SOLVER)
