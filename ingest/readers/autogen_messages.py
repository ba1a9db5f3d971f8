"""AutoGen 0.4 and later: messages, events, results and saved state as JSON.

Source: ``autogen_agentchat`` and ``autogen_core`` 0.4 to 0.7. People keep:

- a ``TaskResult``: ``{"messages": [...], "stop_reason": ...}``;
- messages in a list or one a line, as they were streamed, often with the ``TaskResult`` at
  the end, which repeats them;
- what ``team.save_state()`` or ``agent.save_state()`` returned: the team's thread stands in
  its manager's state, and a nested team's in the state of the agent that holds it;
- the event log of ``autogen_core``, one JSON object a line, where most messages stand six or
  seven times.

A message has an id, a source, a time and the tokens that it cost; its receivers are named
only for a handoff (``target``) and for the choice of a speaker. See
:mod:`ingest.readers.autogen_records` for what a message is, and
:mod:`ingest.readers.autogen_graph` for who receives it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.autogen_graph import add_run
from ingest.readers.autogen_records import (
    CHUNK,
    CONTEXT_RESULT,
    Record,
    is_message,
    steps,
    type_of,
)
from ingest.readers.decoding import REPAIRED, decode_bytes, text_of
from ingest.readers.sample_json import first_value

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_STAGES = ("DeliveryStage.SEND", "DeliveryStage.DELIVER")
_OTHER_EVENTS = frozenset(
    {"LLMCall", "LLMStreamStart", "LLMStreamEnd", "ToolCall", "AgentConstructionException"}
    | {"MessageDropped", "MessageHandlerException"}
)
_LEFT_OUT = "records of the event log that hold no message were left out"
_DEEPEST_PAYLOAD = 8


class AutoGenMessagesReader:
    """AutoGen's own JSON: one run a result, a state, a list or a log."""

    format = "autogen-messages"
    title = "AutoGen messages, results and saved state (0.4 and later)"
    kind: GraphKind = "run"
    version = "2"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="partly",
        outcome="partly",
        notes=(
            "Only a handoff and the choice of a speaker name their receivers; every other "
            "message goes to everybody else in the team.",
            "A team inside a team cannot be told from its surroundings in a result: its "
            "messages count as messages to all.",
            "A saved state has no choices of speakers; an agent's own memory has no ids, no "
            "times and no tokens.",
            "The stop reason is kept; it does not say whether the task was solved.",
        ),
    )
    telling_keys = frozenset(
        {"source", "stop_reason", "agent_states", "llm_context", "message_thread"}
        | {"delivery_stage"}
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a message, a result, a state or a logged event."""
        value = first_value(sample)
        if isinstance(value, list):
            return bool(value) and is_message(value[0])
        if not isinstance(value, dict):
            return False
        return is_message(value) or _is_result(value) or _is_state(value) or _is_logged(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the runs of the file.

        Raises:
            InputError: The file is not JSON, or holds no messages.
        """
        lines = file.lines()
        first, second = next(lines, None), next(lines, None)
        if first is not None and second is not None and _is_object(first[1]):
            yield from self._lines(file, context)
            return
        value, repaired = decode_bytes(file.data(), _DECODER, file.uri)
        graphs = list(self._value(file, context, value, file.data(), None, repaired))
        if not graphs:
            raise InputError("it holds no AutoGen messages", file=file.uri)
        yield from graphs

    def _value(
        self,
        file: TraceFile,
        context: ReadContext,
        value: Any,
        content: str | bytes,
        record: str | None,
        repaired: bool,
    ) -> Iterator[CollaborationGraph]:
        """The graphs of one result, list, message or state."""
        if isinstance(value, dict) and _is_state(value):
            yield from self._state(file, context, value, record)
            return
        if isinstance(value, list):
            yield from self._list(file, context, value, content, record, repaired)
            return
        listed = [value] if is_message(value) else _listed(value)
        if not any(is_message(message) for message in listed):
            return
        builder = context.builder(self, file, content, record=record)
        if repaired:
            builder.warn(REPAIRED)
        add_run(builder, steps(_records(listed, builder), builder.warn))
        builder.outcome = Outcome(termination=text_of(value.get("stop_reason")))
        yield builder.build()

    def _list(
        self,
        file: TraceFile,
        context: ReadContext,
        listed: list[Any],
        content: str | bytes,
        record: str | None,
        repaired: bool,
    ) -> Iterator[CollaborationGraph]:
        """The run of a list, whose entries are what stands in lines elsewhere."""
        log = _Log()
        for position, entry in enumerate(listed):
            if log.take(entry):
                continue
            own: list[CollaborationGraph] = []
            if isinstance(entry, dict) and _is_result(entry):
                place = f"entry {position}" if record is None else f"{record}, entry {position}"
                own += self._value(file, context, entry, canonical_json(entry), place, repaired)
            if own:
                yield from own
            else:
                log.records.append(entry)
        if not any(is_message(message) for message in log.records):
            return
        builder = context.builder(self, file, content, record=record)
        if repaired:
            builder.warn(REPAIRED)
        if log.model_calls:
            builder.warn(_LEFT_OUT)
        add_run(builder, steps(_records(log.records, builder), builder.warn))
        if log.stop_reason is not None:
            builder.outcome = Outcome(termination=log.stop_reason)
        yield builder.build()

    def _state(
        self, file: TraceFile, context: ReadContext, state: Record, record: str | None
    ) -> Iterator[CollaborationGraph]:
        """The thread of a team's manager, those of the teams inside, or an agent's memory."""
        members: list[str] = []
        inner: list[tuple[str, Record]] = []
        manager: Record = state if "message_thread" in state else {}
        owner: str | None = None
        for key, entry in _entries(state.get("agent_states")):
            name = key.partition("/")[0]
            if "message_thread" in entry:
                manager = {"type": name, **entry}
                continue
            members.append(name)
            agent_state = entry.get("agent_state")
            nested = agent_state.get("inner_team_state") if isinstance(agent_state, dict) else 0
            if isinstance(nested, dict):
                inner.append((name, nested))
        thread = _listed(manager.get("message_thread"))
        if not thread and isinstance(state.get("llm_context"), dict):
            thread = _listed(state["llm_context"].get("messages"))
            owner = _owner(thread)
        if thread:
            builder = context.builder(self, file, canonical_json(state), record=record)
            found = steps(_records(thread, builder, owner), builder.warn)
            add_run(builder, found, members=members, manager=_manager(manager), owner=owner)
            for name in ("task", "facts", "plan", "n_rounds", "n_stalls"):
                if manager.get(name) not in (None, "", [], {}):
                    builder.attributes[name] = manager[name]
            yield builder.build()
        for name, nested in inner:
            place = name if record is None else f"{record}, {name}"
            yield from self._state(file, context, nested, place)

    def _lines(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Messages, events and results, one a line: what belongs to one run becomes one."""
        log = _Log()
        repairs = False
        for number, line in file.lines():
            record = f"line {number}"
            try:
                value, repaired = decode_bytes(line, _DECODER, file.uri, first_line=number)
                if log.take(value):
                    repairs = repairs or repaired
                    continue
                graphs = list(self._value(file, context, value, line, record, repaired))
            except InputError as error:
                log.damaged = True
                yield Rejection(file.uri, record, error.reason)
                continue
            if graphs:
                yield from graphs
            else:
                yield Rejection(file.uri, record, "it is no AutoGen message")
        if not log.records:
            return
        builder = context.builder(self, file, file.sha256)
        if repairs:
            builder.warn(REPAIRED)
        if log.damaged:
            builder.warn("lines that could not be read are missing")
        if log.model_calls:
            builder.warn(_LEFT_OUT)
        add_run(builder, steps(log.records, builder.warn))
        builder.outcome = Outcome(termination=log.stop_reason)
        yield builder.build()


AUTOGEN_MESSAGES = AutoGenMessagesReader()


class _Log:
    """The messages of a file with one object a line, before they become a run."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.stop_reason: str | None = None
        self.model_calls = 0
        self.damaged = False
        self._since: set[str] = set()

    def take(self, value: Any) -> bool:
        """Takes a line that belongs to the run; other lines are runs of their own."""
        if not isinstance(value, dict):
            return False
        if is_message(value):
            self._add(value)
            return True
        if _is_logged(value):
            self._take_logged(value)
            return True
        if type_of(value) in _OTHER_EVENTS:
            self.model_calls += 1
            return True
        if self._since and _is_result(value):
            for message in _listed(value):
                if _key(message) not in self._since and is_message(message):
                    self.records.append(message)
            self.stop_reason = text_of(value.get("stop_reason"))
            self._since = set()
            return True
        return False

    def _take_logged(self, value: Record) -> None:
        try:
            payload = msgspec.json.decode(value["payload"])
        except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError, KeyError):
            self.model_calls += value.get("kind") != "MessageKind.RESPOND"
            return
        for message in _messages_in(payload, 0):
            if _key(message) not in self._since:
                self._add(message)

    def _add(self, message: Record) -> None:
        self.records.append(message)
        if message.get("type") != CHUNK:
            self._since.add(_key(message))


def _key(message: Any) -> str:
    id = message.get("id") if isinstance(message, dict) else None
    return id if isinstance(id, str) and id else canonical_json(message)


def _messages_in(value: Any, depth: int) -> Iterator[Record]:
    """The messages anywhere inside a logged payload, what happened inside an agent first."""
    if is_message(value):
        yield value
    elif depth < _DEEPEST_PAYLOAD and isinstance(value, dict):
        for part in (value.get("inner_messages"), *value.values()):
            yield from _messages_in(part, depth + 1)
    elif depth < _DEEPEST_PAYLOAD and isinstance(value, list):
        for part in value:
            yield from _messages_in(part, depth + 1)


def _records(
    listed: list[Any], builder: GraphBuilder, owner: str | None = None
) -> Iterator[Record]:
    for position, record in enumerate(listed):
        if not isinstance(record, dict):
            builder.warn(f"message {position} is no object and was kept as text")
            yield {"source": "", "content": record}
        elif owner is not None and record.get("type") == CONTEXT_RESULT:
            yield {**record, "source": owner}
        else:
            yield record


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = value.get("messages")
    return value if isinstance(value, list) else []


def _entries(states: Any) -> list[tuple[str, Record]]:
    if not isinstance(states, dict):
        return []
    return [(key, entry) for key, entry in states.items() if isinstance(entry, dict)]


def _owner(thread: list[Any]) -> str | None:
    """Whose memory it is: the agent whose answers are the model's."""
    for record in thread:
        if isinstance(record, dict) and record.get("type") == "AssistantMessage":
            source = record.get("source")
            if isinstance(source, str) and source.strip():
                return source
    return None


def _manager(state: Record) -> str | None:
    type_ = state.get("type")
    return type_ if isinstance(type_, str) else None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(_DECODER.decode(line), dict)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def _is_result(value: Record) -> bool:
    messages = value.get("messages")
    if not isinstance(messages, list):
        return False
    if not messages:
        return value.keys() == {"messages", "stop_reason"}
    return is_message(messages[0])


def _is_state(value: Record) -> bool:
    type_ = value.get("type")
    if not isinstance(type_, str) or not type_.endswith("State"):
        return False
    return any(key in value for key in ("agent_states", "llm_context", "message_thread"))


def _is_logged(value: Record) -> bool:
    return value.get("type") == "Message" and value.get("delivery_stage") in _STAGES
