"""OTLP traces: spans with OpenInference, GenAI or OpenLLMetry attributes, as JSON.

A trace is a run. Traces that share a session or conversation are one run, since one team's
work can lie in many traces; what joined them stands in the graph's attributes and warnings.
Spans of one trace may lie in several files. A parent that is in none of them is noted, never
refused.

- :mod:`ingest.readers.otlp_wire`: the JSON and its deviations.
- :mod:`ingest.readers.otlp_attributes`: what one span says.
- :mod:`ingest.readers.otlp_tree`: which spans are actions, and whose.
- :mod:`ingest.readers.otlp_flow`: who consumed what.

Containers (``AGENT``, ``CHAIN`` and outer model spans) are no nodes: their tokens repeat their
content's, and their output is that of their last action. They are listed in the graph's
attributes with what they alone say, so that the tree of spans can be rebuilt. Judgements of
``EVALUATOR`` spans and ``gen_ai.evaluation.result`` events stand there too: they are about the
run and no part of it. Spans about something else (databases, requests) are counted.

No convention names the task. Its text is the root's input, and its name is made of that,
unless a root span says ``masgraph.task.name``, with ``masgraph.task.dataset``,
``masgraph.task.category`` and ``masgraph.expected`` beside it: then runs in this format meet
those in others.

The same spans give the same graph and the same id, in whatever order and however they are
spread over files; a span that was exported twice counts once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import GraphError, InputError
from graphstore.identity import digest
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome, Role
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, first_character, short_name
from ingest.readers.otlp_attributes import (
    AGENT,
    EVALUATOR,
    KEPT_CHARACTERS,
    OTHER,
    SESSION_KEYS,
    Facts,
    KeyTable,
    facts_of,
)
from ingest.readers.otlp_flow import Flow, follow
from ingest.readers.otlp_tree import DEFAULT, SpanTree, grow
from ingest.readers.otlp_wire import Resource, documents, hex_id, plain

_SNIFF = re.compile(rb'(?<!\\)"resourceSpans"\s*:\s*\[')
_TRACE_IDS = b'"traceId"'
_ID = re.compile(rb'\s*:\s*"([^"\\]*)"')
_SESSIONS = [b'"' + key.encode() + b'"' for key in SESSION_KEYS]
_STRING_VALUE = re.compile(
    rb'\s*,\s*"value"\s*:\s*\{\s*"stringValue"\s*:\s*("(?:[^"\\]|\\.)*")'
)
_FRAMEWORK = re.compile(r"(?:.*[._-])?instrumentation[._-](?:genai[._-])?(?P<name>[\w-]+)")
_ENCODER = msgspec.json.Encoder(order="deterministic")
_TASK_NAME = "masgraph.task.name"
_TASK_DATASET = "masgraph.task.dataset"
_TASK_CATEGORY = "masgraph.task.category"
_EXPECTED = "masgraph.expected"
_PASSED = frozenset({"pass", "passed", "correct", "success", "succeeded"})
_FAILED = frozenset({"fail", "failed", "incorrect", "failure"})


class OtlpReader:
    """OTLP JSON and NDJSON; joins traces over files and sessions."""

    format = "otlp"
    title = "OpenTelemetry traces (OTLP) with OpenInference or GenAI attributes"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="partly",
        outcome="partly",
        notes=(
            "Actions are model calls, tool calls, guardrails, handoffs, and agent spans with "
            "nothing inside; other spans contain them.",
            "Tokens are those of the innermost model calls; totals are what the root span "
            "reports.",
            "A result goes to the agent whose span encloses it; which of its messages led to "
            "a call or to another agent's work is inferred where no id says so.",
            f"Attributes longer than {KEPT_CHARACTERS} characters and repeated inputs are left "
            "out.",
        ),
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds ``resourceSpans``."""
        return (
            first_character(sample) in (b"{", b"[")
            and _SNIFF.search(sample[:4_096]) is not None
        )

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The traces of a file, and their sessions: ``trace:...`` and ``session:...``.

        Looks for the ids only: a file that is no valid JSON has keys as well.
        """
        keys: set[str] = set()
        for text in _pieces(file):
            for found in _values_after(text, _TRACE_IDS, _ID):
                identity = hex_id(found.decode(errors="replace"), 16)
                if identity:
                    keys.add(f"trace:{identity}")
            for key in _SESSIONS:
                for found in _values_after(text, key, _STRING_VALUE):
                    try:
                        keys.add(f"session:{msgspec.json.decode(found)}")
                    except msgspec.MsgspecError:
                        continue
        return frozenset(keys)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the runs of one file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        spans = _Spans()
        spans.add(file)
        yield from self._runs(spans, context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the runs of files that belong together, then the files that are damaged.

        Raises:
            InputError: There is one file, and it cannot be read.
        """
        if len(files) == 1:
            yield from self.read(files[0], context)
            return
        spans = _Spans()
        damaged = []
        for file in files:
            before = spans.snapshot()
            try:
                spans.add(file)
            except InputError as error:
                spans.restore(before)
                damaged.append(Rejection(file.uri, error.record, error.reason))
        note = None
        if damaged:
            note = "spans may be missing: a file with the same traces could not be read"
        yield from self._runs(spans, context, note)
        yield from damaged

    def _runs(
        self, spans: "_Spans", context: ReadContext, note: str | None = None
    ) -> Iterator[CollaborationGraph | Rejection]:
        for traces in spans.runs():
            found = [entry for trace in traces for entry in spans.traces.pop(trace)]
            files = [spans.files[index] for index in sorted({index for index, _ in found})]
            record = (
                traces[0] if len(traces) == 1 else f"{traces[0]} and {len(traces) - 1} more"
            )
            try:
                unique, repeated = _unique(facts for _, facts in found)
                del found
                yield self._graph(unique, repeated, traces, files, record, spans, context, note)
            except InputError as error:
                yield Rejection(files[0].uri, record, error.reason)

    def _graph(
        self,
        unique: list[Facts],
        repeated: int,
        traces: list[str],
        files: Sequence[TraceFile],
        record: str,
        spans: "_Spans",
        context: ReadContext,
        note: str | None,
    ) -> CollaborationGraph:
        tree = grow(unique)
        if not any(tree.kinds):
            raise GraphError("it has no model, tool or agent span")
        flow = follow(tree)
        builder = context.builder(self, files[0], _ENCODER.encode(tree.spans), record=record)
        if len(files) > 1:
            builder.uri = " + ".join(file.uri for file in files)
            builder.sha256 = digest(*sorted(file.sha256 for file in files), size=32)
        if any(file.uri in spans.repaired for file in files):
            builder.warn(REPAIRED)
        if note is not None:
            builder.warn(note)
        _describe(builder, tree, traces)
        agents = _add_agents(builder, tree, context)
        _add_nodes(builder, tree, flow, agents, len(traces) > 1)
        _warn(builder, tree, flow, repeated)
        return builder.build()


