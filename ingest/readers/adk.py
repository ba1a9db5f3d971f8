"""Google ADK: sessions, streamed events, evaluation sets and their results.

Source: ``google-adk`` up to 2.13 and the files that its tools write. A session has ``events``
(:mod:`ingest.readers.adk_events`), in snake case or camel case. Older sessions keep the model's
usage beside the events, in ``event_logs``. Events are also kept one a line.

An evaluation set (``*.test.json``, ``*.evalset.json``) holds *expected* conversations: the
user's words, the tools that should be used and the final answer. Each case is a run here,
marked as a reference. In the result of an evaluation each case has the session that was run,
or its invocations, and a verdict.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_bytes
from graphstore.model import CollaborationGraph, GraphKind, Outcome
from ingest.big_json import is_indented
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.adk_events import USER, Record, get, is_event, turns_of
from ingest.readers.adk_graph import add_turns
from ingest.readers.decoding import REPAIRED, decode_bytes, decode_file, text_of
from ingest.readers.naming import set_task_from_text
from ingest.readers.sample_json import first_value

FRAMEWORK = "Google ADK"
_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_VERDICTS = {1: True, 2: False, "PASSED": True, "FAILED": False}
_REFERENCE = "it is the expected conversation of an evaluation case, not one that was run"


class AdkReader:
    """Google ADK: a session, its events, or the cases of an evaluation."""

    format = "adk-session"
    title = "Google ADK sessions and evaluation sets"
    kind: GraphKind = "run"
    version = "2"
    capabilities = Capabilities(
        time="yes",
        tokens="partly",
        recipients="partly",
        outcome="partly",
        notes=(
            "Only a transfer names its receiver; that other words go to the next author of "
            "the invocation, else to the user, is inferred.",
            "Tokens written count thoughts too; many sessions keep no usage.",
            "A case of an evaluation set is the expected conversation, without times for "
            "its steps; only an evaluation's result says whether a run passed.",
            "Agents that run as tools leave no events of their own.",
        ),
    )
    telling_keys = frozenset(
        {"invocation_id", "invocationId", "app_name", "appName", "past_events"}
        | {"pastEvents", "eval_set_id", "evalSetId", "eval_set_result_id", "evalSetResultId"}
        | {"expected_tool_use"}
    )

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a session, an event or an evaluation."""
        value = first_value(sample)
        if isinstance(value, list):
            return bool(value) and (is_event(value[0]) or _is_old_case(value[0]))
        if not isinstance(value, dict):
            return False
        return is_event(value) or _is_session(value) or _is_evaluation(value)

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the session's run, or one for each case of an evaluation.

        Raises:
            InputError: The file is not JSON, or holds no events and no cases.
        """
        if _has_event_lines(file):
            yield from self._lines(file, context)
            return
        value, repaired = decode_file(file, _DECODER)
        if isinstance(value, dict) and _is_evaluation(value):
            yield from self._cases(file, context, value)
            return
        if isinstance(value, list) and value and _is_old_case(value[0]):
            builder = context.builder(self, file, file.data())
            yield _reference(builder, _old_conversation(value), None)
            return
        session = {"events": value} if isinstance(value, list) else value
        if is_event(session):
            session = {"events": [session]}
        if not isinstance(session, dict) or not isinstance(session.get("events"), list):
            raise InputError("it holds no events of a session", file=file.uri)
        if session["events"] and not any(is_event(event) for event in session["events"]):
            raise InputError(
                "none of its entries is an event of a session: an event has an author and an "
                "invocation_id",
                file=file.uri,
            )
        builder = context.builder(self, file, file.data())
        if repaired:
            builder.warn(REPAIRED)
        if not _fill_session(builder, session):
            raise InputError("the session holds no events", file=file.uri)
        yield builder.build()

    def _lines(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        events: list[Any] = []
        damaged = False
        for number, line in file.lines():
            reason = "it is no event"
            try:
                event, _ = decode_bytes(line, _DECODER, file.uri, first_line=number)
            except InputError as error:
                event, reason = None, error.reason
            if is_event(event):
                events.append(event)
            else:
                damaged = True
                yield Rejection(file.uri, f"line {number}", reason)
        builder = context.builder(self, file, file.sha256)
        if damaged:
            builder.warn("lines that could not be read are missing")
        if _fill_session(builder, {"events": events}):
            yield builder.build()

    def _cases(
        self, file: TraceFile, context: ReadContext, value: Record
    ) -> Iterator[CollaborationGraph | Rejection]:
        name = text_of(get(value, "eval_set_id")) or text_of(value.get("name"))
        results = get(value, "eval_case_results")
        cases = get(value, "eval_cases") if results is None else results
        if not isinstance(cases, list) or not cases:
            raise InputError("the evaluation holds no cases", file=file.uri)
        known: set[str] = set()
        for position, case in enumerate(cases):
            record = text_of(get(case, "eval_id")) or f"case {position}"
            if record in known:
                record = f"{record} ({position})"
            known.add(record)
            try:
                if not isinstance(case, dict):
                    raise InputError("the case is no object")
                builder = context.builder(self, file, canonical_bytes(case), record=record)
                if results is None:
                    builder.attributes["evaluation_set"] = name
                    yield _reference(builder, get(case, "conversation"), case)
                else:
                    yield _result(builder, case)
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)


ADK = AdkReader()


def _fill_session(builder: GraphBuilder, session: Record) -> bool:
    """Fills a run with a session's events; False where there are none."""
    past = get(session, "past_events")
    events = [*(past if isinstance(past, list) else []), *session["events"]]
    asked = add_turns(builder, turns_of(builder, events, _usage(session)))
    if not builder.node_count:
        return False
    if asked is not None:
        set_task_from_text(builder, asked)
    application = text_of(get(session, "app_name"))
    builder.set_method(application or "ADK session", framework=FRAMEWORK)
    for name in ("id", "app_name", "current_agent_name"):
        value = get(session, name)
        if value not in (None, ""):
            builder.attributes["session_id" if name == "id" else name] = value
    return True


