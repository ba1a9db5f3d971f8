"""A conversation of a user, an assistant and its tools, as chat completions keep it.

Two sides take turns; what one says goes to the other. A tool call stands in the message of
its speaker, its result in a message of the role ``tool``: together they are one node of the
speaker. Words that come with a call stay with the speaker, since the other side is not asked
before the call is done. The system prompt that opens a chat is the assistant's.
"""

from collections.abc import Callable, Iterable
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Status
from ingest.flow import FlowTracker
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso
from ingest.readers.openai_calls import UNKNOWN_TOOL, ChatCall, calls_of, text_of_content

Record = dict[str, Any]

_KNOWN = frozenset(
    {"role", "content", "name", "tool_calls", "function_call", "tool_call_id", "id"}
    | {"usage", "timestamp"}
)
_TIMED_OR_COUNTED = frozenset({"usage", "timestamp"})
_BARE = _KNOWN - _TIMED_OR_COUNTED
"""A record with no other keys has no time, no tokens and no attributes."""
_CALLING = frozenset({"tool_calls", "function_call"})
_RESULTS = ("tool", "function")
_Open = tuple[int, int, str | None]
"""A call that waits for its result: its message, its number there, and its id."""
_UNCOUNTED: tuple[int | None, int | None] = (None, None)


def add_chat(
    builder: GraphBuilder,
    messages: Iterable[Any],
    *,
    status_of: Callable[[Record], Status | None] | None = None,
) -> None:
    """Adds the agents, nodes and edges of one chat.

    Args:
        builder: Of the run.
        messages: Objects with a role and a content; anything else is kept as text.
        status_of: Says of a tool's result message whether the call failed; by default
            nothing is known.
    """
    records: list[Record] = [
        message if isinstance(message, dict) else {"content": message} for message in messages
    ]
    _Chat(builder, records, status_of).add()


