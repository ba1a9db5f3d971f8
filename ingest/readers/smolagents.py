"""Memories of smolagents: the steps of one agent, or of a manager and its helpers.

A file holds the steps of one agent (``memory.get_full_steps()`` or the shorter
``get_succinct_steps()``), a run's result with its ``steps``, or several agents: an object of
steps by name, or objects with ``agent`` and ``steps``, in a list or one a line.

- A step of planning or acting is a message of the agent.
- A tool call is one ``tool_call``; the step's observations are its content. Where one step made
  several calls, their observations stand together, at the last one.
- The call of ``final_answer`` is no action of a tool: the message says it.
- Memories share no id. A helper's run belongs to the manager's step during which it began, or,
  without times, to the call with its name; its task is then a ``decision`` of the manager. A
  call by name is ``explicit``, one from code is ``inferred``.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from graphstore.builder import GraphBuilder
from graphstore.errors import InputError
from graphstore.identity import canonical_json
from graphstore.model import Attributes, CollaborationGraph, GraphKind, Outcome, Role
from ingest.flow import FlowTracker
from ingest.reader import Capabilities, ReadContext, Rejection, TraceFile
from ingest.readers.decoding import REPAIRED, short_name, text_of
from ingest.readers.json_values import values
from ingest.readers.naming import set_task_from_text
from ingest.readers.otlp_wire import real_number
from ingest.readers.platform_spans import count_at, short, text_at
from ingest.readers.sample_json import first_value
from ingest.readers.smolagents_steps import (
    FINAL,
    Memory,
    Stage,
    Step,
    is_step,
    memories_in,
    stages_of,
)


class SmolagentsReader:
    """Memories of smolagents."""

    format = "smolagents"
    title = "smolagents, steps of agents"
    kind: GraphKind = "run"
    version = "1"
    capabilities = Capabilities(
        time="yes",
        tokens="yes",
        recipients="partly",
        outcome="partly",
        notes=(
            "Steps of a single agent do not name it.",
            "Memories share no id: which helper ran for which step is told by times and names.",
            "Observations of several calls in one step stand together, at the last call.",
            "A run that ended in success found an answer; whether it is right is not said.",
        ),
    )
    telling_keys = frozenset({"step_number", "task", "plan", "system_prompt", "output"})

    def sniff(self, sample: bytes) -> bool:
        """Whether the first value holds steps."""
        value = first_value(sample)
        if isinstance(value, list) and value and not is_step(value[0]):
            value = value[0]
        if isinstance(value, list):
            return any(is_step(step) for step in value[:3])
        return bool(memories_in(value))

    def read(
        self, file: TraceFile, context: ReadContext
    ) -> Iterator[CollaborationGraph | Rejection]:
        """Yields the run of the file.

        Raises:
            InputError: The file cannot be read.
        """
        memories: list[Memory] = []
        loose = Memory(None)
        repaired = False
        unread = 0
        for value, was_repaired in values(file):
            repaired = repaired or was_repaired
            if is_step(value):
                loose.steps.append(value)
            elif isinstance(value, list) and any(is_step(step) for step in value):
                memories.append(Memory(None, value))
            elif found := memories_in(value):
                memories.extend(found)
            else:
                unread += 1
        if loose.steps:
            memories.insert(0, loose)
        if not memories:
            raise InputError("it holds no steps", file=file.uri)
        said = canonical_json([[memory.name, memory.steps] for memory in memories])
        builder = context.builder(self, file, said)
        if repaired:
            builder.warn(REPAIRED)
        if unread:
            builder.warn(f"{unread} records hold no steps and were left out")
        try:
            yield _Run(builder, memories, context).graph()
        except InputError as error:
            yield Rejection(file.uri, None, error.reason)


SMOLAGENTS = SmolagentsReader()


class _Done(msgspec.Struct):
    """What is left of a stage for whoever asked for it."""

    last: int | None = None
    called: bool = False
    answer: str | None = None
    error: str | None = None


class _Call(msgspec.Struct, eq=False):
    """A tool call, and the run of the helper that it called."""

    name: str
    arguments: Any
    id: str | None
    stage: Stage | None = None


class _Run:
    """Memories on their way to a graph."""

    def __init__(
        self, builder: GraphBuilder, memories: list[Memory], context: ReadContext
    ) -> None:
        self.builder = builder
        self.memories = memories
        self.context = context
        self.flow = FlowTracker(builder)
        self.agents: dict[int, int] = {}
        self.tools: dict[str, int] = {}
        self.user: int | None = None
        self.asked: str | None = None

    def graph(self) -> CollaborationGraph:
        builder = self.builder
        stages = stages_of(self.memories)
        done = _Done()
        for stage in stages:
            if stage.holder is None:
                done = self._stage(stage, None, None)
        for memory in self.memories:
            self._about(memory)
        if not builder.node_count:
            raise InputError("no step of it did anything")
        if self.asked is not None:
            set_task_from_text(builder, self.asked)
            builder.name = short_name(self.asked) or None
        result = next((one.result for one in self.memories if one.result), {})
        usage = result.get("token_usage")
        timing = result.get("timing")
        seconds = timing.get("duration") if isinstance(timing, dict) else None
        builder.outcome = Outcome(
            answer=text_of(result.get("output")) or done.answer,
            termination=text_at(result, "state") or done.error,
            tokens_in=count_at(usage, "input_tokens"),
            tokens_out=count_at(usage, "output_tokens"),
            latency=real_number(seconds),
        )
        return builder.build()

    def _about(self, memory: Memory) -> None:
        for step in memory.steps:
            if not is_step(step):
                self.builder.attributes.setdefault("other_steps", []).append(short(step))
                self.builder.warn("steps of unknown kinds are kept as attributes")
            elif (prompt := text_at(step, "system_prompt")) is not None:
                prompts = self.builder.attributes.setdefault("system_prompts", [])
                if short(prompt) not in prompts:
                    prompts.append(short(prompt))

    def _agent(self, stage: Stage) -> int:
        found = self.agents.get(stage.memory)
        if found is None:
            name = stage.name
            attributes: Attributes = {}
            if name is None:
                attributes["named_by"] = "format"
                self.builder.warn("the steps do not name their agent")
            found = self.builder.new_agent(name or "agent", attributes=attributes)
            self.agents[stage.memory] = found
        return found

    def _tool(self, name: str) -> int:
        found = self.tools.get(name)
        if found is None:
            role: Role = self.context.role_of(name)
            role = "tool" if role == "unknown" else role
            found = self.tools[name] = self.builder.new_agent(name, kind="tool", role=role)
        return found

    def _stage(self, stage: Stage, manager: int | None, source: int | None) -> _Done:
        """Adds a task and the steps that follow it.

        Args:
            stage: The task and its steps.
            manager: The agent that asked for it, None for a person.
            source: The manager's message.
        """
        agent = self._agent(stage)
        if stage.task is not None:
            self._task(stage, agent, manager, source)
        done = _Done(called=stage.called)
        for place, step in enumerate(stage.steps):
            last = place == len(stage.steps) - 1
            self._step(step, agent, done, manager if last and stage.called else None)
        return done

    def _task(self, stage: Stage, agent: int, manager: int | None, source: int | None) -> None:
        if manager is None:
            self.asked = self.asked or stage.task
            if self.user is None:
                self.user = self.builder.new_agent("user", kind="human", role="human")
            sender = self.user
        else:
            sender = manager
        node = self.builder.add(
            "agent_message" if manager is None else "decision",
            self.builder.agent_name(sender),
            agent=sender,
            recipients=(agent,),
            delivery="explicit" if manager is None or stage.called else "inferred",
            content=stage.task,
        )
        if source is not None:
            self.builder.edge(source, node, "explicit" if stage.called else "inferred")
        self.flow.act(
            node,
            None if manager is not None else sender,
            recipients=(agent,),
            basis="delivered" if manager is None or stage.called else "inferred",
            derive=False,
        )

    def _step(self, step: Step, agent: int, done: _Done, manager: int | None) -> None:
        """Adds a step with what its calls led to.

        Args:
            step: The step.
            agent: Whose step it is.
            done: Of the stage, changed in place.
            manager: Who gets the step's words as the answer to a call, if anybody.
        """
        said = step.raw
        calls = [_Call(*call) for call in step.calls if call[0] != FINAL]
        final = [arguments for name, arguments, _ in step.calls if name == FINAL]
        for child in step.children:
            call = next(
                (one for one in calls if one.stage is None and one.name == child.name), None
            )
            if call is not None:
                call.stage = child
                child.called = True
        texts = [step.text] if step.text else []
        attributes: Attributes = {}
        if step.planning:
            attributes["step"] = "planning"
        for answer in final:
            if isinstance(answer, dict) and len(answer) == 1:
                (answer,) = answer.values()
            if (words := text_of(answer)) is not None:
                texts.append(words)
            attributes["final_answer"] = True
        error = said.get("error")
        problem = done.error = None
        if error:
            problem = attributes["error"] = text_at(error, "message") or short(error)
            done.error = text_at(error, "type")
        plain = [call for call in calls if call.stage is None]
        tools = [self._tool(call.name) for call in plain]
        failed = problem is not None and not tools
        recipients = tools if manager is None else [*tools, manager]
        node = self.builder.add(
            "agent_message",
            self.builder.agent_name(agent),
            agent=agent,
            recipients=recipients,
            delivery="explicit" if recipients else None,
            content="\n".join(texts) or None,
            round=step.number,
            started_at=step.started_at,
            tokens_in=step.tokens_in,
            tokens_out=step.tokens_out,
            status="error" if failed else None,
            attributes=attributes,
        )
        self.flow.act(node, agent, recipients=() if manager is None else (manager,))
        results = [self._stage(child, agent, node) for child in step.children]
        for tool, call in zip(tools, plain, strict=True):
            self._call(call, tool, call is plain[-1], step, agent, node, results, problem)
        done.last = node
        if said.get("is_final_answer") or final:
            done.answer = text_of(said.get("action_output")) or (texts[-1] if texts else None)

    def _call(
        self,
        call: _Call,
        tool: int,
        last: bool,
        step: Step,
        agent: int,
        source: int,
        results: list[_Done],
        problem: str | None,
    ) -> None:
        attributes: Attributes = {}
        if call.arguments is not None:
            attributes["arguments"] = call.arguments
        if call.id is not None:
            attributes["tool_call_id"] = call.id
        node = self.builder.add(
            "tool_call",
            call.name,
            agent=tool,
            recipients=(agent,),
            delivery="explicit",
            content=(step.observations or problem) if last else None,
            round=step.number,
            started_at=step.started_at,
            ended_at=step.ended_at,
            status="error" if problem is not None and last else None,
            attributes=attributes,
        )
        for result in results if last else ():
            if result.last is not None and not result.called:
                self.builder.edge(result.last, node, "inferred")
        self.flow.act(node, tool, explicit=(source,), recipients=(agent,), derive=False)
        if not last:
            self.builder.warn("observations of several calls in one step stand at the last one")
