"""MARBLE: tasks of MultiAgentBench with the agents and relationships meant for them.

Source: Zhu et al. 2025, "MultiAgentBench: Evaluating the Collaboration and Competition of LLM
agents". A line of the JSONL is a task: ``task``, ``agents`` with profiles, and
``relationships``, triples of source, target and kind. Nothing was executed and nothing is
split: the graph is a task with its organization, and has no subtasks.

A triple is a directed permitted link, as the file has it. Several kinds between two agents
are one link.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder, make_organization
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Role
from ingest.big_json import streamed_items
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    has_key,
    text_of,
)

DATASET = "MultiAgentBench"

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_POLICY = (
    "coordinate_mode",
    "communication",
    "environment",
    "engine_planner",
    "memory",
    "metrics",
    "output",
    "llm",
)


class MarbleReader:
    """MARBLE: each line is a task with its organization."""

    format = "marble"
    title = "MARBLE tasks (MultiAgentBench)"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "An organization before any run: the graph has no subtasks and no actions.",
            "A relationship is a link in the direction in which the file names the two.",
        ),
    )
    telling_keys = frozenset({"scenario"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a task that has agents and a scenario."""
        return first_character(sample) in (b"{", b"[") and all(
            has_key(sample, key) for key in ("scenario", "task_id", "agents", "agent_id")
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a task with its organization, or a rejection, for each record.

        Raises:
            InputError: The file is not JSON, or holds no record.
        """
        found = False
        for record, value, repaired in _records(file):
            found = True
            if not isinstance(value, dict) or not isinstance(value.get("agents"), list):
                yield Rejection(file.uri, record, "the record has no list of agents")
                continue
            builder = context.builder(self, file, canonical_bytes(value), record=record)
            if repaired:
                builder.warn(REPAIRED)
            try:
                _fill(value, record, builder)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)
        if not found:
            raise InputError("it holds no record", file=file.uri)


MARBLE = MarbleReader()


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


def _fill(value: dict[str, Any], record: str, builder: GraphBuilder) -> None:
    scenario = text_of(value.get("scenario"))
    number = text_of(value.get("task_id"))
    task = value.get("task")
    content = text_of(task.get("content") if isinstance(task, dict) else task)
    name = " ".join(part for part in (scenario, number) if part)
    if not name:
        builder.warn("the record names neither scenario nor task")
    builder.set_task(name or record, description=content, dataset=DATASET, category=scenario)
    builder.name = name or record
    if isinstance(task, dict) and task.get("output_format"):
        builder.attributes["output_format"] = task["output_format"]
    names: dict[str, int] = {}
    # The builder applies its policy to all of the organization in the end.
    units: list[tuple[str, Role, Attributes]] = []
    for agent in value["agents"]:
        label = text_of(agent.get("agent_id")) if isinstance(agent, dict) else None
        if not label or label in names:
            builder.warn("agents without an id of their own were left out")
            continue
        names[label] = len(units)
        units.append((label, *_unit(agent, builder)))
    links: list[tuple[int, int, str]] = []
    triples = value.get("relationships")
    for triple in triples if isinstance(triples, list) else ():
        if not _is_triple(triple):
            builder.warn("relationships that are no triples were left out")
            continue
        source, target, kind = triple
        for label in (source, target):
            if label not in names:
                builder.warn(f"a relationship names {label}, which is none of the agents")
                names[label] = len(units)
                units.append((label, "unknown", {}))
        links.append((names[source], names[target], kind))
    if not units:
        raise InputError("it names no agent")
    policy = {key: value[key] for key in _POLICY if _says(value.get(key))}
    builder.organization = make_organization(
        f"MARBLE {scenario}" if scenario else "MARBLE",
        units,
        links,
        policy=policy,
    )


def _unit(agent: dict[str, Any], builder: GraphBuilder) -> tuple[Role, Attributes]:
    named = agent.get("role")
    role: Role = builder.role_of(named) if isinstance(named, str) and named else "unknown"
    attributes = {
        key: other for key, other in agent.items() if key != "agent_id" and _says(other)
    }
    return role, attributes


def _says(value: Any) -> bool:
    """Whether a value is there and not empty; false and zero are."""
    return bool(value) or value not in (None, "", {}, [])


def _is_triple(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    source, target, kind = value
    return (
        isinstance(source, str)
        and isinstance(target, str)
        and isinstance(kind, str)
        and source != ""
        and target != ""
    )
