"""Claude Code: the transcript of a session, with its sub-agents.

- :mod:`ingest.readers.claude_records`: lines and their order.
- :mod:`ingest.readers.claude_runs`: which lines are one run.
- :mod:`ingest.readers.claude_threads`: what the records say.
- :mod:`ingest.readers.threads`: the graph of all that.

No file names the main agent: it is called ``Claude Code``, and is an orchestrator where it
called sub-agents. A sub-agent has the name of its type; two calls make two agents. Files of
one session are read as one, in whatever order they come.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import digest
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.claude_records import Record, session_ids
from ingest.readers.claude_runs import Run, Runs
from ingest.readers.claude_threads import MAIN_AGENT, Threads
from ingest.readers.decoding import REPAIRED, text_of
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value
from ingest.readers.threads import play
from ingest.run_limit import too_large

_LINES_LOOKED_AT = 20


class ClaudeCodeReader:
    """Claude Code sessions, sub-agents' files and streams; joined by session."""

    format = "claude-code"
    title = "Claude Code sessions with their sub-agents"
    kind: GraphKind = "run"
    version = "2"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="yes",
        outcome="partly",
        notes=(
            "Tokens count once a model response; tokens read include those from the cache.",
            "A sub-agent without records of its own has one message: what its call returned.",
            "A sub-agent's file without its session has no caller: that the main agent told "
            "it what to do is inferred.",
            "Cost, duration and the final answer stand in streams only; whether the work was "
            "right, nowhere.",
            "A session is kept in memory whole: one of more than 320 MiB is rejected, unless "
            "MASGRAPH_RUN_MIB says more.",
            "Queue operations, progress and snapshots of files are counted, not kept.",
        ),
    )
    telling_keys = frozenset({"sessionId", "session_id", "leafUuid", "snapshot"})

    def sniff(self, sample: bytes) -> bool:
        """Whether one of the first lines is a record of a session."""
        if _is_record(first_value(sample)):
            return True
        if not any(key in sample for key in (b'"type"', b'"parentUuid"')):
            return False
        # Parted no further than is looked at: an indented document has many lines.
        beginning = b"\n".join(sample.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT])
        for line in beginning.splitlines()[:_LINES_LOOKED_AT]:
            if not line.lstrip().startswith(b"{"):
                continue
            try:
                if _is_record(msgspec.json.decode(line)):
                    return True
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                continue
        return False

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The sessions of a file."""
        return frozenset(session_ids([file]))

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the runs of one file, then the lines that could not be read.

        Raises:
            InputError: The file holds no message.
        """
        yield from self.read_joined([file], context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the runs of files that share sessions; see :meth:`read`.

        Raises:
            InputError: The files hold no message.
        """
        runs = Runs(files)
        made = False
        for run in runs:
            if run.size > runs.limit:
                made = True
                record = None if run.name is None else f"session {run.name}"
                yield Rejection(files[0].uri, record, too_large(runs.limit))
                continue
            graph = self._graph(files, context, run, is_damaged=runs.is_damaged)
            if graph is not None:
                made = True
                yield graph
        yield from runs.damaged
        if not made and not runs.damaged:
            raise InputError("it holds no message", file=files[0].uri)

    def _graph(
        self, files: Sequence[TraceFile], context: ReadContext, run: Run, *, is_damaged: bool
    ) -> CollaborationGraph | None:
        if not run.records:
            return None
        used = [files[place] for place in sorted({record.file for record in run.records})]
        builder = context.builder(self, used[0], b"", record=run.name)
        threads = Threads(run.records, builder)
        if not threads.items:
            return None
        sessions = (record.line.session() for record in threads.records)
        builder.record = next((name for name in sessions if name is not None), None)
        builder.content = b"".join(record.digest for record in threads.records)
        if len(used) > 1:
            builder.uri = " + ".join(file.uri for file in used)
            builder.sha256 = digest(*sorted(file.sha256 for file in used), size=32)
        if run.repaired:
            builder.warn(REPAIRED)
        if is_damaged:
            builder.warn("lines that could not be read are missing")
        if run.repeated:
            builder.warn("records that stand twice under one id were counted once")
        play(builder, threads.items, threads.user)
        if not builder.node_count:
            return None
        _describe(builder, threads)
        return builder.build()


CLAUDE_CODE = ClaudeCodeReader()


def _describe(builder: GraphBuilder, threads: Threads) -> None:
    builder.set_method(MAIN_AGENT, framework=MAIN_AGENT)
    if threads.asked is not None and threads.asked.strip():
        set_task_from_text(builder, threads.asked)
    about = builder.attributes
    records = threads.records
    for key, values in (
        ("sessions", [record.line.session() for record in records]),
        ("versions", [record.line.version for record in records]),
        ("folders", [record.line.cwd for record in records]),
        ("summaries", [record.line.summary for record in records]),
    ):
        texts = list(dict.fromkeys(v for v in values if isinstance(v, str) and v))
        if texts:
            about[key] = texts
    if threads.models:
        about["models"] = list(threads.models)
    others = {k: n for k, n in sorted(threads.others.items()) if k != "summary"}
    if others:
        about["other_records"] = others
        builder.warn("records that are no message were counted only: " + ", ".join(others))
    if threads.result is not None:
        builder.outcome = _outcome(threads.result)


def _outcome(record: Record) -> Outcome:
    """What the last record of a stream says of the whole."""
    line = record.line
    usage = line.usage if isinstance(line.usage, dict) else {}
    read = [
        usage.get(name)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    known = [count for value in read if (count := _number(value)) is not None]
    seconds = _number(line.duration_ms)
    written = _number(usage.get("output_tokens"))
    return Outcome(
        answer=text_of(line.result),
        termination=text_of(line.subtype),
        tokens_in=int(sum(known)) if known else None,
        tokens_out=None if written is None else int(written),
        latency=None if seconds is None else seconds / 1000,
        cost=_number(line.total_cost_usd),
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < 2**62 else None


_KINDS = frozenset(
    {"user", "assistant", "system", "attachment", "progress", "file-history-snapshot"}
    | {"queue-operation", "custom-title", "agent-name", "last-prompt", "permission-mode"}
)


def _is_record(value: Any) -> bool:
    """Whether a JSON value is a record, perhaps cut at its end."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind == "summary":
        return isinstance(value.get("leafUuid"), str)
    if kind is None:
        # The kind of a long record can stand behind the cut.
        return "parentUuid" in value and "isSidechain" in value and "sessionId" in value
    if not isinstance(kind, str) or kind not in _KINDS:
        return False
    if kind == "file-history-snapshot":
        return "snapshot" in value
    if kind == "system" and value.get("subtype") == "init":
        return "session_id" in value
    if "parent_tool_use_id" in value:
        return "session_id" in value
    return isinstance(value.get("sessionId"), str)
