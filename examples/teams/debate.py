"""A debate: three debaters answer, read each other, and a judge counts the votes."""

import math
from collections import Counter
from dataclasses import dataclass

from teams.mind import Attempt, Mind, source_of_chance
from teams.stage import HUMAN, USER, Charter, Member, Play, Stage
from teams.task import Task, listed

METHOD = "debate"
JUDGE, CHECKER = "Judge", "FactChecker"
DEBATERS = ("Mira", "Otto", "Pavel")
SKILLS: dict[str, dict[str, float]] = {
    "Mira": {
        "arithmetic": 0.9,
        "reading": 0.9,
        "lookup": 0.85,
        "search": 0.78,
        "letters": 0.82,
        "logic": 0.9,
    },
    "Otto": {
        "arithmetic": 0.82,
        "reading": 0.9,
        "lookup": 0.9,
        "search": 0.84,
        "letters": 0.86,
        "logic": 0.8,
    },
    "Pavel": {
        "arithmetic": 0.85,
        "reading": 0.86,
        "lookup": 0.8,
        "search": 0.82,
        "letters": 0.9,
        "logic": 0.84,
    },
}
YIELDS = {"Mira": 0.25, "Otto": 0.6, "Pavel": 0.45}
"""How readily each gives way to a majority without seeing its own mistake."""
ROUNDS = 3
SECOND_LOOK = 0.35
CHARTER = Charter(
    units=(
        *((name, "proposer") for name in DEBATERS),
        (JUDGE, "aggregator"),
        (CHECKER, "verifier"),
    ),
    links=(
        *(
            (one, other, "argues with")
            for one in DEBATERS
            for other in DEBATERS
            if one != other
        ),
        *((name, JUDGE, "reports to") for name in DEBATERS),
        *((JUDGE, name, "calls on") for name in DEBATERS),
        (JUDGE, CHECKER, "consults"),
        (CHECKER, JUDGE, "answers"),
    ),
)
# The fact checker may be consulted, and no run of this team does: it is a unit, no member.
MEMBERS = (
    USER,
    *(Member(name, "proposer", "one of three debaters") for name in DEBATERS),
    Member(JUDGE, "aggregator", "the judge, who counts the votes"),
)


@dataclass
class _Stand:
    """What a debater holds at the moment.

    Attributes:
        mind: The debater.
        answer: Its answer.
        belief: How sure it is, from 0 to 1.
        author: Whose working stands behind the answer.
        last: The action that said so.
    """

    mind: Mind
    answer: str = ""
    belief: float = 0.0
    author: str = ""
    last: int = 0

    def work(self, task: Task, care: float) -> tuple[list[Attempt], str]:
        """Works the whole plan out afresh; returns the attempts and the sentences."""
        values = dict(task.givens)
        attempts, sentences = [], []
        for step in task.steps:
            attempt = self.mind.attempt(step, values, care)
            values[step.key] = attempt.value
            attempts.append(attempt)
            sentences.append(attempt.said(values))
        self.belief = math.prod(attempt.chance for attempt in attempts)
        self.answer = task.answer(values)
        self.author = self.mind.name
        return attempts, " ".join(sentences)


def play(task: Task, repetition: int, seed: int, begins: int) -> Play:
    """Plays one run."""
    chance = source_of_chance(seed, METHOD, task.name, repetition)
    stage = Stage(task, METHOD, repetition, MEMBERS, CHARTER, begins, chance)
    stands = {name: _Stand(Mind(name, SKILLS[name], chance)) for name in DEBATERS}
    stage.ask(*DEBATERS, JUDGE)
    with stage.together():
        for name, stand in stands.items():
            _speak_first(stage, task, name, stand)
    rounds = 1
    while len({stand.answer for stand in stands.values()}) > 1 and rounds < ROUNDS:
        if rounds == ROUNDS - 1:
            stage.say(
                JUDGE,
                "You still do not agree. Please check your own working once more.",
                *DEBATERS,
                round=rounds,
            )
        held = {name: (stand.answer, stand.author) for name, stand in stands.items()}
        with stage.together():
            for name, stand in stands.items():
                _speak_again(stage, task, name, stand, held, rounds)
        rounds += 1
    votes = Counter(stand.answer for stand in stands.values())
    agreed = len(votes) == 1
    most = max(votes.values())
    winner = max(
        (stand for stand in stands.values() if votes[stand.answer] == most),
        key=lambda stand: stand.belief,
    )
    for name, stand in stands.items():
        stage.offer(name, "final", stand.last, stand.answer)
    counted = "; ".join(f"{count} for {answer}" for answer, count in votes.items())
    stage.say(JUDGE, f"Votes: {counted}.", kind="decision", round=rounds)
    place = stage.say(JUDGE, f"The answer is {winner.answer}.", HUMAN, round=rounds)
    reason = "all agree" if agreed else "majority vote" if most > 1 else "no majority"
    return stage.close(place, winner.answer, reason, winner.author)


def _speak_first(stage: Stage, task: Task, name: str, stand: _Stand) -> None:
    attempts, said = stand.work(task, care=0.0)
    others = [other for other in DEBATERS if other != name]
    text = f"{said} My answer is {stand.answer}. I am {stand.belief:.0%} sure."
    stand.last = stage.say(name, text, *others, JUDGE, round=0)
    for attempt in attempts:
        stage.note(name, attempt, stand.last)
    stage.offer(name, "initial", stand.last, stand.answer)


def _speak_again(
    stage: Stage,
    task: Task,
    name: str,
    stand: _Stand,
    held: dict[str, tuple[str, str]],
    round: int,
) -> None:
    """Stays in the majority; else looks again, and then stands firm or gives way."""
    votes = Counter(answer for answer, _ in held.values())
    mine = stand.answer
    against = [other for other in DEBATERS if held[other][0] != mine]
    if votes[mine] > 1:
        text = f"I stay with {mine}, which {votes[mine]} of us found."
        stand.last = stage.say(name, text, *against, JUDGE, round=round)
        return
    before, author, belief = stand.answer, stand.author, stand.belief
    attempts, said = stand.work(task, care=SECOND_LOOK)
    backers = [other for other in against if held[other][0] == stand.answer]
    leading, count = votes.most_common(1)[0]
    if stand.answer != before:
        agreeing = f", as {listed(backers)} said" if backers else ""
        text = f"I checked again. {said} I now answer {stand.answer}{agreeing}."
        kept = attempts
    elif count > 1 and stand.mind.happens(YIELDS[name]):
        text = f"I find {before} again, but two of you say {leading}, so I join you."
        stand.answer, stand.belief, kept = leading, belief / 2, []
        author = next(other for other in against if held[other][0] == leading)
        stand.author = held[author][1]
    else:
        text = f"I checked again. {said} I still find {before}."
        kept = attempts
    stand.last = stage.say(name, text, *against, JUDGE, round=round)
    for attempt in kept:
        stage.note(name, attempt, stand.last)
