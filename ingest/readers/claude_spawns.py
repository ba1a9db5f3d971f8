"""Claude Code: which call opened which sidechain.

A sidechain joins the call that opened it by the id that the call's result names, else by the
text of the prompt. Without its call it is a thread of its own.
"""

from typing import Any

from ingest.readers.claude_records import Line, Record, blocks_of, decoded, record_of
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso

SPAWNING = frozenset({"Task", "Agent"})
"""Calls that open a sub-agent's thread."""


class Spawned:
    """Which call opened which sidechain."""

    def __init__(self, records: list[Record]) -> None:
        self._by_prompt: dict[str, list[str]] = {}
        self._by_thread: dict[str, str] = {}
        self._record_of: dict[str, Record] = {}
        self._result_of: dict[str, Record] = {}
        self._claimed: set[str] = set()
        self._recorded: set[str] = {r.thread for r in records if r.thread is not None}
        self._thread_of: dict[str, str] = {}
        self.count = 0
        for record in records:
            if record.line.type not in ("assistant", "user"):
                continue
            for block in blocks_of(record.line.message):
                self._look(record, block)
        self._claim_first(records)

    def _look(self, record: Record, block: dict[str, Any]) -> None:
        id, kind = block.get("id"), block.get("type")
        if (
            kind == "tool_use"
            and text_of(block.get("name")) in SPAWNING
            and isinstance(id, str)
        ):
            input = block.get("input")
            prompt = input.get("prompt") if isinstance(input, dict) else None
            if isinstance(prompt, str) and id not in self._record_of:
                self.count += 1
                self._record_of[id] = record
                self._by_prompt.setdefault(prompt.strip(), []).append(id)
            return
        id = block.get("tool_use_id")
        if kind == "tool_result" and isinstance(id, str) and id in self._record_of:
            about = decoded(record.line.tool_result)
            if not str(about.get("status")).endswith("launched"):
                self._result_of.setdefault(id, record)
            agent = about.get("agentId")
            if isinstance(agent, str) and agent not in self._by_thread:
                self._by_thread[agent] = id
                self._thread_of.setdefault(id, agent)

    def _claim_first(self, records: list[Record]) -> None:
        """Joins each sidechain's first message to a call of the same prompt."""
        begun: set[str] = set()
        for record in records:
            key = record.thread
            if key is None or key in begun:
                continue
            begun.add(key)
            named = record.line.parent_tool if key not in self._record_of else key
            if isinstance(named, str) and named in self._record_of:
                self._by_thread.setdefault(key, named)
            if key in self._by_thread:
                self._thread_of.setdefault(self._by_thread[key], key)
                continue
            if record.line.type == "user":
                text = _text(record)
                for id in self._by_prompt.get(text.strip(), ()) if text else ():
                    if id not in self._thread_of:
                        self._by_thread[key] = id
                        self._thread_of[id] = key
                        break

    def opener(self, record: Record) -> Record | None:
        """The record of the call that opened a record's thread."""
        if record.thread is None:
            return None
        id = self._by_thread.get(record.thread)
        return self._record_of.get(id) if id is not None else None

    def closer(self, record: Record) -> Record | None:
        """The record of the result of the call that opened a record's thread.

        None where that result only says that the sub-agent was launched.
        """
        if record.thread is None:
            return None
        return self._result_of.get(self._by_thread.get(record.thread, ""))

    def call_of_thread(self, key: str) -> str | None:
        """The id of the call that opened a thread."""
        return self._by_thread.get(key)

    def has_records(self, call: str | None) -> bool:
        """Whether the sub-agent of a call left records."""
        return self._thread_of.get(call or "") in self._recorded

    def claim(self, record: Record, text: str | None) -> str | None:
        """The id of the call whose prompt a sub-agent's message is; each is claimed once."""
        if text is None or record.thread is None:
            return None
        first = self._by_thread.get(record.thread)
        same = self._by_prompt.get(text.strip(), [])
        for id in [*([first] if first in same else []), *same]:
            owner = self._thread_of.get(id)
            if id not in self._claimed and owner in (None, record.thread):
                self._claimed.add(id)
                return id
        return None


def name_threads(records: list[Record]) -> None:
    """Gives each record of a sub-agent its thread's key."""
    chains: dict[str, str] = {}
    for record in records:
        line = record.line
        uuid, parent = record.uuid, record.parent
        if isinstance(line.parent_tool, str) and line.parent_tool:
            record.thread = line.parent_tool
        elif line.is_sidechain is not True:
            continue
        elif isinstance(line.agent_id, str) and line.agent_id:
            record.thread = line.agent_id
        else:
            record.thread = chains.get(parent or "") or uuid or parent or "sidechain"
            if parent is not None:
                # A parent that was cut off still ties its children together.
                chains.setdefault(parent, record.thread)
        if uuid is not None:
            chains[uuid] = record.thread


def with_progress(records: list[Record]) -> list[Record]:
    """The records, with sub-agents' messages that stand in reports of progress alone."""
    threads = {record.thread for record in records}
    found: list[Record] = []
    for record in records:
        if record.line.type != "progress":
            found.append(record)
            continue
        about = decoded(record.line.data)
        inner, agent = about.get("message"), about.get("agentId")
        if (
            about.get("type") != "agent_progress"
            or not isinstance(inner, dict)
            or not isinstance(agent, str)
            or agent in threads
        ):
            found.append(record)
            continue
        line = Line(
            type=inner.get("type"),
            uuid=inner.get("uuid"),
            message=inner.get("message"),
            agent_id=agent,
            parent_tool=record.line.parent_call,
            session_id=record.line.session_id,
        )
        time = from_iso(inner.get("timestamp")) or record.time
        found.append(record_of(line, record.file, record.number, time, record.digest, agent))
    return found


def _text(record: Record) -> str:
    parts = [block.get("text") for block in blocks_of(record.line.message)]
    return "\n".join(part for part in parts if isinstance(part, str))
