r"""WorfBench: a task's workflow, written as text in one assistant message.

Source: Qiao et al. 2024, "Benchmarking Agentic Workflow Generation". A file is an array of
conversations; the last assistant message holds ``Node:`` and numbered subtasks, then
``Edge:`` and pairs: ``(START,1) (1,2) (2,END)``. START and END are no subtasks.

Models wrote these messages, and they deviate. Read as they are meant: ``Edges:``, one label a
pair, one pair a line, words before, between and after. Read with a warning: a pair that
stands twice, a subtask in no pair, no pair with START or with END (a message that broke off).
Rejected, record by record: no subtasks, no pairs, a number that stands twice, a pair that
names an unknown subtask, a cycle.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from graphstore.errors import GraphError, InputError
from graphstore.model import CollaborationGraph, GraphKind
from ingest.big_json import streamed_items
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import (
    REPAIRED,
    decode_bytes,
    decode_file,
    first_character,
    has_key,
    short_name,
)

DATASET = "WorfBench"

_SNIFF = re.compile(rb"Nodes?:\s*(?:\\n|\s)\s*\d+\s*[:.)]")
_NODES = re.compile(r"^[\s*#-]*Nodes?\b[\s*]*:[\s*]*$", re.IGNORECASE | re.MULTILINE)
_EDGES = re.compile(r"^[\s*#>-]*Edges?\b[\s*]*:", re.IGNORECASE | re.MULTILINE)
_NUMBERED = re.compile(r"\s*(\d+)\s*[:.)]\s*(.*)")
_PAIR = re.compile(r"\(\s*(START|\d+)\s*,\s*(END|\d+)\s*\)", re.IGNORECASE)
_USUAL_PAIR = re.compile(r"\((START|[0-9]+), ?(END|[0-9]+)\)")
_ENDS = ("START", "END")
_ACTIONS = "The action list you can take:"
# A text in Python's notation without other escapes than those of line ends and quotes.
_TEXT = re.compile(
    r"""'[^'\\\x00-\x1f]*+(?:\\[n'"][^'\\\x00-\x1f]*+)*+'"""
    r"""|"[^"\\\x00-\x1f]*+(?:\\[n'"][^"\\\x00-\x1f]*+)*+\""""
)
_TASK = "Task:"
_TASK_INSIDE = ("Your task is to:", "My problem is:", "Instruction: [SEP]")


class _Message(msgspec.Struct):
    role: str
    content: str = ""


class _Item(msgspec.Struct):
    conversations: list[_Message]
    id: str | int | None = None
    source: str | None = None
    category: str | None = None


_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_ITEM = msgspec.json.Decoder(_Item)


