"""The stream of one MassGen agent as actions: many chunks, few messages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

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

_MARKS = frozenset("💡🗳🎤🔍🛠🔧💻📂✅❌🔄🔁⚠[")
"""What a chunk begins with that is more than streamed text; all others are told at a glance."""

_SHORTEST_NOTICE = 12
"""Characters: streamed text may hold a mark alone, a notice says something."""


@dataclass(eq=False)
class Action:
    """A message, vote, tool call or notice of one agent.

    Attributes:
        chunks: How many chunks of the stream are in it, its notices included.
        first_time: Of its first own chunk, as the file has it.
        last_time: Of its last own chunk.
        value: An answer's text, or a vote's reason.
        alias: The name that a vote used.
        candidate: The agent that a vote was recorded for.
        settled: True once a notice says that it counts, False once one says that it does not.
    """

    kind: ActionKind
    agent: str
    parts: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    chunks: int = 0
    first_time: str | None = None
    last_time: str | None = None
    value: str | None = None
    alias: str | None = None
    candidate: str | None = None
    label: str | None = None
    settled: bool | None = None
    done: bool = False

    @property
    def content(self) -> str:
        """The text of its own chunks."""
        return "".join(self.parts)

    @cached_property
    def started(self) -> int | None:
        """Nanoseconds of a clock without a zone. Asked for when the stream has ended."""
        return local_nanoseconds(self.first_time)

    @cached_property
    def ended(self) -> int | None:
        """Likewise, of its last chunk."""
        return local_nanoseconds(self.last_time)


class Stream:
    """Takes the chunks of one agent in their order.

    Args:
        agent: The agent's name in the file.
    """

    def __init__(self, agent: str) -> None:
        self.actions: list[Action] = []
        self.unread = 0
        self._agent = agent

    def take(self, chunks: Iterable[Any]) -> None:
        """Adds chunks; what is no object with a text is counted in ``unread``."""
        for chunk in chunks:
            if not isinstance(chunk, dict) or not isinstance(chunk.get("content"), str):
                self.unread += 1
                continue
            self._chunk(chunk["content"], chunk.get("timestamp"), chunk.get("type"))

    def _chunk(self, text: str, time: Any, type_: Any) -> None:
        last = self.actions[-1] if self.actions else None
        if text.lstrip()[:1] not in _MARKS:
            action = self._streamed(last)
        elif found := _ANSWER.match(text):
            action = self._new("answer")
            action.value = found["value"].strip().removeprefix('"').removesuffix('"')
        elif found := _VOTE.match(text):
            action = self._new("vote")
            action.alias = found["alias"].strip()
            action.value = (found["reason"] or "").strip() or None
        elif _FINAL.match(text):
            action = self._new("final")
        elif _ERROR.match(text):
            action = self._new("error")
        elif self._is_tool(text):
            action = self._tool(text)
        elif _NOTICE.match(text) and len(text.strip()) >= _SHORTEST_NOTICE:
            self._notice(last, text, time, type_)
            return
        else:
            action = self._streamed(last)
        action.parts.append(text)
        _clock(action, time, type_)

    def _streamed(self, last: Action | None) -> Action:
        """The message that streamed text goes on with: a notice ends the one before."""
        if last is not None and last.kind in ("text", "final") and not last.notices:
            return last
        return self._new("text")

    def _new(self, kind: ActionKind) -> Action:
        action = Action(kind, self._agent)
        self.actions.append(action)
        return action

    def _is_tool(self, text: str) -> bool:
        found = _TOOL.match(text) or _TOOL_ENDS.match(text)
        return found is not None and found["label"] != self._agent

    def _tool(self, text: str) -> Action:
        """One action from the start of a tool to its end, with the query in between."""
        found = _TOOL.match(text)
        ends = _TOOL_ENDS.match(text)
        label = (found or ends)["label"]  # type: ignore[index]
        for action in reversed(self.actions):
            if action.kind != "tool":
                continue
            same = action.label == label or _QUERY.search(label) is not None
            if same and (not action.done or _QUERY.search(label) is not None):
                break
            action = self._new("tool")
            break
        else:
            action = self._new("tool")
        action.label = action.label or label
        if ends:
            action.done = True
            action.settled = ends["mark"] == "✅"
        return action

    def _notice(self, last: Action | None, text: str, time: Any, type_: Any) -> None:
        """What the orchestrator says of the agent's last action: no message of its own."""
        action = last or self._new("notice")
        action.notices.append(text)
        action.chunks += 1
        if action.kind == "notice":
            _clock(action, time, type_)
            action.chunks -= 1
        vote = next((a for a in reversed(self.actions) if a.kind == "vote"), None)
        if vote is not None and vote.settled is None:
            if recorded := _RECORDED.search(text):
                vote.settled, vote.candidate = True, recorded["candidate"].strip()
            elif _REFUSED.search(text):
                vote.settled = False
        if action.kind == "answer" and "Answer provided" in text:
            action.settled = True


def _clock(action: Action, time: Any, type_: Any) -> None:
    action.chunks += 1
    if isinstance(type_, str) and type_ not in action.types:
        action.types.append(type_)
    if isinstance(time, str):
        action.first_time = action.first_time or time
        action.last_time = time


def local_nanoseconds(time: Any) -> int | None:
    """A time without a zone on one clock, for comparison only; None where it is none."""
    if not isinstance(time, str):
        return None
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    past = moment.replace(tzinfo=None) - datetime(1970, 1, 1)
    return (past.days * 86_400 + past.seconds) * 10**9 + past.microseconds * 1000
