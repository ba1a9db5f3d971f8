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
    rb'\\?"task\\?"\s*:\s*\\?"[^"\\]*\\?"\s*,\s*\\?"id\\?"\s*:\s*\d+\s*,\s*\\?"dep\\?"\s*:\s*\['
)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
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
    builder.set_task(
        short_name(request or "", 80) or record,
        description=request,
        dataset=DATASET,
    )
    builder.name = short_name(request or "") or record
    by_id: dict[int, dict[str, Any]] = {}
    for position, task in enumerate(tasks):
        name = task.get("task") if isinstance(task, dict) else None
        own = _whole(task.get("id")) if isinstance(task, dict) else None
        if not isinstance(name, str) or not name or own is None or own < 0:
            raise GraphError(f"the task at position {position} has no name and id")
        if own in by_id:
            raise GraphError(f"the id {own} stands twice")
        by_id[own] = task
    if not by_id:
        raise GraphError("the answer lists no tasks")
    used = {own: _generated(task.get("args")) for own, task in by_id.items()}
    made: dict[int, dict[str, None]] = {}
    for sources in used.values():
        for source, kind in sources:
            made.setdefault(source, {})[kind] = None
    places = {
        own: builder.add(
            "subtask",
            task["task"],
            content=_described(task),
            inputs=_inputs(task.get("args"), used[own]),
            outputs=[_result(own, kind) for kind in made.get(own, ())],
            attributes={key: value for key, value in task.items() if key != "task"},
        )
        for own, task in by_id.items()
    }
    for own, task in by_id.items():
        for source in _needed(task, own):
            if source not in places:
                raise GraphError(f"the task {own} needs {source}, which does not exist")
            builder.edge(places[source], places[own], "explicit")
    for own, sources in used.items():
        for source, _ in sources:
            if source not in places:
                raise GraphError(f"the task {own} uses {source}, which does not exist")
            builder.edge(places[source], places[own], "delivered")


def _needed(task: dict[str, Any], own: int) -> list[int]:
    listed = task.get("dep", [])
    needed = [_whole(one) for one in (listed if isinstance(listed, list) else [listed])]
    if listed is None:
        return []
    if None in needed:
        raise GraphError(f"the task {own} needs something that is no number")
    return [one for one in needed if one is not None and one >= 0]


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _described(task: dict[str, Any]) -> str:
    """What is to be done, in words: the model's task and the words it is given."""
    text = task["args"].get("text") if isinstance(task.get("args"), dict) else None
    words = text if isinstance(text, str) and not _GENERATED.search(text) else None
    return f"{task['task']}: {words}" if words else str(task["task"])


def _generated(args: Any) -> list[tuple[int, str]]:
    """The tasks whose results the arguments use, with the kind of each, each pair once."""
    if not isinstance(args, dict):
        return []
    return list(
        dict.fromkeys(
            (int(number), kind)
            for kind, value in args.items()
            for number in _GENERATED.findall(text_of(value) or "")
        )
    )


def _inputs(args: Any, used: list[tuple[int, str]]) -> list[Artifact]:
    given = args.items() if isinstance(args, dict) else ()
    files = [
        Artifact(name=value, type=kind)
        for kind, value in given
        if kind in _FILES and isinstance(value, str) and value and not _GENERATED.search(value)
    ]
    return files + [_result(source, kind) for source, kind in used]


def _result(task: int, kind: str) -> Artifact:
    return Artifact(name=f"<GENERATED>-{task}", type=kind)
