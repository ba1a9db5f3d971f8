"""The graph of a LangGraph run whose messages are known."""

from typing import Any

from graphstore.builder import GraphBuilder
from graphstore.model import Attributes, Delivery, Outcome, Role
from ingest.reader import ReadContext
from ingest.readers.decoding import short_name
from ingest.readers.langgraph_messages import NOBODY, AgentPath, Entry, Ledger
from ingest.readers.naming import set_task_from_text
from ingest.readers.platform_spans import count_at


def fill_ledger(
    builder: GraphBuilder,
    ledger: Ledger,
    context: ReadContext,
    *,
    asked: str | None = None,
    termination: str | None = None,
) -> None:
    """Puts a run into a builder.

    Args:
        builder: Of the run.
        ledger: Its messages.
        context: Policy and roles.
        asked: The task, where the first message of the user is not it.
        termination: Why the run stopped.
    """
    agents: dict[AgentPath, int] = {}
    tools: dict[str, int] = {}

    def agent(path: AgentPath) -> int:
        found = agents.get(path)
        if found is None:
            human = path == ("user",)
            attributes: Attributes = {} if len(path) < 2 else {"path": list(path)}
            if path == NOBODY:
                attributes["named_by"] = "role"
            found = agents[path] = builder.new_agent(
                path[-1],
                kind="human" if human else "agent",
                role="human" if human else None,
                attributes=attributes,
            )
        return found

    def tool(name: str) -> int:
        found = tools.get(name)
        if found is None:
            role: Role = context.role_of(name)
            role = "tool" if role == "unknown" else role
            found = tools[name] = builder.new_agent(name, kind="tool", role=role)
        return found

    def reader(path: AgentPath) -> int:
        return tool(path[1]) if len(path) == 2 and path[0] == "tool" else agent(path)

    by_name: dict[str, AgentPath] = {}
    for entry in ledger.entries:
        by_name.setdefault(entry.agent[-1], entry.agent)
    asked = asked or next(
        (one.content for one in ledger.entries if one.agent == ("user",) and one.content), None
    )
    if asked is not None:
        set_task_from_text(builder, asked)
        builder.name = short_name(asked) or None
    for entry in ledger.entries:
        if entry.target is not None:
            entry.target = by_name.get(entry.target[-1], entry.target)
            entry.readers[entry.target] = "explicit"
        owner = tool(entry.tool) if entry.tool is not None else agent(entry.agent)
        recipients = {reader(path): delivery for path, delivery in entry.readers.items()}
        recipients.pop(owner, None)
        delivery: Delivery | None = None
        if recipients:
            delivery = "inferred" if "inferred" in recipients.values() else "explicit"
        usage = entry.message.raw.get("usage_metadata") if entry.message is not None else None
        builder.add(
            entry.kind,
            builder.agent_name(owner),
            agent=owner,
            recipients=recipients,
            delivery=delivery,
            content=entry.content,
            round=entry.round if entry.round is not None and entry.round >= 0 else None,
            started_at=entry.started_at,
            ended_at=entry.ended_at,
            tokens_in=count_at(usage, "input_tokens"),
            tokens_out=count_at(usage, "output_tokens"),
            status=_status(entry),
            attributes=_attributes(entry),
        )
    for entry in ledger.entries:
        for source, basis in sorted(entry.sources.items()):
            builder.edge(source, entry.place, basis)
    if ledger.unknown_authors:
        builder.warn(
            f"{ledger.unknown_authors} messages of an assistant have no author: "
            "they were in the state before"
        )
    builder.outcome = Outcome(answer=ledger.answer(), termination=termination)


def _status(entry: Entry) -> Any:
    said = entry.message.raw.get("status") if entry.message is not None else None
    if "error" in entry.attributes or said == "error":
        return "error"
    return "ok" if said == "success" and entry.kind == "tool_call" else None


def _attributes(entry: Entry) -> Attributes:
    found = dict(entry.attributes)
    message = entry.message
    if message is None:
        return found
    if message.id is not None:
        found["message_id"] = message.id
    if message.name is not None and message.name not in (entry.agent[-1], entry.tool):
        found["name"] = message.name
    if names := [call.name for call in message.calls if call.name]:
        found["tool_calls"] = names
    return found
