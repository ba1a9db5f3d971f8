"""LangGraph's streams: ``debug``, ``tasks`` and ``updates``, a JSON value a line.

A record is what ``stream()`` yields: the event itself, or a list that begins with the
namespace (``subgraphs=True``), the mode (several modes) or both; or an object with ``type``,
``ns`` and ``data``. A ``task`` says what a node was given, a ``task_result`` what it wrote, and
both when; ``tasks`` says the same without time. ``updates`` says only what was written: it is
read where there are no tasks. Checkpoints and values repeat the state.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from graphstore.errors import InputError
from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import USER, ChatMessage, messages_of
from ingest.readers.decoding import REPAIRED, first_character
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.langgraph_graph import fill_ledger
from ingest.readers.langgraph_messages import AgentPath, Entry, Ledger, Turn
from ingest.readers.langgraph_names import agent_path, nodes_of
from ingest.readers.platform_spans import short, text_at
from ingest.readers.sample_json import first_value, may_have_key

_MODES = frozenset({"checkpoints", "custom", "debug", "messages", "tasks", "updates", "values"})
_EVENTS = frozenset({"checkpoint", "task", "task_result"})
_OF_PARTS = frozenset({b"ns", b"payload", b"triggers", b"result", b"messages"})


class LangGraphDebugReader:
    """LangGraph's debug, tasks and updates streams."""

    format = "langgraph-debug"
    title = "LangGraph stream (debug, tasks or updates)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="partly",
        recipients="partly",
        outcome="no",
        notes=(
            "Tasks say which messages a node was given: those are delivered to it. In the "
            "updates stream this is inferred.",
            "Only the debug stream has times.",
            "A subgraph is one agent; without subgraphs in the stream, what it wrote has one "
            "time.",
            "Tokens are those that messages carry.",
        ),
    )
    telling_keys_of_objects = frozenset(map(bytes.decode, _OF_PARTS))

    def sniff(self, sample: bytes) -> bool:
        """Whether the first record is one of LangGraph's streams."""
        if first_character(sample) == b"{" and not may_have_key(sample, _OF_PARTS):
            return False
        value = first_value(sample)
        if isinstance(value, list) and value and _part(value) is None:
            value = value[0]
        part = _part(value)
        if part is None:
            return False
        _, mode, data = part
        if mode == "updates":
            # A snapshot whose rest was cut off is all "values": no node has that name.
            return isinstance(data, dict) and any(
                _is_update(one) for name, one in data.items() if name != "values"
            )
        return mode in ("debug", "tasks", "checkpoints") and isinstance(data, dict)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each thread, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        runs: list[_Run] = []
        repaired = False
        unread = 0
        for value, was_repaired in values(file):
            repaired = repaired or was_repaired
            part = _part(value)
            if part is None:
                unread += 1
                continue
            thread = _thread(part)
            if not runs or (thread is not None and runs[-1].thread not in (None, thread)):
                runs.append(_Run())
            run = runs[-1]
            run.thread = run.thread or thread
            run.add(part)
        if not runs:
            raise InputError("it holds no event of a stream", file=file.uri)
        for number, run in enumerate(runs, 1):
            record = f"run {number}" if len(runs) > 1 else None
            try:
                run.finish()
                if not run.ledger.entries:
                    raise InputError("no node did anything")
                builder = context.builder(self, file, run.identity, record=record)
                if repaired:
                    builder.warn(REPAIRED)
                if unread:
                    builder.warn(f"{unread} records are no events and were left out")
                if run.others:
                    builder.warn(f"{run.others} records of other modes were left out")
                if run.open:
                    builder.warn(f"{run.open} tasks have no result")
                if run.thread is not None:
                    builder.attributes["thread"] = run.thread
                fill_ledger(builder, run.ledger, context, termination=run.termination)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)


LANGGRAPH_DEBUG = LangGraphDebugReader()

_Part = tuple[list[str], str, Any]


def _part(value: Any) -> _Part | None:
    """Namespace, mode and data of a record; None where it is something else."""
    namespace: list[str] = []
    mode = None
    if isinstance(value, dict) and isinstance(value.get("ns"), list) and "data" in value:
        said = value.get("type")
        if not isinstance(said, str) or said not in _MODES:
            return None
        return [one for one in value["ns"] if isinstance(one, str)], said, value["data"]
    if isinstance(value, list):
        if len(value) not in (2, 3):
            return None
        *head, value = value
        for one in head:
            if isinstance(one, list) and all(isinstance(name, str) for name in one):
                namespace = one
            elif isinstance(one, str) and one in _MODES:
                mode = one
            else:
                return None
    if mode is None:
        if not isinstance(value, dict):
            return None
        kind = text_at(value, "type")
        if kind in _EVENTS and "payload" in value:
            mode = "debug"
        elif {"id", "name", "triggers"} <= value.keys() or {
            "id",
            "name",
            "result",
        } <= value.keys():
            mode = "tasks"
        elif value and all(_is_update(one) or one is None for one in value.values()):
            mode = "updates"
        else:
            return None
    return namespace, mode, value


def _is_update(value: Any) -> bool:
    """Whether a value is what a node wrote: an object or a list of them, with messages."""
    if isinstance(value, list):
        return bool(value) and all(_is_update(one) for one in value)
    return isinstance(value, dict) and messages_of(value.get("messages")) is not None


