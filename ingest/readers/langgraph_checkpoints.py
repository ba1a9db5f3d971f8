"""LangGraph's checkpoints: the states of a thread, in any order, with what is known of writers.

Three forms, as objects or as the lists that named tuples become: what a checkpointer lists
(``config``, ``checkpoint``, ``metadata``, ``parent_config``, ``pending_writes``), what
``get_state_history`` gives (``values``, ``next``, ``config``, ``metadata``, ``created_at``,
``parent_config``, ``tasks``), and what LangGraph's server gives for a thread's history.

States are put into order of time; a message is an action where it stands first. Its author is
the node that ran between the state before and this one: by ``metadata.writes`` in older
versions, by the tasks of the state before, else by the nodes in ``versions_seen`` that are
new. Where several ran at once and nothing tells them apart, it is the message's own name, else
all of them together. States of subgraphs come before what they wrote in the graph around.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graphstore.errors import InputError
from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.chat_payload import ASSISTANT, USER, ChatMessage, messages_of
from ingest.readers.decoding import REPAIRED
from ingest.readers.instants import from_iso
from ingest.readers.json_values import values
from ingest.readers.langgraph_graph import fill_ledger
from ingest.readers.langgraph_messages import AgentPath, Ledger, Turn
from ingest.readers.langgraph_names import agent_path, nodes_of
from ingest.readers.platform_spans import text_at
from ingest.readers.sample_json import first_value

_TUPLE = ("config", "checkpoint", "metadata", "parent_config", "pending_writes")
_SNAPSHOT = (
    "values",
    "next",
    "config",
    "metadata",
    "created_at",
    "parent_config",
    "tasks",
    "interrupts",
)
_CHANNELS = frozenset({"channel_versions", "channel_values", "versions_seen"})
_TASK = ("id", "name", "path", "error", "interrupts", "state", "result")


class LangGraphCheckpointsReader:
    """LangGraph's checkpoints and state histories."""

    format = "langgraph-checkpoints"
    title = "LangGraph checkpoints or state history"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="partly",
        recipients="no",
        outcome="no",
        notes=(
            "A message has the time of the state in which it stands first.",
            "Who read what is inferred: a node is taken to read the whole state before it.",
            "Nodes that wrote nothing leave no trace.",
            "Without the checkpoints of its subgraph, an agent's own steps have one time.",
            "Tokens are those that messages carry.",
        ),
    )
    telling_keys = frozenset({"configurable", "channel_values", "values"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first value is a checkpoint or a snapshot of a state."""
        value = first_value(sample)
        if _begins(value):
            return True
        return isinstance(value, list) and bool(value) and _begins(value[0])

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each thread, in the order of the file.

        Raises:
            InputError: The file cannot be read; nothing of it was yielded.
        """
        threads: dict[str, list[_State]] = {}
        repaired = False
        unread = 0
        shared: dict[tuple[str, str], ChatMessage] = {}
        first: list[Any] = []
        whole: _State | None = None
        for value, was_repaired in values(file):
            repaired = repaired or was_repaired
            if len(first) < len(_SNAPSHOT):
                # One tuple alone in a file looks like a list of records.
                first.append(value)
                whole = _state(first) or whole
            state = _state(value)
            if state is None:
                unread += 1
            else:
                # Each state repeats the messages before: one copy of each is enough.
                state.messages = [
                    one if one.id is None else shared.setdefault((state.thread, one.id), one)
                    for one in state.messages
                ]
                threads.setdefault(state.thread, []).append(state)
        if whole is not None and not threads:
            threads[whole.thread], unread = [whole], 0
        if not threads:
            raise InputError("it holds no checkpoint", file=file.uri)
        for thread, states in threads.items():
            record = f"thread {thread}" if len(threads) > 1 else None
            states.sort(key=lambda state: (state.time or 0, state.id))
            try:
                ledger = _ledger(states)
                if not ledger.entries:
                    raise InputError("its states hold no message")
                said = canonical_json([state.digest for state in states])
                builder = context.builder(self, file, said, record=record)
                if repaired:
                    builder.warn(REPAIRED)
                if unread:
                    builder.warn(f"{unread} records are no checkpoints and were left out")
                builder.attributes["thread"] = thread
                builder.attributes["checkpoints"] = len(states)
                last = max(states, key=lambda state: (not state.path, state.time or 0))
                if last.next:
                    builder.attributes["next"] = last.next
                termination = "interrupted" if last.interrupted else None
                fill_ledger(builder, ledger, context, termination=termination)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)


LANGGRAPH_CHECKPOINTS = LangGraphCheckpointsReader()


@dataclass(slots=True)
class _State:
    """A checkpoint in one form for all.

    Attributes:
        thread: The conversation.
        path: The nodes around the graph that the state is of; empty for the outermost.
        id: The checkpoint's id.
        parent: The id of the checkpoint before.
        digest: Of the whole value.
        time: Nanoseconds.
        step: Of the graph.
        messages: In the state.
        nodes: The nodes that have run so far, with the versions that they saw.
        writes: What nodes wrote to come here, by node.
        tasks: What nodes wrote next, by node.
        next: The nodes that have still to run.
        interrupted: Whether the run waits for a person.
        agent: The agent's name, where the metadata hold it.
    """

    thread: str
    path: list[str]
    id: str
    parent: str | None
    digest: str
    time: int | None = None
    step: int | None = None
    messages: list[ChatMessage] = field(default_factory=list)
    nodes: dict[str, Any] = field(default_factory=dict)
    writes: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, Any] = field(default_factory=dict)
    next: list[str] = field(default_factory=list)
    interrupted: bool = False
    agent: str | None = None


