"""What Langfuse's observations say, in the terms of spans."""

from dataclasses import dataclass, field
from typing import Any

from graphstore.model import Status
from ingest.readers.chat_payload import TOOL as TOOL_ROLE
from ingest.readers.chat_payload import (
    Call,
    ChatMessage,
    answer_in,
    as_message,
    asked_in,
    decoded,
    messages_of,
    text_in,
)
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso
from ingest.readers.langgraph_names import agent_in
from ingest.readers.otlp_attributes import (
    AGENT,
    EVALUATOR,
    KEPT_CHARACTERS,
    LLM,
    TOOL,
    TOOL_KINDS,
    Facts,
    KeyTable,
    facts_of,
)
from ingest.readers.otlp_wire import Attribute, Span, Value, whole_number

_CHAIN = "CHAIN"
TYPES = {
    "GENERATION": LLM,
    "AGENT": AGENT,
    "TOOL": TOOL,
    "CHAIN": _CHAIN,
    "RETRIEVER": "RETRIEVER",
    "EMBEDDING": "EMBEDDING",
    "EVALUATOR": EVALUATOR,
    "GUARDRAIL": "GUARDRAIL",
    "EVENT": "EVENT",
}
_GENERIC = frozenset({"SPAN", "CHAIN"})


@dataclass(slots=True)
class Trace:
    """A trace as it was collected.

    Attributes:
        about: What the export says of the trace itself.
        observations: By id, in order of the file.
        scores: Of the trace and its observations.
        strange: How many observations are no objects.
        langgraph: Whether LangGraph's metadata was found.
    """

    about: dict[str, Any] = field(default_factory=dict)
    observations: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: list[Any] = field(default_factory=list)
    strange: int = 0
    langgraph: bool = False

    def add(self, observations: Any) -> None:
        """Adds observations; one that is known fills what was missing."""
        for observation in observations if isinstance(observations, list) else ():
            if not isinstance(observation, dict):
                self.strange += 1
                continue
            identity = observation.get("id")
            if not isinstance(identity, str) or not identity:
                identity = f"#{len(self.observations)}"
            known = self.observations.get(identity)
            if known is None:
                self.observations[identity] = observation
            else:
                filled = {key: value for key, value in observation.items() if value}
                self.observations[identity] = {**known, **filled}


def facts_of_trace(identity: str, trace: Trace) -> list[Facts]:
    """What the observations say, each once."""
    table = KeyTable()
    found: dict[str, Facts] = {}
    derived: set[str] = set()
    called: list[tuple[Facts, list[Call]]] = []
    executed: set[str] = set()
    named: set[str] = set()
    for key, observation in trace.observations.items():
        facts, calls, guessed = _read(key, identity, observation, trace, table)
        found[key] = facts
        if guessed:
            derived.add(key)
        if calls:
            called.append((facts, calls))
        if facts.call is not None:
            executed.add(facts.call)
        elif facts.tool is not None:
            named.add(facts.tool)
    agents = {facts.parent for facts in found.values() if facts.category == AGENT}
    for key, facts in found.items():
        outer = found.get(facts.parent) if facts.parent is not None else None
        if key in derived and facts.agent is not None and facts.text is not None:
            if outer is None or outer.agent != facts.agent:
                facts.category = AGENT
        elif (
            facts.category == AGENT
            and facts.agent is None
            and facts.node is None
            and outer is None
            and facts.name == trace.about.get("name")
            and key in agents
        ):
            # What encloses a workflow is no agent, whatever the instrumentation calls it.
            facts.category = _CHAIN
    for facts, calls in called:
        open_calls = [
            call for call in calls if call.id not in executed and call.name not in named
        ]
        if open_calls:
            facts.extra["calls_without_observation"] = [
                {"name": call.name, "arguments": _short(call.arguments)} for call in open_calls
            ]
            if facts.text is None:
                # An answer in the form of a call that no tool takes: its arguments say it.
                said = [text_of(call.arguments) for call in open_calls]
                facts.text = "\n".join(text for text in said if text) or None
    return list(found.values())


