"""LangGraph and LangChain events, version 2: what ``astream_events`` yields, one a line.

A run of a node, model or tool has a start, perhaps parts of its output, and an end, joined by
``run_id``; ``parent_ids`` name the runs around it. What the runs mean is decided as for OTLP
(:mod:`ingest.readers.otlp_tree`, :mod:`ingest.readers.otlp_flow`). Events have no times: their
order in the file tells what was over when something else began.

Objects that the program could not write as JSON are often their text
(``Command(goto='writer')``): where a run goes on is read from it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.model import CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import Call, answer_in, asked_in, decoded, messages_of
from ingest.readers.decoding import REPAIRED
from ingest.readers.json_values import values
from ingest.readers.langgraph_names import agent_in
from ingest.readers.otlp_attributes import LLM, TOOL, Facts
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_tree import grow
from ingest.readers.platform_spans import (
    CHAIN,
    CallBook,
    count_at,
    empty_facts,
    read_payload,
    settle_agents,
    short,
    slim_input,
    text_at,
)
from ingest.readers.sample_json import first_value
from ingest.readers.span_graph import fill

_TYPES = {"chat_model": LLM, "llm": LLM, "tool": TOOL, "retriever": "RETRIEVER"}
_KINDS = frozenset({*_TYPES, "chain", "prompt", "parser"})
_ENCODER = msgspec.json.Encoder(order="deterministic")


class LangGraphEventsReader:
    """Events of LangGraph and LangChain, version 2."""

    format = "langgraph-events"
    title = "LangGraph events (astream_events, version 2)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="partly",
        recipients="partly",
        outcome="no",
        notes=(
            "Agents are what LangGraph's metadata name; without any, one agent stands for all.",
            "Tokens are those that messages carry.",
            "The method is the name of the outermost run.",
        ),
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the first record is an event."""
        value = first_value(sample)
        if isinstance(value, list):
            value = value[0] if value else None
        return _event(value) is not None

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each outermost run, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        traces: dict[str, _Trace] = {}
        root_of: dict[str, str] = {}
        repaired = False
        unread = 0
        number = 0
        for value, was_repaired in values(file):
            repaired = repaired or was_repaired
            event = _event(value)
            if event is None:
                unread += 1
                continue
            kind, moment = event
            key = text_at(value, "run_id") or ""
            parents = value.get("parent_ids")
            parents = parents if isinstance(parents, list) else []
            around = [one for one in parents if isinstance(one, str)]
            root = around[0] if around else root_of.get(key, key)
            root_of[key] = root
            number += 1
            traces.setdefault(root, _Trace()).add(key, kind, moment, value, around, number)
        if not traces:
            raise InputError("it holds no event", file=file.uri)
        for identity, trace in traces.items():
            try:
                yield self._graph(identity, trace, file, context, repaired, unread)
            except InputError as error:
                yield Rejection(file.uri, identity, error.reason)

    def _graph(
        self,
        identity: str,
        trace: "_Trace",
        file: TraceFile,
        context: ReadContext,
        repaired: bool,
        unread: int,
    ) -> CollaborationGraph:
        tree = grow(_facts(identity, trace))
        if not any(tree.kinds):
            raise GraphError("it has no model or tool run, and no agent")
        flow = follow(tree)
        for facts in tree.spans:
            # The places in the file have done what times are for.
            facts.start = facts.end = None
        builder = context.builder(self, file, _ENCODER.encode(tree.spans), record=identity)
        if repaired:
            builder.warn(REPAIRED)
        if unread:
            builder.warn(f"{unread} records are no events and were left out")
        root = trace.runs.get(identity)
        fill(
            builder,
            tree,
            flow,
            context,
            traces=[identity],
            asked=asked_in(root.given) if root is not None else None,
            answer=answer_in(root.put_out) if root is not None else None,
            method=root.name if root is not None else None,
            framework="langgraph" if trace.langgraph else "langchain",
        )
        if trace.thread is not None:
            builder.attributes["thread"] = trace.thread
        if trace.custom:
            builder.attributes["custom_events"] = trace.custom
        unfinished = sum(not run.ended for run in trace.runs.values())
        if unfinished:
            builder.warn(f"{unfinished} runs have no end")
        return builder.build()


