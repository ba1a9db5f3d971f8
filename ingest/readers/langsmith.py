"""LangSmith runs: what its clients send (``post`` and ``patch``), and what it exports.

A file holds batches, single runs, lists of runs, or runs with their ``child_runs`` inside; one
JSON value, or one a line. A run that was posted and patched is one: what the patch says later
fills and replaces. The place in the tree and the start stand in ``dotted_order``, in UTC, also
where ``parent_run_id`` is missing and ``start_time`` has no zone.

A trace is a run of the team. What its spans mean is decided as for OTLP
(:mod:`ingest.readers.otlp_tree`, :mod:`ingest.readers.otlp_flow`); agents are told by
LangGraph's metadata.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Status
from ingest.big_json import is_large
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import Call, ChatMessage, answer_in, decoded, messages_of
from ingest.readers.decoding import REPAIRED
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.langgraph_names import agent_in
from ingest.readers.langgraph_own import Ended, add_own_of_spans
from ingest.readers.namesakes import mark_in, part_namesakes, warn_of_namesakes
from ingest.readers.otlp_attributes import KEPT_CHARACTERS, LLM, TOOL, Facts
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_tree import grow
from ingest.readers.otlp_wire import real_number
from ingest.readers.platform_spans import (
    CHAIN,
    CallBook,
    count_at,
    first,
    read_payload,
    settle_agents,
    slim_input,
    text_at,
    total_cost,
    with_verdict,
)
from ingest.readers.sample_json import first_value
from ingest.readers.span_graph import fill

_TYPES = {"llm": LLM, "tool": TOOL, "retriever": "RETRIEVER", "embedding": "EMBEDDING"}
_RUN_TYPES = frozenset({*_TYPES, "chain", "prompt", "parser"})
_DOTTED = re.compile(
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)"
    r"(?P<fraction>\d*)"
)
_LANGGRAPH = ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns")
_SESSIONS = ("thread_id", "session_id", "conversation_id")
_PRESENT = frozenset({"inputs", "outputs", "extra", "serialized", "events", "tags"})
_LEFT_OUT = frozenset({"attachments", "child_runs", "events", "manifest", "serialized"})
_ENCODER = msgspec.json.Encoder(order="deterministic")


class LangSmithReader:
    """LangSmith runs, as sent or as exported."""

    format = "langsmith"
    title = "LangSmith runs"
    kind: GraphKind = "run"
    version = "3"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="partly",
        outcome="partly",
        notes=(
            "Actions are runs of type llm, tool, retriever and embedding, and what nodes of "
            "LangGraph wrote themselves; other runs contain them.",
            "Agents are what LangGraph's metadata name; without any, one agent stands for all.",
            "Agents of one name are two where ids of agents or the nodes that lead to them "
            "differ; else a warning says that they are taken for one.",
            "The method is the name of the outermost run.",
            "Feedback is kept as evaluations; one that is called correctness, success or the "
            "like is the outcome.",
        ),
    )
    telling_keys = frozenset({"dotted_order", "run_type"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first value holds LangSmith runs."""
        value = first_value(sample)
        if isinstance(value, dict):
            for key in ("post", "patch", "runs"):
                held = value.get(key)
                if isinstance(held, list) and held and not _is_run(value):
                    return any(_is_run(run) for run in held)
        if isinstance(value, list):
            value = value[0] if value else None
        return _is_run(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each trace, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        runs: dict[str, dict[str, Any]] = {}
        repaired = False
        slim = is_large(file)
        for value, was_repaired in values(file):
            repaired = repaired or was_repaired
            _collect(value, runs, slim=slim)
        if not runs:
            raise InputError("it holds no run", file=file.uri)
        traces: dict[str, _Trace] = {}
        for key, run in runs.items():
            identity = text_at(run, "trace_id") or _root(key, runs)
            traces.setdefault(identity, _Trace()).runs[key] = run
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
        tree = grow(_facts(identity, trace))
        if not any(tree.kinds):
            raise GraphError("it has no model or tool run, and no agent")
        builder = context.builder(self, file, _ENCODER.encode(tree.spans), record=identity)
        if repaired:
            builder.warn(REPAIRED)
        roots = [place for place, parent in enumerate(tree.parents) if parent < 0]
        root = trace.runs[tree.spans[roots[0]].id]
        scores = _feedback(trace)
        fill(
            builder,
            tree,
            follow(tree),
            context,
            traces=[identity],
            evaluations=scores,
            answer=answer_in(decoded(root.get("outputs"))) if len(roots) == 1 else None,
            method=text_at(root, "name"),
            framework="langgraph" if trace.langgraph else None,
        )
        warn_of_namesakes(builder, tree, trace.marks)
        if (project := text_at(root, "session_name")) is not None:
            builder.attributes["project"] = project
        if (session := text_at(_metadata(root), *_SESSIONS)) is not None:
            builder.attributes["session"] = session
        if root.get("tags"):
            builder.attributes["tags"] = root["tags"]
        costs = [
            real_number(trace.runs.get(span.id, {}).get("total_cost"))
            for span, action in zip(tree.spans, tree.kinds, strict=True)
            if action is not None
        ]
        builder.outcome = msgspec.structs.replace(
            with_verdict(builder.outcome, scores), cost=total_cost(costs)
        )
        return builder.build()


LANGSMITH = LangSmithReader()


@dataclass(slots=True)
class _Trace:
    """The runs of one trace by id.

    Attributes:
        langgraph: Whether LangGraph's metadata was found.
        marks: By run, what tells its agent from others of its name.
    """

    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    langgraph: bool = False
    marks: dict[str, str] = field(default_factory=dict)


def _is_run(value: Any) -> bool:
    if not isinstance(value, dict) or "id" not in value:
        return False
    dotted = value.get("dotted_order")
    if isinstance(dotted, str) and _DOTTED.match(dotted) is not None and "Z" in dotted:
        return True
    return text_at(value, "run_type") in _RUN_TYPES and (
        "trace_id" in value or "child_runs" in value or "session_id" in value
    )


def _collect(value: Any, runs: dict[str, dict[str, Any]], *, slim: bool) -> None:
    """Adds the runs that a value holds; a later part of a run fills and replaces.

    Args:
        value: Of the file.
        runs: Receives them, by id.
        slim: Whether what is never read of inputs is left out at once, to save memory.
    """
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, list):
            waiting.extend(reversed(current))
        elif isinstance(current, dict):
            if not isinstance(current.get("id"), str) or "post" in current:
                held = [current.get(key) for key in ("post", "patch", "runs")]
                waiting.extend(one for one in reversed(held) if isinstance(one, list))
                continue
            key = current["id"]
            said = {
                name: part
                for name, part in current.items()
                if name not in _LEFT_OUT and part is not None and (part or name not in _PRESENT)
            }
            if slim and said.get("run_type") == "llm" and "inputs" in said:
                said["inputs"] = slim_input(said["inputs"])
            runs[key] = {**runs[key], **said} if key in runs else said
            children = current.get("child_runs")
            waiting.extend(
                {"parent_run_id": key, **child}
                for child in (children if isinstance(children, list) else ())
                if isinstance(child, dict)
            )


