"""Message histories of Pydantic AI: what ``all_messages_json()`` writes.

A history is a list of requests and responses with their parts. A file holds one history, one a
line, or an object with ``messages``. A history that is the begin of another one of the same
conversation is left out: programs write it anew after each run.

- A response is a message of the agent; what it only thought is an attribute.
- A tool call and its return, or the retry that it was answered with, are one ``tool_call``:
  the content is the result, the arguments are an attribute.
- A user's prompt is a message of the user. A retry that no tool asked for comes from the
  framework's validation.
- Instructions and system prompts are attributes.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome, Role, Status
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, short_name, text_of
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.otlp_attributes import KEPT_CHARACTERS
from ingest.readers.otlp_wire import real_number
from ingest.readers.platform_spans import count_at, short, text_at, total_cost
from ingest.readers.pydantic_ai_history import (
    History,
    agent_named,
    begins_message,
    held_messages,
    is_message,
    longest,
    said,
)
from ingest.readers.sample_json import first_value

_RETURNS = frozenset({"tool-return", "builtin-tool-return", "native-tool-return"})
_CALLS = frozenset({"tool-call", "builtin-tool-call", "native-tool-call"})
_KEPT_OF_RESPONSE = ("model_name", "finish_reason", "provider_response_id", "run_id")
_OUTCOMES: dict[str, Status] = {
    "success": "ok",
    "failed": "error",
    "denied": "error",
    "retried": "error",
    "interrupted": "error",
}


class PydanticAIReader:
    """Message histories of Pydantic AI."""

    format = "pydantic-ai"
    title = "Pydantic AI, message history"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="yes",
        outcome="partly",
        notes=(
            "Messages do not name the agent: each history has one, called agent.",
            "An agent that ran inside a tool has a history of its own: it is another run.",
            "The answer is the last response, or the arguments of its output tool.",
        ),
    )
    telling_keys = frozenset({"parts"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first value is a history."""
        value = first_value(sample)
        if isinstance(value, dict):
            held = held_messages(value)
            value = [value] if held is None else held
        if isinstance(value, list) and value and isinstance(value[0], list):
            value = value[0]
        return isinstance(value, list) and bool(value) and begins_message(value[0])

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each history, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        histories: list[History] = []
        loose = History()
        repaired = False
        for number, (value, was_repaired) in enumerate(values(file), 1):
            repaired = repaired or was_repaired
            if isinstance(value, dict) and not is_message(value):
                held = held_messages(value)
                history = History(f"record {number}", agent_named(value))
                history.extend(held)
                if history.messages:
                    histories.append(history)
            elif isinstance(value, list):
                history = History(f"record {number}")
                history.extend(value)
                if history.messages:
                    histories.append(history)
            else:
                loose.extend([value])
        if loose.messages:
            histories.append(loose)
        if not histories:
            raise InputError("it holds no message history", file=file.uri)
        kept = longest(histories)
        for history in kept:
            record = history.record if len(histories) > 1 else None
            builder = context.builder(
                self, file, canonical_bytes(history.messages), record=record
            )
            if repaired:
                builder.warn(REPAIRED)
            if len(kept) < len(histories):
                builder.warn("histories that later ones of the file repeat were left out")
            try:
                yield _Run(builder, history, context).graph()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)


PYDANTIC_AI = PydanticAIReader()


class _Tool(msgspec.Struct, eq=False):
    name: str
    source: int | None
    arguments: Any = None
    content: str | None = None
    status: Status | None = None
    started_at: int | None = None
    ended_at: int | None = None
    answered: bool = False
    attributes: Attributes = {}


