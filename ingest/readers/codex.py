"""Codex: rollout files of sessions, with the threads that they started.

- :mod:`ingest.readers.codex_records`: lines, and what a thread repeats of its parent.
- :mod:`ingest.readers.codex_threads`: what the records say.
- :mod:`ingest.readers.threads`: the graph of all that.

A file is one thread; threads that started each other are one run. The first agent is called
``Codex``; others have the nickname, task or type that they were started with.
"""

import re
from collections.abc import Iterator
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import digest
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.codex_records import RESPONSES, Rollout, read_rollouts, settle
from ingest.readers.codex_threads import MAIN_AGENT, Threads
from ingest.readers.decoding import REPAIRED
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value
from ingest.readers.threads import play

_THREAD = re.compile(rb'\\?"(?:new_thread_id|parent_thread_id)\\?"\s*:\s*\\?"([^"\\]+)')


class CodexReader:
    """Codex rollouts and streams; threads that started each other are joined."""

    format = "codex"
    title = "Codex sessions with the threads that they started"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="partly",
        recipients="yes",
        outcome="no",
        notes=(
            "A response's tokens are those of the count that follows it; old files have none.",
            "Events that repeat a response item are one message with it.",
            "What a thread repeats of the one that started it belongs to that one.",
            "Encrypted reasoning is counted, not kept.",
            "A session is kept in memory whole: one of more than 320 MiB is rejected, unless "
            "MASGRAPH_RUN_MIB says more.",
        ),
    )
    telling_keys = frozenset({"payload", "thread_id", "timestamp"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins like a rollout or a stream of events."""
        value = first_value(sample)
        if not isinstance(value, dict):
            return False
        kind, payload = value.get("type"), value.get("payload")
        if kind in ("session_meta", "response_item", "event_msg", "turn_context"):
            return isinstance(payload, dict)
        if kind == "thread.started":
            return isinstance(value.get("thread_id"), str)
        return kind is None and "id" in value and "timestamp" in value and _is_old(sample)

    def join_keys(self, file: TraceFile) -> frozenset[str]:
        """The file's thread, the one that started it, and those that it started."""
        keys: set[str] = set()
        for number, (_, line) in enumerate(file.lines()):
            if number == 0:
                value = first_value(line)
                payload = value.get("payload", value) if isinstance(value, dict) else None
                name = payload.get("id") if isinstance(payload, dict) else None
                if isinstance(name, str):
                    keys.add(name)
            if b"_thread_id" in line:
                keys.update(found.decode(errors="replace") for found in _THREAD.findall(line))
        return frozenset(keys)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's run, then the lines that could not be read.

        Raises:
            InputError: The file holds no message.
        """
        yield from self.read_joined([file], context)

    def read_joined(
        self, files: list[TraceFile], context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the run of files whose threads belong together; see :meth:`read`.

        Raises:
            InputError: The files hold no message, or more than a run may.
        """
        rollouts = settle(read_rollouts(files))
        roots = [r for r in rollouts if r.parent is None] or rollouts
        damaged = [rejection for rollout in rollouts for rejection in rollout.damaged]
        builder = context.builder(self, files[0], b"", record=roots[0].id)
        threads = Threads(rollouts, builder)
        play(builder, threads.items, threads.user)
        if builder.node_count:
            builder.content = "".join(record.digest for record in threads.records)
            if len(files) > 1:
                builder.uri = " + ".join(file.uri for file in files)
                builder.sha256 = digest(*sorted(file.sha256 for file in files), size=32)
            _describe(builder, threads, rollouts, roots[0])
            yield builder.build()
        yield from damaged
        if not builder.node_count and not damaged:
            raise InputError("it holds no message", file=files[0].uri)


CODEX = CodexReader()


def _describe(
    builder: GraphBuilder, threads: Threads, rollouts: list[Rollout], root: Rollout
) -> None:
    builder.set_method(MAIN_AGENT, framework=MAIN_AGENT)
    if threads.asked is not None and threads.asked.strip():
        set_task_from_text(builder, threads.asked)
    if any(rollout.repaired for rollout in rollouts):
        builder.warn(REPAIRED)
    if any(rollout.damaged for rollout in rollouts):
        builder.warn("lines that could not be read are missing")
    if any(rollout.repeats for rollout in rollouts):
        builder.warn("what a thread repeats of the one that started it was counted once")
    if any(rollout.lost for rollout in rollouts):
        builder.warn("the thread that started this one is not in the trace")
    about = builder.attributes
    ids = [rollout.id for rollout in rollouts if rollout.id is not None]
    if ids:
        about["threads"] = sorted(ids)
    for name in ("cwd", "cli_version", "originator", "model_provider", "forked_from_id"):
        value: Any = root.meta.get(name)
        if isinstance(value, str) and value:
            about[name] = value
    if threads.models:
        about["models"] = list(threads.models)
    if threads.others:
        about["other_records"] = dict(sorted(threads.others.items()))
        builder.warn(
            "records that are no message were counted only: "
            + ", ".join(sorted(threads.others))
        )
    builder.outcome = Outcome(
        termination=threads.termination,
        tokens_in=threads.tokens[0],
        tokens_out=threads.tokens[1],
    )


def _is_old(sample: bytes) -> bool:
    """Whether an old file's second line is a response item or a state."""
    for line in sample.splitlines()[1:4]:
        value = first_value(line)
        if isinstance(value, dict) and (
            value.get("record_type") == "state"
            or (isinstance(value.get("type"), str) and value["type"] in RESPONSES)
        ):
            return True
    return False