OTLP = OtlpReader()


class _Spans:
    """The spans of files by trace, and which traces belong together."""

    def __init__(self) -> None:
        self.files: list[TraceFile] = []
        self.traces: dict[str, list[tuple[int, Facts]]] = {}
        self.sessions: dict[str, set[str]] = {}
        self.repaired: set[str] = set()
        self._table = KeyTable()
        self._identities: dict[str, str] = {}

    def add(self, file: TraceFile) -> None:
        """Reads a file's spans.

        Raises:
            InputError: It cannot be read; a part of its spans may have been added.
        """
        index = len(self.files)
        self.files.append(file)
        table = self._table
        for document, repaired in documents(file):
            if repaired:
                self.repaired.add(file.uri)
            for resource in document.resource_spans:
                service = _service(resource.resource)
                for scope_spans in (
                    resource.scope_spans or resource.instrumentation_library_spans or ()
                ):
                    scope = scope_spans.scope.name if scope_spans.scope else None
                    for span in scope_spans.spans or ():
                        trace = self._identities.get(span.trace_id)
                        if trace is None:
                            trace = hex_id(span.trace_id, 16) or span.trace_id
                            self._identities[span.trace_id] = trace
                        facts = facts_of(span, trace, service, scope, table)
                        self.traces.setdefault(trace, []).append((index, facts))
                        if facts.session is not None:
                            self.sessions.setdefault(facts.session, set()).add(trace)

    def snapshot(self) -> tuple[int, dict[str, int], dict[str, set[str]]]:
        """What :meth:`restore` needs to forget what was added since."""
        return (
            len(self.files),
            {trace: len(entries) for trace, entries in self.traces.items()},
            {session: set(traces) for session, traces in self.sessions.items()},
        )

    def restore(self, snapshot: tuple[int, dict[str, int], dict[str, set[str]]]) -> None:
        """Forgets what was added since a snapshot."""
        count, lengths, self.sessions = snapshot
        del self.files[count:]
        self.traces = {
            trace: entries[: lengths[trace]]
            for trace, entries in self.traces.items()
            if trace in lengths
        }

    def runs(self) -> list[list[str]]:
        """Traces that are one run, each list and the lists in order of ids."""
        leader = {trace: trace for trace in self.traces}

        def find(trace: str) -> str:
            while leader[trace] != trace:
                leader[trace] = leader[leader[trace]]
                trace = leader[trace]
            return trace

        for traces in self.sessions.values():
            first, *others = sorted(find(trace) for trace in traces)
            for other in others:
                leader[find(other)] = find(first)
        groups: dict[str, list[str]] = {}
        for trace in sorted(leader):
            groups.setdefault(find(trace), []).append(trace)
        return sorted(groups.values())


