"""CAMEL: the memories of agents, a record a line (``ChatAgent.save_memory``, JSON storages).

A memory is one agent's conversation: what it was told (``user``), what it answered
(``assistant``), and what its tools returned (``function``). Agents that talk to each other
have a memory each, with nothing in common but the words: what one answers is what the other
is told, under the speaker's role. Files are read as one where such words tie them together.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json, digest
from graphstore.model import CollaborationGraph, GraphKind
from ingest.joining import groups
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.camel_quotes import (
    PLAIN_ROLES,
    TYING_LENGTH,
    Entry,
    Memory,
    Record,
    entries_of,
    memories_of,
    quotes_in,
    role_of,
    ties_of,
    time_of,
)
from ingest.readers.decoding import REPAIRED, text_of
from ingest.readers.json_values import values
from ingest.readers.merging import merged
from ingest.readers.naming import set_task_from_text
from ingest.readers.openai_calls import UNKNOWN_TOOL, calls_of, text_of_content
from ingest.readers.sample_json import first_value
from ingest.readers.thread_items import (
    Actor,
    Call,
    Heard,
    Item,
    Opened,
    Returned,
    Step,
    Thread,
    Words,
)
from ingest.readers.threads import play

FRAMEWORK = "CAMEL"

_CLASSES = ("BaseMessage", "FunctionCallingMessage")


class CamelMemoryReader:
    """CAMEL memories; those that quote each other are joined."""

    format = "camel-memory"
    title = "CAMEL agents' memories"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="no",
        recipients="partly",
        outcome="no",
        notes=(
            "A memory holds one agent's side; who spoke to it is known by role, and as an "
            "agent of the run where that one's memory holds the same words.",
            f"Memories are joined by words of {TYING_LENGTH} characters and more.",
            "An agent whose role is only System or Assistant is named by its id.",
        ),
    )
    telling_keys = frozenset({"role_at_backend", "role_name"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a record of a memory."""
        value = first_value(sample)
        if isinstance(value, list) and value:
            value = value[0]
        if _is_record(value):
            return True
        # What follows a long message can stand behind the cut.
        message = value.get("message") if isinstance(value, dict) else None
        return (
            isinstance(message, dict)
            and message.get("__class__") in _CLASSES
            and "role_name" in message
        )

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """What its agents say and are told, by the speaker's role."""
        keys: set[str] = set()
        for value, _ in values(file):
            if _is_record(value):
                keys.update(ties_of(value))
        return frozenset(keys)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each group of memories that quote each other.

        Raises:
            InputError: The file is not JSON, or holds no records.
        """
        yield from self.read_joined([file], context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the runs of files that quote each other; see :meth:`read`.

        Raises:
            InputError: There is one file, and it cannot be read.
        """
        memories: list[Memory] = []
        rejected: list[Rejection] = []
        notes: list[str] = []
        for place, file in enumerate(files):
            try:
                records, damaged = _records(file, rejected)
            except InputError as error:
                if len(files) == 1:
                    raise
                rejected.append(Rejection(file.uri, error.record, error.reason))
                continue
            notes += damaged
            memories += memories_of(records, place)
        follows, ties = quotes_in([entries_of(memory) for memory in memories])
        for part in groups(memories, lambda m: {f"file {m.file}", *ties.get(id(m), ())}):
            name = " + ".join(sorted(memory.id or memory.name for memory in part))
            builder = context.builder(self, files[part[0].file], b"", record=name)
            for note in notes:
                builder.warn(note)
            if rejected:
                builder.warn("records that could not be read are missing")
            _fill(builder, part, follows)
            used = [files[place] for place in sorted({memory.file for memory in part})]
            if len(used) > 1:
                builder.uri = " + ".join(file.uri for file in used)
                builder.sha256 = digest(*sorted(file.sha256 for file in used), size=32)
            if builder.node_count:
                yield builder.build()
            else:
                rejected.append(Rejection(used[0].uri, name, "the memory holds no message"))
        yield from rejected
        if not memories and not rejected:
            raise InputError("it holds no records of a memory", file=files[0].uri)


CAMEL_MEMORY = CamelMemoryReader()


def _is_record(value: Any) -> bool:
    message = value.get("message") if isinstance(value, dict) else None
    return (
        isinstance(message, dict)
        and "role_at_backend" in value
        and ("__class__" in message or "role_name" in message)
    )


def _records(file: TraceFile, rejected: list[Rejection]) -> tuple[list[Record], list[str]]:
    found: list[Record] = []
    notes: list[str] = []
    number = -1
    try:
        for number, (value, repaired) in enumerate(values(file)):
            if repaired:
                notes.append(REPAIRED)
            if _is_record(value):
                found.append(value)
            else:
                reason = "it is no record of a memory"
                rejected.append(Rejection(file.uri, f"value {number}", reason))
    except InputError as error:
        if not found:
            raise
        rejected.append(Rejection(file.uri, error.record, error.reason))
    return found, notes


