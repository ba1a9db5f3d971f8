"""Langfuse exports: a trace with its observations, of whatever framework wrote them.

An export holds a ``trace`` and its ``observations``, or a trace with the observations inside,
or observations that name their trace; one JSON value, or one a line. Observations stand in any
order, and an observation that stands twice (inside the trace, shortened, and beside it) is one.
Input, output and metadata are JSON, or JSON in a text.

A trace is a run. What its spans mean is decided as for OTLP (:mod:`ingest.readers.otlp_tree`,
:mod:`ingest.readers.otlp_flow`), since Langfuse receives OTLP and keeps the span attributes in
``metadata.attributes``; what Langfuse itself says of an observation (its type, input, output
and usage) comes first. Spans of LangGraph are told by its metadata.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.model import Attributes, CollaborationGraph, GraphKind
from ingest.big_json import is_indented, is_large
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import answer_in, asked_in
from ingest.readers.decoding import REPAIRED, decode_file
from ingest.readers.json_values import values
from ingest.readers.langfuse_spans import TYPES, Trace, facts_of_trace
from ingest.readers.namesakes import warn_of_namesakes
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_tree import grow
from ingest.readers.otlp_wire import real_number
from ingest.readers.platform_spans import first, text_at, total_cost, with_verdict
from ingest.readers.sample_json import first_value
from ingest.readers.span_graph import fill

_KEPT = (
    ("sessionId", "session"),
    ("userId", "user"),
    ("tags", "tags"),
    ("release", "release"),
    ("version", "version"),
    ("environment", "environment"),
)
_MARKS = frozenset(
    {"bookmarked", "environment", "observations", "projectId", "public", "scores", "sessionId"}
)
_COSTS = ("totalCost", "calculatedTotalCost", "total_cost")
_ANY: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder(order="deterministic")


class LangfuseReader:
    """Langfuse traces with observations and scores."""

    format = "langfuse"
    title = "Langfuse export (trace and observations)"
    kind: GraphKind = "run"
    version = "3"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="partly",
        outcome="partly",
        notes=(
            "Actions are generations, tool calls, guardrails, agents with nothing inside, and "
            "what nodes of LangGraph wrote themselves; other observations contain them.",
            "Agents are observations of type AGENT, and what agent attributes or LangGraph's "
            "metadata name; without any, one agent stands for all.",
            "Agents of one name are two where ids of agents or the nodes that lead to them "
            "differ; else a warning says that they are taken for one.",
            "The method is the trace's name, which Langfuse uses for the kind of workflow.",
            "Scores are kept as evaluations; one that is called correctness, success or the "
            "like is the outcome.",
        ),
    )
    telling_keys = frozenset({"observations", "timestamp", "traceId", "trace_id"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first value is a trace with observations, or an observation."""
        value = first_value(sample)
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict):
            return False
        trace = value.get("trace")
        if isinstance(trace, dict):
            return "observations" in value or "observations" in trace or _is_trace(trace)
        return _is_trace(value) or _is_observation(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each trace, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        traces: dict[str, Trace] = {}
        repaired = False
        found = False
        slim = is_large(file)
        for value, was_repaired in values(file) if slim else _held_values(file):
            found = True
            repaired = repaired or was_repaired
            _collect(value, traces, slim=slim)
        if not found:
            raise InputError("it is empty", file=file.uri)
        if not traces:
            raise InputError("it holds no trace and no observation", file=file.uri)
        for identity, trace in traces.items():
            try:
                yield self._graph(identity, trace, file, context, repaired)
            except InputError as error:
                yield Rejection(file.uri, identity, error.reason)

    def _graph(
        self,
        identity: str,
        trace: "Trace",
        file: TraceFile,
        context: ReadContext,
        repaired: bool,
    ) -> CollaborationGraph:
        spans = facts_of_trace(identity, trace)
        if not spans:
            raise GraphError("the trace has no observations")
        tree = grow(spans)
        if not any(tree.kinds):
            raise GraphError("it has no generation, tool or agent observation")
        builder = context.builder(self, file, _ENCODER.encode(tree.spans), record=identity)
        if repaired:
            builder.warn(REPAIRED)
        scores = _scores(trace)
        about = trace.about
        name = about.get("name")
        fill(
            builder,
            tree,
            follow(tree),
            context,
            traces=[identity],
            evaluations=scores,
            asked=asked_in(about.get("input")),
            answer=answer_in(about.get("output")),
            method=name if isinstance(name, str) else None,
            framework="langgraph" if trace.langgraph else None,
        )
        warn_of_namesakes(builder, tree, trace.marks)
        for key, label in _KEPT:
            if about.get(key):
                builder.attributes[label] = about[key]
        costs = [
            real_number(
                first(
                    trace.observations.get(span.id, {}),
                    "totalCost",
                    "calculatedTotalCost",
                    "total_cost",
                )
            )
            for span, action in zip(tree.spans, tree.kinds, strict=True)
            if action is not None
        ]
        builder.outcome = msgspec.structs.replace(
            with_verdict(builder.outcome, scores),
            cost=real_number(about.get("totalCost")) or total_cost(costs),
        )
        if trace.strange:
            builder.warn(f"{trace.strange} observations are no objects and were left out")
        return builder.build()


LANGFUSE = LangfuseReader()


def _held_values(file: TraceFile) -> Iterator[tuple[Any, bool]]:
    """:func:`values` of a file that fits into memory: most are one indented document."""
    if not is_indented(file):
        yield from values(file)
        return
    value, repaired = decode_file(file, _ANY)
    for item in value if isinstance(value, list) else [value]:
        yield item, repaired


def _is_trace(value: dict[str, Any]) -> bool:
    return {"id", "timestamp"} <= value.keys() and len(_MARKS & value.keys()) >= 2


def _is_observation(value: dict[str, Any]) -> bool:
    return (
        (text_at(value, "type") in TYPES or value.get("type") == "SPAN")
        and ("traceId" in value or "trace_id" in value)
        and ("startTime" in value or "start_time" in value)
    )


def _collect(value: Any, traces: dict[str, Trace], *, slim: bool) -> None:
    """Adds what one value of the file holds."""
    if not isinstance(value, dict):
        return
    about = value.get("trace")
    if isinstance(about, dict):
        beside = value
    elif ("observations" in value and ("timestamp" in value or "id" in value)) or (
        _is_trace(value) and not _is_observation(value)
    ):
        about = beside = value
    elif _is_observation(value):
        identity = text_at(value, "traceId", "trace_id") or ""
        _trace(traces, identity, slim).add([value])
        return
    elif isinstance(held := value.get("data"), list):
        for item in held:
            _collect(item, traces, slim=slim)
        return
    else:
        return
    inside, outside = about.get("observations"), value.get("observations")
    name = text_at(about, "id")
    if name is None:
        lists = (held for held in (outside, inside) if isinstance(held, list))
        named = (text_at(one, "traceId", "trace_id") for held in lists for one in held)
        name = next(filter(None, named), None) or f"trace {len(traces) + 1}"
    trace = _trace(traces, name, slim)
    for key, said in about.items():
        if key not in ("observations", "scores") and said is not None:
            trace.about.setdefault(key, said)
    trace.add(inside)
    if outside is not inside:
        trace.add(outside)
    for holder in (about,) if about is beside else (about, beside):
        if isinstance(scores := holder.get("scores"), list):
            trace.scores.extend(scores)


def _trace(traces: dict[str, Trace], name: str, slim: bool) -> Trace:
    """The trace of that name, begun if it is new."""
    found = traces.get(name)
    if found is None:
        found = traces[name] = Trace(slim=slim)
    return found


def _scores(trace: Trace) -> list[Attributes]:
    """Scores as evaluations, in the order of the file."""
    found: list[Attributes] = []
    for score in trace.scores:
        if not isinstance(score, dict):
            continue
        kind = text_at(score, "dataType", "data_type")
        number = real_number(score.get("value"))
        label = text_at(score, "stringValue", "string_value")
        if label is None and isinstance(score.get("value"), str):
            label, number = score["value"], None
        if kind == "BOOLEAN" and number is not None:
            label = "pass" if number else "fail"
        elif kind == "CATEGORICAL":
            number = None
        said: Attributes = {
            "name": text_at(score, "name"),
            "score": number,
            "label": label,
            "explanation": text_at(score, "comment"),
            "of": text_at(score, "observationId", "observation_id"),
            "by": text_at(score, "source"),
        }
        found.append({key: value for key, value in said.items() if value is not None})
    return found
