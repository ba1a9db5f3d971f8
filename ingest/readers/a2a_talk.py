"""A2A: one conversation between a client and an agent as messages and artifacts."""

from collections import Counter
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.model import Artifact, Attributes
from ingest.flow import FlowTracker
from ingest.readers.a2a_parts import Record, content_of, is_agents, state_of, task_of
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso

CLIENT = "client"
AGENT = "agent"

_KNOWN = frozenset(
    {"kind", "role", "parts", "messageId", "contextId", "taskId", "referenceTaskIds", "type"}
)


class _Said(msgspec.Struct, eq=False):
    """A message or an artifact.

    Attributes:
        after: Ids of the messages and tasks that it follows on.
        about: What describes an artifact without text.
    """

    by_agent: bool
    text: str | None
    files: list[Artifact]
    task: str | None = None
    after: list[str] = []
    time: int | None = None
    failed: bool = False
    about: str | None = None
    attributes: Attributes = {}


class Talk:
    """Collects a conversation, then plays it.

    Attributes:
        asked: The client's first words.
        answer: The agent's last words.
        states: The last state of each task, the last changed one at the end.
    """

    def __init__(self, builder: GraphBuilder, card: Record | None) -> None:
        self.asked: str | None = None
        self.answer: str | None = None
        self.states: dict[str, str] = {}
        self._builder = builder
        self._card = card
        self._said: list[_Said] = []
        self._messages: dict[str, _Said] = {}
        self._artifacts: dict[tuple[str, str], _Said] = {}
        self._tasks_of: dict[str, list[str]] = {}
        self._told: Counter[tuple[str | None, bool, str | None]] = Counter()
        self._status_of: dict[str | None, Record] = {}

    def take(self, kind: str, value: Record, asked: str | None) -> None:
        """Takes one object, and the id of the message that it answers."""
        task = task_of(value, kind)
        if task is not None and asked is not None:
            known = self._tasks_of.setdefault(asked, [])
            if task not in known:
                known.append(task)
        match kind:
            case "message":
                own, by_agent = text_of(value.get("taskId")), is_agents(value)
                self._message(value, own, by_agent, *content_of(value), asked)
            case "task":
                self._history(value.get("history"), task)
                self._status(value.get("status"), task, asked)
                artifacts = value.get("artifacts")
                for artifact in artifacts if isinstance(artifacts, list) else []:
                    if isinstance(artifact, dict):
                        self._artifact(artifact, task, asked)
            case "status-update":
                self._status(value.get("status"), task, asked)
            case "artifact-update":
                artifact = value.get("artifact")
                if isinstance(artifact, dict):
                    append = value.get("append", artifact.get("append")) is True
                    self._artifact(artifact, task, asked, append=append)
            case "error":
                self._error(value["error"], asked)

    def _history(self, history: Any, task: str | None) -> None:
        """A task's messages so far: those that are new, where they have ids or not."""
        seen: Counter[tuple[str | None, bool, str | None]] = Counter()
        for message in history if isinstance(history, list) else []:
            if not isinstance(message, dict):
                continue
            by_agent = is_agents(message)
            text, files = content_of(message)
            key = (task, by_agent, text)
            seen[key] += 1
            if "messageId" in message or seen[key] > self._told.get(key, 0):
                own = text_of(message["taskId"]) if "taskId" in message else task
                self._message(message, own, by_agent, text, files)

    def _message(
        self,
        value: Record,
        task: str | None,
        by_agent: bool,
        text: str | None,
        files: list[Artifact],
        asked: str | None = None,
        time: int | None = None,
    ) -> None:
        """Notes a message of a task, by whom it is and what it says."""
        id = text_of(value.get("messageId"))
        self._told[task, by_agent, text] += 1
        if id is not None and id in self._messages:
            known = self._messages[id]
            known.task, known.time = known.task or task, known.time or time
            return
        listed = value.get("referenceTaskIds")
        names = [text_of(n) for n in listed] if isinstance(listed, list) else []
        said = _Said(by_agent, text, files, task, [n for n in names if n], time)
        if asked is not None:
            said.after.append(asked)
        said.attributes = {
            key: v for key, v in value.items() if key not in _KNOWN and v not in (None, {}, [])
        }
        if id is not None:
            said.attributes["message_id"] = id
            self._messages[id] = said
        self._said.append(said)

    def _status(self, status: Any, task: str | None, asked: str | None) -> None:
        state = state_of(status)
        if task is not None and state is not None:
            self.states.pop(task, None)
            self.states[task] = state
        message = (
            status.get("message", status.get("update")) if isinstance(status, dict) else None
        )
        if isinstance(message, dict):
            time = from_iso(status.get("timestamp"))
            own = text_of(message["taskId"]) if "taskId" in message else task
            by_agent = is_agents(message) if "role" in message else True
            self._message(message, own, by_agent, *content_of(message), asked, time)

    def _artifact(
        self, value: Record, task: str | None, asked: str | None, *, append: bool = False
    ) -> None:
        text, files = content_of(value)
        name = text_of(value.get("name"))
        id = text_of(value.get("artifactId")) or text_of(value.get("index")) or name or ""
        key = (task or "", id)
        known = self._artifacts.get(key)
        if known is not None:
            if append:
                known.text = (known.text or "") + (text or "") if text or known.text else None
                known.files += files
                return
            if text is None or text.startswith(known.text or ""):
                # A snapshot of what was there, or of more of it.
                known.text, known.files = text or known.text, files or known.files
                return
        made = list(files)
        if not made and name is not None:
            made.append(Artifact(name=name))
        about = text_of(value.get("description"))
        said = _Said(True, text, made, task, about=about)
        if asked is not None:
            said.after.append(asked)
        for label, content in (("artifact", name), ("description", about), ("artifact_id", id)):
            if content:
                said.attributes[label] = content
        self._artifacts[key] = said
        self._said.append(said)

    def _error(self, error: Any, asked: str | None) -> None:
        text = text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
        said = _Said(True, text, [], failed=True)
        if asked is not None:
            said.after.append(asked)
        if isinstance(error, dict):
            said.attributes = {
                k: v for k, v in error.items() if k != "message" and v is not None
            }
        self._said.append(said)

    def play(self) -> None:
        """Adds the agents, nodes and edges."""
        builder = self._builder
        flow = FlowTracker(builder)
        parties: dict[bool, int] = {}
        for said in self._said:
            for by_agent in (said.by_agent, not said.by_agent):
                if by_agent not in parties:
                    parties[by_agent] = self._party(by_agent)
        nodes: dict[str, list[int]] = {}
        of_client: dict[str, list[int]] = {}
        of_agent: dict[str, list[int]] = {}
        for said in self._said:
            other = parties[not said.by_agent]
            attributes = dict(said.attributes)
            if said.task is not None:
                attributes["task"] = said.task
            node = builder.add(
                "agent_message",
                builder.agent_name(parties[said.by_agent]),
                agent=parties[said.by_agent],
                recipients=[other],
                content=said.about if said.text is None else said.text,
                inputs=[] if said.by_agent else said.files,
                outputs=said.files if said.by_agent else [],
                started_at=said.time,
                status="error" if said.failed else None,
                attributes=attributes,
            )
            sources = [
                n for name in said.after for n in nodes.get(name, of_agent.get(name, []))
            ]
            if not sources and said.task is not None:
                before = of_client if said.by_agent else of_agent
                sources = before.get(said.task, [])[-1:]
            flow.act(node, parties[said.by_agent], recipients=[other], explicit=sources)
            id = text_of(said.attributes.get("message_id"))
            if id is not None:
                nodes[id] = [node]
            tasks = [said.task] if said.task is not None else self._tasks_of.get(id or "", [])
            for task in tasks:
                (of_agent if said.by_agent else of_client).setdefault(task, []).append(node)
            if said.by_agent:
                if not said.failed:
                    self.answer = said.text or said.about or self.answer
            elif self.asked is None:
                self.asked = said.text

    def _party(self, by_agent: bool) -> int:
        if not by_agent:
            return self._builder.new_agent(CLIENT, role="unknown", role_name="user")
        card = self._card or {}
        name = text_of(card.get("name"))
        about = text_of(card.get("description"))
        return self._builder.new_agent(
            name or AGENT, attributes={"description": about} if about else None
        )
