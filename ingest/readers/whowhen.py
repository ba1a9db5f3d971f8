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

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import (
    AgentKind,
    Attributes,
    CollaborationGraph,
    GraphKind,
    Outcome,
    Role,
    Status,
)
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, decode_file, first_character, has_key, text_of

DATASET = "Who&When"

_LABELS = (
    "mistake_agent",
    "mistake_step",
    "mistake_reason",
    "is_correct",
    "is_corrected",
    "question_ID",
)
_CHAT_ROLES = frozenset({"system", "user", "assistant", "tool", "function", "developer"})
_ROLE = re.compile(r"(?P<name>.*\S)\s*\((?P<note>[^()]*)\)\s*", re.DOTALL)
_LEDGER = re.compile(r"\s*Updated Ledger:\s*(?=\{)")
_LEDGER_FIELDS = {
    "is_request_satisfied": "is_request_satisfied",
    "is_in_loop": "is_in_loop",
    "is_progress_being_made": "is_progress_being_made",
    "next_speaker": "next_speaker",
    "instruction_or_question": "instruction",
}
_ANSWER = re.compile(r"^FINAL ANSWER:[ \t]*", re.MULTILINE)
_AFTER_ANSWER = re.compile(r"^SCENARIO\.PY COMPLETE\b", re.MULTILINE)
_EXIT_CODE = re.compile(r"\A\s*exitcode: (-?\d+)|\A[^\n]*\bUnix exit code(?: was)?: (-?\d+)")
_FIRST_ENTRY = re.compile(rb'(?<!\\)"history"\s*:\s*\[\s*\{')
_SPEAKER_NAME = re.compile(rb'(?<!\\)"name"\s*:\s*"')
_SPEAKER_ROLE = re.compile(rb'(?<!\\)"role"\s*:\s*"(?!user"|assistant"|system")[^"]+"')
_MAGENTIC = re.compile(rb'(?<!\\)"role"\s*:\s*"Orchestrator \(')


class _Entry(msgspec.Struct):
    content: Any = None
    role: Any = None
    name: Any = None


class _File(msgspec.Struct):
    history: list[_Entry]
    question: Any = None
    question_id: Any = msgspec.field(default=None, name="question_ID")
    level: Any = None
    labels: Any = None
    ground_truth: Any = None
    is_correct: Any = None
    is_corrected: Any = None
    mistake_agent: Any = None
    mistake_step: Any = None
    mistake_reason: Any = None
    system_prompt: Any = None
    dataset: Any = None
    method: Any = None
    framework: Any = None


_DECODER = msgspec.json.Decoder(_File)


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
        log, builder = _open(self, file, context)
        if not any(_speaks_by_role(entry.role) for entry in log.history):
            raise InputError(
                "no role in its history names a speaker: where entries have a name instead, "
                "the format is whowhen-ag2",
                file=file.uri,
            )
        names = _Names(log, builder, context)
        _set_method(log, builder, "Magentic-One", "AutoGen")
        flow = FlowTracker(builder)
        for position, entry in enumerate(log.history):
            _add_entry(entry, position, names, builder, flow)
        builder.outcome = _outcome(log, builder, names.find, _last_answer(log))
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
        log, builder = _open(self, file, context)
        if not any(_is_name(entry.name) for entry in log.history):
            raise InputError(
                "no entry of its history has a name: where roles name the speakers, the "
                "format is whowhen-handcrafted",
                file=file.uri,
            )
        prompts = log.system_prompt if isinstance(log.system_prompt, dict) else {}
        if log.system_prompt is not None and not isinstance(log.system_prompt, dict):
            builder.warn("system_prompt is no object and was left out")
        _set_method(log, builder, "CaptainAgent", "AG2")
        agents: dict[str, int] = {}
        speakers = [entry.name for entry in log.history if _is_name(entry.name)]
        for name in dict.fromkeys([*speakers, *prompts]):
            prompt = text_of(prompts.get(name))
            kind = _agent_kind(name)
            agents[name] = builder.new_agent(
                name,
                role=_role(name, kind, context),
                kind=kind,
                attributes={} if prompt is None else {"system_prompt": prompt},
            )
        flow = FlowTracker(builder)
        everybody = tuple(agents.values())
        for position, entry in enumerate(log.history):
            agent = agents[entry.name] if _is_name(entry.name) else None
            if agent is None:
                builder.warn(f"entry {position} of the history names no speaker")
            content = text_of(entry.content)
            is_tool = agent is not None and _agent_kind(entry.name) == "tool"
            recipients = [other for other in everybody if other != agent]
            node = builder.add(
                "tool_call" if is_tool else "agent_message",
                entry.name if agent is not None else "unknown speaker",
                agent=agent,
                recipients=recipients,
                delivery="broadcast",
                content=content,
                status=_exit_status(content) if is_tool else None,
                attributes=({"chat_role": entry.role} if isinstance(entry.role, str) else None),
            )
            flow.act(node, agent, recipients=recipients)
        builder.outcome = _outcome(log, builder, lambda name: _closest(name, agents), None)
        yield builder.build()


