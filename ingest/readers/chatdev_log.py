"""ChatDev: the text log of a virtual software company.

Source: Qian et al. 2024, "ChatDev: Communicative Agents for Software Development". A phase is
a chat of two agents: the user role opens it, then both reply in turns. Three generations of
logs are read:

- ``A: **A<->B on : Phase, turn n**`` blocks, with ``A: **[Start Chat]**`` before them;
- ``[n] AI Assistant (A):`` and ``AI User (B):`` pairs, with system messages that name both;
- the same pairs without system messages, where the pair is not known.

A block repeats the system prompt of the other role in brackets: it goes to that agent's
attributes, not into the message. ``Seminar Conclusion`` repeats a message and makes none.
The report of running the software is a tool call that nobody owns; files that were updated
are outputs of the message before.

Dates stand as year-day-month without a zone: times stay text in the attributes
(``local_time`` in ISO form where day and month can be told apart, else ``time``).
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import (
    Artifact,
    Attributes,
    CollaborationGraph,
    GraphKind,
    Outcome,
    Status,
)
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chatdev_records import RECORD, Log, Message, parse, plain_text
from ingest.readers.chatdev_times import local_time
from ingest.readers.decoding import short_name

_MARKS = re.compile(
    r"\*\*\[(?:Start Chat|Preprocessing|Seminar Conclusion|RolePlaying|chatting)\]\*\*"
    r"|<->[^\n*]+ on : [^\n]*, turn \d+\*\*"
    r"|\] (?:\[\d+\] )?AI (?:User|Assistant) \("
    r"|\] (?:ChatDev|AgentTech) Starts|\*\*ChatDev Starts"
)
_PASSED = "The software run successfully without errors"


class ChatDevLogReader:
    """ChatDev: one text log is one run."""

    format = "chatdev-log"
    title = "ChatDev text log"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="partly",
        recipients="yes",
        outcome="partly",
        notes=(
            "Times have no zone, and some dates can be read in two ways: they stay text.",
            "Token counts are logged before the replies and belong to them in order; a call "
            "whose reply is not in the log is counted in unassigned_calls.",
            "Logs without system messages do not name the pair: there, delivery to the next "
            "speaker is inferred.",
            "Whether the software works is known only from the test reports.",
        ),
    )
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a dated record and holds ChatDev's own marks."""
        if sample.startswith((b"{", b"[{", b"[\n")):
            return False  # JSON, as most files are
        text = plain_text(sample).lstrip()
        return RECORD.match(text) is not None and _MARKS.search(text) is not None

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the log's one run.

        Raises:
            InputError: It holds no record, or breaks off before the first message.
        """
        data = file.data()
        text = plain_text(data)
        log = parse(text)
        if not log.records:
            raise InputError("no line begins with a date, a time and a level", file=file.uri)
        if not log.messages:
            raise InputError("the log breaks off before the first message", file=file.uri)
        builder = context.builder(self, file, data)
        if "\ufffd" in text:
            builder.warn("bytes that are no UTF-8 were replaced by U+FFFD")
        _describe(log, builder)
        _infer_receivers(log, builder)
        _fill(log, builder)
        yield builder.build()


CHATDEV_LOG = ChatDevLogReader()


def _describe(log: Log, builder: GraphBuilder) -> None:
    if log.task:
        builder.set_task(short_name(log.task, 200), description=log.task)
    else:
        builder.warn("the log does not say what the task was")
    builder.set_method("ChatDev", framework="ChatDev")
    builder.name = log.project
    if log.date_order is None:
        builder.warn("day and month of the dates cannot be told apart")
    else:
        builder.attributes["date_order"] = log.date_order
    if log.others:
        builder.attributes["other_records"] = dict(sorted(log.others.items()))
    if log.unassigned:
        builder.attributes["unassigned_calls"] = {
            "calls": len(log.unassigned),
            "prompt_tokens": sum(prompt for prompt, _ in log.unassigned),
            "completion_tokens": sum(completion for _, completion in log.unassigned),
        }
        builder.warn("some calls of the model have no reply in the log: see unassigned_calls")
    if log.ended is None:
        builder.warn("the log has no end: the run was cut short, or the file was")
    totals = log.totals
    builder.outcome = Outcome(
        termination=log.ended,
        tokens_in=_whole(totals.get("num_prompt_tokens")),
        tokens_out=_whole(totals.get("num_completion_tokens")),
        latency=totals.get("duration"),
        cost=totals.get("cost"),
    )


def _infer_receivers(log: Log, builder: GraphBuilder) -> None:
    """Where the log names no pair, a message goes to the agent that speaks next."""
    guessed = False
    following: Message | None = None
    for message in reversed(log.messages):
        if message.receivers is None:
            message.receivers = []
            if following is not None and following.speaker != message.speaker:
                message.receivers = [following.speaker]
                message.attributes["delivery"] = "inferred"
                guessed = True
        if message.kind != "report":
            following = message
    if guessed:
        builder.warn("messages without a named receiver were delivered to the next speaker")


def _fill(log: Log, builder: GraphBuilder) -> None:
    flow = FlowTracker(builder)
    report: int | None = None
    for message in log.messages:
        attributes = _attributes(message, log.date_order)
        if message.kind == "report":
            report = builder.add(
                "tool_call",
                message.speaker,
                content=message.content,
                status=_status(message.content),
                attributes=attributes,
            )
            continue
        agent = _agent(message.speaker, log, builder)
        inferred = message.attributes.get("delivery") == "inferred"
        recipients = [_agent(name, log, builder) for name in message.receivers or ()]
        prompt, completion = message.tokens or (None, None)
        node = builder.add(
            "agent_message",
            message.speaker,
            agent=agent,
            recipients=recipients,
            delivery="inferred" if inferred else "explicit",
            content=message.content,
            outputs=[Artifact(name=name, type=_type(name)) for name in message.files],
            round=message.turn,
            tokens_in=prompt,
            tokens_out=completion,
            attributes=attributes,
        )
        flow.act(
            node, agent, recipients=recipients, basis="inferred" if inferred else "delivered"
        )
        if report is not None and message.kind in ("start", "note"):
            builder.edge(report, node, "inferred")
            report = None


def _agent(name: str, log: Log, builder: GraphBuilder) -> int:
    if name == "User":
        return builder.agent(name, kind="human", role="human")
    prompt = log.prompts.get(name)
    return builder.agent(name, attributes={} if prompt is None else {"system_prompt": prompt})


def _attributes(message: Message, order: str | None) -> Attributes:
    time = local_time(message.time, order)
    attributes: Attributes = {
        "time" if time is None else "local_time": message.time if time is None else time
    }
    if message.phase:
        attributes["phase"] = message.phase
    if message.kind == "start":
        attributes["starts_phase"] = True
    attributes.update(
        (name, value) for name, value in message.attributes.items() if name != "delivery"
    )
    return attributes


def _status(report: str) -> Status | None:
    if _PASSED in report:
        return "ok"
    return "error" if "Error" in report or "Traceback" in report else None


def _type(name: str) -> str | None:
    return PurePosixPath(name).suffix.removeprefix(".") or None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
