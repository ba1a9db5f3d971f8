"""The stream of one MassGen agent as actions: many chunks, few messages."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

import msgspec

ActionKind = Literal["text", "answer", "vote", "tool", "error", "final", "notice"]

_ANSWER = re.compile(r"\s*💡\s*Providing answer:\s*(?P<value>.*)", re.DOTALL)
_VOTE = re.compile(
    r"\s*🗳️?\s*Voting for (?P<alias>[^:\n]+?)\s*(?::\s*(?P<reason>.*))?\Z", re.DOTALL
)
_FINAL = re.compile(r"\s*🎤\s*\[[^\]]*\] presenting final answer\s*")
_TOOL = re.compile(r"\s*(?:🔍|🛠️?|🔧|💻|📂)\s*\[(?P<label>[^\]]+)\]")
_TOOL_ENDS = re.compile(r"\s*(?P<mark>✅|❌)\s*\[(?P<label>[^\]]+)\]")
_QUERY = re.compile(r"(?:Search )?(?:Query|Input|Arguments?|Code)\Z", re.IGNORECASE)
_ERROR = re.compile(r"\s*❌\s*Error\b")
_NOTICE = re.compile(r"\s*(?:✅|❌|🔄|🔁|⚠️?|\[[^\]\n]+\] (?:✅|❌|🔄|🔁))")
_RECORDED = re.compile(r"\[[^\]\n]+\] ✅ Vote recorded for (?P<candidate>.+?)\s*\Z")
_REFUSED = re.compile(r"Vote invalid|Cannot vote|Invalid vote")

_TOOL_MARKS = frozenset("🔍🛠🔧💻📂✅❌")
_NOTICE_MARKS = frozenset("✅❌🔄🔁⚠[")
_MARKS = frozenset("💡🗳🎤") | _TOOL_MARKS | _NOTICE_MARKS
"""What a chunk begins with that is more than streamed text; all others are told at a glance."""

_ASCII_MARK = "["
"""The only mark that is ASCII: where it is missing, most texts are known to begin with none."""

_SHORTEST_NOTICE = 12
"""Characters: streamed text may hold a mark alone, a notice says something."""

_EPOCH = datetime(1970, 1, 1)


class Chunk(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What an agent's model wrote next, or a notice of it; texts where the file is right."""

    content: Any = None
    timestamp: Any = None
    type: Any = None


def chunk_of(value: Any) -> Chunk:
    """A JSON value as a chunk, one without a text where it is none."""
    if not isinstance(value, dict):
        return Chunk()
    return Chunk(value.get("content"), value.get("timestamp"), value.get("type"))


class Action(msgspec.Struct, eq=False):
    """A message, vote, tool call or notice of one agent.

    Attributes:
        chunks: How many chunks of the stream are in it, its notices included.
        first_time: Of its first own chunk, as the file has it.
        last_time: Of its last own chunk.
        value: An answer's text, or a vote's reason.
        alias: The name that a vote used.
        candidate: The agent that a vote was recorded for.
        settled: True once a notice says that it counts, False once one says that it does not.
        started: ``first_time`` as nanoseconds of a clock without a zone, set when the stream
            has ended.
        ended: ``last_time`` likewise.
        node: Its position in the graph, once it is added.
    """

    kind: ActionKind
    agent: str
    parts: list[str] = []
    notices: list[str] = []
    types: list[str] = []
    chunks: int = 0
    first_time: str | None = None
    last_time: str | None = None
    value: str | None = None
    alias: str | None = None
    candidate: str | None = None
    label: str | None = None
    settled: bool | None = None
    done: bool = False
    started: int | None = None
    ended: int | None = None
    node: int = -1

    @property
    def content(self) -> str:
        """The text of its own chunks."""
        return "".join(self.parts)

    def add(self, chunk: Chunk) -> None:
        """Counts a chunk, its time and its type."""
        self.chunks += 1
        time, type_ = chunk.timestamp, chunk.type
        if type_ not in self.types and isinstance(type_, str):
            self.types.append(type_)
        if isinstance(time, str):
            if not self.first_time:
                self.first_time = time
            self.last_time = time