def _root(key: str, runs: dict[str, dict[str, Any]]) -> str:
    """The id of the outermost run around one, as far as the runs tell."""
    seen: set[str] = set()
    while key not in seen:
        seen.add(key)
        run = runs.get(key, {})
        path = _path(run)
        if len(path) > 1:
            return path[0][1]
        parent = text_at(run, "parent_run_id")
        if parent is None or parent not in runs:
            return parent or key
        key = parent
    return min(seen)


def _path(run: dict[str, Any]) -> list[tuple[str, str]]:
    """Start, as it is written, and id of each run from the outermost to this one."""
    dotted = text_at(run, "dotted_order")
    if dotted is None:
        return []
    parts = [part.partition("Z") for part in dotted.split(".")]
    return [(start, identity) for start, _, identity in parts if identity]


def _ordered(start: str) -> int | None:
    """A start of ``dotted_order`` in nanoseconds: a date and time in UTC without separators."""
    found = _DOTTED.fullmatch(start)
    if found is None:
        return None
    date = f"{found['year']}-{found['month']}-{found['day']}"
    time = f"{found['hour']}:{found['minute']}:{found['second']}"
    return from_iso(f"{date}T{time}.{found['fraction'] or '0'}Z")


def _times(run: dict[str, Any]) -> tuple[int | None, int | None]:
    """Start and end; without a zone they are UTC where ``dotted_order`` proves it."""
    start_text, end_text = run.get("start_time"), run.get("end_time")
    start, end = from_iso(start_text), from_iso(end_text)
    if start is not None and (end is not None or end_text is None):
        return start, end
    path = _path(run)
    ordered = _ordered(path[-1][0]) if path else None
    proved = start
    if start is None and isinstance(start_text, str) and ordered is not None:
        proved = from_iso(start_text + "Z")
        if proved is not None and abs(proved - ordered) > 1_000_000_000:
            proved = None
    if end is None and isinstance(end_text, str) and proved is not None and ordered is not None:
        end = from_iso(end_text + "Z")
    return (ordered if proved is None else proved), end


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    extra = run.get("extra")
    found = extra.get("metadata") if isinstance(extra, dict) else None
    found = found if isinstance(found, dict) else run.get("metadata")
    return found if isinstance(found, dict) else {}


