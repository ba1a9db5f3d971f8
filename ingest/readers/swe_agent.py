"""SWE-agent: one agent at a command line, as a ``.traj`` file.

Source: Yang et al. 2024, "SWE-agent: Agent-Computer Interfaces Enable Automated Software
Engineering". ``history`` holds the messages that the model saw (system prompt, demonstrations,
the issue, then actions and observations in turn); ``trajectory`` holds each step's thought,
action and observation; ``info`` says how it ended. The steps are the assistant's messages in
their order; the observation of the last step stands in ``trajectory`` only. Either part may
be missing.

An assistant's message is a message that nobody else receives, and its action a ``tool_call``
with the observation as its result. Demonstrations belong to the prompt: they are messages of
the environment, whoever is shown speaking in them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import AgentKind, Attributes, CollaborationGraph, GraphKind, Outcome, Role
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, decode_bytes, text_of
from ingest.readers.naming import set_task_from_text
from ingest.readers.openai_calls import ChatCall, calls_of, text_of_content
from ingest.readers.sample_json import first_value

FRAMEWORK = "SWE-agent"
ENVIRONMENT = "environment"
USER = "user"
DEFAULT_AGENT = "primary"

Record = dict[str, Any]

_DECODER: "msgspec.json.Decoder[Any]" = msgspec.json.Decoder()
_MESSAGE = ("message_type", "agent")
_READ_OR_REPEATED = frozenset(
    {"role", "content", "agent", "action", "thought", "response", "observation", "tool_calls"}
    | {"tool_call_ids", "cache_control", "query", "messages"}
)


class SweAgentReader:
    """SWE-agent: a trajectory is a run."""

    format = "swe-agent"
    title = "SWE-agent trajectories"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="partly",
        recipients="partly",
        outcome="partly",
        notes=(
            "Tokens, calls and cost are totals of the run; zeros beside no calls at all are "
            "taken as unknown.",
            "The exit status and the patch are kept; whether the patch is right is decided "
            "elsewhere.",
            "A failed command is not marked: observations are plain text.",
        ),
    )
    telling_keys = frozenset({"action", "message_type", "agent", "exit_status"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the sample begins with a history or a trajectory of steps."""
        value = first_value(sample)
        if not isinstance(value, dict):
            return False
        if _is_steps(value.get("trajectory")) or _is_history(value.get("history")):
            return True
        info = value.get("info")
        is_empty = value.get("trajectory") == [] and "history" in value
        return is_empty and isinstance(info, dict) and "exit_status" in info

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the file's one run.

        Raises:
            InputError: The file is not JSON, or holds neither history nor trajectory.
        """
        data = file.data()
        value, repaired = decode_bytes(data, _DECODER, file.uri)
        if not isinstance(value, dict):
            raise InputError("it is no trajectory", file=file.uri)
        history = _objects(value.get("history"))
        steps = _objects(value.get("trajectory"))
        if not history and not steps:
            raise InputError("it holds neither history nor trajectory", file=file.uri)
        if not _is_ours(value, history, steps):
            raise InputError(
                "it has a history but nothing else of SWE-agent: no trajectory, no info, and "
                "no message with an agent or a message_type",
                file=file.uri,
            )
        builder = context.builder(self, file, data)
        if repaired:
            builder.warn(REPAIRED)
        run = _Run(builder, history, steps)
        run.add()
        if not builder.node_count:
            raise InputError("it holds no message but the system prompt", file=file.uri)
        builder.outcome = _outcome(builder, value.get("info"))
        builder.set_method(FRAMEWORK, framework=FRAMEWORK)
        environment = text_of(value.get("environment"))
        if environment:
            builder.attributes["environment"] = environment
        yield builder.build()


SWE_AGENT = SweAgentReader()


class _Run:
    """Adds the messages and steps of one trajectory."""

    def __init__(
        self, builder: GraphBuilder, history: list[Record], steps: list[Record]
    ) -> None:
        self._builder = builder
        self._flow = FlowTracker(builder)
        self._history = history
        self._steps = steps
        self._agents: dict[str, int] = {}
        self._names = [text_of(record.get("agent")) or DEFAULT_AGENT for record in history]
        self._prompts = _prompts(history, self._names)

    def add(self) -> None:
        if not self._history:
            for step in self._steps:
                said = text_of(step.get("response")) or text_of(step.get("thought"))
                self._add_step(self._agent(DEFAULT_AGENT), said, step, step, calls_of(step))
            return
        calls = {
            position: calls_of(record)
            for position, record in enumerate(self._history)
            if _is_assistant(record)
        }
        answers = _observations(self._history, self._names, calls)
        used = {place for places in answers.values() for place in places}
        count = len(calls)
        matched = self._steps if count == len(self._steps) else []
        if self._steps and not matched:
            self._builder.warn(
                f"the history has {count} actions and the trajectory {len(self._steps)} steps: "
                "the history was read"
            )
        taken = 0
        for position, record in enumerate(self._history):
            name = self._names[position]
            if position in used or self._prompts.get(name, (None, ""))[0] == position:
                continue
            if position not in calls:
                self._add_prompt(record, name)
                continue
            step = matched[taken] if matched else {}
            taken += 1
            seen = [self._history[place] for place in answers.get(position, ())]
            said = text_of_content(record.get("content"))
            self._add_step(self._agent(name), said, record, step, calls[position], seen)

    def _agent(self, name: str) -> int:
        if name not in self._agents:
            kind: AgentKind = "agent"
            role: Role | None = None
            if name == USER:
                kind, role = "human", "human"
            elif name == ENVIRONMENT:
                kind, role = "environment", "environment"
            attributes: Attributes = {}
            if name in self._prompts:
                attributes["system_prompt"] = self._prompts[name][1]
            self._agents[name] = self._builder.new_agent(
                name, role=role or self._solver(name), kind=kind, attributes=attributes
            )
        return self._agents[name]

    def _solver(self, name: str) -> Role:
        role = self._builder.role_of(name)
        return "solver" if role == "unknown" else role

    def _add_prompt(self, record: Record, receiver: str) -> None:
        """The issue, a demonstration, or what the harness says between two actions."""
        content = text_of_content(record.get("content"))
        role = record.get("role")
        is_first = role == "user" and not _is_demo(record) and not self._flow_began()
        sender = USER if is_first else ENVIRONMENT
        agent, to = self._agent(sender), self._agent(receiver)
        node = self._builder.add(
            "agent_message",
            sender,
            agent=agent,
            recipients=(to,),
            delivery="explicit",
            content=content,
            attributes={**_kept(record), "chat_role": text_of(role)},
        )
        self._flow.act(node, agent, recipients=(to,))
        if sender == USER and content and self._builder.task is None:
            set_task_from_text(self._builder, content)

    def _flow_began(self) -> bool:
        return any(
            name not in (USER, ENVIRONMENT) and self._flow.last_action(agent) is not None
            for name, agent in self._agents.items()
        )

    def _add_step(
        self,
        agent: int,
        said: str | None,
        record: Record,
        step: Record,
        calls: list[ChatCall],
        seen: Sequence[Record] = (),
    ) -> None:
        """The words of a step, then its action with what came of it."""
        name = self._builder.agent_name(agent)
        attributes = _kept(record)
        if step is not record:
            attributes.update(_kept(step))
        action = text_of(record.get("action")) or text_of(step.get("action"))
        calls = calls or calls_of(step)
        if said or not (calls or action):
            node = self._builder.add(
                "agent_message", name, agent=agent, content=said, attributes=attributes
            )
            self._flow.act(node, agent)
        if not calls and action and action.strip():
            calls = [ChatCall(_command(action), None, None)]
        if not calls:
            return
        texts = [text_of_content(message.get("content")) for message in seen]
        if not texts:
            texts = [text_of(step.get("observation"))]
        nodes = []
        for number, call in enumerate(calls):
            extra: Attributes = {} if said else dict(attributes)
            if action is not None and number == 0:
                extra["action"] = action
            if call.id is not None:
                extra["call_id"] = call.id
            if call.arguments is not None:
                extra["arguments"] = call.arguments
            last = number == len(calls) - 1
            result = texts[number] if number < len(texts) else None
            if last and len(texts) > len(calls):
                result = "\n".join(text for text in texts[number:] if text)
            nodes.append(
                self._builder.add(
                    "tool_call", call.name, agent=agent, content=result, attributes=extra
                )
            )
        self._flow.act_together(nodes, agent)


def _prompts(history: list[Record], names: list[str]) -> dict[str, tuple[int, str]]:
    """The place and text of each agent's first system message."""
    found: dict[str, tuple[int, str]] = {}
    for position, record in enumerate(history):
        if record.get("role") == "system":
            content = text_of_content(record.get("content"))
            if content is not None:
                found.setdefault(names[position], (position, content))
    return found