class Stream:
    """Takes the chunks of one agent in their order.

    Args:
        agent: The agent's name in the file.
    """

    def __init__(self, agent: str) -> None:
        self.actions: list[Action] = []
        self.unread = 0
        self._agent = agent
        self._last_tool: Action | None = None
        self._last_vote: Action | None = None

    def take(self, chunks: Iterable[Chunk]) -> None:
        """Adds all chunks; those without a text are counted in ``unread``."""
        streamed: Action | None = None
        for chunk in chunks:
            text = chunk.content
            if not isinstance(text, str):
                self.unread += 1
                continue
            action: Action | None
            if text.isascii() and _ASCII_MARK not in text:
                action = streamed = streamed or self._streamed()
            else:
                streamed = None
                mark = text.lstrip()[:1]
                action = self._marked(mark, text) if mark in _MARKS else self._streamed()
                if action is None:
                    self._notice(text, chunk)
                    continue
            action.parts.append(text)
            action.add(chunk)
        for action in self.actions:
            action.started = local_nanoseconds(action.first_time)
            same = action.last_time == action.first_time
            action.ended = action.started if same else local_nanoseconds(action.last_time)

    def _marked(self, mark: str, text: str) -> Action | None:
        """The action of a chunk that begins with a mark, None for a notice."""
        if mark == "💡" and (found := _ANSWER.match(text)):
            action = self._new("answer")
            action.value = found["value"].strip().removeprefix('"').removesuffix('"')
            return action
        if mark == "🗳" and (found := _VOTE.match(text)):
            action = self._last_vote = self._new("vote")
            action.alias = found["alias"].strip()
            action.value = (found["reason"] or "").strip() or None
            return action
        if mark == "🎤" and _FINAL.match(text):
            return self._new("final")
        if mark == "❌" and _ERROR.match(text):
            return self._new("error")
        if mark in _TOOL_MARKS and (tool := self._tool(text)) is not None:
            return tool
        if (
            mark in _NOTICE_MARKS
            and _NOTICE.match(text)
            and len(text.strip()) >= _SHORTEST_NOTICE
        ):
            return None
        return self._streamed()

    def _streamed(self) -> Action:
        """The message that streamed text goes on with: a notice ends the one before."""
        last = self.actions[-1] if self.actions else None
        if last is not None and not last.notices and last.kind in ("text", "final"):
            return last
        return self._new("text")

    def _new(self, kind: ActionKind) -> Action:
        action = Action(kind, self._agent)
        self.actions.append(action)
        return action

    def _tool(self, text: str) -> Action | None:
        """One action from the start of a tool to its end, with the query in between.

        None where the text neither begins nor ends a tool.
        """
        ends = None
        found = _TOOL.match(text)
        if found is None:
            found = ends = _TOOL_ENDS.match(text)
        if found is None or found["label"] == self._agent:
            return None
        label = found["label"]
        is_query = _QUERY.search(label) is not None
        action = self._last_tool
        if action is None or not (is_query or (action.label == label and not action.done)):
            action = self._last_tool = self._new("tool")
        action.label = action.label or label
        if ends:
            action.done = True
            action.settled = ends["mark"] == "✅"
        return action

    def _notice(self, text: str, chunk: Chunk) -> None:
        """What the orchestrator says of the agent's last action: no message of its own."""
        action = self.actions[-1] if self.actions else self._new("notice")
        action.notices.append(text)
        action.chunks += 1
        if action.kind == "notice":
            action.add(chunk)
            action.chunks -= 1
        vote = self._last_vote
        if vote is not None and vote.settled is None:
            if recorded := _RECORDED.search(text):
                vote.settled, vote.candidate = True, recorded["candidate"].strip()
            elif _REFUSED.search(text):
                vote.settled = False
        if action.kind == "answer" and "Answer provided" in text:
            action.settled = True


def local_nanoseconds(time: Any) -> int | None:
    """A time without a zone on one clock, for comparison only; None where it is none."""
    if not isinstance(time, str):
        return None
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    past = (moment if moment.tzinfo is None else moment.replace(tzinfo=None)) - _EPOCH
    return (past.days * 86_400 + past.seconds) * 10**9 + past.microseconds * 1000
