"""OTLP traces: spans with OpenInference, GenAI or OpenLLMetry attributes, JSON or protobuf.

A trace is a run. Traces that share a session or conversation are one run, since one team's
work can lie in many traces; what joined them stands in the graph's attributes and warnings.
Spans of one trace may lie in several files. A parent that is in none of them is noted, never
refused.

- :mod:`ingest.readers.otlp_wire`: the JSON and its deviations.
- :mod:`ingest.readers.otlp_protobuf`: the same from protobuf.
- :mod:`ingest.readers.otlp_attributes`: what one span says.
- :mod:`ingest.readers.otlp_tree`: which spans are actions, and whose.
- :mod:`ingest.readers.otlp_flow`: who consumed what.
- :mod:`ingest.readers.span_graph`: the graph of all that.

The same spans give the same graph and the same id, in whatever order and however they are
spread over files; a span that was exported twice counts once.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.identity import digest
from graphstore.model import CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, first_character
from ingest.readers.otlp_attributes import (
    KEPT_CHARACTERS,
    SESSION_KEYS,
    Facts,
    KeyTable,
    facts_of,
)
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_protobuf import documents as protobuf_documents
from ingest.readers.otlp_protobuf import is_protobuf
from ingest.readers.otlp_tree import grow
from ingest.readers.otlp_wire import Resource, TracesData, documents, hex_id, plain
from ingest.readers.span_graph import fill

_SNIFF = re.compile(rb'(?<!\\)"resourceSpans"\s*:\s*\[')
_TRACE_IDS = b'"traceId"'
_ID = re.compile(rb'\s*:\s*"([^"\\]*)"')
_SESSIONS = [b'"' + key.encode() + b'"' for key in SESSION_KEYS]
_STRING_VALUE = re.compile(
    rb'\s*,\s*"value"\s*:\s*\{\s*"stringValue"\s*:\s*("(?:[^"\\]|\\.)*")'
)
_ENCODER = msgspec.json.Encoder(order="deterministic")


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
        """Whether the sample holds ``resourceSpans``, or a span in protobuf."""
        if is_protobuf(sample):
            return True
        return (
            first_character(sample) in (b"{", b"[")
            and _SNIFF.search(sample[:4_096]) is not None
        )

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The traces of a file, and their sessions: ``trace:...`` and ``session:...``.

        Looks for the ids only: a file that is no valid JSON has keys as well.
        """
        keys: set[str] = set()
        if is_protobuf(file.sample):
            spans = _Spans()
            spans.add(file)
            keys.update(f"trace:{trace}" for trace in spans.traces)
            keys.update(f"session:{session}" for session in spans.sessions)
            return frozenset(keys)
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
            try:
                spans.add(file)
            except InputError as error:
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
                unique, repeated = _unique(span for _, part in found for span in part)
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
        fill(builder, tree, flow, context, traces=traces, repeated=repeated)
        return builder.build()


OTLP = OtlpReader()


class _Spans:
    """The spans of files by trace, and which traces belong together."""

    def __init__(self) -> None:
        self.files: list[TraceFile] = []
        self.traces: dict[str, list[tuple[int, list[Facts]]]] = {}
        self.sessions: dict[str, set[str]] = {}
        self.repaired: set[str] = set()
        self._table = KeyTable()
        self._identities: dict[str, str] = {}

    def add(self, file: TraceFile) -> None:
        """Reads a file's spans.

        Raises:
            InputError: It cannot be read; nothing of it was added.
        """
        traces: dict[str, list[Facts]] = {}
        damaged = False
        for document, repaired in _documents(file):
            damaged = damaged or repaired
            for resource in document.resource_spans:
                service = _service(resource.resource)
                for scope_spans in (
                    resource.scope_spans or resource.instrumentation_library_spans or ()
                ):
                    scope = scope_spans.scope.name if scope_spans.scope else None
                    for span in scope_spans.spans or ():
                        trace = self._identity(span.trace_id)
                        facts = facts_of(span, trace, service, scope, self._table)
                        found = traces.get(trace)
                        if found is None:
                            found = traces[trace] = []
                        found.append(facts)
        index = len(self.files)
        self.files.append(file)
        if damaged:
            self.repaired.add(file.uri)
        for trace, spans in traces.items():
            self.traces.setdefault(trace, []).append((index, spans))
            for session in {span.session for span in spans if span.session is not None}:
                self.sessions.setdefault(session, set()).add(trace)

    def _identity(self, text: str) -> str:
        known = self._identities.get(text)
        if known is None:
            known = self._identities[text] = hex_id(text, 16) or text
        return known

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


def _documents(file: TraceFile) -> Iterator[tuple[TracesData, bool]]:
    """The documents of a file in either encoding, and whether each had to be repaired."""
    if is_protobuf(file.sample):
        for request in protobuf_documents(file):
            yield request, False
    else:
        yield from documents(file)


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