def _facts(identity: str, trace: _Trace) -> list[Facts]:
    """What the runs of a trace say, in the order of the file."""
    found: dict[str, Facts] = {}
    undecided: set[str] = set()
    book = CallBook()
    for key, run in trace.runs.items():
        facts, calls = _read(key, identity, run, trace)
        found[key] = facts
        if facts.category == CHAIN:
            undecided.add(key)
        book.note(facts, calls)
    settle_agents(found, undecided, None)
    part_namesakes(found.values(), trace.marks)
    if trace.langgraph:
        add_own_of_spans(found, _ended(found, trace), book)
    book.settle()
    return list(found.values())


def _ended(found: dict[str, Facts], trace: _Trace) -> Iterator[Ended]:
    """The runs of models and of LangGraph's nodes."""
    for key, run in trace.runs.items():
        facts = found[key]
        is_node = run.get("run_type") == "chain" and facts.name == facts.extra.get(
            "langgraph_node"
        )
        if is_node or facts.category == LLM:
            moment = facts.start if facts.end is None else facts.end
            yield Ended(key, is_node, run.get("inputs"), run.get("outputs"), moment or 0)


def _read(
    key: str, identity: str, run: dict[str, Any], trace: _Trace
) -> tuple[Facts, list[Call]]:
    metadata = _metadata(run)
    parent = text_at(run, "parent_run_id")
    if parent is None and len(path := _path(run)) > 1:
        parent = path[-2][1]
    start, end = _times(run)
    extra: dict[str, Any] = {}
    if metadata:
        for kept in _LANGGRAPH:
            if kept in metadata:
                trace.langgraph = True
                extra[kept] = metadata[kept]
    error = text_at(run, "error")
    if error is not None:
        extra["status_message"] = error[:KEPT_CHARACTERS]
    status: Status | None = "ok" if run.get("status") == "success" else None
    kind = text_at(run, "run_type") or ""
    name = text_at(run, "name") or ""
    facts = Facts(identity, key, parent, name, start, end, _TYPES.get(kind, CHAIN))
    facts.status = status if error is None else "error"
    facts.agent = agent_in(metadata) or text_at(metadata, "agent_name")
    if (mark := mark_in(metadata)) is not None:
        trace.marks[key] = mark
    facts.extra = extra
    outputs = decoded(run.get("outputs"))
    counts = facts.category in (LLM, "EMBEDDING")
    messages = messages_of(outputs) if counts else None
    calls = read_payload(facts, decoded(run.get("inputs")), outputs, messages=messages)
    if counts:
        facts.tokens_in, facts.tokens_out = _tokens(run, metadata, outputs, messages)
        model = text_at(metadata, "ls_model_name")
        if model is not None:
            extra["model"] = model
    return facts, calls


def _tokens(
    run: dict[str, Any],
    metadata: dict[str, Any],
    outputs: Any,
    messages: list[ChatMessage] | None,
) -> tuple[int | None, int | None]:
    """Tokens read and written, from the first place that counts them."""
    for usage in _usages(run, metadata, outputs, messages):
        if not usage:
            continue
        read = count_at(usage, "input_tokens", "prompt_tokens")
        written = count_at(usage, "output_tokens", "completion_tokens")
        if read is not None or written is not None:
            return read, written
    return None, None


def _usages(
    run: dict[str, Any],
    metadata: dict[str, Any],
    outputs: Any,
    messages: list[ChatMessage] | None,
) -> Iterator[Any]:
    """The places that count tokens, the most certain first."""
    yield metadata.get("usage_metadata")
    if isinstance(outputs, dict):
        yield outputs.get("usage_metadata")
        yield outputs.get("usage")
        for message in messages or ():
            yield message.raw.get("usage_metadata")
        if isinstance(llm_output := outputs.get("llm_output"), dict):
            yield llm_output.get("token_usage")
    if run.get("total_tokens"):
        yield run


def _feedback(trace: _Trace) -> list[Attributes]:
    """Feedback on runs as evaluations, in the order of the file."""
    found: list[Attributes] = []
    for key, run in trace.runs.items():
        stats = run.get("feedback_stats")
        for name, said in sorted(stats.items()) if isinstance(stats, dict) else ():
            if not isinstance(said, dict):
                continue
            one: Attributes = {"name": name}
            if (score := real_number(first(said, "avg") or said.get("avg"))) is not None:
                one["score"] = score
            if text_at(run, "parent_run_id") is not None:
                one["of"] = key
            found.append(one)
    return found
