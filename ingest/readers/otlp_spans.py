"""The spans of OTLP files by trace, and which traces are one run."""

from collections.abc import Iterator

from graphstore.errors import InputError
from ingest.reader import TraceFile
from ingest.readers.otlp_attributes import Facts, KeyTable, facts_of
from ingest.readers.otlp_protobuf import documents as protobuf_documents
from ingest.readers.otlp_protobuf import is_protobuf
from ingest.readers.otlp_wire import Resource, TracesData, documents, hex_id, plain
from ingest.run_limit import run_bytes

_SPAN_BYTES = 500


class Spans:
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
        for document, repaired in span_documents(file):
            damaged = damaged or repaired
            self.collect(document, traces)
        self.keep(self.new_file(file, repaired=damaged), traces)

    def new_file(self, file: TraceFile, *, repaired: bool) -> int:
        """Counts a file, whose spans follow; returns its position."""
        self.files.append(file)
        if repaired:
            self.repaired.add(file.uri)
        return len(self.files) - 1

    def collect(self, document: TracesData, traces: dict[str, list[Facts]]) -> None:
        """Puts a document's spans to the others of their traces."""
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

    def keep(self, index: int, traces: dict[str, list[Facts]]) -> None:
        """Adds spans of the file at that position."""
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


class Schedule:
    """When the runs of files are complete, found by going over the files once.

    Attributes:
        damaged: Why files are left out, in their order.
        too_large: Runs that are left out since they do not fit, each as its traces.
        limit: The most bytes of one run's words.

    Args:
        files: The files, in order.
    """

    def __init__(self, files: list[TraceFile]) -> None:
        self.damaged: list[InputError] = []
        self.too_large: list[list[str]] = []
        self.limit = run_bytes()
        sizes: dict[str, int] = {}
        self._files: list[tuple[TraceFile, bool]] = []
        last: dict[str, int] = {}
        seen = Spans()
        place = 0
        for file in files:
            start = place
            of_file = Spans()
            ends: dict[str, int] = {}
            repaired = False
            try:
                for document, was_repaired in span_documents(file):
                    repaired = repaired or was_repaired
                    traces: dict[str, list[Facts]] = {}
                    of_file.collect(document, traces)
                    of_file.keep(0, traces)
                    for trace, found in traces.items():
                        of_file.traces[trace] = []
                        ends[trace] = place
                        sizes[trace] = sizes.get(trace, 0) + sum(map(_size, found))
                    place += 1
            except InputError as error:
                place = start
                self.damaged.append(
                    InputError(error.reason, file=file.uri, record=error.record)
                )
                continue
            self._files.append((file, repaired))
            last.update(ends)
            seen.traces.update(of_file.traces)
            for session, members in of_file.sessions.items():
                seen.sessions.setdefault(session, set()).update(members)
        self._due: dict[int, list[list[str]]] = {}
        self._left_out: set[str] = set()
        for run in seen.runs():
            if sum(sizes[trace] for trace in run) > self.limit:
                self.too_large.append(run)
                self._left_out.update(run)
                continue
            self._due.setdefault(max(last[trace] for trace in run), []).append(run)

    def spans(self) -> Iterator[tuple[Spans, list[list[str]]]]:
        """Goes over the files again: the spans so far, and the runs that are complete.

        Whoever takes a run's spans takes them out of :attr:`Spans.traces`.

        Raises:
            InputError: A file is not the one that was gone over before.
        """
        spans = Spans()
        place = 0
        for file, repaired in self._files:
            index = spans.new_file(file, repaired=repaired)
            for document, _ in span_documents(file):
                traces: dict[str, list[Facts]] = {}
                spans.collect(document, traces)
                for trace in self._left_out & traces.keys():
                    del traces[trace]
                spans.keep(index, traces)
                if (runs := self._due.pop(place, None)) is not None:
                    yield spans, runs
                place += 1
        if self._due or spans.traces:
            raise InputError("it changed while it was read", file=self._files[0][0].uri)


def span_documents(file: TraceFile) -> Iterator[tuple[TracesData, bool]]:
    """The documents of a file in either encoding, and whether each had to be repaired."""
    if is_protobuf(file.sample):
        for request in protobuf_documents(file):
            yield request, False
    else:
        yield from documents(file)


def _size(facts: Facts) -> int:
    """Bytes that a span takes, about: its words, and what each span has."""
    return len(facts.text or "") + len(facts.asked or "") + _SPAN_BYTES


def _service(resource: Resource | None) -> str | None:
    for attribute in (resource.attributes if resource else None) or ():
        if attribute.key == "service.name":
            name = plain(attribute.value)
            if isinstance(name, str) and not name.startswith("unknown_service"):
                return name or None
    return None
