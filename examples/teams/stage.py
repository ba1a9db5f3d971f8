"""What a team does, written down as it happens: the neutral record of a run."""

import random
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from graphstore.model import AgentKind, ProposalPhase, Role, Status
from teams.mind import Attempt, Mind
from teams.task import Task, Verdict, show
from teams.tools import CALCULATOR, TABLES, calculate, look_up

ActionKind = Literal["agent_message", "tool_call", "decision"]

EPOCH = 1_767_603_600_000_000_000
"""The first run begins on 2026-01-05 at 09:00 UTC, in nanoseconds."""
CHARACTERS_A_TOKEN = 4
MILLISECOND = 1_000_000
TOOL_FAILURE = 0.1
HUMAN = "User"
PROMPT = "You are {name}, {duty}. Work on your part of the task and keep to the facts."


def tokens(text: str) -> int:
    """The examples' rule: one token for each four characters, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


@dataclass(frozen=True)
class Member:
    """Somebody or something in a team.

    Attributes:
        name: Its name.
        role: A role of the shared vocabulary.
        duty: What its prompt says it does.
        kind: ``agent``, ``tool`` or ``human``.
    """

    name: str
    role: Role
    duty: str = ""
    kind: AgentKind = "agent"

    @property
    def prompt(self) -> str:
        """The system prompt, which each of its calls reads."""
        return PROMPT.format(name=self.name, duty=self.duty)


@dataclass(frozen=True)
class Charter:
    """Who may send to whom in a kind of team.

    Attributes:
        units: Names and roles.
        links: Sender, receiver and the relation's name.
    """

    units: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str, str], ...]


@dataclass
class Action:
    """One action of a run. Times in nanoseconds; ``consumes`` holds positions of actions."""

    speaker: str
    kind: ActionKind
    name: str
    content: str
    to: tuple[str, ...]
    consumes: tuple[int, ...]
    started_at: int
    ended_at: int
    round: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    status: Status | None = None
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Offer:
    """An answer that somebody, or the whole team (None), put forward."""

    speaker: str | None
    phase: ProposalPhase
    action: int
    value: str
    verdict: Verdict


@dataclass(frozen=True)
class Mistake:
    """The slip that decided a failed run."""

    speaker: str
    action: int
    reason: str


@dataclass(frozen=True)
class Play:
    """A whole run."""

    id: str
    task: Task
    method: str
    repetition: int
    members: tuple[Member, ...]
    charter: Charter
    actions: tuple[Action, ...]
    offers: tuple[Offer, ...]
    answer: str
    verdict: Verdict
    termination: str
    retries: int
    mistake: Mistake | None

    @property
    def tokens_in(self) -> int:
        return sum(action.tokens_in or 0 for action in self.actions)

    @property
    def tokens_out(self) -> int:
        return sum(action.tokens_out or 0 for action in self.actions)

    @property
    def calls(self) -> int:
        """Calls of a model: actions with tokens."""
        return sum(action.tokens_out is not None for action in self.actions)

    @property
    def latency(self) -> float:
        """Seconds from the first action's start to the last one's end."""
        ends = max(action.ended_at for action in self.actions)
        return (ends - self.actions[0].started_at) / 1e9


@dataclass
class Stage:
    """Writes a run down: who spoke to whom, when, at what cost, and who slipped.

    An action consumes what its speaker heard since the speaker's last action, else it
    continues that action; it cannot start before those have ended.
    """

    task: Task
    method: str
    repetition: int
    members: tuple[Member, ...]
    charter: Charter
    begins: int
    chance: random.Random
    actions: list[Action] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    retries: int = 0
    _unheard: list[tuple[int, str]] | None = None
    _inbox: dict[str, list[int]] = field(default_factory=dict)
    _memory: dict[str, list[int]] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)
    _slips: dict[str, dict[str, Mistake]] = field(default_factory=dict)

    def member(self, name: str) -> Member:
        return next(member for member in self.members if member.name == name)

    def ask(self, *to: str) -> int:
        """The human puts the question to members."""
        return self._act(HUMAN, "agent_message", HUMAN, self.task.question, to, 0)

    def say(
        self,
        speaker: str,
        text: str,
        *to: str,
        kind: ActionKind = "agent_message",
        round: int | None = None,
    ) -> int:
        """A member writes a message, to members or to nobody (a thought).

        Returns:
            The action's position.
        """
        heard = sum(
            tokens(self.actions[place].content) for place in self._memory.get(speaker, [])
        )
        read = tokens(self.member(speaker).prompt) + heard
        written = tokens(text)
        pace = 350 + 18 * written + 0.4 * read
        took = int(pace * (0.9 + 0.2 * self.chance.random())) * MILLISECOND
        place = self._act(speaker, kind, speaker, text, to, took)
        action = self.actions[place]
        action.round, action.tokens_in, action.tokens_out = round, read, written
        return place

    @contextmanager
    def together(self) -> Iterator[None]:
        """Members speak at once: they hear each other when all have spoken."""
        self._unheard = []
        yield
        waiting, self._unheard = self._unheard, None
        for place, receiver in waiting:
            self._hear(place, receiver)

    def _hear(self, place: int, receiver: str) -> None:
        if self._unheard is not None:
            self._unheard.append((place, receiver))
            return
        self._inbox.setdefault(receiver, []).append(place)
        self._memory.setdefault(receiver, []).append(place)

    def _act(
        self, speaker: str, kind: ActionKind, name: str, text: str, to: Iterable[str], took: int
    ) -> int:
        place = len(self.actions)
        consumes = tuple(self._inbox.pop(speaker, ()))
        if not consumes and speaker in self._last:
            consumes = (self._last[speaker],)
        earlier = {*consumes, *({self._last[speaker]} if speaker in self._last else ())}
        starts = max((self.actions[one].ended_at for one in earlier), default=self.begins)
        receivers = tuple(to)
        self.actions.append(
            Action(speaker, kind, name, text, receivers, consumes, starts, starts + took)
        )
        self._last[speaker] = place
        self._memory.setdefault(speaker, []).append(place)
        for receiver in receivers:
            self._hear(place, receiver)
        return place

    def _call(
        self, caller: str, tool: str, arguments: Mapping[str, Any], text: str, ok: bool
    ) -> int:
        took = int(120 + 200 * self.chance.random()) * MILLISECOND
        place = self._act(tool, "tool_call", tool, text, (caller,), took if ok else 10 * took)
        self.actions[place].arguments = arguments
        self.actions[place].status = "ok" if ok else "error"
        return place

    def use_tool(self, mind: Mind, attempt: Attempt, values: Mapping[str, Any]) -> None:
        """Calls the tool that an attempt needs, again where it fails.

        The tool is really asked: what the member meant to ask, right or wrong, is computed.
        """
        step = attempt.step
        if step.tool not in mind.tools:
            return
        if step.tool == CALCULATOR:
            expression = attempt.expression(values)
            if expression is None or expression.isdecimal():
                return
            arguments: dict[str, Any] = {"expression": expression}
            question, answer = expression, f"{expression} = {show(calculate(expression))}"
        else:
            if step.query is None or attempt.slip is not None:
                return
            query = step.query(values)
            arguments = {"table": query.table, "select": list(query.select)}
            if query.column is not None:
                arguments |= {"column": query.column, "is": list(query.wanted)}
            rows = "; ".join(" ".join(show(cell) for cell in row) for row in look_up(query))
            question, answer = str(query), rows or "no rows"
        tool = TABLES if step.tool == TABLES else CALCULATOR
        label = "table look-up" if tool == TABLES else "calculator"
        self.say(mind.name, f"I ask the {label}: {question}.", tool)
        while self.chance.random() < TOOL_FAILURE:
            self._call(
                mind.name, tool, arguments, "Error: the tool did not answer in time.", False
            )
            self.retries += 1
            self.say(mind.name, f"The {label} timed out. I ask again: {question}.", tool)
        self._call(mind.name, tool, arguments, answer, True)

    def note(
        self, author: str, attempt: Attempt, action: int, reason: str | None = None
    ) -> None:
        """Remembers whether a result that is kept was a slip."""
        mine = self._slips.setdefault(author, {})
        mine.pop(attempt.step.key, None)
        if attempt.slip is not None:
            speaker = self.actions[action].speaker
            why = reason or f"{speaker} {attempt.slip.name}."
            mine[attempt.step.key] = Mistake(speaker, action, why)

    def blame(self, author: str, key: str, action: int, reason: str) -> None:
        """Remembers a mistake that is no step's."""
        self._slips.setdefault(author, {})[key] = Mistake(
            self.actions[action].speaker, action, reason
        )

    def offer(
        self, speaker: str | None, phase: ProposalPhase, action: int, value: str
    ) -> Verdict:
        """An answer is put forward, and checked for the record (nobody in the team is told)."""
        verdict = self.task.check(value)
        self.offers.append(Offer(speaker, phase, action, value, verdict))
        return verdict

    def close(self, action: int, answer: str, termination: str, author: str) -> Play:
        """Ends the run with the team's answer.

        Args:
            action: The action that gave the answer.
            answer: The answer.
            termination: Why the run stopped.
            author: Whose results the answer was made of: whose slips decided it.
        """
        verdict = self.offer(None, "answer", action, answer)
        kept = sorted(self._slips.get(author, {}).values(), key=lambda slip: slip.action)
        return Play(
            id=f"{self.task.name}-{self.method}-{self.repetition}",
            task=self.task,
            method=self.method,
            repetition=self.repetition,
            members=self.members,
            charter=self.charter,
            actions=tuple(self.actions),
            offers=tuple(self.offers),
            answer=answer,
            verdict=verdict,
            termination=termination,
            retries=self.retries,
            mistake=kept[0] if kept and not verdict.right else None,
        )


TOOL_MEMBERS = {
    CALCULATOR: Member(CALCULATOR, "tool", kind="tool"),
    TABLES: Member(TABLES, "tool", kind="tool"),
}
USER = Member(HUMAN, "human", kind="human")
