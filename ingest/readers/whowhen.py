"""Who&When: failure logs of two multi-agent systems, each with the step that went wrong.

Source: Zhang et al. 2025, "Which Agent Causes Task Failures and When? On Automated Failure
Attribution of LLM Multi-Agent Systems". A file is one run: ``history``, a list of messages
without times or tokens, beside the question, the expected answer and the label of the
deciding mistake. Two systems wrote them, and two readers read them.

**Magentic-One** (:class:`HandcraftedReader`). An entry's ``role`` is its speaker, and the
orchestrator's roles say more: ``Orchestrator (-> WebSurfer)`` is a message to one worker,
``Orchestrator (thought)`` and ``Orchestrator (termination condition)`` stay inside and become
decisions. Only the orchestrator's receiver is named. That a worker's or the human's message
goes to the orchestrator is how the framework works, but no entry says so: such a delivery,
and an edge that rests on it alone, is ``inferred``. Agents are addressed by name without
regard to case, so ``Websurfer`` and ``WebSurfer`` are one agent here.

**CaptainAgent on AG2** (:class:`Ag2Reader`). An entry's ``name`` is its speaker; its ``role``
is ``user`` or ``assistant`` from the point of view of one chat and never the agent's role. It
is a group chat: everybody else receives each message. Agents that ``system_prompt`` names but
that never spoke were in the chat too. Names are compared exactly: two names are two agents.

Other systems write logs in these shapes too. Such a file may name its own ``dataset``,
``method`` and ``framework``; the published files have none of them.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import Attributes, CollaborationGraph, GraphKind
from ingest.flow import EverybodyElse, FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import first_character, has_key, text_of
from ingest.readers.whowhen_log import (
    Log,
    agent_kind,
    exit_status,
    is_name,
    last_answer,
    opened,
    outcome_of,
    role_of,
    set_method,
)
from ingest.readers.whowhen_magentic import Voices, ledger_in

_LABELS = (
    "mistake_agent",
    "mistake_step",
    "mistake_reason",
    "is_correct",
    "is_corrected",
    "question_ID",
)
_CHAT_ROLES = frozenset({"system", "user", "assistant", "tool", "function", "developer"})
# A literal that comes first is found at memory speed; that no backslash stands before it, so
# that it is no part of a text, is looked at behind it.
_FIRST_ENTRY = re.compile(rb'"history"(?<!\\"history")\s*:\s*\[\s*\{')
_SHORT_ENTRY = 4_096
_LENIENT = json.JSONDecoder(strict=False)
_SPEAKER_NAME = re.compile(rb'"name"(?<!\\"name")\s*:\s*"')
_SPEAKER_ROLE = re.compile(rb'"role"(?<!\\"role")\s*:\s*"(?!user"|assistant"|system")[^"]+"')
_MAGENTIC = re.compile(rb'"role"(?<!\\"role")\s*:\s*"Orchestrator \(')


class HandcraftedReader:
    """Who&When, hand-crafted: Magentic-One, the receiver in the role."""

    format = "whowhen-handcrafted"
    title = "Who&When, hand-crafted (Magentic-One)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="partly",
        outcome="yes",
        notes=(
            "The trace names the receiver of the orchestrator's messages only; that workers "
            "and the human answer the orchestrator is inferred.",
            "Every file is the log of a failed run, with one labelled mistake.",
            "The final answer is what stands after FINAL ANSWER: in the last entry.",
        ),
    )
    telling_keys = frozenset({"history"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds a history whose roles are speakers."""
        first = _first_entry(sample)
        if first is None or _SPEAKER_NAME.search(first):
            return False
        if not first.endswith(b"}") and not _SPEAKER_ROLE.search(first):
            return False  # cut before it says whether the speaker is a name or a role
        return _labelled(sample) or (
            b'"Orchestrator (' in sample and _MAGENTIC.search(sample) is not None
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's one run.

        Raises:
            InputError: The file is not JSON or has no history.
        """
        log, builder = opened(self, file, context)
        if not any(_speaks_by_role(entry.role) for entry in log.history):
            raise InputError(
                "no role in its history names a speaker: where entries have a name instead, "
                "the format is whowhen-ag2",
                file=file.uri,
            )
        voices = Voices(log, builder, context)
        set_method(log, builder, "Magentic-One", "AutoGen")
        _add_entries(log, voices, builder)
        builder.outcome = outcome_of(log, builder, voices.find, last_answer(log))
        yield builder.build()


class Ag2Reader:
    """Who&When, algorithm-generated: CaptainAgent, a group chat on AG2."""

    format = "whowhen-ag2"
    title = "Who&When, algorithm-generated (CaptainAgent on AG2)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="yes",
        notes=(
            "A group chat: every message is delivered to everybody else.",
            "The task that opens the chat stands under the name of the first expert.",
            "Every file is the log of a failed run, with one labelled mistake; no field holds "
            "the final answer.",
        ),
    )
    telling_keys = frozenset({"history"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds a history whose entries have a name, and a label."""
        first = _first_entry(sample)
        if first is None or not _SPEAKER_NAME.search(first):
            return False
        return _labelled(sample) or has_key(sample, "system_prompt")

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's one run.

        Raises:
            InputError: The file is not JSON or has no history.
        """
        log, builder = opened(self, file, context)
        if not any(is_name(entry.name) for entry in log.history):
            raise InputError(
                "no entry of its history has a name: where roles name the speakers, the "
                "format is whowhen-handcrafted",
                file=file.uri,
            )
        set_method(log, builder, "CaptainAgent", "AG2")
        agents = _chat_agents(log, builder, context)
        _add_chat(log, agents, builder)
        builder.outcome = outcome_of(log, builder, lambda name: _closest(name, agents))
        yield builder.build()


HANDCRAFTED = HandcraftedReader()
AG2 = Ag2Reader()


def _add_entries(log: Log, voices: Voices, builder: GraphBuilder) -> None:
    """Adds the entries of a Magentic-One log."""
    flow = FlowTracker(builder)
    for position, entry in enumerate(log.history):
        content = text_of(entry.content)
        voice = voices.of(entry.role)
        if voice is None:
            builder.warn(f"entry {position} of the history names no speaker")
            builder.add("agent_message", "unknown speaker", content=content)
            continue
        attributes: Attributes = {}
        if voice.note is not None:
            attributes["note"] = voice.note
            if ledger := ledger_in(content):
                attributes["ledger"] = ledger
        node = builder.add(
            voice.kind,
            voice.name,
            agent=voice.agent,
            recipients=voice.recipients,
            delivery=voice.delivery,
            content=content,
            status=exit_status(content) if voice.kind == "tool_call" else None,
            attributes=attributes,
        )
        flow.act(node, voice.agent, recipients=voice.recipients, basis=voice.basis)


def _chat_agents(log: Log, builder: GraphBuilder, context: ReadContext) -> dict[str, int]:
    """Adds the agents of a group chat: who speaks, then who only has a prompt."""
    prompts = log.system_prompt if isinstance(log.system_prompt, dict) else {}
    if log.system_prompt is not None and not isinstance(log.system_prompt, dict):
        builder.warn("system_prompt is no object and was left out")
    agents: dict[str, int] = {}
    named = dict.fromkeys([e.name for e in log.history if isinstance(e.name, str)])
    for name in dict.fromkeys([*filter(is_name, named), *prompts]):
        prompt = text_of(prompts.get(name))
        kind = agent_kind(name)
        agents[name] = builder.new_agent(
            name,
            role=role_of(name, kind, context),
            kind=kind,
            attributes={} if prompt is None else {"system_prompt": prompt},
        )
    return agents


def _add_chat(log: Log, agents: dict[str, int], builder: GraphBuilder) -> None:
    """Adds the entries of a group chat: each is delivered to everybody else."""
    flow = FlowTracker(builder)
    others = EverybodyElse(agents.values())
    for position, entry in enumerate(log.history):
        name = entry.name
        content = text_of(entry.content)
        role = entry.role
        agent: int | None = None
        is_tool = False
        if isinstance(name, str) and name.strip():
            agent = agents[name]
            is_tool = agent_kind(name) == "tool"
        else:
            builder.warn(f"entry {position} of the history names no speaker")
        recipients = others[agent]
        node = builder.add(
            "tool_call" if is_tool else "agent_message",
            "unknown speaker" if agent is None else name,
            agent=agent,
            recipients=recipients,
            delivery="broadcast",
            content=content,
            status=exit_status(content) if is_tool else None,
            attributes={"chat_role": role} if isinstance(role, str) else None,
        )
        flow.act(node, agent, recipients=recipients)


def _speaks_by_role(role: Any) -> bool:
    """Whether a role is a speaker, and not a place in a chat with a model."""
    return is_name(role) and role.strip().casefold() not in _CHAT_ROLES


def _closest(name: str, agents: dict[str, int]) -> str | None:
    """The agent that a label means: the exact name, else the only one but for case."""
    if name in agents:
        return name
    alike = [known for known in agents if known.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


@lru_cache(maxsize=2)
def _first_entry(sample: bytes) -> bytes | None:
    """The text of the history's first entry, as far as the sample goes."""
    if first_character(sample) != b"{" or not has_key(sample, "history"):
        return None
    found = _FIRST_ENTRY.search(sample)
    if found is None:
        return None
    start = found.end() - 1
    # Most entries are short: the rest of the sample need not be made a text for them.
    for size in (_SHORT_ENTRY, len(sample)):
        text = sample[start : start + size].decode(errors="replace")
        try:
            _, end = _LENIENT.raw_decode(text)
        except (ValueError, RecursionError):
            continue
        return text[:end].encode()
    return sample[start:]


def _labelled(sample: bytes) -> bool:
    return any(has_key(sample, label) for label in _LABELS)