def _begins(value: Any) -> bool:
    """Whether a value is a checkpoint, or the begin of one whose state is large."""
    if _state(value) is not None:
        return True
    if isinstance(value, list):
        return len(value) > 1 and bool(_config(value[0])) and _channels(value[1])
    if not isinstance(value, dict):
        return False
    if _config(value.get("config")):
        return _channels(value.get("checkpoint"))
    held = value.get("values")
    messages = messages_of(held.get("messages")) if isinstance(held, dict) else None
    return (
        value.keys() == {"values"}
        and messages is not None
        and "response_metadata" in messages[0].raw
    )


def _channels(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(_CHANNELS)


def _state(value: Any) -> _State | None:
    """A checkpoint or snapshot, None where the value is something else."""
    if isinstance(value, list):
        names: tuple[str, ...] | None = None
        if len(value) >= 4 and _config(value[0]) and isinstance(value[1], dict):
            names = _TUPLE
        elif len(value) >= 6 and len(value) > 2 and _config(value[2]):
            names = _SNAPSHOT
        if names is None:
            return None
        value = dict(zip(names, value, strict=False))
    if not isinstance(value, dict):
        return None
    checkpoint = value.get("checkpoint")
    config = _config(value.get("config"))
    parent = _config(value.get("parent_config"))
    if isinstance(checkpoint, dict) and "channel_values" in checkpoint:
        channels, time = checkpoint["channel_values"], checkpoint.get("ts")
        seen = checkpoint.get("versions_seen")
        identity = text_at(checkpoint, "id")
    elif "values" in value and ("next" in value or "tasks" in value):
        channels, time, seen = value["values"], value.get("created_at"), None
        if not config and isinstance(checkpoint, dict):
            config = checkpoint
            before = value.get("parent_checkpoint")
            parent = before if isinstance(before, dict) else {}
        identity = text_at(config, "checkpoint_id")
    else:
        return None
    if not config and identity is None:
        return None
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    state = _State(
        text_at(config, "thread_id") or "",
        nodes_of(text_at(config, "checkpoint_ns") or ""),
        identity or text_at(config, "checkpoint_id") or "",
        text_at(parent, "checkpoint_id"),
        digest(canonical_json(value)),
    )
    state.time = from_iso(time)
    step = metadata.get("step")
    state.step = step if isinstance(step, int) and not isinstance(step, bool) else None
    state.agent = text_at(metadata, "lc_agent_name")
    held = channels.get("messages") if isinstance(channels, dict) else None
    state.messages = messages_of(held) or []
    if isinstance(seen, dict):
        state.nodes = {name: said for name, said in seen.items() if said}
    writes = metadata.get("writes")
    if isinstance(writes, dict):
        state.writes = writes
    tasks = value.get("tasks")
    for task in tasks if isinstance(tasks, list) else ():
        # A named tuple becomes a list.
        if isinstance(task, list):
            task = dict(zip(_TASK, task, strict=False))
        if not isinstance(task, dict):
            continue
        state.interrupted = state.interrupted or bool(task.get("interrupts"))
        name = text_at(task, "name")
        if name is not None:
            state.tasks[name] = task.get("result")
    waiting = value.get("next")
    if isinstance(waiting, list):
        state.next = [one for one in waiting if isinstance(one, str)]
    state.interrupted = state.interrupted or bool(value.get("interrupts"))
    return state


def _config(value: Any) -> dict[str, Any]:
    found = value.get("configurable") if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _ledger(states: list[_State]) -> Ledger:
    """The messages of a thread.

    Args:
        states: In order of time.
    """
    ledger = Ledger()
    before: dict[tuple[str, ...], _State] = {}
    by_id = {state.id: state for state in states if state.id}
    for state in states:
        previous = by_id.get(state.parent) if state.parent is not None else None
        previous = previous or before.get(tuple(state.path))
        before[tuple(state.path)] = state
        if previous is None and not state.path:
            ledger.given(state.messages)
            continue
        read = ledger.given(previous.messages) if previous is not None else []
        count = len(previous.messages) if previous is not None else 0
        new = [
            message
            for place, message in enumerate(state.messages)
            if (place >= count if message.id is None else not ledger.known(message))
        ]
        for author, written in _authors(state, previous, new):
            turn = Turn(author, "inferred", None, state.time, state.step)
            ledger.turn(turn, read, written, silent=True)
    return ledger


def _authors(
    state: _State, previous: _State | None, new: list[ChatMessage]
) -> Iterator[tuple[AgentPath, list[ChatMessage]]]:
    """Who wrote which of the messages that are new in a state, in order."""
    written: dict[str, str] = {}
    for source in (state.writes, previous.tasks if previous is not None else {}):
        for node, result in source.items():
            for message in messages_of(result) or ():
                if message.id is not None:
                    written.setdefault(message.id, node)
    nodes = [
        name
        for name in (previous.tasks if previous is not None else {}) or _ran(state, previous)
        if not name.startswith("__")
    ]
    group: list[ChatMessage] = []
    last: AgentPath | None = None
    for message in new:
        author = ("user",) if message.role == USER else _author(state, message, written, nodes)
        if last is not None and author != last:
            yield last, group
            group = []
        last = author
        group.append(message)
    if last is not None:
        yield last, group


def _author(
    state: _State, message: ChatMessage, written: dict[str, str], nodes: list[str]
) -> AgentPath:
    """Who wrote a message.

    Args:
        state: In which it is new.
        message: The message.
        written: Nodes by the ids of messages that the trace says they wrote.
        nodes: That ran before the state.
    """
    node = written.get(message.id) if message.id is not None else None
    if node is None and len(nodes) == 1:
        node = nodes[0]
    outer = agent_path(state.path)
    if node is not None:
        author = agent_path([*state.path, node]) or outer or (node,)
        return author if state.agent is None else (*author[:-1], state.agent)
    if message.name is not None and message.role == ASSISTANT:
        return (*(outer or ()), message.name)
    return (" or ".join(sorted(nodes)) or "assistant",)


def _ran(state: _State, previous: _State | None) -> list[str]:
    """The nodes that ran since the state before."""
    known = previous.nodes if previous is not None else {}
    return [name for name, seen in state.nodes.items() if known.get(name) != seen]
