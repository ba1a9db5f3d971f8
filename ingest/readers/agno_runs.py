"""Agno: the runs of one session as threads of agents and teams.

A run is one agent's (or team's) work on one input: its messages, and the runs of members
that it delegated to. A run's ``parent_run_id`` names the run that started it; which call did
stands in the call's ``child_run_id``, else the member and the task tell. The result of such
a call repeats what the member said in all of its run.
"""

from collections import deque
from collections.abc import Iterator

from graphstore.builder import GraphBuilder
from graphstore.model import Role, Status
from ingest.readers.agno_parts import (
    Record,
    arguments_of,
    asked_of,
    count_of,
    executions_of,
    messages_of,
    names_of,
    time_of,
)
from ingest.readers.decoding import text_of
from ingest.readers.instants import from_seconds
from ingest.readers.openai_calls import UNKNOWN_TOOL, text_of_content
from ingest.readers.thread_items import (
    Actor,
    Call,
    Heard,
    Item,
    Opened,
    Returned,
    Step,
    Thread,
    Words,
)

DELEGATIONS = frozenset(
    {"delegate_task_to_member", "delegate_task_to_members", "transfer_task_to_member"}
    | {"forward_task_to_member", "run_member_agent", "run_member_agents"}
)
_TASKS = ("task", "task_description", "message")
_CHILDREN = ("member_responses", "step_executor_runs")


