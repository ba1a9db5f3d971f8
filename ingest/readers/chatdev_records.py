"""The text of a ChatDev log as a list of typed records, before any graph is made.

A record begins with ``[date time LEVEL]`` at the start of a line and goes on to the next
such line. What it is stands in its first line.
"""

import ast
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from graphstore.model import Attributes
from ingest.readers.chatdev_times import date_order
from ingest.readers.python_repr import plain_literal

RECORD = re.compile(r"\[(\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d\d:\d\d)(?:[,.]\d+)? [A-Z]+\] ?")
"""What a record begins with, at the start of a line."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TURN = re.compile(
    r"(?P<speaker>[^\n:*]+): \*\*(?P<one>[^\n*]+?)<->(?P<other>[^\n*]+?) on : "
    r"(?P<phase>[^\n]*?), turn (?P<turn>\d{1,9})\*\*\s*"
)
_BRACKET = re.compile(
    r"(?:(?P<speaker>[^\n:*]{1,100}): )?\*\*\[(?P<what>[^\]\n]{1,80})\]\*\*:?\s*"
)
_SIDE = re.compile(
    r"(?:\[(?P<turn>\d{1,9})\] )?AI (?P<side>Assistant|User) \((?P<name>[^\n]+?)\)"
)
_SAYS = re.compile(r":[ \t]*(?:\n+|\Z)")
_PHASE = re.compile(r"PhaseType: (?:PhaseType\.)?(?P<phase>\S+)")
_USAGE = re.compile(
    r"prompt_tokens: (?P<prompt>\d{1,15})\s+completion_tokens: (?P<completion>\d{1,15})"
)
_ROW = re.compile(
    r"^\| \*\*(assistant_role_name|user_role_name|phase_name|task_prompt)\*\* \| (.*) \|$", re.M
)
_EXECUTED = re.compile(r"SimplePhase:\[([^\]]+)\]")
_UPDATED = re.compile(r"^(\S.*?) updated\.$", re.MULTILINE)
_YOU_ARE = re.compile(
    r"(?:You are|Never forget I am an?) ([A-Z][A-Za-z ]{0,60}?)(?:\.| and you are)"
)
_TOTAL = re.compile(
    r"(num_prompt_tokens|num_completion_tokens|cost|duration)(?:\*\*=|: )\$?(-?\d+(?:\.\d+)?)"
)
_TASK_PROMPT = re.compile(r"\*\*task_prompt\*\*: (.*?)(?=\n\n\*\*|\Z)", re.DOTALL)
_PROJECT = re.compile(r"\*\*project_name\*\*: (.*)")
_LITERAL = r"('[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\")"
_NAMESPACE = re.compile(rf"\btask={_LITERAL}")
_CUSTOMER = re.compile(
    r"Here is a new customer's task: (.*?)\.?\nTo complete the task", re.DOTALL
)
_OLD_CONTENT = re.compile(rf"content={_LITERAL}\)\s*\Z", re.DOTALL)
_COMMENTS = re.compile(r"In the #\d+ of total \d+ (?:comments|feedback cycles):\s*")


Kind = Literal["turn", "start", "report", "note", "human"]


@dataclass(slots=True)
class Message:
    """Something that was said, or the report of a test run.

    Attributes:
        kind: ``turn`` (a model's reply), ``start`` (opens a phase), ``report`` (of running
            the software), ``note`` (written by the framework in an agent's name), ``human``.
        receivers: Names; None where the log does not tell.
        time: As the log has it.
        tokens: Of the prompt and of the reply.
    """

    kind: Kind
    speaker: str
    content: str
    time: str
    receivers: list[str] | None = None
    phase: str | None = None
    turn: int | None = None
    tokens: tuple[int, int] | None = None
    files: list[str] = field(default_factory=list)
    attributes: Attributes = field(default_factory=dict)


@dataclass
class Log:
    """What a ChatDev log says."""

    messages: list[Message] = field(default_factory=list)
    prompts: dict[str, str] = field(default_factory=dict)
    task: str | None = None
    project: str | None = None
    totals: dict[str, float] = field(default_factory=dict)
    ended: str | None = None
    records: int = 0
    others: Counter[str] = field(default_factory=Counter)
    unassigned: list[tuple[int, int]] = field(default_factory=list)
    date_order: str | None = None


def plain_text(data: bytes) -> str:
    """The text of a log without terminal colours; what is no UTF-8 becomes U+FFFD."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    return _COLOUR.sub("", text) if "\x1b" in text else text


def parse(text: str) -> Log:
    """Reads the records of a log in their order.

    Args:
        text: From :func:`plain_text`.
    """
    parser = _Parser()
    # Searching for the bracket, and looking at what stands before it, is several times
    # faster than searching for the start of a line.
    starts = [
        found
        for found in RECORD.finditer(text)
        if found.start() == 0 or text[found.start() - 1] == "\n"
    ]
    bounds = [*(found.start() for found in starts), len(text)]
    for found, end in zip(starts, bounds[1:], strict=True):
        parser.record(found[1], text[found.end() : end])
    log = parser.finished(text)
    log.records = len(starts)
    log.date_order = date_order(text, [found[1] for found in starts])
    return log


class _Parser:
    def __init__(self) -> None:
        self.log = Log()
        self._phase: str | None = None
        self._announced: str | None = None
        self._assistant: str | None = None
        self._user: str | None = None
        self._usages: list[tuple[int, int]] = []
        self._replies: list[Message] = []
        self._prompts: set[str] = set()

    def record(self, time: str, body: str) -> None:
        if body.startswith(("flask app.py", "HTTP Request:")):
            return
        # Both begin in the first line with asterisks, which most records do not have there.
        # (Where the line has no end, -1 leaves out one character: they are not the last.)
        marked = body.find("**", 0, body.find("\n")) >= 0
        if marked and (found := _TURN.match(body)):
            self._turn(time, body, found)
        elif marked and (found := _BRACKET.match(body)):
            self._bracket(time, body, found)
        elif body.startswith(("[OpenAI_Usage_Info]", "[Claude_Usage_Info]")):
            self._usage(body)
        elif found := _SIDE.match(body):
            self._side(time, body, found)
        elif found := _PHASE.match(body):
            self._announced, self._assistant, self._user = found["phase"], None, None
            self._phase = self._announced
        else:
            self._other(body)

    def finished(self, text: str) -> Log:
        self._flush()
        log = self.log
        if not log.task:
            customer = _CUSTOMER.search(text)
            log.task = customer[1].strip() if customer else None
        for number, message in enumerate(log.messages):
            following = log.messages[number + 1 : number + 2]
            if message.kind == "start" and message.receivers is None:
                message.receivers = _answering(message, following)
            if message.kind == "start" and message.phase is None and following:
                message.phase = following[0].phase
        return log

    def _turn(self, time: str, body: str, found: re.Match[str]) -> None:
        speaker = found["speaker"].strip()
        pair = [found["one"].strip(), found["other"].strip()]
        message = Message(
            "turn",
            speaker,
            self._without_prompt(body[found.end() :]),
            time,
            [name for name in dict.fromkeys(pair) if name != speaker],
            found["phase"].strip(),
            int(found["turn"]),
        )
        self._phase = message.phase
        self._said(message)

    def _bracket(self, time: str, body: str, found: re.Match[str]) -> None:
        what, speaker, rest = found["what"], found["speaker"], body[found.end() :]
        last = self.log.messages[-1] if self.log.messages else None
        if what == "Start Chat" and speaker:
            prompted = _YOU_ARE.search(rest) if rest.startswith("[") else None
            receiver = self._assistant or (prompted[1].strip() if prompted else None)
            content = self._without_prompt(rest)
            receivers = [receiver] if receiver and receiver != speaker else None
            self._say(Message("start", speaker, content, time, receivers, self._announced))
            self._announced = self._assistant = None
        elif what.endswith("_Usage_Info Receive"):
            self._usage(rest)
        elif speaker == "System":
            rows = dict(_ROW.findall(rest))
            self._assistant = rows.get("assistant_role_name", self._assistant)
            self._announce(rows.get("phase_name"))
            self.log.task = self.log.task or rows.get("task_prompt")
        elif what == "Seminar Conclusion":
            self._concluded(last, rest.strip())
        elif what == "Update Codes" and last is not None:
            last.files.extend(_UPDATED.findall(rest.partition("```")[0]))
        elif what == "Execute Detail":
            executed = _EXECUTED.search(rest)
            self._announce(executed[1] if executed else None)
        elif what == "Test Reports":
            self._say(Message("report", what, rest.rstrip(), time, [], self._phase))
        elif what == "Test Info" and (named := _SIDE.match(rest)):
            content = _SAYS.sub("", rest[named.end() :], count=1).rstrip()
            self._say(Message("note", named["name"], content, time, [], self._phase))
        elif what == "User Provided Comments":
            content = _COMMENTS.sub("", rest.lstrip(), count=1).rstrip()
            self._say(Message("human", "User", content, time, None, self._phase))
        elif speaker is not None:
            message = Message("note", speaker, rest.rstrip(), time, None, self._phase)
            message.attributes["record"] = what
            self._say(message)
        else:
            self._described(what, rest)

    def _announce(self, phase: str | None) -> None:
        if phase is not None:
            self._phase = self._announced = phase

    def _described(self, what: str, rest: str) -> None:
        """Records that nobody speaks: settings and totals."""
        log = self.log
        if what == "Preprocessing" and (named := _TASK_PROMPT.search(rest)):
            log.task = named[1].strip()
            project = _PROJECT.search(rest)
            log.project = project[1].strip() if project else None
        if what == "Post Info":
            log.ended = "ChatDev Ends"
        if what in ("Software Info", "Post Info"):
            self._totals(rest)
        log.others[what] += 1

    def _side(self, time: str, body: str, found: re.Match[str]) -> None:
        """``AI User (A)`` and ``AI Assistant (B)``: the logs of 2023's first months."""
        name, side, rest = found["name"].strip(), found["side"], body[found.end() :]
        if rest.startswith(" sys message:"):
            if side == "Assistant":
                self._assistant = name
            else:
                self._user = name
            prompts = self.log.prompts
            if name not in prompts and (written := _OLD_CONTENT.search(rest)):
                prompts[name] = _literal(written[1])
            return
        if rest.startswith(" terminated the chat"):
            if self.log.messages:
                self.log.messages[-1].attributes["terminated_by"] = name
            return
        says = _SAYS.match(rest)
        if says is None:
            self.log.others["AI " + side] += 1
            return
        pair = [other for other in (self._assistant, self._user) if other is not None]
        receivers = [other for other in dict.fromkeys(pair) if other != name] or None
        if found["turn"] is None and side == "User" and self._assistant:
            receivers = [self._assistant] if self._assistant != name else None
        message = Message(
            "start" if found["turn"] is None else "turn",
            name,
            rest[says.end() :].strip("\n"),
            time,
            receivers[:1] if receivers else None,
            self._phase,
            None if found["turn"] is None else int(found["turn"]),
            attributes={"side": side},
        )
        if message.kind == "turn":
            self._said(message)
        else:
            self._say(message)

    def _other(self, body: str) -> None:
        log = self.log
        first = body.partition("\n")[0]
        if body.startswith("Software Info:"):
            self._totals(body)
        elif first.startswith(("ChatDev Ends", "AgentTech Ends")):
            log.ended = " ".join(first.split()[:2])
        elif body.startswith("args: Namespace("):
            if named := _NAMESPACE.search(body):
                log.task = log.task or _literal(named[1])
        elif body.startswith("Task prompt:"):
            log.task = log.task or body.partition("\n")[2].strip() or None
        if label := first.partition(":")[0].partition("(")[0][:40].strip():
            log.others[label] += 1

    def _without_prompt(self, text: str) -> str:
        """The message after the ``[system prompt]`` that the log repeats before it."""
        if text.startswith("["):
            prompt, end, content = text[1:].partition("]\n\n")
            if end:
                if prompt not in self._prompts:
                    self._prompts.add(prompt)
                    if named := _YOU_ARE.search(prompt):
                        self.log.prompts.setdefault(named[1].strip(), prompt)
                return content.rstrip()
        return text.rstrip()

    def _concluded(self, last: Message | None, text: str) -> None:
        if last is None or not text:
            return
        stripped = text.removeprefix("<INFO>").strip()
        same = stripped in (last.content.strip(), last.content.removeprefix("<INFO>").strip())
        last.attributes["conclusion"] = True if same else text

    def _totals(self, text: str) -> None:
        for name, value in _TOTAL.findall(text):
            if float(value) >= 0:
                self.log.totals[name] = float(value)

    def _say(self, message: Message) -> None:
        self.log.messages.append(message)

    def _said(self, message: Message) -> None:
        """A model's reply: waits for the counts of tokens that were logged before it."""
        self._say(message)
        self._replies.append(message)

    def _usage(self, text: str) -> None:
        if self._replies:
            self._flush()
        if found := _USAGE.search(text):
            self._usages.append((int(found["prompt"]), int(found["completion"])))

    def _flush(self) -> None:
        """Gives each reply the count of the call that made it.

        A step logs the counts of its calls, then their replies, both in order. Where a call
        left no reply in the log, the replies are those of the last calls.
        """
        usages, replies = self._usages, self._replies
        if len(usages) >= len(replies):
            spare = len(usages) - len(replies)
            for reply, usage in zip(replies, usages[spare:], strict=True):
                reply.tokens = usage
            self.log.unassigned.extend(usages[:spare])
        else:
            self.log.unassigned.extend(usages)
        self._usages, self._replies = [], []


def _answering(message: Message, following: list[Message]) -> list[str] | None:
    """Who answers a message that opens a phase: the next message, if it is a reply, says."""
    for other in following:
        if other.kind == "turn" and other.receivers and message.speaker in other.receivers:
            return [other.speaker]
    return None


def _literal(text: str) -> str:
    if (plain := plain_literal(text)) is not None:
        return plain
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text[1:-1]
    return value if isinstance(value, str) else text[1:-1]