def _unique(spans: Iterable[Facts]) -> tuple[list[Facts], int]:
    """Each span once.

    Raises:
        GraphError: One id stands for two different spans.
    """
    found: dict[tuple[str, str], Facts] = {}
    repeated = 0
    for span in spans:
        known = found.setdefault((span.trace, span.id), span)
        if known is not span:
            if known != span:
                raise GraphError(f"the span id {span.id} stands for two different spans")
            repeated += 1
    return list(found.values()), repeated


def _service(resource: Resource | None) -> str | None:
    for attribute in (resource.attributes if resource else None) or ():
        if attribute.key == "service.name":
            name = plain(attribute.value)
            if isinstance(name, str) and not name.startswith("unknown_service"):
                return name or None
    return None


def _pieces(file: TraceFile) -> Iterator[bytes]:
    """A file in pieces that cut no attribute apart: lines, or all at once where indented."""
    lines = file.lines()
    first = next(lines, None)
    if first is None:
        return
    if not first[1].endswith((b"}", b"]")):
        yield file.data()
        return
    yield first[1]
    for _, line in lines:
        yield line


def _values_after(text: bytes, key: bytes, pattern: re.Pattern[bytes]) -> set[bytes]:
    found: set[bytes] = set()
    position = text.find(key)
    while position >= 0:
        position += len(key)
        if match := pattern.match(text, position):
            found.add(match[1])
        position = text.find(key, position)
    return found


def _describe(builder: GraphBuilder, tree: SpanTree, traces: list[str]) -> None:
    """Task, method, outcome and attributes of the whole."""
    spans = tree.spans
    roots = [place for place, parent in enumerate(tree.parents) if parent < 0]
    asked = next((spans[place].asked for place in roots if spans[place].asked), None)
    asked = asked or next((span.asked for span in spans if span.asked and not span.tool), None)
    if name := _said(spans, roots, _TASK_NAME):
        builder.set_task(
            name,
            description=asked,
            dataset=_said(spans, roots, _TASK_DATASET),
            category=_said(spans, roots, _TASK_CATEGORY),
        )
    elif asked is not None:
        name = short_name(asked)
        # Many texts begin alike: what was cut off tells them apart.
        builder.set_task(
            name if name == asked else f"{name} ({digest(asked, size=4)})", description=asked
        )
    builder.name = short_name(asked or spans[roots[0]].name) or None
    services = sorted({span.service for span in spans if span.service is not None})
    if services:
        builder.set_method(" + ".join(services), framework=_framework(spans))
    builder.attributes["trace_ids"] = traces
    sessions = sorted({span.session for span in spans if span.session is not None})
    if sessions:
        builder.attributes["sessions"] = sessions
    if len(traces) > 1:
        builder.warn(
            f"{len(traces)} traces were joined by the session {', '.join(sessions[:3])}"
        )
    containers = []
    others = 0
    evaluations: list[Attributes] = []
    for place, span in enumerate(spans):
        if "evaluation" in span.extra or span.category == EVALUATOR:
            evaluations.extend(_evaluations(span))
        elif tree.kinds[place] is None:
            if span.category == OTHER:
                others += 1
            else:
                containers.append(_container(span))
    if containers:
        builder.attributes["containers"] = containers
    if others:
        builder.attributes["other_spans"] = others
    if evaluations:
        builder.attributes["evaluations"] = evaluations
    root = spans[roots[0]] if len(roots) == 1 else None
    builder.outcome = _outcome(tree, root, evaluations, _said(spans, roots, _EXPECTED))


def _said(spans: list[Facts], roots: list[int], key: str) -> str | None:
    """An attribute of the first root span that has it."""
    found = next(
        (spans[place].extra[key] for place in roots if key in spans[place].extra), None
    )
    return None if found is None else str(found)


def _container(span: Facts) -> Attributes:
    said: dict[str, Any] = {
        "span_id": span.id,
        "parent_span_id": span.parent,
        "kind": span.category,
        "name": span.name,
        "started_at": span.start,
        "ended_at": span.end,
        "status": span.status,
        "tokens_in": span.tokens_in,
        "tokens_out": span.tokens_out,
        "attributes": span.extra or None,
    }
    return {key: value for key, value in said.items() if value is not None}


def _evaluations(span: Facts) -> list[Attributes]:
    said: list[Attributes] = span.extra.get("evaluation") or [{}]
    of = span.parent if span.category == EVALUATOR else span.id
    text = span.text if span.category == EVALUATOR else None
    about: dict[str, Any] = {
        "span": span.name,
        "span_id": span.id,
        "of": of,
        "text": text[:KEPT_CHARACTERS] if text else None,
    }
    kept = {key: value for key, value in about.items() if value is not None}
    return [{**kept, **one} for one in said]


