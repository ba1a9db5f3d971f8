"""Run states of the OpenAI Agents SDK: what ``to_state().to_json()`` and ``toJSON()`` write.

Every version of the schema holds the input, the items that the run generated, each with its
agent, and the model's responses with their usage. The Python SDK writes snake case, the
TypeScript SDK camel case.

- A model response is a message of the agent; its words are those of its message items. Items
  that no response accounts for are grouped into messages by agent.
- A tool call and its output are one ``tool_call`` of the tool, with the output as content and
  the arguments as an attribute. One that waits for approval has no content.
- A handoff and its output are one ``decision``, sent to the agent that takes over.
- An input guardrail's result is a ``decision`` of the guardrail.
- The session's items come first where the SDK keeps both lists, since it may filter the other
  one for the model. An item of the input that the session holds too is one.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome, Role
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, short_name, text_of
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.openai_agents_items import (
    VERSION,
    AgentKey,
    Handoff,
    Message,
    Plan,
    Said,
    Tool,
    field_of,
    key_of,
    plan,
)
from ingest.readers.platform_spans import count_at, short
from ingest.readers.sample_json import first_value

_ENCODER = msgspec.json.Encoder(order="deterministic")


class RunStateReader:
    """Run states of the OpenAI Agents SDK."""

    format = "openai-agents-runstate"
    title = "OpenAI Agents SDK, run state"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="no",
        tokens="partly",
        recipients="yes",
        outcome="partly",
        notes=(
            "A message without content is a model response that only calls tools.",
            "What agents that run as tools did inside is not in the state.",
            "Counts of zero are written for models that do not count, and are missing here.",
            "The answer is the last message of a run that nothing interrupts.",
        ),
    )
    telling_keys = frozenset({VERSION})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first value is a run state."""
        value = first_value(sample)
        if isinstance(value, list):
            value = value[0] if value else None
        if not isinstance(value, dict) or not isinstance(value.get(VERSION), str):
            return False
        return any(
            field_of(value, key) is not None
            for key in ("current_agent", "generated_items", "original_input", "current_turn")
        ) or value.keys() <= {VERSION, "auto_previous_response_id", "context"}

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields a run for each state.

        Raises:
            InputError: The file cannot be read to its end. States before stay valid.
        """
        states = values(file)
        begin = list(islice(states, 2))
        if not begin:
            raise InputError("it is empty", file=file.uri)
        for number, (state, repaired) in enumerate(chain(begin, states), 1):
            record = f"state {number}" if len(begin) > 1 else None
            if not isinstance(state, dict) or VERSION not in state:
                yield Rejection(file.uri, record, f"it is no run state: it has no {VERSION}")
                continue
            builder = context.builder(self, file, _ENCODER.encode(state), record=record)
            if repaired:
                builder.warn(REPAIRED)
            try:
                yield _Run(builder, state, context).graph()
            except InputError as error:
                yield Rejection(file.uri, record, error.reason)


RUN_STATE = RunStateReader()


class _Run:
    """One state on its way to a graph."""

    def __init__(
        self, builder: GraphBuilder, state: dict[str, Any], context: ReadContext
    ) -> None:
        self.builder = builder
        self.state = state
        self.context = context
        self.flow = FlowTracker(builder)
        self.agents: dict[AgentKey, int] = {}
        self.tools: dict[str, int] = {}

    def graph(self) -> CollaborationGraph:
        steps = plan(self.state)
        self._describe(steps)
        starting = next((step.agent for step in steps.order if isinstance(step, Message)), None)
        starting = starting or key_of(field_of(self.state, "current_agent"))
        guarded = False
        for place, step in enumerate(steps.order):
            if isinstance(step, Said):
                following = (one for one in steps.order[place:] if isinstance(one, Message))
                reader = next((one.agent for one in following), starting)
                self._said(step, reader)
                if not guarded:
                    guarded = True
                    self._guardrails("input_guardrail_results", step.node)
            elif isinstance(step, Message):
                self._message(step)
            elif isinstance(step, Handoff):
                self._handoff(step)
            else:
                self._tool(step)
        last = next((one for one in reversed(steps.order) if isinstance(one, Message)), None)
        if last is not None:
            self._guardrails("output_guardrail_results", last.node)
        if starting is not None:
            self._agent(starting)
        self._finish(steps)
        return self.builder.build()

    def _describe(self, steps: Plan) -> None:
        builder, state = self.builder, self.state
        asked = next(
            (one.text for one in steps.order if isinstance(one, Said) and one.text), None
        )
        if asked is not None:
            set_task_from_text(builder, asked)
            builder.name = short_name(asked) or None
        trace = state.get("trace")
        if isinstance(trace, dict):
            name = trace.get("workflow_name") or trace.get("workflowName")
            if isinstance(name, str) and name:
                builder.set_method(name, framework="openai-agents")
            for key in ("id", "trace_id", "group_id"):
                if isinstance(trace.get(key), str):
                    builder.attributes[f"trace_{key.removeprefix('trace_')}"] = trace[key]
        builder.attributes["schema_version"] = state[VERSION]
        for key in ("conversation_id", "current_turn", "max_turns"):
            if (value := field_of(state, key)) is not None:
                builder.attributes[key] = value
        for key in ("tool_input_guardrail_results", "tool_output_guardrail_results"):
            if results := field_of(state, key):
                builder.attributes[key] = short(results)

    def _agent(self, key: AgentKey) -> int:
        found = self.agents.get(key)
        if found is None:
            name, identity = key
            attributes = {} if identity is None else {"identity": identity}
            if name is None:
                attributes["named_by"] = "role"
                self.builder.warn("the input holds messages of an assistant without a name")
            found = self.builder.new_agent(name or "assistant", attributes=attributes)
            self.agents[key] = found
        return found

    def _tool_agent(self, name: str) -> int:
        found = self.tools.get(name)
        if found is None:
            role: Role = self.context.role_of(name)
            found = self.builder.new_agent(
                name, kind="tool", role="tool" if role == "unknown" else role
            )
            self.tools[name] = found
        return found

    def _said(self, step: Said, reader: AgentKey | None) -> None:
        user = self.builder.agent("user", kind="human", role="human")
        recipients = () if reader is None else (self._agent(reader),)
        step.node = self.builder.add(
            "agent_message",
            "user",
            agent=user,
            recipients=recipients,
            delivery="explicit" if recipients else None,
            content=step.text,
        )
        self.flow.act(step.node, user, recipients=recipients, derive=False)

    def _message(self, step: Message) -> None:
        agent = self._agent(step.agent)
        tools = [self._tool_agent(tool.name) for tool in step.tools]
        attributes: Attributes = {}
        if step.reasoning:
            attributes["reasoning"] = "\n".join(step.reasoning)
        if step.response_id is not None:
            attributes["response_id"] = step.response_id
        step.node = self.builder.add(
            "agent_message",
            self.builder.agent_name(agent),
            agent=agent,
            recipients=tools,
            delivery="explicit" if tools else None,
            content="\n".join(step.texts) or None,
            tokens_in=step.tokens_in,
            tokens_out=step.tokens_out,
            attributes=attributes,
        )
        self.flow.act(step.node, agent)

    def _tool(self, step: Tool) -> None:
        agent = self._tool_agent(step.name)
        caller = self._agent(step.agent)
        sources = [] if step.message is None else [step.message.node]
        outer = step.caller
        if outer is not None:
            sources.append(outer.node)
        recipients = (caller,) if step.answered else ()
        node = step.node = self.builder.add(
            "tool_call",
            step.name,
            agent=agent,
            recipients=recipients,
            delivery="explicit" if recipients else None,
            content=step.output,
            parent=None if outer is None else outer.node,
            status=step.status,
            attributes=step.attributes,
        )
        self.flow.act(node, agent, explicit=sources, recipients=recipients, derive=False)

    def _handoff(self, step: Handoff) -> None:
        agent = self._agent(step.agent)
        recipients = () if step.target is None else (self._agent(step.target),)
        step.node = self.builder.add(
            "decision",
            self.builder.agent_name(agent),
            agent=agent,
            recipients=recipients,
            delivery="explicit" if recipients else None,
            content=step.arguments,
            attributes=step.attributes,
        )
        sources = [] if step.message is None else [step.message.node]
        self.flow.act(step.node, agent, explicit=sources, recipients=recipients)

    def _guardrails(self, key: str, checked: int) -> None:
        results = field_of(self.state, key)
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, dict):
                continue
            guardrail = result.get("guardrail")
            output = result.get("output")
            output = output if isinstance(output, dict) else {}
            name = guardrail.get("name") if isinstance(guardrail, dict) else None
            name = name if isinstance(name, str) and name else "guardrail"
            agent = self._tool_agent(name)
            triggered = output.get("tripwireTriggered", output.get("tripwire_triggered"))
            node = self.builder.add(
                "decision",
                name,
                agent=agent,
                content=text_of(output.get("outputInfo", output.get("output_info"))),
                attributes={} if triggered is None else {"triggered": triggered},
            )
            self.flow.act(node, agent, explicit=[checked])

    def _finish(self, steps: Plan) -> None:
        builder, state = self.builder, self.state
        if steps.unknown:
            builder.attributes["other_items"] = [short(item) for item in steps.unknown]
            builder.warn(f"{len(steps.unknown)} items of other types are kept as attributes")
        if steps.repeated:
            builder.warn(f"{steps.repeated} items stood twice and were counted once")
        if steps.silent:
            builder.warn(f"{steps.silent} model responses have no item")
        step = field_of(state, "current_step")
        termination = step.get("type") if isinstance(step, dict) else None
        last = steps.order[-1] if steps.order else None
        answer = None
        if not isinstance(step, dict) and isinstance(last, Message) and not last.tools:
            answer = "\n".join(last.texts) or None
        context = state.get("context")
        usage = context.get("usage") if isinstance(context, dict) else None
        counted = count_at(usage, "requests")
        builder.outcome = Outcome(
            answer=answer,
            termination=termination if isinstance(termination, str) else None,
            tokens_in=count_at(usage, "input_tokens", "inputTokens") if counted else None,
            tokens_out=count_at(usage, "output_tokens", "outputTokens") if counted else None,
            calls=counted or None,
        )