def _fill(
    builder: GraphBuilder,
    memories: Sequence[Memory],
    follows: "Callable[[Entry], Entry | None]",
) -> None:
    user = Actor("User", role="human", kind="human")
    streams = sorted((entries_of(memory) for memory in memories), key=_begin)
    ordered = merged(streams, lambda entry: time_of(entry[1]), follows)
    run = _Run(builder, user, [stream[0][0] for stream in streams])
    for memory, record in ordered:
        run.read(memory, record, follows((memory, record)))
    builder.content = digest(*(canonical_json(record) for _, record in ordered), size=16)
    play(builder, run.items, user)
    builder.set_method(FRAMEWORK, framework=FRAMEWORK)
    asked = run.task or run.asked
    if asked is not None and asked.strip():
        set_task_from_text(builder, asked)


def _begin(stream: list[Entry]) -> tuple[int, str]:
    return min((time_of(record) or 0 for _, record in stream), default=0), stream[0][0].id


class _Run:
    def __init__(self, builder: GraphBuilder, user: Actor, memories: list[Memory]) -> None:
        self.items: list[Item] = []
        self.asked: str | None = None
        self.task: str | None = None
        self._builder = builder
        self._user = user
        self._threads: dict[int, Thread] = {}
        self._others: dict[str, Actor] = {}
        self._words: dict[int, Words] = {}
        self._calls: dict[tuple[int, str], Call] = {}
        self._open: dict[int, list[Call]] = {}
        self._seen: set[str] = set()
        self._asked_by: dict[int, bool] = {}
        for memory in memories:
            self._thread(memory)

    def read(self, memory: Memory, record: Record, quoted: Entry | None) -> None:
        id_ = text_of(record.get("uuid"))
        if id_ is not None:
            if id_ in self._seen:
                self._builder.warn("a record that stands in several memories was counted once")
                return
            self._seen.add(id_)
        thread = self._thread(memory)
        message = record["message"]
        text = text_of_content(message.get("content"))
        match record["role_at_backend"]:
            case "system" | "developer":
                self.task = self.task or text_of(message.get("task"))
                known = thread.actor.attributes
                if text is not None and known.setdefault("system_prompt", text) != text:
                    self._hear(record, thread, text)
            case "assistant":
                self._answer(record, memory, thread)
            case "function" | "tool":
                self._return(record, memory, thread)
            case _:
                plain = role_of(record).casefold() in PLAIN_ROLES
                self._asked_by[id(thread)] = plain and quoted is None
                words = self._words.get(id(quoted[1])) if quoted is not None else None
                if words is not None:
                    words.told.append(thread)
                    self.items.append(Opened(thread, words))
                else:
                    self._hear(record, thread, text)

    def _thread(self, memory: Memory) -> Thread:
        if id(memory) not in self._threads:
            attributes = {"agent_id": memory.id} if memory.id else {}
            actor = Actor(memory.name, attributes=attributes)
            self._threads[id(memory)] = Thread(actor)
        return self._threads[id(memory)]

    def _hear(self, record: Record, thread: Thread, text: str | None) -> None:
        role = role_of(record)
        kind = record["role_at_backend"]
        if kind != "user":
            sender = self._others.setdefault(
                "system", Actor("system", role="environment", kind="environment")
            )
        elif role.casefold() in PLAIN_ROLES:
            sender = self._user
            self.asked = text if self.asked is None else self.asked
        else:
            # Somebody whose memory is not here, or says it in other words.
            names = [t.actor for t in self._threads.values() if t.actor.name == role]
            sender = names[0] if names else self._others.setdefault(role, Actor(role))
        self.items.append(Heard(thread, text, sender, time_of(record)))

    def _answer(self, record: Record, memory: Memory, thread: Thread) -> None:
        message = record["message"]
        step = Step(thread, private=not self._asked_by.get(id(thread), True))
        text = text_of_content(message.get("content"))
        time = time_of(record)
        thought = text_of(message.get("reasoning_content"))
        if thought:
            step.parts.append(Words(thought, True, time))
        calls = [Call(c.name, c.id, c.arguments, started_at=time) for c in calls_of(message)]
        name = text_of(message.get("func_name"))
        if name is not None:
            id_ = text_of(message.get("tool_call_id"))
            calls.append(Call(name, id_, text_of(message.get("args")), started_at=time))
        if text or not calls:
            words = Words(text, started_at=time)
            self._words[id(record)] = words
            step.parts.append(words)
        step.parts += calls
        for call in calls:
            self._open.setdefault(id(memory), []).append(call)
            if call.id is not None:
                self._calls[id(memory), call.id] = call
        self.items.append(step)

    def _return(self, record: Record, memory: Memory, thread: Thread) -> None:
        message = record["message"]
        id_ = text_of(message.get("tool_call_id"))
        name = text_of(message.get("func_name")) or UNKNOWN_TOOL
        call = self._calls.pop((id(memory), id_ or ""), None)
        waiting = self._open.setdefault(id(memory), [])
        if call is None:
            call = next((c for c in waiting if c.name == name and c.id is None), None)
        if call is None:
            self._builder.warn("a tool's result stands without its call")
            call = Call(name, id_, started_at=time_of(record))
            self.items.append(Step(thread, [call]))
        elif call in waiting:
            waiting.remove(call)
        result = message.get("result")
        call.result = text_of(result) if result is not None else text_of(message.get("content"))
        call.ended_at = time_of(record)
        self.items.append(Returned(thread, call))