def _outcome(
    tree: SpanTree, root: Facts | None, evaluations: list[Attributes], expected: str | None
) -> Outcome:
    """What the trace says of the whole: the root's output and totals, and one judgement."""
    starts = [span.start for span in tree.spans if span.start is not None]
    ends = [span.end for span in tree.spans if span.end is not None]
    scores = [one["score"] for one in evaluations if "score" in one]
    labels = [str(one["label"]).casefold() for one in evaluations if "label" in one]
    success: bool | None = None
    if len(labels) == 1:
        success = True if labels[0] in _PASSED else False if labels[0] in _FAILED else None
    failed = root is not None and root.status == "error"
    return Outcome(
        success=False if failed else success,
        score=scores[0] if len(scores) == 1 else None,
        answer=root.text if root is not None else None,
        expected=expected,
        termination=root.extra.get("status_message") if root is not None and failed else None,
        tokens_in=root.tokens_in if root is not None else None,
        tokens_out=root.tokens_out if root is not None else None,
        latency=(max(ends) - min(starts)) / 1e9 if starts and ends else None,
    )


def _framework(spans: list[Facts]) -> str | None:
    """The library whose instrumentation wrote most agent spans, else most spans."""
    for category in (AGENT, None):
        counts: dict[str, int] = {}
        for span in spans:
            if span.scope is not None and category in (None, span.category):
                found = _FRAMEWORK.fullmatch(span.scope)
                if found:
                    counts[found["name"]] = counts.get(found["name"], 0) + 1
        if counts:
            return min(counts, key=lambda name: (-counts[name], name))
    return None


def _add_agents(builder: GraphBuilder, tree: SpanTree, context: ReadContext) -> dict[int, int]:
    """The builder's agents by position in the tree, the nameless one included."""
    agents: dict[int, int] = {}
    if any(
        kind is not None and owner == DEFAULT
        for kind, owner in zip(tree.kinds, tree.owners, strict=True)
    ):
        service = next((span.service for span in tree.spans if span.service), None)
        agents[DEFAULT] = builder.new_agent(
            service or "agent", attributes={"named_by": "service"}
        )
        builder.warn("no span names the agent of some actions: the service stands for it")
    guessed = False
    for position, agent in enumerate(tree.agents):
        attributes: Attributes = {}
        if agent.id is not None:
            attributes["id"] = agent.id
        if agent.named_by is not None:
            attributes["named_by"] = agent.named_by
            guessed = True
        role: Role | None = None
        if agent.tool:
            role = context.role_of(agent.name)
            role = "tool" if role == "unknown" else role
        agents[position] = builder.new_agent(
            agent.name,
            role=role,
            kind="tool" if agent.tool else "agent",
            attributes=attributes,
        )
    if guessed:
        builder.warn("some agent spans name no agent: the span's name stands for it")
    return agents


def _add_nodes(
    builder: GraphBuilder, tree: SpanTree, flow: Flow, agents: dict[int, int], many: bool
) -> None:
    nodes: dict[int, int] = {}
    for place, kind in enumerate(tree.kinds):
        if kind is None:
            continue
        span = tree.spans[place]
        owner = agents[tree.owners[place]]
        attributes = dict(span.extra)
        attributes["span_id"] = span.id
        if span.parent is not None:
            attributes["parent_span_id"] = span.parent
        if many:
            attributes["trace_id"] = span.trace
        attributes["span"] = span.name
        attributes["span_kind"] = span.category
        if span.tool is not None and span.asked:
            attributes["input"] = span.asked[:KEPT_CHARACTERS]
        received = flow.recipients.get(place)
        enclosing = tree.enclosing[place]
        nodes[place] = builder.add(
            kind,
            builder.agent_name(owner),
            agent=owner,
            recipients=[agents[agent] for agent in received] if received else (),
            delivery=flow.deliveries.get(place),
            content=span.text,
            parent=nodes.get(enclosing) if enclosing >= 0 else None,
            started_at=span.start,
            ended_at=span.end,
            tokens_in=span.tokens_in,
            tokens_out=span.tokens_out,
            status=span.status,
            attributes=attributes,
        )
    for (source, target), basis in flow.edges.items():
        builder.edge(nodes[source], nodes[target], basis)


def _warn(builder: GraphBuilder, tree: SpanTree, flow: Flow, repeated: int) -> None:
    if tree.dangling:
        builder.warn(f"{tree.dangling} spans have a parent that was not found")
    if repeated:
        builder.warn(f"{repeated} spans stood twice and were counted once")
    if tree.untimed:
        builder.warn(f"{tree.untimed} spans have no start: they stand where their parent does")
    if flow.backwards:
        builder.warn(
            f"{flow.backwards} sources that the trace names start later than what consumed "
            "them and were left out"
        )
