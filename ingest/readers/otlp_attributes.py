"""What spans say: the attributes of OpenInference, GenAI and OpenLLMetry, brought together.

Sources: the semantic conventions of OpenInference (``openinference.span.kind``, ``llm.*``,
``tool.*``, ``agent.name``, ``graph.node.*``), of OpenTelemetry for generative AI
(``gen_ai.*``), and of OpenLLMetry (``traceloop.*``, ``gen_ai.completion.*``). Where one span
carries several, the more specific attribute wins: the text of an output message before the
raw ``output.value``.

:func:`facts_of` reads a span once and keeps what the graph needs. Whole conversations that a
span repeats as its input are left out: each message stands in the span that wrote it.
"""

import re
from functools import lru_cache
from typing import Any

import msgspec

from graphstore.model import Status
from ingest.readers.otlp_wire import (
    Attribute,
    Event,
    Span,
    hex_id,
    nanoseconds,
    plain,
    real_number,
    status_of,
    whole_number,
)

KEPT_CHARACTERS = 1_000
"""Attributes without a place in the model are kept up to this length, else left out."""

LLM = "LLM"
TOOL = "TOOL"
AGENT = "AGENT"
EVALUATOR = "EVALUATOR"
GUARDRAIL = "GUARDRAIL"
OTHER = ""
TOOL_KINDS = frozenset({TOOL, "RETRIEVER", "RERANKER", "EMBEDDING"})

_WITH_TEXT = TOOL_KINDS | {LLM, AGENT, EVALUATOR, GUARDRAIL}

_OPERATIONS = {
    "chat": LLM,
    "text_completion": LLM,
    "generate_content": LLM,
    "embeddings": "EMBEDDING",
    "retrieval": "RETRIEVER",
    "execute_tool": TOOL,
    "invoke_agent": AGENT,
    "create_agent": AGENT,
    "invoke_workflow": "CHAIN",
}
_TRACELOOP = {"agent": AGENT, "tool": TOOL, "workflow": "CHAIN", "task": "CHAIN"}

SESSION_KEYS = (
    "session.id",
    "gen_ai.conversation.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)

_SKIP, _VALUE, _OUTPUT, _ANSWER, _CALL, _AGENT_NAME, _SESSION, _KEEP = range(8)

_VALUES = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "traceloop.span.kind",
    "traceloop.entity.name",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "llm.request.type",
    "llm.model_name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.agent.id",
    "agent.id",
    "graph.node.id",
    "graph.node.name",
    "graph.node.parent_id",
    "tool.name",
    "gen_ai.tool.name",
    "gen_ai.tool.call.id",
    "tool_call.id",
    "tool.call.id",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "tool_call.function.name",
    "tool_call.function.arguments",
    "input.value",
    "output.value",
    "user_goal",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.response.content",
    "llm.token_count.prompt",
    "llm.token_count.completion",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.completion_tokens",
    "eval.score",
    "eval.label",
    "eval.name",
    "eval.explanation",
    "gen_ai.evaluation.score.value",
    "gen_ai.evaluation.score.label",
    "gen_ai.evaluation.name",
    "gen_ai.evaluation.explanation",
)
_VALUE_KEYS = frozenset(_VALUES)
_SKIPPED = re.compile(
    r"llm\.(input_messages|output_messages|prompts|tools|invocation_parameters|"
    r"prompt_template|token_count\.total)\b.*"
    r"|gen_ai\.(prompt|completion|tool\.definitions|system_instructions|usage\.total_tokens)\b.*"
    r"|(input|output)\.mime_type|(retrieval|embedding|reranker)\..*"
)
_PATTERNS = (
    (
        _ANSWER,
        re.compile(
            r"(llm\.input_messages\.\d+\.message|gen_ai\.prompt\.\d+)\.tool_call_id",
        ),
    ),
    (
        _CALL,
        re.compile(
            r"llm\.output_messages\.\d+\.message\.tool_calls\.\d+\.tool_call"
            r"\.(id|function\.name)"
            r"|gen_ai\.completion\.\d+\.tool_calls\.\d+\.(id|name)"
        ),
    ),
    (
        _OUTPUT,
        re.compile(
            r"llm\.output_messages\.\d+\.message"
            r"\.(content|contents\.\d+\.message_content\.text)"
            r"|gen_ai\.completion\.\d+\.content"
        ),
    ),
    (_AGENT_NAME, re.compile(r"(.*[._])?(sub)?agent\.name")),
)
_KNOWN_KEYS = 50_000

