"""A2A: messages, tasks and artifacts of the Agent2Agent protocol.

A file holds JSON-RPC requests and responses, streamed updates, or stored tasks, one a line,
in a list, or alone. A conversation (``contextId``) is a run, with two parties: the client,
whose role the protocol calls ``user``, and the agent. Snapshots repeat what was there before:
a message counts once an id, an artifact once a task and id; chunks that are appended are one.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes, digest
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.a2a_parts import METHODS, Record, context_of, kind_of, task_of
from ingest.readers.a2a_talk import Talk
from ingest.readers.decoding import REPAIRED, text_of
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value

FRAMEWORK = "A2A"

_LINES_LOOKED_AT = 5


class A2aReader:
    """A2A exchanges: one run a conversation."""

    format = "a2a"
    title = "A2A protocol: messages and tasks"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="no",
        recipients="yes",
        outcome="partly",
        notes=(
            "There are two parties: whether the client is a human or an agent, and which agent "
            "answered, the protocol does not say; an agent's card names it.",
            "Only changes of a task's status have times.",
            "How a task ended is known; whether it was right is not.",
        ),
    )
    telling_keys = frozenset(
        {"jsonrpc", "kind", "task", "message", "msg", "statusUpdate", "artifactUpdate"}
        | {"status", "artifact", "parts", "skills"}
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether one of the first lines is an exchange, an update or a task."""
        value = first_value(sample)
        if isinstance(value, list):
            return bool(value) and _is_ours(value[0])
        if _is_ours(value):
            return True
        lines = sample.splitlines()[1:_LINES_LOOKED_AT] if _is_card(value) else []
        return any(_is_ours(first_value(line)) for line in lines)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each conversation, and a rejection for each value that is none.

        Raises:
            InputError: The file is not JSON, or holds no message.
        """
        exchange = _Exchange()
        rejected: list[Rejection] = []
        damaged = False
        number = -1
        try:
            for number, (value, repaired) in enumerate(values(file)):
                damaged = damaged or repaired
                if not exchange.take(value):
                    reason = "it is no message, task or update of the protocol"
                    rejected.append(Rejection(file.uri, f"value {number}", reason))
        except InputError as error:
            if number < 0:
                raise
            rejected.append(Rejection(file.uri, error.record, error.reason))
        made = False
        for name, part in exchange.conversations().items():
            builder = context.builder(self, file, digest(*part.texts, size=16), record=name)
            talk = Talk(builder, exchange.card)
            for piece in part.pieces:
                talk.take(piece.kind, piece.value, piece.asked)
            talk.play()
            if not builder.node_count:
                continue
            made = True
            if damaged:
                builder.warn(REPAIRED)
            if rejected:
                builder.warn("values that could not be read are missing")
            _describe(builder, talk, exchange.card)
            yield builder.build()
        yield from rejected
        if not made and not rejected:
            raise InputError("it holds no message", file=file.uri)


A2A = A2aReader()


class _Piece(msgspec.Struct, eq=False):
    """An object of the protocol, with the request that it answers."""

    kind: str
    value: Record
    asked: str | None
    context: str | None
    task: str | None


class _Part(msgspec.Struct, eq=False):
    pieces: list[_Piece] = []
    texts: list[bytes] = []


class _Exchange:
    """Puts requests and responses together, and tells conversations apart."""

    def __init__(self) -> None:
        self.card: Record | None = None
        self._pieces: list[_Piece] = []
        self._waiting: dict[str, _Piece] = {}
        self._context_of: dict[str, str] = {}

    def take(self, value: Any) -> bool:
        """Takes one value of a file; False where it is nothing of the protocol."""
        if not isinstance(value, dict):
            return False
        if "method" in value and "params" in value:
            return self._request(value)
        if "jsonrpc" in value and ("result" in value or "error" in value):
            return self._response(value)
        found = kind_of(value)
        if found is not None and found[0] == "card":
            self.card = self.card or found[1]
        elif found is not None:
            self._add(*found, None)
        return found is not None

    def _request(self, value: Record) -> bool:
        if text_of(value["method"]) not in METHODS:
            return False
        params = value["params"] if isinstance(value["params"], dict) else {}
        message = params.get("message")
        id = text_of(value.get("id"))
        if isinstance(message, dict):
            piece = self._add("message", message, None)
            piece.context = piece.context or context_of(params)
            piece.task = piece.task or text_of(params.get("id"))
            self._tie(piece)
            if id is not None:
                self._waiting[id] = piece
        elif id is not None:
            self._waiting.pop(id, None)
        return True

    def _response(self, value: Record) -> bool:
        asked = self._waiting.get(text_of(value.get("id")) or "")
        error = value.get("error")
        if error is not None:
            piece = self._add("error", {"error": error}, asked)
            piece.context, piece.task = (asked.context, asked.task) if asked else (None, None)
            return True
        result = value.get("result")
        tasks = result.get("tasks") if isinstance(result, dict) else None
        for inner in tasks if isinstance(tasks, list) else [result]:
            found = kind_of(inner)
            if found is not None and found[0] == "card":
                self.card = self.card or found[1]
            elif found is not None:
                self._add(*found, asked)
            elif inner is not None:
                return False
        return True

    def _add(self, kind: str, value: Record, asked: _Piece | None) -> _Piece:
        context, task = context_of(value), task_of(value, kind)
        piece = _Piece(kind, value, None, context, task)
        if asked is not None:
            piece.asked = text_of(asked.value.get("messageId"))
            piece.context = piece.context or asked.context
            asked.context = asked.context or piece.context
            asked.task = asked.task or piece.task
            self._tie(asked)
        self._tie(piece)
        self._pieces.append(piece)
        return piece

    def _tie(self, piece: _Piece) -> None:
        if piece.task is not None and piece.context is not None:
            self._context_of.setdefault(piece.task, piece.context)

    def conversations(self) -> dict[str, _Part]:
        """The pieces of each conversation, in the order of the file."""
        found: dict[str, _Part] = {}
        for number, piece in enumerate(self._pieces):
            context = piece.context or self._context_of.get(piece.task or "")
            if context is None:
                listed = piece.value.get("referenceTaskIds")
                names = listed if isinstance(listed, list) else []
                known = (self._context_of.get(text_of(n) or "") for n in names)
                context = next((c for c in known if c is not None), None)
            part = found.setdefault(context or piece.task or f"message {number}", _Part())
            part.pieces.append(piece)
            part.texts.append(canonical_bytes([piece.kind, piece.value, piece.asked]))
        return found


def _describe(builder: GraphBuilder, talk: Talk, card: Record | None) -> None:
    name = text_of(card.get("name")) if card is not None else None
    builder.set_method(name or "agent", framework=FRAMEWORK)
    if talk.asked is not None and talk.asked.strip():
        set_task_from_text(builder, talk.asked)
    attributes: Attributes = {"tasks": dict(talk.states)} if talk.states else {}
    builder.attributes.update(attributes)
    builder.outcome = Outcome(
        answer=talk.answer,
        termination=next(reversed(talk.states.values())) if talk.states else None,
    )


def _is_ours(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if "jsonrpc" in value:
        if isinstance(value.get("method"), str):
            return value["method"] in METHODS
        found = kind_of(value.get("result"))
        return found is not None and _is_placed(*found)
    found = kind_of(value)
    return found is not None and found[0] != "card" and _is_placed(*found)


def _is_placed(kind: str, value: Record) -> bool:
    """Whether an object has the ids by which the protocol ties it to others."""
    return kind == "card" or any(
        isinstance(value.get(key), str) for key in ("contextId", "messageId", "taskId")
    )


def _is_card(value: Any) -> bool:
    found = kind_of(value)
    return found is not None and found[0] == "card"