class Session:
    """Reads the runs of one session.

    Attributes:
        items: What happened, in order.
        roots: The runs that no other run started.
        user: Who asked.
        asked: The user's first words.
    """

    def __init__(self, runs: list[Record], builder: GraphBuilder) -> None:
        self.items: list[Item] = []
        self.user = Actor("user", role="human", kind="human")
        self.asked: str | None = None
        self._builder = builder
        self._system = Actor("system", role="environment", kind="environment")
        self._threads: dict[tuple[str, str], Thread] = {}
        self._seen: set[str] = set()
        self._runs: dict[str, Record] = {}
        self._children: dict[str, list[Record]] = {}
        self._waiting: dict[str, deque[Record]] = {}
        self._started: set[int] = set()
        self.roots: list[Record] = []
        self._collect(runs)
        for root in self.roots:
            self._run(root, None, None)

    def _collect(self, runs: list[Record]) -> None:
        waiting: list[tuple[Record, str | None]] = [(run, None) for run in reversed(runs)]
        listed: list[tuple[Record, str | None]] = []
        while waiting:
            run, inside = waiting.pop()
            id = text_of(run.get("run_id"))
            if id is not None and id in self._runs:
                if run.get("messages") and not self._runs[id].get("messages"):
                    self._runs[id]["messages"] = run["messages"]
                continue
            run = dict(run)
            if id is not None:
                self._runs[id] = run
            listed.append((run, text_of(run.get("parent_run_id")) or inside))
            for key in _CHILDREN:
                inner = run.get(key)
                children = reversed(inner if isinstance(inner, list) else [])
                waiting += [(child, id) for child in children if isinstance(child, dict)]
        for run, parent in listed:
            if parent is not None and parent in self._runs and self._runs[parent] is not run:
                self._children.setdefault(parent, []).append(run)
            else:
                self.roots.append(run)
        self._waiting = {id: deque(children) for id, children in self._children.items()}
        if not self.roots and listed:
            # Runs that name each other: the first one begins.
            self.roots.append(listed[0][0])

    def _thread(self, run: Record, parent: Thread | None) -> Thread:
        for kind in ("team", "workflow", "agent"):
            id = text_of(run.get(f"{kind}_id"))
            name = text_of(run.get(f"{kind}_name"))
            if (id or name) and (kind == "agent" or run.get("agent_id") is None):
                break
        key = (kind, id or name or "")
        if key not in self._threads:
            leads = bool(self._children.get(text_of(run.get("run_id")) or ""))
            role: Role | None = "orchestrator" if kind != "agent" and leads else None
            attributes = {} if id is None else {f"{kind}_id": id}
            actor = Actor(name or id or kind, role=role, attributes=attributes)
            self._threads[key] = Thread(actor, parent=parent)
        thread = self._threads[key]
        thread.parent = thread.parent or parent
        return thread

    def _run(self, run: Record, call: Call | None, parent: Thread | None) -> Thread:
        self._started.add(id(run))
        thread = self._thread(run, parent)
        listed = messages_of(run)
        asked = asked_of(run)
        executions = executions_of(run)
        open_: dict[str, tuple[Call, Returned]] = {}
        told = False
        # The run's input is the user's message of those words, else the first one.
        is_said = asked is not None and any(
            isinstance(message, dict)
            and message.get("role") == "user"
            and message.get("from_history") is not True
            and text_of_content(message.get("content")) == asked
            for message in listed
        )
        for message in listed:
            if not isinstance(message, dict) or self._is_known(message):
                continue
            match message.get("role"):
                case "assistant" | "model":
                    if not told:
                        told = self._tell(run, thread, call, parent, asked)
                    self._answer(run, thread, message, executions, open_)
                case "tool" | "function":
                    self._result(thread, message, open_)
                case "system" | "developer":
                    self._prompt(thread, message)
                case _:
                    text = text_of_content(message.get("content"))
                    if not told and (text == asked or not is_said):
                        told = self._tell(run, thread, call, parent, text, message)
                    else:
                        sender = self.user if parent is None else parent.actor
                        self.items.append(Heard(thread, text, sender, time_of(message)))
        if not told:
            self._tell(run, thread, call, parent, asked)
        for _, returned in open_.values():
            if returned.reports:
                self.items.append(returned)
        self._rest(run, thread, bool(listed))
        return thread

    def _is_known(self, message: Record) -> bool:
        """Whether a message was there before: sessions repeat their history."""
        if message.get("from_history") is True:
            return True
        id = message.get("id")
        if isinstance(id, str) and id:
            if id in self._seen:
                return True
            self._seen.add(id)
        return False

    def _tell(
        self,
        run: Record,
        thread: Thread,
        call: Call | None,
        parent: Thread | None,
        text: str | None,
        message: Record | None = None,
    ) -> bool:
        """What a run is to do: the prompt of the call that started it is no second message."""
        if text is None:
            return False
        if call is not None:
            if call.prompt is None or call.prompt.strip() in text:
                self.items.append(Opened(thread, call))
                return True
            self.items.append(Opened(thread, call))
        sender = self.user if parent is None else parent.actor
        if parent is None and self.asked is None:
            self.asked = text
        time = time_of(message or run)
        self.items.append(Heard(thread, text, sender, time))
        return True

    def _prompt(self, thread: Thread, message: Record) -> None:
        text = text_of_content(message.get("content"))
        if (
            text is not None
            and thread.actor.attributes.setdefault("system_prompt", text) != text
        ):
            self._builder.warn("an agent's system prompt changed: the first one was kept")

    def _answer(
        self,
        run: Record,
        thread: Thread,
        message: Record,
        executions: dict[str, Record],
        open_: dict[str, tuple[Call, Returned]],
    ) -> None:
        step = Step(thread)
        metrics = message.get("metrics")
        if isinstance(metrics, dict):
            step.tokens_in = count_of(metrics.get("input_tokens"))
            step.tokens_out = count_of(metrics.get("output_tokens"))
            if step.tokens_in == step.tokens_out == 0:
                step.tokens_in = step.tokens_out = None
        time = time_of(message)
        thought = text_of(message.get("reasoning_content"))
        if thought:
            step.parts.append(Words(thought, True, time))
        text = text_of_content(message.get("content"))
        calls = message.get("tool_calls")
        values = [c for c in calls if isinstance(c, dict)] if isinstance(calls, list) else []
        if text or not values:
            step.parts.append(Words(text, started_at=time))
        self.items.append(step)
        begun: list[tuple[Call, list[Record], Returned]] = []
        for value in values:
            call, children = self._call(run, value, time, executions)
            returned = Returned(thread, call)
            step.parts.append(call)
            if children is not None:
                begun.append((call, children, returned))
                self._open(call, children, thread)
            if call.id is not None:
                open_[call.id] = (call, returned)
        for call, children, returned in begun:
            for child in children:
                inner = self._run(child, call, thread)
                returned.reports.append(inner)

    def _call(
        self, run: Record, value: Record, time: int | None, executions: dict[str, Record]
    ) -> tuple[Call, list[Record] | None]:
        function = value.get("function")
        inner = function if isinstance(function, dict) else value
        name = text_of(inner.get("name")) or UNKNOWN_TOOL
        raw = inner.get("arguments")
        call = Call(name, text_of(value.get("id")), text_of(raw), started_at=time)
        execution: Record = {} if call.id is None else executions.get(call.id, {})
        timing = execution.get("metrics")
        if isinstance(timing, dict):
            call.started_at = from_seconds(timing.get("start_time")) or time
            call.ended_at = from_seconds(timing.get("end_time"))
        if name not in DELEGATIONS:
            return call, None
        arguments = arguments_of(raw)
        task = next((a for k in _TASKS if isinstance(a := arguments.get(k), str)), None)
        call.prompt = task
        rest = {k: v for k, v in arguments.items() if k not in _TASKS}
        call.arguments = text_of(rest or None)
        member = text_of(arguments.get("member_id")) or text_of(arguments.get("agent_name"))
        children = self._claim(run, text_of(execution.get("child_run_id")), member, task, name)
        if not children and member is not None:
            key = ("agent", member)
            if key not in self._threads:
                self._threads[key] = Thread(Actor(member))
            call.opens = self._threads[key]
        return call, children

    def _claim(
        self, run: Record, id: str | None, member: str | None, task: str | None, name: str
    ) -> list[Record]:
        """The member's runs that a call started."""
        named = self._runs.get(id or "")
        if named is not None and any(child is named for child in self._unstarted(run)):
            return [named]
        if name.endswith("s"):
            return [child for child in self._unstarted(run) if _is_given(child, task)]
        # The member's first run for the task, else its first one.
        of_member: Record | None = None
        for child in self._unstarted(run):
            if member is None or member in names_of(child):
                if _is_given(child, task):
                    return [child]
                if of_member is None:
                    of_member = child
        return [] if of_member is None else [of_member]

    def _unstarted(self, run: Record) -> Iterator[Record]:
        """The runs that a run started and that were not come upon yet, in order."""
        waiting = self._waiting.get(text_of(run.get("run_id")) or "")
        if waiting is None:
            return
        while waiting and self._is_started(waiting[0]):
            waiting.popleft()
        for child in waiting:
            if not self._is_started(child):
                yield child

    def _is_started(self, run: Record) -> bool:
        return id(run) in self._started

    def _open(self, call: Call, children: list[Record], thread: Thread) -> None:
        for child in children:
            self._started.add(id(child))
            inner = self._thread(child, thread)
            if call.opens is None:
                call.opens = inner
            elif inner is not call.opens:
                call.also.append(inner)

    def _result(
        self, thread: Thread, message: Record, open_: dict[str, tuple[Call, Returned]]
    ) -> None:
        id = text_of(message.get("tool_call_id"))
        found = open_.pop(id or "", None)
        text = text_of_content(message.get("content"))
        if found is None:
            self._builder.warn("a tool's result stands without its call")
            name = text_of(message.get("tool_name")) or UNKNOWN_TOOL
            arguments = text_of(message.get("tool_args"))
            call = Call(name, id, arguments, started_at=time_of(message))
            returned = Returned(thread, call)
            self.items.append(Step(thread, [call]))
        else:
            call, returned = found
        failed = message.get("tool_call_error")
        status: Status | None = None
        if isinstance(failed, bool):
            status = "error" if failed else "ok"
        call.status = status
        call.ended_at = call.ended_at or time_of(message)
        call.result = text
        if returned.reports and text is not None:
            # What the members said stands in their own runs.
            call.attributes["result"] = text
        self.items.append(returned)

    def _rest(self, run: Record, thread: Thread, spoke: bool) -> None:
        """Runs that no call started, then the answer of a run that keeps no messages."""
        for child in self._children.get(text_of(run.get("run_id")) or "", []):
            if not self._is_started(child):
                self._run(child, None, thread)
        text = text_of(run.get("content"))
        if not spoke and text and not self._has_said(text):
            self.items.append(Step(thread, [Words(text, started_at=time_of(run))]))

    def _has_said(self, text: str) -> bool:
        return any(
            isinstance(part, Words) and part.text == text
            for item in self.items
            if isinstance(item, Step)
            for part in item.parts
        )


def _is_given(run: Record, task: str | None) -> bool:
    """Whether a run may be the one that a task was given to: what it was asked holds it."""
    return task is None or task in (asked_of(run) or task)
