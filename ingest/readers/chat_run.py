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
_RESULTS = ("tool", "function")


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
        role = record.get("role")
        speaker = role if isinstance(role, str) and role.strip() else None
        agent = None if speaker is None else self._agent(speaker)
        if agent is None:
            self._builder.warn("a message names no role")
        calls = self._calls.get(position)
        content = text_of_content(record.get("content"))
        tokens = _usage(record)
        if content or not calls:
            # Words beside a call reach nobody before the call is done.
            recipients = () if calls or agent is None else self._listeners(agent)
            node = self._builder.add(
                "agent_message",
                speaker or "unknown speaker",
                agent=agent,
                recipients=recipients,
                delivery="broadcast",
                content=content,
                started_at=from_iso(record.get("timestamp")),
                tokens_in=tokens[0],
                tokens_out=tokens[1],
                attributes=_attributes(record),
            )
            self._flow.act(node, agent, recipients=recipients)
            tokens = (None, None)
        if not calls:
            return
        nodes = []
        for number, call in enumerate(calls):
            place = self._answers.get((position, number))
            answer = None if place is None else self._records[place]
            first = tokens if number == 0 else (None, None)
            nodes.append(self._add_call(call, agent, record, answer, first))
        if agent is not None:
            self._flow.act_together(nodes, agent)

    def _add_orphan(self, record: Record) -> None:
        self._builder.warn("a tool's result stands without its call")
        name = text_of(record.get("name")) or UNKNOWN_TOOL
        call = ChatCall(name, text_of(record.get("tool_call_id")), None)
        agent = self._agents.get("assistant")
        node = self._add_call(call, agent, {}, record, (None, None))
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
        if answer is not None:
            attributes.update(_attributes(answer))
        if call.id is not None:
            attributes["call_id"] = call.id
        if call.arguments is not None:
            attributes["arguments"] = call.arguments
        return self._builder.add(
            "tool_call",
            call.name,
            agent=agent,
            content=None if answer is None else text_of_content(answer.get("content")),
            started_at=from_iso(record.get("timestamp")),
            ended_at=None if answer is None else from_iso(answer.get("timestamp")),
            tokens_in=tokens[0],
            tokens_out=tokens[1],
            status=self._status_of(answer) if answer and self._status_of else None,
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
    open_: list[tuple[int, int, str | None]] = []
    for position, record in enumerate(records):
        if record.get("role") in _RESULTS:
            if not open_:
                continue
            id = text_of(record.get("tool_call_id")) or text_of(record.get("id"))
            found = next((c for c in open_ if id is not None and c[2] == id), None)
            if found is None:
                found = next((c for c in open_ if id is None or c[2] is None), None)
            if found is not None:
                open_.remove(found)
                answers[found[0], found[1]] = position
            continue
        listed = calls_of(record)
        if listed:
            calls[position] = listed
            open_ = [(position, number, call.id) for number, call in enumerate(listed)]
    return calls, answers


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