_TEXT_EVENTS = {
    "gen_ai.choice",
    "gen_ai.assistant.message",
    "gen_ai.content.completion",
    "gen_ai.tool.message",
}


class Part(msgspec.Struct, gc=False):
    """A part of a GenAI message."""

    type: str | None = None
    content: Any = None
    id: str | None = None
    name: str | None = None


class Message(msgspec.Struct, gc=False):
    """A GenAI message."""

    role: str | None = None
    parts: list[Part] | None = None
    content: Any = None


_MESSAGES = msgspec.json.Decoder(list[Message])


class Facts(msgspec.Struct, array_like=True, gc=False):
    """What one span says, in the graph's terms. Its encoding is the span's identity.

    Attributes:
        category: LLM, TOOL, AGENT, CHAIN, ... in OpenInference's words; empty where the span
            is about something else.
        parent: The parent's span id.
        start: Nanoseconds.
        end: Nanoseconds.
        service: Of the resource.
        scope: The instrumentation library.
        agent: The agent's name, where an attribute holds one.
        agent_id: The agent's id, likewise.
        node: The node of the agent graph.
        node_parent: The node before it in the agent graph.
        tool: The tool's name.
        text: What it put out.
        asked: What it was asked, where that can be the task.
        call: The id of the tool call that it executes.
        calls: Ids of tool calls that its output asks for.
        answers: Ids of tool calls whose results its input holds.
        links: Span ids.
        session: What ties several traces together.
        extra: Whatever else is worth keeping.
    """

    trace: str
    id: str
    parent: str | None
    name: str
    start: int | None
    end: int | None
    category: str
    status: Status | None = None
    service: str | None = None
    scope: str | None = None
    agent: str | None = None
    agent_id: str | None = None
    node: str | None = None
    node_parent: str | None = None
    tool: str | None = None
    text: str | None = None
    asked: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    call: str | None = None
    calls: list[str] | None = None
    answers: list[str] | None = None
    links: list[str] | None = None
    session: str | None = None
    extra: dict[str, Any] = {}


class KeyTable(dict[str, int]):
    """What to do with an attribute, by key: decided once for each key that turns up."""

    def __missing__(self, key: str) -> int:
        code = _classify(key)
        if len(self) < _KNOWN_KEYS:
            self[key] = code
        return code


@lru_cache(maxsize=4_096)
def _classify(key: str) -> int:
    if key in _VALUE_KEYS:
        return _VALUE
    if key in SESSION_KEYS:
        return _SESSION
    for code, pattern in _PATTERNS:
        if pattern.fullmatch(key):
            return code
    return _SKIP if _SKIPPED.fullmatch(key) else _KEEP


