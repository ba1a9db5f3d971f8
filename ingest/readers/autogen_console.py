"""AutoGen 0.4 and later: what ``Console(team.run_stream(...))`` printed.

A block begins with ``---------- planner ----------``, or since 0.5 with the message's class,
``---------- TextMessage (planner) ----------``, and holds the message's text. Where statistics
were asked for, a line with the tokens ends a block, and a ``Summary`` ends each run; a run
that another one follows is one conversation here, since the team remembers.

The text holds less than a message does, and some of it has to be guessed: without its class, a
block's kind follows from its words (``[FunctionCall(``, ``[FunctionExecutionResult(``, the
sentence of a handoff), and a handoff's receiver from the name of the tool that was called
(``transfer_to_writer``). Such a receiver is ``inferred``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.autogen_graph import add_run
from ingest.readers.autogen_records import CHUNK, Record, steps
from ingest.readers.autogen_taskresult import parse_result
from ingest.readers.decoding import short_name, text_of
from ingest.readers.python_repr import parse_repr

# Ten dashes that stand first in a pattern, written out, are found several times faster than
# by ``^-{10}``; whether a line begins there is looked at afterwards.
_HEADER = re.compile(r"---------- (\S(?:.*\S)?) -{10}[ \t]*\r?$", re.MULTILINE)
_HEADER_BYTES = re.compile(rb"---------- \S(?:[^\n]*\S)? -{10}[ \t]*\r?$", re.MULTILINE)
_LINE_END = ord("\n")
_TYPED = re.compile(r"(\w+(?:\[\w+\])?) \((.+)\)")
_USAGE_BEGINS = "[Prompt tokens: "
_USAGE = re.compile(
    r"^\[Prompt tokens: (\d{1,15}), Completion tokens: (\d{1,15})\][ \t]*$", re.MULTILINE
)
_STATISTICS = frozenset(
    {"Number of messages", "Number of inner messages", "Finish reason"}
    | {"Total prompt tokens", "Total completion tokens", "Duration"}
)
_SECONDS = re.compile(r"(\d{1,12}(?:\.\d{1,9})?) seconds")
_REQUEST, _EXECUTION = "ToolCallRequestEvent", "ToolCallExecutionEvent"
_TOOL_EVENTS = ("[FunctionCall(", "[FunctionExecutionResult(")
_TRANSFER = "transfer_to_"
_TRANSFERRED = re.compile(r"Transferred to (.+), adopting the role of .+ immediately\.")
_RESULT_SHOWN = re.compile(r"^TaskResult\(messages=\[.*$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(slots=True)
class _Summary:
    """What the statistics of all runs in the file say."""

    messages: int | None = None
    reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None


class AutoGenConsoleReader:
    """AutoGen: the text that Console prints."""

    format = "autogen-console"
    title = "AutoGen console text (0.4 and later)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="partly",
        recipients="no",
        outcome="partly",
        notes=(
            "Tokens stand in the text only where statistics were asked for.",
            "Before 0.5 a message's kind is guessed from its words; a handoff's receiver is "
            "guessed from the name of the tool that was called.",
            "Every other message goes to everybody else whom the text shows.",
            "A request for a person's input is not printed, nor is a tool call that follows "
            "streamed text.",
            "A line inside a message that looks like a header begins a new message; what "
            "tools print between the blocks stays with the block before, as printed where "
            "it can be told apart.",
        ),
    )
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a header of ten dashes, or holds two of them."""
        if sample.lstrip()[:1] in (b"{", b"["):
            return False
        found = (
            header.start()
            for header in _HEADER_BYTES.finditer(sample)
            if header.start() == 0 or sample[header.start() - 1] == _LINE_END
        )
        first = next(found, None)
        if first is None:
            return False
        return not sample[:first].strip() or next(found, None) is not None

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's one conversation.

        Raises:
            InputError: The file is no text, or holds no message.
        """
        data = file.data()
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            reason = f"the text is not UTF-8 at byte {error.start}"
            raise InputError(reason, file=file.uri) from error
        if "\x1b" in text:
            text = _COLOUR.sub("", text)
        text = text.replace("\r\n", "\n")
        builder = context.builder(self, file, data)
        summary = _Summary()
        records = list(_records(text, summary, builder))
        if not records:
            raise InputError("it holds no message", file=file.uri)
        _complete(records)
        found = steps(records, builder.warn)
        for step in found:
            if step.is_handoff:
                step.delivery = "inferred"
        add_run(builder, found)
        _set_outcome(builder, summary, len(records))
        yield builder.build()


AUTOGEN_CONSOLE = AutoGenConsoleReader()


def _records(text: str, summary: _Summary, builder: GraphBuilder) -> Iterator[Record]:
    """Messages in the framework's own form; statistics go into the summary."""
    headers = [
        header
        for header in _HEADER.finditer(text)
        if header.start() == 0 or text[header.start() - 1] == "\n"
    ]
    if not headers:
        return
    if text[: headers[0].start()].strip():
        builder.warn("the text before the first header belongs to no message and was left out")
    speakers: dict[str, tuple[str, str | None]] = {}
    ends = [header.start() for header in headers[1:]]
    for header, end in zip(headers, [*ends, len(text)], strict=True):
        body = text[header.end() + 1 : end].removesuffix("\n")
        if header is headers[-1]:
            body = _without_result(body, summary, builder)
        name = header[1]
        if name == "Summary" and _takes_summary(body, summary, builder):
            continue
        if name not in speakers:
            speakers[name] = _speaker(name)
        yield _record(*speakers[name], body)


def _speaker(header: str) -> tuple[str, str | None]:
    """Who speaks in a block, and the message's class where the header names it."""
    typed = _TYPED.fullmatch(header)
    return (typed[2], typed[1]) if typed else (header, None)


