"""Messages that a LangGraph node wrote itself, beside the model and tool runs inside it.

A node's output is an update of the shared state. Most of its messages are what a model or a
tool inside the node put out, or came with the state that it was given; the others are the
node's own words. An event has no better sign than this: a message is known by its id, or,
where one of two has none yet (LangGraph gives ids when it puts an update into the state), by
its role and words.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ingest.readers.chat_payload import TOOL as TOOL_ROLE
from ingest.readers.chat_payload import Call, ChatMessage, decoded, messages_of
from ingest.readers.otlp_attributes import AGENT, LLM, TOOL, TOOL_KINDS, Facts
from ingest.readers.platform_spans import CHAIN, CallBook, empty_facts, read_payload


def update_in(put_out: Any) -> list[ChatMessage]:
    """The messages of a node's output, which may be an order to go to another node."""
    value = decoded(put_out)
    if isinstance(value, dict) and {"goto", "update"} <= value.keys():
        value = value["update"]
    return messages_of(value) or []


def new_messages(
    put_out: Any, given: Any, known: set[str], *, deep: bool = True
) -> list[ChatMessage]:
    """The messages of a node's output that it was not given.

    Args:
        put_out: The node's output.
        given: Its input.
        known: Ids of messages that were written before.
        deep: False leaves messages without an id out of the comparison with the input.
    """
    written = [one for one in update_in(put_out) if one.id is None or one.id not in known]
    if not written:
        return []
    before = messages_of(decoded(given)) or []
    ids = {message.id for message in before if message.id is not None}
    said = [_said(message) for message in before if message.id is None] if deep else []
    found: list[ChatMessage] = []
    for message in written:
        if message.id is not None and message.id in ids:
            continue
        if message.id is None and (key := _said(message)) in said:
            said.remove(key)
            continue
        found.append(message)
    return found


class Inside:
    """What the runs inside a node said.

    Args:
        facts: Of the runs inside.
        ids: Of the messages that the model runs among them put out.
    """

    def __init__(self, facts: Iterable[Facts], ids: dict[str, list[str | None]]) -> None:
        self._facts = list(facts)
        self._ids = ids

    def holds(self, message: ChatMessage, agent: str | None) -> bool:
        """Whether a node's message repeats one from inside it.

        The words of the same agent are the same message, whatever id they got; those of
        another agent only where the one inside had no id: else they were passed on.
        """
        if message.role == TOOL_ROLE:
            return self._ran(message)
        for facts in self._facts:
            if facts.category in TOOL_KINDS:
                continue
            if message.text is None:
                called = {call.id for call in message.calls if call.id}
                if called and called <= set(facts.calls or ()):
                    return True
                continue
            if facts.text == message.text and (
                facts.agent == agent or None in self._ids.get(facts.id, [None])
            ):
                return True
        return message.text is None and not message.calls

    def _ran(self, message: ChatMessage) -> bool:
        """Whether a tool's message is the result of a tool that ran inside."""
        tools = [facts for facts in self._facts if facts.category in TOOL_KINDS]
        for facts in tools:
            if facts.call is not None and facts.call in message.answers:
                return True
        for facts in tools:
            # A run that failed does not say which call it was.
            if facts.call is None and facts.tool == message.name:
                facts.call = message.answers[0] if message.answers else None
                facts.text = facts.text if facts.text is not None else message.text
                return True
        return any(facts.text is not None and facts.text == message.text for facts in tools)


@dataclass(frozen=True, slots=True)
class Ended:
    """A model's or a node's run that has ended, as a platform keeps it.

    Attributes:
        key: The run.
        is_node: Whether it is the run of a node of LangGraph itself, not of what is inside.
        given: Its input, as it stands in the trace.
        put_out: Its output, likewise.
        moment: By which runs are put into the order in which they ended.
    """

    key: str
    is_node: bool
    given: Any
    put_out: Any
    moment: int


