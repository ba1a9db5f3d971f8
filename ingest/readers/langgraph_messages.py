"""Messages in the shared state of a LangGraph run: who wrote them, who read them, each once.

LangGraph's traces repeat messages: a state holds all of them at every step, and a subgraph's
messages come back in the graph around it. A message is known by its id, or, without one, by
its words and its place among equal ones. The node that wrote it is its author; a subgraph is
one agent.

- An ``AIMessage`` is a message of its agent, a ``HumanMessage`` of the user.
- A ``ToolMessage`` is a tool call: its content is the result, the arguments come from the
  message that called. A tool that hands over (``transfer_to_writer``) is a decision of its
  caller. The messages that the supervisor package makes up for the way back
  (``__is_handoff_back``) are one decision, marked as synthetic.
- A node that wrote no message did something all the same: what it wrote of the state is the
  content of a message; a node that wrote nothing decided where the run goes on.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from graphstore.model import Attributes, Basis, Delivery, NodeKind
from ingest.readers.chat_payload import ASSISTANT, TOOL, USER, Call, ChatMessage
from ingest.readers.decoding import text_of
from ingest.readers.platform_spans import short

AgentPath = tuple[str, ...]
"""The nodes that lead to an agent, from outside; the last one is its name."""

_HANDOFF = re.compile(r"(?:transfer|hand_?off|delegate)(?:_back)?_to_(?P<agent>.+)")
NOBODY: AgentPath = ("assistant",)
"""Stands for an assistant that nothing names."""


@dataclass(slots=True, eq=False)
class Entry:
    """An action of the run."""

    place: int
    kind: NodeKind
    agent: AgentPath
    message: ChatMessage | None = None
    content: str | None = None
    tool: str | None = None
    target: AgentPath | None = None
    sources: "dict[int, Basis]" = field(default_factory=dict)
    readers: "dict[AgentPath, Delivery]" = field(default_factory=dict)
    started_at: int | None = None
    ended_at: int | None = None
    round: int | None = None
    attributes: Attributes = field(default_factory=dict)


@dataclass(slots=True)
class Turn:
    """What is known of one run of a node.

    Attributes:
        agent: Who ran.
        basis: What reading the given messages is worth: ``inferred`` where the trace does
            not say what the node was given.
        step: Of the graph.
    """

    agent: AgentPath
    basis: Basis = "delivered"
    started_at: int | None = None
    ended_at: int | None = None
    step: int | None = None
    error: str | None = None


class Ledger:
    """The messages of one run in order of writing."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._known: dict[Any, Entry] = {}
        self._calls: dict[str, tuple[Entry, Call]] = {}
        self._read: dict[AgentPath, set[int]] = {}
        self._last: dict[AgentPath, int] = {}
        self._open: list[Entry] = []
        self._counts: dict[Any, int] = {}
        self._nameless: dict[Any, list[Entry]] = {}
        self.unknown_authors = 0

    def given(self, messages: Iterable[ChatMessage]) -> list[Entry]:
        """The entries of messages that stood in a state; new ones were there before.

        Args:
            messages: In the order of the state.
        """
        found = []
        for key, message in _keyed(messages):
            entry = self._find(key, message)
            if entry is None:
                author: AgentPath = NOBODY
                if message.name is not None and message.role == ASSISTANT:
                    author = (message.name,)
                elif message.role not in (USER, TOOL):
                    self.unknown_authors += message.role == ASSISTANT
                entry = self._add(key, message, Turn(author), [])
            if entry is not None:
                found.append(entry)
        return found

    def known(self, message: ChatMessage) -> bool:
        """Whether a message with an id was seen before."""
        if message.role == TOOL and message.answers:
            return (TOOL, *message.answers) in self._known
        return message.id is not None and message.id in self._known

    def turn(
        self,
        turn: Turn,
        read: list[Entry],
        written: Iterable[ChatMessage],
        other: Any = None,
        *,
        silent: bool = False,
        repeats: bool = False,
    ) -> int:
        """A node ran.

        Args:
            turn: Which, and when.
            read: What it was given.
            written: The messages that it wrote; those that are known are left out.
            other: What else it wrote of the state.
            silent: Make no entry where it wrote no message: what it did stands elsewhere.
            repeats: It hands out what nodes inside it wrote.

        Returns:
            How many entries came of it.
        """
        before = len(self.entries)
        sources = self._fresh(turn, read)
        wrote = False
        for key, message in _keyed(written, None if repeats else dict(self._counts)):
            wrote = True
            if self._find(key, message) is not None:
                continue
            made = self._add(key, message, turn, sources)
            if made is None:
                continue
            if message.role == TOOL:
                sources.append((made, "delivered"))
            elif made.kind == "agent_message":
                sources = []
        if other and len(self.entries) > before:
            self.entries[-1].attributes["wrote"] = short(other)
        if len(self.entries) == before and not silent and not wrote:
            kind: NodeKind = "agent_message" if other else "decision"
            entry = self._entry(kind, turn, sources)
            entry.content = text_of(other) if other else None
            if kind == "decision":
                self._open.append(entry)
        return len(self.entries) - before

    def ended(self, agent: AgentPath, started_at: int | None, ended_at: int | None) -> None:
        """Adds times that a later record tells of an agent's last turn."""
        place = self._last.get(agent)
        if place is not None and self.entries[place].ended_at is None:
            self.entries[place].started_at = self.entries[place].started_at or started_at
            self.entries[place].ended_at = ended_at

    def answer(self) -> str | None:
        """The words of the last message of an agent."""
        for entry in reversed(self.entries):
            message = entry.message
            if message is not None and entry.kind == "agent_message" and message.role != USER:
                return message.text
        return None

    def _fresh(self, turn: Turn, read: list[Entry]) -> list[tuple[Entry, Basis]]:
        """What an agent reads for the first time, and decisions that led to it."""
        seen = self._read.setdefault(turn.agent, set())
        own: Basis = "delivered" if turn.basis == "inferred" else "explicit"
        fresh: list[tuple[Entry, Basis]] = [
            (entry, turn.basis if entry.agent != turn.agent else own)
            for entry in read
            if entry.place not in seen and (entry.agent != turn.agent or entry.tool is not None)
        ]
        seen.update(entry.place for entry in read)
        fresh.extend((one, "inferred") for one in self._open if one.agent != turn.agent)
        self._open = [one for one in self._open if one.agent == turn.agent]
        return fresh

    def _entry(self, kind: NodeKind, turn: Turn, sources: list[tuple[Entry, Basis]]) -> Entry:
        entry = Entry(len(self.entries), kind, turn.agent)
        entry.started_at, entry.ended_at = turn.started_at, turn.ended_at
        entry.round = turn.step
        if turn.error is not None:
            entry.attributes["error"] = turn.error
        self.entries.append(entry)
        for source, basis in sources:
            self._consume(source, entry, basis)
        if kind != "tool_call":
            if not entry.sources and turn.agent in self._last:
                entry.sources[self._last[turn.agent]] = "continued"
            self._last[turn.agent] = entry.place
        return entry

    def _consume(self, source: Entry, entry: Entry, basis: Basis) -> None:
        entry.sources.setdefault(source.place, basis)
        delivery: Delivery = "inferred" if basis == "inferred" else "explicit"
        own = source.agent == entry.agent and source.tool is None
        if not own and source.readers.get(entry.agent) != "explicit":
            source.readers[entry.agent] = delivery

    def _add(
        self, key: Any, message: ChatMessage, turn: Turn, sources: list[tuple[Entry, Basis]]
    ) -> Entry | None:
        if message.role == USER:
            entry = self._entry("agent_message", Turn(("user",)), [])
            entry.sources.clear()
        elif message.role == TOOL:
            entry = self._result(message, turn)
        elif _is_back(message) and message.calls:
            # The call and its result are one decision, made when the result comes.
            spoke = self._known[key] = self._last_entry(turn)
            self._calls.update((call.id, (spoke, call)) for call in message.calls if call.id)
            return None
        else:
            entry = self._entry("agent_message", turn, sources)
            for call in message.calls:
                if call.id is not None:
                    self._calls.setdefault(call.id, (entry, call))
        entry.message = message
        entry.content = message.text
        self._known[key] = entry
        if message.id is None:
            said = _said(message)
            self._counts[said] = self._counts.get(said, 0) + 1
            self._nameless.setdefault(said, []).append(entry)
        return entry

    def _find(self, key: Any, message: ChatMessage) -> Entry | None:
        """The entry of a message; LangGraph gives ids to messages that were written without."""
        found = self._known.get(key)
        if found is None and message.id is not None:
            waiting = self._nameless.get(_said(message))
            if waiting:
                found = self._known[key] = waiting.pop(0)
        return found

    def _last_entry(self, turn: Turn) -> Entry:
        place = self._last.get(turn.agent)
        return self.entries[place] if place is not None else self._entry("decision", turn, [])

    def _result(self, message: ChatMessage, turn: Turn) -> Entry:
        """The entry of a tool message."""
        called = next((self._calls[one] for one in message.answers if one in self._calls), None)
        name = message.name or (called[1].name if called is not None else None) or "tool"
        caller = called[0].agent if called is not None else turn.agent
        back = _is_back(message)
        handoff = _HANDOFF.fullmatch(name)
        kind: NodeKind = "decision" if handoff is not None or back else "tool_call"
        inner = Turn(caller, started_at=turn.started_at, ended_at=turn.ended_at, step=turn.step)
        entry = self._entry(kind, inner, [])
        entry.sources.clear()
        if called is not None:
            entry.sources[called[0].place] = "explicit"
            if called[1].arguments:
                entry.attributes["arguments"] = called[1].arguments
        if kind == "tool_call":
            entry.tool = name
            if called is not None:
                called[0].readers[("tool", name)] = "explicit"
            entry.readers[caller] = "explicit"
        elif handoff is not None:
            entry.target = (handoff["agent"],)
        if back:
            entry.attributes["synthetic"] = True
        return entry


def _is_back(message: ChatMessage) -> bool:
    said = message.raw.get("response_metadata")
    return isinstance(said, dict) and bool(said.get("__is_handoff_back"))


def _keyed(
    messages: Iterable[ChatMessage], counts: dict[Any, int] | None = None
) -> Iterable[tuple[Any, ChatMessage]]:
    """Each message with what it is known by.

    Args:
        messages: In order.
        counts: How often messages without an id stood before, where these are later ones.
    """
    counts = {} if counts is None else counts
    for message in messages:
        if message.role == TOOL and message.answers:
            # A result may get its id late, and another one in a subgraph.
            yield (TOOL, *message.answers), message
            continue
        if message.id is not None:
            yield message.id, message
            continue
        said = _said(message)
        counts[said] = counts.get(said, 0) + 1
        yield (said, counts[said]), message


def _said(message: ChatMessage) -> Any:
    """What makes two messages without ids equal."""
    calls = tuple(call.id for call in message.calls)
    return message.role, message.text, message.name, calls, tuple(message.answers)
