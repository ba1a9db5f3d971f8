"""DyLAN: agents that answer in rounds, each round reading the one before.

Source: Liu et al. 2024, "A Dynamic LLM-Powered Agent Network for Task-Oriented Agent
Collaboration" (DyLAN), section 3: a layer of the network is a round, and every agent of a
layer reads what the agents of the layer before wrote. The ``.json`` file holds a table
``[agent][round]`` of replies for each question, one line each, and null where an agent was
not asked. A question is one run.

The ``.txt`` file of the same name holds, for all questions, whether the answer was right, the
importance of every reply, and the totals of calls and tokens. It is read together with the
table where both are given; alone it holds no message. The questions stand in neither.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes, digest
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, decode_bytes, text_of
from ingest.readers.dylan_summary import SUMMARY, Summary, parse_summary
from ingest.readers.sample_json import first_value

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_TABLE = re.compile(rb'\s*(?:\[\s*){2,3}(?:null\s*,\s*)*"(?:[^"\\]|\\.){20}')
_ENDING = re.compile(r"\.(?:jsonl?|txt)(?:\.gz)?\Z", re.IGNORECASE)
# What begins like this, as nearly all JSON does, need not be decoded to be none.
_NO_SUMMARY = re.compile(rb"[ \t\r\n]*(?:\{|\[[^TF])")
_ONLY_SUMMARY = (
    "it holds weights and totals but no replies: give it together with the .json file of the "
    "same name"
)


class DylanReader:
    """DyLAN: the table of replies, with the text file beside it."""

    format = "dylan"
    title = "DyLAN rounds (.json, .txt)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="no",
        recipients="yes",
        outcome="partly",
        notes=(
            "The questions are not in the files: no run shares its task with one of another "
            "file.",
            "Each reply is delivered to the agents of the next round; the agents have numbers, "
            "no names.",
            "Correctness and weights come from the .txt file of the same name; its tokens and "
            "calls are totals of all questions, in the attribute file_totals.",
        ),
    )
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a table of texts, or with the lines of a summary."""
        if _TABLE.match(sample):
            # Streams hold lists of texts too, beside the objects that those belong to.
            table = first_value(sample)
            return isinstance(table, list) and not any(
                isinstance(row, dict)
                or (isinstance(row, list) and any(isinstance(cell, dict) for cell in row))
                for row in table
            )
        return _is_summary(sample)

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The file's name without its ending: the table and its summary share it."""
        return frozenset({_ENDING.sub("", file.uri)})

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each question.

        Raises:
            InputError: It is a summary without its table, or holds no table.
        """
        if _is_summary(file.sample):
            raise InputError(_ONLY_SUMMARY, file=file.uri)
        yield from self._tables(file, None, None, context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Reads tables with the summary that has their name."""
        beside: tuple[TraceFile, Summary] | None = None
        tables: list[TraceFile] = []
        for file in files:
            if not _is_summary(file.sample):
                tables.append(file)
            elif beside is None and (found := parse_summary(file.data())) is not None:
                beside = (file, found)
            else:
                yield Rejection(file.uri, None, "another summary has the same name")
        if beside is not None and not tables:
            yield Rejection(beside[0].uri, None, _ONLY_SUMMARY)
        for table in tables:
            file_beside, summary = beside if beside is not None else (None, None)
            try:
                yield from self._tables(table, file_beside, summary, context)
            except InputError as error:
                yield Rejection(table.uri, None, error.reason)

    def _tables(
        self,
        file: TraceFile,
        beside: TraceFile | None,
        summary: Summary | None,
        context: ReadContext,
    ) -> Iterator[CollaborationGraph | Rejection]:
        questions = 0
        total = sum(1 for _ in _values(file)) if summary is not None else 0
        fits = summary is not None and summary.questions == total
        for number, (value, repaired) in enumerate(_values(file)):
            questions += 1
            record = f"question {number + 1}"
            rows = _rows(value)
            if rows is None:
                yield Rejection(file.uri, record, "it is no table of agents and rounds")
                continue
            known = _about(summary, number) if fits and summary is not None else {}
            builder = context.builder(self, file, canonical_bytes([rows, known]), record=record)
            if beside is not None:
                builder.sha256 = digest(*sorted((file.sha256, beside.sha256)), size=32)
            if repaired:
                builder.warn(REPAIRED)
            if summary is not None and not fits:
                builder.warn(
                    f"the summary of the same name is about {summary.questions} questions, not "
                    f"{total}, and was left out"
                )
            try:
                _fill(rows, known, file, number, builder)
                yield builder.build()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)
        if not questions:
            raise InputError("it holds no table of replies", file=file.uri)


