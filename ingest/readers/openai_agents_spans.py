"""Trace spans of the OpenAI Agents SDK, as its processors export them, a JSON object a line.

A ``trace`` record names the workflow, a ``trace.span`` record is a span with its
``span_data``. Spans are written as they end, so a parent stands after its content. The body
that the SDK posts (``{"data": [...]}``) and lists of records are read too.

What the spans mean is decided as for OTLP (:mod:`ingest.readers.otlp_tree`,
:mod:`ingest.readers.otlp_flow`). Beyond that:

- a model call is a ``generation`` or ``response`` span. Where a model opens neither, its
  ``turn`` span stands for it: without words, and with the turn's tokens, less those of agents
  that ran as tools inside it;
- a ``function`` span holds no call id. It is joined to the call of the same name and arguments
  in the same turn, where there is only one;
- a ``handoff`` is a decision of the agent that hands over.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.model import CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import Call, decoded
from ingest.readers.decoding import REPAIRED
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.namesakes import warn_of_namesakes
from ingest.readers.otlp_attributes import AGENT, GUARDRAIL, KEPT_CHARACTERS, LLM, TOOL, Facts
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_tree import grow
from ingest.readers.platform_spans import (
    CHAIN,
    CallBook,
    count_at,
    read_payload,
    short,
    text_at,
)
from ingest.readers.sample_json import first_value
from ingest.readers.span_graph import fill

_TYPES = {
    "agent": AGENT,
    "generation": LLM,
    "response": LLM,
    "transcription": LLM,
    "function": TOOL,
    "handoff": TOOL,
    "guardrail": GUARDRAIL,
}
_READ = frozenset({"type", "name", "input", "output", "usage", "data", "model"})
_ENCODER = msgspec.json.Encoder(order="deterministic")


class OpenAIAgentsSpansReader:
    """Exported spans of the OpenAI Agents SDK."""

    format = "openai-agents-spans"
    title = "OpenAI Agents SDK, exported trace spans"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="partly",
        recipients="partly",
        outcome="no",
        notes=(
            "Spans hold words only where the model opens a generation span; elsewhere a turn "
            "is a message without content.",
            "A tool's run is joined to the call of the same name and arguments in its turn.",
            "Agents are told apart by name: spans have no ids of agents. Where two of one name "
            "seem to be there, a warning says so.",
        ),
    )
    telling_keys = frozenset({"object"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first record is a trace or a span of the SDK."""
        value = first_value(sample)
        if isinstance(value, dict) and isinstance(value.get("data"), list):
            value = value["data"]
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict):
            return False
        if value.get("object") == "trace.span":
            return "span_data" in value or "trace_id" in value
        return value.get("object") == "trace" and "workflow_name" in value

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each trace, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        traces: dict[str, _Trace] = {}
        repaired = False
        for value, was_repaired in values(file):
            repaired = repaired or was_repaired
            _collect(value, traces)
        if not traces:
            raise InputError("it holds no trace and no span", file=file.uri)
        for identity, trace in traces.items():
            try:
                yield self._graph(identity, trace, file, context, repaired)
            except InputError as error:
                yield Rejection(file.uri, identity, error.reason)

    def _graph(
        self,
        identity: str,
        trace: "_Trace",
        file: TraceFile,
        context: ReadContext,
        repaired: bool,
    ) -> CollaborationGraph:
        if not trace.spans:
            raise GraphError("the trace has no spans")
        tree = grow(_facts(trace))
        if not any(tree.kinds):
            raise GraphError("it has no model, tool or agent span")
        builder = context.builder(self, file, _ENCODER.encode(tree.spans), record=identity)
        if repaired:
            builder.warn(REPAIRED)
        fill(
            builder,
            tree,
            follow(tree),
            context,
            traces=[identity],
            method=text_at(trace.about, "workflow_name"),
            framework="openai-agents",
        )
        warn_of_namesakes(builder, tree, {})
        if builder.task is None:
            builder.name = text_at(trace.about, "workflow_name")
        if (group := text_at(trace.about, "group_id")) is not None:
            builder.attributes["group"] = group
        if trace.about.get("metadata"):
            builder.attributes["metadata"] = trace.about["metadata"]
        if trace.worded is False:
            builder.warn("the model's spans hold no words: messages have no content")
        if trace.repeated:
            builder.warn(f"{trace.repeated} spans stood twice and were counted once")
        return builder.build()


OPENAI_AGENTS_SPANS = OpenAIAgentsSpansReader()


class _Span(msgspec.Struct, gc=False):
    """What a span says.

    Attributes:
        facts: In the terms of all spans.
        parent: The parent's id.
        calls: The calls that its output asks for.
        sdk_type: ``turn`` or ``task`` for the SDK's own custom spans.
        usage: What such a span says of tokens.
    """

    facts: Facts
    parent: str | None
    calls: list[Call]
    sdk_type: str | None = None
    usage: Any = None


@dataclass(slots=True)
class _Trace:
    """The spans of one trace by id; ``worded`` says whether any model span holds words."""

    about: dict[str, Any] = field(default_factory=dict)
    spans: dict[str, _Span] = field(default_factory=dict)
    repeated: int = 0
    worded: bool = True


