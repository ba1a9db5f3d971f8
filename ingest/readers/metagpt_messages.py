"""The messages of a MetaGPT team: one each, however many memories hold it, in one order."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from graphstore.identity import canonical_json

Message = dict[str, Any]


class Messages:
    """Collects messages from memories.

    Attributes:
        ordered: All messages. The first memory's order stands; a message that only a later
            one holds comes after the message before it there.
        holders: The position of every memory that holds a message, by the message's key.
        unread: Entries that are no objects.
    """

    def __init__(self) -> None:
        self.holders: dict[str, list[int]] = {}
        self.unread = 0
        self._found: dict[str, Message] = {}
        self._next: dict[str, str | None] = {}
        self._first: str | None = None
        self._last: str | None = None

    def add(self, memory: int, stored: Iterable[Any]) -> None:
        """Adds what one memory holds.

        Args:
            memory: Its position, for ``holders``.
            stored: Its messages, the oldest first.
        """
        before: str | None = None
        seen: Counter[str] = Counter()
        leading: list[str] = []
        for message in stored:
            if not isinstance(message, dict):
                self.unread += 1
                continue
            key = _key(message, seen)
            if key not in self._found:
                self._found[key] = message
                if before is None:
                    leading.append(key)
                else:
                    self._insert(key, before)
                    before = key
            elif before is None:
                self._lead(leading, key)
                leading, before = [], key
            else:
                before = key
            holders = self.holders.setdefault(key, [])
            if memory not in holders:
                holders.append(memory)
        for key in leading:
            self._insert(key, self._last)

    @property
    def ordered(self) -> list[tuple[str, Message]]:
        """Keys and messages in their order."""
        order: list[tuple[str, Message]] = []
        current = self._first
        while current is not None:
            order.append((current, self._found[current]))
            current = self._next[current]
        return order

    def _lead(self, keys: list[str], following: str) -> None:
        """Puts messages right before one that is known."""
        previous = next((k for k, after in self._next.items() if after == following), None)
        if not keys:
            return
        for key in keys:
            self._insert(key, previous)
            previous = key

    def _insert(self, key: str, before: str | None) -> None:
        if before is None:
            self._next[key], self._first = self._first, key
            if self._last is None:
                self._last = key
            return
        self._next[key] = self._next[before]
        self._next[before] = key
        if before == self._last:
            self._last = key


def _key(message: Message, seen: Counter[str]) -> str:
    """A message's id; without one, its text and how often it stood in this memory before."""
    id_ = message.get("id")
    if isinstance(id_, str) and id_:
        return id_
    text = canonical_json(message)
    seen[text] += 1
    return f"{text}#{seen[text]}"