def _observations(
    history: list[Record], names: list[str], calls: dict[int, list[ChatCall]]
) -> dict[int, list[int]]:
    """For each assistant's message, where the observations of its action stand.

    They are the messages right after it, of the same agent, that are not marked as anything
    else; a model without tool calls gets them in the role of the user.
    """
    found: dict[int, list[int]] = {}
    waiting: dict[str, int] = {}
    for position, (record, name) in enumerate(zip(history, names, strict=True)):
        if position in calls:
            waiting.pop(name, None)
            if calls[position] or text_of(record.get("action")):
                waiting[name] = position
            continue
        if name not in waiting:
            continue
        role = record.get("role")
        if role == "tool":
            found.setdefault(waiting[name], []).append(position)
        elif role == "user" and not _is_demo(record):
            found.setdefault(waiting.pop(name), []).append(position)
    return found


def _is_assistant(record: Record) -> bool:
    return record.get("role") == "assistant" and not _is_demo(record)


def _is_demo(record: Record) -> bool:
    return record.get("is_demo") is True


def _command(action: str) -> str:
    """The program that an action starts: the first word of its first line."""
    return action.split(maxsplit=1)[0][:100]


def _kept(record: Record) -> Attributes:
    """What is kept as it stands: false and zero are, nothing and empty are not."""
    if _READ_OR_REPEATED.issuperset(record):
        return {}
    return {
        key: value
        for key, value in record.items()
        if key not in _READ_OR_REPEATED and (value or value not in (None, "", [], {}))
    }


