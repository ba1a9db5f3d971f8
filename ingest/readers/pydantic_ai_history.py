"""Message histories of Pydantic AI as files hold them."""

from dataclasses import dataclass, field
from typing import Any

from ingest.readers.platform_spans import text_at

_KINDS = frozenset({"request", "response"})
_MESSAGES = ("messages", "all_messages", "message_history", "history")


@dataclass(slots=True)
class History:
    """The messages of one history, and the agent's name where something says it."""

    record: str | None = None
    agent: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    strange: int = 0

    def extend(self, found: Any) -> None:
        """Adds messages; what is none is counted."""
        for message in found if isinstance(found, list) else ():
            if is_message(message):
                self.messages.append(message)
            else:
                self.strange += 1


def is_message(value: Any) -> bool:
    """Whether a value is a request or a response."""
    if not isinstance(value, dict):
        return False
    kind = value.get("kind")
    return isinstance(kind, str) and kind in _KINDS and isinstance(value.get("parts"), list)


def said(record: dict[str, Any], key: str) -> str | None:
    """What a message or part says under a key, where it is a text and not empty."""
    found = record.get(key)
    return found if found and isinstance(found, str) else None


def begins_message(value: Any) -> bool:
    """Whether a value is a message, or the begin of a long one."""
    parts = value.get("parts") if isinstance(value, dict) else None
    if not isinstance(parts, list) or not parts:
        return is_message(value)
    return text_at(parts[0], "part_kind") is not None


def agent_named(value: dict[str, Any]) -> str | None:
    """The agent's name, where an object around a history says it."""
    agent = value.get("agent")
    return text_at(value, "agent_name") or (
        agent if isinstance(agent, str) and agent else text_at(agent, "name")
    )


def longest(histories: list[History]) -> list[History]:
    """The histories that no other one of the same conversation continues, in their order."""
    conversations: dict[str, list[History]] = {}
    for history in histories:
        name = _conversation(history)
        if name is not None:
            conversations.setdefault(name, []).append(history)
    left_out: set[int] = set()
    for found in conversations.values():
        # The longest first; of equal ones, the first one of the file stays.
        ordered = sorted(found, key=lambda one: -len(one.messages))
        kept: list[History] = []
        for history in ordered:
            length = len(history.messages)
            if any(one.messages[:length] == history.messages for one in kept):
                left_out.add(id(history))
            else:
                kept.append(history)
    return [history for history in histories if id(history) not in left_out]


def _conversation(history: History) -> str | None:
    return next(
        (one for message in history.messages if (one := said(message, "conversation_id"))),
        None,
    )


def held_messages(value: dict[str, Any]) -> Any:
    """The history that an object holds, None where it holds none."""
    return next((value[key] for key in _MESSAGES if key in value), None)
