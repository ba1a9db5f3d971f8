"""Makes a run out of AutoGen's steps: who is in the team, and who receives what."""

from collections.abc import Iterable

from graphstore.builder import GraphBuilder
from graphstore.model import Basis, NodeKind
from ingest.flow import FlowTracker
from ingest.readers.autogen_records import INNER, Step
from ingest.readers.naming import set_task_from_text

FRAMEWORK = "AutoGen"

_TEAMS = {
    "RoundRobin": "RoundRobinGroupChat",
    "Selector": "SelectorGroupChat",
    "Swarm": "Swarm",
    "MagenticOne": "MagenticOneGroupChat",
    "GraphFlow": "GraphFlow",
}
_MANAGERS = ("Manager", "State", "Orchestrator")


def add_run(
    builder: GraphBuilder,
    steps: list[Step],
    *,
    members: Iterable[str] = (),
    manager: str | None = None,
    owner: str | None = None,
) -> None:
    """Adds agents, nodes and edges of one run.

    A message to the team is delivered to everybody else in it, as the framework's group
    chats do; a handoff and the choice of a speaker name their receivers. What an agent does
    inside reaches nobody.

    Args:
        builder: Of the run.
        steps: In the order of the trace.
        members: Further agents of the team, who may never have spoken.
        manager: The type or name of the team's manager, where the trace names it.
        owner: The agent whose memory this is, where it is one: everything was delivered to
            it, and its own messages to nobody that the memory knows.
    """
    agents = _agents(builder, steps, members)
    flow = FlowTracker(builder)
    everybody = tuple(dict.fromkeys(agents.values()))
    others = {agent: tuple(a for a in everybody if a != agent) for agent in everybody}
    for step in steps:
        agent = agents.get(step.source)
        name = step.source or "unknown speaker"
        if step.kind == "calls" and step.calls:
            _add_calls(builder, flow, step, agent)
            continue
        recipients: tuple[int, ...] = ()
        delivery = step.delivery
        if step.target is not None:
            recipients = tuple(agents[target] for target in step.target)
        elif step.kind == "message" and owner is not None:
            recipients = (agents[owner],) if agent != agents[owner] else ()
        elif step.kind == "message":
            recipients = everybody if agent is None else others[agent]
            delivery = "broadcast"
        node = builder.add(
            _node_kind(step),
            name,
            agent=agent,
            recipients=recipients,
            delivery=delivery,
            content=step.content,
            started_at=step.started_at,
            tokens_in=step.tokens_in,
            tokens_out=step.tokens_out,
            attributes=step.attributes,
        )
        basis: Basis = "inferred" if delivery == "inferred" else "delivered"
        flow.act(node, agent, recipients=recipients, basis=basis)
    _set_task(builder, steps)
    builder.set_method(_team(steps, manager) or FRAMEWORK, framework=FRAMEWORK)


def _agents(builder: GraphBuilder, steps: list[Step], members: Iterable[str]) -> dict[str, int]:
    names: dict[str, None] = {}
    for step in steps:
        if step.source:
            names.setdefault(step.source)
        for target in step.target or ():
            names.setdefault(target)
    for member in members:
        names.setdefault(member)
    found: dict[str, int] = {}
    for name in names:
        role = builder.role_of(name)
        found[name] = builder.new_agent(
            name, role=role, kind="human" if role == "human" else "agent"
        )
    return found


def _add_calls(builder: GraphBuilder, flow: FlowTracker, step: Step, agent: int | None) -> None:
    """One node for each call. The tokens belong to the answer that made all of them."""
    nodes = []
    for position, call in enumerate(step.calls):
        attributes = {**step.attributes, **call.attributes}
        if call.call_id is not None:
            attributes["call_id"] = call.call_id
        if call.arguments is not None:
            attributes["arguments"] = call.arguments
        nodes.append(
            builder.add(
                "tool_call",
                call.name,
                agent=agent,
                content=call.result,
                started_at=step.started_at,
                ended_at=call.ended_at,
                tokens_in=step.tokens_in if position == 0 else None,
                tokens_out=step.tokens_out if position == 0 else None,
                status=call.status,
                attributes=attributes,
            )
        )
    if agent is not None:
        flow.act_together(nodes, agent)


def _node_kind(step: Step) -> NodeKind:
    if step.is_handoff or step.attributes.get("type") in INNER:
        return "decision"
    return "agent_message"


def _set_task(builder: GraphBuilder, steps: list[Step]) -> None:
    """What a person asked first, else nothing: a team may begin by itself."""
    for step in steps:
        if step.kind == "message" and step.content:
            if builder.role_of(step.source) == "human":
                set_task_from_text(builder, step.content)
            return


def _team(steps: list[Step], manager: str | None) -> str | None:
    names = [manager] if manager else []
    names += [step.source for step in steps if step.attributes.get("type") in INNER]
    for name in names:
        for beginning, team in _TEAMS.items():
            if name.startswith(beginning) and name.endswith(_MANAGERS):
                return team
    return None