def _objects(value: Any) -> list[Record]:
    if not isinstance(value, list):
        return []
    return [item if isinstance(item, dict) else {"content": item} for item in value]


def _outcome(builder: GraphBuilder, info: Any) -> Outcome:
    if not isinstance(info, dict):
        return Outcome()
    stats = info.get("model_stats")
    stats = stats if isinstance(stats, dict) else {}
    calls = _count(stats.get("api_calls"))
    measured = bool(calls) or bool(_count(stats.get("tokens_sent")))
    cost = stats.get("instance_cost")
    has_cost = measured and isinstance(cost, int | float) and not isinstance(cost, bool)
    for key in ("swe_agent_version", "swe_agent_hash", "edited_files30"):
        if info.get(key) not in (None, ""):
            builder.attributes[key] = info[key]
    return Outcome(
        answer=text_of(info.get("submission")),
        termination=text_of(info.get("exit_status")),
        tokens_in=_count(stats.get("tokens_sent")) if measured else None,
        tokens_out=_count(stats.get("tokens_received")) if measured else None,
        calls=calls if measured else None,
        cost=float(cost) if has_cost and cost is not None and abs(cost) < 1e300 else None,
    )


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**63 else None


def _is_ours(value: Record, history: list[Record], steps: list[Record]) -> bool:
    """Whether something tells the file from any other with a history of messages."""
    if any(_is_steps([step]) for step in steps):
        return True
    if any(key in record for record in history for key in _MESSAGE):
        return True
    info = value.get("info")
    return isinstance(info, dict) and bool(history)


def _is_steps(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and "action" in value[0]
        and ("observation" in value[0] or "thought" in value[0] or "response" in value[0])
    )


def _is_history(value: Any) -> bool:
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return False
    first = value[0]
    return "role" in first and "content" in first and any(key in first for key in _MESSAGE)