class _Chat:
    def __init__(
        self,
        builder: GraphBuilder,
        records: list[Record],
        status_of: Callable[[Record], Status | None] | None,
    ) -> None:
        self._builder = builder
        self._records = records
        self._status_of = status_of
        self._flow = FlowTracker(builder)
        self._agents: dict[str, int] = {}
        self._others: dict[int, tuple[int, ...]] = {}
        self._calls, self._answers = _paired(records)

    def add(self) -> None:
        begins = 0
        for record in self._records[:1]:
            prompt = text_of_content(record.get("content"))
            if record.get("role") == "system" and prompt is not None:
                self._agent("assistant", {"system_prompt": prompt})
                begins = 1
        roles = [record.get("role") for record in self._records]
        for role in ("user", "assistant"):
            if role in roles:
                self._agent(role)
        answered = set(self._answers.values())
        for position in range(begins, len(self._records)):
            if position in answered:
                continue
            if roles[position] in _RESULTS:
                self._add_orphan(self._records[position])
            else:
                self._add_message(self._records[position], position)

    def _agent(self, role: str, attributes: Attributes | None = None) -> int:
        agent = self._agents.get(role)
        if agent is None:
            is_human = role == "user"
            agent = self._agents[role] = self._builder.new_agent(
                role,
                role="human" if is_human else None,
                kind="human" if is_human else "environment" if role == "system" else "agent",
                attributes=attributes,
            )
            self._others.clear()
        return agent

    def _listeners(self, agent: int) -> tuple[int, ...]:
        """Whom an agent's words reach: everybody else so far but the system."""
        found = self._others.get(agent)
        if found is None:
            found = self._others[agent] = tuple(
                [a for name, a in self._agents.items() if a != agent and name != "system"]
            )
        return found

    def _add_message(self, record: Record, position: int) -> None:
        speaker, agent = record.get("role"), None
        if isinstance(speaker, str) and speaker.strip():
            agent = self._agents.get(speaker)
            if agent is None:
                agent = self._agent(speaker)
        else:
            self._builder.warn("a message names no role")
            speaker = "unknown speaker"
        calls = self._calls.get(position)
        content = record.get("content")
        if not isinstance(content, str):
            content = text_of_content(content)
        started_at, tokens, attributes = None, _UNCOUNTED, None
        if not _BARE.issuperset(record):
            started_at = from_iso(record.get("timestamp"))
            tokens = _usage(record)
            attributes = _attributes(record)
        if content or not calls:
            # Words beside a call reach nobody before the call is done.
            recipients = () if calls or agent is None else self._listeners(agent)
            node = self._builder.add(
                "agent_message",
                speaker,
                agent=agent,
                recipients=recipients,
                delivery="broadcast",
                content=content,
                started_at=started_at,
                tokens_in=tokens[0],
                tokens_out=tokens[1],
                attributes=attributes,
            )
            self._flow.act(node, agent, recipients=recipients)
            tokens = _UNCOUNTED
        if not calls:
            return
        nodes = []
        for number, call in enumerate(calls):
            place = self._answers.get((position, number))
            answer = None if place is None else self._records[place]
            nodes.append(self._add_call(call, agent, record, answer, tokens))
            tokens = _UNCOUNTED
        if agent is not None:
            self._flow.act_together(nodes, agent)

    def _add_orphan(self, record: Record) -> None:
        self._builder.warn("a tool's result stands without its call")
        name = text_of(record.get("name")) or UNKNOWN_TOOL
        call = ChatCall(name, text_of(record.get("tool_call_id")), None)
        agent = self._agents.get("assistant")
        node = self._add_call(call, agent, {}, record, _UNCOUNTED)
        if agent is not None:
            self._flow.act_together([node], agent)

    def _add_call(
        self,
        call: ChatCall,
        agent: int | None,
        record: Record,
        answer: Record | None,
        tokens: tuple[int | None, int | None],
    ) -> int:
        attributes = _attributes(record)
        content = status = ended_at = None
        if answer is not None:
            attributes.update(_attributes(answer))
            content = text_of_content(answer.get("content"))
            ended_at = from_iso(answer.get("timestamp"))
            status = self._status_of(answer) if answer and self._status_of else None
        if call.id is not None:
            attributes["call_id"] = call.id
        if call.arguments is not None:
            attributes["arguments"] = call.arguments
        return self._builder.add(
            "tool_call",
            call.name,
            agent=agent,
            content=content,
            started_at=from_iso(record.get("timestamp")),
            ended_at=ended_at,
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            status=status,
            attributes=attributes,
        )


def _paired(
    records: list[Record],
) -> tuple[dict[int, list[ChatCall]], dict[tuple[int, int], int]]:
    """The calls of each message, and where the result of each call stands.

    A result without an id, or with one that no call has, belongs to the first open call of
    the last message with calls.
    """
    calls: dict[int, list[ChatCall]] = {}
    answers: dict[tuple[int, int], int] = {}
    open_: list[_Open] = []
    for position, record in enumerate(records):
        if record.get("role") in _RESULTS:
            if open_ and (found := _answered(record, open_)) is not None:
                open_.remove(found)
                answers[found[0], found[1]] = position
        elif _CALLING.isdisjoint(record):
            continue
        elif listed := calls_of(record):
            calls[position] = listed
            open_ = [(position, number, call.id) for number, call in enumerate(listed)]
    return calls, answers


def _answered(result: Record, open_: list[_Open]) -> _Open | None:
    """The open call that a result belongs to."""
    id = text_of(result.get("tool_call_id")) or text_of(result.get("id"))
    if id is None:
        return open_[0]
    without_id: _Open | None = None
    for call in open_:
        if call[2] == id:
            return call
        if call[2] is None and without_id is None:
            without_id = call
    return without_id


def _attributes(record: Record) -> Attributes:
    if _KNOWN.issuperset(record):
        return {}
    return {
        key: value
        for key, value in record.items()
        if key not in _KNOWN and (value or value not in (None, "", [], {}))
    }


def _usage(record: Record) -> tuple[int | None, int | None]:
    usage = record.get("usage")
    if not isinstance(usage, dict):
        return None, None
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return _count(read), _count(written)


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**63 else None
