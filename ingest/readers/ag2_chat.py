"""AG2 0.x (the module ``autogen``): the history of a chat.

Source: ag2 up to 0.14, and AutoGen 0.2 before it. ``[{content, role, name}, ...]``, alone (the
``messages`` of a ``GroupChat``) or as ``chat_history`` of a ``ChatResult`` with ``summary``,
``cost`` and ``human_input``. ``name`` is the speaker; ``role`` is a point of view
(``assistant`` is whoever keeps the history) and never the agent's role. Nobody is named as a
receiver: in a chat of two it is the other one, in a group everybody else.

One agent asks for tools in a message with ``tool_calls``, another runs them and answers with
``tool_responses``: the first is a message, each response a ``tool_call`` of the agent that ran
it, with the arguments that were asked for. The framework leaves out the name of the agent that
asks; in a chat of two it is the one who did not speak last, else nobody.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import Attributes, Basis, CollaborationGraph, GraphKind, Outcome
from ingest.flow import EverybodyElse, FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, decode_bytes, first_character, text_of
from ingest.readers.naming import set_task_from_text
from ingest.readers.openai_calls import UNKNOWN_TOOL, ChatCall, calls_of, text_of_content
from ingest.readers.sample_json import first_value, may_have_key

FRAMEWORK = "AG2"

Record = dict[str, Any]

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_KNOWN = frozenset(
    {"content", "role", "name", "tool_calls", "function_call", "tool_responses"}
    | {"tool_call_id"}
)
_RESULTS = ("tool", "function")
_HISTORY = frozenset({b"chat_history"})


class Ag2ChatReader:
    """AG2 0.x: a history of named speakers is a run."""

    format = "ag2-chat"
    title = "AG2 chat history (0.x)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="partly",
        notes=(
            "Nobody is named as a receiver: every message goes to everybody else who speaks.",
            "The caller of a tool is guessed in a chat of two where the trace leaves it out.",
            "A summary and a cost are kept where a chat's result holds them.",
        ),
    )
    telling_keys = frozenset({"chat_history", "role"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a message of a named speaker, or a chat's result."""
        if first_character(sample) == b"{" and not may_have_key(sample, _HISTORY):
            return False
        value = first_value(sample)
        if isinstance(value, dict):
            history = value.get("chat_history")
            if not isinstance(history, list):
                return False
            return _is_message(history[0]) if history else "human_input" in value
        if not isinstance(value, list) or not value:
            return False
        return _is_message(value[0]) or _is_result(value[0])

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's run, or one for each chat of a list of results.

        Raises:
            InputError: The file is not JSON, or holds no messages.
        """
        data = file.data()
        value, repaired = decode_bytes(data, _DECODER, file.uri)
        if not isinstance(value, list) or not any(_is_result(item) for item in value):
            result: Record = value if isinstance(value, dict) else {"chat_history": value}
            builder = context.builder(self, file, data)
            if repaired:
                builder.warn(REPAIRED)
            yield self._run(builder, result, file.uri)
            return
        for position, item in enumerate(value):
            record = f"chat {position}"
            try:
                if not _is_result(item):
                    raise InputError("it is no result of a chat")
                builder = context.builder(self, file, canonical_json(item), record=record)
                yield self._run(builder, item, file.uri)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _run(self, builder: GraphBuilder, result: Record, uri: str) -> CollaborationGraph:
        listed = result.get("chat_history")
        if not isinstance(listed, list) or not listed:
            raise InputError("it holds no messages", file=uri)
        messages = [item if isinstance(item, dict) else {"content": item} for item in listed]
        if not any(_is_spoken(message) for message in messages):
            raise InputError(
                "none of its messages names a speaker: a message has a name and a content",
                file=uri,
            )
        _History(builder, messages).add()
        builder.set_method("AG2 chat", framework=FRAMEWORK)
        summary = result.get("summary")
        if summary not in (None, "", {}):
            builder.attributes["summary"] = summary
        builder.outcome = Outcome(cost=_cost(result.get("cost")))
        return builder.build()


AG2_CHAT = Ag2ChatReader()


class _History:
    """Adds the messages of one chat to a run."""

    def __init__(self, builder: GraphBuilder, messages: list[Record]) -> None:
        self._builder = builder
        self._messages = messages
        self._flow = FlowTracker(builder)
        self._agents: dict[str, int] = {}
        self._waiting: list[ChatCall] = []
        self._speakers = [_name(message) for message in messages]
        for name in dict.fromkeys(self._speakers):
            if name is not None:
                role = builder.role_of(name)
                self._agents[name] = builder.new_agent(
                    name, role=role, kind="human" if role == "human" else "agent"
                )
        self._others = EverybodyElse(self._agents.values())
        names = list(self._agents)
        self._partner = (
            dict(zip(names, reversed(names), strict=True)) if len(names) == 2 else {}
        )

    def add(self) -> None:
        last: str | None = None
        for message, name in zip(self._messages, self._speakers, strict=True):
            attributes = _attributes(message)
            if name is None:
                # Of two agents, the one who did not speak last.
                name = self._partner.get(last or "")
                if name is None:
                    self._builder.warn("a message names no speaker")
                else:
                    self._builder.warn(
                        "the speaker beside a tool was guessed, the other of two"
                    )
                    attributes["speaker_is_inferred"] = True
            last = name
            agent = None if name is None else self._agents[name]
            others = self._others[agent]
            responses = _responses(message)
            if responses:
                self._answer(responses, agent, others, attributes)
                continue
            content = text_of_content(message.get("content"))
            if calls := calls_of(message):
                self._waiting += calls
                attributes["calls"] = [call.name for call in calls]
            guessed = "speaker_is_inferred" in attributes
            node = self._builder.add(
                "agent_message",
                name or "unknown speaker",
                agent=agent,
                recipients=others,
                delivery="inferred" if guessed else "broadcast",
                content=None if calls and not content else content,
                attributes=attributes,
            )
            basis: Basis = "inferred" if guessed else "delivered"
            self._flow.act(node, agent, recipients=others, basis=basis)
        first = text_of_content(self._messages[0].get("content"))
        if first:
            set_task_from_text(self._builder, first)

    def _answer(
        self,
        responses: list[Record],
        agent: int | None,
        others: Sequence[int],
        attributes: Attributes,
    ) -> None:
        """The executor's message: a node for each call that it ran."""
        nodes = []
        for response in responses:
            call = self._called(response)
            extra = dict(attributes)
            if call.id is not None:
                extra["call_id"] = call.id
            if call.arguments is not None:
                extra["arguments"] = call.arguments
            content = text_of_content(response.get("content"))
            failed = content is not None and content.startswith("Error: ")
            nodes.append(
                self._builder.add(
                    "tool_call",
                    call.name,
                    agent=agent,
                    recipients=others,
                    delivery="broadcast",
                    content=content,
                    status="error" if failed else None,
                    attributes=extra,
                )
            )
        if agent is not None:
            self._flow.act_together(nodes, agent)
        for node in nodes:
            self._flow.deliver(node, others)

    def _called(self, response: Record) -> ChatCall:
        """The call that a response answers: the one with its id, else the first of all."""
        id = text_of(response.get("tool_call_id"))
        for call in self._waiting:
            if id is None or call.id == id:
                self._waiting.remove(call)
                return call
        self._builder.warn("a tool's result stands without its call")
        is_function = response.get("role") == "function"
        name = text_of(response.get("name")) if is_function else None
        return ChatCall(name or UNKNOWN_TOOL, id, None)