def _read(
    key: str, identity: str, observation: dict[str, Any], trace: Trace, table: KeyTable
) -> tuple[Facts, list[Call], bool]:
    """One observation, the calls it asks for, and whether its kind was left open."""
    metadata = decoded(observation.get("metadata"))
    metadata = metadata if isinstance(metadata, dict) else {}
    attributes = decoded(metadata.get("attributes"))
    resource = decoded(metadata.get("resourceAttributes"))
    scope = decoded(metadata.get("scope"))
    service = resource.get("service.name") if isinstance(resource, dict) else None
    if not isinstance(service, str) or service.startswith("unknown_service"):
        service = None
    name = observation.get("name")
    span = Span(
        trace_id=identity,
        span_id=key,
        parent_span_id=text_at(observation, "parentObservationId", "parent_observation_id"),
        name=name if isinstance(name, str) else None,
        attributes=_attributes(attributes) if isinstance(attributes, dict) else None,
    )
    scope_name = scope.get("name") if isinstance(scope, dict) else None
    facts = facts_of(
        span, identity, service, scope_name if isinstance(scope_name, str) else None, table
    )
    facts.id = key
    facts.parent = span.parent_span_id
    facts.start = from_iso(observation.get("startTime") or observation.get("start_time"))
    facts.end = from_iso(observation.get("endTime") or observation.get("end_time"))
    if any(key in metadata for key in ("langgraph_node", "langgraph_checkpoint_ns")):
        trace.langgraph = True
        for kept in ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns"):
            if kept in metadata:
                facts.extra[kept] = metadata[kept]
    facts.agent = (
        facts.agent
        or agent_in(metadata)
        or text_at(metadata, "agent_name", "agentName", "agent")
    )
    given = decoded(observation.get("input"))
    put_out = decoded(observation.get("output"))
    kind = observation.get("type")
    category = TYPES.get(kind) if isinstance(kind, str) else None
    answer = _tool_answer(put_out)
    guessed = False
    if category is None or (category == _CHAIN and kind in _GENERIC):
        category = facts.category or (TOOL if answer is not None else _CHAIN)
        guessed = category == _CHAIN
    facts.category = category
    calls = _payload(facts, category, given, put_out, answer)
    _numbers(facts, observation)
    level = observation.get("level")
    facts.status = "error" if level == "ERROR" else _status(answer)
    message = observation.get("statusMessage") or observation.get("status_message")
    if isinstance(message, str) and message:
        facts.extra["status_message"] = message[:KEPT_CHARACTERS]
    return facts, calls, guessed


def _payload(
    facts: Facts, category: str, given: Any, put_out: Any, answer: ChatMessage | None
) -> list[Call]:
    """Text, request, and tool calls by id, from input and output."""
    calls: list[Call] = []
    root = facts.parent is None
    said = answer_in(put_out) if root else text_in(put_out)
    if category == LLM:
        written = messages_of(put_out)
        for message in written or ():
            calls.extend(message.calls)
        facts.calls = [call.id for call in calls if call.id] or facts.calls
        names = [call.name for call in calls if call.name]
        if names:
            facts.extra["tool_calls"] = names
        facts.answers = [
            answered for message in messages_of(given) or () for answered in message.answers
        ] or facts.answers
        facts.asked = asked_in(given)
        if said is not None or written is not None:
            facts.text = said
    elif category in TOOL_KINDS:
        facts.asked = (text_of(given) if given else None) or facts.asked
        facts.text = said or facts.text
        facts.tool = _tool_name(facts)
        if answer is not None and answer.answers:
            facts.call = facts.call or answer.answers[0]
    else:
        facts.asked = asked_in(given) if root or category == AGENT else None
        facts.text = said or facts.text
        if category == "EVENT":
            for label, value in (("input", given), ("output", put_out)):
                if value is not None:
                    facts.extra[label] = _short(value)
    return calls


def _tool_name(facts: Facts) -> str:
    name = facts.tool or facts.name
    for prefix in ("running tool: ", "execute_tool "):
        name = name.removeprefix(prefix)
    return name or "tool"


def _tool_answer(put_out: Any) -> ChatMessage | None:
    """The one tool message that an output is, None where it is something else."""
    message = as_message(put_out)
    return message if message is not None and message.role == TOOL_ROLE else None


def _status(answer: ChatMessage | None) -> Status | None:
    said = answer.raw.get("status") if answer is not None else None
    return "ok" if said == "success" else "error" if said == "error" else None


def _numbers(facts: Facts, observation: dict[str, Any]) -> None:
    """Tokens and model."""
    usage = observation.get("usageDetails") or observation.get("usage_details")
    if not isinstance(usage, dict) or not usage:
        usage = observation.get("usage")
    if isinstance(usage, dict):
        facts.tokens_in = _count(
            usage, "input", "promptTokens", "input_tokens", "prompt_tokens"
        )
        facts.tokens_out = _count(
            usage, "output", "completionTokens", "output_tokens", "completion_tokens"
        )
    model = observation.get("model")
    if isinstance(model, str) and model:
        facts.extra["model"] = model


def _count(usage: dict[str, Any], *keys: str) -> int | None:
    for key in keys:
        number = whole_number(usage.get(key))
        if number is not None and number >= 0:
            return number
    return None


def _attributes(said: dict[str, Any]) -> list[Attribute]:
    """Span attributes as the wire has them; whole conversations are left out."""
    return [
        Attribute(key, _value(value))
        for key, value in said.items()
        if not key.startswith(("logfire.", "pydantic_ai.all_messages", "llm.tools."))
    ]


def _value(value: Any) -> Value:
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, int):
        return Value(int_value=value)
    if isinstance(value, float):
        return Value(double_value=value)
    return Value(string_value=text_of(value))


def first(value: dict[str, Any], *keys: str) -> Any:
    """The first value under one of the keys that is not missing, empty or zero."""
    return next((value[key] for key in keys if value.get(key)), None)


def text_at(value: Any, *keys: str) -> str | None:
    """The first such value of an object, where it is a text."""
    if not isinstance(value, dict):
        return None
    found = first(value, *keys)
    return found if isinstance(found, str) else None


def _short(value: Any) -> str | None:
    text = text_of(value)
    return None if text is None else text[:KEPT_CHARACTERS]
