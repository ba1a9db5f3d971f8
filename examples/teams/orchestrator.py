"""An orchestrator that splits the task, workers with tools, and a critic that checks."""

from teams.mind import Attempt, Mind, source_of_chance
from teams.stage import HUMAN, TOOL_MEMBERS, USER, Charter, Member, Play, Stage
from teams.task import Step, Task, show
from teams.tools import CALCULATOR, TABLES

METHOD = "orchestrator"
ORCHESTRATOR, CRITIC = "Orchestrator", "Critic"
RETRIEVER, MATHEMATICIAN, PUZZLE_EXPERT = "Retriever", "Mathematician", "PuzzleExpert"
SPECIALIST = {
    "lookup": RETRIEVER,
    "reading": RETRIEVER,
    "arithmetic": MATHEMATICIAN,
    "search": PUZZLE_EXPERT,
    "letters": PUZZLE_EXPERT,
    "logic": PUZZLE_EXPERT,
}
SKILLS: dict[str, dict[str, float]] = {
    RETRIEVER: {"lookup": 0.94, "reading": 0.93},
    MATHEMATICIAN: {"arithmetic": 0.92},
    PUZZLE_EXPERT: {"search": 0.84, "letters": 0.88, "logic": 0.86},
    CRITIC: {
        "arithmetic": 0.9,
        "reading": 0.9,
        "lookup": 0.86,
        "search": 0.8,
        "letters": 0.86,
        "logic": 0.84,
    },
}
NODS_THROUGH = 0.12
REWORKS = 2
WORKERS = (RETRIEVER, MATHEMATICIAN, PUZZLE_EXPERT)
CHARTER = Charter(
    units=(
        (ORCHESTRATOR, "orchestrator"),
        *((name, "specialist") for name in WORKERS),
        (CRITIC, "critic"),
        (TABLES, "tool"),
        (CALCULATOR, "tool"),
    ),
    links=(
        *((ORCHESTRATOR, name, "assigns") for name in (*WORKERS, CRITIC)),
        *((name, ORCHESTRATOR, "reports to") for name in (*WORKERS, CRITIC)),
        # The critic may speak to a worker itself; in these runs all goes by the orchestrator.
        *((CRITIC, name, "corrects") for name in WORKERS),
        (RETRIEVER, TABLES, "calls"),
        (TABLES, RETRIEVER, "answers"),
        (MATHEMATICIAN, CALCULATOR, "calls"),
        (CALCULATOR, MATHEMATICIAN, "answers"),
    ),
)
MEMBERS = (
    USER,
    Member(
        ORCHESTRATOR, "orchestrator", "the leader, who splits the task and gives out the work"
    ),
    Member(RETRIEVER, "specialist", "the worker for texts and tables"),
    Member(MATHEMATICIAN, "specialist", "the worker for numbers"),
    Member(PUZZLE_EXPERT, "specialist", "the worker for searches, letters and logic"),
    Member(CRITIC, "critic", "the critic, who works results out again"),
    TOOL_MEMBERS[TABLES],
    TOOL_MEMBERS[CALCULATOR],
)


def play(task: Task, repetition: int, seed: int, begins: int) -> Play:
    """Plays one run."""
    chance = source_of_chance(seed, METHOD, task.name, repetition)
    stage = Stage(task, METHOD, repetition, MEMBERS, CHARTER, begins, chance)
    tools = {RETRIEVER: frozenset({TABLES}), MATHEMATICIAN: frozenset({CALCULATOR})}
    minds = {
        name: Mind(name, SKILLS[name], chance, tools.get(name, frozenset()))
        for name in (*WORKERS, CRITIC)
    }
    team = _Team(stage, task, minds)
    stage.ask(ORCHESTRATOR)
    plan = "\n".join(
        f"{number}. {step.title} ({SPECIALIST[step.skill]})"
        for number, step in enumerate(task.steps, start=1)
    )
    stage.say(ORCHESTRATOR, f"Plan:\n{plan}", kind="decision")
    for step in task.steps:
        team.settle(step)
    answer = task.answer(team.values)
    place = stage.say(ORCHESTRATOR, f"The answer is {answer}.", HUMAN)
    stage.offer(ORCHESTRATOR, "final", place, answer)
    ended = "the plan is done" if not team.disputed else "the plan is done, with a dispute"
    return stage.close(place, answer, ended, METHOD)