def _thread(part: _Part) -> str | None:
    namespace, mode, data = part
    if namespace or not isinstance(data, dict) or mode not in ("debug", "checkpoints"):
        return None
    payload = data.get("payload") if mode == "debug" else data
    config = payload.get("config") if isinstance(payload, dict) else None
    found = config.get("configurable") if isinstance(config, dict) else None
    return text_at(found, "thread_id")


@dataclass(slots=True)
class _Task:
    """A run of a node, as far as it was seen."""

    name: str
    path: AgentPath
    read: list[Entry] = field(default_factory=list)
    started: Any = None
    done: bool = False


@dataclass(slots=True)
class _Run:
    """One thread, as its records come."""

    thread: str | None = None
    ledger: Ledger = field(default_factory=Ledger)
    identity: str = ""
    others: int = 0
    termination: str | None = None
    _tasks: dict[str, _Task] = field(default_factory=dict)
    _holders: set[str] = field(default_factory=set)
    _updates: list[tuple[list[str], dict[str, Any]]] = field(default_factory=list)

    @property
    def open(self) -> int:
        """How many tasks have no result."""
        return sum(not task.done for task in self._tasks.values())

    def add(self, part: _Part) -> None:
        """Takes a record in."""
        namespace, mode, data = part
        if not isinstance(data, dict):
            self.others += mode != "values"
            return
        self._holders.update(one.rpartition(":")[2] for one in namespace)
        if mode == "updates":
            if not self._tasks:
                self._updates.append((namespace, data))
            return
        when, step, kind = None, None, None
        if mode == "debug":
            when, step, kind = data.get("timestamp"), data.get("step"), data.get("type")
            data = data.get("payload")
        elif mode == "tasks":
            kind = "task_result" if "result" in data or "error" in data else "task"
        if kind not in ("task", "task_result") or not isinstance(data, dict):
            self.others += mode in ("custom", "messages")
            return
        key = text_at(data, "id") or f"#{len(self._tasks)}"
        task = self._tasks.get(key)
        if task is None:
            name = text_at(data, "name") or "node"
            task = _Task(name, _agent(namespace, name, data.get("metadata")))
            self._tasks[key] = task
        if kind == "task":
            # Several modes at once say the same twice, one of them without the time.
            task.started = task.started or when
            given = messages_of(_state(data.get("input")).get("messages"))
            if given and not task.read:
                task.read = self.ledger.given(given)
        elif not task.done:
            self._result(key, task, data, when, step)
        elif when is not None:
            self.ledger.ended(task.path, from_iso(task.started), from_iso(when))

    def finish(self) -> None:
        """Reads the updates, where there were no tasks."""
        if self._tasks:
            return
        # An update that hands on the whole state shows what was asked at first.
        for _, update in self._updates:
            for said in update.values():
                asked = takewhile(lambda one: one.role == USER, _written(said)[0])
                self.ledger.given(asked)
        for namespace, update in self._updates:
            self.identity = digest(self.identity, canonical_json([namespace, update]))
            self._update(namespace, update)

    def _result(
        self, key: str, task: _Task, data: dict[str, Any], when: Any, step: Any
    ) -> None:
        task.done = True
        result, error = data.get("result"), data.get("error")
        said = [task.path, task.started, when, result, error]
        self.identity = digest(self.identity, canonical_json(said))
        waits = bool(data.get("interrupts"))
        if waits:
            self.termination = "interrupted"
        elif error:
            self.termination = f"error in {task.name}"
        turn = Turn(
            task.path,
            "delivered",
            from_iso(task.started),
            from_iso(when),
            step if isinstance(step, int) and not isinstance(step, bool) else None,
            short(error) if error else None,
        )
        written, other = _written(result)
        holds = key in self._holders
        silent = holds or waits or _plumbing(task.name)
        self.ledger.turn(turn, task.read, written, other, silent=silent, repeats=holds)
        task.read = []

    def _update(self, namespace: list[str], update: dict[str, Any]) -> None:
        for name, said in update.items():
            if name == "__interrupt__":
                self.termination = "interrupted"
                continue
            turn = Turn(_agent(namespace, name, None), "inferred")
            written, other = _written(said)
            entries = list(self.ledger.entries)
            self.ledger.turn(turn, entries, written, other, silent=_plumbing(name))


def _plumbing(name: str) -> bool:
    """Whether a node is one of LangGraph's own, or runs tools: it decides nothing."""
    return name.startswith("__") or agent_path([name]) is None


def _agent(namespace: list[str], node: str, metadata: Any) -> AgentPath:
    """The agent that a node belongs to; the node itself where no other can be told."""
    named = text_at(metadata, "lc_agent_name")
    outer = [name for part in namespace for name in nodes_of(part)]
    path = agent_path([*outer, node])
    if named is not None:
        return (*(path or ())[:-1], named)
    return path or (*outer, node)


def _state(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _written(result: Any) -> tuple[list[ChatMessage], Any]:
    """The messages that a node wrote, and what else it wrote."""
    messages: list[ChatMessage] = []
    others: list[Any] = []
    for part in result if isinstance(result, list) else [result]:
        # Before version 0.6, a result was a list of channels and values.
        if isinstance(part, list) and len(part) == 2 and isinstance(part[0], str):
            part = {part[0]: part[1]}
        if isinstance(part, dict):
            messages.extend(messages_of(part.get("messages")) or ())
            rest = {
                key: value
                for key, value in part.items()
                if key != "messages" and value is not None
            }
            if rest:
                others.append(rest)
        elif part is not None:
            others.append(part)
    if not others:
        return messages, None
    return messages, others[0] if len(others) == 1 else others