def _collect(value: Any, traces: dict[str, _Trace]) -> None:
    """Adds what a value holds.

    Spans are read at once: each model call repeats the conversation, which would fill memory.
    """
    if not isinstance(value, dict):
        return
    held = value.get("data")
    if "object" not in value and isinstance(held, list):
        for record in held:
            _collect(record, traces)
    elif value.get("object") == "trace":
        identity = text_at(value, "id") or ""
        traces.setdefault(identity, _Trace()).about |= value
    elif value.get("object") == "trace.span":
        identity = text_at(value, "trace_id") or ""
        trace = traces.get(identity)
        if trace is None:
            trace = traces[identity] = _Trace()
        key = text_at(value, "id") or f"#{len(trace.spans)}"
        trace.repeated += key in trace.spans
        trace.spans[key] = _read(key, identity, value)


def _facts(trace: _Trace) -> list[Facts]:
    """What the spans of a trace say, in the order of the file."""
    found: list[Facts] = []
    asked: dict[str, list[Call]] = {}
    book = CallBook()
    silent = _silent_turns(trace)
    for key, span in trace.spans.items():
        facts = span.facts
        if key in silent:
            facts.category = LLM
            facts.tokens_in, facts.tokens_out = silent[key]
        elif facts.category == GUARDRAIL and facts.parent in silent:
            # It checks what the turn was given, not what the turn's model said.
            facts.parent = trace.spans[facts.parent].parent
        found.append(facts)
        if span.calls and facts.parent is not None:
            asked.setdefault(facts.parent, []).extend(span.calls)
    for facts, span in zip(found, trace.spans.values(), strict=True):
        if facts.tool is not None and facts.parent in asked:
            facts.call = _call_of(facts, asked[facts.parent])
        book.note(facts, span.calls)
    book.settle()
    trace.worded = not silent
    return found


def _silent_turns(trace: _Trace) -> dict[str, tuple[int | None, int | None]]:
    """Turns without a span of their model call, with the tokens that are their own."""
    turns = {key for key, span in trace.spans.items() if span.sdk_type == "turn"}
    if not turns:
        return {}
    spoken: set[str | None] = set()
    inner: dict[str | None, list[Any]] = {}
    for span in trace.spans.values():
        if span.facts.category == LLM:
            spoken.add(_turn_around(span, trace, turns))
        elif span.sdk_type == "task":
            inner.setdefault(_turn_around(span, trace, turns), []).append(span.usage)
    found = {}
    for key in turns - spoken:
        usage = trace.spans[key].usage
        counts = []
        for name in ("input_tokens", "output_tokens"):
            total = count_at(usage, name)
            for part in inner.get(key, ()):
                own = count_at(part, name)
                total = None if total is None or own is None else total - own
            counts.append(total if total is not None and total >= 0 else None)
        # The SDK writes zeros where the model does not count.
        found[key] = (counts[0], counts[1]) if any(counts) else (None, None)
    return found


def _turn_around(span: _Span, trace: _Trace, turns: set[str]) -> str | None:
    """The nearest turn outwards; None where there is none."""
    seen: set[str] = set()
    outer = span.parent
    while outer is not None and outer not in seen and outer not in turns:
        seen.add(outer)
        around = trace.spans.get(outer)
        outer = None if around is None else around.parent
    return outer if outer in turns else None


def _call_of(facts: Facts, calls: list[Call]) -> str | None:
    """The id of the one call that a tool's span can belong to."""
    handoff = facts.extra.get("to_agent")
    if handoff is not None:
        fitting = [call for call in calls if (call.name or "").startswith("transfer_to_")]
    else:
        given = decoded(facts.asked)
        fitting = [
            call
            for call in calls
            if call.name == facts.tool and (not given or decoded(call.arguments) == given)
        ]
    return fitting[0].id if len(fitting) == 1 else None


def _read(key: str, identity: str, span: dict[str, Any]) -> _Span:
    held = span.get("span_data")
    data: dict[str, Any] = held if isinstance(held, dict) else {}
    kind = text_at(data, "type") or ""
    parent = text_at(span, "parent_id")
    facts = Facts(
        identity,
        key,
        parent,
        text_at(data, "name") or kind,
        from_iso(span.get("started_at")),
        from_iso(span.get("ended_at")),
        _TYPES.get(kind, CHAIN),
    )
    extra = facts.extra
    error = span.get("error")
    if error:
        facts.status = "error"
        message = text_at(error, "message") or short(error)
        extra["status_message"] = (message or "")[:KEPT_CHARACTERS]
    calls: list[Call] = []
    if kind == "agent":
        facts.agent = facts.name
    elif kind == "handoff":
        facts.agent = text_at(data, "from_agent")
        facts.name = "handoff"
        facts.tool = f"transfer_to_{text_at(data, 'to_agent') or 'nobody'}"
        extra["to_agent"] = data.get("to_agent")
    elif kind == "guardrail":
        triggered = data.get("triggered")
        if isinstance(triggered, bool):
            facts.text = "triggered" if triggered else "not triggered"
    elif kind == "custom":
        facts.agent = text_at(data.get("data"), "agent_name")
    else:
        calls = read_payload(facts, decoded(data.get("input")), decoded(data.get("output")))
    if facts.category == LLM:
        usage = data.get("usage")
        facts.tokens_in = count_at(usage, "input_tokens", "prompt_tokens")
        facts.tokens_out = count_at(usage, "output_tokens", "completion_tokens")
        if (model := text_at(data, "model")) is not None:
            extra["model"] = model
    for name, value in data.items():
        if name not in _READ and name not in extra and value not in (None, [], {}):
            extra[name] = short(value)
    read = _Span(facts, parent, calls)
    if isinstance(inside := data.get("data"), dict):
        read.sdk_type = text_at(inside, "sdk_span_type")
        read.usage = inside.get("usage")
        if kind == "custom":
            extra["data"] = short({k: v for k, v in inside.items() if k != "usage"})
    return read
