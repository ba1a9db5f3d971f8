"""AutoGen 0.4 and later: the ``repr`` of a ``TaskResult``, as a notebook or ``print`` shows it.

One line holds one result, ``TaskResult(messages=[TextMessage(source='user', ...), ...],
stop_reason='...')``; ``print`` leaves out the class's name. Older versions show messages
without ids and times. The text is parsed, never evaluated; what it says is what
:mod:`ingest.readers.autogen_messages` reads as JSON.
"""

import re
from collections.abc import Iterator

from graphstore.errors import InputError
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.autogen_graph import add_run
from ingest.readers.autogen_records import Record, is_message, steps
from ingest.readers.decoding import text_of
from ingest.readers.python_repr import parse_repr

_BEGIN = re.compile(r"(?:TaskResult\(\s*)?messages=\[|TaskResult\($")
_OPEN = ("(", "[", ",")
_FIRST = re.compile(rb"\s*(?:TaskResult\(\s*)?messages=\[\s*(?:\]|\w+(?:\[\w+\])?\()")
_STOP = "] stop_reason="


class AutoGenTaskResultReader:
    """AutoGen: the text of a TaskResult."""

    format = "autogen-taskresult"
    title = "AutoGen TaskResult as Python text (0.4 and later)"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="partly",
        tokens="yes",
        recipients="partly",
        outcome="partly",
        notes=(
            "Versions before 0.5 show no ids and no times.",
            "Only a handoff and the choice of a speaker name their receivers; every other "
            "message goes to everybody else in the team.",
            "The stop reason is kept; it does not say whether the task was solved.",
        ),
    )
    telling_keys_of_objects: frozenset[str] = frozenset()

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a TaskResult and its messages."""
        return _FIRST.match(sample) is not None

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each result.

        Raises:
            InputError: The file is no text, holds no result, or its only one breaks off.
        """
        results = list(_texts(file))
        if not results:
            raise InputError("it holds no TaskResult", file=file.uri)
        alone = len(results) == 1
        for line, text in results:
            record = None if alone else f"line {line}"
            try:
                result = parse_result(text)
                builder = context.builder(self, file, text, record=record)
                add_run(builder, steps(result["messages"], builder.warn))
                builder.outcome = Outcome(termination=text_of(result.get("stop_reason")))
                yield builder.build()
            except InputError as error:
                if alone:
                    raise InputError(error.reason, file=file.uri) from error
                yield Rejection(file.uri, record, error.reason)


AUTOGEN_TASKRESULT = AutoGenTaskResultReader()


def parse_result(text: str) -> Record:
    """A TaskResult's messages and stop reason.

    Args:
        text: As ``repr`` or ``print`` shows it.

    Raises:
        InputError: It breaks off, or holds no messages.
    """
    if not text.startswith("TaskResult"):
        head, stop, reason = text.rpartition(_STOP)
        text = f"TaskResult({head}], stop_reason={reason})" if stop else f"TaskResult({text})"
    value = parse_repr(text)
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not messages:
        raise InputError("the TaskResult holds no messages")
    if not any(is_message(message) for message in messages):
        raise InputError("the TaskResult holds no AutoGen messages")
    kept = [
        message if isinstance(message, dict) else {"source": "", "content": message}
        for message in messages
    ]
    return {**value, "messages": kept}


def _texts(file: TraceFile) -> Iterator[tuple[int, str]]:
    """Each result's text with the line at which it begins.

    A result takes one line, or several where a formatter laid it out: then its first line
    ends with something open. Other lines are no part of one.
    """
    begun: list[str] = []
    first = 0
    for number, line in file.lines():
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            reason = f"the text is not UTF-8 in line {number}"
            raise InputError(reason, file=file.uri) from error
        laid_out = bool(begun) and begun[0].endswith(_OPEN)
        if text.startswith("TaskResult(") or (not laid_out and _BEGIN.match(text)):
            if begun:
                yield first, "\n".join(begun)
            begun, first = [text], number
        elif laid_out:
            begun.append(text)
    if begun:
        yield first, "\n".join(begun)