def _record(source: str, type_: str | None, body: str) -> Record:
    record: Record = {"source": source}
    printed = ""
    if (usage := _last_usage(body)) is not None:
        body, printed = body[: usage.start()].removesuffix("\n"), body[usage.end() :].strip()
        record["models_usage"] = {
            "prompt_tokens": int(usage[1]),
            "completion_tokens": int(usage[2]),
        }
    record["content"] = body
    if type_ == CHUNK:
        record["type"] = "TextMessage"
        record["streamed"] = True
    elif type_ is not None:
        record["type"] = type_
    if body.startswith(_TOOL_EVENTS) and record.get("type", "Event").endswith("Event"):
        first, _, rest = body.partition("\n")
        items = _items(first)
        if items:
            record["content"] = items
            record.setdefault("type", _REQUEST if "arguments" in items[0] else _EXECUTION)
            printed = "\n".join(part for part in (rest.strip(), printed) if part)
    if printed:
        record["printed"] = printed
    return record


def _last_usage(body: str) -> re.Match[str] | None:
    """The last line that tells tokens."""
    start = body.rfind(_USAGE_BEGINS)
    if start < 0:
        return None
    return _USAGE.match(body, start) or next(reversed(list(_USAGE.finditer(body))), None)


def _items(line: str) -> list[Record] | None:
    """The calls or results of a tool event, where the line is a list of them."""
    try:
        value: Any = parse_repr(line)
    except InputError:
        return None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    for item in value:
        item.pop("type", None)
    return value


def _complete(records: list[Record]) -> None:
    """Guesses what the text leaves out: kinds without a class's name, handoffs' receivers."""
    names = reversed(dict.fromkeys(record["source"] for record in reversed(records)))
    speakers = {name.casefold(): name for name in names}  # the last spelling counts
    called: dict[str, list[str]] = {}
    returned: dict[str, str] = {}
    for record in records:
        source, content = record["source"], record["content"]
        if isinstance(content, list):
            if record["type"] == _REQUEST:
                called[source] = [text_of(item.get("name")) or "" for item in content]
            else:
                returned[source] = "\n".join(text_of(i.get("content")) or "" for i in content)
            continue
        result = returned.pop(source, None)
        tools = called.pop(source, []) if result is not None else []
        if "type" not in record:
            record["type"] = _guessed_type(content, result, tools)
            record["type_is_guessed"] = True
        if record["type"] == "HandoffMessage":
            target = _target(content, tools, speakers)
            if target is not None:
                record["target"] = target


def _guessed_type(content: str, result: str | None, tools: list[str]) -> str:
    if _TRANSFERRED.fullmatch(content.strip()):
        return "HandoffMessage"
    if result is None:
        return "TextMessage"
    if content.strip() == result.strip():
        handed = any(tool.startswith(_TRANSFER) for tool in tools)
        return "HandoffMessage" if handed else "ToolCallSummaryMessage"
    return "ToolCallSummaryMessage" if content.startswith("Tool calls:\n") else "TextMessage"


def _target(content: str, tools: list[str], speakers: dict[str, str]) -> str | None:
    """The agent that a handoff names in its sentence or its tool, as it spells itself."""
    said = _TRANSFERRED.fullmatch(content.strip())
    names = [said[1]] if said else []
    names += [tool.removeprefix(_TRANSFER) for tool in tools if tool.startswith(_TRANSFER)]
    name = next((name for name in names if name.strip()), None)
    return None if name is None else speakers.get(name.casefold(), name)


def _takes_summary(body: str, summary: _Summary, builder: GraphBuilder) -> bool:
    """Adds a run's statistics to the file's; False where the block is no summary."""
    lines = [(line, *line.partition(": ")) for line in body.splitlines() if line.strip()]
    if not any(colon and name in _STATISTICS for _, name, colon, _ in lines):
        return False
    for line, name, colon, value in lines:
        if not colon or name not in _STATISTICS:
            builder.warn(f"a line after a summary was left out: {short_name(line)!r}")
            continue
        value = value.strip()
        if name == "Finish reason":
            summary.reason = None if value == "None" else value
        elif name == "Number of messages" and value.isdecimal():
            summary.messages = (summary.messages or 0) + int(value[:9])
        elif name == "Total prompt tokens" and value.isdecimal():
            summary.tokens_in = (summary.tokens_in or 0) + int(value[:15])
        elif name == "Total completion tokens" and value.isdecimal():
            summary.tokens_out = (summary.tokens_out or 0) + int(value[:15])
        elif name == "Duration" and (seconds := _SECONDS.fullmatch(value)):
            summary.seconds = (summary.seconds or 0.0) + float(seconds[1])
    return True


def _without_result(body: str, summary: _Summary, builder: GraphBuilder) -> str:
    """Leaves out a TaskResult at the end, as a notebook shows it: it repeats the messages."""
    shown = _RESULT_SHOWN.search(body)
    if shown is None:
        return body
    try:
        summary.reason = text_of(parse_result(shown[0]).get("stop_reason"))
    except InputError:
        return body
    builder.warn("the TaskResult after the messages repeats them and was left out")
    return body[: shown.start()].removesuffix("\n")


def _set_outcome(builder: GraphBuilder, summary: _Summary, printed: int) -> None:
    if summary.messages is not None and summary.messages != printed:
        builder.warn(f"the summaries count {summary.messages} messages, {printed} are printed")
    builder.outcome = Outcome(
        termination=summary.reason,
        tokens_in=summary.tokens_in,
        tokens_out=summary.tokens_out,
        latency=None if summary.seconds is None else round(summary.seconds, 2),
    )
