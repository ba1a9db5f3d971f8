"""The runs in a stream of LangGraph's events, put together event by event."""

from dataclasses import dataclass, field
from typing import Any

from ingest.readers.chat_payload import ChatMessage, decoded, messages_of
from ingest.readers.langgraph_nesting import Place, nested
from ingest.readers.langgraph_own import new_messages, update_in
from ingest.readers.otlp_attributes import LLM, TOOL
from ingest.readers.platform_spans import short, slim_input, text_at

TYPES = {"chat_model": LLM, "llm": LLM, "tool": TOOL, "retriever": "RETRIEVER"}
"""The category of a run by the kind of its events; all others are containers."""


@dataclass(slots=True)
class RunOf:
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
    opened_with: Any = None
    written: list[ChatMessage] = field(default_factory=list)

    @property
    def is_node(self) -> bool:
        """Whether it is the run of a node of LangGraph, not of something inside one."""
        return self.kind == "chain" and self.metadata.get("langgraph_node") == self.name


@dataclass(slots=True)
class Trace:
    """The runs inside one outermost run, by id.

    Attributes:
        ids: By run of a model or node, the ids of the messages that it put out; None for one
            without.
        known: All ids of messages that were written so far.
    """

    runs: dict[str, RunOf] = field(default_factory=dict)
    ids: dict[str, list[str | None]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    custom: list[Any] = field(default_factory=list)
    thread: str | None = None
    langgraph: bool = False

    @property
    def has_parents(self) -> bool:
        """Whether an event said what its run was inside of."""
        return any(run.parent is not None for run in self.runs.values())

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
            run = self.runs[key] = RunOf(name, kind, parent, number, number, metadata)
        run.last = number
        data = data if isinstance(data, dict) else {}
        if data.get("input") is not None and run.given is None:
            given = data["input"]
            if kind in ("chat_model", "llm"):
                run.given = slim_input(given)
            elif kind in TYPES or run.parent is None:
                run.given = given
            if run.is_node and moment == "start":
                run.opened_with = given
        if moment == "end":
            run.put_out, run.ended = data.get("output"), True
            self._wrote(key, run, data.get("input"))
        elif moment == "error":
            run.error, run.ended = short(data.get("error")) or "error", True
        elif moment == "stream" and kind in TYPES and not run.ended:
            run.parts.append(data.get("chunk"))

    def _wrote(self, key: str, run: RunOf, given: Any) -> None:
        """Notes the messages of a model's or node's output, once it has ended."""
        if run.kind in ("chat_model", "llm"):
            written = messages_of(decoded(run.put_out)) or []
            self.ids[key] = [message.id for message in written] or [None]
        elif run.is_node:
            given = run.opened_with if given is None else given
            run.written = written = new_messages(run.put_out, given, self.known)
            run.opened_with = None
            self.ids[key] = [message.id for message in update_in(run.put_out)] or [None]
        else:
            return
        self.known.update(message.id for message in written if message.id is not None)


def without_parents(traces: dict[str, Trace]) -> dict[str, Trace]:
    """Traces of one run each, put together where one ran inside the other."""
    single = {key: next(iter(trace.runs.values()), None) for key, trace in traces.items()}
    places = {
        key: Place(run.first, run.last if run.ended else None, run.metadata, run.is_node)
        for key, run in single.items()
        if run is not None
    }
    parents = nested(places)
    found: dict[str, Trace] = {}
    root_of: dict[str, str] = {}
    for key, trace in traces.items():
        parent = parents.get(key)
        root = root_of[key] = key if parent is None else root_of[parent]
        joined = found.setdefault(root, trace)
        if (run := single[key]) is not None:
            run.parent = parent
        if joined is not trace:
            joined.runs.update(trace.runs)
            joined.ids.update(trace.ids)
            joined.custom += trace.custom
            joined.thread = joined.thread or trace.thread
            joined.langgraph = joined.langgraph or trace.langgraph
    for trace in found.values():
        _drop_known(trace)
    return found


def _drop_known(trace: Trace) -> None:
    """Leaves out of what nodes wrote what was written before, where each run stood alone."""
    known: set[str] = set()
    for key, run in sorted(trace.runs.items(), key=lambda item: item[1].last):
        run.written = [one for one in run.written if one.id is None or one.id not in known]
        known.update(one.id for one in run.written if one.id is not None)
        known.update(one for one in trace.ids.get(key, ()) if one is not None)