DYLAN = DylanReader()


def _is_summary(sample: bytes) -> bool:
    if _NO_SUMMARY.match(sample):
        return False
    return SUMMARY.match(sample.decode("utf-8", "replace")) is not None


def _values(file: TraceFile) -> Iterator[tuple[Any, bool]]:
    """One table a line, or one value of the whole file: a table, or an array of tables."""
    first = True
    for number, line in file.lines():
        try:
            value = decode_bytes(line, _DECODER, file.uri, first_line=number)
        except InputError:
            if not first:
                raise
            yield from _whole(file)
            return
        if first and _is_array_of_tables(value[0]):
            yield from ((table, value[1]) for table in value[0])
        else:
            yield value
        first = False


def _whole(file: TraceFile) -> Iterator[tuple[Any, bool]]:
    value, repaired = decode_bytes(file.data(), _DECODER, file.uri)
    tables = value if _is_array_of_tables(value) else [value]
    yield from ((table, repaired) for table in tables)


def _is_array_of_tables(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(table, list) and table and all(isinstance(row, list) for row in table)
            for table in value
        )
    )


def _rows(value: Any) -> list[list[Any]] | None:
    if not isinstance(value, list) or not value:
        return None
    return value if set(map(type, value)) == {list} else None


def _about(summary: Summary, number: int) -> Attributes:
    """What the summary says of one question, and its totals."""
    known: Attributes = {
        "correct": summary.correct[number] if summary.correct is not None else None,
        "weights": list(summary.weights[number]) if number < len(summary.weights) else None,
    }
    totals = {
        "questions": summary.questions,
        "calls": summary.calls,
        "prompt_tokens": summary.prompt_tokens,
        "completion_tokens": summary.completion_tokens,
    }
    known["totals"] = {name: count for name, count in totals.items() if count is not None}
    return {name: value for name, value in known.items() if value is not None}


# Nearly all rounds have the same agents, in all questions of a file.
@lru_cache(maxsize=1_024)
def _all_but(place: int, places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([other for other in places if other != place])


def _fill(
    rows: list[list[Any]],
    known: Attributes,
    file: TraceFile,
    number: int,
    builder: GraphBuilder,
) -> None:
    # The name of the file would tell more, but it is no part of a graph's identity.
    builder.set_task(f"question {number + 1} of {file.sha256[:12]}")
    builder.set_method("DyLAN", framework="DyLAN")
    # The builder is new: the position of an agent is its place in the table.
    names = [f"agent {place}" for place in range(1, len(rows) + 1)]
    for name in names:
        builder.new_agent(name, role="unknown")
    rounds = max(map(len, rows))
    if min(map(len, rows)) != rounds:
        builder.warn("the agents have different numbers of rounds")
    turns: list[tuple[int, list[tuple[int, Any]]]] = []
    for turn, column in enumerate(zip_longest(*rows)):
        replies = [(place, reply) for place, reply in enumerate(column) if reply is not None]
        if replies:
            turns.append((turn, replies))
    if not turns:
        raise InputError("no agent replied")
    weights = known.get("weights")
    if weights is not None and len(weights) != len(rows) * rounds:
        builder.warn("the weights do not fit the table and were left out")
        weights = None
    before: list[tuple[int, int]] = []
    readers = [tuple([place for place, _ in replies]) for _, replies in turns[1:]]
    add, edge = builder.add, builder.edge
    for (turn, replies), following in zip(turns, [*readers, ()], strict=True):
        current: list[tuple[int, int]] = []
        for place, reply in replies:
            if not isinstance(reply, str):
                builder.warn("replies that are no texts were kept as JSON")
            node = add(
                "agent_message",
                names[place],
                agent=place,
                recipients=_all_but(place, following),
                delivery="broadcast",
                content=text_of(reply),
                round=turn,
                attributes=(
                    {} if weights is None else {"importance": weights[turn * len(rows) + place]}
                ),
            )
            for other, source in before:
                edge(source, node, "continued" if other == place else "delivered")
            current.append((place, node))
        before = current
    if known.get("totals"):
        builder.attributes["file_totals"] = known["totals"]
    builder.outcome = Outcome(success=known.get("correct"))
