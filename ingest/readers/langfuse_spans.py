"""What Langfuse's observations say, in the terms of spans."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.readers.chat_payload import Call, decoded
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso
from ingest.readers.langgraph_names import agent_in
from ingest.readers.langgraph_own import Ended, add_own_of_spans
from ingest.readers.namesakes import mark_in, part_namesakes
from ingest.readers.otlp_attributes import (
    AGENT,
    EVALUATOR,
    KEPT_CHARACTERS,
    LLM,
    OTHER,
    TOOL,
    Facts,
    KeyTable,
    facts_of,
)
from ingest.readers.otlp_wire import Attribute, Span, Value
from ingest.readers.platform_spans import (
    CHAIN,
    CallBook,
    count_at,
    first,
    read_payload,
    reads_input,
    settle_agents,
    short,
    slim_input,
    text_at,
    tool_answer,
)

TYPES = {
    "GENERATION": LLM,
    "AGENT": AGENT,
    "TOOL": TOOL,
    "CHAIN": CHAIN,
    "RETRIEVER": "RETRIEVER",
    "EMBEDDING": "EMBEDDING",
    "EVALUATOR": EVALUATOR,
    "GUARDRAIL": "GUARDRAIL",
    "EVENT": "EVENT",
}


@dataclass(slots=True)
class Trace:
    """A trace as it was collected.

    Attributes:
        about: What the export says of the trace itself.
        observations: By id, in order of the file.
        scores: Of the trace and its observations.
        strange: How many observations are no objects.
        langgraph: Whether LangGraph's metadata was found.
        marks: By observation, what tells its agent from others of its name.
        slim: Whether what is never read of inputs is left out at once, to save memory.
    """

    about: dict[str, Any] = field(default_factory=dict)
    observations: dict[str, dict[str, Any]] = field(default_factory=dict)
    scores: list[Any] = field(default_factory=list)
    strange: int = 0
    langgraph: bool = False
    marks: dict[str, str] = field(default_factory=dict)
    slim: bool = False

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
                if self.slim:
                    _slim(observation)
                self.observations[identity] = observation
            else:
                if known.get("input") and observation.get("input"):
                    # The one that holds something to be read is kept.
                    _slim(known)
                    _slim(observation)
                filled = {key: value for key, value in observation.items() if value}
                self.observations[identity] = {**known, **filled}


def _slim(observation: dict[str, Any]) -> None:
    if observation.get("type") == "GENERATION" and observation.get("input"):
        observation["input"] = slim_input(observation["input"])


def facts_of_trace(identity: str, trace: Trace) -> list[Facts]:
    """What the observations of a trace say, each once, in the order of the file.

    Args:
        identity: The trace's id.
        trace: Its observations.
    """
    table = KeyTable()
    found: dict[str, Facts] = {}
    undecided: set[str] = set()
    book = CallBook()
    for key, observation in trace.observations.items():
        facts, calls, open_kind = _read(key, identity, observation, trace, table)
        found[key] = facts
        if open_kind:
            undecided.add(key)
        book.note(facts, calls)
    settle_agents(found, undecided, trace.about.get("name"))
    part_namesakes(found.values(), trace.marks)
    if trace.langgraph:
        add_own_of_spans(found, _ended(found, trace), book)
    book.settle()
    return list(found.values())


def _ended(found: dict[str, Facts], trace: Trace) -> Iterator[Ended]:
    """The observations of models and of LangGraph's nodes."""
    for key, observation in trace.observations.items():
        facts = found[key]
        is_node = facts.category in (CHAIN, AGENT) and facts.name == facts.extra.get(
            "langgraph_node"
        )
        if is_node or facts.category == LLM:
            moment = facts.start if facts.end is None else facts.end
            given, put_out = observation.get("input"), observation.get("output")
            yield Ended(key, is_node, given, put_out, moment or 0)


def _read(
    key: str, identity: str, observation: dict[str, Any], trace: Trace, table: KeyTable
) -> tuple[Facts, list[Call], bool]:
    """One observation, the calls it asks for, and whether its type says nothing."""
    said = decoded(observation.get("metadata"))
    metadata: dict[str, Any] = said if isinstance(said, dict) else {}
    parent = text_at(observation, "parentObservationId", "parent_observation_id")
    name = text_at(observation, "name")
    facts = _told(key, identity, parent, name, metadata, table)
    facts.start = from_iso(first(observation, "startTime", "start_time"))
    facts.end = from_iso(first(observation, "endTime", "end_time"))
    if metadata:
        if "langgraph_node" in metadata or "langgraph_checkpoint_ns" in metadata:
            trace.langgraph = True
            for kept in ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns"):
                if kept in metadata:
                    facts.extra[kept] = metadata[kept]
        facts.agent = (
            facts.agent
            or agent_in(metadata)
            or text_at(metadata, "agent_name", "agentName", "agent")
        )
        if (mark := mark_in(metadata)) is not None:
            trace.marks[key] = mark
    put_out = decoded(observation.get("output"))
    kind = text_at(observation, "type") or ""
    category = TYPES.get(kind, CHAIN)
    if category == CHAIN:
        category = facts.category or (TOOL if tool_answer(put_out) is not None else CHAIN)
    facts.category = category
    if observation.get("level") == "ERROR":
        facts.status = "error"
    # Containers repeat the whole conversation, which nobody reads.
    is_read = category == "EVENT" or reads_input(facts)
    given = decoded(observation.get("input")) if is_read else None
    calls = read_payload(facts, given, put_out)
    if category == "EVENT":
        for label, value in (("input", given), ("output", put_out)):
            if value is not None:
                facts.extra[label] = short(value)
    usage = first(observation, "usageDetails", "usage_details", "usage")
    if isinstance(usage, dict):
        facts.tokens_in = count_at(
            usage, "input", "promptTokens", "input_tokens", "prompt_tokens"
        )
        facts.tokens_out = count_at(
            usage, "output", "completionTokens", "output_tokens", "completion_tokens"
        )
    if (model := text_at(observation, "model")) is not None:
        facts.extra["model"] = model
    message = text_at(observation, "statusMessage", "status_message")
    if message is not None:
        facts.extra["status_message"] = message[:KEPT_CHARACTERS]
    return facts, calls, category == CHAIN


def _told(
    key: str,
    identity: str,
    parent: str | None,
    name: str | None,
    metadata: dict[str, Any],
    table: KeyTable,
) -> Facts:
    """An observation as its span told it, by the attributes in its metadata."""
    service = scope = attributes = None
    if metadata:
        attributes = decoded(metadata.get("attributes"))
        service = text_at(decoded(metadata.get("resourceAttributes")), "service.name")
        if service is not None and service.startswith("unknown_service"):
            service = None
        scope = text_at(decoded(metadata.get("scope")), "name")
    if not isinstance(attributes, dict):
        return Facts(identity, key, parent, name or "", None, None, OTHER, None, service, scope)
    span = Span(
        trace_id=identity,
        span_id=key,
        parent_span_id=parent,
        name=name,
        attributes=_attributes(attributes, table),
    )
    facts = facts_of(span, identity, service, scope, table)
    facts.id, facts.parent = key, parent
    return facts


def _attributes(said: dict[str, Any], table: KeyTable) -> list[Attribute]:
    """Span attributes as the wire has them; whole conversations are left out."""
    return [
        Attribute(key, _value(value))
        for key, value in said.items()
        if table[key]
        and not key.startswith(("logfire.", "pydantic_ai.all_messages", "llm.tools."))
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
