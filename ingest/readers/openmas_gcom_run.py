"""The run part of an OpenMAS-GCom record: the trace, the prediction, the costs.

Source: OpenMAS-GCom, Eq. 2 (a step is the executed unit, the messages available to it and its
output or control action), Table 8, appendix A.10 (incoming and outgoing message identifiers).

A step's ``incoming`` names the messages that it consumed: explicit edges from the steps that
sent them, and the unit is a recipient of each. A step without ``incoming`` consumes what
``to`` delivered to its unit since its last step, else continues that one.
"""

from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import AccessMode, AgentKind, Attributes, NodeKind, Outcome
from ingest.flow import FlowTracker
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_iso
from ingest.readers.openmas_gcom_fields import Fields, name_of

_KINDS: dict[str, AgentKind] = {
    "tool": "tool",
    "human": "human",
    "environment": "environment",
}
_TAKEN = frozenset(
    {"unit", "v", "output", "a", "incoming", "to", "tokens_in", "tokens_out", "round"}
    | {"started_at", "ended_at", "status", "reads", "writes"}
)


def fill_run(builder: GraphBuilder, fields: Fields, units: dict[str, int]) -> None:
    """Puts trace, prediction and costs into a builder.

    Args:
        builder: With the organization.
        fields: Of the record.
        units: Position of each unit by name.

    Raises:
        InputError: A step names no unit, or one that the organization lacks.
    """
    steps = [_step(step, position) for position, step in enumerate(_listed(fields.trace))]
    _Run(builder, units).fill(steps)
    _outcome(builder, fields)


def _listed(trace: Any) -> list[Any]:
    if trace is None:
        return []
    if not isinstance(trace, list):
        raise InputError("trace is no list")
    return trace


def _step(step: Any, position: int) -> dict[str, Any]:
    """A step as an object; the paper's triple is unit, messages, output."""
    if isinstance(step, list) and len(step) == 3:
        step = {"unit": step[0], "incoming": step[1], "output": step[2]}
        if not isinstance(step["incoming"], list):
            step["messages"] = step.pop("incoming")
    if not isinstance(step, dict):
        raise InputError(f"trace[{position}]: the step is no object")
    return step