HANDCRAFTED = HandcraftedReader()
AG2 = Ag2Reader()


class _Names:
    """The agents of a Magentic-One log: found by name without regard to case."""

    def __init__(self, log: _File, builder: GraphBuilder, context: ReadContext) -> None:
        self._builder = builder
        self._context = context
        self._positions: dict[str, int] = {}
        self._spelled: dict[str, str] = {}
        directed: list[str] = []
        for role in dict.fromkeys(e.role for e in log.history if _is_name(e.role)):
            name, note = _split_role(role)
            self._spelled.setdefault(name.casefold(), name)
            if note is not None:
                directed.append(name.casefold())
        self.orchestrator = next(
            iter([*directed, *(key for key in self._spelled if key == "orchestrator")]), None
        )

    def position(self, name: str) -> int:
        """An agent's position, added when it is new; the speaker's spelling is its name."""
        key = name.casefold()
        found = self._positions.get(key)
        if found is None:
            spelled = self._spelled.get(key, name)
            kind = _agent_kind(spelled)
            role = _role(spelled, kind, self._context)
            if role == "unknown" and key == self.orchestrator:
                role = "orchestrator"
            found = self._builder.new_agent(spelled, role=role, kind=kind)
            self._positions[key] = found
        return found

    def find(self, name: str) -> str | None:
        """The name in the graph that a label means."""
        found = self._positions.get(name.casefold())
        return None if found is None else self._builder.agent_name(found)

    def receiver(self, speaker: str) -> list[int]:
        """Who gets a message that names nobody: the orchestrator."""
        if self.orchestrator is None or speaker.casefold() == self.orchestrator:
            return []
        return [self.position(self.orchestrator)]


def _add_entry(
    entry: _Entry, position: int, names: _Names, builder: GraphBuilder, flow: FlowTracker
) -> None:
    content = text_of(entry.content)
    if not _is_name(entry.role):
        builder.warn(f"entry {position} of the history names no speaker")
        builder.add("agent_message", "unknown speaker", content=content)
        return
    name, note = _split_role(entry.role)
    agent = names.position(name)
    label = builder.agent_name(agent)
    if note is not None and note.startswith("->"):
        recipients = [names.position(note[2:].strip())]
        node = builder.add(
            "agent_message", label, agent=agent, recipients=recipients, content=content
        )
        flow.act(node, agent, recipients=recipients)
        return
    if note is not None:
        attributes: Attributes = {"note": note}
        ledger = _ledger(content)
        if ledger:
            attributes["ledger"] = ledger
        node = builder.add(
            "decision", label, agent=agent, content=content, attributes=attributes
        )
        flow.act(node, agent)
        return
    recipients = names.receiver(name)
    is_tool = _agent_kind(label) == "tool"
    node = builder.add(
        "tool_call" if is_tool else "agent_message",
        label,
        agent=agent,
        recipients=recipients,
        delivery="inferred",
        content=content,
        status=_exit_status(content) if is_tool else None,
    )
    flow.act(node, agent, recipients=recipients, basis="inferred")


def _open(
    reader: HandcraftedReader | Ag2Reader, file: TraceFile, context: ReadContext
) -> tuple[_File, GraphBuilder]:
    log, repaired = decode_file(file, _DECODER)
    if not log.history:
        raise InputError("its history is empty", file=file.uri)
    builder = context.builder(reader, file, file.data())
    if repaired:
        builder.warn(REPAIRED)
    question = text_of(log.question)
    name = text_of(log.question_id)
    if name is None and question is None:
        builder.warn("it names no question")
    else:
        builder.set_task(
            name or question or "",
            description=question,
            dataset=text_of(log.dataset) or DATASET,
            category=text_of(log.level),
        )
    if isinstance(log.labels, str) and log.labels:
        builder.attributes["labels"] = log.labels
    return log, builder


def _set_method(log: _File, builder: GraphBuilder, name: str, framework: str) -> None:
    """The method that the file names, else the system that the format is known for."""
    named = text_of(log.method)
    if named:
        builder.set_method(named, framework=text_of(log.framework) or None)
    else:
        builder.set_method(name, framework=framework)


def _outcome(log: _File, builder: GraphBuilder, find: Any, answer: str | None) -> Outcome:
    agent = log.mistake_agent.strip() if _is_name(log.mistake_agent) else None
    named = None
    if agent is not None:
        named = find(agent)
        if named is None:
            builder.warn(f"mistake_agent {agent!r} is no agent of the run")
        elif named != agent:
            builder.attributes["mistake_agent_label"] = agent
    step = _step(log.mistake_step)
    if log.mistake_step is not None and (step is None or step >= len(log.history)):
        builder.warn(
            f"mistake_step {text_of(log.mistake_step)!r} is no position in a history of "
            f"{len(log.history)} entries and was left out"
        )
        step = None
    if step is not None and named is not None:
        entry = log.history[step]
        speaker = entry.name if entry.name is not None else entry.role
        spoken = _split_role(speaker)[0] if _is_name(speaker) else ""
        if spoken.casefold() != named.casefold():
            builder.warn(f"mistake_step {step} was made by {spoken}, not by {named}")
    return Outcome(
        success=_success(log, builder),
        answer=answer,
        expected=text_of(log.ground_truth),
        termination=_termination(log),
        mistake_agent=named or agent,
        mistake_step=step,
        mistake_reason=text_of(log.mistake_reason),
    )