def _name(message: Record) -> str | None:
    """The speaker; in the older ``function`` messages the name is the function's."""
    name = None if message.get("role") == "function" else message.get("name")
    return name if isinstance(name, str) and name.strip() else None


def _responses(message: Record) -> list[Record]:
    listed = message.get("tool_responses")
    if isinstance(listed, list) and listed:
        return [item if isinstance(item, dict) else {"content": item} for item in listed]
    return [message] if message.get("role") in _RESULTS else []


def _attributes(message: Record) -> Attributes:
    kept: Attributes = {}
    if not _KNOWN.issuperset(message):
        for key, value in message.items():
            if key not in _KNOWN and value not in (None, "", [], {}):
                kept[key] = value
    role = message.get("role")
    if isinstance(role, str):
        kept["chat_role"] = role
    return kept


def _cost(value: Any) -> float | None:
    """The cost of a chat, cached answers included; zero means that nobody counted."""
    usage = value.get("usage_including_cached_inference") if isinstance(value, dict) else None
    total = usage.get("total_cost") if isinstance(usage, dict) else None
    if isinstance(total, bool) or not isinstance(total, int | float):
        return None
    return float(total) if 0 < total < 1e300 else None


def _is_spoken(message: Record) -> bool:
    said = "content" in message or "tool_calls" in message or "tool_responses" in message
    return said and _name(message) is not None


def _is_result(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("chat_history"), list)


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and "content" in value
        and isinstance(value.get("name"), str)
        and value.get("role") in ("user", "assistant", "system", "tool", "function")
        and "type" not in value
        and "agent" not in value
    )
