"""OTLP traces: spans with OpenInference, GenAI or OpenLLMetry attributes, JSON or protobuf.

A trace is a run. Traces that share a session or conversation are one run, since one team's
work can lie in many traces; what joined them stands in the graph's attributes and warnings.
Spans of one trace may lie in several files. A parent that is in none of them is noted, never
refused.

- :mod:`ingest.readers.otlp_wire`: the JSON and its deviations.
- :mod:`ingest.readers.otlp_protobuf`: the same from protobuf.
- :mod:`ingest.readers.otlp_spans`: the spans of files, by trace; those of large files in turn.
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
from ingest.big_json import STREAMED_BYTES, is_large, streamed_items
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, first_character, has_key
from ingest.readers.otlp_attributes import KEPT_CHARACTERS, SESSION_KEYS, Facts
from ingest.readers.otlp_flow import follow
from ingest.readers.otlp_protobuf import is_protobuf
from ingest.readers.otlp_spans import Schedule, Spans
from ingest.readers.otlp_tree import grow
from ingest.readers.otlp_wire import hex_id
from ingest.readers.span_graph import fill
from ingest.run_limit import too_large

_SNIFF = re.compile(rb'"resourceSpans"(?<!\\"resourceSpans")\s*:\s*\[')
_TRACE_IDS = b'"traceId"'
_ID = re.compile(rb'\s*:\s*"([^"\\]*)"')
_SESSIONS = [b'"' + key.encode() + b'"' for key in SESSION_KEYS]
_STRING_VALUE = re.compile(
    rb'\s*,\s*"value"\s*:\s*\{\s*"stringValue"\s*:\s*("(?:[^"\\]|\\.)*")'
)
# Facts of spans take about three times their file, and going over a file once is faster.
_HELD_TIMES = 4
_MISSING = "spans may be missing: a file with the same traces could not be read"
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
            "A run is kept in memory whole: one of more than 320 MiB is rejected, unless "
            "MASGRAPH_RUN_MIB says more.",
            f"Attributes longer than {KEPT_CHARACTERS} characters and repeated inputs are left "
            "out.",
        ),
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds ``resourceSpans``, or a span in protobuf."""
        if is_protobuf(sample):
            return True
        start = sample[:4_096]
        return (
            first_character(sample) in (b"{", b"[")
            and has_key(sample, "resourceSpans")
            and _SNIFF.search(start) is not None
        )

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The traces of a file, and their sessions: ``trace:...`` and ``session:...``.

        Looks for the ids only: a file that is no valid JSON has keys as well.
        """
        keys: set[str] = set()
        if is_protobuf(file.sample):
            spans = Spans()
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
        if is_large(file, _HELD_TIMES):
            yield from self._large([file], context)
            return
        spans = Spans()
        spans.add(file)
        yield from self._runs(spans, spans.runs(), context)

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
        if _are_large(files):
            yield from self._large(files, context)
            return
        spans = Spans()
        damaged = []
        for file in files:
            try:
                spans.add(file)
            except InputError as error:
                damaged.append(Rejection(file.uri, error.record, error.reason))
        yield from self._runs(spans, spans.runs(), context, _MISSING if damaged else None)
        yield from damaged

    def _large(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields each run once its last span has gone by, so that few are held at once.

        Goes over the files twice: what comes last of each trace is known after the first
        time.
        """
        schedule = Schedule(files)
        if len(files) == 1 and schedule.damaged:
            raise schedule.damaged[0]
        damaged = [
            Rejection(error.file or files[0].uri, error.record, error.reason)
            for error in schedule.damaged
        ]
        for spans, runs in schedule.spans():
            yield from self._runs(spans, runs, context, _MISSING if damaged else None)
        for traces in schedule.too_large:
            yield Rejection(files[0].uri, _record(traces), too_large(schedule.limit))
        yield from damaged

    def _runs(
        self,
        spans: Spans,
        runs: Iterable[list[str]],
        context: ReadContext,
        note: str | None = None,
    ) -> Iterator[CollaborationGraph | Rejection]:
        for traces in runs:
            found = [entry for trace in traces for entry in spans.traces.pop(trace)]
            files = [spans.files[index] for index in sorted({index for index, _ in found})]
            record = _record(traces)
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
        spans: Spans,
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


def _record(traces: list[str]) -> str:
    return traces[0] if len(traces) == 1 else f"{traces[0]} and {len(traces) - 1} more"


def _are_large(files: Sequence[TraceFile]) -> bool:
    """Whether files hold more together than what is held at once."""
    total = 0
    for file in files:
        for block in file.blocks():
            total += len(block)
            if total > _HELD_TIMES * STREAMED_BYTES:
                return True
    return False


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


def _pieces(file: TraceFile) -> Iterator[bytes]:
    """A file in pieces that cut no attribute apart: lines, or all at once where indented."""
    items = streamed_items(file) or streamed_items(file, "resourceSpans")
    if items is not None:
        yield from items
        return
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
