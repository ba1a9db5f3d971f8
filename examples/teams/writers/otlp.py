"""Runs of the chain as OpenTelemetry spans: OTLP JSON, one trace a line.

Each run is a trace: a root span for the whole, below it one agent span for each member that
took part, and below those the calls of the model and of tools, with OpenInference's and
GenAI's attributes. What the checker says stands in an evaluator span. The shape has no place
for the human, for permitted links and for a decisive mistake; who got a member's note is for
the reader to find out.
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
_SCOPE = f"openinference.instrumentation.{FRAMEWORK}"


def lines(plays: list[Play]) -> bytes:
    """One line a run."""
    return b"".join(
        (json.dumps(trace(play), ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        for play in plays
    )


def trace(play: Play) -> dict[str, Any]:
    """One run as resource spans."""
    spans = _spans(play)
    resource = _attributes({"service.name": play.method, "service.version": "1"})
    scope = {"name": _SCOPE, "version": "1"}
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
                _tool(play, place) if action.speaker in tools else _model(play, place, tools),
                error=action.content if action.status == "error" else None,
                kind=_INTERNAL if action.speaker in tools else _CLIENT,
            )
        )
    end = _root_times(play)[1]
    check = digest(play.id, "check", size=8)
    spans.append(_span(trace_id, check, root, "check answer", (end, end), _checked(play)))
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
        "llm.token_count.prompt": play.tokens_in,
        "llm.token_count.completion": play.tokens_out,
        "masgraph.task.name": play.task.name,
        "masgraph.task.dataset": DATASET,
        "masgraph.task.category": play.task.family,
        "masgraph.expected": play.task.expected,
    }


def _model(play: Play, place: int, tools: set[str]) -> Attributes:
    action = play.actions[place]
    attributes: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": action.speaker,
        "gen_ai.usage.input_tokens": action.tokens_in,
        "gen_ai.usage.output_tokens": action.tokens_out,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": action.content,
    }
    answered = [source for source in action.consumes if play.actions[source].speaker in tools]
    for number, source in enumerate(answered):
        message = f"llm.input_messages.{number}.message"
        attributes[f"{message}.role"] = "tool"
        attributes[f"{message}.tool_call_id"] = _call_id(source)
        attributes[f"{message}.content"] = play.actions[source].content
    if tools.intersection(action.to):
        call = "llm.output_messages.0.message.tool_calls.0.tool_call"
        attributes[f"{call}.id"] = _call_id(place + 1)
        attributes[f"{call}.function.name"] = action.to[0]
        attributes[f"{call}.function.arguments"] = _arguments(play.actions[place + 1])
    return attributes


def _tool(play: Play, place: int) -> Attributes:
    action = play.actions[place]
    return {
        "openinference.span.kind": "TOOL",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.id": _call_id(place),
        "tool.name": action.name,
        "input.value": _arguments(action),
        "output.value": action.content,
    }


def _call_id(place: int) -> str:
    """A tool's call directly follows the message that asks for it."""
    return f"call_{place}"


def _arguments(action: Action) -> str:
    return json.dumps(action.arguments, ensure_ascii=False)


def _checked(play: Play) -> Attributes:
    verdict = play.verdict
    return {
        "openinference.span.kind": "EVALUATOR",
        "gen_ai.evaluation.name": "answer check",
        "gen_ai.evaluation.score.value": float(verdict.score),
        "gen_ai.evaluation.score.label": "correct" if verdict.right else "incorrect",
        "gen_ai.evaluation.explanation": f"The right answer is {play.task.expected}.",
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
