"""The parts of a run that is kept as threads; see :mod:`ingest.readers.threads`."""

import msgspec

from graphstore.model import (
    AccessMode,
    AgentKind,
    Artifact,
    Attributes,
    Basis,
    Delivery,
    Role,
    Status,
)


class Actor(msgspec.Struct, eq=False):
    """Somebody who acts or is spoken to.

    Attributes:
        position: In the graph, once it is added.
    """

    name: str
    role_name: str | None = None
    role: Role | None = None
    kind: AgentKind = "agent"
    attributes: Attributes = {}
    position: int | None = None


class Thread(msgspec.Struct, eq=False):
    """One agent's conversation.

    Attributes:
        actor: Whose it is.
        opened_by: The call that opened it, None where the user did or the trace is silent.
        parent: The thread of that call.
        silent: Whether nobody waits for what its agent says at the end of a turn.
    """

    actor: Actor
    opened_by: "Call | None" = None
    parent: "Thread | None" = None
    silent: bool = False


class Call(msgspec.Struct, eq=False):
    """A tool call with its result.

    Attributes:
        arguments: As text, mostly JSON.
        result: None where the trace has none.
        opens: The thread that it opened.
        also: Further threads that it opened.
        prompt: What that thread's agent was told.
        detached: Whether it returned before that agent was done: its result is none of the
            agent's words.
        node: Its place in the graph, once it is added.
    """

    name: str
    id: str | None = None
    arguments: str | None = None
    result: str | None = None
    status: Status | None = None
    started_at: int | None = None
    ended_at: int | None = None
    attributes: Attributes = {}
    accesses: list[tuple[str, AccessMode]] = []
    outputs: list[Artifact] = []
    opens: Thread | None = None
    also: list[Thread] = []
    prompt: str | None = None
    detached: bool = False
    node: int | None = None


class Words(msgspec.Struct, eq=False):
    """A text that an agent wrote.

    Attributes:
        thought: Whether nobody was to read it.
        answers: The call whose result it is.
        told: The threads whose agents were given them.
        node: Its place in the graph, once it is added.
    """

    text: str | None
    thought: bool = False
    started_at: int | None = None
    attributes: Attributes = {}
    status: Status | None = None
    answers: Call | None = None
    told: list[Thread] = []
    node: int | None = None


class Heard(msgspec.Struct, eq=False):
    """A text that an agent was given.

    Attributes:
        sender: Whose it is.
        node: Its place in the graph, once it is added.
    """

    thread: Thread
    text: str | None
    sender: Actor
    started_at: int | None = None
    attributes: Attributes = {}
    delivery: Delivery = "explicit"
    node: int | None = None


class Opened(msgspec.Struct, eq=False):
    """A thread's agent hears the prompt of a call, or words: that is no second message."""

    thread: Thread
    call: Call | Words
    basis: Basis = "explicit"


class Returned(msgspec.Struct, eq=False):
    """A call's result reaches the agent that made it.

    Attributes:
        reports: Threads whose last words the result holds.
    """

    thread: Thread
    call: Call
    reports: list[Thread] = []


class Step(msgspec.Struct, eq=False):
    """One answer of a model.

    Attributes:
        parts: In their order.
        after: What the trace says it follows on, None where it says nothing.
        private: Whether the user does not wait for it.
    """

    thread: Thread
    parts: list[Words | Call] = []
    tokens_in: int | None = None
    tokens_out: int | None = None
    after: "list[Heard | Call | Words] | None" = None
    private: bool = False
    attributes: Attributes = {}


Item = Heard | Opened | Step | Returned


def thread_key(thread: Thread) -> int:
    """A thread as a key: two threads are never one, whatever their agents are called."""
    return id(thread)
