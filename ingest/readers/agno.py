"""Agno: runs of agents and teams, alone, in the file of their sessions, or a row each.

The JSON of a run (``RunOutput.to_dict()``), a session with its ``runs``, or the rows of the
table of runs (``run_data``). The runs of one session are one run here: what they have in
common are the agents, and the messages that later ones repeat.
"""

from collections.abc import Iterator
from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.agno_parts import Record, is_run
from ingest.readers.agno_runs import Session
from ingest.readers.decoding import REPAIRED, text_of
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value
from ingest.readers.threads import play

FRAMEWORK = "Agno"

_OWNERS = ("agent_id", "team_id", "workflow_id", "user_id", "session_type")


class AgnoReader:
    """Agno runs and sessions: one run a session."""

    format = "agno"
    title = "Agno runs and sessions"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="yes",
        outcome="partly",
        notes=(
            "Times are whole seconds, but for calls of tools.",
            "A member's answer is told by its own run; where members' runs were not kept, by "
            "the result of the call.",
            "Tokens of 0 and 0 are unknown: that is what a model reports that counts none.",
            "How a run ended is known; whether it was right is not.",
        ),
    )
    telling_keys = frozenset({"run_id", "session_id"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a run, a row of one, or a session."""
        value = first_value(sample)
        if isinstance(value, list) and value:
            value = value[0]
        if not isinstance(value, dict):
            return False
        return is_run(value) or _is_row(value) or _is_session(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each session, and a rejection for each value that is none.

        Raises:
            InputError: The file is not JSON, or holds no runs.
        """
        sessions: dict[str, list[Record]] = {}
        about: dict[str, Record] = {}
        rejected: list[Rejection] = []
        damaged = False
        number = -1
        for number, (value, repaired) in enumerate(values(file)):
            damaged = damaged or repaired
            if isinstance(value, dict) and _is_session(value) and not is_run(value):
                name = text_of(value.get("session_id")) or f"session {number}"
                about.setdefault(name, value)
                found = sessions.setdefault(name, [])
                found += [run for run in _runs(value) if is_run(run)]
                continue
            run = value["run_data"] if isinstance(value, dict) and _is_row(value) else value
            if not isinstance(run, dict) or not is_run(run):
                rejected.append(Rejection(file.uri, f"value {number}", "it is no run"))
                continue
            name = text_of(run.get("session_id")) or text_of(run.get("run_id")) or ""
            sessions.setdefault(name, []).append(run)
        made = False
        for name, runs in sessions.items():
            if not runs:
                continue
            made = True
            builder = context.builder(self, file, canonical_bytes(runs), record=name)
            if damaged:
                builder.warn(REPAIRED)
            try:
                yield _graph(builder, runs, about.get(name, {}))
            except InputError as error:
                yield Rejection(file.uri, name, error.reason)
        yield from rejected
        if not made and not rejected:
            raise InputError("it holds no runs", file=file.uri)


AGNO = AgnoReader()


def _graph(builder: GraphBuilder, runs: list[Record], about: Record) -> CollaborationGraph:
    session = Session(runs, builder)
    play(builder, session.items, session.user)
    if not builder.node_count:
        raise InputError("its runs hold no message")
    if session.asked is not None and session.asked.strip():
        set_task_from_text(builder, session.asked)
    first, last = session.roots[0], session.roots[-1]
    name = next(
        (
            found
            for key in ("team_name", "workflow_name", "agent_name", "team_id", "agent_id")
            if (found := text_of(first.get(key)))
        ),
        FRAMEWORK,
    )
    builder.set_method(name, framework=FRAMEWORK)
    for key, value in (
        ("runs", [text_of(run.get("run_id")) for run in session.roots]),
        ("session_id", first.get("session_id") or about.get("session_id")),
        ("user_id", first.get("user_id")),
        ("models", list(dict.fromkeys(m for r in runs if (m := text_of(r.get("model")))))),
    ):
        if value not in (None, "", []):
            builder.attributes[key] = value
    metrics = last.get("metrics") if len(session.roots) == 1 else None
    metrics = metrics if isinstance(metrics, dict) else {}
    data = about.get("session_data")
    totals = data.get("session_metrics") if isinstance(data, dict) else None
    totals = totals if isinstance(totals, dict) else {}
    builder.outcome = Outcome(
        answer=text_of(last.get("content")),
        termination=text_of(last.get("status")),
        latency=_seconds(metrics.get("duration")),
        cost=_seconds(totals.get("cost", metrics.get("cost"))),
        tokens_in=_count(totals.get("input_tokens")),
        tokens_out=_count(totals.get("output_tokens")),
    )
    return builder.build()


def _is_row(value: Record) -> bool:
    return isinstance(value.get("run_data"), dict) and "run_id" in value


def _is_session(value: Record) -> bool:
    if "session_id" not in value or not any(key in value for key in _OWNERS):
        return False
    memory = value.get("memory")
    return (
        isinstance(value.get("runs"), list)
        or (isinstance(memory, dict) and isinstance(memory.get("runs"), list))
        or "session_type" in value
    )


def _runs(session: Record) -> list[Any]:
    """A session's runs; an older one keeps them in its memory, each with its response."""
    listed = session.get("runs")
    if not isinstance(listed, list):
        memory = session.get("memory")
        listed = memory.get("runs") if isinstance(memory, dict) else None
    found: list[Any] = []
    for run in listed if isinstance(listed, list) else []:
        inner = run.get("response") if isinstance(run, dict) else None
        found.append(inner if is_run(inner) else run)
    return found


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 2.0**53 else None


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 < value < 2**60 else None