def facts_of(
    span: Span, trace: str, service: str | None, scope: str | None, table: KeyTable
) -> Facts:
    """Reads a span.

    Args:
        span: The span.
        trace: Its trace's id in hexadecimal.
        service: The name of the service that wrote it.
        scope: The instrumentation library that wrote it.
        table: Shared between the spans of a reading.
    """
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    outputs: list[str] | None = None
    answers: list[str] | None = None
    calls: list[tuple[str, str]] | None = None
    agent: str | None = None
    session: str | None = None
    for attribute in span.attributes or ():
        key = attribute.key
        code = table[key]
        if not code or (boxed := attribute.value) is None:
            continue
        value = boxed.string_value
        if value is None:
            value = plain(boxed)
        if code == _VALUE:
            values[key] = value
        elif code == _KEEP:
            if isinstance(value, str):
                if len(value) <= KEPT_CHARACTERS:
                    extra[key] = value
            elif isinstance(value, int | float):
                extra[key] = value
        elif not value:
            continue
        elif code == _SESSION:
            if session is None or key == SESSION_KEYS[0]:
                session = str(value)
        elif not isinstance(value, str):
            continue
        elif code == _OUTPUT:
            outputs = [value] if outputs is None else [*outputs, value]
        elif code == _CALL:
            calls = [(key, value)] if calls is None else [*calls, (key, value)]
        elif code == _ANSWER:
            answers = [value] if answers is None else [*answers, value]
        else:
            agent = value
    get = values.get
    category = _category(values, extra)
    call_ids = None
    if calls is not None:
        call_ids = [value for key, value in calls if key.endswith("id")] or None
        names = [value for key, value in calls if key.endswith("name")]
        if names:
            extra["tool_calls"] = names
    if (written := get("gen_ai.output.messages")) is not None:
        texts, asked_for, called, _ = _parts(written)
        outputs = outputs or texts
        call_ids = call_ids or asked_for
        if called:
            extra["tool_calls"] = called
    asked = _text(get("input.value") or get("user_goal") or get("traceloop.entity.input"))
    if (read := get("gen_ai.input.messages")) is not None:
        texts, _, _, answered = _parts(read)
        answers = answers or answered
        asked = asked or (texts[0] if texts else None)
    if span.events:
        outputs = _read_events(span.events, outputs, extra)
    status = status_of(span.status)
    if status == "error" and span.status is not None and span.status.message:
        extra["status_message"] = span.status.message[:KEPT_CHARACTERS]
    parent = hex_id(span.parent_span_id, 8) if span.parent_span_id else None
    text: str | None = None
    if outputs is not None:
        text = outputs[0] if len(outputs) == 1 else "\n".join(outputs)
    elif parent is None or category in _WITH_TEXT:
        text = _text(
            get("gen_ai.response.content")
            or get("output.value")
            or get("gen_ai.tool.call.result")
            or get("traceloop.entity.output")
        )
    if parent is not None and category == LLM:
        asked = get("user_goal")
    elif category in TOOL_KINDS:
        asked = asked or _text(
            get("gen_ai.tool.call.arguments") or get("tool_call.function.arguments")
        )
    elif parent is not None and category != AGENT:
        asked = None
    if category == LLM:
        model = (
            get("gen_ai.response.model") or get("gen_ai.request.model") or get("llm.model_name")
        )
        if model is not None:
            extra["model"] = model
    elif category == EVALUATOR:
        _read_evaluation(values, extra)
    tokens_in = get("llm.token_count.prompt")
    if tokens_in is None:
        tokens_in = get("gen_ai.usage.input_tokens")
        if tokens_in is None:
            tokens_in = get("gen_ai.usage.prompt_tokens")
    tokens_out = get("llm.token_count.completion")
    if tokens_out is None:
        tokens_out = get("gen_ai.usage.output_tokens")
        if tokens_out is None:
            tokens_out = get("gen_ai.usage.completion_tokens")
    return Facts(
        trace,
        hex_id(span.span_id, 8) or span.span_id,
        parent,
        span.name or "",
        nanoseconds(span.start_time_unix_nano),
        nanoseconds(span.end_time_unix_nano),
        category,
        status,
        service,
        scope,
        agent or (_text(get("traceloop.entity.name")) if category == AGENT else None),
        _text(get("gen_ai.agent.id") or get("agent.id")),
        _text(get("graph.node.id") or get("graph.node.name")),
        _text(get("graph.node.parent_id")),
        _tool_name(span, values) if category in TOOL_KINDS else None,
        text,
        asked,
        _count(tokens_in),
        _count(tokens_out),
        _text(get("gen_ai.tool.call.id") or get("tool_call.id") or get("tool.call.id")),
        call_ids,
        answers,
        _links(span) if span.links else None,
        session,
        extra,
    )


def _category(values: dict[str, Any], extra: dict[str, Any]) -> str:
    """The kind of span, in OpenInference's words."""
    kind = values.get("openinference.span.kind")
    if isinstance(kind, str) and kind:
        return kind.upper()
    operation = values.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        if operation == "create_agent":
            extra["declares"] = True
        return _OPERATIONS.get(operation, OTHER)
    loop = values.get("traceloop.span.kind")
    if isinstance(loop, str) and loop:
        return _TRACELOOP.get(loop, OTHER)
    request = values.get("llm.request.type")
    if request is not None:
        return "EMBEDDING" if request == "embedding" else LLM
    return OTHER