class _Run:
    """Makes the actions of one trace."""

    def __init__(self, builder: GraphBuilder, units: dict[str, int]) -> None:
        self.builder = builder
        self.units = units
        self.agents: dict[str, int] = {}

    def fill(self, steps: list[dict[str, Any]]) -> None:
        names = [self._unit(step, position) for position, step in enumerate(steps)]
        agents = [self._agent(name, step) for name, step in zip(names, steps, strict=True)]
        senders: dict[str, int] = {}
        for position, step in enumerate(steps):
            for message in _texts(step.get("outgoing")):
                senders.setdefault(message, position)
        # Of each step: the steps that sent what it consumed, None where it does not say.
        sources: list[list[int] | None] = []
        receivers: dict[int, list[int]] = {}
        for position, step in enumerate(steps):
            if step.get("incoming") is None:
                sources.append(None)
                continue
            messages = _texts(step["incoming"])
            sent = [senders[one] for one in messages if senders.get(one, position) < position]
            if len(sent) < len(messages):
                self.builder.warn("messages that no earlier step sent stay attributes")
            for sender in sent:
                receivers.setdefault(sender, []).append(agents[position])
            sources.append(list(dict.fromkeys(sent)))
        flow = FlowTracker(self.builder)
        for position, (step, agent, explicit) in enumerate(
            zip(steps, agents, sources, strict=True)
        ):
            stated = [self._named(name, position) for name in _texts(step.get("to"))]
            others = [one for one in receivers.get(position, ()) if one != agent]
            node = self._add(step, names[position], agent, stated or others)
            flow.act(
                node,
                agent,
                recipients=stated,
                explicit=explicit or (),
                derive=explicit is None,
            )

    def _unit(self, step: dict[str, Any], position: int) -> str:
        name = name_of(step, "unit", "v", "role")
        if name is None:
            raise InputError(f"trace[{position}]: the step names no unit")
        if self.units and name not in self.units:
            raise InputError(f"trace[{position}]: no unit is called {name!r}")
        return name

    def _named(self, name: str, position: int) -> int:
        if self.units and name not in self.units:
            raise InputError(f"trace[{position}].to: no unit is called {name!r}")
        return self._agent(name, {})

    def _agent(self, name: str, step: dict[str, Any]) -> int:
        if name not in self.agents:
            unit = self.units.get(name)
            described: Attributes = {}
            if unit is not None and self.builder.organization is not None:
                described = self.builder.organization.units[unit].attributes
            kind = described.get("kind", described.get("type"))
            role = described.get("role", step.get("role"))
            self.agents[name] = self.builder.new_agent(
                name,
                role_name=role if isinstance(role, str) and role != name else None,
                role="tool" if kind == "tool" else None,
                kind=_KINDS.get(kind, "agent") if isinstance(kind, str) else "agent",
                unit=unit,
            )
        return self.agents[name]

    def _add(self, step: dict[str, Any], name: str, agent: int, recipients: list[int]) -> int:
        builder = self.builder
        output, action = step.get("output", step.get("a")), step.get("action")
        kind: NodeKind = "agent_message"
        if builder.agent_role(agent) == "tool":
            kind = "tool_call"
        elif output is None and action is not None:
            kind = "decision"
        accesses: list[tuple[int, AccessMode]] = [
            (builder.resource(one), "read") for one in _texts(step.get("reads"))
        ]
        accesses += [(builder.resource(one), "write") for one in _texts(step.get("writes"))]
        attributes: Attributes = {k: v for k, v in step.items() if k not in _TAKEN}
        if incoming := step.get("incoming"):
            attributes["incoming"] = incoming
        status = step.get("status")
        if status not in (None, "ok", "error"):
            attributes["status"] = status
        return builder.add(
            kind,
            name,
            agent=agent,
            recipients=recipients,
            content=text_of(action if output is None else output),
            accesses=accesses,
            round=_count(step.get("round")),
            started_at=from_iso(step.get("started_at")),
            ended_at=from_iso(step.get("ended_at")),
            tokens_in=_count(step.get("tokens_in")),
            tokens_out=_count(step.get("tokens_out")),
            status=status if status in ("ok", "error") else None,
            attributes=attributes,
        )


def _outcome(builder: GraphBuilder, fields: Fields) -> None:
    prediction, cost = fields.prediction, fields.cost
    usage = cost.get("token_usage", cost.get("tokens"))
    usage = usage if isinstance(usage, dict) else {}
    result = prediction.get("metric_result")
    verdicts = (prediction.get("success"), prediction.get("correct"), result)
    success = next((verdict for verdict in verdicts if isinstance(verdict, bool)), None)
    parsed = text_of(prediction.get("parsed_prediction"))
    answer = text_of(prediction.get("final_answer"))
    score = _number(result)
    builder.outcome = Outcome(
        success=success,
        score=score,
        answer=parsed if answer is None else answer,
        expected=text_of(fields.task.pop("gold_answer", None)),
        termination=name_of(cost, "termination_reason", "termination_status"),
        tokens_in=_count(_first(cost, "tokens_in", usage, "input", "tokens_in", "prompt")),
        tokens_out=_count(
            _first(cost, "tokens_out", usage, "output", "tokens_out", "completion")
        ),
        calls=_count(cost.get("model_calls", cost.get("calls"))),
        retries=_count(cost.get("retries")),
        latency=_number(cost.get("latency")),
        cost=_number(cost.get("cost_usd")),
    )
    invalid = prediction.get("invalid_parse", prediction.get("invalid_parse_flag"))
    if parsed is not None or isinstance(invalid, bool):
        builder.propose(
            builder.task.name if builder.task else "",
            "answer",
            value=parsed,
            score=score,
            valid=not invalid if isinstance(invalid, bool) else None,
        )


def _first(cost: dict[str, Any], field: str, usage: dict[str, Any], *names: str) -> Any:
    value = cost.get(field)
    for name in names:
        if value is not None:
            break
        value = usage.get(name)
    return value


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    listed = value if isinstance(value, list) else [value]
    return [str(one) for one in listed if (one and type(one) is str) or type(one) is int]


def _count(value: Any) -> int | None:
    """A count, where it is one."""
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if whole else None


def _number(value: Any) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if usable else None
    except OverflowError:
        return None
