"""AG2 1.x: the log of a channel, which ``Hub.read_wal`` returns and each hub keeps on disk.

Source: the module ``ag2.network`` of ag2 1.2. A line is an *envelope*: ``sender_id``,
``audience`` (the receivers; null means everybody in the channel), ``event_type``,
``event_data``, ``causation_id`` (the envelope that it answers) and a time. Texts and packets
are messages; a packet also says where the turn goes (``routing``). Changes of the shared
context and events of tasks are decisions. Invitations and the like are the protocol's own:
they say who is in the channel and why it closed, and are counted, not kept as actions.

A sender's id is opaque: names stand in other files of the hub. ``causation_id`` is kept as an
explicit edge, *beside* what was delivered: a third agent's packet can name the message that
opened the channel and still answer the packet that came before it.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import (
    AccessMode,
    Attributes,
    CollaborationGraph,
    Delivery,
    GraphKind,
    NodeKind,
    Outcome,
)
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import decode_bytes, decode_file, text_of
from ingest.readers.instants import from_iso
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value

FRAMEWORK = "AG2"
TEXT, PACKET, CONTEXT = "ag2.msg.text", "ag2.packet", "ag2.context.set"

Record = dict[str, Any]

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_PROTOCOL = "ag2.channel."
_CLOSED, _EXPIRED = "ag2.channel.closed", "ag2.channel.expired"
_INVITE = "ag2.channel.invite"
_CONTEXT_TYPE = "channel context"


class Ag2ChannelReader:
    """AG2 1.x: each channel is a run."""

    format = "ag2-channel"
    title = "AG2 channel log (1.x)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="no",
        recipients="yes",
        outcome="partly",
        notes=(
            "Agents are known by opaque ids; their names stand elsewhere in the hub.",
            "Tool calls are not part of a channel's log.",
            "A message without an audience goes to everybody in the channel.",
            "Why a channel closed is kept; it does not say whether the task was solved.",
        ),
    )
    telling_keys = frozenset({"channel_id"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with an envelope."""
        value = first_value(sample)
        if isinstance(value, list):
            value = value[0] if value else None
        return _is_envelope(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each channel, in the order in which they began.

        Raises:
            InputError: The file is not JSON, or holds no envelopes.
        """
        channels: dict[str, list[Record]] = {}
        damaged = False
        for name, value in _values(file):
            if isinstance(value, InputError):
                damaged = True
                yield Rejection(file.uri, name, value.reason)
            elif _is_envelope(value):
                channel = text_of(value["channel_id"]) or ""
                channels.setdefault(channel, []).append(value)
            else:
                damaged = True
                yield Rejection(file.uri, name, "it is no envelope of a channel")
        if not channels:
            raise InputError("it holds no envelopes of a channel", file=file.uri)
        for channel, envelopes in channels.items():
            record = None if len(channels) == 1 else channel
            try:
                content = file.sha256 if record is None else canonical_json(envelopes)
                builder = context.builder(self, file, content, record=record)
                if damaged:
                    builder.warn("records that could not be read are missing")
                _Channel(builder, envelopes).add()
                builder.attributes["channel_id"] = channel
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, channel, error.reason)


AG2_CHANNEL = Ag2ChannelReader()


class _Channel:
    """Adds the envelopes of one channel to a run."""

    def __init__(self, builder: GraphBuilder, envelopes: list[Record]) -> None:
        self._builder = builder
        self._envelopes = self._once(envelopes)
        self._flow = FlowTracker(builder)
        self._nodes: dict[str, int] = {}
        self._agents: dict[str, int] = {}
        for envelope in self._envelopes:
            for id in (envelope.get("sender_id"), *_audience(envelope)):
                if isinstance(id, str) and id.strip() and id not in self._agents:
                    self._agents[id] = builder.new_agent(id)

    def add(self) -> None:
        protocol: Counter[str] = Counter()
        for envelope in self._envelopes:
            type_ = text_of(envelope.get("event_type")) or ""
            if type_.startswith(_PROTOCOL):
                protocol[type_] += 1
                self._read_protocol(type_, _data(envelope))
            else:
                self._add(envelope, type_)
        if not self._builder.node_count:
            raise InputError("the channel holds no messages")
        if protocol:
            self._builder.attributes["protocol_envelopes"] = dict(sorted(protocol.items()))
        if self._builder.method is None:
            self._builder.set_method("AG2 channel", framework=FRAMEWORK)

    def _once(self, envelopes: list[Record]) -> list[Record]:
        known: set[str] = set()
        kept: list[Record] = []
        for envelope in envelopes:
            id = envelope.get("envelope_id")
            if isinstance(id, str) and id:
                if id in known:
                    self._builder.warn("envelopes that stand more than once were counted once")
                    continue
                known.add(id)
            kept.append(envelope)
        return kept

    def _read_protocol(self, type_: str, data: Record) -> None:
        """Who the channel was made for, and why it ended."""
        builder = self._builder
        manifest = text_of(data.get("manifest_type"))
        if type_ == _INVITE and builder.method is None and manifest:
            builder.set_method(manifest, framework=FRAMEWORK)
            knobs = data.get("knobs")
            if isinstance(knobs, dict) and knobs.get("graph"):
                builder.attributes["workflow"] = knobs["graph"]
        elif type_ in (_CLOSED, _EXPIRED):
            reason = text_of(data.get("reason"))
            builder.outcome = Outcome(
                termination=reason or ("expired" if type_ == _EXPIRED else None)
            )

    def _add(self, envelope: Record, type_: str) -> None:
        data = _data(envelope)
        sender = envelope.get("sender_id")
        agent = self._agents.get(sender) if isinstance(sender, str) else None
        if agent is None:
            self._builder.warn("an envelope names no sender")
        kind, content, attributes = self._read_data(type_, data)
        recipients, delivery = self._recipients(envelope, agent)
        started_at = from_iso(envelope.get("created_at"))
        if started_at is None and envelope.get("created_at"):
            self._builder.warn("a time without a zone, or none at all, was kept as text")
            attributes["created_at"] = envelope["created_at"]
        for key in ("envelope_id", "causation_id", "task_id", "trace_id"):
            if envelope.get(key):
                attributes[key] = envelope[key]
        if envelope.get("priority") not in (None, "normal"):
            attributes["priority"] = envelope["priority"]
        node = self._builder.add(
            kind,
            self._builder.agent_name(agent) if agent is not None else "unknown sender",
            agent=agent,
            recipients=recipients,
            delivery=delivery,
            content=content,
            accesses=self._written(type_, data),
            started_at=started_at,
            attributes=attributes,
        )
        cause = self._nodes.get(text_of(envelope.get("causation_id")) or "")
        if cause is not None:
            self._builder.edge(cause, node, "explicit")
        self._flow.act(node, agent, recipients=recipients)
        id = envelope.get("envelope_id")
        if isinstance(id, str):
            self._nodes[id] = node
        if type_ == TEXT and content and self._builder.task is None:
            set_task_from_text(self._builder, content)

    def _read_data(self, type_: str, data: Record) -> tuple[NodeKind, str | None, Attributes]:
        attributes: Attributes = {"event_type": type_}
        if type_ == TEXT:
            attributes.update((k, v) for k, v in data.items() if k != "text")
            return "agent_message", text_of(data.get("text")), attributes
        if type_ == PACKET:
            routing = data.get("routing")
            updates = data.get("context_updates")
            if routing:
                attributes["routing"] = routing
            if isinstance(updates, dict) and any(updates.values()):
                attributes["context_updates"] = updates
            attributes.update(
                (k, v)
                for k, v in data.items()
                if k not in ("body", "routing", "context_updates")
            )
            hands_over = isinstance(routing, dict) and routing.get("kind") == "handoff"
            kind: NodeKind = "decision" if hands_over else "agent_message"
            return kind, text_of(data.get("body")), attributes
        if type_.startswith("ag2."):
            return "decision", text_of(data or None), attributes
        self._builder.warn(f"events of the type {type_} were kept as messages")
        text = data.get("text", data.get("body"))
        return "agent_message", text_of(data or None if text is None else text), attributes

    def _recipients(
        self, envelope: Record, agent: int | None
    ) -> tuple[list[int], Delivery | None]:
        if envelope.get("audience") is None:
            return [a for a in self._agents.values() if a != agent], "broadcast"
        named = [self._agents[id] for id in _audience(envelope) if id in self._agents]
        return [a for a in named if a != agent], "explicit"

    def _written(self, type_: str, data: Record) -> list[tuple[int, AccessMode]]:
        updates = data if type_ == CONTEXT else data.get("context_updates")
        if not isinstance(updates, dict):
            return []
        set_, deleted = updates.get("set"), updates.get("delete")
        keys = [*(set_ if isinstance(set_, dict) else ())]
        keys += [key for key in (deleted if isinstance(deleted, list) else ()) if key]
        names = [key for key in keys if isinstance(key, str)]
        return [(self._builder.resource(name, _CONTEXT_TYPE), "write") for name in names]


def _values(file: TraceFile) -> Iterator[tuple[str, Any]]:
    """Each envelope with its place; a line that is no JSON is its own error."""
    lines = file.lines()
    first = next(lines, None)
    if first is not None and not first[1].startswith(b"["):
        for number, line in chain([first], lines):
            try:
                value, _ = decode_bytes(line, _DECODER, file.uri, first_line=number)
            except InputError as error:
                yield f"line {number}", error
            else:
                yield f"line {number}", value
        return
    listed, _ = decode_file(file, _DECODER)
    for position, value in enumerate(listed if isinstance(listed, list) else [listed]):
        yield f"position {position}", value


def _data(envelope: Record) -> Record:
    data = envelope.get("event_data")
    if isinstance(data, dict):
        return data
    return {} if data is None else {"text": data}


def _audience(envelope: Record) -> list[str]:
    audience = envelope.get("audience")
    if not isinstance(audience, list):
        return []
    return [id for id in audience if isinstance(id, str) and id.strip()]


def _is_envelope(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("channel_id"), str)
        and isinstance(value.get("event_type"), str)
        and "sender_id" in value
    )