class _Run:
    """One history on its way to a graph."""

    def __init__(self, builder: GraphBuilder, history: History, context: ReadContext) -> None:
        self.builder = builder
        self.history = history
        self.context = context
        self.flow = FlowTracker(builder)
        self.waiting: dict[str, _Tool] = {}
        self.order: list[_Tool] = []
        self.agent = self._agent()
        self.tools: dict[str, int] = {}
        self.others: dict[str, int] = {}
        self.instructions: list[str] = []
        self.costs: list[float | None] = []
        self.answer: Any = None  # the last words, or the last call's arguments
        self.asked: str | None = None

    def graph(self) -> CollaborationGraph:
        builder = self.builder
        models: set[str] = set()
        for message in self.history.messages:
            if (instructions := said(message, "instructions")) is not None:
                self._instruct(instructions)
            if message["kind"] == "request":
                self._request(message)
            else:
                if (model := said(message, "model_name")) is not None:
                    models.add(model)
                self._response(message)
        self._flush()
        if self.asked is not None:
            set_task_from_text(builder, self.asked)
            builder.name = short_name(self.asked) or None
        if models:
            builder.attributes["models"] = sorted(models)
        if self.instructions:
            builder.attributes["instructions"] = [short(one) for one in self.instructions]
        for key in ("conversation_id", "run_id"):
            values_of_key = [message.get(key) for message in self.history.messages]
            found = {value for value in values_of_key if value and isinstance(value, str)}
            if found:
                builder.attributes[f"{key}s"] = sorted(found)
        if self.history.strange:
            builder.warn(f"{self.history.strange} records are no messages and were left out")
        builder.outcome = Outcome(answer=text_of(self.answer), cost=total_cost(self.costs))
        return builder.build()

    def _agent(self) -> int:
        name = self.history.agent or next(
            (
                found
                for message in self.history.messages
                if (found := text_at(message.get("metadata"), "agent_name"))
            ),
            None,
        )
        if name is None:
            self.builder.warn("the messages do not name the agent")
            return self.builder.new_agent("agent", attributes={"named_by": "format"})
        return self.builder.new_agent(name)

    def _instruct(self, text: str) -> None:
        if text not in self.instructions:
            self.instructions.append(text)

    def _request(self, message: dict[str, Any]) -> None:
        at = from_iso(message.get("timestamp"))
        prompts: list[tuple[str | None, int | None, Attributes]] = []
        for part in message["parts"]:
            kind = said(part, "part_kind") if isinstance(part, dict) else None
            if kind is None:
                self._unknown(part)
                continue
            when = from_iso(part.get("timestamp")) or at
            if kind in _RETURNS:
                self._return(part, when)
            elif kind == "user-prompt":
                text, media = _words(part.get("content"))
                prompts.append((text, when, {"media": media} if media else {}))
            elif kind == "system-prompt":
                self._instruct(text_of(part.get("content")) or "")
            elif kind == "retry-prompt" and said(part, "tool_name") is not None:
                self._return(part, when, "error")
            elif kind == "retry-prompt":
                self._flush()
                self._validation(part, when)
            else:
                self._unknown(part)
        self._flush()
        for text, when, attributes in prompts:
            self.asked = self.asked or text
            user = self._other("user", "human")
            node = self.builder.add(
                "agent_message",
                "user",
                agent=user,
                recipients=(self.agent,),
                delivery="explicit",
                content=text,
                started_at=when,
                attributes=attributes,
            )
            self.flow.act(node, user, recipients=(self.agent,), derive=False)

    def _validation(self, part: dict[str, Any], at: int | None) -> None:
        checker = self._other("validation", "environment")
        node = self.builder.add(
            "agent_message",
            "validation",
            agent=checker,
            recipients=(self.agent,),
            delivery="explicit",
            content=text_of(part.get("content")),
            started_at=at,
            status="error",
        )
        last = self.flow.last_action(self.agent)
        sources = () if last is None else (last,)
        self.flow.act(node, checker, explicit=sources, recipients=(self.agent,), derive=False)

    def _unknown(self, part: Any) -> None:
        self.builder.attributes.setdefault("other_parts", []).append(short(part))
        self.builder.warn("parts of unknown kinds are kept as attributes")

    def _response(self, message: dict[str, Any]) -> None:
        self._flush()
        builder = self.builder
        texts: list[str] = []
        attributes: Attributes = {}
        calls: list[_Tool] = []
        own: list[dict[str, Any]] = []
        at = from_iso(message.get("timestamp"))
        for part in message["parts"]:
            kind = said(part, "part_kind") if isinstance(part, dict) else None
            if kind == "text":
                if words := said(part, "content"):
                    texts.append(words)
            elif kind == "thinking":
                if thought := said(part, "content"):
                    attributes.setdefault("thinking", []).append(thought[:KEPT_CHARACTERS])
            elif kind in _CALLS:
                tool = _Tool(said(part, "tool_name") or "tool", None, part.get("args"))
                tool.started_at = at
                key = said(part, "tool_call_id")
                if key is not None:
                    tool.attributes["tool_call_id"] = key
                    self.waiting[key] = tool
                calls.append(tool)
            elif kind in _RETURNS:
                own.append(part)
            else:
                self._unknown(part)
        for key in _KEPT_OF_RESPONSE:
            value = message.get(key)
            if value and isinstance(value, str):
                attributes[key] = value
        if calls:
            attributes["tool_calls"] = [tool.name for tool in calls]
        usage = message.get("usage")
        read = count_at(usage, "input_tokens", "request_tokens")
        written = count_at(usage, "output_tokens", "response_tokens")
        counted = bool(read or written)
        cost = usage.get("cost") if isinstance(usage, dict) else None
        self.costs.append(real_number(cost))
        tools = [self._tool_agent(tool.name) for tool in calls]
        text = "\n".join(texts) or None
        node = builder.add(
            "agent_message",
            builder.agent_name(self.agent),
            agent=self.agent,
            recipients=tools,
            delivery="explicit" if tools else None,
            content=text,
            started_at=at,
            tokens_in=read if counted else None,
            tokens_out=written if counted else None,
            attributes=attributes,
        )
        self.flow.act(node, self.agent)
        for tool in calls:
            tool.source = node
            self.order.append(tool)
        for part in own:
            self._return(part, at)
        if text is not None:
            self.answer = text
        elif calls:
            self.answer = calls[-1].arguments

    def _return(
        self, part: dict[str, Any], at: int | None, status: Status | None = None
    ) -> None:
        key = said(part, "tool_call_id")
        tool = self.waiting.get(key) if key is not None else None
        if tool is None or tool.answered:
            tool = _Tool(said(part, "tool_name") or "tool", None)
            if key is not None:
                tool.attributes["tool_call_id"] = key
            self.order.append(tool)
        tool.content = text_of(part.get("content"))
        tool.status = status or _OUTCOMES.get(said(part, "outcome") or "")
        tool.ended_at = at
        tool.answered = True

    def _tool_agent(self, name: str) -> int:
        found = self.tools.get(name)
        if found is None:
            role: Role = self.context.role_of(name)
            role = "tool" if role == "unknown" else role
            found = self.tools[name] = self.builder.new_agent(name, kind="tool", role=role)
        return found

    def _other(self, name: str, kind: Literal["human", "environment"]) -> int:
        found = self.others.get(name)
        if found is None:
            found = self.others[name] = self.builder.new_agent(name, kind=kind, role=kind)
        return found

    def _flush(self) -> None:
        """Adds the tool calls that were asked for, in order of asking."""
        if not self.order:
            return
        for tool in self.order:
            agent = self._tool_agent(tool.name)
            attributes = tool.attributes
            if tool.arguments is not None:
                attributes["arguments"] = tool.arguments
            recipients = (self.agent,) if tool.answered else ()
            node = self.builder.add(
                "tool_call",
                tool.name,
                agent=agent,
                recipients=recipients,
                delivery="explicit" if recipients else None,
                content=tool.content,
                started_at=tool.started_at,
                ended_at=tool.ended_at,
                status=tool.status,
                attributes=attributes,
            )
            sources = () if tool.source is None else (tool.source,)
            self.flow.act(node, agent, explicit=sources, recipients=recipients, derive=False)
        self.order = []


def _words(content: Any) -> tuple[str | None, list[str]]:
    """The words of a user's prompt, and the kinds of what else it holds."""
    if not isinstance(content, list):
        return text_of(content), []
    texts = []
    media = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif (text := text_at(part, "content")) is not None and "kind" not in part:
            texts.append(text)
        else:
            media.append(text_at(part, "kind", "media_type") or "other")
    return "\n".join(texts) or None, media
