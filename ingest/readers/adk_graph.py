"""Makes a run out of the turns of a Google ADK session."""

from graphstore.builder import GraphBuilder
from graphstore.model import AgentKind, Artifact, Attributes, Role
from ingest.flow import FlowTracker
from ingest.readers.adk_events import USER, Call, Turn
from ingest.readers.decoding import text_of

_STATE = "session state"


class _Tokens:
    """The tokens of one event: they belong to its first node, and count once."""

    def __init__(self, read: int | None, written: int | None) -> None:
        self._read = read
        self._written = written

    def read(self) -> int | None:
        value, self._read = self._read, None
        return value

    def written(self) -> int | None:
        value, self._written = self._written, None
        return value


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
        for name in (turn.author, *(call.target for call in turn.calls)):
            if name and name not in agents:
                kind: AgentKind = "human" if name == USER else "agent"
                role: Role | None = "human" if name == USER else None
                agents[name] = builder.new_agent(name, role=role, kind=kind)
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
    tokens = _Tokens(turn.tokens_in, turn.tokens_out)
    if turn.thought is not None:
        node = builder.add(
            "decision",
            name,
            agent=agent,
            content=turn.thought,
            started_at=turn.started_at,
            attributes=turn.attributes,
            tokens_in=tokens.read(),
            tokens_out=tokens.written(),
        )
        flow.act(node, agent)
    if turn.text is not None or not (turn.thought is not None or turn.calls):
        recipients = () if receiver is None or turn.text is None else (receiver,)
        node = builder.add(
            "decision" if turn.text is None else "agent_message",
            name,
            agent=agent,
            recipients=recipients,
            delivery="inferred",
            content=turn.text,
            started_at=turn.started_at,
            status=turn.status,
            accesses=[(builder.resource(key, _STATE), "write") for key in turn.written],
            outputs=[_artifact(file) for file in turn.artifacts],
            attributes=turn.attributes,
            tokens_in=tokens.read(),
            tokens_out=tokens.written(),
        )
        flow.act(node, agent, recipients=recipients, basis="inferred")
    calls: list[int] = []
    for call in turn.calls:
        node = _add_call(builder, turn, call, agents, tokens)
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
    tokens: _Tokens,
) -> int:
    attributes: Attributes = dict(turn.attributes)
    if call.id is not None:
        attributes["call_id"] = call.id
    if call.arguments is not None:
        attributes["arguments"] = call.arguments
    failed = isinstance(call.response, dict) and call.response.get("status") == "error"
    return builder.add(
        "tool_call" if call.target is None else "decision",
        call.name,
        agent=agents.get(turn.author),
        recipients=() if call.target is None else (agents[call.target],),
        content=text_of(call.response),
        started_at=turn.started_at,
        ended_at=call.ended_at,
        status="error" if failed else None,
        accesses=[(builder.resource(key, _STATE), "write") for key in call.written],
        outputs=[_artifact(file) for file in call.artifacts],
        attributes=attributes,
        tokens_in=tokens.read(),
        tokens_out=tokens.written(),
    )


def _artifact(name: str) -> Artifact:
    _, dot, extension = name.rpartition(".")
    return Artifact(name=name, type=extension if dot else None)
