"""The ``meta.log`` of ChatDev Puppeteer: the sequences of agents of all paths of a question."""

import ast
import re

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Outcome
from ingest.json_text import DECODE_ERRORS
from ingest.readers.decoding import short_name

UNIT = "question"
"""The unit of every proposal: a folder of results is about one question."""

RECORD = re.compile(r"^\[(\d\d:\d\d:\d\d) [A-Z]+\]\r?\n", re.MULTILINE)
_SEQUENCE = re.compile(r"Reasoning Path: (\d{1,9})\s+Agent Sequence: (.*)")
_STEP = re.compile(r"-+\[Reasoning Path ?(\d{1,9}) STEP\]-+")
_DONE = re.compile(r"-+\[DONE\]: Reasoning Path ?(\d{1,9}) STEP-+")
_SPLIT = re.compile(r"Split Reasoning Paths: \[([\d, ]*)\] From Path (\d{1,9})")
_ANSWER = re.compile(r"\[Aggregated Answer From Path (\d{1,9})\]: ?(.*)", re.DOTALL)
_FINAL = re.compile(r"\[Final Answer\]: ?(.*)", re.DOTALL)


def named_agent(name: str, builder: GraphBuilder) -> int:
    """The agent of a name; ``CriticAgent_gpt4o`` is the role ``CriticAgent`` on one model."""
    role_name, _, model = name.partition("_")
    role = builder.role_of(role_name.removesuffix("Agent"))
    return builder.agent(
        name,
        role_name=role_name if model else None,
        role=None if role in ("unknown", "tool") else role,
        attributes={"model": model} if model else {},
    )


class _Step:
    """A step of one or more paths: what was picked, after what, and when it ran."""

    def __init__(self, agent: str, path: int, before: "_Step | None") -> None:
        self.agent = agent
        self.path = path
        self.before = before
        self.next: list[_Step] = []
        self.started: str | None = None
        self.ended: str | None = None
        if before is not None:
            before.next.append(self)


class MetaLog:
    """The paths of a ``meta.log``, as trees of steps in the order in which they ran."""

    def __init__(self, text: str) -> None:
        self.steps: list[_Step] = []
        self._paths: dict[int, list[_Step]] = {}
        self._origins: dict[int, int] = {}
        self._ran: list[_Step] = []
        self._answers: dict[int, str] = {}
        self._final: str | None = None
        self._task: str | None = None
        self._team: list[str] = []
        self._torn = False
        starts = list(RECORD.finditer(text))
        for number, found in enumerate(starts):
            end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
            body = text[found.end() : end]
            self._record(found[1], body.strip(), cut=not body.endswith("\n"))
        waiting = [step for step in self.steps if step.started is None]
        self.unrun = len(waiting)
        self.steps = self._ran + waiting

    def fill(self, builder: GraphBuilder) -> None:
        """Adds the agents, the steps and the answers."""
        if self._task:
            builder.set_task(short_name(self._task, 200), description=self._task)
        else:
            builder.warn("the log does not say what the task was")
        if self._torn:
            builder.warn("a sequence of agents does not go on from the one before")
        if self.unrun:
            builder.warn(f"{self.unrun} agents were picked without a record of their step")
        for name in self._team:
            named_agent(name, builder)
        places: dict[int, int] = {}
        for step in self._ordered():
            recipients = {named_agent(other.agent, builder) for other in step.next}
            agent = named_agent(step.agent, builder)
            attributes: Attributes = {"path": step.path}
            for name, value in (("time", step.started), ("end_time", step.ended)):
                if value is not None:
                    attributes[name] = value
            places[id(step)] = builder.add(
                "decision" if step.agent.startswith("TerminatorAgent") else "agent_message",
                step.agent,
                agent=agent,
                recipients=recipients - {agent},
                attributes=attributes,
            )
            if step.before is not None:
                builder.edge(places[id(step.before)], places[id(step)], "explicit")
        for path, answer in self._answers.items():
            last = self._paths.get(path)
            builder.propose(
                UNIT,
                "final",
                agent=named_agent(last[-1].agent, builder) if last else None,
                node=places[id(last[-1])] if last else None,
                value=answer,
            )
        if self._final is not None:
            builder.propose(UNIT, "answer", value=self._final)
        else:
            builder.warn("the log has no final answer")
        builder.outcome = Outcome(answer=self._final)
        builder.attributes["paths"] = len(self._paths)

    def _ordered(self) -> list[_Step]:
        """Steps as they ran, each after the step before it."""
        order: list[_Step] = []
        seen: set[int] = set()
        for step in self.steps:
            line: list[_Step] = []
            current: _Step | None = step
            while current is not None and id(current) not in seen:
                seen.add(id(current))
                line.append(current)
                current = current.before
            order.extend(reversed(line))
        return order

    def _record(self, time: str, body: str, *, cut: bool) -> None:
        if found := _SEQUENCE.match(body):
            names = [name.strip() for name in found[2].split("->")]
            if cut and names[-1] not in self._team:
                names.pop()
            self._sequence(int(found[1]), [name for name in names if name])
        elif found := _STEP.match(body):
            if (last := self._last(int(found[1]))) and last.started is None:
                last.started = time
                self._ran.append(last)
        elif found := _DONE.match(body):
            if last := self._last(int(found[1])):
                last.ended = last.ended or time
        elif found := _SPLIT.match(body):
            for path in re.findall(r"\d+", found[1]):
                self._origins[int(path)] = int(found[2])
        elif found := _ANSWER.match(body):
            self._answers[int(found[1])] = found[2].strip()
        elif found := _FINAL.match(body):
            self._final = found[1].strip()
        elif body.startswith("Task:"):
            self._task = self._task or body.partition("\n")[2].strip() or None
        elif body.startswith("['") and not self._team:
            self._team = _names(body)

    def _last(self, path: int) -> _Step | None:
        steps = self._paths.get(path)
        return steps[-1] if steps else None

    def _sequence(self, path: int, names: list[str]) -> None:
        known = self._paths.get(path)
        if known is None:
            origin = self._paths.get(self._origins.get(path, -1), [])
            shared = 0
            while (
                shared < min(len(names) - 1, len(origin))
                and origin[shared].agent == names[shared]
            ):
                shared += 1
            known = self._paths[path] = origin[:shared]
        if [step.agent for step in known[: len(names)]] != names[: len(known)]:
            self._torn = True
            known = self._paths[path] = []
        for name in names[len(known) :]:
            step = _Step(name, path, known[-1] if known else None)
            known.append(step)
            self.steps.append(step)


def _names(text: str) -> list[str]:
    try:
        value = ast.literal_eval(text)
    except (*DECODE_ERRORS, SyntaxError, MemoryError):
        return []
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
