"""HuggingGPT: a request split into model calls, as the planner's own JSON text.

Source: Shen et al. 2023, "HuggingGPT: Solving AI Tasks with ChatGPT and its Friends in Hugging
Face", section 3.1. A conversation alternates requests and answers; an answer is a JSON list of
``{"task", "id", "dep", "args"}``. ``dep`` names the tasks that one needs, ``-1`` none;
an argument ``<GENERATED>-2`` (some write ``<GENERATED-2>``) is the result of the task 2.
Each answer is a decomposition.

``dep`` gives explicit edges. An argument that uses a result which ``dep`` does not name gives
one too, ``delivered``. Models wrote the answers: one that is not JSON is rejected, and so is
one with an id that stands twice, with a task that does not exist, or with a cycle.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import GraphError, InputError
from graphstore.model import Artifact, CollaborationGraph, GraphKind
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    first_character,
    short_name,
    text_of,
)
from ingest.readers.raw_records import raw_records

DATASET = "HuggingGPT"

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_GENERATED = re.compile(r"<GENERATED(?:>\s*-\s*|\s*-\s*)(\d{1,9})>?", re.IGNORECASE)
_SNIFF = re.compile(
    rb'"task\\?"\s*:\s*\\?"[^"\\]*\\?"\s*,\s*\\?"id\\?"\s*:\s*\d+\s*,\s*\\?"dep\\?"\s*:\s*\['
)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_TASK_LENGTH = 80
_FILES = frozenset({"image", "audio", "video", "document"})


class HuggingGptReader:
    """HuggingGPT: one decomposition an answer."""

    format = "hugginggpt"
    title = "HuggingGPT answers (task planning)"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=(
            "Answers that are not valid JSON are rejected one by one, not repaired.",
            "An argument that uses a result which dep does not name gives an edge of the "
            "basis delivered.",
        ),
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds a list of tasks with id and dep, perhaps inside a text."""
        return (
            first_character(sample) in (b"[", b"{")
            and b'"dep' in sample
            and (b'"dep"' in sample or b'"dep\\"' in sample)
            and _SNIFF.search(sample) is not None
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a decomposition or a rejection for each answer.

        Raises:
            InputError: The file is not JSON, or holds no answer.
        """
        found = False
        for record, request, answer in _answers(file):
            found = True
            try:
                if isinstance(answer, InputError):
                    raise answer
                tasks, text, repaired = _tasks(answer)
                builder = context.builder(self, file, text, record=record)
                if repaired:
                    builder.warn(REPAIRED)
                _fill(builder, tasks, request, record)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)
        if not found:
            raise InputError("it holds no answer that splits a task", file=file.uri)


HUGGINGGPT = HuggingGptReader()


def _answers(file: TraceFile) -> Iterator[tuple[str, str | None, Any]]:
    """Each answer (a text, a list of tasks, or why there is none) with its record and request.

    Messages are the items of an array or the lines of a file, or stand in ``messages``. A list
    of tasks without a conversation is one answer.
    """
    bare: list[Any] = []
    request: str | None = None
    number = 0
    for raw in raw_records(file):
        try:
            value, _ = decode_bytes(raw.data, _DECODER, file.uri, first_line=raw.line)
        except InputError as error:
            yield raw.place, None, error
            continue
        conversation = value.get("messages") if isinstance(value, dict) else None
        for message in conversation if isinstance(conversation, list) else [value]:
            if not isinstance(message, dict):
                continue
            if "dep" in message and "task" in message:
                bare.append(message)
            elif message.get("role") == "user":
                request = text_of(message.get("content"))
            elif message.get("role") == "assistant":
                number += 1
                yield f"answer {number}", request, message.get("content")
                request = None
    if bare:
        yield f"answer {number + 1}", None, bare


def _tasks(answer: Any) -> tuple[list[Any], str, bool]:
    """The tasks of an answer, its text, and whether that had to be repaired."""
    if isinstance(answer, list):
        return answer, text_of(answer) or "", False
    if not isinstance(answer, str):
        raise GraphError("the answer is no text")
    fenced = _FENCE.match(answer)
    data = (fenced[1] if fenced else answer).encode("utf-8", "surrogatepass")
    try:
        tasks, repaired = decode_bytes(data, _DECODER, "")
    except InputError as error:
        raise GraphError(f"the answer is not valid JSON: {error.reason}") from error
    if not isinstance(tasks, list):
        raise GraphError("the answer is no list of tasks")
    return tasks, answer, repaired


def _fill(builder: GraphBuilder, tasks: list[Any], request: str | None, record: str) -> None:
    title = short_name(request or "") or record
    builder.name = title
    if len(title) > _TASK_LENGTH:
        title = short_name(request or "", _TASK_LENGTH) or record
    builder.set_task(
        title,
        description=request,
        dataset=DATASET,
    )
    by_id: dict[int, dict[str, Any]] = {}
    for position, task in enumerate(tasks):
        name, own = (task.get("task"), task.get("id")) if isinstance(task, dict) else ("", 0)
        if not isinstance(name, str) or not name or type(own) is not int or own < 0:
            raise GraphError(f"the task at position {position} has no name and id")
        if own in by_id:
            raise GraphError(f"the id {own} stands twice")
        by_id[own] = task
    if not by_id:
        raise GraphError("the answer lists no tasks")
    arguments = {own: _arguments(task.get("args")) for own, task in by_id.items()}
    made: dict[int, dict[str, None]] = {}
    for given in arguments.values():
        for source, kind in given.used:
            made.setdefault(source, {})[kind] = None
    places: dict[int, int] = {}
    for own, task in by_id.items():
        given = arguments[own]
        name = task["task"]
        places[own] = builder.add(
            "subtask",
            name,
            content=f"{name}: {given.words}" if given.words else name,
            inputs=given.files + [_result(source, kind) for source, kind in given.used],
            outputs=[_result(own, kind) for kind in made.get(own, ())],
            attributes={key: value for key, value in task.items() if key != "task"},
        )
    for own, task in by_id.items():
        for source in _needed(task, own):
            if source not in places:
                raise GraphError(f"the task {own} needs {source}, which does not exist")
            builder.edge(places[source], places[own], "explicit")
    for own, given in arguments.items():
        for source, _ in given.used:
            if source not in places:
                raise GraphError(f"the task {own} uses {source}, which does not exist")
            builder.edge(places[source], places[own], "delivered")


def _needed(task: dict[str, Any], own: int) -> list[int]:
    listed = task.get("dep", [])
    if listed is None:
        return []
    needed: list[int] = []
    for one in listed if isinstance(listed, list) else [listed]:
        if type(one) is not int:
            raise GraphError(f"the task {own} needs something that is no number")
        if one >= 0:
            needed.append(one)
    return needed


class _Arguments(msgspec.Struct):
    """What a task is given.

    Attributes:
        used: The tasks whose results the arguments use, with the kind of each, each pair once.
        files: Images, sounds and the like that the request names.
        words: The text that it is given, where no result stands in it.
    """

    used: list[tuple[int, str]] = []
    files: list[Artifact] = []
    words: str | None = None


def _arguments(args: Any) -> _Arguments:
    given = _Arguments()
    if not isinstance(args, dict):
        return given
    for kind, value in args.items():
        text = value if type(value) is str else text_of(value) or ""
        if "<" in text and (numbers := _GENERATED.findall(text)):
            given.used += [(int(number), kind) for number in numbers]
        elif type(value) is str and value:
            if kind == "text":
                given.words = value
            elif kind in _FILES:
                given.files.append(Artifact(name=value, type=kind))
    if len(given.used) > 1:
        given.used = list(dict.fromkeys(given.used))
    return given


def _result(task: int, kind: str) -> Artifact:
    return Artifact(name=f"<GENERATED>-{task}", type=kind)
