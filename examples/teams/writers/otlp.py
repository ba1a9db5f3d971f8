"""Runs of the chain as OpenTelemetry spans: OTLP JSON, one trace a line.

Each run is a trace: a root span for the whole, below it one agent span for each member that
took part, and below those the calls of the model and of tools, with OpenInference's and
GenAI's attributes.
"""

import json
from collections.abc import Mapping
from typing import Any

from graphstore.identity import digest
from teams.stage import HUMAN, Action, Play
from teams.task import DATASET
from teams.writers.native import FRAMEWORK

Attributes = Mapping[str, Any]

_OK, _ERROR = 1, 2
_INTERNAL, _CLIENT = 1, 3
_INSTRUMENTATION = "masgraph.examples"


def lines(plays: list[Play]) -> bytes:
    """One line a run."""
    return b"".join(
        (json.dumps(trace(play), ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        for play in plays
    )


def trace(play: Play) -> dict[str, Any]:
    """One run as resource spans."""
    spans = _spans(play)
    resource = _attributes({"service.name": FRAMEWORK, "service.version": "1"})
    scope = {"name": _INSTRUMENTATION, "version": "1"}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": resource},
                "scopeSpans": [{"scope": scope, "spans": spans}],
            }
        ]
    }


def _spans(play: Play) -> list[dict[str, Any]]:
    trace_id = digest(play.id, size=16)
    root = digest(play.id, "root", size=8)
    tools = {member.name for member in play.members if member.kind == "tool"}
    roles = {member.name: member.role for member in play.members}
    owners = _owners(play, tools)
    inside: dict[str, list[Action]] = {}
    for action, owner in zip(play.actions, owners, strict=True):
        if owner != HUMAN:
            inside.setdefault(owner, []).append(action)
    agents = {name: digest(play.id, "agent", name, size=8) for name in inside}
    spans = [_span(trace_id, root, None, f"{play.method}.run", _root_times(play), _root(play))]
    named: set[str] = set()
    for place, (action, owner) in enumerate(zip(play.actions, owners, strict=True)):
        if owner == HUMAN:
            continue
        if owner not in named:
            named.add(owner)
            mine = inside[owner]
            times = (mine[0].started_at, mine[-1].ended_at)
            spans.append(
                _span(
                    trace_id,
                    agents[owner],
                    root,
                    f"invoke_agent {owner}",
                    times,
                    {
                        "openinference.span.kind": "AGENT",
                        "gen_ai.operation.name": "invoke_agent",
                        "gen_ai.agent.name": owner,
                        "agent.name": owner,
                        "agent.role": roles[owner],
                        "output.value": mine[-1].content,
                    },
                )
            )
        spans.append(
            _span(
                trace_id,
                digest(play.id, str(place), size=8),
                agents[owner],
                f"execute_tool {action.name}" if action.speaker in tools else "chat",
                (action.started_at, action.ended_at),
                _tool(action) if action.speaker in tools else _model(play, action),
                error=action.content if action.status == "error" else None,
                kind=_INTERNAL if action.speaker in tools else _CLIENT,
            )
        )
    return spans


def _owners(play: Play, tools: set[str]) -> list[str]:
    """Who each action belongs to: a tool's call to the member that made it."""
    return [
        action.to[0] if action.speaker in tools else action.speaker for action in play.actions
    ]


def _root_times(play: Play) -> tuple[int, int]:
    return play.actions[0].started_at, max(action.ended_at for action in play.actions)


def _root(play: Play) -> Attributes:
    return {
        "openinference.span.kind": "CHAIN",
        "session.id": play.id,
        "input.value": play.task.question,
        "output.value": play.answer,
        "masgraph.dataset": DATASET,
        "masgraph.task": play.task.name,
        "masgraph.task.category": play.task.family,
        "masgraph.method": play.method,
        "masgraph.framework": FRAMEWORK,
        "masgraph.outcome.success": play.verdict.right,
        "masgraph.outcome.score": play.verdict.score,
        "masgraph.outcome.answer": play.answer,
        "masgraph.outcome.expected": play.task.expected,
        "masgraph.outcome.termination": play.termination,
    }


def _model(play: Play, action: Action) -> Attributes:
    heard = "\n".join(play.actions[place].content for place in action.consumes)
    return {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": action.speaker,
        "gen_ai.usage.input_tokens": action.tokens_in,
        "gen_ai.usage.output_tokens": action.tokens_out,
        "llm.token_count.prompt": action.tokens_in,
        "llm.token_count.completion": action.tokens_out,
        "input.value": heard,
        "output.value": action.content,
    }


def _tool(action: Action) -> Attributes:
    arguments = json.dumps(action.arguments, ensure_ascii=False)
    return {
        "openinference.span.kind": "TOOL",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": action.name,
        "tool.name": action.name,
        "tool.parameters": arguments,
        "input.value": arguments,
        "output.value": action.content,
    }


def _span(
    trace_id: str,
    span_id: str,
    parent: str | None,
    name: str,
    times: tuple[int, int],
    attributes: Attributes,
    *,
    error: str | None = None,
    kind: int = _INTERNAL,
) -> dict[str, Any]:
    status = {"code": _OK} if error is None else {"code": _ERROR, "message": error}
    return {
        "traceId": trace_id,
        "spanId": span_id,
        **({} if parent is None else {"parentSpanId": parent}),
        "name": name,
        "kind": kind,
        # 64-bit numbers are texts in OTLP's JSON.
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
        "attributes": _attributes(attributes),
        "status": status,
    }


def _attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _value(value)}
        for key, value in attributes.items()
        if value is not None
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value)}
