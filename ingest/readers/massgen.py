"""MassGen: agents that answer in parallel, see each other's answers, and vote.

A file is one run: ``session`` with the question, ``agent_outputs`` with the stream of each
agent, and ``orchestrator_events``, most of which repeat a chunk of a stream. The chunks of
one stream are put together (:mod:`ingest.readers.massgen_stream`): streamed text is one
message, ``Providing answer`` is an answer, ``Voting for`` a vote; what the orchestrator then
says of it ("Vote recorded for", "restarting due to new answers") stays with it.

A vote names an alias (``agent2``) that stands for another agent in every round; only the
record of the vote tells whom it meant. A vote without a record has no candidate here.

Answers become proposals: an agent's first accepted answer is ``initial``, its last ``final``,
under the unit ``question``. A vote proposes nothing: it is a decision whose attributes say for
whom it was (``vote_for``, ``vote_alias``) and whether it counted (``accepted``), and whose
edges lead from the candidate's answer and to the selection.

That accepted answers reach the other agents is how the framework works, but the file does not
say it: such deliveries are ``inferred``, and an agent's action rests on the answers that were
there when it began. That a vote rests on its candidate's answer, and the orchestrator's
selection on the votes, the file says.

Times have no zone: they order the actions and stay text in the attributes.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import (
    Attributes,
    CollaborationGraph,
    GraphKind,
    NodeKind,
    Outcome,
    ProposalPhase,
)
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    first_character,
    has_key,
    short_name,
    text_of,
)
from ingest.readers.massgen_file import Log, decoded
from ingest.readers.massgen_stream import Action, Stream, local_nanoseconds

ANSWERS = "question"
ORCHESTRATOR = "orchestrator"

_KINDS: dict[str, NodeKind] = {"vote": "decision", "tool": "tool_call", "notice": "decision"}
_SELECTED = re.compile(r"FINAL: (?P<agent>.+?) selected(?: \((?P<count>[^)]*)\))?")
_VOTE_COUNT = re.compile(r"(\d+) votes?")
_PRESENTING = re.compile(r"\A\s*🎤\s*\[[^\]]*\] presenting final answer\s*")


class MassGenReader:
    """MassGen coordination: one file is one run."""

    format = "massgen"
    title = "MassGen coordination"
    kind: GraphKind = "run"
    version = "2"
    capabilities = Capabilities(
        time="partly",
        tokens="no",
        recipients="partly",
        outcome="partly",
        notes=(
            "Times have no zone: they order the actions and are kept as text.",
            "That an answer reaches the other agents is inferred; whom a vote was for is known "
            "only where the orchestrator recorded it.",
            "The log shortens some answers and ends them with three points.",
            "The file's own counters of answers and votes can be 0 beside real ones.",
        ),
    )
    telling_keys = frozenset({"agent_outputs"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds the session and the streams of agents."""
        return first_character(sample) == b"{" and all(
            has_key(sample, key) for key in ("session", "agent_ids", "agent_outputs")
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's one run.

        Raises:
            InputError: The file is not JSON, has no streams, or they hold nothing.
        """
        data = file.data()
        log, repaired = decoded(data, file)
        builder = context.builder(self, file, data)
        if repaired:
            builder.warn(REPAIRED)
        run = _Run(log, builder)
        if not run.actions:
            raise InputError("no agent wrote anything", file=file.uri)
        run.describe()
        run.fill()
        yield builder.build()


MASSGEN = MassGenReader()


class _Run:
    def __init__(self, log: Log, builder: GraphBuilder) -> None:
        self.builder = builder
        self._log = log
        self._session = log.session if isinstance(log.session, dict) else {}
        self._agents: dict[str, int] = {}
        streams: list[Stream] = []
        for name in self._names():
            self._agents[name] = builder.agent(name)
            chunks = log.agent_outputs.get(name)
            stream = Stream(name)
            if isinstance(chunks, list):
                stream.take(chunks)
            if stream.unread or not isinstance(chunks, list | None):
                builder.warn(f"chunks of {name} without a text were left out")
            streams.append(stream)
        self.actions = _ordered(streams)
        self._events = self._own_events()
        self._last: dict[str, Action] = {}
        self._answers: list[Action] = []
        self._answers_of: dict[str, list[Action]] = {}
        self._votes: dict[str, Action] = {}
        self._read: dict[str, int] = {}
        self._selection: dict[str, int] = {}

    def describe(self) -> None:
        """Task, method, outcome and the file's own counters."""
        builder = self.builder
        question = text_of(self._session.get("question"))
        if question:
            builder.set_task(short_name(question, 200), description=question)
        else:
            builder.warn("the file does not hold the question")
        builder.set_method("MassGen", framework="MassGen")
        metadata = self._log.metadata if isinstance(self._log.metadata, dict) else {}
        answer = text_of(self._session.get("final_answer"))
        seconds = metadata.get("duration_seconds")
        builder.outcome = Outcome(
            answer=_PRESENTING.sub("", answer) or None if answer else None,
            termination=text_of(metadata.get("status")),
            latency=float(seconds)
            if isinstance(seconds, int | float)
            and not isinstance(seconds, bool)
            and 0 <= seconds < 2**53
            else None,
        )
        for name in ("start_time", "end_time", "logger_version"):
            if isinstance(metadata.get(name), str):
                builder.attributes[name] = metadata[name]
        self._compare_counters()

    def fill(self) -> None:
        """Adds the actions and the orchestrator's events, in the order of their ends."""
        events = deque(self._events)
        for action in self.actions:
            while events and _not_after(events[0][0], action.ended):
                self._event(*events.popleft())
            self._action(action)
        for event in events:
            self._event(*event)
        self._propose_answers()
        final = self.builder.outcome.answer
        if final is not None:
            node = next((a.node for a in reversed(self.actions) if a.kind == "final"), None)
            self.builder.propose(ANSWERS, "answer", node=node, value=final)

    def _names(self) -> list[str]:
        listed = self._session.get("agent_ids")
        names = (
            [name for name in listed if isinstance(name, str)]
            if isinstance(listed, list)
            else []
        )
        return list(dict.fromkeys([*names, *self._log.agent_outputs]))

    def _orchestrator(self) -> int:
        return self.builder.agent(ORCHESTRATOR, role="orchestrator")

    def _own_events(self) -> list[tuple[int | None, str, str | None]]:
        """The orchestrator's events that do not repeat a chunk of an agent."""
        events = self._log.orchestrator_events
        said: dict[str, set[str]] = {name: set() for name in self._agents}
        for action in self.actions:
            said[action.agent].update(map(str.strip, action.parts))
            said[action.agent].update(map(str.strip, action.notices))
        repeated = [(f"🔄 {name}: ", texts) for name, texts in said.items()]
        own: list[tuple[int | None, str, str | None]] = []
        for event in events if isinstance(events, list) else ():
            text = event.get("event") if isinstance(event, dict) else event
            time = event.get("timestamp") if isinstance(event, dict) else None
            if not isinstance(text, str) or not text.strip():
                self.builder.warn("events of the orchestrator without a text were left out")
                continue
            for prefix, texts in repeated:
                if text.startswith(prefix) and text[len(prefix) :].strip() in texts:
                    break
            else:
                own.append(
                    (local_nanoseconds(time), text, time if isinstance(time, str) else None)
                )
        return own

    def _compare_counters(self) -> None:
        counters = self._log.workflow_analysis
        if not isinstance(counters, dict):
            return
        self.builder.attributes["workflow_analysis"] = counters
        found = {
            "new_answers": sum(a.kind == "answer" and a.settled is True for a in self.actions),
            "votes": sum(a.kind == "vote" and a.settled is True for a in self.actions),
        }
        for name, count in found.items():
            if counters.get(name) != count:
                self.builder.warn(
                    f"the file's counter {name} is {text_of(counters.get(name))}, where "
                    f"{count} were found"
                )

    def _action(self, action: Action) -> None:
        builder = self.builder
        agent = self._agents[action.agent]
        recipients, delivery = self._receivers(action)
        node = builder.add(
            _KINDS.get(action.kind, "agent_message"),
            (action.label or action.agent) if action.kind == "tool" else action.agent,
            agent=agent,
            recipients=recipients,
            delivery="explicit" if delivery == "explicit" else "inferred",
            content=action.content if action.parts else None,
            status=_status(action),
            attributes=_attributes(action),
        )
        action.node = node
        if action.kind == "vote" and (answer := self._judged(action)) is not None:
            builder.edge(answer.node, node, "explicit")
        sources = self._sources(action)
        for source in sources:
            builder.edge(source.node, node, "inferred")
        if action.kind == "final" and action.agent in self._selection:
            builder.edge(self._selection[action.agent], node, "explicit")
        elif not sources and action.agent in self._last:
            builder.edge(self._last[action.agent].node, node, "continued")
        self._last[action.agent] = action
        if action.settled is True and action.kind == "answer":
            self._answers.append(action)
            self._answers_of.setdefault(action.agent, []).append(action)
        elif action.settled is True and action.kind == "vote":
            self._votes[action.agent] = action

    def _receivers(self, action: Action) -> tuple[list[int], str]:
        if action.kind == "answer":
            others = [place for name, place in self._agents.items() if name != action.agent]
            everybody = others if action.settled is True else []
            return [*everybody, self._orchestrator()], "inferred"
        if action.kind == "vote" and action.candidate in self._agents:
            return [
                self._agents[action.candidate]
            ] if action.candidate != action.agent else [], "explicit"
        return [], "inferred"

    def _sources(self, action: Action) -> list[Action]:
        """The accepted answers of others that were there when the action began, once each."""
        if action.kind in ("notice", "error"):
            return []
        answers = self._answers
        position = self._read.get(action.agent, 0)
        new: list[Action] = []
        while position < len(answers) and _not_after(answers[position].ended, action.started):
            if answers[position].agent != action.agent:
                new.append(answers[position])
            position += 1
        self._read[action.agent] = position
        return new

    def _judged(self, vote: Action) -> Action | None:
        """The answer that a recorded vote is for."""
        answers = self._answers_of.get(vote.candidate or "", ())
        return next((a for a in reversed(answers) if _not_after(a.ended, vote.started)), None)

    def _event(self, _: int | None, text: str, time: str | None) -> None:
        builder = self.builder
        agent = self._orchestrator()
        found = _SELECTED.search(text)
        chosen = found["agent"].strip() if found else None
        node = builder.add(
            "decision",
            ORCHESTRATOR,
            agent=agent,
            recipients=[self._agents[chosen]] if chosen in self._agents else [],
            content=text,
            attributes={} if time is None else {"time": time},
        )
        if found is None or chosen is None:
            return
        self._selection[chosen] = node
        votes = list(self._votes.values())
        counted = _VOTE_COUNT.search(found["count"] or "")
        agrees = counted is not None and int(counted[1][:9]) == sum(
            a.candidate == chosen for a in votes
        )
        for vote in votes:
            builder.edge(vote.node, node, "explicit" if agrees else "inferred")
        if counted is not None and not agrees:
            builder.warn(f"the selection of {chosen} counts other votes than were recorded")

    def _propose_answers(self) -> None:
        made_by: dict[str, list[Action]] = {name: [] for name in self._agents}
        for action in self.actions:
            if action.kind == "answer":
                made_by[action.agent].append(action)
        for name, made in made_by.items():
            agent = self._agents[name]
            counted = [action for action in made if action.settled is not False]
            first, last = (counted[0], counted[-1]) if counted else (None, None)
            for action in made:
                phases: list[ProposalPhase] = []
                if action is first or action.settled is False:
                    phases.append("initial")
                if action is last:
                    phases.append("final")
                for phase in phases:
                    self.builder.propose(
                        ANSWERS,
                        phase,
                        agent=agent,
                        node=action.node,
                        value=action.value,
                        valid=action.settled,
                    )


def _ordered(streams: list[Stream]) -> list[Action]:
    """All actions by the time of their end; where one has none, after the one before it."""
    keyed: list[tuple[int, int, int, Action]] = []
    for position, stream in enumerate(streams):
        latest = 0
        for number, action in enumerate(stream.actions):
            if action.ended is not None:
                latest = max(latest, action.ended)
            keyed.append((latest, position, number, action))
    return [action for *_, action in sorted(keyed, key=lambda entry: entry[:3])]


def _not_after(time: int | None, other: int | None) -> bool:
    """Whether a moment is known to be no later than another one."""
    return time is not None and other is not None and time <= other


def _status(action: Action) -> Any:
    if action.kind == "error":
        return "error"
    if action.kind == "tool" and action.settled is not None:
        return "ok" if action.settled else "error"
    return None


def _attributes(action: Action) -> Attributes:
    kept: Attributes = {"chunks": action.chunks}
    if action.kind not in ("text", "tool"):
        kept["message"] = action.kind
    if action.first_time is not None:
        kept["time"] = action.first_time
    if action.last_time is not None and action.last_time != action.first_time:
        kept["end_time"] = action.last_time
    if action.alias is not None:
        kept["vote_alias"] = action.alias
    if action.candidate is not None:
        kept["vote_for"] = action.candidate
    if action.settled is not None and action.kind in ("answer", "vote"):
        kept["accepted"] = action.settled
    if action.notices:
        kept["notices"] = action.notices
    if action.types:
        kept["chunk_types"] = action.types
    return kept