class WorfBenchReader:
    """WorfBench: nodes and edges in an assistant message."""

    format = "worfbench"
    title = "WorfBench"
    kind: GraphKind = "decomposition"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="no",
        outcome="no",
        notes=("START and END are left out: they are no subtasks.",),
    )
    telling_keys = frozenset({"conversations"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample holds conversations with numbered nodes."""
        return (
            first_character(sample) in (b"[", b"{")
            and has_key(sample, "conversations")
            and _SNIFF.search(sample) is not None
        )

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a decomposition or a rejection for each item.

        Raises:
            InputError: The file is not JSON, or no array of items.
        """
        seen: set[str] = set()
        for position, raw in enumerate(_items(file)):
            record = f"#{position}"
            data = bytes(raw)
            try:
                item, repaired = decode_bytes(data, _ITEM, file.uri)
                if item.id is not None and str(item.id):
                    record = str(item.id)
                if record in seen:
                    record = f"{record}#{position}"
                seen.add(record)
                yield self._graph(file, context, item, record, data, repaired)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)

    def _graph(
        self,
        file: TraceFile,
        context: ReadContext,
        item: _Item,
        record: str,
        raw: bytes,
        repaired: bool,
    ) -> CollaborationGraph:
        plan = _last(item, "assistant")
        if plan is None:
            raise GraphError("it holds no assistant message")
        subtasks, rest = _subtasks(plan)
        pairs = _pairs(rest)
        if not subtasks:
            raise GraphError("its message lists no subtasks under Node:")
        if not pairs:
            raise GraphError("its message names no edges")
        builder = context.builder(self, file, raw, record=record)
        if repaired:
            builder.warn(REPAIRED)
        question, actions = _question(_last(item, "user") or "")
        builder.set_task(
            record if item.id is not None else short_name(question) or record,
            description=question or None,
            dataset=f"{DATASET}/{item.source}" if item.source else DATASET,
        )
        builder.name = short_name(_core(question)) or record
        if actions:
            builder.attributes["actions"] = actions
        if item.category:
            builder.attributes["split"] = item.category
        places = {
            number: builder.add(
                "subtask", short_name(text) or number, content=text, attributes={"id": number}
            )
            for number, text in subtasks.items()
        }
        unique = dict.fromkeys(pairs)
        touched = set(chain.from_iterable(unique))
        known = {*places, *_ENDS}
        if not touched <= known:
            raise _unknown_end(unique, places)
        for source, target in unique:
            if source in places and target in places:
                builder.edge(places[source], places[target], "explicit")
        twice = len(pairs) - len(unique)
        if twice:
            builder.warn(f"{twice} of {len(pairs)} edges stand twice")
        if touched != known:
            if alone := [number for number in places if number not in touched]:
                builder.warn("in no edge: subtask " + ", ".join(alone))
            for end in _ENDS:
                if end not in touched:
                    builder.warn(f"no edge names {end}")
        return builder.build()


WORFBENCH = WorfBenchReader()


def _items(file: TraceFile) -> Iterable[msgspec.Raw | bytes]:
    if (items := streamed_items(file)) is not None:
        return items
    data = file.data()
    if first_character(data) == b"{":
        return [msgspec.Raw(data)]
    return decode_file(file, _LIST)[0]


def _last(item: _Item, role: str) -> str | None:
    for message in reversed(item.conversations):
        if message.role == role:
            return message.content
    return None


def _unknown_end(pairs: Iterable[tuple[str, str]], places: dict[str, int]) -> GraphError:
    """What is wrong with the first pair that names no subtask of the list."""
    known = {*places, *_ENDS}
    for source, target in pairs:
        for end in (source, target):
            if end not in known:
                return GraphError(
                    f"the edge ({source},{target}) names the unknown subtask {end}"
                )
    raise AssertionError("every pair names subtasks of the list")


def _subtasks(plan: str) -> tuple[dict[str, str], str]:
    """The numbered subtasks after ``Node:``, and the text in which the edges stand."""
    head, label, _ = plan.partition("\nEdge:")
    lines = head.splitlines()
    # Lines that end in another way than by "\n" are left to the careful reading.
    if not label or lines[:1] != ["Node:"] or not 1 < len(lines) == head.count("\n") + 1:
        return _deviating_subtasks(plan)
    subtasks: dict[str, str] = {}
    for position, line in enumerate(lines[1:], 1):
        number, colon, text = line.partition(":")
        if number != str(position) or not colon:
            return _deviating_subtasks(plan)
        subtasks[number] = text.strip()
    return subtasks, plan[len(head) + 1 :]


def _deviating_subtasks(plan: str) -> tuple[dict[str, str], str]:
    """The same of a message in any form; it gives the same where the form is the usual one.

    A line without a number belongs to the subtask before it only where the next number
    follows later; otherwise the list has ended and a comment begins.
    """
    found = _NODES.search(plan)
    if found is None:
        return {}, plan
    subtasks: dict[str, str] = {}
    last = None
    position = end = found.end()
    between: list[str] = []
    label = _EDGES.search(plan, found.end())
    stop = label.start() if label else len(plan)
    for line in plan[position:stop].splitlines(keepends=True):
        position += len(line)
        numbered = _NUMBERED.fullmatch(line.rstrip("\r\n"))
        if numbered is None:
            between.append(line.strip())
            continue
        number = str(int(numbered[1]))
        continues = last is not None and int(number) == int(last) + 1
        if any(between) if last is None else between and not continues:
            break
        if number in subtasks:
            raise GraphError(f"the subtask {number} stands twice")
        if last is not None and any(between):
            subtasks[last] = "\n".join([subtasks[last], *between]).strip()
        between = []
        subtasks[number] = numbered[2].strip()
        last, end = number, position
    return subtasks, plan[end:]


def _pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of a text, START and END in capitals."""
    usual: list[tuple[str, str]] = _USUAL_PAIR.findall(text)
    if len(usual) == text.count("("):
        return usual
    return [(source.upper(), target.upper()) for source, target in _PAIR.findall(text)]


def _question(text: str) -> tuple[str, list[str]]:
    """The user's text without the list of actions, and that list."""
    before, mark, listed = text.partition(_ACTIONS)
    before, listed = before.strip(), listed.strip()
    if not mark:
        return before, []
    if listed.startswith("["):
        actions = _python_texts(listed)
        if actions is None:
            actions = _python_list(listed)
        if actions is not None:
            return before, actions
    return before, [line.strip() for line in listed.splitlines() if line.strip()]


def _python_list(listed: str) -> list[str] | None:
    """The items of a list in Python's notation as texts; None where it is no such list."""
    try:
        value = ast.literal_eval(listed)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return [str(action).strip() for action in value] if isinstance(value, list) else None


def _python_texts(listed: str) -> list[str] | None:
    """What :func:`_python_list` gives for a list of plain texts, without a syntax tree.

    Returns:
        None where the list holds anything else, or is written in another way.
    """
    texts = _TEXT.findall(listed)
    if listed != f"[{', '.join(texts)}]":
        return None
    if "\\" in listed:
        texts = [_without_escapes(text) if "\\" in text else text for text in texts]
    return [text[1:-1].strip() for text in texts]


def _without_escapes(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')


def _core(question: str) -> str:
    """What is asked, without the scene around it."""
    start = len(_TASK) if question.startswith(_TASK) else _end_of_scene(question)
    return question[start:].partition("[SEP]")[0].strip()


def _end_of_scene(question: str) -> int:
    """Where the first of the marks ends that stand before a task; 0 where none does."""
    ends = [
        (place, place + len(mark))
        for mark in _TASK_INSIDE
        if (place := question.find(mark)) >= 0
    ]
    return min(ends)[1] if ends else 0
