"""The speakers of a Magentic-One log: what an entry's role says of who spoke to whom."""

import re
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Basis, Delivery, NodeKind
from ingest.reader import ReadContext
from ingest.readers.whowhen_log import Log, agent_kind, is_name, role_of, split_role

_LEDGER = re.compile(r"\s*Updated Ledger:\s*(?=\{)")
_LEDGER_FIELDS = {
    "is_request_satisfied": "is_request_satisfied",
    "is_in_loop": "is_in_loop",
    "is_progress_being_made": "is_progress_being_made",
    "next_speaker": "next_speaker",
    "instruction_or_question": "instruction",
}


class Voice(msgspec.Struct, frozen=True):
    """What all entries of one role have in common.

    Attributes:
        agent: The speaker's position.
        name: As the graph has it.
        note: What the speaker notes for itself, None for a message.
        recipients: Positions of the agents that get it.
        delivery: Whether the role names them.
    """

    agent: int
    name: str
    kind: NodeKind
    note: str | None = None
    recipients: tuple[int, ...] = ()
    delivery: Delivery = "explicit"
    basis: Basis = "delivered"


class Voices:
    """The agents of a Magentic-One log: found by name without regard to case.

    A run has few roles and many entries: what a role says is found out once, when it first
    speaks.

    Args:
        log: The file.
        builder: Of the run; gets the agents in the order in which they come up.
        context: Has the table of roles.
    """

    def __init__(self, log: Log, builder: GraphBuilder, context: ReadContext) -> None:
        self._builder = builder
        self._context = context
        self._positions: dict[str, int] = {}
        self._spelled: dict[str, str] = {}
        self._voices: dict[str, Voice] = {}
        directed: list[str] = []
        for role in dict.fromkeys(e.role for e in log.history if isinstance(e.role, str)):
            if not is_name(role):
                continue
            name, note = split_role(role)
            self._spelled.setdefault(name.casefold(), name)
            if note is not None:
                directed.append(name.casefold())
        self._orchestrator = next(
            iter([*directed, *(key for key in self._spelled if key == "orchestrator")]), None
        )

    def of(self, role: Any) -> Voice | None:
        """The speaker that an entry's role names, None where it names nobody."""
        if not isinstance(role, str):
            return None
        found = self._voices.get(role)
        if found is None and is_name(role):
            found = self._voices[role] = self._voice(role)
        return found

    def find(self, name: str) -> str | None:
        """The name in the graph that a label means."""
        found = self._positions.get(name.casefold())
        return None if found is None else self._builder.agent_name(found)

    def _voice(self, role: str) -> Voice:
        name, note = split_role(role)
        agent = self._position(name)
        label = self._builder.agent_name(agent)
        if note is not None and note.startswith("->"):
            receiver = self._position(note[2:].strip())
            return Voice(agent, label, "agent_message", recipients=(receiver,))
        if note is not None:
            return Voice(agent, label, "decision", note)
        # Nobody is named: then it goes to the orchestrator.
        recipients: tuple[int, ...] = ()
        if self._orchestrator is not None and name.casefold() != self._orchestrator:
            recipients = (self._position(self._orchestrator),)
        kind: NodeKind = "tool_call" if agent_kind(label) == "tool" else "agent_message"
        return Voice(agent, label, kind, None, recipients, "inferred", "inferred")

    def _position(self, name: str) -> int:
        """An agent's position, added when it is new; the speaker's spelling is its name."""
        key = name.casefold()
        found = self._positions.get(key)
        if found is None:
            spelled = self._spelled.get(key, name)
            kind = agent_kind(spelled)
            role = role_of(spelled, kind, self._context)
            if role == "unknown" and key == self._orchestrator:
                role = "orchestrator"
            found = self._builder.new_agent(spelled, role=role, kind=kind)
            self._positions[key] = found
        return found


def ledger_in(content: str | None) -> Attributes:
    """The answers of a progress ledger, where the thought is one and can be parsed."""
    found = None if content is None else _LEDGER.match(content)
    if content is None or found is None:
        return {}
    try:
        ledger = msgspec.json.decode(content[found.end() :].strip())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return {}
    kept: Attributes = {}
    for field, name in _LEDGER_FIELDS.items():
        value = ledger.get(field) if isinstance(ledger, dict) else None
        answer = value.get("answer") if isinstance(value, dict) else value
        if isinstance(answer, str | bool):
            kept[name] = answer
    return kept