LANGGRAPH_EVENTS = LangGraphEventsReader()


@dataclass(slots=True)
class _RunOf:
    """A run of a node, model or tool."""

    name: str
    kind: str
    parent: str | None
    first: int
    last: int
    metadata: dict[str, Any]
    given: Any = None
    put_out: Any = None
    parts: list[Any] = field(default_factory=list)
    ended: bool = False
    error: str | None = None


@dataclass(slots=True)
class _Trace:
    """The runs inside one outermost run, by id."""

    runs: dict[str, _RunOf] = field(default_factory=dict)
    custom: list[Any] = field(default_factory=list)
    thread: str | None = None
    langgraph: bool = False

    def add(
        self,
        key: str,
        kind: str,
        moment: str,
        event: dict[str, Any],
        around: list[str],
        number: int,
    ) -> None:
        metadata = event.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        self.thread = self.thread or text_at(metadata, "thread_id")
        self.langgraph = self.langgraph or "langgraph_node" in metadata
        data = event.get("data")
        if kind == "custom":
            self.custom.append({"name": text_at(event, "name"), "data": short(data)})
            return
        run = self.runs.get(key)
        if run is None:
            parent = around[-1] if around else None
            name = text_at(event, "name") or kind
            run = self.runs[key] = _RunOf(name, kind, parent, number, number, metadata)
        run.last = number
        data = data if isinstance(data, dict) else {}
        if data.get("input") is not None and run.given is None:
            given = data["input"]
            if kind in ("chat_model", "llm"):
                run.given = slim_input(given)
            elif kind in _TYPES or run.parent is None:
                run.given = given
        if moment == "end":
            run.put_out, run.ended = data.get("output"), True
        elif moment == "error":
            run.error, run.ended = short(data.get("error")) or "error", True
        elif moment == "stream" and kind in _TYPES and not run.ended:
            run.parts.append(data.get("chunk"))


def _event(value: Any) -> tuple[str, str] | None:
    """What an event is of, and at which moment: ``chain`` and ``start``."""
    name = text_at(value, "event")
    if name is None or not name.startswith("on_") or "run_id" not in value:
        return None
    if name == "on_custom_event":
        return "custom", "event"
    kind, _, moment = name.removeprefix("on_").rpartition("_")
    if kind not in _KINDS or moment not in ("start", "stream", "end", "error"):
        return None
    return kind, moment


def _facts(identity: str, trace: _Trace) -> list[Facts]:
    found: dict[str, Facts] = {}
    undecided: set[str] = set()
    book = CallBook()
    for key, run in trace.runs.items():
        facts, calls = _read(key, identity, run)
        found[key] = facts
        if facts.category == CHAIN:
            undecided.add(key)
        book.note(facts, calls)
    settle_agents(found, undecided, None)
    book.settle()
    return list(found.values())


def _read(key: str, identity: str, run: _RunOf) -> tuple[Facts, list[Call]]:
    facts = empty_facts(
        identity,
        key,
        parent=run.parent,
        name=run.name,
        start=run.first,
        end=run.last,
        category=_TYPES.get(run.kind, CHAIN),
    )
    facts.agent = agent_in(run.metadata)
    for kept in ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns"):
        if kept in run.metadata:
            facts.extra[kept] = run.metadata[kept]
    if run.error is not None:
        facts.status = "error"
        facts.extra["status_message"] = run.error
    put_out = decoded(run.put_out)
    if not run.ended and run.parts:
        texts = [part.text for part in messages_of(run.parts) or () if part.text]
        put_out = {"role": "assistant", "content": "".join(texts)}
    calls = read_payload(facts, decoded(run.given), put_out)
    if facts.category == LLM:
        for message in messages_of(put_out) or ():
            usage = message.raw.get("usage_metadata")
            if facts.tokens_in is None:
                facts.tokens_in = count_at(usage, "input_tokens")
                facts.tokens_out = count_at(usage, "output_tokens")
        if (model := text_at(run.metadata, "ls_model_name")) is not None:
            facts.extra["model"] = model
    return facts, calls