def _usage(session: Record) -> dict[str, Record]:
    """The model's usage by event, where an older session keeps it in its log."""
    found: dict[str, Record] = {}
    logs = get(session, "event_logs")
    for entry in logs if isinstance(logs, list) else []:
        event = get(entry, "event_id")
        usage = get(get(entry, "model_response"), "usage_metadata")
        if isinstance(event, str) and isinstance(usage, dict):
            found[event] = usage
    return found


def _reference(
    builder: GraphBuilder, conversation: Any, case: Record | None
) -> CollaborationGraph:
    if not isinstance(conversation, list) or not conversation:
        raise InputError("the case holds no conversation")
    session = get(case, "session_input")
    application = text_of(get(session, "app_name"))
    _fill_invocations(builder, conversation, application)
    builder.attributes["is_reference"] = True
    builder.warn(_REFERENCE)
    return builder.build()


def _fill_invocations(
    builder: GraphBuilder, conversation: list[Any], application: str | None
) -> None:
    agent = application or "agent"
    events = [
        event
        for position, invocation in enumerate(conversation)
        if isinstance(invocation, dict)
        for event in _invocation_events(invocation, position, agent)
    ]
    asked = add_turns(builder, turns_of(builder, events))
    if not builder.node_count:
        raise InputError("the case holds no conversation")
    if asked is not None:
        set_task_from_text(builder, asked)
    builder.set_method(application or "ADK session", framework=FRAMEWORK)


def _invocation_events(invocation: Record, position: int, agent: str) -> Iterator[Record]:
    """A case's invocation as the events that a session would hold."""
    id = text_of(get(invocation, "invocation_id")) or f"invocation {position}"
    base = {"invocation_id": id, "timestamp": get(invocation, "creation_timestamp")}
    between = get(invocation, "intermediate_data")
    asked, final = get(invocation, "user_content"), get(invocation, "final_response")
    if asked is not None:
        yield {**base, "author": USER, "content": asked}
    inner = {"invocation_id": id}
    listed = get(between, "invocation_events")
    for event in listed if isinstance(listed, list) else []:
        if isinstance(event, dict):
            yield {"author": agent, **event, **inner}
    uses = get(between, "tool_uses")
    for use in uses if isinstance(uses, list) else []:
        parts = [{"function_call": use}]
        yield {**inner, "author": agent, "content": {"parts": parts}}
    answers = get(between, "tool_responses")
    if isinstance(answers, list) and answers:
        parts = [{"function_response": answer} for answer in answers]
        yield {**inner, "author": agent, "content": {"parts": parts}}
    said = get(between, "intermediate_responses")
    for item in said if isinstance(said, list) else []:
        if isinstance(item, list) and len(item) == 2:
            yield {**inner, "author": item[0], "content": {"parts": item[1]}}
    if final is not None:
        yield {**inner, "author": agent, "content": final}


def _result(builder: GraphBuilder, case: Record) -> CollaborationGraph:
    """A case that was run: its session, else its invocations, and the verdict."""
    session = get(case, "session_details")
    if not (
        isinstance(session, dict)
        and isinstance(session.get("events"), list)
        and _fill_session(builder, session)
    ):
        rows = get(case, "eval_metric_result_per_invocation")
        actual = [
            get(row, "actual_invocation") for row in (rows if isinstance(rows, list) else [])
        ]
        _fill_invocations(builder, actual, text_of(get(session, "app_name")))
    verdict = get(case, "final_eval_status")
    success = None
    if isinstance(verdict, int | str) and not isinstance(verdict, bool):
        success = _VERDICTS.get(verdict)
    builder.outcome = Outcome(success=success)
    metrics = get(case, "overall_eval_metric_results")
    if metrics:
        builder.attributes["metrics"] = metrics
    return builder.build()


def _old_conversation(cases: list[Any]) -> list[Record]:
    """The turns of a test file from before evaluation sets, as invocations."""
    found: list[Record] = []
    for case in cases:
        if not isinstance(case, dict):
            continue
        uses = case.get("expected_tool_use")
        tools = [
            {"name": use.get("tool_name"), "args": use.get("tool_input")}
            for use in (uses if isinstance(uses, list) else [])
            if isinstance(use, dict)
        ]
        query, reference = case.get("query"), case.get("reference")
        invocation: Record = {"intermediate_data": {"tool_uses": tools}}
        if query is not None:
            invocation["user_content"] = {"parts": [{"text": text_of(query)}]}
        if reference is not None:
            invocation["final_response"] = {"parts": [{"text": text_of(reference)}]}
        found.append(invocation)
    return found


def _is_old_case(value: Any) -> bool:
    return isinstance(value, dict) and "query" in value and "expected_tool_use" in value


def _is_session(value: Record) -> bool:
    events = value.get("events")
    if not isinstance(events, list):
        return False
    if events:
        return is_event(events[0])
    return get(value, "app_name") is not None or get(value, "past_events") is not None


def _is_evaluation(value: Record) -> bool:
    if get(value, "eval_set_id") is None and get(value, "eval_set_result_id") is None:
        return False
    return any(get(value, name) is not None for name in ("eval_cases", "eval_case_results"))


def _has_event_lines(file: TraceFile) -> bool:
    """Whether the first of several lines is an event by itself."""
    if is_indented(file):
        return False
    lines = file.lines()
    first, second = next(lines, None), next(lines, None)
    if first is None or second is None:
        return False
    try:
        return is_event(_DECODER.decode(first[1]))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
