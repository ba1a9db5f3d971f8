"""LangGraph and LangChain events, version 2: what ``astream_events`` yields, one a line.

A run of a node, model or tool has a start, perhaps parts of its output, and an end, joined by
``run_id``; ``parent_ids`` name the runs around it. What the runs mean is decided as for OTLP
(:mod:`ingest.readers.otlp_tree`, :mod:`ingest.readers.otlp_flow`). Events have no times: their
order in the file tells what was over when something else began.

A node can write messages of its own, whether or not a model or tool ran inside it
(:mod:`ingest.readers.langgraph_own`). Where no event names a parent, what ran inside what is
told from the order and the metadata (:mod:`ingest.readers.langgraph_nesting`).

Objects that the program could not write as JSON are often their text
(``Command(goto='writer')``): where a run goes on is read from it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.model import CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import (
    Call,
    answer_in,
    asked_in,
    decoded,
    messages_of,
)
from ingest.readers.decoding import REPAIRED
from ingest.readers.json_values import values
from ingest.readers.langgraph_event_runs import TYPES, RunOf, Trace, without_parents
from ingest.readers.langgraph_names import agent_in
from ingest.readers.langgraph_own import add_own
from ingest.readers.namesakes import mark_in, part_namesakes
from ingest.readers.otlp_attributes import LLM, Facts
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_tree import grow
from ingest.readers.platform_spans import (
    CHAIN,
    CallBook,
    count_at,
    empty_facts,
    read_payload,
    settle_agents,
    text_at,
)
from ingest.readers.sample_json import first_value
from ingest.readers.span_graph import fill

_KINDS = frozenset({*TYPES, "chain", "prompt", "parser"})
_ENCODER = msgspec.json.Encoder(order="deterministic")


class LangGraphEventsReader:
    """Events of LangGraph and LangChain, version 2."""

    format = "langgraph-events"
    title = "LangGraph events (astream_events, version 2)"
    kind: GraphKind = "run"
    version = "2"
    capabilities = Capabilities(
        time="no",
        tokens="partly",
        recipients="partly",
        outcome="no",
        notes=(
            "Words that a node repeats from a model inside it count once.",
            "What a node wrote of the state beside messages is kept only where no model or "
            "tool ran inside it.",
            "Streams without parent ids are nested by order and metadata, with a warning.",
            "Agents are what LangGraph's metadata name; without any, one agent stands for all.",
            "Tokens are those that messages carry.",
            "The method is the name of the outermost run.",
        ),
    )
    telling_keys = frozenset({"event"})

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
        traces: dict[str, Trace] = {}
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
            traces.setdefault(root, Trace()).add(key, kind, moment, value, around, number)
        if not traces:
            raise InputError("it holds no event", file=file.uri)
        guessed = not any(trace.has_parents for trace in traces.values())
        if guessed:
            traces = without_parents(traces)
        for identity, trace in traces.items():
            try:
                yield self._graph(identity, trace, file, context, repaired, unread, guessed)
            except InputError as error:
                yield Rejection(file.uri, identity, error.reason)

    def _graph(
        self,
        identity: str,
        trace: "Trace",
        file: TraceFile,
        context: ReadContext,
        repaired: bool,
        unread: int,
        guessed: bool,
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
        if guessed and len(trace.runs) > 1:
            builder.warn(
                "no event names a parent: what ran inside what was told from the order and "
                "the metadata"
            )
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


def _facts(identity: str, trace: Trace) -> list[Facts]:
    found: dict[str, Facts] = {}
    undecided: set[str] = set()
    book = CallBook()
    # Between two events there is room for the messages that a node wrote at its end.
    scale = 2 + 2 * max((len(run.written) for run in trace.runs.values()), default=0)
    for key, run in trace.runs.items():
        facts, calls = _read(key, identity, run, scale)
        found[key] = facts
        if facts.category == CHAIN:
            undecided.add(key)
        book.note(facts, calls)
    settle_agents(found, undecided, None)
    marks = {key: mark for key, run in trace.runs.items() if (mark := mark_in(run.metadata))}
    part_namesakes(found.values(), marks)
    ended = sorted(trace.runs.items(), key=lambda item: item[1].last)
    add_own(
        found,
        {key: run.written for key, run in ended},
        trace.ids,
        book,
        lambda node, number, count: (node.end or 0) - 2 * (count - number),
    )
    book.settle()
    return list(found.values())


def _read(key: str, identity: str, run: RunOf, scale: int) -> tuple[Facts, list[Call]]:
    facts = empty_facts(
        identity,
        key,
        parent=run.parent,
        name=run.name,
        start=run.first * scale,
        end=run.last * scale,
        category=TYPES.get(run.kind, CHAIN),
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