def add_own_of_spans(found: dict[str, Facts], ended: Iterable[Ended], book: CallBook) -> None:
    """Adds what nodes wrote themselves to the spans of a trace.

    Args:
        found: The spans by id; receives a span for each message.
        ended: The runs of models and nodes.
        book: Receives the calls that the messages ask for.
    """
    runs = list(ended)
    if not any(run.is_node for run in runs):
        return
    ids: dict[str, list[str | None]] = {}
    known: set[str] = set()
    written: dict[str, list[ChatMessage]] = {}
    for run in sorted(runs, key=lambda run: run.moment):
        messages = update_in(run.put_out)
        ids[run.key] = [message.id for message in messages] or [None]
        if run.is_node:
            messages = new_messages(run.put_out, run.given, known)
            written[run.key] = messages
        known.update(message.id for message in messages if message.id is not None)

    def start_of(node: Facts, number: int, count: int) -> int | None:
        # They are what the node put out when it ended, one after the other.
        moment = node.start if node.end is None else node.end
        return None if moment is None else moment - count + number

    add_own(found, written, ids, book, start_of)


def add_own(
    found: dict[str, Facts],
    written: dict[str, list[ChatMessage]],
    ids: dict[str, list[str | None]],
    book: CallBook,
    start_of: Callable[[Facts, int, int], int | None],
) -> None:
    """Adds the messages that nodes wrote beside what ran inside them, the inner ones first.

    Args:
        found: The spans by id; receives a span for each message.
        written: What each node's output has beside what it was given, in the order in which
            the nodes ended.
        ids: By run of a model or node, the ids of the messages that it put out; None for one
            without. Receives those of the added spans.
        book: Receives the calls that the messages ask for.
        start_of: When the message of a number among so many of a node was written.
    """
    children: dict[str, list[str]] = {}
    for key, facts in found.items():
        if facts.parent is not None:
            children.setdefault(facts.parent, []).append(key)
    for key, messages in written.items():
        if not messages:
            continue
        inner: list[Facts] = []
        waiting = list(children.get(key, ()))
        seen = {key}
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if one in found:
                inner.append(found[one])
            waiting.extend(children.get(one, ()))
        acts = any(facts.category != CHAIN for facts in inner)
        if not acts and found[key].category == AGENT and len(messages) == 1:
            continue  # the node's run itself is this message
        inside = Inside((facts for facts in inner if facts.category != CHAIN), ids)
        own = [one for one in messages if not inside.holds(one, found[key].agent)]
        for number, message in enumerate(own):
            start = start_of(found[key], number, len(own))
            facts, calls = own_facts(message, found[key], number, start)
            ids[facts.id] = [message.id]
            found[facts.id] = facts
            children.setdefault(key, []).append(facts.id)
            book.note(facts, calls)


def own_facts(
    message: ChatMessage, node: Facts, number: int, start: int | None
) -> tuple[Facts, list[Call]]:
    """A node's own message as a span inside the node's.

    Args:
        message: The message.
        node: The node's run.
        number: Its place among the node's own messages.
        start: Its place in the file, or its time.
    """
    is_tool = message.role == TOOL_ROLE
    facts = empty_facts(
        node.trace,
        f"{node.id} message {number}",
        parent=node.id,
        name=node.name,
        start=start,
        end=None if start is None else start + 1,
        category=TOOL if is_tool else LLM,
    )
    facts.agent, facts.agent_id = node.agent, node.agent_id
    if is_tool:
        facts.tool = message.name
    calls = read_payload(facts, None, message.raw)
    facts.text = message.text
    facts.extra["written_by"] = "node"
    if message.id is not None:
        facts.extra["message_id"] = message.id
    if message.name is not None and not is_tool and message.name != node.agent:
        facts.extra["message_name"] = message.name
    for key in ("langgraph_node", "langgraph_step", "langgraph_checkpoint_ns"):
        if key in node.extra:
            facts.extra[key] = node.extra[key]
    return facts, calls


def _said(message: ChatMessage) -> tuple[str, str | None, tuple[str | None, ...]]:
    return message.role, message.text, tuple(call.id for call in message.calls)
