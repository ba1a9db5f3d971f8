"""Makes a run out of the turns of a Google ADK session."""

from collections.abc import Iterable

from graphstore.builder import GraphBuilder
from graphstore.model import AccessMode, Artifact, Attributes
from ingest.flow import FlowTracker
from ingest.readers.adk_events import USER, Call, Turn
from ingest.readers.decoding import text_of

_STATE = "session state"


def add_turns(builder: GraphBuilder, turns: list[Turn]) -> str | None:
    """Adds the agents, nodes and edges of a session.

    A transfer is a decision that is sent to the agent that it names. Calls of one event are
    made at once. What a turn says goes to the author of the next turn of its invocation who
    is somebody else, else, from an agent, to the user.

    Args:
        builder: Of the run.
        turns: In the order of the session.

    Returns:
        What the user said first.
    """
    agents: dict[str, int] = {}
    for turn in turns:
        if turn.author and turn.author not in agents:
            agents[turn.author] = _new_agent(builder, turn.author)
        for call in turn.calls:
            if call.target is not None and call.target not in agents:
                agents[call.target] = _new_agent(builder, call.target)
    flow = FlowTracker(builder)
    nexts = _next_authors(turns)
    for position, turn in enumerate(turns):
        following = nexts[position]
        receiver = following or (USER if turn.author != USER and turn.author else None)
        place = agents.get(receiver) if receiver is not None else None
        nodes = _add_turn(builder, flow, turn, agents, place)
        later = turns[position + 1].author if position + 1 < len(turns) else None
        if following == later and following not in (None, USER) and place is not None:
            # An agent that ends with a tool hands its result on without a word.
            for node in nodes:
                flow.deliver(node, [place], "inferred")
    return next((turn.text for turn in turns if turn.author == USER and turn.text), None)


def _new_agent(builder: GraphBuilder, name: str) -> int:
    if name == USER:
        return builder.new_agent(name, role="human", kind="human")
    return builder.new_agent(name)


def _next_authors(turns: list[Turn]) -> list[str | None]:
    """For each turn, the next other author of the same invocation."""
    found: list[str | None] = [None] * len(turns)
    for position in range(len(turns) - 2, -1, -1):
        turn, later = turns[position], turns[position + 1]
        if later.invocation == turn.invocation and later.author:
            same = later.author == turn.author
            found[position] = found[position + 1] if same else later.author
    return found


def _add_turn(
    builder: GraphBuilder,
    flow: FlowTracker,
    turn: Turn,
    agents: dict[str, int],
    receiver: int | None,
) -> list[int]:
    """Adds a turn's nodes; returns its last calls, if it ends with such."""
    agent = agents.get(turn.author)
    name = turn.author or "unknown author"
    if turn.thought is not None:
        tokens_in, tokens_out = turn.take_tokens()
        node = builder.add(
            "decision",
            name,
            agent=agent,
            content=turn.thought,
            started_at=turn.started_at,
            attributes=turn.attributes,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )
        flow.act(node, agent)
    if turn.text is not None or not (turn.thought is not None or turn.calls):
        recipients = () if receiver is None or turn.text is None else (receiver,)
        tokens_in, tokens_out = turn.take_tokens()
        node = builder.add(
            "decision" if turn.text is None else "agent_message",
            name,
            agent=agent,
            recipients=recipients,
            delivery="inferred",
            content=turn.text,
            started_at=turn.started_at,
            status=turn.status,
            accesses=_accesses(builder, turn.written),
            outputs=_outputs(turn.artifacts),
            attributes=turn.attributes,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )
        flow.act(node, agent, recipients=recipients, basis="inferred")
    calls: list[int] = []
    for call in turn.calls:
        node = _add_call(builder, turn, call, agents, agent)
        if call.target is None:
            calls.append(node)
            continue
        if calls and agent is not None:
            flow.act_together(calls, agent)
            calls = []
        flow.act(node, agent, recipients=(agents[call.target],))
        if receiver is not None and receiver not in (agents[call.target], agents.get(USER)):
            # A workflow agent never speaks: its first helper acts in its place.
            flow.deliver(node, [receiver], "inferred")
    if calls and agent is not None:
        flow.act_together(calls, agent)
    return calls


def _add_call(
    builder: GraphBuilder,
    turn: Turn,
    call: Call,
    agents: dict[str, int],
    agent: int | None,
) -> int:
    attributes: Attributes = dict(turn.attributes)
    if call.id is not None:
        attributes["call_id"] = call.id
    if call.arguments is not None:
        attributes["arguments"] = call.arguments
    tokens_in, tokens_out = turn.take_tokens()
    failed = isinstance(call.response, dict) and call.response.get("status") == "error"
    return builder.add(
        "tool_call" if call.target is None else "decision",
        call.name,
        agent=agent,
        recipients=() if call.target is None else (agents[call.target],),
        content=text_of(call.response),
        started_at=turn.started_at,
        ended_at=call.ended_at,
        status="error" if failed else None,
        accesses=_accesses(builder, call.written),
        outputs=_outputs(call.artifacts),
        attributes=attributes,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def _accesses(builder: GraphBuilder, keys: list[str]) -> Iterable[tuple[int, AccessMode]]:
    return [(builder.resource(key, _STATE), "write") for key in keys] if keys else ()


def _outputs(files: list[str]) -> Iterable[Artifact]:
    return [_artifact(file) for file in files] if files else ()


def _artifact(name: str) -> Artifact:
    _, dot, extension = name.rpartition(".")
    return Artifact(name=name, type=extension if dot else None)
