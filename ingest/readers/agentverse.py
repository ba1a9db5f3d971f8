"""AgentVerse: the message logs of its task-solving benchmark.

Source: Chen et al. 2024, "AgentVerse: Facilitating Multi-Agent Collaboration and Exploring
Emergent Behaviors", section 2: a round recruits experts, they decide together, the decision is
carried out, and the result is evaluated; the advice goes into the next round. A line of
``results.jsonl`` is one task: ``input``, ``response``, ``label`` and ``logs``, a list of
messages that name their ``module`` (Role Assigner, Decision Maker, Executor) or their ``agent``
(evaluator, system).

A module is one agent here: what its members said to each other is not in the log. Nor are
receivers. Who reads whose message is fixed by the framework's loop, so all deliveries are
``inferred``; a message of a name that is not part of that loop goes to the next speaker.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome
from ingest.big_json import streamed_items
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    has_key,
    short_name,
    text_of,
)

_READERS: dict[str, tuple[str, ...]] = {
    "role assigner": ("decision maker",),
    "decision maker": ("executor", "evaluator"),
    "executor": ("evaluator",),
    "evaluator": ("system", "role assigner", "decision maker"),
    "system": (),
}
"""Who reads a module's message: the loop of the framework."""

_READ = frozenset({"module", "agent", "content"})
_FIRST_MODULE = "role assigner"
_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_MODULE = re.compile(
    rb'(?<!\\)"(?:module"\s*:\s*"(?:Role Assigner|Decision Maker|Executor)'
    rb'|agent"\s*:\s*"evaluator)"'
)
_SCORE = re.compile(r"Score: (?P<score>[^\n]*)")


class AgentVerseReader:
    """AgentVerse: each task of a benchmark's results is one run."""

    format = "agentverse"
    title = "AgentVerse message logs (results.jsonl)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="partly",
        notes=(
            "All deliveries are inferred from the framework's loop.",
            "A module is one agent: what its members said to each other is not in the log.",
            "That the evaluator accepted an answer is how the run ended, not a success: the "
            "label is the expected answer.",
        ),
    )
    telling_keys = frozenset({"logs"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds logs of AgentVerse's modules."""
        return (
            first_character(sample) in (b"{", b"[")
            and has_key(sample, "logs")
            and _MODULE.search(sample) is not None
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run or a rejection for each record.

        Raises:
            InputError: The file holds no record.
        """
        found = False
        for record, value, repaired in _records(file):
            found = True
            if not isinstance(value, dict) or not isinstance(value.get("logs"), list):
                yield Rejection(file.uri, record, "the record has no list of logs")
                continue
            builder = context.builder(self, file, canonical_json(value), record=record)
            if repaired:
                builder.warn(REPAIRED)
            try:
                _fill(value, builder)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)
        if not found:
            raise InputError("it holds no record", file=file.uri)


AGENTVERSE = AgentVerseReader()


def _records(file: TraceFile) -> Iterator[tuple[str, Any, bool]]:
    """One record a line; or the whole file: one record, or an array of them."""
    if (items := streamed_items(file)) is not None:
        for place, item in enumerate(items):
            yield f"record {place + 1}", *decode_bytes(item, _DECODER, file.uri)
        return
    first = True
    for number, line in file.lines():
        try:
            value, repaired = decode_bytes(line, _DECODER, file.uri, first_line=number)
        except InputError:
            if not first:
                raise
            value, repaired = decode_bytes(file.data(), _DECODER, file.uri)
            for place, record in enumerate(value if isinstance(value, list) else [value]):
                yield f"record {place + 1}", record, repaired
            return
        if first and isinstance(value, list):
            for place, record in enumerate(value):
                yield f"record {place + 1}", record, repaired
        else:
            yield f"line {number}", value, repaired
        first = False


def _fill(value: dict[str, Any], builder: GraphBuilder) -> None:
    logs: list[Any] = value["logs"]
    if not logs:
        raise InputError("its logs are empty")
    task = text_of(value.get("input"))
    if task and task.strip():
        builder.set_task(short_name(task, 200), description=task)
    else:
        builder.warn("the record does not hold the task")
    builder.set_method("AgentVerse", framework="AgentVerse")
    speakers = [_speaker(entry) for entry in logs]
    keys = [None if name is None else name.casefold() for name in speakers]
    agents: dict[str, int] = {}
    last: dict[str, int] = {}
    for position, (name, key) in enumerate(zip(speakers, keys, strict=True)):
        if name is None or key is None:
            continue
        if key not in agents:
            agents[key] = builder.new_agent(
                name, kind="environment" if key == "system" else "agent"
            )
        last[key] = position
    following = _following(keys)
    flow = FlowTracker(builder)
    turn = -1
    last_system: str | None = None
    for position, entry in enumerate(logs):
        name, key = speakers[position], keys[position]
        if key == _FIRST_MODULE or turn < 0:
            turn += 1
        content = text_of(entry.get("content") if isinstance(entry, dict) else entry)
        if name is None or key is None:
            builder.warn(f"entry {position} of the logs names no module or agent")
            builder.add("agent_message", "unknown module", content=content, round=turn)
            continue
        readers = _READERS.get(key)
        if readers is None:
            readers = (following[position],)
        recipients = [
            agents[reader]
            for reader in readers
            if reader != key and last.get(reader, -1) > position
        ]
        agent = agents[key]
        node = builder.add(
            "decision" if key == "system" else "agent_message",
            name,
            agent=agent,
            recipients=recipients,
            delivery="inferred",
            content=content,
            round=turn,
            attributes=_attributes(entry, content),
        )
        flow.act(node, agent, recipients=recipients, basis="inferred")
        if key == "system":
            last_system = content
    builder.outcome = Outcome(
        answer=text_of(value.get("response")),
        expected=text_of(value.get("label")) or None,
        termination=last_system,
    )
    for name, other in value.items():
        if name not in ("input", "response", "label", "logs") and other is not None:
            builder.attributes[name] = other


def _speaker(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return None
    for key in ("module", "agent"):
        name = entry.get(key)
        if isinstance(name, str) and name.strip():
            return name.strip()
    return None


def _following(keys: list[str | None]) -> list[str]:
    """Who speaks after each entry, as far as entries say; empty where nobody does."""
    found: list[str] = []
    speaker = ""
    for key in reversed(keys):
        found.append(speaker)
        speaker = key or speaker
    found.reverse()
    return found


def _attributes(entry: dict[str, Any], content: str | None) -> Attributes:
    # Nearly no entry holds anything else.
    kept: Attributes = (
        {}
        if _READ.issuperset(entry)
        else {k: other for k, other in entry.items() if k not in _READ and other is not None}
    )
    if (
        content
        and content.startswith("Evaluation result")
        and (found := _SCORE.search(content))
    ):
        kept["score"] = found["score"].strip()
    return kept