class _Team:
    """The orchestrator's view: what is settled so far."""

    def __init__(self, stage: Stage, task: Task, minds: dict[str, Mind]) -> None:
        self.stage = stage
        self.task = task
        self.minds = minds
        self.values = dict(task.givens)
        self.disputed = False
        self.said: dict[str, str] = {}

    def settle(self, step: Step) -> None:
        """Has a step done, and checked where it is hard or the last one."""
        worker = self.minds[SPECIALIST[step.skill]]
        order = f"{step.title}.{self._known(step)}"
        attempt = self._do(worker, step, order, care=0.0)
        if step is self.task.steps[-1]:
            self._offer(attempt)
        if step.difficulty > 1 or step is self.task.steps[-1]:
            for rework in range(REWORKS):
                objection = self._criticize(step, attempt)
                if objection is None:
                    break
                self.stage.retries += 1
                earlier = attempt
                attempt = self._do(
                    worker,
                    step,
                    f"The critic objects: {objection} Please do it again: {order}",
                    care=0.5,
                )
                if attempt.value == earlier.value and rework == REWORKS - 1:
                    self.disputed = True
                    self.stage.say(
                        ORCHESTRATOR,
                        f"{worker.name} found the same result twice, so I keep it.",
                        kind="decision",
                    )

    def _known(self, step: Step) -> str:
        """What the worker must know: numbers and names, and earlier results in words."""
        small = [
            f"{need.replace('_', ' ')} {show(self.values[need])}"
            for need in step.needs
            if not isinstance(self.values[need], tuple)
        ]
        parts = [f"Known: {'; '.join(small)}."] if small else []
        parts += [self.said[need] for need in step.needs if need in self.said]
        return "".join(f" {part}" for part in parts)

    def _do(self, worker: Mind, step: Step, order: str, care: float) -> Attempt:
        self.stage.say(ORCHESTRATOR, order, worker.name)
        attempt = worker.attempt(step, self.values, care)
        self.stage.use_tool(worker, attempt, self.values)
        self.values[step.key] = attempt.value
        said = attempt.said(self.values)
        if isinstance(attempt.value, tuple):
            self.said[step.key] = said
        place = self.stage.say(worker.name, said, ORCHESTRATOR)
        self.stage.note(METHOD, attempt, place)
        return attempt

    def _offer(self, attempt: Attempt) -> None:
        speaker = SPECIALIST[attempt.step.skill]
        answer = self.task.answer(self.values)
        self.stage.offer(speaker, "initial", len(self.stage.actions) - 1, answer)

    def _criticize(self, step: Step, attempt: Attempt) -> str | None:
        """Has the critic work it out itself; returns its objection, None where it agrees."""
        critic = self.minds[CRITIC]
        said = attempt.said(self.values)
        self.stage.say(ORCHESTRATOR, f"Please check: {step.title}. Result: {said}", CRITIC)
        if critic.happens(NODS_THROUGH):
            self.stage.say(CRITIC, "That looks right.", ORCHESTRATOR, kind="decision")
            return None
        own = critic.attempt(step, self.values, care=0.25)
        if own.value == attempt.value:
            text = f"I worked it out again and agree: {said}"
            self.stage.say(CRITIC, text, ORCHESTRATOR, kind="decision")
            return None
        mine = own.said({**self.values, step.key: own.value})
        self.stage.say(
            CRITIC, f"I do not agree. My own result: {mine}", ORCHESTRATOR, kind="decision"
        )
        return mine