def _tool_name(span: Span, values: dict[str, Any]) -> str:
    name = (
        values.get("tool.name")
        or values.get("gen_ai.tool.name")
        or values.get("tool_call.function.name")
        or values.get("traceloop.entity.name")
    )
    return _text(name) or (span.name or "").removeprefix("execute_tool ") or "tool"


def _parts(
    value: Any,
) -> tuple[list[str] | None, list[str] | None, list[str], list[str] | None]:
    """Texts, tool calls by id and by name, and answered tool calls of GenAI messages."""
    try:
        if isinstance(value, str):
            messages = _MESSAGES.decode(value)
        else:
            messages = msgspec.convert(value, list[Message])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None, None, [], None
    texts: list[str] = []
    calls: list[str] = []
    names: list[str] = []
    answers: list[str] = []
    for message in messages:
        if message.role == "system":
            continue
        if isinstance(message.content, str):
            texts.append(message.content)
        for part in message.parts or ():
            if part.type == "tool_call":
                if part.id:
                    calls.append(part.id)
                if part.name:
                    names.append(part.name)
            elif part.type == "tool_call_response":
                if part.id:
                    answers.append(part.id)
            elif part.type == "text" and isinstance(part.content, str):
                texts.append(part.content)
    return texts or None, calls or None, names, answers or None


def _read_events(
    events: list[Event], outputs: list[str] | None, extra: dict[str, Any]
) -> list[str] | None:
    """Outputs, errors and judgements that stand in events."""
    found: list[str] = []
    for event in events:
        if event.name in _TEXT_EVENTS:
            found.extend(_event_texts(event.attributes or ()))
        elif event.name == "exception":
            values = {item.key: plain(item.value) for item in event.attributes or ()}
            kind = values.get("exception.type")
            message = values.get("exception.message")
            said = ": ".join(str(part) for part in (kind, message) if part)
            extra["exception"] = said[:KEPT_CHARACTERS]
        elif event.name == "gen_ai.evaluation.result":
            values = {item.key: plain(item.value) for item in event.attributes or ()}
            _read_evaluation(values, extra)
    return outputs or found or None


def _event_texts(attributes: "list[Attribute] | tuple[()]") -> list[str]:
    texts = []
    for attribute in attributes:
        key = attribute.key
        value = plain(attribute.value)
        if key in ("gen_ai.completion", "content", "gen_ai.event.content", "message"):
            if isinstance(value, dict):
                value = value.get("content")
            elif isinstance(value, str) and value.startswith("{"):
                try:
                    decoded = msgspec.json.decode(value)
                except (msgspec.MsgspecError, RecursionError):
                    decoded = None
                if isinstance(decoded, dict):
                    inner = decoded.get("message", decoded)
                    value = inner.get("content") if isinstance(inner, dict) else inner
            if isinstance(value, str) and value:
                texts.append(value)
    return texts


def _read_evaluation(values: dict[str, Any], extra: dict[str, Any]) -> None:
    """What an evaluator says, into ``extra["evaluation"]``."""
    said = {
        "score": real_number(_first(values, "gen_ai.evaluation.score.value", "eval.score")),
        "label": _text(_first(values, "gen_ai.evaluation.score.label", "eval.label")),
        "name": _text(_first(values, "gen_ai.evaluation.name", "eval.name")),
        "explanation": _text(
            _first(values, "gen_ai.evaluation.explanation", "eval.explanation")
        ),
    }
    kept = {key: value for key, value in said.items() if value is not None}
    if kept:
        extra.setdefault("evaluation", []).append(kept)


def _first(values: dict[str, Any], *keys: str) -> Any:
    return next((values[key] for key in keys if values.get(key) is not None), None)


def _links(span: Span) -> list[str] | None:
    found = [hex_id(link.span_id, 8) for link in span.links or () if link.span_id]
    return [link for link in found if link] or None


def _count(value: Any) -> int | None:
    if type(value) is int:
        return value if value >= 0 else None
    number = whole_number(value)
    return number if number is not None and number >= 0 else None


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    return msgspec.json.encode(value, order="deterministic").decode()