def _success(log: _File, builder: GraphBuilder) -> bool | None:
    """``is_correct`` judges the answer; the other folder has ``is_corrected`` instead.

    The data set holds failed runs only, so a false ``is_corrected`` is a failure too. What a
    true one would mean is not documented: nothing is claimed.
    """
    if isinstance(log.is_correct, bool):
        return log.is_correct
    if log.is_corrected is False:
        return False
    if log.is_corrected is True:
        builder.warn("is_corrected is true, which does not tell whether the run succeeded")
    return None


def _termination(log: _File) -> str | None:
    """The first line of the last termination condition, or the word that ends a group chat."""
    last = log.history[-1]
    content = text_of(last.content) or ""
    if last.name is not None:
        return "TERMINATE" if content.rstrip().endswith("TERMINATE") else None
    for entry in reversed(log.history):
        if (
            isinstance(entry.role, str)
            and _split_role(entry.role)[1] == "termination condition"
        ):
            lines = (text_of(entry.content) or "").strip().splitlines()
            return lines[0].strip() if lines else None
    return None


def _last_answer(log: _File) -> str | None:
    """What follows the last line-initial ``FINAL ANSWER:`` of the last entry."""
    content = text_of(log.history[-1].content) or ""
    starts = list(_ANSWER.finditer(content))
    if not starts:
        return None
    rest = content[starts[-1].end() :]
    end = _AFTER_ANSWER.search(rest)
    answer = rest[: end.start()] if end else rest.partition("\n")[0]
    return answer.strip() or None


def _step(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return value if isinstance(value, int) and value >= 0 else None


def _ledger(content: str | None) -> Attributes:
    """The answers of a progress ledger, where the thought is one and can be parsed."""
    found = None if content is None else _LEDGER.match(content)
    if content is None or found is None:
        return {}
    try:
        ledger = msgspec.json.decode(content[found.end() :].strip().encode())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return {}
    kept: Attributes = {}
    for field, name in _LEDGER_FIELDS.items():
        value = ledger.get(field) if isinstance(ledger, dict) else None
        answer = value.get("answer") if isinstance(value, dict) else value
        if isinstance(answer, str | bool):
            kept[name] = answer
    return kept


# A run has few roles and many entries: each role is looked at once.
@lru_cache(maxsize=1_024)
def _split_role(role: str) -> tuple[str, str | None]:
    """``Orchestrator (thought)`` -> ``("Orchestrator", "thought")``."""
    found = _ROLE.fullmatch(role)
    if found is None:
        return role.strip(), None
    return found["name"].strip(), found["note"].strip()


def _speaks_by_role(role: Any) -> bool:
    """Whether a role is a speaker, and not a place in a chat with a model."""
    return _is_name(role) and role.strip().casefold() not in _CHAT_ROLES


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


@lru_cache(maxsize=1_024)
def _agent_kind(name: str) -> AgentKind:
    plain = name.casefold().replace("_", "").replace(" ", "")
    if plain == "computerterminal":
        return "tool"
    return "human" if plain in ("human", "user") else "agent"


def _role(name: str, kind: AgentKind, context: ReadContext) -> Role:
    role = context.role_of(name)
    if role == "unknown" and kind == "human":
        return "human"
    if role == "unknown" and kind == "tool":
        return "tool"
    return role


def _exit_status(content: str | None) -> Status | None:
    """What a terminal says of the exit code of a script, if it ran one."""
    found = _EXIT_CODE.search(content) if content else None
    if found is None:
        return None
    return "ok" if int(found[1] or found[2]) == 0 else "error"


def _closest(name: str, agents: dict[str, int]) -> str | None:
    """The agent that a label means: the exact name, else the only one but for case."""
    if name in agents:
        return name
    alike = [known for known in agents if known.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


@lru_cache(maxsize=1)
def _first_entry(sample: bytes) -> bytes | None:
    """The text of the history's first entry, as far as the sample goes."""
    if first_character(sample) != b"{" or not has_key(sample, "history"):
        return None
    found = _FIRST_ENTRY.search(sample)
    if found is None:
        return None
    rest = sample[found.end() - 1 :]
    text = rest.decode(errors="replace")
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return rest
    return text[:end].encode()


def _labelled(sample: bytes) -> bool:
    return any(has_key(sample, label) for label in _LABELS)
